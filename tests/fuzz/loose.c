/* Statements in no block: steps must see what they do to the values of blocks before and behind them. */
#include "writer.h"

/* One element, by constant indices or by loops over some dimensions. */
static const char *open_element(Writer *w, const Tensor *tensor, Axes *axes, int *indent)
{
    const char *indices = "";
    for (int d = 0; d < tensor->rank; d++) {
        const Extent *extent = &w->extents[tensor->dims[d]];
        const char *index = write_text(w, "%d", extent->size > 0 ? random_below(w->random, extent->size) : 0);
        if (extent->size <= 0 || random_chance(w->random, 40)) {
            axes_add(axes, w, tensor->dims[d], 'S');
            index = axes->items[axes->count - 1].name = axes->items[axes->count - 1].loop;
            write_line(w, (*indent)++, "for %s in range(%s):", index, extent->text);
        }
        indices = write_text(w, "%s%s%s", indices, d ? ", " : "", index);
    }
    return write_text(w, "%s[%s]", tensor->name, tensor->rank ? indices : "()");
}

bool write_loose(Writer *w)
{
    Tensor *tensor = &w->tensors[random_below(w->random, w->tensor_count)];
    if (!tensor->written)
        return false;
    Axes axes = {.count = 0};
    int indent = 1;
    const char *element = open_element(w, tensor, &axes, &indent);
    if (axes.count && random_chance(w->random, 30))
        write_line(w, indent++, "if %s %% 2 == 0:", axes.items[axes.count - 1].name);
    if (axes.count && random_chance(w->random, 50))
        write_line(w, indent, "%s = %s", element, writer_value(w, tensor->type, &axes, NULL));
    else
        write_line(w, indent, "%s = %s", element, write_literal(w, tensor->type, 1));
    return true;
}
