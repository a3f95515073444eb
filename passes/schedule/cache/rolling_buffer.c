/* rolling_buffer: a producer below a loop of its readers computes again what the iterations before have computed where their windows overlap. It
   keeps that instead: the buffer shrinks to one window, and its elements are found by their index modulo the window's length.

   Before, rolling_buffer("B", 0)               After
     for i in range(10):                          for i in range(10):
         for ax0 in range(3):                         for ax0 in range(3):
             with T.block("B"):                           with T.block("B"):
                 vi = T.axis.spatial(12, i + ax0)             vi = T.axis.opaque(12, i + ax0); T.where(i < 1 or 2 <= ax0)
                 B[vi] = ...                                  B[vi % 3] = ...
         ... B[i], B[i + 1], B[i + 2]                 ... B[i % 3], B[(i + 1) % 3], B[(i + 2) % 3]

   Why that is right, the questions being those of the model:
   - In each iteration of the common loops, those around the block and all readers, the block writes before all that is read there (asked). So what
     iterations k use of the buffer lies in the window of k, of E elements from a start that does not decrease with k and depends on nothing else
     below the loop. An element x that is used at k' <= k is no longer used at k once x + E may have been written, and x - E is written before x.
     So among the elements in use the index modulo E names one.
   - An instance that is left out has an instance with the same axes in an iteration before: asked of a program in which each iteration runs
     the block, with its new condition, for all values of the overlapping loops so far.
   - Both compute the same: different points write different elements, and what the block reads is not written below the outermost of these loops,
     or is itself computed anew in each iteration from such memory (asked of each writer).

   The last of several stages is rolled first: once the first one keeps values, it no longer computes anew what the next one reads. */
#include "passes/regions/infer_regions.h"
#include "ir/walk.h"
#include "passes/arith/int_set.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/core/storage.h"
#include "passes/schedule/layout/layout.h"

/* A dimension whose window moves with a loop by less than its length. */
typedef struct {
    int dim;
    const TreeNode *loop;
    int64_t length, overlap;
    const Expr *offset; /* where the block writes in the window, in terms of the loops around it */
} Window;

typedef struct {
    Schedule *sch;
    const TreeNode *block, *scope;
    Buffer *buffer, *rolled;
    const TreeNode **readers;
    int reader_count;
    const TreeNode **loops; /* around the block, outermost first */
    int loop_count, common; /* common of them are around all readers too */
    Window *windows;
    int window_count, rolling; /* the window that rolls: that of the outermost loop */
    const Expr *predicate;     /* of the block, afterwards */
} Rolling;

static bool refuse_at(const Rolling *rolling, const char *why)
{
    sched_refuse(rolling->sch, "block '%s' %s", node_name(rolling->block), why);
    return sched_note_node(rolling->sch, rolling->block);
}

/* --- The block and its readers --- */

/* A statement of the scope that lies in none of its blocks uses the buffer, or stores anything below the common loops. */
static bool check_no_strays(const Rolling *rolling)
{
    Schedule *sch = rolling->sch;
    for (int i = 0; i < schedule_node_count(sch); i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        bool simple = node->stmt->kind == STMT_STORE || node->stmt->kind == STMT_EVALUATE;
        if (node == rolling->scope || schedule_scope(sch, node) != rolling->scope)
            continue;
        if ((simple && (schedule_is_under(sch, node, rolling->loops[0]) || stmt_uses_buffer(node->stmt, rolling->buffer))) ||
            stmt_itself_uses_buffer(node->stmt, rolling->buffer)) {
            sched_refuse(sch, "a statement outside of the blocks may use '%s' or what it is computed from", rolling->buffer->name);
            sched_note(sch, node->stmt->span, "this statement");
            return false;
        }
    }
    return true;
}

static bool find_readers(Rolling *rolling)
{
    Schedule *sch = rolling->sch;
    int count;
    const TreeNode **readers = scope_readers(sch, rolling->scope, rolling->buffer, &count);
    rolling->readers = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, count);
    for (int i = 0; i < count; i++)
        if (readers[i] != rolling->block)
            rolling->readers[rolling->reader_count++] = readers[i];
    if (rolling->reader_count < count)
        return refuse_at(rolling, "reads what it writes, which must be computed from other buffers alone");
    if (!count)
        return sched_refuse(sch, "no block reads '%s' after block '%s'", rolling->buffer->name, node_name(rolling->block));
    rolling->loops = schedule_loops_around(sch, rolling->block, &rolling->loop_count);
    for (bool shared = true; shared && rolling->common < rolling->loop_count; rolling->common += shared)
        for (int i = 0; i < rolling->reader_count && shared; i++)
            shared = schedule_is_under(sch, rolling->readers[i], rolling->loops[rolling->common]);
    return rolling->common || refuse_at(rolling, "shares no loop with all that read what it writes: compute_at moves it below one");
}

