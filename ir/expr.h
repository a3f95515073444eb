/* Expressions: immutable, hashed nodes of kind + args + payload. */
#ifndef TIRC_IR_EXPR_H
#define TIRC_IR_EXPR_H

#include "ir/sym.h"

typedef enum {
#define X(kind, name, op, precedence) kind,
#include "ir/expr_kinds.def"
#undef X
    EXPR_KIND_COUNT
} ExprKind;

typedef enum {
#define X(name, text, fewest, most, effect, result) OP_##name,
#include "ir/intrinsics.def"
#undef X
    OP_COUNT
} Op;

typedef enum { EFFECT_PURE, EFFECT_READ, EFFECT_OPAQUE, EFFECT_FOREIGN } Effect; /* each may do what those before it may */
typedef enum { RESULT_FIRST, RESULT_SECOND, RESULT_BOOL, RESULT_INT32, RESULT_UINT32, RESULT_HANDLE, RESULT_VOID, RESULT_GIVEN } ResultRule;

/* A row of intrinsics.def. */
typedef struct {
    const char *name; /* after "T." */
    int fewest_args, most_args;
    Effect effect;
    ResultRule result;
} OpInfo;
const OpInfo *op_info(Op op);
/* The operation printed as T.NAME; false when there is none. */
bool op_find(const char *name, Op *op);

/* A row of expr_kinds.def. */
typedef struct {
    const char *name;
    const char *operator_text; /* NULL when it has none */
    int precedence;
} ExprKindInfo;
const ExprKindInfo *expr_kind_info(ExprKind kind);

struct Expr {
    uint8_t kind; /* ExprKind */
    bool predicated; /* EXPR_LOAD only: the last argument is a lane mask, not an index */
    bool opaque;     /* some call in it may do anything: it must be evaluated exactly where and as often as it is written */
    DType dtype;
    int arg_count;
    uint64_t hash; /* structural, equal for equal expressions over the same symbols */
    uint64_t uses; /* symbol_bit of each variable in it, and of each buffer that it loads from and that one's data */
    Span span;
    const Expr *const *args;
    union {
        int64_t integer; /* EXPR_INT; uint64 as its bit pattern */
        struct {         /* EXPR_FLOAT */
            double real;    /* rounded to the type: what computations see */
            double literal; /* before rounding, as the text said: what is printed */
        };
        Str text;        /* EXPR_STRING */
        Var *var;        /* EXPR_VAR, EXPR_LET */
        Buffer *buffer;  /* EXPR_LOAD */
        Op op;           /* EXPR_CALL */
        int split;       /* EXPR_SHUFFLE: how many of the args are vectors */
    } value;
};

typedef VEC(const Expr *) ExprList;

/* A symbol of number ID does not appear where its bit is missing; where it is set, it may. */
static inline uint64_t symbol_bit(uint32_t id)
{
    return UINT64_C(1) << (id & 63);
}

/* --- Plain constructors: no folding, no conversion. Arguments are used as they are; a type mismatch is a BUG. --- */
const Expr *expr_int(Context *ctx, DType dtype, int64_t value);
const Expr *expr_int_at(Context *ctx, DType dtype, int64_t value, Span span);
const Expr *expr_bool(Context *ctx, bool value);
const Expr *expr_float(Context *ctx, DType dtype, double value);
const Expr *expr_string(Context *ctx, Str text);
const Expr *expr_var(Context *ctx, Var *var);
const Expr *expr_var_at(Context *ctx, Var *var, Span span);
const Expr *expr_cast(Context *ctx, DType dtype, const Expr *value);
/* KIND from EXPR_ADD to EXPR_OR. Result type: that of the operands, bool for comparisons and logic. */
const Expr *expr_binary(Context *ctx, ExprKind kind, const Expr *a, const Expr *b);
const Expr *expr_not(Context *ctx, const Expr *a);
const Expr *expr_select(Context *ctx, const Expr *condition, const Expr *if_true, const Expr *if_false);
/* INDICES: buffer->ndim of them; a vector index makes a vector load of as many lanes. MASK may be NULL. */
const Expr *expr_load(Context *ctx, Buffer *buffer, const Expr *const *indices, int index_count, const Expr *mask, Span span);
const Expr *expr_ramp(Context *ctx, const Expr *base, const Expr *stride, int lanes);
const Expr *expr_broadcast(Context *ctx, const Expr *value, int lanes);
const Expr *expr_let(Context *ctx, Var *var, const Expr *value, const Expr *body);
const Expr *expr_shuffle(Context *ctx, DType dtype, const Expr *const *args, int arg_count, int vector_count);
/* DTYPE: the result type, which the caller has found by the rule of op_info. */
const Expr *expr_call(Context *ctx, DType dtype, Op op, const Expr *const *args, int arg_count, Span span);
/* EXPR again with other arguments (as many); EXPR itself when they are the same pointers. Result dtype follows the new arguments' lanes and
   types; a shift or bitwise operation of two constants folds. */
