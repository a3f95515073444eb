/* Dependences: may iterations run in another order, or at once? One analysis under all schedule primitives.

   Answers are safe: what cannot be shown is a conflict. Cheap arguments come first (accesses of one recognized reduction commute; linear
   indices that differ in every two iterations), then the exact iteration sets of a pair of accesses decide: by a small search for a point,
   and by isl where that gives up, with quotas that count operations. */
#ifndef TIRC_PASSES_ANALYSIS_DEPENDENCE_H
#define TIRC_PASSES_ANALYSIS_DEPENDENCE_H

#include "passes/analysis/access.h"
#include "passes/analysis/answer.h"

/* Why something may not be done. */
typedef struct {
    const Access *first, *second;
    bool witnessed;   /* a concrete pair of iterations was found; else nothing could be shown */
    const char *text; /* "C[0, 3] is written at k = 0 and read at k = 1", or what kept the proof from succeeding; in ctx->arena */
} Conflict;

/* How the iterations of a loop are to run. */
typedef enum {
    RUN_AT_ONCE, /* parallel, vectorized: in any interleaving */
    RUN_AS_BLOCKS, /* bound to blockIdx.*: at once, and nothing waits */
    RUN_AS_THREADS,      /* to be bound to threadIdx.* or vthread: at once, statement by statement; a write to shared memory is seen by
                            later statements of the other threads, threads may write one value to one shared element, and reduce together */
    RUN_AS_THREADS_SO_FAR, /* the same, while a step may still say where scratch in global memory is stored: it is no conflict yet */
    RUN_AS_GIVEN_THREADS /* RUN_AS_THREADS, where the program has always run as threads: the order of its iterations means nothing */
} RunMode;

/* True when two different iterations of the loop over VAR in FUNC conflict, or may for all that can be shown, when they run in MODE.
   Accesses to scratch buffers that each iteration fills before it reads them are no conflict. */
bool dependence_carried(Context *ctx, const Func *func, const Var *var, RunMode mode, Conflict *conflict);

/* What stands below the loop over INNER depends on the iteration of the loop over OUTER around it: what it does, or whether, or where. */
bool dependence_needs_loop(Context *ctx, const Func *func, const Var *inner, const Var *outer);

/* What the kernels of a function are checked against, collected once for all of them. */
typedef struct {
    Context *ctx;
    const Func *func;
    AccessList accesses;
    Map sizes;
    Map held;    /* outermost thread-bound loop, a statement -> where its accesses stand in the list */
    Map by_data; /* data variable -> the numbers of its accesses; FUNC -> those of fences */
} KernelSet;
KernelSet dependence_collect_kernels(Context *ctx, const Func *func);

/* STMT is the outermost thread-bound loop of a kernel of SET's function. True when two threads or two thread blocks of it conflict, or may
   for all that can be shown, where each thread runs all that the kernel's loops with its tags do not share out; or when memory whose storage
   scope gives each thread or block its own is to pass something on between them, between launches, or to the outside. *TAG: of a loop that
   is at fault. */
bool dependence_in_kernel(const KernelSet *set, const Stmt *stmt, Str *tag, Conflict *conflict);

/* True when AFTER runs two accesses in another order than BEFORE that must keep it, or may for all that can be shown. Block instances are
   identified by their block symbol and their iterators' values, so AFTER must hold the same blocks with unchanged bodies, each instance run
   as often as in BEFORE. Only accesses below OLD_PART in BEFORE and below NEW_PART in AFTER are compared: the rest of the program must be
   unchanged around them. INNERMOST, where not NULL: OLD_PART is a nest of loops, each the whole body of the one before, down to the one
   over INNERMOST, whose body runs in AFTER for the same iterations; what such a body fills before it reads it, in a buffer of the program's
   own, keeps no order between two of them. */
bool dependence_reordered(Context *ctx, const Func *before, const Stmt *old_part, const Func *after, const Stmt *new_part,
                          const Var *innermost, Conflict *conflict);

/* BLOCK was moved in front of its consumers, below a loop around them, where an instance may run several times or not at all. True when
   that may change what a consumer reads: an input of BLOCK changes between its old and its new place, or in some iteration not all that is
   read was written before. */
bool dependence_moved_producer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);
/* BLOCK was moved behind its producers, below a loop around them. True when an instance may be lost, or may come to run on the other side
   of what it depends on. */
bool dependence_moved_consumer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);

/* True when AFTER runs an instance of BLOCK, or may for all that can be shown, that BEFORE does not run in the same iteration of the loops
   around the block's scope. */
bool dependence_adds_instances(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);

/* True when in each iteration of the loops around its scope BLOCK runs for every point of its spatial iterators' domains, for some values
   of the others. */
bool dependence_serves_all_points(Context *ctx, const Func *func, const Block *block);

