/* Loops that add products of bytes:

     for k in range(n): C[c] = C[c] + Cast("int32", A[a + k]) * Cast("int32", B[b + k])

   The body may be several such statements, each may be on vectors, and each has its sums in registers over the whole loop. A scalar
   statement takes as many consecutive k as a vector of bytes holds. A vector statement takes four k, whose bytes go side by side into each
   lane.

   Legality: C is other memory than A and B, and c does not depend on k. Then every element of C that a statement writes gains a sum that
   does not depend on C; sums that wrap may be added in any order, so that the statements need not take turns. */
#include "codegen/llvm_dot.h"

#include "codegen/llvm_index.h"
#include "ir/walk.h"

enum { MAX_DOT_UPDATES = 16, MAX_DOT_PARTS = 4, DOT_DEPTH = 4 };

typedef struct {
    const Expr *load;
    bool is_signed;
} DotOperand;

/* C += A * B on LANES lanes. */
typedef struct {
    const Stmt *store;
    const Expr *target; /* the load of C */
    DotOperand a, b;
    int lanes;
    DotKind kind;
    DotSum sums[MAX_DOT_PARTS];
} DotUpdate;

typedef struct {
    FuncGen *gen;
    const ForStmt *loop;
    DotUpdate updates[MAX_DOT_UPDATES];
    int count, lanes, parts; /* PARTS: sums of each update, so that one addition need not wait for the other */
    int bytes;               /* of a vector of scalar updates */
    LLVMValueRef k;          /* slot: the next round to do */
    LLVMValueRef end;
} DotLoop;

/* --- What the loop must look like --- */

/* The load behind conversions to 32 bits and broadcasts. */
static bool match_operand(const Expr *expr, DotOperand *operand)
{
    bool is_widened = false;
    while (expr->kind == EXPR_CAST || expr->kind == EXPR_BROADCAST) {
        if (expr->kind == EXPR_CAST && (is_widened || !dtype_is_integer(expr->dtype) || expr->dtype.bits != 32))
            return false;
        is_widened |= expr->kind == EXPR_CAST;
        expr = expr->args[0];
    }
    bool is_byte = dtype_is_integer(expr->dtype) && expr->dtype.bits == 8;
    *operand = (DotOperand){expr, expr->dtype.code == DT_INT};
    return is_widened && is_byte && expr->kind == EXPR_LOAD && load_index_count(expr) == 1 && expr->value.buffer->dtype.lanes == 1;
}

typedef struct {
    const Var *memory;
    bool allowed;
} OperandCheck;

static bool check_operand(Visitor *visitor, const Expr *expr)
{
    OperandCheck *check = visitor->data;
    bool reads_target = expr->kind == EXPR_LOAD && expr->value.buffer->data == check->memory;
    bool has_effect = expr->kind == EXPR_CALL && op_info(expr->value.op)->effect != EFFECT_PURE;
    check->allowed &= !reads_target && !has_effect && expr->kind != EXPR_LET;
    return check->allowed;
}

static bool operand_is_apart(const DotOperand *operand, const Var *memory)
{
    OperandCheck check = {memory, true};
    Visitor visitor = {.expr = check_operand, .data = &check};
    visit_expr(&visitor, operand->load);
    return check.allowed;
}

