/* blockize: a loop's subtree around one block, or a list of neighbouring blocks, becomes one block over regions.

   Before, blockize(i1)                               After
     for i0, i1 in T.grid(8, 16):                       for i0 in range(8):
         with T.block("B"):                                 with T.block("B_o"):
             v = T.axis.spatial(128, i0 * 16 + i1)              v_o = T.axis.spatial(8, i0)
             B[v] = f(A[v])                                     T.reads(A[v_o * 16:v_o * 16 + 16])
                                                                T.writes(B[v_o * 16:v_o * 16 + 16])
                                                                for i1 in range(16):
                                                                    with T.block("B"):
                                                                        v_i = T.axis.spatial(16, i1)
                                                                        B[v_o * 16 + v_i] = f(A[v_o * 16 + v_i])
   Each binding divides into a part over the loops outside and one over the loops inside. An init moves to the outer block, over the inner
   loops that its axes need; the inner block is then an update that reads what it writes. The order of instances does not change. */
#include "passes/schedule/block/blockize.h"

#include "passes/regions/infer_regions.h"
#include "passes/arith/int_set.h"
#include "passes/schedule/block/blockize_internal.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"

/* --- dividing --- */

typedef VEC(VarRange) VarRangeList;

/* The axes of the block around, where the bindings use them, run outside of the subtree as the loops there do. */
static void add_axes_around(Blockizing *b, VarRangeList *iters)
{
    const BlockStmt *block = &b->block_stmt->as.block, *around = node_block(schedule_scope(b->sch, schedule_block(b->sch, block->block)));
    for (int i = 0; i < around->iter_count; i++) {
        bool used = false;
        for (int k = 0; k < block->iter_count; k++)
            used |= expr_uses_var(block->bindings[k], around->iters[i].var);
        if (used)
            vec_push(b->sch->ctx->arena, iters, ((VarRange){around->iters[i].var, around->iters[i].domain}));
    }
}

static bool divide(Blockizing *b, const VarRange *outside, int outside_count)
{
    const BlockStmt *block = &b->block_stmt->as.block;
    Arena *arena = b->sch->ctx->arena;
    VarRangeList iters = {0};
    const Var **inner = ARENA_ARRAY(arena, const Var *, b->loop_count);
    add_axes_around(b, &iters);
    for (int i = 0; i < outside_count; i++)
        vec_push(arena, &iters, outside[i]);
    for (int i = 0; i < b->loop_count; i++) {
        const ForStmt *loop = node_loop(b->loops[i]);
        vec_push(arena, &iters, ((VarRange){loop->var, {loop->min, loop->extent}}));
        inner[i] = loop->var;
    }
    for (int i = 0; i < iters.count; i++)
        analyzer_bind_range_opaque(b->an, iters.data[i].var, iters.data[i].range);
    IterMapQuery query = {block->bindings,     block->iter_count,      iters.data, iters.count, block->predicate,
                          ITER_MAP_SURJECTIVE, !b->preserve_unit_iters};
    return iter_map_divide_subspace(b->an, &query, inner, b->loop_count, &b->division) &&
           expr_is_fixed(b->division.outer_predicate); /* asked once, not in each inner iteration: what it reads might be written between */
}

static Iter derived_iter(Context *ctx, const Iter *iter, const char *suffix, const Expr *extent)
{
    DType type = iter->var->dtype;
    Var *var = var_clone(ctx, iter->var, context_internf(ctx, "%s%s", iter->var->name, suffix));
    return (Iter){var, {expr_int(ctx, type, 0), op_cast(ctx, type, extent)}, iter->kind, iter->span};
}

/* Where the inner part of a binding starts: its value in the first iteration of the inner loops. */
static const Expr *start_of_inner(Blockizing *b, const DividedBinding *part)
{
    Subst first = {0};
    for (int i = 0; i < b->loop_count; i++)
        subst_var(b->sch->ctx, &first, node_loop(b->loops[i])->var, node_loop(b->loops[i])->min);
    return analyzer_simplify(b->an, subst_expr(b->sch->ctx, &first, part->inner));
}

