/* Pass "promote": a tile of sums that a loop updates in vectors, in memory whose layout or bounds only the caller knows, is kept in scratch
   while the loop runs.

     for k in range(K):                                  acc = T.decl_buffer((4, 16), scope="local")
         for r in T.unroll(4):                           for r in T.unroll(4):
             for v in T.vectorized(16):                      for v in T.vectorized(16):
                 if i * 4 + r < n:                               if i * 4 + r < n:
                     C[i * 4 + r, j + v] += ...                      acc[r, v] = C[i * 4 + r, j + v]
                                                  ->     for k in range(K):
                                                             ... if i * 4 + r < n: acc[r, v] += ...
                                                         ... if i * 4 + r < n: C[i * 4 + r, j + v] = acc[r, v]

   Code generation finds sums that stay in registers where strides are constant and nothing is under a condition. Elsewhere it must fear that
   two rows of the tile are one, or that an element does not exist, and each sum would go through memory in each step.

   Legality. The loop does nothing else to this memory: its one statement reads and writes the same element, which other indices than those of
   the tile do not decide, and different places of the tile are different elements. Conditions are of the tile alone, which then guard the
   copies too, or of the other loops alone, and hold in the first iteration. All of this happens under the condition that the loops run: thus
   what is copied is what the loop would access. Runs before flattening, which hides the dimensions. */
#include "ir/linear_sum.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/core/state.h"

enum {
    MOST_DEPTH = 16,
    LEAST_STEPS = 4,
    MOST_BYTES = 4096,       /* of a tile: the pass "peel" copies no body that has more */
    MOST_IN_ALL = 16 * 1024, /* in a function */
};

typedef struct {
    Context *ctx;
    Analyzer *an;
    Map roots;
    int64_t bytes_left; /* of MOST_IN_ALL */
} PromotePass;

/* The loop to be rewritten. */
typedef struct {
    PromotePass *pass;
    const Stmt *loop;
    const Stmt *nest[MOST_DEPTH]; /* loops and branches, from LOOP on, outermost first */
    int depth;
    const Stmt *store;
    const ForStmt *tile[MOST_DEPTH]; /* the loops that run through the tile, vectorized ones last */
    int tile_count;
    Map tile_vars, other_vars; /* keys: what the loops of the nest bind */
    ExprList guards;           /* conditions of the tile */
    ExprList filters;          /* conditions of the other loops */
    ExprList runs;             /* what makes the other loops run, where that is not known */
} Promotion;

/* --- The form of the nest --- */

/* The loops and branches of STMT one in the other, around a store. */
static bool find_nest(Promotion *promotion, const Stmt *stmt)
{
    for (; stmt->kind == STMT_FOR || (stmt->kind == STMT_IF && !stmt->as.branch.else_body); stmt = stmt->kind == STMT_FOR ? stmt->as.loop.body : stmt->as.branch.then_body) {
        if (promotion->depth == MOST_DEPTH)
            return false;
        promotion->nest[promotion->depth++] = stmt;
    }
    promotion->store = stmt;
    return stmt->kind == STMT_STORE && !stmt->as.store.mask && stmt->as.store.value->dtype.lanes == 1 &&
           stmt->as.store.index_count == stmt->as.store.buffer->ndim &&
           (dtype_is_float(stmt->as.store.buffer->dtype) || dtype_is_integer(stmt->as.store.buffer->dtype));
}

static bool is_place_along(const Promotion *promotion, const Var *var)
{
    bool along = false;
    for (int d = 0; d < promotion->store->as.store.index_count; d++)
        along |= expr_uses_var(promotion->store->as.store.indices[d], var);
    return along;
}

/* LOOP, which runs through the tile, is written out as vectors. */
static bool add_tile_loop(Promotion *promotion, const ForStmt *loop, int64_t *elements)
{
    int64_t extent;
    bool is_written_out = (loop->kind == FOR_UNROLLED || loop->kind == FOR_VECTORIZED) && expr_is_int(loop->min, 0) &&
                          expr_const_int(loop->extent, &extent);
    if (!is_written_out || extent < 1 || extent > MOST_BYTES)
        return false;
    *elements *= extent;
    map_set(promotion->pass->ctx->arena, &promotion->tile_vars, loop->var, loop->var);
    return *elements <= MOST_BYTES;
}

