/* Analysis of a block with init: which loops its reduction axes depend on, and the init as loops of its own. See init.h. */
#include "ir/infer_regions.h"
#include "passes/lower/effects.h"
#include "passes/lower/init.h"

/* --- Composition of iterators and lets --- */
static const Expr *compose(const InitSite *site, const Expr *expr, int inside, int outer)
{
    for (int i = inside; i > outer; i--) {
        const Stmt *stmt = site->frames[i].stmt;
        Subst subst = {0};
        if (stmt->kind == STMT_BLOCK)
            for (int k = 0; k < stmt->as.block.iter_count; k++) {
                Var *var = stmt->as.block.iters[k].var;
                subst_var(site->ctx, &subst, var, op_cast(site->ctx, var->dtype, stmt->as.block.bindings[k]));
            }
        else if (stmt->kind == STMT_LET && !expr_reads_memory(stmt->as.let.value))
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
        visit_expr(visitor, compose(site, stmt->as.let.value, frame - 1, site->outer));
    else if (finder->outermost < 0 || frame < finder->outermost)
        finder->outermost = frame;
    return true;
}

/* Adds to FOUND what EXPR depends on from frame FIRST on; the least index of a loop among it, or -1. */
static int find_dependencies(const InitSite *site, const Expr *expr, int first, Map *found)
{
    DependencyFinder finder = {site, found, first, -1};
    Visitor visitor = {.expr = find_dependency, .data = &finder};
    visit_expr(&visitor, expr);
    return finder.outermost;
}

/* --- Building the site --- */
static bool is_reduction_axis(const Iter *iter)
{
    return iter->kind == ITER_REDUCE;
}

static void find_reduce_loops(InitSite *site)
{
    int last = site->frame_count - 1;
    site->outer = -1;
    for (int i = 0; i < site->block->iter_count; i++) {
        if (!is_reduction_axis(&site->block->iters[i]))
            continue;
        Map found = {0};
        int outermost = find_dependencies(site, compose(site, site->block->bindings[i], last - 1, -1), 0, &found);
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

/* What the init's points and its text depend on. */
static void find_spatial_vars(InitSite *site)
{
    for (int i = 0; i < site->block->iter_count; i++) {
        if (is_reduction_axis(&site->block->iters[i]))
            continue;
        find_dependencies(site, site->bindings[i], site->outer, &site->spatial_vars);
        find_dependencies(site, compose(site, site->bindings[i], site->outer, -1), 0, &site->spatial_loops);
    }
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

/* The block with its spatial axes only and BODY as its body, whose accesses REGIONS names. */
static const Stmt *point_block(const InitSite *site, const char *suffix, const Stmt *body, BlockRegions regions)
{
    Context *ctx = site->ctx;
    const BlockStmt *old = site->block;
    BlockStmt block = *old;
    block.block = block_new(ctx, context_internf(ctx, "%s_%s", old->block->name, suffix), old->block->span);
    block.iters = ARENA_ARRAY(ctx->arena, Iter, old->iter_count);
    block.bindings = ARENA_ARRAY(ctx->arena, const Expr *, old->iter_count);
    block.iter_count = 0;
    for (int i = 0; i < old->iter_count; i++) {
        if (is_reduction_axis(&old->iters[i]))
            continue;
        block.iters[block.iter_count] = old->iters[i];
        block.bindings[block.iter_count++] = site->bindings[i];
    }
    block.predicate = conjunction_join(ctx, &site->nest_conditions);
    block.reads = regions.reads;
    block.read_count = regions.read_count;
    block.writes = regions.writes;
    block.write_count = regions.write_count;
    block.annotations = (Attrs){0};
    block.body = body;
    block.init = NULL;
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
InitFlags init_site_flags(const InitSite *site)
{
    Context *ctx = site->ctx;
    const BlockStmt *block = site->block;
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, block->iter_count + 1);
    const Expr **point = ARENA_ARRAY(ctx->arena, const Expr *, block->iter_count + 1);
    int count = 0;
    for (int i = 0; i < block->iter_count; i++) {
        const Iter *iter = &block->iters[i];
        if (is_reduction_axis(iter))
            continue;
        shape[count] = init_site_compose(site, iter->domain.extent, site->frame_count - 2);
        point[count++] = op_sub(ctx, expr_var(ctx, iter->var), init_site_compose(site, iter->domain.min, site->frame_count - 2));
    }
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
