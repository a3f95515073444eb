/* The questions of legality that schedule steps, checks and lowering ask. One analysis answers all of them.

   Each answer is shown, refuted with a witness, or unknown with a reason (answer.h); who relies on it asks for "shown" alone. Cheap arguments
   come first, then the exact integer sets of a pair of accesses decide; see portfolio.def. Quotas count operations, so that answers are the
   same everywhere. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_DEPENDENCE_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_DEPENDENCE_H

#include "passes/analysis/model/access.h"
#include "passes/analysis/prove/answer.h"

/* How the iterations of a loop are to run. */
typedef enum {
    RUN_AT_ONCE, /* parallel, vectorized: in any interleaving */
    RUN_AS_LANES, /* in vectors: at once, but one store writes the elements of all iterations in their order; and all use one scratch buffer */
    RUN_AS_BLOCKS, /* bound to blockIdx.*: at once, and nothing waits */
    RUN_AS_THREADS,      /* to be bound to threadIdx.* or vthread: at once, statement by statement; a write to shared memory is seen by
                            later statements of the other threads, threads may write one value to one shared element, and reduce together */
    RUN_AS_THREADS_SO_FAR, /* the same, while a step may still say where scratch in global memory is stored: it is no conflict yet */
    RUN_AS_GIVEN_THREADS /* RUN_AS_THREADS, where the program has always run as threads: the order of its iterations means nothing */
} RunMode;

/* --- iterations at once --- */

/* No two different iterations of the loop over VAR in FUNC conflict when they run in MODE. Accesses to scratch buffers that each iteration
   fills before it reads them are no conflict. */
Answer dependence_independent(Context *ctx, const Func *func, const Var *var, RunMode mode);
/* The same where the ACCESSES of FUNC are known. */
Answer dependence_independent_among(Context *ctx, const Func *func, const AccessList *accesses, const Var *var, RunMode mode);

/* Nothing below the loop over INNER depends on the iteration of the loop over OUTER around it: neither what it does, nor whether, nor where. */
Answer dependence_ignores_loop(Context *ctx, const Func *func, const Var *inner, const Var *outer);

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

/* STMT is the outermost thread-bound loop of a kernel of SET's function. No two threads or thread blocks of it conflict, where each thread
   runs all that the kernel's loops with its tags do not share out; and memory whose storage scope gives each thread or block its own passes
   nothing on between them, between launches, or to the outside. Else *TAG is that of a loop at fault. */
Answer dependence_threads_independent(const KernelSet *set, const Stmt *stmt, Str *tag);

/* DATA is private to the iterations of the loop over VAR: each read finds an element that the same iteration has written before, and
   nothing outside of the loop touches DATA. Then each iteration may have a copy of its own. */
Answer dependence_is_private(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *data, const Var *var);

/* --- order --- */

/* AFTER runs no two accesses in another order than BEFORE that must keep it. A block instance is named by its block symbol and its iterators'
   values, so AFTER must hold the same blocks with unchanged bodies, each instance run as often as in BEFORE. Only accesses below OLD_PART in
   BEFORE and below NEW_PART in AFTER are compared: the rest of the program must be unchanged around them. INNERMOST, where not NULL: OLD_PART
   is a nest of loops, each the whole body of the one before, down to the one over INNERMOST, whose body runs in AFTER for the same iterations;
   what such a body fills before it reads it, in a buffer of the program's own, keeps no order between two of them. */
Answer dependence_order_kept(Context *ctx, const Func *before, const Stmt *old_part, const Func *after, const Stmt *new_part,
                             const Var *innermost);

/* BLOCK was moved in front of its consumers, below a loop around them, where an instance may run several times or not at all. Its inputs are
   the same at the old and the new place, and in each iteration all that is read of its results was written before. */
Answer dependence_producer_may_move(Context *ctx, const Func *before, const Func *after, const Block *block);
/* BLOCK was moved behind its producers, below a loop around them. No instance is lost, and none runs on another side of what it depends on. */
Answer dependence_consumer_may_move(Context *ctx, const Func *before, const Func *after, const Block *block);

/* Block FROM writes what block UNTIL reads, and one of them is to run at the place of the other, instance by instance. */
typedef struct {
    const Block *from, *until;
    bool moves_from; /* FROM moves to UNTIL; else UNTIL moves to FROM */
} BlockPair;
/* Let p be an instance of FROM that writes an element of DATA, and q an instance of UNTIL that reads this value. No instance of MIDDLE
   between p and q is dependent on the one of p and q that moves, DATA left aside. MIDDLE may be FROM or UNTIL itself. */
