/* Cheap arguments for accesses of single elements whose indices are the same expressions of the loops, affine or not (a loop fused from
   loops over symbolic sizes: A[f // m, f % m]).

   - Where a write has the indices of a read, its own loops standing for loops of the read with the same range, and asks for no further
     condition, it covers the read.
   - Where the bindings of a block are a surjective map onto the domains of its iterators, all its instances run. */
#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_init.h"
#include "passes/analysis/normal/digits.h"
#include "passes/analysis/normal/quotients.h"
#include "passes/analysis/prove/portfolio.h"
#include "passes/arith/iter_map.h"

/* --- covering writes --- */

typedef struct {
    Context *ctx;
    const Frame **loops_write, **loops_read;
    int count_write, count_read, common;
    Subst renaming; /* loops of the write alone -> loops of the read alone, or the first iteration of those that the read has none for */
    const Map *sizes;
    const Frame *read;
    bool besides;   /* the read may also run where its loops and conditions do not, as an init does where nothing is reduced */
    ExprList given; /* the conditions at the read, when ASKED */
    bool asked;
    Analyzer *an; /* knows what holds at the read; NULL: not asked yet */
} Match;

static Match match_new(Context *ctx, const Frame *write, const Frame *read, const Map *sizes)
{
    Match match = {.ctx = ctx, .sizes = sizes, .read = read};
    match.loops_write = frame_loops(ctx, write, &match.count_write);
    match.loops_read = frame_loops(ctx, read, &match.count_read);
    return match;
}

static const Frame *own_loop(const Frame **loops, int count, int common, const Expr *var)
{
    for (int i = common; i < count; i++)
        if (expr_is_var(var, loops[i]->var))
            return loops[i];
    return NULL;
}

/* WRITE becomes READ by renaming. */
static bool match_expr(Match *match, const Expr *write, const Expr *read)
{
    const Frame *from = own_loop(match->loops_write, match->count_write, match->common, write),
                *to = own_loop(match->loops_read, match->count_read, match->common, read);
    if (from || to) {
        if (!from || !to || !expr_equal(from->range.min, to->range.min) || !expr_equal(from->range.extent, to->range.extent))
            return false;
        const Expr *known = map_get(&match->renaming.vars, from->var);
        if (!known)
            subst_var(match->ctx, &match->renaming, from->var, read);
        return !known || expr_equal(known, read);
    }
    if (write->kind != read->kind || write->arg_count != read->arg_count || write->arg_count == 0)
        return expr_equal(write, read);
    const Expr **args = ARENA_ARRAY(match->ctx->arena, const Expr *, read->arg_count);
    for (int i = 0; i < read->arg_count; i++) {
        if (!match_expr(match, write->args[i], read->args[i]))
            return false;
        args[i] = read->args[i];
    }
    return expr_equal(expr_with_args(match->ctx, write, args), read);
}

/* A and B are one comparison, whichever way its sums are written. */
static bool says_same(Context *ctx, const Expr *a, const Expr *b)
{
    int64_t difference;
    if (expr_equal(a, b))
        return true;
    if (a->kind != b->kind || !expr_is_compare(a) || !dtype_is_index(a->args[0]->dtype) ||
        !dtype_equal(a->args[0]->dtype, b->args[0]->dtype))
        return false;
    return linear_difference(ctx, op_sub(ctx, a->args[0], a->args[1]), op_sub(ctx, b->args[0], b->args[1]), &difference) && difference == 0;
}

static const ExprList *given_conditions(Match *match)
{
    bool all;
    if (!match->asked)
        match->given = access_conditions(match->ctx, match->read, &all);
    match->asked = true;
    return &match->given;
}

/* An analyzer that knows what holds at the read. Of x < n, where x is not negative, it knows that n is positive. */
static Analyzer *facts_of_read(Match *match)
{
    if (match->an)
        return match->an;
    Context *ctx = match->ctx;
    Analyzer *an = match->an = analyzer_of_sizes(ctx, match->sizes);
    for (int i = 0; i < match->count_read && !match->besides; i++)
        analyzer_bind_range_opaque(an, match->loops_read[i]->var, frame_loop_range(ctx, match->loops_read[i]));
    const ExprList *given = given_conditions(match);
    for (int i = 0; i < given->count && !match->besides; i++) {
        const Expr *condition = given->data[i], *one;
        bool below = condition->kind == EXPR_LT && dtype_is_index(condition->args[0]->dtype);
        if (below && analyzer_prove_at_least(an, condition->args[0], 0)) {
            one = expr_int(ctx, condition->args[1]->dtype, 1);
            analyzer_assume(an, op_compare(ctx, EXPR_LE, one, condition->args[1]));
        }
        analyzer_assume(an, condition);
    }
    return an;
}

