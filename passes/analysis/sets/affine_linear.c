/* See affine_linear.h. */

#include <isl/id.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>

#include "passes/analysis/sets/affine_linear.h"

bool affine_cast_keeps_value(const Expr *cast)
{
    DType from = cast->args[0]->dtype, to = cast->dtype;
    if (!dtype_is_integer(to) || !dtype_is_integer(from))
        return false;
    return from.code == to.code ? to.bits >= from.bits : from.code == DT_UINT && to.bits > from.bits;
}

enum { DEEPEST_SUM = 100 };

/* --- sums --- */

bool linear_add_term(LinearForm *sum, LinearTermOf term, int64_t scale)
{
    int at = 0;
    while (at < sum->count && (sum->terms[at].param != term.param || sum->terms[at].dim != term.dim))
        at++;
    if (at == MOST_LINEAR_TERMS)
        return false;
    term.coefficient = 0;
    if (at == sum->count)
        sum->terms[sum->count++] = term;
    return !__builtin_add_overflow(sum->terms[at].coefficient, scale, &sum->terms[at].coefficient);
}

static bool add_constant(LinearForm *sum, int64_t value, int64_t scale)
{
    int64_t product;
    return !__builtin_mul_overflow(value, scale, &product) && !__builtin_add_overflow(sum->constant, product, &sum->constant);
}

bool linear_add_form(LinearForm *sum, const LinearForm *more, int64_t scale)
{
    bool fits = add_constant(sum, more->constant, scale);
    for (int i = 0; i < more->count && fits; i++) {
        int64_t product;
        fits = !__builtin_mul_overflow(more->terms[i].coefficient, scale, &product) && linear_add_term(sum, more->terms[i], product);
    }
    return fits;
}

static bool add_scaled(LinearForm *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth);

static bool add_var(LinearForm *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    while (env && env->var != expr->value.var)
        env = env->outer;
    if (!env)
        return linear_add_term(sum, (LinearTermOf){.param = expr->value.var}, scale);
    return env->dim >= 0 ? linear_add_term(sum, (LinearTermOf){.dim = env->dim}, scale) : add_scaled(sum, env->outer, env->value, scale, depth + 1);
}

static bool add_product(LinearForm *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    int64_t factor;
    int constant = expr_const_int(expr->args[1], &factor) ? 1 : 0;
    return (constant || expr_const_int(expr->args[0], &factor)) && !__builtin_mul_overflow(scale, factor, &scale) &&
           add_scaled(sum, env, expr->args[1 - constant], scale, depth + 1);
}

/* Adds SCALE times EXPR to SUM; false when EXPR is not linear, or a number grows too large. Arithmetic of indices does not overflow; what that
   of other types gives is left to isl. */
static bool add_scaled(LinearForm *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    if (depth > DEEPEST_SUM || expr->dtype.lanes != 1)
        return false;
    if (expr->kind == EXPR_CAST)
        return affine_cast_keeps_value(expr) && add_scaled(sum, env, expr->args[0], scale, depth + 1);
    if (expr->kind == EXPR_VAR)
        return (dtype_is_integer(expr->dtype) || expr->dtype.code == DT_BOOL) && add_var(sum, env, expr, scale, depth);
    if (expr->kind == EXPR_INT)
        return dtype_holds(expr->dtype, expr->value.integer) && add_constant(sum, expr->value.integer, scale);
    if (!dtype_is_index(expr->dtype))
        return false;
    if (expr->kind == EXPR_MUL)
        return add_product(sum, env, expr, scale, depth);
    return (expr->kind == EXPR_ADD || (expr->kind == EXPR_SUB && scale != INT64_MIN)) &&
           add_scaled(sum, env, expr->args[0], scale, depth + 1) &&
           add_scaled(sum, env, expr->args[1], expr->kind == EXPR_SUB ? -scale : scale, depth + 1);
}

bool linear_of(const AffineEnv *env, const Expr *expr, LinearForm *sum)
{
    return add_scaled(sum, env, expr, 1, 0);
}

/* EXPR is linear and has more than one value: isl would not multiply it with another one of this sort. */
static bool surely_varies(const AffineEnv *env, const Expr *expr)
{
    LinearForm sum = {0};
    bool varies = false;
    bool linear = linear_of(env, expr, &sum);
    for (int i = 0; linear && i < sum.count; i++)
        varies |= sum.terms[i].coefficient != 0;
    return varies;
}

static bool surely_not(const AffineEnv *env, const Expr *expr, int depth)
{
    if (depth > DEEPEST_SUM)
        return false;
    if (expr->kind == EXPR_VAR) {
        while (env && env->var != expr->value.var)
            env = env->outer;
        return env && env->dim < 0 && surely_not(env->outer, env->value, depth + 1);
    }
    bool is_likely = expr_is_call(expr, OP_LIKELY);
    if (expr->kind == EXPR_LOAD)
        return true;
    if (!is_likely && expr->kind != EXPR_CAST && expr->kind != EXPR_NOT && !expr_is_binary(expr))
        return false;
    for (int i = 0; i < expr->arg_count; i++)
        if (surely_not(env, expr->args[i], depth + 1))
            return true;
    return expr->kind == EXPR_MUL && surely_varies(env, expr->args[0]) && surely_varies(env, expr->args[1]);
}

