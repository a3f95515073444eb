/* What scripts say of stages, done by the primitives of schedules. Stages are declarations: what is said of a consumer holds when its producers
   are placed, wherever the lines stand. So stages are made first, then each stage is shaped and placed, consumers before producers, and what
   vectorize, unroll, parallel and tensorize ask for comes last. */
#include <string.h>

#include "script/te_stage.h"

bool te_replay_call(Replay *replay, const char *name, const Value *values, int count, Span span, Value *result)
{
    Object method = {.kind = OBJECT_METHOD, .as.method = {replay->primitives.as.script, context_intern(replay->script->ctx, name)}};
    Value *copies = ARENA_ARRAY(replay->script->ctx->arena, Value, count);
    for (int i = 0; i < count; i++) {
        copies[i] = values[i];
        copies[i].span = span;
    }
    Arguments arguments = {.positional = copies, .positional_count = count, .span = span};
    return script_call_method(replay->script, &method, &arguments, result);
}

void te_replay_set_loop(Replay *replay, const Iter *axis, Value loop)
{
    map_set(replay->script->ctx->arena, &replay->loops, axis, arena_copy(replay->script->ctx->arena, &loop, sizeof loop));
}

bool te_replay_loop(Replay *replay, Value value, Span span, Value *loop)
{
    const Object *axis = value_object(value, OBJECT_AXIS);
    const Value *found = axis ? map_get(&replay->loops, axis->as.axis) : NULL;
    if (!found)
        return script_error(replay->script, span, "an axis of a stage that is computed is needed here, not %s",
                            script_type_phrase(replay->script, value));
    *loop = *found;
    return true;
}

/* LOOPS from number FIRST on are those of the axes of OP. */
static void set_axes(Replay *replay, const Operation *op, const ValueList *loops, int first)
{
    int count = loops->count - first;
    for (int i = 0; i < count && count == op->axis_count + (op->reduction ? op->reduction->axis_count : 0); i++) {
        const Iter *axis = i < op->axis_count ? op->axes[i] : op->reduction && i - op->axis_count < op->reduction->axis_count ? op->reduction->axes[i - op->axis_count] : NULL;
        if (axis)
            te_replay_set_loop(replay, axis, loops->items[first + i]);
    }
}

/* The operation whose stage NOTE's operation belongs to: steps that change what a stage computes leave it the same stage. */
static const Operation *stage_of(const Replay *replay, const Operation *op)
{
    for (int i = replay->schedule->notes.count - 1; i >= 0; i--)
        if (replay->schedule->notes.data[i].new_op == op)
            op = replay->schedule->notes.data[i].op;
    return op;
}

bool te_replay_block(Replay *replay, const Operation *op, Span span, Value *block)
{
    op = stage_of(replay, op);
    const Value *known = map_get(&replay->blocks, op);
    if (known) {
        *block = *known;
        return true;
    }
    Script *script = replay->script;
    Value name = {.kind = VALUE_STRING, .as.text = map_get(&script->stage_blocks, op)}, loops;
    if (!name.as.text)
        return script_error(script, span, "the tensor '%s' is not computed for these arguments", op->name);
    if (!te_replay_call(replay, "get_block", &name, 1, span, block) || !te_replay_call(replay, "get_loops", block, 1, span, &loops))
        return false;
    map_set(script->ctx->arena, &replay->blocks, op, arena_copy(script->ctx->arena, block, sizeof *block));
    set_axes(replay, op, loops.as.list, 0);
    return true;
}

/* --- axes --- */

/* LOOP in two, the inner one of FACTOR or the outer one of NPARTS iterations. */
static bool split(Replay *replay, Value loop, const Value *factor, const Value *nparts, Span span, Value *pair)
{
    bool inner = factor && factor->kind != VALUE_NONE;
    if (!inner && !(nparts && nparts->kind != VALUE_NONE))
        return script_error(replay->script, span, "split needs factor= or nparts=");
    Value factors[] = {inner ? value_none() : *nparts, inner ? *factor : value_none()};
    Value arguments[] = {loop, script_list(replay->script, factors, 2, false)};
    return te_replay_call(replay, "split", arguments, 2, span, pair);
}

static bool split_one(Replay *replay, const Note *note)
{
    Value loop, pair;
    if (!te_replay_loop(replay, *note->values[0], note->span, &loop) || !split(replay, loop, note->values[1], note->values[2], note->span, &pair))
        return false;
    for (int i = 0; i < 2; i++)
        te_replay_set_loop(replay, note->made[i], pair.as.list->items[i]);
    return true;
}

