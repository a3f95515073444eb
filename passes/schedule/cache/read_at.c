/* read_at and write_at: a copy of what one iteration of a loop reads or writes of a buffer, made by one block as a whole.

   Before, read_at(i, "C", 0, "local")      After
     for i in range(30):                      B_local = T.alloc_buffer((30, 20), scope="local")
         for j in range(20):                  for i in range(30):
             with T.block("C"):                   with T.block("B_local"):
                 C[vi, vj] = B[vi, vj] + 1            v0 = T.axis.spatial(30, i)
                                                      T.block_attr({"auto_copy": True})
                                                      for ax0, ax1 in T.grid(1, 20): B_local[v0 + ax0, ax1] = B[v0 + ax0, ax1]
                                                  for j in range(20): ... B_local[vi, vj]

   read_at copies before the first statement of the loop's body that reads the buffer; all reads from there on turn to the copy. What must hold:
   no statement of the loop writes the buffer from there on.
   write_at copies back behind the last statement that writes the buffer; reads and writes up to there turn to the copy. What must hold: in each
   iteration of the loop, or of one around it in which nothing else writes the buffer, what is read of the copy has been written to it before.
   Then each read finds what it found: all writes of that iteration go to the copy in the same order, and the buffer gets the last of them.
   Where the copy back may run again for the same elements, it gets an opaque axis for each loop around it.
   The threads that share the copy fill all that they need of it, each one the same. */
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/arith/int_set.h"
#include "passes/schedule/cache/cache.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/move/move.h"

typedef struct {
    Schedule *sch;
    CachePlan plan;
    const TreeNode *loop;
    bool writes;             /* write_at */
    const Stmt *const *items; /* of the loop's body; NULL: it is one */
    int item_count;
    int first, end;          /* the items whose accesses turn to the copy */
    const TreeNode **users;
    int user_count;
} At;

/* --- Who is concerned --- */

static bool touches(const Region *regions, int count, const Buffer *buffer)
{
    for (int i = 0; i < count; i++)
        if (regions[i].buffer == buffer)
            return true;
    return false;
}

static bool refuse_order(At *at, const TreeNode *user, const char *why)
{
    sched_refuse(at->sch, "block '%s' writes '%s' in loop '%s' %s", node_name(user), at->plan.buffer->name, node_name(at->loop), why);
    return sched_note_node(at->sch, user);
}

/* The members of the scope below the loop that read or write the buffer, and which items of its body they lie in; false after a refusal. */
static bool find_users(At *at)
{
    Schedule *sch = at->sch;
    VEC(const TreeNode *) users = {0};
    const TreeNode *last_writer = NULL;
    at->item_count = body_items(node_loop(at->loop)->body, &at->items);
    at->first = at->item_count;
    for (int i = schedule_node_index(sch, at->loop) + 1; i < at->loop->end;) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (node->stmt->kind != STMT_BLOCK) {
            i++;
            continue;
        }
        i = node->end;
        const BlockStmt *block = node_block(node);
        bool reads = touches(block->reads, block->read_count, at->plan.buffer), writes = touches(block->writes, block->write_count, at->plan.buffer);
        int item = move_child_of(sch, at->loop, node);
        if (reads && item < at->first)
            at->first = item;
        if (writes) {
            last_writer = node;
            at->end = item + 1;
        }
        if (reads || writes)
            vec_push(sch->ctx->arena, &users, node);
    }
    at->users = users.data;
    at->user_count = users.count;
    if (at->writes) {
        at->first = 0;
        return last_writer || sched_refuse(sch, "no block in loop '%s' writes '%s'", node_name(at->loop), at->plan.buffer->name);
    }
    if (at->first == at->item_count)
        return sched_refuse(sch, "no block in loop '%s' reads '%s'", node_name(at->loop), at->plan.buffer->name);
    if (last_writer && at->end > at->first)
        return refuse_order(at, last_writer, "behind the place of the copy: write_at, or cache_inplace, makes a copy that is written");
    at->end = at->item_count;
    return true;
}

