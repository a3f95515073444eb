/* Blocks that copy a tensor into a larger one. */
#include "writer.h"

/* A copy into a larger tensor, with a constant around it. */
bool write_padding(Writer *w)
{
    const Tensor *from = &w->tensors[random_below(w->random, w->tensor_count)];
    if (!from->written || !from->rank || w->tensor_count == MOST_TENSORS || w->extent_count + from->rank > MOST_EXTENTS)
        return false;
    int dims[MOST_RANK], before[MOST_RANK];
    for (int d = 0; d < from->rank; d++) {
        before[d] = random_below(w->random, 3);
        int more = before[d] + random_below(w->random, 3);
        dims[d] = more ? writer_larger_extent(w, from->dims[d], more) : from->dims[d];
    }
    Tensor *target = writer_tensor(w, from->type, dims, from->rank);
    Axes axes = axes_of(w, target);
    int indent = writer_open_block(w, 1, &axes, random_chance(w->random, 30));
    const char *condition = "", *indices = "";
    for (int d = 0; d < from->rank; d++) {
        const char *at = axes.items[d].name, *both = *condition ? " and " : "";
        indices = write_text(w, "%s%s%s - %d", indices, d ? ", " : "", at, before[d]);
        if (before[d])
            condition = write_text(w, "%s%s%d <= %s", condition, both, before[d], at);
        if (dims[d] != from->dims[d])
            condition = write_text(w, "%s%s%s < %s + %d", condition, *condition ? " and " : "", at, w->extents[from->dims[d]].text, before[d]);
    }
    const char *value = write_text(w, "%s[%s]", from->name, indices);
    if (*condition)
        value = write_text(w, "T.if_then_else(%s, %s, %s)", condition, value, write_literal(w, from->type, 0));
    write_line(w, indent, "%s = %s", writer_element(w, target, &axes), value);
    target->written = true;
    return true;
}
