/* Where the copy of a cache stands and what it copies, and the proof that all of that is written. See cache.h. */
#include "ir/walk.h"
#include "passes/arith/int_set.h"
#include "passes/schedule/cache/cache.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/core/storage.h"
#include "print/print.h"

/* --- Where --- */

/* The loop around the anchor that goes on reducing, or NULL: a copy in it has other contents each time, and no axis tells the times apart. */
static const TreeNode *loop_that_reduces(Schedule *sch, const CachePlan *plan)
{
    for (const TreeNode *up = schedule_parent(sch, plan->anchor); up != plan->scope; up = schedule_parent(sch, up))
        if (up->stmt->kind == STMT_FOR && !expr_is_int(node_loop(up)->extent, 1) &&
            block_only_reduces_over(node_block(plan->writer), node_loop(up)->var))
            return up;
    return NULL;
}

static bool check_reduction_is_over(Schedule *sch, const CachePlan *plan)
{
    const TreeNode *loop = loop_that_reduces(sch, plan);
    if (!loop)
        return true;
    sched_refuse(sch, "the copy would be made in each iteration of loop '%s', over which block '%s' reduces: what it copies is not complete",
                 node_name(loop), node_name(plan->writer));
    return sched_note_node(sch, plan->writer);
}

/* All statements of the scope that can use the buffer: what is behind the declarations at its start, or behind the buffer's own. */
static const TreeNode *body_of_scope(Schedule *sch, const CachePlan *plan)
{
    const Stmt *stmt = plan->declaration ? stmt_body(plan->declaration->stmt) : node_block(plan->scope)->body;
    while (stmt->kind == STMT_DECL_BUFFER || stmt->kind == STMT_ALLOCATE || stmt->kind == STMT_ALLOCATE_CONST)
        stmt = stmt_body(stmt);
    return schedule_find_stmt(sch, stmt);
}

/* Puts the copy right before what holds MEMBER, in the innermost statement that holds the writer too; false where that is no sequence that
   the writer comes first in. */
static bool place_before(Schedule *sch, CachePlan *plan, const TreeNode *member)
{
    const TreeNode *parent = schedule_parent(sch, member);
    plan->anchor = member;
    while (!schedule_is_under(sch, plan->writer, parent)) {
        plan->anchor = parent;
        parent = schedule_parent(sch, parent);
    }
    return parent->stmt->kind == STMT_SEQ && member > plan->writer; /* nodes lie in program order */
}

static const TreeNode *first_of(const TreeNode *const *nodes, int count)
{
    const TreeNode *first = NULL;
    for (int i = 0; i < count; i++)
        if (!first || nodes[i] < first)
            first = nodes[i];
    return first;
}

bool cache_place_behind_writer(Schedule *sch, CachePlan *plan, const TreeNode *const *related, int count, const TreeNode *waits)
{
    const TreeNode *first = first_of(related, count);
    plan->later = waits;
    if (waits && (!first || waits < first) && place_before(sch, plan, waits) && !loop_that_reduces(sch, plan))
        return true;
    plan->later = first;
    if (!first) {
        plan->anchor = body_of_scope(sch, plan);
        plan->after = true;
        return true;
    }
    if (place_before(sch, plan, first))
        return check_reduction_is_over(sch, plan);
    sched_refuse(sch, "block '%s' does not come after block '%s', which writes '%s', in one sequence", node_name(first),
                 node_name(plan->writer), plan->buffer->name);
    sched_note_node(sch, plan->writer);
    return sched_note_node(sch, first);
}

void cache_place_at_start(Schedule *sch, CachePlan *plan)
{
    plan->anchor = body_of_scope(sch, plan);
}

/* The innermost loop or block around the anchor. */
static const TreeNode *around_anchor(Schedule *sch, const CachePlan *plan)
{
    const TreeNode *node = schedule_parent(sch, plan->anchor);
    while (node->stmt->kind != STMT_FOR && node->stmt->kind != STMT_BLOCK)
        node = schedule_parent(sch, node);
    return node;
}

/* --- What --- */

