/* Programs as the reference interpreter runs them: a function is compiled once to trees of nodes with numbered variable slots. The
   compiler's own state is here too. */
#ifndef TIRC_INTERP_INTERP_PROGRAM_H
#define TIRC_INTERP_INTERP_PROGRAM_H

#include "interp/interp.h"

typedef struct Thread Thread;
typedef struct Memory Memory;
typedef struct EvalNode EvalNode;
typedef struct ExecNode ExecNode;
typedef struct BlockInfo BlockInfo;
typedef struct Kernel Kernel;
typedef struct AllreduceInfo AllreduceInfo;

/* --- Values --- */
typedef struct {
    Memory *memory; /* NULL: the null pointer */
    int64_t byte;
} Pointer;
/* A variable's value; bool and all integers in INTEGER. A vector variable takes one slot a lane. */
typedef union {
    int64_t integer;
    double real;
    Pointer pointer;
} Slot;

/* --- Compiled expressions --- */
/* A buffer and where its run-time state lies in a Thread. */
typedef struct {
    const Buffer *buffer;
    int index;                         /* in Thread.bound */
    int dims;                          /* in Thread.dims: ndim extents, then ndim strides */
    int lanes, bytes;                  /* of one element; bytes of one lane of it */
    DType dtype;                       /* of one lane */
    int data_slot;                     /* of buffer->data */
    const EvalNode **shape, **strides; /* strides NULL: compact */
    const EvalNode *elem_offset;
    bool must_differ; /* it is written, and its declaration does not tell that its elements are distinct cells */
} BufferInfo;

/* One place in the program that reads or writes a buffer. */
typedef struct {
    const void *place; /* the Expr or Stmt, for "the first finding at a place" */
    Span span;
    const BufferInfo *buffer; /* NULL: through a bare pointer */
    const EvalNode *const *indices;
    int index_count;
} Access;

typedef int64_t EvalInteger(const EvalNode *node, Thread *thread);
typedef double EvalReal(const EvalNode *node, Thread *thread);
typedef Pointer EvalPointer(const EvalNode *node, Thread *thread);

/* The dtype of a node says which evaluator it has. A vector node gives the value of lane thread->lane. */
struct EvalNode {
    union {
        EvalInteger *integer;
        EvalReal *real;
        EvalPointer *pointer;
    } eval;
    DType dtype;
    uint8_t spare_bits; /* 64 - bits of an integer type, for wrapping */
    int arg_count;
    const EvalNode *const *args;
    const Expr *source;
    union {
        int64_t integer;
        double real;
        int slot;
        double (*unary)(double);
        double (*binary)(double, double);
        Access access;
    } as;
};

/* --- Compiled statements --- */
/* What surrounds a statement, for messages: the chain of loops and blocks. */
typedef struct Scope {
    const struct Scope *parent;
    Str loop;  /* the name of a loop variable, or NULL */
    Span span; /* of the loop */
    int slot;
    const BlockInfo *block;
} Scope;

typedef enum {
    EXEC_SEQ,
    EXEC_LOOP,
    EXEC_THREAD_LOOP, /* a thread-bound loop, or launch_thread */
    EXEC_WHILE,
    EXEC_BLOCK,
    EXEC_IF,
    EXEC_LET,
    EXEC_STORE,
    EXEC_EVALUATE,
    EXEC_ALLREDUCE,
    EXEC_ALLOCATE,
    EXEC_DECLARE,
    EXEC_ASSERT,
} ExecKind;

/* A variable's slot and how to evaluate what goes in there. */
typedef struct {
    int slot;
    const EvalNode *value;
} Assignment;

/* Nothing runs in the iterations of a loop in which LOW is not below HIGH, or with strict false is above it. */
typedef struct {
    const EvalNode *low, *high;
    int64_t low_step, high_step; /* by which they grow in each iteration */
    bool strict;
    int bits; /* of both */
} LoopGuard;

typedef struct {
    int slot;
    ForKind kind;
    const EvalNode *min, *extent; /* min NULL: 0 */
    const LoopGuard *guards;
    int guard_count;
    const ExecNode *body;
    const Kernel *kernel;   /* EXEC_THREAD_LOOP: the kernel that it is in, */
    const Kernel *launches; /* the one that begins here, or NULL, */
    int tag;                /* and the index of its tag there */
    Str name;
} LoopInfo;

