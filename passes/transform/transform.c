/* Runs one pass of transforms.def. See transform.h. */
#include "passes/transform/transform.h"

#include <ctype.h>
#include <string.h>

#include "passes/transform/internal.h"
#include "passes/regions/complete.h"
#include "support/bug.h"

static const Transform rows[] = {
#define X(name, reference, function, needs, gives, doc) {name, reference, needs, gives, doc},
#define ALIAS(other, name)
#include "passes/transform/transforms.def"
#undef X
#undef ALIAS
};
static LowerFunction *const functions[] = {
#define X(name, reference, function, needs, gives, doc) function,
#define ALIAS(other, name)
#include "passes/transform/transforms.def"
#undef X
#undef ALIAS
};
static const char *const aliases[][2] = {
#define X(name, reference, function, needs, gives, doc)
#define ALIAS(other, name) {other, name},
#include "passes/transform/transforms.def"
#undef X
#undef ALIAS
};
enum { ROW_COUNT = sizeof rows / sizeof *rows, ALIAS_COUNT = sizeof aliases / sizeof *aliases };

const Transform *transforms(int *count)
{
    *count = ROW_COUNT;
    return rows;
}

/* --- names --- */

/* A and B are one name but for case, '_' and '-'. */
static bool names_agree(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '_' || *a == '-')
            a++;
        while (*b == '_' || *b == '-')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

static int find_row(const char *name)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (names_agree(rows[i].name, name) || names_agree(rows[i].reference, name))
            return i;
    for (int i = 0; i < ALIAS_COUNT; i++)
        if (names_agree(aliases[i][0], name))
            return find_row(aliases[i][1]);
    return -1;
}

int transform_find(Context *ctx, const char *name, const char **near)
{
    const char *last = strrchr(name, '.'), *plain = last ? last + 1 : name;
    int row = find_row(plain);
    const char **known = ARENA_ARRAY(ctx->arena, const char *, 2 * ROW_COUNT);
    for (int i = 0; i < ROW_COUNT; i++) {
        known[2 * i] = rows[i].name;
        known[2 * i + 1] = rows[i].reference;
    }
    *near = row < 0 ? diag_closest(plain, known, 2 * ROW_COUNT) : NULL;
    return row;
}

/* --- what a pass asks of a program --- */

typedef struct {
    const Func *func;
    bool has_init, has_axes, has_blocks, has_boxes;
    Span init, axes, block, box;
} FormSearch;

static void note(bool *found, Span *place, Span span)
{
    if (!*found)
        *place = span;
    *found = true;
}

static bool search_stmt(Visitor *visitor, const Stmt *stmt)
{
    FormSearch *search = visitor->data;
    if (stmt->kind == STMT_STORE && stmt->as.store.index_count != 1)
        note(&search->has_boxes, &search->box, stmt->span);
    if (stmt->kind != STMT_BLOCK)
        return true;
    note(&search->has_blocks, &search->block, stmt->span);
    if (stmt->as.block.iter_count)
        note(&search->has_axes, &search->axes, stmt->span);
    if (stmt->as.block.init)
        note(&search->has_init, &search->init, stmt->span);
    return true;
}

static bool search_expr(Visitor *visitor, const Expr *expr)
{
    FormSearch *search = visitor->data;
    if (expr->kind == EXPR_LOAD && load_index_count(expr) != 1)
        note(&search->has_boxes, &search->box, expr->span);
    return true;
}

static bool refuse(Context *ctx, const Transform *row, Span place, const char *what, const char *first)
{
    diag_error(ctx, place, "the pass '%s' takes programs without %s: run %s before it", row->name, what, first);
    return false;
}

static bool has_form(Context *ctx, const Transform *row, const Func *func)
{
    FormSearch search = {.func = func};
    Visitor visitor = {.stmt = search_stmt, .expr = search_expr, .data = &search};
    visit_stmt(&visitor, func->body);
    if (row->needs >= STAGE_INITIALIZED && search.has_init)
        return refuse(ctx, row, search.init, "init", "lower_init_block");
    if (row->needs >= STAGE_OPAQUE && search.has_axes)
        return refuse(ctx, row, search.axes, "block axes", "convert_blocks_to_opaque");
    if (row->needs >= STAGE_UNBLOCKED && search.has_blocks)
        return refuse(ctx, row, search.block, "blocks", "lower_opaque_block");
    if (row->needs >= STAGE_FLAT && search.has_boxes)
        return refuse(ctx, row, search.box, "accesses of several dimensions", "flatten_buffer");
    return true;
}

