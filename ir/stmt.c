/* Construction of statements, functions and modules; see stmt.h. */
#include "ir/stmt.h"

#include <math.h>
#include <string.h>

#include "support/bug.h"

const AttrValue *attrs_get(Attrs attrs, const char *key)
{
    for (int i = 0; i < attrs.count; i++)
        if (!strcmp(attrs.entries[i].key, key))
            return attrs.entries[i].value;
    return NULL;
}

static bool attr_names_buffer(const AttrValue *value, const Buffer *buffer)
{
    bool found = value->kind == ATTR_BUFFER && (!buffer || value->buffer == buffer);
    for (int i = 0; value->kind == ATTR_LIST && !found && i < value->count; i++)
        found = attr_names_buffer(value->items[i], buffer);
    return found || (value->kind == ATTR_DICT && attrs_name_buffer((Attrs){value->entries, value->count}, buffer));
}

bool attrs_name_buffer(Attrs attrs, const Buffer *buffer)
{
    for (int i = 0; i < attrs.count; i++)
        if (attr_names_buffer(attrs.entries[i].value, buffer))
            return true;
    return false;
}

Attrs attrs_set(Context *ctx, Attrs attrs, Str key, const AttrValue *value)
{
    Attrs result = {ARENA_ARRAY(ctx->arena, Attr, attrs.count + 1), attrs.count};
    if (attrs.count)
        memcpy(result.entries, attrs.entries, sizeof *attrs.entries * (size_t)attrs.count);
    for (int i = 0; i < attrs.count; i++)
        if (!strcmp(attrs.entries[i].key, key)) {
            result.entries[i].value = value;
            return result;
        }
    result.entries[result.count++] = (Attr){key, value};
    return result;
}

static bool attr_equal(const AttrValue *a, const AttrValue *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        const AttrValue *other = a->kind == ATTR_DICT ? attrs_get((Attrs){b->entries, b->count}, a->entries[i].key) : b->items[i];
        if (!other || !attr_equal(a->kind == ATTR_DICT ? a->entries[i].value : a->items[i], other))
            return false;
    }
    return (a->kind != ATTR_EXPR || expr_equal(a->expr, b->expr)) && a->buffer == b->buffer && (a->kind != ATTR_TEXT || !strcmp(a->text, b->text));
}

Str attrs_merge(Context *ctx, Attrs *attrs, Attrs added)
{
    for (int i = 0; i < added.count; i++) {
        const AttrValue *value = added.entries[i].value, *old = attrs_get(*attrs, added.entries[i].key);
        if (old && old->kind == ATTR_DICT && value->kind == ATTR_DICT) {
            Attrs both = {old->entries, old->count};
            if (attrs_merge(ctx, &both, (Attrs){value->entries, value->count}))
                return added.entries[i].key;
            AttrValue merged = *value;
            merged.entries = both.entries;
            merged.count = both.count;
            value = arena_copy(ctx->arena, &merged, sizeof merged);
        } else if (old && !attr_equal(old, value)) {
            return added.entries[i].key;
        }
        *attrs = attrs_set(ctx, *attrs, added.entries[i].key, value);
    }
    return NULL;
}

Attrs attrs_remove(Context *ctx, Attrs attrs, const char *key)
{
    Attrs result = {ARENA_ARRAY(ctx->arena, Attr, attrs.count), 0};
    for (int i = 0; i < attrs.count; i++)
        if (strcmp(attrs.entries[i].key, key))
            result.entries[result.count++] = attrs.entries[i];
    return result;
}

Attrs attrs_with_prefix(Context *ctx, Attrs attrs, const char *from, const char *to)
{
    Attrs result = {0};
    size_t length = strlen(from);
    for (int i = 0; i < attrs.count; i++) {
        Str key = attrs.entries[i].key;
        key = strncmp(key, from, length) ? key : context_internf(ctx, "%s%s", to, key + length);
        result = attrs_set(ctx, result, key, attrs.entries[i].value);
    }
    return result;
}

const AttrValue *attr_expr(Context *ctx, const Expr *expr)
{
    AttrValue *value = ARENA_NEW(ctx->arena, AttrValue);
    *value = (AttrValue){.kind = ATTR_EXPR, .expr = expr};
    return value;
}

static const AttrValue *attr_untyped(Context *ctx, const Expr *number)
{
    AttrValue *value = ARENA_NEW(ctx->arena, AttrValue);
    *value = (AttrValue){.kind = ATTR_EXPR, .expr = number, .untyped = true};
    return value;
}

const AttrValue *attr_int(Context *ctx, int64_t value)
{
    if (dtype_holds(DTYPE_INT32, value))
        return attr_expr(ctx, expr_int(ctx, DTYPE_INT32, value));
    return attr_untyped(ctx, expr_int(ctx, DTYPE_INT64, value));
}

const AttrValue *attr_float(Context *ctx, double value)
{
    return isfinite(value) ? attr_untyped(ctx, expr_float(ctx, DTYPE_FLOAT64, value))
                           : attr_expr(ctx, expr_float(ctx, DTYPE_FLOAT32, value));
}

