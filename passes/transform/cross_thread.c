/* Pass "lower_cross_thread_reduction": a reduction over threads becomes a call that combines what each thread has.

     for k in T.thread_binding(32, thread="threadIdx.x"):       for k in T.thread_binding(32, thread="threadIdx.x"):
         with T.block("B"):                                         with T.block("B_cross_thread"):
             vi, vk = T.axis.remap("SR", [i, k])                        vi, vk = T.axis.remap("SR", [i, k])
             with T.init():                                ->           T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [0]), "reduce_scope", 0)
                 B[vi] = 0                                              T.tvm_thread_allreduce(T.uint32(1), A[vi, vk], T.bool(True), cross_thread_B[0], k)
             B[vi] = B[vi] + A[vi, vk]                              with T.block("B_write_back"):
                                                                        vi = T.axis.spatial(32, i)
                                                                        T.where(k == 0)
                                                                        B[vi] = cross_thread_B[0]

   Where a thread has several updates, or none as a condition says, it combines its own first, in in_thread_B.

   Legality. The block is a reduction that is known to commute, from its neutral element on; its loops from the first one that it reduces over on are a
   nest of loops that only reduce. What is in global memory is written by one thread, so no other part of the kernel may read it. Shared and local
   memory is read in loops over the same threads alone. */
#include <string.h>

#include "passes/analysis/model/reduction.h"
#include "passes/transform/internal.h"

typedef VEC(const Stmt *) Loops;

typedef struct {
    Context *ctx;
    Loops around;      /* loops around what is visited */
    VEC(Buffer *) new; /* to be allocated by the block around */
    const Stmt *kernel; /* the outermost loop over threads around, or NULL */
    const Stmt *body;   /* of the function */
} CrossThread;

/* One reduction. */
typedef struct {
    CrossThread *pass;
    const Stmt *stmt; /* the block */
    const BlockStmt *block;
    const Reduction *reduction;
    Buffer *target, *cross, *own; /* OWN: in_thread_B, or NULL */
    Loops threads, serial;        /* the loops that it reduces over */
    const Expr *outside;          /* what its condition says of other loops than these */
} Lowering;

/* --- what is lowered --- */

static bool refuse(const Lowering *low, const char *why)
{
    diag_error(low->pass->ctx, low->stmt->span, "the reduction of block '%s' over threads cannot be lowered: %s", low->block->block->name, why);
    return false;
}

static bool reduces_over(const BlockStmt *block, const Stmt *loop)
{
    return block_binds_axis(block, false, loop->as.loop.var);
}

/* The loops of LOW, the last ones around; false after a diagnostic. */
static bool find_loops(Lowering *low)
{
    const Loops *around = &low->pass->around;
    Arena *arena = low->pass->ctx->arena;
    int first = 0;
    while (first < around->count && !reduces_over(low->block, around->data[first]))
        first++;
    for (int i = first; i < around->count; i++) {
        const Stmt *loop = around->data[i], *next = i + 1 < around->count ? around->data[i + 1] : low->stmt;
        bool thread = loop->as.loop.kind == FOR_THREAD;
        if (!block_only_reduces_over(low->block, loop->as.loop.var))
            return refuse(low, "a loop inside of its first one does not only reduce");
        if (loop->as.loop.body != next)
            return refuse(low, "something else stands in its loops");
        if (thread && strncmp(loop->as.loop.thread, "threadIdx", 9))
            return refuse(low, "it must reduce over loops that are bound to threadIdx alone");
        if (!thread && loop->as.loop.kind != FOR_SERIAL && loop->as.loop.kind != FOR_UNROLLED)
            return refuse(low, "the other loops that it reduces over must be serial or unrolled");
        vec_push(arena, thread ? &low->threads : &low->serial, loop);
    }
    return true;
}

/* A bound of one of the loops names another one of them. */
static bool loops_depend(const Lowering *low)
{
    bool depend = false;
    for (int i = 0; i < low->threads.count; i++) {
        const ForStmt *loop = &low->threads.data[i]->as.loop;
        for (int k = 0; k < low->serial.count; k++) {
            const Var *var = low->serial.data[k]->as.loop.var;
            depend |= expr_uses_var(loop->min, var) || expr_uses_var(loop->extent, var);
        }
        depend |= expr_reads_memory(loop->min) || expr_reads_memory(loop->extent);
    }
    return depend;
}

