/* The table of primitives, made from primitives.def. */
#include <string.h>

#include "passes/schedule/core/schedule.h"

const Primitive schedule_primitives[] = {
#define X(name, signature, result, summary, requires) {#name, primitive_##name, signature, result, summary, requires},
#include "passes/schedule/core/primitives.def"
#undef X
};
const int schedule_primitive_count = sizeof schedule_primitives / sizeof *schedule_primitives;

const Primitive *primitive_find(const char *name)
{
    for (int i = 0; i < schedule_primitive_count; i++)
        if (!strcmp(schedule_primitives[i].name, name))
            return &schedule_primitives[i];
    return NULL;
}