static bool tile(Replay *replay, const Note *note)
{
    Value x, y, xs, ys, none;
    if (!te_replay_loop(replay, *note->values[0], note->span, &x) || !te_replay_loop(replay, *note->values[1], note->span, &y) ||
        !split(replay, x, note->values[2], NULL, note->span, &xs) || !split(replay, y, note->values[3], NULL, note->span, &ys))
        return false;
    Value order[] = {xs.as.list->items[0], ys.as.list->items[0], xs.as.list->items[1], ys.as.list->items[1]};
    for (int i = 0; i < 4; i++)
        te_replay_set_loop(replay, note->made[i], order[i]);
    return te_replay_call(replay, "reorder", order, 4, note->span, &none);
}

static bool over_axes(Replay *replay, const Note *note)
{
    Value *loops = ARENA_ARRAY(replay->script->ctx->arena, Value, note->rest.count), result;
    for (int i = 0; i < note->rest.count; i++)
        if (!te_replay_loop(replay, note->rest.items[i], note->span, &loops[i]))
            return false;
    if (!te_replay_call(replay, note->name, loops, note->rest.count, note->span, &result))
        return false;
    if (note->made[0])
        te_replay_set_loop(replay, note->made[0], result);
    return true;
}

/* vectorize(axis) and the like; bind and pragma have a second argument. */
static bool mark_axis(Replay *replay, const Note *note)
{
    Value arguments[3], result;
    if (!te_replay_loop(replay, *note->values[0], note->span, &arguments[0]))
        return false;
    if (note->method == STAGE_PRAGMA) {
        if (note->values[1]->kind != VALUE_STRING)
            return script_error(replay->script, note->span, "the kind of a pragma is a string");
        arguments[1] = (Value){.kind = VALUE_STRING, .as.text = context_internf(replay->script->ctx, "pragma_%s", note->values[1]->as.text)};
        arguments[2] = note->values[2] ? *note->values[2] : (Value){.kind = VALUE_INT, .as.integer = 1};
        return te_replay_call(replay, "annotate", arguments, 3, note->span, &result);
    }
    bool binds = note->method == STAGE_BIND;
    const Object *thread = binds ? value_object(*note->values[1], OBJECT_AXIS) : NULL;
    if (binds)
        arguments[1] = thread ? (Value){.kind = VALUE_STRING, .as.text = thread->as.axis->var->name} : *note->values[1];
    return te_replay_call(replay, note->name, arguments, binds ? 2 : 1, note->span, &result);
}

/* The thread index that NOTE, of bind, binds an axis of reduction to; NULL: an axis of another kind. */
static const Var *reduction_thread(const Note *note)
{
    const Object *axis = value_object(*note->values[0], OBJECT_AXIS), *thread = value_object(*note->values[1], OBJECT_AXIS);
    return axis && thread && axis->as.axis->kind == ITER_REDUCE ? thread->as.axis->var : NULL;
}

/* set_store_predicate(tx.var.equal(0)) of a reduction over the threads of tx: the first one stores the result anyway. Any other predicate
   would leave out elements. */
static bool store_predicate(Replay *replay, const Note *note)
{
    const Expr *predicate = note->values[0]->kind == VALUE_EXPR ? note->values[0]->as.expr : NULL;
    const Var *first = predicate && predicate->kind == EXPR_EQ && predicate->args[0]->kind == EXPR_VAR && expr_is_int(predicate->args[1], 0)
                           ? predicate->args[0]->value.var : NULL;
    for (int i = 0; first && i < replay->schedule->notes.count; i++) {
        const Note *other = &replay->schedule->notes.data[i];
        if (other->method == STAGE_BIND && stage_of(replay, other->op) == stage_of(replay, note->op) && reduction_thread(other) == first)
            return true;
    }
    return script_error(replay->script, note->span, "a store predicate must be that of the first thread, tx.var.equal(0), where the stage binds an axis of its reduction to tx");
}

/* tensorize(axis, intrinsic): what is under the axis; of a reduction the update, with its start before. */
static bool tensorize(Replay *replay, const Note *note)
{
    Value arguments[2], result, block, decompose[2];
    Span span = note->span;
    if (!te_replay_block(replay, note->op, span, &block) || !te_replay_loop(replay, *note->values[0], span, &arguments[0]))
        return false;
    arguments[1] = *note->values[1];
    IterList leaves = te_leaf_reductions(replay->script, replay->schedule, note->op);
    Value loops;
    if (!te_replay_call(replay, "get_loops", &block, 1, span, &loops))
        return false;
    decompose[0] = block;
    decompose[1] = arguments[0];
    for (int i = loops.as.list->count - 1; i >= 0; i--)
        for (int j = 0; j < leaves.count; j++) {
            const Value *reduced = map_get(&replay->loops, leaves.data[j]);
            bool outside = false;
            for (int k = i + 1; k < loops.as.list->count; k++)
                outside |= loops.as.list->items[k].as.loop == arguments[0].as.loop;
            if (outside && reduced && reduced->as.loop == loops.as.list->items[i].as.loop)
                decompose[1] = loops.as.list->items[i];
        }
    if (leaves.count && !te_replay_call(replay, "decompose_reduction", decompose, 2, span, &result))
        return false;
    return te_replay_call(replay, "tensorize", arguments, 2, span, &result);
}

