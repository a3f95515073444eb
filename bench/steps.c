/* Times schedule steps with their checks on large programs, for each primitive: how often it was accepted and refused, the median, the
   99th percentile and the longest time of a step, and the kind of program with the largest median. A time is that of a script of one line,
   from its text to its end; the steps of one row follow one another on the same program. usage: steps [BLOCKS [KIND|all [PRIMITIVE]]]

   The programs hold BLOCKS blocks (100 where not given) b1, b2, ... of several kinds; see kinds[]. A last row tells of first steps: of a
   context in which nothing is known of the program yet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "script/script.h"
#include "support/strbuf.h"

enum { MOST_STEPS = 1 << 20 };

typedef struct {
    const char *name;
    int stride;
    const char *setup, *text;
} StepRow;

static const StepRow rows[] = {
#define X(name, stride, setup, text) {#name, stride, setup, text},
#include "bench/steps.def"
#undef X
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* --- programs --- */

typedef struct {
    const char *name;
    const char *size;   /* of each dimension of all buffers */
    void (*write)(StrBuf *text, int count, const char *size);
    const char *prepare; /* a script run for each block before anything is timed */
} Kind;

static void write_parameters(StrBuf *text, const char *size, const char *names)
{
    strbuf_add(text, "@T.prim_func\ndef main(");
    if (strcmp(size, "n")) {
        for (const char *name = names; *name; name++)
            strbuf_printf(text, "%s%c: T.Buffer((%s, %s), 'float32')", name == names ? "" : ", ", *name, size, size);
        strbuf_add(text, "):\n");
        return;
    }
    for (const char *name = names; *name; name++)
        strbuf_printf(text, "%sh%c: T.handle", name == names ? "" : ", ", *name);
    strbuf_add(text, "):\n    n = T.int64()\n");
    for (const char *name = names; *name; name++)
        strbuf_printf(text, "    %c = T.match_buffer(h%c, (n, n), 'float32')\n", *name, *name);
}

/* B1, B2, ... */
static void write_buffers(StrBuf *text, int count, const char *size)
{
    for (int i = 0; i <= count; i++)
        strbuf_printf(text, "    B%d = T.alloc_buffer((%s, %s))\n", i, size, size);
}

/* A block over SIZE x SIZE (or, with REDUCED, over a third axis, too) at INDENT with the statement BODY. */
static void write_block(StrBuf *text, int number, int indent, const char *size, bool reduced, const char *body)
{
    const char *third = reduced ? ", " : "";
    strbuf_printf(text, "%*sfor i, j%s%s in T.grid(%s, %s%s%s):\n", indent, "", third, reduced ? "k" : "", size, size, third,
                  reduced ? size : "");
    strbuf_printf(text, "%*swith T.block('b%d'):\n", indent + 4, "", number);
    strbuf_printf(text, "%*svi, vj%s = T.axis.remap('%s', [i, j%s])\n", indent + 8, "", reduced ? ", vk" : "", reduced ? "SSR" : "SS",
                  reduced ? ", k" : "");
    if (reduced)
        strbuf_printf(text, "%*swith T.init():\n%*sB%d[vi, vj] = T.float32(0)\n", indent + 8, "", indent + 12, "", number);
    strbuf_printf(text, "%*s%s\n", indent + 8, "", body);
}

/* Each block reads what the one before made: elementwise, a matrix product, elementwise, a stencil, and so on. */
static void write_chain(StrBuf *text, int count, const char *size)
{
    char body[200];
    write_parameters(text, size, "AW");
    write_buffers(text, count, size);
    for (int i = 1; i <= count; i++) {
        if (i % 4 == 2)
            snprintf(body, sizeof body, "B%d[vi, vj] = B%d[vi, vj] + B%d[vi, vk] * W[vk, vj]", i, i, i - 1);
        else if (i % 4 == 0)
            snprintf(body, sizeof body, "B%d[vi, vj] = B%d[vi, vj] + T.if_then_else(vi > 0, B%d[vi - 1, vj], T.float32(0))", i, i - 1,
                     i - 1);
        else
            snprintf(body, sizeof body, "B%d[vi, vj] = %s[vi, vj] + T.float32(1)", i,
                     i == 1 ? "A" : arena_printf(text->arena, "B%d", i - 1));
        write_block(text, i, 4, size, i % 4 == 2, body);
    }
}

/* All blocks read and write the same three buffers. */
static void write_shared(StrBuf *text, int count, const char *size)
{
    write_parameters(text, size, "AWD");
    for (int i = 1; i <= count; i++)
        write_block(text, i, 4, size, false, i % 2 ? "D[vi, vj] = D[vi, vj] + A[vi, vj]" : "W[vi, vj] = D[vi, vj] * T.float32(2)");
}

