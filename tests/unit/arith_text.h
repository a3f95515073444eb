/* For the tests of passes/arith: expressions from text in Python's notation, and their values under assignments.

   Names are variables: lower-case ones int32, upper-case ones int64, p and q bool; each letter is one variable of a TextScope.
   Understood: integers, + - * // % == != < <= > >= and or not, parentheses, T.min T.max T.Div T.truncmod and other names of binary
   kinds, T.Select T.if_then_else T.Cast T.bool T.int64 T.int32. An integer takes the type of the operand beside it. */
#ifndef TIRC_TESTS_ARITH_TEXT_H
#define TIRC_TESTS_ARITH_TEXT_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr.h"
#include "ir/fold.h"
#include "passes/arith/analyzer.h"

typedef struct {
    Context *ctx;
    Var *vars[128]; /* by letter; made on first use */
    const char *at; /* where parsing stands */
} TextScope;

static inline TextScope text_scope(Context *ctx)
{
    return (TextScope){.ctx = ctx};
}

static inline Var *text_var(TextScope *scope, char letter)
{
    Var **var = &scope->vars[(int)letter];
    if (!*var) {
        DType dtype = letter == 'p' || letter == 'q' ? DTYPE_BOOL : isupper((unsigned char)letter) ? DTYPE_INT64 : DTYPE_INT32;
        *var = var_new(scope->ctx, context_internf(scope->ctx, "%c", letter), dtype, span_none());
    }
    return *var;
}

static inline const Expr *text_or(TextScope *scope);

static inline void text_fail(TextScope *scope, const char *wanted)
{
    fprintf(stderr, "expression text: %s expected at '%s'\n", wanted, scope->at);
    abort();
}

static inline bool text_accept(TextScope *scope, const char *token)
{
    size_t length = strlen(token);
    while (*scope->at == ' ')
        scope->at++;
    bool word = length && isalpha((unsigned char)token[length - 1]);
    if (strncmp(scope->at, token, length) || (word && isalnum((unsigned char)scope->at[length])))
        return false;
    scope->at += length;
    return true;
}

static inline void text_expect(TextScope *scope, const char *token)
{
    if (!text_accept(scope, token))
        text_fail(scope, token);
}

/* A node as it is written, without folding; an integer beside another type takes that type. */
static inline const Expr *text_binary(TextScope *scope, ExprKind kind, const Expr *a, const Expr *b)
{
    if (a->kind == EXPR_INT && !dtype_equal(a->dtype, b->dtype))
        a = expr_int(scope->ctx, b->dtype, a->value.integer);
    if (b->kind == EXPR_INT && !dtype_equal(a->dtype, b->dtype))
        b = expr_int(scope->ctx, a->dtype, b->value.integer);
    return expr_binary(scope->ctx, kind, a, b);
}

/* The arguments of a call of COUNT arguments, after its opening parenthesis. */
static inline void text_args(TextScope *scope, const Expr **args, int count)
{
    for (int i = 0; i < count; i++) {
        args[i] = text_or(scope);
        text_expect(scope, i + 1 < count ? "," : ")");
    }
}

static inline const Expr *text_call(TextScope *scope)
{
    const Expr *args[3];
    for (ExprKind kind = EXPR_ADD; kind <= EXPR_OR; kind++)
        if (text_accept(scope, expr_kind_info(kind)->name)) {
            text_expect(scope, "(");
            text_args(scope, args, 2);
            return text_binary(scope, kind, args[0], args[1]);
        }
    bool select = text_accept(scope, "Select(");
    if (select || text_accept(scope, "if_then_else(")) {
        text_args(scope, args, 3);
        if (args[1]->kind == EXPR_INT && !dtype_equal(args[1]->dtype, args[2]->dtype))
            args[1] = expr_int(scope->ctx, args[2]->dtype, args[1]->value.integer);
        if (args[2]->kind == EXPR_INT && !dtype_equal(args[1]->dtype, args[2]->dtype))
            args[2] = expr_int(scope->ctx, args[1]->dtype, args[2]->value.integer);
        return select ? expr_select(scope->ctx, args[0], args[1], args[2])
                      : expr_call(scope->ctx, args[1]->dtype, OP_IF_THEN_ELSE, args, 3, span_none());
    }
    if (text_accept(scope, "bool(")) {
        bool value = text_accept(scope, "True");
        if (!value)
            text_expect(scope, "False");
        text_expect(scope, ")");
        return expr_bool(scope->ctx, value);
    }
    if (text_accept(scope, "Cast(")) {
        bool wide = text_accept(scope, "\"int64\",");
        if (!wide)
            text_expect(scope, "\"int32\",");
        text_args(scope, args, 1);
        return expr_cast(scope->ctx, wide ? DTYPE_INT64 : DTYPE_INT32, args[0]);
    }
    bool wide = text_accept(scope, "int64(");
    if (!wide)
        text_expect(scope, "int32(");
    text_args(scope, args, 1);
    return expr_int(scope->ctx, wide ? DTYPE_INT64 : DTYPE_INT32, args[0]->value.integer);
}

