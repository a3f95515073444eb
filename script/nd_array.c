/* Arrays of scripts: see nd_array.h. */
#include "script/nd_array.h"

#include <math.h>
#include <string.h>

#include "script/te.h"

enum { MOST_BYTES = 1 << 30 };

const NdArray *nd_array(Value value)
{
    const Object *object = value_object(value, OBJECT_ARRAY);
    return object ? object->as.array : NULL;
}

Value nd_value(Script *script, const NdArray *array)
{
    return script_object(script, (Object){.kind = OBJECT_ARRAY, .as.array = array});
}

int64_t nd_count(const NdArray *array)
{
    int64_t count = 1;
    for (int i = 0; i < array->ndim; i++)
        count *= array->shape[i];
    return count;
}

static int element_bytes(DType dtype)
{
    return dtype.code == DT_BOOL ? 1 : dtype.bits / 8;
}

NdArray *nd_new(Script *script, DType dtype, int ndim, const int64_t *shape, Span span)
{
    NdArray *array = ARENA_NEW(script->ctx->arena, NdArray);
    int64_t count = 1;
    *array = (NdArray){.dtype = dtype, .ndim = ndim};
    for (int i = ndim - 1; i >= 0; i--) {
        array->shape[i] = shape[i];
        array->strides[i] = count;
        if (shape[i] < 0 || (shape[i] && count > MOST_BYTES / shape[i])) {
            script_error(script, span, "the array would have more than 1 GiB");
            return NULL;
        }
        count *= shape[i];
    }
    size_t bytes = (size_t)count * (size_t)element_bytes(dtype);
    array->data = arena_alloc(script->ctx->arena, bytes + 1);
    memset(array->data, 0, bytes);
    return array;
}

double nd_get(const NdArray *array, int64_t offset)
{
    const char *at = array->data + offset * element_bytes(array->dtype);
    bool is_signed = array->dtype.code == DT_INT;
    if (dtype_is_float(array->dtype))
        return array->dtype.bits == 64 ? *(const double *)at : (double)*(const float *)at;
    switch (element_bytes(array->dtype)) {
    case 1: return is_signed ? *(const int8_t *)at : *(const uint8_t *)at;
    case 2: return is_signed ? *(const int16_t *)at : *(const uint16_t *)at;
    case 4: return is_signed ? (double)*(const int32_t *)at : (double)*(const uint32_t *)at;
    default: return is_signed ? (double)*(const int64_t *)at : (double)*(const uint64_t *)at;
    }
}

void nd_set(const NdArray *array, int64_t offset, double value)
{
    char *at = array->data + offset * element_bytes(array->dtype);
    if (dtype_is_float(array->dtype)) {
        if (array->dtype.bits == 64)
            *(double *)at = value;
        else
            *(float *)at = (float)value;
        return;
    }
    bool fits = value > -9.2e18 && value < 9.2e18;
    int64_t whole = array->dtype.code == DT_BOOL ? value != 0 : fits ? (int64_t)value : 0;
    switch (element_bytes(array->dtype)) {
    case 1: *(int8_t *)at = (int8_t)whole; break;
    case 2: *(int16_t *)at = (int16_t)whole; break;
    case 4: *(int32_t *)at = (int32_t)whole; break;
    default: *(int64_t *)at = whole; break;
    }
}

