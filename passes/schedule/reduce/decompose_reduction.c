/* decompose_reduction: the init of a reduction becomes a block of its own, before a loop.

   Before, decompose_reduction(C, k)        After
     for i, k in T.grid(16, 64):              for i in range(16):
         with T.block("C"):                       with T.block("C_init"):
             vi, vk = ...                             C[vi] = 0
             with T.init():                       for k in range(64):
                 C[vi] = 0                            with T.block("C_update"):
             C[vi] = C[vi] + A[vi, vk]                    C[vi] = C[vi] + A[vi, vk]

   The init block gets copies, named <loop>_init, of those loops from the given one inwards that its axes use. Legal when
   - the block is a reduction, and its opaque axes depend on loops further out only;
   - the loops that its reduce axes use are the given loop and loops below it, and their iterations neither run at once nor repeat updates;
   - which points run is known: a T.where of the block that mixes reduce axes with others, as k < i, becomes one of the init, 0 < i;
   - other statements below the given loop read the output only behind the block, where it has been written;
   - before the loop, the init finds the same inputs as at its old place. */
#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/regions/infer_regions.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/coverage.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "print/print.h"

typedef struct {
    const TreeNode *block, *target;
    int loop_count;
    const TreeNode **loops;         /* from the given one to the innermost */
    bool *chosen;                   /* those the init needs */
    int outer_count;
    const TreeNode **outer;         /* above the given one */
    const Expr *predicate;          /* of the init */
} Decomposition;

/* Divides the loops around the block at the given one. */
static bool find_loops(Schedule *sch, Decomposition *step)
{
    int count, first = 0;
    const TreeNode **loops = schedule_loops_around(sch, step->block, &count);
    while (first < count && loops[first] != step->target)
        first++;
    *step = (Decomposition){.block = step->block,
                            .target = step->target,
                            .loop_count = count - first,
                            .loops = loops + first,
                            .outer_count = first,
                            .outer = loops};
    step->chosen = ARENA_ARRAY(sch->ctx->arena, bool, step->loop_count);
    if (first < count)
        return true;
    sched_refuse(sch, "loop '%s' is not around block '%s'", node_name(step->target), node_name(step->block));
    sched_note_node(sch, step->target);
    return sched_note_node(sch, step->block);
}

static bool check_outer_loops(Schedule *sch, const Decomposition *step)
{
    const BlockStmt *block = node_block(step->block);
    for (int i = 0; i < step->outer_count; i++) {
        const Var *var = node_loop(step->outer[i])->var;
        bool tells_points = block_binds_axis(block, true, (Var *)var) && block_points_fill_box(sch, step->block, NULL);
        if (!block_binds_axis(block, false, (Var *)var) || tells_points)
            continue;
        sched_refuse(
            sch,
            "loop '%s' reduces and is around loop '%s': the init would run again in each of its iterations; decompose at '%s' or above",
            node_name(step->outer[i]), node_name(step->target), node_name(step->outer[i]));
        return sched_note_node(sch, step->outer[i]);
    }
    return true;
}

/* Between the given loop and the block there are loops and sequences only: a condition or a let would not be around the init. */
static bool check_nothing_between(Schedule *sch, const Decomposition *step)
{
    for (const TreeNode *up = schedule_parent(sch, step->block); up != step->target; up = schedule_parent(sch, up)) {
        if (up->stmt->kind == STMT_FOR || up->stmt->kind == STMT_SEQ)
            continue;
        sched_refuse(sch, "between loop '%s' and block '%s' lies a statement that would not be around the init", node_name(step->target),
                     node_name(step->block));
        sched_note(sch, up->stmt->span, "this statement");
        return false;
    }
    return true;
}

/* Chooses the loops that the init needs: those that spatial axes use. None of their domains depends on another loop, since the bindings are
   affine over a box. */
static void choose_loops(Decomposition *step)
{
    for (int i = 0; i < step->loop_count; i++)
        step->chosen[i] = block_binds_axis(node_block(step->block), true, node_loop(step->loops[i])->var);
}

/* --- The predicate of the init --- */

