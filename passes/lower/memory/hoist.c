/* Pass "hoist": scratch into which a loop copies the same elements again in each of its iterations is filled once, before that loop. The
   loops between that change what is copied become dimensions of the scratch.

     for j in range(64):                                   S = T.decl_buffer((64, 16, 16))
         for k in range(64):                               for k in range(64):
             S = T.decl_buffer((16, 16))                       for a, b in T.grid(16, 16):
             for a, b in T.grid(16, 16):           ->              S[k, a, b] = A[a, k * 16 + b]
                 S[a, b] = A[a, k * 16 + b]                for j in range(64):
             ... S[...] ...                                    for k in range(64):
                                                                   ... S[k, ...] ...

   Legality. The copy runs in each iteration of the loops on the way to it. These have constant extents, so the copy ran before if it runs
   now. What it reads is written nowhere in the outer loop, and it reads no scratch of that loop. Nothing else writes the scratch. A copy is
   a load, maybe under a condition: what is computed is computed where the schedule says so. Scratch in registers ("local") stays where it
   is. All that is filled early in a function fits in MOST_BYTES, which is the first caches' size; its annotation says that it has room of
   its own on the stack. Needs: compact buffers, block axes gone. */
#include <string.h>

#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/model/access.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/core/state.h"

enum { MOST_BYTES = 64 * 1024, LEAST_BYTES = 256, LEAST_ITERATIONS = 4, MOST_DEPTH = 16, MOST_HOISTED = 16 };

/* What to move: the copy FILL into BUFFER, out of the loop PATH[0]. */
typedef struct {
    Context *ctx;
    int64_t bytes_left;           /* of MOST_BYTES */
    const Stmt *path[MOST_DEPTH]; /* loops and allocations on the way from the loop to the copy, outermost first */
    int depth;
    const Stmt *allocation, *fill;
    Buffer *buffer;
    const Stmt *dims[MOST_DEPTH]; /* the loops of the path that become dimensions */
    int dim_count;
    int64_t bytes;
    Effects effects; /* of the fill */
} Hoist;

/* --- The form of a copy --- */
typedef struct {
    const Buffer *target;
    bool is_copy;
} CopyCheck;

static bool is_copied(const Expr *value)
{
    if (expr_is_call(value, OP_IF_THEN_ELSE))
        return !expr_reads_memory(value->args[0]) && is_copied(value->args[1]) && !expr_reads_memory(value->args[2]);
    return value->kind == EXPR_LOAD && !load_mask(value);
}

static bool check_copy(Visitor *visitor, const Stmt *stmt)
{
    CopyCheck *check = visitor->data;
    switch (stmt->kind) {
    case STMT_FOR: check->is_copy &= stmt->as.loop.kind != FOR_PARALLEL && stmt->as.loop.kind != FOR_THREAD; break;
    case STMT_BLOCK:
        check->is_copy &= !stmt->as.block.alloc_count && !stmt->as.block.match_count && !stmt->as.block.init && !stmt->as.block.iter_count &&
                          !stmt->as.block.annotations.count;
        break;
    case STMT_STORE:
        check->is_copy &= stmt->as.store.buffer == check->target && !stmt->as.store.mask && is_copied(stmt->as.store.value);
        break;
    case STMT_IF: check->is_copy &= !expr_reads_memory(stmt->as.branch.condition); break;
    case STMT_SEQ: break;
    default: check->is_copy = false;
    }
    return check->is_copy;
}

static bool is_copy_into(const Stmt *stmt, const Buffer *target)
{
    CopyCheck check = {target, stmt->kind == STMT_FOR || stmt->kind == STMT_BLOCK || stmt->kind == STMT_STORE};
    Visitor visitor = {.stmt = check_copy, .data = &check};
    if (check.is_copy)
        visit_stmt(&visitor, stmt);
    return check.is_copy;
}

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    const Var **data = visitor->data;
    if (*data && ((expr->kind == EXPR_VAR && expr->value.var == *data) || expr_is_call(expr, OP_ADDRESS_OF)))
        *data = NULL;
    return *data != NULL;
}

/* BODY uses the data pointer of BUFFER by itself, or takes an address. */
static bool uses_pointer(const Stmt *body, const Buffer *buffer)
{
    const Var *data = buffer->data;
    Visitor visitor = {.expr = find_pointer, .data = &data};
    visit_stmt(&visitor, body);
    return !data;
}

