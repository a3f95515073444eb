/* Pass "storage_rewrite": allocations that do not live at the same time share memory.

     B = T.decl_buffer((64,))                           B = T.allocate([64], "float32", "global")
     for i in range(64):                                B_1 = T.decl_buffer((64,), data=B)
         B[i] = A[i] + T.float32(1.0)                   C = T.decl_buffer((64,), data=B)
     C = T.decl_buffer((64,))                     ->    for i in range(64):
     for i in range(64):                                    B_1[i] = A[i] + T.float32(1.0)
         C[i] = B[i] * T.float32(2.0)                   for i in range(64):
     ... C ...                                              C[i] = B_1[i] * T.float32(2.0)

   Allocations move to the top of the function, or of the iteration of a parallel loop or the thread that holds them: what a serial loop
   allocates is fresh in each iteration, so that it may as well hold what the last one left. An allocation lives from its first access to its
   last one; accesses in a loop that does not hold the allocation, or a launch of threads, count for the whole loop. Memory is shared by
   allocations of one type and scope, not by those of a thread alone ("local"), nor by those that threads share, nor by single elements,
   which are registers. C takes the place of B though both live in one statement where that statement alone writes C, and each of its
   iterations reads of B only the element that it writes of C, which no other iteration writes. */
#include <string.h>

#include "passes/arith/iter_map.h"
#include "passes/transform/internal.h"

typedef struct {
    const Stmt *stmt;   /* the ALLOCATE */
    int scope;          /* of Rewriting.scopes */
    int depth;          /* loops around it */
    int first, last;    /* positions of the accesses; FIRST 0: none */
    int64_t size;       /* elements */
    bool pinned;        /* it has another name */
    struct Memory *memory;
} Allocation;

/* Memory that allocations share. */
typedef struct Memory {
    const Allocation *owner; /* the first */
    VEC(const Allocation *) users;
    int scope, last;
    int64_t size;
    bool same; /* all users have the owner's extents */
} Memory;

/* A nest of loops around one store, or a store alone. */
typedef struct {
    const Stmt *store;
    VEC(const Stmt *) loops;
    int first, last;
} Nest;

typedef struct {
    Context *ctx;
    int position;
    VEC(Allocation *) allocations;
    Map by_data; /* data Var -> Allocation */
    VEC(const Stmt *) scopes; /* statements whose bodies are tops; the first is NULL: the function */
    int scope;
    struct {
        const Stmt *stmt;
        int begin;
    } loops[64];
    int loop_count; /* loops around, and virtual threads */
    bool too_deep;
    VEC(Nest) nests;
    VEC(Memory *) memories;
    Subst subst;
} Rewriting;

/* --- lives --- */

static bool opens_scope(const Stmt *stmt)
{
    if (stmt->kind == STMT_FOR)
        return stmt->as.loop.kind == FOR_PARALLEL || stmt->as.loop.kind == FOR_THREAD || stmt->as.loop.kind == FOR_VECTORIZED;
    return stmt->kind == STMT_ATTR && !strcmp(stmt->as.attr.key, "virtual_thread");
}

/* An access to DATA at POSITION, or, where loops that do not hold the allocation are around it, when the outermost of them begins; its end is
   noted by note_loop_end. */
static void note_access(Rewriting *r, const Var *data)
{
    Allocation *allocation = map_get(&r->by_data, data);
    if (!allocation)
        return;
    int position = r->loop_count > allocation->depth ? r->loops[allocation->depth].begin : r->position;
    if (!allocation->first)
        allocation->first = position;
    allocation->last = r->position;
}

static void note_loop_end(Rewriting *r, int depth, int begin)
{
    for (int i = 0; i < r->allocations.count; i++) {
        Allocation *allocation = r->allocations.data[i];
        if (allocation->depth <= depth && allocation->first && allocation->last >= begin)
            allocation->last = r->position;
    }
}

