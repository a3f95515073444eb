/* Arrays as NumPy 2 prints them by its default options: at most 8 digits behind the point, the fewest that tell a value from its neighbours,
   columns of one width, lines of 75 columns, and beyond 1000 elements the first and last three of each dimension. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/interp.h"
#include "interp/npy.h"
#include "support/vec.h"

enum { PRECISION = 8, LINE_WIDTH = 75, THRESHOLD = 1000, EDGE_ITEMS = 3, MOST_DIGITS = 17, WORD_BYTES = 400 };

typedef struct {
    Arena *arena;
    const NpyArray *array;
    bool summary;
    /* how elements are written */
    bool scientific;
    int left, right;         /* columns before and behind the point; those of integers are all LEFT */
    int exponent_digits;
    StrBuf out;
    size_t line_begin;       /* of the last line in OUT */
} Printer;

/* --- One element --- */
static const char *element_at(const NpyArray *array, int64_t index)
{
    return array->data + index * dtype_bytes(array->dtype);
}

/* The digits behind the first one that VALUE needs to be told from other values of its type. */
static int digits_needed(DType type, double value)
{
    char text[64];
    for (int digits = 0; digits < MOST_DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, value);
        double read = type.bits == 32 ? (double)strtof(text, NULL) : dtype_round_float(type, strtod(text, NULL));
        if (read == value)
            return digits;
    }
    return MOST_DIGITS;
}

static int decimal_exponent(double value, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits, value);
    return atoi(strchr(text, 'e') + 1);
}

/* Cuts the zeros at the end of the digits behind the point; the point stays. */
static void trim_zeros(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '0')
        text[--length] = 0;
}

/* VALUE as 12.5 or "3.", with at most LIMIT digits behind the point. */
static void positional(DType type, double value, int limit, char text[WORD_BYTES])
{
    int digits = digits_needed(type, value), behind = digits - decimal_exponent(value, digits);
    behind = behind > limit ? limit : behind;
    if (behind > 0) {
        snprintf(text, WORD_BYTES, "%.*f", behind, value);
        trim_zeros(text);
        return;
    }
    /* A large number: its digits, then zeros, and not what its binary value continues with. */
    char shortest[64];
    snprintf(shortest, sizeof shortest, "%.*e", digits, value);
    char *end = text;
    for (const char *at = shortest; *at != 'e'; at++)
        if (*at != '.')
            *end++ = *at;
    memset(end, '0', (size_t)-behind);
    strcpy(end - behind, ".");
}

/* VALUE as 1.25e+03, with DIGITS digits behind the point and at least EXPONENT_DIGITS in the exponent. */
static void scientific(double value, int digits, int exponent_digits, char text[WORD_BYTES])
{
    snprintf(text, WORD_BYTES, "%.*e", digits, value);
    char *exponent = strchr(text, 'e');
    int number = atoi(exponent + 1);
    snprintf(exponent, 32, "%se%c%0*d", digits ? "" : ".", number < 0 ? '-' : '+', exponent_digits, abs(number));
}

static const char *not_finite(double value)
{
    return isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
}

static const char *integer_text(const NpyArray *array, int64_t index, char text[WORD_BYTES])
{
    int64_t value = interp_read_integer(array->dtype, element_at(array, index));
    if (array->dtype.code == DT_BOOL)
        return value ? "True" : "False";
    snprintf(text, WORD_BYTES, array->dtype.code == DT_UINT ? "%" PRIu64 : "%" PRId64, value);
    return text;
}

/* The element as the printer's columns want it. */
static void element_word(const Printer *printer, int64_t index, char word[WORD_BYTES])
{
    const NpyArray *array = printer->array;
    char text[WORD_BYTES];
    if (!dtype_is_float(array->dtype)) {
        snprintf(word, WORD_BYTES, "%*s", printer->left, integer_text(array, index, text));
        return;
    }
    double value = interp_read_real(array->dtype, element_at(array, index));
    if (!isfinite(value)) {
        snprintf(word, WORD_BYTES, "%*s", printer->left + printer->right + 1, not_finite(value));
        return;
    }
    if (printer->scientific)
        scientific(value, printer->right - printer->exponent_digits - 2, printer->exponent_digits, text);
    else
        positional(array->dtype, value, PRECISION, text);
    int length = (int)strlen(text), before = (int)(strchr(text, '.') - text);
    int margin = printer->left - before, rest = printer->right + 1 - (length - before);
    memset(word, ' ', WORD_BYTES);
    memcpy(word + margin, text, (size_t)length);
    word[margin + length + rest] = 0;
}

