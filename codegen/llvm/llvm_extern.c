/* Calls of C functions.

   A C function is called with the C types of its arguments and gives the stated type. What it is known to do: call_extern touches memory
   only through its pointer arguments (and state of its own), and may throw an exception; call_pure_extern only reads through them. A function with a
   definition in the LLVM module is judged by that instead, and called with exactly its types; as with a prototype in C, an integer argument
   may be wider than its parameter (strides and offsets are, where a program's indices are 64-bit). */
#include <string.h>

#include "codegen/llvm/llvm_gen.h"
#include "ir/signature.h"

/* The value of LLVM's "memory" attribute: two bits (read 1, write 2) for each of argument memory, memory that this module cannot name, all
   other. */
enum { MEMORY_ARGUMENTS_AND_FOREIGN = 3 | 3 << 2, MEMORY_READ_ARGUMENTS = 1 };

typedef struct {
    const Expr *call;
    const char *name;
    bool pure;
    DType result;      /* scalar */
    DType *arg_types;  /* scalar */
    int arg_count;
} ExternCall;

static LLVMTypeRef function_type(FuncGen *gen, const ExternCall *callee)
{
    LLVMTypeRef *types = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, callee->arg_count);
    for (int i = 0; i < callee->arg_count; i++)
        types[i] = llvm_abi_type(gen->build, callee->arg_types[i]);
    return LLVMFunctionType(llvm_abi_type(gen->build, callee->result), types, (unsigned)callee->arg_count, false);
}

static bool is_wider_integer(LLVMTypeRef argument, LLVMTypeRef parameter)
{
    return LLVMGetTypeKind(argument) == LLVMIntegerTypeKind && LLVMGetTypeKind(parameter) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(argument) > LLVMGetIntTypeWidth(parameter);
}

/* True when the function that the module defines under the name has TYPE, but for narrower integer parameters; a void call may ignore a
   result. */
static bool definition_fits(FuncGen *gen, const ExternCall *callee, LLVMValueRef function, LLVMTypeRef type)
{
    LLVMTypeRef defined = LLVMGlobalGetValueType(function);
    unsigned count = LLVMCountParamTypes(type);
    if (LLVMIsFunctionVarArg(defined) || LLVMCountParamTypes(defined) != count)
        return false;
    LLVMTypeRef *a = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, count + 1), *b = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, count + 1);
    LLVMGetParamTypes(type, a);
    LLVMGetParamTypes(defined, b);
    for (unsigned i = 0; i < count; i++)
        if (a[i] != b[i] && !is_wider_integer(a[i], b[i]))
            return false;
    return callee->result.code == DT_VOID || LLVMGetReturnType(defined) == LLVMGetReturnType(type);
}

static void diagnose_misfit(FuncGen *gen, const ExternCall *callee, LLVMValueRef function, LLVMTypeRef type)
{
    char *defined_text = LLVMPrintTypeToString(LLVMGlobalGetValueType(function)), *called_text = LLVMPrintTypeToString(type);
    diag_error(gen->ctx, callee->call->span, "'%s' is called with other types than it is defined with", callee->name);
    diag_note(gen->ctx, callee->call->span, "the definition is %s, the call %s", defined_text, called_text);
    LLVMDisposeMessage(defined_text);
    LLVMDisposeMessage(called_text);
}

/* The function to call, or NULL after a diagnostic. *TYPE becomes the type to call it with. */
static LLVMValueRef find_callee(FuncGen *gen, const ExternCall *callee, LLVMTypeRef *type)
{
    *type = function_type(gen, callee);
    LLVMValueRef function = LLVMGetNamedFunction(gen->unit->module, callee->name);
    if (!function)
        return LLVMAddFunction(gen->unit->module, callee->name, *type);
    bool known = !LLVMIsDeclaration(function) || map_has(&gen->unit->declared, context_intern(gen->ctx, callee->name));
    if (!known)
        return function;
    if (!definition_fits(gen, callee, function, *type)) {
        diagnose_misfit(gen, callee, function, *type);
        return NULL;
    }
    *type = LLVMGlobalGetValueType(function);
    return function;
}

