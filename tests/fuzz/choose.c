/* Choosing blocks and loops; see steps.h. */
#include "ir/walk.h"
#include "steps.h"

const char *step_text(Chooser *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *result = arena_vprintf(c->ctx->arena, format, args);
    va_end(args);
    return result;
}

static const char *name_of(const TreeNode *block)
{
    return node_block(block)->block->name;
}

static int index_among(const TreeNode *const *nodes, int count, const TreeNode *node)
{
    for (int i = 0; i < count; i++)
        if (nodes[i] == node)
            return i;
    return 0;
}

static bool name_is_unique(Chooser *c, const TreeNode *block)
{
    int same = 0;
    for (int i = 0; i < c->block_count; i++)
        same += !strcmp(name_of(c->blocks[i]), name_of(block));
    return same == 1 && strcmp(name_of(block), "root");
}

const char *block_text(Chooser *c, const TreeNode *block)
{
    if (name_is_unique(c, block) && name_of(block)[0])
        return step_text(c, "\"%s\"", name_of(block));
    const TreeNode *scope = schedule_scope(c->sch, block);
    if (!scope)
        return "sch.get_block(\"root\")";
    int count;
    const TreeNode **children = schedule_child_blocks(c->sch, scope, &count);
    return step_text(c, "sch.get_child_blocks(%s)[%d]", schedule_scope(c->sch, scope) ? block_text(c, scope) : "sch.get_block(\"root\")",
                     index_among(children, count, block));
}

const char *loop_text(Chooser *c, const TreeNode *loop)
{
    for (int i = 0; loop && i < c->block_count; i++) {
        int count;
        const TreeNode **loops = schedule_loops_around(c->sch, c->blocks[i], &count);
        for (int k = 0; k < count; k++)
            if (loops[k] == loop)
                return step_text(c, "sch.get_loops(%s)[%d]", block_text(c, c->blocks[i]), random_chance(c->random, 20) ? k - count : k);
    }
    return step_text(c, "sch.get_loops(%s)[0]", block_text(c, any_block(c)));
}

const TreeNode *any_block(Chooser *c)
{
    return c->blocks[random_below(c->random, c->block_count)];
}

const TreeNode *block_where(Chooser *c, bool (*predicate)(Chooser *c, const TreeNode *block))
{
    int first = random_below(c->random, c->block_count);
    if (random_chance(c->random, 8))
        return c->blocks[first];
    for (int i = 0; i < c->block_count; i++)
        if (predicate(c, c->blocks[(first + i) % c->block_count]))
            return c->blocks[(first + i) % c->block_count];
    return random_chance(c->random, 20) ? c->blocks[first] : NULL;
}

const TreeNode *loop_around(Chooser *c, const TreeNode *block)
{
    int count;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    return count ? loops[random_below(c->random, count)] : NULL;
}

const TreeNode *loop_around_only(Chooser *c, const TreeNode *block, const TreeNode *other)
{
    int count, first;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    first = count ? random_below(c->random, count) : 0;
    for (int i = 0; i < count; i++)
        if (!schedule_is_under(c->sch, other, loops[(first + i) % count]))
            return loops[(first + i) % count];
    return count ? loops[first] : NULL;
}

const TreeNode *any_loop(Chooser *c)
{
    for (int attempt = 0; attempt < 4; attempt++) {
        const TreeNode *loop = loop_around(c, any_block(c));
        if (loop)
            return loop;
    }
    return NULL;
}

static bool is_param(Chooser *c, const Buffer *buffer)
{
    const Func *func = schedule_func(c->sch);
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer)
            return true;
    return false;
}

bool block_fills_scratch(Chooser *c, const TreeNode *block)
{
    return node_block(block)->write_count && !is_param(c, node_block(block)->writes[0].buffer);
}

bool block_updates_in_place(Chooser *c, const TreeNode *block)
{
    (void)c;
    for (int i = 0; i < node_block(block)->write_count; i++)
        if (block_reads(block, node_block(block)->writes[i].buffer))
            return true;
    return false;
}

bool block_pads(Chooser *c, const TreeNode *block)
{
    (void)c;
    const Stmt *body = node_block(block)->body;
    return body->kind == STMT_STORE && expr_is_call(body->as.store.value, OP_IF_THEN_ELSE) && body->as.store.value->args[1]->kind == EXPR_LOAD;
}

bool block_has_init(Chooser *c, const TreeNode *block)
{
    (void)c;
    return node_block(block)->init != NULL;
}

bool block_reads(const TreeNode *block, const Buffer *buffer)
{
    for (int i = 0; i < node_block(block)->read_count; i++)
        if (node_block(block)->reads[i].buffer == buffer)
            return true;
    return false;
}

static bool all_spatial(const BlockStmt *stmt)
{
    for (int i = 0; i < stmt->iter_count; i++)
        if (stmt->iters[i].kind != ITER_SPATIAL)
            return false;
    return true;
}

static bool is_simple(const TreeNode *block)
{
    const BlockStmt *stmt = node_block(block);
    return !stmt->init && stmt->write_count == 1 && stmt->body->kind == STMT_STORE && !block_reads(block, stmt->writes[0].buffer) &&
           all_spatial(stmt);
}

static int writer_count(Chooser *c, const Buffer *buffer)
{
    int count = 0;
    for (int i = 0; i < c->block_count; i++)
        count += node_block(c->blocks[i])->write_count && node_block(c->blocks[i])->writes[0].buffer == buffer;
    return count;
}

bool block_is_inlinable(Chooser *c, const TreeNode *block)
{
    if (!is_simple(block) || is_param(c, node_block(block)->writes[0].buffer))
        return false;
    return writer_count(c, node_block(block)->writes[0].buffer) == 1;
}

bool block_is_epilogue(Chooser *c, const TreeNode *block)
{
    if (!is_simple(block))
        return false;
    for (int i = 0; i < node_block(block)->read_count; i++)
        if (!is_param(c, node_block(block)->reads[i].buffer) && writer_count(c, node_block(block)->reads[i].buffer) == 1)
            return true;
    return false;
}

/* The extent of the innermost loop around BLOCK is a multiple of FACTOR. */
static bool tiles_by(Chooser *c, const TreeNode *block, int factor)
{
    int count;
    int64_t extent;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    return count && expr_const_int(node_loop(loops[count - 1])->extent, &extent) && extent > 0 && extent % factor == 0;
}

bool block_is_tileable_copy(Chooser *c, const TreeNode *block)
{
    return is_simple(block) && node_block(block)->body->as.store.value->kind == EXPR_LOAD && tiles_by(c, block, 4);
}

bool block_is_tileable_sum(Chooser *c, const TreeNode *block)
{
    int count;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    return node_block(block)->init && tiles_by(c, block, 2) && loop_reduces(loops[count - 1], block);
}

bool block_reads_rows_of_four(Chooser *c, const TreeNode *block)
{
    (void)c;
    const BlockStmt *stmt = node_block(block);
    const Buffer *buffer = stmt->read_count ? stmt->reads[0].buffer : NULL;
    int64_t extent;
    return buffer && buffer->ndim && expr_const_int(buffer->shape[buffer->ndim - 1], &extent) && extent > 0 && extent % 4 == 0;
}

bool loop_reduces(const TreeNode *loop, const TreeNode *block)
{
    const BlockStmt *stmt = node_block(block);
    for (int i = 0; i < stmt->iter_count; i++)
        if (stmt->iters[i].kind == ITER_REDUCE && expr_uses_var(stmt->bindings[i], node_loop(loop)->var))
            return true;
    return false;
}
