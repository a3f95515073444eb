/* See linear_sum.h. The sum is written positive terms first, then a positive constant, then what is subtracted: 60 - i, i * 16 + 3. */
#include "ir/linear_sum.h"

#include "ir/fold.h"

static bool is_signed_scalar(const Expr *expr)
{
    return expr->dtype.code == DT_INT && expr->dtype.lanes == 1;
}

static const Expr *simplify_atom(Context *ctx, const Expr *expr);

/* --- building a sum --- */

static bool sum_add_constant(LinearSum *sum, int64_t value, int64_t scale)
{
    int64_t product;
    return !__builtin_mul_overflow(value, scale, &product) && !__builtin_add_overflow(sum->constant, product, &sum->constant);
}

static bool sum_add_atom(Context *ctx, LinearSum *sum, const Expr *atom, int64_t scale)
{
    for (int i = 0; i < sum->terms.count; i++) {
        LinearTerm *term = &sum->terms.data[i];
        if (!expr_equal(term->atom, atom))
            continue;
        if (__builtin_add_overflow(term->coefficient, scale, &term->coefficient))
            return false;
        if (term->coefficient == 0) {
            memmove(term, term + 1, sizeof *term * (size_t)(sum->terms.count - i - 1));
            sum->terms.count--;
        }
        return true;
    }
    LinearTerm term = {atom, scale};
    vec_push(ctx->arena, &sum->terms, term);
    return true;
}

/* Adds SCALE * EXPR. DONE: its atoms are simplified already, and doing it again would cost twice the time at each level of nesting. */
static bool sum_add(Context *ctx, LinearSum *sum, const Expr *expr, int64_t scale, bool done)
{
    int64_t product, factor;
    switch (expr->kind) {
    case EXPR_INT: return sum_add_constant(sum, expr->value.integer, scale);
    case EXPR_ADD: return sum_add(ctx, sum, expr->args[0], scale, done) && sum_add(ctx, sum, expr->args[1], scale, done);
    case EXPR_SUB:
        return scale != INT64_MIN && sum_add(ctx, sum, expr->args[0], scale, done) && sum_add(ctx, sum, expr->args[1], -scale, done);
    case EXPR_MUL:
        for (int i = 0; i < 2; i++)
            if (expr_const_int(expr->args[i], &factor))
                return factor == 0 ||
                       (!__builtin_mul_overflow(scale, factor, &product) && sum_add(ctx, sum, expr->args[1 - i], product, done));
        break;
    default: break;
    }
    if (done)
        return sum_add_atom(ctx, sum, expr, scale);
    const Expr *atom = simplify_atom(ctx, expr);
    return atom->kind >= EXPR_ADD && atom->kind <= EXPR_MUL && atom != expr ? sum_add(ctx, sum, atom, scale, true)
                                                                            : sum_add_atom(ctx, sum, atom, scale);
}

/* --- writing a sum --- */

static const Expr *scaled(Context *ctx, const Expr *atom, int64_t coefficient)
{
    return coefficient == 1 ? atom : op_mul_int(ctx, atom, coefficient);
}

/* SUM as an expression of DTYPE; NULL when a coefficient does not fit the type. */
static const Expr *sum_to_expr(Context *ctx, const LinearSum *sum, DType dtype)
{
    const Expr *result = NULL;
    for (int i = 0; i < sum->terms.count; i++) {
        const LinearTerm *term = &sum->terms.data[i];
        if (!dtype_holds(dtype, term->coefficient) || term->coefficient == dtype_min_int(dtype))
            return NULL;
        if (term->coefficient > 0) {
            const Expr *value = scaled(ctx, term->atom, term->coefficient);
            result = result ? op_add(ctx, result, value) : value;
        }
    }
    if (!dtype_holds(dtype, sum->constant) || sum->constant == dtype_min_int(dtype))
        return NULL;
    if (sum->constant > 0 || !result)
        result = result ? op_add_int(ctx, result, sum->constant) : expr_int(ctx, dtype, sum->constant > 0 ? sum->constant : 0);
    for (int i = 0; i < sum->terms.count; i++)
        if (sum->terms.data[i].coefficient < 0)
            result = op_sub(ctx, result, scaled(ctx, sum->terms.data[i].atom, -sum->terms.data[i].coefficient));
    return sum->constant < 0 ? op_sub(ctx, result, expr_int(ctx, dtype, -sum->constant)) : result;
}

/* --- division --- */

