/* See affine.h. */

#include <isl/aff.h>
#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

#include "passes/analysis/prove/portfolio.h"
#include "passes/analysis/sets/affine.h"
#include "passes/analysis/sets/affine_linear.h"
#include "passes/analysis/sets/omitted.h"
#include "support/strbuf.h"

/* isl counts its elementary operations; a question that takes more is answered with "unknown". A count, never a time: verdicts are the same
   everywhere. */
enum { OPERATION_QUOTA = 200 * 1000, DEEPEST_EXPR = 200 };

static void release_isl(void *handle)
{
    isl_ctx_free(handle);
}

isl_ctx *affine_isl(Context *ctx)
{
    if (!ctx->isl.handle) {
        isl_ctx *isl = isl_ctx_alloc();
        isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
        isl_ctx_set_max_operations(isl, OPERATION_QUOTA);
        ctx->isl = (Resource){isl, release_isl};
    }
    return ctx->isl.handle;
}

AffineSpace affine_universe(Context *ctx, int dims, const Map *sizes)
{
    isl_ctx *isl = affine_isl(ctx);
    isl_ctx_reset_error(isl);
    isl_ctx_reset_operations(isl);
    AffineSpace space = {.ctx = ctx, .set = isl_set_universe(isl_space_set_alloc(isl, 0, (unsigned)dims))};
    if (sizes)
        space.sizes = *sizes;
    return space;
}

AffineSpace affine_of_set(Context *ctx, isl_set *set, const Map *sizes)
{
    return (AffineSpace){.ctx = ctx, .set = set, .sizes = *sizes};
}

void affine_free(AffineSpace *space)
{
    isl_set_free(space->set);
    space->set = NULL;
    space->rows = NULL;
}

isl_set *affine_take_set(AffineSpace *space)
{
    affine_settle(space);
    isl_set *set = space->set;
    space->set = NULL;
    return set;
}

AffineSpace affine_copy(const AffineSpace *space)
{
    AffineSpace copy = *space;
    copy.set = isl_set_copy(space->set);
    return copy;
}

static const AffineEnv *lookup(const AffineEnv *env, const Var *var)
{
    while (env && env->var != var)
        env = env->outer;
    return env;
}

static isl_pw_aff *constant(const AffineSpace *space, int64_t value)
{
    isl_local_space *local = isl_local_space_from_space(isl_set_get_space(space->set));
    isl_val *number = isl_val_int_from_si(affine_isl(space->ctx), value);
    return isl_pw_aff_from_aff(isl_aff_val_on_domain(local, number));
}

static isl_pw_aff *dimension(const AffineSpace *space, int dim)
{
    isl_local_space *local = isl_local_space_from_space(isl_set_get_space(space->set));
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, (unsigned)dim));
}

/* A symbolic size or other free variable. Its id carries the Var, so equal names of different variables stay apart. */
static isl_pw_aff *parameter(const AffineSpace *space, Var *var)
{
    isl_id *id = isl_id_alloc(affine_isl(space->ctx), var->name, var);
    isl_space *with = isl_set_get_space(space->set);
    int position = isl_space_find_dim_by_id(with, isl_dim_param, id);
    if (position < 0) {
        position = (int)isl_space_dim(with, isl_dim_param);
        with = isl_space_add_dims(with, isl_dim_param, 1);
        with = isl_space_set_dim_id(with, isl_dim_param, (unsigned)position, id);
    } else {
        isl_id_free(id);
    }
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(isl_local_space_from_space(with), isl_dim_param, (unsigned)position));
}

static isl_pw_aff *affine_at(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth);
static isl_set *condition_at(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth);

static isl_pw_aff *affine_var(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    const AffineEnv *found = lookup(env, expr->value.var);
    if (!found)
        return parameter(space, expr->value.var);
    return found->dim >= 0 ? dimension(space, found->dim) : affine_at(space, found->outer, found->value, depth + 1);
}

