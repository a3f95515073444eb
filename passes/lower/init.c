/* Pass "init": the init of a reduction block becomes ordinary statements.

     for i, k in T.grid(n, m):                              for i in range(n):
         with T.block("C"):                                     with T.block("C_init"):
             vi, vk = T.axis.remap("SR", [i, k])                    vi = T.axis.spatial(n, i)
             with T.init():                             ->          C[vi] = T.float32(0.0)
                 C[vi] = T.float32(0.0)                         for k in range(m):
             C[vi] = C[vi] + A[vi, vk]                              with T.block("C"):
                                                                        vi, vk = T.axis.remap("SR", [i, k])
                                                                        C[vi] = C[vi] + A[vi, vk]

   The init runs once for each spatial point before its first update, also where the reduction domain is empty. Two forms give that:
   - A nest before the outermost loop that the reduction axes depend on. It runs the init at all points that the loops inside may reach;
     conditions that depend on the reduction alone do not count. That is the meaning where points may lack updates. Else it is used where
     nothing else inside that loop touches what the init writes or writes what the init reads.
   - Else a guard, `if vk == 0: init` inside the block: only where the first update that runs for each point provably is the first iteration
     of all reduction loops, which the reduction axes tell from the others.
   A block to which neither applies is refused. */
#include "passes/lower/init.h"

#include "passes/arith/iter_map.h"
#include "passes/lower/effects.h"

typedef struct {
    VEC(Frame) frames;
    Map roots; /* of views, see effects.h */
    Map nests; /* Var of a loop -> const Stmt * to run before it */
} InitPass;

/* --- The nest --- */
static bool passes_while_loop(const InitSite *site)
{
    for (int i = site->outer; i < site->frame_count; i++)
        if (site->frames[i].stmt->kind == STMT_WHILE)
            return true;
    return false;
}

static bool nest_repeats_points(const InitSite *site)
{
    return maps_meet(&site->reduce_loops, &site->spatial_vars);
}

/* Some loop bound, binding or condition between outer and the block has effects, which a nest would repeat. */
static bool way_has_effects(const InitSite *site)
{
    bool found = false;
    for (int i = 0; i < site->conditions.count; i++)
        found |= expr_has_effects(site->conditions.data[i]);
    for (int i = 0; i < site->block->iter_count; i++)
        found |= expr_has_effects(site->bindings[i]);
    for (int i = site->outer; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        found |= stmt->kind == STMT_FOR && (expr_has_effects(stmt->as.loop.min) || expr_has_effects(stmt->as.loop.extent));
        found |= stmt->kind == STMT_LET && expr_has_effects(stmt->as.let.value);
    }
    return found;
}

/* The nest can stand before outer: all that it names is visible there. */
static bool nest_is_possible(const InitSite *site, const Stmt *nest)
{
    Map inside = symbols_defined(site->ctx, site->frames[site->outer].stmt);
    return !passes_while_loop(site) && !way_has_effects(site) && !stmt_mentions_any(nest, &inside);
}

/* The nest, whose effects INIT are, leaves the same memory as the init run before the first update of each point. */
static bool nest_is_invisible(const InitSite *site, const Effects *init, const Map *roots)
{
    Context *ctx = site->ctx;
    const Stmt *block = site->frames[site->frame_count - 1].stmt;
    Effects body = effects_of_stmt(ctx, roots, site->block->body, NULL),
            others = effects_of_stmt(ctx, roots, site->frames[site->outer].stmt, block);
    if (maps_meet(&others.reads, &init->writes) || maps_meet(&others.writes, &init->writes) || maps_meet(&others.writes, &init->reads))
        return false;
    /* all inits come before all updates now: what updates change besides their own point, no init may need */
    for (int i = 0; i < body.writes.count; i++)
        if (map_has(&init->reads, body.writes.entries[i].key) && !map_has(&init->writes, body.writes.entries[i].key))
            return false;
    return !effects_read_other_elements(init, roots);
}