/* Finds out which dimensions of the region are not known to stay inside of the buffer. */
static void find_guards(Schedule *sch, CachePlan *plan)
{
    const Buffer *buffer = plan->buffer;
    Analyzer *an = loops_context(sch, plan->anchor);
    if (plan->condition)
        analyzer_assume(an, plan->condition);
    plan->guarded = ARENA_ARRAY(sch->ctx->arena, bool, buffer->ndim);
    plan->any_guarded = false;
    for (int d = 0; d < buffer->ndim; d++) {
        Range range = plan->region.ranges[d];
        const Expr *zero = expr_int(sch->ctx, range.min->dtype, 0);
        bool inside =
            analyzer_prove_symbolic(an, op_compare(sch->ctx, EXPR_LE, zero, range.min)) &&
            analyzer_prove_symbolic(an, op_compare(sch->ctx, EXPR_LE, op_add(sch->ctx, range.min, range.extent), buffer->shape[d]));
        plan->guarded[d] = !inside;
        plan->any_guarded |= !inside;
    }
}

static bool is_all_of_buffer(Schedule *sch, const Region *region)
{
    Analyzer *an = analyzer_new(sch->ctx);
    for (int d = 0; d < region->buffer->ndim; d++)
        if (!expr_is_int(region->ranges[d].min, 0) || !analyzer_prove_equal(an, region->ranges[d].extent, region->buffer->shape[d]))
            return false;
    return true;
}

bool cache_uses_loop_around_scope(Schedule *sch, const CachePlan *plan, const Expr *expr)
{
    for (const TreeNode *up = schedule_parent(sch, plan->scope); up; up = schedule_parent(sch, up))
        if (up->stmt->kind == STMT_FOR && expr_uses_var(expr, node_loop(up)->var))
            return true;
    return false;
}

/* EXTENT is no less than 0 at the anchor, also where loops before it have no iterations, and known where the scope allocates the cache:
   what it reads from memory may be written later than that. */
static bool is_certain_extent(Schedule *sch, const CachePlan *plan, const Expr *extent)
{
    if (!expr_is_pure(extent))
        return false;
    return analyzer_prove_symbolic(loops_context(sch, plan->anchor),
                                   op_compare(sch->ctx, EXPR_GE, extent, expr_int(sch->ctx, extent->dtype, 0)));
}

/* What of RANGE, which a block may declare larger than the buffer, lies in a dimension of SIZE elements: all of them, where that is certain. */
static Range cut_to_size(Context *ctx, Range range, const Expr *size)
{
    int64_t min, extent, elements;
    bool known = expr_const_int(range.min, &min) && expr_const_int(range.extent, &extent) && expr_const_int(size, &elements);
    bool covers = known && min <= 0 && extent > elements && extent - elements >= -min;
    return covers ? (Range){expr_int(ctx, size->dtype, 0), size} : range;
}

/* Settles the shape of the cache: that of the buffer if WHOLE, and that of the region as far as it is known where the cache is allocated. */
static void make_cache(Schedule *sch, CachePlan *plan, bool whole)
{
    Buffer *cache = storage_copy(sch->ctx, plan->buffer, plan->storage);
    plan->whole = ARENA_ARRAY(sch->ctx->arena, bool, cache->ndim);
    for (int d = 0; d < cache->ndim; d++) {
        plan->region.ranges[d] = cut_to_size(sch->ctx, plan->region.ranges[d], plan->buffer->shape[d]);
        plan->whole[d] = whole || cache_uses_loop_around_scope(sch, plan, plan->region.ranges[d].min) ||
                         !expr_is_pure(plan->region.ranges[d].min) || !is_certain_extent(sch, plan, plan->region.ranges[d].extent);
        plan->part |= !plan->whole[d];
    }
    if (cache->strides || !expr_is_int(cache->elem_offset, 0)) {
        /* the memory is the cache's own, so it is compact whatever the layout of the buffer */
        cache->strides = NULL;
        cache->elem_offset = expr_int(sch->ctx, buffer_index_dtype(cache), 0);
        cache->offset_factor = 0;
    }
    cache->shape = ARENA_ARRAY(sch->ctx->arena, const Expr *, cache->ndim);
    for (int d = 0; d < cache->ndim; d++)
        cache->shape[d] = plan->whole[d] ? plan->buffer->shape[d] : plan->region.ranges[d].extent;
    plan->cache = cache;
    find_guards(sch, plan);
}

