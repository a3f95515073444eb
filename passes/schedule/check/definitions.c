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

/* Calls NOTE for each buffer, pointer of a view, let, loop variable and axis that STMT declares for its body. T.decl_buffer is of a pointer that is
   declared elsewhere. */
static void each_declared(const Stmt *stmt, void (*note)(void *data, const void *symbol), void *data)
{
    if (stmt->kind == STMT_DECL_BUFFER)
        note(data, stmt->as.declare.buffer);
    if (stmt->kind == STMT_LET)
        note(data, stmt->as.let.var);
    if (stmt->kind == STMT_FOR)
        note(data, stmt->as.loop.var);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++)
        note(data, stmt->as.block.iters[i].var);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        note(data, stmt->as.block.matches[i].target);
        note(data, stmt->as.block.matches[i].target->data);
    }
}

/* What a part of a program uses and does not declare. */
typedef struct {
    Context *ctx;
    Map inside; /* what is declared around the place of the walk -> itself */
    Map free_buffers, free_vars; /* what is used elsewhere -> itself */
} Uses;

static void open_scope(void *data, const void *symbol)
{
    map_set(((Uses *)data)->ctx->arena, &((Uses *)data)->inside, symbol, (void *)symbol);
}

static void close_scope(void *data, const void *symbol)
{
    map_set(((Uses *)data)->ctx->arena, &((Uses *)data)->inside, symbol, NULL);
}

static void note_use(Uses *uses, const Buffer *buffer)
{
    if (!map_get(&uses->inside, buffer))
        map_set(uses->ctx->arena, &uses->free_buffers, buffer, (void *)buffer);
}

static bool use_in_expr(Visitor *visitor, const Expr *expr)
{
    Uses *uses = visitor->data;
    if (expr->kind == EXPR_LOAD)
        note_use(uses, expr->value.buffer);
    if (expr->kind == EXPR_VAR && !map_get(&uses->inside, expr->value.var))
        map_set(uses->ctx->arena, &uses->free_vars, expr->value.var, expr->value.var);
    return true;
}

static void open_buffer(Uses *uses, const Buffer *buffer)
{
    open_scope(uses, buffer);
    open_scope(uses, buffer->data);
}

static bool open_layout_var(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        open_scope(visitor->data, expr->value.var);
    return true;
}

/* Parameters and the sizes that they define are seen everywhere. */
static void open_params(Uses *uses, const Func *func)
{
    Visitor visitor = {.expr = open_layout_var, .data = uses};
    for (int i = 0; i < func->param_count; i++) {
        open_scope(uses, func->params[i].param);
        if (func->params[i].buffer) {
            open_buffer(uses, func->params[i].buffer);
            visit_buffer_layout(&visitor, func->params[i].buffer);
        }
    }
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    each_declared(stmt, open_scope, visitor->data);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        open_buffer(visitor->data, stmt->as.block.allocs[i]);
    if (stmt->kind == STMT_STORE)
        note_use(visitor->data, stmt->as.store.buffer);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    each_declared(stmt, close_scope, visitor->data);
}

/* A symbol that is used outside of its declaration: that of a statement of the function now, or one that went away with the last statement in it. */
typedef struct {
    const Uses *uses;
    const Buffer *buffer;
    const Var *var;
} Lost;

static void find_lost(void *data, const void *symbol)
{
    Lost *lost = data;
    if (map_has(&lost->uses->free_buffers, symbol))
        lost->buffer = symbol;
    if (map_has(&lost->uses->free_vars, symbol))
        lost->var = symbol;
}

static bool find_lost_in(Visitor *visitor, const Stmt *stmt)
{
    each_declared(stmt, find_lost, visitor->data);
    return true;
}

/* What the changed statements of AFTER use where its declaration does not reach; those that BEFORE has too were right before. */
static bool find_lost_declaration(Context *ctx, const Func *before, const Func *after, Lost *lost)
{
    Uses uses = {.ctx = ctx};
    Visitor visitor = {.expr = use_in_expr, .stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &uses};
    Visitor search = {.stmt = find_lost_in, .data = lost};
    *lost = (Lost){.uses = &uses};
    open_params(&uses, after);
    visit_changes(&visitor, before, after);
    if (uses.free_buffers.count || uses.free_vars.count) {
        visit_stmt(&search, before->body);
        visit_stmt(&search, after->body);
    }
    return lost->buffer || lost->var;
}

/* --- Sizes of allocations --- */
typedef struct {
    Context *ctx;
    Map old, written;   /* keys: buffers that were allocated before the step; pointers to memory that the function writes */
    const Buffer *made; /* whose size is looked at */
    const Buffer *read; /* for the size of MADE */
    const Buffer *changing; /* such a one that the function writes */
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
    if (expr->kind != EXPR_LOAD)
        return !sizes->changing;
    sizes->read = expr->value.buffer;
    if (map_has(&sizes->written, expr->value.buffer->data))
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
    visit_changes(&looking, before, after);
    if (!sizes.read)
        return true;
    visit_stmt(&old, before->body);
    visit_stmt(&written, after->body);
    visit_changes(&looking, before, after);
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
        Lost lost;
        if (func == before->funcs[f] || !func->body)
            continue;
        if (!find_lost_declaration(sch->ctx, before->funcs[f], func, &lost)) {
            if (!check_sizes_are_known(sch, before->funcs[f], func))
                return false;
            continue;
        }
        Str name = lost.buffer ? lost.buffer->name : lost.var->name;
        sched_refuse(sch, "%s '%s' would be used where its declaration does not reach", lost.buffer ? "buffer" : "variable", name);
        sched_note(sch, lost.buffer ? lost.buffer->span : lost.var->span, "'%s' is declared here", name);
        return false;
    }
    return true;
}

bool check_after_step(Schedule *sch, const Module *before)
{
    return check_declarations_reach(sch, before) && check_inits(sch, before);
}
