/* Tensor programs inside of a script, as cells of a notebook hold them: functions with @T.prim_func, classes with @I.ir_module, tensor
   intrinsics. Their text means what it means in a .tir file; names that it does not define are the script's: numbers, strings and lists of
   them, and what imports call the packages. */
#include "parser/parser.h"
#include "passes/analysis/questions/callees.h"
#include "passes/schedule/block/implementation.h"
#include "script/script_internal.h"

#include <string.h>

/* A list of more items, or nested deeper, is no constant of a program. */
enum { MOST_CONSTANTS = 4096, DEEPEST_CONSTANT = 8 };

static const AstNode *constant_node(Script *script, Value value, int depth);

static const AstNode *list_node(Script *script, Value value, AstNode *node, int depth)
{
    const ValueList *list = value.as.list;
    if (list->count > MOST_CONSTANTS || depth == DEEPEST_CONSTANT)
        return NULL;
    const AstNode **items = ARENA_ARRAY(script->ctx->arena, const AstNode *, list->count);
    for (int i = 0; i < list->count; i++)
        if (!(items[i] = constant_node(script, list->items[i], depth + 1)))
            return NULL;
    node->kind = list->is_tuple ? AST_TUPLE : AST_LIST;
    node->as.list = (AstList){items, list->count};
    node->height = DEEPEST_CONSTANT;
    return node;
}

/* -INTEGER or -REAL, as Python writes a negative number. */
static const AstNode *negative_node(Script *script, AstNode *magnitude)
{
    AstNode *node = arena_copy(script->ctx->arena, magnitude, sizeof *magnitude);
    node->kind = AST_UNARY;
    node->height = 2;
    node->as.unary.op = AST_OP_NEGATIVE;
    node->as.unary.operand = magnitude;
    return node;
}

/* The literal that VALUE is; NULL for anything else. */
static const AstNode *constant_node(Script *script, Value value, int depth)
{
    AstNode *node = ARENA_NEW(script->ctx->arena, AstNode);
    *node = (AstNode){.height = 1, .span = value.span};
    switch (value.kind) {
    case VALUE_NONE: node->kind = AST_NONE; return node;
    case VALUE_BOOL:
        node->kind = AST_BOOL;
        node->as.boolean = value.as.boolean;
        return node;
    case VALUE_INT:
        node->kind = AST_INT;
        node->as.integer = value.as.integer < 0 ? -(uint64_t)value.as.integer : (uint64_t)value.as.integer;
        return value.as.integer < 0 ? negative_node(script, node) : node;
    case VALUE_FLOAT:
        node->kind = AST_FLOAT;
        node->as.real = value.as.real < 0 ? -value.as.real : value.as.real;
        return value.as.real < 0 ? negative_node(script, node) : node;
    case VALUE_STRING:
        node->kind = AST_STRING;
        node->as.text = value.as.text;
        return node;
    case VALUE_LIST: return list_node(script, value, node, depth);
    default: return NULL;
    }
}

/* For OuterNames: what the script calls NAME. */
static bool find_outer(void *data, Str name, OuterName *result)
{
    Script *script = data;
    const Value *value = script_lookup(script, name);
    const Object *package = value ? value_object(*value, OBJECT_NAMESPACE) : NULL;
    *result = (OuterName){NULL, package ? package->as.path : NULL};
    if (value && !package)
        result->value = constant_node(script, *value, 0);
    return result->path || result->value;
}

/* What a decorator may be leads to TVM's names; a function or a value of the script cannot be one. */
static bool check_decorators(Script *script, const AstList *decorators)
{
    for (int i = 0; i < decorators->count; i++) {
        const AstNode *root = decorators->items[i];
        while (root->kind == AST_CALL || root->kind == AST_ATTRIBUTE)
            root = root->kind == AST_CALL ? root->as.call.callee : root->as.attribute.value;
        const Value *value = root->kind == AST_NAME ? script_lookup(script, root->as.name) : NULL;
        if (value && !value_object(*value, OBJECT_NAMESPACE))
            return script_error(script, decorators->items[i]->span, "a decorator in a script is @T.prim_func or @I.ir_module; %s is none",
                                script_type_phrase(script, *value));
    }
    return true;
}

