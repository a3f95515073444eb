/* unsafe_set_dtype: a buffer with elements of another type.

   Before, unsafe_set_dtype("B", 0, "float16")     After
     B = T.alloc_buffer((128,))                      B = T.alloc_buffer((128,), "float16")
     ... B[vi] = A[vi] * 2                           ... B[vi] = T.Cast("float16", A[vi] * 2)
     ... C[vi] = B[vi] + 1                           ... C[vi] = T.Cast("float32", B[vi]) + 1

   Views of the buffer (match_buffer) follow. What the new type does not hold is lost: whoever takes the step answers for this. What must hold: a block
   allocates the buffer, and every use goes through its elements, for a pointer would find elements of another size. */
#include <string.h>

#include "ir/walk.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/storage.h"

typedef struct {
    Schedule *sch;
    Map buffers; /* the buffer and its views, old to new */
    DType dtype;
    bool refused;
} TypeChange;

static void add_changed(TypeChange *change, const Buffer *buffer)
{
    Context *ctx = change->sch->ctx;
    Buffer *changed = buffer_clone_fresh(ctx, buffer, buffer->name, buffer->scope);
    changed->dtype = change->dtype;
    changed->data = var_new_pointer(ctx, buffer->data->name, change->dtype, buffer->scope, buffer->span);
    map_set(ctx->arena, &change->buffers, buffer, changed);
}

static bool collect_views(Visitor *visitor, const Stmt *stmt)
{
    TypeChange *change = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        if (map_has(&change->buffers, stmt->as.block.matches[i].source.buffer))
            add_changed(change, stmt->as.block.matches[i].target);
    return true;
}

static void refuse_pointer(TypeChange *change, const Buffer *buffer, Span span)
{
    if (!change->refused) {
        sched_refuse(change->sch, "the program takes a pointer to '%s', behind which the elements have the type %s", buffer->name,
                     dtype_name(change->sch->ctx, buffer->dtype));
        sched_note(change->sch, span, "the pointer is taken here");
    }
    change->refused = true;
}

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    TypeChange *change = visitor->data;
    if (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD && map_has(&change->buffers, expr->args[0]->value.buffer))
        refuse_pointer(change, expr->args[0]->value.buffer, expr->span);
    for (int i = 0; expr->kind == EXPR_VAR && i < change->buffers.count; i++) {
        const Buffer *buffer = change->buffers.entries[i].key;
        if (buffer->data == expr->value.var)
            refuse_pointer(change, buffer, expr->span);
    }
    return true;
}

static bool find_declaration(Visitor *visitor, const Stmt *stmt)
{
    TypeChange *change = visitor->data;
    for (int i = 0; stmt->kind == STMT_DECL_BUFFER && i < change->buffers.count; i++) {
        const Buffer *buffer = change->buffers.entries[i].key;
        if (buffer->data == stmt->as.declare.buffer->data)
            refuse_pointer(change, buffer, stmt->span);
    }
    return true;
}

static Buffer *changed_buffer(Rewriter *rewriter, Buffer *buffer)
{
    TypeChange *change = rewriter->data;
    Buffer *changed = map_get(&change->buffers, buffer);
    return changed ? changed : buffer;
}

static const Expr *change_load(Rewriter *rewriter, const Expr *expr)
{
    TypeChange *change = rewriter->data;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || !map_has(&change->buffers, expr->value.buffer))
        return result;
    return op_cast(rewriter->ctx, expr->dtype, result);
}

static const Stmt *change_store(Rewriter *rewriter, const Stmt *stmt)
{
    TypeChange *change = rewriter->data;
    Context *ctx = rewriter->ctx;
    if (stmt->kind != STMT_STORE || !map_has(&change->buffers, stmt->as.store.buffer))
        return rewrite_stmt_children(rewriter, stmt);
    int count = stmt->as.store.index_count;
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, count), *mask = stmt->as.store.mask;
    for (int i = 0; i < count; i++)
        indices[i] = rewrite_expr(rewriter, stmt->as.store.indices[i]);
    const Expr *value = rewrite_expr(rewriter, stmt->as.store.value);
    DType dtype = dtype_with_lanes(change->dtype, value->dtype.lanes);
    value = dtype_equal(dtype, value->dtype) ? value : expr_cast(ctx, dtype, value); /* a constant stays what it was */
    return stmt_store(ctx, map_get(&change->buffers, stmt->as.store.buffer), indices, count, value, mask ? rewrite_expr(rewriter, mask) : NULL,
                      stmt->span);
}

/* The type that ARGUMENT names, one of elements. */
static bool parse_element_type(Schedule *sch, const Value *argument, DType *dtype)
{
    if (dtype_parse(argument->as.text, dtype) && dtype->lanes == 1 && dtype->code != DT_HANDLE && dtype->code != DT_VOID)
        return true;
    int count;
    const char *const *names = dtype_names(&count);
    const char *near = diag_closest(argument->as.text, names, (size_t)count);
    near = near && strcmp(near, argument->as.text) ? near : NULL;
    sched_refuse_argument(sch, argument, "\"%s\" is no type of single elements%s%s%s", argument->as.text, near ? "; did you mean \"" : "",
                          near ? near : "", near ? "\"?" : "");
    diag_edit_string(sch->ctx, argument->span, near);
    return false;
}

bool primitive_unsafe_set_dtype(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    TypeChange change = {.sch = sch};
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block ? query_buffer_index(sch, block, &args[1], true) : -1;
    if (index < 0 || !parse_element_type(sch, &args[2], &change.dtype))
        return false;
    const Buffer *buffer = node_block(block)->writes[index].buffer;
    if (dtype_equal(buffer->dtype, change.dtype))
        return true;
    const TreeNode *site = check_allocation_site(sch, block, buffer);
    if (!site)
        return false;
    add_changed(&change, buffer);
    Visitor views = {.stmt = collect_views, .data = &change};
    visit_stmt(&views, site->stmt);
    Visitor pointers = {.expr = find_pointer, .stmt = find_declaration, .data = &change};
    visit_stmt(&pointers, site->stmt);
    if (change.refused)
        return false;
    Rewriter rewriter = {.ctx = sch->ctx, .expr = change_load, .stmt = change_store, .buffer = changed_buffer, .data = &change};
    sched_replace(sch, site->stmt, rewrite_stmt(&rewriter, site->stmt));
    return true;
}
