/* Analysis of a block with init: which loops its reduction axes depend on, and the init as loops of its own. See init.h. */
#include "passes/regions/infer_regions.h"
#include "passes/lower/blocks/init.h"
#include "passes/lower/core/effects.h"

/* --- Composition of iterators and lets --- */
/* EXPR, as seen inside the frame at index INSIDE, over what is visible at OUTER and the loops inside it; PASSED: spatial axes
   stay, and it gets the axes of all kinds that are come across; or NULL. */
static const Expr *compose_as(const InitSite *site, const Expr *expr, int inside, int outer, Map *passed)
{
    for (int i = inside; i > outer; i--) {
        const Stmt *stmt = site->frames[i].stmt;
        Subst subst = {0};
        if (stmt->kind == STMT_BLOCK)
            for (int k = 0; k < stmt->as.block.iter_count; k++) {
                Var *var = stmt->as.block.iters[k].var;
                if (passed && expr_uses_var(expr, var))
                    map_set(site->ctx->arena, passed, var, var);
                if (!passed || stmt->as.block.iters[k].kind != ITER_SPATIAL)
                    subst_var(site->ctx, &subst, var, op_cast(site->ctx, var->dtype, stmt->as.block.bindings[k]));
            }
        else if (stmt->kind == STMT_LET && !expr_reads_memory(stmt->as.let.value))
            subst_var(site->ctx, &subst, stmt->as.let.var, stmt->as.let.value);
        if (subst.vars.count)
            expr = subst_expr(site->ctx, &subst, expr);
    }
    return expr;
}

static const Expr *compose(const InitSite *site, const Expr *expr, int inside, int outer)
{
    return compose_as(site, expr, inside, outer, NULL);
}

const Expr *init_site_compose(const InitSite *site, const Expr *expr, int inside)
{
    return compose(site, expr, inside, site->outer);
}

static int frame_of_var(const InitSite *site, const Var *var)
{
    for (int i = site->frame_count - 1; i >= 0; i--) {
        const Stmt *stmt = site->frames[i].stmt;
        if ((stmt->kind == STMT_FOR && stmt->as.loop.var == var) || (stmt->kind == STMT_LET && stmt->as.let.var == var))
            return i;
    }
    return -1;
}

/* The loops and lets from frame FIRST on that an expression depends on, directly or through lets. */
typedef struct {
    const InitSite *site;
    Map *found;
    int first;
    Map *passed;   /* not NULL: not through spatial axes; see compose_as */
    int outermost; /* the least index of a loop found, or -1 */
} DependencyFinder;

static bool find_dependency(Visitor *visitor, const Expr *expr)
{
    DependencyFinder *finder = visitor->data;
    const InitSite *site = finder->site;
    int frame = expr->kind == EXPR_VAR ? frame_of_var(site, expr->value.var) : -1;
    if (frame < 0 || frame < finder->first || map_has(finder->found, expr->value.var))
        return true;
    const Stmt *stmt = site->frames[frame].stmt;
    map_set(site->ctx->arena, finder->found, expr->value.var, (void *)stmt);
    if (stmt->kind == STMT_LET)
        visit_expr(visitor, compose_as(site, stmt->as.let.value, frame - 1, finder->passed ? -1 : site->outer, finder->passed));
    else if (finder->outermost < 0 || frame < finder->outermost)
        finder->outermost = frame;
    return true;
}

/* Adds to FOUND what EXPR depends on from frame FIRST on; the least index of a loop among it, or -1. */
static int find_dependencies(const InitSite *site, const Expr *expr, int first, Map *found)
{
    DependencyFinder finder = {.site = site, .found = found, .first = first, .outermost = -1};
    Visitor visitor = {.expr = find_dependency, .data = &finder};
    visit_expr(&visitor, expr);
    return finder.outermost;
}

/* Adds to FOUND the loops and lets that BINDING, of the block, varies with while the spatial axes of the blocks around stay the same; the
   least index of a loop among them, or -1. PASSED gets the axes of the blocks around by way of which it does. */
