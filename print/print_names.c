/* Names and lines of printed programs: which spelling each symbol has in its scope, and the text written so far. Names follow the
   reference: a name that is taken gets the first free of _1, _2, ...; siblings reuse names. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "print/print_internal.h"

enum { INDENT_WIDTH = 4 };

Printer printer_new(Context *ctx, bool for_message)
{
    /* names with a meaning of their own in the text */
    static const char *const reserved[] = {"T", "I", "R", "cls", "range", "False", "None", "True", "and", "as", "assert", "async", "await", "break",
        "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
        "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"};
    Printer printer = {.ctx = ctx, .out = {.arena = ctx->arena}, .for_message = for_message};
    for (size_t i = 0; !for_message && i < sizeof reserved / sizeof *reserved; i++)
        printer_reserve(&printer, reserved[i]);
    return printer;
}

static NameEntry *name_entry(Printer *printer, Str name)
{
    NameEntry *entry = map_get(&printer->names, name);
    if (!entry) {
        entry = ARENA_NEW(printer->ctx->arena, NameEntry);
        entry->next_suffix = 1;
        map_set(printer->ctx->arena, &printer->names, name, entry);
    }
    return entry;
}

void printer_reserve(Printer *printer, const char *name)
{
    name_entry(printer, context_intern(printer->ctx, name))->taken = true;
}

int printer_begin_scope(const Printer *printer)
{
    return printer->definitions.count;
}

static void undo_definition(Printer *printer, Definition definition)
{
    map_set(printer->ctx->arena, &printer->texts, definition.symbol, (void *)definition.old_text);
    if (!definition.name)
        return;
    definition.name->taken = false;
    if (definition.base->next_suffix > definition.old_next_suffix)
        definition.base->next_suffix = definition.old_next_suffix;
}

void printer_end_suite(Printer *printer, int mark)
{
    while (printer->definitions.count > mark)
        undo_definition(printer, vec_pop(&printer->definitions));
}

void printer_end_statement(Printer *printer, int mark)
{
    Definition *definitions = printer->definitions.data;
    int count = printer->definitions.count;
    for (int i = count - 1; i >= mark; i--)
        if (!definitions[i].has_line)
            undo_definition(printer, definitions[i]);
    printer->definitions.count = mark;
    for (int i = mark; i < count; i++)
        if (definitions[i].has_line)
            definitions[printer->definitions.count++] = definitions[i];
}

void printer_mark_declared(Printer *printer, const void *symbol)
{
    for (int i = printer->definitions.count - 1; i >= 0; i--)
        if (printer->definitions.data[i].symbol == symbol) {
            printer->definitions.data[i].has_line = true;
            return;
        }
}

/* HINT with every character that no name can hold made an underscore, and one before a digit at its beginning, interned. */
static Str legal_name(Printer *printer, Str hint, const char *fallback)
{
    if (!hint || !*hint)
        return context_intern(printer->ctx, fallback);
    char *copy = NULL;
    for (size_t i = 0; hint[i]; i++) {
        if (hint[i] == '_' || isalnum((unsigned char)hint[i]) || (unsigned char)hint[i] >= 0x80) /* names are UTF-8 */
            continue;
        if (!copy)
            copy = arena_strndup(printer->ctx->arena, hint, strlen(hint));
        copy[i] = '_';
    }
    if (isdigit((unsigned char)*hint))
        return context_internf(printer->ctx, "_%s", copy ? copy : hint);
    return copy ? context_intern(printer->ctx, copy) : hint;
}

static void record_definition(Printer *printer, Definition definition, const char *text)
{
    definition.old_text = map_get(&printer->texts, definition.symbol);
    vec_push(printer->ctx->arena, &printer->definitions, definition);
    map_set(printer->ctx->arena, &printer->texts, definition.symbol, (void *)text);
    if (printer->for_spellings)
        map_set(printer->ctx->arena, &printer->spellings, definition.symbol, (void *)text);
}

const char *printer_define(Printer *printer, const void *symbol, Str hint, const char *fallback)
{
    Str name = legal_name(printer, hint, fallback), base_name = name;
    if (printer->for_message) {
        record_definition(printer, (Definition){.symbol = symbol}, name);
        return name;
    }
    NameEntry *base = name_entry(printer, name), *entry = base;
    int old_next_suffix = base->next_suffix;
    while (entry->taken) {
        name = context_internf(printer->ctx, "%s_%d", base_name, base->next_suffix++);
        entry = name_entry(printer, name);
    }
    entry->taken = true;
    record_definition(printer, (Definition){.symbol = symbol, .name = entry, .base = base, .old_next_suffix = old_next_suffix}, name);
    return name;
}

const char *printer_define_var(Printer *printer, const Var *var)
{
    return printer_define(printer, var, var->name, "v");
}

const char *printer_define_buffer(Printer *printer, const Buffer *buffer)
{
    return printer_define(printer, buffer, buffer->name, "buffer");
}

void printer_define_as(Printer *printer, const void *symbol, const char *text)
{
    record_definition(printer, (Definition){.symbol = symbol}, text);
}

bool printer_knows(const Printer *printer, const void *symbol)
{
    return map_get(&printer->texts, symbol) != NULL;
}

const char *printer_var(Printer *printer, const Var *var)
{
    const char *text = map_get(&printer->texts, var);
    if (text)
        return text;
    if (printer->for_message)
        return var->name && *var->name ? var->name : "v";
    return printer_declare_var(printer, var);
}

const char *printer_declare_var(Printer *printer, const Var *var)
{
    const char *name = printer_define_var(printer, var);
    if (printer->for_message)
        return name;
    printer_mark_declared(printer, var);
    print_insert_assignment(printer, name, printer_var_creation(printer, var));
    return name;
}

const char *printer_buffer(const Printer *printer, const Buffer *buffer)
{
    const char *text = map_get(&printer->texts, buffer);
    return text ? text : buffer->name && *buffer->name ? buffer->name : "buffer";
}

/* --- lines --- */

static void print_indent(StrBuf *out, int indent)
{
    static const char spaces[] = "                                                                ";
    for (int left = indent * INDENT_WIDTH; left > 0; left -= (int)sizeof spaces - 1)
        strbuf_add_bytes(out, spaces, left < (int)sizeof spaces ? (size_t)left : sizeof spaces - 1);
}

void print_begin_line(Printer *printer)
{
    printer->line_start = printer->out.length;
    print_indent(&printer->out, printer->indent);
}

void print_end_line(Printer *printer)
{
    strbuf_add_bytes(&printer->out, "\n", 1);
}

void print_line(Printer *printer, const char *text)
{
    print_begin_line(printer);
    print_text(printer, text);
    print_end_line(printer);
}

void print_insert_assignment(Printer *printer, const char *lhs, const char *rhs)
{
    StrBuf *out = &printer->out;
    size_t start = printer->line_start, begun = out->length - start;
    char *unfinished = begun ? arena_strndup(out->arena, out->text + start, begun) : "";
    out->length = start;
    print_indent(out, printer->indent);
    strbuf_printf(out, "%s = %s\n", lhs, rhs);
    printer->line_start = out->length;
    strbuf_add_bytes(out, unfinished, begun);
}

void print_text(Printer *printer, const char *text)
{
    if (!printer->for_spellings)
        strbuf_add(&printer->out, text);
}

void print_separator(Printer *printer, int index)
{
    if (index)
        print_text(printer, ", ");
}
