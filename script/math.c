/* The module `math` of Python in scripts. */
#include "script/exception.h"
#include "script/sequence.h"
#include "script/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { OF_REAL, OF_TWO, WHOLE, OF_INTS, TO_BOOL, OTHER } MathKind;

typedef struct {
    const char *name;
    MathKind kind;
    double (*one)(double);
    double (*two)(double, double);
    bool (*run)(Script *script, const Arguments *arguments, Value *result);
    int fewest, most;
} MathFunction;

static bool domain_error(Script *script, Span span)
{
    return script_raise(script, span, EXCEPTION_ValueError, "math domain error");
}

static bool real_argument(Script *script, const Arguments *arguments, int index, double *result)
{
    Value value = arguments->positional[index];
    if (!script_is_number(value))
        return script_raise(script, value.span, EXCEPTION_TypeError, "a number is needed here, not %s", script_type_phrase(script, value));
    *result = value.kind == VALUE_FLOAT ? value.as.real : value.kind == VALUE_INT ? (double)value.as.integer : value.as.boolean;
    return true;
}

static bool int_argument(Script *script, const Arguments *arguments, int index, int64_t *result)
{
    Value value = arguments->positional[index];
    if (value.kind != VALUE_INT && value.kind != VALUE_BOOL)
        return script_raise(script, value.span, EXCEPTION_TypeError, "an int is needed here, not %s", script_type_phrase(script, value));
    *result = value.kind == VALUE_INT ? value.as.integer : value.as.boolean;
    return true;
}

/* What CPython makes of a result: a NaN of numbers is out of the domain, an infinity of finite ones too large. */
static bool real_result(Script *script, const Arguments *arguments, double value, bool pole, bool any_nan, bool any_infinite, Value *result)
{
    if (isnan(value) && !any_nan)
        return domain_error(script, arguments->span);
    if (isinf(value) && !any_nan && !any_infinite)
        return pole ? domain_error(script, arguments->span) : script_raise(script, arguments->span, EXCEPTION_OverflowError, "math range error");
    *result = (Value){.kind = VALUE_FLOAT, .as.real = value};
    return true;
}

static bool call_real(Script *script, const MathFunction *function, const Arguments *arguments, Value *result)
{
    double a, b = 0;
    bool two = function->kind == OF_TWO;
    if (!real_argument(script, arguments, 0, &a) || (two && !real_argument(script, arguments, 1, &b)))
        return false;
    bool pole = !strncmp(function->name, "log", 3) || !strcmp(function->name, "atanh") || (!strcmp(function->name, "pow") && a == 0);
    return real_result(script, arguments, two ? function->two(a, b) : function->one(a), pole, isnan(a) || isnan(b), isinf(a) || isinf(b), result);
}

/* floor, ceil, trunc. */
static bool call_whole(Script *script, const MathFunction *function, const Arguments *arguments, Value *result)
{
    double value;
    Value given = arguments->positional[0];
    if (given.kind == VALUE_INT || given.kind == VALUE_BOOL) {
        *result = (Value){.kind = VALUE_INT, .as.integer = given.kind == VALUE_INT ? given.as.integer : given.as.boolean};
        return true;
    }
    if (!real_argument(script, arguments, 0, &value))
        return false;
    if (isnan(value) || isinf(value))
        return script_raise(script, arguments->span, isnan(value) ? EXCEPTION_ValueError : EXCEPTION_OverflowError,
                            "cannot convert float %s to integer", isnan(value) ? "NaN" : "infinity");
    value = function->one(value);
    if (!(fabs(value) < 9223372036854775808.0))
        return script_error(script, arguments->span, "the result does not fit in 64 bits");
    *result = (Value){.kind = VALUE_INT, .as.integer = (int64_t)value};
    return true;
}

static bool call_question(Script *script, const MathFunction *function, const Arguments *arguments, Value *result)
{
    double value;
    *result = (Value){.kind = VALUE_BOOL};
    result->as.boolean = real_argument(script, arguments, 0, &value) && function->one(value) != 0;
    return script_is_number(arguments->positional[0]);
}

