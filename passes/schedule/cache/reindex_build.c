/* The checks and the edit of reindex and its like; see reindex.h. */
#include "passes/schedule/cache/reindex.h"

#include "passes/schedule/cache/cache.h"

#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/index_map.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/layout/layout.h"
#include "print/print.h"

/* --- The block's accesses --- */

typedef struct {
    const Buffer *buffer;
    const Expr *const *indices; /* of the first access */
    const Expr *other;          /* an index of another access that differs */
    bool found, written, conditional;
    int depth; /* of conditions and loops around, which may leave an access out */
} AccessSearch;

static void note_access(AccessSearch *search, const Expr *const *indices, int count)
{
    search->conditional |= search->depth > 0;
    for (int i = 0; search->found && i < count; i++)
        if (!expr_equal(search->indices[i], indices[i]))
            search->other = indices[i];
    if (!search->found)
        search->indices = indices;
    search->found = true;
}

static bool search_expr(Visitor *visitor, const Expr *expr)
{
    AccessSearch *search = visitor->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == search->buffer)
        note_access(search, expr->args, load_index_count(expr));
    if (!expr_is_call(expr, OP_IF_THEN_ELSE) && expr->kind != EXPR_AND && expr->kind != EXPR_OR)
        return true;
    visit_expr(visitor, expr->args[0]);
    search->depth++;
    for (int i = 1; i < expr->arg_count; i++)
        visit_expr(visitor, expr->args[i]);
    search->depth--;
    return false;
}

static bool may_leave_out(const Stmt *stmt)
{
    return stmt->kind == STMT_IF || stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE;
}

static bool search_stmt(Visitor *visitor, const Stmt *stmt)
{
    AccessSearch *search = visitor->data;
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer == search->buffer) {
        search->written = true;
        note_access(search, stmt->as.store.indices, stmt->as.store.index_count);
    }
    search->depth += may_leave_out(stmt);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    AccessSearch *search = visitor->data;
    search->depth -= may_leave_out(stmt);
}

static AccessSearch find_accesses(const Buffer *buffer, const BlockStmt *block)
{
    AccessSearch search = {.buffer = buffer};
    Visitor visitor = {.expr = search_expr, .stmt = search_stmt, .leave_stmt = leave_stmt, .data = &search};
    if (block->init)
        visit_stmt(&visitor, block->init);
    visit_stmt(&visitor, block->body);
    return search;
}

static bool refuse_access(const Reindex *reindex, const Expr *access, const char *what)
{
    sched_refuse(reindex->sch, "block '%s' %s", node_name(reindex->block), what);
    sched_note(reindex->sch, access && access->span.file ? access->span : reindex->block->stmt->span, "%s",
               access && access->span.file ? "the access is here" : "the block is here");
    return false;
}

static bool is_axis(const BlockStmt *block, const Var *var)
{
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].var == var)
            return true;
    return false;
}

typedef struct {
    const BlockStmt *block;
    const Var *other;
} VarSearch;

static bool find_other_var(Visitor *visitor, const Expr *expr)
{
    VarSearch *search = visitor->data;
    if (expr->kind == EXPR_VAR && !is_axis(search->block, expr->value.var))
        search->other = expr->value.var;
    return true;
}

/* The indices are pure and over axes of the block, and sizes. */
static bool check_indices(const Reindex *reindex, const Expr *const *indices)
{
    Map sizes = func_sizes(reindex->sch->ctx, schedule_func(reindex->sch));
    for (int i = 0; i < reindex->buffer->ndim; i++) {
        VarSearch search = {node_block(reindex->block), NULL};
        Visitor visitor = {.expr = find_other_var, .data = &search};
        visit_expr(&visitor, indices[i]);
        if ((search.other && !map_has(&sizes, search.other)) || !expr_is_pure(indices[i]))
            return refuse_access(reindex, indices[i], "accesses the buffer at indices that are no expressions of its axes alone");
    }
    return true;
}

