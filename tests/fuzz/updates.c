/* Updates of reductions in the forms that people write, and some that only look like one: those must stay ordered. */
#include <string.h>

#include "writer.h"

/* The update in a form of its own; the last ones of a sum only look like one. */
static const char *unusual_update(Writer *w, const char *kind, const char *to, const char *type, const Axes *axes, const Tensor *target)
{
    const char *x = writer_operand(w, type, axes, target), *y = writer_operand(w, type, axes, target);
    bool first = random_chance(w->random, 50);
    switch (kind[0]) {
    case 's':
        switch (random_below(w->random, 6)) {
        case 0: return write_text(w, "%s = %s + %s", to, x, to);
        case 1: return write_text(w, "%s = %s + %s + %s", to, to, x, y);
        case 2: return write_text(w, "%s = %s + (%s + %s)", to, x, to, y);
        case 3: return write_text(w, "%s = %s - (%s - %s)", to, x, y, to);
        case 4: return write_text(w, "%s = %s - %s", to, x, to);
        default: return write_text(w, "%s = %s + %s + %s", to, to, x, to);
        }
    case 'p': return write_text(w, "%s = %s * (%s * %s)", to, x, to, y);
    case 'M':
        return first ? write_text(w, "%s = T.Select(%s < %s, %s, %s)", to, to, x, x, to)
                     : write_text(w, "%s = T.if_then_else(%s >= %s, %s, %s)", to, to, x, to, x);
    case 'm':
        return first ? write_text(w, "%s = T.if_then_else(%s > %s, %s, %s)", to, to, x, x, to)
                     : write_text(w, "%s = T.Select(%s < %s, %s, T.min(%s, %s))", to, x, y, to, to, x);
    default: return write_text(w, "%s = (%s) and %s", to, x, to);
    }
}

const char *update_text(Writer *w, const char *kind, const char *to, const char *type, const Axes *axes, const Tensor *target)
{
    if (random_chance(w->random, 25))
        return unusual_update(w, kind, to, type, axes, target);
    const char *x = writer_operand(w, type, axes, target);
    switch (kind[0]) {
    case 's': return random_chance(w->random, 25) ? write_text(w, "%s += %s", to, x) : write_text(w, "%s = %s + %s", to, to, x);
    case 'w': return write_text(w, "%s = %s + %s * %s", to, to, x, writer_operand(w, type, axes, target));
    case 'p': return write_text(w, "%s = %s * %s", to, to, x);
    case 'M': return write_text(w, "%s = T.max(%s, %s)", to, to, x);
    case 'm': return write_text(w, "%s = T.min(%s, %s)", to, to, x);
    case 'a': return write_text(w, "%s = %s and (%s)", to, to, x);
    default: return write_text(w, "%s = %s or (%s)", to, to, x);
    }
}

const char *update_identity(Writer *w, const char *kind, const char *type)
{
    if (random_chance(w->random, 7))
        return write_literal(w, type, 1); /* often not the neutral element */
    switch (kind[0]) {
    case 'M': return write_text(w, "T.min_value(\"%s\")", type);
    case 'm': return write_text(w, "T.max_value(\"%s\")", type);
    case 'p':
    case 'a': return write_literal(w, type, 1);
    default: return write_literal(w, type, 0);
    }
}

const char *update_kind(Writer *w, const char *type)
{
    static const char *const kinds[] = {"sum", "weighted", "sum", "product", "Max", "min"}, *const bool_kinds[] = {"and", "or"};
    return !strcmp(type, "bool") ? bool_kinds[random_below(w->random, 2)] : kinds[random_below(w->random, 6)];
}

/* What a condition of an update compares: an operand of the target's type, or the axis that is reduced over. */
static const char *update_condition(Writer *w, const char *type, const Axes *axes, const Tensor *target)
{
    const char *x = writer_operand(w, type, axes, target);
    return !strcmp(type, "bool") ? x : write_text(w, "%s %s %s", x, random_chance(w->random, 50) ? ">" : "<=", write_literal(w, type, 1));
}

/* An extreme as an if statement. */
static void write_extreme(Writer *w, int indent, bool greatest, const char *to, const char *x, const char *stored)
{
    static const char *const compares[2][2] = {{">", "<="}, {"<", ">="}};
    bool opposite = random_chance(w->random, 25);
    write_line(w, indent, opposite ? "if not %s %s %s:" : "if %s %s %s:", to, compares[greatest][opposite], x);
    write_line(w, indent + 1, "%s = %s", to, stored);
}

/* The update TEXT of TO where a condition holds, as a statement or as a choice of its value. */
static void write_sometimes(Writer *w, int indent, const char *to, const char *text, const char *condition)
{
    size_t start = strlen(to) + strlen(" = ");
    bool assigns = !strncmp(text, write_text(w, "%s = ", to), start);
    if (assigns && random_chance(w->random, 30)) {
        const char *form = random_chance(w->random, 50) ? "%s = T.if_then_else(%s, %s, %s)" : "%s = T.Select(%s, %s, %s)";
        write_line(w, indent, form, to, condition, text + start, to);
        return;
    }
    write_line(w, indent, "if %s:", condition);
    write_line(w, indent + 1, "%s", text);
}

void write_update(Writer *w, int indent, const char *kind, const char *to, const char *type, const Axes *axes, const Tensor *target)
{
    const char *text = update_text(w, kind, to, type, axes, target);
    if (random_chance(w->random, 80)) {
        write_line(w, indent, "%s", text);
    } else if ((kind[0] == 'M' || kind[0] == 'm') && random_chance(w->random, 50)) {
        const char *x = writer_operand(w, type, axes, target);
        write_extreme(w, indent, kind[0] == 'M', to, x, random_chance(w->random, 15) ? writer_operand(w, type, axes, target) : x);
    } else {
        write_sometimes(w, indent, to, text, update_condition(w, type, axes, target));
    }
}
