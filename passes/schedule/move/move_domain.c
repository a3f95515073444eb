/* Which instances of a moved block one iteration of the target loop needs; see move.h.

   The block provides (reverse: requires) a region of each buffer in terms of its iterators; its partners below the loop require (reverse:
   provide) a region in one iteration of the loop. Solving the first for the iterators, given the second, gives their domains. */
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/model/access.h"
#include "passes/arith/iter_map.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/move/move_uses.h"

/* --- the partners' regions in one iteration of the loop --- */

typedef VEC(VarRange) RangeList;

/* The loops from PARTNER up to the target loop, and the thread loops beyond it that BUFFER is shared by: their threads see what the others
   wrote. Global memory outlives the threads, so each computes just its part. */
static RangeList relaxed_loops(Move *move, const TreeNode *partner, const Buffer *buffer)
{
    RangeList list = {0};
    bool above = false;
    for (const TreeNode *node = schedule_parent(move->sch, partner); node; node = schedule_parent(move->sch, node)) {
        above |= node == move->loop;
        if (node->stmt->kind != STMT_FOR)
            continue;
        const ForStmt *loop = node_loop(node);
        VarRange range = {loop->var, {loop->min, loop->extent}};
        if (!above || (!move->reverse && scope_is_shared_by(buffer->scope, loop->thread)))
            vec_push(move->sch->ctx->arena, &list, range);
    }
    for (int i = 0; i < list.count / 2; i++) {
        VarRange swap = list.data[i];
        list.data[i] = list.data[list.count - 1 - i];
        list.data[list.count - 1 - i] = swap;
    }
    return list;
}

/* The union of USES, of BUFFER, in one iteration of the loop. */
static void union_uses(Move *move, Analyzer *an, const UseList *uses, const Buffer *buffer, IntSet *out)
{
    Context *ctx = move->sch->ctx;
    IntSet *one = ARENA_ARRAY(ctx->arena, IntSet, buffer->ndim);
    for (int u = 0; u < uses->count; u++) {
        const TreeNode *partner = uses->data[u].partner;
        RangeList loops = relaxed_loops(move, partner, buffer);
        Region bound = loops_bound_region(move->sch, partner, uses->data[u].region);
        Domain domain = domain_from_ranges(ctx, loops.data, loops.count);
        for (int d = 0; d < buffer->ndim; d++) {
            Range range = {analyzer_simplify(an, bound.ranges[d].min), bound.ranges[d].extent}; /* f // m * m + f % m is f */
            one[d] = int_set_eval_range(an, range, &domain);
        }
        for (int d = 0; d < buffer->ndim; d++)
            out[d] = u ? int_set_union(an, out[d], one[d]) : one[d];
    }
}

/* --- solving for the iterators --- */

static int iter_index(const BlockStmt *block, const Expr *expr)
{
    for (int i = 0; i < block->iter_count; i++)
        if (expr_is_var(expr, block->iters[i].var))
            return i;
    return -1;
}

/* EXPR as iterator times FACTOR (NULL: 1). */
static int scaled_iter(const BlockStmt *block, const Expr *expr, const Expr **factor)
{
    *factor = NULL;
    int iter = iter_index(block, expr);
    if (iter >= 0 || expr->kind != EXPR_MUL)
        return iter;
    for (int side = 0; side < 2; side++)
        if ((iter = iter_index(block, expr->args[side])) >= 0) {
            *factor = expr->args[1 - side];
            return iter;
        }
    return -1;
}

static const Expr *divided(Analyzer *an, const Expr *value, const Expr *factor)
{
    Context *ctx = analyzer_context(an);
    if (!value)
        return NULL;
    return analyzer_simplify(an, factor ? op_floordiv(ctx, value, op_cast(ctx, value->dtype, factor)) : value);
}

/* The first, or the LAST, of the values v with v // DIVISOR = QUOTIENT. */
static const Expr *values_of_quotient(Analyzer *an, const Expr *quotient, const Expr *divisor, bool last)
{
    Context *ctx = analyzer_context(an);
    const Expr *first = op_mul(ctx, quotient, divisor);
    return analyzer_simplify(an, last ? op_add_int(ctx, op_add(ctx, first, divisor), -1) : first);
}

