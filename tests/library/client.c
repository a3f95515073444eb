/* A client of the installed library: client FOLDER, where FOLDER holds relu.tir and relu.sched. Ends with 0 if all of tirc.h does what it
   says. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tirc.h>

#define REQUIRE(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *condition)
{
    fprintf(stderr, "client.c:%d: %s does not hold\n", line, condition);
    exit(1);
}

static const char *in_folder(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static const char program_source[] = "@T.prim_func\n"
                                     "def double(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
                                     "    for i in range(64):\n"
                                     "        with T.block(\"b\"):\n"
                                     "            v = T.axis.spatial(64, i)\n"
                                     "            B[v] = A[v] * 2.0\n";

static size_t memory_held(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static tirc_text text_of(const char *name, const char *text)
{
    tirc_text result = {name, text, strlen(text)};
    return result;
}

static void test_files(const char *folder)
{
    tirc_context *tirc = tirc_context_new();
    tirc_text program_text = {in_folder(folder, "relu.tir"), NULL, 0}, script = {in_folder(folder, "relu.sched"), NULL, 0};
    const tirc_program *program = tirc_read(tirc, &program_text, 1);
    REQUIRE(program);
    const tirc_program *scheduled = tirc_schedule(tirc, program, &script, 1);
    REQUIRE(scheduled && scheduled != program);
    REQUIRE(!strcmp(tirc_file(tirc, 0), program_text.name) && !strcmp(tirc_file(tirc, 1), script.name) && !tirc_file(tirc, 2) &&
            !tirc_file(tirc, -1));
    size_t length;
    const char *object = tirc_emit(tirc, scheduled, "obj", &length);
    REQUIRE(object && length > 64 && !memcmp(object, "\177ELF", 4));
    REQUIRE(strstr(tirc_emit(tirc, scheduled, "header", NULL), "int relu(const float *TIRC_RESTRICT A, float *TIRC_RESTRICT B);"));
    REQUIRE(strstr(tirc_emit(tirc, scheduled, "tir", &length), "T.parallel(1000)"));
    REQUIRE(!strstr(tirc_emit(tirc, program, "tir", NULL), "T.parallel"));
    REQUIRE(strstr(tirc_emit(tirc, scheduled, "llvm-ir", NULL), "define"));
    REQUIRE(!tirc_check(tirc, scheduled));
    const tirc_program *lowered = tirc_lower(tirc, scheduled);
    REQUIRE(lowered && lowered != scheduled && tirc_lower(tirc, lowered) == lowered);
    REQUIRE(!strstr(tirc_emit(tirc, lowered, "tir", NULL), "T.block"));
    tirc_text once_more = text_of("more.sched", "sch.get_loops(\"relu\")\n");
    const tirc_program *again = tirc_schedule(tirc, lowered, &once_more, 1);
    REQUIRE(again && strstr(tirc_emit(tirc, again, "tir", NULL), "T.block") && strstr(tirc_diagnostics(tirc), "makes no step"));
    REQUIRE(!strcmp(tirc_emit(tirc, again, "tir", NULL), tirc_emit(tirc, scheduled, "tir", NULL)));
    size_t lowered_length;
    const char *same = tirc_emit(tirc, lowered, "obj", &lowered_length);
    object = tirc_emit(tirc, scheduled, "obj", &length);
    REQUIRE(same && lowered_length == length && !memcmp(same, object, length));
    REQUIRE(!strcmp(tirc_diagnostics(tirc), ""));
    tirc_context_free(tirc);
}

static void test_texts_and_options(void)
{
    tirc_context *tirc = tirc_context_new();
    const char *words[] = {"-O1", "-D", "tile=16", "--mcpu=generic"};
    REQUIRE(tirc_set_options(tirc, words, 4) == 0);
    FILE *output = tmpfile();
    tirc_set_output(tirc, output);
    tirc_text text = text_of("double.tir", program_source);
    tirc_text scripts[] = {text_of("one.sched", "i, = sch.get_loops(\"b\")\n"),
                           text_of("two.sched", "o, v = sch.split(i, [None, tile])\nsch.vectorize(v)\nprint(tile)\n")};
    const tirc_program *program = tirc_read(tirc, &text, 1), *scheduled = program ? tirc_schedule(tirc, program, scripts, 2) : NULL;
    REQUIRE(scheduled && strstr(tirc_emit(tirc, scheduled, "tir", NULL), "T.vectorized(16)"));
    char line[8] = "";
    rewind(output);
    REQUIRE(fgets(line, sizeof line, output) && !strcmp(line, "16\n"));
    fclose(output);
    tirc_context_free(tirc);
}

static void test_errors(void)
{
    tirc_context *tirc = tirc_context_new();
    tirc_text wrong = text_of("wrong.tir", "@T.prim_func\ndef f(A: T.Bufer((4,), \"float32\")):\n    A[0] = 1.0\n");
    REQUIRE(!tirc_read(tirc, &wrong, 1));
    REQUIRE(!strncmp(tirc_diagnostics(tirc), "wrong.tir:2:10: error: ", 23) && !strcmp(tirc_diagnostics(tirc), ""));
    tirc_text text = text_of("double.tir", program_source), script = text_of("s.sched", "sch.split(sch.get_loops(\"c\")[0], [4, 16])\n");
    const tirc_program *program = tirc_read(tirc, &text, 1);
    REQUIRE(program && !tirc_schedule(tirc, program, &script, 1));
    REQUIRE(strstr(tirc_diagnostics(tirc), "s.sched:1:"));
    REQUIRE(!tirc_emit(tirc, program, "exe", NULL) && strstr(tirc_diagnostics(tirc), "'exe'"));
    tirc_text missing = {"no/such/file.tir", NULL, 0};
    REQUIRE(!tirc_read(tirc, &missing, 1) && strstr(tirc_diagnostics(tirc), "no/such/file.tir"));
    const char *words[] = {"--no-hep", "x.tir"};
    REQUIRE(tirc_set_options(tirc, words, 1) == -1 && strstr(tirc_diagnostics(tirc), "--no-heap"));
    REQUIRE(tirc_set_options(tirc, words + 1, 1) == -1 && strstr(tirc_diagnostics(tirc), "x.tir"));
    REQUIRE(tirc_emit(tirc, program, "asm", NULL));
    tirc_context_release(tirc);
    size_t held = memory_held();
    for (int i = 0; i < 5000; i++) {
        REQUIRE(tirc_set_options(tirc, (const char *const[]){"--dim=n=3", "--no-hep"}, 2) == -1);
        tirc_diagnostics(tirc);
        tirc_context_release(tirc);
    }
    REQUIRE(memory_held() < held + 100000);
    tirc_context_free(tirc);
    tirc_context_free(NULL);
}

/* Every call with something that is not there is refused with a diagnostic, and the context goes on. */
static void test_misuse(void)
{
    tirc_context *tirc = tirc_context_new(), *other = tirc_context_new();
    tirc_text text = text_of("double.tir", program_source), script = text_of("s.sched", "sch.parallel(sch.get_loops(\"b\")[0])\n");
    tirc_text nameless = {NULL, program_source, sizeof program_source - 1}, nothing = {NULL, NULL, 0};
    size_t length = 7;
    const tirc_program *program = tirc_read(tirc, &text, 1), *foreign = tirc_read(other, &text, 1);
    REQUIRE(program && foreign);
#define REFUSED(call, words) REQUIRE((call) && strstr(tirc_diagnostics(tirc), words))
    REFUSED(!tirc_read(tirc, NULL, 1), "no text is given");
    REFUSED(!tirc_read(tirc, &text, 0), "no text is given");
    REFUSED(!tirc_read(tirc, &text, -1), "no text is given");
    REFUSED(!tirc_read(tirc, &nameless, 1), "no name");
    REFUSED(!tirc_read(tirc, &nothing, 1), "no name");
    REFUSED(!tirc_schedule(tirc, NULL, &script, 1), "no program is given");
    REFUSED(!tirc_schedule(tirc, foreign, &script, 1), "not of this context");
    REFUSED(!tirc_schedule(tirc, program, NULL, 0), "no text is given");
    REFUSED(!tirc_schedule(tirc, program, &nameless, 1), "no name");
    REFUSED(!tirc_emit(tirc, NULL, "obj", &length) && !length, "no program is given");
    REFUSED(!tirc_emit(tirc, foreign, "obj", NULL), "not of this context");
    REFUSED(!tirc_emit(tirc, program, NULL, NULL), "no kind is given");
    REFUSED(!tirc_emit(tirc, program, "", NULL), "''");
    REFUSED(tirc_set_options(tirc, NULL, 1) == -1, "no words are given");
    const char *words[] = {"-O1", NULL};
    REFUSED(tirc_set_options(tirc, words, 2) == -1, "NULL");
    REFUSED(tirc_set_options(tirc, words, -1) == -1, "no words are given");
    REQUIRE(tirc_set_options(tirc, NULL, 0) == 0);
    tirc_set_output(tirc, NULL);
    tirc_text empty = {"empty.tir", "", 0};
    tirc_read(tirc, &empty, 1);
    tirc_diagnostics(tirc);
    tirc_context_free(other);
    REFUSED(!tirc_emit(tirc, foreign, "obj", NULL), "not of this context");
#undef REFUSED
    REQUIRE(tirc_emit(tirc, program, "obj", &length) && length && !strcmp(tirc_diagnostics(tirc), ""));
    tirc_context_free(tirc);

    REQUIRE(!tirc_read(NULL, &text, 1) && !tirc_schedule(NULL, program, &script, 1) && !tirc_emit(NULL, program, "obj", &length) && !length);
    REQUIRE(tirc_set_options(NULL, words, 1) == -1 && !strcmp(tirc_diagnostics(NULL), "") && !tirc_file(NULL, 0));
    tirc_set_output(NULL, stdout);
    tirc_context_release(NULL);
    tirc_context_free(NULL);
}

