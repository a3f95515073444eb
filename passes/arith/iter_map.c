/* The questions of iter_map.h: detection, simplification, and sums back to expressions. */
#include "passes/arith/iter_internal.h"

#include "passes/arith/internal.h"

/* --- Detection --- */

/* A domain that mentions another input is no box. */
static bool domains_are_independent(const VarRange *iters, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (expr_uses_var(iters[i].range.min, iters[j].var) || expr_uses_var(iters[i].range.extent, iters[j].var))
                return false;
    return true;
}

static bool rewrite_bindings(IterRewriter *r, const IterMapQuery *query, IterMapResult *result)
{
    r->collecting_padding = query->level != ITER_MAP_BIJECTIVE;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < query->binding_count && !r->error; i++) {
            IterSum sum = iter_rewrite(r, query->bindings[i], true);
            result->sums[i] = arena_copy(r->ctx->arena, &sum, sizeof sum);
        }
        if (r->error)
            return false;
        if (!r->requires_padding)
            break;
        r->collecting_padding = false;
    }
    return true;
}

static bool detect(IterRewriter *r, const IterMapQuery *query, IterMapResult *result)
{
    Context *ctx = r->ctx;
    VarRange *iters = arena_copy(ctx->arena, query->iters, sizeof *iters * (size_t)query->iter_count);
    IterConstraints constraints = {0};
    if (!domains_are_independent(iters, query->iter_count)) {
        iter_fail(r, "the extent of one loop depends on another");
        return false;
    }
    if (query->predicate && !iter_match_predicate(ctx, query->predicate, iters, query->iter_count, &constraints)) {
        iter_fail(r, "the predicate is no conjunction of comparisons");
        return false;
    }
    iter_rewriter_init(r, r->an, iters, query->iter_count, query->level, query->simplify_trivial);
    r->constraints = constraints;
    if (!iter_apply_constraints(r) || !rewrite_bindings(r, query, result))
        return false;
    result->padding_predicate = r->padding_predicate;
    return iter_check_mapping(r, result->sums, query->binding_count);
}

static void detection_begin(IterRewriter *r, Analyzer *an, const IterMapQuery *query, IterMapResult *result)
{
    Context *ctx = analyzer_context(an);
    *result = (IterMapResult){.count = query->binding_count, .padding_predicate = expr_bool(ctx, false)};
    result->sums = ARENA_ARRAY(ctx->arena, const IterSum *, query->binding_count);
    *r = (IterRewriter){.an = an, .ctx = ctx};
}

bool iter_detect(IterRewriter *r, Analyzer *an, const IterMapQuery *query, IterMapResult *result)
{
    detection_begin(r, an, query, result);
    if (detect(r, query, result) && iter_check_constraints(r, result->sums, query->binding_count))
        return true;
    result->count = 0;
    result->error = r->error ? r->error : "the values do not cover a box";
    return false;
}

bool iter_map_detect(Analyzer *an, const IterMapQuery *query, IterMapResult *result)
{
    IterRewriter r;
    return iter_detect(&r, an, query, result);
}

/* The bindings as sums that have their values under the predicate, whatever set these are; PADDED: some divisions may not come out even. */
static bool rewrite_as_sums(Analyzer *an, const IterMapQuery *query, bool padded, IterMapResult *result)
{
    IterRewriter r;
    detection_begin(&r, an, query, result);
    return detect(&r, query, result) && (padded || !r.requires_padding);
}

const Expr **iter_map_simplify(Analyzer *an, const IterMapQuery *query)
{
    Context *ctx = analyzer_context(an);
    IterMapResult result;
    bool found = rewrite_as_sums(an, query, true, &result);
    if (!found && query->predicate && query->level != ITER_MAP_BIJECTIVE) {
        /* a map of the whole box is a map of the part of it as well; one that needs padding stays as it is, as in the reference */
        IterMapQuery whole = *query;
        whole.predicate = NULL;
        found = rewrite_as_sums(an, &whole, false, &result);
    }
    const Expr **bindings = arena_copy(ctx->arena, query->bindings, sizeof *bindings * (size_t)query->binding_count);
    for (int i = 0; found && i < query->binding_count; i++)
        bindings[i] = iter_sum_to_expr(an, result.sums[i]);
    return bindings;
}

