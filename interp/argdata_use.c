/* How a function uses its integer arguments, and how much goes into one of its results. */
#include "interp/argdata_internal.h"

#include "ir/walk.h"

/* --- Integers as indices, shift amounts and divisors --- */
typedef struct {
    const ArgData *data;
    ArgUse *uses;
    Map values;
    int64_t limit; /* of the index that is being looked at; 0: none */
    bool divides;
} UseFinder;

/* Notes how a parameter's values are used where they are read. */
static bool find_parameter(Visitor *visitor, const Expr *expr)
{
    UseFinder *finder = visitor->data;
    const Func *func = finder->data->func;
    for (int i = 0; i < func->param_count; i++) {
        const Param *param = &func->params[i];
        if (param->buffer ? expr->kind != EXPR_LOAD || expr->value.buffer != param->buffer : !expr_is_var(expr, param->param))
            continue;
        ArgUse *use = &finder->uses[i];
        use->divides |= finder->divides;
        if (finder->limit > 0 && (!use->limit || finder->limit < use->limit))
            use->limit = finder->limit;
    }
    return true;
}

static void look_for_parameters(const UseFinder *finder, const Expr *expr, int64_t limit, bool divides)
{
    UseFinder inner = *finder;
    inner.limit = limit;
    inner.divides = divides;
    Visitor visitor = {.expr = find_parameter, .data = &inner};
    visit_expr(&visitor, expr);
}

static void look_at_indices(const UseFinder *finder, const Buffer *buffer, const Expr *const *indices, int count)
{
    for (int i = 0; i < count && i < buffer->ndim; i++) {
        int64_t extent;
        if (argdata_evaluate(finder->data->ctx, &finder->values, buffer->shape[i], &extent) && extent > 0)
            look_for_parameters(finder, indices[i], extent, false);
    }
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    const UseFinder *finder = visitor->data;
    if (expr->kind == EXPR_LOAD)
        look_at_indices(finder, expr->value.buffer, expr->args, load_index_count(expr));
    if (expr->kind >= EXPR_DIV && expr->kind <= EXPR_FLOORMOD)
        look_for_parameters(finder, expr->args[1], 0, true);
    if (expr_is_call(expr, OP_SHIFT_LEFT) || expr_is_call(expr, OP_SHIFT_RIGHT))
        look_for_parameters(finder, expr->args[1], expr->dtype.bits, false);
    return true;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_STORE)
        look_at_indices(visitor->data, stmt->as.store.buffer, (const Expr *const *)stmt->as.store.indices, stmt->as.store.index_count);
    return true;
}

void argdata_find_uses(const ArgData *data, ArgUse *uses)
{
    for (int i = 0; i < data->func->param_count; i++)
        uses[i] = (ArgUse){0, false};
    UseFinder finder = {.data = data, .uses = uses, .values = argdata_values(data)};
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .data = &finder};
    visit_stmt(&visitor, data->func->body);
}

/* --- The length of reductions --- */
typedef struct {
    const ArgData *data;
    Map values;
    VEC(const Stmt *) path; /* the loops and blocks around */
    int64_t length, largest_extent;
} LengthFinder;

typedef struct {
    const LengthFinder *finder;
    Map loops; /* variables of the loops that were found */
} LoopUse;

/* Collects the loops that an expression depends on, through block axes. */
static bool find_loops(Visitor *visitor, const Expr *expr)
{
    LoopUse *use = visitor->data;
    Context *ctx = use->finder->data->ctx;
    if (expr->kind != EXPR_VAR || map_has(&use->loops, expr->value.var))
        return true;
    map_set(ctx->arena, &use->loops, expr->value.var, expr->value.var);
    for (int i = 0; i < use->finder->path.count; i++) {
        const Stmt *stmt = use->finder->path.data[i];
        for (int k = 0; stmt->kind == STMT_BLOCK && k < stmt->as.block.iter_count; k++)
            if (stmt->as.block.iters[k].var == expr->value.var)
                visit_expr(visitor, stmt->as.block.bindings[k]);
    }
    return true;
}

/* The iterations of the loops around that do not choose the element: they all go into it. */
static void add_length(LengthFinder *finder, LoopUse *use)
{
    int64_t length = 1;
    for (int i = 0; i < finder->path.count; i++) {
        const Stmt *stmt = finder->path.data[i];
        if (stmt->kind != STMT_FOR || map_has(&use->loops, stmt->as.loop.var))
            continue;
        int64_t extent;
        if (!argdata_evaluate(finder->data->ctx, &finder->values, stmt->as.loop.extent, &extent))
            extent = finder->largest_extent;
        if (extent > 1 && __builtin_mul_overflow(length, extent, &length))
            length = INT64_MAX / 4;
    }
    finder->length = finder->length > INT64_MAX / 2 - length ? INT64_MAX / 2 : finder->length + length;
}

static bool reads_buffer(Visitor *visitor, const Expr *expr)
{
    const Buffer **wanted = visitor->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == *wanted)
        *wanted = NULL;
    return true;
}

/* STORE stores what its buffer was read for, in its value or in a let around it. */
static bool is_update(const LengthFinder *finder, const Stmt *store)
{
    const Buffer *buffer = store->as.store.buffer;
    Visitor visitor = {.expr = reads_buffer, .data = &buffer};
    visit_expr(&visitor, store->as.store.value);
    for (int i = 0; i < finder->path.count && buffer; i++)
        if (finder->path.data[i]->kind == STMT_LET)
            visit_expr(&visitor, finder->path.data[i]->as.let.value);
    return !buffer;
}

static bool length_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    LengthFinder *finder = visitor->data;
    LoopUse use = {finder, {0}};
    Visitor loops = {.expr = find_loops, .data = &use};
    if (stmt->kind == STMT_STORE && is_update(finder, stmt)) {
        for (int i = 0; i < stmt->as.store.index_count; i++)
            visit_expr(&loops, stmt->as.store.indices[i]);
        add_length(finder, &use);
    } else if (stmt->kind == STMT_EVALUATE) {
        for (int i = 0; i < finder->path.count; i++)
            for (int k = 0; finder->path.data[i]->kind == STMT_BLOCK && k < finder->path.data[i]->as.block.iter_count; k++)
                if (finder->path.data[i]->as.block.iters[k].kind == ITER_SPATIAL)
                    visit_expr(&loops, finder->path.data[i]->as.block.bindings[k]);
        add_length(finder, &use);
    }
    vec_push(finder->data->ctx->arena, &finder->path, stmt);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    LengthFinder *finder = visitor->data;
    (void)stmt;
    (void)vec_pop(&finder->path);
}

int64_t argdata_reduction_length(const ArgData *data, const Func *func)
{
    LengthFinder finder = {.data = data, .values = argdata_values(data), .largest_extent = 1};
    for (int i = 0; i < data->func->param_count; i++)
        for (int d = 0; d < data->items[i].arg.ndim; d++)
            finder.largest_extent = data->items[i].shape[d] > finder.largest_extent ? data->items[i].shape[d] : finder.largest_extent;
    Visitor visitor = {.stmt = length_in_stmt, .leave_stmt = leave_stmt, .data = &finder};
    visit_stmt(&visitor, func->body);
    return finder.length > 1 ? finder.length : 1;
}
