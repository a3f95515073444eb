/* Printing and reading back of random programs that are built node by node, so that they hold what no text would be read as: unfolded
   constants, operands in every position, deep nests. What is read back must be equal and print the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "print/print.h"
#include "verify/equal.h"
#include "verify/verify.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"

enum { PROGRAMS = 300, STATEMENTS = 6, MOST_VARS = 16, EXPRESSION_DEPTH = 4, STATEMENT_DEPTH = 3 };

typedef struct {
    Context *ctx;
    uint64_t state;
    Var *vars[MOST_VARS]; /* in scope */
    int var_count, first_var; /* those before first_var are hidden: a block uses its own axes only */
    bool in_range; /* the start of a range is written twice: no let expression in it, whose variables would differ */
    Buffer *buffers[6]; /* one for each of buffer_types */
} Generator;

static const DType buffer_types[] = {{DT_INT, 32, 1},   {DT_INT, 64, 1}, {DT_FLOAT, 32, 1},
                                     {DT_FLOAT, 16, 1}, {DT_BOOL, 1, 1}, {DT_UINT, 8, 1}};
enum { BUFFER_TYPES = sizeof buffer_types / sizeof *buffer_types };

static int pick(Generator *generator, int count)
{
    generator->state = generator->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((generator->state >> 33) % (uint64_t)count);
}

static const Expr *random_expr(Generator *generator, DType dtype, int depth);

static const Expr *random_constant(Generator *generator, DType dtype)
{
    static const int64_t integers[] = {0, 1, 2, -1, 3, 7, 15};
    static const double reals[] = {0, 1, -1, 0.5, 0.1, 1e-5, 1e4, 3};
    if (dtype_is_float(dtype))
        return expr_float(generator->ctx, dtype, reals[pick(generator, 8)]);
    return expr_int(generator->ctx, dtype, dtype_wrap(dtype, integers[pick(generator, 7)]));
}

static const Expr *load(Generator *generator, int which, const Expr *index)
{
    return expr_load(generator->ctx, generator->buffers[which], &index, 1, NULL, span_none());
}

/* An index that is not certain to be out of bounds, which reading refuses. */
static const Expr *random_index(Generator *generator, int depth)
{
    const Expr *constant = expr_int(generator->ctx, DTYPE_INT32, pick(generator, 16));
    if (pick(generator, 2))
        return constant;
    return expr_binary(generator->ctx, EXPR_ADD, load(generator, 0, constant), random_expr(generator, DTYPE_INT32, depth - 1));
}

static const Expr *random_load(Generator *generator, DType dtype)
{
    int which = 0;
    while (!dtype_equal(buffer_types[which], dtype))
        which++;
    return load(generator, which, random_index(generator, 1));
}

static const Expr *random_leaf(Generator *generator, DType dtype)
{
    int start = pick(generator, MOST_VARS), visible = generator->var_count - generator->first_var;
    for (int i = 0; i < visible && pick(generator, 3); i++) {
        Var *var = generator->vars[generator->first_var + (start + i) % visible];
        if (dtype_equal(var->dtype, dtype))
            return expr_var(generator->ctx, var);
    }
    return pick(generator, 3) ? random_constant(generator, dtype) : random_load(generator, dtype);
}

static const Expr *random_bool(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    ExprKind kind = EXPR_EQ + pick(generator, EXPR_NOT - EXPR_EQ + 1);
    if (kind == EXPR_NOT)
        return expr_not(ctx, random_expr(generator, DTYPE_BOOL, depth - 1));
    bool logic = kind == EXPR_AND || kind == EXPR_OR;
    DType type = logic ? DTYPE_BOOL : buffer_types[pick(generator, BUFFER_TYPES)];
    const Expr *a = random_expr(generator, type, depth - 1), *b = random_expr(generator, type, depth - 1);
    return expr_binary(ctx, kind, a, b);
}

static const Expr *random_let(Generator *generator, DType dtype, int depth)
{
    Var *var = var_new(generator->ctx, context_intern(generator->ctx, "x"), DTYPE_INT32, span_none());
    const Expr *value = random_expr(generator, var->dtype, depth - 1);
    if (generator->var_count == MOST_VARS || generator->in_range)
        return random_leaf(generator, dtype);
    generator->vars[generator->var_count++] = var;
    const Expr *body = random_expr(generator, dtype, depth - 1);
    generator->var_count--;
    return expr_let(generator->ctx, var, value, body);
}

