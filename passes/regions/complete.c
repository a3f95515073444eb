/* See complete.h. Blocks are filled in from the inside out, since the regions of a block come from the blocks inside. They are filled in the order
   of the text, since a buffer is visible only behind its declaration. */
#include "passes/regions/complete.h"

#include "ir/signature.h"
#include "ir/walk.h"
#include "passes/arith/analyzer.h"
#include "passes/regions/infer_regions.h"
#include "passes/regions/pointers.h"

/* --- Buffers --- */

typedef struct {
    Context *ctx;
    Map buffers; /* data variable -> the first Buffer over it */
} Declared;

static void declare(Declared *declared, Buffer *buffer)
{
    if (!map_has(&declared->buffers, buffer->data))
        map_set(declared->ctx->arena, &declared->buffers, buffer->data, buffer);
}

static void declare_params(Declared *declared, const Func *func)
{
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            declare(declared, func->params[i].buffer);
}

/* The buffers that STMT itself declares. */
static void declare_own(Declared *declared, const Stmt *stmt)
{
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        declare(declared, stmt->as.block.allocs[i]);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        declare(declared, stmt->as.block.matches[i].target);
    if (stmt->kind == STMT_DECL_BUFFER)
        declare(declared, stmt->as.declare.buffer);
}

static bool declare_buffers(Visitor *visitor, const Stmt *stmt)
{
    declare_own(visitor->data, stmt);
    return true;
}

Map func_buffers_by_data(Context *ctx, const Func *func)
{
    Declared declared = {.ctx = ctx};
    Visitor visitor = {.stmt = declare_buffers, .data = &declared};
    declare_params(&declared, func);
    visit_stmt(&visitor, func->body);
    return declared.buffers;
}

/* --- Regions --- */

typedef struct Completion Completion;
struct Completion {
    Declared declared;
    Analyzer *analyzer;
    const Stmt *(*fill)(Completion *completion, const Stmt *stmt); /* the block STMT, whose blocks inside are filled in */
    const Stmt *root; /* has no regions of its own */
};

static const Expr *drop_own_cast(Rewriter *rewriter, const Expr *expr)
{
    expr = rewrite_expr_children(rewriter, expr);
    return expr->kind == EXPR_CAST ? op_cast(rewriter->ctx, expr->dtype, expr->args[0]) : expr;
}

/* REGION as the reference prints it: simplified, but for the places of an access that is the only ONE. */
static Region simplified(const Completion *completion, Region region, bool one)
{
    Context *ctx = completion->declared.ctx;
    Rewriter rewriter = {.ctx = ctx, .expr = drop_own_cast};
    Region result = analyzer_simplify_region(completion->analyzer, region);
    for (int d = 0; one && d < region.buffer->ndim; d++)
        if (expr_is_int(region.ranges[d].extent, 1))
            result.ranges[d] = (Range){rewrite_expr(&rewriter, region.ranges[d].min), region.ranges[d].extent};
    return result;
}

static BlockRegions inferred(const Completion *completion, const BlockStmt *block)
{
    BlockRegions regions = infer_block_regions(completion->declared.ctx, block, &completion->declared.buffers);
    for (int i = 0; i < regions.read_count; i++)
        regions.reads[i] = simplified(completion, regions.reads[i], regions.reads_once[i]);
    for (int i = 0; i < regions.write_count; i++)
        regions.writes[i] = simplified(completion, regions.writes[i], regions.writes_once[i]);
    return regions;
}

static bool same_regions(const Region *a, int a_count, const Region *b, int b_count)
{
    for (int i = 0; i < a_count && a_count == b_count; i++)
        for (int d = 0; d < a[i].buffer->ndim; d++)
            if (a[i].buffer != b[i].buffer || !expr_equal(a[i].ranges[d].min, b[i].ranges[d].min) ||
                !expr_equal(a[i].ranges[d].extent, b[i].ranges[d].extent))
                return false;
    return a_count == b_count;
}

