/* Which variables are indices: the arithmetic of indices does not overflow, that of values wraps. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_CORE_INDEX_VARS_H
#define TIRC_PASSES_LOWER_CORE_INDEX_VARS_H

#include "passes/lower/core/state.h"

/* Keys: loop variables, the variables of the sizes, strides and offsets of parameters, and lets of such. */
typedef Map IndexVars;

/* Those that the parameters of FUNC declare. */
IndexVars index_vars_of_params(Context *ctx, const Func *func);
/* Adds what STMT binds, if it is an index. */
void index_vars_add(Context *ctx, IndexVars *vars, const Stmt *stmt);
/* True for arithmetic, comparisons and logic of constants and index variables. */
bool is_index_expr(const IndexVars *vars, const Expr *expr);

#endif
