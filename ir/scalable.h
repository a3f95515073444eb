/* Vectors whose number of lanes is a multiple of T.vscale(). They are read and printed; nothing else is done with them. */
#ifndef TIRC_IR_SCALABLE_H
#define TIRC_IR_SCALABLE_H

#include "ir/stmt.h"

/* The number of lanes of VECTOR as an expression of type DTYPE: a number, or T.vscale() times one. */
const Expr *lane_count(Context *ctx, DType dtype, DType vector);
/* A function with such vectors; *PLACE, unless NULL, becomes where the first one is. */
bool func_is_scalable(const Func *func, Span *place);
/* An error about the first function of MODULE with such vectors, which is not to be WHAT ("compiled"); false where there is one. */
bool scalable_refuse(Context *ctx, const Module *module, const char *what);

#endif
