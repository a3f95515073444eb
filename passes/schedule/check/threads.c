/* What must hold of thread-bound loops when a schedule ends; see check_threads in concurrency.h. */
#include <stdarg.h>
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "print/print.h"
#include "support/warning.h"

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

typedef struct {
    const Var *var;
    const Stmt *kernel; /* the outermost thread-bound loop around what is visited */
    bool found;
} KernelSearch;

static bool enter_thread_loop(Visitor *visitor, const Stmt *stmt)
{
    KernelSearch *search = visitor->data;
    if (!search->found && stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD) {
        search->kernel = search->kernel ? search->kernel : stmt;
        search->found = stmt->as.loop.var == search->var;
    }
    return !search->found;
}

static void leave_kernel(Visitor *visitor, const Stmt *stmt)
{
    KernelSearch *search = visitor->data;
    if (!search->found && search->kernel == stmt)
        search->kernel = NULL;
}

/* The loop over VAR in FUNC is bound to threads, and its kernel may not run as they say. */
static bool has_wrong_kernel(Schedule *sch, const Func *func, const Var *var)
{
    KernelSearch search = {.var = var};
    Visitor visitor = {.stmt = enter_thread_loop, .leave_stmt = leave_kernel, .data = &search};
    visit_stmt(&visitor, func->body);
    if (!search.found)
        return false;
    KernelSet set = dependence_collect_kernels(sch->ctx, func);
    Str tag;
    return !answer_is_shown(dependence_threads_independent(&set, search.kernel, &tag));
}

/* The script line of the step since which the kernel of the loop at NODE is wrong; a span without a file when it always was. */
static Span step_at_fault(Schedule *sch, const TreeNode *node)
{
    const Var *var = node_loop(node)->var;
    const Func *after = schedule_func(sch);
    for (int i = sch->edits.count - 1; i >= 0; i--) {
        const Func *func = sch->edits.data[i].before->funcs[sch->func_index];
        if (func != after && !has_wrong_kernel(sch, func, var))
            return sch->edits.data[i].span;
        after = func;
    }
    return span_none();
}

/* An error where the program is to run, else a warning. Returns false. */
__attribute__((format(printf, 3, 4))) static bool complain(Schedule *sch, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(sch->ctx->arena, format, args);
    va_end(args);
    diag_error_or_warning(sch->ctx, sch->will_run, WARNING_THREADS, span, "%s", text);
    return false;
}

/* A complaint where the script bound the loop at NODE, or else at the step that made its kernel wrong, with a note at the loop; at the loop
   where the program came with it all. Returns false. */
