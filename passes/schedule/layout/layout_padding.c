/* Filling the padding that transform_layout makes; see transform_layout.h.

   Nothing of the program reads padding, for every access goes through the map. So it may be filled at any time; what must hold is that the block
   or choice that fills it writes nothing else.

   A nest over the old elements becomes one over the new ones:
     for i in range(14): B[i] = v(i)      for axis0, axis1 in T.grid(4, 4): B[axis0, axis1] = T.if_then_else(axis0 == 3 and 2 <= axis1, pad,
                                              v(axis0 * 4 + axis1))
   The instances that fill no padding are those that there were, and their new order must be allowed. */
#include "ir/walk.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/layout/transform_layout.h"

/* --- A block over all of the new buffer --- */

static const Expr *at_indices(Context *ctx, const Expr *expr, Var *const *vars, Var *const *axes, int count)
{
    Subst subst = {0};
    for (int i = 0; i < count; i++)
        subst_var(ctx, &subst, vars[i], expr_var(ctx, axes[i]));
    return subst_expr(ctx, &subst, expr);
}

static const Expr *pad_value_at(const LayoutTransform *transform, Var *const *axes)
{
    Context *ctx = transform->sch->ctx;
    int count = transform->map.output_count;
    if (!transform->pad_vars)
        return transform->pad_value;
    return analyzer_simplify(analyzer_new(ctx), at_indices(ctx, transform->pad_value, transform->pad_vars, axes, count));
}

/* The loops axis0, axis1, ... over the new buffer, and the axes v_axis0, v_axis1, ... of a block that are bound to them. */
typedef struct {
    Var **loops, **axes;
} NewAxes;

static NewAxes make_axes(const LayoutTransform *transform, BlockStmt *block)
{
    Context *ctx = transform->sch->ctx;
    int count = transform->map.output_count;
    Span span = transform->sch->call_span;
    NewAxes made = {ARENA_ARRAY(ctx->arena, Var *, count), ARENA_ARRAY(ctx->arena, Var *, count)};
    block->iter_count = count;
    block->iters = ARENA_ARRAY(ctx->arena, Iter, count);
    block->bindings = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++) {
        Var *loop = made.loops[i] = var_clone(ctx, transform->inverse.vars[i], transform->inverse.vars[i]->name);
        made.axes[i] = var_new(ctx, context_internf(ctx, "v_%s", loop->name), loop->dtype, span);
        Range domain = {expr_int(ctx, loop->dtype, 0), op_cast(ctx, loop->dtype, transform->new_buffer->shape[i])};
        block->iters[i] = (Iter){made.axes[i], domain, ITER_SPATIAL, span};
        block->bindings[i] = expr_var(ctx, loop);
    }
    return made;
}

static const Stmt *loops_over_new(const LayoutTransform *transform, Var *const *loops, const Stmt *stmt)
{
    Context *ctx = transform->sch->ctx;
    for (int i = transform->map.output_count - 1; i >= 0; i--) {
        const Expr *extent = op_cast(ctx, loops[i]->dtype, transform->new_buffer->shape[i]);
        stmt = loops_serial(ctx, loops[i], extent, stmt, transform->sch->call_span);
    }
    return stmt;
}

static const Expr **as_indices(Context *ctx, Var *const *axes, int count)
{
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++)
        indices[i] = expr_var(ctx, axes[i]);
    return indices;
}

