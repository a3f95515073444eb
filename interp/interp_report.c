/* The words of findings: who did it, to which element, in which iteration. */
#include <stdarg.h>

#include "interp/interp_internal.h"
#include "support/strbuf.h"

const char *report_tuple(Thread *thread, const int64_t *values, int count)
{
    StrBuf text = {.arena = thread->run->arena};
    for (int i = 0; i < count; i++)
        strbuf_printf(&text, "%s%lld", i ? ", " : "", (long long)values[i]);
    return count ? strbuf_text(&text) : "()";
}

const char *report_element(Thread *thread, const Access *access, const Memory *memory, int64_t byte)
{
    Arena *arena = thread->run->arena;
    const BufferInfo *candidates[] = {access ? access->buffer : NULL, memory->buffer};
    for (int i = 0; i < 2; i++) {
        const BufferInfo *buffer = candidates[i];
        int64_t coordinates[buffer ? buffer->buffer->ndim + 1 : 1];
        if (buffer && buffer_coordinates(thread, buffer, memory, byte, coordinates))
            return arena_printf(arena, "%s[%s]", buffer->buffer->name, report_tuple(thread, coordinates, buffer->buffer->ndim));
    }
    return arena_printf(arena, "element %lld of '%s'", (long long)(byte / memory->cell_bytes), memory->name);
}

/* The tags of a block or thread with their indices, from its row-major number. */
static const char *tag_indices(Thread *thread, const Iteration *iteration)
{
    const Kernel *kernel = iteration->execution->kernel;
    bool blocks = iteration->execution->kind == CONCURRENT_BLOCKS;
    int64_t index[kernel->tag_count + 1], rest = iteration->value;
    for (int i = kernel->tag_count - 1; i >= 0; i--)
        if (kernel->tags[i].is_block == blocks) {
            index[i] = rest % iteration->execution->extents[i];
            rest /= iteration->execution->extents[i];
        }
    StrBuf text = {.arena = thread->run->arena};
    for (int i = 0; i < kernel->tag_count; i++)
        if (kernel->tags[i].is_block == blocks && !(iteration->merged_tags >> i & 1))
            strbuf_printf(&text, "%s%s = %lld", text.length ? ", " : "", kernel->tags[i].name, (long long)index[i]);
    return text.length ? strbuf_text(&text) : "all threads";
}

const char *report_iteration(Thread *thread, const Iteration *iteration)
{
    if (iteration->execution->kernel)
        return tag_indices(thread, iteration);
    return arena_printf(thread->run->arena, "%s = %lld", iteration->execution->loop, (long long)iteration->value);
}

/* "i = 3, k = 0": the loops around the statement being executed, from the outside. */
static void add_loops(Thread *thread, const Scope *scope, StrBuf *text)
{
    if (!scope)
        return;
    add_loops(thread, scope->parent, text);
    if (scope->loop)
        strbuf_printf(text, "%s%s = %lld", text->length ? ", " : "", scope->loop, (long long)thread->slots[scope->slot].integer);
}

static Span innermost_loop(const Scope *scope)
{
    while (scope && !scope->loop)
        scope = scope->parent;
    return scope ? scope->span : span_none();
}

static bool is_first(Run *run, InterpFinding kind, const void *place)
{
    uintptr_t kinds = (uintptr_t)map_get(&run->reported, place);
    if (kinds >> kind & 1)
        return false;
    map_set(run->arena, &run->reported, place, (void *)(kinds | (uintptr_t)1 << kind));
    return true;
}

static void count_finding(Run *run, InterpFinding kind)
{
    int limit = run->options->finding_limit ? run->options->finding_limit : 20;
    run->result.kinds |= 1u << kind;
    run->result.finding_count++;
    bool ends = kind == INTERP_ASSERTION || kind == INTERP_UNSUPPORTED || kind == INTERP_STEP_LIMIT || kind == INTERP_CALL;
    if (ends || run->result.finding_count >= limit)
        run->stopped = true;
}

static bool report(Thread *thread, InterpFinding kind, const void *place, Span span, const char *format, va_list args)
{
    Run *run = thread->run;
    thread->undeclared |= thread->declaring;
    if (thread->declaring || run->stopped || !is_first(run, kind, place))
        return false;
    const char *text = arena_vprintf(run->arena, format, args);
    const BlockInfo *block = thread->block;
    const Scope *scope = thread->place ? thread->place->scope : NULL;
    if (!span.file && thread->place)
        span = thread->place->span;
    if (block && !block->implicit_root)
        diag_error(run->ctx, span, "block '%s' %s", block->source->block->name, text);
    else
        diag_error(run->ctx, span, "function '%s' %s", run->program->func->name, text);
    StrBuf loops = {.arena = run->arena};
    add_loops(thread, scope, &loops);
    if (loops.length)
        diag_note(run->ctx, innermost_loop(scope), "at %s", loops.text);
    count_finding(run, kind);
    return true;
}

bool report_finding(Thread *thread, InterpFinding kind, const void *place, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool first = report(thread, kind, place, span, format, args);
    va_end(args);
    return first;
}

bool report_here(Thread *thread, InterpFinding kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const void *place = thread->place ? (const void *)thread->place->source : (const void *)thread->run;
    bool first = report(thread, kind, place, thread->place ? thread->place->span : span_none(), format, args);
    va_end(args);
    return first;
}

void report_note(Thread *thread, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_note(thread->run->ctx, span, "%s", arena_vprintf(thread->run->arena, format, args));
    va_end(args);
}
