/* What can only be checked on a whole function: that the variables which the text makes by T.int32() are defined by some declaration, and that the blocks use
   loop variables through their axes alone, so that a block means the same wherever it is moved. */
#include "ir/walk.h"
#include "parser/elab.h"

typedef struct {
    Visitor visitor;
    Elab *elab;
    Map defined;     /* Vars that some declaration defines */
    Map reported;    /* Vars that were diagnosed */
    Map loop_levels; /* loop Var -> number of blocks with axes around the loop, plus 1; NULL once it is left */
    VEC(const BlockStmt *) blocks; /* blocks with axes around the place at hand */
    bool failed;
} FunctionCheck;

/* --- definitions --- */

static void define(FunctionCheck *check, const Var *var)
{
    map_set(check->elab->ctx->arena, &check->defined, var, (void *)var);
}

static void define_bare(FunctionCheck *check, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        define(check, expr->value.var);
}

/* The declaration of a buffer whose layout is bound from outside defines the variables that stand in it alone. */
static void define_layout(FunctionCheck *check, const Buffer *buffer)
{
    for (int i = 0; i < buffer->ndim; i++) {
        define_bare(check, buffer->shape[i]);
        if (buffer->strides)
            define_bare(check, buffer->strides[i]);
    }
    define_bare(check, buffer->elem_offset);
}

static void define_block(FunctionCheck *check, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++)
        define(check, block->iters[i].var);
    for (int i = 0; i < block->match_count; i++)
        define_layout(check, block->matches[i].target);
}

static bool define_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    FunctionCheck *check = visitor->data;
    switch (stmt->kind) {
    case STMT_FOR: define(check, stmt->as.loop.var); break;
    case STMT_LET: define(check, stmt->as.let.var); break;
    case STMT_BLOCK: define_block(check, &stmt->as.block); break;
    case STMT_ALLOCATE: define(check, stmt->as.allocate.var); break;
    case STMT_ALLOCATE_CONST: define(check, stmt->as.allocate_const.var); break;
    case STMT_ATTR:
        if (stmt->as.attr.var)
            define(check, stmt->as.attr.var);
        break;
    default: break;
    }
    return true;
}

static bool define_in_expr(Visitor *visitor, const Expr *expr)
{
    FunctionCheck *check = visitor->data;
    if (expr->kind == EXPR_LET)
        define(check, expr->value.var);
    return true;
}

/* --- uses --- */

static void report_undefined(FunctionCheck *check, const Expr *use)
{
    const Var *var = use->value.var;
    check->failed = true;
    map_set(check->elab->ctx->arena, &check->reported, var, (void *)var);
    diag_error(check->elab->ctx, var->span, "'%s' is used, but nothing defines it: it is no parameter and stands alone in no buffer's shape, strides or offset",
               var->name);
    if (use->span.file)
        diag_note(check->elab->ctx, use->span, "'%s' is used here", var->name);
}

static void report_escape(FunctionCheck *check, const Expr *use, int level)
{
    const Var *var = use->value.var;
    const BlockStmt *block = check->blocks.data[level];
    check->failed = true;
    map_set(check->elab->ctx->arena, &check->reported, var, (void *)var);
    diag_error(check->elab->ctx, use->span.file ? use->span : block->block->span,
               "the loop variable '%s' is used inside block '%s'; inside a block only its own axes stand for the loops around it", var->name,
               block->block->name);
    diag_note(check->elab->ctx, block->block->span, "bind an axis to it here, as in v = T.axis.spatial(extent, %s)", var->name);
}

static bool check_expr(Visitor *visitor, const Expr *expr)
{
    FunctionCheck *check = visitor->data;
    if (expr->kind != EXPR_VAR || map_has(&check->reported, expr->value.var))
        return true;
    const Var *var = expr->value.var;
    int level = (int)(intptr_t)map_get(&check->loop_levels, var) - 1;
    if (map_get(&check->elab->symbols, var) && !map_has(&check->defined, var))
        report_undefined(check, expr);
    else if (level >= 0 && level < check->blocks.count)
        report_escape(check, expr, level);
    return true;
}

static void visit_regions(Visitor *visitor, const Region *regions, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < regions[i].buffer->ndim; j++) {
            visit_expr(visitor, regions[i].ranges[j].min);
            visit_expr(visitor, regions[i].ranges[j].extent);
        }
}

/* Domains, bindings and the predicate belong to the outside of the block, the rest to the inside. */
static void check_block(FunctionCheck *check, const BlockStmt *block)
{
    Visitor *visitor = &check->visitor;
    for (int i = 0; i < block->iter_count; i++) {
        visit_expr(visitor, block->iters[i].domain.min);
        visit_expr(visitor, block->iters[i].domain.extent);
        visit_expr(visitor, block->bindings[i]);
    }
    visit_expr(visitor, block->predicate);
    if (block->iter_count > 0)
        vec_push(check->elab->ctx->arena, &check->blocks, block);
    if (!block->reads_inferred)
        visit_regions(visitor, block->reads, block->read_count);
    if (!block->writes_inferred)
        visit_regions(visitor, block->writes, block->write_count);
    for (int i = 0; i < block->match_count; i++)
        visit_regions(visitor, &block->matches[i].source, 1);
    if (block->init)
        visit_stmt(visitor, block->init);
    visit_stmt(visitor, block->body);
    if (block->iter_count > 0)
        check->blocks.count--;
}

static bool check_stmt(Visitor *visitor, const Stmt *stmt)
{
    FunctionCheck *check = visitor->data;
    if (stmt->kind == STMT_BLOCK) {
        check_block(check, &stmt->as.block);
        return false;
    }
    if (stmt->kind != STMT_FOR)
        return true;
    visit_expr(visitor, stmt->as.loop.min);
    visit_expr(visitor, stmt->as.loop.extent);
    map_set(check->elab->ctx->arena, &check->loop_levels, stmt->as.loop.var, (void *)(intptr_t)(check->blocks.count + 1));
    visit_stmt(visitor, stmt->as.loop.body);
    return false;
}

static void check_layout(FunctionCheck *check, const Buffer *buffer)
{
    for (int i = 0; i < buffer->ndim; i++) {
        visit_expr(&check->visitor, buffer->shape[i]);
        if (buffer->strides)
            visit_expr(&check->visitor, buffer->strides[i]);
    }
    visit_expr(&check->visitor, buffer->elem_offset);
}

bool elab_check_function(Elab *elab, const Func *func)
{
    FunctionCheck check = {.elab = elab};
    check.visitor = (Visitor){.expr = define_in_expr, .stmt = define_in_stmt, .data = &check};
    for (int i = 0; i < func->param_count; i++) {
        define(&check, func->params[i].param);
        if (func->params[i].buffer)
            define_layout(&check, func->params[i].buffer);
    }
    visit_stmt(&check.visitor, func->body);
    check.visitor = (Visitor){.expr = check_expr, .stmt = check_stmt, .data = &check};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            check_layout(&check, func->params[i].buffer);
    visit_stmt(&check.visitor, func->body);
    return !check.failed;
}
