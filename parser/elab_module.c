/* Programs: the top level of the texts, classes, imports, constants, tensor intrinsics; see elab.h. */
#include "parser/elab.h"

#include "support/warning.h"

/* --- functions --- */

/* @R.function: a graph of calls of the other functions, which are a program without it. */
static bool is_graph_function(Elab *elab, const AstNode *node)
{
    if (!node->as.def.decorators.count)
        return false;
    const AstNode *decorator = node->as.def.decorators.items[0];
    const AstNode *callee = decorator->kind == AST_CALL ? decorator->as.call.callee : decorator;
    if (callee->kind != AST_ATTRIBUTE || strcmp(callee->as.attribute.name, "function"))
        return false;
    Value value = elab_expr(elab, callee);
    return value.kind == VALUE_BUILTIN && !strcmp(value.as.builtin->name, "R.function");
}

static void add_function(Elab *elab, const AstNode *node)
{
    if (is_graph_function(elab, node)) {
        diag_warning(elab->ctx, WARNING_GRAPH_FUNCTION, node->as.def.name_span, "the graph function '%s' is left out: only functions with @T.prim_func are read",
                     node->as.def.name);
        scope_bind(elab, node->as.def.name, value_error(), node->as.def.name_span);
        return;
    }
    const Func *func = elab_function(elab, node);
    if (!func) {
        scope_bind(elab, node->as.def.name, value_error(), node->as.def.name_span);
        return;
    }
    FuncEntry entry = {func, elab->in_class};
    vec_push(elab->ctx->arena, &elab->funcs, entry);
    Value value = {.kind = VALUE_FUNC, .span = node->as.def.name_span, .as.func = func};
    scope_bind(elab, func->name, value, node->as.def.name_span);
}

/* --- tensor intrinsics --- */

static const Func *value_to_func(Elab *elab, const Value *value, const char *what)
{
    if (value->kind == VALUE_FUNC)
        return value->as.func;
    if (value->kind != VALUE_ERROR)
        diag_error(elab->ctx, value->span, "%s must be a function, not %s", what, value_kind_name(value->kind));
    return NULL;
}

bool intrin_register(Context *ctx, IntrinList *intrins, TensorIntrin intrin, bool replaces)
{
    if (!elab_check_intrin(ctx, intrin.description, intrin.implementation, intrin.span))
        return false;
    for (int i = 0; i < intrins->count; i++) {
        if (intrins->data[i].name != intrin.name)
            continue;
        if (!replaces) {
            diag_error(ctx, intrin.span, "the tensor intrinsic '%s' is registered twice", intrin.name);
            diag_note(ctx, intrins->data[i].span, "it is registered here; override=True replaces it");
        }
        intrins->data[i] = intrin;
        return replaces;
    }
    vec_push(ctx->arena, intrins, intrin);
    return true;
}

Value builtin_register_intrin(Elab *elab, const Call *call)
{
    bool replaces = false;
    Str name = value_to_string(elab, call_arg(call, "name"), "the name of a tensor intrinsic");
    const Func *description = value_to_func(elab, call_arg(call, "desc"), "the description");
    const Func *implementation = value_to_func(elab, call_arg(call, "impl"), "the implementation");
    if (!name || !description || !implementation)
        return value_error();
    if (call_has(call, "override") && !value_to_bool(elab, call_arg(call, "override"), "override", &replaces))
        return value_error();
    intrin_register(elab->ctx, &elab->intrins, (TensorIntrin){name, description, implementation, call->span}, replaces);
    return value_none(call->span);
}

Value builtin_module_attrs(Elab *elab, const Call *call)
{
    if (!elab->in_class || elab->func) {
        diag_error(elab->ctx, call->span, "I.module_attrs must stand directly in the class of a module");
        return value_error();
    }
    return value_to_attrs(elab, call_arg(call, "attrs"), "the attributes of a module", &elab->module_attrs) ? value_none(call->span)
                                                                                                            : value_error();
}

/* --- statements outside of functions --- */

/* Imports are only looked at for the names that they give to what is known here. */
static void elab_import(Elab *elab, const AstNode *node)
{
    for (int i = 0; i < node->as.import.count; i++) {
        const AstImportItem *item = &node->as.import.items[i];
        if (!check_import(elab->ctx, item))
            continue;
        Str path = item->name ? context_internf(elab->ctx, "%s.%s", item->module, item->name) : item->module;
        Str name = item->alias ? item->alias : item->name;
        Value value = elab_known_path(elab, path, item->span);
        if (name && value.kind != VALUE_ABSENT)
            scope_bind(elab, name, value, item->span);
    }
}

static void elab_constant(Elab *elab, const AstNode *node)
{
    Value value = elab_expr(elab, node->as.assign.value);
    for (int i = 0; i < node->as.assign.targets.count; i++)
        elab_bind_target(elab, node->as.assign.targets.items[i], value);
}

static void elab_top_level(Elab *elab, const AstNode *node);

static bool is_module_decorator(Elab *elab, const AstNode *node)
{
    Value value = elab_expr(elab, node->kind == AST_CALL ? node->as.call.callee : node);
    if (value.kind == VALUE_ERROR)
        return false;
    bool known = value.kind == VALUE_BUILTIN && !strcmp(value.as.builtin->name, "I.ir_module");
    if (!known)
        diag_error(elab->ctx, node->span, "a class can only be decorated with @I.ir_module");
    return known;
}

static bool has_decorated_function(const AstNode *class)
{
    bool found = false;
    for (int i = 0; i < class->as.class_def.body.count; i++) {
        const AstNode *item = class->as.class_def.body.items[i];
        found |= item->kind == AST_DEF && item->as.def.decorators.count;
    }
    return found;
}

