/* Names: scopes, suggestions, and what an assignment does to its targets; see elab.h. */
#include "parser/elab.h"
#include "support/warning.h"

void scope_push(Elab *elab)
{
    Scope *scope = ARENA_NEW(elab->ctx->arena, Scope);
    scope->parent = elab->scope;
    elab->scope = scope;
}

void scope_pop(Elab *elab)
{
    elab->scope = elab->scope->parent;
}

const Binding *scope_find(const Elab *elab, Str name)
{
    for (const Scope *scope = elab->scope; scope; scope = scope->parent) {
        const Binding *binding = map_get(&scope->bindings, name);
        if (binding)
            return binding;
    }
    return NULL;
}

void scope_forget(Elab *elab, Str name)
{
    Scope *scope = elab->scope;
    while (scope->parent && (!elab->func || scope != elab->func->scope) && !map_has(&scope->bindings, name))
        scope = scope->parent;
    Binding *binding = ARENA_NEW(elab->ctx->arena, Binding);
    binding->value = value_error();
    map_set(elab->ctx->arena, &scope->bindings, name, binding);
}

const char *scope_closest(Elab *elab, Str name)
{
    VEC(const char *) names = {0};
    for (const Scope *scope = elab->scope; scope; scope = scope->parent)
        for (int i = 0; i < scope->bindings.count; i++)
            vec_push(elab->ctx->arena, &names, scope->bindings.entries[i].key);
    return diag_closest(name, names.data, names.count);
}

void scope_bind(Elab *elab, Str name, Value value, Span span)
{
    const Binding *old = map_get(&elab->scope->bindings, name);
    if (old && elab->func && old->value.kind != VALUE_ERROR && value.kind != VALUE_ERROR) {
        diag_error(elab->ctx, span, "'%s' is already defined here", name);
        diag_note(elab->ctx, old->span, "'%s' is defined here", name);
        elab->func->names_lost = true; /* one of the two was to be another */
        return;
    }
    Binding *binding = ARENA_NEW(elab->ctx->arena, Binding);
    value.fresh = value.declared = false;
    *binding = (Binding){value, span};
    map_set(elab->ctx->arena, &elab->scope->bindings, name, binding);
}

void scope_redirect(Elab *elab, const Var *from, Var *to)
{
    for (const Scope *scope = elab->scope; scope; scope = scope->parent)
        for (int i = 0; i < scope->bindings.count; i++) {
            const Binding *binding = scope->bindings.entries[i].value;
            const Value *value = &binding->value;
            if (value->kind != VALUE_EXPR || !expr_is_var(value->as.expr, from))
                continue;
            Binding *redirected = ARENA_NEW(elab->ctx->arena, Binding);
            *redirected = (Binding){value_expr(expr_var(elab->ctx, to), value->span), binding->span};
            map_set(elab->ctx->arena, &elab->scope->bindings, scope->bindings.entries[i].key, redirected);
        }
}

/* --- naming --- */

/* A variable of the declarations that a string did not name. Scalar parameters, extents and what is bound in the body keep their names. */
static bool is_own_stride(Elab *elab, const Expr *stride)
{
    return stride->kind == EXPR_VAR && map_get(&elab->symbols, stride->value.var) && !map_has(&elab->named_strides, stride->value.var) &&
           !map_has(&elab->extents, stride->value.var);
}

/* NAME is of dimension DIM of BUFFER, as it was called before a step put a scope or another ending behind its name. */
static bool is_name_of_dimension(Str name, Str buffer, int dim)
{
    const char *end = strrchr(name, '_');
    char digits[16];
    snprintf(digits, sizeof digits, "_s%d", dim);
    return end && end != name && !strcmp(end, digits) && !strncmp(name, buffer, (size_t)(end - name));
}

/* A buffer's own data pointer is named like it, a stride variable after the dimension. */
static void name_buffer(Elab *elab, Buffer *buffer, Str name)
{
    if (buffer->data->name == buffer->name)
        buffer->data->name = name;
    buffer->name = name;
    for (int i = 0; i < buffer->ndim; i++)
        if (buffer->shape[i]->kind == EXPR_VAR)
            map_set(elab->ctx->arena, &elab->extents, buffer->shape[i]->value.var, buffer->shape[i]->value.var);
    for (int i = 0; buffer->strides && i < buffer->ndim; i++) {
        if (!is_own_stride(elab, buffer->strides[i]) || is_name_of_dimension(buffer->strides[i]->value.var->name, name, i))
            continue;
        Var *var = buffer->strides[i]->value.var;
        var->stated_name = var->stated_name ? var->stated_name : var->name;
        var->name = context_internf(elab->ctx, "%s_s%d", name, i);
    }
}

