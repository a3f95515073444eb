/* split: a loop into a nest of loops with the given extents.

   Before, split(i, [None, 16])             After
     for i in range(100):                     for i_0, i_1 in T.grid(7, 16):
         with T.block("B"):                       with T.block("B"):
             vi = T.axis.spatial(100, i)              vi = T.axis.spatial(100, i_0 * 16 + i_1)
                                                      T.where(i_0 * 16 + i_1 < 100)

   A loop that starts elsewhere than at 0 has its start added to the value: range(4, 104) gives vi = i_0 * 16 + i_1 + 4 under the same guard.

   The iterations keep their order, so the step needs no dependence analysis: what must hold is that the iterations beyond the old extent
   are guarded, and that no index of the new loops overflows. Where a guard would leave out the init of a point over which a ragged loop
   reduces nothing, as range(i) at i = 0, the new loops end where the old one did: range(T.min(16, i - i_0 * 16)). The new loops are serial,
   whatever kind the old one was. */
#include "ir/walk.h"
#include "passes/schedule/core/loops.h"
#include "print/print.h"

typedef struct {
    const TreeNode *node;
    const ForStmt *loop;
    int count;
    const Expr **factors; /* of the loop's type; an inferred one is filled in */
    const Value *argument; /* the list of them */
    int inferred;         /* the index of the factor to infer, or -1 */
    const Expr *product;  /* of the given factors */
} Split;

/* Takes over FACTORS; all constants must be positive, and one at most may be left to infer. */
static bool check_factors(Schedule *sch, const ValueList *factors, Split *split)
{
    split->count = factors->count;
    split->factors = ARENA_ARRAY(sch->ctx->arena, const Expr *, factors->count);
    split->inferred = -1;
    for (int i = 0; i < factors->count; i++) {
        int64_t constant;
        if (factors->items[i].kind == VALUE_NONE) {
            if (split->inferred >= 0)
                return sched_refuse_argument(sch, &factors->items[i], "one factor at most may be None, and factors %d and %d are",
                                             split->inferred, i);
            split->inferred = i;
            continue;
        }
        const Expr *factor = factors->items[i].as.expr;
        if (expr_const_int(factor, &constant) && constant <= 0)
            return sched_refuse_argument(sch, &factors->items[i], "factors must be positive, and factor %d is %lld", i, (long long)constant);
        if (expr_const_int(factor, &constant) && !dtype_holds(split->loop->var->dtype, constant))
            return sched_refuse_argument(sch, &factors->items[i], "factor %d, %lld, does not fit in %s, the type of loop '%s'", i, (long long)constant,
                                dtype_name(sch->ctx, split->loop->var->dtype), split->loop->var->name);
        split->factors[i] = op_cast(sch->ctx, split->loop->var->dtype, factor);
        if (!expr_const_int(factor, &constant) && !analyzer_prove_at_least(loops_context(sch, split->node), factor, 1))
            return sched_refuse_argument(sch, &factors->items[i], "factor %d, %s, is not known to be positive", i, print_expr(sch->ctx, factor));
    }
    return true;
}

/* All values min + i_0 * f_1 * f_2 + ... of the new loops must have a place in the loop's type. */
static bool check_range_fits(Schedule *sch, const Split *split)
{
    int64_t limit = dtype_max_int(split->loop->var->dtype), product = 1, factor, extent, start;
    for (int i = 0; i < split->count; i++)
        if (i != split->inferred && expr_const_int(split->factors[i], &factor) &&
            (__builtin_mul_overflow(product, factor, &product) || product > limit))
            return sched_refuse_argument(sch, split->argument, "the product of the factors exceeds %s, the type of loop '%s': make the loop T.int64",
                                dtype_name(sch->ctx, split->loop->var->dtype), split->loop->var->name);
    if (split->inferred < 0 || !expr_const_int(split->loop->extent, &extent))
        return true;
    int64_t beyond = extent % product ? product - extent % product : 0; /* iterations of the last tile that a guard leaves out */
    if (!expr_const_int(split->loop->min, &start) || start < 0)
        start = 0;
    if (extent > limit - start - beyond)
        return sched_refuse(sch,
                            "the extent %lld of loop '%s', rounded up to a multiple of %lld, reaches beyond %s, its type: make the loop "
                            "T.int64",
                            (long long)extent, split->loop->var->name, (long long)product,
                            dtype_name(sch->ctx, split->loop->var->dtype));
    return true;
}

