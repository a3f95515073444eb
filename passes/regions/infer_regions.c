/* See infer_regions.h. A walk over the block's init and body that keeps what the loop variables run over. Blocks inside are not entered.
   Not handled: conditions that relate several variables (they do not narrow), and pointers that were stored in other variables. */
#include "passes/regions/infer_regions.h"

#include "ir/elements.h"
#include "ir/fold.h"
#include "ir/interval.h"
#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "ir/wrap.h"

enum { LARGEST_LET = 200 }; /* nodes of a let's value that are still put in its place */

/* What is accessed of one buffer. */
typedef struct {
    Buffer *buffer;
    Interval *dims;
    bool united; /* of several accesses: DIMS are simplified */
} Access;

typedef struct {
    VEC(Access) list;
} AccessList;

typedef struct {
    Visitor visitor;
    Context *ctx;
    const BlockStmt *block;
    const Map *buffers;
    Map locals; /* data variables of memory that lives inside the block only */
    Map declared; /* buffers that are declared inside over memory with other names */
    Map views;  /* match_buffer target's data variable -> const MatchBuffer * */
    IntervalScope scope;
    AccessList reads, writes;
    const Expr *opaque;
} Inference;

/* --- collecting accesses --- */

static Range whole_dim(Context *ctx, const Buffer *buffer, int dim)
{
    DType dtype = dtype_scalar(buffer->shape[dim]->dtype);
    return (Range){expr_int(ctx, dtype, 0), buffer->shape[dim]};
}

static void add_access(Inference *inference, AccessList *list, Buffer *buffer, const Interval *dims);
static void add_whole(Inference *inference, AccessList *list, Buffer *buffer);

/* An access of a match_buffer view, in terms of its source: the view's dimensions are the last of the source's, the others are points of
   the region. */
static void add_view_access(Inference *inference, AccessList *list, const MatchBuffer *match, const Interval *dims)
{
    Context *ctx = inference->ctx;
    const Region *source = &match->source;
    int extra = source->buffer->ndim - match->target->ndim;
    Interval *mapped = ARENA_ARRAY(ctx->arena, Interval, source->buffer->ndim);
    for (int i = 0; i < source->buffer->ndim; i++) {
        const Expr *origin = source->ranges[i].min;
        if (extra < 0 || i < extra) {
            mapped[i] = interval_of_range(ctx, source->ranges[i]);
            continue;
        }
        Interval dim = dims[i - extra];
        if (!interval_is_known(dim))
            dim = interval_of_range(ctx, whole_dim(ctx, match->target, i - extra));
        mapped[i] = (Interval){linear_simplify(ctx, op_add(ctx, origin, dim.min)), linear_simplify(ctx, op_add(ctx, origin, dim.max))};
    }
    add_access(inference, list, source->buffer, mapped);
}

static void add_access(Inference *inference, AccessList *list, Buffer *buffer, const Interval *dims)
{
    Context *ctx = inference->ctx;
    if (map_has(&inference->locals, buffer->data))
        return;
    Buffer *root = map_has(&inference->declared, buffer) ? map_get(inference->buffers, buffer->data) : NULL;
    if (root && root != buffer) { /* declared inside over memory that is there: how its elements lie in that is not looked at */
        add_whole(inference, list, root);
        return;
    }
    const MatchBuffer *view = map_get(&inference->views, buffer->data);
    if (view && view->target == buffer) {
        add_view_access(inference, list, view, dims);
        return;
    }
    for (int i = 0; i < list->list.count; i++) {
        Access *access = &list->list.data[i];
        if (access->buffer != buffer)
            continue;
        for (int j = 0; j < buffer->ndim; j++)
            access->dims[j] = access->united ? interval_extend(ctx, access->dims[j], dims[j]) : interval_union(ctx, access->dims[j], dims[j]);
        access->united = true;
        return;
    }
    Access access = {buffer, arena_copy(ctx->arena, dims, sizeof *dims * (size_t)buffer->ndim), false};
    vec_push(ctx->arena, &list->list, access);
}

