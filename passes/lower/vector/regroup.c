/* Pass "regroup": vectors that do not fill registers, and follow one another without gaps, are cut anew into ones that do.

     for i in range(480):                                   for i in range(300):
         for v in T.vectorized(10):               ->            for v in T.vectorized(16):
             B_1[i * 10 + v] = A_1[i * 10 + v] + 1                  B_1[i * 16 + v] = A_1[i * 16 + v] + 1

   A register holds REGISTER_BYTES of the widest element that the body touches, or a half or quarter of that; longer vectors are cut by code
   generation. Taken: a serial loop around nothing but a vectorized one, whose variables occur only together, as i * 10 + v. What does not fill the last vector stands under a condition, which the pass "peel" keeps out of the others.

   Legality. As many iterations in a row as a vector has lanes are shown to be independent; vectors follow one another in the old order.
   Needs: flat buffers, simplified indices. */
#include "ir/linear_sum.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/vector/lanes.h"

enum { REGISTER_BYTES = 64, MOST_LANES = 1024 };

typedef struct {
    Context *ctx;
    const Func *func;
    Map roots;
    Analyzer *an;
} RegroupPass;

/* --- What a body is --- */
typedef struct {
    bool plain;
    int bytes; /* of the widest element */
} Content;

static void see_type(Content *content, DType dtype)
{
    int bytes = dtype_bytes(dtype);
    content->plain &= dtype.lanes == 1 && (dtype_is_integer(dtype) || dtype_is_float(dtype) || dtype.code == DT_BOOL);
    content->bytes = bytes > content->bytes ? bytes : content->bytes;
}

static bool see_expr(Visitor *visitor, const Expr *expr)
{
    Content *content = visitor->data;
    if (expr->kind == EXPR_LOAD) {
        see_type(content, expr->dtype);
        content->plain &= load_index_count(expr) == 1 && !load_mask(expr);
    }
    if (expr->kind == EXPR_CALL)
        content->plain &= op_info(expr->value.op)->effect == EFFECT_PURE && !expr_reads_through_pointers(expr);
    content->plain &= expr->kind != EXPR_LET;
    return content->plain;
}

static bool see_stmt(Visitor *visitor, const Stmt *stmt)
{
    Content *content = visitor->data;
    if (stmt->kind == STMT_STORE) {
        see_type(content, stmt->as.store.value->dtype);
        content->plain &= stmt->as.store.index_count == 1 && !stmt->as.store.mask;
    } else {
        content->plain &= stmt->kind == STMT_SEQ || stmt->kind == STMT_IF;
    }
    return content->plain;
}

/* --- Both variables as one --- */
typedef struct {
    const ForStmt *outer, *inner;
    int64_t lanes;        /* extent of INNER */
    Var *new_outer, *new_inner;
    const Expr *position; /* what stands for outer * LANES + inner */
    bool failed;
} Fusion;

static bool uses_either(const Fusion *fusion, const Expr *expr)
{
    return expr_uses_var(expr, fusion->outer->var) || expr_uses_var(expr, fusion->inner->var);
}

static const Expr *term_expr(Context *ctx, const Expr *atom, int64_t coefficient)
{
    return coefficient == 1 ? atom : op_mul_int(ctx, atom, coefficient);
}

/* A sum of variables, as indices are: sums of what memory holds wrap, and are not taken apart. */
static bool is_sum(const Expr *expr)
{
    return (expr->kind == EXPR_ADD || expr->kind == EXPR_SUB || expr->kind == EXPR_MUL) && expr->dtype.lanes == 1 && dtype_is_index(expr->dtype) &&
           expr_is_pure(expr);
}

/* The sum EXPR with the two variables replaced; NULL where they do not occur together. A product of two values is a term of itself, perhaps written
   anew: its factors are looked at and not the product again. */
