/* Variables of scripts: who sees which name. A function sees the variables of where it is defined, but a name that its body assigns to is its
   own throughout, as in Python. */
#include "script/exception.h"

#include <string.h>

/* --- the names that a function assigns to --- */

static void collect_body(Script *script, Map *names, AstList body);

static void add_name(Script *script, Map *names, Str name)
{
    map_set(script->ctx->arena, names, name, (void *)name);
}

static void collect_target(Script *script, Map *names, const AstNode *target)
{
    if (target->kind == AST_NAME)
        add_name(script, names, target->as.name);
    else if (target->kind == AST_STARRED)
        collect_target(script, names, target->as.operand);
    else if (target->kind == AST_TUPLE || target->kind == AST_LIST)
        for (int i = 0; i < target->as.list.count; i++)
            collect_target(script, names, target->as.list.items[i]);
}

typedef struct {
    Script *script;
    Map *names;
} Collection;

/* The names that ':=' sets in NODE: those of a comprehension are the function's, too. */
static void collect_named(const AstNode *node, void *data)
{
    Collection *collection = data;
    if (node->kind == AST_NAMED)
        add_name(collection->script, collection->names, node->as.named.name);
    ast_each_part(node, collect_named, data);
}

static void collect_statement(Script *script, Map *names, const AstNode *node)
{
    Collection collection = {script, names};
    ast_each_part(node, collect_named, &collection);
    switch (node->kind) {
    case AST_ASSIGN:
        for (int i = 0; i < node->as.assign.targets.count; i++)
            collect_target(script, names, node->as.assign.targets.items[i]);
        break;
    case AST_ANN_ASSIGN: collect_target(script, names, node->as.ann_assign.target); break;
    case AST_AUG_ASSIGN: collect_target(script, names, node->as.aug_assign.target); break;
    case AST_FOR:
        collect_target(script, names, node->as.for_loop.target);
        collect_body(script, names, node->as.for_loop.body);
        collect_body(script, names, node->as.for_loop.else_body);
        break;
    case AST_WHILE:
        collect_body(script, names, node->as.while_loop.body);
        collect_body(script, names, node->as.while_loop.else_body);
        break;
    case AST_TRY:
        collect_body(script, names, node->as.attempt.body);
        for (int i = 0; i < node->as.attempt.handlers.count; i++) {
            const AstNode *handler = node->as.attempt.handlers.items[i];
            if (handler->as.handler.name)
                add_name(script, names, handler->as.handler.name);
            collect_body(script, names, handler->as.handler.body);
        }
        collect_body(script, names, node->as.attempt.else_body);
        collect_body(script, names, node->as.attempt.finally_body);
        break;
    case AST_DELETE:
        for (int i = 0; i < node->as.list.count; i++)
            collect_target(script, names, node->as.list.items[i]);
        break;
    case AST_IF:
        collect_body(script, names, node->as.branch.body);
        collect_body(script, names, node->as.branch.else_body);
        break;
    case AST_WITH:
        for (int i = 0; i < node->as.with.item_count; i++)
            if (node->as.with.items[i].target)
                collect_target(script, names, node->as.with.items[i].target);
        collect_body(script, names, node->as.with.body);
        break;
    case AST_DEF: add_name(script, names, node->as.def.name); break;
    case AST_CLASS: add_name(script, names, node->as.class_def.name); break;
    case AST_IMPORT:
        for (int i = 0; i < node->as.import.count; i++)
            add_name(script, names, script_import_name(script, &node->as.import.items[i]));
        break;
    default: break;
    }
}

static void collect_body(Script *script, Map *names, AstList body)
{
    for (int i = 0; i < body.count; i++)
        collect_statement(script, names, body.items[i]);
}

/* --- names of `global` and `nonlocal` --- */

static void collect_elsewhere(Script *script, Map *names, AstList body)
{
    for (int i = 0; i < body.count; i++) {
        const AstNode *node = body.items[i];
        switch (node->kind) {
        case AST_GLOBAL:
        case AST_NONLOCAL:
            for (int k = 0; k < node->as.list.count; k++)
                map_set(script->ctx->arena, names, node->as.list.items[k]->as.name, (void *)node);
            break;
        case AST_FOR:
            collect_elsewhere(script, names, node->as.for_loop.body);
            collect_elsewhere(script, names, node->as.for_loop.else_body);
            break;
        case AST_WHILE:
            collect_elsewhere(script, names, node->as.while_loop.body);
            collect_elsewhere(script, names, node->as.while_loop.else_body);
            break;
        case AST_WITH: collect_elsewhere(script, names, node->as.with.body); break;
        case AST_IF:
            collect_elsewhere(script, names, node->as.branch.body);
            collect_elsewhere(script, names, node->as.branch.else_body);
            break;
        case AST_TRY:
            collect_elsewhere(script, names, node->as.attempt.body);
            for (int k = 0; k < node->as.attempt.handlers.count; k++)
                collect_elsewhere(script, names, node->as.attempt.handlers.items[k]->as.handler.body);
            collect_elsewhere(script, names, node->as.attempt.else_body);
            collect_elsewhere(script, names, node->as.attempt.finally_body);
            break;
        default: break;
        }
    }
}

const Map *script_elsewhere(Script *script, const AstNode *node)
{
    Map *names = map_get(&script->elsewhere, node);
    if (!names && node->kind == AST_DEF) {
        names = ARENA_NEW(script->ctx->arena, Map);
        collect_elsewhere(script, names, node->as.def.body);
        map_set(script->ctx->arena, &script->elsewhere, node, names);
    }
    return names;
}