static bool pin(Visitor *visitor, const Expr *expr)
{
    Rewriting *r = visitor->data;
    Allocation *allocation = expr->kind == EXPR_VAR ? map_get(&r->by_data, expr->value.var) : NULL;
    if (allocation)
        allocation->pinned = true;
    return true;
}

/* Memory that VALUE, of a let, points to has another name: its accesses are not all seen. */
static void pin_pointer(Rewriting *r, const Expr *value)
{
    Visitor visitor = {.expr = pin, .data = r};
    if (value->dtype.code == DT_HANDLE)
        visit_expr(&visitor, value);
}

static bool note_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LET)
        pin_pointer(visitor->data, expr->args[0]);
    if (expr->kind == EXPR_LOAD)
        note_access(visitor->data, expr->value.buffer->data);
    if (expr->kind == EXPR_VAR)
        note_access(visitor->data, expr->value.var);
    return true;
}

static void note_allocation(Rewriting *r, const Stmt *stmt)
{
    Allocation *allocation = ARENA_NEW(r->ctx->arena, Allocation);
    *allocation = (Allocation){.stmt = stmt, .scope = r->scope, .depth = r->loop_count, .size = 1};
    bool movable = expr_is_int(stmt->as.allocate.condition, 1) && !stmt->as.allocate.annotations.count;
    for (int i = 0; i < stmt->as.allocate.extent_count && movable; i++) {
        int64_t extent;
        movable = expr_const_int(stmt->as.allocate.extents[i], &extent) && extent > 0 && extent <= INT32_MAX / allocation->size;
        allocation->size *= movable ? extent : 0;
    }
    if (!movable)
        return;
    map_set(r->ctx->arena, &r->by_data, stmt->as.allocate.var, allocation);
    vec_push(r->ctx->arena, &r->allocations, allocation);
}

static bool enter_loop(Rewriting *r, const Stmt *stmt)
{
    enum { MOST_LOOPS = sizeof r->loops / sizeof *r->loops };
    if (r->loop_count == MOST_LOOPS)
        return !(r->too_deep = true);
    r->loops[r->loop_count].stmt = stmt;
    r->loops[r->loop_count++].begin = r->position;
    return true;
}

static void note_stmt(Rewriting *r, const Stmt *stmt);

static void note_body(Rewriting *r, const Stmt *stmt)
{
    int scope = r->scope;
    if (opens_scope(stmt)) {
        r->scope = r->scopes.count;
        vec_push(r->ctx->arena, &r->scopes, stmt);
    }
    note_stmt(r, stmt_body(stmt));
    r->scope = scope;
}

/* A store, or a loop around nothing but one: what may be written in place. */
static void note_nest(Rewriting *r, const Stmt *stmt, int first)
{
    Nest nest = {.first = first, .last = r->position};
    for (; stmt->kind == STMT_FOR && stmt->as.loop.kind != FOR_THREAD; stmt = stmt->as.loop.body)
        vec_push(r->ctx->arena, &nest.loops, stmt);
    nest.store = stmt;
    if (stmt->kind == STMT_STORE)
        vec_push(r->ctx->arena, &r->nests, nest);
}

static void note_stmt(Rewriting *r, const Stmt *stmt)
{
    Visitor exprs = {.expr = note_expr, .data = r};
    int first = ++r->position;
    visit_stmt_exprs(&exprs, stmt, MOMENT_ENTRY);
    if (stmt->kind == STMT_LET)
        pin_pointer(r, stmt->as.let.value);
    if (stmt->kind == STMT_STORE)
        note_access(r, stmt->as.store.buffer->data);
    bool repeats = stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE || opens_scope(stmt);
    bool entered = repeats && enter_loop(r, stmt);
    visit_stmt_exprs(&exprs, stmt, MOMENT_INSIDE);
    if (stmt->kind == STMT_ALLOCATE)
        note_allocation(r, stmt);
    for (int i = 0; stmt->kind == STMT_SEQ && i < stmt->as.seq.count; i++)
        note_stmt(r, stmt->as.seq.items[i]);
    if (stmt->kind == STMT_IF) {
        note_stmt(r, stmt->as.branch.then_body);
        if (stmt->as.branch.else_body)
            note_stmt(r, stmt->as.branch.else_body);
    } else if (stmt_body(stmt)) {
        note_body(r, stmt);
    }
    if (entered) {
        r->loop_count--;
        r->position++;
        note_loop_end(r, r->loop_count, r->loops[r->loop_count].begin);
    }
    if (stmt->kind == STMT_STORE || stmt->kind == STMT_FOR)
        note_nest(r, stmt, first);
}

