/* Pass "parts": a loop that updates more sums than the target has vector registers is repeated, for a part of the sums each time.

     for k in range(K):                                        for k in range(K):
         C[0:64] = C[0:64] +                                       C[0:24] = C[0:24] + Broadcast(A_1[k], 24) * B_1[k * 64:k * 64 + 24]
             Broadcast(A_1[k], 64) * B_1[k * 64:k * 64 + 64]       C[64:88] = ...
         C[64:128] = C[64:128] +                         ->    for k in range(K):
             Broadcast(A_1[K + k], 64) * ...                       C[24:40] = ...
                                                                   C[88:104] = ...
                                                               ...

   All sums at once would go through memory in each step of the loop. Sums that use the same scalars are a row, those that use the same vectors are a
   column; part_shape.h says how rows and columns are cut. In each part the operands of its shorter side stay in registers too: that decides
   whether it is computed row by row or column by column. pragma_no_parts on a loop keeps it and the loops inside it as they are.

   Legality. All that the loop writes is at places that stay while it runs, and lie at constant distances: they are the same or apart. A statement
   reads of all this memory only the elements that it writes, in the same lane, and bounds and conditions read none of it. Thus each element depends on
   itself and on what the loop leaves as it is, and the statements that write it stay in their order. The code does not grow but for the loops.

   It pays where registers can hold the sums while a part runs: those in scratch, or floats in other memory if each round updates them. Integers may
   become dot products, which take the whole loop. Needs: flat buffers, explicit vectors, unrolled loops written out. */
#include "ir/linear_sum.h"
#include "ir/vector_slice.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/core/state.h"
#include "passes/lower/vector/part_shape.h"

enum {
    LEAST_STEPS = 8, /* of the loop: sums are stored and loaded once for each part */
    FAR_COLUMNS = 3, STEPS_AHEAD = 16,
    MOST_SUMS = 256,
    MOST_STORES = 4096,
};

typedef struct {
    const LowerOptions *options;
    const Func *func;
    Map roots;
    Map scratch; /* keys: variables of allocations around */
    int vector_bytes, registers; /* of the target; 0: not asked yet */
} PartsPass;

/* Elements that one or several statements update, as a vector or a number. */
typedef struct {
    Buffer *buffer;
    int64_t first;
    int lanes;
    int piece, piece_count; /* its pieces are side by side in the list of all */
} Sum;

/* The part of a sum that a register holds. */
typedef struct {
    int row, column;
    LaneRange lanes;
} Piece;

/* The vectors that a column of pieces uses: LOADS, from lane FIRST on. */
typedef struct {
    ExprList loads;
    int first;
} ColumnKey;

/* The loop to be cut, and what is known of it. */
typedef struct {
    Context *ctx;
    PartsPass *pass;
    bool fits;
    int64_t steps, most_steps; /* of the loops around what is visited; the most of any statement */
    int branches;              /* around what is visited */
    Map loop_vars;             /* of the loops inside, and its own */
    Map bases;                 /* Buffer -> the index of its first element that is updated */
    int store_count;
    const Stmt *first_store;
    Map written;               /* keys: root data variables */
    Map sum_of_store;          /* Stmt -> 1 + the number of its sum */
    VEC(Sum) sums;
    VEC(Piece) pieces;
    VEC(ExprList) rows;
    VEC(ColumnKey) columns;
    const Stmt *store; /* whose expressions are visited */
} SumNest;

/* --- Which elements are written --- */

static bool find_moving(Visitor *visitor, const Expr *expr)
{
    SumNest *nest = visitor->data;
    nest->fits &= expr->kind != EXPR_LOAD && expr->kind != EXPR_CALL && !(expr->kind == EXPR_VAR && map_has(&nest->loop_vars, expr->value.var));
    return nest->fits;
}

/* INDEX is the same in the whole loop. */
static bool is_steady(SumNest *nest, const Expr *index)
{
    nest->fits = true;
    Visitor visitor = {.expr = find_moving, .data = nest};
    visit_expr(&visitor, index);
    return nest->fits;
}

