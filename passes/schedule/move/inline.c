/* See inline.h. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/schedule/move/inline.h"

#include "passes/regions/complete.h"
#include "passes/regions/infer_regions.h"
#include "passes/analysis/model/access.h"
#include "passes/arith/iter_map.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/scope.h"

const Stmt *inline_single_store(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    if (block->init)
        sched_refuse(sch, "block '%s' has an init: only blocks that compute each element at once can be inlined", block->block->name);
    else if (block->body->kind != STMT_STORE || block->body->as.store.mask)
        sched_refuse(sch, "the body of block '%s' is not a single store: only such blocks can be inlined", block->block->name);
    else if (block->match_count || block->alloc_count)
        sched_refuse(sch, "block '%s' has buffers of its own: only blocks without any can be inlined", block->block->name);
    else
        return block->body;
    sched_note_node(sch, node);
    return NULL;
}

static int iter_at(const BlockStmt *block, const Expr *index)
{
    for (int i = 0; i < block->iter_count; i++)
        if (expr_is_var(index, block->iters[i].var))
            return i;
    return -1;
}

/* The usual case: every index is an iterator of its own, and other iterators have one value. */
static bool solve_plain(Context *ctx, const BlockStmt *block, const Expr *const *indices, const Expr *const *values, int count,
                        Subst *subst)
{
    for (int d = 0; d < count; d++) {
        int i = iter_at(block, indices[d]);
        if (i < 0 || map_has(&subst->vars, block->iters[i].var))
            return false;
        subst_var(ctx, subst, block->iters[i].var, op_cast(ctx, block->iters[i].var->dtype, values[d]));
    }
    for (int i = 0; i < block->iter_count; i++) {
        if (map_has(&subst->vars, block->iters[i].var))
            continue;
        if (!expr_is_int(block->iters[i].domain.extent, 1))
            return false;
        subst_var(ctx, subst, block->iters[i].var, block->iters[i].domain.min);
    }
    return true;
}

/* SUBST inverts the map from the iterators of BLOCK to INDICES, both ways: an instance whose indices have VALUES is the solution, and the
   solution has those indices, for all values of the iterators of RANGES that the values are made of. The solution may lie outside of the
   domain. */
static bool is_inverse(Context *ctx, const BlockStmt *block, const Expr *const *indices, const Expr *const *values, int count,
                       const Subst *subst, const BlockStmt *ranges)
{
    Analyzer *an = analyzer_new(ctx);
    Subst forth = *subst, back = {0};
    for (int i = 0; i < ranges->iter_count; i++)
        analyzer_bind_range_opaque(an, ranges->iters[i].var, ranges->iters[i].domain);
    for (int i = 0; i < block->iter_count; i++)
        analyzer_bind_range_opaque(an, block->iters[i].var, block->iters[i].domain);
    for (int d = 0; d < count; d++) {
        if (!analyzer_prove_equal(an, subst_expr(ctx, &forth, indices[d]), values[d]))
            return false;
        if (values[d]->kind == EXPR_VAR)
            subst_var(ctx, &back, values[d]->value.var, indices[d]);
        else if (values[d]->kind != EXPR_INT)
            return false;
    }
    for (int i = 0; i < block->iter_count; i++)
        if (!analyzer_prove_equal(an, subst_expr(ctx, &back, map_get(&forth.vars, block->iters[i].var)),
                                  expr_var(ctx, block->iters[i].var)))
            return false;
    return true;
}

bool inline_solve(Schedule *sch, const BlockStmt *block, const Expr *const *indices, const Expr *const *values, int count,
                  const BlockStmt *ranges, Subst *subst)
{
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    VarRange *iters = ARENA_ARRAY(ctx->arena, VarRange, block->iter_count);
    for (int i = 0; i < block->iter_count; i++)
        iters[i] = (VarRange){block->iters[i].var, block->iters[i].domain};
    if (solve_plain(ctx, block, indices, values, count, subst))
        return true;
    *subst = (Subst){0};
    IterMapQuery query = {indices, count, iters, block->iter_count, NULL, ITER_MAP_BIJECTIVE, true};
    IterMapResult map;
    bool bijective = iter_map_detect(an, &query, &map);
    query.level = ITER_MAP_NO_CHECK;
    if (!bijective && (!ranges || !iter_map_detect(an, &query, &map)))
        return false;
    subst->vars = iter_map_invert(an, &map, values);
    for (int i = 0; i < block->iter_count; i++) {
        const Expr *value = map_get(&subst->vars, block->iters[i].var);
        subst_var(ctx, subst, block->iters[i].var, value ? value : block->iters[i].domain.min);
    }
    return bijective || is_inverse(ctx, block, indices, values, count, subst, ranges);
}

