/* sin, cos, tan, atan.

   |x| = n pi/2 + r, |r| <= pi/4 (sin and cos of float32: |x| = n pi + r, |r| <= pi/2), with pi/2 in parts of so few digits that n times each of them but the last is exact. Beyond the range where
   this holds the C function is called, lane by lane: there an exact remainder needs hundreds of digits of pi. */
#include "codegen/llvm/vmath_lanes.h"

/* (sin r - r) / r^3 in r^2: on |r| <= pi/2 for float32, error 2^-27, and on |r| <= pi/4 for float64, error 2^-62. */
static const Polynomial sin_half_turn_terms = {4, {-0x1.55554cp-3, 0x1.110edap-7, -0x1.9f70fp-13, 0x1.5dc904p-19}};
static const Polynomial sin_terms = {7,
                                     {-0x1.5555555555555p-3, 0x1.111111111108bp-7, -0x1.a01a01a006d92p-13, 0x1.71de3a401ac6dp-19,
                                      -0x1.ae643d465f38ap-26, 0x1.6114a7f5e6ca7p-33, -0x1.a55de05fe6ba2p-41}};
/* (cos r - 1 + r^2/2) / r^4 in r^2 for float64, error 2^-63. */
static const Polynomial cos_terms = {6,
                                     {0x1.555555555554bp-5, -0x1.6c16c16c15016p-10, 0x1.a01a019c8f3eep-16, -0x1.27e4f7f19d4b2p-22,
                                      0x1.1ee9dbd0d86a6p-29, -0x1.8fa681e385241p-37}};
/* (tan r - r) / r^3 in r^2, error 2^-29. */
static const Polynomial tan_terms = {7,
                                     {0x1.55556p-2, 0x1.110dap-3, 0x1.bad946p-5, 0x1.5cc664p-6, 0x1.62ad1cp-7, 0x1.af6e06p-14,
                                      0x1.1e6b6p-8}};
/* (atan r - r) / r^3 in r^2 on |r| <= tan(pi/8), errors 2^-30 and 2^-59. */
static const Polynomial atan_terms[] = {
    {5, {-0x1.55554ap-2, 0x1.9991e4p-3, -0x1.23b9d6p-3, 0x1.b227aep-4, -0x1.f2f74cp-5}},
    {11,
     {-0x1.555555555553dp-2, 0x1.999999999586dp-3, -0x1.24924922ad6edp-3, 0x1.c71c70e613401p-4, -0x1.745cf8dcacc2cp-4, 0x1.3b11191f75b4cp-4,
      -0x1.10ebb86a779eap-4, 0x1.df0f4dc53386ap-5, -0x1.9cd2cc3bcaa6cp-5, 0x1.37d5d6ce4ab2ep-5, -0x1.256ae1c81b21ep-6}},
};

/* |x| up to this has an exact remainder. */
static double reduction_limit(const Lanes *m)
{
    return m->wide ? 0x1p20 : 0x1p13;
}

typedef struct {
    Value n;
    Pair r;
} Quadrant;

static Quadrant reduce(const Lanes *m, Value size)
{
    static const double parts[2][4] = {{0x1.92p0, 0x1.fb4p-12, 0x1.444p-24, 0x1.68c234p-39}, {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69, 0}};
    const double *part = parts[m->wide];
    Rounded n = round_product(m, size, 0x1.45f306dc9c883p-1);
    Value r = sub(m, size, mul(m, n.real, real(m, part[0])));
    Pair first = exact_sum(m, r, negative(m, mul(m, n.real, real(m, part[1]))));
    Value low = sub(m, first.low, mul(m, n.real, real(m, part[2])));
    if (part[3] != 0) {
        Pair second = exact_sum(m, first.high, low);
        first.high = second.high;
        low = sub(m, second.low, mul(m, n.real, real(m, part[3])));
    }
    Pair sum = exact_sum(m, first.high, low);
    return (Quadrant){n.bits, sum};
}

