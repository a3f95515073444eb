/* Division of one split by a divisor, with padding. (x + base) // d and (x + base) % d of x in [0, extent) are splits of x's mark when
   base and extent are multiples of d. Else the mark is padded below and above, once for all divisions of it: a first pass collects the
   least common multiple of the divisors, a second one uses the padded mark. Only a split that reaches to the top of its mark can be
   padded. */
#include "passes/arith/iter_internal.h"

#include "ir/fold.h"
#include "passes/arith/internal.h"

static IterValue failed(IterRewriter *r, const Expr *zero)
{
    iter_fail(r, "a scaled iterator does not divide");
    return (IterValue){.form = ITER_PLAIN, .expr = zero};
}

/* --- Padding --- */

/* EXPR as a constant times the rest. */
static int64_t split_constant_factor(Context *ctx, const Expr *expr, const Expr **rest)
{
    int64_t constant;
    if (expr_const_int(expr, &constant)) {
        *rest = expr_one_like(ctx, expr);
        return constant;
    }
    if (expr->kind == EXPR_MUL && expr_const_int(expr->args[1], &constant)) {
        *rest = expr->args[0];
        return constant;
    }
    *rest = expr;
    return 1;
}

static const Expr *common_multiple(IterRewriter *r, const Expr *a, const Expr *b)
{
    Context *ctx = r->ctx;
    const Expr *rest_a, *rest_b, *rest;
    int64_t constant_a = split_constant_factor(ctx, a, &rest_a), constant_b = split_constant_factor(ctx, b, &rest_b);
    int64_t divisor = integer_gcd(constant_a, constant_b), constant;
    if (divisor == 0 || __builtin_mul_overflow(constant_a / divisor, constant_b, &constant) || !dtype_holds(a->dtype, constant)) {
        iter_fail(r, "a divisor is zero or too large");
        return a;
    }
    if (iter_prove_divisible(r->an, rest_a, rest_b))
        rest = rest_a;
    else if (iter_prove_divisible(r->an, rest_b, rest_a))
        rest = rest_b;
    else
        rest = op_mul(ctx, rest_a, rest_b);
    return op_mul_int(ctx, rest, constant < 0 ? -constant : constant);
}

static IterPadding *padding_for(IterRewriter *r, const IterMark *mark)
{
    for (int i = 0; i < r->paddings.count; i++)
        if (r->paddings.data[i].mark == mark)
            return &r->paddings.data[i];
    return NULL;
}

const IterPadding *iter_padding_of(const IterRewriter *r, const IterMark *padded)
{
    for (int i = 0; i < r->paddings.count; i++)
        if (r->paddings.data[i].padded == padded)
            return &r->paddings.data[i];
    return NULL;
}

/* What must follow EDGE to reach a multiple of DIVISOR. */
static const Expr *missing_to_multiple(IterRewriter *r, const Expr *edge, const Expr *divisor)
{
    const Expr *zero = expr_zero_like(r->ctx, edge);
    if (iter_prove_divisible(r->an, edge, divisor))
        return zero;
    return analyzer_simplify(r->an, op_floormod(r->ctx, op_sub(r->ctx, zero, edge), divisor));
}

/* First pass: notes the divisor and the left pad of the split's mark; the result has a compatible extent. */
static IterSplit collect_padding(IterRewriter *r, IterSplit split, const Expr *left, const Expr *right, const Expr *divisor)
{
    Context *ctx = r->ctx;
    IterPadding *padding = padding_for(r, split.source);
    if (!padding) {
        IterPadding fresh = {split.source, expr_one_like(ctx, divisor), expr_zero_like(ctx, divisor), NULL};
        vec_push(ctx->arena, &r->paddings, fresh);
        padding = &vec_last(&r->paddings);
    }
    padding->factor = common_multiple(r, padding->factor, op_mul(ctx, split.lower_factor, divisor));
    if (expr_is_int(left, 0) && expr_is_int(right, 0))
        return split;
    r->requires_padding = true;
    padding->left_pad = op_max(ctx, padding->left_pad, op_mul(ctx, left, split.lower_factor));
    split.extent = op_add(ctx, op_add(ctx, left, split.extent), right);
    return split;
}