bool script_define_program(Script *script, const AstNode *node)
{
    Context *ctx = script->ctx;
    if (!check_decorators(script, node->kind == AST_CLASS ? &node->as.class_def.decorators : &node->as.def.decorators))
        return false;
    const AstNode **statements = arena_copy(ctx->arena, &node, sizeof node);
    AstNode file = {.kind = AST_FILE, .height = node->height + 1, .span = node->span};
    file.as.list = (AstList){statements, 1};
    const AstNode *files = arena_copy(ctx->arena, &file, sizeof file);
    OuterNames outer = {find_outer, script};
    Module *elaborated;
    const Module *module = elaborate_inside(ctx, &files, 1, &outer, &elaborated) ? program_complete(ctx, elaborated) : NULL;
    if (!module) {
        script_note_calls(script);
        return false;
    }
    bool is_class = node->kind == AST_CLASS;
    const Module *program = is_class ? script_with_builtin_intrinsics(ctx, module) : NULL;
    Object object = {.kind = OBJECT_MODULE, .as.module = program};
    if (!is_class)
        object = (Object){.kind = OBJECT_FUNC, .as.func = module->funcs[0]};
    else
        map_set(ctx->arena, &script->sources, program, (void *)program);
    script_set(script, is_class ? node->as.class_def.name : node->as.def.name, script_object(script, object));
    return true;
}

/* --- tensor intrinsics --- */

static const Func *function_argument(Script *script, const Value *value, const char *what)
{
    const Object *func = value_object(*value, OBJECT_FUNC);
    if (!func)
        script_error(script, value->span, "%s must be a function with @T.prim_func, not %s", what, script_type_phrase(script, *value));
    return func ? func->as.func : NULL;
}

bool script_register_intrin(Script *script, const Arguments *arguments, Value *result)
{
    static const char *const keywords[] = {"name", "desc", "impl", "override"};
    const Value *values[4];
    if (!script_check_keywords(script, "register", arguments, 4, keywords, 4))
        return false;
    for (int i = 0; i < 4; i++) {
        const Value *keyword = script_keyword(arguments, keywords[i]);
        values[i] = i < arguments->positional_count ? &arguments->positional[i] : keyword;
        if (keyword && values[i] != keyword)
            return script_error(script, keyword->span, "'%s' is given twice", keywords[i]);
        if (!values[i] && i < 3)
            return script_error(script, arguments->span, "register needs the argument '%s'", keywords[i]);
    }
    if (values[0]->kind != VALUE_STRING)
        return script_error(script, values[0]->span, "the name of a tensor intrinsic must be a string, not %s",
                            script_type_phrase(script, *values[0]));
    if (values[3] && values[3]->kind != VALUE_BOOL)
        return script_error(script, values[3]->span, "'override' must be a bool, not %s", script_type_phrase(script, *values[3]));
    const Func *description = function_argument(script, values[1], "the description");
    const Func *implementation = description ? function_argument(script, values[2], "the implementation") : NULL;
    if (!implementation)
        return false;
    TensorIntrin intrin = {values[0]->as.text, description, implementation, arguments->span};
    *result = value_none();
    if (!intrin_register(script->ctx, &script->intrins, intrin, values[3] && values[3]->as.boolean) ||
        !check_registered_implementation(script->ctx, &intrin)) {
        script_note_calls(script);
        return false;
    }
    return true;
}

static bool knows_intrins(const Module *module, const Script *script)
{
    bool all = true;
    for (int i = 0; i < script->intrins.count && all; i++) {
        const TensorIntrin *intrin = &script->intrins.data[i], *known = module_intrin(module, intrin->name);
        all = known && known->description == intrin->description && known->implementation == intrin->implementation;
    }
    return all;
}

const Module *script_add_intrins(Script *script, const Module *module)
{
    if (knows_intrins(module, script))
        return module;
    Module *extended = arena_copy(script->ctx->arena, module, sizeof *module);
    extended->intrin_count = script->intrins.count;
    extended->intrins = arena_copy(script->ctx->arena, script->intrins.data, sizeof *extended->intrins * (size_t)script->intrins.count);
    return script_with_builtin_intrinsics(script->ctx, extended);
}