static void add_element(Inference *inference, AccessList *list, Buffer *buffer, const Expr *const *indices)
{
    Context *ctx = inference->ctx;
    Interval *dims = ARENA_ARRAY(ctx->arena, Interval, buffer->ndim);
    Range *rows = ARENA_ARRAY(ctx->arena, Range, buffer->ndim);
    LanesReach reach = lanes_reach(ctx, buffer, indices, rows);
    if (reach == LANES_ANYWHERE) {
        add_whole(inference, list, buffer);
        return;
    }
    for (int i = 0; i < buffer->ndim; i++) {
        const Expr *index = indices[i];
        int64_t count;
        if (reach == LANES_OF_ROWS && expr_const_int(rows[i].extent, &count))
            index = count > 1 ? expr_ramp(ctx, rows[i].min, expr_int(ctx, rows[i].min->dtype, 1), (int)count) : rows[i].min;
        dims[i] = interval_of_expr(ctx, &inference->scope, index);
    }
    add_access(inference, list, buffer, dims);
}

static void add_whole(Inference *inference, AccessList *list, Buffer *buffer)
{
    Interval *dims = ARENA_ARRAY(inference->ctx->arena, Interval, buffer->ndim);
    for (int i = 0; i < buffer->ndim; i++)
        dims[i] = interval_of_range(inference->ctx, whole_dim(inference->ctx, buffer, i));
    add_access(inference, list, buffer, dims);
}

/* --- conditions --- */

typedef struct {
    const Var *var;
    Interval old, narrowed;
} Narrowing;
typedef struct {
    VEC(Narrowing) list;
    bool useless; /* a comparison involves a variable that the block does not relax */
} Condition;

static bool is_relaxed(const Inference *inference, const Expr *expr)
{
    return expr->kind == EXPR_VAR && map_get(&inference->scope.domains, expr->value.var);
}

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return -floor_divide(-a, b);
}

/* Keeps only the values of VAR with COEFFICIENT * VAR + CONSTANT >= 0. */
static void narrow_var(Inference *inference, Condition *condition, const Expr *var, int64_t coefficient, int64_t constant)
{
    Context *ctx = inference->ctx;
    const Interval *domain = map_get(&inference->scope.domains, var->value.var);
    if (!interval_is_known(*domain) || constant == INT64_MIN || coefficient == INT64_MIN)
        return;
    int64_t bound = coefficient > 0 ? ceil_divide(-constant, coefficient) : floor_divide(constant, -coefficient);
    if (!dtype_holds(var->dtype, bound))
        return;
    const Expr *limit = expr_int(ctx, var->dtype, bound);
    Interval allowed =
        coefficient > 0 ? (Interval){limit, op_max(ctx, limit, domain->max)} : (Interval){op_min(ctx, limit, domain->min), limit};
    Narrowing narrowing = {var->value.var, *domain, interval_intersect(ctx, *domain, allowed)};
    vec_push(ctx->arena, &condition->list, narrowing);
    interval_set(ctx, &inference->scope, var->value.var, &narrowing.narrowed);
}

/* The condition COEFFICIENT * (VAR // DIVISOR) + CONSTANT >= 0 as one on VAR. */
static void narrow_quotient(Inference *inference, Condition *condition, const Expr *quotient, int64_t coefficient, int64_t constant)
{
    int64_t divisor, bound, product;
    if (!expr_const_int(quotient->args[1], &divisor) || divisor <= 0 || constant == INT64_MIN || coefficient == INT64_MIN)
        return;
    bound = coefficient > 0 ? ceil_divide(-constant, coefficient) : floor_divide(constant, -coefficient) + 1;
    if (__builtin_mul_overflow(bound, divisor, &product) || product == INT64_MIN)
        return;
    if (coefficient > 0)
        narrow_var(inference, condition, quotient->args[0], 1, -product);
    else
        narrow_var(inference, condition, quotient->args[0], -1, product - 1);
}

