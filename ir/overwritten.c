/* Whether the content that a buffer parameter comes with matters: func_overwrites in signature.h.

   Three ways of writing before reading are known, on surface and scheduled programs:
   - a block's init stores the element that the rest of the block reads; an init runs before any update of its point;
   - a nest of loops stores every element, each once for its indices, before the statements after it;
   - a block of calls declares that it writes the whole buffer and reads nothing of it; one that declares nothing gives a pointer to all of
     it, whose access mask says so.
   All else, accesses through views and pointers included, counts as a read of what was there. */
#include "ir/signature.h"
#include "ir/walk.h"

/* What a statement does to the buffer. */
typedef enum { READS_OLD, READS_NOTHING, WRITES_ALL } BufferUse;

typedef struct {
    Context *ctx;
    const Buffer *buffer;
    const Stmt *init; /* the store that covers reads of its element; NULL: none */
    Map bindings;     /* const Var *, an axis of a block -> the variable, an Expr, that it is bound to */
    bool reads_old;
    int pointers; /* to all of the buffer, for writes only, in the calls that are looked at */
} Finder;

/* The variable outside of the blocks that INDEX, an axis, is; any other INDEX itself. */
static const Expr *outside_blocks(const Finder *finder, const Expr *index)
{
    const Expr *binding = index;
    while (binding) {
        index = binding;
        binding = index->kind == EXPR_VAR ? map_get(&finder->bindings, index->value.var) : NULL;
    }
    return index;
}

static bool same_element(const Finder *finder, const Stmt *store, const Expr *load)
{
    if (store->as.store.index_count != load_index_count(load))
        return false;
    for (int i = 0; i < store->as.store.index_count; i++)
        if (!expr_equal(outside_blocks(finder, store->as.store.indices[i]), outside_blocks(finder, load->args[i])))
            return false;
    return true;
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    Finder *finder = visitor->data;
    if (expr->kind == EXPR_VAR && expr->value.var == finder->buffer->data)
        finder->reads_old = true;
    if (expr->kind == EXPR_LOAD && expr->value.buffer->data == finder->buffer->data)
        finder->reads_old |= expr->value.buffer != finder->buffer || !finder->init || !same_element(finder, finder->init, expr);
    return !finder->reads_old;
}

/* STMT as a store of one element of the buffer, else NULL. */
static const Stmt *as_store(const Finder *finder, const Stmt *stmt)
{
    while (stmt && (stmt->kind == STMT_LET || stmt->kind == STMT_ATTR))
        stmt = stmt_body(stmt);
    bool stores = stmt && stmt->kind == STMT_STORE && stmt->as.store.buffer == finder->buffer && !stmt->as.store.mask &&
                  stmt->as.store.value->dtype.lanes == 1;
    return stores ? stmt : NULL;
}

/* --- A nest that stores every element --- */

enum { MOST_LOOPS = 64 };

/* A variable that runs from 0 to below an extent: a loop's, or a block axis bound to one. */
typedef struct {
    const Expr *extent;
    uint64_t loop; /* its bit */
} Axis;

typedef struct {
    const Finder *finder;
    Map axes; /* const Var * -> Axis * */
    int loop_count;
    uint64_t spatial;  /* loops that spatial axes are bound to */
    uint64_t must_run; /* loops that run perhaps not at all, without which nothing is stored */
} Nest;

static void add_axis(Nest *nest, const Var *var, const Expr *extent, uint64_t loop)
{
    Axis *axis = ARENA_NEW(nest->finder->ctx->arena, Axis);
    *axis = (Axis){extent, loop};
    map_set(nest->finder->ctx->arena, &nest->axes, var, axis);
}

static void enter_loop(Nest *nest, const ForStmt *loop)
{
    int64_t extent;
    uint64_t bit = (uint64_t)1 << nest->loop_count++;
    if (!expr_const_int(loop->extent, &extent) || extent <= 0)
        nest->must_run |= bit;
    if (expr_is_int(loop->min, 0))
        add_axis(nest, loop->var, loop->extent, bit);
}

static const Axis *axis_of_binding(const Nest *nest, const Expr *binding)
{
    return binding->kind == EXPR_VAR ? map_get(&nest->axes, binding->value.var) : NULL;
}

/* An init runs whether or not its reduction loops do. A loop that gives a spatial axis, of a block around too, is none of them. */
static void enter_block(Nest *nest, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++) {
        const Axis *axis = axis_of_binding(nest, block->bindings[i]);
        nest->spatial |= axis && block->iters[i].kind == ITER_SPATIAL ? axis->loop : 0;
    }
    for (int i = 0; i < block->iter_count; i++) {
        const Iter *iter = &block->iters[i];
        const Axis *axis = axis_of_binding(nest, block->bindings[i]);
        if (axis && iter->kind == ITER_REDUCE && block->init && !(nest->spatial & axis->loop))
            nest->must_run &= ~axis->loop;
        else if (axis && expr_is_int(iter->domain.min, 0) && expr_equal(axis->extent, iter->domain.extent))
            add_axis(nest, iter->var, axis->extent, axis->loop);
    }
}

