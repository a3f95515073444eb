/* Expressions of schedule scripts. */
#include "script/nd_array.h"
#include "script/exception.h"
#include "script/sequence.h"
#include "script/set.h"
#include "script/te.h"
#include "script/text.h"

#include <string.h>

#include "support/bug.h"
#include "support/strbuf.h"

/* A function may call itself deep inside of a large expression. */
enum { DEEPEST_EVALUATION = 4000 };

Value script_object(Script *script, Object object)
{
    return (Value){.kind = VALUE_SCRIPT, .as.script = arena_copy(script->ctx->arena, &object, sizeof object)};
}

const Object *value_object(Value value, ObjectKind kind)
{
    const Object *object = value.kind == VALUE_SCRIPT ? value.as.script : NULL;
    return object && object->kind == kind ? object : NULL;
}

Value script_list(Script *script, const Value *items, int count, bool is_tuple)
{
    Value list = value_list(script->ctx, items, count);
    list.as.list->is_tuple = is_tuple;
    script->made += count + 1;
    return list;
}

/* The characters of TEXT, each a string of its bytes. */
static const ValueList *characters(Script *script, const char *text)
{
    VEC(Value) items = {0};
    for (size_t i = 0, next; text[i]; i = next) {
        for (next = i + 1; (text[next] & 0xC0) == 0x80; next++)
            continue;
        Value item = {.kind = VALUE_STRING, .as.text = context_internf(script->ctx, "%.*s", (int)(next - i), text + i)};
        vec_push(script->ctx->arena, &items, item);
    }
    return script_list(script, items.data, items.count, false).as.list;
}

static const ValueList *keys(Script *script, const ValueList *dict)
{
    Value list = script_list(script, NULL, 0, false);
    list.as.list->items = ARENA_ARRAY(script->ctx->arena, Value, dict->count / 2);
    list.as.list->count = dict->count / 2;
    for (int i = 0; i < dict->count; i += 2)
        list.as.list->items[i / 2] = dict->items[i];
    return list.as.list;
}

const ValueList *script_items(Script *script, Value value, Span span, const char *refusal)
{
    if (value_set(value))
        return set_items(script, value_set(value));
    if (value_sequence(value))
        return sequence_items(script, value_sequence(value));
    switch (value.kind) {
    case VALUE_LIST: return value.as.list;
    case VALUE_DICT: return keys(script, value.as.list);
    case VALUE_STRING: return characters(script, value.as.text);
    default: script_raise(script, span, EXCEPTION_TypeError, refusal, script_type_phrase(script, value)); return NULL;
    }
}

bool script_truth(Value value)
{
    switch (value.kind) {
    case VALUE_NONE: return false;
    case VALUE_BOOL: return value.as.boolean;
    case VALUE_INT: return value.as.integer != 0;
    case VALUE_FLOAT: return value.as.real != 0;
    case VALUE_STRING: return *value.as.text != 0;
    case VALUE_LIST:
    case VALUE_DICT: return value.as.list->count != 0;
    case VALUE_SCRIPT:
        if (value_set(value))
            return set_count(value_set(value)) != 0;
        return !value_sequence(value) || sequence_length(value_sequence(value)) != 0;
    default: return true;
    }
}

bool script_condition(Script *script, Value value, Span span, bool *result)
{
    *result = script_truth(value);
    if (value.kind != VALUE_EXPR)
        return true;
    int64_t number;
    if (expr_const_int(value.as.expr, &number)) {
        *result = number != 0;
        return true;
    }
    return script_error(script, span, "whether this expression holds is not known here; te.all, te.any and te.if_then_else work on expressions");
}

/* INNER is a part of OUTER. */
static bool span_within(Span inner, Span outer)
{
    return inner.file == outer.file && inner.begin >= outer.begin && inner.end <= outer.end;
}

/* Evaluates a list of expressions with starred ones spread out: their items stand where the list does, or where the star is. */
static bool eval_items(Script *script, AstList list, Value **items, int *count)
{
    VEC(Value) values = {0};
    for (int i = 0; i < list.count; i++) {
        const AstNode *node = list.items[i];
        Value value;
        if (!script_eval(script, node->kind == AST_STARRED ? node->as.operand : node, &value))
            return false;
        if (node->kind != AST_STARRED) {
            vec_push(script->ctx->arena, &values, value);
            continue;
        }
        const ValueList *spread = script_items(script, value, node->span, "'*' needs a list, not %s");
        if (!spread)
            return false;
        for (int j = 0; j < spread->count; j++) {
            Value item = spread->items[j];
            if (!span_within(item.span, node->span))
                item.span = node->span;
            vec_push(script->ctx->arena, &values, item);
        }
    }
    *items = values.data;
    *count = values.count;
    return true;
}

