/* parallel, vectorize and bind: the iterations of a loop run at once.

   Before, parallel(i)                      After
     for i in range(128):                     for i in T.parallel(128):

   Legal when no two different iterations conflict: one writes what the other reads or writes. Scratch that each iteration fills before it
   reads it is no conflict, since lowering gives each iteration its own. A reduction loop conflicts with itself. Threads may share: see
   RUN_AS_THREADS. Steps that change what stands below such a loop ask again, and so does the end of the schedule for threads: what a step
   puts below a bound loop in global memory may get its scope after that. Every thread runs what stands beside the loops of its tag, which
   a call of a function that may have effects must not. */
#include "passes/schedule/check/concurrency.h"

#include <string.h>

#include "ir/tags.h"
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/check/ties.h"
#include "passes/schedule/core/loops.h"
#include "print/print.h"

enum { MOST_LANES = 1024 };

/* How LOOP runs, in the mode BOUND where the script has bound it to threads of a block. */
static RunMode concurrency_mode(const Schedule *sch, const ForStmt *loop, RunMode bound)
{
    if (loop->kind != FOR_THREAD)
        return RUN_AT_ONCE;
    if (!strncmp(loop->thread, "blockIdx", 8))
        return RUN_AS_BLOCKS;
    return schedule_bound_at(sch, loop->var).file ? bound : RUN_AS_GIVEN_THREADS;
}

static const char *what_helps(Answer answer)
{
    const Access *a = answer.first, *b = answer.second;
    if (a && b && a->group && a->group == b->group)
        return a->initialized ? "; this loop carries a reduction: rfactor makes it parallel, or choose a spatial loop"
                              : "; this loop carries a reduction: choose a spatial loop, for rfactor needs the update with its init";
    return "";
}

/* The loop at NODE, of whatever kind it is now, may run at once; false after a refusal. BOUND as for concurrency_mode. */
static bool check_concurrent_loop(Schedule *sch, const TreeNode *node, RunMode bound)
{
    const ForStmt *loop = node_loop(node);
    Answer answer = dependence_independent(sch->ctx, schedule_func(sch), loop->var, concurrency_mode(sch, loop, bound));
    if (answer_is_shown(answer))
        return true;
    const char *way = loop->kind == FOR_PARALLEL     ? "parallel"
                      : loop->kind == FOR_VECTORIZED ? "vectorized"
                                                     : arena_printf(sch->ctx->arena, "bound to %s", loop->thread);
    sched_refuse(sch, "loop '%s' cannot be %s: %s%s", loop->var->name, way, answer.text, what_helps(answer));
    sched_note_node(sch, node);
    note_accesses(sch, answer);
    return false;
}

static bool is_concurrent(const TreeNode *node)
{
    return node->stmt->kind == STMT_FOR && node_loop(node)->kind != FOR_SERIAL && node_loop(node)->kind != FOR_UNROLLED;
}

/* --- the size of kernels --- */

enum { MOST_TAGS = 10 };

/* The threads of one block of a kernel: the product of the extents of its tags, each once. */
typedef struct {
    const char *tags[MOST_TAGS];
    int count;
    int64_t threads, with_virtual;
} ThreadCount;

static bool count_threads(Visitor *visitor, const Stmt *stmt)
{
    ThreadCount *counted = visitor->data;
    const ForStmt *loop = stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD ? &stmt->as.loop : NULL;
    int64_t extent;
    if (!loop || !strncmp(loop->thread, "blockIdx", 8) || !expr_const_int(loop->extent, &extent))
        return true;
    for (int i = 0; i < counted->count; i++)
        if (!strcmp(counted->tags[i], loop->thread))
            return true;
    if (counted->count == MOST_TAGS)
        return true;
    counted->tags[counted->count++] = loop->thread;
    if (!strncmp(loop->thread, "threadIdx", 9) && __builtin_mul_overflow(counted->threads, extent, &counted->threads))
        counted->threads = INT64_MAX;
    if (__builtin_mul_overflow(counted->with_virtual, extent, &counted->with_virtual))
        counted->with_virtual = INT64_MAX;
    return true;
}