static bool binding_uses_loops_of(Schedule *sch, const TreeNode *block, const Expr *binding, const Expr *condition)
{
    int count;
    const TreeNode **loops = schedule_loops_around(sch, block, &count);
    for (int i = 0; i < count; i++)
        if (expr_uses_var(binding, node_loop(loops[i])->var) && expr_uses_var(condition, node_loop(loops[i])->var))
            return true;
    return false;
}

/* Each output has the element that the block writes named by VAR itself in some dimension. */
static bool axis_names_outputs(const BlockStmt *block, const Var *var)
{
    for (int w = 0; w < block->write_count; w++) {
        const Region *written = &block->writes[w];
        int d = 0;
        while (d < written->buffer->ndim && !(expr_is_var(written->ranges[d].min, var) && expr_is_int(written->ranges[d].extent, 1)))
            d++;
        if (d == written->buffer->ndim)
            return false;
    }
    return true;
}

/* The loops outside of the given one that CONDITION mentions tell points apart: what it excludes there are points, and not just repetitions of
   points that run. */
static bool excludes_points(const Decomposition *step, const Expr *condition)
{
    for (int i = 0; i < step->outer_count; i++) {
        const Var *var = node_loop(step->outer[i])->var;
        if (expr_uses_var(condition, var) && !block_binds_axis(node_block(step->block), true, var))
            return false;
    }
    return true;
}

/* The init may set the elements of points, too, all of whose updates CONDITION excludes. Three things hold. The memory is scratch: without
   an update nobody knows what it holds. No other point shares such an element, for its indices are the axes that CONDITION is about. The
   element exists, for these axes stay in their domains. */
static bool init_may_set_more(Schedule *sch, const Decomposition *step, const Expr *condition)
{
    Context *ctx = sch->ctx;
    const BlockStmt *block = node_block(step->block);
    Analyzer *an = loops_context(sch, step->block);
    analyzer_assume(an, step->predicate);
    for (int i = 0; i < block->iter_count; i++) {
        const Expr *binding = block->bindings[i];
        Range domain = block->iters[i].domain;
        if (block->iters[i].kind != ITER_SPATIAL || !binding_uses_loops_of(sch, step->block, binding, condition))
            continue;
        if (!axis_names_outputs(block, block->iters[i].var) ||
            !analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, domain.min, binding)) ||
            !analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LT, binding, op_add(ctx, domain.min, domain.extent))))
            return false;
    }
    return excludes_points(step, condition) && block_writes_scratch(sch, step->block);
}

/* The loops of CONDITION that the init does not get certainly run: else it holds in no first iteration. */
static bool loops_left_run(Schedule *sch, const Decomposition *step, const Expr *condition)
{
    Analyzer *an = loops_context(sch, step->block);
    for (int i = 0; i < step->loop_count; i++) {
        const Expr *extent = node_loop(step->loops[i])->extent;
        if (!step->chosen[i] && expr_uses_var(condition, node_loop(step->loops[i])->var) &&
            !analyzer_prove_symbolic(an, op_compare(sch->ctx, EXPR_LT, expr_int(sch->ctx, extent->dtype, 0), extent)))
            return false;
    }
    return true;
}

/* CONDITION mentions loops that the init does not get: then it restricts the reduction, and the init runs all the same. It must not exclude
   a spatial point as a whole, unless its elements are nobody's: where it mentions other loops too it must hold in the first iteration of
   those that reduce. */
static bool condition_can_go(Schedule *sch, const Decomposition *step, const Expr *condition)
{
    Context *ctx = sch->ctx;
    Subst first = {0};
    bool mixed = false;
    for (int i = 0; i < step->outer_count; i++)
        mixed |= expr_uses_var(condition, node_loop(step->outer[i])->var);
    for (int i = 0; i < step->loop_count; i++) {
        const ForStmt *loop = node_loop(step->loops[i]);
        mixed |= step->chosen[i] && expr_uses_var(condition, loop->var);
        if (!step->chosen[i])
            subst_var(ctx, &first, loop->var, loop->min);
    }
    return !mixed || (loops_left_run(sch, step, condition) &&
                      analyzer_prove_symbolic(loops_context(sch, step->block), subst_expr(ctx, &first, condition))) ||
           init_may_set_more(sch, step, condition);
}

static bool uses_loops_left(const Decomposition *step, const Expr *condition)
{
    bool uses = false;
    for (int i = 0; i < step->loop_count; i++)
        uses |= !step->chosen[i] && expr_uses_var(condition, node_loop(step->loops[i])->var);
    return uses;
}

