/* Pass "tiles": a loop over vectors whose lanes lie apart in memory, where its rounds lie side by side, becomes transpositions of tiles.

     for r in range(16):                                            row_0: T.float32x16 = A_1[j * n + i:j * n + i + 16]
         B_1[T.Ramp((i + r) * m + j, 1, 16)] =               ->     row_1 = ...
             A_1[T.Ramp(j * n + i + r, n, 16)]                      row_16 = T.Shuffle([row_0, row_8], [0, 16, 1, 17, ...])
                                                                    B_1[T.Ramp(i * m + j, 1, 16)] = ...

   The same for stores whose lanes lie apart. A loop between the loop over the rounds and the vectors goes around the tiles.

   Legality. All that the value reads is other memory than what is stored, so that loads may come before the stores of the same tile. Loads
   happen in every round: they stand under no condition. The order of the stores stays, or else no two stores write the same element, which
   constant strides show: each is greater than the reach of the smaller ones. Needs: flat buffers, explicit vectors. */
#include <stdlib.h>

#include "ir/linear_sum.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/vector/transpose.h"

enum { ROW_BYTES = 64, MOST_ROWS = 16, LEAST_ROWS = 4, MOST_BETWEEN = 4 };

/* What is stored in one tile: ROUNDS rounds of LANES lanes. */
typedef struct {
    Context *ctx;
    const Map *roots;
    const ForStmt *loop;
    const ForStmt *between[MOST_BETWEEN]; /* loops inside of LOOP around the store, outermost first */
    int between_count;
    const Stmt *store;
    const Expr *load; /* the load whose lanes lie apart; NULL: the lanes of the store do */
    int64_t extent;
    int lanes, piece; /* of the vector of the program; of those that are made */
} Tiling;

/* --- Forms --- */

/* INDEX runs evenly over the lanes, not side by side, and by one with each round. */
static bool lanes_lie_apart(const Tiling *tiling, const Expr *index)
{
    int64_t stride, step;
    if (index->kind != EXPR_RAMP || index->args[0]->dtype.lanes > 1 || expr_reads_memory(index) ||
        expr_uses_var(index->args[1], tiling->loop->var))
        return false;
    bool is_near = expr_const_int(index->args[1], &stride) && stride >= -1 && stride <= 1;
    return !is_near && linear_coefficient(tiling->ctx, index->args[0], tiling->loop->var, &step) && step == 1;
}

static bool lanes_lie_together(const Expr *index)
{
    return index->kind == EXPR_RAMP && index->args[0]->dtype.lanes == 1 && expr_is_int(index->args[1], 1) && !expr_reads_memory(index);
}

typedef struct {
    Tiling *tiling;
    bool allowed;
} ValueCheck;

/* Finds the load to transpose, among other loads of other memory. */
static bool check_value(Visitor *visitor, const Expr *expr)
{
    ValueCheck *check = visitor->data;
    Tiling *tiling = check->tiling;
    if (expr->kind == EXPR_LET || expr->kind == EXPR_AND || expr->kind == EXPR_OR || expr_is_call(expr, OP_IF_THEN_ELSE) ||
        (expr->kind == EXPR_CALL && op_info(expr->value.op)->effect != EFFECT_PURE))
        check->allowed = false;
    if (expr->kind != EXPR_LOAD)
        return check->allowed;
    if (effects_root(tiling->roots, expr->value.buffer->data) == effects_root(tiling->roots, tiling->store->as.store.buffer->data))
        check->allowed = false;
    else if (expr->arg_count == 1 && expr->dtype.lanes == tiling->lanes && expr->value.buffer->dtype.lanes == 1 &&
             lanes_lie_apart(tiling, expr->args[0]))
        tiling->load = !tiling->load || expr_equal(tiling->load, expr) ? expr : tiling->load;
    return check->allowed;
}

/* --- Which elements are stored --- */

typedef struct {
    int64_t stride, extent;
} Digit;

static int compare_digits(const void *a, const void *b)
{
    int64_t left = ((const Digit *)a)->stride, right = ((const Digit *)b)->stride;
    return left < right ? -1 : left > right;
}

