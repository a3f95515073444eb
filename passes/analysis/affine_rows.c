/* See affine_rows.h. */
#include "passes/analysis/affine_rows.h"

#include <isl/id.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>
#include <limits.h>

enum { DEEPEST_SUM = 100 };

/* --- sums --- */

static bool quotients_equal(const AffineQuotient *a, const AffineQuotient *b);

static bool terms_count_same(const AffineRowTerm *a, const AffineRowTerm *b)
{
    return a->param == b->param && a->dim == b->dim && quotients_equal(a->quotient, b->quotient);
}

static bool quotients_equal(const AffineQuotient *a, const AffineQuotient *b)
{
    if (a == b || !a || !b)
        return a == b;
    bool equal = a->divisor == b->divisor && a->constant == b->constant && a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = a->terms[i].coefficient == b->terms[i].coefficient && terms_count_same(&a->terms[i], &b->terms[i]);
    return equal;
}

static bool add_term(AffineSum *sum, AffineRowTerm term, int64_t scale)
{
    int at = 0;
    while (at < sum->count && !terms_count_same(&sum->terms[at], &term))
        at++;
    if (at == MOST_ROW_TERMS)
        return false;
    if (at == sum->count) {
        term.coefficient = 0;
        sum->terms[sum->count++] = term;
    }
    return !__builtin_add_overflow(sum->terms[at].coefficient, scale, &sum->terms[at].coefficient);
}

bool affine_sum_add_dim(AffineSum *sum, int dim, int64_t scale)
{
    return add_term(sum, (AffineRowTerm){.dim = dim}, scale);
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
        return add_term(sum, (AffineRowTerm){.param = expr->value.var}, scale);
    return env->dim >= 0 ? affine_sum_add_dim(sum, env->dim, scale) : add_scaled(sum, env->outer, env->value, scale, depth + 1);
}