/* The cache has the shape of the region where the copy stands directly in the scope. */
static bool copies_in_loop(Schedule *sch, const CachePlan *plan)
{
    return around_anchor(sch, plan) != plan->scope || is_all_of_buffer(sch, &plan->region);
}

/* The loops around MEMBER that are below NODE, outermost first. */
static const TreeNode **loops_below(Schedule *sch, const TreeNode *member, const TreeNode *node, int *count)
{
    int total, first = 0;
    const TreeNode **loops = schedule_loops_around(sch, member, &total);
    while (first < total && schedule_is_under(sch, node, loops[first]))
        first++;
    *count = total - first;
    return loops + first;
}

/* REGION of the buffer, which the block at NODE declares, with its bindings put in, over the loops below the anchor's surroundings. */
static RegionQuery member_query(Schedule *sch, const CachePlan *plan, const TreeNode *node, Region region)
{
    int loop_count;
    const TreeNode **loops = loops_below(sch, node, around_anchor(sch, plan), &loop_count);
    return (RegionQuery){loops_bound_region(sch, node, region).ranges, plan->buffer->ndim, loops_ranges(sch, loops, loop_count), loop_count,
                         node_block(node)->predicate};
}

/* What the writer declares to write. */
static RegionQuery writer_query(Schedule *sch, const CachePlan *plan)
{
    const BlockStmt *block = node_block(plan->writer);
    return member_query(sch, plan, plan->writer, *regions_find(block->writes, block->write_count, plan->buffer));
}

/* Settles the region by SETS, one for each dimension, and makes the cache. */
static void copy_sets(Schedule *sch, CachePlan *plan, Analyzer *an, const IntSet *sets)
{
    int ndim = plan->buffer->ndim;
    plan->region = region_whole(sch->ctx, plan->buffer);
    Analyzer *running = NULL;
    for (int d = 0; d < ndim; d++) {
        Range *range = &plan->region.ranges[d];
        *range = int_set_cover_range(an, sets[d], *range);
        range->min = loops_guard_divisors(sch, plan->anchor, &running, analyzer_simplify(an, range->min));
        range->extent = loops_guard_divisors(sch, plan->anchor, &running, range->extent);
    }
    make_cache(sch, plan, copies_in_loop(sch, plan));
}

void cache_copy_written(Schedule *sch, CachePlan *plan)
{
    RegionQuery query = writer_query(sch, plan);
    Analyzer *an = analyzer_new(sch->ctx);
    IntSet *sets = ARENA_ARRAY(sch->ctx->arena, IntSet, plan->buffer->ndim);
    region_upper_bound(an, &query, sets);
    copy_sets(sch, plan, an, sets);
}

/* Adds what the block at USER reads of the buffer to SETS: all of a dimension where that depends on data, or where the block reads the
   buffer to find out whether it runs, and on what. */
static void add_user_reads(Schedule *sch, const CachePlan *plan, Analyzer *an, const TreeNode *user, IntSet *sets)
{
    const BlockStmt *block = node_block(user);
    int ndim = plan->buffer->ndim;
    bool all = stmt_itself_uses_buffer(user->stmt, plan->buffer);
    IntSet *one = ARENA_ARRAY(sch->ctx->arena, IntSet, ndim);
    for (int r = 0; r < block->read_count; r++) {
        if (block->reads[r].buffer != plan->buffer)
            continue;
        RegionQuery query = member_query(sch, plan, user, block->reads[r]);
        region_upper_bound(an, &query, one);
        for (int d = 0; d < ndim; d++) {
            bool pure = expr_is_pure(query.ranges[d].min) && expr_is_pure(query.ranges[d].extent);
            sets[d] = int_set_union(an, sets[d], pure ? one[d] : int_set_everything());
        }
    }
    for (int d = 0; d < ndim && all; d++)
        sets[d] = int_set_everything();
}

/* Calls in the writer may write the buffer: what they write is not known. */
static bool find_opaque_call(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr_is_opaque_call(expr) && expr->value.op != OP_ASSUME;
    return expr->opaque;
}

