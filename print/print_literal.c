/* Constants, strings, types and attribute dictionaries as the text writes them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/print_internal.h"

void print_integer(Printer *printer, DType dtype, int64_t value)
{
    char text[32];
    if (dtype.code == DT_BOOL)
        snprintf(text, sizeof text, "%s", value ? "True" : "False");
    else if (dtype.code == DT_UINT)
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value);
    else
        snprintf(text, sizeof text, "%" PRId64, value);
    print_text(printer, text);
}

void print_real(Printer *printer, double value)
{
    enum { LONGEST = 340 }; /* the digits of the largest double, its sign, ".0" */
    char text[LONGEST];
    if (isnan(value))
        strcpy(text, "\"nan\"");
    else if (isinf(value))
        strcpy(text, value > 0 ? "\"inf\"" : "\"-inf\"");
    else
        snprintf(text, sizeof text, nearbyint(value) == value ? "%.1f" : "%.17g", value);
    print_text(printer, text);
}

void print_quoted(Printer *printer, const char *text)
{
    static const char escaped[] = "\n\t\r\\\"", letters[] = "ntr\\\"";
    print_text(printer, "\"");
    for (const char *c = text; *c; c++) {
        const char *found = strchr(escaped, *c);
        if (found)
            strbuf_printf(&printer->out, "\\%c", letters[found - escaped]);
        else if ((unsigned char)*c < 32 || *c == 127)
            strbuf_printf(&printer->out, "\\x%02X", (unsigned char)*c);
        else
            strbuf_add_bytes(&printer->out, c, 1);
    }
    print_text(printer, "\"");
}

void print_dtype(Printer *printer, DType dtype)
{
    print_text(printer, "\"");
    print_text(printer, dtype_name(printer->ctx, dtype));
    print_text(printer, "\"");
}

/* T.target(config), T.target(config, host=host): stands as a dictionary with the single key "T.target". */
static bool print_target(Printer *printer, const AttrValue *value)
{
    if (value->count != 1 || strcmp(value->entries[0].key, "T.target"))
        return false;
    const AttrValue *target = value->entries[0].value;
    bool hosted = target->kind == ATTR_LIST && target->count == 2;
    print_text(printer, "T.target(");
    print_attr_value(printer, hosted ? target->items[0] : target);
    if (hosted) {
        print_text(printer, ", host=");
        print_attr_value(printer, target->items[1]);
    }
    print_text(printer, ")");
    return true;
}

void print_attr_value(Printer *printer, const AttrValue *value)
{
    switch (value->kind) {
    case ATTR_EXPR:
        if (value->untyped && value->expr->kind == EXPR_FLOAT)
            print_real(printer, value->expr->value.real);
        else if (value->untyped && value->expr->dtype.code == DT_BOOL && printer->ctx->new_spellings)
            print_text(printer, value->expr->value.integer ? "True" : "False");
        else if (value->untyped && value->expr->dtype.code != DT_BOOL)
            print_integer(printer, value->expr->dtype, value->expr->value.integer);
        else
            print_expression(printer, value->expr);
        break;
    case ATTR_NONE: print_text(printer, "None"); break;
    case ATTR_TEXT: print_text(printer, value->text); break;
    case ATTR_BUFFER: print_text(printer, printer_buffer(printer, value->buffer)); break;
    case ATTR_DICT:
        if (!print_target(printer, value))
            print_attrs(printer, (Attrs){value->entries, value->count}, NULL);
        break;
    case ATTR_LIST:
        print_text(printer, "[");
        for (int i = 0; i < value->count; i++) {
            print_separator(printer, i);
            print_attr_value(printer, value->items[i]);
        }
        print_text(printer, "]");
        break;
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const Attr *)a)->key, ((const Attr *)b)->key);
}

void print_attrs(Printer *printer, Attrs attrs, const char *omitted)
{
    Attr *sorted = arena_copy(printer->ctx->arena, attrs.entries, sizeof *sorted * (size_t)attrs.count);
    qsort(sorted, (size_t)attrs.count, sizeof *sorted, compare_keys);
    print_text(printer, "{");
    for (int i = 0, printed = 0; i < attrs.count; i++) {
        if (omitted && !strcmp(sorted[i].key, omitted))
            continue;
        print_separator(printer, printed++);
        print_quoted(printer, sorted[i].key);
        print_text(printer, ": ");
        print_attr_value(printer, sorted[i].value);
    }
    print_text(printer, "}");
}