/* The loops that the write has besides run at least once: from here on they stand for their first iteration. */
static bool other_loops_run(Match *match)
{
    Context *ctx = match->ctx;
    for (int i = match->common; i < match->count_write; i++) {
        const Frame *loop = match->loops_write[i];
        int64_t extent;
        if (map_has(&match->renaming.vars, loop->var))
            continue;
        Range range = frame_loop_range(ctx, loop);
        const Expr *first = subst_expr(ctx, &match->renaming, range.min), *count = subst_expr(ctx, &match->renaming, range.extent);
        bool runs = expr_const_int(count, &extent)
                        ? extent > 0
                        : expr_is_fixed(count) && analyzer_prove_at_least(facts_of_read(match), count, 1);
        if (!runs || !expr_is_fixed(first))
            return false;
        subst_var(ctx, &match->renaming, loop->var, first);
    }
    return true;
}

/* CONDITION, over loops of the read, holds in all iterations in which that runs. */
static bool follows_at_read(Match *match, const Expr *condition)
{
    if (analyzer_prove(facts_of_read(match), condition))
        return true;
    if (match->besides)
        return false;
    AffineSpace space = affine_universe(match->ctx, match->count_read, match->sizes);
    const AffineEnv *env = frame_env(match->ctx, match->read, 0);
    frame_assume(&space, match->read, env);
    affine_assume(&space, env, condition, true);
    bool follows = affine_verdict(&space) == SET_EMPTY;
    affine_free(&space);
    return follows;
}

/* What must hold at the write follows from what holds at the read. */
static bool conditions_follow(Match *match, const Frame *write)
{
    bool all;
    ExprList needed = access_conditions(match->ctx, write, &all);
    const ExprList *given = needed.count && all ? given_conditions(match) : NULL;
    for (int i = 0; i < needed.count && all; i++) {
        const Expr *renamed = subst_expr(match->ctx, &match->renaming, needed.data[i]);
        all = false;
        for (int j = 0; j < given->count && expr_is_fixed(renamed) && !all; j++)
            all = says_same(match->ctx, given->data[j], renamed);
        all = all || (expr_is_fixed(renamed) && follows_at_read(match, renamed));
    }
    return all;
}

Answer covered_by_same_indices(const Goal *goal)
{
    Context *ctx = goal->ctx;
    const Access *write = goal->writes[0], *read = goal->read;
    ExprList target = {0}, source = {0};
    if (write->buffer != read->buffer || !access_point(ctx, write, &target) || !access_point(ctx, read, &source))
        return answer_unknown("the indices are not the same");
    Match match = match_new(ctx, write->frame, read->frame, goal->sizes);
    match.common = goal->common;
    match.besides = access_may_lack_updates(read);
    for (int i = 0; i < target.count; i++)
        if (!expr_is_fixed(target.data[i]) || !match_expr(&match, target.data[i], source.data[i]))
            return answer_unknown("the indices are not the same");
    return answer_if(other_loops_run(&match) && conditions_follow(&match, write->frame));
}

/* --- blocks that run at least where they do in another program --- */

Answer among_by_same_bindings(const Goal *goal)
{
    Context *ctx = goal->ctx;
    const BlockStmt *all = goal->block, *some = goal->other;
    const Frame *all_frame = goal->frame, *some_frame = goal->other_frame;
    Match match = match_new(ctx, all_frame, some_frame, goal->sizes);
    match.besides = some->init != NULL;
    while (match.common < match.count_write && match.common < match.count_read &&
           match.loops_write[match.common]->var == match.loops_read[match.common]->var)
        match.common++;
    Subst all_values = frame_values(ctx, all_frame), some_values = frame_values(ctx, some_frame);
    for (int i = 0; i < all->iter_count; i++) {
        const Expr *target = subst_expr(ctx, &all_values, expr_var(ctx, all->iters[i].var)),
                   *source = subst_expr(ctx, &some_values, expr_var(ctx, some->iters[i].var));
        if (!expr_is_fixed(target) || !match_expr(&match, target, source))
            return answer_unknown("the bindings are not the same");
    }
    return answer_if(other_loops_run(&match) && conditions_follow(&match, all_frame));
}

/* --- blocks that run completely --- */

typedef struct {
    const VarRange *iters;
    int count;
    bool found;
} FreeSearch;

static bool search_free(Visitor *visitor, const Expr *expr)
{
    FreeSearch *search = visitor->data;
    bool known = expr->kind != EXPR_VAR;
    for (int i = 0; i < search->count; i++)
        known |= expr_is_var(expr, search->iters[i].var);
    search->found |= !known;
    return !search->found;
}

