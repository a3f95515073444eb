/* The message of the last failure in each thread. */
#include <string.h>

#include "tirc_rt.h"

static _Thread_local char last_error[TIRC_ERROR_SIZE];

const char *tirc_last_error(void)
{
    return last_error;
}

int tirc_set_error(const char *message)
{
    size_t length = strlen(message);
    if (length >= sizeof last_error)
        length = sizeof last_error - 1;
    memmove(last_error, message, length); /* MESSAGE may be part of last_error */
    last_error[length] = 0;
    return 1;
}
