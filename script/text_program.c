/* Texts of programs that are run: those that compute their functions, with tensor expressions or schedules, from the first statement to the
   last. Their program is what their variables hold at the end. */
#include <string.h>

#include "script/te.h"

/* --- which texts are run --- */

typedef struct {
    Context *ctx;
    Map names; /* names whose call makes a text one that is run */
} TextSearch;

static void add(TextSearch *search, Str name)
{
    map_set(search->ctx->arena, &search->names, name, (void *)name);
}

static bool is_package(const char *path)
{
    static const char *const packages[] = {"tvm.te", "te", "tvm.topi", "topi", "numpy", "tvm.relax", "tvm.relay"};
    bool is = false;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        is |= !strncmp(path, packages[i], strlen(packages[i])) && strchr(".", path[strlen(packages[i])]);
    return is;
}

static void note_statement(TextSearch *search, const AstNode *node)
{
    if (node->kind == AST_DEF)
        add(search, node->as.def.name);
    if (node->kind == AST_CLASS)
        add(search, node->as.class_def.name);
    for (int i = 0; node->kind == AST_ASSIGN && i < node->as.assign.targets.count; i++)
        if (node->as.assign.targets.items[i]->kind == AST_NAME)
            add(search, node->as.assign.targets.items[i]->as.name);
    for (int i = 0; node->kind == AST_IMPORT && i < node->as.import.count; i++) {
        const AstImportItem *item = &node->as.import.items[i];
        Str path = item->name ? context_internf(search->ctx, "%s.%s", item->module, item->name) : item->module;
        Str bound = item->alias ? item->alias : item->name ? item->name : context_internf(search->ctx, "%.*s", (int)strcspn(path, "."), path);
        if (is_package(path))
            add(search, bound);
    }
}

/* A call of PATH, or of a name that the text defines, is for the interpreter of scripts. */
static bool is_for_scripts(const TextSearch *search, Context *ctx, const char *path)
{
    static const char *const paths[] = {"te.", "topi.", "tvm.te.", "tvm.topi.", "tvm.tir.Schedule", "tvm.s_tir.Schedule", "tvm.lower", "tvm.build", "tvm.IRModule",
                                        "tvm.ir.register", "print", "sch.", "relax.", "tvm.relax."};
    bool is = map_has(&search->names, context_internf(ctx, "%.*s", (int)strcspn(path, "."), path));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        is |= !strncmp(path, paths[i], strlen(paths[i]));
    return is;
}

static bool calls_script(const TextSearch *search, const AstNode *node);

static bool any_calls(const TextSearch *search, AstList list)
{
    bool any = false;
    for (int i = 0; i < list.count && !any; i++)
        any = calls_script(search, list.items[i]);
    return any;
}

/* NODE, a statement or an expression at the top of a text, calls something of scripts. */
static bool calls_script(const TextSearch *search, const AstNode *node)
{
    Str path;
    switch (node->kind) {
    case AST_EXPR_STMT:
    case AST_STARRED: return calls_script(search, node->as.operand);
    case AST_ASSIGN: return calls_script(search, node->as.assign.value);
    case AST_ANN_ASSIGN: return node->as.ann_assign.value && calls_script(search, node->as.ann_assign.value);
    case AST_TUPLE:
    case AST_LIST: return any_calls(search, node->as.list);
    case AST_SUBSCRIPT: return calls_script(search, node->as.subscript.value);
    case AST_ATTRIBUTE: return calls_script(search, node->as.attribute.value);
    case AST_BINARY: return calls_script(search, node->as.binary.left) || calls_script(search, node->as.binary.right);
    case AST_FOR: return any_calls(search, node->as.for_loop.body);
    case AST_IF: return any_calls(search, node->as.branch.body) || any_calls(search, node->as.branch.else_body);
    case AST_CALL:
        path = ast_path(search->ctx, node->as.call.callee);
        return (path && is_for_scripts(search, search->ctx, path)) || calls_script(search, node->as.call.callee) ||
               any_calls(search, node->as.call.args);
    default: return false;
    }
}

bool script_is_program(Context *ctx, const AstNode *const *files, int count)
{
    TextSearch search = {.ctx = ctx};
    bool calls = false;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < files[i]->as.list.count; j++)
            note_statement(&search, files[i]->as.list.items[j]);
    for (int i = 0; i < count && !calls; i++)
        calls = !files[i]->as.file.has_errors && any_calls(&search, files[i]->as.list);
    return calls;
}

/* --- the run --- */

const Module *script_run_program(Context *ctx, const AstNode *const *files, int count, const ScriptOptions *options)
{
    Script script = {.ctx = ctx, .options = options};
    script.kept = ARENA_NEW(ctx->base_arena, Script);
    for (int i = 0; i < count; i++)
        if (files[i]->as.file.has_errors)
            return NULL;
    script.globals = script.scope = ARENA_NEW(ctx->arena, Environment);
    script_predefine_packages(&script);
    const AstNode *file = parse_join(ctx, files, count);
    if (!script_define_presets(&script) || script_run_body(&script, file->as.list) != FLOW_NEXT)
        return NULL;
    script_keep(&script);
    return script_bound_program(&script, files[0]->span);
}