static const Expr *fuse_sum(Rewriter *rewriter, const Expr *expr)
{
    Context *ctx = rewriter->ctx;
    Fusion *fusion = rewriter->data;
    LinearSum sum = {0};
    int64_t outer = 0, inner = 0;
    if (!linear_sum_of(ctx, expr, &sum))
        return NULL;
    const Expr *result = NULL;
    for (int i = 0; i < sum.terms.count; i++) {
        LinearTerm term = sum.terms.data[i];
        if (expr_is_var(term.atom, fusion->outer->var)) {
            outer = term.coefficient;
            continue;
        }
        if (expr_is_var(term.atom, fusion->inner->var)) {
            inner = term.coefficient;
            continue;
        }
        if (term.atom == expr)
            return NULL;
        const Expr *atom = is_sum(term.atom) ? rewrite_expr_children(rewriter, term.atom) : rewrite_expr(rewriter, term.atom);
        const Expr *part = term_expr(ctx, atom, term.coefficient);
        result = result ? op_add(ctx, result, part) : part;
    }
    if (outer != inner * fusion->lanes)
        return NULL;
    if (inner) {
        const Expr *part = term_expr(ctx, op_cast(ctx, expr->dtype, fusion->position), inner);
        result = result ? op_add(ctx, result, part) : part;
    }
    return result ? op_add_int(ctx, result, sum.constant) : expr_int(ctx, expr->dtype, sum.constant);
}

static const Expr *fuse_expr(Rewriter *rewriter, const Expr *expr)
{
    Fusion *fusion = rewriter->data;
    if (fusion->failed || !uses_either(fusion, expr))
        return expr;
    if (is_sum(expr)) {
        const Expr *fused = fuse_sum(rewriter, expr);
        if (fused)
            return fused;
    }
    fusion->failed |= expr->kind == EXPR_VAR;
    return rewrite_expr_children(rewriter, expr);
}

/* --- The new loops --- */
static int round_up(int64_t lanes, int unit)
{
    return (int)((lanes + unit - 1) / unit * unit);
}

/* The lanes of the new vectors, of elements of BYTES bytes; 0: the old ones are as good. */
static int better_lanes(int64_t lanes, int bytes)
{
    int unit = REGISTER_BYTES / bytes;
    if (lanes < 2 || lanes % unit == 0 || lanes == unit / 2 || lanes == unit / 4)
        return 0;
    return round_up(lanes, unit);
}

static bool match(const Stmt *stmt, Fusion *fusion, Content *content)
{
    const ForStmt *outer = &stmt->as.loop, *inner = stmt->kind == STMT_FOR && outer->body->kind == STMT_FOR ? &outer->body->as.loop : NULL;
    if (!inner || outer->kind != FOR_SERIAL || inner->kind != FOR_VECTORIZED || outer->annotations.count || inner->annotations.count ||
        !expr_is_int(outer->min, 0) || !expr_is_int(inner->min, 0) || !dtype_equal(outer->var->dtype, inner->var->dtype))
        return false;
    int64_t count = 0;
    *fusion = (Fusion){.outer = outer, .inner = inner};
    bool counted = expr_const_int(outer->extent, &count);
    if (!expr_const_int(inner->extent, &fusion->lanes) || fusion->lanes > MOST_LANES || outer->var->dtype.bits < 32 ||
        (counted ? count > INT32_MAX / (2 * MOST_LANES) : expr_reads_memory(outer->extent)))
        return false;
    *content = (Content){.plain = true, .bytes = 1};
    Visitor visitor = {.expr = see_expr, .stmt = see_stmt, .data = content};
    visit_stmt(&visitor, inner->body);
    return content->plain;
}