static bool too_large(Script *script, const Arguments *arguments)
{
    return script_error(script, arguments->span, "the result does not fit in 64 bits");
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool math_gcd(Script *script, const Arguments *arguments, Value *result)
{
    uint64_t all = 0;
    for (int i = 0; i < arguments->positional_count; i++) {
        int64_t value;
        if (!int_argument(script, arguments, i, &value))
            return false;
        all = divisor(all, value < 0 ? -(uint64_t)value : (uint64_t)value);
    }
    *result = (Value){.kind = VALUE_INT, .as.integer = (int64_t)all};
    return all <= INT64_MAX || too_large(script, arguments);
}

static bool math_lcm(Script *script, const Arguments *arguments, Value *result)
{
    int64_t all = 1, value;
    for (int i = 0; i < arguments->positional_count; i++) {
        if (!int_argument(script, arguments, i, &value))
            return false;
        if (value == INT64_MIN)
            return too_large(script, arguments);
        value = llabs(value);
        uint64_t shared = divisor((uint64_t)all, (uint64_t)value);
        if (shared && __builtin_mul_overflow(all / (int64_t)shared, value, &all))
            return too_large(script, arguments);
        all = shared ? all : 0;
    }
    *result = (Value){.kind = VALUE_INT, .as.integer = all};
    return true;
}

static bool math_factorial(Script *script, const Arguments *arguments, Value *result)
{
    int64_t value, product = 1;
    if (!int_argument(script, arguments, 0, &value))
        return false;
    if (value < 0)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "factorial() not defined for negative values");
    for (int64_t i = 2; i <= value; i++)
        if (__builtin_mul_overflow(product, i, &product))
            return too_large(script, arguments);
    *result = (Value){.kind = VALUE_INT, .as.integer = product};
    return true;
}

static bool math_isqrt(Script *script, const Arguments *arguments, Value *result)
{
    int64_t value;
    if (!int_argument(script, arguments, 0, &value))
        return false;
    if (value < 0)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "isqrt() argument must be nonnegative");
    int64_t root = (int64_t)sqrt((double)value);
    while (root > 0 && root > value / root)
        root--;
    while (root + 1 <= value / (root + 1))
        root++;
    *result = (Value){.kind = VALUE_INT, .as.integer = root};
    return true;
}

/* The ways to choose COUNT of ALL, or (ORDERED) to line them up. */
static bool choices(Script *script, const Arguments *arguments, bool ordered, Value *result)
{
    int64_t all, count = -1;
    if (!int_argument(script, arguments, 0, &all) || (arguments->positional_count > 1 && !int_argument(script, arguments, 1, &count)))
        return false;
    if (arguments->positional_count < 2)
        count = all;
    if (all < 0 || count < 0)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "%s must be a non-negative integer", all < 0 ? "n" : "k");
    *result = (Value){.kind = VALUE_INT};
    if (count > all)
        return true;
    if (!ordered && count > all - count)
        count = all - count;
    __int128 product = 1;
    for (int64_t i = 0; i < count; i++) {
        product = product * (all - i) / (ordered ? 1 : i + 1);
        if (product > INT64_MAX)
            return too_large(script, arguments);
    }
    result->as.integer = (int64_t)product;
    return true;
}

static bool math_comb(Script *script, const Arguments *arguments, Value *result)
{
    return choices(script, arguments, false, result);
}

static bool math_perm(Script *script, const Arguments *arguments, Value *result)
{
    return choices(script, arguments, true, result);
}

static bool math_log(Script *script, const Arguments *arguments, Value *result)
{
    double value, base = 1;
    if (!real_argument(script, arguments, 0, &value) || (arguments->positional_count > 1 && !real_argument(script, arguments, 1, &base)))
        return false;
    bool given = arguments->positional_count > 1;
    if (value <= 0 || (given && base <= 0))
        return domain_error(script, arguments->span);
    if (given && log(base) == 0)
        return script_raise(script, arguments->span, EXCEPTION_ZeroDivisionError, "float division by zero");
    *result = (Value){.kind = VALUE_FLOAT, .as.real = given ? log(value) / log(base) : log(value)};
    return true;
}

static bool math_isclose(Script *script, const Arguments *arguments, Value *result)
{
    static const char *const names[] = {"rel_tol", "abs_tol"};
    double a, b, limits[2] = {1e-9, 0};
    if (!real_argument(script, arguments, 0, &a) || !real_argument(script, arguments, 1, &b) ||
        !script_check_keywords(script, "isclose", arguments, 2, names, 2))
        return false;
    for (int i = 0; i < 2; i++) {
        const Value *given = script_keyword(arguments, names[i]);
        Arguments one = {.positional = (Value *)given, .positional_count = 1};
        if (given && !real_argument(script, &one, 0, &limits[i]))
            return false;
    }
    if (limits[0] < 0 || limits[1] < 0)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "tolerances must be non-negative");
    double difference = fabs(b - a);
    bool close = a == b || (!isinf(a) && !isinf(b) && (difference <= fabs(limits[0] * b) || difference <= fabs(limits[0] * a) || difference <= limits[1]));
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = close};
    return true;
}

static bool math_prod(Script *script, const Arguments *arguments, Value *result)
{
    static const char *const names[] = {"start"};
    if (!script_check_keywords(script, "prod", arguments, 1, names, 1))
        return false;
    const Value *start = script_keyword(arguments, "start");
    const ValueList *items = script_items(script, arguments->positional[0], arguments->span, "a list is needed here, not %s");
    *result = start ? *start : (Value){.kind = VALUE_INT, .as.integer = 1};
    for (int i = 0; items && i < items->count; i++)
        if (!script_binary(script, AST_OP_MUL, *result, items->items[i], arguments->span, result))
            return false;
    return items != NULL;
}

