/* See record_program.h. The text of each function is written from the graph and parsed, so that what is folded there is folded as in the text that somebody
   gives. */
#include "script/record_program.h"

#include <inttypes.h>
#include <string.h>

#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "script/record_expr.h"

typedef struct {
    RecordWriter expr;
    StrBuf *text;
    const Json *nodes;
    bool *declared; /* of each node, a variable: a parameter, or declared above */
    int indent;
} ProgramWriter;

static void begin_line(ProgramWriter *writer)
{
    strbuf_printf(writer->text, "%*s", 4 * writer->indent, "");
}

static const Json *part(const ProgramWriter *writer, const Json *node, const char *name)
{
    return record_node(writer->nodes, node, name);
}

static bool add_part(ProgramWriter *writer, const Json *node, const char *name)
{
    return record_add_expr(&writer->expr, part(writer, node, name));
}

static const Json *items(const ProgramWriter *writer, const Json *node, const char *name)
{
    return record_node_list(writer->nodes, node, name);
}

static const Json *item(const ProgramWriter *writer, const Json *list, int index)
{
    return record_node_at(writer->nodes, &list->items[index]);
}

static int number_of(const ProgramWriter *writer, const Json *node)
{
    return (int)(node - writer->nodes->items);
}

/* --- buffers --- */

/* The node that has the shape of BUFFER: its type where that is a node, else itself. */
static const Json *layout_of(const ProgramWriter *writer, const Json *buffer)
{
    const Json *type = part(writer, buffer, "ty");
    return type ? type : buffer;
}

static const char *scope_of(const ProgramWriter *writer, const Json *buffer)
{
    const Json *layout = layout_of(writer, buffer), *pointer = part(writer, part(writer, layout, "data"), "type_annotation");
    const char *scope = record_node_text(writer->nodes, pointer ? pointer : layout, "storage_scope");
    return scope && *scope ? scope : "global";
}

static void declare(ProgramWriter *writer, const Json *var)
{
    const char *dtype = record_node_dtype(writer->nodes, var);
    if (!var || strcmp(record_node_type(var), "Var") || !dtype || writer->declared[number_of(writer, var)])
        return;
    writer->declared[number_of(writer, var)] = true;
    begin_line(writer);
    strbuf_printf(writer->text, "v%d = T.%s()\n", number_of(writer, var), dtype);
}

/* Declares the variables that BUFFER, matched with memory, gives a value. */
static void declare_variables(ProgramWriter *writer, const Json *buffer)
{
    const Json *layout = layout_of(writer, buffer);
    static const char *const lists[] = {"shape", "strides"};
    for (int k = 0; k < 2; k++) {
        const Json *list = items(writer, layout, lists[k]);
        for (int i = 0; list && i < list->count; i++)
            declare(writer, item(writer, list, i));
    }
    declare(writer, part(writer, layout, "elem_offset"));
}

static bool is_zero(const ProgramWriter *writer, const Json *node)
{
    int64_t value;
    return !strcmp(record_node_type(node), "IntImm") && record_node_int(writer->nodes, node, "value", &value) && value == 0;
}

/* "(16, n), "float32", scope="shared"". */
static bool add_layout(ProgramWriter *writer, const Json *buffer)
{
    const Json *layout = layout_of(writer, buffer), *shape = items(writer, layout, "shape"), *strides = items(writer, layout, "strides");
    const Json *offset = part(writer, layout, "elem_offset"), *separators = items(writer, layout, "axis_separators");
    const char *dtype = record_node_dtype(writer->nodes, layout);
    int64_t alignment = 64, factor = 1, kind = 1;
    StrBuf *text = writer->text;
    record_node_int(writer->nodes, layout, "data_alignment", &alignment);
    if (!shape || !dtype || (separators && separators->count) || (record_node_int(writer->nodes, layout, "buffer_type", &kind) && kind == 2))
        return false;
    strbuf_add(text, "(");
    bool ok = record_add_exprs(&writer->expr, shape);
    strbuf_printf(text, shape->count == 1 ? ",), \"%s\"" : "), \"%s\"", dtype);
    if (strides && strides->count) {
        strbuf_add(text, ", strides=[");
        ok = ok && record_add_exprs(&writer->expr, strides);
        strbuf_add(text, "]");
    }
    if (offset && !is_zero(writer, offset)) {
        strbuf_add(text, ", elem_offset=");
        ok = ok && record_add_expr(&writer->expr, offset);
    }
    strbuf_add(text, ", scope=");
    strbuf_add_json(text, scope_of(writer, buffer));
    if (alignment != 64)
        strbuf_printf(text, ", align=%" PRId64, alignment);
    if (record_node_int(writer->nodes, layout, "offset_factor", &factor) && factor > 1)
        strbuf_printf(text, ", offset_factor=%" PRId64, factor);
    return ok;
}

