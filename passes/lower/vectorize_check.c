/* What may become vectors: the form of a loop body, and that its iterations do not depend on their order. See vectorize.h. */
#include "ir/linear_sum.h"
#include "ir/print.h"
#include "passes/lower/effects.h"
#include "passes/lower/vectorize.h"

/* --- Form --- */
typedef struct {
    Context *ctx;
    const ForStmt *loop;
    const char *obstacle;
    const Expr *call;
    Map varying; /* the loop variable and lets that may depend on it */
} FormCheck;

static void obstruct(FormCheck *check, const char *why)
{
    if (!check->obstacle)
        check->obstacle = why;
}

static bool is_elementwise(Op op)
{
    static const Op others[] = {OP_CALL_PURE_EXTERN, OP_CALL_LLVM_PURE_INTRIN, OP_LLVM_LOOKUP_INTRINSIC_ID, OP_TVM_ACCESS_PTR, OP_ADDRESS_OF, OP_TYPE_ANNOTATION, OP_ISNULLPTR,
                                OP_BUFFER_DATA, OP_TVM_TUPLE, OP_COMM_REDUCER, OP_VSCALE, OP_GET_ACTIVE_LANE_MASK};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (op == others[i])
            return false;
    return op_info(op)->effect == EFFECT_PURE;
}

static bool check_form_of_expr(Visitor *visitor, const Expr *expr)
{
    FormCheck *check = visitor->data;
    if (expr->dtype.lanes > 1 || expr->predicated)
        obstruct(check, "it holds vectors already");
    if (expr->kind == EXPR_SHUFFLE)
        obstruct(check, "it shuffles vectors");
    if (expr->kind == EXPR_LET)
        map_set(check->ctx->arena, &check->varying, expr->value.var, expr->value.var);
    if (expr->kind == EXPR_CALL && op_info(expr->value.op)->effect == EFFECT_OPAQUE && !check->call)
        check->call = expr;
    if (expr->kind == EXPR_CALL && !is_elementwise(expr->value.op))
        obstruct(check, arena_printf(check->ctx->arena, "T.%s is no elementwise operation", op_info(expr->value.op)->name));
    return true;
}

static bool varies(const FormCheck *check, const Expr *expr)
{
    return expr_uses_any(expr, &check->varying) || expr_reads_memory(expr);
}

static bool check_form_of_stmt(Visitor *visitor, const Stmt *stmt)
{
    FormCheck *check = visitor->data;
    switch (stmt->kind) {
    case STMT_WHILE: obstruct(check, "it holds a while loop"); break;
    case STMT_ASSERT: obstruct(check, "it holds an assert"); break;
    case STMT_FOR:
        if (stmt->as.loop.kind != FOR_SERIAL && stmt->as.loop.kind != FOR_UNROLLED)
            obstruct(check, "it holds a loop that is not serial");
        if (varies(check, stmt->as.loop.min) || varies(check, stmt->as.loop.extent))
            obstruct(check, "it holds a loop whose bounds vary");
        break;
    case STMT_LET:
        if (stmt->as.let.var->dtype.code == DT_HANDLE)
            obstruct(check, "it names a pointer");
        map_set(check->ctx->arena, &check->varying, stmt->as.let.var, stmt->as.let.var);
        break;
    case STMT_STORE:
        if (stmt->as.store.mask)
            obstruct(check, "it holds a store under a mask");
        break;
    case STMT_ALLOCATE:
        if (varies(check, stmt->as.allocate.extents[0]))
            obstruct(check, "it allocates memory of varying size");
        if (stmt_uses_var(stmt->as.allocate.body, stmt->as.allocate.var))
            obstruct(check, "it uses the address of memory that it allocates");
        break;
    default: break;
    }
    return true;
}

const char *vectorize_obstacle(Context *ctx, const ForStmt *loop, const Expr **call)
{
    FormCheck check = {.ctx = ctx, .loop = loop};
    map_set(ctx->arena, &check.varying, loop->var, loop->var);
    if (expr_reads_memory(loop->min))
        obstruct(&check, "its first iteration is read from memory");
    Visitor visitor = {.expr = check_form_of_expr, .stmt = check_form_of_stmt, .data = &check};
    visit_stmt(&visitor, loop->body);
    *call = check.call;
    return check.obstacle;
}

/* --- Order --- */
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
    const Expr *index;
    const Stmt *store; /* NULL: a load */
    bool in_inner_loop;
} Access;

