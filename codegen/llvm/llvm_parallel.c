/* Parallel loops. The body becomes a function of its own over a part of the loop's range:

     for i in T.parallel(n): A[i] = s          int f.parallel.0(begin, end, closure) { return f.parallel.0.body(begin, end, closure->A, closure->s); }
                                               int f.parallel.0.body(begin, end, A, s) { for (i = begin; i < end; i++) A[i] = s; return 0; }

   which the runtime calls, from several threads at once. The second function exists so that what the body captures is parameters: only so
   can LLVM be told that distinct buffers do not overlap. An error code of the body ends the enclosing function with that code. */
#include "codegen/llvm/llvm_capture.h"
#include "codegen/llvm/llvm_debug.h"
#include "codegen/llvm/llvm_runtime.h"

/* begin and end come before the captures; a closure may hold vectors. */
enum { BODY_RANGE_PARAMS = 2, CLOSURE_ALIGNMENT = 64 };

/* --- The two functions --- */

static LLVMValueRef define_body(FuncGen *gen, const Stmt *stmt, const Captures *captures, const char *name)
{
    LLVMTypeRef range[BODY_RANGE_PARAMS] = {gen->build->i64, gen->build->i64};
    LLVMValueRef function = captures_add_function(gen, captures, name, range, BODY_RANGE_PARAMS);
    FuncGen body = captures_begin_body(gen, captures, function, BODY_RANGE_PARAMS, stmt->span);
    body.in_parallel_body = true;
    emit_counted_loop(&body, stmt->as.loop.var, LLVMGetParam(function, 0), LLVMGetParam(function, 1), stmt->as.loop.body, true);
    if (body.streams_stores)
        emit_store_fence(&body);
    llvm_func_end(&body);
    return function;
}

/* The function of the runtime's type that takes the captures out of the closure. */
static LLVMValueRef define_entry(FuncGen *gen, LLVMValueRef body, LLVMTypeRef closure_type, const char *name, Span span)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(gen->build->llvm);
    LLVMValueRef function = llvm_add_part(gen, name, llvm_parallel_body_type(gen->build));
    FuncGen entry = {.ctx = gen->ctx, .build = gen->build, .unit = gen->unit, .function = function, .builder = builder};
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(gen->build->llvm, function, "entry"));
    llvm_debug_begin(&entry, span); /* without a place of its own, the body would lose its lines where it is inlined */
    unsigned count = LLVMCountParams(body);
    LLVMValueRef *args = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, count), closure = LLVMGetParam(function, BODY_RANGE_PARAMS);
    for (unsigned i = 0; i < count; i++)
        if (i < BODY_RANGE_PARAMS)
            args[i] = LLVMGetParam(function, i);
        else
            args[i] = LLVMBuildLoad2(builder, LLVMTypeOf(LLVMGetParam(body, i)),
                                     LLVMBuildStructGEP2(builder, closure_type, closure, i - BODY_RANGE_PARAMS, ""), "");
    LLVMBuildRet(builder, LLVMBuildCall2(builder, LLVMGlobalGetValueType(body), body, args, count, ""));
    LLVMDisposeBuilder(builder);
    return function;
}

/* A struct on the stack that holds the captures. */
static LLVMValueRef emit_closure(FuncGen *gen, const Captures *captures, LLVMTypeRef *type)
{
    int count = captures->count;
    LLVMTypeRef *types = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, count);
    for (int i = 0; i < count; i++)
        types[i] = LLVMTypeOf(captures->data[i].value);
    *type = LLVMStructTypeInContext(gen->build->llvm, types, (unsigned)count, false);
    if (!count)
        return LLVMConstNull(gen->build->pointer);
    LLVMValueRef closure = emit_stack_slot(gen, *type, 1, CLOSURE_ALIGNMENT);
    for (int i = 0; i < count; i++)
        LLVMBuildStore(gen->builder, captures->data[i].value, LLVMBuildStructGEP2(gen->builder, *type, closure, (unsigned)i, ""));
    return closure;
}

void emit_parallel_for(FuncGen *gen, const Stmt *stmt)
{
    Captures captures = captures_find(gen, stmt->as.loop.body);
    const char *name = context_internf(gen->ctx, "%s.parallel.%d", gen->symbol, (*gen->body_count)++);
    LLVMTypeRef closure_type;
    LLVMValueRef body = define_body(gen, stmt, &captures, context_internf(gen->ctx, "%s.body", name));
    LLVMValueRef closure = emit_closure(gen, &captures, &closure_type);
    LLVMValueRef entry = define_entry(gen, body, closure_type, name, stmt->span);
    LLVMValueRef begin = emit_index(gen, stmt->as.loop.min), extent = emit_index(gen, stmt->as.loop.extent);
    LLVMValueRef end = LLVMBuildNSWAdd(gen->builder, begin, extent, "");
    LLVMValueRef code = emit_runtime_parallel_for(gen, begin, end, entry, closure);
    LLVMValueRef failed = LLVMBuildICmp(gen->builder, LLVMIntNE, code, LLVMConstInt(gen->build->i32, 0, false), "");
    LLVMBasicBlockRef leave = emit_block(gen, "failed"), go_on = emit_block(gen, "parallel.done");
    LLVMBuildCondBr(gen->builder, failed, leave, go_on);
    emit_at(gen, leave);
    emit_leave(gen, code);
    emit_at(gen, go_on);
}
