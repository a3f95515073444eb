/* See database.h. A line of the workloads is [hash, program], the program being a graph of nodes in JSON behind its length in 8 bytes, all in base64. A
   line of the records is [number of a workload, [trace, times or null, target, arguments]], an argument ["TENSOR", type, shape]. */
#include "script/database.h"

#include <string.h>

#include "script/record_graph.h"
#include "script/record_program.h"
#include "script/record_trace.h"
#include "support/vec.h"
#include "verify/equal.h"

enum { LENGTH_BYTES = 8 };
static const double failed_seconds = 1e9; /* stands for a run that failed */

typedef VEC(Json) JsonLines;

typedef struct {
    Context *ctx;
    const Module *module;
    DatabaseFile workload_file, record_file;
    JsonLines workloads, records; /* JSON_NULL: an empty line */
    const Module **programs;      /* of each workload, once it is needed; NULL: something in it is not known */
    bool *read;
    int unknown; /* the line of a workload that is not known; 0: there was none */
} Database;

static bool refuse(Database *database, DatabaseFile file, int line, const char *reason)
{
    diag_error(database->ctx, span_none(), "%s:%d: %s", file.name, line, reason);
    return false;
}

/* --- files --- */

static bool read_lines(Database *database, DatabaseFile file, JsonLines *lines)
{
    const char *at = file.text, *end = file.text + file.length;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *reason;
        size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at), where;
        static const Json empty = {.kind = JSON_NULL};
        const Json *value = &empty;
        if (strspn(at, " \t\r") < length && !(value = json_read(database->ctx->arena, at, length, &reason, &where)))
            return refuse(database, file, lines->count + 1,
                          context_internf(database->ctx, "no JSON at column %zu: %s", where + 1, reason));
        vec_push(database->ctx->arena, lines, *value);
        at = stop ? stop + 1 : end;
    }
    return true;
}

/* What the base64 TEXT stands for; NULL where it is none. */
static char *decode_base64(Arena *arena, const char *text, size_t *length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = strlen(text);
    if (count % 4)
        return NULL;
    char *result = arena_alloc(arena, count / 4 * 3 + 1);
    *length = 0;
    for (size_t i = 0; i < count; i += 4) {
        uint32_t bits = 0;
        int padding = 0;
        for (size_t k = i; k < i + 4; k++) {
            const char *digit = strchr(digits, text[k]);
            bool pads = text[k] == '=' && i + 4 == count && k >= i + 2;
            if ((!digit && !pads) || (padding && !pads))
                return NULL;
            padding += pads;
            bits = bits << 6 | (pads ? 0 : (uint32_t)(digit - digits));
        }
        for (int k = 0; k < 3 - padding; k++)
            result[(*length)++] = (char)(bits >> (16 - 8 * k));
    }
    return result;
}

/* Reads the program of workload NUMBER. False after a diagnostic. */
static bool read_program(Database *database, int64_t number)
{
    DatabaseFile file = database->workload_file;
    int line = (int)number + 1;
    if (database->read[number])
        return true;
    const Json *encoded = json_item(&database->workloads.data[number], 1);
    size_t length, at;
    char *bytes = json_is(encoded, JSON_STRING) ? decode_base64(database->ctx->arena, encoded->text, &length) : NULL;
    if (!bytes || length < LENGTH_BYTES)
        return refuse(database, file, line, "the workload is no list of a hash and a program in base64");
    const char *reason;
    const Json *graph = json_read(database->ctx->arena, bytes + LENGTH_BYTES, length - LENGTH_BYTES, &reason, &at);
    const Json *nodes = record_graph_nodes(graph);
    if (!nodes)
        return refuse(database, file, line, graph ? "the program has no nodes" : context_internf(database->ctx, "the program is no JSON: %s", reason));
    database->read[number] = true;
    database->programs[number] = record_graph_program(database->ctx, nodes);
    if (!database->programs[number])
        database->unknown = line;
    return true;
}

/* --- matching --- */

