/* See access_rows.h.

     n, m = T.int64(), T.int64()
     C = T.match_buffer(c, (n * m,), "float32")
     for i, j in T.grid(n, m):
         C[i * m + j] = ...                             is a write of element (i, j), and no other i and j write it

   isl knows no products of sizes, but it compares i and j. What an index adds is put where the greatest stride divides it: (i + 1) * m + j - 1
   is (i + 1, j - 1), an element of row i + 1 where j - 1 is known to lie in [0, m). Where one access to the memory is not known to stay in
   its row, all stay as they are.

   Not handled: strides of which none is a multiple of the other (i * m + j * n), strides that are read or computed in the body, quotients
   of an index (C[f] next to C[i * m + j]). */
#include "passes/analysis/access_rows.h"

#include <string.h>

#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "passes/analysis/pair.h"
#include "passes/analysis/quotient_order.h"

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

static const Expr *without_cast(const Expr *expr)
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
    expr = without_cast(expr);
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

/* What EXPR, a variable, is bound to; NULL where it is none or a loop's. */
static const Frame *binding_of(const Frame *frame, const Expr *expr)
{
    while (frame && expr->kind == EXPR_VAR && frame->var != expr->value.var)
        frame = frame->outer;
    return expr->kind == EXPR_VAR && frame && frame->kind == FRAME_BIND ? frame : NULL;
}

