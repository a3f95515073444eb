/* add_unit_loop: a loop of one iteration around a block or loop, to hold a place for other steps.

   Before, add_unit_loop(b)                 After
     with T.block("B"):                       for u in range(1):
                                                  with T.block("B"):

   Always legal, but there is nothing around the root block. */
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"

bool primitive_add_unit_loop(Schedule *sch, const Value *args, Value *result)
{
    Context *ctx = sch->ctx;
    const TreeNode *node = schedule_target(sch, &args[0]);
    if (!node)
        return false;
    if (!schedule_parent(sch, node) && node->stmt->kind == STMT_BLOCK)
        return sched_refuse(sch, "block '%s' is the root block, which nothing encloses", node_name(node));
    Var *var = var_new(ctx, context_intern(ctx, "u"), DTYPE_INT32, node->stmt->span);
    sched_replace(sch, node->stmt, loops_serial(ctx, var, expr_int(ctx, DTYPE_INT32, 1), node->stmt, node->stmt->span));
    *result = value_loop(var);
    return true;
}
