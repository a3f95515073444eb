/* pad_einsum: the axes of a block become multiples of given numbers. What it reads is copied into buffers that are padded with zeros before, what it
   writes is copied back out of a padded buffer behind.

   Before, pad_einsum("B", [4])             After
     for i in range(13):                      for i0 in range(16):
         with T.block("B"):                       with T.block("A_pad"): A_pad[v0] = T.if_then_else(v0 < 13, A[v0], 0)
             vi = T.axis.spatial(13, i)       for i in range(16):
             B[vi] = A[vi] * 2                    with T.block("B"): B_pad[vi] = A_pad[vi] * 2
                                              for i0 in range(13):
                                                  with T.block("B_pad"): B[v0] = B_pad[v0]

   Instances beyond the old domain write padding, which nobody reads, and may not touch what the others write: an axis that is padded indexes
   all that the block writes, or it is a reduce axis along which the zeros combine to the neutral element of the reduction. What must hold besides:
   each index is an axis or a constant, and a buffer has the same indices everywhere; below the outermost loop stands the block alone; a padded
   axis is bound to a loop that nothing else uses; all of a buffer that is copied back has been written. */
#include "passes/schedule/layout/pad_einsum.h"
#include "ir/walk.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/move/inline.h"

static bool refuse_block(Schedule *sch, const Einsum *step, const char *why)
{
    sched_refuse(sch, "block '%s' %s", step->block->block->name, why);
    sched_note(sch, step->node->stmt->span, "block '%s' is here", step->block->block->name);
    return false;
}

/* --- The pattern --- */

static Operand *find_operand(const Einsum *step, const Buffer *buffer)
{
    for (int i = 0; i < step->operand_count; i++)
        if (step->operands[i].buffer == buffer)
            return &step->operands[i];
    return NULL;
}

/* The axis of the block that INDEX is; -1: none. */
static int axis_of(const BlockStmt *block, const Expr *index)
{
    for (int i = 0; i < block->iter_count; i++)
        if (expr_is_var(index, block->iters[i].var))
            return i;
    return -1;
}

/* Takes an access to BUFFER into account; what is wrong with it goes to step->fault. */
static void add_access(Einsum *step, Buffer *buffer, const Expr *const *indices, bool masked)
{
    Operand *operand = find_operand(step, buffer);
    int64_t constant;
    if (masked || buffer->dtype.lanes != 1)
        step->fault = "accesses several elements at once";
    if (!operand) {
        operand = &step->operands[step->operand_count++];
        *operand = (Operand){.buffer = buffer, .indices = indices};
    }
    for (int d = 0; d < buffer->ndim; d++) {
        if (!expr_equal(indices[d], operand->indices[d]))
            step->fault = "accesses a buffer at different indices";
        else if (axis_of(step->block, indices[d]) < 0 && !expr_const_int(indices[d], &constant))
            step->fault = "has an index that is neither an axis nor a constant";
    }
}

static bool visit_load(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        add_access(visitor->data, expr->value.buffer, expr->args, expr->predicated);
    return true;
}

static bool visit_store(Visitor *visitor, const Stmt *stmt)
{
    Einsum *step = visitor->data;
    if (stmt->kind == STMT_STORE)
        add_access(step, stmt->as.store.buffer, stmt->as.store.indices, stmt->as.store.mask);
    else if (stmt->kind != STMT_SEQ)
        step->fault = "holds more than stores";
    return true;
}

static bool count_access(Visitor *visitor, const Expr *expr)
{
    *(int *)visitor->data += expr->kind == EXPR_LOAD;
    return true;
}

static bool count_store(Visitor *visitor, const Stmt *stmt)
{
    *(int *)visitor->data += stmt->kind == STMT_STORE;
    return true;
}

static const Stmt *const *block_parts(const Einsum *step, int *count)
{
    const Stmt **parts = ARENA_ARRAY(step->sch->ctx->arena, const Stmt *, 2);
    *count = 0;
    if (step->block->init)
        parts[(*count)++] = step->block->init;
    parts[(*count)++] = step->block->body;
    return parts;
}

static bool find_pattern(Einsum *step)
{
    Schedule *sch = step->sch;
    int accesses = 0, count;
    const Stmt *const *parts = block_parts(step, &count);
    Visitor counting = {.expr = count_access, .stmt = count_store, .data = &accesses};
    for (int i = 0; i < count; i++)
        visit_stmt(&counting, parts[i]);
    step->operands = ARENA_ARRAY(sch->ctx->arena, Operand, accesses);
    Visitor visitor = {.expr = visit_load, .stmt = visit_store, .data = step};
    for (int i = 0; i < count; i++)
        visit_stmt(&visitor, parts[i]);
    if (step->block->match_count || step->block->alloc_count)
        step->fault = "makes buffers of its own";
    for (int w = 0; w < step->block->write_count; w++) {
        Operand *operand = find_operand(step, step->block->writes[w].buffer);
        if (operand)
            operand->written = true;
    }
    return !step->fault || refuse_block(sch, step, arena_printf(sch->ctx->arena, "is no einsum: it %s", step->fault));
}

