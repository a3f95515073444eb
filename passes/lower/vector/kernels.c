/* Pass "kernels": a call of the runtime's micro-kernel tmm16 (C += A B^T on tiles of 16x16) whose tiles are scratch becomes loops.

     for k_0 in range(64):                                      if T.tirc_own_tmm16():
         B_reg = T.decl_buffer((16, 16))                            for k_0 in range(64):
         for a, b in T.grid(16, 16):                                    for g in T.unroll(2):
             B_reg[a, b] = B[j * 16 + a, k_0 * 16 + b]        ->            for s in range(4):
         T.call_extern("int32", "tmm16", sums.data, ...)                        for k, r in T.unroll(4), T.unroll(8):
                                                                                    for v in T.vectorized(16):
                                                                                        sums[g * 8 + r, v] += (
                                                                                            A_reg[k_0, s * 4 + k, v] *
                                                                                            B[j * 16 + g * 8 + r, k_0 * 16 + s * 4 + k])
                                                                else:
                                                                    ... as it was

   The lanes run along the rows of one operand, the wide one: that which is filled less often, else A. Its tile is stored with its last two
   dimensions exchanged, and that of the sums too where the wide operand is A. What accesses these tiles elsewhere are nests of two loops,
   which become unrolled loops over vectors, so that code generation keeps the sums in registers. The other operand is read where its tile
   was copied from.

   Legality. The function is what the runtime says: each sum gets its products in the order of k. Compiled, it does so with fused
   multiply-adds, and so do these loops: the condition is false for code that must not contract. It is false, too, in a program that has a
   tmm16 of its own when it is linked, or that forces a variant. The tiles are three different pieces of
   scratch that nothing else points to. What the dropped copy read is written nowhere while its tile lives. The loops of a nest may be
   exchanged as iterations of the outer one do not depend on one another. Needs: views composed, blocks gone, buffers with dimensions. */
#include <string.h>

#include "ir/signature.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/vector/lanes.h"

enum { TILE = 16, GROUP = 8, CALL_ARGS = 7, MOST_DIMS = 6, MANY_REGISTERS = 32 };

typedef struct {
    Buffer *buffer; /* (..., 16, 16) */
    const Stmt *allocation;
    const Expr *lead[MOST_DIMS]; /* its indices before the last two */
} Tile;

typedef struct {
    Context *ctx;
    const Func *func;
    Analyzer *an;
    Map roots;
    const Stmt *call; /* the statement */
    Tile sums, a, b;
    const Tile *wide, *narrow;
    int group, steps;   /* rows that an innermost loop updates, and products that each gets in a round */
    const Stmt *fill;   /* the nest that copies into NARROW, which is dropped; NULL: it stays */
    bool failed;
} Inlining;

/* --- The call --- */

/* What a function calls and allocates. */
typedef struct {
    Context *ctx;
    const Module *module;
    VEC(const Stmt *) calls;
    Map allocations; /* data Var -> STMT_ALLOCATE */
} Survey;

static bool is_kernel_call(const Survey *survey, const Expr *expr)
{
    return expr_is_call(expr, OP_CALL_EXTERN) && expr->arg_count == CALL_ARGS && expr->args[0]->kind == EXPR_STRING &&
           !strcmp(expr->args[0]->value.text, "tmm16") && !module_callee(survey->ctx, survey->module, expr);
}

static bool survey_stmt(Visitor *visitor, const Stmt *stmt)
{
    Survey *survey = visitor->data;
    if (stmt->kind == STMT_ALLOCATE)
        map_set(survey->ctx->arena, &survey->allocations, stmt->as.allocate.var, (void *)stmt);
    if (stmt->kind == STMT_EVALUATE && is_kernel_call(survey, stmt->as.evaluate))
        vec_push(survey->ctx->arena, &survey->calls, stmt);
    return true;
}