static void narrow(Analyzer *an, IterDomain *info, IntSet domain, IntSet bound)
{
    info->domain = info->has_domain ? int_set_union(an, info->domain, domain) : domain;
    info->bound = info->has_bound ? int_set_intersect(an, info->bound, bound) : bound;
    info->has_domain = info->has_bound = true;
}

/* One dimension of SIZE (NULL: not known) elements, the point v // c with a positive c: c values of v share each element of NEEDED. True
   when OWN is of that form. */
static bool solve_quotient(Analyzer *an, const BlockStmt *block, Range own, IntSet needed, const Expr *size, IterDomain *infos)
{
    Context *ctx = analyzer_context(an);
    const Expr *point = analyzer_simplify(an, own.min);
    int iter = point->kind == EXPR_FLOORDIV ? iter_index(block, point->args[0]) : -1;
    if (iter < 0 || !expr_is_int(own.extent, 1) || !analyzer_prove_at_least(an, point->args[1], 1))
        return false;
    const Expr *divisor = point->args[1];
    IntSet values = {values_of_quotient(an, needed.min, divisor, false), values_of_quotient(an, needed.max, divisor, true), false};
    const Expr *last = size ? values_of_quotient(an, op_add_int(ctx, size, -1), divisor, true) : NULL;
    narrow(an, &infos[iter], values, (IntSet){expr_int(ctx, values.min->dtype, 0), last, false});
    return true;
}

/* One dimension of SIZE (NULL: not known) elements: a point v, v * c or v // c, or a stretch from v * c of c elements, tells the domain
   of v. */
static void solve_dimension(Analyzer *an, const BlockStmt *block, Range own, IntSet needed, const Expr *size, IterDomain *infos)
{
    Context *ctx = analyzer_context(an);
    const Expr *factor, *min = analyzer_simplify(an, own.min);
    if (!int_set_is_bounded(needed) || solve_quotient(an, block, own, needed, size, infos))
        return;
    int iter = scaled_iter(block, min, &factor);
    if (iter < 0)
        return;
    if (factor && !expr_is_int(own.extent, 1) && !analyzer_prove_equal(an, op_cast(ctx, factor->dtype, own.extent), factor))
        factor = NULL, iter = -1;
    if (iter < 0 || (!factor && !expr_is_int(own.extent, 1)))
        return;
    const Expr *last = size ? analyzer_simplify(an, op_add_int(ctx, size, -1)) : NULL;
    IntSet domain = {divided(an, needed.min, factor), divided(an, needed.max, factor), false};
    IntSet bound = {expr_int(ctx, size ? size->dtype : needed.min->dtype, 0), divided(an, last, factor), false};
    narrow(an, &infos[iter], domain, bound);
}

/* All dimensions at once where the region is one point and its indices are a bijective affine map of the iterators: the map's inverse gives
   their domains. */
