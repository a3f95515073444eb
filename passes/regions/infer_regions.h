/* The regions that a block reads and writes, found from its init and body. Programs that state no T.reads or T.writes mean these. */
#ifndef TIRC_PASSES_REGIONS_INFER_REGIONS_H
#define TIRC_PASSES_REGIONS_INFER_REGIONS_H

#include "ir/stmt.h"

typedef struct {
    Region *reads, *writes; /* in the order of first access; one for each buffer */
    int read_count, write_count;
    bool *reads_once, *writes_once; /* which of them are those of a single access */
    const Expr *opaque; /* the first use of a buffer's data pointer whose extent is not known, or NULL: then the regions do not say all */
} BlockRegions;

/* The accesses of BLOCK, relaxed over the loops inside it and narrowed by conditions on their variables alone. Blocks inside count by their
   own reads and writes. Accesses of a match_buffer view count for the region's source; buffers allocated inside do not count; with an init,
   reads of what the block writes do not count. BUFFERS: data variable -> Buffer of those that are visible. */
BlockRegions infer_block_regions(Context *ctx, const BlockStmt *block, const Map *buffers);
/* INIT is a block made of the init of BLOCK, with the writes of that: sets its reads, for it may start from values of the buffers that BLOCK
   declares to read, and keeps the writes of buffers that it uses. */
void infer_init_regions(Context *ctx, const BlockStmt *block, BlockStmt *init);
/* REGION is one of REGIONS (COUNT of them), as they are written. */
bool regions_have(const Region *regions, int count, const Region *region);
/* What BLOCK reads, an update once its init is gone: first what it writes, but for those regions that are among its reads. */
Region *regions_read_by_update(Context *ctx, const BlockStmt *block, int *count);

#endif