static isl_pw_aff *affine_product(isl_pw_aff *a, isl_pw_aff *b)
{
    if (isl_pw_aff_is_cst(a) == isl_bool_true || isl_pw_aff_is_cst(b) == isl_bool_true)
        return isl_pw_aff_mul(a, b);
    isl_pw_aff_free(a);
    isl_pw_aff_free(b);
    return NULL;
}

/* Division and modulo by a positive constant. */
static isl_pw_aff *affine_division(ExprKind kind, isl_pw_aff *a, const Expr *divisor, const AffineSpace *space)
{
    int64_t d;
    if (!expr_const_int(divisor, &d) || d <= 0) {
        isl_pw_aff_free(a);
        return NULL;
    }
    isl_val *value = isl_val_int_from_si(affine_isl(space->ctx), d);
    switch (kind) {
    case EXPR_FLOORDIV: return isl_pw_aff_floor(isl_pw_aff_scale_down_val(a, value));
    case EXPR_FLOORMOD: return isl_pw_aff_mod_val(a, value);
    default: isl_val_free(value); break;
    }
    isl_pw_aff *b = constant(space, d);
    return kind == EXPR_DIV ? isl_pw_aff_tdiv_q(a, b) : isl_pw_aff_tdiv_r(a, b);
}

/* VALUE where it is shown to be a value of TYPE in the set so far, else NULL: it might wrap. */
static isl_pw_aff *affine_within(const AffineSpace *space, isl_pw_aff *value, DType type)
{
    if (!value)
        return NULL;
    isl_set *below = isl_pw_aff_lt_set(isl_pw_aff_copy(value), constant(space, dtype_min_int(type)));
    isl_set *above = isl_pw_aff_gt_set(isl_pw_aff_copy(value), constant(space, dtype_max_int(type)));
    isl_set *outside = isl_set_intersect(isl_set_copy(space->set), isl_set_union(below, above));
    bool within = isl_set_is_empty(outside) == isl_bool_true;
    isl_set_free(outside);
    if (within)
        return value;
    isl_pw_aff_free(value);
    return NULL;
}

/* Shifts by a constant, and the lowest bits that a mask of ones leaves, are multiplication, division and modulo by a power of 2. */
static isl_pw_aff *affine_bits(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    int64_t count, power;
    if (!dtype_is_integer(expr->dtype) || !expr_const_int(expr->args[1], &count) || count < 0)
        return NULL;
    if (expr->value.op == OP_BITWISE_AND)
        power = count < INT64_MAX ? count + 1 : 0;
    else
        power = count < 62 ? INT64_C(1) << count : 0;
    if (power <= 0 || (power & (power - 1)))
        return NULL;
    isl_pw_aff *a = affine_at(space, env, expr->args[0], depth + 1);
    if (!a)
        return NULL;
    isl_val *value = isl_val_int_from_si(affine_isl(space->ctx), power);
    switch (expr->value.op) {
    case OP_SHIFT_LEFT: return affine_within(space, isl_pw_aff_scale_val(a, value), expr->dtype);
    case OP_SHIFT_RIGHT: return isl_pw_aff_floor(isl_pw_aff_scale_down_val(a, value));
    default: return isl_pw_aff_mod_val(a, value);
    }
}

static isl_pw_aff *affine_binary(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    isl_pw_aff *a = affine_at(space, env, expr->args[0], depth + 1);
    if (!a)
        return NULL;
    if (expr->kind >= EXPR_DIV && expr->kind <= EXPR_FLOORMOD)
        return affine_division(expr->kind, a, expr->args[1], space);
    isl_pw_aff *b = affine_at(space, env, expr->args[1], depth + 1);
    if (!b) {
        isl_pw_aff_free(a);
        return NULL;
    }
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: return isl_pw_aff_add(a, b);
    case EXPR_SUB: return isl_pw_aff_sub(a, b);
    case EXPR_MUL: return affine_product(a, b);
    case EXPR_MIN: return isl_pw_aff_min(a, b);
    default: return isl_pw_aff_max(a, b);
    }
}

