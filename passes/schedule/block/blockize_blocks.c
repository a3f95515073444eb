/* blockize over a list of blocks, and the primitive itself; blockize.c has one loop.

   Before, blockize([B, C])                          After
     for o in range(8):                                for o in range(8):
         for i in range(16): B[o * 16 + i] = ...           with T.block("outer_B_C_"):
         for i in range(16): C[o * 16 + i] = ...               v_o = T.axis.spatial(8, o)
                                                               T.reads(B[v_o * 16:v_o * 16 + 16]) ...
                                                               for i in range(16): B[v_o * 16 + i] = ...
                                                               for i in range(16): C[v_o * 16 + i] = ...
   The blocks are all that stands in neighbouring statements of one body. Each divides at that body; the outer parts must agree. */
#include <string.h>

#include "ir/walk.h"
#include "passes/schedule/block/blockize.h"
#include "passes/schedule/block/blockize_internal.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/move/move.h"
#include "print/print.h"
#include "support/strbuf.h"

/* The innermost node that holds all of NODES. */
static const TreeNode *common_node(Schedule *sch, const TreeNode *const *nodes, int count)
{
    const TreeNode *common = schedule_parent(sch, nodes[0]);
    for (int i = 1; i < count; i++)
        while (common &&
               !(schedule_node_index(sch, nodes[i]) > schedule_node_index(sch, common) && schedule_node_index(sch, nodes[i]) < common->end))
            common = schedule_parent(sch, common);
    return common;
}

typedef struct {
    Schedule *sch;
    int count;
    const TreeNode **nodes; /* the blocks, in program order */
    const TreeNode *sequence; /* the statement list that holds them */
    Blockizing *parts;
} BlockGroup;

/* The item of the sequence below which NODE lies. */
static int item_of(BlockGroup *group, const TreeNode *node)
{
    for (;;) {
        const TreeNode *parent = schedule_parent(group->sch, node);
        if (parent == group->sequence)
            break;
        node = parent;
    }
    int position = 0;
    while (group->sequence->stmt->as.seq.items[position] != node->stmt)
        position++;
    return position;
}

static const char *part_name(const BlockGroup *group, int index)
{
    return node_block(group->nodes[index])->block->name;
}

/* Where a block that was refused stands; false. */
static bool note_part(const BlockGroup *group, int index)
{
    return sched_note_node(group->sch, group->nodes[index]);
}

static bool gather_blocks(BlockGroup *group, const ValueList *list)
{
    Schedule *sch = group->sch;
    group->count = list->count;
    group->nodes = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, list->count);
    for (int i = 0; i < list->count; i++) {
        const TreeNode *node = schedule_block(sch, list->items[i].as.block);
        if (!node)
            return false;
        int at = i;
        for (; at > 0 && schedule_node_index(sch, group->nodes[at - 1]) > schedule_node_index(sch, node); at--)
            group->nodes[at] = group->nodes[at - 1];
        group->nodes[at] = node;
    }
    for (int i = 1; i < group->count; i++)
        if (group->nodes[i] == group->nodes[i - 1])
            return sched_refuse(sch, "block '%s' is given twice", part_name(group, i)) || note_part(group, i);
    return group->count > 1 || sched_refuse(sch, "a list of two blocks or more is needed: for one block give the loop that is to become a block");
}

/* The blocks are neighbours: every item of the sequence from the first to the last holds one of them, as the only block below a nest of
   loops. */