/* --- who shares --- */

/* Threads that share memory would need a barrier between one life and the next. */
static bool may_share(const Allocation *allocation)
{
    const Stmt *stmt = allocation->stmt;
    bool small = allocation->size * stmt->as.allocate.dtype.bits <= 32;
    return !allocation->pinned && scope_class(stmt->as.allocate.scope) == SCOPE_GLOBAL && !small;
}

static bool same_extents(const Stmt *a, const Stmt *b)
{
    bool same = a->as.allocate.extent_count == b->as.allocate.extent_count;
    for (int i = 0; same && i < a->as.allocate.extent_count; i++)
        same = expr_equal(a->as.allocate.extents[i], b->as.allocate.extents[i]);
    return same;
}

static bool fits(const Memory *memory, const Allocation *allocation)
{
    enum { MOST_RATIO = 16 };
    const Stmt *owner = memory->owner->stmt, *stmt = allocation->stmt;
    return memory->scope == allocation->scope && may_share(memory->owner) && may_share(allocation) &&
           dtype_equal(owner->as.allocate.dtype, stmt->as.allocate.dtype) && !strcmp(owner->as.allocate.scope, stmt->as.allocate.scope) &&
           memory->size / MOST_RATIO <= allocation->size && allocation->size / MOST_RATIO <= memory->size;
}

typedef struct {
    const Var *data;
    const Expr *const *indices;
    int index_count;
    bool elsewhere; /* it is read at another place, or its pointer is used */
} InPlaceCheck;

static bool check_read(Visitor *visitor, const Expr *expr)
{
    InPlaceCheck *check = visitor->data;
    check->elsewhere |= expr->kind == EXPR_VAR && expr->value.var == check->data;
    if (expr->kind != EXPR_LOAD || expr->value.buffer->data != check->data)
        return true;
    bool same = load_index_count(expr) == check->index_count && !load_mask(expr);
    for (int i = 0; same && i < check->index_count; i++)
        same = expr_equal(expr->args[i], check->indices[i]);
    check->elsewhere |= !same;
    return true;
}

/* Each iteration of NEST writes an element of its own. */
static bool writes_once(Rewriting *r, const Nest *nest)
{
    VarRange *iters = ARENA_ARRAY(r->ctx->arena, VarRange, nest->loops.count);
    for (int i = 0; i < nest->loops.count; i++)
        iters[i] = (VarRange){nest->loops.data[i]->as.loop.var, {nest->loops.data[i]->as.loop.min, nest->loops.data[i]->as.loop.extent}};
    IterMapQuery query = {.bindings = nest->store->as.store.indices, .binding_count = nest->store->as.store.index_count, .iters = iters,
                          .iter_count = nest->loops.count, .level = ITER_MAP_BIJECTIVE, .simplify_trivial = true};
    IterMapResult result;
    return iter_map_detect(analyzer_new(r->ctx), &query, &result);
}

static bool has_same_form(const Buffer *a, const Buffer *b)
{
    bool same = a->ndim == b->ndim && buffer_is_dense(a) && buffer_is_dense(b) && expr_equal(a->elem_offset, b->elem_offset);
    for (int i = 0; same && i < a->ndim; i++)
        same = expr_equal(a->shape[i], b->shape[i]);
    return same;
}

typedef struct {
    const Var *data;
    const Buffer *buffer; /* the one that is read */
} BufferSearch;