static int find_varying(const InitSite *site, const Expr *binding, Map *found, Map *passed)
{
    DependencyFinder finder = {.site = site, .found = found, .passed = passed, .outermost = -1};
    Visitor visitor = {.expr = find_dependency, .data = &finder};
    visit_expr(&visitor, compose_as(site, binding, site->frame_count - 2, -1, passed));
    return finder.outermost;
}

/* --- Building the site --- */
static bool is_reduction_axis(const Iter *iter)
{
    return iter->kind == ITER_REDUCE;
}

static void find_reduce_loops(InitSite *site)
{
    site->outer = -1;
    for (int i = 0; i < site->block->iter_count; i++) {
        if (!is_reduction_axis(&site->block->iters[i]))
            continue;
        Map found = {0};
        int outermost = find_varying(site, site->block->bindings[i], &found, &site->passed_axes);
        if (outermost >= 0 && (site->outer < 0 || outermost < site->outer))
            site->outer = outermost;
        for (int k = 0; k < found.count; k++)
            map_set(site->ctx->arena, &site->reduce_loops, found.entries[k].key, found.entries[k].value);
    }
}

const Expr *init_site_without_unit_loops(const InitSite *site, const Expr *expr)
{
    Subst values = {0};
    for (int i = site->outer; i < site->frame_count; i++) {
        const ForStmt *loop = &site->frames[i].stmt->as.loop;
        if (site->frames[i].stmt->kind == STMT_FOR && expr_is_int(loop->extent, 1) && loop->min->kind == EXPR_INT)
            subst_var(site->ctx, &values, loop->var, loop->min);
    }
    const Expr *rest = values.vars.count ? subst_expr(site->ctx, &values, expr) : expr;
    Map left = {0};
    find_dependencies(site, compose(site, rest, site->outer, -1), 0, &left);
    return left.count ? rest : expr;
}

static void add_condition(InitSite *site, const Expr *condition, int inside)
{
    int first = site->conditions.count;
    conjunction_split(site->ctx, init_site_compose(site, condition, inside), &site->conditions);
    for (int i = first; i < site->conditions.count; i++) {
        vec_push(site->ctx->arena, &site->whole_conditions, site->conditions.data[i]);
        site->conditions.data[i] = init_site_without_unit_loops(site, site->conditions.data[i]);
    }
}

static const Expr *frame_condition(Context *ctx, const Frame *frame)
{
    const Expr *condition = frame->stmt->as.branch.condition;
    return frame->negated ? op_not(ctx, condition, span_none()) : condition;
}

static void find_conditions(InitSite *site)
{
    for (int i = site->outer + 1; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        if (stmt->kind == STMT_BLOCK)
            add_condition(site, stmt->as.block.predicate, i - 1);
        else if (stmt->kind == STMT_IF)
            add_condition(site, frame_condition(site->ctx, &site->frames[i]), i - 1);
    }
}

static bool find_init_dependency(Visitor *visitor, const Expr *expr)
{
    InitSite *site = visitor->data;
    if (expr->kind == EXPR_VAR)
        find_dependencies(site, expr, site->outer, &site->spatial_vars);
    return true;
}

static void add_point_dependencies(InitSite *site, const Expr *binding)
{
    find_dependencies(site, binding, site->outer, &site->spatial_vars);
    find_dependencies(site, compose(site, binding, site->outer, -1), 0, &site->spatial_loops);
}

/* What the init's points and its text depend on. */
static void find_spatial_vars(InitSite *site)
{
    for (int i = 0; i < site->block->iter_count; i++)
        if (!is_reduction_axis(&site->block->iters[i]))
            add_point_dependencies(site, site->bindings[i]);
    for (int i = 0; i < site->axes_around.count; i++)
        add_point_dependencies(site, site->axes_around.data[i].binding);
    Visitor visitor = {.expr = find_init_dependency, .data = site};
    visit_stmt(&visitor, site->block->init);
}

/* Which kinds of loops CONDITION varies with; those of one iteration count where there are no others. */
typedef struct {
    bool reduction; /* loops that only the reduction axes depend on */
    bool others;    /* other loops inside outer, and those outside that the spatial axes depend on */
} ConditionKind;

