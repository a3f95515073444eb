/* te.create_schedule: stages as a thin layer on schedules of prim_funcs. What a script says of the stages is noted, and done by the primitives
   of the same meaning when tvm.lower makes the function, as only its arguments tell which tensors are parameters. */
#include <string.h>

#include "script/te_stage.h"

static const struct {
    const char *name, *signature; /* "*": any number of axes */
    int makes;
} methods[] = {
    [STAGE_SPLIT] = {"split", "parent factor? nparts?", 2},
    [STAGE_TILE] = {"tile", "x_parent y_parent x_factor y_factor", 4},
    [STAGE_FUSE] = {"fuse", "*", 1},
    [STAGE_REORDER] = {"reorder", "*", 0},
    [STAGE_BIND] = {"bind", "ivar thread_ivar", 0},
    [STAGE_VECTORIZE] = {"vectorize", "var", 0},
    [STAGE_UNROLL] = {"unroll", "var", 0},
    [STAGE_PARALLEL] = {"parallel", "var", 0},
    [STAGE_PRAGMA] = {"pragma", "var pragma_type pragma_value?", 0},
    [STAGE_COMPUTE_AT] = {"compute_at", "parent scope", 0},
    [STAGE_COMPUTE_INLINE] = {"compute_inline", "", 0},
    [STAGE_COMPUTE_ROOT] = {"compute_root", "", 0},
    [STAGE_SET_SCOPE] = {"set_scope", "scope", 0},
    [STAGE_STORAGE_ALIGN] = {"storage_align", "axis factor offset", 0},
    [STAGE_TENSORIZE] = {"tensorize", "var tensor_intrin", 0},
    [STAGE_STORE_PREDICATE] = {"set_store_predicate", "predicate", 0},
};
enum { METHOD_COUNT = sizeof methods / sizeof *methods };

static const struct {
    const char *name, *signature;
} schedule_methods[] = {
    {"cache_read", "tensor scope readers"},
    {"cache_write", "tensor scope"},
    {"rfactor", "tensor axis factor_axis?"},
    {"normalize", ""},
};
enum { SCHEDULE_METHOD_COUNT = sizeof schedule_methods / sizeof *schedule_methods };

static int method_index(const char *name)
{
    for (int i = 0; i < METHOD_COUNT; i++)
        if (!strcmp(methods[i].name, name))
            return i;
    return -1;
}

bool te_stage_has(const char *name)
{
    return method_index(name) >= 0;
}

static int schedule_method_index(const char *name)
{
    for (int i = 0; i < SCHEDULE_METHOD_COUNT; i++)
        if (!strcmp(schedule_methods[i].name, name))
            return i;
    return -1;
}

bool te_stages_have(const char *name)
{
    return schedule_method_index(name) >= 0;
}

const Operation *te_operation_of(Value value)
{
    const Tensor *tensor = te_tensor(value);
    const Object *operation = value_object(value, OBJECT_OPERATION), *stage = value_object(value, OBJECT_STAGE);
    return tensor ? tensor->op : operation ? operation->as.operation : stage ? stage->as.stage.op : NULL;
}

static const Operation *current(const StageSchedule *schedule, const Operation *op)
{
    for (const Operation *now; (now = map_get(&schedule->current, op)) != NULL;)
        op = now;
    return op;
}

bool te_create_schedule(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    if (!te_bind(script, "te.create_schedule", arguments, "ops", values))
        return false;
    ValueList one = {.items = (Value *)values[0], .count = 1};
    const ValueList *list = values[0]->kind == VALUE_LIST ? values[0]->as.list : &one;
    StageSchedule *schedule = ARENA_NEW(script->ctx->arena, StageSchedule);
    schedule->outputs = ARENA_ARRAY(script->ctx->arena, Value, list->count);
    schedule->output_count = list->count;
    for (int i = 0; i < list->count; i++) {
        const Operation *op = te_operation_of(list->items[i]);
        if (!op)
            return script_error(script, arguments->span, "te.create_schedule takes operations, such as C.op, not %s",
                                script_type_phrase(script, list->items[i]));
        schedule->outputs[i] = te_tensor_value(script, op->results[0]);
    }
    *result = script_object(script, (Object){.kind = OBJECT_STAGES, .as.stages = schedule});
    return true;
}