static isl_pw_aff *affine_choice(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    isl_set *condition = condition_at(space, env, expr->args[0], depth + 1);
    isl_pw_aff *a = condition ? affine_at(space, env, expr->args[1], depth + 1) : NULL;
    isl_pw_aff *b = a ? affine_at(space, env, expr->args[2], depth + 1) : NULL;
    if (!b) {
        isl_set_free(condition);
        isl_pw_aff_free(a);
        return NULL;
    }
    return isl_pw_aff_cond(isl_set_indicator_function(condition), a, b);
}

/* A cast that keeps the value: by its types, or since the values are shown to be of the new type. */
static isl_pw_aff *affine_cast(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    if (!dtype_is_integer(expr->dtype) || !dtype_is_integer(expr->args[0]->dtype))
        return NULL;
    isl_pw_aff *value = affine_at(space, env, expr->args[0], depth + 1);
    return affine_cast_keeps_value(expr) ? value : affine_within(space, value, expr->dtype);
}

/* Arithmetic of indices does not overflow; that of other integers wraps, which is not affine. */
static isl_pw_aff *affine_arithmetic(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    if (!dtype_is_integer(expr->dtype))
        return NULL;
    isl_pw_aff *value = affine_binary(space, env, expr, depth);
    return dtype_is_index(expr->dtype) ? value : affine_within(space, value, expr->dtype);
}

static isl_pw_aff *affine_by_kind(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_INT: return dtype_holds(expr->dtype, expr->value.integer) ? constant(space, expr->value.integer) : NULL;
    case EXPR_VAR: return dtype_is_integer(expr->dtype) || expr->dtype.code == DT_BOOL ? affine_var(space, env, expr, depth) : NULL;
    case EXPR_CAST: return affine_cast(space, env, expr, depth);
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
    case EXPR_DIV:
    case EXPR_MOD:
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD:
    case EXPR_MIN:
    case EXPR_MAX: return affine_arithmetic(space, env, expr, depth);
    case EXPR_SELECT: return affine_choice(space, env, expr, depth);
    case EXPR_LET: {
        AffineEnv inner = {env, expr->value.var, -1, expr->args[0]};
        return affine_at(space, &inner, expr->args[1], depth + 1);
    }
    case EXPR_CALL:
        if (expr->value.op == OP_LIKELY)
            return affine_at(space, env, expr->args[0], depth + 1);
        if (expr->value.op == OP_SHIFT_LEFT || expr->value.op == OP_SHIFT_RIGHT || expr->value.op == OP_BITWISE_AND)
            return affine_bits(space, env, expr, depth);
        return expr->value.op == OP_IF_THEN_ELSE ? affine_choice(space, env, expr, depth) : NULL;
    default: return NULL;
    }
}

static isl_pw_aff *affine_at(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    if (!space->set || depth > DEEPEST_EXPR || expr->dtype.lanes != 1)
        return NULL;
    isl_pw_aff *result = affine_by_kind(space, env, expr, depth);
    const Expr *term = result ? NULL : affine_term(space, env, expr);
    return term ? parameter(space, term->value.var) : result;
}

/* EXPR (integer or bool) over the space as an isl expression that the caller owns; NULL when it is not affine. */
static isl_pw_aff *affine_expr(const AffineSpace *space, const AffineEnv *env, const Expr *expr)
{
    return affine_at(space, env, expr, 0);
}

/* The set where A KIND B; takes both. */
static isl_set *comparison(ExprKind kind, isl_pw_aff *a, isl_pw_aff *b)
{
    switch (kind) {
    case EXPR_EQ: return isl_pw_aff_eq_set(a, b);
    case EXPR_NE: return isl_pw_aff_ne_set(a, b);
    case EXPR_LT: return isl_pw_aff_lt_set(a, b);
    case EXPR_LE: return isl_pw_aff_le_set(a, b);
    case EXPR_GT: return isl_pw_aff_gt_set(a, b);
    default: return isl_pw_aff_ge_set(a, b);
    }
}

