/* Blocks: their frame, iterators, regions, predicate, attributes and init; see elab.h. Regions that the text leaves out stay missing; the pass
   `complete` infers them. */
#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "parser/elab.h"

Value builtin_block(Elab *elab, const Call *call)
{
    bool no_realize = false;
    Str name = context_intern(elab->ctx, "");
    if (call_has(call, "name") && !(name = value_to_string(elab, call_arg(call, "name"), "the name of a block")))
        return value_error();
    if (call_has(call, "no_realize") && !value_to_bool(elab, call_arg(call, "no_realize"), "no_realize", &no_realize))
        return value_error();
    if (no_realize) {
        diag_error(elab->ctx, call->span, "blocks without bindings (no_realize) are not supported");
        return value_error();
    }
    return (Value){.kind = VALUE_BLOCK, .span = call->span, .as.text = name};
}

Value builtin_init(Elab *elab, const Call *call)
{
    (void)elab;
    return (Value){.kind = VALUE_INIT, .span = call->span};
}

/* --- iterators --- */

/* A domain: an extent, or (first, end). */
static bool read_domain(Elab *elab, const Value *value, Range *domain)
{
    Context *ctx = elab->ctx;
    int64_t extent;
    if (!value_is_sequence(value)) {
        domain->extent = value_to_integer(elab, value, "the domain of an axis");
        domain->min = domain->extent ? expr_int(ctx, domain->extent->dtype, 0) : NULL;
    } else {
        if (value->as.list.count != 2) {
            diag_error(ctx, value->span, "the domain of an axis is an extent or a pair (first, end)");
            return false;
        }
        const Value *items = value->as.list.items;
        const Expr *begin = value_to_integer(elab, &items[0], "the domain of an axis"),
                   *end = value_to_integer(elab, &items[1], "the domain of an axis");
        if (!begin || !end || !op_match_types(ctx, &begin, &end, value->span))
            return false;
        *domain = (Range){begin, linear_extent(ctx, begin, end)};
    }
    if (!domain->extent)
        return false;
    if (expr_const_int(domain->extent, &extent) && extent < 0) {
        diag_error(ctx, value->span, "the domain of an axis has the negative extent %lld", (long long)extent);
        return false;
    }
    return true;
}

static Value add_iter(Elab *elab, Frame *frame, IterKind kind, Range domain, const Expr *binding, DType dtype, Span span)
{
    Context *ctx = elab->ctx;
    Iter iter = {var_new(ctx, context_intern(ctx, ""), dtype, span),
                 {op_cast(ctx, dtype, domain.min), op_cast(ctx, dtype, domain.extent)},
                 kind,
                 span};
    vec_push(ctx->arena, &frame->block->iters, iter);
    vec_push(ctx->arena, &frame->block->bindings, op_cast(ctx, dtype, binding));
    return value_fresh_var(elab, iter.var, span);
}

/* Where a value or domain is wider than the variable would be, the variable gets its type; constants adapt. */
static void widen_axis(DType *dtype, const Value *value, const Expr *expr)
{
    bool constant = value_is_number(value) && dtype_holds(*dtype, expr->value.integer);
    if (!constant && expr->dtype.bits > dtype->bits)
        *dtype = expr->dtype;
}

Value builtin_axis(Elab *elab, const Call *call)
{
    Frame *frame = frame_require_block(elab, call);
    DType dtype = DTYPE_INT32;
    Range domain;
    if (!frame || !read_domain(elab, call_arg(call, "dom"), &domain))
        return value_error();
    const Expr *binding = value_to_integer(elab, call_arg(call, "binding"), "the value of an axis");
    if (!binding || (call_has(call, "dtype") && !value_to_dtype(elab, call_arg(call, "dtype"), &dtype)))
        return value_error();
    if (!dtype_is_integer(dtype) || dtype.lanes != 1) {
        diag_error(elab->ctx, call->span, "an axis must be an integer, not %s", dtype_name(elab->ctx, dtype));
        return value_error();
    }
    widen_axis(&dtype, call_arg(call, "dom"), domain.extent);
    widen_axis(&dtype, call_arg(call, "binding"), binding);
    return add_iter(elab, frame, (IterKind)call->builtin->variant, domain, binding, dtype, call->span);
}

static Value remap_one(Elab *elab, Frame *frame, const Call *call, char kind, const Value *binding)
{
    const Expr *expr = value_to_integer(elab, binding, "the value of an axis");
    if (!expr)
        return value_error();
    const Range *domain = expr->kind == EXPR_VAR ? map_get(&elab->loop_domains, expr->value.var) : NULL;
    if (!domain) {
        diag_error(elab->ctx, binding->span,
                   "T.axis.remap takes loop variables only; write T.axis.spatial(extent, value) for other values");
        return value_error();
    }
    if (kind != 'S' && kind != 'R') {
        diag_error(elab->ctx, call_arg(call, "kinds")->span, "unknown kind of axis '%c'; T.axis.remap knows S and R", kind);
        return value_error();
    }
    return add_iter(elab, frame, kind == 'S' ? ITER_SPATIAL : ITER_REDUCE, *domain, expr, expr->dtype, call->span);
}

