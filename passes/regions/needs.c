/* See needs.h. */
#include "passes/regions/needs.h"

#include "ir/walk.h"
#include "passes/arith/analyzer.h"

enum { MOST_NEEDS = 64, MOST_LOOPS = 32 };

/* What a variable is while the walk is below its definition. */
typedef struct {
    const Expr *binding; /* of an axis of a block: what it is bound to; else NULL */
    const Expr *last;    /* of a loop that begins at 0: its last iteration */
} Meaning;

typedef struct {
    Context *ctx;
    const Func *func;
    Analyzer *an;
    Map sizes;    /* Vars of the parameters: sizes, strides, offsets and scalars */
    Map meanings; /* const Var * -> Meaning * */
    const Expr *extents[MOST_LOOPS]; /* of the loops around that may run not at all, int64 */
    int extent_count;
    VEC(SizeNeed) needs;
} NeedFinder;

/* --- The first and the last place of an index --- */

typedef struct {
    const Expr *first, *last; /* int64, over the sizes */
} Reach;

typedef struct {
    NeedFinder *finder;
    const Var *loops[MOST_LOOPS]; /* that the index has had; each one is free to run to its ends */
    int loop_count;
} Reaching;

static bool find_other(Visitor *visitor, const Expr *expr)
{
    const NeedFinder *finder = visitor->data;
    if (!finder)
        return false;
    bool number = expr->kind == EXPR_INT || (expr->kind == EXPR_VAR && map_has(&finder->sizes, expr->value.var));
    bool operation = expr_is_binary(expr) || expr->kind == EXPR_CAST;
    if (!dtype_is_integer(expr->dtype) || (!number && !operation))
        visitor->data = NULL;
    return visitor->data != NULL;
}

/* EXPR is arithmetic on the sizes alone. */
static bool is_of_sizes(NeedFinder *finder, const Expr *expr)
{
    Visitor visitor = {.expr = find_other, .data = finder};
    visit_expr(&visitor, expr);
    return visitor.data != NULL;
}

static const Expr *in64(NeedFinder *finder, const Expr *expr)
{
    return op_cast(finder->ctx, DTYPE(DT_INT, 64), expr);
}

static bool reach(Reaching *reaching, const Expr *index, Reach *result);

static bool reach_of_var(Reaching *reaching, const Var *var, Reach *result)
{
    const Meaning *meaning = map_get(&reaching->finder->meanings, var);
    if (!meaning)
        return false;
    if (meaning->binding)
        return reach(reaching, meaning->binding, result);
    for (int i = 0; i < reaching->loop_count; i++)
        if (reaching->loops[i] == var)
            return false;
    if (reaching->loop_count == MOST_LOOPS)
        return false;
    reaching->loops[reaching->loop_count++] = var;
    *result = (Reach){expr_int(reaching->finder->ctx, DTYPE(DT_INT, 64), 0), meaning->last};
    return true;
}

static bool reach_of_sum(Reaching *reaching, const Expr *index, Reach *result)
{
    Context *ctx = reaching->finder->ctx;
    Reach a, b;
    if (!reach(reaching, index->args[0], &a) || !reach(reaching, index->args[1], &b))
        return false;
    *result = index->kind == EXPR_ADD ? (Reach){op_add(ctx, a.first, b.first), op_add(ctx, a.last, b.last)}
                                      : (Reach){op_sub(ctx, a.first, b.last), op_sub(ctx, a.last, b.first)};
    return true;
}

static bool reach_of_product(Reaching *reaching, const Expr *index, Reach *result)
{
    Context *ctx = reaching->finder->ctx;
    int64_t factor;
    Reach value;
    int constant = index->args[0]->kind == EXPR_INT ? 0 : 1;
    if (!expr_const_int(index->args[constant], &factor) || !reach(reaching, index->args[1 - constant], &value))
        return false;
    *result = (Reach){op_mul_int(ctx, factor < 0 ? value.last : value.first, factor), op_mul_int(ctx, factor < 0 ? value.first : value.last, factor)};
    return true;
}

