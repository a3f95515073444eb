/* See reduction.h. An update is recognized by its form alone: the target is read at the element that is written, and its memory nowhere else
   in the update, by no view either. Not handled: views that blocks around define. */

#include <math.h>

#include "ir/walk.h"
#include "passes/analysis/model/reduction.h"
#include "passes/analysis/model/update.h"

/* The match_buffer views of a block and of those below it in its nest, innermost first. */
typedef struct Views {
    const struct Views *outer;
    const BlockStmt *block;
} Views;

static const Var *memory_of(const Views *views, const Buffer *buffer)
{
    const Var *memory = buffer->data;
    for (; views; views = views->outer)
        for (int i = 0; i < views->block->match_count; i++)
            if (views->block->matches[i].target->data == memory)
                memory = views->block->matches[i].source.buffer->data;
    return memory;
}

typedef struct {
    const Views *views;
    const Buffer *buffer;
    bool found;
} LoadSearch;

static bool search_load(Visitor *visitor, const Expr *expr)
{
    LoadSearch *search = visitor->data;
    search->found |= expr->kind == EXPR_LOAD && memory_of(search->views, expr->value.buffer) == memory_of(search->views, search->buffer);
    return !search->found;
}

static bool reads_buffer(const Views *views, const Expr *expr, const Buffer *buffer)
{
    LoadSearch search = {.views = views, .buffer = buffer};
    Visitor visitor = {.expr = search_load, .data = &search};
    visit_expr(&visitor, expr);
    return search.found;
}

static bool index_reads_buffer(const Views *views, const Stmt *store, const Buffer *buffer)
{
    for (int i = 0; i < store->as.store.index_count; i++)
        if (reads_buffer(views, store->as.store.indices[i], buffer))
            return true;
    return false;
}

/* The value of STORE is target op OPERAND, as its form says; OPERAND reads nothing of the target. */
static bool match_update(Context *ctx, const Views *views, const Stmt *store, UpdateForm *form)
{
    return update_match(ctx, store->as.store.value, store, form) && !reads_buffer(views, form->operand, store->as.store.buffer);
}

static void set_target(Reduction *reduction, int index, const Stmt *store, const UpdateForm *form)
{
    reduction->targets[index] = store->as.store.buffer;
    reduction->indices[index] = store->as.store.indices;
    reduction->index_counts[index] = store->as.store.index_count;
    reduction->operands[index] = form->operand;
    reduction->combines[index] = form->combine;
}

/* The stores of an update's body, with the lets around them put in and the conditions around them as choices of their values. */
typedef struct {
    Context *ctx;
    const Views *views;
    Subst *lets;
    const Stmt *stores[MOST_REDUCED];
    int count;
    bool at_once; /* the second value is that from before the first store */
} Update;

static bool recognize_single(const Update *update, Reduction *reduction)
{
    UpdateForm form;
    const Stmt *store = update->stores[0];
    if (!match_update(update->ctx, update->views, store, &form) || index_reads_buffer(update->views, store, store->as.store.buffer))
        return false;
    reduction->kind = form.kind;
    reduction->target_count = 1;
    set_target(reduction, 0, store, &form);
    return true;
}

/* --- Two targets, stored one after the other. argmin and argmax are choices by one comparison --- */

/* CONDITION, which chooses the target: value target < compared, or that or else value target == compared and index target < OPERAND, so that
   of equal values the one with the least index is kept (or, with >, the greatest). The comparison of the values; NULL: another form. */
static const Expr *compared_values(const Expr *condition, const Stmt *index, const Stmt *value, const Expr *operand)
{
    if (condition->kind != EXPR_OR)
        return condition;
    const Expr *compare = condition->args[0], *tie = condition->args[1];
    if ((compare->kind != EXPR_LT && compare->kind != EXPR_GT) || tie->kind != EXPR_AND)
        return NULL;
    const Expr *equal = tie->args[0], *order = tie->args[1];
    bool same = equal->kind == EXPR_EQ && update_is_target(equal->args[0], value) && expr_equal(equal->args[1], compare->args[1]);
    bool ordered = (order->kind == EXPR_LT || order->kind == EXPR_GT) && update_is_target(order->args[0], index) &&
                   expr_equal(order->args[1], operand);
    return same && ordered ? compare : NULL;
}

