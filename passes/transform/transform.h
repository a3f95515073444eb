/* Lowering passes that people look at: each takes a program to a program that prints and reads back, as the reference's pass of that name
   does. The passes are the rows of transforms.def; some are steps of the way to LLVM as well. */
#ifndef TIRC_PASSES_TRANSFORM_TRANSFORM_H
#define TIRC_PASSES_TRANSFORM_TRANSFORM_H

#include "verify/verify.h"

/* A row of transforms.def. */
typedef struct {
    const char *name;      /* storage_rewrite */
    const char *reference; /* StorageRewrite */
    Stage needs, gives;
    const char *doc;
} Transform;
/* The passes; *COUNT of them. */
const Transform *transforms(int *count);
/* The pass that NAME means: its own name, the reference's with or without a path before it (tir.transform.StorageRewrite), or one of its
   short names; case, '_' and '-' do not count. -1: there is none, and *NEAR is a name that is close, or NULL. */
int transform_find(Context *ctx, const char *name, const char **near);
/* MODULE after the pass at INDEX; NULL after diagnostics. VERIFY: the result is checked to be well formed. */
const Module *transform_module(Context *ctx, const Module *module, int index, bool verify);

#endif
