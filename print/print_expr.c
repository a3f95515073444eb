/* Expressions and regions as text, with the reference's parentheses: by precedence, the right operand of an operator also where it binds as
   tightly. A comparison on the left of a comparison gets parentheses too, since the text would chain them. */
#include <math.h>

#include "ir/fold.h"
#include "print/print_internal.h"

enum { PRECEDENCE_NONE = 0 };

static void print_operand(Printer *printer, const Expr *expr, int precedence);

void print_expression(Printer *printer, const Expr *expr)
{
    if (printer->for_spellings && expr->kind == EXPR_INT) /* defines nothing */
        return;
    print_operand(printer, expr, PRECEDENCE_NONE);
}

void print_expressions(Printer *printer, const Expr *const *exprs, int count)
{
    for (int i = 0; i < count; i++) {
        print_separator(printer, i);
        print_expression(printer, exprs[i]);
    }
}

void print_tuple(Printer *printer, const Expr *const *exprs, int count)
{
    print_text(printer, "(");
    print_expressions(printer, exprs, count);
    print_text(printer, count == 1 ? ",)" : ")");
}

/* T.NAME(args) */
static void print_call_form(Printer *printer, const char *name, const Expr *const *args, int count)
{
    print_text(printer, "T.");
    print_text(printer, name);
    print_text(printer, "(");
    print_expressions(printer, args, count);
    print_text(printer, ")");
}

/* The node constructor of KIND, which neither folds nor converts. */
static const char *constructor_name(ExprKind kind)
{
    switch (kind) {
    case EXPR_MOD: return "Mod";
    case EXPR_FLOORDIV: return "FloorDiv";
    case EXPR_FLOORMOD: return "FloorMod";
    case EXPR_MIN: return "Min";
    case EXPR_MAX: return "Max";
    default: return expr_kind_info(kind)->name;
    }
}

static bool is_constant(const Expr *expr)
{
    return expr->kind == EXPR_INT || expr->kind == EXPR_FLOAT;
}

/* True for a constant that is written as a bare number. */
static bool is_bare_number(const Expr *expr)
{
    return expr->kind == EXPR_INT && dtype_equal(expr->dtype, DTYPE_INT32);
}

/* True when the operator between the operands of EXPR, read back, gives EXPR again: it is not refused, converts nothing and folds
   nothing. Two bare numbers would be read as Python's, which never wrap. */
static bool operator_rebuilds(Printer *printer, const Expr *expr)
{
    const Expr *a = expr->args[0], *b = expr->args[1];
    ExprKind kind = (ExprKind)expr->kind;
    if ((kind <= EXPR_MAX && a->dtype.code == DT_BOOL) || ((kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD) && dtype_is_float(a->dtype)))
        return false;
    if (kind >= EXPR_DIV && kind <= EXPR_FLOORMOD && dtype_is_integer(a->dtype) && expr_is_int(b, 0))
        return false;
    if (is_bare_number(a) && is_bare_number(b))
        return false;
    if ((kind == EXPR_AND || kind == EXPR_OR) && expr->dtype.lanes > 1) /* the operator between vectors is a bitwise one */
        return false;
    return !(is_constant(a) || is_constant(b)) || fold_binary(printer->ctx, kind, a, b) == NULL;
}

typedef struct {
    Op op;
    const char *text;
    int precedence;
} BitOperator;

