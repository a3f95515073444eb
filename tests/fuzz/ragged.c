/* Blocks below a time loop that write a part of a row in each step: all of it, the first t + 1 elements, those behind t, or as many as a
   tensor of numbers says. What they write is read in the same step, before or behind them, or in the next one.

     for t in range(n):
         for j in range(t + 1):
             X[j] = A[j] * t
         for j in range(n - t):
             O[t, j] = X[j]              the step t wrote X[0:t + 1]; the others before wrote the rest, or nobody */
#include <string.h>

#include "writer.h"

typedef struct {
    Writer *w;
    int dim;
    const char *extent, *lengths; /* of each row; LENGTHS[t] <= EXTENT */
    const Tensor *input;
} Steps;

/* How far a loop goes in step t. */
static const char *part_of_row(const Steps *steps)
{
    switch (random_below(steps->w->random, 5)) {
    case 0: return write_text(steps->w, "t + 1");
    case 1: return write_text(steps->w, "%s - t", steps->extent);
    case 2: return write_text(steps->w, "%s[t]", steps->lengths);
    default: return steps->extent;
    }
}

/* What the body of a block calls the step and the place in the row. */
typedef struct {
    const char *step, *at;
} Named;

/* A block for the elements j of PART, of a row, at INDENT; the indent of its body. With KIND, the kind of an axis for the step, PLACE may
   name the step: in a block with axes these alone stand for loops, so the block has one for the step, or none at all where each instance has
   elements of its own. KIND NULL: the body needs no step. */
static int open_part(const Steps *steps, int indent, const char *part, const char *kind, Named *place)
{
    Writer *w = steps->w;
    write_line(w, indent, "for j in range(%s):", part);
    write_line(w, indent + 1, "with T.block(\"blk%d\"):", ++w->block_count);
    *place = (Named){"t", "j"};
    if (kind && !strcmp(kind, "spatial") && random_chance(w->random, 50))
        return indent + 2;
    if (kind)
        write_line(w, indent + 2, "vt = T.axis.%s(%s, t)", kind, steps->extent);
    write_line(w, indent + 2, "vj = T.axis.spatial(%s, j)", steps->extent);
    *place = (Named){"vt", "vj"};
    return indent + 2;
}

static Tensor *filled_row(const Steps *steps, const char *type, const char *value)
{
    Named place;
    Tensor *row = writer_tensor(steps->w, type, &steps->dim, 1);
    write_line(steps->w, open_part(steps, 1, steps->extent, NULL, &place), "%s[vj] = %s", row->name, value);
    row->written = true;
    return row;
}

/* Where a row is read by a block that has PLACE; STEPPED: it names the step. */
static const char *index_in_row(const Steps *steps, const Named *place, bool stepped)
{
    switch (random_below(steps->w->random, 8)) {
    case 0: return write_text(steps->w, "%s - 1 - %s", steps->extent, place->at);
    case 1: return "0";
    case 2: return stepped ? place->step : place->at;
    default: return place->at;
    }
}

/* A part of the row TO: from an input, from FROM (NULL: there is none), from itself, the same in each step or not. */
static void write_part(const Steps *steps, int indent, const Tensor *to, const Tensor *from)
{
    Writer *w = steps->w;
    Named place;
    bool stepped = from || random_chance(w->random, 50); /* an instance without the step does the same again in each */
    indent = open_part(steps, indent, part_of_row(steps), stepped ? "opaque" : NULL, &place);
    const char *value = from ? write_text(w, "%s[%s]", from->name, index_in_row(steps, &place, stepped))
                             : write_text(w, "%s[%s]", steps->input->name, place.at);
    switch (random_below(w->random, stepped ? 5 : 2)) {
    case 0: value = write_text(w, "T.max(%s, %s)", value, write_literal(w, to->type, 2)); break;
    case 2: value = write_text(w, "%s + %s[%s]", value, to->name, place.at); break;
    case 3: value = write_text(w, "%s * T.Cast(\"%s\", %s)", value, to->type, place.step); break;
    default: break;
    }
    if (random_chance(w->random, 10))
        write_line(w, indent++, "if %s %% 2 == 0:", stepped && random_chance(w->random, 50) ? place.step : place.at);
    write_line(w, indent, "%s[%s] = %s", to->name, place.at, value);
}

/* A row of TARGET from a part of FROM. */
static void write_row(const Steps *steps, int indent, const Tensor *target, const Tensor *from)
{
    Writer *w = steps->w;
    Named place;
    indent = open_part(steps, indent, part_of_row(steps), "spatial", &place);
    write_line(w, indent, "%s[%s, %s] = %s[%s] + %s", target->name, place.step, place.at, from->name, index_in_row(steps, &place, true),
               write_literal(w, target->type, 1));
}

bool write_ragged(Writer *w)
{
    int dim = random_below(w->random, w->own_dims), dims[2] = {dim, dim};
    const char *extent = w->extents[dim].text;
    if (strncmp(extent, "T.", 2) == 0 || strcmp(w->index_type, "int32") || !strcmp(w->type, "bool") || w->tensor_count + 6 > MOST_TENSORS)
        return false;
    Steps steps = {.w = w, .dim = dim, .extent = extent};
    const char *divisor = w->extents[dim].size ? extent : "1"; /* a constant 0 is an error also where nothing runs */
    int factor = 1 + random_below(w->random, 5), start = random_below(w->random, 4);
    steps.lengths = filled_row(&steps, "int32", write_text(w, "(vj * %d + %d) %% %s + 1", factor, start, divisor))->name;
    steps.input = filled_row(&steps, w->type, write_text(w, "T.Cast(\"%s\", vj * 3 + 1)", w->type));
    Tensor *first = filled_row(&steps, w->type, write_literal(w, w->type, 3)), *second = NULL, *target = writer_tensor(w, w->type, dims, 2);
    if (random_chance(w->random, 60))
        second = filled_row(&steps, w->type, write_literal(w, w->type, 0));
    write_line(w, 1, "for t in range(%s):", extent);
    Named place;
    int indent = open_part(&steps, 2, extent, "spatial", &place);
    write_line(w, indent, "%s[%s, %s] = %s", target->name, place.step, place.at, write_literal(w, w->type, 0));
    write_line(w, 1, "for t in range(%s):", extent);
    bool early = random_chance(w->random, 25); /* what is read was written a step before */
    if (early)
        write_row(&steps, 2, target, second ? second : first);
    write_part(&steps, 2, first, NULL);
    if (second)
        write_part(&steps, 2, second, first);
    if (!early || random_chance(w->random, 30))
        write_row(&steps, 2, target, second && random_chance(w->random, 80) ? second : first);
    target->written = true;
    return true;
}
