/* Analysis of a block with init: which loops its reduction axes depend on, and the init as loops of its own. See init.h. */
#include "passes/regions/infer_regions.h"
#include "passes/lower/blocks/init.h"
#include "passes/lower/core/effects.h"

/* --- Composition of iterators and lets --- */
static const Expr *compose(const InitSite *site, const Expr *expr, int inside, int outer)
{
    for (int i = inside; i > outer; i--) {
        const Stmt *stmt = site->frames[i].stmt;
        Subst subst = {0};
        for (int k = 0; stmt->kind == STMT_BLOCK && k < stmt->as.block.iter_count; k++) {
            Var *var = stmt->as.block.iters[k].var;
            subst_var(site->ctx, &subst, var, op_cast(site->ctx, var->dtype, stmt->as.block.bindings[k]));
        }
        if (stmt->kind == STMT_LET && !expr_reads_memory(stmt->as.let.value))
            subst_var(site->ctx, &subst, stmt->as.let.var, stmt->as.let.value);
        if (subst.vars.count)
            expr = subst_expr(site->ctx, &subst, expr);
    }
    return expr;
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
        visit_expr(visitor, init_site_compose(site, stmt->as.let.value, frame - 1));
    return true;
}

/* Adds to FOUND what EXPR depends on from frame FIRST on. */
static void find_dependencies(const InitSite *site, const Expr *expr, int first, Map *found)
{
    DependencyFinder finder = {.site = site, .found = found, .first = first};
    Visitor visitor = {.expr = find_dependency, .data = &finder};
    visit_expr(&visitor, expr);
}

/* --- Building the site --- */
static bool is_reduction_axis(const Iter *iter)
{
    return iter->kind == ITER_REDUCE;
}