/* A nest that writes the padding alone, or, where nothing WRITES the buffer, says what is in it. */
static const Stmt *padding_nest(const LayoutTransform *transform, bool writes, Block *symbol)
{
    Context *ctx = transform->sch->ctx;
    Span span = transform->sch->call_span;
    Buffer *buffer = transform->new_buffer;
    BlockStmt block = {.block = symbol, .predicate = expr_bool(ctx, true)};
    NewAxes made = make_axes(transform, &block);
    const Expr **indices = as_indices(ctx, made.axes, buffer->ndim), *value = pad_value_at(transform, made.axes);
    Region region = region_point(ctx, buffer, indices);
    *(writes ? &block.writes : &block.reads) = arena_copy(ctx->arena, &region, sizeof region);
    *(writes ? &block.write_count : &block.read_count) = 1;
    if (writes) {
        block.predicate = at_indices(ctx, transform->inverse.padding, transform->inverse.vars, made.loops, buffer->ndim);
        block.body = stmt_store(ctx, buffer, indices, buffer->ndim, value, NULL, span);
    } else {
        const Expr *padding = at_indices(ctx, transform->inverse.padding, transform->inverse.vars, made.axes, buffer->ndim);
        const Expr *holds = op_compare(ctx, EXPR_EQ, expr_load(ctx, buffer, indices, buffer->ndim, NULL, span), value);
        const Expr *assumed = op_or(ctx, op_not(ctx, padding, span), holds);
        block.body = stmt_evaluate(ctx, expr_call(ctx, assumed->dtype, OP_ASSUME, &assumed, 1, span), span);
    }
    return loops_over_new(transform, made.loops, stmt_block(ctx, block, span));
}

/* --- The writes of the buffer --- */

/* A store to the buffer, and the loops that its indices go over. */
typedef struct {
    const TreeNode *store, *block; /* the innermost block around; NULL: none in the scope */
    const TreeNode **loops;        /* from the first to the last loop that the indices depend on, all those around the store in between */
    int loop_count;
    bool row_major; /* the indices are those loops, in order, each over its dimension */
} Write;

/* INDEX of the store at NODE in terms of loops: the bindings of blocks and the values of lets put in, up to SCOPE. */
static const Expr *index_in_loops(Schedule *sch, const TreeNode *scope, const TreeNode *node, const Expr *index)
{
    Context *ctx = sch->ctx;
    for (const TreeNode *up = schedule_parent(sch, node); up && up != scope; up = schedule_parent(sch, up)) {
        Subst subst = {0};
        const Stmt *stmt = up->stmt;
        if (stmt->kind == STMT_LET)
            subst_var(ctx, &subst, stmt->as.let.var, stmt->as.let.value);
        for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++)
            subst_var(ctx, &subst, stmt->as.block.iters[i].var, stmt->as.block.bindings[i]);
        index = subst_expr(ctx, &subst, index);
    }
    return index;
}

static bool is_row_major(const Write *write, const Buffer *buffer, const Expr *const *indices)
{
    if (!write->loop_count || write->loop_count != buffer->ndim)
        return false;
    for (int i = 0; i < buffer->ndim; i++) {
        const ForStmt *loop = node_loop(write->loops[i]);
        if (!expr_is_var(indices[i], loop->var) || !expr_is_int(loop->min, 0) || !expr_equal(loop->extent, buffer->shape[i]) ||
            loop->kind != FOR_SERIAL || loop->annotations.count)
            return false;
    }
    return true;
}

static Write describe_write(Schedule *sch, const TreeNode *scope, const TreeNode *node)
{
    Write write = {.store = node};
    VEC(const TreeNode *) around = {0}; /* innermost first */
    const Buffer *buffer = node->stmt->as.store.buffer;
    const Expr **indices = ARENA_ARRAY(sch->ctx->arena, const Expr *, buffer->ndim);
    for (int d = 0; d < buffer->ndim; d++)
        indices[d] = index_in_loops(sch, scope, node, node->stmt->as.store.indices[d]);
    for (const TreeNode *up = schedule_parent(sch, node); up && up != scope; up = schedule_parent(sch, up)) {
        if (up->stmt->kind == STMT_FOR)
            vec_push(sch->ctx->arena, &around, up);
        else if (up->stmt->kind == STMT_BLOCK && !write.block)
            write.block = up;
    }
    int first = -1, last = around.count;
    for (int i = 0; i < around.count; i++)
        for (int d = 0; d < buffer->ndim; d++)
            if (expr_uses_var(indices[d], node_loop(around.data[i])->var)) {
                first = i;
                last = i < last ? i : last;
            }
    write.loop_count = first < 0 ? 0 : first - last + 1;
    write.loops = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, write.loop_count);
    for (int i = 0; i < write.loop_count; i++)
        write.loops[i] = around.data[first - i];
    write.row_major = is_row_major(&write, buffer, indices);
    return write;
}

