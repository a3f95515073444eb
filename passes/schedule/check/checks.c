/* Conditions on blocks; see checks.h. */
#include "passes/schedule/check/checks.h"

#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "print/print.h"

/* --- Affine bindings --- */

/* Gives the loops of one iteration their value in QUERY, of which they are no iterators any more: a condition on them and another loop is then
   one on that loop alone. */
static void leave_out_unit_loops(Context *ctx, IterMapQuery *query)
{
    Subst values = {0};
    VarRange *iters = ARENA_ARRAY(ctx->arena, VarRange, query->iter_count);
    int count = 0;
    for (int i = 0; i < query->iter_count; i++)
        if (expr_is_int(query->iters[i].range.extent, 1))
            subst_var(ctx, &values, query->iters[i].var, query->iters[i].range.min);
        else
            iters[count++] = query->iters[i];
    if (count == query->iter_count)
        return;
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, query->binding_count);
    for (int i = 0; i < query->binding_count; i++)
        bindings[i] = subst_expr(ctx, &values, query->bindings[i]);
    query->bindings = bindings;
    query->iters = iters;
    query->iter_count = count;
    if (query->predicate)
        query->predicate = analyzer_simplify(analyzer_new(ctx), subst_expr(ctx, &values, query->predicate));
}

/* The map of QUERY; the reason in RESULT->error when it has none, or leaves out values. */
static bool detect_without_gaps(Context *ctx, const IterMapQuery *query, IterMapResult *result)
{
    if (!iter_map_detect_mixed(analyzer_new(ctx), query, result))
        return false;
    for (int i = 0; i < result->count; i++) {
        const Expr *scale = result->sums[i]->count ? result->sums[i]->args[0].scale : NULL;
        if (scale && !expr_is_int(scale, 1) && !expr_is_int(scale, -1)) {
            result->error = arena_printf(ctx->arena, "%s leaves gaps between its values", print_expr(ctx, query->bindings[i]));
            return false;
        }
    }
    return true;
}

/* The map of BLOCK's axes over the loops below TOP; the reason in RESULT->error when it has none. With PREDICATED the block's predicate
   must leave a box; without, the map must be one to one where the predicate is left aside. */
static bool detect_bindings(Schedule *sch, const TreeNode *node, const TreeNode *top, bool predicated, IterMapResult *result)
{
    const BlockStmt *block = node_block(node);
    int count, first = 0;
    const TreeNode **loops = schedule_loops_around(sch, node, &count);
    for (int i = 0; i < count; i++)
        if (top && schedule_is_under(sch, top, loops[i]))
            first = i + 1;
    result->count = 0;
    if (first == count)
        return true;
    IterMapQuery query = {
        .bindings = block->bindings,
        .binding_count = block->iter_count,
        .iters = loops_ranges(sch, loops + first, count - first),
        .iter_count = count - first,
        .predicate = predicated ? block->predicate : NULL,
        .level = predicated ? ITER_MAP_SURJECTIVE : ITER_MAP_BIJECTIVE,
        .simplify_trivial = true,
    };
    leave_out_unit_loops(sch->ctx, &query);
    return detect_without_gaps(sch->ctx, &query, result);
}

bool block_is_affine(Schedule *sch, const TreeNode *block, const TreeNode *top)
{
    IterMapResult map;
    return detect_bindings(sch, block, top, true, &map) || detect_bindings(sch, block, top, false, &map);
}

static bool is_bound_by_any(const VarRange *loop, const VarRange *loops, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(loop->range.min, loops[i].var) || expr_uses_var(loop->range.extent, loops[i].var))
            return true;
    return false;
}

bool block_points_fill_box(Schedule *sch, const TreeNode *node, const TreeNode *top)
{
    const BlockStmt *block = node_block(node);
    int count, used = 0;
    const TreeNode **around = schedule_loops_around(sch, node, &count);
    VarRange *loops = loops_ranges(sch, around, count), *point_loops = ARENA_ARRAY(sch->ctx->arena, VarRange, count);
    const Expr **bindings = ARENA_ARRAY(sch->ctx->arena, const Expr *, block->iter_count);
    IterMapResult map;
    IterMapQuery query = {.bindings = bindings, .iters = point_loops, .level = ITER_MAP_BIJECTIVE, .simplify_trivial = true};
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind != ITER_REDUCE)
            bindings[query.binding_count++] = block->bindings[i];
    for (int l = 0; l < count; l++) {
        if ((top && !schedule_is_under(sch, around[l], top)) || !block_binds_axis(block, true, loops[l].var))
            continue;
        if (is_bound_by_any(&loops[l], loops, count))
            return false;
        point_loops[used++] = loops[l];
    }
    query.iter_count = used;
    leave_out_unit_loops(sch->ctx, &query);
    return !query.iter_count || detect_without_gaps(sch->ctx, &query, &map);
}