/* LOOP goes through the terms of the sums. */
static bool add_other_loop(Promotion *promotion, const ForStmt *loop, int64_t *steps)
{
    Context *ctx = promotion->pass->ctx;
    int64_t extent;
    bool is_free = !expr_uses_any(loop->extent, &promotion->tile_vars) && !expr_uses_any(loop->extent, &promotion->other_vars) &&
                   !expr_uses_any(loop->min, &promotion->tile_vars) && !expr_uses_any(loop->min, &promotion->other_vars);
    if (!is_free || (loop->kind != FOR_SERIAL && loop->kind != FOR_UNROLLED) || expr_reads_memory(loop->extent) || expr_reads_memory(loop->min))
        return false;
    map_set(ctx->arena, &promotion->other_vars, loop->var, loop->var);
    if (!expr_const_int(loop->extent, &extent) || extent > LEAST_STEPS)
        extent = LEAST_STEPS;
    *steps *= extent;
    if (!analyzer_prove_at_least(promotion->pass->an, loop->extent, 1))
        vec_push(ctx->arena, &promotion->runs, expr_binary(ctx, EXPR_LT, expr_int(ctx, loop->extent->dtype, 0), loop->extent));
    return *steps > 0;
}

/* The loops of the nest that run through the tile: the vectorized ones, or the others. */
static void list_tile(Promotion *promotion, bool vectorized)
{
    for (int i = 0; i < promotion->depth; i++) {
        const ForStmt *loop = &promotion->nest[i]->as.loop;
        if (promotion->nest[i]->kind == STMT_FOR && map_has(&promotion->tile_vars, loop->var) && (loop->kind == FOR_VECTORIZED) == vectorized)
            promotion->tile[promotion->tile_count++] = loop;
    }
}

static bool find_loops(Promotion *promotion)
{
    int64_t elements = 1, steps = 1;
    for (int i = 0; i < promotion->depth; i++) {
        if (promotion->nest[i]->kind != STMT_FOR)
            continue;
        const ForStmt *loop = &promotion->nest[i]->as.loop;
        bool along = is_place_along(promotion, loop->var);
        if (along ? !add_tile_loop(promotion, loop, &elements) : !add_other_loop(promotion, loop, &steps))
            return false;
    }
    list_tile(promotion, false);
    int serial = promotion->tile_count;
    list_tile(promotion, true);
    int64_t bytes = elements * dtype_bytes(promotion->store->as.store.buffer->dtype);
    return promotion->tile_count > serial && steps >= LEAST_STEPS && bytes <= MOST_BYTES && bytes <= promotion->pass->bytes_left;
}

/* --- Conditions --- */

static bool add_condition(Promotion *promotion, const Expr *condition)
{
    Arena *arena = promotion->pass->ctx->arena;
    bool of_tile = expr_uses_any(condition, &promotion->tile_vars), of_others = expr_uses_any(condition, &promotion->other_vars);
    if (expr_reads_memory(condition) || (of_tile && of_others))
        return false;
    if (of_others)
        vec_push(arena, &promotion->filters, condition);
    else
        vec_push(arena, &promotion->guards, condition);
    return true;
}

static bool find_conditions(Promotion *promotion)
{
    ExprList conditions = {0};
    for (int i = 0; i < promotion->depth; i++)
        if (promotion->nest[i]->kind == STMT_IF)
            conjunction_split(promotion->pass->ctx, promotion->nest[i]->as.branch.condition, &conditions);
    for (int i = 0; i < conditions.count; i++)
        if (!add_condition(promotion, conditions.data[i]))
            return false;
    return true;
}

/* CONDITION for the first iteration of the loops that do not run through the tile. */
static const Expr *at_first(const Promotion *promotion, const Expr *condition)
{
    for (int i = 0; i < promotion->depth; i++) {
        const ForStmt *loop = &promotion->nest[i]->as.loop;
        if (promotion->nest[i]->kind == STMT_FOR && map_has(&promotion->other_vars, loop->var))
            condition = subst_one(promotion->pass->ctx, condition, loop->var, loop->min);
    }
    return condition;
}

/* Where the loops run at all, some iteration meets the conditions of their own. */
static bool some_iteration_counts(const Promotion *promotion)
{
    Analyzer *an = promotion->pass->an;
    bool counts = true;
    AnalyzerScope scope = analyzer_enter(an);
    for (int i = 0; i < promotion->depth; i++)
        if (promotion->nest[i]->kind == STMT_FOR)
            analyzer_assume_positive(an, promotion->nest[i]->as.loop.extent);
    for (int i = 0; i < promotion->filters.count; i++)
        counts = counts && analyzer_prove_symbolic(an, at_first(promotion, promotion->filters.data[i]));
    analyzer_leave(an, scope);
    return counts;
}

/* --- Elements --- */

/* How far a loop of the tile moves an index, and how often. */
typedef struct {
    int64_t coefficient, extent;
} Stride;

static int64_t extent_of(const Promotion *promotion, const Var *var)
{
    int64_t extent = 0;
    for (int i = 0; i < promotion->tile_count; i++)
        if (promotion->tile[i]->var == var)
            expr_const_int(promotion->tile[i]->extent, &extent);
    return extent;
}

