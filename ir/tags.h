/* The names of storage scopes and of thread axes. */
#ifndef TIRC_IR_TAGS_H
#define TIRC_IR_TAGS_H

#include <stdbool.h>

bool storage_scope_is_known(const char *scope);
/* The scope that SCOPE, which is unknown, is a misspelling of; NULL: of none. */
const char *storage_scope_near(const char *scope);

bool thread_axis_is_known(const char *thread);
const char *thread_axis_near(const char *thread);

#endif
