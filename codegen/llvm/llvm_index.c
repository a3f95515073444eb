/* Index expressions: computed in 64 bits, and taken apart into base and stride where they run evenly over the lanes.

   Both rest on the rule that index arithmetic does not overflow its type (a program in which it does is wrong): then 64-bit arithmetic on
   the extended operands gives the extended result. Only + - * on the way from the root of the index are treated so; what stands below other
   operations wraps as usual. */
#include "codegen/llvm/llvm_index.h"

static LLVMValueRef extend(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    return dtype_is_integer(dtype) ? emit_cast(gen, value, dtype, DTYPE_INT64) : LLVMBuildZExt(gen->builder, value, gen->build->i64, "");
}

static LLVMValueRef index_arithmetic(FuncGen *gen, const Expr *expr)
{
    LLVMValueRef a = emit_index(gen, expr->args[0]), b = emit_index(gen, expr->args[1]);
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: return LLVMBuildNSWAdd(gen->builder, a, b, "");
    case EXPR_SUB: return LLVMBuildNSWSub(gen->builder, a, b, "");
    default: return LLVMBuildNSWMul(gen->builder, a, b, "");
    }
}

LLVMValueRef emit_index(FuncGen *gen, const Expr *expr)
{
    LLVMValueRef wide;
    if (expr->kind == EXPR_INT)
        return LLVMConstInt(gen->build->i64, (unsigned long long)expr->value.integer, true);
    if (expr->kind == EXPR_VAR && (wide = map_get(&gen->wide_values, expr->value.var)))
        return wide;
    if (dtype_is_index(expr->dtype) && (expr->kind == EXPR_ADD || expr->kind == EXPR_SUB || expr->kind == EXPR_MUL))
        return index_arithmetic(gen, expr);
    if (expr->kind == EXPR_CAST && dtype_is_index(expr->dtype) && dtype_is_index(expr->args[0]->dtype) &&
        expr->dtype.bits >= expr->args[0]->dtype.bits)
        return emit_index(gen, expr->args[0]);
    return extend(gen, emit_expr(gen, expr), expr->dtype);
}

/* INDEX, of a kind + - *, from the forms A and B of its operands. */
static bool combine(Context *ctx, const Expr *index, LaneIndex a, LaneIndex b, LaneIndex *result)
{
    if (index->kind == EXPR_ADD)
        *result = (LaneIndex){op_add(ctx, a.base, b.base), op_add(ctx, a.stride, b.stride)};
    else if (index->kind == EXPR_SUB)
        *result = (LaneIndex){op_sub(ctx, a.base, b.base), op_sub(ctx, a.stride, b.stride)};
    else if (expr_is_int(b.stride, 0))
        *result = (LaneIndex){op_mul(ctx, a.base, b.base), op_mul(ctx, a.stride, b.base)};
    else if (expr_is_int(a.stride, 0))
        *result = (LaneIndex){op_mul(ctx, a.base, b.base), op_mul(ctx, a.base, b.stride)};
    else
        return false;
    return true;
}

static bool split_binary(Context *ctx, const Expr *index, LaneIndex *result)
{
    LaneIndex a, b;
    return dtype_is_index(index->dtype) && index_split_lanes(ctx, index->args[0], &a) && index_split_lanes(ctx, index->args[1], &b) &&
           combine(ctx, index, a, b, result);
}

bool index_split_lanes(Context *ctx, const Expr *index, LaneIndex *result)
{
    switch ((ExprKind)index->kind) {
    case EXPR_RAMP: *result = (LaneIndex){index->args[0], index->args[1]}; return index->args[0]->dtype.lanes == 1;
    case EXPR_BROADCAST:
        *result = (LaneIndex){index->args[0], expr_int(ctx, index->args[0]->dtype, 0)};
        return index->args[0]->dtype.lanes == 1;
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL: return split_binary(ctx, index, result);
    default: return false;
    }
}

static LaneIndex converted(Context *ctx, LaneIndex form, DType dtype)
{
    return (LaneIndex){op_cast(ctx, dtype, form.base), op_cast(ctx, dtype, form.stride)};
}

bool index_split_var(Context *ctx, const Expr *index, const Var *var, LaneIndex *result)
{
    LaneIndex a, b;
    if (index->dtype.lanes > 1 || !dtype_is_index(index->dtype))
        return false;
    if (!expr_uses_var(index, var)) {
        *result = (LaneIndex){index, expr_int(ctx, index->dtype, 0)};
        return true;
    }
    switch ((ExprKind)index->kind) {
    case EXPR_VAR: *result = (LaneIndex){expr_int(ctx, index->dtype, 0), expr_int(ctx, index->dtype, 1)}; return true;
    case EXPR_CAST:
        if (index->dtype.bits < index->args[0]->dtype.bits || !index_split_var(ctx, index->args[0], var, &a))
            return false;
        *result = converted(ctx, a, index->dtype);
        return true;
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
        return index_split_var(ctx, index->args[0], var, &a) && index_split_var(ctx, index->args[1], var, &b) &&
               combine(ctx, index, a, b, result);
    default: return false;
    }
}
