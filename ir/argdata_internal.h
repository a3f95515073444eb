/* Shared by the parts of argdata. */
#ifndef TIRC_IR_ARGDATA_INTERNAL_H
#define TIRC_IR_ARGDATA_INTERNAL_H

#include "ir/argdata.h"

/* The value of integer EXPR under VALUES (Var -> const Expr *, constants); false where it is not determined. */
bool argdata_evaluate(Context *ctx, const Map *values, const Expr *expr, int64_t *value);
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

#endif
