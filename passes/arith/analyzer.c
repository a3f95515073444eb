/* The analyzer's facts: binding, assuming, forgetting, and what was remembered under them. */
#include "passes/arith/internal.h"

#include "support/bug.h"

Analyzer *analyzer_new(Context *ctx)
{
    Analyzer *an = ARENA_NEW(ctx->arena, Analyzer);
    an->ctx = ctx;
    an->arena = ctx->arena;
    an->rewrite = (Simplifier){.an = an};
    an->canonical = (Simplifier){.an = an, .canonical = true};
    an->epoch = an->last_epoch = 1;
    return an;
}

Context *analyzer_context(const Analyzer *an)
{
    return an->ctx;
}

/* --- Memory of results --- */

static Memo *memo_slot(Memo *memos, int capacity, const Expr *expr, uint32_t epoch)
{
    size_t mask = (size_t)capacity - 1;
    for (size_t i = (size_t)hash_mix(expr->hash, epoch) & mask;; i = (i + 1) & mask)
        if (!memos[i].expr || (memos[i].epoch == epoch && (memos[i].expr == expr || expr_equal(memos[i].expr, expr))))
            return &memos[i];
}

static void memo_grow(Analyzer *an)
{
    int capacity = an->memo_capacity ? an->memo_capacity * 2 : 64;
    Memo *memos = ARENA_ARRAY(an->arena, Memo, capacity);
    for (int i = 0; i < an->memo_capacity; i++)
        if (an->memos[i].expr)
            *memo_slot(memos, capacity, an->memos[i].expr, an->memos[i].epoch) = an->memos[i];
    an->memos = memos;
    an->memo_capacity = capacity;
}

Memo *analyzer_memo(Analyzer *an, const Expr *expr)
{
    if (an->memo_count * 3 >= an->memo_capacity * 2)
        memo_grow(an);
    Memo *memo = memo_slot(an->memos, an->memo_capacity, expr, an->epoch);
    if (!memo->expr) {
        *memo = (Memo){.expr = expr, .epoch = an->epoch};
        an->seen |= expr->uses;
        an->memo_count++;
    }
    return memo;
}

/* Forgets what depends on the facts so far. */
static void touch_facts(Analyzer *an)
{
    an->epoch = ++an->last_epoch;
}

bool analyzer_begin_visit(Analyzer *an)
{
    if (an->nesting == 0)
        an->work = WORK_LIMIT;
    if (an->nesting >= NESTING_LIMIT || an->work <= 0)
        return false;
    an->nesting++;
    an->work--;
    return true;
}

void analyzer_end_visit(Analyzer *an)
{
    an->nesting--;
}

/* --- Bindings --- */

VarFact *analyzer_find_var(const Analyzer *an, const Var *var)
{
    return map_get(&an->vars, var);
}

VarFact *analyzer_make_var(Analyzer *an, const Var *var)
{
    VarFact *fact = map_get(&an->vars, var);
    if (!fact) {
        fact = ARENA_NEW(an->arena, VarFact);
        *fact = (VarFact){.bound = bound_of_type(var->dtype), .modular = modular_everything()};
        map_set(an->arena, &an->vars, var, fact);
    }
    return fact;
}

/* What is remembered holds for another binding of VAR only where VAR is not in it. */
static void note_binding(Analyzer *an, const Var *var)
{
    an->binding_count++;
    if (an->seen & symbol_bit(var->id))
        touch_facts(an);
}

/* A new, empty fact in place of what was bound to VAR. */
static VarFact *rebind(Analyzer *an, const Var *var)
{
    VarFact *fact = analyzer_make_var(an, var);
    *fact = (VarFact){.bound = bound_of_type(var->dtype), .modular = modular_everything()};
    comparisons_unbind(an, var);
    note_binding(an, var);
    return fact;
}

void analyzer_bind_range_opaque(Analyzer *an, const Var *var, Range range)
{
    if (expr_uses_var(range.min, var) || expr_uses_var(range.extent, var))
        BUG("a variable is bound to a range that mentions it");
    IntBound min = analyzer_bound(an, range.min), extent = analyzer_bound(an, range.extent);
    VarFact *fact = rebind(an, var);
    fact->bound = (IntBound){min.min, bound_add(min.max, bound_add(extent.max, -1))};
    fact->min = range.min;
    fact->max = op_add_int(an->ctx, op_add(an->ctx, range.extent, range.min), -1);
    comparisons_bind_range(an, var, range);
}

void analyzer_bind_range(Analyzer *an, const Var *var, Range range)
{
    if (expr_is_int(range.extent, 1))
        analyzer_bind_value(an, var, range.min);
    else
        analyzer_bind_range_opaque(an, var, range);
}