/* The nest is what the init means. Where points may lack updates, it is by definition; only, an init that reads what it writes must not run
   twice. */
static bool nest_is_right(const InitSite *site, const Stmt *nest, Map *roots)
{
    if (!nest_is_possible(site, nest))
        return false;
    effects_add_view_roots(site->ctx, roots, nest);
    Effects init = effects_of_stmt(site->ctx, roots, nest, NULL);
    if (nest_repeats_points(site) && maps_meet(&init.reads, &init.writes))
        return false;
    return init_site_points_may_lack_updates(site) || nest_is_invisible(site, &init, roots);
}

/* --- The guard --- */
static bool uses_reduction(const InitSite *site, const Expr *expr)
{
    return expr_uses_any(expr, &site->reduce_loops);
}

/* The bounds of the loops from outer on are such that the first iteration of the reduction loops comes first for each point: they do not
   vary with the reduction (those of spatial loops) or with one another (those of reduction loops), and no further loop repeats the
   block. */
static bool loops_allow_guard(const InitSite *site)
{
    for (int i = site->outer; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        if (stmt->kind == STMT_WHILE)
            return false;
        if (stmt->kind != STMT_FOR)
            continue;
        const ForStmt *loop = &stmt->as.loop;
        const Expr *min = init_site_compose(site, loop->min, i - 1), *extent = init_site_compose(site, loop->extent, i - 1);
        if (uses_reduction(site, min) || uses_reduction(site, extent) || expr_reads_memory(min) || expr_reads_memory(extent))
            return false;
        bool known = map_has(&site->reduce_loops, loop->var) || map_has(&site->spatial_vars, loop->var);
        if (!known && !expr_is_int(extent, 1))
            return false;
    }
    return true;
}

/* An analyzer that knows the loops around the block and the conditions that do not vary with the reduction. */
static Analyzer *analyzer_of_site(const InitSite *site)
{
    Analyzer *an = analyzer_new(site->ctx);
    for (int i = 0; i < site->frame_count; i++)
        if (site->frames[i].stmt->kind == STMT_FOR) {
            const ForStmt *loop = &site->frames[i].stmt->as.loop;
            Range range = {init_site_compose(site, loop->min, i - 1), init_site_compose(site, loop->extent, i - 1)};
            analyzer_bind_range_opaque(an, loop->var, range);
        }
    for (int i = 0; i < site->conditions.count; i++)
        if (!uses_reduction(site, site->conditions.data[i]))
            analyzer_assume(an, site->conditions.data[i]);
    return an;
}

/* A search for reduction loops in an expression, outside of what is a coordinate of the point: l % 4 where vi is bound to l % 4. */
typedef struct {
    const InitSite *site;
    const ExprList *coordinates;
    bool found;
} ReductionSearch;

static bool find_reduction(Visitor *visitor, const Expr *expr)
{
    ReductionSearch *search = visitor->data;
    for (int i = 0; i < search->coordinates->count; i++)
        if (expr_equal(expr, search->coordinates->data[i]))
            return false;
    search->found |= expr->kind == EXPR_VAR && map_has(&search->site->reduce_loops, expr->value.var);
    return true;
}

/* CONDITION does not vary with the reduction, only with the point, although both may depend on the same loops. */
static bool is_on_point(const InitSite *site, Analyzer *an, const Expr *condition)
{
    ExprList coordinates = {0};
    for (int i = 0; i < site->block->iter_count; i++)
        if (site->block->iters[i].kind != ITER_REDUCE)
            vec_push(site->ctx->arena, &coordinates, analyzer_simplify(an, init_site_without_unit_loops(site, site->bindings[i])));
    ReductionSearch search = {site, &coordinates, false};
    Visitor visitor = {.expr = find_reduction, .data = &search};
    visit_expr(&visitor, analyzer_simplify(an, condition));
    return !search.found;
}