static bool add_region(ProgramWriter *writer, const Json *region)
{
    const Json *source = part(writer, region, "source"), *ranges = items(writer, region, "region");
    if (!record_add_buffer(&writer->expr, source ? source : part(writer, region, "buffer")) || !ranges)
        return false;
    strbuf_add(writer->text, ranges->count ? "[" : "[()");
    for (int i = 0; i < ranges->count; i++) {
        const Json *range = item(writer, ranges, i), *extent = part(writer, range, "extent");
        int64_t one;
        strbuf_add(writer->text, i ? ", " : "");
        if (!add_part(writer, range, "min"))
            return false;
        if (!strcmp(record_node_type(extent), "IntImm") && record_node_int(writer->nodes, extent, "value", &one) && one == 1)
            continue;
        strbuf_add(writer->text, ":");
        if (!add_part(writer, range, "min"))
            return false;
        strbuf_add(writer->text, " + ");
        if (!record_add_expr(&writer->expr, extent))
            return false;
    }
    strbuf_add(writer->text, "]");
    return true;
}

static bool add_regions(ProgramWriter *writer, const Json *block, const char *name)
{
    const Json *regions = items(writer, block, name);
    begin_line(writer);
    strbuf_printf(writer->text, "T.%s(", name);
    for (int i = 0; regions && i < regions->count; i++) {
        strbuf_add(writer->text, i ? ", " : "");
        if (!add_region(writer, item(writer, regions, i)))
            return false;
    }
    strbuf_add(writer->text, ")\n");
    return regions != NULL;
}

/* --- annotations --- */

static bool add_value(ProgramWriter *writer, const Json *node);

static bool add_map(ProgramWriter *writer, const Json *map)
{
    const Json *list = json_get(map, "data"), *keys = json_get(map, "keys"); /* keys: of the oldest form */
    int step = keys ? 1 : 2;
    strbuf_add(writer->text, "{");
    for (int i = 0; json_is(list, JSON_LIST) && i + step <= list->count; i += step) {
        const Json *old_key = json_item(keys, i);
        const char *key = keys ? (json_is(old_key, JSON_STRING) ? old_key->text : NULL) : record_text_at(writer->nodes, &list->items[i]);
        if (!key)
            return false;
        strbuf_add_json(writer->text, key);
        strbuf_add(writer->text, ": ");
        if (!add_value(writer, item(writer, list, i + step - 1)))
            return false;
        strbuf_add(writer->text, ", ");
    }
    strbuf_add(writer->text, "}");
    return true;
}

static bool add_list(ProgramWriter *writer, const Json *list)
{
    strbuf_add(writer->text, "[");
    for (int i = 0; json_is(list, JSON_LIST) && i < list->count; i++) {
        if (!add_value(writer, item(writer, list, i)))
            return false;
        strbuf_add(writer->text, ", ");
    }
    strbuf_add(writer->text, "]");
    return true;
}

static bool add_plain(ProgramWriter *writer, const Json *node)
{
    const char *type = record_node_type(node);
    const Json *data = json_get(node, "data");
    if (!strcmp(type, "Map"))
        return add_map(writer, node);
    if (!strcmp(type, "Array"))
        return add_list(writer, data);
    if (!strcmp(type, "String")) {
        const char *string = record_text_at(writer->nodes, &(Json){.kind = JSON_INT, .integer = number_of(writer, node)});
        strbuf_add_json(writer->text, string ? string : "");
        return string != NULL;
    }
    if (json_is(data, JSON_BOOL))
        strbuf_add(writer->text, data->boolean ? "True" : "False");
    else if (json_is(data, JSON_INT))
        strbuf_printf(writer->text, "%" PRId64, data->integer);
    else if (json_is(data, JSON_REAL))
        strbuf_printf(writer->text, "%.17g", data->real);
    else
        return record_add_expr(&writer->expr, node);
    return true;
}

