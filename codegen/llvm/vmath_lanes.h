/* Writing formulas over lanes: each function emits one operation, or a few, on values of one float type and of the integers of its width.
   The names are short since they stand in formulas; only the vmath_*.c files include them. */
#ifndef TIRC_CODEGEN_LLVM_VMATH_LANES_H
#define TIRC_CODEGEN_LLVM_VMATH_LANES_H

#include "codegen/llvm/vmath.h"

typedef LLVMValueRef Value;

/* The type of a formula: float32 or float64 in LANES lanes. */
typedef struct {
    FuncGen *gen;
    LLVMTypeRef type, bits; /* the floats; integers of their width */
    int lanes;
    bool wide; /* float64 */
} Lanes;

/* Coefficients, the lowest power first. */
typedef struct {
    int count;
    double terms[20];
} Polynomial;

Lanes lanes_of(FuncGen *gen, LLVMTypeRef type);
/* The same number of lanes as float64. */
Lanes lanes_as_wide(const Lanes *m);

Value real(const Lanes *m, double value);
Value integer(const Lanes *m, int64_t value);
Value add(const Lanes *m, Value a, Value b);
Value sub(const Lanes *m, Value a, Value b);
Value mul(const Lanes *m, Value a, Value b);
Value quotient(const Lanes *m, Value a, Value b);
/* a * b + c, rounded once where the target can. */
Value muladd(const Lanes *m, Value a, Value b, Value c);
/* c - a * b, likewise. */
Value mulsub(const Lanes *m, Value a, Value b, Value c);
Value negative(const Lanes *m, Value a);
Value magnitude(const Lanes *m, Value a);
/* The magnitude of A with the sign of B. */
Value with_sign_of(const Lanes *m, Value a, Value b);
/* A polynomial in X. A long one is a sum of two, its even and odd powers by Horner's rule each, which wait less for themselves. */
Value polynomial(const Lanes *m, const Polynomial *p, Value x);

Value compare(const Lanes *m, LLVMRealPredicate predicate, Value a, double b);
Value choose(const Lanes *m, Value condition, Value a, Value b);
Value both(const Lanes *m, Value a, Value b);
Value either(const Lanes *m, Value a, Value b);
/* X within [LOW, HIGH]; NaN stays. */
Value clamp(const Lanes *m, Value x, double low, double high);
Value at_most(const Lanes *m, Value x, double high);

/* Bits of floats, and integer operations on them. */
Value as_bits(const Lanes *m, Value a);
Value as_real(const Lanes *m, Value bits);
Value bits_add(const Lanes *m, Value a, Value b);
Value bits_sub(const Lanes *m, Value a, Value b);
Value bits_and(const Lanes *m, Value a, int64_t mask);
Value shift_left(const Lanes *m, Value a, int count);
Value shift_right(const Lanes *m, Value a, int count); /* keeps the sign */
int mantissa_bits(const Lanes *m);
/* True where an integer has the bit of MASK set. */
Value has_bit(const Lanes *m, Value bits, int64_t mask);

/* The nearest integer of X * FACTOR, |X * FACTOR| < 2^22 or 2^51, as a float and as an integer. */
typedef struct {
    Value real, bits;
} Rounded;
Rounded round_product(const Lanes *m, Value x, double factor);
/* Integer lanes of small magnitude as floats. */
Value bits_to_real(const Lanes *m, Value bits);
/* 2^N, N an integer of the range of normal exponents. */
Value power_of_two(const Lanes *m, Value n);
/* X * 2^N, rounded once; |N| up to twice the greatest exponent. */
Value scale(const Lanes *m, Value x, Rounded n);
/* The same where 2^N and the result have normal exponents. */
Value scale_normal(const Lanes *m, Value x, Rounded n);
typedef Value ScaleFunction(const Lanes *m, Value x, Rounded n);

/* A sum of two floats of which the second is below the last place of the first. */
typedef struct {
    Value high, low;
} Pair;
/* a + b and a * b exactly, without fused operations; |factors| below 2^500. */
Pair exact_sum(const Lanes *m, Value a, Value b);
Pair exact_product(const Lanes *m, Value a, Value b);

/* USUAL, and where a lane of X is RARE, what FORMULA makes of X, RARE and USUAL: in a branch that is hardly ever taken. For the other lanes it
   is to give the bits of USUAL. */
typedef Value RareFormula(const Lanes *m, Value x, Value rare, Value usual, const void *data);
Value with_rare_lanes(const Lanes *m, Value x, Value rare, Value usual, RareFormula *formula, const void *data);

/* --- Shared parts of the functions --- */
/* e^x, with SCALED for the power of two in it. */
Value exp_within(const Lanes *m, Value x, ScaleFunction *scaled);
/* 2^(n + r), |r| <= 1/2. */
Value exp2_of_parts(const Lanes *m, Rounded n, Value r, ScaleFunction *scaled);
/* x = 2^k (1 + f), 3/4 <= 1 + f < 3/2, x > 0 also subnormal. */
typedef struct {
    Value k, f;
} LogParts;
LogParts log_parts(const Lanes *m, Value x);

Value vmath_exp(const Lanes *m, Value x);
Value vmath_exp2(const Lanes *m, Value x);
Value vmath_exp10(const Lanes *m, Value x);
Value vmath_sigmoid(const Lanes *m, Value x);
Value vmath_tanh(const Lanes *m, Value x);
Value vmath_log(const Lanes *m, Value x);
Value vmath_log2(const Lanes *m, Value x);
Value vmath_log10(const Lanes *m, Value x);
Value vmath_log1p(const Lanes *m, Value x);
Value vmath_pow(const Lanes *m, Value x, Value y);
Value vmath_sin(const Lanes *m, Value x);
Value vmath_cos(const Lanes *m, Value x);
Value vmath_tan(const Lanes *m, Value x);
Value vmath_atan(const Lanes *m, Value x);
Value vmath_erf(const Lanes *m, Value x);

#endif
