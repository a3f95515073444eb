/* Pass "inject_virtual_thread": virtual threads become copies of the statements that differ between them.

     vthread_x = T.launch_thread("vthread.x", 2)        threadIdx_x = T.launch_thread("threadIdx.x", 8)
     threadIdx_x = T.launch_thread("threadIdx.x", 8)    L = T.decl_buffer((2,), scope="local")
     L = T.decl_buffer((1,), scope="local")       ->    L[0] = A[threadIdx_x]
     L[0] = A[vthread_x * 8 + threadIdx_x]              L[1] = A[threadIdx_x + 8]
     B[vthread_x * 8 + threadIdx_x] = L[0]              B[threadIdx_x] = L[0]
                                                        B[threadIdx_x + 8] = L[1]

   Memory that the threads allocate and fill differently exists once for each. Threads agree on what is in memory that they share only at
   barriers, so that each statement may run for all of them before the next one. A statement that holds a loop and is copied 16 times or more
   becomes a loop over the threads. */
#include <string.h>

#include "ir/fold.h"
#include "passes/transform/internal.h"

enum { FEWEST_FOR_LOOP = 16 };

typedef struct {
    Context *ctx;
    Var *thread;
    int64_t count;
    Map differing; /* Vars, and data Vars of memory, that differ between threads: the thread itself, what is computed from it */
    Map allocated; /* data Var of what the threads allocate -> its extents, as an ALLOCATE */
    bool grew, differs;
    const char *unsupported; /* what has no form without the threads, or NULL; it is at PLACE */
    Span place;
} VirtualThreads;

/* --- what differs --- */

static bool find_difference(Visitor *visitor, const Expr *expr)
{
    VirtualThreads *threads = visitor->data;
    const Var *var = expr->kind == EXPR_VAR ? expr->value.var : expr->kind == EXPR_LOAD ? expr->value.buffer->data : NULL;
    threads->differs |= var && map_has(&threads->differing, var);
    return !threads->differs;
}

static bool expr_differs(VirtualThreads *threads, const Expr *expr)
{
    Visitor visitor = {.expr = find_difference, .data = threads};
    threads->differs = false;
    visit_expr(&visitor, expr);
    return threads->differs;
}

/* Something that STMT itself computes, or stores to, differs. */
static bool entry_differs(VirtualThreads *threads, const Stmt *stmt)
{
    Visitor visitor = {.expr = find_difference, .data = threads};
    threads->differs = stmt->kind == STMT_STORE && map_has(&threads->differing, stmt->as.store.buffer->data);
    visit_stmt_exprs(&visitor, stmt, MOMENT_ENTRY);
    return threads->differs;
}

static void refuse(VirtualThreads *threads, Span place, const char *why)
{
    threads->unsupported = why;
    threads->place = place;
}

static void note_differing(VirtualThreads *threads, Var *var)
{
    threads->grew |= !map_has(&threads->differing, var);
    map_set(threads->ctx->arena, &threads->differing, var, var);
}

typedef struct {
    VirtualThreads *threads;
    int under; /* branches and loops around that differ */
} DifferenceSearch;

static bool runs_differently(VirtualThreads *threads, const Stmt *stmt)
{
    bool chooses = stmt->kind == STMT_IF || stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE;
    return chooses && entry_differs(threads, stmt);
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    DifferenceSearch *search = visitor->data;
    VirtualThreads *threads = search->threads;
    if (stmt->kind == STMT_ALLOCATE)
        map_set(threads->ctx->arena, &threads->allocated, stmt->as.allocate.var, (void *)stmt);
    if (stmt->kind == STMT_LET && expr_differs(threads, stmt->as.let.value))
        note_differing(threads, stmt->as.let.var);
    bool stored = stmt->kind == STMT_STORE && map_has(&threads->allocated, stmt->as.store.buffer->data);
    if (stored && (search->under || entry_differs(threads, stmt)))
        note_differing(threads, stmt->as.store.buffer->data);
    if (stmt->kind == STMT_EVALUATE && !expr_is_pure(stmt->as.evaluate) && entry_differs(threads, stmt))
        refuse(threads, stmt->span, "a call with effects differs between them, and there is no order for its copies");
    search->under += runs_differently(threads, stmt);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    DifferenceSearch *search = visitor->data;
    search->under -= search->under && runs_differently(search->threads, stmt);
}

