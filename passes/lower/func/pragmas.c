/* Pass "pragmas": collects the code that a function imports: LLVM IR of pragma_import_llvm, C of pragma_import_c.

     for i in T.serial(16, annotations={"pragma_import_llvm": ir}): ...
   becomes
     T.func_attr({"tirc.import_llvm": [ir]})
     for i in range(16): ...

   The pragma is found on loops, on blocks and in T.attr statements. Other pragmas and annotations are hints that no pass needs: they stay
   where they are. */
#include <string.h>

#include "passes/lower/core/state.h"

enum { LANGUAGES = 2 };
static const struct {
    const char *pragma, *attribute;
} languages[LANGUAGES] = {{"pragma_import_llvm", "tirc.import_llvm"}, {"pragma_import_c", "tirc.import_c"}};

typedef VEC(const AttrValue *) ImportList;
typedef struct {
    Context *ctx;
    ImportList imports[LANGUAGES];
} Collector;

static void collect(Collector *collector, ImportList *imports, const AttrValue *value)
{
    if (value->kind == ATTR_LIST) {
        for (int i = 0; i < value->count; i++)
            collect(collector, imports, value->items[i]);
        return;
    }
    if (value->kind != ATTR_EXPR)
        return;
    for (int i = 0; i < imports->count; i++)
        if (expr_equal(imports->data[i]->expr, value->expr))
            return;
    vec_push(collector->ctx->arena, imports, value);
}

/* Takes the pragmas out of ANNOTATIONS and collects them; false when none is among them. */
static bool take_pragmas(Collector *collector, Attrs *annotations)
{
    bool found = false;
    for (int i = 0; i < LANGUAGES; i++) {
        const AttrValue *value = attrs_get(*annotations, languages[i].pragma);
        if (!value)
            continue;
        collect(collector, &collector->imports[i], value);
        *annotations = attrs_remove(collector->ctx, *annotations, languages[i].pragma);
        found = true;
    }
    return found;
}

static const Stmt *collect_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Collector *collector = rewriter->data;
    for (int i = 0; stmt->kind == STMT_ATTR && i < LANGUAGES; i++)
        if (!strcmp(stmt->as.attr.key, languages[i].pragma)) {
            collect(collector, &collector->imports[i], attr_expr(rewriter->ctx, stmt->as.attr.value));
            return rewrite_stmt(rewriter, stmt->as.attr.body);
        }
    Stmt copy = *stmt;
    bool changed = (stmt->kind == STMT_FOR && take_pragmas(collector, &copy.as.loop.annotations)) ||
                   (stmt->kind == STMT_BLOCK && take_pragmas(collector, &copy.as.block.annotations));
    return rewrite_stmt_children(rewriter, changed ? stmt_new(rewriter->ctx, &copy) : stmt);
}

const Func *lower_pragmas(LowerState *state, const Func *func)
{
    Context *ctx = state->ctx;
    Collector collector = {.ctx = ctx};
    int before[LANGUAGES];
    for (int i = 0; i < LANGUAGES; i++) {
        const AttrValue *known = attrs_get(func->attrs, languages[i].attribute);
        if (known)
            collect(&collector, &collector.imports[i], known);
        before[i] = collector.imports[i].count;
    }
    Rewriter rewriter = {.ctx = ctx, .stmt = collect_in_stmt, .data = &collector};
    Func result = *func_with_body(ctx, func, rewrite_stmt(&rewriter, func->body));
    if (result.body == func->body)
        return func;
    for (int i = 0; i < LANGUAGES; i++) {
        const ImportList *imports = &collector.imports[i];
        AttrValue list = {.kind = ATTR_LIST, .items = imports->data, .count = imports->count};
        if (imports->count > before[i])
            result.attrs = attrs_set(ctx, result.attrs, context_intern(ctx, languages[i].attribute), arena_copy(ctx->arena, &list, sizeof list));
    }
    return arena_copy(ctx->arena, &result, sizeof result);
}