/* The set where EXPR holds, exactly; NULL when it is not affine. */
static isl_set *condition_at(const AffineSpace *space, const AffineEnv *env, const Expr *expr, int depth)
{
    if (!space->set || depth > DEEPEST_EXPR)
        return NULL;
    if (expr->kind == EXPR_INT) {
        isl_space *shape = isl_set_get_space(space->set);
        return expr->value.integer ? isl_set_universe(shape) : isl_set_empty(shape);
    }
    if (expr_is_call(expr, OP_LIKELY))
        return condition_at(space, env, expr->args[0], depth + 1);
    if (expr->kind == EXPR_NOT) {
        isl_set *inner = condition_at(space, env, expr->args[0], depth + 1);
        return inner ? isl_set_complement(inner) : NULL;
    }
    if (expr->kind == EXPR_AND || expr->kind == EXPR_OR) {
        isl_set *a = condition_at(space, env, expr->args[0], depth + 1);
        isl_set *b = a ? condition_at(space, env, expr->args[1], depth + 1) : NULL;
        if (!b) {
            isl_set_free(a);
            return NULL;
        }
        return expr->kind == EXPR_AND ? isl_set_intersect(a, b) : isl_set_union(a, b);
    }
    if (!expr_is_compare(expr) || !dtype_is_integer(expr->args[0]->dtype))
        return NULL;
    isl_pw_aff *a = affine_at(space, env, expr->args[0], depth + 1);
    isl_pw_aff *b = a ? affine_at(space, env, expr->args[1], depth + 1) : NULL;
    if (!b) {
        isl_pw_aff_free(a);
        return NULL;
    }
    return comparison(expr->kind, a, b);
}

/* Intersects with LIMIT (taken), which was made when all rows were settled; NULL leaves it out. */
static void restrict_to(AffineSpace *space, isl_set *limit)
{
    if (limit)
        space->set = isl_set_intersect(space->set, limit);
    else
        space->approximate = true;
}

/* EXPR is certainly left out of SPACE. */
static bool is_left_out(AffineSpace *space, const AffineEnv *env, const Expr *expr)
{
    bool out = !space->terms && affine_surely_not(env, expr);
    space->approximate |= out;
    return out;
}

/* Of a conjunction each side helps alone. */
void affine_assume(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated)
{
    if (!space->set)
        return;
    if (condition->kind == EXPR_NOT) {
        affine_assume(space, env, condition->args[0], !negated);
        return;
    }
    if (condition->kind == (negated ? EXPR_OR : EXPR_AND)) {
        affine_assume(space, env, condition->args[0], negated);
        affine_assume(space, env, condition->args[1], negated);
        return;
    }
    bool always = !negated && affine_is_rest_below_size(space, condition);
    if (always || affine_add_condition(space, env, condition, negated))
        return;
    isl_set *set = NULL;
    if (!is_left_out(space, env, condition)) {
        affine_settle(space);
        set = condition_at(space, env, condition, 0);
    }
    if (!set)
        omit_condition(space, env, condition, negated);
    restrict_to(space, set && negated ? isl_set_complement(set) : set);
}

typedef struct {
    ExprKind kind;
    const AffineEnv *env_a, *env_b;
    const Expr *a, *b;
} Compared;

enum { MOST_CHOICES = 3 };

