/* Is a program still right after a block went below another loop? See dependence_producer_may_move and
   dependence_consumer_may_move in dependence.h. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/pairs/witness.h"
#include "passes/analysis/questions/conflict.h"
#include "passes/analysis/questions/order.h"

/* --- a producer --- */

/* What the moved block reads and others write: its inputs must not change on the way. A call that may touch anything keeps its place among all. */
static bool is_input_pair(void *data, const Access *a, const Access *b)
{
    bool first = access_in_block(a, data), second = access_in_block(b, data);
    const Access *moved = first ? a : b;
    return first != second && (a->fence || b->fence || (!moved->write && !moved->group));
}

/* The data variables that BLOCK writes. */
static Map written_data(Context *ctx, const AccessList *accesses, const Block *block)
{
    Map written = {0};
    for (int i = 0; i < accesses->count; i++)
        if (accesses->data[i].write && accesses->data[i].data && access_in_block(&accesses->data[i], block))
            map_set(ctx->arena, &written, accesses->data[i].data, (void *)&accesses->data[i]);
    return written;
}

/* The writes of BLOCK to what READ reads that come before it. */
static AccessRefs writes_before(Context *ctx, const AccessList *accesses, const Block *block, const Access *read)
{
    AccessRefs writes = {0};
    for (int i = 0; i < accesses->count; i++) {
        const Access *write = &accesses->data[i];
        if (write->write && write->data == read->data && !write->whole && !read->whole && access_in_block(write, block) &&
            access_precedes(write, read))
            vec_push(ctx->arena, &writes, write);
    }
    return writes;
}

/* After some write of BLOCK comes code that may read anything, which no regions tell. */
static bool is_read_by_fence(const AccessList *accesses, const Block *block)
{
    for (int i = 0; i < accesses->count; i++)
        for (int j = 0; j < accesses->count && accesses->data[i].fence && !access_in_block(&accesses->data[i], block); j++)
            if (accesses->data[j].write && access_in_block(&accesses->data[j], block) && access_precedes(&accesses->data[j], &accesses->data[i]))
                return true;
    return false;
}

bool conflict_moved_producer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict)
{
    OrderQuestion question = {before, after, before->body, after->body, block, is_input_pair, (void *)block, block};
    if (order_changes(ctx, &question, conflict))
        return true;
    AccessList accesses = access_collect(ctx, after);
    if (is_read_by_fence(&accesses, block) && conflict_loses_instances(ctx, before, after, block, conflict))
        return true;
    Map sizes = func_sizes(ctx, after), written = written_data(ctx, &accesses, block);
    for (int i = 0; i < accesses.count; i++) {
        const Access *read = &accesses.data[i];
        if (read->write || !read->data || !map_has(&written, read->data) || access_in_block(read, block))
            continue;
        AccessRefs writes = writes_before(ctx, &accesses, block, read);
        Answer covered = access_covered(ctx, writes.data, writes.count, read, NULL, &sizes);
        if (answer_is_shown(covered))
            continue;
        bool refuted = covered.verdict == ANSWER_REFUTED;
        const char *text =
            refuted ? arena_printf(ctx->arena, "%s is read there, but not computed in the same iteration", covered.text)
                    : arena_printf(ctx->arena, "that each iteration computes all of '%s' that it reads cannot be shown", read->buffer->name);
        *conflict = (Conflict){read, NULL, refuted, text};
        return true;
    }
    return false;
}

/* --- a consumer --- */

/* The frame of the block around the one that FRAME, the beginning of its body, belongs to. */
static const Frame *scope_frame(const Frame *frame)
{
    while (frame && frame->kind != FRAME_BLOCK)
        frame = frame->outer;
    frame = frame ? frame->outer : NULL;
    while (frame && frame->kind != FRAME_BLOCK)
        frame = frame->outer;
    return frame;
}

/* Restricts SPACE to the iterations of the loops around FRAME in which STMT runs. Where only reduce axes are bound to a loop, an init
   counts as an instance also when the loop has no iteration. */
