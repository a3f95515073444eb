/* Shared by the files of elaboration (elab_*.c); nobody else includes this.

   Elaboration runs over the syntax tree as Python would: expressions have values, T names are functions, and calls such as T.reads or
   T.axis.spatial act on the frame that is being built. Errors are diagnosed where they are found and give VALUE_ERROR, which everything
   accepts silently. */
#ifndef TIRC_PARSER_ELAB_H
#define TIRC_PARSER_ELAB_H

#include "ir/stmt.h"
#include "parser/parser.h"

/* --- Values --- */

typedef enum {
    VALUE_ERROR,  /* already diagnosed */
    VALUE_ABSENT, /* an argument that was not given */
    VALUE_NONE,
    /* Python constants; where they meet an expression they take its type */
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_STRING,
    VALUE_TUPLE,
    VALUE_LIST,
    VALUE_DICT,
    VALUE_LAMBDA,
    /* parts of programs */
    VALUE_EXPR,
    VALUE_BUFFER,
    VALUE_REGION,
    VALUE_DTYPE,  /* T.int32: makes variables, constants and casts */
    VALUE_TARGET, /* T.target(...): a description for attributes */
    VALUE_OPAQUE, /* something for attributes that says nothing here: its text */
    VALUE_FUNC,
    VALUE_GLOBAL, /* a function of the module by its name (text), defined before or after */
    /* names that are called */
    VALUE_NAMESPACE, /* T, T.axis, tvm.tir */
    VALUE_BUILTIN,
    VALUE_INTRINSIC, /* T.exp */
    VALUE_METHOD,    /* A.access_ptr: a builtin with its object */
    /* what `for` and `with` take */
    VALUE_LOOP,
    VALUE_BLOCK,
    VALUE_INIT,
    VALUE_WRAPPER, /* T.LetStmt, T.attr, T.allocate, ...: statements around the rest of a body or around a `with` block */
} ValueKind;

typedef struct Value Value;
typedef struct Builtin Builtin;

typedef struct {
    Value *items;
    int count;
} ValueList;

typedef struct {
    ForKind kind;
    int count; /* loops, from the outside */
    Range *domains;
    const Expr *first, *step; /* the value of the one loop is FIRST + STEP * variable; NULL: the variable */
    Str thread;               /* FOR_THREAD */
    Attrs annotations;
} LoopSpec;

typedef struct {
    Stmt *layers; /* statements without their bodies, from the outside */
    int count;
    Value *result; /* what `as` or an assignment binds */
} WrapperSpec;

struct Value {
    ValueKind kind;
    bool fresh; /* the first name that it is bound to becomes its own */
    bool meta;  /* T.meta_var: binding it makes no let */
    bool declared; /* by `with ... as`: the name may hide one of a scope around, as that of a fresh value may */
    bool huge;  /* VALUE_INT: from 2^63 on, integer holds the bit pattern */
    Span span;
    union {
        bool boolean;
        int64_t integer;
        double real;
        Str text; /* VALUE_STRING, VALUE_NAMESPACE, VALUE_OPAQUE; VALUE_BLOCK: its name */
        ValueList list;
        struct {
            Value *keys, *values;
            int count;
        } dict;
        const AstNode *lambda;
        const Expr *expr;
        Buffer *buffer;
        const Region *region;
        DType dtype;
        const Value *target;
        const Func *func;
        const Builtin *builtin;
        Op op;
        struct {
            const Builtin *builtin;
            const Value *object;
        } method;
        const LoopSpec *loop;
        const WrapperSpec *wrapper;
    } as;
};

/* --- Scopes: names to values --- */

typedef struct {
    Value value;
    Span span;
} Binding;

typedef struct Scope {
    struct Scope *parent;
    Map bindings; /* Str -> Binding * */
} Scope;

/* --- Frames: what is being built --- */

/* A statement of a body, or one that encloses the rest of it. */
typedef struct {
    const Stmt *stmt;
    bool encloses_rest;
} BodyItem;

typedef enum { FRAME_FUNC, FRAME_BLOCK, FRAME_INIT, FRAME_LOOP, FRAME_BODY } FrameKind;

typedef struct {
    VEC(Iter) iters;
    ExprList bindings;
    VEC(Region) reads, writes;
    VEC(Buffer *) allocs;
    VEC(MatchBuffer) matches;
    const Expr *predicate;
    bool has_reads, has_writes;
    Attrs annotations;
    const Stmt *init;
} BlockState;