/* --- What the copy depends on --- */
static bool is_plain_loop(const ForStmt *loop, int64_t *extent)
{
    bool in_turn = loop->kind == FOR_SERIAL || loop->kind == FOR_UNROLLED;
    return in_turn && expr_is_int(loop->min, 0) && expr_const_int(loop->extent, extent) && *extent >= 1;
}

static bool size_in_bytes(const Buffer *buffer, int64_t *bytes)
{
    *bytes = (int64_t)dtype_bytes(buffer->dtype) * buffer->dtype.lanes;
    for (int d = 0; d < buffer->ndim; d++) {
        int64_t extent;
        if (!expr_const_int(buffer->shape[d], &extent) || extent < 1 || extent > MOST_BYTES || *bytes > MOST_BYTES)
            return false;
        *bytes *= extent;
    }
    return *bytes >= LEAST_BYTES && *bytes <= MOST_BYTES;
}

/* Which loops of the path the copy depends on, all but the first; false where it depends on something else inside the first one, or where
   the scratch would be too large. */
static bool choose_dims(Hoist *hoist)
{
    hoist->dim_count = 0;
    if (!size_in_bytes(hoist->buffer, &hoist->bytes))
        return false;
    for (int i = 0; i < hoist->depth; i++) {
        const Stmt *stmt = hoist->path[i];
        int64_t extent;
        if (stmt->kind == STMT_ALLOCATE && stmt != hoist->allocation && stmt_uses_var(hoist->fill, stmt->as.allocate.var))
            return false;
        if (stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer != hoist->buffer &&
            stmt_names_buffer(hoist->fill, stmt->as.declare.buffer))
            return false;
        if (stmt->kind != STMT_FOR || !stmt_uses_var(hoist->fill, stmt->as.loop.var))
            continue;
        if (i == 0 || !expr_const_int(stmt->as.loop.extent, &extent) || extent > MOST_BYTES)
            return false;
        hoist->dims[hoist->dim_count++] = stmt;
        hoist->bytes *= extent;
        if (hoist->bytes > hoist->bytes_left)
            return false;
    }
    return hoist->bytes <= hoist->bytes_left;
}

/* Among what happens in the loop, nothing writes what the copy reads, and nothing but the copy writes the scratch. */
static bool memory_allows(const Hoist *hoist, const Func *func)
{
    const Var *var = hoist->path[0]->as.loop.var;
    AccessList accesses = access_collect(hoist->ctx, func);
    Map roots = {0};
    effects_add_view_roots(hoist->ctx, &roots, func->body);
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        bool inside = access_loop(access, var) != NULL;
        if (inside && access->fence)
            return false;
        if (!access->write)
            continue;
        const Var *data = effects_root(&roots, access->data);
        if (inside && map_has(&hoist->effects.reads, data))
            return false;
        if (data == hoist->buffer->data && !(access->stmt && access->stmt->kind == STMT_STORE && access->stmt->as.store.buffer == hoist->buffer))
            return false;
    }
    return true;
}

/* The copy is the first user of the scratch in ITEMS, the statements that live with it, and the only one that stores to it. */
static bool find_fill(Hoist *hoist, const Stmt *body)
{
    hoist->fill = NULL;
    if (body->kind != STMT_SEQ)
        return false;
    for (int i = 0; i < body->as.seq.count; i++) {
        const Stmt *item = body->as.seq.items[i];
        if (!hoist->fill && stmt_names_buffer(item, hoist->buffer)) {
            if (!is_copy_into(item, hoist->buffer))
                return false;
            hoist->fill = item;
            continue;
        }
        Map roots = {0};
        Effects rest = effects_of_stmt(hoist->ctx, &roots, item, NULL);
        if (map_has(&rest.writes, hoist->buffer->data))
            return false;
    }
    return hoist->fill != NULL;
}

/* --- The search --- */
static bool search(Hoist *hoist, const Func *func, const Stmt *stmt);

static bool try_allocation(Hoist *hoist, const Func *func, const Stmt *stmt)
{
    hoist->buffer = stmt_allocated_buffer(stmt);
    hoist->allocation = stmt;
    int depth = hoist->depth;
    if (!hoist->buffer || strncmp(hoist->buffer->scope, "global", sizeof "global" - 1) || stmt->as.allocate.annotations.count ||
        hoist->buffer->axis_separator_count || !hoist->buffer->ndim)
        return false;
    const Stmt *body = stmt->as.allocate.body->as.declare.body;
    /* other scratch may stand between */
    while (hoist->depth < MOST_DEPTH && (body->kind == STMT_ALLOCATE || body->kind == STMT_DECL_BUFFER)) {
        hoist->path[hoist->depth++] = body;
        body = stmt_body(body);
    }
    bool found = find_fill(hoist, body) && choose_dims(hoist) && !uses_pointer(body, hoist->buffer);
    if (found) {
        Map roots = {0};
        hoist->effects = effects_of_stmt(hoist->ctx, &roots, hoist->fill, NULL);
        found = !map_has(&hoist->effects.reads, hoist->buffer->data) && memory_allows(hoist, func);
    }
    if (!found)
        hoist->depth = depth;
    return found;
}