/* FUNC is a function of workload NUMBER but for names of functions and variables, and attributes. */
static bool is_of_workload(const Database *database, int64_t number, const Func *func)
{
    const Module *program = database->programs[number];
    for (int i = 0; program && i < program->func_count; i++) {
        Func candidate = *program->funcs[i];
        candidate.name = func->name;
        candidate.attrs = func->attrs;
        candidate.is_private = func->is_private;
        if (func_equal(database->ctx, &candidate, func, NULL))
            return true;
    }
    return false;
}

/* The mean of the times of a record, in seconds; *KNOWN: it ran. False where they are no times. */
static bool mean_time(const Json *times, double *mean, bool *known)
{
    *known = json_is(times, JSON_LIST) && times->count > 0;
    *mean = 0;
    for (int i = 0; *known && i < times->count; i++) {
        if (times->items[i].kind != JSON_INT && times->items[i].kind != JSON_REAL)
            return false;
        *mean += times->items[i].real / times->count;
    }
    *known &= *mean < failed_seconds;
    return json_is(times, JSON_LIST) || json_is(times, JSON_NULL);
}

/* The record of FUNC that took the least time; -1: there is none; -2 after a diagnostic. */
static int best_record(Database *database, const Func *func)
{
    int best = -1;
    double least = 0;
    for (int i = 0; i < database->records.count; i++) {
        const Json *line = &database->records.data[i];
        if (line->kind == JSON_NULL)
            continue;
        const Json *number = json_item(line, 0), *record = json_item(line, 1), *trace = json_item(record, 0);
        double mean;
        bool known;
        if (!json_is(number, JSON_INT) || !json_is(trace, JSON_LIST) || !mean_time(json_item(record, 1), &mean, &known))
            return refuse(database, database->record_file, i + 1, "the record is no list of a workload's number and of a trace, times, a target and arguments"),
                   -2;
        if (number->integer < 0 || number->integer >= database->workloads.count)
            return refuse(database, database->record_file, i + 1, "there is no workload of that number"), -2;
        if (!known || (best >= 0 && mean >= least))
            continue;
        if (!read_program(database, number->integer))
            return -2;
        if (!is_of_workload(database, number->integer, func))
            continue;
        best = i;
        least = mean;
    }
    return best;
}

static bool is_part_of_intrinsic(const Module *module, const Func *func)
{
    bool found = false;
    for (int i = 0; i < module->intrin_count && !found; i++)
        found = module->intrins[i].description == func || module->intrins[i].implementation == func;
    return found;
}

/* Adds the steps of the best record of FUNC. False after a diagnostic. */
static bool add_record(Database *database, const Func *func, StrBuf *text, const char **place)
{
    int best = best_record(database, func);
    if (best < 0)
        return best == -1;
    Context *ctx = database->ctx;
    const char *reason = record_trace_text(text, json_item(json_item(&database->records.data[best], 1), 0), func->name);
    if (reason)
        return refuse(database, database->record_file, best + 1, reason);
    if (!*place)
        *place = context_internf(ctx, "%s (trace of line %d)", database->record_file.name, best + 1);
    return true;
}

const char *script_of_database(Context *ctx, const Module *module, DatabaseFile workloads, DatabaseFile records, const char **place)
{
    Database database = {.ctx = ctx, .module = module, .workload_file = workloads, .record_file = records};
    StrBuf text = {.arena = ctx->arena};
    *place = NULL;
    if (!read_lines(&database, workloads, &database.workloads) || !read_lines(&database, records, &database.records))
        return NULL;
    database.programs = ARENA_ARRAY(ctx->arena, const Module *, database.workloads.count);
    database.read = ARENA_ARRAY(ctx->arena, bool, database.workloads.count);
    for (int i = 0; i < module->func_count; i++)
        if (!is_part_of_intrinsic(module, module->funcs[i]) && !add_record(&database, module->funcs[i], &text, place))
            return NULL;
    if (*place)
        return strbuf_text(&text);
    diag_error(ctx, span_none(), "%s: no record that ran is of a function of the program: one that is the same but for names of variables", records.name);
    if (database.unknown)
        diag_note(ctx, span_none(), "%s:%d: the workload could not be compared: it holds something that is not known here", workloads.name, database.unknown);
    return NULL;
}
