/* See database.h. A line of the workloads is [hash, program], the program being a graph of nodes in JSON behind its length in 8 bytes, all in base64. A
   line of the records is [number of a workload, [trace, times or null, target, arguments]], an argument ["TENSOR", type, shape]. */
#include "script/database.h"

#include <string.h>

#include "ir/walk.h"
#include "script/record_graph.h"
#include "script/record_trace.h"
#include "support/vec.h"
#include "support/warning.h"

enum { LENGTH_BYTES = 8 };
static const double failed_seconds = 1e9; /* stands for a run that failed */

typedef VEC(Json) JsonLines;

typedef struct {
    Context *ctx;
    const Module *module;
    DatabaseFile workload_file, record_file;
    JsonLines workloads, records; /* JSON_NULL: an empty line */
    const Json **programs;        /* of each workload: its nodes, once it is needed */
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

/* The nodes of workload NUMBER; NULL after a diagnostic. */
static const Json *program_of(Database *database, int64_t number)
{
    DatabaseFile file = database->workload_file;
    int line = (int)number + 1;
    if (database->programs[number])
        return database->programs[number];
    const Json *encoded = json_item(&database->workloads.data[number], 1);
    size_t length, at;
    char *bytes = json_is(encoded, JSON_STRING) ? decode_base64(database->ctx->arena, encoded->text, &length) : NULL;
    if (!bytes || length < LENGTH_BYTES)
        return refuse(database, file, line, "the workload is no list of a hash and a program in base64"), NULL;
    const char *reason;
    const Json *graph = json_read(database->ctx->arena, bytes + LENGTH_BYTES, length - LENGTH_BYTES, &reason, &at);
    const Json *nodes = record_graph_nodes(graph);
    if (!nodes)
        return refuse(database, file, line, graph ? "the program has no nodes" : context_internf(database->ctx, "the program is no JSON: %s", reason)),
               NULL;
    return database->programs[number] = nodes;
}

/* --- matching --- */

typedef struct {
    VEC(const char *) names; /* of the blocks, other than the root */
    Context *ctx;
} BlockNames;

static bool note_block(Visitor *visitor, const Stmt *stmt)
{
    BlockNames *blocks = visitor->data;
    if (stmt->kind == STMT_BLOCK && strcmp(stmt->as.block.block->name, "root") != 0)
        vec_push(blocks->ctx->arena, &blocks->names, (const char *)stmt->as.block.block->name);
    return true;
}

/* The blocks of the program with NODES are those of FUNC, in some order. */
static bool same_blocks(Context *ctx, const Json *nodes, const Func *func)
{
    BlockNames blocks = {.ctx = ctx};
    Visitor visitor = {.stmt = note_block, .data = &blocks};
    visit_stmt(&visitor, func->body);
    int found = 0;
    for (int i = 0; i < nodes->count; i++) {
        const char *type = record_node_type(&nodes->items[i]);
        if (strcmp(type, "Block") != 0 && strcmp(type, "SBlock") != 0)
            continue;
        const char *name = record_node_text(nodes, &nodes->items[i], "name_hint");
        if (!name || !strcmp(name, "root"))
            continue;
        int k = 0;
        while (k < blocks.names.count && (!blocks.names.data[k] || strcmp(blocks.names.data[k], name) != 0))
            k++;
        if (k == blocks.names.count)
            return false;
        blocks.names.data[k] = NULL;
        found++;
    }
    return found == blocks.names.count;
}

static bool same_argument(const Json *argument, const Buffer *buffer)
{
    const Json *kind = json_item(argument, 0), *type = json_item(argument, 1), *shape = json_item(argument, 2);
    DType dtype;
    if (!json_is(kind, JSON_STRING) || strcmp(kind->text, "TENSOR") != 0 || !json_is(type, JSON_STRING) || !dtype_parse(type->text, &dtype) ||
        !dtype_equal(dtype, buffer->dtype) || !json_is(shape, JSON_LIST) || shape->count != buffer->ndim)
        return false;
    for (int d = 0; d < buffer->ndim; d++)
        if (!json_is(&shape->items[d], JSON_INT) || !expr_is_int(buffer->shape[d], shape->items[d].integer))
            return false;
    return true;
}

static bool same_arguments(const Json *arguments, const Func *func)
{
    if (!json_is(arguments, JSON_LIST))
        return arguments == NULL || arguments->kind == JSON_NULL; /* not stated */
    int next = 0;
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer && !same_argument(json_item(arguments, next++), func->params[i].buffer))
            return false;
    return next == arguments->count;
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
        if (!known || (best >= 0 && mean >= least) || !same_arguments(json_item(record, 3), func))
            continue;
        const Json *nodes = program_of(database, number->integer);
        if (!nodes)
            return -2;
        if (!same_blocks(database->ctx, nodes, func))
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
    diag_warning(ctx, WARNING_RECORD, span_none(), "%s:%d: the record is taken for function '%s' by the names of its blocks and its parameters' types and shapes",
                 database->record_file.name, best + 1, func->name);
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
    database.programs = ARENA_ARRAY(ctx->arena, const Json *, database.workloads.count);
    for (int i = 0; i < module->func_count; i++)
        if (!is_part_of_intrinsic(module, module->funcs[i]) && !add_record(&database, module->funcs[i], &text, place))
            return NULL;
    if (*place)
        return strbuf_text(&text);
    diag_error(ctx, span_none(), "%s: no record that ran is of a function of the program: blocks of the same names, parameters of the same types and shapes",
               records.name);
    return NULL;
}