/* The operator of Python's that newer releases write for EXPR, a call; NULL: they write the call, or reading the operator would give another. */
static const BitOperator *bit_operator(const Printer *printer, const Expr *expr)
{
    static const BitOperator operators[] = {{OP_SHIFT_LEFT, "<<", 8}, {OP_SHIFT_RIGHT, ">>", 8}, {OP_BITWISE_AND, "&", 7},
                                            {OP_BITWISE_XOR, "^", 6}, {OP_BITWISE_OR, "|", 5},   {OP_BITWISE_NOT, "~", 11}};
    if (!printer->ctx->new_spellings || expr->kind != EXPR_CALL || !dtype_is_integer(expr->dtype))
        return NULL;
    bool constant = true;
    for (int i = 0; i < expr->arg_count; i++) {
        constant &= is_constant(expr->args[i]);
        if (!dtype_equal(expr->args[i]->dtype, expr->dtype))
            return NULL;
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (expr->value.op == operators[i].op)
            return constant ? NULL : &operators[i];
    return NULL;
}

static bool has_operator_form(Printer *printer, const Expr *expr)
{
    if (expr->kind == EXPR_CALL)
        return bit_operator(printer, expr) != NULL;
    if (!expr_kind_info(expr->kind)->operator_text || (expr->kind == EXPR_DIV && !dtype_is_float(expr->dtype)))
        return false;
    if (expr->kind == EXPR_NOT)
        return expr->args[0]->kind != EXPR_INT;
    return operator_rebuilds(printer, expr);
}

static int operator_precedence(const Printer *printer, const Expr *expr)
{
    const BitOperator *bits = bit_operator(printer, expr);
    return bits ? bits->precedence : expr_kind_info(expr->kind)->precedence;
}

static void print_operator(Printer *printer, const Expr *expr)
{
    int precedence = operator_precedence(printer, expr);
    const BitOperator *bits = bit_operator(printer, expr);
    if (expr->arg_count == 1) {
        print_text(printer, bits ? bits->text : "not ");
        print_operand(printer, expr->args[0], precedence);
        return;
    }
    print_operand(printer, expr->args[0], precedence + expr_is_compare(expr));
    print_text(printer, " ");
    print_text(printer, bits ? bits->text : expr_kind_info(expr->kind)->operator_text);
    print_text(printer, " ");
    print_operand(printer, expr->args[1], precedence + 1);
}

/* A binary kind without an operator of its own, or one that the operator would not give back. */
static void print_binary_call(Printer *printer, const Expr *expr)
{
    bool named = expr->kind == EXPR_MIN || expr->kind == EXPR_MAX || expr->kind == EXPR_MOD;
    const char *name = named && operator_rebuilds(printer, expr) ? expr_kind_info(expr->kind)->name : constructor_name(expr->kind);
    print_call_form(printer, name, expr->args, expr->arg_count);
}

static bool holds_let(const Expr *expr)
{
    bool found = expr->kind == EXPR_LET;
    for (int i = 0; i < expr->arg_count && !found; i++)
        found = holds_let(expr->args[i]);
    return found;
}

/* A slice for a ramp with a positive constant step, else the expression. A slice writes its start twice, which a let must not be. */
static void print_index(Printer *printer, const Expr *index)
{
    int64_t step;
    if (index->kind != EXPR_RAMP || !expr_const_int(index->args[1], &step) || step <= 0 || index->args[0]->dtype.lanes != 1 || dtype_is_scalable(index->dtype) ||
        holds_let(index->args[0])) {
        print_expression(printer, index);
        return;
    }
    const Expr *length = expr_int(printer->ctx, index->args[0]->dtype, step * index->dtype.lanes);
    print_expression(printer, index->args[0]);
    print_text(printer, ":");
    print_sum(printer, index->args[0], length);
    if (step == 1)
        return;
    print_text(printer, ":");
    print_expression(printer, index->args[1]);
}

void print_access(Printer *printer, const Buffer *buffer, const Expr *const *indices, int count)
{
    print_text(printer, printer_buffer(printer, buffer));
    print_text(printer, count ? "[" : "[()");
    for (int i = 0; i < count; i++) {
        print_separator(printer, i);
        print_index(printer, indices[i]);
    }
    print_text(printer, "]");
}

void print_index_list(Printer *printer, const Expr *const *indices, int count)
{
    print_text(printer, "[");
    print_expressions(printer, indices, count);
    print_text(printer, "]");
}

/* TVM 0.27 reads a slice as a region, which is no operand: vectors are loaded with a T.Ramp. */
static bool needs_ramps(const Printer *printer, const Expr *load)
{
    bool vector = false;
    for (int i = 0; i < load->arg_count; i++)
        vector |= load->args[i]->dtype.lanes != 1;
    return vector && printer->ctx->new_spellings && !load->predicated;
}

static void print_load(Printer *printer, const Expr *load)
{
    if (needs_ramps(printer, load)) {
        print_text(printer, printer_buffer(printer, load->value.buffer));
        print_index_list(printer, load->args, load->arg_count);
        return;
    }
    if (!load->predicated) {
        print_access(printer, load->value.buffer, load->args, load->arg_count);
        return;
    }
    print_text(printer, printer_buffer(printer, load->value.buffer));
    print_text(printer, ".vload(");
    print_index_list(printer, load->args, load_index_count(load));
    print_text(printer, ", predicate=");
    print_expression(printer, load_mask(load));
    print_text(printer, ")");
}

void print_sum(Printer *printer, const Expr *begin, const Expr *extent)
{
    if (!dtype_equal(begin->dtype, extent->dtype))
        extent = op_cast(printer->ctx, begin->dtype, extent);
    print_expression(printer, op_add(printer->ctx, begin, extent));
}

void print_buffer_region(Printer *printer, const Region *region)
{
    print_text(printer, printer_buffer(printer, region->buffer));
    print_text(printer, region->buffer->ndim ? "[" : "[()");
    for (int i = 0; i < region->buffer->ndim; i++) {
        Range range = region->ranges[i];
        print_separator(printer, i);
        print_expression(printer, range.min);
        if (expr_is_int(range.extent, 1))
            continue;
        print_text(printer, ":");
        print_sum(printer, range.min, range.extent);
    }
    print_text(printer, "]");
}

/* T.Name(value, lanes) */
static void print_lanes(Printer *printer, const char *name, const Expr *expr, int lanes)
{
    print_text(printer, "T.");
    print_text(printer, name);
    print_text(printer, "(");
    print_expressions(printer, expr->args, expr->arg_count);
    bool scalable = lanes > LANES_SCALABLE;
    int factor = scalable ? lanes - LANES_SCALABLE : lanes;
    strbuf_printf(&printer->out, !scalable ? ", %d)" : factor == 1 ? ", T.vscale())" : ", T.vscale() * %d)", factor);
}

static void print_shuffle(Printer *printer, const Expr *expr)
{
    int vectors = expr->value.split;
    print_text(printer, "T.Shuffle(");
    print_index_list(printer, expr->args, vectors);
    print_text(printer, ", ");
    print_index_list(printer, expr->args + vectors, expr->arg_count - vectors);
    print_text(printer, ")");
}

/* T.Let(body, where={var: value}). Each let has a name of its own, also where an expression with one stands twice: reading makes two
   variables. */
static void print_let_expression(Printer *printer, const Expr *expr)
{
    const char *name = printer_declare_var(printer, expr->value.var);
    print_text(printer, "T.Let(");
    print_expression(printer, expr->args[1]);
    print_text(printer, ", where={");
    print_text(printer, name);
    print_text(printer, ": ");
    print_expression(printer, expr->args[0]);
    print_text(printer, "})");
}

/* The results of the combiner of REDUCER, which is such results under two lets for each identity (parameters of the left and of the right
   side); NULL when it is of another form. */
static const Expr *reducer_results(const Expr *reducer)
{
    const Expr *results = reducer->args[0], *identities = reducer->args[1];
    if (!expr_is_call(identities, OP_TVM_TUPLE))
        return NULL;
    for (int i = 0; i < 2 * identities->arg_count; i++) {
        if (results->kind != EXPR_LET || !expr_equal(results->args[0], identities->args[i % identities->arg_count]))
            return NULL;
        results = results->args[1];
    }
    return expr_is_call(results, OP_TVM_TUPLE) ? results : NULL;
}

/* T.comm_reducer(lambda x, y: x + y, [identity]) */
static void print_reducer(Printer *printer, const Expr *reducer, const Expr *results)
{
    const Expr *identities = reducer->args[1], *let = reducer->args[0];
    int scope = printer_begin_scope(printer);
    print_text(printer, "T.comm_reducer(lambda ");
    for (int i = 0; i < 2 * identities->arg_count; i++, let = let->args[1]) {
        print_separator(printer, i);
        print_text(printer, printer_define_var(printer, let->value.var));
    }
    print_text(printer, ": ");
    if (results->arg_count == 1)
        print_expression(printer, results->args[0]);
    else
        print_tuple(printer, results->args, results->arg_count);
    printer_end_statement(printer, scope);
    print_text(printer, ", ");
    print_index_list(printer, identities->args, identities->arg_count);
    print_text(printer, ")");
}

/* Module.NAME(args) */
static void print_func_call(Printer *printer, const Expr *expr)
{
    strbuf_printf(&printer->out, "Module.%s(", expr->args[0]->value.text);
    print_expressions(printer, expr->args + 1, expr->arg_count - 1);
    print_text(printer, ")");
}

/* Where the text of a call states its type: for results that nothing else gives. */
static void print_call(Printer *printer, const Expr *expr)
{
    if (expr->value.op == OP_CALL_FUNC) {
        print_func_call(printer, expr);
        return;
    }
    const OpInfo *info = op_info(expr->value.op);
    const Expr *results = expr->value.op == OP_COMM_REDUCER ? reducer_results(expr) : NULL;
    if (results) {
        print_reducer(printer, expr, results);
        return;
    }
    bool typed = info->result == RESULT_GIVEN, typed_last = typed && expr->value.op == OP_TVM_STRUCT_GET;
    print_text(printer, "T.");
    print_text(printer, expr_is_call(expr, OP_CALL_PURE_INTRIN) ? op_info(OP_CALL_INTRIN)->name : info->name);
    print_text(printer, "(");
    if (typed && !typed_last) {
        print_dtype(printer, expr->dtype);
        print_separator(printer, expr->arg_count);
    }
    print_expressions(printer, expr->args, expr->arg_count);
    if (typed_last) {
        print_separator(printer, expr->arg_count);
        print_dtype(printer, expr->dtype);
    }
    print_text(printer, ")");
}

static void print_int(Printer *printer, const Expr *expr)
{
    if (is_bare_number(expr)) {
        print_integer(printer, expr->dtype, expr->value.integer);
        return;
    }
    print_text(printer, "T.");
    print_text(printer, dtype_name(printer->ctx, expr->dtype));
    print_text(printer, "(");
    print_integer(printer, expr->dtype, expr->value.integer);
    print_text(printer, ")");
}

static void print_float(Printer *printer, const Expr *expr)
{
    print_text(printer, "T.");
    print_text(printer, dtype_name(printer->ctx, expr->dtype));
    print_text(printer, "(");
    print_real(printer, isfinite(expr->value.real) ? expr->value.literal : expr->value.real);
    print_text(printer, ")");
}

static void print_cast(Printer *printer, const Expr *expr)
{
    print_text(printer, "T.Cast(");
    print_dtype(printer, expr->dtype);
    print_text(printer, ", ");
    print_expression(printer, expr->args[0]);
    print_text(printer, ")");
}

/* Everything that is not an operator between operands; binds tighter than any operator. */
static void print_primary(Printer *printer, const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_VAR: print_text(printer, printer_var(printer, expr->value.var)); break;
    case EXPR_INT: print_int(printer, expr); break;
    case EXPR_FLOAT: print_float(printer, expr); break;
    case EXPR_STRING: print_quoted(printer, expr->value.text); break;
    case EXPR_CAST: print_cast(printer, expr); break;
    case EXPR_LOAD: print_load(printer, expr); break;
    case EXPR_RAMP: print_lanes(printer, "Ramp", expr, expr->dtype.lanes); break;
    case EXPR_BROADCAST: print_lanes(printer, "Broadcast", expr, expr->dtype.lanes / expr->args[0]->dtype.lanes); break;
    case EXPR_SHUFFLE: print_shuffle(printer, expr); break;
    case EXPR_LET: print_let_expression(printer, expr); break;
    case EXPR_CALL: print_call(printer, expr); break;
    case EXPR_NOT:
    case EXPR_SELECT: print_call_form(printer, expr_kind_info(expr->kind)->name, expr->args, expr->arg_count); break;
    default: print_binary_call(printer, expr); break;
    }
}

