/* Restrictions as rows, and as lists of rows where one of several cases holds; see affine_rows.h.

   A restriction is asked for its rows once for each way through it: where something is to be decided it takes the first side, and the next
   time the second one. x <= min(a, b) holds where all ways do, x <= a and x <= b; x >= min(a, b) where one of them does: x >= a and a <= b, or
   x >= b and b < a.

   Not handled: choices by if_then_else or Select, which isl makes cases of. */
#include "passes/analysis/affine_rows.h"

enum { MOST_CASES = 8, MOST_PARTS = 32 };

/* --- ways --- */

AffineDecision *affine_decide(AffinePath *path, int kind, const Expr *expr, const AffineEnv *env)
{
    path->decides = true;
    for (int i = 0; i < path->count; i++) {
        AffineDecision *known = &path->decisions[i];
        if ((int)known->kind == kind && known->env == env && expr_equal(known->expr, expr))
            return known;
    }
    if (path->count == MOST_DECISIONS)
        return NULL;
    path->decisions[path->count] = (AffineDecision){.kind = kind, .expr = expr, .env = env};
    return &path->decisions[path->count++];
}

/* The next way; false when all have been gone. */
static bool next_way(AffinePath *path)
{
    while (path->count && path->decisions[path->count - 1].second)
        path->count--;
    if (!path->count)
        return false;
    path->decisions[path->count - 1].second = true;
    for (int i = 0; i < path->count; i++)
        path->decisions[i].placed = false;
    return true;
}

/* *HOLDS tells whether SUM, which has no terms but such of coefficient 0, is what its row says. */
static bool is_decided(const AffineSum *sum, bool equality, bool *holds)
{
    for (int i = 0; i < sum->count; i++)
        if (sum->terms[i].coefficient)
            return false;
    *holds = equality ? sum->constant == 0 : sum->constant >= 0;
    return true;
}

static const AffineRow *new_row(Context *ctx, const AffineRow *earlier, const AffineSum *sum, bool equality)
{
    AffineRow *row = ARENA_NEW(ctx->arena, AffineRow);
    const AffineRowTerm *terms = arena_copy(ctx->arena, sum->terms, sizeof *terms * (size_t)sum->count);
    *row = (AffineRow){earlier, equality, sum->constant, sum->count, terms};
    return row;
}

void affine_add_row(AffineSpace *space, const AffineSum *sum, bool equality)
{
    space->rows = new_row(space->ctx, space->rows, sum, equality);
}

void affine_path_add(AffinePath *path, const AffineSum *sum, bool equality)
{
    bool holds;
    if (!is_decided(sum, equality, &holds))
        path->rows = new_row(path->ctx, path->rows, sum, equality);
    else
        path->never |= !holds;
}

/* --- restrictions of a space --- */

/* Adds ROWS, or what never holds, to those of SPACE. */
static void add_rows(AffineSpace *space, const AffineRow *rows, bool never)
{
    AffineSum sum;
    affine_sum_start(&sum, space->ctx, -1);
    if (never)
        affine_add_row(space, &sum, false);
    if (!space->rows || !rows)
        space->rows = rows ? rows : space->rows;
    else {
        add_rows(space, rows->earlier, false);
        AffineRow *row = arena_copy(space->ctx->arena, rows, sizeof *rows);
        row->earlier = space->rows;
        space->rows = row;
    }
}

/* All ways through RESTRICTION hold. */
static bool restrict_to_all(AffineSpace *space, AffineRestriction restriction, const void *data, bool *decides)
{
    AffinePath path = {.ctx = space->ctx, .space = space, .all = true};
    bool linear;
    do
        linear = restriction(&path, data);
    while (linear && next_way(&path));
    *decides = path.decides;
    if (linear)
        add_rows(space, path.rows, path.never);
    return linear;
}

/* The parts of which the set will be, with COUNT cases more, are not too many. */
static bool makes_few_parts(const AffineSpace *space, int count)
{
    int parts = count;
    for (const AffineChoice *choice = space->choices; choice && parts <= MOST_PARTS; choice = choice->earlier)
        parts *= choice->count;
    return parts <= MOST_PARTS;
}

/* One way through RESTRICTION holds. */
static bool restrict_to_one(AffineSpace *space, AffineRestriction restriction, const void *data)
{
    AffinePath path = {.ctx = space->ctx, .space = space};
    const AffineRow *cases[MOST_CASES];
    int count = 0;
    bool holds = false;
    do {
        path.rows = NULL;
        path.never = false;
        if (!restriction(&path, data) || (!path.never && count == MOST_CASES))
            return false;
        holds |= !path.never && !path.rows;
        if (!path.never)
            cases[count++] = path.rows;
    } while (next_way(&path));
    if (holds)
        return true;
    if (count < 2) {
        add_rows(space, count ? cases[0] : NULL, !count);
        return true;
    }
    if (!makes_few_parts(space, count))
        affine_settle(space);
    AffineChoice choice = {space->choices, arena_copy(space->ctx->arena, cases, sizeof *cases * (size_t)count), count};
    space->choices = arena_copy(space->ctx->arena, &choice, sizeof choice);
    return true;
}

