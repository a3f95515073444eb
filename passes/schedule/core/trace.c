/* Recording the steps of a schedule; see trace.h. Every result of a step is a handle of its own, also where two of them mean one loop: the
   trace says which of them a later step took. */
#include "passes/schedule/core/trace.h"

#include <string.h>

#include "ir/fold.h"
#include "passes/schedule/core/schedule.h"
#include "print/print.h"

static Map copy_map(Arena *arena, const Map *map)
{
    Map copy = {0};
    for (int i = 0; i < map->count; i++)
        map_set(arena, &copy, map->entries[i].key, map->entries[i].value);
    return copy;
}

Trace trace_copy(Arena *arena, const Trace *trace)
{
    Trace copy = {.handle_count = trace->handle_count};
    for (int i = 0; i < trace->steps.count; i++)
        vec_push(arena, &copy.steps, trace->steps.data[i]);
    copy.handles = copy_map(arena, &trace->handles);
    copy.decided = copy_map(arena, &trace->decided);
    return copy;
}

/* --- Inputs --- */

/* VALUE with lists of its own: the script may change the ones that it holds. */
static Value frozen(Context *ctx, Value value)
{
    if (value.kind != VALUE_LIST && value.kind != VALUE_DICT)
        return value;
    Value copy = value_list(ctx, value.as.list->items, value.as.list->count);
    copy.kind = value.kind;
    copy.span = value.span;
    copy.as.list->is_tuple = value.as.list->is_tuple;
    for (int i = 0; i < copy.as.list->count; i++)
        copy.as.list->items[i] = frozen(ctx, copy.as.list->items[i]);
    return copy;
}

static void add_handle(Schedule *sch, Value *value)
{
    value->handle = value->kind == VALUE_EXPR ? (const void *)value->as.expr->value.var : arena_alloc(sch->ctx->arena, 1);
    map_set(sch->ctx->arena, &sch->trace.handles, value->handle, (void *)value->handle);
    sch->trace.handle_count++;
}

static void add_step(Schedule *sch, const Primitive *primitive, const Value *inputs, int count, Value *output)
{
    if (output->kind == VALUE_LIST)
        for (int i = 0; i < output->as.list->count; i++)
            add_handle(sch, &output->as.list->items[i]);
    else if (output->kind != VALUE_NONE)
        add_handle(sch, output);
    TraceStep step = {primitive, arena_copy(sch->ctx->arena, inputs, sizeof *inputs * (size_t)count), count, frozen(sch->ctx, *output)};
    vec_push(sch->ctx->arena, &sch->trace.steps, step);
}

/* What a script that names the function acted on calls it. */
static Value function_name(Schedule *sch)
{
    Str name = sch->module->bare ? "main" : schedule_func(sch)->name;
    return (Value){.kind = VALUE_STRING, .as.text = context_intern(sch->ctx, name)};
}

/* A block that the script named, as the result of a step of its own. */
static Value block_by_name(Schedule *sch, const Value *name, const Value *block)
{
    Value inputs[] = {*name, function_name(sch)}, output = *block;
    add_step(sch, primitive_find("get_block"), inputs, 2, &output);
    return output;
}

static bool is_named_block(const Value *given, const Value *value)
{
    return given->kind == VALUE_STRING && value->kind == VALUE_BLOCK;
}

/* The blocks that GIVEN, a list, names, as handles. */
static void replace_names_in_list(Schedule *sch, Value *given, const Value *value)
{
    if (given->kind != VALUE_LIST || value->kind != VALUE_LIST)
        return;
    for (int i = 0; i < given->as.list->count && i < value->as.list->count; i++)
        if (is_named_block(&given->as.list->items[i], &value->as.list->items[i]))
            given->as.list->items[i] = block_by_name(sch, &given->as.list->items[i], &value->as.list->items[i]);
}

static int region_index(const Region *regions, int count, const char *name, const Map *spellings)
{
    int found = -1;
    for (int i = 0; i < count; i++) {
        const char *spelling = spellings ? map_get(spellings, regions[i].buffer) : regions[i].buffer->name;
        if (spelling && !strcmp(spelling, name))
            found = i;
    }
    return found;
}

/* ("read" or "write", index) for the buffer NAME of the block STMT: TVM looks among the writes last. */
static bool find_buffer(const BlockStmt *stmt, const char *name, const Map *spellings, bool reads, bool writes, int *index, bool *is_write)
{
    int written = writes ? region_index(stmt->writes, stmt->write_count, name, spellings) : -1;
    int read = reads ? region_index(stmt->reads, stmt->read_count, name, spellings) : -1;
    *is_write = written >= 0;
    *index = *is_write ? written : read;
    return *index >= 0;
}