static void assume_instance(AffineSpace *space, const Frame *frame, const AffineEnv *env, const BlockStmt *stmt)
{
    if (!frame)
        return;
    bool binds = frame->kind == FRAME_LOOP || frame->kind == FRAME_BIND;
    assume_instance(space, frame->outer, binds ? env->outer : env, stmt);
    if (frame->kind == FRAME_CONDITION)
        affine_assume(space, env, frame->value, frame->negated);
    if (frame->kind != FRAME_LOOP)
        return;
    Range range = frame->stmt->kind == STMT_FOR ? (Range){frame->stmt->as.loop.min, frame->stmt->as.loop.extent} : frame->range;
    if (stmt->init && block_only_reduces_over(stmt, frame->var))
        range.extent = op_max(space->ctx, range.extent, expr_int(space->ctx, range.extent->dtype, 1));
    affine_assume_range(space, env->outer, env->dim, range);
}

/* The instances of BLOCK that run in each iteration of the outermost KEPT loops, as a set of those and of iterator values; NULL when
   unknown. TERMS (may be NULL) name what is not affine but one value in each of these iterations. */
static isl_set *instances(Context *ctx, const AccessList *accesses, const Block *block, int kept, AffineTerms *terms, const Map *sizes,
                          bool *exact)
{
    const BlockStmt *stmt = NULL;
    const Frame *frame = access_block_frame(accesses, block, &stmt);
    if (!frame)
        return NULL;
    int loops = frame_loop_count(frame);
    AffineSpace space = affine_universe(ctx, loops + stmt->iter_count, sizes);
    space.terms = terms;
    const AffineEnv *env = frame_env(ctx, frame, 0);
    assume_instance(&space, frame, env, stmt);
    for (int i = 0; i < stmt->iter_count; i++) {
        const Expr *var = expr_var(ctx, stmt->iters[i].var);
        AffineEnv value = {NULL, stmt->iters[i].var, loops + i, NULL};
        affine_assume_compare(&space, EXPR_EQ, &value, var, env, var);
    }
    *exact = !space.approximate;
    for (int i = 0; i < stmt->iter_count; i++) /* says no more where the bindings are affine; an init may have nothing to reduce over */
        if (stmt->iters[i].kind != ITER_REDUCE || !stmt->init)
            affine_assume_range(&space, env, loops + i, stmt->iters[i].domain);
    isl_set *set = affine_take_set(&space);
    return set ? isl_set_project_out(set, isl_dim_set, (unsigned)kept, (unsigned)(loops - kept)) : NULL;
}

/* A cheap argument that the instances of STMT are its whole domain: each iterator is a loop variable over just that, and nothing else may
   keep an instance from running. */
static bool runs_over_domain(const Frame *frame, const BlockStmt *stmt)
{
    int bound = 0;
    const Frame *scope = scope_frame(frame);
    for (; frame != scope; frame = frame->outer) {
        int iter = 0;
        if (frame->kind == FRAME_CONDITION && !expr_is_int(frame->value, !frame->negated))
            return false;
        if (frame->kind != FRAME_LOOP)
            continue;
        while (iter < stmt->iter_count && !expr_is_var(stmt->bindings[iter], frame->var))
            iter++;
        const Range *domain = iter < stmt->iter_count ? &stmt->iters[iter].domain : NULL;
        if (!domain || !expr_equal(domain->min, frame->range.min) || !expr_equal(domain->extent, frame->range.extent))
            return false;
        bound++;
    }
    return bound == stmt->iter_count;
}

/* Some loop around FRAME has no iteration, whatever its frame says for the sake of an init (see access_collect). */
static bool has_empty_loop(const Frame *frame)
{
    while (frame && !(frame->kind == FRAME_LOOP && stmt_is_empty_loop(frame->stmt)))
        frame = frame->outer;
    return frame != NULL;
}

Answer all_run_by_loops(const Goal *goal)
{
    return answer_if(runs_over_domain(goal->frame, goal->block));
}

/* The argument speaks of all loops around the block: none may be outside of its scope. */
Answer all_run_by_bindings(const Goal *goal)
{
    bool outermost = !frame_loop_count(scope_frame(goal->frame));
    return answer_if(outermost && !has_empty_loop(goal->frame) && block_runs_completely(goal->ctx, goal->block, goal->frame, goal->sizes));
}

