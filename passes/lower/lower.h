/* Lowering: from a scheduled function (blocks over multi-dimensional buffers) to what code generation takes (flat buffers, no blocks,
   explicit vectors). The passes are the rows of passes.def. */
#ifndef TIRC_PASSES_LOWER_LOWER_H
#define TIRC_PASSES_LOWER_LOWER_H

#include "ir/stmt.h"
#include "passes/lower/core/options.h"
#include "verify/verify.h"

/* A row of passes.def. */
typedef struct {
    const char *name;
    Stage needs, gives;
    const char *doc;
} LowerPass;
/* The passes in order; *COUNT of them. */
const LowerPass *lower_passes(int *count);
/* The position of the pass called NAME, or -1. */
int lower_find_pass(const char *name);

/* FUNC of MODULE lowered (see verify.h, STAGE_LOWERED), allocated in ctx->arena; NULL after diagnostics. */
const Func *lower_func(Context *ctx, const Module *module, const Func *func, const LowerOptions *options);

#endif