static bool find_indices(Reindex *reindex)
{
    Schedule *sch = reindex->sch;
    const BlockStmt *block = node_block(reindex->block);
    AccessSearch search = find_accesses(reindex->buffer, block);
    if (!search.found)
        return refuse_access(reindex, NULL, "does not access the buffer itself");
    if (search.other)
        return refuse_access(reindex, search.other, "accesses the buffer at different indices");
    if (!reindex->writes && search.written)
        return refuse_access(reindex, NULL, "writes the buffer too, which a copy made before it does not follow");
    if (!check_indices(reindex, search.indices))
        return false;
    reindex->conditional = search.conditional;
    reindex->accessed = search.indices;
    Analyzer *an = analyzer_new(sch->ctx);
    for (int i = 0; i < block->iter_count; i++)
        analyzer_bind_range(an, block->iters[i].var, block->iters[i].domain);
    reindex->indices = ARENA_ARRAY(sch->ctx->arena, const Expr *, reindex->buffer->ndim);
    for (int i = 0; i < reindex->buffer->ndim; i++) {
        const Expr *index = search.indices[i], *simple = analyzer_simplify(an, index);
        reindex->indices[i] = simple->kind == EXPR_INT && index->kind == EXPR_VAR ? index : simple;
    }
    return true;
}

bool reindex_uses_axis(const Reindex *reindex, const Expr *const *indices, int count, int axis)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(indices[i], node_block(reindex->block)->iters[axis].var))
            return true;
    return false;
}

bool reindex_check_nest(const Reindex *reindex)
{
    Schedule *sch = reindex->sch;
    if (!reindex->shared)
        return true;
    sched_refuse(sch, "loop '%s' holds more than the block", node_name(reindex->loops[reindex->shared - 1]));
    return sched_note_node(sch, reindex->loops[reindex->shared - 1]);
}

/* Between the block and its scope are loops and sequences only. */
static bool check_path(const Reindex *reindex)
{
    for (const TreeNode *node = schedule_parent(reindex->sch, reindex->block); node != reindex->scope; node = schedule_parent(reindex->sch, node))
        if (node->stmt->kind != STMT_FOR && node->stmt->kind != STMT_SEQ)
            return sched_refuse(reindex->sch, "the nest of block '%s' stands in another statement of its scope", node_name(reindex->block));
    return true;
}

/* Beside the loops that hold just the block. */
static void place_beside_nest(Reindex *reindex)
{
    reindex->anchor = reindex->block;
    reindex->shared = reindex->loop_count;
    reindex->after = reindex->writes;
    while (reindex->shared && node_loop(reindex->loops[reindex->shared - 1])->body == reindex->anchor->stmt)
        reindex->anchor = reindex->loops[--reindex->shared];
}

/* The copy has a size: the domains of its axes are the same in all iterations of the loops. */
static bool check_domains(const Reindex *reindex)
{
    const BlockStmt *block = node_block(reindex->block);
    for (int i = 0; i < reindex->axis_count; i++) {
        const Iter *iter = &block->iters[reindex->axes[i]];
        for (int k = 0; k < reindex->loop_count; k++) {
            const Var *loop = node_loop(reindex->loops[k])->var;
            if (expr_uses_var(iter->domain.min, loop) || expr_uses_var(iter->domain.extent, loop))
                return sched_refuse(reindex->sch, "the domain of axis '%s' of block '%s' depends on loop '%s', so a copy over it has no size",
                                    iter->var->name, block->block->name, loop->name);
        }
    }
    return true;
}

bool reindex_begin(Schedule *sch, Reindex *reindex, const TreeNode *block, Buffer *buffer, bool writes)
{
    *reindex = (Reindex){.sch = sch, .block = block, .buffer = buffer, .writes = writes, .scope = schedule_scope(sch, block)};
    if (!reindex->scope)
        return sched_refuse(sch, "the root block stands in no scope that could allocate a buffer");
    reindex->loops = schedule_loops_around(sch, block, &reindex->loop_count);
    if (!check_path(reindex) || !check_buffer_is_accessed_by_elements(sch, buffer) || !find_indices(reindex))
        return false;
    place_beside_nest(reindex);
    int count = node_block(block)->iter_count;
    reindex->axes = ARENA_ARRAY(sch->ctx->arena, int, count);
    for (int i = 0; i < count; i++)
        if (reindex_uses_axis(reindex, reindex->indices, buffer->ndim, i))
            reindex->axes[reindex->axis_count++] = i;
    return check_domains(reindex);
}

/* --- What must hold --- */

static VarRange *axis_ranges(const Reindex *reindex)
{
    VarRange *ranges = ARENA_ARRAY(reindex->sch->ctx->arena, VarRange, reindex->axis_count);
    for (int i = 0; i < reindex->axis_count; i++) {
        const Iter *iter = &node_block(reindex->block)->iters[reindex->axes[i]];
        ranges[i] = (VarRange){iter->var, iter->domain};
    }
    return ranges;
}

