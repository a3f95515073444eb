/* Pass "match": views made by match_buffer become accesses to the buffers below them.

     with T.block("B"):                                                                      with T.block("B"):
         V = T.match_buffer(A[i * 16:i * 16 + 16, 0:16], (16, 16),                               B[i] = A[i * 16, 3]
                            strides=("s", 1), offset_factor=16)                       ->         T.call_extern("int32", "f", A.data, 64)
         B[i] = V[0, 3]
         T.call_extern("int32", "f", V.data, V.strides[0])

   The variables of the view's shape, strides and offset get the values that they have in the buffer below all views; what the view states
   (shape, type, scope, strides, offset, offset_factor, alignment) must be shown to hold there, else it is refused at the view's place. A
   view that names no offset has offset 0: its pointer is the address of its first element. Runs after compaction, which decides the
   strides. */
#include <string.h>

#include "ir/elements.h"
#include "passes/lower/core/checks.h"
#include "passes/lower/core/state.h"
#include "print/print.h"

/* A view in terms of the buffer below all views. */
typedef struct {
    const Buffer *target;
    Buffer *root;
    const Expr **mins;    /* first element, root->ndim */
    const Expr *offset;   /* of that element from root->data */
    bool pointer_at_root; /* the view's data pointer is root->data, as it names its offset; else it points to the first element */
} RootView;

typedef struct {
    Context *ctx;
    Analyzer *an;
    Map views;    /* target Buffer -> RootView */
    Map pointers; /* data Var of a target -> RootView */
    Map aliases;  /* declared Buffer over a view's memory -> Buffer over the root's */
    Subst vars;   /* what views define */
    Map known;    /* Vars that mean something already */
    Map place;    /* Vars that the offset of one view depends on */
} Matcher;

static void know(Matcher *matcher, const Var *var)
{
    map_set(matcher->ctx->arena, &matcher->known, var, (void *)var);
}

/* --- Composition --- */
/* RANGES of SOURCE, a view or not, as ranges of the root in *ROOT. */
static Range *compose_ranges(Matcher *matcher, Buffer *source, const Range *ranges, Buffer **root)
{
    const RootView *below = map_get(&matcher->views, source);
    *root = below ? below->root : source;
    int missing = (*root)->ndim - source->ndim;
    Range *result = ARENA_ARRAY(matcher->ctx->arena, Range, (*root)->ndim);
    for (int d = 0; d < (*root)->ndim; d++) {
        if (d < missing)
            result[d] = range_point(matcher->ctx, below->mins[d]);
        else if (below)
            result[d] = range_from(matcher->ctx, below->mins[d], ranges[d - missing]);
        else
            result[d] = ranges[d];
    }
    return result;
}

static const Expr **root_indices(Matcher *matcher, const RootView *view, const Expr *const *indices)
{
    const Expr **result = ARENA_ARRAY(matcher->ctx->arena, const Expr *, view->root->ndim);
    int missing = view->root->ndim - view->target->ndim;
    for (int d = 0; d < view->root->ndim; d++)
        result[d] = d < missing ? view->mins[d] : analyzer_simplify(matcher->an, op_add(matcher->ctx, view->mins[d], indices[d - missing]));
    return result;
}

/* --- What a view states --- */
static const char *text_of(Matcher *matcher, const Expr *expr)
{
    return print_expr(matcher->ctx, expr);
}

/* PATTERN, stated by the view, stands for VALUE: a new variable is defined, anything else must be equal. */
static bool bind_stated(Matcher *matcher, const Expr *pattern, const Expr *value)
{
    Context *ctx = matcher->ctx;
    if (pattern->kind == EXPR_VAR && !map_has(&matcher->known, pattern->value.var)) {
        know(matcher, pattern->value.var);
        subst_var(ctx, &matcher->vars, pattern->value.var, op_cast(ctx, pattern->dtype, value));
        return true;
    }
    return analyzer_prove(matcher->an, op_compare(ctx, EXPR_EQ, subst_expr(ctx, &matcher->vars, pattern), value));
}

static void refuse(Matcher *matcher, const MatchBuffer *match, const Buffer *root, const char *reason)
{
    diag_error(matcher->ctx, match->target->span, "'%s' does not fit the region of '%s' that it is to be: %s", match->target->name,
               root->name, reason);
    if (match->source.span.file)
        diag_note(matcher->ctx, match->source.span, "the region is given here");
}
#define REFUSE(matcher, match, root, ...) refuse(matcher, match, root, arena_printf((matcher)->ctx->arena, __VA_ARGS__))

