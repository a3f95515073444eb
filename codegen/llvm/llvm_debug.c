/* See llvm_debug.h. Vectors and buffers of the body are not described.

   Source files are named as the user named them, in folder "."; an absolute path, which is another one on every machine, by its last part.
   -ffile-prefix-map comes first. */
#include "codegen/llvm/llvm_debug.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "ir/walk.h"

enum { DWARF_VERSION = 4 };

struct LlvmDebug {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef unit_file;
};

/* NAME with the prefix that a map OLD=NEW names replaced; the last map that fits counts, as in C compilers. NULL: none fits. */
static const char *mapped_name(const LlvmBuild *build, const char *name)
{
    for (int i = build->options->prefix_map_count - 1; i >= 0; i--) {
        const char *map = build->options->prefix_maps[i], *equals = strrchr(map, '=');
        size_t length = (size_t)(equals - map);
        if (!strncmp(name, map, length))
            return arena_printf(build->ctx->arena, "%s%s", equals + 1, name + length);
    }
    return NULL;
}

static LLVMMetadataRef debug_file(LlvmUnit *unit, const char *name)
{
    const char *mapped = mapped_name(unit->build, name);
    if (mapped)
        name = mapped;
    else if (*name == '/')
        name = strrchr(name, '/') + 1;
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
                                   options->opt_level > 0, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, false, false, "", 0, "", 0);
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

/* SCOPE for code of a place in FILE: what a step of a schedule made has its place in the script. */
static LLVMMetadataRef scope_in_file(FuncGen *gen, LLVMMetadataRef scope, const SourceFile *file)
{
    LLVMMetadataRef own = debug_file(gen->unit, file->name);
    return own == LLVMDIScopeGetFile(scope) ? scope : LLVMDIBuilderCreateLexicalBlockFile(gen->unit->debug->builder, scope, own, 0);
}

void llvm_debug_locate(FuncGen *gen, Span span)
{
    Place place;
    if (!gen->debug_scope || !source_place(gen->ctx->sources, span, &place))
        return;
    LLVMMetadataRef scope = scope_in_file(gen, gen->debug_scope, place.file);
    LLVMMetadataRef location =
        LLVMDIBuilderCreateDebugLocation(gen->build->llvm, (unsigned)place.line, (unsigned)place.column, scope, NULL);
    LLVMSetCurrentDebugLocation2(gen->builder, location);
}

LLVMMetadataRef llvm_debug_enter(FuncGen *gen, Span span)
{
    LLVMMetadataRef outer = gen->debug_scope;
    Place place;
    if (outer && source_place(gen->ctx->sources, span, &place)) {
        LLVMMetadataRef file = debug_file(gen->unit, place.file->name);
        gen->debug_scope = LLVMDIBuilderCreateLexicalBlock(gen->unit->debug->builder, outer, file, (unsigned)place.line, (unsigned)place.column);
    }
    return outer;
}

void llvm_debug_leave(FuncGen *gen, LLVMMetadataRef outer)
{
    gen->debug_scope = outer;
}

/* --- Variables --- */

enum { ENCODING_BOOL = 2, ENCODING_FLOAT = 4, ENCODING_SIGNED = 5, ENCODING_UNSIGNED = 7, POINTER_BITS = 64 };

/* NULL for what has no type here. */
static LLVMMetadataRef scalar_type(LlvmUnit *unit, DType dtype)
{
    if (dtype.lanes != 1 || dtype.code == DT_VOID || dtype.code == DT_HANDLE)
        return NULL;
    unsigned encoding = dtype.code == DT_BOOL ? ENCODING_BOOL
                        : dtype_is_float(dtype) ? ENCODING_FLOAT
                        : dtype.code == DT_INT  ? ENCODING_SIGNED
                                                : ENCODING_UNSIGNED;
    const char *name = dtype_name(unit->build->ctx, dtype);
    return LLVMDIBuilderCreateBasicType(unit->debug->builder, name, strlen(name), (uint64_t)dtype_bytes(dtype) * 8, encoding, LLVMDIFlagZero);
}

