/* Runs kernels and what they are compared with in turn, and writes the table, the CSV file and the roofline plot.
   usage: bench [--rounds=N] [--only=WORD] [--csv=FILE] [--svg=FILE] --roofs=COMMAND [--peer=NAME=COMMAND ...] PROGRAM ...
   Each PROGRAM serves as an example does (examples/compare.h); a peer is started with the name of a kernel, and offers it or ends. */
#include "bench/bench.h"

#include <math.h>
#include <signal.h>

enum { MAX_PEERS = 8, MAX_SETTINGS = 4, TRIALS = 3 };

/* Libraries choose kernels by processor; on one that they do not know they may choose badly. So all that can be chosen are tried, and the
   fastest is kept. */
static const struct {
    const char *peer, *settings[MAX_SETTINGS];
} SETTINGS[] = {
    {"OpenBLAS", {"", "OPENBLAS_CORETYPE=SkylakeX", "OPENBLAS_CORETYPE=Haswell"}},
    {"BLIS", {"", "BLIS_ARCH_TYPE=0", "BLIS_ARCH_TYPE=3"}},
    {"oneDNN", {"ONEDNN_MAX_CPU_ISA=ALL", "ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI", "ONEDNN_MAX_CPU_ISA=AVX2"}},
};

typedef struct {
    int rounds;
    const char *only, *csv, *svg, *roofs;
    struct {
        char name[NAME_SIZE];
        const char *command;
    } peers[MAX_PEERS];
    int peers_count;
    FILE *csv_file;
    Measured *works[MAX_WORKS];
    int works_count;
} Bench;

/* The workers of one kernel: those of its contenders, in their order. Contenders of one program share a worker. */
typedef struct {
    Worker *all[MAX_CONTENDERS];
    Worker own[MAX_CONTENDERS];
    Worker roofs;
} Workers;

static const char *const *settings_of(const char *peer)
{
    static const char *const NONE[MAX_SETTINGS] = {""};
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++)
        if (strcmp(SETTINGS[i].peer, peer) == 0)
            return SETTINGS[i].settings;
    return NONE;
}

/* Starts a peer for a kernel. Gives the least seconds of some runs, 0 where the peer lacks the kernel or computes something else. */
static double try_peer(Worker *worker, const char *name, const char *command, const char *setting, const Offer *wanted)
{
    Offer offer;
    if (!worker_start(worker, command, wanted->name, setting) || !worker_offer(worker, &offer))
        return 0;
    if (!(fabs(offer.sum - wanted->sum) <= 1e-3 * wanted->sizes)) {
        fprintf(stderr, "bench: %s has another result for %s: %g, not %g\n", name, wanted->name, offer.sum, wanted->sum);
        return 0;
    }
    double best = worker_run(worker, offer.contenders[0]);
    for (int i = 1; i < TRIALS && best > 0; i++)
        best = fmin(best, worker_run(worker, offer.contenders[0]));
    return best;
}

/* Adds a peer with the setting in which it is fastest. */
static void add_peer(Measured *work, Workers *workers, const char *name, const char *command, const Offer *offer)
{
    double best = 0;
    const char *const *settings = settings_of(name);
    if (work->count == MAX_CONTENDERS)
        return;
    Worker *kept = &workers->own[work->count];
    Contender *contender = &work->contenders[work->count];
    for (int i = 0; i < MAX_SETTINGS && settings[i]; i++) {
        Worker trial;
        double time = try_peer(&trial, name, command, settings[i], offer);
        if (!(time > 0) || (best > 0 && time >= best)) {
            worker_stop(&trial);
            continue;
        }
        worker_stop(kept);
        *kept = trial;
        best = time;
        snprintf(contender->setting, NAME_SIZE, "%s", settings[i]);
    }
    if (best > 0) {
        snprintf(contender->name, NAME_SIZE, "%s", name);
        workers->all[work->count++] = kept;
    }
}

static void remove_contender(Measured *work, Workers *workers, int which)
{
    fprintf(stderr, "bench: %s of %s fails\n", work->contenders[which].name, work->name);
    work->count--;
    memmove(&work->contenders[which], &work->contenders[which + 1], (size_t)(work->count - which) * sizeof *work->contenders);
    memmove(&workers->all[which], &workers->all[which + 1], (size_t)(work->count - which) * sizeof *workers->all);
}

/* Each contender once, another one first in each round. False: tirc's code has failed. */
static bool run_round(Measured *work, Workers *workers, int round)
{
    work->peak[round] = 1 / worker_run(&workers->roofs, "peak");
    work->copy[round] = 1 / worker_run(&workers->roofs, "copy");
    for (int i = 0; i < work->count; i++) {
        int which = (round + i) % work->count;
        Contender *contender = &work->contenders[which];
        contender->seconds[round] = worker_run(workers->all[which], contender->name);
    }
    for (int i = work->count - 1; i >= 0; i--)
        if (!(work->contenders[i].seconds[round] > 0)) {
            remove_contender(work, workers, i);
            if (i == 0)
                return false;
        }
    return true;
}