static void bind_shape(Matcher *matcher, const MatchBuffer *match, const RootView *view, const Range *ranges)
{
    int missing = view->root->ndim - view->target->ndim;
    for (int d = 0; d < view->root->ndim; d++) {
        const Expr *extent = ranges[d].extent;
        if (d < missing &&
            !analyzer_prove(matcher->an, op_compare(matcher->ctx, EXPR_EQ, extent, expr_int(matcher->ctx, extent->dtype, 1))))
            REFUSE(matcher, match, view->root, "dimension %d of '%s' has extent %s there and is not part of the view", d, view->root->name,
                   text_of(matcher, extent));
        else if (d >= missing && !bind_stated(matcher, view->target->shape[d - missing], extent))
            REFUSE(matcher, match, view->root, "its dimension %d has extent %s, that of the region is %s", d - missing,
                   text_of(matcher, view->target->shape[d - missing]),
                   text_of(matcher, extent));
    }
}

/* A stride along a dimension of one element never counts; a pointer to a view that states no strides means that its elements lie without
   gaps. */
static void bind_strides(Matcher *matcher, const MatchBuffer *match, const RootView *view, const Range *ranges, bool relied_on)
{
    Context *ctx = matcher->ctx;
    const Buffer *target = view->target;
    int missing = view->root->ndim - target->ndim;
    for (int d = 0; d < target->ndim && (target->strides || relied_on); d++) {
        const Expr *stated = target->strides ? target->strides[d] : subst_expr(ctx, &matcher->vars, buffer_stride(ctx, target, d));
        const Expr *real = analyzer_simplify(matcher->an, buffer_stride(ctx, view->root, d + missing));
        if (bind_stated(matcher, stated, real) || expr_is_int(ranges[d + missing].extent, 1))
            continue;
        REFUSE(matcher, match, view->root, "it has stride %s in dimension %d, and the memory of '%s' has %s", text_of(matcher, stated), d,
               view->root->name, text_of(matcher, real));
        if (!target->strides)
            diag_note(ctx, target->span, "it states no strides, and a pointer to it, or a vector beyond a row, is used; strides given as variables fit any memory");
    }
}

static bool is_multiple(Matcher *matcher, const Expr *expr, int64_t factor)
{
    ModularSet set = analyzer_modular(matcher->an, expr);
    if (set.coeff % factor == 0 && set.base % factor == 0)
        return true;
    const Expr *rest = op_floormod(matcher->ctx, expr, expr_int(matcher->ctx, expr->dtype, factor));
    return analyzer_prove(matcher->an, op_compare(matcher->ctx, EXPR_EQ, rest, expr_int(matcher->ctx, expr->dtype, 0)));
}

static bool names_offset(const Buffer *target)
{
    return !expr_is_int(target->elem_offset, 0) || target->offset_factor > 0;
}

static void bind_offset(Matcher *matcher, const MatchBuffer *match, RootView *view)
{
    const Buffer *target = view->target;
    if (view->pointer_at_root && !bind_stated(matcher, target->elem_offset, view->offset))
        REFUSE(matcher, match, view->root, "its offset is %s, that of the region is %s", text_of(matcher, target->elem_offset),
               text_of(matcher, view->offset));
    if (target->offset_factor > 1 && !is_multiple(matcher, view->offset, target->offset_factor))
        REFUSE(matcher, match, view->root, "the offset %s is not shown to be a multiple of its offset_factor %d",
               text_of(matcher, view->offset), target->offset_factor);
}

/* Bytes to which the data pointer of ROOT is aligned for certain: parameters are only to their elements unless they say more, tirc's own
   buffers always to 64, and to no more whatever they say. */
static int certain_alignment(const Matcher *matcher, const Buffer *root)
{
    int element = dtype_bytes(dtype_scalar(root->dtype));
    if (!map_has(&matcher->known, root->data))
        return ALLOCATED_ALIGNMENT;
    return root->data_alignment ? root->data_alignment : element;
}

static void check_kind(Matcher *matcher, const MatchBuffer *match, const RootView *view)
{
    const Buffer *target = view->target, *root = view->root;
    if (!dtype_equal(target->dtype, root->dtype))
        REFUSE(matcher, match, root, "its type is %s, not %s", dtype_name(matcher->ctx, target->dtype),
               dtype_name(matcher->ctx, root->dtype));
    if (strcmp(target->scope, root->scope))
        REFUSE(matcher, match, root, "its scope is '%s', not '%s'", target->scope, root->scope);
    int alignment = certain_alignment(matcher, root), bytes = dtype_bytes(dtype_scalar(root->dtype));
    if (!target->data_alignment)
        return;
    bool aligned = alignment % target->data_alignment == 0;
    if (!view->pointer_at_root && target->data_alignment > bytes)
        aligned &= is_multiple(matcher, view->offset, target->data_alignment / bytes);
    if (!aligned)
        REFUSE(matcher, match, root, "it is to be aligned to %d bytes, which is not shown", target->data_alignment);
}

