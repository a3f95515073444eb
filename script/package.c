/* The few names of Python packages that schedules use: schedules of programs, types, displays, the registry of tensor intrinsics. What is
   imported may be anything, but only what is known here can be used. */
#include "script/builtins.h"
#include "script/exception.h"
#include "script/nd_array.h"
#include "script/te.h"

#include <string.h>

/* The known names, by their full paths. */
static const char *const known_paths[] = {
    "tvm.tir.Schedule",
    "tvm.tir.schedule.Schedule",
    "tvm.s_tir.Schedule",
    "tvm.s_tir.schedule.Schedule",
    "tvm.tir.IntImm",
    "tvm.tir.expr.IntImm",
    "tvm.tir.TensorIntrin.register",
    "tvm.s_tir.TensorIntrin.register",
    "tvm.script.tir.prim_func",
    "tvm.script.ir.ir_module",
    "tvm.script.relax.function",
    "tvm.script.ir_module",
    "tvm.contrib.clang.create_llvm",
    "tvm.contrib.utils.tempdir",
    "tvm.contrib.utils.TempDirectory.relpath",
    "tvm.tir.CallEffectKind.Pure",
    "tvm.tir.CallEffectKind.ExprAnnotation",
    "tvm.tir.CallEffectKind.ReadState",
    "tvm.tir.CallEffectKind.UpdateState",
    "tvm.tir.CallEffectKind.Opaque",
    "tvm.tir.CallEffectKind.SpecialCallArg",
    "tvm.tir.CallEffectKind.EmbedInfo",
    "tvm.tir.CallEffectKind.ControlJump",
    "tvm.ir.register_op_attr",
    "tvm.ir.register_intrin_lowering",
    "tvm.ir.op.register_op_attr",
    "tvm.ir.op.register_intrin_lowering",
    "tvm.target.register_intrin_rule",
    "tvm.lower",
    "difflib.ndiff",
    "tvm.IRModule.from_expr",
    "tvm.ir.IRModule.from_expr",
    "tvm.tir.ir_builder.create",
    "tvm.arith.Analyzer",
    "tvm.te.Tensor",
    "tvm.te.tensor.Tensor",
    "tvm.te.TensorSlice",
    "tvm.tir.Var",
    "tvm.tir.PrimExpr",
    "tvm.tir.PrimFunc",
    "tvm.tir.IterVar",
    "tvm.ir.PrimExpr",
    "tvm.ir.Range",
    "tvm.ir.Range.from_min_extent",
    "tvm.script.tir.index_map",
    "tvm.script.tirx.index_map",
    "tvm.tir.IndexMap.from_func",
    "tvm.tir.IndexMap.from_func_with_separators",
    "tvm.tir.IndexMap.AXIS_SEPARATOR",
    "tvm.tirx.IndexMap.from_func",
    "tvm.s_tir.IndexMap.from_func",
    "tvm.te.AXIS_SEPARATOR",
    "IPython.display.Code",
    "IPython.display.display",
};
enum { KNOWN_COUNT = sizeof known_paths / sizeof *known_paths };

static bool is_integer_type(const char *name)
{
    DType type;
    return dtype_parse(name, &type) && dtype_is_integer(type) && type.lanes == 1;
}

/* PATH leads to known names, or is one. */
static bool is_known(Script *script, const char *path)
{
    size_t length = strlen(path);
    for (int i = 0; i < KNOWN_COUNT; i++)
        if (!strncmp(known_paths[i], path, length) && (known_paths[i][length] == '.' || !known_paths[i][length]))
            return true;
    if (math_knows(path) || exception_find(path) || script_is_intrinsic_package(path) || numpy_knows(path) || script_is_pass_package(path) ||
        script_is_pass(script, path))
        return true;
    bool package = !strcmp(path, "tvm.te") || !strcmp(path, "tvm.topi") || !strcmp(path, "tvm.tir.op");
    if (package || te_function(path) >= 0)
        return true;
    return script_is_tensor_function(path);
}

