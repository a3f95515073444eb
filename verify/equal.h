/* Structural equality. */
#ifndef TIRC_VERIFY_EQUAL_H
#define TIRC_VERIFY_EQUAL_H

#include "ir/stmt.h"

/* Structural equality up to a consistent renaming of the symbols that are bound inside (equal.c): places and names of variables do not
   count; names of blocks, functions, annotations do. On false *WHY (may be NULL) gets a short description of the first difference,
   allocated in ctx->arena. */
bool func_equal(Context *ctx, const Func *a, const Func *b, const char **why);
bool module_equal(Context *ctx, const Module *a, const Module *b, const char **why);
bool stmt_equal(Context *ctx, const Stmt *a, const Stmt *b, const char **why);

#endif
