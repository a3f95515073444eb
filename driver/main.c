/* The tirc command; see driver_main. */
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/driver.h"

/* A compilation takes some MB in small pieces and ends soon after. They come from one growing area, of large pages where the system has them: the first
   touch of each small page takes a tenth of the whole time otherwise. */
static void prepare_memory(void)
{
#if defined __GLIBC__ && defined MADV_HUGEPAGE
    enum { AREA = 32 << 20, LARGE_PAGE = 2 << 20, PIECE = 256 << 10 };
    mallopt(M_MMAP_THRESHOLD, AREA);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, AREA);
    char *volatile piece = malloc(PIECE); /* more than there is, so that the area grows; what lies behind the piece is untouched but for a few bytes */
    char *start = piece + PIECE + LARGE_PAGE - ((uintptr_t)(piece + PIECE) & (LARGE_PAGE - 1));
    madvise(start, AREA - LARGE_PAGE, MADV_HUGEPAGE);
    free(piece);
#endif
}

int main(int argc, char **argv)
{
    prepare_memory();
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails with a reason, and what was written aside is removed */
    return driver_main(argc, argv, stdout, stderr);
}
