/* Statements, functions and modules: immutable nodes. */
#ifndef TIRC_IR_STMT_H
#define TIRC_IR_STMT_H

#include "ir/expr.h"

typedef struct Stmt Stmt;

/* The integers from min up to, not including, min + extent. */
typedef struct {
    const Expr *min, *extent;
} Range;

/* A box of a buffer: one range per dimension. A point has extents 1. */
typedef struct {
    Buffer *buffer;
    Range *ranges; /* buffer->ndim */
    Span span;
} Region;

/* A value in an annotation or attribute: a list or dictionary of values, or an expression (numbers, bools and strings are constants). */
typedef enum { ATTR_EXPR, ATTR_LIST, ATTR_DICT, ATTR_NONE, ATTR_BUFFER, ATTR_TEXT } AttrKind;
typedef struct AttrValue AttrValue;
typedef struct {
    Str key;
    const AttrValue *value;
} Attr;
struct AttrValue {
    AttrKind kind;
    const Expr *expr;        /* ATTR_EXPR */
    Buffer *buffer;          /* ATTR_BUFFER */
    Str text;                /* ATTR_TEXT: what says nothing here, as it was written */
    bool untyped;            /* ATTR_EXPR: a number or bool of Python's, which prints without its type */
    const AttrValue **items; /* ATTR_LIST */
    Attr *entries;           /* ATTR_DICT */
    int count;
};
/* Key-value pairs in the order of writing. */
typedef struct {
    Attr *entries;
    int count;
} Attrs;
/* The value under KEY, or NULL. */
const AttrValue *attrs_get(Attrs attrs, const char *key);
/* A value of ATTRS names BUFFER (any buffer where it is NULL). */
bool attrs_name_buffer(Attrs attrs, const Buffer *buffer);
/* ATTRS with KEY set to VALUE (replaced in place or appended), or with KEY removed. */
Attrs attrs_set(Context *ctx, Attrs attrs, Str key, const AttrValue *value);
Attrs attrs_remove(Context *ctx, Attrs attrs, const char *key);
/* Adds ADDED to ATTRS; dictionaries under one key become one. NULL, or a key that both have with different values. */
Str attrs_merge(Context *ctx, Attrs *attrs, Attrs added);
/* ATTRS with the prefix TO ("tir.") in place of FROM ("tirx.") in the keys that have it. */
Attrs attrs_with_prefix(Context *ctx, Attrs attrs, const char *from, const char *to);
const AttrValue *attr_expr(Context *ctx, const Expr *expr);
/* Numbers of Python's: an int32 where the value fits, else an untyped int64; an untyped float64 (a float32 where it is no finite
   number). */
const AttrValue *attr_int(Context *ctx, int64_t value);
const AttrValue *attr_float(Context *ctx, double value);
/* True or False of Python's, which newer releases of the reference print so, and older ones as T.bool(True). */
const AttrValue *attr_bool(Context *ctx, bool value);

typedef enum { ITER_SPATIAL, ITER_REDUCE, ITER_SCAN, ITER_OPAQUE } IterKind;

/* A block iterator (axis): its variable, domain and kind. */
typedef struct {
    Var *var;
    Range domain;
    IterKind kind;
    Span span;
} Iter;

/* match_buffer of a region inside a block: TARGET is a view of SOURCE. */
typedef struct {
    Buffer *target;
    Region source;
} MatchBuffer;

/* What calls of functions of the program, which stand in a block itself and not in one inside, touch of what they are given pointers to. */
typedef enum {
    CALLEES_ABSENT,  /* it holds no such call */
    CALLEES_UNKNOWN, /* they are not shown to keep to the regions that the block declares */
    CALLEES_INSIDE,  /* they touch nothing but these regions */
    CALLEES_FILL,    /* and write all elements of those that the block declares to write */
} CalleeRegions;

/* A block together with the values it is bound to. */
typedef struct {
    Block *block;
    int iter_count;
    Iter *iters;
    const Expr **bindings;  /* iter_count values for the iterators */
    const Expr *predicate;  /* T.where; never NULL, constant true when absent */
    Region *reads, *writes;
    int read_count, write_count;
    bool reads_inferred, writes_inferred; /* not stated in the text: filled in by the pass `complete` */
    bool incomplete;                      /* the regions that are to be inferred are still missing, as in a program that was only parsed */
    bool groups;                          /* states empty lists around blocks, as a root block does: see block_only_groups */
    CalleeRegions callees;
    Buffer **allocs;
    int alloc_count;
    MatchBuffer *matches;
    int match_count;
    Attrs annotations;
    const Stmt *init; /* NULL when absent */
    const Stmt *body;
} BlockStmt;