/* The elements that the users read are in the buffer where the copy is made, and stay there until they are read, when the writer has run
   for the last time before: each user stands behind the copy in the sequence that holds both. So the copy may take them whoever wrote
   them. */
bool cache_copy_read(Schedule *sch, CachePlan *plan)
{
    bool calls = false;
    Visitor visitor = {.expr = find_opaque_call, .data = &calls};
    visit_stmt(&visitor, plan->writer->stmt);
    const TreeNode *sequence = schedule_parent(sch, plan->anchor);
    for (int i = 0; i < plan->user_count; i++)
        calls = calls && plan->users[i] >= plan->anchor && schedule_is_under(sch, plan->users[i], sequence); /* in program order */
    if (!calls)
        return false;
    Analyzer *an = analyzer_new(sch->ctx);
    IntSet *sets = ARENA_ARRAY(sch->ctx->arena, IntSet, plan->buffer->ndim);
    for (int d = 0; d < plan->buffer->ndim; d++)
        sets[d] = int_set_nothing();
    for (int i = 0; i < plan->user_count; i++)
        add_user_reads(sch, plan, an, plan->users[i], sets);
    copy_sets(sch, plan, an, sets);
    plan->for_users = true;
    return true;
}

bool cache_copy_declared(Schedule *sch, CachePlan *plan)
{
    const BlockStmt *scope = node_block(plan->scope);
    const Region *declared = regions_find(scope->reads, scope->read_count, plan->buffer);
    if (regions_repeat(scope->reads, scope->read_count, plan->buffer)) {
        sched_refuse(sch, "block '%s' declares to read several regions of '%s', so there is no one region to copy", node_name(plan->scope),
                     plan->buffer->name);
        return sched_note_node(sch, plan->scope);
    }
    plan->region = region_whole(sch->ctx, plan->buffer);
    Analyzer *running = NULL;
    for (int d = 0; declared && d < plan->buffer->ndim; d++) {
        plan->region.ranges[d].min = loops_guard_divisors(sch, plan->anchor, &running, declared->ranges[d].min);
        plan->region.ranges[d].extent = loops_guard_divisors(sch, plan->anchor, &running, declared->ranges[d].extent);
    }
    make_cache(sch, plan, copies_in_loop(sch, plan));
    return true;
}

void cache_copy_region(Schedule *sch, CachePlan *plan, Region region)
{
    Analyzer *running = NULL;
    plan->region = region;
    plan->region.ranges = arena_copy(sch->ctx->arena, region.ranges, sizeof *region.ranges * (size_t)region.buffer->ndim);
    for (int d = 0; d < plan->buffer->ndim; d++) {
        Range *range = &plan->region.ranges[d];
        range->min = loops_guard_divisors(sch, plan->anchor, &running, range->min);
        range->extent = loops_guard_divisors(sch, plan->anchor, &running, range->extent);
    }
    make_cache(sch, plan, true);
}

/* --- Checks --- */

bool cache_writer_stores_region(Schedule *sch, const CachePlan *plan)
{
    const BlockStmt *block = node_block(plan->writer);
    const Region *declared = regions_find(block->writes, block->write_count, plan->buffer);
    const Stmt *stmt = block->body;
    if (stmt->kind != STMT_STORE || stmt->as.store.buffer != plan->buffer || stmt->as.store.mask)
        return false;
    Analyzer *an = analyzer_new(sch->ctx);
    for (int d = 0; d < plan->buffer->ndim; d++)
        if (!expr_is_int(declared->ranges[d].extent, 1) || !analyzer_prove_equal(an, declared->ranges[d].min, stmt->as.store.indices[d]))
            return false;
    return true;
}

/* Looks for a variable outside of divisions, where all of its values count. */
typedef struct {
    const Var *var;
    bool found;
} WholeUse;

static bool find_whole_use(Visitor *visitor, const Expr *expr)
{
    WholeUse *use = visitor->data;
    use->found |= expr_is_var(expr, use->var);
    return expr->kind != EXPR_FLOORDIV && expr->kind != EXPR_FLOORMOD;
}

/* A loop over a part of the region: where it is empty, so is that part. */
static bool loop_spans_region(const RegionQuery *query, const Var *var)
{
    WholeUse use = {.var = var};
    Visitor visitor = {.expr = find_whole_use, .data = &use};
    for (int d = 0; d < query->ndim; d++)
        visit_expr(&visitor, query->ranges[d].min);
    return use.found;
}

