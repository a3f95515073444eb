/* A loop bound to threads that is to run in another way: unrolled, parallel or vectorized; see concurrency.h.

   Threads run a loop's body together, statement by statement; other loops run it iteration by iteration. Legal where no two iterations
   conflict, or where the body is one store whose threads are in no conflict: then only the order of iterations within that one statement
   changes. Not legal where the loop shares its index with another loop. Not legal either where the loop fills memory for statements outside
   of it, and each thread (or block) has its own of this memory. */
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"

static bool refuse_loop(Schedule *sch, const TreeNode *node, const TreeNode *other, const char *reason)
{
    const ForStmt *loop = node_loop(node);
    sched_refuse(sch, "loop '%s' is bound to %s, and %s", loop->var->name, loop->thread, reason);
    sched_note(sch, other->stmt->span, "%s is here", other == node ? arena_printf(sch->ctx->arena, "loop '%s'", loop->var->name) : "the other");
    return false;
}

/* No loop around or below the one at NODE has its thread index. */
static bool check_index_is_own(Schedule *sch, const TreeNode *node)
{
    Str thread = node_loop(node)->thread;
    for (int i = 0; i < schedule_node_count(sch); i++) {
        const TreeNode *other = schedule_node_at(sch, i);
        if (other == node || other->stmt->kind != STMT_FOR || !node_loop(other)->thread || strcmp(node_loop(other)->thread, thread))
            continue;
        if (schedule_is_under(sch, other, node) || schedule_is_under(sch, node, other))
            return refuse_loop(sch, node, other,
                               arena_printf(sch->ctx->arena, "is one index with loop '%s', which would lose it", node_name(other)));
    }
    return true;
}

/* BUFFER, written in the loop at NODE, is made outside of it. */
static bool is_made_outside(Schedule *sch, const TreeNode *node, const Buffer *buffer)
{
    for (int i = schedule_node_index(sch, node); i < node->end; i++) {
        const TreeNode *below = schedule_node_at(sch, i);
        for (int a = 0; below->stmt->kind == STMT_BLOCK && a < node_block(below)->alloc_count; a++)
            if (node_block(below)->allocs[a] == buffer)
                return false;
    }
    return true;
}

/* Each thread, or block, of LOOP has its own BUFFER. */
static bool is_own_memory(const ForStmt *loop, const Buffer *buffer)
{
    ScopeClass memory = scope_class(buffer->scope);
    return memory == SCOPE_LOCAL || (memory == SCOPE_SHARED && !strncmp(loop->thread, "blockIdx", 8));
}

static bool check_memory_is_not_own(Schedule *sch, const TreeNode *node)
{
    const Var *var = node_loop(node)->var;
    AccessList accesses = access_collect(sch->ctx, schedule_func(sch));
    Map sizes = func_sizes(sch->ctx, schedule_func(sch));
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        if (access->write && access->buffer && access_loop(access, var) && is_own_memory(node_loop(node), access->buffer) &&
            is_made_outside(sch, node, access->buffer) && !answer_is_shown(dependence_is_private(sch->ctx, &accesses, &sizes, access->data, var)))
            return refuse_loop(sch, node, node,
                               arena_printf(sch->ctx->arena, "each has memory of its own for '%s', which all would share",
                                            access->buffer->name));
    }
    return true;
}

static bool count_leaf(Visitor *visitor, const Stmt *stmt)
{
    int *count = visitor->data;
    *count += stmt->kind == STMT_STORE || stmt->kind == STMT_EVALUATE || stmt->kind == STMT_WHILE;
    return true;
}

/* The body of LOOP is one store, next to which only an init may stand. */
static bool is_one_statement(const ForStmt *loop)
{
    int count = 0;
    Visitor visitor = {.stmt = count_leaf, .data = &count};
    visit_stmt(&visitor, loop->body);
    const Stmt *stmt = loop->body;
    while (stmt->kind == STMT_FOR)
        stmt = stmt->as.loop.body;
    bool updates = stmt->kind == STMT_BLOCK && stmt->as.block.init && stmt->as.block.init->kind == STMT_STORE &&
                   stmt->as.block.body->kind == STMT_STORE;
    return count == 1 || (updates && count == 2);
}

const TreeNode *loops_unbound(Schedule *sch, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    const Stmt *old = node->stmt;
    Var *var = loop->var;
    if (loop->kind != FOR_THREAD)
        return node;
    if (!check_index_is_own(sch, node) || !check_memory_is_not_own(sch, node))
        return NULL;
    bool threads = is_one_statement(loop) && strncmp(loop->thread, "blockIdx", 8) &&
                   answer_is_shown(dependence_independent(sch->ctx, schedule_func(sch), var, RUN_AS_THREADS));
    ForStmt serial = *loop;
    serial.kind = FOR_SERIAL;
    serial.thread = NULL;
    sched_replace(sch, old, stmt_for(sch->ctx, serial, old->span));
    Answer answer = threads ? answer_shown() : dependence_independent(sch->ctx, schedule_func(sch), var, RUN_AT_ONCE);
    if (answer_is_shown(answer))
        return schedule_find_loop(sch, var);
    refuse_by_answer(sch, answer, "loop '%s' is bound to %s, whose threads run together, statement by statement, and would not any more",
                    var->name, old->as.loop.thread);
    return NULL;
}