__attribute__((format(printf, 3, 4))) static bool refuse_bound(Schedule *sch, const TreeNode *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(sch->ctx->arena, format, args);
    va_end(args);
    const ForStmt *loop = node_loop(node);
    Span bound = schedule_bound_at(sch, loop->var);
    if (!bound.file)
        bound = step_at_fault(sch, node);
    complain(sch, bound.file ? bound : node->stmt->span, "when the schedule ends, loop '%s' is bound to %s, but %s", loop->var->name,
             loop->thread, text);
    if (bound.file)
        diag_note(sch->ctx, node->stmt->span, "loop '%s' is here", loop->var->name);
    return false;
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

/* The loop with TAG around ACCESS, or NULL. */
static const TreeNode *tag_loop_around(Schedule *sch, const Access *access, Str tag)
{
    for (const Frame *frame = access ? access->frame : NULL; frame; frame = frame->outer) {
        const Stmt *stmt = frame->stmt;
        bool is_loop = stmt && stmt->kind == STMT_FOR && frame->var == stmt->as.loop.var;
        const TreeNode *node = is_loop ? schedule_find_loop(sch, frame->var) : NULL;
        if (node && is_thread_loop(node) && !strcmp(node_loop(node)->thread, tag))
            return node;
    }
    return NULL;
}

/* The loop with TAG that ANSWER is about: around one of the accesses, the second one rather, or else the first one of the kernel. */
static const TreeNode *loop_at_fault(Schedule *sch, const TreeNode *kernel, Str tag, Answer answer)
{
    const TreeNode *node = tag_loop_around(sch, answer.second, tag);
    node = node ? node : tag_loop_around(sch, answer.first, tag);
    for (int i = schedule_node_index(sch, kernel); !node; i++)
        if (is_thread_loop(schedule_node_at(sch, i)) && !strcmp(node_loop(schedule_node_at(sch, i))->thread, tag))
            node = schedule_node_at(sch, i);
    return node;
}

/* --- calls --- */

typedef struct {
    const ForStmt *loop;
    const Expr *call;
} CallSearch;

static bool skip_same_tag(Visitor *visitor, const Stmt *stmt)
{
    const CallSearch *search = visitor->data;
    const ForStmt *loop = stmt->kind == STMT_FOR ? &stmt->as.loop : NULL;
    return !search->call && !(loop && loop->kind == FOR_THREAD && !strcmp(loop->thread, search->loop->thread));
}

static bool find_foreign_call(Visitor *visitor, const Expr *expr)
{
    CallSearch *search = visitor->data;
    if (!search->call && expr_is_foreign_call(expr))
        search->call = expr;
    return !search->call;
}

/* Every thread of the tag of the loop at NODE runs what stands in KERNEL beside the loops with this tag. A call of foreign code there ran
   once before the script bound the loop, so it is refused. */
static bool check_calls_beside(Schedule *sch, const TreeNode *kernel, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    CallSearch search = {.loop = loop};
    Visitor visitor = {.stmt = skip_same_tag, .expr = find_foreign_call, .data = &search};
    const TreeNode *scripted = schedule_bound_at(sch, loop->var).file ? node : kernel;
    if (schedule_bound_at(sch, node_loop(scripted)->var).file && !expr_is_int(loop->extent, 1))
        visit_stmt(&visitor, kernel->stmt);
    if (!search.call)
        return true;
    refuse_bound(sch, scripted,
                 "a call of a function that may have effects stands beside loop '%s' in the kernel, and every thread of %s would make the "
                 "call%s",
                 loop->var->name, loop->thread, expr_pure_way(search.call));
    diag_note(sch->ctx, search.call->span, "the call is here");
    return false;
}

/* --- kernels --- */

static bool check_kernel(Schedule *sch, const KernelSet *set, const TreeNode *kernel)
{
    Str tag;
    Answer answer = dependence_threads_independent(set, kernel->stmt, &tag);
    if (answer_is_shown(answer))
        return true;
    refuse_bound(sch, loop_at_fault(sch, kernel, tag, answer), "%s", answer.text);
    note_accesses(sch, answer);
    return false;
}

/* The loop at NODE, which the script bound to threads of a block, still may be: scratch in global memory that steps have put below it since
   was no conflict as long as others could say where it is stored. */
static bool check_bound_loop(Schedule *sch, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    if (!schedule_bound_at(sch, loop->var).file || !strncmp(loop->thread, "blockIdx", 8))
        return true;
    Answer answer = dependence_independent(sch->ctx, schedule_func(sch), loop->var, RUN_AS_THREADS);
    if (answer_is_shown(answer))
        return true;
    refuse_bound(sch, node, "%s", answer.text);
    note_accesses(sch, answer);
    return false;
}

/* The loop at NODE, inside of a kernel, still may be parallel or vectorized: it may have become so before the kernel was made. */
static bool check_loop_in_kernel(Schedule *sch, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    Answer answer = dependence_independent(sch->ctx, schedule_func(sch), loop->var, RUN_AT_ONCE);
    if (answer_is_shown(answer))
        return true;
    complain(sch, node->stmt->span, "when the schedule ends, loop '%s' is %s inside of a kernel, but %s", loop->var->name,
             loop->kind == FOR_PARALLEL ? "parallel" : "vectorized", answer.text);
    note_accesses(sch, answer);
    return false;
}

static bool check_loops_in_kernel(Schedule *sch, const TreeNode *kernel)
{
    for (int i = schedule_node_index(sch, kernel); i < kernel->end; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        bool at_once = node->stmt->kind == STMT_FOR && (node_loop(node)->kind == FOR_PARALLEL || node_loop(node)->kind == FOR_VECTORIZED);
        if (at_once && !check_loop_in_kernel(sch, node))
            return false;
    }
    return true;
}

static bool check_function(Schedule *sch)
{
    int count = schedule_node_count(sch);
    for (int i = 0; i < count; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (!is_thread_loop(node))
            continue;
        const TreeNode *kernel = kernel_of(sch, node);
        for (int j = schedule_node_index(sch, kernel); j < i; j++) {
            const TreeNode *other = schedule_node_at(sch, j);
            bool same_tag = is_thread_loop(other) && !strcmp(node_loop(other)->thread, node_loop(node)->thread);
            if (same_tag && !check_same_extent(sch, other, node))
                return false;
        }
        if (!check_bound_loop(sch, node) || !check_calls_beside(sch, kernel, node))
            return false;
    }
    KernelSet set = {0};
    for (int i = 0; i < count; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (!is_thread_loop(node) || kernel_of(sch, node) != node)
            continue;
        if (!set.func)
            set = dependence_collect_kernels(sch->ctx, schedule_func(sch));
        if (!check_kernel(sch, &set, node) || !check_loops_in_kernel(sch, node))
            return false;
    }
    return true;
}

bool check_threads(Schedule *sch, bool will_run)
{
    int chosen = sch->func_index;
    bool ok = true;
    sch->will_run = will_run;
    for (sch->func_index = 0; ok && sch->func_index < sch->module->func_count; sch->func_index++)
        ok = check_function(sch) || !will_run;
    sch->func_index = chosen;
    return ok;
}