static bool math_hypot(Script *script, const Arguments *arguments, Value *result)
{
    double length = 0;
    bool nan = false, infinite = false;
    for (int i = 0; i < arguments->positional_count; i++) {
        double value;
        if (!real_argument(script, arguments, i, &value))
            return false;
        nan |= isnan(value);
        infinite |= isinf(value);
        length = hypot(length, value);
    }
    *result = (Value){.kind = VALUE_FLOAT, .as.real = infinite ? (double)INFINITY : nan ? (double)NAN : length};
    return true;
}

static double ask_nan(double value) { return isnan(value); }
static double ask_infinite(double value) { return isinf(value) != 0; }
static double ask_finite(double value) { return isfinite(value); }
static double to_degrees(double value) { return value * (180.0 / M_PI); }
static double to_radians(double value) { return value * (M_PI / 180.0); }

#define REAL(name) {#name, OF_REAL, name, NULL, NULL, 1, 1},
#define TWO(name) {#name, OF_TWO, NULL, name, NULL, 2, 2},
#define RUN(name, fewest, most) {#name, OTHER, NULL, NULL, math_##name, fewest, most},
static const MathFunction functions[] = {
    REAL(sqrt) REAL(cbrt) REAL(exp) REAL(exp2) REAL(expm1) REAL(log2) REAL(log10) REAL(log1p) REAL(sin) REAL(cos) REAL(tan) REAL(asin) REAL(acos)
    REAL(atan) REAL(sinh) REAL(cosh) REAL(tanh) REAL(asinh) REAL(acosh) REAL(atanh) REAL(fabs) REAL(erf) REAL(erfc)
    {"degrees", OF_REAL, to_degrees, NULL, NULL, 1, 1}, {"radians", OF_REAL, to_radians, NULL, NULL, 1, 1},
    TWO(pow) TWO(fmod) TWO(atan2) TWO(copysign)
    {"floor", WHOLE, floor, NULL, NULL, 1, 1}, {"ceil", WHOLE, ceil, NULL, NULL, 1, 1}, {"trunc", WHOLE, trunc, NULL, NULL, 1, 1},
    {"isnan", TO_BOOL, ask_nan, NULL, NULL, 1, 1}, {"isinf", TO_BOOL, ask_infinite, NULL, NULL, 1, 1}, {"isfinite", TO_BOOL, ask_finite, NULL, NULL, 1, 1},
    RUN(gcd, 0, 64) RUN(lcm, 0, 64) RUN(factorial, 1, 1) RUN(isqrt, 1, 1) RUN(comb, 2, 2) RUN(perm, 1, 2) RUN(log, 1, 2) RUN(isclose, 2, 2)
    RUN(prod, 1, 1) RUN(hypot, 0, 64)
};
static const struct {
    const char *name;
    double value;
} constants[] = {{"pi", M_PI}, {"e", M_E}, {"tau", 2 * M_PI}, {"inf", INFINITY}, {"nan", NAN}};

static const MathFunction *find(const char *path)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions && !strncmp(path, "math.", 5); i++)
        if (!strcmp(functions[i].name, path + 5))
            return &functions[i];
    return NULL;
}

bool math_knows(const char *path)
{
    return !strcmp(path, "math") || find(path);
}

bool math_constant(const char *path, Value *result)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants && !strncmp(path, "math.", 5); i++)
        if (!strcmp(constants[i].name, path + 5)) {
            *result = (Value){.kind = VALUE_FLOAT, .as.real = constants[i].value};
            return true;
        }
    return false;
}

const char *math_name(int index)
{
    return index < (int)(sizeof functions / sizeof *functions) ? functions[index].name : NULL;
}

bool math_call(Script *script, const char *path, const Arguments *arguments, Value *result)
{
    const MathFunction *function = find(path);
    if (!function)
        return script_error(script, arguments->span, "'%s' cannot be called", path);
    int given = arguments->positional_count;
    if (given < function->fewest || given > function->most)
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "math.%s takes %d argument%s, not %d", function->name,
                            given < function->fewest ? function->fewest : function->most, function->most == 1 ? "" : "s", given);
    if (function->kind != OTHER && arguments->keyword_count)
        return script_raise(script, arguments->keyword_spans[0], EXCEPTION_TypeError, "math.%s takes no keyword '%s'", function->name,
                            arguments->keyword_names[0]);
    switch (function->kind) {
    case OF_REAL:
    case OF_TWO: return call_real(script, function, arguments, result);
    case WHOLE: return call_whole(script, function, arguments, result);
    case TO_BOOL: return call_question(script, function, arguments, result);
    default: return function->run(script, arguments, result);
    }
}