/* The text states both lists of regions of BLOCK: none is inferred. */
static inline bool block_declares_regions(const BlockStmt *block)
{
    return !block->reads_inferred && !block->writes_inferred;
}

/* The threads of one block of a kernel: of a target at most so many, and with the virtual ones that each of them runs. */
enum { MOST_THREADS = 1024, MOST_VIRTUAL_THREADS = 4096 };

typedef enum { FOR_SERIAL, FOR_PARALLEL, FOR_VECTORIZED, FOR_UNROLLED, FOR_THREAD } ForKind;

typedef struct {
    Var *var;
    const Expr *min, *extent;
    ForKind kind;
    bool launch; /* FOR_THREAD: it stands as T.launch_thread, which encloses what follows; its min is 0 */
    Str thread;  /* FOR_THREAD: "threadIdx.x"; else NULL */
    Attrs annotations;
    const Stmt *body;
} ForStmt;

typedef enum {
    STMT_SEQ,
    STMT_FOR,
    STMT_WHILE,
    STMT_BLOCK,
    STMT_IF,
    STMT_LET,
    STMT_STORE,
    STMT_EVALUATE,
    STMT_ALLOCATE,
    STMT_ALLOCATE_CONST,
    STMT_DECL_BUFFER,
    STMT_ATTR,
    STMT_ASSERT,
    STMT_REALIZE,
} StmtKind;

struct Stmt {
    StmtKind kind;
    Span span;
    union {
        struct {
            int count; /* never 1; 0 is the empty statement (pass) */
            const Stmt **items; /* none of them a STMT_SEQ */
        } seq;
        ForStmt loop;
        struct {
            const Expr *condition;
            const Stmt *body;
        } while_loop;
        BlockStmt block;
        struct {
            const Expr *condition;
            const Stmt *then_body, *else_body; /* else_body may be NULL */
        } branch;
        struct {
            Var *var;
            const Expr *value;
            const Stmt *body;
        } let;
        struct {
            Buffer *buffer;
            const Expr **indices;
            int index_count;
            const Expr *value, *mask; /* mask: lanes to write, or NULL */
        } store;
        const Expr *evaluate;
        struct { /* raw memory: COUNT = product of extents elements of DTYPE behind handle VAR */
            Var *var;
            DType dtype;
            const Expr **extents;
            int extent_count;
            Str scope;
            const Expr *condition; /* never NULL */
            Attrs annotations;
            const Stmt *body;
        } allocate;
        struct {
            Var *var;
            DType dtype;
            const Expr **extents;
            int extent_count;
            const Expr **data; /* constants */
            int data_count;
            Attrs annotations;
            const Stmt *body;
        } allocate_const;
        struct { /* a buffer over memory that exists (T.decl_buffer, or T.Buffer(..., data=...) in a body: !explicit_declaration) */
            Buffer *buffer;
            bool explicit_declaration;
            const Stmt *body;
        } declare;
        struct { /* T.attr(node, key, value) */
            const Expr *node; /* never NULL */
            Str key;
            const Expr *value;
            const Stmt *body;
        } attr;
        struct {
            const Expr *condition, *message;
            const Stmt *body; /* may be the empty sequence */
        } assertion;
        struct { /* T.realize(region, scope, condition) */
            Region region;
            Str scope;
            const Expr *condition;
            const Stmt *body;
        } realize;
    } as;
};

/* --- Constructors. Arrays are copied. --- */
const Stmt *stmt_seq(Context *ctx, const Stmt *const *items, int count); /* flattens, leaves out T.evaluate(0) beside others; a single item is itself */
const Stmt *stmt_empty(Context *ctx);
bool stmt_is_empty(const Stmt *stmt);
const Stmt *stmt_for(Context *ctx, ForStmt loop, Span span);
/* A plain serial loop from MIN (NULL: 0 of the variable's type) over EXTENT. */
const Stmt *stmt_for_serial(Context *ctx, Var *var, const Expr *min, const Expr *extent, const Stmt *body, Span span);
const Stmt *stmt_while(Context *ctx, const Expr *condition, const Stmt *body, Span span);
const Stmt *stmt_block(Context *ctx, BlockStmt block, Span span);
const Stmt *stmt_if(Context *ctx, const Expr *condition, const Stmt *then_body, const Stmt *else_body, Span span);
const Stmt *stmt_let(Context *ctx, Var *var, const Expr *value, const Stmt *body, Span span);
const Stmt *stmt_store(Context *ctx, Buffer *buffer, const Expr *const *indices, int index_count, const Expr *value, const Expr *mask,
                       Span span);
