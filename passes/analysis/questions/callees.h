/* Do calls of functions of the program keep to the regions that the blocks around them declare? */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_CALLEES_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_CALLEES_H

#include "passes/analysis/questions/faults.h"

/* FUNC, whose blocks say what calls of functions of MODULE in them touch (see CalleeRegions). FAULTS, where not NULL, gets those calls that
   certainly touch what is not declared, and those not shown to give their callee memory that does not overlap. */
const Func *func_compare_callees(Context *ctx, const Module *module, const Func *func, FaultList *faults);
/* MODULE, of any stage before its regions are complete, as the program that steps and checks work on: all regions complete, and all calls of its own
   functions compared with them. NULL after diagnostics, and for NULL. */
const Module *program_complete(Context *ctx, const Module *module);

#endif