const Map *script_locals(Script *script, const AstNode *node)
{
    Map *names = map_get(&script->locals, node);
    if (names)
        return names;
    names = ARENA_NEW(script->ctx->arena, Map);
    Collection collection = {script, names};
    if (node->kind == AST_DEF)
        collect_body(script, names, node->as.def.body);
    else if (node->kind == AST_LAMBDA)
        collect_named(node->as.lambda.body, &collection);
    map_set(script->ctx->arena, &script->locals, node, names);
    return names;
}

/* --- names --- */

/* The scope that NAME is looked for in begins with SCOPE; *OWN is the function whose name it is where that holds no value yet, else NULL. */
static const Value *find(const Environment *scope, Str name, const Environment **own)
{
    *own = NULL;
    const Environment *globals = scope;
    while (globals->outer)
        globals = globals->outer;
    for (; scope && !*own; scope = scope->outer) {
        const AstNode *elsewhere = scope->elsewhere ? map_get(scope->elsewhere, name) : NULL;
        if (elsewhere && elsewhere->kind == AST_GLOBAL)
            return map_get(&globals->values, name);
        if (elsewhere)
            continue;
        const Value *value = map_get(&scope->values, name);
        if (value)
            return value;
        if (scope->locals && map_has(scope->locals, name))
            *own = scope;
    }
    return NULL;
}

const Value *script_lookup(const Script *script, Str name)
{
    const Environment *own;
    return find(script->scope, name, &own);
}

/* The variables that NAME belongs to, where the running function assigns to it. */
static Environment *owner(const Script *script, Str name)
{
    Environment *scope = script->scope;
    for (; scope->elsewhere && map_has(scope->elsewhere, name); scope = scope->outer) {
        const AstNode *node = map_get(scope->elsewhere, name);
        if (node->kind == AST_GLOBAL)
            return script->globals;
    }
    while (scope != script->scope && scope->outer && !map_has(&scope->values, name) && !(scope->locals && map_has(scope->locals, name)))
        scope = scope->outer;
    return scope;
}

void script_unset(Script *script, Str name)
{
    map_set(script->ctx->arena, &owner(script, name)->values, name, NULL);
}

void script_set(Script *script, Str name, Value value)
{
    Environment *scope = owner(script, name);
    if (scope == script->globals && value_object(value, OBJECT_MODULE))
        script->bound_last = value.as.script;
    map_set(script->ctx->arena, &scope->values, name, arena_copy(script->ctx->arena, &value, sizeof value));
}

bool script_delete(Script *script, const AstNode *target)
{
    Value container;
    if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
        for (int i = 0; i < target->as.list.count; i++)
            if (!script_delete(script, target->as.list.items[i]))
                return false;
        return true;
    }
    if (target->kind == AST_SUBSCRIPT)
        return script_eval(script, target->as.subscript.value, &container) && script_delete_item(script, container, target);
    if (target->kind != AST_NAME)
        return script_error(script, target->span, "cannot delete %s in a schedule script", ast_kind_name(target->kind));
    const Environment *scope = owner(script, target->as.name);
    if (!map_get(&scope->values, target->as.name))
        return script_raise(script, target->span, scope == script->globals ? EXCEPTION_NameError : EXCEPTION_UnboundLocalError,
                            "'%s' has no value to delete", target->as.name);
    script_unset(script, target->as.name);
    return true;
}

/* The known name closest to NAME, for suggestions. */
static const char *closest_name(const Script *script, Str name)
{
    VEC(const char *) names = {0};
    for (const Environment *scope = script->scope; scope; scope = scope->outer)
        for (int i = 0; i < scope->values.count; i++)
            if (scope->values.entries[i].value)
                vec_push(script->ctx->arena, &names, (const char *)scope->values.entries[i].key);
    for (int i = 0; builtin_name(i); i++)
        vec_push(script->ctx->arena, &names, builtin_name(i));
    return diag_closest(name, names.data, names.count);
}

/* A function that Python has, and scripts have not: there Python would go on. */
static bool is_of_python(Str name)
{
    static const char *const names[] = {"__import__", "aiter", "anext", "ascii", "breakpoint", "bytearray", "bytes", "callable", "classmethod", "compile",
                                        "complex", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals", "hasattr", "hash", "help", "id",
                                        "input", "issubclass", "locals", "memoryview", "object", "open", "property", "quit", "setattr", "staticmethod",
                                        "super", "type", "vars", "BaseException", "KeyboardInterrupt", "SystemExit", "Warning"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static bool refuse_name(Script *script, const AstNode *node)
{
    DiagMark before = diag_mark(script->ctx);
    script_unknown(script, node->span, closest_name(script, node->as.name), "'%s' is not defined", node->as.name);
    return !is_of_python(node->as.name) && script_raised(script, before, EXCEPTION_NameError);
}

bool script_eval_name(Script *script, const AstNode *node, Value *result)
{
    const Environment *own;
    const Value *value = find(script->scope, node->as.name, &own);
    if (value) {
        *result = *value;
        return true;
    }
    if (own)
        return script_raise(script, node->span, own == script->scope ? EXCEPTION_UnboundLocalError : EXCEPTION_NameError,
                            "'%s' has no value here yet: the function assigns to it, so that it is a name of its own", node->as.name);
    int builtin = builtin_find(node->as.name);
    if (builtin < 0 && exception_find(node->as.name)) {
        *result = script_object(script, (Object){.kind = OBJECT_TYPE, .as.path = node->as.name});
        return true;
    }
    if (builtin < 0)
        return refuse_name(script, node);
    *result = script_object(script, (Object){.kind = OBJECT_BUILTIN, .as.builtin = builtin});
    return true;
}