typedef struct Frame {
    FrameKind kind;
    struct Frame *parent;
    BlockState *block; /* FRAME_BLOCK */
    VEC(BodyItem) items;
    int enclosing; /* items that enclose the rest */
    int depth;     /* statements around this body */
    bool too_deep; /* and that was diagnosed */
} Frame;

/* The function at hand. */
typedef struct {
    const AstNode *node;
    const Scope *scope; /* of its parameters and its body */
    VEC(Param) params;
    VEC(Buffer *) root_allocs;
    Attrs attrs;
    bool holds_blocks;
    bool newest; /* s_tir=True: where no block is around, T.alloc_buffer is a statement; those of root_allocs are in the body, too */
    bool loose_values; /* a statement is looked at that only has a value: where a name in it is undefined, it was to define some */
    bool names_lost; /* after an error it is not known which names the text defines: none is missed */
    Map threads; /* env_thread Var -> Str */
    Map scalars; /* Buffers whose one element a name means, which assignments to the name change */
} FuncState;

typedef struct {
    const Func *func;
    bool in_class;
} FuncEntry;

/* A call of a function of the program by another one. */
typedef struct {
    const Expr *call;
    Span span;
} FuncCall;

typedef struct {
    Context *ctx;
    const OuterNames *outer; /* of the text around the program, or NULL */
    Map builtins;   /* Str full name -> const Builtin * */
    Scope *scope;
    Frame *frame;    /* NULL outside of functions */
    FuncState *func; /* NULL outside of functions */
    Map loop_domains; /* loop Var -> Range * */
    Map buffers;      /* data Var -> Buffer * of what is declared */
    Map type_vars;     /* names that a TypeVar declares before the functions */
    Map named_strides; /* Vars that a string in the text named */
    Map extents;       /* Vars that are an extent of a buffer */
    Map bound_vars;    /* Vars that a let or thread statement or an expression binds already */
    Map func_defs;     /* Str -> AstNode * of all functions of the program */
    VEC(FuncCall) func_calls; /* of functions of the program, to be checked once all are known */
    Map symbols;       /* Vars made by T.int32() and the like: something must define them */
    Map miscounted;    /* Buffers of which an access with a wrong number of indices was diagnosed */
    bool lost_decorator; /* the statement before, which was diagnosed, may have been one */
    VEC(FuncEntry) funcs;
    IntrinList intrins;
    const struct Json *metadata; /* of the text, see elab_metadata.c; NULL: it has none */
    Attrs module_attrs;
    Str module_name; /* of the first class; NULL before */
    bool in_class;
} Elab;

/* --- Sizes that a signature names before a line declares them --- */

/* Declares them, those of TypeVars too; the rest of the body of the function NODE. */
AstList elab_sizes_ahead(Elab *elab, const AstNode *node);
/* The variable of the parameter NAME where a type before it mentioned it; else NULL. */
Var *elab_parameter_ahead(Elab *elab, Str name);
/* In a signature, a string means the size of that name; other values are themselves. */
Value elab_named_size(Elab *elab, const Value *value);
/* True where NODE, an assignment outside of functions, is of a TypeVar, which is noted. */
bool elab_type_var(Elab *elab, const AstNode *node);

/* --- Calls --- */

/* LANES is T.vscale(), or a product of it and the number *FACTOR: lanes that only the target counts. */
bool elab_is_scalable(const Expr *lanes, int64_t *factor);
enum { MOST_PARAMS = 12, MOST_LANES = 4096 };

/* A row of builtins.def, and a call of it with its arguments in the order of its parameters. */
typedef struct {
    const char *name;
    bool optional;
} CallParam;
typedef struct {
    const Builtin *builtin;
    const Value *object; /* of a method */
    Span span;
    int param_count, positional_count; /* those that are taken by keyword only come last */
    CallParam params[MOST_PARAMS];
    Value values[MOST_PARAMS]; /* VALUE_ABSENT where not given; none is VALUE_ERROR */
    bool takes_rest;
    ValueList rest; /* the positional arguments where it takes any number; then params are given by keyword only */
} Call;
struct Builtin {
    const char *name; /* "T.grid"; a method: "Buffer.access_ptr" */
    Value (*act)(Elab *elab, const Call *call);
    const char *params; /* "shape dtype? *rest": names, ? for optional, ! for ignored, * for the rest */
    int variant;        /* for rows that share a function: a kind or an operation */
};

#define X(name, act, params, variant) Value builtin_##act(Elab *elab, const Call *call);
#include "parser/builtins.def"
#undef X

