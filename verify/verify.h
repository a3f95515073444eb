/* Well-formedness of programs at each stage. */
#ifndef TIRC_VERIFY_VERIFY_H
#define TIRC_VERIFY_VERIFY_H

#include "ir/stmt.h"

/* surface: as parsed. scheduled: blocks complete with regions. unblocked: no blocks. flat: one dimension for each access, too. lowered: explicit
   vectors, too, and placed allocations. device_split: host and kernels. */
typedef enum { STAGE_SURFACE, STAGE_SCHEDULED, STAGE_UNBLOCKED, STAGE_FLAT, STAGE_LOWERED, STAGE_DEVICE_SPLIT } Stage;

/* True when FUNC is well formed for STAGE: each symbol bound once and before use, types and ranks fit, spans valid, what the stage forbids
   is absent. Otherwise false, with the first violation in *WHY (may be NULL), allocated in ctx->arena. */
bool verify_func(Context *ctx, const Func *func, Stage stage, const char **why);
bool verify_module(Context *ctx, const Module *module, Stage stage, const char **why);

#endif
