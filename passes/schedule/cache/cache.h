/* Shared by cache_read and cache_write: a buffer, its copy in another storage scope, the block that copies between them, and who uses
   which. */
#ifndef TIRC_PASSES_SCHEDULE_CACHE_CACHE_H
#define TIRC_PASSES_SCHEDULE_CACHE_CACHE_H

#include "passes/schedule/check/coverage.h"
#include "passes/schedule/core/schedule.h"

typedef struct {
    Buffer *buffer, *cache;
    Str storage;            /* the storage scope of the cache */
    const TreeNode *scope;  /* the block whose members are concerned; it allocates the cache */
    const TreeNode *declaration; /* the T.decl_buffer in the scope that makes the buffer; NULL: the buffer exists in all of the scope */
    const TreeNode *writer; /* its one member that writes the buffer, or NULL */
    const TreeNode **users; /* the members that use the cache in place of the buffer */
    int user_count;
    const TreeNode **strays; /* statements in no member whose own expressions read the buffer: extents, conditions */
    int stray_count;
    bool *stray_redirected;  /* they use the cache too */

    /* where the copy stands */
    const TreeNode *anchor; /* a statement of the scope */
    bool after;             /* behind the anchor, not before it */
    /* the member in the anchor that is to find the copy done; NULL: the copy stands at the end or start of the scope */
    const TreeNode *later;

    /* what it copies */
    Region region;     /* of the buffer, in terms of what is around the anchor */
    bool *whole;       /* for each dimension: the cache has the buffer's extent; else just that of the region, and indices are shifted */
    bool for_users;    /* it is what the users read, so that nobody else may turn to the cache */
    bool part;         /* some dimension is not whole */
    bool *guarded;     /* for each dimension: the region may leave the buffer, so that a guard keeps the copy inside */
    bool any_guarded;
    const Expr *condition; /* a further guard: the copy runs only where it holds; NULL: everywhere */
} CachePlan;

/* Sets buffer, scope and storage; false after a refusal (the scope's name, the block's place, buffers that are declared inside). */
bool cache_begin(Schedule *sch, CachePlan *plan, const TreeNode *block, const Buffer *buffer, const Value *storage);
/* The block at NODE reads memory of BUFFER, declared or not, outside of blocks with an init, which check_inits_set_reads asks about. */
bool cache_block_reads(Schedule *sch, const TreeNode *node, const Buffer *buffer);
/* Blocks with an init at NODE and below read of BUFFER only what their init, or a store before, has set; false after a refusal. */
bool check_inits_set_reads(Schedule *sch, const TreeNode *node, const Buffer *buffer);
/* A statement of the block SCOPE that is in no block inside may write BUFFER; *AT tells where. */
bool cache_scope_may_write(const TreeNode *scope, const Buffer *buffer, Span *at);
/* No call below PART, a loop or block, may touch anything, and so the buffer; false after a refusal. */
bool check_no_fence(Schedule *sch, const CachePlan *plan, const TreeNode *part);
/* No call from FIRST up to LAST, or INCLUDING it, in program order, may write anything, and so BUFFER; with READS, read it. Loops around only one of
   both count as a whole. False after a refusal. */
bool check_no_fence_between(Schedule *sch, const Buffer *buffer, bool reads, const TreeNode *first, const TreeNode *last, bool including);
/* A copy is made in each iteration of LOOP. Inits of the users run also where a loop over reduce axes, at LOOP or around it, has no iteration: it
   certainly has one; false after a refusal. */
bool check_inits_find_copy(Schedule *sch, const CachePlan *plan, const TreeNode *loop);
/* The one member of the scope that writes the buffer, NULL when there is none; false after a refusal when there are several. */
bool cache_find_writer(Schedule *sch, CachePlan *plan);
/* The members named by VALUE (None or a list of blocks), each once; false after a refusal when one is not a member of the scope. */
bool cache_listed_consumers(Schedule *sch, const CachePlan *plan, const Value *value, const TreeNode ***nodes, int *count);