static const Expr *random_number(Generator *generator, DType dtype, int depth)
{
    static const Op integer_ops[] = {OP_SHIFT_LEFT, OP_SHIFT_RIGHT, OP_BITWISE_AND, OP_BITWISE_OR, OP_BITWISE_XOR},
                    real_ops[] = {OP_POW, OP_ATAN2, OP_HYPOT};
    Context *ctx = generator->ctx;
    ExprKind kind = EXPR_ADD + pick(generator, EXPR_MAX - EXPR_ADD + 1);
    if (dtype_is_float(dtype) && (kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD))
        kind = EXPR_DIV;
    const Expr *args[] = {random_expr(generator, dtype, depth - 1), random_expr(generator, dtype, depth - 1)};
    if (pick(generator, 4))
        return expr_binary(ctx, kind, args[0], args[1]);
    Op op = dtype_is_float(dtype) ? real_ops[pick(generator, 3)] : integer_ops[pick(generator, 5)];
    args[0] = random_load(generator, dtype); /* the calls of two constants fold */
    return expr_call(ctx, dtype, op, args, 2, span_none());
}

static const Expr *random_expr(Generator *generator, DType dtype, int depth)
{
    Context *ctx = generator->ctx;
    if (depth <= 0)
        return random_leaf(generator, dtype);
    switch (pick(generator, 10)) {
    case 0: return random_leaf(generator, dtype);
    case 1: {
        DType from = buffer_types[pick(generator, BUFFER_TYPES)];
        return dtype_equal(from, dtype) ? random_leaf(generator, dtype) : expr_cast(ctx, dtype, random_expr(generator, from, depth - 1));
    }
    case 2: {
        const Expr *condition = random_expr(generator, DTYPE_BOOL, depth - 1);
        const Expr *if_true = random_expr(generator, dtype, depth - 1);
        return expr_select(ctx, condition, if_true, random_expr(generator, dtype, depth - 1));
    }
    case 3: return random_let(generator, dtype, depth);
    default: return dtype.code == DT_BOOL ? random_bool(generator, depth) : random_number(generator, dtype, depth);
    }
}

/* An extent that is not certain to be negative, which reading refuses. */
static const Expr *random_extent(Generator *generator, DType dtype)
{
    if (pick(generator, 2))
        return expr_int(generator->ctx, dtype, 1 + pick(generator, 16));
    return expr_binary(generator->ctx, EXPR_ADD, random_load(generator, dtype), random_expr(generator, dtype, 1));
}

static Range random_range(Generator *generator, DType dtype)
{
    generator->in_range = true;
    const Expr *min = pick(generator, 3) ? random_expr(generator, dtype, 2) : expr_int(generator->ctx, dtype, 0);
    generator->in_range = false;
    return (Range){min, random_extent(generator, dtype)};
}

/* --- statements --- */

static const Stmt *random_body(Generator *generator, int depth);

static const Stmt *random_store(Generator *generator)
{
    int which = pick(generator, BUFFER_TYPES);
    const Expr *index = random_index(generator, 2);
    const Expr *value = random_expr(generator, buffer_types[which], EXPRESSION_DEPTH);
    return stmt_store(generator->ctx, generator->buffers[which], &index, 1, value, NULL, span_none());
}

static const Stmt *random_loop(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    DType type = pick(generator, 4) ? DTYPE_INT32 : DTYPE_INT64;
    Var *var = var_new(ctx, context_intern(ctx, pick(generator, 2) ? "i" : "A"), type, span_none());
    ForStmt loop = {.var = var, .kind = pick(generator, 3) ? FOR_SERIAL : FOR_PARALLEL};
    Range range = random_range(generator, type);
    loop.min = range.min;
    loop.extent = range.extent;
    generator->vars[generator->var_count++] = var;
    loop.body = random_body(generator, depth - 1);
    generator->var_count--;
    return stmt_for(ctx, loop, span_none());
}

static const Stmt *random_let_stmt(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    Var *var = var_new(ctx, context_intern(ctx, "y"), buffer_types[pick(generator, BUFFER_TYPES)], span_none());
    const Expr *value = random_expr(generator, var->dtype, 2);
    generator->vars[generator->var_count++] = var;
    const Stmt *body = random_body(generator, depth - 1);
    generator->var_count--;
    return stmt_let(ctx, var, value, body, span_none());
}

