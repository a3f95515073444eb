/* Interval arithmetic with symbolic ends: each operator combines the intervals of its operands, every end monotonic in the ends it is
   built from. Two uses of one variable count as independent, so the result may be too wide, never too narrow. */
#include "passes/arith/int_set.h"
#include "passes/arith/internal.h"

typedef struct {
    Analyzer *an;
    Context *ctx;
    const Domain *domain; /* NULL: the ranges bound in the analyzer */
    int depth;            /* nesting of domains that mention other relaxed variables */
} Evaluator;

enum { DOMAIN_DEPTH_LIMIT = 32 };

static IntSet eval(Evaluator *e, const Expr *expr);

/* --- Variables --- */

/* The interval of VAR as bound in the analyzer, with assumed comparisons VAR <= rhs + offset and >=. */
static IntSet bound_domain(Evaluator *e, const Expr *name)
{
    Analyzer *an = e->an;
    VarFact *fact = analyzer_find_var(an, name->value.var);
    IntSet set = fact ? (IntSet){fact->min, fact->max, false} : int_set_everything();
    for (int i = 0; i < an->comparisons.count; i++) {
        Comparison known = an->comparisons.data[i];
        if (known.bound || !known.lhs || !known.rhs || !expr_is_var(known.lhs, name->value.var) ||
            expr_uses_var(known.rhs, name->value.var) || !dtype_holds(name->dtype, known.offset))
            continue;
        const Expr *limit = op_add_int(e->ctx, known.rhs, known.offset);
        if (known.order == ORDER_LE)
            set.max = set.max ? op_min(e->ctx, set.max, limit) : limit;
        else if (known.order == ORDER_GE)
            set.min = set.min ? op_max(e->ctx, set.min, limit) : limit;
    }
    return set;
}

static bool relaxed_domain(Evaluator *e, const Expr *name, IntSet *set)
{
    if (!e->domain) {
        *set = bound_domain(e, name);
        return set->min || set->max;
    }
    const IntSet *found = domain_find(e->domain, name->value.var);
    if (found)
        *set = *found;
    return found != NULL;
}

/* The ends of SET with the relaxed variables in them relaxed as well. */
static IntSet eval_ends(Evaluator *e, IntSet set)
{
    int limit = e->domain ? e->domain->count : DOMAIN_DEPTH_LIMIT;
    if (set.empty || e->depth >= limit)
        return set;
    e->depth++;
    IntSet low = set.min ? eval(e, set.min) : set;
    IntSet high = set.max == set.min ? low : set.max ? eval(e, set.max) : set;
    e->depth--;
    return low.empty || high.empty ? int_set_nothing() : (IntSet){low.min, high.max, false};
}

static IntSet eval_var(Evaluator *e, const Expr *name)
{
    IntSet set;
    if (!relaxed_domain(e, name, &set))
        return int_set_point(name);
    if (!e->domain) {
        set.min = set.min ? set.min : name;
        set.max = set.max ? set.max : name;
    }
    if (set.min && set.max && expr_equal(set.min, name) && expr_equal(set.max, name))
        return set;
    return eval_ends(e, set);
}

/* --- Operators --- */

static IntSet interval(const Expr *min, const Expr *max)
{
    return (IntSet){min, max, false};
}

static IntSet combine_sum(Evaluator *e, ExprKind kind, IntSet a, IntSet b)
{
    if (kind == EXPR_ADD)
        return interval(a.min && b.min ? op_add(e->ctx, a.min, b.min) : NULL, a.max && b.max ? op_add(e->ctx, a.max, b.max) : NULL);
    return interval(a.min && b.max ? op_sub(e->ctx, a.min, b.max) : NULL, a.max && b.min ? op_sub(e->ctx, a.max, b.min) : NULL);
}

static IntSet combine_extremum(Evaluator *e, ExprKind kind, IntSet a, IntSet b)
{
    if (kind == EXPR_MIN)
        return interval(a.min && b.min ? op_min(e->ctx, a.min, b.min) : NULL,
                        a.max && b.max ? op_min(e->ctx, a.max, b.max) : a.max ? a.max : b.max);
    return interval(a.min && b.min ? op_max(e->ctx, a.min, b.min) : a.min ? a.min : b.min,
                    a.max && b.max ? op_max(e->ctx, a.max, b.max) : NULL);
}

static const Expr *apply_to_end(Evaluator *e, ExprKind kind, const Expr *end, const Expr *by)
{
    return end ? op_binary(e->ctx, kind, end, by, span_none()) : NULL;
}

static bool provably_negative(Evaluator *e, const Expr *value)
{
    return analyzer_prove_below(e->an, value, 0);
}

