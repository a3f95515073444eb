/* Loads and stores with a small constant stride: what lies between the elements is passed over in registers.

   The span from the lowest to the highest element is cut into pieces of one register. The last piece ends with the highest element, so that
   nothing outside of the span is touched; it may overlap the one before it. Each lane belongs to the first piece that holds its element.
   Whole pieces are loaded, since they belong to the buffer that is read. A store names just the elements of its lanes. */
#include "codegen/llvm/llvm_gen.h"

typedef struct {
    FuncGen *gen;
    const StridedAccess *access;
    int span, width;  /* in elements: of all that is passed over; of a piece */
    int *owner;       /* of each lane: its piece */
    int *position;    /* of each lane: its element in the piece */
    int *starts, count; /* of the pieces */
} Pieces;

static int power_of_two_below(int limit)
{
    int power = 1;
    while (2 * power <= limit)
        power *= 2;
    return power;
}

static Pieces cut_span(FuncGen *gen, const StridedAccess *access)
{
    int lanes = access->lanes, step = access->stride < 0 ? -access->stride : access->stride, span = (lanes - 1) * step + 1;
    int most = gen->build->target.vector_bytes / access->bytes, width = power_of_two_below(span < most ? span : most);
    Arena *arena = gen->ctx->arena;
    Pieces pieces = {gen, access, span, width, ARENA_ARRAY(arena, int, lanes), ARENA_ARRAY(arena, int, lanes), NULL, 0};
    pieces.count = (span + width - 1) / width;
    pieces.starts = ARENA_ARRAY(arena, int, pieces.count);
    for (int i = 0; i < pieces.count; i++)
        pieces.starts[i] = i * width + width > span ? span - width : i * width;
    for (int lane = 0; lane < lanes; lane++) {
        int element = (access->stride < 0 ? lanes - 1 - lane : lane) * step;
        pieces.owner[lane] = element / width;
        pieces.position[lane] = element - pieces.starts[element / width];
    }
    return pieces;
}

static LLVMValueRef piece_pointer(const Pieces *pieces, int piece)
{
    const StridedAccess *access = pieces->access;
    int lowest = access->stride < 0 ? (access->lanes - 1) * access->stride : 0;
    LLVMValueRef start = LLVMConstInt(pieces->gen->build->i64, (unsigned long long)(int64_t)(pieces->starts[piece] + lowest), true);
    return LLVMBuildGEP2(pieces->gen->builder, access->element, access->pointer, &start, 1, "");
}

/* For each element of PIECE the lane that it belongs to, or NONE. Returns how many lanes there are. */
static int lanes_of_piece(const Pieces *pieces, int piece, int none, int *lanes)
{
    int count = 0;
    for (int i = 0; i < pieces->width; i++)
        lanes[i] = none;
    for (int lane = 0; lane < pieces->access->lanes; lane++)
        if (pieces->owner[lane] == piece) {
            lanes[pieces->position[lane]] = lane;
            count++;
        }
    return count;
}

/* Which elements of PIECE are accessed, as i1 vector. */
static LLVMValueRef piece_mask(const Pieces *pieces, int piece)
{
    FuncGen *gen = pieces->gen;
    int lanes = pieces->access->lanes, *picks = ARENA_ARRAY(gen->ctx->arena, int, pieces->width);
    LLVMTypeRef type = LLVMVectorType(gen->build->i1, (unsigned)lanes);
    LLVMValueRef mask = pieces->access->mask ? pieces->access->mask : LLVMConstAllOnes(type);
    lanes_of_piece(pieces, piece, lanes, picks);
    return emit_shuffle(gen, mask, LLVMConstNull(type), picks, pieces->width);
}

static LLVMValueRef load_piece(const Pieces *pieces, int piece)
{
    FuncGen *gen = pieces->gen;
    LLVMTypeRef type = LLVMVectorType(pieces->access->element, (unsigned)pieces->width);
    LLVMValueRef pointer = piece_pointer(pieces, piece);
    if (!pieces->access->mask)
        return emit_conditional_load(gen, type, pointer, pieces->access->alignment, NULL);
    return emit_masked_load(gen, type, pointer, pieces->access->alignment, piece_mask(pieces, piece));
}

LLVMValueRef emit_strided_load(FuncGen *gen, const StridedAccess *access)
{
    Pieces pieces = cut_span(gen, access);
    int lanes = access->lanes, common = lanes > pieces.width ? lanes : pieces.width, *picks = ARENA_ARRAY(gen->ctx->arena, int, common);
    LLVMValueRef result = LLVMGetPoison(LLVMVectorType(access->element, (unsigned)common));
    for (int i = 0; i < pieces.count; i++) {
        for (int lane = 0; lane < common; lane++)
            picks[lane] = lane >= lanes || pieces.owner[lane] > i ? -1 : pieces.owner[lane] == i ? common + pieces.position[lane] : lane;
        result = emit_shuffle(gen, result, emit_widened(gen, load_piece(&pieces, i), common), picks, common);
    }
    for (int lane = 0; lane < lanes; lane++)
        picks[lane] = lane;
    return lanes == common ? result : emit_shuffle(gen, result, NULL, picks, lanes);
}

void emit_strided_store(FuncGen *gen, const StridedAccess *access, LLVMValueRef value)
{
    Pieces pieces = cut_span(gen, access);
    int *picks = ARENA_ARRAY(gen->ctx->arena, int, pieces.width);
    for (int i = 0; i < pieces.count; i++) {
        if (!lanes_of_piece(&pieces, i, -1, picks))
            continue;
        LLVMValueRef piece = emit_shuffle(gen, value, NULL, picks, pieces.width);
        emit_masked_store(gen, piece, piece_pointer(&pieces, i), access->alignment, piece_mask(&pieces, i));
    }
}
