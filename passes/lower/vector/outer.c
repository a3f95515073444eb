/* Pass "outer": a loop around a sum of integers runs in vectors where its iterations, and not those of the sum, touch neighbours in memory.

     for j in range(256):                                   for j_0 in range(4):
         C_1[i * 256 + j] = 0                                   for j_1 in T.vectorized(64):
         for k in range(256):                      ->               C_1[i * 256 + (j_0 * 64 + j_1)] = 0
             C_1[i * 256 + j] += A_1[i * 256 + k] *                 for k in range(256):
                                 B_1[k * 256 + j]                       C_1[i * 256 + (j_0 * 64 + j_1)] += ...

   In the loop k as it stands each step loads from another line of the cache, and nothing fills a vector. Taken: serial loops without
   annotations around plain serial loops, all data integers; stores and at least one load that steps far in the innermost loop are side by
   side along the outer one, all other loads too or do not depend on it. Floats stay as they are: where their vectors lie is what a schedule says. What
   does not fill vectors is left to a loop of its own.

   Legality. As many iterations in a row as a vector has lanes are shown to be independent; each element still gets its terms in their
   order. Needs: flat buffers, simplified indices. */
#include "ir/linear_sum.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/vector/lanes.h"

enum { REGISTER_BYTES = 64, REGISTERS = 4, MOST_DEPTH = 8 };

typedef struct {
    Context *ctx;
    const Func *func;
    Map roots;
    Analyzer *an;
} OuterPass;

/* What is inside of LOOP. */
typedef struct {
    Context *ctx;
    const ForStmt *loop;
    const ForStmt *around[MOST_DEPTH]; /* what is visited, from the loop inside of LOOP on */
    int depth;
    bool fits, sums, gains;
    int bytes; /* of the widest element that is stored */
} Content;

static bool is_plain_loop(const ForStmt *loop)
{
    return loop->kind == FOR_SERIAL && !loop->annotations.count && expr_is_int(loop->min, 0) && !expr_reads_memory(loop->extent);
}

/* How far INDEX steps along LOOP; false where that is not known. */
static bool step_along(const Content *content, const Expr *index, const ForStmt *loop, int64_t *step)
{
    return !expr_reads_memory(index) && linear_coefficient(content->ctx, index, loop->var, step);
}

static bool see_expr(Visitor *visitor, const Expr *expr)
{
    Content *content = visitor->data;
    bool is_call = expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || expr_is_call(expr, OP_IF_THEN_ELSE) ||
                                               expr_reads_through_pointers(expr));
    if (is_call || expr->kind == EXPR_LET || expr->dtype.lanes != 1 || !(dtype_is_integer(expr->dtype) || expr->dtype.code == DT_BOOL))
        content->fits = false;
    if (expr->kind != EXPR_LOAD || !content->fits)
        return content->fits;
    int64_t outer = 0, inner = 0;
    content->fits = load_index_count(expr) == 1 && !load_mask(expr) && step_along(content, expr->args[0], content->loop, &outer) &&
                    (outer == 0 || outer == 1);
    if (content->fits && outer && content->depth) {
        bool known = step_along(content, expr->args[0], content->around[content->depth - 1], &inner);
        content->gains |= !known || inner > 1 || inner < -1; /* not known: a size is in it */
    }
    return content->fits;
}

static bool see_store(Content *content, const Stmt *stmt)
{
    int64_t outer = 0, inner = 1;
    DType dtype = stmt->as.store.value->dtype;
    if (stmt->as.store.mask || stmt->as.store.index_count != 1 || !dtype_is_integer(dtype) ||
        !step_along(content, stmt->as.store.indices[0], content->loop, &outer) || outer != 1)
        return false;
    content->bytes = dtype_bytes(dtype) > content->bytes ? dtype_bytes(dtype) : content->bytes;
    if (content->depth && step_along(content, stmt->as.store.indices[0], content->around[content->depth - 1], &inner))
        content->sums |= !inner;
    return true;
}

static bool see_stmt(Visitor *visitor, const Stmt *stmt)
{
    Content *content = visitor->data;
    if (stmt->kind == STMT_STORE)
        content->fits &= see_store(content, stmt);
    else if (stmt->kind == STMT_FOR) {
        bool is_free = !expr_uses_var(stmt->as.loop.extent, content->loop->var);
        content->fits &= is_plain_loop(&stmt->as.loop) && is_free && content->depth < MOST_DEPTH;
        if (content->fits)
            content->around[content->depth] = &stmt->as.loop;
        content->depth++;
    } else
        content->fits &= stmt->kind == STMT_SEQ;
    return content->fits;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    ((Content *)visitor->data)->depth -= stmt->kind == STMT_FOR;
}

static bool is_worth_it(Context *ctx, const ForStmt *loop, Content *content)
{
    *content = (Content){.ctx = ctx, .loop = loop, .fits = is_plain_loop(loop) && loop->var->dtype.bits >= 32};
    Visitor visitor = {.expr = see_expr, .stmt = see_stmt, .leave_stmt = leave_stmt, .data = content};
    if (content->fits)
        visit_stmt(&visitor, loop->body);
    return content->fits && content->sums && content->gains;
}

