/* What TVM's printer cannot write in the text of a program: metadata["ffi.Tensor"][0], and the values that the text names but that say nothing
   here, T.index_map(lambda i, j: (j, i)). Attributes keep them as they are written.

   TVM prints what the names mean before the program if it is asked to (script(show_meta=True)):

     metadata = tvm.ir.load_json("""{"root_index": 3, "nodes": [...]}""")

   Of that the strings are read: a string with a line break, say, is printed so. */
#include "parser/elab.h"
#include "support/json.h"

/* TEXT with each run of spaces and line breaks as one space. */
static Str on_one_line(Context *ctx, const char *text, size_t length)
{
    char *line = ARENA_ARRAY(ctx->arena, char, length + 1);
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        bool blank = text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r';
        if (!blank)
            line[count++] = text[i];
        else if (count && line[count - 1] != ' ')
            line[count++] = ' ';
    }
    line[count] = 0;
    return context_intern(ctx, line);
}

static Value as_written(Elab *elab, Span span)
{
    const SourceFile *file = source_file(elab->ctx->sources, span.file);
    Value value = {.kind = VALUE_OPAQUE, .span = span};
    value.as.text = on_one_line(elab->ctx, file->text + span.begin, span.end - span.begin);
    return value;
}

Value builtin_opaque(Elab *elab, const Call *call)
{
    return as_written(elab, call->span);
}

Value builtin_load_json(Elab *elab, const Call *call)
{
    Str text = value_to_string(elab, call_arg(call, "text"), "the JSON text");
    const char *reason;
    size_t at;
    if (!text)
        return value_error();
    elab->metadata = json_read(elab->ctx->arena, text, strlen(text), &reason, &at);
    if (elab->metadata)
        return as_written(elab, call->span);
    diag_error(elab->ctx, call->span, "this is no JSON: %s at byte %zu", reason, at);
    return value_error();
}

/* The item of a list, or of the list that an array or map is written as, under its key or index: a number of a node. */
static const Json *node_of(const Elab *elab, const Json *number)
{
    return json_is(number, JSON_INT) ? json_item(json_get(elab->metadata, "nodes"), number->integer) : NULL;
}

/* The value under KEY of the map that is the root. A map is a list of keys and values in turn. */
static const Json *find_values(const Elab *elab, const char *key)
{
    const Json *pairs = json_get(node_of(elab, json_get(elab->metadata, "root_index")), "data");
    for (int i = 0; json_is(pairs, JSON_LIST) && i + 1 < pairs->count; i += 2) {
        const Json *name = json_get(node_of(elab, json_item(pairs, i)), "data");
        if (json_is(name, JSON_STRING) && !strcmp(name->text, key))
            return json_get(node_of(elab, json_item(pairs, i + 1)), "data");
    }
    return NULL;
}

/* metadata[KEY][INDEX]. */
static Value entry(Elab *elab, Str key, int64_t index, Span span)
{
    const Json *node = elab->metadata ? node_of(elab, json_item(find_values(elab, key), index)) : NULL;
    const Json *type = json_get(node, "type"), *data = json_get(node, "data");
    if (json_is(type, JSON_STRING) && !strcmp(type->text, "ffi.String") && json_is(data, JSON_STRING))
        return value_string(context_intern(elab->ctx, data->text), span);
    return as_written(elab, span);
}

bool elab_metadata_entry(Elab *elab, const AstNode *node, Value *value)
{
    const AstNode *kind = node->as.subscript.value, *index = node->as.subscript.index;
    if (kind->kind != AST_SUBSCRIPT || !ast_is_path(kind->as.subscript.value, "metadata") || index->kind != AST_INT ||
        kind->as.subscript.index->kind != AST_STRING)
        return false;
    const Binding *binding = scope_find(elab, kind->as.subscript.value->as.name);
    if (binding && binding->value.kind != VALUE_OPAQUE)
        return false;
    *value = entry(elab, kind->as.subscript.index->as.text, (int64_t)index->as.integer, node->span);
    return true;
}
