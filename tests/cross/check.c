/* Calls the functions of kernels.tir with random arguments and compares with plain C in double; prints the first differences. 0: all agree. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "tirc_rt.h"

enum { MOST_SHOWN = 20 };
static int wrong;

static double unit(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(state >> 11) * 0x1p-52 - 1;
}

static void near(const char *what, double got, double expected, double bound)
{
    if (fabs(got - expected) <= bound * (1 + fabs(expected)) || got == expected)
        return;
    if (wrong++ < MOST_SHOWN)
        printf("%s: %.9g, not %.9g\n", what, got, expected);
}

static void same(const char *what, int64_t got, int64_t expected)
{
    if (got != expected && wrong++ < MOST_SHOWN)
        printf("%s: %lld, not %lld\n", what, (long long)got, (long long)expected);
}

static void fill(float *data, int count, double scale)
{
    for (int i = 0; i < count; i++)
        data[i] = (float)(unit() * scale);
}

/* --- float16 and bfloat16 --- */
static double half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return half >> 15 ? -value : value;
}

/* The bits of VALUE rounded to nearest even. */
static uint16_t half_bits(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    int exponent;
    if (isnan(value))
        return sign | 0x7e00;
    frexp(size, &exponent);
    if (size == 0 || exponent < -13)
        return (uint16_t)(sign | (int)rint(ldexp(size, 24)));
    double significand = rint(ldexp(size, 11 - exponent));
    if (significand == 2048)
        significand = 1024, exponent++;
    return exponent > 16 || isinf(value) ? sign | 0x7c00 : (uint16_t)(sign | (exponent + 14) << 10 | ((int)significand & 1023));
}

static float bfloat_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static void check_half(void)
{
    uint16_t a[37], b[37], c[37], d[37];
    float e[37];
    for (int i = 0; i < 37; i++) {
        a[i] = half_bits(unit());
        b[i] = (uint16_t)(0x3f80 | (i * 37 & 127));
    }
    same("half", half(a, b, c, d, e), 0);
    for (int i = 0; i < 37; i++) {
        double x = half_value(a[i]), y = bfloat_value(b[i]);
        near("float16", half_value(c[i]), x * 2.5, 2e-3);
        near("bfloat16", bfloat_value(d[i]), x + y, 2e-2);
        near("float32 of both", e[i], x + y, 1e-6);
    }
}

static void check_conversions(void)
{
    static uint16_t h[65536], g[65536], r[4096], s[4096];
    static float f[65536];
    static double d[4096];
    for (int i = 0; i < 65536; i++)
        h[i] = (uint16_t)i;
    for (int i = 0; i < 4096; i++) /* values, ties between two of them, and their neighbours, from subnormals to infinity */
        d[i] = half_value((uint16_t)(i * 7 % 31744)) * (1 + (i % 3 ? 0 : unit() * 1e-3)) + (i % 2 ? ldexp(1, -25) : 0);
    d[0] = 65520;
    d[1] = 65519.999999;
    d[2] = 0x1p-25;
    d[3] = 0x1.0000000000001p-25;
    d[4] = 1 + 0x1p-11 + 0x1p-40; /* above the tie, which float32 rounds it to */
    same("convert", convert(h, f, g, d, r, s), 0);
    for (int i = 0; i < 65536; i++) {
        double value = half_value(h[i]);
        if (isnan(value))
            same("NaN", isnan(f[i]) && isnan(half_value(g[i])), 1);
        else
            near("float16 to float32", f[i], value, 0), same("back", g[i], h[i]);
    }
    for (int i = 0; i < 4096; i++) {
        same("float64 to float16", r[i], half_bits(d[i]));
        same("float32 to float16", s[i], half_bits((float)d[i]));
    }
}

/* --- the others --- */
static void check_matmul(int n, int m, int k)
{
    float *a = malloc(sizeof *a * (size_t)(n * k + 1)), *b = malloc(sizeof *b * (size_t)(k * m + 1)), *c = malloc(sizeof *c * (size_t)(n * m + 1));
    fill(a, n * k, 1);
    fill(b, k * m, 1);
    c[n * m] = 77;
    same("matmul", matmul(a, b, c, n, k, m), 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (double)a[i * k + l] * b[l * m + j];
            near("matmul", c[i * m + j], sum, 1e-5);
        }
    near("the element behind", c[n * m], 77, 0);
    free(a);
    free(b);
    free(c);
}

