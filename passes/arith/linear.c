/* Sums of terms: building, arithmetic, and back to expressions. See linear.h. */
#include "passes/arith/linear.h"

#include "support/bug.h"

Linear linear_of_expr(const Expr *expr)
{
    return (Linear){.form = LINEAR_EXPR, .dtype = expr->dtype, .expr = expr};
}

Linear linear_of_term(Term term, DType dtype)
{
    return (Linear){.form = LINEAR_TERM, .dtype = dtype, .term = term};
}

Linear linear_of_sum(Sum sum)
{
    return (Linear){.form = LINEAR_SUM, .dtype = sum.dtype, .sum = sum};
}

static Sum sum_empty(DType dtype)
{
    return (Sum){.dtype = dtype};
}

bool sum_is_zero(const Sum *sum)
{
    return sum->base == 0 && sum->terms.count == 0;
}

/* True for values of the sum's type whose negation is one too: the print may need either. */
static bool fits_both_signs(DType dtype, int64_t value)
{
    return dtype_holds(dtype, value) && value != dtype_min_int(dtype);
}

static bool term_overflows(Term term, DType dtype)
{
    return !fits_both_signs(dtype, term.scale) || !dtype_holds(dtype, term.lower) ||
           (term.upper != UPPER_NONE && !dtype_holds(dtype, term.upper));
}

bool linear_overflows(const Linear *value)
{
    if (value->form == LINEAR_TERM)
        return term_overflows(value->term, value->dtype);
    return value->form == LINEAR_SUM && value->sum.overflow;
}

Term linear_to_term(Simplifier *s, Linear value)
{
    if (value.form == LINEAR_TERM)
        return value.term;
    if (value.form == LINEAR_SUM && value.sum.base == 0 && value.sum.terms.count == 1)
        return value.sum.terms.data[0];
    return (Term){.index = linear_to_expr(s, value), .lower = 1, .upper = UPPER_NONE, .scale = 1, .division = DIVISION_TRUNCATES};
}

Sum linear_to_sum(Simplifier *s, Linear value)
{
    if (value.form == LINEAR_SUM)
        return value.sum;
    Sum sum = sum_empty(value.dtype);
    int64_t constant;
    if (value.form == LINEAR_EXPR && expr_const_int(value.expr, &constant)) {
        sum_add_constant(&sum, constant);
        return sum;
    }
    Term term = linear_to_term(s, value);
    sum.overflow = term_overflows(term, value.dtype);
    vec_push(s->an->arena, &sum.terms, term);
    return sum;
}

/* --- Arithmetic in place --- */

static int64_t checked_add(Sum *sum, int64_t a, int64_t b)
{
    int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result) || !fits_both_signs(sum->dtype, result))
        sum->overflow = true;
    return result;
}

static int64_t checked_multiply(Sum *sum, int64_t a, int64_t b)
{
    int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result) || !fits_both_signs(sum->dtype, result))
        sum->overflow = true;
    return result;
}

void sum_add_constant(Sum *sum, int64_t value)
{
    sum->base = checked_add(sum, sum->base, value);
}

/* Divisions agree where there is nothing to divide by. */
static bool division_fits(Term term, Division division)
{
    return term.division == division || (term.lower == 1 && term.upper == UPPER_NONE);
}

static bool same_piece(Term a, Term b)
{
    return a.lower == b.lower && a.upper == b.upper && division_fits(a, b.division);
}

static void insert_term(Simplifier *s, Sum *sum, int at, Term term)
{
    vec_push(s->an->arena, &sum->terms, term);
    for (int i = sum->terms.count - 1; i > at; i--)
        sum->terms.data[i] = sum->terms.data[i - 1];
    sum->terms.data[at] = term;
}

void sum_add_term(Simplifier *s, Sum *sum, Term term, int64_t scale)
{
    if (term.scale == 0)
        return;
    term.scale = checked_multiply(sum, term.scale, scale);
    int at = 0;
    while (at < sum->terms.count && !expr_equal(sum->terms.data[at].index, term.index))
        at++;
    for (; at < sum->terms.count; at++) {
        Term *present = &sum->terms.data[at];
        if (!expr_equal(present->index, term.index) || term.lower > present->lower)
            break;
        if (same_piece(term, *present)) {
            present->scale = checked_add(sum, present->scale, term.scale);
            return;
        }
    }
    insert_term(s, sum, at, term);
}

void sum_add_sum(Simplifier *s, Sum *sum, const Sum *other, int64_t scale)
{
    for (int i = 0; i < other->terms.count; i++)
        sum_add_term(s, sum, other->terms.data[i], scale);
    sum_add_constant(sum, checked_multiply(sum, other->base, scale));
    sum->overflow |= other->overflow;
}

static void sum_multiply(Sum *sum, int64_t factor)
{
    for (int i = 0; i < sum->terms.count; i++)
        sum->terms.data[i].scale = checked_multiply(sum, sum->terms.data[i].scale, factor);
    sum->base = checked_multiply(sum, sum->base, factor);
}

void sum_divide(Sum *sum, int64_t divisor)
{
    for (int i = 0; i < sum->terms.count; i++)
        sum->terms.data[i].scale /= divisor;
    sum->base /= divisor;
}

void sum_separate(Simplifier *s, const Sum *sum, int64_t divisor, Sum *divisible, Sum *rest)
{
    *divisible = *rest = sum_empty(sum->dtype);
    *(sum->base % divisor == 0 ? &divisible->base : &rest->base) = sum->base;
    for (int i = 0; i < sum->terms.count; i++)
        if (sum->terms.data[i].scale % divisor == 0)
            vec_push(s->an->arena, &divisible->terms, sum->terms.data[i]);
        else
            vec_push(s->an->arena, &rest->terms, sum->terms.data[i]);
}

