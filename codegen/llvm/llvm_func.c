/* Functions: the exported C interface (see ir/signature.h), what holds for every function, and the entry points for the JIT. */
#include <string.h>

#include "codegen/llvm/llvm_debug.h"
#include "codegen/llvm/llvm_gen.h"

/* With unwind tables an exception may pass through every function; LLVM finds those that call nothing which could throw one. */
void llvm_func_set_attributes(const LlvmBuild *build, LLVMValueRef function)
{
    enum { UNWIND_ANYWHERE = 2 };
    bool tables = build->options->unwind_tables;
    LLVMAttributeRef attribute = tables ? llvm_attribute(build, "uwtable", UNWIND_ANYWHERE) : llvm_attribute(build, "nounwind", 0);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
    llvm_target_set_function(&build->target, function);
}

void llvm_func_begin(FuncGen *gen, LLVMValueRef function, Span span)
{
    gen->function = function;
    gen->builder = LLVMCreateBuilderInContext(gen->build->llvm);
    gen->entry = emit_block(gen, "entry");
    LLVMBasicBlockRef start = emit_block(gen, "start");
    LLVMPositionBuilderAtEnd(gen->builder, gen->entry);
    LLVMBuildBr(gen->builder, start);
    LLVMPositionBuilderAtEnd(gen->builder, start);
    llvm_debug_begin(gen, span);
}

void llvm_func_end(FuncGen *gen)
{
    LLVMBuildRet(gen->builder, LLVMConstInt(gen->build->i32, 0, false));
    LLVMDisposeBuilder(gen->builder);
}

/* --- Parameters --- */

/* Alignment that the declaration states; an element's own where it states none. */
static uint64_t stated_alignment(const Buffer *buffer)
{
    uint64_t alignment = (uint64_t)buffer->data_alignment;
    bool stated = alignment && !(alignment & (alignment - 1));
    return stated ? alignment : (uint64_t)dtype_bytes(buffer->dtype);
}

static void mark_param(LlvmUnit *unit, LLVMValueRef function, unsigned index, const Param *param)
{
    if (!param->buffer) {
        llvm_mark_extension(unit->build, function, index, param->param->dtype);
        return;
    }
    LLVMAddAttributeAtIndex(function, index, llvm_attribute(unit->build, "noalias", 0));
    LLVMAddAttributeAtIndex(function, index, llvm_attribute(unit->build, "align", stated_alignment(param->buffer)));
}

static LLVMTypeRef func_type(const LlvmBuild *build, const Func *func, const Signature *signature)
{
    int count = func->param_count + signature->dim_count;
    LLVMTypeRef *types = ARENA_ARRAY(build->ctx->arena, LLVMTypeRef, count);
    for (int i = 0; i < func->param_count; i++)
        types[i] = func->params[i].buffer ? build->pointer : llvm_abi_type(build, func->params[i].param->dtype);
    for (int i = func->param_count; i < count; i++)
        types[i] = build->i64;
    return LLVMFunctionType(build->i32, types, (unsigned)count, false);
}

void llvm_unit_declare(LlvmUnit *unit, const Func *func)
{
    Context *ctx = unit->build->ctx;
    const Signature *signature = func_signature(ctx, func);
    LLVMValueRef existing = LLVMGetNamedFunction(unit->module, signature->symbol);
    if (map_has(&unit->declared, signature->symbol) || (existing && !LLVMIsDeclaration(existing))) {
        diag_error(ctx, func->name_span, "there are two definitions of '%s'", signature->symbol);
        return;
    }
    map_set(ctx->arena, &unit->declared, signature->symbol, (void *)func);
    if (existing)
        LLVMSetValueName2(existing, "", 0);
    LLVMValueRef function = LLVMAddFunction(unit->module, signature->symbol, func_type(unit->build, func, signature));
    for (int i = 0; i < func->param_count; i++)
        mark_param(unit, function, (unsigned)i + 1, &func->params[i]);
    llvm_mark_extension(unit->build, function, LLVMAttributeReturnIndex, DTYPE_INT32);
    llvm_func_set_attributes(unit->build, function);
    if (!existing)
        return;
    LLVMReplaceAllUsesWith(existing, function);
    LLVMDeleteFunction(existing);
}

