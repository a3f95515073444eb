/* What must hold of thread-bound loops when a schedule ends; see check_threads in concurrency.h. */
#include <stdarg.h>
#include <string.h>

#include "ir/print.h"
#include "passes/schedule/concurrency.h"
#include "passes/schedule/loops.h"

static bool is_thread_loop(const TreeNode *node)
{
    return node->stmt->kind == STMT_FOR && node_loop(node)->kind == FOR_THREAD;
}

/* The outermost loop bound to threads around NODE, itself included. */
static const TreeNode *kernel_of(Schedule *sch, const TreeNode *node)
{
    const TreeNode *kernel = node;
    for (; node; node = schedule_parent(sch, node))
        if (is_thread_loop(node))
            kernel = node;
    return kernel;
}

/* An error where the script bound the loop at NODE, with a note at the loop; at the loop where the program bound it. Returns false. */
__attribute__((format(printf, 3, 4))) static bool refuse_bound(Schedule *sch, const TreeNode *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(sch->ctx->arena, format, args);
    va_end(args);
    const ForStmt *loop = node_loop(node);
    Span bound = schedule_bound_at(sch, loop->var);
    diag_error(sch->ctx, bound.file ? bound : node->stmt->span, "when the schedule ends, loop '%s' is bound to %s, but %s", loop->var->name,
               loop->thread, text);
    if (bound.file)
        diag_note(sch->ctx, node->stmt->span, "loop '%s' is here", loop->var->name);
    return false;
}

static void note_access(Schedule *sch, const Access *access, const char *which)
{
    if (access && access->span.file)
        diag_note(sch->ctx, access->span, "the %s access is here", which);
}

static bool check_same_extent(Schedule *sch, const TreeNode *a, const TreeNode *b)
{
    const ForStmt *first = node_loop(a), *second = node_loop(b);
    if (analyzer_prove_equal(analyzer_new(sch->ctx), first->extent, second->extent))
        return true;
    refuse_bound(sch, b, "its extent is %s and that of loop '%s' of the same kernel, bound to %s as well, is %s: they would be one index",
                 print_expr(sch->ctx, second->extent), first->var->name, first->thread, print_expr(sch->ctx, first->extent));
    diag_note(sch->ctx, a->stmt->span, "loop '%s' is here", first->var->name);
    return false;
}

/* A serial loop of the kernel runs around the loop at NODE. */
static bool runs_in_serial_loop(Schedule *sch, const TreeNode *kernel, const TreeNode *node)
{
    for (; node != kernel; node = schedule_parent(sch, node))
        if (node->stmt->kind == STMT_WHILE || (node->stmt->kind == STMT_FOR && node_loop(node)->kind != FOR_THREAD))
            return true;
    return false;
}

/* What the threads of one tag do in the two loops, or in one loop in several iterations of a serial loop around, does not cross between
   threads. */
static bool check_no_crossing(Schedule *sch, const TreeNode *kernel, const TreeNode *a, const TreeNode *b)
{
    Conflict conflict;
    const ForStmt *first = node_loop(a), *second = node_loop(b);
    if (!strncmp(first->thread, "vthread", 7) || (a == b && !runs_in_serial_loop(sch, kernel, a)) ||
        !dependence_crosses_threads(sch->ctx, schedule_func(sch), node_loop(kernel)->var, first->var, second->var, &conflict))
        return true;
    refuse_bound(
        sch, b,
        "%s, and nothing makes one thread wait for the other there; memory in scope \"shared\" is passed on between the threads of a block",
        conflict.text);
    note_access(sch, conflict.first, "first");
    if (conflict.second != conflict.first)
        note_access(sch, conflict.second, "second");
    return false;
}

static bool check_scopes(Schedule *sch, const TreeNode *kernel, const TreeNode *node)
{
    Conflict conflict;
    const ForStmt *loop = node_loop(node);
    if (!dependence_leaves_scope(sch->ctx, schedule_func(sch), loop->var, node_loop(kernel)->var, concurrency_mode(loop), &conflict))
        return true;
    return refuse_bound(sch, node, "%s; compute_at or reverse_compute_at moves the copy below the loop", conflict.text);
}

bool check_threads(Schedule *sch)
{
    int count = schedule_node_count(sch);
    for (int i = 0; i < count; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (!is_thread_loop(node))
            continue;
        const TreeNode *kernel = kernel_of(sch, node);
        for (int j = schedule_node_index(sch, kernel); j <= i; j++) {
            const TreeNode *other = schedule_node_at(sch, j);
            bool same_tag = is_thread_loop(other) && !strcmp(node_loop(other)->thread, node_loop(node)->thread);
            if (same_tag && (!check_same_extent(sch, other, node) || !check_no_crossing(sch, kernel, other, node)))
                return false;
        }
        if (!check_scopes(sch, kernel, node))
            return false;
    }
    return true;
}
