/* What a step moves or makes finds the buffers, lets, loops and axes that it uses: a declaration (T.decl_buffer, match_buffer), a let or a loop
   holds for the statements below it alone.

     for i in range(8):                              for i in range(8):
         with T.block("B"): B[vi] = A[vi]                with T.block("B"): B[vi] = A[vi]
     V = T.Buffer((8,), data=D.data)       -X->          with T.block("C"): V[vi] = B[vi]
     for i in range(8):                              V = T.Buffer((8,), data=D.data)
         with T.block("C"): V[vi] = B[vi]
   What a block allocates is seen in all of the block, but its sizes are fixed at the start of the block: those of a buffer that the step made may
   not be read from memory that the program writes.

     for i in range(2): L[i] = ...                   X = T.alloc_buffer((L[0],))
     for j in range(L[0]): ...             -X->      for i in range(2): L[i] = ...
   Asked at the end of each step, whichever it was. */
#include "ir/walk.h"
#include "passes/schedule/check/checks.h"

typedef struct {
    Context *ctx;
    /* Buffer, pointer of a view, let, loop variable or axis -> itself: all that a statement of the function declares or declared; of these those that hold here */
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
    if (stmt->kind == STMT_FOR)
        map_set(arena, map, stmt->as.loop.var, holds ? stmt->as.loop.var : NULL);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++)
        map_set(arena, map, stmt->as.block.iters[i].var, holds ? stmt->as.block.iters[i].var : NULL);
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

/* --- Sizes of allocations --- */
typedef struct {
    Context *ctx;
    Map old, written;   /* keys: buffers that were allocated before the step; pointers to memory that the function writes */
    const Buffer *made; /* whose size is looked at */
    const Buffer *changing; /* it is read for the size of MADE, and written */
} Sizes;

static bool collect_old(Visitor *visitor, const Stmt *stmt)
{
    Sizes *sizes = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        map_set(sizes->ctx->arena, &sizes->old, stmt->as.block.allocs[i], stmt->as.block.allocs[i]);
    return true;
}

static bool collect_written(Visitor *visitor, const Stmt *stmt)
{
    Sizes *sizes = visitor->data;
    if (stmt->kind == STMT_STORE)
        map_set(sizes->ctx->arena, &sizes->written, stmt->as.store.buffer->data, stmt->as.store.buffer->data);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.write_count; i++) {
        Var *data = stmt->as.block.writes[i].buffer->data;
        map_set(sizes->ctx->arena, &sizes->written, data, data);
    }
    return true;
}

static bool find_changing(Visitor *visitor, const Expr *expr)
{
    Sizes *sizes = visitor->data;
    if (expr->kind == EXPR_LOAD && map_has(&sizes->written, expr->value.buffer->data))
        sizes->changing = expr->value.buffer;
    return !sizes->changing;
}

static bool look_at_allocations(Visitor *visitor, const Stmt *stmt)
{
    Sizes *sizes = visitor->data;
    Visitor loads = {.expr = find_changing, .data = sizes};
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count && !sizes->changing; i++)
        if (!map_has(&sizes->old, stmt->as.block.allocs[i])) {
            sizes->made = stmt->as.block.allocs[i];
            visit_buffer_layout(&loads, sizes->made);
        }
    return !sizes->changing;
}

/* AFTER, of the program now, allocates nothing in a size that it reads from memory that it writes, unless BEFORE did. */
static bool check_sizes_are_known(Schedule *sch, const Func *before, const Func *after)
{
    Sizes sizes = {.ctx = sch->ctx};
    Visitor old = {.stmt = collect_old, .data = &sizes}, written = {.stmt = collect_written, .data = &sizes},
            looking = {.stmt = look_at_allocations, .data = &sizes};
    visit_stmt(&old, before->body);
    visit_stmt(&written, after->body);
    visit_stmt(&looking, after->body);
    if (!sizes.changing)
        return true;
    sched_refuse(sch, "the size of buffer '%s', which is allocated before, would be read from '%s', which the program writes", sizes.made->name,
                 sizes.changing->name);
    sched_note(sch, sizes.changing->span, "'%s' is declared here", sizes.changing->name);
    return false;
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
        if (!definitions.lost && !definitions.lost_var && !check_sizes_are_known(sch, before->funcs[f], func))
            return false;
        if (!definitions.lost && !definitions.lost_var)
            continue;
        Str name = definitions.lost ? definitions.lost->name : definitions.lost_var->name;
        sched_refuse(sch, "%s '%s' would be used where its declaration does not reach", definitions.lost ? "buffer" : "variable", name);
        sched_note(sch, definitions.lost ? definitions.lost->span : definitions.lost_var->span, "'%s' is declared here", name);
        return false;
    }
    return true;
}

bool check_after_step(Schedule *sch, const Module *before)
{
    return check_declarations_reach(sch, before) && check_inits(sch, before);
}