static ConditionKind condition_kind(const InitSite *site, const Expr *condition)
{
    Map found = {0};
    ConditionKind kind = {false, false}, units = {false, false};
    find_dependencies(site, compose(site, condition, site->outer, -1), 0, &found);
    for (int i = 0; i < found.count; i++) {
        const Var *var = found.entries[i].key;
        const Stmt *stmt = found.entries[i].value;
        if (stmt->kind != STMT_FOR)
            continue;
        bool spatial = map_has(&site->spatial_loops, var), reduction = map_has(&site->reduce_loops, var);
        ConditionKind *loop = expr_is_int(stmt->as.loop.extent, 1) ? &units : &kind;
        loop->reduction |= reduction && !spatial;
        loop->others |= spatial || !reduction;
    }
    if (!kind.reduction && !kind.others)
        kind.reduction = units.reduction && !units.others;
    return kind;
}

/* The nest runs all loops that CONDITION depends on, or those of one iteration are part of what excludes points. */
static bool is_visited(const InitSite *site, const Expr *condition)
{
    Map found = {0};
    find_dependencies(site, condition, site->outer, &found);
    for (int i = 0; i < found.count; i++)
        if (!map_has(&site->spatial_vars, found.entries[i].key) && !map_has(&site->excluding, found.entries[i].key))
            return false;
    return true;
}

/* Conditions on reduction loops alone may empty the reduction, not exclude a point: they do not count. A condition that mixes them with others
   (MIXED) excludes the points for which it never holds: the nest runs the loops that it depends on as well. Where it runs reduction loops, for
   that or because they bound the loops of the points, the conditions on them alone hold in it too. */
static void find_nest_conditions(InitSite *site, bool mixed)
{
    for (int i = 0; i < site->conditions.count; i++) {
        const Expr *condition = site->conditions.data[i];
        ConditionKind kind = condition_kind(site, condition);
        if ((!kind.reduction || kind.others) != mixed || (!mixed && !is_visited(site, condition)))
            continue;
        vec_push(site->ctx->arena, &site->nest_conditions, condition);
        find_dependencies(site, site->whole_conditions.data[i], site->outer, &site->excluding);
    }
    for (int i = 0; i < site->nest_conditions.count; i++)
        find_dependencies(site, site->nest_conditions.data[i], site->outer, &site->spatial_vars);
}

/* Adds what the bounds of the loops of the nest depend on, from the inside out. */
static void close_over_bounds(InitSite *site)
{
    for (int i = site->frame_count - 1; i >= site->outer; i--) {
        const Stmt *stmt = site->frames[i].stmt;
        if (stmt->kind != STMT_FOR || !map_has(&site->spatial_vars, stmt->as.loop.var))
            continue;
        find_dependencies(site, init_site_compose(site, stmt->as.loop.min, i - 1), site->outer, &site->spatial_vars);
        find_dependencies(site, init_site_compose(site, stmt->as.loop.extent, i - 1), site->outer, &site->spatial_vars);
    }
}

static void find_axes_around(InitSite *site)
{
    for (int i = site->outer; i < site->frame_count - 1; i++) {
        const BlockStmt *block = site->frames[i].stmt->kind == STMT_BLOCK ? &site->frames[i].stmt->as.block : NULL;
        for (int k = 0; block && k < block->iter_count; k++) {
            const Iter *iter = &block->iters[k];
            bool reduces = iter->kind == ITER_REDUCE || (iter->kind != ITER_SPATIAL && map_has(&site->passed_axes, iter->var));
            if (reduces)
                continue;
            PointAxis axis = {block->iters[k], init_site_compose(site, block->bindings[k], i - 1)};
            axis.iter.domain.min = init_site_compose(site, axis.iter.domain.min, i - 1);
            axis.iter.domain.extent = init_site_compose(site, axis.iter.domain.extent, i - 1);
            vec_push(site->ctx->arena, &site->axes_around, axis);
        }
    }
}