bool affine_restrict(AffineSpace *space, AffineRestriction restriction, const void *data)
{
    bool decides;
    return restrict_to_all(space, restriction, data, &decides) || (decides && restrict_to_one(space, restriction, data));
}

/* --- comparisons --- */

typedef struct {
    ExprKind kind;
    const AffineEnv *env_a, *env_b;
    const Expr *a, *b;
} Comparison;

static bool path_compare(AffinePath *path, const void *data)
{
    const Comparison *comparison = data;
    ExprKind kind = comparison->kind;
    if (kind == EXPR_NE) {
        AffineDecision *decision = path->all ? NULL : affine_decide(path, DECIDE_UNEQUAL, comparison->a, comparison->env_a);
        path->decides = true;
        if (!decision)
            return false;
        kind = decision->second ? EXPR_GT : EXPR_LT;
    }
    bool less = kind == EXPR_LT || kind == EXPR_LE;
    AffineSum sum;
    affine_sum_start(&sum, path->ctx, -(kind == EXPR_LT || kind == EXPR_GT));
    sum.path = path;
    path->alone = kind == EXPR_EQ;
    if (!affine_sum_add(&sum, comparison->env_a, comparison->a, less ? -1 : 1) ||
        !affine_sum_add(&sum, comparison->env_b, comparison->b, less ? 1 : -1))
        return false;
    affine_path_add(path, &sum, kind == EXPR_EQ);
    return true;
}

bool affine_add_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b)
{
    Comparison comparison = {kind, env_a, env_b, a, b};
    return affine_restrict(space, path_compare, &comparison);
}

/* --- conditions --- */

typedef struct {
    const AffineEnv *env;
    const Expr *expr;
    bool negated;
} Condition;

static bool path_assume(AffinePath *path, const void *data)
{
    const Condition *condition = data;
    const Expr *expr = condition->expr;
    bool negated = condition->negated;
    if (expr->kind == EXPR_INT) {
        path->never |= (expr->value.integer != 0) == negated;
        return true;
    }
    if (expr->kind == EXPR_NOT || expr_is_call(expr, OP_LIKELY))
        return path_assume(path, &(Condition){condition->env, expr->args[0], negated != (expr->kind == EXPR_NOT)});
    if (expr->kind == EXPR_AND || expr->kind == EXPR_OR) {
        Condition sides[] = {{condition->env, expr->args[0], negated}, {condition->env, expr->args[1], negated}};
        if ((expr->kind == EXPR_AND) != negated)
            return path_assume(path, &sides[0]) && path_assume(path, &sides[1]);
        AffineDecision *decision = path->all ? NULL : affine_decide(path, DECIDE_OR, expr, condition->env);
        path->decides = true;
        return decision && path_assume(path, &sides[decision->second]);
    }
    if (!expr_is_compare(expr) || !dtype_is_integer(expr->args[0]->dtype) || affine_undivided(path->space, expr) != expr)
        return false;
    ExprKind kind = negated ? expr_opposite_compare(expr->kind) : (ExprKind)expr->kind;
    return path_compare(path, &(Comparison){kind, condition->env, condition->env, expr->args[0], expr->args[1]});
}

bool affine_add_condition(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated)
{
    return affine_restrict(space, path_assume, &(Condition){env, condition, negated});
}

/* --- ranges --- */

typedef struct {
    const AffineEnv *env;
    int dim;
    Range range;
} RangeOfDim;

static bool path_range(AffinePath *path, const void *data)
{
    const RangeOfDim *of = data;
    AffineSum low, high;
    affine_sum_start(&low, path->ctx, 0);
    affine_sum_start(&high, path->ctx, -1);
    low.path = high.path = path;
    if (!affine_sum_add(&low, of->env, of->range.min, -1) || !affine_sum_add_dim(&low, of->dim, 1) ||
        !affine_sum_add(&high, of->env, of->range.min, 1) || !affine_sum_add(&high, of->env, of->range.extent, 1) ||
        !affine_sum_add_dim(&high, of->dim, -1))
        return false;
    affine_path_add(path, &low, false);
    affine_path_add(path, &high, false);
    return true;
}

bool affine_add_range(AffineSpace *space, const AffineEnv *env, int dim, Range range)
{
    return affine_restrict(space, path_range, &(RangeOfDim){env, dim, range});
}