/* --- stages --- */

static bool has_own_axes(const Replay *replay, const Operation *stage)
{
    bool any = false;
    for (int i = 0; i < replay->schedule->notes.count; i++) {
        const Note *note = &replay->schedule->notes.data[i];
        bool of_axes = note->method <= STAGE_PRAGMA || note->method == STAGE_TENSORIZE || note->method == STAGE_RFACTOR;
        const Operation *parent = note->method == STAGE_COMPUTE_AT ? te_operation_of(*note->values[0]) : NULL;
        any |= (of_axes && stage_of(replay, note->op) == stage) || (parent && stage_of(replay, parent) == stage);
    }
    return any;
}

/* What the stage computes once the stages are made. */
static const Operation *computed(const Replay *replay, const Operation *stage)
{
    for (int i = 0; i < replay->schedule->notes.count; i++) {
        const Note *note = &replay->schedule->notes.data[i];
        if (note->method == STAGE_CACHE_WRITE && note->op == stage)
            return note->new_op;
    }
    return stage;
}

static bool compute_at(Replay *replay, const Operation *stage, const Note *note)
{
    const Operation *parent = te_operation_of(*note->values[0]);
    Value other, arguments[3], loops, result;
    if (!parent)
        return script_error(replay->script, note->span, "compute_at needs a stage");
    if (!te_replay_block(replay, parent, note->span, &other) || !te_replay_block(replay, stage, note->span, &arguments[0]) ||
        !te_replay_loop(replay, *note->values[1], note->span, &arguments[1]))
        return false;
    arguments[2] = (Value){.kind = VALUE_BOOL, .as.boolean = has_own_axes(replay, stage)};
    if (!te_replay_call(replay, "compute_at", arguments, arguments[2].as.boolean ? 3 : 2, note->span, &result) ||
        !te_replay_call(replay, "get_loops", arguments, 1, note->span, &loops))
        return false;
    int outer = 0;
    for (int i = 0; i < loops.as.list->count; i++)
        if (loops.as.list->items[i].as.loop == arguments[1].as.loop)
            outer = i + 1;
    set_axes(replay, computed(replay, stage), loops.as.list, outer);
    return true;
}

static bool of_block(Replay *replay, const Note *note)
{
    Value arguments[5], result;
    if (!te_replay_block(replay, note->op, note->span, &arguments[0]))
        return false;
    if (note->method == STAGE_COMPUTE_INLINE)
        return te_replay_call(replay, "compute_inline", arguments, 1, note->span, &result);
    arguments[1] = (Value){.kind = VALUE_INT};
    if (note->method == STAGE_SET_SCOPE) {
        arguments[2] = *note->values[0];
        return te_replay_call(replay, "set_scope", arguments, 3, note->span, &result);
    }
    const Object *axis = value_object(*note->values[0], OBJECT_AXIS);
    int position = -1;
    for (int i = 0; axis && i < note->op->axis_count; i++)
        if (note->op->axes[i] == axis->as.axis)
            position = i;
    if (position < 0)
        return script_error(replay->script, note->span, "storage_align takes an axis of the stage's tensor");
    arguments[2] = (Value){.kind = VALUE_INT, .as.integer = position};
    arguments[3] = *note->values[1];
    arguments[4] = *note->values[2];
    return te_replay_call(replay, "storage_align", arguments, 5, note->span, &result);
}

typedef enum { PHASE_MAKE, PHASE_SHAPE, PHASE_MARK } Phase;

static Phase phase_of(StageMethod method)
{
    switch (method) {
    case STAGE_CACHE_READ:
    case STAGE_CACHE_WRITE:
    case STAGE_SET_SCOPE: return PHASE_MAKE;
    case STAGE_VECTORIZE:
    case STAGE_UNROLL:
    case STAGE_PARALLEL:
    case STAGE_STORE_PREDICATE:
    case STAGE_TENSORIZE: return PHASE_MARK;
    default: return PHASE_SHAPE;
    }
}

