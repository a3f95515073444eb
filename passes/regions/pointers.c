/* See pointers.h. */
#include "passes/regions/pointers.h"

#include "ir/layout.h"
#include "ir/walk.h"

/* Where a pointer leads. */
typedef struct {
    Var *data;
    const Expr *offset; /* in elements of TYPE; NULL: 0, whatever the type */
    DType type;
} Target;

typedef struct {
    Map places;  /* variable of a let -> Target */
    Map buffers; /* Buffer over such a variable -> Buffer over the memory itself */
} Pointers;

static Target place_of_var(const Pointers *pointers, Var *var)
{
    const Target *known = map_get(&pointers->places, var);
    return known ? *known : (Target){.data = var};
}

/* PLACE, OFFSET elements of TYPE further on; without data where the sum is not known to be in elements, and where OFFSET may be another before it
   is used: what is loaded, may. */
static Target place_after(Context *ctx, Target place, const Expr *offset, DType type)
{
    if ((place.offset && !dtype_equal(place.type, type)) || !expr_is_pure(offset))
        return (Target){0};
    const Expr *sum = place.offset ? op_add(ctx, expr_in_int64(ctx, place.offset), expr_in_int64(ctx, offset)) : offset;
    return (Target){place.data, sum, type};
}

/* Where VALUE, of a let, leads; without data where that is not known. */
static Target place_of(Context *ctx, const Pointers *pointers, const Expr *value)
{
    if (value->kind == EXPR_VAR)
        return place_of_var(pointers, value->value.var);
    if (expr_is_call(value, OP_TVM_ACCESS_PTR) && value->args[1]->kind == EXPR_VAR)
        return place_after(ctx, place_of_var(pointers, value->args[1]->value.var), value->args[2], value->args[0]->dtype);
    const Expr *element = expr_is_call(value, OP_ADDRESS_OF) ? value->args[0] : NULL;
    if (!element || element->kind != EXPR_LOAD || element->dtype.lanes != 1)
        return (Target){0};
    const Buffer *buffer = element->value.buffer;
    return place_after(ctx, place_of_var(pointers, buffer->data), buffer_linear_offset(ctx, buffer, element->args), buffer->dtype);
}

static const Stmt *follow_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Pointers *pointers = rewriter->data;
    if (stmt->kind == STMT_LET && stmt->as.let.value->dtype.code == DT_HANDLE) {
        Target place = place_of(rewriter->ctx, pointers, rewrite_expr(rewriter, stmt->as.let.value));
        if (place.data)
            map_set(rewriter->ctx->arena, &pointers->places, stmt->as.let.var, arena_copy(rewriter->ctx->arena, &place, sizeof place));
    }
    return rewrite_stmt_children(rewriter, stmt);
}

/* BUFFER, over PLACE. What it says of the alignment of its own pointer says nothing of that of the memory. */
static Buffer *placed(Context *ctx, const Buffer *buffer, const Target *place)
{
    Buffer *result = buffer_clone(ctx, buffer);
    result->data = place->data;
    if (!place->offset || expr_is_int(place->offset, 0))
        return result;
    bool at_start = expr_is_int(buffer->elem_offset, 0);
    result->elem_offset =
        at_start ? place->offset : op_add(ctx, expr_in_int64(ctx, place->offset), expr_in_int64(ctx, buffer->elem_offset));
    result->data_alignment = result->offset_factor = 0;
    return result;
}

static Buffer *follow_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Pointers *pointers = rewriter->data;
    const Target *place = map_get(&pointers->places, buffer->data);
    if (!place || (place->offset && !dtype_equal(place->type, buffer->dtype)))
        return buffer;
    if (!map_has(&pointers->buffers, buffer))
        map_set(rewriter->ctx->arena, &pointers->buffers, buffer, placed(rewriter->ctx, buffer, place));
    return map_get(&pointers->buffers, buffer);
}

static bool find_pointer(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_LET && stmt->as.let.value->dtype.code == DT_HANDLE;
    return !*(bool *)visitor->data;
}

const Func *func_follow_pointers(Context *ctx, const Func *func)
{
    bool found = false;
    Visitor visitor = {.stmt = find_pointer, .data = &found};
    visit_stmt(&visitor, func->body);
    Pointers pointers = {0};
    Rewriter rewriter = {.ctx = ctx, .stmt = follow_stmt, .buffer = follow_buffer, .data = &pointers};
    const Stmt *body = found ? rewrite_stmt(&rewriter, func->body) : func->body;
    return body == func->body ? func : func_with_body(ctx, func, body);
}