/* The known name in the package of PATH that PATH may stand for, or NULL. */
static const char *closest_path(Script *script, const char *path)
{
    VEC(const char *) names = {0};
    size_t prefix = (size_t)(strrchr(path, '.') - path) + 1;
    for (int i = 0; i < KNOWN_COUNT; i++)
        if (!strncmp(known_paths[i], path, prefix)) {
            const char *rest = known_paths[i] + prefix;
            vec_push(script->ctx->arena, &names, context_internf(script->ctx, "%.*s", (int)strcspn(rest, "."), rest));
        }
    for (int i = 0; te_function_name(i); i++)
        if (te_function(context_internf(script->ctx, "%.*s%s", (int)prefix, path, te_function_name(i))) >= 0)
            vec_push(script->ctx->arena, &names, te_function_name(i));
    for (int i = 0; math_name(i) && !strncmp(path, "math.", 5); i++)
        vec_push(script->ctx->arena, &names, math_name(i));
    const char *near = diag_closest(path + prefix, names.data, names.count);
    return near ? context_internf(script->ctx, "%.*s%s", (int)prefix, path, near) : NULL;
}

static bool is_of_graphs(const char *path)
{
    static const char *const packages[] = {"tvm.relax", "tvm.relay", "tvm.script.relax"};
    bool is = false;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        is |= !strncmp(path, packages[i], strlen(packages[i])) && strchr(".", path[strlen(packages[i])]);
    return is;
}

bool script_known_path(Script *script, Str path, Span span)
{
    if (is_known(script, path))
        return true;
    if (is_of_graphs(path))
        return script_error(script, span, "'%s' is not part of schedule scripts: graph functions are not supported", path);
    const char *near = strchr(path, '.') ? closest_path(script, path) : NULL;
    return script_unknown(script, span, near, "'%s' is not part of schedule scripts", path);
}

/* --- tvm.tir.Schedule --- */

static int function_index(const Module *module, const Func *func)
{
    for (int i = 0; i < module->func_count; i++)
        if (module->funcs[i] == func)
            return i;
    return -1;
}

/* The program that FUNC belongs to: of the last schedule, else of the input, else one of its own. */
static const Module *module_of(Script *script, const Func *func)
{
    if (script->schedule && function_index(script->schedule->module, func) >= 0) {
        map_set(script->ctx->arena, &script->sources, script->schedule->module, map_get(&script->sources, script->schedule));
        return script->schedule->module;
    }
    if (script->input && function_index(script->input, func) >= 0)
        return script->input;
    const Func **funcs = arena_copy(script->ctx->arena, &func, sizeof func);
    Module module = {.bare = true, .name = context_intern(script->ctx, "Module"), .funcs = funcs, .func_count = 1};
    const Module *own = script_with_builtin_intrinsics(script->ctx, arena_copy(script->ctx->arena, &module, sizeof module));
    map_set(script->ctx->arena, &script->sources, own, (void *)own);
    return own;
}

/* Schedule(Module), Schedule(sch.mod["f"]), or of a program that the script holds. */
static bool make_schedule(Script *script, const Arguments *arguments, Value *result)
{
    static const char *const keywords[] = {"mod", "seed", "debug_mask", "error_render_level", "enable_check"};
    if (!script_check_keywords(script, "Schedule", arguments, 1, keywords, sizeof keywords / sizeof *keywords))
        return false;
    const Value *given = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, "mod");
    const Object *object = given ? value_object(*given, OBJECT_MODULE) : NULL, *func = given ? value_object(*given, OBJECT_FUNC) : NULL;
    if (!object && !func)
        return script_error(script, given ? given->span : arguments->span,
                            "Schedule needs a program: Module, or a function of the script with @T.prim_func");
    const Module *module = object ? object->as.module : module_of(script, func->as.func);
    if (!module->func_count)
        return script_error(script, given->span, "the program holds no function");
    int index = object ? module_index_for_schedule(module, "main") : function_index(module, func->as.func);
    script->schedule = schedule_new(script->ctx, module, index);
    map_set(script->ctx->arena, &script->sources, script->schedule, map_get(&script->sources, module));
    *result = script_object(script, (Object){.kind = OBJECT_SCHEDULE, .as.schedule = script->schedule});
    return script_seed(script, script->schedule, script_keyword(arguments, "seed"));
}

/* --- displays and numbers --- */

