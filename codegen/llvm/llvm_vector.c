/* Vectors made from scalars and from other vectors: Ramp, Broadcast, Shuffle. */
#include "codegen/llvm/llvm_gen.h"

/* VALUE repeated COUNT times end to end. */
static LLVMValueRef repeat(FuncGen *gen, LLVMValueRef value, int count)
{
    int lanes = llvm_lanes(LLVMTypeOf(value));
    if (lanes == 1)
        return emit_splat(gen, value, count);
    int *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes * count);
    for (int i = 0; i < lanes * count; i++)
        picks[i] = i % lanes;
    return emit_shuffle(gen, value, NULL, picks, lanes * count);
}

LLVMValueRef emit_broadcast(FuncGen *gen, const Expr *expr)
{
    const Expr *value = expr->args[0];
    return repeat(gen, emit_expr(gen, value), expr->dtype.lanes / value->dtype.lanes);
}

/* base, base + stride, base + 2 * stride, ...; where base and stride are vectors, each step is as wide as they are. */
LLVMValueRef emit_ramp(FuncGen *gen, const Expr *expr)
{
    DType dtype = expr->dtype;
    int width = expr->args[0]->dtype.lanes, lanes = dtype.lanes;
    LLVMValueRef base = repeat(gen, emit_expr(gen, expr->args[0]), lanes / width);
    LLVMValueRef stride = repeat(gen, emit_expr(gen, expr->args[1]), lanes / expr->args[1]->dtype.lanes);
    LLVMValueRef *steps = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, lanes);
    for (int i = 0; i < lanes; i++)
        steps[i] = llvm_const_int(gen->build, dtype_scalar(dtype), i / width);
    LLVMValueRef offsets = LLVMBuildMul(gen->builder, stride, lanes == 1 ? steps[0] : LLVMConstVector(steps, (unsigned)lanes), "");
    return LLVMBuildAdd(gen->builder, base, offsets, "");
}

/* Lane INDEX (an expression) of the vectors laid end to end. */
static LLVMValueRef pick_lane(FuncGen *gen, const Expr *expr, LLVMValueRef *vectors, const Expr *index)
{
    int64_t lane;
    bool single = expr->value.split == 1;
    if (!expr_const_int(index, &lane)) {
        if (single && expr->args[0]->dtype.lanes > 1)
            return LLVMBuildExtractElement(gen->builder, vectors[0], emit_expr(gen, index), "");
        diag_error(gen->ctx, index->span, "a Shuffle of several vectors needs constant indices");
        return LLVMConstNull(llvm_value_type(gen->build, dtype_scalar(expr->dtype)));
    }
    for (int i = 0; i < expr->value.split; lane -= expr->args[i]->dtype.lanes, i++)
        if (lane >= 0 && lane < expr->args[i]->dtype.lanes)
            return expr->args[i]->dtype.lanes == 1 ? vectors[i] : emit_lane(gen, vectors[i], (int)lane);
    diag_error(gen->ctx, index->span, "a Shuffle index is out of range");
    return LLVMConstNull(llvm_value_type(gen->build, dtype_scalar(expr->dtype)));
}

/* One or two vectors of one type, and constant lanes of them: LLVM has an instruction for that. */
static bool is_plain_shuffle(const Expr *expr)
{
    int vectors = expr->value.split, lanes = expr->args[0]->dtype.lanes;
    int64_t lane;
    if (vectors > 2 || lanes == 1 || !dtype_equal(expr->args[0]->dtype, expr->args[vectors - 1]->dtype))
        return false;
    for (int i = vectors; i < expr->arg_count; i++)
        if (!expr_const_int(expr->args[i], &lane) || lane < 0 || lane >= (int64_t)vectors * lanes)
            return false;
    return true;
}

static LLVMValueRef shuffle_vectors(FuncGen *gen, const Expr *expr, LLVMValueRef *vectors)
{
    int split = expr->value.split, lanes = expr->arg_count - split, *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes);
    for (int i = 0; i < lanes; i++)
        picks[i] = (int)expr->args[split + i]->value.integer;
    return emit_shuffle(gen, vectors[0], split == 2 ? vectors[1] : NULL, picks, lanes);
}

LLVMValueRef emit_shuffle_expr(FuncGen *gen, const Expr *expr)
{
    int vector_count = expr->value.split, lanes = expr->arg_count - vector_count;
    LLVMValueRef *vectors = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, vector_count);
    for (int i = 0; i < vector_count; i++)
        vectors[i] = emit_expr(gen, expr->args[i]);
    if (lanes == 1)
        return pick_lane(gen, expr, vectors, expr->args[vector_count]);
    if (is_plain_shuffle(expr))
        return shuffle_vectors(gen, expr, vectors);
    LLVMValueRef result = LLVMGetPoison(llvm_value_type(gen->build, expr->dtype));
    for (int i = 0; i < lanes; i++)
        result = emit_with_lane(gen, result, pick_lane(gen, expr, vectors, expr->args[vector_count + i]), i);
    return result;
}
