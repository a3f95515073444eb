/* Pass "vectorize_loop": the passes "lanes" and "vectorize" of the way to LLVM. Loops whose iterations are not shown to be independent become
   serial. */
#include "passes/transform/internal.h"

const Func *transform_vectorize(LowerState *state, const Func *func)
{
    return lower_vectorize(state, lower_lanes(state, func));
}