static bool match_update(const Stmt *stmt, const Var *k, DotUpdate *update)
{
    if (stmt->kind != STMT_STORE || stmt->as.store.mask || stmt->as.store.index_count != 1 || stmt->as.store.buffer->dtype.lanes > 1)
        return false;
    const Expr *value = stmt->as.store.value, *index = stmt->as.store.indices[0];
    if (value->kind != EXPR_ADD || !dtype_is_integer(value->dtype) || value->dtype.bits != 32 || !expr_is_pure(index) ||
        expr_uses_var(index, k))
        return false;
    bool target_first = value->args[0]->kind == EXPR_LOAD;
    const Expr *target = value->args[!target_first], *product = value->args[target_first];
    if (target->kind != EXPR_LOAD || product->kind != EXPR_MUL || target->value.buffer->data != stmt->as.store.buffer->data ||
        load_index_count(target) != 1 || load_mask(target) || !expr_equal(target->args[0], index) ||
        !dtype_equal(target->value.buffer->dtype, stmt->as.store.buffer->dtype))
        return false;
    *update = (DotUpdate){.store = stmt, .target = target, .lanes = value->dtype.lanes};
    return match_operand(product->args[0], &update->a) && match_operand(product->args[1], &update->b) &&
           operand_is_apart(&update->a, stmt->as.store.buffer->data) && operand_is_apart(&update->b, stmt->as.store.buffer->data);
}

/* How far the index of OPERAND goes on with each round: true when this is 1. */
static bool advances_by_one(const DotLoop *dot, const DotOperand *operand)
{
    LaneIndex form;
    return index_split_var(dot->gen->ctx, operand->load->args[0], dot->loop->var, &form) && expr_is_int(form.stride, 1);
}

/* A vector operand as BASE + lane * STRIDE, which goes on by one in each round; a scalar one has stride 0. */
static bool consecutive_lanes(const DotLoop *dot, const DotOperand *operand, LaneIndex *lanes)
{
    Context *ctx = dot->gen->ctx;
    const Expr *index = operand->load->args[0];
    LaneIndex form;
    *lanes = (LaneIndex){index, expr_int(ctx, dtype_scalar(index->dtype), 0)};
    if (operand->load->dtype.lanes > 1 && !index_split_lanes(ctx, index, lanes))
        return false;
    return !load_mask(operand->load) && !expr_uses_var(lanes->stride, dot->loop->var) &&
           index_split_var(ctx, lanes->base, dot->loop->var, &form) && expr_is_int(form.stride, 1);
}

/* A scalar statement reads both operands in order. A vector statement may read in any way; it pays where one operand needs no shuffle. */
static bool update_pays(DotLoop *dot, DotUpdate *update)
{
    LaneIndex lanes;
    if (update->lanes != dot->updates[0].lanes ||
        !dot_kind(&dot->gen->build->target, update->a.is_signed, update->b.is_signed, &update->kind))
        return false;
    if (update->lanes > 1)
        return dot_takes(&update->kind, update->lanes * DOT_DEPTH) &&
               (consecutive_lanes(dot, &update->a, &lanes) || consecutive_lanes(dot, &update->b, &lanes));
    return !load_mask(update->a.load) && !load_mask(update->b.load) && advances_by_one(dot, &update->a) &&
           advances_by_one(dot, &update->b);
}

static bool match_loop(DotLoop *dot)
{
    const Stmt *body = dot->loop->body, *const *items = body->kind == STMT_SEQ ? body->as.seq.items : &body;
    dot->count = body->kind == STMT_SEQ ? body->as.seq.count : 1;
    if (dot->count < 1 || dot->count > MAX_DOT_UPDATES || dot->loop->kind != FOR_SERIAL || dot->gen->has_computed_pointers)
        return false;
    for (int i = 0; i < dot->count; i++)
        if (!match_update(items[i], dot->loop->var, &dot->updates[i]) || !update_pays(dot, &dot->updates[i]))
            return false;
    dot->lanes = dot->updates[0].lanes;
    dot->bytes = dot->updates[0].kind.bytes;
    dot->parts = dot->lanes > 1 || dot->count > 4 ? 1 : dot->count > 1 ? 2 : MAX_DOT_PARTS;
    for (int i = 0; i < dot->count; i++) /* one statement's target may be another one's operand */
        for (int j = 0; j < dot->count; j++)
            if (!operand_is_apart(&dot->updates[i].a, dot->updates[j].store->as.store.buffer->data) ||
                !operand_is_apart(&dot->updates[i].b, dot->updates[j].store->as.store.buffer->data))
                return false;
    return true;
}

