/* See interval.h. Each rule says what the bounds of an operation are given those of its operands; where the sign of a factor or divisor is
   not known, the result is everything. */
#include "ir/interval.h"

#include "ir/linear_sum.h"
#include "ir/scalable.h"

Interval interval_of_range(Context *ctx, Range range)
{
    if (expr_is_int(range.extent, 1))
        return interval_point(range.min);
    const Expr *min = range.min, *extent = range.extent;
    op_match_types(ctx, &min, &extent, span_none());
    return (Interval){min, op_add_int(ctx, op_add(ctx, extent, min), -1)};
}

static bool is_point(Interval interval)
{
    return interval.min && (interval.min == interval.max || expr_equal(interval.min, interval.max));
}

/* While an expression is evaluated, one bound may be known alone. */
static bool is_bounded(Interval interval)
{
    return interval.min && interval.max;
}

Interval interval_union(Context *ctx, Interval a, Interval b)
{
    if (!interval_is_known(a) || !interval_is_known(b))
        return interval_everything();
    return (Interval){linear_simplify(ctx, op_min(ctx, a.min, b.min)), linear_simplify(ctx, op_max(ctx, a.max, b.max))};
}

Interval interval_extend(Context *ctx, Interval simplified, Interval more)
{
    if (!interval_is_known(simplified) || !interval_is_known(more) || !dtype_equal(simplified.min->dtype, more.min->dtype))
        return interval_union(ctx, simplified, more);
    const Expr *min = linear_simplify(ctx, more.min), *max = more.max == more.min ? min : linear_simplify(ctx, more.max);
    return (Interval){linear_extreme(ctx, EXPR_MIN, simplified.min, min), linear_extreme(ctx, EXPR_MAX, simplified.max, max)};
}

Interval interval_intersect(Context *ctx, Interval a, Interval b)
{
    int64_t width;
    Interval both = {linear_simplify(ctx, op_max(ctx, a.min, b.min)), linear_simplify(ctx, op_min(ctx, a.max, b.max))};
    return linear_difference(ctx, both.max, both.min, &width) && width < 0 ? a : both;
}

/* --- operations --- */

static Interval add(Context *ctx, Interval a, Interval b)
{
    return (Interval){op_add(ctx, a.min, b.min), op_add(ctx, a.max, b.max)};
}

static Interval subtract(Context *ctx, Interval a, Interval b)
{
    return (Interval){op_sub(ctx, a.min, b.max), op_sub(ctx, a.max, b.min)};
}

static Interval multiply(Context *ctx, Interval a, Interval b)
{
    int64_t factor;
    if (is_point(a) && !is_point(b))
        return multiply(ctx, b, a);
    if (!is_point(b) || !expr_const_int(b.min, &factor))
        return interval_everything();
    const Expr *low = op_mul(ctx, a.min, b.min), *high = op_mul(ctx, a.max, b.min);
    return factor >= 0 ? (Interval){low, high} : (Interval){high, low};
}

static Interval floor_quotient(Context *ctx, Interval a, Interval b)
{
    int64_t divisor;
    if (!is_point(b) || !expr_const_int(b.min, &divisor) || divisor == 0)
        return interval_everything();
    const Expr *low = op_floordiv(ctx, a.min, b.min), *high = op_floordiv(ctx, a.max, b.min);
    return divisor > 0 ? (Interval){low, high} : (Interval){high, low};
}

/* Within one multiple of the divisor the remainder is a difference; across several it is anything below the divisor. */
static Interval floor_remainder(Context *ctx, Interval a, Interval b)
{
    int64_t divisor, spread;
    if (!is_point(b) || !expr_const_int(b.min, &divisor) || divisor <= 0)
        return interval_everything();
    const Expr *low = linear_simplify(ctx, op_floordiv(ctx, a.min, b.min)), *high = linear_simplify(ctx, op_floordiv(ctx, a.max, b.min));
    if (linear_difference(ctx, high, low, &spread) && spread == 0) {
        const Expr *base = op_mul(ctx, low, b.min);
        return (Interval){op_sub(ctx, a.min, base), op_sub(ctx, a.max, base)};
    }
    return (Interval){expr_int(ctx, b.min->dtype, 0), expr_int(ctx, b.min->dtype, divisor - 1)};
}

/* The lesser (KIND EXPR_MIN) or greater of two bounds, of which NULL is not known: of the least of two values, one bound from above is enough. */
static const Expr *bound_of_extreme(Context *ctx, ExprKind kind, const Expr *a, const Expr *b, bool one_is_enough)
{
    if (!a || !b)
        return !one_is_enough ? NULL : a ? a : b;
    return kind == EXPR_MIN ? op_min(ctx, a, b) : op_max(ctx, a, b);
}

static Interval extreme(Context *ctx, ExprKind kind, Interval a, Interval b)
{
    return (Interval){bound_of_extreme(ctx, kind, a.min, b.min, kind == EXPR_MAX), bound_of_extreme(ctx, kind, a.max, b.max, kind == EXPR_MIN)};
}

static Interval of_operator(Context *ctx, const Expr *expr, Interval a, Interval b)
{
    if (!dtype_is_index(expr->dtype) && expr->kind != EXPR_SELECT)
        return interval_everything();
    if (expr->kind == EXPR_MIN || expr->kind == EXPR_MAX)
        return extreme(ctx, (ExprKind)expr->kind, a, b);
    if (!is_bounded(a) || !is_bounded(b))
        return interval_everything();
    switch (expr->kind) {
    case EXPR_ADD: return add(ctx, a, b);
    case EXPR_SUB: return subtract(ctx, a, b);
    case EXPR_MUL: return multiply(ctx, a, b);
    case EXPR_FLOORDIV: return floor_quotient(ctx, a, b);
    case EXPR_FLOORMOD: return floor_remainder(ctx, a, b);
    case EXPR_SELECT: return interval_union(ctx, b, a); /* this order of operands is the reference's */
    default: return interval_everything();
    }
}

