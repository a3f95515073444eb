/* Points that refute a condition: looking at a few costs a fraction of a proof that fails.

   A point gives each variable one of the values that its binding allows: all of them the least, the greatest, or one in between. What is not
   bound is a size, and gets one value.

   Not handled: what was assumed of expressions, which a point might not fulfil; then nothing is refuted. */
#include "ir/fold.h"
#include "passes/arith/internal.h"

enum { DEEPEST_POINT = 40, SIZE_OF_POINT = 100 };

typedef enum { POINT_LEAST, POINT_GREATEST, POINT_MIDDLE, POINT_COUNT } Point;

/* The value of EXPR at POINT; false where it has none, or none that is known. */
static bool value_at(const Analyzer *an, Point point, const Expr *expr, int depth, int64_t *value);

static bool in_bound(IntBound bound, int64_t value)
{
    return value >= bound.min && value <= bound.max;
}

static bool var_at(const Analyzer *an, Point point, const Var *var, int depth, int64_t *value)
{
    int64_t least, greatest;
    const VarFact *fact = analyzer_find_var(an, var);
    *value = SIZE_OF_POINT;
    if (!fact)
        return dtype_is_index(var->dtype);
    if (fact->modular.coeff != 1 && !fact->value)
        return false;
    if (fact->value)
        return value_at(an, point, fact->value, depth, value);
    if (!fact->min || !fact->max)
        return !fact->min && !fact->max && in_bound(fact->bound, *value);
    if (!value_at(an, point, fact->min, depth, &least) || !value_at(an, point, fact->max, depth, &greatest) || least > greatest)
        return false;
    *value = point == POINT_LEAST ? least : point == POINT_GREATEST ? greatest : least + (greatest - least) / 2;
    return in_bound(fact->bound, *value);
}

static bool value_at(const Analyzer *an, Point point, const Expr *expr, int depth, int64_t *value)
{
    int64_t a, b;
    if (depth > DEEPEST_POINT)
        return false;
    switch ((ExprKind)expr->kind) {
    case EXPR_INT: *value = expr->value.integer; return true;
    case EXPR_VAR: return var_at(an, point, expr->value.var, depth + 1, value);
    case EXPR_CAST:
        return is_index_type(expr->dtype) && is_index_type(expr->args[0]->dtype) && value_at(an, point, expr->args[0], depth + 1, value) &&
               dtype_holds(expr->dtype, *value);
    default: break;
    }
    return expr_is_binary(expr) && is_index_type(expr->args[0]->dtype) && value_at(an, point, expr->args[0], depth + 1, &a) &&
           value_at(an, point, expr->args[1], depth + 1, &b) && integer_operation((ExprKind)expr->kind, a, b, value) &&
           (expr->dtype.code == DT_BOOL || dtype_holds(expr->dtype, *value));
}

/* Nothing was assumed: bindings are all that is known. */
static bool knows_only_bindings(const Analyzer *an)
{
    bool only = !an->bounds.count && !an->literals.count && !an->moduli.count;
    for (int i = 0; only && i < an->comparisons.count; i++)
        only = an->comparisons.data[i].bound != NULL || an->comparisons.data[i].order == ORDER_ANY;
    return only;
}

bool analyzer_refutes(const Analyzer *an, const Expr *condition)
{
    int64_t value;
    if (!expr_is_compare(condition) || !knows_only_bindings(an))
        return false;
    for (int point = 0; point < POINT_COUNT; point++)
        if (value_at(an, (Point)point, condition, 0, &value) && !value)
            return true;
    return false;
}
