/* Where the elements of a buffer lie, as expressions. */
#ifndef TIRC_IR_LAYOUT_H
#define TIRC_IR_LAYOUT_H

#include "ir/stmt.h"

/* --- Expressions --- */
/* EXPR, an integer expression, computed in int64: leaves are converted, the operations done in 64 bits. Equal to EXPR where that does not
   overflow. */
const Expr *expr_in_int64(Context *ctx, const Expr *expr);
/* The constant EXPR in TYPE where that holds it; any other expression as it is. */
const Expr *expr_narrow_constant(Context *ctx, const Expr *expr, DType type);

/* --- Buffers --- */
/* The stride of dimension DIM, in elements: stated, or the product of the extents after it (in the index type of BUFFER). */
const Expr *buffer_stride(Context *ctx, const Buffer *buffer, int dim);
/* Offset of the element INDICES (buffer->ndim of them) from the data pointer, in elements. */
const Expr *buffer_linear_offset(Context *ctx, const Buffer *buffer, const Expr *const *indices);
/* How many elements, counted from the data pointer, the buffer may touch. Strides make it less than 0 where a symbolic size is 0. */
const Expr *buffer_span(Context *ctx, const Buffer *buffer);

#endif
