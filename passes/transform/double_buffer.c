/* Pass "inject_double_buffer": what fills a buffer for an iteration of a loop runs one iteration ahead, into the other half of twice the memory.

     for i in range(100):                                            B = T.decl_buffer((8,), scope="shared")
         B = T.decl_buffer((4,), scope="shared")                     B[0] = A[0] ...
         with T.attr(B.data, "double_buffer_scope", 1):              for i_outer in range(99):
             for j in range(4):                              ->          if i_outer + 1 < 100:
                 B[j] = A[i * 4 + j]                                         ... B[(i_outer + 1) % 2 * 4 + j] = A[(i_outer + 1) * 4 + j]
         for j in range(4):                                              ... C[...] = B[i_outer % 2 * 4 + j]
             C[i * 4 + j] = B[j]                                     ... C[...] = B[99 % 2 * 4 + j]

   The first iteration is filled before the loop, and the last one stands behind it. As in the reference, nothing is folded here: simplify does.

   Legality. The filling statement writes the buffer alone, and no memory that it reads is written in the loop: it reads the same one iteration
   earlier. Nothing else writes the buffer, which is allocated in the loop, so that an iteration sees no data of the one before; only what comes
   after the filling statement reads it. A loop that may have no iteration stands under a condition. */
#include <string.h>

#include "passes/lower/core/effects.h"
#include "passes/transform/internal.h"

#define SCOPE "double_buffer_scope"
#define WRITE "double_buffer_write"

/* A buffer that is filled ahead. */
typedef struct {
    const Stmt *fill;     /* the attribute */
    const Stmt *allocate; /* of the memory; the declaration of OLD is below */
    Buffer *old, *new;    /* NEW has two halves */
    Var *half;            /* which one the filling statement writes */
} Ahead;

typedef struct {
    Context *ctx;
    Map roots;
    const Stmt *stmt; /* the loop */
    const ForStmt *loop;
    VEC(Ahead) buffers;
    const Ahead *filling; /* what is rewritten is inside of this one's statement */
} DoubleBuffer;

/* --- what the loop has --- */

static bool refuse(DoubleBuffer *pass, const Stmt *place, const char *why)
{
    diag_error(pass->ctx, place->span, "the buffer cannot be filled one iteration of loop '%s' ahead: %s", pass->loop->var->name, why);
    return false;
}

static bool is_fill(const Stmt *stmt)
{
    return stmt->kind == STMT_ATTR && !strcmp(stmt->as.attr.key, SCOPE);
}

static bool find_fill(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= is_fill(stmt);
    return true;
}

static bool holds_fill(const Stmt *stmt)
{
    bool found = false;
    visit_stmt(&(Visitor){.stmt = find_fill, .data = &found}, stmt);
    return found;
}

/* The filling statements of the loop, which stand in STMT, run in each iteration: appended. ALLOCATIONS: data Var -> the allocation around. */
static bool collect_fills(DoubleBuffer *pass, const Stmt *stmt, Map *allocations)
{
    Arena *arena = pass->ctx->arena;
    if (is_fill(stmt)) {
        const Expr *node = stmt->as.attr.node;
        const Stmt *allocate = node->kind == EXPR_VAR ? map_get(allocations, node->value.var) : NULL;
        Buffer *buffer = allocate ? stmt_allocated_buffer(allocate) : NULL;
        if (!buffer || buffer->ndim != 1)
            return refuse(pass, stmt, "the loop must allocate it, as memory of one dimension, before the statement that fills it");
        vec_push(arena, &pass->buffers, ((Ahead){.fill = stmt, .allocate = allocate, .old = buffer}));
        return !holds_fill(stmt->as.attr.body) || refuse(pass, stmt, "the statement that fills it fills another one ahead");
    }
    if (stmt->kind == STMT_ALLOCATE)
        map_set(arena, allocations, stmt->as.allocate.var, (void *)stmt);
    if (stmt->kind == STMT_ALLOCATE || stmt->kind == STMT_DECL_BUFFER)
        return collect_fills(pass, stmt_body(stmt), allocations);
    for (int i = 0; stmt->kind == STMT_SEQ && i < stmt->as.seq.count; i++)
        if (!collect_fills(pass, stmt->as.seq.items[i], allocations))
            return false;
    bool done = stmt->kind == STMT_SEQ || !holds_fill(stmt);
    return done || refuse(pass, stmt, "the statement that fills it does not stand in the loop itself, but under something else");
}

