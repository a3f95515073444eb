/* Compiles expressions to evaluation nodes: variables become slots, every operation the evaluator for its types. What cannot be interpreted
   compiles to a node that says so when it is reached. */
#include "interp/interp_internal.h"

const EvalNode *compile_index(Compiler *compiler, const Expr *expr)
{
    compiler->index_depth++;
    const EvalNode *node = compile_expr(compiler, expr);
    compiler->index_depth--;
    return node;
}

const EvalNode **compile_indices(Compiler *compiler, const Expr *const *exprs, int count)
{
    const EvalNode **nodes = ARENA_ARRAY(compiler->arena, const EvalNode *, count);
    for (int i = 0; i < count; i++)
        nodes[i] = compile_index(compiler, exprs[i]);
    return nodes;
}

/* Picks the evaluator of three by the node's type. */
static void set_by_type(EvalNode *node, EvalInteger *integer, EvalReal *real, EvalPointer *pointer)
{
    if (dtype_is_float(node->dtype))
        node->eval.real = real;
    else if (node->dtype.code == DT_HANDLE)
        node->eval.pointer = pointer;
    else
        node->eval.integer = integer;
}

static void set_unsupported(EvalNode *node)
{
    set_by_type(node, eval_unsupported_integer, eval_unsupported_real, eval_unsupported_pointer);
}

/* --- Leaves and vectors --- */
static int64_t eval_constant_integer(const EvalNode *node, Thread *thread)
{
    (void)thread;
    return node->as.integer;
}

static double eval_constant_real(const EvalNode *node, Thread *thread)
{
    (void)thread;
    return node->as.real;
}

/* A text is only looked at by calls; as a value it is nothing. */
static Pointer eval_text(const EvalNode *node, Thread *thread)
{
    (void)node, (void)thread;
    return (Pointer){NULL, 0};
}

static int64_t eval_ramp(const EvalNode *node, Thread *thread)
{
    int64_t base = eval_integer(node->args[0], thread), stride = eval_integer(node->args[1], thread), step, value;
    bool overflow = __builtin_mul_overflow(stride, (int64_t)thread->lane, &step);
    overflow |= __builtin_add_overflow(base, step, &value);
    int64_t wrapped = eval_wrap(node, value);
    if (node->as.integer && (overflow || wrapped != value))
        report_finding(thread, INTERP_OVERFLOW, node->source, node->source->span, "overflows %s in lane %d of an index",
                       dtype_name(thread->run->ctx, dtype_scalar(node->dtype)), thread->lane);
    return wrapped;
}

static int64_t eval_broadcast_integer(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread);
}

static double eval_broadcast_real(const EvalNode *node, Thread *thread)
{
    return eval_real(node->args[0], thread);
}

/* --- Nodes --- */
static const EvalNode **compile_args(Compiler *compiler, const Expr *expr)
{
    const EvalNode **args = ARENA_ARRAY(compiler->arena, const EvalNode *, expr->arg_count);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = compile_expr(compiler, expr->args[i]);
    return args;
}

static void compile_load(Compiler *compiler, EvalNode *node, const Expr *expr)
{
    const BufferInfo *buffer = compile_buffer(compiler, expr->value.buffer);
    int count = load_index_count(expr);
    node->as.access = (Access){expr, expr->span, buffer, compile_indices(compiler, expr->args, count), count};
    if (expr->predicated) {
        const EvalNode *mask = compile_expr(compiler, load_mask(expr));
        node->args = arena_copy(compiler->arena, &mask, sizeof mask);
        node->arg_count = 1;
    }
    set_by_type(node, eval_load_integer, eval_load_real, eval_load_pointer);
}

static void compile_let(Compiler *compiler, EvalNode *node, const Expr *expr)
{
    const EvalNode **args = ARENA_ARRAY(compiler->arena, const EvalNode *, 2);
    args[0] = compile_expr(compiler, expr->args[0]);
    node->as.slot = compile_define(compiler, expr->value.var);
    args[1] = compile_expr(compiler, expr->args[1]);
    node->args = args;
    set_by_type(node, eval_let_integer, eval_let_real, eval_let_pointer);
}

