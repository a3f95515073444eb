/* Programs and functions as values of scripts: IRModule({...}), from_expr, with_attr, without_attr, mod["f"], get_global_var, update_func. */
#include "script/te.h"

#include <string.h>

/* The name under which FUNC is known outside: its global_symbol, else its own. */
static Str symbol_of(const Func *func)
{
    const AttrValue *symbol = attrs_get(func->attrs, "global_symbol");
    return symbol && symbol->kind == ATTR_EXPR && symbol->expr->kind == EXPR_STRING ? symbol->expr->value.text : func->name;
}

/* FUNC under NAME. */
static const Func *renamed(Script *script, const Func *func, Str name)
{
    if (func->name == name)
        return func;
    Func *copy = arena_copy(script->ctx->arena, func, sizeof *func);
    copy->name = name;
    return copy;
}

/* FUNC as the entry NAME of a module. Its global_symbol stays, unless it is NULL here. */
static const Func *entry(Script *script, const Func *func, Str name, Str symbol)
{
    Func *copy = arena_copy(script->ctx->arena, renamed(script, func, name), sizeof *func);
    copy->attrs = attrs_remove(script->ctx, copy->attrs, "global_symbol");
    if (symbol && symbol != name)
        copy->attrs = attrs_set(script->ctx, copy->attrs, "global_symbol", attr_expr(script->ctx, expr_string(script->ctx, symbol)));
    return copy;
}

const Module *script_module_of_funcs(Script *script, const Func *const *funcs, int count, bool bare)
{
    Context *ctx = script->ctx;
    Module *module = ARENA_NEW(ctx->arena, Module);
    *module = (Module){.bare = bare && count == 1, .name = context_intern(ctx, "Module"), .func_count = count};
    module->funcs = ARENA_ARRAY(ctx->arena, const Func *, count);
    for (int i = 0; i < count; i++)
        module->funcs[i] = funcs[i];
    module->intrin_count = script->intrins.count;
    module->intrins = script->intrins.count
                          ? arena_copy(ctx->arena, script->intrins.data, sizeof *module->intrins * (size_t)script->intrins.count)
                          : NULL;
    const Module *complete = script_with_builtin_intrinsics(ctx, module);
    map_set(ctx->arena, &script->sources, complete, (void *)complete);
    return complete;
}

static Value module_value(Script *script, const Module *module)
{
    return script_object(script, (Object){.kind = OBJECT_MODULE, .as.module = module});
}

bool te_ir_module(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    if (!te_bind(script, "IRModule", arguments, "functions? attrs?", values))
        return false;
    const ValueList *dict = values[0] && values[0]->kind == VALUE_DICT ? values[0]->as.list : NULL;
    if (values[0] && values[0]->kind != VALUE_NONE && !dict)
        return script_error(script, arguments->span, "IRModule takes a dict of names and functions");
    int count = dict ? dict->count / 2 : 0;
    const Func **funcs = ARENA_ARRAY(script->ctx->arena, const Func *, count);
    for (int i = 0; i < count; i++) {
        Value name = dict->items[2 * i];
        const Object *func = value_object(dict->items[2 * i + 1], OBJECT_FUNC), *variable = value_object(name, OBJECT_GLOBAL_VAR);
        if (!func || (name.kind != VALUE_STRING && !variable))
            return script_error(script, arguments->span, "IRModule takes a dict of names and functions; entry %d is none", i);
        int alike = 0; /* functions of one symbol could not be linked: they are known by their names in the module */
        for (int j = 0; j < count; j++) {
            const Object *other = value_object(dict->items[2 * j + 1], OBJECT_FUNC);
            alike += other && symbol_of(other->as.func) == symbol_of(func->as.func);
        }
        funcs[i] = entry(script, func->as.func, variable ? variable->as.path : name.as.text, alike == 1 ? symbol_of(func->as.func) : NULL);
    }
    *result = module_value(script, script_module_of_funcs(script, funcs, count, false));
    return true;
}

bool script_module_from_expr(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    if (!te_bind(script, "from_expr", arguments, "expr", values))
        return false;
    const Object *func = value_object(*values[0], OBJECT_FUNC);
    if (!func)
        return script_error(script, arguments->span, "from_expr takes a function, not %s", script_type_phrase(script, *values[0]));
    const Func *own = renamed(script, func->as.func, symbol_of(func->as.func));
    *result = module_value(script, script_module_of_funcs(script, &own, 1, false));
    return true;
}

static const AttrValue *attr_of(Script *script, Value value)
{
    Context *ctx = script->ctx;
    switch (value.kind) {
    case VALUE_STRING: return attr_expr(ctx, expr_string(ctx, value.as.text));
    case VALUE_BOOL: return attr_bool(ctx, value.as.boolean);
    case VALUE_INT: return attr_int(ctx, value.as.integer);
    case VALUE_FLOAT: return attr_float(ctx, value.as.real);
    case VALUE_EXPR: return value.as.expr->arg_count ? NULL : attr_expr(ctx, value.as.expr);
    default: return NULL;
    }
}

