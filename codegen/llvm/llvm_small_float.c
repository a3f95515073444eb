/* See llvm_small_float.h. All is done on the bits and with numbers of ordinary size: what a processor does with denormal float32 does not matter. */
#include "codegen/llvm/llvm_small_float.h"

#include <math.h>

#include "ir/small_float.h"

enum { FRACTION_BITS = 23, BIAS = 127 }; /* of float32 */

typedef struct {
    FuncGen *gen;
    LLVMBuilderRef builder;
    const SmallFloat *format;
    int lanes;
    LLVMTypeRef i8, i32, f32;
} Conversion;

static Conversion conversion(FuncGen *gen, DType dtype)
{
    const LlvmBuild *build = gen->build;
    return (Conversion){gen, gen->builder, small_float(dtype), dtype.lanes, llvm_with_lanes(build->i8, dtype.lanes),
                        llvm_with_lanes(build->i32, dtype.lanes), llvm_with_lanes(build->f32, dtype.lanes)};
}

static LLVMValueRef bits_of(const Conversion *c, int64_t value)
{
    return llvm_const_int(c->gen->build, dtype_with_lanes(DTYPE_INT32, c->lanes), value);
}

static LLVMValueRef real_of(const Conversion *c, double value)
{
    return llvm_const_float(c->gen->build, dtype_with_lanes(DTYPE_FLOAT32, c->lanes), value);
}

/* B where A has the relation PREDICATE to CONSTANT, else C. */
static LLVMValueRef choose(const Conversion *c, LLVMIntPredicate predicate, LLVMValueRef a, int64_t constant, LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(c->builder, LLVMBuildICmp(c->builder, predicate, a, bits_of(c, constant), ""), yes, no, "");
}

static LLVMValueRef power_to_float(const Conversion *c, LLVMValueRef bits)
{
    enum { HALF_LEAST = 1 << 22, NAN_BITS = 0x7fc00000 };
    LLVMValueRef result = LLVMBuildShl(c->builder, bits, bits_of(c, FRACTION_BITS), "");
    result = choose(c, LLVMIntEQ, bits, 0, bits_of(c, HALF_LEAST), result); /* 2^-127, a denormal */
    return LLVMBuildBitCast(c->builder, choose(c, LLVMIntEQ, bits, 255, bits_of(c, NAN_BITS), result), c->f32, "");
}

LLVMValueRef emit_small_to_float(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    enum { INFINITY_BITS = 0x7f800000, QUIET = 0x7fc00000 };
    Conversion c = conversion(gen, dtype);
    LLVMBuilderRef builder = c.builder;
    int digits = c.format->fraction_bits, size_bits = c.format->exponent_bits + digits;
    LLVMValueRef bits = LLVMBuildZExt(builder, value, c.i32, "");
    if (c.format->kind == SMALL_POWER)
        return power_to_float(&c, bits);
    LLVMValueRef size = LLVMBuildAnd(builder, bits, bits_of(&c, (1 << size_bits) - 1), "");
    LLVMValueRef sign = LLVMBuildAnd(builder, bits, bits_of(&c, 1 << size_bits), "");
    /* a number with a leading digit: the exponent counts from another bias; one without: so many times the least */
    LLVMValueRef normal = LLVMBuildShl(builder, size, bits_of(&c, FRACTION_BITS - digits), "");
    normal = LLVMBuildAdd(builder, normal, bits_of(&c, (int64_t)(BIAS - c.format->bias) << FRACTION_BITS), "");
    LLVMValueRef least = real_of(&c, ldexp(1, 1 - c.format->bias - digits));
    LLVMValueRef tiny = LLVMBuildFMul(builder, LLVMBuildUIToFP(builder, size, c.f32, ""), least, "");
    LLVMValueRef result = choose(&c, LLVMIntSLT, size, 1 << digits, LLVMBuildBitCast(builder, tiny, c.i32, ""), normal);
    int greatest = small_float_greatest(c.format);
    if (c.format->kind == SMALL_IEEE || c.format->kind == SMALL_NAN)
        result = choose(&c, LLVMIntSGT, size, greatest, bits_of(&c, QUIET), result);
    if (c.format->kind == SMALL_IEEE)
        result = choose(&c, LLVMIntEQ, size, greatest + 1, bits_of(&c, INFINITY_BITS), result);
    result = LLVMBuildOr(builder, result, LLVMBuildShl(builder, sign, bits_of(&c, 31 - size_bits), ""), "");
    if (c.format->kind == SMALL_ONE_NAN) {
        LLVMValueRef pattern = LLVMBuildAnd(builder, bits, bits_of(&c, (2 << size_bits) - 1), "");
        result = choose(&c, LLVMIntEQ, pattern, small_float_nan(c.format), bits_of(&c, QUIET), result);
    }
    return LLVMBuildBitCast(builder, result, c.f32, "");
}

