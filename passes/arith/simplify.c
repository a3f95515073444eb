/* The visit that both simplifiers share: operands first, then the rules of the node's kind, with results remembered; and the public
   questions on top of it. */
#include "passes/arith/simplify.h"

#include "ir/fold.h"
#include "passes/arith/linear.h"

/* --- Comparing by difference --- */

Order simplify_compare_to(Simplifier *s, const Expr *expr, int64_t value)
{
    const Expr *simple = simplify_visit(s, expr);
    IntBound bound = analyzer_bound(s->an, simple);
    if (bound.min == value && bound.max == value)
        return ORDER_EQ;
    if (bound.min > value)
        return ORDER_GT;
    if (bound.max < value)
        return ORDER_LT;
    if (bound.min >= value)
        return ORDER_GE;
    if (bound.max <= value)
        return ORDER_LE;
    return value == 0 && analyzer_modular(s->an, simple).base != 0 ? ORDER_NE : ORDER_ANY;
}

Order simplify_compare(Simplifier *s, const Expr *a, const Expr *b)
{
    Order order = simplify_compare_to(s, op_sub(s->an->ctx, a, b), 0);
    if (order == ORDER_EQ || order == ORDER_LT || order == ORDER_GT)
        return order;
    return order & comparisons_find(s->an, a, b);
}

/* --- Kinds with operands under a condition --- */

static const Expr *visit_assuming(Simplifier *s, const Expr *condition, const Expr *expr)
{
    AnalyzerScope scope = analyzer_enter(s->an);
    analyzer_assume(s->an, condition);
    const Expr *result = simplify_visit(s, expr);
    analyzer_leave(s->an, scope);
    return result;
}

/* A select or if_then_else: each branch is simplified knowing the condition. */
static const Expr *visit_choice(Simplifier *s, const Expr *expr)
{
    const Expr *condition = simplify_visit(s, expr->args[0]);
    const Expr *args[] = {condition, visit_assuming(s, condition, expr->args[1]), NULL};
    args[2] = visit_assuming(s, negate_condition(s->an->ctx, condition), expr->args[2]);
    if (condition->kind == EXPR_INT)
        return args[condition->value.integer ? 1 : 2];
    return simplify_node(s, expr_with_args(s->an->ctx, expr, args));
}

/* A let of a constant or of another variable is inlined; any other value stays in its let, so that expressions do not grow. */
static const Expr *visit_let(Simplifier *s, const Expr *expr)
{
    const Expr *value = simplify_visit(s, expr->args[0]);
    bool trivial = value->kind == EXPR_INT || value->kind == EXPR_FLOAT || value->kind == EXPR_VAR;
    if (trivial && !expr_uses_var(value, expr->value.var)) {
        analyzer_bind_value(s->an, expr->value.var, value);
        return simplify_visit(s, expr->args[1]);
    }
    const Expr *args[] = {value, simplify_visit(s, expr->args[1])};
    return expr_with_args(s->an->ctx, expr, args);
}

static const Expr *visit_var(Simplifier *s, const Expr *expr)
{
    VarFact *fact = analyzer_find_var(s->an, expr->value.var);
    if (fact && fact->value)
        return fact->value;
    const Expr *truth = expr->dtype.code == DT_BOOL ? simplify_by_literal(s, expr) : NULL;
    return truth ? truth : expr;
}

/* --- The visit --- */

static const Expr *with_visited_args(Simplifier *s, const Expr *expr)
{
    const Expr *few[4], **args = expr->arg_count <= 4 ? few : ARENA_ARRAY(s->an->arena, const Expr *, expr->arg_count);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = simplify_visit(s, expr->args[i]);
    return expr_with_args(s->an->ctx, expr, args);
}

