/* A small search for the least point of a space that rows alone restrict; see affine_search in affine_rows.h.

   Equalities are solved for one variable each, which leaves what contradicts itself as a row without variables or as two opposite ones.
   What is left bounds the variables; then each gets its least value, parameters first, and the bounds follow from those chosen, until
   all have one: the point is the least one in this order. An "or" of cases is searched case by case.

   Not handled: spaces with an isl set of their own, variables without a lower bound, numbers that overflow, and what takes too long. The
   effort is counted, never timed. */
#include <limits.h>
#include <string.h>

#include "ir/fold.h"
#include "passes/analysis/affine_rows.h"
#include "passes/analysis/portfolio.h"

enum { MOST_VARIABLES = 48, MOST_ROWS = 160, MOST_ROUNDS = 24, MOST_TRIES = 100, MOST_WORK = 40 * 1000 };

static const int64_t NONE_BELOW = INT64_MIN, NONE_ABOVE = INT64_MAX;

/* A row over the variables: the sum of the coefficients' products and CONSTANT is 0, or at least 0. */
typedef struct {
    bool equality;
    int64_t constant;
    int64_t coefficients[MOST_VARIABLES];
    int count; /* of the coefficients that are not 0; which ones: */
    unsigned char used[MOST_VARIABLES];
} SearchRow;

typedef struct {
    int64_t least[MOST_VARIABLES], most[MOST_VARIABLES];
} Bounds;

typedef struct {
    Context *ctx;
    const AffineSpace *space;
    VEC(Var *) params;
    VEC(const AffineQuotient *) quotients;
    int dims, variables; /* parameters, dimensions, quotients */
    SearchRow *rows;
    int row_count;
    int work, tries;
    bool gave_up;
    bool found;
    int64_t point[MOST_VARIABLES]; /* the least so far */
} Search;

typedef VEC(const AffineRow *) RowRefs;

/* --- variables --- */

static void note_terms(Search *search, const AffineRowTerm *terms, int count);

static int param_number(Search *search, Var *var)
{
    int at = 0;
    while (at < search->params.count && search->params.data[at] != var)
        at++;
    if (at == search->params.count)
        vec_push(search->ctx->arena, &search->params, var);
    return at;
}

static int quotient_number(Search *search, const AffineQuotient *quotient)
{
    int at = 0;
    while (at < search->quotients.count && !affine_quotients_equal(search->quotients.data[at], quotient))
        at++;
    if (at == search->quotients.count) {
        note_terms(search, quotient->terms, quotient->count);
        at = search->quotients.count;
        vec_push(search->ctx->arena, &search->quotients, quotient);
    }
    return at;
}

/* In the order in which a set gets its parameters, which is that of the least point. */
static void note_terms(Search *search, const AffineRowTerm *terms, int count)
{
    for (int i = 0; i < count; i++)
        if (terms[i].param)
            param_number(search, terms[i].param);
        else if (terms[i].quotient)
            quotient_number(search, terms[i].quotient);
}

static void note_rows(Search *search, const AffineRow *rows)
{
    if (!rows)
        return;
    note_rows(search, rows->earlier);
    note_terms(search, rows->terms, rows->count);
}

static void note_variables(Search *search)
{
    note_rows(search, search->space->rows);
    for (const AffineChoice *choice = search->space->choices; choice; choice = choice->earlier)
        for (int i = 0; i < choice->count; i++)
            note_rows(search, choice->cases[i]);
    search->dims = (int)isl_set_dim(search->space->set, isl_dim_set);
    search->variables = search->params.count + search->dims + search->quotients.count;
}

static int variable_of(Search *search, const AffineRowTerm *term)
{
    if (term->quotient)
        return search->params.count + search->dims + quotient_number(search, term->quotient);
    return term->param ? param_number(search, term->param) : search->params.count + term->dim;
}

/* --- rows --- */

static SearchRow *new_row(Search *search, bool equality, int64_t constant)
{
    SearchRow *row = &search->rows[search->row_count++];
    memset(row->coefficients, 0, sizeof *row->coefficients * (size_t)search->variables);
    row->equality = equality;
    row->constant = constant;
    return row;
}