static void find_what_differs(VirtualThreads *threads, const Stmt *body)
{
    map_set(threads->ctx->arena, &threads->differing, threads->thread, threads->thread);
    do {
        threads->grew = false;
        DifferenceSearch search = {threads, 0};
        Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &search};
        visit_stmt(&visitor, body);
    } while (threads->grew);
}

static bool is_spread(const VirtualThreads *threads, const Var *data)
{
    return map_has(&threads->differing, data) && map_has(&threads->allocated, data);
}

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    VirtualThreads *threads = visitor->data;
    if (expr->kind == EXPR_VAR && is_spread(threads, expr->value.var))
        refuse(threads, expr->span, "a pointer to memory that differs between them is used");
    return true;
}

static bool find_other_form(Visitor *visitor, const Stmt *stmt)
{
    VirtualThreads *threads = visitor->data;
    const Buffer *buffer = stmt->kind == STMT_DECL_BUFFER ? stmt->as.declare.buffer : NULL;
    const Stmt *allocation = buffer && is_spread(threads, buffer->data) ? map_get(&threads->allocated, buffer->data) : NULL;
    if (allocation && (!dtype_equal(buffer->dtype, allocation->as.allocate.dtype) || allocation->as.allocate.extent_count != 1))
        refuse(threads, stmt->span, "memory that differs between them has elements of two types");
    return true;
}

/* All accesses to memory that each thread gets are loads and stores of its elements. */
static void check_memory(VirtualThreads *threads, const Stmt *body)
{
    Visitor visitor = {.stmt = find_other_form, .expr = find_pointer, .data = threads};
    visit_stmt(&visitor, body);
}

/* --- memory for each thread --- */

/* INDEX into memory of DATA, in the part of the thread; INDEX itself where the threads have one memory. */
static const Expr *index_of_thread(const VirtualThreads *threads, const Var *data, const Expr *index)
{
    Context *ctx = threads->ctx;
    if (!is_spread(threads, data))
        return index;
    const Stmt *allocation = map_get(&threads->allocated, data);
    const Expr *size = op_cast(ctx, index->dtype, allocation->as.allocate.extents[0]);
    return op_add(ctx, op_mul(ctx, op_cast(ctx, index->dtype, expr_var(ctx, threads->thread)), size), index);
}

static Buffer *buffer_of_threads(VirtualThreads *threads, Map *buffers, Buffer *buffer)
{
    Buffer *result = map_get(buffers, buffer);
    if (result || !is_spread(threads, buffer->data))
        return result ? result : buffer;
    result = buffer_clone(threads->ctx, buffer);
    const Expr *extent = op_mul_int(threads->ctx, buffer->shape[0], threads->count);
    result->shape = arena_copy(threads->ctx->arena, &extent, sizeof extent);
    map_set(threads->ctx->arena, buffers, buffer, result);
    return result;
}

typedef struct {
    VirtualThreads *threads;
    Map buffers;
} Spread;

static const Expr *spread_expr(Rewriter *rewriter, const Expr *expr)
{
    Spread *spread = rewriter->data;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD)
        return result;
    const Expr *index = index_of_thread(spread->threads, expr->value.buffer->data, result->args[0]);
    return index == result->args[0] ? result
                                    : expr_load(rewriter->ctx, buffer_of_threads(spread->threads, &spread->buffers, expr->value.buffer), &index, 1,
                                                load_mask(result), expr->span);
}

static const Stmt *spread_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Spread *spread = rewriter->data;
    VirtualThreads *threads = spread->threads;
    Context *ctx = rewriter->ctx;
    Stmt copy = *rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind == STMT_STORE) {
        const Expr *index = index_of_thread(threads, stmt->as.store.buffer->data, copy.as.store.indices[0]);
        return stmt_store(ctx, buffer_of_threads(threads, &spread->buffers, stmt->as.store.buffer), &index, 1, copy.as.store.value,
                          copy.as.store.mask, stmt->span);
    }
    if (stmt->kind == STMT_DECL_BUFFER)
        copy.as.declare.buffer = buffer_of_threads(threads, &spread->buffers, stmt->as.declare.buffer);
    if (stmt->kind == STMT_ALLOCATE && map_has(&threads->differing, stmt->as.allocate.var)) {
        const Expr *extent = op_mul_int(ctx, copy.as.allocate.extents[0], threads->count);
        copy.as.allocate.extents = arena_copy(ctx->arena, &extent, sizeof extent);
    }
    return stmt_new(ctx, &copy);
}

