/* Matching, conditions and building for rewrite rules; see rules.h. */
#include "passes/arith/rules.h"

#include "ir/fold.h"
#include "passes/arith/simplify.h"
#include "support/bug.h"

static bool match_slot(Match *match, const Pattern *pattern, const Expr *expr)
{
    const Expr **slot = &match->slots[pattern->slot];
    if (*slot)
        return expr_equal(*slot, expr);
    *slot = expr;
    return true;
}

static bool match_node(Match *match, const Pattern *pattern, const Expr *expr)
{
    switch ((PatternClass)pattern->class) {
    case PATTERN_ANY: return match_slot(match, pattern, expr);
    case PATTERN_CONSTANT: return expr->kind == EXPR_INT && match_slot(match, pattern, expr);
    case PATTERN_NUMBER: return expr_is_int(expr, pattern->number);
    case PATTERN_OPERATION:
        if (expr->kind != pattern->kind)
            return false;
        for (int i = 0; i < expr->arg_count; i++)
            if (!match_node(match, pattern->args[i], expr->args[i]))
                return false;
        return true;
    default: return false;
    }
}

bool pattern_match(Match *match, const Pattern *pattern, const Expr *expr)
{
    for (int i = 0; i < SLOT_COUNT; i++)
        match->slots[i] = NULL;
    return match_node(match, pattern, expr);
}

/* --- Building --- */

static const Expr *build_binary(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    const Expr *folded = (kind == EXPR_MIN || kind == EXPR_MAX) && expr_equal(a, b) ? a : fold_binary(ctx, kind, a, b);
    if (folded)
        return folded;
    bool overflows = a->kind == EXPR_INT && b->kind == EXPR_INT;
    return overflows ? NULL : expr_binary(ctx, kind, a, b);
}

static const Expr *build_operation(const Match *match, const Pattern *pattern, DType dtype)
{
    Context *ctx = match->simplifier->an->ctx;
    const Expr *args[3] = {NULL};
    /* a number takes the type of the operand beside it, so that one is built first; in a branch of a select it takes DTYPE */
    bool number_first = pattern->args[0]->class == PATTERN_NUMBER && pattern->args[1];
    for (int k = 0; k < 3; k++) {
        int i = number_first && k < 2 ? 1 - k : k;
        if (!pattern->args[i])
            continue;
        if (k == 1 && pattern->kind != EXPR_SELECT)
            dtype = args[number_first]->dtype;
        args[i] = pattern_build(match, pattern->args[i], dtype);
        if (!args[i])
            return NULL;
    }
    if (pattern->kind == EXPR_NOT)
        return op_not(ctx, args[0], span_none());
    if (pattern->kind == EXPR_SELECT)
        return expr_select(ctx, args[0], args[1], args[2]);
    return build_binary(ctx, pattern->kind, args[0], args[1]);
}

const Expr *pattern_build(const Match *match, const Pattern *pattern, DType dtype)
{
    Context *ctx = match->simplifier->an->ctx;
    switch ((PatternClass)pattern->class) {
    case PATTERN_ANY:
    case PATTERN_CONSTANT: return match->slots[pattern->slot];
    case PATTERN_NUMBER: return dtype_holds(dtype, pattern->number) ? expr_int(ctx, dtype, pattern->number) : NULL;
    case PATTERN_TRUTH: return expr_bool(ctx, pattern->number);
    case PATTERN_OPERATION: return build_operation(match, pattern, dtype);
    default: BUG("a condition used as a replacement");
    }
}

/* --- Conditions --- */

static bool condition_value(const Match *match, const Pattern *pattern, int64_t *value);

static bool condition_holds(const Match *match, const Pattern *pattern)
{
    int64_t value;
    return condition_value(match, pattern, &value) && value;
}

static bool condition_proof(const Match *match, const Pattern *pattern)
{
    int64_t target;
    Simplifier *s = match->simplifier;
    const Expr *subject = pattern_build(match, pattern->args[0], match->slots[SLOT_X] ? match->slots[SLOT_X]->dtype : DTYPE_INT32);
    if (!subject || !condition_value(match, pattern->args[1], &target))
        return false;
    if (pattern->class == PATTERN_AT_LEAST)
        return analyzer_prove_at_least(s->an, subject, target);
    if (pattern->class == PATTERN_BELOW)
        return analyzer_prove_below(s->an, subject, target);
    return simplify_compare_to(s, subject, target) == ORDER_EQ;
}

