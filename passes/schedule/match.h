/* Structural matching of a block with the description of a tensor intrinsic. */
#ifndef TIRC_PASSES_SCHEDULE_MATCH_H
#define TIRC_PASSES_SCHEDULE_MATCH_H

#include "passes/arith/analyzer.h"
#include "passes/schedule/schedule.h"

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
    const char *mismatch;     /* the first difference in words; NULL while all matches */
    Span mismatch_span;       /* in the program */
    Span description_span;
} Matcher;

/* Matches the body of BLOCK (a block of the program) with the body of DESCRIPTION's root block, up to a renaming of variables and tiles of
   buffers. False with matcher->mismatch set. */
bool match_description(Matcher *matcher, const BlockStmt *block, const Func *description);
const TileMap *matcher_tile(const Matcher *matcher, const Buffer *description);

#endif
