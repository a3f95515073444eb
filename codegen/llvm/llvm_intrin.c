/* Calls of LLVM intrinsics by name (call_llvm_intrin). Which types an overloaded intrinsic takes and how they mangle its name is LLVM's own
   knowledge: the call is written as text and read by LLVM's parser, which declares the intrinsic or says why not. */
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "codegen/llvm/llvm_gen.h"
#include "support/strbuf.h"

static const char *intrinsic_name(const Expr *name)
{
    if (expr_is_call(name, OP_LLVM_LOOKUP_INTRINSIC_ID))
        name = name->args[0];
    return name->kind == EXPR_STRING ? name->value.text : NULL;
}

static void add_type(StrBuf *text, LLVMTypeRef type)
{
    char *name = LLVMPrintTypeToString(type);
    strbuf_add(text, name);
    LLVMDisposeMessage(name);
}

static const char *probe_text(FuncGen *gen, const char *name, LLVMTypeRef result, LLVMValueRef *args, int arg_count)
{
    StrBuf text = {.arena = gen->ctx->arena};
    strbuf_add(&text, "define void @tirc.probe() {\n  call ");
    add_type(&text, result);
    strbuf_printf(&text, " @%s(", name);
    for (int i = 0; i < arg_count; i++) {
        strbuf_add(&text, i ? ", " : "");
        add_type(&text, LLVMTypeOf(args[i]));
        strbuf_add(&text, " poison");
    }
    strbuf_add(&text, ")\n  ret void\n}\n");
    return strbuf_text(&text);
}

/* The declaration of intrinsic NAME for a call with these types, added to the unit's module; NULL with the reason in *WHY. */
static LLVMValueRef declare_intrinsic(FuncGen *gen, const char *name, LLVMTypeRef result, LLVMValueRef *args, int arg_count,
                                      const char **why)
{
    const char *text = probe_text(gen, name, result, args, arg_count);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "probe");
    LLVMModuleRef probe;
    char *message = NULL;
    if (LLVMParseIRInContext(gen->build->llvm, buffer, &probe, &message)) {
        *why = context_internf(gen->ctx, "%s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    LLVMValueRef function = LLVMGetFirstFunction(probe);
    while (function && !LLVMGetIntrinsicID(function))
        function = LLVMGetNextFunction(function);
    size_t length;
    const char *mangled = function ? context_intern(gen->ctx, LLVMGetValueName2(function, &length)) : NULL;
    llvm_target_set_module(&gen->build->target, probe);
    LLVMLinkModules2(gen->unit->module, probe);
    LLVMDeleteFunction(LLVMGetNamedFunction(gen->unit->module, "tirc.probe"));
    return mangled ? LLVMGetNamedFunction(gen->unit->module, mangled) : NULL;
}

/* Programs of older releases state the number of overloaded types before the arguments. */
static bool states_type_count(const Expr *call)
{
    return call->arg_count > 2 && call->args[1]->kind == EXPR_INT && call->args[1]->dtype.code == DT_UINT;
}

LLVMValueRef emit_llvm_intrinsic_call(FuncGen *gen, const Expr *call)
{
    const char *name = intrinsic_name(call->args[0]), *why = "";
    if (!name || strncmp(name, "llvm.", strlen("llvm.")) || !LLVMLookupIntrinsicID(name, strlen(name))) {
        diag_error(gen->ctx, call->span, "LLVM has no intrinsic %s%s%s", name ? "'" : "of this number: state its name", name ? name : "",
                   name ? "'" : "");
        return emit_nothing(gen, call);
    }
    int arg_count = call->arg_count - 1, skipped = states_type_count(call);
    LLVMValueRef *args = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, arg_count);
    for (int i = 0; i < arg_count; i++)
        args[i] = emit_expr(gen, call->args[i + 1]);
    gen->unit->has_intrinsics = true;
    LLVMTypeRef result = llvm_value_type(gen->build, call->dtype);
    LLVMValueRef function = declare_intrinsic(gen, name, result, args + skipped, arg_count - skipped, &why);
    if (!function && skipped) {
        skipped = 0;
        function = declare_intrinsic(gen, name, result, args, arg_count, &why);
    }
    if (function)
        return LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(function), function, args + skipped, (unsigned)(arg_count - skipped),
                              "");
    diag_error(gen->ctx, call->span, "'%s' cannot be called with these types", name);
    if (*why)
        diag_note(gen->ctx, call->span, "LLVM says: %.*s", (int)strcspn(why, "\n"), why);
    return emit_nothing(gen, call);
}
