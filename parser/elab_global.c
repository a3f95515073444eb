/* Calls between the functions of a program: Module.g(A.data). The callee may be defined later; its parameters are checked when all functions
   are known. */
#include "ir/signature.h"
#include "parser/elab.h"

void elab_note_definitions(Elab *elab, const AstNode *node)
{
    if (node->kind == AST_DEF)
        map_set(elab->ctx->arena, &elab->func_defs, node->as.def.name, (void *)node);
    for (int i = 0; node->kind == AST_CLASS && i < node->as.class_def.body.count; i++)
        elab_note_definitions(elab, node->as.class_def.body.items[i]);
}

Value elab_global(Elab *elab, Str name, Span span)
{
    if (map_has(&elab->func_defs, name))
        return (Value){.kind = VALUE_GLOBAL, .span = span, .as.text = name};
    diag_error(elab->ctx, span, "the program has no function '%s'", name);
    return value_error();
}

Value elab_global_call(Elab *elab, const Value *callee, ValueList args, const AstNode *node)
{
    Context *ctx = elab->ctx;
    const AstNode *def = map_get(&elab->func_defs, callee->as.text);
    const Expr **exprs = ARENA_ARRAY(ctx->arena, const Expr *, args.count + 1);
    exprs[0] = expr_string(ctx, callee->as.text);
    if (node->as.call.keyword_count) {
        diag_error(ctx, node->as.call.keywords[0].span, "a function of the program takes no keyword arguments");
        return value_error();
    }
    for (int i = 0; i < args.count; i++)
        if (!(exprs[i + 1] = value_to_expr(elab, &args.items[i])))
            return value_error();
    const Expr *call = expr_call(ctx, elab_return_type(elab, def->as.def.returns), OP_CALL_FUNC, exprs, args.count + 1, node->span);
    FuncCall made = {call, node->span};
    vec_push(ctx->arena, &elab->func_calls, made);
    return value_expr(call, node->span);
}

/* ARG fits PARAM: a pointer where it is a buffer, else a value of its type. */
static bool argument_fits(const Expr *arg, const Param *param)
{
    DType wanted = param->buffer ? DTYPE_HANDLE : param->param->dtype;
    return dtype_equal(arg->dtype, wanted);
}

static bool has_own_sizes(Context *ctx, const Func *func)
{
    return func_signature(ctx, func)->dim_count > 0;
}

static void check_call(Elab *elab, const Func *callee, const FuncCall *made)
{
    Context *ctx = elab->ctx;
    const Expr *call = made->call;
    bool fits = call->arg_count - 1 == callee->param_count;
    if (!fits)
        diag_error(ctx, made->span, "'%s' takes %d argument%s, but %d %s given", callee->name, callee->param_count,
                   callee->param_count == 1 ? "" : "s", call->arg_count - 1, call->arg_count == 2 ? "is" : "are");
    for (int i = 0; fits && i < callee->param_count; i++)
        if (!argument_fits(call->args[i + 1], &callee->params[i])) {
            diag_error(ctx, made->span, "argument %d of '%s' must be %s, not %s", i + 1, callee->name,
                       callee->params[i].buffer ? "a pointer such as A.data" : dtype_name(ctx, callee->params[i].param->dtype),
                       expr_type_name(ctx, call->args[i + 1]));
            fits = false;
        }
    if (fits && has_own_sizes(ctx, callee)) {
        diag_error(ctx, made->span, "'%s' has sizes of its own, which a call cannot pass", callee->name);
        fits = false;
    }
    if (!fits)
        diag_note(ctx, callee->name_span, "'%s' is defined here", callee->name);
}

void elab_check_calls(Elab *elab, const Module *module)
{
    for (int i = 0; i < elab->func_calls.count; i++) {
        const FuncCall *made = &elab->func_calls.data[i];
        const Func *callee = module_find(module, made->call->args[0]->value.text);
        if (callee)
            check_call(elab, callee, made);
    }
}