static void mark_call(FuncGen *gen, const ExternCall *callee, LLVMValueRef function, LLVMValueRef call)
{
    const LlvmBuild *build = gen->build;
    llvm_mark_extension(build, call, LLVMAttributeReturnIndex, callee->result);
    for (int i = 0; i < callee->arg_count; i++)
        llvm_mark_extension(build, call, (unsigned)i + 1, callee->arg_types[i]);
    if (callee->pure || !build->options->unwind_tables)
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, llvm_attribute(build, "nounwind", 0));
    if (!LLVMIsDeclaration(function))
        return;
    uint64_t memory = callee->pure ? MEMORY_READ_ARGUMENTS : MEMORY_ARGUMENTS_AND_FOREIGN;
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, llvm_attribute(build, "memory", memory));
    if (callee->pure)
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, llvm_attribute(build, "willreturn", 0));
}

/* The call on scalar values in their own types. */
static LLVMValueRef call_scalars(FuncGen *gen, LLVMValueRef *args, void *data)
{
    const ExternCall *callee = data;
    LLVMTypeRef type;
    LLVMValueRef function = find_callee(gen, callee, &type);
    if (!function)
        return callee->result.code == DT_VOID ? NULL : llvm_const_zero(gen->build, callee->result);
    LLVMValueRef *passed = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, callee->arg_count);
    for (int i = 0; i < callee->arg_count; i++)
        passed[i] = emit_to_abi(gen, args[i], callee->arg_types[i]);
    LLVMTypeRef *parameters = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, callee->arg_count);
    LLVMGetParamTypes(type, parameters);
    for (int i = 0; i < callee->arg_count; i++)
        if (is_wider_integer(LLVMTypeOf(passed[i]), parameters[i]))
            passed[i] = LLVMBuildTrunc(gen->builder, passed[i], parameters[i], "");
    LLVMValueRef call = LLVMBuildCall2(gen->builder, type, function, passed, (unsigned)callee->arg_count, "");
    mark_call(gen, callee, function, call);
    return callee->result.code == DT_VOID ? NULL : emit_from_abi(gen, call, callee->result);
}

/* Lanes of the arguments, which are 1 or the same for all. */
static int common_lanes(const Expr *call)
{
    int lanes = call->dtype.lanes;
    for (int i = 1; i < call->arg_count; i++)
        if (call->args[i]->dtype.lanes > lanes)
            lanes = call->args[i]->dtype.lanes;
    return lanes;
}

/* What CALL names: a C function, or a function of the program by the symbol that its object gives it. */
static const char *callee_symbol(FuncGen *gen, const Expr *call)
{
    const Func *func = module_callee(gen->ctx, gen->build->program, call);
    return func ? func_signature(gen->ctx, func)->symbol : call->args[0]->value.text;
}

/* A function of the program that fails ends its caller with the same code; the message stands already. */
static void leave_if_failed(FuncGen *gen, LLVMValueRef code)
{
    LLVMBasicBlockRef failed = emit_block(gen, "callee_failed"), go_on = emit_block(gen, "called");
    LLVMValueRef fails = LLVMBuildICmp(gen->builder, LLVMIntNE, code, LLVMConstNull(gen->build->i32), "");
    emit_unlikely(gen, LLVMBuildCondBr(gen->builder, fails, failed, go_on));
    emit_at(gen, failed);
    emit_leave(gen, code);
    emit_at(gen, go_on);
}

