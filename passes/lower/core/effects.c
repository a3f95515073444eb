/* See effects.h. */
#include "passes/lower/core/effects.h"

typedef struct {
    Context *ctx;
    Map *roots;
} RootFinder;

static bool find_pointed_data(Visitor *visitor, const Expr *expr)
{
    const Var **data = visitor->data;
    if (!*data && expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE)
        *data = expr->value.var;
    if (!*data && expr->kind == EXPR_LOAD)
        *data = expr->value.buffer->data;
    return !*data;
}

/* A named pointer points into what its value mentions first. */
static void find_pointer(RootFinder *finder, const Stmt *let)
{
    const Var *data = NULL;
    Visitor visitor = {.expr = find_pointed_data, .data = &data};
    visit_expr(&visitor, let->as.let.value);
    const Var *below = data ? map_get(finder->roots, data) : NULL;
    if (data)
        map_set(finder->ctx->arena, finder->roots, let->as.let.var, below ? (void *)below : (void *)data);
}

static bool find_views(Visitor *visitor, const Stmt *stmt)
{
    RootFinder *finder = visitor->data;
    if (stmt->kind == STMT_LET && stmt->as.let.var->dtype.code == DT_HANDLE)
        find_pointer(finder, stmt);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        const MatchBuffer *match = &stmt->as.block.matches[i];
        Var *below = map_get(finder->roots, match->source.buffer->data);
        map_set(finder->ctx->arena, finder->roots, match->target->data, below ? below : match->source.buffer->data);
    }
    return true;
}

void effects_add_view_roots(Context *ctx, Map *roots, const Stmt *stmt)
{
    RootFinder finder = {ctx, roots};
    Visitor visitor = {.stmt = find_views, .data = &finder};
    visit_stmt(&visitor, stmt);
}

typedef struct {
    Context *ctx;
    const Map *roots;
    const Stmt *except;
    Effects effects;
} EffectFinder;

const Var *effects_root(const Map *roots, const Var *data)
{
    const Var *root = map_get(roots, data);
    return root ? root : data;
}

static void add(EffectFinder *finder, Map *map, const Var *data)
{
    const Var *root = effects_root(finder->roots, data);
    map_set(finder->ctx->arena, map, root, (void *)root);
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    EffectFinder *finder = visitor->data;
    Effects *effects = &finder->effects;
    if (expr->kind == EXPR_LOAD) {
        add(finder, &effects->reads, expr->value.buffer->data);
        vec_push(finder->ctx->arena, &effects->loads, expr);
    }
    const Var *pointer = expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE                              ? expr->value.var
                         : expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD ? expr->args[0]->value.buffer->data
                                                                                                             : NULL;
    if (pointer) {
        add(finder, &effects->reads, pointer);
        add(finder, &effects->writes, pointer);
    }
    return true;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    EffectFinder *finder = visitor->data;
    if (stmt == finder->except)
        return false;
    if (stmt->kind == STMT_STORE) {
        add(finder, &finder->effects.writes, stmt->as.store.buffer->data);
        vec_push(finder->ctx->arena, &finder->effects.stores, stmt);
    }
    return true;
}

Effects effects_of_stmt(Context *ctx, const Map *roots, const Stmt *stmt, const Stmt *except)
{
    EffectFinder finder = {.ctx = ctx, .roots = roots, .except = except};
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .data = &finder};
    visit_stmt(&visitor, stmt);
    return finder.effects;
}

static bool store_writes_element(const Stmt *store, const Expr *load)
{
    bool same = store->as.store.buffer == load->value.buffer && store->as.store.index_count == load_index_count(load);
    for (int d = 0; same && d < store->as.store.index_count; d++)
        same = expr_equal(store->as.store.indices[d], load->args[d]);
    return same;
}

bool effects_read_other_elements(const Effects *effects, const Map *roots)
{
    for (int i = 0; i < effects->loads.count; i++) {
        const Expr *load = effects->loads.data[i];
        bool found = !map_has(&effects->writes, effects_root(roots, load->value.buffer->data));
        for (int k = 0; !found && k < effects->stores.count; k++)
            found = store_writes_element(effects->stores.data[k], load);
        if (!found)
            return true;
    }
    return false;
}

bool maps_meet(const Map *a, const Map *b)
{
    for (int i = 0; i < a->count; i++)
        if (map_has(b, a->entries[i].key))
            return true;
    return false;
}