Value builtin_axis_remap(Elab *elab, const Call *call)
{
    Frame *frame = frame_require_block(elab, call);
    Str kinds = frame ? value_to_string(elab, call_arg(call, "kinds"), "the kinds") : NULL;
    ValueList bindings = value_items(call_arg(call, "bindings"));
    if (!kinds)
        return value_error();
    if ((size_t)bindings.count != strlen(kinds)) {
        diag_error(elab->ctx, call->span, "\"%s\" names %d ax%s, but %d value%s given", kinds, (int)strlen(kinds),
                   strlen(kinds) == 1 ? "is" : "es", bindings.count, bindings.count == 1 ? " is" : "s are");
        return value_error();
    }
    Value *iters = ARENA_ARRAY(elab->ctx->arena, Value, bindings.count);
    for (int i = 0; i < bindings.count; i++) {
        iters[i] = remap_one(elab, frame, call, kinds[i], &bindings.items[i]);
        if (iters[i].kind == VALUE_ERROR)
            return value_error();
    }
    return bindings.count == 1 ? iters[0] : value_tuple(elab, iters, bindings.count, call->span);
}

/* --- what else a block states --- */

Value builtin_where(Elab *elab, const Call *call)
{
    Frame *frame = frame_require_block(elab, call);
    const Expr *predicate = frame ? value_to_scalar_condition(elab, call_arg(call, "predicate"), "the condition of T.where") : NULL;
    if (!predicate)
        return value_error();
    if (frame->block->predicate)
        diag_error(elab->ctx, call->span, "the block has a T.where already; join the conditions with 'and'");
    frame->block->predicate = predicate;
    return value_none(call->span);
}

/* T.reads and T.writes: regions, or one list of them. */
Value builtin_accesses(Elab *elab, const Call *call)
{
    Frame *frame = frame_require_block(elab, call);
    if (!frame)
        return value_error();
    bool writes = call->builtin->variant;
    bool *given = writes ? &frame->block->has_writes : &frame->block->has_reads;
    if (*given) {
        diag_error(elab->ctx, call->span, "the block has a %s already", call->builtin->name);
        return value_error();
    }
    *given = true;
    bool is_list = call->rest.count == 1 && value_is_sequence(&call->rest.items[0]);
    ValueList items = is_list ? call->rest.items[0].as.list : call->rest;
    for (int i = 0; i < items.count; i++) {
        const Region *region = value_to_region(elab, &items.items[i]);
        if (!region)
            return value_error();
        if (writes)
            vec_push(elab->ctx->arena, &frame->block->writes, *region);
        else
            vec_push(elab->ctx->arena, &frame->block->reads, *region);
    }
    return value_none(call->span);
}

Value builtin_block_attr(Elab *elab, const Call *call)
{
    Frame *frame = frame_require_block(elab, call);
    Attrs attrs;
    if (!frame || !value_to_attrs(elab, call_arg(call, "attrs"), "the attributes of a block", &attrs))
        return value_error();
    Str key = attrs_merge(elab->ctx, &frame->block->annotations, attrs);
    if (key)
        diag_error(elab->ctx, call->span, "the block has an attribute '%s' with another value already", key);
    return value_none(call->span);
}

void elab_init(Elab *elab, const Value *value, AstList body)
{
    Frame *frame = elab->frame;
    if (frame->kind != FRAME_BLOCK || frame->enclosing > 0) {
        diag_error(elab->ctx, value->span, "T.init must stand directly in a 'with T.block(...)' body");
        return;
    }
    const Stmt *init = elab_body(elab, FRAME_INIT, body);
    if (frame->block->init)
        diag_error(elab->ctx, value->span, "the block has a T.init already");
    frame->block->init = init;
}

/* --- the whole --- */

static const Stmt *build_block(Elab *elab, const BlockState *state, Str name, const Stmt *body, bool is_root, Span span)
{
    BlockStmt block = {
        .block = block_new(elab->ctx, name, span),
        .iter_count = state->iters.count,
        .iters = state->iters.data,
        .bindings = state->bindings.data,
        .predicate = state->predicate ? state->predicate : expr_bool(elab->ctx, true),
        .reads = state->reads.data,
        .writes = state->writes.data,
        .read_count = state->reads.count,
        .write_count = state->writes.count,
        .reads_inferred = !state->has_reads,
        .writes_inferred = !state->has_writes,
        .incomplete = !is_root && !(state->has_reads && state->has_writes),
        .allocs = state->allocs.data,
        .alloc_count = state->allocs.count,
        .matches = state->matches.data,
        .match_count = state->matches.count,
        .annotations = state->annotations,
        .init = state->init,
        .groups = !is_root && state->has_reads && state->has_writes && !state->reads.count && !state->writes.count,
        .body = body,
    };
    if (block_only_groups(&block))
        block.reads_inferred = block.writes_inferred = block.incomplete = true;
    return stmt_block(elab->ctx, block, span);
}

/* A block that is all of a function's body and has no iterators is the root. What a root accesses is not inferred. */
static bool is_root_block(const Elab *elab, const BlockState *state, bool is_last)
{
    return is_last && elab->frame->kind == FRAME_FUNC && elab->frame->items.count == 0 && elab->func->root_allocs.count == 0 &&
           state->iters.count == 0;
}

void elab_block(Elab *elab, const Value *value, const AstNode *target, AstList body, Span span, bool is_last)
{
    BlockState state = {0};
    Frame frame = {.kind = FRAME_BLOCK, .parent = elab->frame, .block = &state, .depth = elab->frame->depth + elab->frame->enclosing + 1};
    if (target)
        diag_error(elab->ctx, target->span, "a block has nothing to bind to a name; its axes are T.axis.spatial(...) and the like");
    elab->func->holds_blocks = true;
    elab->frame = &frame;
    scope_push(elab);
    elab_statements(elab, body);
    scope_pop(elab);
    elab->frame = frame.parent;
    bool is_root = is_root_block(elab, &state, is_last);
    frame_add(elab, build_block(elab, &state, value->as.text, frame_finish(elab, &frame), is_root, span));
}