const Expr *reindex_axis_end(const Reindex *reindex, const Iter *iter)
{
    int64_t start;
    if (expr_const_int(iter->domain.min, &start) && start >= 0)
        return analyzer_simplify(analyzer_new(reindex->sch->ctx), op_add(reindex->sch->ctx, iter->domain.min, iter->domain.extent));
    sched_refuse(reindex->sch, "axis '%s' of block '%s' may start below 0", iter->var->name, node_name(reindex->block));
    return NULL;
}

/* OUTPUTS take no two points of the axes, or between them and 0, to one, shown by their inverse. */
static bool is_injective(const Reindex *reindex, const Expr *const *outputs, int count)
{
    Context *ctx = reindex->sch->ctx;
    const VarRange *ranges = axis_ranges(reindex);
    IndexMap map = {reindex->axis_count, count, ARENA_ARRAY(ctx->arena, Var *, reindex->axis_count), (const Expr **)outputs, NULL, 0, NULL};
    const Expr **extents = ARENA_ARRAY(ctx->arena, const Expr *, reindex->axis_count), **shape = ARENA_ARRAY(ctx->arena, const Expr *, count);
    IndexInverse inverse;
    const char *why;
    for (int i = 0; i < reindex->axis_count; i++) {
        map.inputs[i] = ranges[i].var;
        extents[i] = reindex_axis_end(reindex, &node_block(reindex->block)->iters[reindex->axes[i]]);
        if (!extents[i])
            return false;
    }
    for (int i = 0; i < count; i++)
        shape[i] = expr_int(ctx, outputs[i]->dtype, dtype_max_int(outputs[i]->dtype)); /* padding does not matter */
    return index_map_invert(reindex->sch, &map, extents, shape, false, &inverse, &why);
}

typedef struct {
    const Reindex *reindex;
    Var **places; /* stand for the indices of the buffer */
} Places;

static const Expr *as_place(Rewriter *rewriter, const Expr *expr)
{
    const Places *places = rewriter->data;
    for (int i = 0; i < places->reindex->buffer->ndim; i++)
        if (expr->kind != EXPR_INT && expr_equal(expr, places->reindex->indices[i]))
            return expr_var(rewriter->ctx, places->places[i]);
    return rewrite_expr_children(rewriter, expr);
}

/* The new indices are an injective function of the old ones: the copy is the buffer in another layout. */
static bool is_layout(const Reindex *reindex)
{
    Context *ctx = reindex->sch->ctx;
    int ndim = reindex->buffer->ndim, count = reindex->copy->ndim;
    Places places = {reindex, ARENA_ARRAY(ctx->arena, Var *, ndim)};
    Rewriter rewriter = {.ctx = ctx, .expr = as_place, .data = &places};
    const Expr **outputs = ARENA_ARRAY(ctx->arena, const Expr *, count), **shape = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < ndim; i++)
        places.places[i] = var_new(ctx, context_intern(ctx, "at"), reindex->indices[i]->dtype, span_none());
    for (int i = 0; i < count; i++) {
        outputs[i] = rewrite_expr(&rewriter, reindex->new_indices[i]);
        shape[i] = expr_int(ctx, outputs[i]->dtype, dtype_max_int(outputs[i]->dtype));
        for (int k = 0; k < node_block(reindex->block)->iter_count; k++)
            if (expr_uses_var(outputs[i], node_block(reindex->block)->iters[k].var))
                return false;
    }
    IndexMap map = {ndim, count, places.places, outputs, NULL, 0, NULL};
    IndexInverse inverse;
    const char *why;
    return index_map_invert(reindex->sch, &map, reindex->buffer->shape, shape, false, &inverse, &why);
}

static Analyzer *axes_context(const Reindex *reindex)
{
    Analyzer *an = loops_context(reindex->sch, reindex->block);
    const VarRange *ranges = axis_ranges(reindex);
    for (int i = 0; i < reindex->axis_count; i++)
        analyzer_bind_range_opaque(an, ranges[i].var, ranges[i].range);
    return an;
}

static bool is_within(Context *ctx, Analyzer *an, const Expr *index, const Expr *min, const Expr *end)
{
    return analyzer_prove_less_equal(an, min, index) && analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LT, index, end));
}

