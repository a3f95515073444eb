/* Lowering passes as values of scripts: tvm.tir.transform.Simplify()(mod) and tvm.transform.Sequential([...])(mod). */
#include <string.h>

#include "passes/transform/transform.h"
#include "script/script_internal.h"

static const char *const packages[] = {"tvm.tir.transform", "tvm.s_tir.transform", "tvm.tirx.transform"};
enum { PACKAGE_COUNT = sizeof packages / sizeof *packages };

/* The row of the pass that PATH names, by the reference's name in one of its packages; or -1. */
static int row_of(Context *ctx, const char *path)
{
    const char *near;
    for (int i = 0; i < PACKAGE_COUNT; i++) {
        size_t length = strlen(packages[i]);
        if (!strncmp(path, packages[i], length) && path[length] == '.')
            return transform_find(ctx, path + length + 1, &near);
    }
    return -1;
}

bool script_is_pass(Script *script, const char *path)
{
    return !strcmp(path, "tvm.transform.Sequential") || row_of(script->ctx, path) >= 0;
}

bool script_is_pass_package(const char *path)
{
    bool known = !strcmp(path, "tvm.transform");
    for (int i = 0; i < PACKAGE_COUNT; i++)
        known |= !strcmp(path, packages[i]);
    return known;
}

static Value pass_value(Script *script, const int *rows, int count)
{
    Object object = {.kind = OBJECT_PASS};
    object.as.pass.rows = arena_copy(script->ctx->arena, rows, (size_t)count * sizeof *rows);
    object.as.pass.count = count;
    return script_object(script, object);
}

static bool make_sequence(Script *script, const Arguments *arguments, Value *result)
{
    bool list = arguments->positional_count == 1 && !arguments->keyword_count && arguments->positional[0].kind == VALUE_LIST;
    const ValueList *items = list ? arguments->positional[0].as.list : NULL;
    VEC(int) rows = {0};
    for (int i = 0; items && i < items->count; i++) {
        const Object *pass = value_object(items->items[i], OBJECT_PASS);
        for (int k = 0; pass && k < pass->as.pass.count; k++)
            vec_push(script->ctx->arena, &rows, pass->as.pass.rows[k]);
        if (!pass)
            items = NULL;
    }
    if (!items)
        return script_error(script, arguments->span, "Sequential takes a list of passes, such as [tvm.tir.transform.Simplify()]");
    *result = pass_value(script, rows.data, rows.count);
    return true;
}

bool script_make_pass(Script *script, const char *path, const Arguments *arguments, Value *result)
{
    int row = row_of(script->ctx, path);
    if (row < 0)
        return make_sequence(script, arguments, result);
    if (arguments->positional_count || arguments->keyword_count)
        return script_error(script, arguments->span, "%s takes no arguments here", strrchr(path, '.') + 1);
    *result = pass_value(script, &row, 1);
    return true;
}

bool script_call_pass(Script *script, const Object *pass, const Arguments *arguments, Value *result)
{
    const Object *object = arguments->positional_count == 1 && !arguments->keyword_count ? value_object(arguments->positional[0], OBJECT_MODULE) : NULL;
    if (!object)
        return script_error(script, arguments->span, "a pass takes a program, such as sch.mod");
    const Module *module = object->as.module, *source = map_get(&script->sources, module);
    for (int i = 0; i < pass->as.pass.count && module; i++)
        module = transform_module(script->ctx, module, pass->as.pass.rows[i], false);
    if (!module)
        return false;
    if (source)
        map_set(script->ctx->arena, &script->sources, module, (void *)source);
    *result = script_object(script, (Object){.kind = OBJECT_MODULE, .as.module = module});
    return true;
}
