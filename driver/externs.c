/* The interpreter's calls of extern functions: what --load brings, and what the program imports as LLVM IR.

   Only compiled code knows how a C function is called. So each different call (name, types) gets a small function of its own, compiled in
   this process, that takes the arguments of the call and stores its result:

     @T.prim_func
     def call(p0: T.handle, p1: T.int32, result: T.Buffer((1,), "float32")):
         result[0] = T.call_extern("float32", "name", p0, p1)

   The function gets the interpreter's own memory: what it does beside the elements that it may touch is not found. tmm16 is what the
   interpreter says, whatever is loaded. */
#include "driver/externs.h"

#include <string.h>

#include "driver/jit.h"
#include "ir/walk.h"

typedef struct {
    Str key;
    JitFunction function; /* NULL: there is no such function */
} ExternCall;

struct Externs {
    Driver *driver;
    Jit *jit;
    Attrs imports; /* of the compiled functions: the LLVM IR and the C that the program imports */
    VEC(ExternCall) calls;
};

/* What FUNC imports is known once it is lowered; one that cannot be lowered imports nothing. */
static Attrs find_imports(Driver *driver, const Module *module, const Func *func)
{
    Context *ctx = driver->ctx;
    Attrs imports = {0};
    DiagMark mark = diag_mark(ctx);
    const Module *lowered = driver_lower(driver, module, false);
    const Func *found = lowered ? module_find(lowered, func->name) : NULL;
    diag_rollback(ctx, mark);
    static const char *const keys[] = {"tirc.import_llvm", "tirc.import_c"};
    for (int i = 0; i < 2; i++) {
        const AttrValue *value = found ? attrs_get(found->attrs, keys[i]) : NULL;
        imports = value ? attrs_set(ctx, imports, context_intern(ctx, keys[i]), value) : imports;
    }
    return imports;
}

static bool is_extern(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr_is_call(expr, OP_CALL_EXTERN) || expr_is_call(expr, OP_CALL_FUNC) || expr_is_call(expr, OP_CALL_PURE_EXTERN);
    return true;
}

static bool uses_externs(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.expr = is_extern, .data = &found};
    visit_stmt(&visitor, stmt);
    return found;
}

/* What is imported must compile, whoever calls it: a call that finds no function does not tell why. */
static bool compile_imports(Externs *externs, Span span)
{
    Driver *driver = externs->driver;
    Context *ctx = driver->ctx;
    Func func = {.name = context_intern(ctx, "extern_imports"),
                 .span = span,
                 .attrs = externs->imports,
                 .body = stmt_evaluate(ctx, expr_int(ctx, DTYPE_INT32, 0), span_none())};
    const Func *funcs = arena_copy(ctx->arena, &func, sizeof func);
    Module module = {.bare = true, .funcs = &funcs, .func_count = 1};
    const Module *lowered = driver_lower(driver, &module, false);
    return lowered && jit_add_module(externs->jit, lowered, driver_codegen_options(driver), NULL);
}

bool externs_open(Driver *driver, const Module *module, const Func *func, Externs **externs)
{
    *externs = NULL;
    if (!uses_externs(func->body))
        return true;
    Attrs imports = find_imports(driver, module, func);
    if (!driver->options.load.count && !imports.count)
        return true;
    *externs = ARENA_NEW(driver->ctx->arena, Externs);
    **externs = (Externs){.driver = driver, .imports = imports, .jit = driver_open_jit(driver)};
    return (*externs)->jit && (!imports.count || compile_imports(*externs, func->span));
}

void externs_close(Externs *externs)
{
    if (externs && externs->jit)
        jit_close(externs->jit);
}

/* What makes two calls one. */
static Str call_key(Context *ctx, const char *name, const InterpValue *args, int count, DType result)
{
    Str key = context_internf(ctx, "%s %s", dtype_name(ctx, result), name);
    for (int i = 0; i < count; i++)
        key = context_internf(ctx, "%s, %s", key, dtype_name(ctx, args[i].dtype));
    return key;
}

