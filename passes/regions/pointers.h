/* One name for one memory: buffers that are declared over a pointer get the data variable of the memory that it points into.

     p: T.handle("float32") = T.address_of(A[k, 0])
     V = T.decl_buffer((8,), data=p)                      ->    V = T.decl_buffer((8,), data=A.data, elem_offset=k * 8)

   All that asks whether two buffers share their memory compares data variables. */
#ifndef TIRC_PASSES_REGIONS_POINTERS_H
#define TIRC_PASSES_REGIONS_POINTERS_H

#include "ir/stmt.h"

/* FUNC with the pointers of lets followed; FUNC itself where no buffer is declared over one. A pointer that is not known to lead into one memory
   stays: what is declared over it may be any memory. */
const Func *func_follow_pointers(Context *ctx, const Func *func);

#endif
