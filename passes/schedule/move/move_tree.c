/* Where a moved block goes, and moving it; see move.h. */
#include "ir/walk.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/move/move.h"
#include "support/bug.h"

int body_items(const Stmt *body, const Stmt *const **items)
{
    static const Stmt *const none = NULL;
    if (body->kind == STMT_SEQ) {
        *items = body->as.seq.count ? body->as.seq.items : &none;
        return body->as.seq.count;
    }
    *items = NULL;
    return 1;
}

int move_child_of(Schedule *sch, const TreeNode *loop, const TreeNode *node)
{
    const Stmt *body = node_loop(loop)->body;
    for (const TreeNode *child = node; child && child != loop; child = schedule_parent(sch, child)) {
        const TreeNode *parent = schedule_parent(sch, child);
        if (body->kind != STMT_SEQ && parent == loop)
            return 0;
        if (body->kind == STMT_SEQ && parent && parent->stmt == body && schedule_parent(sch, parent) == loop) {
            int position = 0;
            while (body->as.seq.items[position] != child->stmt)
                position++;
            return position;
        }
    }
    return -1;
}

/* The statements between which the block must go: after the last producer, before the first consumer. */
static void position_limits(Move *move, int *after, int *before)
{
    Schedule *sch = move->sch;
    int count;
    const TreeNode **producers = scope_producers(sch, move->block, DEPENDS_RAW | DEPENDS_WAW | DEPENDS_WAR, &count);
    for (int i = 0; i < count; i++) {
        int child = move_child_of(sch, move->loop, producers[i]);
        *after = child > *after ? child : *after;
    }
    const TreeNode **consumers = scope_consumers(sch, move->block, DEPENDS_RAW | DEPENDS_WAW | DEPENDS_WAR, &count);
    for (int i = 0; i < count; i++) {
        int child = move_child_of(sch, move->loop, consumers[i]);
        *before = child >= 0 && child < *before ? child : *before;
    }
}

bool move_find_position(Move *move)
{
    const Stmt *const *items;
    int after = -1, before = body_items(node_loop(move->loop)->body, &items);
    const char *name = node_name(move->block), *loop = node_name(move->loop);
    position_limits(move, &after, &before);
    CHECK(after < before); /* all of the loop stands before the block, or behind it: it holds no producers or no consumers */
    if (move->index == -1)
        move->position = before;
    else if (move->index == -2)
        move->position = after + 1;
    else if (move->index > after && move->index <= before)
        move->position = (int)move->index;
    else
        return sched_refuse_argument(
            move->sch, move->index_argument,
            "index %lld is no place for block '%s' below loop '%s': it must be %s, -1 (the last) or -2 (the first)",
            (long long)move->index, name, loop,
            after + 1 < before ? arena_printf(move->sch->ctx->arena, "%d to %d", after + 1, before)
                               : arena_printf(move->sch->ctx->arena, "%d", before));
    return true;
}

typedef struct {
    Move *move;
    const Stmt *scope, *removed, *loop, *nest;
} Rebuild;

static const Stmt *insert_nest(Rewriter *rewriter, const Stmt *stmt)
{
    Rebuild *rebuild = rewriter->data;
    const Stmt *body = stmt->as.loop.body, *const *items;
    int count = body_items(body, &items), next = 0;
    const Stmt **list = ARENA_ARRAY(rewriter->ctx->arena, const Stmt *, count + 1);
    for (int i = 0; i <= count; i++) {
        if (i == rebuild->move->position)
            list[next++] = rebuild->nest;
        if (i < count)
            list[next++] = items ? items[i] : body;
    }
    return stmt_with_body(rewriter->ctx, stmt, stmt_seq(rewriter->ctx, list, next));
}

static const Stmt *rebuild_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Rebuild *rebuild = rewriter->data;
    if (stmt == rebuild->removed)
        return stmt_empty(rewriter->ctx);
    if (stmt == rebuild->loop)
        return insert_nest(rewriter, stmt);
    if (stmt->kind == STMT_BLOCK && stmt != rebuild->scope)
        return stmt;
    return rewrite_stmt_children(rewriter, stmt);
}

static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

const Stmt *move_rebuild_scope(Move *move, const TreeNode *scope, const Stmt *nest)
{
    Schedule *sch = move->sch;
    const TreeNode *removed = move->block;
    for (const TreeNode *parent = schedule_parent(sch, removed); parent->stmt->kind == STMT_FOR || parent->stmt->kind == STMT_LET;
         parent = schedule_parent(sch, parent))
        removed = parent;
    CHECK(schedule_parent(sch, removed) != scope); /* the scope holds the target loop besides */
    Rebuild rebuild = {move, scope->stmt, removed->stmt, move->loop->stmt, nest};
    Rewriter rewriter = {.ctx = sch->ctx, .expr = keep_expr, .stmt = rebuild_stmt, .data = &rebuild};
    return rewrite_stmt(&rewriter, scope->stmt);
}
