/* Pass "lift_thread_binding": the loops of a kernel that are bound to one thread index become one loop, around all of them.

     for bx in T.thread_binding(4, thread="blockIdx.x"):          for blockIdx_x in T.thread_binding(4, thread="blockIdx.x"):
         with T.block(""):                                            for threadIdx_x in T.thread_binding(8, thread="threadIdx.x"):
             S = T.alloc_buffer((8,), scope="shared")        ->           with T.block(""):
             for tx in T.thread_binding(8, thread="threadIdx.x"):             S = T.alloc_buffer((8,), scope="shared")
                 S[tx] = A[bx, tx]                                            S[threadIdx_x] = A[blockIdx_x, threadIdx_x]
             for tx in T.thread_binding(8, thread="threadIdx.x"):             B[blockIdx_x, threadIdx_x] = S[7 - threadIdx_x]
                 B[bx, tx] = S[7 - tx]

   Legality. The loops have as many iterations. The threads of a block run each statement together, so that a loop over them and a serial loop
   change places. What stood beside the loops now runs once for each thread: alike, if it calls nothing and does not read what it writes, but for
   memory of which each thread has its own. The blocks of a kernel do not wait for each other: loops bound to blockIdx are not joined. */
#include <string.h>

#include "passes/lower/core/effects.h"
#include "passes/lower/memory/flat_form.h"
#include "passes/transform/internal.h"

typedef VEC(const Stmt *) Loops;

/* The loops of a kernel that are bound to one thread index. */
typedef struct {
    Str thread;
    Loops loops;
    Loops around; /* the loops that are around each of them; the last one gets the loop that they become. A single one is the last itself */
    Var *var;
    Attrs annotations;
} Index;

typedef struct {
    Context *ctx;
    Map roots, own; /* data Var -> itself: memory of which each thread has its own */
    VEC(Index) indices;
    Loops path;
    bool in_kernel;
} Lift;

static bool is_thread_loop(const Stmt *stmt)
{
    return stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD && strcmp(stmt->as.loop.thread, "vthread") != 0;
}

static Index *find_index(Lift *lift, Str thread)
{
    for (int i = 0; i < lift->indices.count; i++)
        if (lift->indices.data[i].thread == thread)
            return &lift->indices.data[i];
    return NULL;
}

/* --- the loops of a kernel --- */

static void note_thread_loop(Lift *lift, const Stmt *stmt)
{
    Arena *arena = lift->ctx->arena;
    Index *index = find_index(lift, stmt->as.loop.thread);
    if (!index) {
        vec_push(arena, &lift->indices, (Index){.thread = stmt->as.loop.thread});
        index = &vec_last(&lift->indices);
        index->var = var_clone(lift->ctx, stmt->as.loop.var, thread_name(lift->ctx, index->thread));
        for (int i = 0; i < lift->path.count; i++)
            vec_push(arena, &index->around, lift->path.data[i]);
    }
    vec_push(arena, &index->loops, stmt);
    int common = 0;
    while (common < index->around.count && common < lift->path.count && index->around.data[common] == lift->path.data[common])
        common++;
    index->around.count = common;
    for (int i = 0; i < stmt->as.loop.annotations.count; i++) {
        Attr attr = stmt->as.loop.annotations.entries[i];
        index->annotations = attrs_set(lift->ctx, index->annotations, attr.key, attr.value);
    }
}

static bool enter_loop(Visitor *visitor, const Stmt *stmt)
{
    Lift *lift = visitor->data;
    if (stmt->kind == STMT_FOR)
        vec_push(lift->ctx->arena, &lift->path, stmt);
    if (is_thread_loop(stmt))
        note_thread_loop(lift, stmt);
    return true;
}

static void leave_loop(Visitor *visitor, const Stmt *stmt)
{
    Lift *lift = visitor->data;
    if (stmt->kind == STMT_FOR)
        lift->path.count--;
}

/* --- legality --- */

static bool refuse(Lift *lift, const Stmt *loop, const char *why)
{
    diag_error(lift->ctx, loop->span, "the loops that are bound to %s cannot become one: %s", loop->as.loop.thread, why);
    return false;
}

static bool find_thread(Visitor *visitor, const Stmt *stmt)
{
    Str *thread = visitor->data;
    if (*thread && is_thread_loop(stmt) && stmt->as.loop.thread == *thread)
        *thread = NULL;
    return *thread != NULL;
}

static bool holds_loop(const Stmt *stmt, Str thread)
{
    Visitor visitor = {.stmt = find_thread, .data = &thread};
    visit_stmt(&visitor, stmt);
    return !thread;
}

static bool find_opaque(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->opaque;
    return true;
}

/* STMT, which stands beside the loops, does the same when each thread runs it. */
static bool repeats_alike(Lift *lift, const Stmt *stmt)
{
    bool opaque = false;
    Visitor visitor = {.expr = find_opaque, .data = &opaque};
    visit_stmt(&visitor, stmt);
    Effects effects = effects_of_stmt(lift->ctx, &lift->roots, stmt, NULL);
    for (int i = 0; i < effects.writes.count; i++)
        opaque |= map_has(&effects.reads, effects.writes.entries[i].key) && !map_has(&lift->own, effects.writes.entries[i].key);
    return !opaque;
}

/* What stands beside the loops over THREAD in STMT repeats alike. */
static bool beside_repeats(Lift *lift, const Stmt *stmt, Str thread)
{
    if (is_thread_loop(stmt) && stmt->as.loop.thread == thread)
        return true;
    if (!holds_loop(stmt, thread))
        return repeats_alike(lift, stmt);
    if (stmt->kind == STMT_IF) {
        const Stmt *otherwise = stmt->as.branch.else_body;
        return beside_repeats(lift, stmt->as.branch.then_body, thread) && (!otherwise || beside_repeats(lift, otherwise, thread));
    }
    bool good = stmt->kind != STMT_WHILE;
    if (stmt->kind != STMT_SEQ)
        return good && beside_repeats(lift, stmt_body(stmt), thread);
    for (int i = 0; good && i < stmt->as.seq.count; i++)
        good = beside_repeats(lift, stmt->as.seq.items[i], thread);
    return good;
}

