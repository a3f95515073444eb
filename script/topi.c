/* Packages of operators whose functions are texts of tensor expressions, shipped with tirc: topi, topi.nn, topi.image. A text is read when a
   script first names something of its package. */
#include "script/te.h"

#include <string.h>

#include "script/topi_texts.h"

/* The package that PATH, as scripts write it, begins with: "topi.nn"; NULL where it is another one. *REST is what follows, "" or "relu". */
static const char *package_of(Context *ctx, const char *path, const char **rest)
{
    if (!strncmp(path, "tvm.", 4))
        path += 4;
    size_t length = strcspn(path, ".");
    if (length != 4 || strncmp(path, "topi", 4))
        return NULL;
    *rest = path[4] ? path + 5 : path + 4;
    for (const TopiText *text = topi_texts; text->package; text++) {
        size_t size = strlen(text->package);
        if (size > 4 && !strncmp(path, text->package, size) && (!path[size] || path[size] == '.')) {
            *rest = path[size] ? path + size + 1 : path + size;
            return context_intern(ctx, text->package);
        }
    }
    return context_intern(ctx, "topi");
}

static Environment *environment_of(Script *script, Str package, bool *ok);

/* Runs TEXT in the scope of its package. */
static bool run_text(Script *script, const TopiText *text, Environment *environment)
{
    Context *ctx = script->ctx;
    uint32_t file = source_add(ctx->sources, context_internf(ctx, "<%s>", text->name), text->text, strlen(text->text));
    const AstNode *node = parse_python(ctx, file);
    if (node->as.file.has_errors)
        return false;
    Environment *scope = script->scope, *globals = script->globals;
    script->scope = script->globals = environment;
    bool ok = script_run_body(script, node->as.list) == FLOW_NEXT;
    script->scope = scope;
    script->globals = globals;
    return ok;
}

static void define_package(Script *script, Environment *environment, const char *name, const char *path)
{
    Value value = script_object(script, (Object){.kind = OBJECT_NAMESPACE, .as.path = context_intern(script->ctx, path)});
    map_set(script->ctx->arena, &environment->values, context_intern(script->ctx, name),
            arena_copy(script->ctx->arena, &value, sizeof value));
}

/* The variables of PACKAGE: those of topi are seen in all of them. */
static Environment *environment_of(Script *script, Str package, bool *ok)
{
    Environment *environment = map_get(&script->packages, package);
    *ok = true;
    if (environment)
        return environment;
    bool root = !strcmp(package, "topi");
    Environment *outer = root ? NULL : environment_of(script, context_intern(script->ctx, "topi"), ok);
    environment = ARENA_NEW(script->ctx->arena, Environment);
    environment->outer = outer;
    map_set(script->ctx->arena, &script->packages, package, environment);
    static const char *const names[][2] = {{"te", "tvm.te"}, {"tvm", "tvm"}, {"tir", "tvm.tir"}, {"topi", "tvm.topi"}, {"nn", "tvm.topi.nn"}};
    for (size_t i = 0; root && i < sizeof names / sizeof *names; i++)
        define_package(script, environment, names[i][0], names[i][1]);
    for (const TopiText *text = topi_texts; text->package && *ok; text++)
        if (!strcmp(text->package, package))
            *ok = run_text(script, text, environment);
    return environment;
}

bool topi_is_text(const Script *script, Span span)
{
    return span.file && !strncmp(source_file(script->ctx->sources, span.file)->name, "<topi/", strlen("<topi/"));
}

bool topi_find(Script *script, const char *package, const char *name, Value *result)
{
    bool ok;
    Environment *environment = environment_of(script, context_intern(script->ctx, package), &ok);
    const Value *value = ok ? map_get(&environment->values, context_intern(script->ctx, name)) : NULL;
    if (value)
        *result = *value;
    return value != NULL;
}

bool topi_resolve(Script *script, Str path, Span span, Value *result, bool *known)
{
    const char *rest, *package = package_of(script->ctx, path, &rest);
    bool ok;
    *known = package != NULL;
    if (!package)
        return true;
    *result = script_object(script, (Object){.kind = OBJECT_NAMESPACE, .as.path = path});
    if (!*rest)
        return true;
    Environment *environment = environment_of(script, package, &ok);
    if (!ok)
        return false;
    const Value *value = map_get(&environment->values, context_intern(script->ctx, rest));
    if (value && !value_object(*value, OBJECT_NAMESPACE)) {
        *result = *value;
        return true;
    }
    VEC(const char *) names = {0};
    for (int i = 0; i < environment->values.count; i++)
        vec_push(script->ctx->arena, &names, (const char *)environment->values.entries[i].key);
    return script_unknown(script, span, diag_closest(rest, names.data, names.count), "'%s' is not part of schedule scripts", path);
}