typedef VEC(Write) WriteList;

static WriteList find_writes(Schedule *sch, const TreeNode *scope, const Buffer *buffer)
{
    WriteList writes = {0};
    for (int i = schedule_node_index(sch, scope); i < scope->end; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (node->stmt->kind == STMT_STORE && node->stmt->as.store.buffer == buffer) {
            Write write = describe_write(sch, scope, node);
            vec_push(sch->ctx->arena, &writes, write);
        }
    }
    return writes;
}

/* --- A nest over the new elements --- */

/* The position among the axes of BLOCK from which on they are the indices of STORE, in order and all spatial; -1: there is none. */
static int position_of_indices(const BlockStmt *block, const Stmt *store)
{
    int count = store->as.store.index_count;
    for (int start = 0; start + count <= block->iter_count; start++) {
        bool fits = true;
        for (int i = 0; i < count && fits; i++)
            fits = expr_is_var(store->as.store.indices[i], block->iters[start + i].var) && block->iters[start + i].kind == ITER_SPATIAL;
        if (fits)
            return start;
    }
    return -1;
}

static bool same_indices(const Stmt *a, const Stmt *b)
{
    for (int i = 0; i < a->as.store.index_count; i++)
        if (!expr_equal(a->as.store.indices[i], b->as.store.indices[i]))
            return false;
    return true;
}

static bool uses_loops(const Write *write, const Expr *expr)
{
    bool uses = false;
    for (int i = 0; i < write->loop_count; i++)
        uses |= expr_uses_var(expr, node_loop(write->loops[i])->var);
    return uses;
}

/* The loops over the buffer say where it is written and nothing else: not the extent of a loop inside, nor other axes of the block than the
   COUNT ones from POSITION on. */
static bool loops_only_index(Schedule *sch, const Write *write, int position, int count)
{
    const BlockStmt *block = node_block(write->block);
    for (const TreeNode *up = schedule_parent(sch, write->block); up != write->loops[write->loop_count - 1]; up = schedule_parent(sch, up))
        if (uses_loops(write, node_loop(up)->min) || uses_loops(write, node_loop(up)->extent))
            return false;
    for (int i = 0; i < block->iter_count; i++) {
        bool other = i < position || i >= position + count;
        const Iter *iter = &block->iters[i];
        if (other && (uses_loops(write, iter->domain.min) || uses_loops(write, iter->domain.extent) || uses_loops(write, block->bindings[i])))
            return false;
    }
    return true;
}

/* The nest of WRITE only stores to the buffer, in one block that always runs. The indices of the store are the axes of that block. *POSITION: of
   the first of these axes. */
static bool can_replace(Schedule *sch, const Write *write, int *position)
{
    if (!write->row_major || !write->block || !schedule_is_under(sch, write->block, write->loops[write->loop_count - 1]))
        return false;
    for (const TreeNode *node = write->block; node != write->loops[0];) {
        const TreeNode *parent = schedule_parent(sch, node);
        if (parent->stmt->kind != STMT_FOR || (parent != write->loops[0] && parent->stmt->as.loop.kind == FOR_THREAD))
            return false;
        node = parent;
    }
    const BlockStmt *block = node_block(write->block);
    *position = position_of_indices(block, write->store->stmt);
    if (*position < 0 || !loops_only_index(sch, write, *position, write->loop_count) || !expr_is_int(block->predicate, 1) || block->alloc_count || block->match_count)
        return false;
    for (int i = schedule_node_index(sch, write->block) + 1; i < write->block->end; i++) {
        const Stmt *stmt = schedule_node_at(sch, i)->stmt;
        bool store = stmt->kind == STMT_STORE && stmt->as.store.buffer == write->store->stmt->as.store.buffer;
        if (stmt->kind != STMT_FOR && !(store && same_indices(stmt, write->store->stmt)))
            return false;
    }
    return true;
}

typedef struct {
    const LayoutTransform *transform;
    const Expr *padding; /* over the new axes; NULL: stores stay what they are */
    const Expr **indices, *pad_value;
} Choice;

