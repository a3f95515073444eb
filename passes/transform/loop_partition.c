/* Pass "loop_partition": a loop becomes up to three, so that in the middle one conditions hold throughout.

     for i in range((n + 3) // 4):              for i, j in T.grid(n // 4, 4):
         for j in range(4):                         if T.bool(True): ...
             if T.likely(i * 4 + j < n):   ->   for i, j in T.grid((n % 4 + 3) // 4, 4):
                 ...                                if (i + n // 4) * 4 + j < n: ...

   Taken are loops whose bounds are not constant, with their conditions in T.likely, and loops with pragma_loop_partition_hint, with all of their
   conditions; the parts of the latter are taken apart again, also where a condition fails throughout. As in the reference, the conditions stay as
   constants: simplify and remove_no_op remove them.

   Legality. Each iteration is in one part, in the order that it had: with B the first iteration of the middle part and E the one behind it, the
   loop begins no later than B, B is no later than E, and E no later than the end. Each of these is proved, or the bound is cut off where it is
   printed. A condition counts in the middle part where it holds there for all iterations of the loops inside; one that reads memory is left alone. */
#include <string.h>

#include "ir/linear_sum.h"
#include "passes/arith/int_set.h"
#include "passes/lower/core/effects.h"
#include "passes/transform/internal.h"

#define HINT "pragma_loop_partition_hint"

enum { MOST_CONDITIONS = 32, MOST_DEPTH = 16 };

typedef struct {
    Context *ctx;
    Analyzer *an;
    int depth; /* how often the parts around were taken apart again */
} Partitioner;

/* A condition in the body and the iterations in which it certainly has VALUE: from FIRST to LAST, NULL where there is no such end. */
typedef struct {
    const Expr *condition, *first, *last;
} Known;

typedef struct {
    Partitioner *pass;
    const ForStmt *loop;
    bool hinted, constant, value; /* CONSTANT: the bounds of the loop are */
    Map inside;    /* the symbols that the body defines */
    VEC(VarRange) loops; /* the loops in the body */
    const Expr *conditions[MOST_CONDITIONS];
    int condition_count;
    Known known[MOST_CONDITIONS];
    int known_count;
    const Expr *first, *last; /* of the middle part */
} Partition;

/* --- conditions --- */

static void note_condition(Partition *partition, const Expr *condition)
{
    bool fits = expr_is_compare(condition) && expr_uses_var(condition, partition->loop->var) && !expr_reads_memory(condition) &&
                dtype_is_index(condition->args[0]->dtype) && condition->dtype.lanes == 1;
    for (int i = 0; i < partition->condition_count; i++)
        fits &= !expr_equal(partition->conditions[i], condition);
    if (fits && partition->condition_count < MOST_CONDITIONS)
        partition->conditions[partition->condition_count++] = condition;
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr_is_call(expr, OP_LIKELY))
        note_condition(visitor->data, expr->args[0]);
    return true;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    Partition *partition = visitor->data;
    if (partition->hinted && stmt->kind == STMT_IF)
        note_condition(partition, stmt->as.branch.condition);
    if (stmt->kind == STMT_FOR)
        vec_push(partition->pass->ctx->arena, &partition->loops, ((VarRange){stmt->as.loop.var, {stmt->as.loop.min, stmt->as.loop.extent}}));
    return true;
}

/* --- iterations in which a condition holds --- */

/* LEFT - RIGHT < 0 says what the comparison of KIND says. False: it is not of that form. */
static bool as_negative(Context *ctx, ExprKind kind, const Expr *left, const Expr *right, const Expr **difference)
{
    const Expr *a = kind == EXPR_GT || kind == EXPR_GE ? right : left, *b = a == left ? right : left;
    *difference = op_sub(ctx, a, b);
    if (kind == EXPR_LE || kind == EXPR_GE)
        *difference = op_add_int(ctx, *difference, -1);
    return kind == EXPR_LT || kind == EXPR_LE || kind == EXPR_GT || kind == EXPR_GE;
}

/* x // k < b is x < b * k, and so on, for a constant k: KIND, *LEFT and *RIGHT without the division. */
static ExprKind without_division(Context *ctx, ExprKind kind, const Expr **left, const Expr **right)
{
    int64_t divisor;
    if ((*left)->kind != EXPR_FLOORDIV || !expr_const_int((*left)->args[1], &divisor) || divisor <= 0 || kind == EXPR_EQ || kind == EXPR_NE)
        return kind;
    bool beyond = kind == EXPR_LE || kind == EXPR_GT;
    *right = op_mul_int(ctx, op_add_int(ctx, *right, beyond), divisor);
    *left = (*left)->args[0];
    return kind == EXPR_LT || kind == EXPR_LE ? EXPR_LT : EXPR_GE;
}

