/* Scalars of the newest releases, which an assignment changes: `x: T.int32`, `x: T.int32 = 0`. Each is memory of one element, whose name
   means what is in it.

   Before                                  After
     x: T.float32                            x = T.decl_buffer((1,), scope="local")
     x = T.float32(0)                        x[0] = T.float32(0)
     for i in range(16):                     for i in range(16):
         x = x + A[i]                            x[0] = x[0] + A[i]

   A name with a type and a value that nothing assigns to again is a let, as in older releases: it means the same. */
#include "parser/elab.h"

static bool list_assigns(AstList list, Str name);

static bool target_names(const AstNode *target, Str name)
{
    if (target->kind == AST_NAME)
        return !strcmp(target->as.name, name);
    for (int i = 0; (target->kind == AST_TUPLE || target->kind == AST_LIST) && i < target->as.list.count; i++)
        if (target_names(target->as.list.items[i], name))
            return true;
    return false;
}

static bool any_target_names(AstList targets, Str name)
{
    for (int i = 0; i < targets.count; i++)
        if (target_names(targets.items[i], name))
            return true;
    return false;
}

static bool statement_assigns(const AstNode *node, Str name)
{
    switch (node->kind) {
    case AST_ASSIGN: return any_target_names(node->as.assign.targets, name);
    case AST_AUG_ASSIGN: return target_names(node->as.aug_assign.target, name);
    case AST_FOR: return list_assigns(node->as.for_loop.body, name);
    case AST_WHILE: return list_assigns(node->as.while_loop.body, name);
    case AST_IF: return list_assigns(node->as.branch.body, name) || list_assigns(node->as.branch.else_body, name);
    case AST_WITH: return list_assigns(node->as.with.body, name);
    default: return false;
    }
}

static bool list_assigns(AstList list, Str name)
{
    for (int i = 0; i < list.count; i++)
        if (statement_assigns(list.items[i], name))
            return true;
    return false;
}

bool elab_is_scalar_declaration(const Elab *elab, const AstNode *node)
{
    Str name = node->as.ann_assign.target->as.name;
    return elab->frame && elab->func->newest && (!node->as.ann_assign.value || list_assigns(elab->func->node->as.def.body, name));
}

Value elab_scalar(Elab *elab, DType dtype, Str scope, Span span)
{
    Context *ctx = elab->ctx;
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, 1);
    shape[0] = expr_int(ctx, DTYPE_INT32, 1);
    Buffer *buffer = buffer_new(ctx, context_intern(ctx, "scalar"), dtype, 1, shape, scope, span);
    Stmt layers[2];
    elab_declare_buffer(elab, buffer);
    elab_allocation_layers(elab, buffer, (Attrs){0}, layers);
    map_set(ctx->arena, &elab->func->scalars, buffer, buffer);
    const Expr *zero = expr_int(ctx, DTYPE_INT32, 0);
    Value element = value_expr(expr_load(ctx, buffer, &zero, 1, NULL, span), span);
    element.fresh = true;
    return value_wrapper(elab, layers, 2, element, span);
}

Buffer *elab_scalar_of(const Elab *elab, const Value *value)
{
    bool element = value->kind == VALUE_EXPR && value->as.expr->kind == EXPR_LOAD && elab->func;
    return element ? map_get(&elab->func->scalars, value->as.expr->value.buffer) : NULL;
}

bool elab_assign_scalar(Elab *elab, const AstNode *target, const Value *value, Span span)
{
    const Binding *binding = target->kind == AST_NAME ? scope_find(elab, target->as.name) : NULL;
    Buffer *buffer = binding ? elab_scalar_of(elab, &binding->value) : NULL;
    if (!buffer)
        return false;
    const Expr *zero = expr_int(elab->ctx, DTYPE_INT32, 0);
    if (value->kind != VALUE_ERROR)
        elab_store(elab, buffer, &zero, 1, value, NULL, span);
    return true;
}

void elab_declare_scalar(Elab *elab, const AstNode *node)
{
    const AstNode *target = node->as.ann_assign.target, *initial = node->as.ann_assign.value;
    Value value = initial ? elab_expr(elab, initial) : value_none(node->span), type = elab_expr(elab, node->as.ann_assign.annotation);
    if (type.kind == VALUE_ERROR || value.kind == VALUE_ERROR) {
        scope_bind(elab, target->as.name, value_error(), target->span);
        return;
    }
    elab_bind_target(elab, target, elab_scalar(elab, type.as.dtype, context_intern(elab->ctx, "local"), node->span));
    if (initial)
        elab_assign_scalar(elab, target, &value, node->span);
}

/* T.alloc_scalar("float32", "local"), T.local_scalar("float32"), T.shared_scalar("float32"). */
Value builtin_scalar(Elab *elab, const Call *call)
{
    static const char *const scopes[] = {"local", "local", "shared"};
    DType dtype;
    Str scope = context_intern(elab->ctx, scopes[call->builtin->variant]);
    if (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype))
        return value_error();
    if (call_has(call, "scope") && !(scope = value_to_string(elab, call_arg(call, "scope"), "the storage scope")))
        return value_error();
    if (!elab->frame) {
        diag_error(elab->ctx, call->span, "%s must stand in the body of a function", call->builtin->name);
        return value_error();
    }
    return elab_scalar(elab, dtype, scope, call->span);
}
