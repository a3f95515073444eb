/* Stages that a schedule makes: copies into and out of memory scopes, and partial reductions. */
#include <string.h>

#include "passes/schedule/core/query.h"
#include "script/te_stage.h"

static void set_block(Replay *replay, const Operation *op, Value block)
{
    map_set(replay->script->ctx->arena, &replay->blocks, op, arena_copy(replay->script->ctx->arena, &block, sizeof block));
}

static const BlockStmt *block_stmt(Replay *replay, const Value *block)
{
    const TreeNode *node = schedule_target(value_object(replay->primitives, OBJECT_SCHEDULE)->as.schedule, block);
    return node ? &node->stmt->as.block : NULL;
}

/* The buffer that holds TENSOR now. */
static const Buffer *buffer_of(Replay *replay, const Tensor *tensor)
{
    const Value *block = map_get(&replay->blocks, tensor->op);
    const BlockStmt *stmt = block ? block_stmt(replay, block) : NULL;
    if (stmt && tensor->index < stmt->write_count)
        return stmt->writes[tensor->index].buffer;
    return map_get(&replay->script->stage_buffers, tensor);
}

static bool read_index(Replay *replay, const Value *block, const Buffer *buffer, int64_t *index)
{
    const BlockStmt *stmt = block_stmt(replay, block);
    for (int i = 0; stmt && i < stmt->read_count; i++)
        if (stmt->reads[i].buffer == buffer) {
            *index = i;
            return true;
        }
    return false;
}

/* The loops of BLOCK are those of AXES. */
static bool set_copy_loops(Replay *replay, Value block, const Iter *const *axes, int count, Span span)
{
    Value loops;
    if (!te_replay_call(replay, "get_loops", &block, 1, span, &loops))
        return false;
    for (int i = 0; i < count && count == loops.as.list->count; i++)
        te_replay_set_loop(replay, axes[i], loops.as.list->items[i]);
    return true;
}

bool te_replay_cache_read(Replay *replay, const Note *note)
{
    Script *script = replay->script;
    const Tensor *tensor = te_tensor(*note->values[0]);
    const Buffer *buffer = buffer_of(replay, tensor);
    ValueList one = {.items = (Value *)note->values[2], .count = 1};
    const ValueList *readers = note->values[2]->kind == VALUE_LIST ? note->values[2]->as.list : &one;
    Value *blocks = ARENA_ARRAY(script->ctx->arena, Value, readers->count), copy;
    int64_t index = -1;
    for (int i = 0; i < readers->count; i++) {
        const Operation *op = te_operation_of(readers->items[i]);
        int64_t own;
        if (!op || !te_replay_block(replay, op, note->span, &blocks[i]))
            return op ? false : script_error(script, note->span, "the readers of cache_read are tensors or operations");
        if (!read_index(replay, &blocks[i], buffer, &own))
            return script_error(script, note->span, "'%s' does not read '%s'", op->name, tensor->op->name);
        index = i ? index : own;
    }
    if (!readers->count)
        return script_error(script, note->span, "cache_read needs readers");
    Value arguments[] = {blocks[0], {.kind = VALUE_INT, .as.integer = index}, *note->values[1], script_list(script, blocks, readers->count, false)};
    if (!te_replay_call(replay, "cache_read", arguments, 4, note->span, &copy))
        return false;
    set_block(replay, note->made_op, copy);
    return set_copy_loops(replay, copy, note->made_op->axes, note->made_op->axis_count, note->span);
}

bool te_replay_cache_write(Replay *replay, const Note *note)
{
    Value block, copy;
    const Operation *op = note->op, *made = note->made_op;
    if (!te_replay_block(replay, op, note->span, &block))
        return false;
    if (op->result_count > 1)
        return script_error(replay->script, note->span, "cache_write of an operation with %d results is not there", op->result_count);
    for (int i = 0; i < op->axis_count; i++) {
        const Value *loop = map_get(&replay->loops, op->axes[i]);
        if (loop)
            te_replay_set_loop(replay, made->axes[i], *loop);
    }
    Value arguments[] = {block, {.kind = VALUE_INT}, *note->values[1]};
    if (!te_replay_call(replay, "cache_write", arguments, 3, note->span, &copy))
        return false;
    set_block(replay, made, block);
    set_block(replay, op, copy);
    return set_copy_loops(replay, copy, op->axes, op->axis_count, note->span);
}

/* The axis of OP's stage whose loop LOOP is, or NULL. */
static const Iter *axis_of_loop(const Replay *replay, const Operation *op, const IterList *leaves, Value loop)
{
    for (int i = 0; i < op->axis_count + leaves->count; i++) {
        const Iter *axis = i < op->axis_count ? op->axes[i] : leaves->data[i - op->axis_count];
        const Value *own = map_get(&replay->loops, axis);
        if (own && own->as.loop == loop.as.loop)
            return axis;
    }
    return NULL;
}

/* The axis of the partial sums that stands for AXIS of OP. */
static const Iter *partial_axis(const Note *note, const IterList *leaves, const Iter *factored, const Iter *axis)
{
    const Operation *partial = note->made_op;
    int rest = 0;
    const Value *place = note->values[2];
    int at = place && place->kind == VALUE_INT ? (int)place->as.integer : 0;
    at = at < 0 ? at + partial->axis_count : at;
    if (axis == factored)
        return partial->axes[at];
    for (int i = 0; i < note->op->axis_count; i++)
        if (note->op->axes[i] == axis)
            return partial->axes[i + (i >= at)];
    for (int i = 0; i < leaves->count; i++) {
        if (leaves->data[i] == axis)
            return partial->reduction->axes[rest];
        rest += leaves->data[i] != factored;
    }
    return NULL;
}

bool te_replay_rfactor(Replay *replay, const Note *note)
{
    Value block, before, loop, partial, of_partial, of_block;
    Span span = note->span;
    const Iter *factored = value_object(*note->values[1], OBJECT_AXIS)->as.axis;
    IterList leaves = te_leaf_reductions(replay->script, replay->schedule, note->op);
    if (!te_replay_block(replay, note->op, span, &block) || !te_replay_call(replay, "get_loops", &block, 1, span, &before) ||
        !te_replay_loop(replay, *note->values[1], span, &loop))
        return false;
    int count = before.as.list->count;
    const Iter **axes = ARENA_ARRAY(replay->script->ctx->arena, const Iter *, count);
    for (int i = 0; i < count; i++)
        axes[i] = axis_of_loop(replay, note->op, &leaves, before.as.list->items[i]);
    Value arguments[] = {loop, note->values[2] ? *note->values[2] : (Value){.kind = VALUE_INT}};
    if (!te_replay_call(replay, "rfactor", arguments, 2, span, &partial) || !te_replay_call(replay, "get_loops", &partial, 1, span, &of_partial) ||
        !te_replay_call(replay, "get_loops", &block, 1, span, &of_block))
        return false;
    set_block(replay, note->made_op, partial);
    for (int i = 0, j = 0; i < count; i++) {
        bool reduced = axes[i] && axes[i]->kind == ITER_REDUCE && axes[i] != factored;
        const Iter *there = axes[i] ? partial_axis(note, &leaves, factored, axes[i]) : NULL;
        if (there && i < of_partial.as.list->count)
            te_replay_set_loop(replay, there, of_partial.as.list->items[i]);
        if (reduced || j >= of_block.as.list->count)
            continue;
        const Iter *here = axes[i] == factored ? note->new_op->reduction->axes[0] : axes[i];
        if (here)
            te_replay_set_loop(replay, here, of_block.as.list->items[j]);
        j++;
    }
    return true;
}
