/* unroll: marks a loop to be unrolled.

   Before, unroll(i)                        After
     for i in range(4):                       for i in T.unroll(4):

   The order of iterations stays, so unroll is legal. A loop that is bound to threads may be unrolled where its threads are in no conflict that
   running together hides. Refused where the extent is not known or the result would not be of a sensible size. */
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/loops.h"
#include "print/print.h"

enum { MOST_UNROLLED_STATEMENTS = 65536 };

static const Stmt *unrolled_loop(Context *ctx, const Stmt *stmt)
{
    ForStmt loop = stmt->as.loop;
    loop.kind = FOR_UNROLLED;
    loop.thread = NULL;
    return stmt_for(ctx, loop, stmt->span);
}

static bool check_extent_is_constant(Schedule *sch, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    int64_t extent;
    if (expr_const_int(loop->extent, &extent))
        return true;
    sched_refuse(sch, "the extent %s of loop '%s' is not a constant: split it by a constant and unroll the inner loop",
                 print_expr(sch->ctx, loop->extent), loop->var->name);
    return sched_note_node(sch, node);
}

/* Counts the statements that unrolling leaves, saturating above the limit. */
static int64_t unrolled_statements(const Stmt *stmt)
{
    int64_t total = 0, extent;
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count && total <= MOST_UNROLLED_STATEMENTS; i++)
            total += unrolled_statements(stmt->as.seq.items[i]);
        return total;
    case STMT_IF:
        return unrolled_statements(stmt->as.branch.then_body) +
               (stmt->as.branch.else_body ? unrolled_statements(stmt->as.branch.else_body) : 0);
    case STMT_BLOCK: return unrolled_statements(stmt->as.block.body) + (stmt->as.block.init ? unrolled_statements(stmt->as.block.init) : 0);
    case STMT_FOR:
        total = unrolled_statements(stmt->as.loop.body);
        if (stmt->as.loop.kind != FOR_UNROLLED || !expr_const_int(stmt->as.loop.extent, &extent) || total == 0)
            return total;
        return extent > MOST_UNROLLED_STATEMENTS / total ? MOST_UNROLLED_STATEMENTS + 1 : extent * total;
    default: return stmt_body(stmt) ? unrolled_statements(stmt_body(stmt)) : 1;
    }
}

static bool check_unrolled_size(Schedule *sch, const TreeNode *node, const Stmt *unrolled)
{
    if (unrolled_statements(unrolled) <= MOST_UNROLLED_STATEMENTS)
        return true;
    sched_refuse(sch, "unrolling loop '%s' would make more than %d statements: split it and unroll the inner loop",
                 node_name(node), MOST_UNROLLED_STATEMENTS);
    return sched_note_node(sch, node);
}

bool primitive_unroll(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_loop(sch, args[0].as.loop);
    if (!node || !(node = loops_unbound(sch, node)))
        return false;
    const Stmt *unrolled = unrolled_loop(sch->ctx, node->stmt);
    if (!check_extent_is_constant(sch, node) || !check_unrolled_size(sch, node, unrolled) || !check_loop_has_no_jump(sch, node))
        return false;
    sched_replace(sch, node->stmt, unrolled);
    return true;
}