typedef struct {
    int slot; /* of the data variable */
    Str scope;
    DType dtype;
    const EvalNode **extents;
    int extent_count;
    const Expr **constants; /* the contents, or NULL */
    int constant_count;
    const BufferInfo *buffer; /* bound to the new memory, or NULL */
    Str name;
    const ExecNode *body;
} AllocateInfo;

struct ExecNode {
    ExecKind kind;
    Span span;
    const Stmt *source;
    const Scope *scope;
    const BlockInfo **reductions; /* blocks whose reduction begins with this loop */
    int reduction_count;
    union {
        struct {
            const ExecNode **items;
            int count;
        } seq;
        LoopInfo loop;
        struct {
            const EvalNode *condition;
            const ExecNode *body;
            int iteration_slot; /* a different number for every iteration that is ever run */
        } repeat;
        const BlockInfo *block;
        struct {
            const EvalNode *condition;
            const ExecNode *then_body, *else_body;
        } branch;
        struct {
            Assignment assignment;
            const ExecNode *body;
        } let;
        struct {
            Access access;
            const EvalNode *value, *mask;
            int lanes;      /* of the value */
            bool undefined; /* the value is T.undef() */
            bool copies;    /* the value may be an element, as it is, as another type or by a condition */
        } store;
        const EvalNode *evaluate;
        const AllreduceInfo *allreduce;
        AllocateInfo allocate;
        struct {
            const BufferInfo *buffer;
            const ExecNode *body;
        } declare;
        struct {
            const EvalNode *condition;
            const char *message;
            const ExecNode *body;
        } assertion;
    } as;
};

typedef struct {
    int slot;
    const Iter *source;
    const EvalNode *binding, *min, *extent;
} IterInfo;

/* A declared region: pairs of min and extent are evaluated into Thread.ranges from RANGES on. */
typedef struct {
    const Region *source;
    const BufferInfo *buffer;
    const EvalNode **min, **extent;
    int ranges;
} RegionInfo;

/* One extent, stride or offset of a buffer that is matched with memory: it gives a variable its value, or must have the value that is
   found. */
typedef struct {
    const EvalNode *value;
    int defines; /* the variable's slot, or -1 */
} Pattern;
typedef struct {
    const BufferInfo *buffer;
    Pattern *shape, *strides; /* strides NULL: none stated */
    Pattern elem_offset;
} BufferPattern;

typedef struct {
    BufferPattern target;
    RegionInfo region;
    bool uses_reduction; /* the region or shape depends on a reduction axis: not available to an init that runs before the reduction */
} MatchInfo;

/* One step of the way from the loop where a reduction begins to its block: a loop, let, declaration or block, or a condition. */
typedef struct {
    const EvalNode *condition; /* must hold; NULL: of the others */
    const ExecNode *node;
    bool skip;        /* no init depends on it */
    Assignment *axes; /* of a block: the axes that can be given their values */
    int axis_count;
} InitStep;

/* How a block's init finds its points. */
typedef struct {
    bool every_time; /* the reduce axes depend on no loop, or through spatial axes around: init runs with each instance */
    bool early;      /* a point may have no update: inits run before the reduction begins, through STEPS */
    InitStep *steps;
    int step_count;
} InitPlan;

struct BlockInfo {
    const BlockStmt *source;
    int index;               /* in Thread.frames and Run.blocks */
    int depth;               /* 1 for a block in no other block */
    const BlockInfo *parent; /* the block around it, or NULL */
    bool implicit_root;      /* the block that a function's text does not show */
    IterInfo *iters;
    int iter_count;
    const EvalNode *predicate; /* NULL: always true */
    bool predicate_uses_iters;
    bool check_reads, check_writes;
    RegionInfo *reads, *writes;
    AllocateInfo *allocs;
    MatchInfo *matches;
    int *identity_slots; /* outer loop variables, lets and while iterations that belong to an instance's identity */
    int identity_count;
    int *points;          /* slots of the axes that tell points of a block with init apart: its own, and those of blocks around it */
    int point_count;
    uint32_t reduced_tags; /* tags that the reduction axes of a block with init depend on */
    uint32_t across_tags;  /* the threadIdx ones among them */
    InitPlan plan;
    const ExecNode *init, *body;
};

/* A tag of a kernel's thread-bound loops: one index for all loops with it. */
typedef struct {
    Str name;
    bool is_block;          /* blockIdx */
    const EvalNode *extent; /* NULL: no loop with this tag has an extent that is known where the kernel begins */
} ThreadTag;
struct Kernel {
    ThreadTag *tags;
    int tag_count;
    int path_start; /* compile time: the number of path entries around the kernel */
};

