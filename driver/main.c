/* The tirc command; see driver_main. */
#include <signal.h>

#include "driver/driver.h"

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails with a reason, and what was written aside is removed */
    return driver_main(argc, argv, stdout, stderr);
}
