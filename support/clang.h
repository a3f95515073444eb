/* C compiled to LLVM IR by clang, as a command of its own. */
#ifndef TIRC_SUPPORT_CLANG_H
#define TIRC_SUPPORT_CLANG_H

#include <stdbool.h>

#include "support/arena.h"

typedef struct {
    const char *program;        /* the command; NULL: clang-19, else clang, of PATH */
    const char *const *options; /* words between the command and the input */
    int option_count;
    const char *source;         /* the text, where it is_text: C, or C++ where it says extern "C"; else the path of a file */
    bool is_text;
} ClangRun;

/* SOURCE is C itself and no path: it has a line's end or a brace. */
bool clang_is_text(const char *source);
/* Runs clang -S -emit-llvm. True with the text of the module in *RESULT; false with what is wrong there: clang's own errors, or that there is
   no clang. */
bool clang_run(Arena *arena, const ClangRun *run, const char **result);

#endif