LLVMValueRef emit_extern_call(FuncGen *gen, const Expr *call)
{
    int lanes = common_lanes(call), arg_count = call->arg_count - 1;
    if (call->args[0]->kind != EXPR_STRING) {
        diag_error(gen->ctx, call->span, "the name of a C function must be a string");
        return emit_nothing(gen, call);
    }
    bool checked = call->value.op == OP_CALL_FUNC && call->dtype.code == DT_VOID;
    ExternCall callee = {.call = call,
                         .name = callee_symbol(gen, call),
                         .pure = call->value.op == OP_CALL_PURE_EXTERN,
                         .result = checked ? DTYPE_INT32 : dtype_scalar(call->dtype),
                         .arg_count = arg_count};
    if (lanes > 1 && !callee.pure) {
        diag_error(gen->ctx, call->span, "'%s' cannot be called on vectors: only call_pure_extern may run lane by lane", callee.name);
        return emit_nothing(gen, call);
    }
    callee.arg_types = ARENA_ARRAY(gen->ctx->arena, DType, arg_count);
    LLVMValueRef *args = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, arg_count);
    for (int i = 0; i < arg_count; i++) {
        const Expr *argument = call->args[i + 1];
        callee.arg_types[i] = dtype_scalar(argument->dtype);
        args[i] = emit_expr(gen, argument);
        if (argument->dtype.lanes < lanes)
            args[i] = emit_splat(gen, args[i], lanes);
    }
    if (lanes == 1) {
        LLVMValueRef result = call_scalars(gen, args, &callee);
        if (!checked)
            return result;
        leave_if_failed(gen, result);
        return NULL;
    }
    return emit_each_lane(gen, llvm_value_type(gen->build, callee.result), args, arg_count, lanes, call_scalars, &callee);
}

/* --- tmm16 as loops --- */

bool may_own_tmm16(const FuncGen *gen)
{
    const LlvmBuild *build = gen->build;
    for (int i = 0; i < build->options->extern_count; i++)
        if (!strcmp(build->options->extern_names[i], "tmm16"))
            return false;
    LLVMValueRef function = LLVMGetNamedFunction(gen->unit->module, "tmm16");
    bool is_defined = function && !LLVMIsDeclaration(function);
    bool has_fma = llvm_target_sign(&build->target, "avx512f") == '+' ||
                   (llvm_target_sign(&build->target, "avx2") == '+' && llvm_target_sign(&build->target, "fma") == '+');
    return build->options->opt_level && build->options->fp_contract && !is_defined && has_fma;
}

/* A function of the linked program that it may do without. */
static LLVMValueRef weak_function(FuncGen *gen, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(gen->unit->module, name);
    if (!function) {
        function = LLVMAddFunction(gen->unit->module, name, type);
        LLVMSetLinkage(function, LLVMExternalWeakLinkage);
    }
    return function;
}

LLVMValueRef emit_own_tmm16(FuncGen *gen)
{
    const LlvmBuild *build = gen->build;
    if (!may_own_tmm16(gen))
        return LLVMConstInt(build->i1, 0, false);
    LLVMTypeRef kernel_types[] = {build->pointer, build->pointer, build->pointer, build->i32, build->i32, build->i32};
    LLVMTypeRef kernel_type = LLVMFunctionType(build->i32, kernel_types, 6, false), asked_types[] = {build->pointer};
    LLVMTypeRef type = LLVMFunctionType(build->i32, asked_types, 1, false);
    LLVMValueRef kernel = LLVMGetNamedFunction(gen->unit->module, "tmm16"), asked = weak_function(gen, "tirc_tmm16_is_own", type);
    kernel = kernel ? kernel : LLVMAddFunction(gen->unit->module, "tmm16", kernel_type);
    LLVMBasicBlockRef start = LLVMGetInsertBlock(gen->builder), ask = emit_block(gen, "tmm16.ask"), done = emit_block(gen, "tmm16.asked");
    LLVMBuildCondBr(gen->builder, LLVMBuildIsNotNull(gen->builder, asked, ""), ask, done);
    emit_at(gen, ask);
    LLVMValueRef is_own = LLVMBuildIsNotNull(gen->builder, LLVMBuildCall2(gen->builder, type, asked, &kernel, 1, ""), "");
    emit_jump(gen, done);
    emit_at(gen, done);
    LLVMValueRef result = LLVMBuildPhi(gen->builder, build->i1, ""), values[] = {LLVMConstInt(build->i1, 0, false), is_own};
    LLVMAddIncoming(result, values, (LLVMBasicBlockRef[]){start, ask}, 2);
    return result;
}
