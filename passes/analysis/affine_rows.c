/* See affine_rows.h. */
#include "passes/analysis/affine_rows.h"

#include <isl/id.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>
#include <limits.h>

enum { DEEPEST_SUM = 100 };

/* --- sums --- */

static bool terms_count_same(const AffineRowTerm *a, const AffineRowTerm *b)
{
    return a->param == b->param && a->dim == b->dim && affine_quotients_equal(a->quotient, b->quotient);
}

bool affine_quotients_equal(const AffineQuotient *a, const AffineQuotient *b)
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

/* Adds what stands for EXPR, which is not affine for certain, while all that it is made of is or does not matter. */
static bool add_stand_in(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale)
{
    const AffineSpace *space = sum->path ? sum->path->space : NULL;
    const Expr *term = space && space->terms ? affine_term(space, env, expr) : NULL;
    return term && add_term(sum, (AffineRowTerm){.param = term->value.var}, scale);
}

/* The sum of TERMS has more than one value, whatever it counts: a single quotient, or no quotient at all. */
static bool terms_vary(const AffineRowTerm *terms, int count)
{
    int used = 0, quotients = 0;
    const AffineRowTerm *last = NULL;
    for (int i = 0; i < count; i++)
        if (terms[i].coefficient) {
            used++;
            quotients += terms[i].quotient != NULL;
            last = &terms[i];
        }
    if (quotients)
        return used == 1 && terms_vary(last->quotient->terms, last->quotient->count);
    return used > 0;
}

/* EXPR is linear and has more than one value: what isl would not multiply with another one of this sort. */
static bool surely_varies(Context *ctx, const AffineEnv *env, const Expr *expr)
{
    AffineSum sum;
    affine_sum_start(&sum, ctx, 0);
    return affine_sum_add(&sum, env, expr, 1) && terms_vary(sum.terms, sum.count);
}

