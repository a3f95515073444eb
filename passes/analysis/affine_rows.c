/* See affine_rows.h. */
#include "passes/analysis/affine_rows.h"

#include <isl/id.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>
#include <limits.h>

enum { DEEPEST_SUM = 100 };

/* --- sums --- */

static bool add_term(AffineSum *sum, Var *param, int dim, int64_t coefficient)
{
    int at = 0;
    while (at < sum->count && (sum->terms[at].param != param || sum->terms[at].dim != dim))
        at++;
    if (at == MOST_ROW_TERMS)
        return false;
    if (at == sum->count)
        sum->terms[sum->count++] = (AffineRowTerm){param, dim, 0};
    return !__builtin_add_overflow(sum->terms[at].coefficient, coefficient, &sum->terms[at].coefficient);
}

bool affine_sum_add_dim(AffineSum *sum, int dim, int64_t scale)
{
    return add_term(sum, NULL, dim, scale);
}

static bool add_constant(AffineSum *sum, int64_t value, int64_t scale)
{
    int64_t product;
    return !__builtin_mul_overflow(value, scale, &product) && !__builtin_add_overflow(sum->constant, product, &sum->constant);
}

static bool add_scaled(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth);

static bool add_var(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    while (env && env->var != expr->value.var)
        env = env->outer;
    if (!env)
        return add_term(sum, expr->value.var, 0, scale);
    return env->dim >= 0 ? add_term(sum, NULL, env->dim, scale) : add_scaled(sum, env->outer, env->value, scale, depth + 1);
}

static bool add_product(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    int64_t factor;
    int constant = expr_const_int(expr->args[1], &factor) ? 1 : 0;
    return (constant || expr_const_int(expr->args[0], &factor)) && !__builtin_mul_overflow(scale, factor, &scale) &&
           add_scaled(sum, env, expr->args[1 - constant], scale, depth + 1);
}

/* Arithmetic of indices does not overflow; what that of other types gives is left to isl. */
static bool add_arithmetic(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: return add_scaled(sum, env, expr->args[0], scale, depth + 1) && add_scaled(sum, env, expr->args[1], scale, depth + 1);
    case EXPR_SUB:
        return scale != INT64_MIN && add_scaled(sum, env, expr->args[0], scale, depth + 1) &&
               add_scaled(sum, env, expr->args[1], -scale, depth + 1);
    case EXPR_MUL: return add_product(sum, env, expr, scale, depth);
    default: return false;
    }
}

/* The forms are those that isl expressions are made of, as far as they are linear. */
static bool add_scaled(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    if (depth > DEEPEST_SUM || expr->dtype.lanes != 1)
        return false;
    if (expr->kind == EXPR_CAST)
        return affine_cast_keeps_value(expr) && add_scaled(sum, env, expr->args[0], scale, depth + 1);
    if (expr->kind == EXPR_VAR)
        return (dtype_is_integer(expr->dtype) || expr->dtype.code == DT_BOOL) && add_var(sum, env, expr, scale, depth);
    if (expr->kind == EXPR_INT)
        return dtype_holds(expr->dtype, expr->value.integer) && add_constant(sum, expr->value.integer, scale);
    return dtype_is_index(expr->dtype) && add_arithmetic(sum, env, expr, scale, depth);
}

bool affine_sum_add(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale)
{
    return add_scaled(sum, env, expr, scale, 0);
}

/* --- rows --- */

void affine_add_row(AffineSpace *space, const AffineSum *sum, bool equality)
{
    AffineRow *row = ARENA_NEW(space->ctx->arena, AffineRow);
    const AffineRowTerm *terms = arena_copy(space->ctx->arena, sum->terms, sizeof *terms * (size_t)sum->count);
    *row = (AffineRow){space->rows, equality, sum->constant, sum->count, terms};
    space->rows = row;
}

