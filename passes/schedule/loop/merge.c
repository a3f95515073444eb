/* merge: loops of equal extents that follow one another become one loop over all their bodies.

   Before, merge(j, b)                      After
     for i, j in T.grid(8, 16):               for i_m, j_m in T.grid(8, 16):
         with T.block("B"): ...                   with T.block("B"): ...
     for a, b in T.grid(8, 16):                   with T.block("C"): ...
         with T.block("C"): ...

   The loops from the given ones up to the statement list that holds all of them merge too. What must hold: each of these loops is the whole
   body of the one around it, none has an annotation or is bound; the nests are equally deep with equal extents; accesses that depend on one
   another keep their order. Where the loops start at different places, the merged loop runs over the range of the first given one. The
   merged nest stands where the last of the nests stood, with the bodies in the order in which the loops are given. */
#include "ir/walk.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"
#include "print/print.h"

/* The loops from just below the common statement list to a given loop. */
typedef struct {
    int depth;
    const TreeNode **loops; /* outermost first */
} Nest;

typedef struct {
    int count;
    const TreeNode **given;
    const TreeNode *list; /* the sequence that holds all nests */
    Nest *nests;
} Merge;

static bool gather_loops(Schedule *sch, const ValueList *loops, Merge *merge)
{
    if (loops->count < 2)
        return sched_refuse(sch, "at least two loops are needed");
    *merge = (Merge){.count = loops->count, .given = loops_given(sch, loops)};
    return merge->given;
}

static bool check_one_list(Schedule *sch, Merge *merge)
{
    const TreeNode *common = merge->given[0];
    for (int i = 1; i < merge->count; i++)
        while (!schedule_is_under(sch, merge->given[i], common))
            common = schedule_parent(sch, common);
    merge->list = common;
    if (common->stmt->kind == STMT_SEQ)
        return true;
    sched_refuse(sch, "loops '%s' and '%s' are not in statements that follow one another", node_name(merge->given[0]),
                 node_name(merge->given[1]));
    sched_note_node(sch, merge->given[0]);
    return sched_note_node(sch, merge->given[1]);
}

/* The bounds of the loop at NODE are the same wherever the merged nest may come to stand, and in each of its bodies. */
static bool check_loop_bounds(Schedule *sch, const Merge *merge, const TreeNode *node)
{
    const Stmt *list = merge->list->stmt;
    int first = list->as.seq.count, last = -1;
    for (int i = 0; i < list->as.seq.count; i++)
        for (int g = 0; g < merge->count; g++)
            if (schedule_is_under(sch, merge->given[g], schedule_find_stmt(sch, list->as.seq.items[i]))) {
                first = i < first ? i : first;
                last = i;
            }
    return check_bounds_are_kept(sch, node, list->as.seq.items + first, last - first + 1);
}

/* Collects the loops from below the list to GIVEN, each the whole body of the one around it. */
static bool find_nest(Schedule *sch, const Merge *merge, const TreeNode *given, Nest *nest)
{
    VEC(const TreeNode *) inwards = {0};
    for (const TreeNode *node = given; node != merge->list; node = schedule_parent(sch, node)) {
        if (node->stmt->kind != STMT_FOR) {
            sched_refuse(sch, "only loops may stand around loop '%s' up to the body that it shares with the other loops", node_name(given));
            note_no_loop(sch, node);
            return false;
        }
        if (!check_loop_is_plain(sch, node) || !check_loop_has_no_jump(sch, node) || !check_loop_bounds(sch, merge, node))
            return false;
        vec_push(sch->ctx->arena, &inwards, node);
    }
    *nest = (Nest){inwards.count, ARENA_ARRAY(sch->ctx->arena, const TreeNode *, inwards.count)};
    for (int i = 0; i < inwards.count; i++)
        nest->loops[i] = inwards.data[inwards.count - 1 - i];
    return true;
}

/* The loops of NEST as uses of VARS, which run over the same ranges as the loops of FIRST: a loop that starts elsewhere is as far from its
   own start. */
static Subst nest_renaming(Context *ctx, const Nest *first, const Nest *nest, Var *const *vars)
{
    Subst subst = {0}, first_names = {0};
    for (int d = 0; d < nest->depth; d++) {
        const ForStmt *loop = node_loop(nest->loops[d]), *model = node_loop(first->loops[d]);
        DType dtype = loop->var->dtype;
        const Expr *value = op_cast(ctx, dtype, expr_var(ctx, vars[d])), *start = op_cast(ctx, dtype, subst_expr(ctx, &subst, loop->min)),
                   *model_start = op_cast(ctx, dtype, subst_expr(ctx, &first_names, model->min));
        if (!analyzer_prove_equal(analyzer_new(ctx), start, model_start))
            value = op_add(ctx, value, analyzer_simplify(analyzer_new(ctx), op_sub(ctx, start, model_start)));
        subst_var(ctx, &first_names, model->var, op_cast(ctx, model->var->dtype, expr_var(ctx, vars[d])));
        subst_var(ctx, &subst, loop->var, value);
    }
    return subst;
}

