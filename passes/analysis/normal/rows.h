/* Flat buffers with symbolic strides: elements named by the digits of their indices, as if the buffer had a dimension for each stride.

     n, m = T.int64(), T.int64()
     C = T.match_buffer(c, (n * m,), "float32")
     for i, j in T.grid(n, m):
         C[i * m + j] = ...                             is a write of element (i, j) of n rows of m

   Not handled:
   - strides of which none is a multiple of the other: i * m + j * n;
   - strides that are read or computed in the body;
   - an index beside its quotients: C[f] next to C[i * m + j]. */
#ifndef TIRC_PASSES_ANALYSIS_NORMAL_ROWS_H
#define TIRC_PASSES_ANALYSIS_NORMAL_ROWS_H

#include "passes/analysis/model/access.h"
#include "passes/arith/analyzer.h"

enum { MOST_STRIDES = 3, MOST_FACTORS = 4 };

/* A product of symbols that have one value throughout a run of the function, times a constant > 0. */
typedef struct {
    const Expr *factors[MOST_FACTORS];
    int count;
    int64_t coefficient;
} Stride;

/* Of one dimension, the greatest first: each is a multiple of the next. */
typedef struct {
    Stride strides[MOST_STRIDES];
    int count;
    bool exact; /* the dimension has a whole number of the greatest */
} Strides;

/* How the elements of FLAT are named: index d of it is the sum of its digits, each but the last times its stride. */
typedef struct AccessRows {
    Buffer *flat;
    Buffer *buffer;     /* with a dimension for each digit */
    Strides *strides;   /* one for each dimension of FLAT */
} AccessRows;

/* The symbols that FUNC's declarations define: scalar parameters, and what shapes, strides and offsets name. */
Map func_symbols(Context *ctx, const Func *func);
/* EXPR has a product of what varies with one of SYMBOLS. Cheap. */
bool expr_has_symbolic_stride(const Map *symbols, const Expr *expr);
/* EXPR without casts that keep its value. */
const Expr *rows_without_cast(const Expr *expr);
/* COUNT is a product with a factor besides those of EXTENT: n * m values are several times m. */
bool rows_are_several(const Expr *count, const Expr *extent);
/* What EXPR, a variable, is bound to around FRAME; NULL where it is no variable or that of a loop. */
const Frame *rows_binding(const Frame *frame, const Expr *expr);

/* Finds in COUNT regions of BUFFER, whose ranges speak of loops and SYMBOLS, how to name its elements; FRAMES (may be NULL, and so may each)
   say what variables in them stand for. NULL where no dimension has a symbolic stride, or they do not fit one another. */
const AccessRows *rows_of_regions(Context *ctx, const Map *symbols, const Region *regions, const Frame *const *frames, int count);
/* REGION of rows->flat by digits. Any digits: whether they lie in their ranges is not asked. False where it is not a row, or part of
   one. */
bool rows_split_region(Context *ctx, const Map *symbols, const AccessRows *rows, const Region *region, const Frame *frame,
                       Region *result);
/* The least box of digits that holds the first and the last element of each range of REGION: it may hold less than REGION, and more. Digits
   that AN knows to lie beyond their range are brought nearer to it. False where nothing is known of it. */
bool rows_bound_region(Analyzer *an, const Map *symbols, const AccessRows *rows, const Region *region, Region *result);
/* The size of dimension DIM of rows->buffer; NULL where only a bound is known. */
const Expr *rows_size(const AccessRows *rows, int dim);
/* The stride in index D of digit DIGIT of it as an expression of type TYPE; 1 for the last. */
const Expr *rows_stride(Context *ctx, const AccessRows *rows, int d, int digit, DType type);

#endif
