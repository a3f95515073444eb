/* The JIT on LLVM's ORC. Names are looked up in this order: objects and IR that were added, shared objects that were loaded, the runtime
   inside tirc, the process (libc, libm). */
#include "driver/jit.h"

#include <dlfcn.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/llvm_target.h"
#include "interp/interp.h"
#include "runtime/tirc_rt.h"
#include "support/bug.h"

struct Jit {
    Context *ctx;
    Arena *arena; /* of what is needed to close it */
    LLVMOrcLLJITRef lljit;
    VEC(void *) libraries; /* from dlopen */
    const char *first_error; /* what the linker reported since it was last asked */
};

/* --- Symbols --- */

typedef struct {
    const char *name;
    void *address;
} RuntimeSymbol;

#ifdef __x86_64__
/* libgcc's conversions of float16, which code for processors without F16C calls. They are linked into tirc, but no library exports them. */
extern char __extendhfsf2[], __truncsfhf2[], __truncdfhf2[];
#define CONVERSIONS SYMBOL(__extendhfsf2), SYMBOL(__truncsfhf2), SYMBOL(__truncdfhf2),
#else
#define CONVERSIONS
#endif

#define SYMBOL(name) {#name, (void *)name}
static const RuntimeSymbol runtime_symbols[] = {SYMBOL(tmm16), SYMBOL(tirc_tmm16_is_own), SYMBOL(tirc_parallel_for), SYMBOL(tirc_alloc), SYMBOL(tirc_free),
                                                SYMBOL(tirc_last_error), SYMBOL(tirc_set_error),    CONVERSIONS};
#undef SYMBOL
#undef CONVERSIONS

static void *find_symbol(const Jit *jit, const char *name)
{
    for (int i = 0; i < jit->libraries.count; i++) {
        void *address = dlsym(jit->libraries.data[i], name);
        if (address)
            return address;
    }
    for (size_t i = 0; i < sizeof runtime_symbols / sizeof *runtime_symbols; i++)
        if (!strcmp(runtime_symbols[i].name, name))
            return runtime_symbols[i].address;
    return NULL;
}

/* ORC's question for names that no added object defines. What stays undefined here is looked for in the process by ORC itself. */
static LLVMErrorRef define_symbols(LLVMOrcDefinitionGeneratorRef generator, void *data, LLVMOrcLookupStateRef *state,
                                   LLVMOrcLookupKind kind, LLVMOrcJITDylibRef dylib, LLVMOrcJITDylibLookupFlags flags,
                                   LLVMOrcCLookupSet names, size_t count)
{
    (void)generator, (void)state, (void)kind, (void)flags;
    const Jit *jit = data;
    LLVMOrcCSymbolMapPair *found = ARENA_ARRAY(jit->ctx->arena, LLVMOrcCSymbolMapPair, count);
    size_t found_count = 0;
    for (size_t i = 0; i < count; i++) {
        void *address = find_symbol(jit, LLVMOrcSymbolStringPoolEntryStr(names[i].Name));
        if (!address)
            continue;
        LLVMOrcRetainSymbolStringPoolEntry(names[i].Name);
        found[found_count++] =
            (LLVMOrcCSymbolMapPair){names[i].Name, {(LLVMOrcExecutorAddress)(uintptr_t)address, {LLVMJITSymbolGenericFlagsExported, 0}}};
    }
    return found_count ? LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(found, found_count)) : LLVMErrorSuccess;
}

/* --- Errors --- */

static const char *take_message(Context *ctx, LLVMErrorRef error)
{
    char *message = LLVMGetErrorMessage(error);
    const char *copy = context_intern(ctx, message);
    LLVMDisposeErrorMessage(message);
    return copy;
}

/* What goes wrong while linking is reported here first; the call that asked for it then fails with less to say. */
static void report_error(void *data, LLVMErrorRef error)
{
    Jit *jit = data;
    const char *message = take_message(jit->ctx, error);
    if (!jit->first_error)
        jit->first_error = message;
}

/* ORC's text in our words, where it is about a function that nobody defines. */
static const char *explain(Context *ctx, const char *message)
{
    static const char missing[] = "Symbols not found: [ ";
    if (strncmp(message, missing, sizeof missing - 1))
        return message;
    const char *names = message + sizeof missing - 1;
    return context_internf(ctx, "no definition of %.*s is known; --load=FILE brings one", (int)strcspn(names, " ,]"), names);
}

static bool fail(Jit *jit, LLVMErrorRef error, const char *what)
{
    const char *message = take_message(jit->ctx, error);
    diag_error(jit->ctx, span_none(), "cannot %s: %s", what, explain(jit->ctx, jit->first_error ? jit->first_error : message));
    jit->first_error = NULL;
    return false;
}

/* --- Opening and closing --- */

Jit *jit_open(Context *ctx)
{
    if (!llvm_target_initialize_host(ctx))
        return NULL;
    Jit *jit = xmalloc(sizeof *jit);
    *jit = (Jit){.ctx = ctx, .arena = arena_new()};
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit->lljit, NULL);
    if (error) {
        fail(jit, error, "start the JIT");
        arena_free(jit->arena);
        free(jit);
        return NULL;
    }
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit->lljit), report_error, jit);
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit->lljit),
                                LLVMOrcCreateCustomCAPIDefinitionGenerator(define_symbols, jit, NULL));
    return jit;
}