static inline const Expr *text_primary(TextScope *scope)
{
    if (text_accept(scope, "T."))
        return text_call(scope);
    if (text_accept(scope, "(")) {
        const Expr *inner = text_or(scope);
        text_expect(scope, ")");
        return inner;
    }
    if (isdigit((unsigned char)scope->at[0]) || scope->at[0] == '-') {
        char *end;
        long long value = strtoll(scope->at, &end, 10);
        if (end == scope->at)
            text_fail(scope, "number");
        scope->at = end;
        return expr_int(scope->ctx, DTYPE_INT32, value);
    }
    if (!isalpha((unsigned char)scope->at[0]))
        text_fail(scope, "operand");
    return expr_var(scope->ctx, text_var(scope, *scope->at++));
}

static inline const Expr *text_product(TextScope *scope)
{
    const Expr *left = text_primary(scope);
    for (;;) {
        if (text_accept(scope, "*"))
            left = text_binary(scope, EXPR_MUL, left, text_primary(scope));
        else if (text_accept(scope, "//"))
            left = text_binary(scope, EXPR_FLOORDIV, left, text_primary(scope));
        else if (text_accept(scope, "%"))
            left = text_binary(scope, EXPR_FLOORMOD, left, text_primary(scope));
        else
            return left;
    }
}

static inline const Expr *text_sum(TextScope *scope)
{
    const Expr *left = text_product(scope);
    for (;;) {
        if (text_accept(scope, "+"))
            left = text_binary(scope, EXPR_ADD, left, text_product(scope));
        else if (text_accept(scope, "-"))
            left = text_binary(scope, EXPR_SUB, left, text_product(scope));
        else
            return left;
    }
}

static inline const Expr *text_comparison(TextScope *scope)
{
    static const struct {
        const char *text;
        ExprKind kind;
    } operators[] = {{"==", EXPR_EQ}, {"!=", EXPR_NE}, {"<=", EXPR_LE}, {">=", EXPR_GE}, {"<", EXPR_LT}, {">", EXPR_GT}};
    if (text_accept(scope, "not"))
        return expr_not(scope->ctx, text_comparison(scope));
    const Expr *left = text_sum(scope);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (text_accept(scope, operators[i].text))
            return text_binary(scope, operators[i].kind, left, text_sum(scope));
    return left;
}

static inline const Expr *text_and(TextScope *scope)
{
    const Expr *left = text_comparison(scope);
    while (text_accept(scope, "and"))
        left = text_binary(scope, EXPR_AND, left, text_comparison(scope));
    return left;
}

static inline const Expr *text_or(TextScope *scope)
{
    const Expr *left = text_and(scope);
    while (text_accept(scope, "or"))
        left = text_binary(scope, EXPR_OR, left, text_and(scope));
    return left;
}

static inline const Expr *text_expr(TextScope *scope, const char *text)
{
    scope->at = text;
    const Expr *expr = text_or(scope);
    text_accept(scope, "");
    if (*scope->at)
        text_fail(scope, "end");
    return expr;
}

/* --- Ranges: "i:0:16 j:0:n" says i in [0, 16) and j in [0, n) --- */

/* The next entry at *TEXT; false at the end. */
static inline bool text_range(TextScope *scope, const char **text, VarRange *result)
{
    while (**text == ' ')
        ++*text;
    if (!**text)
        return false;
    char entry[128];
    int length = (int)strcspn(*text, " ");
    snprintf(entry, sizeof entry, "%.*s", length, *text);
    *text += length;
    char *min = strchr(entry, ':') + 1, *extent = strchr(min, ':') + 1;
    extent[-1] = 0;
    result->var = text_var(scope, entry[0]);
    result->range = (Range){text_expr(scope, min), text_expr(scope, extent)};
    if (result->range.min->kind == EXPR_INT)
        result->range.min = expr_int(scope->ctx, result->var->dtype, result->range.min->value.integer);
    if (result->range.extent->kind == EXPR_INT)
        result->range.extent = expr_int(scope->ctx, result->var->dtype, result->range.extent->value.integer);
    return true;
}

