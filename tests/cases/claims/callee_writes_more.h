/* Made by tirc. Buffers are row major and compact, aligned to their elements, and must not overlap, where nothing else is said.
   float16 and bfloat16 travel as the bits in a uint16_t, floats of 8 bits and less as those in a uint8_t, bool as a uint8_t (0 or 1). tirc_last_error() is in tirc_rt.h. */
#ifndef TIRC_MODULE_H
#define TIRC_MODULE_H

#include <stdint.h>

#ifndef TIRC_RESTRICT
#ifdef __cplusplus
#define TIRC_RESTRICT __restrict
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
#define TIRC_RESTRICT restrict
#elif defined __GNUC__
#define TIRC_RESTRICT __restrict
#else
#define TIRC_RESTRICT
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* tir_main
     A: int32[8], read
     B: int32[8], read and written
   Returns 0, or another code with a message in tirc_last_error(). */
int tir_main(const int32_t *TIRC_RESTRICT A, int32_t *TIRC_RESTRICT B);

#ifdef __cplusplus
}
#endif

#endif
