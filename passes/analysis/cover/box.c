/* The box that a write fills while the loops around its block run, where no affine set describes it: loops over boxes of symbolic extent
   that were fused and split again.

     for f_0, f_1 in T.grid((4 * m + 31) // 32, 32):     # fills B[i * 4:i * 4 + 4, 0:m], as far as i * 4 + ... < n
         T.where(f_0 * 32 + f_1 < 4 * m and i * 4 + (f_0 * 32 + f_1) // m < n)
         B[i * 4 + (f_0 * 32 + f_1) // m, (f_0 * 32 + f_1) % m] = ...

   The indices must be a one-to-one map of the loops inside, or at least a surjective one where those certainly run; a condition either
   narrows the loops, which the map understands, or speaks of one index. */
#include "ir/walk.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_point.h"
#include "passes/arith/iter_map.h"

typedef struct {
    Context *ctx;
    Analyzer *an; /* knows the loops */
    const Access *write;
    int kept;
    VarRange *inner; /* the loops inside of the first KEPT, which the indices use */
    int inner_count;
    Map idle; /* the variables of those that no index uses */
    const Expr **indices;
    const Expr *narrowing; /* conditions on the loops */
    ExprList clipping; /* conditions on one element: over the variables of ELEMENTS */
    Var **elements;
} Filling;

static bool uses_inner(const Filling *filling, const Expr *expr)
{
    for (int i = 0; i < filling->inner_count; i++)
        if (expr_uses_var(expr, filling->inner[i].var))
            return true;
    return false;
}

static bool uses_idle(const Filling *filling, const Expr *expr)
{
    for (int i = 0; i < filling->idle.count; i++)
        if (expr_uses_var(expr, filling->idle.entries[i].key))
            return true;
    return false;
}

/* The loops inside, with their ranges in terms of loops; false for one that may keep the write from running. Those that no index uses must not
   matter to the others either. */
static bool find_loops(Filling *filling)
{
    Context *ctx = filling->ctx;
    int count;
    const Frame **loops = frame_loops(ctx, filling->write->frame, &count);
    filling->inner = ARENA_ARRAY(ctx->arena, VarRange, count);
    for (int i = 0; i < count; i++) {
        Range range = frame_loop_range(ctx, loops[i]);
        analyzer_bind_range_opaque(filling->an, loops[i]->var, range);
        bool used = false;
        for (int d = 0; d < filling->write->buffer->ndim; d++)
            used |= expr_uses_var(filling->indices[d], loops[i]->var);
        int64_t extent;
        if (i < filling->kept)
            continue;
        if (loops[i]->unsure || uses_inner(filling, range.min) || uses_inner(filling, range.extent) || uses_idle(filling, range.min) ||
            uses_idle(filling, range.extent))
            return false;
        if (used)
            filling->inner[filling->inner_count++] = (VarRange){loops[i]->var, range};
        else if (!access_once_in(filling->write, loops[i]) && (!expr_const_int(range.extent, &extent) || extent <= 0))
            return false;
        else
            map_set(ctx->arena, &filling->idle, loops[i]->var, (void *)loops[i]->var);
    }
    return true;
}

/* CONDITION, a comparison, as one on a single element; NULL when it is none. */
static const Expr *condition_on_element(const Filling *filling, const Expr *condition)
{
    Context *ctx = filling->ctx;
    if (!expr_is_compare(condition) || !dtype_is_integer(condition->args[0]->dtype))
        return NULL;
    DType dtype = condition->args[0]->dtype;
    const Expr *difference = op_sub(ctx, condition->args[0], condition->args[1]);
    for (int d = 0; d < filling->write->buffer->ndim; d++) {
        const Expr *index = op_cast(ctx, dtype, filling->indices[d]), *element = op_cast(ctx, dtype, expr_var(ctx, filling->elements[d]));
        const Expr *less = analyzer_simplify(filling->an, op_sub(ctx, difference, index));
        if (!uses_inner(filling, less))
            return op_compare(ctx, (ExprKind)condition->kind, op_add(ctx, element, less), expr_int(ctx, dtype, 0));
        const Expr *more = analyzer_simplify(filling->an, op_add(ctx, difference, index));
        if (!uses_inner(filling, more))
            return op_compare(ctx, (ExprKind)condition->kind, op_sub(ctx, more, element), expr_int(ctx, dtype, 0));
    }
    return NULL;
}