static bool uses_some_loop(const Expr *expr, const VarRange *const *loops, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(expr, loops[i]->var))
            return true;
    return false;
}

/* A * B for proofs, of the type of both where they have one: a cast would hide what they have in common. */
static const Expr *times(Context *ctx, const Expr *a, const Expr *b)
{
    bool same = dtype_equal(a->dtype, b->dtype);
    return same ? op_mul(ctx, a, b) : op_mul(ctx, op_cast(ctx, DTYPE_INT64, a), op_cast(ctx, DTYPE_INT64, b));
}

/* The COUNT LOOPS together have at least as many iterations as the dimensions of the region that name them have elements: where one of them
   is empty, so is the region. */
static bool loops_outnumber_elements(const CachePlan *plan, const RegionQuery *query, const VarRange *const *loops, int count, Analyzer *an)
{
    Context *ctx = analyzer_context(an);
    const Expr *iterations = expr_int(ctx, count ? loops[0]->range.extent->dtype : DTYPE_INT64, 1), *elements = iterations;
    for (int i = 0; i < count; i++)
        iterations = times(ctx, iterations, loops[i]->range.extent);
    for (int d = 0; d < query->ndim; d++)
        if (uses_some_loop(query->ranges[d].min, loops, count))
            elements = times(ctx, elements, plan->region.ranges[d].extent);
    if (!dtype_equal(elements->dtype, iterations->dtype))
        elements = op_cast(ctx, DTYPE_INT64, elements), iterations = op_cast(ctx, DTYPE_INT64, iterations);
    return analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, elements, iterations));
}

/* No loop that only repeats the writer, or of which the region shows just a part, may keep it from running. */
static bool repeating_loops_run(Schedule *sch, const CachePlan *plan, const RegionQuery *query)
{
    Context *ctx = sch->ctx;
    const BlockStmt *writer = node_block(plan->writer);
    Analyzer *an = loops_context(sch, plan->scope);
    const VarRange **loops = ARENA_ARRAY(ctx->arena, const VarRange *, query->var_count),
                   **divided = ARENA_ARRAY(ctx->arena, const VarRange *, query->var_count);
    int loop_count = 0, divided_count = 0;
    bool all_run = true;
    for (int i = 0; i < query->var_count; i++) {
        const VarRange *loop = &query->vars[i];
        const Expr *extent = loop->range.extent;
        if (writer->init && block_only_reduces_over(writer, loop->var)) /* its init runs however often the loop does */
            continue;
        loops[loop_count++] = loop;
        if (loop_spans_region(query, loop->var))
            continue;
        divided[divided_count++] = loop;
        all_run &= analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LT, expr_int(ctx, extent->dtype, 0), extent));
    }
    return all_run || loops_outnumber_elements(plan, query, loops, loop_count, an) ||
           loops_outnumber_elements(plan, query, divided, divided_count, an);
}

typedef struct {
    const BlockStmt *block;
    Map sizes;
    bool reduces, others;
} ConditionVars;

static bool note_condition_var(Visitor *visitor, const Expr *expr)
{
    ConditionVars *vars = visitor->data;
    if (expr->kind == EXPR_VAR && block_only_reduces_over(vars->block, expr->value.var))
        vars->reduces = true;
    else
        vars->others |= expr->kind == EXPR_LOAD || (expr->kind == EXPR_VAR && !map_has(&vars->sizes, expr->value.var));
    return true;
}

/* CONDITION speaks of sizes and of loops over which WRITER only reduces: it leaves out updates, but never the init. */
static bool concerns_reduction_alone(Schedule *sch, const TreeNode *writer, const Expr *condition)
{
    ConditionVars vars = {.block = node_block(writer), .sizes = func_sizes(sch->ctx, schedule_func(sch))};
    Visitor visitor = {.expr = note_condition_var, .data = &vars};
    visit_expr(&visitor, condition);
    return node_block(writer)->init && vars.reduces && !vars.others;
}

