/* What calls of code outside of the program may touch; see call_regions.h. */
#include "passes/analysis/model/call_regions.h"

#include "ir/walk.h"
#include "passes/regions/complete.h"

/* Looks in a call for pointers that may lead to MEMORY; UNDECLARED: the memory of others, of which the block declares nothing. */
typedef struct {
    Context *ctx;
    const BlockStmt *block;
    const Var *memory;
    MemoryOf memory_of;
    const void *data;
    bool found;
    VEC(const Var *) undeclared;
} PointerSearch;

/* A region that the block declares lies in MEMORY: then MEMORY is that of a buffer, and no pointer to something unknown. */
static bool is_declared_memory(const PointerSearch *search, const Var *memory)
{
    const BlockStmt *block = search->block;
    for (int i = 0; i < block->read_count + block->write_count; i++) {
        const Region *region = i < block->read_count ? &block->reads[i] : &block->writes[i - block->read_count];
        if (search->memory_of(search->data, region->buffer->data) == memory)
            return true;
    }
    return false;
}

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    PointerSearch *search = visitor->data;
    bool address = expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD;
    bool pointer = expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE;
    if (!address && !pointer)
        return true;
    const Var *memory = search->memory_of(search->data, address ? expr->args[0]->value.buffer->data : expr->value.var);
    bool declared = is_declared_memory(search, memory);
    search->found |= memory == search->memory || !declared;
    if (search->ctx && !declared)
        vec_push(search->ctx->arena, &search->undeclared, memory);
    return true;
}

bool call_may_reach(const BlockStmt *block, const Expr *call, const Var *target, MemoryOf memory_of, const void *data)
{
    PointerSearch search = {.block = block, .memory = memory_of(data, target), .memory_of = memory_of, .data = data};
    Visitor visitor = {.expr = find_pointer, .data = &search};
    visit_expr(&visitor, call);
    return search.found;
}

bool call_may_reach_target(const BlockStmt *block, const Expr *call, const Reduction *reduction, MemoryOf memory_of, const void *data)
{
    for (int i = 0; i < reduction->target_count; i++)
        if (call_may_reach(block, call, reduction->targets[i]->data, memory_of, data))
            return true;
    return false;
}

/* The buffers whose memory was found undeclared; false: some memory is no buffer's. */
static bool undeclared_buffers(const PointerSearch *search, const Func *func, BufferList *buffers)
{
    Map by_data = search->undeclared.count ? func_buffers_by_data(search->ctx, func) : (Map){0};
    for (int i = 0; i < search->undeclared.count; i++) {
        Buffer *buffer = map_get(&by_data, search->undeclared.data[i]);
        if (!buffer)
            return false;
        vec_push(search->ctx->arena, buffers, buffer);
    }
    return true;
}

bool call_keeps_regions(Context *ctx, const Func *func, const BlockStmt *block, const Expr *call, MemoryOf memory_of, const void *data, BufferList *beyond)
{
    if (!block)
        return false;
    bool declared = block_declares_regions(block);
    if (expr_is_foreign_call(call) ? !declared : !(block->iter_count + block->read_count + block->write_count))
        return false;
    if (!declared)
        return true;
    if (block->callees == CALLEES_UNKNOWN)
        return false;
    PointerSearch search = {.ctx = ctx, .block = block, .memory_of = memory_of, .data = data};
    Visitor visitor = {.expr = find_pointer, .data = &search};
    visit_expr(&visitor, call);
    return undeclared_buffers(&search, func, beyond);
}
