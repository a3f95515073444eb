/* What a step moves finds the buffers and lets that it uses: a declaration (T.decl_buffer, match_buffer) or a let holds for the statements
   below it alone.

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
    /* Buffer, pointer of a view or let -> itself: all that a statement of the function declares or declared; of these those that hold here */
    Map declared, inside;
    const Buffer *lost;
    const Var *lost_var;
} Definitions;

/* Sets or clears in MAP what STMT declares for its body. T.decl_buffer is of a pointer that is declared elsewhere. */
static void mark_declared(Definitions *definitions, Map *map, const Stmt *stmt, bool holds)
{
    Arena *arena = definitions->ctx->arena;
    if (stmt->kind == STMT_DECL_BUFFER)
        map_set(arena, map, stmt->as.declare.buffer, holds ? stmt->as.declare.buffer : NULL);
    if (stmt->kind == STMT_LET)
        map_set(arena, map, stmt->as.let.var, holds ? stmt->as.let.var : NULL);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        Buffer *target = stmt->as.block.matches[i].target;
        map_set(arena, map, target, holds ? target : NULL);
        map_set(arena, map, target->data, holds ? target->data : NULL);
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
    Definitions *definitions = visitor->data;
    if (expr->kind == EXPR_LOAD)
        note_use(definitions, expr->value.buffer);
    if (expr->kind == EXPR_VAR && map_get(&definitions->declared, expr->value.var) && !map_get(&definitions->inside, expr->value.var))
        definitions->lost_var = expr->value.var;
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

bool check_declarations_reach(Schedule *sch, const Module *before)
{
    for (int f = 0; f < before->func_count && f < sch->module->func_count; f++) {
        const Func *func = sch->module->funcs[f];
        Definitions definitions = {.ctx = sch->ctx};
        Visitor collecting = {.stmt = collect_declared, .data = &definitions};
        Visitor visitor = {.expr = use_in_expr, .stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &definitions};
        if (func == before->funcs[f] || !func->body)
            continue;
        visit_stmt(&collecting, before->funcs[f]->body); /* a declaration that went away with the last statement in it */
        visit_stmt(&collecting, func->body);
        if (definitions.declared.count)
            visit_stmt(&visitor, func->body);
        if (!definitions.lost && !definitions.lost_var)
            continue;
        Str name = definitions.lost ? definitions.lost->name : definitions.lost_var->name;
        sched_refuse(sch, "%s '%s' would be used where its declaration does not reach", definitions.lost ? "buffer" : "variable", name);
        sched_note(sch, definitions.lost ? definitions.lost->span : definitions.lost_var->span, "'%s' is declared here", name);
        return false;
    }
    return true;
}