static bool has_tile_shape(const Buffer *buffer)
{
    int64_t extent;
    for (int d = 0; d < buffer->ndim; d++)
        if (!expr_const_int(buffer->shape[d], &extent))
            return false;
    return dtype_equal(buffer->dtype, DTYPE_FLOAT32) && buffer->ndim >= 2 && buffer->ndim <= MOST_DIMS && !buffer->axis_separator_count &&
           expr_is_int(buffer->shape[buffer->ndim - 2], TILE) && expr_is_int(buffer->shape[buffer->ndim - 1], TILE);
}

/* The indices of TILE before the last two, for the offset of its first element, a multiple of the size of a tile. */
static void find_lead(const Inlining *inlining, Tile *tile, const Expr *offset)
{
    Context *ctx = inlining->ctx;
    const Expr *rest = op_floordiv(ctx, offset, expr_int(ctx, offset->dtype, TILE * TILE));
    for (int d = tile->buffer->ndim - 3; d >= 0; d--) {
        const Expr *extent = op_cast(ctx, offset->dtype, tile->buffer->shape[d]);
        const Expr *index = d ? op_floormod(ctx, rest, extent) : rest;
        tile->lead[d] = op_cast(ctx, buffer_index_dtype(tile->buffer), analyzer_simplify(inlining->an, index));
        rest = op_floordiv(ctx, rest, extent);
    }
}

/* The tile of scratch that POINTER and STRIDE describe. */
static bool find_tile(const Inlining *inlining, const Survey *survey, const Expr *pointer, const Expr *stride, Tile *tile)
{
    if (!expr_is_call(pointer, OP_TVM_ACCESS_PTR) || pointer->args[1]->kind != EXPR_VAR || !expr_is_int(stride, TILE))
        return false;
    const Expr *offset = pointer->args[2];
    tile->allocation = map_get(&survey->allocations, pointer->args[1]->value.var);
    tile->buffer = tile->allocation ? stmt_allocated_buffer(tile->allocation) : NULL;
    if (!tile->buffer || !has_tile_shape(tile->buffer))
        return false;
    if (tile->buffer->ndim == 2)
        return expr_is_int(offset, 0);
    ModularSet set = analyzer_modular(inlining->an, offset);
    find_lead(inlining, tile, offset);
    return set.coeff % (TILE * TILE) == 0 && set.base % (TILE * TILE) == 0;
}

static bool find_tiles(Inlining *inlining, const Survey *survey)
{
    const Expr *const *args = inlining->call->as.evaluate->args;
    if (!find_tile(inlining, survey, args[1], args[6], &inlining->sums) || !find_tile(inlining, survey, args[2], args[4], &inlining->a) ||
        !find_tile(inlining, survey, args[3], args[5], &inlining->b))
        return false;
    bool b_is_wide = inlining->b.buffer->ndim > inlining->a.buffer->ndim; /* each loop that was no reason to fill it again is a dimension */
    inlining->wide = b_is_wide ? &inlining->b : &inlining->a;
    inlining->narrow = b_is_wide ? &inlining->a : &inlining->b;
    return inlining->sums.buffer->ndim == 2 && inlining->a.buffer != inlining->b.buffer && inlining->a.buffer != inlining->sums.buffer &&
           inlining->b.buffer != inlining->sums.buffer;
}

/* --- Nests of two loops over a tile --- */

typedef struct {
    const ForStmt *loops[2];
    const Stmt *store;
} Nest;

static bool is_tile_loop(const Stmt *stmt)
{
    const ForStmt *loop = stmt->kind == STMT_FOR ? &stmt->as.loop : NULL;
    return loop && loop->kind != FOR_PARALLEL && loop->kind != FOR_THREAD && !loop->annotations.count && expr_is_int(loop->min, 0) &&
           expr_is_int(loop->extent, TILE);
}