/* iter == outer * inner_extent + inner + start; a part of extent 1 adds nothing. */
static void derive_iter(Blockizing *b, int index)
{
    Context *ctx = b->sch->ctx;
    const Iter *iter = &b->block_stmt->as.block.iters[index];
    const DividedBinding *part = &b->division.bindings[index];
    Iter outer = derived_iter(ctx, iter, "_o", part->outer_extent);
    vec_push(ctx->arena, &b->outer_iters, outer);
    vec_push(ctx->arena, &b->outer_bindings, op_cast(ctx, iter->var->dtype, part->outer));
    bool unit_outer = expr_is_int(part->outer_extent, 1), unit_inner = expr_is_int(part->inner_extent, 1);
    const Expr *zero = expr_int(ctx, iter->var->dtype, 0), *outer_var = expr_var(ctx, outer.var),
               *start = op_cast(ctx, iter->var->dtype, start_of_inner(b, part));
    if (unit_inner) {
        subst_var(ctx, &b->subst, iter->var, op_add(ctx, unit_outer && !b->preserve_unit_iters ? zero : outer_var, start));
        return;
    }
    Iter inner = derived_iter(ctx, iter, "_i", part->inner_extent);
    vec_push(ctx->arena, &b->inner_iters, inner);
    const Expr *binding = op_cast(ctx, iter->var->dtype, part->inner);
    vec_push(ctx->arena, &b->inner_bindings, expr_is_int(start, 0) ? binding : analyzer_simplify(b->an, op_sub(ctx, binding, start)));
    const Expr *outer_part = unit_outer ? zero : op_mul(ctx, outer_var, op_cast(ctx, iter->var->dtype, part->inner_extent));
    subst_var(ctx, &b->subst, iter->var, op_add(ctx, op_add(ctx, outer_part, expr_var(ctx, inner.var)), start));
}

/* --- what the substitution leaves --- */

typedef struct {
    const Blockizing *b;
    Analyzer *an; /* knows the inner iterators, as the reference does here */
} Tidying;

/* The substitution has put something into EXPR; the rest keeps its form. */
static bool is_substituted(const Blockizing *b, const Expr *expr)
{
    for (int i = 0; i < b->subst.vars.count; i++)
        if (((const Expr *)b->subst.vars.entries[i].value)->kind == EXPR_INT) /* it leaves no trace */
            return true;
    for (int i = 0; i < b->outer_iters.count; i++)
        if (expr_uses_var(expr, b->outer_iters.data[i].var))
            return true;
    for (int i = 0; i < b->inner_iters.count; i++)
        if (expr_uses_var(expr, b->inner_iters.data[i].var))
            return true;
    return false;
}

static const Expr *tidy_index(Rewriter *rewriter, const Expr *expr)
{
    Tidying *tidying = rewriter->data;
    return is_substituted(tidying->b, expr) ? analyzer_simplify(tidying->an, expr) : expr;
}

/* A stored, compared, bound or evaluated value may wrap, so that only the indices in it are simplified. */
static const Expr *tidy_value(Rewriter *rewriter, const Expr *expr)
{
    Tidying *tidying = rewriter->data;
    return is_substituted(tidying->b, expr) ? analyzer_simplify_indices(tidying->an, tidying->b->an, expr) : expr;
}

static const Stmt *tidy_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    if (stmt->kind == STMT_STORE) {
        int count = stmt->as.store.index_count;
        const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, count);
        for (int i = 0; i < count; i++)
            indices[i] = tidy_index(rewriter, stmt->as.store.indices[i]);
        return stmt_store(ctx, stmt->as.store.buffer, indices, count, tidy_value(rewriter, stmt->as.store.value), stmt->as.store.mask,
                          stmt->span);
    }
    if (stmt->kind == STMT_LET)
        return stmt_let(ctx, stmt->as.let.var, tidy_value(rewriter, stmt->as.let.value), rewrite_stmt(rewriter, stmt->as.let.body),
                        stmt->span);
    if (stmt->kind == STMT_IF)
        return stmt_if(ctx, tidy_value(rewriter, stmt->as.branch.condition), rewrite_stmt(rewriter, stmt->as.branch.then_body),
                       stmt->as.branch.else_body ? rewrite_stmt(rewriter, stmt->as.branch.else_body) : NULL, stmt->span);
    if (stmt->kind == STMT_WHILE)
        return stmt_while(ctx, tidy_value(rewriter, stmt->as.while_loop.condition), rewrite_stmt(rewriter, stmt->as.while_loop.body), stmt->span);
    if (stmt->kind == STMT_EVALUATE)
        return stmt_evaluate(ctx, tidy_value(rewriter, stmt->as.evaluate), stmt->span);
    return rewrite_stmt_children(rewriter, stmt);
}

