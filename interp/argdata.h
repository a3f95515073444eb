/* Arguments for a function, given or random: symbolic sizes found or chosen, buffers allocated between guard zones and filled, results
   compared and printed. */
#ifndef TIRC_INTERP_ARGDATA_H
#define TIRC_INTERP_ARGDATA_H

#include <stdio.h>

#include "interp/interp.h"
#include "interp/npy.h"
#include "ir/signature.h"

/* A size that the user chose. */
typedef struct {
    const char *name; /* of a variable in a buffer declaration, or of a scalar parameter */
    int64_t value;
    const Var *var;   /* NULL: every variable of that name */
} ArgSize;
/* The value that the user gives to a parameter: elements for a buffer, an array without dimensions for a scalar. */
typedef struct {
    const char *name; /* see argdata_find_parameter */
    const char *from; /* where the array comes from, for messages */
    NpyArray array;
} ArgArray;
typedef struct {
    uint64_t seed;
    const ArgSize *sizes;
    int size_count;
    const ArgArray *arrays;
    int array_count;
    bool complete;     /* an input or a size that nothing gives is an error; without: random */
    bool zero_outputs; /* buffers that are only written hold zeros at first; without: a pattern */
} ArgOptions;

/* One argument. Scalars have no data. */
typedef struct {
    const Param *param;
    InterpArg arg; /* data lies between guard zones and is 64-byte aligned */
    bool output;   /* written by the function; false for scalars */
    bool chosen;   /* a scalar that is a size, or that the user chose */
    char *allocation;
    int64_t *shape, *strides;
} ArgItem;
typedef struct {
    Context *ctx;
    const Func *func;
    const Signature *signature;
    ArgItem *items; /* func->param_count */
    int64_t *dims;  /* signature->dim_count: the values of its dims */
    uint64_t seed;
} ArgData;

/* NAME is one of the sizes, strides, offsets or integer parameters of FUNC, as it is printed or as the text has it. */
bool argdata_has_size(Context *ctx, const Func *func, const char *name);

/* The parameter of FUNC that NAME names: by its own name or by that of its buffer, as they are printed or as the text has them. */
enum { ARGDATA_UNKNOWN = -1, ARGDATA_AMBIGUOUS = -2 };
int argdata_find_parameter(Context *ctx, const Func *func, const char *name);

/* Chooses arguments for FUNC. Arrays become the values of their parameters, and variables of declarations get the sizes that arrays have.
   Other variables of declarations and scalars that appear in them get the chosen size, else one from 1 to 20 by the
   seed; strides that the text leaves open are compact, offsets 0. Floats are uniform in [-1, 1], signed integers in [-8, 8], unsigned ones
   in [0, 8]; integers that index a buffer or are shift amounts stay inside, and those that divide are not 0. Buffers that are only written
   are filled with a pattern and marked unwritten. NULL after a diagnostic: a size for an unknown name, an array whose dtype or
   shape is not its parameter's, or a declaration whose sizes cannot be computed. Release with argdata_free. */
ArgData *argdata_new(Context *ctx, const Func *func, const ArgOptions *options);
/* Some parameter of FUNC has another layout than in the program as it was written. */
bool argdata_has_layouts(const Func *func);
/* The arguments of SOURCE, those of a function before a schedule, for FUNC, what the schedule made of it: elements lie where FUNC has them. */
ArgData *argdata_for_scheduled(const ArgData *source, const Func *func);
/* The elements of SCHEDULED, made by the function before, as they lie in RESULT, a copy of the source. */
void argdata_take_results(const ArgData *scheduled, ArgData *result);
/* The same values in memory of their own. */
ArgData *argdata_copy(const ArgData *data);
void argdata_free(ArgData *data);
/* The arguments for interp_run, in memory of DATA's context. They refer to DATA's memory. */
InterpArg *argdata_interp_args(const ArgData *data);
/* The parameter whose guard zones were written to, or NULL. */
const Param *argdata_damaged(const ArgData *data);

/* How far apart two results of one function may be that sum up to LENGTH products in different orders: this much times the larger of 1 and
   the magnitudes. 0 for integers and bool. */
double argdata_bound(DType dtype, int64_t length);
/* The number of values that go into one element of FUNC's results at most, estimated from its loops: at least 1. */
int64_t argdata_reduction_length(const ArgData *data, const Func *func);

typedef struct {
    const Param *param;
    const char *element; /* "C[3, 4]" */
    double expected, actual, bound;
    int64_t count; /* elements beyond the bound, in all parameters */
} ArgMismatch;
/* As the length: values must be the same to the bit (but NaN equals NaN). */
enum { ARGDATA_EXACT = -1 };
/* Compares all written parameters of the same function, as exactly as the least exact float type that it stores allows; false with the first
   mismatch. NaN equals NaN, an infinity itself. */
bool argdata_compare(const ArgData *expected, const ArgData *actual, int64_t length, ArgMismatch *mismatch);

/* The elements of a buffer in C order, in ctx->arena; those of vectors have one dimension more. */
NpyArray argdata_array(const ArgData *data, int parameter);

/* Prints the sizes, then for each parameter its name, dtype and shape, its first elements and a hash of all of them. The same values give
   the same bytes. */
void argdata_print(const ArgData *data, FILE *out);

#endif
