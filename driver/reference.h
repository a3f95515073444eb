/* The reference of the schedule language, for --help=schedule. */
#ifndef TIRC_DRIVER_REFERENCE_H
#define TIRC_DRIVER_REFERENCE_H

#include <stdio.h>

#include "support/context.h"

/* Prints what is told of the primitive NAME, with an example that runs; NULL: a line for each primitive; "scopes": the storage scopes; "all":
   everything. False after a diagnostic, where there is no such primitive, or where the table lacks a text that is to be printed. */
bool reference_print(Context *ctx, FILE *out, const char *name);

#endif