bool affine_add_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b)
{
    bool less = kind == EXPR_LT || kind == EXPR_LE;
    AffineSum sum;
    sum.count = 0;
    sum.constant = -(kind == EXPR_LT || kind == EXPR_GT);
    if (kind == EXPR_NE || !affine_sum_add(&sum, env_a, a, less ? -1 : 1) || !affine_sum_add(&sum, env_b, b, less ? 1 : -1))
        return false;
    affine_add_row(space, &sum, kind == EXPR_EQ);
    return true;
}

/* --- the set --- */

typedef struct {
    isl_space *space;
    int count; /* of its parameters */
} Columns;

/* The column of VAR among the parameters, in the order in which they appear. */
static int param_column(Context *ctx, Columns *columns, Var *var)
{
    isl_id *id = isl_id_alloc(affine_isl(ctx), var->name, var);
    int position = isl_space_find_dim_by_id(columns->space, isl_dim_param, id);
    if (position >= 0) {
        isl_id_free(id);
        return position;
    }
    columns->space = isl_space_add_dims(columns->space, isl_dim_param, 1);
    columns->space = isl_space_set_dim_id(columns->space, isl_dim_param, (unsigned)columns->count, id);
    return columns->count++;
}

static isl_mat *set_element(isl_mat *matrix, int row, int column, int64_t value)
{
    if (value >= INT_MIN && value <= INT_MAX)
        return isl_mat_set_element_si(matrix, row, column, (int)value);
    return isl_mat_set_element_val(matrix, row, column, isl_val_int_from_si(isl_mat_get_ctx(matrix), value));
}

/* Columns of the matrices: the constant, the parameters, the dimensions. */
static isl_mat *fill_row(Context *ctx, isl_mat *matrix, int at, const AffineRow *row, Columns *columns)
{
    matrix = set_element(matrix, at, 0, row->constant);
    for (int i = 0; i < row->count; i++) {
        const AffineRowTerm *term = &row->terms[i];
        int column = 1 + (term->param ? param_column(ctx, columns, term->param) : columns->count + term->dim);
        matrix = set_element(matrix, at, column, term->coefficient);
    }
    return matrix;
}

static isl_mat *zero_matrix(Context *ctx, int rows, int columns)
{
    isl_mat *matrix = isl_mat_alloc(affine_isl(ctx), (unsigned)rows, (unsigned)columns);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            matrix = isl_mat_set_element_si(matrix, i, j, 0);
    return matrix;
}

void affine_settle(AffineSpace *space)
{
    Context *ctx = space->ctx;
    int counts[2] = {0}, row_count = 0;
    if (!space->rows)
        return;
    for (const AffineRow *row = space->rows; row; row = row->earlier) {
        counts[row->equality]++;
        row_count++;
    }
    const AffineRow **rows = ARENA_ARRAY(ctx->arena, const AffineRow *, row_count);
    for (const AffineRow *row = space->rows; row; row = row->earlier)
        rows[--row_count] = row;
    space->rows = NULL;
    if (!space->set)
        return;
    Columns columns = {isl_set_get_space(space->set), (int)isl_set_dim(space->set, isl_dim_param)};
    int total = counts[0] + counts[1], dims = (int)isl_set_dim(space->set, isl_dim_set);
    for (int i = 0; i < total; i++)
        for (int k = 0; k < rows[i]->count; k++)
            if (rows[i]->terms[k].param)
                param_column(ctx, &columns, rows[i]->terms[k].param);
    isl_mat *matrices[2];
    for (int equality = 0; equality < 2; equality++) {
        matrices[equality] = zero_matrix(ctx, counts[equality], 1 + columns.count + dims);
        for (int i = 0, at = 0; i < total; i++)
            if (rows[i]->equality == equality)
                matrices[equality] = fill_row(ctx, matrices[equality], at++, rows[i], &columns);
    }
    isl_basic_set *limit = isl_basic_set_from_constraint_matrices(columns.space, matrices[1], matrices[0], isl_dim_cst, isl_dim_param,
                                                                  isl_dim_set, isl_dim_div);
    space->set = isl_set_intersect(space->set, isl_set_from_basic_set(limit));
}