static bool names_loops(const Loops *loops, const Expr *expr)
{
    bool names = false;
    for (int i = 0; i < loops->count; i++)
        names |= expr_uses_var(expr, loops->data[i]->as.loop.var);
    return names;
}

/* Takes the condition apart. False after a diagnostic. */
static bool find_conditions(Lowering *low)
{
    Context *ctx = low->pass->ctx;
    ExprList parts = {0}, outside = {0};
    conjunction_split(ctx, low->block->predicate, &parts);
    for (int i = 0; i < parts.count; i++) {
        bool reduces = names_loops(&low->threads, parts.data[i]) || names_loops(&low->serial, parts.data[i]);
        for (int k = 0; reduces && k < low->pass->around.count; k++) {
            const Var *var = low->pass->around.data[k]->as.loop.var;
            if (expr_uses_var(parts.data[i], var) && block_binds_axis(low->block, true, var))
                return refuse(low, "a condition names loops of both kinds");
        }
        if (expr_reads_memory(parts.data[i]))
            return refuse(low, "a condition reads memory");
        if (!reduces)
            vec_push(ctx->arena, &outside, parts.data[i]);
    }
    low->outside = conjunction_join(ctx, &outside);
    return true;
}

static bool is_plain_kind(ReduceKind kind)
{
    return kind == REDUCE_SUM || kind == REDUCE_PRODUCT || kind == REDUCE_MIN || kind == REDUCE_MAX;
}

/* The block is one update of one element from its neutral element on. */
static bool has_form(Lowering *low)
{
    const BlockStmt *block = low->block;
    low->reduction = reduction_recognize(low->pass->ctx, block);
    const Reduction *reduction = low->reduction;
    const Stmt *init = block->init, *body = block->body;
    bool plain = reduction && reduction->target_count == 1 && is_plain_kind(reduction->kind) && !reduction->combines[0].widens &&
                 body->kind == STMT_STORE && init->kind == STMT_STORE && !body->as.store.mask && reduction_starts_targets(reduction, block);
    if (!plain || block->alloc_count || block->match_count)
        return refuse(low, "it is no plain sum, product, minimum or maximum of one element");
    low->target = reduction->targets[0];
    const Expr *identity = reduction_identity(low->pass->ctx, reduction->kind, low->target->dtype);
    return expr_equal(identity, init->as.store.value) || refuse(low, "its init is not the neutral element");
}

/* --- who reads the result --- */

/* Looks for statements that read the target, but for the block itself. */
typedef struct {
    const Lowering *low;
    int threads; /* loops over threads around what is visited that have the thread index of one that is reduced over */
    bool found;
} ReaderSearch;

/* The loops over one thread index may not be nested, so their number tells whether all indices are there. */
static bool is_outside_threads(const ReaderSearch *search)
{
    return search->threads < search->low->threads.count;
}

static bool has_thread_of_reduction(const Lowering *low, const Stmt *stmt)
{
    bool same = false;
    for (int i = 0; i < low->threads.count && stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD; i++)
        same |= !strcmp(low->threads.data[i]->as.loop.thread, stmt->as.loop.thread);
    return same;
}

static bool find_reader(Visitor *visitor, const Stmt *stmt)
{
    ReaderSearch *search = visitor->data;
    if (stmt == search->low->stmt)
        return false;
    if (!has_thread_of_reduction(search->low, stmt))
        return true;
    search->threads++;
    visit_stmt_children(visitor, stmt);
    search->threads--;
    return false;
}

static bool find_read(Visitor *visitor, const Expr *expr)
{
    ReaderSearch *search = visitor->data;
    const Var *data = search->low->target->data;
    bool reads = (expr->kind == EXPR_LOAD && expr->value.buffer->data == data) || expr_is_var(expr, data);
    search->found |= reads && (scope_class(search->low->target->scope) == SCOPE_GLOBAL || is_outside_threads(search));
    return true;
}

