/* Why padding changes nothing that pad_einsum's block computes; see pad_einsum.h.

   Let an instance be new where some axis lies beyond its old domain. A spatial (or ordered) axis indexes all that is written. So the new instances
   that it makes write elements of padded buffers that no old instance touches. No copy takes these elements. New instances that only reduce axes
   make combine a value into an element that counts. In them each load that such an axis indexes gives zero, since its copy was filled with zeros
   there; with these zeros the value folds to the neutral element, which changes no element. In floating point x + 0.0 is x but for x = -0.0, which
   a sum never is that starts from another number. */
#include <math.h>
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/model/reduction.h"
#include "passes/arith/analyzer.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/layout/pad_einsum.h"
#include "passes/schedule/move/inline.h"
#include "print/print.h"

static bool refuse(const Einsum *step, const char *why)
{
    sched_refuse(step->sch, "block '%s' cannot be padded: %s", step->block->block->name, why);
    sched_note(step->sch, step->node->stmt->span, "block '%s' is here", step->block->block->name);
    return false;
}

static const char *format(const Einsum *step, const char *text, const char *name)
{
    const char *at = strstr(text, "%s");
    return arena_printf(step->sch->ctx->arena, "%.*s%s%s", (int)(at - text), text, name, at + 2);
}

static const Operand *find_operand(const Einsum *step, const Buffer *buffer)
{
    for (int i = 0; i < step->operand_count; i++)
        if (step->operands[i].buffer == buffer)
            return &step->operands[i];
    return NULL;
}

static bool indexes(const Einsum *step, const Operand *operand, int axis, int *dim)
{
    for (*dim = 0; *dim < operand->buffer->ndim; ++*dim)
        if (expr_is_var(operand->indices[*dim], step->block->iters[axis].var))
            return true;
    return false;
}

/* --- The values --- */

/* What new instances could stumble over: an effect, a division. */
typedef struct {
    Einsum *step;
    bool divides, ok;
} ValueSearch;

static bool find_division(Visitor *visitor, const Expr *expr)
{
    ValueSearch *search = visitor->data;
    search->divides |= expr_division_may_fail(expr);
    return true;
}

static bool check_value(Visitor *visitor, const Stmt *stmt)
{
    ValueSearch *search = visitor->data;
    Visitor division = {.expr = find_division, .data = search};
    if (stmt->kind != STMT_STORE || !search->ok)
        return true;
    visit_expr(&division, stmt->as.store.value);
    search->ok = inline_check_no_effects(search->step->sch, search->step->node, stmt->as.store.value);
    return true;
}

static bool check_values(Einsum *step)
{
    ValueSearch search = {.step = step, .ok = true};
    Visitor visitor = {.stmt = check_value, .data = &search};
    if (step->block->init)
        visit_stmt(&visitor, step->block->init);
    visit_stmt(&visitor, step->block->body);
    return search.ok && (!search.divides || refuse(step, "it divides by what may be 0 in the padding"));
}

/* --- Memory --- */

static bool check_memory(const Einsum *step)
{
    const Func *func = schedule_func(step->sch);
    for (int i = 0; i < step->operand_count; i++)
        for (int k = 0; k < i; k++)
            if ((step->operands[i].written || step->operands[k].written) &&
                buffer_viewed(func, step->operands[i].buffer)->data == buffer_viewed(func, step->operands[k].buffer)->data)
                return refuse(step, format(step, "'%s' shares its memory with another buffer of the block", step->operands[i].buffer->name));
    return true;
}

typedef struct {
    const Buffer *buffer;
    bool found;
} LoadSearch;

static bool find_load(Visitor *visitor, const Expr *expr)
{
    LoadSearch *search = visitor->data;
    search->found |= expr->kind == EXPR_LOAD && expr->value.buffer == search->buffer;
    return true;
}

static bool loads_buffer(const Stmt *stmt, const Buffer *buffer)
{
    LoadSearch search = {.buffer = buffer};
    Visitor visitor = {.expr = find_load, .data = &search};
    if (stmt)
        visit_stmt(&visitor, stmt);
    return search.found;
}

static bool stores_buffer(const Stmt *stmt, const Buffer *buffer)
{
    if (!stmt)
        return false;
    if (stmt->kind == STMT_STORE)
        return stmt->as.store.buffer == buffer;
    for (int i = 0; stmt->kind == STMT_SEQ && i < stmt->as.seq.count; i++)
        if (stores_buffer(stmt->as.seq.items[i], buffer))
            return true;
    return false;
}

/* A padded buffer that is written holds nothing at first: the init sets what the block reads of it. */
static bool check_own_reads(const Einsum *step)
{
    for (int i = 0; i < step->operand_count; i++) {
        const Operand *operand = &step->operands[i];
        if (!operand->written || !operand->padded)
            continue;
        if (loads_buffer(step->block->init, operand->buffer) ||
            (loads_buffer(step->block->body, operand->buffer) && !stores_buffer(step->block->init, operand->buffer)))
            return refuse(step, format(step, "it updates '%s', whose values at the start its padded copy would not have", operand->buffer->name));
    }
    return true;
}

