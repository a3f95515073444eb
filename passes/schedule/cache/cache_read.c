/* cache_read: a copy, in another storage scope, of a buffer that a block reads.

   Before, cache_read(C, 0, "local")        After
     for i in range(128):                     B_local = T.alloc_buffer((128,), scope="local")
         with T.block("C"): ... B[vi]         for ax0 in range(128):
                                                  with T.block("B_local"): B_local[v0] = B[v0]
                                              for i in range(128):
                                                  with T.block("C"): ... B_local[vi]

   All readers in the scope turn to the copy, or those of consumer_blocks. Where a block of the scope writes the buffer, the copy stands
   before the first reader behind that block, as deep as both share loops; else it stands at the start of the scope. So it does where the
   readers meant have done all that they read before the writer first runs: without a list, readers on the other side of the writer than the
   block asked for keep to the buffer. What must hold: at most one block writes the buffer; the copied elements are written when the copy
   runs, or are those that the readers read, where the writer writes by calls; every reader that turns to the copy finds there what it reads.
   A buffer may be declared in the scope, by T.decl_buffer over T.allocate_const too: the copy stands behind the declaration. The copy is
   guarded where its region may leave the buffer. */
#include "passes/schedule/cache/cache.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"

/* All readers but the writer itself, or the consumers asked for. */
static bool find_users(Schedule *sch, CachePlan *plan, const Value *consumers)
{
    const TreeNode **listed;
    int listed_count, reader_count;
    if (!cache_listed_consumers(sch, plan, consumers, &listed, &listed_count))
        return false;
    const TreeNode **readers = scope_readers(sch, plan->scope, plan->buffer, &reader_count);
    plan->users = listed_count ? listed : readers;
    plan->user_count = 0;
    for (int i = 0; i < (listed_count ? listed_count : reader_count); i++) {
        const TreeNode *user = plan->users[i];
        if (user != plan->writer) {
            plan->users[plan->user_count++] = user;
        } else if (listed_count) {
            sched_refuse(sch, "block '%s' writes '%s' itself, so it cannot read a copy made before", node_name(user),
                         plan->buffer->name);
            return sched_note_node(sch, user);
        }
    }
    return true;
}

/* USER has run for the last time when the writer first does. */
static bool reads_before_writer(Schedule *sch, const CachePlan *plan, const TreeNode *user)
{
    return user < plan->writer && !cache_shared_loop(sch, plan, user); /* nodes lie in program order */
}

/* Keeps those of the users that have run when the writer first does (EARLY), or those that have not. */
static void keep_users(Schedule *sch, CachePlan *plan, bool early)
{
    VEC(const TreeNode *) kept = {0};
    for (int i = 0; i < plan->user_count; i++)
        if (reads_before_writer(sch, plan, plan->users[i]) == early)
            vec_push(sch->ctx->arena, &kept, plan->users[i]);
    plan->users = kept.data;
    plan->user_count = kept.count;
}

/* Readers of what was in the buffer before the scope and readers of what the writer makes need different copies. Without a list BLOCK says
   which are meant. True when it is the former: to them the buffer is an input. */
static bool choose_users(Schedule *sch, CachePlan *plan, const TreeNode *block, bool listed)
{
    if (!plan->writer)
        return false;
    bool early = reads_before_writer(sch, plan, listed ? plan->users[0] : block);
    for (int i = 0; listed && i < plan->user_count; i++)
        if (reads_before_writer(sch, plan, plan->users[i]) != early)
            return false;
    if (!listed)
        keep_users(sch, plan, early);
    return early;
}

/* The copy comes before the first of the listed consumers, or of all readers of what the writer makes behind it. */
static bool place_copy(Schedule *sch, CachePlan *plan, bool listed)
{
    int count = plan->user_count;
    const TreeNode *const *related = plan->users, *waits = NULL;
    if (!listed) {
        VEC(const TreeNode *) behind = {0};
        for (int i = 0; i < plan->user_count; i++)
            if (plan->users[i] > plan->writer) /* nodes lie in program order */
                vec_push(sch->ctx->arena, &behind, plan->users[i]);
        related = behind.data;
        count = behind.count;
        int waiting;
        const TreeNode **consumers = scope_consumers(sch, plan->writer, DEPENDS_RAW, &waiting);
        waits = waiting ? consumers[0] : NULL;
    }
    return cache_place_behind_writer(sch, plan, related, count, waits);
}

/* Plans the copy of what a block of the scope makes. */
static bool plan_intermediate(Schedule *sch, CachePlan *plan, const TreeNode *block, bool listed)
{
    if (!listed && block != plan->writer && block < plan->writer) {
        sched_refuse(sch, "block '%s' reads '%s' before block '%s' writes it", node_name(block), plan->buffer->name,
                     node_name(plan->writer));
        return sched_note_node(sch, block);
    }
    if (!plan->user_count) {
        sched_refuse(sch, "no block reads '%s' after block '%s', which writes it", plan->buffer->name,
                     node_name(plan->writer));
        return sched_note_node(sch, plan->writer);
    }
    if (!place_copy(sch, plan, listed))
        return false;
    if (cache_copy_read(sch, plan))
        return true;
    cache_copy_written(sch, plan);
    bool ok = check_copy_is_written(sch, plan);
    for (int i = 0; i < plan->user_count && ok; i++)
        ok = check_user_is_served(sch, plan, plan->users[i]);
    return ok;
}

/* From where the copy is made to the last that reads it no call may change what it was made of. */
static bool check_no_fence_before_uses(Schedule *sch, const CachePlan *plan)
{
    const TreeNode *last = plan->anchor; /* nodes lie in program order */
    for (int i = 0; i < plan->user_count; i++)
        last = plan->users[i] > last ? plan->users[i] : last;
    for (int i = 0; i < plan->stray_count; i++)
        last = plan->stray_redirected[i] && plan->strays[i] > last ? plan->strays[i] : last;
    return check_no_fence_between(sch, plan->buffer, false, plan->anchor, last, true);
}

bool primitive_cache_read(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block ? query_buffer_index(sch, block, &args[1], false) : -1;
    if (index < 0)
        return false;
    CachePlan plan;
    bool listed = args[3].kind == VALUE_LIST && args[3].as.list->count;
    if (!cache_begin(sch, &plan, block, node_block(block)->reads[index].buffer, &args[2]) || !cache_find_writer(sch, &plan) ||
        !find_users(sch, &plan, &args[3]))
        return false;
    bool early = choose_users(sch, &plan, block, listed);
    if (early)
        plan.writer = NULL;
    if (plan.writer) {
        if (!plan_intermediate(sch, &plan, block, listed))
            return false;
    } else {
        cache_place_at_start(sch, &plan);
        if (!cache_copy_declared(sch, &plan))
            return false;
    }
    if (!listed && !early)
        cache_redirect_strays(sch, &plan);
    if (!check_no_fence_before_uses(sch, &plan) || !check_users_can_redirect(sch, &plan))
        return false;
    Block *copy = cache_apply(sch, &plan, true);
    *result = value_block(copy);
    return check_concurrent_loops_around(sch, schedule_find_block(sch, copy));
}
