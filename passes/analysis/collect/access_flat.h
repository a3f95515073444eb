/* Buffers of different layouts in one memory, as declared by T.Buffer(..., data=B.data): their elements as those of one flat buffer. Private
   to the collection of accesses, but for buffer_same_layout. */
#ifndef TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_FLAT_H
#define TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_FLAT_H

#include "ir/stmt.h"

typedef struct {
    /* Data variable -> flat Buffer, for memory that buffers with different layouts share, all of them of one dtype, with constant shapes and
       strides, and with offsets that load nothing. The flat buffer has one dimension, all elements of the memory. */
    Map flats;
    Map moving; /* declared Buffers (each to itself) whose equal indices need not name equal elements: their layout differs between iterations */
    Map unknown; /* pointers of lets (each to itself), which may lead to any memory */
} Layouts;
/* The layouts of the buffers in FUNC. */
Layouts layouts_collect(Context *ctx, const Func *func);
/* REGION in terms of the flat buffer of its memory, if there is one; then *WHOLE where it may be any of the memory. */
Region region_as_laid_out(Context *ctx, const Layouts *layouts, Region region, bool *whole);

/* REGION of a view in coordinates of the buffer below: leading dimensions of SOURCE that the view lacks are points. */
Region region_below_view(Context *ctx, const Region *source, Region region);
/* Equal indices name equal memory in both, which share theirs. */
bool buffer_same_layout(const Buffer *a, const Buffer *b);

#endif