/* The values of EXPR over all iterations of the loops in the body; an end that depends on anything in there is missing. */
static IntSet over_inner_loops(Partition *partition, const Expr *expr)
{
    Partitioner *pass = partition->pass;
    Domain domain = domain_from_ranges(pass->ctx, partition->loops.data, partition->loops.count);
    IntSet set = int_set_eval(pass->an, expr, &domain);
    const Expr **ends[] = {&set.min, &set.max};
    for (int i = 0; i < 2; i++) {
        const Expr *end = *ends[i] ? analyzer_simplify(pass->an, *ends[i]) : NULL;
        bool known = end && !expr_uses_any(end, &partition->inside) && !expr_uses_var(end, partition->loop->var) && !expr_reads_memory(end);
        *ends[i] = known ? end : NULL;
    }
    return set;
}

/* coefficient * i + REST < 0 for all values of the loops inside. */
static bool solve_less(Partition *partition, int64_t coefficient, const Expr *rest, Known *known)
{
    Context *ctx = partition->pass->ctx;
    const Expr *most = over_inner_loops(partition, rest).max;
    if (!most)
        return false;
    const Expr *divisor = expr_int(ctx, most->dtype, coefficient > 0 ? coefficient : -coefficient);
    if (coefficient > 0)
        known->last = op_floordiv(ctx, op_sub(ctx, expr_int(ctx, most->dtype, -1), most), divisor);
    else
        known->first = op_add_int(ctx, op_floordiv(ctx, most, divisor), 1);
    return true;
}

/* coefficient * i + REST == 0. */
static bool solve_equal(Partition *partition, int64_t coefficient, const Expr *rest, Known *known)
{
    Context *ctx = partition->pass->ctx;
    IntSet set = over_inner_loops(partition, rest);
    if (!set.min || !set.max || !analyzer_prove_equal(partition->pass->an, set.min, set.max) || (coefficient != 1 && coefficient != -1))
        return false;
    known->first = known->last = coefficient > 0 ? op_sub(ctx, expr_int(ctx, set.min->dtype, 0), set.min) : set.min;
    return true;
}

static bool solve(Partition *partition, const Expr *condition, Known *known)
{
    Context *ctx = partition->pass->ctx;
    const Expr *left = condition->args[0], *right = condition->args[1], *difference;
    ExprKind kind = partition->value ? condition->kind : expr_opposite_compare(condition->kind);
    kind = without_division(ctx, kind, &left, &right);
    bool negative = as_negative(ctx, kind, left, right, &difference);
    if (!negative && kind != EXPR_EQ)
        return false;
    int64_t coefficient;
    const Var *var = partition->loop->var;
    if (!linear_coefficient(ctx, difference, var, &coefficient) || !coefficient || coefficient == INT64_MIN)
        return false;
    const Expr *rest = analyzer_simplify(partition->pass->an, subst_one(ctx, difference, var, expr_int(ctx, var->dtype, 0)));
    *known = (Known){.condition = condition};
    return dtype_equal(rest->dtype, var->dtype) &&
           (negative ? solve_less(partition, coefficient, rest, known) : solve_equal(partition, coefficient, rest, known));
}

/* --- the middle part --- */

static const Expr *loop_end(Context *ctx, const ForStmt *loop)
{
    return op_add(ctx, loop->min, loop->extent);
}

/* Some iteration of the loop may be in KNOWN. */
static bool meets_loop(Partition *partition, const Known *known)
{
    Analyzer *an = partition->pass->an;
    bool before = known->last && analyzer_prove_less(an, known->last, partition->loop->min);
    return !before && !(known->first && analyzer_prove_less_equal(an, loop_end(partition->pass->ctx, partition->loop), known->first));
}

/* The iterations in which as many conditions as can be have VALUE. False: none has. */
static bool find_middle(Partition *partition, bool value)
{
    Context *ctx = partition->pass->ctx;
    partition->value = value;
    partition->known_count = 0;
    partition->first = partition->last = NULL;
    for (int i = 0; i < partition->condition_count; i++) {
        Known known;
        if (!solve(partition, partition->conditions[i], &known) || !meets_loop(partition, &known))
            continue;
        partition->known[partition->known_count++] = known;
        if (known.first)
            partition->first = partition->first ? op_max(ctx, partition->first, known.first) : known.first;
        if (known.last)
            partition->last = partition->last ? op_min(ctx, partition->last, known.last) : known.last;
    }
    return partition->known_count > 0;
}