/* The elements, side by side, that STORE writes: LANES of them, from *FIRST on, counted from the base of the buffer. */
static bool steady_place(SumNest *nest, const Stmt *store, int64_t *first, int *lanes)
{
    const Expr *index = store->as.store.indices[0];
    const Buffer *buffer = store->as.store.buffer;
    if (store->as.store.index_count != 1 || store->as.store.mask || buffer->dtype.lanes != 1)
        return false;
    *lanes = index->dtype.lanes;
    if (index->kind == EXPR_RAMP && expr_is_int(index->args[1], 1))
        index = index->args[0];
    if (index->dtype.lanes != 1 || !is_steady(nest, index))
        return false;
    if (!map_has(&nest->bases, buffer))
        map_set(nest->ctx->arena, &nest->bases, buffer, (void *)index);
    return linear_difference(nest->ctx, index, map_get(&nest->bases, buffer), first);
}

/* STORE updates SUM. */
static bool is_sum(const Sum *sum, const Stmt *store, int64_t first, int lanes)
{
    return sum->buffer == store->as.store.buffer && sum->first == first && sum->lanes == lanes;
}

/* STORE, which does not update SUM, has some elements of it. */
static bool is_across(const SumNest *nest, const Sum *sum, const Stmt *store, int64_t first, int lanes)
{
    const Map *roots = &nest->pass->roots;
    const Buffer *buffer = store->as.store.buffer;
    return effects_root(roots, sum->buffer->data) == effects_root(roots, buffer->data) &&
           (sum->buffer != buffer || (sum->first < first + lanes && first < sum->first + sum->lanes));
}

/* The number of the sum that STORE updates, perhaps a new one; -1: it has elements of several, or there are too many. */
static int find_sum(SumNest *nest, const Stmt *store, int64_t first, int lanes)
{
    for (int i = 0; i < nest->sums.count; i++) {
        if (is_sum(&nest->sums.data[i], store, first, lanes))
            return i;
        if (is_across(nest, &nest->sums.data[i], store, first, lanes))
            return -1;
    }
    if (nest->sums.count == MOST_SUMS)
        return -1;
    vec_push(nest->ctx->arena, &nest->sums, ((Sum){store->as.store.buffer, first, lanes, 0, 0}));
    return nest->sums.count - 1;
}

static Sum *sum_of(const SumNest *nest, const Stmt *store)
{
    return &nest->sums.data[(intptr_t)map_get(&nest->sum_of_store, store) - 1];
}

static bool sees_loop(SumNest *nest, const ForStmt *loop)
{
    int64_t extent;
    if (loop->kind != FOR_SERIAL || loop_is_marked(loop, "pragma_no_parts"))
        return false;
    if (!expr_const_int(loop->extent, &extent) || extent > LEAST_STEPS)
        extent = LEAST_STEPS;
    nest->steps = nest->steps * extent > LEAST_STEPS ? LEAST_STEPS : nest->steps * extent;
    map_set(nest->ctx->arena, &nest->loop_vars, loop->var, loop->var);
    return true;
}

static bool sees_store(SumNest *nest, const Stmt *store)
{
    int64_t first;
    int lanes;
    const Var *root = effects_root(&nest->pass->roots, store->as.store.buffer->data);
    bool in_registers = map_has(&nest->pass->scratch, root) || (!nest->branches && dtype_is_float(store->as.store.buffer->dtype));
    if (!in_registers || !steady_place(nest, store, &first, &lanes))
        return false;
    int sum = find_sum(nest, store, first, lanes);
    map_set(nest->ctx->arena, &nest->written, root, nest);
    map_set(nest->ctx->arena, &nest->sum_of_store, store, (void *)(intptr_t)(sum + 1));
    nest->most_steps = nest->steps > nest->most_steps ? nest->steps : nest->most_steps;
    nest->first_store = nest->first_store ? nest->first_store : store;
    return sum >= 0 && ++nest->store_count <= MOST_STORES;
}

/* STMT is made of loops, branches and updates of sums: fills SUMS and WRITTEN. */
static bool find_sums(SumNest *nest, const Stmt *stmt)
{
    bool good = true;
    int64_t steps = nest->steps;
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count && good; i++)
            good = find_sums(nest, stmt->as.seq.items[i]);
        return good;
    case STMT_FOR:
        good = sees_loop(nest, &stmt->as.loop) && find_sums(nest, stmt->as.loop.body);
        nest->steps = steps;
        return good;
    case STMT_IF:
        nest->branches++;
        good = find_sums(nest, stmt->as.branch.then_body) && (!stmt->as.branch.else_body || find_sums(nest, stmt->as.branch.else_body));
        nest->branches--;
        return good;
    case STMT_STORE:
        return sees_store(nest, stmt);
    default:
        return false;
    }
}

/* --- What is read --- */

static bool is_written(const SumNest *nest, const Buffer *buffer)
{
    return map_has(&nest->written, effects_root(&nest->pass->roots, buffer->data));
}

