/* Pass "tiles": a loop over vectors whose lanes lie apart in memory, where its rounds lie side by side, becomes transpositions of tiles.

     for r in range(4):                                             row: T.float32x4 = A_1[j * n + i:j * n + i + 4]
         B_1[T.Ramp((i + r) * m + j, 1, 4)] =                ->     row_1 = ...
             A_1[T.Ramp(j * n + i + r, n, 4)]                       row_4 = T.Shuffle([row, row_2], [0, 4, 1, 5])
                                                                    B_1[T.Ramp(i * m + j, 1, 4)] = ...

   The same for stores whose lanes lie apart. A loop between the loop over the rounds and the vectors goes around the tiles. Vectors of any
   width are taken apart into tiles of at most two blocks each way (see transpose.h), and put together again where more is computed than a copy.

   Legality. What is transposed is other memory than what is stored, so that loads may come before the stores of the same tile. Loads
   happen in every round: they stand under no condition. The order of the stores stays, or else nothing reads what is stored, and no two
   stores write the same element, which constant strides show: each is greater than the reach of the smaller ones. Needs: flat buffers,
   explicit vectors. */
#include <stdlib.h>

#include "ir/linear_sum.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/vector/transpose.h"

enum { LINE_BYTES = 64, LEAST_ROWS = 4, LEAST_ROUNDS = 2, MOST_ROWS = 16, MOST_LANES = 64, MOST_BETWEEN = 4, MOST_LOADS = 4 };

