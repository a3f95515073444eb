/* Writers, readers and dependences of the blocks of a scope; see scope.h. */
#include "passes/schedule/core/scope.h"

#include "ir/walk.h"

const Region *regions_find(const Region *regions, int count, const Buffer *buffer)
{
    for (int i = 0; i < count; i++)
        if (regions[i].buffer == buffer)
            return &regions[i];
    return NULL;
}

bool regions_repeat(const Region *regions, int count, const Buffer *buffer)
{
    const Region *first = regions_find(regions, count, buffer);
    return first && regions_find(first + 1, count - 1 - (int)(first - regions), buffer);
}

const Region *regions_find_only(const Region *regions, int count, const Buffer *buffer)
{
    return regions_repeat(regions, count, buffer) ? NULL : regions_find(regions, count, buffer);
}

static bool block_writes(const TreeNode *node, const Buffer *buffer)
{
    return regions_find(node_block(node)->writes, node_block(node)->write_count, buffer) != NULL;
}

static bool block_reads(const TreeNode *node, const Buffer *buffer)
{
    return regions_find(node_block(node)->reads, node_block(node)->read_count, buffer) != NULL ||
           stmt_itself_uses_buffer(node->stmt, buffer);
}

typedef struct {
    Context *ctx;
    VEC(Region) regions;
} EntryReads;

static bool note_entry_read(Visitor *visitor, const Expr *expr)
{
    EntryReads *reads = visitor->data;
    if (expr->kind == EXPR_LOAD)
        vec_push(reads->ctx->arena, &reads->regions, region_point(reads->ctx, expr->value.buffer, expr->args));
    return true;
}

Region *regions_read_to_enter(Context *ctx, const TreeNode *node, int *count)
{
    EntryReads reads = {.ctx = ctx};
    Visitor visitor = {.expr = note_entry_read, .data = &reads};
    for (int moment = MOMENT_ENTRY; moment <= MOMENT_INSIDE; moment++)
        visit_stmt_exprs(&visitor, node->stmt, (Moment)moment);
    *count = reads.regions.count;
    return reads.regions.data;
}

typedef struct {
    Arena *arena;
    VEC(const TreeNode *) nodes;
} NodeSet;

static void node_set_add(NodeSet *set, const TreeNode *node)
{
    for (int i = 0; i < set->nodes.count; i++)
        if (set->nodes.data[i] == node)
            return;
    vec_push(set->arena, &set->nodes, node);
}

/* Adds those of the EARLIER_COUNT first MEMBERS that touch the buffer of one of REGIONS. */
static void add_earlier(NodeSet *set, const TreeNode *const *members, int earlier_count, const Region *regions, int count,
                        bool (*touches)(const TreeNode *, const Buffer *))
{
    for (int i = 0; i < count; i++)
        for (int m = 0; m < earlier_count; m++)
            if (touches(members[m], regions[i].buffer))
                node_set_add(set, members[m]);
}

const TreeNode **scope_producers(Schedule *sch, const TreeNode *block, int kinds, int *count)
{
    NodeSet set = {.arena = sch->ctx->arena};
    int member_count;
    const TreeNode **members = schedule_child_blocks(sch, schedule_scope(sch, block), &member_count);
    int earlier = 0;
    while (earlier < member_count && members[earlier] != block)
        earlier++;
    const BlockStmt *stmt = node_block(block);
    int entry_count;
    const Region *entry = regions_read_to_enter(sch->ctx, block, &entry_count);
    if (kinds & DEPENDS_RAW) {
        add_earlier(&set, members, earlier, stmt->reads, stmt->read_count, block_writes);
        add_earlier(&set, members, earlier, entry, entry_count, block_writes);
    }
    if (kinds & DEPENDS_WAW)
        add_earlier(&set, members, earlier, stmt->writes, stmt->write_count, block_writes);
    if (kinds & DEPENDS_WAR)
        add_earlier(&set, members, earlier, stmt->writes, stmt->write_count, block_reads);
    *count = set.nodes.count;
    return set.nodes.data;
}

/* True when LATER depends on EARLIER for one of KINDS. */
static bool depends(const TreeNode *later, const TreeNode *earlier, int kinds)
{
    const BlockStmt *stmt = node_block(later), *source = node_block(earlier);
    for (int i = 0; (kinds & DEPENDS_RAW) && i < source->write_count; i++)
        if (block_reads(later, source->writes[i].buffer))
            return true;
    for (int i = 0; i < stmt->write_count; i++)
        if (((kinds & DEPENDS_WAW) && block_writes(earlier, stmt->writes[i].buffer)) ||
            ((kinds & DEPENDS_WAR) && block_reads(earlier, stmt->writes[i].buffer)))
            return true;
    return false;
}

const TreeNode **scope_consumers(Schedule *sch, const TreeNode *block, int kinds, int *count)
{
    int member_count, found = 0;
    const TreeNode **members = schedule_child_blocks(sch, schedule_scope(sch, block), &member_count);
    bool after = false;
    for (int m = 0; m < member_count; m++) {
        if (after && depends(members[m], block, kinds))
            members[found++] = members[m];
        after |= members[m] == block;
    }
    *count = found;
    return members;
}

static const TreeNode **members_that(Schedule *sch, const TreeNode *scope, const Buffer *buffer,
                                     bool (*touches)(const TreeNode *, const Buffer *), int *count)
{
    int member_count, found = 0;
    const TreeNode **members = schedule_child_blocks(sch, scope, &member_count);
    for (int m = 0; m < member_count; m++)
        if (touches(members[m], buffer))
            members[found++] = members[m];
    *count = found;
    return members;
}

const TreeNode **scope_writers(Schedule *sch, const TreeNode *scope, const Buffer *buffer, int *count)
{
    return members_that(sch, scope, buffer, block_writes, count);
}

const TreeNode **scope_readers(Schedule *sch, const TreeNode *scope, const Buffer *buffer, int *count)
{
    return members_that(sch, scope, buffer, block_reads, count);
}