static bool find_buffer(Visitor *visitor, const Expr *expr)
{
    BufferSearch *search = visitor->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer->data == search->data)
        search->buffer = expr->value.buffer;
    return true;
}

/* NEST writes TO in the place of FROM, whose life ends in it. */
static bool is_in_place(Rewriting *r, const Nest *nest, const Allocation *from, const Allocation *to)
{
    const Stmt *store = nest->store;
    if (store->as.store.buffer->data != to->stmt->as.allocate.var || store->as.store.mask || from->size != to->size)
        return false;
    InPlaceCheck check = {from->stmt->as.allocate.var, (const Expr *const *)store->as.store.indices, store->as.store.index_count, false};
    BufferSearch search = {from->stmt->as.allocate.var, NULL}, own = {to->stmt->as.allocate.var, NULL};
    Visitor reads = {.expr = check_read, .data = &check}, find = {.expr = find_buffer, .data = &search}, find_own = {.expr = find_buffer, .data = &own};
    visit_expr(&reads, store->as.store.value);
    visit_expr(&find, store->as.store.value);
    visit_stmt(&find_own, store);
    for (int i = 0; i < store->as.store.index_count; i++)
        visit_expr(&reads, store->as.store.indices[i]);
    for (int i = 0; i < nest->loops.count; i++)
        visit_stmt_exprs(&reads, nest->loops.data[i], MOMENT_ENTRY);
    return !check.elsewhere && !own.buffer && search.buffer && has_same_form(search.buffer, store->as.store.buffer) && writes_once(r, nest);
}

static bool dies_in_place(Rewriting *r, const Memory *memory, const Allocation *allocation)
{
    const Allocation *last = memory->users.data[memory->users.count - 1];
    for (int i = 0; i < r->nests.count; i++) {
        const Nest *nest = &r->nests.data[i];
        if (nest->first == allocation->first && nest->last == memory->last && is_in_place(r, nest, last, allocation))
            return true;
    }
    return false;
}

/* The memory for ALLOCATION among that which is free then: one that it fits into if there is such, the smallest; else the largest. */
static Memory *choose_memory(Rewriting *r, const Allocation *allocation)
{
    Memory *best = NULL;
    for (int i = 0; i < r->memories.count; i++) {
        Memory *memory = r->memories.data[i];
        if (!fits(memory, allocation))
            continue;
        if (memory->last >= allocation->first && dies_in_place(r, memory, allocation))
            return memory;
        if (memory->last >= allocation->first)
            continue;
        bool holds = memory->size >= allocation->size, best_holds = best && best->size >= allocation->size;
        if (!best || (holds && (!best_holds || memory->size < best->size)) || (!holds && !best_holds && memory->size > best->size))
            best = memory;
    }
    return best;
}

static void share(Rewriting *r)
{
    for (int done = 0; done < r->allocations.count; done++) {
        Allocation *next = NULL;
        for (int i = 0; i < r->allocations.count; i++) {
            Allocation *allocation = r->allocations.data[i];
            if (!allocation->memory && (!next || allocation->first < next->first))
                next = allocation;
        }
        Memory *memory = next->first ? choose_memory(r, next) : NULL;
        if (!memory) {
            memory = ARENA_NEW(r->ctx->arena, Memory);
            *memory = (Memory){.owner = next, .scope = next->scope, .size = next->size, .same = true};
            vec_push(r->ctx->arena, &r->memories, memory);
        }
        memory->same &= same_extents(memory->owner->stmt, next->stmt);
        memory->size = next->size > memory->size ? next->size : memory->size;
        memory->last = next->last;
        next->memory = memory;
        vec_push(r->ctx->arena, &memory->users, (const Allocation *)next);
        if (memory->owner != next)
            subst_var(r->ctx, &r->subst, next->stmt->as.allocate.var, expr_var(r->ctx, memory->owner->stmt->as.allocate.var));
    }
}

/* --- the new program --- */