typedef struct {
    const Expr *begin, *end, *from; /* of the middle part; FROM is the least first iteration of the last one, before it is cut off */
    bool has_first, has_last;
} Bounds;

static const Expr *without_likely(const Expr *condition)
{
    return expr_is_call(condition, OP_LIKELY) ? condition->args[0] : condition;
}

/* All that the loop does stands under the only condition that is known: iterations in which it fails may be as many as one likes. */
static bool is_guarded(const Partition *partition)
{
    const Stmt *body = partition->loop->body;
    return partition->value && partition->known_count == 1 && body->kind == STMT_IF && !body->as.branch.else_body &&
           expr_equal(without_likely(body->as.branch.condition), partition->known[0].condition);
}

/* False where the parts are not shown to follow one another. */
static bool find_bounds(Partition *partition, Bounds *bounds)
{
    Context *ctx = partition->pass->ctx;
    Analyzer *an = partition->pass->an;
    const ForStmt *loop = partition->loop;
    const Expr *last = op_sub(ctx, loop_end(ctx, loop), expr_int(ctx, loop->extent->dtype, 1)), *end = op_add_int(ctx, last, 1);
    *bounds = (Bounds){.begin = loop->min, .end = end, .from = end};
    if (partition->first) {
        const Expr *first = analyzer_guard_divisors(an, analyzer_simplify(an, partition->first));
        bounds->begin = op_max(ctx, first, loop->min);
        bounds->has_first = !analyzer_prove_equal(an, bounds->begin, loop->min);
        if (!analyzer_prove_less_equal(an, bounds->begin, end) && !is_guarded(partition))
            bounds->begin = op_min(ctx, bounds->begin, end);
    }
    if (partition->last) {
        const Expr *behind = analyzer_guard_divisors(an, analyzer_simplify(an, op_add_int(ctx, partition->last, 1)));
        bounds->from = behind;
        bounds->end = op_min(ctx, behind, end);
        bounds->has_last = !analyzer_prove_equal(an, bounds->end, end);
        if (!partition->first && !analyzer_prove_less_equal(an, loop->min, behind))
            bounds->end = bounds->from = op_max(ctx, bounds->end, loop->min);
    }
    return !partition->first || !partition->last || analyzer_prove_less_equal(an, bounds->begin, bounds->end);
}

/* --- the parts --- */

static const Expr *decide_expr(Rewriter *rewriter, const Expr *expr)
{
    const Partition *partition = rewriter->data;
    const Expr *condition = without_likely(expr);
    for (int i = 0; expr_is_compare(condition) && i < partition->known_count; i++)
        if (expr_equal(condition, partition->known[i].condition))
            return expr_bool(rewriter->ctx, partition->value);
    return rewrite_expr_children(rewriter, expr);
}

/* The iterations from FIRST on, EXTENT of them, of the loop with BODY; without a loop where that is one. */
static const Stmt *part(Partition *partition, const Stmt *stmt, const Stmt *body, const Expr *first, const Expr *extent)
{
    Context *ctx = partition->pass->ctx;
    Analyzer *an = partition->pass->an;
    ForStmt loop = *partition->loop;
    DType type = loop.var->dtype;
    const Expr *zero = expr_int(ctx, type, 0);
    bool one = analyzer_prove_equal(an, extent, expr_int(ctx, extent->dtype, 1)) && !loop.annotations.count;
    const Expr *from = op_cast(ctx, type, first), *index = expr_is_int(from, 0) ? expr_var(ctx, loop.var) : op_add(ctx, expr_var(ctx, loop.var), from);
    Subst shift = {0}, start = {0};
    subst_var(ctx, &shift, loop.var, index);
    body = subst_stmt(ctx, &shift, body);
    if (one) {
        subst_var(ctx, &start, loop.var, zero);
        return clone_fresh(ctx, subst_stmt(ctx, &start, body));
    }
    if (loop.kind != FOR_SERIAL && !analyzer_prove_at_least(an, extent, 0))
        extent = op_max(ctx, extent, expr_int(ctx, extent->dtype, 0));
    loop.min = zero;
    loop.extent = op_cast(ctx, type, extent);
    loop.body = body;
    return clone_fresh(ctx, stmt_for(ctx, loop, stmt->span));
}

static const Stmt *partition_stmt(Partitioner *pass, const Stmt *stmt, bool hinted);
static const Stmt *partition_children(Partitioner *pass, const Stmt *stmt);

