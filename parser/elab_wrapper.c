/* Statements that enclose the rest of a body, or the body of a `with`: lets, attributes, threads, assertions, allocations; see elab.h. */
#include "parser/elab.h"

Value builtin_evaluate(Elab *elab, const Call *call)
{
    const Expr *value = value_to_expr(elab, call_arg(call, "value"));
    if (value && elab->frame)
        frame_add(elab, stmt_evaluate(elab->ctx, value, call->span));
    return value ? value_none(call->span) : value_error();
}

static const Expr *true_constant(Elab *elab)
{
    return expr_bool(elab->ctx, true);
}

/* --- lets --- */

/* The let of VAR (NULL: a fresh one) to VALUE. */
static Value let_of(Elab *elab, Var *var, const Value *value, DType type, bool typed, Span span)
{
    Context *ctx = elab->ctx;
    const Expr *expr = typed ? value_to_typed(elab, value, type) : value_to_expr(elab, value);
    if (!expr)
        return value_error();
    if (typed && !dtype_equal(expr->dtype, type)) {
        diag_error(ctx, span, "the variable is %s, but its value %s", dtype_name(ctx, type), dtype_name(ctx, expr->dtype));
        return value_error();
    }
    bool fresh = !var;
    if (fresh)
        var = var_new(ctx, context_intern(ctx, ""), expr->dtype, span);
    Stmt let = {.kind = STMT_LET, .span = span, .as.let = {.var = var, .value = expr}};
    Value result = value_expr(expr_var_at(ctx, var, span), span);
    result.fresh = fresh;
    return value_wrapper(elab, &let, 1, result, span);
}

static Var *value_to_var(Elab *elab, const Value *value, const char *what)
{
    if (value->kind == VALUE_EXPR && value->as.expr->kind == EXPR_VAR)
        return value->as.expr->value.var;
    if (value->kind != VALUE_ERROR)
        diag_error(elab->ctx, value->span, "%s must be a variable, not %s", what, value_kind_name(value->kind));
    return NULL;
}

/* with T.LetStmt(value, var=x), with T.LetStmt(value) as x; the type may be stated. */
Value builtin_let_stmt(Elab *elab, const Call *call)
{
    const Value *type = call_arg(call, "type_annotation"), *value = call_arg(call, "value");
    DType dtype = DTYPE_VOID;
    if (call_has(call, "var")) {
        Var *var = value_to_var(elab, call_arg(call, "var"), "what a let defines");
        return var ? let_of(elab, var, value, var->dtype, true, call->span) : value_error();
    }
    bool typed = call_has(call, "type_annotation");
    if (typed && type->kind == VALUE_EXPR)
        dtype = type->as.expr->dtype;
    else if (typed && !value_to_dtype(elab, type, &dtype))
        return value_error();
    return let_of(elab, NULL, value, dtype, typed, call->span);
}

/* The older T.let(var, value) as a statement, T.let(var, value, body) as an expression. */
Value builtin_let(Elab *elab, const Call *call)
{
    if (call_has(call, "body"))
        return elab_let_in_expr(elab, call_arg(call, "var"), call_arg(call, "value"), call_arg(call, "body"), call->span);
    Var *var = value_to_var(elab, call_arg(call, "var"), "what a let defines");
    return var ? let_of(elab, var, call_arg(call, "value"), var->dtype, true, call->span) : value_error();
}

/* --- attributes and threads --- */

static Value thread_extent(Elab *elab, Var *var, Str thread, const Expr *extent, bool fresh, Span span)
{
    Stmt layer = {.kind = STMT_FOR, .span = span};
    layer.as.loop = (ForStmt){.var = var, .min = expr_int(elab->ctx, extent->dtype, 0), .extent = extent, .kind = FOR_THREAD};
    layer.as.loop.thread = thread;
    layer.as.loop.launch = true;
    Value result = value_expr(expr_var_at(elab->ctx, var, span), span);
    result.fresh = fresh;
    return value_wrapper(elab, &layer, 1, result, span);
}

/* The thread index tag of VAR from T.env_thread or T.iter_var, or NULL. */
static Str thread_of(const Elab *elab, const Var *var)
{
    return elab->func ? map_get(&elab->func->threads, var) : NULL;
}

Value builtin_env_thread(Elab *elab, const Call *call)
{
    DType dtype = DTYPE_INT32;
    Str thread = value_to_thread(elab, call_arg(call, "thread_tag"));
    if (!thread || (call_has(call, "dtype") && !value_to_dtype(elab, call_arg(call, "dtype"), &dtype)))
        return value_error();
    if (!elab->func) {
        diag_error(elab->ctx, call->span, "T.env_thread can only stand in a function");
        return value_error();
    }
    Var *var = var_new(elab->ctx, context_intern(elab->ctx, ""), dtype, call->span);
    map_set(elab->ctx->arena, &elab->func->threads, var, (void *)thread);
    return elab_new_symbol(elab, var, call->span);
}

