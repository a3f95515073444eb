/* Constant bounds of integer expressions: interval arithmetic over int64 that saturates to infinity.

   int32 and int64 arithmetic is taken not to overflow, so the bound of a sum may exceed the type's; a narrower or unsigned type wraps,
   so a result that may leave the type is only known to be in the type. */
#include "ir/fold.h"
#include "passes/arith/internal.h"

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

static bool is_infinite(int64_t value)
{
    return value == BOUND_NEG_INF || value == BOUND_POS_INF;
}

int64_t bound_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (is_infinite(a))
        return a;
    if (is_infinite(b))
        return b;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? BOUND_NEG_INF : BOUND_POS_INF;
    return sum;
}

static int64_t bound_negate(int64_t a)
{
    if (a == BOUND_NEG_INF)
        return BOUND_POS_INF;
    return a == BOUND_POS_INF ? BOUND_NEG_INF : -a;
}

static int64_t bound_multiply(int64_t a, int64_t b)
{
    int64_t product;
    if (a == 0 || b == 0)
        return 0;
    if (is_infinite(a) || is_infinite(b) || __builtin_mul_overflow(a, b, &product))
        return (a < 0) == (b < 0) ? BOUND_POS_INF : BOUND_NEG_INF;
    return product;
}

/* B is not 0. */
static int64_t bound_divide(int64_t a, int64_t b, bool floors)
{
    if (is_infinite(a))
        return b > 0 ? a : bound_negate(a);
    if (is_infinite(b))
        return floors && a != 0 && (a < 0) != (b < 0) ? -1 : 0;
    return floors ? floor_divide(a, b) : a / b;
}

IntBound bound_of_type(DType dtype)
{
    if (dtype.code == DT_BOOL)
        return (IntBound){0, 1};
    if (!dtype_is_integer(dtype))
        return (IntBound){BOUND_NEG_INF, BOUND_POS_INF};
    /* the ends of the 64 bit types coincide with the infinities */
    return (IntBound){dtype_min_int(dtype_scalar(dtype)), dtype_max_int(dtype_scalar(dtype))};
}

IntBound bound_intersect(IntBound a, IntBound b)
{
    return (IntBound){MAX_OF(a.min, b.min), MIN_OF(a.max, b.max)};
}

static IntBound bound_union(IntBound a, IntBound b)
{
    return (IntBound){MIN_OF(a.min, b.min), MAX_OF(a.max, b.max)};
}

/* The interval around the four values at the corners of A x B. */
static IntBound bound_of_corners(int64_t w, int64_t x, int64_t y, int64_t z)
{
    return (IntBound){MIN_OF(MIN_OF(w, x), MIN_OF(y, z)), MAX_OF(MAX_OF(w, x), MAX_OF(y, z))};
}

static IntBound bound_of_product(IntBound a, IntBound b)
{
    return bound_of_corners(bound_multiply(a.min, b.min), bound_multiply(a.min, b.max), bound_multiply(a.max, b.min),
                            bound_multiply(a.max, b.max));
}

/* B does not hold 0; the quotient is monotonic in each operand on such a B, so the corners decide. */
static IntBound bound_of_quotient_one_sign(IntBound a, IntBound b, bool floors)
{
    return bound_of_corners(bound_divide(a.min, b.min, floors), bound_divide(a.min, b.max, floors), bound_divide(a.max, b.min, floors),
                            bound_divide(a.max, b.max, floors));
}

static IntBound bound_of_quotient(IntBound a, IntBound b, DType dtype, bool floors)
{
    if (b.min > 0 || b.max < 0)
        return bound_of_quotient_one_sign(a, b, floors);
    if (b.min == 0 && b.max == 0)
        return bound_of_type(dtype);
    IntBound positive = {1, b.max}, negative = {b.min, -1};
    if (b.min == 0)
        return bound_of_quotient_one_sign(a, positive, floors);
    if (b.max == 0)
        return bound_of_quotient_one_sign(a, negative, floors);
    return bound_union(bound_of_quotient_one_sign(a, positive, floors), bound_of_quotient_one_sign(a, negative, floors));
}

static IntBound bound_of_truncated_remainder(IntBound a, IntBound b, DType dtype)
{
    if (b.min <= 0)
        return bound_of_type(dtype);
    int64_t largest = bound_add(b.max, -1);
    if (a.min >= 0)
        return a.max < b.min ? a : (IntBound){0, MIN_OF(a.max, largest)};
    return (IntBound){MAX_OF(a.min, bound_negate(largest)), MIN_OF(MAX_OF(a.max, 0), largest)};
}

