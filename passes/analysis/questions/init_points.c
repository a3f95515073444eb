/* Do the inits of a block run for the same points after a step as before it? See dependence_inits_kept in dependence.h.

   The init of a block is a statement of its own. It runs once for each point, a value of the axes that do not reduce, also where the point
   has no update. So its iteration domain is not that of the updates: loops and conditions that only restrict the reduction do not count
   (see access_init.c).

     for i, k in T.grid(n, m):                  for f in range(n * m):
         with T.block("C"):                         with T.block("C"):
             vi, vk = remap("SR", [i, k])               vi, vk = f // m, f % m       m = 0: no init runs any more

   The sets of points before and after are the same in one of three cases:
   - Each init runs with the first update of its point, before and after. A step keeps the updates.
   - The integer sets of points are the same.
   - Neither set depends on what is reduced over: no loop reduces that the points are found by, unless it certainly runs, and no condition
     is about both. Nor does the step put another loop around, which may be empty. Both sets are then those for a reduction that is not
     empty, of which the first case speaks.

   Not handled: axes that the step makes anew; whoever makes them gives them their domain. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/model/access_init.h"
#include "passes/analysis/model/init_domain.h"
#include "passes/analysis/pairs/witness.h"
#include "passes/analysis/questions/conflict.h"

/* The init of a block in one of the programs. */
typedef struct {
    const Func *func;
    const Access *access; /* one of its writes */
    const Frame *frame;   /* of the block */
    FrameList axes;       /* that name its points, outermost first */
} Init;

static bool names_points(const Frame *axis, const Frame *block)
{
    bool own = axis->depth > block->depth;
    return axis->kind == FRAME_BIND && axis->identity && (own ? axis->axis != ITER_REDUCE : axis->axis == ITER_SPATIAL);
}

/* False where FUNC has no such block, or its init writes nothing. */
static bool find_init(Context *ctx, const Func *func, const Block *block, Init *init)
{
    AccessList accesses = access_collect_inside(ctx, func, block);
    *init = (Init){.func = func};
    for (int i = 0; i < accesses.count && !init->access; i++) {
        const Frame *frame = frame_of_block(accesses.data[i].frame, block);
        if (!frame || !accesses.data[i].write || !frame_in_init(accesses.data[i].frame, frame))
            continue;
        init->access = &accesses.data[i];
        init->frame = frame;
    }
    const Frame *body = init->access ? init->access->frame : NULL;
    VEC(const Frame *) inwards = {0};
    for (; body; body = body->outer)
        if (names_points(body, init->frame))
            vec_push(ctx->arena, &inwards, body);
    for (int i = inwards.count - 1; i >= 0; i--)
        vec_push(ctx->arena, &init->axes, inwards.data[i]);
    return init->access;
}

static bool have_same_axes(const Init *a, const Init *b)
{
    bool same = a->axes.count == b->axes.count;
    for (int i = 0; i < a->axes.count && same; i++)
        same = a->axes.data[i]->var == b->axes.data[i]->var;
    return same;
}

/* The points of INIT in each iteration of the outermost loops, which TERMS fixes: a set of those and of the axes; NULL when unknown. *EXACT
   false: it may be too large. */
static isl_set *points_of(Context *ctx, const Init *init, AffineTerms *terms, const Map *sizes, bool *exact)
{
    int loops = frame_loop_count(init->access->frame), axes = init->axes.count, kept = terms->fixed;
    AffineSpace space = affine_universe(ctx, loops + axes, sizes);
    space.terms = kept ? terms : NULL;
    const AffineEnv *env = frame_env(ctx, init->access->frame, 0);
    access_assume(&space, init->access, env);
    for (int i = 0; i < axes; i++) {
        const Expr *axis = expr_var(ctx, init->axes.data[i]->var);
        AffineEnv value = {NULL, init->axes.data[i]->var, loops + i, NULL};
        affine_assume_compare(&space, EXPR_EQ, &value, axis, env, axis);
    }
    *exact = !space.approximate;
    isl_set *set = affine_take_set(&space);
    return set ? isl_set_project_out(set, isl_dim_set, (unsigned)kept, (unsigned)(loops - kept)) : NULL;
}

