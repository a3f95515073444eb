/* The canonical simplifier's visit of sums, products, divisions, casts and strict comparisons of index expressions. */
#include "passes/arith/linear.h"

#include "ir/fold.h"

bool canonical_handles(const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
    case EXPR_DIV:
    case EXPR_MOD:
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return is_index_type(expr->dtype);
    case EXPR_CAST: return is_index_type(expr->dtype) && is_index_type(expr->args[0]->dtype);
    case EXPR_LT: return is_index_type(expr->args[0]->dtype);
    default: return false;
    }
}

/* EXPR of its operands, each simplified to an expression: what always works. */
static Linear plain(Simplifier *s, const Expr *expr)
{
    Context *ctx = s->an->ctx;
    const Expr *args[2] = {NULL};
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = simplify_visit(s, expr->args[i]);
    if (expr->kind == EXPR_CAST)
        return linear_of_expr(op_cast(ctx, expr->dtype, args[0]));
    const Expr *folded = fold_binary(ctx, expr->kind, args[0], args[1]);
    return linear_of_expr(folded ? folded : expr_with_args(ctx, expr, args));
}

static bool is_constant_form(const Linear *value, int64_t *constant)
{
    return value->form == LINEAR_EXPR && expr_const_int(value->expr, constant);
}

/* The fold of two operands of which one at least is a constant: a constant, or the other operand in its form. */
static bool fold_forms(Simplifier *s, ExprKind kind, const Linear *a, const Linear *b, Linear *result)
{
    int64_t left, right;
    bool constant_a = is_constant_form(a, &left), constant_b = is_constant_form(b, &right);
    bool unit_b = constant_b && (kind == EXPR_MUL || kind == EXPR_DIV || kind == EXPR_FLOORDIV ? right == 1 : right == 0);
    bool additive = kind == EXPR_ADD || kind == EXPR_SUB;
    if (constant_a && constant_b) {
        const Expr *folded = fold_binary(s->an->ctx, kind, a->expr, b->expr);
        *result = folded ? linear_of_expr(folded) : *result;
        return folded != NULL;
    }
    if (unit_b && (additive || kind == EXPR_MUL || kind == EXPR_DIV || kind == EXPR_FLOORDIV))
        *result = *a;
    else if (constant_a && ((kind == EXPR_ADD && left == 0) || (kind == EXPR_MUL && left == 1)))
        *result = *b;
    else if (constant_a && left == 0 && !additive)
        *result = *a;
    else if (constant_b && right == 0 && kind == EXPR_MUL)
        *result = *b;
    else
        return false;
    return true;
}

static Linear visit_sum(Simplifier *s, const Expr *expr)
{
    Linear a = linear_visit(s, expr->args[0]), b = linear_visit(s, expr->args[1]);
    Linear folded;
    if (fold_forms(s, expr->kind, &a, &b, &folded))
        return folded;
    Sum sum = linear_to_sum(s, a), added = linear_to_sum(s, b);
    sum_add_sum(s, &sum, &added, expr->kind == EXPR_ADD ? 1 : -1);
    return linear_of_sum(sum);
}

/* The product of symbolic factors in their order, with all constants gathered in one factor at the end. */
static const Expr *gather_product(Simplifier *s, const Expr *expr, const Expr *product, int64_t *constant, bool *overflow)
{
    if (expr->kind == EXPR_MUL) {
        product = gather_product(s, expr->args[0], product, constant, overflow);
        return gather_product(s, expr->args[1], product, constant, overflow);
    }
    if (expr->kind == EXPR_INT) {
        *overflow |= __builtin_mul_overflow(*constant, expr->value.integer, constant) || !dtype_holds(expr->dtype, *constant);
        return product;
    }
    return product ? op_mul(s->an->ctx, product, expr) : expr;
}

static Linear visit_product(Simplifier *s, const Expr *expr)
{
    Linear a = linear_visit(s, expr->args[0]), b = linear_visit(s, expr->args[1]);
    Linear folded;
    if (fold_forms(s, expr->kind, &a, &b, &folded))
        return folded;
    int64_t constant = 1;
    if (is_constant_form(&a, &constant))
        return linear_scaled(s, b, constant);
    if (is_constant_form(&b, &constant))
        return linear_scaled(s, a, constant);
    bool overflow = false;
    const Expr *product = gather_product(s, linear_to_expr(s, a), NULL, &constant, &overflow);
    product = gather_product(s, linear_to_expr(s, b), product, &constant, &overflow);
    if (overflow)
        return plain(s, expr);
    return linear_of_expr(product ? op_mul_int(s->an->ctx, product, constant) : expr_int(s->an->ctx, expr->dtype, constant));
}

static Linear divide_by_symbol(Simplifier *s, const Expr *expr, Linear value, Linear by)
{
    Context *ctx = s->an->ctx;
    const Expr *args[] = {linear_to_expr(s, value), linear_to_expr(s, by)}, *scale;
    bool floors = expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD;
    if (floors && !expr_is_int(args[1], 0) && cancel_common_factors(s, &args[0], &args[1], &scale)) {
        const Expr *result = op_binary(ctx, expr->kind, args[0], args[1], span_none());
        return linear_of_expr(expr->kind == EXPR_FLOORMOD ? op_mul(ctx, result, scale) : result);
    }
    return linear_of_expr(expr_with_args(ctx, expr, args));
}

