/* Blocks as text: axes, where, reads, writes, block_attr, alloc_buffer, match_buffer, init, body. */
#include "print/print_internal.h"
#include "ir/walk.h"

/* True when T.axis.remap can state axis I: a spatial or reduce axis bound to a loop variable over exactly its domain. */
static bool axis_remaps(const Printer *printer, const BlockStmt *block, int i)
{
    const Iter *iter = &block->iters[i];
    if ((iter->kind != ITER_SPATIAL && iter->kind != ITER_REDUCE) || block->bindings[i]->kind != EXPR_VAR)
        return false;
    const ForStmt *loop = map_get(&printer->loops, block->bindings[i]->value.var);
    return loop && expr_equal(loop->min, iter->domain.min) && expr_equal(loop->extent, iter->domain.extent);
}

static const char *axis_function(IterKind kind)
{
    switch (kind) {
    case ITER_SPATIAL: return "spatial";
    case ITER_REDUCE: return "reduce";
    case ITER_SCAN: return "scan";
    case ITER_OPAQUE: return "opaque";
    }
    return NULL;
}

static void print_axis(Printer *printer, const Iter *iter, const Expr *binding)
{
    print_begin_line(printer);
    strbuf_printf(&printer->out, "%s = T.axis.%s(", printer_define_var(printer, iter->var), axis_function(iter->kind));
    if (expr_is_int(iter->domain.min, 0)) {
        print_expression(printer, iter->domain.extent);
    } else {
        print_text(printer, "(");
        print_expression(printer, iter->domain.min);
        print_text(printer, ", ");
        print_sum(printer, iter->domain.min, iter->domain.extent);
        print_text(printer, ")");
    }
    print_text(printer, ", ");
    print_expression(printer, binding);
    print_text(printer, ")");
    print_end_line(printer);
}

/* Axes FIRST up to END in one line. */
static void print_remap(Printer *printer, const BlockStmt *block, int first, int end)
{
    print_begin_line(printer);
    for (int i = first; i < end; i++) {
        print_separator(printer, i - first);
        print_text(printer, printer_define_var(printer, block->iters[i].var));
    }
    print_text(printer, " = T.axis.remap(\"");
    for (int i = first; i < end; i++)
        print_text(printer, block->iters[i].kind == ITER_SPATIAL ? "S" : "R");
    print_text(printer, "\", [");
    print_expressions(printer, block->bindings + first, end - first);
    print_text(printer, "])");
    print_end_line(printer);
}

static void print_axes(Printer *printer, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count;) {
        int end = i;
        while (end < block->iter_count && axis_remaps(printer, block, end))
            end++;
        if (end - i > 1) {
            print_remap(printer, block, i, end);
            i = end;
        } else {
            print_axis(printer, &block->iters[i], block->bindings[i]);
            i++;
        }
    }
}

static void print_regions(Printer *printer, const char *function, const Region *regions, int count)
{
    print_begin_line(printer);
    print_text(printer, function);
    print_text(printer, "(");
    for (int i = 0; i < count; i++) {
        print_separator(printer, i);
        print_buffer_region(printer, &regions[i]);
    }
    print_text(printer, ")");
    print_end_line(printer);
}

void print_block_allocs(Printer *printer, const BlockStmt *block)
{
    for (int i = 0; i < block->alloc_count; i++)
        print_own_buffer(printer, block->allocs[i]);
}

static void print_match(Printer *printer, const MatchBuffer *match)
{
    print_begin_line(printer);
    strbuf_printf(&printer->out, "%s = T.match_buffer(", printer_define_buffer(printer, match->target));
    print_buffer_region(printer, &match->source);
    print_text(printer, ", ");
    print_buffer_arguments(printer, match->target, true);
    print_end_line(printer);
}

static void print_block_head(Printer *printer, const BlockStmt *block)
{
    print_axes(printer, block);
    if (!expr_is_int(block->predicate, 1)) {
        print_begin_line(printer);
        print_text(printer, "T.where(");
        print_expression(printer, block->predicate);
        print_text(printer, ")");
        print_end_line(printer);
    }
    bool groups = block_only_groups(block), open = !groups && (block->incomplete || block_keeps_regions_inferred(block));
    if (!open || !block->reads_inferred)
        print_regions(printer, "T.reads", block->reads, groups ? 0 : block->read_count);
    if (!open || !block->writes_inferred)
        print_regions(printer, "T.writes", block->writes, groups ? 0 : block->write_count);
    if (block->annotations.count) {
        print_begin_line(printer);
        print_text(printer, print_spelling(printer->ctx, "T.block_attr("));
        print_attrs(printer, block->annotations, NULL);
        print_text(printer, ")");
        print_end_line(printer);
    }
    print_block_allocs(printer, block);
    for (int i = 0; i < block->match_count; i++)
        print_match(printer, &block->matches[i]);
}

void print_block(Printer *printer, const BlockStmt *block)
{
    print_begin_line(printer);
    print_text(printer, "with ");
    print_text(printer, print_spelling(printer->ctx, "T.block("));
    print_quoted(printer, block->block->name);
    print_text(printer, "):");
    print_end_line(printer);
    int scope = printer_begin_scope(printer);
    printer->indent++;
    print_block_head(printer, block);
    if (block->init) {
        print_line(printer, "with T.init():");
        print_suite(printer, block->init);
    }
    print_rest(printer, block->body);
    printer->indent--;
    printer_end_suite(printer, scope);
}
