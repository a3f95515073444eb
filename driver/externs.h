/* Extern functions for the reference interpreter. */
#ifndef TIRC_DRIVER_EXTERNS_H
#define TIRC_DRIVER_EXTERNS_H

#include "driver/driver.h"
#include "interp/interp.h"

typedef struct Externs Externs;

/* Makes ready what FUNC of MODULE may call: *EXTERNS is NULL where it calls nothing, or nothing that --load or an import could define.
   False after a diagnostic. The caller closes it. */
bool externs_open(Driver *driver, const Module *module, const Func *func, Externs **externs);
void externs_close(Externs *externs);
/* For InterpExtern.call; DATA is an Externs. */
bool externs_call(void *data, const char *name, const InterpValue *args, int count, InterpValue *result);

#endif
