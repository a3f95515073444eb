/* -MD: prerequisites as a rule for make. */
#ifndef TIRC_DRIVER_DEPFILE_H
#define TIRC_DRIVER_DEPFILE_H

#include "driver/options.h"

/* A rule that says that TARGET (the path of a file; or, with IS_TEXT, targets as make reads them) depends on FILES, followed by an empty rule
   for each of them if PHONY. */
const char *depfile_text(Arena *arena, const char *target, bool is_text, const TextList *files, bool phony);

#endif