/* With a constant modulus the remainder keeps the dividend's congruence modulo their common factor. */
static IntBound bound_of_congruent_remainder(Analyzer *an, const Expr *dividend, int64_t modulus)
{
    ModularSet set = analyzer_modular(an, dividend);
    int64_t factor = integer_gcd(set.coeff, modulus);
    int64_t base = floor_modulo(set.base, factor);
    return (IntBound){base, base + modulus - factor};
}

static IntBound bound_of_floored_remainder(Analyzer *an, const Expr *expr, IntBound a, IntBound b)
{
    if (b.min >= 0 && b.max > 0) {
        b.min = MAX_OF(b.min, 1); /* there is no remainder by 0 */
        IntBound result = {0, bound_add(b.max, -1)};
        if (a.min >= 0 && a.max < b.min)
            return a;
        if (b.min == b.max)
            result = bound_of_congruent_remainder(an, expr->args[0], b.min);
        return a.min >= 0 ? (IntBound){result.min, MIN_OF(result.max, a.max)} : result;
    }
    IntBound result = {MIN_OF(0, bound_add(b.min, 1)), MAX_OF(0, bound_add(b.max, -1))};
    return bound_intersect(result, bound_of_type(expr->dtype));
}

static IntBound bound_of_shift(IntBound a, IntBound b, DType dtype, bool left)
{
    if (b.min < 0 || b.max > 62)
        return bound_of_type(dtype);
    IntBound factor = {(int64_t)1 << b.min, (int64_t)1 << b.max};
    /* a left shift drops high bits silently even of an index */
    IntBound result = left ? bound_of_product(a, factor) : bound_of_quotient(a, factor, dtype, true);
    IntBound limits = bound_of_type(dtype);
    return left && (result.min < limits.min || result.max > limits.max) ? limits : result;
}

static IntBound bound_of_call(Analyzer *an, const Expr *expr)
{
    IntBound whole = bound_of_type(expr->dtype);
    switch (expr->value.op) {
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
        return bound_of_shift(analyzer_bound(an, expr->args[0]), analyzer_bound(an, expr->args[1]), expr->dtype,
                              expr->value.op == OP_SHIFT_LEFT);
    case OP_BITWISE_AND: {
        IntBound a = analyzer_bound(an, expr->args[0]), b = analyzer_bound(an, expr->args[1]);
        if (a.min < 0 && b.min < 0)
            return whole;
        return (IntBound){0, a.min < 0 ? b.max : b.min < 0 ? a.max : MIN_OF(a.max, b.max)};
    }
    case OP_LIKELY: return analyzer_bound(an, expr->args[0]);
    default: return whole;
    }
}

static IntBound bound_of_binary(Analyzer *an, const Expr *expr)
{
    if (expr->kind >= EXPR_EQ)
        return (IntBound){0, 1};
    IntBound a = analyzer_bound(an, expr->args[0]), b = analyzer_bound(an, expr->args[1]);
    switch (expr->kind) {
    case EXPR_ADD: return (IntBound){bound_add(a.min, b.min), bound_add(a.max, b.max)};
    case EXPR_SUB: return (IntBound){bound_add(a.min, bound_negate(b.max)), bound_add(a.max, bound_negate(b.min))};
    case EXPR_MUL: return bound_of_product(a, b);
    case EXPR_DIV: return bound_of_quotient(a, b, expr->dtype, false);
    case EXPR_FLOORDIV: return bound_of_quotient(a, b, expr->dtype, true);
    case EXPR_MOD: return bound_of_truncated_remainder(a, b, expr->dtype);
    case EXPR_FLOORMOD: return bound_of_floored_remainder(an, expr, a, b);
    case EXPR_MIN: return (IntBound){MIN_OF(a.min, b.min), MIN_OF(a.max, b.max)};
    case EXPR_MAX: return (IntBound){MAX_OF(a.min, b.min), MAX_OF(a.max, b.max)};
    default: return bound_of_type(expr->dtype);
    }
}

/* uint64 constants are carried as their bit pattern, so a negative one is a value beyond int64. */
static bool is_huge_unsigned(const Expr *expr)
{
    return expr->kind == EXPR_INT && expr->value.integer < 0 && expr->dtype.code == DT_UINT;
}