/* --- The windows --- */

/* START is VAR, VAR * s or one of them // d: what it moves by from one iteration to the next, at most; else 0. */
static int64_t moves_by(const Expr *start, const Var *var)
{
    int64_t divisor = 1, factor = 1;
    if (start->kind == EXPR_FLOORDIV && expr_const_int(start->args[1], &divisor) && divisor > 0)
        start = start->args[0];
    if (start->kind == EXPR_MUL && expr_const_int(start->args[1], &factor))
        start = start->args[0];
    return expr_is_var(start, var) && factor > 0 && divisor > 0 ? (factor + divisor - 1) / divisor : 0;
}

typedef struct {
    const Buffer *buffer;
    int dim;
    const Expr *index;
    bool differs;
} IndexSearch;

static bool find_stored_index(Visitor *visitor, const Stmt *stmt)
{
    IndexSearch *search = visitor->data;
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer == search->buffer) {
        const Expr *index = stmt->as.store.indices[search->dim];
        search->differs |= search->index && !expr_equal(search->index, index);
        search->index = index;
    }
    return true;
}

/* The axis of the block that alone is the index of dimension DIM wherever it stores to the buffer; -1: there is none. */
static int stored_axis(const Rolling *rolling, int dim)
{
    const BlockStmt *block = node_block(rolling->block);
    IndexSearch search = {rolling->buffer, dim, NULL, false};
    Visitor visitor = {.stmt = find_stored_index, .data = &search};
    if (block->init)
        visit_stmt(&visitor, block->init);
    visit_stmt(&visitor, block->body);
    for (int i = 0; search.index && !search.differs && i < block->iter_count; i++)
        if (expr_is_var(search.index, block->iters[i].var))
            return i;
    return -1;
}

/* What the block writes in one iteration of the common loops, in terms of these. */
static Range *written_ranges(const Rolling *rolling, const Region *region, Analyzer *an)
{
    Schedule *sch = rolling->sch;
    int ndim = rolling->buffer->ndim, inner = rolling->loop_count - rolling->common;
    Region bound = loops_bound_region(sch, rolling->block, *region), whole = region_whole(sch->ctx, rolling->buffer);
    RegionQuery query = {bound.ranges, ndim, loops_ranges(sch, rolling->loops + rolling->common, inner), inner, NULL};
    IntSet *sets = ARENA_ARRAY(sch->ctx->arena, IntSet, ndim);
    Range *ranges = ARENA_ARRAY(sch->ctx->arena, Range, ndim);
    region_upper_bound(an, &query, sets);
    for (int d = 0; d < ndim; d++)
        ranges[d] = analyzer_simplify_range(an, int_set_cover_range(an, sets[d], whole.ranges[d]));
    return ranges;
}

/* Adds the window of dimension DIM, which the block fills with RANGE, where it overlaps that of the iteration before. */
static void add_window(Rolling *rolling, int dim, Range range, Analyzer *an)
{
    Context *ctx = rolling->sch->ctx;
    int axis = stored_axis(rolling, dim);
    int64_t length;
    for (int i = 0; axis >= 0 && expr_const_int(range.extent, &length) && i < rolling->common; i++) {
        const Var *var = node_loop(rolling->loops[i])->var;
        int64_t step = moves_by(range.min, var);
        if (!step || step >= length)
            continue;
        const Expr *zero = expr_int(ctx, var->dtype, 0);
        const Expr *offset = analyzer_simplify(an, subst_one(ctx, node_block(rolling->block)->bindings[axis], var, zero));
        rolling->windows[rolling->window_count++] = (Window){dim, rolling->loops[i], length, length - step, offset};
    }
}

static int loop_depth(const Rolling *rolling, const Window *window)
{
    int depth = 0;
    while (rolling->loops[depth] != window->loop)
        depth++;
    return depth;
}

