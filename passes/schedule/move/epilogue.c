/* See epilogue.h. Why a folded form computes the same:

   - One more operand of the same operation. (init + x1 + ... + xn) + c is another order of (init + c) + x1 + ... + xn: equal for integers, which
     wrap, for bits and for minima and maxima; for floats it is the order that changes, as it does where a reduction is split. Points without any
     update hold init + c in both.
   - A function f of minima and maxima with values that do not depend on the result never decreases: f(max(a, b)) = max(f(a), f(b)). So
     f(max(init, x1, ...)) = max(f(init), f(x1), ...). A NaN may be chosen or lost at another place, as where such a reduction is split.

   Not handled: functions that do not combine like this, as the maximum of a sum and 0. They hold for the complete result only. */
#include "passes/schedule/move/epilogue.h"

#include "ir/walk.h"
#include "passes/analysis/model/update.h"

typedef struct {
    const Stmt *store;     /* of the reduction */
    const Expr *element;   /* what stands in place of the loads of the element */
} Application;

static const Expr *replace_element(Rewriter *rewriter, const Expr *expr)
{
    const Application *application = rewriter->data;
    return update_is_target(expr, application->store) ? application->element : rewrite_expr_children(rewriter, expr);
}

/* VALUE made of ELEMENT in place of what STORE stores. */
static const Expr *apply(Context *ctx, const Expr *value, const Stmt *store, const Expr *element)
{
    Application application = {store, element};
    Rewriter rewriter = {.ctx = ctx, .expr = replace_element, .data = &application};
    return rewrite_expr(&rewriter, value);
}

static const Stmt *store_value(Context *ctx, const Stmt *store, const Expr *value)
{
    return stmt_store(ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, value, NULL, store->span);
}

/* VALUE combines one more operand into the element, by the operation of REDUCTION. */
static bool is_one_more(const Reduction *reduction, const UpdateForm *form, const Stmt *store)
{
    const CombineForm *own = &reduction->combines[0];
    return (form->kind == reduction->kind || (reduction_is_sum(form->kind) && reduction_is_sum(reduction->kind))) &&
           !expr_uses_buffer(form->operand, store->as.store.buffer) && form->combine.widens == own->widens &&
           (!own->widens || dtype_equal(form->combine.wide, own->wide));
}

/* Minima and maxima of the element with other values only. */
static bool is_clip(const Expr *value, const Stmt *store)
{
    if (update_is_target(value, store))
        return true;
    if (value->kind != EXPR_MIN && value->kind != EXPR_MAX)
        return false;
    const Buffer *buffer = store->as.store.buffer;
    return (is_clip(value->args[0], store) && !expr_uses_buffer(value->args[1], buffer)) ||
           (is_clip(value->args[1], store) && !expr_uses_buffer(value->args[0], buffer));
}

bool epilogue_fold(Context *ctx, BlockStmt *block, const Expr *value, bool reassociates)
{
    const Stmt *store = block->body, *init = block->init;
    const Reduction *reduction = reduction_recognize(ctx, block);
    UpdateForm form;
    if (!reduction || reduction->target_count != 1 || reduction->targets[0] != store->as.store.buffer ||
        (dtype_is_float(value->dtype) && !reassociates))
        return false;
    if (update_match(ctx, value, store, &form) && is_one_more(reduction, &form, store)) {
        const Expr *start = init->as.store.value;
        bool neutral = form.kind != REDUCE_DIFFERENCE && expr_equal(start, reduction_identity(ctx, form.kind, start->dtype));
        block->init = store_value(ctx, init, neutral ? form.operand : apply(ctx, value, store, start));
        return true;
    }
    if ((reduction->kind != REDUCE_MAX && reduction->kind != REDUCE_MIN) || !is_clip(value, store))
        return false;
    const Expr *element = expr_load(ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, NULL, store->span);
    block->init = store_value(ctx, init, apply(ctx, value, store, init->as.store.value));
    block->body = store_value(ctx, store, reduction_combine(ctx, reduction, 0, element, apply(ctx, value, store, reduction->operands[0])));
    return true;
}

const Expr *epilogue_last_update(Context *ctx, const BlockStmt *block)
{
    const Expr *last = expr_bool(ctx, true);
    for (int i = 0; i < block->iter_count; i++) {
        Range domain = block->iters[i].domain;
        if (block->iters[i].kind != ITER_REDUCE || expr_is_int(domain.extent, 1))
            continue;
        const Expr *var = expr_var(ctx, block->iters[i].var);
        const Expr *greatest = op_sub(ctx, op_add(ctx, domain.min, domain.extent), expr_int(ctx, domain.extent->dtype, 1));
        last = op_and(ctx, last, op_compare(ctx, EXPR_EQ, var, op_cast(ctx, var->dtype, greatest)));
    }
    return last;
}

void epilogue_append(Context *ctx, BlockStmt *block, const Expr *value, const Expr *guard)
{
    const Stmt *update = block->body, *made = store_value(ctx, update, value);
    const Stmt *items[] = {update, expr_is_int(guard, 1) ? made : stmt_if(ctx, guard, made, NULL, update->span)};
    block->body = stmt_seq(ctx, items, 2);
}
