/* The back end's main line: a lowered module into bytes. */
#include "codegen/llvm/llvm_module.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Linker.h>
#include <string.h>
#include <time.h>

#include "codegen/llvm/llvm_debug.h"
#include "codegen/llvm/llvm_trial.h"
#include "ir/signature.h"
#include "support/bug.h"
#include "support/warning.h"

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- The LLVM context --- */

static void release_llvm(void *handle)
{
    LLVMContextDispose(handle);
}

/* What LLVM has to say while it links or generates code. */
static void report_diagnostic(LLVMDiagnosticInfoRef info, void *data)
{
    Context *ctx = data;
    char *text = LLVMGetDiagInfoDescription(info);
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity == LLVMDSError)
        diag_error(ctx, span_none(), "LLVM: %s", text);
    else if (severity == LLVMDSWarning)
        diag_warning(ctx, WARNING_BACKEND, span_none(), "LLVM: %s", text);
    LLVMDisposeMessage(text);
}

static void report_fatal_error(const char *reason)
{
    BUG("LLVM: %s", reason);
}

static LLVMContextRef llvm_context(Context *ctx)
{
    if (!ctx->llvm.handle) {
        LLVMInstallFatalErrorHandler(report_fatal_error);
        LLVMContextRef llvm = LLVMContextCreate();
        LLVMContextSetDiagnosticHandler(llvm, report_diagnostic, ctx);
        ctx->llvm = (Resource){llvm, release_llvm};
    }
    return ctx->llvm.handle;
}

static void set_types(LlvmBuild *build)
{
    LLVMContextRef llvm = build->llvm;
    build->void_type = LLVMVoidTypeInContext(llvm);
    build->i1 = LLVMInt1TypeInContext(llvm);
    build->i8 = LLVMInt8TypeInContext(llvm);
    build->i16 = LLVMInt16TypeInContext(llvm);
    build->i32 = LLVMInt32TypeInContext(llvm);
    build->i64 = LLVMInt64TypeInContext(llvm);
    build->half = LLVMHalfTypeInContext(llvm);
    build->f32 = LLVMFloatTypeInContext(llvm);
    build->f64 = LLVMDoubleTypeInContext(llvm);
    build->pointer = LLVMPointerTypeInContext(llvm, 0);
}

/* --- Units --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void open_unit(LlvmBuild *build, LlvmUnit *unit, UnitKind kind)
{
    const char *name = build->options->source_name ? base_name(build->options->source_name) : "module";
    *unit = (LlvmUnit){.build = build, .kind = kind, .module = LLVMModuleCreateWithNameInContext(name, build->llvm)};
    llvm_target_set_module(&build->target, unit->module);
    llvm_debug_open(unit);
}

static void close_units(LlvmUnit *units)
{
    for (int i = 0; i < UNIT_COUNT; i++)
        if (units[i].module) {
            llvm_debug_close(&units[i]);
            LLVMDisposeModule(units[i].module);
        }
}

/* Imports come first, so that calls can be checked against them; then all declarations, so that functions of the program can call each
   other. */
static void translate_unit(LlvmUnit *unit, const Module *module, const UnitKind *kinds)
{
    Map seen = {0};
    bool ok = true;
    for (int i = 0; i < module->func_count; i++)
        if (kinds[i] == unit->kind)
            ok &= llvm_unit_import(unit, module->funcs[i], &seen);
    if (!ok)
        return;
    for (int i = 0; i < module->func_count; i++)
        llvm_unit_declare(unit, module->funcs[i]);
    for (int i = 0; i < module->func_count; i++)
        if (kinds[i] == unit->kind)
            llvm_unit_define(unit, module->funcs[i]);
    llvm_debug_close(unit);
}

static void translate(LlvmBuild *build, LlvmUnit *units, const Module *module)
{
    UnitKind *kinds = ARENA_ARRAY(build->ctx->arena, UnitKind, module->func_count);
    for (int i = 0; i < module->func_count; i++) {
        kinds[i] = llvm_unit_of(build->ctx, module->funcs[i]);
        if (!units[kinds[i]].module)
            open_unit(build, &units[kinds[i]], kinds[i]);
    }
    for (int kind = 0; kind < UNIT_COUNT; kind++)
        if (units[kind].module)
            translate_unit(&units[kind], module, kinds);
}