/* A scaled or divided by the one value BY: order-preserving or -reversing by its sign; with an unknown sign the sign selects. */
static IntSet combine_monotonic(Evaluator *e, ExprKind kind, IntSet a, const Expr *by)
{
    if (expr_is_int(by, 1))
        return a;
    if (analyzer_prove_at_least(e->an, by, 0))
        return interval(apply_to_end(e, kind, a.min, by), apply_to_end(e, kind, a.max, by));
    if (provably_negative(e, by))
        return interval(apply_to_end(e, kind, a.max, by), apply_to_end(e, kind, a.min, by));
    if (!int_set_is_bounded(a))
        return int_set_everything();
    const Expr *positive = op_compare(e->ctx, EXPR_GE, by, expr_int(e->ctx, by->dtype, 0));
    const Expr *first = apply_to_end(e, kind, a.min, by), *second = apply_to_end(e, kind, a.max, by);
    return interval(op_select(e->ctx, positive, first, second, span_none()), op_select(e->ctx, positive, second, first, span_none()));
}

static IntSet combine_product(Evaluator *e, IntSet a, IntSet b)
{
    if (int_set_is_point(a)) {
        IntSet swap = a;
        a = b;
        b = swap;
    }
    if (!int_set_is_point(b))
        return int_set_everything();
    return expr_is_int(b.min, 0) ? b : combine_monotonic(e, EXPR_MUL, a, b.min);
}

/* [-(|d| - 1), |d| - 1], or [0, d - 1] for what is not negative. */
static IntSet remainder_interval(Evaluator *e, const Expr *divisor, bool divisor_positive, bool result_positive)
{
    const Expr *zero = expr_int(e->ctx, divisor->dtype, 0);
    const Expr *size = divisor;
    if (!divisor_positive)
        size = op_select(e->ctx, op_compare(e->ctx, EXPR_GE, divisor, zero), divisor, op_sub(e->ctx, zero, divisor), span_none());
    const Expr *largest = op_add_int(e->ctx, size, -1);
    return interval(result_positive ? zero : op_sub(e->ctx, zero, largest), largest);
}

/* Within one period of the divisor the remainder is a shifted copy of the value. */
static bool within_one_period(Evaluator *e, IntSet a, const Expr *divisor, IntSet *result)
{
    if (divisor->kind != EXPR_INT || !int_set_is_bounded(a))
        return false;
    const Expr *first = op_floordiv(e->ctx, a.min, divisor), *last = op_floordiv(e->ctx, a.max, divisor);
    if (!analyzer_prove_equal(e->an, last, first))
        return false;
    const Expr *start = op_mul(e->ctx, divisor, first);
    *result = interval(analyzer_simplify(e->an, op_sub(e->ctx, a.min, start)), analyzer_simplify(e->an, op_sub(e->ctx, a.max, start)));
    return true;
}

static IntSet combine_remainder(Evaluator *e, ExprKind kind, IntSet a, IntSet b)
{
    if (!int_set_is_point(b) || expr_is_int(b.min, 0))
        return int_set_everything();
    bool divisor_positive = analyzer_prove_at_least(e->an, b.min, 0), floors = kind == EXPR_FLOORMOD;
    IntSet result;
    bool dividend_positive = a.min && analyzer_prove_at_least(e->an, a.min, 0);
    if (divisor_positive && (floors || dividend_positive) && within_one_period(e, a, b.min, &result))
        return result;
    return remainder_interval(e, b.min, divisor_positive, floors ? divisor_positive : dividend_positive);
}

static IntSet combine(Evaluator *e, ExprKind kind, IntSet a, IntSet b)
{
    switch (kind) {
    case EXPR_ADD:
    case EXPR_SUB: return combine_sum(e, kind, a, b);
    case EXPR_MUL: return combine_product(e, a, b);
    case EXPR_DIV:
    case EXPR_FLOORDIV: return int_set_is_point(b) && !expr_is_int(b.min, 0) ? combine_monotonic(e, kind, a, b.min) : int_set_everything();
    case EXPR_MOD:
    case EXPR_FLOORMOD: return combine_remainder(e, kind, a, b);
    case EXPR_MIN:
    case EXPR_MAX: return combine_extremum(e, kind, a, b);
    default: return int_set_everything();
    }
}

static bool is_unchanged_point(IntSet set, const Expr *expr)
{
    return set.min == expr && set.max == expr;
}

static IntSet eval_binary(Evaluator *e, const Expr *expr)
{
    IntSet a = eval(e, expr->args[0]), b = eval(e, expr->args[1]);
    if (is_unchanged_point(a, expr->args[0]) && is_unchanged_point(b, expr->args[1]))
        return int_set_point(expr);
    if (a.empty || b.empty)
        return int_set_nothing();
    bool division = expr->kind >= EXPR_DIV && expr->kind <= EXPR_FLOORMOD;
    if (int_set_is_point(a) && int_set_is_point(b) && !(division && expr_is_int(b.min, 0)))
        return int_set_point(op_binary(e->ctx, expr->kind, a.min, b.min, span_none()));
    return combine(e, expr->kind, a, b);
}

