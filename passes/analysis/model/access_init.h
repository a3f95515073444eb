/* When the accesses of an init run: once for each point, whatever the loops and conditions around it say of the reduction. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_ACCESS_INIT_H
#define TIRC_PASSES_ANALYSIS_MODEL_ACCESS_INIT_H

#include "passes/analysis/model/access_point.h"

/* ACCESS belongs to an init of a reduction over LOOP, around it, and may come before all of its iterations: where some of them has no update the
   init is not part of the first. */
bool access_runs_without(const Access *access, const Frame *loop);
/* ACCESS belongs to an init, and what the loops and conditions around it say of the reduction need not hold where it runs. */
bool access_may_lack_updates(const Access *access);
/* What is reduced over says something of the points for which the init that ACCESS belongs to runs: how. NULL: no loop that they are found by
   reduces, unless it certainly runs, and no condition is about both. */
const char *access_points_depend(Context *ctx, const Access *access);
/* What certainly holds where ACCESS runs, in the same terms: an init may run where what is said of its reduction does not hold. */
ExprList access_known_conditions(Context *ctx, const Access *access);

#endif