static bool check_expr(Visitor *visitor, const Expr *expr)
{
    SumNest *nest = visitor->data;
    bool is_pointer = expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE;
    bool is_other_call = expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || expr_reads_through_pointers(expr));
    if (is_pointer || is_other_call)
        nest->fits = false;
    if (expr->kind == EXPR_LOAD && is_written(nest, expr->value.buffer)) {
        const Stmt *store = nest->store;
        nest->fits &= store && load_index_count(expr) == 1 && !load_mask(expr) && expr->value.buffer == store->as.store.buffer &&
                        expr_equal(expr->args[0], store->as.store.indices[0]);
    }
    return nest->fits;
}

static bool check_stmt(Visitor *visitor, const Stmt *stmt)
{
    SumNest *nest = visitor->data;
    if (stmt->kind == STMT_STORE)
        nest->store = stmt;
    return nest->fits;
}

static void leave_store(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_STORE)
        ((SumNest *)visitor->data)->store = NULL;
}

/* No statement in STMT reads what another one writes, or another lane. */
static bool reads_own_elements(SumNest *nest, const Stmt *stmt)
{
    nest->fits = true;
    Visitor visitor = {.expr = check_expr, .stmt = check_stmt, .leave_stmt = leave_store, .data = nest};
    visit_stmt(&visitor, stmt);
    return nest->fits;
}

/* --- Rows and columns --- */

typedef struct {
    const SumNest *nest;
    ExprList scalars, vectors;
} Operands;

static bool find_operand(Visitor *visitor, const Expr *expr)
{
    Operands *operands = visitor->data;
    if (expr->kind == EXPR_LOAD && !is_written(operands->nest, expr->value.buffer))
        vec_push(operands->nest->ctx->arena, expr->dtype.lanes > 1 ? &operands->vectors : &operands->scalars, expr);
    return expr->kind != EXPR_LOAD;
}

static bool lists_equal(const ExprList *a, const ExprList *b)
{
    bool equal = a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = expr_equal(a->data[i], b->data[i]);
    return equal;
}

static int row_of(SumNest *nest, const ExprList *loads)
{
    for (int i = 0; i < nest->rows.count; i++)
        if (lists_equal(&nest->rows.data[i], loads))
            return i;
    vec_push(nest->ctx->arena, &nest->rows, *loads);
    return nest->rows.count - 1;
}

static int column_of(SumNest *nest, const ExprList *loads, int first)
{
    for (int i = 0; i < nest->columns.count; i++)
        if (nest->columns.data[i].first == first && lists_equal(&nest->columns.data[i].loads, loads))
            return i;
    vec_push(nest->ctx->arena, &nest->columns, ((ColumnKey){*loads, first}));
    return nest->columns.count - 1;
}

/* Cuts SUM into pieces; STORE is the first statement that updates it. False where it cannot be cut. */
static bool add_pieces(SumNest *nest, const Stmt *store, Sum *sum)
{
    Context *ctx = nest->ctx;
    const Expr *value = store->as.store.value;
    LaneRange whole = {0, value->dtype.lanes}, *lanes = &whole;
    Operands operands = {.nest = nest};
    Visitor visitor = {.expr = find_operand, .data = &operands};
    visit_expr(&visitor, value);
    sum->piece = nest->pieces.count;
    sum->piece_count = vector_slices(ctx, store, nest->pass->vector_bytes, true, &lanes);
    if (value->dtype.lanes == 1 || dtype_bytes(value->dtype) > nest->pass->vector_bytes * sum->piece_count)
        return false;
    int row = row_of(nest, &operands.scalars);
    for (int i = 0; i < sum->piece_count; i++) {
        Piece piece = {row, column_of(nest, &operands.vectors, lanes[i].first), lanes[i]};
        vec_push(ctx->arena, &nest->pieces, piece);
    }
    return nest->pieces.count <= MOST_SUMS;
}

static bool find_pieces(Visitor *visitor, const Stmt *stmt)
{
    SumNest *nest = visitor->data;
    if (stmt->kind == STMT_STORE && nest->fits && !sum_of(nest, stmt)->piece_count)
        nest->fits = add_pieces(nest, stmt, sum_of(nest, stmt));
    return nest->fits && stmt->kind != STMT_STORE;
}

