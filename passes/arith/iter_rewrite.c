/* Rewriting of index expressions into sums of splits of iterators. */
#include "passes/arith/iter_internal.h"

#include "ir/fold.h"
#include "ir/linear_sum.h"
#include "passes/arith/internal.h"

/* --- Helpers --- */

void iter_fail(IterRewriter *r, const char *format, ...)
{
    if (r->error)
        return;
    va_list args;
    va_start(args, format);
    r->error = arena_vprintf(r->ctx->arena, format, args);
    va_end(args);
}

const Expr *expr_zero_like(Context *ctx, const Expr *expr)
{
    return expr_int(ctx, expr->dtype, 0);
}

const Expr *expr_one_like(Context *ctx, const Expr *expr)
{
    return expr_int(ctx, expr->dtype, 1);
}


/* A sum as a constant times a sum whose coefficients share no factor: u * 8 + 16 is 8 times u + 2. */
static const Expr *take_out_constant(Context *ctx, const Expr *sum, int64_t *constant)
{
    LinearSum linear;
    if (!linear_sum_of(ctx, sum, &linear) || !linear.terms.count)
        return sum;
    int64_t common = integer_gcd(linear.constant, 0);
    for (int i = 0; i < linear.terms.count; i++)
        common = integer_gcd(linear.terms.data[i].coefficient, common);
    *constant = common;
    const Expr *rest = expr_int(ctx, sum->dtype, linear.constant / common);
    for (int i = linear.terms.count - 1; i >= 0; i--) {
        const LinearTerm *term = &linear.terms.data[i];
        rest = op_add(ctx, op_mul(ctx, term->atom, expr_int(ctx, sum->dtype, term->coefficient / common)), rest);
    }
    return rest;
}

/* Notes the factors of EXPR but for constants, which multiply *CONSTANT; false where that overflows. */
static bool collect_factors(Context *ctx, const Expr *expr, ExprList *factors, int64_t *constant)
{
    int64_t value = 1;
    if (expr->kind == EXPR_MUL)
        return collect_factors(ctx, expr->args[0], factors, constant) && collect_factors(ctx, expr->args[1], factors, constant);
    if (!expr_const_int(expr, &value))
        vec_push(ctx->arena, factors, take_out_constant(ctx, expr, &value));
    return !__builtin_mul_overflow(*constant, value, constant);
}

static bool remove_factor(Context *ctx, ExprList *factors, const Expr *factor)
{
    int64_t difference;
    for (int i = 0; i < factors->count; i++)
        if (linear_difference(ctx, factors->data[i], factor, &difference) && difference == 0) {
            factors->data[i] = factors->data[--factors->count];
            return true;
        }
    return false;
}

const Expr *iter_exact_quotient(Context *ctx, const Expr *dividend, const Expr *divisor)
{
    ExprList left = {0}, removed = {0};
    int64_t constant = 1, by = 1;
    if (!collect_factors(ctx, dividend, &left, &constant) || !collect_factors(ctx, divisor, &removed, &by) || !removed.count || by <= 0 ||
        constant % by)
        return NULL;
    for (int i = 0; i < removed.count; i++)
        if (!remove_factor(ctx, &left, removed.data[i]))
            return NULL;
    const Expr *quotient = expr_int(ctx, dividend->dtype, constant / by);
    for (int i = 0; i < left.count; i++)
        quotient = op_mul(ctx, left.data[i], quotient);
    return quotient;
}

bool iter_prove_equal(Analyzer *an, const Expr *a, const Expr *b)
{
    if (analyzer_prove_equal(an, a, b))
        return true;
    const Expr *quotient = iter_exact_quotient(analyzer_context(an), a, b);
    return quotient && expr_is_int(quotient, 1);
}

/* VALUE is x - x % -c, which is x rounded up to a multiple of c, and BY divides c. */
static bool is_rounded_up(const Expr *value, const Expr *by)
{
    int64_t modulus, divisor;
    if (value->kind != EXPR_SUB || value->args[1]->kind != EXPR_FLOORMOD || !expr_equal(value->args[0], value->args[1]->args[0]))
        return false;
    return expr_const_int(value->args[1]->args[1], &modulus) && expr_const_int(by, &divisor) && divisor > 0 && modulus % divisor == 0;
}

bool iter_prove_divisible(Analyzer *an, const Expr *dividend, const Expr *divisor)
{
    Context *ctx = analyzer_context(an);
    int64_t a, b;
    if (expr_is_int(divisor, 0))
        return false;
    if (expr_const_int(dividend, &a) && expr_const_int(divisor, &b))
        return b == -1 || a % b == 0;
    if (is_rounded_up(dividend, divisor))
        return true;
    return iter_exact_quotient(ctx, dividend, divisor) || analyzer_prove_equal(an, dividend, divisor) ||
           analyzer_prove_equal(an, op_floormod(ctx, dividend, divisor), expr_zero_like(ctx, dividend));
}

