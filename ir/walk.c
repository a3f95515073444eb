/* The generic visitor; see walk.h. Where an expression can stand is said by stmt_fields.def alone. */
#include "ir/fields.h"

void visit_expr_children(Visitor *visitor, const Expr *expr)
{
    for (int i = 0; i < expr->arg_count; i++)
        visit_expr(visitor, expr->args[i]);
}

/* Without a hook for them there is nothing to be found in expressions. */
void visit_expr(Visitor *visitor, const Expr *expr)
{
    if (visitor->expr && visitor->expr(visitor, expr))
        visit_expr_children(visitor, expr);
}

static void visit_exprs(Visitor *visitor, const Expr *const *exprs, int count)
{
    for (int i = 0; exprs && i < count; i++)
        visit_expr(visitor, exprs[i]);
}

void visit_region(Visitor *visitor, const Region *region)
{
    for (int i = 0; i < region->buffer->ndim; i++) {
        visit_expr(visitor, region->ranges[i].min);
        visit_expr(visitor, region->ranges[i].extent);
    }
}

static void visit_attr(Visitor *visitor, const AttrValue *value)
{
    if (value->kind == ATTR_EXPR)
        visit_expr(visitor, value->expr);
    for (int i = 0; i < value->count; i++)
        visit_attr(visitor, value->kind == ATTR_LIST ? value->items[i] : value->entries[i].value);
}

static void visit_attrs(Visitor *visitor, const Attrs *attrs)
{
    for (int i = 0; i < attrs->count; i++)
        visit_attr(visitor, attrs->entries[i].value);
}

static void visit_expr_field(Visitor *visitor, const Field *field, const void *node);

static void visit_node_exprs(Visitor *visitor, const void *node, const Field *fields)
{
    for (const Field *field = fields; field->shape; field++)
        visit_expr_field(visitor, field, node);
}

void visit_buffer_layout(Visitor *visitor, const Buffer *buffer)
{
    visit_node_exprs(visitor, buffer, buffer_fields());
}

/* The expressions in FIELD of NODE, but for those in statements. */
static void visit_expr_field(Visitor *visitor, const Field *field, const void *node)
{
    const void *at = field_in(field, node);
    switch (field->shape) {
    case FIELD_EXPR:
        if (*(const Expr *const *)at)
            visit_expr(visitor, *(const Expr *const *)at);
        break;
    case FIELD_EXPRS: visit_exprs(visitor, *(const Expr *const *const *)at, field_count(field, node)); break;
    case FIELD_REGION: visit_region(visitor, at); break;
    case FIELD_REGIONS:
        for (int i = 0; i < field_count(field, node); i++)
            visit_region(visitor, &(*(const Region *const *)at)[i]);
        break;
    case FIELD_BUFFER: visit_buffer_layout(visitor, *(const Buffer *const *)at); break;
    case FIELD_BUFFERS:
        for (int i = 0; i < field_count(field, node); i++)
            visit_buffer_layout(visitor, (*(const Buffer *const *const *)at)[i]);
        break;
    case FIELD_ITERS:
        for (int i = 0; i < field_count(field, node); i++)
            visit_node_exprs(visitor, &(*(const Iter *const *)at)[i], iter_fields());
        break;
    case FIELD_MATCHES:
        for (int i = 0; i < field_count(field, node); i++)
            visit_node_exprs(visitor, &(*(const MatchBuffer *const *)at)[i], match_fields());
        break;
    case FIELD_ATTRS: visit_attrs(visitor, at); break;
    default: break;
    }
}

void visit_stmt_exprs(Visitor *visitor, const Stmt *stmt, Moment moment)
{
    for (const Field *field = stmt_fields(stmt->kind); field->shape; field++)
        if (field->moment == moment)
            visit_expr_field(visitor, field, stmt);
}

void visit_stmt_children(Visitor *visitor, const Stmt *stmt)
{
    for (const Field *field = stmt_fields(stmt->kind); field->shape; field++) {
        const void *at = field_in(field, stmt);
        if (field->shape == FIELD_STMTS) {
            for (int i = 0; i < field_count(field, stmt); i++)
                visit_stmt(visitor, (*(const Stmt *const *const *)at)[i]);
        } else if (field->shape == FIELD_STMT) {
            if (*(const Stmt *const *)at)
                visit_stmt(visitor, *(const Stmt *const *)at);
        } else if (visitor->expr) {
            visit_expr_field(visitor, field, stmt);
        }
    }
}

void visit_stmt(Visitor *visitor, const Stmt *stmt)
{
    if (!visitor->stmt || visitor->stmt(visitor, stmt))
        visit_stmt_children(visitor, stmt);
    if (visitor->leave_stmt)
        visitor->leave_stmt(visitor, stmt);
}

/* The sequence that is the body of FUNC's outermost block, or NULL. */
static const Stmt *outermost_sequence(const Func *func)
{
    const Stmt *body = func->body->kind == STMT_BLOCK ? func->body->as.block.body : NULL;
    return body && body->kind == STMT_SEQ ? body : NULL;
}

