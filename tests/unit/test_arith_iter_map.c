/* Iterator maps: printed forms, refusals, and brute-force checks of random maps over small loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arith_random.h"
#include "passes/arith/iter_map.h"

enum { MAX_BINDINGS = 6, MAX_ITERS = 4 };

/* A query and the storage of its parts. */
typedef struct {
    Context *ctx;
    TextScope scope;
    Analyzer *an;
    VarRange iters[MAX_ITERS];
    const Expr *bindings[MAX_BINDINGS];
    IterMapQuery query;
} Fixture;

static void fixture_init(Fixture *f)
{
    f->ctx = context_new();
    f->scope = text_scope(f->ctx);
    f->an = analyzer_new(f->ctx);
    f->query = (IterMapQuery){.bindings = f->bindings, .iters = f->iters, .level = ITER_MAP_SURJECTIVE, .simplify_trivial = true};
}

static void fixture_text(Fixture *f, const char *iters, const char *predicate, const char *const *bindings)
{
    fixture_init(f);
    f->query.iter_count = text_ranges(&f->scope, iters, f->iters);
    f->query.predicate = predicate ? text_expr(&f->scope, predicate) : NULL;
    for (; bindings[f->query.binding_count]; f->query.binding_count++)
        f->bindings[f->query.binding_count] = text_expr(&f->scope, bindings[f->query.binding_count]);
}

static void assert_text(Fixture *f, const Expr *found, const char *wanted)
{
    const Expr *expected = text_expr(&f->scope, wanted);
    if (!expr_equal(found, expected) && !(expected->kind == EXPR_INT && expr_is_int(found, expected->value.integer)))
        fail_msg("%s instead of %s", text_of(f->ctx, found), wanted);
}

/* --- Simplified forms --- */

typedef struct {
    const char *iters, *predicate;
    const char *before[MAX_BINDINGS], *after[MAX_BINDINGS];
    bool keep_trivial;
} SimplifyCase;