/* Lanes that lie STRIDE apart, a constant. */
static bool reach_of_ramp(Reaching *reaching, const Expr *ramp, Reach *result)
{
    int64_t stride;
    if (!expr_const_int(ramp->args[1], &stride) || stride > INT32_MAX || stride < INT32_MIN || !reach(reaching, ramp->args[0], result))
        return false;
    int64_t way = stride * (ramp->dtype.lanes - 1);
    *(way < 0 ? &result->first : &result->last) = op_add_int(reaching->finder->ctx, way < 0 ? result->first : result->last, way);
    return true;
}

static bool reach(Reaching *reaching, const Expr *index, Reach *result)
{
    if (index->dtype.code != DT_INT || index->dtype.bits < 32)
        return false;
    if (index->kind == EXPR_RAMP)
        return reach_of_ramp(reaching, index, result);
    if (index->dtype.lanes != 1)
        return index->kind == EXPR_BROADCAST && reach(reaching, index->args[0], result);
    if (is_of_sizes(reaching->finder, index)) {
        *result = (Reach){in64(reaching->finder, index), in64(reaching->finder, index)};
        return true;
    }
    switch ((ExprKind)index->kind) {
    case EXPR_VAR: return reach_of_var(reaching, index->value.var, result);
    case EXPR_ADD:
    case EXPR_SUB: return reach_of_sum(reaching, index, result);
    case EXPR_MUL: return reach_of_product(reaching, index, result);
    default: return false;
    }
}

/* --- Accesses --- */

static void add_need(NeedFinder *finder, const Expr *condition, const Buffer *buffer, int dim, Span span)
{
    Context *ctx = finder->ctx;
    if (analyzer_prove(finder->an, condition))
        return;
    for (int i = 0; i < finder->extent_count; i++)
        condition = op_or(ctx, op_compare(ctx, EXPR_LE, finder->extents[i], expr_int(ctx, DTYPE(DT_INT, 64), 0)), condition);
    for (int i = 0; i < finder->needs.count; i++)
        if (expr_equal(finder->needs.data[i].condition, condition))
            return;
    if (condition->kind != EXPR_INT && finder->needs.count < MOST_NEEDS)
        vec_push(ctx->arena, &finder->needs, ((SizeNeed){condition, buffer, dim, span}));
}

static void note_access(NeedFinder *finder, const Buffer *buffer, const Expr *const *indices, Span span)
{
    Context *ctx = finder->ctx;
    bool is_param = false;
    for (int i = 0; i < finder->func->param_count; i++)
        is_param |= finder->func->params[i].buffer == buffer;
    for (int i = 0; is_param && i < buffer->ndim; i++) {
        Reaching reaching = {.finder = finder};
        Reach places;
        if (!is_of_sizes(finder, buffer->shape[i]) || !reach(&reaching, indices[i], &places))
            continue;
        add_need(finder, op_compare(ctx, EXPR_LT, places.last, in64(finder, buffer->shape[i])), buffer, i, span);
        add_need(finder, op_compare(ctx, EXPR_GE, places.first, expr_int(ctx, DTYPE(DT_INT, 64), 0)), buffer, i, span);
    }
}

/* What EXPR evaluates in any case. */
static bool find_access(Visitor *visitor, const Expr *expr)
{
    NeedFinder *finder = visitor->data;
    bool chooses = expr->kind == EXPR_SELECT || expr->kind == EXPR_AND || expr->kind == EXPR_OR || expr_is_call(expr, OP_IF_THEN_ELSE);
    if (chooses)
        visit_expr(visitor, expr->args[0]);
    if (expr->kind == EXPR_LOAD && !load_mask(expr) && load_index_count(expr) == expr->value.buffer->ndim)
        note_access(finder, expr->value.buffer, expr->args, expr->span);
    return !chooses && !expr_is_call(expr, OP_ADDRESS_OF);
}

static void find_in_expr(NeedFinder *finder, const Expr *expr)
{
    Visitor visitor = {.expr = find_access, .data = finder};
    if (expr)
        visit_expr(&visitor, expr);
}

/* --- Statements --- */

static void mean(NeedFinder *finder, const Var *var, Meaning meaning)
{
    map_set(finder->ctx->arena, &finder->meanings, var, arena_copy(finder->ctx->arena, &meaning, sizeof meaning));
}

static void find_in_stmt(NeedFinder *finder, const Stmt *stmt);