/* --- Operands --- */

/* Binds the loop's variable to K + ROUND. */
static void bind_round(DotLoop *dot, LLVMValueRef k, int round)
{
    FuncGen *gen = dot->gen;
    gen_bind_loop_var(gen, dot->loop->var, LLVMBuildNSWAdd(gen->builder, k, LLVMConstInt(gen->build->i64, (unsigned)round, false), ""));
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

/* The bytes of four rounds side by side, each round's loaded as the program says. */
static LLVMValueRef interleave_rounds(DotLoop *dot, const DotOperand *operand, LLVMValueRef k)
{
    FuncGen *gen = dot->gen;
    int lanes = dot->lanes, *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes * DOT_DEPTH);
    LLVMValueRef rounds[DOT_DEPTH], halves[2];
    for (int i = 0; i < DOT_DEPTH; i++) {
        bind_round(dot, k, i);
        LLVMValueRef value = emit_load(gen, operand->load);
        rounds[i] = operand->load->dtype.lanes == 1 ? emit_splat(gen, value, lanes) : value;
    }
    bind_round(dot, k, 0);
    for (int i = 0; i < 2 * lanes; i++)
        picks[i] = i / 2 + (i % 2) * lanes;
    for (int i = 0; i < 2; i++)
        halves[i] = emit_shuffle(gen, rounds[2 * i], rounds[2 * i + 1], picks, 2 * lanes);
    for (int i = 0; i < 4 * lanes; i++)
        picks[i] = i / 4 * 2 + i % 2 + (i % 4 / 2) * 2 * lanes;
    return emit_shuffle(gen, halves[0], halves[1], picks, 4 * lanes);
}

static LLVMValueRef load_groups(DotLoop *dot, const DotOperand *operand, LLVMValueRef k)
{
    FuncGen *gen = dot->gen;
    LaneIndex lanes;
    if (!consecutive_lanes(dot, operand, &lanes))
        return interleave_rounds(dot, operand, k);
    LLVMTypeRef bytes = LLVMVectorType(gen->build->i8, (unsigned)(dot->lanes * DOT_DEPTH));
    if (expr_is_int(lanes.stride, DOT_DEPTH))
        return load_row(dot, operand, dot->lanes * DOT_DEPTH, NULL);
    if (!expr_is_int(lanes.stride, 0))
        return LLVMBuildBitCast(gen->builder, gather_groups(dot, operand, lanes.stride), bytes, "");
    LLVMValueRef group = emit_conditional_load(gen, gen->build->i32, emit_first_element(gen, operand->load), 1, NULL);
    return LLVMBuildBitCast(gen->builder, emit_splat(gen, group, dot->lanes), bytes, "");
}

/* --- Rounds --- */

static LLVMValueRef next_k(DotLoop *dot)
{
    return LLVMBuildLoad2(dot->gen->builder, dot->gen->build->i64, dot->k, "");
}

/* The products from round K on into the sums PART: of scalar updates a whole vector of rounds, those of MASK; else four. */
static void add_rounds(DotLoop *dot, LLVMValueRef k, int part, LLVMValueRef mask)
{
    bind_round(dot, k, dot->lanes > 1 ? 0 : part * dot->bytes);
    for (int i = 0; i < dot->count; i++) {
        DotUpdate *update = &dot->updates[i];
        LLVMValueRef a = dot->lanes > 1 ? load_groups(dot, &update->a, k) : load_row(dot, &update->a, dot->bytes, mask);
        LLVMValueRef b = dot->lanes > 1 ? load_groups(dot, &update->b, k) : load_row(dot, &update->b, dot->bytes, mask);
        dot_sum_add(dot->gen, &update->kind, &update->sums[part], a, b);
    }
}

