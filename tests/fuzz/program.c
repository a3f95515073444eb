/* Random programs: a chain of one to six blocks over a few buffers of one shape family; elementwise, stencils, reductions, scans, gathers, guards, lets; several types, constant and symbolic
   sizes. Every index stays in bounds. */
#include "fuzz.h"

uint64_t random_next(Random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int random_below(Random *random, int count)
{
    return (int)(random_next(random) % (uint64_t)count);
}

bool random_chance(Random *random, int percent)
{
    return random_below(random, 100) < percent;
}

typedef struct {
    Random *random;
    Arena *arena;
    StrBuf text;
    const char *rows, *columns; /* extents: numbers, or n and m */
    bool symbolic, integer;
    int blocks; /* block t computes buffer Bt from B0, the input, and the ones before; the last is the output */
} Writer;

static const char *const int_sizes[] = {"0", "1", "2", "3", "5", "7", "8", "12", "16", "17"};

static void line(Writer *w, int indent, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(Writer *w, int indent, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_printf(&w->text, "%*s%s\n", indent * 4, "", arena_vprintf(w->arena, format, args));
    va_end(args);
}

static const char *pick(Writer *w, const char *const *choices, int count)
{
    return choices[random_below(w->random, count)];
}

static const char *source(Writer *w, int limit)
{
    return arena_printf(w->arena, "B%d", random_below(w->random, limit));
}

/* An expression over elements at (R, C) of earlier buffers. */
static const char *value(Writer *w, int limit, const char *r, const char *c)
{
    static const char *const float_forms[] = {"%s[%s, %s] * 2.0 + 1.0", "%s[%s, %s] - 0.5", "T.max(%s[%s, %s], 0.0)", "T.sigmoid(%s[%s, %s])", "T.Select(%s[%s, %s] > 0.0, 1.0, 2.0)"};
    static const char *const int_forms[] = {"%s[%s, %s] * 3 + 1", "%s[%s, %s] - 7", "T.max(%s[%s, %s], 0)", "%s[%s, %s] // 3", "T.Select(%s[%s, %s] %% 2 == 0, 1, 2)"};
    const char *form = pick(w, w->integer ? int_forms : float_forms, 5);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *first = arena_printf(w->arena, form, source(w, limit), r, c);
#pragma GCC diagnostic pop
    return random_chance(w->random, 30) ? arena_printf(w->arena, "%s + %s[%s, %s]", first, source(w, limit), r, c) : first;
}

static void open_block(Writer *w, int target, const char *loops, const char *extents, const char *kinds, const char *iters)
{
    line(w, 1, "for %s in T.grid(%s):", loops, extents);
    line(w, 2, "with T.block(\"blk%d\"):", target);
    line(w, 3, "%s = T.axis.remap(\"%s\", [%s])", iters, kinds, loops);
}

static void elementwise(Writer *w, int t)
{
    bool transposed = random_chance(w->random, 25);
    open_block(w, t, transposed ? "j, i" : "i, j", arena_printf(w->arena, transposed ? "%s, %s" : "%s, %s", transposed ? w->columns : w->rows, transposed ? w->rows : w->columns), "SS",
               transposed ? "vj, vi" : "vi, vj");
    if (random_chance(w->random, 25)) {
        line(w, 3, "x: T.%s = %s", w->integer ? "int32" : "float32", value(w, t, "vi", "vj"));
        line(w, 3, "B%d[vi, vj] = x * x", t);
    } else {
        line(w, 3, "B%d[vi, vj] = %s", t, value(w, t, "vi", "vj"));
    }
}

/* Neighbours where they exist. */
static void stencil(Writer *w, int t)
{
    const char *from = source(w, t), *zero = w->integer ? "0" : "0.0";
    open_block(w, t, "i, j", arena_printf(w->arena, "%s, %s", w->rows, w->columns), "SS", "vi, vj");
    line(w, 3, "B%d[vi, vj] = %s[vi, vj] + T.if_then_else(vi > 0, %s[vi - 1, vj], %s) + T.if_then_else(vj < %s - 1, %s[vi, vj + 1], %s)", t, from, from, zero, w->columns, from, zero);
}

static void reduction(Writer *w, int t)
{
    static const char *const kinds[] = {"sum", "max", "weighted"};
    const char *kind = pick(w, kinds, 3), *from = source(w, t);
    open_block(w, t, "i, j, k", arena_printf(w->arena, "%s, %s, %s", w->rows, w->columns, w->columns), "SSR", "vi, vj, vk");
    line(w, 3, "with T.init():");
    line(w, 4, "B%d[vi, vj] = %s", t, kind[0] == 'm' ? (w->integer ? "-1000000" : "T.min_value(\"float32\")") : w->integer ? "0" : "0.0");
    if (kind[0] == 's')
        line(w, 3, "B%d[vi, vj] = B%d[vi, vj] + %s[vi, vk]", t, t, from);
    else if (kind[0] == 'm')
        line(w, 3, "B%d[vi, vj] = T.max(B%d[vi, vj], %s[vi, vk])", t, t, from);
    else
        line(w, 3, "B%d[vi, vj] = B%d[vi, vj] + %s[vi, vk] * %s[vi, vj]", t, t, from, source(w, t));
}

/* Each row continues the one before: rows are in order, columns are free. */
static void scan(Writer *w, int t)
{
    open_block(w, t, "i, j", arena_printf(w->arena, "%s, %s", w->rows, w->columns), "SS", "vi, vj");
    line(w, 3, "B%d[vi, vj] = %s[vi, vj] + T.if_then_else(vi > 0, B%d[vi - 1, vj], %s)", t, source(w, t), t, w->integer ? "1" : "1.0");
}

static void gather(Writer *w, int t)
{
    if (w->columns[0] == '0' || w->rows[0] == '0') { /* an index would be certainly out of bounds */
        elementwise(w, t);
        return;
    }
    open_block(w, t, "i, j", arena_printf(w->arena, "%s, %s", w->rows, w->columns), "SS", "vi, vj");
    line(w, 3, "B%d[vi, vj] = %s[%s - 1 - vi, (vj * 3 + vi) %% T.max(%s, 1)]", t, source(w, t), w->rows, w->columns);
}

static void reversed(Writer *w, int t)
{
    open_block(w, t, "i, j", arena_printf(w->arena, "%s, %s", w->rows, w->columns), "SS", "vi, vj");
    line(w, 3, "B%d[vi, %s - 1 - vj] = %s", t, w->columns, value(w, t, "vi", "vj"));
}

static void (*const makers[])(Writer *w, int t) = {elementwise, elementwise, elementwise, stencil, reduction, reduction, scan, gather, reversed};

const char *random_program(Random *random, Arena *arena)
{
    Writer w = {.random = random, .arena = arena, .text = {.arena = arena}};
    w.symbolic = random_chance(random, 20);
    w.integer = random_chance(random, 35);
    w.rows = w.symbolic ? "n" : pick(&w, int_sizes, 10);
    w.columns = w.symbolic && random_chance(random, 50) ? "m" : pick(&w, int_sizes, 10);
    w.blocks = 1 + random_below(random, random_chance(random, 70) ? 3 : 6);
    const char *type = w.integer ? "int32" : "float32";
    line(&w, 0, "@T.prim_func");
    line(&w, 0, "def main(b0: T.handle, out: T.handle):");
    if (w.symbolic)
        line(&w, 1, "n = T.int32()");
    if (w.columns[0] == 'm')
        line(&w, 1, "m = T.int32()");
    line(&w, 1, "B0 = T.match_buffer(b0, (%s, %s), \"%s\")", w.rows, w.columns, type);
    line(&w, 1, "B%d = T.match_buffer(out, (%s, %s), \"%s\")", w.blocks, w.rows, w.columns, type);
    for (int t = 1; t < w.blocks; t++)
        line(&w, 1, "B%d = T.alloc_buffer((%s, %s), \"%s\")", t, w.rows, w.columns, type);
    for (int t = 1; t <= w.blocks; t++)
        makers[random_below(random, sizeof makers / sizeof *makers)](&w, t);
    return strbuf_text(&w.text);
}