/* Finds the loops that the reduction varies with, and the lets that read memory. */
static void find_reduce_loops(InitSite *site)
{
    site->outer = -1;
    for (int i = 0; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        bool loop = stmt->kind == STMT_FOR, let = stmt->kind == STMT_LET && expr_reads_memory(stmt->as.let.value);
        const Var *var = loop ? stmt->as.loop.var : let ? stmt->as.let.var : NULL;
        if (!var || !frame_reduces_over(site->model, var))
            continue;
        map_set(site->ctx->arena, &site->reduce_loops, var, (void *)stmt);
        if (loop && site->outer < 0)
            site->outer = i;
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

/* Adds what the condition of FRAME says, of the construct at INDEX. */
static void add_conditions(InitSite *site, const Frame *frame, int index)
{
    const Frame *innermost = site->frames[site->frame_count - 1].frame;
    ConjunctList parts = frame_conditions(site->ctx, frame);
    for (int i = 0; i < parts.count; i++) {
        const Expr *whole = init_site_compose(site, conjunct_expr(site->ctx, parts.data[i]), index - 1);
        SiteCondition condition = {init_site_without_unit_loops(site, whole), index,
                                   init_condition_kind(site->model, frame, parts.data[i].expr).reducing,
                                   init_heeds_condition(site->ctx, site->model, innermost, frame, parts.data[i].expr)};
        vec_push(site->ctx->arena, &site->conditions, condition);
    }
}

static void find_conditions(InitSite *site)
{
    for (int i = site->outer + 1; i < site->frame_count; i++) {
        const Frame *frame = site->frames[i].frame;
        if (site->frames[i].stmt->kind != STMT_BLOCK && site->frames[i].stmt->kind != STMT_IF)
            continue;
        while (frame->kind != FRAME_CONDITION)
            frame = frame->outer;
        add_conditions(site, frame, i);
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

/* What the init's points, its text and the conditions on points depend on. */
static void find_spatial_vars(InitSite *site)
{
    for (int i = 0; i < site->block->iter_count; i++)
        if (!is_reduction_axis(&site->block->iters[i]))
            add_point_dependencies(site, site->bindings[i]);
    for (int i = 0; i < site->axes_around.count; i++)
        add_point_dependencies(site, site->axes_around.data[i].binding);
    Visitor visitor = {.expr = find_init_dependency, .data = site};
    visit_stmt(&visitor, site->block->init);
    for (int i = 0; i < site->conditions.count; i++)
        if (site->conditions.data[i].heeded)
            find_dependencies(site, site->conditions.data[i].expr, site->outer, &site->spatial_vars);
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
            const Frame *axis = site->frames[i].frame;
            while (axis->var != block->iters[k].var)
                axis = axis->outer;
            if (!frame_tells_points(axis, site->model))
                continue;
            PointAxis point = {block->iters[k], init_site_compose(site, block->bindings[k], i - 1)};
            point.iter.domain.min = init_site_compose(site, point.iter.domain.min, i - 1);
            point.iter.domain.extent = init_site_compose(site, point.iter.domain.extent, i - 1);
            vec_push(site->ctx->arena, &site->axes_around, point);
        }
    }
}

InitSite *init_site_new(Context *ctx, const Map *params, const Around *frames, int frame_count, const BlockStmt *block)
{
    InitSite *site = ARENA_NEW(ctx->arena, InitSite);
    *site = (InitSite){.ctx = ctx, .params = params, .frames = frames, .frame_count = frame_count, .block = block};
    site->model = frame_of_block(frames[frame_count - 1].frame, block->block);
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
    return site;
}

bool init_site_points_may_lack_updates(const InitSite *site)
{
    for (int i = 0; i < site->conditions.count; i++)
        if (site->conditions.data[i].reducing)
            return true;
    for (int i = site->outer; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        int64_t extent;
        if (stmt->kind == STMT_FOR && frame_only_reduces_over(site->model, stmt->as.loop.var) &&
            (!expr_const_int(stmt->as.loop.extent, &extent) || extent <= 0))
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

/* The conditions on points of the constructs from FIRST up to END, joined. */
static const Expr *site_predicate(const InitSite *site, int first, int end)
{
    ExprList heeded = {0};
    for (int i = 0; i < site->conditions.count; i++) {
        const SiteCondition *condition = &site->conditions.data[i];
        if (condition->heeded && condition->index >= first && condition->index < end)
            vec_push(site->ctx->arena, &heeded, condition->expr);
    }
    return conjunction_join(site->ctx, &heeded);
}

/* The innermost loop or let of the nest that is defined, perhaps, only where the conditions around it hold; those of constructs around it must
   stand before it. The least index where there is none. */
static int nest_reads_from(const InitSite *site)
{
    int index = site->frame_count - 1;
    for (; index > site->outer; index--) {
        const Stmt *stmt = site->frames[index].stmt;
        if (stmt->kind == STMT_FOR && map_has(&site->spatial_vars, stmt->as.loop.var) &&
            (expr_needs_guard(stmt->as.loop.min) || expr_needs_guard(stmt->as.loop.extent)))
            break;
        if (stmt->kind == STMT_LET && map_has(&site->spatial_vars, stmt->as.let.var) && expr_needs_guard(stmt->as.let.value))
            break;
    }
    return index;
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
    block.predicate = site_predicate(site, nest_reads_from(site), site->frame_count);
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

/* The loops and lets that tell the points apart, around NEST, which holds what comes from point_block. */
static const Stmt *loops_over_points(const InitSite *site, const Stmt *nest)
{
    int reads_from = nest_reads_from(site);
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
        const Expr *condition = i < reads_from ? site_predicate(site, i, i + 1) : NULL;
        if (condition && !expr_is_int(condition, 1))
            nest = stmt_if(site->ctx, condition, nest, NULL, stmt->span);
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

/* The points that the loops tell apart lie in the domains of their axes, also where conditions that read memory do not hold. */
static bool points_stay_in_domains(const InitSite *site)
{
    Analyzer *an = analyzer_new(site->ctx);
    for (int i = 0; i < site->frame_count; i++)
        if (site->frames[i].stmt->kind == STMT_FOR) {
            const ForStmt *loop = &site->frames[i].stmt->as.loop;
            analyzer_bind_range_opaque(an, loop->var, (Range){init_site_compose(site, loop->min, i - 1), init_site_compose(site, loop->extent, i - 1)});
        }
    for (int i = 0; i < site->conditions.count; i++)
        if (site->conditions.data[i].heeded)
            facts_assume(an, site->conditions.data[i].expr);
    bool stay = true;
    for (int i = 0; i < site->block->iter_count && stay; i++) {
        const Iter iter = composed_iter(site, &site->block->iters[i]);
        stay = is_reduction_axis(&iter) || (analyzer_prove_less_equal(an, iter.domain.min, site->bindings[i]) &&
                                            analyzer_prove_less_equal(an, op_add_int(site->ctx, site->bindings[i], 1),
                                                                      op_add(site->ctx, iter.domain.min, iter.domain.extent)));
    }
    return stay && !site->axes_around.count;
}

/* SITE for the clearing of flags: conditions that read memory, which may be written before the block runs, need not be asked where too many flags
   can be cleared. */
static InitSite clearing_site(const InitSite *site)
{
    InitSite result = *site;
    if (!points_stay_in_domains(site))
        return result;
    result.conditions.data = NULL;
    result.conditions.count = result.conditions.capacity = 0;
    for (int i = 0; i < site->conditions.count; i++)
        if (!expr_reads_memory(site->conditions.data[i].expr))
            vec_push(site->ctx->arena, &result.conditions, site->conditions.data[i]);
    return result;
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
    const InitSite clearing = clearing_site(site);
    return (InitFlags){
        .buffer = flags,
        .region = region,
        .clear = loops_over_points(&clearing, point_block(&clearing, "clear", clear, regions)),
        .init = init,
        .nest = nest_of_init(site, init, &region),
    };
}
