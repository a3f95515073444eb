/* The builtin functions of scripts that are about values and other functions; the table is in builtins.c. */
#ifndef TIRC_SCRIPT_BUILTINS_H
#define TIRC_SCRIPT_BUILTINS_H

#include "script/script_internal.h"

typedef bool BuiltinFunction(Script *script, const Arguments *arguments, Value *result);

BuiltinFunction builtin_map, builtin_filter, builtin_sorted, builtin_any, builtin_all, builtin_isinstance, builtin_type, builtin_float,
    builtin_bool, builtin_dict, builtin_divmod, builtin_round, builtin_repr, builtin_pow, builtin_chr, builtin_ord, builtin_format,
    builtin_callable, builtin_compute_diff, builtin_zip, builtin_iter, builtin_next, builtin_hex, builtin_oct, builtin_bin;

/* difflib.ndiff(a, b): the lines of both lists of lines, those that differ with marks. */
BuiltinFunction script_ndiff;

/* The builtin function NAME is a type: int, list, ... */
bool builtin_is_type(const char *name);

#endif
