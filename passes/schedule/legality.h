/* Refusals on the ground of dependences. */
#ifndef TIRC_PASSES_SCHEDULE_LEGALITY_H
#define TIRC_PASSES_SCHEDULE_LEGALITY_H

#include "passes/analysis/dependence.h"
#include "passes/schedule/schedule.h"

/* Refuses the step: the text, then what CONFLICT says, with notes at the two accesses. */
bool refuse_conflict(Schedule *sch, const Conflict *conflict, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Notes at the accesses that CONFLICT is about, one or two. */
void note_conflict(Schedule *sch, const Conflict *conflict);
/* After an edit that changed loops only: the program runs in the order that dependences ask for. OLD_PART, a loop or block, stood in BEFORE
   where NEW_PART stands now. False after a refusal. INNERMOST: as for dependence_reordered. */
bool check_order_is_kept(Schedule *sch, const Func *before, const Stmt *old_part, const Stmt *new_part, const Var *innermost);

/* The loops from the one over OUTERMOST to INNERMOST, each the body of the one before, are to become one loop or block, or to change their
   order. A reduction over some of them whose updates run again there, as for overlapping tiles, starts over with its init each time, and
   that would be lost. Blocks without an init or without a reduce axis on one of the loops pass. False after a refusal. */
bool check_reductions_run_once(Schedule *sch, const TreeNode *innermost, const Var *outermost);

#endif