/* The kernel around NODE, a loop bound to threads, has no more of them than some target runs. */
static bool check_thread_count(Schedule *sch, const TreeNode *node)
{
    const TreeNode *kernel = node;
    for (const TreeNode *outer = node; outer; outer = schedule_parent(sch, outer))
        if (outer->stmt->kind == STMT_FOR && node_loop(outer)->kind == FOR_THREAD)
            kernel = outer;
    ThreadCount counted = {.threads = 1, .with_virtual = 1};
    Visitor visitor = {.stmt = count_threads, .data = &counted};
    visit_stmt(&visitor, kernel->stmt);
    bool virtual = counted.threads <= MOST_THREADS;
    if (virtual && counted.with_virtual <= MOST_VIRTUAL_THREADS)
        return true;
    sched_refuse(sch, "with loop '%s' bound to %s, each block of the kernel has %lld %sthreads, more than the %d that any target runs: split the loop",
                 node_name(node), node_loop(node)->thread, (long long)(virtual ? counted.with_virtual : counted.threads),
                 virtual ? "real and virtual " : "", virtual ? MOST_VIRTUAL_THREADS : MOST_THREADS);
    return sched_note_node(sch, node);
}

bool check_concurrent_loops_around(Schedule *sch, const TreeNode *node)
{
    if (node && node->stmt->kind == STMT_BLOCK && !check_concurrent_loops_below(sch, node))
        return false;
    for (; node; node = schedule_parent(sch, node))
        if (is_concurrent(node) && (!check_concurrent_loop(sch, node, RUN_AS_THREADS_SO_FAR) ||
                                    (node_loop(node)->kind == FOR_THREAD && !check_thread_count(sch, node))))
            return false;
    return true;
}

bool check_concurrent_loops_below(Schedule *sch, const TreeNode *node)
{
    for (int i = schedule_node_index(sch, node); i < node->end; i++)
        if (is_concurrent(schedule_node_at(sch, i)) && !check_concurrent_loop(sch, schedule_node_at(sch, i), RUN_AS_THREADS_SO_FAR))
            return false;
    return true;
}

/* --- the step --- */

/* LOOP becomes of KIND, with THREAD; undone by the caller's step when the check refuses. */
static bool set_kind(Schedule *sch, const TreeNode *node, ForKind kind, Str thread)
{
    ForStmt loop = *node_loop(node);
    const Var *var = loop.var;
    loop.kind = kind;
    loop.thread = thread;
    sched_replace(sch, node->stmt, stmt_for(sch->ctx, loop, node->stmt->span));
    return check_concurrent_loop(sch, schedule_find_loop(sch, var), RUN_AS_THREADS);
}

bool primitive_parallel(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_loop(sch, args[0].as.loop);
    return node && check_loop_has_no_jump(sch, node) && (node = loops_unbound(sch, node)) && set_kind(sch, node, FOR_PARALLEL, NULL);
}

static bool find_effect(Visitor *visitor, const Expr *expr)
{
    if (expr_is_opaque_call(expr) && expr->value.op != OP_ASSUME)
        visitor->data = (void *)expr;
    return !visitor->data;
}

/* A call with effects has no vector form: it would run in another order with the other statements of the lanes. */
static bool check_no_effects(Schedule *sch, const TreeNode *node)
{
    Visitor visitor = {.expr = find_effect};
    visit_stmt(&visitor, node_loop(node)->body);
    const Expr *call = visitor.data;
    if (!call)
        return true;
    sched_refuse(sch,
                 "loop '%s' cannot be vectorized: it calls %s, which may have effects%s", node_name(node),
                 call->arg_count && call->args[0]->kind == EXPR_STRING ? call->args[0]->value.text : op_info(call->value.op)->name,
                 expr_pure_way(call));
    sched_note(sch, call->span.file ? call->span : node->stmt->span, "the call is here");
    return false;
}

static bool check_lanes(Schedule *sch, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    int64_t extent;
    if (!expr_const_int(loop->extent, &extent)) {
        sched_refuse(sch,
                     "the extent %s of loop '%s' is not a constant: split it with a constant inner factor and vectorize the inner loop",
                     print_expr(sch->ctx, loop->extent), loop->var->name);
        return sched_note_node(sch, node);
    }
    if (extent > MOST_LANES) {
        sched_refuse(sch, "loop '%s' has %lld iterations, a vector at most %d lanes: split it and vectorize the inner loop",
                     loop->var->name, (long long)extent, MOST_LANES);
        return sched_note_node(sch, node);
    }
    return true;
}

bool primitive_vectorize(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_loop(sch, args[0].as.loop);
    return node && (node = loops_unbound(sch, node)) && check_lanes(sch, node) && check_no_effects(sch, node) &&
           check_loop_has_no_jump(sch, node) && set_kind(sch, node, FOR_VECTORIZED, NULL);
}

/* --- bind --- */