/* Each dimension has an index that takes all its values; where there are none of them, there are no elements either. */
static bool covers_buffer(const Nest *nest, const Stmt *store)
{
    const Buffer *buffer = nest->finder->buffer;
    uint64_t used = 0;
    for (int i = 0; i < buffer->ndim; i++) {
        const Expr *index = store->as.store.indices[i];
        const Axis *axis = index->kind == EXPR_VAR ? map_get(&nest->axes, index->value.var) : NULL;
        bool all = axis ? !(used & axis->loop) && expr_equal(axis->extent, buffer->shape[i])
                        : expr_is_int(index, 0) && expr_is_int(buffer->shape[i], 1);
        if (!all)
            return false;
        used |= axis ? axis->loop : 0;
    }
    return !(nest->must_run & ~used);
}

static bool stores_all(const Finder *finder, const Stmt *stmt)
{
    Nest nest = {.finder = finder};
    for (;;) {
        const Stmt *store = as_store(finder, stmt);
        if (store)
            return covers_buffer(&nest, store);
        if (stmt->kind == STMT_FOR && nest.loop_count < MOST_LOOPS) {
            enter_loop(&nest, &stmt->as.loop);
            stmt = stmt->as.loop.body;
        } else if (stmt->kind == STMT_BLOCK && expr_is_int(stmt->as.block.predicate, 1)) {
            enter_block(&nest, &stmt->as.block);
            stmt = stmt->as.block.init ? stmt->as.block.init : stmt->as.block.body;
        } else
            return false;
    }
}

/* --- Statements in their order --- */

static BufferUse effect_of(Finder *finder, const Stmt *stmt);

static bool reads_expr(Finder *finder, const Expr *expr)
{
    Visitor visitor = {.expr = find_in_expr, .data = finder};
    finder->reads_old = false;
    if (expr)
        visit_expr(&visitor, expr);
    return finder->reads_old;
}

/* STMT does nothing but call. */
static bool only_calls(const Stmt *stmt)
{
    while (stmt->kind == STMT_LET || stmt->kind == STMT_ATTR)
        stmt = stmt_body(stmt);
    bool all = true;
    for (int i = 0; stmt->kind == STMT_SEQ && i < stmt->as.seq.count; i++)
        all = all && only_calls(stmt->as.seq.items[i]);
    return all && (stmt->kind == STMT_SEQ || stmt->kind == STMT_EVALUATE);
}

static bool is_whole(const Region *region)
{
    bool whole = true;
    for (int i = 0; i < region->buffer->ndim; i++)
        whole = whole && expr_is_int(region->ranges[i].min, 0) && expr_equal(region->ranges[i].extent, region->buffer->shape[i]);
    return whole;
}

/* CALL gives a pointer to all of BUFFER that is for writes only. */
static bool points_to_all(Context *ctx, const Expr *call, const Buffer *buffer)
{
    int64_t mask;
    const Expr *count = expr_int(ctx, call->args[3]->dtype, 1);
    for (int i = 0; i < buffer->ndim && count; i++)
        count = op_binary(ctx, EXPR_MUL, count, buffer->shape[i], span_none());
    return expr_const_int(call->args[4], &mask) && mask == 2 && expr_equal(call->args[2], buffer->elem_offset) && count && expr_equal(call->args[3], count);
}

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    Finder *finder = visitor->data;
    bool pointer = expr_is_call(expr, OP_TVM_ACCESS_PTR) && expr->args[1]->kind == EXPR_VAR && expr->args[1]->value.var == finder->buffer->data;
    if (pointer && points_to_all(finder->ctx, expr, finder->buffer)) {
        finder->pointers++;
        return false;
    }
    return find_in_expr(visitor, expr);
}

/* The calls of BLOCK, which declares nothing, get no pointer to the buffer but such as are to all of it and for writes only. */
static bool calls_write_all(Finder *finder, const BlockStmt *block)
{
    Visitor visitor = {.expr = find_pointer, .data = finder};
    finder->reads_old = false;
    finder->pointers = 0;
    visit_stmt(&visitor, block->body);
    return finder->pointers && !finder->reads_old;
}

/* BLOCK holds nothing but calls, and declares that it writes the buffer and does not read it: *WHOLE, all of it. */
static bool declares_writes(Finder *finder, const BlockStmt *block, bool *whole)
{
    bool writes = false;
    *whole = expr_is_int(block->predicate, 1);
    if (block->incomplete || block->init || block->match_count || !only_calls(block->body))
        return false;
    if (!block->read_count && !block->write_count)
        return calls_write_all(finder, block);
    *whole = false;
    for (int i = 0; i < block->read_count; i++)
        if (block->reads[i].buffer->data == finder->buffer->data)
            return false;
    for (int i = 0; i < block->write_count; i++) {
        bool here = block->writes[i].buffer == finder->buffer;
        *whole |= here && is_whole(&block->writes[i]) && expr_is_int(block->predicate, 1);
        writes |= here;
    }
    return writes;
}

