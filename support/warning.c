/* Which warnings are on; see warning.h. */
#include "support/warning.h"

#include <assert.h>
#include <string.h>

typedef enum { LEVEL_ON, LEVEL_ALL, LEVEL_EXTRA } WarningLevel;
typedef struct {
    const char *name;
    WarningLevel level;
    const char *groups;
} WarningInfo;

static_assert((int)WARNING_COUNT <= (int)MOST_WARNINGS, "the settings have room for all warnings");

static const WarningInfo infos[WARNING_COUNT] = {
    [WARNING_NONE] = {0},
#define X(identifier, name, level, groups, help) {name, LEVEL_##level, groups},
#include "support/warning.def"
#undef X
};

WarningSettings warning_settings_default(void)
{
    WarningSettings settings = {0};
    for (int i = 1; i < WARNING_COUNT; i++)
        settings.on[i] = infos[i].level == LEVEL_ON;
    return settings;
}

const char *warning_name(Warning warning)
{
    return infos[warning].name;
}

/* NAME is one of the words of GROUPS. */
static bool lists(const char *groups, const char *name)
{
    size_t length = strlen(name);
    for (const char *word = groups; *word; word += strspn(word, " ")) {
        size_t end = strcspn(word, " ");
        if (end == length && !strncmp(word, name, length))
            return true;
        word += end;
    }
    return false;
}

/* -WNAME speaks of the warning INFO. -Wall takes in those that are on anyway: it turns on again what -Wno-NAME turned off. */
static bool is_meant(const WarningInfo *info, const char *name)
{
    if (!strcmp(name, "everything"))
        return true;
    if (!strcmp(name, "all"))
        return info->level <= LEVEL_ALL;
    if (!strcmp(name, "extra"))
        return info->level == LEVEL_EXTRA;
    return !strcmp(info->name, name) || lists(info->groups, name);
}

static void set_one(WarningSettings *settings, Warning warning, bool yes, bool error)
{
    if (!error) {
        settings->on[warning] = yes;
        settings->error[warning] &= yes;
        return;
    }
    settings->on[warning] |= yes;
    settings->error[warning] = yes;
    settings->not_error[warning] = !yes;
}

bool warning_apply(WarningSettings *settings, const char *word, const char **wrong, const char **near)
{
    bool yes = strncmp(word, "no-", 3) != 0;
    const char *name = yes ? word : word + 3;
    bool error = !strncmp(name, "error", 5) && (!name[5] || name[5] == '=');
    if (error && !name[5]) {
        settings->all_are_errors = yes;
        return true;
    }
    name += error ? strlen("error=") : 0;
    bool found = false;
    for (int i = 1; i < WARNING_COUNT; i++)
        if (is_meant(&infos[i], name)) {
            set_one(settings, (Warning)i, yes, error);
            found = true;
        }
    if (found || !strcmp(name, "all") || !strcmp(name, "extra"))
        return true;
    const char *names[WARNING_COUNT + 3] = {"all", "extra", "everything", "error"};
    for (int i = 1; i < WARNING_COUNT; i++)
        names[3 + i] = infos[i].name;
    *wrong = name;
    *near = diag_closest(name, names, WARNING_COUNT + 3);
    return false;
}
