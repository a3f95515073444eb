/* Shared by compute_inline and reverse_compute_inline: blocks that store one value per instance, and rebuilding what uses a buffer that
   goes away. */
#ifndef TIRC_PASSES_SCHEDULE_MOVE_INLINE_H
#define TIRC_PASSES_SCHEDULE_MOVE_INLINE_H

#include "ir/walk.h"
#include "passes/schedule/core/schedule.h"

/* The one store that is the whole body of a block without init, or NULL after a refusal. */
const Stmt *inline_single_store(Schedule *sch, const TreeNode *block);
/* Solves INDICES (COUNT expressions over the iterators of BLOCK) for the iterators, given VALUES for the indices: SUBST maps each iterator
   to its value. False when the indices are not a one-to-one affine map of the iterators. Iterators of one value are solved by it. With
   RANGES (else NULL), the block whose iterators VALUES are made of, the map need not reach every value: the solution may then lie outside
   of the domain. */
bool inline_solve(Schedule *sch, const BlockStmt *block, const Expr *const *indices, const Expr *const *values, int count,
                  const BlockStmt *ranges, Subst *subst);
/* Some of INDICES and VALUES (COUNT of each) is a vector: an instance has several elements, and an element may belong to several instances. */
bool inline_has_vectors(const Expr *const *indices, const Expr *const *values, int count);
/* Refuses to inline BUFFER, which is accessed as vectors; SPAN is such an access. */
void inline_refuse_vectors(Schedule *sch, const Buffer *buffer, Span span);
/* The block at NODE is to run where the block at HOST does: PRODUCER and CONSUMER of the memory DATA, in some order. */
typedef struct {
    const TreeNode *node, *host;
    const Block *producer, *consumer;
    const Var *data;
} InlinePlace;
/* The same for the block at PLACE->node where its axes that INDICES do not tell are given by loops around both blocks. Then each iteration of
   those must compute all that it reads. */
bool inline_solve_beside(Schedule *sch, const InlinePlace *place, const Expr *const *indices, const Expr *const *values, int count,
                         const BlockStmt *ranges, Subst *subst);
/* No block of the scope but those in ALLOWED (COUNT) touches BUFFER, nor does an opaque access or a view; false after a refusal. */
bool inline_check_only_used_by(Schedule *sch, const TreeNode *scope, const Buffer *buffer, const TreeNode *const *allowed, int count);
/* BUFFER is allocated in this function (no parameter) and used in the block's scope alone; false after a refusal. */
bool inline_check_intermediate(Schedule *sch, const TreeNode *block, const Buffer *buffer);
/* The same for compute_at, after which the block computes what is read: where results may move, a parameter passes. The caller must show that
   all of it is computed still. */
bool inline_check_moved_buffer(Schedule *sch, const TreeNode *block, const Buffer *buffer);
/* STMT with the declared reads and writes of those blocks inferred anew that declare to touch GONE. */
const Stmt *inline_refresh_regions(Schedule *sch, const Stmt *stmt, const Buffer *gone);
/* Takes BLOCK, and the loops that held nothing else, out of the scope statement SCOPE and drops BUFFER from its allocations; other blocks
   are replaced as REPLACE (Stmt -> Stmt) says. */
const Stmt *inline_rebuild_scope(Schedule *sch, const TreeNode *scope, const TreeNode *block, const Buffer *buffer, const Map *replace);

/* No annotation of the program names BUFFER, which is gone; false after a refusal. */
bool inline_check_not_named(Schedule *sch, const Buffer *buffer);

/* The consumer's instances are to run where SOLVED, a value for each of its axes in terms of those of PRODUCER, finds them: in the order in which
   they ran, unless no two of them write one element. False after a refusal. */
bool inline_check_order(Schedule *sch, const TreeNode *consumer, const TreeNode *producer, const Subst *solved);

/* The statement of CONSUMER in which each load of the buffer of STORE is replaced by the stored value. STORE is the only statement of the block
   at NODE. NULL after a refusal. */
const Stmt *inline_into_consumer(Schedule *sch, const TreeNode *node, const Stmt *store, const TreeNode *consumer);

/* VALUE, which the block at NODE stores, calls no function that may have effects; false after a refusal. */
bool inline_check_no_effects(Schedule *sch, const TreeNode *node, const Expr *value);

/* How many loops are around both A and B. */
int inline_common_loops(Schedule *sch, const TreeNode *a, const TreeNode *b);
/* The members of FROM's scope that share more loops with it than the outermost COMMON, and what the statements of the scope in no member write. */
typedef struct {
    Schedule *sch;
    const TreeNode *from, **members;
    int count;
    Map loose_writes; /* data variables */
    bool fence;       /* one of those statements may write anything */
} LoopMembers;
LoopMembers inline_loop_members(Schedule *sch, const TreeNode *from, int common);
/* WRITER, one of LOOP's members, runs again in later iterations of the loops around LOOP->from, and then stores the values that LOOP->from has
   found there. The outermost AGREED of those loops stay in one iteration. */
bool inline_writes_the_same(const LoopMembers *loop, const TreeNode *writer, int agreed);

/* BLOCK has taken over reads of a block that shared the outermost COMMON loops with it: none of its instances writes what a later one still has
   to read. False after a refusal. */
bool inline_check_reads_in_time(Schedule *sch, const Block *block, int common, const Var *own);

#endif
