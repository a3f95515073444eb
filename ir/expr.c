/* Construction, tables and structural queries of expressions; see expr.h. */
#include "ir/expr.h"

#include <string.h>

#include "ir/fold.h"
#include "ir/walk.h"
#include "support/bug.h"

static const ExprKindInfo kind_infos[] = {
#define X(kind, name, op, precedence) {name, op, precedence},
#include "ir/expr_kinds.def"
#undef X
};

const ExprKindInfo *expr_kind_info(ExprKind kind)
{
    return &kind_infos[kind];
}

static const OpInfo op_infos[] = {
#define X(name, text, fewest, most, effect, result) {text, fewest, most, EFFECT_##effect, RESULT_##result},
#include "ir/intrinsics.def"
#undef X
};

const OpInfo *op_info(Op op)
{
    return &op_infos[op];
}

bool op_find(const char *name, Op *op)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (!strcmp(op_infos[i].name, name)) {
            *op = (Op)i;
            return true;
        }
    return false;
}

/* The payload as 64 bits that are equal exactly for equal payloads (floats by bit pattern, so NaN equals itself and 0.0 differs from
   -0.0). */
static uint64_t payload_bits(const Expr *e)
{
    uint64_t bits = 0;
    switch ((ExprKind)e->kind) {
    case EXPR_VAR:
    case EXPR_LET: return e->value.var->id;
    case EXPR_LOAD: return e->value.buffer->id;
    case EXPR_STRING: return (uintptr_t)e->value.text;
    case EXPR_FLOAT: memcpy(&bits, &e->value.real, sizeof bits); return bits;
    case EXPR_INT: return (uint64_t)e->value.integer;
    case EXPR_CALL: return (uint64_t)e->value.op;
    case EXPR_SHUFFLE: return (uint64_t)e->value.split;
    default: return 0;
    }
}

static uint64_t own_uses(const Expr *node)
{
    switch ((ExprKind)node->kind) {
    case EXPR_VAR:
    case EXPR_LET: return symbol_bit(node->value.var->id);
    case EXPR_LOAD: return symbol_bit(node->value.buffer->id) | symbol_bit(node->value.buffer->data->id);
    default: return 0;
    }
}

/* Completes a node: copies it into the arena, hashes it and notes what it uses. */
static const Expr *expr_finish(Context *ctx, Expr node, const Expr *const *args, int arg_count)
{
    ctx->work++;
    ctx->has_scalable |= dtype_is_scalable(node.dtype);
    node.arg_count = arg_count;
    node.args = arg_count ? arena_copy(ctx->arena, args, sizeof *args * (size_t)arg_count) : NULL;
    uint64_t payload = node.kind == EXPR_STRING ? hash_bytes(node.value.text, strlen(node.value.text)) : payload_bits(&node);
    uint64_t hash = hash_mix(node.kind + 1u, payload);
    hash = hash_mix(hash, (uint64_t)node.dtype.code | (uint64_t)node.dtype.bits << 8 | (uint64_t)node.dtype.lanes << 16 |
                              (uint64_t)node.predicated << 40);
    node.uses = own_uses(&node);
    node.opaque = expr_is_opaque_call(&node);
    for (int i = 0; i < arg_count; i++) {
        hash = hash_mix(hash, args[i]->hash);
        node.uses |= args[i]->uses;
        node.opaque |= args[i]->opaque;
        if (!node.span.file)
            node.span = args[i]->span;
    }
    node.hash = hash;
    return arena_copy(ctx->arena, &node, sizeof node);
}

static const Expr *expr_leaf(Context *ctx, Expr node)
{
    return expr_finish(ctx, node, NULL, 0);
}

const Expr *expr_int_at(Context *ctx, DType dtype, int64_t value, Span span)
{
    return expr_leaf(ctx, (Expr){.kind = EXPR_INT, .dtype = dtype, .span = span, .value.integer = value});
}

const Expr *expr_int(Context *ctx, DType dtype, int64_t value)
{
    return expr_int_at(ctx, dtype, value, span_none());
}

const Expr *expr_bool(Context *ctx, bool value)
{
    return expr_int(ctx, DTYPE_BOOL, value);
}

const Expr *expr_float(Context *ctx, DType dtype, double value)
{
    Expr node = {.kind = EXPR_FLOAT, .dtype = dtype};
    node.value.real = dtype_round_float(dtype, value);
    node.value.literal = value;
    return expr_leaf(ctx, node);
}

const Expr *expr_string(Context *ctx, Str text)
{
    return expr_leaf(ctx, (Expr){.kind = EXPR_STRING, .dtype = DTYPE_HANDLE, .value.text = text});
}

const Expr *expr_var_at(Context *ctx, Var *var, Span span)
{
    return expr_leaf(ctx, (Expr){.kind = EXPR_VAR, .dtype = var->dtype, .span = span, .value.var = var});
}

const Expr *expr_var(Context *ctx, Var *var)
{
    return expr_var_at(ctx, var, span_none());
}

