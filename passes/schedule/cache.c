/* Planning a cache: which blocks are concerned, where the copy stands, what it copies, and the checks on it. See cache.h; cache_build.c makes the edit. */
#include "passes/schedule/cache.h"

#include "ir/print.h"
#include "ir/walk.h"
#include "passes/arith/int_set.h"
#include "passes/schedule/checks.h"
#include "passes/schedule/loops.h"
#include "passes/schedule/scope.h"
#include "passes/schedule/storage.h"

static const char *block_name(const TreeNode *node)
{
    return node_block(node)->block->name;
}

/* --- Who is concerned --- */

static bool names_buffer(const BlockStmt *block, const Buffer *buffer)
{
    for (int i = 0; i < block->alloc_count; i++)
        if (block->allocs[i] == buffer)
            return true;
    for (int i = 0; i < block->match_count; i++)
        if (block->matches[i].target == buffer)
            return true;
    return false;
}

/* BUFFER exists in all of the scope: it is a parameter, or SCOPE or a block around it makes it. */
static bool check_buffer_is_outside(Schedule *sch, const TreeNode *scope, const Buffer *buffer)
{
    const Func *func = schedule_func(sch);
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer)
            return true;
    for (const TreeNode *up = scope; up; up = schedule_scope(sch, up))
        if (names_buffer(node_block(up), buffer))
            return true;
    sched_refuse(sch, "buffer '%s' is declared inside of block '%s', which is to hold its copy", buffer->name, block_name(scope));
    sched_note(sch, buffer->span.file ? buffer->span : scope->stmt->span, "declared here");
    return false;
}

/* Looks for another buffer over the same memory. */
typedef struct {
    const Buffer *buffer, *alias;
} AliasSearch;

static void compare_memory(AliasSearch *search, const Buffer *used)
{
    if (used->data == search->buffer->data && used != search->buffer)
        search->alias = used;
}

static bool find_alias_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        compare_memory(visitor->data, expr->value.buffer);
    return true;
}

static bool find_alias_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_STORE)
        compare_memory(visitor->data, stmt->as.store.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        compare_memory(visitor->data, stmt->as.block.matches[i].source.buffer);
    return true;
}

static bool check_no_alias(Schedule *sch, const TreeNode *scope, const Buffer *buffer)
{
    AliasSearch search = {.buffer = buffer};
    Visitor visitor = {.expr = find_alias_in_expr, .stmt = find_alias_in_stmt, .data = &search};
    visit_stmt(&visitor, scope->stmt);
    return !search.alias || sched_refuse(sch, "buffer '%s' shares its memory with buffer '%s', so a copy of one alone would miss what happens to the other", buffer->name,
                                         search.alias->name);
}

bool cache_begin(Schedule *sch, CachePlan *plan, const TreeNode *block, const Buffer *buffer, Str storage)
{
    if (!check_storage_scope(sch, storage) || !check_block_has_scope(sch, block))
        return false;
    *plan = (CachePlan){.buffer = (Buffer *)buffer, .storage = storage, .scope = schedule_scope(sch, block)};
    return check_buffer_is_outside(sch, plan->scope, buffer) && check_no_alias(sch, plan->scope, buffer);
}

bool cache_find_writer(Schedule *sch, CachePlan *plan)
{
    int count;
    const TreeNode **writers = scope_writers(sch, plan->scope, plan->buffer, &count);
    plan->writer = count ? writers[0] : NULL;
    if (count <= 1)
        return true;
    sched_refuse(sch, "buffer '%s' is written by %d blocks, and only one may write it", plan->buffer->name, count);
    for (int i = 0; i < count; i++)
        sched_note(sch, writers[i]->stmt->span, "block '%s' writes '%s'", block_name(writers[i]), plan->buffer->name);
    return false;
}