/* A - B - SLACK >= 0. */
static void narrow_at_least(Inference *inference, Condition *condition, const Expr *a, const Expr *b, int64_t slack)
{
    LinearSum sum;
    const Expr *difference = op_sub(inference->ctx, a, b);
    int64_t constant;
    if (!linear_sum_of(inference->ctx, difference, &sum) || __builtin_sub_overflow(sum.constant, slack, &constant) || sum.terms.count != 1)
        return;
    const Expr *atom = sum.terms.data[0].atom;
    if (is_relaxed(inference, atom))
        narrow_var(inference, condition, atom, sum.terms.data[0].coefficient, constant);
    else if (atom->kind == EXPR_FLOORDIV && is_relaxed(inference, atom->args[0]))
        narrow_quotient(inference, condition, atom, sum.terms.data[0].coefficient, constant);
}

static bool has_fixed_var(const Inference *inference, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        return !is_relaxed(inference, expr);
    for (int i = 0; i < expr->arg_count; i++)
        if (has_fixed_var(inference, expr->args[i]))
            return true;
    return false;
}

static void narrow_comparison(Inference *inference, Condition *condition, ExprKind kind, const Expr *a, const Expr *b)
{
    if (!dtype_is_index(a->dtype) || a->dtype.lanes != 1 || kind == EXPR_NE)
        return;
    if (has_fixed_var(inference, a) || has_fixed_var(inference, b)) {
        condition->useless = true;
        return;
    }
    bool strict = kind == EXPR_LT || kind == EXPR_GT;
    if (kind != EXPR_LT && kind != EXPR_LE)
        narrow_at_least(inference, condition, a, b, strict);
    if (kind != EXPR_GT && kind != EXPR_GE)
        narrow_at_least(inference, condition, b, a, strict);
}

/* Narrows the loop variables to where EXPR is HOLDS. */
static void narrow(Inference *inference, Condition *condition, const Expr *expr, bool holds)
{
    if (expr->kind == EXPR_NOT)
        narrow(inference, condition, expr->args[0], !holds);
    else if (expr_is_call(expr, OP_LIKELY))
        narrow(inference, condition, expr->args[0], holds);
    else if (expr->kind == (holds ? EXPR_AND : EXPR_OR))
        for (int i = 0; i < 2; i++)
            narrow(inference, condition, expr->args[i], holds);
    else if (expr_is_compare(expr))
        narrow_comparison(inference, condition, holds ? (ExprKind)expr->kind : expr_opposite_compare((ExprKind)expr->kind), expr->args[0],
                          expr->args[1]);
}

/* Undoes narrowings in reverse. */
static void widen(Inference *inference, const Condition *condition)
{
    for (int i = condition->list.count - 1; i >= 0; i--)
        interval_set(inference->ctx, &inference->scope, condition->list.data[i].var, &condition->list.data[i].old);
}

static bool find_bound(const void *data, const Var *var, WrapBound *bound)
{
    const IntervalScope *scope = data;
    const Interval *domain = map_get(&scope->domains, var);
    if (!domain || !interval_is_known(*domain))
        return false;
    const IntervalScope none = {.domains = {0}};
    WrapScope fixed = {find_bound, &none}; /* the ends are in terms of what is fixed */
    *bound = (WrapBound){wrap_bound(&fixed, domain->min).min, wrap_bound(&fixed, domain->max).max};
    return true;
}

static Condition enter_condition(Inference *inference, const Expr *expr, bool holds)
{
    WrapScope scope = {find_bound, &inference->scope};
    Condition condition = {0};
    narrow(inference, &condition, wrap_explicitly(inference->ctx, &scope, expr), holds);
    if (condition.useless) {
        widen(inference, &condition);
        condition.list.count = 0;
    }
    return condition;
}

/* --- the walk --- */

/* The call makes a pointer to DATA with a known access mask. */
static bool visit_access_ptr(Inference *inference, const Expr *call)
{
    int64_t mask;
    const Expr *data = call->args[1];
    if (data->kind != EXPR_VAR || !expr_const_int(call->args[4], &mask) || (mask & 3) == 0)
        return true;
    Buffer *buffer = map_get(inference->buffers, data->value.var);
    if (buffer && (mask & 1))
        add_whole(inference, &inference->reads, buffer);
    if (buffer && (mask & 2))
        add_whole(inference, &inference->writes, buffer);
    visit_expr(&inference->visitor, call->args[2]);
    visit_expr(&inference->visitor, call->args[3]);
    return false;
}

