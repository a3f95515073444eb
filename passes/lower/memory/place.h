/* Where the uses of a buffer are, and what blocks say of its allocation. Private to the passes. */
#ifndef TIRC_PASSES_LOWER_MEMORY_PLACE_H
#define TIRC_PASSES_LOWER_MEMORY_PLACE_H

#include "passes/lower/core/state.h"

/* The one statement directly inside STMT that holds all uses of BUFFER in STMT; NULL where STMT itself uses it or several parts do. */
const Stmt *stmt_only_user(Context *ctx, const Stmt *stmt, const Buffer *buffer);
/* What storage_align says of BUFFER in the blocks of STMT, as the annotation that an allocation of it gets; see compact.c. */
Attrs stmt_alignments(Context *ctx, const Stmt *stmt, const Buffer *buffer);

#endif
