/* --remarks: what the machine code of each loop does, at the lines of the program, with the loops of the schedule that went into it.

   The program is compiled to assembly with debug information, beside what else is made of it. The parts of the machine code that come from
   one line and lie in one loop of the machine are one remark: code that is in no loop any more, since it was unrolled, has remarks too. */
#include <string.h>

#include "codegen/llvm/machine_code.h"
#include "driver/driver.h"
#include "ir/walk.h"
#include "support/bug.h"
#include "support/strbuf.h"

typedef VEC(const Stmt *) LoopList;

/* The vectorized and unrolled loops of the scheduled program around the statements of one line. */
typedef struct {
    Context *ctx;
    const CodePart *part;
    LoopList open, found;
    VEC(const Stmt *) around; /* the statements around that have a place */
} LoopFinder;

/* Names of files are compared without folders: that is how debug information may name them. */
static bool is_same_file(const char *a, const char *b)
{
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    return !strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b);
}

/* A statement that a step made may have no place; its code then has that of what is around it. */
static bool is_on_line(const LoopFinder *finder)
{
    Place place;
    return finder->around.count && source_place(finder->ctx->sources, vec_last(&finder->around)->span, &place) &&
           place.line == finder->part->line && finder->part->file && is_same_file(place.file->name, finder->part->file);
}

static void note_loops(LoopFinder *finder)
{
    for (int i = 0; i < finder->open.count; i++) {
        const Stmt *loop = finder->open.data[i];
        bool known = loop->as.loop.kind != FOR_VECTORIZED && loop->as.loop.kind != FOR_UNROLLED;
        for (int j = 0; j < finder->found.count && !known; j++)
            known = finder->found.data[j] == loop;
        if (!known)
            vec_push(finder->ctx->arena, &finder->found, loop);
    }
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    LoopFinder *finder = visitor->data;
    Place place;
    if (stmt->kind == STMT_FOR)
        vec_push(finder->ctx->arena, &finder->open, stmt);
    if (source_place(finder->ctx->sources, stmt->span, &place))
        vec_push(finder->ctx->arena, &finder->around, stmt);
    if ((stmt->kind == STMT_STORE || stmt->kind == STMT_EVALUATE) && is_on_line(finder))
        note_loops(finder);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    LoopFinder *finder = visitor->data;
    if (finder->around.count && vec_last(&finder->around) == stmt)
        (void)vec_pop(&finder->around);
    if (stmt->kind == STMT_FOR)
        (void)vec_pop(&finder->open);
}

static LoopList loops_of_part(Driver *driver, const CodePart *part)
{
    LoopFinder finder = {.ctx = driver->ctx, .part = part};
    Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &finder};
    for (int i = 0; i < driver->program->module->func_count; i++)
        visit_stmt(&visitor, driver->program->module->funcs[i]->body);
    return finder.found;
}

/* --- What is worth a remark --- */

static bool has_vector_work(const CodePart *part)
{
    static const CodeKind kinds[] = {CODE_MULTIPLY_ADD, CODE_ARITHMETIC, CODE_DIVISION, CODE_LOAD,  CODE_STORE,
                                     CODE_GATHER,       CODE_SCATTER,    CODE_SHUFFLE,  CODE_SPILL, CODE_RELOAD};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (part->counts[kinds[i]])
            return true;
    return false;
}

static bool has_any_work(const CodePart *part)
{
    for (int kind = 0; kind < CODE_COUNT; kind++)
        if (part->counts[kind])
            return true;
    return false;
}

static bool is_worth_it(const CodePart *part, const LoopList *loops)
{
    return part->line > 0 && (has_vector_work(part) || (has_any_work(part) && (part->loop->innermost || loops->count)));
}

/* --- Text --- */

static const char *extent_text(Context *ctx, const Stmt *loop)
{
    int64_t extent;
    return expr_const_int(loop->as.loop.extent, &extent) ? arena_printf(ctx->arena, " (%lld)", (long long)extent) : "";
}