typedef struct {
    Context *ctx;
    const ForStmt *loop;
    const Map *roots; /* see effects.h */
    Subst lets;    /* lets without memory, by value */
    Map unknown;   /* Vars whose value inside the loop is not known */
    Map inner;     /* Var of a loop inside -> its extent, const Expr * */
    Map private;   /* data Vars allocated inside: each lane has its own */
    int loop_depth;
    VEC(Access) accesses;
} OrderCheck;

static bool collect_from_expr(Visitor *visitor, const Expr *expr)
{
    OrderCheck *check = visitor->data;
    if (expr->kind == EXPR_LOAD)
        vec_push(check->ctx->arena, &check->accesses, ((Access){expr->value.buffer, expr->args[0], NULL, check->loop_depth > 0}));
    if (expr->kind == EXPR_LET)
        map_set(check->ctx->arena, &check->unknown, expr->value.var, expr->value.var);
    return true;
}

static bool collect_from_stmt(Visitor *visitor, const Stmt *stmt)
{
    OrderCheck *check = visitor->data;
    Arena *arena = check->ctx->arena;
    if (stmt->kind == STMT_FOR) {
        map_set(arena, &check->inner, stmt->as.loop.var, (void *)stmt->as.loop.extent);
        check->loop_depth++;
    } else if (stmt->kind == STMT_LET && expr_reads_memory(stmt->as.let.value)) {
        map_set(arena, &check->unknown, stmt->as.let.var, stmt->as.let.var);
    } else if (stmt->kind == STMT_LET) {
        subst_var(check->ctx, &check->lets, stmt->as.let.var, subst_expr(check->ctx, &check->lets, stmt->as.let.value));
    } else if (stmt->kind == STMT_ALLOCATE) {
        map_set(arena, &check->private, stmt->as.allocate.var, stmt->as.allocate.var);
    } else if (stmt->kind == STMT_STORE) {
        vec_push(arena, &check->accesses, ((Access){stmt->as.store.buffer, stmt->as.store.indices[0], stmt, check->loop_depth > 0}));
    }
    return true;
}

static void leave_loop(Visitor *visitor, const Stmt *stmt)
{
    OrderCheck *check = visitor->data;
    check->loop_depth -= stmt->kind == STMT_FOR;
}

/* The variable that ATOM is, or is the conversion to a wider type of; NULL for other atoms. */
static const Var *atom_var(const Expr *atom)
{
    while (atom->kind == EXPR_CAST && atom->args[0]->dtype.code == DT_INT && atom->dtype.code == DT_INT && atom->dtype.bits >= atom->args[0]->dtype.bits)
        atom = atom->args[0];
    return atom->kind == EXPR_VAR ? atom->value.var : NULL;
}

static LaneIndex lane_index(const OrderCheck *check, const Expr *index)
{
    LaneIndex result = {.known = false};
    LinearSum sum = {0};
    Subst lets = check->lets;
    index = subst_expr(check->ctx, &lets, index);
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
        else if (expr_reads_memory(term.atom) || expr_uses_var(term.atom, check->loop->var) || expr_uses_any(term.atom, &check->inner) || expr_uses_any(term.atom, &check->unknown))
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
            found |= a->symbols.data[i].coefficient == b->symbols.data[k].coefficient && expr_equal(a->symbols.data[i].atom, b->symbols.data[k].atom);
        if (!found)
            return false;
    }
    return true;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool has_term(const LaneIndex *index, InnerTerm term)
{
    for (int i = 0; i < index->inner.count; i++)
        if (index->inner.data[i].var == term.var && index->inner.data[i].coefficient == term.coefficient)
            return true;
    return false;
}

/* The terms of A over inner loops in the difference of A and B: those below STEP, which must be in B as well, add to *SMALL how far they reach, the others go into *LARGE, a
   common divisor of all of them. False when that is not known or too large. */
static bool add_inner_terms(const OrderCheck *check, const LaneIndex *a, const LaneIndex *b, int64_t step, int64_t *small, int64_t *large)
{
    for (int i = 0; i < a->inner.count; i++) {
        InnerTerm term = a->inner.data[i];
        int64_t extent, reach;
        if (term.coefficient == INT64_MIN)
            return false;
        int64_t size = term.coefficient < 0 ? -term.coefficient : term.coefficient;
        if (size >= step)
            *large = gcd(*large, size);
        else if (!has_term(b, term) || !expr_const_int(map_get(&check->inner, term.var), &extent) || __builtin_mul_overflow(size, extent - 1, &reach) ||
                 __builtin_add_overflow(*small, reach, small))
            return false;
    }
    return true;
}

/* Different lanes of A and B, at any iterations of the loops inside, never meet: the difference step * (lane - lane') + small + large is not 0, as |small| < step and step * lanes + small
   stays below every multiple of large. */
