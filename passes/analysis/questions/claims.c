/* Checks what a block claims by the kinds of its axes; see dependence_claims_hold in dependence.h. */
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/questions/conflict.h"

typedef struct {
    Context *ctx;
    const Func *func;
    const BlockStmt *block;
    const Map *sizes;
    Verdict verdict;
    Conflict *conflict;
} ClaimCheck;

/* Every spatial iterator is an index of the common point, so instances that differ in one touch different elements. */
static bool spatial_names_point(const ClaimCheck *check, const Access *a, const Access *b)
{
    if (!access_same_point(a, b))
        return false;
    for (int i = 0; i < check->block->iter_count; i++) {
        const Iter *iter = &check->block->iters[i];
        if (iter->kind == ITER_SPATIAL && !expr_is_int(iter->domain.extent, 1) && !access_names(a, iter->var))
            return false;
    }
    return true;
}

static const AffineEnv *env_of(const AffineEnv *env, const Var *var)
{
    while (env && env->var != var)
        env = env->outer;
    return env;
}

static void assume_iter(ClaimCheck *check, Pair *pair, AffineSpace *space, ExprKind kind, const Iter *iter)
{
    const Expr *var = expr_var(check->ctx, iter->var);
    affine_assume_compare(space, kind, env_of(pair->env_a, iter->var), var, env_of(pair->env_b, iter->var), var);
}

static bool of_kind(const Iter *iter, bool spatial)
{
    return (iter->kind == ITER_SPATIAL) == spatial && (spatial || iter->kind == ITER_REDUCE);
}

static bool uses_iterator(const ClaimCheck *check, const Expr *value)
{
    for (int i = 0; i < check->block->iter_count; i++)
        if (expr_uses_var(value, check->block->iters[i].var))
            return true;
    return false;
}

/* Two writes by one statement store the same where the value is the same for all instances: whichever comes last, nothing changes. */
static bool write_same_value(const ClaimCheck *check, const Access *a, const Access *b)
{
    return a->write && b->write && a->stmt == b->stmt && !uses_iterator(check, a->stmt->as.store.value);
}

/* The loops around the block that holds the one checked: a claim is one about the instances in one run of that block. */
static int loops_outside_scope(const ClaimCheck *check, const Access *access)
{
    const Frame *frame = access->frame;
    while (frame && !(frame->kind == FRAME_BLOCK && &frame->stmt->as.block == check->block))
        frame = frame->outer;
    frame = frame ? frame->outer : NULL;
    while (frame && frame->kind != FRAME_BLOCK)
        frame = frame->outer;
    return frame_loop_count(frame);
}

/* Instances that differ in an opaque iterator run in the order in which they are written, whatever the others claim. */
static void assume_opaque_equal(ClaimCheck *check, Pair *pair, AffineSpace *space)
{
    for (int i = 0; i < check->block->iter_count; i++) {
        const Iter *iter = &check->block->iters[i];
        if (iter->kind != ITER_SPATIAL && iter->kind != ITER_REDUCE)
            assume_iter(check, pair, space, EXPR_EQ, iter);
    }
}

/* --- variables that views define --- */

static void note_vars(Context *ctx, Map *vars, const Expr *expr)
{
    if (expr && expr->kind == EXPR_VAR)
        map_set(ctx->arena, vars, expr->value.var, expr->value.var);
}

typedef struct {
    Context *ctx;
    Map vars;
} ViewVars;

static bool collect_view_vars(Visitor *visitor, const Stmt *stmt)
{
    ViewVars *found = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        const Buffer *view = stmt->as.block.matches[i].target;
        note_vars(found->ctx, &found->vars, view->elem_offset);
        for (int d = 0; d < view->ndim; d++) {
            note_vars(found->ctx, &found->vars, view->shape[d]);
            note_vars(found->ctx, &found->vars, view->strides ? view->strides[d] : NULL);
        }
    }
    return true;
}

static bool mentions_any(const Expr *expr, const Map *vars)
{
    bool found = expr && expr->kind == EXPR_VAR && map_has(vars, expr->value.var);
    for (int i = 0; expr && i < expr->arg_count && !found; i++)
        found = mentions_any(expr->args[i], vars);
    return found;
}

/* What ACCESS touches, or whether it runs, depends on a variable that a match_buffer defines. Such a variable has one value, which a witness
   need not know. */
static bool depends_on_view_vars(const ClaimCheck *check, const Access *access)
{
    ViewVars found = {.ctx = check->ctx};
    Visitor visitor = {.stmt = collect_view_vars, .data = &found};
    visit_stmt(&visitor, check->func->body);
    bool depends = false;
    for (int d = 0; found.vars.count && d < access->region.buffer->ndim; d++)
        depends |= mentions_any(access->region.ranges[d].min, &found.vars) || mentions_any(access->region.ranges[d].extent, &found.vars);
    for (const Frame *frame = access->frame; found.vars.count && frame && !depends; frame = frame->outer)
        depends = mentions_any(frame->value, &found.vars) || mentions_any(frame->range.min, &found.vars) ||
                  mentions_any(frame->range.extent, &found.vars);
    return depends;
}

/* Looks for instances that agree in the iterators before FIRST-differing ones and differ in one of kind SPATIAL (else reduce; the spatial
   ones then agree). */
