/* The runtime that compiled objects link with: the tmm16 micro-kernel, parallel loops, memory and errors. An object that uses none of these
   needs none of it. Link with libtirc_rt.a; a program with parallel loops also with -fopenmp, unless it brings a launcher of its own
   (tirc_launch_default). A shared library that holds the runtime has a message, an allocator and a launcher of its own. Every function may be
   called from several threads at once, but for the two that replace a part of the runtime. */
#ifndef TIRC_RT_H
#define TIRC_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Errors --- */

/* The bytes of the longest message, its final NUL included; longer ones are cut. */
#define TIRC_ERROR_SIZE 256
/* The message of the last call in this thread that failed; "" when there was none. Valid until the next failing call in this thread. */
const char *tirc_last_error(void);
/* Sets that message, of which it keeps a copy; returns the code that a failing function returns, 1. Called by compiled objects, and by
   launchers that fail. */
int tirc_set_error(const char *message);

/* --- Memory --- */

/* SIZE bytes aligned to ALIGNMENT, a power of two; at least 64 is given. A size of 0 gives a valid block. NULL with a message when there is
   no such memory, which every size beyond PTRDIFF_MAX counts as, and so does a block from a replaced allocator that is not aligned. */
void *tirc_alloc(size_t size, size_t alignment);
/* Frees what tirc_alloc gave; nothing for NULL. */
void tirc_free(void *block);
/* Replaces both for the whole program; NULL for both puts the default (aligned_alloc and free) back. ALLOC gets a size that is a positive
   multiple of the alignment, and may return NULL. Not to be called between an allocation and its release, thus not while compiled code
   runs. */
void tirc_set_allocator(void *(*alloc)(size_t size, size_t alignment), void (*free_block)(void *block));

/* --- Parallel loops --- */

/* A part of a loop: the iterations from BEGIN up to END. 0, or an error code after tirc_set_error. */
typedef int (*tirc_loop_body)(int64_t begin, int64_t end, void *closure);
/* Runs BODY over parts that together make up [BEGIN, END), possibly at once, and waits for all. 0, or the code of the first part in the
   order of the loop that failed; its message is then the caller's tirc_last_error(). An empty range runs nothing. Calls may nest. */
int tirc_parallel_for(int64_t begin, int64_t end, tirc_loop_body body, void *closure);
/* What runs the parts: it calls BODY on disjoint parts that make up [BEGIN, END), from any threads, and returns when all have returned.
   What the parts return it may ignore: the runtime keeps their codes and messages. It returns 0, or a code after tirc_set_error when it
   could not run them. BEGIN is less than END. */
typedef int (*tirc_launcher)(int64_t begin, int64_t end, tirc_loop_body body, void *closure);
/* Replaces the launcher for the whole program; NULL puts the default back. Not while compiled code runs. */
void tirc_set_parallel(tirc_launcher launcher);
/* The default launcher: OpenMP, one part for each thread, nested loops serially. The only function that needs OpenMP: a program that
   defines it itself replaces it at link time and does without. */
int tirc_launch_default(int64_t begin, int64_t end, tirc_loop_body body, void *closure);

/* --- The micro-kernel --- */

/* cc[i * stride_c + j] += sum over k of aa[i * stride_a + k] * bb[j * stride_b + k], for i, j, k from 0 to 15: C += A B^T on tiles of
   16x16. Strides are in elements and may be negative; the rows of aa may overlap each other, and so may those of bb; cc must not overlap
   anything. No alignment beyond that of float is needed; aligned tiles of stride 16 are the fastest. Each sum is added up in the order of
   k, beginning with C. Returns 0. The fastest variant that the processor can run is chosen at the first call; the environment variable
   TIRC_TMM16 (avx512, avx2, neon or portable) forces one, and a value that names none that can run is ignored with a warning on stderr. A
   program may define tmm16 itself: its definition then wins. */
int tmm16(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c);

/* For compiled objects, which may hold the same computation as loops of their own: not 0 when KERNEL, the tmm16 of the program, is the one of
   this library and runs its fastest variant. It comes and goes with that tmm16, so objects refer to it weakly. */
int tirc_tmm16_is_own(int (*kernel)(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c));

/* The variants, for tests and measurements: the one of that name, or NULL when this build or this processor has none. NULL as the name asks
   for the one that tmm16 runs. */
typedef int (*tirc_tmm16_kernel)(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c);
tirc_tmm16_kernel tirc_tmm16_variant(const char *name);
/* The name of the variant that tmm16 runs. */
const char *tirc_tmm16_name(void);

#ifdef __cplusplus
}
#endif

#endif