static bool stores_are_distinct(const Tiling *tiling)
{
    Digit digits[MOST_BETWEEN + 2];
    const Expr *index = tiling->store->as.store.indices[0];
    int count = 0;
    if (!expr_const_int(index->args[1], &digits[count].stride))
        return false;
    digits[count++].extent = tiling->lanes;
    for (int i = -1; i < tiling->between_count; i++, count++) {
        const ForStmt *loop = i < 0 ? tiling->loop : tiling->between[i];
        if (!linear_coefficient(tiling->ctx, index->args[0], loop->var, &digits[count].stride) ||
            !expr_const_int(loop->extent, &digits[count].extent))
            return false;
    }
    for (int i = 0; i < count; i++)
        digits[i].stride = llabs(digits[i].stride);
    qsort(digits, (size_t)count, sizeof *digits, compare_digits);
    int64_t reach = 0;
    for (int i = 0; i < count; i++) {
        if (digits[i].stride <= reach || digits[i].extent > INT32_MAX || digits[i].stride > INT32_MAX)
            return false;
        reach += digits[i].stride * (digits[i].extent - 1);
    }
    return true;
}

/* --- Match --- */

static bool is_plain_loop(const ForStmt *loop)
{
    return (loop->kind == FOR_SERIAL || loop->kind == FOR_UNROLLED) && !loop->annotations.count;
}

static bool find_store(Tiling *tiling)
{
    const Stmt *stmt = tiling->loop->body;
    for (; stmt->kind == STMT_FOR; stmt = stmt->as.loop.body) {
        const ForStmt *loop = &stmt->as.loop;
        int64_t extent;
        if (tiling->between_count == MOST_BETWEEN || !is_plain_loop(loop) || !expr_const_int(loop->extent, &extent) ||
            expr_uses_var(loop->min, tiling->loop->var))
            return false;
        tiling->between[tiling->between_count++] = loop;
    }
    tiling->store = stmt;
    return stmt->kind == STMT_STORE && !stmt->as.store.mask && stmt->as.store.index_count == 1 && stmt->as.store.buffer->dtype.lanes == 1;
}

static bool is_power_of_two(int64_t number)
{
    return number > 0 && !(number & (number - 1));
}

/* The value that is stored is just a load: of the lanes to transpose, or of neighbours. */
static bool stores_a_load(const Tiling *tiling)
{
    const Expr *value = tiling->store->as.store.value;
    return tiling->load ? value == tiling->load : value->kind == EXPR_LOAD && value->arg_count == 1 && lanes_lie_together(value->args[0]);
}

/* How many lanes the vectors shall have: all of them, or as many as a row of registers takes where what is stored is just a load. */
static bool choose_piece(Tiling *tiling)
{
    const Expr *value = tiling->store->as.store.value;
    DType type = tiling->load ? tiling->load->dtype : value->dtype;
    if (type.code == DT_BOOL || type.code == DT_HANDLE)
        return false;
    int most = ROW_BYTES / dtype_bytes(dtype_scalar(type));
    most = most > MOST_ROWS ? MOST_ROWS : most;
    tiling->piece = tiling->lanes;
    if (tiling->lanes > most && tiling->lanes % most == 0 && stores_a_load(tiling))
        tiling->piece = most;
    return tiling->piece <= most && is_power_of_two(tiling->piece) && tiling->piece >= LEAST_ROWS;
}

static bool match(Tiling *tiling)
{
    if (!is_plain_loop(tiling->loop) || !expr_const_int(tiling->loop->extent, &tiling->extent) || tiling->extent < LEAST_ROWS ||
        tiling->extent > INT32_MAX || !find_store(tiling))
        return false;
    const Expr *value = tiling->store->as.store.value, *index = tiling->store->as.store.indices[0];
    tiling->lanes = value->dtype.lanes;
    ValueCheck check = {tiling, true};
    Visitor visitor = {.expr = check_value, .data = &check};
    visit_expr(&visitor, value);
    if (!check.allowed || (tiling->load ? !lanes_lie_together(index) : !lanes_lie_apart(tiling, index)) || !choose_piece(tiling))
        return false;
    bool keeps_order = tiling->load && !tiling->between_count && tiling->piece == tiling->lanes;
    return keeps_order || stores_are_distinct(tiling);
}