static bool solve_affine(Move *move, Analyzer *an, const BlockStmt *block, const Region *own, const IntSet *needed, IterDomain *infos)
{
    Context *ctx = move->sch->ctx;
    int ndim = own->buffer->ndim;
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, ndim), **outputs = ARENA_ARRAY(ctx->arena, const Expr *, ndim);
    VarRange *iters = ARENA_ARRAY(ctx->arena, VarRange, block->iter_count), *ranges = ARENA_ARRAY(ctx->arena, VarRange, ndim);
    int used = 0, plain = 0;
    for (int d = 0; d < ndim; d++) {
        indices[d] = own->ranges[d].min;
        if (!expr_is_int(own->ranges[d].extent, 1) || !int_set_is_bounded(needed[d]) ||
            !dtype_equal(needed[d].min->dtype, indices[d]->dtype))
            return false;
        plain += iter_index(block, indices[d]) >= 0;
        Var *point = var_new(ctx, context_intern(ctx, "point"), indices[d]->dtype, span_none());
        outputs[d] = expr_var(ctx, point);
        ranges[d] = (VarRange){point, int_set_cover_range(an, needed[d], own->ranges[d])};
    }
    for (int i = 0; i < block->iter_count; i++)
        for (int d = 0; d < ndim; d++)
            if (expr_uses_var(indices[d], block->iters[i].var)) {
                iters[used++] = (VarRange){block->iters[i].var, block->iters[i].domain};
                break;
            }
    if (plain == ndim)
        return false; /* each dimension by itself is exact */
    IterMapQuery query = {indices, ndim, iters, used, NULL, ITER_MAP_BIJECTIVE, true};
    IterMapResult map;
    if (!iter_map_detect(an, &query, &map))
        return false;
    Map inverse = iter_map_invert(an, &map, outputs);
    Domain domain = domain_from_ranges(ctx, ranges, ndim);
    for (int i = 0; i < block->iter_count; i++) {
        const Expr *value = map_get(&inverse, block->iters[i].var);
        if (!value)
            continue;
        IntSet values = int_set_eval(an, analyzer_simplify(an, value), &domain);
        if (!int_set_is_bounded(values))
            continue;
        values.min = analyzer_simplify(an, values.min);
        values.max = analyzer_simplify(an, values.max);
        narrow(an, &infos[i], values, int_set_from_range(ctx, block->iters[i].domain));
    }
    return true;
}

/* A KIND B is provable; a missing A is not. */
static bool certainly(Analyzer *an, ExprKind kind, const Expr *a, const Expr *b)
{
    return a && analyzer_prove_symbolic(an, op_compare(analyzer_context(an), kind, a, b));
}

static bool holds(Analyzer *an, IntSet outer, IntSet inner)
{
    if (!int_set_is_bounded(outer) || !int_set_is_bounded(inner))
        return false;
    return certainly(an, EXPR_LE, outer.min, inner.min) && certainly(an, EXPR_GE, outer.max, inner.max);
}

static bool is_constant(const Expr *expr)
{
    int64_t value;
    return expr_const_int(expr, &value);
}

/* The bound also holds the iterator's own domain. Values beyond a bound that is certainly reached on both sides are not run over at all, nor
   are those beyond constant ends of domain and bound together. */
static void complete(Analyzer *an, const Iter *iter, IterDomain *info)
{
    Context *ctx = analyzer_context(an);
    IntSet whole = int_set_from_range(ctx, iter->domain);
    if (!info->has_domain) {
        *info = (IterDomain){whole, whole, true, true};
        return;
    }
    info->bound = int_set_intersect(an, info->bound, whole);
    if (info->bound.empty) { /* no value at all: a loop of no iterations, where a set without ends would be one without limits */
        const Expr *min = iter->domain.min;
        info->domain = info->bound = (IntSet){min, op_add_int(ctx, min, -1), false};
    }
    if (holds(an, info->domain, info->bound)) {
        info->domain = info->bound;
        return;
    }
    IntSet both = int_set_intersect(an, info->domain, info->bound);
    if (!both.empty && int_set_is_bounded(both) && is_constant(both.min) && is_constant(both.max))
        info->domain = info->bound = both;
}

static bool find_changed_var(Visitor *visitor, const Expr *expr)
{
    if (visitor->data && expr->kind == EXPR_VAR && !move_keeps_meaning(visitor->data, expr->value.var))
        visitor->data = NULL;
    return visitor->data != NULL;
}

/* Every variable of EXPR means at the new place what it means at the old one. */
static bool keeps_meaning(Move *move, const Expr *expr)
{
    Visitor visitor = {.expr = find_changed_var, .data = move};
    visit_expr(&visitor, expr);
    return visitor.data != NULL;
}

/* An iterator that the regions say nothing of keeps its value where the loops of its binding stay around the block; otherwise it runs over
   all of its domain. A reduction with partners cannot: they read what it has summed up so far. */