bool affine_surely_not(const AffineEnv *env, const Expr *expr)
{
    return surely_not(env, expr, 0);
}

/* --- restrictions --- */

void affine_add_form(AffineSpace *space, const LinearForm *sum, bool equality)
{
    AffineRow row = {space->rows, equality, sum->constant, sum->count,
                     arena_copy(space->ctx->arena, sum->terms, sizeof *sum->terms * (size_t)sum->count)};
    space->rows = arena_copy(space->ctx->arena, &row, sizeof row);
    space->ctx->work++;
}

/* A value that is DIVIDEND // DIVISOR, with the divisor a positive constant: 1 where it is no quotient. */
typedef struct {
    const AffineEnv *env;
    const Expr *dividend;
    int64_t divisor;
} Quotient;

static Quotient quotient_of(const AffineEnv *env, const Expr *expr)
{
    Quotient whole = {env, expr, 1};
    for (int depth = 0; depth < DEEPEST_SUM && expr->dtype.lanes == 1; depth++) {
        int64_t divisor;
        if (expr->kind == EXPR_FLOORDIV && dtype_is_index(expr->dtype) && expr_const_int(expr->args[1], &divisor) && divisor > 0)
            return (Quotient){env, expr->args[0], divisor};
        const AffineEnv *found = env;
        while (expr->kind == EXPR_VAR && found && found->var != expr->value.var)
            found = found->outer;
        if (expr->kind == EXPR_CAST && affine_cast_keeps_value(expr)) {
            expr = expr->args[0];
        } else if (expr->kind == EXPR_VAR && found && found->dim < 0) {
            expr = found->value;
            env = found->outer;
        } else {
            return whole;
        }
    }
    return whole;
}

/* SUM becomes SIGN * (QUOTIENT's dividend - its divisor * B) + CONSTANT. */
static bool compare_quotient(LinearForm *sum, const Quotient *quotient, const AffineEnv *env_b, const Expr *b, int64_t sign, int64_t constant)
{
    *sum = (LinearForm){.constant = constant};
    return add_scaled(sum, quotient->env, quotient->dividend, sign, 0) && add_scaled(sum, env_b, b, -sign * quotient->divisor, 0);
}

/* With d > 0: a // d >= b is a >= d * b, and a // d <= b is a <= d * b + d - 1. What is greater is at least 1 greater. */
bool affine_add_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b)
{
    Quotient left = quotient_of(env_a, a), right = quotient_of(env_b, b);
    if (left.divisor == 1 && right.divisor > 1)
        return affine_add_comparison(space, expr_mirrored_compare(kind), env_b, b, env_a, a);
    int64_t d = left.divisor;
    bool above = kind == EXPR_GE || kind == EXPR_GT, below = kind == EXPR_LE || kind == EXPR_LT, both = kind == EXPR_EQ;
    LinearForm at_least, at_most;
    if (!(above || below || both) || !compare_quotient(&at_least, &left, env_b, b, 1, kind == EXPR_GT ? -d : 0) ||
        !compare_quotient(&at_most, &left, env_b, b, -1, kind == EXPR_LT ? -1 : d - 1))
        return false;
    bool equality = both && d == 1;
    if (above || both)
        affine_add_form(space, &at_least, equality);
    if (below || (both && !equality))
        affine_add_form(space, &at_most, false);
    return true;
}

bool affine_add_condition(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated)
{
    if (expr_is_call(condition, OP_LIKELY))
        return affine_add_condition(space, env, condition->args[0], negated);
    if (!expr_is_compare(condition) || !dtype_is_integer(condition->args[0]->dtype))
        return false;
    ExprKind kind = negated ? expr_opposite_compare(condition->kind) : (ExprKind)condition->kind;
    return affine_add_comparison(space, kind, env, condition->args[0], env, condition->args[1]);
}

bool affine_add_range(AffineSpace *space, const AffineEnv *env, int dim, Range range)
{
    Quotient extent = quotient_of(env, range.extent);
    int64_t d = extent.divisor; /* DIM - min < a // d is d * (DIM - min) + d <= a */
    LinearForm low = {0}, high = {.constant = -d};
    LinearTermOf self = {.dim = dim};
    if (!add_scaled(&low, env, range.min, -1, 0) || !linear_add_term(&low, self, 1) || !add_scaled(&high, env, range.min, d, 0) ||
        !add_scaled(&high, extent.env, extent.dividend, 1, 0) || !linear_add_term(&high, self, -d))
        return false;
    affine_add_form(space, &low, false);
    affine_add_form(space, &high, false);
    return true;
}

