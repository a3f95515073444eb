/* Writing the text of a random program: extents, tensors, loop nests, values. */
#ifndef TIRC_TESTS_FUZZ_WRITER_H
#define TIRC_TESTS_FUZZ_WRITER_H

#include "fuzz.h"

enum { MOST_RANK = 3, MOST_TENSORS = 32, MOST_EXTENTS = 24, MOST_AXES = 6 };

typedef struct {
    const char *text; /* as it stands in the program: a number, n, (n + 2) */
    int size;         /* -1: symbolic */
    int base, more;   /* the extent with the index BASE made larger by MORE; -1: one of its own */
} Extent;
typedef struct {
    const char *name, *type;
    int rank, dims[MOST_RANK]; /* dims: indices of extents */
    bool param, input, written, compact; /* input: no block writes it; compact: declared without strides and offset */
} Tensor;
/* An axis of a block over the whole of an extent. */
typedef struct {
    int dim;
    char kind; /* 'S', 'R', or 'O' for an axis whose order matters */
    const char *loop, *name;
} Axis;
/* Which points of a block are left out, by a condition between its first and its last axis or on one of them. */
typedef enum { MASK_NONE, MASK_TRIANGLE, MASK_BAND, MASK_PARITY, MASK_HEAD } Mask;
typedef struct {
    Axis items[MOST_AXES];
    int count;
    Mask mask;
    bool repeated; /* a loop around the block that no axis depends on */
} Axes;

typedef struct {
    Random *random;
    Arena *arena;
    StrBuf body;
    Extent extents[MOST_EXTENTS];
    int extent_count, own_dims; /* own_dims: the first ones, which shapes are drawn from */
    Tensor tensors[MOST_TENSORS];
    int tensor_count, block_count;
    const char *type;       /* of most tensors */
    const char *index_type; /* of symbolic sizes */
    bool symbolic, scalar, mixed_types, intrinsics, calls;
    bool in_vectors; /* a loop around the block that is written is vectorized: the program says of calls in it that they have no effects */
} Writer;

void write_line(Writer *w, int indent, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *write_text(Writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool type_is_float(const char *type);
/* VALUE as a constant of TYPE. */
const char *write_literal(Writer *w, const char *type, int value);

/* A new extent. */
int writer_extent(Writer *w, const char *text, int size);
/* The extent of DIM made larger by MORE: the same for the same arguments. */
int writer_larger_extent(Writer *w, int dim, int more);
Tensor *writer_tensor(Writer *w, const char *type, const int *dims, int rank);
/* A tensor of the program's usual type and a usual shape. */
Tensor *writer_target(Writer *w);

/* An axis for each dimension of TENSOR. */
Axes axes_of(Writer *w, const Tensor *tensor);
void axes_add(Axes *axes, Writer *w, int dim, char kind);
/* Any but MASK_NONE. */
Mask random_mask(Writer *w);
/* Writes loops around a block over AXES at INDENT and the block's first lines; returns the indent of its body. With FREE the loops may
   stand in any order and the bindings in any form. */
int writer_open_block(Writer *w, int indent, const Axes *axes, bool free);
/* TENSOR at the axes of its dimensions: "B1[vi, vj]". NULL where an axis is missing. */
const char *writer_element(Writer *w, const Tensor *tensor, const Axes *axes);
/* An expression of TYPE over elements of tensors that were written before and are not EXCEPT. */
const char *writer_value(Writer *w, const char *type, const Axes *axes, const Tensor *except);
/* An element of a written tensor as TYPE. */
const char *writer_operand(Writer *w, const char *type, const Axes *axes, const Tensor *except);

/* A reduction for elements of TYPE: "sum", "min", ... */
const char *update_kind(Writer *w, const char *type);
/* What a reduction of KIND starts with: mostly its neutral element. */
const char *update_identity(Writer *w, const char *kind, const char *type);
/* "TO = TO op operand", over AXES; reads no element of TARGET but TO. */
const char *update_text(Writer *w, const char *kind, const char *to, const char *type, const Axes *axes, const Tensor *target);
/* Writes such an update, at times as if statements, or by a condition that leaves some updates out: extrema as if O < x: O = x. Rarely it stores
   another value. */
void write_update(Writer *w, int indent, const char *kind, const char *to, const char *type, const Axes *axes, const Tensor *target);

/* Writes blocks that read memory to find out how often they run, or where; false, with nothing written, where the sizes do not let it. */
bool write_loaded(Writer *w);
/* Writes a block below conditions whose order matters, over rows and over what it reduces; false, with nothing written, where the sizes do not let
   it. */
bool write_guarded(Writer *w);
/* Writes a time loop whose steps write parts of rows that they, or later ones, read; false, with nothing written, where the sizes do not let it. */
bool write_ragged(Writer *w);
/* Writes blocks that reach tensors through views and declared buffers; false, with nothing written, where no tensor has rows. */
bool write_views(Writer *w);
/* Writes blocks that call functions of the program; false, with nothing written, where it has none or no tensor has rows of fours. */
bool write_calls(Writer *w);
/* Writes a block that copies a tensor into a larger one, with a constant around it; false, with nothing written, where that has no room. */
bool write_padding(Writer *w);
/* Writes a store in no block to a tensor that was written before; false, with nothing written, where the one drawn was not. */
bool write_loose(Writer *w);
/* Writes blocks of a further form: see forms.c; false, with nothing written, where the sizes do not let it. */
bool write_form(Writer *w);
/* Writes a flat tensor of rows, and blocks that read it by rows or by elements; false, with nothing written, where no two sizes make one. */
bool write_flat(Writer *w);
/* The functions that blocks call, for elements of w->type. */
void writer_functions(Writer *w, StrBuf *text);
/* X, of TYPE, a float type of 32 or 64 bits, through a function of C. */
const char *write_extern(Writer *w, const char *type, const char *x);
/* Writes one or two random blocks. */
void random_blocks(Writer *w);
/* The tensor intrinsics that programs may register, for elements of w->type. */
void writer_intrinsics(Writer *w, StrBuf *text);

#endif
