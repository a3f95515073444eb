/* Exceptions of scripts; see exception.c. */
#ifndef TIRC_SCRIPT_EXCEPTION_H
#define TIRC_SCRIPT_EXCEPTION_H

#include "script/script_internal.h"

/* The kind that the dotted name PATH stands for: ValueError, tvm.tir.ScheduleError; EXCEPTION_NONE. */
ExceptionKind exception_find(const char *path);
const char *exception_name(ExceptionKind kind);
/* KIND is BASE, or derived from it. */
bool exception_is(ExceptionKind kind, ExceptionKind base);
bool script_is_exception_class(Value value);
bool script_make_exception(Script *script, Value class, const Arguments *arguments, Value *result);
/* str() and repr() of an exception. */
bool exception_text(Script *script, const Object *exception, const char **text);
bool exception_repr(Script *script, const Object *exception, const char **text);

#endif