/* The pages that the process has in memory, or 0. */
static long resident_pages(void)
{
    long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident;
}

/* A context may be used for any number of programs: what it releases comes back, and its options stay. */
static void test_release(void)
{
    tirc_context *tirc = tirc_context_new();
    const char *words[] = {"-D", "tile=16", "--emit=obj", "-O1", "-w"};
    REQUIRE(tirc_set_options(tirc, words, 5) == 0);
    tirc_text text = text_of("double.tir", program_source), wrong = text_of("wrong.tir", "?");
    tirc_text script = text_of("s.sched", "i, = sch.get_loops(\"b\")\no, v = sch.split(i, [None, tile])\nsch.vectorize(v)\n");
    const tirc_program *before = tirc_read(tirc, &text, 1);
    REQUIRE(!tirc_read(tirc, &wrong, 1));
    tirc_context_release(tirc);
    REQUIRE(!strcmp(tirc_diagnostics(tirc), "") && !tirc_file(tirc, 0));
    REQUIRE(!tirc_emit(tirc, before, "tir", NULL) && strstr(tirc_diagnostics(tirc), "was released"));
    long pages = 0;
    for (int i = 0; i < 120; i++) {
        const tirc_program *program = tirc_read(tirc, &text, 1), *scheduled = program ? tirc_schedule(tirc, program, &script, 1) : NULL;
        REQUIRE(scheduled && tirc_emit(tirc, scheduled, "obj", NULL) && strstr(tirc_emit(tirc, scheduled, "tir", NULL), "T.vectorized(16)"));
        tirc_context_release(tirc);
        pages = i == 40 ? resident_pages() : pages;
    }
#ifndef __SANITIZE_ADDRESS__ /* it keeps memory that was freed */
    REQUIRE(resident_pages() < pages + 500);
#endif
    tirc_context_free(tirc);
}

