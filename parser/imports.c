/* Imports are not followed, but one that misspells a package that is known here is an error, as in Python. */
#include <string.h>

#include "parser/parser.h"

/* The packages that imports name, of all releases, and the package around each. */
static const struct {
    const char *around, *name;
} packages[] = {
    {"", "tvm"},
    {"tvm", "script"},
    {"tvm", "tir"},
    {"tvm", "tirx"},
    {"tvm", "s_tir"},
    {"tvm", "te"},
    {"tvm", "topi"},
    {"tvm", "ir"},
    {"tvm", "relax"},
    {"tvm", "relay"},
    {"tvm", "runtime"},
    {"tvm", "target"},
    {"tvm", "arith"},
    {"tvm", "driver"},
    {"tvm", "testing"},
    {"tvm", "contrib"},
    {"tvm", "support"},
    {"tvm", "error"},
    {"tvm", "base"},
    {"tvm", "rpc"},
    {"tvm", "exec"},
    {"tvm", "sym"},
    {"tvm", "web"},
    {"tvm", "micro"},
    {"tvm", "dlight"},
    {"tvm", "meta_schedule"},
    {"tvm", "auto_scheduler"},
    {"tvm", "autotvm"},
    {"tvm", "transform"},
    {"tvm", "backend"},
    {"tvm", "libinfo"},
    {"tvm", "IRModule"},
    {"tvm", "DataType"},
    {"tvm", "Target"},
    {"tvm.script", "tir"},
    {"tvm.script", "tirx"},
    {"tvm.script", "ir"},
    {"tvm.script", "relax"},
    {"tvm.script", "ir_module"},
    {"tvm.script", "ir_builder"},
    {"tvm.script", "from_source"},
    {"tvm.script", "parse"},
    {"tvm.script", "parser"},
    {"tvm.script", "printer"},
    {"tvm.script", "highlight"},
};
enum { PACKAGE_COUNT = sizeof packages / sizeof *packages };

/* The package in AROUND that NAME misspells; NULL where it is one of them, or near to none. */
static const char *misspelt(const char *around, const char *name)
{
    const char *names[PACKAGE_COUNT] = {NULL};
    for (int i = 0; i < PACKAGE_COUNT; i++) {
        if (strcmp(packages[i].around, around))
            continue;
        if (!strcmp(packages[i].name, name))
            return NULL;
        names[i] = packages[i].name;
    }
    return diag_closest(name, names, PACKAGE_COUNT);
}

static bool check_path(Context *ctx, const char *path, Span span)
{
    Str around = context_intern(ctx, "");
    while (*path) {
        Str name = context_internf(ctx, "%.*s", (int)strcspn(path, "."), path);
        const char *near = misspelt(around, name);
        if (near && *around)
            diag_error(ctx, span, "'%s' has no '%s'; did you mean '%s'?", around, name, near);
        else if (near)
            diag_error(ctx, span, "there is no package '%s'; did you mean '%s'?", name, near);
        if (near)
            return false;
        around = *around ? context_internf(ctx, "%s.%s", around, name) : name;
        path += strlen(name);
        path += *path == '.';
    }
    return true;
}

bool check_import(Context *ctx, const AstImportItem *item)
{
    Str path = item->name ? context_internf(ctx, "%s.%s", item->module, item->name) : item->module;
    return check_path(ctx, path, item->span);
}