/* Keeps the users in the items that turn to the copy. */
static void keep_users(At *at)
{
    int kept = 0;
    for (int i = 0; i < at->user_count; i++) {
        int item = move_child_of(at->sch, at->loop, at->users[i]);
        if (item >= at->first && item < at->end)
            at->users[kept++] = at->users[i];
    }
    at->plan.users = at->users;
    at->plan.user_count = kept;
}

/* --- What is copied --- */

/* LOOP, at the loop of the copy or around it, runs as threads that share a buffer in STORAGE. */
static bool shares_storage(const ForStmt *loop, Str storage)
{
    if (!loop->thread)
        return false;
    if (!strncmp(storage, "warp", 4))
        return !strcmp(loop->thread, "threadIdx.x");
    return !strncmp(storage, "shared", 6) && strncmp(loop->thread, "blockIdx", 8) != 0;
}

/* The loops whose iterations one copy serves: those around the block at NODE below the loop of the copy, and threads that share the copy. */
static VarRange *served_loops(At *at, const TreeNode *node, int *count)
{
    int total;
    const TreeNode **loops = schedule_loops_around(at->sch, node, &total), **served = ARENA_ARRAY(at->sch->ctx->arena, const TreeNode *, total);
    *count = 0;
    for (int i = 0; i < total; i++)
        if ((loops[i] != at->loop && schedule_is_under(at->sch, loops[i], at->loop)) || shares_storage(node_loop(loops[i]), at->plan.storage))
            served[(*count)++] = loops[i];
    return loops_ranges(at->sch, served, *count);
}

/* Adds to SETS what the block at NODE declares of the buffer. */
static void add_regions(At *at, Analyzer *an, const TreeNode *node, IntSet *sets)
{
    const BlockStmt *block = node_block(node);
    const Region *regions = at->writes ? block->writes : block->reads;
    int count, ndim = at->plan.buffer->ndim;
    const VarRange *loops = served_loops(at, node, &count);
    IntSet *one = ARENA_ARRAY(at->sch->ctx->arena, IntSet, ndim);
    for (int r = 0; r < (at->writes ? block->write_count : block->read_count); r++) {
        if (regions[r].buffer != at->plan.buffer)
            continue;
        Region region = loops_bound_region(at->sch, node, regions[r]);
        RegionQuery query = {region.ranges, ndim, loops, count, NULL};
        region_upper_bound(an, &query, one);
        for (int d = 0; d < ndim; d++) {
            bool pure = expr_is_pure(region.ranges[d].min) && expr_is_pure(region.ranges[d].extent);
            sets[d] = int_set_union(an, sets[d], pure ? one[d] : int_set_everything());
        }
    }
}

/* RANGE, cut where it is not shown to stay in LIMITS, in one type; nothing of one that lies outside. */
static Range inside(Context *ctx, Analyzer *an, Range range, Range limits)
{
    int64_t length;
    const Expr *end = op_add(ctx, range.min, range.extent), *limit = op_add(ctx, limits.min, limits.extent);
    if (!analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, limits.min, range.min))) {
        range.min = op_max(ctx, range.min, limits.min);
        range.extent = op_sub(ctx, end, range.min);
    }
    if (!analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, end, limit)))
        range.extent = op_sub(ctx, op_min(ctx, end, limit), range.min);
    if (expr_const_int(analyzer_simplify(an, range.extent), &length) && length < 0)
        range.extent = expr_int(ctx, range.extent->dtype, 0);
    DType type = range.min->dtype.bits > range.extent->dtype.bits ? range.min->dtype : range.extent->dtype;
    return (Range){op_cast(ctx, type, range.min), op_cast(ctx, type, range.extent)};
}

/* What the block around declares to read of the buffer, which a copy must not leave; NULL where it declares nothing. What it also writes is
   its own. *KNOWN: it declares one region, whose place is not read from memory. */