void elab_name_value(Elab *elab, Value *value, Str name)
{
    if (value_is_sequence(value)) {
        for (int i = 0; i < value->as.list.count; i++)
            elab_name_value(elab, &value->as.list.items[i], context_internf(elab->ctx, "%s_%d", name, i));
        return;
    }
    if (!value->fresh)
        return;
    value->fresh = false;
    Buffer *scalar = elab_scalar_of(elab, value);
    if (value->kind == VALUE_BUFFER)
        name_buffer(elab, value->as.buffer, name);
    else if (scalar)
        name_buffer(elab, scalar, name);
    else if (value->kind == VALUE_EXPR && value->as.expr->kind == EXPR_VAR)
        value->as.expr->value.var->name = name;
}

/* --- assignment --- */

/* NAME = VALUE where VALUE is computed by the program: a let around the rest of the body. */
static void bind_let(Elab *elab, Str name, const Value *value, Span span)
{
    const Expr *expr = value_to_expr(elab, value);
    const Binding *old = map_get(&elab->scope->bindings, name);
    if (expr && old && old->value.kind == VALUE_BUFFER) {
        elab_report_change(elab, name, old, span);
        return;
    }
    if (!expr) {
        scope_bind(elab, name, value_error(), span);
        return;
    }
    Var *var = var_new(elab->ctx, name, expr->dtype, span);
    Stmt let = {.kind = STMT_LET, .span = span, .as.let = {.var = var, .value = expr}};
    scope_bind(elab, name, value_expr(expr_var_at(elab->ctx, var, span), span), span);
    frame_enclose(elab, &(WrapperSpec){&let, 1, NULL}, NULL, span);
}

/* The binding of NAME in a scope around the current one; NULL: none. What stands outside of a function is hidden by the names of its body,
   as in Python. */
static const Binding *binding_around(const Elab *elab, Str name)
{
    if (!elab->func || map_has(&elab->scope->bindings, name))
        return NULL;
    for (const Scope *scope = elab->scope; scope != elab->func->scope && scope->parent;) {
        scope = scope->parent;
        const Binding *binding = map_get(&scope->bindings, name);
        if (binding)
            return binding->value.kind != VALUE_ERROR ? binding : NULL;
    }
    return NULL;
}

static const char *element_type(Elab *elab, const Value *value)
{
    if (value->kind == VALUE_EXPR)
        return dtype_name(elab->ctx, value->as.expr->dtype);
    return value->kind == VALUE_INT ? "int32" : value->kind == VALUE_BOOL ? "bool" : "float32";
}

void elab_report_change(Elab *elab, Str name, const Binding *binding, Span span)
{
    Context *ctx = elab->ctx;
    const Value *value = &binding->value;
    bool is_var = value->kind == VALUE_EXPR && value->as.expr->kind == EXPR_VAR;
    if (is_var && map_has(&elab->loop_domains, value->as.expr->value.var)) {
        diag_error(ctx, span, "the loop variable '%s' cannot be assigned to: the loop gives it its values", name);
    } else if (value->kind == VALUE_BUFFER && value->as.buffer->ndim > 0) {
        diag_error(ctx, span, "'%s' is a buffer, to which nothing can be assigned but its elements, as in %s[%s] = ...", name, name,
                   value->as.buffer->ndim > 1 ? "i, j" : "i");
    } else if (value->kind == VALUE_BUFFER) {
        diag_error(ctx, span, "'%s' is a buffer; its element is %s[()], as in %s[()] = ...", name, name, name);
        diag_edit(ctx, (Span){span.file, span.end, span.end}, "[()]");
    } else {
        diag_error(ctx, span,
                   "'%s' holds one value, which an assignment cannot change; what changes is a buffer: %s = T.alloc_buffer((), \"%s\") before, "
                   "and %s[()] in the place of %s",
                   name, name, element_type(elab, value), name, name);
    }
    diag_note(ctx, binding->span, "'%s' is defined here", name);
}

bool elab_refuse_change(Elab *elab, Str name, Span span)
{
    const Binding *around = binding_around(elab, name);
    if (!around)
        return false;
    elab_report_change(elab, name, around, span);
    scope_bind(elab, name, value_error(), span);
    return true;
}

/* Binding VALUE makes a new name whatever names there are around: of a loop or an axis, a buffer, a `with` statement. */
static bool is_declaration(const Value *value)
{
    if (value->kind == VALUE_WRAPPER)
        return value->as.wrapper->count == 0 || value->as.wrapper->layers[0].kind != STMT_LET;
    bool fresh = value_is_sequence(value) && value->as.list.count > 0;
    for (int i = 0; fresh && i < value->as.list.count; i++)
        fresh = is_declaration(&value->as.list.items[i]);
    return fresh || value->fresh || value->declared || value->kind == VALUE_ERROR;
}