const Stmt *stmt_evaluate(Context *ctx, const Expr *value, Span span);
/* Any other kind: a copy of TEMPLATE. */
const Stmt *stmt_new(Context *ctx, const Stmt *template);
/* STMT again with another body (for kinds that have exactly one body). */
const Stmt *stmt_with_body(Context *ctx, const Stmt *stmt, const Stmt *body);
/* PARENT again with its child OLD_CHILD, which stands there once, replaced by NEW_CHILD. */
const Stmt *stmt_with_child(Context *ctx, const Stmt *parent, const Stmt *old_child, const Stmt *new_child);
/* The one body of STMT, or NULL for a kind without one (or with several: SEQ, IF; a block gives its body, not its init). */
const Stmt *stmt_body(const Stmt *stmt);
/* The loop over VAR appears in the binding of a reduce axis of BLOCK; with SPATIAL: in that of an axis of another kind, all of which tell
   the points of an init apart. */
bool block_binds_axis(const BlockStmt *block, bool spatial, const Var *var);
/* The loop over VAR only reduces for BLOCK: it moves reduce axes, and no others. */
bool block_only_reduces_over(const BlockStmt *block, const Var *var);
/* A reduce axis of BLOCK that a range of REGION depends on, or NULL. */
const Var *region_reduce_axis(const Region *region, const BlockStmt *block);
/* STMT is a loop that certainly has no iteration. */
bool stmt_is_empty_loop(const Stmt *stmt);

static inline Range range_point(Context *ctx, const Expr *index)
{
    return (Range){index, expr_int(ctx, dtype_scalar(index->dtype), 1)};
}
/* RANGE, counted from BASE on, in its type. */
static inline Range range_from(Context *ctx, const Expr *base, Range range)
{
    const Expr *min = op_add(ctx, base, range.min);
    return (Range){min, op_cast(ctx, min->dtype, range.extent)};
}
/* The whole of BUFFER as a region. */
Region region_whole(Context *ctx, Buffer *buffer);
/* The single element INDICES. */
Region region_point(Context *ctx, Buffer *buffer, const Expr *const *indices);

/* A function. Where its text holds blocks or alloc_buffers, body is a STMT_BLOCK named "root" without iterators (the root block). */
/* What index expressions over INPUTS make of the places of a box. */
typedef struct {
    int input_count, output_count;
    Var **inputs;
    const Expr **outputs;
} PlaceMap;
/* A step of a schedule that moved the elements of a buffer parameter: what the caller has in BEFORE's layout lies where MAP leads to. */
typedef struct ParamLayout {
    const struct ParamLayout *earlier; /* steps before it */
    const Buffer *before;
    PlaceMap map;
    Var **pad_vars; /* the value of the places that MAP leaves out is PAD_VALUE over these, as the caller must have filled in; NULL: any */
    const Expr *pad_value;
} ParamLayout;
typedef struct {
    Var *param;
    Buffer *buffer; /* NULL for a scalar parameter */
    bool matched;   /* declared with T.handle and T.match_buffer (else T.Buffer in the signature or a scalar) */
    const ParamLayout *layout; /* the last step that changed the buffer's layout, or NULL */
} Param;
/* Where CONDITION, over the sizes of the parameters, does not hold, an access of BUFFER leaves its dimension DIM. */
typedef struct {
    const Expr *condition;
    const Buffer *buffer;
    int dim;
    Span span; /* of the access */
} SizeNeed;
typedef struct Func {
    Str name;
    Param *params;
    int param_count;
    Attrs attrs; /* as in the text; global_symbol included where stated */
    DType return_type;
    bool is_private;
    const Stmt *body;
    const SizeNeed *needs; /* found before any step; see passes/regions/needs.h */
    int need_count;
    bool needs_known;
    Span span, name_span;
} Func;

/* A tensor intrinsic: what it computes and how it is done. */
typedef struct {
    Str name;
    const Func *description, *implementation;
    Span span;
} TensorIntrin;

typedef struct Module {
    bool bare; /* no class around the functions: prints without one */
    Str name;
    const Func **funcs;
    int func_count;
    TensorIntrin *intrins;
    int intrin_count;
    Attrs attrs;
} Module;

const Func *func_with_body(Context *ctx, const Func *func, const Stmt *body);
/* True when DATA is the memory of a buffer parameter of FUNC. */
bool func_is_argument(const Func *func, const Var *data);
/* The function called NAME, or NULL. */
const Func *module_find(const Module *module, const char *name);
/* The index of the function that a schedule means by NAME, or -1: "main" is also the only function of a program, whatever it is called. */
int module_index_for_schedule(const Module *module, const char *name);
/* MODULE with the function at INDEX replaced. */
const Module *module_with_func(Context *ctx, const Module *module, int index, const Func *func);
const TensorIntrin *module_intrin(const Module *module, const char *name);

#endif
