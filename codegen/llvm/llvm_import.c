/* Code that a function brings along: LLVM IR (attribute tirc.import_llvm, from sch.annotate(..., "pragma_import_llvm", ...)), a list of
   strings, each the text of a module or the path of a .ll or .bc file; and C (tirc.import_c, from "pragma_import_c"), a list of texts and
   paths, which clang compiles. What it defines becomes internal to the object, so that it can be inlined. */
#include <llvm-c/Comdat.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "codegen/llvm/llvm_module.h"
#include "support/clang.h"

static void record_import(LlvmBuild *build, const char *path)
{
    CodegenOutput *out = build->out;
    for (int i = 0; i < out->import_count; i++)
        if (!strcmp(out->imports[i], path))
            return;
    const char **longer = ARENA_ARRAY(build->ctx->arena, const char *, out->import_count + 1);
    if (out->import_count)
        memcpy(longer, out->imports, sizeof *longer * (size_t)out->import_count);
    longer[out->import_count++] = path;
    out->imports = longer;
}

/* The memory of SOURCE; NULL after a diagnostic. LLVM's parser will own it. */
static LLVMMemoryBufferRef open_source(LlvmBuild *build, const char *source, Span span)
{
    if (clang_is_text(source))
        return LLVMCreateMemoryBufferWithMemoryRangeCopy(source, strlen(source), "pragma_import_llvm");
    const char *path = source_path(build->ctx->sources, build->ctx->arena, span, source);
    LLVMMemoryBufferRef buffer;
    char *message;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        diag_error(build->ctx, span, "cannot read the LLVM IR '%s': %s", path, message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    record_import(build, path);
    return buffer;
}

/* The module that clang makes of the C of SOURCE for our target; NULL after a diagnostic. */
static LLVMMemoryBufferRef compile_source(LlvmBuild *build, const char *source, Span span)
{
    Context *ctx = build->ctx;
    const LlvmTarget *target = &build->target;
    bool x86 = !strcmp(target->arch, "x86_64"), is_text = clang_is_text(source);
    const char *cpu = x86 && !strcmp(target->cpu, "generic") ? "x86-64" : target->cpu;
    const char *options[] = {"-O2",
                             arena_printf(ctx->arena, "--target=%s", target->triple),
                             build->options->fp_contract ? "-ffp-contract=on" : "-ffp-contract=off",
                             arena_printf(ctx->arena, x86 ? "-march=%s" : "-mcpu=%s", cpu)};
    bool generic = !x86 && !strcmp(target->cpu, "generic");
    const char *path = is_text ? source : source_path(ctx->sources, ctx->arena, span, source), *result;
    ClangRun run = {build->options->clang, options, (int)(sizeof options / sizeof *options) - generic, path, is_text};
    if (!clang_run(ctx->arena, &run, &result)) {
        diag_error(ctx, span, "cannot compile the imported C%s%s: %s", is_text ? "" : " of ", is_text ? "" : path, result);
        return NULL;
    }
    if (!is_text)
        record_import(build, path);
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(result, strlen(result), "pragma_import_c");
}

/* --- Fitting the module to ours --- */

static bool same_arch(const char *triple, const char *arch)
{
    size_t length = strcspn(triple, "-");
    return !length || (length == strlen(arch) && !strncmp(triple, arch, length));
}

static bool is_extern(const LlvmBuild *build, const char *name)
{
    for (int i = 0; i < build->options->extern_count; i++)
        if (!strcmp(build->options->extern_names[i], name))
            return true;
    return false;
}

static void remove_attribute(LLVMValueRef function, const char *name)
{
    LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

/* Free to be inlined: compilers mark what they compile without optimization as never to be touched. A function that names no processor gets
   ours. */
static void prepare_function(LlvmBuild *build, LLVMValueRef function)
{
    remove_attribute(function, "optnone");
    remove_attribute(function, "noinline");
    if (!LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, "target-cpu", sizeof "target-cpu" - 1))
        llvm_target_set_function(&build->target, function);
}

static bool is_visible(LLVMValueRef value)
{
    LLVMLinkage linkage = LLVMGetLinkage(value);
    return !LLVMIsDeclaration(value) && linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage && linkage != LLVMAppendingLinkage;
}

/* The names that MODULE defines for others, in *FUNCTIONS and *GLOBALS. */
typedef VEC(Str) NameList;
static void list_visible(LlvmBuild *build, LLVMModuleRef module, NameList *functions, NameList *globals)
{
    size_t length;
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
        if (!LLVMIsDeclaration(function))
            prepare_function(build, function);
        if (is_visible(function))
            vec_push(build->ctx->arena, functions, context_intern(build->ctx, LLVMGetValueName2(function, &length)));
    }
    for (LLVMValueRef global = LLVMGetFirstGlobal(module); global; global = LLVMGetNextGlobal(global))
        if (is_visible(global))
            vec_push(build->ctx->arena, globals, context_intern(build->ctx, LLVMGetValueName2(global, &length)));
}

