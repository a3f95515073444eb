/* te.create_schedule: stages as a thin layer on schedules of prim_funcs. What a script says of the stages is noted, and done by the primitives
   of the same meaning when tvm.lower makes the function, as only its arguments tell which tensors are parameters. */
#include <string.h>

#include "passes/lower/listing.h"
#include "script/te.h"

typedef struct {
    const char *method;
    const Operation *op;
    const Value **values; /* bound to the method's parameters, NULL where they are not given */
    ValueList rest;       /* *args */
    const Iter *made[4];
    Span span;
} Note;

struct StageSchedule {
    Value *outputs;
    int output_count;
    VEC(Note) notes;
};

/* --- what scripts say --- */

static const struct {
    const char *name, *signature; /* "*": any number of axes */
    int makes;
} methods[] = {
    {"split", "parent factor? nparts?", 2},
    {"tile", "x_parent y_parent x_factor y_factor", 4},
    {"fuse", "*", 1},
    {"reorder", "*", 0},
    {"bind", "ivar thread_ivar", 0},
    {"vectorize", "var", 0},
    {"unroll", "var", 0},
    {"parallel", "var", 0},
    {"compute_at", "parent scope", 0},
    {"compute_inline", "", 0},
    {"compute_root", "", 0},
    {"set_scope", "scope", 0},
};
enum { METHOD_COUNT = sizeof methods / sizeof *methods };

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

static const Operation *operation_of(Value value)
{
    const Tensor *tensor = te_tensor(value);
    const Object *operation = value_object(value, OBJECT_OPERATION), *stage = value_object(value, OBJECT_STAGE);
    return tensor ? tensor->op : operation ? operation->as.operation : stage ? stage->as.stage.op : NULL;
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
        const Operation *op = operation_of(list->items[i]);
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
    const Operation *op = operation_of(key);
    if (!op || op->kind != OPERATION_COMPUTE)
        return script_error(script, span, "a stage is that of a tensor that te.compute made, not of %s", script_type_phrase(script, key));
    *result = script_object(script, (Object){.kind = OBJECT_STAGE, .as.stage = {stages->as.stages, op}});
    return true;
}

