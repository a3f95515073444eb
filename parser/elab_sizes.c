/* Symbolic sizes as releases since 0.25 print them: a signature may name a size that a later line declares, `A: T.Buffer(("n",), "float32")`
   with `n = T.int32()` in the body, or that a TypeVar declares before the functions; see elab.h. */
#include <ctype.h>

#include "parser/elab.h"

static bool is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* NAME stands as a word in the text of the types of the first COUNT parameters of NODE. */
static bool mentions(Elab *elab, const AstNode *node, int count, Str name)
{
    size_t length = strlen(name);
    for (int i = 0; i < count; i++) {
        const AstNode *type = node->as.def.params[i].annotation;
        const SourceFile *source = type && type->span.file ? source_file(elab->ctx->sources, type->span.file) : NULL;
        for (uint32_t at = source ? type->span.begin : 0; source && at + length <= type->span.end; at++)
            if (!strncmp(source->text + at, name, length) && !is_name_part(source->text[at + length]) &&
                (at == 0 || !is_name_part(source->text[at - 1])))
                return true;
    }
    return false;
}

static bool signature_mentions(Elab *elab, const AstNode *node, Str name)
{
    return mentions(elab, node, node->as.def.param_count, name);
}

static void bind_size(Elab *elab, Str name, DType dtype, Span span)
{
    Value symbol = elab_new_symbol(elab, var_new(elab->ctx, name, dtype, span), span);
    scope_bind(elab, name, symbol, span);
}

/* T.int32 or T.int64 */
static bool size_type(const AstNode *node, DType *dtype)
{
    Str name = node && node->kind == AST_ATTRIBUTE ? node->as.attribute.name : "";
    *dtype = !strcmp(name, "int32") ? DTYPE_INT32 : DTYPE_INT64;
    return !strcmp(name, "int32") || !strcmp(name, "int64");
}

/* The type of the size that VALUE, T.int32() or T.int64(), declares. */
static bool declared_type(const AstNode *value, DType *dtype)
{
    return value->kind == AST_CALL && !value->as.call.args.count && !value->as.call.keyword_count &&
           size_type(value->as.call.callee, dtype);
}

/* Binds the parameters of NODE, sizes, that the types of parameters before them mention. */
static void declare_parameters_ahead(Elab *elab, const AstNode *node)
{
    for (int i = 1; i < node->as.def.param_count; i++) {
        const AstParam *param = &node->as.def.params[i];
        DType dtype;
        bool wanted = param->name && size_type(param->annotation, &dtype) && mentions(elab, node, i, param->name);
        if (!wanted || map_has(&elab->scope->bindings, param->name))
            continue;
        const Expr *size = expr_var_at(elab->ctx, var_new(elab->ctx, param->name, dtype, param->span), param->span);
        scope_bind(elab, param->name, value_expr(size, param->span), param->span);
    }
}

Var *elab_parameter_ahead(Elab *elab, Str name)
{
    const Binding *binding = map_get(&elab->scope->bindings, name);
    bool is_var = binding && binding->value.kind == VALUE_EXPR && binding->value.as.expr->kind == EXPR_VAR;
    for (int i = 0; is_var && i < elab->func->params.count; i++) /* two parameters of one name are no case of this */
        is_var = elab->func->params.data[i].param != binding->value.as.expr->value.var;
    return is_var && !map_get(&elab->symbols, binding->value.as.expr->value.var) ? binding->value.as.expr->value.var : NULL;
}

static const AstNode *item_of(const AstNode *node, int index)
{
    return node->kind == AST_TUPLE || node->kind == AST_LIST ? node->as.list.items[index] : node;
}

/* Binds the sizes that STATEMENT declares where the signature of NODE mentions one of them already. */
static bool declare_ahead(Elab *elab, const AstNode *node, const AstNode *statement)
{
    if (statement->kind != AST_ASSIGN || statement->as.assign.targets.count != 1)
        return false;
    const AstNode *target = statement->as.assign.targets.items[0], *value = statement->as.assign.value;
    bool several = target->kind == AST_TUPLE, mentioned = false;
    int count = several ? target->as.list.count : 1;
    if (several != (value->kind == AST_TUPLE) || (several && value->as.list.count != count))
        return false;
    DType dtype;
    for (int i = 0; i < count; i++) {
        const AstNode *name = item_of(target, i);
        if (name->kind != AST_NAME || !declared_type(item_of(value, i), &dtype))
            return false;
        mentioned |= signature_mentions(elab, node, name->as.name);
    }
    for (int i = 0; i < count && mentioned; i++) {
        declared_type(item_of(value, i), &dtype);
        bind_size(elab, item_of(target, i)->as.name, dtype, item_of(target, i)->span);
    }
    return mentioned;
}

AstList elab_sizes_ahead(Elab *elab, const AstNode *node)
{
    for (int i = 0; i < elab->type_vars.count; i++) {
        Str name = elab->type_vars.entries[i].key;
        if (signature_mentions(elab, node, name))
            bind_size(elab, name, DTYPE_INT64, node->span);
    }
    declare_parameters_ahead(elab, node);
    AstList body = node->as.def.body;
    const AstNode **items = arena_copy(elab->ctx->arena, body.items, sizeof *items * (size_t)body.count);
    int count = 0;
    for (int i = 0; i < body.count; i++)
        if (!declare_ahead(elab, node, body.items[i]))
            items[count++] = body.items[i];
    return (AstList){items, count};
}

static bool is_name(const char *text)
{
    while (is_name_part(*text))
        text++;
    return !*text;
}

/* TEXT as an expression. */
static Value expression_in(Elab *elab, Str text)
{
    const AstNode *file = parse_python(elab->ctx, source_add(elab->ctx->sources, "a size", text, strlen(text)));
    bool one = file && file->as.list.count == 1 && file->as.list.items[0]->kind == AST_EXPR_STMT;
    return one ? elab_expr(elab, file->as.list.items[0]->as.operand) : value_error();
}

/* A dimension given as a string is a size, or an expression of sizes. */
Value elab_named_size(Elab *elab, const Value *value)
{
    if (value->kind != VALUE_STRING || elab->frame || !elab->func)
        return *value;
    if (!is_name(value->as.text))
        return expression_in(elab, value->as.text);
    if (!scope_find(elab, value->as.text))
        bind_size(elab, value->as.text, DTYPE_INT32, value->span);
    return scope_find(elab, value->as.text)->value;
}

/* n = TypeVar("n") */
bool elab_type_var(Elab *elab, const AstNode *node)
{
    const AstNode *value = node->as.assign.value, *target = node->as.assign.targets.items[0];
    bool is_type_var = node->as.assign.targets.count == 1 && target->kind == AST_NAME && value->kind == AST_CALL &&
                       value->as.call.callee->kind == AST_NAME && !strcmp(value->as.call.callee->as.name, "TypeVar");
    if (is_type_var)
        map_set(elab->ctx->arena, &elab->type_vars, target->as.name, (void *)node);
    return is_type_var;
}
