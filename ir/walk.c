/* The generic visitor; see walk.h. */
#include "ir/walk.h"

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

static void visit_range(Visitor *visitor, Range range)
{
    visit_expr(visitor, range.min);
    visit_expr(visitor, range.extent);
}

static void visit_region(Visitor *visitor, const Region *region)
{
    for (int i = 0; i < region->buffer->ndim; i++)
        visit_range(visitor, region->ranges[i]);
}

static void visit_exprs(Visitor *visitor, const Expr *const *exprs, int count)
{
    for (int i = 0; i < count; i++)
        visit_expr(visitor, exprs[i]);
}

static void visit_buffer_definition(Visitor *visitor, const Buffer *buffer)
{
    visit_exprs(visitor, buffer->shape, buffer->ndim);
    if (buffer->strides)
        visit_exprs(visitor, buffer->strides, buffer->ndim);
    visit_expr(visitor, buffer->elem_offset);
}

static void visit_block_exprs(Visitor *visitor, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++) {
        visit_range(visitor, block->iters[i].domain);
        visit_expr(visitor, block->bindings[i]);
    }
    visit_expr(visitor, block->predicate);
    for (int i = 0; i < block->read_count; i++)
        visit_region(visitor, &block->reads[i]);
    for (int i = 0; i < block->write_count; i++)
        visit_region(visitor, &block->writes[i]);
    for (int i = 0; i < block->alloc_count; i++)
        visit_buffer_definition(visitor, block->allocs[i]);
    for (int i = 0; i < block->match_count; i++) {
        visit_buffer_definition(visitor, block->matches[i].target);
        visit_region(visitor, &block->matches[i].source);
    }
}

static void visit_block(Visitor *visitor, const BlockStmt *block)
{
    if (visitor->expr)
        visit_block_exprs(visitor, block);
    if (block->init)
        visit_stmt(visitor, block->init);
    visit_stmt(visitor, block->body);
}

void visit_stmt_children(Visitor *visitor, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++)
            visit_stmt(visitor, stmt->as.seq.items[i]);
        return;
    case STMT_FOR:
        visit_expr(visitor, stmt->as.loop.min);
        visit_expr(visitor, stmt->as.loop.extent);
        break;
    case STMT_WHILE: visit_expr(visitor, stmt->as.while_loop.condition); break;
    case STMT_BLOCK: visit_block(visitor, &stmt->as.block); return;
    case STMT_IF:
        visit_expr(visitor, stmt->as.branch.condition);
        visit_stmt(visitor, stmt->as.branch.then_body);
        if (stmt->as.branch.else_body)
            visit_stmt(visitor, stmt->as.branch.else_body);
        return;
    case STMT_LET: visit_expr(visitor, stmt->as.let.value); break;
    case STMT_STORE:
        visit_exprs(visitor, stmt->as.store.indices, stmt->as.store.index_count);
        visit_expr(visitor, stmt->as.store.value);
        if (stmt->as.store.mask)
            visit_expr(visitor, stmt->as.store.mask);
        return;
    case STMT_EVALUATE: visit_expr(visitor, stmt->as.evaluate); return;
    case STMT_ALLOCATE:
        visit_exprs(visitor, stmt->as.allocate.extents, stmt->as.allocate.extent_count);
        visit_expr(visitor, stmt->as.allocate.condition);
        break;
    case STMT_ALLOCATE_CONST: visit_exprs(visitor, stmt->as.allocate_const.extents, stmt->as.allocate_const.extent_count); break;
    case STMT_DECL_BUFFER: visit_buffer_definition(visitor, stmt->as.declare.buffer); break;
    case STMT_ATTR:
        if (stmt->as.attr.node)
            visit_expr(visitor, stmt->as.attr.node);
        visit_expr(visitor, stmt->as.attr.value);
        break;
    case STMT_ASSERT:
        visit_expr(visitor, stmt->as.assertion.condition);
        visit_expr(visitor, stmt->as.assertion.message);
        break;
    case STMT_REALIZE:
        visit_region(visitor, &stmt->as.realize.region);
        visit_expr(visitor, stmt->as.realize.condition);
        break;
    }
    visit_stmt(visitor, stmt_body(stmt));
}

void visit_stmt(Visitor *visitor, const Stmt *stmt)
{
    if (!visitor->stmt || visitor->stmt(visitor, stmt))
        visit_stmt_children(visitor, stmt);
    if (visitor->leave_stmt)
        visitor->leave_stmt(visitor, stmt);
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

bool expr_uses_buffer(const Expr *expr, const Buffer *buffer)
{
    Use use = use_of_buffer(buffer);
    Visitor visitor = {.expr = use_in_expr, .data = &use};
    visit_expr(&visitor, expr);
    return use.found;
}
