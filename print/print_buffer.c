/* Declarations of buffers: T.Buffer, T.match_buffer, T.alloc_buffer and T.decl_buffer. Variables that the declaration itself defines are
   declared on the line before (dimensions) or are spelled through the buffer from then on: A.data, A.strides[0], A.elem_offset. */
#include <string.h>

#include "print/print_internal.h"
#include "ir/walk.h"

typedef struct {
    const Var *var;
    int count;
} VarCount;

static bool count_var(Visitor *visitor, const Expr *expr)
{
    VarCount *counter = visitor->data;
    counter->count += counter->var ? expr_is_var(expr, counter->var) : expr->kind == EXPR_VAR;
    return true;
}

/* How often VAR (NULL: any variable) occurs in the fields of BUFFER. */
static int buffer_var_count(const Buffer *buffer, const Var *var)
{
    VarCount counter = {var, 0};
    Visitor visitor = {.expr = count_var, .data = &counter};
    for (int i = 0; i < buffer->ndim; i++) {
        visit_expr(&visitor, buffer->shape[i]);
        if (buffer->strides)
            visit_expr(&visitor, buffer->strides[i]);
    }
    visit_expr(&visitor, buffer->elem_offset);
    return counter.count;
}

bool buffer_is_simple(const Buffer *buffer)
{
    if (buffer->strides || buffer->offset_factor > 1 || buffer->auto_broadcast || buffer->axis_separator_count ||
        !expr_is_int(buffer->elem_offset, 0))
        return false;
    return !strcmp(buffer->scope, "global") && !buffer->data_alignment && buffer_var_count(buffer, NULL) == 0;
}

/* The variable that EXPR is, where the text has not defined it yet. */
static const Var *fresh_var(const Printer *printer, const Expr *expr)
{
    return expr->kind == EXPR_VAR && !printer_knows(printer, expr->value.var) ? expr->value.var : NULL;
}

/* Left and right sides of the assignment that declares variables before the buffer. */
typedef struct {
    StrBuf names, values;
    int count;
} Declared;

static void declare_before(Printer *printer, Declared *declared, const Var *var)
{
    const char *separator = declared->count++ ? ", " : "";
    strbuf_printf(&declared->names, "%s%s", separator, printer_define_var(printer, var));
    printer_mark_declared(printer, var);
    strbuf_printf(&declared->values, "%s%s", separator, printer_var_creation(printer, var));
}

static void print_shape(Printer *printer, Declared *declared, const Buffer *buffer)
{
    for (int i = 0; i < buffer->ndim; i++) {
        const Var *var = fresh_var(printer, buffer->shape[i]);
        if (var && !printer->for_message)
            declare_before(printer, declared, var);
    }
    print_tuple(printer, buffer->shape, buffer->ndim);
}

/* True when reading a string (or nothing) in the place of VAR, a stride or offset of BUFFER, makes such a variable again: it stands there
   only, in the type that is assumed. */
static bool spelled_through_buffer(const Buffer *buffer, const Var *var)
{
    return dtype_equal(var->dtype, buffer_index_dtype(buffer)) && buffer_var_count(buffer, var) == 1;
}

static void print_stride(Printer *printer, Declared *declared, const Buffer *buffer, int dimension)
{
    const Expr *stride = buffer->strides[dimension];
    const Var *var = fresh_var(printer, stride);
    if (var && spelled_through_buffer(buffer, var)) {
        printer_define_as(printer, var, context_internf(printer->ctx, "%s.strides[%d]", printer_buffer(printer, buffer), dimension));
        print_quoted(printer, var->name);
        return;
    }
    if (var && !printer->for_message)
        declare_before(printer, declared, var);
    print_expression(printer, stride);
}

static void print_strides(Printer *printer, Declared *declared, const Buffer *buffer)
{
    if (!buffer->strides)
        return;
    print_text(printer, ", strides=(");
    for (int i = 0; i < buffer->ndim; i++) {
        print_separator(printer, i);
        print_stride(printer, declared, buffer, i);
    }
    print_text(printer, buffer->ndim == 1 ? ",)" : ")");
}

/* True when the offset is a variable of the buffer's own that has no name; an offset_factor then says so. */
static bool define_own_offset(Printer *printer, const Buffer *buffer)
{
    const Var *var = fresh_var(printer, buffer->elem_offset);
    if (!var || !var->unnamed || !spelled_through_buffer(buffer, var))
        return false;
    printer_define_as(printer, var, context_internf(printer->ctx, "%s.elem_offset", printer_buffer(printer, buffer)));
    return true;
}

