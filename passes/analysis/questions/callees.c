/* Calls of functions of the program against the regions that the blocks around them declare; see callees.h. Steps rely on what is declared, so
   the callee must keep to it:

     - what it writes lies in what the block declares to write;
     - what it reads, other than its own, lies in what the block declares to read;
     - where its writes count as certain, it writes all of what is declared that it can reach.

   The callee's body is put beside stores to all that is declared, over the same buffers, and each side must be covered by the other one. What is not
   shown is unknown: such a call may touch anything. */
#include "passes/analysis/questions/callees.h"

#include "ir/signature.h"
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_point.h"
#include "passes/analysis/normal/known.h"
#include "passes/analysis/pairs/pair.h"
#include "passes/analysis/questions/inlined.h"
#include "passes/regions/complete.h"
#include "passes/regions/needs.h"

typedef struct {
    Context *ctx;
    InlinedFunc inlined;
    AccessList accesses;
    Map sizes;
    FaultList *faults;
} Comparison;

/* The accesses below BLOCK to the memory of buffers of the caller. */
static AccessList accesses_in(const Comparison *comparison, const Block *block)
{
    AccessList list = {0};
    for (int i = 0; i < comparison->accesses.count; i++) {
        const Access *access = &comparison->accesses.data[i];
        if (access_in_block(access, block) && (access->fence || map_has(&comparison->inlined.known, access->data)))
            vec_push(comparison->ctx->arena, &list, *access);
    }
    return list;
}

/* ACCESS is of elements that the writes among ACCESSES write. */
static Answer is_among(const Comparison *comparison, const Access *access, const AccessList *accesses)
{
    Context *ctx = comparison->ctx;
    AccessRefs writes = {0};
    for (int i = 0; i < accesses->count; i++)
        if (accesses->data[i].write && accesses->data[i].data == access->data)
            vec_push(ctx->arena, &writes, &accesses->data[i]);
    Access read = *access;
    read.write = false;
    read.asked = true; /* beyond the bounds of the buffer lie elements of others */
    if (access->whole || access->fence)
        return answer_unknown("which elements the function touches cannot be told");
    const Frame *place = writes.count ? NULL : access->frame;
    return access_covered(ctx, writes.data, writes.count, &read, place, &comparison->sizes);
}

static const Var *loop_around(const Access *access, const Block *block)
{
    const Frame *frame = frame_of_block(access->frame, block);
    while (frame && frame->kind != FRAME_LOOP)
        frame = frame->outer;
    return frame ? frame->var : NULL;
}

static void note_fault(const Comparison *comparison, const InlinedCall *call, const Access *access, Answer answer)
{
    Context *ctx = comparison->ctx;
    if (!comparison->faults || answer.verdict != ANSWER_REFUTED || comparison->sizes.count)
        return;
    const char *name = call->around->block->name, *verb = access->write ? "write" : "read";
    const char *what = call->renamed ? arena_printf(ctx->arena, "elements of '%s'", access->buffer->name) : answer.text;
    Fault fault = {call->call->span, arena_printf(ctx->arena, "'%s' %ss %s, and block '%s' around the call does not declare to %s %s", call->callee->name,
                                                  verb, what, name, verb, call->renamed ? "all of them" : "it")};
    vec_push(ctx->arena, comparison->faults, fault);
}

/* All that the callee reads and writes is declared. */
static bool keeps_to_regions(const Comparison *comparison, const InlinedCall *call)
{
    AccessList own = accesses_in(comparison, call->body), writes = accesses_in(comparison, call->writes), reads = accesses_in(comparison, call->reads);
    bool pure = !expr_is_opaque_call(call->call);
    for (int i = 0; i < own.count; i++) {
        const Access *access = &own.data[i];
        if (pure && access->write)
            return false;
        if (!access->fence && !access->write &&
            access_is_filled(comparison->ctx, &own, &comparison->sizes, access, loop_around(access, call->body)))
            continue;
        Answer answer = is_among(comparison, access, access->write ? &writes : &reads);
        if (answer_is_shown(answer))
            continue;
        note_fault(comparison, call, access, answer);
        return false;
    }
    return true;
}

/* The callee writes all of what is declared that it is given pointers to. */
static bool fills_regions(const Comparison *comparison, const InlinedCall *call)
{
    AccessList own = accesses_in(comparison, call->body), writes = accesses_in(comparison, call->writes);
    for (int i = 0; i < writes.count; i++)
        if (map_has(&call->memories, writes.data[i].data) && !answer_is_shown(is_among(comparison, &writes.data[i], &own)))
            return false;
    return true;
}

static CalleeRegions compare_call(const Comparison *comparison, const InlinedCall *call)
{
    return !keeps_to_regions(comparison, call) ? CALLEES_UNKNOWN : fills_regions(comparison, call) ? CALLEES_FILL : CALLEES_INSIDE;
}

/* --- memory that is passed twice --- */

static const Access *only_access_in(const Comparison *comparison, const Block *block)
{
    for (int i = 0; block && i < comparison->accesses.count; i++)
        if (access_in_block(&comparison->accesses.data[i], block))
            return &comparison->accesses.data[i];
    return NULL;
}