static bool add_value(ProgramWriter *writer, const Json *node)
{
    if (!node || writer->expr.depth == RECORD_DEEPEST || writer->expr.count++ >= RECORD_LARGEST)
        return false;
    writer->expr.depth++;
    bool ok = add_plain(writer, node);
    writer->expr.depth--;
    return ok;
}

static bool has_entries(const ProgramWriter *writer, const Json *node, const char *name)
{
    const Json *list = items(writer, node, name);
    return list && list->count > 0;
}

/* --- statements --- */

static bool add_stmt(ProgramWriter *writer, const Json *node);

static bool add_body(ProgramWriter *writer, const Json *node, const char *name)
{
    writer->indent++;
    bool ok = add_stmt(writer, part(writer, node, name));
    writer->indent--;
    return ok;
}

/* "16" or "2, 2 + 16". */
static bool add_range(ProgramWriter *writer, const Json *range)
{
    if (!is_zero(writer, part(writer, range, "min"))) {
        if (!add_part(writer, range, "min"))
            return false;
        strbuf_add(writer->text, ", ");
        if (!add_part(writer, range, "min"))
            return false;
        strbuf_add(writer->text, " + ");
    }
    return add_part(writer, range, "extent");
}

static bool add_loop(ProgramWriter *writer, const Json *node)
{
    static const char *const kinds[] = {"serial", "parallel", "vectorized", "unroll", "thread_binding"};
    int64_t kind, step;
    const Json *var = part(writer, node, "loop_var");
    if (!record_node_int(writer->nodes, node, "kind", &kind) || kind < 0 || kind > 4 || !var ||
        (record_node_int(writer->nodes, part(writer, node, "step"), "value", &step) && step != 1))
        return false;
    begin_line(writer);
    strbuf_printf(writer->text, "for v%d in T.%s(", number_of(writer, var), kinds[kind]);
    if (!add_range(writer, node))
        return false;
    if (kind == 4) {
        const char *thread = record_node_text(writer->nodes, part(writer, node, "thread_binding"), "thread_tag");
        strbuf_add(writer->text, ", thread=");
        strbuf_add_json(writer->text, thread ? thread : "");
    }
    if (has_entries(writer, node, "annotations")) {
        strbuf_add(writer->text, ", annotations=");
        if (!add_map(writer, part(writer, node, "annotations")))
            return false;
    }
    strbuf_add(writer->text, "):\n");
    return add_body(writer, node, "body");
}

static bool add_axes(ProgramWriter *writer, const Json *axes, const Json *values)
{
    static const char *const kinds[] = {"spatial", NULL, "reduce", "scan", "opaque"};
    for (int i = 0; i < axes->count; i++) {
        const Json *axis = item(writer, axes, i), *domain = part(writer, axis, "dom"), *var = part(writer, axis, "var");
        int64_t kind;
        if (!record_node_int(writer->nodes, axis, "iter_type", &kind) || kind < 0 || kind > 4 || !kinds[kind] || !var)
            return false;
        bool from_zero = is_zero(writer, part(writer, domain, "min"));
        begin_line(writer);
        strbuf_printf(writer->text, "v%d = T.axis.%s(%s", number_of(writer, var), kinds[kind], from_zero ? "" : "(");
        if (!add_range(writer, domain))
            return false;
        strbuf_add(writer->text, from_zero ? ", " : "), ");
        if (!record_add_expr(&writer->expr, item(writer, values, i)))
            return false;
        strbuf_add(writer->text, ")\n");
    }
    return true;
}

static bool add_buffers(ProgramWriter *writer, const Json *block)
{
    const Json *allocated = items(writer, block, "alloc_buffers"), *matched = items(writer, block, "match_buffers");
    for (int i = 0; allocated && i < allocated->count; i++) {
        begin_line(writer);
        bool ok = record_add_buffer(&writer->expr, item(writer, allocated, i));
        strbuf_add(writer->text, " = T.alloc_buffer(");
        if (!ok || !add_layout(writer, item(writer, allocated, i)))
            return false;
        strbuf_add(writer->text, ")\n");
    }
    for (int i = 0; matched && i < matched->count; i++) {
        const Json *match = item(writer, matched, i), *buffer = part(writer, match, "buffer");
        begin_line(writer);
        bool ok = record_add_buffer(&writer->expr, buffer);
        strbuf_add(writer->text, " = T.match_buffer(");
        ok = ok && add_region(writer, part(writer, match, "source"));
        strbuf_add(writer->text, ", ");
        if (!ok || !add_layout(writer, buffer))
            return false;
        strbuf_add(writer->text, ")\n");
    }
    return allocated && matched;
}

