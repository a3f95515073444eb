/* Which names a C or C++ program cannot give to what is its own. */
#ifndef TIRC_IR_C_NAMES_H
#define TIRC_IR_C_NAMES_H

#include "support/context.h"

/* True for a name that a parameter of a C function cannot have: a keyword, a type of the standard headers, a macro, or a name that C reserves
   for compilers. */
bool c_owns_parameter_name(const char *name);
/* True for a name that a function cannot have beside the C library and the runtime: those, and all that they define. */
bool c_owns_function_name(const char *name);
/* NAME as letters, digits and underscores: a character that is no ASCII becomes uXXXX (its code point), so that different names stay different;
   each other character becomes an underscore. A digit does not come first. */
Str c_identifier(Context *ctx, const char *name);

#endif
