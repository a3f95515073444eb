/* Loops. A counted loop is emitted in the form that LLVM's loop passes start from: a test before it, one induction variable in 64 bits, the
   test for another round at its end. */
#include "codegen/llvm/llvm_debug.h"
#include "codegen/llvm/llvm_dot.h"
#include "codegen/llvm/llvm_gen.h"
#include "codegen/llvm/machine_code.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "ir/walk.h"

/* True when the loop over [BEGIN, END) certainly runs (*RUNS) or certainly does not. */
static bool known_to_run(LLVMValueRef begin, LLVMValueRef end, bool *runs)
{
    if (!LLVMIsAConstantInt(begin) || !LLVMIsAConstantInt(end))
        return false;
    *runs = LLVMConstIntGetSExtValue(begin) < LLVMConstIntGetSExtValue(end);
    return true;
}

/* I + 1, which cannot overflow since I < END; neither as an unsigned number when the loop starts at 0 or above. */
static LLVMValueRef next_round(FuncGen *gen, LLVMValueRef i, LLVMValueRef begin)
{
    LLVMValueRef next = LLVMBuildNSWAdd(gen->builder, i, LLVMConstInt(gen->build->i64, 1, false), "");
    if (LLVMIsAConstantInt(begin) && LLVMConstIntGetSExtValue(begin) >= 0)
        LLVMSetNUW(next, true);
    return next;
}

void gen_bind_loop_var(FuncGen *gen, Var *var, LLVMValueRef i)
{
    LLVMValueRef own = var->dtype.bits < 64 ? LLVMBuildTrunc(gen->builder, i, llvm_value_type(gen->build, var->dtype), var->name) : i;
    gen_bind(gen, var, own);
    map_set(gen->ctx->arena, &gen->wide_values, var, i);
}

/* What of a loop's body decides what LLVM shall do with it, and leave alone. */
typedef struct {
    const FuncGen *gen;
    const Var *var;
    bool wraps, has_loop, picks_registers; /* the round says which element of scratch, that registers may hold, is accessed */
    int stores;
} LoopBody;

/* BUFFER is scratch, and so small that registers may hold all of it. */
static bool may_be_in_registers(const FuncGen *gen, const Buffer *buffer)
{
    enum { MOST_BYTES = 4096 };
    LLVMValueRef place = map_get(&gen->values, buffer->data);
    if (!place || !LLVMIsAAllocaInst(place))
        return false;
    LLVMTypeRef type = LLVMGetAllocatedType(place);
    return LLVMGetTypeKind(type) != LLVMArrayTypeKind || (int64_t)LLVMGetArrayLength2(type) * dtype_bytes(buffer->dtype) <= MOST_BYTES;
}

static void look_at_access(LoopBody *body, const Buffer *buffer, const Expr *index)
{
    body->picks_registers |= expr_uses_var(index, body->var) && may_be_in_registers(body->gen, buffer);
}

static bool look_at_expr(Visitor *visitor, const Expr *expr)
{
    bool *found = &((LoopBody *)visitor->data)->wraps;
    bool remainder = expr->kind == EXPR_FLOORMOD || expr->kind == EXPR_MOD || expr_is_call(expr, OP_BITWISE_AND) ||
                     expr_is_call(expr, OP_SHIFT_LEFT) || expr_is_call(expr, OP_SHIFT_RIGHT);
    bool narrowed = expr->kind == EXPR_CAST && expr->dtype.bits < expr->args[0]->dtype.bits;
    *found |= dtype_is_integer(expr->dtype) && (remainder || narrowed);
    if (expr->kind == EXPR_LOAD)
        look_at_access(visitor->data, expr->value.buffer, expr->args[0]);
    return true;
}

static bool look_at_stmt(Visitor *visitor, const Stmt *stmt)
{
    LoopBody *body = visitor->data;
    body->stores += stmt->kind == STMT_STORE;
    if (stmt->kind == STMT_STORE)
        look_at_access(body, stmt->as.store.buffer, stmt->as.store.indices[0]);
    body->has_loop |= stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE;
    return true;
}

/* The instructions of LOOP and the blocks behind it */
static int count_instructions(LLVMBasicBlockRef loop)
{
    int count = 0;
    for (; loop; loop = LLVMGetNextBasicBlock(loop))
        for (LLVMValueRef at = LLVMGetFirstInstruction(loop); at; at = LLVMGetNextInstruction(at))
            count++;
    return count;
}

