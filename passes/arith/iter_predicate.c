/* Predicates as bounds on iterators: i * 16 + j < 100 makes i * 16 + j one iterator of extent 100. */
#include <limits.h>

#include "passes/arith/iter_internal.h"

static bool uses_iter(const Expr *expr, const VarRange *iters, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(expr, iters[i].var))
            return true;
    return false;
}

/* What moves the terms of a sum to the side of the iterators (LEFT) or of the bound (RIGHT, negated). */
typedef struct {
    Context *ctx;
    const VarRange *iters;
    int count;
    const Expr *left, *right;
} SideSplit;

static void split_sides(SideSplit *sides, const Expr *part, bool positive)
{
    if (part->kind == EXPR_ADD || part->kind == EXPR_SUB) {
        split_sides(sides, part->args[0], positive);
        split_sides(sides, part->args[1], positive == (part->kind == EXPR_ADD));
    } else if (uses_iter(part, sides->iters, sides->count)) {
        sides->left = positive ? op_add(sides->ctx, sides->left, part) : op_sub(sides->ctx, sides->left, part);
    } else {
        sides->right = positive ? op_sub(sides->ctx, sides->right, part) : op_add(sides->ctx, sides->right, part);
    }
}

/* LEFT < RIGHT (STRICT) or LEFT <= RIGHT with iterators on at least one side, as a constraint. */
static IterConstraint make_constraint(Context *ctx, const Expr *left, const Expr *right, bool strict, const VarRange *iters, int count)
{
    bool left_uses = uses_iter(left, iters, count), right_uses = uses_iter(right, iters, count);
    if (left_uses && right_uses) {
        const Expr *zero = expr_int(ctx, left->dtype, 0);
        SideSplit sides = {ctx, iters, count, zero, zero};
        split_sides(&sides, op_sub(ctx, left, right), true);
        Analyzer *an = analyzer_new(ctx);
        left = analyzer_simplify(an, sides.left);
        right = analyzer_simplify(an, sides.right);
    } else if (right_uses) {
        return (IterConstraint){
            .iter = right, .lower = strict ? op_add_int(ctx, left, 1) : left, .size = expr_size(right, INT_MAX), .constrained = -1};
    }
    return (IterConstraint){.iter = left, .upper = strict ? right : op_add_int(ctx, right, 1), .size = expr_size(left, INT_MAX), .constrained = -1};
}

static void narrow_range(Context *ctx, Range *range, const IterConstraint *constraint)
{
    const Expr *min = range->min, *end = op_add(ctx, range->min, range->extent);
    if (constraint->lower)
        min = op_max(ctx, min, constraint->lower);
    if (constraint->upper)
        end = op_min(ctx, end, constraint->upper);
    *range = (Range){min, expr_is_int(min, 0) ? end : op_sub(ctx, end, min)};
}

static void insert_by_size(Context *ctx, IterConstraint constraint, IterConstraints *constraints)
{
    int at = constraints->sums.count;
    vec_push(ctx->arena, &constraints->sums, constraint);
    for (; at > 0 && constraints->sums.data[at - 1].size > constraint.size; at--)
        constraints->sums.data[at] = constraints->sums.data[at - 1];
    constraints->sums.data[at] = constraint;
}

static void add_constraint(Context *ctx, const Expr *comparison, IterConstraint constraint, VarRange *iters, int count,
                           IterConstraints *constraints)
{
    for (int i = 0; i < count; i++)
        if (expr_is_var(constraint.iter, iters[i].var)) {
            Analyzer *an = analyzer_new(ctx);
            analyzer_bind_range_opaque(an, iters[i].var, iters[i].range);
            if (analyzer_prove(an, comparison))
                return;
            narrow_range(ctx, &iters[i].range, &constraint);
            vec_push(ctx->arena, &constraints->narrowings, comparison);
            return;
        }
    constraint.condition = comparison;
    insert_by_size(ctx, constraint, constraints);
}