static void bind_iters(Analyzer *an, const IterList *iters)
{
    for (int i = 0; i < iters->count; i++)
        analyzer_bind_range_opaque(an, iters->data[i].var, iters->data[i].domain);
}

static const Stmt *substituted(Blockizing *b, const Stmt *stmt)
{
    if (!stmt)
        return NULL;
    Tidying tidying = {b, analyzer_new(b->sch->ctx)};
    bind_iters(tidying.an, &b->inner_iters);
    Rewriter rewriter = {.ctx = b->sch->ctx, .expr = tidy_index, .stmt = tidy_stmt, .data = &tidying};
    return rewrite_stmt(&rewriter, subst_stmt(b->sch->ctx, &b->subst, stmt));
}

static Region *substituted_regions(Blockizing *b, const Region *regions, int count)
{
    Region *result = ARENA_ARRAY(b->sch->ctx->arena, Region, count);
    for (int i = 0; i < count; i++)
        result[i] = analyzer_simplify_region(b->an, subst_region(b->sch->ctx, &b->subst, regions[i]));
    return result;
}

void blockize_substitute_regions(Blockizing *b)
{
    const BlockStmt *block = &b->block_stmt->as.block;
    b->reads = substituted_regions(b, block->reads, block->read_count);
    b->writes = substituted_regions(b, block->writes, block->write_count);
}

/* --- the inner block --- */

static const Stmt *inner_block(Blockizing *b)
{
    const BlockStmt *block = &b->block_stmt->as.block;
    b->inner = *block;
    b->inner.iter_count = b->inner_iters.count;
    b->inner.iters = b->inner_iters.data;
    b->inner.bindings = b->inner_bindings.data;
    b->inner.predicate = b->division.inner_predicate;
    const Stmt *stmt = substituted(b, stmt_block(b->sch->ctx, b->inner, b->block_stmt->span));
    b->inner = stmt->as.block;
    b->inner.bindings = b->inner_bindings.data; /* as they were divided */
    b->inner.predicate = b->division.inner_predicate;
    b->inner.init = NULL;
    if (block->init)
        b->inner.reads = regions_read_by_update(b->sch->ctx, &b->inner, &b->inner.read_count);
    return stmt_block(b->sch->ctx, b->inner, b->block_stmt->span);
}

const Stmt *blockize_inner(Blockizing *b)
{
    const Stmt *body = inner_block(b);
    for (int i = b->loop_count - 1; i >= 0; i--)
        body = stmt_with_body(b->sch->ctx, b->loops[i]->stmt, body);
    return body;
}

/* --- the init of the outer block --- */

static bool used_by(const ExprList *bindings, const Expr *also, const Var *var)
{
    bool used = expr_uses_var(also, var);
    for (int i = 0; i < bindings->count; i++)
        used |= expr_uses_var(bindings->data[i], var);
    return used;
}

/* The init below fresh copies of the inner loops that its axes need, all but the reduce ones. */
static const Stmt *outer_init(Blockizing *b)
{
    Context *ctx = b->sch->ctx;
    const BlockStmt *block = &b->block_stmt->as.block;
    const Stmt *body = substituted(b, block->init);
    IterList iters = {0};
    ExprList bindings = {0};
    Subst renaming = {0};
    for (int i = 0; i < b->inner_iters.count; i++) {
        Iter iter = b->inner_iters.data[i];
        if (iter.kind == ITER_REDUCE || !stmt_uses_var(body, iter.var))
            continue;
        Var *var = var_clone(ctx, iter.var, context_internf(ctx, "%s_init", iter.var->name));
        subst_var(ctx, &renaming, iter.var, expr_var(ctx, var));
        iter.var = var;
        vec_push(ctx->arena, &iters, iter);
        vec_push(ctx->arena, &bindings, b->inner_bindings.data[i]);
    }
    BlockStmt init = {.block = block_new(ctx, context_internf(ctx, "%s_init", block->block->name), block->block->span),
                      .iter_count = iters.count,
                      .iters = iters.data};
    init.bindings = bindings.data;
    init.predicate = b->inner.predicate;
    init.writes = b->inner.writes;
    init.write_count = b->inner.write_count;
    init.body = body;
    infer_init_regions(ctx, block, &init);
    const Stmt *stmt = stmt_block(ctx, init, b->block_stmt->span);
    for (int i = b->loop_count - 1; i >= 0; i--) {
        ForStmt loop = *node_loop(b->loops[i]);
        if (!used_by(&bindings, init.predicate, loop.var))
            continue;
        Var *var = var_clone(ctx, loop.var, loop.var->name);
        subst_var(ctx, &renaming, loop.var, expr_var(ctx, var));
        loop.body = stmt;
        stmt = stmt_for(ctx, loop, b->loops[i]->stmt->span);
    }
    return clone_fresh(ctx, subst_stmt(ctx, &renaming, stmt));
}

