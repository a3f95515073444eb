/* Transposition of vectors by shuffles, as expressions. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_VECTOR_TRANSPOSE_H
#define TIRC_PASSES_LOWER_VECTOR_TRANSPOSE_H

#include "passes/lower/core/state.h"

/* The bytes of a block: processors shuffle the lanes of a block more cheaply than those of a whole register. A tile is best where the vectors
   that go in have as many. */
enum { TILE_BLOCK_BYTES = 16 };

/* Vectors of one type, and the lets, outermost first, that bind what they are made of. */
typedef struct {
    ExprList vectors;
    VEC(Var *) bound;
    ExprList values;
} VectorTile;

/* Binds VALUE and appends the variable to the vectors of TILE. */
void tile_add(Context *ctx, VectorTile *tile, const char *name, const Expr *value, Span span);
/* Replaces the N vectors of W lanes by W vectors of N lanes, where lane i of vector j is lane j of what was vector i. N and W are powers of
   two, at least 2, and take at most two blocks each. */
void tile_transpose(Context *ctx, VectorTile *tile, const char *name, Span span);
/* COUNT lanes of A from lane FIRST on, then as many of B from there on where B is not NULL. */
const Expr *tile_pick(Context *ctx, const Expr *a, const Expr *b, int first, int count);
/* The lanes of VECTORS, COUNT of them, end to end; scalars count as one lane. */
const Expr *tile_join(Context *ctx, const Expr *const *vectors, int count);
/* BODY inside of the lets of TILE. */
const Stmt *tile_bind(Context *ctx, const VectorTile *tile, const Stmt *body);

#endif
