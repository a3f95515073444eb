/* Float types of up to 8 bits, as machine learning uses them. Each takes a byte in memory, in its low bits. */
#ifndef TIRC_IR_SMALL_FLOAT_H
#define TIRC_IR_SMALL_FLOAT_H

#include "ir/dtype.h"

/* What the patterns stand for that are no numbers, and what becomes of a value that is too large. */
typedef enum {
    SMALL_IEEE,     /* infinities and NaNs have the greatest exponent */
    SMALL_NAN,      /* "fn": all ones is NaN, there is no infinity; what is too large is NaN */
    SMALL_ONE_NAN,  /* "fnuz": the pattern of -0 is NaN, there is no other, and one zero; what is too large is NaN */
    SMALL_FINITE,   /* "fn" of 6 and 4 bits: all patterns are numbers; what is too large becomes the greatest. A NaN becomes a zero of the other sign */
    SMALL_POWER     /* "fnu": 2^(bits - 127), all ones is NaN; so are 0 and what is negative. Halfway between two is the greater */
} SmallKind;

/* A sign but in SMALL_POWER, then so many bits of a biased exponent and of a fraction. */
typedef struct {
    uint8_t code, exponent_bits, fraction_bits, bias;
    SmallKind kind;
} SmallFloat;

/* The format of T, a vector too; NULL where it is none of these. */
const SmallFloat *small_float(DType t);
/* The pattern of NaN without a sign; -1: there is none. */
int small_float_nan(const SmallFloat *format);
/* The pattern of the greatest number. */
int small_float_greatest(const SmallFloat *format);
/* What BITS stand for; those above the format's own do not count. */
double small_float_value(const SmallFloat *format, uint8_t bits);
/* VALUE, rounded to nearest even. */
uint8_t small_float_bits(const SmallFloat *format, double value);

#endif