/* BITS of a float32: adding half of the last exponent bit carries into it from 1.5 on. */
static LLVMValueRef float_to_power(const Conversion *c, LLVMValueRef bits)
{
    enum { HALF = 1 << 22, INFINITY_BITS = 0x7f800000 };
    LLVMBuilderRef builder = c->builder;
    LLVMValueRef rounded = LLVMBuildLShr(builder, LLVMBuildAdd(builder, bits, bits_of(c, HALF), ""), bits_of(c, FRACTION_BITS), "");
    rounded = choose(c, LLVMIntSLT, bits, HALF + HALF / 2, bits_of(c, 0), rounded); /* the least is a denormal float32 */
    rounded = choose(c, LLVMIntSLT, bits, 1, bits_of(c, 255), rounded);
    return choose(c, LLVMIntSGE, bits, INFINITY_BITS, bits_of(c, 255), rounded);
}

/* The pattern of a float32 of SIZE bits, not negative and no NaN, with numbers beyond the greatest in their order. Large ones: half of the last
   place, and one less but where the last digit is odd, carry into it. Those below the least with a leading digit: added to a number of which the
   least is the last place, they are rounded to it. */
static LLVMValueRef rounded_size(const Conversion *c, LLVMValueRef size)
{
    LLVMBuilderRef builder = c->builder;
    int digits = c->format->fraction_bits, shift = FRACTION_BITS - digits, least = 1 - c->format->bias;
    LLVMValueRef last = LLVMBuildAnd(builder, LLVMBuildLShr(builder, size, bits_of(c, shift), ""), bits_of(c, 1), "");
    LLVMValueRef carried = LLVMBuildAdd(builder, LLVMBuildAdd(builder, size, last, ""), bits_of(c, (1 << (shift - 1)) - 1), "");
    LLVMValueRef normal = LLVMBuildSub(builder, LLVMBuildLShr(builder, carried, bits_of(c, shift), ""),
                                       bits_of(c, (BIAS - c->format->bias) << digits), "");
    double anchor = ldexp(1, least - digits + FRACTION_BITS);
    LLVMValueRef sum = LLVMBuildFAdd(builder, LLVMBuildBitCast(builder, size, c->f32, ""), real_of(c, anchor), "");
    LLVMValueRef anchor_bits = LLVMBuildBitCast(builder, real_of(c, anchor), c->i32, "");
    LLVMValueRef tiny = LLVMBuildSub(builder, LLVMBuildBitCast(builder, sum, c->i32, ""), anchor_bits, "");
    return choose(c, LLVMIntSLT, size, (int64_t)(least + BIAS) << FRACTION_BITS, tiny, normal);
}

LLVMValueRef emit_float_to_small(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    enum { INFINITY_BITS = 0x7f800000 };
    Conversion c = conversion(gen, dtype);
    LLVMBuilderRef builder = c.builder;
    SmallKind kind = c.format->kind;
    int size_bits = c.format->exponent_bits + c.format->fraction_bits, greatest = small_float_greatest(c.format);
    LLVMValueRef bits = LLVMBuildBitCast(builder, value, c.i32, "");
    if (kind == SMALL_POWER)
        return LLVMBuildTrunc(builder, float_to_power(&c, bits), c.i8, "");
    LLVMValueRef size = LLVMBuildAnd(builder, bits, bits_of(&c, INT32_MAX), "");
    LLVMValueRef sign = LLVMBuildShl(builder, LLVMBuildLShr(builder, bits, bits_of(&c, 31), ""), bits_of(&c, size_bits), "");
    LLVMValueRef rounded = rounded_size(&c, size);
    int beyond = kind == SMALL_FINITE ? greatest : kind == SMALL_IEEE ? greatest + 1 : small_float_nan(c.format);
    rounded = choose(&c, LLVMIntSGT, rounded, greatest, bits_of(&c, beyond), rounded);
    int nan = kind == SMALL_FINITE ? 1 << size_bits : small_float_nan(c.format); /* of a finite type: the other sign */
    rounded = choose(&c, LLVMIntSGT, size, INFINITY_BITS, bits_of(&c, nan), rounded);
    LLVMValueRef with_sign = LLVMBuildXor(builder, rounded, sign, "");
    if (kind == SMALL_ONE_NAN) {
        with_sign = choose(&c, LLVMIntEQ, rounded, 0, rounded, with_sign);
        with_sign = choose(&c, LLVMIntEQ, rounded, nan, rounded, with_sign);
    }
    return LLVMBuildTrunc(builder, with_sign, c.i8, "");
}
