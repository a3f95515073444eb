/* Trying out in a child process what may make LLVM give up. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_TRIAL_H
#define TIRC_CODEGEN_LLVM_LLVM_TRIAL_H

#include "support/context.h"

/* Runs ACTION(DATA) in a copy of this process and returns the first line that it wrote to standard error, without LLVM's "LLVM ERROR: ", in
   ctx->arena; "" when it wrote nothing and ended well. LLVM-C has no other way to learn of what LLVM only prints, or ends the process
   for. */
const char *llvm_trial(Context *ctx, void (*action)(void *data), void *data);

#endif