/* In each iteration of the loops around its scope STMT runs for all of its domain. */
static bool surely_runs_over_domain(Context *ctx, const Frame *frame, const BlockStmt *stmt, const Map *sizes)
{
    return answer_is_shown(prove((Goal){.kind = GOAL_ALL_RUN, .ctx = ctx, .sizes = sizes, .block = stmt, .frame = frame}));
}

/* "vi = 3, vj = 0" for a point of SET (taken), whose dimensions are KEPT loops and then the iterators of STMT; NULL when none is found. */
static const char *instance_text(Context *ctx, const BlockStmt *stmt, int kept, isl_set *set, const Map *sizes)
{
    Var **vars = ARENA_ARRAY(ctx->arena, Var *, stmt->iter_count);
    for (int i = 0; i < stmt->iter_count; i++)
        vars[i] = stmt->iters[i].var;
    return values_text(ctx, vars, stmt->iter_count, kept, set, sizes);
}

/* In each iteration of the loops that both programs have around BLOCK, every instance of SOME runs in ALL too: more than is needed, but the
   iterations need not be known by affine expressions. */
static bool instances_are_among_in_common_loops(Context *ctx, const AccessList *some, const AccessList *all, const Block *block,
                                                const Map *sizes)
{
    const BlockStmt *stmt;
    AffineTerms terms = {.fixed = frame_common_loops(ctx, access_block_frame(some, block, &stmt), access_block_frame(all, block, &stmt))};
    bool exact_some = false, exact_all = false;
    isl_set *some_set = instances(ctx, some, block, terms.fixed, &terms, sizes, &exact_some),
            *all_set = instances(ctx, all, block, terms.fixed, &terms, sizes, &exact_all);
    bool within = some_set && all_set && exact_all && isl_set_is_subset(some_set, all_set) == isl_bool_true;
    isl_set_free(some_set);
    isl_set_free(all_set);
    return within;
}

/* Every instance of BLOCK in SOME_FUNC runs in ALL_FUNC too. Otherwise *WITNESS is one that does not, or NULL when this is not sure. */
static bool instances_are_among(Context *ctx, const Func *some_func, const Func *all_func, const Block *block, const char **witness)
{
    AccessList some = access_collect(ctx, some_func), all = access_collect(ctx, all_func);
    const BlockStmt *stmt = NULL, *some_stmt = NULL;
    const Frame *frame = access_block_frame(&all, block, &stmt), *some_frame = access_block_frame(&some, block, &some_stmt);
    *witness = NULL;
    Map sizes = func_sizes(ctx, some_func);
    if (!frame || surely_runs_over_domain(ctx, frame, stmt, &sizes))
        return frame != NULL;
    Goal among = {.kind = GOAL_RUN_AMONG, .ctx = ctx, .sizes = &sizes, .block = stmt, .frame = frame, .other = some_stmt, .other_frame = some_frame};
    if (some_frame && !has_empty_loop(frame) && answer_is_shown(prove(among)))
        return true;
    bool exact_some = false, exact_all = false;
    int kept = frame_loop_count(scope_frame(frame));
    isl_set *some_set = instances(ctx, &some, block, kept, NULL, &sizes, &exact_some),
            *all_set = instances(ctx, &all, block, kept, NULL, &sizes, &exact_all);
    isl_set *lacking = isl_set_subtract(some_set, all_set); /* takes both, NULL included */
    if (lacking && exact_all && isl_set_is_empty(lacking) == isl_bool_true) {
        isl_set_free(lacking);
        return true;
    }
    if (lacking && exact_all && exact_some)
        *witness = instance_text(ctx, stmt, kept, lacking, &sizes);
    else
        isl_set_free(lacking);
    return !*witness && instances_are_among_in_common_loops(ctx, &some, &all, block, &sizes);
}

/* All points of the domains of STMT, with SPATIAL those of its spatial iterators only, in the iterations of the loops around SCOPE; KEPT of
   them. */
static isl_set *all_points(Context *ctx, const Frame *scope, const BlockStmt *stmt, int kept, const Map *sizes, bool spatial)
{
    AffineSpace space = affine_universe(ctx, kept + stmt->iter_count, sizes);
    const AffineEnv *env = frame_env(ctx, scope, 0);
    frame_assume(&space, scope, env);
    for (int i = 0; i < stmt->iter_count; i++)
        if (!spatial || stmt->iters[i].kind == ITER_SPATIAL)
            affine_assume_range(&space, env, kept + i, stmt->iters[i].domain);
    return affine_take_set(&space);
}