static bool find_windows(Rolling *rolling, const Region *region)
{
    Schedule *sch = rolling->sch;
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    Range *ranges = written_ranges(rolling, region, an);
    rolling->windows = ARENA_ARRAY(ctx->arena, Window, rolling->buffer->ndim);
    for (int d = 0; d < rolling->buffer->ndim; d++)
        add_window(rolling, d, ranges[d], an);
    if (!rolling->window_count)
        return refuse_at(rolling, "writes in no iteration of the loops that it shares with its readers what it wrote in the one before, or that is not shown");
    rolling->predicate = node_block(rolling->block)->predicate;
    for (int i = 0; i < rolling->window_count; i++) {
        const Window *window = &rolling->windows[i];
        const Expr *var = expr_var(ctx, node_loop(window->loop)->var);
        if (!loop_starts_at_zero(sch, window->loop))
            return sched_refuse_node(sch, window->loop, "loop '%s' does not start at 0", node_name(window->loop));
        const Expr *first = op_compare(ctx, EXPR_LT, var, expr_int(ctx, var->dtype, 1));
        const Expr *added = op_compare(ctx, EXPR_LE, expr_int(ctx, window->offset->dtype, window->overlap), window->offset);
        rolling->predicate = analyzer_simplify(an, op_and(ctx, rolling->predicate, op_or(ctx, first, added)));
        if (loop_depth(rolling, window) < loop_depth(rolling, &rolling->windows[rolling->rolling]))
            rolling->rolling = i;
    }
    return true;
}

/* --- Legality --- */

static Answer serves_readers(const Rolling *rolling, const Func *func)
{
    Answer answer = answer_shown();
    for (int i = 0; i < rolling->reader_count && answer_is_shown(answer); i++)
        answer = dependence_serves_each_iteration(rolling->sch->ctx, func, node_block(rolling->block)->block, node_block(rolling->readers[i])->block,
                                                  rolling->buffer->data);
    return answer;
}

/* What BLOCK computes for the same axes is the same in all iterations of the loop that rolls. *CULPRIT: a block that may change what it reads. */
static bool computes_the_same(const Rolling *rolling, const TreeNode *block, const Var *own, const TreeNode **culprit)
{
    Schedule *sch = rolling->sch;
    Context *ctx = sch->ctx;
    const Func *func = schedule_func(sch);
    const Block *symbol = node_block(block)->block;
    const TreeNode *loop = rolling->windows[rolling->rolling].loop;
    Map read = dependence_read_data(ctx, func, symbol);
    int count;
    const TreeNode **members = schedule_child_blocks(sch, rolling->scope, &count);
    for (int i = 0; i < count; i++) {
        const BlockStmt *member = node_block(members[i]);
        if (members[i] == block || !schedule_is_under(sch, members[i], loop) ||
            answer_is_shown(dependence_memory_apart(ctx, func, symbol, member->block, own)))
            continue;
        *culprit = members[i];
        const Var *written = member->write_count == 1 ? member->writes[0].buffer->data : NULL;
        bool anew = written && written != own && map_has(&read, written) && !regions_find(member->reads, member->read_count, member->writes[0].buffer) &&
                    answer_is_shown(dependence_serves_each_iteration(ctx, func, member->block, symbol, written)) &&
                    answer_is_shown(dependence_points_apart(ctx, func, member)) && computes_the_same(rolling, members[i], written, culprit);
        if (!anew)
            return false;
    }
    return true;
}

/* OLD below STMT replaced by NEW. */
typedef struct {
    const Stmt *old_stmt, *new_stmt;
} Replacement;

static const Stmt *replace_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Replacement *replacement = rewriter->data;
    return stmt == replacement->old_stmt ? replacement->new_stmt : rewrite_stmt_children(rewriter, stmt);
}

static const Stmt *with_stmt(Context *ctx, const Stmt *stmt, const Stmt *old_stmt, const Stmt *new_stmt)
{
    Replacement replacement = {old_stmt, new_stmt};
    Rewriter rewriter = {.ctx = ctx, .stmt = replace_stmt, .data = &replacement};
    return rewrite_stmt(&rewriter, stmt);
}

/* The program in which each iteration of the common loops runs the block, with its new condition, for that and all earlier iterations of the
   windows' loops: what it has written by then. */
