/* loop_partition: a loop becomes consecutive loops over parts of its range, each with a copy of the body.

   Before, loop_partition(i, [10, None])          After
     for i in range(100):                           with T.block("B_i_common"):
         with T.block("B"):                             with T.block("B_i0_partition"):
             B[v] = f(A[v])                                 for i0 in range(10):
                                                                with T.block("B_i0"): ...
                                                        with T.block("B_i1_partition"):
                                                            for i1 in range(10, 100):
                                                                with T.block("B_i1"): ...
   The order of instances stays. The domain of an axis that is bound to the loop itself becomes that of the part. The blocks around the
   parts only group (block_only_groups): they print T.reads() and T.writes() and touch what the parts touch. A block that is alone in its
   part declares what all iterations of the part touch. A part may start anywhere; all loop steps take it. A None for which no iteration is left gives no part,
   and a warning.

   The new blocks are scopes: get_loops("B_i1") gives [i1] and the loops inside of it, and get_loops("B_i_common") the loops outside of the
   partition. Go on with the loops that the step returns, with the blocks of the parts by their names ("B_i0", "B_i1"), and with
   "B_i_common" where the partition as a whole is meant. fuse, reorder and merge do not cross the new blocks.

   Refused where a block with an init reduces over the loop, be it by way of the axes of blocks around it: each part would start the
   reduction anew. The same holds where several iterations of a reduction reach one point through the loop. Refused, too, where the loop is
   parallel and gives each iteration scratch of its own: the new loops would share it. */
#include <string.h>

#include "passes/regions/complete.h"
#include "passes/regions/infer_regions.h"
#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "print/print.h"
#include "support/warning.h"

typedef struct {
    Schedule *sch;
    const TreeNode *loop;
    const char *name; /* of the first block below, for the names of the new blocks */
    int64_t *sizes;
    int count;
    bool one_block; /* stands below, and no others that what it declares would matter to */
    Map buffers; /* data variable -> Buffer */
} Partition;

/* FACTOR, number INDEX of the list, adds its size; *INFERRED is the number of the one None so far, or -1. False after a refusal. */
static bool take_factor(Partition *p, const Value *factor, int index, int *inferred)
{
    Schedule *sch = p->sch;
    int64_t size = 0;
    if (factor->kind == VALUE_NONE) {
        if (*inferred >= 0)
            return sched_refuse_argument(sch, factor, "one factor at most may be None, and factors %d and %d are", *inferred, index);
        *inferred = index;
    } else if (!expr_const_int(factor->as.expr, &size)) {
        return sched_refuse_argument(sch, factor, "factor %d, %s, is not a constant", index, print_expr(sch->ctx, factor->as.expr));
    } else if (size <= 0) {
        return sched_refuse_argument(sch, factor, "factors must be positive, and factor %d is %lld", index, (long long)size);
    }
    p->sizes[index] = size;
    return true;
}

/* The one None of the factors, number INFERRED, has no iteration left: it is no part. */
static void drop_empty_part(Partition *p, int inferred)
{
    const ForStmt *loop = node_loop(p->loop);
    diag_warning(p->sch->ctx, WARNING_EMPTY_PARTITION, p->sch->call_span,
                 "loop_partition: the other factors take all %s iterations of loop '%s'; factor %d, which is None, gives no loop",
                 print_expr(p->sch->ctx, loop->extent), loop->var->name, inferred);
    p->count--;
    for (int i = inferred; i < p->count; i++)
        p->sizes[i] = p->sizes[i + 1];
}