static const Block *block_below_loops(const Stmt *stmt)
{
    while (stmt->kind == STMT_FOR)
        stmt = stmt->as.loop.body;
    return stmt->as.block.block;
}

/* A guard on inner reduce loops cannot guard the init, which runs without them. */
static bool init_can_be_guarded(Blockizing *b)
{
    const BlockStmt *block = &b->block_stmt->as.block;
    if (!block->init || expr_is_int(b->division.inner_predicate, 1))
        return true;
    for (int i = 0; i < b->loop_count; i++) {
        const Var *var = node_loop(b->loops[i])->var;
        bool spatial = false;
        for (int k = 0; k < block->iter_count; k++)
            spatial |= block->iters[k].kind != ITER_REDUCE && expr_uses_var(block->bindings[k], var);
        if (!spatial && expr_uses_var(b->division.inner_predicate, var))
            return false;
    }
    return true;
}

/* --- the outer block --- */

/* The region while the inner iterators run over their domains. */
static Region relaxed_region(Schedule *sch, Analyzer *an, const Domain *domain, Region region)
{
    Region result = {region.buffer, ARENA_ARRAY(sch->ctx->arena, Range, region.buffer->ndim), region.span};
    for (int i = 0; i < region.buffer->ndim; i++) {
        Range fallback = {expr_int(sch->ctx, region.buffer->shape[i]->dtype, 0), region.buffer->shape[i]};
        Range range = int_set_cover_range(an, int_set_eval_range(an, region.ranges[i], domain), fallback);
        result.ranges[i] = analyzer_simplify_range(an, range);
    }
    return result;
}

/* Adds REGION to the union per buffer. */
static void unite_region(Schedule *sch, Analyzer *an, RegionVec *all, Region region)
{
    for (int i = 0; i < all->count; i++) {
        if (all->data[i].buffer != region.buffer)
            continue;
        for (int d = 0; d < region.buffer->ndim; d++) {
            IntSet sum =
                int_set_union(an, int_set_from_range(sch->ctx, all->data[i].ranges[d]), int_set_from_range(sch->ctx, region.ranges[d]));
            all->data[i].ranges[d] = analyzer_simplify_range(an, int_set_cover_range(an, sum, all->data[i].ranges[d]));
        }
        return;
    }
    vec_push(sch->ctx->arena, all, region);
}

/* The inner iterators, and the inner loops, which the regions of a block without axes mention themselves. */
static Domain inner_domain(const Blockizing *b)
{
    Context *ctx = b->sch->ctx;
    const IterList *iters = &b->inner_iters;
    VarRange *ranges = ARENA_ARRAY(ctx->arena, VarRange, iters->count + b->loop_count);
    for (int i = 0; i < iters->count; i++)
        ranges[i] = (VarRange){iters->data[i].var, iters->data[i].domain};
    for (int i = 0; i < b->loop_count; i++)
        ranges[iters->count + i] = (VarRange){node_loop(b->loops[i])->var, {node_loop(b->loops[i])->min, node_loop(b->loops[i])->extent}};
    return domain_from_ranges(ctx, ranges, iters->count + b->loop_count);
}

static void add_regions(Blockizing *b, bool backwards, const Region *regions, int count, RegionVec *all)
{
    Domain domain = inner_domain(b);
    for (int i = 0; i < count; i++)
        unite_region(b->sch, b->an, all, relaxed_region(b->sch, b->an, &domain, regions[backwards ? count - 1 - i : i]));
}

typedef struct {
    Context *ctx;
    RegionVec regions;
} Loads;

