/* See move_uses.h. Where a partner reads several rows of a flat buffer, the region that holds them says nothing of rows any more:

     B[T.min(vi * m + vj, (vi + 1) * m + vj):...]       for B[vi * m + vj] + B[(vi + 1) * m + vj]

   so that the points are taken that its statement reads, one by one. Not handled there: partners that are more than one store. */
#include "passes/schedule/move/move_uses.h"

#include "ir/walk.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"

UseList move_partner_uses(Move *move, const Buffer *buffer)
{
    UseList uses = {0};
    for (int p = 0; p < move->partner_count; p++) {
        const BlockStmt *partner = node_block(move->partners[p]);
        const Region *regions = move->reverse ? partner->writes : partner->reads;
        int count = move->reverse ? partner->write_count : partner->read_count;
        for (int r = 0; r < count; r++)
            if (regions[r].buffer == buffer)
                vec_push(move->sch->ctx->arena, &uses, ((Use){move->partners[p], regions[r]}));
        const Region *entry = regions_read_to_enter(move->sch->ctx, move->partners[p], &count);
        for (int r = 0; r < count && !move->reverse; r++)
            if (entry[r].buffer == buffer)
                vec_push(move->sch->ctx->arena, &uses, ((Use){move->partners[p], entry[r]}));
    }
    return uses;
}

typedef struct {
    Context *ctx;
    const Use *whole;
    UseList points;
    bool complete;
} PointSearch;

static bool find_point(Visitor *visitor, const Expr *expr)
{
    PointSearch *search = visitor->data;
    if (expr->kind == EXPR_LET)
        search->complete = false;
    if (expr->kind != EXPR_LOAD || expr->value.buffer != search->whole->region.buffer)
        return search->complete;
    for (int i = 0; i < expr->arg_count; i++)
        search->complete &= expr->args[i]->dtype.lanes == 1;
    if (search->complete) {
        Region point = region_point(search->ctx, expr->value.buffer, expr->args);
        vec_push(search->ctx->arena, &search->points, ((Use){search->whole->partner, point}));
    }
    return search->complete;
}

/* Adds the points that the partner of USE reads of its region; the region itself where it is a point, or where they are not known. */
static void add_points(Move *move, const Use *use, UseList *points)
{
    Context *ctx = move->sch->ctx;
    const BlockStmt *block = node_block(use->partner);
    PointSearch search = {.ctx = ctx, .whole = use, .complete = !move->reverse && block->body->kind == STMT_STORE && !block->init};
    bool is_point = true;
    for (int d = 0; d < use->region.buffer->ndim; d++)
        is_point &= expr_is_int(use->region.ranges[d].extent, 1);
    Visitor visitor = {.expr = find_point, .data = &search};
    if (!is_point && search.complete)
        visit_stmt(&visitor, block->body);
    if (is_point || !search.complete || !search.points.count)
        vec_push(ctx->arena, points, *use);
    else
        for (int i = 0; i < search.points.count; i++)
            vec_push(ctx->arena, points, search.points.data[i]);
}

static bool has_symbolic_stride(const Map *symbols, const Region *region)
{
    for (int d = 0; d < region->buffer->ndim; d++)
        if (expr_has_symbolic_stride(symbols, region->ranges[d].min))
            return true;
    return false;
}

/* BLOCK's iterators lie in their domains. */
static void bind_iters(Analyzer *an, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++)
        analyzer_bind_range_opaque(an, block->iters[i].var, block->iters[i].domain);
}

/* The domain of the iterator of BLOCK that EXPR is, with a constant or none; NULL where it is no such thing. */
static const Expr *iter_extent(const BlockStmt *block, const Expr *expr)
{
    expr = rows_without_cast(expr);
    while ((expr->kind == EXPR_ADD || expr->kind == EXPR_SUB) && expr->args[1]->kind == EXPR_INT)
        expr = rows_without_cast(expr->args[0]);
    for (int i = 0; i < block->iter_count; i++)
        if (expr_is_var(expr, block->iters[i].var))
            return rows_without_cast(block->iters[i].domain.extent);
    return NULL;
}

/* Some iterator of BLOCK counts elements of several rows: B[v] with v < n * m, B[vi * (2 * m) + vj] with vj < 2 * m in rows of m. What it
   has to run over is a stretch of them, whose digits say little. SPLIT is REGION in digits. */
static bool counts_over_rows(const AccessRows *rows, const BlockStmt *block, const Region *region, const Region *split)
{
    for (int d = 0, at = 0; d < rows->flat->ndim; d++, at++) {
        const Expr *extent = rows->strides[d].count ? iter_extent(block, region->ranges[d].min) : NULL;
        for (int digit = 1; digit <= rows->strides[d].count; digit++) {
            const Expr *values = iter_extent(block, split->ranges[++at].min);
            if (values && rows_are_several(values, rows->buffer->shape[at]))
                return true;
        }
        if (extent && !expr_equal(extent, rows_without_cast(rows->buffer->shape[at])))
            return true;
    }
    return false;
}

const AccessRows *move_split_rows(Move *move, Region *own, UseList *uses)
{
    Context *ctx = move->sch->ctx;
    Map symbols = func_symbols(ctx, schedule_func(move->sch));
    bool strided = has_symbolic_stride(&symbols, own);
    for (int i = 0; i < uses->count; i++)
        strided |= has_symbolic_stride(&symbols, &uses->data[i].region);
    if (!strided)
        return NULL;
    UseList split = {0};
    vec_push(ctx->arena, &split, ((Use){move->block, *own}));
    for (int i = 0; i < uses->count; i++)
        add_points(move, &uses->data[i], &split);
    Region *regions = ARENA_ARRAY(ctx->arena, Region, split.count);
    for (int i = 0; i < split.count; i++)
        regions[i] = split.data[i].region;
    const AccessRows *rows = rows_of_regions(ctx, &symbols, regions, NULL, split.count);
    Analyzer *an = analyzer_new(ctx);
    for (int i = 0; i < split.count; i++) {
        const BlockStmt *block = node_block(split.data[i].partner);
        bind_iters(an, block);
        if (!rows || !rows_bound_region(an, &symbols, rows, &regions[i], &split.data[i].region) ||
            counts_over_rows(rows, block, &regions[i], &split.data[i].region))
            return NULL;
    }
    *own = split.data[0].region;
    uses->count = 0;
    for (int i = 1; i < split.count; i++)
        vec_push(ctx->arena, uses, split.data[i]);
    return rows;
}