static bool visit_choice(Inference *inference, const Expr *call)
{
    visit_expr(&inference->visitor, call->args[0]);
    for (int i = 1; i < 3; i++) {
        Condition condition = enter_condition(inference, call->args[0], i == 1);
        visit_expr(&inference->visitor, call->args[i]);
        widen(inference, &condition);
    }
    return false;
}

static void note_opaque(Inference *inference, const Var *data, const Expr *use)
{
    if (!inference->opaque && map_has(inference->buffers, data) && !map_has(&inference->locals, data))
        inference->opaque = use;
}

static bool infer_expr(Visitor *visitor, const Expr *expr)
{
    Inference *inference = visitor->data;
    if (expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE)
        note_opaque(inference, expr->value.var, expr);
    if (expr->kind == EXPR_LOAD)
        add_element(inference, &inference->reads, expr->value.buffer, expr->args);
    if (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD)
        note_opaque(inference, expr->args[0]->value.buffer->data, expr);
    if (expr_is_call(expr, OP_TVM_ACCESS_PTR))
        return visit_access_ptr(inference, expr);
    if (expr_is_call(expr, OP_IF_THEN_ELSE))
        return visit_choice(inference, expr);
    return true;
}

static bool visit_let(Inference *inference, const Stmt *stmt)
{
    const Var *var = stmt->as.let.var;
    Interval value = interval_everything();
    if (dtype_is_integer(var->dtype) && var->dtype.lanes == 1)
        value = interval_of_expr(inference->ctx, &inference->scope, stmt->as.let.value);
    if (interval_is_known(value) && expr_size(value.min, LARGEST_LET) + expr_size(value.max, LARGEST_LET) >= LARGEST_LET)
        value = interval_everything();
    interval_set(inference->ctx, &inference->scope, var, &value);
    visit_stmt(&inference->visitor, stmt->as.let.body);
    return false;
}

static bool visit_for(Inference *inference, const ForStmt *loop)
{
    Interval domain = interval_of_range(inference->ctx, (Range){loop->min, loop->extent});
    /* Loops inside loops: the domain itself may vary with an outer loop's variable. */
    Interval low = interval_of_expr(inference->ctx, &inference->scope, domain.min);
    Interval high = interval_of_expr(inference->ctx, &inference->scope, domain.max);
    Interval relaxed = {low.min, high.max};
    if (!interval_is_known(low) || !interval_is_known(high))
        relaxed = interval_everything();
    interval_set(inference->ctx, &inference->scope, loop->var, &relaxed);
    visit_stmt(&inference->visitor, loop->body);
    interval_set(inference->ctx, &inference->scope, loop->var, NULL);
    return false;
}

static bool visit_if(Inference *inference, const Stmt *stmt)
{
    const Expr *test = stmt->as.branch.condition;
    Condition condition = enter_condition(inference, test, true);
    visit_stmt(&inference->visitor, stmt->as.branch.then_body);
    widen(inference, &condition);
    if (!stmt->as.branch.else_body)
        return false;
    condition = enter_condition(inference, test, false);
    visit_stmt(&inference->visitor, stmt->as.branch.else_body);
    widen(inference, &condition);
    return false;
}

/* The regions of a block inside, relaxed over its iterators' values. */
static void add_inner_regions(Inference *inference, AccessList *list, const BlockStmt *block, const Region *regions, int count)
{
    Context *ctx = inference->ctx;
    Subst bindings = {0};
    for (int i = 0; i < block->iter_count; i++)
        subst_var(ctx, &bindings, block->iters[i].var, block->bindings[i]);
    for (int i = 0; i < count; i++) {
        Region region = subst_region(ctx, &bindings, regions[i]);
        Interval *dims = ARENA_ARRAY(ctx->arena, Interval, region.buffer->ndim);
        for (int j = 0; j < region.buffer->ndim; j++) {
            Interval range = interval_of_range(ctx, region.ranges[j]);
            Interval low = interval_of_expr(ctx, &inference->scope, range.min);
            Interval high = range.min == range.max ? low : interval_of_expr(ctx, &inference->scope, range.max);
            bool known = interval_is_known(low) && interval_is_known(high);
            dims[j] = known ? (Interval){low.min, high.max} : interval_everything();
        }
        add_access(inference, list, region.buffer, dims);
    }
}