/* SELECT keeps the target of STORE, or takes another value, by which end of the values of VALUE_STORE is kept. */
static bool match_selection(const Expr *select, const Stmt *store, const Stmt *value_store, UpdateChoice *choice)
{
    if (!update_is_choice(select))
        return false;
    const Expr *condition = select->args[0], *compare = compared_values(condition, store, value_store, select->args[2]);
    return compare && update_match_choice(select, compare, store, value_store, choice) && (choice->keeps || compare == condition);
}

/* UPDATE keeps in its first target the index of what the second one keeps. */
static bool match_arg_extreme(const Update *update, Reduction *reduction)
{
    const Stmt *index = update->stores[0], *value = update->stores[1];
    UpdateChoice choices[2];
    if (!update->at_once || !match_selection(index->as.store.value, index, value, &choices[0]) ||
        !match_selection(value->as.store.value, value, value, &choices[1]) || choices[0].compare != choices[1].compare ||
        !expr_equal(choices[0].compared, choices[1].compared) || !expr_equal(choices[0].compared, choices[1].operand) ||
        expr_equal(choices[0].operand, choices[1].operand)) /* the combination could not tell the two partial results apart */
        return false;
    ExprKind compare = choices[0].compare;
    reduction->breaks_ties = index->as.store.value->args[0]->kind == EXPR_OR;
    reduction->kind = compare == EXPR_GT || compare == EXPR_GE ? REDUCE_ARG_MAX : REDUCE_ARG_MIN;
    for (int i = 0; i < MOST_REDUCED; i++) {
        UpdateForm form = {.operand = choices[i].operand};
        set_target(reduction, i, update->stores[i], &form);
    }
    return true;
}

/* Two sums that run side by side, as of values and of their squares. */
static bool match_two_sums(const Update *update, Reduction *reduction)
{
    for (int i = 0; i < MOST_REDUCED; i++) {
        UpdateForm form;
        if (!match_update(update->ctx, update->views, update->stores[i], &form) || form.kind != REDUCE_SUM)
            return false;
        set_target(reduction, i, update->stores[i], &form);
    }
    reduction->kind = REDUCE_SUM;
    return true;
}

static bool recognize_pair(const Update *update, Reduction *reduction)
{
    const Views *views = update->views;
    Update swapped = *update;
    swapped.stores[0] = update->stores[1];
    swapped.stores[1] = update->stores[0];
    if (memory_of(views, update->stores[0]->as.store.buffer) == memory_of(views, update->stores[1]->as.store.buffer) ||
        (!match_arg_extreme(update, reduction) && !match_arg_extreme(&swapped, reduction) && !match_two_sums(update, reduction)))
        return false;
    reduction->target_count = MOST_REDUCED;
    for (int i = 0; i < MOST_REDUCED; i++)
        for (int j = 0; j < MOST_REDUCED; j++)
            if (reads_buffer(views, reduction->operands[i], reduction->targets[j]) ||
                index_reads_buffer(views, update->stores[i], reduction->targets[j]))
                return false;
    return true;
}

/* --- the stores of a body --- */

static bool gather_stores(Update *update, const Stmt *body);

static bool gather_pair(Update *update, const Stmt *body)
{
    const Stmt *const *items = body->as.seq.items;
    if (body->as.seq.count != MOST_REDUCED || items[0]->kind != STMT_STORE || items[1]->kind != STMT_STORE)
        return false;
    for (int i = 0; i < MOST_REDUCED; i++)
        update->stores[i] = subst_stmt(update->ctx, update->lets, items[i]);
    update->count = MOST_REDUCED;
    update->at_once = !reads_buffer(update->views, items[1]->as.store.value, items[0]->as.store.buffer);
    return true;
}

