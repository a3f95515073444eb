/* fuse: nested loops into one.

   Before, fuse(i, j)                       After
     for i, j in T.grid(8, 16):               for i_j_fused in range(128):
         with T.block("B"):                       with T.block("B"):
             vi, vj = T.axis.remap("SS", ..)          vi = T.axis.spatial(8, i_j_fused // 16)
                                                      vj = T.axis.spatial(16, i_j_fused % 16)

   The iterations keep their order. What must hold: each loop is the whole body of the one before, no extent depends on another of the
   loops, and the product of the extents fits in the type. A loop may start anywhere, also where an outer one says: its start is added to
   its index. The new loop is serial, whatever kind the old ones were. */
#include "ir/walk.h"
#include "passes/arith/iter_map.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "print/print.h"

typedef struct {
    int count;
    const TreeNode **nodes; /* outermost first */
    DType dtype;            /* of the fused loop: the widest of them */
} Fusion;

static const ForStmt *fused_loop(const Fusion *fusion, int i)
{
    return node_loop(fusion->nodes[i]);
}

/* INNER must be all that the body of OUTER does. */
static bool check_nested(Schedule *sch, const TreeNode *outer, const TreeNode *inner)
{
    const char *outer_name = node_name(outer), *inner_name = node_name(inner);
    if (node_loop(outer)->body == inner->stmt)
        return true;
    if (schedule_is_under(sch, inner, outer)) {
        sched_refuse(sch, "loop '%s' is not the whole body of loop '%s', so they cannot become one loop", inner_name, outer_name);
        sched_note(sch, node_loop(outer)->body->span, "the body of loop '%s' starts here", outer_name);
    } else {
        sched_refuse(sch, "loop '%s' is not inside loop '%s': give the loops from the outermost to the innermost", inner_name, outer_name);
        sched_note_node(sch, inner);
    }
    return false;
}

/* The extent of loop INDEX must not depend on the loops before it. */
static bool check_rectangular(Schedule *sch, const Fusion *fusion, int index)
{
    const ForStmt *loop = fused_loop(fusion, index);
    for (int i = 0; i < index; i++) {
        if (!expr_uses_var(loop->extent, fused_loop(fusion, i)->var))
            continue;
        sched_refuse(sch, "the extent %s of loop '%s' depends on loop '%s': only rectangular nests can be fused",
                     print_expr(sch->ctx, loop->extent), loop->var->name, fused_loop(fusion, i)->var->name);
        return sched_note_node(sch, fusion->nodes[index]);
    }
    return true;
}

static bool check_extent_fits(Schedule *sch, const Fusion *fusion)
{
    int64_t product = 1, extent;
    for (int i = 0; i < fusion->count; i++)
        if (!expr_const_int(fused_loop(fusion, i)->extent, &extent))
            return true;
        else if (__builtin_mul_overflow(product, extent, &product) || product > dtype_max_int(fusion->dtype))
            return sched_refuse(sch, "the product of the extents exceeds %s, the type of the loops: make them T.int64",
                                dtype_name(sch->ctx, fusion->dtype));
    return true;
}

static bool check_fusion(Schedule *sch, const Fusion *fusion)
{
    for (int i = 0; i < fusion->count; i++) {
        if (!check_loop_is_plain(sch, fusion->nodes[i]) || (i > 0 && !check_nested(sch, fusion->nodes[i - 1], fusion->nodes[i])) ||
            !check_rectangular(sch, fusion, i))
            return false;
    }
    /* a jump in the one-loop case stays where it is */
    return check_extent_fits(sch, fusion) && (fusion->count == 1 || check_loop_has_no_jump(sch, fusion->nodes[fusion->count - 1]));
}

static Var *fused_var(Context *ctx, const Fusion *fusion)
{
    Str name = fused_loop(fusion, 0)->var->name;
    for (int i = 1; i < fusion->count; i++)
        name = context_internf(ctx, "%s_%s", name, fused_loop(fusion, i)->var->name);
    return var_new(ctx, context_internf(ctx, "%s_fused", name), fusion->dtype, fused_loop(fusion, 0)->var->span);
}

