/* Loops that add products of bytes:

     for k in range(n): C[c] = C[c] + Cast("int32", A[a + k]) * Cast("int32", B[b + k])

   The body may be several such statements, each may be on vectors, and each has its sums in registers over the whole loop. A scalar
   statement takes as many consecutive k as a vector of bytes holds. A vector statement takes four k, whose bytes go side by side into each
   lane. Where the body adds several k to one C (a split and unrolled loop over k), each is taken by itself.

   Legality: C is other memory than A and B, and c does not depend on k. Then every element of C that a statement writes gains a sum that
   does not depend on C; sums that wrap may be added in any order, so that the statements need not take turns. */
#include "codegen/llvm/llvm_dot_loop.h"

/* --- Operands --- */

/* A round is one k. Binds the loop's variable to the iteration of the round that is ROUND after the first one of ITERATION; the result is
   which member of the group it is. */
static int bind_round(DotLoop *dot, LLVMValueRef iteration, int round)
{
    FuncGen *gen = dot->gen;
    LLVMValueRef later = LLVMConstInt(gen->build->i64, (unsigned)(round / dot->group), false);
    gen_bind_loop_var(gen, dot->loop->var, LLVMBuildNSWAdd(gen->builder, iteration, later, ""));
    return round % dot->group;
}

/* BYTES bytes from the first element of OPERAND on, those of MASK (NULL: all). */
static LLVMValueRef load_row(DotLoop *dot, const DotOperand *operand, int bytes, LLVMValueRef mask)
{
    FuncGen *gen = dot->gen;
    LLVMTypeRef type = LLVMVectorType(gen->build->i8, (unsigned)bytes);
    LLVMValueRef pointer = emit_first_element(gen, operand->load);
    if (!mask)
        return emit_conditional_load(gen, type, pointer, 1, NULL);
    return emit_masked_load(gen, type, pointer, 1, mask);
}

/* Four consecutive bytes for each lane, STRIDE bytes apart, by one gather of 32-bit integers. */
static LLVMValueRef gather_groups(DotLoop *dot, const DotOperand *operand, const Expr *stride)
{
    FuncGen *gen = dot->gen;
    LLVMValueRef offsets = emit_lane_offsets(gen, stride, dot->lanes), pointer = emit_first_element(gen, operand->load);
    ScatteredAccess access = {pointer, offsets, gen->build->i8, 1, NULL};
    return emit_gather(gen, LLVMVectorType(gen->build->i32, (unsigned)dot->lanes), &access);
}

/* The bytes of four rounds from FIRST on side by side, each round's loaded as the program says. */
static LLVMValueRef interleave_rounds(DotLoop *dot, const DotOperand *operand, LLVMValueRef iteration, int first)
{
    FuncGen *gen = dot->gen;
    int lanes = dot->lanes, *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes * DOT_DEPTH);
    LLVMValueRef rounds[DOT_DEPTH], halves[2];
    for (int i = 0; i < DOT_DEPTH; i++) {
        int member = bind_round(dot, iteration, first + i);
        LLVMValueRef value = emit_load(gen, operand[member].load);
        rounds[i] = operand[member].load->dtype.lanes == 1 ? emit_splat(gen, value, lanes) : value;
    }
    for (int i = 0; i < 2 * lanes; i++)
        picks[i] = i / 2 + (i % 2) * lanes;
    for (int i = 0; i < 2; i++)
        halves[i] = emit_shuffle(gen, rounds[2 * i], rounds[2 * i + 1], picks, 2 * lanes);
    for (int i = 0; i < 4 * lanes; i++)
        picks[i] = i / 4 * 2 + i % 2 + (i % 4 / 2) * 2 * lanes;
    return emit_shuffle(gen, halves[0], halves[1], picks, 4 * lanes);
}