/* --- legality --- */

typedef struct {
    const Ahead *ahead;
    bool filled;     /* what is visited comes after the filling statement */
    bool inside;     /* it is in it */
    const char *why; /* the first use that does not fit, or NULL */
} UseSearch;

static bool find_use(Visitor *visitor, const Expr *expr)
{
    UseSearch *search = visitor->data;
    if (expr->kind == EXPR_VAR && expr->value.var == search->ahead->old->data)
        search->why = "a pointer to it is used";
    if (expr->kind == EXPR_LOAD && expr->value.buffer->data == search->ahead->old->data && (search->inside || !search->filled))
        search->why = "it is read before it is filled";
    return true;
}

static bool enter_use(Visitor *visitor, const Stmt *stmt)
{
    UseSearch *search = visitor->data;
    const Buffer *old = search->ahead->old;
    if (stmt == search->ahead->fill) {
        search->inside = true;
        visit_stmt(visitor, stmt->as.attr.body);
        search->inside = false;
        search->filled = true;
        return false;
    }
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer->data == old->data && !search->inside)
        search->why = "another statement writes it";
    if (stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer != old && stmt->as.declare.buffer->data == old->data)
        search->why = "another buffer has the same memory";
    if (stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer != old && !search->inside && stmt_uses_buffer(search->ahead->fill, stmt->as.declare.buffer))
        search->why = "the statement that fills it uses a buffer that is declared in the loop";
    return true;
}

static bool find_opaque(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->opaque;
    return true;
}

static bool may_fill_ahead(DoubleBuffer *pass, const Ahead *ahead)
{
    const Stmt *fill = ahead->fill->as.attr.body;
    UseSearch search = {.ahead = ahead};
    visit_stmt(&(Visitor){.expr = find_use, .stmt = enter_use, .data = &search}, pass->loop->body);
    if (search.why)
        return refuse(pass, ahead->fill, search.why);
    const Expr *size = ahead->old->shape[0];
    if (expr_uses_var(size, pass->loop->var) || expr_reads_memory(size))
        return refuse(pass, ahead->fill, "its size is known in the loop alone, and the memory is allocated before the loop");
    bool opaque = stmt_has_jump(pass->loop->body);
    visit_stmt(&(Visitor){.expr = find_opaque, .data = &opaque}, fill);
    Effects own = effects_of_stmt(pass->ctx, &pass->roots, fill, NULL), all = effects_of_stmt(pass->ctx, &pass->roots, pass->loop->body, NULL);
    if (opaque)
        return refuse(pass, ahead->fill, "calls that may do anything, or jumps, would change places with it");
    if (own.writes.count > 1 || (own.writes.count == 1 && !map_has(&own.writes, ahead->old->data)))
        return refuse(pass, ahead->fill, "the statement that fills it writes other memory too");
    return !maps_meet(&own.reads, &all.writes) || refuse(pass, ahead->fill, "what it is filled from is written in the loop");
}

static bool is_legal(DoubleBuffer *pass)
{
    if (pass->loop->kind != FOR_SERIAL || !expr_is_int(pass->loop->min, 0) || expr_reads_memory(pass->loop->extent))
        return refuse(pass, pass->stmt, "the loop must be serial, count from 0 and have an extent that reads no memory");
    for (int i = 0; i < pass->buffers.count; i++)
        if (!may_fill_ahead(pass, &pass->buffers.data[i]))
            return false;
    return true;
}

/* --- the halves --- */

static const Ahead *ahead_of(const DoubleBuffer *pass, const Buffer *buffer)
{
    for (int i = 0; i < pass->buffers.count; i++)
        if (pass->buffers.data[i].old == buffer)
            return &pass->buffers.data[i];
    return NULL;
}

