/* Flat buffers with symbolic strides: elements named by the digits of their indices, as if the buffer had a dimension for each stride. */
#ifndef TIRC_PASSES_ANALYSIS_ACCESS_ROWS_H
#define TIRC_PASSES_ANALYSIS_ACCESS_ROWS_H

#include "passes/analysis/access.h"

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

/* Finds in COUNT regions of BUFFER, whose ranges speak of loops and SYMBOLS, how to name its elements; FRAMES (may be NULL, and so may each)
   say what variables in them stand for. NULL where no dimension has a symbolic stride, or they do not fit one another. */
const AccessRows *rows_of_regions(Context *ctx, const Map *symbols, const Region *regions, const Frame *const *frames, int count);
/* REGION of rows->flat by digits. Any digits: whether they lie in their ranges is not asked. False where it is not a row, or part of
   one. */
bool rows_split_region(Context *ctx, const Map *symbols, const AccessRows *rows, const Region *region, const Frame *frame,
                       Region *result);
/* The least box of digits that holds the first and the last element of each range of REGION, and so what it names of elements apart by
   whole strides: it may hold less than REGION, and more. False where nothing is known of it. */
bool rows_bound_region(Context *ctx, const Map *symbols, const AccessRows *rows, const Region *region, Region *result);
/* The stride in index D of digit DIGIT of it as an expression of type TYPE; 1 for the last. */
const Expr *rows_stride(Context *ctx, const AccessRows *rows, int d, int digit, DType type);

/* Names the elements of flat buffers by digits in ACCESSES, all those of FUNC, where each access is shown to have digits in their ranges:
   then two of them are of one element just where all digits agree. */
void accesses_split_rows(Context *ctx, const Func *func, AccessList *accesses);
/* ACCESSES in coordinates of the program's buffers. */
AccessList accesses_unsplit(Context *ctx, const AccessList *accesses);

#endif
