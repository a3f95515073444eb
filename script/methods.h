/* The methods of strings, lists and dicts. */
#ifndef TIRC_SCRIPT_METHODS_H
#define TIRC_SCRIPT_METHODS_H

#include "script/script_internal.h"

/* A method of values of KIND: RUN gets the value and the arguments, whose number and keywords were checked. */
typedef struct {
    ValueKind kind;
    const char *name;
    bool (*run)(Script *script, Value self, const Arguments *arguments, Value *result);
    int fewest, most;
    bool of_tuples; /* of VALUE_LIST: tuples have it, too; of sets: frozen ones */
    const char *keywords[2];
} ValueMethod;

/* Ended by a row without a name. */
extern const ValueMethod string_methods[], container_methods[];
/* The method NAME of VALUE, or NULL. */
const ValueMethod *method_find(Value value, const char *name);
/* The name of method number INDEX of VALUE; NULL behind the last one. */
const char *method_name(Value value, int index);
/* dict.fromkeys(keys, value). */
bool script_dict_from_keys(Script *script, const Arguments *arguments, Value *result);
bool method_call(Script *script, Value self, const char *name, const Arguments *arguments, Value *result);
/* Argument INDEX as an int; OTHERWISE where it is not given or None. */
bool argument_int(Script *script, const Arguments *arguments, int index, int64_t otherwise, int64_t *result);
/* Sorts ITEMS in place, stably, by `key` and `reverse` of ARGUMENTS. */
bool script_sort(Script *script, ValueList *items, const Arguments *arguments);
/* Calls CALLEE, anything that can be called, with one argument. */
bool script_call_one(Script *script, Value callee, Value argument, Span span, Value *result);

#endif