/* Nests of 25 blocks below two loops that they share. */
static void write_deep(StrBuf *text, int count, const char *size)
{
    (void)size;
    write_parameters(text, "128", "AW");
    write_buffers(text, count, "128");
    for (int i = 1; i <= count; i++) {
        if (i % 25 == 1)
            strbuf_add(text, "    for i0, j0 in T.grid(16, 16):\n");
        strbuf_printf(text, "        for i, j in T.grid(8, 8):\n            with T.block('b%d'):\n", i);
        strbuf_add(text, "                vi = T.axis.spatial(128, i0 * 8 + i)\n                vj = T.axis.spatial(128, j0 * 8 + j)\n");
        strbuf_printf(text, "                B%d[vi, vj] = B%d[vi, vj] * W[vi, vj]\n", i, i - 1);
    }
}

/* Five points of the buffer before, held within its bounds. */
static void write_stencil(StrBuf *text, int count, const char *size)
{
    char body[400];
    write_parameters(text, size, "AW");
    write_buffers(text, count, size);
    for (int i = 1; i <= count; i++) {
        int p = i - 1;
        snprintf(body, sizeof body,
                 "B%d[vi, vj] = B%d[vi, vj] + B%d[T.max(vi - 1, 0), vj] + B%d[T.min(vi + 1, %s - 1), vj] + "
                 "T.if_then_else(vj > 0, B%d[vi, vj - 1], B%d[vi, vj]) + T.if_then_else(vj < %s - 1, B%d[vi, vj + 1], B%d[vi, vj])",
                 i, p, p, p, size, p, p, size, p, p);
        write_block(text, i, 4, size, false, body);
    }
}

static void write_reductions(StrBuf *text, int count, const char *size)
{
    char body[200];
    write_parameters(text, size, "AW");
    write_buffers(text, count, size);
    for (int i = 1; i <= count; i++) {
        snprintf(body, sizeof body,
                 i % 2 ? "B%d[vi, vj] = B%d[vi, vj] + B%d[vi, vk] * W[vk, vj]" : "B%d[vi, vj] = T.max(B%d[vi, vj], B%d[vk, vj])", i, i,
                 i - 1);
        write_block(text, i, 4, size, true, body);
    }
}

static const char intrinsic[] = "\n@T.prim_func\n"
                                "def add16_description(a: T.handle, b: T.handle):\n"
                                "    A = T.match_buffer(a, (16, 16), offset_factor=1)\n"
                                "    B = T.match_buffer(b, (16, 16), offset_factor=1)\n"
                                "    with T.block('root'):\n"
                                "        T.reads(A[0:16, 0:16])\n"
                                "        T.writes(B[0:16, 0:16])\n"
                                "        for i, j in T.grid(16, 16):\n"
                                "            with T.block('add'):\n"
                                "                vi, vj = T.axis.remap('SS', [i, j])\n"
                                "                B[vi, vj] = A[vi, vj] + T.float32(1)\n\n"
                                "@T.prim_func\n"
                                "def add16_implementation(a: T.handle, b: T.handle):\n"
                                "    sa, sb = T.int32(), T.int32()\n"
                                "    A = T.match_buffer(a, (16, 16), strides=[sa, 1], offset_factor=1)\n"
                                "    B = T.match_buffer(b, (16, 16), strides=[sb, 1], offset_factor=1)\n"
                                "    with T.block('root'):\n"
                                "        T.reads(A[0:16, 0:16])\n"
                                "        T.writes(B[0:16, 0:16])\n"
                                "        for i in range(16):\n"
                                "            for j in T.vectorized(16):\n"
                                "                B[i, j] = A[i, j] + T.float32(1)\n\n"
                                "tvm.tir.TensorIntrin.register('add16', add16_description, add16_implementation)\n";

static const char tile[] =
    "l = sch.get_loops('b@')\ni, ii = sch.split(l[0], [None, 16])\nj, ji = sch.split(l[1], [None, 16])\nsch.reorder(i, j, ii, ji)";
static const char tile_unevenly[] =
    "l = sch.get_loops('b@')\ni, ii = sch.split(l[0], [None, 12])\nj, ji = sch.split(l[1], [None, 20])\nsch.reorder(i, j, ii, ji)";

