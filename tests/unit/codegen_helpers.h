/* What the code generation tests share: making lowered functions by hand, running them through the JIT. */
#ifndef TIRC_TESTS_CODEGEN_HELPERS_H
#define TIRC_TESTS_CODEGEN_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/jit.h"
#include "ir/signature.h"

/* A function in the making. */
typedef struct {
    Context *ctx;
    Str name;
    Param params[8];
    int param_count;
    Attrs attrs;
} Maker;

static inline Maker maker_new(Context *ctx, const char *name)
{
    return (Maker){.ctx = ctx, .name = context_intern(ctx, name)};
}

/* A flat buffer parameter of EXTENT elements. */
static inline Buffer *maker_buffer_of(Maker *maker, const char *name, DType dtype, const Expr *extent)
{
    Str text = context_intern(maker->ctx, name);
    Buffer *buffer = buffer_new(maker->ctx, text, dtype, 1, &extent, NULL, span_none());
    maker->params[maker->param_count++] = (Param){.param = var_new(maker->ctx, text, DTYPE_HANDLE, span_none()), .buffer = buffer};
    return buffer;
}

static inline Buffer *maker_buffer(Maker *maker, const char *name, DType dtype, int64_t extent)
{
    return maker_buffer_of(maker, name, dtype, expr_int(maker->ctx, DTYPE_INT64, extent));
}

static inline Var *maker_scalar(Maker *maker, const char *name, DType dtype)
{
    Var *var = var_new(maker->ctx, context_intern(maker->ctx, name), dtype, span_none());
    maker->params[maker->param_count++] = (Param){.param = var};
    return var;
}

static inline const Func *maker_func(Maker *maker, const Stmt *body)
{
    Func *func = ARENA_NEW(maker->ctx->arena, Func);
    *func = (Func){.name = maker->name, .param_count = maker->param_count, .attrs = maker->attrs, .return_type = DTYPE_VOID, .body = body};
    func->params = arena_copy(maker->ctx->arena, maker->params, sizeof *maker->params * (size_t)maker->param_count);
    return func;
}

static inline const Expr *load_at(Context *ctx, Buffer *buffer, const Expr *index)
{
    return expr_load(ctx, buffer, &index, 1, NULL, span_none());
}

static inline const Stmt *store_at(Context *ctx, Buffer *buffer, const Expr *index, const Expr *value)
{
    return stmt_store(ctx, buffer, &index, 1, value, NULL, span_none());
}

static inline const Expr *int32(Context *ctx, int64_t value)
{
    return expr_int(ctx, DTYPE_INT32, value);
}

/* base, base + 1, ... over LANES lanes. */
static inline const Expr *ramp(Context *ctx, const Expr *base, int64_t stride, int lanes)
{
    return expr_ramp(ctx, base, expr_int(ctx, base->dtype, stride), lanes);
}

static inline const Stmt *loop(Context *ctx, Var *var, const Expr *extent, const Stmt *body)
{
    return stmt_for_serial(ctx, var, NULL, extent, body, span_none());
}

static inline const Stmt *loop_kind(Context *ctx, ForKind kind, Var *var, const Expr *extent, const Stmt *body)
{
    return stmt_for(ctx, (ForStmt){.var = var, .min = expr_int(ctx, var->dtype, 0), .extent = extent, .kind = kind, .body = body},
                    span_none());
}

static inline Var *index_var(Context *ctx, const char *name)
{
    return var_new(ctx, context_intern(ctx, name), DTYPE_INT32, span_none());
}

static inline const Expr *call(Context *ctx, DType dtype, Op op, int count, ...)
{
    const Expr *args[8];
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        args[i] = va_arg(list, const Expr *);
    va_end(list);
    return expr_call(ctx, dtype, op, args, count, span_none());
}

static inline const Module *module_of(Context *ctx, const Func *const *funcs, int count)
{
    Module *module = ARENA_NEW(ctx->arena, Module);
    *module = (Module){.name = context_intern(ctx, "Module"), .func_count = count};
    module->funcs = arena_copy(ctx->arena, funcs, sizeof *funcs * (size_t)count);
    return module;
}

/* Fails the test with the diagnostics on the terminal unless OK. */
static inline void require_ok(Context *ctx, bool ok)
{
    if (!ok)
        diag_flush(ctx, stderr, false);
    assert_true(ok);
}

static inline Jit *jit_with(Context *ctx, const Func *const *funcs, int count, const CodegenOptions *options)
{
    Jit *jit = jit_open(ctx);
    require_ok(ctx, jit != NULL);
    require_ok(ctx, jit_add_module(jit, module_of(ctx, funcs, count), options ? *options : codegen_default_options(), NULL));
    return jit;
}

static inline JitFunction find(Context *ctx, Jit *jit, const char *name)
{
    JitFunction function = jit_find(jit, context_intern(ctx, name));
    require_ok(ctx, function != NULL);
    return function;
}

/* Compiles FUNC, calls it once and gives its result. */
static inline int run(Context *ctx, const Func *func, const JitArg *args, const CodegenOptions *options)
{
    Jit *jit = jit_with(ctx, &func, 1, options);
    int code = find(ctx, jit, func->name)(args);
    jit_close(jit);
    return code;
}

/* The first diagnostic that compiling FUNC into an object gives. The test fails if there is none. */
static inline const char *refusal(Context *ctx, const Func *func, const CodegenOptions *options)
{
    CodegenOptions defaults = codegen_default_options();
    CodegenOutput out;
    DiagMark mark = diag_mark(ctx);
    assert_false(backend_find(NULL)->compile(ctx, module_of(ctx, &func, 1), options ? options : &defaults, 1u << EMIT_OBJECT, &out));
    const char *text = diag_first_error(ctx, mark);
    assert_non_null(text);
    return text;
}

#endif