/* The first and the last byte of ARRAY's elements, and one behind. */
static void extent(const NdArray *array, const char **first, const char **end)
{
    int64_t low = 0, high = 1;
    for (int d = 0; d < array->ndim; d++) {
        int64_t reach = array->strides[d] * (array->shape[d] - 1);
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    *first = array->data + low * element_bytes(array->dtype);
    *end = array->data + high * element_bytes(array->dtype);
}

bool nd_overlap(const NdArray *a, const NdArray *b)
{
    const char *first[2], *end[2];
    extent(a, &first[0], &end[0]);
    extent(b, &first[1], &end[1]);
    return first[0] < end[1] && first[1] < end[0];
}

bool nd_next(const NdArray *const *arrays, int count, int64_t *indices, int64_t *offsets)
{
    for (int d = arrays[0]->ndim - 1; d >= 0; d--) {
        if (++indices[d] < arrays[0]->shape[d]) {
            for (int i = 0; i < count; i++)
                offsets[i] += arrays[i]->strides[d];
            return true;
        }
        for (int i = 0; i < count; i++)
            offsets[i] -= arrays[i]->strides[d] * (arrays[0]->shape[d] - 1);
        indices[d] = 0;
    }
    return false;
}

NdArray *nd_copy(Script *script, const NdArray *array, DType dtype, Span span)
{
    NdArray *copy = nd_new(script, dtype, array->ndim, array->shape, span);
    const NdArray *both[] = {array, copy};
    int64_t indices[ND_MOST_DIMS] = {0}, offsets[2] = {0};
    if (copy && nd_count(copy))
        do
            nd_set(copy, offsets[1], nd_get(array, offsets[0]));
        while (nd_next(both, 2, indices, offsets));
    return copy;
}

const char *nd_describe(Script *script, const NdArray *array)
{
    const char *sizes = "";
    for (int i = 0; i < array->ndim; i++)
        sizes = context_internf(script->ctx, "%s%s%lld", sizes, i ? ", " : "", (long long)array->shape[i]);
    return context_internf(script->ctx, "%s[%s]", dtype_name(script->ctx, array->dtype), sizes);
}

const NdArray *nd_broadcast_to(Script *script, const NdArray *array, int ndim, const int64_t *shape, Span span)
{
    bool same = array->ndim == ndim;
    for (int d = 0; d < ndim && same; d++)
        same = array->shape[d] == shape[d];
    if (same)
        return array;
    NdArray *view = arena_copy(script->ctx->arena, array, sizeof *array);
    view->ndim = ndim;
    for (int d = ndim - 1; d >= 0; d--) {
        int own = d - (ndim - array->ndim);
        bool stretched = own < 0 || (array->shape[own] == 1 && shape[d] != 1);
        if (own >= 0 && !stretched && array->shape[own] != shape[d]) {
            script_error(script, span, "arrays of these shapes do not go together: dimension %d has %lld elements, and not %lld", d,
                         (long long)array->shape[own], (long long)shape[d]);
            return NULL;
        }
        view->strides[d] = stretched ? 0 : array->strides[own];
        view->shape[d] = shape[d];
    }
    if (array->ndim > ndim) {
        script_error(script, span, "an array of %d dimensions does not fit into one of %d", array->ndim, ndim);
        return NULL;
    }
    return view;
}

/* --- from values --- */

static bool is_number(Value value)
{
    return value.kind == VALUE_INT || value.kind == VALUE_FLOAT || value.kind == VALUE_BOOL;
}

static double number(Value value)
{
    return value.kind == VALUE_FLOAT ? value.as.real : value.kind == VALUE_BOOL ? value.as.boolean : (double)value.as.integer;
}

/* VALUE is made of lists of SHAPE from DEPTH on; *REAL: a float is among its numbers. */
static bool check_lists(Script *script, Value value, int depth, int ndim, const int64_t *shape, bool *real, Span span)
{
    if (depth == ndim && is_number(value)) {
        *real |= value.kind == VALUE_FLOAT;
        return true;
    }
    if (depth == ndim || value.kind != VALUE_LIST || value.as.list->count != shape[depth])
        return script_error(script, span, "an array is made of numbers, or of lists of one shape, and here is %s", script_type_phrase(script, value));
    for (int i = 0; i < value.as.list->count; i++)
        if (!check_lists(script, value.as.list->items[i], depth + 1, ndim, shape, real, span))
            return false;
    return true;
}

/* The shape of nested lists, by their first items. */
static bool measure(Script *script, Value value, int *ndim, int64_t *shape, bool *real, Span span)
{
    Value first = value;
    while (first.kind == VALUE_LIST && *ndim < ND_MOST_DIMS) {
        shape[(*ndim)++] = first.as.list->count;
        if (!first.as.list->count)
            break;
        first = first.as.list->items[0];
    }
    return check_lists(script, value, 0, *ndim, shape, real, span);
}

static void fill(const NdArray *array, Value value, int64_t *at)
{
    if (value.kind != VALUE_LIST) {
        nd_set(array, (*at)++, number(value));
        return;
    }
    for (int i = 0; i < value.as.list->count; i++)
        fill(array, value.as.list->items[i], at);
}

bool nd_from_value(Script *script, Value value, DType dtype, Span span, const NdArray **result)
{
    *result = nd_array(value);
    if (*result)
        return !dtype.bits || dtype_equal(dtype, (*result)->dtype) || (*result = nd_copy(script, *result, dtype, span)) != NULL;
    int ndim = 0;
    int64_t shape[ND_MOST_DIMS] = {0}, at = 0;
    bool real = false;
    if (!measure(script, value, &ndim, shape, &real, span))
        return false;
    DType natural = value.kind == VALUE_BOOL ? DTYPE_BOOL : DTYPE(real ? DT_FLOAT : DT_INT, 64);
    NdArray *array = nd_new(script, dtype.bits ? dtype : natural, ndim, shape, span);
    if (array)
        fill(array, value, &at);
    *result = array;
    return array != NULL;
}

bool nd_dtype(Script *script, const Value *value, DType otherwise, DType *result)
{
    *result = otherwise;
    if (!value || value->kind == VALUE_NONE)
        return true;
    const Object *object = value->kind == VALUE_SCRIPT ? value->as.script : NULL;
    const char *name = value->kind == VALUE_STRING ? value->as.text : NULL;
    if (object && object->kind == OBJECT_NAMESPACE && !strncmp(object->as.path, "numpy.", 6))
        name = object->as.path + 6;
    else if (object && (object->kind == OBJECT_TYPE || object->kind == OBJECT_BUILTIN))
        name = script_callable_name(object);
    if (name && !strcmp(name, "float"))
        name = "float64";
    if (name && !strcmp(name, "int"))
        name = "int64";
    bool good = name && dtype_parse(name, result) && result->lanes == 1 &&
                (dtype_is_integer(*result) || result->code == DT_BOOL || (result->code == DT_FLOAT && result->bits >= 32));
    return good || script_error(script, value->span, "arrays of scripts have elements of bool, integers, float32 or float64");
}

bool nd_shape(Script *script, Value value, Span span, int *count, int64_t *shape)
{
    ValueList one = {.items = &value, .count = 1};
    const ValueList *list = value.kind == VALUE_LIST ? value.as.list : &one;
    if (list->count > ND_MOST_DIMS)
        return script_error(script, span, "an array has at most %d dimensions", ND_MOST_DIMS);
    *count = list->count;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].kind != VALUE_INT)
            return script_error(script, span, "a shape is made of ints, not of %s", script_type_phrase(script, list->items[i]));
        shape[i] = list->items[i].as.integer;
    }
    return true;
}

