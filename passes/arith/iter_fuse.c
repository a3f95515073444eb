/* Fusing: x1 * s1 + ... + xn * c + base as one iterator y * c + base, where the scales are those of a mixed-radix number, so that y =
   x1 * (s1 / c) + ... + xn runs over [0, extent). Sums that a predicate bounds take part as one digit with the extent that the
   predicate leaves. */
#include "passes/arith/iter_internal.h"

#include "ir/fold.h"

/* --- Choosing splits --- */

static int count_factors(const Expr *expr)
{
    return expr->kind == EXPR_MUL ? count_factors(expr->args[0]) + count_factors(expr->args[1]) : 1;
}

/* The split not in VISITED, at or before LAST and (unless NULL) of SOURCE, whose scale is least: least constant, unit extents first;
   else fewest factors. -1: none. */
static int find_base(const IterSum *sum, const bool *visited, const IterMark *source, int last)
{
    int best = -1, fewest = 0;
    int64_t least = 0, scale;
    for (int i = last; i >= 0; i--) {
        const IterSplit *split = &sum->args[i];
        if (visited[i] || (source && split->source != source) || !expr_const_int(split->scale, &scale))
            continue;
        bool unit = best >= 0 && scale == least && expr_is_int(split->extent, 1) && !expr_is_int(sum->args[best].extent, 1);
        if (best < 0 || scale < least || unit) {
            least = scale;
            best = i;
        }
    }
    if (best >= 0)
        return best;
    for (int i = last; i >= 0; i--) {
        if (visited[i] || (source && sum->args[i].source != source))
            continue;
        int factors = count_factors(sum->args[i].scale);
        if (best < 0 || factors < fewest) {
            fewest = factors;
            best = i;
        }
    }
    return best;
}

/* The split whose scale is SCALE; of several a unit one. */
static int find_scale(IterRewriter *r, const IterSum *sum, const bool *visited, const Expr *scale, const IterMark *source, int last)
{
    int found = -1;
    for (int i = last; i >= 0; i--) {
        const IterSplit *split = &sum->args[i];
        if (visited[i] || (source && split->source != source) || !analyzer_prove_equal(r->an, split->scale, scale))
            continue;
        if (expr_is_int(split->extent, 1))
            return i;
        if (found < 0)
            found = i;
    }
    return found;
}

/* The split with the greatest scale below SCALE: its steps overlap with the digits below it, which leaves no gap. */
static int find_scale_below(IterRewriter *r, const IterSum *sum, const bool *visited, const Expr *scale)
{
    int found = -1;
    for (int i = sum->count - 1; i >= 0; i--) {
        if (visited[i] || !analyzer_prove_less(r->an, sum->args[i].scale, scale) || !analyzer_prove_at_least(r->an, sum->args[i].scale, 0))
            continue;
        if (found < 0 || analyzer_prove_less(r->an, sum->args[found].scale, sum->args[i].scale))
            found = i;
    }
    return found;
}

/* --- Splits of one mark that meet: x // 4 * 4 + x % 4 --- */

static bool has_common_source(const IterSum *sum)
{
    for (int i = 0; i < sum->count; i++)
        for (int j = i + 1; j < sum->count; j++)
            if (sum->args[i].source == sum->args[j].source)
                return true;
    return false;
}

/* The lowest remaining split of the source of split LAST, joined with those that continue it upward. */
static IterSplit combine_from(IterRewriter *r, const IterSum *sum, bool *visited, int last)
{
    const IterMark *source = sum->args[last].source;
    int index = find_base(sum, visited, source, last);
    visited[index] = true;
    IterSplit low = sum->args[index];
    for (;;) {
        const Expr *scale = op_mul(r->ctx, low.extent, low.scale);
        index = find_scale(r, sum, visited, scale, source, last);
        if (index < 0)
            return low;
        const IterSplit *high = &sum->args[index];
        if (!analyzer_prove_equal(r->an, high->lower_factor, op_mul(r->ctx, low.lower_factor, low.extent)))
            return low;
        visited[index] = true;
        low.extent = analyzer_simplify(r->an, op_mul(r->ctx, high->extent, low.extent));
    }
}

