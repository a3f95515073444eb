/* Functions of numpy and of tvm.nd that notebooks use around programs: they make arrays, compute with them and compare them. */
#include <math.h>
#include <string.h>

#include "script/nd_array.h"
#include "script/te.h"

typedef bool NumpyFunction(Script *script, const Arguments *arguments, Value *result);

/* --- new arrays --- */

static bool give(Script *script, const NdArray *array, Value *result)
{
    if (array)
        *result = nd_value(script, array);
    return array != NULL;
}

static bool filled(Script *script, const char *name, const Arguments *arguments, double value, Value *result)
{
    const Value *values[3];
    int64_t shape[ND_MOST_DIMS];
    int ndim;
    DType dtype, natural = DTYPE(DT_FLOAT, !strncmp(name, "nd.", 3) ? 32 : 64);
    if (!te_bind(script, name, arguments, !strcmp(name, "nd.empty") ? "shape dtype? device?" : "shape dtype?", values) ||
        !nd_shape(script, *values[0], arguments->span, &ndim, shape) || !nd_dtype(script, values[1], natural, &dtype))
        return false;
    NdArray *array = nd_new(script, dtype, ndim, shape, arguments->span);
    for (int64_t i = 0; array && value != 0 && i < nd_count(array); i++)
        nd_set(array, i, value);
    return give(script, array, result);
}

static bool numpy_zeros(Script *script, const Arguments *arguments, Value *result)
{
    return filled(script, "zeros", arguments, 0, result);
}

static bool numpy_ones(Script *script, const Arguments *arguments, Value *result)
{
    return filled(script, "ones", arguments, 1, result);
}

static bool nd_empty(Script *script, const Arguments *arguments, Value *result)
{
    return filled(script, "nd.empty", arguments, 0, result);
}

static bool numpy_full(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    int64_t shape[ND_MOST_DIMS];
    int ndim;
    DType dtype;
    if (!te_bind(script, "full", arguments, "shape fill_value dtype?", values) || !nd_shape(script, *values[0], arguments->span, &ndim, shape) ||
        !nd_dtype(script, values[2], DTYPE(values[1]->kind == VALUE_FLOAT ? DT_FLOAT : DT_INT, 64), &dtype))
        return false;
    NdArray *array = nd_new(script, dtype, ndim, shape, arguments->span);
    return array && nd_assign(script, array, *values[1], arguments->span) && give(script, array, result);
}

static bool numpy_array(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    DType dtype;
    const NdArray *array;
    return te_bind(script, "array", arguments, "object dtype?", values) && nd_dtype(script, values[1], (DType){0}, &dtype) &&
           nd_from_value(script, *values[0], dtype, arguments->span, &array) &&
           give(script, nd_copy(script, array, array->dtype, arguments->span), result);
}

static bool nd_array_of(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    const NdArray *array;
    return te_bind(script, "array", arguments, "arr device?", values) && nd_from_value(script, *values[0], (DType){0}, arguments->span, &array) &&
           give(script, nd_copy(script, array, array->dtype, arguments->span), result);
}

static bool numpy_arange(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[4], *type;
    if (!te_bind(script, "arange", arguments, "start stop? step? dtype?", values))
        return false;
    bool real = false;
    double bounds[3] = {0, 0, 1};
    for (int i = 0; i < 3; i++) {
        const Value *value = values[i];
        if (!value || value->kind == VALUE_NONE)
            continue;
        if (value->kind != VALUE_INT && value->kind != VALUE_FLOAT)
            return script_error(script, value->span, "arange takes numbers, not %s", script_type_phrase(script, *value));
        real |= value->kind == VALUE_FLOAT;
        bounds[i] = value->kind == VALUE_FLOAT ? value->as.real : (double)value->as.integer;
    }
    type = values[3];
    if (!values[1] || values[1]->kind == VALUE_NONE)
        bounds[1] = bounds[0], bounds[0] = 0;
    double count = bounds[2] == 0 ? -1 : ceil((bounds[1] - bounds[0]) / bounds[2]);
    DType dtype;
    if (bounds[2] == 0 || !(count < 1e9))
        return script_error(script, arguments->span, "arange does not end");
    int64_t shape = count > 0 ? (int64_t)count : 0;
    if (!nd_dtype(script, type, DTYPE(real ? DT_FLOAT : DT_INT, 64), &dtype))
        return false;
    NdArray *array = nd_new(script, dtype, 1, &shape, arguments->span);
    for (int64_t i = 0; array && i < shape; i++)
        nd_set(array, i, bounds[0] + (double)i * bounds[2]);
    return give(script, array, result);
}

