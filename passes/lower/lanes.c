/* Pass "lanes": vectorized loops keep that kind only where their iterations are shown not to depend on one another.

     for v in T.vectorized(8):               for v in range(8):
         A[v + 1] = A[v] + 1         ->          A[v + 1] = A[v] + 1

   Vectors run each statement for all iterations before the next statement. That gives what the iterations in order give if no element that
   one iteration writes is accessed by another one. Shown for each pair of accesses to one memory by linear forms of the indices: in one
   dimension, or in the offset from the data pointer. A store that nothing else of the body meets is in order as it is. Memory that the body
   allocates does not count. A loop that becomes serial gets a warning. Not used: predicates, other than through simplification. Runs before
   flattening, which hides the dimensions. */
#include "ir/fold.h"
#include "ir/linear_sum.h"
#include "print/print.h"
#include "passes/lower/effects.h"
#include "passes/lower/lanes.h"
#include "support/warning.h"

/* An index as step * lane + sum of coefficient * inner loop + symbols + constant. */
typedef struct {
    const Var *var;
    int64_t coefficient;
} InnerTerm;
typedef struct {
    bool known;
    int64_t step, constant;
    VEC(InnerTerm) inner;
    VEC(LinearTerm) symbols; /* what no iteration of the loop changes */
} LaneIndex;

typedef struct {
    const Buffer *buffer;
    const Expr *const *indices;
    const Stmt *store; /* NULL: a load */
    bool in_inner_loop;
    LaneIndex *lanes; /* of each dimension, and last of the offset from the data pointer */
} Access;

typedef struct {
    Context *ctx;
    const ForStmt *loop;
    Analyzer *an;
    const Map *roots; /* see effects.h */
    Subst lets;    /* lets without memory, by value */
    Map unknown;   /* Vars whose value inside the loop is not known */
    Map inner;     /* Var of a loop inside -> const ForStmt * */
    Map private;   /* data Vars allocated inside: each lane has its own */
    int loop_depth;
    VEC(Access) accesses;
} LaneCheck;

static bool collect_from_expr(Visitor *visitor, const Expr *expr)
{
    LaneCheck *check = visitor->data;
    if (expr->kind == EXPR_LOAD)
        vec_push(check->ctx->arena, &check->accesses, ((Access){expr->value.buffer, expr->args, NULL, check->loop_depth > 0, NULL}));
    if (expr->kind == EXPR_LET)
        map_set(check->ctx->arena, &check->unknown, expr->value.var, expr->value.var);
    return true;
}

static bool collect_from_stmt(Visitor *visitor, const Stmt *stmt)
{
    LaneCheck *check = visitor->data;
    Arena *arena = check->ctx->arena;
    facts_bind_stmt(check->an, stmt);
    if (stmt->kind == STMT_FOR) {
        map_set(arena, &check->inner, stmt->as.loop.var, (void *)&stmt->as.loop);
        check->loop_depth++;
    } else if (stmt->kind == STMT_LET && expr_reads_memory(stmt->as.let.value)) {
        map_set(arena, &check->unknown, stmt->as.let.var, stmt->as.let.var);
    } else if (stmt->kind == STMT_LET) {
        subst_var(check->ctx, &check->lets, stmt->as.let.var, subst_expr(check->ctx, &check->lets, stmt->as.let.value));
    } else if (stmt->kind == STMT_ALLOCATE) {
        map_set(arena, &check->private, stmt->as.allocate.var, stmt->as.allocate.var);
    } else if (stmt->kind == STMT_STORE) {
        vec_push(arena, &check->accesses, ((Access){stmt->as.store.buffer, stmt->as.store.indices, stmt, check->loop_depth > 0, NULL}));
    }
    return true;
}

static void leave_loop(Visitor *visitor, const Stmt *stmt)
{
    LaneCheck *check = visitor->data;
    check->loop_depth -= stmt->kind == STMT_FOR;
}

