/* Statements as text, except loops and blocks. A statement that encloses others (a let, an allocation, an attribute) stands at the level of
   what it encloses where nothing follows it in its sequence, and is a with statement otherwise. */
#include "ir/elements.h"
#include "print/print_internal.h"

/* "NAME = " or, where statements follow, "with "; NAME may be NULL. */
static void begin_enclosing(Printer *printer, const char *name, bool last)
{
    print_begin_line(printer);
    if (!last)
        print_text(printer, "with ");
    else if (name)
        strbuf_printf(&printer->out, "%s = ", name);
}

/* The end of the line and the enclosed statements. */
static void end_enclosing(Printer *printer, const char *name, const Stmt *body, bool last)
{
    if (!last)
        strbuf_printf(&printer->out, name ? " as %s:" : ":", name);
    print_end_line(printer);
    if (last)
        print_rest(printer, body);
    else
        print_suite(printer, body);
}

static void print_while(Printer *printer, const Stmt *stmt)
{
    print_begin_line(printer);
    print_text(printer, "while ");
    print_expression(printer, stmt->as.while_loop.condition);
    print_text(printer, ":");
    print_end_line(printer);
    print_suite(printer, stmt->as.while_loop.body);
}

static void print_if(Printer *printer, const Stmt *stmt)
{
    print_begin_line(printer);
    print_text(printer, "if ");
    print_expression(printer, stmt->as.branch.condition);
    print_text(printer, ":");
    print_end_line(printer);
    print_suite(printer, stmt->as.branch.then_body);
    if (stmt->as.branch.else_body) {
        print_line(printer, "else:");
        print_suite(printer, stmt->as.branch.else_body);
    }
}

/* "x: T.int32 = value", or "with T.LetStmt(value) as x"; a pointer type needs the variable declared first then. */
static void print_let(Printer *printer, const Stmt *stmt, bool last)
{
    const Var *var = stmt->as.let.var;
    bool declared = !last && var->dtype.code == DT_HANDLE;
    const char *name = printer_define_var(printer, var);
    begin_enclosing(printer, NULL, last);
    if (last)
        strbuf_printf(&printer->out, printer->ctx->new_spellings ? "%s: T.let[%s] = " : "%s: %s = ", name, printer_var_type(printer, var));
    else
        print_text(printer, "T.LetStmt(");
    print_expression(printer, stmt->as.let.value);
    if (declared)
        strbuf_printf(&printer->out, ", var=%s", name);
    if (!last)
        print_text(printer, ")");
    if (declared) {
        printer_mark_declared(printer, var);
        print_insert_assignment(printer, name, printer_var_creation(printer, var));
    }
    end_enclosing(printer, declared || last ? NULL : name, stmt->as.let.body, last);
}

static void print_store(Printer *printer, const Stmt *stmt)
{
    const Buffer *buffer = stmt->as.store.buffer;
    print_begin_line(printer);
    if (stmt->as.store.mask) {
        print_text(printer, printer_buffer(printer, buffer));
        print_text(printer, ".vstore(");
        print_index_list(printer, stmt->as.store.indices, stmt->as.store.index_count);
        print_text(printer, ", ");
        print_expression(printer, stmt->as.store.value);
        print_text(printer, ", predicate=");
        print_expression(printer, stmt->as.store.mask);
        print_text(printer, ")");
    } else {
        print_access(printer, buffer, stmt->as.store.indices, stmt->as.store.index_count);
        print_text(printer, " = ");
        print_expression(printer, stmt->as.store.value);
    }
    print_end_line(printer);
}

static void print_evaluate(Printer *printer, const Expr *value)
{
    print_begin_line(printer);
    if (expr_is_call(value, OP_RET) && value->arg_count == 1) {
        print_text(printer, "return ");
        print_expression(printer, value->args[0]);
    } else if (value->kind == EXPR_CALL) {
        print_expression(printer, value);
    } else {
        print_text(printer, "T.evaluate(");
        print_expression(printer, value);
        print_text(printer, ")");
    }
    print_end_line(printer);
}

