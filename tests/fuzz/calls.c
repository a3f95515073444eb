/* Calls of other functions: of the program's own, of C's, and what the interpreter needs to know of those. */
#include <math.h>
#include <string.h>

#include "writer.h"

/* Functions for rows of four elements, which blocks call: one makes a row of another, one changes a row in place. */
void writer_functions(Writer *w, StrBuf *text)
{
    const char *one = write_literal(w, w->type, 1), *three = write_literal(w, w->type, 3);
    strbuf_printf(text,
                  "\n@T.prim_func(private=True)\ndef make_row(A: T.Buffer((4,), \"%s\"), B: T.Buffer((4,), \"%s\")):\n    for i in range(4):\n"
                  "        with T.block(\"row\"):\n            vi = T.axis.spatial(4, i)\n            B[vi] = A[3 - vi] * %s\n",
                  w->type, w->type, three);
    strbuf_printf(text,
                  "\n@T.prim_func(private=True)\ndef raise_row(A: T.Buffer((4,), \"%s\")):\n    for i in range(4):\n"
                  "        with T.block(\"row\"):\n            vi = T.axis.spatial(4, i)\n            A[vi] = A[vi] + %s\n",
                  w->type, one);
}

/* An earlier tensor of the program's type whose rows are of fours, or NULL. */
static const Tensor *tensor_of_fours(Writer *w)
{
    for (int attempt = 0; attempt < 8; attempt++) {
        const Tensor *tensor = &w->tensors[random_below(w->random, w->tensor_count)];
        int size = tensor->rank ? w->extents[tensor->dims[tensor->rank - 1]].size : 0;
        if (tensor->written && tensor->rank && tensor->rank < 3 && !strcmp(tensor->type, w->type) && size > 0 && size % 4 == 0)
            return tensor;
    }
    return NULL;
}

/* The row of four that the block over vi and vj is about: its beginning, or all of it. */
static const char *row_text(Writer *w, const Tensor *tensor, bool all)
{
    const char *column = all ? "vj * 4:vj * 4 + 4" : "vj * 4";
    return write_text(w, tensor->rank == 2 ? "%s[vi, %s]" : "%s[%s]", tensor->name, column);
}

bool write_calls(Writer *w)
{
    const Tensor *from = w->calls && w->tensor_count < MOST_TENSORS ? tensor_of_fours(w) : NULL;
    if (!from)
        return false;
    const char *rows = from->rank == 2 ? w->extents[from->dims[0]].text : "1",
               *columns = write_text(w, "%d", w->extents[from->dims[from->rank - 1]].size / 4);
    Tensor *target = writer_tensor(w, w->type, from->dims, from->rank);
    for (int part = 0; part < (random_chance(w->random, 40) ? 2 : 1); part++) {
        write_line(w, 1, "for i, j in T.grid(%s, %s):", rows, columns);
        write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
        write_line(w, 3, "vi = T.axis.spatial(%s, i)", rows);
        write_line(w, 3, "vj = T.axis.spatial(%s, j)", columns);
        write_line(w, 3, "T.reads(%s)", row_text(w, part ? target : from, true));
        write_line(w, 3, "T.writes(%s)", row_text(w, target, true));
        if (part)
            write_line(w, 3, "T.evaluate(T.call_extern(\"int32\", \"raise_row\", T.address_of(%s)))", row_text(w, target, false));
        else
            write_line(w, 3, "T.evaluate(T.call_extern(\"int32\", \"make_row\", T.address_of(%s), T.address_of(%s)))", row_text(w, from, false),
                       row_text(w, target, false));
    }
    target->written = true;
    return true;
}

/* X through a function of C that is pure, said to be so or not. */
const char *write_extern(Writer *w, const char *type, const char *x)
{
    const char *call = random_chance(w->random, 70) || w->in_vectors ? "call_pure_extern" : "call_extern";
    return write_text(w, "T.%s(\"%s\", \"%s\", %s)", call, type, !strcmp(type, "float32") ? "fabsf" : "fabs", x);
}

bool call_of_c(void *data, const char *name, const InterpValue *args, int count, InterpValue *result)
{
    (void)data;
    bool known = count == 1 && (!strcmp(name, "fabsf") || !strcmp(name, "fabs"));
    if (known)
        result->as.real = fabs(args[0].as.real);
    return known;
}