bool te_stage_call(Script *script, const Object *stage, const char *name, const Arguments *arguments, Value *result)
{
    Arena *arena = script->ctx->arena;
    int index = method_index(name);
    bool any = !strcmp(methods[index].signature, "*");
    Note note = {.method = methods[index].name, .op = stage->as.stage.op, .span = arguments->span};
    const Value **values = ARENA_ARRAY(arena, const Value *, 8);
    if (!any && !te_bind(script, name, arguments, methods[index].signature, values))
        return false;
    note.values = values;
    bool one_list = any && arguments->positional_count == 1 && arguments->positional[0].kind == VALUE_LIST;
    if (any)
        note.rest = one_list ? *arguments->positional[0].as.list
                             : (ValueList){.items = arguments->positional, .count = arguments->positional_count};
    Value made[4];
    for (int i = 0; i < methods[index].makes; i++) {
        Iter *axis = ARENA_NEW(arena, Iter);
        Var *var = var_new(script->ctx, context_intern(script->ctx, "axis"), DTYPE_INT32, arguments->span);
        const Expr *zero = expr_int(script->ctx, DTYPE_INT32, 0);
        *axis = (Iter){var, {zero, zero}, ITER_SPATIAL, arguments->span};
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
    *result = tag ? *tag : value_none();
    return (tag && tag->kind == VALUE_STRING) || script_error(script, arguments->span, "te.thread_axis needs a name such as \"threadIdx.x\"");
}

/* --- what is done --- */

typedef struct {
    Script *script;
    Value schedule;
    Map loops;  /* Iter -> Value of its loop */
    Map blocks; /* Operation -> Value of its block */
} Replay;

static bool call(Replay *replay, const char *name, const Value *values, int count, Span span, Value *result)
{
    Object method = {.kind = OBJECT_METHOD, .as.method = {replay->schedule.as.script, context_intern(replay->script->ctx, name)}};
    Value *copies = ARENA_ARRAY(replay->script->ctx->arena, Value, count);
    for (int i = 0; i < count; i++) {
        copies[i] = values[i];
        copies[i].span = span;
    }
    Arguments arguments = {.positional = copies, .positional_count = count, .span = span};
    return script_call_method(replay->script, &method, &arguments, result);
}

static void set_loop(Replay *replay, const Iter *axis, Value loop)
{
    map_set(replay->script->ctx->arena, &replay->loops, axis, arena_copy(replay->script->ctx->arena, &loop, sizeof loop));
}

static bool loop_of(Replay *replay, Value value, Span span, Value *loop)
{
    const Object *axis = value_object(value, OBJECT_AXIS);
    const Value *found = axis ? map_get(&replay->loops, axis->as.axis) : NULL;
    if (!found)
        return script_error(replay->script, span, "an axis of a stage that is computed is needed here, not %s",
                            script_type_phrase(replay->script, value));
    *loop = *found;
    return true;
}

static bool find_stage(Replay *replay, const Operation *op, Span span, Value *block)
{
    const Value *known = map_get(&replay->blocks, op);
    if (known) {
        *block = *known;
        return true;
    }
    Script *script = replay->script;
    Value name = {.kind = VALUE_STRING, .as.text = map_get(&script->stage_blocks, op)}, loops;
    if (!name.as.text)
        return script_error(script, span, "the tensor '%s' is not computed for these arguments", op->name);
    if (!call(replay, "get_block", &name, 1, span, block) || !call(replay, "get_loops", block, 1, span, &loops))
        return false;
    map_set(script->ctx->arena, &replay->blocks, op, arena_copy(script->ctx->arena, block, sizeof *block));
    for (int i = 0; i < loops.as.list->count; i++) {
        const Iter *axis = i < op->axis_count ? op->axes[i] : op->reduction && i - op->axis_count < op->reduction->axis_count ? op->reduction->axes[i - op->axis_count] : NULL;
        if (axis)
            set_loop(replay, axis, loops.as.list->items[i]);
    }
    return true;
}

/* LOOP in two, the inner one of FACTOR or the outer one of NPARTS iterations. */
static bool split(Replay *replay, Value loop, const Value *factor, const Value *nparts, Span span, Value *pair)
{
    bool inner = factor && factor->kind != VALUE_NONE;
    if (!inner && !(nparts && nparts->kind != VALUE_NONE))
        return script_error(replay->script, span, "split needs factor= or nparts=");
    Value factors[] = {inner ? value_none() : *nparts, inner ? *factor : value_none()};
    Value arguments[] = {loop, script_list(replay->script, factors, 2, false)};
    return call(replay, "split", arguments, 2, span, pair);
}

static bool tile(Replay *replay, const Note *note)
{
    Value x, y, xs, ys, none;
    if (!loop_of(replay, *note->values[0], note->span, &x) || !loop_of(replay, *note->values[1], note->span, &y) ||
        !split(replay, x, note->values[2], NULL, note->span, &xs) || !split(replay, y, note->values[3], NULL, note->span, &ys))
        return false;
    Value order[] = {xs.as.list->items[0], ys.as.list->items[0], xs.as.list->items[1], ys.as.list->items[1]};
    for (int i = 0; i < 4; i++)
        set_loop(replay, note->made[i], order[i]);
    return call(replay, "reorder", order, 4, note->span, &none);
}

static bool over_axes(Replay *replay, const Note *note)
{
    Value *loops = ARENA_ARRAY(replay->script->ctx->arena, Value, note->rest.count), result;
    for (int i = 0; i < note->rest.count; i++)
        if (!loop_of(replay, note->rest.items[i], note->span, &loops[i]))
            return false;
    if (!call(replay, note->method, loops, note->rest.count, note->span, &result))
        return false;
    if (note->made[0])
        set_loop(replay, note->made[0], result);
    return true;
}

static bool replay_note(Replay *replay, const Note *note)
{
    Value block, arguments[3], result;
    if (!find_stage(replay, note->op, note->span, &block))
        return false;
    if (!strcmp(note->method, "compute_root"))
        return true;
    if (!strcmp(note->method, "compute_inline"))
        return call(replay, "compute_inline", &block, 1, note->span, &result);
    if (!strcmp(note->method, "set_scope")) {
        Value scope[] = {block, {.kind = VALUE_INT}, *note->values[0]};
        return call(replay, "set_scope", scope, 3, note->span, &result);
    }
    if (!strcmp(note->method, "tile"))
        return tile(replay, note);
    if (!strcmp(note->method, "fuse") || !strcmp(note->method, "reorder"))
        return over_axes(replay, note);
    if (!strcmp(note->method, "compute_at")) {
        const Operation *parent = operation_of(*note->values[0]);
        Value other;
        if (!parent || !find_stage(replay, parent, note->span, &other) || !loop_of(replay, *note->values[1], note->span, &arguments[1]))
            return parent != NULL ? false : script_error(replay->script, note->span, "compute_at needs a stage");
        arguments[0] = block;
        return call(replay, "compute_at", arguments, 2, note->span, &result);
    }
    if (!loop_of(replay, *note->values[0], note->span, &arguments[0]))
        return false;
    if (!strcmp(note->method, "split")) {
        if (!split(replay, arguments[0], note->values[1], note->values[2], note->span, &result))
            return false;
        set_loop(replay, note->made[0], result.as.list->items[0]);
        set_loop(replay, note->made[1], result.as.list->items[1]);
        return true;
    }
    bool binds = !strcmp(note->method, "bind");
    if (binds)
        arguments[1] = *note->values[1];
    return call(replay, note->method, arguments, binds ? 2 : 1, note->span, &result);
}

/* --- lowered listings --- */

static void name_axis(Replay *replay, Map *names, const Iter *axis, Str name)
{
    Arena *arena = replay->script->ctx->arena;
    const Value *loop = map_get(&replay->loops, axis);
    map_set(arena, names, axis, (void *)name);
    if (loop && loop->kind == VALUE_LOOP)
        map_set(arena, names, loop->as.loop, (void *)name);
}

static Str axis_name(const Map *names, Value value)
{
    const Object *axis = value_object(value, OBJECT_AXIS);
    Str known = axis ? map_get(names, axis->as.axis) : NULL;
    return known ? known : axis ? axis->as.axis->var->name : "axis";
}

/* Loops are called after the axes that they were made of: i_outer, i_inner, i_j_fused. NAMES gets them, by axes and by loops. */
static void name_loops(Replay *replay, const Note *note, Map *names)
{
    Context *ctx = replay->script->ctx;
    if (!strcmp(note->method, "fuse")) {
        Str all = "";
        for (int i = 0; i < note->rest.count; i++)
            all = context_internf(ctx, "%s%s_", all, axis_name(names, note->rest.items[i]));
        name_axis(replay, names, note->made[0], context_internf(ctx, "%sfused", all));
    }
    bool tile = !strcmp(note->method, "tile"), split = !strcmp(note->method, "split");
    for (int i = 0; (tile && i < 4) || (split && i < 2); i++) {
        Str name = axis_name(names, *note->values[tile ? i % 2 : 0]);
        name_axis(replay, names, note->made[i], context_internf(ctx, "%s_%s", name, i < (tile ? 2 : 1) ? "outer" : "inner"));
    }
}

static const Module *module_listing(Script *script, const Module *module, const StageListing *stages)
{
    const Func **funcs = ARENA_ARRAY(script->ctx->arena, const Func *, module->func_count);
    for (int i = 0; i < module->func_count; i++)
        if (!(funcs[i] = lower_listing(script->ctx, module, module->funcs[i], stages)))
            return NULL;
    return script_module_of_funcs(script, funcs, module->func_count, false);
}

/* *RESULT, a module, as a lowered listing. */
static bool list_module(Script *script, const StageListing *stages, Value *result)
{
    const Module *listing = module_listing(script, value_object(*result, OBJECT_MODULE)->as.module, stages);
    if (listing)
        *result = script_object(script, (Object){.kind = OBJECT_MODULE, .as.module = listing});
    return listing != NULL;
}

/* The function of ARGS with what SCHEDULE says done to it, as a module. */
static bool lower_stages(Script *script, const StageSchedule *schedule, const ValueList *args, Str name, bool listed, Span span, Value *result)
{
    const Func *made = te_build_func(script, args->items, args->count, false, span);
    if (!made)
        return false;
    Func *func = arena_copy(script->ctx->arena, made, sizeof *made);
    func->name = name;
    const Func *funcs[] = {func};
    const Module *module = script_module_of_funcs(script, funcs, 1, false);
    Schedule *sch = schedule_new(script->ctx, module, 0), *before = script->schedule;
    sch->results_may_move = true;
    Replay replay = {.script = script, .schedule = script_object(script, (Object){.kind = OBJECT_SCHEDULE, .as.schedule = sch})};
    map_set(script->ctx->arena, &script->sources, sch, (void *)module);
    bool ok = true;
    for (int i = 0; i < schedule->notes.count && ok; i++)
        ok = replay_note(&replay, &schedule->notes.data[i]);
    script->schedule = before;
    if (ok)
        map_set(script->ctx->arena, &script->sources, sch->module, (void *)module);
    *result = script_object(script, (Object){.kind = OBJECT_MODULE, .as.module = sch->module});
    StageListing stages = {0};
    for (int i = 0; i < schedule->notes.count && listed; i++)
        name_loops(&replay, &schedule->notes.data[i], &stages.loop_names);
    return ok && (!listed || list_module(script, &stages, result));
}

static bool lower(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[5];
    Str name;
    if (!te_bind(script, "tvm.lower", arguments, "inp args? name? binds? simple_mode?", values) || !te_name(script, values[2], "main", &name))
        return false;
    bool listed = values[4] && values[4]->kind == VALUE_BOOL && values[4]->as.boolean;
    const Object *stages = value_object(*values[0], OBJECT_STAGES), *func = value_object(*values[0], OBJECT_FUNC);
    if (value_object(*values[0], OBJECT_MODULE) || func) {
        *result = *values[0];
        Arguments one = {.positional = (Value *)values[0], .positional_count = 1, .span = arguments->span};
        return (!func || script_module_from_expr(script, &one, result)) && (!listed || list_module(script, NULL, result));
    }
    if (!stages || !values[1] || values[1]->kind != VALUE_LIST)
        return script_error(script, arguments->span, "tvm.lower takes a schedule and the list of the function's arguments");
    return lower_stages(script, stages->as.stages, values[1]->as.list, name, listed, arguments->span, result);
}

bool te_lower(Script *script, const Arguments *arguments, Value *result)
{
    if (!lower(script, arguments, result))
        return false;
    script->lowered_last = value_object(*result, OBJECT_MODULE)->as.module;
    return true;
}