static int64_t constant_scale(const IterSplit *split)
{
    int64_t constant = 1;
    expr_const_int(split->scale->kind == EXPR_MUL ? split->scale->args[1] : split->scale, &constant);
    return constant;
}

/* Stable, by falling constant scale. */
static void sort_by_scale(IterSum *sum)
{
    for (int i = 1; i < sum->count; i++)
        for (int j = i; j > 0 && constant_scale(&sum->args[j - 1]) < constant_scale(&sum->args[j]); j--) {
            IterSplit swap = sum->args[j];
            sum->args[j] = sum->args[j - 1];
            sum->args[j - 1] = swap;
        }
}

const IterSum *iter_map_normalize_sum(Analyzer *an, const Expr *expr, const VarRange *iters, int iter_count)
{
    Context *ctx = analyzer_context(an);
    IterRewriter r;
    iter_rewriter_init(&r, an, iters, iter_count, ITER_MAP_NO_CHECK, true);
    IterSum sum = iter_rewrite(&r, expr, false);
    if (r.error)
        sum = iter_sum_of_base(expr);
    sort_by_scale(&sum);
    return arena_copy(ctx->arena, &sum, sizeof sum);
}

/* --- Back to expressions --- */

typedef struct {
    Context *ctx;
    const Expr *row, *constant;
} ProductRow;

static void append_factors(ProductRow *product, const Expr *expr)
{
    if (expr->kind == EXPR_MUL) {
        append_factors(product, expr->args[0]);
        append_factors(product, expr->args[1]);
    } else if (expr->kind == EXPR_INT) {
        product->constant = op_mul(product->ctx, product->constant, expr);
    } else {
        product->row = op_mul(product->ctx, product->row, expr);
    }
}

const Expr *iter_product(Context *ctx, const Expr *a, const Expr *b)
{
    const Expr *one = expr_int(ctx, a->dtype, 1);
    ProductRow product = {ctx, one, one};
    append_factors(&product, a);
    append_factors(&product, b);
    return op_mul(ctx, product.row, product.constant);
}

const Expr *iter_mark_to_expr(Analyzer *an, const IterMark *mark)
{
    return mark->input ? mark->input : iter_sum_to_expr(an, mark->sum);
}

const Expr *iter_split_to_expr(Analyzer *an, const IterSplit *split)
{
    Context *ctx = analyzer_context(an);
    const Expr *source = iter_mark_to_expr(an, split->source), *reach = iter_product(ctx, split->extent, split->lower_factor);
    if (expr_is_int(split->lower_factor, 1) && analyzer_prove_equal(an, split->extent, split->source->extent))
        return op_mul(ctx, source, split->scale);
    bool reaches_top = analyzer_prove_equal(an, split->source->extent, reach);
    if (reaches_top && expr_is_int(split->extent, 1))
        return expr_int(ctx, split->scale->dtype, 0);
    if (!reaches_top)
        source = op_floormod(ctx, source, reach);
    return op_mul(ctx, op_floordiv(ctx, source, split->lower_factor), split->scale);
}

const Expr *iter_sum_to_expr(Analyzer *an, const IterSum *sum)
{
    Context *ctx = analyzer_context(an);
    const Expr *result = expr_int(ctx, sum->dtype, 0);
    bool shifted = false; /* an iterator that starts at s stands as var - s, which the base often undoes */
    for (int i = 0; i < sum->count; i++) {
        result = op_add(ctx, result, iter_split_to_expr(an, &sum->args[i]));
        shifted |= sum->args[i].source->input && sum->args[i].source->input->kind == EXPR_SUB;
    }
    result = op_add(ctx, result, sum->base);
    return shifted ? analyzer_simplify(an, result) : result;
}
