/* With registers of 16 lanes, A[Ramp(b, 1, 40)] = f(B[Ramp(c, 1, 40)]) becomes A[Ramp(b, 1, 16)] = f(B[Ramp(c, 1, 16)]);
   A[Ramp(b + 16, 1, 16)] = ...; A[Ramp(b + 32, 1, 8)] = ...

   LLVM would split the operations of a wide vector one by one and keep all parts of every intermediate value alive at once; and it takes
   vectors whose number of lanes is no power of two apart element by element. Slices do the whole expression for a register at a time. */
#include "ir/vector_slice.h"

#include "ir/walk.h"

/* --- May a slice be stored before the next one is computed? --- */

typedef struct {
    const Stmt *store;
    bool pointers_may_alias, distinct, allowed;
} OrderCheck;

static bool check_load(Visitor *visitor, const Expr *expr)
{
    OrderCheck *check = visitor->data;
    const Buffer *buffer = check->store->as.store.buffer;
    if (expr->kind != EXPR_LOAD)
        return check->allowed;
    bool same_memory = expr->value.buffer->data == buffer->data;
    bool same_element = same_memory && dtype_equal(expr->value.buffer->dtype, buffer->dtype) && load_index_count(expr) == 1 &&
                        expr_equal(expr->args[0], check->store->as.store.indices[0]);
    if ((same_memory && !(same_element && check->distinct)) || (!same_memory && check->pointers_may_alias))
        check->allowed = false;
    return check->allowed;
}

static bool has_distinct_lanes(const Expr *index)
{
    int64_t stride;
    return index->kind == EXPR_RAMP && index->args[0]->dtype.lanes == 1 && expr_const_int(index->args[1], &stride) && stride != 0;
}

/* No lane of EXPR, a part of STORE, reads what another lane writes: each load either is from other memory or has the very index of the store,
   with distinct elements in all lanes. */
static bool reads_no_other_lane(const Stmt *store, const Expr *expr, bool pointers_may_alias)
{
    OrderCheck check = {store, pointers_may_alias, has_distinct_lanes(store->as.store.indices[0]), true};
    Visitor visitor = {.expr = check_load, .data = &check};
    visit_expr(&visitor, expr);
    return check.allowed;
}

bool vector_slices_may_interleave(const Stmt *store, bool pointers_may_alias)
{
    return reads_no_other_lane(store, store->as.store.value, pointers_may_alias);
}

/* --- Which pieces? --- */

typedef struct {
    int lanes, bytes; /* of the widest elements that are computed with */
    bool allowed;
} Content;

/* float16 and bfloat16 compute in float32. */
static int computed_bytes(DType dtype)
{
    int bytes = dtype_bytes(dtype_scalar(dtype));
    return dtype_is_float(dtype) && bytes < 4 ? 4 : bytes;
}

/* EXPR tells for which lanes a condition of indices holds. Indices are wider than most elements, but such a condition mostly stays while a loop runs, and
   takes an instruction for each register of indices however it is cut; the elements would fill a half of theirs. */
static bool compares_indices(const Expr *expr)
{
    bool compares = expr->kind == EXPR_LT || expr->kind == EXPR_LE || expr->kind == EXPR_GT || expr->kind == EXPR_GE || expr->kind == EXPR_EQ ||
                    expr->kind == EXPR_NE;
    for (int i = 0; i < 2 && compares; i++) {
        const Expr *side = expr->args[i];
        compares = (side->kind == EXPR_RAMP || side->kind == EXPR_BROADCAST) && dtype_is_integer(side->dtype) && side->args[0]->dtype.lanes == 1;
    }
    return compares;
}

static bool look_at_expr(Visitor *visitor, const Expr *expr)
{
    Content *content = visitor->data;
    if (expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || op_info(expr->value.op)->result == RESULT_GIVEN))
        content->allowed = false;
    if (expr->kind == EXPR_LOAD && expr->value.buffer->dtype.lanes > 1)
        content->allowed = false;
    if (expr->dtype.lanes == content->lanes && computed_bytes(expr->dtype) > content->bytes)
        content->bytes = computed_bytes(expr->dtype);
    /* indices are computed for the first lane alone */
    return content->allowed && expr->kind != EXPR_LOAD && !compares_indices(expr);
}

static void look_at_value(Content *content, const Expr *value)
{
    Visitor visitor = {.expr = look_at_expr, .data = content};
    visit_expr(&visitor, value);
}

/* What STORE computes. An index that is not even over the lanes is a vector too. */
static Content store_content(const Stmt *store)
{
    Content content = {store->as.store.indices[0]->dtype.lanes, computed_bytes(store->as.store.buffer->dtype), true};
    look_at_value(&content, store->as.store.value);
    if (store->as.store.mask)
        look_at_value(&content, store->as.store.mask);
    return content;
}

static bool is_power_of_two(int value)
{
    return (value & (value - 1)) == 0;
}

/* Where a slice goes is computed after the slices before it are stored. */
static bool places_are_stable(const Stmt *store, bool pointers_may_alias)
{
    return reads_no_other_lane(store, store->as.store.indices[0], pointers_may_alias) &&
           (!store->as.store.mask || reads_no_other_lane(store, store->as.store.mask, pointers_may_alias));
}

