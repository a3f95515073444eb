/* Division of a map by a subspace: each binding as outer * extent(inner) + inner, where inner uses the inner iterators only and outer
   the others. A sum divides where its splits are outer ones followed by inner ones; the splits of a fused mark divide where the border
   between outer and inner digits is a border between two of them. */
#include "passes/arith/iter_internal.h"

#include "ir/walk.h"

/* A divided value: outer * inner_extent + inner. A part that is one split keeps it as such. */
typedef enum { DIVIDED_INNER, DIVIDED_OUTER, DIVIDED_BOTH } DividedKind;
typedef struct {
    DividedKind kind;
    IterValue outer, inner; /* never ITER_PLAIN */
    const Expr *outer_extent, *inner_extent;
} Divided;

typedef struct {
    IterSplit split;
    Divided divided;
} DividedSplit;

typedef struct {
    Analyzer *an;
    Context *ctx;
    const Var *const *sub_iters;
    int sub_count;
    SplitCollection collection;
    VEC(DividedSplit) known;
    const Expr *outer_predicate, *inner_predicate;
    bool failed;
} Divider;

static Divided divide_sum(Divider *d, const IterSum *sum, const Expr *mark_extent);

/* --- Building --- */

static IterValue sum_value(IterSum sum)
{
    return (IterValue){.form = ITER_SUM, .sum = sum};
}

static IterValue split_value(IterSplit split)
{
    return (IterValue){.form = ITER_SPLIT, .split = split};
}

static Divided fail(Divider *d, DType dtype)
{
    d->failed = true;
    const Expr *zero = expr_int(d->ctx, dtype, 0);
    return (Divided){DIVIDED_BOTH, sum_value(iter_sum_of_base(zero)), sum_value(iter_sum_of_base(zero)), zero, zero};
}

static Divided only_inner(Divider *d, IterValue inner, const Expr *extent)
{
    return (Divided){DIVIDED_INNER, sum_value(iter_sum_of_base(expr_zero_like(d->ctx, extent))), inner, expr_one_like(d->ctx, extent),
                     extent};
}

static Divided only_outer(Divider *d, IterValue outer, const Expr *extent)
{
    return (Divided){DIVIDED_OUTER, outer, sum_value(iter_sum_of_base(expr_zero_like(d->ctx, extent))), extent,
                     expr_one_like(d->ctx, extent)};
}

static const IterMark *value_mark(Divider *d, const IterValue *value, const Expr *extent)
{
    IterSum *sum = ARENA_NEW(d->ctx->arena, IterSum);
    *sum = value->form == ITER_SUM ? value->sum : iter_sum_of_split(d->ctx, value->split, expr_zero_like(d->ctx, extent));
    return iter_mark_new(d->ctx, NULL, sum, extent);
}

static IterSplit value_split(Divider *d, const IterValue *value, const Expr *extent)
{
    if (value->form == ITER_SPLIT)
        return value->split;
    return iter_split_whole(d->ctx, value_mark(d, value, extent), expr_one_like(d->ctx, extent));
}

static const Expr *value_to_expr(Divider *d, const IterValue *value)
{
    return value->form == ITER_SPLIT ? iter_split_to_expr(d->an, &value->split) : iter_sum_to_expr(d->an, &value->sum);
}

/* ARGS (innermost first) as the digits of one number, plus BASE; *EXTENT is the number's. */
static IterSum compact_sum(Divider *d, const IterSplit *args, int count, const Expr *base, const Expr **extent)
{
    IterSum sum = iter_sum_new(d->ctx, args, count, base);
    *extent = expr_one_like(d->ctx, base);
    for (int i = 0; i < count; i++) {
        sum.args[count - 1 - i] = args[i];
        sum.args[count - 1 - i].scale = *extent;
        *extent = op_mul(d->ctx, *extent, args[i].extent);
    }
    return sum;
}

/* --- Splits --- */

static Divided *find_known(Divider *d, const IterSplit *split)
{
    for (int i = 0; i < d->known.count; i++)
        if (iter_split_equal(&d->known.data[i].split, split, true))
            return &d->known.data[i].divided;
    return NULL;
}

static void note(Divider *d, IterSplit split, Divided divided)
{
    vec_push(d->ctx->arena, &d->known, ((DividedSplit){split, divided}));
}

static bool is_inner_var(const Divider *d, const Var *var)
{
    for (int i = 0; i < d->sub_count; i++)
        if (d->sub_iters[i] == var)
            return true;
    return false;
}

static const MarkSplits *splits_of(const Divider *d, const IterMark *mark)
{
    for (int i = 0; i < d->collection.marks.count; i++)
        if (d->collection.marks.data[i].mark == mark)
            return &d->collection.marks.data[i];
    return NULL;
}