bool cache_listed_consumers(Schedule *sch, const CachePlan *plan, const Value *value, const TreeNode ***nodes, int *count)
{
    *count = 0;
    if (value->kind == VALUE_NONE)
        return true;
    *nodes = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, value->as.list->count);
    for (int i = 0; i < value->as.list->count; i++) {
        const TreeNode *node = schedule_block(sch, value->as.list->items[i].as.block);
        if (!node)
            return false;
        if (node->in_init || schedule_scope(sch, node) != plan->scope) {
            sched_refuse(sch, "consumer '%s' is not directly inside of block '%s', which is to hold the copy", block_name(node), block_name(plan->scope));
            sched_note(sch, node->stmt->span, "block '%s' is here", block_name(node));
            return false;
        }
        bool repeated = false;
        for (int j = 0; j < *count; j++)
            repeated |= (*nodes)[j] == node;
        if (!repeated)
            (*nodes)[(*count)++] = node;
    }
    return true;
}

/* --- Where --- */

bool cache_place_behind_writer(Schedule *sch, CachePlan *plan, const TreeNode *const *related, int count)
{
    const TreeNode *first = NULL;
    for (int i = 0; i < count; i++)
        if (!first || related[i] < first)
            first = related[i]; /* nodes lie in program order */
    plan->later = first;
    if (!first) {
        plan->anchor = schedule_find_stmt(sch, node_block(plan->scope)->body);
        plan->after = true;
        return true;
    }
    const TreeNode *anchor = first, *parent = schedule_parent(sch, anchor);
    while (!schedule_is_under(sch, plan->writer, parent)) {
        anchor = parent;
        parent = schedule_parent(sch, anchor);
    }
    plan->anchor = anchor;
    if (parent->stmt->kind == STMT_SEQ && first > plan->writer)
        return true;
    sched_refuse(sch, "block '%s' does not come after block '%s', which writes '%s', in one sequence", block_name(first), block_name(plan->writer), plan->buffer->name);
    sched_note(sch, plan->writer->stmt->span, "block '%s' is here", block_name(plan->writer));
    sched_note(sch, first->stmt->span, "block '%s' is here", block_name(first));
    return false;
}