/* SET without the dimensions of the iterators that are not spatial. */
static isl_set *spatial_part(isl_set *set, const BlockStmt *stmt, int kept)
{
    for (int i = stmt->iter_count - 1; set && i >= 0; i--)
        if (stmt->iters[i].kind != ITER_SPATIAL)
            set = isl_set_project_out(set, isl_dim_set, (unsigned)(kept + i), 1);
    return set;
}

/* The iterators of STMT that are not spatial have values. */
static bool others_have_values(const BlockStmt *stmt)
{
    for (int i = 0; i < stmt->iter_count; i++) {
        int64_t extent;
        if (stmt->iters[i].kind != ITER_SPATIAL && !(expr_const_int(stmt->iters[i].domain.extent, &extent) && extent > 0))
            return false;
    }
    return true;
}

/* BLOCK runs for all points of its domain; with SPATIAL those of its spatial iterators' domains, for some values of the others. Otherwise
   *LACKING are points for which it does not run, owned by the caller; NULL when not even that is known. */
static bool runs_for_all(Context *ctx, const Func *func, const Block *block, bool spatial, isl_set **lacking)
{
    *lacking = NULL;
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    const BlockStmt *stmt = NULL;
    const Frame *frame = access_block_frame(&accesses, block, &stmt);
    if (!frame)
        return false;
    if ((!spatial || others_have_values(stmt)) && surely_runs_over_domain(ctx, frame, stmt, &sizes))
        return true;
    bool exact;
    int kept = frame_loop_count(scope_frame(frame));
    isl_set *run = instances(ctx, &accesses, block, kept, NULL, &sizes, &exact);
    isl_set *points = all_points(ctx, scope_frame(frame), stmt, kept, &sizes, spatial);
    if (spatial) {
        points = spatial_part(points, stmt, kept);
        run = spatial_part(run, stmt, kept);
    }
    isl_set *missing = isl_set_subtract(points, run); /* takes both, NULL included */
    bool served = exact && missing && isl_set_is_empty(missing) == isl_bool_true;
    if (served || !exact)
        isl_set_free(missing);
    else
        *lacking = missing;
    return served;
}

bool shown_serves_all_points(Context *ctx, const Func *func, const Block *block)
{
    isl_set *lacking;
    bool all = runs_for_all(ctx, func, block, true, &lacking);
    isl_set_free(lacking);
    return all;
}

bool shown_runs_over_domain(Context *ctx, const Func *func, const Block *block, Conflict *conflict)
{
    isl_set *lacking;
    if (runs_for_all(ctx, func, block, false, &lacking))
        return true;
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    const BlockStmt *stmt = NULL;
    const Frame *frame = access_block_frame(&accesses, block, &stmt);
    const char *witness = lacking ? instance_text(ctx, stmt, frame_loop_count(scope_frame(frame)), lacking, &sizes) : NULL;
    const char *text = witness ? arena_printf(ctx->arena, "'%s' does not run for %s", block->name, witness)
                               : arena_printf(ctx->arena, "that '%s' runs for all values of its axes cannot be shown", block->name);
    *conflict = (Conflict){.witnessed = witness != NULL, .text = text};
    return false;
}

/* The instances of BLOCK in SOME are not shown to be among those in ALL: a conflict by the words WITNESSED, which take the block and an instance that
   lacks, or UNKNOWN, which take the block. */
__attribute__((format(printf, 5, 0))) __attribute__((format(printf, 6, 0)))
static bool lacks_instances(Context *ctx, const Func *some, const Func *all, const Block *block, const char *witnessed, const char *unknown,
                            Conflict *conflict)
{
    const char *witness;
    if (instances_are_among(ctx, some, all, block, &witness))
        return false;
    *conflict = (Conflict){.witnessed = witness != NULL};
    conflict->text = witness ? arena_printf(ctx->arena, witnessed, block->name, witness) : arena_printf(ctx->arena, unknown, block->name);
    return true;
}

bool conflict_adds_instances(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict)
{
    return lacks_instances(ctx, after, before, block, "'%s' would run for %s, which it does not now",
                           "that '%s' runs for no more instances than now cannot be shown", conflict);
}

