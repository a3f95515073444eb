/* Statements of schedule scripts. Python's semantics for the part of Python that schedules use; everything else is a diagnostic. */
#include "script/script_internal.h"
#include "support/warning.h"

#include <ctype.h>
#include <string.h>

enum { MOST_STEPS = 10 * 1000 * 1000, MOST_MADE = 32 * 1000 * 1000, MOST_CALL_NOTES = 8 };

/* The notes of the outermost COUNT calls, the innermost first. */
static void note_calls(Script *script, int count)
{
    int left_out = count > MOST_CALL_NOTES ? count - MOST_CALL_NOTES : 0;
    for (int i = count - 1; i >= 0; i--) {
        bool skipped = i >= MOST_CALL_NOTES / 2 && i < MOST_CALL_NOTES / 2 + left_out;
        if (!skipped)
            diag_note(script->ctx, script->calls.data[i], "in this call");
        else if (i == MOST_CALL_NOTES / 2)
            diag_note(script->ctx, span_none(), "%d calls between these are not shown", left_out);
    }
}

void script_note_calls(Script *script)
{
    note_calls(script, script->calls.count);
}

/* SPAN, or where that is in the text of a shipped operator, the user's call that led there. *AROUND is the number of calls around the place. */
static Span users_place(const Script *script, Span span, int *around)
{
    *around = script->calls.count;
    while (topi_is_text(script, span) && *around > 0)
        span = script->calls.data[--*around];
    return span;
}

bool script_error(Script *script, Span span, const char *format, ...)
{
    int around;
    Span place = users_place(script, span, &around);
    va_list args;
    va_start(args, format);
    diag_error(script->ctx, place, "%s", arena_vprintf(script->ctx->arena, format, args));
    va_end(args);
    if (topi_is_text(script, span))
        diag_note(script->ctx, span, "the text of the operator says so here");
    note_calls(script, around);
    return false;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* NEAR repairs the last part of the dotted name, or the string, that SPAN begins with, where it does with one. */
static void edit_name(Script *script, Span span, const char *near)
{
    const SourceFile *source = span.file ? source_file(script->ctx->sources, span.file) : NULL;
    if (!source)
        return;
    const char *begin = source->text + span.begin, *end = begin;
    for (; is_letter(*end) || *end == '.'; end++)
        if (*end == '.')
            begin = end + 1;
    const char *last = strrchr(near, '.');
    if (end == begin)
        diag_edit_string(script->ctx, span, near);
    else
        diag_edit(script->ctx, (Span){span.file, (uint32_t)(begin - source->text), (uint32_t)(end - source->text)}, last ? last + 1 : near);
}

bool script_unknown(Script *script, Span span, const char *near, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(script->ctx->arena, format, args);
    va_end(args);
    if (!near)
        return script_error(script, span, "%s", text);
    diag_error(script->ctx, span, "%s; did you mean '%s'?", text, near);
    edit_name(script, span, near);
    script_note_calls(script);
    return false;
}

static bool assign_items(Script *script, const AstNode *target, Value value)
{
    const AstList *targets = &target->as.list;
    int star = -1;
    for (int i = 0; i < targets->count; i++)
        if (targets->items[i]->kind == AST_STARRED)
            star = i;
    int fixed = targets->count - (star >= 0);
    const ValueList *items = star < 0 ? script_first_items(script, value, fixed, target->span, "cannot unpack %s") : script_items(script, value, target->span, "cannot unpack %s");
    if (!items)
        return false;
    if (star < 0 ? items->count != fixed : items->count < fixed)
        return script_raise(script, target->span, EXCEPTION_ValueError, "%s%d value%s unpacked into %d target%s", items->count < fixed ? "only " : "",
                            items->count, items->count == 1 ? " is" : "s are", fixed, fixed == 1 ? "" : "s");
    int extra = items->count - fixed;
    items = script_list(script, items->items, items->count, false).as.list; /* the targets may be in the list itself */
    for (int i = 0, next = 0; i < targets->count; i++) {
        Value item;
        const AstNode *inner = targets->items[i];
        if (i == star) {
            item = script_list(script, items->items + next, extra, false);
            inner = inner->as.operand;
            next += extra;
        } else {
            item = items->items[next++];
        }
        if (!script_assign(script, inner, item))
            return false;
    }
    return true;
}

bool script_assign(Script *script, const AstNode *target, Value value)
{
    if (target->kind == AST_NAME) {
        script_set(script, target->as.name, value);
        return true;
    }
    if (target->kind == AST_TUPLE || target->kind == AST_LIST)
        return assign_items(script, target, value);
    Value container;
    if (target->kind == AST_SUBSCRIPT)
        return script_eval(script, target->as.subscript.value, &container) && script_assign_item(script, container, target, value);
    return script_error(script, target->span, "cannot assign to %s in a schedule script", ast_kind_name(target->kind));
}

/* `list += items` changes the list itself, which other names may hold too. */
static bool run_aug_assign(Script *script, const AstNode *node)
{
    Value left, right, result;
    if (!script_eval(script, node->as.aug_assign.target, &left) || !script_eval(script, node->as.aug_assign.value, &right))
        return false;
    if (value_object(left, OBJECT_SET))
        return script_update_set(script, node->as.aug_assign.op, left, right, node->span, &result) &&
               script_assign(script, node->as.aug_assign.target, result);
    if (node->as.aug_assign.op == AST_OP_ADD && left.kind == VALUE_LIST && !left.as.list->is_tuple) {
        const ValueList *items = script_items(script, right, node->span, "'+=' of a list needs a list, not %s");
        return items && script_append(script, left.as.list, items->items, items->count, node->span);
    }
    if (value_object(left, OBJECT_ARRAY)) /* in the memory that other names may hold too */
        return nd_update(script, node->as.aug_assign.op, value_object(left, OBJECT_ARRAY)->as.array, right, node->span);
    return script_binary(script, node->as.aug_assign.op, left, right, node->span, &result) &&
           script_assign(script, node->as.aug_assign.target, result);
}

static Flow run_for(Script *script, const AstNode *node)
{
    Value iterable, item;
    Sequence *iterator;
    if (!script_eval(script, node->as.for_loop.iterable, &iterable) ||
        !script_iterate(script, iterable, node->as.for_loop.iterable->span, "cannot loop over %s", &iterator))
        return FLOW_ERROR;
    while (true) {
        bool ended;
        if (!iterator_next(script, iterator, &item, &ended))
            return FLOW_ERROR;
        if (ended)
            return script_run_body(script, node->as.for_loop.else_body);
        if (!script_assign(script, node->as.for_loop.target, item))
            return FLOW_ERROR;
        script->loops++;
        Flow flow = script_run_body(script, node->as.for_loop.body);
        script->loops--;
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow == FLOW_RETURN || flow == FLOW_ERROR)
            return flow;
    }
}

