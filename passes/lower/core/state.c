/* Helpers of the lowering passes; see state.h. */
#include "passes/lower/core/state.h"

#include "support/bug.h"

/* --- Expressions --- */
void conjunction_split(Context *ctx, const Expr *condition, ExprList *list)
{
    if (expr_is_call(condition, OP_LIKELY)) {
        conjunction_split(ctx, condition->args[0], list);
    } else if (condition->kind == EXPR_AND) {
        conjunction_split(ctx, condition->args[0], list);
        conjunction_split(ctx, condition->args[1], list);
    } else if (!expr_is_int(condition, 1)) {
        vec_push(ctx->arena, list, condition);
    }
}

const Expr *conjunction_join(Context *ctx, const ExprList *conjuncts)
{
    const Expr *result = NULL;
    for (int i = 0; i < conjuncts->count; i++)
        result = result ? op_and(ctx, result, conjuncts->data[i]) : conjuncts->data[i];
    return result ? result : expr_bool(ctx, true);
}

bool expr_reads_memory(const Expr *expr)
{
    return !expr_is_pure(expr);
}

typedef struct {
    const Map *vars;
    bool found;
} AnyUse;

static bool find_any(Visitor *visitor, const Expr *expr)
{
    AnyUse *use = visitor->data;
    use->found |= expr->kind == EXPR_VAR && map_has(use->vars, expr->value.var);
    return !use->found;
}

bool expr_uses_any(const Expr *expr, const Map *vars)
{
    AnyUse use = {vars, false};
    Visitor visitor = {.expr = find_any, .data = &use};
    visit_expr(&visitor, expr);
    return use.found;
}

/* --- What an analyzer is told --- */
void facts_bind_sizes(Analyzer *an, const Func *func)
{
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++)
            if (buffer->shape[d]->kind == EXPR_VAR)
                analyzer_bind_nonnegative(an, buffer->shape[d]->value.var);
    }
}

void facts_bind_stmt(Analyzer *an, const Stmt *stmt)
{
    if (stmt->kind == STMT_FOR && !expr_reads_memory(stmt->as.loop.min) && !expr_reads_memory(stmt->as.loop.extent))
        analyzer_bind_range_opaque(an, stmt->as.loop.var, (Range){stmt->as.loop.min, stmt->as.loop.extent});
    else if (stmt->kind == STMT_LET && dtype_is_integer(stmt->as.let.value->dtype) && !expr_reads_memory(stmt->as.let.value))
        analyzer_bind_value(an, stmt->as.let.var, stmt->as.let.value);
}

/* CONDITION, a comparison of indices, with both sides simplified: i + (j + k) < n decides i + j + k < n only so. NULL for others. */
static const Expr *with_simple_sides(Analyzer *an, const Expr *condition)
{
    if (!expr_is_compare(condition) || !dtype_is_index(condition->args[0]->dtype))
        return NULL;
    const Expr *left = analyzer_simplify(an, condition->args[0]), *right = analyzer_simplify(an, condition->args[1]);
    bool same = left == condition->args[0] && right == condition->args[1];
    return same ? NULL : op_compare(analyzer_context(an), condition->kind, left, right);
}

void facts_assume(Analyzer *an, const Expr *condition)
{
    ExprList parts = {0};
    conjunction_split(analyzer_context(an), condition, &parts);
    for (int i = 0; i < parts.count; i++) {
        if (parts.data[i]->dtype.lanes > 1 || expr_reads_memory(parts.data[i]))
            continue;
        const Expr *simple = with_simple_sides(an, parts.data[i]);
        analyzer_assume(an, parts.data[i]);
        if (simple)
            analyzer_assume(an, simple);
    }
}

/* --- Statements --- */
static bool find_jump(Visitor *visitor, const Expr *expr)
{
    bool *found = visitor->data;
    *found |= expr_is_call(expr, OP_BREAK_LOOP) || expr_is_call(expr, OP_CONTINUE_LOOP) || expr_is_call(expr, OP_RET);
    return !*found;
}

bool stmt_has_jump(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.expr = find_jump, .data = &found};
    visit_stmt(&visitor, stmt);
    return found;
}

typedef struct {
    const Buffer *buffer;
    bool found;
} NameFinder;

static bool find_declared_region(Visitor *visitor, const Stmt *stmt)
{
    NameFinder *finder = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.read_count; i++)
        finder->found |= stmt->as.block.reads[i].buffer == finder->buffer;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.write_count; i++)
        finder->found |= stmt->as.block.writes[i].buffer == finder->buffer;
    return !finder->found && stmt->kind != STMT_STORE && stmt->kind != STMT_EVALUATE;
}

static bool skip_expr(Visitor *visitor, const Expr *expr)
{
    (void)visitor;
    (void)expr;
    return false;
}

bool stmt_names_buffer(const Stmt *stmt, const Buffer *buffer)
{
    NameFinder finder = {buffer, stmt_uses_buffer(stmt, buffer)};
    Visitor visitor = {.expr = skip_expr, .stmt = find_declared_region, .data = &finder};
    if (!finder.found)
        visit_stmt(&visitor, stmt);
    return finder.found;
}

const Stmt *stmt_allocate_buffer(Context *ctx, Buffer *buffer, Attrs annotations, const Stmt *body, Span span)
{
    bool dense = buffer_is_dense(buffer) && expr_is_int(buffer->elem_offset, 0);
    int count = dense && buffer->ndim ? buffer->ndim : 1;
    const Expr **extents = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++)
        extents[i] = dense && buffer->ndim ? buffer->shape[i] : buffer_span(ctx, buffer);
    Stmt declare = {.kind = STMT_DECL_BUFFER, .span = span, .as.declare = {buffer, true, body}};
    Stmt allocate = {.kind = STMT_ALLOCATE, .span = span};
    allocate.as.allocate.var = buffer->data;
    allocate.as.allocate.dtype = buffer->dtype;
    allocate.as.allocate.extents = extents;
    allocate.as.allocate.extent_count = count;
    allocate.as.allocate.scope = buffer->scope;
    allocate.as.allocate.condition = expr_bool(ctx, true);
    allocate.as.allocate.annotations = annotations;
    allocate.as.allocate.body = stmt_new(ctx, &declare);
    return stmt_new(ctx, &allocate);
}

Buffer *stmt_allocated_buffer(const Stmt *stmt)
{
    const Stmt *declare = stmt->kind == STMT_ALLOCATE ? stmt->as.allocate.body : NULL;
    if (!declare || declare->kind != STMT_DECL_BUFFER || declare->as.declare.buffer->data != stmt->as.allocate.var)
        return NULL;
    Buffer *buffer = declare->as.declare.buffer;
    bool same = !buffer->strides && expr_is_int(buffer->elem_offset, 0) && buffer->ndim == stmt->as.allocate.extent_count &&
                dtype_equal(buffer->dtype, stmt->as.allocate.dtype);
    for (int d = 0; same && d < buffer->ndim; d++)
        same = expr_equal(buffer->shape[d], stmt->as.allocate.extents[d]);
    return same ? buffer : NULL;
}

bool loop_is_marked(const ForStmt *loop, const char *key)
{
    const AttrValue *value = attrs_get(loop->annotations, key);
    return value && !(value->kind == ATTR_EXPR && expr_is_int(value->expr, 0));
}