static const Expr *element_of(Context *ctx, const Stmt *store)
{
    return expr_load(ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, NULL, store->span);
}

/* OTHER stores to the element of STORE. */
static bool same_element(const Stmt *store, const Stmt *other)
{
    bool same = store->as.store.buffer == other->as.store.buffer && !store->as.store.mask && !other->as.store.mask;
    for (int i = 0; i < store->as.store.index_count && same; i++)
        same = expr_equal(store->as.store.indices[i], other->as.store.indices[i]);
    return same;
}

/* An if statement chooses the values of its stores: a target that a branch does not store to keeps its value. The condition is evaluated before the
   stores, and so it stands in a value of a second store only where this is one from before the first. */
static bool gather_branches(Update *update, const Stmt *body)
{
    Context *ctx = update->ctx;
    const Expr *condition = subst_expr(ctx, update->lets, body->as.branch.condition);
    Update other = *update;
    if (!gather_stores(update, body->as.branch.then_body) ||
        (body->as.branch.else_body && (!gather_stores(&other, body->as.branch.else_body) || other.count != update->count)))
        return false;
    update->at_once &= !body->as.branch.else_body || other.at_once;
    for (int i = 0; i < update->count; i++) {
        const Stmt *store = update->stores[i];
        if (store->as.store.mask || (update->count > 1 && !update->at_once) ||
            (body->as.branch.else_body && !same_element(store, other.stores[i])))
            return false;
        const Expr *kept = body->as.branch.else_body ? other.stores[i]->as.store.value : element_of(ctx, store);
        const Expr *value = op_if_then_else(ctx, condition, store->as.store.value, kept, body->span);
        update->stores[i] = stmt_store(ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, value, NULL, store->span);
    }
    return true;
}

/* Nothing is stored between a let of BODY and its uses, so a let has the value that its expression has there. */
static bool gather_stores(Update *update, const Stmt *body)
{
    for (; body->kind == STMT_LET; body = body->as.let.body)
        subst_var(update->ctx, update->lets, body->as.let.var, subst_expr(update->ctx, update->lets, body->as.let.value));
    if (body->kind == STMT_IF)
        return gather_branches(update, body);
    if (body->kind == STMT_SEQ)
        return gather_pair(update, body);
    update->stores[0] = body->kind == STMT_STORE ? subst_stmt(update->ctx, update->lets, body) : NULL;
    update->count = 1;
    update->at_once = true;
    return update->stores[0] != NULL;
}

const Reduction *reduction_recognize(Context *ctx, const BlockStmt *block)
{
    const Stmt *body = block->body;
    const Views *views = &(Views){NULL, block};
    for (; body->kind == STMT_FOR || body->kind == STMT_BLOCK; body = stmt_body(body))
        if (body->kind == STMT_BLOCK)
            views = arena_copy(ctx->arena, &(Views){views, &body->as.block}, sizeof *views);
    Reduction reduction = {0};
    Subst lets = {0};
    Update update = {.ctx = ctx, .views = views, .lets = &lets};
    bool found = gather_stores(&update, body) && (update.count == 1 ? recognize_single(&update, &reduction) : recognize_pair(&update, &reduction));
    return found ? arena_copy(ctx->arena, &reduction, sizeof reduction) : NULL;
}

bool reduction_owns(const Reduction *reduction, const Buffer *buffer)
{
    for (int i = 0; i < reduction->target_count; i++)
        if (reduction->targets[i] == buffer)
            return true;
    return false;
}