static bool print_argument(Script *script, const Arguments *arguments, Value *result)
{
    static const char *const keywords[] = {"data", "language"};
    if (!script_check_keywords(script, "Code", arguments, 1, keywords, 2))
        return false;
    const Value *value = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, "data");
    const char *text;
    if (!value)
        return script_error(script, arguments->span, "there is nothing to print");
    *result = value_none();
    if (value->kind == VALUE_NONE) /* display(Code(...)): printed already */
        return true;
    if (!script_text(script, *value, &text))
        return false;
    size_t length = strlen(text);
    fprintf(script->options->out, "%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
    return true;
}

/* T.int64(4), or with TYPED tvm.tir.IntImm("int64", 4): the number; one of int32 is Python's, which takes the type that it is needed in. */
static bool make_integer(Script *script, const char *name, bool typed, const Arguments *arguments, Value *result)
{
    const Value *values = arguments->positional;
    if (arguments->positional_count != (typed ? 2 : 1) || arguments->keyword_count || (typed && values[0].kind != VALUE_STRING))
        return script_error(script, arguments->span, typed ? "%s takes a type and an int" : "%s takes an int", name);
    DType type;
    if (!dtype_parse(typed ? values[0].as.text : name, &type) || !dtype_is_integer(type) || type.lanes != 1)
        return script_error(script, values[0].span, "\"%s\" is no integer type", values[0].as.text);
    const Value *value = &values[typed ? 1 : 0];
    if (value->kind != VALUE_INT)
        return script_error(script, value->span, "an int is needed here, not %s", script_type_phrase(script, *value));
    if (value->as.integer < dtype_min_int(type) || value->as.integer > dtype_max_int(type))
        return script_error(script, value->span, "%lld does not fit in %s", (long long)value->as.integer,
                            typed ? values[0].as.text : name);
    *result = *value;
    if (!dtype_equal(type, DTYPE_INT32))
        *result = (Value){.kind = VALUE_EXPR, .span = arguments->span, .as.expr = expr_int(script->ctx, type, value->as.integer)};
    return true;
}

bool script_call_namespace(Script *script, Str path, const Arguments *arguments, Value *result)
{
    const char *last = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
    if (!script_known_path(script, path, arguments->span))
        return false;
    if (math_knows(path))
        return math_call(script, path, arguments, result);
    if (strcmp(path, "tvm") && numpy_knows(path))
        return numpy_call(script, path, arguments, result);
    bool integer = is_integer_type(last) && arguments->positional_count == 1 && arguments->positional[0].kind == VALUE_INT;
    if (!strcmp(last, "register_op_attr"))
        return script_register_op_attr(script, arguments, result);
    if (!strcmp(last, "register_intrin_lowering"))
        return script_register_lowering(script, arguments, result);
    if (!strcmp(path, "difflib.ndiff"))
        return script_ndiff(script, arguments, result);
    if (script_is_pass(script, path))
        return script_make_pass(script, path, arguments, result);
    if (!strcmp(path, "tvm.ir.Range.from_min_extent"))
        return te_range_from_min_extent(script, arguments, result);
    if (!strcmp(path, "tvm.ir.Range"))
        return te_range(script, arguments, result);
    if (!strcmp(path, "tvm.lower"))
        return te_lower(script, arguments, result);
    if (!strcmp(last, "IRModule"))
        return te_ir_module(script, arguments, result);
    if (!strcmp(last, "from_expr"))
        return script_module_from_expr(script, arguments, result);
    if (te_function(path) >= 0 && !integer && !(script->mapping && script_is_tensor_function(path)))
        return te_call(script, te_function(path), arguments, result);
    if (!strcmp(last, "Schedule"))
        return make_schedule(script, arguments, result);
    if (!strcmp(last, "register"))
        return script_register_intrin(script, arguments, result);
    if (!strcmp(last, "Code") || !strcmp(path, "IPython.display.display"))
        return print_argument(script, arguments, result);
    if (!strncmp(last, "from_func", 9) || !strcmp(last, "index_map"))
        return script_make_index_map(script, last, arguments, result);
    if (script_is_tensor_function(path) && !(is_integer_type(last) && arguments->positional_count && !script_is_expr(script, arguments->positional[0])))
        return script_call_tensor_function(script, last, arguments, result);
    if (!strcmp(last, "IntImm") || is_integer_type(last))
        return make_integer(script, last, !strcmp(last, "IntImm"), arguments, result);
    if (!strncmp(path, "tvm.contrib.", 12))
        return script_call_contrib(script, last, arguments, result);
    return script_error(script, arguments->span, "'%s' cannot be called", path);
}