/* The constant sizes of the parts. One None takes the iterations that the other factors leave; without a None they are a last part. */
static bool find_sizes(Partition *p, const Value *argument)
{
    const ValueList *factors = argument->as.list;
    Schedule *sch = p->sch;
    const ForStmt *loop = node_loop(p->loop);
    int64_t extent, sum = 0;
    int inferred = -1;
    if (!expr_const_int(loop->extent, &extent))
        return sched_refuse(sch, "loop '%s' runs over %s iterations, and the number must be a constant", loop->var->name,
                            print_expr(sch->ctx, loop->extent));
    p->count = factors->count;
    p->sizes = ARENA_ARRAY(sch->ctx->arena, int64_t, factors->count + 1);
    for (int i = 0; i < factors->count; i++) {
        if (!take_factor(p, &factors->items[i], i, &inferred))
            return false;
        if (__builtin_add_overflow(sum, p->sizes[i], &sum) || sum > extent)
            return sched_refuse_argument(sch, argument, "the factors add up to more than the %lld iterations of loop '%s'",
                                         (long long)extent, loop->var->name);
    }
    if (sum == extent && (inferred < 0 || factors->count == 1))
        return sched_refuse_argument(sch, argument, "the factors add up to the %lld iterations of loop '%s': nothing would be left to "
                                     "partition off", (long long)extent, loop->var->name);
    p->sizes[inferred >= 0 ? inferred : p->count++] = extent - sum;
    if (sum == extent)
        drop_empty_part(p, inferred);
    return true;
}

/* BINDINGS (COUNT) of the block at NODE in terms of the loops of the function alone: those of the blocks and lets around it put in. */
static void unfold_bindings(Schedule *sch, const TreeNode *node, const Expr **bindings, int count)
{
    for (const TreeNode *up = schedule_parent(sch, node); up; up = schedule_parent(sch, up)) {
        Subst values = {0};
        if (up->stmt->kind == STMT_LET)
            subst_var(sch->ctx, &values, up->stmt->as.let.var, up->stmt->as.let.value);
        for (int i = 0; up->stmt->kind == STMT_BLOCK && i < node_block(up)->iter_count; i++)
            subst_var(sch->ctx, &values, node_block(up)->iters[i].var, node_block(up)->bindings[i]);
        for (int i = 0; values.vars.count && i < count; i++)
            bindings[i] = subst_expr(sch->ctx, &values, bindings[i]);
    }
}

/* The loops around NODE that some of the BINDINGS of its block use, of those for axes of KIND. */
static VarRange *loops_of_axes(Schedule *sch, const TreeNode *node, const Expr *const *bindings, IterKind kind, int *count)
{
    const BlockStmt *block = node_block(node);
    VEC(VarRange) inwards = {0};
    for (const TreeNode *up = schedule_parent(sch, node); up; up = schedule_parent(sch, up)) {
        bool used = false;
        for (int i = 0; up->stmt->kind == STMT_FOR && i < block->iter_count; i++)
            used |= block->iters[i].kind == kind && expr_uses_var(bindings[i], node_loop(up)->var);
        if (used)
            vec_push(sch->ctx->arena, &inwards, ((VarRange){node_loop(up)->var, {node_loop(up)->min, node_loop(up)->extent}}));
    }
    VarRange *loops = ARENA_ARRAY(sch->ctx->arena, VarRange, inwards.count);
    for (int i = 0; i < inwards.count; i++)
        loops[i] = inwards.data[inwards.count - 1 - i];
    *count = inwards.count;
    return loops;
}

/* One point of the block at NODE, which has an init, is updated in several parts: the loop runs over reduce axes, or over spatial ones that
   take the same values in other iterations of loops that run over reduce axes. */
static bool parts_share_points(Partition *p, const TreeNode *node)
{
    Schedule *sch = p->sch;
    const BlockStmt *block = node_block(node);
    const Var *var = node_loop(p->loop)->var;
    const Expr **bindings = ARENA_ARRAY(sch->ctx->arena, const Expr *, block->iter_count);
    memcpy(bindings, block->bindings, sizeof *bindings * (size_t)block->iter_count);
    unfold_bindings(sch, node, bindings, block->iter_count);
    int reducing, spatial, shared = 0, count = 0;
    const VarRange *reduced = loops_of_axes(sch, node, bindings, ITER_REDUCE, &reducing),
                   *over = loops_of_axes(sch, node, bindings, ITER_SPATIAL, &spatial);
    const Var **inner = ARENA_ARRAY(sch->ctx->arena, const Var *, spatial);
    if (loops_include(reduced, reducing, var))
        return true;
    for (int i = 0; i < spatial; i++)
        if (loops_include(reduced, reducing, over[i].var))
            inner[shared++] = over[i].var;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_SPATIAL && expr_uses_var(bindings[i], var))
            bindings[count++] = bindings[i];
    if (!shared || !count)
        return false;
    IterMapQuery query = {bindings, count, over, spatial, NULL, ITER_MAP_SURJECTIVE, true};
    SubspaceDivision division; /* values that differ in what the other loops make of them differ */
    return !iter_map_divide_subspace(analyzer_new(sch->ctx), &query, inner, shared, &division);
}