/* Splits SUM into DIVISOR * *QUOTIENT + *REST by the terms that DIVISOR divides. */
static void sum_split(Context *ctx, const LinearSum *sum, int64_t divisor, LinearSum *quotient, LinearSum *rest)
{
    for (int i = 0; i < sum->terms.count; i++) {
        LinearTerm term = sum->terms.data[i];
        if (term.coefficient % divisor != 0) {
            vec_push(ctx->arena, &rest->terms, term);
            continue;
        }
        term.coefficient /= divisor;
        vec_push(ctx->arena, &quotient->terms, term);
    }
    if (rest->terms.count == 0 || sum->constant % divisor == 0) {
        quotient->constant = floor_divide(sum->constant, divisor);
        rest->constant = floor_modulo(sum->constant, divisor);
    } else {
        rest->constant = sum->constant;
    }
}

/* Floor division or remainder of ARGS (simplified), or NULL when nothing is gained. */
static const Expr *simplify_division(Context *ctx, ExprKind kind, const Expr *const *args)
{
    int64_t divisor;
    LinearSum sum = {0}, quotient = {0}, rest = {0};
    if (!expr_const_int(args[1], &divisor) || divisor <= 0 || !sum_add(ctx, &sum, args[0], 1, true))
        return NULL;
    DType dtype = args[0]->dtype;
    sum_split(ctx, &sum, divisor, &quotient, &rest);
    if (quotient.terms.count == 0 && quotient.constant == 0 && rest.terms.count > 0)
        return NULL;
    const Expr *part = sum_to_expr(ctx, &rest, dtype);
    if (!part || kind == EXPR_FLOORMOD)
        return part ? op_floormod(ctx, part, args[1]) : NULL;
    return sum_add(ctx, &quotient, op_floordiv(ctx, part, args[1]), 1, true) ? sum_to_expr(ctx, &quotient, dtype) : NULL;
}

static bool simplified_difference(Context *ctx, const Expr *a, const Expr *b, int64_t *difference);

/* Joins the terms c * ((q + k) // d) - c * (q // d), which are c * ((q % d + k) // d), where there is such a pair. */
static bool join_quotients(Context *ctx, LinearSum *sum, int plus, int minus)
{
    const LinearTerm *a = &sum->terms.data[plus], *b = &sum->terms.data[minus];
    int64_t divisor, other, offset;
    if (a->coefficient <= 0 || b->coefficient != -a->coefficient || a->atom->kind != EXPR_FLOORDIV || b->atom->kind != EXPR_FLOORDIV)
        return false;
    if (!expr_const_int(a->atom->args[1], &divisor) || !expr_const_int(b->atom->args[1], &other) || divisor != other || divisor <= 0)
        return false;
    if (!simplified_difference(ctx, a->atom->args[0], b->atom->args[0], &offset) || !dtype_holds(a->atom->dtype, offset))
        return false;
    const Expr *rest = op_add_int(ctx, op_floormod(ctx, b->atom->args[0], a->atom->args[1]), offset);
    LinearTerm joined = {op_floordiv(ctx, rest, a->atom->args[1]), a->coefficient};
    int first = plus < minus ? plus : minus, second = plus + minus - first;
    sum->terms.data[first] = joined;
    memmove(&sum->terms.data[second], &sum->terms.data[second + 1], sizeof joined * (size_t)(sum->terms.count - second - 1));
    sum->terms.count--;
    return true;
}

static void join_all_quotients(Context *ctx, LinearSum *sum)
{
    for (int i = 0; i < sum->terms.count; i++)
        for (int j = 0; j < sum->terms.count; j++)
            if (i != j && join_quotients(ctx, sum, i, j)) {
                i = -1;
                break;
            }
}

/* --- simplification --- */

/* True when A - B, of one type and simplified, is the same for all values of the variables: *DIFFERENCE. */
static bool simplified_difference(Context *ctx, const Expr *a, const Expr *b, int64_t *difference)
{
    LinearSum sum = {0};
    if (!sum_add(ctx, &sum, a, 1, true) || !sum_add(ctx, &sum, b, -1, true) || sum.terms.count > 0)
        return false;
    *difference = sum.constant;
    return true;
}

/* A minimum (maximum) of KIND that counts OPERAND already: min(min(min(x, y), z), y). It is looked for four levels deep. */
static bool counts_operand(ExprKind kind, const Expr *least, const Expr *operand)
{
    if (least->kind == kind && expr_equal(least->args[0], operand))
        return true;
    for (int level = 0; level < 4 && least->kind == kind; level++, least = least->args[0])
        if (expr_equal(least->args[1], operand))
            return true;
    return false;
}

/* The least (greatest) of simplified ARGS where one of them is known to be, else NULL. */
static const Expr *simplify_extreme(Context *ctx, ExprKind kind, const Expr *const *args)
{
    int64_t difference;
    if (simplified_difference(ctx, args[0], args[1], &difference))
        return args[(difference > 0) == (kind == EXPR_MIN)];
    return counts_operand(kind, args[0], args[1]) ? args[0] : NULL;
}