/* What a block inside reads to find its axes, where its predicate holds, and its buffers. */
static void visit_entry(Inference *inference, const BlockStmt *block)
{
    const Stmt stmt = {.kind = STMT_BLOCK, .as.block = *block};
    Condition condition = enter_condition(inference, block->predicate, true);
    visit_stmt_exprs(&inference->visitor, &stmt, MOMENT_BOUND);
    for (int i = 0; i < block->iter_count; i++) {
        Interval value = interval_of_expr(inference->ctx, &inference->scope, block->bindings[i]);
        interval_set(inference->ctx, &inference->scope, block->iters[i].var, &value);
    }
    for (int i = 0; i < block->match_count; i++)
        map_set(inference->ctx->arena, &inference->views, block->matches[i].target->data, &block->matches[i]);
    visit_stmt_exprs(&inference->visitor, &stmt, MOMENT_INSIDE);
    for (int i = 0; i < block->iter_count; i++)
        interval_set(inference->ctx, &inference->scope, block->iters[i].var, NULL);
    widen(inference, &condition);
}

static bool visit_block(Inference *inference, const BlockStmt *block)
{
    for (int i = 0; i < block->alloc_count; i++)
        map_set(inference->ctx->arena, &inference->locals, block->allocs[i]->data, block->allocs[i]);
    visit_entry(inference, block);
    add_inner_regions(inference, &inference->reads, block, block->reads, block->read_count);
    add_inner_regions(inference, &inference->writes, block, block->writes, block->write_count);
    return false;
}

static bool infer_stmt(Visitor *visitor, const Stmt *stmt)
{
    Inference *inference = visitor->data;
    visit_stmt_exprs(visitor, stmt, MOMENT_ENTRY);
    switch (stmt->kind) {
    case STMT_FOR: return visit_for(inference, &stmt->as.loop);
    case STMT_IF: return visit_if(inference, stmt);
    case STMT_LET: return visit_let(inference, stmt);
    case STMT_BLOCK: return visit_block(inference, &stmt->as.block);
    case STMT_STORE: add_element(inference, &inference->writes, stmt->as.store.buffer, stmt->as.store.indices); return false;
    case STMT_ALLOCATE: map_set(inference->ctx->arena, &inference->locals, stmt->as.allocate.var, stmt->as.allocate.var); break;
    case STMT_ALLOCATE_CONST:
        map_set(inference->ctx->arena, &inference->locals, stmt->as.allocate_const.var, stmt->as.allocate_const.var);
        break;
    case STMT_DECL_BUFFER:
        map_set(inference->ctx->arena, &inference->declared, stmt->as.declare.buffer, stmt->as.declare.buffer);
        break;
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++)
            visit_stmt(visitor, stmt->as.seq.items[i]);
        return false;
    case STMT_WHILE: visit_stmt_exprs(visitor, stmt, MOMENT_INSIDE); break;
    case STMT_EVALUATE: return false;
    default: break;
    }
    visit_stmt(visitor, stmt_body(stmt));
    return false;
}

/* --- results --- */

static bool is_written(const Inference *inference, const Buffer *buffer)
{
    for (int i = 0; i < inference->writes.list.count; i++)
        if (inference->writes.list.data[i].buffer == buffer)
            return true;
    return false;
}

typedef struct {
    const Inference *inference;
    bool found;
} PassingSearch;

static bool find_passing(Visitor *visitor, const Expr *expr)
{
    PassingSearch *search = visitor->data;
    const Inference *inference = search->inference;
    bool at_once = inference->block->body->kind == STMT_STORE; /* it finds its place before it writes */
    if (expr->kind == EXPR_LOAD)
        search->found |= map_has(&inference->locals, expr->value.buffer->data) || (!at_once && is_written(inference, expr->value.buffer));
    return !search->found;
}

/* An end of INTERVAL is read from memory that is made or written inside, and says nothing outside. */
static bool is_passing(const Inference *inference, Interval interval)
{
    PassingSearch search = {inference, false};
    Visitor visitor = {.expr = find_passing, .data = &search};
    if (interval_is_known(interval)) {
        visit_expr(&visitor, interval.min);
        visit_expr(&visitor, interval.max);
    }
    return search.found;
}

