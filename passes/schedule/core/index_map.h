/* Index maps: functions from indices to indices, as transform_layout and its like take them. A map is applied, gives the shape of what it makes of
   a box, and is inverted. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_INDEX_MAP_H
#define TIRC_PASSES_SCHEDULE_CORE_INDEX_MAP_H

#include "passes/arith/iter_map.h"
#include "passes/schedule/core/schedule.h"

typedef struct {
    int input_count, output_count;
    Var **inputs;
    const Expr **outputs; /* over the inputs */
    int *separators;      /* how many outputs stand before each AXIS_SEPARATOR */
    int separator_count;
    const Value *argument; /* of the step, for refusals */
} IndexMap;

/* What FUNCTION, an argument of the running step, makes of COUNT indices of TYPE; false after a refusal. */
bool index_map_make(Schedule *sch, const Value *function, int count, DType type, IndexMap *map);
/* The same for a function of one result that is no index: *VALUE, over *VARS, of DTYPE where it is a number. */
bool index_function_value(Schedule *sch, const Value *function, int count, DType type, DType dtype, Var ***vars, const Expr **value);

/* The same for a function of the axes of BLOCK that gives each dimension of BUFFER an index or a pair of begin and end: *ENDS, one pair for each
   dimension, over the axes. */
bool index_function_ranges(Schedule *sch, const Value *function, const BlockStmt *block, const Buffer *buffer, const Expr *(*ends)[2]);

/* What MAP makes of INDICES, simplified by AN. */
const Expr **index_map_apply(Analyzer *an, const IndexMap *map, const Expr *const *indices);
/* The extents of the box from 0 that holds what MAP makes of the box of EXTENTS; NULL after a refusal. */
const Expr **index_map_shape(Schedule *sch, const IndexMap *map, const Expr *const *extents);

typedef struct {
    Var **vars;            /* axis0, axis1, ...: the outputs of the map */
    const Expr **values;   /* of each input, over them */
    const Expr *padding;   /* where no input leads to: over them; constant false where there is no such place */
} IndexInverse;

/* The inverse of MAP over the box of EXTENTS, whose outputs lie in the box of SHAPE. False, with *WHY set, where it is not found, or not shown to
   be one. With BIJECTIVE a map that leaves places out has none. */
bool index_map_invert(Schedule *sch, const IndexMap *map, const Expr *const *extents, const Expr *const *shape, bool bijective,
                      IndexInverse *inverse, const char **why);
/* MAP takes no two points of the box of EXTENTS, which is constant, to one, found by going over them. *WHY otherwise: two such points, or what
   keeps it from being found. */
bool index_map_is_injective(Schedule *sch, const IndexMap *map, const Expr *const *extents, const Expr *const *shape, const char **why);

#endif