/* --- operators --- */

/* NumPy's type of what two arrays, or an array and a number of Python, give. */
static DType common_type(Value left, Value right, const NdArray *a, const NdArray *b)
{
    bool number_left = is_number(left), number_right = is_number(right);
    if (number_left || number_right) {
        const NdArray *array = number_left ? b : a;
        Value number = number_left ? left : right;
        bool real = dtype_is_float(array->dtype);
        if (!real && (number.kind == VALUE_FLOAT || array->dtype.code == DT_BOOL))
            return DTYPE(number.kind == VALUE_FLOAT ? DT_FLOAT : DT_INT, 64);
        return array->dtype;
    }
    DType x = a->dtype, y = b->dtype;
    if (dtype_equal(x, y))
        return x;
    if (dtype_is_float(x) && dtype_is_float(y))
        return x.bits > y.bits ? x : y;
    if (dtype_is_float(x) || dtype_is_float(y)) {
        DType real = dtype_is_float(x) ? x : y, other = dtype_is_float(x) ? y : x;
        return real.bits > other.bits ? real : DTYPE(DT_FLOAT, 64);
    }
    if (x.code == DT_BOOL || y.code == DT_BOOL)
        return x.code == DT_BOOL ? y : x;
    return x.code == y.code ? (x.bits > y.bits ? x : y) : DTYPE(DT_INT, 64);
}