/* Whether some iteration of the loops that the init does not get fulfils CONDITION, in terms of the others; NULL: not known. Let a < b be the
   condition, where a - b is linear in those loops, which are a box that is not empty. Over it a - b is least in a corner: at the start of a
   loop with a positive coefficient, at the end of one with a negative one. So the condition holds somewhere where it holds there. It must be
   the only one of PARTS that restricts those loops. */
static const Expr *holds_somewhere(Schedule *sch, const Decomposition *step, const Expr *condition, const ExprList *parts)
{
    Context *ctx = sch->ctx;
    bool less = condition->kind == EXPR_LT || condition->kind == EXPR_LE;
    DType type = expr_is_compare(condition) ? condition->args[0]->dtype : condition->dtype;
    if ((!less && condition->kind != EXPR_GT && condition->kind != EXPR_GE) || type.code != DT_INT || type.lanes != 1)
        return NULL;
    for (int p = 0; p < parts->count; p++)
        if (parts->data[p] != condition && uses_loops_left(step, parts->data[p]))
            return NULL;
    const Expr *difference = op_sub(ctx, condition->args[0], condition->args[1]);
    LinearSum sum;
    if (!excludes_points(step, condition) || !linear_sum_of(ctx, difference, &sum))
        return NULL;
    for (int t = 0; t < sum.terms.count; t++) /* nothing of it is read from memory */
        if (sum.terms.data[t].atom->kind != EXPR_VAR)
            return NULL;
    Subst corner = {0};
    Analyzer *an = loops_context(sch, step->block);
    for (int i = 0; i < step->loop_count; i++) {
        const ForStmt *loop = node_loop(step->loops[i]);
        int64_t coefficient;
        if (step->chosen[i])
            continue;
        for (int l = 0; l < step->loop_count; l++)
            if (expr_uses_var(loop->min, node_loop(step->loops[l])->var) || expr_uses_var(loop->extent, node_loop(step->loops[l])->var))
                return NULL;
        if (!linear_coefficient(ctx, difference, loop->var, &coefficient) ||
            !analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LT, expr_int(ctx, loop->extent->dtype, 0), loop->extent)))
            return NULL;
        const Expr *last = op_add_int(ctx, op_add(ctx, loop->min, loop->extent), -1);
        subst_var(ctx, &corner, loop->var, (coefficient > 0) == less ? loop->min : last);
    }
    return analyzer_simplify(an, subst_expr(ctx, &corner, condition));
}

static bool refuse_mixed(Schedule *sch, const Decomposition *step, const Expr *condition)
{
    sched_refuse(sch,
                 "the condition %s of block '%s' mixes loops that reduce with others, so it is not known which elements the init must set",
                 print_expr(sch->ctx, condition), node_name(step->block));
    return sched_note_node(sch, step->block);
}

/* A search for divisors in a part of a condition that ASKED does not divide by. */
typedef struct {
    const Expr *asked;
    const Expr *divisor; /* of the search in ASKED */
    bool found;
} DivisorSearch;

static bool find_same_divisor(Visitor *visitor, const Expr *expr)
{
    DivisorSearch *search = visitor->data;
    search->found |= expr_division_may_fail(expr) && expr_equal(expr->args[1], search->divisor);
    return !search->found;
}

static bool find_new_divisor(Visitor *visitor, const Expr *expr)
{
    DivisorSearch *search = visitor->data;
    if (!expr_division_may_fail(expr))
        return !search->found;
    DivisorSearch same = {.divisor = expr->args[1]};
    Visitor inner = {.expr = find_same_divisor, .data = &same};
    visit_expr(&inner, search->asked);
    search->found |= !same.found;
    return !search->found;
}

/* PART, which comes behind FIRST, may be defined only where what comes before it holds. */
static bool needs_those_before(const Expr *first, const Expr *part)
{
    DivisorSearch search = {.asked = first};
    Visitor visitor = {.expr = find_new_divisor, .data = &search};
    visit_expr(&visitor, part);
    return !expr_is_pure(part) || search.found;
}