static void divide_input(Divider *d, const MarkSplits *splits)
{
    bool inner = is_inner_var(d, iter_input_var(splits->mark->input));
    for (int i = 0; i < splits->splits.count; i++) {
        IterSplit split = splits->splits.data[i];
        note(d, split, inner ? only_inner(d, split_value(split), split.extent) : only_outer(d, split_value(split), split.extent));
    }
}

static int split_with_lower(Divider *d, const MarkSplits *splits, const bool *used, const Expr *lower)
{
    for (int i = 0; i < splits->splits.count; i++)
        if (!used[i] && analyzer_prove_equal(d->an, splits->splits.data[i].lower_factor, lower))
            return i;
    return -1;
}

static bool covers_mark(Divider *d, const IterSplit *split)
{
    return expr_is_int(split->lower_factor, 1) && analyzer_prove_equal(d->an, split->extent, split->source->extent);
}

/* All splits of a mark that lies in one space. */
static void note_one_space(Divider *d, const MarkSplits *splits, const Divided *mark)
{
    bool inner = mark->kind == DIVIDED_INNER;
    const IterMark *source = inner ? value_mark(d, &mark->inner, mark->inner_extent) : value_mark(d, &mark->outer, mark->outer_extent);
    for (int i = 0; i < splits->splits.count; i++) {
        IterSplit split = splits->splits.data[i], part = split;
        part.source = source;
        note(d, split, inner ? only_inner(d, split_value(part), split.extent) : only_outer(d, split_value(part), split.extent));
    }
}

/* DIVIDEND // DIVISOR where nothing is left over; else NULL. */
static const Expr *whole_quotient(Divider *d, const Expr *dividend, const Expr *divisor)
{
    if (!iter_prove_divisible(d->an, dividend, divisor))
        return NULL;
    const Expr *exact = iter_exact_quotient(d->ctx, dividend, divisor);
    return exact ? exact : analyzer_simplify(d->an, op_floordiv(d->ctx, dividend, divisor));
}

/* SPLIT is cut by the border between INNER, of extent INNER_EXTENT, and OUTER: with 10 == 2 * 5, v % 10 is
   (outer % 2) * 5 + inner where v is outer * 5 + inner. Notes both parts; false where the border cuts no whole digit off. */
static bool divide_cut_split(Divider *d, IterSplit split, const IterMark *outer, const IterMark *inner, const Expr *inner_extent)
{
    const Expr *below = whole_quotient(d, inner_extent, split.lower_factor), *above = below ? whole_quotient(d, split.extent, below) : NULL;
    if (!above || expr_is_int(above, 1))
        return false;
    IterSplit high = split, low = split;
    high.source = outer;
    high.lower_factor = expr_one_like(d->ctx, split.lower_factor);
    high.extent = above;
    low.source = inner;
    low.extent = below;
    note(d, split, (Divided){DIVIDED_BOTH, split_value(high), split_value(low), above, below});
    return true;
}

/* Notes the splits below the border as splits of the inner part of MARK, those above it as splits of the outer part; one may be cut by it.
   False when the border lies elsewhere. */
static bool divide_at_border(Divider *d, const MarkSplits *splits, const Divided *mark)
{
    const IterMark *outer = value_mark(d, &mark->outer, mark->outer_extent), *inner = value_mark(d, &mark->inner, mark->inner_extent);
    const Expr *expected = expr_one_like(d->ctx, mark->inner_extent), *first_outer = NULL;
    bool *used = ARENA_ARRAY(d->ctx->arena, bool, splits->splits.count), past_border = expr_is_int(mark->inner_extent, 1);
    for (int i = 0; i < splits->splits.count; i++) {
        int next = split_with_lower(d, splits, used, expected);
        if (next < 0)
            return false;
        used[next] = true;
        IterSplit split = splits->splits.data[next], part = split;
        if (past_border) {
            first_outer = first_outer ? first_outer : split.lower_factor;
            part.source = outer;
            part.lower_factor = op_floordiv(d->ctx, split.lower_factor, first_outer);
            note(d, split, only_outer(d, split_value(part), split.extent));
        } else if (!iter_prove_divisible(d->an, mark->inner_extent, op_mul(d->ctx, expected, split.extent)) &&
                   divide_cut_split(d, split, outer, inner, mark->inner_extent)) {
            past_border = true;
            first_outer = mark->inner_extent;
        } else {
            part.source = inner;
            note(d, split, only_inner(d, split_value(part), split.extent));
        }
        expected = op_mul(d->ctx, expected, split.extent);
        past_border |= analyzer_prove_equal(d->an, expected, mark->inner_extent);
    }
    return past_border;
}

