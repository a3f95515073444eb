/* Checks that tirc stands every input: mutations [-n TRIALS] [-s SEED] [-o FOLDER]. Each seed takes one of the files that the command reads, a program, a
   script, a trace, a tuning record, an array, LLVM IR or a file of options, changes some bytes, words or lines of it, and runs the command beside
   this program on it. It must end by itself with 0, 1 or 2 within ten seconds of processor time. What does not is named on stderr, kept in FOLDER, and makes
   the exit code 1. The same seed gives the same input. */
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIALS = 150, MOST_BYTES = 1 << 16, MOST_WORDS = 24, LONGEST_SECONDS = 10, LONGEST_WAIT = 300 };

typedef struct {
    uint64_t state;
} Random;

/* A number below BOUND, which is positive. */
static int below(Random *random, int bound)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random->state >> 33) % (uint64_t)bound);
}

/* --- Changing a text --- */

typedef struct {
    char bytes[MOST_BYTES];
    int length;
} Text;

/* Bytes FIRST up to END become those of WORD. */
static void replace(Text *text, int first, int end, const char *word, int length)
{
    static char rest[MOST_BYTES];
    int behind = text->length - end;
    if (first + length + behind > MOST_BYTES)
        return;
    memcpy(rest, text->bytes + end, (size_t)behind);
    memmove(text->bytes + first, word, (size_t)length);
    memcpy(text->bytes + first + length, rest, (size_t)behind);
    text->length = first + length + behind;
}

static const char *const words[] = {"0",     "-1",       "1",        "9223372036854775807", "-9223372036854775808", "4294967296", "1e400", "nan", "T.",     "T.int64(0)", "None", "[",
                                    "]",     "(",        ")",        "{",                   "}",                    ",",          ":",     "=",   "\"",     "'",          "#",    "\n",
                                    "\n    ", "\t",       "\\",       "%s",                  "\xff",                 "\xc3\xa9",   "*",     "**",  "// 0",   "% 0",        "not ", "lambda i: ",
                                    "with ", "for i in ", "return ", "if True: ",           "\"\"\"",               "..",         "@",     ";",   "\r\n",   "T.handle",   "\"int8\"", "float32"};

static int line_start(const Text *text, int at)
{
    while (at > 0 && text->bytes[at - 1] != '\n')
        at--;
    return at;
}

static int line_end(const Text *text, int at)
{
    while (at < text->length && text->bytes[at] != '\n')
        at++;
    return at < text->length ? at + 1 : at;
}

static void change_line(Random *random, Text *text, int at)
{
    static Text line;
    int first = line_start(text, at), end = line_end(text, at), to = line_start(text, below(random, text->length));
    line.length = end - first;
    memcpy(line.bytes, text->bytes + first, (size_t)line.length);
    if (below(random, 3))
        replace(text, to, to, line.bytes, line.length);
    else
        replace(text, first, end, "", 0);
}

/* Another digit, or another number. */
static void change_number(Random *random, Text *text, int at)
{
    for (int i = 0; i < text->length; i++, at = (at + 1) % text->length)
        if (text->bytes[at] >= '0' && text->bytes[at] <= '9') {
            const char *word = words[below(random, 6)];
            if (below(random, 2))
                text->bytes[at] = (char)('0' + below(random, 10));
            else
                replace(text, at, at + 1, word, (int)strlen(word));
            return;
        }
}

static void change(Random *random, Text *text)
{
    if (!text->length)
        return;
    int at = below(random, text->length), end = at + 1 + below(random, 12);
    const char *word = words[below(random, sizeof words / sizeof *words)];
    end = end > text->length ? text->length : end;
    switch (below(random, 10)) {
    case 0: text->bytes[at] = (char)(text->bytes[at] ^ 1 << below(random, 8)); break;
    case 1: text->bytes[at] = (char)below(random, 256); break;
    case 2: replace(text, at, end, "", 0); break;
    case 3: replace(text, at, at, text->bytes + at, end - at); break;
    case 4: replace(text, at, at, word, (int)strlen(word)); break;
    case 5: replace(text, at, end, word, (int)strlen(word)); break;
    case 6:
    case 7: change_line(random, text, at); break;
    case 8: change_number(random, text, at); break;
    default:
        if (!below(random, 4))
            text->length = at;
        else
            change_number(random, text, at);
    }
}

/* --- Inputs --- */

static void read_text(const char *path, Text *text)
{
    FILE *file = fopen(path, "rb");
    text->length = file ? (int)fread(text->bytes, 1, sizeof text->bytes, file) : 0;
    if (file)
        fclose(file);
}

