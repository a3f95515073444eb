/* Loops. A counted loop is emitted in the form that LLVM's loop passes start from: a test before it, one induction variable in 64 bits, the
   test for another round at its end. */
#include "codegen/llvm/llvm_debug.h"
#include "codegen/llvm/llvm_dot.h"
#include "codegen/llvm/llvm_gen.h"
#include <llvm-c/DebugInfo.h>

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

/* What of a loop's body decides what LLVM shall leave alone. */
typedef struct {
    bool wraps;
    int stores;
} LoopBody;

static bool find_wrapping(Visitor *visitor, const Expr *expr)
{
    bool *found = &((LoopBody *)visitor->data)->wraps;
    bool remainder = expr->kind == EXPR_FLOORMOD || expr->kind == EXPR_MOD || expr_is_call(expr, OP_BITWISE_AND) ||
                     expr_is_call(expr, OP_SHIFT_LEFT) || expr_is_call(expr, OP_SHIFT_RIGHT);
    bool narrowed = expr->kind == EXPR_CAST && expr->dtype.bits < expr->args[0]->dtype.bits;
    *found |= dtype_is_integer(expr->dtype) && (remainder || narrowed);
    return true;
}

static bool count_stores(Visitor *visitor, const Stmt *stmt)
{
    ((LoopBody *)visitor->data)->stores += stmt->kind == STMT_STORE;
    return true;
}

/* LLVM 19's loop vectorizer takes a strided index that wraps within fewer bits, as j * 3 % 16 does, for one that does not, when it groups
   neighbouring lanes into one wide load. Loops with such arithmetic keep their scalar form. A loop around much code is not unrolled by LLVM,
   but it computes at length what that would cost. BRANCH is the jump back of the loop. */
static void restrict_passes(FuncGen *gen, LLVMValueRef branch, const Stmt *body)
{
    enum { MANY_STORES = 24 };
    LLVMContextRef context = gen->build->llvm;
    LoopBody content = {0};
    Visitor visitor = {.expr = find_wrapping, .stmt = count_stores, .data = &content};
    visit_stmt(&visitor, body);
    static const char vectorize[] = "llvm.loop.vectorize.enable", unroll[] = "llvm.loop.unroll.disable";
    LLVMMetadataRef no_vectors[] = {LLVMMDStringInContext2(context, vectorize, sizeof vectorize - 1),
                                    LLVMValueAsMetadata(LLVMConstInt(LLVMInt1TypeInContext(context), 0, false))};
    LLVMMetadataRef no_unrolling = LLVMMDStringInContext2(context, unroll, sizeof unroll - 1);
    LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0), parts[3] = {self}; /* a loop's node names itself first */
    size_t count = 1;
    if (content.wraps)
        parts[count++] = LLVMMDNodeInContext2(context, no_vectors, 2);
    if (content.stores >= MANY_STORES)
        parts[count++] = LLVMMDNodeInContext2(context, &no_unrolling, 1);
    LLVMMetadataRef loop = LLVMMDNodeInContext2(context, parts, count);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    if (count > 1)
        LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "llvm.loop", 9), LLVMMetadataAsValue(context, loop));
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
    LLVMValueRef back = LLVMBuildCondBr(gen->builder, LLVMBuildICmp(gen->builder, LLVMIntSLT, next, end, ""), loop, done);
    restrict_passes(gen, back, body);
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
    bool streamed = gen->streams_stores, streams = loop_hint(loop, "pragma_nontemporal") != 0;
    const Var *prefetch_var = gen->prefetch_var;
    int64_t outer_distance = gen->prefetch_distance, distance = loop_hint(loop, "software_prefetch");
    gen->streams_stores |= streams;
    if (distance > 0) {
        gen->prefetch_var = loop->var;
        gen->prefetch_distance = distance;
    }
    emit_for_of_kind(gen, stmt);
    gen->streams_stores = streamed;
    gen->prefetch_var = prefetch_var;
    gen->prefetch_distance = outer_distance;
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