/* --- The loops --- */

const TreeNode *einsum_own_loop(const Einsum *step, int axis)
{
    const BlockStmt *block = step->block;
    const TreeNode *loop = block->bindings[axis]->kind == EXPR_VAR ? schedule_find_loop(step->sch, block->bindings[axis]->value.var) : NULL;
    bool found = false;
    for (int k = 0; loop && k < step->loop_count; k++) {
        const ForStmt *other = node_loop(step->loops[k]);
        found |= step->loops[k] == loop;
        if (step->loops[k] != loop && (expr_uses_var(other->extent, node_loop(loop)->var) || expr_uses_var(other->min, node_loop(loop)->var)))
            return NULL;
    }
    if (!found || expr_uses_var(block->predicate, node_loop(loop)->var))
        return NULL;
    for (int i = 0; i < block->iter_count; i++)
        if (i != axis && expr_uses_var(block->bindings[i], node_loop(loop)->var))
            return NULL;
    const Iter *iter = &block->iters[axis];
    Analyzer *an = analyzer_new(step->sch->ctx);
    return expr_is_int(node_loop(loop)->min, 0) && expr_is_int(iter->domain.min, 0) &&
                   analyzer_prove_equal(an, node_loop(loop)->extent, iter->domain.extent)
               ? loop
               : NULL;
}

static bool find_loops(Einsum *step)
{
    Schedule *sch = step->sch;
    step->loops = schedule_loops_around(sch, step->node, &step->loop_count);
    step->top = step->node;
    const TreeNode *scope = schedule_scope(sch, step->node);
    for (const TreeNode *up = schedule_parent(sch, step->node); up != scope; up = schedule_parent(sch, up)) {
        bool outside = up->stmt->kind == STMT_SEQ || up->stmt->kind == STMT_DECL_BUFFER || up->stmt->kind == STMT_ALLOCATE;
        if (up->stmt->kind == STMT_FOR && step->top == schedule_find_stmt(sch, node_loop(up)->body)) {
            step->top = up;
            continue;
        }
        for (const TreeNode *more = up; more != scope; more = schedule_parent(sch, more))
            if (!outside || more->stmt->kind == STMT_FOR) {
                refuse_block(sch, step, "is not the only statement of the loops around it");
                sched_note(sch, up->stmt->span, "these statements");
                return false;
            }
        break;
    }
    return true;
}

/* --- What is padded --- */

static bool find_extents(Einsum *step, const Value *padding)
{
    Schedule *sch = step->sch;
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    const BlockStmt *block = step->block;
    const ValueList *list = padding->as.list;
    if (list->count != block->iter_count)
        return sched_refuse_argument(sch, padding, "block '%s' has %d %s, and the padding %d %s: there must be one for each axis", block->block->name,
                                     block->iter_count, block->iter_count == 1 ? "axis" : "axes", list->count, list->count == 1 ? "number" : "numbers");
    step->extents = ARENA_ARRAY(ctx->arena, const Expr *, block->iter_count);
    step->padded_loops = ARENA_ARRAY(ctx->arena, const TreeNode *, block->iter_count);
    for (int i = 0; i < block->iter_count; i++) {
        const Expr *extent = block->iters[i].domain.extent;
        int64_t factor = list->items[i].as.integer;
        if (factor < 1)
            return sched_refuse_argument(sch, &list->items[i], "an axis is padded to multiples of a number of at least 1, not of %lld", (long long)factor);
        const Expr *by = expr_int(ctx, extent->dtype, factor), *more = expr_int(ctx, extent->dtype, factor - 1);
        const Expr *padded = analyzer_simplify(an, op_mul(ctx, op_floordiv(ctx, op_add(ctx, extent, more), by), by));
        step->extents[i] = extent;
        if (analyzer_prove_equal(an, padded, extent))
            continue;
        step->extents[i] = padded;
        step->padded_loops[i] = einsum_own_loop(step, i);
        step->any |= step->padded_loops[i] != NULL;
        if (!step->padded_loops[i])
            return refuse_block(sch, step, arena_printf(ctx->arena, "has axis '%s' to be padded, which is not bound to a loop of its own over all of its range",
                                                        block->iters[i].var->name));
    }
    return true;
}

static bool axis_is_padded(const Einsum *step, int axis)
{
    return axis >= 0 && step->padded_loops[axis] != NULL;
}

