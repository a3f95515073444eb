/* Analysis of a block with init: whether the first update of each point is the first iteration of its reduction, so that the init can stand
   there. See init.h. */
#include "passes/arith/iter_map.h"
#include "passes/lower/blocks/init.h"

static bool uses_reduction(const InitSite *site, const Expr *expr)
{
    return expr_uses_any(expr, &site->reduce_loops);
}

/* EXPR may have another value the next time, for what memory holds: it reads some, or uses a let between outer and the block, which does. */
static bool depends_on_memory(const InitSite *site, const Expr *expr)
{
    bool depends = expr_reads_memory(expr);
    for (int i = site->outer; i < site->frame_count; i++)
        depends |= site->frames[i].stmt->kind == STMT_LET && expr_uses_var(expr, site->frames[i].stmt->as.let.var);
    return depends;
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
        if (uses_reduction(site, min) || uses_reduction(site, extent) || depends_on_memory(site, min) || depends_on_memory(site, extent))
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
        if (!uses_reduction(site, site->conditions.data[i].expr))
            analyzer_assume(an, site->conditions.data[i].expr);
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
    for (int i = 0; i < site->axes_around.count; i++)
        vec_push(site->ctx->arena, &coordinates, analyzer_simplify(an, init_site_without_unit_loops(site, site->axes_around.data[i].binding)));
    ReductionSearch search = {site, &coordinates, false};
    Visitor visitor = {.expr = find_reduction, .data = &search};
    visit_expr(&visitor, analyzer_simplify(an, condition));
    return !search.found;
}

/* The conditions that vary with the reduction hold in its first iteration, where its loops have the values of FIRST. */
static bool conditions_allow_guard(const InitSite *site, Analyzer *an, Subst *first)
{
    for (int i = 0; i < site->conditions.count; i++) {
        const Expr *condition = site->conditions.data[i].expr;
        if (depends_on_memory(site, condition) || expr_is_int(analyzer_simplify(an, condition), 0))
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

/* Which axes count. */
typedef enum {
    AXES_REDUCE, /* the block's reduce axes */
    AXES_BLOCK,  /* all of the block */
    AXES_AROUND, /* those, and the spatial ones of blocks around */
} Axes;

/* How AXES come from the loops: those of the reduction, or, if not just the reduce axes count, all from outer on where the block runs. */
static bool axes_are_bijective(const InitSite *site, Analyzer *an, Axes axes, IterMapResult *result)
{
    bool spatial = axes != AXES_REDUCE;
    Context *ctx = site->ctx;
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, site->block->iter_count + site->axes_around.count);
    VarRange *loops = ARENA_ARRAY(ctx->arena, VarRange, site->frame_count);
    IterMapQuery query = {.bindings = bindings, .iters = loops, .level = ITER_MAP_BIJECTIVE, .simplify_trivial = true};
    ExprList conditions = {0};
    for (int i = 0; i < site->conditions.count; i++)
        vec_push(ctx->arena, &conditions, site->conditions.data[i].expr);
    if (spatial)
        query.predicate = conjunction_join(ctx, &conditions);
    for (int i = 0; i < site->block->iter_count; i++)
        if (spatial || site->block->iters[i].kind == ITER_REDUCE)
            bindings[query.binding_count++] = site->bindings[i];
    for (int i = 0; axes == AXES_AROUND && i < site->axes_around.count; i++)
        bindings[query.binding_count++] = site->axes_around.data[i].binding;
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
    return axes_are_bijective(site, an, AXES_REDUCE, &result);
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
    if (!axes_are_bijective(site, an, AXES_BLOCK, &result) && !axes_are_bijective(site, an, AXES_AROUND, &result))
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
            if (map_has(&site->spatial_vars, loop) && expr_uses_var(site->conditions.data[i].expr, loop) &&
                !is_on_point(site, an, site->conditions.data[i].expr))
                return true;
        }
    return false;
}

/* In the first iteration for each point the reduction axes have the values that their loops' first iterations give them, and no other
   iteration for the point has them. */
static bool axes_tell_first_update(const InitSite *site, Analyzer *an)
{
    if (!init_site_nest_repeats_points(site))
        return axes_tell_iterations(site, an);
    return !conditions_mix_points(site, an) && axes_are_digits_of_loops(site, an);
}

const Expr *init_site_guard(const InitSite *site)
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