static bool refuse_small_product(Schedule *sch, const Split *split)
{
    const char *extent = print_expr(sch->ctx, split->loop->extent), *name = split->loop->var->name;
    int64_t product, ignored;
    bool constant = expr_const_int(split->product, &product);
    const char *text = constant ? arena_printf(sch->ctx->arena, "%lld", (long long)product) : print_expr(sch->ctx, split->product);
    if (split->count == 0)
        sched_refuse_argument(sch, split->argument, "at least one factor is needed");
    else if (constant && expr_const_int(split->loop->extent, &ignored))
        sched_refuse_argument(sch, split->argument,
                              "the product of the factors is %s, which does not cover the extent %s of loop '%s': leave one factor None to "
                              "infer it",
                              text, extent, name);
    else
        sched_refuse_argument(sch, split->argument,
                              "the product of the factors, %s, is not known to cover the extent %s of loop '%s': leave one factor None to "
                              "infer it",
                              text, extent, name);
    return sched_note_node(sch, split->node);
}

/* Fills in the inferred factor, or checks that the given ones cover the extent. */
static bool complete_factors(Schedule *sch, Split *split)
{
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    const Expr *extent = split->loop->extent;
    split->product = expr_int(ctx, split->loop->var->dtype, 1);
    for (int i = 0; i < split->count; i++)
        if (i != split->inferred)
            split->product = op_mul(ctx, split->product, split->factors[i]);
    if (split->inferred < 0)
        return analyzer_prove_less_equal(an, extent, split->product) || refuse_small_product(sch, split);
    const Expr *rounded = op_sub(ctx, op_add(ctx, extent, split->product), expr_int(ctx, extent->dtype, 1));
    split->factors[split->inferred] =
        op_cast(ctx, split->loop->var->dtype, analyzer_simplify(an, op_floordiv(ctx, rounded, split->product)));
    return true;
}

/* The value of the old loop's variable in terms of the new ones, as the factors say it. */
static const Expr *split_value(Context *ctx, const Split *split, Var *const *vars)
{
    const Expr *value = expr_var(ctx, vars[0]);
    for (int i = 1; i < split->count; i++)
        value = op_add(ctx, op_mul(ctx, value, split->factors[i]), expr_var(ctx, vars[i]));
    return value;
}

static Var **split_vars(Context *ctx, const Split *split)
{
    Var **vars = ARENA_ARRAY(ctx->arena, Var *, split->count);
    for (int i = 0; i < split->count; i++)
        vars[i] = var_clone(ctx, split->loop->var, context_internf(ctx, "%s_%d", split->loop->var->name, i));
    return vars;
}

/* Whether the new loops run beyond the old extent. */
static bool needs_guard(Context *ctx, const Split *split, Var *const *vars, const Expr *in_range)
{
    Analyzer *an = analyzer_new(ctx);
    for (int i = 0; i < split->count; i++)
        analyzer_bind_range(an, vars[i], (Range){expr_int(ctx, vars[i]->dtype, 0), split->factors[i]});
    return !analyzer_prove_symbolic(an, in_range);
}

/* --- The guard and inits --- */

/* EXTENT, of the loop at NODE, changes with a loop, a let or an axis around it that the block at INIT reduces over at most in part. */
static bool extent_speaks_of_points(Schedule *sch, const TreeNode *node, const TreeNode *init, const Expr *extent)
{
    for (const TreeNode *around = schedule_parent(sch, node); around; around = schedule_parent(sch, around)) {
        const Stmt *stmt = around->stmt;
        if (stmt->kind == STMT_FOR && expr_uses_var(extent, stmt->as.loop.var) && !block_only_reduces_over(node_block(init), stmt->as.loop.var))
            return true;
        if (stmt->kind == STMT_LET && expr_uses_var(extent, stmt->as.let.var))
            return true;
        for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++)
            if (expr_uses_var(extent, stmt->as.block.iters[i].var))
                return true;
    }
    return false;
}

/* An init runs also for a point over which the loop reduces nothing, since its extent is 0 there. A guard that speaks of the point would
   keep that init from running. */