void cache_place_at_start(Schedule *sch, CachePlan *plan)
{
    plan->anchor = schedule_find_stmt(sch, node_block(plan->scope)->body);
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
    plan->guarded = ARENA_ARRAY(sch->ctx->arena, bool, buffer->ndim);
    plan->any_guarded = false;
    for (int d = 0; d < buffer->ndim; d++) {
        Range range = plan->region.ranges[d];
        const Expr *zero = expr_int(sch->ctx, range.min->dtype, 0);
        bool inside = analyzer_prove_symbolic(an, op_compare(sch->ctx, EXPR_LE, zero, range.min)) &&
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

/* Settles the shape of the cache: that of the region where the copy stands directly in the scope. */
static void make_cache(Schedule *sch, CachePlan *plan)
{
    Buffer *cache = storage_copy(sch->ctx, plan->buffer, plan->storage);
    plan->whole = around_anchor(sch, plan) != plan->scope || is_all_of_buffer(sch, &plan->region);
    if (cache->strides || !expr_is_int(cache->elem_offset, 0)) {
        /* the memory is the cache's own, so it is compact whatever the layout of the buffer */
        cache->strides = NULL;
        cache->elem_offset = expr_int(sch->ctx, buffer_index_dtype(cache), 0);
        cache->offset_factor = 0;
    }
    if (!plan->whole) {
        cache->shape = ARENA_ARRAY(sch->ctx->arena, const Expr *, cache->ndim);
        for (int d = 0; d < cache->ndim; d++)
            cache->shape[d] = plan->region.ranges[d].extent;
    }
    plan->cache = cache;
    find_guards(sch, plan);
}

/* The loops around the writer that are below NODE, outermost first. */
static const TreeNode **writer_loops_below(Schedule *sch, const CachePlan *plan, const TreeNode *node, int *count)
{
    int total, first = 0;
    const TreeNode **loops = schedule_loops_around(sch, plan->writer, &total);
    while (first < total && schedule_is_under(sch, node, loops[first]))
        first++;
    *count = total - first;
    return loops + first;
}

/* What the writer declares to write, with its bindings put in, over the loops below the anchor's surroundings. */
static RegionQuery writer_query(Schedule *sch, const CachePlan *plan)
{
    const BlockStmt *block = node_block(plan->writer);
    Subst bindings = {0};
    for (int i = 0; i < block->iter_count; i++)
        subst_var(sch->ctx, &bindings, block->iters[i].var, block->bindings[i]);
    Region written = subst_region(sch->ctx, &bindings, *regions_find(block->writes, block->write_count, plan->buffer));
    int loop_count;
    const TreeNode **loops = writer_loops_below(sch, plan, around_anchor(sch, plan), &loop_count);
    return (RegionQuery){written.ranges, plan->buffer->ndim, loops_ranges(sch, loops, loop_count), loop_count, block->predicate};
}

void cache_copy_written(Schedule *sch, CachePlan *plan)
{
    int ndim = plan->buffer->ndim;
    RegionQuery query = writer_query(sch, plan);
    Analyzer *an = analyzer_new(sch->ctx);
    IntSet *sets = ARENA_ARRAY(sch->ctx->arena, IntSet, ndim);
    region_upper_bound(an, &query, sets);
    plan->region = region_whole(sch->ctx, plan->buffer);
    for (int d = 0; d < ndim; d++) {
        Range *range = &plan->region.ranges[d];
        *range = int_set_cover_range(an, sets[d], *range);
        range->min = analyzer_simplify(an, range->min);
    }
    make_cache(sch, plan);
}

bool cache_copy_declared(Schedule *sch, CachePlan *plan)
{
    const BlockStmt *scope = node_block(plan->scope);
    const Region *declared = regions_find(scope->reads, scope->read_count, plan->buffer);
    if (regions_repeat(scope->reads, scope->read_count, plan->buffer)) {
        sched_refuse(sch, "block '%s' declares to read several regions of '%s', so there is no one region to copy", block_name(plan->scope), plan->buffer->name);
        sched_note(sch, plan->scope->stmt->span, "block '%s' is here", block_name(plan->scope));
        return false;
    }
    plan->region = declared ? *declared : region_whole(sch->ctx, plan->buffer);
    make_cache(sch, plan);
    return true;
}

/* --- Checks --- */

/* The writer's stores stand directly in it, without loops and conditions, and write just what it declares: then what is written is what the bindings reach. */
static bool writes_what_it_declares(Schedule *sch, const CachePlan *plan)
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

/* The copied region is the image of the writer's bindings, by iterator maps: what integer sets cannot decide where sizes multiply. */
static bool bindings_reach_all(Schedule *sch, const CachePlan *plan)
{
    const TreeNode *around = around_anchor(sch, plan);
    for (const TreeNode *up = schedule_parent(sch, plan->writer); up != around; up = schedule_parent(sch, up))
        if (up->stmt->kind != STMT_FOR && up->stmt->kind != STMT_SEQ)
            return false;
    RegionQuery query = writer_query(sch, plan);
    IntSet *sets = ARENA_ARRAY(sch->ctx->arena, IntSet, plan->buffer->ndim);
    return writes_what_it_declares(sch, plan) && region_strict_bound(analyzer_new(sch->ctx), &query, sets);
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

/* What of the writer's predicate can be asked at the anchor too; NULL when nothing. */
static const Expr *outer_condition(Schedule *sch, const CachePlan *plan)
{
    ConditionList parts = {0};
    const Expr *condition = NULL;
    loops_split_conjunction(sch->ctx, node_block(plan->writer)->predicate, &parts);
    for (int i = 0; i < parts.count; i++)
        if (!uses_inner_variable(sch, plan, parts.data[i]))
            condition = condition ? op_and(sch->ctx, condition, parts.data[i]) : parts.data[i];
    return condition;
}

static bool copy_is_written(Schedule *sch, const CachePlan *plan, const char **why)
{
    PlacedBox box = {.region = plan->region, .clipped = plan->any_guarded, .condition = plan->condition, .writer = plan->writer, .later = plan->later};
    return coverage_is_written(sch, &box, why);
}

bool check_copy_is_written(Schedule *sch, CachePlan *plan)
{
    const char *why, *ignored;
    if (copy_is_written(sch, plan, &why) || (!plan->any_guarded && bindings_reach_all(sch, plan)))
        return true;
    plan->condition = outer_condition(sch, plan);
    if (plan->condition && copy_is_written(sch, plan, &ignored))
        return true;
    sched_refuse(sch, "the copy would take %s%s, which block '%s' must write completely before: %s", print_region(sch->ctx, &plan->region),
                 plan->any_guarded ? " (as far as it is in the buffer)" : "", block_name(plan->writer), why);
    sched_note(sch, plan->writer->stmt->span, "block '%s' is here", block_name(plan->writer));
    return false;
}

/* The scope itself makes the buffer, so that nothing in it can be read but what its one writer wrote. */
static bool scope_allocates(const CachePlan *plan)
{
    const BlockStmt *scope = node_block(plan->scope);
    for (int i = 0; i < scope->alloc_count; i++)
        if (scope->allocs[i] == plan->buffer)
            return true;
    return false;
}

bool check_user_is_served(Schedule *sch, const CachePlan *plan, const TreeNode *user)
{
    const char *why;
    if (user > plan->writer && (scope_allocates(plan) || coverage_serves_reads(sch, plan->writer, plan->buffer, user, &why)))
        return true;
    if (user < plan->writer)
        sched_refuse(sch, "block '%s' would read the copy before block '%s' has written what it holds", block_name(user), block_name(plan->writer));
    else
        sched_refuse(sch, "block '%s' would read elements of '%s' that are not in the copy, since block '%s' does not write them before: %s", block_name(user),
                     plan->buffer->name, block_name(plan->writer), why);
    sched_note(sch, user->stmt->span, "block '%s' is here", block_name(user));
    return false;
}

/* Looks for uses of the buffer that cannot be redirected. */
typedef struct {
    const CachePlan *plan;
    const Buffer *view; /* a view in another storage scope */
    bool pointer;       /* the address is used */
} UseSearch;

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    UseSearch *search = visitor->data;
    search->pointer |= expr_is_var(expr, search->plan->buffer->data);
    return true;
}

static bool find_view(Visitor *visitor, const Stmt *stmt)
{
    UseSearch *search = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        const MatchBuffer *match = &stmt->as.block.matches[i];
        if (match->source.buffer == search->plan->buffer && match->target->scope != search->plan->cache->scope)
            search->view = match->target;
    }
    return true;
}

bool check_users_can_redirect(Schedule *sch, const CachePlan *plan)
{
    for (int i = 0; i < plan->user_count; i++) {
        UseSearch search = {.plan = plan};
        Visitor visitor = {.expr = find_pointer, .stmt = find_view, .data = &search};
        visit_stmt(&visitor, plan->users[i]->stmt);
        if (search.view)
            sched_refuse(sch, "block '%s' views '%s' through '%s', which says that it lies in \"%s\", not in \"%s\"", block_name(plan->users[i]), plan->buffer->name,
                         search.view->name, search.view->scope, plan->storage);
        else if (search.pointer && !plan->whole)
            sched_refuse(sch, "block '%s' uses the address of '%s', of which the copy would hold just a part", block_name(plan->users[i]), plan->buffer->name);
        else
            continue;
        sched_note(sch, plan->users[i]->stmt->span, "block '%s' is here", block_name(plan->users[i]));
        return false;
    }
    return true;
}