/* Maps each old loop variable to its value in terms of FUSED. */
static Subst fused_values(Context *ctx, const Fusion *fusion, Var *fused)
{
    Subst subst = {0};
    const Expr *lower = expr_int(ctx, fusion->dtype, 1), *index = expr_var(ctx, fused);
    for (int i = fusion->count - 1; i >= 0; i--) {
        const ForStmt *loop = fused_loop(fusion, i);
        const Expr *extent = op_cast(ctx, fusion->dtype, loop->extent), *value;
        bool empty_inside = i > 0 && expr_is_int(extent, 0); /* nothing runs, and its extent must not become a divisor */
        if (expr_is_int(extent, 1))
            value = expr_int(ctx, fusion->dtype, 0);
        else if (empty_inside)
            value = index;
        else if (i == 0)
            value = op_floordiv(ctx, index, lower);
        else
            value = op_floordiv(ctx, op_floormod(ctx, index, iter_product(ctx, extent, lower)), lower);
        lower = empty_inside ? lower : iter_product(ctx, extent, lower);
        subst_var(ctx, &subst, loop->var, op_cast(ctx, loop->var->dtype, value));
    }
    return subst;
}

static const Expr *fused_extent(Context *ctx, const Fusion *fusion)
{
    const Expr *extent = expr_int(ctx, fusion->dtype, 1);
    for (int i = 0; i < fusion->count; i++)
        extent = op_mul(ctx, extent, op_cast(ctx, fusion->dtype, fused_loop(fusion, i)->extent));
    return analyzer_simplify(analyzer_new(ctx), extent);
}

/* The nodes of the argument's loops. */
static bool gather_loops(Schedule *sch, const ValueList *loops, Fusion *fusion)
{
    if (!loops->count)
        return sched_refuse(sch, "at least one loop is needed");
    *fusion = (Fusion){loops->count, loops_given(sch, loops), DTYPE_INT32};
    int bits = 0;
    for (int i = 0; i < loops->count && fusion->nodes; i++) {
        int own = fused_loop(fusion, i)->var->dtype.bits;
        bits = own > bits ? own : bits;
    }
    fusion->dtype = DTYPE(DT_INT, (uint8_t)bits);
    return fusion->nodes;
}

/* The loops of FUSION, each of which may be evaluated anywhere in the outermost, with their starts taken into their bodies. */
static bool count_from_zero(Schedule *sch, const ValueList *loops, Fusion *fusion)
{
    const Stmt *top = fusion->nodes[0]->stmt;
    if (fusion->count > 1 && !check_bounds_of_nest_are_kept(sch, fusion->nodes, fusion->count, top))
        return false;
    for (int i = 0; i < loops->count; i++)
        if (!loops_count_from_zero(sch, schedule_loop(sch, loops->items[i].as.loop)))
            return false;
    return gather_loops(sch, loops, fusion);
}

bool primitive_fuse(Schedule *sch, const Value *args, Value *result)
{
    Context *ctx = sch->ctx;
    bool preserve_unit_iters = args[1].as.boolean;
    Fusion fusion = {0};
    if (!gather_loops(sch, args[0].as.list, &fusion) || !check_fusion(sch, &fusion) ||
        !count_from_zero(sch, args[0].as.list, &fusion) ||
        (fusion.count > 1 && !check_reductions_run_once(sch, fusion.nodes[fusion.count - 1], fused_loop(&fusion, 0)->var)))
        return false;

    Var *fused = fused_var(ctx, &fusion);
    Subst values = fused_values(ctx, &fusion, fused);
    const Stmt *body = loops_substitute(ctx, &values, fused_loop(&fusion, fusion.count - 1)->body);
    const TreeNode *top = fusion.nodes[0];
    const Stmt *stmt = loops_serial(ctx, fused, fused_extent(ctx, &fusion), body, top->stmt->span);
    int outer_count;
    const VarRange *outer = loops_ranges_around(sch, top, &outer_count);
    stmt = loops_simplify_bindings(sch, stmt, outer, outer_count, preserve_unit_iters);
    sched_replace(sch, top->stmt, stmt);
    *result = value_loop(fused);
    return true;
}