static const Expr *join_backwards(Context *ctx, const ExprList *parts)
{
    const Expr *result = expr_bool(ctx, true);
    for (int p = parts->count - 1; p >= 0; p--)
        result = op_and(ctx, result, parts->data[p]);
    return result;
}

/* The conditions that the init keeps, last first as in the reference, and behind them those that only hold somewhere; in their own order where a
   later one may be defined only where those before it hold. */
static bool make_predicate(Schedule *sch, Decomposition *step)
{
    Context *ctx = sch->ctx;
    ExprList parts = {0}, whole = {0};
    loops_split_conjunction(ctx, node_block(step->block)->predicate, &parts);
    bool ordered = false;
    for (int p = 0; p < parts.count; p++) {
        ordered |= p && needs_those_before(parts.data[0], parts.data[p]);
        if (!uses_loops_left(step, parts.data[p]))
            vec_push(ctx->arena, &whole, parts.data[p]);
    }
    step->predicate = join_backwards(ctx, &whole);
    const Expr *in_order = expr_bool(ctx, true);
    for (int p = parts.count - 1; p >= 0; p--) {
        const Expr *kept = parts.data[p];
        if (uses_loops_left(step, kept)) {
            if (condition_can_go(sch, step, kept))
                continue;
            kept = holds_somewhere(sch, step, kept, &parts);
            if (!kept)
                return refuse_mixed(sch, step, parts.data[p]);
            step->predicate = op_and(ctx, step->predicate, kept);
        }
        in_order = op_and(ctx, kept, in_order);
    }
    if (ordered)
        step->predicate = in_order;
    return true;
}

/* --- What else touches the output --- */

static bool check_own_reads(Schedule *sch, const Decomposition *step)
{
    const BlockStmt *block = node_block(step->block);
    Analyzer *an = analyzer_new(sch->ctx);
    for (int r = 0; r < block->read_count; r++) {
        const Region *read = &block->reads[r], *written = regions_find(block->writes, block->write_count, read->buffer);
        bool same = true;
        for (int d = 0; written && d < read->buffer->ndim; d++)
            same &= analyzer_prove_ranges_equal(an, read->ranges[d], written->ranges[d]);
        if (same)
            continue;
        sched_refuse(sch, "block '%s' reads %s besides the element that it updates, and would find it initialized too early",
                     block->block->name, print_region(sch->ctx, read));
        return sched_note_node(sch, step->block);
    }
    return true;
}

static bool check_other_readers(Schedule *sch, const Decomposition *step)
{
    const BlockStmt *block = node_block(step->block);
    for (int w = 0; w < block->write_count; w++) {
        Answer answer = coverage_serves_reads(sch, step->block, block->writes[w].buffer, step->target);
        if (answer_is_shown(answer))
            continue;
        sched_refuse(
            sch, "what else lies under loop '%s' may read '%s' where block '%s' has not written it yet, and would find the init done: %s",
            node_name(step->target), block->writes[w].buffer->name, block->block->name, answer.text);
        return sched_note_node(sch, step->target);
    }
    return true;
}

/* What the inits start from, and what they set, is as it was also before the given loop. */
static bool check_init_may_move(Schedule *sch, const Decomposition *step)
{
    const BlockStmt *block = node_block(step->block);
    Answer answer = dependence_init_may_move(sch->ctx, schedule_func(sch), block, node_loop(step->target)->var);
    if (answer_is_shown(answer))
        return true;
    return refuse_by_answer(sch, answer, "the init of block '%s' may not run before loop '%s'", block->block->name, node_name(step->target));
}

/* --- Building --- */

/* The init block: all axes but those that it reduces over under fresh symbols, the init as body. */
static BlockStmt make_init_block(Context *ctx, const Decomposition *step)
{
    const BlockStmt *block = node_block(step->block);
    BlockStmt init = {.block = block_new(ctx, context_internf(ctx, "%s_init", block->block->name), block->init->span),
                      .annotations = block->annotations};
    init.iters = ARENA_ARRAY(ctx->arena, Iter, block->iter_count);
    init.bindings = ARENA_ARRAY(ctx->arena, const Expr *, block->iter_count);
    Subst axes = {0};
    for (int i = 0; i < block->iter_count; i++) {
        if (block->iters[i].kind == ITER_REDUCE)
            continue;
        Iter iter = block->iters[i];
        iter.var = var_clone(ctx, iter.var, iter.var->name);
        subst_var(ctx, &axes, block->iters[i].var, expr_var(ctx, iter.var));
        init.iters[init.iter_count] = iter;
        init.bindings[init.iter_count++] = block->bindings[i];
    }
    init.predicate = step->predicate;
    init.body = subst_stmt(ctx, &axes, block->init);
    init.write_count = block->write_count;
    init.writes = ARENA_ARRAY(ctx->arena, Region, block->write_count);
    for (int w = 0; w < block->write_count; w++)
        init.writes[w] = subst_region(ctx, &axes, block->writes[w]);
    infer_init_regions(ctx, block, &init);
    return init;
}