static void add_terms(Search *search, SearchRow *row, const AffineRowTerm *terms, int count, int64_t scale)
{
    for (int i = 0; i < count; i++) {
        int64_t *coefficient = &row->coefficients[variable_of(search, &terms[i])], product;
        search->gave_up |= __builtin_mul_overflow(terms[i].coefficient, scale, &product) ||
                           __builtin_add_overflow(*coefficient, product, coefficient);
    }
}

/* 0 <= sum - divisor * quotient < divisor */
static void add_quotient_rows(Search *search, const AffineQuotient *quotient)
{
    int variable = search->params.count + search->dims + quotient_number(search, quotient);
    SearchRow *low = new_row(search, false, quotient->constant);
    SearchRow *high = new_row(search, false, quotient->divisor - 1 - quotient->constant); /* fits: see fits_in_rows */
    add_terms(search, low, quotient->terms, quotient->count, 1);
    add_terms(search, high, quotient->terms, quotient->count, -1);
    low->coefficients[variable] -= quotient->divisor;
    high->coefficients[variable] += quotient->divisor;
}

static bool fill_rows(Search *search, const RowRefs *rows)
{
    search->row_count = 0;
    if (rows->count + 2 * search->quotients.count > MOST_ROWS)
        return false;
    for (int i = 0; i < rows->count; i++)
        add_terms(search, new_row(search, rows->data[i]->equality, rows->data[i]->constant), rows->data[i]->terms, rows->data[i]->count, 1);
    for (int i = 0; i < search->quotients.count; i++)
        add_quotient_rows(search, search->quotients.data[i]);
    return !search->gave_up;
}

/* ROW plus SCALE times ADDED. */
static void add_row(Search *search, SearchRow *row, const SearchRow *added, int64_t scale)
{
    int64_t product;
    for (int i = 0; i < search->variables; i++)
        if (added->coefficients[i])
            search->gave_up |= __builtin_mul_overflow(added->coefficients[i], scale, &product) ||
                               __builtin_add_overflow(row->coefficients[i], product, &row->coefficients[i]);
    search->gave_up |= __builtin_mul_overflow(added->constant, scale, &product) ||
                       __builtin_add_overflow(row->constant, product, &row->constant);
}

/* The last variable with a coefficient of 1 or -1: the values of the earlier ones are looked for, and say what it is. */
static int pivot_of(const Search *search, const SearchRow *row)
{
    for (int i = search->variables - 1; i >= 0; i--)
        if (row->coefficients[i] == 1 || row->coefficients[i] == -1)
            return i;
    return -1;
}

/* Each equality that can say what a variable is does so, and no other row mentions that variable. */
static void solve_equalities(Search *search)
{
    for (int i = 0; i < search->row_count && !search->gave_up; i++) {
        SearchRow *row = &search->rows[i];
        int pivot = row->equality ? pivot_of(search, row) : -1;
        for (int j = 0; pivot >= 0 && j < search->row_count; j++) {
            SearchRow *other = &search->rows[j];
            search->gave_up |= other->coefficients[pivot] == INT64_MIN;
            if (other != row && other->coefficients[pivot] && !search->gave_up)
                add_row(search, other, row, -other->coefficients[pivot] * row->coefficients[pivot]);
        }
    }
}

/* Divides by what all coefficients have in common; false when the row cannot hold for integers. *HOLDS: it does for all. */
static bool reduce_row(Search *search, SearchRow *row, bool *holds)
{
    int64_t common = 0;
    row->count = 0;
    search->gave_up |= row->constant == INT64_MIN;
    for (int i = 0; i < search->variables; i++)
        if (row->coefficients[i]) {
            search->gave_up |= row->coefficients[i] == INT64_MIN;
            common = search->gave_up ? 1 : integer_gcd(common, row->coefficients[i]);
            row->used[row->count++] = (unsigned char)i;
        }
    *holds = !row->count;
    if (*holds)
        return row->equality ? row->constant == 0 : row->constant >= 0;
    if (common == 1)
        return true;
    if (row->equality && row->constant % common)
        return false;
    row->constant = floor_divide(row->constant, common);
    for (int i = 0; i < row->count; i++)
        row->coefficients[row->used[i]] /= common;
    return true;
}

/* A says the opposite of B: both hold nowhere. */
static bool rows_contradict(const SearchRow *a, const SearchRow *b)
{
    int64_t sum;
    if (a->count != b->count || __builtin_add_overflow(a->constant, b->constant, &sum) || sum >= 0)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->used[i] != b->used[i] || a->coefficients[a->used[i]] != -b->coefficients[b->used[i]])
            return false;
    return true;
}