/* Four rounds from FIRST on. */
static LLVMValueRef load_groups(DotLoop *dot, const DotOperand *operand, LLVMValueRef iteration, int first)
{
    FuncGen *gen = dot->gen;
    LaneIndex lanes;
    if (!dot_consecutive_lanes(dot, operand, first, &lanes))
        return interleave_rounds(dot, operand, iteration, first);
    operand += bind_round(dot, iteration, first);
    LLVMTypeRef bytes = LLVMVectorType(gen->build->i8, (unsigned)(dot->lanes * DOT_DEPTH));
    if (expr_is_int(lanes.stride, DOT_DEPTH))
        return load_row(dot, operand, dot->lanes * DOT_DEPTH, NULL);
    if (!expr_is_int(lanes.stride, 0))
        return LLVMBuildBitCast(gen->builder, gather_groups(dot, operand, lanes.stride), bytes, "");
    LLVMValueRef group = emit_conditional_load(gen, gen->build->i32, emit_first_element(gen, operand->load), 1, NULL);
    return LLVMBuildBitCast(gen->builder, emit_splat(gen, group, dot->lanes), bytes, "");
}

/* --- Rounds --- */

static LLVMValueRef next_iteration(DotLoop *dot)
{
    return LLVMBuildLoad2(dot->gen->builder, dot->gen->build->i64, dot->next, "");
}

/* The rounds that one step takes at least: whole iterations and whole dot products. */
static int step_rounds(const DotLoop *dot)
{
    int least = dot->lanes > 1 ? DOT_DEPTH : dot->bytes;
    return dot->group > least ? dot->group : least;
}

/* The products of one step of vector updates, from ITERATION on. */
static void add_lanes(DotLoop *dot, LLVMValueRef iteration)
{
    for (int first = 0; first < step_rounds(dot); first += DOT_DEPTH)
        for (int i = 0; i < dot->count; i++) {
            DotUpdate *update = &dot->updates[i];
            LLVMValueRef a = load_groups(dot, update->a, iteration, first), b = load_groups(dot, update->b, iteration, first);
            dot_sum_add(dot->gen, &update->kind, update->sums, a, b);
        }
}

/* The products of a vector of rounds, those of MASK, into the sums PART. */
static void add_row(DotLoop *dot, LLVMValueRef iteration, int part, LLVMValueRef mask)
{
    bind_round(dot, iteration, part * dot->bytes);
    for (int i = 0; i < dot->count; i++) {
        DotUpdate *update = &dot->updates[i];
        LLVMValueRef a = load_row(dot, update->a, dot->bytes, mask), b = load_row(dot, update->b, dot->bytes, mask);
        dot_sum_add(dot->gen, &update->kind, &update->sums[part], a, b);
    }
}

/* As long as ROUNDS rounds are left: PARTS steps. */
static void emit_whole_steps(DotLoop *dot, int parts)
{
    FuncGen *gen = dot->gen;
    LLVMBasicBlockRef test = emit_block(gen, "dot"), body = emit_block(gen, "dot.body"), done = emit_block(gen, "dot.done");
    LLVMValueRef distance = LLVMConstInt(gen->build->i64, (unsigned)(step_rounds(dot) * parts / dot->group), false);
    emit_jump(gen, test);
    emit_at(gen, test);
    LLVMValueRef next = next_iteration(dot), left = LLVMBuildNSWSub(gen->builder, dot->end, next, "");
    LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSGE, left, distance, ""), body, done);
    emit_at(gen, body);
    for (int i = 0; i < parts && dot->lanes == 1; i++)
        add_row(dot, next, i, NULL);
    if (dot->lanes > 1)
        add_lanes(dot, next);
    LLVMBuildStore(gen->builder, LLVMBuildNSWAdd(gen->builder, next, distance, ""), dot->next);
    emit_jump(gen, test);
    emit_at(gen, done);
}