static const Kind kinds[] = {
    {"chain", "128", write_chain, ""},
    {"symbolic", "n", write_chain, ""},
    {"tiled", "128", write_chain, tile},
    {"tiled-unevenly", "128", write_chain, tile_unevenly},
    {"tiled-symbolic", "n", write_chain, tile},
    {"shared", "128", write_shared, ""},
    {"deep", "128", write_deep, ""},
    {"stencil", "128", write_stencil, ""},
    {"stencil-symbolic", "n", write_stencil, ""},
    {"reductions", "128", write_reductions, ""},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* --- running --- */

/* Processor time, so that other programs do not count. */
static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* TEMPLATE for block NUMBER. */
static const char *fill_template(Arena *arena, const char *template, int number)
{
    StrBuf text = {.arena = arena};
    for (; *template; template++)
        if (*template == '@' || *template == '^')
            strbuf_printf(&text, "%d", number + (*template == '^'));
        else
            strbuf_printf(&text, "%c", *template);
    return strbuf_text(&text);
}

/* MODULE after SCRIPT; NULL where it is refused. */
static const Module *run_script(Context *ctx, const Module *module, const char *script)
{
    DiagMark mark = diag_mark(ctx);
    const Module *source;
    ScriptOptions options = {.out = stdout};
    const AstNode *tree = parse_python(ctx, source_add(ctx->sources, "step", script, strlen(script)));
    const Module *after = script_run(ctx, tree, module, &options, &source);
    if (!after && getenv("STEPS_VERBOSE"))
        fprintf(stderr, "%s: %s\n", script, diag_first_error(ctx, mark));
    diag_rollback(ctx, mark);
    return after;
}

static const Module *make_program(Context *ctx, const Kind *kind, int count)
{
    StrBuf text = {.arena = ctx->base_arena};
    kind->write(&text, count, kind->size);
    strbuf_add(&text, intrinsic);
    const char *program = strbuf_text(&text);
    const Module *module = complete_module(ctx, parse_module_text(ctx, "program", program, strlen(program)));
    module = module ? run_script(ctx, module, "") : NULL; /* what every script begins with is there from now on */
    for (int i = 1; module && *kind->prepare && i <= count; i++)
        module = run_script(ctx, module, fill_template(ctx->base_arena, kind->prepare, i));
    if (!module) {
        fprintf(stderr, "steps: the program '%s' cannot be made: %s\n", kind->name, diag_first_error(ctx, (DiagMark){0, 0}));
        exit(1);
    }
    return module;
}

typedef struct {
    double *times;
    int count, accepted;
} Sample;

static void time_step(Context *ctx, const Module **module, const StepRow *row, int number, Sample *sample)
{
    if (*row->setup) {
        const Module *ready = run_script(ctx, *module, fill_template(ctx->base_arena, row->setup, number));
        *module = ready ? ready : *module;
    }
    const char *script = fill_template(ctx->base_arena, row->text, number);
    double start = milliseconds();
    const Module *after = run_script(ctx, *module, script);
    sample->times[sample->count++] = milliseconds() - start;
    sample->accepted += after != NULL;
    *module = after ? after : *module;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The time that PERCENT of the sorted sample do not exceed. */
static double percentile(const Sample *sample, int percent)
{
    int index = (sample->count * percent + 99) / 100 - 1;
    return sample->count ? sample->times[index < 0 ? 0 : index] : 0;
}

static void sort_sample(Sample *sample)
{
    qsort(sample->times, (size_t)sample->count, sizeof *sample->times, compare_times);
}

static void print_sample(const char *name, const Sample *sample, double worst, const char *worst_kind)
{
    printf("%-26s %8d %8d %9.3f %9.3f %9.3f   %.3f %s\n", name, sample->accepted, sample->count - sample->accepted, percentile(sample, 50),
           percentile(sample, 99), percentile(sample, 100), worst, worst_kind);
    fflush(stdout);
}

static void time_row(const StepRow *row, int blocks, const char *only_kind, double *times)
{
    Sample all = {.times = times};
    double worst = 0;
    const char *worst_kind = "";
    for (int k = 0; k < KIND_COUNT; k++) {
        if (only_kind && strcmp(kinds[k].name, only_kind))
            continue;
        Context *ctx = context_new();
        const Module *module = make_program(ctx, &kinds[k], blocks);
        Sample sample = {.times = times + all.count};
        for (int i = 1; i < blocks; i += row->stride)
            time_step(ctx, &module, row, i, &sample);
        context_free(ctx);
        sort_sample(&sample);
        if (percentile(&sample, 50) > worst) {
            worst = percentile(&sample, 50);
            worst_kind = kinds[k].name;
        }
        all.count += sample.count;
        all.accepted += sample.accepted;
    }
    sort_sample(&all);
    print_sample(row->name, &all, worst, worst_kind);
}

/* The first step on a program, of each kind and primitive. */
static void time_first_steps(int blocks, double *times)
{
    Sample sample = {.times = times};
    for (int k = 0; k < KIND_COUNT; k++)
        for (int r = 0; r < ROW_COUNT; r++) {
            Context *ctx = context_new();
            const Module *module = make_program(ctx, &kinds[k], blocks);
            time_step(ctx, &module, &rows[r], blocks / 2, &sample);
            context_free(ctx);
        }
    sort_sample(&sample);
    print_sample("(first steps)", &sample, percentile(&sample, 50), "");
}

int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 100;
    const char *kind = argc > 2 && strcmp(argv[2], "all") ? argv[2] : NULL;
    if (blocks < 2 || blocks > MOST_STEPS / KIND_COUNT) {
        fprintf(stderr, "usage: steps [BLOCKS [KIND|all [PRIMITIVE]]]\n");
        return 2;
    }
    double *times = calloc(MOST_STEPS, sizeof *times);
    printf("%-26s %8s %8s %9s %9s %9s   %s\n", "milliseconds a step", "accepted", "refused", "median", "99%", "longest", "largest median");
    for (int r = 0; r < ROW_COUNT; r++)
        if (argc < 4 || !strcmp(argv[3], rows[r].name))
            time_row(&rows[r], blocks, kind, times);
    if (!kind && argc < 4)
        time_first_steps(blocks, times);
    free(times);
    return 0;
}
