/* The tables of back ends and of output kinds. */
#include "codegen/backend.h"

#include <string.h>

#include "codegen/llvm/llvm_module.h"
#include "codegen/llvm/llvm_registers.h"

static const EmitKindInfo emit_kinds[EMIT_KIND_COUNT] = {
    [EMIT_OBJECT] = {"obj", "o"},
    [EMIT_ASSEMBLY] = {"asm", "s"},
    [EMIT_LLVM_IR] = {"llvm-ir", "ll"},
    [EMIT_BITCODE] = {"bc", "bc"},
};

static const Backend backends[] = {
    {"llvm", "LLVM 19: x86_64, aarch64 and riscv64", llvm_compile, llvm_vector_registers},
};

const EmitKindInfo *emit_kind_info(EmitKind kind)
{
    return &emit_kinds[kind];
}

bool emit_kind_find(const char *name, EmitKind *kind)
{
    for (int i = 0; i < EMIT_KIND_COUNT; i++)
        if (!strcmp(emit_kinds[i].name, name)) {
            *kind = (EmitKind)i;
            return true;
        }
    return false;
}

CodegenOptions codegen_default_options(void)
{
    return (CodegenOptions){.opt_level = 2, .pic = true, .unwind_tables = true, .fp_contract = true};
}

const Backend *backend_find(const char *name)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (!name || !strcmp(backends[i].name, name))
            return &backends[i];
    return NULL;
}

Str codegen_entry_symbol(Context *ctx, Str symbol)
{
    return context_internf(ctx, "%s.tirc_entry", symbol);
}