static bool add_terms(Splitter *splitter, const Frame *frame, const Expr *expr, Stride by)
{
    expr = without_cast(expr);
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
    const Frame *binding = binding_of(frame, expr);
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

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

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
    known->coefficient = common_divisor(known->coefficient, term->by.coefficient);
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
            stride->coefficient = common_divisor(stride->coefficient, stride[-1].coefficient);
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
static const Expr *first_extent(Splitter *splitter, const Strides *strides, const Expr *size)
{
    Context *ctx = splitter->ctx;
    const Stride *stride = &strides->strides[0];
    Stride rest;
    bool divides = split_sum(splitter, NULL, size);
    for (int t = 0; divides && t < splitter->terms.count; t++)
        divides = divide(&splitter->terms.data[t].by, stride, &rest);
    if (divides) {
        const Expr *digits[MOST_STRIDES + 1];
        sum_digits(splitter, strides, size->dtype, digits);
        return digits[0];
    }
    const Expr *product = product_of(ctx, stride, size->dtype);
    return op_floordiv(ctx, op_add(ctx, size, op_add_int(ctx, product, -1)), product);
}

static Buffer *digit_buffer(Splitter *splitter, const Buffer *flat, const Strides *strides)
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

/* The digits of LAST less those of FIRST, plus 1, as extents. A row from end to end is the digits of one row, not up to before the next:
   where a digit falls back by a constant the one before did not grow. */
static bool digit_extents(Context *ctx, const Strides *strides, const Expr *const *first, const Expr **last, Range *ranges)
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

bool rows_bound_region(Context *ctx, const Map *symbols, const AccessRows *rows, const Region *region, Region *result)
{
    Splitter splitter = {ctx, symbols, {0}};
    Range *all = ARENA_ARRAY(ctx->arena, Range, rows->buffer->ndim), *ranges = all;
    for (int d = 0; d < rows->flat->ndim; d++) {
        const Strides *strides = &rows->strides[d];
        Range range = region->ranges[d];
        const Expr *first[MOST_STRIDES + 1], *last[MOST_STRIDES + 1];
        if (!strides->count) {
            *ranges++ = range;
            continue;
        }
        if (!split_sum(&splitter, NULL, range.min))
            return false;
        sum_digits(&splitter, strides, range.min->dtype, first);
        if (!split_sum(&splitter, NULL, op_add_int(ctx, op_add(ctx, range.min, range.extent), -1)))
            return false;
        sum_digits(&splitter, strides, range.min->dtype, last);
        if (!digit_extents(ctx, strides, first, last, ranges))
            return false;
        ranges += strides->count + 1;
    }
    *result = (Region){rows->buffer, all, region->span};
    return true;
}

/* --- accesses --- */

typedef struct {
    Context *ctx;
    const Map *symbols, *sizes;
    Analyzer *an; /* knows what holds where the access runs; NULL: not asked yet */
} RowProof;

/* A cheap argument that VALUE lies in [0, EXTENT): it stands for a loop over just that. */
static bool is_loop_over(const Access *access, const Expr *value, const Expr *extent)
{
    const Frame *frame = access->frame;
    while (frame && value->kind == EXPR_VAR && frame->var != value->value.var)
        frame = frame->outer;
    if (!frame || value->kind != EXPR_VAR)
        return false;
    if (frame->kind == FRAME_BIND)
        return is_loop_over(access, without_cast(frame->value), extent);
    return expr_is_int(frame->range.min, 0) && expr_equal(without_cast(frame->range.extent), without_cast(extent)) &&
           !access_runs_without(access, frame);
}

static bool is_at_most(Analyzer *an, const Expr *a, const Expr *b)
{
    return analyzer_prove_symbolic(an, op_compare(analyzer_context(an), EXPR_LE, a, b)) || quotient_at_most(an, a, b);
}

/* RANGE, seen from ACCESS, lies in [0, EXTENT) wherever that runs. */
static bool stays_below(RowProof *proof, const Access *access, Range range, const Expr *extent)
{
    Context *ctx = proof->ctx;
    if (expr_is_int(range.extent, 1) && is_loop_over(access, without_cast(range.min), extent))
        return true;
    Subst values = frame_values(ctx, access->frame);
    if (!proof->an) {
        ExprList point = {0};
        if (!access_point(ctx, access, &point))
            point.count = 0;
        proof->an = analyzer_of_access(ctx, access, &point, proof->sizes);
    }
    const Expr *first = subst_expr(ctx, &values, range.min);
    const Expr *end = op_add(ctx, first, op_cast(ctx, first->dtype, subst_expr(ctx, &values, range.extent)));
    return is_at_most(proof->an, expr_int(ctx, first->dtype, 0), first) && is_at_most(proof->an, end, op_cast(ctx, first->dtype, extent));
}

/* Moves a whole stride to or from RANGES[1] where that is what it takes to bring it into its range: m - 1 - j is in row 0, not m rows behind
   -1 - j. */
static bool fit_digit(RowProof *proof, const Access *access, Range *ranges, const Expr *extent)
{
    static const int moves[] = {0, 1, -1};
    Context *ctx = proof->ctx;
    for (int i = 0; i < 3; i++) {
        const Expr *min = op_add(ctx, ranges[1].min, op_mul_int(ctx, op_cast(ctx, ranges[1].min->dtype, extent), moves[i]));
        if (!stays_below(proof, access, (Range){min, ranges[1].extent}, extent))
            continue;
        ranges[1].min = min;
        ranges[0].min = op_add_int(ctx, ranges[0].min, -moves[i]);
        return true;
    }
    return false;
}

/* The digits of ACCESS in RESULT, each but the first shown to be in its range, from the last on. */
static bool split_access(Context *ctx, const Map *symbols, const Map *sizes, const AccessRows *rows, const Access *access, Region *result)
{
    RowProof proof = {ctx, symbols, sizes, NULL};
    if (!rows_split_region(ctx, symbols, rows, &access->region, access->frame, result))
        return false;
    for (int d = rows->flat->ndim - 1, at = rows->buffer->ndim - 1; d >= 0; d--, at--)
        for (int digit = rows->strides[d].count; digit > 0; digit--, at--)
            if (!fit_digit(&proof, access, &result->ranges[at - 1], rows->buffer->shape[at]))
                return false;
    return true;
}

/* Some index of ACCESS has a symbolic stride, by itself or as what it stands for. */
static bool has_stride(const Map *symbols, const Access *access)
{
    for (int d = 0; d < access->buffer->ndim; d++) {
        const Expr *index = access->region.ranges[d].min;
        const Frame *binding = binding_of(access->frame, index);
        if (expr_has_symbolic_stride(symbols, binding ? binding->value : index))
            return true;
    }
    return false;
}

/* All accesses of ACCESSES to DATA, or none. */
static void split_data(Context *ctx, const Map *symbols, const Map *sizes, AccessList *accesses, const Var *data)
{
    VEC(Access *) found = {0};
    VEC(Region) regions = {0};
    VEC(const Frame *) frames = {0};
    for (int i = 0; i < accesses->count; i++) {
        Access *access = &accesses->data[i];
        if (access->data != data)
            continue;
        vec_push(ctx->arena, &found, access);
        if (!access->whole) {
            vec_push(ctx->arena, &regions, ((Region){access->buffer, access->region.ranges, access->region.span}));
            vec_push(ctx->arena, &frames, access->frame);
        }
    }
    const AccessRows *rows = rows_of_regions(ctx, symbols, regions.data, frames.data, regions.count);
    Region *split = ARENA_ARRAY(ctx->arena, Region, found.count);
    for (int i = 0; rows && i < found.count; i++)
        if (found.data[i]->whole)
            split[i] = region_whole(ctx, rows->buffer);
        else if (!split_access(ctx, symbols, sizes, rows, found.data[i], &split[i]))
            rows = NULL;
    for (int i = 0; rows && i < found.count; i++) {
        found.data[i]->given = found.data[i]->region;
        found.data[i]->region = split[i];
        found.data[i]->buffer = rows->buffer;
        found.data[i]->rows = rows;
    }
}

void accesses_split_rows(Context *ctx, const Func *func, AccessList *accesses)
{
    Map symbols = func_symbols(ctx, func), done = {0}, sizes = {0};
    for (int i = 0; symbols.count && i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (access->whole || access->fence || map_has(&done, access->data) || !has_stride(&symbols, access))
            continue;
        if (!done.count)
            sizes = func_sizes(ctx, func);
        map_set(ctx->arena, &done, access->data, access->data);
        split_data(ctx, &symbols, &sizes, accesses, access->data);
    }
}

AccessList accesses_unsplit(Context *ctx, const AccessList *accesses)
{
    AccessList plain = {0};
    for (int i = 0; i < accesses->count; i++) {
        if (!accesses->data[i].rows)
            continue;
        if (!plain.count) {
            vec_reserve(ctx->arena, &plain, accesses->count);
            plain.count = accesses->count;
            memcpy(plain.data, accesses->data, sizeof *plain.data * (size_t)plain.count);
        }
        Access *access = &plain.data[i];
        access->buffer = access->rows->flat;
        access->region = access->given;
        access->rows = NULL;
    }
    return plain.count ? plain : *accesses;
}