const Expr *simplify_node(Simplifier *s, const Expr *expr)
{
    const Expr *result = expr_is_binary(expr) ? fold_binary(s->an->ctx, expr->kind, expr->args[0], expr->args[1]) : NULL;
    if (result)
        return result;
    if (expr->arg_count && expr->args[0]->dtype.lanes > 1 && (result = simplify_vector(s, expr)))
        return result;
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: return simplify_add(s, expr);
    case EXPR_SUB: return simplify_sub(s, expr);
    case EXPR_MUL: return simplify_mul(s, expr);
    case EXPR_DIV: return simplify_truncdiv(s, expr);
    case EXPR_MOD: return simplify_truncmod(s, expr);
    case EXPR_FLOORDIV: return simplify_floordiv(s, expr);
    case EXPR_FLOORMOD: return simplify_floormod(s, expr);
    case EXPR_MIN: return simplify_min(s, expr);
    case EXPR_MAX: return simplify_max(s, expr);
    case EXPR_EQ: return simplify_equal(s, expr);
    case EXPR_NE: return simplify_not_equal(s, expr);
    case EXPR_LT: return simplify_less(s, expr);
    case EXPR_LE: return simplify_less_equal(s, expr);
    case EXPR_AND: return simplify_and(s, expr);
    case EXPR_OR: return simplify_or(s, expr);
    case EXPR_NOT: return simplify_not(s, expr);
    case EXPR_SELECT: return simplify_select(s, expr);
    case EXPR_CALL: return simplify_call(s, expr);
    case EXPR_CAST: return op_cast(s->an->ctx, expr->dtype, expr->args[0]);
    default: return expr;
    }
}

static const Expr *visit_uncached(Simplifier *s, const Expr *expr)
{
    if (expr->opaque)
        return with_visited_args(s, expr);
    if (s->canonical && canonical_handles(expr))
        return canonical_simplify(s, expr);
    switch ((ExprKind)expr->kind) {
    case EXPR_GT:
    case EXPR_GE:
        if (!is_index_type(expr->args[0]->dtype))
            break;
        return simplify_visit(s, expr_binary(s->an->ctx, expr->kind == EXPR_GT ? EXPR_LT : EXPR_LE, expr->args[1], expr->args[0]));
    case EXPR_LET: return visit_let(s, expr);
    case EXPR_SELECT: return visit_choice(s, expr);
    case EXPR_CALL:
        if (expr->value.op == OP_IF_THEN_ELSE)
            return visit_choice(s, expr);
        if (expr->value.op == OP_COMM_REDUCER) /* its lets are parameters */
            return expr;
        break;
    default: break;
    }
    return simplify_node(s, with_visited_args(s, expr));
}

const Expr *simplify_visit(Simplifier *s, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        return visit_var(s, expr);
    if (expr->arg_count == 0)
        return expr;
    Memo *memo = analyzer_memo(s->an, expr);
    const Expr *known = s->canonical ? memo->canonical : memo->rewritten;
    if (known)
        return known;
    if (!analyzer_begin_visit(s->an)) {
        s->cut_count++;
        return expr;
    }
    int cuts = s->cut_count;
    const Expr *result = visit_uncached(s, expr);
    analyzer_end_visit(s->an);
    if (result->dtype.lanes < expr->dtype.lanes) /* what is known of a condition is a truth for all lanes */
        result = expr_broadcast(s->an->ctx, result, expr->dtype.lanes);
    if (result->arg_count)
        result = analyzer_memo(s->an, result)->expr; /* one node for equal results keeps comparing them cheap */
    if (cuts == s->cut_count) {
        s->an->seen |= result->uses;
        memo = analyzer_memo(s->an, expr);
        *(s->canonical ? &memo->canonical : &memo->rewritten) = result;
    }
    return result;
}

const Expr *simplify_again(Simplifier *s, const Expr *expr)
{
    if (s->rewrite_depth >= REWRITE_DEPTH_LIMIT) {
        s->cut_count++;
        return expr;
    }
    s->rewrite_depth++;
    const Expr *result = simplify_visit(s, expr);
    s->rewrite_depth--;
    return result;
}

/* --- Public questions --- */

const Expr *analyzer_simplify_rewrite(Analyzer *an, const Expr *expr)
{
    /* a second round finds what the first one's results make possible */
    return simplify_visit(&an->rewrite, simplify_visit(&an->rewrite, expr));
}

const Expr *analyzer_simplify_canonical(Analyzer *an, const Expr *expr)
{
    return simplify_visit(&an->canonical, expr);
}