/* The argument of parameter NAME (VALUE_ABSENT when it was not given), and whether one was given that is not None. */
const Value *call_arg(const Call *call, const char *name);
bool call_has(const Call *call, const char *name);
/* Value of a call expression. */
Value elab_call(Elab *elab, const AstNode *node);
void elab_register_builtins(Elab *elab);
/* Value of the name NAME in namespace PATH; diagnosed when there is none. */
Value elab_namespace_name(Elab *elab, Str path, Str name, Span span);
/* T.NAME is something. */
bool elab_is_t_name(Elab *elab, Str name, Span span);
/* The namespace or builtin that the dotted Python name PATH stands for, or VALUE_ABSENT. */
Value elab_known_path(Elab *elab, Str path, Span span);

/* --- elab_value.c: making and reading values. A reader that fails has diagnosed it; none complains about VALUE_ERROR. --- */
Value value_error(void);
Value value_none(Span span);
Value value_bool(bool value, Span span);
Value value_int(int64_t value, Span span);
Value value_float(double value, Span span);
Value value_string(Str text, Span span);
Value value_expr(const Expr *expr, Span span); /* VALUE_ERROR for NULL */
Value value_buffer(Buffer *buffer, Span span);
Value value_dtype(DType dtype, Span span);
/* VAR, which the name that it is bound to will name. */
Value value_fresh_var(Elab *elab, Var *var, Span span);
Value value_tuple(Elab *elab, const Value *items, int count, Span span);
Value value_wrapper(Elab *elab, const Stmt *layers, int count, Value result, Span span);
const char *value_kind_name(ValueKind kind);
/* What EXPR is, for messages: its type, or a string. */
const char *expr_type_name(Context *ctx, const Expr *expr);
/* A Python constant that a number type can take. */
bool value_is_number(const Value *value);
bool value_is_sequence(const Value *value);
/* The value as an expression: constants get their default type (int32, or int64 where they need it; float32), regions become vector loads.
   NULL: no expression. */
const Expr *value_to_expr(Elab *elab, const Value *value);
/* The same, but a Python constant becomes one of type DTYPE (lanes too) and must fit in it. */
const Expr *value_to_typed(Elab *elab, const Value *value, DType dtype);
/* An integer scalar. */
const Expr *value_to_integer(Elab *elab, const Value *value, const char *what);
/* A bool scalar or vector. */
const Expr *value_to_condition(Elab *elab, const Value *value);
const Expr *value_to_scalar_condition(Elab *elab, const Value *value, const char *what);
/* Brings two values to expressions; a Python constant takes the other's type. */
bool value_pair_to_exprs(Elab *elab, const Value *a, const Value *b, const Expr **x, const Expr **y);
bool value_to_int(Elab *elab, const Value *value, const char *what, int64_t *result);
bool value_to_bool(Elab *elab, const Value *value, const char *what, bool *result);
Str value_to_string(Elab *elab, const Value *value, const char *what);
/* The name of a storage scope or a thread axis. One that is unknown may be of a machine that has it; a misspelt one is an error. NULL after a
   diagnostic. */
Str value_to_scope(Elab *elab, const Value *value);
Str value_to_thread(Elab *elab, const Value *value);
bool value_to_dtype(Elab *elab, const Value *value, DType *dtype);
/* The items of a tuple or list; a single value counts as one. */
ValueList value_items(const Value *value);
/* A tuple or list of integers, or a single one, as expressions. */
bool value_to_integers(Elab *elab, const Value *value, const char *what, const Expr ***exprs, int *count);
const AttrValue *value_to_attr(Elab *elab, const Value *value);
bool value_to_attrs(Elab *elab, const Value *value, const char *what, Attrs *attrs);
/* A region, a load (a point) or a whole buffer. */
const Region *value_to_region(Elab *elab, const Value *value);

/* --- elab_python.c: operators on Python constants --- */
Value python_unary(Elab *elab, AstOp op, const Value *value, Span span);
Value python_binary(Elab *elab, AstOp op, const Value *a, const Value *b, Span span);
Value python_compare(Elab *elab, AstOp op, const Value *a, const Value *b, Span span);