bool te_stage(Script *script, const Object *stages, Value key, Span span, Value *result)
{
    const Operation *op = te_operation_of(key);
    if (!op || op->kind != OPERATION_COMPUTE)
        return script_error(script, span, "a stage is that of a tensor that te.compute made, not of %s", script_type_phrase(script, key));
    *result = script_object(script, (Object){.kind = OBJECT_STAGE, .as.stage = {stages->as.stages, current(stages->as.stages, op)}});
    return true;
}

/* How an axis that METHOD makes of PARENTS is called: i_outer, i_inner, i_j_fused. */
static Str made_name(Script *script, StageMethod method, const Value *const *parents, const ValueList *rest, int index)
{
    Str all = "";
    if (method == STAGE_FUSE) {
        for (int i = 0; i < rest->count; i++) {
            const Object *axis = value_object(rest->items[i], OBJECT_AXIS);
            all = context_internf(script->ctx, "%s%s_", all, axis ? axis->as.axis->var->name : "axis");
        }
        return context_internf(script->ctx, "%sfused", all);
    }
    const Object *axis = value_object(*parents[method == STAGE_TILE ? index % 2 : 0], OBJECT_AXIS);
    bool outer = index < (method == STAGE_TILE ? 2 : 1);
    return context_internf(script->ctx, "%s_%s", axis ? axis->as.axis->var->name : "axis", outer ? "outer" : "inner");
}

static Iter *new_axis(Script *script, Str name, Range domain, IterKind kind, Span span)
{
    Iter *axis = ARENA_NEW(script->ctx->arena, Iter);
    *axis = (Iter){var_new(script->ctx, name, domain.extent->dtype, span), domain, kind, span};
    return axis;
}

bool te_stage_call(Script *script, const Object *stage, const char *name, const Arguments *arguments, Value *result)
{
    Arena *arena = script->ctx->arena;
    int index = method_index(name);
    bool any = !strcmp(methods[index].signature, "*");
    Note note = {.method = (StageMethod)index, .name = methods[index].name, .op = stage->as.stage.op, .span = arguments->span};
    const Value **values = ARENA_ARRAY(arena, const Value *, 8);
    if (!any && !te_bind(script, name, arguments, methods[index].signature, values))
        return false;
    note.values = values;
    bool one_list = any && arguments->positional_count == 1 && arguments->positional[0].kind == VALUE_LIST;
    if (any)
        note.rest = one_list ? *arguments->positional[0].as.list
                             : (ValueList){.items = arguments->positional, .count = arguments->positional_count};
    const Object *parent = any ? (note.rest.count ? value_object(note.rest.items[0], OBJECT_AXIS) : NULL)
                               : methods[index].makes ? value_object(*values[0], OBJECT_AXIS) : NULL;
    const Expr *zero = expr_int(script->ctx, DTYPE_INT32, 0);
    Value made[4];
    for (int i = 0; i < methods[index].makes; i++) {
        Iter *axis = new_axis(script, made_name(script, note.method, values, &note.rest, i), (Range){zero, zero}, parent ? parent->as.axis->kind : ITER_SPATIAL, arguments->span);
        note.made[i] = axis;
        made[i] = script_object(script, (Object){.kind = OBJECT_AXIS, .as.axis = axis});
    }
    vec_push(arena, &stage->as.stage.schedule->notes, note);
    *result = methods[index].makes > 1 ? script_list(script, made, methods[index].makes, true) : methods[index].makes ? made[0] : value_none();
    return true;
}

bool te_thread_axis(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    if (!te_bind(script, "te.thread_axis", arguments, "dom? tag? name?", values))
        return false;
    const Value *tag = values[1] && values[1]->kind == VALUE_STRING ? values[1] : values[0];
    if (!tag || tag->kind != VALUE_STRING)
        return script_error(script, arguments->span, "te.thread_axis needs a name such as \"threadIdx.x\"");
    const Expr *zero = expr_int(script->ctx, DTYPE_INT32, 0);
    Iter *axis = new_axis(script, tag->as.text, (Range){zero, zero}, ITER_OPAQUE, arguments->span);
    *result = script_object(script, (Object){.kind = OBJECT_AXIS, .as.axis = axis});
    return true;
}

/* --- stages that are made --- */

/* OP's axes, each with SUFFIX behind its name. */
static const Iter **renamed_axes(Script *script, const Iter *const *axes, int count, const char *suffix)
{
    const Iter **result = ARENA_ARRAY(script->ctx->arena, const Iter *, count);
    for (int i = 0; i < count; i++)
        result[i] = new_axis(script, context_internf(script->ctx, "%s%s", axes[i]->var->name, suffix), axes[i]->domain, axes[i]->kind, axes[i]->span);
    return result;
}

