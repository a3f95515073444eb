/* Shared by the parts of argdata. */
#ifndef TIRC_INTERP_ARGDATA_INTERNAL_H
#define TIRC_INTERP_ARGDATA_INTERNAL_H

#include "interp/argdata.h"

enum { UNWRITTEN_PATTERN = 0xc5 };
/* Arguments of FUNC, whose sizes, and scalars, are those of SOURCE; its buffers are allocated. NULL after a diagnostic. */
ArgData *argdata_with_sizes_of(const ArgData *source, const Func *func);
/* The value of integer EXPR under VALUES (Var -> const Expr *, constants); false where it is not determined. */
bool argdata_evaluate(Context *ctx, const Map *values, const Expr *expr, int64_t *value);
/* VAR has NAME as it is printed or as the text has it. */
bool argdata_is_named(const Var *var, const char *name);
/* The size that OPTIONS choose for VAR, or NULL. */
const ArgSize *argdata_find_size(const ArgOptions *options, const Var *var);
/* An extent of a parameter of FUNC uses VAR. */
bool argdata_shapes_use(const Func *func, const Var *var);
/* The sizes of DATA as such a map. */
Map argdata_values(const ArgData *data);
/* How an integer parameter, or the elements of one, are used. */
typedef struct {
    int64_t limit; /* as an index or shift amount, below this; 0: not as one */
    bool divides;
} ArgUse;
/* Per parameter of DATA's function. */
void argdata_find_uses(const ArgData *data, ArgUse *uses);
/* Steps COORDINATES (ndim) through SHAPE in row-major order; false after the last. */
bool argdata_next(const int64_t *shape, int ndim, int64_t *coordinates);
/* The memory of an element. */
char *argdata_element(const ArgItem *item, const int64_t *coordinates);
int64_t argdata_element_count(const ArgItem *item);


/* --- Arrays that are given (argdata_given.c) --- */
/* The array for PARAMETER, or NULL. */
const ArgArray *argdata_given(const ArgData *data, const ArgOptions *options, int parameter);
/* OPTIONS with the sizes that the shapes of the arrays determine added. False after a diagnostic: an array of another dtype or rank. */
bool argdata_find_sizes(const ArgData *data, const ArgOptions *options, ArgOptions *result);
/* The laid out shape of each parameter is that of its array, and nothing is missing where OPTIONS wants them complete. False after a
   diagnostic. */
bool argdata_check_given(const ArgData *data, const ArgOptions *options);
/* Makes the array the value of PARAMETER. */
void argdata_take(ArgData *data, const ArgArray *given, int parameter);

#endif
