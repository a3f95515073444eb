/* annotate and unannotate: keys with values on loops and blocks, for later steps and for lowering.

   Before, annotate(i, "pragma", 1)         After
     for i in range(16):                      for i in T.serial(16, annotations={"pragma": 1}): */
#include "passes/schedule/core/query.h"
#include "support/warning.h"

static const AttrValue *attr_list(Schedule *sch, const ValueList *list);
static const AttrValue *attr_dict(Schedule *sch, const ValueList *pairs);

/* VALUE as an annotation; NULL after a refusal. */
static const AttrValue *attr_value(Schedule *sch, const Value *value)
{
    Context *ctx = sch->ctx;
    switch (value->kind) {
    case VALUE_BOOL: return attr_bool(ctx, value->as.boolean);
    case VALUE_INT: return attr_int(ctx, value->as.integer);
    case VALUE_FLOAT: return attr_float(ctx, value->as.real);
    /* names files relative to the script */
    case VALUE_STRING: return attr_expr(ctx, expr_with_span(ctx, expr_string(ctx, value->as.text), sch->call_span));
    case VALUE_EXPR: return attr_expr(ctx, value->as.expr);
    case VALUE_LIST: return attr_list(sch, value->as.list);
    case VALUE_DICT: return attr_dict(sch, value->as.list);
    case VALUE_NONE:
    case VALUE_LOOP:
    case VALUE_BLOCK:
    case VALUE_FUNCTION:
    case VALUE_SCRIPT: break;
    }
    sched_refuse_argument(sch, value, "a value of type %s cannot be an annotation; strings, numbers, bools, lists and dicts can",
                          value_type_name(value->kind));
    return NULL;
}

static const AttrValue *attr_list(Schedule *sch, const ValueList *list)
{
    AttrValue *attr = ARENA_NEW(sch->ctx->arena, AttrValue);
    *attr = (AttrValue){.kind = ATTR_LIST, .items = ARENA_ARRAY(sch->ctx->arena, const AttrValue *, list->count), .count = list->count};
    for (int i = 0; i < list->count; i++)
        if (!(attr->items[i] = attr_value(sch, &list->items[i])))
            return NULL;
    return attr;
}

/* PAIRS: keys and values in turn. */
static const AttrValue *attr_dict(Schedule *sch, const ValueList *pairs)
{
    Attrs attrs = {0};
    for (int i = 0; i + 1 < pairs->count; i += 2) {
        const AttrValue *value = attr_value(sch, &pairs->items[i + 1]);
        if (!value)
            return NULL;
        if (pairs->items[i].kind != VALUE_STRING) {
            sched_refuse_argument(sch, &pairs->items[i], "the keys of a dict in an annotation must be strings, not of type %s",
                                  value_type_name(pairs->items[i].kind));
            return NULL;
        }
        attrs = attrs_set(sch->ctx, attrs, pairs->items[i].as.text, value);
    }
    AttrValue *attr = ARENA_NEW(sch->ctx->arena, AttrValue);
    *attr = (AttrValue){.kind = ATTR_DICT, .entries = attrs.entries, .count = attrs.count};
    return attr;
}

static Attrs node_annotations(const TreeNode *node)
{
    return node->stmt->kind == STMT_FOR ? node_loop(node)->annotations : node_block(node)->annotations;
}

static void replace_annotations(Schedule *sch, const TreeNode *node, Attrs attrs)
{
    Stmt copy = *node->stmt;
    if (copy.kind == STMT_FOR)
        copy.as.loop.annotations = attrs;
    else
        copy.as.block.annotations = attrs;
    sched_replace(sch, node->stmt, stmt_new(sch->ctx, &copy));
}

/* A key that is there already keeps its value, as in the reference; the warning says so. */
bool primitive_annotate(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_target(sch, &args[0]);
    const AttrValue *value = node ? attr_value(sch, &args[2]) : NULL;
    if (!value)
        return false;
    if (attrs_get(node_annotations(node), args[1].as.text)) {
        diag_warning(sch->ctx, WARNING_KEPT_ANNOTATION, sch->call_span,
                     "annotate: %s keeps the value that \"%s\" has already; unannotate it first to change it", node_words(sch, node), args[1].as.text);
        return true;
    }
    replace_annotations(sch, node, attrs_set(sch->ctx, node_annotations(node), args[1].as.text, value));
    return true;
}

bool primitive_unannotate(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_target(sch, &args[0]);
    if (!node)
        return false;
    Attrs attrs = node_annotations(node);
    Str key = args[1].as.text;
    if (!attrs_get(attrs, key)) {
        VEC(const char *) keys = {0};
        for (int i = 0; i < attrs.count; i++)
            vec_push(sch->ctx->arena, &keys, attrs.entries[i].key);
        const char *near = diag_closest(key, keys.data, keys.count);
        sched_refuse_argument(sch, &args[1], "%s has no annotation \"%s\"%s%s%s", node_words(sch, node), key,
                              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        diag_edit_string(sch->ctx, args[1].span, near);
        sched_note(sch, node->stmt->span, "%s is here", node_words(sch, node));
        return false;
    }
    replace_annotations(sch, node, attrs_remove(sch->ctx, attrs, key));
    return true;
}