/* Fewer rounds are left than a vector holds. */
static void emit_masked_rest(DotLoop *dot)
{
    FuncGen *gen = dot->gen;
    LLVMValueRef next = next_iteration(dot), left = LLVMBuildNSWSub(gen->builder, dot->end, next, ""), *steps;
    LLVMBasicBlockRef rest = emit_block(gen, "dot.rest"), done = emit_block(gen, "dot.done");
    LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSGT, left, LLVMConstNull(gen->build->i64), ""), rest, done);
    emit_at(gen, rest);
    steps = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, dot->bytes);
    for (int i = 0; i < dot->bytes; i++)
        steps[i] = LLVMConstInt(gen->build->i8, (unsigned)i, false);
    LLVMValueRef rounds = LLVMBuildNSWMul(gen->builder, left, LLVMConstInt(gen->build->i64, (unsigned)dot->group, false), "");
    LLVMValueRef count = emit_splat(gen, LLVMBuildTrunc(gen->builder, rounds, gen->build->i8, ""), dot->bytes);
    add_row(dot, next, 0, LLVMBuildICmp(gen->builder, LLVMIntULT, LLVMConstVector(steps, (unsigned)dot->bytes), count, ""));
    LLVMBuildStore(gen->builder, dot->end, dot->next);
    emit_jump(gen, done);
    emit_at(gen, done);
}

/* C += what the sums hold. */
static void store_sums(DotLoop *dot)
{
    FuncGen *gen = dot->gen;
    for (int i = 0; i < dot->count; i++) {
        DotUpdate *update = &dot->updates[i];
        LLVMValueRef sum = dot_sum_value(gen, &update->sums[0]);
        for (int part = 1; part < dot->parts; part++)
            sum = LLVMBuildAdd(gen->builder, sum, dot_sum_value(gen, &update->sums[part]), "");
        if (dot->lanes == 1)
            sum = emit_intrinsic(gen, "llvm.vector.reduce.add", LLVMTypeOf(sum), &sum, 1);
        emit_store_value(gen, update->store, LLVMBuildAdd(gen->builder, emit_load(gen, update->target), sum, ""));
    }
}

static void begin_sums(DotLoop *dot)
{
    for (int i = 0; i < dot->count; i++)
        for (int part = 0; part < dot->parts; part++)
            dot->updates[i].sums[part] =
                dot_sum_begin(dot->gen, &dot->updates[i].kind, dot->lanes > 1 ? dot->lanes * DOT_DEPTH : dot->bytes);
}

static void emit_dots(DotLoop *dot, bool masks_bytes)
{
    begin_sums(dot);
    if (dot->parts > 1)
        emit_whole_steps(dot, dot->parts);
    emit_whole_steps(dot, 1);
    if (dot->lanes == 1 && masks_bytes)
        emit_masked_rest(dot);
    store_sums(dot);
}

/* The loop has EXTENT iterations and does not even fill a step, or the half of a vector. */
static bool is_too_short(const DotLoop *dot, int64_t extent)
{
    int step = dot->lanes > 1 ? step_rounds(dot) : dot->bytes / 2;
    return extent < (step + dot->group - 1) / dot->group;
}

bool emit_dot_loop(FuncGen *gen, const Stmt *stmt)
{
    DotLoop *dot = arena_alloc(gen->ctx->arena, sizeof *dot);
    *dot = (DotLoop){.gen = gen, .loop = &stmt->as.loop};
    int64_t extent = 0;
    bool is_counted = expr_const_int(stmt->as.loop.extent, &extent);
    if (gen->lane_mask || !gen->build->options->opt_level || !dot_match_loop(dot) || (is_counted && is_too_short(dot, extent)))
        return false;
    LLVMBasicBlockRef some = emit_block(gen, "dots"), done = emit_block(gen, "dots.done");
    LLVMValueRef begin = emit_index(gen, stmt->as.loop.min);
    dot->end = LLVMBuildNSWAdd(gen->builder, begin, emit_index(gen, stmt->as.loop.extent), "");
    dot->next = emit_stack_slot(gen, gen->build->i64, 1, 8);
    LLVMBuildStore(gen->builder, begin, dot->next);
    LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSLT, begin, dot->end, ""), some, done);
    emit_at(gen, some);
    emit_dots(dot, dot->bytes == 64);
    bool is_complete = dot->lanes == 1 ? dot->bytes == 64 : is_counted && extent % step_rounds(dot) * dot->group % step_rounds(dot) == 0;
    if (!is_complete)
        emit_counted_loop(gen, stmt->as.loop.var, next_iteration(dot), dot->end, stmt->as.loop.body, false);
    emit_jump(gen, done);
    emit_at(gen, done);
    return true;
}
