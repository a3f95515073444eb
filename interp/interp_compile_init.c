/* Works out when a block's init runs. The reduction of a block is one execution of the outermost loop that its reduce axes depend on, by way
   of the axes of the blocks around it too, but not of spatial ones: those stay the same while a reduction runs. Each point of the other
   axes, opaque ones too, of the block and of the blocks that are in the reduction with it has one init in it, before its first update;
   opaque axes around by way of which the reduction varies tell no points apart. Where the reduction loops certainly give every point an update,
   that is all. Else the points are visited first, by the loops that they depend on:

     for k in range(n):                  a reduction over k; before it, for all i:
         for i in range(16):                 init of vi = i
             with T.block("C"):          unless the block has the predicate, say, i < m, which then holds for the inits too;
                 vi, vk = ...            a predicate k < m empties reductions and does not count

   A condition is heeded part by part, what lets join too. A part that mixes reduction loops with
   others, those that only repeat the block too, excludes the points for which it never holds: the loops that it depends on are visited too.
   Where the visit runs reduction loops, for that or because they bound the loops of the points, it heeds the conditions on them. */
#include <string.h>

#include "interp/interp_internal.h"
#include "ir/conjuncts.h"
#include "ir/walk.h"

/* --- Dependences on what is around the block: marks by path entry --- */
typedef struct {
    Compiler *compiler;
    bool *marks;
    Map *passed; /* not NULL: only what varies in a reduction, not what spatial axes depend on; the other axes that lead there */
} Marking;

static void mark_more(const Marking *marking, const Expr *expr);

/* An axis of the block at path entry INDEX depends on what its binding does. */
static bool mark_axis(const Marking *marking, const BlockStmt *block, const Var *var)
{
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].var == var) {
            if (marking->passed)
                map_set(marking->compiler->arena, marking->passed, var, (void *)var);
            if (!marking->passed || block->iters[i].kind != ITER_SPATIAL)
                mark_more(marking, block->bindings[i]);
            return true;
        }
    return false;
}

static bool mark_entry(const Marking *marking, int index, const Var *var)
{
    const Stmt *source = marking->compiler->path.data[index].source;
    bool *marks = marking->marks;
    switch (marking->compiler->path.data[index].kind) {
    case PATH_BLOCK: return mark_axis(marking, &source->as.block, var);
    case PATH_LOOP:
        if (source->kind != STMT_FOR || source->as.loop.var != var)
            return false;
        marks[index] = true;
        return true;
    case PATH_LET:
        if (source->as.let.var != var)
            return false;
        if (!marks[index])
            mark_more(marking, source->as.let.value);
        marks[index] = true;
        return true;
    default: return false;
    }
}

/* What is read from memory may change with each iteration of a while. */
static bool mark_in_expr(Visitor *visitor, const Expr *expr)
{
    Marking *marking = visitor->data;
    Compiler *compiler = marking->compiler;
    for (int i = compiler->path.count - 1; expr->kind == EXPR_VAR && i >= 0; i--)
        if (mark_entry(marking, i, expr->value.var))
            break;
    for (int i = 0; expr->kind == EXPR_LOAD && i < compiler->path.count; i++)
        marking->marks[i] |= compiler->path.data[i].kind == PATH_WHILE;
    return true;
}

static void mark_more(const Marking *marking, const Expr *expr)
{
    Visitor visitor = {.expr = mark_in_expr, .data = (void *)marking};
    visit_expr(&visitor, expr);
}

static void mark_expr(Compiler *compiler, const Expr *expr, bool *marks)
{
    mark_more(&(Marking){.compiler = compiler, .marks = marks}, expr);
}

static void mark_varying(Compiler *compiler, const Expr *expr, bool *marks, Map *passed)
{
    mark_more(&(Marking){.compiler = compiler, .marks = marks, .passed = passed}, expr);
}

static void mark_stmt(Compiler *compiler, const Stmt *stmt, bool *marks)
{
    Marking marking = {.compiler = compiler, .marks = marks};
    Visitor visitor = {.expr = mark_in_expr, .data = &marking};
    visit_stmt(&visitor, stmt);
}

/* --- The reduction of one block --- */
/* One of the conditions under which the block runs. */
typedef struct {
    const Expr *expr;
    int index;    /* the path entry where it stands */
    bool visited; /* it decides of points */
} Condition;