/* The pieces form rows and columns. With one row each vector serves one sum: such a loop waits for memory, and gains nothing from fewer sums. */
static bool is_grid(const SumNest *nest)
{
    return nest->rows.count > 1 && nest->pieces.count == nest->rows.count * nest->columns.count;
}

/* --- One part --- */

typedef struct {
    const SumNest *nest;
    bool by_columns;
    int row, row_end, column, column_end;
} Part;

static bool has_piece(const Part *part, const Piece *piece)
{
    return piece->row >= part->row && piece->row < part->row_end && piece->column >= part->column && piece->column < part->column_end;
}

typedef VEC(const Stmt *) StmtList;

static void add_store(const Part *part, StmtList *list, const Stmt *store, LaneRange lanes)
{
    Context *ctx = part->nest->ctx;
    bool is_whole = lanes.count == store->as.store.value->dtype.lanes;
    vec_push(ctx->arena, list, is_whole ? store : vector_slice_store(ctx, &(Map){0}, store, lanes));
}

/* What PART has of STORE, between the columns COLUMN and COLUMN_END; pieces side by side are one. */
static void add_pieces_of(const Part *part, StmtList *list, const Stmt *store, int column, int column_end)
{
    const Sum *sum = sum_of(part->nest, store);
    LaneRange open = {0, 0};
    for (int i = 0; i < sum->piece_count; i++) {
        const Piece *piece = &part->nest->pieces.data[sum->piece + i];
        if (!has_piece(part, piece) || piece->column < column || piece->column >= column_end)
            continue;
        if (open.count && open.first + open.count == piece->lanes.first) {
            open.count += piece->lanes.count;
            continue;
        }
        if (open.count)
            add_store(part, list, store, open);
        open = piece->lanes;
    }
    if (open.count)
        add_store(part, list, store, open);
}

/* What PART has of the COUNT statements STORES, of different sums. */
static void add_run(const Part *part, StmtList *list, const Stmt *const *stores, int count)
{
    int step = part->by_columns ? 1 : part->column_end - part->column;
    for (int column = part->column; column < part->column_end; column += step)
        for (int i = 0; i < count; i++)
            add_pieces_of(part, list, stores[i], column, column + step);
}

/* The end of the statements from BEGIN on that are updates of different sums: they may run in any order. */
static int run_end(const Part *part, const Stmt *const *items, int count, int begin)
{
    Map sums = {0};
    int end = begin;
    for (; end < count && items[end]->kind == STMT_STORE; end++) {
        const Sum *sum = sum_of(part->nest, items[end]);
        if (map_has(&sums, sum))
            break;
        map_set(part->nest->ctx->arena, &sums, sum, (void *)sum);
    }
    return end;
}

static const Stmt *part_of_items(Rewriter *rewriter, const Stmt *const *items, int count)
{
    const Part *part = rewriter->data;
    StmtList list = {0};
    for (int i = 0, end; i < count; i = end) {
        end = run_end(part, items, count, i);
        if (end > i)
            add_run(part, &list, items + i, end - i);
        else
            vec_push(rewriter->ctx->arena, &list, rewrite_stmt(rewriter, items[end++]));
    }
    return stmt_seq(rewriter->ctx, list.data, list.count);
}

static const Stmt *part_of_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind == STMT_SEQ)
        return part_of_items(rewriter, stmt->as.seq.items, stmt->as.seq.count);
    if (stmt->kind == STMT_STORE)
        return part_of_items(rewriter, &stmt, 1);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (result->kind == STMT_FOR && stmt_is_empty(result->as.loop.body))
        return stmt_empty(rewriter->ctx);
    bool is_idle = result->kind == STMT_IF && stmt_is_empty(result->as.branch.then_body) &&
                   (!result->as.branch.else_body || stmt_is_empty(result->as.branch.else_body));
    return is_idle ? stmt_empty(rewriter->ctx) : result;
}

/* --- The whole --- */

static bool find_loop(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data &= stmt->kind != STMT_FOR;
    return true;
}

/* STMT, a part that has a third of the columns or less: what it reads in the next round lies some lines of the cache behind what it reads now, and
   processors fetch what lies beside. The loops that run through the vectors ask for them ahead. */
static const Stmt *read_ahead(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    if (stmt->kind != STMT_FOR)
        return rewrite_stmt_children(rewriter, stmt);
    ForStmt loop = stmt->as.loop;
    loop.body = rewrite_stmt(rewriter, loop.body);
    bool is_inner = true;
    Visitor visitor = {.stmt = find_loop, .data = &is_inner};
    visit_stmt(&visitor, loop.body);
    if (is_inner && !attrs_get(loop.annotations, "software_prefetch"))
        loop.annotations = attrs_set(ctx, loop.annotations, context_intern(ctx, "tirc.prefetch_vectors"), attr_int(ctx, STEPS_AHEAD));
    return stmt_for(ctx, loop, stmt->span);
}

