/* See llvm_features.h. LLVM's C interface does not tell the features of a processor, but its code shows them: each feature has an
   instruction that a small function is compiled to where the processor has it. */
#include "codegen/llvm/llvm_features.h"

#include <llvm-c/IRReader.h>
#include <string.h>

#include "support/strbuf.h"

typedef struct {
    const char *feature, *instruction; /* as it begins in the assembly */
} Sign;

static const Sign x86_signs[] = {{"avx", "vaddps\t%ymm"},        {"avx2", "vpaddd\t%ymm"},         {"avx512f", "vaddps\t%zmm"},
                                 {"avx512bw", "vpaddb\t%zmm"},   {"avx512vl", "vpabsq\t%ymm"},     {"avx512vnni", "vpdpbusd\t%zmm"},
                                 {"avxvnni", "vpdpbusd\t%ymm"},  {"fma", "vfmadd"},
                                 {NULL, NULL}};
static const char x86_text[] =
    "define <8 x float> @short(<8 x float> %a) {\n %b = fadd <8 x float> %a, %a\n ret <8 x float> %b\n}\n"
    "define <16 x float> @long(<16 x float> %a) {\n %b = fadd <16 x float> %a, %a\n ret <16 x float> %b\n}\n"
    "define <8 x i32> @words(<8 x i32> %a) {\n %b = add <8 x i32> %a, %a\n ret <8 x i32> %b\n}\n"
    "define <64 x i8> @bytes(<64 x i8> %a) {\n %b = add <64 x i8> %a, %a\n ret <64 x i8> %b\n}\n"
    "declare <4 x i64> @llvm.abs.v4i64(<4 x i64>, i1)\n"
    "define <4 x i64> @sizes(<4 x i64> %a) {\n %b = call <4 x i64> @llvm.abs.v4i64(<4 x i64> %a, i1 false)\n ret <4 x i64> %b\n}\n"
    "declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)\n"
    "define <4 x float> @fused(<4 x float> %a, <4 x float> %b, <4 x float> %c) {\n"
    " %d = call <4 x float> @llvm.fma.v4f32(<4 x float> %a, <4 x float> %b, <4 x float> %c)\n ret <4 x float> %d\n}\n"
    "declare i32 @llvm.vector.reduce.add.v64i32(<64 x i32>)\n"
    "define i32 @dot(<64 x i8> %a, <64 x i8> %b) {\n %c = zext <64 x i8> %a to <64 x i32>\n %d = sext <64 x i8> %b to <64 x i32>\n"
    " %e = mul <64 x i32> %c, %d\n %f = call i32 @llvm.vector.reduce.add.v64i32(<64 x i32> %e)\n ret i32 %f\n}\n";

static const Sign aarch64_signs[] = {{"dotprod", "sdot\t"}, {NULL, NULL}};
static const char aarch64_text[] =
    "declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)\n"
    "define i32 @dot(<16 x i8> %a, <16 x i8> %b) {\n %c = sext <16 x i8> %a to <16 x i32>\n %d = sext <16 x i8> %b to <16 x i32>\n"
    " %e = mul <16 x i32> %c, %d\n %f = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %e)\n ret i32 %f\n}\n";

static LLVMModuleRef parse(LLVMContextRef llvm, const char *text)
{
    LLVMModuleRef module = NULL;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "features");
    if (LLVMParseIRInContext(llvm, buffer, &module, &message))
        LLVMDisposeMessage(message);
    return module;
}

/* The assembly of TEXT for TARGET; NULL where LLVM cannot compile it. */
static LLVMMemoryBufferRef compile(const LlvmTarget *target, LLVMContextRef llvm, const char *text)
{
    LLVMModuleRef module = parse(llvm, text);
    if (!module)
        return NULL;
    llvm_target_set_module(target, module);
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function))
            llvm_target_set_function(target, function);
    char *message = NULL;
    LLVMMemoryBufferRef assembly = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(target->machine, module, LLVMAssemblyFile, &message, &assembly))
        LLVMDisposeMessage(message);
    LLVMDisposeModule(module);
    return assembly;
}

const char *llvm_probe_features(Context *ctx, const LlvmTarget *target)
{
    bool is_x86 = !strcmp(target->arch, "x86_64");
    if (!is_x86 && strcmp(target->arch, "aarch64"))
        return "";
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMMemoryBufferRef assembly = compile(target, llvm, is_x86 ? x86_text : aarch64_text);
    StrBuf found = {.arena = ctx->arena};
    for (const Sign *sign = is_x86 ? x86_signs : aarch64_signs; sign->feature; sign++)
        strbuf_printf(&found, "%s%c%s", found.length ? "," : "", assembly && strstr(LLVMGetBufferStart(assembly), sign->instruction) ? '+' : '-',
                      sign->feature);
    if (assembly)
        LLVMDisposeMemoryBuffer(assembly);
    LLVMContextDispose(llvm);
    return strbuf_text(&found);
}