/* The strides of different loops of the tile in INDEX, in which these loops stand nowhere else; -1: it is not such a sum. SEEN: loops of other
   dimensions. */
static int strides_of(const Promotion *promotion, const Expr *index, Map *seen, Stride *strides)
{
    LinearSum sum = {0};
    int count = 0;
    if (expr_reads_memory(index) || expr_uses_any(index, &promotion->other_vars) || !linear_sum_of(promotion->pass->ctx, index, &sum))
        return -1;
    for (int i = 0; i < sum.terms.count; i++) {
        const LinearTerm *term = &sum.terms.data[i];
        if (!expr_uses_any(term->atom, &promotion->tile_vars))
            continue;
        if (term->atom->kind != EXPR_VAR || map_has(seen, term->atom->value.var) || term->coefficient < 1 || term->coefficient > INT32_MAX)
            return -1;
        map_set(promotion->pass->ctx->arena, seen, term->atom->value.var, term->atom->value.var);
        strides[count++] = (Stride){term->coefficient, extent_of(promotion, term->atom->value.var)};
    }
    return count;
}

/* Each stride is greater than the reach of the smaller ones: no two iterations have one sum. */
static bool are_apart(const Stride *strides, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t reach = 0;
        for (int j = 0; j < count; j++) {
            bool is_smaller = strides[j].coefficient < strides[i].coefficient || (strides[j].coefficient == strides[i].coefficient && j < i);
            reach += is_smaller ? strides[j].coefficient * (strides[j].extent - 1) : 0;
        }
        if (strides[i].coefficient <= reach)
            return false;
    }
    return true;
}

/* Each place of the tile is an element of its own, the same one in all iterations of the other loops. */
static bool has_own_elements(const Promotion *promotion)
{
    Map seen = {0};
    for (int d = 0; d < promotion->store->as.store.index_count; d++) {
        Stride strides[MOST_DEPTH];
        int count = strides_of(promotion, promotion->store->as.store.indices[d], &seen, strides);
        if (count < 0 || !are_apart(strides, count))
            return false;
    }
    return true;
}

static bool is_own_load(const Promotion *promotion, const Expr *load)
{
    const Stmt *store = promotion->store;
    bool is_own = load->value.buffer == store->as.store.buffer && !load_mask(load) && load_index_count(load) == store->as.store.index_count;
    for (int d = 0; is_own && d < store->as.store.index_count; d++)
        is_own = expr_equal(load->args[d], store->as.store.indices[d]);
    return is_own;
}

typedef struct {
    const Promotion *promotion;
    bool fits, reads;
} ValueCheck;

static bool check_value(Visitor *visitor, const Expr *expr)
{
    ValueCheck *check = visitor->data;
    const Map *roots = &check->promotion->pass->roots;
    bool is_pointer = expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE;
    bool is_other_call = expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || expr_reads_through_pointers(expr));
    if (is_pointer || is_other_call || expr->kind == EXPR_LET)
        check->fits = false;
    if (expr->kind == EXPR_LOAD && is_own_load(check->promotion, expr))
        check->reads = true;
    else if (expr->kind == EXPR_LOAD)
        check->fits &= effects_root(roots, expr->value.buffer->data) != effects_root(roots, check->promotion->store->as.store.buffer->data);
    return check->fits;
}

/* The value that is stored depends on the element, and on nothing else of its memory. */
static bool updates_elements(const Promotion *promotion)
{
    ValueCheck check = {.promotion = promotion, .fits = true};
    Visitor visitor = {.expr = check_value, .data = &check};
    visit_expr(&visitor, promotion->store->as.store.value);
    return check.fits && check.reads;
}

static bool is_constant(const Expr *expr)
{
    int64_t value;
    return expr_const_int(expr, &value);
}

/* Code generation would not keep the sums in registers. */
static bool is_needed(const Promotion *promotion)
{
    const Buffer *buffer = promotion->store->as.store.buffer;
    for (int d = 0; d < buffer->ndim; d++)
        if (buffer->strides ? !is_constant(buffer->strides[d]) : d > 0 && !is_constant(buffer->shape[d]))
            return true;
    return false;
}

/* --- The new statements --- */

typedef struct {
    const Promotion *promotion;
    Buffer *scratch;
    const Expr *places[MOST_DEPTH]; /* of the tile, in the scratch */
} Scratch;

static Scratch make_scratch(const Promotion *promotion)
{
    Context *ctx = promotion->pass->ctx;
    const Buffer *buffer = promotion->store->as.store.buffer;
    DType type = promotion->tile[0]->var->dtype;
    const Expr *shape[MOST_DEPTH];
    Scratch scratch = {.promotion = promotion};
    for (int i = 0; i < promotion->tile_count; i++) {
        shape[i] = op_cast(ctx, type, promotion->tile[i]->extent);
        scratch.places[i] = op_cast(ctx, type, expr_var(ctx, promotion->tile[i]->var));
    }
    Str name = context_internf(ctx, "%s_local", buffer->name);
    scratch.scratch = buffer_new(ctx, name, buffer->dtype, promotion->tile_count, shape, context_intern(ctx, "local"), promotion->store->span);
    return scratch;
}