static IntBound bound_compute(Analyzer *an, const Expr *expr)
{
    if (expr_is_binary(expr))
        return bound_of_binary(an, expr);
    switch (expr->kind) {
    case EXPR_VAR: {
        VarFact *fact = analyzer_find_var(an, expr->value.var);
        return fact ? fact->bound : bound_of_type(expr->dtype);
    }
    case EXPR_CAST: {
        IntBound inner = analyzer_bound(an, expr->args[0]), limits = bound_of_type(expr->dtype);
        DType from = expr->args[0]->dtype;
        bool huge = from.code == DT_UINT && from.bits == 64 && inner.max == BOUND_POS_INF; /* beyond int64, too */
        return inner.min >= limits.min && inner.max <= limits.max && !huge ? inner : limits;
    }
    case EXPR_SELECT: return bound_union(analyzer_bound(an, expr->args[1]), analyzer_bound(an, expr->args[2]));
    case EXPR_BROADCAST: return analyzer_bound(an, expr->args[0]);
    case EXPR_RAMP: {
        IntBound base = analyzer_bound(an, expr->args[0]), stride = analyzer_bound(an, expr->args[1]);
        IntBound steps = {0, expr->dtype.lanes / expr->args[0]->dtype.lanes - 1}, reach = bound_of_product(stride, steps);
        return (IntBound){bound_add(base.min, reach.min), bound_add(base.max, reach.max)};
    }
    case EXPR_CALL: return bound_of_call(an, expr);
    default: return bound_of_type(expr->dtype);
    }
}

/* A type that wraps keeps a computed bound only when no value can leave the type (an infinite bound may have). */
static IntBound bound_after_wrap(DType dtype, IntBound bound)
{
    DType scalar = dtype_scalar(dtype);
    IntBound limits = bound_of_type(scalar);
    bool assumed_exact = is_index_type(scalar) || !dtype_is_integer(scalar);
    bool fits = bound.min >= limits.min && bound.max <= limits.max && bound.max != BOUND_POS_INF;
    return assumed_exact || fits ? bound : limits;
}

static IntBound bound_with_facts(const Analyzer *an, const Expr *expr, IntBound bound)
{
    for (int i = 0; i < an->bounds.count; i++)
        if (expr_equal(an->bounds.data[i].expr, expr))
            bound = bound_intersect(bound, an->bounds.data[i].bound);
    return bound;
}

IntBound analyzer_bound(Analyzer *an, const Expr *expr)
{
    if (expr->kind == EXPR_INT)
        return is_huge_unsigned(expr) ? (IntBound){BOUND_POS_INF, BOUND_POS_INF} : (IntBound){expr->value.integer, expr->value.integer};
    if (!dtype_is_integer(expr->dtype) && expr->dtype.code != DT_BOOL)
        return (IntBound){BOUND_NEG_INF, BOUND_POS_INF};
    Memo *memo = analyzer_memo(an, expr);
    if (memo->has_bound)
        return memo->bound;
    if (!analyzer_begin_visit(an))
        return bound_of_type(expr->dtype);
    IntBound bound = bound_with_facts(an, expr, bound_after_wrap(expr->dtype, bound_compute(an, expr)));
    analyzer_end_visit(an);
    memo = analyzer_memo(an, expr);
    memo->bound = bound;
    memo->has_bound = true;
    return bound;
}

/* --- Assumptions --- */

static void add_bound_fact(Analyzer *an, const Expr *expr, int64_t min, int64_t max)
{
    if (expr->kind != EXPR_INT && dtype_is_integer(expr->dtype))
        vec_push(an->arena, &an->bounds, ((BoundFact){expr, {min, max}}));
}

static void assume_comparison(Analyzer *an, ExprKind kind, const Expr *expr, int64_t constant)
{
    switch (kind) {
    case EXPR_LT: add_bound_fact(an, expr, BOUND_NEG_INF, bound_add(constant, -1)); break;
    case EXPR_LE: add_bound_fact(an, expr, BOUND_NEG_INF, constant); break;
    case EXPR_GT: add_bound_fact(an, expr, bound_add(constant, 1), BOUND_POS_INF); break;
    case EXPR_GE: add_bound_fact(an, expr, constant, BOUND_POS_INF); break;
    case EXPR_EQ: add_bound_fact(an, expr, constant, constant); break;
    default: break;
    }
}

static void assume_conjunct(Analyzer *an, const Expr *conjunct)
{
    int64_t constant;
    if (!expr_is_compare(conjunct) || is_huge_unsigned(conjunct->args[0]) || is_huge_unsigned(conjunct->args[1]))
        return;
    if (expr_const_int(conjunct->args[1], &constant))
        assume_comparison(an, conjunct->kind, conjunct->args[0], constant);
    else if (expr_const_int(conjunct->args[0], &constant))
        assume_comparison(an, expr_mirrored_compare(conjunct->kind), conjunct->args[1], constant);
}

void bound_assume(Analyzer *an, const Expr *condition)
{
    each_conjunct(an, condition, assume_conjunct);
}
