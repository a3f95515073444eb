/* Arrays in NumPy's .npy format, versions 1.0 to 3.0 (numpy.lib.format): read, written, and printed as NumPy prints them. */
#ifndef TIRC_INTERP_NPY_H
#define TIRC_INTERP_NPY_H

#include "ir/dtype.h"
#include "support/strbuf.h"

/* Elements in C order and the host's byte order; bool as 0 and 1. */
typedef struct {
    DType dtype; /* a scalar: bool, integers of 8 to 64 bits, float16, float32 or float64 */
    int ndim;
    const int64_t *shape;
    const char *data;
} NpyArray;

/* How arrays of DTYPE (a scalar) are stored: types that NumPy lacks (bfloat16) as unsigned integers of their width. */
DType npy_stored_type(DType dtype);
int64_t npy_count(const NpyArray *array);
/* "float32[3, 4]" */
const char *npy_describe(Context *ctx, const NpyArray *array);

/* Reads the array that the LENGTH bytes at TEXT hold; ARRAY may refer to them. Big-endian and Fortran-ordered elements are put in order.
   NULL, or in words what is wrong: not such a file, cut off, elements of another kind. What follows the elements is not looked at. */
const char *npy_read(Arena *arena, const char *text, size_t length, NpyArray *array);
/* Adds ARRAY as a .npy file of version 1.0: the same bytes as numpy.save writes. */
void npy_write(StrBuf *out, const NpyArray *array);

/* ARRAY as print(array) of NumPy 2 shows it by its default options, without a newline at the end. */
const char *npy_text(Arena *arena, const NpyArray *array);

#endif