static void add_loops(Context *ctx, StrBuf *text, const LoopList *loops, ForKind kind, const char *word)
{
    bool first = true;
    for (int i = 0; i < loops->count; i++)
        if (loops->data[i]->as.loop.kind == kind) {
            strbuf_printf(text, "%s%s%s", first ? word : ", ", loops->data[i]->as.loop.var->name, extent_text(ctx, loops->data[i]));
            first = false;
        }
}

static void add_counts(StrBuf *text, const CodePart *part)
{
    const char *before = ": ";
    for (int kind = 0; kind < CODE_COUNT; kind++) {
        const CodeKindInfo *info = code_kind_info((CodeKind)kind);
        int count = part->counts[kind];
        if (count)
            strbuf_printf(text, "%s%d %s", before, count, count == 1 ? info->one : info->several);
        if (count && kind == CODE_CALL && part->callees.count && part->callees.data[0])
            strbuf_printf(text, " (%s)", part->callees.data[0]);
        before = count ? ", " : before;
    }
}

static void print_text(Driver *driver, const CodePart *part, const LoopList *loops, int vector_bytes)
{
    StrBuf text = {.arena = driver->ctx->arena};
    const CodeLoop *loop = part->loop;
    const char *limit = "";
    strbuf_printf(&text, "%s:%d:%d: ", part->file, part->line, part->column);
    if (loop->label)
        strbuf_printf(&text, "%sloop '%s' of %s", loop->innermost ? "innermost " : "", loop->name ? loop->name : loop->label, loop->function);
    else
        strbuf_printf(&text, "no loop of %s", loop->function);
    if (loop->rounds > 1)
        strbuf_printf(&text, ", %d rounds at once", loop->rounds);
    add_counts(&text, part);
    if (part->lanes > 1)
        strbuf_printf(&text, "; %d lanes in registers of %d bits", part->lanes, part->vector_bytes * 8);
    add_loops(driver->ctx, &text, loops, FOR_VECTORIZED, "; vectorized ");
    add_loops(driver->ctx, &text, loops, FOR_UNROLLED, "; unrolled ");
    double share = loop->innermost ? machine_code_share(loop, vector_bytes, &limit) : -1;
    if (share >= 0)
        strbuf_printf(&text, "; at most %.0f%% of the peak, for %s", share * 100, limit);
    fprintf(driver->out, "%s\n", strbuf_text(&text));
}

/* --- JSON --- */

static void add_string(StrBuf *text, const char *key, const char *value)
{
    strbuf_printf(text, "\"%s\":", key);
    if (value)
        strbuf_add_json(text, value);
    else
        strbuf_add(text, "null");
}

static void add_json_loops(StrBuf *text, const LoopList *loops, ForKind kind, const char *key)
{
    const char *before = "";
    strbuf_printf(text, ",\"%s\":[", key);
    for (int i = 0; i < loops->count; i++) {
        int64_t extent;
        if (loops->data[i]->as.loop.kind != kind)
            continue;
        strbuf_printf(text, "%s{", before);
        add_string(text, "loop", loops->data[i]->as.loop.var->name);
        if (expr_const_int(loops->data[i]->as.loop.extent, &extent))
            strbuf_printf(text, ",\"extent\":%lld", (long long)extent);
        strbuf_add(text, "}");
        before = ",";
    }
    strbuf_add(text, "]");
}

/* Each name once; a call through a pointer has none. */
static void add_json_callees(StrBuf *text, const CodeCallees *callees)
{
    const char *before = "";
    strbuf_add(text, ",\"callees\":[");
    for (int i = 0; i < callees->count; i++) {
        bool known = !callees->data[i];
        for (int j = 0; j < i && !known; j++)
            known = callees->data[j] == callees->data[i];
        if (known)
            continue;
        strbuf_add(text, before);
        strbuf_add_json(text, callees->data[i]);
        before = ",";
    }
    strbuf_add(text, "]");
}