bool iter_split_equal(const IterSplit *a, const IterSplit *b, bool compare_scale)
{
    return a->source == b->source && expr_equal(a->lower_factor, b->lower_factor) && expr_equal(a->extent, b->extent) &&
           (!compare_scale || expr_equal(a->scale, b->scale));
}

const IterMark *iter_mark_new(Context *ctx, const Expr *input, const IterSum *sum, const Expr *extent)
{
    IterMark *mark = ARENA_NEW(ctx->arena, IterMark);
    *mark = (IterMark){input, sum, extent};
    return mark;
}

IterSplit iter_split_whole(Context *ctx, const IterMark *mark, const Expr *scale)
{
    return (IterSplit){mark, expr_one_like(ctx, mark->extent), mark->extent, scale};
}

IterSum iter_sum_new(Context *ctx, const IterSplit *args, int count, const Expr *base)
{
    /* room for one more, so that a sum under construction can be extended in place */
    IterSplit *copy = ARENA_ARRAY(ctx->arena, IterSplit, count + 1);
    if (count)
        memcpy(copy, args, sizeof *args * (size_t)count);
    return (IterSum){copy, count, base, base->dtype};
}

IterSum iter_sum_of_split(Context *ctx, IterSplit split, const Expr *base)
{
    return iter_sum_new(ctx, &split, 1, base);
}

IterSum iter_sum_of_base(const Expr *base)
{
    return (IterSum){NULL, 0, base, base->dtype};
}

static IterValue value_plain(const Expr *expr)
{
    return (IterValue){.form = ITER_PLAIN, .expr = expr};
}

static IterValue value_sum(IterSum sum)
{
    return (IterValue){.form = ITER_SUM, .sum = sum};
}

static IterSum value_to_sum(IterRewriter *r, IterValue value)
{
    switch (value.form) {
    case ITER_SPLIT: return iter_sum_of_split(r->ctx, value.split, expr_zero_like(r->ctx, value.split.scale));
    case ITER_SUM: return value.sum;
    default: return iter_sum_of_base(value.expr);
    }
}

/* --- Sums and products --- */

static const Expr *signed_scale(Context *ctx, const Expr *scale, bool negative)
{
    return negative ? op_sub(ctx, expr_zero_like(ctx, scale), scale) : scale;
}

/* Adds or subtracts one split: equal pieces of a mark join their scales. */
static void add_split(IterRewriter *r, IterSum *sum, IterSplit split, bool negative)
{
    IterSum result = iter_sum_new(r->ctx, sum->args, sum->count, sum->base);
    for (int i = 0; i < result.count; i++)
        if (iter_split_equal(&result.args[i], &split, false)) {
            result.args[i].scale =
                negative ? op_sub(r->ctx, result.args[i].scale, split.scale) : op_add(r->ctx, result.args[i].scale, split.scale);
            *sum = result;
            return;
        }
    split.scale = signed_scale(r->ctx, split.scale, negative);
    result.args[result.count++] = split;
    *sum = result;
}

static IterValue rewrite_sum(IterRewriter *r, const Expr *expr, IterValue a, IterValue b)
{
    bool negative = expr->kind == EXPR_SUB;
    IterSum sum = value_to_sum(r, a), added = value_to_sum(r, b);
    for (int i = 0; i < added.count; i++)
        add_split(r, &sum, added.args[i], negative);
    sum.base = negative ? op_sub(r->ctx, sum.base, added.base) : op_add(r->ctx, sum.base, added.base);
    return value_sum(sum);
}

static IterValue rewrite_product(IterRewriter *r, const Expr *expr, IterValue a, IterValue b)
{
    if (a.form != ITER_PLAIN && b.form != ITER_PLAIN) {
        iter_fail(r, "it multiplies two iterators");
        return value_plain(expr);
    }
    IterValue iter = a.form == ITER_PLAIN ? b : a;
    const Expr *factor = a.form == ITER_PLAIN ? a.expr : b.expr;
    if (iter.form == ITER_SPLIT) {
        iter.split.scale = op_mul(r->ctx, iter.split.scale, factor);
        return iter;
    }
    IterSum sum = iter_sum_new(r->ctx, iter.sum.args, iter.sum.count, op_mul(r->ctx, iter.sum.base, factor));
    for (int i = 0; i < sum.count; i++)
        sum.args[i].scale = op_mul(r->ctx, sum.args[i].scale, factor);
    return value_sum(sum);
}

/* --- Division --- */