static void bind_params(FuncGen *gen)
{
    for (int i = 0; i < gen->func->param_count; i++) {
        const Param *param = &gen->func->params[i];
        LLVMValueRef value = LLVMGetParam(gen->function, (unsigned)i);
        const char *name = param->buffer ? param->buffer->name : param->param->name;
        LLVMSetValueName2(value, name, strlen(name));
        llvm_debug_variable(gen, name, param->buffer ? param->buffer->data : param->param, value, (unsigned)i + 1);
        if (param->buffer)
            gen_bind(gen, param->buffer->data, value);
        if (param->buffer && is_unnamed_offset(param->buffer))
            gen_bind(gen, param->buffer->elem_offset->value.var, llvm_const_zero(gen->build, param->buffer->elem_offset->dtype));
        gen_bind(gen, param->param, param->buffer ? value : emit_from_abi(gen, value, param->param->dtype));
    }
}

/* Dimensions cross the interface as int64. One that the text declares with a smaller type must be in its range. */
static void bind_dims(FuncGen *gen, const Signature *signature)
{
    for (int i = 0; i < signature->dim_count; i++) {
        const Var *var = signature->dims[i];
        LLVMValueRef value = LLVMGetParam(gen->function, (unsigned)(gen->func->param_count + i));
        LLVMSetValueName2(value, var->name, strlen(var->name));
        llvm_debug_variable(gen, var->name, var, value, (unsigned)(gen->func->param_count + i) + 1);
        map_set(gen->ctx->arena, &gen->wide_values, var, value);
        if (var->dtype.bits < 64) {
            LLVMValueRef own = LLVMBuildTrunc(gen->builder, value, llvm_value_type(gen->build, var->dtype), "");
            LLVMValueRef back = emit_cast(gen, own, var->dtype, DTYPE_INT64);
            const char *message = context_internf(gen->ctx, "%s: argument '%s' is out of the range of %s", gen->symbol, var->name,
                                                  dtype_name(gen->ctx, var->dtype));
            emit_fail_if(gen, LLVMBuildICmp(gen->builder, LLVMIntNE, value, back, ""), message);
            value = own;
        }
        gen_bind(gen, var, value);
    }
}

/* --- The entry point for the JIT --- */

/* int SYMBOL.tirc_entry(const uint64_t *slots): calls the function with each argument taken from the low bytes of its slot. */
static void define_entry_point(FuncGen *gen)
{
    LlvmBuild *build = gen->build;
    LLVMTypeRef type = LLVMFunctionType(build->i32, &build->pointer, 1, false);
    LLVMValueRef entry = LLVMAddFunction(gen->unit->module, codegen_entry_symbol(gen->ctx, gen->symbol), type);
    llvm_func_set_attributes(build, entry);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(build->llvm);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(build->llvm, entry, "entry"));
    unsigned count = LLVMCountParams(gen->function);
    LLVMValueRef *args = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, count), slots = LLVMGetParam(entry, 0);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef index = LLVMConstInt(build->i64, i, false);
        args[i] = LLVMBuildLoad2(builder, LLVMTypeOf(LLVMGetParam(gen->function, i)),
                                 LLVMBuildInBoundsGEP2(builder, build->i64, slots, &index, 1, ""), "");
    }
    LLVMValueRef call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(gen->function), gen->function, args, count, "");
    for (int i = 0; i < gen->func->param_count; i++)
        if (!gen->func->params[i].buffer)
            llvm_mark_extension(build, call, (unsigned)i + 1, gen->func->params[i].param->dtype);
    LLVMBuildRet(builder, call);
    LLVMDisposeBuilder(builder);
}

void llvm_unit_define(LlvmUnit *unit, const Func *func)
{
    Context *ctx = unit->build->ctx;
    const Signature *signature = func_signature(ctx, func);
    if (map_get(&unit->declared, signature->symbol) != func)
        return;
    int body_count = 0;
    FuncGen gen = {.ctx = ctx, .build = unit->build, .unit = unit, .func = func, .symbol = signature->symbol, .body_count = &body_count,
                   .is_long = func_is_long(func)};
    llvm_func_begin(&gen, LLVMGetNamedFunction(unit->module, signature->symbol), func->name_span.file ? func->name_span : func->span);
    bind_params(&gen);
    bind_dims(&gen, signature);
    emit_stmt(&gen, func->body);
    llvm_func_end(&gen);
    if (unit->build->options->entry_points && !func->is_private)
        define_entry_point(&gen);
}
