/* `with te.tag_scope("tag"):`, the one context that scripts have: what te.compute and te.extern make inside of it has the tag. A block of a
   program that a text shows a part of is left out. */
#include "script/te.h"
#include "support/warning.h"

bool te_tag_scope(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    Str tag;
    if (!te_bind(script, "te.tag_scope", arguments, "tag", values) || !te_name(script, values[0], "", &tag))
        return false;
    *result = script_object(script, (Object){.kind = OBJECT_TAG_SCOPE, .as.path = tag});
    return true;
}

bool te_tag(Script *script, const Value *given, Span span, Str *tag)
{
    if (!te_name(script, given, "", tag))
        return false;
    if (!script->tag)
        return true;
    if (**tag)
        return script_error(script, span, "the operation has the tag '%s' from the 'with' around it, and cannot have another one", script->tag);
    *tag = script->tag;
    return true;
}

static bool enter(Script *script, const AstWithItem *item)
{
    Value context;
    if (!script_eval(script, item->context, &context))
        return false;
    const Object *scope = value_object(context, OBJECT_TAG_SCOPE);
    if (!scope)
        return script_error(script, item->context->span, "a 'with' statement of a script takes te.tag_scope(...), not %s", script_type_phrase(script, context));
    if (script->tag)
        return script_error(script, item->context->span, "te.tag_scope cannot stand inside of another one");
    script->tag = scope->as.path;
    return !item->target || script_assign(script, item->target, context);
}

Flow script_run_with(Script *script, const AstNode *node)
{
    Str outside = script->tag;
    Flow flow = FLOW_NEXT;
    if (ast_is_excerpt(node)) {
        diag_warning(script->ctx, WARNING_UNUSED_VALUE, node->span, "the block is an excerpt of a program, and is left out");
        return FLOW_NEXT;
    }
    for (int i = 0; i < node->as.with.item_count && flow == FLOW_NEXT; i++)
        flow = enter(script, &node->as.with.items[i]) ? FLOW_NEXT : FLOW_ERROR;
    if (flow == FLOW_NEXT)
        flow = script_run_body(script, node->as.with.body);
    script->tag = outside;
    return flow;
}