bool einsum_pads(const Einsum *step, const Operand *operand)
{
    for (int d = 0; d < operand->buffer->ndim; d++)
        if (axis_is_padded(step, axis_of(step->block, operand->indices[d])))
            return true;
    return false;
}

/* The padded buffer of OPERAND: along a padded axis as long as that is, one element for a constant index, else as it was. */
static bool make_padded(Einsum *step, Operand *operand)
{
    Context *ctx = step->sch->ctx;
    const Buffer *buffer = operand->buffer;
    Buffer *padded = buffer_clone_fresh(ctx, buffer, context_internf(ctx, "%s_pad", buffer->name), buffer->scope);
    padded->strides = NULL;
    padded->elem_offset = expr_int(ctx, buffer_index_dtype(padded), 0);
    padded->offset_factor = 0;
    padded->shape = ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim);
    for (int d = 0; d < buffer->ndim; d++) {
        int axis = axis_of(step->block, operand->indices[d]);
        padded->shape[d] = axis < 0 ? expr_int(ctx, buffer->shape[d]->dtype, 1) : axis_is_padded(step, axis) ? step->extents[axis] : buffer->shape[d];
        if (axis < 0 && !expr_is_int(operand->indices[d], 0))
            return refuse_block(step->sch, step, arena_printf(ctx->arena, "accesses '%s' at a constant index other than 0, which its padded copy does not have",
                                                              buffer->name));
    }
    operand->padded = padded;
    return true;
}

static bool make_buffers(Einsum *step)
{
    for (int i = 0; i < step->operand_count; i++)
        if (einsum_pads(step, &step->operands[i]) && !make_padded(step, &step->operands[i]))
            return false;
    return true;
}

/* --- The edit --- */

/* A nest over the SHAPE, with a block called as the padded buffer is, that stores in TO what PAD (else all) leaves of FROM. */
static const Stmt *make_nest(const Einsum *step, const Operand *operand, bool pads, Block **symbol)
{
    Context *ctx = step->sch->ctx;
    Span span = step->sch->call_span;
    Buffer *from = pads ? operand->buffer : operand->padded, *to = pads ? operand->padded : operand->buffer;
    int ndim = to->ndim;
    BlockStmt block = {.block = block_new(ctx, operand->padded->name, span), .iter_count = ndim, .read_count = 1, .write_count = 1};
    *symbol = block.block;
    block.predicate = expr_bool(ctx, true);
    block.iters = ARENA_ARRAY(ctx->arena, Iter, ndim);
    block.bindings = ARENA_ARRAY(ctx->arena, const Expr *, ndim);
    Var **loops = ARENA_ARRAY(ctx->arena, Var *, ndim);
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, ndim), *condition = expr_bool(ctx, true);
    Analyzer *an = analyzer_new(ctx);
    for (int d = 0; d < ndim; d++) {
        const Expr *extent = to->shape[d];
        loops[d] = var_new(ctx, context_internf(ctx, "i%d", d), extent->dtype, span);
        Var *var = var_new(ctx, context_internf(ctx, "v%d", d), extent->dtype, span);
        block.iters[d] = (Iter){var, {expr_int(ctx, extent->dtype, 0), extent}, ITER_SPATIAL, span};
        block.bindings[d] = expr_var(ctx, loops[d]);
        indices[d] = expr_var(ctx, var);
        if (pads && !analyzer_prove_equal(an, extent, from->shape[d]))
            condition = op_and(ctx, condition, op_compare(ctx, EXPR_LT, indices[d], from->shape[d]));
    }
    Region read = region_point(ctx, from, indices), written = region_point(ctx, to, indices);
    block.reads = arena_copy(ctx->arena, &read, sizeof read);
    block.writes = arena_copy(ctx->arena, &written, sizeof written);
    const Expr *value = expr_load(ctx, from, indices, ndim, NULL, span);
    if (pads)
        value = op_if_then_else(ctx, condition, value, einsum_zero(ctx, from->dtype), span);
    block.body = stmt_store(ctx, to, indices, ndim, value, NULL, span);
    const Stmt *stmt = stmt_block(ctx, block, span);
    for (int d = ndim - 1; d >= 0; d--)
        stmt = loops_serial(ctx, loops[d], to->shape[d], stmt, span);
    return stmt;
}

/* REGIONS, COUNT of them, where those of padded buffers are the elements that the block accesses: the text may state more, over the old domain. */
static Region *padded_regions(const Einsum *step, const Region *regions, int count)
{
    Context *ctx = step->sch->ctx;
    Region *result = arena_copy(ctx->arena, regions, sizeof *regions * (size_t)count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < step->operand_count; k++)
            if (result[i].buffer == step->operands[k].padded)
                result[i] = region_point(ctx, step->operands[k].padded, step->operands[k].indices);
    return result;
}