/* What one thread writes back to global memory, another statement of the kernel may not read; other memory lives as long as the threads, so nothing
   may read it outside of loops over them. */
static bool check_readers(const Lowering *low)
{
    ReaderSearch search = {low, 0, false};
    bool global = scope_class(low->target->scope) == SCOPE_GLOBAL;
    visit_stmt(&(Visitor){.expr = find_read, .stmt = find_reader, .data = &search}, global ? low->pass->kernel : low->pass->body);
    return !search.found || refuse(low, global ? "its result is in global memory, and other threads of the kernel read it; use memory in scope shared"
                                               : "its result is in memory of the threads, and a statement outside of their loops reads it");
}

/* --- the new blocks --- */

static Buffer *new_scratch(const Lowering *low, const char *prefix)
{
    Context *ctx = low->pass->ctx;
    const Expr *one = expr_int(ctx, DTYPE_INT32, 1);
    Str name = context_internf(ctx, "%s_%s", prefix, low->target->name);
    Buffer *buffer = buffer_new(ctx, name, low->target->dtype, 1, &one, context_intern(ctx, "local"), low->stmt->span);
    buffer->strides = arena_copy(ctx->arena, &one, sizeof one);
    vec_push(ctx->arena, &low->pass->new, buffer);
    return buffer;
}

static const Expr *load_scratch(Context *ctx, Buffer *buffer)
{
    const Expr *zero = expr_int(ctx, DTYPE_INT32, 0);
    return expr_load(ctx, buffer, &zero, 1, NULL, buffer->span);
}

static const Stmt *store_scratch(Context *ctx, Buffer *buffer, const Expr *value)
{
    const Expr *zero = expr_int(ctx, DTYPE_INT32, 0);
    return stmt_store(ctx, buffer, &zero, 1, value, NULL, buffer->span);
}

/* The element of BUFFER as a list of one region; NULL: an empty list. */
static Region *regions_of(Context *ctx, Buffer *buffer, int *count)
{
    const Expr *zero = expr_int(ctx, DTYPE_INT32, 0);
    *count = buffer != NULL;
    Region *regions = ARENA_ARRAY(ctx->arena, Region, 1);
    if (buffer)
        regions[0] = region_point(ctx, buffer, &zero);
    return regions;
}

/* A block without axes over BODY that reads and writes these elements. */
static BlockStmt scratch_block(const Lowering *low, const char *suffix, Buffer *read, Buffer *written, const Stmt *body)
{
    Context *ctx = low->pass->ctx;
    Str name = context_internf(ctx, "%s_%s", low->block->block->name, suffix);
    BlockStmt block = {.block = block_new(ctx, name, low->stmt->span), .predicate = expr_bool(ctx, true), .body = body};
    block.reads = regions_of(ctx, read, &block.read_count);
    block.writes = regions_of(ctx, written, &block.write_count);
    return block;
}

/* The axes of the block, SPATIAL alone or all, with fresh variables; SUBST replaces the old ones. */
static void give_axes(const Lowering *low, bool spatial, BlockStmt *block, Subst *subst)
{
    Context *ctx = low->pass->ctx;
    const BlockStmt *old = low->block;
    block->iters = ARENA_ARRAY(ctx->arena, Iter, old->iter_count);
    block->bindings = ARENA_ARRAY(ctx->arena, const Expr *, old->iter_count);
    for (int i = 0; i < old->iter_count; i++) {
        if (spatial && old->iters[i].kind == ITER_REDUCE)
            continue;
        Iter iter = old->iters[i];
        iter.var = var_clone(ctx, iter.var, iter.var->name);
        subst_var(ctx, subst, old->iters[i].var, expr_var(ctx, iter.var));
        block->bindings[block->iter_count] = old->bindings[i];
        block->iters[block->iter_count++] = iter;
    }
}

static void substitute_regions(Context *ctx, Subst *subst, Region *regions, int count)
{
    for (int i = 0; i < count; i++)
        regions[i] = subst_region(ctx, subst, regions[i]);
}