static bool check_same_shape(Schedule *sch, const Nest *first, const Nest *nest, Var *const *vars)
{
    Context *ctx = sch->ctx;
    const TreeNode *a = first->loops[first->depth - 1], *b = nest->loops[nest->depth - 1];
    if (first->depth != nest->depth) {
        sched_refuse(sch, "loop '%s' is number %d of its nest and loop '%s' number %d: only loops of equal depth can be merged",
                     node_name(a), first->depth, node_name(b), nest->depth);
        sched_note_node(sch, a);
        return sched_note_node(sch, b);
    }
    Subst first_names = nest_renaming(ctx, first, first, vars), names = nest_renaming(ctx, first, nest, vars);
    for (int d = 0; d < nest->depth; d++) {
        const Expr *extent = subst_expr(ctx, &first_names, node_loop(first->loops[d])->extent),
                   *other = subst_expr(ctx, &names, node_loop(nest->loops[d])->extent);
        if (dtype_equal(extent->dtype, other->dtype) && analyzer_prove_equal(analyzer_new(ctx), extent, other))
            continue;
        sched_refuse(sch, "loops '%s' and '%s' have different extents, %s and %s, and only loops of equal extents can be merged", node_name(first->loops[d]), node_name(nest->loops[d]),
                     print_expr(ctx, extent), print_expr(ctx, other));
        sched_note_node(sch, first->loops[d]);
        return sched_note_node(sch, nest->loops[d]);
    }
    return true;
}

static Var **merged_vars(Context *ctx, const Nest *nest)
{
    Var **vars = ARENA_ARRAY(ctx->arena, Var *, nest->depth);
    for (int d = 0; d < nest->depth; d++) {
        const Var *old = node_loop(nest->loops[d])->var;
        vars[d] = var_clone(ctx, old, context_internf(ctx, "%s_m", old->name));
    }
    return vars;
}

static const Stmt *merged_nest(Schedule *sch, const Merge *merge, Var *const *vars)
{
    Context *ctx = sch->ctx;
    const Stmt **bodies = ARENA_ARRAY(ctx->arena, const Stmt *, merge->count);
    for (int i = 0; i < merge->count; i++) {
        Subst names = nest_renaming(ctx, &merge->nests[0], &merge->nests[i], vars);
        bodies[i] = subst_stmt(ctx, &names, node_loop(merge->given[i])->body);
    }
    const Nest *first = &merge->nests[0];
    Subst names = nest_renaming(ctx, first, first, vars);
    const Stmt *stmt = stmt_seq(ctx, bodies, merge->count);
    for (int d = first->depth - 1; d >= 0; d--) {
        const ForStmt *loop = node_loop(first->loops[d]);
        stmt = stmt_for_serial(ctx, vars[d], subst_expr(ctx, &names, loop->min), subst_expr(ctx, &names, loop->extent), stmt,
                               first->loops[d]->stmt->span);
    }
    return stmt;
}

/* The list without the nests, and NEST where the last of them stood. */
static const Stmt *rebuilt_list(Schedule *sch, const Merge *merge, const Stmt *nest)
{
    const Stmt *list = merge->list->stmt;
    VEC(const Stmt *) items = {0};
    int left = merge->count;
    for (int i = 0; i < list->as.seq.count; i++) {
        bool merged = false;
        for (int n = 0; n < merge->count; n++)
            merged |= merge->nests[n].loops[0]->stmt == list->as.seq.items[i];
        left -= merged;
        if (!merged)
            vec_push(sch->ctx->arena, &items, list->as.seq.items[i]);
        else if (left == 0)
            vec_push(sch->ctx->arena, &items, nest);
    }
    return stmt_seq(sch->ctx, items.data, items.count);
}

static int position_in_list(const Merge *merge, const Nest *nest)
{
    const Stmt *list = merge->list->stmt;
    int position = 0;
    while (list->as.seq.items[position] != nest->loops[0]->stmt)
        position++;
    return position;
}

/* The first of the given loops that comes before the one given before it, or NULL. */
static const Stmt *given_too_late(const Merge *merge)
{
    for (int i = 1; i < merge->count; i++)
        if (position_in_list(merge, &merge->nests[i]) < position_in_list(merge, &merge->nests[i - 1]))
            return merge->given[i]->stmt;
    return NULL;
}

bool primitive_merge(Schedule *sch, const Value *args, Value *result)
{
    Merge merge = {0};
    if (!gather_loops(sch, args[0].as.list, &merge) || !check_one_list(sch, &merge))
        return false;
    merge.nests = ARENA_ARRAY(sch->ctx->arena, Nest, merge.count);
    Var **vars = NULL;
    for (int i = 0; i < merge.count; i++) {
        if (!find_nest(sch, &merge, merge.given[i], &merge.nests[i]))
            return false;
        vars = i ? vars : merged_vars(sch->ctx, &merge.nests[0]);
        if (!check_same_shape(sch, &merge.nests[0], &merge.nests[i], vars))
            return false;
    }
    *result = value_loop(vars[merge.nests[0].depth - 1]);
    const TreeNode *around = schedule_parent(sch, merge.list);
    while (around->stmt->kind != STMT_FOR && around->stmt->kind != STMT_BLOCK)
        around = schedule_parent(sch, around);
    const Func *before = schedule_func(sch);
    const Stmt *old_part = around->stmt, *late = given_too_late(&merge);
    sched_replace(sch, merge.list->stmt, rebuilt_list(sch, &merge, merged_nest(sch, &merge, vars)));
    bool kept = check_order_is_kept(sch, before, old_part, schedule_find_stmt(sch, old_part)->stmt, NULL);
    if (!kept && late)
        sched_note(sch, late->span, "the loops are merged in the order in which they are given, but loop '%s' comes earlier in the program",
                   late->as.loop.var->name);
    return kept;
}
