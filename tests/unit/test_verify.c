/* The verifier: well-formed programs pass, and each rule has a program that breaks it alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "verify/verify.h"

static Context *ctx;
static Buffer *a; /* the parameter of every program here: A[16] of float32 */

static Str str(const char *text)
{
    return context_intern(ctx, text);
}

static const Expr *num(int64_t value)
{
    return expr_int(ctx, DTYPE_INT32, value);
}

static const Expr *real(double value)
{
    return expr_float(ctx, DTYPE_FLOAT32, value);
}

static Var *new_var(const char *name)
{
    return var_new(ctx, str(name), DTYPE_INT32, span_none());
}

static const Expr *use(Var *var)
{
    return expr_var(ctx, var);
}

static int set_up(void **state)
{
    (void)state;
    ctx = context_new();
    const Expr *extent = num(16);
    a = buffer_new(ctx, str("A"), DTYPE_FLOAT32, 1, &extent, NULL, span_none());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    context_free(ctx);
    return 0;
}

static const Stmt *store(const Expr *index, const Expr *value)
{
    return stmt_store(ctx, a, &index, 1, value, NULL, span_none());
}

static const Stmt *set_first(void)
{
    return store(num(0), real(1));
}

static const Stmt *loop(Var *var, const Stmt *body)
{
    return stmt_for_serial(ctx, var, NULL, num(4), body, span_none());
}

static const Stmt *block(BlockStmt parts, const Stmt *body)
{
    parts.block = block_new(ctx, str("b"), span_none());
    parts.body = body;
    return stmt_block(ctx, parts, span_none());
}

static const char *problem_at(Stage stage, const Stmt *body)
{
    Func func = {.name = str("f"), .return_type = DTYPE_VOID, .param_count = 1, .body = body};
    Param param = {.param = var_new(ctx, str("a"), DTYPE_HANDLE, span_none()), .buffer = a};
    func.params = &param;
    const char *why = "stale";
    bool good = verify_func(ctx, &func, stage, &why);
    assert_int_equal(good, why == NULL);
    assert_int_equal(good, verify_func(ctx, &func, stage, NULL));
    return why;
}

static void accept(const Stmt *body)
{
    const char *why = problem_at(STAGE_SCHEDULED, body);
    if (why)
        fail_msg("%s", why);
}

static void refuse_at(Stage stage, const Stmt *body, const char *reason)
{
    const char *why = problem_at(stage, body);
    assert_non_null(why);
    assert_string_equal(why, arena_printf(ctx->arena, "function 'f': %s", reason));
}

static void refuse(const Stmt *body, const char *reason)
{
    refuse_at(STAGE_SCHEDULED, body, reason);
}

static void test_bindings(void **state)
{
    (void)state;
    Var *i = new_var("i");
    const Stmt *first = loop(i, store(use(i), real(1))), *twice[] = {first, loop(i, set_first())},
               *after[] = {first, store(use(i), real(1))};
    accept(first);
    refuse(stmt_seq(ctx, twice, 2), "loop variable 'i' is bound twice");
    refuse(stmt_seq(ctx, after, 2), "variable 'i' is used where it is not defined");
    refuse(loop(i, loop(i, set_first())), "loop variable 'i' is bound twice");
    const Stmt *b = block((BlockStmt){0}, set_first()), *blocks[] = {b, b};
    accept(b);
    refuse(stmt_seq(ctx, blocks, 2), "block 'b' is bound twice");
    Var *x = new_var("x");
    const Expr *let = expr_let(ctx, x, num(1), use(x));
    accept(store(expr_binary(ctx, EXPR_ADD, let, let), real(1)));
    refuse(store(expr_let(ctx, x, num(1), let), real(1)), "let variable 'x' is bound within its own scope");
    refuse(store(expr_binary(ctx, EXPR_ADD, let, use(x)), real(1)), "variable 'x' is used where it is not defined");
}

static void test_buffers(void **state)
{
    (void)state;
    const Expr *extent = num(4), *index = num(0);
    Buffer *b = buffer_new(ctx, str("B"), DTYPE_FLOAT32, 1, &extent, NULL, span_none());
    const Stmt *body = stmt_store(ctx, b, &index, 1, real(1), NULL, span_none());
    BlockStmt allocating = {.allocs = &b, .alloc_count = 1};
    accept(block(allocating, body));
    refuse(body, "buffer 'B' is used where it is not defined");
    refuse(block(allocating, block(allocating, body)), "buffer 'B' is bound twice");
    Stmt declare = {.kind = STMT_DECL_BUFFER, .as.declare = {b, true, body}};
    accept(&declare);
    b->shape[0] = real(1);
    refuse(&declare, "dimension T.float32(1.0) has type float32");
    const Expr *free_dimension = expr_binary(ctx, EXPR_ADD, use(new_var("n")), num(1));
    b->shape[0] = free_dimension;
    refuse(&declare, "variable 'n' is used where it is not defined");
}

