/* Comparing and printing results; see argdata.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "interp/argdata_internal.h"
#include "ir/walk.h"
#include "support/strbuf.h"

/* --- Comparison --- */
/* Half a unit in the last place, relative to the value. */
static double epsilon(DType t)
{
    return ldexp(1, -dtype_digits(t));
}

/* A sum of L terms of size 1 that is taken in another order moves by about eps * sqrt(L) * sqrt(L); the rest is for the operations around
   it. */
double argdata_bound(DType dtype, int64_t length)
{
    return dtype_is_float(dtype) ? 4 * epsilon(dtype) * ((double)length + 4) : 0;
}

static bool values_agree(double expected, double actual, double bound)
{
    if (isnan(expected) || isnan(actual))
        return isnan(expected) && isnan(actual);
    if (isinf(expected) || isinf(actual))
        return expected == actual;
    return fabs(expected - actual) <= bound;
}

static const char *element_text(const ArgData *data, const ArgItem *item, const int64_t *at)
{
    StrBuf text = {.arena = data->ctx->arena};
    strbuf_printf(&text, "%s[", item->param->buffer->name);
    for (int i = 0; i < item->arg.ndim; i++)
        strbuf_printf(&text, "%s%" PRId64, i ? ", " : "", at[i]);
    strbuf_add(&text, item->arg.ndim ? "]" : "()]");
    return strbuf_text(&text);
}

typedef struct {
    const ArgData *data;
    const ArgItem *expected, *actual;
    double bound; /* relative */
    bool exact;   /* zeros of different sign differ */
    ArgMismatch *mismatch;
} Comparison;

static void note_mismatch(const Comparison *comparison, const int64_t *at, double expected, double actual, double bound)
{
    ArgMismatch *mismatch = comparison->mismatch;
    if (mismatch->count++)
        return;
    mismatch->param = comparison->expected->param;
    mismatch->element = element_text(comparison->data, comparison->expected, at);
    mismatch->expected = expected;
    mismatch->actual = actual;
    mismatch->bound = bound;
}

/* Integers are compared as such, since not all of them are doubles. */
static void compare_lane(const Comparison *comparison, const int64_t *at, const char *expected, const char *actual)
{
    DType t = dtype_scalar(comparison->expected->param->buffer->dtype);
    if (!dtype_is_float(t)) {
        int64_t a = interp_read_integer(t, expected), b = interp_read_integer(t, actual);
        if (a != b)
            note_mismatch(comparison, at, (double)a, (double)b, 0);
        return;
    }
    double a = interp_read_real(t, expected), b = interp_read_real(t, actual);
    double bound = comparison->bound * fmax(1, fmax(fabs(a), fabs(b)));
    bool sign_differs = comparison->exact && !isnan(a) && signbit(a) != signbit(b);
    if (sign_differs || !values_agree(a, b, bound))
        note_mismatch(comparison, at, a, b, bound);
}

static void compare_item(const Comparison *comparison)
{
    const Buffer *buffer = comparison->expected->param->buffer;
    int64_t at[buffer->ndim + 1];
    memset(at, 0, sizeof at);
    int bytes = dtype_bytes(dtype_scalar(buffer->dtype));
    if (argdata_element_count(comparison->expected) == 0)
        return;
    do {
        for (int lane = 0; lane < buffer->dtype.lanes; lane++)
            compare_lane(comparison, at, argdata_element(comparison->expected, at) + lane * bytes,
                         argdata_element(comparison->actual, at) + lane * bytes);
    } while (argdata_next(comparison->expected->shape, buffer->ndim, at));
}

/* The least exact float type so far, or one that the function stores on the way, to which results may be rounded in between. */
static bool find_coarser_store(Visitor *visitor, const Stmt *stmt)
{
    DType *coarsest = visitor->data;
    DType stored = stmt->kind == STMT_STORE ? dtype_scalar(stmt->as.store.buffer->dtype) : *coarsest;
    if (dtype_is_float(stored) && epsilon(stored) > epsilon(*coarsest))
        *coarsest = stored;
    return true;
}

