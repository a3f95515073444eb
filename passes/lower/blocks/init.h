/* The place of a block with init among its loops; private to the files init*.c. */
#ifndef TIRC_PASSES_LOWER_BLOCKS_INIT_H
#define TIRC_PASSES_LOWER_BLOCKS_INIT_H

#include "passes/analysis/model/init_domain.h"
#include "passes/lower/core/state.h"

/* A construct around the block. */
typedef struct {
    const Stmt *stmt;
    const Frame *frame; /* inside of it */
} Around;

/* A condition under which the block runs. */
typedef struct {
    const Expr *expr; /* over what is visible at outer and the loops inside it, those of one iteration aside */
    int index;        /* of the construct where it stands, among those around */
    bool reducing;    /* it may leave points without updates */
    bool heeded;      /* it decides which points have an init */
} SiteCondition;

/* An axis of a block around the block with init that is part of the point too: a spatial one, or one that nothing is reduced over by way of. */
typedef struct {
    Iter iter; /* its domain over what is visible at outer and the loops inside it */
    const Expr *binding; /* over the same */
} PointAxis;

typedef struct {
    Context *ctx;
    const Map *params;   /* what the parameters of the function define: Var -> anything */
    const Around *frames; /* outermost first; the last is the block itself */
    int frame_count;
    const BlockStmt *block;
    const Frame *model; /* the frame of the block (FRAME_BLOCK) */
    /* index of the outermost loop that the reduction axes depend on, not counting through spatial axes of the blocks around, which stay the same
       while a reduction runs; -1: there is none */
    int outer;
    Map reduce_loops; /* the loops that the reduction axes depend on so, outer and those inside it */
    VEC(PointAxis) axes_around; /* those of the blocks between outer and the block, outermost first */
    Map spatial_loops; /* the loops, inside and outside outer, and lets that the spatial axes, axes_around too, depend on */
    Map spatial_vars; /* the loops and lets inside outer (itself included) that a nest of init alone needs */
    const Expr **bindings; /* the block's bindings over what is visible at outer and the loops inside it */
    VEC(SiteCondition) conditions; /* all between outer and the block, in their order */
} InitSite;

/* FRAMES lead to the block as the program has it; BLOCK is that block with what lies inside it already lowered. Allocated in ctx->arena. */
InitSite *init_site_new(Context *ctx, const Map *params, const Around *frames, int frame_count, const BlockStmt *block);
/* EXPR, as seen inside the frame at index INSIDE, over what is visible at outer and the loops inside it. */
const Expr *init_site_compose(const InitSite *site, const Expr *expr, int inside);
/* EXPR with the one value of each loop of one iteration: such a loop tells no points apart. EXPR itself where no other loop is left. */
const Expr *init_site_without_unit_loops(const InitSite *site, const Expr *expr);
/* True when a point that the loops reach may have no update: some reduction loop may be empty, or a condition depends on the reduction. */
bool init_site_points_may_lack_updates(const InitSite *site);
/* The init as loops of its own, to stand before outer. */
const Stmt *init_site_nest(const InitSite *site);
/* The nest runs the init of a point more than once: a loop that the points depend on reduces too. */
bool init_site_nest_repeats_points(const InitSite *site);

/* The condition, on the reduction axes, that this is the first iteration of all reduction loops; NULL where it is not shown to be the first
   update of each point. */
const Expr *init_site_guard(const InitSite *site);

/* Memory that tells which points have had their init: one bool for each. */
typedef struct {
    Buffer *buffer;    /* its shape is that of the domains of the axes that are no reduction */
    Region region;     /* the element of the point, for the block */
    const Stmt *clear; /* loops of its own, to stand before outer: no point has had its init */
    const Stmt *init;  /* for the block: the init where the point has had none */
    const Stmt *nest;  /* the same for all points, to stand after clear */
} InitFlags;
InitFlags init_site_flags(const InitSite *site);
/* Appends REGION to *REGIONS, which holds *COUNT. */
void regions_add(Context *ctx, Region **regions, int *count, Region region);

#endif
