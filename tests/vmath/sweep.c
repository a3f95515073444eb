/* Compares the elementary functions that tirc compiles with the C library's in long double: errors in units in the last place against the
   documented bounds, special values, and that vectors of all widths give the bits of the scalar form. Linked with the objects that
   tests/vector-math makes. usage: sweep STRIDE: every STRIDE-th float32 is tried. Prints a line for each function; exits with 1 on a failure. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

enum { COUNT = 65536, FORMS = 4 }; /* the scalar form first */

typedef long double Reference(long double x);
typedef int Narrow(const float *a, float *b);
typedef int Wide(const double *a, double *b);

static long double sigmoidl(long double x) { return 1 / (1 + expl(-x)); }
static long double rsqrtl(long double x) { return 1 / sqrtl(x); }

#define FUNCTIONS(X)                                                                                                                         \
    X(exp, 1.5) X(exp2, 1.5) X(exp10, 1.5) X(log, 1.5) X(log2, 2) X(log10, 2) X(log1p, 2) X(tanh, 3) X(sigmoid, 3) X(erf, 3) X(sin, 2.5)       \
    X(cos, 2.5) X(tan, 3) X(atan, 2.5) X(sqrt, 0.5) X(rsqrt, 1.5)

static const struct {
    const char *name;
    double bound; /* units in the last place */
    Reference *reference;
    Narrow *narrow[FORMS];
    Wide *wide[FORMS];
} functions[] = {
#define X(f, bound) {#f, bound, f##l, {f##_32_1, f##_32_7, f##_32_16, f##_32_48}, {f##_64_1, f##_64_7, f##_64_16, f##_64_48}},
    FUNCTIONS(X)
#undef X
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state * 2685821657736338717u;
}

typedef struct {
    const char *name;
    double worst, worst_at;
    long wrong, differ;
} Tally;

/* One result of a type with DIGITS binary digits and least exponent LEAST against the exact one. */
static void judge(Tally *tally, double x, double got, double nearest, long double exact, int digits, int least)
{
    if (isnan(nearest) || isinf(nearest) || nearest == 0 || (isinf(x) && nearest == 1)) {
        int overflowed = isinf(nearest) && fabs(got) == (digits == 24 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023);
        if (!(isnan(nearest) ? isnan(got) : got == nearest && signbit(got) == signbit(nearest)) && !overflowed && tally->wrong++ < 5)
            printf("%s(%a) is %a, not %a\n", tally->name, x, got, nearest);
        return;
    }
    int exponent;
    frexpl(exact, &exponent);
    double error = fabs((double)((got - exact) / ldexpl(1, (exponent < least ? least : exponent) - digits)));
    if (!(error <= tally->worst))
        tally->worst = error, tally->worst_at = x;
}

static int report(const Tally *tally, const char *type, double bound)
{
    int ok = tally->worst <= bound && !tally->wrong && !tally->differ;
    printf("%-8s %s %6.3f ulp at %a, bound %g%s%s%s\n", tally->name, type, tally->worst, tally->worst_at, bound,
           tally->wrong ? ", wrong special values" : "", tally->differ ? ", forms differ" : "", ok ? "" : "  FAIL");
    return ok;
}

static int sweep_narrow(int number, uint64_t stride)
{
    static float x[COUNT], result[FORMS][COUNT];
    Tally tally = {functions[number].name, 0, 0, 0, 0};
    for (uint64_t first = 0; first < (uint64_t)1 << 32; first += stride * COUNT) {
        for (int i = 0; i < COUNT; i++) {
            uint32_t bits = (uint32_t)(first + stride * (uint64_t)i);
            memcpy(&x[i], &bits, sizeof bits);
        }
        for (int form = 0; form < FORMS; form++)
            functions[number].narrow[form](x, result[form]);
        for (int form = 1; form < FORMS; form++)
            tally.differ += memcmp(result[0], result[form], sizeof result[0]) != 0;
        for (int i = 0; i < COUNT; i++) {
            long double exact = functions[number].reference(x[i]);
            judge(&tally, x[i], result[0][i], (float)exact, exact, 24, -125);
        }
    }
    return report(&tally, "float32", functions[number].bound);
}

