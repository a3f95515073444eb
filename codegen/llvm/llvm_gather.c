/* Loads and stores of elements at unrelated addresses.

   Gathers go in pieces whose lanes are a power of two and fit one register: where LLVM has to widen a gather by itself, it may add one
   without any lane, for which LLVM 19 picks registers that the instruction does not allow. */
#include <string.h>

#include "codegen/llvm/llvm_gen.h"

enum { GATHER_LANES = 16 };

LLVMValueRef emit_conditional_load(FuncGen *gen, LLVMTypeRef type, LLVMValueRef pointer, unsigned alignment, LLVMValueRef condition)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(gen->builder), load = NULL, done = NULL;
    if (condition) {
        load = emit_block(gen, "load");
        done = emit_block(gen, "load.done");
        LLVMBuildCondBr(gen->builder, condition, load, done);
        emit_at(gen, load);
    }
    LLVMValueRef value = LLVMBuildLoad2(gen->builder, type, pointer, "");
    LLVMSetAlignment(value, alignment);
    if (!condition)
        return value;
    emit_jump(gen, done);
    emit_at(gen, done);
    return emit_phi(gen, LLVMConstNull(type), before, value, load);
}

/* LLVM 19 cannot select masked accesses of half on some processors, but those of 16-bit integers. */
static LLVMTypeRef type_in_masked_access(FuncGen *gen, LLVMTypeRef type)
{
    return LLVMGetElementType(type) == gen->build->half ? LLVMVectorType(gen->build->i16, (unsigned)llvm_lanes(type)) : type;
}

LLVMValueRef emit_masked_load(FuncGen *gen, LLVMTypeRef type, LLVMValueRef pointer, unsigned alignment, LLVMValueRef mask)
{
    LLVMTypeRef own = type_in_masked_access(gen, type);
    LLVMValueRef args[] = {pointer, LLVMConstInt(gen->build->i32, alignment, false), mask, LLVMConstNull(own)};
    return LLVMBuildBitCast(gen->builder, emit_intrinsic2(gen, "llvm.masked.load", own, gen->build->pointer, args, 4), type, "");
}

void emit_masked_store(FuncGen *gen, LLVMValueRef value, LLVMValueRef pointer, unsigned alignment, LLVMValueRef mask)
{
    LLVMTypeRef own = type_in_masked_access(gen, LLVMTypeOf(value));
    LLVMValueRef args[] = {LLVMBuildBitCast(gen->builder, value, own, ""), pointer, LLVMConstInt(gen->build->i32, alignment, false), mask};
    emit_intrinsic2(gen, "llvm.masked.store", own, gen->build->pointer, args, 4);
}

/* MASK, or all LANES. */
static LLVMValueRef full_mask(FuncGen *gen, LLVMValueRef mask, int lanes)
{
    return mask ? mask : llvm_const_splat(LLVMConstInt(gen->build->i1, 1, false), lanes);
}

static LLVMValueRef slice(FuncGen *gen, LLVMValueRef vector, int first, int count)
{
    int picks[GATHER_LANES];
    if (!vector || count == llvm_lanes(LLVMTypeOf(vector)))
        return vector;
    for (int i = 0; i < count; i++)
        picks[i] = first + i;
    return emit_shuffle(gen, vector, NULL, picks, count);
}

/* TARGET with the lanes from FIRST on taken from PIECE. */
static LLVMValueRef place(FuncGen *gen, LLVMValueRef target, LLVMValueRef piece, int first)
{
    int lanes = llvm_lanes(LLVMTypeOf(target)), count = llvm_lanes(LLVMTypeOf(piece)), *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes);
    if (lanes == count)
        return piece;
    for (int i = 0; i < lanes; i++)
        picks[i] = i < count ? i : -1;
    LLVMValueRef widened = emit_shuffle(gen, piece, NULL, picks, lanes);
    for (int i = 0; i < lanes; i++)
        picks[i] = i >= first && i < first + count ? lanes + i - first : i;
    return emit_shuffle(gen, target, widened, picks, lanes);
}

/* --- Instructions with offsets of 32 bits --- */

/* LLVM's own gather takes pointers. Its passes add loop invariants to them, after which offsets have 64 bits, and twice the instructions
   are needed. The intrinsics of the target keep a scalar base. */
static bool has_short_offsets(const FuncGen *gen, const ScatteredAccess *access)
{
    static const char *const needed[] = {"avx", "avx2", "avx512f", "avx512vl"};
    const LlvmTarget *target = &gen->build->target;
    if (strcmp(target->arch, "x86_64") || LLVMGetElementType(LLVMTypeOf(access->offsets)) != gen->build->i32)
        return false;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (llvm_target_sign(target, needed[i]) != '+')
            return false;
    return true;
}

/* The end of the name of the intrinsic for COUNT lanes of ELEMENT, NULL where there is none. */
static const char *short_form(const FuncGen *gen, LLVMTypeRef element, int count, bool is_gather)
{
    const LlvmBuild *build = gen->build;
    static const char *const names[4][3] = {{"siv4.sf", "siv8.sf", "dps.512"}, {"siv4.si", "siv8.si", "dpi.512"},
                                            {"siv2.df", "siv4.df", "dpd.512"}, {"siv2.di", "siv4.di", "dpq.512"}};
    int row = element == build->f32 ? 0 : element == build->i32 ? 1 : element == build->f64 ? 2 : element == build->i64 ? 3 : -1;
    int bits = row < 0 ? 0 : count * (row < 2 ? 32 : 64);
    bool is_short = bits == 128 || bits == 256;
    if ((!is_short && bits != 512) || (row >= 2 && bits == 128))
        return NULL;
    const char *place = is_gather ? (is_short ? "gather3" : "gather.") : is_short ? "scatter" : "scatter.";
    return context_internf(gen->ctx, "llvm.x86.avx512.mask.%s%s", place, names[row][bits == 128 ? 0 : bits == 256 ? 1 : 2]);
}