typedef struct {
    Compiler *compiler;
    BlockInfo *block;
    const BlockStmt *source;
    int count, first; /* path entries; the one of the loop where the reduction begins */
    bool *reduction;  /* loops that the reduce axes depend on */
    Map passed;       /* the axes of blocks around that they depend on, too */
    bool *spatial;    /* loops and lets that the points depend on */
    bool *needed;     /* loops and lets that the visit of the points runs */
    VEC(Condition) conditions;
} Site;

static bool is_reduction_only(const Site *site, int index)
{
    return site->reduction[index] && !site->spatial[index];
}

static const Expr *value_of_let(const void *data, const Var *var)
{
    const Site *site = data;
    for (int i = 0; i < site->count; i++) {
        const PathEntry *entry = &site->compiler->path.data[i];
        if (entry->kind == PATH_LET && entry->source->as.let.var == var)
            return entry->source->as.let.value;
    }
    return NULL;
}

static void add_conditions(Site *site, const Expr *condition, bool negated, int index)
{
    ConjunctList parts = {0};
    conjuncts_add(site->compiler->arena, condition, negated, value_of_let, site, &parts);
    for (int i = 0; i < parts.count; i++)
        vec_push(site->compiler->arena, &site->conditions, ((Condition){conjunct_expr(site->compiler->ctx, parts.data[i]), index, false}));
}

static void find_conditions(Site *site)
{
    for (int i = site->first; i < site->count; i++) {
        const PathEntry *entry = &site->compiler->path.data[i];
        if (entry->kind == PATH_BLOCK)
            add_conditions(site, entry->source->as.block.predicate, false, i);
        else if (entry->kind == PATH_IF)
            add_conditions(site, entry->source->as.branch.condition, entry->negated, i);
    }
}

/* A loop of one iteration says nothing of what a condition with other loops is about: k_0 + k_1 < n with k_1 in range(1) speaks of k_0. */
static bool is_unit_loop(const PathEntry *entry)
{
    return entry->kind == PATH_LOOP &&
           expr_is_int(entry->source->kind == STMT_FOR ? entry->source->as.loop.extent : entry->source->as.attr.value, 1);
}

typedef struct {
    bool reduction, spatial;
} Dependence;

static Dependence dependence_of(const Site *site, const Expr *expr)
{
    bool marks[site->count];
    memset(marks, 0, sizeof marks);
    mark_expr(site->compiler, expr, marks);
    Dependence result = {false, false}, units = {false, false};
    for (int i = 0; i < site->count; i++) {
        if (!marks[i] || site->compiler->path.data[i].kind == PATH_LET)
            continue;
        Dependence *found = is_unit_loop(&site->compiler->path.data[i]) ? &units : &result;
        found->reduction |= is_reduction_only(site, i);
        found->spatial |= site->spatial[i] || !site->reduction[i];
    }
    if (!result.reduction && !result.spatial)
        result.reduction = units.reduction && !units.spatial;
    return result;
}

/* True when a point that the loops reach may have no update. */
static bool points_may_lack_updates(const Site *site)
{
    for (int i = 0; i < site->conditions.count; i++)
        if (dependence_of(site, site->conditions.data[i].expr).reduction)
            return true;
    for (int i = site->first; i < site->count; i++) {
        const PathEntry *entry = &site->compiler->path.data[i];
        if (entry->kind != PATH_LOOP || !is_reduction_only(site, i))
            continue;
        int64_t extent;
        if (!expr_const_int(entry->source->kind == STMT_FOR ? entry->source->as.loop.extent : entry->source->as.attr.value, &extent) ||
            extent <= 0)
            return true;
    }
    return false;
}

/* All loops that EXPR depends on are visited; those of one iteration do not matter beside others. */
static bool is_visited(const Site *site, const Expr *expr)
{
    bool marks[site->count], longer = false, visited = true, units_visited = true;
    memset(marks, 0, sizeof marks);
    mark_expr(site->compiler, expr, marks);
    for (int i = site->first; i < site->count; i++) {
        bool unit = is_unit_loop(&site->compiler->path.data[i]);
        longer |= marks[i] && !unit;
        *(unit ? &units_visited : &visited) &= !marks[i] || site->needed[i];
    }
    return longer ? visited : units_visited;
}