static bool match_nest(const Stmt *stmt, Nest *nest)
{
    if (!is_tile_loop(stmt) || !is_tile_loop(stmt->as.loop.body))
        return false;
    nest->loops[0] = &stmt->as.loop;
    nest->loops[1] = &stmt->as.loop.body->as.loop;
    nest->store = nest->loops[1]->body;
    return nest->store->kind == STMT_STORE && !nest->store->as.store.mask;
}

/* The number of the loop of NEST that runs along dimension DIM of INDICES; -1: none does. */
static int loop_of_index(const Nest *nest, const Expr *index)
{
    return expr_is_var(index, nest->loops[0]->var) ? 0 : expr_is_var(index, nest->loops[1]->var) ? 1 : -1;
}

/* The loop that runs along the rows (the last dimension but one) of BUFFER at INDICES; -1 where the loops are not its last indices. */
static int row_loop(const Nest *nest, const Buffer *buffer, const Expr *const *indices)
{
    int row = loop_of_index(nest, indices[buffer->ndim - 2]), column = loop_of_index(nest, indices[buffer->ndim - 1]);
    bool lead_is_fixed = true;
    for (int d = 0; d < buffer->ndim - 2; d++)
        lead_is_fixed &= !expr_uses_var(indices[d], nest->loops[0]->var) && !expr_uses_var(indices[d], nest->loops[1]->var);
    return row >= 0 && column == 1 - row && lead_is_fixed ? row : -1;
}

/* --- The dropped copy --- */

/* STMT fills NARROW with elements of other memory, which the tile's statements do not write. */
static bool is_plain_fill(const Inlining *inlining, const Stmt *stmt)
{
    Nest nest;
    const Tile *tile = inlining->narrow;
    if (tile->buffer->ndim > 2 || !match_nest(stmt, &nest) || nest.store->as.store.buffer != tile->buffer)
        return false;
    const Expr *value = nest.store->as.store.value;
    if (value->kind != EXPR_LOAD || load_mask(value) || row_loop(&nest, tile->buffer, nest.store->as.store.indices) < 0)
        return false;
    for (int i = 0; i < load_index_count(value); i++)
        if (expr_reads_memory(value->args[i]))
            return false;
    Effects effects = effects_of_stmt(inlining->ctx, &inlining->roots, tile->allocation, inlining->call);
    const Var *source = effects_root(&inlining->roots, value->value.buffer->data);
    return !map_has(&effects.writes, source) && source != inlining->sums.buffer->data && source != tile->buffer->data;
}

static bool is_other_call(Visitor *visitor, const Expr *expr)
{
    *(int *)visitor->data += expr->kind == EXPR_CALL && op_info(expr->value.op)->effect >= EFFECT_OPAQUE;
    return true;
}

/* The copy into NARROW, if it stands beside what uses the tile and comes first. */
static void find_fill(Inlining *inlining)
{
    const Stmt *body = inlining->narrow->allocation->as.allocate.body;
    int calls = 0;
    Visitor visitor = {.expr = is_other_call, .data = &calls};
    visit_stmt(&visitor, body);
    while (body->kind == STMT_ALLOCATE || body->kind == STMT_DECL_BUFFER)
        body = stmt_body(body);
    if (body->kind != STMT_SEQ || calls != 1)
        return;
    for (int i = 0; i < body->as.seq.count; i++) {
        const Stmt *item = body->as.seq.items[i];
        if (!stmt_uses_var(item, inlining->narrow->buffer->data) && !stmt_names_buffer(item, inlining->narrow->buffer))
            continue;
        inlining->fill = is_plain_fill(inlining, item) ? item : NULL;
        return;
    }
}

/* --- The loops that take the place of the call --- */

static const Expr *load_tile(const Inlining *inlining, const Tile *tile, const Expr *row, const Expr *column)
{
    DType dtype = buffer_index_dtype(tile->buffer);
    const Expr *indices[MOST_DIMS];
    int ndim = tile->buffer->ndim;
    memcpy(indices, tile->lead, sizeof indices);
    indices[ndim - 2] = op_cast(inlining->ctx, dtype, row);
    indices[ndim - 1] = op_cast(inlining->ctx, dtype, column);
    return expr_load(inlining->ctx, tile->buffer, indices, ndim, NULL, inlining->call->span);
}

