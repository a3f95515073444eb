/* Pass "unroll": the iterations of an unrolled loop are written out.

     for u in T.unroll(2):              A_1[i * 2] = T.float32(0.0)
         A_1[i * 2 + u] = ...     ->    A_1[i * 2 + 1] = T.float32(0.0)

   A loop with T.break_loop, T.continue_loop or T.ret in it stays a loop. pragma_auto_unroll_max_step and pragma_unroll_explicit are hints,
   which code generation may use. */
#include "ir/fold.h"
#include "passes/lower/loops/unroll.h"
#include "support/warning.h"

/* From MANY on, the time of code generation is felt, and the code leaves the processor's caches of instructions. */
enum { MOST_STATEMENTS = 65536, MANY_STATEMENTS = 4096 };

static bool count_stmt(Visitor *visitor, const Stmt *stmt)
{
    *(int64_t *)visitor->data += stmt->kind != STMT_SEQ;
    return true;
}

static int64_t statement_count(const Stmt *stmt)
{
    int64_t count = 0;
    Visitor visitor = {.stmt = count_stmt, .data = &count};
    visit_stmt(&visitor, stmt);
    return count;
}

/* True when the loop STMT may be written out; else an error has been reported. */
static bool check_size(Context *ctx, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    int64_t extent, body = statement_count(loop->body);
    if (!expr_const_int(loop->extent, &extent)) {
        diag_error(ctx, stmt->span,
                   "the extent of the unrolled loop '%s' is not constant: split it by a constant and unroll the inner loop",
                   loop->var->name);
        return false;
    }
    if (body == 0 || extent <= MOST_STATEMENTS / body)
        return true;
    int64_t fits = MOST_STATEMENTS / body > 16 ? 16 : MOST_STATEMENTS / body;
    diag_error(ctx, stmt->span, "unrolling loop '%s' gives more than %d statements (%lld iterations of %lld)", loop->var->name,
               MOST_STATEMENTS, (long long)extent, (long long)body);
    if (fits > 1)
        diag_note(ctx, stmt->span, "split it, for example by [None, %lld], and unroll the inner loop", (long long)fits);
    return false;
}

/* --- One iteration --- */
/* What the value of the loop variable decides is folded at once: an iteration that a condition excludes may name elements that do not
   exist. */
static const Expr *fold_in_expr(Rewriter *rewriter, const Expr *expr)
{
    const Expr *result = rewrite_expr_children(rewriter, expr);
    const Expr *folded = expr_is_binary(result) ? fold_binary(rewriter->ctx, result->kind, result->args[0], result->args[1]) : NULL;
    if (folded)
        return folded;
    if (result->kind == EXPR_NOT)
        return result->args[0]->kind == EXPR_INT ? expr_bool(rewriter->ctx, !result->args[0]->value.integer) : result;
    bool known = expr_is_call(result, OP_IF_THEN_ELSE) && result->args[0]->kind == EXPR_INT;
    return known ? result->args[result->args[0]->value.integer ? 1 : 2] : result;
}

static const Stmt *fold_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind != STMT_IF)
        return rewrite_stmt_children(rewriter, stmt);
    const Expr *condition = rewrite_expr(rewriter, stmt->as.branch.condition);
    if (condition->kind != EXPR_INT)
        return rewrite_stmt_children(rewriter, stmt);
    const Stmt *chosen = condition->value.integer ? stmt->as.branch.then_body : stmt->as.branch.else_body;
    return chosen ? rewrite_stmt(rewriter, chosen) : stmt_empty(rewriter->ctx);
}

/* The body of LOOP for the iteration NUMBER, with symbols of its own. */
static const Stmt *iteration(Context *ctx, const ForStmt *loop, int number)
{
    Subst subst = {0};
    subst_var(ctx, &subst, loop->var, op_add_int(ctx, loop->min, number));
    Rewriter rewriter = {.ctx = ctx, .expr = fold_in_expr, .stmt = fold_in_stmt};
    return clone_fresh(ctx, rewrite_stmt(&rewriter, subst_stmt(ctx, &subst, loop->body)));
}

/* --- The pass --- */
static const Stmt *serial(Context *ctx, const Stmt *stmt)
{
    ForStmt loop = stmt->as.loop;
    loop.kind = FOR_SERIAL;
    return stmt_for(ctx, loop, stmt->span);
}

/* The loop that became the most statements. */
typedef struct {
    const Stmt *loop;
    int64_t statements;
} LargestLoop;

const Stmt *stmt_written_out(Context *ctx, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    if (stmt_has_jump(loop->body) || !check_size(ctx, stmt))
        return serial(ctx, stmt);
    int count = (int)loop->extent->value.integer;
    const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, count > 0 ? count : 0);
    for (int i = 0; i < count; i++)
        items[i] = iteration(ctx, loop, i);
    return stmt_seq(ctx, items, count > 0 ? count : 0);
}

static const Stmt *unroll_loop(Context *ctx, const Stmt *stmt, LargestLoop *largest)
{
    const Stmt *result = stmt_written_out(ctx, stmt);
    if (result->kind == STMT_FOR)
        return result;
    int64_t statements = statement_count(result);
    if (statements > largest->statements)
        *largest = (LargestLoop){stmt, statements};
    return result;
}

static const Stmt *unroll_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    return result->kind == STMT_FOR && result->as.loop.kind == FOR_UNROLLED ? unroll_loop(rewriter->ctx, result, rewriter->data) : result;
}

const Func *lower_unroll(LowerState *state, const Func *func)
{
    LargestLoop largest = {0};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = unroll_in_stmt, .data = &largest};
    const Stmt *body = rewrite_stmt(&rewriter, func->body);
    int64_t statements = largest.loop ? statement_count(body) : 0;
    if (statements > MANY_STATEMENTS)
        diag_warning(state->ctx, WARNING_UNROLLED_SIZE, largest.loop->span,
                     "with its unrolled loops '%s' has %lld statements, most from loop '%s': code of that size compiles and runs slowly", func->name,
                     (long long)statements, largest.loop->as.loop.var->name);
    return func_with_body(state->ctx, func, body);
}