/* True when T.decl_buffer without data states both the allocation and the buffer over it. */
static bool allocates_declared_buffer(const Stmt *stmt)
{
    const Stmt *body = stmt->as.allocate.body;
    if (body->kind != STMT_DECL_BUFFER || !body->as.declare.explicit_declaration || stmt->as.allocate.annotations.count ||
        !expr_is_int(stmt->as.allocate.condition, 1))
        return false;
    const Buffer *buffer = body->as.declare.buffer;
    if (buffer->data != stmt->as.allocate.var || !dtype_equal(buffer->dtype, stmt->as.allocate.dtype) ||
        buffer->ndim != stmt->as.allocate.extent_count || !buffer_is_dense(buffer) || !expr_is_int(buffer->elem_offset, 0))
        return false;
    for (int i = 0; i < buffer->ndim; i++)
        if (!expr_equal(buffer->shape[i], stmt->as.allocate.extents[i]))
            return false;
    return true;
}

static void print_buffer_scope(Printer *printer, const char *method, const Buffer *buffer, bool owns_data, const Stmt *body, bool last)
{
    const char *name = printer_define_buffer(printer, buffer);
    begin_enclosing(printer, name, last);
    strbuf_printf(&printer->out, "T.%s(", method);
    print_buffer_arguments(printer, buffer, owns_data);
    end_enclosing(printer, name, body, last);
}

/* A buffer declared in passing (T.Buffer) has no with form: where statements follow, it prints as an explicit one. TVM since 0.25 knows none. */
static void print_declare(Printer *printer, const Stmt *stmt, bool last)
{
    bool in_passing = last && !stmt->as.declare.explicit_declaration && !printer->ctx->new_spellings;
    print_buffer_scope(printer, in_passing ? "Buffer" : "decl_buffer", stmt->as.declare.buffer, in_passing, stmt->as.declare.body, last);
}

static void print_annotations(Printer *printer, Attrs annotations)
{
    if (!annotations.count)
        return;
    print_text(printer, ", annotations=");
    print_attrs(printer, annotations, NULL);
}

static void print_allocate(Printer *printer, const Stmt *stmt, bool last)
{
    if (allocates_declared_buffer(stmt)) {
        const Stmt *declare = stmt->as.allocate.body;
        const char *method = printer->ctx->new_spellings ? "alloc_buffer" : "decl_buffer"; /* since 0.25, a declaration has no memory of its own */
        print_buffer_scope(printer, method, declare->as.declare.buffer, true, declare->as.declare.body, last);
        return;
    }
    const char *name = printer_define_var(printer, stmt->as.allocate.var);
    begin_enclosing(printer, name, last);
    print_text(printer, "T.allocate(");
    print_index_list(printer, stmt->as.allocate.extents, stmt->as.allocate.extent_count);
    print_text(printer, ", ");
    print_dtype(printer, stmt->as.allocate.dtype);
    print_text(printer, ", ");
    print_quoted(printer, stmt->as.allocate.scope);
    if (!expr_is_int(stmt->as.allocate.condition, 1)) {
        print_text(printer, ", ");
        print_expression(printer, stmt->as.allocate.condition);
    }
    print_annotations(printer, stmt->as.allocate.annotations);
    print_text(printer, ")");
    end_enclosing(printer, name, stmt->as.allocate.body, last);
}

static void print_allocate_const(Printer *printer, const Stmt *stmt, bool last)
{
    const char *name = printer_define_var(printer, stmt->as.allocate_const.var);
    begin_enclosing(printer, name, last);
    print_text(printer, "T.allocate_const([");
    for (int i = 0; i < stmt->as.allocate_const.data_count; i++) {
        const Expr *element = stmt->as.allocate_const.data[i];
        print_separator(printer, i);
        if (element->kind == EXPR_FLOAT)
            print_real(printer, element->value.literal);
        else
            print_integer(printer, element->dtype, element->value.integer);
    }
    print_text(printer, "], ");
    print_dtype(printer, stmt->as.allocate_const.dtype);
    print_text(printer, ", ");
    print_index_list(printer, stmt->as.allocate_const.extents, stmt->as.allocate_const.extent_count);
    print_annotations(printer, stmt->as.allocate_const.annotations);
    print_text(printer, ")");
    end_enclosing(printer, name, stmt->as.allocate_const.body, last);
}

/* threadIdx_x = T.launch_thread("threadIdx.x", extent) */
static void print_launch(Printer *printer, const Stmt *stmt, bool last)
{
    const Var *var = stmt->as.loop.var;
    bool bound = printer_knows(printer, var);
    const char *name = bound ? NULL : printer_define_var(printer, var);
    begin_enclosing(printer, name, last);
    print_text(printer, "T.launch_thread(");
    if (bound)
        print_text(printer, printer_var(printer, var));
    else
        print_quoted(printer, stmt->as.loop.thread);
    print_text(printer, ", ");
    print_expression(printer, stmt->as.loop.extent);
    print_text(printer, ")");
    end_enclosing(printer, name, stmt->as.loop.body, last);
}

