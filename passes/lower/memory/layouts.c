/* Pass "layouts": what the place and form of a view or buffer read from memory is read once, where it is defined.

     with T.block("B"):                                      v: T.int32 = A[0]
         V = T.match_buffer(B[A[0]:A[0] + 4], (4,), ...)     with T.block("B"):
         A[0] = 7                                      ->        V = T.match_buffer(B[v:v + 4], (4,), ...)
         C[0] = V[1]                                             A[0] = 7
                                                                 C[0] = V[1]

   The passes behind this one put a view's region and a buffer's strides into each access, where memory may hold something else. Needs: no
   axes and no init left. */
#include "passes/lower/core/state.h"
#include "passes/regions/complete.h"
#include "passes/regions/infer_regions.h"

typedef struct {
    const Expr *value;
    Var *var;
} Kept;

typedef struct {
    Context *ctx;
    Map buffers;     /* Buffer -> the same with another layout */
    VEC(Kept) kept; /* those from FIRST on for the statement at hand: memory may change between two statements */
    int first;
    const char *name;
} Layouts;

/* --- what is kept --- */

static bool find_lazy(Visitor *visitor, const Expr *expr)
{
    bool lazy = expr->kind == EXPR_AND || expr->kind == EXPR_OR || expr->kind == EXPR_LET || expr_is_call(expr, OP_IF_THEN_ELSE);
    *(bool *)visitor->data |= lazy;
    return !lazy;
}

/* Some part of EXPR is evaluated only where another one says so, or names a variable of EXPR. */
static bool is_lazy(const Expr *expr)
{
    bool lazy = false;
    Visitor visitor = {.expr = find_lazy, .data = &lazy};
    visit_expr(&visitor, expr);
    return lazy;
}

static const Expr *keep(Layouts *layouts, const Expr *value)
{
    for (int i = layouts->first; i < layouts->kept.count; i++)
        if (expr_equal(layouts->kept.data[i].value, value))
            return expr_var(layouts->ctx, layouts->kept.data[i].var);
    Kept kept = {value, var_new(layouts->ctx, context_internf(layouts->ctx, "%s_at", layouts->name), value->dtype, value->span)};
    vec_push(layouts->ctx->arena, &layouts->kept, kept);
    return expr_var(layouts->ctx, kept.var);
}

static const Expr *keep_loads(Rewriter *rewriter, const Expr *expr)
{
    return expr->kind == EXPR_LOAD ? keep(rewriter->data, expr) : rewrite_expr_children(rewriter, expr);
}

/* EXPR in terms of variables where it reads memory. Loads are kept one by one, so that what ranges and shapes have in common can be seen. */
static const Expr *without_reads(Layouts *layouts, const Expr *expr)
{
    if (!expr_reads_memory(expr))
        return expr;
    Rewriter rewriter = {.ctx = layouts->ctx, .expr = keep_loads, .data = layouts};
    const Expr *result = is_lazy(expr) ? keep(layouts, expr) : rewrite_expr(&rewriter, expr);
    return expr_reads_memory(result) ? keep(layouts, expr) : result;
}

static const Expr **exprs_without_reads(Layouts *layouts, const Expr *const *exprs, int count)
{
    const Expr **result = ARENA_ARRAY(layouts->ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++)
        result[i] = without_reads(layouts, exprs[i]);
    return result;
}

static Buffer *buffer_without_reads(Layouts *layouts, Buffer *buffer)
{
    int before = layouts->kept.count;
    Buffer copy = *buffer;
    layouts->name = buffer->name;
    copy.shape = exprs_without_reads(layouts, buffer->shape, buffer->ndim);
    if (buffer->strides)
        copy.strides = exprs_without_reads(layouts, buffer->strides, buffer->ndim);
    copy.elem_offset = without_reads(layouts, buffer->elem_offset);
    bool same = layouts->kept.count == before && copy.elem_offset == buffer->elem_offset;
    for (int d = 0; d < buffer->ndim; d++)
        same &= copy.shape[d] == buffer->shape[d] && (!buffer->strides || copy.strides[d] == buffer->strides[d]);
    if (same)
        return buffer;
    Buffer *result = buffer_clone(layouts->ctx, &copy);
    map_set(layouts->ctx->arena, &layouts->buffers, buffer, result);
    return result;
}

/* Rewrites what is in STMT, which is laid out by the variables kept since OUTER_FIRST, and gives these their values around it. */
static const Stmt *with_kept(Rewriter *rewriter, int outer_first, const Stmt *stmt)
{
    Layouts *layouts = rewriter->data;
    int first = layouts->first;
    layouts->first = layouts->kept.count;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    while (layouts->kept.count > first) {
        Kept kept = vec_pop(&layouts->kept);
        result = stmt_let(layouts->ctx, kept.var, rewrite_expr(rewriter, kept.value), result, stmt->span);
    }
    layouts->first = outer_first;
    return result;
}

/* --- blocks --- */

static MatchBuffer match_without_reads(Layouts *layouts, MatchBuffer match)
{
    Range *ranges = ARENA_ARRAY(layouts->ctx->arena, Range, match.source.buffer->ndim);
    layouts->name = match.target->name;
    for (int d = 0; d < match.source.buffer->ndim; d++)
        ranges[d] = (Range){without_reads(layouts, match.source.ranges[d].min), without_reads(layouts, match.source.ranges[d].extent)};
    match.source.ranges = ranges;
    match.target = buffer_without_reads(layouts, match.target);
    return match;
}