static Divided divide_split(Divider *d, const IterSplit *split)
{
    Divided *known = find_known(d, split);
    if (known)
        return *known;
    const MarkSplits *splits = splits_of(d, split->source);
    if (split->source->input) {
        divide_input(d, splits);
    } else {
        Divided mark = divide_sum(d, split->source->sum, split->source->extent);
        if (d->failed || (splits->splits.count == 1 && covers_mark(d, split)))
            return mark;
        if (mark.kind != DIVIDED_BOTH)
            note_one_space(d, splits, &mark);
        else if (!divide_at_border(d, splits, &mark))
            return fail(d, split->scale->dtype);
    }
    known = find_known(d, split);
    return known ? *known : fail(d, split->scale->dtype);
}

/* --- Sums --- */

/* DIVIDED plus BASE, which belongs to the inner part. */
static Divided add_base(Divider *d, Divided divided, const Expr *base)
{
    if (expr_is_int(base, 0))
        return divided;
    IterValue *inner = &divided.inner;
    if (inner->form == ITER_SPLIT)
        *inner = sum_value(iter_sum_of_split(d->ctx, inner->split, base));
    else
        inner->sum.base = op_add(d->ctx, inner->sum.base, base);
    return divided;
}

/* The digits of SUM sorted into outer and inner ones (innermost first). */
typedef struct {
    VEC(IterSplit) outer, inner;
    const Expr *extent; /* of all digits together */
} SortedDigits;

/* False when outer digits lie below inner ones, or when a digit's scale is not the extent of those below it: overlapping digits have no
   place in a division. */
static bool sort_digits(Divider *d, const IterSum *sum, SortedDigits *digits)
{
    digits->extent = expr_int(d->ctx, sum->dtype, 1);
    for (int i = sum->count - 1; i >= 0; i--) {
        if (!analyzer_prove_equal(d->an, sum->args[i].scale, digits->extent))
            return false;
        Divided divided = divide_split(d, &sum->args[i]);
        IterSplit digit;
        if (divided.kind == DIVIDED_INNER && digits->outer.count == 0) {
            digit = value_split(d, &divided.inner, divided.inner_extent);
            vec_push(d->ctx->arena, &digits->inner, digit);
        } else if (divided.kind == DIVIDED_OUTER) {
            digit = value_split(d, &divided.outer, divided.outer_extent);
            vec_push(d->ctx->arena, &digits->outer, digit);
        } else {
            return false;
        }
        digits->extent = op_mul(d->ctx, digits->extent, digit.extent);
    }
    return !d->failed;
}

/* 0 <= SUM < EXTENT; the lower bound only where SUM has a base, which it has from a lower bound of the predicate. */
static const Expr *within_extent(Divider *d, const IterSum *sum, const Expr *extent)
{
    const Expr *value = iter_sum_to_expr(d->an, sum), *below = op_compare(d->ctx, EXPR_LT, value, extent);
    if (expr_is_int(sum->base, 0))
        return below;
    return op_and(d->ctx, op_compare(d->ctx, EXPR_LE, expr_zero_like(d->ctx, extent), value), below);
}

/* A predicate bounds the whole sum: it is part of one space only, or the sum does not divide. A sum that was padded instead does not
   divide either. */
static Divided divide_bounded(Divider *d, const SortedDigits *digits, IterSum outer, IterSum inner, const Expr *extent)
{
    if (!analyzer_prove_less_equal(d->an, extent, digits->extent))
        return fail(d, outer.dtype);
    if (digits->inner.count == 0) {
        outer.base = inner.base;
        d->outer_predicate = op_and(d->ctx, d->outer_predicate, within_extent(d, &outer, extent));
        return only_outer(d, sum_value(outer), extent);
    }
    if (digits->outer.count == 0) {
        d->inner_predicate = op_and(d->ctx, d->inner_predicate, within_extent(d, &inner, extent));
        return only_inner(d, sum_value(inner), extent);
    }
    return fail(d, outer.dtype);
}

static Divided divide_sum(Divider *d, const IterSum *sum, const Expr *mark_extent)
{
    if (sum->count == 0) {
        const Expr *one = expr_int(d->ctx, sum->dtype, 1);
        return (Divided){DIVIDED_BOTH, sum_value(iter_sum_of_base(expr_zero_like(d->ctx, one))), sum_value(iter_sum_of_base(sum->base)),
                         one, one};
    }
    bool whole = !mark_extent || analyzer_prove_equal(d->an, sum->args[0].extent, mark_extent);
    if (sum->count == 1 && whole) {
        if (!expr_is_int(sum->args[0].scale, 1))
            return fail(d, sum->dtype);
        return add_base(d, divide_split(d, &sum->args[0]), sum->base);
    }
    SortedDigits digits = {0};
    if (!sort_digits(d, sum, &digits))
        return fail(d, sum->dtype);
    const Expr *outer_extent, *inner_extent;
    IterSum outer = compact_sum(d, digits.outer.data, digits.outer.count, expr_int(d->ctx, sum->dtype, 0), &outer_extent);
    IterSum inner = compact_sum(d, digits.inner.data, digits.inner.count, sum->base, &inner_extent);
    if (!mark_extent || !analyzer_prove_equal(d->an, digits.extent, mark_extent))
        return mark_extent ? divide_bounded(d, &digits, outer, inner, mark_extent) : fail(d, sum->dtype);
    if (digits.outer.count == 0)
        return only_inner(d, sum_value(inner), inner_extent);
    if (digits.inner.count == 0 && expr_is_int(sum->base, 0))
        return only_outer(d, sum_value(outer), outer_extent);
    return (Divided){DIVIDED_BOTH, sum_value(outer), sum_value(inner), outer_extent, inner_extent};
}