static bool check_neighbours(BlockGroup *group)
{
    Schedule *sch = group->sch;
    group->sequence = common_node(sch, group->nodes, group->count);
    if (!group->sequence || group->sequence->stmt->kind != STMT_SEQ)
        return sched_refuse(sch, "the blocks do not stand side by side in one body");
    for (int i = 0; i < group->count; i++) {
        if (item_of(group, group->nodes[i]) != item_of(group, group->nodes[0]) + i) {
            sched_refuse(sch, "the blocks are not neighbours: something that is not in the list stands between '%s' and '%s'",
                         part_name(group, i - 1), part_name(group, i));
            note_part(group, i - 1);
            return note_part(group, i);
        }
        for (const TreeNode *node = schedule_parent(sch, group->nodes[i]); node != group->sequence; node = schedule_parent(sch, node))
            if (node->stmt->kind != STMT_FOR) {
                sched_refuse(sch, "only loops may stand between block '%s' and the body that it shares with the other blocks",
                             part_name(group, i));
                note_no_loop(sch, node);
                return false;
            }
    }
    return true;
}

/* The loops between NODE and the sequence, outermost first. */
static const TreeNode **loops_inside(const BlockGroup *group, const TreeNode *node, int *count)
{
    int all;
    const TreeNode **loops = schedule_loops_around(group->sch, node, &all);
    *count = 0;
    for (const TreeNode *up = schedule_parent(group->sch, node); up != group->sequence; up = schedule_parent(group->sch, up))
        ++*count;
    return loops + all - *count;
}

static bool divide_all(BlockGroup *group, bool preserve_unit_iters)
{
    Schedule *sch = group->sch;
    Analyzer *an = analyzer_new(sch->ctx);
    int outside_count;
    VarRange *outside = loops_ranges_outside(sch, group->sequence, &outside_count);
    group->parts = ARENA_ARRAY(sch->ctx->arena, Blockizing, group->count);
    for (int i = 0; i < group->count; i++) {
        Blockizing *part = &group->parts[i];
        *part = (Blockizing){.sch = sch, .an = an, .block_stmt = group->nodes[i]->stmt, .preserve_unit_iters = preserve_unit_iters};
        part->loops = loops_inside(group, group->nodes[i], &part->loop_count);
        if (part->block_stmt->as.block.init)
            sched_refuse(sch, "block '%s' has an init; decompose_reduction takes it off", part_name(group, i));
        else if (!blockize_prepare(part, outside, outside_count))
            sched_refuse(sch,
                         "block '%s' cannot be blockized: its bindings and T.where do not divide into a part over the loops outside and one "
                         "over the loops inside; a split whose factor divides the extent helps",
                         part_name(group, i));
        else
            continue;
        return note_part(group, i);
    }
    return true;
}

/* The outer axes must be the same for all blocks: those of the first are used for all. */
static bool unify_outer_axes(BlockGroup *group)
{
    Context *ctx = group->sch->ctx;
    Blockizing *first = &group->parts[0];
    for (int i = 1; i < group->count; i++) {
        Blockizing *part = &group->parts[i];
        bool same = part->outer_iters.count == first->outer_iters.count &&
                    expr_equal(part->division.outer_predicate, first->division.outer_predicate);
        Subst renaming = {0};
        for (int k = 0; same && k < first->outer_iters.count; k++) {
            const Iter *a = &first->outer_iters.data[k], *b = &part->outer_iters.data[k];
            same = a->kind == b->kind && expr_equal(a->domain.extent, b->domain.extent) &&
                   expr_equal(first->outer_bindings.data[k], part->outer_bindings.data[k]);
            subst_var(ctx, &renaming, b->var, expr_var(ctx, a->var));
        }
        if (!same) {
            sched_refuse(group->sch, "the parts of blocks '%s' and '%s' over the loops outside have different axes", part_name(group, 0),
                         part_name(group, i));
            note_part(group, 0);
            return note_part(group, i);
        }
        for (int v = 0; v < part->subst.vars.count; v++) {
            MapEntry *entry = &part->subst.vars.entries[v];
            entry->value = (void *)subst_expr(ctx, &renaming, entry->value);
        }
        part->outer_iters = first->outer_iters;
        blockize_substitute_regions(part);
    }
    return true;
}

