/* Values of schedule scripts; see value.h. */
#include "passes/schedule/core/value.h"

Value value_list(Context *ctx, const Value *items, int count)
{
    ValueList *list = ARENA_NEW(ctx->arena, ValueList);
    *list = (ValueList){.count = count, .capacity = count};
    list->items = count ? arena_copy(ctx->arena, items, sizeof *items * (size_t)count) : NULL;
    return (Value){.kind = VALUE_LIST, .as.list = list};
}

const char *value_type_name(ValueKind kind)
{
    switch (kind) {
    case VALUE_NONE: return "None";
    case VALUE_BOOL: return "bool";
    case VALUE_INT: return "int";
    case VALUE_FLOAT: return "float";
    case VALUE_STRING: return "str";
    case VALUE_LIST: return "list";
    case VALUE_DICT: return "dict";
    case VALUE_LOOP: return "loop";
    case VALUE_BLOCK: return "block";
    case VALUE_EXPR: return "expression";
    case VALUE_FUNCTION: return "function";
    case VALUE_SCRIPT: return "script object";
    }
    return "value";
}
