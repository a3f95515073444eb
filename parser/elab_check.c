/* What can only be checked on a whole function: that the variables which the text makes by T.int32() are defined where they are used, and
   that the blocks use loop variables through their axes alone, so that a block means the same wherever it is moved. */
#include "ir/walk.h"
#include "parser/elab.h"

typedef struct {
    Visitor visitor;
    Elab *elab;
    Map defined;     /* Var -> itself while some declaration around defines it */
    Map reported;    /* Vars that were diagnosed */
    Map loop_levels; /* loop Var -> number of blocks with axes around the loop, plus 1 */
    VEC(const Var *) scope;        /* the defined ones in order, so that the end of a scope can forget its own */
    VEC(const BlockStmt *) blocks; /* blocks with axes around the place at hand */
    const BlockStmt *outside;      /* the block whose bindings and predicate are looked at, or NULL */
    bool failed;
} FunctionCheck;

/* --- definitions --- */

static void define(FunctionCheck *check, const Var *var)
{
    if (map_get(&check->defined, var))
        return;
    map_set(check->elab->ctx->arena, &check->defined, var, (void *)var);
    vec_push(check->elab->ctx->arena, &check->scope, var);
}

static void end_scope(FunctionCheck *check, int mark)
{
    while (check->scope.count > mark)
        map_set(check->elab->ctx->arena, &check->defined, vec_pop(&check->scope), NULL);
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

/* --- uses --- */

static void report_undefined(FunctionCheck *check, const Expr *use)
{
    const Var *var = use->value.var;
    check->failed = true;
    map_set(check->elab->ctx->arena, &check->reported, var, (void *)var);
    diag_error(check->elab->ctx, var->span,
               "'%s' is used where nothing defines it: it is no parameter and stands alone in no buffer's shape, strides or offset",
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

static void report_axis(FunctionCheck *check, const Expr *use)
{
    check->failed = true;
    map_set(check->elab->ctx->arena, &check->reported, use->value.var, use->value.var);
    diag_error(check->elab->ctx, use->span.file ? use->span : check->outside->block->span,
               "the axis '%s' cannot be used here: T.where and the values of axes are outside of the block and take loop variables", use->value.var->name);
}

static bool is_own_axis(const BlockStmt *block, const Var *var)
{
    for (int i = 0; block && i < block->iter_count; i++)
        if (block->iters[i].var == var)
            return true;
    return false;
}

static void check_var(FunctionCheck *check, const Expr *use)
{
    const Var *var = use->value.var;
    int level = (int)(intptr_t)map_get(&check->loop_levels, var) - 1;
    if (map_has(&check->reported, var))
        return;
    if (map_get(&check->elab->symbols, var) && !map_get(&check->defined, var))
        report_undefined(check, use);
    else if (is_own_axis(check->outside, var))
        report_axis(check, use);
    else if (level >= 0 && level < check->blocks.count)
        report_escape(check, use, level);
}

/* The thread indices of T.tvm_thread_allreduce are the loops themselves, in a block too. */
static bool check_allreduce(Visitor *visitor, const Expr *call)
{
    for (int i = 0; i < call->arg_count; i++)
        if (call->args[i]->kind != EXPR_VAR)
            visit_expr(visitor, call->args[i]);
    return false;
}

static bool check_expr(Visitor *visitor, const Expr *expr)
{
    FunctionCheck *check = visitor->data;
    if (expr_is_call(expr, OP_TVM_THREAD_ALLREDUCE))
        return check_allreduce(visitor, expr);
    if (expr->kind == EXPR_VAR)
        check_var(check, expr);
    if (expr->kind != EXPR_LET)
        return true;
    int mark = check->scope.count;
    visit_expr(visitor, expr->args[0]);
    define(check, expr->value.var);
    visit_expr(visitor, expr->args[1]);
    end_scope(check, mark);
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

static void check_regions(FunctionCheck *check, const Region *regions, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < regions[i].buffer->ndim; j++) {
            visit_expr(&check->visitor, regions[i].ranges[j].min);
            visit_expr(&check->visitor, regions[i].ranges[j].extent);
        }
}

/* What is inside the block: all but domains, bindings and the predicate. */
static void check_block_inside(FunctionCheck *check, const BlockStmt *block)
{
    Visitor *visitor = &check->visitor;
    for (int i = 0; i < block->alloc_count; i++)
        check_layout(check, block->allocs[i]);
    for (int i = 0; i < block->match_count; i++) {
        check_regions(check, &block->matches[i].source, 1);
        define_layout(check, block->matches[i].target);
        check_layout(check, block->matches[i].target);
    }
    if (!block->reads_inferred)
        check_regions(check, block->reads, block->read_count);
    if (!block->writes_inferred)
        check_regions(check, block->writes, block->write_count);
    if (block->init)
        visit_stmt(visitor, block->init);
    visit_stmt(visitor, block->body);
}

static void check_block(FunctionCheck *check, const BlockStmt *block)
{
    check->outside = block;
    for (int i = 0; i < block->iter_count; i++) {
        visit_expr(&check->visitor, block->iters[i].domain.min);
        visit_expr(&check->visitor, block->iters[i].domain.extent);
        visit_expr(&check->visitor, block->bindings[i]);
    }
    visit_expr(&check->visitor, block->predicate);
    check->outside = NULL;
    if (block->iter_count > 0)
        vec_push(check->elab->ctx->arena, &check->blocks, block);
    check_block_inside(check, block);
    if (block->iter_count > 0)
        check->blocks.count--;
}

static void check_loop(FunctionCheck *check, const ForStmt *loop)
{
    visit_expr(&check->visitor, loop->min);
    visit_expr(&check->visitor, loop->extent);
    if (loop->launch)
        define(check, loop->var);
    else
        map_set(check->elab->ctx->arena, &check->loop_levels, loop->var, (void *)(intptr_t)(check->blocks.count + 1));
    visit_stmt(&check->visitor, loop->body);
}

/* The statement itself is visited by hand where it defines something for its body. */
static bool check_stmt(Visitor *visitor, const Stmt *stmt)
{
    FunctionCheck *check = visitor->data;
    int mark = check->scope.count;
    switch (stmt->kind) {
    case STMT_BLOCK: check_block(check, &stmt->as.block); break;
    case STMT_FOR: check_loop(check, &stmt->as.loop); break;
    case STMT_LET:
        visit_expr(visitor, stmt->as.let.value);
        define(check, stmt->as.let.var);
        visit_stmt(visitor, stmt->as.let.body);
        break;
    default: return true;
    }
    end_scope(check, mark);
    return false;
}

bool elab_check_function(Elab *elab, const Func *func)
{
    FunctionCheck check = {.elab = elab};
    check.visitor = (Visitor){.expr = check_expr, .stmt = check_stmt, .data = &check};
    for (int i = 0; i < func->param_count; i++) {
        define(&check, func->params[i].param);
        if (func->params[i].buffer)
            define_layout(&check, func->params[i].buffer);
    }
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            check_layout(&check, func->params[i].buffer);
    visit_stmt(&check.visitor, func->body);
    return !check.failed;
}
