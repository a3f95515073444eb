/* Wide vector stores taken apart into slices that fit the registers, on the IR. */
#ifndef TIRC_CODEGEN_VECTOR_SLICE_H
#define TIRC_CODEGEN_VECTOR_SLICE_H

#include "ir/stmt.h"

/* Into how many stores STMT_STORE STORE may be taken apart: 1 when it is narrow, or when doing it piece by piece could give another result.
   POINTERS_MAY_ALIAS: there are buffers over pointers that were computed, so that other data variables say nothing. */
int vector_slice_count(const Stmt *store, bool pointers_may_alias);
/* The store of slice NUMBER, in ctx->arena. Executing all of them in order equals executing STORE. */
const Stmt *vector_slice_store(Context *ctx, const Stmt *store, int number);

#endif