/* "vi = 3, vj = 0 (with n = 4)" for a point of SET (taken); NULL when none is found. */
static const char *point_text(Context *ctx, const Init *init, isl_set *set, const Map *sizes)
{
    Var **vars = ARENA_ARRAY(ctx->arena, Var *, init->axes.count);
    for (int i = 0; i < init->axes.count; i++)
        vars[i] = init->axes.data[i]->var;
    return values_text(ctx, vars, init->axes.count, 0, set, sizes);
}

/* SOME lies in ALL. Otherwise *WITNESS is a point of SOME that does not, or NULL when this is not sure. */
static bool points_are_among(Context *ctx, const Init *some, const Init *all, int kept, const Map *sizes, const char **witness)
{
    AffineTerms terms = {.fixed = kept};
    bool exact_some, exact_all;
    isl_set *lacking = points_of(ctx, some, &terms, sizes, &exact_some), *of_all = points_of(ctx, all, &terms, sizes, &exact_all);
    lacking = isl_set_subtract(lacking, of_all); /* takes both, NULL included */
    lacking = affine_bound_params(lacking, sizes, &terms);
    bool among = lacking && exact_all && isl_set_is_empty(lacking) == isl_bool_true;
    *witness = NULL;
    if (!among && lacking && exact_some && exact_all && !kept)
        *witness = point_text(ctx, some, lacking, sizes);
    else
        isl_set_free(lacking);
    return among;
}

/* A loop around AFTER that may be empty, that BEFORE did not have, and that no axis is bound to; NULL: there is none. */
static const Frame *gained_loop(Context *ctx, const Init *before, const Init *after)
{
    int count;
    const Frame **loops = frame_loops(ctx, after->frame, &count);
    for (int i = 0; i < count; i++) {
        int64_t extent;
        bool runs = expr_const_int(loops[i]->range.extent, &extent) && extent > 0, binds = access_loop(before->access, loops[i]->var);
        for (const Frame *frame = after->access->frame; frame && !runs && !binds; frame = frame->outer)
            binds = frame->kind == FRAME_BIND && frame->identity && frame_depends(frame->outer, frame->value, loops[i]->var);
        if (!runs && !binds)
            return loops[i];
    }
    return NULL;
}

/* Some loop or binding (KIND) around the init BEFORE is not around AFTER. */
static bool has_another(const Init *before, const Init *after, FrameKind kind)
{
    for (const Frame *a = before->access->frame; a; a = a->outer) {
        bool found = a->kind != kind;
        for (const Frame *b = after->access->frame; b && !found; b = b->outer)
            found = b->kind == kind && b->var == a->var &&
                    (kind == FRAME_LOOP ? expr_equal(a->range.min, b->range.min) && expr_equal(a->range.extent, b->range.extent) &&
                                              frame_is_thread_loop(a) == frame_is_thread_loop(b)
                                        : expr_equal(a->value, b->value));
        if (!found)
            return true;
    }
    return false;
}

static bool depends_on_loop(const Frame *frame, const Expr *condition)
{
    bool depends = false;
    for (const Frame *loop = frame->outer; loop && !depends; loop = loop->outer)
        depends = loop->kind == FRAME_LOOP && frame_depends(frame->outer, condition, loop->var);
    return depends;
}

/* The conditions around INIT; with FIXED those that depend on no loop. */
static ConjunctList conditions_of(Context *ctx, const Init *init, bool fixed)
{
    ConjunctList all = {0};
    for (const Frame *frame = init->access->frame; frame; frame = frame->outer) {
        ConjunctList parts = frame->kind == FRAME_CONDITION ? frame_conditions(ctx, frame) : (ConjunctList){0};
        for (int i = 0; i < parts.count; i++)
            if (!fixed || !depends_on_loop(frame, parts.data[i].expr))
                vec_push(ctx->arena, &all, parts.data[i]);
    }
    return all;
}

/* Some of BEFORE is not in AFTER; one that reads memory aside, where AFTER has one. */
static bool has_another_condition(const ConjunctList *before, const ConjunctList *after)
{
    for (int i = 0; i < before->count; i++) {
        const Conjunct *a = &before->data[i];
        bool found = false;
        for (int k = 0; k < after->count && !found; k++) {
            const Conjunct *b = &after->data[k];
            found = a->negated == b->negated &&
                    (expr_equal(a->expr, b->expr) || (!expr_is_fixed(a->expr) && !expr_is_fixed(b->expr)));
        }
        if (!found)
            return true;
    }
    return false;
}