/* Puts the copy right before the statement that holds the first of RELATED (COUNT members behind the writer), in the innermost sequence
   that also holds the writer; at the end of the scope when there are none. Before WAITS, where that comes first: a member that waits for
   something else that the writer makes, or NULL; the reference places copies so. False after a refusal. */
bool cache_place_behind_writer(Schedule *sch, CachePlan *plan, const TreeNode *const *related, int count, const TreeNode *waits);
/* The writer (first) and the listed CONSUMERS use the cache; the copy back is put before the other readers. False after a refusal. */
bool cache_find_write_users(Schedule *sch, CachePlan *plan, const Value *consumers);
/* Puts it at the start of the scope, behind the declarations there. */
void cache_place_at_start(Schedule *sch, CachePlan *plan);
/* Copies what the writer writes in one iteration of the loops around the anchor. */
void cache_copy_written(Schedule *sch, CachePlan *plan);
/* Copies what the users read, where calls in the writer write the buffer and every user comes behind the copy before the writer runs again;
   else false. */
bool cache_copy_read(Schedule *sch, CachePlan *plan);
/* Copies what the scope declares to read of the buffer, or all of it. */
bool cache_copy_declared(Schedule *sch, CachePlan *plan);

/* Copies REGION, which is in terms of what is around the anchor, into a cache of the buffer's shape. */
void cache_copy_region(Schedule *sch, CachePlan *plan, Region region);

/* The writer's one store stands directly in it, without loops and conditions, and writes just what it declares: then what is written is what
   the bindings reach. */
bool cache_writer_stores_region(Schedule *sch, const CachePlan *plan);
/* The copied elements are all written when the copy runs; the copy gets the condition of the writer where that is needed. */
bool check_copy_is_written(Schedule *sch, CachePlan *plan);
/* USER comes behind the writer and reads only what the writer has written before. */
bool check_user_is_served(Schedule *sch, const CachePlan *plan, const TreeNode *user);
/* After placing a copy that is read: turns to it the strays that come behind it. All of them when it stands at the start. */
void cache_redirect_strays(Schedule *sch, CachePlan *plan);
/* After placing a copy that writes back: the strays find it done, or read the cache. */
bool check_strays_find_copy(Schedule *sch, CachePlan *plan);
/* A loop of the scope around both the writer and NODE that may have several iterations, or NULL. */
const TreeNode *cache_shared_loop(Schedule *sch, const CachePlan *plan, const TreeNode *node);
/* The users can be redirected: they do not reach the buffer through views of another scope, or pointers where indices shift. */
bool check_users_can_redirect(Schedule *sch, const CachePlan *plan);

/* EXPR mentions a loop around the scope, which only the scope's block, having no axes, lets through: blocks in it must not mention it. */
bool cache_uses_loop_around_scope(Schedule *sch, const CachePlan *plan, const Expr *expr);

/* Where the place or size of REGION, which COPY copies, is read from memory (B[A[i]]), COPY declares that it reads that too. */
void cache_declare_place_reads(Context *ctx, const Region *region, BlockStmt *copy);

/* Edits the program; the symbol of the block that copies. */
Block *cache_apply(Schedule *sch, CachePlan *plan, bool copies_in);
/* The same with COPY, a statement of the caller. */
void cache_apply_copy(Schedule *sch, CachePlan *plan, const Stmt *copy);
/* The same with two copies: one into the cache before the anchor of IN, one back behind it, as OUT says. */
void cache_apply_around(Schedule *sch, CachePlan *in, CachePlan *out, Block **copy_in, Block **copy_out);
/* COPY is a block that copies back to a buffer that outlives the scope. In a loop around it an instance may run again with another result:
   COPY gets an opaque axis for each such loop. The innermost OWN_LOOPS loops are its own. */
void cache_tell_runs_apart(Schedule *sch, Block *copy, int own_loops);

#endif
