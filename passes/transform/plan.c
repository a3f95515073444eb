/* Pass "plan_and_update_buffer_allocation_location": each buffer is allocated where all its uses are.

     with T.block("root"):                              with T.block("root"):
         B = T.alloc_buffer((128, 16))                      for i in range(128):
         for i in range(128):                                   with T.block(""):
             for j in range(16):                                    T.reads(A[i, 0:16])
                 with T.block("B"):                 ->              T.writes(C[i, 0:16])
                     ... B[vi, vj] = A[vi, vj]                      B = T.alloc_buffer((128, 16))
             for j in range(16):                                    for j in range(16):
                 with T.block("C"):                                     with T.block("B"):
                     ... C[vi, vj] = B[vi, vj]                              ...

   The loop is the one that the pass "place" chooses on the way to LLVM: the innermost that holds all uses and across whose iterations the
   buffer carries no data. Inside of it, the innermost block that holds all uses allocates the buffer. */
#include "passes/regions/infer_regions.h"
#include "passes/lower/memory/place.h"
#include "passes/transform/internal.h"

typedef struct {
    Context *ctx;
    Map loops;   /* the loop variables of the function */
    Map sites;   /* Buffer -> Var of the loop that shall allocate it; those of blocks that stay where they are have none */
    Map memory;  /* data Var -> Buffer, of all buffers that may be seen */
    Map hidden;  /* Buffer -> itself, outside of its new place: regions there that name it are of blocks that do not use it */
    VEC(const Stmt *) around;
} Plan;

/* --- which loop --- */