static bool find_loads(Visitor *visitor, const Expr *expr)
{
    Loads *loads = visitor->data;
    if (expr->kind == EXPR_LOAD)
        vec_push(loads->ctx->arena, &loads->regions, region_point(loads->ctx, expr->value.buffer, expr->args));
    return true;
}

/* The outer block also reads what says how often the inner one runs, and where its views lie: the bounds of its loops, its condition, regions
   of match_buffer. */
static void add_loaded_bounds(Blockizing *b, RegionVec *reads)
{
    Loads loads = {.ctx = b->sch->ctx};
    Visitor visitor = {.expr = find_loads, .data = &loads};
    for (int i = 0; i < b->loop_count; i++) {
        visit_expr(&visitor, node_loop(b->loops[i])->min);
        visit_expr(&visitor, node_loop(b->loops[i])->extent);
    }
    visit_expr(&visitor, b->division.inner_predicate);
    const BlockStmt *block = &b->block_stmt->as.block;
    for (int i = 0; i < block->match_count; i++) {
        Region *source = substituted_regions(b, &block->matches[i].source, 1);
        visit_region(&visitor, source);
    }
    add_regions(b, false, loads.regions.data, loads.regions.count, reads);
}

void blockize_add_regions(Blockizing *b, bool backwards, RegionVec *reads, RegionVec *writes)
{
    const BlockStmt *block = &b->block_stmt->as.block;
    add_regions(b, backwards, b->reads, block->read_count, reads);
    add_regions(b, backwards, b->writes, block->write_count, writes);
    add_loaded_bounds(b, reads);
}

static bool uses_inner_loop(const Blockizing *b, const Expr *expr)
{
    for (int i = 0; i < b->loop_count; i++)
        if (expr_uses_var(expr, node_loop(b->loops[i])->var))
            return true;
    return false;
}

/* A T.where with a lower bound lets inner parts start later than the inner loops do: the domains that derive_iter gives them do not hold
   that. */
static bool inner_parts_start_with_loops(Blockizing *b)
{
    ExprList parts = {0};
    loops_split_conjunction(b->sch->ctx, b->block_stmt->as.block.predicate, &parts);
    for (int i = 0; i < parts.count; i++) {
        const Expr *part = parts.data[i];
        bool less = part->kind == EXPR_LT || part->kind == EXPR_LE, greater = part->kind == EXPR_GT || part->kind == EXPR_GE;
        if (!less && !greater)
            continue;
        const Expr *small = part->args[greater], *large = part->args[less];
        if (uses_inner_loop(b, large) && !uses_inner_loop(b, small) && !analyzer_prove(b->an, part))
            return false;
    }
    return true;
}

/* A condition that never holds leaves less than nothing. */
static bool has_negative_extent(const IterList *iters)
{
    int64_t extent;
    for (int i = 0; i < iters->count; i++)
        if (expr_const_int(iters->data[i].domain.extent, &extent) && extent < 0)
            return true;
    return false;
}

bool blockize_prepare(Blockizing *b, const VarRange *outside, int outside_count)
{
    if (!divide(b, outside, outside_count) || !inner_parts_start_with_loops(b))
        return false;
    for (int i = 0; i < b->block_stmt->as.block.iter_count; i++)
        derive_iter(b, i);
    if (has_negative_extent(&b->outer_iters) || has_negative_extent(&b->inner_iters))
        return false;
    bind_iters(b->an, &b->outer_iters);
    bind_iters(b->an, &b->inner_iters);
    blockize_substitute_regions(b);
    return true;
}

/* --- one loop --- */

/* The loops from LOOP down to the only block below it, outermost first, and that block; NULL after a refusal. */
static const TreeNode *only_block_below(Schedule *sch, const TreeNode *loop, const TreeNode ***loops, int *count)
{
    VEC(const TreeNode *) chain = {0};
    const TreeNode *node = loop;
    while (node->stmt->kind == STMT_FOR) {
        vec_push(sch->ctx->arena, &chain, node);
        node = schedule_node_at(sch, schedule_node_index(sch, node) + 1);
    }
    *loops = chain.data;
    *count = chain.count;
    if (node->stmt->kind == STMT_BLOCK)
        return node;
    sched_refuse(sch, "the subtree of loop '%s' is not a nest of loops around a single block", node_name(loop));
    sched_note(sch, node->stmt->span, "this is below the loop");
    return NULL;
}

