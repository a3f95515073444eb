/* Transposition of N vectors of W lanes.

   Vectors consist of blocks of 16 bytes, and a stage combines two vectors block by block: the lanes of a block of the one alternate with those
   of the same block of the other. Each processor with vectors has an instruction for that, while lanes that cross blocks cost more.

   Take the block of that number of all vectors of a group as one sequence, of C lanes each: element (i, j) stands at i * C + j. A stage
   takes the vectors of the first half with those of the second half, so it shuffles the sequence perfectly, which rotates the bits of the
   position to the left by one. After log2(N) stages the bits of i, which were the highest, are the lowest: element (i, j) stands at j * N + i.
   As long as vectors are shorter than a block, a stage gives one of twice the length, else two of the same length.

   A group has as many vectors as a block has lanes. Two groups of vectors of one block become the two blocks of longer vectors at the
   start: where vectors are loaded, that is part of the load. Else what comes out of the groups is joined at the end. */
#include "passes/lower/vector/transpose.h"

static const Expr *shuffle(Context *ctx, const Expr *a, const Expr *b, const int *picks, int count)
{
    int vectors = b ? 2 : 1;
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, count + vectors);
    args[0] = a;
    if (b)
        args[1] = b;
    for (int i = 0; i < count; i++)
        args[vectors + i] = expr_int(ctx, DTYPE_INT32, picks[i]);
    return expr_shuffle(ctx, dtype_with_lanes(a->dtype, count), args, count + vectors, vectors);
}

const Expr *tile_pick(Context *ctx, const Expr *a, const Expr *b, int first, int count)
{
    int lanes = a->dtype.lanes, *picks = ARENA_ARRAY(ctx->arena, int, 2 * count);
    if (!b && lanes == count)
        return a;
    for (int i = 0; i < count; i++) {
        picks[i] = first + i;
        picks[count + i] = lanes + first + i;
    }
    return shuffle(ctx, a, b, picks, b ? 2 * count : count);
}

const Expr *tile_join(Context *ctx, const Expr *const *vectors, int count)
{
    int lanes = 0;
    for (int i = 0; i < count; i++)
        lanes += vectors[i]->dtype.lanes;
    if (count == 1)
        return vectors[0];
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, count + lanes);
    for (int i = 0; i < count + lanes; i++)
        args[i] = i < count ? vectors[i] : expr_int(ctx, DTYPE_INT32, i - count);
    return expr_shuffle(ctx, dtype_with_lanes(vectors[0]->dtype, lanes), args, count + lanes, count);
}

/* In each block of A and B, of BLOCK lanes: COUNT lanes of both in turn, from place FIRST of that order on. */
static const Expr *alternate(Context *ctx, const Expr *a, const Expr *b, int block, int first, int count)
{
    int lanes = a->dtype.lanes, blocks = lanes / block, *picks = ARENA_ARRAY(ctx->arena, int, blocks * count);
    for (int i = 0; i < blocks * count; i++) {
        int place = first + i % count;
        picks[i] = i / count * block + place / 2 + place % 2 * lanes;
    }
    return shuffle(ctx, a, b, picks, blocks * count);
}

void tile_add(Context *ctx, VectorTile *tile, const char *name, const Expr *value, Span span)
{
    Var *var = var_new(ctx, context_intern(ctx, name), value->dtype, span);
    vec_push(ctx->arena, &tile->bound, var);
    vec_push(ctx->arena, &tile->values, value);
    vec_push(ctx->arena, &tile->vectors, expr_var(ctx, var));
}

/* One perfect shuffle in each block, which grows to MOST lanes at most. */
static void shuffle_stage(Context *ctx, VectorTile *tile, int most, const char *name, Span span)
{
    ExprList before = tile->vectors;
    int half = before.count / 2, lanes = before.data[0]->dtype.lanes, block = lanes < most ? lanes : most;
    tile->vectors = (ExprList){0};
    for (int i = 0; i < half; i++) {
        const Expr *a = before.data[i], *b = before.data[i + half];
        if (2 * block <= most) {
            tile_add(ctx, tile, name, alternate(ctx, a, b, block, 0, 2 * block), span);
            continue;
        }
        tile_add(ctx, tile, name, alternate(ctx, a, b, block, 0, block), span);
        tile_add(ctx, tile, name, alternate(ctx, a, b, block, block, block), span);
    }
}