bool conflict_loses_instances(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict)
{
    return lacks_instances(ctx, before, after, block, "'%s' would no longer run for %s", "that every instance of '%s' still runs cannot be shown",
                           conflict);
}

bool conflict_moved_consumer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict)
{
    if (conflict_loses_instances(ctx, before, after, block, conflict))
        return true;
    OrderQuestion question = {before, after, before->body, after->body, block, NULL, NULL, NULL};
    return order_changes(ctx, &question, conflict);
}

/* --- a consumer that joins its producer, and the other way round --- */

bool access_comes_before(Context *ctx, const Access *a, const Access *b, const Map *sizes, int common, Conflict *conflict)
{
    Pair pair = pair_new(ctx, a, b);
    pair_build(&pair, sizes, 0);
    pair_assume_equal(&pair, &pair.space, common);
    bool before = false;
    for (int level = common; level < pair.common && !before; level++) {
        AffineSpace earlier = affine_copy(&pair.space);
        affine_assume_dims(&earlier, EXPR_LT, level, pair.count_a + level);
        before = pair_conflicts(&pair, earlier, conflict);
        affine_assume_dims(&pair.space, EXPR_EQ, level, pair.count_a + level);
    }
    if (!before && access_precedes(a, b))
        return pair_conflicts(&pair, pair.space, conflict);
    affine_free(&pair.space);
    return before;
}

bool conflict_leaves_instances(Context *ctx, const Func *func, const Block *producer, const Block *consumer, Conflict *conflict)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func), written = written_data(ctx, &accesses, producer);
    const BlockStmt *stmt = NULL;
    const Frame *frame = access_block_frame(&accesses, consumer, &stmt);
    for (int i = 0; i < accesses.count; i++) {
        Access read = accesses.data[i];
        const Access *write = read.write || !access_in_block(&read, consumer) ? NULL : map_get(&written, read.data);
        if (!write)
            continue;
        read.frame = frame; /* the instance runs whether or not a choice in it asks for the element */
        read.asked = true;
        Answer covered = access_covered(ctx, &write, 1, &read, NULL, &sizes);
        if (!read.whole && !write->whole && answer_is_shown(covered))
            continue;
        bool refuted = covered.verdict == ANSWER_REFUTED;
        const char *text = refuted ? arena_printf(ctx->arena, "'%s' does not write %s", producer->name, covered.text)
                                 : arena_printf(ctx->arena, "that '%s' writes the element of '%s' that each of them reads cannot be shown",
                                                producer->name, read.buffer->name);
        *conflict = (Conflict){&accesses.data[i], write, refuted, text};
        return true;
    }
    return false;
}

/* --- instances that run again --- */

/* No instance of the block whose accesses PAIR stands for runs again in the loops from LEVEL inwards. */
static bool runs_once_in_set(Pair *pair, const BlockStmt *block, const Map *sizes, int level)
{
    pair_build(pair, sizes, 0);
    pair_assume_equal(pair, &pair->space, level);
    for (int i = 0; i < block->iter_count; i++) {
        const Expr *iter = expr_var(pair->ctx, block->iters[i].var);
        affine_assume_compare(&pair->space, EXPR_EQ, pair->env_a, iter, pair->env_b, iter);
    }
    bool once = true;
    for (; level < pair->common && once; level++) {
        AffineSpace again = affine_copy(&pair->space);
        affine_assume_dims(&again, EXPR_LT, level, pair->count_a + level);
        once = affine_verdict(&again) == SET_EMPTY;
        affine_free(&again);
        affine_assume_dims(&pair->space, EXPR_EQ, level, pair->count_a + level);
    }
    affine_free(&pair->space);
    return once;
}

bool shown_runs_once(Context *ctx, const Func *func, const Block *block, const Var *var)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    const BlockStmt *stmt = NULL;
    const Frame *frame = access_block_frame(&accesses, block, &stmt);
    if (!frame)
        return false;
    Access instance = {.func = func, .frame = frame, .whole = true};
    Pair pair = pair_new(ctx, &instance, &instance);
    return runs_once_in_set(&pair, stmt, &sizes, pair_level(&pair, var));
}
