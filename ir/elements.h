/* How the elements of a buffer lie in memory, and whether they are distinct cells: those of a buffer that is written must be. */
#ifndef TIRC_IR_ELEMENTS_H
#define TIRC_IR_ELEMENTS_H

#include "ir/stmt.h"

/* No strides are stated (or one dimension of stride 1), so that the elements lie densely in row-major order. */
bool buffer_is_dense(const Buffer *buffer);
/* They do, also where constant strides say so. */
bool buffer_is_compact(const Buffer *buffer);
/* BUFFER certainly has no element. */
bool buffer_is_empty(const Buffer *buffer);

typedef enum {
    ELEMENTS_DISTINCT,
    ELEMENTS_OVERLAP, /* two of them certainly are one cell */
    ELEMENTS_UNKNOWN  /* a stride or an extent is not constant, or there are too many elements to try */
} ElementsVerdict;

/* What the declaration of BUFFER says of it. With ELEMENTS_OVERLAP, FIRST and SECOND (ndim numbers each) are two indices of one cell. */
ElementsVerdict buffer_elements(const Buffer *buffer, int64_t *first, int64_t *second);
/* The condition that is checked at run time where the declaration leaves it open: in each dimension of several elements, the stride is larger
   than all that the dimensions with strides no larger reach together. Enough for distinct elements, and met by every layout in rows. */
bool strides_keep_apart(const int64_t *shape, const int64_t *strides, int ndim);
/* What an access to BUFFER at INDICES touches whose last index is a vector: the lanes of A[i, 0:8] in rows of four are two rows. */
typedef enum {
    LANES_IN_ROW,   /* none is seen to leave the row that it begins in; also where the index is none that goes on evenly */
    LANES_OF_ROWS,  /* all elements of RANGES, which are whole rows */
    LANES_ANYWHERE, /* they leave the row for others that are not told */
} LanesReach;
LanesReach lanes_reach(Context *ctx, const Buffer *buffer, const Expr *const *indices, Range *ranges);
/* The buffers that FUNC writes elements of (Buffer -> Buffer): by stores, through match_buffer views, and by calls whose block declares the
   write. Aliases of a memory count each by itself: what is written through one of them says nothing of the others' elements. */
Map func_written_buffers(Context *ctx, const Func *func);

#endif