/* T.iter_var(v, T.Range(0, 16), "ThreadIndex", "threadIdx.x"): the older way to say env_thread. */
Value builtin_iter_var(Elab *elab, const Call *call)
{
    Var *var = value_to_var(elab, call_arg(call, "var"), "the iterator");
    Str thread = var ? value_to_thread(elab, call_arg(call, "thread_tag")) : NULL;
    if (!thread || !elab->func)
        return value_error();
    map_set(elab->ctx->arena, &elab->func->threads, var, (void *)thread);
    return *call_arg(call, "var");
}

Value builtin_launch_thread(Elab *elab, const Call *call)
{
    const Value *thread = call_arg(call, "thread");
    const Expr *extent = value_to_integer(elab, call_arg(call, "extent"), "the extent of a thread");
    if (!extent)
        return value_error();
    if (thread->kind == VALUE_STRING) {
        if (!value_to_thread(elab, thread))
            return value_error();
        Var *var = var_new(elab->ctx, thread->as.text, extent->dtype, call->span);
        return thread_extent(elab, var, thread->as.text, extent, true, call->span);
    }
    Var *var = value_to_var(elab, thread, "the thread");
    if (!var)
        return value_error();
    if (!thread_of(elab, var)) {
        diag_error(elab->ctx, thread->span, "'%s' is no thread; make it with T.env_thread(\"threadIdx.x\")", var->name);
        return value_error();
    }
    return thread_extent(elab, var, thread_of(elab, var), op_cast(elab->ctx, var->dtype, extent), false, call->span);
}

/* T.attr({"virtual_thread": 2}), as releases since 0.27 print attributes of no node. */
static Value attrs_of_nothing(Elab *elab, const Value *dict, Span span)
{
    Attrs attrs = {0};
    if (!value_to_attrs(elab, dict, "the attributes", &attrs))
        return value_error();
    Stmt *layers = ARENA_ARRAY(elab->ctx->arena, Stmt, attrs.count);
    for (int i = 0; i < attrs.count; i++) {
        if (attrs.entries[i].value->kind != ATTR_EXPR) {
            diag_error(elab->ctx, dict->span, "the value of the attribute '%s' must be a number or a string", attrs.entries[i].key);
            return value_error();
        }
        layers[i] = (Stmt){.kind = STMT_ATTR, .span = span};
        layers[i].as.attr.node = expr_int(elab->ctx, DTYPE_INT32, 0);
        layers[i].as.attr.key = attrs.entries[i].key;
        layers[i].as.attr.value = attrs.entries[i].value->expr;
    }
    return value_wrapper(elab, layers, attrs.count, value_none(span), span);
}

Value builtin_attr(Elab *elab, const Call *call)
{
    Context *ctx = elab->ctx;
    const Value *node = call_arg(call, "node");
    if (!call_has(call, "attr_key") && node->kind == VALUE_DICT)
        return attrs_of_nothing(elab, node, call->span);
    if (!call_has(call, "attr_key") || !call_has(call, "value")) {
        diag_error(ctx, call->span, "T.attr misses the argument '%s'", call_has(call, "attr_key") ? "value" : "attr_key");
        return value_error();
    }
    Str key = value_to_string(elab, call_arg(call, "attr_key"), "the key of an attribute");
    const Expr *value = key ? value_to_expr(elab, call_arg(call, "value")) : NULL;
    if (!value)
        return value_error();
    const Expr *target = node->kind == VALUE_BUFFER ? expr_var(ctx, node->as.buffer->data) : value_to_expr(elab, node);
    if (!target)
        return value_error();
    if (!strcmp(key, "thread_extent") && target->kind == EXPR_VAR && thread_of(elab, target->value.var))
        return thread_extent(elab, target->value.var, thread_of(elab, target->value.var), value, false, call->span);
    Stmt layer = {.kind = STMT_ATTR, .span = call->span};
    layer.as.attr.node = target;
    layer.as.attr.key = key;
    layer.as.attr.value = value;
    return value_wrapper(elab, &layer, 1, value_none(call->span), call->span);
}

/* --- assertions --- */

/* ("RuntimeError", ["part", "of the text"]), as releases since 0.25 print it: the text is all parts. */
static Value assertion_text(Elab *elab, const Value *message)
{
    bool pair = message->kind == VALUE_TUPLE && message->as.list.count == 2 && message->as.list.items[0].kind == VALUE_STRING &&
                value_is_sequence(&message->as.list.items[1]);
    const ValueList *parts = pair ? &message->as.list.items[1].as.list : NULL;
    Str text = context_intern(elab->ctx, "");
    for (int i = 0; pair && i < parts->count; i++) {
        pair = parts->items[i].kind == VALUE_STRING;
        text = pair ? context_internf(elab->ctx, "%s%s", text, parts->items[i].as.text) : text;
    }
    return pair ? value_string(text, message->span) : *message;
}