const AttrValue *attr_bool(Context *ctx, bool value)
{
    return attr_untyped(ctx, expr_bool(ctx, value));
}

const Stmt *stmt_new(Context *ctx, const Stmt *template)
{
    return arena_copy(ctx->arena, template, sizeof *template);
}

/* T.evaluate(0) only stands for a body that is otherwise empty. */
static bool is_nothing(const Stmt *stmt)
{
    return stmt->kind == STMT_EVALUATE && expr_is_int(stmt->as.evaluate, 0);
}

const Stmt *stmt_seq(Context *ctx, const Stmt *const *items, int count)
{
    VEC(const Stmt *) flat = {0};
    for (int i = 0; i < count; i++) {
        if (items[i]->kind != STMT_SEQ) {
            vec_push(ctx->arena, &flat, items[i]);
            continue;
        }
        for (int j = 0; j < items[i]->as.seq.count; j++)
            vec_push(ctx->arena, &flat, items[i]->as.seq.items[j]);
    }
    if (flat.count == 1)
        return flat.data[0];
    int kept = 0;
    for (int i = 0; i < flat.count; i++)
        if (!is_nothing(flat.data[i]))
            flat.data[kept++] = flat.data[i];
    flat.count = kept;
    if (kept == 1)
        return flat.data[0];
    Span span = flat.count ? flat.data[0]->span : span_none();
    return stmt_new(ctx, &(Stmt){.kind = STMT_SEQ, .span = span, .as.seq = {flat.count, flat.data}});
}

const Stmt *stmt_empty(Context *ctx)
{
    return stmt_seq(ctx, NULL, 0);
}

bool stmt_is_empty(const Stmt *stmt)
{
    return stmt->kind == STMT_SEQ && stmt->as.seq.count == 0;
}

const Stmt *stmt_for(Context *ctx, ForStmt loop, Span span)
{
    return stmt_new(ctx, &(Stmt){.kind = STMT_FOR, .span = span, .as.loop = loop});
}

const Stmt *stmt_for_serial(Context *ctx, Var *var, const Expr *min, const Expr *extent, const Stmt *body, Span span)
{
    if (!min)
        min = expr_int(ctx, var->dtype, 0);
    return stmt_for(ctx, (ForStmt){.var = var, .min = min, .extent = extent, .body = body}, span);
}

const Stmt *stmt_while(Context *ctx, const Expr *condition, const Stmt *body, Span span)
{
    return stmt_new(ctx, &(Stmt){.kind = STMT_WHILE, .span = span, .as.while_loop = {condition, body}});
}

const Stmt *stmt_block(Context *ctx, BlockStmt block, Span span)
{
    Stmt stmt = {.kind = STMT_BLOCK, .span = span, .as.block = block};
    BlockStmt *copy = &stmt.as.block;
    copy->iters = arena_copy(ctx->arena, block.iters, sizeof *block.iters * (size_t)block.iter_count);
    copy->bindings = arena_copy(ctx->arena, block.bindings, sizeof *block.bindings * (size_t)block.iter_count);
    if (!copy->predicate)
        copy->predicate = expr_bool(ctx, true);
    return stmt_new(ctx, &stmt);
}

const Stmt *stmt_if(Context *ctx, const Expr *condition, const Stmt *then_body, const Stmt *else_body, Span span)
{
    return stmt_new(ctx, &(Stmt){.kind = STMT_IF, .span = span, .as.branch = {condition, then_body, else_body}});
}

const Stmt *stmt_let(Context *ctx, Var *var, const Expr *value, const Stmt *body, Span span)
{
    return stmt_new(ctx, &(Stmt){.kind = STMT_LET, .span = span, .as.let = {var, value, body}});
}

const Stmt *stmt_store(Context *ctx, Buffer *buffer, const Expr *const *indices, int index_count, const Expr *value, const Expr *mask,
                       Span span)
{
    Stmt stmt = {
        .kind = STMT_STORE, .span = span, .as.store = {.buffer = buffer, .index_count = index_count, .value = value, .mask = mask}};
    stmt.as.store.indices = arena_copy(ctx->arena, indices, sizeof *indices * (size_t)index_count);
    return stmt_new(ctx, &stmt);
}

const Stmt *stmt_evaluate(Context *ctx, const Expr *value, Span span)
{
    return stmt_new(ctx, &(Stmt){.kind = STMT_EVALUATE, .span = span, .as.evaluate = value});
}

/* Where STMT keeps its one body; NULL for kinds without exactly one. */
static const Stmt **body_slot(Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_FOR: return &stmt->as.loop.body;
    case STMT_WHILE: return &stmt->as.while_loop.body;
    case STMT_BLOCK: return &stmt->as.block.body;
    case STMT_LET: return &stmt->as.let.body;
    case STMT_ALLOCATE: return &stmt->as.allocate.body;
    case STMT_ALLOCATE_CONST: return &stmt->as.allocate_const.body;
    case STMT_DECL_BUFFER: return &stmt->as.declare.body;
    case STMT_ATTR: return &stmt->as.attr.body;
    case STMT_ASSERT: return &stmt->as.assertion.body;
    case STMT_REALIZE: return &stmt->as.realize.body;
    case STMT_SEQ:
    case STMT_IF:
    case STMT_STORE:
    case STMT_EVALUATE: return NULL;
    }
    return NULL;
}