/* The block over its new domain, on the padded buffers, in its loops. */
static const Stmt *pad_block(const Einsum *step)
{
    Context *ctx = step->sch->ctx;
    Subst buffers = {0};
    for (int i = 0; i < step->operand_count; i++)
        if (step->operands[i].padded)
            subst_buffer(ctx, &buffers, step->operands[i].buffer, step->operands[i].padded);
    BlockStmt block = subst_stmt(ctx, &buffers, step->node->stmt)->as.block;
    block.iters = arena_copy(ctx->arena, block.iters, sizeof *block.iters * (size_t)block.iter_count);
    for (int i = 0; i < block.iter_count; i++)
        block.iters[i].domain.extent = step->extents[i];
    block.reads = padded_regions(step, block.reads, block.read_count);
    block.writes = padded_regions(step, block.writes, block.write_count);
    const Stmt *stmt = stmt_block(ctx, block, step->node->stmt->span);
    for (int k = step->loop_count - 1; k >= 0; k--) {
        ForStmt loop = *node_loop(step->loops[k]);
        loop.body = stmt;
        for (int i = 0; i < block.iter_count; i++)
            if (step->padded_loops[i] == step->loops[k])
                loop.extent = step->extents[i];
        stmt = stmt_for(ctx, loop, step->loops[k]->stmt->span);
    }
    return stmt;
}

static const Region *declared_regions(const Einsum *step, bool writes, int *count)
{
    *count = writes ? step->block->write_count : step->block->read_count;
    return writes ? step->block->writes : step->block->reads;
}

/* Adds the padded buffers of what the block declares to read (write) to the allocations of SCOPE, and their copies to STMTS. */
static void add_copies(const Einsum *step, bool writes, BlockStmt *scope, StmtList *stmts, BlockList *symbols)
{
    int count;
    const Region *regions = declared_regions(step, writes, &count);
    for (int r = 0; r < count; r++) {
        const Operand *operand = find_operand(step, regions[r].buffer);
        bool again = false;
        for (int i = 0; operand && operand->padded && i < scope->alloc_count; i++)
            again |= scope->allocs[i] == operand->padded;
        if (!operand || !operand->padded || again || (!writes && operand->written))
            continue;
        Block *symbol;
        scope->allocs[scope->alloc_count++] = operand->padded;
        vec_push(step->sch->ctx->arena, stmts, make_nest(step, operand, !writes, &symbol));
        vec_push(step->sch->ctx->arena, symbols, symbol);
    }
}

typedef struct {
    const Stmt *from, *to;
} Exchange;

static const Stmt *exchange_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Exchange *exchange = rewriter->data;
    return stmt == exchange->from ? exchange->to : rewrite_stmt_children(rewriter, stmt);
}

static bool apply(Einsum *step)
{
    Schedule *sch = step->sch;
    Context *ctx = sch->ctx;
    const TreeNode *scope_node = schedule_scope(sch, step->node);
    const Block *target = step->block->block;
    BlockStmt scope = *node_block(scope_node);
    StmtList stmts = {0};
    BlockList symbols = {0};
    scope.allocs = ARENA_ARRAY(ctx->arena, Buffer *, scope.alloc_count + step->operand_count);
    for (int i = 0; i < scope.alloc_count; i++)
        scope.allocs[i] = node_block(scope_node)->allocs[i];
    add_copies(step, false, &scope, &stmts, &symbols);
    vec_push(ctx->arena, &stmts, pad_block(step));
    add_copies(step, true, &scope, &stmts, &symbols);
    Exchange exchange = {step->top->stmt, stmt_seq(ctx, stmts.data, stmts.count)};
    Rewriter rewriter = {.ctx = ctx, .stmt = exchange_stmt, .data = &exchange};
    scope.body = rewrite_stmt(&rewriter, scope.body);
    sched_replace(sch, scope_node->stmt, stmt_block(ctx, scope, scope_node->stmt->span));
    sch->widened = target; /* by points whose elements lie in the padding of copies */
    for (int i = 0; i < symbols.count; i++)
        if (!check_concurrent_loops_around(sch, schedule_find_block(sch, symbols.data[i])))
            return false;
    return check_concurrent_loops_around(sch, schedule_find_block(sch, target));
}

bool primitive_pad_einsum(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    Einsum step = {.sch = sch, .node = schedule_block(sch, args[0].as.block)};
    if (!step.node || !check_block_has_scope(sch, step.node))
        return false;
    step.block = node_block(step.node);
    if (!find_pattern(&step) || !find_loops(&step) || !find_extents(&step, &args[1]))
        return false;
    if (!step.any)
        return true;
    return make_buffers(&step) && einsum_check(&step) && apply(&step);
}