/* --- Public --- */

/* EXPR of one space without the iterators of the other: those in it can only be trivial ones, which are constants. */
static const Expr *without_other_space(Divider *d, const IterRewriter *r, const IterMapQuery *query, const Expr *expr, bool inner)
{
    for (int i = 0; i < query->iter_count; i++) {
        const Var *var = query->iters[i].var;
        const IterValue *value = map_get(&r->inputs, var);
        if (is_inner_var(d, var) != inner && value->form == ITER_SUM && value->sum.count == 0)
            expr = subst_one(d->ctx, expr, var, value->sum.base);
    }
    return expr;
}

static bool uses_space(Divider *d, const IterMapQuery *query, const Expr *expr, bool inner)
{
    for (int i = 0; i < query->iter_count; i++)
        if (is_inner_var(d, query->iters[i].var) == inner && expr_uses_var(expr, query->iters[i].var))
            return true;
    return false;
}

/* Keeps CONDITION in the predicate of its space; false when it ties both together. */
static bool keep_condition(Divider *d, const IterRewriter *r, const IterMapQuery *query, const Expr *condition)
{
    bool inner = uses_space(d, query, condition, true);
    condition = without_other_space(d, r, query, condition, inner);
    if (analyzer_prove(d->an, condition))
        return true;
    const Expr **predicate = inner ? &d->inner_predicate : &d->outer_predicate;
    *predicate = op_and(d->ctx, *predicate, condition);
    return !inner || !uses_space(d, query, condition, false);
}

/* What the divided sums do not express: bounds of single iterators, which only narrowed their extents, and of sums that the bindings do
   not use. */
static bool keep_conditions(Divider *d, IterRewriter *r, const IterMapQuery *query)
{
    for (int i = 0; i < r->constraints.narrowings.count; i++)
        if (!keep_condition(d, r, query, r->constraints.narrowings.data[i]))
            return false;
    for (int i = 0; i < r->constraints.sums.count; i++) {
        const IterConstraint *constraint = &r->constraints.sums.data[i];
        const IterMark *mark = iter_constrained_mark(r, constraint);
        if ((!mark || !iter_is_collected(&d->collection, mark)) && !keep_condition(d, r, query, constraint->condition))
            return false;
    }
    return true;
}

bool iter_map_divide_subspace(Analyzer *an, const IterMapQuery *query, const Var *const *sub_iters, int sub_count,
                              SubspaceDivision *division)
{
    Context *ctx = analyzer_context(an);
    IterRewriter r;
    IterMapResult map;
    if (!iter_detect(&r, an, query, &map))
        return false;
    const Expr *truth = expr_bool(ctx, true);
    Divider d = {.an = an, .ctx = ctx, .sub_iters = sub_iters, .sub_count = sub_count, .outer_predicate = truth, .inner_predicate = truth};
    iter_collect_splits(ctx, map.sums, map.count, &d.collection);
    *division = (SubspaceDivision){.bindings = ARENA_ARRAY(ctx->arena, DividedBinding, map.count), .count = map.count};
    for (int i = 0; i < map.count; i++) {
        Divided divided = divide_sum(&d, map.sums[i], NULL);
        if (d.failed)
            return false;
        const Expr *outer = without_other_space(&d, &r, query, value_to_expr(&d, &divided.outer), false);
        const Expr *inner = without_other_space(&d, &r, query, value_to_expr(&d, &divided.inner), true);
        division->bindings[i] = (DividedBinding){outer, divided.outer_extent, inner, divided.inner_extent};
    }
    if (!keep_conditions(&d, &r, query))
        return false;
    division->outer_predicate = d.outer_predicate;
    division->inner_predicate = d.inner_predicate;
    return true;
}

Range iter_map_filled_range(Analyzer *an, const DividedBinding *value, const VarRange *iters, int iter_count)
{
    Context *ctx = analyzer_context(an);
    Subst first = {0};
    for (int i = 0; i < iter_count; i++)
        subst_var(ctx, &first, iters[i].var, iters[i].range.min);
    return (Range){analyzer_simplify(an, subst_expr(ctx, &first, value->inner)), value->inner_extent};
}
