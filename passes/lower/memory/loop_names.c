/* See loop_names.h. */
#include "passes/lower/memory/loop_names.h"

typedef struct {
    Arena *arena;
    Map *set;
} Collector;

static void add(Collector *collector, const void *name)
{
    map_set(collector->arena, collector->set, name, collector->set);
}

static bool collect_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        add(visitor->data, expr->value.buffer);
    if (expr->kind == EXPR_VAR)
        add(visitor->data, expr->value.var);
    return true;
}

static void collect_regions(Collector *collector, const Region *regions, int count)
{
    for (int i = 0; i < count; i++)
        add(collector, regions[i].buffer);
}

static bool collect_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    Collector *collector = visitor->data;
    const BlockStmt *block = &stmt->as.block;
    if (stmt->kind == STMT_STORE)
        add(collector, stmt->as.store.buffer);
    if (stmt->kind == STMT_DECL_BUFFER)
        add(collector, stmt->as.declare.buffer->data);
    if (stmt->kind != STMT_BLOCK)
        return true;
    collect_regions(collector, block->reads, block->read_count);
    collect_regions(collector, block->writes, block->write_count);
    for (int i = 0; i < block->match_count; i++)
        add(collector, block->matches[i].source.buffer);
    return true;
}

bool loop_names_buffer(LoopNames *names, const Stmt *loop, const Buffer *buffer)
{
    Map *set = map_get(&names->sets, loop);
    if (!set) {
        set = ARENA_NEW(names->arena, Map);
        Collector collector = {names->arena, set};
        Visitor visitor = {.expr = collect_in_expr, .stmt = collect_in_stmt, .data = &collector};
        visit_stmt(&visitor, loop);
        map_set(names->arena, &names->sets, loop, set);
    }
    return map_has(set, buffer) || map_has(set, buffer->data);
}
