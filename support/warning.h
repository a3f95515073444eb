/* The names of warnings, and which of them a run prints or takes for errors. */
#ifndef TIRC_SUPPORT_WARNING_H
#define TIRC_SUPPORT_WARNING_H

#include <stdbool.h>

typedef enum {
#define X(identifier, name, level, groups, help) WARNING_##identifier,
#include "support/warning.def"
#undef X
    WARNING_COUNT /* also: no warning */
} Warning;

typedef struct {
    bool on[WARNING_COUNT];
    bool error[WARNING_COUNT];     /* an error by its name */
    bool not_error[WARNING_COUNT]; /* -Werror does not count for it */
    bool all_are_errors, none;     /* -Werror, -w */
} WarningSettings;

WarningSettings warning_settings_default(void);

/* The name that options and messages use: "unused-value". */
const char *warning_name(Warning warning);

/* Changes SETTINGS as -WWORD says: NAME, no-NAME, error, no-error, error=NAME or no-error=NAME, where NAME is a warning, a group, or all, extra
   or everything. What comes later wins. False where there is no such name: *WRONG is then the name that was meant, and *NEAR one that is close
   to it, or NULL. */
bool warning_apply(WarningSettings *settings, const char *word, const char **wrong, const char **near);

#endif