static const Stmt *choose_value(Rewriter *rewriter, const Stmt *stmt)
{
    const Choice *choice = rewriter->data;
    if (stmt->kind != STMT_STORE)
        return rewrite_stmt_children(rewriter, stmt);
    Context *ctx = rewriter->ctx;
    Buffer *buffer = choice->transform->new_buffer;
    const Expr *value = op_if_then_else(ctx, choice->padding, choice->pad_value, stmt->as.store.value, stmt->span);
    return stmt_store(ctx, buffer, choice->indices, buffer->ndim, value, NULL, stmt->span);
}

/* The block of WRITE over the axes of the new buffer, which are AXES, at POSITION among its own; bound as NEW_AXES says. */
static BlockStmt block_over_new(const LayoutTransform *transform, const Write *write, int position, const BlockStmt *new_axes, Var *const *axes)
{
    Context *ctx = transform->sch->ctx;
    const BlockStmt *old = node_block(write->block);
    int old_count = transform->map.input_count, new_count = transform->map.output_count, tail = position + old_count;
    Subst subst = {0};
    for (int i = 0; i < old_count; i++) {
        const Expr *value = at_indices(ctx, transform->inverse.values[i], transform->inverse.vars, axes, new_count);
        const Var *axis = old->iters[position + i].var;
        subst_var(ctx, &subst, axis, op_cast(ctx, axis->dtype, value));
    }
    BlockStmt block = subst_stmt(ctx, &subst, write->block->stmt)->as.block;
    Iter *iters = ARENA_ARRAY(ctx->arena, Iter, old->iter_count + new_count);
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, old->iter_count + new_count);
    int count = 0;
    for (int i = 0; i < position; i++, count++)
        iters[count] = old->iters[i], bindings[count] = old->bindings[i];
    for (int i = 0; i < new_count; i++, count++)
        iters[count] = new_axes->iters[i], bindings[count] = new_axes->bindings[i];
    for (int i = tail; i < old->iter_count; i++, count++)
        iters[count] = old->iters[i], bindings[count] = old->bindings[i];
    block.iters = iters;
    block.bindings = bindings;
    block.iter_count = count;
    return block;
}

/* The loops of the nest inside of those over the buffer, around STMT. */
static const Stmt *inner_loops(const LayoutTransform *transform, const Write *write, const Stmt *stmt)
{
    Schedule *sch = transform->sch;
    for (const TreeNode *up = schedule_parent(sch, write->block); up != write->loops[write->loop_count - 1]; up = schedule_parent(sch, up))
        stmt = stmt_with_body(sch->ctx, up->stmt, stmt);
    return stmt;
}

/* BLOCK with its axes from POSITION on bound to what the map makes of the old loops, in these. */
static const Stmt *old_nest(const LayoutTransform *transform, const Write *write, int position, BlockStmt block)
{
    Context *ctx = transform->sch->ctx;
    const Expr **loops = ARENA_ARRAY(ctx->arena, const Expr *, write->loop_count);
    for (int i = 0; i < write->loop_count; i++)
        loops[i] = expr_var(ctx, node_loop(write->loops[i])->var);
    const Expr **mapped = index_map_apply(analyzer_new(ctx), &transform->map, loops);
    block.bindings = arena_copy(ctx->arena, block.bindings, sizeof *block.bindings * (size_t)block.iter_count);
    for (int i = 0; i < transform->map.output_count; i++)
        block.bindings[position + i] = mapped[i];
    const Stmt *stmt = inner_loops(transform, write, stmt_block(ctx, block, write->block->stmt->span));
    for (int i = write->loop_count - 1; i >= 0; i--)
        stmt = stmt_with_body(ctx, write->loops[i]->stmt, stmt);
    return stmt;
}

/* Puts the nest of WRITE over the elements of the new buffer. The same block, in the old loops and in the new ones without the padding, must
   compute the same in both orders. False after a refusal. */
