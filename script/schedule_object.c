/* What schedules have besides their primitives: sch.mod, sch.trace, copies, seeds, the things that handles stand for. */
#include <string.h>

#include "passes/schedule/core/query.h"
#include "passes/schedule/sample/random.h"
#include "script/script_internal.h"

const char *const script_schedule_names[] = {"mod",  "trace",     "func_working_on", "show", "work_on", "copy",
                                             "seed", "fork_seed", "get",             "get_sref", "remove_rv", NULL};
const char *const script_trace_names[] = {"show", "as_python", "apply_to_schedule", NULL};
const char *const script_node_names[] = {"extent", "min", "loop_var", "name", "name_hint", "reads", "writes", "alloc_buffers", "iter_vars", "stmt", NULL};
const char *const script_region_names[] = {"buffer", NULL};

Value script_method(Script *script, const Object *self, Str name)
{
    return script_object(script, (Object){.kind = OBJECT_METHOD, .as.method = {self, name}});
}

static bool work_on(Script *script, Schedule *sch, const Arguments *arguments)
{
    static const char *const keywords[] = {"func_name"};
    if (!script_check_keywords(script, "work_on", arguments, 1, keywords, 1))
        return false;
    const Value *name = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, "func_name");
    if (!name || name->kind != VALUE_STRING)
        return script_error(script, name ? name->span : arguments->span, "work_on takes the name of a function");
    int index = module_index_for_schedule(sch->module, name->as.text);
    if (index >= 0) {
        sch->func_index = index;
        return true;
    }
    VEC(const char *) names = {0};
    for (int i = 0; i < sch->module->func_count; i++)
        vec_push(script->ctx->arena, &names, sch->module->funcs[i]->name);
    const char *near = diag_closest(name->as.text, names.data, names.count);
    return script_unknown(script, name->span, near, "the module has no function '%s'", name->as.text);
}

/* --- attributes --- */

bool script_schedule_attribute(Script *script, const Object *self, Str name, Value *result)
{
    Schedule *sch = self->as.schedule;
    if (!strcmp(name, "mod")) {
        map_set(script->ctx->arena, &script->sources, sch->module, map_get(&script->sources, sch));
        *result = script_object(script, (Object){.kind = OBJECT_MODULE, .as.module = sch->module});
    } else if (!strcmp(name, "trace")) {
        *result = script_object(script, (Object){.kind = OBJECT_TRACE, .as.schedule = sch});
    } else if (!strcmp(name, "func_working_on")) {
        *result = value_none();
        if (sch->func_index >= 0)
            *result = script_object(script, (Object){.kind = OBJECT_GLOBAL_VAR, .as.path = schedule_func(sch)->name});
    } else {
        return false;
    }
    return true;
}

static Value expression_value(const Expr *expr)
{
    int64_t integer;
    if (expr_const_int(expr, &integer))
        return (Value){.kind = VALUE_INT, .as.integer = integer};
    return (Value){.kind = VALUE_EXPR, .as.expr = expr};
}

/* The regions of a block, or with BUFFERS those, as a list. */
static Value region_list(Script *script, const Region *regions, Buffer *const *buffers, int count)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        items[i] = script_object(script, buffers ? (Object){.kind = OBJECT_BUFFER, .as.buffer = buffers[i]}
                                                 : (Object){.kind = OBJECT_REGION, .as.region = &regions[i]});
    return script_list(script, items, count, false);
}

static Value axis_list(Script *script, const BlockStmt *block)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, block->iter_count);
    for (int i = 0; i < block->iter_count; i++)
        items[i] = script_object(script, (Object){.kind = OBJECT_AXIS, .as.axis = &block->iters[i]});
    return script_list(script, items, block->iter_count, false);
}

Value script_region_buffer(Script *script, const Object *region)
{
    return script_object(script, (Object){.kind = OBJECT_BUFFER, .as.buffer = region->as.region->buffer});
}