static bool apply(Script *script, double (*function)(double, double), Value left, Value right, bool real, bool truth, Span span, Value *result)
{
    const NdArray *a, *b;
    if (!nd_from_value(script, left, (DType){0}, span, &a) || !nd_from_value(script, right, (DType){0}, span, &b))
        return false;
    int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    int64_t shape[ND_MOST_DIMS];
    for (int d = 0; d < ndim; d++) {
        int64_t x = d < ndim - a->ndim ? 1 : a->shape[d - (ndim - a->ndim)], y = d < ndim - b->ndim ? 1 : b->shape[d - (ndim - b->ndim)];
        shape[d] = x == 1 ? y : x;
    }
    DType dtype = common_type(left, right, a, b);
    if (real && !dtype_is_float(dtype))
        dtype = DTYPE(DT_FLOAT, 64);
    NdArray *made = nd_new(script, truth ? DTYPE_BOOL : dtype, ndim, shape, span);
    const NdArray *all[3] = {made};
    if (!made || !(all[1] = nd_broadcast_to(script, a, ndim, shape, span)) || !(all[2] = nd_broadcast_to(script, b, ndim, shape, span)))
        return false;
    int64_t indices[ND_MOST_DIMS] = {0}, offsets[3] = {0};
    bool single = dtype_is_float(dtype) && dtype.bits == 32;
    if (nd_count(made))
        do {
            double x = nd_get(all[1], offsets[1]), y = nd_get(all[2], offsets[2]);
            nd_set(made, offsets[0], single ? function((float)x, (float)y) : function(x, y));
        } while (nd_next(all, 3, indices, offsets));
    *result = nd_value(script, made);
    return true;
}

bool nd_apply(Script *script, double (*function)(double, double), Value left, Value right, Span span, Value *result)
{
    return apply(script, function, left, right, false, false, span, result);
}

static double plus(double a, double b) { return a + b; }
static double minus(double a, double b) { return a - b; }
static double times(double a, double b) { return a * b; }
static double over(double a, double b) { return a / b; }
static double floor_over(double a, double b) { return floor(a / b); }
static double modulo(double a, double b) { return b == 0 ? NAN : a - floor(a / b) * b; }
static double equal(double a, double b) { return a == b; }
static double not_equal(double a, double b) { return a != b; }
static double less(double a, double b) { return a < b; }
static double less_equal(double a, double b) { return a <= b; }
static double greater(double a, double b) { return a > b; }
static double greater_equal(double a, double b) { return a >= b; }

typedef struct {
    AstOp op;
    double (*function)(double, double);
    bool real, truth; /* gives floats, or bools */
} Operator;

static const Operator *operator_of(AstOp op)
{
    static const Operator operators[] = {
        {AST_OP_ADD, plus, false, false},      {AST_OP_SUB, minus, false, false},          {AST_OP_MUL, times, false, false},   {AST_OP_DIV, over, true, false},
        {AST_OP_FLOORDIV, floor_over, false, false}, {AST_OP_MOD, modulo, false, false},   {AST_OP_POWER, pow, false, false},   {AST_OP_EQ, equal, false, true},
        {AST_OP_NE, not_equal, false, true},   {AST_OP_LT, less, false, true},             {AST_OP_LE, less_equal, false, true}, {AST_OP_GT, greater, false, true},
        {AST_OP_GE, greater_equal, false, true}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].op == op)
            return &operators[i];
    return NULL;
}

