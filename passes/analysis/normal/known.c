/* What is known of loops and sizes where an access runs. Its loops are in range, and its conditions hold. The access can be made: no size
   that its indices divide by is 0, and its buffer has elements. */
#include "ir/walk.h"
#include "passes/analysis/model/access_init.h"
#include "passes/analysis/normal/known.h"
#include "passes/analysis/sets/affine.h"
#include "passes/analysis/normal/quotients.h"

/* EXPR is not 0. */
static void learn_nonzero(Analyzer *an, const Expr *expr)
{
    if (dtype_is_index(expr->dtype) && analyzer_prove_at_least(an, expr, 0))
        analyzer_assume_positive(an, expr);
}

/* What a call or a condition asks for need not be evaluated. */
static bool learn_divisor(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_CALL || expr->kind == EXPR_AND || expr->kind == EXPR_OR)
        return false;
    if (expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD)
        learn_nonzero(visitor->data, expr->args[1]);
    return true;
}

static void learn_from_point(Analyzer *an, const Access *access, const ExprList *point)
{
    Visitor visitor = {.expr = learn_divisor, .data = an};
    for (int d = 0; d < point->count && !access->asked; d++) {
        analyzer_assume_positive(an, access->buffer->shape[d]);
        visit_expr(&visitor, point->data[d]);
    }
}

Analyzer *analyzer_of_access(Context *ctx, const Access *access, const ExprList *point, const Map *sizes)
{
    Analyzer *an = analyzer_of_sizes(ctx, sizes);
    int count;
    const Frame **loops = frame_loops(ctx, access->frame, &count);
    learn_from_point(an, access, point);
    for (int i = 0; i < count; i++) {
        Range range = frame_loop_range(ctx, loops[i]);
        if (access_runs_without(access, loops[i]))
            continue;
        analyzer_bind_range_opaque(an, loops[i]->var, range);
        analyzer_assume_positive(an, range.extent);
    }
    ExprList conditions = access_known_conditions(ctx, access);
    for (int i = 0; i < conditions.count; i++)
        analyzer_assume(an, conditions.data[i]);
    return an;
}

bool analyzer_shows_within(Analyzer *an, const Expr *value, Range range)
{
    Context *ctx = analyzer_context(an);
    if (!dtype_is_index(value->dtype))
        return false;
    const Expr *min = op_cast(ctx, value->dtype, range.min), *end = op_add(ctx, min, op_cast(ctx, value->dtype, range.extent));
    int64_t first, last;
    IntBound bound = analyzer_bound(an, value);
    if (expr_const_int(min, &first) && expr_const_int(end, &last) && bound.min >= first && bound.max < last)
        return true;
    return analyzer_prove_less_equal(an, min, value) && analyzer_prove_less(an, value, end);
}

bool access_shows_at_most(Context *ctx, const Access *access, const Map *sizes, const Expr *a, const Expr *b)
{
    AffineSpace space = affine_universe(ctx, frame_loop_count(access->frame), sizes);
    const AffineEnv *env = frame_env(ctx, access->frame, 0);
    access_assume_anywhere(&space, access, env);
    affine_assume_compare(&space, EXPR_LT, env, b, env, a);
    for (int d = 0; !access->asked && !access->whole && d < access->region.buffer->ndim; d++) { /* what is touched has elements */
        const Expr *size = access->region.buffer->shape[d];
        if (dtype_is_index(size->dtype))
            affine_assume_compare(&space, EXPR_LE, NULL, expr_int(ctx, size->dtype, 1), NULL, size);
    }
    bool shown = affine_verdict(&space) == SET_EMPTY;
    affine_free(&space);
    return shown;
}
