/* Checks that what is printed means what was printed: readback [FILE.tir | FILE.sched]... Without files it takes the test cases and
   examples.

   For each program, as it is and after each step of its schedule: it is printed, the text is read as the command reads it (its claims and
   certain faults included), and both are compiled. They must give the same object, or, where texts inside of the objects differ, compute the
   same from the same random inputs, bit for bit. What cannot be compiled (threads) must still be refused, and is interpreted. The same for
   the text after each lowering pass, which goes on with --start-after.

   Without files it takes a part, which a hash of their names chooses: a quarter of the cases (a twelfth in a build with sanitizers), of these the
   program or what the schedule gives
   in the end, and a sixth of the programs between and of the texts after lowering passes; with READBACK=all in the environment it takes all,
   with READBACK=K/N all of every N-th file, from the K-th on.
   Says what failed on stderr; exit code 1 then. */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/jit.h"
#include "interp/argdata.h"
#include "print/print.h"
#include "runtime/tirc_rt.h"
#include "support/strbuf.h"
#include "tests/cases.h"

#ifdef __SANITIZE_ADDRESS__
enum { CASE_PART = 12 };
#else
enum { CASE_PART = 4 };
#endif
enum { PART = 6, WORKERS = 2, STEP_LIMIT = 20000000, LONGEST_FILE_SECONDS = 120 };

/* A case on its way: NAME is the file, WHERE the program or pass at hand. */
typedef struct {
    Driver *driver;
    const char *name, *where;
    bool all, good;
    bool claims; /* the program that the case begins with passes the checks of what it claims */
} ReadBack;

/* What one program or text gives: bytes, or a refusal. */
typedef struct {
    const Module *module;  /* as read */
    const Module *lowered; /* NULL where lowering or an earlier check refuses it */
    CodegenBytes object;   /* empty where code generation refuses it */
    const char *refusal;   /* the first error, or NULL */
} Build;