bool inline_has_vectors(const Expr *const *indices, const Expr *const *values, int count)
{
    for (int d = 0; d < count; d++)
        if (indices[d]->dtype.lanes != 1 || values[d]->dtype.lanes != 1)
            return true;
    return false;
}

void inline_refuse_vectors(Schedule *sch, const Buffer *buffer, Span span)
{
    sched_refuse(sch, "'%s' is read or written as vectors, so that the instance of each of its elements is not told by indices", buffer->name);
    sched_note(sch, span, "an access is here");
}

/* BINDING, of an axis of the block at NODE, where only loops around it and the block at HOST give it its value: in terms of the spatial axes of
   HOST, of the loops themselves where it has no axes. NULL: other loops or lets take part, or no axis of HOST tells a loop. */
static const Expr *value_in_host(Schedule *sch, const TreeNode *node, const TreeNode *host, const Expr *binding)
{
    Context *ctx = sch->ctx;
    const BlockStmt *block = node_block(host);
    Subst axes = {0};
    for (const TreeNode *up = schedule_parent(sch, node); up && up->stmt->kind != STMT_BLOCK; up = schedule_parent(sch, up)) {
        const Var *var = up->stmt->kind == STMT_FOR ? node_loop(up)->var : up->stmt->kind == STMT_LET ? up->stmt->as.let.var : NULL;
        if (!var || !expr_uses_var(binding, var))
            continue;
        int i = 0;
        while (i < block->iter_count && !(block->iters[i].kind == ITER_SPATIAL && expr_is_var(block->bindings[i], var)))
            i++;
        bool untold = i == block->iter_count && i > 0; /* inside of a block with axes these alone stand for loops */
        if (up->stmt->kind != STMT_FOR || !schedule_is_under(sch, host, up) || untold)
            return NULL;
        const Var *told = i < block->iter_count ? block->iters[i].var : var;
        subst_var(ctx, &axes, (Var *)var, op_cast(ctx, var->dtype, expr_var(ctx, (Var *)told)));
    }
    return axes.vars.count ? subst_expr(ctx, &axes, binding) : NULL;
}

static bool any_uses_var(const Expr *const *indices, int count, const Var *var)
{
    for (int d = 0; d < count; d++)
        if (expr_uses_var(indices[d], var))
            return true;
    return false;
}

bool inline_solve_beside(Schedule *sch, const InlinePlace *place, const Expr *const *indices, const Expr *const *values, int count,
                         const BlockStmt *ranges, Subst *subst)
{
    const BlockStmt *block = node_block(place->node);
    if (inline_solve(sch, block, indices, values, count, ranges, subst))
        return true;
    BlockStmt named = *block; /* with those axes only that the indices tell */
    named.iters = ARENA_ARRAY(sch->ctx->arena, Iter, block->iter_count);
    named.iter_count = 0;
    Subst shared = {0};
    for (int i = 0; i < block->iter_count; i++) {
        bool told = any_uses_var(indices, count, block->iters[i].var) || expr_is_int(block->iters[i].domain.extent, 1);
        const Expr *value = told ? NULL : value_in_host(sch, place->node, place->host, block->bindings[i]);
        if (value)
            subst_var(sch->ctx, &shared, block->iters[i].var, op_cast(sch->ctx, block->iters[i].var->dtype, value));
        else
            named.iters[named.iter_count++] = block->iters[i];
    }
    *subst = (Subst){0};
    if (!shared.vars.count || !inline_solve(sch, &named, indices, values, count, ranges, subst) ||
        !answer_is_shown(dependence_serves_each_iteration(sch->ctx, schedule_func(sch), place->producer, place->consumer, place->data)))
        return false;
    for (int i = 0; i < shared.vars.count; i++)
        subst_var(sch->ctx, subst, (Var *)shared.vars.entries[i].key, shared.vars.entries[i].value);
    return true;
}