/* sin(r.high + r.low) = r + (r^3 S + r.low (1 - r^2 / 2)) */
static Value sin_of(const Lanes *m, Pair r, Value z)
{
    Value slope = mulsub(m, z, real(m, 0.5), real(m, 1));
    Value tail = muladd(m, mul(m, r.high, z), polynomial(m, &sin_terms, z), mul(m, r.low, slope));
    return add(m, r.high, tail);
}

/* cos(r.high + r.low) = 1 - z/2 + (z^2 C - r.high r.low), with what rounding 1 - z/2 lost. */
static Value cos_of(const Lanes *m, Pair r, Value z)
{
    Value half = mul(m, z, real(m, 0.5)), most = sub(m, real(m, 1), half);
    Value lost = sub(m, sub(m, real(m, 1), most), half);
    Value tail = mulsub(m, r.high, r.low, mul(m, mul(m, z, z), polynomial(m, &cos_terms, z)));
    return add(m, most, add(m, lost, tail));
}

static Value flip_sign_where(const Lanes *m, Value condition, Value value)
{
    return choose(m, condition, negative(m, value), value);
}

typedef struct {
    const char *name;
} FarWork;

static Value far_lane(FuncGen *gen, Value *args, void *data)
{
    const FarWork *work = data;
    return emit_c_call(gen, work->name, LLVMTypeOf(args[0]), args, 1);
}

static Value by_c_function(const Lanes *m, Value x, Value rare, Value usual, const void *data)
{
    FuncGen *gen = m->gen;
    FarWork work = *(const FarWork *)data;
    if (m->lanes == 1)
        return far_lane(gen, &x, &work);
    Value outer_mask = gen->lane_mask;
    gen->lane_mask = rare;
    Value lanes = emit_each_lane(gen, m->wide ? gen->build->f64 : gen->build->f32, &x, 1, m->lanes, far_lane, &work);
    gen->lane_mask = outer_mask;
    return choose(m, rare, lanes, usual);
}

/* RESULT, but for the lanes of X beyond the range of the reduction: there the C function NAME. */
static Value with_far_lanes(const Lanes *m, Value x, Value result, const char *name)
{
    FarWork work = {m->wide ? name : context_internf(m->gen->ctx, "%sf", name)};
    return with_rare_lanes(m, x, compare(m, LLVMRealOGT, magnitude(m, x), reduction_limit(m)), result, by_c_function, &work);
}

static Value is_negative(const Lanes *m, Value x)
{
    return LLVMBuildICmp(m->gen->builder, LLVMIntSLT, as_bits(m, x), integer(m, 0), "");
}

/* sin(SIZE - turns pi) in float32: pi in parts, as above, but the remainder is one float, whose error is below the last place. */
static Value sin_beside(const Lanes *m, Value size, Value turns)
{
    static const double parts[] = {0x1.92p1, 0x1.fb4p-11, 0x1.444p-23, 0x1.68c234p-38};
    Value r = size;
    for (int i = 0; i < 4; i++)
        r = mulsub(m, turns, real(m, parts[i]), r);
    Value z = mul(m, r, r);
    return muladd(m, mul(m, r, z), polynomial(m, &sin_half_turn_terms, z), r);
}

/* VALUE with the sign of lanes changed where N is odd. */
static Value flip_sign_where_odd(const Lanes *m, Value n, Value value)
{
    Value sign = shift_left(m, n, m->wide ? 63 : 31);
    return as_real(m, LLVMBuildXor(m->gen->builder, as_bits(m, value), sign, ""));
}

static Value narrow_sin(const Lanes *m, Value size)
{
    Rounded n = round_product(m, size, 0x1.45f306dc9c883p-2);
    return flip_sign_where_odd(m, n.bits, sin_beside(m, size, n.real));
}