/* LOOPS (COUNT) other than the partitioned one that CONDITION mentions. */
static bool mentions_other(Partition *p, const Expr *condition, const VarRange *loops, int count)
{
    bool mentions = false;
    for (int i = 0; i < count; i++)
        mentions |= loops[i].var != node_loop(p->loop)->var && expr_uses_var(condition, loops[i].var);
    return mentions;
}

/* CONDITION excludes points of the block at NODE by the partitioned loop alone, together with loops that reduce: in a part of one iteration it
   would be about the reduction alone, which excludes none. */
static bool excludes_by_loop(Partition *p, const TreeNode *node, const Expr *condition)
{
    if (condition->kind == EXPR_AND)
        return excludes_by_loop(p, node, condition->args[0]) || excludes_by_loop(p, node, condition->args[1]);
    int reducing, spatial;
    const VarRange *reduced = loops_of_axes(p->sch, node, node_block(node)->bindings, ITER_REDUCE, &reducing),
                   *over = loops_of_axes(p->sch, node, node_block(node)->bindings, ITER_SPATIAL, &spatial);
    return expr_uses_var(condition, node_loop(p->loop)->var) && mentions_other(p, condition, reduced, reducing) &&
           !mentions_other(p, condition, over, spatial);
}

/* A part of one iteration would bring inits of the block at NODE to points that a condition excludes. */
static bool check_points_stay_excluded(Partition *p, const TreeNode *node)
{
    bool unit_parts = false, excludes = false;
    for (int i = 0; i < p->count; i++)
        unit_parts |= p->sizes[i] == 1;
    for (const TreeNode *up = node; up != p->loop; up = schedule_parent(p->sch, up)) {
        const Stmt *stmt = up->stmt;
        const Expr *condition = stmt->kind == STMT_BLOCK ? stmt->as.block.predicate : stmt->kind == STMT_IF ? stmt->as.branch.condition : NULL;
        excludes |= condition && excludes_by_loop(p, node, condition);
    }
    if (!unit_parts || !excludes)
        return true;
    sched_refuse(p->sch, "a condition on loop '%s' and on the reduction of block '%s' excludes points: a part of one iteration would have their inits",
                 node_name(p->loop), node_name(node));
    return sched_note_node(p->sch, node);
}

static bool check_no_reduction(Partition *p)
{
    const Var *var = node_loop(p->loop)->var;
    for (int i = schedule_node_index(p->sch, p->loop); i < p->loop->end; i++) {
        const TreeNode *node = schedule_node_at(p->sch, i);
        const BlockStmt *block = node->stmt->kind == STMT_BLOCK ? node_block(node) : NULL;
        if (block && !check_reduces_over_loops(p->sch, node))
            return false;
        if (block && block->init && parts_share_points(p, node)) {
            sched_refuse(p->sch,
                         "loop '%s' is a reduction of block '%s', whose init would run again in each part; decompose_reduction takes it off",
                         var->name, block->block->name);
            return sched_note_node(p->sch, node);
        }
        if (block && block->init && !check_points_stay_excluded(p, node))
            return false;
    }
    return true;
}

/* A part of the loop: its variable and range. */
typedef struct {
    Var *var;
    Range range;
    VEC(const Var *) loops; /* around what is rewritten: those outside of the part first */
    int outer_count;
    bool spreads; /* regions: see spread_regions */
} Part;