static void check_pair(ClaimCheck *check, const Access *a, const Access *b, bool spatial)
{
    Pair pair = pair_new(check->ctx, a, b);
    pair_build(&pair, check->sizes, 0);
    int scope_loops = loops_outside_scope(check, a);
    pair_assume_equal(&pair, &pair.space, scope_loops);
    AffineSpace *agreed = &pair.space;
    const BlockStmt *block = check->block;
    for (int i = 0; !spatial && i < block->iter_count; i++)
        if (of_kind(&block->iters[i], true))
            assume_iter(check, &pair, agreed, EXPR_EQ, &block->iters[i]);
    for (int i = 0; i < block->iter_count && check->verdict != ANSWER_REFUTED; i++) {
        if (!of_kind(&block->iters[i], spatial))
            continue;
        if (pair_agrees_on(&pair, expr_var(check->ctx, block->iters[i].var), scope_loops)) {
            assume_iter(check, &pair, agreed, EXPR_EQ, &block->iters[i]);
            continue;
        }
        AffineSpace differ = affine_copy(agreed);
        assume_iter(check, &pair, &differ, EXPR_LT, &block->iters[i]);
        assume_opaque_equal(check, &pair, &differ);
        Conflict conflict;
        if (pair_conflicts(&pair, differ, &conflict)) {
            /* an update that is not recognized may commute all the same, scratch may be private, and an opaque call may do less than is
               declared */
            bool certain = conflict.witnessed && spatial && func_is_argument(check->func, a->data) && a->stmt->kind == STMT_STORE &&
                           b->stmt->kind == STMT_STORE && !write_same_value(check, a, b) && !depends_on_view_vars(check, a) &&
                           !depends_on_view_vars(check, b);
            check->verdict = certain ? ANSWER_REFUTED : ANSWER_UNKNOWN;
            *check->conflict = conflict;
        }
        assume_iter(check, &pair, agreed, EXPR_EQ, &block->iters[i]);
    }
    affine_free(agreed);
}

/* Scratch of the instance itself is no conflict; that of the program around could be private, which is not this question: nothing is
   claimed refuted by it. */
static bool is_local_scratch(const BlockStmt *block, const Access *access)
{
    for (int i = 0; i < block->alloc_count; i++)
        if (block->allocs[i]->data == access->data)
            return true;
    return false;
}

static bool has_reduce_iter(const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && !expr_is_int(block->iters[i].domain.extent, 1))
            return true;
    return false;
}

/* The place in the list of the accesses inside one block, which follow one another. */
typedef struct {
    int first, end;
} AccessRange;

ClaimSet dependence_collect_claims(Context *ctx, const Func *func)
{
    ClaimSet set = {.ctx = ctx, .func = func, .accesses = access_collect(ctx, func), .sizes = func_sizes(ctx, func)};
    for (int i = 0; i < set.accesses.count; i++)
        for (const Frame *frame = set.accesses.data[i].frame; frame; frame = frame->outer) {
            if (frame->kind != FRAME_BLOCK)
                continue;
            AccessRange *range = map_get(&set.ranges, frame->stmt);
            if (!range) {
                range = ARENA_NEW(ctx->arena, AccessRange);
                range->first = i;
                map_set(ctx->arena, &set.ranges, frame->stmt, range);
            }
            range->end = i + 1;
        }
    return set;
}

Verdict check_claims_of_block(const ClaimSet *set, const Stmt *block_stmt, Conflict *conflict)
{
    const BlockStmt *block = &block_stmt->as.block;
    const AccessRange *range = map_get(&set->ranges, block_stmt);
    ClaimCheck check = {set->ctx, set->func, block, &set->sizes, ANSWER_SHOWN, conflict};
    bool reduces = has_reduce_iter(block);
    for (int i = range ? range->first : 0; range && i < range->end && check.verdict != ANSWER_REFUTED; i++) {
        const Access *a = &set->accesses.data[i];
        if (is_local_scratch(block, a))
            continue;
        for (int j = range->first; j < range->end && check.verdict != ANSWER_REFUTED; j++) {
            const Access *b = &set->accesses.data[j];
            if (pair_is_harmless(a, b, false))
                continue;
            if (!spatial_names_point(&check, a, b))
                check_pair(&check, a, b, true);
            if (reduces && check.verdict == ANSWER_SHOWN && !pair_is_harmless(a, b, true))
                check_pair(&check, a, b, false);
        }
    }
    return check.verdict;
}

bool shown_tells_points_apart(Context *ctx, const Func *func, const Block *block, Conflict *conflict)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    ClaimCheck check = {ctx, func, NULL, &sizes, ANSWER_SHOWN, conflict};
    VEC(const Access *) group = {0};
    for (int i = 0; i < accesses.count; i++)
        if (accesses.data[i].group == block)
            vec_push(ctx->arena, &group, &accesses.data[i]);
    if (group.count)
        check.block = &frame_of_block(group.data[0]->frame, block)->stmt->as.block;
    for (int i = 0; check.block && i < group.count && check.verdict == ANSWER_SHOWN; i++)
        for (int j = 0; j < group.count && check.verdict == ANSWER_SHOWN; j++)
            if (!pair_is_harmless(group.data[i], group.data[j], false) && !spatial_names_point(&check, group.data[i], group.data[j]))
                check_pair(&check, group.data[i], group.data[j], true);
    return check.verdict == ANSWER_SHOWN;
}