static bool refuse_not_affine(Schedule *sch, const TreeNode *block, const IterMapResult *map)
{
    sched_refuse_node(sch, block, "the bindings of block '%s' must be affine in the loops around it and cover a box: %s",
                 node_name(block), map->error ? map->error : "they are not");
    return sched_note_node(sch, block);
}

/* CONDITION is about spatial points alone: it says whether a point runs. Or it is about the reduction alone: it shortens or empties the reduction
   of all points alike. */
static bool condition_is_separate(Schedule *sch, const TreeNode *node, const Expr *condition)
{
    const BlockStmt *block = node_block(node);
    int count;
    const TreeNode **loops = schedule_loops_around(sch, node, &count);
    bool spatial = false, reduces = false;
    for (int l = 0; l < count; l++)
        for (int i = 0; i < block->iter_count && expr_uses_var(condition, node_loop(loops[l])->var); i++)
            if (expr_uses_var(block->bindings[i], node_loop(loops[l])->var))
                *(block->iters[i].kind == ITER_REDUCE ? &reduces : &spatial) = true;
    return !spatial || !reduces;
}

static bool conditions_are_separate(Schedule *sch, const TreeNode *node)
{
    ExprList conditions = {0};
    loops_split_conjunction(sch->ctx, node_block(node)->predicate, &conditions);
    for (int i = 0; i < conditions.count; i++)
        if (!condition_is_separate(sch, node, conditions.data[i]))
            return false;
    return true;
}

bool check_block_is_affine(Schedule *sch, const TreeNode *block, const TreeNode *top)
{
    IterMapResult map;
    if (block_is_affine(sch, block, NULL) || (top && block_is_affine(sch, block, top)) ||
        (block_points_fill_box(sch, block, top) && conditions_are_separate(sch, block)))
        return true;
    detect_bindings(sch, block, NULL, true, &map);
    return refuse_not_affine(sch, block, &map);
}

bool block_writes_scratch(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node), *scope = node_block(schedule_scope(sch, node));
    for (int w = 0; w < block->write_count; w++) {
        int own = 0;
        while (own < scope->alloc_count && scope->allocs[own] != block->writes[w].buffer)
            own++;
        if (own == scope->alloc_count)
            return false;
    }
    return true;
}

/* The bindings reach a box under the predicate; or each instance once, some of each spatial point: the point gets its init wherever the
   predicate stands; or of the spatial points that run all the same part: then the init follows what the predicate says of points. Of an
   INTERMEDIATE result a point without an update need not have its init. */
static bool check_reduction_domain(Schedule *sch, const TreeNode *node, bool intermediate)
{
    IterMapResult map, whole;
    if (detect_bindings(sch, node, NULL, true, &map))
        return true;
    if (detect_bindings(sch, node, NULL, false, &whole) &&
        (intermediate || conditions_are_separate(sch, node) ||
         answer_is_shown(dependence_serves_all_points(sch->ctx, schedule_func(sch), node_block(node)->block))))
        return true;
    return refuse_not_affine(sch, node, &map);
}

/* --- Axes --- */

static const char *axis_kind(IterKind kind)
{
    static const char *const names[] = {
        [ITER_SPATIAL] = "a spatial", [ITER_REDUCE] = "a reduce", [ITER_SCAN] = "a scan", [ITER_OPAQUE] = "an opaque"};
    return names[kind];
}

/* BINDING uses a loop around NODE that is TOP or stands below it. */
static bool uses_loop_from(Schedule *sch, const TreeNode *node, const TreeNode *top, const Expr *binding)
{
    int count;
    const TreeNode **loops = schedule_loops_around(sch, node, &count);
    for (int i = 0; i < count; i++)
        if ((!top || loops[i] == top || schedule_is_under(sch, loops[i], top)) && expr_uses_var(binding, node_loop(loops[i])->var))
            return true;
    return false;
}

