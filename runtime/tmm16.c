/* tmm16: a jump to the variant that the first call has chosen. Alone in its archive member, so that a program's own tmm16 replaces it. */
#include <stdatomic.h>

#include "tirc_rt.h"
#include "tmm16_variants.h"

static int choose_and_run(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c);
/* Relaxed accesses suffice: threads that choose at once all store the same address of constant code. */
static _Atomic(tirc_tmm16_kernel) chosen = choose_and_run;

static int choose_and_run(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c)
{
    tirc_tmm16_kernel kernel = tirc_tmm16_variant(NULL);
    atomic_store_explicit(&chosen, kernel, memory_order_relaxed);
    return kernel(cc, aa, bb, stride_a, stride_b, stride_c);
}

static int own_tmm16(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed)(cc, aa, bb, stride_a, stride_b, stride_c);
}

int tmm16(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c) __attribute__((alias("own_tmm16")));

int tirc_tmm16_is_own(tirc_tmm16_kernel kernel)
{
    return kernel == own_tmm16 && tirc_tmm16_is_fastest();
}