static void keep_binding(Move *move, const BlockStmt *block, int i, IterDomain *info)
{
    if (info->has_domain || expr_is_int(block->iters[i].domain.extent, 1))
        return;
    bool keeps = keeps_meaning(move, block->bindings[i]);
    if (block->iters[i].kind != ITER_SPATIAL && keeps && move->partner_count)
        move->partial = &block->iters[i];
    if (block->iters[i].kind == ITER_SPATIAL && keeps) {
        IntSet point = int_set_point(block->bindings[i]);
        *info = (IterDomain){point, point, true, true};
    } else if (!move->reverse && block->iters[i].kind == ITER_SPATIAL) {
        move->ordered = &block->iters[i];
    }
}

IterDomain *move_solve_domains(Move *move, Analyzer *an)
{
    Context *ctx = move->sch->ctx;
    const BlockStmt *block = node_block(move->block);
    IterDomain *infos = ARENA_ARRAY(ctx->arena, IterDomain, block->iter_count);
    const Region *own = move->reverse ? block->reads : block->writes;
    int count = move->reverse ? block->read_count : block->write_count;
    for (int r = count - 1; r >= 0; r--) { /* the printed form of a union depends on the order */
        Region region = own[r];
        UseList uses = move_partner_uses(move, region.buffer);
        if (regions_find(&own[r + 1], count - r - 1, region.buffer) || !uses.count)
            continue;
        const AccessRows *rows = move_split_rows(move, &region, &uses);
        move->by_digits |= rows != NULL;
        IntSet *needed = ARENA_ARRAY(ctx->arena, IntSet, region.buffer->ndim);
        union_uses(move, an, &uses, region.buffer, needed);
        if (solve_affine(move, an, block, &region, needed, infos))
            continue;
        for (int d = 0; d < region.buffer->ndim; d++)
            solve_dimension(an, block, region.ranges[d], needed[d], rows ? rows_size(rows, d) : region.buffer->shape[d], infos);
    }
    for (int i = 0; i < block->iter_count; i++) {
        keep_binding(move, block, i, &infos[i]);
        complete(an, &block->iters[i], &infos[i]);
    }
    return infos;
}

/* --- the new loops --- */

/* The values that VALUE takes as a map of the target loop and the loops around it; ends are NULL where it is no such map. */
static IntSet map_values(Move *move, Analyzer *an, const Expr *value)
{
    Context *ctx = move->sch->ctx;
    int around, count = 0;
    const TreeNode **loops = schedule_loops_around(move->sch, move->loop, &around);
    VarRange *iters = ARENA_ARRAY(ctx->arena, VarRange, around + 1);
    const Var **inner = ARENA_ARRAY(ctx->arena, const Var *, around + 1);
    for (int i = 0; i <= around; i++) {
        const ForStmt *loop = node_loop(i < around ? loops[i] : move->loop);
        if (!expr_uses_var(value, loop->var))
            continue;
        inner[count] = loop->var;
        iters[count++] = (VarRange){loop->var, {loop->min, loop->extent}};
    }
    IterMapQuery query = {&value, 1, iters, count, NULL, ITER_MAP_SURJECTIVE, false};
    SubspaceDivision division;
    if (!count || !iter_map_divide_subspace(an, &query, inner, count, &division))
        return (IntSet){0};
    Range filled = iter_map_filled_range(an, &division.bindings[0], iters, count);
    return (IntSet){filled.min, analyzer_simplify(an, op_add_int(ctx, op_add(ctx, filled.min, filled.extent), -1)), false};
}

/* CONDITION holds since no size is negative: 0 <= f // n. A remainder is less than its divisor. */
static bool holds_for_sizes(Move *move, Analyzer *an, const Expr *condition)
{
    Context *ctx = move->sch->ctx;
    Map sizes = func_sizes(ctx, schedule_func(move->sch));
    AnalyzerScope scope = analyzer_enter(an);
    for (int i = 0; i < sizes.count; i++) {
        const Expr *size = expr_var(ctx, sizes.entries[i].value);
        analyzer_assume(an, op_compare(ctx, EXPR_LE, expr_int(ctx, size->dtype, 0), size));
    }
    const Expr *value = condition->args[0], *limit = analyzer_simplify(an, condition->args[1]);
    bool holds = analyzer_prove(an, condition);
    if (condition->kind == EXPR_LT && value->kind == EXPR_FLOORMOD)
        holds |= expr_equal(value->args[1], limit) && analyzer_bound(an, limit).min >= 0;
    analyzer_leave(an, scope);
    return holds;
}