bool check_block_axes(Schedule *sch, const TreeNode *node, const TreeNode *top)
{
    const BlockStmt *block = node_block(node);
    for (int i = 0; i < block->iter_count; i++) {
        IterKind kind = block->iters[i].kind;
        if (kind == ITER_SPATIAL || kind == ITER_REDUCE || (top && !uses_loop_from(sch, node, top, block->bindings[i])))
            continue;
        sched_refuse_node(sch, node, "block '%s' has %s axis '%s'; only spatial and reduce axes may run in another order", block->block->name,
                     axis_kind(kind), block->iters[i].var->name);
        return sched_note_node(sch, node);
    }
    return true;
}

bool check_block_has_scope(Schedule *sch, const TreeNode *block)
{
    const TreeNode *scope = schedule_scope(sch, block);
    if (!scope)
        return sched_refuse_node(sch, block, "block '%s' is the root block, which nothing encloses", node_name(block));
    if (block->in_init) {
        sched_refuse_node(sch, block, "block '%s' belongs to the init of block '%s': decompose_reduction makes it a block of its own",
                     node_name(block), node_name(scope));
        return sched_note_node(sch, block);
    }
    return true;
}

/* --- Writers --- */

/* No statement of SCOPE that is in no block inside of it writes the memory of BUFFER, an output of the block at NODE. */
static bool check_no_loose_writer(Schedule *sch, const TreeNode *node, const TreeNode *scope, const Buffer *buffer)
{
    const Func *func = schedule_func(sch);
    AccessList loose = access_collect_loose(sch->ctx, func, node_block(scope)->block);
    const Var *data = buffer_viewed(func, buffer)->data;
    for (int i = 0; i < loose.count; i++) {
        if (!loose.data[i].write || loose.data[i].data != data)
            continue;
        sched_refuse_node(sch, node, "block '%s' is not the only statement that writes buffer '%s'", node_name(node), buffer->name);
        sched_note(sch, loose.data[i].span, "this statement writes it too, or may");
        return false;
    }
    return true;
}

bool check_block_is_only_writer(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    const TreeNode *scope = schedule_scope(sch, node);
    for (int i = 0; i < block->write_count; i++) {
        int count;
        const TreeNode **writers = scope_writers(sch, scope, block->writes[i].buffer, &count);
        if (count <= 1) {
            if (!check_no_loose_writer(sch, node, scope, block->writes[i].buffer))
                return false;
            continue;
        }
        sched_refuse_node(sch, node, "block '%s' is not the only one that writes buffer '%s'", block->block->name, block->writes[i].buffer->name);
        for (int w = 0; w < count; w++)
            sched_note(sch, writers[w]->stmt->span, "block '%s' writes it", node_block(writers[w])->block->name);
        return false;
    }
    return true;
}

bool check_axes_are_spatial(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind != ITER_SPATIAL) {
            sched_refuse_node(sch, node, "axis '%s' of block '%s' is %s axis, and all must be spatial", block->iters[i].var->name, block->block->name,
                         axis_kind(block->iters[i].kind));
            return sched_note_node(sch, node);
        }
    return true;
}

bool check_complete_block(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    if (!check_axes_are_spatial(sch, node))
        return false;
    for (int i = 0; i < block->write_count; i++)
        if (regions_find(block->reads, block->read_count, block->writes[i].buffer) || stmt_itself_uses_buffer(node->stmt, block->writes[i].buffer)) {
            sched_refuse_node(sch, node, "block '%s' reads buffer '%s', which it writes too", block->block->name, block->writes[i].buffer->name);
            return sched_note_node(sch, node);
        }
    return check_block_is_only_writer(sch, node);
}

/* --- Reductions --- */

/* Looks for a store to an output of the block whose index uses a reduce axis of it. */
typedef struct {
    const BlockStmt *block;
    const Stmt *store;
    const Var *axis;
} ReduceIndexSearch;

static const Var *reduce_axis_in(const BlockStmt *block, const Expr *expr)
{
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && expr_uses_var(expr, block->iters[i].var))
            return block->iters[i].var;
    return NULL;
}

static bool find_reduce_index(Visitor *visitor, const Stmt *stmt)
{
    ReduceIndexSearch *search = visitor->data;
    if (stmt->kind != STMT_STORE || !regions_find(search->block->writes, search->block->write_count, stmt->as.store.buffer))
        return !search->axis;
    for (int i = 0; i < stmt->as.store.index_count && !search->axis; i++) {
        search->store = stmt;
        search->axis = reduce_axis_in(search->block, stmt->as.store.indices[i]);
    }
    return false;
}

