/* Trying out in a child process what may make LLVM give up. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_TRIAL_H
#define TIRC_CODEGEN_LLVM_LLVM_TRIAL_H

#include "codegen/backend.h"
#include "support/context.h"

/* Gives what the parent is to have; {0}: nothing. */
typedef CodegenBytes TrialAction(void *data);

/* Runs ACTION(DATA) in a copy of this process and returns the first line that it wrote to standard error, without LLVM's "LLVM ERROR: ", in
   ctx->arena; "" when it wrote nothing and ended well, then with what it gives in *RESULT (which may be NULL). LLVM-C has no other way to learn
   of what LLVM only prints, or ends the process for. */
const char *llvm_trial(Context *ctx, TrialAction *action, void *data, CodegenBytes *result);

#endif
