/* reorder: the given loops of one nest into the given order; loops between them that are not given keep their places.

   Before, reorder(k, i)                    After
     for i, j, k in T.grid(8, 16, 32):        for k, j, i in T.grid(32, 16, 8):

   What must hold: the loops lie on one chain in which each loop is the whole body of the one before; a block below with an init has only
   spatial and reduce axes (but for axes that only loops further out move), bound by affine expressions that cover a box, of which a
   T.where may cut out any part; no extent uses a loop that would come to stand inside of it; accesses that depend on one another keep
   their order, along scan and opaque axes updates of a reduction too. */
#include "ir/walk.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/check/ties.h"
#include "passes/schedule/core/loops.h"
#include "print/print.h"

typedef struct {
    int count;
    const TreeNode **ordered; /* as they are to stand, outermost first */
    int chain_count;
    const TreeNode **chain; /* from the innermost to the outermost loop given, all loops between them included */
} Reordering;

static bool is_given(const Reordering *reordering, const TreeNode *node)
{
    for (int i = 0; i < reordering->count; i++)
        if (reordering->ordered[i] == node)
            return true;
    return false;
}

static bool gather_loops(Schedule *sch, const ValueList *loops, Reordering *reordering)
{
    *reordering = (Reordering){.count = loops->count, .ordered = loops_given(sch, loops)};
    return reordering->ordered;
}

/* The loop given that all others must enclose: the one with the most statements around it. */
static const TreeNode *innermost_given(Schedule *sch, const Reordering *reordering)
{
    const TreeNode *innermost = reordering->ordered[0];
    for (int i = 1; i < reordering->count; i++)
        if (schedule_is_under(sch, reordering->ordered[i], innermost))
            innermost = reordering->ordered[i];
    return innermost;
}

/* Above OUTERMOST there is no further loop of its scope, and some loop given is not below it. */
static bool refuse_apart(Schedule *sch, const Reordering *reordering, const TreeNode *outermost)
{
    const TreeNode *a = NULL, *b = reordering->ordered[0];
    for (int i = 0; i < reordering->count && !a; i++)
        if (!schedule_is_under(sch, reordering->ordered[i], outermost))
            a = reordering->ordered[i];
    for (int i = 0; i < reordering->count; i++)
        if (schedule_is_under(sch, reordering->ordered[i], outermost))
            b = reordering->ordered[i];

    sched_refuse(sch, "loops '%s' and '%s' are not nested in one another: only loops of one nest inside one block can be reordered",
                 node_name(a), node_name(b));
    sched_note_node(sch, a);
    return sched_note_node(sch, b);
}

/* Collects the loops from the innermost to the outermost one given, each the whole body of the next. */
static bool check_chain(Schedule *sch, Reordering *reordering)
{
    const TreeNode *inner = innermost_given(sch, reordering);
    VEC(const TreeNode *) chain = {0};
    vec_push(sch->ctx->arena, &chain, inner);
    for (int found = 1; found < reordering->count;) {
        const TreeNode *last = vec_last(&chain), *outer = schedule_parent(sch, last);
        while (outer && outer->stmt->kind != STMT_FOR && outer->stmt->kind != STMT_BLOCK)
            outer = schedule_parent(sch, outer);
        if (!outer || outer->stmt->kind == STMT_BLOCK)
            return refuse_apart(sch, reordering, last);
        if (node_loop(outer)->body != last->stmt) {
            sched_refuse(sch, "loop '%s' is not the whole body of loop '%s', so the loops are not one nest", node_name(last),
                         node_name(outer));
            sched_note(sch, node_loop(outer)->body->span, "the body of loop '%s' starts here", node_name(outer));
            return false;
        }
        found += is_given(reordering, outer);
        vec_push(sch->ctx->arena, &chain, outer);
    }
    reordering->chain = chain.data;
    reordering->chain_count = chain.count;
    return true;
}

/* The loop that comes to stand where chain[INDEX] is; *NEXT counts down through the given loops as the chain goes outwards. */
static const TreeNode *loop_at(const Reordering *reordering, int index, int *next)
{
    return is_given(reordering, reordering->chain[index]) ? reordering->ordered[(*next)--] : reordering->chain[index];
}