/* How many rounds of a loop of ROUNDS rounds, of SIZE instructions, shall become one: a divisor. Processors do not foresee the end of a loop, and
   begin anew with what comes behind it; with some rounds they do. Of many rounds the end counts for little; the counting does, if a round is
   short. The end of a reduction over lanes becomes code without a loop, where the lanes are in registers. */
static int rounds_at_once(int64_t rounds, int size)
{
    enum { MOST_ROUNDS = 256, MOST_AT_ONCE = 16, MOST_SIZE = 192, MOST_SIZE_OF_MANY = 64, MOST_WHOLE_SIZE = 384 };
    int best = 1, most_size = rounds <= MOST_ROUNDS ? MOST_SIZE : MOST_SIZE_OF_MANY;
    if (rounds <= MOST_AT_ONCE && rounds * size <= MOST_WHOLE_SIZE)
        return (int)rounds;
    for (int count = 2; count <= MOST_AT_ONCE && count * size <= most_size; count++)
        best = rounds % count == 0 ? count : best;
    return best;
}

/* Lets the name of LOOP, its first block, tell readers of the assembly how many rounds a run of it is. */
static void name_rounds(FuncGen *gen, LLVMBasicBlockRef loop, int rounds)
{
    const char *name = arena_printf(gen->ctx->arena, "%s" ROUNDS_IN_NAME "%d.", LLVMGetBasicBlockName(loop), rounds);
    LLVMSetValueName2(LLVMBasicBlockAsValue(loop), name, strlen(name));
}

static LLVMMetadataRef loop_property(LLVMContextRef context, const char *name, LLVMValueRef value)
{
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, name, strlen(name)), value ? LLVMValueAsMetadata(value) : NULL};
    return LLVMMDNodeInContext2(context, parts, value ? 2 : 1);
}

/* LLVM 19's loop vectorizer takes a strided index that wraps within fewer bits, as j * 3 % 16 does, for one that does not, when it groups
   neighbouring lanes into one wide load. Loops with such arithmetic keep their scalar form. LLVM computes at length what unrolling a loop around
   much code would cost, and may do so, which only makes the code longer unless it lets registers hold scratch. LOOP is the first block of a loop of ROUNDS rounds (0: not known), BRANCH its jump back. */
static void direct_passes(FuncGen *gen, LLVMBasicBlockRef loop, LLVMValueRef branch, int64_t rounds, const Var *var, const Stmt *stmt)
{
    enum { MANY_STORES = 24, MANY_INSTRUCTIONS = 64 };
    LLVMContextRef context = gen->build->llvm;
    LoopBody body = {.gen = gen, .var = var};
    Visitor visitor = {.expr = look_at_expr, .stmt = look_at_stmt, .data = &body};
    visit_stmt(&visitor, stmt);
    LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0), parts[3] = {self}; /* a loop's node names itself first */
    size_t count = 1;
    bool is_inner = gen->unit->kind == UNIT_VECTOR && !body.has_loop && !gen->keeps_loops;
    int size = is_inner ? count_instructions(loop) : 0;
    bool is_large = size >= MANY_INSTRUCTIONS && !body.picks_registers;
    int at_once = is_inner && !is_large ? rounds_at_once(rounds, size) : 1;
    if (body.wraps)
        parts[count++] = loop_property(context, "llvm.loop.vectorize.enable", LLVMConstInt(LLVMInt1TypeInContext(context), 0, false));
    if (at_once > 1) {
        parts[count++] = loop_property(context, "llvm.loop.unroll.count", LLVMConstInt(gen->build->i32, (unsigned)at_once, false));
        name_rounds(gen, loop, at_once);
    } else if (body.stores >= MANY_STORES || is_large || gen->keeps_loops)
        parts[count++] = loop_property(context, "llvm.loop.unroll.disable", NULL);
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, parts, count);
    LLVMMetadataReplaceAllUsesWith(self, node);
    if (count > 1)
        LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "llvm.loop", 9), LLVMMetadataAsValue(context, node));
}

/* END - BEGIN; 0: not known */
static int64_t count_of_rounds(LLVMValueRef begin, LLVMValueRef end)
{
    bool known = LLVMIsAConstantInt(begin) && LLVMIsAConstantInt(end);
    return known ? LLVMConstIntGetSExtValue(end) - LLVMConstIntGetSExtValue(begin) : 0;
}