void analyzer_bind_ranges(Analyzer *an, const VarRange *ranges, int count)
{
    for (int i = 0; i < count; i++)
        analyzer_bind_range(an, ranges[i].var, ranges[i].range);
}

void analyzer_bind_value(Analyzer *an, const Var *var, const Expr *value)
{
    if (expr_uses_var(value, var))
        BUG("a variable is bound to a value that mentions it");
    value = analyzer_simplify_rewrite(an, analyzer_simplify_canonical(an, value));
    IntBound bound = analyzer_bound(an, value);
    ModularSet modular = analyzer_modular(an, value);
    *rebind(an, var) = (VarFact){.bound = bound, .modular = modular, .value = value, .min = value, .max = value};
}

void analyzer_bind_modular(Analyzer *an, const Var *var, int64_t coeff, int64_t base)
{
    VarFact *fact = analyzer_make_var(an, var);
    int64_t period = coeff < 0 ? -coeff : coeff;
    int64_t reduced = period ? ((base % period) + period) % period : base;
    fact->modular = (ModularSet){period, reduced};
    note_binding(an, var);
}

void analyzer_bind_nonnegative(Analyzer *an, const Var *var)
{
    VarFact *fact = analyzer_make_var(an, var);
    fact->bound = bound_intersect(fact->bound, (IntBound){0, BOUND_POS_INF});
    note_binding(an, var);
}

/* --- Assumptions --- */

AnalyzerScope analyzer_enter(Analyzer *an)
{
    return (AnalyzerScope){an->bounds.count, an->literals.count, an->comparisons.count, an->moduli.count, an->binding_count, an->epoch};
}

void analyzer_leave(Analyzer *an, AnalyzerScope scope)
{
    an->bounds.count = scope.bounds;
    an->literals.count = scope.literals;
    an->comparisons.count = scope.comparisons;
    while (an->moduli.count > scope.moduli) {
        ModularUndo undo = vec_pop(&an->moduli);
        undo.fact->modular = undo.before;
    }
    if (an->binding_count == scope.bindings)
        an->epoch = scope.epoch; /* the facts are those of then: what was remembered holds again */
    else
        touch_facts(an);
}

static void assume_literal(Analyzer *an, const Expr *conjunct)
{
    if (conjunct->kind != EXPR_INT && expr_is_pure(conjunct))
        vec_push(an->arena, &an->literals, ((Literal){conjunct, negate_condition(an->ctx, conjunct)}));
}

/* One assumption under the same facts always leads to the same facts, so it leads to the same epochs and finds what was remembered
   there. */
static void enter_epoch(Analyzer *an, uint32_t known)
{
    if (known)
        an->epoch = known;
    else
        touch_facts(an);
}

void analyzer_assume(Analyzer *an, const Expr *condition)
{
    uint32_t before = an->epoch;
    Memo known = *analyzer_memo(an, condition);
    bound_assume(an, condition);
    modular_assume(an, condition);
    enter_epoch(an, known.assumed_bounds);
    uint32_t with_bounds = an->epoch;
    each_conjunct(an, analyzer_simplify_rewrite(an, condition), assume_literal);
    comparisons_assume(an, condition);
    enter_epoch(an, known.assumed);
    uint32_t after = an->epoch;
    an->epoch = before;
    Memo *memo = analyzer_memo(an, condition);
    memo->assumed_bounds = with_bounds;
    memo->assumed = after;
    an->epoch = after;
}

const Expr *negate_condition(Context *ctx, const Expr *condition)
{
    if (condition->kind == EXPR_INT)
        return expr_bool(ctx, !condition->value.integer);
    if (condition->kind == EXPR_NOT)
        return condition->args[0];
    if (condition->kind == EXPR_AND || condition->kind == EXPR_OR)
        return expr_binary(ctx, condition->kind == EXPR_AND ? EXPR_OR : EXPR_AND, negate_condition(ctx, condition->args[0]),
                           negate_condition(ctx, condition->args[1]));
    bool total_order = expr_is_compare(condition) && !dtype_is_float(condition->args[0]->dtype);
    if (total_order)
        return expr_binary(ctx, expr_opposite_compare(condition->kind), condition->args[0], condition->args[1]);
    return expr_not(ctx, condition);
}

void each_conjunct(Analyzer *an, const Expr *condition, ConjunctVisitor visit)
{
    while (condition->kind == EXPR_NOT && condition->args[0]->kind != EXPR_VAR) {
        const Expr *negated = negate_condition(an->ctx, condition->args[0]);
        if (negated->kind == EXPR_NOT)
            break;
        condition = negated;
    }
    if (condition->kind == EXPR_AND) {
        each_conjunct(an, condition->args[0], visit);
        each_conjunct(an, condition->args[1], visit);
    } else {
        visit(an, condition);
    }
}