bool iter_match_predicate(Context *ctx, const Expr *predicate, VarRange *iters, int count, IterConstraints *constraints)
{
    if (predicate->kind == EXPR_AND)
        return iter_match_predicate(ctx, predicate->args[0], iters, count, constraints) &&
               iter_match_predicate(ctx, predicate->args[1], iters, count, constraints);
    if (predicate->kind == EXPR_INT)
        return expr_is_int(predicate, 1);
    if (!uses_iter(predicate, iters, count)) {
        vec_push(ctx->arena, &constraints->narrowings, predicate);
        return true;
    }
    bool ordered = expr_is_compare(predicate) && predicate->kind != EXPR_EQ && predicate->kind != EXPR_NE;
    if (!ordered || !dtype_is_integer(predicate->args[0]->dtype))
        return false;
    bool greater = predicate->kind == EXPR_GT || predicate->kind == EXPR_GE;
    const Expr *left = predicate->args[greater], *right = predicate->args[!greater];
    bool strict = predicate->kind == EXPR_LT || predicate->kind == EXPR_GT;
    add_constraint(ctx, predicate, make_constraint(ctx, left, right, strict, iters, count), iters, count, constraints);
    return true;
}

/* --- Applying --- */

/* The range [*MIN, *END) of FUSED narrowed by CONSTRAINT less BASE. */
static void narrow_fused(IterRewriter *r, const IterConstraint *constraint, const Expr *base, const Expr **min, const Expr **end)
{
    Context *ctx = r->ctx;
    if (constraint->lower)
        *min = op_max(ctx, op_sub(ctx, constraint->lower, base), *min);
    if (!constraint->upper)
        return;
    const Expr *upper = op_sub(ctx, constraint->upper, base);
    /* most predicates bound what a split rounded up: then the bound alone is the better form */
    *end = analyzer_prove_less_equal(r->an, upper, *end) ? upper : op_min(ctx, upper, *end);
}

static void constrain(IterRewriter *r, FusedSum *fused, IterConstraint *constraint, const Expr *base)
{
    Context *ctx = r->ctx;
    const Expr *old_min = fused->offset, *min = old_min, *end = op_add(ctx, old_min, fused->mark->extent);
    narrow_fused(r, constraint, base, &min, &end);
    IterSum *structured = arena_copy(ctx->arena, &fused->structured, sizeof fused->structured);
    structured->base = op_sub(ctx, structured->base, op_sub(ctx, min, old_min));
    fused->mark = iter_mark_new(ctx, NULL, structured, analyzer_simplify(r->an, op_sub(ctx, end, min)));
    fused->structured = *structured;
    fused->offset = min;
    constraint->constrained = r->constrained.count;
    vec_push(ctx->arena, &r->constrained, fused->flat);
}

static bool apply_constraint(IterRewriter *r, IterConstraint *constraint)
{
    IterSum sum = iter_rewrite(r, constraint->iter, false);
    if (r->error)
        return false;
    const Expr *base = sum.base;
    if (sum.count == 0)
        return true;
    sum.base = expr_zero_like(r->ctx, base);
    if (!iter_fuse(r, &sum, false) || sum.count == 0)
        return sum.count == 0;
    bool fuses = sum.count == 1 && expr_is_int(sum.args[0].scale, 1);
    for (int i = 0; fuses && i < r->fused.count; i++)
        if (r->fused.data[i].mark == sum.args[0].source) {
            constrain(r, &r->fused.data[i], constraint, base);
            return true;
        }
    iter_fail(r, "the predicate does not bound a single iterator");
    return false;
}

const IterMark *iter_constrained_mark(IterRewriter *r, const IterConstraint *constraint)
{
    return constraint->constrained < 0 ? NULL : iter_find_fused(r, &r->constrained.data[constraint->constrained])->mark;
}

static bool holds_split(const IterSum *sum, const IterSplit *split)
{
    for (int i = 0; i < sum->count; i++)
        if (iter_split_equal(&sum->args[i], split, true))
            return true;
    return false;
}

/* Of the splits of SMALLER either all or none are in LARGER. */
static bool nested_or_disjoint(const IterSum *smaller, const IterSum *larger)
{
    int found = 0;
    for (int i = 0; i < smaller->count; i++)
        found += holds_split(larger, &smaller->args[i]);
    return found == 0 || found == smaller->count;
}

bool iter_apply_constraints(IterRewriter *r)
{
    for (int i = 0; i < r->constraints.sums.count; i++)
        if (!apply_constraint(r, &r->constraints.sums.data[i]))
            return false;
    for (int i = 0; i < r->constrained.count; i++)
        for (int j = i + 1; j < r->constrained.count; j++)
            if (!nested_or_disjoint(&r->constrained.data[i], &r->constrained.data[j])) {
                iter_fail(r, "parts of the predicate overlap");
                return false;
            }
    return true;
}