/* An access at each point of the axes lies in the buffer. */
static bool stays_inside(const Reindex *reindex)
{
    Analyzer *an = axes_context(reindex);
    for (int d = 0; d < reindex->buffer->ndim; d++) {
        const Expr *index = reindex->indices[d], *zero = expr_int(reindex->sch->ctx, index->dtype, 0);
        if (!is_within(reindex->sch->ctx, an, index, zero, reindex->buffer->shape[d]))
            return false;
    }
    return true;
}

/* An access at each point of the axes lies in what the blocks around declare of the buffer; NULL, or the first one where it may not. */
static const BlockStmt *block_left(const Reindex *reindex)
{
    Context *ctx = reindex->sch->ctx;
    Analyzer *an = axes_context(reindex);
    for (const TreeNode *node = reindex->scope; node; node = schedule_parent(reindex->sch, node)) {
        const BlockStmt *block = node->stmt->kind == STMT_BLOCK ? node_block(node) : NULL;
        const Region *declared = block ? regions_find_only(block->reads, block->read_count, reindex->buffer) : NULL;
        for (int d = 0; declared && d < reindex->buffer->ndim; d++) {
            const Range *range = &declared->ranges[d];
            if (!is_within(ctx, an, reindex->indices[d], range->min, op_add(ctx, range->min, range->extent)))
                return block;
        }
    }
    return NULL;
}

static bool is_written(const Reindex *reindex)
{
    bool written = false;
    int count = schedule_node_count(reindex->sch);
    for (int i = 0; i < count; i++) {
        const Stmt *stmt = schedule_node_at(reindex->sch, i)->stmt;
        written |= stmt->kind == STMT_STORE && stmt->as.store.buffer == reindex->buffer;
    }
    return written;
}

/* The axes that the copy does not have certainly have values. */
static bool others_run(const Reindex *reindex)
{
    const BlockStmt *block = node_block(reindex->block);
    for (int i = 0, next = 0; i < block->iter_count; i++) {
        int64_t extent;
        if (next < reindex->axis_count && reindex->axes[next] == i)
            next++;
        else if (!expr_const_int(block->iters[i].domain.extent, &extent) || extent < 1)
            return false;
    }
    return true;
}

/* The copy reads what the block reads, or what is an element of an argument all the same. */
static bool check_copies_reads(const Reindex *reindex)
{
    Schedule *sch = reindex->sch;
    const Block *block = node_block(reindex->block)->block;
    bool runs = others_run(reindex) || stays_inside(reindex); /* where no value of the other axes is, the block reads nothing */
    if (!reindex->conditional && runs &&
        (!reindex->whole || answer_is_shown(dependence_runs_over_domain(sch->ctx, schedule_func(sch), block))))
        return true;
    const BlockStmt *around = block_left(reindex);
    if (around)
        return sched_refuse(sch, "the copy would read elements of '%s' that block '%s' around it does not declare", reindex->buffer->name,
                            around->block->name);
    if (func_is_argument(schedule_func(sch), reindex->buffer->data) && !is_written(reindex) && stays_inside(reindex))
        return true;
    return sched_refuse(sch, "the copy would read elements of '%s' that block '%s' does not read, and that may lie outside of it or have no value",
                        reindex->buffer->name, node_name(reindex->block));
}

static bool check_copies_writes(const Reindex *reindex)
{
    Schedule *sch = reindex->sch;
    const BlockStmt *block = node_block(reindex->block);
    for (int i = 0; i < reindex->axis_count; i++)
        if (block->iters[reindex->axes[i]].kind != ITER_SPATIAL)
            return sched_refuse(sch, "block '%s' writes '%s' at its axis '%s', which is not a spatial one", block->block->name,
                                reindex->buffer->name, block->iters[reindex->axes[i]].var->name);
    for (int i = 0; i < block->read_count; i++)
        if (block->reads[i].buffer == reindex->buffer && !block->init)
            return sched_refuse(sch, "block '%s' reads '%s' before it writes it, and a copy would not have that value", block->block->name,
                                reindex->buffer->name);
    if (cache_block_reads(sch, reindex->block, reindex->buffer) &&
        !answer_is_shown(dependence_reads_own_writes(sch->ctx, schedule_func(sch), block->block, reindex->buffer)))
        return sched_refuse(sch, "block '%s' reads '%s' before it writes it, and a copy would not have that value", block->block->name,
                            reindex->buffer->name);
    for (const TreeNode *node = reindex->block; node != reindex->scope; node = schedule_parent(sch, node))
        if (stmt_itself_uses_buffer(node->stmt, reindex->buffer))
            return sched_refuse(sch, "block '%s' finds out by reading it whether or where it works in '%s'", block->block->name,
                                reindex->buffer->name);
    if (!check_inits_set_reads(sch, reindex->block, reindex->buffer))
        return false;
    if (reindex->conditional)
        return sched_refuse(sch, "block '%s' writes '%s' under a condition or in a loop of its own, and the copy would hold no value elsewhere",
                            block->block->name, reindex->buffer->name);
    if (reindex->whole && !answer_is_shown(dependence_serves_all_points(sch->ctx, schedule_func(sch), block->block)))
        return sched_refuse(sch, "block '%s' does not run for all values of its axes, or that is not shown, and all would be copied",
                            block->block->name);
    return true;
}