/* INDEX in HALF of the memory of AHEAD. */
static const Expr *index_in_half(Context *ctx, const Ahead *ahead, const Expr *half, const Expr *index)
{
    const Expr *size = op_cast(ctx, half->dtype, ahead->old->shape[0]);
    return op_add(ctx, op_mul(ctx, half, size), index);
}

static const Expr *halve_expr(Rewriter *rewriter, const Expr *expr)
{
    DoubleBuffer *pass = rewriter->data;
    Context *ctx = pass->ctx;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    const Ahead *ahead = expr->kind == EXPR_LOAD ? ahead_of(pass, expr->value.buffer) : NULL;
    if (!ahead)
        return result;
    const Expr *iteration = expr_var(ctx, pass->loop->var);
    const Expr *index = index_in_half(ctx, ahead, op_floormod(ctx, iteration, expr_int(ctx, iteration->dtype, 2)), result->args[0]);
    return expr_load(ctx, ahead->new, &index, 1, load_mask(result), expr->span);
}

/* ITERATION is filled, in half HALF. */
static const Stmt *filled_for(DoubleBuffer *pass, const Ahead *ahead, const Stmt *fill, const Expr *iteration, const Expr *half)
{
    Subst subst = {0};
    subst_var(pass->ctx, &subst, pass->loop->var, iteration);
    subst_var(pass->ctx, &subst, ahead->half, half);
    return subst_stmt(pass->ctx, &subst, fill);
}

static const Stmt *halve_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *fill_next(Rewriter *rewriter, const Ahead *ahead)
{
    DoubleBuffer *pass = rewriter->data;
    Context *ctx = pass->ctx;
    const Expr *one = expr_int(ctx, pass->loop->var->dtype, 1), *two = expr_int(ctx, one->dtype, 2);
    const Expr *next = op_add(ctx, expr_var(ctx, pass->loop->var), one);
    const Ahead *before = pass->filling;
    pass->filling = ahead;
    const Stmt *fill = halve_stmt(rewriter, ahead->fill->as.attr.body);
    pass->filling = before;
    Stmt write = *ahead->fill;
    write.as.attr.key = context_intern(ctx, WRITE);
    write.as.attr.value = expr_int(ctx, DTYPE_INT32, 1);
    write.as.attr.body = filled_for(pass, ahead, fill, next, op_floormod(ctx, next, two));
    return stmt_if(ctx, op_compare(ctx, EXPR_LT, next, pass->loop->extent), stmt_new(ctx, &write), NULL, ahead->fill->span);
}

static const Stmt *halve_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    DoubleBuffer *pass = rewriter->data;
    Context *ctx = pass->ctx;
    for (int i = 0; i < pass->buffers.count; i++) {
        if (stmt == pass->buffers.data[i].fill)
            return fill_next(rewriter, &pass->buffers.data[i]);
        if (stmt == pass->buffers.data[i].allocate)
            return halve_stmt(rewriter, stmt->as.allocate.body->as.declare.body);
    }
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    const Ahead *ahead = pass->filling;
    if (stmt->kind != STMT_STORE || !ahead || stmt->as.store.buffer != ahead->old)
        return result;
    const Expr *index = index_in_half(ctx, ahead, expr_var(ctx, ahead->half), result->as.store.indices[0]);
    return stmt_store(ctx, ahead->new, &index, 1, result->as.store.value, result->as.store.mask, stmt->span);
}

/* --- the loop after it --- */

static const Stmt *strip_write(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    return stmt->kind == STMT_ATTR && !strcmp(stmt->as.attr.key, WRITE) ? result->as.attr.body : result;
}

static const Stmt *body_for(DoubleBuffer *pass, const Stmt *body, const Expr *iteration)
{
    Subst subst = {0};
    subst_var(pass->ctx, &subst, pass->loop->var, iteration);
    return subst_stmt(pass->ctx, &subst, body);
}

/* The first iteration of AHEAD, filled before the loop. */
static const Stmt *fill_first(Rewriter *rewriter, const Ahead *ahead)
{
    DoubleBuffer *pass = rewriter->data;
    pass->filling = ahead;
    const Stmt *fill = halve_stmt(rewriter, ahead->fill->as.attr.body);
    pass->filling = NULL;
    const Expr *zero = expr_int(pass->ctx, pass->loop->var->dtype, 0);
    return clone_fresh(pass->ctx, filled_for(pass, ahead, fill, zero, zero));
}