/* STMT, a block, with REGIONS in place of what its text leaves out; STMT itself where they stand there already. */
static const Stmt *with_regions(Context *ctx, const Stmt *stmt, const BlockRegions *regions)
{
    BlockStmt block = stmt->as.block;
    bool reads_stay = !block.reads_inferred || same_regions(block.reads, block.read_count, regions->reads, regions->read_count);
    bool writes_stay = !block.writes_inferred || same_regions(block.writes, block.write_count, regions->writes, regions->write_count);
    if (reads_stay && writes_stay && !block.incomplete)
        return stmt;
    if (block.reads_inferred)
        block.reads = regions->reads, block.read_count = regions->read_count;
    if (block.writes_inferred)
        block.writes = regions->writes, block.write_count = regions->write_count;
    block.incomplete = false;
    return stmt_block(ctx, block, stmt->span);
}

/* STMT, a block that states to touch nothing, by its word: what it touches cannot be inferred. */
static const Stmt *as_stated(Context *ctx, const Stmt *stmt)
{
    BlockStmt block = stmt->as.block;
    block.groups = block.reads_inferred = block.writes_inferred = block.incomplete = false;
    return stmt_block(ctx, block, stmt->span);
}

static const Stmt *fill_missing(Completion *completion, const Stmt *stmt)
{
    Context *ctx = completion->declared.ctx;
    const BlockStmt *block = &stmt->as.block;
    if (!block->incomplete)
        return stmt;
    BlockRegions regions = inferred(completion, block);
    if (regions.opaque && block_only_groups(block))
        return as_stated(ctx, stmt);
    if (regions.opaque) {
        diag_error(ctx, stmt->span, "the regions of block '%s' cannot be inferred; state them with T.reads and T.writes", block->block->name);
        diag_note(ctx, regions.opaque->span.file ? regions.opaque->span : stmt->span, "this pointer may reach any element");
    }
    return with_regions(ctx, stmt, &regions);
}

static const Stmt *fill_kept(Completion *completion, const Stmt *stmt)
{
    if (!block_keeps_regions_inferred(&stmt->as.block))
        return stmt;
    BlockRegions regions = inferred(completion, &stmt->as.block);
    return regions.opaque ? stmt : with_regions(completion->declared.ctx, stmt, &regions);
}

static const Stmt *complete_stmt(Rewriter *rewriter, const Stmt *old)
{
    Completion *completion = rewriter->data;
    declare_own(&completion->declared, old);
    const Stmt *stmt = rewrite_stmt_children(rewriter, old);
    bool fills = stmt->kind == STMT_BLOCK && old != completion->root;
    return fills ? completion->fill(completion, stmt) : stmt;
}

/* Expressions hold no blocks. */
static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

static const Func *fill_func(Context *ctx, const Func *func, Completion completion)
{
    completion.declared.ctx = ctx;
    completion.analyzer = analyzer_new(ctx);
    completion.root = func->body;
    declare_params(&completion.declared, func);
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = complete_stmt, .data = &completion};
    const Stmt *body = rewrite_stmt(&rewriter, func->body);
    return body == func->body ? func : func_with_body(ctx, func, body);
}

const Func *complete_func(Context *ctx, const Func *func)
{
    int errors = diag_error_count(ctx);
    if (!func->body)
        return func;
    func = fill_func(ctx, func_follow_pointers(ctx, func), (Completion){.fill = fill_missing});
    return diag_error_count(ctx) == errors ? func : NULL;
}

/* --- Calls of functions of the program --- */

typedef struct {
    Context *ctx;
    const Module *module;
    ExprList calls;
} CallSearch;

static bool find_call(Visitor *visitor, const Expr *expr)
{
    CallSearch *search = visitor->data;
    if (module_callee(search->ctx, search->module, expr))
        vec_push(search->ctx->arena, &search->calls, expr);
    return true;
}

/* What a block inside evaluates to be entered belongs to the block around it. */
static bool skip_inner_block(Visitor *visitor, const Stmt *stmt)
{
    Visitor entered = {.expr = visitor->expr, .data = visitor->data};
    for (int moment = MOMENT_ENTRY; stmt->kind == STMT_BLOCK && moment <= MOMENT_INSIDE; moment++)
        visit_stmt_exprs(&entered, stmt, (Moment)moment);
    return stmt->kind != STMT_BLOCK;
}