bool reindex_check(const Reindex *reindex)
{
    Schedule *sch = reindex->sch;
    const TreeNode *from = reindex->at_start ? reindex->scope : reindex->after ? reindex->block : reindex->anchor;
    bool layout = is_layout(reindex);
    if (!check_no_fence_between(sch, reindex->buffer, reindex->writes, from, reindex->anchor, !reindex->writes || reindex->after))
        return false;
    if (!layout && !is_injective(reindex, reindex->new_indices, reindex->copy->ndim))
        return sched_refuse(sch, "two elements of '%s' would share a place of the copy, or it is not shown that they do not", reindex->buffer->name);
    if (!layout && reindex->writes && !is_injective(reindex, reindex->indices, reindex->buffer->ndim))
        return sched_refuse(sch, "block '%s' may write an element of '%s' at several values of its axes, of which the last one counts",
                            node_name(reindex->block), reindex->buffer->name);
    return reindex->writes ? check_inner_reduces_in_scope(sch, reindex->block) && check_copies_writes(reindex) : check_copies_reads(reindex);
}

/* --- The edit --- */

static const Expr *use_copy_expr(Rewriter *rewriter, const Expr *expr)
{
    const Reindex *reindex = rewriter->data;
    bool uses = expr->kind == EXPR_LOAD && expr->value.buffer == reindex->buffer;
    for (int i = 0; uses && i < reindex->buffer->ndim; i++)
        uses = expr_equal(expr->args[i], reindex->accessed[i]); /* a declared region may speak of another element */
    return uses ? expr_load(rewriter->ctx, reindex->copy, reindex->new_indices, reindex->copy->ndim, NULL, expr->span)
                : rewrite_expr_children(rewriter, expr);
}

static void use_copy_regions(const Reindex *reindex, Region **regions, int count)
{
    *regions = arena_copy(reindex->sch->ctx->arena, *regions, sizeof **regions * (size_t)count);
    for (int i = 0; i < count; i++)
        if ((*regions)[i].buffer == reindex->buffer)
            (*regions)[i] = region_point(reindex->sch->ctx, reindex->copy, reindex->new_indices);
}

static const Stmt *use_copy_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Reindex *reindex = rewriter->data;
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer == reindex->buffer)
        return stmt_store(rewriter->ctx, reindex->copy, reindex->new_indices, reindex->copy->ndim, stmt->as.store.value, NULL, stmt->span);
    if (stmt->kind != STMT_BLOCK)
        return stmt;
    BlockStmt block = stmt->as.block;
    use_copy_regions(reindex, &block.reads, block.read_count);
    use_copy_regions(reindex, &block.writes, block.write_count);
    return stmt_block(rewriter->ctx, block, stmt->span);
}

/* The block over the copy. What is read where the axes have no values yet, to enter the block, is that of the buffer. */
static const Stmt *block_over_copy(const Reindex *reindex)
{
    Context *ctx = reindex->sch->ctx;
    Rewriter rewriter = {.ctx = ctx, .expr = use_copy_expr, .stmt = use_copy_stmt, .data = (void *)reindex};
    BlockStmt block = *node_block(reindex->block);
    block.init = block.init ? rewrite_stmt(&rewriter, block.init) : NULL;
    block.body = rewrite_stmt(&rewriter, block.body);
    block.reads = rewrite_regions(&rewriter, block.reads, block.read_count);
    block.writes = rewrite_regions(&rewriter, block.writes, block.write_count);
    use_copy_regions(reindex, &block.reads, block.read_count);
    use_copy_regions(reindex, &block.writes, block.write_count);
    return stmt_block(ctx, block, reindex->block->stmt->span);
}