/* The same for every point of all its iterators' domains; CONFLICT names one otherwise. */
bool dependence_runs_over_domain(Context *ctx, const Func *func, const Block *block, Conflict *conflict);

/* The other way round: BEFORE runs an instance that AFTER does not run, or may. */
bool dependence_loses_instances(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);

/* True when block WRITER writes an element that READER reads in some iteration, or may for all that can be shown, whichever comes first. */
bool dependence_overwrites(Context *ctx, const Func *func, const Block *reader, const Block *writer, Conflict *conflict);

/* OTHER writes memory that BLOCK uses, or uses memory that BLOCK writes, whichever elements: that of the data variable EXCEPT does not
   count. */
bool dependence_shares_memory(Context *ctx, const Func *func, const Block *block, const Block *other, const Var *except);

/* BLOCK has taken over reads that another block did before its first instance, in each iteration of the outermost COMMON loops around it.
   True when an instance of WRITER, which may be BLOCK, writes what a later one of BLOCK reads, or possibly does. TAKEN: the data variables
   of what was taken over, where the writes are as they were and no other read can have come to be late; NULL: all reads count. */
bool dependence_reads_late(Context *ctx, const Func *func, const Block *block, const Block *writer, int common, const Map *taken,
                           Conflict *conflict);
/* True when BLOCK uses memory in DATA (data variables), in the same iteration of the outermost COMMON loops, before OTHER uses the same element,
   one of them writing, or possibly does. */
bool dependence_comes_before(Context *ctx, const Func *func, const Block *block, const Block *other, int common, const Map *data,
                             Conflict *conflict);
/* The data variables of the memory that BLOCK reads, each on itself. */
Map dependence_read_data(Context *ctx, const Func *func, const Block *block);

/* CONSUMER is to run where PRODUCER, which stores one element in each instance, stores the element that CONSUMER reads. True when some
   instance of CONSUMER, or possibly some, has no such place: the loops that both share agreeing, its element is not written. Elements that
   a choice in CONSUMER may leave unread count too. */
bool dependence_leaves_instances(Context *ctx, const Func *func, const Block *producer, const Block *consumer, Conflict *conflict);

/* True when no instance of BLOCK (its iterators' values) certainly or possibly runs twice while the loops around the one over VAR stay in
   one iteration. */
bool dependence_runs_once(Context *ctx, const Func *func, const Block *block, const Var *var);

/* True when every read of BUFFER in one iteration of the loop over VAR is of an element that the same iteration has written before, and
   nothing outside of the loop touches the buffer: each iteration may then have a copy of its own. */
bool dependence_is_private(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *data, const Var *var);

/* True when an instance of BLOCK reads of the memory of BUFFER, which may be a view, only what it has written itself before. */
bool dependence_reads_own_writes(Context *ctx, const Func *func, const Block *block, const Buffer *buffer);
/* A read of BLOCK, a recognized reduction, of the memory that it reduces into, under this or another name, other than the update's own. A call
   that may touch anything (a fence) counts as such a read. NULL: there is none. */
const Access *dependence_reads_target_apart(Context *ctx, const Func *func, const Block *block);

/* The inits of BLOCK, a block of FUNC, are to run before the loop over VAR around it, each iteration's of the loops further out. True when that
   changes what they read or what they leave, or may for all that can be shown: something else in the loop writes, before the init of a point,
   what that init touches, or two points share an element. */
bool dependence_init_moved(Context *ctx, const Func *func, const BlockStmt *block, const Var *var, Conflict *conflict);
/* Two instances of BLOCK that differ in other than reduce axes write one element, or may: then it does not hold the same after each. */
bool dependence_points_share(Context *ctx, const Func *func, const BlockStmt *block);
/* In AFTER some point of BLOCK may have no update, so that all its inits run before the outermost loop that it reduces over; and, unlike in
   BEFORE, that loop writes what one of them reads, or touches what it writes, before the point's first update, or possibly does. */
bool dependence_init_early(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);

/* The claims that a block's axis kinds make (design: axis kinds are claims). */
/* What the claims of a function's blocks are checked against, collected once for all of them. */
typedef struct {
    Context *ctx;
    const Func *func;
    AccessList accesses;
    Map sizes, ranges;
} ClaimSet;
ClaimSet dependence_collect_claims(Context *ctx, const Func *func);
/* BLOCK is a recognized reduction with an init: instances of it that differ in a spatial axis never touch one element of what it reduces into,
   so that the init of one leaves the sum of the other alone. */
bool dependence_tells_points_apart(Context *ctx, const Func *func, const Block *block);
/* Whether different instances of BLOCK_STMT, a block of the set's function, that differ in a spatial iterator touch nothing in common, and
   those that differ in reduce iterators only commute. CONFLICT tells of the instances that refute it or of what is unknown. */
Verdict dependence_check_claims(const ClaimSet *set, const Stmt *block_stmt, Conflict *conflict);

#endif