/* The variable that ATOM is, or is the conversion to a wider type of; NULL for other atoms. */
static const Var *atom_var(const Expr *atom)
{
    while (atom->kind == EXPR_CAST && atom->args[0]->dtype.code == DT_INT && atom->dtype.code == DT_INT &&
           atom->dtype.bits >= atom->args[0]->dtype.bits)
        atom = atom->args[0];
    return atom->kind == EXPR_VAR ? atom->value.var : NULL;
}

static LaneIndex lane_index(const LaneCheck *check, const Expr *index)
{
    LaneIndex result = {.known = false};
    LinearSum sum = {0};
    Subst lets = check->lets;
    index = analyzer_simplify(check->an, subst_expr(check->ctx, &lets, index));
    if (!linear_sum_of(check->ctx, index, &sum))
        return result;
    result.constant = sum.constant;
    for (int i = 0; i < sum.terms.count; i++) {
        LinearTerm term = sum.terms.data[i];
        const Var *var = atom_var(term.atom);
        if (var == check->loop->var)
            result.step += term.coefficient;
        else if (var && map_has(&check->inner, var))
            vec_push(check->ctx->arena, &result.inner, ((InnerTerm){var, term.coefficient}));
        else if (expr_reads_memory(term.atom) || expr_uses_var(term.atom, check->loop->var) || expr_uses_any(term.atom, &check->inner) ||
                 expr_uses_any(term.atom, &check->unknown))
            return result;
        else
            vec_push(check->ctx->arena, &result.symbols, term);
    }
    result.known = true;
    return result;
}

static bool same_symbols(const LaneIndex *a, const LaneIndex *b)
{
    if (a->symbols.count != b->symbols.count)
        return false;
    for (int i = 0; i < a->symbols.count; i++) {
        bool found = false;
        for (int k = 0; k < b->symbols.count; k++)
            found |= a->symbols.data[i].coefficient == b->symbols.data[k].coefficient &&
                     expr_equal(a->symbols.data[i].atom, b->symbols.data[k].atom);
        if (!found)
            return false;
    }
    return true;
}

static bool has_term(const LaneIndex *index, InnerTerm term)
{
    for (int i = 0; i < index->inner.count; i++)
        if (index->inner.data[i].var == term.var && index->inner.data[i].coefficient == term.coefficient)
            return true;
    return false;
}

/* What the difference of two indices holds besides step * (lane - lane'): something from lo to hi, and a multiple of large (0: nothing). */
typedef struct {
    int64_t lo, hi, large;
} Difference;

/* Adds SIGN times the terms of INDEX to DIFFERENCE: multiples of STEP and more count as large. A term that OTHER has too differs by its
   reach, once. False when something is not known. */
static bool add_inner_terms(const LaneCheck *check, const LaneIndex *index, const LaneIndex *other, int sign, int64_t step,
                            Difference *difference)
{
    for (int i = 0; i < index->inner.count; i++) {
        InnerTerm term = index->inner.data[i];
        const ForStmt *loop = map_get(&check->inner, term.var);
        int64_t min = 0, extent, size = term.coefficient < 0 ? -term.coefficient : term.coefficient;
        if (term.coefficient == INT64_MIN)
            return false;
        if (expr_is_int(loop->extent, 1) && expr_is_int(loop->min, 0))
            continue;
        if (size >= step) {
            difference->large = integer_gcd(difference->large, size);
            continue;
        }
        bool shared = has_term(other, term);
        if (!expr_const_int(loop->extent, &extent) || (!shared && !expr_const_int(loop->min, &min)) || extent > INT32_MAX ||
            min > INT32_MAX || min < INT32_MIN || size > INT32_MAX)
            return false;
        if (shared && sign < 0)
            continue;
        int64_t first = sign * term.coefficient * min, last = sign * term.coefficient * (min + extent - 1);
        if (shared) {
            last = term.coefficient * (extent - 1);
            first = -last;
        }
        if (__builtin_add_overflow(difference->lo, first < last ? first : last, &difference->lo) ||
            __builtin_add_overflow(difference->hi, first < last ? last : first, &difference->hi))
            return false;
    }
    return true;
}