/* How many of the blocks' own regions are of BUFFER. */
static int count_regions(const BlockGroup *group, const Buffer *buffer, bool writes)
{
    int found = 0;
    for (int i = 0; i < group->count; i++) {
        const BlockStmt *block = &group->parts[i].block_stmt->as.block;
        const Region *regions = writes ? block->writes : block->reads;
        for (int r = 0; r < (writes ? block->write_count : block->read_count); r++)
            found += regions[r].buffer == buffer;
    }
    return found;
}

/* Extents as the reference prints them for a group of blocks: last + 1 - first, the last as it comes from one region or simplified from the
   union of several. */
static void spell_out_extents(const BlockGroup *group, RegionVec *regions, bool writes)
{
    Context *ctx = group->sch->ctx;
    for (int i = 0; i < regions->count; i++) {
        bool united = count_regions(group, regions->data[i].buffer, writes) > 1;
        for (int d = 0; d < regions->data[i].buffer->ndim; d++) {
            Range *range = &regions->data[i].ranges[d];
            DType type = range->min->dtype;
            const Expr *last = op_sub(ctx, op_add(ctx, op_cast(ctx, type, range->extent), range->min), expr_int(ctx, type, 1));
            if (united || expr_is_int(range->extent, 1))
                last = analyzer_simplify(group->parts[0].an, last);
            range->extent = op_sub(ctx, op_add_int(ctx, last, 1), range->min);
        }
    }
}

static Block *build_group(BlockGroup *group)
{
    Context *ctx = group->sch->ctx;
    RegionVec reads = {0}, writes = {0};
    StrBuf name = {.arena = ctx->arena};
    strbuf_add(&name, "outer_");
    for (int i = group->count - 1; i >= 0; i--) /* the printed order: all from the last to the first */
        blockize_add_regions(&group->parts[i], true, &reads, &writes);
    spell_out_extents(group, &reads, false);
    spell_out_extents(group, &writes, true);
    const Stmt *sequence = group->sequence->stmt, **inner = ARENA_ARRAY(ctx->arena, const Stmt *, group->count);
    for (int i = 0; i < group->count; i++) {
        strbuf_printf(&name, "%s_", node_block(group->nodes[i])->block->name);
        inner[i] = blockize_inner(&group->parts[i]);
    }
    Blockizing *first = &group->parts[0];
    BlockStmt outer = {.block = block_new(ctx, context_intern(ctx, strbuf_text(&name)), group->sch->call_span),
                       .iter_count = first->outer_iters.count,
                       .iters = first->outer_iters.data};
    outer.bindings = first->outer_bindings.data;
    outer.predicate = first->division.outer_predicate;
    outer.reads = reads.data;
    outer.read_count = reads.count;
    outer.writes = writes.data;
    outer.write_count = writes.count;
    outer.body = stmt_seq(ctx, inner, group->count);
    int from = item_of(group, group->nodes[0]), total = sequence->as.seq.count, next = 0;
    const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, total);
    for (int i = 0; i < total; i++) {
        if (i == from)
            items[next++] = stmt_block(ctx, outer, group->nodes[0]->stmt->span);
        if (i < from || i >= from + group->count)
            items[next++] = sequence->as.seq.items[i];
    }
    sched_replace(group->sch, sequence, stmt_seq(ctx, items, next));
    return outer.block;
}

bool primitive_blockize(Schedule *sch, const Value *args, Value *result)
{
    Block *outer = NULL;
    if (args[0].kind == VALUE_LOOP) {
        const TreeNode *loop = schedule_loop(sch, args[0].as.loop);
        outer = loop ? blockize_loop(sch, loop, args[1].as.boolean) : NULL;
    } else {
        BlockGroup group = {.sch = sch};
        if (gather_blocks(&group, args[0].as.list) && check_neighbours(&group) && divide_all(&group, args[1].as.boolean) &&
            unify_outer_axes(&group))
            outer = build_group(&group);
    }
    *result = outer ? value_block(outer) : value_none();
    return outer != NULL;
}