/* --- other users of the buffer --- */

typedef struct {
    const Buffer *buffer;
    const Expr *pointer; /* an access by pointer */
    const Buffer *view;  /* another buffer over its memory */
} UseSearch;

static bool search_expr(Visitor *visitor, const Expr *expr)
{
    UseSearch *search = visitor->data;
    if (expr_is_var(expr, search->buffer->data))
        search->pointer = expr;
    if (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD && expr->args[0]->value.buffer->data == search->buffer->data)
        search->pointer = expr;
    return expr->uses & symbol_bit(search->buffer->data->id);
}

static bool search_stmt(Visitor *visitor, const Stmt *stmt)
{
    UseSearch *search = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        if (stmt->as.block.matches[i].source.buffer->data == search->buffer->data)
            search->view = stmt->as.block.matches[i].target;
    if (stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer->data == search->buffer->data)
        search->view = stmt->as.declare.buffer;
    return true;
}

typedef struct {
    const Stmt *scope;
    const Buffer *buffer;
    const Expr *load;
} LooseSearch;

static bool search_loose_expr(Visitor *visitor, const Expr *expr)
{
    LooseSearch *search = visitor->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == search->buffer)
        search->load = expr;
    return !search->load;
}

static bool search_loose_stmt(Visitor *visitor, const Stmt *stmt)
{
    const LooseSearch *search = visitor->data;
    return stmt == search->scope || stmt->kind != STMT_BLOCK;
}

/* What SCOPE does between its blocks, as to find the extent of a loop, does not read BUFFER. */
static bool check_not_read_between_blocks(Schedule *sch, const TreeNode *scope, const Buffer *buffer)
{
    LooseSearch search = {scope->stmt, buffer, NULL};
    Visitor visitor = {.expr = search_loose_expr, .stmt = search_loose_stmt, .data = &search};
    visit_stmt(&visitor, scope->stmt);
    if (!search.load)
        return true;
    sched_refuse(sch, "buffer '%s' is read outside of the blocks that compute with it, so it must stay", buffer->name);
    sched_note(sch, search.load->span, "the read is here");
    return false;
}

typedef struct {
    const Buffer *buffer;
    const Stmt *stmt; /* has an annotation that names BUFFER */
} NameSearch;

static bool search_name(Visitor *visitor, const Stmt *stmt)
{
    NameSearch *search = visitor->data;
    Attrs attrs = stmt->kind == STMT_FOR ? stmt->as.loop.annotations : stmt->kind == STMT_BLOCK ? stmt->as.block.annotations : (Attrs){0};
    if (attrs_name_buffer(attrs, search->buffer))
        search->stmt = stmt;
    return !search->stmt;
}

bool inline_check_not_named(Schedule *sch, const Buffer *buffer)
{
    NameSearch search = {buffer, NULL};
    Visitor visitor = {.stmt = search_name, .data = &search};
    visit_stmt(&visitor, schedule_func(sch)->body);
    if (!search.stmt)
        return true;
    sched_refuse(sch, "buffer '%s' is named by an annotation, so it must stay; unannotate removes an annotation", buffer->name);
    sched_note(sch, search.stmt->span, "the annotation is here");
    return false;
}

bool inline_check_only_used_by(Schedule *sch, const TreeNode *scope, const Buffer *buffer, const TreeNode *const *allowed, int count)
{
    const Buffer *viewed = buffer_viewed(schedule_func(sch), buffer);
    if (viewed != buffer)
        return sched_refuse(sch, "buffer '%s' is a view of '%s', whose memory others may use, so it must stay", buffer->name, viewed->name);
    UseSearch search = {.buffer = buffer};
    Visitor visitor = {.expr = search_expr, .stmt = search_stmt, .data = &search};
    visit_stmt(&visitor, schedule_func(sch)->body);
    if (search.pointer || search.view) {
        sched_refuse(sch, "buffer '%s' is used through %s, so it must stay", buffer->name, search.pointer ? "a pointer" : "a view");
        sched_note(sch, search.pointer ? search.pointer->span : search.view->span, "%s is here", search.pointer ? "the pointer" : "the view");
        return false;
    }
    int members;
    const TreeNode **blocks = schedule_child_blocks(sch, scope, &members);
    for (int i = 0; i < members; i++) {
        bool known = false;
        for (int a = 0; a < count; a++)
            known |= blocks[i] == allowed[a];
        if (!known && stmt_uses_buffer(blocks[i]->stmt, buffer)) {
            sched_refuse(sch, "block '%s' uses '%s' too", node_block(blocks[i])->block->name, buffer->name);
            return sched_note_node(sch, blocks[i]);
        }
    }
    return check_not_read_between_blocks(sch, scope, buffer);
}

