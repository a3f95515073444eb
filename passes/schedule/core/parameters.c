/* Signatures of primitives: reading them, and fitting the values of a call to them. The notation is explained in primitives.def. */
#include <stdlib.h>
#include <string.h>

#include "passes/schedule/core/query.h"
#include "passes/schedule/core/schedule.h"
#include "support/bug.h"

/* --- Reading a signature --- */

static const char *skip_spaces(const char *text)
{
    while (*text == ' ')
        text++;
    return text;
}

/* The text from BEGIN to END, without spaces at its end. */
static Str intern_part(Context *ctx, const char *begin, const char *end)
{
    while (end > begin && end[-1] == ' ')
        end--;
    return intern(ctx->strings, begin, (size_t)(end - begin));
}

static Value parse_default(Str text)
{
    if (!strcmp(text, "None"))
        return value_none();
    if (!strcmp(text, "True") || !strcmp(text, "False"))
        return (Value){.kind = VALUE_BOOL, .as.boolean = *text == 'T'};
    return (Value){.kind = VALUE_INT, .as.integer = strtoll(text, NULL, 10)};
}

/* Parses one "name: type = default" from BEGIN to END. */
static Parameter parse_parameter(Context *ctx, const char *begin, const char *end)
{
    Parameter parameter = {.variadic = *begin == '*'};
    begin += parameter.variadic;
    const char *colon = memchr(begin, ':', (size_t)(end - begin));
    CHECK(colon);
    const char *equals = memchr(colon, '=', (size_t)(end - colon));
    parameter.name = intern_part(ctx, begin, colon);
    parameter.type = intern_part(ctx, skip_spaces(colon + 1), equals ? equals : end);
    parameter.has_default = equals != NULL || parameter.variadic;
    if (parameter.variadic)
        parameter.default_value = value_list(ctx, NULL, 0);
    if (equals)
        parameter.default_value = parse_default(intern_part(ctx, skip_spaces(equals + 1), end));
    return parameter;
}

int primitive_parameters(Context *ctx, const Primitive *primitive, Parameter *parameters)
{
    int count = 0;
    const char *text = primitive->signature;
    while (*(text = skip_spaces(text))) {
        const char *end = strchr(text, ',');
        if (!end)
            end = text + strlen(text);
        CHECK(count < MOST_PARAMETERS);
        parameters[count++] = parse_parameter(ctx, text, end);
        text = *end ? end + 1 : end;
    }
    return count;
}

/* --- Fitting values --- */