/* Different lanes of A and B, at any iterations of the loops inside, never meet: step * (lane - lane') + small + large is not 0, as |small|
   < step and |step * (lane - lane')| + |small| is less than every multiple of large. */
static bool lanes_are_disjoint(const LaneCheck *check, const LaneIndex *a, const LaneIndex *b, int64_t lanes)
{
    if (!a->known || !b->known || a->step != b->step || a->step == 0 || a->step == INT64_MIN || !same_symbols(a, b))
        return false;
    int64_t step = a->step < 0 ? -a->step : a->step, constant, reach;
    Difference difference = {0, 0, 0};
    if (__builtin_sub_overflow(a->constant, b->constant, &constant) || __builtin_mul_overflow(step, lanes - 1, &reach))
        return false;
    if (!add_inner_terms(check, a, b, 1, step, &difference) || !add_inner_terms(check, b, a, -1, step, &difference))
        return false;
    if (__builtin_add_overflow(difference.lo, constant, &difference.lo) ||
        __builtin_add_overflow(difference.hi, constant, &difference.hi) || difference.lo == INT64_MIN)
        return false;
    int64_t small = difference.hi > -difference.lo ? difference.hi : -difference.lo;
    if (difference.lo == difference.hi && !difference.large) /* exactly: no lane distance makes up for it */
        return small == 0 || small % step != 0 || small > reach;
    return small < step && (difference.large == 0 || (reach <= INT64_MAX - small && reach + small < difference.large));
}

static bool same_memory(const LaneCheck *check, const Access *a, const Access *b)
{
    return effects_root(check->roots, a->buffer->data) == effects_root(check->roots, b->buffer->data);
}

/* One store that no other access of the body meets: the lanes are written in order, as the iterations are, unless a loop inside repeats
   it. */
static bool is_lone_scatter(const LaneCheck *check, int at)
{
    const Access *access = &check->accesses.data[at];
    if (!access->store || access->in_inner_loop)
        return false;
    for (int i = 0; i < check->accesses.count; i++)
        if (i != at && same_memory(check, &check->accesses.data[i], access))
            return false;
    return true;
}

typedef struct {
    const LaneCheck *check;
    bool varies;
} ValueCheck;

/* Reads of memory that the body writes vary, and so do the reads at varying places. */
static bool check_value_part(Visitor *visitor, const Expr *expr)
{
    ValueCheck *value = visitor->data;
    const LaneCheck *check = value->check;
    if (expr->kind == EXPR_VAR)
        value->varies |= expr->value.var == check->loop->var || map_has(&check->unknown, expr->value.var);
    for (int i = 0; expr->kind == EXPR_LOAD && i < check->accesses.count; i++) {
        const Access *other = &check->accesses.data[i];
        const Var *written = effects_root(check->roots, other->buffer->data);
        value->varies |= other->store && written == effects_root(check->roots, expr->value.buffer->data);
    }
    return !value->varies;
}

/* A lone store to one element needs one value; a store to an index that is not known to be one element is a scatter. */
static bool writes_one_value(const LaneCheck *check, const Access *access)
{
    const LaneIndex *offset = &access->lanes[access->buffer->ndim];
    if (!offset->known || offset->step != 0)
        return true;
    ValueCheck value = {check, false};
    Subst lets = check->lets;
    Visitor visitor = {.expr = check_value_part, .data = &value};
    visit_expr(&visitor, subst_expr(check->ctx, &lets, access->store->as.store.value));
    return !value.varies;
}

