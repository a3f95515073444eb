/* The values of index expressions at a point. */
#ifndef TIRC_IR_INDEX_VALUE_H
#define TIRC_IR_INDEX_VALUE_H

#include "ir/stmt.h"

typedef struct {
    Var *const *vars;      /* COUNT of them have */
    const int64_t *values; /* these values */
    int count;
    const Map *constants;  /* others: Var * -> const Expr *, constants; NULL: none */
} IndexPoint;

/* The value of the integer or bool EXPR at POINT; false where it is not determined, or leaves its type. */
bool index_value(const IndexPoint *point, const Expr *expr, int64_t *value);

/* The image of PLACE (input_count) under MAP; false where it is not determined. */
bool place_map_apply(const PlaceMap *map, const Map *constants, const int64_t *place, int64_t *image);

#endif