static bool refuse_division(Blockizing *b, const char *loop)
{
    const char *name = b->block_stmt->as.block.block->name;
    sched_refuse(b->sch,
                 "block '%s' cannot be blockized at loop '%s': its bindings and T.where do not divide into a part over the loops outside "
                 "and one over the loops inside; "
                 "a split whose factor divides the extent helps",
                 name, loop);
    sched_note(b->sch, b->block_stmt->span, "block '%s' is here", name);
    return false;
}

/* The init of the outer block sets all points that one instance of it reduces, before the first update of any. */
static bool check_inits_may_come_first(const Blockizing *b, const TreeNode *loop)
{
    const BlockStmt *block = &b->block_stmt->as.block;
    const Var *var = node_loop(loop)->var;
    Answer answer = block->init ? dependence_init_may_move(b->sch->ctx, schedule_func(b->sch), block, var) : answer_shown();
    if (answer_is_shown(answer))
        return true;
    return refuse_by_answer(b->sch, answer, "the init of block '%s' may not run for all of loop '%s' first", block->block->name, var->name);
}

/* The block made of the init declares what it writes by axes of its own, none of which reduces. */
static bool check_init_regions(const Blockizing *b)
{
    const BlockStmt *block = &b->block_stmt->as.block;
    for (int i = 0; block->init && i < block->write_count; i++) {
        const Region *region = &block->writes[i];
        const Var *axis = stmt_uses_buffer(block->init, region->buffer) ? region_reduce_axis(region, block) : NULL;
        if (axis) {
            sched_refuse(b->sch, "the init of block '%s' writes '%s', and what the block writes of it depends on reduce axis '%s'",
                         block->block->name, region->buffer->name, axis->name);
            sched_note(b->sch, b->block_stmt->span, "block '%s' is here", block->block->name);
            return false;
        }
    }
    return true;
}

Block *blockize_loop(Schedule *sch, const TreeNode *loop, bool preserve_unit_iters)
{
    Context *ctx = sch->ctx;
    Blockizing b = {.sch = sch, .an = analyzer_new(ctx), .preserve_unit_iters = preserve_unit_iters};
    const TreeNode *block_node = only_block_below(sch, loop, &b.loops, &b.loop_count);
    if (!block_node || !check_reduces_over_loops(sch, block_node))
        return NULL;
    b.block_stmt = block_node->stmt;
    const BlockStmt *block = &b.block_stmt->as.block;
    if (block->init && !check_reduces_in_scope(sch, block_node)) /* the init of the new block would run in each part */
        return NULL;
    int outside_count;
    VarRange *outside = loops_ranges_outside(sch, loop, &outside_count);
    if (!blockize_prepare(&b, outside, outside_count)) {
        refuse_division(&b, node_name(loop));
        return NULL;
    }
    if (!init_can_be_guarded(&b)) {
        sched_refuse(sch, "block '%s' cannot be blockized at loop '%s': its T.where guards reduce axes, which its init does not run over",
                     block->block->name, node_name(loop));
        sched_note(sch, b.block_stmt->span, "block '%s' is here", block->block->name);
        return NULL;
    }
    if (!check_init_regions(&b) || !check_init_is_independent(sch, block_node) ||
        (block->init && !check_updates_run_once(sch, block, node_loop(loop)->var)) || !check_inits_may_come_first(&b, loop))
        return NULL;
    const Stmt *body = blockize_inner(&b);
    RegionVec reads = {0}, writes = {0};
    blockize_add_regions(&b, false, &reads, &writes);
    BlockStmt outer = {.block = block_new(ctx, context_internf(ctx, "%s_o", block->block->name), block->block->span),
                       .iter_count = b.outer_iters.count};
    outer.iters = b.outer_iters.data;
    outer.bindings = b.outer_bindings.data;
    outer.predicate = b.division.outer_predicate;
    outer.reads = reads.data;
    outer.read_count = reads.count;
    outer.writes = writes.data;
    outer.write_count = writes.count;
    outer.init = block->init ? outer_init(&b) : NULL;
    outer.body = body;
    sched_replace(sch, loop->stmt, stmt_block(ctx, outer, b.block_stmt->span));
    return !outer.init || check_init_runs_once(sch, block_below_loops(outer.init), 0) ? outer.block : NULL;
}