/* --- Blocks --- */

/* Looks for what relies on the strides that a view states: pointers to it, which are its data variable and the address of one of its elements, and
   vectors that go on behind the end of a row. */
typedef struct {
    Context *ctx;
    const Buffer *target;
    bool found;
} PointerSearch;

static void find_long_vector(PointerSearch *search, const Buffer *buffer, const Expr *const *indices, Span span)
{
    if (buffer != search->target || lanes_reach(search->ctx, buffer, indices, ARENA_ARRAY(search->ctx->arena, Range, buffer->ndim)) == LANES_IN_ROW)
        return;
    search->found = true;
    if (!buffer_is_compact(buffer))
        report_lanes_beyond_rows(search->ctx, buffer, span);
}

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    PointerSearch *search = visitor->data;
    if (expr->kind == EXPR_LOAD)
        find_long_vector(search, expr->value.buffer, expr->args, expr->span);
    bool address = expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD;
    search->found |= expr_is_var(expr, search->target->data) || (address && expr->args[0]->value.buffer == search->target);
    return !search->found;
}

static bool find_declared_pointer(Visitor *visitor, const Stmt *stmt)
{
    PointerSearch *search = visitor->data;
    if (stmt->kind == STMT_STORE)
        find_long_vector(search, stmt->as.store.buffer, stmt->as.store.indices, stmt->span);
    search->found |= stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer->data == search->target->data;
    return !search->found;
}

static bool relies_on_strides(Context *ctx, const BlockStmt *block, const Buffer *target)
{
    PointerSearch search = {.ctx = ctx, .target = target};
    Visitor visitor = {.expr = find_pointer, .stmt = find_declared_pointer, .data = &search};
    visit_stmt(&visitor, block->body);
    if (block->init)
        visit_stmt(&visitor, block->init);
    return search.found;
}

static void add_view(Matcher *matcher, const BlockStmt *block, const MatchBuffer *match)
{
    Context *ctx = matcher->ctx;
    RootView *view = ARENA_NEW(ctx->arena, RootView);
    Region source = subst_region(ctx, &matcher->vars, match->source);
    Range *ranges = compose_ranges(matcher, match->source.buffer, source.ranges, &view->root);
    view->target = match->target;
    view->mins = ARENA_ARRAY(ctx->arena, const Expr *, view->root->ndim);
    for (int d = 0; d < view->root->ndim; d++)
        view->mins[d] = analyzer_simplify(matcher->an, ranges[d].min);
    view->offset = analyzer_simplify(matcher->an, buffer_linear_offset(ctx, view->root, view->mins));
    view->pointer_at_root = names_offset(match->target);
    map_set(ctx->arena, &matcher->views, match->target, view);
    map_set(ctx->arena, &matcher->pointers, match->target->data, view);
    bind_shape(matcher, match, view, ranges);
    bind_strides(matcher, match, view, ranges, relies_on_strides(ctx, block, match->target));
    bind_offset(matcher, match, view);
    check_kind(matcher, match, view);
}

static Region *root_regions(Matcher *matcher, const Region *regions, int count)
{
    Region *result = ARENA_ARRAY(matcher->ctx->arena, Region, count);
    for (int i = 0; i < count; i++) {
        result[i].span = regions[i].span;
        result[i].ranges = compose_ranges(matcher, regions[i].buffer, regions[i].ranges, &result[i].buffer);
    }
    return result;
}

static const Stmt *match_block(Rewriter *rewriter, const Stmt *stmt)
{
    Matcher *matcher = rewriter->data;
    BlockStmt block = stmt->as.block;
    for (int i = 0; i < block.match_count; i++)
        add_view(matcher, &block, &block.matches[i]);
    block.match_count = 0;
    if (matcher->views.count) {
        block.reads = root_regions(matcher, block.reads, block.read_count);
        block.writes = root_regions(matcher, block.writes, block.write_count);
    }
    return rewrite_stmt_children(rewriter, stmt_block(rewriter->ctx, block, stmt->span));
}