/* The conditions that vary with the reduction hold in its first iteration, where its loops have the values of FIRST. */
static bool conditions_allow_guard(const InitSite *site, Analyzer *an, Subst *first)
{
    for (int i = 0; i < site->conditions.count; i++) {
        const Expr *condition = site->conditions.data[i];
        if (expr_reads_memory(condition))
            return false;
        if (uses_reduction(site, condition) && !is_on_point(site, an, condition) &&
            !analyzer_prove(an, subst_expr(site->ctx, first, condition)))
            return false;
    }
    return true;
}

static Range composed_range(const InitSite *site, const ForStmt *loop)
{
    return (Range){init_site_compose(site, loop->min, site->frame_count - 1), init_site_compose(site, loop->extent, site->frame_count - 1)};
}

/* How the block's axes, or only those that are not SPATIAL too, come from the loops: those of the reduction, or all from outer on where the
   block runs. */
static bool axes_are_bijective(const InitSite *site, Analyzer *an, bool spatial, IterMapResult *result)
{
    Context *ctx = site->ctx;
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, site->block->iter_count);
    VarRange *loops = ARENA_ARRAY(ctx->arena, VarRange, site->frame_count);
    IterMapQuery query = {.bindings = bindings, .iters = loops, .level = ITER_MAP_BIJECTIVE, .simplify_trivial = true};
    if (spatial)
        query.predicate = conjunction_join(ctx, &site->conditions);
    for (int i = 0; i < site->block->iter_count; i++)
        if (spatial || site->block->iters[i].kind == ITER_REDUCE)
            bindings[query.binding_count++] = site->bindings[i];
    for (int i = site->outer; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        if (stmt->kind == STMT_FOR && (spatial || map_has(&site->reduce_loops, stmt->as.loop.var)))
            loops[query.iter_count++] = (VarRange){stmt->as.loop.var, composed_range(site, &stmt->as.loop)};
    }
    return iter_map_detect(an, &query, result);
}

/* Each iteration of the reduction loops has its own values of the reduction axes, so that the axes tell the first iteration. */
static bool axes_tell_iterations(const InitSite *site, Analyzer *an)
{
    IterMapResult result;
    return axes_are_bijective(site, an, false, &result);
}

/* The loop that MARK stands for, as the index of its frame; -1 when it is made of several or of parts. */
static int frame_of_mark(const InitSite *site, const IterMark *mark)
{
    for (int i = site->outer; mark->input && i < site->frame_count; i++)
        if (site->frames[i].stmt->kind == STMT_FOR && expr_uses_var(mark->input, site->frames[i].stmt->as.loop.var))
            return i;
    return -1;
}

static bool is_whole_iterator(const IterSplit *split)
{
    return expr_is_int(split->lower_factor, 1) && expr_equal(split->extent, split->source->extent);
}

/* SUM, which is compact, counts the iterations of whole loops in their order: outer * 8 + inner. */
static bool sum_counts_iterations(const InitSite *site, const IterSum *sum)
{
    int64_t scale_before = INT64_MAX, scale;
    int frame_before = -1;
    for (int i = 0; i < sum->count; i++) {
        const IterSplit *split = &sum->args[i];
        int frame = frame_of_mark(site, split->source);
        if (!is_whole_iterator(split) || frame <= frame_before || !expr_const_int(split->scale, &scale) || scale <= 0 || scale >= scale_before)
            return false;
        scale_before = scale;
        frame_before = frame;
    }
    return true;
}

/* SPLIT, whatever its scale, is a digit of a loop variable, or of the number of an iteration of several loops; or it is a sum of such
   digits, which grows with each of them. */
static bool is_digit(const InitSite *site, const IterSplit *split)
{
    const IterSum *sum = split->source->sum;
    if (split->source->input || sum_counts_iterations(site, sum))
        return true;
    bool is = sum->count == 1 || is_whole_iterator(split);
    int64_t scale;
    for (int i = 0; is && i < sum->count; i++)
        is = expr_const_int(sum->args[i].scale, &scale) && scale > 0 && is_digit(site, &sum->args[i]);
    return is;
}

