/* te.scan: tensors whose first dimension is time. Each row is made of the rows before.

     s_state = te.placeholder((m, n))                                     for i in range(n): S[0, i] = X[0, i]
     s_init = te.compute((1, n), lambda _, i: X[0, i])               ->   for t in range(1, m):
     s_update = te.compute((m, n), lambda t, i: s_state[t - 1, i] + X[t, i])  for i in range(n): S[t, i] = S[t - 1, i] + X[t, i]
     S = te.scan(s_init, s_update, s_state)

   What is computed from states on the way to the update is part of each step. */
#include "script/te_func.h"

/* --- what scripts say --- */

/* The COUNT tensors that VALUE holds. */
static bool read_tensors(Script *script, const Value *value, const char *what, int count, Span span, Tensor ***result)
{
    ValueList one = {.items = (Value *)value, .count = 1};
    const ValueList *list = value->kind == VALUE_LIST ? value->as.list : &one;
    if (list->count != count)
        return script_error(script, span, "te.scan has %d %s for %d updates", list->count, what, count);
    *result = ARENA_ARRAY(script->ctx->arena, Tensor *, count);
    for (int i = 0; i < count; i++)
        if (!((*result)[i] = (Tensor *)te_tensor(list->items[i])))
            return script_error(script, span, "the %s of te.scan are tensors, not %s", what, script_type_phrase(script, list->items[i]));
    return true;
}

/* The parts of each result fit together. */
static bool check_parts(Script *script, const Operation *op)
{
    for (int i = 0; i < op->result_count; i++) {
        const Tensor *parts[] = {op->inits[i], op->updates[i], op->states[i]};
        for (int j = 0; j < 3; j++) {
            if (parts[j]->op->kind != (j == 2 ? OPERATION_PLACEHOLDER : OPERATION_COMPUTE))
                return script_error(script, op->span, "te.scan takes first rows and updates that te.compute made, and states that te.placeholder made");
            bool fits = parts[j]->buffer->ndim == parts[2]->buffer->ndim && parts[j]->buffer->ndim && dtype_equal(parts[j]->buffer->dtype, parts[2]->buffer->dtype);
            for (int d = 1; fits && d < parts[j]->buffer->ndim; d++)
                fits = expr_equal(parts[j]->buffer->shape[d], parts[2]->buffer->shape[d]);
            if (!fits)
                return script_error(script, op->span, "the first rows, the update and the state of te.scan differ in type or in a dimension after the first");
        }
        if (op->updates[i]->op->reduction || op->updates[i]->op->result_count > 1)
            return script_error(script, op->span, "an update of te.scan is one tensor that is not itself a reduction");
    }
    return true;
}

bool te_scan(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[7];
    Operation *op = ARENA_NEW(script->ctx->arena, Operation);
    Span span = arguments->span;
    if (!te_bind(script, "te.scan", arguments, "init update state_placeholder inputs? name? tag? attrs?", values))
        return false;
    op->kind = OPERATION_SCAN;
    op->span = span;
    op->attr_values = script_list(script, NULL, 0, false);
    op->attr_values.kind = VALUE_DICT;
    int count = values[1]->kind == VALUE_LIST ? values[1]->as.list->count : 1;
    if (!te_name(script, values[4], "scan", &op->name) || !te_tag(script, values[5], arguments->span, &op->tag) ||
        !read_tensors(script, values[0], "first rows", count, span, &op->inits) || !read_tensors(script, values[1], "updates", count, span, &op->updates) ||
        !read_tensors(script, values[2], "states", count, span, &op->states))
        return false;
    op->result_count = count;
    if (!check_parts(script, op))
        return false;
    op->results = ARENA_ARRAY(script->ctx->arena, Tensor *, count);
    op->inputs = ARENA_ARRAY(script->ctx->arena, Tensor *, 2 * count);
    op->input_count = 2 * count;
    for (int i = 0; i < count; i++) {
        const Buffer *like = op->states[i]->buffer;
        Str name = count == 1 ? op->name : context_internf(script->ctx, "%s_v%d", op->name, i);
        Tensor *tensor = ARENA_NEW(script->ctx->arena, Tensor);
        *tensor = (Tensor){op, i, buffer_new(script->ctx, name, like->dtype, like->ndim, like->shape, NULL, span)};
        op->results[i] = tensor;
        op->inputs[i] = op->inits[i];
        op->inputs[count + i] = op->updates[i];
        map_set(script->ctx->arena, &script->tensors, tensor->buffer, tensor);
    }
    *result = te_operation_results(script, op);
    return true;
}

