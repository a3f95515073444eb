/* Pass "widen": index arithmetic that could overflow its type is done in int64.

     for i in range((n + 15) // 16):              for i in range((T.Cast("int64", n) + T.int64(15)) // T.int64(16)):
         if i * 16 + j < n:                 ->        if i * T.int64(16) + T.Cast("int64", j) < T.Cast("int64", n):
             A_1[i * 16 + j] = ...                        A_1[i * T.int64(16) + T.Cast("int64", j)] = ...

   What could overflow is found with intervals: of loops and lets from their bounds, of sizes from 0 to the greatest value of their type, of
   everything else the type's own. A loop or let whose value is computed in int64 gets a variable of that type. Values and arithmetic of
   unsigned and narrow types keep their types and wrap: a widened variable there is converted back. Runs last, so that nothing narrows again. */
#include "passes/lower/core/index_vars.h"

/* The values that an expression may have if nothing overflows, cut to int64. */
typedef struct {
    int64_t lo, hi;
    bool overflows; /* some part of the expression may leave its type */
} Extent;

typedef struct {
    Context *ctx;
    IndexVars index_vars;
    Map extents; /* Var -> Extent */
    Map wide;    /* Var -> Var of int64 that takes its place */
} Widener;

/* --- Intervals --- */
static int64_t clamp(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static Extent extent_of_type(DType type)
{
    return (Extent){dtype_min_int(type), dtype_max_int(type), false};
}

static Extent extent_hull(const __int128 *values, int count)
{
    __int128 lo = values[0], hi = values[0];
    for (int i = 1; i < count; i++) {
        lo = values[i] < lo ? values[i] : lo;
        hi = values[i] > hi ? values[i] : hi;
    }
    return (Extent){clamp(lo), clamp(hi), false};
}

static Extent extent_product(Extent a, Extent b)
{
    const __int128 corners[] = {(__int128)a.lo * b.lo, (__int128)a.lo * b.hi, (__int128)a.hi * b.lo, (__int128)a.hi * b.hi};
    return extent_hull(corners, 4);
}

/* Quotients lie between the dividend and 0 or have its size at most; for a positive divisor, floor division keeps the order. */
static Extent extent_quotient(Extent a, Extent b)
{
    if (b.lo > 0) {
        int64_t lo = a.lo < 0 ? -(int64_t)((-(__int128)a.lo + b.lo - 1) / b.lo) : a.lo / b.hi, hi = a.hi < 0 ? 0 : a.hi / b.lo;
        return (Extent){lo, hi, false};
    }
    const __int128 sizes[] = {a.lo, a.hi, -(__int128)a.lo, -(__int128)a.hi};
    return extent_hull(sizes, 4);
}

static Extent extent_remainder(Extent a, Extent b, bool floors)
{
    __int128 size = b.hi > -(__int128)b.lo ? b.hi : -(__int128)b.lo;
    int64_t most = clamp(size - 1);
    if (floors)
        return (Extent){b.lo < 0 ? -most : 0, b.hi > 0 ? most : 0, false};
    return (Extent){a.lo < 0 ? -most : 0, a.hi > 0 ? most : 0, false};
}

static Extent extent_of(const Widener *widener, const Expr *expr);

static Extent extent_union(Extent a, Extent b)
{
    return (Extent){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.overflows || b.overflows};
}

/* The extent of arithmetic of DTYPE that gives VALUES if it does not wrap, as that of indices does not. */
static Extent extent_in_type(DType dtype, Extent values, bool overflows)
{
    Extent type = extent_of_type(dtype_scalar(dtype));
    bool leaves = values.lo < type.lo || values.hi > type.hi;
    if (leaves && !dtype_is_index(dtype))
        return type;
    values.overflows = overflows || (leaves && dtype.bits < 64);
    return values;
}

static Extent extent_of_binary(const Widener *widener, const Expr *expr)
{
    Extent a = extent_of(widener, expr->args[0]), b = extent_of(widener, expr->args[1]), result;
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: result = (Extent){clamp((__int128)a.lo + b.lo), clamp((__int128)a.hi + b.hi), false}; break;
    case EXPR_SUB: result = (Extent){clamp((__int128)a.lo - b.hi), clamp((__int128)a.hi - b.lo), false}; break;
    case EXPR_MUL: result = extent_product(a, b); break;
    case EXPR_DIV:
    case EXPR_FLOORDIV: result = extent_quotient(a, b); break;
    case EXPR_MOD: result = extent_remainder(a, b, false); break;
    case EXPR_FLOORMOD: result = extent_remainder(a, b, true); break;
    case EXPR_MIN: result = (Extent){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi, false}; break;
    case EXPR_MAX: result = (Extent){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, false}; break;
    default: return (Extent){0, 1, a.overflows || b.overflows};
    }
    return extent_in_type(expr->dtype, result, a.overflows || b.overflows);
}