const Expr *expr_cast(Context *ctx, DType dtype, const Expr *value)
{
    return expr_finish(ctx, (Expr){.kind = EXPR_CAST, .dtype = dtype}, &value, 1);
}

const Expr *expr_binary(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    if (!dtype_equal(a->dtype, b->dtype))
        BUG("operands of %s have types %s and %s", kind_infos[kind].name, dtype_name(ctx, a->dtype), dtype_name(ctx, b->dtype));
    bool logical = kind >= EXPR_EQ;
    DType dtype = logical ? dtype_with_lanes(DTYPE_BOOL, a->dtype.lanes) : a->dtype;
    const Expr *args[] = {a, b};
    Expr node = {.kind = (uint8_t)kind, .dtype = dtype, .span = span_join(a->span, b->span)};
    if (a->span.file != b->span.file || node.span.begin > node.span.end)
        node.span = a->span.file ? a->span : b->span;
    return expr_finish(ctx, node, args, 2);
}

const Expr *expr_not(Context *ctx, const Expr *a)
{
    return expr_finish(ctx, (Expr){.kind = EXPR_NOT, .dtype = a->dtype}, &a, 1);
}

const Expr *expr_select(Context *ctx, const Expr *condition, const Expr *if_true, const Expr *if_false)
{
    const Expr *args[] = {condition, if_true, if_false};
    return expr_finish(ctx, (Expr){.kind = EXPR_SELECT, .dtype = if_true->dtype}, args, 3);
}

/* The lanes of a memory access: the product of the buffer's own lanes and those of the (last) vector index. */
static DType access_dtype(const Buffer *buffer, const Expr *const *indices, int index_count)
{
    int lanes = buffer->dtype.lanes;
    for (int i = 0; i < index_count; i++)
        if (indices[i]->dtype.lanes > 1)
            return dtype_with_lanes(buffer->dtype, lanes * indices[i]->dtype.lanes);
    return buffer->dtype;
}

const Expr *expr_load(Context *ctx, Buffer *buffer, const Expr *const *indices, int index_count, const Expr *mask, Span span)
{
    Expr node = {.kind = EXPR_LOAD, .predicated = mask != NULL, .span = span, .value.buffer = buffer};
    node.dtype = access_dtype(buffer, indices, index_count);
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, index_count + 1);
    if (index_count)
        memcpy(args, indices, sizeof *args * (size_t)index_count);
    args[index_count] = mask;
    return expr_finish(ctx, node, args, index_count + (mask != NULL));
}

const Expr *expr_ramp(Context *ctx, const Expr *base, const Expr *stride, int lanes)
{
    const Expr *args[] = {base, stride};
    return expr_finish(ctx, (Expr){.kind = EXPR_RAMP, .dtype = dtype_with_lanes(base->dtype, lanes)}, args, 2);
}

const Expr *expr_broadcast(Context *ctx, const Expr *value, int lanes)
{
    return expr_finish(ctx, (Expr){.kind = EXPR_BROADCAST, .dtype = dtype_with_lanes(value->dtype, lanes * value->dtype.lanes)}, &value, 1);
}

const Expr *expr_let(Context *ctx, Var *var, const Expr *value, const Expr *body)
{
    const Expr *args[] = {value, body};
    return expr_finish(ctx, (Expr){.kind = EXPR_LET, .dtype = body->dtype, .value.var = var}, args, 2);
}

const Expr *expr_shuffle(Context *ctx, DType dtype, const Expr *const *args, int arg_count, int vector_count)
{
    return expr_finish(ctx, (Expr){.kind = EXPR_SHUFFLE, .dtype = dtype, .value.split = vector_count}, args, arg_count);
}

const Expr *expr_call(Context *ctx, DType dtype, Op op, const Expr *const *args, int arg_count, Span span)
{
    return expr_finish(ctx, (Expr){.kind = EXPR_CALL, .dtype = dtype, .span = span, .value.op = op}, args, arg_count);
}

/* The result type of EXPR with new arguments of maybe other lanes or types. */
static DType retyped(const Expr *expr, const Expr *const *args)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_CAST: return dtype_with_lanes(expr->dtype, args[0]->dtype.lanes);
    case EXPR_SELECT: return args[1]->dtype;
    case EXPR_NOT: return args[0]->dtype;
    case EXPR_LOAD: return access_dtype(expr->value.buffer, args, load_index_count(expr));
    case EXPR_RAMP: return dtype_with_lanes(args[0]->dtype, expr->dtype.lanes);
    case EXPR_BROADCAST: return dtype_with_lanes(args[0]->dtype, expr->dtype.lanes / expr->args[0]->dtype.lanes * args[0]->dtype.lanes);
    case EXPR_LET: return args[1]->dtype;
    case EXPR_CALL:
        switch (op_infos[expr->value.op].result) {
        case RESULT_FIRST: return args[0]->dtype;
        case RESULT_SECOND: return args[1]->dtype;
        case RESULT_BOOL: return expr->arg_count ? dtype_with_lanes(expr->dtype, args[0]->dtype.lanes) : expr->dtype;
        default: return expr->dtype;
        }
    default: return expr->dtype;
    }
}

