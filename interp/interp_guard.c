/* Iterations of a loop in which nothing runs, since a condition around all of its body does not hold, are passed over:

     for i in range(1073741824):
         with T.block("b"):
             T.where(i_0 * 4 + i < 16)      at i_0 = 0 only i < 16 runs

   A condition counts where both sides are linear in the loop's variable and use nothing that is defined inside of the loop. */
#include "interp/interp_internal.h"
#include "ir/linear_sum.h"
#include "ir/walk.h"

enum { FEWEST_ITERATIONS = 256 }; /* of a loop that is worth it */

typedef struct {
    Compiler *compiler;
    const ForStmt *loop;
    VEC(const Var *) inner; /* variables of the loops inside */
    VEC(LoopGuard) guards;
} GuardSearch;

/* EXPR changes by *STEP from one iteration to the next, has no effect, and cannot fail. */
static bool is_linear(const GuardSearch *search, const Expr *expr, int64_t *step)
{
    for (int i = 0; i < search->inner.count; i++)
        if (expr_uses_var(expr, search->inner.data[i]))
            return false;
    bool is_signed = expr->dtype.code == DT_INT && expr->dtype.lanes == 1 && expr->dtype.bits >= 32;
    return is_signed && expr_is_pure(expr) && !expr_division_may_fail(expr) && linear_coefficient(search->compiler->ctx, expr, search->loop->var, step);
}

static void add_guards(GuardSearch *search, const Expr *condition)
{
    if (condition->kind == EXPR_AND) {
        add_guards(search, condition->args[0]);
        add_guards(search, condition->args[1]);
        return;
    }
    bool less = condition->kind == EXPR_LT || condition->kind == EXPR_LE, more = condition->kind == EXPR_GT || condition->kind == EXPR_GE;
    if (!less && !more)
        return;
    const Expr *low = condition->args[more], *high = condition->args[less];
    LoopGuard guard = {.strict = condition->kind == EXPR_LT || condition->kind == EXPR_GT, .bits = low->dtype.bits};
    if (!is_linear(search, low, &guard.low_step) || !is_linear(search, high, &guard.high_step) || guard.low_step == guard.high_step)
        return;
    guard.low = compile_expr(search->compiler, low);
    guard.high = compile_expr(search->compiler, high);
    vec_push(search->compiler->arena, &search->guards, guard);
}

/* The conditions around all of BODY. A block with an init runs that where its predicate does not hold, too. */
static void find_guards(GuardSearch *search, const Stmt *body)
{
    switch (body->kind) {
    case STMT_FOR:
        if (body->as.loop.kind == FOR_THREAD || !expr_is_pure(body->as.loop.extent) || !expr_is_pure(body->as.loop.min))
            return;
        vec_push(search->compiler->arena, &search->inner, body->as.loop.var);
        find_guards(search, body->as.loop.body);
        return;
    case STMT_BLOCK:
        if (!body->as.block.init)
            add_guards(search, body->as.block.predicate);
        return;
    case STMT_IF:
        if (!body->as.branch.else_body)
            add_guards(search, body->as.branch.condition);
        return;
    default: return;
    }
}

void compile_loop_guards(Compiler *compiler, const ForStmt *loop, LoopInfo *info)
{
    GuardSearch search = {.compiler = compiler, .loop = loop};
    int64_t extent;
    if (expr_const_int(loop->extent, &extent) && extent < FEWEST_ITERATIONS)
        return;
    find_guards(&search, loop->body);
    info->guards = search.guards.data;
    info->guard_count = search.guards.count;
}

/* VALUE changes by STEP in each of COUNT iterations behind the first, and does not leave its type. */
static bool stays_in_type(int64_t value, int64_t step, int64_t count, int bits)
{
    int64_t last;
    if (__builtin_mul_overflow(step, count, &last) || __builtin_add_overflow(last, value, &last))
        return false;
    return bits >= 64 || (last >= -(INT64_C(1) << (bits - 1)) && last < INT64_C(1) << (bits - 1));
}

/* The guard holds in iteration k where space - step * k >= 0. */
static void narrow(const LoopGuard *guard, Thread *thread, int64_t *first, int64_t *end)
{
    int64_t low = eval_integer(guard->low, thread), high = eval_integer(guard->high, thread), space, step;
    if (!stays_in_type(low, guard->low_step, *end - 1, guard->bits) || !stays_in_type(high, guard->high_step, *end - 1, guard->bits) ||
        __builtin_sub_overflow(high, low, &space) || __builtin_sub_overflow(space, guard->strict, &space) ||
        __builtin_sub_overflow(guard->low_step, guard->high_step, &step))
        return;
    if (step > 0) {
        int64_t count = space < 0 ? 0 : space / step + 1;
        *end = count < *end ? count : *end;
    } else if (space < 0 && step > -INT32_MAX) {
        int64_t before = -(space + 1) / -step + 1;
        *first = before > *first ? before : *first;
    }
}

void loop_skip_unguarded(Thread *thread, const LoopInfo *loop, int64_t *min, int64_t *extent)
{
    int64_t first = 0, end = *extent;
    if (!loop->guard_count || *extent < FEWEST_ITERATIONS)
        return;
    thread->slots[loop->slot].integer = *min;
    for (int i = 0; i < loop->guard_count; i++)
        narrow(&loop->guards[i], thread, &first, &end);
    *min += first;
    *extent = end > first ? end - first : 0;
}