/* --- the function --- */

static void bind_part(FuncBuild *build, const Tensor *part, Buffer *buffer)
{
    map_set(build->ctx->arena, &build->tensors, part, buffer);
    subst_buffer(build->ctx, &build->subst, part->buffer, buffer);
}

/* OP reads a state of SCAN, or what is part of its steps. */
static bool is_step(FuncBuild *build, const Operation *scan, const Operation *op)
{
    TensorList inputs = te_inputs(build->script, op);
    bool step = false;
    for (int i = 0; i < inputs.count; i++) {
        step |= map_get(&build->in_scan, inputs.data[i]->op) == scan;
        for (int j = 0; j < scan->result_count; j++)
            step |= inputs.data[i] == scan->states[j];
    }
    for (int j = 0; j < scan->result_count; j++)
        step |= op == scan->updates[j]->op;
    return step;
}

void te_bind_scans(FuncBuild *build, const OperationList *order)
{
    for (int i = 0; i < order->count; i++) {
        const Operation *scan = order->data[i];
        if (scan->kind != OPERATION_SCAN)
            continue;
        for (int j = 0; j < scan->result_count; j++) {
            Buffer *buffer = te_function_buffer(build, scan->results[j]);
            bind_part(build, scan->inits[j], buffer);
            bind_part(build, scan->updates[j], buffer);
            bind_part(build, scan->states[j], buffer);
        }
        for (int j = 0; j < i; j++)
            if (order->data[j]->kind == OPERATION_COMPUTE && is_step(build, scan, order->data[j]))
                map_set(build->ctx->arena, &build->in_scan, order->data[j], (void *)scan);
    }
}

/* OP with its first axis over the steps: from the number of first rows on. */
static Operation *over_steps(FuncBuild *build, const Operation *scan, const Operation *op)
{
    Context *ctx = build->ctx;
    const Expr *first = scan->inits[0]->buffer->shape[0];
    Operation *step = arena_copy(ctx->arena, op, sizeof *op);
    Iter *axis = arena_copy(ctx->arena, op->axes[0], sizeof *axis);
    axis->domain = (Range){op_cast(ctx, axis->var->dtype, first), op_sub(ctx, axis->domain.extent, op_cast(ctx, axis->var->dtype, first))};
    axis->kind = ITER_OPAQUE;
    step->axes = arena_copy(ctx->arena, op->axes, sizeof *op->axes * (size_t)op->axis_count);
    step->axes[0] = axis;
    return step;
}

/* The nests of one step, each of which begins with a loop over time, under one such loop. */
static const Stmt *join_steps(FuncBuild *build, const Operation *scan, const Stmt *const *nests, int count)
{
    Context *ctx = build->ctx;
    const Stmt *first = nests[0];
    Var *time = var_new(ctx, context_intern(ctx, "scan_idx"), first->as.loop.var->dtype, scan->span);
    const Stmt **bodies = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    for (int i = 0; i < count; i++) {
        Subst subst = {{0}, {0}};
        subst_var(ctx, &subst, nests[i]->as.loop.var, expr_var(ctx, time));
        bodies[i] = subst_stmt(ctx, &subst, nests[i]->as.loop.body);
    }
    return stmt_for_serial(ctx, time, first->as.loop.min, first->as.loop.extent, stmt_seq(ctx, bodies, count), scan->span);
}

bool te_build_scan(FuncBuild *build, const OperationList *order, const Operation *scan)
{
    VEC(const Stmt *) nests = {0};
    for (int i = 0; i < order->count; i++) {
        const Operation *op = order->data[i];
        if (map_get(&build->in_scan, op) != scan)
            continue;
        const Expr *extent = op->axis_count ? op->axes[0]->domain.extent : NULL;
        if (!extent || !expr_equal(extent, scan->states[0]->buffer->shape[0]))
            return script_error(build->script, op->span, "the first dimension of '%s', a part of the steps of a scan, must be time", op->name);
        Operation *step = over_steps(build, scan, op);
        if (!te_build_compute(build, step))
            return false;
        const Stmt *nest = vec_pop(&build->stmts);
        if (nest->kind != STMT_FOR)
            return script_error(build->script, op->span, "'%s' cannot be a part of the steps of a scan", op->name);
        vec_push(build->ctx->arena, &nests, nest);
        map_set(build->ctx->arena, &build->script->stage_blocks, op, map_get(&build->script->stage_blocks, step));
    }
    if (nests.count)
        vec_push(build->ctx->arena, &build->stmts, join_steps(build, scan, nests.data, nests.count));
    return true;
}