/* Different lanes never meet at A and B, accesses to one memory. */
static bool accesses_are_disjoint(const LaneCheck *check, const Access *a, const Access *b)
{
    int64_t lanes = check->loop->extent->value.integer;
    const Buffer *first = a->buffer, *second = b->buffer;
    if (first->data != second->data || !dtype_equal(first->dtype, second->dtype))
        return false;
    for (int d = 0; first == second && !first->strides && d < first->ndim; d++)
        if (lanes_are_disjoint(check, &a->lanes[d], &b->lanes[d], lanes))
            return true;
    return lanes_are_disjoint(check, &a->lanes[first->ndim], &b->lanes[second->ndim], lanes);
}

static void find_lane_indices(LaneCheck *check)
{
    for (int i = 0; i < check->accesses.count; i++) {
        Access *access = &check->accesses.data[i];
        int ndim = access->buffer->ndim;
        access->lanes = ARENA_ARRAY(check->ctx->arena, LaneIndex, ndim + 1);
        for (int d = 0; d < ndim; d++)
            access->lanes[d] = lane_index(check, access->indices[d]);
        access->lanes[ndim] = lane_index(check, buffer_linear_offset(check->ctx, access->buffer, access->indices));
    }
}

/* An access that another iteration may meet, at least one of the two a store; NULL where there is none. */
static const Access *find_conflict(const LaneCheck *check)
{
    for (int i = 0; i < check->accesses.count; i++) {
        const Access *write = &check->accesses.data[i];
        if (!write->store || map_has(&check->private, write->buffer->data))
            continue;
        if (is_lone_scatter(check, i)) {
            if (!writes_one_value(check, write))
                return write;
            continue;
        }
        for (int k = 0; k < check->accesses.count; k++)
            if (same_memory(check, &check->accesses.data[k], write) && !accesses_are_disjoint(check, write, &check->accesses.data[k]))
                return write;
    }
    return NULL;
}

/* --- The pass --- */
typedef struct {
    Map roots;
    Analyzer *an;
} LanesPass;

static const Access *conflict_in(LaneCheck *check)
{
    Visitor visitor = {.expr = collect_from_expr, .stmt = collect_from_stmt, .leave_stmt = leave_loop, .data = check};
    visit_stmt(&visitor, check->loop->body);
    find_lane_indices(check);
    return find_conflict(check);
}

bool lanes_are_independent(Context *ctx, Analyzer *an, const Map *roots, const Stmt *loop)
{
    LaneCheck check = {.ctx = ctx, .loop = &loop->as.loop, .an = an, .roots = roots};
    return !conflict_in(&check);
}

static const Stmt *check_loop(Context *ctx, const LanesPass *pass, const Stmt *stmt)
{
    LaneCheck check = {.ctx = ctx, .loop = &stmt->as.loop, .an = pass->an, .roots = &pass->roots};
    const Access *conflict = conflict_in(&check);
    if (!conflict)
        return stmt;
    const Expr *element = expr_load(ctx, (Buffer *)conflict->buffer, conflict->indices, conflict->buffer->ndim, NULL, span_none());
    diag_warning(ctx, WARNING_SERIAL_LOOP, stmt->span,
                 "the vectorized loop '%s' runs serially: its iterations are not shown to be independent, as they may meet at %s",
                 stmt->as.loop.var->name, print_expr(ctx, element));
    ForStmt loop = stmt->as.loop;
    loop.kind = FOR_SERIAL;
    return stmt_for(ctx, loop, stmt->span);
}

static const Stmt *lanes_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    LanesPass *pass = rewriter->data;
    facts_bind_stmt(pass->an, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    bool vectors = result->kind == STMT_FOR && result->as.loop.kind == FOR_VECTORIZED && result->as.loop.extent->kind == EXPR_INT &&
                   result->as.loop.extent->value.integer > 1;
    return vectors ? check_loop(rewriter->ctx, pass, result) : result;
}

const Func *lower_lanes(LowerState *state, const Func *func)
{
    LanesPass pass = {.an = analyzer_new(state->ctx)};
    facts_bind_sizes(pass.an, func);
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = lanes_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