/* True for the padded values that are not in [left_pad, right_edge). */
static const Expr *padding_condition(IterRewriter *r, const IterPadding *padding, const Expr *right_edge, const Expr *right_pad)
{
    Context *ctx = r->ctx;
    const Expr *value = iter_mark_to_expr(r->an, padding->padded), *factor = padding->factor, *zero = expr_zero_like(ctx, factor);
    const Expr *block = op_floordiv(ctx, value, factor), *place = op_floormod(ctx, value, factor);
    const Expr *below = op_and(ctx, op_compare(ctx, EXPR_NE, padding->left_pad, zero),
                               op_and(ctx, op_compare(ctx, EXPR_EQ, block, zero), op_compare(ctx, EXPR_LT, place, padding->left_pad)));
    const Expr *last_block = op_floordiv(ctx, right_edge, factor), *last_place = op_floormod(ctx, right_edge, factor);
    const Expr *above = op_and(ctx, op_compare(ctx, EXPR_NE, right_pad, zero),
                               op_and(ctx, op_compare(ctx, EXPR_EQ, block, last_block), op_compare(ctx, EXPR_GE, place, last_place)));
    return op_or(ctx, below, above);
}

static void make_padded_mark(IterRewriter *r, IterPadding *padding)
{
    Context *ctx = r->ctx;
    const Expr *right_edge = op_add(ctx, padding->mark->extent, padding->left_pad);
    const Expr *right_pad = missing_to_multiple(r, right_edge, padding->factor);
    IterSum *sum = ARENA_NEW(ctx->arena, IterSum);
    *sum = iter_sum_of_split(ctx, iter_split_whole(ctx, padding->mark, expr_one_like(ctx, right_edge)), padding->left_pad);
    padding->padded = iter_mark_new(ctx, NULL, sum, analyzer_simplify(r->an, op_add(ctx, right_edge, right_pad)));
    r->padding_predicate = op_or(ctx, r->padding_predicate, padding_condition(r, padding, right_edge, right_pad));
}

/* Second pass: the split of the padded mark. */
static IterSplit use_padding(IterRewriter *r, IterPadding *padding, IterSplit split, const Expr **left)
{
    Context *ctx = r->ctx;
    if (!iter_prove_divisible(r->an, padding->left_pad, split.lower_factor)) {
        iter_fail(r, "divisions of one iterator start at different places");
        return split;
    }
    if (!padding->padded)
        make_padded_mark(r, padding);
    *left = op_floordiv(ctx, padding->left_pad, split.lower_factor);
    split.source = padding->padded;
    split.extent = op_floordiv(ctx, padding->padded->extent, split.lower_factor);
    return split;
}

static bool reaches_top(IterRewriter *r, const IterSplit *split)
{
    const Expr *reach = op_mul(r->ctx, split->lower_factor, split->extent);
    return iter_prove_equal(r->an, split->source->extent, reach) || analyzer_prove_less_equal(r->an, split->source->extent, reach);
}

/* SPLIT such that SPLIT - *LEFT + base divides by DIVISOR from 0 to its end. */
static IterSplit pad_split(IterRewriter *r, IterSplit split, const Expr *base, const Expr *divisor, const Expr **left)
{
    *left = analyzer_simplify(r->an, op_floormod(r->ctx, base, divisor));
    const Expr *right = missing_to_multiple(r, op_add(r->ctx, *left, split.extent), divisor);
    bool even = expr_is_int(*left, 0) && expr_is_int(right, 0);
    if (!even && (r->level == ITER_MAP_BIJECTIVE || !reaches_top(r, &split))) {
        iter_fail(r, "a division does not come out even");
        return split;
    }
    if (r->collecting_padding)
        return collect_padding(r, split, *left, right, divisor);
    IterPadding *padding = padding_for(r, split.source);
    bool padded_here = padding && !(expr_is_int(padding->left_pad, 0) && iter_prove_divisible(r->an, split.source->extent, padding->factor));
    if (!padded_here && even)
        return split;
    /* the first pass did not see a mark over another mark's padding */
    if (!padded_here || !reaches_top(r, &split)) {
        iter_fail(r, "a division does not come out even");
        return split;
    }
    const Expr *own_left = *left;
    IterSplit padded = use_padding(r, padding, split, left);
    /* another division of the mark may have moved it by less than whole divisors of this one */
    if (!iter_prove_divisible(r->an, analyzer_simplify(r->an, op_sub(r->ctx, *left, own_left)), divisor))
        iter_fail(r, "divisions of one iterator start at different places");
    return padded;
}

