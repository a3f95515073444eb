/* The loops and blocks of te.compute, in the form in which TVM gives them. */
#include "passes/regions/infer_regions.h"
#include "script/te_func.h"

/* The loops and the block at one level: axes whose domains depend on others are a level below those. */
typedef struct {
    const Iter **loops; /* of the operation, with new variables */
    int loop_count;
    Iter *iters;
    const Expr **bindings;
    const Expr **spatial; /* where the block stores */
    int iter_count;
    Subst subst; /* the operation's axes -> the block's */
} Level;

typedef struct {
    FuncBuild *build;
    const Operation *op;
    const Iter **axes;
    int axis_count, *depths, level_count;
    Level *levels;
} Nest;

static int depth_of(Nest *nest, int index)
{
    if (nest->depths[index] >= 0)
        return nest->depths[index];
    nest->depths[index] = 0;
    Range domain = analyzer_simplify_range(nest->build->analyzer, nest->axes[index]->domain);
    int depth = 0;
    for (int i = 0; i < nest->axis_count; i++) {
        const Var *var = nest->axes[i]->var;
        if (i == index || !(expr_uses_var(domain.min, var) || expr_uses_var(domain.extent, var)))
            continue;
        int above = depth_of(nest, i) + 1;
        depth = above > depth ? above : depth;
    }
    nest->level_count = depth + 1 > nest->level_count ? depth + 1 : nest->level_count;
    return nest->depths[index] = depth;
}

static void add_iter(Nest *nest, Level *level, int index, Range domain, const Expr *binding)
{
    Context *ctx = nest->build->ctx;
    const Iter *axis = nest->axes[index];
    Var *var = var_new(ctx, context_internf(ctx, "v_%s", axis->var->name), te_index_type(nest->build, axis->var->dtype), axis->span);
    level->iters[level->iter_count] = (Iter){var, domain, axis->kind, axis->span};
    level->bindings[level->iter_count] = binding;
    level->iter_count++;
    subst_var(ctx, &level->subst, axis->var, expr_var(ctx, var));
    if (index < nest->op->axis_count)
        level->spatial[index] = expr_var(ctx, var);
}

/* EXPR with the symbols of the block of LEVEL (NULL: of the function); INDEX: it is a bound. */
static const Expr *in_level(Nest *nest, const Level *level, const Expr *expr, bool index)
{
    if (nest->build->index_dtype.bits)
        return te_retyped(nest->build, level ? &level->subst : NULL, expr, index);
    const Expr *made = te_transformed(nest->build, expr);
    return level ? subst_expr(nest->build->ctx, (Subst *)&level->subst, made) : made;
}

static void make_level(Nest *nest, int number)
{
    Context *ctx = nest->build->ctx;
    Level *level = &nest->levels[number], *above = number ? level - 1 : NULL;
    *level = (Level){ARENA_ARRAY(ctx->arena, const Iter *, nest->axis_count), 0, ARENA_ARRAY(ctx->arena, Iter, nest->axis_count),
                     ARENA_ARRAY(ctx->arena, const Expr *, nest->axis_count), ARENA_ARRAY(ctx->arena, const Expr *, nest->op->axis_count), 0, {{0}, {0}}};
    if (!nest->axis_count) { /* a single element */
        const Expr *zero = expr_int(ctx, te_index_type(nest->build, DTYPE_INT32), 0);
        level->iters = ARENA_ARRAY(ctx->arena, Iter, 1);
        level->bindings = ARENA_ARRAY(ctx->arena, const Expr *, 1);
        level->iters[0] = (Iter){var_new(ctx, context_intern(ctx, "vi"), zero->dtype, nest->op->span), range_point(ctx, zero), ITER_SPATIAL, nest->op->span};
        level->bindings[level->iter_count++] = zero;
    }
    for (int i = 0; i < nest->axis_count; i++) {
        const Iter *axis = nest->axes[i];
        if (nest->depths[i] < number) {
            const Expr *outer = map_get(&above->subst.vars, axis->var);
            add_iter(nest, level, i, range_point(ctx, outer), outer);
        } else if (nest->depths[i] == number) {
            Range domain = {in_level(nest, above, axis->domain.min, true), in_level(nest, above, axis->domain.extent, true)};
            domain = analyzer_simplify_range(nest->build->analyzer, domain);
            Iter *loop = ARENA_NEW(ctx->arena, Iter);
            *loop = (Iter){var_new(ctx, axis->var->name, te_index_type(nest->build, axis->var->dtype), axis->span), domain, axis->kind, axis->span};
            level->loops[level->loop_count++] = loop;
            add_iter(nest, level, i, domain, expr_var(ctx, loop->var));
        }
    }
}