static bool add_product(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    int64_t factor;
    int constant = expr_const_int(expr->args[1], &factor) ? 1 : 0;
    if (!constant && !expr_const_int(expr->args[0], &factor))
        return surely_varies(sum->ctx, env, expr->args[0]) && surely_varies(sum->ctx, env, expr->args[1]) &&
               add_stand_in(sum, env, expr, scale);
    return !__builtin_mul_overflow(scale, factor, &scale) &&
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

/* Adds EXPR to INSIDE, what a division is of: it does not grow with each of its parts. */
static bool add_inside(AffineSum *inside, const AffineEnv *env, const Expr *expr, int depth)
{
    AffinePath *path = inside->path;
    bool alone = path && path->alone;
    if (path)
        path->alone = true;
    bool added = add_scaled(inside, env, expr, 1, depth + 1);
    if (path)
        path->alone = alone;
    return added;
}

/* Division by a positive constant, and its remainder: x % d is x - x // d * d. */
static bool add_division(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    int64_t divisor, product;
    if (!expr_const_int(expr->args[1], &divisor) || divisor <= 0)
        return add_stand_in(sum, env, expr, scale);
    AffineSum inside;
    affine_sum_start(&inside, sum->ctx, 0);
    inside.path = sum->path;
    if (!add_inside(&inside, env, expr->args[0], depth))
        return false;
    if (expr->kind == EXPR_FLOORDIV)
        return add_quotient(sum, &inside, divisor, scale);
    return !__builtin_mul_overflow(divisor, scale, &product) && product != INT64_MIN &&
           add_scaled(sum, env, expr->args[0], scale, depth + 1) && add_quotient(sum, &inside, divisor, -product);
}

/* The condition under which DECISION's operand is the minimum or maximum: the other one does not lie beyond it, and not on it either where
   that is the first. */
static bool place_condition(AffinePath *path, AffineDecision *decision, int depth)
{
    const Expr *expr = decision->expr;
    AffineSum difference;
    int sign = (expr->kind == EXPR_MAX) != decision->second ? 1 : -1;
    decision->placed = true;
    affine_sum_start(&difference, path->ctx, -(int64_t)decision->second);
    difference.path = path;
    if (!add_scaled(&difference, decision->env, expr->args[0], sign, depth + 1) ||
        !add_scaled(&difference, decision->env, expr->args[1], -sign, depth + 1))
        return false;
    affine_path_add(path, &difference, false);
    return true;
}

/* The minimum or maximum is one of its operands. */
static bool add_extreme(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale, int depth)
{
    AffinePath *path = sum->path;
    if (!path)
        return false;
    if (path->all && (path->alone || (scale > 0) != (expr->kind == EXPR_MIN))) {
        path->decides = true;
        return false;
    }
    AffineDecision *decision = affine_decide(path, DECIDE_EXTREME, expr, env);
    if (!decision || (!path->all && !decision->placed && !place_condition(path, decision, depth)))
        return false;
    return add_scaled(sum, env, expr->args[decision->second], scale, depth + 1);
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
    case EXPR_MIN:
    case EXPR_MAX: return add_extreme(sum, env, expr, scale, depth);
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
    sum->path = NULL;
    sum->constant = constant;
    sum->count = 0;
}

bool affine_sum_add(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale)
{
    return add_scaled(sum, env, expr, scale, 0);
}

/* --- what is not affine --- */

static bool surely_not(Context *ctx, const AffineEnv *env, const Expr *expr, int depth)
{
    if (depth > DEEPEST_SUM)
        return false;
    if (expr->kind == EXPR_VAR) {
        while (env && env->var != expr->value.var)
            env = env->outer;
        return env && env->dim < 0 && surely_not(ctx, env->outer, env->value, depth + 1);
    }
    bool is_likely = expr_is_call(expr, OP_LIKELY);
    if (expr->kind == EXPR_LOAD)
        return true;
    if (!is_likely && expr->kind != EXPR_CAST && expr->kind != EXPR_NOT && !expr_is_binary(expr))
        return false;
    for (int i = 0; i < expr->arg_count; i++)
        if (surely_not(ctx, env, expr->args[i], depth + 1))
            return true;
    return expr->kind == EXPR_MUL && surely_varies(ctx, env, expr->args[0]) && surely_varies(ctx, env, expr->args[1]);
}

bool affine_surely_not(Context *ctx, const AffineEnv *env, const Expr *expr)
{
    return surely_not(ctx, env, expr, 0);
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
    while (at < columns->quotients.count && !affine_quotients_equal(columns->quotients.data[at], quotient))
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

typedef VEC(const AffineRow *) RowList;

/* Adds ROWS to LIST, the earliest first. */
static void list_rows(Context *ctx, RowList *list, const AffineRow *rows)
{
    int first = list->count;
    for (; rows; rows = rows->earlier)
        vec_push(ctx->arena, list, rows);
    for (int i = first, j = list->count - 1; i < j; i++, j--) {
        const AffineRow *row = list->data[i];
        list->data[i] = list->data[j];
        list->data[j] = row;
    }
}

/* All of ROWS. COLUMNS has columns for all that they count. */
static isl_basic_set *basic_set(Columns *columns, const RowList *rows)
{
    isl_mat *equalities = fill_matrix(columns, rows->data, rows->count, true), *others = fill_matrix(columns, rows->data, rows->count, false);
    return isl_basic_set_from_constraint_matrices(isl_space_copy(columns->space), equalities, others, isl_dim_cst, isl_dim_param, isl_dim_set,
                                                  isl_dim_div);
}

/* SET (taken) restricted to ROWS and, for each of the choices, to one of its cases. Rows come together from the outset, and no part is made
   of which isl sees at once that it is empty. */
static isl_set *restrict_to_cases(Columns *columns, isl_set *set, RowList *rows, const AffineChoice *choices)
{
    if (!choices)
        return intersect(set, basic_set(columns, rows));
    isl_set *all = NULL;
    int count = rows->count;
    for (int i = 0; i < choices->count; i++) {
        list_rows(columns->ctx, rows, choices->cases[i]);
        isl_set *part = restrict_to_cases(columns, isl_set_copy(set), rows, choices->earlier);
        all = all ? isl_set_union(all, part) : part;
        rows->count = count;
    }
    isl_set_free(set);
    return all;
}

void affine_settle(AffineSpace *space)
{
    Context *ctx = space->ctx;
    RowList rows = {0};
    const AffineChoice *choices = space->choices;
    list_rows(ctx, &rows, space->rows);
    space->rows = NULL;
    space->choices = NULL;
    if (!space->set || (!rows.count && !choices))
        return;
    Columns columns = {ctx, isl_set_get_space(space->set), (int)isl_set_dim(space->set, isl_dim_param),
                       (int)isl_set_dim(space->set, isl_dim_set), {0}};
    for (int i = 0; i < rows.count; i++)
        note_terms(&columns, rows.data[i]->terms, rows.data[i]->count);
    for (const AffineChoice *choice = choices; choice; choice = choice->earlier)
        for (int i = 0; i < choice->count; i++)
            for (const AffineRow *row = choice->cases[i]; row; row = row->earlier)
                note_terms(&columns, row->terms, row->count);
    space->set = restrict_to_cases(&columns, space->set, &rows, choices);
    isl_space_free(columns.space);
}