/* --- Reduce axes --- */

/* Puts zeros for loads that AXIS indexes in new instances. */
typedef struct {
    const Einsum *step;
    int axis;
} Zeros;

const Expr *einsum_zero(Context *ctx, DType type)
{
    return dtype_is_float(type) ? expr_float(ctx, type, 0) : type.code == DT_BOOL ? expr_bool(ctx, false) : expr_int(ctx, type, 0);
}

static bool is_zero(const Expr *expr)
{
    return expr_is_int(expr, 0) || (expr->kind == EXPR_FLOAT && expr->value.real == 0);
}

/* Zero times EXPR is a zero, whose sign is no matter: EXPR is an integer, or a constant, or converted from an integer to a type that holds all. */
static bool is_finite(const Expr *expr)
{
    if (expr->kind == EXPR_CAST && !dtype_is_float(expr->args[0]->dtype) && expr->dtype.bits >= 32)
        return true;
    return expr->kind == EXPR_FLOAT ? isfinite(expr->value.real) : !dtype_is_float(expr->dtype);
}

static const Expr *put_zeros(Rewriter *rewriter, const Expr *expr)
{
    const Zeros *zeros = rewriter->data;
    Context *ctx = rewriter->ctx;
    int dim;
    if (expr->kind == EXPR_LOAD) {
        const Operand *operand = find_operand(zeros->step, expr->value.buffer);
        bool zero = operand && operand->padded && !operand->written && indexes(zeros->step, operand, zeros->axis, &dim) &&
                    analyzer_prove_equal(analyzer_new(ctx), operand->buffer->shape[dim], zeros->step->block->iters[zeros->axis].domain.extent);
        return zero ? einsum_zero(ctx, expr->dtype) : expr;
    }
    const Expr *folded = rewrite_expr_children(rewriter, expr);
    if (folded->kind == EXPR_CAST)
        return op_cast(ctx, folded->dtype, folded->args[0]);
    if (folded->kind == EXPR_SELECT || expr_is_call(folded, OP_IF_THEN_ELSE))
        return expr_equal(folded->args[1], folded->args[2]) ? folded->args[1] : folded;
    if (folded->kind != EXPR_MUL)
        return folded;
    const Expr *a = folded->args[0], *b = folded->args[1];
    bool vanishes = (is_zero(a) && is_finite(b)) || (is_zero(b) && is_finite(a));
    return vanishes ? einsum_zero(ctx, folded->dtype) : folded;
}

/* No element that BUFFER starts from is -0.0. */
static bool starts_without_negative_zero(const Einsum *step, const Stmt *init, const Buffer *buffer)
{
    if (!init)
        return false;
    if (init->kind == STMT_STORE)
        return init->as.store.buffer != buffer || (init->as.store.value->kind == EXPR_FLOAT && !(init->as.store.value->value.real == 0 && signbit(init->as.store.value->value.real)));
    for (int i = 0; init->kind == STMT_SEQ && i < init->as.seq.count; i++)
        if (!starts_without_negative_zero(step, init->as.seq.items[i], buffer))
            return false;
    return init->kind == STMT_SEQ;
}

/* In new instances along reduce axis AXIS the block combines the neutral element into its targets. */
static bool check_reduce_axis(const Einsum *step, int axis)
{
    Context *ctx = step->sch->ctx;
    const char *name = step->block->iters[axis].var->name;
    const Reduction *reduction = reduction_recognize(ctx, step->block);
    if (!reduction || reduction->kind == REDUCE_ARG_MIN || reduction->kind == REDUCE_ARG_MAX)
        return refuse(step, format(step, "what it combines along axis '%s' is not a known reduction", name));
    Zeros zeros = {step, axis};
    Rewriter rewriter = {.ctx = ctx, .expr = put_zeros, .data = &zeros};
    for (int t = 0; t < reduction->target_count; t++) {
        const Expr *operand = reduction->operands[t];
        const Expr *value = analyzer_simplify(analyzer_new(ctx), rewrite_expr(&rewriter, operand));
        const Expr *neutral = reduction_identity(ctx, reduction->kind, operand->dtype);
        bool sum = reduction_is_sum(reduction->kind);
        if (!(sum && is_zero(value)) && !expr_equal(value, neutral))
            return refuse(step, arena_printf(ctx->arena, "with zeros in the padding of axis '%s' it would combine in another value than %s, the neutral one of its %s",
                                             name, print_expr(ctx, neutral), reduction_name(reduction->kind)));
        if (reduction->kind == REDUCE_SUM && dtype_is_float(operand->dtype) && !starts_without_negative_zero(step, step->block->init, reduction->targets[t]))
            return refuse(step, format(step, "the sum may start at -0.0, which adding the zeros of axis '%s' makes 0.0", name));
    }
    return true;
}