/* Nothing outside of the scope of the block at NODE touches BUFFER. */
static bool check_stays_in_scope(Schedule *sch, const TreeNode *node, const Buffer *buffer)
{
    const TreeNode *scope = schedule_scope(sch, node);
    AccessList accesses = access_collect(sch->ctx, schedule_func(sch));
    const Var *data = buffer_viewed(schedule_func(sch), buffer)->data;
    for (int i = 0; schedule_scope(sch, scope) && i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        const Frame *frame = access->data == data ? access->frame : NULL;
        while (frame && !(frame->kind == FRAME_BLOCK && frame->stmt == scope->stmt))
            frame = frame->outer;
        if (frame || access->data != data)
            continue;
        sched_refuse(sch, "buffer '%s' is used outside of block '%s', in which block '%s' is, so it must stay", buffer->name,
                     node_name(scope), node_name(node));
        sched_note(sch, access->span, "the use is here");
        return false;
    }
    return true;
}

static bool check_intermediate(Schedule *sch, const TreeNode *node, const Buffer *buffer, bool results_move)
{
    const Func *func = schedule_func(sch);
    const Buffer *viewed = buffer_viewed(func, buffer);
    for (int p = 0; p < func->param_count; p++)
        if (func->params[p].buffer && func->params[p].buffer->data == viewed->data && !results_move) {
            sched_refuse(sch, "block '%s' writes the parameter '%s', which must keep its value", node_name(node),
                         viewed->name);
            return sched_note_node(sch, node);
        }
    return check_stays_in_scope(sch, node, buffer);
}

bool inline_check_intermediate(Schedule *sch, const TreeNode *node, const Buffer *buffer)
{
    return check_intermediate(sch, node, buffer, false);
}

bool inline_check_moved_buffer(Schedule *sch, const TreeNode *node, const Buffer *buffer)
{
    return check_intermediate(sch, node, buffer, sch->results_may_move);
}

/* --- rebuilding --- */

static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

/* Regions of blocks that declare to touch a buffer that is gone are inferred anew, inner blocks first. Where a pointer leaves open what a
   block touches, what it declares of other buffers stays, and what is found is added. */
typedef struct {
    const Buffer *gone;
    Map buffers; /* data variable -> Buffer of all that is visible */
} Refresh;

static Region *refreshed_regions(Context *ctx, const Region *declared, int *count, const Buffer *gone, const Region *found, int found_count,
                                 bool opaque)
{
    Region *result = ARENA_ARRAY(ctx->arena, Region, *count + found_count);
    int kept = 0;
    for (int i = 0; opaque && i < *count; i++)
        if (declared[i].buffer != gone)
            result[kept++] = declared[i];
    for (int i = 0; i < found_count; i++)
        if (!regions_find(result, kept, found[i].buffer))
            result[kept++] = found[i];
    *count = kept;
    return result;
}

static const Stmt *refresh_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Refresh *refresh = rewriter->data;
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_BLOCK)
        return stmt;
    BlockStmt block = stmt->as.block;
    if (!regions_find(block.reads, block.read_count, refresh->gone) && !regions_find(block.writes, block.write_count, refresh->gone))
        return stmt;
    BlockRegions regions = infer_block_regions(rewriter->ctx, &block, &refresh->buffers);
    bool opaque = regions.opaque != NULL;
    block.reads = refreshed_regions(rewriter->ctx, block.reads, &block.read_count, refresh->gone, regions.reads, regions.read_count, opaque);
    block.writes = refreshed_regions(rewriter->ctx, block.writes, &block.write_count, refresh->gone, regions.writes, regions.write_count, opaque);
    return stmt_block(rewriter->ctx, block, stmt->span);
}

