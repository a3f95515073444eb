/* The accesses to a buffer turned to another layout: B[i, j] to B[map(i, j)]. */
#ifndef TIRC_PASSES_SCHEDULE_LAYOUT_LAYOUT_H
#define TIRC_PASSES_SCHEDULE_LAYOUT_LAYOUT_H

#include "passes/schedule/core/index_map.h"

typedef struct {
    Schedule *sch;
    Buffer *old_buffer, *new_buffer;
    const IndexMap *map;
} LayoutChange;

/* Every use of BUFFER in the function is a load or store of one element by its name: no view, no pointer, no vector. False after a refusal. */
bool check_buffer_is_accessed_by_elements(Schedule *sch, const Buffer *buffer);
/* STMT with the new buffer in place of the old one: in accesses, regions, allocations and annotations. */
const Stmt *layout_rewrite(const LayoutChange *change, const Stmt *stmt);

#endif
