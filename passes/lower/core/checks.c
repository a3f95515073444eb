/* See checks.h.

     A: T.Buffer((n * m,))                  ->   assert n <= 9223372036854775807 // max(m, 1) ...   before n * m is used
     A: T.Buffer((8, 4), strides=[s, 1])    ->   assert s > (3 where 1 <= s)

   An assert may rely on those before it: where one fails, those after it are not computed. */
#include "passes/lower/core/checks.h"

#include "ir/elements.h"

void checks_require(CheckList *checks, const Expr *condition, const char *message, Span span)
{
    if (expr_is_int(condition, 1))
        return;
    const Expr *text = expr_string(checks->ctx, context_intern(checks->ctx, message));
    Stmt check = {.kind = STMT_ASSERT, .span = span, .as.assertion = {condition, text, NULL}};
    vec_push(checks->ctx->arena, &checks->asserts, stmt_new(checks->ctx, &check));
}

const Stmt *checks_around(const CheckList *checks, const Stmt *body)
{
    for (int i = checks->asserts.count - 1; i >= 0; i--)
        body = stmt_with_body(checks->ctx, checks->asserts.data[i], body);
    return body;
}

/* --- exact values --- */

static const Expr *wide(const CheckList *checks, int64_t value)
{
    return expr_int(checks->ctx, DTYPE_INT64, value);
}

/* The larger one of VALUE and -VALUE, of int64. */
static const Expr *magnitude(const CheckList *checks, const Expr *value)
{
    int64_t known;
    if (expr_const_int(value, &known))
        return wide(checks, known < 0 ? -known : known);
    return op_max(checks->ctx, value, op_sub(checks->ctx, wide(checks, 0), value));
}

/* A bound of what the values of EXPR can be: of its type, or of what its operands can be. */
static double largest(const Expr *expr)
{
    int64_t value;
    if (expr_const_int(expr, &value))
        return value < 0 ? -(double)value : (double)value;
    if (expr->kind == EXPR_MUL)
        return largest(expr->args[0]) * largest(expr->args[1]);
    if (expr->kind == EXPR_ADD || expr->kind == EXPR_SUB)
        return largest(expr->args[0]) + largest(expr->args[1]);
    if (expr->kind == EXPR_CAST && dtype_is_integer(expr->args[0]->dtype) && expr->args[0]->dtype.bits < expr->dtype.bits)
        return largest(expr->args[0]);
    int bits = expr->dtype.bits - (expr->dtype.code == DT_INT);
    return bits < 63 ? (double)(INT64_C(1) << bits) : 0x1p64;
}

/* VALUE lies in [-MOST, MOST]. */
static void require_within(CheckList *checks, const Expr *value, const Expr *most, const char *message, Span span)
{
    Context *ctx = checks->ctx;
    const Expr *least = op_sub(ctx, wide(checks, 0), most);
    int64_t limit;
    if (expr_const_int(most, &limit) && largest(value) <= (double)limit)
        return;
    checks_require(checks, op_and(ctx, op_compare(ctx, EXPR_LE, least, value), op_compare(ctx, EXPR_LE, value, most)), message, span);
}

static const Expr *exact_product(CheckList *checks, const Expr *a, const Expr *b, const char *message, Span span)
{
    Context *ctx = checks->ctx;
    const Expr *limit = wide(checks, INT64_MAX), *divisor = expr_const_int(a, &(int64_t){0}) ? a : b, *other = divisor == a ? b : a;
    if (expr_is_int(divisor, 0) || expr_is_int(other, 0))
        return wide(checks, 0);
    require_within(checks, divisor, limit, message, span);
    require_within(checks, other, op_binary(ctx, EXPR_FLOORDIV, limit, op_max(ctx, magnitude(checks, divisor), wide(checks, 1)), span_none()), message,
                   span);
    return op_mul(ctx, a, b);
}