/* The buffers that PARAMETER may name are those that the block reads, by its name or by an argument buf_type. */
static bool means_reads(const Parameter *parameter, const Parameter *parameters, const Value *given, int count)
{
    bool reads = !strcmp(parameter->name, "read_buffer_index");
    for (int i = 0; i < count; i++)
        if (!strcmp(parameters[i].name, "buf_type") && given[i].kind == VALUE_STRING)
            reads = !strcmp(given[i].as.text, "read");
    return reads;
}

/* A buffer of the first argument, given by name or as a pair, by its index. READS: of those that the block reads, where it is no pair. BEFORE:
   the schedule before the step. */
static Value buffer_by_index(Schedule *before, const Parameter *parameter, bool reads, const Value *block, Value given)
{
    bool pair = !strcmp(parameter->name, "buffer");
    reads = reads || pair;
    bool is_write = !reads;
    int index = given.kind == VALUE_INT ? (int)given.as.integer : 0;
    if (given.kind == VALUE_LIST) {
        is_write = !strcmp(given.as.list->items[0].as.text, "write");
        index = (int)given.as.list->items[1].as.integer;
    }
    const TreeNode *node = block->kind == VALUE_BLOCK && given.kind != VALUE_LIST ? schedule_block(before, block->as.block) : NULL;
    const BlockStmt *stmt = node ? node_block(node) : NULL;
    if (stmt && given.kind == VALUE_STRING && !find_buffer(stmt, given.as.text, NULL, reads, pair || !reads, &index, &is_write)) {
        Map spellings = print_spellings(before->ctx, schedule_func(before));
        find_buffer(stmt, given.as.text, &spellings, reads, pair || !reads, &index, &is_write);
    }
    if (stmt && given.kind == VALUE_INT && pair && index >= stmt->read_count) { /* a number counts the reads, then the writes */
        is_write = true;
        index -= stmt->read_count;
    }
    Value number = {.kind = VALUE_INT, .as.integer = index};
    if (!pair)
        return number;
    Value items[] = {{.kind = VALUE_STRING, .as.text = context_intern(before->ctx, is_write ? "write" : "read")}, number};
    Value tuple = value_list(before->ctx, items, 2);
    tuple.as.list->is_tuple = true;
    return tuple;
}

/* A number PAD, with which the buffer that PAIR names is padded, as the function of the results of MAP that the reference makes of it. */
static Value pad_as_function(Schedule *before, const Value *block, const Value *pair, const Value *map, Value pad)
{
    Context *ctx = before->ctx;
    const TreeNode *node = block->kind == VALUE_BLOCK ? schedule_block(before, block->as.block) : NULL;
    bool number = pad.kind == VALUE_INT || pad.kind == VALUE_FLOAT || pad.kind == VALUE_BOOL || pad.kind == VALUE_EXPR;
    if (!node || !number || map->kind != VALUE_FUNCTION)
        return pad;
    bool writes = !strcmp(pair->as.list->items[0].as.text, "write");
    DType dtype = (writes ? node_block(node)->writes : node_block(node)->reads)[pair->as.list->items[1].as.integer].buffer->dtype;
    Value result = map->as.function->result;
    IndexFunction *function = ARENA_NEW(ctx->arena, IndexFunction);
    int count = result.kind == VALUE_LIST ? result.as.list->count : 1;
    *function = (IndexFunction){.span = pad.span, .inputs = ARENA_ARRAY(ctx->arena, Var *, count)};
    for (int i = 0; i < count; i++)
        if (result.kind != VALUE_LIST || result.as.list->items[i].kind != VALUE_STRING) /* a separator */
            function->inputs[function->count] = var_new(ctx, context_internf(ctx, "indices_%d", function->count), DTYPE_INT32, pad.span),
            function->count++;
    const Expr *value = pad.kind == VALUE_INT    ? expr_int(ctx, dtype, pad.as.integer)
                        : pad.kind == VALUE_BOOL ? expr_bool(ctx, pad.as.boolean)
                        : pad.kind == VALUE_EXPR ? pad.as.expr
                                                 : expr_float(ctx, dtype, pad.as.real);
    function->result = (Value){.kind = VALUE_EXPR, .as.expr = value};
    return (Value){.kind = VALUE_FUNCTION, .span = pad.span, .as.function = function};
}