static bool combine_same_source(IterRewriter *r, IterSum *sum)
{
    if (!has_common_source(sum))
        return false;
    bool *visited = ARENA_ARRAY(r->ctx->arena, bool, sum->count);
    IterSum result = iter_sum_new(r->ctx, sum->args, sum->count, sum->base);
    int next = sum->count; /* filled from the end, so that the order is kept */
    for (int i = sum->count - 1; i >= 0; i--)
        while (!visited[i])
            result.args[--next] = combine_from(r, sum, visited, i);
    result.args += next;
    result.count -= next;
    *sum = result;
    return true;
}

/* --- Fusing --- */

typedef struct {
    const IterSum *sum;
    bool *visited;
    VEC(IterSplit) flat, grouped; /* innermost first */
    const Expr *base_scale;
    const Expr *expected_scale; /* of the next digit */
    const Expr *offset;     /* of the constrained groups, in steps of BASE_SCALE: the least value, as they begin at their own offsets */
    const Expr *overlap;    /* by how much digits reach into the next ones */
} Fusion;

static const Expr *divide_scale(IterRewriter *r, const Expr *scale, const Expr *by)
{
    if (expr_is_int(by, -1))
        return analyzer_simplify(r->an, op_sub(r->ctx, expr_zero_like(r->ctx, scale), scale));
    return analyzer_simplify(r->an, op_floordiv(r->ctx, scale, by));
}

FusedSum *iter_find_fused(IterRewriter *r, const IterSum *flat)
{
    for (int i = 0; i < r->fused.count; i++) {
        const IterSum *known = &r->fused.data[i].flat;
        int same = known->count == flat->count ? 0 : -1;
        while (same >= 0 && same < flat->count && iter_split_equal(&known->args[same], &flat->args[same], true))
            same++;
        if (same == flat->count)
            return &r->fused.data[i];
    }
    return NULL;
}

/* The largest constrained sum whose innermost split is SPLIT, or NULL. */
static const IterSum *find_constraint(IterRewriter *r, const IterSplit *split)
{
    for (int i = r->constrained.count - 1; i >= 0; i--) {
        const IterSum *flat = &r->constrained.data[i];
        if (flat->count && iter_split_equal(split, &flat->args[flat->count - 1], false))
            return flat;
    }
    return NULL;
}

static void push_flat(IterRewriter *r, Fusion *f, int index)
{
    IterSplit split = f->sum->args[index];
    split.scale = divide_scale(r, split.scale, f->base_scale);
    f->visited[index] = true;
    vec_push(r->ctx->arena, &f->flat, split);
}

/* Takes all splits of the constrained sum FLAT, scaled by SCALE, as one digit; false when some of them are missing. */
static bool take_constrained(IterRewriter *r, Fusion *f, const IterSum *flat, const Expr *scale)
{
    for (int i = flat->count - 1; i >= 0; i--) {
        int k = 0;
        for (; k < f->sum->count; k++)
            if (!f->visited[k] && iter_split_equal(&f->sum->args[k], &flat->args[i], false) &&
                analyzer_prove_equal(r->an, op_mul(r->ctx, flat->args[i].scale, scale), f->sum->args[k].scale))
                break;
        if (k == f->sum->count)
            return false;
        push_flat(r, f, k);
    }
    const FusedSum *known = iter_find_fused(r, flat);
    const Expr *digit = divide_scale(r, scale, f->base_scale);
    vec_push(r->ctx->arena, &f->grouped, iter_split_whole(r->ctx, known->mark, digit));
    f->offset = op_add(r->ctx, f->offset, op_mul(r->ctx, known->offset, digit));
    f->expected_scale = analyzer_simplify(r->an, op_mul(r->ctx, known->mark->extent, scale));
    return true;
}