static const Region *declared_around(At *at, bool *known)
{
    const BlockStmt *scope = node_block(at->plan.scope);
    const Region *declared = at->writes ? NULL : regions_find(scope->reads, scope->read_count, at->plan.buffer);
    *known = !declared || (!regions_repeat(scope->reads, scope->read_count, at->plan.buffer) &&
                           !regions_find(scope->writes, scope->write_count, at->plan.buffer));
    for (int d = 0; declared && d < at->plan.buffer->ndim; d++)
        *known &= expr_is_pure(declared->ranges[d].min) && expr_is_pure(declared->ranges[d].extent);
    return declared;
}

static bool find_region(At *at)
{
    bool known;
    const Region *declared = declared_around(at, &known);
    if (!known)
        return sched_refuse(at->sch, "block '%s' does not declare to read one region of '%s' at a known place, which the copy could keep to",
                            node_name(at->plan.scope), at->plan.buffer->name);
    Context *ctx = at->sch->ctx;
    int ndim = at->plan.buffer->ndim;
    Analyzer *an = analyzer_new(ctx), *within = loops_context(at->sch, at->plan.anchor), *running = NULL;
    IntSet *sets = ARENA_ARRAY(ctx->arena, IntSet, ndim);
    for (int d = 0; d < ndim; d++)
        sets[d] = int_set_nothing();
    for (int i = 0; i < at->plan.user_count; i++)
        add_regions(at, an, at->plan.users[i], sets);
    Region region = region_whole(ctx, at->plan.buffer);
    for (int d = 0; d < ndim; d++) {
        Range range = int_set_cover_range(an, sets[d], region.ranges[d]);
        range.min = loops_guard_divisors(at->sch, at->plan.anchor, &running, analyzer_simplify(an, range.min));
        range.extent = loops_guard_divisors(at->sch, at->plan.anchor, &running, range.extent);
        range = inside(ctx, within, range, region.ranges[d]);
        region.ranges[d] = declared ? inside(ctx, within, range, declared->ranges[d]) : range;
    }
    cache_copy_region(at->sch, &at->plan, region);
    return true;
}

/* --- The copying block --- */

/* Gives the block axes for the loops that EXPR mentions; AXES has their values. */
typedef struct {
    At *at;
    BlockStmt *block;
    Subst *axes;
} AxisSearch;

static bool find_axis(Visitor *visitor, const Expr *expr)
{
    AxisSearch *search = visitor->data;
    At *at = search->at;
    Context *ctx = at->sch->ctx;
    const TreeNode *loop = expr->kind == EXPR_VAR ? schedule_find_loop(at->sch, expr->value.var) : NULL;
    if (!loop || !schedule_is_under(at->sch, at->loop, loop))
        return true;
    BlockStmt *block = search->block;
    for (int i = 0; i < block->iter_count; i++)
        if (expr_is_var(block->bindings[i], expr->value.var))
            return true;
    Var *var = var_new(ctx, context_internf(ctx, "v%d", block->iter_count), expr->dtype, at->sch->call_span);
    block->iters[block->iter_count] = (Iter){var, {node_loop(loop)->min, node_loop(loop)->extent}, ITER_SPATIAL, at->sch->call_span};
    block->bindings[block->iter_count++] = expr;
    subst_var(ctx, search->axes, expr->value.var, expr_var(ctx, var));
    return true;
}