/* The part of EXTENT iterations from FIRST on; one of a loop with a hint and constant bounds is taken apart again, unless it is no loop. */
static const Stmt *finished_part(Partition *partition, const Stmt *stmt, const Stmt *body, const Expr *first, const Expr *extent)
{
    Partitioner *pass = partition->pass;
    const Stmt *result = part(partition, stmt, body, first, extent);
    bool middle = body != partition->loop->body;
    int64_t count;
    bool constant = partition->constant && expr_const_int(extent, &count) && count > 1;
    if (!partition->hinted || !constant || pass->depth >= MOST_DEPTH)
        return middle ? partition_children(pass, result) : result;
    pass->depth++;
    result = partition_stmt(pass, result, true);
    pass->depth--;
    return result;
}

static const Stmt *build(Partition *partition, const Stmt *stmt, const Bounds *bounds)
{
    Context *ctx = partition->pass->ctx;
    Analyzer *an = partition->pass->an;
    const ForStmt *loop = partition->loop;
    const Stmt *items[3];
    int count = 0;
    if (bounds->has_first)
        items[count++] = finished_part(partition, stmt, loop->body, loop->min, op_sub(ctx, bounds->begin, loop->min));
    Rewriter decide = {.ctx = ctx, .expr = decide_expr, .data = partition};
    items[count++] = finished_part(partition, stmt, rewrite_stmt(&decide, loop->body), bounds->begin, op_sub(ctx, bounds->end, bounds->begin));
    if (bounds->has_last)
        items[count++] = finished_part(partition, stmt, loop->body, bounds->end, analyzer_simplify(an, op_sub(ctx, loop_end(ctx, loop), bounds->from)));
    return stmt_seq(ctx, items, count);
}

/* --- the pass --- */

/* The loop STMT taken apart; NULL where nothing is known of its conditions. */
static const Stmt *partitioned(Partitioner *pass, const Stmt *stmt, bool hinted)
{
    const ForStmt *loop = &stmt->as.loop;
    Partition partition = {.pass = pass, .loop = loop, .hinted = hinted};
    Map visible = {0};
    Bounds bounds;
    int64_t number;
    partition.constant = expr_const_int(loop->min, &number) && expr_const_int(loop->extent, &number);
    if (loop->kind == FOR_THREAD || loop->kind == FOR_VECTORIZED || (partition.constant && !hinted) || expr_reads_memory(loop->min) ||
        expr_reads_memory(loop->extent) || stmt_has_jump(loop->body))
        return NULL;
    partition.inside = symbols_defined(pass->ctx, loop->body, &visible);
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .data = &partition};
    visit_stmt(&visitor, loop->body);
    bool found = find_middle(&partition, true) || (hinted && find_middle(&partition, false));
    return found && find_bounds(&partition, &bounds) ? build(&partition, stmt, &bounds) : NULL;
}

static const Stmt *partition_hook(Rewriter *rewriter, const Stmt *stmt)
{
    return partition_stmt(rewriter->data, stmt, false);
}

static const Stmt *partition_children(Partitioner *pass, const Stmt *stmt)
{
    facts_bind_stmt(pass->an, stmt);
    Rewriter rewriter = {.ctx = pass->ctx, .stmt = partition_hook, .data = pass};
    return rewrite_stmt_children(&rewriter, stmt);
}

static const Stmt *partition_stmt(Partitioner *pass, const Stmt *stmt, bool hinted)
{
    if (stmt->kind == STMT_ATTR && !strcmp(stmt->as.attr.key, HINT))
        return partition_stmt(pass, stmt->as.attr.body, stmt->as.attr.body->kind == STMT_FOR);
    if (stmt->kind != STMT_FOR)
        return partition_children(pass, stmt);
    if (loop_is_marked(&stmt->as.loop, HINT)) {
        ForStmt loop = stmt->as.loop;
        loop.annotations = attrs_remove(pass->ctx, loop.annotations, HINT);
        return partition_stmt(pass, stmt_for(pass->ctx, loop, stmt->span), true);
    }
    const Stmt *result = partitioned(pass, stmt, hinted);
    return result ? result : partition_children(pass, stmt);
}

const Func *transform_loop_partition(LowerState *state, const Func *func)
{
    Partitioner pass = {state->ctx, analyzer_new(state->ctx), 0};
    facts_bind_sizes(pass.an, func);
    return func_with_body(state->ctx, func, partition_stmt(&pass, func->body, false));
}