/* The writer's predicate without the conditions that leave each element written. */
static const Expr *writing_condition(Schedule *sch, const TreeNode *writer)
{
    ExprList parts = {0};
    const Expr *condition = expr_bool(sch->ctx, true);
    loops_split_conjunction(sch->ctx, node_block(writer)->predicate, &parts);
    for (int i = 0; i < parts.count; i++)
        if (!concerns_reduction_alone(sch, writer, parts.data[i]))
            condition = op_and(sch->ctx, condition, parts.data[i]);
    return condition;
}

/* The copied region is the image of the writer's bindings, by iterator maps: what integer sets cannot decide where sizes multiply. */
static bool bindings_reach_all(Schedule *sch, const CachePlan *plan)
{
    const TreeNode *around = around_anchor(sch, plan);
    for (const TreeNode *up = schedule_parent(sch, plan->writer); up != around; up = schedule_parent(sch, up))
        if ((up->stmt->kind != STMT_FOR && up->stmt->kind != STMT_SEQ) || (up->stmt->kind == STMT_FOR && loop_jump(up)))
            return false;
    RegionQuery query = writer_query(sch, plan);
    query.predicate = writing_condition(sch, plan->writer);
    Analyzer *an = analyzer_new(sch->ctx);
    IntSet *sets = ARENA_ARRAY(sch->ctx->arena, IntSet, query.ndim);
    if (plan->condition)
        analyzer_assume(an, plan->condition);
    if (!cache_writer_stores_region(sch, plan) || !repeating_loops_run(sch, plan, &query) || !region_lower_bound(an, &query, sets))
        return false;
    bool same = true; /* else the region is a larger one, for want of limits */
    for (int d = 0; d < query.ndim && same; d++)
        same = int_set_matches_range(an, sets[d], plan->region.ranges[d]);
    return same;
}

/* EXPR mentions something that is defined between the anchor's surroundings and the writer. */
static bool uses_inner_variable(Schedule *sch, const CachePlan *plan, const Expr *expr)
{
    const TreeNode *around = around_anchor(sch, plan);
    for (const TreeNode *up = schedule_parent(sch, plan->writer); up != around; up = schedule_parent(sch, up)) {
        if (up->stmt->kind == STMT_FOR && expr_uses_var(expr, node_loop(up)->var))
            return true;
        if (up->stmt->kind == STMT_LET && expr_uses_var(expr, up->stmt->as.let.var))
            return true;
    }
    return false;
}

/* What of the writer's predicate can be asked at the anchor too, and is defined there though what comes before it is left out; NULL when
   nothing. */
static const Expr *outer_condition(Schedule *sch, const CachePlan *plan)
{
    ExprList parts = {0};
    const Expr *condition = NULL;
    bool whole = true;
    loops_split_conjunction(sch->ctx, node_block(plan->writer)->predicate, &parts);
    for (int i = 0; i < parts.count; i++) {
        bool asked = !uses_inner_variable(sch, plan, parts.data[i]) && (whole || !expr_needs_guard(parts.data[i]));
        whole &= asked;
        if (asked)
            condition = condition ? op_and(sch->ctx, condition, parts.data[i]) : parts.data[i];
    }
    return condition;
}

static Answer copy_is_written(Schedule *sch, const CachePlan *plan)
{
    PlacedBox box = {
        .region = plan->region, .clipped = plan->any_guarded, .condition = plan->condition, .writer = plan->writer, .later = plan->later};
    return coverage_is_written(sch, &box);
}

bool check_copy_is_written(Schedule *sch, CachePlan *plan)
{
    Answer answer = copy_is_written(sch, plan);
    const Expr *outer = outer_condition(sch, plan);
    if (answer_is_shown(answer) || (!outer && !plan->any_guarded && bindings_reach_all(sch, plan)))
        return true;
    plan->condition = outer;
    find_guards(sch, plan);
    if (outer && (answer_is_shown(copy_is_written(sch, plan)) || (!plan->any_guarded && bindings_reach_all(sch, plan))))
        return true;
    sched_refuse(sch, "the copy would take %s%s, which block '%s' must write completely before: %s", print_region(sch->ctx, &plan->region),
                 plan->any_guarded ? " (as far as it is in the buffer)" : "", node_name(plan->writer), answer.text);
    return sched_note_node(sch, plan->writer);
}