static bool eval_display(Script *script, const AstNode *node, Value *result)
{
    Value *items;
    int count;
    if (!eval_items(script, node->as.list, &items, &count))
        return false;
    if (node->kind == AST_SET)
        return set_display(script, node, items, count, result);
    *result = script_list(script, items, count, node->kind == AST_TUPLE);
    return true;
}

/* A list or dict, which may change, is no key. */
static bool is_key(Value value)
{
    bool ok = value.kind != VALUE_DICT && !value_set(value) && (value.kind != VALUE_LIST || value.as.list->is_tuple);
    for (int i = 0; ok && value.kind == VALUE_LIST && i < value.as.list->count; i++)
        ok = is_key(value.as.list->items[i]);
    return ok;
}

bool script_dict_set(Script *script, Value dict, Value key, Value value)
{
    if (!script_can_walk(script, key, key.span))
        return false;
    if (!is_key(key))
        return script_raise(script, key.span, EXCEPTION_TypeError, "%s cannot be a key of a dict", script_type_phrase(script, key));
    script->steps += dict.as.list->count / 64; /* a search through the keys is work, too */
    Value *old = (Value *)script_dict_find(dict, key);
    if (old) {
        *old = value;
        return true;
    }
    return script_append(script, dict.as.list, (Value[]){key, value}, 2, key.span);
}

static bool eval_dict(Script *script, const AstNode *node, Value *result)
{
    *result = script_list(script, NULL, 0, false);
    result->kind = VALUE_DICT;
    for (int i = 0; i < node->as.dict.keys.count; i++) {
        Value key, value;
        if (!node->as.dict.keys.items[i]) {
            if (!script_eval(script, node->as.dict.values.items[i], &value))
                return false;
            if (value.kind != VALUE_DICT)
                return script_raise(script, node->as.dict.values.items[i]->span, EXCEPTION_TypeError, "'**' needs a dict, not %s", script_type_phrase(script, value));
            if (!script_dict_update(script, *result, value, node->span))
                return false;
            continue;
        }
        if (!script_eval(script, node->as.dict.keys.items[i], &key) || !script_eval(script, node->as.dict.values.items[i], &value) ||
            !script_dict_set(script, *result, key, value))
            return false;
    }
    return true;
}

/* -9223372036854775808, whose digits alone do not fit. */
static bool is_least_int(const AstNode *node)
{
    const AstNode *operand = node->as.unary.operand;
    return node->as.unary.op == AST_OP_NEGATIVE && operand->kind == AST_INT && operand->as.integer == (uint64_t)INT64_MAX + 1;
}

static bool eval_unary(Script *script, const AstNode *node, Value *result)
{
    Value operand;
    if (is_least_int(node)) {
        *result = (Value){.kind = VALUE_INT, .as.integer = INT64_MIN};
        return true;
    }
    if (!script_eval(script, node->as.unary.operand, &operand))
        return false;
    AstOp op = node->as.unary.op;
    if (op == AST_OP_NOT) {
        bool truth;
        if (!script_condition(script, operand, node->span, &truth))
            return false;
        *result = (Value){.kind = VALUE_BOOL, .as.boolean = !truth};
        return true;
    }
    if (script_is_expr(script, operand))
        return script_expr_unary(script, op, operand, node->span, result);
    if (nd_array(operand) && op == AST_OP_NEGATIVE)
        return nd_binary(script, AST_OP_MUL, (Value){.kind = VALUE_INT, .as.integer = -1}, operand, node->span, result);
    if (te_takes_part(operand))
        return te_unary(script, op, operand, node->span, result);
    if (!script_is_number(operand) || (op == AST_OP_INVERT && operand.kind == VALUE_FLOAT))
        return script_raise(script, node->span, EXCEPTION_TypeError, "'%s' does not take %s", op == AST_OP_INVERT ? "~" : op == AST_OP_NEGATIVE ? "-" : "+",
                            script_type_phrase(script, operand));
    if (op == AST_OP_NEGATIVE && operand.kind == VALUE_FLOAT) {
        *result = (Value){.kind = VALUE_FLOAT, .as.real = -operand.as.real};
        return true;
    }
    Value zero = {.kind = VALUE_INT}, minus_one = {.kind = VALUE_INT, .as.integer = -1};
    if (op == AST_OP_INVERT)
        return script_binary(script, AST_OP_SUB, minus_one, operand, node->span, result);
    return script_binary(script, op == AST_OP_NEGATIVE ? AST_OP_SUB : AST_OP_ADD, zero, operand, node->span, result);
}