/* The element of the narrow operand: of its tile, or of what that was copied from. */
static const Expr *load_narrow(const Inlining *inlining, const Expr *row, const Expr *column)
{
    Nest nest;
    if (!inlining->fill || !match_nest(inlining->fill, &nest))
        return load_tile(inlining, inlining->narrow, row, column);
    int rows = row_loop(&nest, inlining->narrow->buffer, nest.store->as.store.indices);
    Var *row_var = nest.loops[rows]->var, *column_var = nest.loops[1 - rows]->var;
    Subst subst = {0};
    subst_var(inlining->ctx, &subst, row_var, op_cast(inlining->ctx, row_var->dtype, row));
    subst_var(inlining->ctx, &subst, column_var, op_cast(inlining->ctx, column_var->dtype, column));
    return subst_expr(inlining->ctx, &subst, nest.store->as.store.value);
}

static const Stmt *loop_over(const Inlining *inlining, Var *var, int extent, ForKind kind, const Stmt *body)
{
    Context *ctx = inlining->ctx;
    ForStmt loop = {.var = var, .min = expr_int(ctx, var->dtype, 0), .extent = expr_int(ctx, var->dtype, extent), .kind = kind, .body = body};
    return stmt_for(ctx, loop, inlining->call->span);
}

static const Stmt *kernel_loops(const Inlining *inlining)
{
    Context *ctx = inlining->ctx;
    static const char *const names[] = {"g", "s", "k", "r", "v"};
    const int extents[] = {TILE / inlining->group, TILE / inlining->steps, inlining->steps, inlining->group, TILE};
    static const ForKind kinds[] = {FOR_UNROLLED, FOR_SERIAL, FOR_UNROLLED, FOR_UNROLLED, FOR_VECTORIZED};
    enum { DEPTH = sizeof extents / sizeof *extents };
    Var *vars[DEPTH];
    const Expr *values[DEPTH];
    for (int i = 0; i < DEPTH; i++) {
        vars[i] = var_new(ctx, context_intern(ctx, names[i]), DTYPE_INT32, inlining->call->span);
        values[i] = expr_var(ctx, vars[i]);
    }
    const Expr *row = op_add(ctx, op_mul_int(ctx, values[0], inlining->group), values[3]);
    const Expr *step = op_add(ctx, op_mul_int(ctx, values[1], inlining->steps), values[2]);
    const Expr *wide = load_tile(inlining, inlining->wide, step, values[4]), *narrow = load_narrow(inlining, row, step);
    const Expr *sum = load_tile(inlining, &inlining->sums, row, values[4]);
    bool a_is_wide = inlining->wide == &inlining->a;
    const Expr *value = op_add(ctx, sum, op_mul(ctx, a_is_wide ? wide : narrow, a_is_wide ? narrow : wide));
    const Stmt *body = stmt_store(ctx, inlining->sums.buffer, sum->args, 2, value, NULL, inlining->call->span);
    for (int i = DEPTH - 1; i >= 0; i--)
        body = loop_over(inlining, vars[i], extents[i], kinds[i], body);
    return body;
}

/* --- The nests that access the sums and the wide tile --- */

typedef struct {
    Inlining *inlining;
    const Nest *nest;
    const Tile *tile;
    int row; /* the loop along its rows; -1: none seen yet */
} Turning;

static bool is_turned(const Inlining *inlining, const Tile *tile)
{
    return tile == inlining->wide || inlining->wide == &inlining->a;
}