static double bound_for(const ArgItem *item, const Func *func, int64_t length)
{
    DType coarsest = dtype_scalar(item->param->buffer->dtype);
    Visitor visitor = {.stmt = find_coarser_store, .data = &coarsest};
    if (dtype_is_float(coarsest))
        visit_stmt(&visitor, func->body);
    return argdata_bound(coarsest, length);
}

bool argdata_compare(const ArgData *expected, const ArgData *actual, int64_t length, ArgMismatch *mismatch)
{
    *mismatch = (ArgMismatch){0};
    for (int i = 0; i < expected->func->param_count; i++) {
        const ArgItem *item = &expected->items[i];
        if (!item->output)
            continue;
        bool exact = length == ARGDATA_EXACT;
        double bound = exact ? 0 : bound_for(item, expected->func, length);
        Comparison comparison = {expected, item, &actual->items[i], bound, exact, mismatch};
        compare_item(&comparison);
    }
    return mismatch->count == 0;
}

/* --- Printing --- */
enum { ELEMENTS_SHOWN = 6 };

static void print_value(FILE *out, DType t, const void *at)
{
    if (t.code == DT_BOOL)
        fputs(interp_read_integer(t, at) ? "True" : "False", out);
    else if (dtype_is_float(t))
        fprintf(out, "%.*g", t.bits == 64 ? 17 : t.bits == 32 ? 9 : 5, interp_read_real(t, at));
    else if (t.code == DT_UINT)
        fprintf(out, "%" PRIu64, (uint64_t)interp_read_integer(t, at));
    else
        fprintf(out, "%" PRId64, interp_read_integer(t, at));
}

/* The first elements, all lanes of each, and a hash of all. */
static void print_elements(const ArgItem *item, FILE *out)
{
    DType t = item->param->buffer->dtype, lane_type = dtype_scalar(t);
    int bytes = dtype_bytes(lane_type);
    int64_t count = argdata_element_count(item), at[item->arg.ndim + 1], shown = 0;
    uint64_t hash = 0;
    memset(at, 0, sizeof at);
    for (int64_t i = 0; i < count; i++) {
        const char *element = argdata_element(item, at);
        hash = hash_mix(hash, hash_bytes(element, (size_t)(bytes * t.lanes)));
        for (int lane = 0; lane < t.lanes && shown < ELEMENTS_SHOWN; lane++, shown++) {
            fputs(shown ? " " : "", out);
            print_value(out, lane_type, element + lane * bytes);
        }
        argdata_next(item->shape, item->arg.ndim, at);
    }
    fprintf(out, "%s (hash %016" PRIx64 ")\n", count * t.lanes > shown ? " ..." : "", hash);
}

static void print_item(const ArgData *data, const ArgItem *item, FILE *out)
{
    if (!item->param->buffer) {
        uint8_t bytes[8];
        DType t = item->arg.scalar.dtype;
        if (dtype_is_float(t))
            interp_write_real(t, bytes, item->arg.scalar.as.real);
        else
            interp_write_integer(t, bytes, item->arg.scalar.as.integer);
        fprintf(out, "%s: %s = ", item->param->param->name, dtype_name(data->ctx, t));
        print_value(out, t, bytes);
        fputc('\n', out);
        return;
    }
    fprintf(out, "%s: %s[", item->param->buffer->name, dtype_name(data->ctx, item->param->buffer->dtype));
    for (int i = 0; i < item->arg.ndim; i++)
        fprintf(out, "%s%" PRId64, i ? ", " : "", item->shape[i]);
    fputs("] = ", out);
    print_elements(item, out);
}

void argdata_print(const ArgData *data, FILE *out)
{
    for (int i = 0; i < data->signature->dim_count; i++)
        fprintf(out, "%s = %" PRId64 "\n", data->signature->dims[i]->name, data->dims[i]);
    for (int i = 0; i < data->func->param_count; i++)
        print_item(data, &data->items[i], out);
}
