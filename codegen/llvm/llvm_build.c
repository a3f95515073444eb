/* Small pieces of LLVM IR that several constructs share. */
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/llvm_gen.h"
#include "support/bug.h"

/* Vectors with more lanes than this are taken apart by a loop rather than by straight-line code. */
enum { MAX_UNROLLED_LANES = 16 };

LLVMBasicBlockRef emit_block(FuncGen *gen, const char *name)
{
    return LLVMAppendBasicBlockInContext(gen->build->llvm, gen->function, name);
}

void emit_jump(FuncGen *gen, LLVMBasicBlockRef target)
{
    if (!LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(gen->builder)))
        LLVMBuildBr(gen->builder, target);
}

void emit_at(FuncGen *gen, LLVMBasicBlockRef block)
{
    LLVMMoveBasicBlockAfter(block, LLVMGetLastBasicBlock(gen->function));
    LLVMPositionBuilderAtEnd(gen->builder, block);
}

LLVMValueRef emit_phi(FuncGen *gen, LLVMValueRef a, LLVMBasicBlockRef from_a, LLVMValueRef b, LLVMBasicBlockRef from_b)
{
    LLVMValueRef phi = LLVMBuildPhi(gen->builder, LLVMTypeOf(a), "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){a, b}, (LLVMBasicBlockRef[]){from_a, from_b}, 2);
    return phi;
}

static LLVMValueRef call_intrinsic(FuncGen *gen, const char *name, LLVMTypeRef *types, int type_count, LLVMValueRef *args, int arg_count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id)
        BUG("LLVM has no %s", name);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(gen->unit->module, id, types, (size_t)type_count);
    return LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(function), function, args, (unsigned)arg_count, "");
}

LLVMValueRef emit_intrinsic(FuncGen *gen, const char *name, LLVMTypeRef type, LLVMValueRef *args, int arg_count)
{
    return call_intrinsic(gen, name, &type, type ? 1 : 0, args, arg_count);
}

LLVMValueRef emit_intrinsic2(FuncGen *gen, const char *name, LLVMTypeRef first, LLVMTypeRef second, LLVMValueRef *args, int arg_count)
{
    return call_intrinsic(gen, name, (LLVMTypeRef[]){first, second}, 2, args, arg_count);
}

LLVMValueRef emit_c_call(FuncGen *gen, const char *name, LLVMTypeRef result, LLVMValueRef *args, int arg_count)
{
    LLVMTypeRef *types = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, arg_count);
    for (int i = 0; i < arg_count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, (unsigned)arg_count, false);
    LLVMValueRef function = LLVMGetNamedFunction(gen->unit->module, name);
    if (!function) {
        function = LLVMAddFunction(gen->unit->module, name, type);
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, llvm_attribute(gen->build, "nounwind", 0));
    }
    return LLVMBuildCall2(gen->builder, type, function, args, (unsigned)arg_count, "");
}

static LLVMValueRef lane_number(FuncGen *gen, int lane)
{
    return LLVMConstInt(gen->build->i32, (unsigned long long)lane, false);
}

LLVMValueRef emit_lane(FuncGen *gen, LLVMValueRef vector, int lane)
{
    return LLVMBuildExtractElement(gen->builder, vector, lane_number(gen, lane), "");
}

LLVMValueRef emit_with_lane(FuncGen *gen, LLVMValueRef vector, LLVMValueRef scalar, int lane)
{
    return LLVMBuildInsertElement(gen->builder, vector, scalar, lane_number(gen, lane), "");
}

LLVMValueRef emit_shuffle(FuncGen *gen, LLVMValueRef a, LLVMValueRef b, const int *picks, int count)
{
    LLVMValueRef *mask = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, count);
    for (int i = 0; i < count; i++)
        mask[i] = picks[i] < 0 ? LLVMGetPoison(gen->build->i32) : lane_number(gen, picks[i]);
    return LLVMBuildShuffleVector(gen->builder, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)), LLVMConstVector(mask, (unsigned)count), "");
}

LLVMValueRef emit_widened(FuncGen *gen, LLVMValueRef vector, int width)
{
    int lanes = llvm_lanes(LLVMTypeOf(vector)), *picks = ARENA_ARRAY(gen->ctx->arena, int, width);
    for (int i = 0; i < width; i++)
        picks[i] = i < lanes ? i : -1;
    return lanes == width ? vector : emit_shuffle(gen, vector, NULL, picks, width);
}

LLVMValueRef emit_joined(FuncGen *gen, const LLVMValueRef *values, int count, int lanes)
{
    int *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes), done = 0;
    LLVMTypeRef element = LLVMTypeOf(values[0]);
    element = LLVMGetTypeKind(element) == LLVMVectorTypeKind ? LLVMGetElementType(element) : element;
    LLVMValueRef joined = LLVMGetPoison(LLVMVectorType(element, (unsigned)lanes));
    for (int i = 0; i < count; i++) {
        int width = LLVMTypeOf(values[i]) == element ? 1 : llvm_lanes(LLVMTypeOf(values[i]));
        for (int lane = 0; lane < lanes; lane++)
            picks[lane] = lane < done ? lane : lane < done + width ? lanes + lane - done : -1;
        joined = width == 1 ? emit_with_lane(gen, joined, values[i], done)
                            : emit_shuffle(gen, joined, emit_widened(gen, values[i], lanes), picks, lanes);
        done += width;
    }
    return joined;
}