static bool lanes_are_disjoint(const OrderCheck *check, const LaneIndex *a, const LaneIndex *b, int64_t lanes)
{
    if (!a->known || !b->known || a->step != b->step || a->step == 0 || a->step == INT64_MIN || !same_symbols(a, b))
        return false;
    int64_t step = a->step < 0 ? -a->step : a->step, difference, reach, small = 0, large = 0;
    if (__builtin_sub_overflow(a->constant, b->constant, &difference) || difference == INT64_MIN)
        return false;
    int64_t same = 0; /* each small term of B is one of A */
    if (!add_inner_terms(check, a, b, step, &small, &large) || !add_inner_terms(check, b, a, step, &same, &large))
        return false;
    if (__builtin_mul_overflow(step, lanes - 1, &reach))
        return false;
    difference = difference < 0 ? -difference : difference;
    if (!a->inner.count && !b->inner.count) /* exactly: step * d == difference for no 0 < d < lanes */
        return difference == 0 || difference % step != 0 || difference > reach;
    return !__builtin_add_overflow(small, difference, &small) && small < step && (large == 0 || (reach <= INT64_MAX - small && reach + small < large));
}

static bool same_memory(const OrderCheck *check, const Access *a, const Access *b)
{
    return effects_root(check->roots, a->buffer->data) == effects_root(check->roots, b->buffer->data);
}

/* One store that no other access of the body meets: the lanes are written in order, as the iterations are, unless a loop inside repeats it. */
static bool is_lone_scatter(const OrderCheck *check, int at)
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
    const OrderCheck *check;
    bool varies;
} ValueCheck;

/* Reads of memory that the body writes vary, and so do the reads at varying places. */
static bool check_value_part(Visitor *visitor, const Expr *expr)
{
    ValueCheck *value = visitor->data;
    const OrderCheck *check = value->check;
    if (expr->kind == EXPR_VAR)
        value->varies |= expr->value.var == check->loop->var || map_has(&check->unknown, expr->value.var);
    for (int i = 0; expr->kind == EXPR_LOAD && i < check->accesses.count; i++) {
        const Buffer *other = check->accesses.data[i].buffer;
        value->varies |= check->accesses.data[i].store && effects_root(check->roots, other->data) == effects_root(check->roots, expr->value.buffer->data);
    }
    return !value->varies;
}

/* A lone store to one element needs one value; a store to an index that is not known to be one element is a scatter. */
static bool writes_one_value(const OrderCheck *check, const Access *access, const LaneIndex *index)
{
    if (!index->known || index->step != 0)
        return true;
    ValueCheck value = {check, false};
    Subst lets = check->lets;
    Visitor visitor = {.expr = check_value_part, .data = &value};
    visit_expr(&visitor, subst_expr(check->ctx, &lets, access->store->as.store.value));
    return !value.varies;
}

static const char *conflict_text(const OrderCheck *check, const Access *access)
{
    return arena_printf(check->ctx->arena, "its iterations are not shown to be independent: they may meet at %s[%s]", access->buffer->name, print_expr(check->ctx, access->index));
}

const char *vectorize_conflict(Context *ctx, const ForStmt *loop, const Map *roots)
{
    OrderCheck check = {.ctx = ctx, .loop = loop, .roots = roots};
    Visitor visitor = {.expr = collect_from_expr, .stmt = collect_from_stmt, .leave_stmt = leave_loop, .data = &check};
    visit_stmt(&visitor, loop->body);
    int64_t lanes = loop->extent->value.integer;
    LaneIndex *indices = ARENA_ARRAY(ctx->arena, LaneIndex, check.accesses.count);
    for (int i = 0; i < check.accesses.count; i++)
        indices[i] = lane_index(&check, check.accesses.data[i].index);
    for (int i = 0; i < check.accesses.count; i++) {
        const Access *write = &check.accesses.data[i];
        if (!write->store || map_has(&check.private, write->buffer->data))
            continue;
        if (is_lone_scatter(&check, i)) {
            if (!writes_one_value(&check, write, &indices[i]))
                return conflict_text(&check, write);
            continue;
        }
        for (int k = 0; k < check.accesses.count; k++) {
            const Access *other = &check.accesses.data[k];
            if (!same_memory(&check, other, write))
                continue;
            if (other->buffer->data != write->buffer->data || !dtype_equal(other->buffer->dtype, write->buffer->dtype) || !lanes_are_disjoint(&check, &indices[i], &indices[k], lanes))
                return conflict_text(&check, write);
        }
    }
    return NULL;
}
