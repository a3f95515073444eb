/* Substitution and cloning on top of the rewriter; see walk.h. */
#include <string.h>

#include "ir/walk.h"

void subst_var(Context *ctx, Subst *subst, const Var *var, const Expr *value)
{
    map_set(ctx->arena, &subst->vars, var, (void *)value);
}

void subst_buffer(Context *ctx, Subst *subst, const Buffer *from, Buffer *to)
{
    map_set(ctx->arena, &subst->buffers, from, to);
}

static const Expr *subst_in_expr(Rewriter *rewriter, const Expr *expr)
{
    Subst *subst = rewriter->data;
    if (expr->kind != EXPR_VAR)
        return rewrite_expr_children(rewriter, expr);
    const Expr *value = map_get(&subst->vars, expr->value.var);
    return value ? value : expr;
}

/* A definition follows its uses where these are renamed to another variable. */
static Var *subst_definition(Rewriter *rewriter, Var *var)
{
    Subst *subst = rewriter->data;
    const Expr *value = map_get(&subst->vars, var);
    return value && value->kind == EXPR_VAR ? value->value.var : var;
}

static const Expr **subst_exprs(Rewriter *rewriter, const Expr **exprs, int count, bool *changed)
{
    const Expr **result = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++) {
        result[i] = rewrite_expr(rewriter, exprs[i]);
        *changed |= result[i] != exprs[i];
    }
    return result;
}

/* The buffer to use in place of BUFFER: what the substitution says, else a fresh one where its own expressions or its data variable
   change. */
static Buffer *subst_in_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Subst *subst = rewriter->data;
    Buffer *known = map_get(&subst->buffers, buffer);
    if (known)
        return known;
    bool changed = false;
    Buffer copy = *buffer;
    copy.shape = subst_exprs(rewriter, buffer->shape, buffer->ndim, &changed);
    if (buffer->strides)
        copy.strides = subst_exprs(rewriter, buffer->strides, buffer->ndim, &changed);
    copy.elem_offset = rewrite_expr(rewriter, buffer->elem_offset);
    copy.data = subst_definition(rewriter, buffer->data);
    changed |= copy.elem_offset != buffer->elem_offset || copy.data != buffer->data;
    Buffer *result = changed ? buffer_clone(rewriter->ctx, &copy) : buffer;
    subst_buffer(rewriter->ctx, subst, buffer, result);
    return result;
}

static Rewriter subst_rewriter(Context *ctx, Subst *subst)
{
    return (Rewriter){.ctx = ctx, .expr = subst_in_expr, .buffer = subst_in_buffer, .define_var = subst_definition, .data = subst};
}

const Expr *subst_expr(Context *ctx, Subst *subst, const Expr *expr)
{
    Rewriter rewriter = subst_rewriter(ctx, subst);
    return rewrite_expr(&rewriter, expr);
}

const Stmt *subst_stmt(Context *ctx, Subst *subst, const Stmt *stmt)
{
    Rewriter rewriter = subst_rewriter(ctx, subst);
    return rewrite_stmt(&rewriter, stmt);
}

Region subst_region(Context *ctx, Subst *subst, Region region)
{
    Rewriter rewriter = subst_rewriter(ctx, subst);
    return rewrite_region(&rewriter, region);
}

const Expr *subst_one(Context *ctx, const Expr *expr, const Var *var, const Expr *value)
{
    Subst subst = {0};
    subst_var(ctx, &subst, var, value);
    return subst_expr(ctx, &subst, expr);
}

/* Cloning: first every definition gets a fresh symbol, then one substitution renames all. */
typedef struct {
    Subst subst; /* first, so that the hooks of substitution work on a Cloner too */
    Context *ctx;
    Map defined; /* buffers that the cloned statement declares */
} Cloner;

static void clone_var(Cloner *cloner, Var *var)
{
    if (!map_has(&cloner->subst.vars, var))
        subst_var(cloner->ctx, &cloner->subst, var, expr_var(cloner->ctx, var_clone(cloner->ctx, var, var->name)));
}

static bool collect_let(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LET)
        clone_var(visitor->data, expr->value.var);
    return true;
}

static bool collect_definitions(Visitor *visitor, const Stmt *stmt)
{
    Cloner *cloner = visitor->data;
    switch (stmt->kind) {
    case STMT_FOR: clone_var(cloner, stmt->as.loop.var); break;
    case STMT_LET: clone_var(cloner, stmt->as.let.var); break;
    case STMT_ALLOCATE: clone_var(cloner, stmt->as.allocate.var); break;
    case STMT_ALLOCATE_CONST: clone_var(cloner, stmt->as.allocate_const.var); break;
    case STMT_DECL_BUFFER: map_set(cloner->ctx->arena, &cloner->defined, stmt->as.declare.buffer, stmt->as.declare.buffer); break;
    case STMT_BLOCK: {
        const BlockStmt *block = &stmt->as.block;
        for (int i = 0; i < block->iter_count; i++)
            clone_var(cloner, block->iters[i].var);
        for (int i = 0; i < block->alloc_count; i++)
            clone_var(cloner, block->allocs[i]->data);
        for (int i = 0; i < block->match_count; i++) {
            Buffer *target = block->matches[i].target;
            clone_var(cloner, target->data);
            for (int d = 0; target->strides && d < target->ndim; d++)
                if (target->strides[d]->kind == EXPR_VAR)
                    clone_var(cloner, target->strides[d]->value.var);
            if (target->elem_offset->kind == EXPR_VAR)
                clone_var(cloner, target->elem_offset->value.var);
        }
        break;
    }
    default: break;
    }
    return true;
}

/* A declared buffer becomes a fresh symbol even where nothing of it changes. */
static Buffer *clone_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Cloner *cloner = rewriter->data;
    Buffer *result = subst_in_buffer(rewriter, buffer);
    if (result != buffer || !map_has(&cloner->defined, buffer))
        return result;
    result = buffer_clone(rewriter->ctx, buffer);
    subst_buffer(rewriter->ctx, &cloner->subst, buffer, result);
    return result;
}

static Block *clone_block(Rewriter *rewriter, Block *block)
{
    return block_new(rewriter->ctx, block->name, block->span);
}

const Stmt *clone_fresh(Context *ctx, const Stmt *stmt)
{
    Cloner cloner = {.ctx = ctx};
    Visitor visitor = {.expr = collect_let, .stmt = collect_definitions, .data = &cloner};
    visit_stmt(&visitor, stmt);
    Rewriter rewriter = {.ctx = ctx,
                         .expr = subst_in_expr,
                         .buffer = clone_buffer,
                         .define_var = subst_definition,
                         .define_block = clone_block,
                         .data = &cloner};
    return rewrite_stmt(&rewriter, stmt);
}
