/* The index of a function's tree: every statement in pre-order with its parent, and where each loop and block is. It is rebuilt when a
   question is asked of a function that was edited since, in the storage of the one before. */
#include <string.h>

#include "passes/schedule/core/schedule.h"
#include "support/bug.h"

static void map_clear(Map *map)
{
    map->count = 0;
    if (map->slots)
        memset(map->slots, 0, sizeof *map->slots * (size_t)map->slot_count);
}

static void index_stmt(Schedule *sch, const Stmt *stmt, int parent, bool in_init);

static void index_children(Schedule *sch, const Stmt *stmt, int self, bool in_init)
{
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++)
            index_stmt(sch, stmt->as.seq.items[i], self, in_init);
        break;
    case STMT_IF:
        index_stmt(sch, stmt->as.branch.then_body, self, in_init);
        if (stmt->as.branch.else_body)
            index_stmt(sch, stmt->as.branch.else_body, self, in_init);
        break;
    case STMT_BLOCK:
        if (stmt->as.block.init)
            index_stmt(sch, stmt->as.block.init, self, true);
        index_stmt(sch, stmt->as.block.body, self, false);
        break;
    default: {
        const Stmt *body = stmt_body(stmt);
        if (body)
            index_stmt(sch, body, self, in_init);
    }
    }
}

static void index_stmt(Schedule *sch, const Stmt *stmt, int parent, bool in_init)
{
    int self = sch->nodes.count;
    TreeNode node = {.stmt = stmt, .parent = parent, .in_init = in_init};
    vec_push(sch->ctx->arena, &sch->nodes, node);
    /* maps hold index + 1, so that node 0 differs from "absent" */
    if (stmt->kind == STMT_FOR)
        map_set(sch->ctx->arena, &sch->node_of_loop, stmt->as.loop.var, (void *)(intptr_t)(self + 1));
    if (stmt->kind == STMT_BLOCK)
        map_set(sch->ctx->arena, &sch->node_of_block, stmt->as.block.block, (void *)(intptr_t)(self + 1));
    index_children(sch, stmt, self, in_init);
    sch->nodes.data[self].end = sch->nodes.count;
}

static void index_current(Schedule *sch)
{
    const Func *func = sch->func_index < 0 ? NULL : schedule_func(sch);
    if (sch->indexed == func)
        return;
    sch->nodes.count = 0;
    map_clear(&sch->node_of_loop);
    map_clear(&sch->node_of_block);
    if (func)
        index_stmt(sch, func->body, -1, false);
    sch->indexed = func;
}

static const TreeNode *find_node(Schedule *sch, const Map *map, const void *symbol)
{
    intptr_t found = (intptr_t)map_get(map, symbol);
    return found ? &sch->nodes.data[found - 1] : NULL;
}

const TreeNode *schedule_find_loop(Schedule *sch, const Var *loop)
{
    index_current(sch);
    return find_node(sch, &sch->node_of_loop, loop);
}

const TreeNode *schedule_find_block(Schedule *sch, const Block *block)
{
    index_current(sch);
    return find_node(sch, &sch->node_of_block, schedule_current_block(sch, block));
}

const TreeNode *schedule_find_stmt(Schedule *sch, const Stmt *stmt)
{
    if (stmt->kind == STMT_FOR)
        return schedule_find_loop(sch, stmt->as.loop.var);
    if (stmt->kind == STMT_BLOCK)
        return schedule_find_block(sch, stmt->as.block.block);
    index_current(sch);
    for (int i = 0; i < sch->nodes.count; i++)
        if (sch->nodes.data[i].stmt == stmt)
            return &sch->nodes.data[i];
    return NULL;
}

const TreeNode *schedule_parent(Schedule *sch, const TreeNode *node)
{
    return node->parent < 0 ? NULL : &sch->nodes.data[node->parent];
}

int schedule_node_index(Schedule *sch, const TreeNode *node)
{
    return (int)(node - sch->nodes.data);
}

const TreeNode *schedule_node_at(Schedule *sch, int index)
{
    index_current(sch);
    CHECK(index >= 0 && index < sch->nodes.count);
    return &sch->nodes.data[index];
}

int schedule_node_count(Schedule *sch)
{
    index_current(sch);
    return sch->nodes.count;
}

bool schedule_is_under(Schedule *sch, const TreeNode *node, const TreeNode *ancestor)
{
    int index = schedule_node_index(sch, node);
    return index >= schedule_node_index(sch, ancestor) && index < ancestor->end;
}

const TreeNode *schedule_scope(Schedule *sch, const TreeNode *node)
{
    do
        node = schedule_parent(sch, node);
    while (node && node->stmt->kind != STMT_BLOCK);
    return node;
}

const TreeNode **schedule_loops_around(Schedule *sch, const TreeNode *node, int *count)
{
    int total = 0;
    const TreeNode *scope = schedule_scope(sch, node);
    for (const TreeNode *up = schedule_parent(sch, node); up != scope; up = schedule_parent(sch, up))
        total += up->stmt->kind == STMT_FOR;
    const TreeNode **loops = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, total);
    *count = total;
    for (const TreeNode *up = schedule_parent(sch, node); up != scope; up = schedule_parent(sch, up))
        if (up->stmt->kind == STMT_FOR)
            loops[--total] = up;
    return loops;
}

const TreeNode **schedule_child_blocks(Schedule *sch, const TreeNode *scope, int *count)
{
    VEC(const TreeNode *) blocks = {0};
    int index = schedule_node_index(sch, scope) + 1;
    if (scope->stmt->kind == STMT_BLOCK && scope->stmt->as.block.init)
        index = sch->nodes.data[index].end;
    while (index < scope->end) {
        const TreeNode *node = &sch->nodes.data[index];
        if (node->stmt->kind != STMT_BLOCK) {
            index++;
            continue;
        }
        vec_push(sch->ctx->arena, &blocks, node);
        index = node->end;
    }
    *count = blocks.count;
    return blocks.data;
}