static bool search_items(Hoist *hoist, const Func *func, const Stmt *seq)
{
    for (int i = 0; i < seq->as.seq.count; i++)
        if (search(hoist, func, seq->as.seq.items[i]))
            return true;
    return false;
}

/* Looks for an allocation that every iteration of the loop PATH[0] reaches; the path to it stays in HOIST. */
static bool search(Hoist *hoist, const Func *func, const Stmt *stmt)
{
    int64_t extent;
    if (stmt->kind == STMT_SEQ)
        return search_items(hoist, func, stmt);
    bool passes = stmt->kind == STMT_ALLOCATE || stmt->kind == STMT_DECL_BUFFER ||
                  (stmt->kind == STMT_FOR && is_plain_loop(&stmt->as.loop, &extent));
    if (!passes || hoist->depth == MOST_DEPTH)
        return false;
    if (stmt->kind == STMT_ALLOCATE && try_allocation(hoist, func, stmt))
        return true;
    hoist->path[hoist->depth++] = stmt;
    bool found = search(hoist, func, stmt_body(stmt));
    hoist->depth -= !found;
    return found;
}

/* --- Rewriting --- */
typedef struct {
    const Hoist *hoist;
    Buffer *wide;
} Widening;

static const Expr *dim_index(const Widening *widening, int dim)
{
    Context *ctx = widening->hoist->ctx;
    return op_cast(ctx, dtype_scalar(widening->wide->shape[dim]->dtype), expr_var(ctx, widening->hoist->dims[dim]->as.loop.var));
}

/* The indices of the scratch, after those of the loops. */
static const Expr **widen_indices(const Widening *widening, const Expr *const *indices)
{
    int dims = widening->hoist->dim_count, count = widening->hoist->buffer->ndim;
    const Expr **result = ARENA_ARRAY(widening->hoist->ctx->arena, const Expr *, dims + count);
    for (int i = 0; i < dims + count; i++)
        result[i] = i < dims ? dim_index(widening, i) : indices[i - dims];
    return result;
}

static Region *widen_regions(const Widening *widening, const Region *regions, int count)
{
    Context *ctx = widening->hoist->ctx;
    Region *result = arena_copy(ctx->arena, regions, sizeof *regions * (size_t)count);
    int dims = widening->hoist->dim_count;
    for (int i = 0; i < count; i++) {
        if (result[i].buffer != widening->hoist->buffer)
            continue;
        Range *ranges = ARENA_ARRAY(ctx->arena, Range, widening->wide->ndim);
        for (int d = 0; d < widening->wide->ndim; d++)
            ranges[d] = d < dims ? range_point(ctx, dim_index(widening, d)) : regions[i].ranges[d - dims];
        result[i].ranges = ranges;
    }
    return result;
}

static const Expr *widen_expr(Rewriter *rewriter, const Expr *expr)
{
    const Widening *widening = rewriter->data;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || expr->value.buffer != widening->hoist->buffer)
        return result;
    return expr_load(rewriter->ctx, widening->wide, widen_indices(widening, result->args), widening->wide->ndim, load_mask(result), expr->span);
}

static const Stmt *widen_block(const Widening *widening, Context *ctx, const Stmt *stmt)
{
    Stmt copy = *stmt;
    BlockStmt *block = &copy.as.block;
    block->reads = widen_regions(widening, block->reads, block->read_count);
    block->writes = widen_regions(widening, block->writes, block->write_count);
    block->matches = arena_copy(ctx->arena, block->matches, sizeof *block->matches * (size_t)block->match_count);
    for (int i = 0; i < block->match_count; i++)
        block->matches[i].source = *widen_regions(widening, &block->matches[i].source, 1);
    return stmt_new(ctx, &copy);
}