/* KIND over simplified ARGS: something simpler, or NULL. */
static const Expr *simplify_binary(Context *ctx, ExprKind kind, const Expr *const *args)
{
    const Expr *folded = fold_binary(ctx, kind, args[0], args[1]);
    if (folded)
        return folded;
    if (kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD)
        return simplify_division(ctx, kind, args);
    return kind == EXPR_MIN || kind == EXPR_MAX ? simplify_extreme(ctx, kind, args) : NULL;
}

/* EXPR, which is no sum, with its operands simplified and constants folded. */
static const Expr *simplify_atom(Context *ctx, const Expr *expr)
{
    if (expr->arg_count == 0)
        return expr;
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, expr->arg_count);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = linear_simplify(ctx, expr->args[i]);
    const Expr *simpler = is_signed_scalar(expr) && expr_is_binary(expr) ? simplify_binary(ctx, (ExprKind)expr->kind, args) : NULL;
    return simpler ? simpler : expr_with_args(ctx, expr, args);
}

const Expr *linear_extreme(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    const Expr *args[] = {a, b};
    const Expr *simpler = is_signed_scalar(a) ? simplify_binary(ctx, kind, args) : NULL;
    return simpler ? simpler : expr_binary(ctx, kind, a, b);
}

const Expr *linear_simplify(Context *ctx, const Expr *expr)
{
    LinearSum sum = {0};
    if (!is_signed_scalar(expr) || expr->kind < EXPR_ADD || expr->kind > EXPR_MUL)
        return simplify_atom(ctx, expr);
    if (!sum_add(ctx, &sum, expr, 1, false))
        return expr;
    join_all_quotients(ctx, &sum);
    const Expr *result = sum_to_expr(ctx, &sum, expr->dtype);
    return result ? result : expr;
}

bool linear_sum_of(Context *ctx, const Expr *expr, LinearSum *sum)
{
    *sum = (LinearSum){0};
    return is_signed_scalar(expr) && sum_add(ctx, sum, expr, 1, false);
}

const Expr *linear_extent(Context *ctx, const Expr *begin, const Expr *end)
{
    if (expr_is_int(begin, 0))
        return end;
    if (end->kind == EXPR_ADD && expr_equal(end->args[0], begin))
        return end->args[1];
    return linear_simplify(ctx, op_sub(ctx, end, begin));
}

/* What is left of SUM is variables, which are as simple as they can be. */
static bool holds_only_leaves(const LinearSum *sum)
{
    for (int i = 0; i < sum->terms.count; i++)
        if (sum->terms.data[i].atom->arg_count > 0)
            return false;
    return true;
}

/* The same; *ONLY_LEAVES: not for want of simplification. */
static bool find_difference(Context *ctx, const Expr *a, const Expr *b, bool done, int64_t *difference, bool *only_leaves)
{
    LinearSum sum = {0};
    bool added = is_signed_scalar(a) && is_signed_scalar(b) && sum_add(ctx, &sum, a, 1, done) && sum_add(ctx, &sum, b, -1, done);
    *difference = sum.constant;
    *only_leaves = added && holds_only_leaves(&sum);
    return added && !sum.terms.count;
}

bool linear_difference_as_written(Context *ctx, const Expr *a, const Expr *b, int64_t *difference)
{
    bool only_leaves;
    return find_difference(ctx, a, b, true, difference, &only_leaves);
}

bool linear_difference(Context *ctx, const Expr *a, const Expr *b, int64_t *difference)
{
    bool only_leaves;
    if (find_difference(ctx, a, b, true, difference, &only_leaves))
        return true;
    return !only_leaves && find_difference(ctx, a, b, false, difference, &only_leaves);
}

const Expr *linear_gather(Context *ctx, const Expr *expr)
{
    LinearSum sum = {0};
    const Expr *result = is_signed_scalar(expr) && sum_add(ctx, &sum, expr, 1, true) ? sum_to_expr(ctx, &sum, expr->dtype) : NULL;
    return result ? result : expr;
}

bool linear_coefficient(Context *ctx, const Expr *index, const Var *var, int64_t *coefficient)
{
    LinearSum sum = {0};
    *coefficient = 0;
    if (!linear_sum_of(ctx, index, &sum))
        return false;
    for (int i = 0; i < sum.terms.count; i++) {
        const LinearTerm *term = &sum.terms.data[i];
        const Expr *atom = term->atom;
        int64_t inside = 1;
        if (!expr_uses_var(atom, var))
            continue;
        bool is_widened = atom->kind == EXPR_CAST && atom->dtype.bits >= atom->args[0]->dtype.bits;
        if (!expr_is_var(atom, var) && !(is_widened && linear_coefficient(ctx, atom->args[0], var, &inside)))
            return false;
        if (__builtin_mul_overflow(inside, term->coefficient, &inside) || __builtin_add_overflow(*coefficient, inside, coefficient))
            return false;
    }
    return true;
}
