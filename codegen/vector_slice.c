/* A[Ramp(b, 1, 256)] = f(B[Ramp(c, 1, 256)]) becomes A[Ramp(b, 1, 64)] = f(B[Ramp(c, 1, 64)]); A[Ramp(b + 64, 1, 64)] = ...

   LLVM would split the operations of a wide vector one by one and keep all parts of every intermediate value alive at once. Slices do the
   whole expression for a few registers' worth of lanes at a time.

   Order: the original store reads everything before it writes anything. Slices give the same if no lane reads what another lane writes:
   each load either is from other memory or has the very index of the store, with distinct elements in all lanes. */
#include "codegen/vector_slice.h"

#include "ir/walk.h"

enum { SLICE_BYTES = 256 };

static int slice_lanes(const Stmt *store)
{
    return SLICE_BYTES / dtype_bytes(store->as.store.buffer->dtype);
}

/* --- May it be done? --- */

typedef struct {
    const Stmt *store;
    bool pointers_may_alias, distinct, allowed;
} SliceCheck;

static bool check_expr(Visitor *visitor, const Expr *expr)
{
    SliceCheck *check = visitor->data;
    const Buffer *buffer = check->store->as.store.buffer;
    if (expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || op_info(expr->value.op)->result == RESULT_GIVEN))
        check->allowed = false;
    if (expr->kind != EXPR_LOAD)
        return check->allowed;
    bool same_memory = expr->value.buffer->data == buffer->data;
    bool same_element = same_memory && dtype_equal(expr->value.buffer->dtype, buffer->dtype) && load_index_count(expr) == 1 &&
                        expr_equal(expr->args[0], check->store->as.store.indices[0]);
    if (expr->value.buffer->dtype.lanes > 1 || (same_memory && !(same_element && check->distinct)) ||
        (!same_memory && check->pointers_may_alias))
        check->allowed = false;
    return check->allowed;
}

static bool has_distinct_lanes(const Expr *index)
{
    int64_t stride;
    return index->kind == EXPR_RAMP && index->args[0]->dtype.lanes == 1 && expr_const_int(index->args[1], &stride) && stride != 0;
}

int vector_slice_count(const Stmt *store, bool pointers_may_alias)
{
    const Expr *index = store->as.store.indices[0];
    int lanes = index->dtype.lanes, step = slice_lanes(store);
    if (store->as.store.index_count != 1 || lanes <= step || store->as.store.buffer->dtype.lanes > 1)
        return 1;
    SliceCheck check = {store, pointers_may_alias, has_distinct_lanes(index), true};
    Visitor visitor = {.expr = check_expr, .data = &check};
    visit_expr(&visitor, index);
    visit_expr(&visitor, store->as.store.value);
    if (store->as.store.mask)
        visit_expr(&visitor, store->as.store.mask);
    return check.allowed ? (lanes + step - 1) / step : 1;
}

/* --- Doing it --- */

typedef struct {
    Context *ctx;
    int lanes, first, count; /* of the whole vector; the slice */
    Map vars;                /* lets inside of the expression -> their slice */
} Slice;

/* Lanes first.. of a value that cannot be computed for some lanes only. */
static const Expr *pick_lanes(const Slice *slice, const Expr *expr)
{
    const Expr **args = ARENA_ARRAY(slice->ctx->arena, const Expr *, slice->count + 1);
    args[0] = expr;
    for (int i = 0; i < slice->count; i++)
        args[i + 1] = expr_int(slice->ctx, DTYPE_INT32, slice->first + i);
    return expr_shuffle(slice->ctx, dtype_with_lanes(expr->dtype, slice->count), args, slice->count + 1, 1);
}

static const Expr *slice_expr(Slice *slice, const Expr *expr);

static const Expr *slice_var(const Slice *slice, const Expr *expr)
{
    Var *own = map_get(&slice->vars, expr->value.var);
    return own ? expr_var(slice->ctx, own) : pick_lanes(slice, expr);
}

static const Expr *slice_ramp(const Slice *slice, const Expr *expr)
{
    if (expr->args[0]->dtype.lanes > 1)
        return pick_lanes(slice, expr);
    const Expr *base = op_add(slice->ctx, expr->args[0], op_mul_int(slice->ctx, expr->args[1], slice->first));
    return expr_ramp(slice->ctx, base, expr->args[1], slice->count);
}

static const Expr *slice_shuffle(const Slice *slice, const Expr *expr)
{
    int vectors = expr->value.split;
    const Expr **args = ARENA_ARRAY(slice->ctx->arena, const Expr *, vectors + slice->count);
    for (int i = 0; i < vectors + slice->count; i++)
        args[i] = expr->args[i < vectors ? i : i + slice->first];
    return expr_shuffle(slice->ctx, dtype_with_lanes(expr->dtype, slice->count), args, vectors + slice->count, vectors);
}

static const Expr *slice_let(Slice *slice, const Expr *expr)
{
    Var *var = expr->value.var;
    const Expr *value = slice_expr(slice, expr->args[0]);
    if (var->dtype.lanes == slice->lanes) {
        Var *own = var_clone(slice->ctx, var, var->name);
        own->dtype = dtype_with_lanes(var->dtype, slice->count);
        map_set(slice->ctx->arena, &slice->vars, var, own);
        var = own;
    }
    return expr_let(slice->ctx, var, value, slice_expr(slice, expr->args[1]));
}

/* Operations that work lane by lane; scalar arguments count for all lanes. */
static const Expr *slice_args(Slice *slice, const Expr *expr)
{
    const Expr **args = ARENA_ARRAY(slice->ctx->arena, const Expr *, expr->arg_count);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = slice_expr(slice, expr->args[i]);
    if (expr->kind == EXPR_CALL)
        return expr_call(slice->ctx, dtype_with_lanes(expr->dtype, slice->count), expr->value.op, args, expr->arg_count, expr->span);
    return expr_with_args(slice->ctx, expr, args);
}

static const Expr *slice_expr(Slice *slice, const Expr *expr)
{
    if (expr->dtype.lanes != slice->lanes)
        return expr;
    switch ((ExprKind)expr->kind) {
    case EXPR_VAR: return slice_var(slice, expr);
    case EXPR_RAMP: return slice_ramp(slice, expr);
    case EXPR_BROADCAST:
        return expr->args[0]->dtype.lanes == 1 ? expr_broadcast(slice->ctx, expr->args[0], slice->count) : pick_lanes(slice, expr);
    case EXPR_SHUFFLE: return slice_shuffle(slice, expr);
    case EXPR_LET: return slice_let(slice, expr);
    default: return slice_args(slice, expr);
    }
}

const Stmt *vector_slice_store(Context *ctx, const Stmt *store, int number)
{
    int step = slice_lanes(store), lanes = store->as.store.indices[0]->dtype.lanes, first = number * step;
    Slice slice = {.ctx = ctx, .lanes = lanes, .first = first, .count = lanes - first < step ? lanes - first : step};
    const Expr *index = slice_expr(&slice, store->as.store.indices[0]), *mask = store->as.store.mask;
    return stmt_store(ctx, store->as.store.buffer, &index, 1, slice_expr(&slice, store->as.store.value),
                      mask ? slice_expr(&slice, mask) : NULL, store->span);
}