/* Reduce axes of BLOCK must not appear in what it writes: neither in its declared regions nor in the indices of its stores. */
static bool check_outputs_not_reduced(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    const Var *axis = NULL;
    for (int i = 0; i < block->write_count && !axis; i++)
        axis = region_reduce_axis(&block->writes[i], block);
    ReduceIndexSearch search = {.block = block, .axis = axis};
    Visitor visitor = {.stmt = find_reduce_index, .data = &search};
    if (!axis)
        visit_stmt(&visitor, block->body);
    if (!search.axis)
        return true;
    sched_refuse_node(sch, node, "reduce axis '%s' of block '%s' indexes what the block writes", search.axis->name, block->block->name);
    sched_note(sch, search.store ? search.store->span : node->stmt->span, "written here");
    return false;
}

bool check_reduces_over_loops(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    for (const TreeNode *up = schedule_parent(sch, node); block->init && up && up->stmt->kind != STMT_BLOCK; up = schedule_parent(sch, up))
        for (int i = 0; up->stmt->kind == STMT_LET && i < block->iter_count; i++)
            if (block->iters[i].kind == ITER_REDUCE && expr_uses_var(block->bindings[i], up->stmt->as.let.var)) {
                sched_refuse(sch, "reduce axis '%s' of block '%s' is bound by way of the let '%s', which hides the loops that it runs over",
                             block->iters[i].var->name, block->block->name, up->stmt->as.let.var->name);
                sched_note(sch, up->stmt->span, "the let is here");
                return false;
            }
    return true;
}

/* What UP, a loop or a block, makes BINDING run over, in words; NULL: nothing. A spatial axis tells points apart, of which each has its own
   reduction. */
static const char *continues_over(Schedule *sch, const TreeNode *up, const Expr *binding)
{
    if (up->stmt->kind == STMT_FOR && expr_uses_var(binding, node_loop(up)->var))
        return arena_printf(sch->ctx->arena, "loop '%s'", node_name(up));
    for (int i = 0; up->stmt->kind == STMT_BLOCK && i < node_block(up)->iter_count; i++) {
        const Iter *iter = &node_block(up)->iters[i];
        if (iter->kind != ITER_SPATIAL && expr_uses_var(binding, iter->var))
            return arena_printf(sch->ctx->arena, "axis '%s'", iter->var->name);
    }
    return NULL;
}

/* BINDING in terms of what is around UP, a let or a block: values put in but for spatial axes. */
static const Expr *unfold_varying(Schedule *sch, const TreeNode *up, const Expr *binding)
{
    Subst values = {0};
    if (up->stmt->kind == STMT_LET)
        subst_var(sch->ctx, &values, up->stmt->as.let.var, up->stmt->as.let.value);
    for (int i = 0; up->stmt->kind == STMT_BLOCK && i < node_block(up)->iter_count; i++)
        if (node_block(up)->iters[i].kind != ITER_SPATIAL)
            subst_var(sch->ctx, &values, node_block(up)->iters[i].var, node_block(up)->bindings[i]);
    return values.vars.count ? subst_expr(sch->ctx, &values, binding) : binding;
}

/* Axis ITER of the block at NODE, bound to BINDING, runs over nothing outside of the block at SCOPE, around it. */
static bool check_axis_in_scope(Schedule *sch, const TreeNode *node, const TreeNode *scope, const Iter *iter, const Expr *binding)
{
    const TreeNode *up = schedule_parent(sch, node);
    for (; up != scope; up = schedule_parent(sch, up))
        binding = unfold_varying(sch, up, binding);
    for (; up; up = schedule_parent(sch, up)) {
        const char *over = continues_over(sch, up, binding);
        if (over) {
            sched_refuse(sch, "reduce axis '%s' of block '%s' runs over %s outside of block '%s', which holds just a part of the reduction",
                         iter->var->name, node_name(node), over, node_name(scope));
            sched_note(sch, up->stmt->span, "%s is here", over);
            return false;
        }
        if (up->stmt->kind == STMT_LET)
            binding = unfold_varying(sch, up, binding);
    }
    return true;
}