/* The axes are digits of loop variables. Then in all iterations for one point the reduction's digits come from zero on, in the order of the
   loops, also where a loop has digits of both kinds: k = kj // 2, j = kj % 2; or k = 7 - kj // 2, which the digit 0 makes 7. */
static bool axes_are_digits_of_loops(const InitSite *site, Analyzer *an)
{
    IterMapResult result;
    if (!axes_are_bijective(site, an, true, &result))
        return false;
    for (int i = 0; i < result.count; i++)
        for (int k = 0; k < result.sums[i]->count; k++)
            if (!is_digit(site, &result.sums[i]->args[k]))
                return false;
    return true;
}

/* Some condition varies with a loop that both the reduction and the points depend on: nothing is known of a point's first iteration. */
static bool conditions_mix_points(const InitSite *site, Analyzer *an)
{
    for (int i = 0; i < site->conditions.count; i++)
        for (int k = 0; k < site->reduce_loops.count; k++) {
            const Var *loop = site->reduce_loops.entries[k].key;
            if (map_has(&site->spatial_vars, loop) && expr_uses_var(site->conditions.data[i], loop) &&
                !is_on_point(site, an, site->conditions.data[i]))
                return true;
        }
    return false;
}

/* In the first iteration for each point the reduction axes have the values that their loops' first iterations give them, and no other
   iteration for the point has them. */
static bool axes_tell_first_update(const InitSite *site, Analyzer *an)
{
    if (!nest_repeats_points(site))
        return axes_tell_iterations(site, an);
    return !conditions_mix_points(site, an) && axes_are_digits_of_loops(site, an);
}

/* The condition, on the reduction axes, that this is the first iteration of all reduction loops; NULL where it is not shown to be the first
   update of each point. */
static const Expr *find_guard(const InitSite *site)
{
    Context *ctx = site->ctx;
    Subst first = {0};
    for (int i = 0; i < site->reduce_loops.count; i++) {
        const Stmt *loop = site->reduce_loops.entries[i].value;
        if (loop->kind != STMT_FOR)
            return NULL;
        subst_var(ctx, &first, loop->as.loop.var, composed_range(site, &loop->as.loop).min);
    }
    Analyzer *an = analyzer_of_site(site);
    if (!loops_allow_guard(site) || !conditions_allow_guard(site, an, &first) || !axes_tell_first_update(site, an))
        return NULL;
    ExprList parts = {0};
    for (int i = 0; i < site->block->iter_count; i++) {
        Var *var = site->block->iters[i].var;
        if (site->block->iters[i].kind != ITER_REDUCE)
            continue;
        const Expr *value = analyzer_simplify(an, subst_expr(ctx, &first, site->bindings[i]));
        if (value->kind != EXPR_INT) /* what it mentions may not be visible inside the block */
            return NULL;
        vec_push(ctx->arena, &parts, op_compare(ctx, EXPR_EQ, expr_var(ctx, var), op_cast(ctx, var->dtype, value)));
    }
    return conjunction_join(ctx, &parts);
}

/* --- The pass --- */
static void add_nest(Context *ctx, InitPass *pass, const InitSite *site, const Stmt *nest)
{
    const Var *loop = site->frames[site->outer].stmt->as.loop.var;
    const Stmt *before = map_get(&pass->nests, loop);
    if (before) {
        const Stmt *both[] = {before, nest};
        nest = stmt_seq(ctx, both, 2);
    }
    map_set(ctx->arena, &pass->nests, loop, (void *)nest);
}