static void simplified_forms(void **state)
{
    (void)state;
    static const SimplifyCase cases[] = {
        {"i:0:8 j:0:16", NULL, {"(i * 16 + j) // 16", "(i * 16 + j) % 16"}, {"(i * 16 + j) // 16", "(i * 16 + j) % 16"}, false},
        {"i:0:8 j:0:1 k:0:128", NULL, {"i * 128 + (j * 128 + k)"}, {"i * 128 + k"}, false},
        {"i:0:8 j:0:1 k:0:128", NULL, {"i * 128 + (j * 128 + k)"}, {"i * 128 + j * 128 + k"}, true},
        {"x:0:128", NULL, {"x // 16", "x % 16"}, {"x // 16", "x % 16"}, false},
        {"x:0:24", NULL, {"x // 3 % 2"}, {"x % 6 // 3"}, false},
        {"x:0:8", NULL, {"x // 8", "x % 8"}, {"0", "x"}, false},
        {"x:0:8 y:0:3", NULL, {"x * 2 + y"}, {"x * 2 + y"}, false},
        {"j:0:16 i:0:8", NULL, {"j + i * 16"}, {"i * 16 + j"}, false},
        {"i:0:8 j:0:16",
         "i * 16 + j < 100",
         {"(i * 16 + j) // 10", "(i * 16 + j) % 10"},
         {"(i * 16 + j) // 10", "(i * 16 + j) % 10"},
         false},
        {"x:0:8", NULL, {"7 - x"}, {"x * -1 + 7"}, false},
        {"x:2:8", NULL, {"x"}, {"x - 2 + 2"}, false},
        {"x:0:m y:0:n", NULL, {"x * n + y"}, {"x * n + y"}, false},
        {"x:0:8 y:0:3", NULL, {"x * y"}, {"x * y"}, false},
        {"x:0:24", NULL, {"x // 3", "x // 4"}, {"x // 3", "x // 4"}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture f;
        fixture_text(&f, cases[i].iters, cases[i].predicate, cases[i].before);
        f.query.simplify_trivial = !cases[i].keep_trivial;
        const Expr **result = iter_map_simplify(f.an, &f.query);
        for (int k = 0; k < f.query.binding_count; k++)
            assert_text(&f, result[k], cases[i].after[k]);
        context_free(f.ctx);
    }
}

/* --- Detection by level --- */

typedef struct {
    const char *iters, *predicate;
    const char *bindings[MAX_BINDINGS];
    bool bijective, surjective;
} LevelCase;

static void levels_of_detection(void **state)
{
    (void)state;
    static const LevelCase cases[] = {
        {"i:0:8 j:0:16", NULL, {"i", "j"}, true, true},
        {"i:0:8 j:0:16", NULL, {"j"}, false, true},
        {"i:0:8 j:0:16", NULL, {"i * 16 + j"}, true, true},
        {"i:0:8 j:0:16", NULL, {"i * 8 + j"}, false, true},
        {"i:0:8 j:0:16", NULL, {"i * 17 + j"}, false, false},
        {"i:0:8", NULL, {"i", "i"}, false, false},
        {"i:0:64", NULL, {"i // 4", "i % 4"}, true, true},
        {"i:0:64", NULL, {"i // 16", "i % 4"}, false, true},
        {"i:0:64", NULL, {"i // 3"}, false, true},
        {"i:0:64", NULL, {"i // 3", "i % 3"}, false, false},
        {"i:0:6", NULL, {"i % 16"}, false, false},
        {"i:0:8 j:0:16", "i * 16 + j < 100", {"i * 16 + j"}, true, true},
        {"i:0:8 j:0:16", "i * 16 + j < 100 and i * 16 + j >= 4", {"i * 16 + j"}, true, true},
        {"i:0:8 j:0:16", "i + j < 10", {"i", "j"}, false, false},
        {"i:0:8 j:0:16", "i == 3", {"i", "j"}, false, false},
        {"i:0:8 j:0:i", NULL, {"i", "j"}, false, false},
        {"i:0:n j:0:16", NULL, {"i * 16 + j"}, true, true},
        {"i:0:8", NULL, {"T.min(i, 3)"}, false, false},
        {"i:0:8", NULL, {"i // 0"}, false, false},
        {"i:0:8", NULL, {"n"}, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture f;
        IterMapResult result;
        fixture_text(&f, cases[i].iters, cases[i].predicate, cases[i].bindings);
        bool surjective = iter_map_detect(f.an, &f.query, &result);
        assert_true(surjective == (result.error == NULL));
        f.query.level = ITER_MAP_BIJECTIVE;
        bool bijective = iter_map_detect(f.an, &f.query, &result);
        if (surjective != cases[i].surjective || bijective != cases[i].bijective)
            fail_msg("%s over %s: surjective %d, bijective %d", cases[i].bindings[0], cases[i].iters, surjective, bijective);
        context_free(f.ctx);
    }
}

/* --- Division by a subspace --- */

typedef struct {
    const char *iters, *predicate, *sub_iters;
    const char *bindings[MAX_BINDINGS];
    const char *parts[MAX_BINDINGS][4]; /* outer, its extent, inner, its extent; none when the bindings do not divide */
    const char *outer_predicate, *inner_predicate;
} DivideCase;

static void divisions(void **state)
{
    (void)state;
    static const DivideCase cases[] = {
        {"z:0:4 y:0:3 x:0:3", NULL, "x", {"z * 9 + y * 3 + x"}, {{"z * 3 + y", "12", "x", "3"}}, NULL, NULL},
        {"i:0:8 j:0:16 k:0:4 l:0:16", NULL, "kl", {"i * 4 + k", "j * 16 + l"}, {{"i", "8", "k", "4"}, {"j", "16", "l", "16"}}, NULL, NULL},
        {"i:0:8 j:0:16", NULL, "ij", {"i", "j"}, {{"0", "1", "i", "8"}, {"0", "1", "j", "16"}}, NULL, NULL},
        {"i:0:8 j:0:16", NULL, "j", {"i + 3", "j + 5"}, {{"i", "8", "3", "1"}, {"0", "1", "j + 5", "16"}}, NULL, NULL},
        {"i:0:8 j:0:16", "i * 16 + j < 100", "ij", {"i * 16 + j"}, {{"0", "1", "i * 16 + j", "100"}}, NULL, "i * 16 + j < 100"},
        {"i:0:8 j:0:16", "i * 16 + j < 100", "j", {"i * 16 + j"}, {{NULL}}, NULL, NULL},
        {"i:0:8 j:0:16", "j < 10", "j", {"i", "j"}, {{"i", "8", "0", "1"}, {"0", "1", "j", "10"}}, NULL, "j < 10"},
        {"i:0:8 j:0:16", NULL, "i", {"i * 16 + j"}, {{NULL}}, NULL, NULL},
        {"i:0:16", NULL, "i", {"i // 3"}, {{NULL}}, NULL, NULL},
        {"i:0:4 j:0:6", NULL, "j", {"(i * 6 + j) // 3", "(i * 6 + j) % 3"},
         {{"i", "4", "j // 3", "2"}, {"0", "1", "j % 3", "3"}}, NULL, NULL},
        {"i:0:4 j:0:6", NULL, "j", {"(i * 6 + j) // 4", "(i * 6 + j) % 4"}, {{NULL}}, NULL, NULL},
        {"i:0:4 j:0:6", NULL, "j", {"(i * 6 + j) // 6", "(i * 6 + j) % 6 // 3", "(i * 6 + j) % 3"},
         {{"i", "4", "0", "1"}, {"0", "1", "j // 3", "2"}, {"0", "1", "j % 3", "3"}}, NULL, NULL},
        {"i:0:n j:0:16", NULL, "j", {"i * 16 + j"}, {{"i", "n", "j", "16"}}, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture f;
        fixture_text(&f, cases[i].iters, cases[i].predicate, cases[i].bindings);
        const Var *sub[MAX_ITERS];
        int count = 0;
        for (const char *letter = cases[i].sub_iters; *letter; letter++)
            sub[count++] = text_var(&f.scope, *letter);
        SubspaceDivision division;
        bool divides = iter_map_divide_subspace(f.an, &f.query, sub, count, &division), expected = cases[i].parts[0][0] != NULL;
        if (divides != expected)
            fail_msg("case %d divides: %d", (int)i, divides);
        for (int k = 0; divides && k < f.query.binding_count; k++) {
            assert_text(&f, division.bindings[k].outer, cases[i].parts[k][0]);
            assert_text(&f, division.bindings[k].outer_extent, cases[i].parts[k][1]);
            assert_text(&f, division.bindings[k].inner, cases[i].parts[k][2]);
            assert_text(&f, division.bindings[k].inner_extent, cases[i].parts[k][3]);
        }
        if (divides) {
            assert_text(&f, division.outer_predicate, cases[i].outer_predicate ? cases[i].outer_predicate : "T.bool(True)");
            assert_text(&f, division.inner_predicate, cases[i].inner_predicate ? cases[i].inner_predicate : "T.bool(True)");
        }
        context_free(f.ctx);
    }
}

static void normalized_sums_come_by_scale(void **state)
{
    (void)state;
    Fixture f;
    static const char *const none[] = {NULL};
    fixture_text(&f, "i:0:8 j:0:16", NULL, none);
    const IterSum *sum = iter_map_normalize_sum(f.an, text_expr(&f.scope, "j + i * 32 + n"), f.iters, f.query.iter_count);
    assert_int_equal(sum->count, 2);
    assert_true(expr_is_int(sum->args[0].scale, 32));
    assert_text(&f, sum->base, "n");
    const Expr *product = text_expr(&f.scope, "i * j");
    sum = iter_map_normalize_sum(f.an, product, f.iters, f.query.iter_count);
    assert_int_equal(sum->count, 0);
    assert_ptr_equal(sum->base, product);
    context_free(f.ctx);
}

/* --- Random maps, checked point by point --- */

/* Mixed-radix sum of the iterators FIRST up to LAST, innermost last; now and then with a wrong scale. */
static const Expr *random_fused(Fixture *f, Random *random, int first, int last)
{
    const Expr *sum = NULL;
    int64_t scale = 1;
    for (int i = last - 1; i >= first; i--) {
        const Expr *term = op_mul_int(f->ctx, expr_var(f->ctx, f->iters[i].var), scale);
        sum = !sum ? term : random_below(random, 2) ? op_add(f->ctx, term, sum) : op_add(f->ctx, sum, term);
        scale *= f->iters[i].range.extent->value.integer;
        if (random_below(random, 12) == 0)
            scale += random_below(random, 3) - 1 > 0 ? 1 : scale > 1 ? -1 : 0;
    }
    return sum;
}

static void add_binding(Fixture *f, const Expr *binding)
{
    if (f->query.binding_count < MAX_BINDINGS)
        f->bindings[f->query.binding_count++] = binding;
}

static void add_random_bindings(Fixture *f, Random *random, const Expr *fused)
{
    static const int factors[] = {2, 2, 3, 4, 4, 5, 8};
    const Expr *by = expr_int(f->ctx, DTYPE_INT32, RANDOM_OF(random, factors));
    if (random_below(random, 6) == 0)
        fused = op_add_int(f->ctx, fused, random_below(random, 4) - 1);
    switch (random_below(random, 6)) {
    case 0:
    case 1: add_binding(f, fused); break;
    case 2: add_binding(f, op_mul(f->ctx, fused, by)); break;
    case 3: add_binding(f, op_sub(f->ctx, by, fused)); break;
    default:
        add_binding(f, op_floordiv(f->ctx, fused, by));
        if (random_below(random, 5))
            add_binding(f, op_floormod(f->ctx, fused, by));
        break;
    }
}

static void add_random_predicate(Fixture *f, Random *random, const Expr *fused)
{
    int bound = random_below(random, 12) + 1;
    bool below = random_below(random, 4) != 0;
    const Expr *limit = expr_int(f->ctx, DTYPE_INT32, below ? bound * 2 : bound / 3);
    const Expr *condition = expr_binary(f->ctx, below ? EXPR_LT : EXPR_GE, fused, limit);
    f->query.predicate = f->query.predicate ? expr_binary(f->ctx, EXPR_AND, f->query.predicate, condition) : condition;
}

static void random_map(Fixture *f, Random *random)
{
    static const int extents[] = {1, 2, 2, 3, 4, 5, 6, 8};
    fixture_init(f);
    f->query.iter_count = 1 + random_below(random, 3);
    for (int i = 0; i < f->query.iter_count; i++) {
        Range range = {expr_int(f->ctx, DTYPE_INT32, random_below(random, 8) ? 0 : random_below(random, 3) - 1),
                       expr_int(f->ctx, DTYPE_INT32, RANDOM_OF(random, extents))};
        f->iters[i] = (VarRange){text_var(&f->scope, (char)('i' + i)), range};
    }
    for (int first = 0; first < f->query.iter_count;) {
        int last = first + 1 + random_below(random, f->query.iter_count - first);
        const Expr *fused = random_fused(f, random, first, last);
        if (random_below(random, 3) == 0)
            add_random_predicate(f, random, fused);
        add_random_bindings(f, random, fused);
        first = last;
    }
    f->query.level = (IterMapLevel)random_below(random, 3);
    f->query.simplify_trivial = random_below(random, 3) != 0;
}

/* Sets ENV to point NUMBER of the iteration space; false beyond the last. */
static bool point_at(const Fixture *f, int number, Assignment *env)
{
    for (int i = f->query.iter_count - 1; i >= 0; i--) {
        int extent = (int)f->iters[i].range.extent->value.integer;
        env->values[(int)f->iters[i].var->name[0]] = f->iters[i].range.min->value.integer + number % extent;
        number /= extent;
    }
    return number == 0;
}

static bool predicate_holds(const Fixture *f, const Assignment *env)
{
    int64_t value = 1;
    return !f->query.predicate || (text_value(f->query.predicate, env, &value) && value);
}

static int64_t must_have_value(const Fixture *f, const Expr *expr, const Assignment *env)
{
    int64_t value = 0;
    if (!text_value(expr, env, &value))
        fail_msg("%s has no value", text_of(f->ctx, expr));
    return value;
}

static void check_simplified(Fixture *f)
{
    const Expr **simple = iter_map_simplify(f->an, &f->query);
    Assignment env = {0};
    for (int n = 0; point_at(f, n, &env); n++)
        for (int i = 0; predicate_holds(f, &env) && i < f->query.binding_count; i++)
            if (must_have_value(f, simple[i], &env) != must_have_value(f, f->bindings[i], &env))
                fail_msg("%s is not %s", text_of(f->ctx, simple[i]), text_of(f->ctx, f->bindings[i]));
}

/* The place of the point's values in the box of RESULT; fails when they are outside of it. */
static int64_t place_in_box(const Fixture *f, const IterMapResult *result, const Assignment *env)
{
    int64_t place = 0;
    for (int i = 0; i < result->count; i++) {
        const IterSum *sum = result->sums[i];
        int64_t value = must_have_value(f, f->bindings[i], env), base = must_have_value(f, sum->base, env);
        if (sum->count == 0) {
            if (value != base)
                fail_msg("%s is not constant", text_of(f->ctx, f->bindings[i]));
            continue;
        }
        int64_t scale = must_have_value(f, sum->args[0].scale, env), extent = must_have_value(f, sum->args[0].extent, env);
        int64_t step = (value - base) / scale;
        if (step * scale != value - base || step < 0 || step >= extent)
            fail_msg("%s = %d is outside of %d + %d * [0, %d)", text_of(f->ctx, f->bindings[i]), (int)value, (int)base, (int)scale,
                     (int)extent);
        place = place * extent + step;
    }
    return place;
}

static int64_t box_size(const Fixture *f, const IterMapResult *result)
{
    Assignment env = {0};
    int64_t size = 1;
    for (int i = 0; i < result->count; i++)
        if (result->sums[i]->count)
            size *= must_have_value(f, result->sums[i]->args[0].extent, &env);
    return size;
}

static void check_detected(Fixture *f, const IterMapResult *result)
{
    enum { MAX_BOX = 4096 };
    static bool hit[MAX_BOX];
    int64_t size = box_size(f, result), points = 0, hits = 0;
    if (size <= 0 || size > MAX_BOX)
        return;
    memset(hit, 0, sizeof hit);
    Assignment env = {0};
    for (int n = 0; point_at(f, n, &env); n++) {
        if (!predicate_holds(f, &env))
            continue;
        int64_t place = place_in_box(f, result, &env);
        points++;
        hits += !hit[place];
        hit[place] = true;
    }
    if (points == 0)
        return;
    if (f->query.level != ITER_MAP_NO_CHECK && hits != size)
        fail_msg("%s...: %d of %d values", text_of(f->ctx, f->bindings[0]), (int)hits, (int)size);
    if (f->query.level == ITER_MAP_BIJECTIVE && points != size)
        fail_msg("%s...: %d points for %d values", text_of(f->ctx, f->bindings[0]), (int)points, (int)size);
}

static void check_inverse(Fixture *f, const IterMapResult *result)
{
    const Expr *outputs[MAX_BINDINGS];
    for (int i = 0; i < result->count; i++) {
        if (result->sums[i]->count && !expr_is_int(result->sums[i]->args[0].scale, 1) && !expr_is_int(result->sums[i]->args[0].scale, -1))
            return;
        outputs[i] = expr_var(f->ctx, text_var(&f->scope, (char)('a' + i)));
    }
    Map inverse = iter_map_invert(f->an, result, outputs);
    Assignment env = {0};
    for (int n = 0; point_at(f, n, &env); n++) {
        if (!predicate_holds(f, &env))
            continue;
        for (int i = 0; i < result->count; i++)
            env.values['a' + i] = must_have_value(f, f->bindings[i], &env);
        for (int i = 0; i < f->query.iter_count; i++) {
            const Expr *value = map_get(&inverse, f->iters[i].var);
            if (value && must_have_value(f, value, &env) != env.values[(int)f->iters[i].var->name[0]])
                fail_msg("the inverse %s of %s... is wrong", text_of(f->ctx, value), text_of(f->ctx, f->bindings[0]));
        }
    }
}

static bool uses_only(const Fixture *f, const Expr *expr, const Var *const *vars, int count, bool those)
{
    for (int i = 0; i < f->query.iter_count; i++) {
        bool listed = false;
        for (int k = 0; k < count; k++)
            listed |= vars[k] == f->iters[i].var;
        if (listed != those && expr_uses_var(expr, f->iters[i].var) && !expr_is_int(f->iters[i].range.extent, 1))
            return false;
    }
    return true;
}

static void check_division_at(Fixture *f, const SubspaceDivision *division, const Assignment *env)
{
    bool holds = must_have_value(f, division->outer_predicate, env) && must_have_value(f, division->inner_predicate, env);
    if (holds != predicate_holds(f, env))
        fail_msg("the predicate %s became %s and %s", f->query.predicate ? text_of(f->ctx, f->query.predicate) : "True",
                 text_of(f->ctx, division->outer_predicate), text_of(f->ctx, division->inner_predicate));
    for (int i = 0; holds && i < division->count; i++) {
        const DividedBinding *part = &division->bindings[i];
        int64_t outer = must_have_value(f, part->outer, env), extent = must_have_value(f, part->inner_extent, env);
        if (outer * extent + must_have_value(f, part->inner, env) != must_have_value(f, f->bindings[i], env))
            fail_msg("%s * %d + %s is not %s", text_of(f->ctx, part->outer), (int)extent, text_of(f->ctx, part->inner),
                     text_of(f->ctx, f->bindings[i]));
        if (outer < 0 || outer >= must_have_value(f, part->outer_extent, env))
            fail_msg("%s leaves its extent", text_of(f->ctx, part->outer));
    }
}

static int check_division(Fixture *f, Random *random)
{
    const Var *sub[MAX_ITERS];
    int count = 0;
    for (int i = random_below(random, f->query.iter_count + 1); i < f->query.iter_count; i++)
        sub[count++] = f->iters[i].var;
    SubspaceDivision division;
    if (!iter_map_divide_subspace(f->an, &f->query, sub, count, &division))
        return 0;
    for (int i = 0; i < division.count; i++)
        if (!uses_only(f, division.bindings[i].outer, sub, count, false) || !uses_only(f, division.bindings[i].inner, sub, count, true))
            fail_msg("%s and %s mix the spaces", text_of(f->ctx, division.bindings[i].outer), text_of(f->ctx, division.bindings[i].inner));
    Assignment env = {0};
    for (int n = 0; point_at(f, n, &env); n++)
        check_division_at(f, &division, &env);
    return 1;
}

static void random_maps_hold_point_by_point(void **state)
{
    (void)state;
    Random random = {2024};
    int detected = 0, divided = 0;
    for (int i = 0; i < 4000; i++) {
        Fixture f;
        random_map(&f, &random);
        if (i % 2)
            analyzer_bind_ranges(f.an, f.iters, f.query.iter_count);
        IterMapResult result;
        check_simplified(&f);
        if (iter_map_detect(f.an, &f.query, &result)) {
            detected++;
            check_detected(&f, &result);
            if (f.query.level == ITER_MAP_BIJECTIVE)
                check_inverse(&f, &result);
        }
        divided += check_division(&f, &random);
        context_free(f.ctx);
    }
    assert_true(detected > 1000 && divided > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simplified_forms),
        cmocka_unit_test(levels_of_detection),
        cmocka_unit_test(divisions),
        cmocka_unit_test(normalized_sums_come_by_scale),
        cmocka_unit_test(random_maps_hold_point_by_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