LLVMValueRef emit_splat(FuncGen *gen, LLVMValueRef scalar, int lanes)
{
    if (lanes == 1)
        return scalar;
    if (LLVMIsConstant(scalar))
        return llvm_const_splat(scalar, lanes);
    LLVMValueRef first = emit_with_lane(gen, LLVMGetPoison(LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes)), scalar, 0);
    return emit_shuffle(gen, first, NULL, ARENA_ARRAY(gen->ctx->arena, int, lanes), lanes);
}

LLVMValueRef emit_any(FuncGen *gen, LLVMValueRef mask)
{
    return emit_intrinsic(gen, "llvm.vector.reduce.or", LLVMTypeOf(mask), &mask, 1);
}

LLVMValueRef emit_stack_slot(FuncGen *gen, LLVMTypeRef type, int64_t count, unsigned alignment)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(gen->builder); /* positioning takes that of the instruction */
    LLVMPositionBuilderBefore(gen->builder, LLVMGetBasicBlockTerminator(gen->entry));
    LLVMTypeRef slot_type = count == 1 ? type : LLVMArrayType2(type, (uint64_t)count);
    LLVMValueRef slot = LLVMBuildAlloca(gen->builder, slot_type, "");
    LLVMSetAlignment(slot, alignment);
    LLVMPositionBuilderAtEnd(gen->builder, here);
    LLVMSetCurrentDebugLocation2(gen->builder, location);
    return slot;
}

LLVMValueRef emit_text(FuncGen *gen, const char *text)
{
    return LLVMBuildGlobalStringPtr(gen->builder, text, "text");
}

/* --- A scalar function over the lanes of vectors --- */

typedef struct {
    LLVMValueRef *args;
    int arg_count, lanes;
    LaneFunction function;
    void *data;
} LaneWork;

/* The function on lane LANE (any i32), skipped where the mask says so; PARTIAL with the result in that lane (PARTIAL is NULL for a void
   function). */
static LLVMValueRef run_lane(FuncGen *gen, const LaneWork *work, LLVMValueRef lane, LLVMValueRef mask, LLVMValueRef partial)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(gen->builder), done = NULL;
    if (mask) {
        LLVMBasicBlockRef run = emit_block(gen, "lane");
        done = emit_block(gen, "lane.done");
        LLVMBuildCondBr(gen->builder, LLVMBuildExtractElement(gen->builder, mask, lane, ""), run, done);
        emit_at(gen, run);
    }
    LLVMValueRef *scalars = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, work->arg_count);
    for (int i = 0; i < work->arg_count; i++)
        scalars[i] = LLVMBuildExtractElement(gen->builder, work->args[i], lane, "");
    LLVMValueRef result = work->function(gen, scalars, work->data);
    LLVMValueRef updated = partial ? LLVMBuildInsertElement(gen->builder, partial, result, lane, "") : NULL;
    if (!mask)
        return updated;
    LLVMBasicBlockRef end = LLVMGetInsertBlock(gen->builder);
    emit_jump(gen, done);
    emit_at(gen, done);
    return partial ? emit_phi(gen, partial, before, updated, end) : NULL;
}

static LLVMValueRef run_lane_loop(FuncGen *gen, const LaneWork *work, LLVMValueRef mask, LLVMValueRef start)
{
    LLVMTypeRef i32 = gen->build->i32;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(gen->builder), body = emit_block(gen, "lanes"), done = emit_block(gen, "lanes.done");
    emit_jump(gen, body);
    emit_at(gen, body);
    LLVMValueRef lane = LLVMBuildPhi(gen->builder, i32, "lane"), partial = start ? LLVMBuildPhi(gen->builder, LLVMTypeOf(start), "") : NULL;
    LLVMValueRef updated = run_lane(gen, work, lane, mask, partial);
    LLVMValueRef next = LLVMBuildAdd(gen->builder, lane, LLVMConstInt(i32, 1, false), "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(gen->builder);
    LLVMAddIncoming(lane, (LLVMValueRef[]){LLVMConstInt(i32, 0, false), next}, (LLVMBasicBlockRef[]){before, end}, 2);
    if (start)
        LLVMAddIncoming(partial, (LLVMValueRef[]){start, updated}, (LLVMBasicBlockRef[]){before, end}, 2);
    LLVMValueRef more = LLVMBuildICmp(gen->builder, LLVMIntULT, next, lane_number(gen, work->lanes), "");
    LLVMBuildCondBr(gen->builder, more, body, done);
    emit_at(gen, done);
    return updated;
}

LLVMValueRef emit_each_lane(FuncGen *gen, LLVMTypeRef result, LLVMValueRef *args, int arg_count, int lanes, LaneFunction function,
                            void *data)
{
    LaneWork work = {args, arg_count, lanes, function, data};
    LLVMValueRef mask = gen->lane_mask, partial = NULL;
    if (result != gen->build->void_type)
        partial = LLVMConstNull(LLVMVectorType(result, (unsigned)lanes));
    gen->lane_mask = NULL;
    if (lanes > MAX_UNROLLED_LANES)
        partial = run_lane_loop(gen, &work, mask, partial);
    else
        for (int i = 0; i < lanes; i++)
            partial = run_lane(gen, &work, lane_number(gen, i), mask, partial);
    gen->lane_mask = mask;
    return partial;
}
