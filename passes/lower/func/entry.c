/* Pass "entry": what the declarations of the parameters say of the numbers that define them is asserted before anything else.

     A: T.match_buffer(a, (n, n - 4), elem_offset=off, offset_factor=16)      ->      assert n >= 0, "..."
                                                                                      assert n - 4 >= 0, "..."
                                                                                      assert off % 16 == 0, "..."

   So is what the accesses of the function need of the sizes (passes/regions/needs.h).

   Not here: that the numbers fit the types of their variables, which the generated entry sees before the variables exist. */
#include "ir/signature.h"
#include "ir/walk.h"
#include "passes/lower/core/checks.h"
#include "print/print.h"

typedef struct {
    Context *ctx;
    CheckList list;
    Map seen; /* Vars that are checked */
} EntryChecks;

/* A size is computed as of integers without bounds, and must fit its type. */
static void check_size(EntryChecks *checks, const Buffer *buffer, int dim)
{
    Context *ctx = checks->ctx;
    const Expr *size = buffer->shape[dim];
    if (size->kind == EXPR_VAR) {
        if (map_has(&checks->seen, size->value.var))
            return;
        map_set(ctx->arena, &checks->seen, size->value.var, size->value.var);
    }
    const char *what = arena_printf(ctx->arena, "%s, the extent of dimension %d of '%s',", print_expr(ctx, size), dim, buffer->name);
    const char *large = arena_printf(ctx->arena, "%s is too large for %s", what, dtype_name(ctx, size->dtype));
    const Expr *value = size->kind == EXPR_VAR ? size : checks_exact(&checks->list, size, large, buffer->span);
    checks_require(&checks->list, op_compare(ctx, EXPR_GE, value, expr_int(ctx, value->dtype, 0)), arena_printf(ctx->arena, "%s is negative", what),
                   buffer->span);
    if (size->kind != EXPR_VAR && dtype_is_index(size->dtype) && size->dtype.bits < 64)
        checks_require(&checks->list, op_compare(ctx, EXPR_LE, value, expr_int(ctx, value->dtype, dtype_max_int(size->dtype))), large, buffer->span);
}

static void check_offset(EntryChecks *checks, const Buffer *buffer)
{
    Context *ctx = checks->ctx;
    const Expr *offset = buffer->elem_offset;
    if (buffer->offset_factor <= 1 || offset->kind == EXPR_INT)
        return;
    const Expr *rest = op_floormod(ctx, offset, expr_int(ctx, offset->dtype, buffer->offset_factor));
    const char *message =
        arena_printf(ctx->arena, "the offset of '%s' is no multiple of its offset_factor %d", buffer->name, buffer->offset_factor);
    checks_require(&checks->list, op_compare(ctx, EXPR_EQ, rest, expr_int(ctx, offset->dtype, 0)), message, buffer->span);
}

static bool find_undefined(Visitor *visitor, const Expr *expr)
{
    const Map *defined = visitor->data;
    if (defined && expr->kind == EXPR_VAR && !map_has(defined, expr->value.var))
        visitor->data = NULL;
    return visitor->data != NULL;
}

/* The numbers that the caller gives. */
static Map given_numbers(Context *ctx, const Func *func)
{
    Map given = {0};
    const Signature *signature = func_signature(ctx, func);
    for (int i = 0; i < signature->dim_count; i++)
        map_set(ctx->arena, &given, signature->dims[i], signature->dims[i]);
    for (int i = 0; i < func->param_count; i++)
        if (!func->params[i].buffer)
            map_set(ctx->arena, &given, func->params[i].param, func->params[i].param);
    return given;
}

/* A step may have taken away a size that a need is about. */
static void check_needs(EntryChecks *checks, const Func *func)
{
    Map given = given_numbers(checks->ctx, func);
    for (int i = 0; i < func->need_count; i++) {
        const SizeNeed *need = &func->needs[i];
        Visitor visitor = {.expr = find_undefined, .data = &given};
        visit_expr(&visitor, need->condition);
        if (visitor.data)
            checks_require(&checks->list, need->condition,
                           arena_printf(checks->ctx->arena, "the sizes do not go together: an access leaves dimension %d of '%s'", need->dim, need->buffer->name),
                           need->span);
    }
}

const Func *lower_entry(LowerState *state, const Func *func)
{
    EntryChecks checks = {.ctx = state->ctx, .list = {.ctx = state->ctx}};
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++)
            check_size(&checks, buffer, d);
        if (buffer)
            check_offset(&checks, buffer);
    }
    check_needs(&checks, func);
    return func_with_body(state->ctx, func, checks_around(&checks.list, func->body));
}