/* INDICES of the tile, in its new layout. */
static const Expr *const *turned_indices(Turning *turning, const Expr *const *indices)
{
    int ndim = turning->tile->buffer->ndim, row = row_loop(turning->nest, turning->tile->buffer, indices);
    turning->inlining->failed |= row < 0 || (turning->row >= 0 && turning->row != row);
    turning->row = row;
    if (!is_turned(turning->inlining, turning->tile))
        return indices;
    const Expr **result = arena_copy(turning->inlining->ctx->arena, indices, sizeof *indices * (size_t)ndim);
    result[ndim - 2] = indices[ndim - 1];
    result[ndim - 1] = indices[ndim - 2];
    return result;
}

static const Expr *turn_load(Rewriter *rewriter, const Expr *expr)
{
    Turning *turning = rewriter->data;
    if (expr->kind != EXPR_LOAD || expr->value.buffer != turning->tile->buffer) {
        turning->inlining->failed |= expr_is_var(expr, turning->tile->buffer->data);
        return rewrite_expr_children(rewriter, expr);
    }
    turning->inlining->failed |= load_mask(expr) != NULL;
    Buffer *buffer = turning->tile->buffer;
    return expr_load(rewriter->ctx, buffer, turned_indices(turning, expr->args), buffer->ndim, NULL, expr->span);
}

/* NEST, which accesses TILE, with its lanes innermost. */
static const Stmt *turned_nest(Inlining *inlining, const Stmt *stmt, const Nest *nest, const Tile *tile)
{
    Context *ctx = inlining->ctx;
    Turning turning = {inlining, nest, tile, -1};
    Rewriter rewriter = {.ctx = ctx, .expr = turn_load, .data = &turning};
    const Stmt *store = nest->store;
    const Expr *value = rewrite_expr(&rewriter, store->as.store.value), *const *indices = store->as.store.indices;
    indices = store->as.store.buffer == tile->buffer ? turned_indices(&turning, indices) : indices;
    int lane = is_turned(inlining, tile) ? turning.row : 1 - turning.row;
    if (inlining->failed || turning.row < 0)
        return stmt;
    ForStmt lanes = *nest->loops[lane], rounds = *nest->loops[1 - lane];
    lanes.kind = FOR_VECTORIZED;
    lanes.body = stmt_store(ctx, store->as.store.buffer, indices, store->as.store.index_count, value, NULL, store->span);
    rounds.kind = tile == &inlining->sums ? FOR_UNROLLED : FOR_SERIAL;
    rounds.body = stmt_for(ctx, lanes, stmt->span);
    const Stmt *result = stmt_for(ctx, rounds, stmt->span);
    LaneScope scope = {ctx, inlining->func, inlining->an, &inlining->roots};
    inlining->failed |= !lanes_are_independent(&scope, stmt, stmt) || !lanes_are_independent(&scope, result, result) ||
                        !lanes_are_independent(&scope, result, rounds.body);
    return result;
}

/* --- The whole function --- */

static const Tile *tile_used(const Inlining *inlining, const Stmt *stmt)
{
    bool sums = stmt_names_buffer(stmt, inlining->sums.buffer), wide = stmt_names_buffer(stmt, inlining->wide->buffer);
    return sums == wide ? NULL : sums ? &inlining->sums : inlining->wide;
}

/* BUFFER is another one over the memory of a tile. */
static bool is_second_name(const Inlining *inlining, const Buffer *buffer)
{
    const Tile *tiles[] = {&inlining->sums, &inlining->a, &inlining->b};
    for (int i = 0; i < 3; i++)
        if (buffer->data == tiles[i]->buffer->data && buffer != tiles[i]->buffer)
            return true;
    return false;
}