static const Stmt *call_body(Context *ctx, const char *name, const Param *params, int count, Buffer *result)
{
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, count + 1);
    args[0] = expr_string(ctx, context_intern(ctx, name));
    for (int i = 0; i < count; i++)
        args[i + 1] = expr_var(ctx, params[i].param);
    const Expr *call = expr_call(ctx, result ? result->dtype : DTYPE_VOID, OP_CALL_EXTERN, args, count + 1, span_none());
    const Expr *zero = expr_int(ctx, DTYPE_INT32, 0);
    return result ? stmt_store(ctx, result, &zero, 1, call, NULL, span_none()) : stmt_evaluate(ctx, call, span_none());
}

/* The function that makes such a call; its last parameter takes the result, unless there is none. */
static const Func *call_func(const Externs *externs, Str symbol, const char *name, const InterpValue *args, int count, DType type)
{
    Context *ctx = externs->driver->ctx;
    Param *params = ARENA_ARRAY(ctx->arena, Param, count + 1);
    for (int i = 0; i < count; i++)
        params[i].param = var_new(ctx, context_internf(ctx, "p%d", i), args[i].dtype, span_none());
    Buffer *result = NULL;
    if (type.code != DT_VOID) {
        const Expr *one = expr_int(ctx, DTYPE_INT32, 1);
        result = buffer_new(ctx, context_intern(ctx, "result"), type, 1, &one, NULL, span_none());
        params[count] = (Param){.param = var_new(ctx, context_intern(ctx, "result"), DTYPE_HANDLE, span_none()), .buffer = result};
    }
    Func func = {.name = symbol,
                 .params = params,
                 .param_count = count + (result != NULL),
                 .attrs = externs->imports,
                 .body = call_body(ctx, name, params, count, result)};
    return arena_copy(ctx->arena, &func, sizeof func);
}

/* Compiles the call; NULL where nobody defines the function. */
static JitFunction compile_call(Externs *externs, const char *name, const InterpValue *args, int count, DType type)
{
    Driver *driver = externs->driver;
    Context *ctx = driver->ctx;
    Str symbol = context_internf(ctx, "extern_call.%d", externs->calls.count);
    const Func *func = call_func(externs, symbol, name, args, count, type);
    Module module = {.bare = true, .funcs = &func, .func_count = 1};
    DiagMark mark = diag_mark(ctx);
    const Module *lowered = driver_lower(driver, &module, false);
    JitFunction function =
        lowered && jit_add_module(externs->jit, lowered, driver_codegen_options(driver), NULL) ? jit_find(externs->jit, symbol) : NULL;
    diag_rollback(ctx, mark);
    return function;
}

static JitFunction find_call(Externs *externs, const char *name, const InterpValue *args, int count, DType type)
{
    Context *ctx = externs->driver->ctx;
    Str key = call_key(ctx, name, args, count, type);
    for (int i = 0; i < externs->calls.count; i++)
        if (externs->calls.data[i].key == key)
            return externs->calls.data[i].function;
    ExternCall call = {key, compile_call(externs, name, args, count, type)};
    vec_push(ctx->arena, &externs->calls, call);
    return call.function;
}

bool externs_call(void *data, const char *name, const InterpValue *args, int count, InterpValue *result)
{
    Externs *externs = data;
    JitFunction function = strcmp(name, "tmm16") ? find_call(externs, name, args, count, result->dtype) : NULL;
    if (!function)
        return false;
    JitArg slots[count + 1];
    uint64_t bits = 0;
    for (int i = 0; i < count; i++) {
        DType type = args[i].dtype;
        if (type.code == DT_HANDLE)
            slots[i].pointer = args[i].as.pointer;
        else
            slots[i] = dtype_is_float(type) ? jit_arg_real(type, args[i].as.real) : jit_arg_integer(type, args[i].as.integer);
    }
    slots[count].pointer = &bits;
    function(slots);
    if (dtype_is_float(result->dtype))
        result->as.real = interp_read_real(result->dtype, &bits);
    else if (result->dtype.code != DT_VOID)
        result->as.integer = interp_read_integer(result->dtype, &bits);
    return true;
}