/* The value of a condition or of a part of it; false when it has none. */
static bool condition_value(const Match *match, const Pattern *pattern, int64_t *value)
{
    switch ((PatternClass)pattern->class) {
    case PATTERN_CONSTANT: *value = match->slots[pattern->slot]->value.integer; return true;
    case PATTERN_NUMBER: *value = pattern->number; return true;
    case PATTERN_AT_LEAST:
    case PATTERN_BELOW:
    case PATTERN_PROVE_EQUAL: *value = condition_proof(match, pattern); return true;
    case PATTERN_OPERATION: break;
    default: BUG("a pattern used as a condition");
    }
    if (pattern->kind == EXPR_AND || pattern->kind == EXPR_OR) {
        bool first = condition_holds(match, pattern->args[0]), decided = first == (pattern->kind == EXPR_OR);
        *value = decided ? first : condition_holds(match, pattern->args[1]);
        return true;
    }
    int64_t a, b;
    return condition_value(match, pattern->args[0], &a) && condition_value(match, pattern->args[1], &b) &&
           integer_operation(pattern->kind, a, b, value);
}

/* --- Rules --- */

const RuleTable *const *rule_tables(int *count)
{
    static const RuleTable *const tables[] = {
#define X(name) &name##_table,
#include "passes/arith/rule_tables.def"
#undef X
    };
    *count = (int)(sizeof tables / sizeof *tables);
    return tables;
}

/* The rules of a table by the kinds of the first two operands: few of them can apply to any one expression. */
typedef struct {
    const Rule **candidates[EXPR_KIND_COUNT][EXPR_KIND_COUNT]; /* lists that end with NULL, made when they are first asked for */
} RuleIndex;
typedef struct {
    RuleIndex *tables[RULE_TABLE_COUNT];
} RuleIndexes;

/* An operand of KIND may match PATTERN for all that its kind says. */
static bool kind_fits(const Pattern *pattern, int kind)
{
    switch ((PatternClass)pattern->class) {
    case PATTERN_ANY: return true;
    case PATTERN_OPERATION: return kind == pattern->kind;
    default: return kind == EXPR_INT;
    }
}

static const Rule **find_candidates(Context *ctx, const RuleTable *table, int first, int second)
{
    VEC(const Rule *) found = {0};
    for (int i = 0; i < table->count; i++) {
        const Pattern *const *args = table->rules[i].from->args;
        if (kind_fits(args[0], first) && (!args[1] || kind_fits(args[1], second)))
            vec_push(ctx->base_arena, &found, &table->rules[i]);
    }
    vec_push(ctx->base_arena, &found, NULL);
    return found.data;
}

/* Those rules of TABLE that may match EXPR, in their order, and NULL. */
static const Rule *const *candidate_rules(Context *ctx, const RuleTable *table, const Expr *expr)
{
    if (!ctx->rules.handle)
        ctx->rules.handle = ARENA_NEW(ctx->base_arena, RuleIndexes);
    RuleIndexes *indexes = ctx->rules.handle;
    RuleIndex **index = &indexes->tables[table->number];
    if (!*index)
        *index = ARENA_NEW(ctx->base_arena, RuleIndex);
    int first = expr->args[0]->kind, second = expr->arg_count > 1 ? expr->args[1]->kind : 0;
    const Rule ***candidates = &(*index)->candidates[first][second];
    if (!*candidates)
        *candidates = find_candidates(ctx, table, first, second);
    return *candidates;
}

const Expr *rules_apply(Simplifier *s, const RuleTable *table, const Expr *expr)
{
    Match match = {.simplifier = s};
    for (const Rule *const *candidate = candidate_rules(s->an->ctx, table, expr); *candidate; candidate++) {
        const Rule *rule = *candidate;
        if (!pattern_match(&match, rule->from, expr) || (rule->when && !condition_holds(&match, rule->when)))
            continue;
        const Expr *result = pattern_build(&match, rule->to, expr->dtype);
        if (result)
            return rule->again ? simplify_again(s, result) : result;
    }
    return NULL;
}