static Block *rename_block(Rewriter *rewriter, Block *block)
{
    const Part *part = rewriter->data;
    return block_new(rewriter->ctx, context_internf(rewriter->ctx, "%s_%s", block->name, part->var->name), block->span);
}

/* DOMAIN, of an axis that is bound to the loop itself, without the values that only other parts reach. */
static Range narrowed_domain(Context *ctx, const Part *part, Range domain)
{
    Analyzer *an = analyzer_new(ctx);
    DType dtype = domain.min->dtype;
    const Expr *min = op_cast(ctx, dtype, part->range.min), *end = op_add(ctx, min, op_cast(ctx, dtype, part->range.extent)),
               *domain_end = op_add(ctx, domain.min, domain.extent);
    if (!analyzer_prove_less_equal(an, domain.min, min))
        return domain;
    if (analyzer_prove_less_equal(an, end, domain_end))
        return (Range){min, op_cast(ctx, dtype, part->range.extent)};
    if (analyzer_prove_less_equal(an, domain_end, end) && analyzer_prove_less_equal(an, min, domain_end))
        return (Range){min, analyzer_simplify(an, op_sub(ctx, domain_end, min))};
    return domain;
}

/* EXPR uses a loop around what is rewritten, from the part's own loop inwards if INNER, else outside of it. */
static bool uses_loop(const Part *part, const Expr *expr, bool inner)
{
    for (int i = inner ? part->outer_count : 0; i < (inner ? part->loops.count : part->outer_count); i++)
        if (expr_uses_var(expr, part->loops.data[i]))
            return true;
    return false;
}

/* What RANGE, one value of an axis of BLOCK, becomes over all iterations of the part: the axis's domain, where the iterations of the loops around
   make no difference to it. False where it names no axis. */
static bool range_over_part(const Part *part, const BlockStmt *block, Range range, Range *result)
{
    for (int i = 0; i < block->iter_count; i++) {
        Range domain = block->iters[i].domain;
        if (!expr_is_var(range.min, block->iters[i].var) || !expr_is_int(range.extent, 1))
            continue;
        bool moves = uses_loop(part, domain.min, true) || uses_loop(part, domain.extent, true) || uses_loop(part, domain.min, false) ||
                     uses_loop(part, domain.extent, false);
        *result = uses_loop(part, block->bindings[i], false) ? range : domain;
        return !moves;
    }
    return false;
}

/* REGIONS (COUNT) of BLOCK, those at axes alone over all that the part runs over: a part declares what all of its instances touch, as the
   reference does it. Axes that the loops around the part fix stay as they are. */
static Region *spread_regions(Context *ctx, const Part *part, const BlockStmt *block, const Region *regions, int count)
{
    Region *spread = ARENA_ARRAY(ctx->arena, Region, count);
    for (int i = 0; i < count; i++) {
        int ndim = regions[i].buffer->ndim;
        Range *ranges = ARENA_ARRAY(ctx->arena, Range, ndim);
        bool at_axes = true;
        for (int d = 0; d < ndim; d++)
            at_axes = at_axes && range_over_part(part, block, regions[i].ranges[d], &ranges[d]);
        spread[i] = regions[i];
        if (at_axes)
            spread[i].ranges = ranges;
    }
    return spread;
}

