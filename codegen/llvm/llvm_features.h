/* Which features a processor has that the user named. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_FEATURES_H
#define TIRC_CODEGEN_LLVM_LLVM_FEATURES_H

#include "codegen/llvm/llvm_target.h"

/* The features that code generation asks about, each with + or -, as TARGET, which has its machine, turns out to have them; "" for
   architectures of which nothing is asked. */
const char *llvm_probe_features(Context *ctx, const LlvmTarget *target);

#endif