/* Slices as wide as a register for CONTENT, or narrower; 1 where they are of no use. */
static int cut_lanes(Context *ctx, const Content *content, int register_bytes, LaneRange **slices)
{
    int lanes = content->lanes, step = register_bytes > content->bytes ? register_bytes / content->bytes : 1, count = 0;
    if (!content->allowed || (lanes <= step && is_power_of_two(lanes)))
        return 1;
    *slices = ARENA_ARRAY(ctx->arena, LaneRange, lanes);
    for (int first = 0; first < lanes; first += (*slices)[count++].count) {
        while (step > lanes - first)
            step /= 2;
        (*slices)[count] = (LaneRange){first, step};
    }
    return count;
}

int vector_slices(Context *ctx, const Stmt *store, int register_bytes, bool pointers_may_alias, LaneRange **slices)
{
    int lanes = store->as.store.indices[0]->dtype.lanes;
    if (store->as.store.index_count != 1 || lanes == 1 || store->as.store.buffer->dtype.lanes > 1)
        return 1;
    Content content = store_content(store);
    return places_are_stable(store, pointers_may_alias) ? cut_lanes(ctx, &content, register_bytes, slices) : 1;
}

int vector_value_slices(Context *ctx, const Expr *value, int register_bytes, LaneRange **slices)
{
    Content content = {value->dtype.lanes, computed_bytes(value->dtype), true};
    look_at_value(&content, value);
    return value->dtype.lanes > 1 ? cut_lanes(ctx, &content, register_bytes, slices) : 1;
}

/* --- Doing it --- */

typedef struct {
    Context *ctx;
    int lanes, first, count; /* of the whole vector; the slice */
    Map vars;                /* lets inside of the expression -> their slice */
    const Map *sliced_lets;  /* see vector_slice_store */
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

static const Expr *slice_ramp(const Slice *slice, const Expr *expr)
{
    if (expr->args[0]->dtype.lanes > 1)
        return pick_lanes(slice, expr);
    const Expr *base = op_add(slice->ctx, expr->args[0], op_mul_int(slice->ctx, expr->args[1], slice->first));
    return slice->count == 1 ? base : expr_ramp(slice->ctx, base, expr->args[1], slice->count);
}

static const Expr *slice_broadcast(const Slice *slice, const Expr *expr)
{
    if (expr->args[0]->dtype.lanes > 1)
        return pick_lanes(slice, expr);
    return slice->count == 1 ? expr->args[0] : expr_broadcast(slice->ctx, expr->args[0], slice->count);
}

/* The vector of SHUFFLE whose lanes in their order are the slice; NULL where there is none. */
static const Expr *vector_of_slice(const Slice *slice, const Expr *shuffle)
{
    int vectors = shuffle->value.split, first_lane = 0;
    int64_t lane;
    for (int v = 0; v < vectors; first_lane += shuffle->args[v++]->dtype.lanes) {
        int found = 0;
        while (found < slice->count && expr_const_int(shuffle->args[vectors + slice->first + found], &lane) && lane == first_lane + found)
            found++;
        if (found == slice->count && shuffle->args[v]->dtype.lanes == slice->count)
            return shuffle->args[v];
    }
    return NULL;
}

static const Expr *slice_shuffle(const Slice *slice, const Expr *expr)
{
    int vectors = expr->value.split;
    const Expr *whole = vector_of_slice(slice, expr);
    if (whole)
        return whole;
    const Expr **args = ARENA_ARRAY(slice->ctx->arena, const Expr *, vectors + slice->count);
    for (int i = 0; i < vectors + slice->count; i++)
        args[i] = expr->args[i < vectors ? i : i + slice->first];
    return expr_shuffle(slice->ctx, dtype_with_lanes(expr->dtype, slice->count), args, vectors + slice->count, vectors);
}

static const Expr *slice_var(const Slice *slice, const Expr *expr)
{
    Var *own = map_get(&slice->vars, expr->value.var);
    const Expr *slices = own ? NULL : map_get(slice->sliced_lets, expr->value.var);
    if (slices)
        return slice_shuffle(slice, slices);
    return own ? expr_var(slice->ctx, own) : pick_lanes(slice, expr);
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
    case EXPR_BROADCAST: return slice_broadcast(slice, expr);
    case EXPR_SHUFFLE: return slice_shuffle(slice, expr);
    case EXPR_LET: return slice_let(slice, expr);
    default: return slice_args(slice, expr);
    }
}

const Expr *vector_slice_value(Context *ctx, const Map *sliced_lets, const Expr *value, LaneRange range)
{
    Slice slice = {.ctx = ctx, .lanes = value->dtype.lanes, .first = range.first, .count = range.count, .sliced_lets = sliced_lets};
    return slice_expr(&slice, value);
}

const Stmt *vector_slice_store(Context *ctx, const Map *sliced_lets, const Stmt *store, LaneRange range)
{
    int lanes = store->as.store.indices[0]->dtype.lanes;
    Slice slice = {.ctx = ctx, .lanes = lanes, .first = range.first, .count = range.count, .sliced_lets = sliced_lets};
    const Expr *index = slice_expr(&slice, store->as.store.indices[0]), *mask = store->as.store.mask;
    return stmt_store(ctx, store->as.store.buffer, &index, 1, slice_expr(&slice, store->as.store.value),
                      mask ? slice_expr(&slice, mask) : NULL, store->span);
}
