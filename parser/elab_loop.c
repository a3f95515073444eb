/* `for` loops over range, T.serial, T.grid and the like; see elab.h. */
#include "ir/linear_sum.h"
#include "parser/elab.h"
#include "support/warning.h"

/* --- what is looped over --- */

/* The integers from BEGIN (may be absent: 0) to END. */
static bool read_range(Elab *elab, const Value *begin, const Value *end, Range *range)
{
    Context *ctx = elab->ctx;
    Value zero = value_int(0, end->span);
    const Expr *first, *last;
    int64_t extent;
    if (begin->kind == VALUE_ABSENT)
        begin = &zero;
    if (!value_pair_to_exprs(elab, begin, end, &first, &last))
        return false;
    Value ends[2] = {value_expr(first, begin->span), value_expr(last, end->span)};
    if (!value_to_integer(elab, &ends[0], "the start of a loop") || !value_to_integer(elab, &ends[1], "the extent of a loop") ||
        !op_match_types(ctx, &first, &last, end->span))
        return false;
    if (first->dtype.bits < 32) {
        /* Indices computed from a narrow variable would overflow. */
        first = op_cast(ctx, DTYPE_INT32, first);
        last = op_cast(ctx, DTYPE_INT32, last);
    }
    *range = (Range){first, linear_extent(ctx, first, last)};
    if (expr_const_int(range->extent, &extent) && extent < 0 && range->extent->dtype.code == DT_INT) {
        diag_error(ctx, end->span, "the loop has the negative extent %lld", (long long)extent);
        return false;
    }
    return true;
}

/* The pair (start, extent) of T.grid. */
static bool read_start_extent(Elab *elab, const Value *pair, Range *range)
{
    const Value *start = &pair->as.list.items[0], *extent = &pair->as.list.items[1];
    Value end = elab_binary(elab, AST_OP_ADD, start, extent, pair->span);
    return end.kind != VALUE_ERROR && read_range(elab, start, &end, range);
}

static Value loop_value(Elab *elab, LoopSpec spec, Span span)
{
    Value value = {.kind = VALUE_LOOP, .span = span};
    value.as.loop = arena_copy(elab->ctx->arena, &spec, sizeof spec);
    return value;
}

static bool read_loop(Elab *elab, const Call *call, const Value *start, const Value *stop, LoopSpec *spec)
{
    static const Value absent = {.kind = VALUE_ABSENT};
    bool single = stop->kind == VALUE_ABSENT || stop->kind == VALUE_NONE;
    spec->count = 1;
    spec->domains = ARENA_NEW(elab->ctx->arena, Range);
    return read_range(elab, single ? &absent : start, single ? start : stop, spec->domains) &&
           value_to_attrs(elab, call_arg(call, "annotations"), "the annotations of a loop", &spec->annotations);
}

/* *SIZE: the step that CALL states, or 1. */
static bool read_step(Elab *elab, const Call *call, int64_t *size)
{
    const Value *step = call_arg(call, "step");
    *size = 1;
    if (step->kind == VALUE_ABSENT || step->kind == VALUE_NONE)
        return true;
    const Expr *value = value_to_integer(elab, step, "the step of a loop");
    bool valid = value && expr_const_int(value, size) && *size > 0 && *size <= INT32_MAX;
    if (value && !valid)
        diag_error(elab->ctx, step->span, "the step of a loop must be a positive constant of 32 bits");
    return valid;
}

/* The loop takes each SIZE-th integer of its range: its variable counts them. */
static void count_steps(Elab *elab, int64_t size, LoopSpec *spec)
{
    Context *ctx = elab->ctx;
    Range *domain = spec->domains;
    DType dtype = domain->extent->dtype;
    bool sign = dtype.code == DT_INT; /* an unsigned extent of 0 has no predecessor */
    const Expr *last = op_add(ctx, domain->extent, expr_int(ctx, dtype, sign ? -1 : size - 1));
    spec->first = domain->min;
    spec->step = expr_int(ctx, dtype, size);
    domain->extent = linear_simplify(ctx, op_add(ctx, op_floordiv(ctx, last, spec->step), expr_int(ctx, dtype, sign)));
    domain->min = expr_int(ctx, dtype, 0);
}

/* range(0, n, 2), T.serial(0, n, step=2) and the like. */
Value builtin_loop(Elab *elab, const Call *call)
{
    LoopSpec spec = {.kind = (ForKind)call->builtin->variant};
    int64_t size;
    if (!read_step(elab, call, &size) || !read_loop(elab, call, call_arg(call, "start"), call_arg(call, "stop"), &spec))
        return value_error();
    if (size > 1)
        count_steps(elab, size, &spec);
    return loop_value(elab, spec, call->span);
}