typedef struct {
    const Reindex *reindex;
    const Stmt *nest; /* the copy */
} Edit;

/* The block uses the copy, which stands beside the anchor. */
static const Stmt *edit_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Edit *edit = rewriter->data;
    const Reindex *reindex = edit->reindex;
    const Stmt *edited = stmt == reindex->block->stmt ? block_over_copy(reindex) : rewrite_stmt_children(rewriter, stmt);
    if (stmt != reindex->anchor->stmt || reindex->at_start)
        return edited;
    const Stmt *items[] = {reindex->after ? edited : edit->nest, reindex->after ? edit->nest : edited};
    return stmt_seq(rewriter->ctx, items, 2);
}

static const Expr **over_iters(const Reindex *reindex, const Iter *iters, const Expr *const *indices, int count)
{
    Context *ctx = reindex->sch->ctx;
    const Expr **result = ARENA_ARRAY(ctx->arena, const Expr *, count);
    Subst subst = {0};
    for (int i = 0; i < reindex->axis_count; i++)
        subst_var(ctx, &subst, node_block(reindex->block)->iters[reindex->axes[i]].var, expr_var(ctx, iters[i].var));
    for (int i = 0; i < count; i++)
        result[i] = subst_expr(ctx, &subst, indices[i]);
    return result;
}

bool reindex_apply(const Reindex *reindex, Str name, const Iter *iters, const Expr *const *bindings, const Expr *predicate,
                   const ForStmt *loops, int loop_count, Value *result)
{
    Schedule *sch = reindex->sch;
    Context *ctx = sch->ctx;
    Span span = sch->call_span;
    int ndim = reindex->buffer->ndim, copy_ndim = reindex->copy->ndim;
    const Expr **at = over_iters(reindex, iters, reindex->indices, ndim), **copy_at = over_iters(reindex, iters, reindex->new_indices, copy_ndim);
    Block *symbol = block_new(ctx, name, span);
    Region buffer_region = region_point(ctx, reindex->buffer, at), copy_region = region_point(ctx, reindex->copy, copy_at);
    BlockStmt block = {.block = symbol, .iter_count = reindex->axis_count, .predicate = predicate, .read_count = 1, .write_count = 1};
    block.iters = arena_copy(ctx->arena, iters, sizeof *iters * (size_t)reindex->axis_count);
    block.bindings = arena_copy(ctx->arena, bindings, sizeof *bindings * (size_t)reindex->axis_count);
    block.reads = arena_copy(ctx->arena, reindex->writes ? &copy_region : &buffer_region, sizeof(Region));
    block.writes = arena_copy(ctx->arena, reindex->writes ? &buffer_region : &copy_region, sizeof(Region));
    block.body = reindex->writes
                     ? stmt_store(ctx, reindex->buffer, at, ndim, expr_load(ctx, reindex->copy, copy_at, copy_ndim, NULL, span), NULL, span)
                     : stmt_store(ctx, reindex->copy, copy_at, copy_ndim, expr_load(ctx, reindex->buffer, at, ndim, NULL, span), NULL, span);
    const Stmt *nest = stmt_block(ctx, block, span);
    for (int i = loop_count - 1; i >= 0; i--)
        nest = stmt_for_serial(ctx, loops[i].var, loops[i].min, loops[i].extent, nest, span);

    const Block *accessing = node_block(reindex->block)->block;
    Edit edit = {reindex, nest};
    Rewriter rewriter = {.ctx = ctx, .stmt = edit_stmt, .data = &edit};
    const TreeNode *node = reindex->scope;
    BlockStmt allocating = *node_block(node);
    allocating.body = rewrite_stmt(&rewriter, allocating.body);
    allocating.allocs = ARENA_ARRAY(ctx->arena, Buffer *, allocating.alloc_count + 1);
    for (int i = 0; i < allocating.alloc_count; i++)
        allocating.allocs[i] = node_block(node)->allocs[i];
    allocating.allocs[allocating.alloc_count++] = reindex->copy;
    if (reindex->at_start)
        allocating.body = stmt_seq(ctx, (const Stmt *[]){nest, allocating.body}, 2);
    sched_replace(sch, node->stmt, stmt_block(ctx, allocating, node->stmt->span));
    *result = value_block(symbol);
    /* what the block wrote and nobody read is read by the copy */
    return check_concurrent_loops_around(sch, schedule_find_block(sch, symbol)) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, accessing));
}