static const Stmt *narrow_axes(Rewriter *rewriter, const Stmt *stmt)
{
    Part *part = rewriter->data;
    if (stmt->kind == STMT_FOR)
        vec_push(rewriter->ctx->arena, &part->loops, stmt->as.loop.var);
    stmt = rewrite_stmt_children(rewriter, stmt);
    part->loops.count -= stmt->kind == STMT_FOR;
    if (stmt->kind != STMT_BLOCK)
        return stmt;
    BlockStmt block = stmt->as.block;
    bool bound = false;
    block.iters = ARENA_ARRAY(rewriter->ctx->arena, Iter, block.iter_count);
    for (int i = 0; i < block.iter_count; i++) {
        block.iters[i] = stmt->as.block.iters[i];
        if (!expr_is_var(block.bindings[i], part->var))
            continue;
        block.iters[i].domain = narrowed_domain(rewriter->ctx, part, block.iters[i].domain);
        bound = true;
    }
    if (bound && part->spreads) {
        block.reads = spread_regions(rewriter->ctx, part, &block, block.reads, block.read_count);
        block.writes = spread_regions(rewriter->ctx, part, &block, block.writes, block.write_count);
    }
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static bool find_load(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_LOAD;
    return true;
}

/* Regions that depend on data become whole buffers: which elements a part touches must be known before it runs, also where a T.where in it
   keeps instances from running. */
static void widen_data_regions(Context *ctx, Region *regions, int count)
{
    for (int i = 0; i < count; i++) {
        bool loads = false;
        Visitor visitor = {.expr = find_load, .data = &loads};
        for (int d = 0; d < regions[i].buffer->ndim; d++) {
            visit_expr(&visitor, regions[i].ranges[d].min);
            visit_expr(&visitor, regions[i].ranges[d].extent);
        }
        if (loads)
            regions[i] = region_whole(ctx, regions[i].buffer);
    }
}

/* The part of RANGE inside of AROUND, as far as the ends of both can be compared. */
static Range clipped_range(Context *ctx, Range range, Range around)
{
    int64_t difference;
    const Expr *end = op_add(ctx, range.min, range.extent), *last = op_add(ctx, around.min, around.extent);
    if (linear_difference(ctx, around.min, range.min, &difference) && difference > 0)
        range.min = around.min;
    if (linear_difference(ctx, last, end, &difference) && difference < 0)
        end = last;
    const Expr *extent = linear_simplify(ctx, op_sub(ctx, end, range.min));
    if (expr_const_int(extent, &difference) && difference < 0)
        extent = expr_int(ctx, extent->dtype, 0);
    range.extent = extent;
    return range;
}

/* No part touches more than the block around the loop declares, although what is inferred may be wider where a condition joins several
   loops. IMPLIED (IMPLIED_COUNT) are of buffers of which that block may touch more than it declares. */
static void clip_regions(Partition *p, Region *regions, int count, const Region *around, int around_count, const Region *implied,
                         int implied_count)
{
    Context *ctx = p->sch->ctx;
    for (int i = 0; i < count; i++) {
        if (regions_find(implied, implied_count, regions[i].buffer))
            continue;
        const Region *outer = regions_find_only(around, around_count, regions[i].buffer);
        for (int d = 0; outer && d < regions[i].buffer->ndim; d++)
            regions[i].ranges[d] = clipped_range(ctx, regions[i].ranges[d], outer->ranges[d]);
    }
}

/* What the loop touches can be declared: no call in it, outside of blocks that say it, reaches memory by pointers or is foreign. */
static bool check_touches_are_known(Partition *p)
{
    Schedule *sch = p->sch;
    BlockStmt block = {.block = block_new(sch->ctx, "", span_none()), .body = p->loop->stmt, .predicate = expr_bool(sch->ctx, true)};
    const Expr *opaque = infer_block_regions(sch->ctx, &block, &p->buffers).opaque;
    if (!opaque)
        return true;
    sched_refuse(sch, "the parts of loop '%s' become blocks, which must declare what they touch, and a call in it may touch more than is known",
                 node_loop(p->loop)->var->name);
    sched_note(sch, opaque->span, "this pointer may reach any element: a block around the call, with T.reads and T.writes, says what it reaches");
    return false;
}

/* An opaque block around BODY that declares what BODY touches. */
static const Stmt *block_around(Partition *p, const char *name, const Stmt *body)
{
    Context *ctx = p->sch->ctx;
    Span span = p->loop->stmt->span;
    BlockStmt block = {.block = block_new(ctx, context_intern(ctx, name), span), .body = body, .predicate = expr_bool(ctx, true)};
    BlockRegions regions = infer_block_regions(ctx, &block, &p->buffers);
    block.reads = regions.reads;
    block.read_count = regions.read_count;
    block.writes = regions.writes;
    block.write_count = regions.write_count;
    block.reads_inferred = block.writes_inferred = block.groups = true;
    widen_data_regions(ctx, block.reads, block.read_count);
    widen_data_regions(ctx, block.writes, block.write_count);
    const BlockStmt *scope = node_block(schedule_scope(p->sch, p->loop));
    int updated = scope->init ? scope->write_count : 0; /* what it reads of these is no matter of its own declaration */
    clip_regions(p, block.reads, block.read_count, scope->reads, scope->read_count, scope->writes, updated);
    clip_regions(p, block.writes, block.write_count, scope->writes, scope->write_count, NULL, 0);
    return stmt_block(ctx, block, span);
}

/* The part number INDEX, BEGIN iterations after the first; *VAR gets its loop variable. */
static const Stmt *make_part(Partition *p, int index, int64_t begin, Var **var)
{
    Context *ctx = p->sch->ctx;
    ForStmt loop = *node_loop(p->loop);
    *var = var_clone(ctx, loop.var, context_internf(ctx, "%s%d", loop.var->name, index));
    Subst values = {0};
    subst_var(ctx, &values, loop.var, expr_var(ctx, *var));
    loop.var = *var;
    loop.min = analyzer_simplify(analyzer_new(ctx), op_add(ctx, loop.min, expr_int(ctx, (*var)->dtype, begin)));
    loop.extent = expr_int(ctx, (*var)->dtype, p->sizes[index]);
    Part part = {.var = *var, .range = {loop.min, loop.extent}, .spreads = p->one_block};
    for (const TreeNode *up = schedule_parent(p->sch, p->loop); up; up = schedule_parent(p->sch, up))
        if (up->stmt->kind == STMT_FOR)
            vec_push(ctx->arena, &part.loops, node_loop(up)->var);
    part.outer_count = part.loops.count;
    vec_push(ctx->arena, &part.loops, *var);
    Rewriter rewriter = {.ctx = ctx, .define_block = rename_block, .stmt = narrow_axes, .data = &part};
    loop.body = rewrite_stmt(&rewriter, clone_fresh(ctx, subst_stmt(ctx, &values, loop.body)));
    return block_around(p, arena_printf(ctx->arena, "%s_%s_partition", p->name, (*var)->name), stmt_for(ctx, loop, p->loop->stmt->span));
}

bool primitive_loop_partition(Schedule *sch, const Value *args, Value *result)
{
    Context *ctx = sch->ctx;
    Partition p = {.sch = sch, .loop = schedule_loop(sch, args[0].as.loop)};
    int blocks;
    if (!p.loop || !check_loop_is_plain(sch, p.loop) || !check_loop_has_no_jump(sch, p.loop) || !find_sizes(&p, &args[1]) ||
        !check_bounds_are_kept(sch, p.loop, &p.loop->stmt, 1) || !check_no_reduction(&p))
        return false;
    const TreeNode **below = schedule_child_blocks(sch, p.loop, &blocks);
    p.one_block = blocks == 1;
    p.name = blocks ? node_block(below[0])->block->name : "loop";
    p.buffers = func_buffers_by_data(ctx, schedule_func(sch));
    if (!check_touches_are_known(&p))
        return false;
    const Stmt **parts = ARENA_ARRAY(ctx->arena, const Stmt *, p.count), *old = p.loop->stmt;
    Value *loops = ARENA_ARRAY(ctx->arena, Value, p.count);
    int64_t begin = 0;
    for (int i = 0; i < p.count; begin += p.sizes[i++]) {
        Var *var;
        parts[i] = make_part(&p, i, begin, &var);
        loops[i] = value_loop(var);
    }
    const char *name = arena_printf(ctx->arena, "%s_%s_common", p.name, old->as.loop.var->name);
    const Stmt *whole = block_around(&p, name, stmt_seq(ctx, parts, p.count));
    sched_replace(sch, old, whole);
    *result = value_list(ctx, loops, p.count);
    return check_concurrent_loops_below(sch, schedule_find_block(sch, whole->as.block.block));
}
