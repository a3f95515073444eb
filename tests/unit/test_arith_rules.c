/* Every rewrite rule, for all small values of its words, negative ones included: where its condition holds, both sides have the same
   value. A rule may assume that the left side has a value (no division by zero); then the right side must have one too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ir/fold.h"
#include "passes/arith/rules.h"

typedef struct {
    int64_t values[SLOT_COUNT];
    bool used[SLOT_COUNT], is_bool[SLOT_COUNT];
} Words;

static bool is_logic(int kind)
{
    return kind == EXPR_AND || kind == EXPR_OR || kind == EXPR_NOT;
}

/* Finds the words of PATTERN; one that is an operand of logic or the condition of a select is a bool. */
static void find_words(const Pattern *pattern, bool wants_bool, Words *words)
{
    if (!pattern)
        return;
    if (pattern->class == PATTERN_ANY || pattern->class == PATTERN_CONSTANT) {
        words->used[pattern->slot] = true;
        words->is_bool[pattern->slot] |= wants_bool;
        return;
    }
    for (int i = 0; i < 3; i++)
        find_words(pattern->args[i], is_logic(pattern->kind) || (pattern->kind == EXPR_SELECT && i == 0), words);
}

static bool value_of(const Pattern *pattern, const Words *words, int64_t *value);

static bool binary_value(int kind, int64_t a, int64_t b, int64_t *value)
{
    if (kind >= EXPR_DIV && kind <= EXPR_FLOORMOD && b == 0)
        return false;
    switch (kind) {
    case EXPR_ADD: *value = a + b; return true;
    case EXPR_SUB: *value = a - b; return true;
    case EXPR_MUL: *value = a * b; return true;
    case EXPR_DIV: *value = a / b; return true;
    case EXPR_MOD: *value = a % b; return true;
    case EXPR_FLOORDIV: *value = floor_divide(a, b); return true;
    case EXPR_FLOORMOD: *value = floor_modulo(a, b); return true;
    case EXPR_MIN: *value = a < b ? a : b; return true;
    case EXPR_MAX: *value = a > b ? a : b; return true;
    case EXPR_EQ: *value = a == b; return true;
    case EXPR_NE: *value = a != b; return true;
    case EXPR_LT: *value = a < b; return true;
    case EXPR_LE: *value = a <= b; return true;
    case EXPR_GT: *value = a > b; return true;
    case EXPR_GE: *value = a >= b; return true;
    default: return false;
    }
}

static bool logic_value(const Pattern *pattern, const Words *words, int64_t *value)
{
    int64_t first;
    if (!value_of(pattern->args[0], words, &first))
        return false;
    if (pattern->kind == EXPR_NOT) {
        *value = !first;
        return true;
    }
    *value = first;
    return !first == (pattern->kind == EXPR_AND) || value_of(pattern->args[1], words, value);
}

/* The value of a pattern, or of a condition at one point: a proof then means that the claim holds there. */
static bool value_of(const Pattern *pattern, const Words *words, int64_t *value)
{
    int64_t a, b, c;
    switch ((PatternClass)pattern->class) {
    case PATTERN_ANY:
    case PATTERN_CONSTANT: *value = words->values[pattern->slot]; return true;
    case PATTERN_NUMBER:
    case PATTERN_TRUTH: *value = pattern->number; return true;
    case PATTERN_OPERATION: break;
    default:
        if (!value_of(pattern->args[0], words, &a) || !value_of(pattern->args[1], words, &b))
            return false;
        *value = pattern->class == PATTERN_AT_LEAST ? a >= b : pattern->class == PATTERN_BELOW ? a < b : a == b;
        return true;
    }
    if (is_logic(pattern->kind))
        return logic_value(pattern, words, value);
    if (!value_of(pattern->args[0], words, &a) || !value_of(pattern->args[1], words, &b))
        return false;
    if (pattern->kind != EXPR_SELECT)
        return binary_value(pattern->kind, a, b, value);
    if (!value_of(pattern->args[2], words, &c))
        return false;
    *value = a ? b : c;
    return true;
}

static void check_point(const RuleTable *table, int index, const Words *words, int *checked)
{
    const Rule *rule = &table->rules[index];
    int64_t holds = 1, before, after;
    if ((rule->when && (!value_of(rule->when, words, &holds) || !holds)) || !value_of(rule->from, words, &before))
        return;
    bool has_value = value_of(rule->to, words, &after);
    if (!has_value || before != after)
        fail_msg("rule %d of %s is wrong at x=%d y=%d z=%d v=%d w=%d c1=%d c2=%d c3=%d: %d becomes %d", index, table->name,
                 (int)words->values[SLOT_X], (int)words->values[SLOT_Y], (int)words->values[SLOT_Z], (int)words->values[SLOT_V],
                 (int)words->values[SLOT_W], (int)words->values[SLOT_C1], (int)words->values[SLOT_C2], (int)words->values[SLOT_C3],
                 (int)before, (int)after);
    ++*checked;
}

/* All values of the words from SLOT on. REACH: variables run over [-REACH, REACH], constants a bit further. */
static void check_from(const RuleTable *table, int index, Words *words, int slot, int reach, int *checked)
{
    while (slot < SLOT_COUNT && !words->used[slot])
        slot++;
    if (slot == SLOT_COUNT) {
        check_point(table, index, words, checked);
        return;
    }
    int64_t low = words->is_bool[slot] ? 0 : -reach - (slot >= SLOT_C1), high = words->is_bool[slot] ? 1 : reach + (slot >= SLOT_C1);
    for (words->values[slot] = low; words->values[slot] <= high; words->values[slot]++)
        check_from(table, index, words, slot + 1, reach, checked);
}

static void check_rule(const RuleTable *table, int index)
{
    Words words = {0};
    find_words(table->rules[index].from, false, &words);
    int count = 0, checked = 0;
    for (int i = 0; i < SLOT_COUNT; i++)
        count += words.used[i];
    check_from(table, index, &words, 0, count <= 3 ? 9 : count == 4 ? 5 : 3, &checked);
    if (!checked)
        fail_msg("rule %d of %s applies to no small value", index, table->name);
}

static void every_rule_is_exact(void **state)
{
    (void)state;
    int count;
    const RuleTable *const *tables = rule_tables(&count);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < tables[i]->count; j++)
            check_rule(tables[i], j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
