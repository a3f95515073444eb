/* See access_rows.h. Where one access to the memory is not known to stay in its row, all stay as they are: j may be m. */

#include <string.h>

#include "passes/analysis/model/access_init.h"
#include "passes/analysis/normal/access_rows.h"
#include "passes/analysis/normal/known.h"
#include "passes/analysis/prove/portfolio.h"

typedef struct {
    Context *ctx;
    const Map *symbols, *sizes;
    Analyzer *an; /* knows what holds where the access runs; NULL: not asked yet */
} RowProof;

/* A cheap argument that VALUE lies in [0, EXTENT): it stands for a loop over just that. */
static bool is_loop_over(const Access *access, const Expr *value, const Expr *extent)
{
    const Frame *frame = access->frame;
    while (frame && value->kind == EXPR_VAR && frame->var != value->value.var)
        frame = frame->outer;
    if (!frame || value->kind != EXPR_VAR)
        return false;
    if (frame->kind == FRAME_BIND)
        return is_loop_over(access, rows_without_cast(frame->value), extent);
    return expr_is_int(frame->range.min, 0) && expr_equal(rows_without_cast(frame->range.extent), rows_without_cast(extent)) &&
           !access_runs_without(access, frame);
}

static bool is_at_most(RowProof *proof, const Access *access, const Expr *a, const Expr *b)
{
    return analyzer_prove_symbolic(proof->an, op_compare(proof->ctx, EXPR_LE, a, b)) || access_shows_at_most(proof->ctx, access, proof->sizes, a, b);
}

/* RANGE, seen from ACCESS, lies in [0, EXTENT) wherever that runs. */
static bool stays_below(RowProof *proof, const Access *access, Range range, const Expr *extent)
{
    Context *ctx = proof->ctx;
    if (expr_is_int(range.extent, 1) && is_loop_over(access, rows_without_cast(range.min), extent))
        return true;
    Subst values = frame_values(ctx, access->frame);
    if (!proof->an) {
        ExprList point = {0};
        if (!access_point(ctx, access, &point))
            point.count = 0;
        proof->an = analyzer_of_access(ctx, access, &point, proof->sizes);
    }
    const Expr *first = subst_expr(ctx, &values, range.min);
    const Expr *end = op_add(ctx, first, op_cast(ctx, first->dtype, subst_expr(ctx, &values, range.extent)));
    return is_at_most(proof, access, expr_int(ctx, first->dtype, 0), first) && is_at_most(proof, access, end, op_cast(ctx, first->dtype, extent));
}

/* Moves a whole stride to or from RANGES[1] where that is what it takes to bring it into its range: m - 1 - j is in row 0, not m rows behind
   -1 - j. */
static bool fit_digit(RowProof *proof, const Access *access, Range *ranges, const Expr *extent)
{
    static const int moves[] = {0, 1, -1};
    Context *ctx = proof->ctx;
    for (int i = 0; i < 3; i++) {
        const Expr *min = op_add(ctx, ranges[1].min, op_mul_int(ctx, op_cast(ctx, ranges[1].min->dtype, extent), moves[i]));
        if (!stays_below(proof, access, (Range){min, ranges[1].extent}, extent))
            continue;
        ranges[1].min = min;
        ranges[0].min = op_add_int(ctx, ranges[0].min, -moves[i]);
        return true;
    }
    return false;
}

/* The digits of ACCESS in RESULT, each but the first shown to be in its range, from the last on. */
static bool split_access(Context *ctx, const Map *symbols, const Map *sizes, const AccessRows *rows, const Access *access, Region *result)
{
    RowProof proof = {ctx, symbols, sizes, NULL};
    if (!rows_split_region(ctx, symbols, rows, &access->region, access->frame, result))
        return false;
    for (int d = rows->flat->ndim - 1, at = rows->buffer->ndim - 1; d >= 0; d--, at--)
        for (int digit = rows->strides[d].count; digit > 0; digit--, at--)
            if (!fit_digit(&proof, access, &result->ranges[at - 1], rows->buffer->shape[at]))
                return false;
    return true;
}

/* --- all accesses --- */

/* Some index of ACCESS has a symbolic stride, by itself or as what it stands for. */
static bool has_stride(const Map *symbols, const Access *access)
{
    for (int d = 0; d < access->buffer->ndim; d++) {
        const Expr *index = access->region.ranges[d].min;
        const Frame *binding = rows_binding(access->frame, index);
        if (expr_has_symbolic_stride(symbols, binding ? binding->value : index))
            return true;
    }
    return false;
}

/* All accesses of ACCESSES to DATA, or none. */
static void split_data(Context *ctx, const Map *symbols, const Map *sizes, AccessList *accesses, const Var *data)
{
    VEC(Access *) found = {0};
    VEC(Region) regions = {0};
    VEC(const Frame *) frames = {0};
    for (int i = 0; i < accesses->count; i++) {
        Access *access = &accesses->data[i];
        if (access->data != data)
            continue;
        vec_push(ctx->arena, &found, access);
        if (!access->whole) {
            vec_push(ctx->arena, &regions, ((Region){access->buffer, access->region.ranges, access->region.span}));
            vec_push(ctx->arena, &frames, access->frame);
        }
    }
    const AccessRows *rows = rows_of_regions(ctx, symbols, regions.data, frames.data, regions.count);
    Region *split = ARENA_ARRAY(ctx->arena, Region, found.count);
    for (int i = 0; rows && i < found.count; i++)
        if (found.data[i]->whole)
            split[i] = region_whole(ctx, rows->buffer);
        else if (!split_access(ctx, symbols, sizes, rows, found.data[i], &split[i]))
            rows = NULL;
    for (int i = 0; rows && i < found.count; i++) {
        found.data[i]->given = found.data[i]->region;
        found.data[i]->region = split[i];
        found.data[i]->buffer = rows->buffer;
        found.data[i]->rows = rows;
    }
}

void accesses_split_rows(Context *ctx, const Func *func, AccessList *accesses)
{
    Map symbols = {0}, done = {0}, sizes = {0};
    if (argument_is_on(ctx, ARGUMENT_DIGITS))
        symbols = func_symbols(ctx, func);
    for (int i = 0; symbols.count && i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (access->whole || access->fence)
            continue;
        if (!sizes.count)
            sizes = func_sizes(ctx, func);
        if (map_has(&done, access->data) || !has_stride(&symbols, access))
            continue;
        map_set(ctx->arena, &done, access->data, access->data);
        split_data(ctx, &symbols, &sizes, accesses, access->data);
    }
}

Access access_unsplit(const Access *access)
{
    Access plain = *access;
    if (access->rows) {
        plain.buffer = access->rows->flat;
        plain.region = access->given;
        plain.rows = NULL;
    }
    return plain;
}

AccessList accesses_unsplit(Context *ctx, const AccessList *accesses)
{
    AccessList plain = {0};
    for (int i = 0; i < accesses->count; i++) {
        if (!accesses->data[i].rows)
            continue;
        if (!plain.count) {
            vec_reserve(ctx->arena, &plain, accesses->count);
            plain.count = accesses->count;
            memcpy(plain.data, accesses->data, sizeof *plain.data * (size_t)plain.count);
        }
        plain.data[i] = access_unsplit(&plain.data[i]);
    }
    return plain.count ? plain : *accesses;
}