static void test_accesses(void **state)
{
    (void)state;
    const Expr *indices[] = {num(0), num(0)};
    refuse(stmt_store(ctx, a, indices, 2, real(1), NULL, span_none()), "buffer 'A' has 1 dimensions and is accessed with 2 indices");
    refuse(store(num(0), num(1)), "an access to 'A' has type int32 instead of float32");
    refuse(store(real(0), real(1)), "index T.float32(0.0) of 'A' has type float32");
    const Expr *ramp = expr_ramp(ctx, num(0), num(1), 4), *ones = expr_broadcast(ctx, real(1), 4);
    accept(store(ramp, ones));
    refuse(store(ramp, real(1)), "an access to 'A' has type float32 instead of float32x4");
    const Expr *narrow = expr_broadcast(ctx, expr_bool(ctx, true), 2);
    refuse(stmt_store(ctx, a, &ramp, 1, ones, narrow, span_none()),
           "the mask T.Broadcast(T.bool(True), 2) does not fit an access of type float32x4");
}

/* A node whose types were changed behind the constructors' back. */
static const Expr *retyped(const Expr *expr, DType dtype)
{
    Expr *copy = arena_copy(ctx->arena, expr, sizeof *expr);
    copy->dtype = dtype;
    return copy;
}

static void test_types(void **state)
{
    (void)state;
    const Expr *sum = expr_binary(ctx, EXPR_ADD, num(1), num(2));
    refuse(store(retyped(sum, DTYPE_INT64), real(1)), "types do not fit in T.Add(1, 2)");
    refuse(store(expr_int(ctx, DTYPE(DT_INT, 8), 300), real(1)), "types do not fit in T.int8(300)");
    refuse(store(expr_select(ctx, num(1), num(2), num(3)), real(1)), "types do not fit in T.Select(1, 2, 3)");
    refuse(store(expr_not(ctx, num(1)), real(1)), "types do not fit in T.Not(1)");
    const Expr *one = num(1), *two[] = {real(1), real(2)};
    refuse(store(num(0), expr_call(ctx, DTYPE_FLOAT32, OP_EXP, two, 2, span_none())), "T.exp has 2 arguments");
    refuse(store(num(0), expr_call(ctx, DTYPE_FLOAT32, OP_EXP, &one, 1, span_none())), "types do not fit in T.exp(1)");
    refuse(store(num(0), expr_call(ctx, DTYPE_FLOAT32, OP_CALL_EXTERN, two, 1, span_none())), "T.call_extern does not name its callee");
    refuse(stmt_if(ctx, num(1), set_first(), NULL, span_none()), "condition 1 is not a bool");
    refuse(stmt_while(ctx, num(1), set_first(), span_none()), "condition 1 is not a bool");
    refuse(stmt_let(ctx, new_var("x"), real(1), set_first(), span_none()),
           "value of a let T.float32(1.0) has type float32 instead of int32");
}

static void test_loops(void **state)
{
    (void)state;
    Var *i = new_var("i");
    refuse(stmt_for_serial(ctx, i, NULL, expr_int(ctx, DTYPE_INT64, 4), set_first(), span_none()),
           "extent of a loop T.int64(4) has type int64 instead of int32");
    ForStmt thread = {.var = i, .min = num(0), .extent = num(4), .kind = FOR_THREAD, .body = set_first()};
    refuse(stmt_for(ctx, thread, span_none()), "loop 'i' and its thread do not go together");
    thread.thread = str("threadIdx.x");
    accept(stmt_for(ctx, thread, span_none()));
}

static void test_blocks(void **state)
{
    (void)state;
    Var *i = new_var("i"), *vi = new_var("vi");
    Iter iter = {vi, {num(0), num(4)}, ITER_SPATIAL, span_none()};
    const Expr *binding = use(i), *index = use(vi);
    BlockStmt parts = {.iter_count = 1, .iters = &iter, .bindings = &binding};
    accept(loop(i, block(parts, store(index, real(1)))));
    refuse(block(parts, set_first()), "variable 'i' is used where it is not defined");
    parts.predicate = expr_binary(ctx, EXPR_LT, index, num(3));
    refuse(loop(i, block(parts, set_first())), "variable 'vi' is used where it is not defined");
    parts.predicate = NULL;
    Region region = region_point(ctx, a, &index);
    parts.reads = &region;
    parts.read_count = 1;
    accept(loop(i, block(parts, set_first())));
    region.ranges[0].extent = expr_int(ctx, DTYPE_INT64, 1);
    refuse(loop(i, block(parts, set_first())), "extent of a region T.int64(1) has type int64 instead of int32");
    parts.read_count = 0;
    binding = real(1);
    refuse(loop(i, block(parts, set_first())), "binding T.float32(1.0) has type float32 instead of int32");
}