InitSite *init_site_new(Context *ctx, const Map *params, const Frame *frames, int frame_count, const BlockStmt *block)
{
    InitSite *site = ARENA_NEW(ctx->arena, InitSite);
    *site = (InitSite){.ctx = ctx, .params = params, .frames = frames, .frame_count = frame_count, .block = block};
    find_reduce_loops(site);
    if (site->outer < 0)
        return site;
    site->bindings = ARENA_ARRAY(ctx->arena, const Expr *, site->block->iter_count);
    for (int i = 0; i < site->block->iter_count; i++)
        site->bindings[i] = init_site_compose(site, site->block->bindings[i], frame_count - 2);
    find_axes_around(site);
    find_conditions(site);
    find_spatial_vars(site);
    close_over_bounds(site);
    find_nest_conditions(site, true);
    close_over_bounds(site);
    find_nest_conditions(site, false);
    return site;
}

bool init_site_points_may_lack_updates(const InitSite *site)
{
    for (int i = 0; i < site->conditions.count; i++)
        if (condition_kind(site, site->conditions.data[i]).reduction)
            return true;
    for (int i = site->outer; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        bool loop = stmt->kind == STMT_FOR && map_has(&site->reduce_loops, stmt->as.loop.var);
        bool reduction = loop && !map_has(&site->spatial_loops, stmt->as.loop.var);
        int64_t extent;
        if (reduction && (!expr_const_int(stmt->as.loop.extent, &extent) || extent <= 0))
            return true;
    }
    return false;
}

/* --- The nest --- */
bool init_site_nest_repeats_points(const InitSite *site)
{
    return maps_meet(&site->reduce_loops, &site->spatial_vars);
}

/* The regions of what the init uses that still make sense without the reduction axes, of buffers other than those that WITHOUT (COUNT
   regions) names. */
static Region *spatial_regions(const InitSite *site, const Region *regions, int count, const Region *without, int without_count,
                               int *result_count)
{
    Region *result = ARENA_ARRAY(site->ctx->arena, Region, count);
    *result_count = 0;
    for (int i = 0; i < count; i++) {
        bool keep = stmt_uses_buffer(site->block->init, regions[i].buffer) && !region_reduce_axis(&regions[i], site->block);
        for (int k = 0; k < without_count; k++)
            keep &= regions[i].buffer != without[k].buffer;
        if (keep)
            result[(*result_count)++] = regions[i];
    }
    return result;
}

/* An axis of the block, with its domain over what is visible at outer and the loops inside it. */
static Iter composed_iter(const InitSite *site, const Iter *iter)
{
    Iter result = *iter;
    result.domain.min = init_site_compose(site, iter->domain.min, site->frame_count - 2);
    result.domain.extent = init_site_compose(site, iter->domain.extent, site->frame_count - 2);
    return result;
}

static void add_axis(BlockStmt *block, Iter iter, const Expr *binding)
{
    block->iters[block->iter_count] = iter;
    block->bindings[block->iter_count++] = binding;
}

static bool region_mentions(const Region *region, const Var *axis)
{
    bool mentions = false;
    for (int d = 0; d < region->buffer->ndim; d++)
        mentions |= expr_uses_var(region->ranges[d].min, axis) || expr_uses_var(region->ranges[d].extent, axis);
    return mentions;
}

/* AXIS, of a block around, is mentioned by BODY or by REGIONS. */
static bool mentions_axis(const Stmt *body, BlockRegions regions, const Var *axis)
{
    bool mentions = stmt_uses_var(body, axis);
    for (int i = 0; i < regions.read_count; i++)
        mentions |= region_mentions(&regions.reads[i], axis);
    for (int i = 0; i < regions.write_count; i++)
        mentions |= region_mentions(&regions.writes[i], axis);
    return mentions;
}

static bool names_buffer(const Region *regions, int count, const Buffer *buffer)
{
    bool found = false;
    for (int i = 0; i < count; i++)
        found |= regions[i].buffer == buffer;
    return found;
}

/* Adds what BLOCK touches and does not declare: where the text's regions depend on what is reduced over, or were inferred, which leaves
   out what an init reads of its output. */
