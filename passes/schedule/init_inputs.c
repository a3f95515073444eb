/* What the inits of reductions read is still there when they run. An init runs with the first update of its point while every point certainly
   has one. A step after which that is not certain makes all inits run before the reduction, where what they read may not be written yet:

     for k in range(9):                       for k_0, k_1 in T.grid(2, 5):
         S[0] = A[0]                              S[0] = A[0]              where k_0 * 5 + k_1 < 9
         with T.block("C"):                       with T.block("C"):       where k_0 * 5 + k_1 < 9
             with T.init(): C[0] = S[0]               with T.init(): C[0] = S[0] */
#include "ir/walk.h"
#include "passes/analysis/dependence.h"
#include "passes/schedule/checks.h"
#include "passes/schedule/legality.h"

static bool find_load(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_LOAD;
    return true;
}

/* The blocks whose inits read memory. */
typedef VEC(const Block *) BlockList;
typedef struct {
    Context *ctx;
    BlockList blocks;
} ReadingInits;

static bool find_reading_init(Visitor *visitor, const Stmt *stmt)
{
    ReadingInits *found = visitor->data;
    bool loads = false;
    Visitor loading = {.expr = find_load, .data = &loads};
    if (stmt->kind == STMT_BLOCK && stmt->as.block.init)
        visit_stmt(&loading, stmt->as.block.init);
    if (loads)
        vec_push(found->ctx->arena, &found->blocks, stmt->as.block.block);
    return true;
}

bool check_inits_find_inputs(Schedule *sch, const Module *before)
{
    Context *ctx = sch->ctx;
    for (int f = 0; f < before->func_count && f < sch->module->func_count; f++) {
        const Func *func = sch->module->funcs[f], *old = before->funcs[f];
        ReadingInits inits = {.ctx = ctx};
        Visitor visitor = {.stmt = find_reading_init, .data = &inits};
        if (func != old && func->body)
            visit_stmt(&visitor, func->body);
        for (int i = 0; i < inits.blocks.count; i++) {
            Conflict conflict, ignored;
            const Block *block = inits.blocks.data[i];
            if (dependence_init_early(ctx, func, block, &conflict) && !dependence_init_early(ctx, old, block, &ignored))
                return refuse_conflict(sch, &conflict, "the init of block '%s' would run before its inputs are there, since some point may "
                                       "come to have no update", block->name);
        }
    }
    return true;
}