ExprList block_callee_calls(Context *ctx, const Module *module, const BlockStmt *block)
{
    CallSearch search = {.ctx = ctx, .module = module};
    Visitor visitor = {.expr = find_call, .stmt = skip_inner_block, .data = &search};
    if (block->init)
        visit_stmt(&visitor, block->init);
    visit_stmt(&visitor, block->body);
    return search.calls;
}

bool stmt_calls_functions(Context *ctx, const Module *module, const Stmt *stmt)
{
    CallSearch search = {.ctx = ctx, .module = module};
    Visitor visitor = {.expr = find_call, .data = &search};
    visit_stmt(&visitor, stmt);
    return search.calls.count > 0;
}

typedef struct {
    Context *ctx;
    const Module *module;
} CallMarking;

static const Stmt *mark_calls(Rewriter *rewriter, const Stmt *stmt)
{
    const CallMarking *marking = rewriter->data;
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_BLOCK || stmt->as.block.callees != CALLEES_ABSENT ||
        !block_callee_calls(marking->ctx, marking->module, &stmt->as.block).count)
        return stmt;
    BlockStmt block = stmt->as.block;
    block.callees = CALLEES_UNKNOWN;
    return stmt_block(marking->ctx, block, stmt->span);
}

/* FUNC, whose blocks say that they call functions of MODULE. */
static const Func *with_calls_marked(Context *ctx, const Module *module, const Func *func)
{
    CallMarking marking = {ctx, module};
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = mark_calls, .data = &marking};
    bool calls = func->body && stmt_calls_functions(ctx, module, func->body);
    return calls ? func_with_body(ctx, func, rewrite_stmt(&rewriter, func->body)) : func;
}

/* FUNC of MODULE, complete. COMPLETED: functions that are done, for one may stand in several places. */
static const Func *complete_once(Context *ctx, const Module *module, Map *completed, const Func *func)
{
    if (!map_has(completed, func)) {
        const Func *complete = complete_func(ctx, func);
        map_set(ctx->arena, completed, func, complete ? (void *)with_calls_marked(ctx, module, complete) : NULL);
    }
    return map_get(completed, func);
}

const Module *complete_module(Context *ctx, const Module *module)
{
    Map completed = {0};
    bool good = true, same = true;
    if (!module)
        return NULL;
    Module result = *module;
    result.funcs = arena_copy(ctx->arena, module->funcs, sizeof *module->funcs * (size_t)module->func_count);
    result.intrins = arena_copy(ctx->arena, module->intrins, sizeof *module->intrins * (size_t)module->intrin_count);
    for (int i = 0; i < module->func_count; i++) {
        result.funcs[i] = complete_once(ctx, module, &completed, module->funcs[i]);
        good &= result.funcs[i] != NULL;
        same &= result.funcs[i] == module->funcs[i];
    }
    for (int i = 0; i < module->intrin_count; i++) {
        TensorIntrin *intrin = &result.intrins[i];
        intrin->description = complete_once(ctx, module, &completed, intrin->description);
        intrin->implementation = complete_once(ctx, module, &completed, intrin->implementation);
        good &= intrin->description && intrin->implementation;
        same &= intrin->description == module->intrins[i].description && intrin->implementation == module->intrins[i].implementation;
    }
    return !good ? NULL : same ? module : arena_copy(ctx->arena, &result, sizeof result);
}

static bool find_foreign_call(Visitor *visitor, const Expr *expr)
{
    bool *found = visitor->data;
    *found |= expr_is_foreign_call(expr);
    return !*found;
}

/* What a step left as it was has its regions already. */
const Func *func_infer_regions(Context *ctx, const Func *before, const Func *func)
{
    bool calls = false;
    Visitor visitor = {.expr = find_foreign_call, .data = &calls};
    if (!func->body)
        return func;
    if (before && before->body)
        visit_changes(&visitor, before, func);
    else
        visit_stmt(&visitor, func->body);
    return calls ? fill_func(ctx, func, (Completion){.fill = fill_kept}) : func;
}