static const char two_functions[] = "@T.prim_func\n"
                                    "def scale(A: T.Buffer((4,), \"float32\"), b: T.handle, alpha: T.float32):\n"
                                    "    n = T.int32()\n"
                                    "    B = T.match_buffer(b, (n,), \"float32\")\n"
                                    "    for i in T.parallel(n):\n"
                                    "        with T.block(\"b\"):\n"
                                    "            v = T.axis.spatial(n, i)\n"
                                    "            B[v] = A[v] * alpha\n"
                                    "@T.prim_func\n"
                                    "def threads(A: T.Buffer((4,), \"float32\")):\n"
                                    "    for i in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
                                    "        A[i] = 1.0\n";

/* Functions are compiled into the process, say what is wrong with their arguments, and outlive the context. */
static void test_jit(void)
{
    tirc_context *tirc = tirc_context_new();
    tirc_text text = text_of("two.tir", two_functions), script = text_of("s.sched", "sch.work_on(\"scale\")\nsch.split(sch.get_loops(\"b\")[0], [None, 2])\n");
    const tirc_program *program = tirc_read(tirc, &text, 1), *scheduled = program ? tirc_schedule(tirc, program, &script, 1) : NULL;
    REQUIRE(scheduled);
    REQUIRE(!tirc_jit_compile(tirc, scheduled, NULL) && strstr(tirc_diagnostics(tirc), "2 functions"));
    REQUIRE(!tirc_jit_compile(tirc, scheduled, "scal") && strstr(tirc_diagnostics(tirc), "'scale'"));
    REQUIRE(!tirc_jit_compile(tirc, scheduled, "threads") && strstr(tirc_diagnostics(tirc), "threads"));
    REQUIRE(!tirc_jit_compile(tirc, NULL, "scale") && strstr(tirc_diagnostics(tirc), "no program is given"));
    REQUIRE(!tirc_jit_compile(NULL, scheduled, "scale"));
    tirc_jit *jit = tirc_jit_compile(tirc, scheduled, "scale"), *plain = tirc_jit_compile(tirc, program, "scale");
    REQUIRE(jit && plain && !strcmp(tirc_diagnostics(tirc), ""));
    tirc_context_free(tirc);
    int (*scale)(const float *, float *, float, int64_t) = (int (*)(const float *, float *, float, int64_t))(uintptr_t)tirc_jit_function(jit);
    float a[4] = {1, 2, 3, 4}, b[4] = {0};
    REQUIRE(scale(a, b, 0.5f, 4) == 0 && b[0] == 0.5f && b[3] == 2);
    REQUIRE(scale(a, b, 0.5f, -1) != 0 && strstr(tirc_jit_error(), "n"));
    REQUIRE(tirc_jit_function(plain) != tirc_jit_function(jit));
    tirc_jit_free(jit);
    tirc_jit_free(plain);
    tirc_jit_free(NULL);
    REQUIRE(!tirc_jit_function(NULL));
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    test_jit();
    test_files(argv[1]);
    test_texts_and_options();
    test_errors();
    test_misuse();
    test_release();
    return 0;
}