static bool check_axes(const Einsum *step)
{
    int dim;
    for (int i = 0; i < step->block->iter_count; i++) {
        const Iter *iter = &step->block->iters[i];
        if (!step->padded_loops[i])
            continue;
        if (iter->kind == ITER_REDUCE) {
            if (!check_reduce_axis(step, i))
                return false;
            continue;
        }
        for (int k = 0; k < step->operand_count; k++)
            if (step->operands[k].written && !indexes(step, &step->operands[k], i, &dim))
                return refuse(step, arena_printf(step->sch->ctx->arena, "axis '%s' does not index '%s', so that the padding would be written over its elements",
                                                 iter->var->name, step->operands[k].buffer->name));
    }
    return true;
}

/* --- What is copied back --- */

/* All of the buffer of OPERAND is an element of some old instance. */
static bool covers_buffer(const Einsum *step, const Operand *operand)
{
    Analyzer *an = analyzer_new(step->sch->ctx);
    for (int d = 0; d < operand->buffer->ndim; d++) {
        const Expr *extent = expr_int(step->sch->ctx, operand->buffer->shape[d]->dtype, 1);
        for (int i = 0; i < step->block->iter_count; i++)
            if (expr_is_var(operand->indices[d], step->block->iters[i].var))
                extent = expr_is_int(step->block->iters[i].domain.min, 0) ? step->block->iters[i].domain.extent : NULL;
        if (!extent || !analyzer_prove_equal(an, extent, operand->buffer->shape[d]))
            return false;
        for (int e = 0; e < d; e++)
            if (operand->indices[d]->kind == EXPR_VAR && expr_equal(operand->indices[d], operand->indices[e]))
                return false;
    }
    return true;
}

/* The block runs for all of its spatial and ordered points. */
static bool runs_everywhere(const Einsum *step)
{
    bool ordered = false, plain = expr_is_int(step->block->predicate, 1);
    for (int i = 0; i < step->block->iter_count; i++) {
        ordered |= step->block->iters[i].kind != ITER_SPATIAL && step->block->iters[i].kind != ITER_REDUCE;
        plain &= einsum_own_loop(step, i) != NULL;
    }
    if (plain)
        return true;
    Context *ctx = step->sch->ctx;
    const Func *func = schedule_func(step->sch);
    return answer_is_shown(ordered ? dependence_runs_over_domain(ctx, func, step->block->block)
                                   : dependence_serves_all_points(ctx, func, step->block->block));
}

static bool check_copies_back(const Einsum *step)
{
    for (int i = 0; i < step->operand_count; i++) {
        const Operand *operand = &step->operands[i];
        if (!operand->written || !operand->padded)
            continue;
        if (!covers_buffer(step, operand) || !runs_everywhere(step))
            return refuse(step, format(step, "it does not write all of '%s', which is copied back as a whole", operand->buffer->name));
    }
    return true;
}

/* --- What is copied in --- */

/* Looks for a load that each instance makes. */
static bool find_certain_load(Visitor *visitor, const Expr *expr)
{
    find_load(visitor, expr);
    return expr->kind != EXPR_AND && expr->kind != EXPR_OR && !expr_is_call(expr, OP_IF_THEN_ELSE);
}

/* A block around that declares to read BUFFER, and not all of it; NULL: none. */
static const BlockStmt *block_declaring_less(const Einsum *step, const Buffer *buffer)
{
    Analyzer *an = analyzer_new(step->sch->ctx);
    for (const TreeNode *node = schedule_scope(step->sch, step->node); node; node = schedule_parent(step->sch, node)) {
        const BlockStmt *block = node->stmt->kind == STMT_BLOCK ? node_block(node) : NULL;
        const Region *declared = block ? regions_find(block->reads, block->read_count, buffer) : NULL;
        for (int d = 0; declared && d < buffer->ndim; d++)
            if (!expr_is_int(declared->ranges[d].min, 0) || !analyzer_prove_equal(an, declared->ranges[d].extent, buffer->shape[d]))
                return block;
    }
    return NULL;
}

/* All of a buffer that is copied has a value: it is an argument's, or the block itself reads all of it. */
static bool check_copies_in(const Einsum *step)
{
    for (int i = 0; i < step->operand_count; i++) {
        const Operand *operand = &step->operands[i];
        if (operand->written || !operand->padded)
            continue;
        const BlockStmt *around = block_declaring_less(step, operand->buffer);
        if (around)
            return sched_refuse(step->sch, "the copy would read elements of '%s' that block '%s' around it does not declare",
                                operand->buffer->name, around->block->name);
        if (func_is_argument(schedule_func(step->sch), operand->buffer->data))
            continue;
        LoadSearch search = {.buffer = operand->buffer};
        Visitor visitor = {.expr = find_certain_load, .data = &search};
        visit_stmt(&visitor, step->block->body);
        if (!search.found || !covers_buffer(step, operand) || !runs_everywhere(step))
            return refuse(step, format(step, "it does not read all of '%s', which would be copied as a whole and may have elements without a value",
                                       operand->buffer->name));
    }
    return true;
}

bool einsum_check(Einsum *step)
{
    return check_values(step) && check_memory(step) && check_own_reads(step) && check_axes(step) && check_copies_in(step) && check_copies_back(step);
}