static bool note_loop(Visitor *visitor, const Stmt *stmt)
{
    Plan *plan = visitor->data;
    if (stmt->kind == STMT_FOR)
        map_set(plan->ctx->arena, &plan->loops, stmt->as.loop.var, stmt->as.loop.var);
    if (stmt->kind == STMT_DECL_BUFFER && !map_has(&plan->memory, stmt->as.declare.buffer->data)) /* further in than what brings the memory */
        map_set(plan->ctx->arena, &plan->memory, stmt->as.declare.buffer->data, stmt->as.declare.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        map_set(plan->ctx->arena, &plan->memory, stmt->as.block.allocs[i]->data, stmt->as.block.allocs[i]);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        map_set(plan->ctx->arena, &plan->memory, stmt->as.block.matches[i].target->data, stmt->as.block.matches[i].target);
    return true;
}

static bool enter_placed(Visitor *visitor, const Stmt *stmt)
{
    Plan *plan = visitor->data;
    if (stmt->kind == STMT_ALLOCATE && stmt->as.allocate.body->kind == STMT_DECL_BUFFER) {
        int i = plan->around.count - 1;
        while (i >= 0 && !map_has(&plan->loops, plan->around.data[i]->as.loop.var))
            i--;
        Buffer *buffer = stmt->as.allocate.body->as.declare.buffer;
        if (i >= 0 && map_has(&plan->memory, buffer->data))
            map_set(plan->ctx->arena, &plan->sites, buffer, plan->around.data[i]->as.loop.var);
    }
    if (stmt->kind == STMT_FOR)
        vec_push(plan->ctx->arena, &plan->around, stmt);
    return true;
}

static void leave_placed(Visitor *visitor, const Stmt *stmt)
{
    Plan *plan = visitor->data;
    if (stmt->kind == STMT_FOR)
        plan->around.count--;
}

/* False after diagnostics. */
static bool choose_sites(Plan *plan, LowerState *state, const Func *func)
{
    Visitor loops = {.stmt = note_loop, .data = plan};
    visit_stmt(&loops, func->body);
    LowerOptions options = {0};
    LowerState bound = {state->ctx, state->module, &options};
    int errors = diag_error_count(state->ctx);
    func = lower_init(&bound, func);
    if (diag_error_count(state->ctx) > errors)
        return false;
    func = lower_place(&bound, lower_bindings(&bound, func));
    Visitor placed = {.stmt = enter_placed, .leave_stmt = leave_placed, .data = plan};
    visit_stmt(&placed, func->body);
    return diag_error_count(state->ctx) == errors;
}

/* --- the new places --- */

static bool binds_with(const Stmt *block, const Buffer *buffer)
{
    bool found = expr_uses_buffer(block->as.block.predicate, buffer);
    for (int i = 0; i < block->as.block.iter_count; i++)
        found |= expr_uses_buffer(block->as.block.bindings[i], buffer) ||
                 expr_uses_buffer(block->as.block.iters[i].domain.min, buffer) ||
                 expr_uses_buffer(block->as.block.iters[i].domain.extent, buffer);
    return found;
}

/* The innermost block in STMT, not inside of a loop there, that holds all uses of BUFFER; NULL where there is none. */
static const Block *block_of_uses(Context *ctx, const Stmt *stmt, const Buffer *buffer)
{
    const Block *result = NULL;
    for (; stmt && stmt->kind != STMT_FOR; stmt = stmt_only_user(ctx, stmt, buffer)) {
        if (stmt->kind != STMT_BLOCK)
            continue;
        if (binds_with(stmt, buffer))
            return result;
        result = stmt->as.block.block;
    }
    return result;
}

typedef struct {
    Buffer **data;
    int count;
} BufferArray;

/* The hidden buffers whose place is in SITE, a block or the loop over a variable. */
static BufferArray buffers_of(Plan *plan, const void *site)
{
    BufferArray result = {ARENA_ARRAY(plan->ctx->arena, Buffer *, plan->sites.count), 0};
    for (int i = 0; i < plan->sites.count; i++) {
        Buffer *buffer = (Buffer *)plan->sites.entries[i].key;
        if (plan->sites.entries[i].value == site && map_get(&plan->hidden, buffer))
            result.data[result.count++] = buffer;
    }
    return result;
}

static void set_hidden(Plan *plan, BufferArray buffers, bool hidden)
{
    for (int i = 0; i < buffers.count; i++)
        map_set(plan->ctx->arena, &plan->hidden, buffers.data[i], hidden ? buffers.data[i] : NULL);
}

static const Stmt *allocate_in_block(Context *ctx, const Stmt *stmt, Buffer *buffer)
{
    BlockStmt block = stmt->as.block;
    Buffer **allocs = ARENA_ARRAY(ctx->arena, Buffer *, block.alloc_count + 1);
    for (int i = 0; i < block.alloc_count; i++)
        allocs[i] = block.allocs[i];
    allocs[block.alloc_count++] = buffer;
    block.allocs = allocs;
    return stmt_block(ctx, block, stmt->span);
}

const Stmt *block_without_axes(Context *ctx, const Stmt *body, Buffer **buffers, int count, const Map *memory)
{
    BlockStmt block = {.block = block_new(ctx, context_intern(ctx, ""), body->span), .predicate = expr_bool(ctx, true), .body = body};
    block.allocs = buffers;
    block.alloc_count = count;
    BlockRegions regions = infer_block_regions(ctx, &block, memory);
    block.reads = regions.reads;
    block.read_count = regions.read_count;
    block.writes = regions.writes;
    block.write_count = regions.write_count;
    return stmt_block(ctx, block, body->span);
}

static Region *visible_regions(Plan *plan, const Region *regions, int *count)
{
    Region *result = ARENA_ARRAY(plan->ctx->arena, Region, *count);
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (!map_get(&plan->hidden, regions[i].buffer))
            result[kept++] = regions[i];
    *count = kept;
    return result;
}

static Attrs visible_annotations(Plan *plan, Attrs attrs)
{
    for (int i = 0; i < plan->hidden.count; i++)
        for (int k = attrs.count - 1; map_get(&plan->hidden, plan->hidden.entries[i].key) && k >= 0; k--)
            if (attrs_name_buffer((Attrs){&attrs.entries[k], 1}, plan->hidden.entries[i].key))
                attrs = attrs_remove(plan->ctx, attrs, attrs.entries[k].key);
    return attrs;
}

/* The loop that BUFFER, which BLOCK allocates, goes into holds all its uses. What all see does not go into the blocks of a kernel. */
static bool moves_into_loop(Plan *plan, const Stmt *block, const Buffer *buffer)
{
    const Var *loop = map_get(&plan->sites, buffer);
    bool global = scope_class(buffer->scope) == SCOPE_GLOBAL;
    for (const Stmt *stmt = block; loop && stmt; stmt = stmt_only_user(plan->ctx, stmt, buffer)) {
        if (stmt->kind != STMT_FOR)
            continue;
        if (global && stmt->as.loop.kind == FOR_THREAD)
            return false;
        if (stmt->as.loop.var == loop)
            return true;
    }
    return false;
}

/* The buffers that BLOCK allocates: those that move are hidden until their place, unused ones go. */
static void hide_moving(Plan *plan, BlockStmt *block, const Stmt *stmt)
{
    Context *ctx = plan->ctx;
    Buffer **kept = ARENA_ARRAY(ctx->arena, Buffer *, block->alloc_count);
    int count = 0;
    for (int i = 0; i < block->alloc_count; i++) {
        Buffer *buffer = block->allocs[i];
        bool used = stmt_uses_buffer(stmt, buffer);
        bool into_loop = used && moves_into_loop(plan, stmt, buffer);
        const Block *inner = used && !into_loop ? block_of_uses(ctx, stmt, buffer) : NULL;
        bool moves = into_loop || (inner && inner != block->block);
        if (inner && inner != block->block)
            map_set(ctx->arena, &plan->sites, buffer, (void *)inner);
        if (moves || !used)
            map_set(ctx->arena, &plan->hidden, buffer, buffer);
        else
            kept[count++] = buffer;
    }
    block->allocs = kept;
    block->alloc_count = count;
}

static const Stmt *plan_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *plan_block(Rewriter *rewriter, const Stmt *stmt)
{
    Plan *plan = rewriter->data;
    BlockStmt block = stmt->as.block;
    hide_moving(plan, &block, stmt);
    block.reads = visible_regions(plan, block.reads, &block.read_count);
    block.writes = visible_regions(plan, block.writes, &block.write_count);
    block.annotations = visible_annotations(plan, block.annotations);
    const Stmt *result = stmt_block(plan->ctx, block, stmt->span);
    BufferArray here = buffers_of(plan, block.block);
    for (int i = 0; i < here.count; i++)
        result = allocate_in_block(plan->ctx, result, here.data[i]);
    set_hidden(plan, here, false);
    result = rewrite_stmt_children(rewriter, result);
    set_hidden(plan, here, true);
    return result;
}

static const Stmt *plan_loop(Rewriter *rewriter, const Stmt *stmt)
{
    Plan *plan = rewriter->data;
    Context *ctx = plan->ctx;
    ForStmt loop = stmt->as.loop;
    loop.annotations = visible_annotations(plan, loop.annotations);
    BufferArray here = buffers_of(plan, loop.var), own = {ARENA_ARRAY(ctx->arena, Buffer *, here.count), 0};
    for (int i = 0; i < here.count; i++) {
        const Block *block = block_of_uses(ctx, loop.body, here.data[i]);
        if (block) {
            map_set(ctx->arena, &plan->sites, here.data[i], (void *)block);
            continue;
        }
        own.data[own.count++] = here.data[i];
    }
    set_hidden(plan, own, false);
    loop.body = plan_stmt(rewriter, loop.body);
    set_hidden(plan, own, true);
    if (own.count)
        loop.body = block_without_axes(plan->ctx, loop.body, own.data, own.count, &plan->memory);
    return stmt_for(ctx, loop, stmt->span);
}

static const Stmt *plan_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    return stmt->kind == STMT_BLOCK ? plan_block(rewriter, stmt)
           : stmt->kind == STMT_FOR ? plan_loop(rewriter, stmt)
                                    : rewrite_stmt_children(rewriter, stmt);
}

const Func *transform_plan(LowerState *state, const Func *func)
{
    Plan plan = {.ctx = state->ctx};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            map_set(state->ctx->arena, &plan.memory, func->params[i].buffer->data, func->params[i].buffer);
    if (!choose_sites(&plan, state, func))
        return func;
    Rewriter rewriter = {.ctx = state->ctx, .stmt = plan_stmt, .data = &plan};
    return func_with_body(state->ctx, func, plan_stmt(&rewriter, func->body));
}