Value elab_assertion(Elab *elab, const Value *condition, const Value *given, Span span)
{
    Value read = assertion_text(elab, given);
    const Value *message = &read;
    const Expr *test = value_to_scalar_condition(elab, condition, "what is asserted"), *text = value_to_expr(elab, message);
    if (!test || !text)
        return value_error();
    Stmt layer = {.kind = STMT_ASSERT, .span = span};
    layer.as.assertion.condition = test;
    layer.as.assertion.message = text;
    return value_wrapper(elab, &layer, 1, value_none(span), span);
}

Value builtin_assert(Elab *elab, const Call *call)
{
    Value none = value_string(context_intern(elab->ctx, ""), call->span);
    return elab_assertion(elab, call_arg(call, "condition"), call_has(call, "message") ? call_arg(call, "message") : &none, call->span);
}

/* --- allocations --- */

/* Type, extents, scope and annotations that the two kinds of allocation share. */
typedef struct {
    DType dtype;
    const Expr **extents;
    int extent_count;
    Str scope;
    Attrs annotations;
} Allocation;

static bool read_allocation(Elab *elab, const Call *call, Allocation *allocation)
{
    allocation->scope = context_intern(elab->ctx, "global");
    if (call_has(call, "scope") && !(allocation->scope = value_to_scope(elab, call_arg(call, "scope"))))
        return false;
    return value_to_integers(elab, call_arg(call, "extents"), "an extent", &allocation->extents, &allocation->extent_count) &&
           value_to_dtype(elab, call_arg(call, "dtype"), &allocation->dtype) &&
           value_to_attrs(elab, call_arg(call, "annotations"), "the annotations", &allocation->annotations);
}

/* The pointer to the new memory. */
static Var *new_memory(Elab *elab, const Allocation *allocation, Span span)
{
    return var_new_pointer(elab->ctx, context_intern(elab->ctx, ""), allocation->dtype, allocation->scope, span);
}

Value builtin_allocate(Elab *elab, const Call *call)
{
    Allocation allocation;
    if (!read_allocation(elab, call, &allocation))
        return value_error();
    const Expr *condition =
        call_has(call, "condition") ? value_to_scalar_condition(elab, call_arg(call, "condition"), "the condition") : true_constant(elab);
    if (!condition)
        return value_error();
    Stmt layer = {.kind = STMT_ALLOCATE, .span = call->span};
    layer.as.allocate.var = new_memory(elab, &allocation, call->span);
    layer.as.allocate.dtype = allocation.dtype;
    layer.as.allocate.extents = allocation.extents;
    layer.as.allocate.extent_count = allocation.extent_count;
    layer.as.allocate.scope = allocation.scope;
    layer.as.allocate.condition = condition;
    layer.as.allocate.annotations = allocation.annotations;
    return value_wrapper(elab, &layer, 1, value_fresh_var(elab, layer.as.allocate.var, call->span), call->span);
}

Value builtin_allocate_const(Elab *elab, const Call *call)
{
    Allocation allocation;
    ValueList data = value_items(call_arg(call, "data"));
    if (!read_allocation(elab, call, &allocation))
        return value_error();
    const Expr **constants = ARENA_ARRAY(elab->ctx->arena, const Expr *, data.count);
    for (int i = 0; i < data.count; i++) {
        constants[i] = value_to_typed(elab, &data.items[i], allocation.dtype);
        if (!constants[i])
            return value_error();
        if ((constants[i]->kind != EXPR_INT && constants[i]->kind != EXPR_FLOAT) || !dtype_equal(constants[i]->dtype, allocation.dtype)) {
            diag_error(elab->ctx, data.items[i].span, "the data of T.allocate_const must be constants of type %s",
                       dtype_name(elab->ctx, allocation.dtype));
            return value_error();
        }
    }
    Stmt layer = {.kind = STMT_ALLOCATE_CONST, .span = call->span};
    layer.as.allocate_const.var = new_memory(elab, &allocation, call->span);
    layer.as.allocate_const.dtype = allocation.dtype;
    layer.as.allocate_const.extents = allocation.extents;
    layer.as.allocate_const.extent_count = allocation.extent_count;
    layer.as.allocate_const.data = constants;
    layer.as.allocate_const.data_count = data.count;
    layer.as.allocate_const.annotations = allocation.annotations;
    return value_wrapper(elab, &layer, 1, value_fresh_var(elab, layer.as.allocate_const.var, call->span), call->span);
}

Value builtin_realize(Elab *elab, const Call *call)
{
    const Region *region = value_to_region(elab, call_arg(call, "buffer_slice"));
    Str scope = region ? value_to_scope(elab, call_arg(call, "storage_scope")) : NULL;
    if (!scope)
        return value_error();
    const Expr *condition =
        call_has(call, "condition") ? value_to_scalar_condition(elab, call_arg(call, "condition"), "the condition") : true_constant(elab);
    if (!condition)
        return value_error();
    Stmt layer = {.kind = STMT_REALIZE, .span = call->span};
    layer.as.realize.region = *region;
    layer.as.realize.scope = scope;
    layer.as.realize.condition = condition;
    return value_wrapper(elab, &layer, 1, value_none(call->span), call->span);
}
