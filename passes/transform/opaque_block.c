/* Pass "lower_opaque_block": blocks without axes become their bodies.

     for i in range(64):                                for i in range(64):
         with T.block(""):                                  B = T.allocate([16], "float32", "global")
             T.reads(A[i, 0:16])                            B_1 = T.decl_buffer((16,), data=B)
             T.writes(C[i, 0:16])                   ->      for j in range(16):
             B = T.alloc_buffer((16,))                          if j < 12:
             for j in range(16):                                    B_1[j] = A[i, j]
                 with T.block("B"):
                     T.where(j < 12)
                     ... B[j] = A[i, j]

   Their buffers are allocated, their conditions become branches, and annotations named pragma_* become attributes around them. Loops over
   threads become launches; loops of one iteration that say nothing else go. */
#include <string.h>

#include "ir/fold.h"
#include "passes/lower/memory/flat_form.h"
#include "passes/lower/memory/place.h"
#include "passes/transform/internal.h"

/* --- loops of one iteration --- */

typedef struct {
    Map values; /* Var -> const Expr * */
} UnitLoops;

static const Expr *replace_expr(Rewriter *rewriter, const Expr *expr)
{
    const UnitLoops *loops = rewriter->data;
    const Expr *value = expr->kind == EXPR_VAR ? map_get(&loops->values, expr->value.var) : NULL;
    if (value)
        return value;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    bool folds = result != expr && expr_is_binary(result);
    if (result != expr && expr_is_call(result, OP_IF_THEN_ELSE))
        return op_if_then_else(rewriter->ctx, result->args[0], result->args[1], result->args[2], expr->span);
    return folds ? op_binary(rewriter->ctx, result->kind, result->args[0], result->args[1], expr->span) : result;
}

/* VALUE in place of what it stands for, folded as programs are that write it so. */
static const Stmt *remove_unit_loop(Rewriter *rewriter, const Stmt *stmt)
{
    UnitLoops *loops = rewriter->data;
    if (stmt->kind != STMT_FOR)
        return rewrite_stmt_children(rewriter, stmt);
    ForStmt loop = stmt->as.loop;
    loop.min = rewrite_expr(rewriter, loop.min);
    loop.extent = rewrite_expr(rewriter, loop.extent);
    bool unit = loop.kind != FOR_THREAD && !loop.annotations.count && expr_is_int(loop.extent, 1) && !expr_reads_memory(loop.min) &&
                !stmt_has_jump(loop.body);
    if (unit)
        map_set(rewriter->ctx->arena, &loops->values, loop.var, (void *)loop.min);
    loop.body = rewrite_stmt(rewriter, loop.body);
    return unit ? loop.body : stmt_for(rewriter->ctx, loop, stmt->span);
}

/* --- pragmas --- */

/* STMT inside of the attributes that its annotations named pragma_* are. */
static const Stmt *with_pragmas(Context *ctx, Attrs annotations, const Stmt *stmt)
{
    for (int i = annotations.count - 1; i >= 0; i--) {
        const AttrValue *value = annotations.entries[i].value;
        if (strncmp(annotations.entries[i].key, "pragma_", 7) || value->kind != ATTR_EXPR)
            continue;
        Stmt attr = {.kind = STMT_ATTR, .span = stmt->span};
        attr.as.attr.node = expr_int(ctx, DTYPE_INT32, 0);
        attr.as.attr.key = annotations.entries[i].key;
        attr.as.attr.value = value->expr;
        attr.as.attr.body = stmt;
        stmt = stmt_new(ctx, &attr);
    }
    return stmt;
}

static Attrs without_pragmas(Context *ctx, Attrs annotations)
{
    for (int i = annotations.count - 1; i >= 0; i--)
        if (!strncmp(annotations.entries[i].key, "pragma_", 7))
            annotations = attrs_remove(ctx, annotations, annotations.entries[i].key);
    return annotations;
}

/* --- blocks --- */

typedef struct {
    Context *ctx;
    const Stmt *body; /* of the function, whose blocks say how buffers are aligned */
} BlockLowering;

/* What storage_align says of BUFFER, on its allocation: rows of -1, the dimension, the factor and the offset. */
static Attrs alignments_of(const BlockLowering *lowering, const Buffer *buffer)
{
    Context *ctx = lowering->ctx;
    Attrs found = stmt_alignments(ctx, lowering->body, buffer);
    if (!found.count)
        return found;
    AttrValue rows = *found.entries[0].value;
    rows.items = ARENA_ARRAY(ctx->arena, const AttrValue *, rows.count);
    for (int i = 0; i < rows.count; i++) {
        AttrValue row = *found.entries[0].value->items[i];
        const AttrValue **items = ARENA_ARRAY(ctx->arena, const AttrValue *, row.count + 1);
        items[0] = attr_int(ctx, -1);
        memcpy(items + 1, row.items, sizeof *items * (size_t)row.count);
        row.items = items;
        row.count++;
        rows.items[i] = arena_copy(ctx->arena, &row, sizeof row);
    }
    return attrs_set(ctx, (Attrs){0}, found.entries[0].key, arena_copy(ctx->arena, &rows, sizeof rows));
}

static const Stmt *lower_block(const BlockLowering *lowering, const Stmt *stmt)
{
    Context *ctx = lowering->ctx;
    const BlockStmt *block = &stmt->as.block;
    if (block->match_count)
        diag_error(ctx, stmt->span, "block '%s' has match_buffer views: run lower_match_buffer before it", block->block->name);
    const Stmt *body = block->body;
    if (body->kind == STMT_EVALUATE && body->as.evaluate->kind == EXPR_INT)
        body = stmt_empty(ctx);
    if (!expr_is_int(block->predicate, 1))
        body = stmt_if(ctx, block->predicate, body, NULL, stmt->span);
    for (int i = block->alloc_count - 1; i >= 0; i--)
        body = stmt_allocate_buffer(ctx, block->allocs[i], alignments_of(lowering, block->allocs[i]), body, block->allocs[i]->span);
    return with_pragmas(ctx, block->annotations, body);
}

static const Stmt *lower_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind == STMT_BLOCK)
        return lower_block(rewriter->data, result);
    if (stmt->kind != STMT_FOR)
        return result;
    ForStmt loop = result->as.loop;
    Attrs annotations = loop.annotations;
    loop.annotations = without_pragmas(rewriter->ctx, annotations);
    return with_pragmas(rewriter->ctx, annotations, stmt_for(rewriter->ctx, loop, stmt->span));
}

const Func *transform_match(LowerState *state, const Func *func)
{
    return lower_match(state, lower_layouts(state, func));
}

const Func *transform_opaque_block(LowerState *state, const Func *func)
{
    UnitLoops loops = {0};
    Rewriter units = {.ctx = state->ctx, .expr = replace_expr, .stmt = remove_unit_loop, .data = &loops};
    BlockLowering lowering = {state->ctx, rewrite_stmt(&units, func->body)};
    Rewriter blocks = {.ctx = state->ctx, .stmt = lower_stmt, .data = &lowering};
    const Stmt *body = rewrite_stmt(&blocks, lowering.body);
    return func_with_body(state->ctx, func, launch_threads(state->ctx, body));
}