/* --- elab_expr.c, elab_access.c --- */
Value elab_expr(Elab *elab, const AstNode *node);
/* The values of LIST, starred ones expanded. */
ValueList elab_expr_list(Elab *elab, AstList list);
Value elab_binary(Elab *elab, AstOp op, const Value *a, const Value *b, Span span);
/* OP, an operation with arguments A and B of one type, with constants folded. */
Value elab_bit_operation(Elab *elab, Op op, const Value *a, const Value *b, Span span);
Value elab_subscript(Elab *elab, const AstNode *node);
/* T.Buffer[...] and the like: NODE is the subscript, BASE the builtin. */
Value elab_builtin_subscript(Elab *elab, const Value *base, const AstNode *node);
Value elab_attribute(Elab *elab, const AstNode *node);
/* BUFFER at INDICES, checked; NULL after a diagnostic. MASK may be NULL. */
const Expr *elab_load(Elab *elab, Buffer *buffer, const Expr *const *indices, int count, const Expr *mask, Span span);
/* Checks the number, types and constant values of the INDICES of an access. */
bool elab_check_indices(Elab *elab, const Buffer *buffer, const Expr *const *indices, int count, Span span);
/* Says at SPAN that VALUE, the base of a subscript, is a handle, if it is one. */
bool elab_report_handle(Elab *elab, const AstNode *base, const Value *value, Span span);
/* The indices of the element or vector BUFFER[INDEX] that is written. */
bool elab_store_indices(Elab *elab, Buffer *buffer, const AstNode *index, const Expr ***indices, int *count);
/* BUFFER[INDICES] = VALUE with the value brought to the buffer's type. */
void elab_store(Elab *elab, Buffer *buffer, const Expr *const *indices, int count, const Value *value, const Expr *mask, Span span);

/* --- elab_operator.c --- */
/* BODY with VARIABLE standing for VALUE. */
Value elab_let_in_expr(Elab *elab, const Value *variable, const Value *value, const Value *body, Span span);

/* --- elab_scope.c: names --- */
void scope_push(Elab *elab);
void scope_pop(Elab *elab);
const Binding *scope_find(const Elab *elab, Str name);
/* NAME, which was diagnosed, is an error from here to the end of the function, so that its other uses are silent. */
void scope_forget(Elab *elab, Str name);
/* Names in reach, for suggestions. */
const char *scope_closest(Elab *elab, Str name);
/* Binds without looking at what the value is; a name that the same scope has already is diagnosed. */
void scope_bind(Elab *elab, Str name, Value value, Span span);
/* Names of FROM stand for TO in the current scope. */
void scope_redirect(Elab *elab, const Var *from, Var *to);
/* The assignment TARGET = VALUE with all that it entails: naming of fresh symbols, lets, unpacking. */
void elab_bind_target(Elab *elab, const AstNode *target, Value value);
/* Binds NAME to VALUE, naming a fresh one. */
void elab_bind_name(Elab *elab, Str name, Value value, Span span);
/* An assignment changes NAME, at SPAN: if a scope around has the name, that is diagnosed and the name an error from here on. */
bool elab_refuse_change(Elab *elab, Str name, Span span);
/* Says that NAME, bound by BINDING, cannot be changed at SPAN, and what can. */
void elab_report_change(Elab *elab, Str name, const Binding *binding, Span span);
/* Gives a fresh VALUE the name NAME. */
void elab_name_value(Elab *elab, Value *value, Str name);

/* --- elab_frame.c: bodies --- */
void frame_add(Elab *elab, const Stmt *stmt);
/* True when LEVELS more statements may enclose each other here; else it is diagnosed. */
bool frame_allows(Elab *elab, int levels, Span span);
/* The rest of the current body goes into WRAPPER. *RESULT (may be NULL), what it makes, follows where a variable is replaced by a fresh
   one. */
void frame_enclose(Elab *elab, const WrapperSpec *wrapper, Value *result, Span span);
/* The statement that the frame's items make. */
const Stmt *frame_finish(Elab *elab, const Frame *frame);
/* Elaborates BODY in a frame and a scope of its own. */
const Stmt *elab_body(Elab *elab, FrameKind kind, AstList body);
/* The frame of the innermost block around, or NULL. */
Frame *frame_enclosing_block(const Elab *elab);
/* The current frame if it is directly in a block (else diagnosed): WHAT names the builtin. */
Frame *frame_require_block(Elab *elab, const Call *call);

