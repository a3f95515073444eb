/* For the tests of passes/arith: random expressions over ranged variables, from a fixed seed. */
#ifndef TIRC_TESTS_ARITH_RANDOM_H
#define TIRC_TESTS_ARITH_RANDOM_H

#include "arith_text.h"

typedef struct {
    uint64_t state;
} Random;

/* A number in [0, LIMIT). */
static inline int random_below(Random *random, int limit)
{
    random->state = random->state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((random->state >> 33) % (uint64_t)limit);
}

static inline int random_of(Random *random, const int *values, int count)
{
    return values[random_below(random, count)];
}
#define RANDOM_OF(random, values) random_of((random), (values), (int)(sizeof(values) / sizeof *(values)))

typedef struct {
    TextScope *scope;
    Random *random;
    const char *letters; /* of the variables to use, all of one type */
    bool truncates;      /* use truncating division too */
} Generator;

static inline const Expr *random_bool(Generator *g, int depth);

static inline const Expr *random_leaf(Generator *g)
{
    static const int constants[] = {-8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
    DType dtype = text_var(g->scope, g->letters[0])->dtype;
    if (random_below(g->random, 4) == 0)
        return expr_int(g->scope->ctx, dtype, RANDOM_OF(g->random, constants));
    return expr_var(g->scope->ctx, text_var(g->scope, g->letters[random_below(g->random, (int)strlen(g->letters))]));
}

static inline const Expr *random_divisor(Generator *g, DType dtype)
{
    static const int divisors[] = {2, 3, 4, 5, 6, 8, 16, -2, -3, -4};
    return expr_int(g->scope->ctx, dtype, RANDOM_OF(g->random, divisors));
}

static inline const Expr *random_int(Generator *g, int depth)
{
    static const int kinds[] = {EXPR_ADD, EXPR_ADD, EXPR_ADD,      EXPR_SUB,      EXPR_SUB,      EXPR_MUL,      EXPR_MUL,
                                EXPR_MIN, EXPR_MAX, EXPR_FLOORDIV, EXPR_FLOORDIV, EXPR_FLOORMOD, EXPR_FLOORMOD, EXPR_SELECT};
    Context *ctx = g->scope->ctx;
    if (depth == 0 || random_below(g->random, 8) == 0)
        return random_leaf(g);
    int kind = RANDOM_OF(g->random, kinds);
    const Expr *a = random_int(g, depth - 1);
    if (kind == EXPR_SELECT)
        return random_below(g->random, 3) ? a : expr_select(ctx, random_bool(g, 1), a, random_int(g, depth - 1));
    bool division = kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD;
    if (division && g->truncates && random_below(g->random, 2))
        kind = kind == EXPR_FLOORDIV ? EXPR_DIV : EXPR_MOD;
    bool constant = division ? random_below(g->random, 6) != 0 : kind == EXPR_MUL && random_below(g->random, 5) != 0;
    return expr_binary(ctx, (ExprKind)kind, a, constant ? random_divisor(g, a->dtype) : random_int(g, depth - 1));
}

static inline const Expr *random_bool(Generator *g, int depth)
{
    static const int comparisons[] = {EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE};
    Context *ctx = g->scope->ctx;
    int choice = depth <= 1 ? 0 : random_below(g->random, 4);
    if (choice == 1)
        return expr_binary(ctx, EXPR_AND, random_bool(g, depth - 1), random_bool(g, depth - 1));
    if (choice == 2)
        return expr_binary(ctx, EXPR_OR, random_bool(g, depth - 1), random_bool(g, depth - 1));
    if (choice == 3)
        return expr_not(ctx, random_bool(g, depth - 1));
    return expr_binary(ctx, (ExprKind)RANDOM_OF(g->random, comparisons), random_int(g, 2), random_int(g, 2));
}

/* A range for each letter: mostly from 0, some of them unknown (then EXTENT 0; values are drawn from both signs). */
typedef struct {
    int64_t min, extent;
} SmallRange;

static inline void random_ranges(Generator *g, SmallRange *ranges)
{
    static const int extents[] = {0, 1, 2, 3, 4, 5, 7, 8, 16}, mins[] = {0, 0, 0, 0, 1, -3, 2};
    for (size_t i = 0; i < strlen(g->letters); i++)
        ranges[i] = (SmallRange){RANDOM_OF(g->random, mins), RANDOM_OF(g->random, extents)};
}

static inline void bind_small_ranges(Analyzer *an, Generator *g, const SmallRange *ranges)
{
    for (size_t i = 0; i < strlen(g->letters); i++) {
        Var *var = text_var(g->scope, g->letters[i]);
        Range range = {expr_int(g->scope->ctx, var->dtype, ranges[i].min), expr_int(g->scope->ctx, var->dtype, ranges[i].extent)};
        if (ranges[i].extent)
            analyzer_bind_range(an, var, range);
    }
}

static inline void random_assignment(Generator *g, const SmallRange *ranges, Assignment *env)
{
    for (size_t i = 0; i < strlen(g->letters); i++) {
        int64_t value =
            ranges[i].extent ? ranges[i].min + random_below(g->random, (int)ranges[i].extent) : random_below(g->random, 41) - 20;
        env->values[(int)g->letters[i]] = value;
    }
}

#endif
