/* See rows.h. What an index adds is put where the greatest stride divides it: (i + 1) * m + j - 1 is (i + 1, j - 1). */

#include <string.h>

#include "ir/fold.h"
#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "passes/analysis/normal/rows.h"
#include "passes/analysis/sets/affine_linear.h"

/* BY, whose coefficient may have any sign, times VALUE; NULL: times 1. */
typedef struct {
    Stride by;
    const Expr *value;
} Term;
typedef VEC(Term) TermList;

typedef struct {
    Context *ctx;
    const Map *symbols;
    TermList terms;
} Splitter;

/* --- symbols --- */

typedef struct {
    Context *ctx;
    Map *symbols;
} SymbolNotes;

static bool note_symbol(Visitor *visitor, const Expr *expr)
{
    SymbolNotes *notes = visitor->data;
    if (expr->kind == EXPR_VAR)
        map_set(notes->ctx->arena, notes->symbols, expr->value.var, expr->value.var);
    return true;
}

Map func_symbols(Context *ctx, const Func *func)
{
    Map symbols = {0};
    SymbolNotes notes = {ctx, &symbols};
    Visitor visitor = {.expr = note_symbol, .data = &notes};
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        if (!buffer)
            map_set(ctx->arena, &symbols, func->params[i].param, func->params[i].param);
        for (int d = 0; buffer && d < buffer->ndim; d++) {
            visit_expr(&visitor, buffer->shape[d]);
            if (buffer->strides)
                visit_expr(&visitor, buffer->strides[d]);
        }
    }
    return symbols;
}

typedef struct {
    const Map *symbols;
    bool found, fixed;
} SymbolSearch;

static bool check_fixed(Visitor *visitor, const Expr *expr)
{
    SymbolSearch *search = visitor->data;
    if (expr->kind == EXPR_LOAD || expr->kind == EXPR_CALL || (expr->kind == EXPR_VAR && !map_has(search->symbols, expr->value.var)))
        search->fixed = false;
    return search->fixed;
}

/* EXPR has one value throughout a run of the function. */
static bool is_fixed(const Map *symbols, const Expr *expr)
{
    SymbolSearch search = {symbols, false, true};
    Visitor visitor = {.expr = check_fixed, .data = &search};
    visit_expr(&visitor, expr);
    return search.fixed;
}

static bool find_stride(Visitor *visitor, const Expr *expr)
{
    SymbolSearch *search = visitor->data;
    if (expr->kind == EXPR_MUL && expr->args[0]->kind != EXPR_INT && expr->args[1]->kind != EXPR_INT && dtype_is_index(expr->dtype))
        search->found |= is_fixed(search->symbols, expr->args[0]) != is_fixed(search->symbols, expr->args[1]);
    return !search->found && expr->kind != EXPR_LOAD;
}

bool expr_has_symbolic_stride(const Map *symbols, const Expr *expr)
{
    if (expr->kind == EXPR_VAR || expr->kind == EXPR_INT)
        return false;
    SymbolSearch search = {symbols, false, false};
    Visitor visitor = {.expr = find_stride, .data = &search};
    visit_expr(&visitor, expr);
    return search.found;
}

/* --- products --- */

const Expr *rows_without_cast(const Expr *expr)
{
    while (expr->kind == EXPR_CAST && affine_cast_keeps_value(expr))
        expr = expr->args[0];
    return expr;
}

static bool scale(Stride *by, int64_t factor)
{
    return !__builtin_mul_overflow(by->coefficient, factor, &by->coefficient) && by->coefficient <= INT32_MAX &&
           by->coefficient >= -INT32_MAX;
}

/* BY times EXPR, which has one value. */
static bool multiply(Stride *by, const Expr *expr)
{
    expr = rows_without_cast(expr);
    if (expr->kind == EXPR_INT)
        return scale(by, expr->value.integer);
    if (expr->kind == EXPR_MUL)
        return multiply(by, expr->args[0]) && multiply(by, expr->args[1]);
    if (by->count == MOST_FACTORS)
        return false;
    by->factors[by->count++] = expr;
    return true;
}

/* A / B; false where B does not divide A, symbol by symbol. */
static bool divide(const Stride *a, const Stride *b, Stride *result)
{
    *result = *a;
    for (int i = 0; i < b->count; i++) {
        int at = 0;
        while (at < result->count && !expr_equal(result->factors[at], b->factors[i]))
            at++;
        if (at == result->count)
            return false;
        result->count--;
        memmove(&result->factors[at], &result->factors[at + 1], sizeof *result->factors * (size_t)(result->count - at));
    }
    result->coefficient /= b->coefficient;
    return a->coefficient % b->coefficient == 0;
}