/* The visit heeds the conditions that mix reduction loops with others (MIXED), or those on reduction loops alone that are all visited. */
static void heed_conditions(Site *site, bool mixed)
{
    for (int i = 0; i < site->conditions.count; i++) {
        Condition *condition = &site->conditions.data[i];
        Dependence dependence = dependence_of(site, condition->expr);
        if ((!dependence.reduction || dependence.spatial) != mixed || (!mixed && !is_visited(site, condition->expr)))
            continue;
        condition->visited = true;
        mark_expr(site->compiler, condition->expr, site->needed);
    }
}

static void find_needed(Site *site)
{
    memcpy(site->needed, site->spatial, sizeof *site->needed * (size_t)site->count);
    mark_stmt(site->compiler, site->source->init, site->needed);
    heed_conditions(site, true);
    for (int i = site->count - 1; i >= site->first; i--) {
        const PathEntry *entry = &site->compiler->path.data[i];
        if (entry->kind != PATH_LOOP || !site->needed[i])
            continue;
        if (entry->source->kind == STMT_FOR)
            mark_expr(site->compiler, entry->source->as.loop.min, site->needed);
        mark_expr(site->compiler, entry->source->kind == STMT_FOR ? entry->source->as.loop.extent : entry->source->as.attr.value,
                  site->needed);
    }
    heed_conditions(site, false);
}

/* --- The visit of the points --- */
static bool depends_on_skipped(const Site *site, const Expr *expr)
{
    bool marks[site->count];
    memset(marks, 0, sizeof marks);
    mark_expr(site->compiler, expr, marks);
    for (int i = site->first; i < site->count; i++)
        if (marks[i] && !site->needed[i])
            return true;
    return false;
}

static InitStep block_step(const Site *site, const ExecNode *node)
{
    const BlockInfo *block = node->as.block;
    InitStep step = {.node = node, .axes = ARENA_ARRAY(site->compiler->arena, Assignment, block->iter_count)};
    for (int i = 0; i < block->iter_count; i++)
        if (!depends_on_skipped(site, block->source->bindings[i]))
            step.axes[step.axis_count++] = (Assignment){block->iters[i].slot, block->iters[i].binding};
    return step;
}

/* True when a visit of the points comes across BUFFER. */
static bool visit_uses(const Site *site, const Buffer *buffer)
{
    bool uses = stmt_uses_buffer(site->source->init, buffer);
    for (int i = 0; i < site->conditions.count; i++)
        uses |= expr_uses_buffer(site->conditions.data[i].expr, buffer);
    for (int i = site->first; i < site->count; i++) {
        const Stmt *source = site->compiler->path.data[i].source;
        if (source->kind == STMT_BLOCK)
            for (int k = 0; k < source->as.block.iter_count; k++)
                uses |= !depends_on_skipped(site, source->as.block.bindings[k]) && expr_uses_buffer(source->as.block.bindings[k], buffer);
        else if (source->kind == STMT_FOR && site->needed[i])
            uses |= expr_uses_buffer(source->as.loop.min, buffer) || expr_uses_buffer(source->as.loop.extent, buffer);
        else if (source->kind == STMT_LET && site->needed[i])
            uses |= expr_uses_buffer(source->as.let.value, buffer);
    }
    return uses;
}

static bool visit_uses_any_of(const Site *site, const BlockStmt *block)
{
    bool uses = false;
    for (int i = 0; i < block->alloc_count; i++)
        uses |= visit_uses(site, block->allocs[i]);
    for (int i = 0; i < block->match_count; i++)
        uses |= visit_uses(site, block->matches[i].target);
    return uses;
}

/* False where the points cannot be visited without running what is around the block: then a point has its init with its first update. */
static bool can_visit(const Site *site)
{
    for (int i = site->first; i < site->count - 1; i++) {
        const PathEntry *entry = &site->compiler->path.data[i];
        if (entry->kind == PATH_WHILE || entry->kind == PATH_ALLOCATE)
            return false;
        if (entry->kind == PATH_BLOCK && visit_uses_any_of(site, &entry->source->as.block))
            return false;
    }
    return true;
}

/* The conditions at path entry INDEX, which come before the entry itself. */
static void add_condition_steps(Site *site, int index)
{
    InitPlan *plan = &site->block->plan;
    for (int i = 0; i < site->conditions.count; i++) {
        const Condition *condition = &site->conditions.data[i];
        if (condition->index == index && condition->visited)
            plan->steps[plan->step_count++] = (InitStep){.condition = compile_index(site->compiler, condition->expr)};
    }
}

