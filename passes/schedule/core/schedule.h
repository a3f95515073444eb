/* The state of a schedule: a program, handles into it, and the one edit function. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_SCHEDULE_H
#define TIRC_PASSES_SCHEDULE_CORE_SCHEDULE_H

#include "ir/stmt.h"
#include "passes/schedule/core/trace.h"
#include "passes/schedule/core/value.h"

/* A node of the function's tree with its place in it. */
typedef struct {
    const Stmt *stmt;
    int parent; /* index of the parent node, -1 for the function's body */
    int end;    /* one past the index of the last node below this one (nodes are numbered in pre-order) */
    bool in_init; /* inside the init of the block that is its nearest enclosing block */
} TreeNode;

/* A step that changed the program: it says what became of a symbol that a handle may still hold. */
typedef struct {
    const Module *before;
    const char *primitive;
    Span span; /* its script line */
} ProgramEdit;

/* A block that lives on under another symbol, as when a step changes its name: handles of the old symbol mean the new one. */
typedef struct {
    const Block *old_block;
    Block *new_block;
} Renamed;

/* A loop that a step bound to threads. */
typedef struct {
    const Var *loop;
    Span span; /* the script line that bound it */
} Bound;

typedef struct Schedule {
    Context *ctx;
    const Module *module;
    int func_index;  /* the function that primitives act on; -1 while none is chosen */
    Span call_span;  /* the script call being executed: refusals point there */
    const Value *args; /* its arguments in the order of the signature, or NULL */
    int arg_count;
    const char *primitive; /* its name */
    VEC(ProgramEdit) edits; /* the steps so far that changed the program, in order */
    VEC(Renamed) renamed;
    VEC(Bound) bound;
    Trace trace;
    int64_t random;  /* the state of the generator that samples; see random.h */
    Value decision;  /* of the running step, which samples: what it chose */
    Var *root_mark, *inline_mark; /* what sample_compute_location gives instead of a loop: stay where it is, be inlined */
    const Stmt *subject; /* of the running step: the loop or block that its first handle stands for, or NULL */
    const Block *narrowed;      /* the step lets this block run for fewer instances than before, and has shown that all that is read is written */
    const Block *widened; /* the step lets this block run for more points than before, and has shown that nothing reads what those write */
    bool refused_without_place; /* it was refused, and no note says yet where in the program */
    bool will_run; /* of what check_threads looks at: see there */
    bool results_may_move; /* compute_at takes what writes a parameter too, where all of it is computed still: so stages of tensors are */
    bool func_pinned; /* a handle was looked up in this step: all others must be of the same function */
    /* index of the current tree, rebuilt on demand */
    const Func *indexed;
    VEC(TreeNode) nodes;
    Map node_of_loop, node_of_block; /* Var / Block -> index + 1 */
} Schedule;

/* A schedule of MODULE acting on function FUNC_INDEX. Everything it makes is allocated in ctx->arena. */
Schedule *schedule_new(Context *ctx, const Module *module, int func_index);
const Func *schedule_func(const Schedule *sch);

/* --- Steps: primitives run between these two. On failure everything is as it was before, and at least one error was diagnosed. --- */
typedef struct {
    const Module *module;
    int func_index, renamed_count;
    DiagMark mark;
} Step;
Step schedule_begin(Schedule *sch, const char *primitive, Span call_span);
/* A schedule of its own that stands where SCH stands, with the same handles and the trace so far. */
Schedule *schedule_copy(Schedule *sch);
/* The ARGS of the running step: refusals that are about one of them point at it. They must live until the step ends. */
void schedule_set_arguments(Schedule *sch, const Value *args, int count);
/* Ends the step; false (and all undone) when OK is false or an error was diagnosed since. OK says too what check_after_step found. */
bool schedule_end(Schedule *sch, Step step, bool ok);

/* --- Reading the tree --- */
/* The node of a handle; NULL after a diagnostic that says which step consumed it, and where it was, when it is stale. A handle of another
   function makes that function the one that the running step acts on. */
