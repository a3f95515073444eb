/* Arithmetic on integers and bools. It wraps, and it is defined everywhere: what LLVM leaves undefined (division by zero, the least integer
   divided by -1, shifts by the width or more) would let it delete code around a mistake.

   Quotients and remainders by 0 are 0. A shift count of the width or more (a negative one counts as huge) shifts everything
   out: 0, or -1 for a negative number shifted right. */
#include "codegen/llvm/llvm_gen.h"
#include "support/bug.h"

/* True when VALUE is one integer constant in all lanes, which becomes *RESULT (sign-extended). */
static bool uniform_constant(LLVMValueRef value, int64_t *result)
{
    int lanes = llvm_lanes(LLVMTypeOf(value));
    if (!LLVMIsConstant(value))
        return false;
    for (int i = 0; i < lanes; i++) {
        LLVMValueRef item = lanes == 1 ? value : LLVMGetAggregateElement(value, (unsigned)i);
        if (!item || !LLVMIsAConstantInt(item))
            return false;
        int64_t number = LLVMConstIntGetSExtValue(item);
        if (i && number != *result)
            return false;
        *result = number;
    }
    return true;
}

/* --- Division --- */

/* True when A / B is defined whatever A is. */
static bool divides_always(DType dtype, LLVMValueRef b)
{
    int64_t constant;
    return uniform_constant(b, &constant) && constant != 0 && !(dtype.code == DT_INT && constant == -1);
}

/* Processors divide vectors of floats, but not of integers. The rounded quotient of two integers of up to 16 bits in float32, or of up to
   32 bits in float64, lies on the same side of every integer as the exact one: it is off by less than 1 / b, and a quotient that is not
   integral is at least that far from the next integer. */
static LLVMValueRef divide_as_floats(FuncGen *gen, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    DType wide = dtype_with_lanes(dtype.bits <= 16 ? DTYPE_FLOAT32 : DTYPE_FLOAT64, dtype.lanes);
    LLVMTypeRef type = llvm_value_type(gen->build, dtype);
    LLVMValueRef quotient = LLVMBuildFDiv(gen->builder, emit_cast(gen, a, dtype, wide), emit_cast(gen, b, dtype, wide), "");
    return dtype.code == DT_INT ? LLVMBuildFPToSI(gen->builder, quotient, type, "") : LLVMBuildFPToUI(gen->builder, quotient, type, "");
}

/* LLVM multiplies by the inverse of a constant instead, which is faster still; but not for bytes, where LLVM 19 makes wrong code of a
   product with a permuted quotient. */
static bool pays_as_floats(DType dtype, LLVMValueRef b)
{
    int64_t constant;
    return dtype.lanes > 1 && dtype.bits <= 32 && (dtype.bits == 8 || !uniform_constant(b, &constant));
}

static LLVMValueRef truncated(FuncGen *gen, bool remainder, DType dtype, LLVMValueRef a, LLVMValueRef b);

/* LLVM 19 makes wrong code of a division of vectors whose divisor is selected from constants: one lane of 0 there, also one that is never
   selected, and it takes all lanes for undefined. */
static LLVMValueRef truncated_lanes(FuncGen *gen, bool remainder, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef result = LLVMGetPoison(llvm_value_type(gen->build, dtype));
    for (int i = 0; i < dtype.lanes; i++) {
        LLVMValueRef lane = llvm_const_int(gen->build, DTYPE_INT32, i);
        LLVMValueRef value = truncated(gen, remainder, dtype_scalar(dtype), LLVMBuildExtractElement(builder, a, lane, ""),
                                       LLVMBuildExtractElement(builder, b, lane, ""));
        result = LLVMBuildInsertElement(builder, result, value, lane, "");
    }
    return result;
}

static LLVMValueRef truncated(FuncGen *gen, bool remainder, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = gen->builder;
    int64_t constant;
    if (pays_as_floats(dtype, b)) {
        LLVMValueRef quotient = divide_as_floats(gen, dtype, a, b);
        return remainder ? LLVMBuildSub(builder, a, LLVMBuildMul(builder, quotient, b, ""), "") : quotient;
    }
    if (dtype.lanes > 1 && !uniform_constant(b, &constant))
        return truncated_lanes(gen, remainder, dtype, a, b);
    if (dtype.code == DT_INT)
        return remainder ? LLVMBuildSRem(builder, a, b, "") : LLVMBuildSDiv(builder, a, b, "");
    return remainder ? LLVMBuildURem(builder, a, b, "") : LLVMBuildUDiv(builder, a, b, "");
}

/* -1 in the lanes where VALUE is negative, else 0. */
static LLVMValueRef sign_mask(FuncGen *gen, DType dtype, LLVMValueRef value)
{
    return LLVMBuildAShr(gen->builder, value, llvm_const_int(gen->build, dtype, dtype.bits - 1), "");
}

/* Floored from truncated: where the remainder r is not 0 and differs in sign from the divisor, q - 1 and r + b. For a positive constant
   divisor that is where r is negative. */