/* The value of an element, simplified as the reference does when it makes the function. */
static const Expr *element_value(Nest *nest, const Level *level, const Expr *expr)
{
    Analyzer *analyzer = nest->build->analyzer;
    return analyzer_simplify_indices(analyzer, analyzer, analyzer_simplify(analyzer, in_level(nest, level, expr, false)));
}

static const Stmt *store(Nest *nest, const Level *level, Buffer *buffer, const Expr *value)
{
    Context *ctx = nest->build->ctx;
    return stmt_store(ctx, buffer, level->spatial, nest->op->axis_count, op_cast(ctx, buffer->dtype, value), NULL, nest->op->span);
}

static const Stmt *init_stmt(Nest *nest, const Level *level, Buffer **buffers)
{
    const Reduction *reduction = nest->op->reduction;
    const Stmt **stores = ARENA_ARRAY(nest->build->ctx->arena, const Stmt *, reduction->count);
    for (int i = 0; i < reduction->count; i++)
        stores[i] = store(nest, level, buffers[i], in_level(nest, level, (reduction->initial ? reduction->initial : reduction->identities)[i], false));
    return stmt_seq(nest->build->ctx, stores, reduction->count);
}

/* What is combined with the value so far: where `where` does not hold, the identity. */
static const Expr *reduced_value(Nest *nest, const Level *level, int index)
{
    const Reduction *reduction = nest->op->reduction;
    const Expr *value = element_value(nest, level, reduction->sources[index]);
    if (!reduction->condition)
        return value;
    const Expr *condition = analyzer_simplify(nest->build->analyzer, in_level(nest, level, reduction->condition, false));
    return op_if_then_else(nest->build->ctx, condition, value, in_level(nest, level, reduction->identities[index], false), reduction->span);
}

/* Result INDEX of the reduction, of the values so far and the next ones, SIDES. */
static const Expr *combined_value(Nest *nest, const Level *level, Subst *sides, int index)
{
    const Expr *value = in_level(nest, level, nest->op->reduction->results[index], false);
    return nest->build->index_dtype.bits ? te_retyped(nest->build, sides, value, false) : subst_expr(nest->build->ctx, sides, value);
}

static const Stmt *update_stmt(Nest *nest, const Level *level, Buffer **buffers)
{
    Context *ctx = nest->build->ctx;
    const Reduction *reduction = nest->op->reduction;
    int count = reduction->count;
    Subst sides = {{0}, {0}};
    for (int i = 0; i < count; i++) {
        subst_var(ctx, &sides, reduction->left[i], expr_load(ctx, buffers[i], level->spatial, nest->op->axis_count, NULL, reduction->span));
        subst_var(ctx, &sides, reduction->right[i], reduced_value(nest, level, i));
    }
    const Stmt **stores = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    const Expr **values = ARENA_ARRAY(ctx->arena, const Expr *, count);
    Var **lets = ARENA_ARRAY(ctx->arena, Var *, count);
    for (int i = 0; i < count; i++) {
        values[i] = combined_value(nest, level, &sides, i);
        lets[i] = var_new(ctx, context_internf(ctx, "v_%s", buffers[i]->name), values[i]->dtype, reduction->span);
        stores[i] = store(nest, level, buffers[i], count > 1 ? expr_var(ctx, lets[i]) : values[i]);
    }
    const Stmt *body = stmt_seq(ctx, stores, count);
    for (int i = count - 1; i >= 0 && count > 1; i--)
        body = stmt_let(ctx, lets[i], values[i], body, reduction->span);
    return body;
}

static const Stmt *finish_block(FuncBuild *build, BlockStmt block, Span span)
{
    BlockRegions regions = infer_block_regions(build->ctx, &block, &build->visible);
    for (int i = 0; i < regions.read_count; i++)
        regions.reads[i] = analyzer_simplify_region(build->analyzer, regions.reads[i]);
    block.reads = regions.reads;
    block.read_count = regions.read_count;
    block.writes = regions.writes;
    block.write_count = regions.write_count;
    return stmt_block(build->ctx, block, span);
}

static const Stmt *make_block(Nest *nest, Level *level, Str name, const Stmt *init, const Stmt *body, Attrs annotations)
{
    FuncBuild *build = nest->build;
    BlockStmt block = {
        .block = block_new(build->ctx, te_fresh_block_name(build, name), nest->op->span),
        .iter_count = level->iter_count,
        .iters = arena_copy(build->ctx->arena, level->iters, sizeof *level->iters * (size_t)level->iter_count),
        .bindings = level->bindings,
        .predicate = expr_bool(build->ctx, true),
        .annotations = annotations,
        .init = init,
        .body = body,
    };
    return finish_block(build, block, nest->op->span);
}