/* func.with_attr("global_symbol", "name"): FUNC under that name; another attribute is set. */
bool script_with_attr(Script *script, const Func *func, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    if (!te_bind(script, "with_attr", arguments, "attr_key_or_dict attr_value?", values))
        return false;
    ValueList pair = {.items = (Value[]){*values[0], values[1] ? *values[1] : value_none()}, .count = 2};
    const ValueList *dict = values[0]->kind == VALUE_DICT ? values[0]->as.list : &pair;
    Func *copy = arena_copy(script->ctx->arena, func, sizeof *func);
    for (int i = 0; i < dict->count; i += 2) {
        Value key = dict->items[i], value = dict->items[i + 1];
        const AttrValue *attr = attr_of(script, value);
        if (key.kind != VALUE_STRING || !attr)
            return script_error(script, arguments->span, "with_attr takes the name of an attribute and a string, a number or a bool");
        bool symbol = !strcmp(key.as.text, "global_symbol");
        if (symbol && value.kind != VALUE_STRING)
            return script_error(script, arguments->span, "the global_symbol is a string");
        if (symbol) {
            copy->name = value.as.text;
            copy->attrs = attrs_remove(script->ctx, copy->attrs, "global_symbol");
        } else
            copy->attrs = attrs_set(script->ctx, copy->attrs, key.as.text, attr);
    }
    *result = script_object(script, (Object){.kind = OBJECT_FUNC, .as.func = copy});
    return true;
}

bool script_without_attr(Script *script, const Func *func, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    Str name;
    if (!te_bind(script, "without_attr", arguments, "attr_key", values) || !te_name(script, values[0], "", &name))
        return false;
    Func *copy = arena_copy(script->ctx->arena, func, sizeof *func);
    copy->attrs = attrs_remove(script->ctx, copy->attrs, name);
    *result = script_object(script, (Object){.kind = OBJECT_FUNC, .as.func = copy});
    return true;
}

static bool find_function(Script *script, const Module *module, Str name, Span span)
{
    if (module_find(module, name))
        return true;
    VEC(const char *) names = {0};
    for (int i = 0; i < module->func_count; i++)
        vec_push(script->ctx->arena, &names, module->funcs[i]->name);
    return script_unknown(script, span, diag_closest(name, names.data, names.count), "the module has no function '%s'", name);
}

bool script_global_var(Script *script, const Module *module, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    Str name;
    if (!te_bind(script, "get_global_var", arguments, "name", values) || !te_name(script, values[0], "", &name) ||
        !find_function(script, module, name, values[0]->span))
        return false;
    *result = script_object(script, (Object){.kind = OBJECT_GLOBAL_VAR, .as.path = name});
    return true;
}

/* mod.update_func(var, func): the function in the module itself. */
bool script_update_func(Script *script, const Object *self, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    if (!te_bind(script, "update_func", arguments, "var func", values))
        return false;
    const Object *variable = value_object(*values[0], OBJECT_GLOBAL_VAR), *func = value_object(*values[1], OBJECT_FUNC);
    if (!variable || !func)
        return script_error(script, arguments->span, "update_func takes what get_global_var gives, and a function");
    const Module *module = self->as.module;
    if (!find_function(script, module, variable->as.path, values[0]->span))
        return false;
    int index = 0;
    while (module->funcs[index]->name != variable->as.path)
        index++;
    const Module *updated = module_with_func(script->ctx, module, index, entry(script, func->as.func, variable->as.path, symbol_of(func->as.func)));
    map_set(script->ctx->arena, &script->sources, updated, (void *)updated);
    ((Object *)self)->as.module = updated;
    *result = value_none();
    return true;
}

/* The module that a variable was set to last, if a variable holds it still. */
static const Module *last_module(const Script *script)
{
    const Map *globals = &script->globals->values;
    const Module *found = NULL;
    for (int i = 0; i < globals->count; i++) {
        const Value *value = globals->entries[i].value;
        const Object *object = value ? value_object(*value, OBJECT_MODULE) : NULL;
        if (object == script->bound_last && object)
            return object->as.module;
        found = object && object->as.module != script->input ? object->as.module : found;
    }
    return found;
}

static bool is_of_intrin(const Script *script, const Func *func)
{
    bool is = false;
    for (int i = 0; i < script->intrins.count; i++)
        is |= script->intrins.data[i].description == func || script->intrins.data[i].implementation == func;
    return is;
}

const Module *script_bound_program(Script *script, Span span)
{
    const Map *globals = &script->globals->values;
    const Module *module = last_module(script);
    VEC(const Func *) funcs = {0};
    Map seen = {0}, by_name = {0};
    for (int i = 0; i < globals->count && !module; i++) {
        const Value *value = globals->entries[i].value;
        const Object *func = value ? value_object(*value, OBJECT_FUNC) : NULL;
        if (!func || map_has(&seen, func->as.func) || is_of_intrin(script, func->as.func))
            continue;
        map_set(script->ctx->arena, &seen, func->as.func, (void *)func);
        const Func *own = renamed(script, func->as.func, symbol_of(func->as.func));
        if (map_has(&by_name, own->name)) {
            script_error(script, own->name_span, "two functions have the symbol '%s'; with_attr(\"global_symbol\", ...) gives one another name",
                         own->name);
            return NULL;
        }
        map_set(script->ctx->arena, &by_name, own->name, (void *)own);
        vec_push(script->ctx->arena, &funcs, own);
    }
    if (!module && !funcs.count)
        module = script->lowered_last; /* as where a notebook prints it and keeps its text */
    if (!module && !funcs.count)
        script_error(script, span, "the text binds no function and no module to a name");
    return module ? module : funcs.count ? script_module_of_funcs(script, funcs.data, funcs.count, true) : NULL;
}