bool rows_are_several(const Expr *count, const Expr *extent)
{
    Stride whole = {.coefficient = 1}, one = {.coefficient = 1}, rest;
    return multiply(&whole, count) && multiply(&one, extent) && one.coefficient && divide(&whole, &one, &rest) &&
           (rest.count || rest.coefficient != 1);
}

static const Expr *product_of(Context *ctx, const Stride *stride, DType type)
{
    const Expr *product = NULL;
    for (int i = 0; i < stride->count; i++) {
        const Expr *factor = op_cast(ctx, type, stride->factors[i]);
        product = product ? op_mul(ctx, product, factor) : factor;
    }
    return product ? op_mul_int(ctx, product, stride->coefficient) : expr_int(ctx, type, stride->coefficient);
}

/* --- sums --- */

const Frame *rows_binding(const Frame *frame, const Expr *expr)
{
    while (frame && expr->kind == EXPR_VAR && frame->var != expr->value.var)
        frame = frame->outer;
    return expr->kind == EXPR_VAR && frame && frame->kind == FRAME_BIND ? frame : NULL;
}

static bool add_terms(Splitter *splitter, const Frame *frame, const Expr *expr, Stride by)
{
    expr = rows_without_cast(expr);
    if (!dtype_is_index(expr->dtype))
        return false;
    if (expr->kind == EXPR_ADD || expr->kind == EXPR_SUB) {
        Stride second = by;
        return scale(&second, expr->kind == EXPR_SUB ? -1 : 1) && add_terms(splitter, frame, expr->args[0], by) &&
               add_terms(splitter, frame, expr->args[1], second);
    }
    Term term = {by, NULL};
    if (is_fixed(splitter->symbols, expr)) {
        if (!multiply(&term.by, expr))
            return false;
        vec_push(splitter->ctx->arena, &splitter->terms, term);
        return true;
    }
    for (int side = 0; expr->kind == EXPR_MUL && side < 2; side++)
        if (is_fixed(splitter->symbols, expr->args[side]))
            return multiply(&by, expr->args[side]) && add_terms(splitter, frame, expr->args[1 - side], by);
    const Frame *binding = rows_binding(frame, expr);
    if (binding && expr_has_symbolic_stride(splitter->symbols, binding->value))
        return add_terms(splitter, binding->outer, binding->value, by);
    term.value = expr;
    vec_push(splitter->ctx->arena, &splitter->terms, term);
    return true;
}

static bool split_sum(Splitter *splitter, const Frame *frame, const Expr *expr)
{
    splitter->terms.count = 0;
    return add_terms(splitter, frame, expr, (Stride){.coefficient = 1});
}

/* --- strides --- */

enum { MOST_PRODUCTS = 8 };
typedef struct {
    Stride products[MOST_PRODUCTS]; /* with the greatest common divisor of their coefficients */
    bool varies[MOST_PRODUCTS];     /* something that varies is multiplied with it */
    int count;
} Products;

/* Equal but for the coefficients. */
static bool same_symbols(const Stride *a, const Stride *b)
{
    Stride one_a = *a, one_b = *b, rest;
    one_a.coefficient = one_b.coefficient = 1;
    return a->count == b->count && divide(&one_a, &one_b, &rest);
}

static bool add_product(Products *products, const Term *term)
{
    int at = 0;
    while (at < products->count && !same_symbols(&products->products[at], &term->by))
        at++;
    if (at == MOST_PRODUCTS)
        return false;
    Stride *known = &products->products[at];
    if (at == products->count) {
        products->count++;
        *known = term->by;
        products->varies[at] = false;
    }
    known->coefficient = integer_gcd(known->coefficient, term->by.coefficient);
    products->varies[at] |= term->value != NULL;
    return true;
}

/* The strides among PRODUCTS; false where one does not divide the one before. */
static bool order_strides(const Products *products, Strides *strides)
{
    strides->count = 0;
    for (int size = MOST_FACTORS; size > 0; size--)
        for (int i = 0; i < products->count; i++) {
            if (products->products[i].count != size || !products->varies[i] || !products->products[i].coefficient)
                continue;
            if (strides->count == MOST_STRIDES)
                return false;
            Stride *stride = &strides->strides[strides->count++], rest;
            *stride = products->products[i];
            if (strides->count == 1)
                continue;
            stride->coefficient = integer_gcd(stride->coefficient, stride[-1].coefficient);
            if (!divide(&stride[-1], stride, &rest))
                return false;
        }
    return true;
}