/* The buffer that stands for BUFFER, over the memory that it shares. */
static Buffer *shared_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Rewriting *r = rewriter->data;
    Allocation *allocation = map_get(&r->by_data, buffer->data);
    if (!allocation || allocation->memory->owner == allocation)
        return buffer;
    Buffer *result = map_get(&r->subst.buffers, buffer);
    if (!result) {
        result = buffer_clone(r->ctx, buffer);
        result->data = allocation->memory->owner->stmt->as.allocate.var;
        subst_buffer(r->ctx, &r->subst, buffer, result);
        rewrite_buffer_layout(rewriter, result);
    }
    return result;
}

static const Expr *share_in_expr(Rewriter *rewriter, const Expr *expr)
{
    Rewriting *r = rewriter->data;
    const Expr *value = expr->kind == EXPR_VAR ? map_get(&r->subst.vars, expr->value.var) : NULL;
    return value ? value : rewrite_expr_children(rewriter, expr);
}

static Buffer *own_declaration(const Allocation *allocation)
{
    const Stmt *body = allocation->stmt->as.allocate.body;
    bool own = body->kind == STMT_DECL_BUFFER && body->as.declare.buffer->data == allocation->stmt->as.allocate.var;
    return own ? body->as.declare.buffer : NULL;
}

/* BODY, the body of scope number SCOPE, in the allocations that belong there. */
static const Stmt *allocate_around(Rewriter *rewriter, int scope, const Stmt *body)
{
    Rewriting *r = rewriter->data;
    for (int i = r->memories.count - 1; i >= 0; i--) {
        const Memory *memory = r->memories.data[i];
        if (memory->scope != scope || !memory->last)
            continue;
        for (int k = memory->users.count - 1; memory->same && k >= 0; k--) {
            Buffer *buffer = own_declaration(memory->users.data[k]);
            if (buffer)
                body = stmt_new(r->ctx, &(Stmt){.kind = STMT_DECL_BUFFER, .span = body->span,
                                                .as.declare = {shared_buffer(rewriter, buffer), true, body}});
        }
        Stmt allocate = *memory->owner->stmt;
        if (!memory->same) {
            const Expr *size = expr_int(r->ctx, DTYPE_INT32, memory->size);
            allocate.as.allocate.extents = arena_copy(r->ctx->arena, &size, sizeof size);
            allocate.as.allocate.extent_count = 1;
        }
        allocate.as.allocate.body = body;
        body = stmt_new(r->ctx, &allocate);
    }
    return body;
}

static int scope_of(const Rewriting *r, const Stmt *stmt)
{
    for (int i = 1; i < r->scopes.count; i++)
        if (r->scopes.data[i] == stmt)
            return i;
    return -1;
}

static const Stmt *share_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Rewriting *r = rewriter->data;
    Allocation *allocation = stmt->kind == STMT_ALLOCATE ? map_get(&r->by_data, stmt->as.allocate.var) : NULL;
    if (allocation) {
        Buffer *own = own_declaration(allocation);
        const Stmt *body = stmt->as.allocate.body;
        bool hoisted = own && (allocation->memory->same || !allocation->first);
        return rewrite_stmt(rewriter, hoisted ? body->as.declare.body : body);
    }
    int scope = opens_scope(stmt) ? scope_of(r, stmt) : -1;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    return scope < 0 ? result : stmt_with_body(r->ctx, result, allocate_around(rewriter, scope, stmt_body(result)));
}

const Func *transform_storage_rewrite(LowerState *state, const Func *func)
{
    Rewriting r = {.ctx = state->ctx};
    vec_push(state->ctx->arena, &r.scopes, (const Stmt *)NULL);
    note_stmt(&r, func->body);
    if (r.too_deep)
        return func;
    share(&r);
    Rewriter rewriter = {.ctx = state->ctx, .expr = share_in_expr, .stmt = share_in_stmt, .buffer = shared_buffer, .data = &r};
    return func_with_body(state->ctx, func, allocate_around(&rewriter, 0, rewrite_stmt(&rewriter, func->body)));
}