static IterValue rewrite_division(IterRewriter *r, const Expr *expr, IterValue dividend, IterValue divisor)
{
    if (divisor.form != ITER_PLAIN || expr_is_int(divisor.expr, 0)) {
        iter_fail(r, divisor.form == ITER_PLAIN ? "it divides by zero" : "it divides by an iterator");
        return value_plain(expr);
    }
    IterSum sum = value_to_sum(r, dividend);
    if (sum.count == 0)
        return value_plain(expr); /* constant: it keeps the form in which it is written */
    if ((sum.count > 1 && !iter_fuse(r, &sum, true)) || sum.count != 1) {
        iter_fail(r, "the dividend of a division is not a single iterator");
        return value_plain(expr);
    }
    if (expr->kind == EXPR_FLOORDIV)
        return iter_divide_split(r, sum.args[0], sum.base, divisor.expr);
    return iter_modulo_split(r, sum.args[0], sum.base, divisor.expr);
}

/* --- The visit --- */

static IterValue rewrite_value(IterRewriter *r, const Expr *expr);

static IterValue rewrite_binary(IterRewriter *r, const Expr *expr)
{
    IterValue a = rewrite_value(r, expr->args[0]), b = rewrite_value(r, expr->args[1]);
    if (a.form == ITER_PLAIN && b.form == ITER_PLAIN) {
        const Expr *args[] = {a.expr, b.expr}, *folded = fold_binary(r->ctx, expr->kind, a.expr, b.expr);
        return value_plain(folded ? folded : expr_with_args(r->ctx, expr, args));
    }
    switch (expr->kind) {
    case EXPR_ADD:
    case EXPR_SUB: return rewrite_sum(r, expr, a, b);
    case EXPR_MUL: return rewrite_product(r, expr, a, b);
    default: return rewrite_division(r, expr, a, b);
    }
}

static bool uses_input(IterRewriter *r, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        return map_has(&r->inputs, expr->value.var);
    for (int i = 0; i < expr->arg_count; i++)
        if (uses_input(r, expr->args[i]))
            return true;
    return false;
}

static IterValue rewrite_uncounted(IterRewriter *r, const Expr *expr)
{
    if (expr->kind == EXPR_VAR) {
        const IterValue *input = map_get(&r->inputs, expr->value.var);
        return input ? *input : value_plain(expr);
    }
    bool handled = expr->kind == EXPR_ADD || expr->kind == EXPR_SUB || expr->kind == EXPR_MUL || expr->kind == EXPR_FLOORDIV ||
                   expr->kind == EXPR_FLOORMOD;
    if (handled && is_index_type(expr->dtype))
        return rewrite_binary(r, expr);
    if (uses_input(r, expr))
        iter_fail(r, "it uses an iterator in %s",
                  expr->kind == EXPR_CALL ? op_info(expr->value.op)->name : expr_kind_info(expr->kind)->name);
    return value_plain(expr);
}

static IterValue rewrite_value(IterRewriter *r, const Expr *expr)
{
    if (r->error || !analyzer_begin_visit(r->an)) {
        iter_fail(r, "it is too large");
        return value_plain(expr);
    }
    IterValue value = rewrite_uncounted(r, expr);
    analyzer_end_visit(r->an);
    return value;
}

IterSum iter_rewrite(IterRewriter *r, const Expr *expr, bool fuse)
{
    IterSum sum = value_to_sum(r, rewrite_value(r, expr));
    if (!r->error && fuse && sum.count > 0 && !iter_fuse(r, &sum, true))
        iter_fail(r, "its iterators do not combine into one");
    return sum;
}

/* --- Inputs --- */

static IterValue input_value(IterRewriter *r, VarRange iter, bool simplify_trivial)
{
    Context *ctx = r->ctx;
    const Expr *name = expr_var(ctx, iter.var), *min = iter.range.min;
    if (simplify_trivial && expr_is_int(iter.range.extent, 1))
        return value_sum(iter_sum_of_base(min));
    bool from_zero = expr_is_int(min, 0);
    const IterMark *mark = iter_mark_new(ctx, from_zero ? name : op_sub(ctx, name, min), NULL, iter.range.extent);
    vec_push(ctx->arena, &r->input_marks, mark);
    IterSplit split = iter_split_whole(ctx, mark, expr_one_like(ctx, name));
    return from_zero ? (IterValue){.form = ITER_SPLIT, .split = split} : value_sum(iter_sum_of_split(ctx, split, min));
}

void iter_rewriter_init(IterRewriter *r, Analyzer *an, const VarRange *iters, int count, IterMapLevel level, bool simplify_trivial)
{
    Context *ctx = analyzer_context(an);
    *r = (IterRewriter){.an = an, .ctx = ctx, .level = level, .padding_predicate = expr_bool(ctx, false)};
    for (int i = 0; i < count; i++) {
        IterValue value = input_value(r, iters[i], simplify_trivial);
        map_set(ctx->arena, &r->inputs, iters[i].var, arena_copy(ctx->arena, &value, sizeof value));
    }
}