/* The next digit, whose scale is then f->expected_scale; -1 when there is none. */
static int choose_digit(IterRewriter *r, Fusion *f)
{
    int index = find_scale(r, f->sum, f->visited, f->expected_scale, NULL, f->sum->count - 1);
    if (index >= 0 || r->level == ITER_MAP_BIJECTIVE || !expr_is_int(f->base_scale, 1))
        return index;
    index = find_scale_below(r, f->sum, f->visited, f->expected_scale);
    if (index < 0)
        return index;
    f->overlap = op_add(r->ctx, f->overlap, op_sub(r->ctx, f->expected_scale, f->sum->args[index].scale));
    f->expected_scale = f->sum->args[index].scale;
    return index;
}

static bool fuse_digits(IterRewriter *r, Fusion *f, int first)
{
    for (int index = first; f->flat.count < f->sum->count;) {
        const IterSum *constraint = find_constraint(r, &f->sum->args[index]);
        if (constraint) {
            if (!take_constrained(r, f, constraint, f->expected_scale))
                return false;
        } else {
            push_flat(r, f, index);
            vec_push(r->ctx->arena, &f->grouped, vec_last(&f->flat));
            f->expected_scale = analyzer_simplify(r->an, op_mul(r->ctx, f->sum->args[index].extent, f->expected_scale));
        }
        if (f->flat.count < f->sum->count && (index = choose_digit(r, f)) < 0)
            return false;
    }
    return true;
}

static IterSum reversed_sum(IterRewriter *r, const IterSplit *args, int count, DType dtype)
{
    IterSum sum = iter_sum_new(r->ctx, args, count, expr_int(r->ctx, dtype, 0));
    for (int i = 0; i < count; i++)
        sum.args[i] = args[count - 1 - i];
    return sum;
}

/* The mark that FUSION describes, an old one where the same splits were fused before. */
static const FusedSum *fused_mark(IterRewriter *r, const Fusion *f)
{
    IterSum flat = reversed_sum(r, f->flat.data, f->flat.count, f->sum->dtype);
    FusedSum *known = iter_find_fused(r, &flat);
    if (known)
        return analyzer_prove_equal(r->an, f->offset, known->offset) ? known : NULL;
    IterSum *structured = ARENA_NEW(r->ctx->arena, IterSum);
    *structured = reversed_sum(r, f->grouped.data, f->grouped.count, f->sum->dtype);
    const Expr *extent = op_add(r->ctx, divide_scale(r, f->expected_scale, f->base_scale), f->overlap);
    const IterMark *mark = iter_mark_new(r->ctx, NULL, structured, analyzer_simplify(r->an, extent));
    FusedSum fused = {flat, *structured, mark, f->offset};
    vec_push(r->ctx->arena, &r->fused, fused);
    return &vec_last(&r->fused);
}

/* Splits that cancelled: i - i. */
static void drop_cancelled(IterRewriter *r, IterSum *sum)
{
    IterSum result = iter_sum_new(r->ctx, sum->args, sum->count, sum->base);
    result.count = 0;
    for (int i = 0; i < sum->count; i++)
        if (!expr_is_int(sum->args[i].scale, 0))
            result.args[result.count++] = sum->args[i];
    *sum = result;
}

bool iter_fuse(IterRewriter *r, IterSum *sum, bool early)
{
    drop_cancelled(r, sum);
    if (sum->count == 0)
        return true;
    if (combine_same_source(r, sum) && early && sum->count <= 1)
        return true;
    const Expr *zero = expr_int(r->ctx, sum->dtype, 0);
    Fusion f = {.sum = sum, .visited = ARENA_ARRAY(r->ctx->arena, bool, sum->count), .offset = zero, .overlap = zero};
    int first = find_base(sum, f.visited, NULL, sum->count - 1);
    if (first < 0)
        return false;
    f.base_scale = f.expected_scale = sum->args[first].scale;
    const FusedSum *fused = fuse_digits(r, &f, first) ? fused_mark(r, &f) : NULL;
    if (!fused)
        return false;
    *sum = iter_sum_of_split(r->ctx, iter_split_whole(r->ctx, fused->mark, f.base_scale), op_add(r->ctx, sum->base, op_mul(r->ctx, f.offset, f.base_scale)));
    return true;
}