/* VALUE is compared with an expression by its value, or refused there as a string is; other kinds of values are never equal to one. */
static bool is_comparable(Value value)
{
    return te_is_expression(value) || script_is_number(value) || value.kind == VALUE_STRING;
}

static bool eval_compare(Script *script, const AstNode *node, Value *result)
{
    Value left, right;
    if (!script_eval(script, node->as.compare.first, &left))
        return false;
    bool holds = true;
    for (int i = 0; i < node->as.compare.rest.count && holds; i++) {
        AstOp op = node->as.compare.ops[i];
        if (op <= AST_OP_GE) {
            if (!script_eval(script, node->as.compare.rest.items[i], &right))
                return false;
            if (script_is_expr(script, left) || script_is_expr(script, right))
                return node->as.compare.rest.count == 1
                           ? script_expr_compare(script, op, left, right, node->span, result)
                           : script_error(script, node->span, "expressions are compared two at a time; T.all joins comparisons");
            if ((nd_array(left) || nd_array(right)) && node->as.compare.rest.count == 1)
                return nd_binary(script, op, left, right, node->span, result);
            bool symbolic = te_is_expression(left) || te_is_expression(right), equality = op == AST_OP_EQ || op == AST_OP_NE;
            symbolic &= !equality || (is_comparable(left) && is_comparable(right));
            if (symbolic && !te_compare(script, op, left, right, node->span, result))
                return false;
            if (symbolic && node->as.compare.rest.count == 1)
                return true;
            if (symbolic ? !script_condition(script, *result, node->span, &holds)
                         : !script_compare(script, op, left, right, node->span, &holds))
                return false;
            left = right;
            continue;
        }
        if (!script_eval(script, node->as.compare.rest.items[i], &right) ||
            !script_compare(script, node->as.compare.ops[i], left, right, node->span, &holds))
            return false;
        left = right;
    }
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = holds};
    return true;
}

/* and, or: the operand that decides, as in Python. */
static bool eval_bool_op(Script *script, const AstNode *node, Value *result)
{
    for (int i = 0; i < node->as.bool_op.operands.count; i++) {
        if (!script_eval(script, node->as.bool_op.operands.items[i], result))
            return false;
        bool truth, last = i + 1 == node->as.bool_op.operands.count;
        if (last)
            break;
        if (!script_condition(script, *result, node->span, &truth))
            return false;
        if (truth == (node->as.bool_op.op == AST_OP_OR))
            break;
    }
    return true;
}

static bool eval_conditional(Script *script, const AstNode *node, Value *result)
{
    Value condition;
    bool truth;
    return script_eval(script, node->as.conditional.condition, &condition) &&
           script_condition(script, condition, node->as.conditional.condition->span, &truth) &&
           script_eval(script, truth ? node->as.conditional.if_true : node->as.conditional.if_false, result);
}

static bool eval_binary(Script *script, const AstNode *node, Value *result)
{
    Value left, right;
    return script_eval(script, node->as.binary.left, &left) && script_eval(script, node->as.binary.right, &right) &&
           script_binary(script, node->as.binary.op, left, right, node->span, result);
}

static bool eval_lambda(Script *script, const AstNode *node, Value *result)
{
    Value *defaults;
    if (!script_parameters(script, node->as.lambda.params, node->as.lambda.param_count, &defaults))
        return false;
    *result = script_object(script, (Object){.kind = OBJECT_DEF, .as.def = {node, defaults, script->scope}});
    return true;
}

static bool eval_call(Script *script, const AstNode *node, Value *result)
{
    Value callee;
    return script_eval(script, node->as.call.callee, &callee) && script_call(script, callee, node, result);
}

static bool eval_attribute(Script *script, const AstNode *node, Value *result)
{
    Value self;
    return script_eval(script, node->as.attribute.value, &self) && script_attribute(script, self, node, result);
}