/* Some of ITERS may be empty, or PREDICATE may leave nothing: then what no binding uses may keep all instances from running. */
static bool may_be_empty(const VarRange *iters, int count, const Expr *predicate)
{
    FreeSearch search = {iters, count, false};
    Visitor visitor = {.expr = search_free, .data = &search};
    visit_expr(&visitor, predicate);
    for (int i = 0; i < count; i++) {
        int64_t extent;
        search.found |= !expr_const_int(iters[i].range.extent, &extent) || extent <= 0;
    }
    return search.found;
}

/* CONDITION mentions none of LOOPS, and is not known to hold: whether anything runs is not up to the bindings. */
static bool may_exclude_all(const Digits *digits, const Expr *condition, const Frame **loops, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(condition, loops[i]->var))
            return false;
    return !analyzer_prove_symbolic(digits->signs, condition);
}

/* The loops that BINDINGS use, as ITERS and INNER; -1 when another one may keep some instance from running. */
static int find_iters(const ExprList *bindings, const Expr *predicate, const Frame **loops, int loop_count, VarRange *iters,
                      const Var **inner)
{
    int count = 0;
    for (int i = 0; i < loop_count; i++) {
        int64_t extent;
        if (exprs_use_var(bindings, loops[i]->var)) {
            inner[count] = loops[i]->var;
            iters[count++] = (VarRange){loops[i]->var, loops[i]->range};
        } else if (expr_uses_var(predicate, loops[i]->var) || !expr_const_int(loops[i]->range.extent, &extent) || extent <= 0) {
            return -1;
        }
    }
    return count;
}

/* The bindings of a block under CONDITIONS, VALUES over loops, fill the domains of its iterators. DIGITS: are first put in that form. */
static bool values_fill_domains(const Digits *digits, const BlockStmt *block, const Frame *frame, const ExprList *values,
                                const ExprList *conditions)
{
    Context *ctx = analyzer_context(digits->an);
    int loop_count;
    const Frame **loops = frame_loops(ctx, frame, &loop_count);
    ExprList bindings = {0};
    for (int i = 0; i < values->count; i++)
        vec_push(ctx->arena, &bindings, digits_of(digits, values->data[i]));
    const Expr *predicate = expr_bool(ctx, true);
    for (int i = 0; i < conditions->count; i++)
        predicate = op_and(ctx, predicate, quotient_undivided(digits->an, digits->signs, digits_of(digits, conditions->data[i])));
    VarRange *iters = ARENA_ARRAY(ctx->arena, VarRange, loop_count);
    const Var **inner = ARENA_ARRAY(ctx->arena, const Var *, loop_count);
    int count = find_iters(&bindings, predicate, loops, loop_count, iters, inner);
    if (count < 0)
        return false;
    for (int i = 0; i < count && digits->factor > 1; i++)
        iters[i].range.extent = digits_of_extent(ctx, iters[i].range.extent);
    IterMapLevel level = may_be_empty(iters, count, predicate) ? ITER_MAP_BIJECTIVE : ITER_MAP_SURJECTIVE;
    IterMapQuery query = {bindings.data, bindings.count, iters, count, predicate, level, false};
    SubspaceDivision division;
    if (!iter_map_divide_subspace(digits->an, &query, inner, count, &division))
        return false;
    for (int i = 0; i < block->iter_count; i++) {
        Range filled = iter_map_filled_range(digits->an, &division.bindings[i], iters, count), domain = block->iters[i].domain;
        if (!analyzer_prove_equal(digits->an, filled.min, domain.min) || !analyzer_prove_equal(digits->an, filled.extent, domain.extent))
            return false;
    }
    return true;
}

bool block_runs_completely(Context *ctx, const BlockStmt *block, const Frame *frame, const Map *sizes)
{
    int loop_count;
    bool all;
    const Frame **loops = frame_loops(ctx, frame, &loop_count);
    ExprList conditions = access_conditions(ctx, frame, &all), values = {0};
    if (!all)
        return false;
    Subst bound = frame_values(ctx, frame);
    for (int i = 0; i < block->iter_count; i++)
        vec_push(ctx->arena, &values, subst_expr(ctx, &bound, expr_var(ctx, block->iters[i].var)));
    Digits digits = digits_new(ctx, sizes);
    for (int i = 0; i < loop_count; i++)
        analyzer_bind_range_opaque(digits.an, loops[i]->var, loops[i]->range);
    for (int i = 0; i < conditions.count; i++)
        if (may_exclude_all(&digits, conditions.data[i], loops, loop_count))
            return false;
    digits_find_factor(&digits, &values);
    if (digits.factor > 1 && values_fill_domains(&digits, block, frame, &values, &conditions))
        return true;
    digits.factor = 1;
    return values_fill_domains(&digits, block, frame, &values, &conditions);
}