static void check_tensorized(void)
{
    static float a[64 * 48], b[32 * 48], c[64 * 32];
    fill(a, 64 * 48, 1);
    fill(b, 32 * 48, 1);
    same("tensorized", tensorized(a, b, c), 0);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 32; j++) {
            double sum = 0;
            for (int l = 0; l < 48; l++)
                sum += (double)a[i * 48 + l] * b[j * 48 + l];
            near("tensorized", c[i * 32 + j], sum, 1e-5);
        }
}

static void check_math(void)
{
    enum { COUNT = 203 };
    float x[COUNT], e[COUNT], t[COUNT], r[COUNT], l[COUNT];
    double s[COUNT];
    fill(x, COUNT, 10);
    x[0] = 0;
    x[1] = -0.0f;
    x[2] = -80;
    x[COUNT - 1] = INFINITY;
    same("math", math(x, e, t, r, l, s, COUNT), 0);
    for (int i = 0; i < COUNT - 1; i++) {
        near("exp", e[i] / exp(x[i]), 1, 4e-7);
        near("tanh", t[i], tanh(x[i]), 4e-7);
        near("erf", r[i], erf(x[i]), 4e-7);
        near("log", l[i], x[i], 1e-6);
        near("sin", s[i], sin((double)x[i]), 1e-14);
    }
    same("infinity", isinf(e[COUNT - 1]) && t[COUNT - 1] == 1 && r[COUNT - 1] == 1, 1);
}

static void check_dot(void)
{
    static uint8_t a[16 * 64];
    static int8_t b[24 * 64];
    static int32_t c[16 * 24];
    for (int i = 0; i < 16 * 64; i++)
        a[i] = i < 8 ? 255 : (uint8_t)(unit() * 127 + 128);
    for (int i = 0; i < 24 * 64; i++)
        b[i] = i % 64 < 8 ? (i < 64 ? 127 : -128) : (int8_t)(unit() * 127);
    same("dot8", dot8(a, b, c), 0);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 24; j++) {
            int32_t sum = 0;
            for (int k = 0; k < 64; k++)
                sum += a[i * 64 + k] * b[j * 64 + k];
            same("dot8", c[i * 24 + j], sum);
        }
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void check_integers(void)
{
    float a[45] = {NAN, INFINITY, -INFINITY, 3e9f, -3e9f, 1e19f, 2e19f}, f[45];
    int32_t i32[45];
    int8_t i8[45];
    uint64_t u64[45];
    fill(a + 7, 38, 300);
    same("toint", toint(a, i32, i8, u64, f), 0);
    for (int i = 0; i < 45; i++) {
        double value = isnan(a[i]) ? 0 : trunc(a[i]);
        same("int32", i32[i], (int64_t)clamp(value, -2147483648.0, 2147483647.0));
        same("int8", i8[i], (int64_t)clamp(value, -128, 127));
        same("uint64", (int64_t)u64[i], (int64_t)(value >= 0x1p64 ? UINT64_MAX : (uint64_t)clamp(value, 0, 0x1p63 * 1.99)));
        near("back to float32", f[i], (float)i32[i], 0);
    }
}

static void check_gather(void)
{
    float a[100], b[33];
    int32_t indices[33], q[33];
    uint8_t p[33];
    fill(a, 100, 1);
    for (int i = 0; i < 33; i++)
        indices[i] = (int32_t)((unit() + 1) * 49.9);
    same("gather", gather(a, indices, b, q, p), 0);
    for (int i = 0; i < 33; i++) {
        int distance = indices[i] - 50, rest = (distance % 7 + 7) % 7;
        near("gather", b[i], (double)a[indices[i]] + a[i * 3], 1e-6);
        same("division", q[i], (distance - rest) / 7 + rest);
        same("bool", p[i], a[indices[i]] > 0);
    }
}

static void check_transpose(void)
{
    static float a[40 * 24], b[24 * 40];
    fill(a, 40 * 24, 1);
    same("transpose", transpose(a, b), 0);
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 40; j++)
            near("transpose", b[i * 40 + j], a[j * 24 + i], 0);
}

int main(void)
{
    static const int sizes[][3] = {{1, 1, 1}, {0, 3, 2}, {4, 16, 8}, {7, 33, 5}, {17, 50, 23}, {3, 5, 0}};
    for (int i = 0; i < 6; i++)
        check_matmul(sizes[i][0], sizes[i][1], sizes[i][2]);
    same("a negative size", matmul(NULL, NULL, NULL, -1, 1, 1) != 0 && strstr(tirc_last_error(), "n"), 1);
    check_tensorized();
    check_half();
    check_conversions();
    check_math();
    check_dot();
    check_integers();
    check_gather();
    check_transpose();
    if (wrong)
        printf("%d values are wrong\n", wrong);
    return wrong > 0;
}