/* T.thread_binding(16, thread="threadIdx.x"), T.thread_binding(16, "threadIdx.x"), T.thread_binding(0, 16, "threadIdx.x"). */
Value builtin_thread_binding(Elab *elab, const Call *call)
{
    static const Value absent = {.kind = VALUE_ABSENT};
    const Value *stop = call_arg(call, "stop"), *thread = call_arg(call, "thread");
    LoopSpec spec = {.kind = FOR_THREAD};
    if (!call_has(call, "thread") && stop->kind == VALUE_STRING) {
        thread = stop;
        stop = &absent;
    }
    if (thread->kind == VALUE_ABSENT || thread->kind == VALUE_NONE) {
        diag_error(elab->ctx, call->span, "T.thread_binding misses the argument 'thread', such as \"threadIdx.x\"");
        return value_error();
    }
    spec.thread = value_to_thread(elab, thread);
    if (!spec.thread || !read_loop(elab, call, call_arg(call, "start"), stop, &spec))
        return value_error();
    return loop_value(elab, spec, call->span);
}

Value builtin_grid(Elab *elab, const Call *call)
{
    static const Value absent = {.kind = VALUE_ABSENT};
    LoopSpec spec = {.kind = FOR_SERIAL, .count = call->rest.count, .domains = ARENA_ARRAY(elab->ctx->arena, Range, call->rest.count)};
    if (spec.count == 0) {
        diag_error(elab->ctx, call->span, "T.grid needs at least one extent");
        return value_error();
    }
    for (int i = 0; i < spec.count; i++) {
        const Value *extent = &call->rest.items[i];
        bool pair = value_is_sequence(extent);
        if (pair && extent->as.list.count != 2) {
            diag_error(elab->ctx, extent->span, "an extent of T.grid is an integer or a pair (start, extent)");
            return value_error();
        }
        if (!(pair ? read_start_extent(elab, extent, &spec.domains[i]) : read_range(elab, &absent, extent, &spec.domains[i])))
            return value_error();
    }
    return loop_value(elab, spec, call->span);
}

/* --- statements --- */

/* Makes the loop variables and binds TARGET to them. */
static Var **bind_loop_vars(Elab *elab, const LoopSpec *spec, const AstNode *target)
{
    Context *ctx = elab->ctx;
    Var **vars = ARENA_ARRAY(ctx->arena, Var *, spec->count);
    Value *values = ARENA_ARRAY(ctx->arena, Value, spec->count);
    bool each = target->kind == AST_TUPLE && target->as.list.count == spec->count;
    for (int i = 0; i < spec->count; i++) {
        Span span = each ? target->as.list.items[i]->span : target->span;
        vars[i] = var_new(ctx, context_intern(ctx, ""), spec->domains[i].extent->dtype, span);
        values[i] = value_fresh_var(elab, vars[i], span);
        map_set(ctx->arena, &elab->loop_domains, vars[i], &spec->domains[i]);
    }
    bool single = spec->count == 1 && target->kind == AST_NAME;
    elab_bind_target(elab, target, single ? values[0] : value_tuple(elab, values, spec->count, target->span));
    if (single && spec->step) {
        scope_forget(elab, target->as.name);
        scope_bind(elab, target->as.name, value_expr(op_add(ctx, spec->first, op_mul(ctx, expr_var(ctx, vars[0]), spec->step)), target->span),
                   target->span);
    }
    return vars;
}

static void build_loops(Elab *elab, const LoopSpec *spec, Var **vars, const Stmt *body, Span span)
{
    for (int i = spec->count - 1; i >= 0; i--) {
        ForStmt loop = {
            .var = vars[i],
            .min = spec->domains[i].min,
            .extent = spec->domains[i].extent,
            .kind = spec->kind,
            .thread = spec->thread,
            .annotations = spec->annotations,
            .body = body,
        };
        body = stmt_for(elab->ctx, loop, span);
    }
    frame_add(elab, body);
}

void elab_for(Elab *elab, const AstNode *node)
{
    Value iterable = elab_expr(elab, node->as.for_loop.iterable);
    if (node->as.for_loop.else_body.count > 0)
        diag_error(elab->ctx, node->span, "a loop with 'else' is not supported");
    if (iterable.kind != VALUE_LOOP && iterable.kind != VALUE_ERROR)
        diag_error(elab->ctx, iterable.span,
                   "cannot loop over %s; use range, T.serial, T.grid, T.parallel, T.vectorized, T.unroll or T.thread_binding",
                   value_kind_name(iterable.kind));
    scope_push(elab);
    if (iterable.kind == VALUE_LOOP) {
        const LoopSpec *spec = iterable.as.loop;
        Var **vars = bind_loop_vars(elab, spec, node->as.for_loop.target);
        for (int i = 0; i < spec->count; i++)
            if (expr_is_int(spec->domains[i].extent, 0) && node->as.for_loop.body.count > 0)
                diag_warning(elab->ctx, WARNING_UNREACHABLE_CODE, node->as.for_loop.body.items[0]->span,
                             "this statement never runs: the loop '%s' has no iteration", vars[i]->name);
        if (frame_allows(elab, spec->count, node->span)) {
            elab->frame->depth += spec->count - 1;
            build_loops(elab, spec, vars, elab_body(elab, FRAME_LOOP, node->as.for_loop.body), node->span);
            elab->frame->depth -= spec->count - 1;
        }
    } else {
        elab_bind_target(elab, node->as.for_loop.target, value_error());
        elab_body(elab, FRAME_LOOP, node->as.for_loop.body);
    }
    scope_pop(elab);
}
