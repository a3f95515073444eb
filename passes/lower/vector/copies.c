/* Pass "copies": short innermost loops that copy or fill adjacent elements become vectorized, as nothing in them can depend on order.

     for v in range(16):                              for v in T.vectorized(16):
         tile_1[i * 16 + v] = A_1[i * n + v]    ->        tile_1[i * 16 + v] = A_1[i * n + v]

   The staging copies of a tiled program are of this form. As vectors they leave code generation nothing to discover, which is most of its
   time for such programs. Taken: extents that are powers of two and fill whole vectors; one store, with a condition or without, of a value
   that no iteration changes or of an element of other memory. Reductions and computations stay as they are: their order is the schedule's to
   choose. Needs: flat buffers, simplified indices. */
#include "ir/linear_sum.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/core/state.h"

enum { LEAST_BYTES = 16, MOST_BYTES = 256 };

typedef struct {
    Context *ctx;
    Map roots; /* see effects.h */
} CopiesPass;

static bool extent_fills_vectors(const Expr *extent, DType type)
{
    int64_t count;
    if (!expr_const_int(extent, &count) || count < 2 || (count & (count - 1)))
        return false;
    return count <= MOST_BYTES && count * dtype_bytes(type) >= LEAST_BYTES && count * dtype_bytes(type) <= MOST_BYTES;
}

/* ATOM is VAR, or VAR in a wider type. */
static bool is_lane(const Expr *atom, const Var *var)
{
    bool widened = atom->kind == EXPR_CAST && atom->dtype.code == DT_INT && var->dtype.code == DT_INT && atom->dtype.bits > var->dtype.bits;
    return expr_is_var(widened ? atom->args[0] : atom, var);
}

/* INDEX as VAR + something that VAR does not change. */
static bool index_is_adjacent(Context *ctx, const Expr *index, const Var *var)
{
    LinearSum sum = {0};
    bool found = false;
    if (expr_reads_memory(index) || !linear_sum_of(ctx, index, &sum))
        return false;
    for (int i = 0; i < sum.terms.count; i++) {
        const LinearTerm *term = &sum.terms.data[i];
        if (is_lane(term->atom, var))
            found = term->coefficient == 1;
        else if (expr_uses_var(term->atom, var))
            return false;
    }
    return found;
}

/* VALUE is an adjacent element of other memory than that of TARGET, perhaps with a condition, or a constant of all iterations. */
static bool value_is_copied(const CopiesPass *pass, const Expr *value, const Buffer *target, const Var *var)
{
    if (expr_is_call(value, OP_IF_THEN_ELSE) && expr_is_pure(value->args[0]) && expr_is_pure(value->args[2]) &&
        !expr_uses_var(value->args[2], var))
        value = value->args[1];
    if (value->kind != EXPR_LOAD)
        return !expr_reads_memory(value) && !expr_uses_var(value, var);
    bool other = effects_root(&pass->roots, value->value.buffer->data) != effects_root(&pass->roots, target->data);
    return other && value->arg_count == 1 && index_is_adjacent(pass->ctx, value->args[0], var);
}

static bool loop_is_copy(const CopiesPass *pass, const ForStmt *loop)
{
    const Stmt *store = loop->body;
    if (store->kind == STMT_IF && !store->as.branch.else_body && !expr_reads_memory(store->as.branch.condition))
        store = store->as.branch.then_body;
    if (loop->kind != FOR_SERIAL || loop->annotations.count || store->kind != STMT_STORE)
        return false;
    const Expr *value = store->as.store.value, *const *indices = store->as.store.indices;
    bool plain = value->dtype.lanes == 1 && (dtype_is_integer(value->dtype) || dtype_is_float(value->dtype)) && !store->as.store.mask &&
                 store->as.store.index_count == 1;
    return plain && extent_fills_vectors(loop->extent, value->dtype) && index_is_adjacent(pass->ctx, indices[0], loop->var) &&
           value_is_copied(pass, value, store->as.store.buffer, loop->var);
}

static const Stmt *vectorize_copy(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind != STMT_FOR || !loop_is_copy(rewriter->data, &stmt->as.loop))
        return rewrite_stmt_children(rewriter, stmt);
    ForStmt loop = stmt->as.loop;
    loop.kind = FOR_VECTORIZED;
    return stmt_for(rewriter->ctx, loop, stmt->span);
}

const Func *lower_copies(LowerState *state, const Func *func)
{
    CopiesPass pass = {.ctx = state->ctx};
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = vectorize_copy, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
