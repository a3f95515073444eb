/* Functions and modules as text. */
#include <stdlib.h>
#include <string.h>

#include "print/print_internal.h"
#include "ir/walk.h"

static const char global_symbol[] = "global_symbol";

/* The parameters of a function that the body (or another declaration) mentions by themselves, and how many of the parameters' buffers share
   each data pointer. */
typedef struct {
    Map used;   /* Var -> itself */
    Map shared; /* data Var -> itself, where two buffers have it */
} ParamUses;

typedef struct {
    Context *ctx;
    Map *used;
    uint64_t params; /* one of these is set in an expression that mentions a parameter */
} UseCollector;

static bool collect_handle(Visitor *visitor, const Expr *expr)
{
    UseCollector *collector = visitor->data;
    if (expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE)
        map_set(collector->ctx->arena, collector->used, expr->value.var, expr->value.var);
    return expr->uses & collector->params;
}

static ParamUses param_uses(Context *ctx, const Func *func)
{
    ParamUses uses = {0};
    Map data = {0};
    UseCollector collector = {.ctx = ctx, .used = &uses.used};
    Visitor visitor = {.expr = collect_handle, .data = &collector};
    for (int i = 0; i < func->param_count; i++)
        collector.params |= symbol_bit(func->params[i].param->id);
    visit_stmt(&visitor, func->body);
    for (int i = 0; i < func->param_count; i++) {
        if (!func->params[i].buffer)
            continue;
        Var *pointer = func->params[i].buffer->data;
        map_set(ctx->arena, map_has(&data, pointer) ? &uses.shared : &data, pointer, pointer);
    }
    return uses;
}

static bool prints_in_signature(const ParamUses *uses, const Param *param)
{
    return param->buffer && buffer_is_simple(param->buffer) && !map_has(&uses->used, param->param) &&
           !map_has(&uses->shared, param->buffer->data);
}

const char *print_spelling(const Context *ctx, const char *text)
{
    static const char *const rows[][2] = {
#define X(old_text, new_text) {old_text, new_text},
#include "print/dialect.def"
#undef X
    };
    for (size_t i = 0; ctx->new_spellings && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i][0], text))
            return rows[i][1];
    return text;
}

static void print_param(Printer *printer, const Param *param, bool in_signature)
{
    if (in_signature) {
        print_text(printer, printer_define_buffer(printer, param->buffer));
        print_text(printer, ": ");
        print_buffer_annotation(printer, param->buffer);
        return;
    }
    const char *type = param->buffer ? "T.handle" : printer_var_type(printer, param->param);
    strbuf_printf(&printer->out, "%s: %s", printer_define_var(printer, param->param), type);
}

/* Attributes, but for a global_symbol that only repeats the name. */
static void print_func_attrs(Printer *printer, const Func *func)
{
    const AttrValue *symbol = attrs_get(func->attrs, global_symbol);
    bool omitted =
        symbol && symbol->kind == ATTR_EXPR && symbol->expr->kind == EXPR_STRING && !strcmp(symbol->expr->value.text, func->name);
    if (func->attrs.count == omitted)
        return;
    print_begin_line(printer);
    print_text(printer, "T.func_attr(");
    Attrs attrs = printer->ctx->new_spellings ? attrs_with_prefix(printer->ctx, func->attrs, "tir.", "tirx.") : func->attrs;
    print_attrs(printer, attrs, omitted ? global_symbol : NULL);
    print_text(printer, ")");
    print_end_line(printer);
}

static bool find_block(Visitor *visitor, const Stmt *stmt)
{
    bool *found = visitor->data;
    *found |= stmt->kind == STMT_BLOCK;
    return !*found;
}

static bool holds_block(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.stmt = find_block, .data = &found};
    visit_stmt(&visitor, stmt);
    return found;
}

/* True when the block that is all of BODY comes back by itself when the text without it is read: it states nothing but allocations, and
   what it holds calls for a root block. */
static bool has_implicit_root(const Stmt *body)
{
    if (body->kind != STMT_BLOCK)
        return false;
    const BlockStmt *root = &body->as.block;
    if (strcmp(root->block->name, "root") || root->iter_count || !expr_is_int(root->predicate, 1) || root->annotations.count ||
        root->match_count || root->read_count || root->write_count || root->init)
        return false;
    if (root->alloc_count)
        return true;
    return root->body->kind == STMT_BLOCK ? root->body->as.block.iter_count > 0 : holds_block(root->body);
}

static void print_func_body(Printer *printer, const Func *func)
{
    if (!has_implicit_root(func->body)) {
        print_rest(printer, func->body);
        return;
    }
    print_line(printer, print_spelling(printer->ctx, "# with T.block(\"root\"):"));
    print_block_allocs(printer, &func->body->as.block);
    print_rest(printer, func->body->as.block.body);
}

