/* Arrays of numbers as values of scripts, with what NumPy means by them: shapes and strides over memory that views share. */
#ifndef TIRC_SCRIPT_ND_ARRAY_H
#define TIRC_SCRIPT_ND_ARRAY_H

#include "script/script_internal.h"

enum { ND_MOST_DIMS = 8 };

/* Elements of DTYPE (bool, an integer, float32 or float64) in the host's byte order. */
typedef struct NdArray {
    DType dtype;
    int ndim;
    int64_t shape[ND_MOST_DIMS], strides[ND_MOST_DIMS]; /* strides in elements */
    char *data;                                         /* the element at indices 0 */
} NdArray;

const NdArray *nd_array(Value value);
Value nd_value(Script *script, const NdArray *array);
/* A compact array of zeros; NULL after a diagnostic where it would be too large. */
NdArray *nd_new(Script *script, DType dtype, int ndim, const int64_t *shape, Span span);
int64_t nd_count(const NdArray *array);
double nd_get(const NdArray *array, int64_t offset);
void nd_set(const NdArray *array, int64_t offset, double value);
/* A and B may share memory. */
bool nd_overlap(const NdArray *a, const NdArray *b);
/* Steps INDICES, and OFFSETS into COUNT arrays of the shape of the first one; false behind the last element. */
bool nd_next(const NdArray *const *arrays, int count, int64_t *indices, int64_t *offsets);
/* VALUE, an array, a number or nested lists of numbers, as an array. DTYPE: of its elements; a type of 0 bits means NumPy's choice. */
bool nd_from_value(Script *script, Value value, DType dtype, Span span, const NdArray **result);
/* A compact copy with elements of DTYPE. */
NdArray *nd_copy(Script *script, const NdArray *array, DType dtype, Span span);
/* ARRAY seen in the shape of LIKE (NULL after a diagnostic). */
const NdArray *nd_broadcast_to(Script *script, const NdArray *array, int ndim, const int64_t *shape, Span span);
/* "float32[3, 4]" */
const char *nd_describe(Script *script, const NdArray *array);
/* "float32", np.float32, float, int or bool. */
bool nd_dtype(Script *script, const Value *value, DType otherwise, DType *result);
/* A shape: an int, or several; *COUNT of them. */
bool nd_shape(Script *script, Value value, Span span, int *count, int64_t *shape);

/* Operators of which an operand is an array. */
bool nd_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result);
bool nd_apply(Script *script, double (*function)(double, double), Value left, Value right, Span span, Value *result);
bool nd_matmul(Script *script, const NdArray *a, const NdArray *b, Span span, Value *result);
/* array[index]; INDEX may be a slice or a tuple with slices. */
bool nd_index(Script *script, const NdArray *array, const AstNode *index, Value *result);
/* Copies VALUE into the elements of ARRAY. */
bool nd_assign(Script *script, const NdArray *array, Value value, Span span);
/* array[index] = VALUE, for the subscript TARGET. */
bool nd_assign_item(Script *script, const NdArray *array, const AstNode *target, Value value);
/* array.NAME; *FOUND: there is such an attribute. */
bool nd_attribute(Script *script, const Object *self, Str name, Value *result, bool *found);
bool nd_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result);

/* --- numpy.c, built.c --- */
/* PATH is, or leads to, a function of numpy, of tvm.nd or one that compiles. */
bool numpy_knows(const char *path);
bool numpy_call(Script *script, Str path, const Arguments *arguments, Value *result);
bool script_build(Script *script, const char *name, const Arguments *arguments, Value *result);
bool script_call_built(Script *script, const Object *built, const Arguments *arguments, Value *result);

#endif