static void write_text(const char *path, const Text *text)
{
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(text->bytes, 1, (size_t)text->length, file) == (size_t)text->length;
    if (!file || fclose(file) || !written) {
        perror(path);
        exit(2);
    }
}

static void copy_file(const char *from, const char *to)
{
    static Text text;
    read_text(from, &text);
    write_text(to, &text);
}

enum { MOST_WAYS = 5 };

/* A kind of input: where its files are, what a changed one is called in the working folder, and how the command runs there. A script finds its
   program as p.tir. */
typedef struct {
    const char *files[3], *as, *ways[MOST_WAYS];
} Kind;

static const Kind kinds[] = {
    {{"tests/cases/*/*.tir", "tests/cases/*/*/*.tir"},
     "p.tir",
     {"p.tir --show", "p.tir -O1 -o p.o -H p.h", "p.tir --interpret --max-steps=100000", "p.tir --print-after=all", "p.tir --bounds-check -g -S -o -"}},
    {{"tests/cases/*/*.sched", "tests/cases/*/*/*.sched"},
     "p.sched",
     {"p.tir -s p.sched --show", "p.tir -s p.sched --show=steps", "p.tir -s p.sched --explain=json", "p.tir -s p.sched -O0 -o p.o"}},
    {{"tests/cases/script/*trace*.sched"}, "p.sched", {"p.tir -s p.sched --show"}},
    {{"tests/cases/database/best/database_workload.json", "tests/cases/database/two/database_workload.json"},
     "records/database_workload.json",
     {"record.tir -s records --show"}},
    {{"tests/cases/database/best/database_tuning_record.json", "tests/cases/database/two/database_tuning_record.json"},
     "records/database_tuning_record.json",
     {"record.tir -s records --show"}},
    {{"row.npy"}, "a.npy", {"row.tir --interpret --in A=a.npy", "row.tir --run --in A=a.npy --print B", "row.tir --interpret --expect A=a.npy"}},
    {{"row.npz"}, "a.npz", {"row.tir --interpret --in A=a.npz:A", "row.tir --interpret --out B=a.npz:B", "row.tir --run --in A=a.npz:A"}},
    {{"row.ll"}, "a.ll", {"row.tir -s import.sched -o p.o", "row.tir -s import.sched --show"}},
    {{"options"}, "changed", {"@changed", "row.tir @changed"}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The number CHOSEN, modulo how many there are, of the files of KIND; below the working folder or, with ROOT, the repository. */
static const char *choose_file(Random *random, const Kind *kind, const char *root)
{
    static char path[4096];
    glob_t found = {0};
    for (int i = 0; i < 3 && kind->files[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", root, kind->files[i]);
        glob(path, i ? GLOB_APPEND : 0, NULL, &found);
    }
    if (found.gl_pathc)
        snprintf(path, sizeof path, "%s", found.gl_pathv[below(random, (int)found.gl_pathc)]);
    else
        snprintf(path, sizeof path, "%s", kind->files[0]);
    globfree(&found);
    return path;
}

/* The program of the script PATH becomes p.tir: it stands in the folder of the script, in the parent of that or in tests/cases/programs. */
static void copy_program(const char *path)
{
    static const char *const places[] = {"", "../", "../programs/", "../../programs/"};
    const char *name = strrchr(path, '/') + 1;
    for (int i = 0; i < 4; i++) {
        char program[4200];
        snprintf(program, sizeof program, "%.*s%s%.*s.tir", (int)(name - path), path, places[i], (int)strcspn(name, "."), name);
        if (!access(program, R_OK)) {
            copy_file(program, "p.tir");
            return;
        }
    }
}

/* --- Runs --- */

/* What TIRC ends with on the words of WAY; its output goes nowhere. */
static int run(const char *tirc, const char *way)
{
    pid_t child = fork();
    if (child == 0) {
        static char line[256];
        char *arguments[MOST_WORDS] = {"tirc"}, *rest = NULL;
        struct rlimit seconds = {LONGEST_SECONDS, LONGEST_SECONDS + 1};
        int count = 1;
        snprintf(line, sizeof line, "%s", way);
        for (char *word = strtok_r(line, " ", &rest); word && count < MOST_WORDS - 1; word = strtok_r(NULL, " ", &rest))
            arguments[count++] = word;
        setrlimit(RLIMIT_CPU, &seconds);
        alarm(LONGEST_WAIT);
        if (!freopen("/dev/null", "r", stdin) || !freopen("said", "w", stdout) || dup2(1, 2) < 0)
            _exit(2);
        execv(tirc, arguments);
        _exit(2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static bool is_good(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) <= 2;
}

static void report(const char *folder, const Kind *kind, uint64_t seed, const char *way, int status)
{
    char kept[4200] = "";
    if (folder) {
        snprintf(kept, sizeof kept, "%s/%llu-%s", folder, (unsigned long long)seed, strrchr(kind->as, '/') ? strrchr(kind->as, '/') + 1 : kind->as);
        copy_file(kind->as, kept);
        if (!strcmp(kind->as, "p.sched")) {
            snprintf(kept, sizeof kept, "%s/%llu-p.tir", folder, (unsigned long long)seed);
            copy_file("p.tir", kept);
        }
    }
    fprintf(stderr, "seed %llu: tirc %s %s %d\n", (unsigned long long)seed, way, WIFSIGNALED(status) ? "is killed by signal" : "ends with",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    FILE *said = fopen("said", "r");
    char line[512];
    for (int i = 0; said && i < 12 && fgets(line, sizeof line, said); i++)
        fprintf(stderr, "    %s", line);
    if (said)
        fclose(said);
}

static bool try_seed(const char *tirc, const char *root, const char *folder, uint64_t seed)
{
    static Text text;
    Random random = {seed * 1000003 + 1};
    const Kind *kind = &kinds[below(&random, 3) ? below(&random, 2) : below(&random, KINDS)]; /* programs and scripts more often */
    const char *path = choose_file(&random, kind, root);
    int ways = 0, changes = 1 + below(&random, below(&random, 4) ? 3 : 12);
    while (ways < MOST_WAYS && kind->ways[ways])
        ways++;
    read_text(path, &text);
    for (int i = 0; i < changes; i++)
        change(&random, &text);
    if (!strcmp(kind->as, "p.sched"))
        copy_program(path);
    copy_file("best_workload", "records/database_workload.json");
    copy_file("best_record", "records/database_tuning_record.json");
    write_text(kind->as, &text);
    const char *way = kind->ways[below(&random, ways)];
    int status = run(tirc, way);
    if (!is_good(status))
        report(folder, kind, seed, way, status);
    return is_good(status);
}

/* --- The working folder --- */

static void write_words(const char *path, const char *words_of_file)
{
    static Text text;
    text.length = (int)strlen(words_of_file);
    memcpy(text.bytes, words_of_file, (size_t)text.length);
    write_text(path, &text);
}

/* What the kinds need that is no file of the repository. */
static void prepare(const char *tirc, const char *root)
{
    static const char *const copies[][2] = {{"best_record.tir", "record.tir"}, {"best/database_workload.json", "best_workload"},
                                            {"best/database_tuning_record.json", "best_record"}};
    write_words("row.tir", "@T.prim_func\ndef row(A: T.Buffer((3, 4), \"float32\"), B: T.Buffer((3, 4), \"float32\")):\n    for i, j in T.grid(3, 4):\n"
                           "        with T.block(\"row\"):\n            vi, vj = T.axis.remap(\"SS\", [i, j])\n            B[vi, vj] = A[vi, vj] * 2.0\n");
    write_words("import.sched", "sch.annotate(sch.get_loops(\"row\")[0], \"pragma_import_llvm\", \"a.ll\")\n");
    write_words("options", "row.tir\n-s import.sched -O2 --emit=obj,asm -o p.o\n-H p.h -MD -MP -MT x.o\n--seed=3 --target=x86_64-linux-gnu --mcpu=generic -D n=4 -Wall\n");
    mkdir("records", 0777);
    for (int i = 0; i < 3; i++) {
        char from[4200];
        snprintf(from, sizeof from, "%s/tests/cases/database/%s", root, copies[i][0]);
        copy_file(from, copies[i][1]);
    }
    if (run(tirc, "row.tir --interpret --out B=row.npy --out A=row.npz:A --out B=row.npz:B") || run(tirc, "row.tir --emit=llvm-ir -o row.ll")) {
        fprintf(stderr, "%s does not run\n", tirc);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    char root[2048], tirc[4096], work[] = "/tmp/mutations.XXXXXX", remove[64];
    const char *folder = NULL, *slash = strrchr(argv[0], '/');
    long trials = TRIALS, first = 1;
    bool good = true;
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "-n"))
            trials = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-s"))
            first = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-o"))
            folder = realpath(argv[i + 1], NULL);
    snprintf(tirc, sizeof tirc, "%.*s/../tirc", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    char *command = realpath(tirc, NULL);
    if (!command || !getcwd(root, sizeof root) || !mkdtemp(work) || chdir(work)) {
        perror(tirc);
        return 2;
    }
    prepare(command, root);
    for (long seed = first; seed < first + trials; seed++)
        good &= try_seed(command, root, folder, (uint64_t)seed);
    snprintf(remove, sizeof remove, "rm -rf %s", work);
    return system(remove) || !good;
}
