/* See legality.h. */
#include "passes/schedule/check/legality.h"

static void note_access(Schedule *sch, const Access *access, const char *which)
{
    if (access && access->span.file)
        sched_note(sch, access->span, "the %s is here", which);
}

void note_accesses(Schedule *sch, Answer answer)
{
    bool two = answer.first && answer.second && answer.second != answer.first;
    note_access(sch, answer.first, two ? "first access" : "access");
    if (two)
        note_access(sch, answer.second, "second access");
}

bool refuse_by_answer(Schedule *sch, Answer answer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(sch->ctx->arena, format, args);
    va_end(args);
    sched_refuse(sch, "%s: %s", text, answer.text);
    note_accesses(sch, answer);
    return false;
}

const char *would_or_may(Answer answer)
{
    return answer.verdict == ANSWER_REFUTED ? "would" : "may";
}

bool check_order_is_kept(Schedule *sch, const Func *before, const Stmt *old_part, const Stmt *new_part, const Var *innermost)
{
    Answer answer = dependence_order_kept(sch->ctx, before, old_part, schedule_func(sch), new_part, innermost);
    if (answer_is_shown(answer))
        return true;
    return refuse_by_answer(sch, answer, "the new order %s change what the program computes", would_or_may(answer));
}

/* Some loop of the nest from the one over OUTERMOST to INNERMOST is bound to a reduce axis of BLOCK. */
static bool reduces_in_nest(Schedule *sch, const BlockStmt *block, const TreeNode *innermost, const Var *outermost)
{
    bool reduces = false;
    for (const TreeNode *loop = innermost; !reduces; loop = schedule_parent(sch, loop)) {
        reduces = block_binds_axis(block, false, node_loop(loop)->var);
        if (node_loop(loop)->var == outermost)
            break;
    }
    return reduces;
}

bool check_updates_run_once(Schedule *sch, const BlockStmt *block, const Var *outermost)
{
    if (answer_is_shown(dependence_runs_once(sch->ctx, schedule_func(sch), block->block, outermost)))
        return true;
    sched_refuse(sch,
                 "updates of block '%s' run again in other iterations of loop '%s' or of a loop inside of it, each time after its init; "
                 "that order would be lost",
                 block->block->name, outermost->name);
    sched_note(sch, block->block->span, "block '%s' is here", block->block->name);
    return false;
}

bool check_reductions_run_once(Schedule *sch, const TreeNode *innermost, const Var *outermost)
{
    int count;
    const TreeNode **blocks = schedule_child_blocks(sch, innermost, &count);
    for (int i = 0; i < count; i++) {
        const BlockStmt *block = node_block(blocks[i]);
        if (block->init && reduces_in_nest(sch, block, innermost, outermost) && !check_updates_run_once(sch, block, outermost))
            return false;
    }
    return true;
}