void affine_add_dims(AffineSpace *space, ExprKind kind, int a, int b)
{
    LinearForm sum = {.constant = -(kind == EXPR_LT)};
    linear_add_term(&sum, (LinearTermOf){.dim = a}, -1);
    linear_add_term(&sum, (LinearTermOf){.dim = b}, 1);
    if (a != b || kind == EXPR_LT)
        affine_add_form(space, &sum, kind == EXPR_EQ);
}

/* --- the set --- */

static isl_id *param_id(isl_ctx *isl, Var *var)
{
    return isl_id_alloc(isl, var->name, var);
}

/* SHAPE (taken) with a parameter for each that ROW counts. */
static isl_space *add_params(isl_space *shape, const AffineRow *row)
{
    for (int i = 0; i < row->count; i++) {
        isl_id *id = row->terms[i].param ? param_id(isl_space_get_ctx(shape), row->terms[i].param) : NULL;
        if (id && isl_space_find_dim_by_id(shape, isl_dim_param, id) < 0) {
            unsigned position = (unsigned)isl_space_dim(shape, isl_dim_param);
            shape = isl_space_set_dim_id(isl_space_add_dims(shape, isl_dim_param, 1), isl_dim_param, position, id);
        } else {
            isl_id_free(id);
        }
    }
    return shape;
}

typedef VEC(const AffineRow *) Rows;

/* The coefficients of ROW become row AT of MATRIX (taken): the constant, the parameters of SHAPE, its dimensions. */
static isl_mat *set_row(isl_mat *matrix, isl_space *shape, int at, const AffineRow *row)
{
    isl_ctx *isl = isl_space_get_ctx(shape);
    int params = (int)isl_space_dim(shape, isl_dim_param), columns = 1 + params + (int)isl_space_dim(shape, isl_dim_set);
    for (int i = 1; i < columns; i++)
        matrix = isl_mat_set_element_si(matrix, at, i, 0);
    matrix = isl_mat_set_element_val(matrix, at, 0, isl_val_int_from_si(isl, row->constant));
    for (int i = 0; i < row->count; i++) {
        const LinearTermOf *term = &row->terms[i];
        isl_id *id = term->param ? param_id(isl, term->param) : NULL;
        int position = id ? isl_space_find_dim_by_id(shape, isl_dim_param, id) : params + term->dim;
        isl_id_free(id);
        matrix = isl_mat_set_element_val(matrix, at, 1 + position, isl_val_int_from_si(isl, term->coefficient));
    }
    return matrix;
}

static isl_mat *matrix_of(isl_space *shape, const Rows *rows, bool equality)
{
    unsigned count = 0, columns = 1 + (unsigned)(isl_space_dim(shape, isl_dim_param) + isl_space_dim(shape, isl_dim_set));
    for (int i = 0; i < rows->count; i++)
        count += rows->data[i]->equality == equality;
    isl_mat *matrix = isl_mat_alloc(isl_space_get_ctx(shape), count, columns);
    for (int i = rows->count - 1, at = 0; i >= 0; i--)
        if (rows->data[i]->equality == equality)
            matrix = set_row(matrix, shape, at++, rows->data[i]);
    return matrix;
}

/* SET (taken) in LIMIT (taken). Sets of one part each are intersected as such: isl would look first, with much effort, if they are equal. */
static isl_set *intersect(isl_set *set, isl_basic_set *limit)
{
    if (isl_set_n_basic_set(set) != 1)
        return isl_set_intersect(set, isl_set_from_basic_set(limit));
    isl_basic_set_list *parts = isl_set_get_basic_set_list(set);
    isl_basic_set *part = isl_basic_set_list_get_basic_set(parts, 0);
    isl_basic_set_list_free(parts);
    isl_set_free(set);
    part = isl_basic_set_align_params(part, isl_basic_set_get_space(limit)); /* which has all of its parameters */
    return isl_set_from_basic_set(isl_basic_set_intersect(part, limit));
}

void affine_settle(AffineSpace *space)
{
    Rows rows = {0}; /* the latest first */
    for (const AffineRow *row = space->rows; row; row = row->earlier)
        vec_push(space->ctx->arena, &rows, row);
    space->rows = NULL;
    if (!space->set || !rows.count)
        return;
    isl_space *shape = isl_set_get_space(space->set);
    for (int i = rows.count - 1; i >= 0; i--)
        shape = add_params(shape, rows.data[i]);
    isl_mat *equal = matrix_of(shape, &rows, true), *at_least = matrix_of(shape, &rows, false);
    isl_basic_set *limit = isl_basic_set_from_constraint_matrices(shape, equal, at_least, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div);
    space->set = intersect(space->set, limit); /* which simplifies the whole */
}