static bool add_condition(ProgramWriter *writer, const Json *predicate)
{
    int64_t value;
    if (!strcmp(record_node_type(predicate), "IntImm") && record_node_int(writer->nodes, predicate, "value", &value) && value)
        return true;
    begin_line(writer);
    strbuf_add(writer->text, "T.where(");
    bool ok = record_add_expr(&writer->expr, predicate);
    strbuf_add(writer->text, ")\n");
    return ok;
}

static bool add_block_parts(ProgramWriter *writer, const Json *realize, const Json *block)
{
    const Json *axes = items(writer, block, "iter_vars"), *values = items(writer, realize, "iter_values");
    if (!axes || !values || axes->count != values->count || !add_axes(writer, axes, values) ||
        !add_condition(writer, part(writer, realize, "predicate")) || !add_regions(writer, block, "reads") || !add_regions(writer, block, "writes"))
        return false;
    if (has_entries(writer, block, "annotations")) {
        begin_line(writer);
        strbuf_add(writer->text, "T.block_attr(");
        bool ok = add_map(writer, part(writer, block, "annotations"));
        strbuf_add(writer->text, ")\n");
        if (!ok)
            return false;
    }
    return add_buffers(writer, block);
}

static bool add_block(ProgramWriter *writer, const Json *node)
{
    const Json *block = part(writer, node, "block"), *init = part(writer, block, "init");
    const char *name = record_node_text(writer->nodes, block, "name_hint");
    if (!name)
        return false;
    begin_line(writer);
    strbuf_add(writer->text, "with T.block(");
    strbuf_add_json(writer->text, name);
    strbuf_add(writer->text, "):\n");
    writer->indent++;
    bool ok = add_block_parts(writer, node, block);
    if (ok && *record_node_type(init) && strcmp(record_node_type(init), "None") != 0) {
        begin_line(writer);
        strbuf_add(writer->text, "with T.init():\n");
        ok = add_body(writer, block, "init");
    }
    ok = ok && add_stmt(writer, part(writer, block, "body"));
    writer->indent--;
    return ok;
}

static bool add_store(ProgramWriter *writer, const Json *node)
{
    const Json *indices = items(writer, node, "indices"), *mask = part(writer, node, "predicate");
    begin_line(writer);
    if (!record_add_buffer(&writer->expr, part(writer, node, "buffer")) || !indices || (mask && *record_node_type(mask) && strcmp(record_node_type(mask), "None")))
        return false;
    strbuf_add(writer->text, indices->count ? "[" : "[()");
    if (!record_add_exprs(&writer->expr, indices))
        return false;
    strbuf_add(writer->text, "] = ");
    bool ok = add_part(writer, node, "value");
    strbuf_add(writer->text, "\n");
    return ok;
}

static bool add_branch(ProgramWriter *writer, const Json *node)
{
    const Json *other = part(writer, node, "else_case");
    begin_line(writer);
    strbuf_add(writer->text, "if ");
    bool ok = add_part(writer, node, "condition");
    strbuf_add(writer->text, ":\n");
    ok = ok && add_body(writer, node, "then_case");
    if (!ok || !*record_node_type(other) || !strcmp(record_node_type(other), "None"))
        return ok;
    begin_line(writer);
    strbuf_add(writer->text, "else:\n");
    return add_body(writer, node, "else_case");
}

/* A variable with a value, for what follows; in older graphs that is its body. */
static bool add_let(ProgramWriter *writer, const Json *node)
{
    const Json *var = part(writer, node, "var"), *body = part(writer, node, "body");
    const char *dtype = record_node_dtype(writer->nodes, var);
    if (!dtype)
        return false;
    begin_line(writer);
    strbuf_printf(writer->text, "v%d: T.%s = ", number_of(writer, var), dtype);
    bool ok = add_part(writer, node, "value");
    strbuf_add(writer->text, "\n");
    return ok && (!body || add_stmt(writer, body));
}

