/* Single instructions of AVX-512 for what the general formulas of vmath take several operations for. The results have the same bits. */
#ifndef TIRC_CODEGEN_LLVM_VMATH_AVX512_H
#define TIRC_CODEGEN_LLVM_VMATH_AVX512_H

#include "codegen/llvm/vmath_lanes.h"

/* The target has AVX-512, and the lanes of M fill its registers. */
bool avx512_fits(const Lanes *m);
/* X * 2^N, N whole. */
Value avx512_scale(const Lanes *m, Value x, Value n);
/* As log_parts, but where X is not positive and finite. */
LogParts avx512_log_parts(const Lanes *m, Value x);
/* RESULT where X is positive and finite; elsewhere the limits of log, and NaN. */
Value avx512_log_limits(const Lanes *m, Value x, Value result);

#endif