/* cos x = -sin(x - (n + 1/2) pi), changed in sign where n is odd. */
static Value narrow_cos(const Lanes *m, Value size)
{
    Rounded n = round_product(m, muladd(m, size, real(m, 0x1.45f306dc9c883p-2), real(m, -0.5)), 1);
    return flip_sign_where_odd(m, n.bits, negative(m, sin_beside(m, size, add(m, n.real, real(m, 0.5)))));
}

static Value wide_sin(const Lanes *m, Value size)
{
    Quadrant q = reduce(m, size);
    Value z = mul(m, q.r.high, q.r.high);
    Value result = choose(m, has_bit(m, q.n, 1), cos_of(m, q.r, z), sin_of(m, q.r, z));
    return flip_sign_where(m, has_bit(m, q.n, 2), result);
}

static Value wide_cos(const Lanes *m, Value size)
{
    Quadrant q = reduce(m, size);
    Value z = mul(m, q.r.high, q.r.high);
    Value result = choose(m, has_bit(m, q.n, 1), sin_of(m, q.r, z), cos_of(m, q.r, z));
    return flip_sign_where(m, has_bit(m, bits_add(m, q.n, integer(m, 1)), 2), result);
}

Value vmath_sin(const Lanes *m, Value x)
{
    Value size = magnitude(m, x), result = m->wide ? wide_sin(m, size) : narrow_sin(m, size);
    return with_far_lanes(m, x, flip_sign_where(m, is_negative(m, x), result), "sin");
}

Value vmath_cos(const Lanes *m, Value x)
{
    Value size = magnitude(m, x);
    return with_far_lanes(m, x, m->wide ? wide_cos(m, size) : narrow_cos(m, size), "cos");
}

/* tan r, or -1 / tan r in odd quadrants. */
static Value tan_of(const Lanes *m, Quadrant q)
{
    Value z = mul(m, q.r.high, q.r.high), odd = has_bit(m, q.n, 1);
    if (m->wide) {
        Value s = sin_of(m, q.r, z), c = cos_of(m, q.r, z);
        return quotient(m, choose(m, odd, negative(m, c), s), choose(m, odd, s, c));
    }
    Value tail = muladd(m, mul(m, q.r.high, z), polynomial(m, &tan_terms, z), muladd(m, q.r.low, z, q.r.low));
    Value tangent = add(m, q.r.high, tail);
    return quotient(m, choose(m, odd, real(m, -1), tangent), choose(m, odd, tangent, real(m, 1)));
}

Value vmath_tan(const Lanes *m, Value x)
{
    Value result = tan_of(m, reduce(m, magnitude(m, x)));
    return with_far_lanes(m, x, flip_sign_where(m, is_negative(m, x), result), "tan");
}

/* atan t = base + atan a: a = -1/t, (t - 1) / (t + 1) or t, so that |a| <= tan(pi/8). The base is a pair. */
Value vmath_atan(const Lanes *m, Value x)
{
    Value t = magnitude(m, x), large = compare(m, LLVMRealOGT, t, 0x1.3504f333f9de6p1), middle = compare(m, LLVMRealOGT, t, 0x1.a827999fcef32p-2);
    Value above = choose(m, large, real(m, -1), choose(m, middle, sub(m, t, real(m, 1)), t));
    Value below = choose(m, large, t, choose(m, middle, add(m, t, real(m, 1)), real(m, 1)));
    Value a = quotient(m, above, below), z = mul(m, a, a);
    const double high = m->wide ? 0x1.921fb54442d18p0 : 0x1.921fb6p0, low = m->wide ? 0x1.1a62633145c07p-54 : -0x1.777a5cp-25;
    Value base = choose(m, large, real(m, high), choose(m, middle, real(m, high / 2), real(m, 0)));
    Value base_low = choose(m, large, real(m, low), choose(m, middle, real(m, low / 2), real(m, 0)));
    Value tail = muladd(m, mul(m, a, z), polynomial(m, &atan_terms[m->wide], z), base_low);
    return with_sign_of(m, add(m, base, add(m, a, tail)), x);
}