static void print_elem_offset(Printer *printer, Declared *declared, const Buffer *buffer)
{
    /* A factor without an offset would make the offset a variable when read back, but where the memory is the buffer's own. */
    if (expr_is_int(buffer->elem_offset, 0) && (buffer->offset_factor <= 1 || printer->own_memory))
        return;
    const Var *var = fresh_var(printer, buffer->elem_offset);
    if (var && !printer->for_message)
        declare_before(printer, declared, var);
    print_text(printer, ", elem_offset=");
    print_expression(printer, buffer->elem_offset);
}

static void print_axis_separators(Printer *printer, const Buffer *buffer)
{
    if (!buffer->axis_separator_count)
        return;
    print_text(printer, ", axis_separators=[");
    for (int i = 0; i < buffer->axis_separator_count; i++) {
        print_separator(printer, i);
        strbuf_printf(&printer->out, "%d", buffer->axis_separators[i]);
    }
    print_text(printer, "]");
}

/* The keyword arguments behind shape, dtype and data. */
static void print_layout(Printer *printer, Declared *declared, const Buffer *buffer)
{
    print_strides(printer, declared, buffer);
    bool own_offset = define_own_offset(printer, buffer);
    if (!own_offset)
        print_elem_offset(printer, declared, buffer);
    if (strcmp(buffer->scope, "global")) {
        print_text(printer, ", scope=");
        print_quoted(printer, buffer->scope);
    }
    if (buffer->data_alignment)
        strbuf_printf(&printer->out, ", align=%d", buffer->data_alignment);
    if (own_offset || buffer->offset_factor > !printer->own_memory)
        strbuf_printf(&printer->out, ", offset_factor=%d", buffer->offset_factor > 1 ? buffer->offset_factor : 1);
    if (buffer->auto_broadcast)
        print_text(printer, ", buffer_type=\"auto\"");
    print_axis_separators(printer, buffer);
}

static void define_data(Printer *printer, const Buffer *buffer)
{
    printer_define_as(printer, buffer->data, context_internf(printer->ctx, "%s.data", printer_buffer(printer, buffer)));
}

void print_buffer_annotation(Printer *printer, const Buffer *buffer)
{
    print_text(printer, "T.Buffer(");
    print_tuple(printer, buffer->shape, buffer->ndim);
    print_text(printer, ", ");
    print_dtype(printer, buffer->dtype);
    print_text(printer, ")");
    define_data(printer, buffer);
}

void print_buffer_arguments(Printer *printer, const Buffer *buffer, bool owns_data)
{
    Declared declared = {.names.arena = printer->ctx->arena, .values.arena = printer->ctx->arena};
    print_shape(printer, &declared, buffer);
    if (!dtype_equal(buffer->dtype, DTYPE_FLOAT32)) {
        print_text(printer, ", ");
        print_dtype(printer, buffer->dtype);
    }
    if (owns_data && !printer_knows(printer, buffer->data)) {
        define_data(printer, buffer);
    } else {
        print_text(printer, ", data=");
        print_text(printer, printer_var(printer, buffer->data));
    }
    print_layout(printer, &declared, buffer);
    print_text(printer, ")");
    if (declared.count)
        print_insert_assignment(printer, strbuf_text(&declared.names), strbuf_text(&declared.values));
}

/* The declaration of BUFFER, with data of its own, gives names to nothing else: what it mentions has one. */
static bool names_only_itself(const Printer *printer, const Buffer *buffer)
{
    bool only = !buffer->strides && buffer->elem_offset->kind == EXPR_INT && !printer_knows(printer, buffer->data);
    for (int i = 0; only && i < buffer->ndim; i++)
        only = buffer->shape[i]->kind == EXPR_INT || (buffer->shape[i]->kind == EXPR_VAR && !fresh_var(printer, buffer->shape[i]));
    return only;
}

void print_buffer_line(Printer *printer, const char *method, const Buffer *buffer)
{
    if (printer->wanted && names_only_itself(printer, buffer)) {
        printer_define_as(printer, buffer->data, printer_define_buffer(printer, buffer));
        return;
    }
    print_begin_line(printer);
    print_text(printer, printer_define_buffer(printer, buffer));
    print_text(printer, " = T.");
    print_text(printer, method);
    print_text(printer, "(");
    print_buffer_arguments(printer, buffer, true);
    print_end_line(printer);
}

void print_own_buffer(Printer *printer, const Buffer *buffer)
{
    printer->own_memory = true;
    print_buffer_line(printer, print_spelling(printer->ctx, "alloc_buffer"), buffer);
    printer->own_memory = false;
}
