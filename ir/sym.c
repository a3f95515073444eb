/* Making symbols; see sym.h. */
#include "ir/sym.h"

#include <string.h>

#include "ir/expr.h"
#include "support/bug.h"

Var *var_new(Context *ctx, Str name, DType dtype, Span span)
{
    Var *var = ARENA_NEW(ctx->arena, Var);
    *var = (Var){.name = name, .dtype = dtype, .id = ++ctx->next_symbol, .span = span, .pointee = DTYPE_VOID};
    ctx->has_scalable |= dtype_is_scalable(dtype);
    return var;
}

Var *var_new_pointer(Context *ctx, Str name, DType pointee, Str scope, Span span)
{
    Var *var = var_new(ctx, name, DTYPE_HANDLE, span);
    var->pointee = pointee;
    var->pointee_scope = scope;
    ctx->has_scalable |= dtype_is_scalable(pointee);
    return var;
}

Var *var_clone(Context *ctx, const Var *var, Str name)
{
    Var *clone = ARENA_NEW(ctx->arena, Var);
    *clone = *var;
    clone->name = name;
    clone->id = ++ctx->next_symbol;
    return clone;
}

Block *block_new(Context *ctx, Str name, Span span)
{
    Block *block = ARENA_NEW(ctx->arena, Block);
    *block = (Block){name, ++ctx->next_symbol, span};
    return block;
}

Buffer *buffer_new(Context *ctx, Str name, DType dtype, int ndim, const Expr *const *shape, Str scope, Span span)
{
    Buffer *buffer = ARENA_NEW(ctx->arena, Buffer);
    if (!scope)
        scope = context_intern(ctx, "global");
    *buffer = (Buffer){.name = name, .dtype = dtype, .id = ++ctx->next_symbol, .span = span, .ndim = ndim, .scope = scope};
    buffer->data = var_new_pointer(ctx, name, dtype, scope, span);
    buffer->shape = arena_copy(ctx->arena, shape, sizeof *shape * (size_t)ndim);
    buffer->elem_offset = expr_int(ctx, buffer_index_dtype(buffer), 0);
    return buffer;
}

Buffer *buffer_clone(Context *ctx, const Buffer *buffer)
{
    Buffer *clone = ARENA_NEW(ctx->arena, Buffer);
    *clone = *buffer;
    clone->id = ++ctx->next_symbol;
    return clone;
}

Buffer *buffer_clone_fresh(Context *ctx, const Buffer *buffer, Str name, Str scope)
{
    Buffer *clone = buffer_clone(ctx, buffer);
    clone->name = name;
    clone->scope = scope;
    clone->data = var_new_pointer(ctx, name, buffer->dtype, scope, buffer->span);
    return clone;
}

DType buffer_index_dtype(const Buffer *buffer)
{
    return buffer->ndim ? dtype_scalar(buffer->shape[0]->dtype) : DTYPE_INT32;
}

static bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

bool scope_is_shared_by(Str scope, Str thread)
{
    if (!thread)
        return false;
    if (starts_with(scope, "warp"))
        return !strcmp(thread, "threadIdx.x");
    return scope_class(scope) == SCOPE_SHARED && !starts_with(thread, "blockIdx");
}

ScopeClass scope_class(Str scope)
{
    if (starts_with(scope, "shared") || starts_with(scope, "warp"))
        return SCOPE_SHARED;
    return starts_with(scope, "local") || starts_with(scope, "wmma") || starts_with(scope, "m16n8k8") ? SCOPE_LOCAL : SCOPE_GLOBAL;
}
