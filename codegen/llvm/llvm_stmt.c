/* Statements: the dispatch, and those that need no file of their own. */
#include <string.h>

#include "codegen/llvm/llvm_debug.h"
#include "codegen/llvm/llvm_gen.h"
#include "ir/vector_slice.h"
#include "support/bug.h"

static void emit_if(FuncGen *gen, const Stmt *stmt)
{
    const Stmt *else_body = stmt->as.branch.else_body;
    /* two versions of one computation: the scratch of both counts once */
    bool are_versions = expr_is_call(stmt->as.branch.condition, OP_TIRC_OWN_TMM16);
    if (are_versions && !may_own_tmm16(gen)) {
        if (else_body)
            emit_stmt(gen, else_body);
        return;
    }
    LLVMValueRef condition = emit_expr(gen, stmt->as.branch.condition);
    LLVMBasicBlockRef then_block = emit_block(gen, "if"), done = emit_block(gen, "if.done"),
                      else_block = else_body ? emit_block(gen, "else") : done;
    LLVMBuildCondBr(gen->builder, condition, then_block, else_block);
    int64_t stack = gen->stack_bytes, staging = gen->staging_bytes;
    emit_at(gen, then_block);
    emit_stmt(gen, stmt->as.branch.then_body);
    emit_jump(gen, done);
    if (else_body) {
        int64_t then_stack = gen->stack_bytes, then_staging = gen->staging_bytes;
        if (are_versions) {
            gen->stack_bytes = stack;
            gen->staging_bytes = staging;
        }
        bool keeps_loops = gen->keeps_loops;
        gen->keeps_loops |= are_versions;
        emit_at(gen, else_block);
        emit_stmt(gen, else_body);
        emit_jump(gen, done);
        gen->keeps_loops = keeps_loops;
        gen->stack_bytes = gen->stack_bytes > then_stack ? gen->stack_bytes : then_stack;
        gen->staging_bytes = gen->staging_bytes > then_staging ? gen->staging_bytes : then_staging;
    }
    emit_at(gen, done);
}

/* A vector store becomes several that fit the registers. Where a slice may write what a later one reads, all values come first. */
static void emit_store(FuncGen *gen, const Stmt *stmt)
{
    LaneRange *slices;
    int count = vector_slices(gen->ctx, stmt, gen->build->target.vector_bytes, gen->has_computed_pointers, &slices);
    if (count <= 1) {
        emit_store_value(gen, stmt, emit_expr(gen, stmt->as.store.value));
        return;
    }
    bool interleave = vector_slices_may_interleave(stmt, gen->has_computed_pointers);
    const Stmt **stores = ARENA_ARRAY(gen->ctx->arena, const Stmt *, count);
    LLVMValueRef *values = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, count);
    for (int i = 0; i < count; i++) {
        stores[i] = vector_slice_store(gen->ctx, &gen->sliced_lets, stmt, slices[i]);
        values[i] = emit_expr(gen, stores[i]->as.store.value);
        if (interleave)
            emit_store_value(gen, stores[i], values[i]);
    }
    for (int i = 0; i < count && !interleave; i++)
        emit_store_value(gen, stores[i], values[i]);
}

/* A vector wider than the registers is computed in slices, and so is what uses it. The whole value serves what cannot be taken apart. */
static void emit_let_stmt(FuncGen *gen, Var *var, const Expr *value)
{
    LaneRange *slices;
    int count = vector_value_slices(gen->ctx, value, gen->build->target.vector_bytes, &slices), lanes = value->dtype.lanes;
    if (count <= 1) {
        emit_binding(gen, var, value);
        return;
    }
    const Expr **args = ARENA_ARRAY(gen->ctx->arena, const Expr *, count + lanes);
    LLVMValueRef *values = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, count);
    for (int i = 0; i < count; i++) {
        Var *slice = var_new(gen->ctx, var->name, dtype_with_lanes(value->dtype, slices[i].count), var->span);
        values[i] = emit_expr(gen, vector_slice_value(gen->ctx, &gen->sliced_lets, value, slices[i]));
        gen_bind(gen, slice, values[i]);
        args[i] = expr_var(gen->ctx, slice);
    }
    for (int i = 0; i < lanes; i++)
        args[count + i] = expr_int(gen->ctx, DTYPE_INT32, i);
    map_set(gen->ctx->arena, &gen->sliced_lets, var, (void *)expr_shuffle(gen->ctx, value->dtype, args, count + lanes, count));
    gen_bind(gen, var, emit_joined(gen, values, count, lanes));
}

static void emit_assert(FuncGen *gen, const Stmt *stmt)
{
    const Expr *message = stmt->as.assertion.message;
    const char *text = message && message->kind == EXPR_STRING ? message->value.text : "assertion failed";
    LLVMValueRef holds = emit_expr(gen, stmt->as.assertion.condition);
    emit_fail_if(gen, LLVMBuildNot(gen->builder, holds, ""), context_internf(gen->ctx, "%s: %s", gen->symbol, text));
    emit_stmt(gen, stmt->as.assertion.body);
}

void emit_stmt(FuncGen *gen, const Stmt *stmt)
{
    llvm_debug_locate(gen, stmt->span);
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++)
            emit_stmt(gen, stmt->as.seq.items[i]);
        break;
    case STMT_FOR: emit_for(gen, stmt); break;
    case STMT_WHILE: emit_while(gen, stmt); break;
    case STMT_IF: emit_if(gen, stmt); break;
    case STMT_LET:
        emit_let_stmt(gen, stmt->as.let.var, stmt->as.let.value);
        llvm_debug_variable(gen, stmt->as.let.var->name, stmt->as.let.var, map_get(&gen->values, stmt->as.let.var), 0);
        emit_stmt(gen, stmt->as.let.body);
        break;
    case STMT_STORE: {
        LLVMMetadataRef outer = llvm_debug_axes(gen, stmt->span);
        emit_store(gen, stmt);
        llvm_debug_leave(gen, outer);
        break;
    }
    case STMT_EVALUATE: emit_expr(gen, stmt->as.evaluate); break;
    case STMT_ALLOCATE: emit_allocate(gen, stmt); break;
    case STMT_ALLOCATE_CONST: emit_allocate_const(gen, stmt); break;
    case STMT_DECL_BUFFER: emit_stmt(gen, stmt->as.declare.body); break;
    case STMT_ATTR: emit_stmt(gen, stmt->as.attr.body); break;
    case STMT_ASSERT: emit_assert(gen, stmt); break;
    case STMT_BLOCK:
    case STMT_REALIZE: BUG("a block reached code generation");
    }
}
