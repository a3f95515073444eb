/* Collecting diagnostics; see diag.h. */
#include "support/diag.h"

#include "support/context.h"
#include "support/diag_print.h"

DiagOptions diag_options_default(void)
{
    return (DiagOptions){.warnings = warning_settings_default(), .error_limit = 20};
}

static bool beyond_limit(const Context *ctx)
{
    return ctx->diag_options.error_limit > 0 && ctx->error_count > ctx->diag_options.error_limit;
}

static void diag_add(Context *ctx, Severity severity, Warning warning, Span span, const char *format, va_list args)
{
    if (severity == DIAG_ERROR)
        ctx->error_count++;
    ctx->notes_dropped = beyond_limit(ctx) || (severity == DIAG_NOTE && ctx->notes_dropped);
    if (ctx->notes_dropped)
        return;
    Diagnostic diagnostic = {.severity = severity, .span = span, .warning = warning};
    diagnostic.text = arena_vprintf(ctx->base_arena, format, args);
    vec_push(ctx->base_arena, &ctx->diagnostics, diagnostic);
}

bool diag_warns(const Context *ctx, Warning warning)
{
    return ctx->diag_options.warnings.on[warning] && !ctx->diag_options.warnings.none;
}

static void warning_add(Context *ctx, Warning warning, Span span, const char *format, va_list args)
{
    const WarningSettings *settings = &ctx->diag_options.warnings;
    bool error = settings->error[warning] || (settings->all_are_errors && !settings->not_error[warning]);
    if (diag_warns(ctx, warning))
        diag_add(ctx, error ? DIAG_ERROR : DIAG_WARNING, warning, span, format, args);
    else
        ctx->notes_dropped = true;
}

void diag_error(Context *ctx, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_add(ctx, DIAG_ERROR, NO_WARNING, span, format, args);
    va_end(args);
}

void diag_warning(Context *ctx, Warning warning, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    warning_add(ctx, warning, span, format, args);
    va_end(args);
}

void diag_error_or_warning(Context *ctx, bool error, Warning warning, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (error)
        diag_add(ctx, DIAG_ERROR, NO_WARNING, span, format, args);
    else
        warning_add(ctx, warning, span, format, args);
    va_end(args);
}

void diag_note(Context *ctx, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_add(ctx, DIAG_NOTE, NO_WARNING, span, format, args);
    va_end(args);
}

void diag_edit(Context *ctx, Span span, const char *text)
{
    if (ctx->notes_dropped || !span.file)
        return;
    for (int i = ctx->diagnostics.count - 1; i >= ctx->flushed_diagnostics; i--) {
        Diagnostic *diagnostic = &ctx->diagnostics.data[i];
        if (diagnostic->severity == DIAG_NOTE)
            continue;
        DiagEdit edit = {span, arena_strndup(ctx->base_arena, text, strlen(text))};
        vec_push(ctx->base_arena, &diagnostic->edits, edit);
        return;
    }
}

void diag_edit_string(Context *ctx, Span span, const char *text)
{
    if (!span.file || !text || strpbrk(text, "\"\\\n"))
        return;
    const SourceFile *file = source_file(ctx->sources, span.file);
    char first = span.begin < file->length ? file->text[span.begin] : 0;
    if (first == '"' || first == '\'')
        diag_edit(ctx, span, arena_printf(ctx->base_arena, "%c%s%c", first, text, first));
}

int diag_error_count(const Context *ctx)
{
    return ctx->error_count;
}

DiagMark diag_mark(const Context *ctx)
{
    return (DiagMark){ctx->diagnostics.count, ctx->error_count};
}

void diag_rollback(Context *ctx, DiagMark mark)
{
    ctx->diagnostics.count = mark.count;
    ctx->error_count = mark.errors;
    ctx->notes_dropped = beyond_limit(ctx);
}

void diag_forget_warnings(Context *ctx, DiagMark mark)
{
    int kept = mark.count;
    bool forget = false;
    for (int i = mark.count; i < ctx->diagnostics.count; i++) {
        Severity severity = ctx->diagnostics.data[i].severity;
        forget = severity == DIAG_NOTE ? forget : severity == DIAG_WARNING;
        if (!forget)
            ctx->diagnostics.data[kept++] = ctx->diagnostics.data[i];
    }
    ctx->diagnostics.count = kept;
}

const char *diag_first_error(const Context *ctx, DiagMark mark)
{
    for (int i = mark.count; i < ctx->diagnostics.count; i++)
        if (ctx->diagnostics.data[i].severity == DIAG_ERROR)
            return ctx->diagnostics.data[i].text;
    return NULL;
}

/* How many notes follow the diagnostic at INDEX. */
static int count_notes(const Context *ctx, int index)
{
    int count = 0;
    while (index + 1 + count < ctx->diagnostics.count && ctx->diagnostics.data[index + 1 + count].severity == DIAG_NOTE)
        count++;
    return count;
}

static void print_one(const Context *ctx, FILE *out, const Diagnostic *diagnostic, int note_count, bool color)
{
    if (ctx->diag_options.json)
        diag_print_json(ctx, out, diagnostic, note_count);
    else
        for (int i = 0; i <= note_count; i++)
            diag_print_text(ctx, out, &diagnostic[i], color);
}

void diag_flush(Context *ctx, FILE *out, bool color)
{
    bool any = ctx->flushed_diagnostics < ctx->diagnostics.count;
    for (int i = ctx->flushed_diagnostics; i < ctx->diagnostics.count;) {
        int note_count = count_notes(ctx, i);
        print_one(ctx, out, &ctx->diagnostics.data[i], note_count, color);
        i += 1 + note_count;
    }
    if (any && beyond_limit(ctx)) {
        int more = ctx->error_count - ctx->diag_options.error_limit;
        Diagnostic rest = {.severity = DIAG_NOTE, .warning = NO_WARNING};
        rest.text = arena_printf(ctx->base_arena, "%d more error%s not shown (-ferror-limit=%d)", more, more == 1 ? " is" : "s are",
                                 ctx->diag_options.error_limit);
        print_one(ctx, out, &rest, 0, color);
    }
    ctx->flushed_diagnostics = ctx->diagnostics.count;
}

void diag_say(const Context *ctx, FILE *out, const char *text)
{
    Diagnostic note = {.severity = DIAG_NOTE, .text = text, .warning = NO_WARNING};
    if (ctx->diag_options.json)
        diag_print_json(ctx, out, &note, 0);
    else
        fprintf(out, "tirc: %s\n", text);
}

void diag_clear(Context *ctx)
{
    ctx->diagnostics.count = ctx->flushed_diagnostics = ctx->error_count = 0;
    ctx->notes_dropped = false;
}