const Expr *expr_with_args(Context *ctx, const Expr *expr, const Expr *const *args)
{
    bool same = true;
    for (int i = 0; i < expr->arg_count; i++)
        same &= args[i] == expr->args[i];
    if (same)
        return expr;
    /* unlike operators, which have names to print by, shifts, bitwise operations and rounding would be read back folded */
    bool call = expr->kind == EXPR_CALL;
    const Expr *folded = call && expr->arg_count == 2   ? fold_bits(ctx, expr->value.op, args[0], args[1])
                         : call && expr->arg_count == 1 ? fold_rounding(ctx, expr->value.op, args[0])
                                                        : NULL;
    if (folded)
        return folded;
    Expr node = *expr;
    if (expr_is_binary(expr)) {
        if (!dtype_equal(args[0]->dtype, args[1]->dtype))
            BUG("operands of %s have types %s and %s", kind_infos[expr->kind].name, dtype_name(ctx, args[0]->dtype),
                dtype_name(ctx, args[1]->dtype));
        node.dtype = expr->kind >= EXPR_EQ ? dtype_with_lanes(DTYPE_BOOL, args[0]->dtype.lanes) : args[0]->dtype;
    } else {
        node.dtype = retyped(expr, args);
    }
    return expr_finish(ctx, node, args, expr->arg_count);
}

const Expr *expr_with_span(Context *ctx, const Expr *expr, Span span)
{
    Expr *copy = arena_copy(ctx->arena, expr, sizeof *expr);
    copy->span = span;
    return copy;
}

bool expr_equal(const Expr *a, const Expr *b)
{
    if (a == b)
        return true;
    if (a->hash != b->hash || a->kind != b->kind || a->arg_count != b->arg_count || a->predicated != b->predicated ||
        !dtype_equal(a->dtype, b->dtype) || payload_bits(a) != payload_bits(b))
        return false;
    for (int i = 0; i < a->arg_count; i++)
        if (!expr_equal(a->args[i], b->args[i]))
            return false;
    return true;
}

bool expr_reads_through_pointers(const Expr *e)
{
    bool reads = false;
    for (int i = 1; (expr_is_call(e, OP_CALL_PURE_EXTERN) || expr_is_call(e, OP_CALL_PURE_INTRIN) || expr_is_call(e, OP_CALL_LLVM_PURE_INTRIN)) && i < e->arg_count; i++)
        reads |= e->args[i]->dtype.code == DT_HANDLE;
    return reads;
}

bool expr_division_may_fail(const Expr *e)
{
    int64_t divisor;
    bool divides = e->kind == EXPR_DIV || e->kind == EXPR_MOD || e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD;
    return divides && dtype_is_integer(e->dtype) && !(expr_const_int(e->args[1], &divisor) && divisor != 0 && divisor != -1);
}

bool expr_is_pure(const Expr *e)
{
    if (e->kind == EXPR_LOAD || (e->kind == EXPR_CALL && op_infos[e->value.op].effect != EFFECT_PURE) || expr_reads_through_pointers(e))
        return false;
    for (int i = 0; i < e->arg_count; i++)
        if (!expr_is_pure(e->args[i]))
            return false;
    return true;
}

ExprKind expr_opposite_compare(ExprKind kind)
{
    switch (kind) {
    case EXPR_EQ: return EXPR_NE;
    case EXPR_NE: return EXPR_EQ;
    case EXPR_LT: return EXPR_GE;
    case EXPR_LE: return EXPR_GT;
    case EXPR_GT: return EXPR_LE;
    default: return EXPR_LT;
    }
}

ExprKind expr_mirrored_compare(ExprKind kind)
{
    switch (kind) {
    case EXPR_LT: return EXPR_GT;
    case EXPR_LE: return EXPR_GE;
    case EXPR_GT: return EXPR_LT;
    case EXPR_GE: return EXPR_LE;
    default: return kind;
    }
}

bool expr_uses_var(const Expr *e, const Var *var)
{
    if (!(e->uses & symbol_bit(var->id)))
        return false;
    if (e->kind == EXPR_VAR)
        return e->value.var == var;
    for (int i = 0; i < e->arg_count; i++)
        if (expr_uses_var(e->args[i], var))
            return true;
    return false;
}

int expr_size(const Expr *e, int most)
{
    int size = 1;
    for (int i = 0; i < e->arg_count && size < most; i++)
        size += expr_size(e->args[i], most - size);
    return size;
}

const char *expr_pure_way(const Expr *call)
{
    bool is_extern = call->kind == EXPR_CALL && (call->value.op == OP_CALL_EXTERN || call->value.op == OP_CALL_PACKED);
    return is_extern ? "; T.call_pure_extern says that a function has none" : "";
}