/* What we emit is well formed; a call of an LLVM intrinsic by name may break rules that only LLVM knows. */
static bool verify_unit(LlvmUnit *unit)
{
    char *message = NULL;
    bool broken = LLVMVerifyModule(unit->module, LLVMReturnStatusAction, &message);
    if (broken)
        diag_error(unit->build->ctx, span_none(), "LLVM rejects the translated program: %.*s", (int)strcspn(message, "\n"), message);
    LLVMDisposeMessage(message);
    return !broken;
}

static bool optimize(LlvmUnit *units)
{
    for (int i = 0; i < UNIT_COUNT; i++)
        if (units[i].module && (!verify_unit(&units[i]) || !llvm_unit_optimize(&units[i])))
            return false;
    return true;
}

/* Private functions stay callable across units until here. */
static void make_private(Context *ctx, LLVMModuleRef linked, const Module *module)
{
    for (int i = 0; i < module->func_count; i++)
        if (module->funcs[i]->is_private)
            LLVMSetLinkage(LLVMGetNamedFunction(linked, func_signature(ctx, module->funcs[i])->symbol), LLVMInternalLinkage);
}

/* All units in one module, which takes the place of the first; NULL after a diagnostic. */
static LLVMModuleRef link_units(LlvmBuild *build, LlvmUnit *units, const Module *module)
{
    if (!units[UNIT_SCALAR].module && !units[UNIT_VECTOR].module)
        open_unit(build, &units[UNIT_SCALAR], UNIT_SCALAR);
    LlvmUnit *first = &units[units[UNIT_SCALAR].module ? UNIT_SCALAR : UNIT_VECTOR];
    if (first->kind == UNIT_SCALAR && units[UNIT_VECTOR].module) {
        LLVMModuleRef second = units[UNIT_VECTOR].module;
        units[UNIT_VECTOR].module = NULL;
        if (LLVMLinkModules2(first->module, second))
            return NULL;
    }
    make_private(build->ctx, first->module, module);
    return first->module;
}

/* --- Bytes --- */

static CodegenBytes take_bytes(Context *ctx, LLVMMemoryBufferRef buffer)
{
    size_t length = LLVMGetBufferSize(buffer);
    CodegenBytes bytes = {arena_strndup(ctx->arena, LLVMGetBufferStart(buffer), length), length};
    LLVMDisposeMemoryBuffer(buffer);
    return bytes;
}

static CodegenBytes emit_text_ir(Context *ctx, LLVMModuleRef module)
{
    char *text = LLVMPrintModuleToString(module);
    CodegenBytes bytes = {arena_strndup(ctx->arena, text, strlen(text)), strlen(text)};
    LLVMDisposeMessage(text);
    return bytes;
}

/* Code generation changes the module, so all but the last use get a copy. */
static bool emit_machine_code(LlvmBuild *build, LLVMModuleRef module, bool keep, LLVMCodeGenFileType type, CodegenBytes *bytes)
{
    LLVMModuleRef used = keep ? LLVMCloneModule(module) : module;
    char *message = NULL;
    LLVMMemoryBufferRef buffer;
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(build->target.machine, used, type, &message, &buffer);
    if (failed) {
        diag_error(build->ctx, span_none(), "LLVM cannot generate code: %s", message);
        LLVMDisposeMessage(message);
    } else {
        *bytes = take_bytes(build->ctx, buffer);
    }
    if (keep)
        LLVMDisposeModule(used);
    return !failed;
}

typedef struct {
    LLVMTargetMachineRef machine;
    LLVMModuleRef module;
} EmitTrial;

static CodegenBytes try_emit(void *data)
{
    const EmitTrial *trial = data;
    char *message;
    LLVMMemoryBufferRef bytes;
    if (LLVMTargetMachineEmitToMemoryBuffer(trial->machine, trial->module, LLVMObjectFile, &message, &bytes))
        return (CodegenBytes){0};
    return (CodegenBytes){LLVMGetBufferStart(bytes), LLVMGetBufferSize(bytes)};
}