static bool add_product(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    int64_t factor;
    int constant = expr_const_int(expr->args[1], &factor) ? 1 : 0;
    return (constant || expr_const_int(expr->args[0], &factor)) && !__builtin_mul_overflow(scale, factor, &scale) &&
           add_scaled(sum, env, expr->args[1 - constant], scale, depth + 1);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The rows that define the quotient of SUM, see fill_quotient, have numbers that can be written. */
static bool fits_in_rows(const AffineSum *sum, int64_t divisor)
{
    int64_t difference;
    bool fits = !__builtin_sub_overflow(divisor - 1, sum->constant, &difference);
    for (int i = 0; i < sum->count; i++)
        fits &= sum->terms[i].coefficient != INT64_MIN;
    return fits;
}

/* Adds SCALE times INSIDE divided by DIVISOR, rounded down. */
static bool add_quotient(AffineSum *sum, const AffineSum *inside, int64_t divisor, int64_t scale)
{
    if (inside->count == 0)
        return add_constant(sum, floor_div(inside->constant, divisor), scale);
    if (!fits_in_rows(inside, divisor))
        return false;
    AffineQuotient quotient = {divisor, inside->constant, inside->count,
                               arena_copy(sum->ctx->arena, inside->terms, sizeof *inside->terms * (size_t)inside->count)};
    return add_term(sum, (AffineRowTerm){.quotient = arena_copy(sum->ctx->arena, &quotient, sizeof quotient)}, scale);
}

/* Division by a positive constant, and its remainder: x % d is x - x // d * d. */
static bool add_division(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    int64_t divisor, product;
    if (!expr_const_int(expr->args[1], &divisor) || divisor <= 0)
        return false;
    AffineSum inside;
    affine_sum_start(&inside, sum->ctx, 0);
    if (!add_scaled(&inside, env, expr->args[0], 1, depth + 1))
        return false;
    if (expr->kind == EXPR_FLOORDIV)
        return add_quotient(sum, &inside, divisor, scale);
    return !__builtin_mul_overflow(divisor, scale, &product) && product != INT64_MIN &&
           add_scaled(sum, env, expr->args[0], scale, depth + 1) && add_quotient(sum, &inside, divisor, -product);
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
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return add_division(sum, env, expr, scale, depth);
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

void affine_sum_start(AffineSum *sum, Context *ctx, int64_t constant)
{
    sum->ctx = ctx;
    sum->constant = constant;
    sum->count = 0;
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
    affine_sum_start(&sum, space->ctx, -(kind == EXPR_LT || kind == EXPR_GT));
    if (kind == EXPR_NE || !affine_sum_add(&sum, env_a, a, less ? -1 : 1) || !affine_sum_add(&sum, env_b, b, less ? 1 : -1))
        return false;
    affine_add_row(space, &sum, kind == EXPR_EQ);
    return true;
}

/* --- the set --- */

/* What the columns of the matrices stand for: the constant, the parameters, the dimensions, the quotients. */
typedef struct {
    Context *ctx;
    isl_space *space; /* with the parameters, in the order in which they appear */
    int params, dims;
    VEC(const AffineQuotient *) quotients;
} Columns;

static int param_column(Columns *columns, Var *var)
{
    isl_id *id = isl_id_alloc(affine_isl(columns->ctx), var->name, var);
    int position = isl_space_find_dim_by_id(columns->space, isl_dim_param, id);
    if (position >= 0) {
        isl_id_free(id);
        return position;
    }
    columns->space = isl_space_add_dims(columns->space, isl_dim_param, 1);
    columns->space = isl_space_set_dim_id(columns->space, isl_dim_param, (unsigned)columns->params, id);
    return columns->params++;
}

static void note_terms(Columns *columns, const AffineRowTerm *terms, int count);

static int quotient_column(Columns *columns, const AffineQuotient *quotient)
{
    int at = 0;
    while (at < columns->quotients.count && !quotients_equal(columns->quotients.data[at], quotient))
        at++;
    if (at < columns->quotients.count)
        return at;
    note_terms(columns, quotient->terms, quotient->count);
    vec_push(columns->ctx->arena, &columns->quotients, quotient);
    return columns->quotients.count - 1;
}

/* Makes columns for all that TERMS count. */
static void note_terms(Columns *columns, const AffineRowTerm *terms, int count)
{
    for (int i = 0; i < count; i++)
        if (terms[i].param)
            param_column(columns, terms[i].param);
        else if (terms[i].quotient)
            quotient_column(columns, terms[i].quotient);
}

static int column_of(Columns *columns, const AffineRowTerm *term)
{
    if (term->quotient)
        return 1 + columns->params + columns->dims + quotient_column(columns, term->quotient);
    return 1 + (term->param ? param_column(columns, term->param) : columns->params + term->dim);
}

static isl_mat *set_element(isl_mat *matrix, int row, int column, int64_t value)
{
    if (value >= INT_MIN && value <= INT_MAX)
        return isl_mat_set_element_si(matrix, row, column, (int)value);
    return isl_mat_set_element_val(matrix, row, column, isl_val_int_from_si(isl_mat_get_ctx(matrix), value));
}

/* Row number AT becomes SIGN times TERMS. */
static isl_mat *fill_terms(Columns *columns, isl_mat *matrix, int at, const AffineRowTerm *terms, int count, int sign)
{
    for (int i = 0; i < count; i++)
        matrix = set_element(matrix, at, column_of(columns, &terms[i]), sign * terms[i].coefficient);
    return matrix;
}

/* QUOTIENT is what its sum divided by the divisor is: 0 <= sum - divisor * quotient < divisor, in two rows from number AT on. */
static isl_mat *fill_quotient(Columns *columns, isl_mat *matrix, int at, const AffineQuotient *quotient)
{
    AffineRowTerm self = {.quotient = quotient, .coefficient = quotient->divisor};
    matrix = fill_terms(columns, matrix, at, quotient->terms, quotient->count, 1);
    matrix = fill_terms(columns, matrix, at, &self, 1, -1);
    matrix = set_element(matrix, at, 0, quotient->constant);
    matrix = fill_terms(columns, matrix, at + 1, quotient->terms, quotient->count, -1);
    matrix = fill_terms(columns, matrix, at + 1, &self, 1, 1);
    return set_element(matrix, at + 1, 0, quotient->divisor - 1 - quotient->constant);
}

static isl_mat *zero_matrix(Context *ctx, int rows, int columns)
{
    isl_mat *matrix = isl_mat_alloc(affine_isl(ctx), (unsigned)rows, (unsigned)columns);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            matrix = isl_mat_set_element_si(matrix, i, j, 0);
    return matrix;
}

/* The matrix of those of ROWS that are equalities, or of the others and of what the quotients are. */
static isl_mat *fill_matrix(Columns *columns, const AffineRow *const *rows, int row_count, bool equality)
{
    int quotients = equality ? 0 : columns->quotients.count, at = 0;
    for (int i = 0; i < row_count; i++)
        at += rows[i]->equality == equality;
    isl_mat *matrix =
        zero_matrix(columns->ctx, at + 2 * quotients, 1 + columns->params + columns->dims + columns->quotients.count);
    at = 0;
    for (int i = 0; i < row_count; i++)
        if (rows[i]->equality == equality) {
            matrix = set_element(matrix, at, 0, rows[i]->constant);
            matrix = fill_terms(columns, matrix, at++, rows[i]->terms, rows[i]->count, 1);
        }
    for (int i = 0; i < quotients; i++, at += 2)
        matrix = fill_quotient(columns, matrix, at, columns->quotients.data[i]);
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
    Context *ctx = space->ctx;
    int row_count = 0;
    if (!space->rows)
        return;
    for (const AffineRow *row = space->rows; row; row = row->earlier)
        row_count++;
    const AffineRow **rows = ARENA_ARRAY(ctx->arena, const AffineRow *, row_count);
    int at = row_count;
    for (const AffineRow *row = space->rows; row; row = row->earlier)
        rows[--at] = row;
    space->rows = NULL;
    if (!space->set)
        return;
    Columns columns = {ctx, isl_set_get_space(space->set), (int)isl_set_dim(space->set, isl_dim_param),
                       (int)isl_set_dim(space->set, isl_dim_set), {0}};
    for (int i = 0; i < row_count; i++)
        note_terms(&columns, rows[i]->terms, rows[i]->count);
    isl_mat *equalities = fill_matrix(&columns, rows, row_count, true), *others = fill_matrix(&columns, rows, row_count, false);
    isl_basic_set *limit = isl_basic_set_from_constraint_matrices(columns.space, equalities, others, isl_dim_cst, isl_dim_param,
                                                                  isl_dim_set, isl_dim_div);
    space->set = intersect(space->set, limit);
}