const Expr *expr_with_args(Context *ctx, const Expr *expr, const Expr *const *args);
/* EXPR with SPAN as its place. */
const Expr *expr_with_span(Context *ctx, const Expr *expr, Span span);

/* Number of index arguments of a load (without the mask), and the mask or NULL. */
static inline int load_index_count(const Expr *load)
{
    return load->arg_count - load->predicated;
}
static inline const Expr *load_mask(const Expr *load)
{
    return load->predicated ? load->args[load->arg_count - 1] : NULL;
}

static inline bool expr_is_binary(const Expr *e)
{
    return e->kind >= EXPR_ADD && e->kind <= EXPR_OR;
}
static inline bool expr_is_compare(const Expr *e)
{
    return e->kind >= EXPR_EQ && e->kind <= EXPR_GE;
}
static inline bool expr_is_call(const Expr *e, Op op)
{
    return e->kind == EXPR_CALL && e->value.op == op;
}
/* What can be said instead of CALL, which may have effects, where its function has none; "" when there is nothing. */
const char *expr_pure_way(const Expr *call);
/* E itself, not just a part of it, is a call that may do anything. */
static inline bool expr_is_opaque_call(const Expr *e)
{
    return e->kind == EXPR_CALL && op_info(e->value.op)->effect >= EFFECT_OPAQUE;
}
/* E itself is a call of code outside of the program, which must run just as often as it is written. */
static inline bool expr_is_foreign_call(const Expr *e)
{
    return e->kind == EXPR_CALL && op_info(e->value.op)->effect == EFFECT_FOREIGN;
}
static inline bool expr_is_var(const Expr *e, const Var *var)
{
    return e->kind == EXPR_VAR && e->value.var == var;
}
/* True for the integer (or bool) constant VALUE, and for any such constant (*VALUE set). */
static inline bool expr_is_int(const Expr *e, int64_t value)
{
    return e->kind == EXPR_INT && e->value.integer == value;
}
static inline bool expr_const_int(const Expr *e, int64_t *value)
{
    if (e->kind != EXPR_INT)
        return false;
    *value = e->value.integer;
    return true;
}
/* Structural equality over the same symbols; places are ignored. */
bool expr_equal(const Expr *a, const Expr *b);
/* E itself is a call of pure code outside of the program that is given pointers: it may read what they point to. */
bool expr_reads_through_pointers(const Expr *e);
/* EXPR itself divides integers by what is not known to be another number than 0 and -1 (the least integer has no quotient by -1). */
bool expr_division_may_fail(const Expr *e);
/* True when evaluating EXPR has no effect and does not depend on memory: no loads, no calls but PURE ones without pointers. */
bool expr_is_pure(const Expr *e);
/* The kind of the comparison of integers that holds where one of KIND does not. */
ExprKind expr_opposite_compare(ExprKind kind);
/* The kind of a comparison of KIND with its sides exchanged. */
ExprKind expr_mirrored_compare(ExprKind kind);
/* True when EXPR mentions VAR. */
bool expr_uses_var(const Expr *e, const Var *var);
/* The number of nodes of E; MOST or more where there are as many: no more are counted. */
int expr_size(const Expr *e, int most);

/* --- Operators as programs write them (ops.c): operands are brought to a common type by the promotion rules, constants folded, x + 0, x *
   1 and the like reduced, as the reference does while a program is built. NULL after a diagnostic at SPAN when the types do not fit (a
   division by the constant zero too). --- */
const Expr *op_binary(Context *ctx, ExprKind kind, const Expr *a, const Expr *b, Span span);
const Expr *op_not(Context *ctx, const Expr *a, Span span);
const Expr *op_negate(Context *ctx, const Expr *a, Span span);
/* A shift, or a bitwise operation; B is NULL for OP_BITWISE_NOT. */
const Expr *op_bits(Context *ctx, Op op, const Expr *a, const Expr *b, Span span);
/* Conversion; constants are folded, a cast to the own type is dropped. A scalar becomes a broadcast when DTYPE has lanes. */
const Expr *op_cast(Context *ctx, DType dtype, const Expr *value);
/* Select/if_then_else with the branches brought to one type and constant conditions folded (if_then_else never drops a branch silently
   otherwise). */
const Expr *op_select(Context *ctx, const Expr *condition, const Expr *if_true, const Expr *if_false, Span span);
const Expr *op_if_then_else(Context *ctx, const Expr *condition, const Expr *if_true, const Expr *if_false, Span span);
/* Brings *A and *B to one type; false after a diagnostic at SPAN. */
bool op_match_types(Context *ctx, const Expr **a, const Expr **b, Span span);

/* Shorthands for passes, whose operands always fit: BUG instead of a diagnostic. */
const Expr *op_add(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_sub(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_mul(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_floordiv(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_floormod(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_min(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_max(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_and(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_or(Context *ctx, const Expr *a, const Expr *b);
const Expr *op_compare(Context *ctx, ExprKind kind, const Expr *a, const Expr *b);
const Expr *op_add_int(Context *ctx, const Expr *a, int64_t b);
const Expr *op_mul_int(Context *ctx, const Expr *a, int64_t b);

#endif