static void declare_touched(Context *ctx, BlockStmt *block)
{
    Map none = {0};
    BlockRegions touched = infer_block_regions(ctx, block, &none);
    for (int i = 0; i < touched.write_count; i++)
        if (!names_buffer(block->writes, block->write_count, touched.writes[i].buffer))
            regions_add(ctx, &block->writes, &block->write_count, touched.writes[i]);
    for (int i = 0; i < touched.read_count; i++)
        if (!names_buffer(block->reads, block->read_count, touched.reads[i].buffer))
            regions_add(ctx, &block->reads, &block->read_count, touched.reads[i]);
}

static bool match_is_used(const MatchBuffer *match, const Stmt *body, const MatchBuffer *later, int later_count)
{
    bool used = stmt_uses_buffer(body, match->target);
    for (int i = 0; i < later_count; i++)
        used |= later[i].source.buffer == match->target;
    return used;
}

/* Leaves BLOCK the views that its body uses, directly or through other views: the others may lie where the reduction is. */
static void keep_used_matches(Context *ctx, BlockStmt *block)
{
    MatchBuffer *kept = ARENA_ARRAY(ctx->arena, MatchBuffer, block->match_count);
    int first = block->match_count;
    for (int i = block->match_count - 1; i >= 0; i--)
        if (match_is_used(&block->matches[i], block->body, kept + first, block->match_count - first))
            kept[--first] = block->matches[i];
    block->matches = kept + first;
    block->match_count -= first;
}

/* The block with the axes that tell points apart and BODY as its body, whose accesses REGIONS names. */
static const Stmt *point_block(const InitSite *site, const char *suffix, const Stmt *body, BlockRegions regions)
{
    Context *ctx = site->ctx;
    const BlockStmt *old = site->block;
    BlockStmt block = *old;
    block.block = block_new(ctx, context_internf(ctx, "%s_%s", old->block->name, suffix), old->block->span);
    block.iters = ARENA_ARRAY(ctx->arena, Iter, old->iter_count + site->axes_around.count);
    block.bindings = ARENA_ARRAY(ctx->arena, const Expr *, old->iter_count + site->axes_around.count);
    block.iter_count = 0;
    for (int i = 0; i < site->axes_around.count; i++) {
        const PointAxis *axis = &site->axes_around.data[i];
        if (mentions_axis(body, regions, axis->iter.var))
            add_axis(&block, axis->iter, axis->binding);
    }
    for (int i = 0; i < old->iter_count; i++)
        if (!is_reduction_axis(&old->iters[i]))
            add_axis(&block, composed_iter(site, &old->iters[i]), site->bindings[i]);
    block.predicate = conjunction_join(ctx, &site->nest_conditions);
    block.reads = regions.reads;
    block.read_count = regions.read_count;
    block.writes = regions.writes;
    block.write_count = regions.write_count;
    block.annotations = (Attrs){0};
    block.body = body;
    block.init = NULL;
    keep_used_matches(ctx, &block);
    declare_touched(ctx, &block);
    return stmt_block(ctx, block, site->frames[site->frame_count - 1].stmt->span);
}

/* The loops and lets that tell the points apart, around NEST. */
static const Stmt *loops_over_points(const InitSite *site, const Stmt *nest)
{
    for (int i = site->frame_count - 2; i >= site->outer; i--) {
        const Stmt *stmt = site->frames[i].stmt;
        if (stmt->kind == STMT_FOR && map_has(&site->spatial_vars, stmt->as.loop.var)) {
            ForStmt loop = stmt->as.loop;
            loop.min = init_site_compose(site, loop.min, i - 1);
            loop.extent = init_site_compose(site, loop.extent, i - 1);
            loop.annotations = (Attrs){0};
            loop.body = nest;
            nest = stmt_for(site->ctx, loop, stmt->span);
        } else if (stmt->kind == STMT_LET && map_has(&site->spatial_vars, stmt->as.let.var)) {
            nest = stmt_let(site->ctx, stmt->as.let.var, init_site_compose(site, stmt->as.let.value, i - 1), nest, stmt->span);
        }
    }
    return clone_fresh(site->ctx, nest);
}

void regions_add(Context *ctx, Region **regions, int *count, Region region)
{
    Region *all = ARENA_ARRAY(ctx->arena, Region, *count + 1);
    for (int i = 0; i < *count; i++)
        all[i] = (*regions)[i];
    all[(*count)++] = region;
    *regions = all;
}