static Region *to_regions(Inference *inference, const AccessList *accesses, bool skip_written, int *count, bool **once)
{
    Context *ctx = inference->ctx;
    Region *regions = ARENA_ARRAY(ctx->arena, Region, accesses->list.count);
    *once = ARENA_ARRAY(ctx->arena, bool, accesses->list.count);
    *count = 0;
    for (int i = 0; i < accesses->list.count; i++) {
        const Access *access = &accesses->list.data[i];
        if (skip_written && is_written(inference, access->buffer))
            continue;
        (*once)[*count] = !access->united;
        Region *region = &regions[(*count)++];
        *region = (Region){access->buffer, ARENA_ARRAY(ctx->arena, Range, access->buffer->ndim), span_none()};
        for (int j = 0; j < access->buffer->ndim; j++)
            region->ranges[j] = interval_to_range(ctx, is_passing(inference, access->dims[j]) ? interval_everything() : access->dims[j],
                                                  whole_dim(ctx, access->buffer, j));
    }
    return regions;
}

BlockRegions infer_block_regions(Context *ctx, const BlockStmt *block, const Map *buffers)
{
    Inference inference = {.ctx = ctx, .block = block, .buffers = buffers};
    inference.visitor = (Visitor){.expr = infer_expr, .stmt = infer_stmt, .data = &inference};
    for (int i = 0; i < block->alloc_count; i++)
        map_set(ctx->arena, &inference.locals, block->allocs[i]->data, block->allocs[i]);
    for (int i = 0; i < block->match_count; i++)
        map_set(ctx->arena, &inference.views, block->matches[i].target->data, &block->matches[i]);
    visit_stmt_exprs(&inference.visitor, &(Stmt){.kind = STMT_BLOCK, .as.block = *block}, MOMENT_INSIDE);
    if (block->init)
        visit_stmt(&inference.visitor, block->init);
    visit_stmt(&inference.visitor, block->body);
    BlockRegions result = {.opaque = inference.opaque};
    result.reads = to_regions(&inference, &inference.reads, block->init != NULL, &result.read_count, &result.reads_once);
    result.writes = to_regions(&inference, &inference.writes, false, &result.write_count, &result.writes_once);
    return result;
}

void infer_init_regions(Context *ctx, const BlockStmt *block, BlockStmt *init)
{
    Map buffers = {0};
    for (int i = 0; i < block->read_count; i++)
        map_set(ctx->arena, &buffers, block->reads[i].buffer->data, block->reads[i].buffer);
    BlockRegions regions = infer_block_regions(ctx, init, &buffers);
    init->reads = regions.reads;
    init->read_count = regions.read_count;
    Region *writes = ARENA_ARRAY(ctx->arena, Region, init->write_count);
    int count = 0;
    for (int i = 0; i < init->write_count; i++)
        if (stmt_uses_buffer(init->body, init->writes[i].buffer))
            writes[count++] = init->writes[i];
    init->writes = writes;
    init->write_count = count;
}

bool regions_have(const Region *regions, int count, const Region *region)
{
    for (int i = 0; i < count; i++) {
        bool same = regions[i].buffer == region->buffer;
        for (int d = 0; same && d < region->buffer->ndim; d++)
            same = expr_equal(regions[i].ranges[d].min, region->ranges[d].min) &&
                   expr_equal(regions[i].ranges[d].extent, region->ranges[d].extent);
        if (same)
            return true;
    }
    return false;
}

Region *regions_read_by_update(Context *ctx, const BlockStmt *block, int *count)
{
    Region *reads = ARENA_ARRAY(ctx->arena, Region, block->read_count + block->write_count);
    int added = 0;
    for (int i = 0; i < block->write_count; i++)
        if (!regions_have(block->reads, block->read_count, &block->writes[i]))
            reads[added++] = block->writes[i];
    for (int i = 0; i < block->read_count; i++)
        reads[added + i] = block->reads[i];
    *count = added + block->read_count; /* COUNT may be that of BLOCK */
    return reads;
}