/* --- Uses --- */
static const Expr *first_element_address(Matcher *matcher, const RootView *view, Span span)
{
    const Expr *element = expr_load(matcher->ctx, view->root, view->mins, view->root->ndim, NULL, span);
    return expr_call(matcher->ctx, DTYPE_HANDLE, OP_ADDRESS_OF, &element, 1, span);
}

/* T.tvm_access_ptr of a view: the offset counts from the root's pointer, also where the view's own pointer is that of its first element. */
static const Expr *match_access_ptr(Rewriter *rewriter, const Expr *expr)
{
    Matcher *matcher = rewriter->data;
    const RootView *view = expr->args[1]->kind == EXPR_VAR ? map_get(&matcher->pointers, expr->args[1]->value.var) : NULL;
    const Expr *offset = rewrite_expr(rewriter, expr->args[2]), *extent = rewrite_expr(rewriter, expr->args[3]);
    if (!view)
        return rewrite_expr_children(rewriter, expr);
    if (!view->pointer_at_root)
        offset = op_add(matcher->ctx, offset, view->offset);
    const Expr *args[] = {expr->args[0], expr_var(matcher->ctx, view->root->data), analyzer_simplify(matcher->an, offset),
                          analyzer_simplify(matcher->an, extent), expr->args[4]};
    return expr_with_args(matcher->ctx, expr, args);
}

static bool collect_var(Visitor *visitor, const Expr *expr)
{
    Matcher *matcher = visitor->data;
    if (expr->kind == EXPR_VAR)
        map_set(matcher->ctx->arena, &matcher->place, expr->value.var, (void *)expr);
    return true;
}

/* A view that names its offset gives calls the pointer of the whole buffer. CALL can find the view's elements only by its other operands, of
   which one at least must tell where they lie. */
static void check_offset_is_passed(Matcher *matcher, const Expr *call)
{
    for (int i = 0; i < call->arg_count; i++) {
        const RootView *view = call->args[i]->kind == EXPR_VAR ? map_get(&matcher->pointers, call->args[i]->value.var) : NULL;
        if (!view || !view->pointer_at_root)
            continue;
        matcher->place = (Map){0};
        Visitor visitor = {.expr = collect_var, .data = matcher};
        visit_expr(&visitor, view->offset);
        bool told = !matcher->place.count;
        for (int k = 0; k < call->arg_count && !told; k++)
            told = expr_uses_any(subst_expr(matcher->ctx, &matcher->vars, call->args[k]), &matcher->place);
        if (told)
            continue;
        diag_error(matcher->ctx, call->span, "the call is given the pointer of '%s' and not the offset of '%s' in it, which is %s; '%s.access_ptr' gives both",
                   view->root->name, view->target->name, text_of(matcher, view->offset), view->target->name);
        if (view->target->span.file)
            diag_note(matcher->ctx, view->target->span, "the view is here");
    }
}

static const Expr *match_in_expr(Rewriter *rewriter, const Expr *expr)
{
    Matcher *matcher = rewriter->data;
    if (expr->kind == EXPR_CALL)
        check_offset_is_passed(matcher, expr);
    if (expr->kind == EXPR_VAR) {
        const RootView *view = map_get(&matcher->pointers, expr->value.var);
        const Expr *value = map_get(&matcher->vars.vars, expr->value.var);
        if (view)
            return view->pointer_at_root ? expr_var_at(matcher->ctx, view->root->data, expr->span)
                                         : first_element_address(matcher, view, expr->span);
        return value ? value : expr;
    }
    if (expr_is_call(expr, OP_TVM_ACCESS_PTR))
        return match_access_ptr(rewriter, expr);
    const Expr *result = rewrite_expr_children(rewriter, expr);
    const RootView *view = expr->kind == EXPR_LOAD ? map_get(&matcher->views, expr->value.buffer) : NULL;
    if (!view)
        return result;
    return expr_load(matcher->ctx, view->root, root_indices(matcher, view, result->args), view->root->ndim, load_mask(result), expr->span);
}

static const Stmt *match_store(Rewriter *rewriter, const Stmt *stmt)
{
    Matcher *matcher = rewriter->data;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    const RootView *view = map_get(&matcher->views, stmt->as.store.buffer);
    if (!view)
        return result;
    return stmt_store(matcher->ctx, view->root, root_indices(matcher, view, result->as.store.indices), view->root->ndim,
                      result->as.store.value, result->as.store.mask, stmt->span);
}