bool nd_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    const NdArray *a = nd_array(left), *b = nd_array(right);
    const Operator *known = operator_of(op);
    if (known)
        return apply(script, known->function, left, right, known->real, known->truth, span, result);
    if (op == AST_OP_MATMUL && a && b)
        return nd_matmul(script, a, b, span, result);
    return script_error(script, span, "'%s' does not take %s and %s", ast_op_text(op), script_type_phrase(script, left), script_type_phrase(script, right));
}

bool nd_update(Script *script, AstOp op, const NdArray *array, Value value, Span span)
{
    const NdArray *other;
    const Operator *known = operator_of(op);
    Value made;
    if (!nd_from_value(script, value, (DType){0}, span, &other))
        return false;
    bool floats = dtype_is_float(array->dtype), simple = known && !known->truth && (floats || !(known->real || dtype_is_float(other->dtype)));
    if (!simple && known && !known->truth)
        return script_error(script, span, "%s does not hold what '%s=' of %s gives", nd_describe(script, array), ast_op_text(op), nd_describe(script, other));
    if (!simple || nd_overlap(array, other))
        return nd_binary(script, op, nd_value(script, array), value, span, &made) && nd_assign(script, array, made, span);
    if (!(other = nd_broadcast_to(script, other, array->ndim, array->shape, span)))
        return false;
    const NdArray *both[] = {array, other};
    int64_t indices[ND_MOST_DIMS] = {0}, offsets[2] = {0};
    if (nd_count(array))
        do
            nd_set(array, offsets[0], known->function(nd_get(array, offsets[0]), nd_get(other, offsets[1])));
        while (nd_next(both, 2, indices, offsets));
    return true;
}

/* The sum of COUNT products of float32 in steps that the compiler can do side by side. */
static double dot_floats(const float *a, const float *b, int64_t count)
{
    float parts[16] = {0};
    double sum = 0;
    int64_t i = 0;
    for (int block = 0; i + 16 <= count; i += 16, block++) {
        for (int j = 0; j < 16; j++)
            parts[j] += a[i + j] * b[i + j];
        for (int j = 0; block % 8 == 7 && j < 16; j++)
            sum += (double)parts[j], parts[j] = 0;
    }
    for (int j = 0; j < 16; j++)
        sum += (double)parts[j];
    for (; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static double dot(const NdArray *a, int64_t at, int64_t step, const NdArray *b, int64_t to, int64_t stride, int64_t count)
{
    bool floats = dtype_is_float(a->dtype) && dtype_is_float(b->dtype) && a->dtype.bits == 32 && b->dtype.bits == 32;
    if (floats && step == 1 && stride == 1)
        return dot_floats((const float *)a->data + at, (const float *)b->data + to, count);
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += nd_get(a, at + k * step) * nd_get(b, to + k * stride);
    return sum;
}

/* The product of matrices; columns of the second one that lie apart are brought together first. */
bool nd_matmul(Script *script, const NdArray *a, const NdArray *b, Span span, Value *result)
{
    if (a->ndim != 2 || b->ndim != 2 || a->shape[1] != b->shape[0])
        return script_error(script, span, "'@' takes matrices that fit together, not %s and %s", nd_describe(script, a), nd_describe(script, b));
    int64_t shape[] = {a->shape[0], b->shape[1]}, turned_shape[] = {b->shape[1], b->shape[0]};
    NdArray turned = *b;
    for (int d = 0; d < 2; d++)
        turned.shape[d] = turned_shape[d], turned.strides[d] = b->strides[1 - d];
    const NdArray *columns = turned.strides[1] == 1 ? &turned : nd_copy(script, &turned, b->dtype, span);
    NdArray *made = columns ? nd_new(script, common_type(nd_value(script, a), nd_value(script, b), a, b), 2, shape, span) : NULL;
    for (int64_t i = 0; made && i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++)
            nd_set(made, i * shape[1] + j, dot(a, i * a->strides[0], a->strides[1], columns, j * columns->strides[0], columns->strides[1], a->shape[1]));
    if (made)
        *result = nd_value(script, made);
    return made != NULL;
}