static void print_attr(Printer *printer, const Stmt *stmt, bool last)
{
    begin_enclosing(printer, NULL, last);
    print_text(printer, "T.attr(");
    print_expression(printer, stmt->as.attr.node);
    print_text(printer, ", ");
    print_quoted(printer, stmt->as.attr.key);
    print_text(printer, ", ");
    print_expression(printer, stmt->as.attr.value);
    print_text(printer, ")");
    end_enclosing(printer, NULL, stmt->as.attr.body, last);
}

static void print_assert(Printer *printer, const Stmt *stmt, bool last)
{
    begin_enclosing(printer, NULL, last);
    print_text(printer, last ? "assert " : "T.Assert(");
    print_expression(printer, stmt->as.assertion.condition);
    print_text(printer, ", ");
    print_expression(printer, stmt->as.assertion.message);
    if (!last)
        print_text(printer, ")");
    end_enclosing(printer, NULL, stmt->as.assertion.body, last);
}

static void print_realize(Printer *printer, const Stmt *stmt, bool last)
{
    begin_enclosing(printer, NULL, last);
    print_text(printer, "T.realize(");
    print_buffer_region(printer, &stmt->as.realize.region);
    print_text(printer, ", ");
    print_quoted(printer, stmt->as.realize.scope);
    if (!expr_is_int(stmt->as.realize.condition, 1)) {
        print_text(printer, ", condition=");
        print_expression(printer, stmt->as.realize.condition);
    }
    print_text(printer, ")");
    end_enclosing(printer, NULL, stmt->as.realize.body, last);
}

/* A statement whose symbols end with it. */
static void print_scoped(Printer *printer, const Stmt *stmt, bool last)
{
    int scope = printer_begin_scope(printer);
    switch (stmt->kind) {
    case STMT_FOR: print_launch(printer, stmt, last); break;
    case STMT_LET: print_let(printer, stmt, last); break;
    case STMT_ALLOCATE: print_allocate(printer, stmt, last); break;
    case STMT_ALLOCATE_CONST: print_allocate_const(printer, stmt, last); break;
    case STMT_DECL_BUFFER: print_declare(printer, stmt, last); break;
    case STMT_ATTR: print_attr(printer, stmt, last); break;
    case STMT_ASSERT: print_assert(printer, stmt, last); break;
    default: print_realize(printer, stmt, last); break;
    }
    printer_end_statement(printer, scope);
}

void print_statement(Printer *printer, const Stmt *stmt, bool last)
{
    switch (stmt->kind) {
    case STMT_SEQ: print_rest(printer, stmt); break;
    case STMT_FOR:
        if (stmt->as.loop.launch)
            print_scoped(printer, stmt, last);
        else
            print_for(printer, &stmt->as.loop);
        break;
    case STMT_WHILE: print_while(printer, stmt); break;
    case STMT_BLOCK: print_block(printer, &stmt->as.block); break;
    case STMT_IF: print_if(printer, stmt); break;
    case STMT_STORE: print_store(printer, stmt); break;
    case STMT_EVALUATE: print_evaluate(printer, stmt->as.evaluate); break;
    case STMT_LET:
    case STMT_ALLOCATE:
    case STMT_ALLOCATE_CONST:
    case STMT_DECL_BUFFER:
    case STMT_ATTR:
    case STMT_ASSERT:
    case STMT_REALIZE: print_scoped(printer, stmt, last); break;
    }
}

void print_rest(Printer *printer, const Stmt *body)
{
    if (body->kind != STMT_SEQ) {
        print_statement(printer, body, true);
        return;
    }
    for (int i = 0; i < body->as.seq.count; i++)
        print_statement(printer, body->as.seq.items[i], i == body->as.seq.count - 1);
}

void print_suite(Printer *printer, const Stmt *body)
{
    int scope = printer_begin_scope(printer);
    printer->indent++;
    if (stmt_is_empty(body))
        print_line(printer, "pass");
    else
        print_rest(printer, body);
    printer->indent--;
    printer_end_suite(printer, scope);
}

const char *print_stmt(Context *ctx, const Stmt *stmt)
{
    Printer printer = printer_new(ctx, true);
    print_rest(&printer, stmt);
    return strbuf_text(&printer.out);
}