/* In dimension DIM of REGIONS. */
static bool find_strides(Splitter *splitter, const Region *regions, const Frame *const *frames, int count, int dim, Strides *strides)
{
    Products products = {0};
    for (int r = 0; r < count; r++) {
        if (!split_sum(splitter, frames ? frames[r] : NULL, regions[r].ranges[dim].min))
            return false;
        for (int t = 0; t < splitter->terms.count; t++)
            if (splitter->terms.data[t].by.count && !add_product(&products, &splitter->terms.data[t]))
                return false;
    }
    return order_strides(&products, strides);
}

/* The stride of digit DIGIT of STRIDES; that of the last is 1. */
static Stride stride_of(const Strides *strides, int digit)
{
    return digit < strides->count ? strides->strides[digit] : (Stride){.coefficient = 1};
}

const Expr *rows_stride(Context *ctx, const AccessRows *rows, int d, int digit, DType type)
{
    Stride stride = stride_of(&rows->strides[d], digit);
    return product_of(ctx, &stride, type);
}

/* How many values digit DIGIT > 0 has. */
static const Expr *digit_extent(Context *ctx, const Strides *strides, int digit, DType type)
{
    Stride outer = strides->strides[digit - 1], inner = stride_of(strides, digit), ratio;
    divide(&outer, &inner, &ratio);
    return product_of(ctx, &ratio, type);
}

/* The sum in SPLITTER's terms by digits of type TYPE. */
static void sum_digits(Splitter *splitter, const Strides *strides, DType type, const Expr **digits)
{
    Context *ctx = splitter->ctx;
    for (int i = 0; i <= strides->count; i++)
        digits[i] = expr_int(ctx, type, 0);
    for (int t = 0; t < splitter->terms.count; t++) {
        const Term *term = &splitter->terms.data[t];
        Stride rest, stride = stride_of(strides, 0);
        int digit = 0;
        for (; !divide(&term->by, &stride, &rest); stride = stride_of(strides, ++digit)) {
        }
        const Expr *part = product_of(ctx, &rest, type);
        if (term->value) {
            const Expr *value = op_cast(ctx, type, term->value);
            part = rest.count ? op_mul(ctx, value, part) : op_mul_int(ctx, value, rest.coefficient);
        }
        digits[digit] = op_add(ctx, digits[digit], part);
    }
}

/* --- buffers --- */

/* How many values the first digit has, in a dimension of SIZE elements. */
static const Expr *first_extent(Splitter *splitter, Strides *strides, const Expr *size)
{
    Context *ctx = splitter->ctx;
    const Stride *stride = &strides->strides[0];
    Stride rest;
    strides->exact = split_sum(splitter, NULL, size);
    for (int t = 0; strides->exact && t < splitter->terms.count; t++)
        strides->exact = divide(&splitter->terms.data[t].by, stride, &rest);
    if (strides->exact) {
        const Expr *digits[MOST_STRIDES + 1];
        sum_digits(splitter, strides, size->dtype, digits);
        return digits[0];
    }
    const Expr *product = product_of(ctx, stride, size->dtype);
    return op_floordiv(ctx, op_add(ctx, size, op_add_int(ctx, product, -1)), product);
}

static Buffer *digit_buffer(Splitter *splitter, const Buffer *flat, Strides *strides)
{
    Context *ctx = splitter->ctx;
    int ndim = 0, at = 0;
    for (int d = 0; d < flat->ndim; d++)
        ndim += strides[d].count + 1;
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, ndim);
    for (int d = 0; d < flat->ndim; d++) {
        shape[at++] = strides[d].count ? first_extent(splitter, &strides[d], flat->shape[d]) : flat->shape[d];
        for (int i = 1; i <= strides[d].count; i++)
            shape[at++] = digit_extent(ctx, &strides[d], i, flat->shape[d]->dtype);
    }
    Buffer *buffer = buffer_new(ctx, flat->name, flat->dtype, ndim, shape, flat->scope, flat->span);
    buffer->data = flat->data;
    return buffer;
}

const AccessRows *rows_of_regions(Context *ctx, const Map *symbols, const Region *regions, const Frame *const *frames, int count)
{
    Splitter splitter = {ctx, symbols, {0}};
    Buffer *flat = regions[0].buffer;
    Strides *strides = ARENA_ARRAY(ctx->arena, Strides, flat->ndim);
    int found = 0;
    for (int d = 0; d < flat->ndim; d++) {
        strides[d].count = 0;
        if (!find_strides(&splitter, regions, frames, count, d, &strides[d]))
            return NULL;
        found += strides[d].count;
    }
    if (!found)
        return NULL;
    AccessRows rows = {flat, digit_buffer(&splitter, flat, strides), strides};
    return arena_copy(ctx->arena, &rows, sizeof rows);
}