static bool add_known(ProgramWriter *writer, const Json *node)
{
    const char *type = record_node_type(node);
    if (!strcmp(type, "For"))
        return add_loop(writer, node);
    if (!strcmp(type, "SBlockRealize") || !strcmp(type, "BlockRealize"))
        return add_block(writer, node);
    if (!strcmp(type, "BufferStore"))
        return add_store(writer, node);
    if (!strcmp(type, "IfThenElse"))
        return add_branch(writer, node);
    if (!strcmp(type, "Bind") || !strcmp(type, "LetStmt"))
        return add_let(writer, node);
    if (!strcmp(type, "Evaluate")) {
        begin_line(writer);
        strbuf_add(writer->text, "T.evaluate(");
        bool ok = add_part(writer, node, "value");
        strbuf_add(writer->text, ")\n");
        return ok;
    }
    const Json *list = items(writer, node, "seq");
    bool ok = !strcmp(type, "SeqStmt") && list;
    for (int i = 0; ok && i < list->count; i++)
        ok = add_stmt(writer, item(writer, list, i));
    return ok;
}

static bool add_stmt(ProgramWriter *writer, const Json *node)
{
    if (writer->expr.depth == RECORD_DEEPEST || writer->expr.count++ >= RECORD_LARGEST)
        return false;
    writer->expr.depth++;
    bool ok = add_known(writer, node);
    writer->expr.depth--;
    return ok;
}

/* --- functions --- */

/* The buffer that PARAM of FUNC is or stands for; NULL: it is a number. */
static const Json *buffer_of(const ProgramWriter *writer, const Json *func, const Json *param)
{
    const Json *map = items(writer, func, "buffer_map");
    if (!strcmp(record_node_type(part(writer, param, "ty")), "BufferType"))
        return param;
    for (int i = 0; map && i + 1 < map->count; i += 2)
        if (item(writer, map, i) == param)
            return item(writer, map, i + 1);
    return NULL;
}

static bool add_params(ProgramWriter *writer, const Json *func, const Json *params)
{
    for (int i = 0; i < params->count; i++) {
        const Json *param = item(writer, params, i);
        const char *dtype = record_node_dtype(writer->nodes, param);
        strbuf_add(writer->text, i ? ", " : "");
        if (buffer_of(writer, func, param)) {
            strbuf_printf(writer->text, "p%d: T.handle", i);
        } else if (dtype) {
            writer->declared[number_of(writer, param)] = true;
            strbuf_printf(writer->text, "v%d: T.%s", number_of(writer, param), dtype);
        } else {
            return false;
        }
    }
    return true;
}

static bool add_func(ProgramWriter *writer, const Json *func)
{
    const Json *params = items(writer, func, "params");
    strbuf_printf(writer->text, "@T.prim_func\ndef f%d(", number_of(writer, func));
    if (!params || !add_params(writer, func, params))
        return false;
    strbuf_add(writer->text, "):\n");
    writer->indent = 1;
    for (int i = 0; i < params->count; i++)
        declare_variables(writer, buffer_of(writer, func, item(writer, params, i)));
    for (int i = 0; i < writer->nodes->count; i++)
        if (!strcmp(record_node_type(&writer->nodes->items[i]), "MatchBufferRegion"))
            declare_variables(writer, part(writer, &writer->nodes->items[i], "buffer"));
    for (int i = 0; i < params->count; i++) {
        const Json *buffer = buffer_of(writer, func, item(writer, params, i));
        if (!buffer)
            continue;
        begin_line(writer);
        bool ok = record_add_buffer(&writer->expr, buffer);
        strbuf_printf(writer->text, " = T.match_buffer(p%d, ", i);
        if (!ok || !add_layout(writer, buffer))
            return false;
        strbuf_add(writer->text, ")\n");
    }
    return add_stmt(writer, part(writer, func, "body"));
}

const Module *record_graph_program(Context *ctx, const Json *nodes)
{
    StrBuf text = {.arena = ctx->arena};
    bool ok = true;
    for (int i = 0; ok && i < nodes->count; i++) {
        if (strcmp(record_node_type(&nodes->items[i]), "PrimFunc"))
            continue;
        ProgramWriter writer = {.expr = {&text, nodes, true, 0, 0}, .text = &text, .nodes = nodes};
        writer.declared = ARENA_ARRAY(ctx->arena, bool, nodes->count);
        memset(writer.declared, 0, sizeof *writer.declared * (size_t)nodes->count);
        ok = add_func(&writer, &nodes->items[i]);
    }
    if (!ok || !text.text)
        return NULL;
    DiagMark mark = diag_mark(ctx);
    const Module *module = complete_module(ctx, parse_module_text(ctx, "<workload>", text.text, text.length));
    diag_rollback(ctx, mark);
    return module;
}
