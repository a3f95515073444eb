/* What a step moves finds the buffers that it uses: a declaration (T.decl_buffer, match_buffer) holds for the statements below it alone.

     for i in range(8):                              for i in range(8):
         with T.block("B"): B[vi] = A[vi]                with T.block("B"): B[vi] = A[vi]
     V = T.Buffer((8,), data=D.data)       -X->          with T.block("C"): V[vi] = B[vi]
     for i in range(8):                              V = T.Buffer((8,), data=D.data)
         with T.block("C"): V[vi] = B[vi]
   Asked at the end of each step, whichever it was; what a block allocates is no matter here, since allocations stand where all of a scope
   sees them. */
#include "ir/walk.h"
#include "passes/schedule/checks.h"

typedef struct {
    Context *ctx;
    Map declared, inside; /* Buffer -> itself: all that a statement of the function declares; of these those that hold here */
    const Buffer *lost;
} Definitions;

/* Sets or clears in MAP what STMT declares for its body. */
static void mark_declared(Definitions *definitions, Map *map, const Stmt *stmt, bool holds)
{
    if (stmt->kind == STMT_DECL_BUFFER)
        map_set(definitions->ctx->arena, map, stmt->as.declare.buffer, holds ? stmt->as.declare.buffer : NULL);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        Buffer *target = stmt->as.block.matches[i].target;
        map_set(definitions->ctx->arena, map, target, holds ? target : NULL);
    }
}

static bool collect_declared(Visitor *visitor, const Stmt *stmt)
{
    Definitions *definitions = visitor->data;
    mark_declared(definitions, &definitions->declared, stmt, true);
    return true;
}

static void note_use(Definitions *definitions, const Buffer *buffer)
{
    if (map_get(&definitions->declared, buffer) && !map_get(&definitions->inside, buffer))
        definitions->lost = buffer;
}

static bool use_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        note_use(visitor->data, expr->value.buffer);
    return true;
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    Definitions *definitions = visitor->data;
    mark_declared(definitions, &definitions->inside, stmt, true);
    if (stmt->kind == STMT_STORE)
        note_use(definitions, stmt->as.store.buffer);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    mark_declared(visitor->data, &((Definitions *)visitor->data)->inside, stmt, false);
}

bool check_buffers_stay_declared(Schedule *sch, const Module *before)
{
    for (int f = 0; f < before->func_count && f < sch->module->func_count; f++) {
        const Func *func = sch->module->funcs[f];
        Definitions definitions = {.ctx = sch->ctx};
        Visitor collecting = {.stmt = collect_declared, .data = &definitions};
        Visitor visitor = {.expr = use_in_expr, .stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &definitions};
        if (func == before->funcs[f] || !func->body)
            continue;
        visit_stmt(&collecting, func->body);
        if (definitions.declared.count)
            visit_stmt(&visitor, func->body);
        if (!definitions.lost)
            continue;
        sched_refuse(sch, "buffer '%s' would be used where its declaration does not reach", definitions.lost->name);
        sched_note(sch, definitions.lost->span, "'%s' is declared here", definitions.lost->name);
        return false;
    }
    return true;
}