/* Where the two compare so. Of a choice by what is not affine both sides count: then *EXACT becomes false. NULL when it is not known. */
static isl_set *compared_set(const AffineSpace *space, const Compared *compared, int choices, bool *exact)
{
    isl_pw_aff *left = affine_expr(space, compared->env_a, compared->a);
    isl_pw_aff *right = left ? affine_expr(space, compared->env_b, compared->b) : NULL;
    if (right)
        return comparison(compared->kind, left, right);
    const Expr *cases[2];
    bool in_b = left != NULL;
    isl_pw_aff_free(left);
    if (choices == MOST_CHOICES || !affine_split_choice(space->ctx, in_b ? compared->env_b : compared->env_a,
                                                        in_b ? compared->b : compared->a, cases))
        return NULL;
    isl_set *sets[2];
    for (int i = 0; i < 2; i++) {
        Compared one = *compared;
        *(in_b ? &one.b : &one.a) = cases[i];
        sets[i] = compared_set(space, &one, choices + 1, exact);
    }
    *exact = false;
    if (sets[0] && sets[1])
        return isl_set_union(sets[0], sets[1]);
    isl_set_free(sets[0]);
    isl_set_free(sets[1]);
    return NULL;
}

/* EXPR is certainly left out, and no choice of values that need not be. */
static bool is_no_choice_either(AffineSpace *space, const AffineEnv *env, const Expr *expr)
{
    const Expr *cases[2];
    bool approximate = space->approximate;
    if (!is_left_out(space, env, expr))
        return false;
    bool choice = affine_split_choice(space->ctx, env, expr, cases);
    space->approximate = approximate || !choice;
    return !choice;
}

void affine_assume_compare(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b)
{
    if (!space->set || affine_add_comparison(space, kind, env_a, a, env_b, b))
        return;
    bool exact = true;
    isl_set *set = NULL;
    if (!is_no_choice_either(space, env_a, a) && !is_no_choice_either(space, env_b, b)) {
        affine_settle(space);
        set = compared_set(space, &(Compared){kind, env_a, env_b, a, b}, 0, &exact);
    }
    if (!set)
        omit_comparison(space, kind, env_a, a, env_b, b);
    restrict_to(space, set);
    space->approximate |= !exact;
}

void affine_assume_range(AffineSpace *space, const AffineEnv *env, int dim, Range range)
{
    if (!space->set || affine_add_range(space, env, dim, range))
        return;
    affine_settle(space);
    isl_pw_aff *min = affine_expr(space, env, range.min);
    isl_pw_aff *extent = affine_expr(space, env, range.extent);
    if (min)
        restrict_to(space, isl_pw_aff_ge_set(dimension(space, dim), isl_pw_aff_copy(min)));
    if (min && extent) {
        restrict_to(space, isl_pw_aff_lt_set(dimension(space, dim), isl_pw_aff_add(min, extent)));
        return;
    }
    bool least = min && range.extent->kind == EXPR_MIN; /* below the lesser of two is below each */
    for (int i = 0; i < 2 && least; i++)
        affine_assume_range(space, env, dim, (Range){range.min, range.extent->args[i]});
    if (!least)
        omit_range(space, env, dim, range);
    isl_pw_aff_free(min);
    isl_pw_aff_free(extent);
    space->approximate |= !least;
}

void affine_assume_dims(AffineSpace *space, ExprKind kind, int a, int b)
{
    if (!space->set)
        return;
    if (kind == EXPR_EQ || kind == EXPR_LT || kind == EXPR_LE) {
        affine_add_dims(space, kind, a, b);
        return;
    }
    affine_settle(space);
    restrict_to(space, comparison(kind, dimension(space, a), dimension(space, b)));
}

isl_set *affine_bound_params(isl_set *set, const Map *sizes, const AffineTerms *terms)
{
    for (int i = 0; set && i < (int)isl_set_dim(set, isl_dim_param); i++) {
        isl_id *id = isl_set_get_dim_id(set, isl_dim_param, (unsigned)i);
        if (map_has(sizes, isl_id_get_user(id)) || affine_term_is_nonnegative(terms, isl_id_get_user(id)))
            set = isl_set_lower_bound_si(set, isl_dim_param, (unsigned)i, 0);
        isl_id_free(id);
    }
    return set;
}

static isl_set *with_sizes(const AffineSpace *space)
{
    return affine_bound_params(isl_set_copy(space->set), &space->sizes, space->terms);
}