static BufferUse effect_of_block(Finder *finder, const BlockStmt *block)
{
    bool whole;
    if (declares_writes(finder, block, &whole))
        return whole ? WRITES_ALL : READS_NOTHING;
    for (int i = 0; i < block->match_count; i++)
        if (block->matches[i].source.buffer->data == finder->buffer->data)
            return READS_OLD;
    for (int i = 0; i < block->iter_count; i++)
        if (reads_expr(finder, block->bindings[i]))
            return READS_OLD;
    if (reads_expr(finder, block->predicate) || (block->init && effect_of(finder, block->init) == READS_OLD))
        return READS_OLD;
    for (int i = 0; i < block->iter_count; i++)
        if (block->bindings[i]->kind == EXPR_VAR)
            map_set(finder->ctx->arena, &finder->bindings, block->iters[i].var, (void *)block->bindings[i]);
    const Stmt *outside = finder->init, *store = as_store(finder, block->init);
    finder->init = store ? store : outside;
    BufferUse effect = effect_of(finder, block->body);
    finder->init = outside;
    return effect;
}

static BufferUse effect_of_store(Finder *finder, const Stmt *stmt)
{
    bool reads = reads_expr(finder, stmt->as.store.value) || reads_expr(finder, stmt->as.store.mask);
    for (int i = 0; i < stmt->as.store.index_count; i++)
        reads = reads || reads_expr(finder, stmt->as.store.indices[i]);
    return reads || (stmt->as.store.buffer != finder->buffer && stmt->as.store.buffer->data == finder->buffer->data) ? READS_OLD
                                                                                                                     : READS_NOTHING;
}

static BufferUse effect_of_seq(Finder *finder, const Stmt *stmt)
{
    BufferUse effect = READS_NOTHING;
    for (int i = 0; i < stmt->as.seq.count && effect == READS_NOTHING; i++)
        effect = effect_of(finder, stmt->as.seq.items[i]);
    return effect;
}

/* What runs perhaps not at all has no later effect. */
static BufferUse maybe(BufferUse effect)
{
    return effect == READS_OLD ? READS_OLD : READS_NOTHING;
}

static BufferUse effect_in(Finder *finder, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_SEQ: return effect_of_seq(finder, stmt);
    case STMT_FOR:
        return reads_expr(finder, stmt->as.loop.min) || reads_expr(finder, stmt->as.loop.extent)
                   ? READS_OLD
                   : maybe(effect_of(finder, stmt->as.loop.body));
    case STMT_BLOCK: return effect_of_block(finder, &stmt->as.block);
    case STMT_IF:
        if (reads_expr(finder, stmt->as.branch.condition) || effect_of(finder, stmt->as.branch.then_body) == READS_OLD)
            return READS_OLD;
        return stmt->as.branch.else_body ? maybe(effect_of(finder, stmt->as.branch.else_body)) : READS_NOTHING;
    case STMT_STORE: return effect_of_store(finder, stmt);
    case STMT_EVALUATE: return reads_expr(finder, stmt->as.evaluate) ? READS_OLD : READS_NOTHING;
    case STMT_LET: return reads_expr(finder, stmt->as.let.value) ? READS_OLD : effect_of(finder, stmt->as.let.body);
    case STMT_ATTR:
        return reads_expr(finder, stmt->as.attr.node) || reads_expr(finder, stmt->as.attr.value) ? READS_OLD
                                                                                                 : effect_of(finder, stmt->as.attr.body);
    case STMT_ASSERT: return reads_expr(finder, stmt->as.assertion.condition) ? READS_OLD : effect_of(finder, stmt->as.assertion.body);
    case STMT_ALLOCATE: return effect_of(finder, stmt->as.allocate.body);
    case STMT_ALLOCATE_CONST: return effect_of(finder, stmt->as.allocate_const.body);
    case STMT_DECL_BUFFER:
        return stmt->as.declare.buffer->data == finder->buffer->data ? READS_OLD : effect_of(finder, stmt->as.declare.body);
    case STMT_WHILE:
        return reads_expr(finder, stmt->as.while_loop.condition) ? READS_OLD : maybe(effect_of(finder, stmt->as.while_loop.body));
    case STMT_REALIZE: return READS_OLD;
    }
    return READS_OLD;
}

static BufferUse effect_of(Finder *finder, const Stmt *stmt)
{
    BufferUse effect = effect_in(finder, stmt);
    return effect == READS_NOTHING && stores_all(finder, stmt) ? WRITES_ALL : effect;
}

bool func_overwrites(Context *ctx, const Func *func, const Buffer *buffer)
{
    Finder finder = {.ctx = ctx, .buffer = buffer};
    return effect_of(&finder, func->body) != READS_OLD;
}