const TreeNode *schedule_loop(Schedule *sch, const Var *loop);
const TreeNode *schedule_block(Schedule *sch, const Block *block);
/* The same without a diagnostic: NULL when the symbol is not in the function. */
const TreeNode *schedule_find_loop(Schedule *sch, const Var *loop);
const TreeNode *schedule_find_block(Schedule *sch, const Block *block);
const TreeNode *schedule_find_stmt(Schedule *sch, const Stmt *stmt);
/* The symbol that BLOCK has now: itself, or what it was renamed to. */
const Block *schedule_current_block(const Schedule *sch, const Block *block);
/* The parent of NODE, or NULL for the function's body. */
const TreeNode *schedule_parent(Schedule *sch, const TreeNode *node);
int schedule_node_index(Schedule *sch, const TreeNode *node);
const TreeNode *schedule_node_at(Schedule *sch, int index);
int schedule_node_count(Schedule *sch);
/* True when NODE is ANCESTOR or below it. */
bool schedule_is_under(Schedule *sch, const TreeNode *node, const TreeNode *ancestor);
/* The nearest block around NODE (not NODE itself): its scope. NULL outside of the root block. */
const TreeNode *schedule_scope(Schedule *sch, const TreeNode *node);
/* The loops around NODE up to its scope block, outermost first; *COUNT of them, in ctx->arena. */
const TreeNode **schedule_loops_around(Schedule *sch, const TreeNode *node, int *count);
/* The blocks directly inside SCOPE, a block or loop (not inside nested blocks; init excluded), in program order. */
const TreeNode **schedule_child_blocks(Schedule *sch, const TreeNode *scope, int *count);
static inline const ForStmt *node_loop(const TreeNode *node)
{
    return &node->stmt->as.loop;
}
static inline const BlockStmt *node_block(const TreeNode *node)
{
    return &node->stmt->as.block;
}

/* The name of a loop's variable or of a block. */
static inline Str node_name(const TreeNode *node)
{
    return node->stmt->kind == STMT_FOR ? node_loop(node)->var->name : node_block(node)->block->name;
}

/* --- Editing: the only edit. --- */
/* Puts NEW_STMT where OLD_STMT stands (by identity; it must be in the current function). TreeNode pointers and indices are invalid
   afterwards. */
void sched_replace(Schedule *sch, const Stmt *old_stmt, const Stmt *new_stmt);
/* Replaces the function (its parameters or attributes change). */
void sched_replace_func(Schedule *sch, const Func *func);
/* Notes that the running primitive bound LOOP to threads. */
void sched_note_bound(Schedule *sch, const Var *loop);
/* Where the script bound LOOP to threads; a span without a file when the program did. */
Span schedule_bound_at(const Schedule *sch, const Var *loop);
/* Notes that handles of OLD_BLOCK mean NEW_BLOCK from now on. */
void sched_rename_block(Schedule *sch, const Block *old_block, Block *new_block);

/* --- Refusing: an error at the script call being executed. Always returns false. A refusal without a note gets one at the end of the step,
   at the first loop or block that the call names. --- */
bool sched_refuse(Schedule *sch, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same under ARGUMENT, one of the step's arguments or an item of one, instead of under the whole call. */
bool sched_refuse_argument(Schedule *sch, const Value *argument, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same under the argument that holds NODE, a loop or block; under the whole call where none does. */
bool sched_refuse_node(Schedule *sch, const TreeNode *node, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds a note that points into the .tir text; none where SPAN, as of what a step made, lies nowhere in it. */
void sched_note(Schedule *sch, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds the note that NODE is there. Always returns false. */
bool sched_note_node(Schedule *sch, const TreeNode *node);

/* --- Names: NAME itself, or NAME_1, NAME_2 ... so that it differs from every block of the function. --- */
Str schedule_fresh_block_name(Schedule *sch, Str name);

/* --- Primitives by table --- */
/* primitive_NAME of each row: ARGS in the order of its signature, fitted by primitive_convert. False after a refusal; *RESULT starts as
   None. */
#define X(name, signature, result, summary, requires) bool primitive_##name(Schedule *sch, const Value *args, Value *result_value);
#include "passes/schedule/core/primitives.def"
#undef X
enum { MOST_PARAMETERS = 8 };
/* Arguments in the order of the signature, defaults filled in; types are checked by the caller of the table. */
typedef bool (*PrimitiveFunction)(Schedule *sch, const Value *args, Value *result);
typedef struct Primitive {
    const char *name;
    PrimitiveFunction run;
    const char *signature; /* see primitives.def */
    const char *result;
    const char *summary;
    const char *requires; /* names of checks, as in checks.def: "one_nest, order_kept" */
} Primitive;
extern const Primitive schedule_primitives[];
extern const int schedule_primitive_count;
const Primitive *primitive_find(const char *name);

/* A parameter of a signature, parsed. */
typedef struct {
    Str name;
    Str type;         /* "Loop", "Block", "int", "bool", "str", "Expr", "list[Loop]", "list[Expr?]", "Block or Loop", "any", ... '?' allows None */
    bool variadic;    /* *loops: takes all remaining positional arguments as a list */
    bool has_default;
    Value default_value;
} Parameter;
int primitive_parameters(Context *ctx, const Primitive *primitive, Parameter *parameters);
/* True when VALUE fits TYPE; VALUE is converted where the type allows it (a block's name to its handle, an int to an Expr). False after a
   diagnostic. */
bool primitive_convert(Schedule *sch, const Primitive *primitive, const Parameter *parameter, Value *value);

#endif