static bool eval_subscript(Script *script, const AstNode *node, Value *result)
{
    Value self;
    return script_eval(script, node->as.subscript.value, &self) && script_subscript(script, self, node, result);
}

static bool eval_int(Script *script, const AstNode *node, Value *result)
{
    if (node->as.integer > INT64_MAX)
        return script_error(script, node->span, "the number does not fit in 64 bits");
    *result = (Value){.kind = VALUE_INT, .as.integer = (int64_t)node->as.integer};
    return true;
}

/* Adds the value of a replacement field that says how it is written. */
static bool add_field(Script *script, const AstNode *node, StrBuf *text)
{
    Value value, spec = {.kind = VALUE_STRING, .as.text = ""};
    return script_eval(script, node->as.field.value, &value) && script_convert(script, value, node->as.field.conversion, &value) &&
           (!node->as.field.spec || script_eval(script, node->as.field.spec, &spec)) &&
           script_add_formatted(script, text, value, spec.as.text, node->span);
}

static bool eval_format(Script *script, const AstNode *node, Value *result)
{
    StrBuf text = {.arena = script->ctx->arena};
    for (int i = 0; i < node->as.list.count; i++) {
        Value part;
        const char *words;
        if (node->as.list.items[i]->kind == AST_FIELD) {
            if (!add_field(script, node->as.list.items[i], &text))
                return false;
            continue;
        }
        if (!script_eval(script, node->as.list.items[i], &part) || !script_text(script, part, &words))
            return false;
        strbuf_add(&text, words);
    }
    *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, strbuf_text(&text))};
    return true;
}

/* NAME := VALUE, of the function or script that the comprehensions around it stand in. */
static bool eval_named(Script *script, const AstNode *node, Value *result)
{
    if (!script_eval(script, node->as.named.value, result))
        return false;
    Environment *scope = script->scope;
    while (script->scope->comprehension)
        script->scope = script->scope->outer;
    script_set(script, node->as.named.name, *result);
    script->scope = scope;
    return true;
}

static bool eval_node(Script *script, const AstNode *node, Value *result)
{
    switch (node->kind) {
    case AST_NAME: return script_eval_name(script, node, result);
    case AST_INT: return eval_int(script, node, result);
    case AST_FLOAT: *result = (Value){.kind = VALUE_FLOAT, .as.real = node->as.real}; return true;
    case AST_STRING: *result = (Value){.kind = VALUE_STRING, .as.text = node->as.text}; return true;
    case AST_FORMAT: return eval_format(script, node, result);
    case AST_BOOL: *result = (Value){.kind = VALUE_BOOL, .as.boolean = node->as.boolean}; return true;
    case AST_NONE: *result = value_none(); return true;
    case AST_TUPLE:
    case AST_SET:
    case AST_LIST: return eval_display(script, node, result);
    case AST_DICT: return eval_dict(script, node, result);
    case AST_CALL: return eval_call(script, node, result);
    case AST_ATTRIBUTE: return eval_attribute(script, node, result);
    case AST_SUBSCRIPT: return eval_subscript(script, node, result);
    case AST_UNARY: return eval_unary(script, node, result);
    case AST_BINARY: return eval_binary(script, node, result);
    case AST_COMPARE: return eval_compare(script, node, result);
    case AST_BOOL_OP: return eval_bool_op(script, node, result);
    case AST_CONDITIONAL: return eval_conditional(script, node, result);
    case AST_LAMBDA: return eval_lambda(script, node, result);
    case AST_NAMED: return eval_named(script, node, result);
    case AST_COMPREHENSION: return script_eval_comprehension(script, node, result);
    default: return script_error(script, node->span, "%s is not part of schedule scripts", ast_kind_name(node->kind));
    }
}

bool script_eval(Script *script, const AstNode *node, Value *result)
{
    *result = value_none();
    if (script->depth >= DEEPEST_EVALUATION)
        return script_error(script, node->span, "expressions are nested more than %d deep through calls", DEEPEST_EVALUATION);
    script->depth++;
    bool ok = eval_node(script, node, result);
    script->depth--;
    result->span = node->span;
    return ok;
}

typedef struct {
    VEC(Str) names;
    VEC(Value) values;
    VEC(Span) spans;
} Keywords;

