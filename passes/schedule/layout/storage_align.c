/* storage_align: how the stride of a dimension of a buffer is padded: stride[axis] == factor * k + offset for some k, when the buffer is
   allocated.

   Before, storage_align(b, 0, axis=0, factor=32, offset=1)     After
     with T.block("B"):                                           with T.block("B"):
                                                                      T.block_attr({"buffer_dim_align": [[0, 0, 32, 1]]})

   Only the layout of memory changes. What must hold: a block allocates the buffer, the axis exists, and the factor is positive; no view
   states a stride that the buffer has not any more. */
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/storage.h"

static const AttrValue *int_attr(Context *ctx, int64_t value)
{
    return attr_expr(ctx, expr_int(ctx, DTYPE_INT32, value));
}

static const AttrValue *list_attr(Context *ctx, const AttrValue *const *items, int count)
{
    AttrValue *list = ARENA_NEW(ctx->arena, AttrValue);
    *list = (AttrValue){.kind = ATTR_LIST, .items = arena_copy(ctx->arena, items, sizeof *items * (size_t)count), .count = count};
    return list;
}

/* ITEM is [index, axis, ...]. */
static bool aligns(const AttrValue *item, int64_t index, int64_t axis)
{
    return item->kind == ATTR_LIST && item->count == 4 && item->items[0]->kind == ATTR_EXPR && expr_is_int(item->items[0]->expr, index) &&
           item->items[1]->kind == ATTR_EXPR && expr_is_int(item->items[1]->expr, axis);
}

/* The alignments of BLOCK with [INDEX, AXIS, FACTOR, OFFSET] in place of one of the same axis, or behind the others. */
static const AttrValue *aligned(Context *ctx, const BlockStmt *block, int64_t index, int64_t axis, int64_t factor, int64_t offset)
{
    const AttrValue *numbers[] = {int_attr(ctx, index), int_attr(ctx, axis), int_attr(ctx, factor), int_attr(ctx, offset)};
    const AttrValue *entry = list_attr(ctx, numbers, 4), *old = attrs_get(block->annotations, "buffer_dim_align");
    VEC(const AttrValue *) entries = {0};
    bool replaced = false;
    for (int i = 0; old && i < old->count; i++) {
        bool same = aligns(old->items[i], index, axis);
        vec_push(ctx->arena, &entries, same ? entry : old->items[i]);
        replaced |= same;
    }
    if (!replaced)
        vec_push(ctx->arena, &entries, entry);
    return list_attr(ctx, entries.data, entries.count);
}

bool primitive_storage_align(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block ? query_buffer_index(sch, block, &args[1], true) : -1;
    if (index < 0)
        return false;
    const Buffer *buffer = node_block(block)->writes[index].buffer;
    int64_t axis = args[2].as.integer, factor = args[3].as.integer;
    if (axis < -buffer->ndim || axis >= buffer->ndim)
        return sched_refuse_argument(sch, &args[2], "buffer '%s' has %d dimension%s, so there is no axis %lld", buffer->name, buffer->ndim,
                                     buffer->ndim == 1 ? "" : "s", (long long)axis);
    if (factor <= 0)
        return sched_refuse_argument(sch, &args[3], "the factor must be positive, and is %lld", (long long)factor);
    if (!check_allocation_site(sch, block, buffer))
        return false;
    Stmt copy = *block->stmt;
    const AttrValue *alignment =
        aligned(sch->ctx, node_block(block), index, axis < 0 ? axis + buffer->ndim : axis, factor, args[4].as.integer);
    copy.as.block.annotations = attrs_set(sch->ctx, copy.as.block.annotations, context_intern(sch->ctx, "buffer_dim_align"), alignment);
    sched_replace(sch, block->stmt, stmt_new(sch->ctx, &copy));
    return check_views_fit(sch, buffer);
}