static Linear visit_division(Simplifier *s, const Expr *expr)
{
    Linear value = linear_visit(s, expr->args[0]), by = linear_visit(s, expr->args[1]);
    Linear folded;
    if (fold_forms(s, expr->kind, &value, &by, &folded))
        return folded;
    int64_t constant;
    if (!is_constant_form(&by, &constant) || constant <= 0)
        return divide_by_symbol(s, expr, value, by);
    Division division = expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD ? DIVISION_FLOORS : DIVISION_TRUNCATES;
    bool quotient = expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_DIV;
    if (constant == 1)
        return linear_of_expr(expr_int(s->an->ctx, expr->dtype, 0)); /* a remainder: the quotient was folded */
    return quotient ? linear_quotient(s, value, constant, division) : linear_remainder(s, value, constant, division);
}

static Term widen_term(Simplifier *s, Term term, DType dtype)
{
    term.index = op_cast(s->an->ctx, dtype, term.index);
    return term;
}

/* A widening cast moves into the terms, as index arithmetic does not overflow; any other stays. */
static Linear visit_cast(Simplifier *s, const Expr *expr)
{
    Linear value = linear_visit(s, expr->args[0]);
    if (value.form == LINEAR_EXPR || expr->dtype.bits < value.dtype.bits)
        return linear_of_expr(op_cast(s->an->ctx, expr->dtype, linear_to_expr(s, value)));
    if (value.form == LINEAR_TERM)
        return linear_of_term(widen_term(s, value.term, expr->dtype), expr->dtype);
    for (int i = 0; i < value.sum.terms.count; i++)
        value.sum.terms.data[i] = widen_term(s, value.sum.terms.data[i], expr->dtype);
    value.sum.dtype = value.dtype = expr->dtype;
    return value;
}

static Linear linear_visit_structured(Simplifier *s, const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD:
    case EXPR_SUB: return visit_sum(s, expr);
    case EXPR_MUL: return visit_product(s, expr);
    case EXPR_CAST: return visit_cast(s, expr);
    default: return visit_division(s, expr);
    }
}

Linear linear_visit(Simplifier *s, const Expr *expr)
{
    if (!canonical_handles(expr) || expr->kind == EXPR_LT)
        return linear_of_expr(simplify_visit(s, expr));
    if (!analyzer_begin_visit(s->an)) {
        s->cut_count++;
        return linear_of_expr(expr);
    }
    Linear result = linear_visit_structured(s, expr);
    analyzer_end_visit(s->an);
    return linear_overflows(&result) ? plain(s, expr) : result;
}

/* --- a < b --- */

/* The greatest common divisor of the scales other than 1 and -1, and of the base; 0 or 1 when there is no use in dividing. */
static int64_t common_scale(const Sum *sum)
{
    int64_t divisor = sum->base;
    bool scaled = false;
    for (int i = 0; i < sum->terms.count; i++) {
        int64_t scale = sum->terms.data[i].scale;
        if (scale > 1 || scale < -1) {
            scaled = true;
            divisor = integer_gcd(divisor, scale);
        }
    }
    return scaled ? integer_gcd(divisor, 0) : 1;
}

static const Expr *less_than_zero(Simplifier *s, const Expr *expr)
{
    return op_compare(s->an->ctx, EXPR_LT, expr, expr_int(s->an->ctx, expr->dtype, 0));
}

/* sum < 0 with terms of common scale d and a rest: divided by d when the rest lies in [0, d), or when it is one piece y % m with d
   dividing m (then y // d % (m / d) is left of it). NULL when neither holds. */
static const Expr *divide_comparison(Simplifier *s, const Sum *sum)
{
    Context *ctx = s->an->ctx;
    int64_t divisor = common_scale(sum), step;
    if (divisor <= 1 || !dtype_holds(sum->dtype, divisor))
        return NULL;
    Sum divisible, rest;
    sum_separate(s, sum, divisor, &divisible, &rest);
    const Expr *remaining = sum_to_expr(s, rest);
    sum_divide(&divisible, divisor);
    if (analyzer_prove_less(s->an, remaining, expr_int(ctx, sum->dtype, divisor)) &&
        analyzer_prove_less(s->an, expr_int(ctx, sum->dtype, -1), remaining))
        return less_than_zero(s, sum_to_expr(s, divisible));
    if (rest.terms.count != 1 || rest.base != 0)
        return NULL;
    Term piece = rest.terms.data[0];
    bool bounded = piece.upper != UPPER_NONE && piece.scale == 1 && piece.division == DIVISION_FLOORS;
    if (!bounded || __builtin_mul_overflow(divisor, piece.lower, &step) || piece.upper % step != 0)
        return NULL;
    const Expr *quotient = op_floordiv(ctx, piece.index, expr_int(ctx, sum->dtype, step));
    const Expr *left = op_floormod(ctx, quotient, expr_int(ctx, sum->dtype, piece.upper / step));
    return less_than_zero(s, op_add(ctx, sum_to_expr(s, divisible), left));
}

static const Expr *simplify_comparison(Simplifier *s, const Expr *expr)
{
    Linear difference = linear_visit(s, op_sub(s->an->ctx, expr->args[0], expr->args[1]));
    const Expr *divided = difference.form == LINEAR_SUM ? divide_comparison(s, &difference.sum) : NULL;
    if (divided)
        return divided->kind == EXPR_INT ? divided : simplify_visit(s, divided);
    const Expr *args[] = {simplify_visit(s, expr->args[0]), simplify_visit(s, expr->args[1])};
    return simplify_node(s, expr_with_args(s->an->ctx, expr, args));
}

const Expr *canonical_simplify(Simplifier *s, const Expr *expr)
{
    if (expr->kind == EXPR_LT)
        return simplify_comparison(s, expr);
    return linear_to_expr(s, linear_visit(s, expr));
}