/* The init block under copies of the loops it needs. */
static const Stmt *make_init_nest(Context *ctx, const Decomposition *step, BlockStmt init)
{
    const Stmt *stmt = stmt_block(ctx, init, node_block(step->block)->init->span);
    Subst renamed = {0};
    for (int i = step->loop_count - 1; i >= 0; i--) {
        if (!step->chosen[i])
            continue;
        ForStmt loop = *node_loop(step->loops[i]);
        Var *old = loop.var;
        loop.var = var_clone(ctx, old, context_internf(ctx, "%s_init", old->name));
        loop.body = stmt;
        subst_var(ctx, &renamed, old, expr_var(ctx, loop.var));
        stmt = stmt_for(ctx, loop, step->loops[i]->stmt->span);
    }
    return subst_stmt(ctx, &renamed, stmt);
}

/* The block without its init, under a name that says so; it reads what it writes first of all. */
static BlockStmt make_update_block(Context *ctx, const BlockStmt *block)
{
    BlockStmt update = *block;
    update.block = block_new(ctx, context_internf(ctx, "%s_update", block->block->name), block->block->span);
    update.init = NULL;
    update.reads = regions_read_by_update(ctx, block, &update.read_count);
    return update;
}

/* An update that runs again, as for overlapping tiles, must find its init run again: the init may not leave the loop that repeats it. */
static bool check_runs_once(Schedule *sch, const Decomposition *step)
{
    const BlockStmt *block = node_block(step->block);
    const Var *target = node_loop(step->target)->var;
    if (answer_is_shown(dependence_runs_once(sch->ctx, schedule_func(sch), block->block, target)))
        return true;
    sched_refuse(sch,
                 "updates of block '%s' run again in other iterations of loop '%s' or of a loop inside of it, where an init before the "
                 "loop would be missing",
                 block->block->name, target->name);
    return sched_note_node(sch, step->block);
}

bool primitive_decompose_reduction(Schedule *sch, const Value *args, Value *result)
{
    Decomposition step = {.block = schedule_block(sch, args[0].as.block), .target = schedule_loop(sch, args[1].as.loop)};
    if (!step.block || !step.target || !check_block_has_scope(sch, step.block) || !find_loops(sch, &step) ||
        !check_decomposable_block(sch, step.block, step.target) || !check_outer_loops(sch, &step) ||
        !check_nothing_between(sch, &step))
        return false;
    choose_loops(&step);
    if (!make_predicate(sch, &step) || !check_own_reads(sch, &step) || !check_init_is_independent(sch, step.block) ||
        !check_other_readers(sch, &step) || !check_runs_once(sch, &step) || !check_init_may_move(sch, &step))
        return false;

    Context *ctx = sch->ctx;
    const Stmt *block = step.block->stmt, *target = step.target->stmt;
    BlockStmt init = make_init_block(ctx, &step), update = make_update_block(ctx, &block->as.block);
    const Stmt *init_nest = make_init_nest(ctx, &step, init);
    const Var *target_var = target->as.loop.var;
    int outer_count = step.outer_count;
    sched_replace(sch, block, stmt_block(ctx, update, block->span));
    sched_rename_block(sch, block->as.block.block, update.block);
    const Stmt *rest = schedule_find_loop(sch, target_var)->stmt, *items[] = {init_nest, rest};
    sched_replace(sch, rest, stmt_seq(ctx, items, 2));
    *result = value_block(init.block);
    return check_init_runs_once(sch, init.block, outer_count) && check_concurrent_loops_around(sch, schedule_find_block(sch, init.block)) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, update.block));
}
