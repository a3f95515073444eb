/* The cheap argument that a value lies in a range. A sum over loop variables has its bounds where the loops have theirs, or where a condition around
   says so: under i * 64 + j < n, i * 64 + j + 3 is less than n + 3. Quotients, remainders, minima and maxima have the bounds that follow from
   those of what they are made of. */
#include "passes/analysis/pairs/linear.h"
#include "passes/analysis/pairs/pair.h"

enum { MOST_DEPTH = 60 };

/* What is known where a value is used */
typedef struct {
    const Frame *frame, **loops;
    int loop_count;
    const AffineEnv *env;
} ValueUse;

/* --- Sums --- */

static const Frame *loop_over(const ValueUse *use, const Var *var)
{
    for (int i = 0; i < use->loop_count; i++)
        if (use->loops[i]->var == var)
            return use->loops[i];
    return NULL;
}

/* Adds to *BOUND the least value of COEFFICIENT times the variable of LOOP. */
static bool add_least_term(const Frame *loop, int64_t coefficient, int64_t *bound)
{
    int64_t min, extent = 1;
    if (!loop || !expr_const_int(loop->range.min, &min) || min > INT32_MAX || min < INT32_MIN || coefficient > INT32_MAX ||
        coefficient < INT32_MIN)
        return false;
    if (coefficient < 0 && (!expr_const_int(loop->range.extent, &extent) || extent <= 0 || extent > INT32_MAX))
        return false;
    return !__builtin_add_overflow(*bound, coefficient * (min + extent - 1), bound);
}

/* No value of SUM is less than *BOUND, whatever the loops do. */
static bool least_of_sum(const ValueUse *use, const Linear *sum, int64_t *bound)
{
    *bound = sum->constant;
    for (int i = 0; i < sum->count; i++)
        if (sum->coeffs[i] && !add_least_term(loop_over(use, sum->vars[i]), sum->coeffs[i], bound))
            return false;
    return true;
}

/* A - B - LESS */
static bool difference(const Linear *a, const Linear *b, int64_t less, Linear *result)
{
    *result = *a;
    return linear_add_scaled(result, b, -1) && !__builtin_sub_overflow(result->constant, less, &result->constant);
}

/* SUM is not negative, given that GREATER - SMALLER - LESS is not. */
static bool follows_from(const ValueUse *use, const Linear *sum, const Expr *greater, const Expr *smaller, int64_t less)
{
    Linear a, b, known, rest;
    int64_t bound;
    return linear_of(use->env, greater, &a) && linear_of(use->env, smaller, &b) && difference(&a, &b, less, &known) &&
           difference(sum, &known, 0, &rest) && least_of_sum(use, &rest, &bound) && bound >= 0;
}

/* SUM is not negative, given that CONDITION holds, or does not: NEGATED. */
static bool follows_from_condition(const ValueUse *use, const Linear *sum, const Expr *condition, bool negated)
{
    const Expr *a = condition->arg_count > 0 ? condition->args[0] : NULL, *b = condition->arg_count > 1 ? condition->args[1] : NULL;
    switch ((ExprKind)condition->kind) {
    case EXPR_AND: return !negated && (follows_from_condition(use, sum, a, false) || follows_from_condition(use, sum, b, false));
    case EXPR_OR: return negated && (follows_from_condition(use, sum, a, true) || follows_from_condition(use, sum, b, true));
    case EXPR_NOT: return follows_from_condition(use, sum, a, !negated);
    case EXPR_LT: return negated ? follows_from(use, sum, a, b, 0) : follows_from(use, sum, b, a, 1);
    case EXPR_GT: return negated ? follows_from(use, sum, b, a, 0) : follows_from(use, sum, a, b, 1);
    case EXPR_LE: return negated ? follows_from(use, sum, a, b, 1) : follows_from(use, sum, b, a, 0);
    case EXPR_GE: return negated ? follows_from(use, sum, b, a, 1) : follows_from(use, sum, a, b, 0);
    default: return false;
    }
}

/* SUM is not negative where the loops run, or by a condition around. */
static bool is_not_negative(const ValueUse *use, const Linear *sum)
{
    int64_t bound;
    if (least_of_sum(use, sum, &bound))
        if (bound >= 0)
            return true;
    for (const Frame *frame = use->frame; frame; frame = frame->outer)
        if (frame->kind == FRAME_CONDITION && follows_from_condition(use, sum, frame->value, frame->negated))
            return true;
    return false;
}

