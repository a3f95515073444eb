/* Expressions over all lanes of a vectorized loop; see vectorize.h.

     A_1[i * 16 + v] * T.float32(2.0)      ->      A_1[i * 16:i * 16 + 16] * T.Broadcast(T.float32(2.0), 16)

   What does not vary with the loop stays scalar. if_then_else, and, or evaluate an operand only for the lanes that need it: its loads get a
   mask unless all lanes read memory that is there, and its divisors are 1 in the other lanes. An operand of and, or that has a value in all lanes
   is combined bit by bit. */
#include "passes/lower/vector/vectorize.h"

const Expr *lanes_spread(const Lanes *lanes, const Expr *expr)
{
    return expr->dtype.lanes > 1 ? expr : expr_broadcast(lanes->ctx, expr, lanes->lanes);
}

const Expr *lanes_mask_with(const Lanes *lanes, const Expr *condition, bool negated)
{
    const Expr *part = lanes_spread(lanes, negated ? expr_not(lanes->ctx, condition) : condition);
    return lanes->mask ? expr_binary(lanes->ctx, EXPR_AND, lanes->mask, part) : part;
}

bool lanes_first_holds(const Lanes *lanes, const Expr *condition)
{
    if (expr_reads_memory(condition))
        return false;
    return analyzer_prove_symbolic(lanes->an, subst_one(lanes->ctx, condition, lanes->var, lanes->min));
}

/* EXPR for the lanes that also have CONDITION (or, NEGATED, do not have it); FIRST_RUNS: the first lane is one of them. */
static const Expr *expr_under(Lanes *lanes, const Expr *expr, const Expr *condition, bool negated, bool first_runs)
{
    Lanes outer = *lanes;
    lanes->mask = lanes_mask_with(lanes, condition, negated);
    lanes->first_runs &= first_runs;
    expr = lanes_expr(lanes, expr);
    lanes->mask = outer.mask;
    lanes->first_runs = outer.first_runs;
    return expr;
}

static bool is_vector(const Expr *expr)
{
    return expr->dtype.lanes > 1;
}

/* --- Arithmetic --- */
static bool is_ramp(const Expr *expr)
{
    return expr->kind == EXPR_RAMP;
}

/* KIND of A and B, at least one of them a ramp and no other vector among them, as a ramp; NULL where it is none. Exact also where the
   arithmetic wraps. */
static const Expr *ramp_arithmetic(Lanes *lanes, ExprKind kind, const Expr *a, const Expr *b)
{
    Context *ctx = lanes->ctx;
    if ((is_vector(a) && !is_ramp(a)) || (is_vector(b) && !is_ramp(b)) || !dtype_is_integer(a->dtype))
        return NULL;
    const Expr *zero = expr_int(ctx, dtype_scalar(a->dtype), 0);
    const Expr *base_a = is_ramp(a) ? a->args[0] : a, *stride_a = is_ramp(a) ? a->args[1] : zero;
    const Expr *base_b = is_ramp(b) ? b->args[0] : b, *stride_b = is_ramp(b) ? b->args[1] : zero;
    const Expr *base, *stride;
    if (kind == EXPR_ADD || kind == EXPR_SUB) {
        base = op_binary(ctx, kind, base_a, base_b, span_none());
        stride = op_binary(ctx, kind, stride_a, stride_b, span_none());
    } else if (kind == EXPR_MUL && (!is_ramp(a) || !is_ramp(b))) {
        base = op_mul(ctx, base_a, base_b);
        stride = is_ramp(a) ? op_mul(ctx, stride_a, b) : op_mul(ctx, a, stride_b);
    } else {
        return NULL;
    }
    return expr_is_int(stride, 0) ? expr_broadcast(ctx, base, lanes->lanes) : expr_ramp(ctx, base, stride, lanes->lanes);
}

/* B, which A is divided by where the mask holds, as a divisor for all lanes: one number stays one, so that what it is part of stays the same in all
   lanes, too. */
static const Expr *safe_divisor(Lanes *lanes, const Expr *a, const Expr *b)
{
    Context *ctx = lanes->ctx;
    const Expr *one = expr_int(ctx, dtype_scalar(b->dtype), 1);
    if (!is_vector(a) && !is_vector(b))
        return expr_select(ctx, expr_binary(ctx, EXPR_EQ, b, expr_int(ctx, b->dtype, 0)), one, b);
    return expr_select(ctx, lanes->mask, lanes_spread(lanes, b), expr_broadcast(ctx, one, lanes->lanes));
}