static const Func *with_all_so_far(const Rolling *rolling)
{
    Schedule *sch = rolling->sch;
    Context *ctx = sch->ctx;
    const TreeNode *part = rolling->block, *innermost = rolling->loops[rolling->common - 1];
    for (const TreeNode *up = schedule_parent(sch, part); up != innermost && !(up->stmt->kind == STMT_SEQ && schedule_parent(sch, up) == innermost);
         up = schedule_parent(sch, up))
        part = up;
    BlockStmt block = *node_block(rolling->block);
    block.predicate = rolling->predicate;
    const Stmt *nest = with_stmt(ctx, part->stmt, rolling->block->stmt, stmt_block(ctx, block, rolling->block->stmt->span));
    for (int i = 0; i < rolling->window_count; i++) {
        Var *var = node_loop(rolling->windows[i].loop)->var;
        if (!stmt_uses_var(nest, var))
            continue; /* of another window too */
        Var *earlier = var_clone(ctx, var, var->name);
        Subst subst = {0};
        subst_var(ctx, &subst, var, expr_var(ctx, earlier));
        nest = loops_serial(ctx, earlier, op_add_int(ctx, expr_var(ctx, var), 1), subst_stmt(ctx, &subst, nest), sch->call_span);
    }
    const Func *func = schedule_func(sch);
    return func_with_body(ctx, func, with_stmt(ctx, func->body, part->stmt, nest));
}

static bool check_rolls(const Rolling *rolling)
{
    Schedule *sch = rolling->sch;
    const Func *func = schedule_func(sch);
    const char *buffer = rolling->buffer->name, *name = node_name(rolling->block);
    Answer answer = serves_readers(rolling, func);
    if (!answer_is_shown(answer))
        return refuse_by_answer(sch, answer, "block '%s' %s leave out some of '%s' that is read in the same iteration", name, would_or_may(answer), buffer);
    answer = dependence_points_apart(sch->ctx, func, node_block(rolling->block));
    if (!answer_is_shown(answer))
        return refuse_by_answer(sch, answer, "block '%s' %s write an element of '%s' for several points", name, would_or_may(answer), buffer);
    const TreeNode *culprit = NULL;
    if (!computes_the_same(rolling, rolling->block, rolling->buffer->data, &culprit)) {
        sched_refuse(sch, "block '%s' may change what block '%s' reads between two iterations of loop '%s'",
                     node_name(culprit), name, node_name(rolling->windows[rolling->rolling].loop));
        return sched_note_node(sch, culprit);
    }
    answer = serves_readers(rolling, with_all_so_far(rolling));
    return answer_is_shown(answer) ||
           refuse_by_answer(sch, answer, "block '%s' %s leave out some of '%s' that no iteration before has computed", name, would_or_may(answer), buffer);
}

/* --- The edit --- */

static void roll_index(const Rolling *rolling, Context *ctx, const Expr **indices)
{
    const Window *window = &rolling->windows[rolling->rolling];
    indices[window->dim] = op_floormod(ctx, indices[window->dim], expr_int(ctx, indices[window->dim]->dtype, window->length));
}

static const Expr *roll_expr(Rewriter *rewriter, const Expr *expr)
{
    const Rolling *rolling = rewriter->data;
    expr = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || expr->value.buffer != rolling->buffer)
        return expr;
    const Expr **indices = arena_copy(rewriter->ctx->arena, expr->args, sizeof *expr->args * (size_t)rolling->buffer->ndim);
    roll_index(rolling, rewriter->ctx, indices);
    return expr_load(rewriter->ctx, rolling->rolled, indices, rolling->buffer->ndim, NULL, expr->span);
}

/* Puts what is INFERRED of the rolled buffer in the place of the old one. */
static Region *rolled_regions(const Rolling *rolling, const Region *regions, int count, const Region *inferred, int inferred_count)
{
    Region *result = arena_copy(rolling->sch->ctx->arena, regions, sizeof *regions * (size_t)count);
    const Region *found = regions_find(inferred, inferred_count, rolling->rolled);
    for (int i = 0; i < count; i++)
        if (result[i].buffer == rolling->buffer)
            result[i] = found ? *found : region_whole(rolling->sch->ctx, rolling->rolled);
    return result;
}