/* Simplifies the rows; false when they contradict each other. */
static bool reduce_rows(Search *search)
{
    int kept = 0;
    solve_equalities(search);
    for (int i = 0; i < search->row_count && !search->gave_up; i++) {
        SearchRow *row = &search->rows[i];
        bool holds;
        if (!reduce_row(search, row, &holds))
            return false;
        if (holds)
            continue;
        for (int j = 0; j < kept; j++)
            if (!row->equality && !search->rows[j].equality && rows_contradict(&search->rows[j], row))
                return false;
        if (kept != i)
            search->rows[kept] = *row;
        kept++;
    }
    search->row_count = kept;
    return true;
}

/* --- bounds --- */

/* The most that SIGN times the sum of ROW can be; *OPEN is the variable without a bound in it, -1: none, -2: several. */
static int64_t most_of(Search *search, const SearchRow *row, int sign, const Bounds *bounds, int *open)
{
    int64_t most = sign * row->constant, product;
    *open = -1;
    for (int i = 0; i < row->count; i++) {
        int variable = row->used[i];
        int64_t coefficient = sign * row->coefficients[variable];
        int64_t end = coefficient > 0 ? bounds->most[variable] : bounds->least[variable];
        if (end == NONE_ABOVE || end == NONE_BELOW)
            *open = *open == -1 ? variable : -2;
        else
            search->gave_up |= __builtin_mul_overflow(coefficient, end, &product) || __builtin_add_overflow(most, product, &most);
    }
    return most;
}

/* SIGN times the sum of ROW is at least 0, and at most MOST: bounds VARIABLE. False when no value is left. */
static bool bound_variable(Search *search, int64_t coefficient, int variable, int64_t most, bool open, Bounds *bounds, bool *changed)
{
    int64_t *least = &bounds->least[variable], *last = &bounds->most[variable], own, others = most;
    if (!open && (__builtin_mul_overflow(coefficient, coefficient > 0 ? *last : *least, &own) ||
                  __builtin_sub_overflow(most, own, &others))) {
        search->gave_up = true;
        return true;
    }
    if (others <= INT64_MIN / 2 || others >= INT64_MAX / 2) {
        search->gave_up = true;
        return true;
    }
    int64_t end = coefficient > 0 ? -floor_divide(others, coefficient) : floor_divide(others, -coefficient);
    if (coefficient > 0 && end > *least) {
        *least = end;
        *changed = true;
    } else if (coefficient < 0 && end < *last) {
        *last = end;
        *changed = true;
    }
    return *least <= *last;
}

/* SIGN times the sum of ROW is at least 0: false when no values are left. */
static bool apply_row(Search *search, const SearchRow *row, int sign, Bounds *bounds, bool *changed)
{
    int open;
    int64_t most = most_of(search, row, sign, bounds, &open);
    search->work += row->count;
    if (search->gave_up || open == -2)
        return true;
    if (open == -1 && most < 0)
        return false;
    for (int i = 0; i < row->count && !search->gave_up; i++) {
        int variable = row->used[i];
        if ((open == -1 || open == variable) && !bound_variable(search, sign * row->coefficients[variable], variable, most, open == variable,
                                                                bounds, changed))
            return false;
    }
    return true;
}

/* What the rows say of the bounds; false when no values are left. */
static bool apply_rows(Search *search, Bounds *bounds)
{
    bool changed = true;
    for (int round = 0; changed && round < MOST_ROUNDS; round++) {
        changed = false;
        for (int i = 0; i < search->row_count; i++) {
            const SearchRow *row = &search->rows[i];
            if (!apply_row(search, row, 1, bounds, &changed) || (row->equality && !apply_row(search, row, -1, bounds, &changed)))
                return false;
            if (search->gave_up || (search->gave_up = search->work > MOST_WORK))
                return true;
        }
    }
    return true;
}

/* --- the point --- */

static bool rows_hold(Search *search, const int64_t *values)
{
    for (int i = 0; i < search->row_count; i++) {
        const SearchRow *row = &search->rows[i];
        int64_t sum = row->constant, product;
        for (int k = 0; k < row->count; k++)
            search->gave_up |= __builtin_mul_overflow(row->coefficients[row->used[k]], values[row->used[k]], &product) ||
                               __builtin_add_overflow(sum, product, &sum);
        if (row->equality ? sum != 0 : sum < 0)
            return false;
    }
    return true;
}