typedef struct {
    const Func *func;
    const ExecNode *body;
    int slot_count, buffer_count, dims_count, range_count;
    VEC(const BlockInfo *) blocks; /* by BlockInfo.index */
    BufferPattern *params;         /* per parameter; buffer NULL for one that is none */
    int *param_slots, *symbol_slots;
} Program;

/* --- Compilation --- */
/* One construct around the one being compiled. */
typedef enum { PATH_LOOP, PATH_WHILE, PATH_IF, PATH_LET, PATH_BLOCK, PATH_DECLARE, PATH_ALLOCATE } PathKind;
typedef struct {
    PathKind kind;
    ExecNode *node;
    const Stmt *source;
    bool negated; /* the else branch of an if */
} PathEntry;

typedef struct {
    Context *ctx;
    Arena *arena;
    const InterpOptions *options;
    Map slots;   /* Var, once it is defined -> slot number + 1 */
    Map buffers; /* Buffer -> BufferInfo */
    Map written; /* see func_written_buffers */
    Program *program;
    VEC(PathEntry) path;
    const Scope *scope;
    BlockInfo *block;
    Kernel *kernel;
    const Expr *reducer; /* of the attribute reduce_scope around, or NULL */
    int index_depth; /* > 0 inside index arithmetic, which must not overflow */
    bool failed;
} Compiler;

/* Compiles FUNC; NULL after a diagnostic. */
const Program *interp_compile(Context *ctx, Arena *arena, const Func *func, const InterpOptions *options);
const EvalNode *compile_expr(Compiler *compiler, const Expr *expr);
/* The guards of LOOP, whose variable is defined. */
void compile_loop_guards(Compiler *compiler, const ForStmt *loop, LoopInfo *info);
/* As an index: its arithmetic is checked for overflow. */
const EvalNode *compile_index(Compiler *compiler, const Expr *expr);
const EvalNode **compile_indices(Compiler *compiler, const Expr *const *exprs, int count);
/* The slot (the first of its lanes) of a variable; compile_slot diagnoses one that has no value here and gives 0. */
int compile_slot(Compiler *compiler, const Var *var, Span span);
int compile_define(Compiler *compiler, const Var *var);
bool compile_is_defined(const Compiler *compiler, const Var *var);
int compile_new_slots(Compiler *compiler, int count);
/* The state of BUFFER; compile_buffer_layout adds what its declaration says of shape, strides and offset, whose variables must be
   defined. */
BufferInfo *compile_buffer(Compiler *compiler, const Buffer *buffer);
BufferInfo *compile_buffer_layout(Compiler *compiler, const Buffer *buffer);
/* Defines the variables that the declaration of BUFFER leaves to its memory. */
BufferPattern compile_pattern(Compiler *compiler, const Buffer *buffer);
const ExecNode *compile_stmt(Compiler *compiler, const Stmt *stmt);
const ExecNode *compile_block(Compiler *compiler, const Stmt *stmt);
const ExecNode *compile_launch(Compiler *compiler, const Stmt *stmt);
/* CALL as a reduction across threads; NULL: it is none, or has a form that cannot be interpreted. */
const AllreduceInfo *compile_allreduce(Compiler *compiler, const Expr *call);
ExecNode *compile_node(Compiler *compiler, ExecKind kind, const Stmt *stmt);
AllocateInfo compile_allocate_buffer(Compiler *compiler, const Buffer *buffer);
void compile_push_loop_scope(Compiler *compiler, const Stmt *stmt, const LoopInfo *loop);
void compile_push_block_scope(Compiler *compiler, const BlockInfo *block);
void compile_push_path(Compiler *compiler, PathKind kind, ExecNode *node, const Stmt *stmt);
/* Fills in when BLOCK's init runs, and what it is a reduction across; the block's entry is the last of the path. */
void compile_init_plan(Compiler *compiler, BlockInfo *block);
/* The evaluator of a binary operator or comparison on integers (or bools); CHECKED: overflow is a finding. NULL where there is none. */
EvalInteger *eval_integer_operator(ExprKind kind, DType operand, bool checked);
EvalReal *eval_real_operator(ExprKind kind);
EvalInteger *eval_real_comparison(ExprKind kind);
/* Sets the evaluator of everything that is no call; false if there is none for these types. */
bool eval_compile_cast(EvalNode *node);
/* Sets the evaluator of a CALL node whose arguments are compiled; false if it cannot be interpreted. */
bool math_compile(EvalNode *node, Op op);
bool call_compile(EvalNode *node, Op op);

#endif
