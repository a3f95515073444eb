/* Loops as text: nested plain loops joined to T.grid, others as range, T.serial, T.parallel, ... */
#include "print/print_internal.h"
#include "ir/walk.h"

typedef VEC(const ForStmt *) LoopNest;

typedef struct {
    const LoopNest *nest;
    bool found;
} NestUse;

static bool find_nest_var(Visitor *visitor, const Expr *expr)
{
    NestUse *use = visitor->data;
    for (int i = 0; i < use->nest->count && expr->kind == EXPR_VAR; i++)
        use->found |= expr->value.var == use->nest->data[i]->var;
    return !use->found;
}

static bool uses_nest(const Expr *expr, const LoopNest *nest)
{
    NestUse use = {nest, false};
    Visitor visitor = {.expr = find_nest_var, .data = &use};
    visit_expr(&visitor, expr);
    return use.found;
}

/* The loops from LOOP inwards that one T.grid can state. */
static LoopNest grid_loops(Printer *printer, const ForStmt *loop)
{
    LoopNest nest = {0};
    for (;;) {
        if (loop->kind != FOR_SERIAL || !expr_is_int(loop->min, 0) || loop->annotations.count || uses_nest(loop->extent, &nest))
            return nest;
        vec_push(printer->ctx->arena, &nest, loop);
        if (loop->body->kind != STMT_FOR)
            return nest;
        loop = &loop->body->as.loop;
    }
}

/* Gives LOOP's variable its name and notes the loop for the blocks inside. */
static const char *enter_loop(Printer *printer, const ForStmt *loop)
{
    map_set(printer->ctx->arena, &printer->loops, loop->var, (void *)loop);
    return printer_define_var(printer, loop->var);
}

static void print_grid(Printer *printer, const LoopNest *nest)
{
    for (int i = 0; i < nest->count; i++) {
        print_separator(printer, i);
        print_text(printer, enter_loop(printer, nest->data[i]));
    }
    print_text(printer, " in T.grid(");
    for (int i = 0; i < nest->count; i++) {
        print_separator(printer, i);
        print_expression(printer, nest->data[i]->extent);
    }
    print_text(printer, ")");
}

static const char *loop_function(const ForStmt *loop)
{
    switch (loop->kind) {
    case FOR_SERIAL: return loop->annotations.count ? "T.serial" : "range";
    case FOR_PARALLEL: return "T.parallel";
    case FOR_VECTORIZED: return "T.vectorized";
    case FOR_UNROLLED: return "T.unroll";
    case FOR_THREAD: return "T.thread_binding";
    }
    return NULL;
}

static void print_range(Printer *printer, const ForStmt *loop)
{
    print_text(printer, enter_loop(printer, loop));
    strbuf_printf(&printer->out, " in %s(", loop_function(loop));
    if (expr_is_int(loop->min, 0)) {
        print_expression(printer, loop->extent);
    } else {
        print_expression(printer, loop->min);
        print_text(printer, ", ");
        print_sum(printer, loop->min, loop->extent);
    }
    if (loop->kind == FOR_THREAD) {
        print_text(printer, ", thread=");
        print_quoted(printer, loop->thread);
    }
    if (loop->annotations.count) {
        print_text(printer, ", annotations=");
        print_attrs(printer, loop->annotations, NULL);
    }
    print_text(printer, ")");
}

/* Names that a body defines end with it: those of other bodies do not depend on them. */
static void print_body(Printer *printer, const ForStmt *loop)
{
    if (!printer->wanted || map_has(printer->wanted, loop->var))
        print_suite(printer, loop->body);
}

/* EXPR mentions nothing that would get a name where it is printed. */
static bool has_names(const Printer *printer, const Expr *expr)
{
    bool named = expr->kind == EXPR_VAR ? printer_knows(printer, expr->value.var) : expr->kind != EXPR_LET;
    for (int i = 0; named && i < expr->arg_count; i++)
        named = has_names(printer, expr->args[i]);
    return named;
}

/* The body of LOOP is not wanted, and what stands before it defines nothing that would outlast the loop. */
static bool leaves_no_names(const Printer *printer, const ForStmt *loop)
{
    if (!printer->wanted || map_has(printer->wanted, loop->var))
        return false;
    while (has_names(printer, loop->min) && has_names(printer, loop->extent)) {
        if (loop->body->kind != STMT_FOR)
            return true;
        loop = &loop->body->as.loop;
    }
    return false;
}

void print_for(Printer *printer, const ForStmt *loop)
{
    if (leaves_no_names(printer, loop))
        return;
    int scope = printer_begin_scope(printer);
    LoopNest nest = grid_loops(printer, loop);
    print_begin_line(printer);
    print_text(printer, "for ");
    if (nest.count > 1)
        print_grid(printer, &nest);
    else
        print_range(printer, loop);
    print_text(printer, ":");
    print_end_line(printer);
    print_body(printer, nest.count > 1 ? vec_last(&nest) : loop);
    printer_end_statement(printer, scope);
}