static void print_matched_params(Printer *printer, const Func *func, const bool *in_signature)
{
    for (int i = 0; i < func->param_count; i++) {
        const Param *param = &func->params[i];
        if (!param->buffer || in_signature[i])
            continue;
        print_begin_line(printer);
        strbuf_printf(&printer->out, "%s = T.match_buffer(%s, ", printer_define_buffer(printer, param->buffer),
                      printer_var(printer, param->param));
        print_buffer_arguments(printer, param->buffer, true);
        print_end_line(printer);
    }
}

static void print_signature(Printer *printer, const Func *func, bool *in_signature)
{
    ParamUses uses = param_uses(printer->ctx, func);
    print_begin_line(printer);
    strbuf_printf(&printer->out, "def %s(", func->name);
    for (int i = 0; i < func->param_count; i++) {
        print_separator(printer, i);
        in_signature[i] = prints_in_signature(&uses, &func->params[i]);
        print_param(printer, &func->params[i], in_signature[i]);
    }
    print_text(printer, ")");
    if (func->return_type.code != DT_VOID)
        strbuf_printf(&printer->out, " -> T.%s", dtype_name(printer->ctx, func->return_type));
    print_text(printer, ":");
    print_end_line(printer);
}

static void print_function(Printer *printer, const Func *func)
{
    int scope = printer_begin_scope(printer);
    bool *in_signature = ARENA_ARRAY(printer->ctx->arena, bool, func->param_count);
    print_line(printer, print_spelling(printer->ctx, func->is_private ? "@T.prim_func(private=True)" : "@T.prim_func"));
    print_signature(printer, func, in_signature);
    printer->indent++;
    size_t start = printer->out.length;
    print_func_attrs(printer, func);
    print_matched_params(printer, func, in_signature);
    print_func_body(printer, func);
    if (printer->out.length == start)
        print_line(printer, "pass");
    printer->indent--;
    printer_end_suite(printer, scope);
}

static void print_functions(Printer *printer, const Func *const *funcs, int count)
{
    for (int i = 0; i < count; i++) {
        if (i)
            print_text(printer, "\n");
        print_function(printer, funcs[i]);
    }
}

/* Functions of a class print by name, main last. */
static int compare_funcs(const void *a, const void *b)
{
    const char *x = (*(const Func *const *)a)->name, *y = (*(const Func *const *)b)->name;
    int x_main = !strcmp(x, "main"), y_main = !strcmp(y, "main");
    return x_main != y_main ? x_main - y_main : strcmp(x, y);
}

static void print_class(Printer *printer, const Module *module)
{
    const Func **sorted = arena_copy(printer->ctx->arena, module->funcs, sizeof *sorted * (size_t)module->func_count);
    qsort(sorted, (size_t)module->func_count, sizeof *sorted, compare_funcs);
    printer_reserve(printer, "Module");
    print_text(printer, "@I.ir_module\nclass Module:\n");
    printer->indent++;
    if (module->attrs.count) {
        print_begin_line(printer);
        print_text(printer, "I.module_attrs(");
        print_attrs(printer, module->attrs, NULL);
        print_text(printer, ")");
        print_end_line(printer);
    }
    print_functions(printer, sorted, module->func_count);
    if (!module->attrs.count && !module->func_count)
        print_line(printer, "pass");
    printer->indent--;
}

const char *print_module(Context *ctx, const Module *module)
{
    Printer printer = printer_new(ctx, false);
    if (!module->bare)
        print_text(&printer, "# from tvm.script import ir as I\n");
    bool uses = module->func_count || module->attrs.count;
    print_text(&printer, uses ? print_spelling(ctx, "# from tvm.script import tir as T\n\n") : "\n");
    if (module->bare)
        print_functions(&printer, module->funcs, module->func_count);
    else
        print_class(&printer, module);
    return strbuf_text(&printer.out);
}

Map print_spellings_in(Context *ctx, const Func *func, const Map *loops)
{
    Printer printer = printer_new(ctx, false);
    printer.for_spellings = true;
    printer.wanted = loops;
    print_function(&printer, func);
    return printer.spellings;
}

Map print_spellings(Context *ctx, const Func *func)
{
    return print_spellings_in(ctx, func, NULL);
}

const char *print_func(Context *ctx, const Func *func)
{
    Printer printer = printer_new(ctx, false);
    print_text(&printer, "# from tvm.script import tir as T\n\n");
    print_function(&printer, func);
    return strbuf_text(&printer.out);
}
