/* fission: a loop over several statements becomes two loops, one after the other, over the first and over the last of them.

   Before, fission(i, after=b)              After
     for i in range(16):                      for i in range(16):
         with T.block("B"): ...                   with T.block("B"): ...
         with T.block("C"): ...               for i in range(16):
                                                  with T.block("C"): ...

   The first loop ends behind the statement of the loop's body that holds the block. Legal when
   - the loop is serial, without annotation, and no break or continue leaves it;
   - its bounds read nothing that its body writes;
   - a statement follows the one with the block;
   - no dependence leads from an iteration of the second part to a later iteration of the first one, since all of the first part runs first.
     */
#include "ir/walk.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/move/move.h"

/* The loop at NODE over COUNT of the statements of its body, under a variable of its own. */
static const Stmt *part_of_loop(Schedule *sch, const TreeNode *node, const Stmt *const *items, int count, Value *handle)
{
    const Stmt *body = count == 1 ? items[0] : stmt_seq(sch->ctx, arena_copy(sch->ctx->arena, items, sizeof *items * (size_t)count), count);
    const ForStmt *loop = node_loop(node);
    Var *var = var_clone(sch->ctx, loop->var, loop->var->name);
    Subst renamed = {0};
    subst_var(sch->ctx, &renamed, loop->var, expr_var(sch->ctx, var));
    Stmt part = *node->stmt;
    part.as.loop.var = var;
    part.as.loop.body = subst_stmt(sch->ctx, &renamed, body);
    *handle = value_loop(var);
    return stmt_new(sch->ctx, &part);
}

/* How many statements of the body of LOOP run up to the one that holds BLOCK; 0 after a refusal. */
static int statements_before(Schedule *sch, const TreeNode *loop, const TreeNode *block)
{
    const Stmt *const *items;
    int count = body_items(node_loop(loop)->body, &items), child = move_child_of(sch, loop, block);
    if (child >= 0 && child + 1 < count)
        return child + 1;
    const char *block_name = node_name(block), *loop_name = node_name(loop);
    if (child < 0)
        sched_refuse_node(sch, block, "block '%s' is not in the body of loop '%s'", block_name, loop_name);
    else
        sched_refuse_node(sch, block, "nothing follows block '%s' in the body of loop '%s'", block_name, loop_name);
    sched_note_node(sch, block);
    sched_note_node(sch, loop);
    return 0;
}

bool primitive_fission(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *loop = schedule_loop(sch, args[0].as.loop), *block = loop ? schedule_block(sch, args[1].as.block) : NULL;
    if (!block || !check_loop_is_plain(sch, loop) || !check_loop_has_no_jump(sch, loop) ||
        !check_bounds_are_kept(sch, loop, &node_loop(loop)->body, 1))
        return false;
    int first = statements_before(sch, loop, block);
    if (!first)
        return false;
    const Stmt *const *items;
    int count = body_items(node_loop(loop)->body, &items);
    Value loops[2];
    const Stmt *parts[] = {part_of_loop(sch, loop, items, first, &loops[0]),
                           part_of_loop(sch, loop, items + first, count - first, &loops[1])};
    const TreeNode *around = schedule_parent(sch, loop);
    while (around->stmt->kind != STMT_FOR && around->stmt->kind != STMT_BLOCK)
        around = schedule_parent(sch, around);
    const Func *before = schedule_func(sch);
    const Stmt *old_part = around->stmt;
    int position = schedule_node_index(sch, around);
    sched_replace(sch, loop->stmt, stmt_seq(sch->ctx, parts, 2));
    *result = value_list(sch->ctx, loops, 2);
    return check_order_is_kept(sch, before, old_part, schedule_node_at(sch, position)->stmt, NULL);
}