static void make_internal(const LlvmBuild *build, LLVMValueRef value, const char *name)
{
    if (!value || LLVMIsDeclaration(value) || is_extern(build, name))
        return;
    LLVMSetComdat(value, NULL);
    LLVMSetVisibility(value, LLVMDefaultVisibility);
    LLVMSetLinkage(value, LLVMInternalLinkage);
}

/* Names that stay visible when the module is linked into ours must not be defined twice; internal ones would be renamed silently, and calls
   would miss them. */
static bool check_names(LlvmUnit *unit, LLVMModuleRef imported, Span span)
{
    bool ok = true;
    for (LLVMValueRef function = LLVMGetFirstFunction(imported); function; function = LLVMGetNextFunction(function)) {
        size_t length;
        const char *name = LLVMGetValueName2(function, &length);
        LLVMValueRef ours = LLVMGetNamedFunction(unit->module, name);
        if (!is_visible(function) || !ours || LLVMIsDeclaration(ours))
            continue;
        diag_error(unit->build->ctx, span, "imported LLVM IR defines '%s' a second time", name);
        ok = false;
    }
    return ok;
}

static bool link_module(LlvmUnit *unit, LLVMModuleRef imported, Span span)
{
    LlvmBuild *build = unit->build;
    const char *triple = LLVMGetTarget(imported);
    if (!same_arch(triple, build->target.arch)) {
        diag_error(build->ctx, span, "imported LLVM IR is for %s, but the target is %s", triple, build->target.triple);
        LLVMDisposeModule(imported);
        return false;
    }
    if (!check_names(unit, imported, span)) {
        LLVMDisposeModule(imported);
        return false;
    }
    llvm_target_set_module(&build->target, imported);
    NameList functions = {0}, globals = {0};
    list_visible(build, imported, &functions, &globals);
    if (LLVMLinkModules2(unit->module, imported))
        return false;
    /* Only now: as long as they are visible, the linker brings them all and resolves declarations by name. */
    for (int i = 0; i < functions.count; i++)
        make_internal(build, LLVMGetNamedFunction(unit->module, functions.data[i]), functions.data[i]);
    for (int i = 0; i < globals.count; i++)
        make_internal(build, LLVMGetNamedGlobal(unit->module, globals.data[i]), globals.data[i]);
    unit->has_imports = true;
    return true;
}

static bool import_source(LlvmUnit *unit, bool is_c, const char *source, Span span)
{
    LlvmBuild *build = unit->build;
    LLVMMemoryBufferRef buffer = is_c ? compile_source(build, source, span) : open_source(build, source, span);
    LLVMModuleRef imported;
    char *message;
    if (!buffer)
        return false;
    if (LLVMParseIRInContext(build->llvm, buffer, &imported, &message)) {
        diag_error(build->ctx, span, "cannot parse the imported LLVM IR: %s", message);
        LLVMDisposeMessage(message);
        return false;
    }
    return link_module(unit, imported, span);
}

static bool import_value(LlvmUnit *unit, bool is_c, const AttrValue *value, Span span, Map *seen)
{
    Context *ctx = unit->build->ctx;
    bool ok = true;
    for (int i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        ok &= import_value(unit, is_c, value->items[i], span, seen);
    if (value->kind != ATTR_EXPR)
        return ok;
    if (value->expr->kind != EXPR_STRING) {
        diag_error(ctx, span, is_c ? "imported C must be a string: the text, or the path of a file"
                                   : "imported LLVM IR must be a string: the text of a module, or the path of a .ll or .bc file");
        return false;
    }
    Str source = context_intern(ctx, value->expr->value.text);
    if (map_has(seen, source))
        return true;
    map_set(ctx->arena, seen, source, (void *)source);
    return import_source(unit, is_c, source, value->expr->span.file ? value->expr->span : span);
}

bool llvm_unit_import(LlvmUnit *unit, const Func *func, Map *seen)
{
    const AttrValue *modules = attrs_get(func->attrs, "tirc.import_llvm"), *texts = attrs_get(func->attrs, "tirc.import_c");
    return (!modules || import_value(unit, false, modules, func->name_span, seen)) &&
           (!texts || import_value(unit, true, texts, func->name_span, seen));
}