/* --- expressions --- */

typedef struct {
    Context *ctx;
    const IntervalScope *scope;
} Evaluation;

/* True when the value of EXPR changes with a variable of the scope. */
static bool varies(const IntervalScope *scope, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        return map_get(&scope->domains, expr->value.var) != NULL;
    for (int i = 0; i < expr->arg_count; i++)
        if (varies(scope, expr->args[i]))
            return true;
    return false;
}

/* The value of EXPR is no point to the reference, even where nothing varies: a choice is a range of two values, and nothing is known of calls and of what was
   a float. Where it loads from does not matter. */
static bool is_no_point(const Expr *expr)
{
    bool from_float = expr->kind == EXPR_CAST && dtype_is_integer(expr->dtype) && dtype_is_float(expr->args[0]->dtype);
    if (expr->kind == EXPR_SELECT || from_float || (expr->kind == EXPR_CALL && !expr_is_call(expr, OP_VSCALE)))
        return true;
    for (int i = 0; i < expr->arg_count && expr->kind != EXPR_LOAD; i++)
        if (is_no_point(expr->args[i]))
            return true;
    return false;
}

static Interval evaluate(Evaluation *evaluation, const Expr *expr);

static Interval of_var(Evaluation *evaluation, const Expr *expr)
{
    const Interval *domain = map_get(&evaluation->scope->domains, expr->value.var);
    if (!domain && expr->dtype.lanes > 1)
        return interval_everything();
    return domain ? *domain : interval_point(expr);
}

/* The lanes of base + stride * [0, lanes). */
static Interval of_ramp(Evaluation *evaluation, const Expr *ramp)
{
    Context *ctx = evaluation->ctx;
    Interval base = evaluate(evaluation, ramp->args[0]), stride = evaluate(evaluation, ramp->args[1]);
    if (!is_bounded(base) || !is_bounded(stride))
        return interval_everything();
    DType dtype = stride.min->dtype;
    Interval lanes = {expr_int(ctx, dtype, 0), op_sub(ctx, lane_count(ctx, dtype, ramp->dtype), expr_int(ctx, dtype, 1))};
    Interval steps = multiply(ctx, lanes, stride);
    return interval_is_known(steps) ? add(ctx, base, steps) : steps;
}

/* Both bounds converted; only where the conversion keeps the order. */
static Interval of_cast(Evaluation *evaluation, const Expr *cast)
{
    DType from = cast->args[0]->dtype, to = dtype_scalar(cast->dtype);
    if (from.code != DT_INT || to.code != DT_INT)
        return interval_everything();
    Interval value = evaluate(evaluation, cast->args[0]);
    if (!is_bounded(value))
        return interval_everything();
    int64_t low, high;
    bool fits = expr_const_int(value.min, &low) && expr_const_int(value.max, &high) && dtype_holds(to, low) && dtype_holds(to, high);
    if (to.bits < from.bits && !fits)
        return interval_everything();
    return (Interval){op_cast(evaluation->ctx, to, value.min), op_cast(evaluation->ctx, to, value.max)};
}

static Interval evaluate(Evaluation *evaluation, const Expr *expr)
{
    switch (expr->kind) {
    case EXPR_VAR: return of_var(evaluation, expr);
    case EXPR_INT: return interval_point(expr);
    case EXPR_RAMP: return of_ramp(evaluation, expr);
    case EXPR_BROADCAST: return evaluate(evaluation, expr->args[0]);
    case EXPR_CALL: return interval_everything();
    default: break;
    }
    if (expr->dtype.lanes == 1 && !varies(evaluation->scope, expr) && !is_no_point(expr))
        return interval_point(expr);
    if (expr->kind == EXPR_CAST)
        return of_cast(evaluation, expr);
    int first = expr->kind == EXPR_SELECT ? 1 : 0;
    if (!expr_is_binary(expr) && expr->kind != EXPR_SELECT)
        return interval_everything();
    return of_operator(evaluation->ctx, expr, evaluate(evaluation, expr->args[first]), evaluate(evaluation, expr->args[first + 1]));
}

Interval interval_of_expr(Context *ctx, const IntervalScope *scope, const Expr *expr)
{
    Evaluation evaluation = {ctx, scope};
    Interval values = evaluate(&evaluation, expr);
    return is_bounded(values) ? values : interval_everything();
}

void interval_set(Context *ctx, IntervalScope *scope, const Var *var, const Interval *values)
{
    map_set(ctx->arena, &scope->domains, var, values ? arena_copy(ctx->arena, values, sizeof *values) : NULL);
}

Range interval_to_range(Context *ctx, Interval interval, Range whole)
{
    int64_t width;
    if (!interval_is_known(interval))
        return whole;
    if (is_point(interval) || (linear_difference(ctx, interval.max, interval.min, &width) && width == 0))
        return (Range){interval.min, expr_int(ctx, dtype_scalar(interval.min->dtype), 1)};
    const Expr *extent = linear_simplify(ctx, op_sub(ctx, op_add_int(ctx, interval.max, 1), interval.min));
    bool empty = expr_const_int(extent, &width) && width < 0;
    return (Range){linear_simplify(ctx, interval.min), empty ? expr_int(ctx, extent->dtype, 0) : extent};
}