static const Expr *load_scratch(const Scratch *scratch)
{
    const Promotion *promotion = scratch->promotion;
    return expr_load(promotion->pass->ctx, scratch->scratch, scratch->places, promotion->tile_count, NULL, promotion->store->span);
}

static const Stmt *store_scratch(const Scratch *scratch, const Expr *value)
{
    const Promotion *promotion = scratch->promotion;
    return stmt_store(promotion->pass->ctx, scratch->scratch, scratch->places, promotion->tile_count, value, NULL, promotion->store->span);
}

/* COPY for each place of the tile. */
static const Stmt *for_tile(const Promotion *promotion, const Stmt *copy)
{
    Context *ctx = promotion->pass->ctx;
    if (promotion->guards.count)
        copy = stmt_if(ctx, conjunction_join(ctx, &promotion->guards), copy, NULL, promotion->store->span);
    for (int i = promotion->tile_count - 1; i >= 0; i--) {
        ForStmt loop = *promotion->tile[i];
        loop.body = copy;
        copy = stmt_for(ctx, loop, promotion->store->span);
    }
    return clone_fresh(ctx, copy);
}

static const Expr *promoted_expr(Rewriter *rewriter, const Expr *expr)
{
    const Scratch *scratch = rewriter->data;
    if (expr->kind == EXPR_LOAD && is_own_load(scratch->promotion, expr))
        return load_scratch(scratch);
    return rewrite_expr_children(rewriter, expr);
}

static const Stmt *promoted_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Scratch *scratch = rewriter->data;
    if (stmt == scratch->promotion->store)
        return store_scratch(scratch, rewrite_expr(rewriter, stmt->as.store.value));
    return rewrite_stmt_children(rewriter, stmt);
}

static const Stmt *promoted(const Promotion *promotion)
{
    Context *ctx = promotion->pass->ctx;
    const Stmt *store = promotion->store;
    Buffer *buffer = store->as.store.buffer;
    Scratch scratch = make_scratch(promotion);
    const Expr *element = expr_load(ctx, buffer, store->as.store.indices, buffer->ndim, NULL, store->span);
    const Stmt *back = stmt_store(ctx, buffer, store->as.store.indices, buffer->ndim, load_scratch(&scratch), NULL, store->span);
    Rewriter rewriter = {.ctx = ctx, .expr = promoted_expr, .stmt = promoted_stmt, .data = &scratch};
    const Stmt *parts[] = {for_tile(promotion, store_scratch(&scratch, element)), rewrite_stmt(&rewriter, promotion->loop), for_tile(promotion, back)};
    Attrs registers = attrs_set(ctx, (Attrs){0}, context_intern(ctx, "tirc.registers"), attr_expr(ctx, expr_int(ctx, DTYPE_BOOL, 1)));
    const Stmt *result = stmt_allocate_buffer(ctx, scratch.scratch, registers, stmt_seq(ctx, parts, 3), store->span);
    return promotion->runs.count ? stmt_if(ctx, conjunction_join(ctx, &promotion->runs), result, NULL, promotion->loop->span) : result;
}

/* --- The pass --- */

static int64_t tile_bytes(const Promotion *promotion)
{
    int64_t bytes = dtype_bytes(promotion->store->as.store.buffer->dtype);
    for (int i = 0; i < promotion->tile_count; i++)
        bytes *= extent_of(promotion, promotion->tile[i]->var);
    return bytes;
}

static const Stmt *promote_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    PromotePass *pass = rewriter->data;
    facts_bind_stmt(pass->an, stmt);
    if (stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_VECTORIZED) /* scratch would be one for each lane */
        return stmt;
    Promotion promotion = {.pass = pass, .loop = stmt};
    bool fits = stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_SERIAL && find_nest(&promotion, stmt) && is_needed(&promotion) &&
                find_loops(&promotion) && map_has(&promotion.other_vars, stmt->as.loop.var) && find_conditions(&promotion) &&
                some_iteration_counts(&promotion) && has_own_elements(&promotion) && updates_elements(&promotion);
    if (!fits)
        return rewrite_stmt_children(rewriter, stmt);
    pass->bytes_left -= tile_bytes(&promotion);
    return promoted(&promotion);
}

const Func *lower_promote(LowerState *state, const Func *func)
{
    PromotePass pass = {.ctx = state->ctx, .an = analyzer_new(state->ctx), .bytes_left = MOST_IN_ALL};
    facts_bind_sizes(pass.an, func);
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = promote_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