typedef struct {
    Context *ctx;
    const Map *visible;
    Map symbols;
} DefinitionFinder;

static void define(DefinitionFinder *finder, const void *symbol)
{
    map_set(finder->ctx->arena, &finder->symbols, symbol, (void *)symbol);
}

static void define_vars(DefinitionFinder *finder, const Expr *const *exprs, int count)
{
    for (int i = 0; i < count; i++)
        if (exprs[i]->kind == EXPR_VAR && !(finder->visible && map_has(finder->visible, exprs[i]->value.var)))
            define(finder, exprs[i]->value.var);
}

/* A view, or the buffer of a parameter, defines its data variable and the variables of its shape, strides and offset that nothing around
   defines. */
static void define_buffer(DefinitionFinder *finder, const Buffer *view)
{
    define(finder, view->data);
    define_vars(finder, view->shape, view->ndim);
    if (view->strides)
        define_vars(finder, view->strides, view->ndim);
    define_vars(finder, (const Expr *const *)&view->elem_offset, 1);
}

static bool find_let_definition(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LET)
        define(visitor->data, expr->value.var);
    return true;
}

static bool find_definition(Visitor *visitor, const Stmt *stmt)
{
    DefinitionFinder *finder = visitor->data;
    switch (stmt->kind) {
    case STMT_FOR: define(finder, stmt->as.loop.var); break;
    case STMT_LET: define(finder, stmt->as.let.var); break;
    case STMT_ALLOCATE: define(finder, stmt->as.allocate.var); break;
    case STMT_ALLOCATE_CONST: define(finder, stmt->as.allocate_const.var); break;
    case STMT_DECL_BUFFER: define(finder, stmt->as.declare.buffer); break;
    case STMT_BLOCK:
        for (int i = 0; i < stmt->as.block.iter_count; i++)
            define(finder, stmt->as.block.iters[i].var);
        for (int i = 0; i < stmt->as.block.alloc_count; i++)
            define(finder, stmt->as.block.allocs[i]->data);
        for (int i = 0; i < stmt->as.block.match_count; i++)
            define_buffer(finder, stmt->as.block.matches[i].target);
        break;
    default: break;
    }
    return true;
}

Map symbols_defined(Context *ctx, const Stmt *stmt, const Map *visible)
{
    DefinitionFinder finder = {.ctx = ctx, .visible = visible};
    Visitor visitor = {.expr = find_let_definition, .stmt = find_definition, .data = &finder};
    visit_stmt(&visitor, stmt);
    return finder.symbols;
}

void symbols_add_own(Context *ctx, Map *symbols, const Stmt *stmt)
{
    DefinitionFinder finder = {.ctx = ctx, .visible = symbols, .symbols = *symbols};
    Visitor visitor = {.data = &finder};
    find_definition(&visitor, stmt);
    *symbols = finder.symbols;
}

Map symbols_of_params(Context *ctx, const Func *func)
{
    DefinitionFinder finder = {.ctx = ctx};
    for (int i = 0; i < func->param_count; i++) {
        define(&finder, func->params[i].param);
        if (func->params[i].buffer)
            define_buffer(&finder, func->params[i].buffer);
    }
    return finder.symbols;
}

typedef struct {
    const Map *symbols;
    bool found;
} MentionFinder;

static void check_buffer(MentionFinder *finder, const Buffer *buffer)
{
    finder->found |= map_has(finder->symbols, buffer) || map_has(finder->symbols, buffer->data);
}

static bool mentions_in_expr(Visitor *visitor, const Expr *expr)
{
    MentionFinder *finder = visitor->data;
    if (expr->kind == EXPR_VAR)
        finder->found |= map_has(finder->symbols, expr->value.var);
    if (expr->kind == EXPR_LOAD)
        check_buffer(finder, expr->value.buffer);
    return !finder->found;
}

static bool mentions_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    MentionFinder *finder = visitor->data;
    if (stmt->kind == STMT_STORE)
        check_buffer(finder, stmt->as.store.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        check_buffer(finder, stmt->as.block.matches[i].source.buffer);
    return !finder->found;
}

bool stmt_mentions_any(const Stmt *stmt, const Map *symbols)
{
    MentionFinder finder = {symbols, false};
    Visitor visitor = {.expr = mentions_in_expr, .stmt = mentions_in_stmt, .data = &finder};
    visit_stmt(&visitor, stmt);
    return finder.found;
}