const Expr *analyzer_simplify(Analyzer *an, const Expr *expr)
{
    /* linear forms first, since the rules may hide the structure of sums, and last, since they define the order of terms in print */
    expr = analyzer_simplify_canonical(an, expr);
    if (expr->kind == EXPR_INT)
        return expr;
    expr = analyzer_simplify_rewrite(an, expr);
    return expr->kind == EXPR_INT ? expr : analyzer_simplify_canonical(an, expr);
}

/* EXPR is arithmetic on integers and variables alone that stays within its types: what is true of numbers is true of it. */
static bool never_wraps(Analyzer *an, const Expr *expr)
{
    DType type = expr->dtype;
    if (type.lanes != 1 || (type.code != DT_BOOL && !dtype_is_integer(type)))
        return false;
    if (expr->kind == EXPR_INT || expr->kind == EXPR_VAR)
        return true;
    if (!expr_is_binary(expr) && expr->kind != EXPR_NOT)
        return false;
    for (int i = 0; i < expr->arg_count; i++)
        if (!never_wraps(an, expr->args[i]))
            return false;
    if (type.code == DT_BOOL)
        return true;
    IntBound bound = analyzer_bound(an, expr);
    return bound.min != BOUND_NEG_INF && bound.max != BOUND_POS_INF && bound.min >= dtype_min_int(type) && bound.max <= dtype_max_int(type);
}

/* The second operand of if_then_else is evaluated only where the condition holds. (As the reference prints it: the third one does not learn
   of the condition.) */
static const Expr *simplify_choice_indices(Analyzer *an, Analyzer *limits, const Expr *choice)
{
    const Expr *condition = choice->args[0];
    const Expr *args[3] = {analyzer_simplify_indices(an, limits, condition), choice->args[1],
                           analyzer_simplify_indices(an, limits, choice->args[2])};
    if (expr_is_int(args[0], 0))
        return args[2];
    if (expr_is_int(args[0], 1))
        return analyzer_simplify_indices(an, limits, args[1]);
    AnalyzerScope scope = analyzer_enter(an);
    if (never_wraps(limits, condition))
        analyzer_assume(an, args[0]);
    args[1] = analyzer_simplify_indices(an, limits, args[1]);
    analyzer_leave(an, scope);
    return expr_with_args(an->ctx, choice, args);
}

/* Argument INDEX of VALUE says where memory is. */
static bool is_place(const Expr *value, int index)
{
    if (expr_is_call(value, OP_TVM_ACCESS_PTR))
        return index == 2 || index == 3;
    return value->kind == EXPR_LOAD && index < load_index_count(value);
}

const Expr *analyzer_simplify_indices(Analyzer *an, Analyzer *limits, const Expr *value)
{
    if (value->arg_count == 0)
        return value;
    if (never_wraps(limits, value))
        return analyzer_simplify(an, value);
    if (expr_is_call(value, OP_IF_THEN_ELSE))
        return simplify_choice_indices(an, limits, value);
    const Expr **args = ARENA_ARRAY(an->ctx->arena, const Expr *, value->arg_count);
    for (int i = 0; i < value->arg_count; i++)
        args[i] = is_place(value, i) ? analyzer_simplify(an, value->args[i]) : analyzer_simplify_indices(an, limits, value->args[i]);
    if (value->kind == EXPR_GT || value->kind == EXPR_GE)
        return expr_binary(an->ctx, value->kind == EXPR_GT ? EXPR_LT : EXPR_LE, args[1], args[0]);
    return expr_with_args(an->ctx, value, args);
}

Range analyzer_simplify_range(Analyzer *an, Range range)
{
    return (Range){analyzer_simplify(an, range.min), analyzer_simplify(an, range.extent)};
}

Region analyzer_simplify_region(Analyzer *an, Region region)
{
    Range *ranges = ARENA_ARRAY(an->ctx->arena, Range, region.buffer->ndim);
    for (int i = 0; i < region.buffer->ndim; i++)
        ranges[i] = analyzer_simplify_range(an, region.ranges[i]);
    region.ranges = ranges;
    return region;
}
