/* cache_accumulate: each iteration of a loop that a block reduces over fills a tile of its own, which is then added to the result.

   Before, cache_accumulate("C", k0, "local")        After
     for k0, i, k1, j:                                 for k0, i:
         with T.block("C"):                                for k1, j: with T.block("C_rf"): tile[...] = tile[...] + A * B
             C[vi, vj] = C[vi, vj] + A * B                 for j:     with T.block("C"):    C[...] = C[...] + tile[...]

   So a blocked reduction keeps its accumulators in a small buffer. It is rfactor of the loop, whose parts then move to where they are added: under the
   loops outside of the rest of the reduction. The legality is that of rfactor, compute_at and set_scope, which do it: sums of floats may be combined
   in another order. The loop must be the outermost that the block reduces over, else a part of one iteration would be no tile. */
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/schedule.h"

typedef struct {
    int place;  /* of the loop among those around the block */
    int inside; /* of the next one that the block reduces over; the number of loops where there is none */
} LoopPlace;

static bool find_place(Schedule *sch, const TreeNode *block, const TreeNode *loop, LoopPlace *found)
{
    int count;
    const TreeNode **loops = schedule_loops_around(sch, block, &count);
    *found = (LoopPlace){count, count};
    for (int i = count - 1; i >= 0; i--) {
        if (loops[i] == loop)
            found->place = i;
        else if (found->place < count && block_binds_axis(node_block(block), false, node_loop(loops[i])->var))
            return sched_refuse(sch, "block '%s' reduces over loop '%s' too, which is around loop '%s': name the outermost loop of the reduction",
                                node_block(block)->block->name, node_loop(loops[i])->var->name, node_loop(loop)->var->name);
        else if (block_binds_axis(node_block(block), false, node_loop(loops[i])->var))
            found->inside = i;
    }
    if (found->place < count && found->inside < count)
        return true;
    if (found->place == count)
        sched_refuse(sch, "loop '%s' is not around block '%s'", node_loop(loop)->var->name, node_block(block)->block->name);
    else
        sched_refuse(sch, "block '%s' reduces over no loop inside of loop '%s', so that a tile would hold one value: split the loop first",
                     node_block(block)->block->name, node_loop(loop)->var->name);
    sched_note(sch, block->stmt->span, "block '%s' is here", node_block(block)->block->name);
    return false;
}

bool primitive_cache_accumulate(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block), *loop = schedule_loop(sch, args[1].as.loop);
    LoopPlace place;
    if (!block || !loop || !find_place(sch, block, loop, &place))
        return false;
    const Value zero = {.kind = VALUE_INT}, last = {.kind = VALUE_INT, .as.integer = -1}, no = {.kind = VALUE_BOOL};
    const Value split[] = {args[1], zero};
    if (!primitive_rfactor(sch, split, result))
        return false;
    int count;
    const TreeNode **loops = schedule_loops_around(sch, schedule_block(sch, args[0].as.block), &count);
    const Value move[] = {*result, value_loop(node_loop(loops[place.inside - 1])->var), no, last}, scope[] = {*result, zero, args[2]};
    Value nothing;
    return primitive_compute_at(sch, move, &nothing) && primitive_set_scope(sch, scope, &nothing);
}