/* --- random numbers: of a sequence of tirc's own, the same in every run --- */

static double uniform(Script *script)
{
    script->random = script->random * 6364136223846793005u + 1442695040888963407u;
    uint64_t mixed = (script->random ^ script->random >> 29) * 0xBF58476D1CE4E5B9u;
    return (double)((mixed ^ mixed >> 32) >> 11) * 0x1p-53;
}

static NdArray *random_array(Script *script, Value shape, DType dtype, bool normal, double low, double high, Span span)
{
    int64_t sizes[ND_MOST_DIMS];
    int ndim;
    NdArray *array = nd_shape(script, shape, span, &ndim, sizes) ? nd_new(script, dtype, ndim, sizes, span) : NULL;
    for (int64_t i = 0; array && i < nd_count(array); i++) {
        double value = uniform(script);
        if (normal)
            value = sqrt(-2 * log(1 - value)) * cos(2 * 3.14159265358979323846 * uniform(script));
        else
            value = low + value * (high - low);
        nd_set(array, i, dtype_is_float(dtype) ? value : floor(value));
    }
    return array;
}

static bool sizes_of_call(Script *script, const char *name, const Arguments *arguments, bool normal, Value *result)
{
    if (arguments->keyword_count)
        return script_error(script, arguments->span, "%s takes sizes", name);
    Value shape = script_list(script, arguments->positional, arguments->positional_count, true);
    return give(script, random_array(script, shape, DTYPE(DT_FLOAT, 64), normal, 0, 1, arguments->span), result);
}

static bool random_rand(Script *script, const Arguments *arguments, Value *result)
{
    return sizes_of_call(script, "rand", arguments, false, result);
}

static bool random_randn(Script *script, const Arguments *arguments, Value *result)
{
    return sizes_of_call(script, "randn", arguments, true, result);
}

static bool bound(Script *script, const Value *value, double otherwise, double *result)
{
    *result = otherwise;
    if (!value || value->kind == VALUE_NONE)
        return true;
    *result = value->kind == VALUE_FLOAT ? value->as.real : (double)value->as.integer;
    return value->kind == VALUE_FLOAT || value->kind == VALUE_INT || script_error(script, value->span, "a number is needed here, not %s", script_type_phrase(script, *value));
}

static bool random_uniform(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    double low, high;
    Value none = script_list(script, NULL, 0, true);
    return te_bind(script, "uniform", arguments, "low? high? size?", values) && bound(script, values[0], 0, &low) && bound(script, values[1], 1, &high) &&
           give(script, random_array(script, values[2] ? *values[2] : none, DTYPE(DT_FLOAT, 64), false, low, high, arguments->span), result);
}

static bool random_randint(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[4];
    double low, high;
    DType dtype;
    Value none = script_list(script, NULL, 0, true);
    if (!te_bind(script, "randint", arguments, "low high? size? dtype?", values) || !bound(script, values[0], 0, &low) ||
        !bound(script, values[1], low, &high) || !nd_dtype(script, values[3], DTYPE(DT_INT, 64), &dtype))
        return false;
    if (!values[1] || values[1]->kind == VALUE_NONE)
        low = 0;
    return give(script, random_array(script, values[2] ? *values[2] : none, dtype, false, low, high, arguments->span), result);
}