/* --- what no text can say: decided choices, empty regions and loops --- */

/* A block may declare a region for values that never occur, as in an iteration whose condition fails. The extent of the region, or of a loop in the
   block, may be negative there. No text can say a negative extent. */
static Region *regions_not_negative(Context *ctx, Region *regions, int count)
{
    Region *result = arena_copy(ctx->arena, regions, (size_t)count * sizeof *regions);
    bool same = true;
    for (int i = 0; i < count; i++)
        for (int d = 0; d < regions[i].buffer->ndim; d++) {
            const Expr *extent = regions[i].ranges[d].extent;
            int64_t number;
            if (!expr_const_int(extent, &number) || number >= 0)
                continue;
            if (result[i].ranges == regions[i].ranges)
                result[i].ranges = arena_copy(ctx->arena, regions[i].ranges, (size_t)regions[i].buffer->ndim * sizeof *regions[i].ranges);
            result[i].ranges[d].extent = expr_int(ctx, extent->dtype, 0);
            same = false;
        }
    return same ? regions : result;
}

/* A constant decides a choice when it is read. */
static const Expr *decide_choice(Rewriter *rewriter, const Expr *expr)
{
    const Expr *result = rewrite_expr_children(rewriter, expr);
    bool decided = expr_is_call(result, OP_IF_THEN_ELSE) && result->args[0]->kind == EXPR_INT;
    return decided ? result->args[result->args[0]->value.integer ? 1 : 2] : result;
}

static const Stmt *declare_not_negative(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    int64_t extent;
    if (stmt->kind == STMT_FOR && expr_const_int(result->as.loop.extent, &extent) && extent < 0) {
        ForStmt loop = result->as.loop;
        loop.extent = expr_int(rewriter->ctx, loop.extent->dtype, 0);
        return stmt_for(rewriter->ctx, loop, stmt->span);
    }
    if (stmt->kind != STMT_BLOCK)
        return result;
    BlockStmt block = result->as.block;
    block.reads = regions_not_negative(rewriter->ctx, block.reads, block.read_count);
    block.writes = regions_not_negative(rewriter->ctx, block.writes, block.write_count);
    bool same = block.reads == result->as.block.reads && block.writes == result->as.block.writes;
    return same ? result : stmt_block(rewriter->ctx, block, stmt->span);
}

/* --- the run --- */

/* Every pass may rely on it that the arithmetic of conditions and lets does not overflow. */
static const Func *transform_func(Context *ctx, const Module *module, const Func *func, int index, bool verify)
{
    LowerOptions options = {.guard_init = true, .keep_predicates = true};
    LowerState state = {ctx, module, &options};
    int errors = diag_error_count(ctx);
    if (!has_form(ctx, &rows[index], func))
        return NULL;
    func = functions[index](&state, lower_wrapping(&state, func));
    if (diag_error_count(ctx) > errors)
        return NULL;
    Rewriter rewriter = {.ctx = ctx, .expr = decide_choice, .stmt = declare_not_negative};
    func = func_infer_regions(ctx, NULL, lower_unwrapping(&state, func_with_body(ctx, func, rewrite_stmt(&rewriter, func->body))));
    const char *why;
    if (verify && !verify_func(ctx, func, rows[index].gives, &why))
        BUG("'%s' is malformed after the pass '%s': %s", func->name, rows[index].name, why);
    return func;
}

const Module *transform_module(Context *ctx, const Module *module, int index, bool verify)
{
    const Module *result = module;
    for (int i = 0; i < module->func_count && result; i++) {
        const Func *func = transform_func(ctx, module, module->funcs[i], index, verify);
        result = func ? module_with_func(ctx, result, i, func) : NULL;
    }
    return result;
}
