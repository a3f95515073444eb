/* The names of warnings, and which of them a run prints or takes for errors. Only files that warn include it, so that a new row compiles few
   files anew. */
#ifndef TIRC_SUPPORT_WARNING_H
#define TIRC_SUPPORT_WARNING_H

#include "support/diag.h"

enum {
    WARNING_NONE = NO_WARNING,
#define X(identifier, name, level, groups, help) WARNING_##identifier,
#include "support/warning.def"
#undef X
    WARNING_COUNT
};

/* The name that options and messages use: "unused-value"; NULL for NO_WARNING. */
const char *warning_name(Warning warning);

/* Changes SETTINGS as -WWORD says: NAME, no-NAME, error, no-error, error=NAME or no-error=NAME, where NAME is a warning, a group, or all, extra
   or everything. What comes later wins. False where there is no such name: *WRONG is then the name that was meant, and *NEAR one that is close
   to it, or NULL. */
bool warning_apply(WarningSettings *settings, const char *word, const char **wrong, const char **near);

#endif