Linear linear_scaled(Simplifier *s, Linear value, int64_t factor)
{
    if (value.form == LINEAR_SUM) {
        sum_multiply(&value.sum, factor);
        return value;
    }
    Term term = linear_to_term(s, value);
    if (__builtin_mul_overflow(term.scale, factor, &term.scale))
        term.scale = INT64_MIN; /* counts as overflow in every type */
    return linear_of_term(term, value.dtype);
}

/* --- Back to expressions --- */

/* The expression of TERM without its scale. */
static const Expr *term_piece(Simplifier *s, Term term, DType dtype)
{
    Context *ctx = s->an->ctx;
    bool floors = term.division == DIVISION_FLOORS;
    const Expr *piece = term.index;
    if (term.upper != UPPER_NONE)
        piece = op_binary(ctx, floors ? EXPR_FLOORMOD : EXPR_MOD, piece, expr_int(ctx, dtype, term.upper), span_none());
    if (term.lower != 1)
        piece = op_binary(ctx, floors ? EXPR_FLOORDIV : EXPR_DIV, piece, expr_int(ctx, dtype, term.lower), span_none());
    return piece;
}

const Expr *term_to_expr(Simplifier *s, Term term, DType dtype)
{
    if (term.scale == 0)
        return expr_int(s->an->ctx, dtype, 0);
    return op_mul_int(s->an->ctx, term_piece(s, term, dtype), term.scale);
}

/* True when HIGH continues LOW upward: i % 8 // 4 * 4 after i % 4. */
static bool pieces_meet(Term high, Term low)
{
    int64_t lower;
    return high.lower == low.upper && low.scale != 0 && high.scale % low.scale == 0 && division_fits(high, low.division) &&
           !__builtin_mul_overflow(high.scale / low.scale, low.lower, &lower) && lower == high.lower;
}

/* Joins the pieces of each index: equal ones, and i % 8 // 4 * 4 + i % 4 into i % 8. A piece that was taken into a later one keeps the
   scale 0. */
static void join_pieces(Term *terms, int count, DType dtype)
{
    for (int i = 0; i < count; i++) {
        Term *high = &terms[i];
        for (int j = i + 1; j < count && high->scale != 0; j++) {
            Term *low = &terms[j];
            int64_t scale;
            if (!expr_equal(high->index, low->index) || high->upper < low->lower)
                break;
            if (same_piece(*high, *low) && !__builtin_add_overflow(low->scale, high->scale, &scale) && fits_both_signs(dtype, scale)) {
                low->scale = scale;
                high->scale = 0;
            } else if (pieces_meet(*high, *low)) {
                low->upper = high->upper;
                high->scale = 0;
            }
        }
    }
}

/* The order of terms in print: by falling scale, then by the factors; equal ones keep their order. */
static bool term_precedes(Term a, Term b)
{
    if (a.scale != b.scale)
        return a.scale > b.scale;
    if (a.lower != b.lower)
        return a.lower > b.lower;
    if (a.upper != b.upper)
        return a.upper > b.upper;
    return a.division > b.division;
}

/* Stable merge of the two sorted halves [begin, middle) and [middle, end) of TERMS through ROOM. */
static void merge_terms(Term *terms, Term *room, int begin, int middle, int end)
{
    for (int i = begin, a = begin, b = middle; i < end; i++)
        room[i] = a < middle && (b >= end || !term_precedes(terms[b], terms[a])) ? terms[a++] : terms[b++];
    for (int i = begin; i < end; i++)
        terms[i] = room[i];
}

static void sort_terms(Term *terms, Term *room, int begin, int end)
{
    if (end - begin < 2)
        return;
    int middle = begin + (end - begin) / 2;
    sort_terms(terms, room, begin, middle);
    sort_terms(terms, room, middle, end);
    merge_terms(terms, room, begin, middle, end);
}

static const Expr *add_or_start(Context *ctx, const Expr *total, const Expr *next)
{
    return total ? op_add(ctx, total, next) : next;
}

const Expr *sum_to_expr(Simplifier *s, Sum sum)
{
    if (sum.overflow)
        BUG("an overflowed sum is used");
    Context *ctx = s->an->ctx;
    int count = sum.terms.count, i = 0;
    Term *terms = arena_copy(s->an->arena, sum.terms.data, sizeof *sum.terms.data * (size_t)count);
    join_pieces(terms, count, sum.dtype);
    sort_terms(terms, ARENA_ARRAY(s->an->arena, Term, count), 0, count);
    const Expr *total = NULL;
    for (; i < count && terms[i].scale > 0; i++)
        total = add_or_start(ctx, total, term_to_expr(s, terms[i], sum.dtype));
    if (sum.base > 0)
        total = add_or_start(ctx, total, expr_int(ctx, sum.dtype, sum.base));
    if (!total)
        total = expr_int(ctx, sum.dtype, 0);
    for (; i < count; i++)
        if (terms[i].scale != 0)
            total = op_sub(ctx, total, op_mul_int(ctx, term_piece(s, terms[i], sum.dtype), -terms[i].scale));
    if (sum.base < 0)
        total = op_sub(ctx, total, expr_int(ctx, sum.dtype, -sum.base));
    return total;
}

const Expr *linear_to_expr(Simplifier *s, Linear value)
{
    switch (value.form) {
    case LINEAR_TERM: return term_to_expr(s, value.term, value.dtype);
    case LINEAR_SUM: return sum_to_expr(s, value.sum);
    default: return value.expr;
    }
}
