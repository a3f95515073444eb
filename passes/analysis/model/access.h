/* Every access to memory of a part of a program, with all that is known of when it runs and what it touches. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_ACCESS_H
#define TIRC_PASSES_ANALYSIS_MODEL_ACCESS_H

#include "passes/analysis/sets/affine.h"

/* One step on the way from the function's body to an access. Ways share their beginnings, so that equal frames are equal pointers. */
typedef enum {
    FRAME_LOOP,      /* var over range */
    FRAME_CONDITION, /* value holds (negated: does not) */
    FRAME_BIND,      /* var stands for value: a block iterator or let */
    FRAME_POSITION,  /* the position-th of statements that run one after the other */
    FRAME_BLOCK,     /* inside a block; its bindings and predicate follow */
} FrameKind;

typedef struct Frame {
    const struct Frame *outer;
    int depth;
    FrameKind kind;
    Var *var;
    Range range;      /* FRAME_LOOP (see access_collect); FRAME_BIND of a block iterator: its domain; else NULLs */
    const Expr *value;
    bool negated;
    int position;
    const Stmt *stmt; /* FRAME_LOOP, FRAME_BLOCK, FRAME_CONDITION of an if statement: the statement; else NULL */
    /* FRAME_LOOP: which of its iterations run whole is not known before: a while loop, or one whose body leaves or continues it */
    bool unsure;
    IterKind axis;    /* FRAME_BIND of a block's iterator: its kind */
    /* FRAME_LOOP inside a block, FRAME_BIND of a block's iterator: part of what names the instance when the loops around blocks change */
    bool identity;
} Frame;

typedef struct Access {
    const Frame *frame; /* innermost */
    Var *data;          /* the memory: the data variable of the root buffer */
    Buffer *buffer;     /* the root buffer, in whose coordinates REGION is */
    Region region;
    const struct AccessRows *rows; /* NULL, or how REGION names elements instead (see rows.h): BUFFER is then made up */
    Region given;       /* with ROWS: REGION in coordinates of the root buffer */
    bool whole;         /* may touch any element: REGION says nothing */
    bool write;
    bool may;           /* need not touch all of REGION: it is masked, or its lanes lie apart. No write of that kind is a must-write */
    bool ends;          /* touches the first and the last element of REGION: those of the first and the last lane of a vector */
    bool viewed;        /* the access is made through a match_buffer view of the root buffer */
    Block *group;       /* of an access to the target of a recognized reduction: its block. Accesses of one group commute. Else NULL */
    bool initialized;   /* the group's block has an init, which runs before any update */
    bool asked;         /* the program need not make it: its elements may lie out of bounds */
    bool never;         /* certainly does not run: it lies in a loop of no iteration, and not in an init that runs all the same */
    bool fence;         /* an effect without declared regions: conflicts with everything; a WRITE unless the call is pure */
    const Buffer *anywhere; /* of a FENCE: it is an access to this buffer, which lies at a pointer that may lead to any memory. Else NULL */
    bool entry;         /* the block reads it to be entered: its predicate, axes, views. No region of the block declares it */
    int order;          /* among accesses of one statement: what is read comes before what is written */
    int item;           /* which statement of the function's outermost block it lies in; -1: none, or not known */
    Block *block;       /* the innermost block around, or NULL */
    const Func *func;
    const Stmt *stmt;
    Span span;
} Access;
typedef VEC(Access) AccessList;
typedef VEC(const Frame *) FrameList;
typedef VEC(const Access *) AccessRefs;

/* True when FRAME is OUTER or lies inside it. */
bool frame_within(const Frame *frame, const Frame *outer);
/* The frame of the loop over VAR around ACCESS, or NULL. */
const Frame *access_loop(const Access *access, const Var *var);
/* FRAME is a loop that is bound to threads. */
bool frame_is_thread_loop(const Frame *frame);
/* The innermost frame that both ways share. */
const Frame *frame_common(const Frame *a, const Frame *b);

/* The frame of BLOCK (FRAME_BLOCK) around FRAME or FRAME itself; NULL: FRAME does not lie in it. */
const Frame *frame_of_block(const Frame *frame, const Block *block);
/* How many loops, from the outermost on, two frames of the programs before and after a step share. */
int frame_common_loops(Context *ctx, const Frame *a, const Frame *b);
/* FRAME lies in the init of the block of BLOCK, a frame around it (FRAME_BLOCK). */
bool frame_in_init(const Frame *frame, const Frame *block);
/* ACCESS belongs to the init of a block. */
bool access_in_init(const Access *access);
/* LOOP, which is around ACCESS, only reduces in the block of whose init ACCESS is part: the init runs in one of its iterations. */
bool access_once_in(const Access *access, const Frame *loop);
/* The loops from the root to FRAME, outermost first; *COUNT of them. */
const Frame **frame_loops(Context *ctx, const Frame *frame, int *count);
/* How many these are. */
int frame_loop_count(const Frame *frame);
/* An environment in which the loops of FRAME are the dimensions from FIRST_DIM on, in the order of frame_loops, and bindings are
   expanded. */
const AffineEnv *frame_env(Context *ctx, const Frame *frame, int first_dim);
/* The same, but that the outermost AGREEING loops are the first dimensions of all: those that another frame has there too. */
const AffineEnv *frame_env_agreeing(Context *ctx, const Frame *frame, int agreeing, int first_dim);
/* Restricts SPACE to the iterations in which the access at FRAME runs. */
void frame_assume(AffineSpace *space, const Frame *frame, const AffineEnv *env);
/* Restricts SPACE to the iterations in which ACCESS certainly runs, once for each point that it touches. An init that does not depend on
   the loops that only reduce runs also where the reduction is empty: these loops have any value then. */
void access_assume(AffineSpace *space, const Access *access, const AffineEnv *env);
/* The same for the iterations in which ACCESS may run: an init, in any one of the loops that only reduce, whatever conditions say of them. */
void access_assume_possible(AffineSpace *space, const Access *access, const AffineEnv *env);
/* The same, for an init in the iterations in which there is an update: it runs before the first one. Where there certainly is none, it runs
   before the loops that only reduce, which is in their first iteration. SPACE has DIMS dimensions. */
void access_assume_beside_updates(AffineSpace *space, const Access *access, const AffineEnv *env, int dims);
/* The same as access_assume_possible, and where those loops have no iteration: they have any value. */
void access_assume_anywhere(AffineSpace *space, const Access *access, const AffineEnv *env);
/* The buffer that BUFFER, through match_buffer, is a view of in the end; itself where it is none. Accesses are listed with its data variable. */
const Buffer *buffer_viewed(const Func *func, const Buffer *buffer);
/* The sizes that FUNC's declarations define, known to be >= 0. */
Map func_sizes(Context *ctx, const Func *func);

#endif