/* No domain may use a loop that stands inside of it after the step. */
static bool check_domains_stay_defined(Schedule *sch, const Reordering *reordering)
{
    VEC(const TreeNode *) inside = {0};
    int next = reordering->count - 1;
    for (int i = 0; i < reordering->chain_count; i++) {
        const TreeNode *node = loop_at(reordering, i, &next);
        const ForStmt *loop = node_loop(node);
        for (int j = 0; j < inside.count; j++) {
            const Var *var = node_loop(inside.data[j])->var;
            if (!expr_uses_var(loop->min, var) && !expr_uses_var(loop->extent, var))
                continue;
            sched_refuse(sch, "loop '%s' runs over %s iterations from %s, which depends on loop '%s'; that would come to stand inside of it",
                         loop->var->name, print_expr(sch->ctx, loop->extent), print_expr(sch->ctx, loop->min), var->name);
            return sched_note_node(sch, node);
        }
        vec_push(sch->ctx->arena, &inside, node);
    }
    return true;
}

/* Those of the loops that get another place must not hold a reduction that starts over. */
static bool check_reductions(Schedule *sch, const Reordering *reordering)
{
    int next = reordering->count - 1, first = -1, last = -1;
    for (int i = 0; i < reordering->chain_count; i++)
        if (loop_at(reordering, i, &next) != reordering->chain[i]) {
            first = first < 0 ? i : first;
            last = i;
        }
    return first < 0 || check_reductions_run_once(sch, reordering->chain[first], node_loop(reordering->chain[last])->var);
}

/* An update with an init counts the points of a box; other blocks need no more than that dependences keep their order. */
static bool check_block(Schedule *sch, const TreeNode *block, const TreeNode *top)
{
    return !node_block(block)->init ||
           (check_block_axes(sch, block, top) && check_block_is_affine(sch, block, schedule_parent(sch, top)));
}

/* The topmost blocks below the chain must let their inits come first in the new order too. */
static bool check_blocks(Schedule *sch, const Reordering *reordering)
{
    const TreeNode *top = reordering->chain[reordering->chain_count - 1];
    int count;
    const TreeNode **blocks = schedule_child_blocks(sch, reordering->chain[0], &count);
    for (int i = 0; i < count; i++)
        if (!check_block(sch, blocks[i], top))
            return false;
    return check_loop_has_no_jump(sch, reordering->chain[0]) &&
           check_bounds_of_nest_are_kept(sch, reordering->chain, reordering->chain_count, top->stmt);
}

static void warn_of_ties(Schedule *sch, const Reordering *reordering)
{
    int count = reordering->chain_count, next = reordering->count - 1;
    const TreeNode **old_order = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, count),
                   **new_order = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, count);
    for (int i = 0; i < count; i++) {
        old_order[count - 1 - i] = reordering->chain[i];
        new_order[count - 1 - i] = loop_at(reordering, i, &next);
    }
    warn_of_reordered_loops(sch, old_order, new_order, count);
}

bool primitive_reorder(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    Reordering reordering;
    if (!gather_loops(sch, args[0].as.list, &reordering))
        return false;
    if (reordering.count < 2)
        return true;
    if (!check_chain(sch, &reordering) || !check_blocks(sch, &reordering) || !check_domains_stay_defined(sch, &reordering))
        return false;
    if (!check_reductions(sch, &reordering))
        return false;

    warn_of_ties(sch, &reordering);
    const Func *before = schedule_func(sch);
    const Stmt *top = reordering.chain[reordering.chain_count - 1]->stmt, *stmt = node_loop(reordering.chain[0])->body;
    const Var *innermost = node_loop(reordering.ordered[reordering.count - 1])->var;
    int next = reordering.count - 1;
    for (int i = 0; i < reordering.chain_count; i++)
        stmt = stmt_with_body(sch->ctx, loop_at(&reordering, i, &next)->stmt, stmt);
    sched_replace(sch, top, stmt);
    return check_order_is_kept(sch, before, top, stmt, node_loop(reordering.chain[0])->var) &&
           check_concurrent_loops_around(sch, schedule_find_loop(sch, innermost));
}