/* An operation called NAME that is computed like OP over AXES; its tensors have the shapes of OP's, with EXTRA as dimension AT where that is not NULL. */
static Operation *like(Script *script, const Operation *op, Str name, const Iter **axes, const Iter *extra, int at)
{
    Context *ctx = script->ctx;
    Operation *made = arena_copy(ctx->arena, op, sizeof *op);
    made->kind = OPERATION_COMPUTE;
    made->name = name;
    made->axes = axes;
    made->axis_count = op->results[0]->buffer->ndim + (extra != NULL);
    made->results = ARENA_ARRAY(ctx->arena, Tensor *, op->result_count);
    for (int i = 0; i < op->result_count; i++) {
        const Buffer *buffer = op->results[i]->buffer;
        const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, made->axis_count);
        for (int j = 0; j < made->axis_count; j++)
            shape[j] = extra && j == at ? extra->domain.extent : buffer->shape[j - (extra && j > at)];
        Tensor *tensor = ARENA_NEW(ctx->arena, Tensor);
        *tensor = (Tensor){made, i, buffer_new(ctx, name, buffer->dtype, made->axis_count, shape, NULL, op->span)};
        made->results[i] = tensor;
    }
    return made;
}

static Value results_of(Script *script, const Operation *op)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, op->result_count);
    for (int i = 0; i < op->result_count; i++)
        items[i] = te_tensor_value(script, op->results[i]);
    return op->result_count == 1 ? items[0] : script_list(script, items, op->result_count, false);
}

static bool make_cache_read(Script *script, Note *note)
{
    const Buffer *buffer = te_tensor(*note->values[0]) ? te_tensor(*note->values[0])->buffer : NULL;
    if (!buffer || note->values[1]->kind != VALUE_STRING)
        return script_error(script, note->span, "cache_read takes a tensor, a scope and the readers");
    const Iter **axes = ARENA_ARRAY(script->ctx->arena, const Iter *, buffer->ndim);
    const Expr *zero = expr_int(script->ctx, DTYPE_INT32, 0);
    for (int i = 0; i < buffer->ndim; i++)
        axes[i] = new_axis(script, context_internf(script->ctx, "ax%d", i), (Range){zero, buffer->shape[i]}, ITER_SPATIAL, note->span);
    Operation *made = like(script, note->op, context_internf(script->ctx, "%s.%s", note->op->name, note->values[1]->as.text), axes, NULL, 0);
    made->reduction = NULL;
    note->made_op = made;
    return true;
}

static bool make_cache_write(Script *script, StageSchedule *schedule, Note *note)
{
    const Operation *op = note->op;
    if (op->kind != OPERATION_COMPUTE || note->values[1]->kind != VALUE_STRING)
        return script_error(script, note->span, "cache_write takes a tensor that te.compute made, and a scope");
    for (int i = 0; i < schedule->notes.count; i++)
        if (schedule->notes.data[i].op == op && schedule->notes.data[i].method < STAGE_CACHE_READ)
            return script_error(script, note->span, "cache_write comes before the other steps of its stage");
    Operation *copy = arena_copy(script->ctx->arena, op, sizeof *op);
    copy->reduction = NULL;
    note->made_op = like(script, op, context_internf(script->ctx, "%s.%s", op->name, note->values[1]->as.text), renamed_axes(script, op->axes, op->axis_count, ".c"), NULL, 0);
    note->new_op = copy;
    map_set(script->ctx->arena, &schedule->current, op, copy);
    return true;
}

static void replace_leaves(IterList *leaves, const Iter *const *from, int from_count, const Iter *const *to, int to_count, Arena *arena)
{
    IterList result = {0};
    bool placed = false;
    for (int i = 0; i < leaves->count; i++) {
        bool gone = false;
        for (int j = 0; j < from_count; j++)
            gone |= leaves->data[i] == from[j];
        for (int j = 0; gone && !placed && j < to_count; j++)
            vec_push(arena, &result, to[j]);
        placed |= gone;
        if (!gone)
            vec_push(arena, &result, leaves->data[i]);
    }
    *leaves = result;
}

