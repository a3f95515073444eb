/* Structural matching of a block with the description of a tensor intrinsic. */
#ifndef TIRC_PASSES_SCHEDULE_BLOCK_MATCH_H
#define TIRC_PASSES_SCHEDULE_BLOCK_MATCH_H

#include "passes/arith/analyzer.h"
#include "passes/schedule/core/schedule.h"

/* A buffer of the description and the tile of the program's buffer that it stands for: description index i is program index base[lead + i]
   + i; the LEAD dimensions before are fixed at base. */
typedef struct {
    const Buffer *description;
    Buffer *program;
    const Expr **base; /* program->ndim */
    int lead;
} TileMap;

typedef struct {
    Context *ctx;
    Analyzer *an;
    VEC(TileMap) tiles;
    Map vars;                 /* description Var -> program Var */
    Map open;                 /* Buffers of the description whose tiles the accesses tell -> const Region * of the description */
    Region *reads;            /* in order of the description's, where OPEN is not empty: what the block reads, else NULL */
    const char *mismatch;     /* the first difference in words; NULL while all matches */
    Span mismatch_span;       /* in the program */
    Span description_span;
} Matcher;

/* Matches the body of BLOCK (a block of the program) with the body of DESCRIPTION's root block, up to a renaming of variables and tiles of
   buffers. False with matcher->mismatch set. */
bool match_description(Matcher *matcher, const BlockStmt *block, const Func *description);
/* ROOT is the block of a description. Its body is a nest of loops around a reduction with an init. The result has the init as its own, over the
   loops that the spatial axes of the reduction need; NULL where that is not shown to mean the same. */
const BlockStmt *description_with_init_in_front(Context *ctx, const BlockStmt *root);
const TileMap *matcher_tile(const Matcher *matcher, const Buffer *description);

#endif