const Stmt *stmt_body(const Stmt *stmt)
{
    Stmt copy = *stmt;
    const Stmt **slot = body_slot(&copy);
    return slot ? *slot : NULL;
}

bool block_binds_axis(const BlockStmt *block, bool spatial, const Var *var)
{
    for (int i = 0; i < block->iter_count; i++)
        if ((block->iters[i].kind != ITER_REDUCE) == spatial && expr_uses_var(block->bindings[i], var))
            return true;
    return false;
}

bool block_only_reduces_over(const BlockStmt *block, const Var *var)
{
    return block_binds_axis(block, false, var) && !block_binds_axis(block, true, var);
}

const Var *region_reduce_axis(const Region *region, const BlockStmt *block)
{
    for (int d = 0; d < region->buffer->ndim; d++)
        for (int i = 0; i < block->iter_count; i++) {
            const Var *var = block->iters[i].var;
            bool used = expr_uses_var(region->ranges[d].min, var) || expr_uses_var(region->ranges[d].extent, var);
            if (used && block->iters[i].kind == ITER_REDUCE)
                return var;
        }
    return NULL;
}

bool stmt_is_empty_loop(const Stmt *stmt)
{
    return stmt->kind == STMT_FOR && expr_is_int(stmt->as.loop.extent, 0);
}

const Stmt *stmt_with_body(Context *ctx, const Stmt *stmt, const Stmt *body)
{
    Stmt copy = *stmt;
    const Stmt **slot = body_slot(&copy);
    if (!slot)
        BUG("statement of kind %d has no single body", stmt->kind);
    if (*slot == body)
        return stmt;
    *slot = body;
    return stmt_new(ctx, &copy);
}

static const Stmt *replace_item(Context *ctx, const Stmt *seq, const Stmt *old_child, const Stmt *new_child)
{
    int count = seq->as.seq.count;
    const Stmt **items = arena_copy(ctx->arena, seq->as.seq.items, sizeof *items * (size_t)count);
    for (int i = 0; i < count; i++)
        if (items[i] == old_child) {
            items[i] = new_child;
            break;
        }
    return stmt_seq(ctx, items, count);
}

const Stmt *stmt_with_child(Context *ctx, const Stmt *parent, const Stmt *old_child, const Stmt *new_child)
{
    Stmt copy = *parent;
    const Stmt **first = &copy.as.branch.then_body, **second = &copy.as.branch.else_body;
    if (parent->kind == STMT_SEQ)
        return replace_item(ctx, parent, old_child, new_child);
    if (parent->kind == STMT_BLOCK)
        first = &copy.as.block.init, second = &copy.as.block.body;
    else if (parent->kind != STMT_IF)
        return stmt_with_body(ctx, parent, new_child);
    *(*first == old_child ? first : second) = new_child;
    return stmt_new(ctx, &copy);
}

Region region_whole(Context *ctx, Buffer *buffer)
{
    Region region = {buffer, ARENA_ARRAY(ctx->arena, Range, buffer->ndim), span_none()};
    for (int i = 0; i < buffer->ndim; i++)
        region.ranges[i] = (Range){expr_int(ctx, buffer->shape[i]->dtype, 0), buffer->shape[i]};
    return region;
}

Region region_point(Context *ctx, Buffer *buffer, const Expr *const *indices)
{
    Region region = {buffer, ARENA_ARRAY(ctx->arena, Range, buffer->ndim), span_none()};
    for (int i = 0; i < buffer->ndim; i++)
        region.ranges[i] = range_point(ctx, indices[i]);
    return region;
}

const Func *func_with_body(Context *ctx, const Func *func, const Stmt *body)
{
    if (func->body == body)
        return func;
    Func *copy = arena_copy(ctx->arena, func, sizeof *func);
    copy->body = body;
    return copy;
}

bool func_is_argument(const Func *func, const Var *data)
{
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer && func->params[i].buffer->data == data)
            return true;
    return false;
}

const Func *module_find(const Module *module, const char *name)
{
    for (int i = 0; i < module->func_count; i++)
        if (!strcmp(module->funcs[i]->name, name))
            return module->funcs[i];
    return NULL;
}

int module_index_for_schedule(const Module *module, const char *name)
{
    for (int i = 0; i < module->func_count; i++)
        if (!strcmp(module->funcs[i]->name, name))
            return i;
    return module->func_count == 1 && !strcmp(name, "main") ? 0 : -1;
}

const Module *module_with_func(Context *ctx, const Module *module, int index, const Func *func)
{
    Module *copy = arena_copy(ctx->arena, module, sizeof *module);
    copy->funcs = arena_copy(ctx->arena, module->funcs, sizeof *module->funcs * (size_t)module->func_count);
    copy->funcs[index] = func;
    return copy;
}

const TensorIntrin *module_intrin(const Module *module, const char *name)
{
    for (int i = 0; i < module->intrin_count; i++)
        if (!strcmp(module->intrins[i].name, name))
            return &module->intrins[i];
    return NULL;
}