/* --- copies --- */

static bool find_loop(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_FOR;
    return true;
}

static const Stmt *thread_copy(VirtualThreads *threads, const Stmt *stmt, const Expr *thread)
{
    Subst subst = {0};
    subst_var(threads->ctx, &subst, threads->thread, thread);
    return clone_fresh(threads->ctx, subst_stmt(threads->ctx, &subst, stmt));
}

/* STMT for each thread. */
static const Stmt *copies(VirtualThreads *threads, const Stmt *stmt)
{
    Context *ctx = threads->ctx;
    bool loops = false;
    Visitor visitor = {.stmt = find_loop, .data = &loops};
    visit_stmt(&visitor, stmt);
    DType type = threads->thread->dtype;
    if (loops && threads->count >= FEWEST_FOR_LOOP) {
        Var *var = var_new(ctx, context_intern(ctx, "vthread_s"), type, stmt->span);
        ForStmt loop = {.var = var, .min = expr_int(ctx, type, 0), .extent = expr_int(ctx, type, threads->count), .kind = FOR_SERIAL};
        loop.body = thread_copy(threads, stmt, expr_var(ctx, var));
        return stmt_for(ctx, loop, stmt->span);
    }
    const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, threads->count);
    for (int64_t i = 0; i < threads->count; i++)
        items[i] = thread_copy(threads, stmt, expr_int(ctx, type, i));
    return stmt_seq(ctx, items, (int)threads->count);
}

static const Stmt *for_threads(Rewriter *rewriter, const Stmt *stmt)
{
    VirtualThreads *threads = rewriter->data;
    bool ends = stmt->kind == STMT_LET || stmt->kind == STMT_STORE || stmt->kind == STMT_EVALUATE || stmt->kind == STMT_ASSERT;
    if ((ends || stmt->kind == STMT_IF || stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE) && entry_differs(threads, stmt))
        return copies(threads, stmt);
    return rewrite_stmt_children(rewriter, stmt);
}

static const Stmt *without_thread(Context *ctx, const Stmt *stmt, Var *thread, const Expr *extent)
{
    VirtualThreads threads = {.ctx = ctx, .thread = thread};
    enum { MOST_COPIES = 1024 };
    if (!expr_const_int(extent, &threads.count) || threads.count < 1 || threads.count > MOST_COPIES) {
        diag_error(ctx, stmt->span, "the number of virtual threads '%s' must be a constant from 1 to %d", thread->name, MOST_COPIES);
        return stmt;
    }
    const Stmt *body = stmt_body(stmt);
    find_what_differs(&threads, body);
    check_memory(&threads, body);
    Spread spread = {.threads = &threads};
    Rewriter spreader = {.ctx = ctx, .expr = spread_expr, .stmt = spread_stmt, .data = &spread};
    Rewriter copier = {.ctx = ctx, .stmt = for_threads, .data = &threads};
    const Stmt *result = rewrite_stmt(&copier, rewrite_stmt(&spreader, body));
    if (stmt_uses_var(result, thread))
        refuse(&threads, stmt->span, "the size of an allocation or of a kernel differs between them");
    if (threads.unsupported)
        diag_error(ctx, threads.place, "the virtual threads '%s' cannot be taken apart: %s", thread->name, threads.unsupported);
    return result;
}

/* The threads inside come first. */
static const Stmt *inject_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    bool loop = stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD && !strncmp(stmt->as.loop.thread, "vthread", 7);
    if (loop && expr_is_int(stmt->as.loop.min, 0))
        return without_thread(rewriter->ctx, result, result->as.loop.var, result->as.loop.extent);
    return result;
}

const Func *transform_virtual_threads(LowerState *state, const Func *func)
{
    Rewriter rewriter = {.ctx = state->ctx, .stmt = inject_stmt};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