static bool random_seed(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    double seed;
    *result = value_none();
    if (!te_bind(script, "seed", arguments, "seed?", values) || !bound(script, values[0], 0, &seed))
        return false;
    script->random = (uint64_t)(int64_t)seed;
    return true;
}

/* --- elements --- */

static double greatest(double a, double b) { return isnan(a) || a > b ? a : b; }
static double least(double a, double b) { return isnan(a) || a < b ? a : b; }
static double of_exp(double a, double b) { return (void)b, exp(a); }
static double of_log(double a, double b) { return (void)b, log(a); }
static double of_sqrt(double a, double b) { return (void)b, sqrt(a); }
static double of_tanh(double a, double b) { return (void)b, tanh(a); }
static double of_abs(double a, double b) { return (void)b, fabs(a); }

static const struct {
    const char *name;
    double (*function)(double, double);
    bool two;
} elementwise[] = {{"maximum", greatest, true}, {"minimum", least, true}, {"exp", of_exp, false}, {"log", of_log, false}, {"sqrt", of_sqrt, false}, {"tanh", of_tanh, false}, {"abs", of_abs, false}};
enum { ELEMENTWISE_COUNT = sizeof elementwise / sizeof *elementwise };

static bool call_elementwise(Script *script, int index, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    bool two = elementwise[index].two;
    Value zero = {.kind = VALUE_INT};
    return te_bind(script, elementwise[index].name, arguments, two ? "x1 x2" : "x", values) &&
           nd_apply(script, elementwise[index].function, *values[0], two ? *values[1] : zero, arguments->span, result);
}

static bool numpy_matmul(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    return te_bind(script, "matmul", arguments, "a b", values) && nd_binary(script, AST_OP_MATMUL, *values[0], *values[1], arguments->span, result);
}

/* --- comparison --- */

/* The first element of the two arrays, of one shape, that differs by more than the bound; DIFFERENT counts them. */
static bool compare(Script *script, const Value *actual, const Value *desired, double rtol, double atol, Span span, int64_t *different, const char **first)
{
    const NdArray *a, *b;
    if (!nd_from_value(script, *actual, (DType){0}, span, &a) || !nd_from_value(script, *desired, (DType){0}, span, &b))
        return false;
    bool wider = a->ndim >= b->ndim;
    const NdArray *all[] = {wider ? a : nd_broadcast_to(script, a, b->ndim, b->shape, span), wider ? nd_broadcast_to(script, b, a->ndim, a->shape, span) : b};
    int64_t indices[ND_MOST_DIMS] = {0}, offsets[2] = {0};
    *different = 0;
    if (!all[0] || !all[1])
        return false;
    if (nd_count(all[0]))
        do {
            double x = nd_get(all[0], offsets[0]), y = nd_get(all[1], offsets[1]);
            if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= atol + rtol * fabs(y))
                continue;
            if (!(*different)++)
                *first = context_internf(script->ctx, "%.9g and %.9g", x, y);
        } while (nd_next(all, 2, indices, offsets));
    return true;
}

static bool tolerances(Script *script, const Value *const *values, double rtol, double atol, double *found)
{
    return bound(script, values[2], rtol, &found[0]) && bound(script, values[3], atol, &found[1]);
}

static bool assert_close(Script *script, const char *name, const Value *const *values, const double *tolerance, const Arguments *arguments, Value *result)
{
    int64_t different;
    const char *first = NULL;
    *result = value_none();
    if (!compare(script, values[0], values[1], tolerance[0], tolerance[1], arguments->span, &different, &first))
        return false;
    return !different || script_error(script, arguments->span, "%s: %lld element%s; the first pair is %s", name, (long long)different, different == 1 ? " differs" : "s differ", first);
}

static bool assert_allclose(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[7];
    double tolerance[2];
    return te_bind(script, "assert_allclose", arguments, "actual desired rtol? atol? equal_nan? err_msg? verbose?", values) &&
           tolerances(script, values, 1e-7, 0, tolerance) && assert_close(script, "assert_allclose", values, tolerance, arguments, result);
}

