/* tvm.lower: functions of stages, as programs with blocks or as lowered listings. */
#include <string.h>

#include "passes/lower/listing.h"
#include "script/te_stage.h"

/* Loops are called after their axes: i_outer, i_inner, i_j_fused. */
static void name_loops(const Replay *replay, Map *names)
{
    for (int i = 0; i < replay->loops.count; i++) {
        const Iter *axis = replay->loops.entries[i].key;
        const Value *loop = replay->loops.entries[i].value;
        if (loop && loop->kind == VALUE_LOOP)
            map_set(replay->script->ctx->arena, names, loop->as.loop, (void *)axis->var->name);
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
    const Func *made = te_build_func(script, args->items, args->count, true, (DType){0}, span);
    if (!made)
        return false;
    Func *func = arena_copy(script->ctx->arena, made, sizeof *made);
    func->name = name;
    const Func *funcs[] = {func};
    const Module *module = script_module_of_funcs(script, funcs, 1, false);
    Schedule *sch = schedule_new(script->ctx, module, 0), *before = script->schedule;
    sch->results_may_move = true;
    Replay replay = {.script = script, .schedule = schedule, .primitives = script_object(script, (Object){.kind = OBJECT_SCHEDULE, .as.schedule = sch})};
    map_set(script->ctx->arena, &script->sources, sch, (void *)module);
    OperationList order = {0};
    bool ok = te_order(script, args->items, args->count, true, &order) && te_replay(&replay, &order);
    script->schedule = before;
    if (ok)
        map_set(script->ctx->arena, &script->sources, sch->module, (void *)module);
    *result = script_object(script, (Object){.kind = OBJECT_MODULE, .as.module = sch->module});
    StageListing stages = {0};
    name_loops(&replay, &stages.loop_names);
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
