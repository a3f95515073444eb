/* Operations on lanes; see vmath_lanes.h. */
#include "codegen/llvm/vmath_avx512.h"
#include "codegen/llvm/vmath_lanes.h"

Lanes lanes_of(FuncGen *gen, LLVMTypeRef type)
{
    int lanes = llvm_lanes(type);
    bool wide = (lanes > 1 ? LLVMGetElementType(type) : type) == gen->build->f64;
    return (Lanes){gen, type, llvm_with_lanes(wide ? gen->build->i64 : gen->build->i32, lanes), lanes, wide};
}

Lanes lanes_as_wide(const Lanes *m)
{
    return lanes_of(m->gen, llvm_with_lanes(m->gen->build->f64, m->lanes));
}

Value real(const Lanes *m, double value)
{
    return llvm_const_splat(LLVMConstReal(m->wide ? m->gen->build->f64 : m->gen->build->f32, value), m->lanes);
}

Value integer(const Lanes *m, int64_t value)
{
    return llvm_const_splat(LLVMConstInt(m->wide ? m->gen->build->i64 : m->gen->build->i32, (unsigned long long)value, true), m->lanes);
}

Value add(const Lanes *m, Value a, Value b)
{
    return LLVMBuildFAdd(m->gen->builder, a, b, "");
}

Value sub(const Lanes *m, Value a, Value b)
{
    return LLVMBuildFSub(m->gen->builder, a, b, "");
}

Value mul(const Lanes *m, Value a, Value b)
{
    return LLVMBuildFMul(m->gen->builder, a, b, "");
}

Value quotient(const Lanes *m, Value a, Value b)
{
    return LLVMBuildFDiv(m->gen->builder, a, b, "");
}

Value muladd(const Lanes *m, Value a, Value b, Value c)
{
    return emit_intrinsic(m->gen, "llvm.fmuladd", m->type, (Value[]){a, b, c}, 3);
}

Value mulsub(const Lanes *m, Value a, Value b, Value c)
{
    return muladd(m, negative(m, a), b, c);
}

Value negative(const Lanes *m, Value a)
{
    return LLVMBuildFNeg(m->gen->builder, a, "");
}

Value magnitude(const Lanes *m, Value a)
{
    return emit_intrinsic(m->gen, "llvm.fabs", m->type, &a, 1);
}

Value with_sign_of(const Lanes *m, Value a, Value b)
{
    return emit_intrinsic(m->gen, "llvm.copysign", m->type, (Value[]){a, b}, 2);
}

/* The terms FIRST, FIRST + STEP, ... by Horner's rule, in POWER = x^STEP. */
static Value horner(const Lanes *m, const Polynomial *p, int first, int step, Value power)
{
    int last = first + (p->count - 1 - first) / step * step;
    Value sum = real(m, p->terms[last]);
    for (int i = last - step; i >= first; i -= step)
        sum = muladd(m, sum, power, real(m, p->terms[i]));
    return sum;
}

Value polynomial(const Lanes *m, const Polynomial *p, Value x)
{
    if (p->count < 7)
        return horner(m, p, 0, 1, x);
    Value square = mul(m, x, x);
    return muladd(m, horner(m, p, 1, 2, square), x, horner(m, p, 0, 2, square));
}

Value compare(const Lanes *m, LLVMRealPredicate predicate, Value a, double b)
{
    return LLVMBuildFCmp(m->gen->builder, predicate, a, real(m, b), "");
}

Value choose(const Lanes *m, Value condition, Value a, Value b)
{
    return LLVMBuildSelect(m->gen->builder, condition, a, b, "");
}

Value both(const Lanes *m, Value a, Value b)
{
    return LLVMBuildAnd(m->gen->builder, a, b, "");
}

Value either(const Lanes *m, Value a, Value b)
{
    return LLVMBuildOr(m->gen->builder, a, b, "");
}

Value at_most(const Lanes *m, Value x, double high)
{
    return choose(m, compare(m, LLVMRealOGT, x, high), real(m, high), x);
}

Value clamp(const Lanes *m, Value x, double low, double high)
{
    return at_most(m, choose(m, compare(m, LLVMRealOLT, x, low), real(m, low), x), high);
}

Value as_bits(const Lanes *m, Value a)
{
    return LLVMBuildBitCast(m->gen->builder, a, m->bits, "");
}

Value as_real(const Lanes *m, Value bits)
{
    return LLVMBuildBitCast(m->gen->builder, bits, m->type, "");
}

Value bits_add(const Lanes *m, Value a, Value b)
{
    return LLVMBuildAdd(m->gen->builder, a, b, "");
}

