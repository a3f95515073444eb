/* Choosing blocks and loops for random steps, and how a script names them. */
#ifndef TIRC_TESTS_FUZZ_STEPS_H
#define TIRC_TESTS_FUZZ_STEPS_H

#include "fuzz.h"

typedef struct {
    Random *random;
    Context *ctx;
    Schedule *sch;
    const TreeNode **blocks; /* all but the root */
    int block_count;
} Chooser;

const char *step_text(Chooser *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* BLOCK as an expression of a script: its name where no other block has it, else a path from the root. */
const char *block_text(Chooser *c, const TreeNode *block);
/* LOOP, around some block, as an expression of a script. */
const char *loop_text(Chooser *c, const TreeNode *loop);

const TreeNode *any_block(Chooser *c);
/* A block that PREDICATE holds of, mostly; where there is none, any or, mostly, NULL. */
const TreeNode *block_where(Chooser *c, bool (*predicate)(Chooser *c, const TreeNode *block));
/* A loop around BLOCK in its scope, or NULL. */
const TreeNode *loop_around(Chooser *c, const TreeNode *block);
/* A loop around BLOCK and not around OTHER, if there is one; else one around BLOCK. */
const TreeNode *loop_around_only(Chooser *c, const TreeNode *block, const TreeNode *other);
const TreeNode *any_loop(Chooser *c);

bool block_has_init(Chooser *c, const TreeNode *block);
/* It computes a buffer that is no parameter from others, without reduction. */
bool block_is_inlinable(Chooser *c, const TreeNode *block);
/* What it writes first is no parameter. */
bool block_fills_scratch(Chooser *c, const TreeNode *block);
/* It declares to read what it writes. */
bool block_updates_in_place(Chooser *c, const TreeNode *block);
/* It stores an element or, by a condition, something else. */
bool block_pads(Chooser *c, const TreeNode *block);
/* It computes one element from the result of another block. */
bool block_is_epilogue(Chooser *c, const TreeNode *block);
/* A copy or a reduction whose innermost loop divides into tiles of 4 or 2. */
bool block_is_tileable_copy(Chooser *c, const TreeNode *block);
bool block_is_tileable_sum(Chooser *c, const TreeNode *block);
/* The first buffer that it reads has rows of a multiple of 4. */
bool block_reads_rows_of_four(Chooser *c, const TreeNode *block);
bool block_reads(const TreeNode *block, const Buffer *buffer);
/* A reduce axis of BLOCK is bound to LOOP. */
bool loop_reduces(const TreeNode *loop, const TreeNode *block);

/* Of a split or an alignment: 1 to 16, mostly small. */
int random_factor(Chooser *c);
/* A storage scope, mostly "global". */
const char *random_scope(Chooser *c);

/* Steps on buffers, as text; NULL where there is nothing that they could be tried on. */
const char *step_set_scope(Chooser *c);
const char *step_storage_align(Chooser *c);
const char *step_cache_read(Chooser *c);
const char *step_cache_write(Chooser *c);
const char *step_cache_inplace(Chooser *c);
const char *step_cache_index(Chooser *c);
const char *step_read_at(Chooser *c);
const char *step_write_at(Chooser *c);
const char *step_transform_layout(Chooser *c);
const char *step_transform_block_layout(Chooser *c);
const char *step_pad_einsum(Chooser *c);
const char *step_decompose_padding(Chooser *c);
const char *step_set_axis_separator(Chooser *c);
const char *step_unsafe_set_dtype(Chooser *c);
const char *step_annotate_buffer_access(Chooser *c);
const char *step_unsafe_hide_buffer_access(Chooser *c);
const char *step_reindex(Chooser *c);

/* Steps of reductions and what follows them; see steps_epilogue.c. */
const char *step_fuse_reduction_epilogue(Chooser *c);
const char *step_cache_accumulate(Chooser *c);
const char *step_tile_sums(Chooser *c);

/* Steps with numbers that they draw, and on other functions; see steps_sample.c. */
const char *step_sample_perfect_tile(Chooser *c);
const char *step_sample_partitioned_tile(Chooser *c);
const char *step_sample_categorical(Chooser *c);
const char *step_sample_compute_location(Chooser *c);
const char *step_work_on(Chooser *c);

#endif