static bool guard_keeps_inits(Schedule *sch, const Split *split)
{
    const Expr *extent = split->loop->extent;
    for (int i = schedule_node_index(sch, split->node); i < split->node->end; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (node->stmt->kind != STMT_BLOCK || !node_block(node)->init || !extent_speaks_of_points(sch, split->node, node, extent))
            continue;
        bool outermost = schedule_scope(sch, node) == schedule_scope(sch, split->node);
        if (!(outermost && !block_only_reduces_over(node_block(node), split->loop->var)) &&
            !analyzer_prove_at_least(loops_context(sch, split->node), extent, 1))
            return false;
    }
    return true;
}

/* Ends each of the new loops, over VARS, where the old extent ends, so that no guard is needed:

     for k in range(i)     ->     for k_0 in range((i + 3) // 4):
                                      for k_1 in range(T.min(4, i - k_0 * 4))

   An inferred factor inside of others is 0 where the old extent is. */
static void clip_factors(Context *ctx, Split *split, Var *const *vars)
{
    Analyzer *an = analyzer_new(ctx);
    const Expr *rest = split->loop->extent, *one = expr_int(ctx, split->loop->var->dtype, 1);
    for (int i = 0; i < split->count; i++) {
        const Expr *inner = one;
        for (int j = i + 1; j < split->count; j++)
            inner = op_mul(ctx, inner, split->factors[j]);
        const Expr *needed = analyzer_guard_divisors(an, op_floordiv(ctx, op_sub(ctx, op_add(ctx, rest, inner), one), inner));
        rest = op_sub(ctx, rest, op_mul(ctx, expr_var(ctx, vars[i]), inner));
        if (i != split->inferred || i > 0)
            split->factors[i] = analyzer_simplify(an, op_min(ctx, split->factors[i], op_cast(ctx, split->factors[i]->dtype, needed)));
    }
}

static const Stmt *build_split(Schedule *sch, const Split *split, Var *const *vars, const Expr *value, const Expr *guard)
{
    Context *ctx = sch->ctx;
    Subst subst = {0};
    subst_var(ctx, &subst, split->loop->var, value);
    const Stmt *stmt = loops_substitute(ctx, &subst, split->loop->body);
    if (guard)
        stmt = loops_guard_blocks(ctx, stmt, guard);
    for (int i = split->count - 1; i >= 0; i--)
        stmt = loops_serial(ctx, vars[i], split->factors[i], stmt, split->node->stmt->span);
    return stmt;
}

bool primitive_split(Schedule *sch, const Value *args, Value *result)
{
    bool preserve_unit_iters = args[2].as.boolean, disable_predication = args[3].as.boolean;
    Split split = {.node = schedule_loop(sch, args[0].as.loop), .argument = &args[1]};
    if (!split.node)
        return false;
    split.loop = node_loop(split.node);
    if (!check_factors(sch, args[1].as.list, &split) || !check_range_fits(sch, &split) || !complete_factors(sch, &split) ||
        !check_loop_is_plain(sch, split.node) || !check_loop_has_no_jump(sch, split.node) ||
        !check_bounds_are_kept(sch, split.node, &split.node->stmt, 1) || !(split.node = loops_count_from_zero(sch, split.node)))
        return false;
    split.loop = node_loop(split.node);
    Var **vars = split_vars(sch->ctx, &split);
    const Expr *value = split_value(sch->ctx, &split, vars);
    const Expr *guard = op_compare(sch->ctx, EXPR_LT, value, split.loop->extent);
    if (disable_predication || !needs_guard(sch->ctx, &split, vars, guard))
        guard = NULL;
    if (guard && !guard_keeps_inits(sch, &split)) {
        clip_factors(sch->ctx, &split, vars);
        guard = NULL;
    }
    if (guard && !check_loop_is_guardable(sch, split.node))
        return false;

    int outer_count;
    const VarRange *outer = loops_ranges_around(sch, split.node, &outer_count);
    const Stmt *stmt = build_split(sch, &split, vars, value, guard);
    sched_replace(sch, split.node->stmt, loops_simplify_bindings(sch, stmt, outer, outer_count, preserve_unit_iters));
    Value *loops = ARENA_ARRAY(sch->ctx->arena, Value, split.count);
    for (int i = 0; i < split.count; i++)
        loops[i] = value_loop(vars[i]);
    *result = value_list(sch->ctx, loops, split.count);
    return true;
}