/* How many views of BLOCK can be laid out in front of it: all up to the first that reads through a view of the same block. */
static int views_outside(const BlockStmt *block)
{
    for (int i = 1; i < block->match_count; i++) {
        const BlockStmt alone = {.match_count = 1, .matches = &block->matches[i]};
        const Stmt stmt = {.kind = STMT_BLOCK, .as.block = alone};
        for (int before = 0; before < i; before++)
            if (stmt_itself_uses_buffer(&stmt, block->matches[before].target))
                return i;
    }
    return block->match_count;
}

/* The block with its last views in a block inside of it. */
static BlockStmt split_block(Context *ctx, BlockStmt block, int outside, Span span)
{
    BlockStmt inner = block;
    inner.block = block_new(ctx, block.block->name, span);
    inner.alloc_count = 0;
    inner.matches += outside;
    inner.match_count -= outside;
    inner.annotations = (Attrs){0};
    block.match_count = outside;
    block.body = stmt_block(ctx, inner, span);
    return block;
}

static const Stmt *lay_out_block(Rewriter *rewriter, const Stmt *stmt)
{
    Layouts *layouts = rewriter->data;
    Context *ctx = layouts->ctx;
    BlockStmt block = stmt->as.block;
    int outer_first = layouts->first, outside = views_outside(&block);
    layouts->first = layouts->kept.count;
    if (outside < block.match_count)
        block = split_block(ctx, block, outside, stmt->span);
    block.allocs = arena_copy(ctx->arena, block.allocs, sizeof *block.allocs * (size_t)block.alloc_count);
    for (int i = 0; i < block.alloc_count; i++)
        block.allocs[i] = buffer_without_reads(layouts, block.allocs[i]);
    block.matches = arena_copy(ctx->arena, block.matches, sizeof *block.matches * (size_t)block.match_count);
    for (int i = 0; i < block.match_count; i++)
        block.matches[i] = match_without_reads(layouts, block.matches[i]);
    bool reads = layouts->kept.count > layouts->first, changed = reads || outside < stmt->as.block.match_count;
    const Expr *predicate = block.predicate;
    bool guards = reads && !expr_is_int(predicate, 1); /* what a place reads may be there only where the condition holds */
    if (guards)
        block.predicate = expr_bool(ctx, true);
    const Stmt *result = with_kept(rewriter, outer_first, changed ? stmt_block(ctx, block, stmt->span) : stmt);
    return guards ? stmt_if(ctx, predicate, result, NULL, stmt->span) : result;
}

static const Stmt *lay_out_declaration(Rewriter *rewriter, const Stmt *stmt)
{
    Layouts *layouts = rewriter->data;
    int outer_first = layouts->first;
    layouts->first = layouts->kept.count;
    Stmt copy = *stmt;
    copy.as.declare.buffer = buffer_without_reads(layouts, stmt->as.declare.buffer);
    return with_kept(rewriter, outer_first, copy.as.declare.buffer == stmt->as.declare.buffer ? stmt : stmt_new(layouts->ctx, &copy));
}

static const Stmt *lay_out_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind == STMT_BLOCK)
        return lay_out_block(rewriter, stmt);
    return stmt->kind == STMT_DECL_BUFFER ? lay_out_declaration(rewriter, stmt) : rewrite_stmt_children(rewriter, stmt);
}

static Buffer *laid_out_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Layouts *layouts = rewriter->data;
    Buffer *changed = layouts->buffers.count ? map_get(&layouts->buffers, buffer) : NULL;
    return changed ? changed : buffer;
}

typedef struct {
    Context *ctx;
    const Map *buffers;
} RootRegions;

static const Stmt *declare_root(Rewriter *rewriter, const Stmt *stmt)
{
    const RootRegions *root = rewriter->data;
    if (stmt->kind != STMT_BLOCK)
        return rewrite_stmt_children(rewriter, stmt);
    BlockStmt block = stmt->as.block;
    BlockRegions regions = infer_block_regions(root->ctx, &block, root->buffers);
    if (regions.opaque)
        return stmt;
    block.reads = regions.reads, block.read_count = regions.read_count;
    block.writes = regions.writes, block.write_count = regions.write_count;
    return stmt_block(root->ctx, block, stmt->span);
}

/* FUNC, whose root block ROOT has lets around it now: it is an ordinary block, which needs regions, in a root around these lets. */
static const Func *with_root_declared(Context *ctx, const Func *func, const Stmt *root)
{
    Map buffers = func_buffers_by_data(ctx, func);
    RootRegions regions = {ctx, &buffers};
    Rewriter rewriter = {.ctx = ctx, .stmt = declare_root, .data = &regions};
    BlockStmt outer = {.block = block_new(ctx, root->as.block.block->name, root->span),
                       .predicate = expr_bool(ctx, true),
                       .reads_inferred = true,
                       .writes_inferred = true,
                       .body = rewrite_stmt(&rewriter, func->body)};
    return func_with_body(ctx, func, stmt_block(ctx, outer, root->span));
}

const Func *lower_layouts(LowerState *state, const Func *func)
{
    Layouts layouts = {.ctx = state->ctx};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = lay_out_stmt, .buffer = laid_out_buffer, .data = &layouts};
    const Func *result = func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
    return func->body->kind == STMT_BLOCK && result->body->kind != STMT_BLOCK ? with_root_declared(state->ctx, result, func->body) : result;
}
