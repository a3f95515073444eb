/* See index_value.h. */
#include "ir/index_value.h"

#include "ir/fold.h"

static bool bits_value(Op op, int64_t a, int64_t b, int64_t *value)
{
    switch (op) {
    case OP_BITWISE_AND: *value = a & b; return true;
    case OP_BITWISE_OR: *value = a | b; return true;
    case OP_BITWISE_XOR: *value = a ^ b; return true;
    case OP_SHIFT_RIGHT: *value = b >= 0 && b < 63 ? a >> b : 0; return b >= 0 && b < 63;
    case OP_SHIFT_LEFT: return b >= 0 && b < 63 && !__builtin_mul_overflow(a, INT64_C(1) << b, value);
    default: return false;
    }
}

static bool var_value(const IndexPoint *point, const Var *var, int64_t *value)
{
    for (int i = 0; i < point->count; i++)
        if (point->vars[i] == var) {
            *value = point->values[i];
            return true;
        }
    const Expr *constant = point->constants ? map_get(point->constants, var) : NULL;
    return constant && expr_const_int(constant, value);
}

static bool pair_value(const IndexPoint *point, const Expr *expr, int64_t *value)
{
    int64_t a, b;
    if (!index_value(point, expr->args[0], &a) || !index_value(point, expr->args[1], &b))
        return false;
    if (expr->kind == EXPR_CALL)
        return bits_value(expr->value.op, a, b, value);
    if (expr->kind != EXPR_AND && expr->kind != EXPR_OR)
        return integer_operation((ExprKind)expr->kind, a, b, value);
    *value = expr->kind == EXPR_AND ? a && b : a || b;
    return true;
}

bool index_value(const IndexPoint *point, const Expr *expr, int64_t *value)
{
    int64_t condition;
    if (expr_const_int(expr, value))
        return true;
    if (expr->kind == EXPR_VAR)
        return var_value(point, expr->value.var, value);
    if (expr->kind == EXPR_SELECT || expr_is_call(expr, OP_IF_THEN_ELSE))
        return index_value(point, expr->args[0], &condition) && index_value(point, expr->args[condition ? 1 : 2], value);
    if (dtype_is_float(expr->dtype) || expr->dtype.lanes != 1)
        return false;
    if (expr->kind == EXPR_CAST)
        return index_value(point, expr->args[0], value) && dtype_holds(expr->dtype, *value);
    if (expr->kind == EXPR_NOT) {
        bool known = index_value(point, expr->args[0], &condition);
        *value = !condition;
        return known;
    }
    return (expr_is_binary(expr) || (expr->kind == EXPR_CALL && expr->arg_count == 2)) && pair_value(point, expr, value) &&
           (expr->dtype.code == DT_BOOL || dtype_holds(expr->dtype, *value));
}

bool place_map_apply(const PlaceMap *map, const Map *constants, const int64_t *place, int64_t *image)
{
    IndexPoint point = {map->inputs, place, map->input_count, constants};
    for (int i = 0; i < map->output_count; i++)
        if (!index_value(&point, map->outputs[i], &image[i]))
            return false;
    return true;
}