/* STMT inside of the allocations of twice the memory. */
static const Stmt *with_memory(DoubleBuffer *pass, const Stmt *stmt)
{
    Context *ctx = pass->ctx;
    for (int i = pass->buffers.count - 1; i >= 0; i--) {
        Stmt allocate = *pass->buffers.data[i].allocate, declare = *allocate.as.allocate.body;
        declare.as.declare.buffer = pass->buffers.data[i].new;
        declare.as.declare.body = stmt;
        allocate.as.allocate.extents = pass->buffers.data[i].new->shape;
        allocate.as.allocate.body = stmt_new(ctx, &declare);
        stmt = stmt_new(ctx, &allocate);
    }
    return stmt;
}

static void make_halves(DoubleBuffer *pass)
{
    for (int i = 0; i < pass->buffers.count; i++) {
        Ahead *ahead = &pass->buffers.data[i];
        ahead->new = buffer_clone(pass->ctx, ahead->old);
        const Expr *size = op_mul_int(pass->ctx, ahead->old->shape[0], 2);
        ahead->new->shape = arena_copy(pass->ctx->arena, &size, sizeof size);
        ahead->half = var_clone(pass->ctx, pass->loop->var, pass->loop->var->name);
    }
}

static const Stmt *build(DoubleBuffer *pass)
{
    Context *ctx = pass->ctx;
    const ForStmt *old = pass->loop;
    Analyzer *an = analyzer_new(ctx);
    Rewriter rewriter = {.ctx = ctx, .stmt = halve_stmt, .expr = halve_expr, .data = pass};
    make_halves(pass);
    const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, pass->buffers.count + 2);
    int count = 0;
    for (int i = 0; i < pass->buffers.count; i++)
        items[count++] = fill_first(&rewriter, &pass->buffers.data[i]);
    const Stmt *body = halve_stmt(&rewriter, old->body), *last;
    const Expr *end = analyzer_simplify(an, op_sub(ctx, old->extent, expr_int(ctx, old->extent->dtype, 1)));
    ForStmt loop = *old;
    loop.var = var_clone(ctx, old->var, context_internf(ctx, "%s_outer", old->var->name));
    loop.extent = end;
    loop.body = body_for(pass, body, expr_var(ctx, loop.var));
    items[count++] = stmt_for(ctx, loop, pass->stmt->span);
    Rewriter strip = {.ctx = ctx, .stmt = strip_write};
    last = clone_fresh(ctx, body_for(pass, rewrite_stmt(&strip, body), end));
    items[count++] = stmt_if(ctx, op_compare(ctx, EXPR_LT, end, old->extent), last, NULL, pass->stmt->span);
    const Stmt *result = with_memory(pass, stmt_seq(ctx, items, count));
    const Expr *runs = op_compare(ctx, EXPR_LT, expr_int(ctx, old->extent->dtype, 0), old->extent);
    return analyzer_prove(an, runs) ? result : stmt_if(ctx, runs, result, NULL, pass->stmt->span);
}

/* The loops inside come first. */
static const Stmt *double_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_FOR || !holds_fill(result))
        return result;
    DoubleBuffer *shared = rewriter->data;
    DoubleBuffer pass = {.ctx = shared->ctx, .roots = shared->roots, .stmt = result, .loop = &result->as.loop};
    Map allocations = {0};
    return collect_fills(&pass, pass.loop->body, &allocations) && pass.buffers.count && is_legal(&pass) ? build(&pass) : result;
}

const Func *transform_double_buffer(LowerState *state, const Func *func)
{
    DoubleBuffer pass = {.ctx = state->ctx};
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = double_stmt, .data = &pass};
    int errors = diag_error_count(state->ctx);
    const Stmt *body = rewrite_stmt(&rewriter, func->body);
    if (diag_error_count(state->ctx) == errors && holds_fill(body))
        diag_error(state->ctx, func->span, "a statement that fills a buffer ahead must stand in a loop");
    return func_with_body(state->ctx, func, body);
}