static bool check_block_in_scope(Schedule *sch, const TreeNode *node, const TreeNode *scope)
{
    const BlockStmt *block = node_block(node);
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && !check_axis_in_scope(sch, node, scope, &block->iters[i], block->bindings[i]))
            return false;
    return true;
}

bool check_reduces_in_scope(Schedule *sch, const TreeNode *node)
{
    return check_block_in_scope(sch, node, schedule_scope(sch, node));
}

bool check_inner_reduces_in_scope(Schedule *sch, const TreeNode *node)
{
    const TreeNode *scope = schedule_scope(sch, node);
    for (int i = schedule_node_index(sch, node); i < node->end; i++) {
        const TreeNode *inner = schedule_node_at(sch, i);
        if (inner->stmt->kind == STMT_BLOCK && (inner == node || node_block(inner)->init) && !check_block_in_scope(sch, inner, scope))
            return false;
    }
    return true;
}

/* What is asked of every reduction, whatever its domain. */
static bool check_reduction_form(Schedule *sch, const TreeNode *node, const TreeNode *top)
{
    return check_block_axes(sch, node, top) && check_block_is_only_writer(sch, node) && check_outputs_not_reduced(sch, node) &&
           check_reduces_over_loops(sch, node) && check_reduces_in_scope(sch, node);
}

static bool check_reduction(Schedule *sch, const TreeNode *node, const TreeNode *top, bool intermediate)
{
    if (!node_block(node)->init) {
        sched_refuse_node(sch, node, "block '%s' has no init, so it is no reduction", node_name(node));
        return sched_note_node(sch, node);
    }
    return check_reduction_domain(sch, node, intermediate) && check_reduction_form(sch, node, top);
}

bool check_reduction_block(Schedule *sch, const TreeNode *node, const TreeNode *top)
{
    return check_reduction(sch, node, top, block_writes_scratch(sch, node));
}

bool check_decomposable_block(Schedule *sch, const TreeNode *node, const TreeNode *top)
{
    bool filled = node_block(node)->init && block_points_fill_box(sch, node, NULL);
    return filled ? check_reduction_form(sch, node, top) : check_reduction_block(sch, node, top);
}

bool check_intermediate_reduction_block(Schedule *sch, const TreeNode *node)
{
    return check_reduction(sch, node, NULL, true);
}

/* --- An init that leaves its block --- */

/* Looks for a buffer that the block makes itself. */
typedef struct {
    const BlockStmt *block;
    const Buffer *found;
} OwnBufferSearch;

static void compare_own(OwnBufferSearch *search, const Buffer *used)
{
    for (int i = 0; i < search->block->alloc_count; i++)
        if (search->block->allocs[i] == used)
            search->found = used;
    for (int i = 0; i < search->block->match_count; i++)
        if (search->block->matches[i].target->data == used->data)
            search->found = used;
}

static bool find_own_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        compare_own(visitor->data, expr->value.buffer);
    return true;
}

static bool find_own_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_STORE)
        compare_own(visitor->data, stmt->as.store.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        compare_own(visitor->data, stmt->as.block.matches[i].source.buffer);
    return true;
}

bool check_init_is_independent(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    OwnBufferSearch search = {.block = block};
    Visitor visitor = {.expr = find_own_in_expr, .stmt = find_own_in_stmt, .data = &search};
    if (block->init)
        visit_stmt(&visitor, block->init);
    if (!search.found)
        return true;
    sched_refuse(sch, "the init of block '%s' uses buffer '%s', which the block itself makes", block->block->name, search.found->name);
    sched_note(sch, block->init->span, "the init is here");
    return false;
}

bool check_init_runs_once(Schedule *sch, const Block *init, int outer_count)
{
    const TreeNode *node = schedule_find_block(sch, init);
    const BlockStmt *block = node_block(node);
    bool reads_own = false;
    for (int w = 0; w < block->write_count; w++)
        reads_own |= regions_find(block->reads, block->read_count, block->writes[w].buffer) != NULL;
    int count;
    const TreeNode **loops = schedule_loops_around(sch, node, &count);
    if (!reads_own || count <= outer_count ||
        answer_is_shown(dependence_runs_once(sch->ctx, schedule_func(sch), block->block, node_loop(loops[outer_count])->var)))
        return true;
    sched_refuse(sch, "block '%s' would read what it writes, and its loops may run it more than once for one point", block->block->name);
    sched_note(sch, block->body->span, "the init is here");
    return false;
}
