/* Which functions of a program a call of one of them runs. */
#ifndef TIRC_DRIVER_CALLEES_H
#define TIRC_DRIVER_CALLEES_H

#include "ir/stmt.h"

/* Adds FUNC of MODULE to REACHED, and all functions of MODULE that it calls, directly or through others. */
void callees_reach(Context *ctx, const Module *module, const Func *func, Map *reached);

#endif
