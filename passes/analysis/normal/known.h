/* What is known where an access runs. */
#ifndef TIRC_PASSES_ANALYSIS_NORMAL_KNOWN_H
#define TIRC_PASSES_ANALYSIS_NORMAL_KNOWN_H

#include "passes/analysis/model/access_point.h"
#include "passes/arith/analyzer.h"

/* An analyzer that knows what holds where ACCESS runs, whose indices are POINT. */
Analyzer *analyzer_of_access(Context *ctx, const Access *access, const ExprList *point, const Map *sizes);
/* A <= B, over loops and sizes, wherever ACCESS runs: asks for the set in which that is not so. */
bool access_shows_at_most(Context *ctx, const Access *access, const Map *sizes, const Expr *a, const Expr *b);
/* AN shows that VALUE lies in RANGE. */
bool analyzer_shows_within(Analyzer *an, const Expr *value, Range range);

#endif