static inline int text_ranges(TextScope *scope, const char *text, VarRange *ranges)
{
    int count = 0;
    while (text_range(scope, &text, &ranges[count]))
        count++;
    return count;
}

/* --- Back to text, fully parenthesized: for messages of failing tests --- */

static inline void text_write(char *out, size_t size, const Expr *expr)
{
    size_t used = strlen(out);
    if (expr->kind == EXPR_INT)
        snprintf(out + used, size - used, "%lld", (long long)expr->value.integer);
    else if (expr->kind == EXPR_VAR)
        snprintf(out + used, size - used, "%s", expr->value.var->name);
    else {
        const char *operator_text = expr_kind_info(expr->kind)->operator_text;
        snprintf(out + used, size - used, "%s(", operator_text && expr->arg_count == 2 ? "" : expr_kind_info(expr->kind)->name);
        for (int i = 0; i < expr->arg_count; i++) {
            if (i) {
                used = strlen(out);
                snprintf(out + used, size - used, operator_text ? " %s " : ", ", operator_text);
            }
            text_write(out, size, expr->args[i]);
        }
        used = strlen(out);
        snprintf(out + used, size - used, ")");
    }
}

static inline const char *text_of(Context *ctx, const Expr *expr)
{
    char buffer[8192] = "";
    text_write(buffer, sizeof buffer, expr);
    return context_intern(ctx, buffer);
}

/* --- Values --- */

/* The values of the variables, by letter. */
typedef struct {
    int64_t values[128];
} Assignment;

/* The value of EXPR in *RESULT; false where it has none: a division by zero in an operand that is evaluated. The arithmetic is that of
   mathematics (int64 holds all that occurs). */
static inline bool text_value(const Expr *expr, const Assignment *env, int64_t *result)
{
    int64_t a, b, c;
    switch ((ExprKind)expr->kind) {
    case EXPR_INT: *result = expr->value.integer; return true;
    case EXPR_VAR: *result = env->values[(int)expr->value.var->name[0]]; return true;
    case EXPR_CAST: return text_value(expr->args[0], env, result);
    case EXPR_NOT:
        if (!text_value(expr->args[0], env, &a))
            return false;
        *result = !a;
        return true;
    case EXPR_AND:
    case EXPR_OR:
        if (!text_value(expr->args[0], env, &a))
            return false;
        if (!a == (expr->kind == EXPR_AND)) {
            *result = a;
            return true;
        }
        return text_value(expr->args[1], env, result);
    case EXPR_SELECT:
        return text_value(expr->args[0], env, &c) && text_value(expr->args[1], env, &a) && text_value(expr->args[2], env, &b) &&
               (*result = c ? a : b, true);
    case EXPR_CALL: return text_value(expr->args[0], env, &c) && text_value(expr->args[c ? 1 : 2], env, result);
    default: break;
    }
    if (!text_value(expr->args[0], env, &a) || !text_value(expr->args[1], env, &b))
        return false;
    if (expr->kind >= EXPR_DIV && expr->kind <= EXPR_FLOORMOD && b == 0)
        return false;
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: *result = a + b; return true;
    case EXPR_SUB: *result = a - b; return true;
    case EXPR_MUL: *result = a * b; return true;
    case EXPR_DIV: *result = a / b; return true;
    case EXPR_MOD: *result = a % b; return true;
    case EXPR_FLOORDIV: *result = floor_divide(a, b); return true;
    case EXPR_FLOORMOD: *result = floor_modulo(a, b); return true;
    case EXPR_MIN: *result = a < b ? a : b; return true;
    case EXPR_MAX: *result = a > b ? a : b; return true;
    case EXPR_EQ: *result = a == b; return true;
    case EXPR_NE: *result = a != b; return true;
    case EXPR_LT: *result = a < b; return true;
    case EXPR_LE: *result = a <= b; return true;
    case EXPR_GT: *result = a > b; return true;
    case EXPR_GE: *result = a >= b; return true;
    default: abort();
    }
}

#endif