/* The size of the unit if an instruction can scale by it, else 0. */
static unsigned scale_of(const FuncGen *gen, LLVMTypeRef unit)
{
    const LlvmBuild *build = gen->build;
    return unit == build->i8 ? 1 : unit == build->f32 || unit == build->i32 ? 4 : unit == build->f64 || unit == build->i64 ? 8 : 0;
}

/* --- Pieces --- */

static LLVMValueRef pointers_of(FuncGen *gen, const ScatteredAccess *access)
{
    return LLVMBuildGEP2(gen->builder, access->unit, access->pointer, (LLVMValueRef *)&access->offsets, 1, "");
}

/* The part of ACCESS for the COUNT lanes from FIRST on. */
static ScatteredAccess part(FuncGen *gen, const ScatteredAccess *access, int first, int count)
{
    ScatteredAccess result = *access;
    result.offsets = slice(gen, access->offsets, first, count);
    result.mask = slice(gen, access->mask, first, count);
    return result;
}

static LLVMValueRef gather_piece(FuncGen *gen, LLVMTypeRef element, const ScatteredAccess *access, int count)
{
    LLVMTypeRef type = LLVMVectorType(element, (unsigned)count);
    LLVMValueRef mask = full_mask(gen, access->mask, count);
    unsigned scale = scale_of(gen, access->unit);
    const char *name = scale && has_short_offsets(gen, access) ? short_form(gen, element, count, true) : NULL;
    if (name) {
        LLVMValueRef args[] = {LLVMConstNull(type), access->pointer, access->offsets, mask, LLVMConstInt(gen->build->i32, scale, false)};
        return emit_intrinsic(gen, name, NULL, args, 5);
    }
    LLVMValueRef pointers = pointers_of(gen, access);
    LLVMValueRef args[] = {pointers, LLVMConstInt(gen->build->i32, access->alignment, false), mask, LLVMConstNull(type)};
    return emit_intrinsic2(gen, "llvm.masked.gather", type, LLVMTypeOf(pointers), args, 4);
}

static LLVMValueRef load_lane(FuncGen *gen, LLVMTypeRef element, const ScatteredAccess *access, int lane)
{
    LLVMValueRef condition = access->mask ? emit_lane(gen, access->mask, lane) : NULL;
    return emit_conditional_load(gen, element, emit_lane(gen, pointers_of(gen, access), lane), access->alignment, condition);
}

/* The lanes of the next piece of LEFT lanes: a power of two that one register holds. */
static int piece_lanes(LLVMTypeRef element, const LlvmBuild *build, int left)
{
    int count = element == build->f64 || element == build->i64 ? GATHER_LANES / 2 : GATHER_LANES;
    while (count > left)
        count /= 2;
    return count;
}

LLVMValueRef emit_gather(FuncGen *gen, LLVMTypeRef type, const ScatteredAccess *access)
{
    int lanes = llvm_lanes(type);
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMValueRef result = LLVMConstNull(type);
    for (int first = 0, count; first < lanes; first += count) {
        count = piece_lanes(element, gen->build, lanes - first);
        if (count == 1) {
            result = emit_with_lane(gen, result, load_lane(gen, element, access, first), first);
            continue;
        }
        ScatteredAccess own = part(gen, access, first, count);
        result = place(gen, result, gather_piece(gen, element, &own, count), first);
    }
    return result;
}

/* True when all lanes were stored by instructions with short offsets. */
static bool scatter_pieces(FuncGen *gen, LLVMValueRef value, const ScatteredAccess *access)
{
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(value));
    int lanes = llvm_lanes(LLVMTypeOf(value)), count = piece_lanes(element, gen->build, lanes);
    unsigned scale = scale_of(gen, access->unit);
    const char *name = scale && has_short_offsets(gen, access) ? short_form(gen, element, count, false) : NULL;
    if (!name || lanes % count)
        return false;
    for (int first = 0; first < lanes; first += count) {
        ScatteredAccess own = part(gen, access, first, count);
        LLVMValueRef args[] = {own.pointer, full_mask(gen, own.mask, count), own.offsets, slice(gen, value, first, count),
                               LLVMConstInt(gen->build->i32, scale, false)};
        emit_intrinsic(gen, name, NULL, args, 5);
    }
    return true;
}

void emit_scatter(FuncGen *gen, LLVMValueRef value, const ScatteredAccess *access)
{
    if (scatter_pieces(gen, value, access))
        return;
    LLVMValueRef pointers = pointers_of(gen, access), mask = full_mask(gen, access->mask, llvm_lanes(LLVMTypeOf(value)));
    LLVMValueRef args[] = {value, pointers, LLVMConstInt(gen->build->i32, access->alignment, false), mask};
    emit_intrinsic2(gen, "llvm.masked.scatter", LLVMTypeOf(value), LLVMTypeOf(pointers), args, 4);
}