bool rows_split_region(Context *ctx, const Map *symbols, const AccessRows *rows, const Region *region, const Frame *frame, Region *result)
{
    Splitter splitter = {ctx, symbols, {0}};
    Range *ranges = ARENA_ARRAY(ctx->arena, Range, rows->buffer->ndim);
    for (int d = 0, at = 0; d < rows->flat->ndim; d++) {
        const Strides *strides = &rows->strides[d];
        Range range = region->ranges[d];
        const Expr *digits[MOST_STRIDES + 1] = {range.min};
        if (strides->count && !split_sum(&splitter, frame, range.min))
            return false;
        if (strides->count)
            sum_digits(&splitter, strides, range.min->dtype, digits);
        for (int i = 0; i <= strides->count; i++)
            ranges[at++] = (Range){digits[i], i < strides->count ? expr_int(ctx, range.min->dtype, 1) : range.extent};
    }
    *result = (Region){rows->buffer, ranges, region->span};
    return true;
}

const Expr *rows_size(const AccessRows *rows, int dim)
{
    int flat = 0, first = 0;
    for (; first + rows->strides[flat].count < dim; flat++)
        first += rows->strides[flat].count + 1;
    bool known = first < dim || !rows->strides[flat].count || rows->strides[flat].exact;
    return known ? rows->buffer->shape[dim] : NULL;
}

/* The digits of EXPR. m - 1 - j, with j >= 0, is digit m - 1 - j of one row less than it adds: -1 - j is no digit. */
static bool find_digits(Analyzer *an, const Map *symbols, const Strides *strides, const Expr *expr, const Expr **digits)
{
    Context *ctx = analyzer_context(an);
    Splitter splitter = {ctx, symbols, {0}};
    if (!split_sum(&splitter, NULL, expr))
        return false;
    sum_digits(&splitter, strides, expr->dtype, digits);
    for (int i = strides->count; i > 0; i--) {
        if (!analyzer_prove_below(an, digits[i], 0))
            continue;
        digits[i] = analyzer_simplify(an, op_add(ctx, digits[i], digit_extent(ctx, strides, i, expr->dtype)));
        digits[i - 1] = op_add_int(ctx, digits[i - 1], -1);
    }
    return true;
}

/* From FIRST to LAST; false where that is nothing. A row from end to end is the digits of one row, not up to before the next: where a digit
   falls back by a constant the one before did not grow. */
static bool digit_ranges(Context *ctx, const Strides *strides, const Expr *const *first, const Expr **last, Range *ranges)
{
    for (int i = strides->count; i >= 0; i--) {
        int64_t difference;
        bool known = linear_difference(ctx, last[i], first[i], &difference);
        if (known && difference < 0 && i > 0) {
            last[i] = op_add(ctx, last[i], digit_extent(ctx, strides, i, last[i]->dtype));
            last[i - 1] = op_add_int(ctx, last[i - 1], -1);
        } else if (known && difference < 0) {
            return false;
        }
        ranges[i] = (Range){first[i], linear_simplify(ctx, op_add_int(ctx, op_sub(ctx, last[i], first[i]), 1))};
    }
    return true;
}

bool rows_bound_region(Analyzer *an, const Map *symbols, const AccessRows *rows, const Region *region, Region *result)
{
    Context *ctx = analyzer_context(an);
    Range *all = ARENA_ARRAY(ctx->arena, Range, rows->buffer->ndim), *ranges = all;
    for (int d = 0; d < rows->flat->ndim; d++) {
        const Strides *strides = &rows->strides[d];
        Range range = region->ranges[d];
        const Expr *first[MOST_STRIDES + 1], *last[MOST_STRIDES + 1];
        if (!strides->count) {
            *ranges++ = range;
            continue;
        }
        const Expr *end = op_add_int(ctx, op_add(ctx, range.min, range.extent), -1);
        if (!find_digits(an, symbols, strides, range.min, first) || !find_digits(an, symbols, strides, end, last) ||
            !digit_ranges(ctx, strides, first, last, ranges))
            return false;
        ranges += strides->count + 1;
    }
    *result = (Region){rows->buffer, all, region->span};
    return true;
}