static bool replace_nest(LayoutTransform *transform, const Write *write, int position)
{
    Schedule *sch = transform->sch;
    Context *ctx = sch->ctx;
    const Stmt *nest = write->loops[0]->stmt;
    BlockStmt axes_block = {0};
    NewAxes made = make_axes(transform, &axes_block);
    int count = transform->map.output_count;
    const Expr *padding = at_indices(ctx, transform->inverse.padding, transform->inverse.vars, made.axes, count);
    BlockStmt block = block_over_new(transform, write, position, &axes_block, made.axes);
    Span span = write->block->stmt->span;

    const Stmt *in_old = old_nest(transform, write, position, block);
    BlockStmt guarded = block;
    guarded.predicate = op_not(ctx, at_indices(ctx, transform->inverse.padding, transform->inverse.vars, made.loops, count), span);
    const Stmt *in_new = loops_over_new(transform, made.loops, inner_loops(transform, write, stmt_block(ctx, guarded, span)));

    Choice choice = {transform, padding, as_indices(ctx, made.axes, count), pad_value_at(transform, made.axes)};
    Rewriter rewriter = {.ctx = ctx, .stmt = choose_value, .data = &choice};
    block.body = rewrite_stmt(&rewriter, block.body);
    if (block.init)
        block.init = rewrite_stmt(&rewriter, block.init);
    const Stmt *result = loops_over_new(transform, made.loops, inner_loops(transform, write, stmt_block(ctx, block, span)));

    sched_replace(sch, nest, in_old);
    const Func *before = schedule_func(sch);
    sched_replace(sch, in_old, in_new);
    if (!check_order_is_kept(sch, before, in_old, in_new, NULL))
        return false;
    sched_replace(sch, in_new, result);
    return true;
}

/* --- All together --- */

/* STMT stands beside ANCHOR, before or AFTER it. */
static void insert_beside(Schedule *sch, const Stmt *anchor, const Stmt *stmt, bool after)
{
    const Stmt *items[] = {after ? anchor : stmt, after ? stmt : anchor};
    sched_replace(sch, anchor, stmt_seq(sch->ctx, items, 2));
}

/* The statement that defines the buffer, as it is now: the function's body, or the block that SCOPE was. */
static const Stmt *current_scope(Schedule *sch, bool whole, const Block *block)
{
    return whole ? schedule_func(sch)->body : schedule_find_block(sch, block)->stmt;
}

static void put_beside(LayoutTransform *transform, const Stmt *anchor, bool writes, Block **added)
{
    Schedule *sch = transform->sch;
    const char *kind = writes ? "padding" : "assumptions";
    Str name = context_internf(sch->ctx, "buffer_%s_%s", transform->new_buffer->name, kind);
    *added = block_new(sch->ctx, schedule_fresh_block_name(sch, name), sch->call_span);
    insert_beside(sch, anchor, padding_nest(transform, writes, *added), writes);
}

const Stmt *layout_fill_padding(LayoutTransform *transform, const Stmt *scope, Block **added)
{
    Schedule *sch = transform->sch;
    bool whole = scope == schedule_func(sch)->body;
    if (scope->kind != STMT_BLOCK) {
        sched_refuse(sch, "the function has no root block, in which the padding of '%s' could be filled", transform->old_buffer->name);
        return NULL;
    }
    const Block *symbol = scope->as.block.block;
    const TreeNode *node = schedule_find_stmt(sch, scope);
    WriteList writes = find_writes(sch, node, transform->old_buffer);
    if (!writes.count) {
        put_beside(transform, scope->as.block.body, false, added);
        return current_scope(sch, whole, symbol);
    }
    bool replaced = false;
    int position;
    for (int i = 0; i < writes.count; i++) {
        if (!can_replace(sch, &writes.data[i], &position))
            continue;
        if (!replace_nest(transform, &writes.data[i], position))
            return NULL;
        replaced = true;
        writes = find_writes(sch, schedule_find_block(sch, symbol), transform->old_buffer); /* those that are left */
        i = -1;
    }
    if (!replaced) {
        const Write *last = &writes.data[writes.count - 1];
        put_beside(transform, (last->loop_count ? last->loops[0] : last->block ? last->block : last->store)->stmt, true, added);
    }
    return current_scope(sch, whole, symbol);
}