const Expr *checks_exact(CheckList *checks, const Expr *expr, const char *message, Span span)
{
    Context *ctx = checks->ctx;
    bool steps = expr->kind == EXPR_ADD || expr->kind == EXPR_SUB || expr->kind == EXPR_MUL;
    if (!steps || largest(expr) <= 0x1p62)
        return expr_in_int64(ctx, expr);
    const Expr *a = checks_exact(checks, expr->args[0], message, span), *b = checks_exact(checks, expr->args[1], message, span);
    if (expr->kind == EXPR_MUL)
        return exact_product(checks, a, b, message, span);
    require_within(checks, a, wide(checks, INT64_MAX / 2), message, span);
    require_within(checks, b, wide(checks, INT64_MAX / 2), message, span);
    return op_binary(ctx, expr->kind, a, b, span_none());
}

/* --- distinct elements --- */

typedef struct {
    const Expr **lasts;   /* the last index of each dimension; 0 where there is none */
    const Expr **strides; /* magnitudes */
} Layout;

/* The numbers of BUFFER, known not to reach too far in any dimension for their sum. */
static Layout checked_layout(CheckList *checks, const Buffer *buffer, const char *message)
{
    Context *ctx = checks->ctx;
    Layout layout = {ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim), ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim)};
    const Expr *most = wide(checks, INT64_MAX / 4 / (buffer->ndim + 1));
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *extent = checks_exact(checks, buffer->shape[d], message, buffer->span);
        const Expr *stride = checks_exact(checks, buffer->strides[d], message, buffer->span);
        layout.lasts[d] = op_sub(ctx, op_max(ctx, extent, wide(checks, 1)), wide(checks, 1));
        require_within(checks, stride, op_binary(ctx, EXPR_FLOORDIV, most, op_max(ctx, layout.lasts[d], wide(checks, 1)), span_none()), message,
                       buffer->span);
        layout.strides[d] = magnitude(checks, stride);
    }
    return layout;
}

static const Expr *has_no_elements(const CheckList *checks, const Buffer *buffer)
{
    Context *ctx = checks->ctx;
    const Expr *empty = expr_bool(ctx, false);
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *extent = expr_in_int64(ctx, buffer->shape[d]);
        empty = op_or(ctx, empty, op_compare(ctx, EXPR_LE, extent, wide(checks, 0)));
    }
    return empty;
}

/* What strides_keep_apart asks of dimension DIM. */
static const Expr *reaches_beyond(const CheckList *checks, const Layout *layout, int ndim, int dim)
{
    Context *ctx = checks->ctx;
    const Expr *reach = wide(checks, 0);
    for (int d = 0; d < ndim; d++) {
        if (d == dim)
            continue;
        const Expr *smaller = op_compare(ctx, EXPR_LE, layout->strides[d], layout->strides[dim]);
        const Expr *part = op_mul(ctx, layout->lasts[d], layout->strides[d]);
        if (expr_is_int(smaller, 1))
            reach = op_add(ctx, reach, part);
        else if (!expr_is_int(smaller, 0))
            reach = op_add(ctx, reach, expr_select(ctx, smaller, part, wide(checks, 0)));
    }
    return op_compare(ctx, EXPR_GT, layout->strides[dim], reach);
}

void checks_distinct_elements(CheckList *checks, const Buffer *buffer)
{
    Context *ctx = checks->ctx;
    int64_t first[buffer->ndim + 1], second[buffer->ndim + 1];
    if (buffer_elements(buffer, first, second) != ELEMENTS_UNKNOWN)
        return;
    const char *message = arena_printf(ctx->arena, "the strides of '%s', which is written, may make one cell of two elements", buffer->name);
    Layout layout = checked_layout(checks, buffer, message);
    const Expr *empty = has_no_elements(checks, buffer);
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *single = op_compare(ctx, EXPR_LE, layout.lasts[d], wide(checks, 0));
        if (expr_is_int(single, 1))
            continue;
        const Expr *apart = reaches_beyond(checks, &layout, buffer->ndim, d);
        checks_require(checks, op_or(ctx, op_or(ctx, empty, single), apart), message, buffer->span);
    }
}

void report_lanes_beyond_rows(Context *ctx, const Buffer *buffer, Span span)
{
    diag_error(ctx, span, "the lanes of this access leave a row of '%s', whose rows do not follow on one another in memory", buffer->name);
}
