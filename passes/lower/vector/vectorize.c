/* Pass "vectorize": vectorized loops become statements over vectors.

     for v in T.vectorized(8):                                           B_1[i * 8:i * 8 + 8] = T.Broadcast(T.float32(2.0), 8) * A_1[i * 8:i * 8 + 8]
         if i * 8 + v < n:                                       ->      under the mask T.Broadcast(i * 8, 8) + T.Ramp(0, 1, 8) < T.Broadcast(n, 8)
             B_1[i * 8 + v] = A_1[i * 8 + v] * T.float32(2.0)

   Each statement runs for all lanes before the next one. That is the same only where the iterations are independent, which the pass "lanes"
   has shown. A loop whose body has no vector form runs its iterations in order, with a warning. A call with effects in it is an error: such
   calls are never vectorized. Memory that the body allocates exists once for each lane:

     for v in T.vectorized(8):                    t = T.allocate([8], ...)
         t = T.allocate([1], ...)           ->    t_1[0:8] = A_1[0:8]
         t_1[0] = A_1[v]                          B_1[0:8] = t_1[0:8] * t_1[0:8]
         B_1[v] = t_1[0] * t_1[0]

   Needs: flat buffers, independent iterations. */
#include "ir/linear_sum.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/vector/vectorize.h"
#include "support/warning.h"

enum { MOST_LANES = 1024 };

/* --- Memory for each lane --- */
typedef struct {
    Lanes *lanes;
    Map spread; /* flat Buffer over memory allocated in the body -> Buffer with room for all lanes */
    Map owned;  /* data Vars of such memory */
} LaneMemory;

/* INDEX in a buffer of one lane, in the buffer of all lanes: those of one element lie side by side. */
static const Expr *lane_element(Lanes *lanes, const Expr *index)
{
    Context *ctx = lanes->ctx;
    const Expr *lane = op_sub(ctx, expr_var(ctx, lanes->var), lanes->min);
    return op_add(ctx, op_mul_int(ctx, index, lanes->lanes), lane);
}

static const Expr *spread_in_expr(Rewriter *rewriter, const Expr *expr)
{
    LaneMemory *memory = rewriter->data;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    Buffer *spread = expr->kind == EXPR_LOAD ? map_get(&memory->spread, expr->value.buffer) : NULL;
    if (!spread)
        return result;
    const Expr *index = lane_element(memory->lanes, result->args[0]);
    return expr_load(rewriter->ctx, spread, &index, 1, NULL, expr->span);
}