/* EXPR, in parentheses where it binds less tightly than PRECEDENCE. */
static void print_operand(Printer *printer, const Expr *expr, int precedence)
{
    if (!has_operator_form(printer, expr)) {
        print_primary(printer, expr);
        return;
    }
    bool parentheses = operator_precedence(printer, expr) < precedence;
    if (parentheses)
        print_text(printer, "(");
    print_operator(printer, expr);
    if (parentheses)
        print_text(printer, ")");
}

const char *printer_var_type(const Printer *printer, const Var *var)
{
    Context *ctx = printer->ctx;
    if (var->dtype.code != DT_HANDLE || var->pointee.code == DT_VOID)
        return context_internf(ctx, "T.%s", dtype_name(ctx, var->dtype));
    const char *element = dtype_name(ctx, var->pointee);
    if (!var->pointee_scope || !*var->pointee_scope)
        return context_internf(ctx, "T.handle(\"%s\")", element);
    return context_internf(ctx, "T.handle(\"%s\", \"%s\")", element, var->pointee_scope);
}

const char *printer_var_creation(const Printer *printer, const Var *var)
{
    const char *type = printer_var_type(printer, var);
    bool called = var->dtype.code == DT_HANDLE && var->pointee.code != DT_VOID;
    if (var->is_size && !called)
        return context_internf(printer->ctx, "%s(is_size_var=True)", type);
    return called ? type : context_internf(printer->ctx, "%s()", type);
}

/* --- for messages --- */

const char *print_expr(Context *ctx, const Expr *expr)
{
    Printer printer = printer_new(ctx, true);
    print_expression(&printer, expr);
    return strbuf_text(&printer.out);
}

const char *print_region(Context *ctx, const Region *region)
{
    Printer printer = printer_new(ctx, true);
    print_buffer_region(&printer, region);
    return strbuf_text(&printer.out);
}
