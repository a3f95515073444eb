/* Index expressions over lanes. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_INDEX_H
#define TIRC_CODEGEN_LLVM_LLVM_INDEX_H

#include "codegen/llvm/llvm_gen.h"

/* A vector index that is BASE + lane * STRIDE (scalars of one type) in each lane. */
typedef struct {
    const Expr *base, *stride;
} LaneIndex;
/* Writes vector INDEX so; false when it does not have the form. */
bool index_split_lanes(Context *ctx, const Expr *index, LaneIndex *result);
/* Writes scalar INDEX as BASE + VAR * STRIDE, neither of which mentions VAR; false when it does not have the form. */
bool index_split_var(Context *ctx, const Expr *index, const Var *var, LaneIndex *result);

#endif