void trace_record(Schedule *sch, const Primitive *primitive, const Value *given, const Value *values, const Module *before, Value *result)
{
    Parameter parameters[MOST_PARAMETERS];
    Value inputs[MOST_PARAMETERS];
    int count = primitive_parameters(sch->ctx, primitive, parameters);
    Schedule earlier = *schedule_new(sch->ctx, before, sch->func_index);
    earlier.renamed = sch->renamed;
    for (int i = 0; i < count; i++) {
        inputs[i] = frozen(sch->ctx, given[i].kind == VALUE_SCRIPT ? values[i] : given[i]);
        replace_names_in_list(sch, &inputs[i], &values[i]);
    }
    for (int i = 0; i < count; i++) {
        if (is_named_block(&given[i], &values[i]))
            inputs[i] = block_by_name(sch, &given[i], &values[i]);
        if (!strcmp(parameters[i].type, "Buffer"))
            inputs[i] = buffer_by_index(&earlier, &parameters[i], means_reads(&parameters[i], parameters, given, count), &values[0], given[i]);
        if (!strcmp(parameters[i].name, "pad_value"))
            inputs[i] = pad_as_function(&earlier, &values[0], &inputs[1], &values[2], inputs[i]);
        if (!strcmp(parameters[i].name, "decision"))
            inputs[i] = frozen(sch->ctx, sch->decision);
        if (!strcmp(parameters[i].name, "func_name") && given[i].kind == VALUE_NONE)
            inputs[i] = function_name(sch);
    }
    add_step(sch, primitive, inputs, count, result);
}

/* --- Sampled values --- */

Value trace_sampled(Schedule *sch, int index, int64_t integer)
{
    Context *ctx = sch->ctx;
    DType dtype = dtype_holds(DTYPE_INT32, integer) ? DTYPE_INT32 : DTYPE_INT64;
    Var *var = var_new(ctx, context_internf(ctx, "v%d", sch->trace.handle_count + index + 1), dtype, span_none());
    map_set(ctx->arena, &sch->trace.decided, var, arena_copy(ctx->arena, &integer, sizeof integer));
    return (Value){.kind = VALUE_EXPR, .as.expr = expr_var(ctx, var)};
}

bool trace_integer(const Schedule *sch, const Expr *expr, int64_t *result)
{
    int64_t a, b;
    if (expr->kind == EXPR_INT) {
        *result = expr->value.integer;
        return true;
    }
    if (expr->kind == EXPR_VAR) {
        const int64_t *decided = map_get(&sch->trace.decided, expr->value.var);
        *result = decided ? *decided : 0;
        return decided != NULL;
    }
    if (expr->kind == EXPR_CAST)
        return trace_integer(sch, expr->args[0], result);
    return expr_is_binary(expr) && trace_integer(sch, expr->args[0], &a) && trace_integer(sch, expr->args[1], &b) &&
           integer_operation(expr->kind, a, b, result);
}

static bool refuse_handle(Schedule *sch, const Value *value)
{
    const char *name = value->kind == VALUE_LOOP ? value->as.loop->name : value->kind == VALUE_BLOCK ? value->as.block->name : "";
    return sched_refuse_argument(sch, value, "%s '%s' is not a handle of this schedule: another schedule gave it, or remove_rv removed it",
                                 value_type_name(value->kind), name);
}

bool trace_decide(Schedule *sch, Value *value)
{
    if (value->kind == VALUE_LIST || value->kind == VALUE_DICT) {
        Value list = frozen(sch->ctx, *value);
        for (int i = 0; i < list.as.list->count; i++)
            if (!trace_decide(sch, &list.as.list->items[i]))
                return false;
        *value = list;
        return true;
    }
    if (value->handle && value->kind != VALUE_EXPR && !map_get(&sch->trace.handles, value->handle))
        return refuse_handle(sch, value);
    if (value->kind != VALUE_EXPR)
        return true;
    if (value->as.expr->kind == EXPR_FLOAT) {
        *value = (Value){.kind = VALUE_FLOAT, .span = value->span, .as.real = value->as.expr->value.literal};
        return true;
    }
    int64_t integer;
    if (!trace_integer(sch, value->as.expr, &integer))
        return sched_refuse_argument(sch, value, "the expression is not made of values that this schedule sampled, or does not fit in 64 bits");
    *value = (Value){.kind = VALUE_INT, .span = value->span, .as.integer = integer};
    return true;
}

void trace_remove(Schedule *sch, const Value *value)
{
    map_set(sch->ctx->arena, &sch->trace.handles, value->handle, NULL);
    if (map_has(&sch->trace.decided, value->handle))
        map_set(sch->ctx->arena, &sch->trace.decided, value->handle, NULL);
}
