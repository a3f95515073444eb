/* The variants of the micro-kernel tmm16; see tirc_rt.h. Private to the runtime. Each is defined on its own architecture only. All add in
   the same order, so those that use fused multiply-adds give the same bits. */
#ifndef TIRC_RUNTIME_TMM16_VARIANTS_H
#define TIRC_RUNTIME_TMM16_VARIANTS_H

int tirc_tmm16_avx512(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c);
int tirc_tmm16_avx2(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c);
int tirc_tmm16_neon(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c);
int tirc_tmm16_portable(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c);

/* The variant that tmm16 runs is the fastest one of this processor: no slower one is forced. */
int tirc_tmm16_is_fastest(void);

#endif