Answer dependence_none_between(Context *ctx, const Func *func, const BlockPair *pair, const Var *data, const Block *middle);
/* The same of the statements of the block SCOPE that are in no block inside of it. */
Answer dependence_no_loose_between(Context *ctx, const Func *func, const BlockPair *pair, const Var *data, const Block *scope);
/* In each iteration of the loops around both, block FROM writes before all that block UNTIL reads there of DATA. */
Answer dependence_serves_each_iteration(Context *ctx, const Func *func, const Block *from, const Block *until, const Var *data);
/* No instance of BLOCK writes what a later one reads, in each iteration of the outermost COMMON loops around it. BLOCK has taken over reads that
   another block did before its first instance there. Not looked at are reads of the memory OWN (NULL: none), all of which are of what BLOCK itself
   writes, and which it did in the same order elsewhere. */
Answer dependence_reads_in_time(Context *ctx, const Func *func, const Block *block, int common, const Var *own);

/* --- instances --- */

/* AFTER runs no instance of BLOCK that BEFORE does not run in the same iteration of the loops around the block's scope. */
Answer dependence_adds_none(Context *ctx, const Func *before, const Func *after, const Block *block);
/* The other way round. */
Answer dependence_loses_none(Context *ctx, const Func *before, const Func *after, const Block *block);

/* In each iteration of the loops around its scope BLOCK runs for every point of its spatial iterators' domains, for some values of the
   others. */
Answer dependence_serves_all_points(Context *ctx, const Func *func, const Block *block);
/* The same for every point of all its iterators' domains. */
Answer dependence_runs_over_domain(Context *ctx, const Func *func, const Block *block);

/* CONSUMER is to run where PRODUCER, which stores one element in each instance, stores the element that CONSUMER reads. Each instance of
   CONSUMER has such a place: its element is written, the loops that both share agreeing. Elements that a choice in CONSUMER may leave unread
   count too. */
Answer dependence_instances_served(Context *ctx, const Func *func, const Block *producer, const Block *consumer);

/* No instance of BLOCK (its iterators' values) runs twice while the loops around the one over VAR stay in one iteration. */
Answer dependence_runs_once(Context *ctx, const Func *func, const Block *block, const Var *var);

/* --- memory --- */

/* Block WRITER writes no element that READER reads in some iteration, whichever comes first. */
Answer dependence_not_overwritten(Context *ctx, const Func *func, const Block *reader, const Block *writer);

/* OTHER writes no memory that BLOCK uses, and uses none that BLOCK writes, whichever elements: that of the data variable EXCEPT does not
   count. */
Answer dependence_memory_apart(Context *ctx, const Func *func, const Block *block, const Block *other, const Var *except);

/* The data variables of the memory that BLOCK reads, each on itself. */
Map dependence_read_data(Context *ctx, const Func *func, const Block *block);

/* An instance of BLOCK reads of the memory of BUFFER, which may be a view, only what it has written itself before. */
Answer dependence_reads_own_writes(Context *ctx, const Func *func, const Block *block, const Buffer *buffer);
/* A read of BLOCK, a recognized reduction, of the memory that it reduces into, under this or another name, other than the update's own. A call
   that may touch anything (a fence) counts as such a read. NULL: there is none. */
const Access *dependence_reads_target_apart(Context *ctx, const Func *func, const Block *block);

/* --- inits --- */

/* The inits of BLOCK, a block of FUNC, may run before the loop over VAR around it, in each iteration of the loops further out. Before the
   init of a point, nothing else in the loop writes the elements that this init touches. No two points share an element. */
Answer dependence_init_may_move(Context *ctx, const Func *func, const BlockStmt *block, const Var *var);
/* Two instances of BLOCK that differ in other than reduce axes write different elements: each holds the same after each of them. */
Answer dependence_points_apart(Context *ctx, const Func *func, const BlockStmt *block);
/* The inits of BLOCK run in AFTER for the same points, values of axes that do not reduce, as in BEFORE: also for points that have no update.
   MAY_GAIN: and for more points. */
Answer dependence_inits_kept(Context *ctx, const Func *before, const Func *after, const Block *block, bool may_gain);
/* Where some point of BLOCK may have no update in AFTER, all inits run before the outermost loop that BLOCK reduces over. Then no
   dependence leads from this loop to an init: before the first update of a point, the loop neither writes what the init reads nor touches
   what the init writes. Dependences that BEFORE had already do not count. */
Answer dependence_init_in_time(Context *ctx, const Func *before, const Func *after, const Block *block);

/* --- claims --- */

/* What the claims of a function's blocks are checked against, collected once for all of them. */
typedef struct {
    Context *ctx;
    const Func *func;
    AccessList accesses;
    Map sizes, ranges;
} ClaimSet;
ClaimSet dependence_collect_claims(Context *ctx, const Func *func);
/* BLOCK_STMT is a block of the set's function. Two instances that differ in a spatial iterator touch nothing in common. Two that differ only in
   reduce iterators commute. */
Answer dependence_claims_hold(const ClaimSet *set, const Stmt *block_stmt);

#endif
