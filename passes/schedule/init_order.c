/* Inits of reductions run when they did. An init runs with the first update of its point while every point certainly has one. A step after
   which that is not certain makes all inits run before the reduction: what they read may not be written yet, and others may still need what
   they overwrite.

     for k in range(9):                       for k_0, k_1 in T.grid(2, 5):
         S[0] = A[0]                              S[0] = A[0]              where k_0 * 5 + k_1 < 9
         with T.block("C"):                       with T.block("C"):       where k_0 * 5 + k_1 < 9
             with T.init(): C[0] = S[0]               with T.init(): C[0] = S[0] */
#include "ir/walk.h"
#include "passes/analysis/dependence.h"
#include "passes/schedule/checks.h"
#include "passes/schedule/legality.h"

/* The blocks with an init that share the body of some loop around them with other statements. */
typedef VEC(const Block *) BlockList;
typedef struct {
    Context *ctx;
    BlockList blocks;
    int loops, shared; /* how many loops, and lists of statements below a loop, the visit is in */
} SharingInits;

static bool shares_loop(const SharingInits *found, const Stmt *stmt)
{
    return stmt->kind == STMT_SEQ && found->loops;
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    SharingInits *found = visitor->data;
    found->shared += shares_loop(found, stmt);
    found->loops += stmt->kind == STMT_FOR;
    if (stmt->kind == STMT_BLOCK && stmt->as.block.init && found->shared)
        vec_push(found->ctx->arena, &found->blocks, stmt->as.block.block);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    SharingInits *found = visitor->data;
    found->loops -= stmt->kind == STMT_FOR;
    found->shared -= shares_loop(found, stmt);
}

bool check_inits_stay_in_order(Schedule *sch, const Module *before)
{
    Context *ctx = sch->ctx;
    for (int f = 0; f < before->func_count && f < sch->module->func_count; f++) {
        const Func *func = sch->module->funcs[f], *old = before->funcs[f];
        SharingInits inits = {.ctx = ctx};
        Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &inits};
        if (func != old && func->body)
            visit_stmt(&visitor, func->body);
        for (int i = 0; i < inits.blocks.count; i++) {
            const Block *block = inits.blocks.data[i];
            Answer answer = dependence_init_in_time(ctx, old, func, block);
            if (!answer_is_shown(answer))
                return refuse_by_answer(sch, answer, "the init of block '%s' would run before the reduction, since some point may come to "
                                       "have no update", block->name);
        }
    }
    return true;
}