static const Stmt *inline_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Inlining *inlining = rewriter->data;
    Nest nest;
    if (stmt == inlining->call)
        return kernel_loops(inlining);
    if (stmt == inlining->fill)
        return stmt_empty(rewriter->ctx);
    if (inlining->fill && stmt == inlining->narrow->allocation)
        return rewrite_stmt(rewriter, stmt->as.allocate.body->as.declare.body);
    if (match_nest(stmt, &nest)) {
        const Tile *tile = tile_used(inlining, stmt);
        if (tile)
            return turned_nest(inlining, stmt, &nest, tile);
    }
    const Buffer *stored = stmt->kind == STMT_STORE ? stmt->as.store.buffer : NULL;
    inlining->failed |= stored && (stored == inlining->sums.buffer || stored == inlining->wide->buffer);
    inlining->failed |= stmt->kind == STMT_DECL_BUFFER && is_second_name(inlining, stmt->as.declare.buffer);
    return rewrite_stmt_children(rewriter, stmt);
}

/* Any other use of a tile. */
static const Expr *inline_expr(Rewriter *rewriter, const Expr *expr)
{
    Inlining *inlining = rewriter->data;
    const Tile *tiles[] = {&inlining->sums, inlining->wide, inlining->narrow};
    for (int i = 0; i < 3; i++) {
        bool is_load = expr->kind == EXPR_LOAD && expr->value.buffer == tiles[i]->buffer;
        inlining->failed |= expr_is_var(expr, tiles[i]->buffer->data) || (is_load && (i < 2 || inlining->fill));
    }
    return rewrite_expr_children(rewriter, expr);
}

static bool bind_loop(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_FOR)
        facts_bind_stmt(visitor->data, stmt);
    return true;
}

/* Where the target has too few registers for a group, all rows are one, which the pass parts cuts as the registers allow. */
static void choose_group(Inlining *inlining, const LowerState *state)
{
    int bytes = 0, registers = 0;
    if (state->options->vector_registers)
        state->options->vector_registers(state->options->data, &bytes, &registers);
    bool has_few = registers && registers < MANY_REGISTERS;
    inlining->group = has_few ? TILE : GROUP;
    inlining->steps = has_few ? 2 : 4;
}

/* BODY with CALL written out; NULL where that cannot be. */
static const Stmt *inlined(LowerState *state, const Func *func, const Survey *survey, const Stmt *body, const Stmt *call)
{
    Inlining inlining = {.ctx = state->ctx, .func = func, .an = analyzer_new(state->ctx), .call = call};
    Visitor binder = {.stmt = bind_loop, .data = inlining.an};
    choose_group(&inlining, state);
    facts_bind_sizes(inlining.an, func);
    visit_stmt(&binder, body);
    effects_add_view_roots(state->ctx, &inlining.roots, body);
    if (!find_tiles(&inlining, survey))
        return NULL;
    find_fill(&inlining);
    Rewriter rewriter = {.ctx = state->ctx, .expr = inline_expr, .stmt = inline_stmt, .data = &inlining};
    const Stmt *result = rewrite_stmt(&rewriter, body);
    return inlining.failed ? NULL : result;
}

static bool has_imports(const Func *func)
{
    return attrs_get(func->attrs, "tirc.import_llvm") || attrs_get(func->attrs, "tirc.import_c");
}

const Func *lower_kernels(LowerState *state, const Func *func)
{
    Context *ctx = state->ctx;
    const Stmt *body = func->body;
    if (state->options->bounds_check || has_imports(func))
        return func;
    for (int done = 0;;) {
        Survey survey = {.ctx = ctx, .module = state->module};
        Visitor visitor = {.stmt = survey_stmt, .data = &survey};
        visit_stmt(&visitor, body);
        if (done >= survey.calls.count)
            break;
        const Stmt *result = inlined(state, func, &survey, body, survey.calls.data[done]);
        body = result ? result : body;
        done += !result;
    }
    if (body == func->body)
        return func;
    const Expr *condition = expr_call(ctx, DTYPE_BOOL, OP_TIRC_OWN_TMM16, NULL, 0, span_none());
    return func_with_body(ctx, func, stmt_if(ctx, condition, clone_fresh(ctx, body), func->body, func->body->span));
}