const Stmt *inline_refresh_regions(Schedule *sch, const Stmt *stmt, const Buffer *gone)
{
    Refresh refresh = {gone, func_buffers_by_data(sch->ctx, schedule_func(sch))};
    Rewriter rewriter = {.ctx = sch->ctx, .expr = keep_expr, .stmt = refresh_stmt, .data = &refresh};
    return rewrite_stmt(&rewriter, stmt);
}

typedef struct {
    const Stmt *scope, *removed;
    const Buffer *buffer;
    const Map *replace;
} Rebuild;

static const Stmt *rebuild_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Rebuild *rebuild = rewriter->data;
    if (stmt == rebuild->removed)
        return stmt_empty(rewriter->ctx);
    const Stmt *replacement = map_get(rebuild->replace, stmt);
    if (replacement)
        return replacement;
    return stmt->kind == STMT_BLOCK && stmt != rebuild->scope ? stmt : rewrite_stmt_children(rewriter, stmt);
}

const Stmt *inline_rebuild_scope(Schedule *sch, const TreeNode *scope, const TreeNode *node, const Buffer *buffer, const Map *replace)
{
    const TreeNode *removed = node;
    for (const TreeNode *parent = schedule_parent(sch, removed);
         parent != scope && parent->stmt->kind != STMT_SEQ && parent->stmt->kind != STMT_IF; parent = schedule_parent(sch, parent))
        removed = parent;
    Rebuild rebuild = {scope->stmt, removed->stmt, buffer, replace};
    Rewriter rewriter = {.ctx = sch->ctx, .expr = keep_expr, .stmt = rebuild_stmt, .data = &rebuild};
    const Stmt *stmt = rewrite_stmt(&rewriter, scope->stmt);
    BlockStmt block = stmt->as.block;
    Buffer **allocs = ARENA_ARRAY(sch->ctx->arena, Buffer *, block.alloc_count);
    int kept = 0;
    for (int i = 0; i < block.alloc_count; i++)
        if (block.allocs[i] != buffer)
            allocs[kept++] = block.allocs[i];
    block.allocs = allocs;
    block.alloc_count = kept;
    return stmt_block(sch->ctx, block, stmt->span);
}

/* --- what stands around the two blocks --- */

static bool find_effect(Visitor *visitor, const Expr *expr)
{
    if (expr_is_opaque_call(expr))
        visitor->data = (void *)expr;
    return !visitor->data;
}

bool inline_check_no_effects(Schedule *sch, const TreeNode *node, const Expr *value)
{
    Visitor visitor = {.expr = find_effect};
    visit_expr(&visitor, value);
    const Expr *call = visitor.data;
    if (!call)
        return true;
    sched_refuse(sch, "block '%s' calls a function that may have effects%s", node_name(node), expr_pure_way(call));
    sched_note(sch, call->span, "the call is here");
    return false;
}

int inline_common_loops(Schedule *sch, const TreeNode *a, const TreeNode *b)
{
    int count = 0;
    for (const TreeNode *up = schedule_parent(sch, a); up; up = schedule_parent(sch, up))
        count += (up->stmt->kind == STMT_FOR || up->stmt->kind == STMT_WHILE) && schedule_is_under(sch, b, up);
    return count;
}

LoopMembers inline_loop_members(Schedule *sch, const TreeNode *from, int common)
{
    LoopMembers found = {.sch = sch, .from = from};
    int count;
    const TreeNode **members = schedule_child_blocks(sch, schedule_scope(sch, from), &count);
    found.members = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, count);
    for (int i = 0; i < count; i++)
        if (members[i] != from && inline_common_loops(sch, members[i], from) > common)
            found.members[found.count++] = members[i];
    AccessList loose = access_collect_loose(sch->ctx, schedule_func(sch), node_block(schedule_scope(sch, from))->block);
    for (int i = 0; i < loose.count; i++) {
        found.fence |= loose.data[i].fence;
        if (loose.data[i].write && loose.data[i].data)
            map_set(sch->ctx->arena, &found.loose_writes, loose.data[i].data, loose.data[i].data);
    }
    return found;
}

bool inline_check_reads_in_time(Schedule *sch, const Block *block, int common, const Var *own)
{
    Answer answer = dependence_reads_in_time(sch->ctx, schedule_func(sch), block, common, own);
    return answer_is_shown(answer) ||
           refuse_by_answer(sch, answer, "block '%s' would overwrite what it still has to read for the other block", block->name);
}