static void print_json(Driver *driver, const CodePart *part, const LoopList *loops, int vector_bytes)
{
    StrBuf text = {.arena = driver->ctx->arena};
    const CodeLoop *loop = part->loop;
    const char *limit = NULL;
    strbuf_add(&text, "{");
    add_string(&text, "file", part->file);
    strbuf_printf(&text, ",\"line\":%d,\"column\":%d,", part->line, part->column);
    add_string(&text, "function", loop->function);
    strbuf_add(&text, ",");
    add_string(&text, "loop", loop->label ? (loop->name ? loop->name : loop->label) : NULL);
    strbuf_printf(&text, ",\"rounds\":%d,\"depth\":%d,\"innermost\":%s,\"lanes\":%d,\"register_bits\":%d", loop->rounds, loop->depth, loop->innermost ? "true" : "false",
                  part->lanes, part->vector_bytes * 8);
    for (int kind = 0; kind < CODE_COUNT; kind++)
        strbuf_printf(&text, ",\"%s\":%d", code_kind_info((CodeKind)kind)->name, part->counts[kind]);
    add_json_callees(&text, &part->callees);
    add_json_loops(&text, loops, FOR_VECTORIZED, "vectorized");
    add_json_loops(&text, loops, FOR_UNROLLED, "unrolled");
    double share = loop->innermost ? machine_code_share(loop, vector_bytes, &limit) : -1;
    if (share >= 0)
        strbuf_printf(&text, ",\"share\":%.3f,", share);
    else
        strbuf_add(&text, ",\"share\":null,");
    add_string(&text, "limit", share >= 0 ? limit : NULL);
    fprintf(driver->out, "%s}\n", strbuf_text(&text));
}

/* --- Loops that run in parts --- */

static void print_parts(Driver *driver, const LoopParts *parts)
{
    Place place = {0};
    bool known = source_place(driver->ctx->sources, parts->span, &place);
    const char *loop = parts->loop->as.loop.var->name, *func = parts->func->name, *file = known ? place.file->name : "";
    if (driver->options.remarks == REMARKS_TEXT) {
        fprintf(driver->out, "%s:%d:%d: loop '%s' of %s runs %d times, for parts of its sums: they take %d registers of %d; a tile of %d x %d fits\n",
                file, place.line, place.column, loop, func, parts->parts, parts->sums, parts->registers, parts->rows, parts->columns);
        return;
    }
    StrBuf text = {.arena = driver->ctx->arena};
    strbuf_add(&text, "{");
    add_string(&text, "file", file);
    strbuf_printf(&text, ",\"line\":%d,\"column\":%d,", place.line, place.column);
    add_string(&text, "function", func);
    strbuf_add(&text, ",");
    add_string(&text, "loop", loop);
    strbuf_printf(&text, ",\"parts\":%d,\"sum_registers\":%d,\"registers\":%d,\"part_rows\":%d,\"part_columns\":%d}", parts->parts, parts->sums,
                  parts->registers, parts->rows, parts->columns);
    fprintf(driver->out, "%s\n", strbuf_text(&text));
}

/* --- The whole --- */

int driver_remarks(Driver *driver)
{
    const Module *lowered = driver_lower(driver, driver->program->module, false);
    CodegenOptions options = driver_codegen_options(driver);
    CodegenOutput output;
    options.debug_info = options.annotated_assembly = true;
    if (!lowered || !interface_check(driver->ctx, driver->program->module) ||
        !backend_find(NULL)->compile(driver->ctx, lowered, &options, 1u << EMIT_ASSEMBLY, &output))
        return EXIT_DIAGNOSED;
    if (!output.is_x86)
        return driver_error(driver, "--remarks reads the code of x86-64 only"), EXIT_DIAGNOSED;
    for (int i = 0; i < driver->loop_parts.count; i++)
        print_parts(driver, &driver->loop_parts.data[i]);
    CodeParts parts = machine_code_read(driver->ctx, output.bytes[EMIT_ASSEMBLY].data);
    for (int i = 0; i < parts.count; i++) {
        LoopList loops = loops_of_part(driver, parts.data[i]);
        if (is_worth_it(parts.data[i], &loops))
            (driver->options.remarks == REMARKS_JSON ? print_json : print_text)(driver, parts.data[i], &loops, output.vector_bytes);
    }
    return EXIT_OK;
}