static const Stmt *match_branch(Rewriter *rewriter, const Stmt *stmt)
{
    Matcher *matcher = rewriter->data;
    const Expr *condition = rewrite_expr(rewriter, stmt->as.branch.condition);
    const Stmt *bodies[2] = {stmt->as.branch.then_body, stmt->as.branch.else_body};
    for (int i = 0; i < 2 && bodies[i]; i++) {
        AnalyzerScope scope = analyzer_enter(matcher->an);
        facts_assume(matcher->an, i ? op_not(matcher->ctx, condition, span_none()) : condition);
        bodies[i] = rewrite_stmt(rewriter, bodies[i]);
        analyzer_leave(matcher->an, scope);
    }
    bool same = condition == stmt->as.branch.condition && bodies[0] == stmt->as.branch.then_body && bodies[1] == stmt->as.branch.else_body;
    return same ? stmt : stmt_if(matcher->ctx, condition, bodies[0], bodies[1], stmt->span);
}

static const Stmt *match_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Matcher *matcher = rewriter->data;
    facts_bind_stmt(matcher->an, stmt);
    if (stmt->kind == STMT_FOR)
        know(matcher, stmt->as.loop.var);
    if (stmt->kind == STMT_LET)
        know(matcher, stmt->as.let.var);
    switch (stmt->kind) {
    case STMT_BLOCK: return match_block(rewriter, stmt);
    case STMT_IF: return match_branch(rewriter, stmt);
    case STMT_STORE: return match_store(rewriter, stmt);
    default: return rewrite_stmt_children(rewriter, stmt);
    }
}

static bool uses_defined(const Matcher *matcher, const Expr *const *exprs, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_any(exprs[i], &matcher->vars.vars))
            return true;
    return false;
}

/* The layout of BUFFER names what views define. */
static bool layout_uses_views(const Matcher *matcher, const Buffer *buffer)
{
    return uses_defined(matcher, buffer->shape, buffer->ndim) || (buffer->strides && uses_defined(matcher, buffer->strides, buffer->ndim)) ||
           uses_defined(matcher, &buffer->elem_offset, 1);
}

static const Expr **substituted(Matcher *matcher, const Expr *const *exprs, int count)
{
    const Expr **result = ARENA_ARRAY(matcher->ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++)
        result[i] = analyzer_simplify(matcher->an, subst_expr(matcher->ctx, &matcher->vars, exprs[i]));
    return result;
}

/* A buffer declared over the memory of a view lies over the root's instead, and one whose layout names what a view defines has the values in
   it. */
static Buffer *match_in_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Matcher *matcher = rewriter->data;
    const RootView *view = map_get(&matcher->pointers, buffer->data);
    if (map_has(&matcher->views, buffer) || (!view && !layout_uses_views(matcher, buffer)))
        return buffer;
    Buffer *alias = map_get(&matcher->aliases, buffer);
    if (!alias) {
        alias = buffer_clone(rewriter->ctx, buffer);
        alias->shape = substituted(matcher, buffer->shape, buffer->ndim);
        alias->strides = buffer->strides ? substituted(matcher, buffer->strides, buffer->ndim) : NULL;
        alias->elem_offset = *substituted(matcher, &buffer->elem_offset, 1);
        alias->data = view ? view->root->data : buffer->data;
        if (view && !view->pointer_at_root)
            alias->elem_offset = op_add(rewriter->ctx, alias->elem_offset, view->offset);
        map_set(rewriter->ctx->arena, &matcher->aliases, buffer, alias);
    }
    return alias;
}

/* The variables that the parameters define; offsets are multiples of the stated factors. */
static void know_params(Matcher *matcher, const Func *func)
{
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        know(matcher, func->params[i].param);
        if (!buffer)
            continue;
        know(matcher, buffer->data);
        for (int d = 0; d < buffer->ndim; d++) {
            if (buffer->shape[d]->kind == EXPR_VAR)
                know(matcher, buffer->shape[d]->value.var);
            if (buffer->strides && buffer->strides[d]->kind == EXPR_VAR)
                know(matcher, buffer->strides[d]->value.var);
        }
        if (buffer->elem_offset->kind != EXPR_VAR)
            continue;
        know(matcher, buffer->elem_offset->value.var);
        if (buffer->offset_factor > 1)
            analyzer_bind_modular(matcher->an, buffer->elem_offset->value.var, buffer->offset_factor, 0);
    }
}

const Func *lower_match(LowerState *state, const Func *func)
{
    Matcher matcher = {.ctx = state->ctx, .an = analyzer_new(state->ctx)};
    facts_bind_sizes(matcher.an, func);
    know_params(&matcher, func);
    Rewriter rewriter = {.ctx = state->ctx, .expr = match_in_expr, .stmt = match_in_stmt, .buffer = match_in_buffer, .data = &matcher};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