/* What the block reads besides its target, and MORE (NULL: nothing). */
static void give_reads(const Lowering *low, BlockStmt *block, Buffer *more)
{
    Context *ctx = low->pass->ctx;
    int count = 0, extra;
    Region *reads = ARENA_ARRAY(ctx->arena, Region, low->block->read_count + 1), *scratch = regions_of(ctx, more, &extra);
    for (int i = 0; i < low->block->read_count; i++)
        if (low->block->reads[i].buffer != low->target)
            reads[count++] = low->block->reads[i];
    if (extra)
        reads[count++] = scratch[0];
    block->reads = reads;
    block->read_count = count;
}

static const Expr *own_for_target(Rewriter *rewriter, const Expr *expr)
{
    const Lowering *low = rewriter->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == low->target)
        return load_scratch(rewriter->ctx, low->own);
    return rewrite_expr_children(rewriter, expr);
}

/* The updates of one thread, in its loops. */
static const Stmt *own_updates(Lowering *low)
{
    Context *ctx = low->pass->ctx;
    Rewriter rewriter = {.ctx = ctx, .expr = own_for_target, .data = low};
    const Expr *value = rewrite_expr(&rewriter, low->block->body->as.store.value);
    BlockStmt block = scratch_block(low, "in_thread", NULL, low->own, store_scratch(ctx, low->own, value));
    Subst subst = {0};
    give_axes(low, false, &block, &subst);
    give_reads(low, &block, low->own);
    substitute_regions(ctx, &subst, block.reads, block.read_count);
    block.body = subst_stmt(ctx, &subst, block.body);
    block.predicate = low->block->predicate;
    const Stmt *result = stmt_block(ctx, block, low->stmt->span);
    for (int i = low->serial.count - 1; i >= 0; i--)
        result = stmt_with_body(ctx, low->serial.data[i], result);
    return result;
}

static const Expr *tuple(Context *ctx, const Expr *value)
{
    return expr_call(ctx, DTYPE_HANDLE, OP_TVM_TUPLE, &value, 1, value->span);
}

/* T.comm_reducer(lambda x0, y0: x0 + y0, [identity]), as it is read. */
static const Expr *reducer(const Lowering *low)
{
    Context *ctx = low->pass->ctx;
    DType type = low->target->dtype;
    const Expr *identity = reduction_identity(ctx, low->reduction->kind, type);
    Var *x = var_new(ctx, context_intern(ctx, "x0"), type, low->stmt->span), *y = var_new(ctx, context_intern(ctx, "y0"), type, low->stmt->span);
    const Expr *result = reduction_combine(ctx, low->reduction, 0, expr_var(ctx, x), expr_var(ctx, y));
    const Expr *combiner = expr_let(ctx, x, identity, expr_let(ctx, y, identity, tuple(ctx, result)));
    const Expr *args[] = {combiner, tuple(ctx, identity)};
    return expr_call(ctx, DTYPE_HANDLE, OP_COMM_REDUCER, args, 2, low->stmt->span);
}

/* VALUE of all threads combined, in the scratch of each. */
static const Stmt *allreduce(const Lowering *low, const Expr *value)
{
    Context *ctx = low->pass->ctx;
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, 4 + low->threads.count);
    int count = 0;
    args[count++] = expr_int(ctx, DTYPE(DT_UINT, 32), 1);
    args[count++] = value;
    args[count++] = expr_bool(ctx, true);
    args[count++] = load_scratch(ctx, low->cross);
    for (int i = 0; i < low->threads.count; i++)
        args[count++] = expr_var(ctx, low->threads.data[i]->as.loop.var);
    Stmt attr = {.kind = STMT_ATTR, .span = low->stmt->span};
    attr.as.attr.node = reducer(low);
    attr.as.attr.key = context_intern(ctx, "reduce_scope");
    attr.as.attr.value = expr_int(ctx, DTYPE_INT32, 0);
    attr.as.attr.body = stmt_evaluate(ctx, expr_call(ctx, DTYPE_HANDLE, OP_TVM_THREAD_ALLREDUCE, args, count, low->stmt->span), low->stmt->span);
    return stmt_new(ctx, &attr);
}

