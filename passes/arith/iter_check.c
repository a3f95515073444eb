/* Independence: the splits of each mark must not overlap and cover it, fully for a bijection, by a factor else. */
#include "passes/arith/iter_internal.h"

/* --- Collecting --- */

static void collect_sum(Context *ctx, const IterSum *sum, SplitCollection *collection);

static void collect_split(Context *ctx, const IterSplit *split, SplitCollection *collection)
{
    MarkSplits *splits = NULL;
    for (int i = 0; i < collection->marks.count && !splits; i++)
        if (collection->marks.data[i].mark == split->source)
            splits = &collection->marks.data[i];
    if (!splits) {
        if (split->source->sum)
            collect_sum(ctx, split->source->sum, collection);
        vec_push(ctx->arena, &collection->marks, ((MarkSplits){.mark = split->source}));
        splits = &vec_last(&collection->marks);
    }
    vec_push(ctx->arena, &splits->splits, *split);
}

static void collect_sum(Context *ctx, const IterSum *sum, SplitCollection *collection)
{
    for (int i = 0; i < sum->count; i++)
        collect_split(ctx, &sum->args[i], collection);
}

void iter_collect_splits(Context *ctx, const IterSum *const *sums, int count, SplitCollection *collection)
{
    for (int i = 0; i < count; i++)
        collect_sum(ctx, sums[i], collection);
}

/* --- Checking --- */

/* The unused split with the least lower factor that is a multiple of EXPECTED: the digits between are simply not used. -1: none. */
static int next_after_gap(IterRewriter *r, const MarkSplits *splits, const bool *used, const Expr *expected)
{
    int found = -1;
    for (int i = 0; i < splits->splits.count; i++) {
        const Expr *lower = splits->splits.data[i].lower_factor;
        if (used[i] || !iter_prove_divisible(r->an, lower, expected))
            continue;
        if (found < 0 || iter_prove_divisible(r->an, splits->splits.data[found].lower_factor, lower))
            found = i;
    }
    return found;
}

static int next_split(IterRewriter *r, const MarkSplits *splits, const bool *used, const Expr *expected)
{
    for (int i = 0; i < splits->splits.count; i++)
        if (!used[i] && iter_prove_equal(r->an, splits->splits.data[i].lower_factor, expected))
            return i;
    return r->level == ITER_MAP_BIJECTIVE ? -1 : next_after_gap(r, splits, used, expected);
}

/* Every value of SPLIT, the only one of its padded mark, is taken: what is padded at an end is less than one step of it. */
static bool padding_within_step(IterRewriter *r, const IterSplit *split, const IterPadding *padding)
{
    const Expr *right = op_sub(r->ctx, op_sub(r->ctx, padding->padded->extent, padding->left_pad), padding->mark->extent);
    return analyzer_prove_less(r->an, padding->left_pad, split->lower_factor) && analyzer_prove_less(r->an, right, split->lower_factor);
}

/* A padded mark is not fully hit: with all of it in use only a single split of it can take every value; with a part of it, the values
   before padding must suffice. */
static bool padded_splits_cover(IterRewriter *r, const MarkSplits *splits, const IterPadding *padding, const Expr *covered, bool full,
                                bool divides)
{
    if (r->level == ITER_MAP_BIJECTIVE)
        return false;
    if (r->level == ITER_MAP_NO_CHECK)
        return true;
    if (full)
        return splits->splits.count == 1 && padding_within_step(r, &splits->splits.data[0], padding);
    return divides && analyzer_prove_less_equal(r->an, covered, padding->mark->extent);
}

static bool splits_cover(IterRewriter *r, const MarkSplits *splits)
{
    const Expr *expected = expr_one_like(r->ctx, splits->mark->extent);
    bool *used = ARENA_ARRAY(r->ctx->arena, bool, splits->splits.count);
    for (int i = 0; i < splits->splits.count; i++) {
        int next = next_split(r, splits, used, expected);
        if (next < 0)
            return false;
        used[next] = true;
        const IterSplit *split = &splits->splits.data[next];
        expected = analyzer_simplify(r->an, iter_product(r->ctx, split->extent, split->lower_factor));
    }
    const IterPadding *padding = iter_padding_of(r, splits->mark);
    bool full = iter_prove_equal(r->an, expected, splits->mark->extent);
    bool divides = full || iter_prove_divisible(r->an, splits->mark->extent, expected);
    if (padding)
        return padded_splits_cover(r, splits, padding, expected, full, divides);
    return r->level == ITER_MAP_BIJECTIVE ? full : divides;
}

bool iter_is_collected(const SplitCollection *collection, const IterMark *mark)
{
    for (int i = 0; i < collection->marks.count; i++)
        if (collection->marks.data[i].mark == mark)
            return true;
    return false;
}

/* A bounded sum that the map does not use as one iterator: then none of its parts may be used, since the bound ties them together. */
static bool constraint_is_kept(IterRewriter *r, const SplitCollection *collection, const IterConstraint *constraint)
{
    const IterMark *mark = iter_constrained_mark(r, constraint);
    if (!mark || iter_is_collected(collection, mark))
        return true;
    const IterSum *flat = &r->constrained.data[constraint->constrained];
    for (int i = 0; i < flat->count; i++)
        if (iter_is_collected(collection, flat->args[i].source))
            return false;
    return true;
}

bool iter_check_mapping(IterRewriter *r, const IterSum *const *sums, int count)
{
    SplitCollection collection = {0};
    iter_collect_splits(r->ctx, sums, count, &collection);
    for (int i = 0; i < collection.marks.count; i++)
        if (!splits_cover(r, &collection.marks.data[i])) {
            iter_fail(r, "the values are not independent of each other");
            return false;
        }
    for (int i = 0; r->level == ITER_MAP_BIJECTIVE && i < r->input_marks.count; i++)
        if (!iter_is_collected(&collection, r->input_marks.data[i]) && !expr_is_int(r->input_marks.data[i]->extent, 1)) {
            iter_fail(r, "an iterator is not used");
            return false;
        }
    return true;
}

bool iter_check_constraints(IterRewriter *r, const IterSum *const *sums, int count)
{
    SplitCollection collection = {0};
    iter_collect_splits(r->ctx, sums, count, &collection);
    for (int i = 0; i < r->constraints.sums.count; i++)
        if (!constraint_is_kept(r, &collection, &r->constraints.sums.data[i])) {
            iter_fail(r, "the predicate bounds iterators together that are used apart");
            return false;
        }
    return true;
}