/* GUARD and CONDITION where CONDITION is not certain. */
static const Expr *guarded(Move *move, Analyzer *an, const Expr *guard, const Expr *condition)
{
    bool refuted = analyzer_refutes(an, condition); /* for some sizes that are not negative */
    if (!refuted && (analyzer_prove_symbolic(an, condition) || (expr_is_compare(condition) && holds_for_sizes(move, an, condition))))
        return guard;
    return op_and(analyzer_context(an), guard, condition);
}

/* GUARD and that VALUE, which runs over INFO's domain, stays within its bound. */
static const Expr *guard_iter(Move *move, Analyzer *an, const Expr *guard, const Expr *value, const IterDomain *info)
{
    Context *ctx = move->sch->ctx;
    IntSet bound = info->bound, reached = {0};
    bool below = bound.min && !certainly(an, EXPR_GE, info->domain.min, bound.min),
         above = bound.max && !certainly(an, EXPR_LE, info->domain.max, bound.max);
    if ((below || above) && info->domain.min == info->domain.max)
        reached = map_values(move, an, value);
    if (below && !certainly(an, EXPR_GE, reached.min, bound.min))
        guard = guarded(move, an, guard, op_compare(ctx, EXPR_GE, value, bound.min));
    if (above && !certainly(an, EXPR_LE, reached.max, bound.max))
        guard = guarded(move, an, guard, op_compare(ctx, EXPR_LT, value, op_add_int(ctx, bound.max, 1)));
    return guard;
}

const Stmt *move_build_nest(Move *move, Analyzer *an, const IterDomain *domains)
{
    Context *ctx = move->sch->ctx;
    BlockStmt block = *node_block(move->block);
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, block.iter_count), *guard = expr_bool(ctx, true);
    VarRange *loops = ARENA_ARRAY(ctx->arena, VarRange, block.iter_count);
    Analyzer *running = NULL;
    const TreeNode *place = schedule_find_stmt(move->sch, node_loop(move->loop)->body);
    int count = 0;
    for (int i = 0; i < block.iter_count; i++) {
        Range range = int_set_cover_range(an, domains[i].domain, block.iters[i].domain);
        range.min = loops_guard_divisors(move->sch, place, &running, range.min);
        range.extent = loops_guard_divisors(move->sch, place, &running, range.extent);
        DType type = range.min->dtype.bits > range.extent->dtype.bits ? range.min->dtype : range.extent->dtype;
        bindings[i] = range.min;
        if (move->preserve_unit_loops || !expr_is_int(range.extent, 1)) {
            Var *var = var_new(ctx, context_internf(ctx, "ax%d", count), type, move->block->stmt->span);
            const Expr *extent = analyzer_simplify(an, op_cast(ctx, type, range.extent));
            loops[count++] = (VarRange){var, {expr_int(ctx, type, 0), extent}};
            bindings[i] = op_add(ctx, range.min, expr_var(ctx, var));
            analyzer_bind_range_opaque(an, var, loops[count - 1].range);
        }
        if (bindings[i]->dtype.bits < block.iters[i].var->dtype.bits)
            bindings[i] = op_cast(ctx, block.iters[i].var->dtype, bindings[i]);
        /* the variable of a unit loop adds nothing */
        guard = guard_iter(move, an, guard, expr_is_int(range.extent, 1) ? range.min : bindings[i], &domains[i]);
    }
    block.bindings = bindings;
    const Expr *predicate = op_and(ctx, guard, move_bound_predicate(move, &block));
    block.predicate = loops_guard_divisors(move->sch, place, &running, analyzer_simplify(an, predicate));
    if (block.init && expr_is_int(block.predicate, 0)) /* a condition on the reduction alone leaves the init, which False would not */
        block.predicate = predicate;
    const Stmt *nest = stmt_block(ctx, block, move->block->stmt->span);
    while (count--)
        nest = stmt_for_serial(ctx, loops[count].var, NULL, loops[count].range.extent, nest, move->block->stmt->span);
    return nest;
}
