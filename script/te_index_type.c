/* te.create_prim_func(..., index_dtype_override="int64"): sizes, axes and indices have that type, whatever type the text gave them.

   C[i] = A[I[i] + 1] * i    ->    C[v_i] = A[T.Cast("int64", I[v_i]) + T.int64(1)] * T.Cast("float32", v_i)

   Elements keep their types: what is computed from indices is converted where it is stored. */
#include "script/te_func.h"

typedef struct {
    FuncBuild *build;
    const Subst *axes; /* the operation's axes -> the block's; NULL: none */
} Retype;

static const Expr *retyped(const Retype *retype, const Expr *expr, bool index);

static bool is_index_type(DType dtype)
{
    return dtype_equal(dtype, DTYPE_INT32);
}

static const Expr *mapped_var(const Retype *retype, const Expr *expr)
{
    const Expr *value = retype->axes ? map_get(&retype->axes->vars, expr->value.var) : NULL;
    if (!value)
        value = map_get(&retype->build->subst.vars, expr->value.var);
    return value ? value : expr;
}

static const Expr *retyped_load(const Retype *retype, const Expr *load)
{
    Context *ctx = retype->build->ctx;
    Buffer *buffer = map_get(&retype->build->subst.buffers, load->value.buffer);
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, load->arg_count);
    for (int i = 0; i < load->arg_count; i++)
        indices[i] = retyped(retype, load->args[i], true);
    return expr_load(ctx, buffer ? buffer : load->value.buffer, indices, load->arg_count, NULL, load->span);
}

/* Calls take arguments of the types that they were made with; choices and bits follow their operands. */
static const Expr *retyped_call(const Retype *retype, const Expr *call, bool index)
{
    Context *ctx = retype->build->ctx;
    Op op = call->value.op;
    bool follows = op == OP_IF_THEN_ELSE || (op >= OP_SHIFT_LEFT && op <= OP_BITWISE_NOT);
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, call->arg_count);
    for (int i = 0; i < call->arg_count; i++) {
        args[i] = retyped(retype, call->args[i], follows && index);
        if (!follows)
            args[i] = op_cast(ctx, call->args[i]->dtype, args[i]);
    }
    if (op == OP_IF_THEN_ELSE)
        return op_if_then_else(ctx, args[0], args[1], args[2], call->span);
    return follows ? op_bits(ctx, op, args[0], call->arg_count > 1 ? args[1] : NULL, call->span) : expr_with_args(ctx, call, args);
}

/* EXPR with the symbols of the function. INDEX: it is an index, whose constants have the type of indices. */
static const Expr *retyped(const Retype *retype, const Expr *expr, bool index)
{
    Context *ctx = retype->build->ctx;
    if (expr_is_binary(expr))
        return op_binary(ctx, expr->kind, retyped(retype, expr->args[0], index), retyped(retype, expr->args[1], index), expr->span);
    switch (expr->kind) {
    case EXPR_VAR: return mapped_var(retype, expr);
    case EXPR_CAST: return op_cast(ctx, expr->dtype, retyped(retype, expr->args[0], false));
    case EXPR_NOT: return op_not(ctx, retyped(retype, expr->args[0], false), expr->span);
    case EXPR_SELECT:
        return op_select(ctx, retyped(retype, expr->args[0], false), retyped(retype, expr->args[1], index), retyped(retype, expr->args[2], index),
                         expr->span);
    case EXPR_LOAD: return retyped_load(retype, expr);
    case EXPR_CALL: return retyped_call(retype, expr, index);
    case EXPR_LET: {
        const Expr *value = op_cast(ctx, expr->value.var->dtype, retyped(retype, expr->args[0], false));
        return expr_let(ctx, expr->value.var, value, op_cast(ctx, expr->dtype, retyped(retype, expr->args[1], false)));
    }
    case EXPR_INT: return index && is_index_type(expr->dtype) ? op_cast(ctx, retype->build->index_dtype, expr) : expr;
    default: return expr;
    }
}

const Expr *te_retyped(FuncBuild *build, const Subst *axes, const Expr *expr, bool index)
{
    Retype retype = {build, axes};
    return retyped(&retype, expr, index);
}

DType te_index_type(const FuncBuild *build, DType dtype)
{
    return build->index_dtype.bits && is_index_type(dtype) ? build->index_dtype : dtype;
}