static Flow run_while(Script *script, const AstNode *node)
{
    while (true) {
        Value condition;
        bool truth;
        if (!script_step(script, node->span) || !script_eval(script, node->as.while_loop.condition, &condition) ||
            !script_condition(script, condition, node->as.while_loop.condition->span, &truth))
            return FLOW_ERROR;
        if (!truth)
            return script_run_body(script, node->as.while_loop.else_body);
        script->loops++;
        Flow flow = script_run_body(script, node->as.while_loop.body);
        script->loops--;
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow == FLOW_RETURN || flow == FLOW_ERROR)
            return flow;
    }
}

static Flow run_if(Script *script, const AstNode *node)
{
    Value condition;
    bool truth;
    if (!script_eval(script, node->as.branch.condition, &condition) ||
        !script_condition(script, condition, node->as.branch.condition->span, &truth))
        return FLOW_ERROR;
    return script_run_body(script, truth ? node->as.branch.body : node->as.branch.else_body);
}

static bool run_assert(Script *script, const AstNode *node)
{
    Value condition, message;
    bool truth;
    if (!script_eval(script, node->as.assertion.condition, &condition) || !script_condition(script, condition, node->span, &truth))
        return false;
    if (truth)
        return true;
    if (!node->as.assertion.message)
        return script_raise_with(script, node->span, EXCEPTION_AssertionError, value_none(), "assertion failed");
    const char *text;
    return script_eval(script, node->as.assertion.message, &message) && script_text(script, message, &text) &&
           script_raise_with(script, node->span, EXCEPTION_AssertionError, message,
                             context_internf(script->ctx, "%s%s", topi_is_text(script, node->span) ? "" : "assertion failed: ", text));
}

static bool run_delete(Script *script, const AstNode *node)
{
    for (int i = 0; i < node->as.list.count; i++)
        if (!script_delete(script, node->as.list.items[i]))
            return false;
    return true;
}

/* Of two traces that nothing calls only the last one is applied. */
static void warn_of_lost_trace(Script *script, const AstNode *node)
{
    const Value *old = map_get(&script->scope->values, node->as.def.name);
    const Object *def = old ? value_object(*old, OBJECT_DEF) : NULL;
    if (strcmp(node->as.def.name, "apply_trace") || !def || map_has(&script->called, def->as.def.node))
        return;
    diag_warning(script->ctx, WARNING_REDEFINED_TRACE, node->as.def.name_span, "'apply_trace' is defined again before anything calls it");
    diag_note(script->ctx, def->as.def.node->span, "this one is lost");
}

static bool run_def(Script *script, const AstNode *node)
{
    if (node->as.def.decorators.count)
        return script_define_program(script, node);
    Value *defaults;
    if (!script_parameters(script, node->as.def.params, node->as.def.param_count, &defaults))
        return false;
    warn_of_lost_trace(script, node);
    script_set(script, node->as.def.name, script_object(script, (Object){.kind = OBJECT_DEF, .as.def = {node, defaults, script->scope}}));
    return true;
}