/* --- Other kinds --- */

static bool uses_relaxed_var(Evaluator *e, const Expr *expr)
{
    IntSet ignored;
    if (expr->kind == EXPR_VAR)
        return relaxed_domain(e, expr, &ignored);
    for (int i = 0; i < expr->arg_count; i++)
        if (uses_relaxed_var(e, expr->args[i]))
            return true;
    return false;
}

static IntSet eval_cast(Evaluator *e, const Expr *expr)
{
    const Expr *inner = expr->args[0];
    bool widens = is_index_type(expr->dtype) && dtype_is_integer(inner->dtype) &&
                  (inner->dtype.bits < expr->dtype.bits || (inner->dtype.code == DT_INT && inner->dtype.bits == expr->dtype.bits));
    if (!widens)
        return uses_relaxed_var(e, inner) ? int_set_everything() : int_set_point(expr);
    IntSet set = eval(e, inner);
    if (is_unchanged_point(set, inner) || set.empty)
        return set.empty ? set : int_set_point(expr);
    if (int_set_is_point(set))
        return int_set_point(op_cast(e->ctx, expr->dtype, set.min));
    return interval(set.min ? op_cast(e->ctx, expr->dtype, set.min) : NULL, set.max ? op_cast(e->ctx, expr->dtype, set.max) : NULL);
}

static IntSet eval_union(Evaluator *e, const Expr *a, const Expr *b)
{
    IntSet first = eval(e, a), second = eval(e, b);
    if (first.empty || second.empty)
        return first.empty ? second : first;
    return interval(first.min && second.min ? op_min(e->ctx, first.min, second.min) : NULL,
                    first.max && second.max ? op_max(e->ctx, first.max, second.max) : NULL);
}

static IntSet eval_ramp(Evaluator *e, const Expr *expr)
{
    int64_t stride, reach;
    if (expr->args[0]->dtype.lanes != 1 || dtype_is_scalable(expr->dtype) || !expr_const_int(expr->args[1], &stride) ||
        __builtin_mul_overflow(stride, expr->dtype.lanes - 1, &reach) || !dtype_holds(expr->args[0]->dtype, reach))
        return int_set_everything();
    const Expr *zero = expr_int(e->ctx, expr->args[0]->dtype, 0), *last = expr_int(e->ctx, expr->args[0]->dtype, reach);
    return combine_sum(e, EXPR_ADD, eval(e, expr->args[0]), reach >= 0 ? interval(zero, last) : interval(last, zero));
}

static IntSet eval_uncounted(Evaluator *e, const Expr *expr)
{
    if (expr->kind >= EXPR_ADD && expr->kind <= EXPR_MAX && is_index_type(expr->dtype))
        return eval_binary(e, expr);
    switch ((ExprKind)expr->kind) {
    case EXPR_INT: return int_set_point(expr);
    case EXPR_VAR: return eval_var(e, expr);
    case EXPR_CAST: return eval_cast(e, expr);
    case EXPR_RAMP: return eval_ramp(e, expr);
    case EXPR_BROADCAST: return eval(e, expr->args[0]);
    case EXPR_SELECT:
        if (is_index_type(expr->dtype) && uses_relaxed_var(e, expr))
            return eval_union(e, expr->args[1], expr->args[2]);
        break;
    case EXPR_CALL:
        if (expr_is_call(expr, OP_LIKELY))
            return eval(e, expr->args[0]);
        break;
    default: break;
    }
    return uses_relaxed_var(e, expr) ? int_set_everything() : int_set_point(expr);
}

static IntSet eval(Evaluator *e, const Expr *expr)
{
    if (!analyzer_begin_visit(e->an))
        return int_set_everything();
    IntSet set = eval_uncounted(e, expr);
    analyzer_end_visit(e->an);
    return set;
}

/* --- Public --- */

IntSet int_set_eval(Analyzer *an, const Expr *expr, const Domain *domain)
{
    Evaluator e = {an, analyzer_context(an), domain, 0};
    return eval(&e, expr);
}

IntSet int_set_eval_range(Analyzer *an, Range range, const Domain *domain)
{
    Context *ctx = analyzer_context(an);
    Evaluator e = {an, ctx, domain, 0};
    if (expr_is_int(range.extent, 1) || analyzer_prove_equal(an, range.extent, expr_int(ctx, range.extent->dtype, 1)))
        return eval(&e, range.min);
    const Expr *last = analyzer_simplify(an, op_add_int(ctx, op_add(ctx, range.min, range.extent), -1));
    IntSet low = eval(&e, range.min), high = eval(&e, last);
    return low.empty || high.empty ? int_set_nothing() : (IntSet){low.min, high.max, false};
}

IntSet int_set_eval_bound(Analyzer *an, const Expr *expr)
{
    Evaluator e = {an, analyzer_context(an), NULL, 0};
    return eval(&e, expr);
}