static const Stmt *spread_allocation(Rewriter *rewriter, const Stmt *stmt)
{
    LaneMemory *memory = rewriter->data;
    map_set(rewriter->ctx->arena, &memory->owned, stmt->as.allocate.var, stmt->as.allocate.var);
    Stmt copy = *rewrite_stmt_children(rewriter, stmt);
    const Expr *extent = op_mul_int(rewriter->ctx, copy.as.allocate.extents[0], memory->lanes->lanes);
    copy.as.allocate.extents = arena_copy(rewriter->ctx->arena, &extent, sizeof extent);
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *spread_declaration(Rewriter *rewriter, const Stmt *stmt)
{
    LaneMemory *memory = rewriter->data;
    Buffer *buffer = stmt->as.declare.buffer;
    if (!map_has(&memory->owned, buffer->data))
        return rewrite_stmt_children(rewriter, stmt);
    Buffer *spread = buffer_clone(rewriter->ctx, buffer);
    const Expr *extent = op_mul_int(rewriter->ctx, buffer->shape[0], memory->lanes->lanes);
    spread->shape = arena_copy(rewriter->ctx->arena, &extent, sizeof extent);
    map_set(rewriter->ctx->arena, &memory->spread, buffer, spread);
    Stmt copy = *stmt;
    copy.as.declare.buffer = spread;
    copy.as.declare.body = rewrite_stmt(rewriter, stmt->as.declare.body);
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *spread_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    LaneMemory *memory = rewriter->data;
    if (stmt->kind == STMT_ALLOCATE)
        return spread_allocation(rewriter, stmt);
    if (stmt->kind == STMT_DECL_BUFFER)
        return spread_declaration(rewriter, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    Buffer *spread = stmt->kind == STMT_STORE ? map_get(&memory->spread, stmt->as.store.buffer) : NULL;
    if (!spread)
        return result;
    const Expr *index = lane_element(memory->lanes, result->as.store.indices[0]);
    return stmt_store(rewriter->ctx, spread, &index, 1, result->as.store.value, NULL, stmt->span);
}

/* --- Statements --- */
static const Stmt *stmt_lanes(Lanes *lanes, const Stmt *stmt);

static const Stmt *store_lanes(Lanes *lanes, const Stmt *stmt)
{
    const Expr *index = lanes_expr(lanes, stmt->as.store.indices[0]), *value = lanes_expr(lanes, stmt->as.store.value);
    if (index->dtype.lanes > 1 || value->dtype.lanes > 1 || lanes->mask) {
        index = lanes_spread(lanes, index);
        value = lanes_spread(lanes, value);
    }
    return stmt_store(lanes->ctx, stmt->as.store.buffer, &index, 1, value, lanes->mask, stmt->span);
}

static const Stmt *stmt_under(Lanes *lanes, const Stmt *stmt, const Expr *condition, bool negated, bool first_runs)
{
    Lanes outer = *lanes;
    lanes->mask = lanes_mask_with(lanes, condition, negated);
    lanes->first_runs &= first_runs;
    stmt = stmt_lanes(lanes, stmt);
    lanes->mask = outer.mask;
    lanes->first_runs = outer.first_runs;
    return stmt;
}

/* Splits CONDITION in parts that are the same for all lanes and can be asked before the rest, and others. */
static void split_condition(Lanes *lanes, const Expr *condition, ExprList *same, ExprList *varying)
{
    ExprList parts = {0};
    conjunction_split(lanes->ctx, condition, &parts);
    for (int i = 0; i < parts.count; i++) {
        bool scalar = !expr_needs_guard(parts.data[i]) && lanes_expr(lanes, parts.data[i])->dtype.lanes == 1;
        vec_push(lanes->ctx->arena, scalar ? same : varying, parts.data[i]);
    }
}

/* A condition that varies becomes a mask, one that reads memory is kept in a variable: the branches may change what it reads. */
static const Stmt *branch_lanes(Lanes *lanes, const Stmt *stmt)
{
    Context *ctx = lanes->ctx;
    ExprList same = {0}, varying = {0};
    if (!stmt->as.branch.else_body && expr_is_pure(stmt->as.branch.condition))
        split_condition(lanes, stmt->as.branch.condition, &same, &varying);
    if (same.count && varying.count) {
        const Stmt *rest = stmt_if(ctx, conjunction_join(ctx, &varying), stmt->as.branch.then_body, NULL, stmt->span);
        return stmt_if(ctx, lanes_expr(lanes, conjunction_join(ctx, &same)), branch_lanes(lanes, rest), NULL, stmt->span);
    }
    const Expr *condition = lanes_expr(lanes, stmt->as.branch.condition);
    const Stmt *then_body = stmt->as.branch.then_body, *else_body = stmt->as.branch.else_body;
    if (condition->dtype.lanes == 1)
        return stmt_if(ctx, condition, stmt_lanes(lanes, then_body), else_body ? stmt_lanes(lanes, else_body) : NULL, stmt->span);
    bool keep = expr_reads_memory(condition);
    Var *kept = keep ? var_new(ctx, context_intern(ctx, "mask"), condition->dtype, stmt->span) : NULL;
    const Expr *mask = keep ? expr_var(ctx, kept) : condition;
    const Stmt *parts[] = {stmt_under(lanes, then_body, mask, false, lanes_first_holds(lanes, stmt->as.branch.condition)),
                           else_body ? stmt_under(lanes, else_body, mask, true, false) : stmt_empty(ctx)};
    const Stmt *both = stmt_seq(ctx, parts, 2);
    return keep ? stmt_let(ctx, kept, condition, both, stmt->span) : both;
}

static const Stmt *let_lanes(Lanes *lanes, const Stmt *stmt)
{
    Context *ctx = lanes->ctx;
    const Expr *value = lanes_expr(lanes, stmt->as.let.value);
    Var *var = stmt->as.let.var;
    if (value->dtype.lanes > 1) {
        var = var_new(ctx, var->name, value->dtype, var->span);
        map_set(ctx->arena, &lanes->lets, stmt->as.let.var, var);
    }
    return stmt_let(ctx, var, value, stmt_lanes(lanes, stmt->as.let.body), stmt->span);
}

static const Stmt *seq_lanes(Lanes *lanes, const Stmt *stmt)
{
    int count = stmt->as.seq.count;
    const Stmt **items = ARENA_ARRAY(lanes->ctx->arena, const Stmt *, count);
    for (int i = 0; i < count; i++)
        items[i] = stmt_lanes(lanes, stmt->as.seq.items[i]);
    return stmt_seq(lanes->ctx, items, count);
}

static const Stmt *stmt_lanes(Lanes *lanes, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_SEQ: return seq_lanes(lanes, stmt);
    case STMT_IF: return branch_lanes(lanes, stmt);
    case STMT_LET: return let_lanes(lanes, stmt);
    case STMT_STORE: return store_lanes(lanes, stmt);
    case STMT_EVALUATE: return stmt_empty(lanes->ctx); /* a value without effect: calls that have one are refused */
    default: return stmt_with_body(lanes->ctx, stmt, stmt_lanes(lanes, stmt_body(stmt))); /* bounds and extents do not vary */
    }
}

/* --- The pass --- */
typedef struct {
    Context *ctx;
    Analyzer *an;
    Map sizes; /* see vectorize.h */
} VectorizePass;

static void refuse_call(Context *ctx, const Stmt *loop, const Expr *call)
{
    const char *name = call->arg_count && call->args[0]->kind == EXPR_STRING ? call->args[0]->value.text : op_info(call->value.op)->name;
    diag_error(ctx, call->span.file ? call->span : loop->span, "the call of '%s' cannot be vectorized, as it may have effects", name);
    diag_note(ctx, loop->span, "loop '%s' is vectorized%s", loop->as.loop.var->name, expr_pure_way(call));
}

/* True when the extent of the vectorized loop STMT allows vectors; else an error has been reported. */
static bool check_extent(Context *ctx, const Stmt *stmt)
{
    const char *name = stmt->as.loop.var->name;
    int64_t extent;
    if (!expr_const_int(stmt->as.loop.extent, &extent)) {
        diag_error(ctx, stmt->span,
                   "the extent of the vectorized loop '%s' is not constant: split it by a constant and vectorize the inner loop", name);
        return false;
    }
    if (extent > MOST_LANES) {
        diag_error(ctx, stmt->span,
                   "the vectorized loop '%s' has %lld iterations, more than %d: split it, say by [None, 16], and vectorize the inner loop", name,
                   (long long)extent, MOST_LANES);
        return false;
    }
    return true;
}

static const Stmt *serial(Context *ctx, const Stmt *stmt)
{
    ForStmt loop = stmt->as.loop;
    loop.kind = FOR_SERIAL;
    return stmt_for(ctx, loop, stmt->span);
}

static const Stmt *vectorize_loop(const VectorizePass *pass, const Stmt *stmt)
{
    Context *ctx = pass->ctx;
    const ForStmt *loop = &stmt->as.loop;
    const Expr *call = NULL;
    const char *why = vectorize_obstacle(ctx, loop, &call);
    if (call)
        refuse_call(ctx, stmt, call);
    if (call || !check_extent(ctx, stmt))
        return serial(ctx, stmt);
    int lane_count = (int)loop->extent->value.integer;
    if (lane_count <= 1)
        return serial(ctx, stmt);
    if (why) {
        diag_warning(ctx, WARNING_SERIAL_LOOP, stmt->span, "the vectorized loop '%s' runs serially: %s", loop->var->name, why);
        return serial(ctx, stmt);
    }
    Lanes lanes = {.ctx = ctx, .var = loop->var, .min = loop->min, .lanes = lane_count,
                   .first_runs = true, .an = pass->an, .sizes = &pass->sizes};
    LaneMemory memory = {.lanes = &lanes};
    Rewriter rewriter = {.ctx = ctx, .expr = spread_in_expr, .stmt = spread_in_stmt, .data = &memory};
    return stmt_lanes(&lanes, rewrite_stmt(&rewriter, loop->body));
}

/* --- Memory that is filled before it is read --- */

/* Memory of constant size that the function allocates. */
typedef struct {
    const Stmt *allocation;
    int64_t size;
    int loops, conditions; /* around the allocation */
    bool read;             /* before anything was known to fill it */
} Memory;

typedef struct {
    VectorizePass *pass;
    Map memories;  /* data Var -> Memory * */
    Map allocated; /* data Vars of all memory that the function allocates */
    VEC(const ForStmt *) loops;
    int conditions; /* and loops of unknown ends, around what is visited */
    bool found;
} MemoryFinder;

/* The extent of LOOP, which starts at 0; 0 when it is no constant. */
static int64_t constant_extent(const ForStmt *loop)
{
    int64_t extent = 0;
    return expr_is_int(loop->min, 0) && expr_const_int(loop->extent, &extent) && extent > 0 ? extent : 0;
}

/* The loop inside of MEMORY's allocation whose variable has COEFFICIENT in SUM, or NULL. */
static const ForStmt *loop_of_stride(const MemoryFinder *finder, const Memory *memory, const LinearSum *sum, int64_t coefficient)
{
    for (int t = 0; t < sum->terms.count; t++)
        for (int i = memory->loops; i < finder->loops.count && sum->terms.data[t].coefficient == coefficient; i++)
            if (expr_is_var(sum->terms.data[t].atom, finder->loops.data[i]->var))
                return finder->loops.data[i];
    return NULL;
}

static bool find_allocated(Visitor *visitor, const Expr *expr)
{
    MemoryFinder *finder = visitor->data;
    finder->found |= expr->kind == EXPR_LOAD && map_has(&finder->allocated, expr->value.buffer->data);
    return !finder->found;
}

/* VALUE reads what the function allocates: it may copy what was never written. */
static bool reads_allocated(MemoryFinder *finder, const Expr *value)
{
    Visitor visitor = {.expr = find_allocated, .data = finder};
    finder->found = false;
    visit_expr(&visitor, value);
    return finder->found;
}

/* STORE, in all iterations of the loops since the allocation of MEMORY, writes all of it: the index is a number whose digits the loops are. */
static bool store_fills(MemoryFinder *finder, const Memory *memory, const Stmt *store)
{
    LinearSum sum = {0};
    if (finder->conditions != memory->conditions || store->as.store.mask || store->as.store.index_count != 1 ||
        reads_allocated(finder, store->as.store.value) ||
        !linear_sum_of(finder->pass->ctx, store->as.store.indices[0], &sum) || sum.constant)
        return false;
    for (int i = memory->loops; i < finder->loops.count; i++)
        if (!constant_extent(finder->loops.data[i]))
            return false;
    int64_t written = 1;
    for (int digits = 0; digits < sum.terms.count; digits++) {
        const ForStmt *loop = loop_of_stride(finder, memory, &sum, written);
        if (!loop || written > memory->size)
            return false;
        written *= constant_extent(loop);
    }
    return written == memory->size;
}

static bool find_read(Visitor *visitor, const Expr *expr)
{
    MemoryFinder *finder = visitor->data;
    Memory *memory = expr->kind == EXPR_LOAD ? map_get(&finder->memories, expr->value.buffer->data) : NULL;
    if (memory)
        memory->read = true;
    return true;
}

static void add_readable(VectorizePass *pass, const Var *data, const Expr *extent, DType dtype)
{
    map_set(pass->ctx->arena, &pass->sizes, data, arena_copy(pass->ctx->arena, &(ReadableMemory){extent, dtype}, sizeof(ReadableMemory)));
}

/* The caller gives memory for all elements of a parameter, and values where the function writes none. What lies before the first element may
   belong to nobody. */
static void add_parameters(VectorizePass *pass, const Func *func)
{
    Map roots = {0};
    effects_add_view_roots(pass->ctx, &roots, func->body);
    Effects effects = effects_of_stmt(pass->ctx, &roots, func->body, NULL);
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        if (buffer && !map_has(&effects.writes, effects_root(&roots, buffer->data)) &&
            (!buffer->elem_offset || expr_is_int(buffer->elem_offset, 0)))
            add_readable(pass, buffer->data, buffer_span(pass->ctx, buffer), buffer->dtype);
    }
}