/* --- The elements that are shown --- */
static bool is_summarized(const Printer *printer, int dim)
{
    return printer->summary && printer->array->shape[dim] > 2 * EDGE_ITEMS;
}

/* Calls VISIT for each element of dimensions from DIM on that is shown, BASE being the index so far. */
static void visit_shown(Printer *printer, int dim, int64_t base, void (*visit)(Printer *printer, double value, const char *text))
{
    const NpyArray *array = printer->array;
    if (dim == array->ndim) {
        char text[WORD_BYTES];
        bool real = dtype_is_float(array->dtype);
        visit(printer, real ? interp_read_real(array->dtype, element_at(array, base)) : 0, real ? NULL : integer_text(array, base, text));
        return;
    }
    for (int64_t i = 0; i < array->shape[dim]; i++) {
        if (is_summarized(printer, dim) && i == EDGE_ITEMS)
            i = array->shape[dim] - EDGE_ITEMS;
        visit_shown(printer, dim + 1, base * array->shape[dim] + i, visit);
    }
}

/* --- How wide the columns are --- */
typedef struct {
    Printer printer; /* first, so that a visit finds the rest */
    double largest, smallest; /* magnitudes of those that are neither 0 nor infinite */
    bool some_finite, some_not_finite, negative_infinity;
    int digits; /* behind the point */
} Measure;

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void measure_integer(Printer *printer, double value, const char *text)
{
    (void)value;
    printer->left = larger(printer->left, (int)strlen(text));
}

static void measure_range(Printer *printer, double value, const char *text)
{
    Measure *measure = (Measure *)printer;
    (void)text;
    measure->some_finite |= isfinite(value);
    measure->some_not_finite |= !isfinite(value);
    measure->negative_infinity |= isinf(value) && value < 0;
    if (!isfinite(value) || value == 0)
        return;
    measure->largest = fmax(measure->largest, fabs(value));
    measure->smallest = measure->smallest > 0 ? fmin(measure->smallest, fabs(value)) : fabs(value);
}

static void measure_positional(Printer *printer, double value, const char *text)
{
    char word[WORD_BYTES];
    (void)text;
    if (!isfinite(value))
        return;
    positional(printer->array->dtype, value, PRECISION, word);
    int before = (int)(strchr(word, '.') - word);
    printer->left = larger(printer->left, before);
    printer->right = larger(printer->right, (int)strlen(word) - before - 1);
}

static void measure_scientific(Printer *printer, double value, const char *text)
{
    Measure *measure = (Measure *)printer;
    (void)text;
    if (!isfinite(value))
        return;
    int digits = digits_needed(printer->array->dtype, value);
    char word[WORD_BYTES];
    snprintf(word, sizeof word, "%.*e", digits > PRECISION ? PRECISION : digits, value);
    char *exponent = strchr(word, 'e');
    printer->exponent_digits = larger(printer->exponent_digits, (int)strlen(exponent) - 2);
    *exponent = 0;
    trim_zeros(word);
    const char *point = strchr(word, '.');
    measure->digits = larger(measure->digits, point ? (int)strlen(point + 1) : 0);
    printer->left = larger(printer->left, 1 + (signbit(value) != 0));
}

/* From here on numbers are written with exponents: beyond the decimal digits of their type, or LIMIT. */
static double first_large(DType type, double limit)
{
    return type.bits == 16 ? 1e3 : type.bits == 32 ? 1e6 : limit;
}

/* Numbers of very different or extreme sizes are written with exponents. The limits are rounded to the elements' type, as NumPy's are. */
static bool needs_exponents(const Measure *measure, DType type)
{
    if (!(measure->largest > 0))
        return false;
    return measure->largest >= first_large(type, 1e8) || measure->smallest < dtype_round_float(type, 1e-4) ||
           dtype_round_float(type, measure->largest / measure->smallest) > 1000;
}