Str script_import_name(Script *script, const AstImportItem *item)
{
    if (item->alias || item->name)
        return item->alias ? item->alias : item->name;
    return context_internf(script->ctx, "%.*s", (int)strcspn(item->module, "."), item->module);
}

/* `import a.b as c` makes c a namespace; `import a.b` makes a one. */
static bool run_import(Script *script, const AstNode *node)
{
    for (int i = 0; i < node->as.import.count; i++) {
        const AstImportItem *item = &node->as.import.items[i];
        if (!check_import(script->ctx, item))
            return false;
        Str path = item->name ? context_internf(script->ctx, "%s.%s", item->module, item->name) : item->module;
        Str bound = script_import_name(script, item);
        if (!item->alias && !item->name)
            path = bound;
        if (strcmp(bound, "*"))
            script_set(script, bound, script_path_value(script, path));
    }
    return true;
}

static Flow run_return(Script *script, const AstNode *node)
{
    if (!script->calls.count) {
        script_error(script, node->span, "'return' outside of a function");
        return FLOW_ERROR;
    }
    script->returned = value_none();
    if (node->as.operand && !script_eval(script, node->as.operand, &script->returned))
        return FLOW_ERROR;
    return FLOW_RETURN;
}

static bool run_assign(Script *script, const AstNode *node)
{
    Value value;
    if (!script_eval(script, node->as.assign.value, &value))
        return false;
    for (int i = 0; i < node->as.assign.targets.count; i++)
        if (!script_assign(script, node->as.assign.targets.items[i], value))
            return false;
    return true;
}

bool script_step(Script *script, Span span)
{
    if (script->made > MOST_MADE)
        return script_error(script, span, "the script has made lists and strings of more than %d items in all", MOST_MADE);
    return ++script->steps <= MOST_STEPS || script_error(script, span, "the script has run %d statements; it seems not to end", MOST_STEPS);
}

/* NODE is written for its value, which nothing uses as a statement. A name is what a notebook shows at the end of a cell. */
static bool is_unused(const AstNode *node)
{
    switch (node->kind) {
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL:
    case AST_UNARY:
    case AST_BINARY:
    case AST_COMPARE: return true;
    default: return false;
    }
}

/* An expression for its effect. A function that is only named was meant to be called. */
static bool run_expression(Script *script, const AstNode *node)
{
    Value value;
    if (!script_eval(script, node, &value))
        return false;
    if (is_unused(node))
        diag_warning(script->ctx, WARNING_UNUSED_VALUE, node->span, "the value is not used");
    const Object *object = value.kind == VALUE_SCRIPT && node->kind != AST_CALL ? value.as.script : NULL;
    return !object || !script_is_callable(object) || script_refuse_uncalled(script, object, node->span, "does nothing unless it is called");
}

static Flow run_statement(Script *script, const AstNode *node)
{
    Value value;
    bool ok = true;
    if (!script_step(script, node->span))
        return FLOW_ERROR;
    switch (node->kind) {
    case AST_EXPR_STMT: ok = run_expression(script, node->as.operand); break;
    case AST_ASSIGN: ok = run_assign(script, node); break;
    case AST_ANN_ASSIGN:
        if (node->as.ann_assign.value)
            ok = script_eval(script, node->as.ann_assign.value, &value) && script_assign(script, node->as.ann_assign.target, value);
        break;
    case AST_AUG_ASSIGN: ok = run_aug_assign(script, node); break;
    case AST_FOR: return run_for(script, node);
    case AST_WHILE: return run_while(script, node);
    case AST_IF: return run_if(script, node);
    case AST_DEF: ok = run_def(script, node); break;
    case AST_CLASS: ok = script_define_program(script, node); break;
    case AST_RETURN: return run_return(script, node);
    case AST_RAISE: ok = script_run_raise(script, node); break;
    case AST_TRY: return script_run_try(script, node);
    case AST_WITH: return script_run_with(script, node);
    case AST_NONLOCAL:
        ok = script->calls.count > 0 || script_error(script, node->span, "'nonlocal' outside of a function");
        break;
    case AST_GLOBAL: break;
    case AST_DELETE: ok = run_delete(script, node); break;
    case AST_PASS: break;
    case AST_BREAK:
    case AST_CONTINUE:
        if (script->loops)
            return node->kind == AST_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
        ok = script_error(script, node->span, "'%s' outside of a loop", node->kind == AST_BREAK ? "break" : "continue");
        break;
    case AST_ASSERT: ok = run_assert(script, node); break;
    case AST_IMPORT: ok = run_import(script, node); break;
    default: ok = script_error(script, node->span, "%s is not part of schedule scripts", ast_kind_name(node->kind)); break;
    }
    return ok ? FLOW_NEXT : FLOW_ERROR;
}

Flow script_run_body(Script *script, AstList body)
{
    for (int i = 0; i < body.count; i++) {
        Flow flow = run_statement(script, body.items[i]);
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_NEXT;
}