static const Stmt *random_block(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    Var *var = var_new(ctx, context_intern(ctx, "vi"), DTYPE_INT32, span_none());
    Iter iter = {var, random_range(generator, DTYPE_INT32), (IterKind)pick(generator, 4), span_none()};
    const Expr *binding = random_expr(generator, DTYPE_INT32, 2);
    BlockStmt block = {
        .block = block_new(ctx, context_intern(ctx, "b"), span_none()), .iter_count = 1, .iters = &iter, .bindings = &binding};
    block.predicate = pick(generator, 2) ? NULL : random_expr(generator, DTYPE_BOOL, 2);
    int first_outer = generator->first_var;
    generator->first_var = generator->var_count;
    generator->vars[generator->var_count++] = var;
    Range *range = ARENA_NEW(ctx->arena, Range);
    *range = random_range(generator, DTYPE_INT32);
    Region region = {generator->buffers[pick(generator, BUFFER_TYPES)], range, span_none()};
    block.reads = block.writes = arena_copy(ctx->arena, &region, sizeof region);
    block.read_count = 1;
    block.init = pick(generator, 3) ? NULL : random_store(generator);
    block.body = random_body(generator, depth - 1);
    generator->var_count--;
    generator->first_var = first_outer;
    return stmt_block(ctx, block, span_none());
}

/* --- the lowered dialect --- */

/* A[i:i + 4] = ..., or with a mask. */
static const Stmt *random_vector_store(Generator *generator)
{
    enum { LANES = 4 };
    Context *ctx = generator->ctx;
    const Expr *first = random_index(generator, 2),
               *step = pick(generator, 2) ? expr_int(ctx, DTYPE_INT32, 1 + pick(generator, 3)) : random_index(generator, 1);
    const Expr *index = pick(generator, 4) ? expr_ramp(ctx, first, step, LANES) : expr_broadcast(ctx, first, LANES);
    const Expr *mask = expr_binary(ctx, EXPR_LT, index, expr_broadcast(ctx, random_expr(generator, DTYPE_INT32, 1), LANES));
    const Expr *source = expr_load(ctx, generator->buffers[2], &index, 1, pick(generator, 2) ? mask : NULL, span_none());
    const Expr *factor = expr_broadcast(ctx, random_expr(generator, DTYPE_FLOAT32, 2), LANES);
    return stmt_store(ctx, generator->buffers[2], &index, 1, expr_binary(ctx, EXPR_MUL, source, factor), pick(generator, 2) ? mask : NULL,
                      span_none());
}

/* BODY with buffer WHICH exchanged for BUFFER, which stands around it. */
static const Stmt *body_over(Generator *generator, int which, Buffer *buffer, int depth)
{
    Buffer *outer = generator->buffers[which];
    generator->buffers[which] = buffer;
    const Stmt *body = random_body(generator, depth - 1);
    generator->buffers[which] = outer;
    return body;
}

static const Stmt *random_allocate(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    int which = pick(generator, BUFFER_TYPES);
    const Expr *shape = expr_int(ctx, DTYPE_INT32, 16);
    Str scope = context_intern(ctx, pick(generator, 2) ? "global" : "local");
    Buffer *buffer = buffer_new(ctx, context_intern(ctx, "B"), buffer_types[which], 1, &shape, scope, span_none());
    const Stmt *body = body_over(generator, which, buffer, depth);
    Stmt declare = {.kind = STMT_DECL_BUFFER, .as.declare = {buffer, pick(generator, 2) == 0, body}};
    Stmt stmt = {.kind = STMT_ALLOCATE};
    stmt.as.allocate.var = buffer->data;
    stmt.as.allocate.dtype = buffer->dtype;
    stmt.as.allocate.extents = arena_copy(ctx->arena, &shape, sizeof shape);
    stmt.as.allocate.extent_count = 1;
    stmt.as.allocate.scope = scope;
    stmt.as.allocate.condition = pick(generator, 3) ? expr_bool(ctx, true) : random_expr(generator, DTYPE_BOOL, 2);
    stmt.as.allocate.body = stmt_new(ctx, &declare);
    return stmt_new(ctx, &stmt);
}

static const Stmt *random_view(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    int which = pick(generator, BUFFER_TYPES);
    Buffer *view = buffer_clone(ctx, generator->buffers[which]);
    view->name = context_intern(ctx, "V");
    view->elem_offset = expr_int(ctx, DTYPE_INT32, pick(generator, 3));
    const Stmt *body = body_over(generator, which, view, depth);
    return stmt_new(ctx, &(Stmt){.kind = STMT_DECL_BUFFER, .as.declare = {view, pick(generator, 2) == 0, body}});
}

static const Stmt *random_attribute(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    Stmt attr = {.kind = STMT_ATTR, .as.attr.key = context_intern(ctx, "k")};
    attr.as.attr.node = pick(generator, 2) ? expr_var(ctx, generator->buffers[0]->data) : expr_int(ctx, DTYPE_INT32, 0);
    attr.as.attr.value = random_expr(generator, DTYPE_INT32, 2);
    attr.as.attr.body = random_body(generator, depth - 1);
    return stmt_new(ctx, &attr);
}