static bool measure(const Bench *bench, Worker *program, const Offer *offer, Measured *work)
{
    Workers *workers = calloc(1, sizeof *workers);
    char bytes[NAME_SIZE];
    Offer ignored;
    bool good = workers;
    if (!workers)
        return false;
    snprintf(work->name, sizeof work->name, "%s", offer->name);
    work->flops = offer->flops;
    work->bytes = offer->bytes;
    for (int i = 0; i < offer->count; i++) {
        snprintf(work->contenders[i].name, NAME_SIZE, "%s", offer->contenders[i]);
        workers->all[work->count++] = program;
    }
    for (int i = 0; i < bench->peers_count; i++)
        add_peer(work, workers, bench->peers[i].name, bench->peers[i].command, offer);
    snprintf(bytes, sizeof bytes, "%.0f", offer->bytes);
    good = worker_start(&workers->roofs, bench->roofs, bytes, "") && worker_offer(&workers->roofs, &ignored) && run_round(work, workers, 0);
    for (; good && work->rounds < bench->rounds; work->rounds++) /* the first one was to warm up */
        good = run_round(work, workers, work->rounds);
    worker_stop(&workers->roofs);
    for (int i = 0; i < MAX_CONTENDERS; i++)
        worker_stop(&workers->own[i]);
    free(workers);
    return good;
}

/* All that one program offers. False: the program failed. */
static bool measure_program(Bench *bench, const char *path)
{
    Worker program;
    Offer offer;
    int offers = 0;
    bool good = worker_start(&program, path, "serve", "");
    for (; good && worker_offer(&program, &offer); worker_next(&program), offers++) {
        if (bench->only && !strstr(offer.name, bench->only))
            continue;
        Measured *work = bench->works_count < MAX_WORKS ? calloc(1, sizeof *work) : NULL;
        good = work && measure(bench, &program, &offer, work);
        if (!good) {
            free(work);
            break;
        }
        bench->works[bench->works_count++] = work;
        report_table(stdout, work);
        if (bench->csv_file)
            report_csv(bench->csv_file, work);
    }
    worker_stop(&program);
    if (!good || !offers)
        fprintf(stderr, "bench: %s fails\n", path);
    return good && offers;
}

/* An option, or false for what is none */
static bool take_option(Bench *bench, const char *option)
{
    const char *value = strchr(option, '=');
    if (strncmp(option, "--", 2) != 0 || !value)
        return false;
    size_t length = (size_t)(value++ - option);
#define IS(name) (length == strlen(name) && strncmp(option, name, length) == 0)
    if (IS("--rounds"))
        bench->rounds = atoi(value);
    else if (IS("--only"))
        bench->only = value;
    else if (IS("--csv"))
        bench->csv = value;
    else if (IS("--svg"))
        bench->svg = value;
    else if (IS("--roofs"))
        bench->roofs = value;
    else if (IS("--peer") && strchr(value, '=') && bench->peers_count < MAX_PEERS) {
        snprintf(bench->peers[bench->peers_count].name, NAME_SIZE, "%.*s", (int)strcspn(value, "="), value);
        bench->peers[bench->peers_count++].command = strchr(value, '=') + 1;
    } else
        return false;
#undef IS
    return true;
}

static bool write_plot(const Bench *bench)
{
    FILE *file = bench->svg ? fopen(bench->svg, "w") : NULL;
    if (file)
        report_roofline(file, (const Measured *const *)bench->works, bench->works_count);
    return !bench->svg || (file && fclose(file) == 0);
}

int main(int argc, char **argv)
{
    static Bench bench = {.rounds = 21};
    bool good = true;
    int first = 1;
    while (first < argc && take_option(&bench, argv[first]))
        first++;
    if (first == argc || strncmp(argv[first], "--", 2) == 0 || !bench.roofs || bench.rounds < 1 || bench.rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: bench [--rounds=1..%d] [--only=WORD] [--csv=FILE] [--svg=FILE] --roofs=COMMAND [--peer=NAME=COMMAND] PROGRAM ...\n",
                MAX_ROUNDS);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN); /* a worker that has ended is noticed where it does not answer */
    if (bench.csv && !(bench.csv_file = fopen(bench.csv, "w"))) {
        perror(bench.csv);
        return 1;
    }
    if (bench.csv_file)
        report_csv_head(bench.csv_file);
    report_table_head(stdout);
    for (int i = first; i < argc; i++)
        good = measure_program(&bench, argv[i]) && good;
    if (bench.csv_file && fclose(bench.csv_file))
        good = false;
    good = write_plot(&bench) && good;
    for (int i = 0; i < bench.works_count; i++)
        free(bench.works[i]);
    return good ? 0 : 1;
}