static const Expr *binary_lanes(Lanes *lanes, const Expr *expr)
{
    const Expr *a = lanes_expr(lanes, expr->args[0]), *b = lanes_expr(lanes, expr->args[1]);
    if (lanes->mask && expr_division_may_fail(expr))
        b = safe_divisor(lanes, a, b);
    if (!is_vector(a) && !is_vector(b)) {
        const Expr *args[] = {a, b};
        return expr_with_args(lanes->ctx, expr, args);
    }
    const Expr *ramp = is_ramp(a) || is_ramp(b) ? ramp_arithmetic(lanes, expr->kind, a, b) : NULL;
    return ramp ? ramp : expr_binary(lanes->ctx, expr->kind, lanes_spread(lanes, a), lanes_spread(lanes, b));
}

/* --- Choices --- */
/* The load EXPR, of the program, stays within memory that holds values, for all lanes: it may happen where its lane does not run. */
static bool stays_inside(const Lanes *lanes, const Expr *expr)
{
    Context *ctx = lanes->ctx;
    const Buffer *buffer = expr->value.buffer;
    const ReadableMemory *memory = map_get(lanes->sizes, buffer->data);
    const Expr *index = expr->args[0];
    if (!memory || expr_reads_memory(index) || index->dtype.lanes > 1 || !dtype_is_index(index->dtype) || !dtype_equal(memory->dtype, buffer->dtype))
        return false;
    IntBound bound = analyzer_bound(lanes->an, index);
    int64_t size;
    if (expr_const_int(memory->extent, &size))
        return bound.min >= 0 && bound.max < size;
    return bound.min >= 0 && analyzer_prove_symbolic(lanes->an, op_compare(ctx, EXPR_LT, index, memory->extent));
}

/* EXPR, of the program, has a value also for lanes that do not need it. */
static bool runs_for_all_lanes(const Lanes *lanes, const Expr *expr)
{
    bool is_operation = expr->kind != EXPR_CALL || expr_is_call(expr, OP_IF_THEN_ELSE) || expr_is_call(expr, OP_BITWISE_AND) ||
                        expr_is_call(expr, OP_BITWISE_OR);
    if (!is_operation || expr_division_may_fail(expr) || (expr->kind == EXPR_LOAD && !stays_inside(lanes, expr)))
        return false;
    for (int i = 0; i < expr->arg_count; i++)
        if (!runs_for_all_lanes(lanes, expr->args[i]))
            return false;
    return true;
}

static const Expr *logic_lanes(Lanes *lanes, const Expr *expr)
{
    const Expr *a = lanes_expr(lanes, expr->args[0]), *b = is_vector(a) ? NULL : lanes_expr(lanes, expr->args[1]);
    if (b && !is_vector(b)) {
        const Expr *args[] = {a, b};
        return expr_with_args(lanes->ctx, expr, args);
    }
    if (!runs_for_all_lanes(lanes, expr->args[1])) {
        b = expr_under(lanes, expr->args[1], a, expr->kind == EXPR_OR, false);
        return expr_binary(lanes->ctx, expr->kind, lanes_spread(lanes, a), lanes_spread(lanes, b));
    }
    const Expr *args[] = {lanes_spread(lanes, a), lanes_spread(lanes, b ? b : lanes_expr(lanes, expr->args[1]))};
    return expr_call(lanes->ctx, args[0]->dtype, expr->kind == EXPR_AND ? OP_BITWISE_AND : OP_BITWISE_OR, args, 2, expr->span);
}

static const Expr *if_then_else_lanes(Lanes *lanes, const Expr *expr)
{
    Context *ctx = lanes->ctx;
    const Expr *condition = lanes_expr(lanes, expr->args[0]);
    if (is_vector(condition)) {
        bool first_chooses = lanes_first_holds(lanes, expr->args[0]);
        const Expr *chosen = expr_under(lanes, expr->args[1], condition, false, first_chooses);
        const Expr *other = expr_under(lanes, expr->args[2], condition, true, false);
        return expr_select(ctx, condition, lanes_spread(lanes, chosen), lanes_spread(lanes, other));
    }
    const Expr *args[] = {condition, lanes_expr(lanes, expr->args[1]), lanes_expr(lanes, expr->args[2])};
    if (!is_vector(args[1]) && !is_vector(args[2]))
        return expr_with_args(ctx, expr, args);
    args[1] = lanes_spread(lanes, args[1]);
    args[2] = lanes_spread(lanes, args[2]);
    return expr_call(ctx, args[1]->dtype, OP_IF_THEN_ELSE, args, 3, expr->span);
}