static void complain(ReadBack *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(ReadBack *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: %s: %s\n", check->name, check->where, arena_vprintf(check->driver->ctx->arena, format, args));
    va_end(args);
    check->good = false;
}

/* --- Building --- */

/* Without optimization, which is no matter of the text, and with the symbols that a call in this process needs. */
static CodegenOptions codegen_options(void)
{
    CodegenOptions options = codegen_default_options();
    options.opt_level = 0;
    options.entry_points = true;
    return options;
}

/* BUILD's module, its claims CHECKED or not, lowered from behind pass AFTER (NULL: from the beginning) and compiled. */
static void build_module(ReadBack *check, Build *build, const char *after, bool checked)
{
    Driver *driver = check->driver;
    CodegenOutput output;
    CodegenOptions options = codegen_options();
    DiagMark mark = diag_mark(driver->ctx);
    driver->options.start_after = after;
    const tirc_program program = {.source = build->module, .module = build->module};
    if (!checked || driver_check_claims(driver, &program, true))
        build->lowered = driver_lower(driver, build->module, false);
    if (build->lowered && backend_find(NULL)->compile(driver->ctx, build->lowered, &options, 1u << EMIT_OBJECT, &output))
        build->object = output.bytes[EMIT_OBJECT];
    build->refusal = diag_first_error(driver->ctx, mark);
    diag_clear(driver->ctx);
    driver->options.start_after = NULL;
}

/* As the command builds what a schedule gives: claims are those of the program before it. */
static Build build_program(ReadBack *check, const Module *module)
{
    Build build = {.module = module};
    build_module(check, &build, NULL, false);
    return build;
}

/* TEXT, read and built; its module is NULL where it cannot be read. */
static Build build_text(ReadBack *check, const char *text, const char *after)
{
    Build build = {0};
    tirc_text input = {.name = "printed text", .text = text, .length = strlen(text)};
    DiagMark mark = diag_mark(check->driver->ctx);
    const tirc_program *program = tirc_read(check->driver, &input, 1);
    build.refusal = diag_first_error(check->driver->ctx, mark);
    diag_clear(check->driver->ctx);
    if (!program)
        return build;
    build.module = program->source;
    build_module(check, &build, after, check->claims);
    return build;
}

/* --- Running --- */

typedef struct {
    ArgData *data;
    bool ran;
    int code;
} Run;

static Run run_interpreted(ReadBack *check, const Func *func, const ArgData *input, bool checks)
{
    Run run = {.data = argdata_copy(input)};
    InterpOptions options = {.step_limit = STEP_LIMIT, .checks = checks};
    InterpSymbol *symbols = ARENA_ARRAY(check->driver->ctx->arena, InterpSymbol, input->signature->dim_count);
    for (int i = 0; i < input->signature->dim_count; i++)
        symbols[i] = (InterpSymbol){func_signature(check->driver->ctx, func)->dims[i], input->dims[i]};
    options.symbols = symbols;
    options.symbol_count = input->signature->dim_count;
    InterpResult result;
    interp_run(check->driver->ctx, func, argdata_interp_args(run.data), &options, &result);
    run.code = (int)result.kinds;
    run.ran = result.completed;
    diag_clear(check->driver->ctx);
    return run;
}

static Run run_compiled(ReadBack *check, const Build *build, const Func *func, const ArgData *input)
{
    Run run = {.data = argdata_copy(input)};
    Context *ctx = check->driver->ctx;
    Jit *jit = jit_open(ctx);
    JitFunction function = NULL;
    if (jit && jit_add_module(jit, build->lowered, codegen_options(), NULL))
        function = jit_find(jit, func_signature(ctx, func)->symbol);
    if (function)
        run.code = function(jit_arguments(ctx, run.data));
    run.ran = function != NULL;
    if (jit)
        jit_close(jit);
    diag_clear(ctx);
    return run;
}

/* The first parameter whose memory differs, or NULL. */
static const char *difference(const ArgData *a, const ArgData *b)
{
    for (int i = 0; i < a->func->param_count; i++)
        if (a->items[i].arg.data && memcmp(a->items[i].arg.data, b->items[i].arg.data, (size_t)a->items[i].arg.bytes))
            return a->items[i].param->param->name;
    return NULL;
}

static void compare_runs(ReadBack *check, const char *func, const Run *a, const Run *b)
{
    const char *different = difference(a->data, b->data);
    if (a->ran != b->ran || a->code != b->code)
        complain(check, "%s runs, read back, to another end (%d, not %d)", func, b->code, a->code);
    else if (different)
        complain(check, "%s computes, read back, another '%s'", func, different);
}

/* Runs function INDEX of A and its namesake of B on the same inputs, which are made for A's. Inputs that cannot be made, and runs that are
   too long or call what is not there, tell nothing. */
static void run_both(ReadBack *check, const Build *a, const Build *b, int index)
{
    Context *ctx = check->driver->ctx;
    const Func *x = a->module->funcs[index], *y = module_find(b->module, x->name);
    ArgOptions options = {.seed = 1};
    if (!y || func_signature(ctx, x)->dim_count != func_signature(ctx, y)->dim_count) {
        complain(check, "%s is not there, or has other dimensions, when it is read back", x->name);
        return;
    }
    ArgData *data = argdata_new(ctx, x, &options);
    diag_clear(ctx);
    if (!data)
        return;
    bool compiled = a->object.data && b->object.data;
    Run run_x = compiled ? run_compiled(check, a, x, data) : run_interpreted(check, x, data, false);
    Run run_y = compiled ? run_compiled(check, b, y, data) : run_interpreted(check, y, data, false);
    compare_runs(check, x->name, &run_x, &run_y);
    argdata_free(run_x.data);
    argdata_free(run_y.data);
    argdata_free(data);
}

/* The interpreter finds that a program is at fault: its text may be refused, and it need not compute the same twice. */
static bool finds_fault(ReadBack *check, const Build *build)
{
    ArgOptions options = {.seed = 1};
    bool found = false;
    for (int i = 0; i < build->module->func_count; i++) {
        ArgData *data = argdata_new(check->driver->ctx, build->module->funcs[i], &options);
        Run run = data ? run_interpreted(check, build->module->funcs[i], data, true) : (Run){0};
        found |= run.code != 0 && run.code != 1 << INTERP_STEP_LIMIT;
        if (!data)
            continue;
        argdata_free(run.data);
        argdata_free(data);
    }
    return found;
}

static bool same_bytes(CodegenBytes a, CodegenBytes b)
{
    return a.length == b.length && !memcmp(a.data, b.data, a.length);
}

/* B is A, printed and read. */
static void compare_builds(ReadBack *check, const Build *a, const Build *b)
{
    if (!b->module)
        complain(check, "the text cannot be read: %s", b->refusal);
    else if (a->object.data && !b->object.data && !finds_fault(check, a))
        complain(check, "the text is refused: %s", b->refusal);
    else if (!a->object.data && b->object.data)
        complain(check, "the program is refused (%s), its text is not", a->refusal);
    else if ((!a->object.data || !same_bytes(a->object, b->object)) && !finds_fault(check, a)) /* the same code computes the same */
        for (int i = 0; i < a->module->func_count; i++)
            run_both(check, a, b, i);
}

/* --- Lowering passes --- */

typedef struct {
    const char *pass;
    int func;
    const Func *result;
} PassResult;

typedef struct {
    Context *ctx;
    int func;
    VEC(PassResult) results;
} PassList;

static void note_pass(void *data, const char *pass, const Func *func, double seconds)
{
    (void)seconds;
    PassList *list = data;
    PassResult result = {pass, list->func, func};
    vec_push(list->ctx->arena, &list->results, result);
}

/* As of the target that the driver compiles for: the text after a pass depends on it. */
static void tell_vector_registers(void *data, int *bytes, int *count)
{
    PassList *list = data;
    CodegenOptions options = codegen_options();
    VectorRegisters registers = backend_find(NULL)->vector_registers(list->ctx, &options);
    *bytes = registers.bytes;
    *count = registers.count;
}

/* MODULE after pass NAME, as --print-after=NAME prints it; *CHANGED: the pass did something. */
static const char *text_after(ReadBack *check, const Module *module, const PassList *list, const char *name, bool *changed)
{
    StrBuf text = {.arena = check->driver->ctx->arena};
    *changed = false;
    for (int i = 0; i < list->results.count; i++) {
        const PassResult *result = &list->results.data[i];
        if (strcmp(result->pass, name))
            continue;
        bool first = i == 0 || list->results.data[i - 1].func != result->func;
        *changed |= result->result != (first ? module->funcs[result->func] : list->results.data[i - 1].result);
        strbuf_printf(&text, "# after %s\n%s", name, print_func(check->driver->ctx, result->result));
    }
    return strbuf_text(&text);
}

/* The hash of the case and MORE chooses one of PART. */
static bool is_chosen(const ReadBack *check, const char *more, uint32_t part)
{
    uint32_t hash = 2166136261u;
    for (const char *c = check->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (const char *c = more; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return check->all || (hash >> 8) % part == 0;
}

static void check_passes(ReadBack *check, const Build *build)
{
    Driver *driver = check->driver;
    PassList list = {.ctx = driver->ctx};
    LowerOptions options = {.vector_registers = tell_vector_registers, .after_pass = note_pass, .data = &list};
    const char *where = check->where;
    int count;
    const LowerPass *passes = lower_passes(&count);
    for (list.func = 0; list.func < build->module->func_count; list.func++)
        lower_func(driver->ctx, build->module, build->module->funcs[list.func], &options);
    diag_clear(driver->ctx);
    for (int i = 0; i < count; i++) {
        bool changed;
        const char *text = text_after(check, build->module, &list, passes[i].name, &changed);
        check->where = arena_printf(driver->ctx->arena, "%s, after %s", where, passes[i].name);
        if (!changed || !is_chosen(check, check->where, PART))
            continue;
        Build again = build_text(check, text, passes[i].name);
        compare_builds(check, build, &again);
    }
    check->where = where;
}

/* --- Programs --- */

static void check_program(ReadBack *check, const Module *module)
{
    Build build = build_program(check, module), again = build_text(check, print_module(check->driver->ctx, module), NULL);
    compare_builds(check, &build, &again);
    if (build.object.data)
        check_passes(check, &build);
}

static void check_steps(ReadBack *check)
{
    Driver *driver = check->driver;
    for (int i = 0; i < driver->steps.count; i++) {
        check->where = arena_printf(driver->ctx->base_arena, "step %d", i + 1);
        if (i == driver->steps.count - 1 || is_chosen(check, check->where, PART))
            check_program(check, driver->steps.data[i].after);
    }
}

/* --- Files --- */

static const char *with_ending(ReadBack *check, const char *path, const char *ending)
{
    return arena_printf(check->driver->ctx->base_arena, "%.*s%s", (int)(strrchr(path, '.') - path), path, ending);
}

/* The -D words of the case's .args file. */
static void set_definitions(ReadBack *check, const char *path)
{
    FILE *file = fopen(with_ending(check, path, ".args"), "r");
    char word[256];
    while (file && fscanf(file, "%255s", word) == 1) {
        const char *words[] = {word};
        if (!strncmp(word, "-D", 2) && word[2])
            tirc_set_options(check->driver, words, 1);
    }
    if (file)
        fclose(file);
}

static bool check_file(const char *path, bool all)
{
    ReadBack check = {.driver = tirc_context_new(), .name = path, .where = "the program", .all = all, .good = true};
    bool scheduled = !strcmp(path + strlen(path) - strlen(".sched"), ".sched");
    const char *input = !is_chosen(&check, "", CASE_PART) ? NULL : scheduled ? case_program(check.driver->ctx->base_arena, path) : path;
    tirc_text text = {.name = input}, script = {.name = path};
    const tirc_program *program = input ? tirc_read(check.driver, &text, 1) : NULL;
    FILE *sink = fopen("/dev/null", "w");
    tirc_set_output(check.driver, sink);
    diag_clear(check.driver->ctx);
    check.claims = program && driver_check_claims(check.driver, program, true);
    diag_clear(check.driver->ctx);
    if (program && !scheduled)
        check_program(&check, program->source);
    if (program && scheduled) {
        set_definitions(&check, path);
        tirc_schedule(check.driver, program, &script, 1);
        diag_clear(check.driver->ctx);
        check_steps(&check);
    }
    fclose(sink);
    tirc_context_free(check.driver);
    return check.good;
}

typedef struct {
    pid_t process;
    const char *path;
} Worker;

/* A process for each file: what one does to memory, or a crash, is no matter of the others. One that takes long hangs. */
static bool wait_for_one(Worker *workers, int *running)
{
    int status = 0, ended = 0;
    pid_t process = wait(&status);
    while (ended < *running - 1 && workers[ended].process != process)
        ended++;
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: %s\n", workers[ended].path, strsignal(WTERMSIG(status)));
    workers[ended] = workers[--*running];
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Every file number FIRST, FIRST + STEP, ... of PATHS. */
static bool check_files(char *const *paths, size_t count, size_t first, size_t step, bool all)
{
    bool good = true;
    Worker workers[WORKERS];
    int running = 0;
    for (size_t i = first; i < count; i += step) {
        if (running == WORKERS)
            good &= wait_for_one(workers, &running);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            struct itimerval processor = {.it_value = {.tv_sec = LONGEST_FILE_SECONDS}};
            setitimer(ITIMER_PROF, &processor, NULL);
            alarm(10 * LONGEST_FILE_SECONDS);
            _exit(!check_file(paths[i], all));
        }
        workers[running++] = (Worker){child, paths[i]};
    }
    while (running)
        good &= wait_for_one(workers, &running);
    return good;
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("READBACK");
    size_t part = 1, parts = 1;
    bool all = wanted && (!strcmp(wanted, "all") || (sscanf(wanted, "%zu/%zu", &part, &parts) == 2 && part >= 1 && part <= parts));
    if (wanted && !all) {
        fprintf(stderr, "READBACK must be \"all\" or K/N, the part K of N\n");
        return 2;
    }
    if (argc > 1)
        return !check_files(argv + 1, (size_t)argc - 1, part - 1, parts, true);
    glob_t found = case_files("tir"), scripts = case_files("sched");
    if (!found.gl_pathc) {
        fprintf(stderr, "tests/cases holds no cases; run this in the root of the repository\n");
        return 1;
    }
    glob("examples/*/*.tir", GLOB_APPEND, NULL, &found);
    glob("examples/*/*.sched", GLOB_APPEND, NULL, &found);
    bool good = check_files(found.gl_pathv, found.gl_pathc, part - 1, parts, all);
    good &= check_files(scripts.gl_pathv, scripts.gl_pathc, part - 1, parts, all);
    globfree(&found);
    globfree(&scripts);
    return !good;
}