static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023,
                                 0x1p20, 1e6, -745.2, 709.9, 0x1p-126, 0x1p-149, 0.75, 1.5, 0x1.fffffffffffffp-1, 0x1.0000000000001p0};

/* All bit patterns, and dense ranges around where functions change. */
static double pick(uint64_t *state, int round)
{
    static const double ranges[] = {0, 1500, 4, 0.125};
    uint64_t bits = next_random(state);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (round % 4)
        x = ((double)(bits >> 11) * 0x1p-52 - 1) * ranges[round % 4] + (round % 8 == 3);
    return x;
}

static int sweep_wide(int number, int rounds)
{
    static double x[COUNT], result[FORMS][COUNT];
    Tally tally = {functions[number].name, 0, 0, 0, 0};
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = pick(&state, round);
        memcpy(x, special, sizeof special);
        for (int form = 0; form < FORMS; form++)
            functions[number].wide[form](x, result[form]);
        for (int form = 1; form < FORMS; form++)
            tally.differ += memcmp(result[0], result[form], sizeof result[0]) != 0;
        for (int i = 0; i < COUNT; i++) {
            long double exact = functions[number].reference(x[i]);
            judge(&tally, x[i], result[0][i], (double)exact, exact, 53, -1021);
        }
    }
    return report(&tally, "float64", functions[number].bound);
}

/* pow: all pairs of special values, and bases and exponents whose results are in range. */
static int sweep_pow(int rounds)
{
    static float x[COUNT], y[COUNT], narrow[FORMS][COUNT];
    static double wide_x[COUNT], wide_y[COUNT], wide[FORMS][COUNT];
    static const double values[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 0x1p-149, 0x1p-1074, -0x1p-1074,
                                    0x1p127, 0x1p1023, 1e300, -1e300, 0x1p24, 0x1p24 + 1, 0x1p53, 0x1p53 - 1, 0.99999999, 1.0000001, 1e-300};
    enum { VALUES = sizeof values / sizeof *values };
    Tally small = {"pow", 0, 0, 0, 0}, large = {"pow", 0, 0, 0, 0};
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < COUNT; i++) {
            double u = (double)(next_random(&state) >> 11) * 0x1p-53, v = (double)(next_random(&state) >> 11) * 0x1p-52 - 1;
            double base = round % 3 == 1 ? exp(u * 80 - 40) : round % 3 == 2 ? 1 + (u - 0.5) * 0.001 : -floor(1 + u * 20);
            double power = round % 3 == 1 ? v * 88 / fabs(log(base)) : round % 3 == 2 ? v * 80000 : floor(v * 30);
            wide_x[i] = round ? base : values[i % VALUES];
            wide_y[i] = round ? power : values[i / VALUES % VALUES];
            x[i] = (float)wide_x[i], y[i] = (float)wide_y[i];
        }
        pow_32_1(x, y, narrow[0]), pow_32_7(x, y, narrow[1]), pow_32_16(x, y, narrow[2]), pow_32_48(x, y, narrow[3]);
        pow_64_1(wide_x, wide_y, wide[0]), pow_64_7(wide_x, wide_y, wide[1]), pow_64_16(wide_x, wide_y, wide[2]), pow_64_48(wide_x, wide_y, wide[3]);
        for (int form = 1; form < FORMS; form++) {
            small.differ += memcmp(narrow[0], narrow[form], sizeof narrow[0]) != 0;
            large.differ += memcmp(wide[0], wide[form], sizeof wide[0]) != 0;
        }
        for (int i = 0; i < COUNT; i++) {
            long double exact = powl(x[i], y[i]);
            judge(&small, x[i], narrow[0][i], (float)exact, exact, 24, -125);
            exact = powl(wide_x[i], wide_y[i]);
            judge(&large, wide_x[i], wide[0][i], (double)exact, exact, 53, -1021);
        }
    }
    int ok = report(&small, "float32", 1);
    return report(&large, "float64", 2) && ok;
}

int main(int argc, char **argv)
{
    uint64_t stride = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = stride > 1000 ? 8 : 80, ok = sweep_pow(rounds);
    for (int i = 0; i < (int)(sizeof functions / sizeof *functions); i++) {
        ok = sweep_narrow(i, stride ? stride : 1) && ok;
        ok = sweep_wide(i, rounds) && ok;
    }
    return !ok;
}