bool script_node_attribute(Script *script, const Object *self, Str name, Value *result)
{
    const Stmt *stmt = self->as.stmt;
    bool loop = stmt->kind == STMT_FOR;
    if (loop && !strcmp(name, "extent"))
        *result = expression_value(stmt->as.loop.extent);
    else if (loop && !strcmp(name, "min"))
        *result = expression_value(stmt->as.loop.min);
    else if (loop && !strcmp(name, "loop_var"))
        *result = script_object(script, *self);
    else if (loop && !strcmp(name, "name"))
        *result = (Value){.kind = VALUE_STRING, .as.text = stmt->as.loop.var->name};
    else if (!loop && !strcmp(name, "name_hint"))
        *result = (Value){.kind = VALUE_STRING, .as.text = stmt->as.block.block->name};
    else if (!loop && !strcmp(name, "reads"))
        *result = region_list(script, stmt->as.block.reads, NULL, stmt->as.block.read_count);
    else if (!loop && !strcmp(name, "writes"))
        *result = region_list(script, stmt->as.block.writes, NULL, stmt->as.block.write_count);
    else if (!loop && !strcmp(name, "alloc_buffers"))
        *result = region_list(script, NULL, stmt->as.block.allocs, stmt->as.block.alloc_count);
    else if (!loop && !strcmp(name, "iter_vars"))
        *result = axis_list(script, &stmt->as.block);
    else if (!strcmp(name, "stmt")) /* of what get_sref gives */
        *result = script_object(script, *self);
    else
        return false;
    return true;
}

/* --- methods --- */

/* The one argument of a method, called KEYWORD; NULL after a diagnostic. */
static const Value *one_argument(Script *script, const char *method, const char *keyword, const Arguments *arguments)
{
    if (!script_check_keywords(script, method, arguments, 1, &keyword, 1))
        return NULL;
    const Value *value = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, keyword);
    if (!value)
        script_error(script, arguments->span, "%s needs the argument '%s'", method, keyword);
    return value;
}

static bool copy_schedule(Script *script, Schedule *sch, const Arguments *arguments, Value *result)
{
    if (!script_check_keywords(script, "copy", arguments, 0, NULL, 0))
        return false;
    Schedule *copy = schedule_copy(sch);
    map_set(script->ctx->arena, &script->copies, copy, copy);
    copy->random = random_seed(random_fork(&sch->random));
    map_set(script->ctx->arena, &script->sources, copy, map_get(&script->sources, sch));
    *result = script_object(script, (Object){.kind = OBJECT_SCHEDULE, .as.schedule = copy});
    return true;
}

bool script_seed(Script *script, Schedule *sch, const Value *seed)
{
    int64_t given = script->options->seed > 0 ? script->options->seed : 1;
    if (seed && seed->kind != VALUE_NONE && (seed->kind != VALUE_INT || seed->as.integer < -1))
        return script_error(script, seed->span, "a seed is an int that is not negative");
    if (seed && seed->kind == VALUE_INT && seed->as.integer >= 0)
        given = seed->as.integer;
    sch->random = random_seed(given);
    return true;
}

static bool set_seed(Script *script, Schedule *sch, const Arguments *arguments)
{
    const Value *seed = one_argument(script, "seed", "seed", arguments);
    return seed && script_seed(script, sch, seed);
}

static bool fork_seed(Script *script, Schedule *sch, const Arguments *arguments, Value *result)
{
    *result = (Value){.kind = VALUE_INT};
    if (!script_check_keywords(script, "fork_seed", arguments, 0, NULL, 0))
        return false;
    result->as.integer = random_fork(&sch->random);
    return true;
}

/* get: the statement that a loop or block stands for now, or what a sampled value is. get_sref, the place of a loop or block in the program, gives its
   statement too: nothing else can be done with a place. */
static bool get(Script *script, Schedule *sch, const char *method, const Arguments *arguments, Value *result)
{
    bool place = !strcmp(method, "get_sref");
    const Value *given = one_argument(script, method, place ? "rand_var_or_stmt" : "rand_var_or_sref", arguments);
    if (!given)
        return false;
    Value value = *given;
    bool handle = value.kind == VALUE_LOOP || value.kind == VALUE_BLOCK;
    if (value_object(value, OBJECT_NODE)) {
        *result = value;
        return true;
    }
    if (!handle && (place || value.kind != VALUE_EXPR))
        return script_error(script, given->span, "%s takes a loop%s, not %s", method, place ? " or a block" : ", a block or a sampled value",
                            script_type_phrase(script, value));
    Step step = schedule_begin(sch, place ? "get_sref" : "get", arguments->span);
    const TreeNode *node = NULL;
    bool ok = trace_decide(sch, &value) && (!handle || (node = schedule_target(sch, &value)) != NULL);
    *result = node ? script_object(script, (Object){.kind = OBJECT_NODE, .as.stmt = node->stmt}) : value;
    if (!schedule_end(sch, step, ok))
        script_note_calls(script);
    return ok;
}