/* STORE, of an init, sets the element that the update combines into. */
static bool starts_target(const Reduction *reduction, const Stmt *store)
{
    for (int t = 0; store->kind == STMT_STORE && t < reduction->target_count; t++) {
        bool same = reduction->targets[t] == store->as.store.buffer;
        for (int i = 0; same && i < reduction->index_counts[t]; i++)
            same = expr_equal(reduction->indices[t][i], store->as.store.indices[i]);
        if (same)
            return true;
    }
    return false;
}

bool reduction_starts_targets(const Reduction *reduction, const BlockStmt *block)
{
    const Stmt *init = block->init;
    if (!init || block->body->kind == STMT_FOR || block->body->kind == STMT_BLOCK)
        return true;
    for (int i = 0; init->kind == STMT_SEQ && i < init->as.seq.count; i++)
        if (!starts_target(reduction, init->as.seq.items[i]))
            return false;
    return init->kind == STMT_SEQ || starts_target(reduction, init);
}

static const Expr *extreme_of(Context *ctx, DType type, bool greatest)
{
    if (dtype_is_float(type))
        return expr_float(ctx, type, greatest ? INFINITY : -INFINITY);
    bool unsigned64 = type.code == DT_UINT && type.bits == 64;
    return expr_int(ctx, type, greatest ? (unsigned64 ? -1 : dtype_max_int(type)) : dtype_min_int(type));
}

static const Expr *all_bits(Context *ctx, DType type)
{
    return type.code == DT_UINT ? extreme_of(ctx, type, true) : expr_int(ctx, type, -1);
}

const Expr *reduction_identity(Context *ctx, ReduceKind kind, DType type)
{
    int64_t number = kind == REDUCE_PRODUCT || kind == REDUCE_AND;
    switch (kind) {
    case REDUCE_SUM:
    case REDUCE_DIFFERENCE:
    case REDUCE_PRODUCT: return dtype_is_float(type) ? expr_float(ctx, type, (double)number) : expr_int(ctx, type, number);
    case REDUCE_AND:
    case REDUCE_OR: return expr_bool(ctx, number);
    case REDUCE_BITWISE_AND: return type.code == DT_BOOL ? expr_bool(ctx, true) : all_bits(ctx, type);
    case REDUCE_BITWISE_OR:
    case REDUCE_BITWISE_XOR: return type.code == DT_BOOL ? expr_bool(ctx, false) : expr_int(ctx, type, 0);
    case REDUCE_MIN:
    case REDUCE_ARG_MIN: return extreme_of(ctx, type, true);
    default: return extreme_of(ctx, type, false);
    }
}

bool reduction_counts_repeats(ReduceKind kind)
{
    return kind == REDUCE_SUM || kind == REDUCE_DIFFERENCE || kind == REDUCE_PRODUCT || kind == REDUCE_BITWISE_XOR;
}

bool reduction_is_sum(ReduceKind kind)
{
    return kind == REDUCE_SUM || kind == REDUCE_DIFFERENCE;
}

const char *reduction_name(ReduceKind kind)
{
    static const char *const names[] = {
        [REDUCE_SUM] = "sum",
        [REDUCE_DIFFERENCE] = "difference",
        [REDUCE_PRODUCT] = "product",
        [REDUCE_MIN] = "min",
        [REDUCE_MAX] = "max",
        [REDUCE_AND] = "and",
        [REDUCE_OR] = "or",
        [REDUCE_BITWISE_AND] = "bitwise and",
        [REDUCE_BITWISE_OR] = "bitwise or",
        [REDUCE_BITWISE_XOR] = "bitwise xor",
        [REDUCE_ARG_MIN] = "argmin",
        [REDUCE_ARG_MAX] = "argmax",
    };
    return names[kind];
}

bool reduction_is_inside(const BlockStmt *block)
{
    const Stmt *body = block->body;
    while (body->kind == STMT_FOR)
        body = body->as.loop.body;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind != ITER_SPATIAL)
            return false;
    return !block->init && body->kind == STMT_BLOCK;
}
