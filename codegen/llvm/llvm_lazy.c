/* and, or and if_then_else: the right or chosen operand is evaluated only when needed. Scalars branch, unless evaluating both is cheap and
   harmless. Vectors evaluate under a lane mask (llvm_gen.h) what is not harmless. */
#include "codegen/llvm/llvm_gen.h"

/* EXPR evaluated for the lanes of MASK (of the current lane mask). */
static LLVMValueRef emit_under_mask(FuncGen *gen, const Expr *expr, LLVMValueRef mask)
{
    LLVMValueRef outer = gen->lane_mask;
    gen->lane_mask = outer ? LLVMBuildAnd(gen->builder, outer, mask, "") : mask;
    LLVMValueRef value = emit_expr(gen, expr);
    gen->lane_mask = outer;
    return value;
}

/* CONDITION, computed from EXPR, as a value to branch on: an element of scratch memory that was never written may take part in a value that nobody
   reads, and LLVM takes a branch on such a one for one that does not run. */
static LLVMValueRef settled(FuncGen *gen, const Expr *expr, LLVMValueRef condition)
{
    return !expr_is_pure(expr) ? LLVMBuildFreeze(gen->builder, condition, "") : condition;
}

/* CONDITION ? IF_TRUE : IF_FALSE by branches; NULL for a branch stands for VALUE_OTHERWISE. */
static LLVMValueRef emit_branches(FuncGen *gen, LLVMValueRef condition, const Expr *if_true, const Expr *if_false,
                                  LLVMValueRef value_otherwise)
{
    LLVMBasicBlockRef then_block = emit_block(gen, "then"), else_block = emit_block(gen, "else"), done = emit_block(gen, "done");
    LLVMBuildCondBr(gen->builder, condition, then_block, else_block);
    emit_at(gen, then_block);
    LLVMValueRef true_value = if_true ? emit_expr(gen, if_true) : value_otherwise;
    LLVMBasicBlockRef then_end = LLVMGetInsertBlock(gen->builder);
    emit_jump(gen, done);
    emit_at(gen, else_block);
    LLVMValueRef false_value = if_false ? emit_expr(gen, if_false) : value_otherwise;
    LLVMBasicBlockRef else_end = LLVMGetInsertBlock(gen->builder);
    emit_jump(gen, done);
    emit_at(gen, done);
    return true_value ? emit_phi(gen, true_value, then_end, false_value, else_end) : NULL;
}

LLVMValueRef emit_and_or(FuncGen *gen, const Expr *expr)
{
    bool is_and = expr->kind == EXPR_AND;
    const Expr *right = expr->args[1];
    LLVMValueRef a = emit_expr(gen, expr->args[0]);
    if (expr->dtype.lanes > 1) {
        LLVMValueRef needed = is_and ? a : LLVMBuildNot(gen->builder, a, "");
        LLVMValueRef b = expr_is_speculatable(right) ? emit_expr(gen, right) : emit_under_mask(gen, right, needed);
        return is_and ? LLVMBuildAnd(gen->builder, a, b, "") : LLVMBuildOr(gen->builder, a, b, "");
    }
    if (expr_is_cheap(right)) {
        LLVMValueRef b = emit_expr(gen, right);
        return is_and ? LLVMBuildAnd(gen->builder, a, b, "") : LLVMBuildOr(gen->builder, a, b, "");
    }
    LLVMValueRef decided = LLVMConstInt(gen->build->i1, !is_and, false);
    return emit_branches(gen, settled(gen, expr->args[0], a), is_and ? right : NULL, is_and ? NULL : right, decided);
}

static LLVMValueRef emit_vector_choice(FuncGen *gen, LLVMValueRef condition, const Expr *if_true, const Expr *if_false)
{
    LLVMValueRef inverse = LLVMBuildNot(gen->builder, condition, "");
    LLVMValueRef a = expr_is_speculatable(if_true) ? emit_expr(gen, if_true) : emit_under_mask(gen, if_true, condition);
    LLVMValueRef b = expr_is_speculatable(if_false) ? emit_expr(gen, if_false) : emit_under_mask(gen, if_false, inverse);
    return LLVMBuildSelect(gen->builder, condition, a, b, "");
}

LLVMValueRef emit_if_then_else(FuncGen *gen, const Expr *expr)
{
    const Expr *if_true = expr->args[1], *if_false = expr->args[2];
    LLVMValueRef condition = emit_expr(gen, expr->args[0]);
    if (expr->args[0]->dtype.lanes > 1)
        return emit_vector_choice(gen, condition, if_true, if_false);
    if (expr->dtype.code != DT_VOID && expr_is_cheap(if_true) && expr_is_cheap(if_false)) {
        LLVMValueRef a = emit_expr(gen, if_true), b = emit_expr(gen, if_false);
        return LLVMBuildSelect(gen->builder, condition, a, b, "");
    }
    return emit_branches(gen, settled(gen, expr->args[0], condition), if_true, if_false, NULL);
}

LLVMValueRef emit_where_any_lane(FuncGen *gen, const Expr *expr)
{
    LLVMValueRef mask = gen->lane_mask, any = emit_any(gen, mask);
    gen->lane_mask = NULL;
    LLVMValueRef value = emit_branches(gen, any, expr, NULL, emit_nothing(gen, expr));
    gen->lane_mask = mask;
    return value;
}