static bool find_memory(Visitor *visitor, const Stmt *stmt)
{
    MemoryFinder *finder = visitor->data;
    Arena *arena = finder->pass->ctx->arena;
    int64_t size;
    if (stmt->kind == STMT_FOR)
        vec_push(arena, &finder->loops, &stmt->as.loop);
    finder->conditions += stmt->kind == STMT_IF || stmt->kind == STMT_WHILE;
    if (stmt->kind == STMT_ALLOCATE)
        map_set(arena, &finder->allocated, stmt->as.allocate.var, stmt->as.allocate.var);
    if (stmt->kind == STMT_ALLOCATE && stmt->as.allocate.extent_count == 1 && expr_const_int(stmt->as.allocate.extents[0], &size)) {
        Memory *memory = ARENA_NEW(arena, Memory);
        *memory = (Memory){stmt, size, finder->loops.count, finder->conditions, false};
        map_set(arena, &finder->memories, stmt->as.allocate.var, memory);
    }
    Memory *memory = stmt->kind == STMT_STORE ? map_get(&finder->memories, stmt->as.store.buffer->data) : NULL;
    if (memory && !memory->read && store_fills(finder, memory, stmt))
        add_readable(finder->pass, stmt->as.store.buffer->data, memory->allocation->as.allocate.extents[0], memory->allocation->as.allocate.dtype);
    return true;
}

static void leave_loop_or_condition(Visitor *visitor, const Stmt *stmt)
{
    MemoryFinder *finder = visitor->data;
    if (stmt->kind == STMT_FOR)
        (void)vec_pop(&finder->loops);
    finder->conditions -= stmt->kind == STMT_IF || stmt->kind == STMT_WHILE;
}

static const Stmt *vectorize_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    VectorizePass *pass = rewriter->data;
    facts_bind_stmt(pass->an, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    return result->kind == STMT_FOR && result->as.loop.kind == FOR_VECTORIZED ? vectorize_loop(pass, result) : result;
}

const Func *lower_vectorize(LowerState *state, const Func *func)
{
    VectorizePass pass = {.ctx = state->ctx, .an = analyzer_new(state->ctx)};
    facts_bind_sizes(pass.an, func);
    add_parameters(&pass, func);
    MemoryFinder finder = {.pass = &pass};
    Visitor visitor = {.expr = find_read, .stmt = find_memory, .leave_stmt = leave_loop_or_condition, .data = &finder};
    visit_stmt(&visitor, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = vectorize_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
