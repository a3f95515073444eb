/* Attributes of script values: the methods of schedules, modules and lists, and names in Python packages. One that a value does not have is
   an error where it is written, also when nothing calls it. */
#include "script/exception.h"
#include "script/set.h"
#include "script/nd_array.h"
#include "script/builtins.h"
#include "script/methods.h"
#include "script/sequence.h"
#include "script/te.h"
#include "script/text.h"

#include <string.h>

typedef VEC(const char *) NameList;

/* Parts that only the inside of TVM has. */
static const char *const inside_names[] = {"state", "id_", "is_", "same_as", "apply_to_schedule_with", "with_decision"};

static bool holds(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* MORE: ended by NULL. */
static void add_names(Arena *arena, NameList *names, const char *const *more)
{
    for (; *more; more++)
        vec_push(arena, names, *more);
}

/* The attributes of SELF. */
static NameList attribute_names(Script *script, Value self)
{
    Arena *arena = script->ctx->arena;
    const Object *object = self.kind == VALUE_SCRIPT ? self.as.script : NULL;
    static const char *const module[] = {"show", "script", "get_global_var", "update_func"}, *const func[] = {"show", "script", "with_attr", "without_attr"};
    NameList names = {0};
    if (object && object->kind == OBJECT_SCHEDULE) {
        add_names(arena, &names, script_schedule_names);
        for (int i = 0; i < schedule_primitive_count; i++)
            vec_push(arena, &names, schedule_primitives[i].name);
    } else if (object && object->kind == OBJECT_TRACE) {
        add_names(arena, &names, script_trace_names);
    } else if (object && object->kind == OBJECT_NODE) {
        add_names(arena, &names, script_node_names);
    } else if (object && object->kind == OBJECT_REGION) {
        add_names(arena, &names, script_region_names);
    } else if (object && object->kind == OBJECT_MODULE) {
        for (size_t i = 0; i < sizeof module / sizeof *module; i++)
            vec_push(arena, &names, module[i]);
    } else if (object && object->kind == OBJECT_FUNC) {
        for (size_t i = 0; i < sizeof func / sizeof *func; i++)
            vec_push(arena, &names, func[i]);
    }
    for (int i = 0; method_name(self, i); i++)
        vec_push(arena, &names, method_name(self, i));
    return names;
}

static bool refuse_attribute(Script *script, Value self, Str name, NameList *names, Span span)
{
    if (self.kind == VALUE_SCRIPT)
        add_names(script->ctx->arena, names, te_attribute_names(self.as.script));
    const char *near = diag_closest(name, names->data, names->count), *phrase = script_type_phrase(script, self);
    if (holds(inside_names, sizeof inside_names / sizeof *inside_names, name))
        return script_error(script, span, "%s has no attribute '%s': it is part of TVM's inside, not of schedules", phrase, name);
    return script_unknown(script, span, near, "%s has no attribute '%s'", phrase, name);
}

/* The type TYPE, str, list, tuple or dict, has the method NAME. */
static bool method_of_type(Script *script, const char *type, const char *name)
{
    Value value = script_list(script, NULL, 0, !strcmp(type, "tuple"));
    if (!strcmp(type, "str"))
        value = script_string(script, "");
    if (!strcmp(type, "dict"))
        value.kind = VALUE_DICT;
    if (!strcmp(type, "set") || !strcmp(type, "frozenset"))
        value = set_value(script, *type == 'f');
    if (value.kind == VALUE_DICT && !strcmp(name, "fromkeys"))
        return true;
    return !strcmp(script_class_of(value), type) && method_find(value, name);
}

bool script_attribute(Script *script, Value self, const AstNode *node, Value *result)
{
    Str name = node->as.attribute.name;
    Span span = node->as.attribute.name_span;
    const Object *object = self.kind == VALUE_SCRIPT ? self.as.script : NULL;
    if (object && object->kind == OBJECT_NAMESPACE) {
        Str path = context_internf(script->ctx, "%s.%s", object->as.path, name);
        if (math_constant(path, result))
            return true;
        bool topi;
        if (!topi_resolve(script, path, node->span, result, &topi))
            return false;
        if (topi)
            return true;
        *result = script_path_value(script, path);
        return !value_object(*result, OBJECT_NAMESPACE) || script_known_path(script, path, node->span);
    }
    if (object && !strcmp(name, "__name__") && (script_is_callable(object) || object->kind == OBJECT_TYPE)) {
        *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, script_callable_name(object))};
        return true;
    }
    if (object && object->kind == OBJECT_TYPE && !strcmp(name, "name") && !strncmp(object->as.path, "tir.", 4)) { /* of call.op */
        *result = script_string(script, object->as.path);
        return true;
    }
    if (object && object->kind == OBJECT_EXCEPTION && !strcmp(name, "args")) {
        *result = (Value){.kind = VALUE_LIST, .as.list = (ValueList *)object->as.exception.args};
        return true;
    }
    if (object && object->kind == OBJECT_SCHEDULE && !strcmp(name, "get_sblock")) /* what TVM 0.25 and later call it */
        name = context_intern(script->ctx, "get_block");
    if (object && object->kind == OBJECT_BUILTIN && method_of_type(script, builtin_name(object->as.builtin), name)) {
        *result = script_method(script, object, name);
        return true;
    }
    bool found;
    if (object && object->kind == OBJECT_ARRAY && (!nd_attribute(script, object, name, result, &found) || found))
        return found;
    if (!te_attribute(script, self, name, span, result, &found) || found)
        return found;
    NameList names = attribute_names(script, self);
    if (!holds(names.data, (size_t)names.count, name))
        return refuse_attribute(script, self, name, &names, span);
    if (object && object->kind == OBJECT_SCHEDULE && script_schedule_attribute(script, object, name, result))
        return true;
    if (object && object->kind == OBJECT_NODE)
        return script_node_attribute(script, object, name, result) || refuse_attribute(script, self, name, &names, span);
    if (object && object->kind == OBJECT_REGION) {
        *result = script_region_buffer(script, object);
        return true;
    }
    if (!object || object->kind == OBJECT_SET)
        object = script_object(script, (Object){.kind = OBJECT_VALUE, .as.value = self}).as.script;
    *result = script_method(script, object, name);
    return true;
}