static bool assert_equal(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    double tolerance[2] = {0, 0};
    return te_bind(script, "assert_equal", arguments, "actual desired err_msg?", values) && assert_close(script, "assert_equal", values, tolerance, arguments, result);
}

static bool numpy_allclose(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[5];
    double tolerance[2];
    int64_t different;
    const char *first = NULL;
    if (!te_bind(script, "allclose", arguments, "a b rtol? atol? equal_nan?", values) || !tolerances(script, values, 1e-5, 1e-8, tolerance) ||
        !compare(script, values[0], values[1], tolerance[0], tolerance[1], arguments->span, &different, &first))
        return false;
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = !different};
    return true;
}

static bool numpy_transpose(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    bool found;
    if (!te_bind(script, "transpose", arguments, "a", values))
        return false;
    const Object *array = value_object(*values[0], OBJECT_ARRAY);
    return array ? nd_attribute(script, array, context_intern(script->ctx, "T"), result, &found)
                 : script_error(script, arguments->span, "transpose takes an array, not %s", script_type_phrase(script, *values[0]));
}

/* Where the computation runs is no question here. */
static bool device(Script *script, const Arguments *arguments, Value *result)
{
    (void)script, (void)arguments;
    *result = value_none();
    return true;
}

/* --- the table --- */

static const struct {
    const char *path;
    NumpyFunction *run;
} functions[] = {
    {"numpy.zeros", numpy_zeros}, {"numpy.ones", numpy_ones}, {"numpy.empty", numpy_zeros}, {"numpy.full", numpy_full}, {"numpy.array", numpy_array},
    {"numpy.asarray", numpy_array}, {"numpy.arange", numpy_arange}, {"numpy.random.rand", random_rand}, {"numpy.random.randn", random_randn},
    {"numpy.random.uniform", random_uniform}, {"numpy.random.randint", random_randint}, {"numpy.random.seed", random_seed}, {"numpy.matmul", numpy_matmul},
    {"numpy.dot", numpy_matmul}, {"numpy.transpose", numpy_transpose}, {"numpy.allclose", numpy_allclose}, {"numpy.testing.assert_allclose", assert_allclose},
    {"tvm.testing.assert_allclose", assert_allclose}, {"numpy.testing.assert_equal", assert_equal}, {"numpy.testing.assert_array_equal", assert_equal}, {"tvm.nd.array", nd_array_of},
    {"tvm.nd.empty", nd_empty}, {"tvm.runtime.tensor", nd_array_of}, {"tvm.runtime.empty", nd_empty}, {"tvm.cpu", device},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };
static const char *const types[] = {"numpy.ndarray", "numpy.float32", "numpy.float64", "numpy.int8", "numpy.int16", "numpy.int32", "numpy.int64", "numpy.uint8", "numpy.bool", "tvm.nd.NDArray", "tvm.build"};

static bool leads_to(const char *path, const char *name)
{
    size_t length = strlen(path);
    return !strncmp(name, path, length) && (name[length] == '.' || !name[length]);
}

bool numpy_knows(const char *path)
{
    bool known = false;
    for (int i = 0; i < FUNCTION_COUNT; i++)
        known |= leads_to(path, functions[i].path);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        known |= leads_to(path, types[i]);
    for (int i = 0; i < ELEMENTWISE_COUNT && !strncmp(path, "numpy.", 6); i++)
        known |= !strcmp(path + 6, elementwise[i].name);
    return known;
}

bool numpy_call(Script *script, Str path, const Arguments *arguments, Value *result)
{
    if (!strcmp(path, "tvm.build"))
        return script_build(script, "tvm.build", arguments, result);
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (!strcmp(functions[i].path, path))
            return functions[i].run(script, arguments, result);
    for (int i = 0; i < ELEMENTWISE_COUNT; i++)
        if (!strcmp(elementwise[i].name, path + 6))
            return call_elementwise(script, i, arguments, result);
    return script_error(script, arguments->span, "'%s' cannot be called", path);
}