/* The N vectors from FIRST on of ALL take the place of those of TILE, and go through the stages. */
static ExprList transpose_group(Context *ctx, VectorTile *tile, const ExprList *all, int first, int count, int block, const char *name, Span span)
{
    tile->vectors = (ExprList){0};
    for (int i = 0; i < count; i++)
        vec_push(ctx->arena, &tile->vectors, all->data[first + i]);
    for (int left = count; left > 1; left /= 2)
        shuffle_stage(ctx, tile, block, name, span);
    return tile->vectors;
}

/* Vector i of the first half and of the second half of TILE as one. */
static void join_halves(Context *ctx, VectorTile *tile, const char *name, Span span)
{
    ExprList before = tile->vectors;
    int half = before.count / 2;
    tile->vectors = (ExprList){0};
    for (int i = 0; i < half; i++)
        tile_add(ctx, tile, name, tile_pick(ctx, before.data[i], before.data[i + half], 0, before.data[i]->dtype.lanes), span);
}

/* A group after its stages: vectors whose blocks of BLOCK lanes, or which as a whole, have COLUMNS columns of ROWS lanes each, in their order. */
typedef struct {
    ExprList vectors;
    int block, columns, rows;
} Transposed;

/* The vector that has column COLUMN, from lane *LANE on. */
static const Expr *vector_of_column(const Transposed *group, int column, int *lane)
{
    int lanes = group->vectors.data[0]->dtype.lanes, own = lanes < group->block ? lanes : group->block;
    int place = column % group->columns * group->rows;
    *lane = column / group->columns * own + place % own;
    return group->vectors.data[place / own];
}

/* Column COLUMN of FIRST, and of SECOND behind it where there is a second group. */
static void add_column(Context *ctx, VectorTile *tile, const Transposed *first, const Transposed *second, int column, const char *name, Span span)
{
    int lane;
    const Expr *a = vector_of_column(first, column, &lane), *b = second->vectors.count ? vector_of_column(second, column, &lane) : NULL;
    if (!b && a->dtype.lanes == first->rows)
        vec_push(ctx->arena, &tile->vectors, a);
    else
        tile_add(ctx, tile, name, tile_pick(ctx, a, b, lane, first->rows), span);
}

void tile_transpose(Context *ctx, VectorTile *tile, const char *name, Span span)
{
    int rows = tile->vectors.count, width = tile->vectors.data[0]->dtype.lanes;
    int block = TILE_BLOCK_BYTES / dtype_bytes(dtype_scalar(tile->vectors.data[0]->dtype));
    if (rows > block && width == block) {
        join_halves(ctx, tile, name, span);
        ExprList joined = tile->vectors;
        transpose_group(ctx, tile, &joined, 0, joined.count, block, name, span);
        return;
    }
    ExprList all = tile->vectors;
    Transposed first = {{0}, block, width < block ? width : block, rows < block ? rows : block}, second = first;
    first.vectors = transpose_group(ctx, tile, &all, 0, first.rows, block, name, span);
    if (rows > first.rows)
        second.vectors = transpose_group(ctx, tile, &all, first.rows, first.rows, block, name, span);
    tile->vectors = (ExprList){0};
    for (int column = 0; column < width; column++)
        add_column(ctx, tile, &first, &second, column, name, span);
}

const Stmt *tile_bind(Context *ctx, const VectorTile *tile, const Stmt *body)
{
    for (int i = tile->bound.count - 1; i >= 0; i--)
        body = stmt_let(ctx, tile->bound.data[i], tile->values.data[i], body, body->span);
    return body;
}