static void measure_columns(Printer *printer)
{
    if (!dtype_is_float(printer->array->dtype)) {
        printer->left = printer->array->dtype.code == DT_BOOL ? (int)strlen("False") : 0;
        visit_shown(printer, 0, 0, measure_integer);
        return;
    }
    Measure measure = {.printer = *printer};
    visit_shown(&measure.printer, 0, 0, measure_range);
    measure.printer.scientific = needs_exponents(&measure, printer->array->dtype);
    visit_shown(&measure.printer, 0, 0, measure.printer.scientific ? measure_scientific : measure_positional);
    if (measure.printer.scientific)
        measure.printer.right = measure.digits + 2 + measure.printer.exponent_digits;
    if (measure.some_not_finite) {
        int behind = measure.some_finite ? measure.printer.right + 1 : 1;
        measure.printer.left = larger(measure.printer.left, 3 + measure.negative_infinity - behind);
    }
    *printer = measure.printer;
}

/* --- Rows --- */
/* Adds WORD to the line, or to a new one that is indented by INDENT where it would become longer than WIDTH. */
static void add_word(Printer *printer, const char *word, int width, int indent)
{
    StrBuf *out = &printer->out;
    size_t length = out->length - printer->line_begin;
    if (length + strlen(word) > (size_t)width && length > (size_t)indent) {
        while (out->length && out->text[out->length - 1] == ' ')
            out->length--;
        strbuf_add(out, "\n");
        printer->line_begin = out->length;
        strbuf_printf(out, "%*s", indent, "");
    }
    strbuf_add(out, word);
}

static void add_row(Printer *printer, int64_t base, int width)
{
    const NpyArray *array = printer->array;
    int dim = array->ndim - 1;
    char word[WORD_BYTES];
    for (int64_t i = 0; i < array->shape[dim]; i++) {
        if (i)
            strbuf_add(&printer->out, " ");
        if (is_summarized(printer, dim) && i == EDGE_ITEMS) {
            add_word(printer, "...", width, array->ndim);
            strbuf_add(&printer->out, " ");
            i = array->shape[dim] - EDGE_ITEMS;
        }
        element_word(printer, base * array->shape[dim] + i, word);
        add_word(printer, word, width, array->ndim);
    }
}

static void new_lines(Printer *printer, int dim)
{
    for (int i = dim + 1; i < printer->array->ndim; i++)
        strbuf_add(&printer->out, "\n");
    printer->line_begin = printer->out.length;
    strbuf_printf(&printer->out, "%*s", dim + 1, "");
}

static void add_dimension(Printer *printer, int dim, int64_t base)
{
    const NpyArray *array = printer->array;
    strbuf_add(&printer->out, "[");
    if (dim == array->ndim - 1)
        add_row(printer, base, LINE_WIDTH - dim - 1);
    for (int64_t i = 0; dim < array->ndim - 1 && i < array->shape[dim]; i++) {
        if (i)
            new_lines(printer, dim);
        if (is_summarized(printer, dim) && i == EDGE_ITEMS) {
            strbuf_add(&printer->out, "...");
            new_lines(printer, dim);
            i = array->shape[dim] - EDGE_ITEMS;
        }
        add_dimension(printer, dim + 1, base * array->shape[dim] + i);
    }
    strbuf_add(&printer->out, "]");
}

/* --- The whole --- */
/* An array without dimensions prints as its element does. */
static const char *scalar_text(Arena *arena, const NpyArray *array)
{
    char text[WORD_BYTES];
    if (!dtype_is_float(array->dtype))
        return arena_printf(arena, "%s", integer_text(array, 0, text));
    double value = interp_read_real(array->dtype, array->data), size = fabs(value);
    if (!isfinite(value))
        return not_finite(value);
    if (size >= first_large(array->dtype, 1e16) || (size > 0 && size < 1e-4)) {
        int digits = digits_needed(array->dtype, value);
        snprintf(text, sizeof text, "%.*e", digits, value);
        return arena_printf(arena, "%s", text);
    }
    positional(array->dtype, value, WORD_BYTES, text);
    return arena_printf(arena, "%s%s", text, text[strlen(text) - 1] == '.' ? "0" : "");
}

const char *npy_text(Arena *arena, const NpyArray *array)
{
    if (!array->ndim)
        return scalar_text(arena, array);
    int64_t count = npy_count(array);
    if (!count)
        return "[]";
    Printer printer = {.arena = arena, .array = array, .summary = count > THRESHOLD, .out = {.arena = arena}};
    measure_columns(&printer);
    add_dimension(&printer, 0, 0);
    return strbuf_text(&printer.out);
}