static void warn_of_shadowing(Elab *elab, Str name, Span span)
{
    const Binding *around = binding_around(elab, name);
    if (!around)
        return;
    diag_warning(elab->ctx, WARNING_SHADOW, span, "'%s' hides what has this name around it", name);
    diag_note(elab->ctx, around->span, "'%s' is defined here", name);
}

/* A Python constant at the head of a function, before any statement, stays one: it may size the parameters. Later on it is a let. */
static bool is_head_constant(const Elab *elab, const Value *value)
{
    return value_is_number(value) && (!elab->frame || (elab->frame->kind == FRAME_FUNC && elab->frame->items.count == 0));
}

void elab_bind_name(Elab *elab, Str name, Value value, Span span)
{
    if (!is_declaration(&value) && elab_refuse_change(elab, name, span))
        return;
    if (value.kind != VALUE_ERROR)
        warn_of_shadowing(elab, name, span);
    switch (value.kind) {
    case VALUE_WRAPPER: {
        Value result = *value.as.wrapper->result;
        frame_enclose(elab, value.as.wrapper, &result, value.span);
        elab_name_value(elab, &result, name);
        scope_bind(elab, name, result, span);
        return;
    }
    case VALUE_LOOP: diag_error(elab->ctx, value.span, "a loop can only be used in a 'for' statement"); return;
    case VALUE_BLOCK:
    case VALUE_INIT: diag_error(elab->ctx, value.span, "%s can only be used in a 'with' statement", value_kind_name(value.kind)); return;
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_EXPR:
    case VALUE_REGION:
        if (value.fresh || value.meta || is_head_constant(elab, &value) || !elab->frame)
            break;
        bind_let(elab, name, &value, span);
        return;
    default: break;
    }
    elab_name_value(elab, &value, name);
    scope_bind(elab, name, value, span);
}

/* The names in TARGET become errors, so that their uses are silent. */
static void bind_errors(Elab *elab, const AstNode *target)
{
    if (target->kind == AST_NAME)
        scope_bind(elab, target->as.name, value_error(), target->span);
    else if (target->kind == AST_STARRED)
        bind_errors(elab, target->as.operand);
    else if (target->kind == AST_TUPLE || target->kind == AST_LIST)
        for (int i = 0; i < target->as.list.count; i++)
            bind_errors(elab, target->as.list.items[i]);
}

static int starred_index(AstList targets)
{
    for (int i = 0; i < targets.count; i++)
        if (targets.items[i]->kind == AST_STARRED)
            return i;
    return -1;
}

static void bind_items(Elab *elab, const AstNode *target, const Value *value)
{
    AstList targets = target->as.list;
    ValueList items = value_items(value);
    int starred = starred_index(targets), taken = starred < 0 ? 0 : items.count - targets.count + 1;
    if (starred < 0 ? items.count != targets.count : taken < 0) {
        diag_error(elab->ctx, target->span, "cannot unpack %d value%s into %d name%s", items.count, items.count == 1 ? "" : "s",
                   targets.count, targets.count == 1 ? "" : "s");
        if (elab->func)
            elab->func->names_lost = true;
        bind_errors(elab, target);
        return;
    }
    int errors = diag_error_count(elab->ctx);
    for (int i = 0, from = 0; i < targets.count; i++) {
        if (diag_error_count(elab->ctx) > errors) { /* one mistake, `x, y = y, x`, is told once */
            bind_errors(elab, targets.items[i]);
            continue;
        }
        if (i != starred) {
            Value item = items.items[from++];
            item.declared |= value->declared;
            elab_bind_target(elab, targets.items[i], item);
            continue;
        }
        elab_bind_target(elab, targets.items[i]->as.operand, value_tuple(elab, items.items + from, taken, target->span));
        from += taken;
    }
}

void elab_bind_target(Elab *elab, const AstNode *target, Value value)
{
    if (value.kind == VALUE_ERROR) {
        bind_errors(elab, target);
        return;
    }
    switch (target->kind) {
    case AST_NAME: elab_bind_name(elab, target->as.name, value, target->span); return;
    case AST_TUPLE:
    case AST_LIST: bind_items(elab, target, &value); return;
    default:
        diag_error(elab->ctx, target->span, "cannot assign to %s here", ast_kind_name(target->kind));
        if (elab->func)
            elab->func->names_lost = true;
    }
}
