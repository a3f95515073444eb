/* Refusals on the ground of dependences. */
#ifndef TIRC_PASSES_SCHEDULE_CHECK_LEGALITY_H
#define TIRC_PASSES_SCHEDULE_CHECK_LEGALITY_H

#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/core/schedule.h"

/* Refuses the step: the text, then the witness or the reason of ANSWER, with notes at the accesses that it is about. */
bool refuse_by_answer(Schedule *sch, Answer answer, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "would" where ANSWER refutes, "may" where it is not known. */
const char *would_or_may(Answer answer);
/* Notes at the accesses that ANSWER is about, one or two. */
void note_accesses(Schedule *sch, Answer answer);
/* After an edit that changed loops only: the program runs in the order that dependences ask for. OLD_PART, a loop or block, stood in BEFORE
   where NEW_PART stands now. False after a refusal. INNERMOST: as for dependence_order_kept. */
bool check_order_is_kept(Schedule *sch, const Func *before, const Stmt *old_part, const Stmt *new_part, const Var *innermost);

/* No instance of BLOCK, which has an init, runs again in the loops from the one over OUTERMOST inwards, as for overlapping tiles: it starts over
   with its init each time, which one init in front of the loops would not do. False after a refusal. */
bool check_updates_run_once(Schedule *sch, const BlockStmt *block, const Var *outermost);
/* The loops from the one over OUTERMOST to INNERMOST, each the body of the one before, are to become one loop, or to change their order:
   check_updates_run_once for each block that reduces over some of them. Others keep their init with each of their instances. */
bool check_reductions_run_once(Schedule *sch, const TreeNode *innermost, const Var *outermost);

#endif