/* --- Tiles --- */

static const Expr *in_round(const Tiling *tiling, const Expr *expr, const Expr *round)
{
    return subst_one(tiling->ctx, expr, tiling->loop->var, round);
}

/* RAMP from lane FIRST on, COUNT lanes, with the variable of the rounds replaced by ROUND. */
static const Expr *part_of_ramp(const Tiling *tiling, const Expr *ramp, const Expr *round, int first, int count)
{
    Context *ctx = tiling->ctx;
    const Expr *base = op_add(ctx, in_round(tiling, ramp->args[0], round), op_mul_int(ctx, ramp->args[1], first));
    return count == 1 ? base : expr_ramp(ctx, base, ramp->args[1], count);
}

/* COUNT elements side by side from lane LANE of RAMP on. */
static const Expr *row_index(const Tiling *tiling, const Expr *ramp, const Expr *round, int lane, int count)
{
    return expr_ramp(tiling->ctx, part_of_ramp(tiling, ramp, round, lane, 1), expr_int(tiling->ctx, ramp->args[0]->dtype, 1), count);
}

static const Expr *replace_load(Rewriter *rewriter, const Expr *expr)
{
    const Expr *const *pair = rewriter->data;
    return expr_equal(expr, pair[0]) ? pair[1] : rewrite_expr_children(rewriter, expr);
}

/* The value stored in round ROUND, with TRANSPOSED for the load. */
static const Expr *value_with(const Tiling *tiling, const Expr *transposed, const Expr *round)
{
    const Expr *pair[] = {tiling->load, transposed};
    Rewriter rewriter = {.ctx = tiling->ctx, .expr = replace_load, .data = pair};
    return in_round(tiling, rewrite_expr(&rewriter, tiling->store->as.store.value), round);
}

static const Stmt *store_at(const Tiling *tiling, const Expr *index, const Expr *value)
{
    return stmt_store(tiling->ctx, tiling->store->as.store.buffer, &index, 1, value, NULL, tiling->store->span);
}

/* The lanes FIRST.. of the rounds FROM.., ROUNDS of them: rows of the loaded memory, transposed, are what the rounds store. */
static const Stmt *tile_of_loads(const Tiling *tiling, const Expr *from, int rounds, int first)
{
    Context *ctx = tiling->ctx;
    VectorTile tile = {0};
    const Stmt **stores = ARENA_ARRAY(ctx->arena, const Stmt *, rounds);
    Span span = tiling->store->span;
    for (int i = 0; i < tiling->piece; i++) {
        const Expr *index = row_index(tiling, tiling->load->args[0], from, first + i, rounds);
        tile_add(ctx, &tile, "row", expr_load(ctx, tiling->load->value.buffer, &index, 1, NULL, span), span);
    }
    tile_transpose(ctx, &tile, "row", span);
    for (int i = 0; i < rounds; i++) {
        const Expr *round = op_add_int(ctx, from, i);
        const Expr *index = part_of_ramp(tiling, tiling->store->as.store.indices[0], round, first, tiling->piece);
        stores[i] = store_at(tiling, index, value_with(tiling, tile.vectors.data[i], round));
    }
    return tile_bind(ctx, &tile, stmt_seq(ctx, stores, rounds));
}

/* The lanes FIRST.. of what round ROUND stores. */
static const Expr *piece_of_value(const Tiling *tiling, const Expr *round, int first)
{
    const Expr *value = tiling->store->as.store.value;
    if (tiling->piece == tiling->lanes)
        return in_round(tiling, value, round);
    const Expr *index = part_of_ramp(tiling, value->args[0], round, first, tiling->piece);
    return expr_load(tiling->ctx, value->value.buffer, &index, 1, NULL, value->span);
}