/* LINEAR is one loop variable alone that runs over just [0, extent). */
static bool runs_over(const ValueUse *use, const Linear *linear, const Expr *extent)
{
    const Frame *found = NULL;
    int terms = 0;
    for (int t = 0; t < linear->count; t++) {
        terms += linear->coeffs[t] != 0;
        found = linear->coeffs[t] == 1 ? loop_over(use, linear->vars[t]) : found;
    }
    return terms == 1 && linear->constant == 0 && found && expr_is_int(found->range.min, 0) && expr_equal(found->range.extent, extent);
}

static bool sum_lies_in(const ValueUse *use, const Expr *value, Range range)
{
    Linear offset, min, extent, rest;
    if (!linear_of(use->env, value, &offset) || !linear_of(use->env, range.min, &min) || !linear_add_scaled(&offset, &min, -1))
        return false;
    if (runs_over(use, &offset, range.extent))
        return true;
    return linear_of(use->env, range.extent, &extent) && difference(&extent, &offset, 1, &rest) && is_not_negative(use, &offset) &&
           is_not_negative(use, &rest);
}

/* --- Quotients and the like --- */

typedef struct {
    int64_t low, high;
} Interval;

static bool interval_of(const ValueUse *use, const AffineEnv *env, const Expr *value, int depth, Interval *result);

static bool interval_of_sum(const ValueUse *use, const AffineEnv *env, const Expr *value, Interval *result)
{
    Linear sum, minus = {.count = 0};
    if (!linear_of(env, value, &sum) || !linear_add_scaled(&minus, &sum, -1) || !least_of_sum(use, &sum, &result->low) ||
        !least_of_sum(use, &minus, &result->high) || result->high == INT64_MIN)
        return false;
    result->high = -result->high;
    return true;
}

static int64_t floor_of(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

/* A // DIVISOR or, REMAINDER, A % DIVISOR; rounding downwards. */
static bool divide(Interval a, int64_t divisor, bool remainder, Interval *result)
{
    if (divisor <= 0)
        return false;
    Interval quotient = {floor_of(a.low, divisor), floor_of(a.high, divisor)};
    Interval within = {a.low - quotient.low * divisor, a.high - quotient.low * divisor};
    *result = !remainder ? quotient : quotient.low == quotient.high ? within : (Interval){0, divisor - 1};
    return true;
}

static bool interval_of_two(const ValueUse *use, const AffineEnv *env, const Expr *value, int depth, Interval *result)
{
    Interval a, b;
    if (!interval_of(use, env, value->args[0], depth, &a) || !interval_of(use, env, value->args[1], depth, &b))
        return false;
    switch ((ExprKind)value->kind) {
    case EXPR_ADD: return !__builtin_add_overflow(a.low, b.low, &result->low) && !__builtin_add_overflow(a.high, b.high, &result->high);
    case EXPR_SUB: return !__builtin_sub_overflow(a.low, b.high, &result->low) && !__builtin_sub_overflow(a.high, b.low, &result->high);
    case EXPR_MUL:
        return b.low == b.high && b.low >= 0 && !__builtin_mul_overflow(a.low, b.low, &result->low) &&
               !__builtin_mul_overflow(a.high, b.low, &result->high);
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return b.low == b.high && divide(a, b.low, value->kind == EXPR_FLOORMOD, result);
    case EXPR_MIN: *result = (Interval){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high}; return true;
    case EXPR_MAX: *result = (Interval){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}; return true;
    default: return false;
    }
}

/* All values of VALUE, seen in ENV, lie in *RESULT. */
static bool interval_of(const ValueUse *use, const AffineEnv *env, const Expr *value, int depth, Interval *result)
{
    if (depth > MOST_DEPTH || !dtype_is_index(value->dtype))
        return false;
    if (interval_of_sum(use, env, value, result))
        return true;
    if (value->kind != EXPR_VAR)
        return value->arg_count == 2 && interval_of_two(use, env, value, depth + 1, result);
    while (env && env->var != value->value.var)
        env = env->outer;
    return env && env->dim < 0 && interval_of(use, env->outer, env->value, depth + 1, result);
}

bool value_lies_in(Context *ctx, const Frame *frame, const AffineEnv *env, const Expr *value, Range range)
{
    ValueUse use = {.frame = frame, .env = env};
    use.loops = frame_loops(ctx, frame, &use.loop_count);
    Interval own, min, extent;
    int64_t count;
    if (expr_equal(value, range.min) && expr_const_int(range.extent, &count))
        return count > 0;
    if (sum_lies_in(&use, value, range))
        return true;
    return interval_of(&use, env, value, 0, &own) && interval_of(&use, env, range.min, 0, &min) &&
           interval_of(&use, env, range.extent, 0, &extent) && own.low >= min.high && own.high < min.low + extent.low;
}
