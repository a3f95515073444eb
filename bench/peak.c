/* Prints the float32 multiply-add rate of one core: the best of some runs. Build: cc -O2 -I. bench/peak.c -lm */
#include "support/peak.h"

#include <stdio.h>

int main(void)
{
    Peak peak = peak_widest();
    double best = 0;
    for (int run = 0; run < 20; run++)
        best = fmax(best, peak_measure(peak, 400000));
    printf("peak %.1f GFLOP/s (%s)\n", best, peak.name);
    return 0;
}
