/* storage_align: how the stride of a dimension of a buffer is padded: stride[axis] == factor * k + offset for some k, when the buffer is
   allocated.

   Before, storage_align(b, 0, axis=0, factor=32, offset=1)     After
     with T.block("B"):                                           with T.block("B"):
                                                                      T.block_attr({"buffer_dim_align": [[0, 0, 32, 1]]})

   Only the layout of memory changes. What must hold: a block allocates the buffer, the axis exists, and the factor is positive; no view
   states a stride that the buffer has not any more. */
#include "ir/print.h"
#include "ir/walk.h"
#include "passes/schedule/query.h"
#include "passes/schedule/storage.h"

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

/* Looks for views of a buffer, and views of these, that state constant strides. */
typedef struct {
    Context *ctx;
    const Buffer *buffer;
    const AttrValue *rows; /* the alignments of the buffer and others */
    int64_t index;         /* of the buffer in them */
    Map missing;           /* a view -> 1 + how many of the buffer's dimensions it has not */
    const MatchBuffer *misfit;
    int dim;               /* of the misfit */
    int64_t stride;        /* what the buffer has there */
} StridedViews;

/* The stride of dimension DIM of the buffer as its alignments make it; false where it is no constant. */
static bool aligned_stride(const StridedViews *views, int dim, int64_t *stride)
{
    int last = views->buffer->ndim - 1;
    *stride = 1;
    for (int d = last; d >= dim; d--) {
        int64_t extent = 1, factor, offset;
        if ((d < last && !expr_const_int(views->buffer->shape[d + 1], &extent)) || __builtin_mul_overflow(*stride, extent, stride))
            return false;
        for (int i = 0; i < views->rows->count; i++)
            if (aligns(views->rows->items[i], views->index, d) && expr_const_int(views->rows->items[i]->items[2]->expr, &factor) &&
                expr_const_int(views->rows->items[i]->items[3]->expr, &offset))
                *stride += ((offset - *stride) % factor + factor) % factor;
    }
    return true;
}

static void compare_strides(StridedViews *views, const MatchBuffer *match, int missing)
{
    const Buffer *view = match->target;
    for (int d = 0; d < view->ndim && view->strides && !views->misfit; d++) {
        int64_t stated, real;
        int region_dim = match->source.buffer->ndim - view->ndim + d;
        if (!expr_const_int(view->strides[d], &stated) || expr_is_int(match->source.ranges[region_dim].extent, 1) ||
            !aligned_stride(views, d + missing, &real) || real == stated)
            continue;
        views->misfit = match;
        views->dim = d;
        views->stride = real;
    }
}

static bool look_at_views(Visitor *visitor, const Stmt *stmt)
{
    StridedViews *views = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        const MatchBuffer *match = &stmt->as.block.matches[i];
        intptr_t source = match->source.buffer == views->buffer ? 1 : (intptr_t)map_get(&views->missing, match->source.buffer);
        if (!source)
            continue;
        int missing = (int)source - 1 + match->source.buffer->ndim - match->target->ndim;
        map_set(views->ctx->arena, &views->missing, match->target, (void *)(intptr_t)(missing + 1));
        compare_strides(views, match, missing);
    }
    return true;
}

/* The views below SITE, where the buffer is allocated, keep the strides that they state. */
static bool check_views_fit(Schedule *sch, const TreeNode *site, StridedViews *views)
{
    Visitor visitor = {.stmt = look_at_views, .data = views};
    visit_stmt(&visitor, site->stmt);
    if (!views->misfit)
        return true;
    const Buffer *view = views->misfit->target;
    sched_refuse(sch, "'%s', a view of '%s', states stride %s in dimension %d, and the memory would have %lld", view->name,
                 views->buffer->name, print_expr(sch->ctx, view->strides[views->dim]), views->dim, (long long)views->stride);
    sched_note(sch, view->span, "the view is here");
    return false;
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
    const TreeNode *site = check_allocation_site(sch, block, buffer);
    if (!site)
        return false;
    Stmt copy = *block->stmt;
    const AttrValue *alignment =
        aligned(sch->ctx, node_block(block), index, axis < 0 ? axis + buffer->ndim : axis, factor, args[4].as.integer);
    StridedViews views = {.ctx = sch->ctx, .buffer = buffer, .rows = alignment, .index = index};
    if (!check_views_fit(sch, site, &views))
        return false;
    copy.as.block.annotations = attrs_set(sch->ctx, copy.as.block.annotations, context_intern(sch->ctx, "buffer_dim_align"), alignment);
    sched_replace(sch, block->stmt, stmt_new(sch->ctx, &copy));
    return true;
}