static bool have_same_conditions(Context *ctx, const Init *a, const Init *b, bool fixed)
{
    ConjunctList of_a = conditions_of(ctx, a, fixed), of_b = conditions_of(ctx, b, fixed);
    return !has_another_condition(&of_a, &of_b) && !has_another_condition(&of_b, &of_a);
}

/* The same loops, bindings and conditions are around both, in whatever order. What conditions read from memory is for others to ask. */
static bool have_same_frames(Context *ctx, const Init *a, const Init *b)
{
    static const FrameKind kinds[] = {FRAME_LOOP, FRAME_BIND};
    bool same = true;
    for (int i = 0; i < 2 && same; i++)
        same = !has_another(a, b, kinds[i]) && !has_another(b, a, kinds[i]);
    if (!same)
        return false;
    return have_same_conditions(ctx, a, b, false);
}

/* The conditions around INIT that decide of its points (HEEDED), or those that do not. */
static ConjunctList conditions_by_role(Context *ctx, const Init *init, bool heeded)
{
    ConjunctList list = {0};
    for (const Frame *frame = init->access->frame; frame; frame = frame->outer) {
        ConjunctList parts = frame->kind == FRAME_CONDITION ? frame_conditions(ctx, frame) : (ConjunctList){0};
        for (int i = 0; i < parts.count; i++)
            if (init_heeds_condition(ctx, init->frame, init->access->frame, frame, parts.data[i].expr) == heeded)
                vec_push(ctx->arena, &list, parts.data[i]);
    }
    return list;
}

/* A condition that says nothing of the points of A decides of those of B: what it speaks of is reduced over no more. */
static bool condition_changes_role(Context *ctx, const Init *a, const Init *b)
{
    ConjunctList ignored = conditions_by_role(ctx, a, false), heeded = conditions_by_role(ctx, b, true);
    for (int i = 0; i < ignored.count; i++)
        for (int k = 0; k < heeded.count; k++)
            if (ignored.data[i].negated == heeded.data[k].negated && expr_equal(ignored.data[i].expr, heeded.data[k].expr))
                return true;
    return false;
}

/* Why the sets of points may depend on what is reduced over; NULL: they do not. */
static const char *why_dependent(Context *ctx, const Init *before, const Init *after)
{
    const Frame *gained = gained_loop(ctx, before, after);
    if (gained)
        return arena_printf(ctx->arena, "loop '%s' comes around it and may have no iteration", gained->var->name);
    if (!have_same_conditions(ctx, before, after, true)) /* a loop of one iteration that reduces became its value, say */
        return "a condition no longer depends on a loop, or did not before";
    if (condition_changes_role(ctx, before, after) || condition_changes_role(ctx, after, before))
        return "a condition on what is reduced over becomes one on points, or was one before";
    const char *why = access_points_depend(ctx, after->access);
    return why ? why : access_points_depend(ctx, before->access);
}

bool conflict_inits_lost(Context *ctx, const Func *before, const Func *after, const Block *block, bool may_gain, Conflict *conflict)
{
    Init old, new;
    if (!find_init(ctx, before, block, &old) || !find_init(ctx, after, block, &new) || !have_same_axes(&old, &new) ||
        have_same_frames(ctx, &old, &new) || (!access_may_lack_updates(old.access) && !access_may_lack_updates(new.access)))
        return false;
    Map sizes = func_sizes(ctx, before);
    const char *lost = NULL, *gained = NULL, *ignored, *why = NULL;
    int common = frame_common_loops(ctx, old.access->frame, new.access->frame);
    bool kept = points_are_among(ctx, &old, &new, 0, &sizes, &lost) && (may_gain || points_are_among(ctx, &new, &old, 0, &sizes, &gained));
    if (!kept && !lost && !gained)
        kept = (common && points_are_among(ctx, &old, &new, common, &sizes, &ignored) &&
                (may_gain || points_are_among(ctx, &new, &old, common, &sizes, &ignored))) ||
               !(why = why_dependent(ctx, &old, &new));
    if (kept)
        return false;
    const char *text = lost     ? arena_printf(ctx->arena, "the init of block '%s' would no longer run for %s", block->name, lost)
                       : gained ? arena_printf(ctx->arena, "the init of block '%s' would run for %s, which it does not now", block->name,
                                               gained)
                                : arena_printf(ctx->arena, "that the init of block '%s' still runs for the same points cannot be shown: %s",
                                               block->name, why);
    *conflict = (Conflict){.witnessed = lost || gained, .text = text};
    return true;
}