/* INIT, which is the block's or holds it, at all points. It touches EXTRA too, or NULL. */
static const Stmt *nest_of_init(const InitSite *site, const Stmt *init, const Region *extra)
{
    const BlockStmt *block = site->block;
    BlockRegions regions = {0};
    regions.writes = spatial_regions(site, block->writes, block->write_count, NULL, 0, &regions.write_count);
    regions.reads = spatial_regions(site, block->reads, block->read_count, block->writes, block->write_count, &regions.read_count);
    if (extra) {
        regions_add(site->ctx, &regions.reads, &regions.read_count, *extra);
        regions_add(site->ctx, &regions.writes, &regions.write_count, *extra);
    }
    return loops_over_points(site, point_block(site, "init", init, regions));
}

const Stmt *init_site_nest(const InitSite *site)
{
    return nest_of_init(site, site->block->init, NULL);
}

/* --- Flags --- */
/* AXIS, of a block around, is the same wherever the axes of the block are: it is one of those, or the same in the whole reduction. */
static bool is_told_by_block(const InitSite *site, const PointAxis *axis)
{
    Map found = {0};
    find_dependencies(site, axis->binding, site->outer, &found);
    bool told = !found.count;
    for (int i = 0; i < site->block->iter_count; i++)
        told |= !is_reduction_axis(&site->block->iters[i]) && expr_equal(site->bindings[i], axis->binding);
    return told;
}

/* Where the flags lie: an element for each point. */
typedef struct {
    const Expr **shape, **point;
    int count;
} FlagIndices;

static void add_flag_index(const InitSite *site, FlagIndices *flags, const Iter *iter)
{
    flags->shape[flags->count] = iter->domain.extent;
    flags->point[flags->count++] = op_sub(site->ctx, expr_var(site->ctx, iter->var), iter->domain.min);
}

static FlagIndices flag_indices(const InitSite *site)
{
    int most = site->block->iter_count + site->axes_around.count;
    FlagIndices flags = {ARENA_ARRAY(site->ctx->arena, const Expr *, most + 1), ARENA_ARRAY(site->ctx->arena, const Expr *, most + 1), 0};
    for (int i = 0; i < site->axes_around.count; i++)
        if (!is_told_by_block(site, &site->axes_around.data[i]))
            add_flag_index(site, &flags, &site->axes_around.data[i].iter);
    for (int i = 0; i < site->block->iter_count; i++) {
        const Iter iter = composed_iter(site, &site->block->iters[i]);
        if (!is_reduction_axis(&iter))
            add_flag_index(site, &flags, &iter);
    }
    return flags;
}

InitFlags init_site_flags(const InitSite *site)
{
    Context *ctx = site->ctx;
    const BlockStmt *block = site->block;
    FlagIndices indices = flag_indices(site);
    const Expr **shape = indices.shape, **point = indices.point;
    int count = indices.count;
    if (!count) {
        shape[count] = expr_int(ctx, DTYPE_INT32, 1);
        point[count++] = expr_int(ctx, DTYPE_INT32, 0);
    }
    Span span = block->block->span;
    Buffer *flags = buffer_new(ctx, context_internf(ctx, "%s_begun", block->block->name), DTYPE_BOOL, count, shape,
                               context_intern(ctx, "global"), span);
    Region region = region_point(ctx, flags, point);
    const Stmt *clear = stmt_store(ctx, flags, point, count, expr_bool(ctx, false), NULL, span);
    const Stmt *once[] = {stmt_store(ctx, flags, point, count, expr_bool(ctx, true), NULL, span), block->init};
    const Expr *begun = expr_load(ctx, flags, point, count, NULL, span);
    const Stmt *init = stmt_if(ctx, op_not(ctx, begun, span), stmt_seq(ctx, once, 2), NULL, span);
    BlockRegions regions = {0};
    regions_add(ctx, &regions.writes, &regions.write_count, region);
    return (InitFlags){
        .buffer = flags,
        .region = region,
        .clear = loops_over_points(site, point_block(site, "clear", clear, regions)),
        .init = init,
        .nest = nest_of_init(site, init, &region),
    };
}
