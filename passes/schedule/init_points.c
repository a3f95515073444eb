/* A step leaves the points of a reduction apart whose init stands in a block with axes of its own. An init runs once for each point of the
   axes of its block in one execution of the outermost loop that the block reduces over; what the axes of a block further out tell apart must
   not change in that loop.

     for i, k in T.grid(4, 4):                             for k, i in T.grid(4, 4):
         with T.block("o"):                                    with T.block("o"):
             vi, vk = T.axis.remap("SR", [i, k])                   vi, vk = T.axis.remap("SR", [i, k])
             with T.block("C"):                     -X->           with T.block("C"):
                 wk = T.axis.reduce(4, vk)                             wk = T.axis.reduce(4, vk)
                 with T.init(): C[vi] = 0                              with T.init(): C[vi] = 0
                 C[vi] += A[vi, wk]                                    C[vi] += A[vi, wk]
   Asked at the end of each step, whichever it was. */
#include "ir/walk.h"
#include "passes/schedule/checks.h"

typedef VEC(const Stmt *) StmtList;
typedef struct {
    Context *ctx;
    StmtList around; /* the loops, lets and blocks that the visit is in, outermost first */
    Map merged;      /* Block -> Var: blocks with an init of which several points count as one, and an axis that tells them apart */
} InitPoints;

/* EXPR, inside of the statement at INDEX, in terms of loops: values of lets and bindings of axes put in. */
static const Expr *unfold(const InitPoints *points, const Expr *expr, int index)
{
    for (int i = index; i >= 0; i--) {
        const Stmt *stmt = points->around.data[i];
        Subst values = {0};
        if (stmt->kind == STMT_LET)
            subst_var(points->ctx, &values, stmt->as.let.var, stmt->as.let.value);
        for (int a = 0; stmt->kind == STMT_BLOCK && a < stmt->as.block.iter_count; a++)
            subst_var(points->ctx, &values, stmt->as.block.iters[a].var, stmt->as.block.bindings[a]);
        expr = values.vars.count ? subst_expr(points->ctx, &values, expr) : expr;
    }
    return expr;
}

/* The first loop from index FIRST on that EXPR, unfolded, uses; the number of statements around where there is none. */
static int first_loop_used(const InitPoints *points, const Expr *expr, int first)
{
    while (first < points->around.count) {
        const Stmt *stmt = points->around.data[first];
        if (stmt->kind == STMT_FOR && expr_uses_var(expr, stmt->as.loop.var))
            break;
        first++;
    }
    return first;
}

static bool binds_directly(const BlockStmt *block, const Var *axis)
{
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind != ITER_REDUCE && expr_is_var(block->bindings[i], axis))
            return true;
    return false;
}

/* The axis of a block around STMT, a block with an init, that changes in the reduction and is none of STMT's own; NULL: there is none. */
static const Var *foreign_axis(const InitPoints *points, const Stmt *stmt)
{
    const BlockStmt *block = &stmt->as.block;
    int last = points->around.count - 1, first = points->around.count;
    for (int i = 0; i < block->iter_count; i++) {
        int loop = block->iters[i].kind == ITER_REDUCE ? first_loop_used(points, unfold(points, block->bindings[i], last), 0) : first;
        first = loop < first ? loop : first;
    }
    for (int i = first; i <= last; i++) {
        const Stmt *outer = points->around.data[i];
        for (int a = 0; outer->kind == STMT_BLOCK && a < outer->as.block.iter_count; a++) {
            const Iter *iter = &outer->as.block.iters[a];
            if (iter->kind == ITER_REDUCE || !stmt_uses_var(block->init, iter->var) || binds_directly(block, iter->var))
                continue;
            if (first_loop_used(points, unfold(points, outer->as.block.bindings[a], i - 1), first) <= last)
                return iter->var;
        }
    }
    return NULL;
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    InitPoints *points = visitor->data;
    const Var *axis = stmt->kind == STMT_BLOCK && stmt->as.block.init ? foreign_axis(points, stmt) : NULL;
    if (axis)
        map_set(points->ctx->arena, &points->merged, stmt->as.block.block, (void *)axis);
    if (stmt->kind == STMT_FOR || stmt->kind == STMT_LET || stmt->kind == STMT_BLOCK)
        vec_push(points->ctx->arena, &points->around, stmt);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    InitPoints *points = visitor->data;
    points->around.count -= stmt->kind == STMT_FOR || stmt->kind == STMT_LET || stmt->kind == STMT_BLOCK;
}

static Map find_merged_points(Context *ctx, const Func *func)
{
    InitPoints points = {.ctx = ctx};
    Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &points};
    visit_stmt(&visitor, func->body);
    return points.merged;
}

bool check_init_points_stay_apart(Schedule *sch, const Module *before)
{
    for (int f = 0; f < before->func_count && f < sch->module->func_count; f++) {
        const Func *func = sch->module->funcs[f];
        if (func == before->funcs[f] || !func->body)
            continue;
        Map merged = find_merged_points(sch->ctx, func);
        Map old = merged.count ? find_merged_points(sch->ctx, before->funcs[f]) : merged;
        for (int i = 0; i < merged.count; i++) {
            const Block *block = merged.entries[i].key;
            const Var *axis = merged.entries[i].value;
            if (map_has(&old, block))
                continue;
            sched_refuse(sch, "the reduction of block '%s' would run over axis '%s' of a block around it, too, and start just once for all of its "
                         "values: give the block an axis of its own for it", block->name, axis->name);
            sched_note(sch, block->span, "block '%s' is here", block->name);
            return false;
        }
    }
    return true;
}
