/* The loops around a block that rfactor factors, and where the nest of the partial results goes; see rfactor.c.

   Before, rfactor(k, 0)                        After
     for i in range(8):                           for i, k in T.grid(8, 16):
         with T.block("B"): ...                       with T.block("C_rf"): ...
         for k in range(16):                      for i in range(8):
             with T.block("C"): ...                   with T.block("B"): ...
         with T.block("D"): ...                       for k in range(16):
                                                          with T.block("C"): ...
                                                      with T.block("D"): ...
   From the factored loop inwards each loop is the whole body of the one before. A loop further out may hold other statements. The partial
   results are then computed in front of the outermost loop, in copies of the loops further out. Legal where these loops are spatial for
   the block, nothing else in the outermost one writes what the block reads, and each point of the block has elements of its own: all
   partial results are there before the first one is combined. */
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/reduce/rfactor_internal.h"

/* Loop INDEX holds the next one, or the block, among statements that follow one another: no condition or let is in between. */
static bool holds_in_list(Factoring *f, int index)
{
    const TreeNode *up = schedule_parent(f->sch, index + 1 < f->loop_count ? f->loops[index + 1] : f->block);
    while (up->stmt->kind == STMT_SEQ)
        up = schedule_parent(f->sch, up);
    return up == f->loops[index];
}

/* The loops that hold other statements too are spatial, and the factored one is not among them. */
static bool check_shared_loops(Factoring *f)
{
    const BlockStmt *block = node_block(f->block);
    for (int i = 0; i < f->shared; i++) {
        const Var *var = node_loop(f->loops[i])->var;
        if (f->loops[i] != f->loop && !rfactor_loop_is_used(block, var, ITER_REDUCE) && holds_in_list(f, i))
            continue;
        sched_refuse(f->sch, "loop '%s' holds more than the nest around block '%s'", var->name, block->block->name);
        return sched_note_node(f->sch, f->loops[i]);
    }
    return true;
}

bool rfactor_find_nest(Factoring *f)
{
    Schedule *sch = f->sch;
    int count;
    const TreeNode **blocks = schedule_child_blocks(sch, f->loop, &count);
    if (count != 1) {
        sched_refuse(sch, "loop '%s' encloses %d blocks; rfactor needs just one", node_name(f->loop), count);
        return sched_note_node(f->sch, f->loop);
    }
    f->block = blocks[0];
    f->scope = schedule_scope(sch, f->block);
    f->loops = schedule_loops_around(sch, f->block, &f->loop_count);
    for (int i = 0; i < f->loop_count; i++)
        if (node_loop(f->loops[i])->body != (i + 1 < f->loop_count ? f->loops[i + 1] : f->block)->stmt)
            f->shared = i + 1;
    return check_shared_loops(f);
}

bool rfactor_check_inputs_stay(Factoring *f)
{
    if (!f->shared)
        return true;
    Schedule *sch = f->sch;
    const Block *block = node_block(f->block)->block;
    const Var *outermost = node_loop(f->loops[0])->var;
    AccessList accesses = access_collect(sch->ctx, schedule_func(sch));
    Map read = dependence_read_data(sch->ctx, schedule_func(sch), block);
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        bool writes = access->fence || (access->write && map_has(&read, access->data));
        if (!writes || access->block == block || !access_loop(access, outermost))
            continue;
        sched_refuse(sch, "the partial results of block '%s' are to be computed in front of loop '%s', which writes '%s' that they read",
                     block->name, outermost->name, access->fence ? "what" : access->buffer->name);
        sched_note(sch, access->span, "it is written here");
        return false;
    }
    return true;
}

bool rfactor_check_results_stay(Factoring *f)
{
    if (!f->shared)
        return true;
    Answer answer = dependence_points_apart(f->sch->ctx, schedule_func(f->sch), node_block(f->block));
    return answer_is_shown(answer) ||
           refuse_by_answer(f->sch, answer, "the partial results of block '%s' are to be computed in front of loop '%s', and some %s be overwritten before they are combined",
                            node_name(f->block), node_name(f->loops[0]), would_or_may(answer));
}

/* STMT with the first COUNT loops of F under fresh variables. */
static const Stmt *with_fresh_loops(Factoring *f, const Stmt *stmt)
{
    Context *ctx = f->sch->ctx;
    Subst renaming = {0};
    for (int i = 0; i < f->shared; i++) {
        Var *var = node_loop(f->loops[i])->var;
        subst_var(ctx, &renaming, var, expr_var(ctx, var_clone(ctx, var, var->name)));
    }
    return subst_stmt(ctx, &renaming, stmt);
}

void rfactor_place(Factoring *f, const Stmt *partial, const Stmt *combining)
{
    Schedule *sch = f->sch;
    if (!f->shared) {
        const Stmt *parts[] = {partial, combining};
        sched_replace(sch, f->loops[0]->stmt, stmt_seq(sch->ctx, parts, 2));
        return;
    }
    const Var *outermost = node_loop(f->loops[0])->var;
    partial = with_fresh_loops(f, partial);
    sched_replace(sch, f->loops[f->shared]->stmt, combining);
    const Stmt *rest = schedule_find_loop(sch, outermost)->stmt, *parts[] = {partial, rest};
    sched_replace(sch, rest, stmt_seq(sch->ctx, parts, 2));
}