static LLVMMetadataRef variable_type(LlvmUnit *unit, const Var *var)
{
    if (var->dtype.code != DT_HANDLE)
        return scalar_type(unit, var->dtype);
    LLVMMetadataRef pointee = scalar_type(unit, dtype_scalar(var->pointee));
    return LLVMDIBuilderCreatePointerType(unit->debug->builder, pointee, POINTER_BITS, 0, 0, "", 0);
}

void llvm_debug_variable(FuncGen *gen, Str name, const Var *var, LLVMValueRef value, unsigned argument)
{
    LLVMMetadataRef type = gen->debug_scope ? variable_type(gen->unit, var) : NULL;
    if (!type)
        return;
    Place place;
    LLVMDIBuilderRef builder = gen->unit->debug->builder;
    LLVMMetadataRef file = LLVMDIScopeGetFile(gen->debug_scope), variable;
    unsigned line = source_place(gen->ctx->sources, var->span, &place) ? (unsigned)place.line : 0;
    if (argument)
        variable = LLVMDIBuilderCreateParameterVariable(builder, gen->debug_scope, name, strlen(name), argument, file, line, type, true, LLVMDIFlagZero);
    else
        variable = LLVMDIBuilderCreateAutoVariable(builder, gen->debug_scope, name, strlen(name), file, line, type, true, LLVMDIFlagZero, 0);
    LLVMDIBuilderInsertDbgValueRecordAtEnd(builder, value, variable, LLVMDIBuilderCreateExpression(builder, NULL, 0),
                                           LLVMDIBuilderCreateDebugLocation(gen->build->llvm, line, 0, gen->debug_scope, NULL),
                                           LLVMGetInsertBlock(gen->builder));
}

/* --- Axes: their values are computed for the debugger alone; where code is optimized, their description stays and the computation goes --- */

typedef struct {
    const FuncGen *gen;
    bool known;
} KnownSearch;

static bool find_unknown(Visitor *visitor, const Expr *expr)
{
    KnownSearch *search = visitor->data;
    search->known &= expr->kind != EXPR_VAR || map_has(&search->gen->values, expr->value.var);
    return search->known;
}

/* The code at hand can compute the value of AXIS, and may. */
static bool axis_has_value(const FuncGen *gen, const NamedAxis *axis)
{
    KnownSearch search = {gen, axis->value->dtype.lanes == 1 && expr_is_speculatable(axis->value)};
    Visitor visitor = {.expr = find_unknown, .data = &search};
    visit_expr(&visitor, axis->value);
    return search.known;
}

/* An axis further in, from INNERMOST on, has the name of AXIS. */
static bool axis_is_hidden(const NamedAxis *axis, const NamedAxis *innermost)
{
    for (; innermost != axis; innermost = innermost->outer)
        if (!strcmp(innermost->var->name, axis->var->name))
            return true;
    return false;
}

/* True where one was described. */
static bool describe_axes(FuncGen *gen, const NamedAxis *innermost)
{
    bool any = false;
    for (const NamedAxis *axis = innermost; axis; axis = axis->outer) {
        if (axis_is_hidden(axis, innermost) || !axis_has_value(gen, axis))
            continue;
        llvm_debug_variable(gen, axis->var->name, axis->var, emit_expr(gen, axis->value), 0);
        any = true;
    }
    return any;
}

LLVMMetadataRef llvm_debug_axes(FuncGen *gen, Span span)
{
    LLVMMetadataRef outer = gen->debug_scope;
    const AxisNames *axes = gen->build->options->axes;
    const NamedSite *site = outer && axes ? map_get(&axes->sites, axis_names_place(span)) : NULL;
    if (!site)
        return outer;
    llvm_debug_enter(gen, span);
    while (site && !describe_axes(gen, site->innermost))
        site = site->other;
    llvm_debug_locate(gen, span);
    return outer;
}
