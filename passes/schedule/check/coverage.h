/* Which elements of a buffer are certainly written when a place in the program is reached, decided on exact integer sets. */
#ifndef TIRC_PASSES_SCHEDULE_CHECK_COVERAGE_H
#define TIRC_PASSES_SCHEDULE_CHECK_COVERAGE_H

#include "passes/analysis/model/access.h"
#include "passes/analysis/prove/answer.h"
#include "passes/schedule/core/schedule.h"

/* A box of a buffer at a place: in each iteration of the loops around the place in which CONDITION holds (NULL: in all), the elements of
   REGION (that lie in the buffer, when CLIPPED). */
typedef struct {
    Region region;
    bool clipped;
    const Expr *condition;
    const TreeNode *writer; /* the block that comes before the place and writes the buffer */
    /* a block behind the place in the innermost sequence that also holds WRITER; NULL: the place is at the end of the scope */
    const TreeNode *later;
} PlacedBox;

/* The stores below box->writer certainly write all of the box, in the same iteration of the loops around the place. The witness: an element
   that is not written. */
Answer coverage_is_written(Schedule *sch, const PlacedBox *box);

/* Every read of BUFFER below PART but outside of WRITER, a block that writes BUFFER, comes behind WRITER and is of an element
   that WRITER has written before: in the same iteration of the loops around both, in any iteration of the other loops around WRITER. Nor is
   there a call below PART that may do anything. */
Answer coverage_serves_reads(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part);

/* WRITER, a block, writes every element of BUFFER that is read below PART outside of WRITER: in some iteration of the loops around WRITER
   in its scope, of which PART is a part. The witness: "C[3, 0]", an element that is certainly read and never written. */
Answer coverage_all_reads_written(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part);

#endif