static void test_matched_buffers(void **state)
{
    (void)state;
    const Expr *extent = num(4), *stride = use(new_var("s")), *index = num(0);
    Buffer *view = buffer_new(ctx, str("V"), DTYPE_FLOAT32, 1, &extent, NULL, span_none());
    view->strides = &stride;
    Range range = {num(0), num(4)};
    MatchBuffer match = {view, {a, &range, span_none()}};
    BlockStmt parts = {.matches = &match, .match_count = 1};
    const Stmt *body = stmt_store(ctx, view, &stride, 1, real(1), NULL, span_none());
    accept(block(parts, body));
    refuse(stmt_store(ctx, a, &stride, 1, real(1), NULL, span_none()), "variable 's' is used where it is not defined");
    Buffer *other = buffer_new(ctx, str("W"), DTYPE_INT32, 1, &extent, NULL, span_none());
    match.target = other;
    refuse(block(parts, stmt_store(ctx, other, &index, 1, num(1), NULL, span_none())), "buffer 'W' does not match a region of 'A'");
}

static void test_structure(void **state)
{
    (void)state;
    const Stmt *one = set_first(), *empty = stmt_empty(ctx), *pair[] = {set_first(), set_first()};
    const Stmt *nested[] = {stmt_seq(ctx, pair, 2), set_first()};
    accept(empty);
    refuse(stmt_new(ctx, &(Stmt){.kind = STMT_SEQ, .as.seq = {1, &one}}), "a sequence of one statement");
    refuse(stmt_new(ctx, &(Stmt){.kind = STMT_SEQ, .as.seq = {2, nested}}), "a sequence within a sequence");
    refuse(stmt_evaluate(ctx, num(0), (Span){9, 0, 1}), "the place 0..1 of file 9 does not exist");
}

static void test_stages(void **state)
{
    (void)state;
    Var *i = new_var("i");
    ForStmt vectorized = {.var = i, .min = num(0), .extent = num(4), .kind = FOR_VECTORIZED, .body = set_first()};
    accept(stmt_for(ctx, vectorized, span_none()));
    assert_null(problem_at(STAGE_FLAT, stmt_for(ctx, vectorized, span_none())));
    refuse_at(STAGE_VECTORS, stmt_for(ctx, vectorized, span_none()), "loop 'i' is still to be vectorized");
    ForStmt unrolled = {.var = i, .min = num(0), .extent = num(4), .kind = FOR_UNROLLED, .body = set_first()};
    assert_null(problem_at(STAGE_VECTORS, stmt_for(ctx, unrolled, span_none())));
    refuse_at(STAGE_LOWERED, stmt_for(ctx, unrolled, span_none()), "loop 'i' is still to be unrolled");
    ForStmt thread = {.var = i, .min = num(0), .extent = num(4), .kind = FOR_THREAD, .thread = str("threadIdx.x"), .body = set_first()};
    assert_null(problem_at(STAGE_LOWERED, stmt_for(ctx, thread, span_none())));
    refuse_at(STAGE_DEVICE_SPLIT, stmt_for(ctx, thread, span_none()), "loop 'i' is still bound to a thread");
    refuse_at(STAGE_LOWERED, block((BlockStmt){0}, set_first()), "block 'b' is left");
    BlockStmt incomplete = {.reads_inferred = true, .writes_inferred = true, .incomplete = true};
    assert_null(problem_at(STAGE_SURFACE, block(incomplete, set_first())));
    refuse_at(STAGE_SCHEDULED, block(incomplete, set_first()), "the regions of block 'b' are missing");
    BlockStmt initial = {.init = set_first()};
    assert_null(problem_at(STAGE_SCHEDULED, block(initial, set_first())));
    refuse_at(STAGE_INITIALIZED, block(initial, set_first()), "the init of block 'b' is left");
    const Expr *first = num(0);
    Iter iter = {new_var("v"), {num(0), num(4)}, ITER_SPATIAL, span_none()};
    BlockStmt bound = {.iter_count = 1, .iters = &iter, .bindings = &first};
    assert_null(problem_at(STAGE_INITIALIZED, block(bound, set_first())));
    refuse_at(STAGE_OPAQUE, block(bound, set_first()), "the axes of block 'b' are left");
    BlockStmt allocating = {.allocs = &a, .alloc_count = 1};
    refuse_at(STAGE_BARE, block(allocating, stmt_empty(ctx)), "the allocation of block 'b' is left");
    assert_null(problem_at(STAGE_BARE, block((BlockStmt){0}, set_first())));
    assert_null(problem_at(STAGE_LOWERED, set_first()));
    const Expr *shape[] = {num(4), num(4)}, *indices[] = {num(0), num(0)};
    a = buffer_new(ctx, str("A"), DTYPE_FLOAT32, 2, shape, NULL, span_none());
    accept(stmt_store(ctx, a, indices, 2, real(1), NULL, span_none()));
    refuse_at(STAGE_LOWERED, stmt_store(ctx, a, indices, 2, real(1), NULL, span_none()), "buffer 'A' is not flat");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_bindings), TEST(test_buffers), TEST(test_accesses), TEST(test_types), TEST(test_loops),
        TEST(test_blocks), TEST(test_matched_buffers), TEST(test_structure), TEST(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
