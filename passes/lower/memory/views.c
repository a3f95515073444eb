/* See views.h. */
#include "passes/lower/memory/views.h"

Views views_new(Context *ctx, const Buffer *root)
{
    Views views = {.root = root};
    View self = {root, ARENA_ARRAY(ctx->arena, const Expr *, root->ndim)};
    for (int d = 0; d < root->ndim; d++)
        self.mins[d] = expr_int(ctx, root->shape[d]->dtype, 0);
    vec_push(ctx->arena, &views.items, self);
    return views;
}

void views_add_block(Context *ctx, Views *views, const BlockStmt *block)
{
    for (int i = 0; i < block->match_count; i++) {
        const View *below = views_find(views, block->matches[i].source.buffer);
        if (!below)
            continue;
        Range *ranges = view_ranges(ctx, views, below, block->matches[i].source.ranges);
        View view = {block->matches[i].target, ARENA_ARRAY(ctx->arena, const Expr *, views->root->ndim)};
        for (int d = 0; d < views->root->ndim; d++)
            view.mins[d] = ranges[d].min;
        vec_push(ctx->arena, &views->items, view);
    }
}

const View *views_find(const Views *views, const Buffer *target)
{
    for (int i = 0; i < views->items.count; i++)
        if (views->items.data[i].target == target)
            return &views->items.data[i];
    return NULL;
}

Range *view_ranges(Context *ctx, const Views *views, const View *view, const Range *ranges)
{
    Range *result = ARENA_ARRAY(ctx->arena, Range, views->root->ndim);
    int missing = views->root->ndim - view->target->ndim;
    for (int d = 0; d < views->root->ndim; d++)
        result[d] = d < missing ? range_point(ctx, view->mins[d]) : range_from(ctx, view->mins[d], ranges[d - missing]);
    return result;
}

Range *element_ranges(Context *ctx, const Expr *const *indices, int count)
{
    Range *ranges = ARENA_ARRAY(ctx->arena, Range, count);
    for (int d = 0; d < count; d++) {
        const Expr *index = indices[d];
        if (index->dtype.lanes == 1)
            ranges[d] = range_point(ctx, index);
        else if (index->kind == EXPR_RAMP && expr_is_int(index->args[1], 1))
            ranges[d] = (Range){index->args[0], expr_int(ctx, index->args[0]->dtype, index->dtype.lanes)};
        else
            return NULL;
    }
    return ranges;
}