void jit_close(Jit *jit)
{
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit->lljit);
    if (error)
        LLVMConsumeError(error);
    for (int i = 0; i < jit->libraries.count; i++)
        dlclose(jit->libraries.data[i]);
    arena_free(jit->arena);
    free(jit);
}

/* --- Adding --- */

static bool load_shared(Jit *jit, const char *path)
{
    const char *found = strchr(path, '/') ? path : context_internf(jit->ctx, "./%s", path);
    void *library = dlopen(found, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        diag_error(jit->ctx, span_none(), "cannot load '%s': %s", path, dlerror());
        return false;
    }
    vec_push(jit->arena, &jit->libraries, library);
    return true;
}

static bool load_object(Jit *jit, LLVMMemoryBufferRef object, const char *path)
{
    LLVMErrorRef error = LLVMOrcLLJITAddObjectFile(jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), object);
    return !error || fail(jit, error, context_internf(jit->ctx, "load '%s'", path));
}

static bool load_ir(Jit *jit, LLVMMemoryBufferRef text, const char *path)
{
    LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContext();
    LLVMModuleRef module;
    char *message;
    bool ok = false;
    if (LLVMParseIRInContext(LLVMOrcThreadSafeContextGetContext(context), text, &module, &message)) {
        diag_error(jit->ctx, span_none(), "cannot load '%s': %s", path, message);
        LLVMDisposeMessage(message);
    } else {
        LLVMSetDataLayout(module, LLVMOrcLLJITGetDataLayoutStr(jit->lljit));
        LLVMOrcThreadSafeModuleRef safe = LLVMOrcCreateNewThreadSafeModule(module, context);
        LLVMErrorRef error = LLVMOrcLLJITAddLLVMIRModule(jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), safe);
        ok = !error || fail(jit, error, context_internf(jit->ctx, "load '%s'", path));
    }
    LLVMOrcDisposeThreadSafeContext(context);
    return ok;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), suffix_length = strlen(suffix);
    return length >= suffix_length && !strcmp(path + length - suffix_length, suffix);
}

bool jit_load(Jit *jit, const char *path)
{
    bool is_ir = has_suffix(path, ".ll") || has_suffix(path, ".bc"), is_object = has_suffix(path, ".o");
    if (has_suffix(path, ".so"))
        return load_shared(jit, path);
    if (!is_ir && !is_object) {
        diag_error(jit->ctx, span_none(), "cannot load '%s': neither .so, .o, .ll nor .bc", path);
        return false;
    }
    LLVMMemoryBufferRef buffer;
    char *message;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        diag_error(jit->ctx, span_none(), "cannot load '%s': %s", path, message);
        LLVMDisposeMessage(message);
        return false;
    }
    return is_ir ? load_ir(jit, buffer, path) : load_object(jit, buffer, path);
}

bool jit_add_module(Jit *jit, const Module *module, CodegenOptions options, CodegenOutput *out)
{
    CodegenOutput own;
    out = out ? out : &own;
    options.entry_points = true;
    if (!llvm_target_runs_here(jit->ctx, &options) || !backend_find("llvm")->compile(jit->ctx, module, &options, 1u << EMIT_OBJECT, out))
        return false;
    const CodegenBytes *object = &out->bytes[EMIT_OBJECT];
    return load_object(jit, LLVMCreateMemoryBufferWithMemoryRangeCopy(object->data, object->length, "program"), "program");
}

/* The address of NAME, which is part of the function SYMBOL. */
static LLVMOrcExecutorAddress look_up(Jit *jit, const char *name, Str symbol)
{
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef error = LLVMOrcLLJITLookup(jit->lljit, &address, name);
    if (error)
        fail(jit, error, context_internf(jit->ctx, "run '%s'", symbol));
    return error ? 0 : address;
}

JitFunction jit_find(Jit *jit, Str symbol)
{
    return (JitFunction)(uintptr_t)look_up(jit, codegen_entry_symbol(jit->ctx, symbol), symbol);
}

void *jit_find_exported(Jit *jit, Str symbol)
{
    return (void *)(uintptr_t)look_up(jit, symbol, symbol);
}

/* --- Arguments --- */

JitArg jit_arg_integer(DType dtype, int64_t value)
{
    return (JitArg){.integer = dtype_wrap(dtype, value)};
}

JitArg jit_arg_real(DType dtype, double value)
{
    JitArg arg = {.integer = 0};
    if (dtype.bits == 64)
        arg.float64 = value;
    else if (dtype.bits == 32)
        arg.float32 = (float)value;
    else
        interp_write_real(dtype, &arg.bits16, dtype_round_float(dtype, value));
    return arg;
}

const JitArg *jit_arguments(Context *ctx, const ArgData *data)
{
    int count = data->func->param_count;
    JitArg *args = ARENA_ARRAY(ctx->arena, JitArg, count + data->signature->dim_count);
    for (int i = 0; i < count; i++) {
        const InterpArg *arg = &data->items[i].arg;
        DType type = arg->scalar.dtype;
        if (data->items[i].param->buffer || type.code == DT_HANDLE)
            args[i].pointer = arg->data;
        else
            args[i] = dtype_is_float(type) ? jit_arg_real(type, arg->scalar.as.real) : jit_arg_integer(type, arg->scalar.as.integer);
    }
    for (int i = 0; i < data->signature->dim_count; i++)
        args[count + i].integer = data->dims[i];
    return args;
}