static void plan_visit(Site *site)
{
    InitPlan *plan = &site->block->plan;
    plan->early = true;
    plan->steps = ARENA_ARRAY(site->compiler->arena, InitStep, site->count - site->first + site->conditions.count);
    for (int i = site->first; i < site->count; i++) {
        const PathEntry *entry = &site->compiler->path.data[i];
        add_condition_steps(site, i);
        if (entry->kind == PATH_BLOCK)
            plan->steps[plan->step_count++] = block_step(site, entry->node);
        else if (entry->kind != PATH_IF)
            plan->steps[plan->step_count++] = (InitStep){.node = entry->node, .skip = entry->kind != PATH_DECLARE && !site->needed[i]};
    }
}

/* --- What a block belongs to --- */
static void add_reduction(Compiler *compiler, ExecNode *node, const BlockInfo *block)
{
    const BlockInfo **blocks = ARENA_ARRAY(compiler->arena, const BlockInfo *, node->reduction_count + 1);
    for (int i = 0; i < node->reduction_count; i++)
        blocks[i] = node->reductions[i];
    blocks[node->reduction_count++] = block;
    node->reductions = blocks;
}

/* An axis of KIND, of the block itself (OWN) or of one around it, tells points apart. */
static bool is_of_point(const Site *site, const Var *axis, IterKind kind, bool own)
{
    return kind == ITER_SPATIAL || (kind != ITER_REDUCE && (own || !map_has(&site->passed, axis)));
}

/* The axes that tell points apart: the block's own, and those of the blocks in the reduction that are spatial or that nothing is reduced over
   by way of. */
static void find_points(Site *site)
{
    BlockInfo *block = site->block;
    int most = 0;
    for (const BlockInfo *around = block; around; around = around->parent)
        most += around->iter_count;
    block->points = ARENA_ARRAY(site->compiler->arena, int, most);
    for (int i = site->first; i < site->count; i++) {
        if (site->compiler->path.data[i].kind != PATH_BLOCK)
            continue;
        const BlockInfo *around = site->compiler->path.data[i].node->as.block;
        for (int k = 0; k < around->iter_count; k++) {
            const Iter *iter = &around->source->iters[k];
            if (!is_of_point(site, iter->var, iter->kind, around == block))
                continue;
            block->points[block->point_count++] = around->iters[k].slot;
            mark_expr(site->compiler, around->source->bindings[k], site->spatial);
        }
    }
}

/* The tags that the reduction goes across. */
static void find_reduced_tags(const Site *site)
{
    for (int i = 0; i < site->count; i++) {
        const ExecNode *node = site->compiler->path.data[i].node;
        if (!site->reduction[i] || node->kind != EXEC_THREAD_LOOP || node->as.loop.tag >= 32)
            continue;
        uint32_t tag = 1u << node->as.loop.tag;
        site->block->reduced_tags |= tag;
        if (!node->as.loop.kernel->tags[node->as.loop.tag].is_block)
            site->block->across_tags |= tag;
    }
}

void compile_init_plan(Compiler *compiler, BlockInfo *block)
{
    const BlockStmt *source = block->source;
    if (!source->init)
        return;
    int count = compiler->path.count;
    Site site = {.compiler = compiler, .block = block, .source = source, .count = count, .first = 0};
    site.reduction = ARENA_ARRAY(compiler->arena, bool, count);
    site.spatial = ARENA_ARRAY(compiler->arena, bool, count);
    site.needed = ARENA_ARRAY(compiler->arena, bool, count);
    for (int i = 0; i < source->iter_count; i++)
        if (source->iters[i].kind == ITER_REDUCE)
            mark_varying(compiler, source->bindings[i], site.reduction, &site.passed);
    while (site.first < count && (!site.reduction[site.first] || compiler->path.data[site.first].kind == PATH_LET))
        site.first++;
    block->plan.every_time = site.first == count;
    if (block->plan.every_time)
        return;
    find_points(&site);
    find_reduced_tags(&site);
    add_reduction(compiler, compiler->path.data[site.first].node, block);
    find_conditions(&site);
    if (!points_may_lack_updates(&site))
        return;
    find_needed(&site);
    if (can_visit(&site))
        plan_visit(&site);
}