static const Stmt *random_assert(Generator *generator, int depth)
{
    Context *ctx = generator->ctx;
    Stmt stmt = {.kind = STMT_ASSERT, .as.assertion = {.message = expr_string(ctx, context_intern(ctx, "never \"here\""))}};
    stmt.as.assertion.condition = random_expr(generator, DTYPE_BOOL, 2);
    stmt.as.assertion.body = random_body(generator, depth - 1);
    return stmt_new(ctx, &stmt);
}

static const Stmt *random_lowered(Generator *generator, int depth)
{
    switch (pick(generator, 6)) {
    case 0: return random_allocate(generator, depth);
    case 1: return random_view(generator, depth);
    case 2: return random_attribute(generator, depth);
    case 3: return random_assert(generator, depth);
    case 4: {
        const Expr *condition = random_expr(generator, DTYPE_BOOL, 2);
        return stmt_while(generator->ctx, condition, random_body(generator, depth - 1), span_none());
    }
    default: return random_vector_store(generator);
    }
}

static const Stmt *random_stmt(Generator *generator, int depth)
{
    if (depth <= 0 || generator->var_count > MOST_VARS - 6)
        return random_store(generator);
    switch (pick(generator, 7)) {
    case 0: return random_loop(generator, depth);
    case 1: return random_let_stmt(generator, depth);
    case 2: return random_block(generator, depth);
    case 3: {
        const Expr *condition = random_expr(generator, DTYPE_BOOL, 3);
        const Stmt *then_body = random_body(generator, depth - 1);
        return stmt_if(generator->ctx, condition, then_body, pick(generator, 2) ? random_body(generator, depth - 1) : NULL, span_none());
    }
    case 4: return random_lowered(generator, depth);
    default: return random_store(generator);
    }
}

static const Stmt *random_body(Generator *generator, int depth)
{
    const Stmt *items[STATEMENTS];
    int count = pick(generator, 3);
    for (int i = 0; i < count; i++)
        items[i] = random_stmt(generator, depth);
    return stmt_seq(generator->ctx, items, count);
}

/* A function over one buffer of each type. Its body is in a root block, as a function with blocks has one. */
static const Module *random_module(Generator *generator)
{
    Context *ctx = generator->ctx;
    Func *func = ARENA_NEW(ctx->arena, Func);
    *func = (Func){.name = context_intern(ctx, "main"), .param_count = BUFFER_TYPES, .return_type = DTYPE_VOID};
    func->params = ARENA_ARRAY(ctx->arena, Param, BUFFER_TYPES);
    const Expr *shape = expr_int(ctx, DTYPE_INT32, 16);
    for (int i = 0; i < BUFFER_TYPES; i++) {
        generator->buffers[i] = buffer_new(ctx, context_intern(ctx, "A"), buffer_types[i], 1, &shape, NULL, span_none());
        func->params[i] = (Param){.param = var_new(ctx, context_intern(ctx, "a"), DTYPE_HANDLE, span_none()), .buffer = generator->buffers[i]};
    }
    const Stmt *items[STATEMENTS];
    for (int i = 0; i < STATEMENTS; i++)
        items[i] = random_stmt(generator, STATEMENT_DEPTH);
    BlockStmt root = {.block = block_new(ctx, context_intern(ctx, "root"), span_none()), .body = stmt_seq(ctx, items, STATEMENTS)};
    func->body = stmt_block(ctx, root, span_none());
    Module *module = ARENA_NEW(ctx->arena, Module);
    *module = (Module){.bare = true, .funcs = arena_copy(ctx->arena, &func, sizeof func), .func_count = 1};
    return module;
}

static void check_program(uint64_t seed)
{
    Context *ctx = context_new();
    Generator generator = {.ctx = ctx, .state = seed * 2654435761u + 1};
    const Module *module = random_module(&generator);
    const char *why = "";
    if (!verify_module(ctx, module, STAGE_SCHEDULED, &why))
        fail_msg("program %d is malformed: %s", (int)seed, why);
    const char *printed = print_module(ctx, module);
    const Module *again = complete_module(ctx, parse_module_text(ctx, "printed", printed, strlen(printed)));
    if (!again) {
        diag_flush(ctx, stderr, false);
        fail_msg("program %d cannot be read back", (int)seed);
    }
    if (!module_equal(ctx, module, again, &why))
        fail_msg("program %d is read back as another: %s", (int)seed, why);
    assert_string_equal(printed, print_module(ctx, again));
    context_free(ctx);
}

static void test_random_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++)
        check_program(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