/* The end of the positions for which BODY, made of FUSION, does something: TOTAL, or less where a condition around all of it says so. */
static const Expr *last_position(const RegroupPass *pass, const Fusion *fusion, const Stmt *body, const Expr *total)
{
    const Expr *condition = body->kind == STMT_IF && !body->as.branch.else_body ? body->as.branch.condition : NULL;
    if (!condition || condition->kind != EXPR_LT || !expr_equal(condition->args[0], fusion->position) || expr_reads_memory(condition->args[1]))
        return total;
    bool fixed = !expr_uses_var(condition->args[1], fusion->new_outer) && !expr_uses_var(condition->args[1], fusion->new_inner);
    return fixed && analyzer_prove_less_equal(pass->an, condition->args[1], total) ? condition->args[1] : total;
}

/* BODY under the condition that its positions lie below END, of vectors of LANES lanes; CONDITION_STANDS: it has that condition. */
static const Stmt *with_end(Context *ctx, const Fusion *fusion, const Stmt *body, const Expr *end, int lanes, bool condition_stands)
{
    int64_t count;
    bool divides = expr_const_int(end, &count) && count % lanes == 0;
    if (divides)
        return condition_stands ? body->as.branch.then_body : body;
    return condition_stands ? body : stmt_if(ctx, op_compare(ctx, EXPR_LT, fusion->position, end), body, NULL, body->span);
}

static const Stmt *fused_loops(Context *ctx, const Fusion *fusion, const Stmt *body, const Expr *end, int lanes)
{
    DType dtype = fusion->outer->var->dtype;
    ForStmt vector = *fusion->inner, loop = *fusion->outer;
    vector.var = fusion->new_inner;
    vector.extent = expr_int(ctx, dtype, lanes);
    vector.body = body;
    loop.var = fusion->new_outer;
    loop.extent = op_floordiv(ctx, op_add_int(ctx, end, lanes - 1), expr_int(ctx, dtype, lanes));
    loop.body = stmt_for(ctx, vector, fusion->outer->body->span);
    return stmt_for(ctx, loop, fusion->outer->body->span);
}

static const Stmt *regrouped(const RegroupPass *pass, const Stmt *stmt)
{
    Context *ctx = pass->ctx;
    Fusion fusion;
    Content content;
    if (!match(stmt, &fusion, &content))
        return stmt;
    int lanes = better_lanes(fusion.lanes, content.bytes);
    const Expr *total = op_mul_int(ctx, fusion.outer->extent, fusion.lanes);
    int64_t count = INT64_MAX;
    bool counted = expr_const_int(total, &count);
    if (!lanes || count < lanes)
        return stmt;
    fusion.new_outer = var_clone(ctx, fusion.outer->var, fusion.outer->var->name);
    fusion.new_inner = var_clone(ctx, fusion.inner->var, fusion.inner->var->name);
    fusion.position = op_add(ctx, op_mul_int(ctx, expr_var(ctx, fusion.new_outer), lanes), expr_var(ctx, fusion.new_inner));
    Rewriter rewriter = {.ctx = ctx, .expr = fuse_expr, .data = &fusion};
    const Stmt *body = rewrite_stmt(&rewriter, fusion.inner->body);
    const Expr *end = last_position(pass, &fusion, body, total);
    if (fusion.failed || (end == total && !counted))
        return stmt;
    const Stmt *result = fused_loops(ctx, &fusion, with_end(ctx, &fusion, body, end, lanes, end != total), end, lanes);
    facts_bind_stmt(pass->an, result);
    LaneScope scope = {ctx, pass->func, pass->an, &pass->roots};
    return lanes_are_independent(&scope, result, result->as.loop.body) ? result : stmt;
}

static const Stmt *regroup_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    RegroupPass *pass = rewriter->data;
    facts_bind_stmt(pass->an, stmt);
    const Stmt *result = stmt->kind == STMT_FOR ? regrouped(pass, stmt) : stmt;
    return result != stmt ? result : rewrite_stmt_children(rewriter, stmt);
}

const Func *lower_regroup(LowerState *state, const Func *func)
{
    RegroupPass pass = {.ctx = state->ctx, .func = func, .an = analyzer_new(state->ctx)};
    facts_bind_sizes(pass.an, func);
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = regroup_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