static bool find_conditions(Filling *filling)
{
    Context *ctx = filling->ctx;
    bool all;
    ExprList conditions = access_conditions(ctx, filling->write->frame, &all);
    filling->narrowing = expr_bool(ctx, true);
    for (int i = 0; i < conditions.count; i++) {
        const Expr *condition = conditions.data[i];
        all &= !uses_idle(filling, condition);
        const Expr *on_element = uses_inner(filling, condition) ? condition_on_element(filling, condition) : condition;
        if (on_element)
            vec_push(ctx->arena, &filling->clipping, on_element);
        else
            filling->narrowing = op_and(ctx, filling->narrowing, condition);
    }
    return all;
}

/* No loop inside may be empty: parts of them that no index uses keep nothing from being filled. */
static bool loops_certainly_run(const Filling *filling)
{
    bool run = expr_is_int(filling->narrowing, 1);
    for (int i = 0; i < filling->inner_count; i++) {
        int64_t extent;
        run &= expr_const_int(filling->inner[i].range.extent, &extent) && extent > 0;
    }
    return run;
}

/* The indices fill BOX, whose bounds are in terms of the loops outside. */
static bool find_box(Filling *filling, Range *box)
{
    Context *ctx = filling->ctx;
    int ndim = filling->write->buffer->ndim;
    IterMapLevel level = loops_certainly_run(filling) ? ITER_MAP_SURJECTIVE : ITER_MAP_BIJECTIVE;
    IterMapQuery query = {filling->indices, ndim, filling->inner, filling->inner_count, filling->narrowing, level, false};
    IterMapResult map;
    if (!iter_map_detect(filling->an, &query, &map))
        return false;
    for (int d = 0; d < ndim; d++) {
        const IterSum *sum = map.sums[d];
        bool filled = sum->count == 0 || (sum->count == 1 && expr_is_int(sum->args[0].scale, 1));
        box[d] = (Range){sum->base, sum->count ? sum->args[0].extent : expr_int(ctx, sum->base->dtype, 1)};
        if (!filled || uses_inner(filling, box[d].min) || uses_inner(filling, box[d].extent))
            return false;
    }
    return true;
}

/* Restricts SPACE to the elements that WRITE touches in one iteration of its first KEPT loops. The first dimensions of SPACE are these loops, those
   from FIRST on are indices of an element. False when they are not shown to be a box. */
static bool assume_box(AffineSpace *space, const Access *write, int kept, int first)
{
    Context *ctx = space->ctx;
    Filling filling = {.ctx = ctx, .an = analyzer_new(ctx), .write = write, .kept = kept};
    int ndim = write->buffer ? write->buffer->ndim : 0;
    ExprList indices = {0};
    bool known = access_point_uncast(ctx, write, &indices);
    filling.indices = indices.data;
    filling.elements = ARENA_ARRAY(ctx->arena, Var *, ndim);
    for (int d = 0; known && d < ndim; d++)
        filling.elements[d] = var_new(ctx, write->buffer->name, filling.indices[d]->dtype, span_none());
    Range *box = ARENA_ARRAY(ctx->arena, Range, ndim);
    if (!known || !find_loops(&filling) || !find_conditions(&filling) || !find_box(&filling, box))
        return false;
    const AffineEnv *env = frame_env(ctx, write->frame, 0);
    for (int d = 0; d < ndim; d++) {
        AffineEnv inner = {env, filling.elements[d], first + d, NULL};
        env = arena_copy(ctx->arena, &inner, sizeof inner);
    }
    for (int d = 0; d < ndim; d++)
        affine_assume_range(space, env, first + d, box[d]);
    for (int i = 0; i < filling.clipping.count; i++)
        affine_assume(space, env, filling.clipping.data[i], false);
    return true;
}

isl_set *access_filled_box(Context *ctx, const Access *write, AffineTerms *terms, const Map *sizes)
{
    int loops, count = terms->fixed;
    const Frame **frames = frame_loops(ctx, write->frame, &loops);
    AffineSpace space = affine_universe(ctx, loops + write->buffer->ndim, sizes);
    space.terms = terms;
    if (count)
        frame_assume(&space, frames[count - 1], frame_env(ctx, frames[count - 1], 0));
    bool known = !space.approximate && assume_box(&space, write, count, loops) && !space.approximate;
    isl_set *set = known ? affine_take_set(&space) : NULL;
    if (!known)
        affine_free(&space);
    return set ? isl_set_project_out(set, isl_dim_set, (unsigned)count, (unsigned)(loops - count)) : NULL;
}
