/* See llvm_debug.h. Variables and types are not described. */
#include "codegen/llvm_debug.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

enum { DWARF_VERSION = 4 };

struct LlvmDebug {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef unit_file;
};

/* FILE as the user named it, in directory "." whatever the working directory, so that the object is the same everywhere. */
static LLVMMetadataRef debug_file(LlvmUnit *unit, const char *name)
{
    return LLVMDIBuilderCreateFile(unit->debug->builder, name, strlen(name), ".", 1);
}

static void add_flag(LlvmUnit *unit, const char *name, unsigned value)
{
    LLVMValueRef number = LLVMConstInt(unit->build->i32, value, false);
    LLVMAddModuleFlag(unit->module, LLVMModuleFlagBehaviorWarning, name, strlen(name), LLVMValueAsMetadata(number));
}

void llvm_debug_open(LlvmUnit *unit)
{
    const CodegenOptions *options = unit->build->options;
    if (!options->debug_info)
        return;
    unit->debug = ARENA_NEW(unit->build->ctx->arena, LlvmDebug);
    unit->debug->builder = LLVMCreateDIBuilder(unit->module);
    unit->debug->unit_file = debug_file(unit, options->source_name ? options->source_name : "module.tir");
    LLVMDIBuilderCreateCompileUnit(unit->debug->builder, LLVMDWARFSourceLanguageC99, unit->debug->unit_file, "tirc", 4,
                                   options->opt_level > 0, "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
    add_flag(unit, "Dwarf Version", DWARF_VERSION);
    add_flag(unit, "Debug Info Version", LLVMDebugMetadataVersion());
}

void llvm_debug_close(LlvmUnit *unit)
{
    if (!unit->debug)
        return;
    LLVMDIBuilderFinalize(unit->debug->builder);
    LLVMDisposeDIBuilder(unit->debug->builder);
    unit->debug = NULL;
}

void llvm_debug_begin(FuncGen *gen, Span span)
{
    LlvmUnit *unit = gen->unit;
    if (!unit->debug)
        return;
    Place place;
    bool known = source_place(gen->ctx->sources, span, &place);
    unsigned line = known ? (unsigned)place.line : 0;
    LLVMDIBuilderRef builder = unit->debug->builder;
    LLVMMetadataRef file = known ? debug_file(unit, place.file->name) : unit->debug->unit_file;
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(builder, file, NULL, 0, LLVMDIFlagZero);
    size_t length;
    const char *name = LLVMGetValueName2(gen->function, &length);
    bool local = LLVMGetLinkage(gen->function) == LLVMInternalLinkage;
    gen->debug_scope = LLVMDIBuilderCreateFunction(builder, file, name, length, "", 0, file, line, type, local, true, line, LLVMDIFlagZero,
                                                   gen->build->options->opt_level > 0);
    LLVMSetSubprogram(gen->function, gen->debug_scope);
    LLVMSetCurrentDebugLocation2(gen->builder, LLVMDIBuilderCreateDebugLocation(gen->build->llvm, line, 0, gen->debug_scope, NULL));
}

void llvm_debug_locate(FuncGen *gen, Span span)
{
    Place place;
    if (!gen->debug_scope || !source_place(gen->ctx->sources, span, &place))
        return;
    LLVMMetadataRef location =
        LLVMDIBuilderCreateDebugLocation(gen->build->llvm, (unsigned)place.line, (unsigned)place.column, gen->debug_scope, NULL);
    LLVMSetCurrentDebugLocation2(gen->builder, location);
}