/* base + stride * lane for all lanes. */
static Extent extent_of_ramp(const Widener *widener, const Expr *expr)
{
    Extent base = extent_of(widener, expr->args[0]), stride = extent_of(widener, expr->args[1]);
    Extent reach = extent_product(stride, (Extent){0, expr->dtype.lanes / expr->args[0]->dtype.lanes - 1, false});
    Extent values = {clamp((__int128)base.lo + reach.lo), clamp((__int128)base.hi + reach.hi), false};
    return extent_in_type(expr->dtype, values, base.overflows || stride.overflows);
}

static Extent extent_of(const Widener *widener, const Expr *expr)
{
    Extent type = extent_of_type(dtype_scalar(expr->dtype));
    if (!dtype_is_integer(expr->dtype) && expr->dtype.code != DT_BOOL)
        return type;
    if (expr_is_binary(expr))
        return extent_of_binary(widener, expr);
    switch ((ExprKind)expr->kind) {
    case EXPR_INT: return (Extent){expr->value.integer, expr->value.integer, false};
    case EXPR_VAR: {
        const Extent *known = map_get(&widener->extents, expr->value.var);
        return known ? *known : type;
    }
    case EXPR_CAST: {
        Extent value = dtype_is_integer(expr->args[0]->dtype) ? extent_of(widener, expr->args[0]) : type;
        return value.lo >= type.lo && value.hi <= type.hi ? value : (Extent){type.lo, type.hi, value.overflows};
    }
    case EXPR_RAMP: return extent_of_ramp(widener, expr);
    case EXPR_BROADCAST: return extent_of(widener, expr->args[0]);
    case EXPR_SELECT: return extent_union(extent_of(widener, expr->args[1]), extent_of(widener, expr->args[2]));
    default:
        return expr_is_call(expr, OP_IF_THEN_ELSE) ? extent_union(extent_of(widener, expr->args[1]), extent_of(widener, expr->args[2]))
                                                   : type;
    }
}

/* --- Widening --- */
/* Conversions of a widened variable to its old type and up again are the variable itself. */
static const Expr *drop_round_trip(Rewriter *rewriter, const Expr *expr)
{
    bool up = expr->kind == EXPR_CAST && dtype_equal(dtype_scalar(expr->dtype), DTYPE_INT64) && expr->args[0]->kind == EXPR_CAST;
    const Expr *inner = up ? expr->args[0]->args[0] : NULL;
    const Map *wide_vars = rewriter->data;
    if (inner && inner->kind == EXPR_VAR && map_has(wide_vars, inner->value.var))
        return inner;
    return expr->kind == EXPR_LOAD ? expr : rewrite_expr_children(rewriter, expr);
}

static const Expr *in_int64(Widener *widener, const Expr *expr)
{
    Map made = {0};
    for (int i = 0; i < widener->wide.count; i++)
        map_set(widener->ctx->arena, &made, widener->wide.entries[i].value, widener->wide.entries[i].value);
    Rewriter rewriter = {.ctx = widener->ctx, .expr = drop_round_trip, .data = &made};
    return rewrite_expr(&rewriter, expr_in_int64(widener->ctx, expr));
}

static bool needs_int64(const Widener *widener, const Expr *expr)
{
    return dtype_is_index(expr->dtype) && expr->dtype.bits < 64 &&
           (extent_of(widener, expr).overflows || expr_uses_any(expr, &widener->wide));
}

/* An index, bound or size: in int64 where its own type may not do. */
static const Expr *widen_index(Rewriter *rewriter, const Expr *expr)
{
    Widener *widener = rewriter->data;
    const Expr *result = rewrite_expr(rewriter, expr);
    return needs_int64(widener, expr) ? in_int64(widener, result) : result;
}

static const Expr *widen_comparison(Rewriter *rewriter, const Expr *expr)
{
    Widener *widener = rewriter->data;
    const Expr *a = rewrite_expr(rewriter, expr->args[0]), *b = rewrite_expr(rewriter, expr->args[1]);
    if (!dtype_is_integer(a->dtype) || (!needs_int64(widener, expr->args[0]) && !needs_int64(widener, expr->args[1]))) {
        const Expr *args[] = {a, b};
        return expr_with_args(rewriter->ctx, expr, args);
    }
    return expr_binary(rewriter->ctx, expr->kind, in_int64(widener, a), in_int64(widener, b));
}

static const Expr *widen_in_expr(Rewriter *rewriter, const Expr *expr)
{
    Widener *widener = rewriter->data;
    Context *ctx = rewriter->ctx;
    if (expr->kind == EXPR_VAR) {
        Var *wide = map_get(&widener->wide, expr->value.var);
        return wide ? expr_cast(ctx, expr->dtype, expr_var(ctx, wide)) : expr;
    }
    if (expr_is_compare(expr) && is_index_expr(&widener->index_vars, expr))
        return widen_comparison(rewriter, expr);
    bool pointer = expr_is_call(expr, OP_TVM_ACCESS_PTR);
    if (expr->kind != EXPR_LOAD && !pointer)
        return rewrite_expr_children(rewriter, expr);
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, expr->arg_count);
    for (int i = 0; i < expr->arg_count; i++) {
        bool index = pointer ? i == 2 || i == 3 : i < load_index_count(expr);
        args[i] = index ? widen_index(rewriter, expr->args[i]) : rewrite_expr(rewriter, expr->args[i]);
    }
    return expr_with_args(ctx, expr, args);
}