static const Expr *select_lanes(Lanes *lanes, const Expr *expr)
{
    const Expr *args[3];
    bool varies = false;
    for (int i = 0; i < 3; i++) {
        args[i] = lanes_expr(lanes, expr->args[i]);
        varies |= is_vector(args[i]);
    }
    if (!varies)
        return expr_with_args(lanes->ctx, expr, args);
    return expr_select(lanes->ctx, args[0], lanes_spread(lanes, args[1]), lanes_spread(lanes, args[2]));
}

/* --- Memory, calls, the rest --- */
/* One element for all lanes stays a scalar where some lane certainly reads it. */
static const Expr *load_lanes(Lanes *lanes, const Expr *expr)
{
    const Expr *index = lanes_expr(lanes, expr->args[0]);
    if (!is_vector(index) && (lanes->first_runs || stays_inside(lanes, expr)))
        return expr_with_args(lanes->ctx, expr, &index);
    const Expr *mask = lanes->mask && !stays_inside(lanes, expr) ? lanes->mask : NULL;
    index = lanes_spread(lanes, index);
    return expr_load(lanes->ctx, expr->value.buffer, &index, 1, mask, expr->span);
}

static const Expr *call_lanes(Lanes *lanes, const Expr *expr)
{
    const Expr **args = ARENA_ARRAY(lanes->ctx->arena, const Expr *, expr->arg_count);
    bool varies = false;
    for (int i = 0; i < expr->arg_count; i++) {
        args[i] = lanes_expr(lanes, expr->args[i]);
        varies |= is_vector(args[i]);
    }
    if (!varies)
        return expr_with_args(lanes->ctx, expr, args);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = lanes_spread(lanes, args[i]);
    return expr_call(lanes->ctx, dtype_with_lanes(expr->dtype, lanes->lanes), expr->value.op, args, expr->arg_count, expr->span);
}

/* A cast of the loop variable itself to a wider type stays a ramp: its values fit both types. */
static const Expr *cast_lanes(Lanes *lanes, const Expr *expr)
{
    Context *ctx = lanes->ctx;
    DType type = expr->dtype;
    if (expr_is_var(expr->args[0], lanes->var) && type.code == DT_INT && type.bits >= lanes->var->dtype.bits)
        return expr_ramp(ctx, op_cast(ctx, type, lanes->min), expr_int(ctx, type, 1), lanes->lanes);
    const Expr *value = lanes_expr(lanes, expr->args[0]);
    if (!is_vector(value))
        return expr_with_args(ctx, expr, &value);
    return expr_cast(ctx, dtype_with_lanes(type, lanes->lanes), value);
}

static const Expr *let_lanes(Lanes *lanes, const Expr *expr)
{
    Context *ctx = lanes->ctx;
    const Expr *value = lanes_expr(lanes, expr->args[0]);
    Var *var = expr->value.var;
    if (is_vector(value))
        var = var_new(ctx, var->name, value->dtype, var->span);
    map_set(ctx->arena, &lanes->lets, expr->value.var, is_vector(value) ? var : NULL);
    return expr_let(ctx, var, value, lanes_expr(lanes, expr->args[1]));
}

const Expr *lanes_expr(Lanes *lanes, const Expr *expr)
{
    Context *ctx = lanes->ctx;
    switch ((ExprKind)expr->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_STRING: return expr;
    case EXPR_VAR: {
        Var *vector = map_get(&lanes->lets, expr->value.var);
        if (expr->value.var == lanes->var)
            return expr_ramp(ctx, lanes->min, expr_int(ctx, lanes->var->dtype, 1), lanes->lanes);
        return vector ? expr_var(ctx, vector) : expr;
    }
    case EXPR_CAST: return cast_lanes(lanes, expr);
    case EXPR_AND:
    case EXPR_OR: return logic_lanes(lanes, expr);
    case EXPR_NOT: {
        const Expr *value = lanes_expr(lanes, expr->args[0]);
        return value == expr->args[0] ? expr : expr_not(ctx, value);
    }
    case EXPR_SELECT: return select_lanes(lanes, expr);
    case EXPR_LOAD: return load_lanes(lanes, expr);
    case EXPR_LET: return let_lanes(lanes, expr);
    case EXPR_CALL: return expr_is_call(expr, OP_IF_THEN_ELSE) ? if_then_else_lanes(lanes, expr) : call_lanes(lanes, expr);
    default: return binary_lanes(lanes, expr);
    }
}