/* --- what is there to be called --- */

bool script_is_callable(const Object *object)
{
    return object->kind == OBJECT_DEF || object->kind == OBJECT_BUILTIN || object->kind == OBJECT_METHOD;
}

const char *script_callable_name(const Object *object)
{
    switch (object->kind) {
    case OBJECT_DEF: return object->as.def.node->kind == AST_LAMBDA ? "<lambda>" : object->as.def.node->as.def.name;
    case OBJECT_METHOD: return object->as.method.name;
    case OBJECT_TYPE: return object->as.path;
    default: return builtin_name(object->as.builtin);
    }
}

static const char *operation_class(const Operation *op)
{
    static const char *const names[] = {"PlaceholderOp", "ComputeOp", "ExternOp", "ScanOp"};
    return names[op->kind];
}

const char *script_class_name(Value value)
{
    const Object *object = value.kind == VALUE_SCRIPT ? value.as.script : NULL;
    switch (object ? object->kind : OBJECT_NAMESPACE) {
    case OBJECT_SCHEDULE: return "Schedule";
    case OBJECT_MODULE: return "IRModule";
    case OBJECT_FUNC: return "PrimFunc";
    case OBJECT_NAMESPACE: return "module";
    case OBJECT_DEF: return "function";
    case OBJECT_BUILTIN: return builtin_is_type(builtin_name(object->as.builtin)) ? "type" : "builtin_function_or_method";
    case OBJECT_METHOD: return "method";
    case OBJECT_TYPE: return "type";
    case OBJECT_EXCEPTION: return exception_name(object->as.exception.kind);
    case OBJECT_SET: return set_is_frozen(object->as.set) ? "frozenset" : "set";
    case OBJECT_TENSOR: return "Tensor";
    case OBJECT_SLICE: return "TensorSlice";
    case OBJECT_AXIS: return "IterVar";
    case OBJECT_RANGE: return "Range";
    case OBJECT_STAGES: return "Schedule";
    case OBJECT_STAGE: return "Stage";
    case OBJECT_BUILDER: return "IRBuilder";
    case OBJECT_ARRAY: return "ndarray";
    case OBJECT_SEQUENCE: return object->as.sequence->class_name;
    case OBJECT_PASS: return "Pass";
    case OBJECT_BUILT: return "Module";
    case OBJECT_BUFFER: return "Buffer";
    case OBJECT_REGION: return "BufferRegion";
    case OBJECT_GLOBAL_VAR: return "GlobalVar";
    case OBJECT_REDUCTION: return "Reduce";
    case OBJECT_TAG_SCOPE: return "TagScope";
    case OBJECT_OPERATION: return operation_class(object->as.operation);
    default: return "object";
    }
}

bool script_refuse_uncalled(Script *script, const Object *callable, Span span, const char *why)
{
    if (callable->kind == OBJECT_SEQUENCE)
        return script_error(script, span, "what '%s' gives %s; list(...) of it has", callable->as.sequence->class_name, why);
    const AstNode *node = callable->kind == OBJECT_DEF ? callable->as.def.node : NULL;
    if (node && node->kind == AST_LAMBDA)
        return script_error(script, span, "a lambda %s", why);
    bool method = callable->kind == OBJECT_METHOD;
    const char *name = node ? node->as.def.name : method ? callable->as.method.name : builtin_name(callable->as.builtin);
    return script_error(script, span, "the %s '%s' %s; write %s(...) to call it", method ? "method" : "function", name, why, name);
}
