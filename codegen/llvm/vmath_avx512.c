/* See vmath_avx512.h. The intrinsics exist for one register: wider vectors are taken apart and put together again. */
#include "codegen/llvm/llvm_registers.h"
#include "codegen/llvm/vmath_avx512.h"

enum { REGISTER_BYTES = 64, CURRENT_ROUNDING = 4 };
enum { MANTISSA_FROM_THREE_QUARTERS = 3 };
/* What vfixupimm makes of each class of its source, four bits each from the lowest: quiet NaN: itself; signaling NaN: quiet; 0: -infinity;
   1: the result; -infinity: NaN; infinity: itself; negative: NaN; positive: the result. */
enum { LOG_LIMITS = 0x03530421 };

static int piece_lanes(const Lanes *m)
{
    return REGISTER_BYTES / (m->wide ? 8 : 4);
}

bool avx512_fits(const Lanes *m)
{
    return m->lanes % piece_lanes(m) == 0 && m->gen->build->target.vector_bytes == REGISTER_BYTES;
}

/* Lanes FIRST.. of VECTOR, one register full. */
static Value piece(const Lanes *m, Value vector, int first)
{
    int picks[16], count = piece_lanes(m);
    for (int i = 0; i < count; i++)
        picks[i] = first + i;
    return count == m->lanes ? vector : emit_shuffle(m->gen, vector, NULL, picks, count);
}

/* The pieces, WIDTH lanes each, end to end. */
static Value joined(const Lanes *m, Value *pieces, int count, int width)
{
    if (count == 1)
        return pieces[0];
    int half = count / 2, left = half * width, right = (count - half) * width;
    Value a = joined(m, pieces, half, width), b = joined(m, pieces + half, count - half, width);
    int *same = ARENA_ARRAY(m->gen->ctx->arena, int, left + right), *picks = ARENA_ARRAY(m->gen->ctx->arena, int, left + right);
    for (int i = 0; i < left + right; i++) {
        same[i] = i < left ? i : -1;
        picks[i] = i < left ? i : right + i - left;
    }
    /* both operands of a shuffle have one length: the shorter one, on the left, is made as long as the other */
    if (left < right)
        a = emit_shuffle(m->gen, a, NULL, same, right);
    return emit_shuffle(m->gen, a, b, picks, left + right);
}

typedef Value (*PieceFunction)(const Lanes *m, const Value *args, LLVMTypeRef type);

/* FUNCTION on each register of the vectors A and B (which may be NULL). */
static Value for_each_piece(const Lanes *m, Value a, Value b, PieceFunction function)
{
    int width = piece_lanes(m), count = m->lanes / width;
    LLVMTypeRef type = llvm_with_lanes(LLVMGetElementType(m->type), width);
    Value *pieces = ARENA_ARRAY(m->gen->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        pieces[i] = function(m, (Value[]){piece(m, a, i * width), b ? piece(m, b, i * width) : NULL}, type);
    return joined(m, pieces, count, width);
}

static Value i32(const Lanes *m, int value)
{
    return LLVMConstInt(m->gen->build->i32, (unsigned)value, false);
}

static Value all_lanes(const Lanes *m)
{
    return LLVMConstAllOnes(LLVMIntTypeInContext(m->gen->build->llvm, (unsigned)piece_lanes(m)));
}

static Value call(const Lanes *m, const char *name, Value *args, int count)
{
    return emit_intrinsic(m->gen, context_internf(m->gen->ctx, "llvm.x86.avx512.mask.%s.%s.512", name, m->wide ? "pd" : "ps"), NULL, args, count);
}

static Value scale_piece(const Lanes *m, const Value *args, LLVMTypeRef type)
{
    return call(m, "scalef", (Value[]){args[0], args[1], LLVMGetUndef(type), all_lanes(m), i32(m, CURRENT_ROUNDING)}, 5);
}

Value avx512_scale(const Lanes *m, Value x, Value n)
{
    return for_each_piece(m, x, n, scale_piece);
}

static Value exponent_piece(const Lanes *m, const Value *args, LLVMTypeRef type)
{
    return call(m, "getexp", (Value[]){args[0], LLVMGetUndef(type), all_lanes(m), i32(m, CURRENT_ROUNDING)}, 4);
}

static Value mantissa_piece(const Lanes *m, const Value *args, LLVMTypeRef type)
{
    Value interval = i32(m, MANTISSA_FROM_THREE_QUARTERS);
    return call(m, "getmant", (Value[]){args[0], interval, LLVMGetUndef(type), all_lanes(m), i32(m, CURRENT_ROUNDING)}, 5);
}

/* The exponent of the mantissa is -1 or 0: k counts from the mantissa's own. */
LogParts avx512_log_parts(const Lanes *m, Value x)
{
    Value mantissa = for_each_piece(m, x, NULL, mantissa_piece);
    Value k = sub(m, for_each_piece(m, x, NULL, exponent_piece), for_each_piece(m, mantissa, NULL, exponent_piece));
    return (LogParts){k, sub(m, mantissa, real(m, 1))};
}

static Value limits_piece(const Lanes *m, const Value *args, LLVMTypeRef type)
{
    (void)type;
    LLVMTypeRef element = m->wide ? m->gen->build->i64 : m->gen->build->i32;
    Value table = llvm_const_splat(LLVMConstInt(element, LOG_LIMITS, false), piece_lanes(m));
    return call(m, "fixupimm", (Value[]){args[1], args[0], table, i32(m, 0), all_lanes(m), i32(m, CURRENT_ROUNDING)}, 6);
}

Value avx512_log_limits(const Lanes *m, Value x, Value result)
{
    return for_each_piece(m, x, result, limits_piece);
}