/* EXPR can be computed where the body of OUTER, a loop around all of them, begins. */
static bool known_outside(Lift *lift, const Expr *expr, const Stmt *outer)
{
    Map visible = {0}, inside = symbols_defined(lift->ctx, outer->as.loop.body, &visible);
    return !expr_reads_memory(expr) && !expr_uses_any(expr, &inside);
}

static bool may_join(Lift *lift, const Index *index)
{
    const Stmt *first = index->loops.data[0], *outer = vec_last(&index->around);
    Analyzer *an = analyzer_new(lift->ctx);
    if (!strncmp(index->thread, "blockIdx", 8))
        return refuse(lift, first, "the blocks of a kernel do not wait for each other");
    for (int i = 0; i < index->loops.count; i++) {
        const ForStmt *loop = &index->loops.data[i]->as.loop;
        if (!analyzer_prove_equal(an, loop->min, first->as.loop.min) || !analyzer_prove_equal(an, loop->extent, first->as.loop.extent))
            return refuse(lift, index->loops.data[i], "they are not shown to have the same iterations");
    }
    if (!known_outside(lift, first->as.loop.extent, outer) || !known_outside(lift, first->as.loop.min, outer))
        return refuse(lift, first, "their bounds are not known before all of them");
    return beside_repeats(lift, outer->as.loop.body, index->thread) || refuse(lift, first, "what stands beside them would run once for each thread");
}

/* --- the kernel after it --- */

/* Where both stand in one place, A comes outside of B: blocks, then virtual threads, then threads by x, y, z. */
static bool comes_outside(const Index *a, const Index *b)
{
    bool block_a = !strncmp(a->thread, "blockIdx", 8), block_b = !strncmp(b->thread, "blockIdx", 8);
    bool virtual_a = !strncmp(a->thread, "vthread", 7), virtual_b = !strncmp(b->thread, "vthread", 7);
    if (block_a != block_b)
        return block_a;
    if (virtual_a != virtual_b)
        return virtual_a;
    return a->thread[strlen(a->thread) - 1] < b->thread[strlen(b->thread) - 1];
}

static void sort_indices(Lift *lift)
{
    for (int i = 1; i < lift->indices.count; i++) {
        Index index = lift->indices.data[i];
        int at = i;
        for (; at > 0 && comes_outside(&index, &lift->indices.data[at - 1]); at--)
            lift->indices.data[at] = lift->indices.data[at - 1];
        lift->indices.data[at] = index;
    }
}

/* BODY of LOOP inside of the loops that have their place there. */
static const Stmt *with_loops_of(Lift *lift, const Stmt *loop, const Stmt *body)
{
    for (int i = lift->indices.count - 1; i >= 0; i--) {
        const Index *index = &lift->indices.data[i];
        if (vec_last(&index->around) != loop)
            continue;
        ForStmt joined = index->loops.data[0]->as.loop;
        joined.var = index->var;
        joined.annotations = index->annotations;
        joined.body = body;
        body = stmt_for(lift->ctx, joined, index->loops.data[0]->span);
    }
    return body;
}

static const Stmt *lift_stmt(Rewriter *rewriter, const Stmt *stmt);

/* The kernel that begins with LOOP. */
static const Stmt *lift_kernel(Rewriter *rewriter, const Stmt *loop)
{
    Lift *lift = rewriter->data;
    lift->indices.count = lift->path.count = 0;
    visit_stmt(&(Visitor){.stmt = enter_loop, .leave_stmt = leave_loop, .data = lift}, loop);
    sort_indices(lift);
    Subst subst = {0};
    for (int i = 0; i < lift->indices.count; i++) {
        const Index *index = &lift->indices.data[i];
        if (index->loops.count > 1 && !may_join(lift, index))
            return loop;
        for (int k = 0; k < index->loops.count; k++)
            subst_var(lift->ctx, &subst, index->loops.data[k]->as.loop.var, expr_var(lift->ctx, index->var));
    }
    lift->in_kernel = true;
    const Stmt *result = lift_stmt(rewriter, loop);
    lift->in_kernel = false;
    return subst_stmt(lift->ctx, &subst, result);
}

static const Stmt *lift_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Lift *lift = rewriter->data;
    if (is_thread_loop(stmt) && !lift->in_kernel)
        return lift_kernel(rewriter, stmt);
    if (stmt->kind != STMT_FOR || !lift->in_kernel)
        return rewrite_stmt_children(rewriter, stmt);
    const Stmt *body = with_loops_of(lift, stmt, lift_stmt(rewriter, stmt->as.loop.body));
    return is_thread_loop(stmt) ? body : stmt_with_body(lift->ctx, stmt, body);
}

static bool note_own(Visitor *visitor, const Stmt *stmt)
{
    Lift *lift = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++) {
        const Buffer *buffer = stmt->as.block.allocs[i];
        if (scope_class(buffer->scope) == SCOPE_LOCAL)
            map_set(lift->ctx->arena, &lift->own, buffer->data, buffer->data);
    }
    return true;
}

const Func *transform_lift_threads(LowerState *state, const Func *func)
{
    Lift lift = {.ctx = state->ctx};
    effects_add_view_roots(state->ctx, &lift.roots, func->body);
    visit_stmt(&(Visitor){.stmt = note_own, .data = &lift}, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = lift_stmt, .data = &lift};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
