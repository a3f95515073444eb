/* Common subexpressions of lowered listings, as TVM names them:

     B[(i_outer * 32 + i_inner) * 4 + j] = A[(i_outer * 32 + i_inner) * 4 + j]

     cse_var_1: T.int32 = (i_outer * 32 + i_inner) * 4 + j
     B[cse_var_1] = A[cse_var_1]

   What a statement computes for certain more than once becomes a let around it, the largest expression first: not what a branch or a loop inside of
   it computes, and only expressions of loop variables and of other lets, without calls and reads. */
#include "ir/walk.h"
#include "passes/lower/listing.h"

/* A statement with more computations, as a long unrolled loop, keeps them; its parts share theirs. */
enum { MOST_COMPUTATIONS = 256 };

typedef struct {
    const Expr *expr;
    int count, size;
} Computation;

typedef VEC(Computation) Computations;

typedef struct {
    Context *ctx;
    Map scope; /* variables of the loops and lets around */
    int made;
} Sharing;

typedef struct {
    const Sharing *sharing;
    Computations *found;
} Collector;

static int size_of(const Expr *expr)
{
    int size = expr->arg_count > 0;
    for (int i = 0; i < expr->arg_count; i++)
        size += size_of(expr->args[i]);
    return size;
}

/* EXPR is made of numbers and of variables around alone. */
static bool is_plain(const Sharing *sharing, const Expr *expr)
{
    bool leaf = expr->kind == EXPR_INT || expr->kind == EXPR_FLOAT || (expr->kind == EXPR_VAR && map_has(&sharing->scope, expr->value.var));
    if (!expr->arg_count)
        return leaf;
    bool operation = expr_is_binary(expr) || expr->kind == EXPR_CAST || expr->kind == EXPR_NOT || expr->kind == EXPR_SELECT;
    for (int i = 0; i < expr->arg_count && operation; i++)
        operation = is_plain(sharing, expr->args[i]);
    return operation && expr->dtype.lanes == 1;
}

static void note(const Sharing *sharing, const Expr *expr, Computations *found)
{
    if (found->count == MOST_COMPUTATIONS || !expr->arg_count || !is_plain(sharing, expr))
        return;
    for (int i = 0; i < found->count; i++)
        if (expr_equal(found->data[i].expr, expr)) {
            found->data[i].count++;
            return;
        }
    Computation computation = {expr, 1, size_of(expr)};
    vec_push(sharing->ctx->arena, found, computation);
}

static bool note_parts(Visitor *visitor, const Expr *expr)
{
    Collector *collector = visitor->data;
    note(collector->sharing, expr, collector->found);
    return true;
}

/* What STMT computes for certain. */
static bool note_certain(Visitor *visitor, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_IF: visit_expr(visitor, stmt->as.branch.condition); return false;
    case STMT_WHILE: return false;
    case STMT_FOR:
        visit_expr(visitor, stmt->as.loop.min);
        visit_expr(visitor, stmt->as.loop.extent);
        return stmt->as.loop.launch;
    default: return true;
    }
}

/* The largest computation that STMT does more than once; NULL: none. */
static const Expr *largest_shared(const Sharing *sharing, const Stmt *stmt)
{
    Computations found = {0};
    Collector collector = {sharing, &found};
    Visitor visitor = {.expr = note_parts, .stmt = note_certain, .data = &collector};
    visit_stmt(&visitor, stmt);
    const Computation *best = NULL;
    for (int i = 0; i < found.count && found.count < MOST_COMPUTATIONS; i++)
        if (found.data[i].count > 1 && (!best || found.data[i].size > best->size))
            best = &found.data[i];
    return best ? best->expr : NULL;
}

typedef struct {
    const Expr *expr, *name;
} Replacement;

static const Expr *replace(Rewriter *rewriter, const Expr *expr)
{
    const Replacement *replacement = rewriter->data;
    return expr_equal(expr, replacement->expr) ? replacement->name : rewrite_expr_children(rewriter, expr);
}

/* STMT, what is below the lets that it gets, with its parts done too. */
static const Stmt *share_below(Rewriter *rewriter, const Stmt *stmt)
{
    Sharing *sharing = rewriter->data;
    bool loop = stmt->kind == STMT_FOR && !stmt->as.loop.launch; /* the reference shares nothing of a thread's index */
    const Var *var = loop ? stmt->as.loop.var : stmt->kind == STMT_LET ? stmt->as.let.var : NULL;
    if (var)
        map_set(sharing->ctx->arena, &sharing->scope, var, (void *)var);
    return rewrite_stmt_children(rewriter, stmt);
}

static const Stmt *share(Rewriter *rewriter, const Stmt *stmt)
{
    Sharing *sharing = rewriter->data;
    const Stmt *result = stmt;
    int lets = 0;
    for (const Expr *expr; (expr = largest_shared(sharing, result)) != NULL;) {
        Var *var = var_new(sharing->ctx, context_internf(sharing->ctx, "cse_var_%d", ++sharing->made), expr->dtype, stmt->span);
        Replacement replacement = {expr, expr_var(sharing->ctx, var)};
        Rewriter replacer = {.ctx = sharing->ctx, .expr = replace, .data = &replacement};
        result = stmt_let(sharing->ctx, var, expr, rewrite_stmt(&replacer, result), stmt->span);
        map_set(sharing->ctx->arena, &sharing->scope, var, var);
        lets++;
    }
    const Stmt *body = result;
    for (int i = 0; i < lets; i++)
        body = body->as.let.body;
    const Stmt *done = share_below(rewriter, body);
    for (int i = lets - 1; i >= 0; i--) {
        const Stmt *let = result;
        for (int k = 0; k < i; k++)
            let = let->as.let.body;
        done = stmt_let(sharing->ctx, let->as.let.var, let->as.let.value, done, let->span);
    }
    return done;
}

const Stmt *listing_share(Context *ctx, const Stmt *stmt)
{
    Sharing sharing = {.ctx = ctx};
    Rewriter rewriter = {.ctx = ctx, .stmt = share, .data = &sharing};
    return rewrite_stmt(&rewriter, stmt);
}
