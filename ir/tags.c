/* See tags.h. */
#include "ir/tags.h"

#include <string.h>

#include "support/diag.h"

#define COUNT(names) ((int)(sizeof(names) / sizeof *(names)))

/* Kinds of memory, each with any tag behind it. */
static const char *const kinds[] = {"global", "shared", "warp", "local"};
static const char *const axes[] = {"blockIdx.x",  "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y",
                                   "threadIdx.z", "vthread.x",  "vthread.y",  "vthread.z",   "vthread"};

static bool holds(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

bool storage_scope_is_known(const char *scope)
{
    static const char *const whole[] = {"",
                                        "wmma.matrix_a",
                                        "wmma.matrix_b",
                                        "wmma.accumulator",
                                        "m16n8k8.matrixA",
                                        "m16n8k8.matrixB",
                                        "m16n8k8.matrixC",
                                        "amx.tmm"};
    for (int i = 0; i < COUNT(kinds); i++)
        if (!strncmp(scope, kinds[i], strlen(kinds[i])))
            return true;
    return holds(whole, COUNT(whole), scope);
}

const char *storage_scope_near(const char *scope)
{
    return diag_closest(scope, kinds, COUNT(kinds));
}

bool thread_axis_is_known(const char *thread)
{
    return holds(axes, COUNT(axes), thread);
}

const char *thread_axis_near(const char *thread)
{
    return diag_closest(thread, axes, COUNT(axes));
}