/* Instances that follow one another along the window come to depend on their order. */
static void order_axes(const Rolling *rolling, BlockStmt *block)
{
    const Var *var = node_loop(rolling->windows[rolling->rolling].loop)->var;
    block->iters = arena_copy(rolling->sch->ctx->arena, block->iters, sizeof *block->iters * (size_t)block->iter_count);
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_SPATIAL && expr_uses_var(block->bindings[i], var))
            block->iters[i].kind = ITER_OPAQUE;
}

static const Stmt *roll_block(Rewriter *rewriter, const Stmt *stmt)
{
    const Rolling *rolling = rewriter->data;
    BlockStmt block = rewrite_stmt_children(rewriter, stmt)->as.block;
    Map no_buffers = {0};
    BlockRegions inferred = infer_block_regions(rewriter->ctx, &block, &no_buffers);
    block.reads = rolled_regions(rolling, block.reads, block.read_count, inferred.reads, inferred.read_count);
    block.writes = rolled_regions(rolling, block.writes, block.write_count, inferred.writes, inferred.write_count);
    order_axes(rolling, &block);
    if (stmt == rolling->block->stmt)
        block.predicate = rolling->predicate;
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static const Stmt *roll_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Rolling *rolling = rewriter->data;
    if (stmt->kind == STMT_BLOCK)
        return stmt_uses_buffer(stmt, rolling->buffer) ? roll_block(rewriter, stmt) : stmt;
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_STORE || stmt->as.store.buffer != rolling->buffer)
        return stmt;
    const Expr **indices = arena_copy(rewriter->ctx->arena, stmt->as.store.indices, sizeof *indices * (size_t)rolling->buffer->ndim);
    roll_index(rolling, rewriter->ctx, indices);
    return stmt_store(rewriter->ctx, rolling->rolled, indices, rolling->buffer->ndim, stmt->as.store.value, NULL, stmt->span);
}

static void apply(Rolling *rolling)
{
    Schedule *sch = rolling->sch;
    Context *ctx = sch->ctx;
    const Window *window = &rolling->windows[rolling->rolling];
    rolling->rolled = buffer_clone_fresh(ctx, rolling->buffer, rolling->buffer->name, rolling->buffer->scope);
    rolling->rolled->shape = arena_copy(ctx->arena, rolling->buffer->shape, sizeof *rolling->buffer->shape * (size_t)rolling->buffer->ndim);
    rolling->rolled->shape[window->dim] = expr_int(ctx, rolling->buffer->shape[window->dim]->dtype, window->length);
    Rewriter rewriter = {.ctx = ctx, .expr = roll_expr, .stmt = roll_stmt, .data = rolling};
    BlockStmt scope = *node_block(rolling->scope);
    scope.body = rewrite_stmt(&rewriter, scope.body);
    scope.allocs = arena_copy(ctx->arena, scope.allocs, sizeof *scope.allocs * (size_t)scope.alloc_count);
    for (int i = 0; i < scope.alloc_count; i++)
        if (scope.allocs[i] == rolling->buffer)
            scope.allocs[i] = rolling->rolled;
    sched_replace(sch, rolling->scope->stmt, stmt_block(ctx, scope, rolling->scope->stmt->span));
}

bool primitive_rolling_buffer(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block && check_block_has_scope(sch, block) ? query_buffer_index(sch, block, &args[1], true) : -1;
    if (index < 0)
        return false;
    const Region *region = &node_block(block)->writes[index];
    Rolling rolling = {.sch = sch, .block = block, .scope = schedule_scope(sch, block), .buffer = region->buffer};
    const TreeNode *site = check_allocation_site(sch, block, rolling.buffer);
    if (!site || !check_buffer_is_accessed_by_elements(sch, rolling.buffer) || !check_block_is_only_writer(sch, block))
        return false;
    if (site != rolling.scope)
        return refuse_at(&rolling, "writes a buffer that is not allocated by the block right around it");
    if (!find_readers(&rolling) || !check_no_strays(&rolling) || !find_windows(&rolling, region) || !check_rolls(&rolling))
        return false;
    const Block *symbol = node_block(block)->block, *reader = node_block(rolling.readers[0])->block;
    apply(&rolling);
    return check_concurrent_loops_around(sch, schedule_find_block(sch, symbol)) && check_concurrent_loops_around(sch, schedule_find_block(sch, reader));
}