ChangedItems func_changed_items(const Func *older, const Func *newer)
{
    const Stmt *old_body = outermost_sequence(older), *new_body = outermost_sequence(newer);
    if (!old_body || !new_body)
        return (ChangedItems){.known = false};
    const Stmt *const *old_items = old_body->as.seq.items, *const *new_items = new_body->as.seq.items;
    ChangedItems changed = {true, 0, old_body->as.seq.count, new_body->as.seq.count};
    while (changed.first < changed.old_end && changed.first < changed.new_end && old_items[changed.first] == new_items[changed.first])
        changed.first++;
    for (; changed.old_end > changed.first && changed.new_end > changed.first; changed.old_end--, changed.new_end--)
        if (old_items[changed.old_end - 1] != new_items[changed.new_end - 1])
            break;
    return changed;
}

void visit_changes(Visitor *visitor, const Func *older, const Func *newer)
{
    const Stmt *root = newer->body;
    ChangedItems changed = func_changed_items(older, newer);
    if (!changed.known || root->as.block.init) {
        visit_stmt(visitor, root);
        return;
    }
    if (!visitor->stmt || visitor->stmt(visitor, root)) {
        for (int moment = MOMENT_ENTRY; moment <= MOMENT_STATED && visitor->expr; moment++)
            visit_stmt_exprs(visitor, root, (Moment)moment);
        for (int i = changed.first; i < changed.new_end; i++)
            visit_stmt(visitor, root->as.block.body->as.seq.items[i]);
    }
    if (visitor->leave_stmt)
        visitor->leave_stmt(visitor, root);
}

typedef struct {
    const Var *var;
    const Buffer *buffer;
    uint64_t bits; /* one of these is set in an expression that holds a use */
    bool found;
} Use;

static bool use_in_expr(Visitor *visitor, const Expr *expr)
{
    Use *use = visitor->data;
    if (use->var)
        use->found |= expr_is_var(expr, use->var);
    else
        use->found |= (expr->kind == EXPR_LOAD && expr->value.buffer == use->buffer) || expr_is_var(expr, use->buffer->data);
    return !use->found && (expr->uses & use->bits);
}

static bool use_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    Use *use = visitor->data;
    if (use->buffer && stmt->kind == STMT_STORE)
        use->found |= stmt->as.store.buffer == use->buffer;
    if (use->buffer && stmt->kind == STMT_BLOCK)
        for (int i = 0; i < stmt->as.block.match_count; i++)
            use->found |= stmt->as.block.matches[i].source.buffer == use->buffer;
    if (use->buffer && stmt->kind == STMT_DECL_BUFFER)
        use->found |= stmt->as.declare.buffer->data == use->buffer->data;
    return !use->found;
}

static bool stmt_has_use(const Stmt *stmt, Use use)
{
    Visitor visitor = {.expr = use_in_expr, .stmt = use_in_stmt, .data = &use};
    visit_stmt(&visitor, stmt);
    return use.found;
}

bool stmt_uses_var(const Stmt *stmt, const Var *var)
{
    return stmt_has_use(stmt, (Use){.var = var, .bits = symbol_bit(var->id)});
}

static Use use_of_buffer(const Buffer *buffer)
{
    return (Use){.buffer = buffer, .bits = symbol_bit(buffer->id) | symbol_bit(buffer->data->id)};
}

bool stmt_uses_buffer(const Stmt *stmt, const Buffer *buffer)
{
    return stmt_has_use(stmt, use_of_buffer(buffer));
}

bool stmt_itself_uses_buffer(const Stmt *stmt, const Buffer *buffer)
{
    Use use = use_of_buffer(buffer);
    Visitor visitor = {.expr = use_in_expr, .data = &use};
    for (int moment = MOMENT_ENTRY; moment <= MOMENT_INSIDE; moment++)
        visit_stmt_exprs(&visitor, stmt, (Moment)moment);
    return use.found;
}

bool expr_uses_buffer(const Expr *expr, const Buffer *buffer)
{
    Use use = use_of_buffer(buffer);
    Visitor visitor = {.expr = use_in_expr, .data = &use};
    visit_expr(&visitor, expr);
    return use.found;
}

static bool find_block(Visitor *visitor, const Stmt *stmt)
{
    bool *found = visitor->data;
    *found |= stmt->kind == STMT_BLOCK;
    return !*found;
}

bool stmt_holds_block(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.stmt = find_block, .data = &found};
    visit_stmt(&visitor, stmt);
    return found;
}

bool block_only_groups(const BlockStmt *block)
{
    return block->groups && !block->iter_count && expr_is_int(block->predicate, 1) && !block->init && stmt_holds_block(block->body);
}

static bool find_foreign_call(Visitor *visitor, const Expr *expr)
{
    bool *found = visitor->data;
    *found |= expr_is_foreign_call(expr);
    return !*found;
}

static bool skip_declared_blocks(Visitor *visitor, const Stmt *stmt)
{
    const bool *found = visitor->data;
    return !*found && (stmt->kind != STMT_BLOCK || !block_declares_regions(&stmt->as.block));
}

bool block_keeps_regions_inferred(const BlockStmt *block)
{
    bool found = false;
    Visitor visitor = {.expr = find_foreign_call, .stmt = skip_declared_blocks, .data = &found};
    if (block_declares_regions(block))
        return false;
    visit_stmt(&visitor, block->body);
    if (block->init)
        visit_stmt(&visitor, block->init);
    return found;
}

static bool find_failing_division(Visitor *visitor, const Expr *expr)
{
    bool *found = visitor->data;
    *found |= expr_division_may_fail(expr);
    return !*found;
}

bool expr_needs_guard(const Expr *expr)
{
    bool found = !expr_is_pure(expr);
    Visitor visitor = {.expr = find_failing_division, .data = &found};
    visit_expr(&visitor, expr);
    return found;
}
