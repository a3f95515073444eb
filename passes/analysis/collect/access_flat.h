/* Buffers of different layouts in one memory, as declared by T.Buffer(..., data=B.data): their elements as those of one flat buffer. Private
   to the collection of accesses. */
#ifndef TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_FLAT_H
#define TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_FLAT_H

#include "ir/stmt.h"

/* Data variable -> flat Buffer, for memory in FUNC that buffers with different layouts share, all of them of one dtype, with constant shapes,
   strides and offsets. The flat buffer has one dimension, all elements of the memory. */
Map flat_buffers_collect(Context *ctx, const Func *func);
/* REGION in terms of FLAT; false where its elements do not follow one another. */
bool region_flatten(Context *ctx, const Region *region, Buffer *flat, Region *result);

/* REGION of a view in coordinates of the buffer below: leading dimensions of SOURCE that the view lacks are points. */
Region region_below_view(Context *ctx, const Region *source, Region region);
/* Equal indices name equal memory in both, which share theirs. */
bool buffer_same_layout(const Buffer *a, const Buffer *b);

#endif
