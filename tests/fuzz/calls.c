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
    strbuf_printf(text,
                  "\n@T.prim_func(private=True)\ndef half_row(A: T.Buffer((4,), \"%s\"), B: T.Buffer((4,), \"%s\")):\n    for i in range(2):\n"
                  "        B[i] = A[i + 1] + %s\n",
                  w->type, w->type, one);
    strbuf_printf(text,
                  "\n@T.prim_func(private=True)\ndef some_of_row(A: T.Buffer((4,), \"%s\"), n: T.int32):\n    for i in range(4):\n"
                  "        if i < n:\n            A[i] = A[3] * %s\n",
                  w->type, three);
    strbuf_printf(text,
                  "\n@T.prim_func(private=True)\ndef spill_row(A: T.Buffer((8,), \"%s\")):\n    for i in range(7):\n"
                  "        A[i] = A[i + 1] + %s\n",
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

/* COUNT elements of TENSOR from the one on that the block over vi and vj is about; 0: this element. */
static const char *row_text(Writer *w, const Tensor *tensor, int count)
{
    const char *column = count ? write_text(w, "vj * 4:vj * 4 + %d", count) : "vj * 4";
    return write_text(w, tensor->rank == 2 ? "%s[vi, %s]" : "%s[%s]", tensor->name, column);
}

/* A call that reads (writes) so many elements of a row, of which the block declares at times fewer, or more. */
typedef struct {
    const char *call;
    const Tensor *from; /* what is read besides the target, or NULL */
    int reads, reads_target, writes;
    bool fills; /* the target has no values before: they are those that the block declares to write */
} RowCall;

static int declared_count(Writer *w, int count, int more)
{
    int chance = random_below(w->random, 100);
    return !count || chance < 70 ? count : chance < 85 ? more : 1 + random_below(w->random, count);
}

static void write_call_block(Writer *w, const Tensor *target, const RowCall *call, const char *rows, const char *columns)
{
    int more = call->writes > 4 ? 8 : 4;
    const char *reads = call->from ? row_text(w, call->from, declared_count(w, call->reads, 4)) : NULL,
               *own = call->reads_target ? row_text(w, target, declared_count(w, call->reads_target, more)) : NULL;
    write_line(w, 1, "for i, j in T.grid(%s, %s):", rows, columns);
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 3, "vi = T.axis.spatial(%s, i)", rows);
    write_line(w, 3, "vj = T.axis.%s(%s, j)", call->writes > 4 && random_chance(w->random, 70) ? "opaque" : "spatial", columns);
    write_line(w, 3, "T.reads(%s%s%s)", reads ? reads : "", reads && own ? ", " : "", own ? own : "");
    write_line(w, 3, "T.writes(%s)", row_text(w, target, call->fills ? call->writes : declared_count(w, call->writes, more)));
    write_line(w, 3, "T.evaluate(T.call_extern(\"int32\", %s))", call->call);
}

/* A call that changes rows of TARGET, which is written; COLUMNS: how many rows of four are in one of its own. */
static RowCall changing_call(Writer *w, const Tensor *from, const Tensor *target, int columns)
{
    const char *here = row_text(w, target, 0);
    int kind = random_below(w->random, columns > 1 ? 4 : 3);
    switch (kind) {
    case 0: return (RowCall){write_text(w, "\"raise_row\", T.address_of(%s)", here), NULL, 0, 4, 4, false};
    case 1: return (RowCall){write_text(w, "\"half_row\", T.address_of(%s), T.address_of(%s)", row_text(w, from, 0), here), from, 3, 0, 2, false};
    case 2: return (RowCall){write_text(w, "\"some_of_row\", T.address_of(%s), %d", here, random_below(w->random, 5)), NULL, 0, 4, 4, false};
    default: return (RowCall){write_text(w, "\"spill_row\", T.address_of(%s)", here), NULL, 0, 8, 8, false};
    }
}

/* A call that makes rows of fours of TARGET, which is written and has COLUMNS of them in one of its own, of others in front: memory that it is
   given twice and that lies apart, perhaps only where a condition around it holds. */
static void write_call_within(Writer *w, const Tensor *target, const char *rows, int columns)
{
    static const char *const ends[][2] = {{"", ""}, {"T.max(", ", 1)"}, {"T.if_then_else(vj >= 0, ", ", 0)"}};
    int form = random_below(w->random, 3);
    bool guarded = random_chance(w->random, 30);
    int behind = guarded ? 1 : (columns + 1) / 2, count = columns - behind;
    const char *row = target->rank == 2 ? "vi, " : "", *first = guarded ? "0" : "vj * 4", *second = write_text(w, "vj * 4 + %d", guarded ? 0 : behind * 4);
    const char *call = write_text(w, "T.call_extern(\"int32\", \"make_row\", T.address_of(%s[%s%s]), T.address_of(%s[%s%s]))", target->name, row, first,
                                  target->name, row, second);
    call = guarded ? write_text(w, "T.if_then_else(vj > 0, %s, 0)", call) : call;
    write_line(w, 1, "for i, j in T.grid(%s, %d):", rows, guarded ? columns : count);
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 3, "vi = T.axis.spatial(%s, i)", rows);
    write_line(w, 3, "vj = T.axis.spatial(%d, j)", guarded ? columns : count);
    write_line(w, 3, "T.reads(%s[%s%s:%s + 4])", target->name, row, first, first);
    write_line(w, 3, "T.writes(%s[%s%s:%s + 4])", target->name, row, second, second);
    write_line(w, 3, "T.evaluate(%s%s%s)", ends[form][0], call, ends[form][1]);
}

bool write_calls(Writer *w)
{
    const Tensor *from = w->calls && w->tensor_count < MOST_TENSORS ? tensor_of_fours(w) : NULL;
    if (!from)
        return false;
    int count = w->extents[from->dims[from->rank - 1]].size / 4;
    const char *rows = from->rank == 2 ? w->extents[from->dims[0]].text : "1";
    Tensor *target = writer_tensor(w, w->type, from->dims, from->rank);
    RowCall made = {write_text(w, "\"make_row\", T.address_of(%s), T.address_of(%s)", row_text(w, from, 0), row_text(w, target, 0)), from, 4, 0, 4, true};
    write_call_block(w, target, &made, rows, write_text(w, "%d", count));
    for (int changes = random_below(w->random, 3); changes > 0; changes--) {
        RowCall call = changing_call(w, from, target, count);
        write_call_block(w, target, &call, rows, write_text(w, "%d", call.writes > 4 ? count - 1 : count));
    }
    if (count > 1 && random_chance(w->random, 60))
        write_call_within(w, target, rows, count);
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
