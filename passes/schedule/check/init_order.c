/* Every step is asked at its end about the inits of reductions. Each init must run for the same points as before, and no init may come to run too
   early. While every point certainly has an update, an init runs with the first update of its point. After a step that leaves this uncertain, all
   inits run before the reduction. There an init may read memory that is not written yet, or overwrite values that are still needed.

     for k in range(9):                       for k_0, k_1 in T.grid(2, 5):
         S[0] = A[0]                              S[0] = A[0]              where k_0 * 5 + k_1 < 9
         with T.block("C"):                       with T.block("C"):       where k_0 * 5 + k_1 < 9
             with T.init(): C[0] = S[0]               with T.init(): C[0] = S[0] */
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/legality.h"

/* A block with an init; SHARES: the body of some loop around it with other statements. */
typedef struct {
    const Block *block;
    bool shares;
} InitBlock;
typedef struct {
    Context *ctx;
    VEC(InitBlock) blocks;
    Map known;         /* keys: the statements that the program before the step had in its outermost block */
    int loops, shared; /* how many loops, and lists of statements below a loop, the visit is in */
} Inits;

/* What a step leaves as it is in the outermost block has its inits as they were. */
static void note_known(Inits *inits, const Func *before)
{
    const Stmt *body = before->body && before->body->kind == STMT_BLOCK ? stmt_body(before->body) : NULL;
    for (int i = 0; body && body->kind == STMT_SEQ && i < body->as.seq.count; i++)
        map_set(inits->ctx->arena, &inits->known, body->as.seq.items[i], inits);
}

static bool shares_loop(const Inits *found, const Stmt *stmt)
{
    return stmt->kind == STMT_SEQ && found->loops;
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    Inits *found = visitor->data;
    found->shared += shares_loop(found, stmt);
    found->loops += stmt->kind == STMT_FOR;
    bool known = map_has(&found->known, stmt);
    if (!known && stmt->kind == STMT_BLOCK && stmt->as.block.init)
        vec_push(found->ctx->arena, &found->blocks, ((InitBlock){stmt->as.block.block, found->shared > 0}));
    return !known;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    Inits *found = visitor->data;
    found->loops -= stmt->kind == STMT_FOR;
    found->shared -= shares_loop(found, stmt);
}

static bool check_init(Schedule *sch, const Func *before, const Func *after, InitBlock init)
{
    bool narrowed = init.block == sch->narrowed;
    Answer kept = narrowed ? answer_shown() : dependence_inits_kept(sch->ctx, before, after, init.block, init.block == sch->widened);
    if (!answer_is_shown(kept)) {
        sched_refuse(sch, "%s; decompose_reduction makes it a block of its own", kept.text);
        sched_note(sch, init.block->span, "block '%s' is here", init.block->name);
        return false;
    }
    Answer in_time = init.shares ? dependence_init_in_time(sch->ctx, before, after, init.block) : answer_shown();
    return answer_is_shown(in_time) || refuse_by_answer(sch, in_time, "the init of block '%s' would run before the reduction, since some point may "
                                                        "come to have no update", init.block->name);
}

bool check_inits(Schedule *sch, const Module *before)
{
    for (int f = 0; f < before->func_count && f < sch->module->func_count; f++) {
        const Func *func = sch->module->funcs[f], *old = before->funcs[f];
        Inits inits = {.ctx = sch->ctx};
        Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &inits};
        if (func == old || !func->body)
            continue;
        note_known(&inits, old);
        visit_stmt(&visitor, func->body);
        for (int i = 0; i < inits.blocks.count; i++)
            if (!check_init(sch, old, func, inits.blocks.data[i]))
                return false;
    }
    return true;
}