static const Stmt *widen_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Widening *widening = rewriter->data;
    const Hoist *hoist = widening->hoist;
    if (stmt == hoist->allocation)
        return rewrite_stmt(rewriter, stmt->as.allocate.body->as.declare.body);
    if (stmt->kind == STMT_BLOCK)
        return rewrite_stmt_children(rewriter, widen_block(widening, rewriter->ctx, stmt));
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_STORE || stmt->as.store.buffer != hoist->buffer)
        return result;
    Stmt copy = *result;
    copy.as.store.indices = widen_indices(widening, result->as.store.indices);
    copy.as.store.index_count = widening->wide->ndim;
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *widen_rest(Rewriter *rewriter, const Stmt *stmt)
{
    const Widening *widening = rewriter->data;
    return stmt == widening->hoist->fill ? stmt_empty(rewriter->ctx) : widen_stmt(rewriter, stmt);
}

static Buffer *widen_buffer(Rewriter *rewriter, Buffer *buffer)
{
    const Widening *widening = rewriter->data;
    return buffer == widening->hoist->buffer ? widening->wide : buffer;
}

static Buffer *wide_buffer(const Hoist *hoist)
{
    Buffer *wide = buffer_clone(hoist->ctx, hoist->buffer);
    wide->ndim = hoist->dim_count + hoist->buffer->ndim;
    wide->shape = ARENA_ARRAY(hoist->ctx->arena, const Expr *, wide->ndim);
    for (int d = 0; d < wide->ndim; d++)
        wide->shape[d] = d < hoist->dim_count ? op_cast(hoist->ctx, buffer_index_dtype(hoist->buffer), hoist->dims[d]->as.loop.extent)
                                              : hoist->buffer->shape[d - hoist->dim_count];
    return wide;
}

/* The loops that are dimensions around BODY. */
static const Stmt *with_dims(const Hoist *hoist, const Stmt *body)
{
    for (int d = hoist->dim_count - 1; d >= 0; d--) {
        const ForStmt *loop = &hoist->dims[d]->as.loop;
        body = stmt_for_serial(hoist->ctx, loop->var, loop->min, loop->extent, body, hoist->fill->span);
    }
    return body;
}

static const Stmt *hoisted(const Hoist *hoist)
{
    Context *ctx = hoist->ctx;
    Widening widening = {hoist, wide_buffer(hoist)};
    Rewriter rewriter = {.ctx = ctx, .expr = widen_expr, .stmt = widen_stmt, .buffer = widen_buffer, .data = &widening};
    const Stmt *parts[2] = {clone_fresh(ctx, with_dims(hoist, rewrite_stmt(&rewriter, hoist->fill)))};
    rewriter = (Rewriter){.ctx = ctx, .expr = widen_expr, .stmt = widen_rest, .buffer = widen_buffer, .data = &widening};
    parts[1] = rewrite_stmt(&rewriter, hoist->path[0]);
    Attrs staging = attrs_set(ctx, (Attrs){0}, context_intern(ctx, "tirc.staging"), attr_expr(ctx, expr_int(ctx, DTYPE_BOOL, 1)));
    return stmt_allocate_buffer(ctx, widening.wide, staging, stmt_seq(ctx, parts, 2), hoist->allocation->span);
}

/* --- The pass --- */
typedef struct {
    const Func *func;
    int64_t bytes_left;
    bool done;
} HoistPass;

static const Stmt *hoist_out_of(Rewriter *rewriter, const Stmt *stmt)
{
    HoistPass *pass = rewriter->data;
    int64_t extent;
    if (pass->done)
        return stmt;
    Hoist hoist = {.ctx = rewriter->ctx, .bytes_left = pass->bytes_left, .path = {stmt}, .depth = 1};
    bool again = stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_SERIAL && is_plain_loop(&stmt->as.loop, &extent) &&
                 extent >= LEAST_ITERATIONS;
    if (!again || !search(&hoist, pass->func, stmt->as.loop.body) || stmt_has_jump(stmt))
        return rewrite_stmt_children(rewriter, stmt);
    pass->done = true;
    pass->bytes_left -= hoist.bytes;
    return hoisted(&hoist);
}

const Func *lower_hoist(LowerState *state, const Func *func)
{
    HoistPass pass = {.func = func, .bytes_left = MOST_BYTES};
    for (int i = 0; i < MOST_HOISTED; i++) {
        Rewriter rewriter = {.ctx = state->ctx, .stmt = hoist_out_of, .data = &pass};
        pass.done = false;
        pass.func = func_with_body(state->ctx, pass.func, rewrite_stmt(&rewriter, pass.func->body));
        if (!pass.done)
            break;
    }
    return pass.func;
}