/* As long as STEP rounds are left: PARTS times a vector's worth. */
static void emit_whole_steps(DotLoop *dot, int step, int parts)
{
    FuncGen *gen = dot->gen;
    LLVMBasicBlockRef test = emit_block(gen, "dot"), body = emit_block(gen, "dot.body"), done = emit_block(gen, "dot.done");
    LLVMValueRef distance = LLVMConstInt(gen->build->i64, (unsigned)step, false);
    emit_jump(gen, test);
    emit_at(gen, test);
    LLVMValueRef k = next_k(dot), left = LLVMBuildNSWSub(gen->builder, dot->end, k, "");
    LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSGE, left, distance, ""), body, done);
    emit_at(gen, body);
    for (int i = 0; i < parts; i++)
        add_rounds(dot, k, i, NULL);
    LLVMBuildStore(gen->builder, LLVMBuildNSWAdd(gen->builder, k, distance, ""), dot->k);
    emit_jump(gen, test);
    emit_at(gen, done);
}

/* Fewer rounds are left than a vector holds. */
static void emit_masked_rest(DotLoop *dot)
{
    FuncGen *gen = dot->gen;
    LLVMValueRef k = next_k(dot), left = LLVMBuildNSWSub(gen->builder, dot->end, k, ""), *steps;
    LLVMBasicBlockRef rest = emit_block(gen, "dot.rest"), done = emit_block(gen, "dot.done");
    LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSGT, left, LLVMConstNull(gen->build->i64), ""), rest, done);
    emit_at(gen, rest);
    steps = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, dot->bytes);
    for (int i = 0; i < dot->bytes; i++)
        steps[i] = LLVMConstInt(gen->build->i8, (unsigned)i, false);
    LLVMValueRef count = emit_splat(gen, LLVMBuildTrunc(gen->builder, left, gen->build->i8, ""), dot->bytes);
    add_rounds(dot, k, 0, LLVMBuildICmp(gen->builder, LLVMIntULT, LLVMConstVector(steps, (unsigned)dot->bytes), count, ""));
    LLVMBuildStore(gen->builder, dot->end, dot->k);
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
    int step = dot->lanes > 1 ? DOT_DEPTH : dot->bytes;
    begin_sums(dot);
    if (dot->parts > 1)
        emit_whole_steps(dot, step * dot->parts, dot->parts);
    emit_whole_steps(dot, step, 1);
    if (dot->lanes == 1 && masks_bytes)
        emit_masked_rest(dot);
    store_sums(dot);
}

bool emit_dot_loop(FuncGen *gen, const Stmt *stmt)
{
    DotLoop *dot = arena_alloc(gen->ctx->arena, sizeof *dot);
    *dot = (DotLoop){.gen = gen, .loop = &stmt->as.loop};
    int64_t extent = 0;
    bool is_counted = expr_const_int(stmt->as.loop.extent, &extent);
    if (gen->lane_mask || !gen->build->options->opt_level || !match_loop(dot))
        return false;
    int step = dot->lanes > 1 ? DOT_DEPTH : dot->bytes / 2;
    if (is_counted && extent < step)
        return false;
    LLVMBasicBlockRef some = emit_block(gen, "dots"), done = emit_block(gen, "dots.done");
    LLVMValueRef begin = emit_index(gen, stmt->as.loop.min);
    dot->end = LLVMBuildNSWAdd(gen->builder, begin, emit_index(gen, stmt->as.loop.extent), "");
    dot->k = emit_stack_slot(gen, gen->build->i64, 1, 8);
    LLVMBuildStore(gen->builder, begin, dot->k);
    LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSLT, begin, dot->end, ""), some, done);
    emit_at(gen, some);
    emit_dots(dot, dot->bytes == 64);
    bool is_complete = dot->lanes == 1 ? dot->bytes == 64 : is_counted && extent % DOT_DEPTH == 0;
    if (!is_complete)
        emit_counted_loop(gen, stmt->as.loop.var, next_k(dot), dot->end, stmt->as.loop.body, false);
    emit_jump(gen, done);
    emit_at(gen, done);
    return true;
}