static const Stmt *make_copy(At *at, Block *symbol)
{
    Context *ctx = at->sch->ctx;
    const CachePlan *plan = &at->plan;
    int ndim = plan->buffer->ndim, loop_count = 0;
    for (const TreeNode *up = at->loop; up; up = schedule_parent(at->sch, up))
        loop_count += up->stmt->kind == STMT_FOR;
    BlockStmt block = {.block = symbol, .predicate = expr_bool(ctx, true), .read_count = 1, .write_count = 1};
    block.iters = ARENA_ARRAY(ctx->arena, Iter, loop_count);
    block.bindings = ARENA_ARRAY(ctx->arena, const Expr *, loop_count);
    Subst axes = {0};
    AxisSearch search = {at, &block, &axes};
    Visitor visitor = {.expr = find_axis, .data = &search};
    Region to = plan->region, from = plan->region;
    to.ranges = ARENA_ARRAY(ctx->arena, Range, ndim);
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, ndim);
    Var **loops = ARENA_ARRAY(ctx->arena, Var *, ndim);
    for (int d = 0; d < ndim; d++) {
        visit_expr(&visitor, plan->region.ranges[d].min);
        visit_expr(&visitor, plan->region.ranges[d].extent);
        Range range = {subst_expr(ctx, &axes, plan->region.ranges[d].min), subst_expr(ctx, &axes, plan->region.ranges[d].extent)};
        to.ranges[d] = range;
        loops[d] = var_new(ctx, context_internf(ctx, "ax%d", d), range.extent->dtype, at->sch->call_span);
        indices[d] = op_add(ctx, range.min, expr_var(ctx, loops[d]));
    }
    from.ranges = to.ranges;
    to.buffer = at->writes ? plan->buffer : plan->cache;
    from.buffer = at->writes ? plan->cache : plan->buffer;
    block.reads = arena_copy(ctx->arena, &from, sizeof from);
    block.writes = arena_copy(ctx->arena, &to, sizeof to);
    block.annotations = attrs_set(ctx, (Attrs){0}, context_intern(ctx, "auto_copy"), attr_bool(ctx, true));
    const Expr *value = expr_load(ctx, from.buffer, indices, ndim, NULL, at->sch->call_span);
    block.body = stmt_store(ctx, to.buffer, indices, ndim, value, NULL, at->sch->call_span);
    for (int d = ndim - 1; d >= 0; d--)
        block.body = loops_serial(ctx, loops[d], to.ranges[d].extent, block.body, at->sch->call_span);
    cache_declare_place_reads(ctx, &plan->region, &block);
    return stmt_block(ctx, block, at->sch->call_span);
}

/* --- Checks --- */

/* No statement or block that turns to the copy reads the buffer to find out whether, how often or where it runs. */
static bool check_users(At *at)
{
    Schedule *sch = at->sch;
    for (int i = 0; i < at->plan.user_count; i++) {
        const TreeNode *user = at->plan.users[i];
        if (!stmt_itself_uses_buffer(user->stmt, at->plan.buffer))
            continue;
        sched_refuse(sch, "block '%s' finds out by reading it whether or where it works in '%s'", node_name(user), at->plan.buffer->name);
        return sched_note_node(sch, user);
    }
    for (int i = 0; at->writes && i < at->plan.stray_count; i++) {
        if (!schedule_is_under(sch, at->plan.strays[i], at->loop))
            continue;
        sched_refuse(sch, "a statement of loop '%s' outside of the blocks reads '%s', which is still in the copy there", node_name(at->loop),
                     at->plan.buffer->name);
        sched_note(sch, at->plan.strays[i]->stmt->span, "this statement");
        return false;
    }
    return !at->writes || !loop_jump(at->loop) ||
           sched_refuse(sch, "loop '%s' may be left or continued before the copy back is made", node_name(at->loop));
}

/* Some block below NODE but outside of the loop at INNER writes BUFFER. */
static bool written_beside(Schedule *sch, const TreeNode *node, const TreeNode *inner, const Buffer *buffer)
{
    for (int i = schedule_node_index(sch, node); i < node->end; i++) {
        const TreeNode *below = schedule_node_at(sch, i);
        if (below == inner)
            i = inner->end - 1;
        else if (below->stmt->kind == STMT_BLOCK && touches(node_block(below)->writes, node_block(below)->write_count, buffer))
            return true;
    }
    return false;
}

/* Each read of the copy finds a value written before, in the same iteration of a loop. The loop is the first over one of VARS (COUNT) that shows
   this. */