static LLVMValueRef floored(FuncGen *gen, bool remainder, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef rest = truncated(gen, true, dtype, a, b), adjust;
    int64_t constant;
    if (uniform_constant(b, &constant) && constant > 0) {
        adjust = sign_mask(gen, dtype, rest);
    } else {
        LLVMValueRef inexact = LLVMBuildICmp(builder, LLVMIntNE, rest, llvm_const_int(gen->build, dtype, 0), "");
        LLVMValueRef differs = sign_mask(gen, dtype, LLVMBuildXor(builder, rest, b, ""));
        adjust = LLVMBuildAnd(builder, LLVMBuildSExt(builder, inexact, llvm_value_type(gen->build, dtype), ""), differs, "");
    }
    if (remainder)
        return LLVMBuildAdd(builder, rest, LLVMBuildAnd(builder, adjust, b, ""), "");
    return LLVMBuildAdd(builder, truncated(gen, false, dtype, a, b), adjust, "");
}

static int log2_exact(int64_t value)
{
    for (int i = 0; i < 63; i++)
        if (value == INT64_C(1) << i)
            return i;
    return -1;
}

typedef LLVMValueRef (*Division)(FuncGen *gen, bool remainder, DType dtype, LLVMValueRef a, LLVMValueRef b);

/* The DIVISION for any divisor. For 0 and -1 the result is computed without it: the quotient is -a & b (which is 0 or -a), the remainder 0.
   In their place the divisor becomes 2, not 1: LLVM's X86 back end moves a selected 1, being neutral, behind the division of a vector,
   which then traps. */
static LLVMValueRef divide_guarded(FuncGen *gen, Division division, bool remainder, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef zero = llvm_const_int(gen->build, dtype, 0), one = llvm_const_int(gen->build, dtype, 1),
                 two = llvm_const_int(gen->build, dtype, 2);
    bool is_signed = dtype.code == DT_INT;
    LLVMValueRef special = is_signed ? LLVMBuildICmp(builder, LLVMIntULT, LLVMBuildAdd(builder, b, one, ""), two, "")
                                     : LLVMBuildICmp(builder, LLVMIntEQ, b, zero, "");
    LLVMValueRef divisor = LLVMBuildSelect(builder, special, two, b, "divisor");
    LLVMValueRef result = division(gen, remainder, dtype, a, divisor);
    LLVMValueRef special_result = remainder || !is_signed ? zero : LLVMBuildAnd(builder, LLVMBuildNeg(builder, a, ""), b, "");
    return LLVMBuildSelect(builder, special, special_result, result, "");
}

static LLVMValueRef divide(FuncGen *gen, ExprKind kind, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    bool remainder = kind == EXPR_MOD || kind == EXPR_FLOORMOD, floor = kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD;
    int64_t constant;
    int shift = floor && dtype.code == DT_INT && uniform_constant(b, &constant) ? log2_exact(constant) : -1;
    if (shift >= 0 && remainder)
        return LLVMBuildAnd(gen->builder, a, llvm_const_int(gen->build, dtype, constant - 1), "");
    if (shift >= 0)
        return LLVMBuildAShr(gen->builder, a, llvm_const_int(gen->build, dtype, shift), "");
    Division division = floor && dtype.code == DT_INT ? floored : truncated;
    return divides_always(dtype, b) ? division(gen, remainder, dtype, a, b) : divide_guarded(gen, division, remainder, dtype, a, b);
}

/* --- Shifts --- */

LLVMValueRef emit_shift(FuncGen *gen, bool left, DType dtype, LLVMValueRef value, LLVMValueRef count)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef width = llvm_const_int(gen->build, dtype, dtype.bits), last = llvm_const_int(gen->build, dtype, dtype.bits - 1);
    LLVMValueRef fits = LLVMBuildICmp(builder, LLVMIntULT, count, width, "");
    LLVMValueRef bounded = LLVMBuildSelect(builder, fits, count, last, "");
    if (!left && dtype.code == DT_INT)
        return LLVMBuildAShr(builder, value, bounded, "");
    LLVMValueRef shifted = left ? LLVMBuildShl(builder, value, bounded, "") : LLVMBuildLShr(builder, value, bounded, "");
    return LLVMBuildSelect(builder, fits, shifted, llvm_const_int(gen->build, dtype, 0), "");
}

/* --- Powers --- */