/* --- Division --- */

/* Takes the scale of *SPLIT out of a division by *DIVISOR, where it divides the divisor and the base. Of a negative one, as in (7 - j) // 4,
   a negative divisor would remain, by which digits do not divide. */
static bool cancel_scale(IterRewriter *r, IterSplit *split, const Expr **base, const Expr **divisor)
{
    if (analyzer_bound(r->an, split->scale).max < 0 || !iter_prove_divisible(r->an, *divisor, split->scale) ||
        !(expr_is_int(*base, 0) || iter_prove_divisible(r->an, *base, split->scale)))
        return false;
    if (!expr_is_int(*base, 0))
        *base = op_floordiv(r->ctx, *base, split->scale);
    *divisor = op_floordiv(r->ctx, *divisor, split->scale);
    return true;
}

static bool divisor_divides(IterRewriter *r, const IterSplit *split, const Expr *base, const Expr *divisor)
{
    return iter_prove_divisible(r->an, split->scale, divisor) && (expr_is_int(base, 0) || iter_prove_divisible(r->an, base, divisor));
}

static IterValue split_plus_base(IterRewriter *r, IterSplit split, const Expr *base)
{
    if (expr_is_int(base, 0))
        return (IterValue){.form = ITER_SPLIT, .split = split};
    return (IterValue){.form = ITER_SUM, .sum = iter_sum_of_split(r->ctx, split, base)};
}

static const Expr *quotient_of_extent(IterRewriter *r, const Expr *extent, const Expr *divisor)
{
    Context *ctx = r->ctx;
    const Expr *exact = iter_exact_quotient(ctx, extent, divisor);
    if (exact)
        return analyzer_simplify(r->an, exact);
    if (!iter_prove_divisible(r->an, extent, divisor)) /* symbolic padding: it divides, but that is not shown */
        extent = op_add_int(ctx, op_add(ctx, extent, divisor), -1);
    return analyzer_simplify(r->an, op_floordiv(ctx, extent, divisor));
}

IterValue iter_divide_split(IterRewriter *r, IterSplit split, const Expr *base, const Expr *divisor)
{
    Context *ctx = r->ctx;
    if (expr_is_int(divisor, 1))
        return split_plus_base(r, split, base);
    if (!expr_is_int(split.scale, 1)) {
        if (divisor_divides(r, &split, base, divisor)) {
            split.scale = op_floordiv(ctx, split.scale, divisor);
            return split_plus_base(r, split, expr_is_int(base, 0) ? base : op_floordiv(ctx, base, divisor));
        }
        if (!cancel_scale(r, &split, &base, &divisor))
            return failed(r, expr_zero_like(ctx, base));
        split.scale = expr_one_like(ctx, base);
    }
    const Expr *left;
    IterSplit padded = pad_split(r, split, base, divisor, &left);
    const Expr *extent = quotient_of_extent(r, padded.extent, divisor);
    IterSplit result = {padded.source, op_mul(ctx, padded.lower_factor, divisor), extent, padded.scale};
    return split_plus_base(r, result, analyzer_simplify(r->an, op_floordiv(ctx, op_sub(ctx, base, left), divisor)));
}

IterValue iter_modulo_split(IterRewriter *r, IterSplit split, const Expr *base, const Expr *divisor)
{
    Context *ctx = r->ctx;
    if (expr_is_int(divisor, 1))
        return (IterValue){.form = ITER_PLAIN, .expr = expr_zero_like(ctx, base)};
    if (!expr_is_int(split.scale, 1)) {
        if (divisor_divides(r, &split, base, divisor))
            return (IterValue){.form = ITER_PLAIN, .expr = expr_zero_like(ctx, base)};
        if (!cancel_scale(r, &split, &base, &divisor))
            return failed(r, expr_zero_like(ctx, base));
    }
    const Expr *left;
    IterSplit padded = pad_split(r, split, base, divisor, &left);
    padded.extent = analyzer_simplify(r->an, divisor);
    return (IterValue){.form = ITER_SPLIT, .split = padded};
}