/* Intrinsics that the user names, and imported code, may ask for what the target does not have; LLVM then ends the process. Where it does not, the
   object is there. */
static bool check_emission(LlvmBuild *build, LLVMModuleRef module, CodegenBytes *object)
{
    EmitTrial trial = {build->target.machine, module};
    const char *objection = llvm_trial(build->ctx, try_emit, &trial, object);
    if (!*objection)
        return true;
    diag_error(build->ctx, span_none(), "LLVM cannot generate code for %s (%s): %s", build->target.triple, build->target.cpu, objection);
    return false;
}

/* OBJECT_BYTES: the object, if it is there already. */
static bool emit_kinds(LlvmBuild *build, LLVMModuleRef module, unsigned kinds, CodegenBytes object_bytes)
{
    Context *ctx = build->ctx;
    CodegenOutput *out = build->out;
    bool object = kinds & 1u << EMIT_OBJECT && !object_bytes.data, assembly = kinds & 1u << EMIT_ASSEMBLY;
    if (kinds & 1u << EMIT_OBJECT)
        out->bytes[EMIT_OBJECT] = object_bytes;
    if (kinds & 1u << EMIT_LLVM_IR)
        out->bytes[EMIT_LLVM_IR] = emit_text_ir(ctx, module);
    if (kinds & 1u << EMIT_BITCODE)
        out->bytes[EMIT_BITCODE] = take_bytes(ctx, LLVMWriteBitcodeToMemoryBuffer(module));
    if (assembly && !emit_machine_code(build, module, object, LLVMAssemblyFile, &out->bytes[EMIT_ASSEMBLY]))
        return false;
    return !object || emit_machine_code(build, module, false, LLVMObjectFile, &out->bytes[EMIT_OBJECT]);
}

/* --- The whole --- */

static bool run_phases(LlvmBuild *build, LlvmUnit *units, const Module *module, unsigned kinds, int errors_before)
{
    CodegenTimes *times = &build->out->times;
    double start = seconds_now();
    translate(build, units, module);
    times->translate = seconds_now() - start;
    if (diag_error_count(build->ctx) > errors_before)
        return false;
    start = seconds_now();
    bool ok = optimize(units);
    bool foreign = units[UNIT_SCALAR].has_imports || units[UNIT_SCALAR].has_intrinsics || units[UNIT_VECTOR].has_imports ||
                   units[UNIT_VECTOR].has_intrinsics;
    LLVMModuleRef linked = ok ? link_units(build, units, module) : NULL;
    times->optimize = seconds_now() - start;
    if (!linked)
        return false;
    start = seconds_now();
    CodegenBytes object = {0};
    ok = (!foreign || check_emission(build, linked, &object)) && emit_kinds(build, linked, kinds, object);
    times->emit = seconds_now() - start;
    return ok && diag_error_count(build->ctx) == errors_before;
}

bool llvm_compile(Context *ctx, const Module *module, const CodegenOptions *options, unsigned kinds, CodegenOutput *out)
{
    double start = seconds_now();
    int errors_before = diag_error_count(ctx);
    LlvmUnit units[UNIT_COUNT] = {0};
    *out = (CodegenOutput){0};
    LlvmBuild build = {.ctx = ctx, .options = options, .llvm = llvm_context(ctx), .out = out, .program = module};
    set_types(&build);
    if (!interface_check(ctx, module) || !llvm_target_open(ctx, options, &build.target))
        return false;
    LLVMSetTargetMachineAsmVerbosity(build.target.machine, options->annotated_assembly);
    out->vector_bytes = build.target.vector_bytes;
    out->is_x86 = !strcmp(build.target.arch, "x86_64");
    out->times.setup = seconds_now() - start;
    bool ok = run_phases(&build, units, module, kinds, errors_before);
    close_units(units);
    if (!ok)
        memset(out->bytes, 0, sizeof out->bytes);
    return ok;
}