Answer empty_by_isl(const Goal *goal)
{
    AffineSpace *space = goal->space;
    space->has_point = false;
    affine_settle(space);
    if (!space->set)
        return answer_unknown("the set could not be made");
    isl_set *set = with_sizes(space);
    goal->ctx->work += (uint64_t)isl_set_n_basic_set(set) * isl_set_dim(set, isl_dim_all);
    isl_bool empty = isl_set_is_empty(set);
    isl_set_free(set);
    if (empty == isl_bool_true)
        return answer_shown();
    space->has_point = empty == isl_bool_false;
    bool all = !space->omitted && !(space->terms && space->terms->known.count);
    return all && space->has_point ? answer_refuted("a point") : answer_unknown(space->has_point ? "a point" : "too complex");
}

SetVerdict affine_verdict(AffineSpace *space)
{
    Answer empty = prove((Goal){.kind = GOAL_EMPTY, .ctx = space->ctx, .space = space});
    return empty.verdict == ANSWER_SHOWN ? SET_EMPTY : space->has_point ? SET_HAS_POINT : SET_UNKNOWN;
}

bool affine_runs_into(const AffineSpace *whole, AffineSpace *part)
{
    if (!whole->set || !part->set || affine_verdict(part) != SET_HAS_POINT)
        return false;
    AffineSpace settled = affine_copy(whole);
    affine_settle(&settled);
    affine_settle(part);
    isl_set *sizes_whole = isl_set_params(with_sizes(&settled)), *sizes_part = isl_set_params(with_sizes(part));
    bool always = isl_set_is_subset(sizes_whole, sizes_part) == isl_bool_true;
    isl_set_free(sizes_whole);
    isl_set_free(sizes_part);
    affine_free(&settled);
    return always;
}

static int64_t coordinate(isl_point *point, enum isl_dim_type type, int position)
{
    isl_val *value = isl_point_get_coordinate_val(point, type, position);
    int64_t number = value ? isl_val_get_num_si(value) : 0;
    isl_val_free(value);
    return number;
}

/* A point of SET (taken) with the least parameters and then the least coordinates, or any where there is no least one; the parameters come
   first, as dimensions. NULL when none is found. */
static isl_point *least_point(isl_set *set)
{
    int params = (int)isl_set_dim(set, isl_dim_param);
    set = isl_set_move_dims(set, isl_dim_set, 0, isl_dim_param, 0, (unsigned)params);
    isl_set *least = isl_set_lexmin(isl_set_copy(set));
    isl_point *point = least && isl_set_is_empty(least) == isl_bool_false ? isl_set_sample_point(isl_set_copy(least)) : NULL;
    isl_set_free(least);
    if (!point || isl_point_is_void(point) == isl_bool_true) {
        isl_point_free(point);
        point = isl_set_sample_point(isl_set_copy(set));
    }
    isl_set_free(set);
    return point;
}

bool affine_sample(AffineSpace *space, int64_t *values, const char **params)
{
    affine_settle(space);
    isl_set *set = space->set ? with_sizes(space) : NULL;
    isl_point *point = set ? least_point(isl_set_copy(set)) : NULL;
    StrBuf text = {.arena = space->ctx->arena};
    bool found = point && isl_point_is_void(point) == isl_bool_false;
    int dims = found ? (int)isl_set_dim(set, isl_dim_set) : 0, count = found ? (int)isl_set_dim(set, isl_dim_param) : 0;
    for (int i = 0; i < dims; i++)
        values[i] = coordinate(point, isl_dim_set, count + i);
    for (int i = 0; i < count; i++)
        strbuf_printf(&text, "%s%s = %lld", i ? ", " : "", isl_set_get_dim_name(set, isl_dim_param, (unsigned)i),
                      (long long)coordinate(point, isl_dim_set, i));
    *params = strbuf_text(&text);
    isl_point_free(point);
    isl_set_free(set);
    return found;
}