/* --- The new loops --- */

/* VAR becomes FIRST + OUTER * LANES + INNER (NULL: FIRST + OUTER); in a wider type, the sum of all in that type, so that the lanes stay
   neighbours for all to see. */
typedef struct {
    const Var *var;
    Var *outer, *inner;
    const Expr *first;
    int lanes;
} Shift;

static const Expr *shift_expr(Rewriter *rewriter, const Expr *expr)
{
    const Shift *shift = rewriter->data;
    Context *ctx = rewriter->ctx;
    bool is_widened = expr->kind == EXPR_CAST && expr->dtype.bits > expr->args[0]->dtype.bits && expr_is_var(expr->args[0], shift->var);
    if (!is_widened && !expr_is_var(expr, shift->var))
        return rewrite_expr_children(rewriter, expr);
    const Expr *position = op_cast(ctx, expr->dtype, expr_var(ctx, shift->outer));
    if (shift->inner)
        position = op_add(ctx, op_mul_int(ctx, position, shift->lanes), op_cast(ctx, expr->dtype, expr_var(ctx, shift->inner)));
    return expr_is_int(shift->first, 0) ? position : op_add(ctx, op_cast(ctx, expr->dtype, shift->first), position);
}

static const Stmt *shifted_body(Context *ctx, const ForStmt *loop, Shift shift)
{
    Rewriter rewriter = {.ctx = ctx, .expr = shift_expr, .data = &shift};
    return clone_fresh(ctx, rewrite_stmt(&rewriter, loop->body));
}

/* COUNT vectors of LANES iterations of LOOP from iteration FIRST on; NULL where they are not shown to be independent. */
static const Stmt *vector_part(const OuterPass *pass, const ForStmt *loop, const Expr *first, const Expr *count, int lanes, Span span)
{
    Context *ctx = pass->ctx;
    Var *outer = var_clone(ctx, loop->var, loop->var->name), *inner = var_clone(ctx, loop->var, loop->var->name);
    const Expr *zero = expr_int(ctx, inner->dtype, 0), *extent = expr_int(ctx, inner->dtype, lanes);
    ForStmt vector = {.var = inner, .min = zero, .extent = extent, .kind = FOR_VECTORIZED};
    vector.body = shifted_body(ctx, loop, (Shift){.var = loop->var, .outer = outer, .inner = inner, .first = first, .lanes = lanes});
    const Stmt *body = stmt_for(ctx, vector, span), *result = stmt_for_serial(ctx, outer, loop->min, count, body, span);
    facts_bind_stmt(pass->an, result);
    LaneScope scope = {ctx, pass->func, pass->an, &pass->roots};
    return lanes_are_independent(&scope, result, body) ? result : NULL;
}

/* The iterations of LOOP from FIRST on as they were. */
static const Stmt *serial_part(Context *ctx, const ForStmt *loop, const Expr *first, const Expr *count, Span span)
{
    Var *var = var_clone(ctx, loop->var, loop->var->name);
    const Stmt *body = shifted_body(ctx, loop, (Shift){.var = loop->var, .outer = var, .first = first});
    return stmt_for_serial(ctx, var, loop->min, count, body, span);
}

static const Stmt *in_vectors(const OuterPass *pass, const Stmt *stmt, const Content *content)
{
    Context *ctx = pass->ctx;
    const ForStmt *loop = &stmt->as.loop;
    const Stmt *parts[3];
    int count = 0, unit = REGISTER_BYTES / content->bytes;
    int64_t extent = 0;
    bool known = expr_const_int(loop->extent, &extent);
    const Expr *first = loop->min, *rest = loop->extent;
    for (int registers = REGISTERS; registers >= 1; registers -= REGISTERS - 1) {
        const Expr *lanes = expr_int(ctx, loop->var->dtype, unit * registers), *vectors = op_floordiv(ctx, rest, lanes);
        if (known && extent < unit * registers)
            continue;
        parts[count] = vector_part(pass, loop, first, vectors, unit * registers, stmt->span);
        if (!parts[count++])
            return stmt;
        first = op_add(ctx, first, op_mul(ctx, vectors, lanes));
        rest = op_floormod(ctx, rest, lanes);
        extent = known ? extent % (unit * registers) : 0;
    }
    if (!count)
        return stmt;
    if (!known || extent)
        parts[count++] = serial_part(ctx, loop, first, rest, stmt->span);
    return stmt_seq(ctx, parts, count);
}

static const Stmt *outer_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    OuterPass *pass = rewriter->data;
    Content content;
    facts_bind_stmt(pass->an, stmt);
    if (stmt->kind == STMT_FOR && is_worth_it(pass->ctx, &stmt->as.loop, &content))
        return in_vectors(pass, stmt, &content);
    return rewrite_stmt_children(rewriter, stmt);
}

const Func *lower_outer(LowerState *state, const Func *func)
{
    OuterPass pass = {.ctx = state->ctx, .func = func, .an = analyzer_new(state->ctx)};
    facts_bind_sizes(pass.an, func);
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = outer_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
