/* Expressions: the dispatch over kinds, and the kinds that need no file of their own. */
#include "codegen/llvm/llvm_gen.h"
#include "support/bug.h"

/* Above this many nodes a branch costs less than evaluating what is not needed. */
enum { CHEAP_NODES = 8 };

bool expr_is_speculatable(const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        return false;
    if (expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || expr->value.op == OP_CALL_PURE_EXTERN ||
                                    expr->value.op == OP_CALL_LLVM_PURE_INTRIN || expr->value.op == OP_ADDRESS_OF))
        return expr->value.op == OP_ADDRESS_OF && expr_is_speculatable(expr->args[0]->args[0]);
    for (int i = 0; i < expr->arg_count; i++)
        if (!expr_is_speculatable(expr->args[i]))
            return false;
    return true;
}

static int node_count(const Expr *expr)
{
    int count = 1;
    for (int i = 0; i < expr->arg_count && count <= CHEAP_NODES; i++)
        count += node_count(expr->args[i]);
    return count;
}

static bool has_costly_call(const Expr *expr)
{
    if (expr->kind == EXPR_CALL && expr->dtype.code == DT_FLOAT)
        return true;
    for (int i = 0; i < expr->arg_count; i++)
        if (has_costly_call(expr->args[i]))
            return true;
    return false;
}

bool expr_is_cheap(const Expr *expr)
{
    return node_count(expr) <= CHEAP_NODES && !has_costly_call(expr) && expr_is_speculatable(expr);
}

LLVMValueRef emit_nothing(FuncGen *gen, const Expr *expr)
{
    return expr->dtype.code == DT_VOID ? NULL : llvm_const_zero(gen->build, expr->dtype);
}

static LLVMValueRef emit_var(FuncGen *gen, const Expr *expr)
{
    LLVMValueRef value = map_get(&gen->values, expr->value.var);
    if (value)
        return value;
    diag_error(gen->ctx, expr->span, "'%s' has no value here", expr->value.var->name);
    return emit_nothing(gen, expr);
}

static LLVMValueRef emit_binary(FuncGen *gen, const Expr *expr)
{
    DType dtype = expr->args[0]->dtype;
    LLVMValueRef a = emit_expr(gen, expr->args[0]), b = emit_expr(gen, expr->args[1]);
    if (dtype_is_float(dtype))
        return emit_float_binary(gen, expr->kind, dtype, a, b);
    return emit_int_binary(gen, expr->kind, dtype, a, b);
}

/* Evaluates both branches. A vector condition of other lanes than the branches does not occur; a scalar one chooses all lanes. */
static LLVMValueRef emit_select(FuncGen *gen, const Expr *expr)
{
    LLVMValueRef condition = emit_expr(gen, expr->args[0]);
    LLVMValueRef if_true = emit_expr(gen, expr->args[1]), if_false = emit_expr(gen, expr->args[2]);
    return LLVMBuildSelect(gen->builder, condition, if_true, if_false, "");
}

void emit_binding(FuncGen *gen, const Var *var, const Expr *value)
{
    gen_bind(gen, var, emit_expr(gen, value));
    gen->has_computed_pointers |= var->dtype.code == DT_HANDLE;
}

static LLVMValueRef emit_let(FuncGen *gen, const Expr *expr)
{
    emit_binding(gen, expr->value.var, expr->args[0]);
    return emit_expr(gen, expr->args[1]);
}

static LLVMValueRef emit_kind(FuncGen *gen, const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_VAR: return emit_var(gen, expr);
    case EXPR_INT: return llvm_const_int(gen->build, expr->dtype, expr->value.integer);
    case EXPR_FLOAT: return llvm_const_float(gen->build, expr->dtype, expr->value.real);
    case EXPR_STRING: return emit_text(gen, expr->value.text);
    case EXPR_CAST: return emit_cast(gen, emit_expr(gen, expr->args[0]), expr->args[0]->dtype, expr->dtype);
    case EXPR_AND:
    case EXPR_OR: return emit_and_or(gen, expr);
    case EXPR_NOT: return LLVMBuildNot(gen->builder, emit_expr(gen, expr->args[0]), "");
    case EXPR_SELECT: return emit_select(gen, expr);
    case EXPR_LOAD: return emit_load(gen, expr);
    case EXPR_RAMP: return emit_ramp(gen, expr);
    case EXPR_BROADCAST: return emit_broadcast(gen, expr);
    case EXPR_SHUFFLE: return emit_shuffle_expr(gen, expr);
    case EXPR_LET: return emit_let(gen, expr);
    case EXPR_CALL: return emit_call(gen, expr);
    default: return emit_binary(gen, expr);
    }
}

/* Part of a lazily evaluated vector operand that does not have its lanes: a scalar waits for any lane. */
static LLVMValueRef emit_other_lanes(FuncGen *gen, const Expr *expr)
{
    if (expr->dtype.lanes == 1)
        return emit_where_any_lane(gen, expr);
    diag_error(gen->ctx, expr->span, "a vector of %d lanes that is only needed where a condition over %d lanes holds cannot be compiled",
               expr->dtype.lanes, llvm_lanes(LLVMTypeOf(gen->lane_mask)));
    diag_note(gen->ctx, expr->span, "T.Select evaluates both operands and has no such limit");
    return emit_nothing(gen, expr);
}

LLVMValueRef emit_expr(FuncGen *gen, const Expr *expr)
{
    if (gen->lane_mask && expr->dtype.lanes != llvm_lanes(LLVMTypeOf(gen->lane_mask)) && !expr_is_speculatable(expr))
        return emit_other_lanes(gen, expr);
    return emit_kind(gen, expr);
}