static bool do_note(Replay *replay, const Note *note)
{
    Value block;
    bool makes = note->method == STAGE_CACHE_READ;
    if (!makes && !te_replay_block(replay, note->op, note->span, &block))
        return false;
    switch (note->method) {
    case STAGE_SPLIT: return split_one(replay, note);
    case STAGE_TILE: return tile(replay, note);
    case STAGE_FUSE:
    case STAGE_REORDER: return over_axes(replay, note);
    case STAGE_BIND:
    case STAGE_VECTORIZE:
    case STAGE_UNROLL:
    case STAGE_PARALLEL:
    case STAGE_PRAGMA: return mark_axis(replay, note);
    case STAGE_COMPUTE_AT: /* done when the stage is placed */
    case STAGE_COMPUTE_ROOT: return true;
    case STAGE_COMPUTE_INLINE:
    case STAGE_SET_SCOPE:
    case STAGE_STORAGE_ALIGN: return of_block(replay, note);
    case STAGE_TENSORIZE: return tensorize(replay, note);
    case STAGE_STORE_PREDICATE: return store_predicate(replay, note);
    case STAGE_CACHE_READ: return te_replay_cache_read(replay, note);
    case STAGE_CACHE_WRITE: return te_replay_cache_write(replay, note);
    case STAGE_RFACTOR: return te_replay_rfactor(replay, note);
    }
    return true;
}

/* Where STAGE is placed: the last thing that was said of it; NULL: where it is. */
static const Note *placement(const Replay *replay, const Operation *stage)
{
    const Note *last = NULL;
    for (int i = 0; i < replay->schedule->notes.count; i++) {
        const Note *note = &replay->schedule->notes.data[i];
        bool places = note->method == STAGE_COMPUTE_AT || note->method == STAGE_COMPUTE_ROOT || note->method == STAGE_COMPUTE_INLINE;
        if (places && stage_of(replay, note->op) == stage)
            last = note;
    }
    return last;
}

static bool shape_stage(Replay *replay, const Operation *stage)
{
    const Note *placed = placement(replay, stage);
    if (placed && placed->method == STAGE_COMPUTE_AT && !compute_at(replay, stage, placed))
        return false;
    for (int i = 0; i < replay->schedule->notes.count; i++) {
        const Note *note = &replay->schedule->notes.data[i];
        bool moot = note->method == STAGE_COMPUTE_INLINE && note != placed;
        if (phase_of(note->method) == PHASE_SHAPE && !moot && stage_of(replay, note->op) == stage && !do_note(replay, note))
            return false;
    }
    return true;
}

static void insert(OperationList *list, Arena *arena, int at, const Operation *op)
{
    vec_push(arena, list, op);
    for (int i = list->count - 1; i > at; i--)
        list->data[i] = list->data[i - 1];
    list->data[at] = op;
}

/* The stages, each after those that it reads. */
static OperationList all_stages(const Replay *replay, const OperationList *order)
{
    OperationList stages = {0};
    Arena *arena = replay->script->ctx->arena;
    for (int i = 0; i < order->count; i++)
        vec_push(arena, &stages, order->data[i]);
    for (int i = 0; i < replay->schedule->notes.count; i++) {
        const Note *note = &replay->schedule->notes.data[i];
        for (int j = 0; note->made_op && j < stages.count; j++)
            if (stages.data[j] == stage_of(replay, note->op)) {
                insert(&stages, arena, j + (note->method == STAGE_CACHE_READ), note->made_op);
                break;
            }
    }
    return stages;
}

static bool do_phase(Replay *replay, Phase phase)
{
    for (int i = 0; i < replay->schedule->notes.count; i++) {
        const Note *note = &replay->schedule->notes.data[i];
        if (phase_of(note->method) == phase && !do_note(replay, note))
            return false;
    }
    return true;
}

/* Every note is of a stage that the arguments need. */
static bool check_stages(Replay *replay, const OperationList *stages)
{
    for (int i = 0; i < replay->schedule->notes.count; i++) {
        const Note *note = &replay->schedule->notes.data[i];
        bool found = false;
        for (int j = 0; j < stages->count; j++)
            found |= stages->data[j] == stage_of(replay, note->op);
        if (!found)
            return script_error(replay->script, note->span, "the tensor '%s' is not computed for these arguments", note->op->name);
    }
    return true;
}

bool te_replay(Replay *replay, const OperationList *order)
{
    OperationList stages = all_stages(replay, order);
    if (!check_stages(replay, &stages) || !do_phase(replay, PHASE_MAKE))
        return false;
    for (int i = stages.count - 1; i >= 0; i--)
        if (!shape_stage(replay, stages.data[i]))
            return false;
    return do_phase(replay, PHASE_MARK);
}