/* What is stored in one round of LOOP after the other: LANES lanes. */
typedef struct {
    Context *ctx;
    const Map *roots, *scratch;
    const ForStmt *loop;
    const ForStmt *between[MOST_BETWEEN]; /* loops inside of LOOP around the store, outermost first */
    int between_count;
    const Stmt *store;
    const Expr *loads[MOST_LOADS]; /* those whose lanes lie apart; none: the lanes of the store do */
    int load_count;
    bool reads_target; /* the value depends on the memory that is stored to */
    bool may_reorder;  /* the stores of different rounds and lanes may change their order */
    int64_t extent;
    int lanes;
    bool keeps_columns; /* registers hold the columns of a whole line of the cache */
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

/* A type whose lanes are shuffled as they lie in memory */
static bool has_plain_lanes(DType type)
{
    return type.code != DT_BOOL && type.code != DT_HANDLE && type.bits >= 8 && dtype_bytes(dtype_scalar(type)) <= 8;
}

typedef struct {
    Tiling *tiling;
    bool allowed;
} ValueCheck;

static void add_load(Tiling *tiling, const Expr *load)
{
    for (int i = 0; i < tiling->load_count; i++)
        if (expr_equal(tiling->loads[i], load))
            return;
    if (tiling->load_count < MOST_LOADS)
        tiling->loads[tiling->load_count++] = load;
}

/* Finds the loads to transpose, among other loads. */
static bool check_value(Visitor *visitor, const Expr *expr)
{
    ValueCheck *check = visitor->data;
    Tiling *tiling = check->tiling;
    if (expr->kind == EXPR_LET || expr->kind == EXPR_AND || expr->kind == EXPR_OR || expr_is_call(expr, OP_IF_THEN_ELSE) ||
        (expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || expr_reads_through_pointers(expr))))
        check->allowed = false;
    if (expr->kind != EXPR_LOAD)
        return check->allowed;
    if (effects_root(tiling->roots, expr->value.buffer->data) == effects_root(tiling->roots, tiling->store->as.store.buffer->data))
        tiling->reads_target = true;
    else if (expr->arg_count == 1 && expr->dtype.lanes == tiling->lanes && expr->value.buffer->dtype.lanes == 1 &&
             has_plain_lanes(expr->dtype) && lanes_lie_apart(tiling, expr->args[0]))
        add_load(tiling, expr);
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

/* A sum of narrow integers in wider ones, for which code generation has dot products: they take rows as they lie. */
static bool is_widening_sum(const Tiling *tiling)
{
    DType type = tiling->store->as.store.value->dtype;
    bool widens = false;
    for (int i = 0; i < tiling->load_count; i++)
        widens |= tiling->loads[i]->dtype.bits < type.bits;
    return widens && tiling->reads_target && dtype_is_integer(type);
}

/* The stores keep their order where loads are transposed and no loop changes its place; and pieces of vectors too, where it is free. */
static bool order_is_kept(const Tiling *tiling)
{
    return tiling->load_count && !tiling->between_count;
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
    if (!check.allowed || is_widening_sum(tiling) || tiling->lanes < LEAST_ROWS || index->dtype.lanes != tiling->lanes)
        return false;
    if (!tiling->load_count && (!has_plain_lanes(value->dtype) || !lanes_lie_apart(tiling, index)))
        return false;
    if (tiling->load_count && !lanes_lie_together(index))
        return false;
    tiling->may_reorder = !tiling->reads_target && stores_are_distinct(tiling);
    bool is_copy = value->kind == EXPR_LOAD;
    return (order_is_kept(tiling) || tiling->may_reorder) && (tiling->lanes <= MOST_LANES || (is_copy && tiling->may_reorder));
}

/* --- Sizes --- */

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int bytes_of(const Expr *value)
{
    return dtype_bytes(dtype_scalar(value->dtype));
}

/* The largest power of two that is at most NUMBER */
static int power_below(int number)
{
    int power = 1;
    while (2 * power <= number)
        power *= 2;
    return power;
}

/* How many of LEFT lanes of elements of BYTES bytes one tile takes; less than LEAST_ROWS are no tile. */
static int part_lanes(int left, int bytes)
{
    return left < LEAST_ROWS ? left : power_below(smaller(left, smaller(2 * TILE_BLOCK_BYTES / bytes, MOST_ROWS)));
}

/* The rounds of one tile: of loads as many as a block holds elements, of stores twice as many. */
static int rounds_of_tile(const Tiling *tiling)
{
    int rounds = MOST_ROWS;
    if (!tiling->load_count)
        return smaller(rounds, 2 * TILE_BLOCK_BYTES / bytes_of(tiling->store->as.store.value));
    for (int i = 0; i < tiling->load_count; i++)
        rounds = smaller(rounds, TILE_BLOCK_BYTES / bytes_of(tiling->loads[i]));
    return rounds;
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

static const Expr *load_at(const Tiling *tiling, const Expr *load, const Expr *index)
{
    return expr_load(tiling->ctx, load->value.buffer, &index, 1, NULL, load->span);
}

static const Stmt *store_at(const Tiling *tiling, const Expr *index, const Expr *value)
{
    return stmt_store(tiling->ctx, tiling->store->as.store.buffer, &index, 1, value, NULL, tiling->store->span);
}

/* The lanes FIRST.., COUNT of them, of LOAD in the rounds FROM.., ROUNDS of them, become the vectors of TILE, one for each round. */
static void transpose_loads(const Tiling *tiling, VectorTile *tile, const Expr *load, const Expr *from, int rounds, int first, int count)
{
    Context *ctx = tiling->ctx;
    tile->vectors = (ExprList){0};
    if (count < LEAST_ROWS) {
        for (int i = 0; i < rounds; i++)
            tile_add(ctx, tile, "rest", load_at(tiling, load, part_of_ramp(tiling, load->args[0], op_add_int(ctx, from, i), first, count)), load->span);
        return;
    }
    for (int i = 0; i < count; i++)
        tile_add(ctx, tile, "row", load_at(tiling, load, row_index(tiling, load->args[0], from, first + i, rounds)), load->span);
    tile_transpose(ctx, tile, "row", load->span);
}

/* What the loads give in ROUNDS rounds from FROM on, in parts of the lanes: those of round i begin at i * LANES. */
typedef struct {
    const Tiling *tiling;
    const Expr *from;
    int rounds;
    const Expr **parts[MOST_LOADS];
    int part_count[MOST_LOADS], lanes_done[MOST_LOADS];
} Columns;

/* The next LANES lanes of load number LOAD in COUNT rounds from FIRST on. */
static void add_part(Columns *columns, VectorTile *tile, int load, int first, int count, int lanes)
{
    const Tiling *tiling = columns->tiling;
    const Expr *from = op_add_int(tiling->ctx, columns->from, first);
    transpose_loads(tiling, tile, tiling->loads[load], from, count, columns->lanes_done[load], lanes);
    for (int i = 0; i < count; i++)
        columns->parts[load][(first + i) * tiling->lanes + columns->part_count[load]] = tile->vectors.data[i];
}

/* All parts but the last one. The rows of a part are read to their end before others: they may lie in the same place of the cache. */
static void add_first_parts(Columns *columns, VectorTile *tile, int step)
{
    const Tiling *tiling = columns->tiling;
    for (int load = 0; load < tiling->load_count; load++) {
        columns->parts[load] = ARENA_ARRAY(tiling->ctx->arena, const Expr *, columns->rounds * tiling->lanes);
        for (;;) {
            int left = tiling->lanes - columns->lanes_done[load], lanes = part_lanes(left, bytes_of(tiling->loads[load]));
            if (lanes == left)
                break;
            for (int first = 0; first < columns->rounds; first += step)
                add_part(columns, tile, load, first, step, lanes);
            columns->lanes_done[load] += lanes;
            columns->part_count[load]++;
        }
    }
}

/* The values of the loads in one round */
typedef struct {
    const Tiling *tiling;
    const Expr *values[MOST_LOADS];
} RoundValues;

static const Expr *replace_load(Rewriter *rewriter, const Expr *expr)
{
    const RoundValues *round = rewriter->data;
    for (int i = 0; expr->kind == EXPR_LOAD && i < round->tiling->load_count; i++)
        if (expr_equal(expr, round->tiling->loads[i]))
            return round->values[i];
    return rewrite_expr_children(rewriter, expr);
}

/* What round number ROUND stores */
static const Stmt *store_of_round(const Columns *columns, int round)
{
    const Tiling *tiling = columns->tiling;
    RoundValues values = {.tiling = tiling};
    for (int i = 0; i < tiling->load_count; i++)
        values.values[i] = tile_join(tiling->ctx, columns->parts[i] + (ptrdiff_t)round * tiling->lanes, columns->part_count[i] + 1);
    Rewriter rewriter = {.ctx = tiling->ctx, .expr = replace_load, .data = &values};
    const Expr *number = op_add_int(tiling->ctx, columns->from, round), *value = rewrite_expr(&rewriter, tiling->store->as.store.value);
    return store_at(tiling, in_round(tiling, tiling->store->as.store.indices[0], number), in_round(tiling, value, number));
}

/* The rounds FROM.., ROUNDS of them, with their loads transposed. */
static const Stmt *tile_of_loads(const Tiling *tiling, const Expr *from, int rounds)
{
    Context *ctx = tiling->ctx;
    int step = smaller(rounds, rounds_of_tile(tiling)), count = rounds / step;
    Columns columns = {.tiling = tiling, .from = from, .rounds = rounds};
    VectorTile first_parts = {0};
    const Stmt **stores = ARENA_ARRAY(ctx->arena, const Stmt *, step), **steps = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    add_first_parts(&columns, &first_parts, step);
    for (int i = 0; i < count; i++) {
        VectorTile last_part = {0};
        for (int load = 0; load < tiling->load_count; load++)
            add_part(&columns, &last_part, load, i * step, step, tiling->lanes - columns.lanes_done[load]);
        for (int round = 0; round < step; round++)
            stores[round] = store_of_round(&columns, i * step + round);
        steps[i] = tile_bind(ctx, &last_part, stmt_seq(ctx, stores, step));
    }
    return tile_bind(ctx, &first_parts, stmt_seq(ctx, steps, count));
}

/* The lanes FIRST.., COUNT of them, of the rounds FROM.., where the value is the one load. */
static const Stmt *tile_of_copies(const Tiling *tiling, const Expr *from, int rounds, int first, int count)
{
    Context *ctx = tiling->ctx;
    VectorTile tile = {0};
    const Stmt **stores = ARENA_ARRAY(ctx->arena, const Stmt *, rounds);
    transpose_loads(tiling, &tile, tiling->loads[0], from, rounds, first, count);
    for (int i = 0; i < rounds; i++) {
        const Expr *index = part_of_ramp(tiling, tiling->store->as.store.indices[0], op_add_int(ctx, from, i), first, count);
        stores[i] = store_at(tiling, index, tile.vectors.data[i]);
    }
    return tile_bind(ctx, &tile, stmt_seq(ctx, stores, rounds));
}

/* The lanes FIRST.., COUNT of them, of what round ROUND stores. */
static const Expr *part_of_value(const Tiling *tiling, const Expr *round, int first, int count)
{
    const Expr *value = tiling->store->as.store.value;
    bool is_row = value->kind == EXPR_LOAD && value->arg_count == 1 && lanes_lie_together(value->args[0]);
    if (is_row)
        return load_at(tiling, value, part_of_ramp(tiling, value->args[0], round, first, count));
    return tile_pick(tiling->ctx, in_round(tiling, value, round), NULL, first, count);
}

/* The lanes FIRST.., COUNT of them, of the rounds FROM..: what they store, transposed, are rows of the stored memory. */
static const Stmt *tile_of_stores(const Tiling *tiling, const Expr *from, int rounds, int first, int count)
{
    Context *ctx = tiling->ctx;
    VectorTile tile = {0};
    const Stmt **stores = ARENA_ARRAY(ctx->arena, const Stmt *, count > rounds ? count : rounds);
    const Expr *index = tiling->store->as.store.indices[0];
    for (int i = 0; i < rounds; i++)
        tile_add(ctx, &tile, "row", part_of_value(tiling, op_add_int(ctx, from, i), first, count), tiling->store->span);
    if (count < LEAST_ROWS) {
        for (int i = 0; i < rounds; i++)
            stores[i] = store_at(tiling, part_of_ramp(tiling, index, op_add_int(ctx, from, i), first, count), tile.vectors.data[i]);
        return tile_bind(ctx, &tile, stmt_seq(ctx, stores, rounds));
    }
    tile_transpose(ctx, &tile, "row", tiling->store->span);
    for (int i = 0; i < count; i++)
        stores[i] = store_at(tiling, row_index(tiling, index, from, first + i, rounds), tile.vectors.data[i]);
    return tile_bind(ctx, &tile, stmt_seq(ctx, stores, count));
}

/* The rounds FROM.., STEP of them, part after part of the lanes. */
static const Stmt *tiles_of_step(const Tiling *tiling, const Expr *from, int step)
{
    int bytes = bytes_of(tiling->store->as.store.value), count = 0;
    const Stmt **parts = ARENA_ARRAY(tiling->ctx->arena, const Stmt *, tiling->lanes);
    for (int first = 0, lanes; first < tiling->lanes; first += lanes) {
        lanes = part_lanes(tiling->lanes - first, bytes);
        parts[count++] = (tiling->load_count ? tile_of_copies : tile_of_stores)(tiling, from, step, first, lanes);
    }
    return stmt_seq(tiling->ctx, parts, count);
}

/* INDEX depends on nothing but the variable of the rounds: so do places of scratch that registers may hold. */
static bool is_at_constant_place(const Tiling *tiling, const Expr *index)
{
    int64_t place;
    return expr_const_int(in_round(tiling, index->args[0], expr_int(tiling->ctx, tiling->loop->var->dtype, 0)), &place);
}

/* Scratch that is filled, so large that no register may hold it: its tiles take turns in a loop, since a short program counts for more than the last
   bit of the speed of a copy. */
static bool fills_scratch(const Tiling *tiling)
{
    bool found = !map_has(tiling->scratch, effects_root(tiling->roots, tiling->store->as.store.buffer->data));
    for (int i = 0; i < tiling->load_count; i++)
        found |= is_at_constant_place(tiling, tiling->loads[i]->args[0]);
    return !found && tiling->load_count && !is_at_constant_place(tiling, tiling->store->as.store.indices[0]);
}

/* The rounds FROM.., ROUNDS of them, in tiles. */
static const Stmt *tiles_of_parts(const Tiling *tiling, const Expr *from, int rounds)
{
    Context *ctx = tiling->ctx;
    int step = smaller(rounds, rounds_of_tile(tiling)), count = rounds / step;
    const Stmt **steps = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    if (count > 1 && fills_scratch(tiling)) {
        Var *var = var_clone(ctx, tiling->loop->var, tiling->loop->var->name);
        ForStmt loop = {.var = var, .min = expr_int(ctx, var->dtype, 0), .extent = expr_int(ctx, var->dtype, count), .kind = FOR_SERIAL};
        loop.body = tiles_of_step(tiling, op_add(ctx, from, op_mul_int(ctx, expr_var(ctx, var), step)), step);
        return stmt_for(ctx, loop, tiling->store->span);
    }
    for (int i = 0; i < count; i++)
        steps[i] = tiles_of_step(tiling, op_add_int(ctx, from, i * step), step);
    return stmt_seq(ctx, steps, count);
}

/* The rounds FROM.., ROUNDS of them, a power of two. What is just copied goes where it shall in parts, unless registers hold whole lines. */
static const Stmt *tiles_of_rounds(const Tiling *tiling, const Expr *from, int rounds)
{
    Context *ctx = tiling->ctx;
    bool is_copy = tiling->store->as.store.value->kind == EXPR_LOAD, fits = tiling->keeps_columns && tiling->lanes <= MOST_ROWS;
    if (!tiling->load_count || (is_copy && tiling->may_reorder && !fits))
        return tiles_of_parts(tiling, from, rounds);
    int step = fits ? rounds : smaller(rounds, rounds_of_tile(tiling)), count = rounds / step;
    const Stmt **tiles = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    for (int i = 0; i < count; i++)
        tiles[i] = tile_of_loads(tiling, op_add_int(ctx, from, i * step), step);
    return stmt_seq(ctx, tiles, count);
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

/* COUNT rounds from FIRST on, ROUNDS of them at a time, which divides COUNT. */
static const Stmt *tiled_part(const Tiling *tiling, int64_t first, int64_t count, int rounds)
{
    Context *ctx = tiling->ctx;
    const Expr *begin = op_add_int(ctx, tiling->loop->min, first);
    if (count == rounds)
        return with_between(tiling, tiles_of_rounds(tiling, begin, rounds));
    ForStmt loop = *tiling->loop;
    loop.var = var_clone(ctx, loop.var, loop.var->name);
    loop.min = expr_int(ctx, loop.var->dtype, 0);
    loop.extent = expr_int(ctx, loop.var->dtype, count / rounds);
    const Expr *from = op_add(ctx, begin, op_mul_int(ctx, expr_var(ctx, loop.var), rounds));
    loop.body = with_between(tiling, tiles_of_rounds(tiling, from, rounds));
    return stmt_for(ctx, loop, tiling->store->span);
}

/* As many rounds at a time as one tile takes twice over, and fills a line of the cache; then fewer, then single rounds as they were. */
static const Stmt *tiled(const Tiling *tiling)
{
    const Stmt *parts[8];
    int count = 0;
    int64_t done = 0;
    for (int rounds = smaller(MOST_ROWS, 4 * rounds_of_tile(tiling)); rounds >= LEAST_ROUNDS; rounds /= 2) {
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

typedef struct {
    Map roots, scratch; /* keys of SCRATCH: variables of allocations around */
    const LowerOptions *options;
    int register_bytes, registers; /* of the target; 0 bytes: not asked yet */
} TilesPass;

/* Registers hold the columns of a whole line of the cache, while as much is loaded. */
static bool registers_hold_lines(TilesPass *pass)
{
    if (!pass->register_bytes && pass->options->vector_registers)
        pass->options->vector_registers(pass->options->data, &pass->register_bytes, &pass->registers);
    return pass->register_bytes >= LINE_BYTES && pass->registers >= 2 * MOST_ROWS;
}

static const Stmt *tile_loop(Rewriter *rewriter, const Stmt *stmt)
{
    TilesPass *pass = rewriter->data;
    Tiling tiling = {.ctx = rewriter->ctx, .roots = &pass->roots, .scratch = &pass->scratch, .loop = &stmt->as.loop};
    if (stmt->kind == STMT_ALLOCATE)
        map_set(rewriter->ctx->arena, &pass->scratch, stmt->as.allocate.var, stmt->as.allocate.var);
    if (stmt->kind != STMT_FOR || !match(&tiling))
        return rewrite_stmt_children(rewriter, stmt);
    tiling.keeps_columns = registers_hold_lines(pass);
    return tiled(&tiling);
}

const Func *lower_tiles(LowerState *state, const Func *func)
{
    TilesPass pass = {.options = state->options};
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = tile_loop, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