/* A class that neither is decorated nor holds anything that is, is one of Python's: its functions are no programs. */
static void elab_class(Elab *elab, const AstNode *node)
{
    AstList decorators = node->as.class_def.decorators;
    if (decorators.count == 0)
        diag_error(elab->ctx, node->as.class_def.name_span, "the class '%s' has no @I.ir_module before it", node->as.class_def.name);
    if (decorators.count == 0 && !has_decorated_function(node))
        return;
    for (int i = 0; i < decorators.count; i++)
        is_module_decorator(elab, decorators.items[i]);
    if (elab->in_class) {
        diag_error(elab->ctx, node->span, "a class inside a class is not supported");
        return;
    }
    if (!elab->module_name)
        elab->module_name = node->as.class_def.name;
    elab->in_class = true;
    scope_bind(elab, node->as.class_def.name, elab_known_path(elab, context_intern(elab->ctx, "Module"), node->span), node->span);
    scope_push(elab);
    for (int i = 0; i < node->as.class_def.body.count; i++)
        elab_top_level(elab, node->as.class_def.body.items[i]);
    scope_pop(elab);
    elab->in_class = false;
}

/* A statement of a value in front of a function, as T.prim_func without its '@'. */
static void elab_top_value(Elab *elab, const AstNode *node)
{
    int errors = diag_error_count(elab->ctx);
    Value value = elab_expr(elab, node->as.operand);
    bool decorates = value.kind == VALUE_BUILTIN && !strcmp(value.as.builtin->name, "T.prim_func");
    if (decorates) {
        diag_error(elab->ctx, node->span, "a decorator begins with '@': @T.prim_func");
        diag_edit(elab->ctx, (Span){node->span.file, node->span.begin, node->span.begin}, "@");
    } else if (value.kind != VALUE_ERROR && value.kind != VALUE_NONE && value.kind != VALUE_STRING) {
        diag_error(elab->ctx, node->span, "%s has no effect here", value_kind_name(value.kind));
    }
    elab->lost_decorator = diag_error_count(elab->ctx) > errors;
}

static void elab_top_level(Elab *elab, const AstNode *node)
{
    if (node->kind != AST_DEF)
        elab->lost_decorator = false;
    switch (node->kind) {
    case AST_IMPORT: elab_import(elab, node); return;
    case AST_CLASS: elab_class(elab, node); return;
    case AST_DEF: add_function(elab, node); return;
    case AST_ASSIGN:
        if (!elab_type_var(elab, node))
            elab_constant(elab, node);
        return;
    case AST_ANN_ASSIGN: elab_ann_assign(elab, node); return;
    case AST_PASS: return;
    case AST_EXPR_STMT: elab_top_value(elab, node); return;
    case AST_WITH:
        if (ast_is_excerpt(node)) {
            diag_warning(elab->ctx, WARNING_UNUSED_VALUE, node->span, "the block is an excerpt of a program, and is left out");
            return;
        }
        diag_error(elab->ctx, node->span, "%s is not supported outside of functions", ast_kind_name(node->kind));
        return;
    default: diag_error(elab->ctx, node->span, "%s is not supported outside of functions", ast_kind_name(node->kind)); return;
    }
}

/* --- the program --- */

static bool is_intrin_part(const Elab *elab, const Func *func)
{
    for (int i = 0; i < elab->intrins.count; i++)
        if (elab->intrins.data[i].description == func || elab->intrins.data[i].implementation == func)
            return true;
    return false;
}

/* Functions that only serve tensor intrinsics are no part of the module. */
static Module *build_module(Elab *elab)
{
    Context *ctx = elab->ctx;
    Module *module = ARENA_NEW(ctx->arena, Module);
    Map by_name = {0};
    module->funcs = ARENA_ARRAY(ctx->arena, const Func *, elab->funcs.count);
    for (int i = 0; i < elab->funcs.count; i++) {
        const Func *func = elab->funcs.data[i].func, *other = map_get(&by_name, func->name);
        if (is_intrin_part(elab, func))
            continue;
        if (other) {
            diag_error(ctx, func->name_span, "the function '%s' is defined twice", func->name);
            diag_note(ctx, other->name_span, "'%s' is defined here", func->name);
            continue;
        }
        map_set(ctx->arena, &by_name, func->name, (void *)func);
        module->funcs[module->func_count++] = func;
    }
    module->intrins = elab->intrins.data;
    module->intrin_count = elab->intrins.count;
    module->attrs = elab->module_attrs;
    module->bare = !elab->module_name && module->func_count == 1;
    module->name = elab->module_name ? elab->module_name : context_intern(ctx, "Module");
    return module;
}

bool elaborate(Context *ctx, const AstNode *const *files, int count, Module **module)
{
    return elaborate_inside(ctx, files, count, NULL, module);
}

bool elaborate_inside(Context *ctx, const AstNode *const *files, int count, const OuterNames *outer, Module **module)
{
    Elab elab = {.ctx = ctx, .outer = outer};
    int errors = diag_error_count(ctx);
    for (int i = 0; i < count; i++)
        if (files[i]->as.file.has_errors)
            return false;
    elab_register_builtins(&elab);
    scope_push(&elab);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < files[i]->as.list.count; j++)
            elab_note_definitions(&elab, files[i]->as.list.items[j]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < files[i]->as.list.count; j++)
            elab_top_level(&elab, files[i]->as.list.items[j]);
    if (elab.funcs.count == 0 && !elab.module_name && diag_error_count(ctx) == errors && count > 0)
        diag_error(ctx, files[0]->span, "the program defines no function; expected @T.prim_func and a definition");
    Module *built = build_module(&elab);
    elab_check_calls(&elab, built);
    if (diag_error_count(ctx) != errors)
        return false;
    *module = built;
    return true;
}