/* What TYPE asks for, for messages. */
static const char *type_words(const char *type)
{
    static const struct {
        const char *type, *words;
    } table[] = {
        {"Loop", "a loop"},
        {"Block", "a block or the name of one"},
        {"Block or Loop", "a block, the name of one or a loop"},
        {"Loop or list[Block]", "a loop or a list of blocks"},
        {"Expr", "an int"},
        {"int", "an int"},
        {"float", "a number"},
        {"bool", "a bool"},
        {"str", "a string"},
        {"Map", "a lambda"},
        {"Buffer", "an index, the name of a buffer or (\"read\" or \"write\", index)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].type, type))
            return table[i].words;
    return !strncmp(type, "list", 4) ? "a list" : "a value";
}

static bool refuse_type(Schedule *sch, const Parameter *parameter, const char *type, bool is_item, const Value *value)
{
    return sched_refuse_argument(sch, value, "%s '%s' must be %s, not a value of type %s", is_item ? "each item of" : "argument",
                                 parameter->name, type_words(type), value_type_name(value->kind));
}

static bool convert_block(Schedule *sch, Value *value)
{
    Block *block = schedule_block_named(sch, value);
    if (!block)
        return false;
    *value = (Value){.kind = VALUE_BLOCK, .span = value->span, .as.block = block};
    return true;
}

static void convert_int_to_expr(Context *ctx, Value *value)
{
    DType dtype = dtype_holds(DTYPE_INT32, value->as.integer) ? DTYPE_INT32 : DTYPE_INT64;
    *value = (Value){.kind = VALUE_EXPR, .span = value->span, .as.expr = expr_int_at(ctx, dtype, value->as.integer, value->span)};
}

/* ("read" | "write", index) */
static bool is_buffer_pair(const Value *value)
{
    if (value->kind != VALUE_LIST || value->as.list->count != 2)
        return false;
    const Value *items = value->as.list->items;
    return items[0].kind == VALUE_STRING && items[1].kind == VALUE_INT &&
           (!strcmp(items[0].as.text, "read") || !strcmp(items[0].as.text, "write"));
}

/* Fits VALUE to TYPE, a plain type without "?" or "list"; *FITS says whether it does. False after a diagnostic. */
static bool convert_plain(Schedule *sch, const char *type, Value *value, bool *fits)
{
    if (value->kind == VALUE_EXPR && value->as.expr->kind == EXPR_INT)
        *value = (Value){.kind = VALUE_INT, .span = value->span, .as.integer = value->as.expr->value.integer};
    ValueKind kind = value->kind;
    *fits = true;
    if ((!strcmp(type, "Block") || !strcmp(type, "Block or Loop")) && kind == VALUE_STRING)
        return convert_block(sch, value);
    if (!strcmp(type, "Expr") && kind == VALUE_INT)
        convert_int_to_expr(sch->ctx, value);
    else if (!strcmp(type, "float") && kind == VALUE_INT)
        *value = (Value){.kind = VALUE_FLOAT, .span = value->span, .as.real = (double)value->as.integer};
    else if (!strcmp(type, "Block or Loop"))
        *fits = kind == VALUE_BLOCK || kind == VALUE_LOOP;
    else if (!strcmp(type, "Loop or list[Block]"))
        *fits = kind == VALUE_LOOP;
    else if (!strcmp(type, "Buffer"))
        *fits = kind == VALUE_INT || kind == VALUE_STRING || is_buffer_pair(value);
    else if (strcmp(type, "any"))
        *fits = (!strcmp(type, "Loop") && kind == VALUE_LOOP) || (!strcmp(type, "Block") && kind == VALUE_BLOCK) ||
                (!strcmp(type, "Expr") && kind == VALUE_EXPR) || (!strcmp(type, "int") && kind == VALUE_INT) ||
                (!strcmp(type, "float") && kind == VALUE_FLOAT) || (!strcmp(type, "bool") && kind == VALUE_BOOL) ||
                (!strcmp(type, "str") && kind == VALUE_STRING) || (!strcmp(type, "Map") && kind == VALUE_FUNCTION);
    return true;
}

static bool convert(Schedule *sch, const Parameter *parameter, Str type, bool is_item, Value *value);

/* Fits each item of a list, in a copy: the script may hold the list too. */
static bool convert_list(Schedule *sch, const Parameter *parameter, Str type, Value *value)
{
    if (value->kind != VALUE_LIST)
        return refuse_type(sch, parameter, type, false, value);
    const char *item = type + strlen("list[");
    Str item_type = intern_part(sch->ctx, item, strrchr(item, ']'));
    Span span = value->span;
    *value = value_list(sch->ctx, value->as.list->items, value->as.list->count);
    value->span = span;
    for (int i = 0; i < value->as.list->count; i++)
        if (!convert(sch, parameter, item_type, true, &value->as.list->items[i]))
            return false;
    return true;
}

static bool convert(Schedule *sch, const Parameter *parameter, Str type, bool is_item, Value *value)
{
    size_t length = strlen(type);
    bool optional = type[length - 1] == '?';
    if (optional && value->kind == VALUE_NONE)
        return true;
    Str plain = optional ? intern(sch->ctx->strings, type, length - 1) : type;
    if (!strcmp(plain, "Loop or list[Block]") && value->kind == VALUE_LIST)
        plain = context_intern(sch->ctx, "list[Block]");
    if (!strncmp(plain, "list[", 5))
        return convert_list(sch, parameter, plain, value);
    bool fits;
    if (!convert_plain(sch, plain, value, &fits))
        return false;
    return fits || refuse_type(sch, parameter, plain, is_item, value);
}

bool primitive_convert(Schedule *sch, const Primitive *primitive, const Parameter *parameter, Value *value)
{
    (void)primitive;
    return convert(sch, parameter, parameter->type, false, value);
}