/* --- elab_stmt.c, elab_loop.c, elab_block.c --- */
void elab_statements(Elab *elab, AstList body);
void elab_statement(Elab *elab, const AstNode *node, bool is_last);
/* `name: annotation = value` in a body or, for constants, outside of functions. */
void elab_ann_assign(Elab *elab, const AstNode *node);
void elab_for(Elab *elab, const AstNode *node);
/* `with T.block(...)`: VALUE is the block, BODY what it holds. IS_LAST: no statement follows it in its body. */
void elab_block(Elab *elab, const Value *value, const AstNode *target, AstList body, Span span, bool is_last);
void elab_init(Elab *elab, const Value *value, AstList body);

/* --- elab_warn.c: warnings --- */
/* VALUE, of the expression that is the statement NODE, is used by nothing; no warning where its evaluation may have an effect, nor of a call,
   which is how T.evaluate prints. */
void elab_warn_unused(Elab *elab, const AstNode *node, const Value *value);
/* VALUE is stored in an element of BUFFER, whose type may not hold it. */
void elab_warn_narrowing(Elab *elab, const Buffer *buffer, const Expr *value, Span span);
/* A and B are compared. */
void elab_warn_mixed_signs(Elab *elab, const Value *a, const Value *b, Span span);
/* Statements of BODY stand behind one that leaves it. */
void elab_warn_unreachable(Elab *elab, AstList body);
/* The constant CONDITION drops BODY from the program. */
void elab_warn_dropped(Elab *elab, const AstNode *condition, AstList body);

/* --- elab_wrapper.c --- */
/* The assertion around the rest of a body. */
Value elab_assertion(Elab *elab, const Value *condition, const Value *message, Span span);

/* --- elab_func.c, elab_check.c --- */
/* The type of the result that RETURNS, an annotation or NULL, states. */
DType elab_return_type(Elab *elab, const AstNode *returns);
/* Module.NAME, and the call of it. */
Value elab_global(Elab *elab, Str name, Span span);
Value elab_global_call(Elab *elab, const Value *callee, ValueList args, const AstNode *node);
/* Notes the functions that NODE, a statement outside of functions, defines, so that others may call them before they are read. */
void elab_note_definitions(Elab *elab, const AstNode *node);
/* The calls between functions fit the functions. */
void elab_check_calls(Elab *elab, const Module *module);
/* The function that NODE defines, or NULL. */
const Func *elab_function(Elab *elab, const AstNode *node);
/* Checks that need the whole function: variables that nothing defines, loop variables used past a block's iterators. */
bool elab_check_function(Elab *elab, const Func *func);
/* elab_intrin.c: DESCRIPTION and IMPLEMENTATION take the same buffers, declare the same regions and keep to them. SPAN: of the call of register. */
bool elab_check_intrin(Context *ctx, const Func *description, const Func *implementation, Span span);

/* --- elab_buffer.c --- */
/* Declares BUFFER as visible. */
void elab_declare_buffer(Elab *elab, Buffer *buffer);
/* LAYERS: the allocation of all that the layout of BUFFER reaches, with ANNOTATIONS, and the declaration of BUFFER; their bodies are not set. */
void elab_allocation_layers(Elab *elab, Buffer *buffer, Attrs annotations, Stmt layers[2]);

/* --- elab_scalar.c: scalars that assignments change --- */
/* NODE, `name: type` or `name: type = value`, declares one. */
bool elab_is_scalar_declaration(const Elab *elab, const AstNode *node);
void elab_declare_scalar(Elab *elab, const AstNode *node);
/* Memory of one element of DTYPE in SCOPE, without a name yet, around what follows. */
Value elab_scalar(Elab *elab, DType dtype, Str scope, Span span);
/* The memory of the scalar that VALUE is what is in; NULL where it is none. */
Buffer *elab_scalar_of(const Elab *elab, const Value *value);
/* TARGET = VALUE where TARGET names a scalar; else false. */
bool elab_assign_scalar(Elab *elab, const AstNode *target, const Value *value, Span span);

/* --- elab_metadata.c --- */
/* NODE is metadata["type"][index]: *VALUE is what it stands for. */
bool elab_metadata_entry(Elab *elab, const AstNode *node, Value *value);

/* --- elab_intrinsic.c, elab_constant.c --- */
/* The call of an operation of ir/intrinsics.def with plain ARGS. */
Value elab_intrinsic(Elab *elab, Op op, const Value *args, int count, Span span);
/* T.int32(...): a variable, a constant or a cast. */
Value elab_dtype_call(Elab *elab, DType dtype, ValueList args, const AstNode *node);
/* A variable of DTYPE that the text creates by itself, such as T.int32(): some declaration must define it. */
Value elab_new_symbol(Elab *elab, Var *var, Span span);

#endif
