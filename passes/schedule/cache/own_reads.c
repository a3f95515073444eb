/* A block with an init whose results go to a new buffer: what it reads of them must be what its init has set. */
#include "passes/schedule/cache/cache.h"

#include "ir/walk.h"

/* What a block with an init reads of its own output, which it does not declare: each element must be one that the init sets, or a store
   before. */
typedef struct {
    const Buffer *buffer;
    VEC(const Stmt *) stores; /* so far */
    Context *ctx;
    bool nested, unset; /* nested: loops or blocks of its own, over which it may set more than shows */
} OwnReads;

static bool is_set(const OwnReads *reads, const Expr *load)
{
    for (int i = 0; i < reads->stores.count; i++) {
        const Stmt *store = reads->stores.data[i];
        bool same = store->as.store.index_count == load_index_count(load);
        for (int d = 0; same && d < load_index_count(load); d++)
            same = expr_equal(store->as.store.indices[d], load->args[d]);
        if (same)
            return true;
    }
    return false;
}

static bool visit_own_load(Visitor *visitor, const Expr *expr)
{
    OwnReads *reads = visitor->data;
    reads->unset |= expr->kind == EXPR_LOAD && expr->value.buffer == reads->buffer && !is_set(reads, expr);
    return true;
}

static bool enter_own_stmt(Visitor *visitor, const Stmt *stmt)
{
    ((OwnReads *)visitor->data)->nested |= stmt->kind == STMT_FOR || stmt->kind == STMT_BLOCK || stmt->kind == STMT_WHILE;
    return true;
}

static void leave_own_stmt(Visitor *visitor, const Stmt *stmt)
{
    OwnReads *reads = visitor->data;
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer == reads->buffer)
        vec_push(reads->ctx->arena, &reads->stores, stmt);
}

static bool init_sets_what_is_read(Context *ctx, const BlockStmt *block, const Buffer *buffer)
{
    OwnReads reads = {.buffer = buffer, .ctx = ctx};
    Visitor visitor = {.expr = visit_own_load, .stmt = enter_own_stmt, .leave_stmt = leave_own_stmt, .data = &reads};
    visit_stmt(&visitor, block->init);
    visit_stmt(&visitor, block->body);
    return reads.nested || !reads.unset;
}

bool check_inits_set_reads(Schedule *sch, const TreeNode *node, const Buffer *buffer)
{
    for (int i = schedule_node_index(sch, node); i < node->end; i++) {
        const TreeNode *inner = schedule_node_at(sch, i);
        if (inner->stmt->kind != STMT_BLOCK || !node_block(inner)->init || init_sets_what_is_read(sch->ctx, node_block(inner), buffer))
            continue;
        sched_refuse(sch, "block '%s' reads elements of '%s' that its init does not set: in the new buffer it would find nothing there",
                     node_name(inner), buffer->name);
        return sched_note_node(sch, inner);
    }
    return true;
}