static bool is_before(const Search *search, const int64_t *a, const int64_t *b)
{
    int count = search->params.count + search->dims, i = 0;
    while (i < count && a[i] == b[i])
        i++;
    return i < count && a[i] < b[i];
}

/* All variables before number AT have a value: looks for the others'. True when there is a point, or the search was given up. */
static bool choose_values(Search *search, Bounds *bounds, int at)
{
    while (at < search->variables && bounds->least[at] == bounds->most[at])
        at++;
    if (at == search->variables) {
        if (!rows_hold(search, bounds->least))
            return search->gave_up;
        if (!search->found || is_before(search, bounds->least, search->point))
            memcpy(search->point, bounds->least, sizeof *search->point * (size_t)search->variables);
        return search->found = true;
    }
    while (!search->gave_up) {
        Bounds chosen = *bounds;
        search->gave_up = bounds->least[at] == NONE_BELOW || ++search->tries > MOST_TRIES;
        chosen.most[at] = chosen.least[at];
        if (search->gave_up || (apply_rows(search, &chosen) && (search->gave_up || choose_values(search, &chosen, at + 1))))
            return true;
        if (bounds->least[at]++ == bounds->most[at] || !apply_rows(search, bounds))
            return search->gave_up;
    }
    return true;
}

static void search_part(Search *search, const RowRefs *rows)
{
    Bounds bounds;
    if (search->gave_up || !fill_rows(search, rows)) {
        search->gave_up = true;
        return;
    }
    if (!reduce_rows(search) || search->gave_up)
        return;
    for (int i = 0; i < search->variables; i++) {
        Var *param = i < search->params.count ? search->params.data[i] : NULL;
        bool size = param && (map_has(&search->space->sizes, param) || affine_term_is_nonnegative(search->space->terms, param));
        bounds.least[i] = size ? 0 : NONE_BELOW;
        bounds.most[i] = NONE_ABOVE;
    }
    if (apply_rows(search, &bounds) && !search->gave_up)
        choose_values(search, &bounds, 0);
}

static void list_rows(Context *ctx, RowRefs *list, const AffineRow *rows)
{
    for (; rows; rows = rows->earlier)
        vec_push(ctx->arena, list, rows);
}

/* The parts that hold one case of each of CHOICES, besides ROWS. */
static void search_parts(Search *search, RowRefs *rows, const AffineChoice *choices)
{
    if (!choices) {
        search_part(search, rows);
        return;
    }
    int count = rows->count;
    for (int i = 0; i < choices->count && !search->gave_up; i++) {
        list_rows(search->ctx, rows, choices->cases[i]);
        search_parts(search, rows, choices->earlier);
        rows->count = count;
    }
}

static const AffinePoint *found_point(const Search *search)
{
    Arena *arena = search->ctx->arena;
    AffinePoint point = {search->space->rows, search->space->choices, search->params.count, search->params.data, NULL};
    point.values = arena_copy(arena, search->point, sizeof *search->point * (size_t)(search->params.count + search->dims));
    return arena_copy(arena, &point, sizeof point);
}

SetVerdict affine_search(AffineSpace *space)
{
    Search search = {.ctx = space->ctx, .space = space};
    RowRefs rows = {0};
    if (isl_set_plain_is_universe(space->set) != isl_bool_true || isl_set_dim(space->set, isl_dim_param) > 0)
        return SET_UNKNOWN;
    note_variables(&search);
    if (search.variables > MOST_VARIABLES)
        return SET_UNKNOWN;
    search.rows = arena_grow(search.ctx->arena, NULL, 0, sizeof *search.rows * MOST_ROWS);
    list_rows(search.ctx, &rows, space->rows);
    search_parts(&search, &rows, space->choices);
    if (search.gave_up)
        return SET_UNKNOWN;
    space->point = search.found ? found_point(&search) : NULL;
    return search.found ? SET_HAS_POINT : SET_EMPTY;
}

Answer empty_by_search(const Goal *goal)
{
    SetVerdict found = goal->space->set ? affine_search(goal->space) : SET_UNKNOWN;
    return found == SET_EMPTY ? answer_shown() : found == SET_HAS_POINT ? answer_refuted("a point") : answer_unknown("not decided");
}