static void find_in_loop(NeedFinder *finder, const ForStmt *loop)
{
    int64_t count = 0;
    bool constant = expr_const_int(loop->extent, &count);
    if (!expr_is_int(loop->min, 0) || !is_of_sizes(finder, loop->extent) || (constant && count <= 0) || finder->extent_count == MOST_LOOPS)
        return;
    const Expr *extent = in64(finder, loop->extent);
    mean(finder, loop->var, (Meaning){.last = op_sub(finder->ctx, extent, expr_int(finder->ctx, extent->dtype, 1))});
    int before = finder->extent_count;
    if (!constant)
        finder->extents[finder->extent_count++] = extent;
    find_in_stmt(finder, loop->body);
    finder->extent_count = before;
}

static void find_in_block(NeedFinder *finder, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++) {
        find_in_expr(finder, block->bindings[i]);
        mean(finder, block->iters[i].var, (Meaning){.binding = block->bindings[i]});
    }
    if (!expr_is_int(block->predicate, 1))
        return;
    if (block->init)
        find_in_stmt(finder, block->init);
    find_in_stmt(finder, block->body);
}

static void find_in_store(NeedFinder *finder, const Stmt *stmt)
{
    const Buffer *buffer = stmt->as.store.buffer;
    find_in_expr(finder, stmt->as.store.value);
    for (int i = 0; i < stmt->as.store.index_count; i++)
        find_in_expr(finder, stmt->as.store.indices[i]);
    if (!stmt->as.store.mask && stmt->as.store.index_count == buffer->ndim)
        note_access(finder, buffer, stmt->as.store.indices, stmt->span);
}

static void find_in_stmt(NeedFinder *finder, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++)
            find_in_stmt(finder, stmt->as.seq.items[i]);
        break;
    case STMT_FOR: find_in_loop(finder, &stmt->as.loop); break;
    case STMT_BLOCK: find_in_block(finder, &stmt->as.block); break;
    case STMT_STORE: find_in_store(finder, stmt); break;
    case STMT_EVALUATE: find_in_expr(finder, stmt->as.evaluate); break;
    case STMT_LET:
    case STMT_ATTR:
    case STMT_ALLOCATE:
    case STMT_ALLOCATE_CONST:
    case STMT_DECL_BUFFER: find_in_stmt(finder, stmt_body(stmt)); break;
    case STMT_IF:     /* what is under a condition may not run */
    case STMT_ASSERT:
    case STMT_WHILE:
    case STMT_REALIZE: break;
    }
}

/* --- Functions --- */

static bool find_leave(Visitor *visitor, const Expr *expr)
{
    bool *found = visitor->data;
    *found |= expr_is_call(expr, OP_RET) || expr_is_call(expr, OP_BREAK_LOOP) || expr_is_call(expr, OP_CONTINUE_LOOP) || expr_is_call(expr, OP_ASSUME);
    return !*found;
}

/* Something leaves a loop or the function before its end, or says what the sizes are. */
static bool leaves_early(const Func *func)
{
    bool found = false;
    Visitor visitor = {.expr = find_leave, .data = &found};
    visit_stmt(&visitor, func->body);
    return found;
}

static void add_size(NeedFinder *finder, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        map_set(finder->ctx->arena, &finder->sizes, expr->value.var, expr->value.var);
}

static void add_sizes(NeedFinder *finder)
{
    for (int i = 0; i < finder->func->param_count; i++) {
        const Param *param = &finder->func->params[i];
        if (!param->buffer && dtype_is_integer(param->param->dtype))
            map_set(finder->ctx->arena, &finder->sizes, param->param, param->param);
        for (int d = 0; param->buffer && d < param->buffer->ndim; d++) {
            const Expr *size = param->buffer->shape[d];
            add_size(finder, size);
            if (size->kind == EXPR_VAR)
                analyzer_bind_nonnegative(finder->an, size->value.var);
        }
    }
}

const Func *func_with_needs(Context *ctx, const Func *func)
{
    if (func->needs_known || !func->body)
        return func;
    NeedFinder finder = {.ctx = ctx, .func = func, .an = analyzer_new(ctx)};
    Func result = *func;
    result.needs_known = true;
    add_sizes(&finder);
    if (!leaves_early(func))
        find_in_stmt(&finder, func->body);
    result.needs = finder.needs.data;
    result.need_count = finder.needs.count;
    return arena_copy(ctx->arena, &result, sizeof result);
}