static const Stmt *cross_block(const Lowering *low)
{
    Context *ctx = low->pass->ctx;
    if (low->own) {
        BlockStmt block = scratch_block(low, "cross_thread", low->own, low->cross, allreduce(low, load_scratch(ctx, low->own)));
        return stmt_block(ctx, block, low->stmt->span);
    }
    Subst subst = {0};
    BlockStmt block = scratch_block(low, "cross_thread", NULL, low->cross, allreduce(low, low->reduction->operands[0]));
    give_axes(low, false, &block, &subst);
    give_reads(low, &block, NULL);
    substitute_regions(ctx, &subst, block.reads, block.read_count);
    block.body = subst_stmt(ctx, &subst, block.body);
    return stmt_block(ctx, block, low->stmt->span);
}

/* BLOCK writes at the indices of the reduction's store: what these read is added to its reads. */
static void add_reads_of_indices(const Lowering *low, BlockStmt *block)
{
    Region *reads = ARENA_ARRAY(low->pass->ctx->arena, Region, block->read_count + low->block->read_count);
    const Stmt *store = low->block->body;
    for (int i = 0; i < block->read_count; i++)
        reads[i] = block->reads[i];
    for (int i = 0; i < low->block->read_count; i++) {
        bool used = false;
        for (int k = 0; k < store->as.store.index_count; k++)
            used |= expr_uses_buffer(store->as.store.indices[k], low->block->reads[i].buffer);
        const Region *read = &low->block->reads[i];
        if (used)
            reads[block->read_count++] = region_reduce_axis(read, low->block) ? region_whole(low->pass->ctx, read->buffer) : *read;
    }
    block->reads = reads;
}

/* Each thread writes into memory of its own; else the first one writes. */
static const Stmt *write_back(const Lowering *low)
{
    Context *ctx = low->pass->ctx;
    const Stmt *store = low->block->body;
    const Stmt *body = stmt_store(ctx, low->target, (const Expr *const *)store->as.store.indices, store->as.store.index_count,
                                  load_scratch(ctx, low->cross), NULL, store->span);
    BlockStmt block = scratch_block(low, "write_back", low->cross, NULL, body);
    Subst subst = {0};
    give_axes(low, true, &block, &subst);
    block.writes = arena_copy(ctx->arena, low->block->writes, (size_t)low->block->write_count * sizeof *block.writes);
    block.write_count = low->block->write_count;
    substitute_regions(ctx, &subst, block.writes, block.write_count);
    add_reads_of_indices(low, &block);
    substitute_regions(ctx, &subst, block.reads, block.read_count);
    block.body = subst_stmt(ctx, &subst, body);
    ExprList conditions = {0};
    for (int i = 0; scope_class(low->target->scope) != SCOPE_LOCAL && i < low->threads.count; i++) {
        const ForStmt *loop = &low->threads.data[i]->as.loop;
        vec_push(ctx->arena, &conditions, op_compare(ctx, EXPR_EQ, expr_var(ctx, loop->var), loop->min));
    }
    if (!expr_is_int(low->outside, 1))
        vec_push(ctx->arena, &conditions, low->outside);
    block.predicate = conjunction_join(ctx, &conditions);
    return stmt_block(ctx, block, low->stmt->span);
}

/* What stands in place of the outermost loop that is reduced over. */
static const Stmt *build(Lowering *low)
{
    Context *ctx = low->pass->ctx;
    const Stmt *items[4];
    int count = 0;
    bool several = low->serial.count || !expr_is_int(low->block->predicate, 1);
    low->cross = new_scratch(low, "cross_thread");
    low->own = several ? new_scratch(low, "in_thread") : NULL;
    if (several) {
        const Expr *identity = reduction_identity(ctx, low->reduction->kind, low->target->dtype);
        items[count++] = stmt_block(ctx, scratch_block(low, "in_thread_init", NULL, low->own, store_scratch(ctx, low->own, identity)), low->stmt->span);
        items[count++] = own_updates(low);
    }
    items[count++] = cross_block(low);
    items[count++] = write_back(low);
    const Stmt *result = stmt_seq(ctx, items, count);
    for (int i = low->threads.count - 1; i >= 0; i--)
        result = stmt_with_body(ctx, low->threads.data[i], result);
    return result;
}

