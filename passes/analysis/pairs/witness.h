/* Elements and iterations in messages, with the names that the printed program gives them: several loops around an access may have one
   name, and a buffer's may hold a character that the text cannot. */
#ifndef TIRC_PASSES_ANALYSIS_PAIRS_WITNESS_H
#define TIRC_PASSES_ANALYSIS_PAIRS_WITNESS_H

#include "passes/analysis/model/access.h"
#include "support/strbuf.h"

typedef struct {
    StrBuf text;
    Context *ctx;
    const Func *func;
    Map spellings; /* of what is around the frames, at least */
    bool complete; /* of all that FUNC defines */
} Witness;

/* An empty text about what lies in the loops of the frames A and B of FUNC; each may be NULL. */
Witness witness_new(Context *ctx, const Func *func, const Frame *a, const Frame *b);
/* "C[0, 3]": the element of its buffer that ACCESS names by INDICES, "C[()]" where that has no dimension, "C[2 * m + 1]" where they are digits. */
void witness_add_accessed(Witness *witness, const Access *access, const int64_t *indices);
/* "i = 0, j = 3": the VALUES of COUNT LOOPS. */
void witness_add_iteration(Witness *witness, const Frame *const *loops, int count, const int64_t *values);
/* "vi = 3, vj = 0 (with n = 4)": VARS, COUNT of them, at a point of SET (taken), whose dimensions are KEPT others and then these; NULL
   when none is found. */
const char *values_text(Context *ctx, Var *const *vars, int count, int kept, isl_set *set, const Map *sizes);

#endif
