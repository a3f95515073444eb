/* The roofs of one core: the float32 multiply-add rate, and the rate of a copy in memory. Without an argument it prints the best of some runs.
   With a number of bytes, which the copy reads and writes, it serves the benchmark. Build: cc -O2 -I. bench/peak.c -lm */
#include "support/peak.h"

#include "examples/compare.h"

enum { ROUNDS = 200000 }; /* some milliseconds */

typedef struct {
    Peak peak;
    char *from, *to;
    size_t size;
} Roofs;

/* Seconds of one run: of the multiply-add loop for one operation, of the copy for one byte that is read or written */
static double time_of_peak(const Roofs *roofs)
{
    return 1e-9 / peak_measure(roofs->peak, ROUNDS);
}

static double time_of_copy(const Roofs *roofs)
{
    int repeats = 1 + (int)((4 << 20) / roofs->size);
    double start = seconds();
    for (int i = 0; i < repeats; i++) {
        memcpy(roofs->to, roofs->from, roofs->size);
        __asm__ volatile("" : : "r"(roofs->to) : "memory");
    }
    return (seconds() - start) / repeats / (2.0 * (double)roofs->size);
}

static int serve_roofs(const Roofs *roofs)
{
    char line[64];
    printf("roofs|1|1|0|0|peak|copy\n");
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin) && line[0] != '\n')
        printf("%.9g\n", strcmp(line, "peak\n") == 0 ? time_of_peak(roofs) : time_of_copy(roofs));
    return 0;
}

int main(int argc, char **argv)
{
    Roofs roofs = {.peak = peak_widest()};
    double best = 0;
    if (argc > 1) {
        roofs.size = (size_t)fmax(64, atof(argv[1]) / 2);
        roofs.from = malloc(roofs.size);
        roofs.to = malloc(roofs.size);
        if (!roofs.from || !roofs.to)
            return 1;
        memset(roofs.from, 1, roofs.size);
        memset(roofs.to, 2, roofs.size);
        return serve_roofs(&roofs);
    }
    for (int run = 0; run < 20; run++)
        best = fmax(best, peak_measure(roofs.peak, 2 * ROUNDS));
    printf("peak %.1f GFLOP/s (%s)\n", best, roofs.peak.name);
    return 0;
}