/* Of several results each has a block of its own, whose axes are its own symbols. */
static void renew_axes(Nest *nest, int number)
{
    Level *level = &nest->levels[number], old = *level;
    make_level(nest, number);
    level->loops = old.loops;
    for (int i = 0; i < level->iter_count; i++)
        level->bindings[i] = old.bindings[i];
}

static bool reduces(const Level *level)
{
    bool any = false;
    for (int i = 0; i < level->iter_count; i++)
        any |= level->iters[i].kind == ITER_REDUCE;
    return any;
}

/* The init stands in the outermost block that reduces, or in the innermost one where the reduction is over no axis. */
static bool holds_init(const Nest *nest, int number)
{
    bool above = false;
    for (int i = 0; i < number; i++)
        above |= reduces(&nest->levels[i]);
    return nest->op->reduction && !above && (reduces(&nest->levels[number]) || number == nest->level_count - 1);
}

static void note_stage(Nest *nest, const Stmt *block)
{
    map_set(nest->build->ctx->arena, &nest->build->script->stage_blocks, nest->op, (void *)block->as.block.block->name);
}

static const Stmt *leaf_stmt(Nest *nest, Buffer **buffers, Attrs annotations)
{
    Context *ctx = nest->build->ctx;
    const Operation *op = nest->op;
    int number = nest->level_count - 1;
    Level *level = &nest->levels[number];
    if (op->reduction) {
        const Stmt *block = make_block(nest, level, op->name, holds_init(nest, number) ? init_stmt(nest, level, buffers) : NULL, update_stmt(nest, level, buffers), annotations);
        note_stage(nest, block);
        return block;
    }
    const Stmt **blocks = ARENA_ARRAY(ctx->arena, const Stmt *, op->result_count);
    for (int i = 0; i < op->result_count; i++) {
        Str name = te_result_name(nest->build->script, op, i);
        if (i)
            renew_axes(nest, number);
        const Stmt *body = store(nest, level, buffers[i], element_value(nest, level, op->bodies[i]));
        blocks[i] = make_block(nest, level, name, NULL, body, annotations);
    }
    note_stage(nest, blocks[0]);
    return stmt_seq(ctx, blocks, op->result_count);
}

static const Stmt *nest_stmt(Nest *nest, Buffer **buffers, Attrs annotations)
{
    Context *ctx = nest->build->ctx;
    const Stmt *body = leaf_stmt(nest, buffers, annotations);
    for (int i = nest->level_count - 1; i >= 0; i--) {
        Level *level = &nest->levels[i];
        if (i < nest->level_count - 1) {
            const Stmt *init = holds_init(nest, i) ? init_stmt(nest, level, buffers) : NULL;
            body = make_block(nest, level, context_internf(ctx, "%s_l%d", nest->op->name, i + 1), init, body, annotations);
        }
        for (int j = level->loop_count - 1; j >= 0; j--) {
            const Iter *loop = level->loops[j];
            const Expr *min = expr_is_int(loop->domain.min, 0) ? NULL : loop->domain.min;
            body = stmt_for_serial(ctx, loop->var, min, loop->domain.extent, body, nest->op->span);
        }
    }
    return body;
}

bool te_build_compute(FuncBuild *build, const Operation *op)
{
    Context *ctx = build->ctx;
    Nest nest = {.build = build, .op = op, .level_count = 1};
    Attrs annotations;
    nest.axis_count = op->axis_count + (op->reduction ? op->reduction->axis_count : 0);
    nest.axes = ARENA_ARRAY(ctx->arena, const Iter *, nest.axis_count);
    nest.depths = ARENA_ARRAY(ctx->arena, int, nest.axis_count);
    for (int i = 0; i < nest.axis_count; i++) {
        nest.axes[i] = i < op->axis_count ? op->axes[i] : op->reduction->axes[i - op->axis_count];
        nest.depths[i] = -1;
    }
    for (int i = 0; i < nest.axis_count; i++)
        depth_of(&nest, i);
    nest.levels = ARENA_ARRAY(ctx->arena, Level, nest.level_count);
    for (int i = 0; i < nest.level_count; i++)
        make_level(&nest, i);
    Buffer **buffers = ARENA_ARRAY(ctx->arena, Buffer *, op->result_count);
    for (int i = 0; i < op->result_count; i++)
        buffers[i] = te_function_buffer(build, op->results[i]);
    if (!te_block_annotations(build, op, &annotations))
        return false;
    const Stmt *stmt = nest_stmt(&nest, buffers, annotations);
    vec_push(ctx->arena, &build->stmts, stmt);
    return true;
}