/* STMT once for each part; NULL where cutting it would let a statement read what another part writes. */
static const Stmt *cut(SumNest *nest, const Stmt *stmt, const PartShape *shape)
{
    Context *ctx = nest->ctx;
    StmtList parts = {0};
    for (int i = 0; i < shape->rows; i++)
        for (int j = 0; j < shape->columns; j++) {
            int rows = nest->rows.count, columns = nest->columns.count;
            Part part = {nest, shape->by_columns, part_begin(rows, shape->rows, i), part_begin(rows, shape->rows, i + 1),
                         part_begin(columns, shape->columns, j), part_begin(columns, shape->columns, j + 1)};
            Rewriter rewriter = {.ctx = ctx, .stmt = part_of_stmt, .data = &part};
            const Stmt *result = clone_fresh(ctx, rewrite_stmt(&rewriter, stmt));
            if (!reads_own_elements(nest, result))
                return NULL;
            Rewriter ahead = {.ctx = ctx, .stmt = read_ahead};
            vec_push(ctx->arena, &parts, shape->columns >= FAR_COLUMNS ? rewrite_stmt(&ahead, result) : result);
        }
    return stmt_seq(ctx, parts.data, parts.count);
}

static void ask_registers(PartsPass *pass)
{
    if (!pass->vector_bytes)
        pass->options->vector_registers(pass->options->data, &pass->vector_bytes, &pass->registers);
}

/* Tells that STMT was cut, if anybody listens. */
static void tell(const SumNest *nest, const Stmt *stmt, const PartShape *shape)
{
    const LowerOptions *options = nest->pass->options;
    int rows = nest->rows.count, columns = nest->columns.count, lanes = 0;
    for (int i = 0; i < nest->pieces.count; i++)
        lanes = nest->pieces.data[i].lanes.count > lanes ? nest->pieces.data[i].lanes.count : lanes;
    LoopParts parts = {.func = nest->pass->func, .loop = stmt, .span = nest->first_store->span, .parts = shape->rows * shape->columns, .registers = nest->pass->registers,
                       .sums = rows * columns, .rows = (rows + shape->rows - 1) / shape->rows,
                       .columns = (columns + shape->columns - 1) / shape->columns * lanes};
    if (options->in_parts && parts.parts > 1)
        options->in_parts(options->data, &parts);
}

/* The loop STMT in parts; NULL where it is not to be cut. */
static const Stmt *in_parts(Context *ctx, PartsPass *pass, const Stmt *stmt)
{
    SumNest nest = {.ctx = ctx, .pass = pass, .steps = 1};
    PartShape shape;
    if (!find_sums(&nest, stmt) || nest.most_steps < LEAST_STEPS || nest.sums.count < 1 || !reads_own_elements(&nest, stmt))
        return NULL;
    ask_registers(pass);
    Visitor visitor = {.stmt = find_pieces, .data = &nest};
    visit_stmt(&visitor, stmt);
    if (!nest.fits || !pass->registers || !is_grid(&nest))
        return NULL;
    int rows = nest.rows.count, columns = nest.columns.count;
    if (part_fits(rows, columns, pass->registers) || !part_shape_choose(rows, columns, pass->registers, &shape))
        return NULL;
    const Stmt *result = cut(&nest, stmt, &shape);
    if (result)
        tell(&nest, stmt, &shape);
    return result;
}

static const Stmt *parts_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    PartsPass *pass = rewriter->data;
    if (stmt->kind == STMT_ALLOCATE)
        map_set(rewriter->ctx->arena, &pass->scratch, stmt->as.allocate.var, stmt->as.allocate.var);
    if (stmt->kind != STMT_FOR)
        return rewrite_stmt_children(rewriter, stmt);
    if (loop_is_marked(&stmt->as.loop, "pragma_no_parts"))
        return stmt;
    const Stmt *result = in_parts(rewriter->ctx, pass, stmt);
    return result ? result : rewrite_stmt_children(rewriter, stmt);
}

const Func *lower_parts(LowerState *state, const Func *func)
{
    PartsPass pass = {.options = state->options, .func = func};
    if (!state->options->vector_registers)
        return func;
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = parts_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
