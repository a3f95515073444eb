/* Views that state strides which padded memory has not: after storage_align, or when tensorize brings the views in.

     with T.block("C"):
         T.block_attr({"buffer_dim_align": [[0, 0, 16, 4]]})     rows of C, of 16 elements, lie 20 apart
         ...
     V = T.match_buffer(C[0:4, 0:16], (4, 16), strides=[16, 1])  refused

   Only constant strides of constant shapes are compared; lowering asks the others when the memory has its layout. */
#include "ir/walk.h"
#include "passes/schedule/core/storage.h"
#include "print/print.h"

enum { ALIGN_INDEX, ALIGN_AXIS, ALIGN_FACTOR, ALIGN_OFFSET, ALIGN_NUMBERS };

typedef struct {
    int64_t numbers[ALIGN_NUMBERS];
} Alignment;

typedef struct {
    Context *ctx;
    const Buffer *buffer;
    VEC(Alignment) alignments;
    Map missing; /* a view of the buffer, or a view of one -> 1 + how many of the buffer's dimensions it has not */
    const MatchBuffer *misfit;
    int dim;        /* of the misfit */
    int64_t stride; /* what the buffer has there */
} StridedViews;

/* ITEM, of the alignments of BLOCK, as numbers; false where it is not about the buffer. */
static bool read_alignment(const StridedViews *views, const BlockStmt *block, const AttrValue *item, Alignment *alignment)
{
    bool numbers = item->kind == ATTR_LIST && item->count == ALIGN_NUMBERS;
    for (int i = 0; i < ALIGN_NUMBERS && numbers; i++)
        numbers = item->items[i]->kind == ATTR_EXPR && expr_const_int(item->items[i]->expr, &alignment->numbers[i]);
    int64_t index = numbers ? alignment->numbers[ALIGN_INDEX] : -1;
    return index >= 0 && index < block->write_count && block->writes[index].buffer == views->buffer && alignment->numbers[ALIGN_FACTOR] > 0;
}

static bool find_alignments(Visitor *visitor, const Stmt *stmt)
{
    StridedViews *views = visitor->data;
    const AttrValue *value = stmt->kind == STMT_BLOCK ? attrs_get(stmt->as.block.annotations, "buffer_dim_align") : NULL;
    Alignment alignment;
    for (int i = 0; value && value->kind == ATTR_LIST && i < value->count; i++)
        if (read_alignment(views, &stmt->as.block, value->items[i], &alignment))
            vec_push(views->ctx->arena, &views->alignments, alignment);
    return true;
}

/* The stride of dimension DIM of the buffer as its alignments make it; false where it is no constant. */
static bool aligned_stride(const StridedViews *views, int dim, int64_t *stride)
{
    int ndim = views->buffer->ndim;
    *stride = 1;
    for (int d = ndim - 1; d >= dim; d--) {
        int64_t extent = 1;
        if ((d < ndim - 1 && !expr_const_int(views->buffer->shape[d + 1], &extent)) || __builtin_mul_overflow(*stride, extent, stride))
            return false;
        for (int i = 0; i < views->alignments.count; i++) {
            const int64_t *numbers = views->alignments.data[i].numbers;
            int64_t factor = numbers[ALIGN_FACTOR];
            if (numbers[ALIGN_AXIS] == d || numbers[ALIGN_AXIS] + ndim == d)
                *stride += ((numbers[ALIGN_OFFSET] - *stride) % factor + factor) % factor;
        }
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

bool check_views_fit(Schedule *sch, const Buffer *buffer)
{
    const Stmt *body = schedule_func(sch)->body;
    StridedViews views = {.ctx = sch->ctx, .buffer = buffer};
    Visitor alignments = {.stmt = find_alignments, .data = &views}, strides = {.stmt = look_at_views, .data = &views};
    visit_stmt(&alignments, body);
    if (views.alignments.count)
        visit_stmt(&strides, body);
    if (!views.misfit)
        return true;
    const Buffer *view = views.misfit->target;
    sched_refuse(sch, "'%s', a view of '%s', states stride %s in dimension %d, and the memory would have %lld", view->name, buffer->name,
                 print_expr(sch->ctx, view->strides[views.dim]), views.dim, (long long)views.stride);
    if (view->span.file)
        sched_note(sch, view->span, "the view is here");
    return false;
}