static bool check_thread_name(Schedule *sch, const Value *argument)
{
    Str thread = argument->as.text;
    if (thread_axis_is_known(thread))
        return true;
    const char *near = thread_axis_near(thread);
    sched_refuse_argument(sch, argument, "there is no thread axis \"%s\"; %s%s%s", thread,
                          near ? "did you mean \"" : "there are blockIdx.x, threadIdx.x, vthread.x, the same with .y and .z, and vthread",
                          near ? near : "", near ? "\"?" : "");
    diag_edit_string(sch->ctx, argument->span, near);
    return false;
}

/* What stands below NODE runs for one value of the shared index where it ran for all pairs of values before: each instance must not depend
   on the outer loop, and what it writes must be seen by all threads. */
static bool check_same_index(Schedule *sch, const TreeNode *node, const TreeNode *outer)
{
    const Var *var = node_loop(outer)->var;
    if (stmt_uses_var(node_loop(node)->body, var) ||
        !answer_is_shown(dependence_ignores_loop(sch->ctx, schedule_func(sch), node_loop(node)->var, var))) {
        sched_refuse(sch,
                     "loops '%s' and '%s' would be one index, but what stands below '%s' uses both: bind one of them to another axis",
                     var->name, node_name(node), node_name(node));
        return sched_note_node(sch, outer);
    }
    for (int i = schedule_node_index(sch, node); i < node->end; i++) {
        const TreeNode *below = schedule_node_at(sch, i);
        for (int w = 0; below->stmt->kind == STMT_BLOCK && w < node_block(below)->write_count; w++)
            if (scope_class(node_block(below)->writes[w].buffer->scope) == SCOPE_LOCAL) {
                sched_refuse(sch,
                             "loops '%s' and '%s' would be one index: each thread would fill only its part of '%s', which is not shared",
                             var->name, node_name(node), node_block(below)->writes[w].buffer->name);
                return sched_note_node(sch, outer);
            }
    }
    return true;
}

/* Loops of different index types may be one index: what counts is the number of their iterations. */
static bool same_extent(Schedule *sch, const ForStmt *a, const ForStmt *b)
{
    return expr_equal(op_cast(sch->ctx, DTYPE_INT64, a->extent), op_cast(sch->ctx, DTYPE_INT64, b->extent));
}

/* INNER and OUTER, one around the other, may both be bound to THREAD; false after a refusal that names the other one than NODE. */
static bool check_nested_threads(Schedule *sch, const TreeNode *node, const TreeNode *inner, const TreeNode *outer, Str thread)
{
    const TreeNode *other = node == inner ? outer : inner;
    const ForStmt *loop = node_loop(node), *bound = node_loop(other);
    const char *where = other == outer ? "around" : "below";
    if (!same_extent(sch, bound, loop))
        sched_refuse(sch, "loop '%s' has extent %s, but loop '%s' %s it is bound to %s with extent %s", loop->var->name,
                     print_expr(sch->ctx, loop->extent), bound->var->name, where, thread, print_expr(sch->ctx, bound->extent));
    else if (strncmp(thread, "threadIdx", 9))
        sched_refuse(sch, "loop '%s' %s it is bound to %s already", bound->var->name, where, thread);
    else
        return check_same_index(sch, inner, outer);
    return sched_note_node(sch, other);
}

static bool is_bound_to(const TreeNode *node, Str thread)
{
    return node->stmt->kind == STMT_FOR && node_loop(node)->thread && !strcmp(node_loop(node)->thread, thread);
}

static bool check_threads_around_and_below(Schedule *sch, const TreeNode *node, Str thread)
{
    const TreeNode *outer = schedule_parent(sch, node);
    while (outer && !is_bound_to(outer, thread))
        outer = schedule_parent(sch, outer);
    if (outer && !check_nested_threads(sch, node, node, outer, thread))
        return false;
    for (int i = schedule_node_index(sch, node) + 1; i < node->end; i++) {
        const TreeNode *inner = schedule_node_at(sch, i);
        if (is_bound_to(inner, thread) && !check_nested_threads(sch, node, inner, node, thread))
            return false;
    }
    return true;
}

bool primitive_bind(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_loop(sch, args[0].as.loop);
    Str thread = args[1].as.text;
    if (!node || !check_thread_name(sch, &args[1]) || !check_loop_has_no_jump(sch, node) || !(node = loops_count_from_zero(sch, node)) ||
        !check_threads_around_and_below(sch, node, thread))
        return false;
    const Var *var = node_loop(node)->var;
    sched_note_bound(sch, var);
    warn_of_shared_reduction(sch, node);
    return set_kind(sch, node, FOR_THREAD, thread) && check_thread_count(sch, schedule_find_loop(sch, var));
}
