/* Transposition of N vectors of W lanes by log2(N) stages.

   Take the lanes of all vectors as one sequence: element (i, j) stands at i * W + j. A stage shuffles the sequence perfectly: the elements
   of the first half alternate with those of the second half. That rotates the bits of the position to the left by one. After log2(N)
   stages the bits of i, which were the highest, are the lowest: element (i, j) stands at j * N + i. A stage combines two vectors at a
   time. As long as vectors are shorter than those of the result, it gives one of twice the length, else two of the same length. */
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

/* COUNT elements from the position FIRST on of A and B with their lanes in turn. */
static const Expr *alternate(Context *ctx, const Expr *a, const Expr *b, int first, int count)
{
    int lanes = a->dtype.lanes, *picks = ARENA_ARRAY(ctx->arena, int, count);
    for (int i = 0; i < count; i++)
        picks[i] = (first + i) / 2 + (first + i) % 2 * lanes;
    return shuffle(ctx, a, b, picks, count);
}

void tile_add(Context *ctx, VectorTile *tile, const char *name, const Expr *value, Span span)
{
    Var *var = var_new(ctx, context_intern(ctx, name), value->dtype, span);
    vec_push(ctx->arena, &tile->bound, var);
    vec_push(ctx->arena, &tile->values, value);
    vec_push(ctx->arena, &tile->vectors, expr_var(ctx, var));
}

/* One perfect shuffle, to vectors of at most MOST lanes. */
static void shuffle_stage(Context *ctx, VectorTile *tile, int most, const char *name, Span span)
{
    VectorTile before = *tile;
    int half = before.vectors.count / 2, lanes = before.vectors.data[0]->dtype.lanes;
    tile->vectors = (ExprList){0};
    for (int i = 0; i < half; i++) {
        const Expr *a = before.vectors.data[i], *b = before.vectors.data[i + half];
        if (2 * lanes <= most) {
            tile_add(ctx, tile, name, alternate(ctx, a, b, 0, 2 * lanes), span);
            continue;
        }
        tile_add(ctx, tile, name, alternate(ctx, a, b, 0, lanes), span);
        tile_add(ctx, tile, name, alternate(ctx, a, b, lanes, lanes), span);
    }
}

/* Cuts vectors that are longer than COUNT lanes. */
static void cut(Context *ctx, VectorTile *tile, int count, const char *name, Span span)
{
    VectorTile before = *tile;
    int lanes = before.vectors.data[0]->dtype.lanes, *picks = ARENA_ARRAY(ctx->arena, int, count);
    if (lanes == count)
        return;
    tile->vectors = (ExprList){0};
    for (int i = 0; i < before.vectors.count; i++)
        for (int first = 0; first < lanes; first += count) {
            for (int j = 0; j < count; j++)
                picks[j] = first + j;
            tile_add(ctx, tile, name, shuffle(ctx, before.vectors.data[i], NULL, picks, count), span);
        }
}

void tile_transpose(Context *ctx, VectorTile *tile, const char *name, Span span)
{
    int rows = tile->vectors.count;
    for (int left = rows; left > 1; left /= 2)
        shuffle_stage(ctx, tile, rows > tile->vectors.data[0]->dtype.lanes ? rows : tile->vectors.data[0]->dtype.lanes, name, span);
    cut(ctx, tile, rows, name, span);
}

const Stmt *tile_bind(Context *ctx, const VectorTile *tile, const Stmt *body)
{
    for (int i = tile->bound.count - 1; i >= 0; i--)
        body = stmt_let(ctx, tile->bound.data[i], tile->values.data[i], body, body->span);
    return body;
}
