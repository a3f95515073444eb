/* Transposition of vectors by shuffles, as expressions. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_VECTOR_TRANSPOSE_H
#define TIRC_PASSES_LOWER_VECTOR_TRANSPOSE_H

#include "passes/lower/core/state.h"

/* Vectors of one type, and the lets, outermost first, that bind what they are made of. */
typedef struct {
    ExprList vectors;
    VEC(Var *) bound;
    ExprList values;
} VectorTile;

/* Binds VALUE and appends the variable to the vectors of TILE. */
void tile_add(Context *ctx, VectorTile *tile, const char *name, const Expr *value, Span span);
/* Replaces the N vectors of W lanes by W vectors of N lanes, where lane i of vector j is lane j of what was vector i. N and W are powers of
   two, at least 2. */
void tile_transpose(Context *ctx, VectorTile *tile, const char *name, Span span);
/* BODY inside of the lets of TILE. */
const Stmt *tile_bind(Context *ctx, const VectorTile *tile, const Stmt *body);

#endif