/* --- the pass --- */

/* The innermost block or other statement in a nest of loops. */
static const Stmt *nest_end(const Stmt *stmt)
{
    while (stmt->kind == STMT_FOR)
        stmt = stmt->as.loop.body;
    return stmt;
}

/* STMT is the outermost loop that the block BLOCK in its nest reduces over, and one of those loops is bound to threads. */
static bool begins_reduction(const Stmt *stmt, const BlockStmt *block)
{
    bool threads = false;
    if (!block->init || !reduces_over(block, stmt))
        return false;
    for (; stmt->kind == STMT_FOR; stmt = stmt->as.loop.body)
        threads |= stmt->as.loop.kind == FOR_THREAD && reduces_over(block, stmt);
    return threads;
}

/* The reduction in the nest of loops STMT, lowered; NULL after a diagnostic. */
static const Stmt *lowered(CrossThread *pass, const Stmt *stmt)
{
    Lowering low = {.pass = pass, .stmt = nest_end(stmt)};
    low.block = &low.stmt->as.block;
    int outer = pass->around.count;
    const Stmt *kernel = pass->kernel;
    for (; stmt->kind == STMT_FOR; stmt = stmt->as.loop.body) {
        vec_push(pass->ctx->arena, &pass->around, stmt);
        if (!pass->kernel && stmt->as.loop.kind == FOR_THREAD)
            pass->kernel = stmt;
    }
    bool good = find_loops(&low) && find_conditions(&low) && has_form(&low);
    if (good && loops_depend(&low))
        good = refuse(&low, "the bounds of its loops over threads depend on other loops or on memory");
    good = good && check_readers(&low);
    pass->around.count = outer;
    pass->kernel = kernel;
    return good ? build(&low) : NULL;
}

static const Stmt *lower_hook(Rewriter *rewriter, const Stmt *stmt);

/* A block allocates the scratch of the reductions that stand in it, but not in a block with axes or buffers of its own inside. */
static const Stmt *lower_block(Rewriter *rewriter, const Stmt *stmt)
{
    CrossThread *pass = rewriter->data;
    int before = pass->new.count;
    BlockStmt block = stmt->as.block;
    block.body = lower_hook(rewriter, block.body);
    if (block.body == stmt->as.block.body)
        return stmt;
    Buffer **allocs = ARENA_ARRAY(pass->ctx->arena, Buffer *, block.alloc_count + pass->new.count - before);
    for (int i = 0; i < block.alloc_count; i++)
        allocs[i] = block.allocs[i];
    for (int i = before; i < pass->new.count; i++)
        allocs[block.alloc_count++] = pass->new.data[i];
    pass->new.count = before;
    block.allocs = allocs;
    return stmt_block(pass->ctx, block, stmt->span);
}

static const Stmt *lower_hook(Rewriter *rewriter, const Stmt *stmt)
{
    CrossThread *pass = rewriter->data;
    if (stmt->kind == STMT_BLOCK)
        return lower_block(rewriter, stmt);
    if (stmt->kind != STMT_FOR)
        return rewrite_stmt_children(rewriter, stmt);
    const Stmt *end = nest_end(stmt), *kernel = pass->kernel;
    if (end->kind == STMT_BLOCK && begins_reduction(stmt, &end->as.block)) {
        const Stmt *result = lowered(pass, stmt);
        return result ? result : stmt;
    }
    vec_push(pass->ctx->arena, &pass->around, stmt);
    if (!pass->kernel && stmt->as.loop.kind == FOR_THREAD)
        pass->kernel = stmt;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    pass->kernel = kernel;
    pass->around.count--;
    return result;
}

const Func *transform_cross_thread(LowerState *state, const Func *func)
{
    CrossThread pass = {.ctx = state->ctx, .body = func->body};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = lower_hook, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
