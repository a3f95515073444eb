/* Random sequences of the passes that people look at (--pass); see fuzz.h. Half of them are the order that lowers a program, with passes left out,
   so that the forms that a pass needs come up, and what a pass asks for is written between them; the others are in any order. */
#include <string.h>

#include "fuzz.h"
#include "ir/walk.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "passes/transform/transform.h"
#include "print/print.h"
#include "verify/equal.h"

enum { MOST_PASSES = 12 };

static bool wrong(Trial *trial, const char *passes, const char *what, const char *text)
{
    trial->failure = arena_printf(trial->ctx->arena, "after --pass %s %s%s%s", passes, what, text ? ": " : "", text ? text : "");
    return false;
}

static bool reads_back(Trial *trial, const Module *module, const char *passes)
{
    Context *ctx = trial->ctx;
    const char *why, *printed = print_module(ctx, module);
    const Module *again = complete_module(ctx, parse_module_text(ctx, "printed", printed, strlen(printed)));
    if (!again)
        return wrong(trial, passes, "the print does not read back", diag_first_error(ctx, (DiagMark){0, 0}));
    if (!module_equal(ctx, module, again, &why))
        return wrong(trial, passes, "the print is another program", why);
    return !strcmp(printed, print_module(ctx, again)) || wrong(trial, passes, "the second print differs", NULL);
}

/* --- what passes ask for --- */

typedef struct {
    Random *random;
    Map allocated; /* data Var -> itself, of the memory that is allocated around */
    bool has_threads;
} Marking;

static bool find_threads(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD;
    return true;
}

/* BLOCK touches global memory alone: other memory ends with the loops of its threads, and what fills or reads it may stand outside of these. What
   its predicate reads no region names. */
static bool touches_global_memory(const BlockStmt *block)
{
    bool global = expr_is_pure(block->predicate);
    for (int i = 0; i < block->read_count + block->write_count; i++) {
        const Region *region = i < block->read_count ? &block->reads[i] : &block->writes[i - block->read_count];
        global &= scope_class(region->buffer->scope) == SCOPE_GLOBAL;
    }
    return global;
}

/* STMT is an innermost loop of a reduction, so short that threads may run it. */
static bool may_be_threads(const Marking *marking, const Stmt *stmt)
{
    int64_t extent;
    const ForStmt *loop = &stmt->as.loop;
    return !marking->has_threads && loop->kind == FOR_SERIAL && !loop->annotations.count && expr_const_int(loop->extent, &extent) && extent > 0 &&
           extent <= 64 && expr_is_int(loop->min, 0) && loop->body->kind == STMT_BLOCK && loop->body->as.block.init &&
           block_only_reduces_over(&loop->body->as.block, loop->var) && touches_global_memory(&loop->body->as.block);
}

static const Var *stored_scratch(const Marking *marking, const Stmt *stmt)
{
    while (stmt->kind == STMT_FOR)
        stmt = stmt->as.loop.body;
    const Var *data = stmt->kind == STMT_STORE ? stmt->as.store.buffer->data : NULL;
    return data && map_has(&marking->allocated, data) ? data : NULL;
}

/* Some statements that fill scratch in the attribute double_buffer_scope, some loops with pragma_loop_partition_hint, some loops of reductions
   over threads. */
static const Stmt *mark_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Marking *marking = rewriter->data;
    Context *ctx = rewriter->ctx;
    const Var *data = stored_scratch(marking, stmt);
    if (stmt->kind == STMT_ALLOCATE)
        map_set(ctx->arena, &marking->allocated, stmt->as.allocate.var, stmt->as.allocate.var);
    if (data && random_chance(marking->random, 40)) {
        Stmt attr = {.kind = STMT_ATTR, .span = stmt->span};
        attr.as.attr.node = expr_var(ctx, (Var *)data);
        attr.as.attr.key = context_intern(ctx, "double_buffer_scope");
        attr.as.attr.value = expr_int(ctx, DTYPE_INT32, 1);
        attr.as.attr.body = stmt;
        return stmt_new(ctx, &attr);
    }
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (result->kind != STMT_FOR || result->as.loop.kind == FOR_THREAD)
        return result;
    ForStmt loop = result->as.loop;
    if (may_be_threads(marking, result) && random_chance(marking->random, 40)) {
        loop.kind = FOR_THREAD;
        loop.thread = context_intern(ctx, "threadIdx.x");
        return stmt_for(ctx, loop, stmt->span);
    }
    if (!random_chance(marking->random, 15))
        return result;
    loop.annotations = attrs_set(ctx, loop.annotations, context_intern(ctx, "pragma_loop_partition_hint"), attr_int(ctx, 1));
    return stmt_for(ctx, loop, stmt->span);
}

static const Module *marked(Context *ctx, Random *random, const Module *module)
{
    const Module *result = module;
    for (int i = 0; i < module->func_count; i++) {
        Marking marking = {.random = random};
        visit_stmt(&(Visitor){.stmt = find_threads, .data = &marking.has_threads}, module->funcs[i]->body);
        Rewriter rewriter = {.ctx = ctx, .stmt = mark_stmt, .data = &marking};
        result = module_with_func(ctx, result, i, func_with_body(ctx, module->funcs[i], rewrite_stmt(&rewriter, module->funcs[i]->body)));
    }
    return result;
}

/* *MODULE and *PASSES, those that it went through, after the pass at INDEX too, which may refuse. */
static bool one_pass(Trial *trial, const Module **module, const char **passes, int index)
{
    int count;
    Context *ctx = trial->ctx;
    const char *name = transforms(&count)[index].name, *all = arena_printf(ctx->arena, "%s%s%s", *passes, **passes ? "," : "", name);
    DiagMark mark = diag_mark(ctx);
    const Module *after = transform_module(ctx, *module, index, true);
    if (!after) {
        const char *message = diag_first_error(ctx, mark);
        if (!message || !*message)
            return wrong(trial, all, "there is a refusal without a message", NULL);
        diag_rollback(ctx, mark);
        return true;
    }
    diag_rollback(ctx, mark);
    trial->reordered |= after != *module && !strcmp(name, "lower_cross_thread_reduction"); /* each thread sums up its own */
    *module = after;
    *passes = all;
    return reads_back(trial, after, all) && trial_interpreted(trial, after, arena_printf(ctx->arena, "after --pass %s", all));
}

bool trial_passes(Trial *trial, uint64_t seed)
{
    int count, made = 0;
    const Transform *rows = transforms(&count);
    Random random = {seed * 7919 + 17};
    const Module *module = trial->current;
    const char *passes = "";
    bool in_order = random_chance(&random, 50), ok = true, reordered = trial->reordered;
    for (int i = 0; i < count && in_order && ok; i++) {
        bool asks = !i || !strcmp(rows[i].name, "inject_double_buffer");
        if (random_chance(&random, asks ? 60 : 10))
            module = marked(trial->ctx, &random, module);
        ok = !random_chance(&random, 85) || one_pass(trial, &module, &passes, i);
    }
    for (int wanted = 1 + random_below(&random, MOST_PASSES); !in_order && ok && made < wanted; made++)
        ok = one_pass(trial, &module, &passes, random_below(&random, count));
    trial->reordered = reordered;
    return ok;
}