/* BASE to a POWER that is not negative, by squaring. */
static LLVMValueRef power_loop(FuncGen *gen, DType dtype, LLVMValueRef base, LLVMValueRef power)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef zero = llvm_const_int(gen->build, dtype, 0), one = llvm_const_int(gen->build, dtype, 1);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), loop = emit_block(gen, "power"), done = emit_block(gen, "power.done");
    power = LLVMBuildFreeze(builder, power, ""); /* it may come from an element without a value that nobody uses */
    emit_jump(gen, loop);
    emit_at(gen, loop);
    LLVMValueRef result = LLVMBuildPhi(builder, LLVMTypeOf(base), ""), square = LLVMBuildPhi(builder, LLVMTypeOf(base), "");
    LLVMValueRef rest = LLVMBuildPhi(builder, LLVMTypeOf(base), "");
    LLVMValueRef odd = LLVMBuildICmp(builder, LLVMIntNE, LLVMBuildAnd(builder, rest, one, ""), zero, "");
    LLVMValueRef next_result = LLVMBuildMul(builder, result, LLVMBuildSelect(builder, odd, square, one, ""), "");
    LLVMValueRef next_square = LLVMBuildMul(builder, square, square, ""), next_rest = LLVMBuildLShr(builder, rest, one, "");
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntNE, next_rest, zero, ""), loop, done);
    LLVMAddIncoming(result, (LLVMValueRef[]){one, next_result}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMAddIncoming(square, (LLVMValueRef[]){base, next_square}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMAddIncoming(rest, (LLVMValueRef[]){power, next_rest}, (LLVMBasicBlockRef[]){before, loop}, 2);
    emit_at(gen, done);
    return next_result;
}

/* Negative powers give 0, but for the bases 1 and -1, whose powers depend on the last bit of the exponent only. */
LLVMValueRef emit_int_power(FuncGen *gen, DType dtype, LLVMValueRef base, LLVMValueRef power)
{
    if (dtype.code != DT_INT)
        return power_loop(gen, dtype, base, power);
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef zero = llvm_const_int(gen->build, dtype, 0), one = llvm_const_int(gen->build, dtype, 1);
    LLVMValueRef negative = LLVMBuildICmp(builder, LLVMIntSLT, power, zero, "");
    LLVMValueRef result =
        power_loop(gen, dtype, base, LLVMBuildSelect(builder, negative, LLVMBuildAnd(builder, power, one, ""), power, ""));
    LLVMValueRef is_unit =
        LLVMBuildICmp(builder, LLVMIntULE, LLVMBuildAdd(builder, base, one, ""), llvm_const_int(gen->build, dtype, 2), "");
    LLVMValueRef is_nonzero = LLVMBuildICmp(builder, LLVMIntNE, base, zero, "");
    LLVMValueRef vanishes = LLVMBuildAnd(builder, negative, LLVMBuildNot(builder, LLVMBuildAnd(builder, is_unit, is_nonzero, ""), ""), "");
    return LLVMBuildSelect(builder, vanishes, zero, result, "");
}

/* --- Comparison and the rest --- */

static LLVMIntPredicate predicate(ExprKind kind, bool is_signed)
{
    switch (kind) {
    case EXPR_EQ: return LLVMIntEQ;
    case EXPR_NE: return LLVMIntNE;
    case EXPR_LT: return is_signed ? LLVMIntSLT : LLVMIntULT;
    case EXPR_LE: return is_signed ? LLVMIntSLE : LLVMIntULE;
    case EXPR_GT: return is_signed ? LLVMIntSGT : LLVMIntUGT;
    default: return is_signed ? LLVMIntSGE : LLVMIntUGE;
    }
}

/* Bools compute as 0 and 1 with "not 0" taken of the result. */
static LLVMValueRef bool_binary(FuncGen *gen, ExprKind kind, LLVMValueRef a, LLVMValueRef b)
{
    switch (kind) {
    case EXPR_ADD:
    case EXPR_MAX: return LLVMBuildOr(gen->builder, a, b, "");
    case EXPR_SUB: return LLVMBuildXor(gen->builder, a, b, "");
    case EXPR_MUL:
    case EXPR_MIN: return LLVMBuildAnd(gen->builder, a, b, "");
    case EXPR_DIV:
    case EXPR_FLOORDIV: return a;
    default: return LLVMConstNull(LLVMTypeOf(a));
    }
}

LLVMValueRef emit_int_binary(FuncGen *gen, ExprKind kind, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    bool is_signed = dtype.code == DT_INT;
    if (kind >= EXPR_EQ && kind <= EXPR_GE)
        return LLVMBuildICmp(gen->builder, predicate(kind, is_signed), a, b, "");
    if (dtype.code == DT_BOOL)
        return bool_binary(gen, kind, a, b);
    switch (kind) {
    case EXPR_ADD: return LLVMBuildAdd(gen->builder, a, b, "");
    case EXPR_SUB: return LLVMBuildSub(gen->builder, a, b, "");
    case EXPR_MUL: return LLVMBuildMul(gen->builder, a, b, "");
    case EXPR_DIV:
    case EXPR_MOD:
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return divide(gen, kind, dtype, a, b);
    case EXPR_MIN: return LLVMBuildSelect(gen->builder, LLVMBuildICmp(gen->builder, predicate(EXPR_LT, is_signed), a, b, ""), a, b, "");
    case EXPR_MAX: return LLVMBuildSelect(gen->builder, LLVMBuildICmp(gen->builder, predicate(EXPR_GT, is_signed), a, b, ""), a, b, "");
    default: BUG("not a binary operation: %s", expr_kind_info(kind)->name);
    }
}
