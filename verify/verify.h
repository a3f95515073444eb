/* Well-formedness of programs at each stage. */
#ifndef TIRC_VERIFY_VERIFY_H
#define TIRC_VERIFY_VERIFY_H

#include "ir/stmt.h"

/* The rows of stages.def. What a stage demands, all later ones demand too. */
typedef enum {
#define X(name, doc) STAGE_##name,
#include "verify/stages.def"
#undef X
} Stage;

/* True when FUNC is well formed for STAGE: each symbol bound once and before use, types and ranks fit, spans valid, what the stage forbids
   is absent. Otherwise false, with the first violation in *WHY (may be NULL), allocated in ctx->arena. */
bool verify_func(Context *ctx, const Func *func, Stage stage, const char **why);
bool verify_module(Context *ctx, const Module *module, Stage stage, const char **why);

#endif
