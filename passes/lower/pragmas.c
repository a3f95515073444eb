/* Pass "pragmas": collects the LLVM code that a function imports.

     for i in T.serial(16, annotations={"pragma_import_llvm": ir}): ...
   becomes
     T.func_attr({"tirc.import_llvm": [ir]})
     for i in range(16): ...

   The pragma is found on loops, on blocks and in T.attr statements. Other pragmas and annotations are hints that no pass needs: they stay
   where they are. */
#include <string.h>

#include "passes/lower/state.h"

#define PRAGMA "pragma_import_llvm"
#define IMPORTS "tirc.import_llvm"

typedef struct {
    Context *ctx;
    VEC(const AttrValue *) imports;
} Collector;

static void collect(Collector *collector, const AttrValue *value)
{
    if (value->kind == ATTR_LIST) {
        for (int i = 0; i < value->count; i++)
            collect(collector, value->items[i]);
        return;
    }
    if (value->kind != ATTR_EXPR)
        return;
    for (int i = 0; i < collector->imports.count; i++)
        if (expr_equal(collector->imports.data[i]->expr, value->expr))
            return;
    vec_push(collector->ctx->arena, &collector->imports, value);
}

/* Takes the pragma out of ANNOTATIONS and collects it; false when it is not among them. */
static bool take_pragma(Collector *collector, Attrs *annotations)
{
    const AttrValue *value = attrs_get(*annotations, PRAGMA);
    if (!value)
        return false;
    collect(collector, value);
    *annotations = attrs_remove(collector->ctx, *annotations, PRAGMA);
    return true;
}

static const Stmt *collect_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Collector *collector = rewriter->data;
    if (stmt->kind == STMT_ATTR && !strcmp(stmt->as.attr.key, PRAGMA)) {
        collect(collector, attr_expr(rewriter->ctx, stmt->as.attr.value));
        return rewrite_stmt(rewriter, stmt->as.attr.body);
    }
    Stmt copy = *stmt;
    bool changed = (stmt->kind == STMT_FOR && take_pragma(collector, &copy.as.loop.annotations)) ||
                   (stmt->kind == STMT_BLOCK && take_pragma(collector, &copy.as.block.annotations));
    return rewrite_stmt_children(rewriter, changed ? stmt_new(rewriter->ctx, &copy) : stmt);
}

const Func *lower_pragmas(LowerState *state, const Func *func)
{
    Context *ctx = state->ctx;
    Collector collector = {.ctx = ctx};
    const AttrValue *known = attrs_get(func->attrs, IMPORTS);
    if (known)
        collect(&collector, known);
    int before = collector.imports.count;
    Rewriter rewriter = {.ctx = ctx, .stmt = collect_in_stmt, .data = &collector};
    Func result = *func_with_body(ctx, func, rewrite_stmt(&rewriter, func->body));
    if (result.body == func->body)
        return func;
    if (collector.imports.count > before) {
        AttrValue list = {.kind = ATTR_LIST, .items = collector.imports.data, .count = collector.imports.count};
        result.attrs = attrs_set(ctx, func->attrs, context_intern(ctx, IMPORTS), arena_copy(ctx->arena, &list, sizeof list));
    }
    return arena_copy(ctx->arena, &result, sizeof result);
}