static Answer copy_is_served(At *at, Var *const *vars, int count)
{
    Schedule *sch = at->sch;
    Context *ctx = sch->ctx;
    const Func *func = schedule_func(sch);
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    for (int i = 0; i < count; i++) {
        Answer answer = dependence_is_private(ctx, &accesses, &sizes, at->plan.cache->data, vars[i]);
        if (answer_is_shown(answer))
            return answer;
    }
    return answer_unknown("an element may be read of it that no write before covers");
}

/* The variables of the loop and of those around it in which nothing but the blocks of the loop writes the buffer. */
static Var **lone_loops(At *at, int *count)
{
    Schedule *sch = at->sch;
    VEC(Var *) vars = {0};
    for (const TreeNode *up = at->loop; up != at->plan.scope && !written_beside(sch, up, at->loop, at->plan.buffer); up = schedule_parent(sch, up))
        if (up->stmt->kind == STMT_FOR)
            vec_push(sch->ctx->arena, &vars, node_loop(up)->var);
    *count = vars.count;
    return vars.data;
}

/* --- The primitives --- */

static bool find_parts(At *at, const Value *args)
{
    Schedule *sch = at->sch;
    at->loop = schedule_loop(sch, args[0].as.loop);
    const TreeNode *block = at->loop ? schedule_block(sch, args[1].as.block) : NULL;
    int index = block ? query_buffer_index(sch, block, &args[2], at->writes) : -1;
    if (index < 0)
        return false;
    const BlockStmt *stmt = node_block(block);
    if (!cache_begin(sch, &at->plan, block, (at->writes ? stmt->writes : stmt->reads)[index].buffer, &args[3]))
        return false;
    if (schedule_scope(sch, at->loop) != at->plan.scope || at->loop->in_init) {
        sched_refuse(sch, "loop '%s' and block '%s' are not parts of the same block", node_name(at->loop), node_name(block));
        return sched_note_node(sch, at->loop);
    }
    if (!find_users(at))
        return false;
    at->plan.anchor = schedule_find_stmt(sch, at->items ? at->items[at->writes ? at->end - 1 : at->first] : node_loop(at->loop)->body);
    at->plan.after = at->writes;
    keep_users(at);
    return true;
}

static bool check_inits_fill_copy(At *at)
{
    for (int i = 0; at->writes && i < at->user_count; i++)
        if (!check_inits_set_reads(at->sch, at->users[i], at->plan.buffer))
            return false;
    return true;
}

static bool copy_at(Schedule *sch, const Value *args, bool writes, Value *result)
{
    At at = {.sch = sch, .writes = writes};
    if (!find_parts(&at, args) || !check_users(&at) || !check_no_fence(sch, &at.plan, at.loop) || !check_inits_find_copy(sch, &at.plan, at.loop) ||
        !check_inits_fill_copy(&at))
        return false;
    if (!find_region(&at) || !check_users_can_redirect(sch, &at.plan))
        return false;
    int count;
    const Var *loop = node_loop(at.loop)->var; /* what was private to an iteration below it may come to be read behind that */
    Var **vars = lone_loops(&at, &count);
    Block *symbol = block_new(sch->ctx, context_internf(sch->ctx, "%s_%s", at.plan.buffer->name, at.plan.storage), sch->call_span);
    cache_apply_copy(sch, &at.plan, make_copy(&at, symbol));
    if (writes)
        cache_tell_runs_apart(sch, symbol, 0);
    *result = value_block(symbol);
    Answer answer = writes ? copy_is_served(&at, vars, count) : answer_shown();
    if (!answer_is_shown(answer))
        return refuse_by_answer(sch, answer, "the copy of '%s' %s hold what has not been written to it", at.plan.buffer->name, would_or_may(answer));
    return (!writes || check_concurrent_loops_below(sch, schedule_find_loop(sch, loop))) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, symbol));
}

bool primitive_read_at(Schedule *sch, const Value *args, Value *result)
{
    return copy_at(sch, args, false, result);
}

bool primitive_write_at(Schedule *sch, const Value *args, Value *result)
{
    return copy_at(sch, args, true, result);
}