static bool remove_handle(Script *script, Schedule *sch, const Arguments *arguments)
{
    const Value *value = one_argument(script, "remove_rv", "rand_var", arguments);
    if (!value)
        return false;
    if (!value->handle || !map_get(&sch->trace.handles, value->handle))
        return script_error(script, value->span, "remove_rv takes a loop, a block or a sampled value of this schedule");
    trace_remove(sch, value);
    return true;
}

bool script_schedule_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result)
{
    Schedule *sch = self->as.schedule;
    if (!strcmp(name, "work_on"))
        return work_on(script, sch, arguments);
    if (!strcmp(name, "show"))
        return script_module_method(script, &(Object){.kind = OBJECT_MODULE, .as.module = sch->module}, name, arguments, result);
    if (!strcmp(name, "copy"))
        return copy_schedule(script, sch, arguments, result);
    if (!strcmp(name, "seed"))
        return set_seed(script, sch, arguments);
    if (!strcmp(name, "fork_seed"))
        return fork_seed(script, sch, arguments, result);
    if (!strcmp(name, "get") || !strcmp(name, "get_sref"))
        return get(script, sch, name, arguments, result);
    return remove_handle(script, sch, arguments);
}

/* --- traces --- */

/* The lines of the steps, each a string. */
static Value step_lines(Script *script, const Schedule *sch)
{
    const char *text = script_trace_text(script, sch);
    VEC(Value) lines = {0};
    for (int skipped = 0; skipped < 2; skipped++)
        text = strchr(text, '\n') + 1;
    while (sch->trace.steps.count && *text) {
        size_t length = strcspn(text, "\n");
        Value line = {.kind = VALUE_STRING, .as.text = context_internf(script->ctx, "%.*s", (int)length - 2, text + 2)};
        vec_push(script->ctx->arena, &lines, line);
        text += length + (text[length] == '\n');
    }
    return script_list(script, lines.data, lines.count, false);
}

/* trace.apply_to_schedule(other): the steps again, on another schedule. */
static bool apply_trace(Script *script, const Schedule *sch, const Arguments *arguments)
{
    static const char *const keywords[] = {"sch", "remove_postproc", "decision_provider"};
    if (!script_check_keywords(script, "apply_to_schedule", arguments, 2, keywords, 2))
        return false;
    const Value *target = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, "sch");
    if (!target || !value_object(*target, OBJECT_SCHEDULE))
        return script_error(script, arguments->span, "apply_to_schedule takes a schedule");
    const char *text = script_trace_text(script, sch);
    const AstNode *file = parse_python(script->ctx, source_add(script->ctx->sources, "trace", text, strlen(text)));
    Environment *scope = script->scope, *own = ARENA_NEW(script->ctx->arena, Environment);
    own->outer = script->globals;
    script->scope = own;
    bool ok = file && script_run_body(script, file->as.list) == FLOW_NEXT;
    const Value *function = ok ? script_lookup(script, context_intern(script->ctx, "apply_trace")) : NULL;
    script->scope = scope;
    Arguments passed = {.positional = (Value[]){*target}, .positional_count = 1, .span = arguments->span};
    Value ignored;
    return function && script_call_def(script, value_object(*function, OBJECT_DEF), &passed, &ignored);
}

bool script_trace_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result)
{
    static const char *const shown[] = {"style", "black_format"}, *const python[] = {"remove_postproc"};
    *result = value_none();
    if (!strcmp(name, "apply_to_schedule"))
        return apply_trace(script, self->as.schedule, arguments);
    bool show = !strcmp(name, "show");
    if (!script_check_keywords(script, name, arguments, show ? 0 : 1, show ? shown : python, show ? 2 : 1))
        return false;
    if (show)
        fprintf(script->options->out, "%s\n", script_trace_text(script, self->as.schedule));
    else
        *result = step_lines(script, self->as.schedule);
    return true;
}