IterList te_leaf_reductions(Script *script, const StageSchedule *schedule, const Operation *op)
{
    IterList leaves = {0};
    Arena *arena = script->ctx->arena;
    for (int i = 0; op->reduction && i < op->reduction->axis_count; i++)
        vec_push(arena, &leaves, op->reduction->axes[i]);
    for (int i = 0; i < schedule->notes.count; i++) {
        const Note *note = &schedule->notes.data[i];
        const Iter *from[8];
        int count = 0;
        bool list = note->method == STAGE_FUSE;
        for (int j = 0; j < 8 && j < (list ? note->rest.count : note->method == STAGE_TILE ? 2 : note->method == STAGE_SPLIT); j++) {
            const Object *axis = value_object(list ? note->rest.items[j] : *note->values[j], OBJECT_AXIS);
            if (axis)
                from[count++] = axis->as.axis;
        }
        if (note->op == op && count)
            replace_leaves(&leaves, from, count, note->made, methods[note->method].makes, arena);
    }
    return leaves;
}

static bool make_rfactor(Script *script, StageSchedule *schedule, Note *note)
{
    const Operation *op = note->op;
    const Object *axis = value_object(*note->values[1], OBJECT_AXIS);
    IterList leaves = te_leaf_reductions(script, schedule, op);
    int ndim = op->axis_count, at = note->values[2] && note->values[2]->kind == VALUE_INT ? (int)note->values[2]->as.integer : 0, found = -1;
    for (int i = 0; i < leaves.count; i++)
        if (axis && leaves.data[i] == axis->as.axis)
            found = i;
    if (found < 0)
        return script_error(script, note->span, "rfactor takes a tensor and an axis of its reduction, before or after it is split");
    at = at < 0 ? at + ndim + 1 : at;
    if (at < 0 || at > ndim)
        return script_error(script, note->span, "factor_axis is one of the %d places of the new dimension", ndim + 1);
    const Iter *factor = new_axis(script, axis->as.axis->var->name, axis->as.axis->domain, ITER_SPATIAL, note->span);
    const Iter **old = renamed_axes(script, op->axes, ndim, ""), **axes = ARENA_ARRAY(script->ctx->arena, const Iter *, ndim + 1);
    for (int i = 0; i <= ndim; i++)
        axes[i] = i == at ? factor : old[i - (i > at)];
    Operation *partial = like(script, op, context_internf(script->ctx, "%s.rf", op->name), axes, factor, at);
    Reduction *rest = arena_copy(script->ctx->arena, op->reduction, sizeof *op->reduction), *last = arena_copy(script->ctx->arena, op->reduction, sizeof *op->reduction);
    const Iter **others = renamed_axes(script, leaves.data, leaves.count, "");
    rest->axis_count = 0;
    rest->axes = ARENA_ARRAY(script->ctx->arena, const Iter *, leaves.count);
    for (int i = 0; i < leaves.count; i++)
        if (i != found)
            rest->axes[rest->axis_count++] = others[i];
    partial->reduction = rest;
    const Iter *again = new_axis(script, context_internf(script->ctx, "%s.v", factor->var->name), factor->domain, ITER_REDUCE, note->span);
    last->axes = arena_copy(script->ctx->arena, &again, sizeof again);
    last->axis_count = 1;
    Operation *combined = arena_copy(script->ctx->arena, op, sizeof *op);
    combined->reduction = last;
    note->made_op = partial;
    note->new_op = combined;
    map_set(script->ctx->arena, &schedule->current, op, combined);
    return true;
}

bool te_stages_call(Script *script, const Object *stages, const char *name, const Arguments *arguments, Value *result)
{
    StageSchedule *schedule = stages->as.stages;
    int index = schedule_method_index(name);
    const Value **values = ARENA_ARRAY(script->ctx->arena, const Value *, 4);
    if (!te_bind(script, name, arguments, schedule_methods[index].signature, values))
        return false;
    if (!strcmp(name, "normalize")) {
        *result = script_object(script, *stages);
        return true;
    }
    bool list = values[0]->kind == VALUE_LIST && values[0]->as.list->count;
    const Operation *op = te_operation_of(list ? values[0]->as.list->items[0] : *values[0]);
    if (!op)
        return script_error(script, arguments->span, "%s takes a tensor, not %s", name, script_type_phrase(script, *values[0]));
    Note note = {.method = (StageMethod)(STAGE_CACHE_READ + index), .name = schedule_methods[index].name, .op = current(schedule, op), .values = values, .span = arguments->span};
    bool made = note.method == STAGE_CACHE_READ    ? make_cache_read(script, &note)
                : note.method == STAGE_CACHE_WRITE ? make_cache_write(script, schedule, &note)
                                                   : make_rfactor(script, schedule, &note);
    if (!made)
        return false;
    vec_push(script->ctx->arena, &schedule->notes, note);
    *result = results_of(script, note.made_op);
    return true;
}