static void compile_operator(Compiler *compiler, EvalNode *node, const Expr *expr)
{
    node->args = compile_args(compiler, expr);
    node->arg_count = expr->arg_count;
    DType operand = expr->args[0]->dtype;
    bool checked = compiler->options->checks && compiler->index_depth > 0 && dtype_is_index(operand);
    if (dtype_is_float(operand) && expr_is_compare(expr))
        node->eval.integer = eval_real_comparison(expr->kind);
    else if (dtype_is_float(operand))
        node->eval.real = eval_real_operator(expr->kind);
    else if (operand.code != DT_HANDLE)
        node->eval.integer = eval_integer_operator(expr->kind, operand, checked);
    if (!node->eval.integer)
        set_unsupported(node);
}

static void compile_call(Compiler *compiler, EvalNode *node, const Expr *expr)
{
    Op op = expr->value.op;
    node->arg_count = expr->arg_count;
    if (op == OP_TVM_ACCESS_PTR || op == OP_ADDRESS_OF) {
        compiler->index_depth++;
        node->args = compile_args(compiler, expr);
        compiler->index_depth--;
    } else
        node->args = compile_args(compiler, expr);
    if (!math_compile(node, op) && !call_compile(node, op))
        set_unsupported(node);
}

static void compile_vector(Compiler *compiler, EvalNode *node, const Expr *expr)
{
    node->args = compile_args(compiler, expr);
    node->arg_count = expr->arg_count;
    if (expr->kind == EXPR_SHUFFLE) {
        set_by_type(node, eval_shuffle_integer, eval_shuffle_real, eval_unsupported_pointer);
        return;
    }
    if (expr->kind == EXPR_RAMP) {
        node->as.integer = compiler->options->checks && compiler->index_depth > 0 && dtype_is_index(expr->dtype);
        set_by_type(node, eval_ramp, eval_unsupported_real, eval_unsupported_pointer);
        return;
    }
    set_by_type(node, eval_broadcast_integer, eval_broadcast_real, eval_unsupported_pointer);
}

static void compile_cast(Compiler *compiler, EvalNode *node, const Expr *expr)
{
    node->args = compile_args(compiler, expr);
    node->arg_count = 1;
    if (!eval_compile_cast(node))
        set_unsupported(node);
}

static void compile_kind(Compiler *compiler, EvalNode *node, const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_VAR:
        node->as.slot = compile_slot(compiler, expr->value.var, expr->span);
        set_by_type(node, eval_var_integer, eval_var_real, eval_var_pointer);
        return;
    case EXPR_INT:
        node->as.integer = expr->value.integer;
        node->eval.integer = eval_constant_integer;
        return;
    case EXPR_FLOAT:
        node->as.real = expr->value.real;
        node->eval.real = eval_constant_real;
        return;
    case EXPR_STRING: set_by_type(node, eval_unsupported_integer, eval_unsupported_real, eval_text); return;
    case EXPR_CAST: compile_cast(compiler, node, expr); return;
    case EXPR_SELECT:
        node->args = compile_args(compiler, expr);
        node->arg_count = 3;
        set_by_type(node, eval_select_integer, eval_select_real, eval_select_pointer);
        return;
    case EXPR_LOAD: compile_load(compiler, node, expr); return;
    case EXPR_RAMP:
    case EXPR_BROADCAST:
    case EXPR_SHUFFLE: compile_vector(compiler, node, expr); return;
    case EXPR_LET: compile_let(compiler, node, expr); return;
    case EXPR_CALL: compile_call(compiler, node, expr); return;
    default: compile_operator(compiler, node, expr); return;
    }
}

const EvalNode *compile_expr(Compiler *compiler, const Expr *expr)
{
    EvalNode *node = ARENA_NEW(compiler->arena, EvalNode);
    node->dtype = expr->dtype;
    node->spare_bits = (uint8_t)(expr->dtype.bits && expr->dtype.bits < 64 ? 64 - expr->dtype.bits : 0);
    node->source = expr;
    compile_kind(compiler, node, expr);
    return node;
}