/* Each element that ACCESS touches has the indices that say so: none is one of another row, by an index behind the end of its own. */
static bool stays_in_rows(const Comparison *comparison, const Access *access)
{
    Context *ctx = comparison->ctx;
    if (access->whole || access->fence)
        return false;
    for (int d = 1; d < access->region.buffer->ndim; d++) {
        const Expr *index = access->region.ranges[d].min, *extent = access->region.buffer->shape[d];
        if (!access_shows_at_most(ctx, access, &comparison->sizes, expr_int(ctx, index->dtype, 0), index) ||
            !access_shows_at_most(ctx, access, &comparison->sizes, op_add_int(ctx, index, 1), extent))
            return false;
    }
    return true;
}

/* The stores to all elements of both parameters: to parts of the buffers where they stay in rows there, else to flat memory; NULLs where neither says
   where they lie. */
static void accesses_to_shared(const Comparison *comparison, const SharedMemory *shared, const Access **a, const Access **b)
{
    *a = only_access_in(comparison, shared->elements[0]), *b = only_access_in(comparison, shared->elements[1]);
    if (*a && *b && stays_in_rows(comparison, *a) && stays_in_rows(comparison, *b))
        return;
    *a = only_access_in(comparison, shared->flat_elements[0]), *b = only_access_in(comparison, shared->flat_elements[1]);
}

/* Parameters never overlap: the callee's code, and all steps on it, rely on that. */
static void check_apart(const Comparison *comparison, const SharedMemory *shared)
{
    Context *ctx = comparison->ctx;
    const Access *a, *b;
    accesses_to_shared(comparison, shared, &a, &b);
    Conflict conflict = {.text = "which elements they are cannot be told"};
    if (a && b) {
        Pair pair = pair_new(ctx, a, b);
        pair_build(&pair, &comparison->sizes, 0);
        pair_assume_equal(&pair, &pair.space, pair.common);
        if (!pair_conflicts(&pair, pair.space, &conflict))
            return;
    }
    const char *first = shared->params[0], *second = shared->params[1], *memory = a ? a->buffer->name : NULL;
    Fault fault = {shared->call->span, NULL};
    if (conflict.witnessed)
        fault.text = arena_printf(ctx->arena, "'%s' is given '%s' and '%s' with elements of '%s' in common, and writes to one of them; parameters never overlap",
                                  shared->callee->name, first, second, memory);
    else
        fault.text = arena_printf(ctx->arena, "'%s' is given '%s' and '%s' %sin one memory, and %s to one of them; that they do not overlap is not shown: %s",
                                  shared->callee->name, first, second, shared->certain ? "" : "perhaps ", shared->written ? "writes" : "may write", conflict.text);
    vec_push(ctx->arena, comparison->faults, fault);
}

/* --- in the program --- */

/* What the calls in one block were found to do. */
typedef struct {
    CalleeRegions regions; /* of the worst of them */
    int count;             /* that were compared */
} Found;

typedef struct {
    Context *ctx;
    const Module *module;
    Map found; /* Block -> Found */
} Marking;

static void note_found(Marking *marking, const Block *block, CalleeRegions regions)
{
    Found *found = map_get(&marking->found, block);
    if (!found)
        map_set(marking->ctx->arena, &marking->found, block, found = arena_copy(marking->ctx->arena, &(Found){CALLEES_FILL, 0}, sizeof(Found)));
    found->regions = regions < found->regions ? regions : found->regions;
    found->count++;
}

static const Stmt *mark_block(Rewriter *rewriter, const Stmt *stmt)
{
    Marking *marking = rewriter->data;
    const Stmt *marked = rewrite_stmt_children(rewriter, stmt);
    int calls = stmt->kind == STMT_BLOCK ? block_callee_calls(marking->ctx, marking->module, &stmt->as.block).count : 0;
    if (!calls)
        return marked;
    BlockStmt block = marked->as.block;
    const Found *found = map_get(&marking->found, block.block);
    block.callees = found && found->count == calls ? found->regions : CALLEES_UNKNOWN;
    return stmt_block(marking->ctx, block, stmt->span);
}

const Func *func_compare_callees(Context *ctx, const Module *module, const Func *func, FaultList *faults)
{
    if (!func->body || !stmt_calls_functions(ctx, module, func->body))
        return func;
    Comparison comparison = {.ctx = ctx, .inlined = func_inline_calls(ctx, module, func), .faults = faults};
    comparison.accesses = access_collect(ctx, comparison.inlined.func);
    comparison.sizes = func_sizes(ctx, comparison.inlined.func);
    for (int i = 0; faults && i < comparison.inlined.shared.count; i++)
        check_apart(&comparison, &comparison.inlined.shared.data[i]);
    Marking marking = {.ctx = ctx, .module = module};
    for (int i = 0; i < comparison.inlined.calls.count; i++) {
        const InlinedCall *call = &comparison.inlined.calls.data[i];
        note_found(&marking, call->around->block, compare_call(&comparison, call));
    }
    Rewriter rewriter = {.ctx = ctx, .stmt = mark_block, .data = &marking};
    return func_with_body(ctx, func, rewrite_stmt(&rewriter, func->body));
}

const Module *program_complete(Context *ctx, const Module *module)
{
    module = complete_module(ctx, module);
    for (int i = 0; module && i < module->func_count; i++) {
        const Func *func = func_with_needs(ctx, func_compare_callees(ctx, module, module->funcs[i], NULL));
        if (func != module->funcs[i])
            module = module_with_func(ctx, module, i, func);
    }
    return module;
}