static bool add_keyword(Script *script, Keywords *keywords, Str name, Value value, Span span)
{
    for (int j = 0; j < keywords->names.count; j++)
        if (keywords->names.data[j] == name)
            return script_raise(script, span, EXCEPTION_TypeError, "'%s' is given twice", name);
    vec_push(script->ctx->arena, &keywords->names, name);
    vec_push(script->ctx->arena, &keywords->values, value);
    vec_push(script->ctx->arena, &keywords->spans, span);
    return true;
}

/* **DICT in a call. */
static bool spread_keywords(Script *script, Keywords *keywords, Value dict, Span span)
{
    if (dict.kind != VALUE_DICT)
        return script_raise(script, span, EXCEPTION_TypeError, "'**' needs a dict, not %s", script_type_phrase(script, dict));
    for (int i = 0; i < dict.as.list->count; i += 2) {
        Value key = dict.as.list->items[i];
        if (key.kind != VALUE_STRING)
            return script_error(script, span, "'**' needs a dict with strings as its keys, not %s", script_type_phrase(script, key));
        if (!add_keyword(script, keywords, context_intern(script->ctx, key.as.text), dict.as.list->items[i + 1], span))
            return false;
    }
    return true;
}

static bool eval_arguments(Script *script, const AstNode *call, Arguments *arguments)
{
    Keywords keywords = {0};
    *arguments = (Arguments){.span = call->span};
    if (!eval_items(script, call->as.call.args, &arguments->positional, &arguments->positional_count))
        return false;
    for (int i = 0; i < call->as.call.keyword_count; i++) {
        const AstKeyword *keyword = &call->as.call.keywords[i];
        Value value;
        if (!script_eval(script, keyword->value, &value))
            return false;
        if (!(keyword->name ? add_keyword(script, &keywords, keyword->name, value, keyword->span)
                            : spread_keywords(script, &keywords, value, keyword->span)))
            return false;
    }
    arguments->keyword_names = keywords.names.data;
    arguments->keywords = keywords.values.data;
    arguments->keyword_spans = keywords.spans.data;
    arguments->keyword_count = keywords.names.count;
    return true;
}

static const Object *callable_of(Script *script, Value callee, Span span)
{
    const Object *object = callee.kind == VALUE_SCRIPT ? callee.as.script : NULL;
    bool te = object && (object->kind == OBJECT_REDUCER || object->kind == OBJECT_TENSOR || object->kind == OBJECT_SLICE || object->kind == OBJECT_BUILT ||
                         object->kind == OBJECT_PASS);
    if (object && (te || script_is_exception_class(callee) || script_is_callable(object) || object->kind == OBJECT_NAMESPACE))
        return object;
    script_raise(script, span, EXCEPTION_TypeError, "%s cannot be called", script_type_phrase(script, callee));
    return NULL;
}

bool script_call_value(Script *script, Value callee, const Arguments *arguments, Value *result)
{
    const Object *object = callable_of(script, callee, arguments->span);
    if (!object)
        return false;
    if (script->depth >= DEEPEST_EVALUATION)
        return script_error(script, arguments->span, "expressions are nested more than %d deep through calls", DEEPEST_EVALUATION);
    if (script_is_exception_class(callee))
        return script_make_exception(script, callee, arguments, result);
    switch (object->kind) {
    case OBJECT_DEF: return script_call_def(script, object, arguments, result);
    case OBJECT_BUILTIN: return script_call_builtin(script, object->as.builtin, arguments, result);
    case OBJECT_NAMESPACE: return script_call_namespace(script, object->as.path, arguments, result);
    case OBJECT_PASS: return script_call_pass(script, object, arguments, result);
    case OBJECT_BUILT: return script_call_built(script, object, arguments, result);
    case OBJECT_REDUCER: return te_call_reducer(script, object->as.reducer, arguments, result);
    case OBJECT_TENSOR:
    case OBJECT_SLICE:
        if (arguments->keyword_count)
            return script_error(script, arguments->span, "an element of a tensor has indices only");
        return te_index(script, callee, arguments->positional, arguments->positional_count, arguments->span, result);
    default: return script_call_method(script, object, arguments, result);
    }
}

bool script_call(Script *script, Value callee, const AstNode *call, Value *result)
{
    Arguments arguments;
    return callable_of(script, callee, call->span) && eval_arguments(script, call, &arguments) &&
           script_call_value(script, callee, &arguments, result);
}