/* The lanes FIRST.. of the rounds FROM..: what they store, transposed, are rows of the stored memory. */
static const Stmt *tile_of_stores(const Tiling *tiling, const Expr *from, int rounds, int first)
{
    Context *ctx = tiling->ctx;
    VectorTile tile = {0};
    const Stmt **stores = ARENA_ARRAY(ctx->arena, const Stmt *, tiling->piece);
    for (int i = 0; i < rounds; i++)
        tile_add(ctx, &tile, "row", piece_of_value(tiling, op_add_int(ctx, from, i), first), tiling->store->span);
    tile_transpose(ctx, &tile, "row", tiling->store->span);
    for (int i = 0; i < tiling->piece; i++)
        stores[i] = store_at(tiling, row_index(tiling, tiling->store->as.store.indices[0], from, first + i, rounds), tile.vectors.data[i]);
    return tile_bind(ctx, &tile, stmt_seq(ctx, stores, tiling->piece));
}

static const Stmt *tiles_of_rounds(const Tiling *tiling, const Expr *from, int rounds)
{
    int count = tiling->lanes / tiling->piece;
    const Stmt **pieces = ARENA_ARRAY(tiling->ctx->arena, const Stmt *, count);
    for (int i = 0; i < count; i++)
        pieces[i] = (tiling->load ? tile_of_loads : tile_of_stores)(tiling, from, rounds, i * tiling->piece);
    return stmt_seq(tiling->ctx, pieces, count);
}

/* --- Loops --- */

static const Stmt *with_between(const Tiling *tiling, const Stmt *body)
{
    for (int i = tiling->between_count - 1; i >= 0; i--) {
        ForStmt loop = *tiling->between[i];
        loop.body = body;
        body = stmt_for(tiling->ctx, loop, tiling->store->span);
    }
    return body;
}

/* COUNT rounds from FIRST on as tiles of ROUNDS rounds, which divides COUNT. */
static const Stmt *tiled_part(const Tiling *tiling, int64_t first, int64_t count, int rounds)
{
    Context *ctx = tiling->ctx;
    const Expr *begin = op_add_int(ctx, tiling->loop->min, first);
    if (count == rounds)
        return with_between(tiling, tiles_of_rounds(tiling, begin, rounds));
    Var *var = var_clone(ctx, tiling->loop->var, tiling->loop->var->name);
    const Expr *from = op_add(ctx, begin, op_mul_int(ctx, expr_var(ctx, var), rounds));
    return stmt_for_serial(ctx, var, NULL, expr_int(ctx, var->dtype, count / rounds),
                           with_between(tiling, tiles_of_rounds(tiling, from, rounds)), tiling->store->span);
}

/* Full tiles, then narrower ones, then single rounds as they were. */
static const Stmt *tiled(const Tiling *tiling)
{
    const Stmt *parts[8];
    int count = 0;
    int64_t done = 0;
    for (int rounds = tiling->piece; rounds >= LEAST_ROWS; rounds /= 2) {
        int64_t whole = (tiling->extent - done) / rounds * rounds;
        if (whole)
            parts[count++] = tiled_part(tiling, done, whole, rounds);
        done += whole;
    }
    if (done < tiling->extent) {
        ForStmt rest = *tiling->loop;
        rest.min = op_add_int(tiling->ctx, rest.min, done);
        rest.extent = expr_int(tiling->ctx, rest.extent->dtype, tiling->extent - done);
        parts[count++] = stmt_for(tiling->ctx, rest, tiling->store->span);
    }
    for (int i = 1; i < count; i++)
        parts[i] = clone_fresh(tiling->ctx, parts[i]);
    return stmt_seq(tiling->ctx, parts, count);
}

static const Stmt *tile_loop(Rewriter *rewriter, const Stmt *stmt)
{
    Tiling tiling = {.ctx = rewriter->ctx, .roots = rewriter->data, .loop = &stmt->as.loop};
    return stmt->kind == STMT_FOR && match(&tiling) ? tiled(&tiling) : rewrite_stmt_children(rewriter, stmt);
}

const Func *lower_tiles(LowerState *state, const Func *func)
{
    Map roots = {0};
    effects_add_view_roots(state->ctx, &roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = tile_loop, .data = &roots};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