static void set_extent(Widener *widener, const Var *var, Extent extent)
{
    extent.overflows = false;
    map_set(widener->ctx->arena, &widener->extents, var, arena_copy(widener->ctx->arena, &extent, sizeof extent));
}

/* The variable of int64 that takes the place of VAR. */
static Var *widen_var(Widener *widener, Var *var)
{
    Var *wide = var_new(widener->ctx, var->name, dtype_with_lanes(DTYPE_INT64, var->dtype.lanes), var->span);
    map_set(widener->ctx->arena, &widener->wide, var, wide);
    return wide;
}

static const Stmt *widen_loop(Rewriter *rewriter, const Stmt *stmt)
{
    Widener *widener = rewriter->data;
    ForStmt loop = stmt->as.loop;
    Extent min = extent_of(widener, loop.min), count = extent_of(widener, loop.extent), type = extent_of_type(loop.var->dtype);
    Extent values = {min.lo, clamp((__int128)min.hi + count.hi - 1), false};
    bool wide = needs_int64(widener, loop.min) || needs_int64(widener, loop.extent) || (loop.var->dtype.bits < 64 && values.hi > type.hi);
    set_extent(widener, loop.var, values);
    loop.min = rewrite_expr(rewriter, loop.min);
    loop.extent = rewrite_expr(rewriter, loop.extent);
    if (wide) {
        loop.min = in_int64(widener, loop.min);
        loop.extent = in_int64(widener, loop.extent);
        loop.var = widen_var(widener, loop.var);
    }
    loop.body = rewrite_stmt(rewriter, loop.body);
    if (wide) { /* the shapes of buffers declared below are left */
        Subst subst = {0};
        subst_var(rewriter->ctx, &subst, stmt->as.loop.var,
                  expr_cast(rewriter->ctx, stmt->as.loop.var->dtype, expr_var(rewriter->ctx, loop.var)));
        loop.body = subst_stmt(rewriter->ctx, &subst, loop.body);
    }
    bool same = loop.min == stmt->as.loop.min && loop.extent == stmt->as.loop.extent && loop.body == stmt->as.loop.body;
    return same ? stmt : stmt_for(rewriter->ctx, loop, stmt->span);
}

static const Stmt *widen_let(Rewriter *rewriter, const Stmt *stmt)
{
    Widener *widener = rewriter->data;
    if (!map_has(&widener->index_vars, stmt->as.let.var))
        return rewrite_stmt_children(rewriter, stmt);
    bool wide = needs_int64(widener, stmt->as.let.value);
    set_extent(widener, stmt->as.let.var, extent_of(widener, stmt->as.let.value));
    const Expr *value = widen_index(rewriter, stmt->as.let.value);
    Var *var = wide ? widen_var(widener, stmt->as.let.var) : stmt->as.let.var;
    return stmt_let(rewriter->ctx, var, value, rewrite_stmt(rewriter, stmt->as.let.body), stmt->span);
}

static const Stmt *widen_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Widener *widener = rewriter->data;
    index_vars_add(rewriter->ctx, &widener->index_vars, stmt);
    Stmt copy = *stmt;
    switch (stmt->kind) {
    case STMT_FOR: return widen_loop(rewriter, stmt);
    case STMT_LET: return widen_let(rewriter, stmt);
    case STMT_STORE: {
        const Expr *index = widen_index(rewriter, stmt->as.store.indices[0]);
        const Expr *mask = stmt->as.store.mask ? rewrite_expr(rewriter, stmt->as.store.mask) : NULL;
        return stmt_store(rewriter->ctx, stmt->as.store.buffer, &index, 1, rewrite_expr(rewriter, stmt->as.store.value), mask, stmt->span);
    }
    case STMT_ALLOCATE: {
        const Expr *extent = widen_index(rewriter, stmt->as.allocate.extents[0]);
        copy.as.allocate.extents = arena_copy(rewriter->ctx->arena, &extent, sizeof extent);
        copy.as.allocate.condition = rewrite_expr(rewriter, stmt->as.allocate.condition);
        copy.as.allocate.body = rewrite_stmt(rewriter, stmt->as.allocate.body);
        return stmt_new(rewriter->ctx, &copy);
    }
    default: return rewrite_stmt_children(rewriter, stmt);
    }
}

const Func *lower_widen(LowerState *state, const Func *func)
{
    Widener widener = {.ctx = state->ctx, .index_vars = index_vars_of_params(state->ctx, func)};
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++)
            if (buffer->shape[d]->kind == EXPR_VAR)
                set_extent(&widener, buffer->shape[d]->value.var, (Extent){0, dtype_max_int(buffer->shape[d]->dtype), false});
    }
    Rewriter rewriter = {.ctx = state->ctx, .expr = widen_in_expr, .stmt = widen_in_stmt, .data = &widener};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