Value bits_sub(const Lanes *m, Value a, Value b)
{
    return LLVMBuildSub(m->gen->builder, a, b, "");
}

Value bits_and(const Lanes *m, Value a, int64_t mask)
{
    return LLVMBuildAnd(m->gen->builder, a, integer(m, mask), "");
}

Value shift_left(const Lanes *m, Value a, int count)
{
    return LLVMBuildShl(m->gen->builder, a, integer(m, count), "");
}

Value shift_right(const Lanes *m, Value a, int count)
{
    return LLVMBuildAShr(m->gen->builder, a, integer(m, count), "");
}

int mantissa_bits(const Lanes *m)
{
    return m->wide ? 52 : 23;
}

Value has_bit(const Lanes *m, Value bits, int64_t mask)
{
    return LLVMBuildICmp(m->gen->builder, LLVMIntNE, bits_and(m, bits, mask), integer(m, 0), "");
}

/* Adding 1.5 * 2^mantissa_bits leaves no place for a fraction: the sum holds the integer in its low bits. */
static double shifter(const Lanes *m)
{
    return m->wide ? 0x1.8p52 : 0x1.8p23;
}

Rounded round_product(const Lanes *m, Value x, double factor)
{
    Value shifted = factor == 1 ? add(m, x, real(m, shifter(m))) : muladd(m, x, real(m, factor), real(m, shifter(m)));
    return (Rounded){sub(m, shifted, real(m, shifter(m))), bits_sub(m, as_bits(m, shifted), as_bits(m, real(m, shifter(m))))};
}

Value bits_to_real(const Lanes *m, Value bits)
{
    if (!m->wide)
        return LLVMBuildSIToFP(m->gen->builder, bits, m->type, "");
    Value shifted = as_real(m, bits_add(m, bits, as_bits(m, real(m, shifter(m))))); /* few targets convert integers of 64 bits */
    return sub(m, shifted, real(m, shifter(m)));
}

Value power_of_two(const Lanes *m, Value n)
{
    return as_real(m, shift_left(m, bits_add(m, n, integer(m, m->wide ? 1023 : 127)), mantissa_bits(m)));
}

Value scale_normal(const Lanes *m, Value x, Rounded n)
{
    return mul(m, x, power_of_two(m, n.bits));
}

/* In two steps, of which only the last one may round. */
Value scale(const Lanes *m, Value x, Rounded n)
{
    if (avx512_fits(m))
        return avx512_scale(m, x, n.real);
    Value half = shift_right(m, n.bits, 1);
    return mul(m, mul(m, x, power_of_two(m, half)), power_of_two(m, bits_sub(m, n.bits, half)));
}

/* Knuth's sum: no condition on the magnitudes. */
Pair exact_sum(const Lanes *m, Value a, Value b)
{
    Value sum = add(m, a, b), b_part = sub(m, sum, a), a_part = sub(m, sum, b_part);
    return (Pair){sum, add(m, sub(m, a, a_part), sub(m, b, b_part))};
}

/* The upper half of the digits: products of halves are exact. */
static Value upper_half(const Lanes *m, Value a)
{
    return as_real(m, bits_and(m, as_bits(m, a), m->wide ? -((int64_t)1 << 27) : -((int64_t)1 << 12)));
}

/* Dekker's product. */
Pair exact_product(const Lanes *m, Value a, Value b)
{
    Value product = mul(m, a, b), a_high = upper_half(m, a), b_high = upper_half(m, b);
    Value a_low = sub(m, a, a_high), b_low = sub(m, b, b_high);
    Value rest = sub(m, mul(m, a_high, b_high), product);
    rest = add(m, add(m, rest, mul(m, a_high, b_low)), mul(m, a_low, b_high));
    return (Pair){product, add(m, rest, mul(m, a_low, b_low))};
}

Value with_rare_lanes(const Lanes *m, Value x, Value rare, Value usual, RareFormula *formula, const void *data)
{
    FuncGen *gen = m->gen;
    LLVMBasicBlockRef slow = emit_block(gen, "rare"), join = emit_block(gen, "usual"), fast = LLVMGetInsertBlock(gen->builder);
    Value any = LLVMBuildFreeze(gen->builder, m->lanes > 1 ? emit_any(gen, rare) : rare, ""); /* X may be an element without a value that nobody uses */
    emit_unlikely(gen, LLVMBuildCondBr(gen->builder, any, slow, join));
    emit_at(gen, slow);
    Value corrected = formula(m, x, rare, usual, data);
    LLVMBasicBlockRef slow_end = LLVMGetInsertBlock(gen->builder);
    LLVMBuildBr(gen->builder, join);
    emit_at(gen, join);
    return emit_phi(gen, usual, fast, corrected, slow_end);
}