/* The reads of UPDATE, with its write regions in front where they are not among them: an update reads what it adds to. */
static void add_reads_of_update(Context *ctx, BlockStmt *update)
{
    Region *reads = ARENA_ARRAY(ctx->arena, Region, update->write_count + update->read_count);
    int count = 0;
    for (int i = 0; i < update->write_count; i++) {
        bool known = false;
        for (int k = 0; k < update->read_count; k++)
            known |= update->reads[k].buffer == update->writes[i].buffer;
        if (!known)
            reads[count++] = update->writes[i];
    }
    for (int i = 0; i < update->read_count; i++)
        reads[count++] = update->reads[i];
    update->reads = reads;
    update->read_count = count;
}

static void refuse(const InitSite *site)
{
    const Stmt *block = site->frames[site->frame_count - 1].stmt, *outer = site->frames[site->outer].stmt;
    diag_error(site->ctx, block->span, "the init of block '%s' can stand neither before its reduction nor in the first iteration of it",
               site->block->block->name);
    diag_note(site->ctx, outer->span,
              "loop '%s' holds other accesses to what the init needs, and the first update of each point is not shown to be the first iteration",
              outer->as.loop.var->name);
}

/* A loop that is not of the reduction has no iterations: there is no point that could have an init. */
static bool has_no_point(const InitSite *site)
{
    for (int i = 0; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        if (stmt_is_empty_loop(stmt) && (i < site->outer || map_has(&site->spatial_loops, stmt->as.loop.var)))
            return true;
    }
    return false;
}

/* STMT, a block with init, as its update, with the init in it where that is its place. */
static const Stmt *split_init(Context *ctx, InitPass *pass, const Stmt *stmt)
{
    InitSite *site = init_site_new(ctx, pass->frames.data, pass->frames.count, &stmt->as.block);
    BlockStmt update = stmt->as.block;
    const Stmt *init = update.init, *parts[2] = {init, update.body};
    update.init = NULL;
    if (site->outer >= 0) {
        add_reads_of_update(ctx, &update);
        if (has_no_point(site))
            return stmt_block(ctx, update, stmt->span);
        const Stmt *nest = init_site_nest(site);
        if (nest_is_right(site, nest, &pass->roots)) {
            add_nest(ctx, pass, site, nest);
            return stmt_block(ctx, update, stmt->span);
        }
        const Expr *guard = find_guard(site);
        if (!guard) {
            refuse(site);
            return stmt;
        }
        parts[0] = stmt_if(ctx, guard, init, NULL, init->span);
    }
    update.body = stmt_seq(ctx, parts, 2);
    return stmt_block(ctx, update, stmt->span);
}

static const Stmt *init_in_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *init_in_branches(Rewriter *rewriter, const Stmt *stmt)
{
    InitPass *pass = rewriter->data;
    const Stmt *bodies[2] = {stmt->as.branch.then_body, stmt->as.branch.else_body};
    for (int i = 0; i < 2 && bodies[i]; i++) {
        vec_push(rewriter->ctx->arena, &pass->frames, ((Frame){stmt, i == 1}));
        bodies[i] = init_in_stmt(rewriter, bodies[i]);
        pass->frames.count--;
    }
    if (bodies[0] == stmt->as.branch.then_body && bodies[1] == stmt->as.branch.else_body)
        return stmt;
    return stmt_if(rewriter->ctx, stmt->as.branch.condition, bodies[0], bodies[1], stmt->span);
}

static const Stmt *init_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    InitPass *pass = rewriter->data;
    Context *ctx = rewriter->ctx;
    if (stmt->kind == STMT_IF)
        return init_in_branches(rewriter, stmt);
    vec_push(ctx->arena, &pass->frames, ((Frame){stmt, false}));
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (result->kind == STMT_BLOCK && result->as.block.init)
        result = split_init(ctx, pass, result);
    pass->frames.count--;
    const Stmt *nest = stmt->kind == STMT_FOR ? map_get(&pass->nests, stmt->as.loop.var) : NULL;
    if (!nest)
        return result;
    const Stmt *both[] = {nest, result};
    return stmt_seq(ctx, both, 2);
}

const Func *lower_init(LowerState *state, const Func *func)
{
    InitPass pass = {.roots = {0}};
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = init_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
