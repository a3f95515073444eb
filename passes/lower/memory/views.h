/* Views (match_buffer targets) of one buffer, composed to it. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_MEMORY_VIEWS_H
#define TIRC_PASSES_LOWER_MEMORY_VIEWS_H

#include "ir/stmt.h"

/* TARGET[i...] is root[mins + (0..., i...)]: the last dimensions of the root are those of the target. */
typedef struct {
    const Buffer *target;
    const Expr **mins; /* one for each dimension of the root */
} View;
typedef struct {
    const Buffer *root;
    VEC(View) items; /* the root itself first, with mins 0 */
} Views;

Views views_new(Context *ctx, const Buffer *root);
/* Adds the views that BLOCK makes of the root or of a view of it. */
void views_add_block(Context *ctx, Views *views, const BlockStmt *block);
/* The view with TARGET; NULL where it is none of the root. */
const View *views_find(const Views *views, const Buffer *target);
/* The box of the root (root->ndim ranges) that RANGES of the view's target is. */
Range *view_ranges(Context *ctx, const Views *views, const View *view, const Range *ranges);

/* The elements that INDICES (one for each dimension) select, as a box: points, and runs where an index is a ramp of stride 1. NULL where an
   index is another vector. */
Range *element_ranges(Context *ctx, const Expr *const *indices, int count);

#endif
