/* Random values over the elements that earlier blocks wrote; see writer.h. Every access stays in bounds, and every operation has one result
   on every machine. */
#include <string.h>

#include "writer.h"

bool type_is_float(const char *type)
{
    return type[0] == 'f' || !strncmp(type, "bf", 2);
}

static bool type_is_bool(const char *type)
{
    return !strcmp(type, "bool");
}

const char *write_literal(Writer *w, const char *type, int value)
{
    if (type_is_bool(type))
        return value ? "T.bool(True)" : "T.bool(False)";
    if (type[0] == 'u' && value < 0)
        value = -value;
    return write_text(w, type_is_float(type) ? "T.%s(%d.0)" : "T.%s(%d)", type, value);
}

/* The axis over DIM; with several the last one. */
static const Axis *axis_over(const Axes *axes, int dim)
{
    for (int i = axes->count - 1; i >= 0; i--)
        if (axes->items[i].dim == dim)
            return &axes->items[i];
    return NULL;
}

/* An index below SIZE, given one below it, that runs unevenly: by a parity of a size, steps of two thirds, or behind the end. */
static const char *uneven_index(Writer *w, const char *index, int size)
{
    const char *parity = w->symbolic ? "n % 2" : "1";
    if (size > 0 && random_chance(w->random, 50))
        return write_text(w, "T.min(%s * 2 + %s + 1, %d)", index, parity, size - 1);
    return write_text(w, "(%s * 2 + %s + 1) // 3", index, parity);
}

/* TENSOR at the axes of its dimensions; with UNEVEN, at times one of them as uneven_index makes it: an element that a loop around the block may not
   have written yet. */
static const char *element_at(Writer *w, const Tensor *tensor, const Axes *axes, bool uneven)
{
    const char *indices = NULL;
    for (int i = 0; i < tensor->rank; i++) {
        const Axis *axis = axis_over(axes, tensor->dims[i]);
        int size = w->extents[tensor->dims[i]].size;
        if (!axis && size <= 0)
            return NULL;
        const char *index = axis ? axis->name : write_text(w, "%d", random_below(w->random, size));
        if (axis && uneven && random_chance(w->random, 15))
            index = uneven_index(w, index, size);
        indices = indices ? write_text(w, "%s, %s", indices, index) : index;
    }
    return write_text(w, "%s[%s]", tensor->name, indices);
}

const char *writer_element(Writer *w, const Tensor *tensor, const Axes *axes)
{
    return element_at(w, tensor, axes, false);
}

/* ELEMENT of type FROM as a value of type TO. */
static const char *converted(Writer *w, const char *element, const char *from, const char *to)
{
    if (!strcmp(from, to))
        return element;
    if (type_is_bool(to))
        return write_text(w, "%s > %s", element, write_literal(w, from, 1));
    return write_text(w, "T.Cast(\"%s\", %s)", to, element);
}

const char *writer_operand(Writer *w, const char *type, const Axes *axes, const Tensor *except)
{
    const Tensor *candidates[MOST_TENSORS];
    int count = 0;
    for (int i = 0; i < w->tensor_count; i++)
        if (&w->tensors[i] != except && w->tensors[i].written)
            candidates[count++] = &w->tensors[i];
    for (int attempt = 0; count && attempt < 6; attempt++) {
        int newest = count - 1, chosen = attempt == 0 && random_chance(w->random, 65) ? newest : random_below(w->random, count);
        const char *element = element_at(w, candidates[chosen], axes, candidates[chosen]->input);
        if (element)
            return converted(w, element, candidates[chosen]->type, type);
    }
    return write_literal(w, type, 1);
}

static const char *axis_value(Writer *w, const char *type, const Axes *axes)
{
    const char *name = axes->items[random_below(w->random, axes->count)].name;
    return type_is_bool(type) ? write_text(w, "%s %% 2 == 0", name) : write_text(w, "T.Cast(\"%s\", %s)", type, name);
}

static const char *float_value(Writer *w, const char *type, const char *x)
{
    const char *one = write_literal(w, type, 1), *two = write_literal(w, type, 2), *zero = write_literal(w, type, 0);
    switch (random_below(w->random, 11)) {
    case 0: return write_text(w, "%s * %s + %s", x, two, one);
    case 1: return write_text(w, "%s - %s", x, two);
    case 2: return write_text(w, "T.max(%s, %s)", x, zero);
    case 3: return write_text(w, "T.sigmoid(%s)", x);
    case 4: return write_text(w, "T.Select(%s > %s, %s, %s)", x, zero, one, two);
    case 5: return write_text(w, "T.fabs(%s)", x);
    case 6: return write_text(w, "%s / (T.fabs(%s) + %s)", x, x, one);
    case 7: return write_text(w, "T.if_then_else(%s < %s, %s, %s)", x, one, x, two);
    case 8: return write_text(w, "T.tanh(%s)", x);
    case 9: return w->calls && (!strcmp(type, "float32") || !strcmp(type, "float64")) ? write_extern(w, type, x) : x;
    default: return x;
    }
}

static const char *integer_value(Writer *w, const char *type, const char *x)
{
    const char *two = write_literal(w, type, 2), *three = write_literal(w, type, 3), *seven = write_literal(w, type, 7);
    switch (random_below(w->random, 12)) {
    case 0: return write_text(w, "%s * %s + %s", x, three, two);
    case 1: return write_text(w, "%s - %s", x, seven);
    case 2: return write_text(w, "T.max(%s, %s)", x, two);
    case 3: return write_text(w, "%s // %s", x, three);
    case 4: return write_text(w, "T.Select(%s %% %s == %s, %s, %s)", x, two, write_literal(w, type, 0), two, seven);
    case 5: return write_text(w, "%s %% %s", x, three);
    case 6: return write_text(w, "T.truncmod(%s, %s)", x, three);
    case 7: return write_text(w, "T.bitwise_xor(%s, %s)", x, seven);
    case 8: return write_text(w, "T.shift_right(%s, %s)", x, two);
    case 9: return write_text(w, "%s * %s", x, x);
    case 10: { /* it wraps, so that no step may divide first */
        int large = strstr(type, "32") || strstr(type, "64") ? 1000000000 : 100;
        return write_text(w, "%s * %s * %s // %s + %s", x, write_literal(w, type, large), two, two, three);
    }
    default: return x;
    }
}

static const char *bool_value(Writer *w, const char *x, const Axes *axes)
{
    switch (random_below(w->random, 3)) {
    case 0: return write_text(w, "not (%s)", x);
    case 1: return write_text(w, "(%s) and %s", x, axis_value(w, "bool", axes));
    default: return write_text(w, "(%s) or %s", x, axis_value(w, "bool", axes));
    }
}

const char *writer_value(Writer *w, const char *type, const Axes *axes, const Tensor *except)
{
    const char *x = random_chance(w->random, 6) ? axis_value(w, type, axes) : writer_operand(w, type, axes, except);
    if (type_is_bool(type))
        return bool_value(w, x, axes);
    const char *value = type_is_float(type) ? float_value(w, type, x) : integer_value(w, type, x);
    if (w->scalar && !strcmp(type, w->type) && random_chance(w->random, 10))
        return write_text(w, "%s + alpha", value);
    if (!random_chance(w->random, 30))
        return value;
    return write_text(w, "%s %s %s", value, random_chance(w->random, 70) ? "+" : "*", writer_operand(w, type, axes, except));
}