void emit_counted_loop(FuncGen *gen, Var *var, LLVMValueRef begin, LLVMValueRef end, const Stmt *body, bool is_part)
{
    bool runs = false, known = known_to_run(begin, end, &runs);
    if (known && !runs)
        return;
    LLVMBasicBlockRef loop = emit_block(gen, var->name), next_block = emit_block(gen, "next"), done = emit_block(gen, "done");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(gen->builder);
    if (known)
        LLVMBuildBr(gen->builder, loop);
    else
        LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSLT, begin, end, ""), loop, done);
    emit_at(gen, loop);
    LLVMValueRef i = LLVMBuildPhi(gen->builder, gen->build->i64, var->name);
    LLVMMetadataRef outer_scope = llvm_debug_enter(gen, var->span);
    gen_bind_loop_var(gen, var, i);
    llvm_debug_variable(gen, var->name, var, i, 0);
    LoopTargets targets = {is_part ? NULL : done, next_block, gen->heap_blocks.count, var};
    const LoopTargets *outer = gen->loop;
    gen->loop = &targets;
    if (gen->prefetch_var == var)
        emit_prefetches(gen, var, i, body, gen->prefetch_distance);
    emit_stmt(gen, body);
    gen->loop = outer;
    llvm_debug_leave(gen, outer_scope);
    emit_jump(gen, next_block);
    emit_at(gen, next_block);
    LLVMValueRef next = next_round(gen, i, begin);
    LLVMValueRef back = LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntNE, next, end, ""), loop, done); /* it was below END */
    direct_passes(gen, loop, back, count_of_rounds(begin, end), var, body);
    LLVMAddIncoming(i, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){before, next_block}, 2);
    emit_at(gen, done);
}

static void emit_for_of_kind(FuncGen *gen, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    if (loop->kind == FOR_THREAD) {
        diag_error(gen->ctx, stmt->span, "loop '%s' is bound to %s, which cannot be compiled for a CPU", loop->var->name, loop->thread);
        return;
    }
    if (loop->kind == FOR_PARALLEL) {
        emit_parallel_for(gen, stmt);
        return;
    }
    if (emit_dot_loop(gen, stmt))
        return;
    LLVMValueRef begin = emit_index(gen, loop->min), extent = emit_index(gen, loop->extent);
    emit_counted_loop(gen, loop->var, begin, LLVMBuildNSWAdd(gen->builder, begin, extent, ""), loop->body, false);
}

void emit_for(FuncGen *gen, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    if (emit_part(gen, stmt))
        return;
    bool streamed = gen->streams_stores, streams = loop_hint(loop, "pragma_nontemporal") != 0, vectors = gen->prefetches_vectors;
    const Var *prefetch_var = gen->prefetch_var;
    int64_t outer_distance = gen->prefetch_distance, asked = loop_hint(loop, "software_prefetch"), own = loop_hint(loop, "tirc.prefetch_vectors");
    gen->streams_stores |= streams;
    if (asked > 0 || own > 0) {
        gen->prefetch_var = loop->var;
        gen->prefetch_distance = asked > 0 ? asked : own;
        gen->prefetches_vectors = asked <= 0;
    }
    emit_for_of_kind(gen, stmt);
    gen->streams_stores = streamed;
    gen->prefetch_var = prefetch_var;
    gen->prefetch_distance = outer_distance;
    gen->prefetches_vectors = vectors;
    if (streams && !streamed)
        emit_store_fence(gen);
}

void emit_while(FuncGen *gen, const Stmt *stmt)
{
    LLVMBasicBlockRef test = emit_block(gen, "while"), body = emit_block(gen, "while.body"), done = emit_block(gen, "while.done");
    emit_jump(gen, test);
    emit_at(gen, test);
    LLVMBuildCondBr(gen->builder, emit_expr(gen, stmt->as.while_loop.condition), body, done);
    emit_at(gen, body);
    LoopTargets targets = {done, test, gen->heap_blocks.count, NULL};
    const LoopTargets *outer = gen->loop;
    gen->loop = &targets;
    emit_stmt(gen, stmt->as.while_loop.body);
    gen->loop = outer;
    emit_jump(gen, test);
    emit_at(gen, done);
}

void emit_loop_exit(FuncGen *gen, const Expr *call)
{
    bool is_break = call->value.op == OP_BREAK_LOOP;
    LLVMBasicBlockRef target = !gen->loop ? NULL : is_break ? gen->loop->on_break : gen->loop->on_continue;
    if (!target) {
        diag_error(gen->ctx, call->span, gen->loop ? "T.%s cannot leave a parallel loop" : "T.%s is not inside a loop",
                   op_info(call->value.op)->name);
        return;
    }
    emit_free_heap(gen, gen->loop->heap_depth);
    emit_jump(gen, target);
    emit_at(gen, emit_block(gen, "unreachable"));
}
