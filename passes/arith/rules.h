/* Rewrite rules as data: a pattern, what replaces it, and when. The simplify_*.c files hold tables of them, one family of operators
   each.

     static const Rule rules[] = {
         REWRITE(ADD(SUB(x, y), y), x),
         REWRITE(FLOORMOD(ADD(x, c1), c2), FLOORMOD(x, c2), .when = AND(GT(c2, N(0)), EQ(FLOORMOD(c1, c2), N(0)))),
         REWRITE(ADD(x, SUB(c1, y)), ADD(SUB(x, y), c1), .again = true),
     };

   x, y, z, v, w match any expression, c1 to c4 integer constants; the same word matches equal expressions. Replacements are built with
   constants folded; where folding would overflow the type, the rule does not apply. Conditions are over the constants (in int64, false
   on overflow), and may ask for proofs. */
#ifndef TIRC_PASSES_ARITH_RULES_H
#define TIRC_PASSES_ARITH_RULES_H

#include "passes/arith/internal.h"

typedef enum {
    PATTERN_OPERATION, /* an expression of KIND with args */
    PATTERN_ANY,
    PATTERN_CONSTANT, /* an integer constant */
    PATTERN_NUMBER,   /* this integer, in the type of its surroundings */
    PATTERN_TRUTH,    /* this bool */
    /* conditions only */
    PATTERN_AT_LEAST,    /* args[0] >= args[1] provably, by bounds */
    PATTERN_BELOW,       /* args[0] < args[1] provably, by bounds */
    PATTERN_PROVE_EQUAL, /* args[0] == args[1] provably */
} PatternClass;

typedef struct Pattern Pattern;
struct Pattern {
    uint8_t class, kind, slot;
    int32_t number;
    const Pattern *args[3];
};

typedef struct {
    const Pattern *from, *to, *when;
    bool again; /* the result is simplified once more: it is closer to another rule, not final */
} Rule;

/* Braces of a Rule; conditions and .again may follow the two patterns. */
#define REWRITE(before, after, ...) {.from = (before), .to = (after), __VA_ARGS__}

#define PATTERN_OF(...) (&(const Pattern){__VA_ARGS__})
#define OPERATION(op, ...) PATTERN_OF(.class = PATTERN_OPERATION, .kind = (op), .args = {__VA_ARGS__})
#define ADD(a, b) OPERATION(EXPR_ADD, a, b)
#define SUB(a, b) OPERATION(EXPR_SUB, a, b)
#define MUL(a, b) OPERATION(EXPR_MUL, a, b)
#define DIV(a, b) OPERATION(EXPR_DIV, a, b)
#define MOD(a, b) OPERATION(EXPR_MOD, a, b)
#define FLOORDIV(a, b) OPERATION(EXPR_FLOORDIV, a, b)
#define FLOORMOD(a, b) OPERATION(EXPR_FLOORMOD, a, b)
#define MIN(a, b) OPERATION(EXPR_MIN, a, b)
#define MAX(a, b) OPERATION(EXPR_MAX, a, b)
#define EQ(a, b) OPERATION(EXPR_EQ, a, b)
#define NE(a, b) OPERATION(EXPR_NE, a, b)
#define LT(a, b) OPERATION(EXPR_LT, a, b)
#define LE(a, b) OPERATION(EXPR_LE, a, b)
#define GT(a, b) OPERATION(EXPR_GT, a, b)
#define GE(a, b) OPERATION(EXPR_GE, a, b)
#define AND(a, b) OPERATION(EXPR_AND, a, b)
#define OR(a, b) OPERATION(EXPR_OR, a, b)
#define NOT(a) OPERATION(EXPR_NOT, a)
#define SELECT(c, a, b) OPERATION(EXPR_SELECT, c, a, b)
#define N(n) PATTERN_OF(.class = PATTERN_NUMBER, .number = (n))
#define NEGATIVE(a) SUB(N(0), a)
#define AT_LEAST(a, b) PATTERN_OF(.class = PATTERN_AT_LEAST, .args = {a, b})
#define BELOW(a, b) PATTERN_OF(.class = PATTERN_BELOW, .args = {a, b})
#define PROVE_EQUAL(a, b) PATTERN_OF(.class = PATTERN_PROVE_EQUAL, .args = {a, b})

enum { SLOT_X, SLOT_Y, SLOT_Z, SLOT_V, SLOT_W, SLOT_C1, SLOT_C2, SLOT_C3, SLOT_C4, SLOT_COUNT };
static const Pattern x[] = {{.class = PATTERN_ANY, .slot = SLOT_X}};
static const Pattern y[] = {{.class = PATTERN_ANY, .slot = SLOT_Y}};
static const Pattern z[] = {{.class = PATTERN_ANY, .slot = SLOT_Z}};
static const Pattern v[] = {{.class = PATTERN_ANY, .slot = SLOT_V}};
static const Pattern w[] = {{.class = PATTERN_ANY, .slot = SLOT_W}};
static const Pattern c1[] = {{.class = PATTERN_CONSTANT, .slot = SLOT_C1}};
static const Pattern c2[] = {{.class = PATTERN_CONSTANT, .slot = SLOT_C2}};
static const Pattern c3[] = {{.class = PATTERN_CONSTANT, .slot = SLOT_C3}};
static const Pattern c4[] = {{.class = PATTERN_CONSTANT, .slot = SLOT_C4}};
static const Pattern pattern_true[] = {{.class = PATTERN_TRUTH, .number = 1}};
static const Pattern pattern_false[] = {{.class = PATTERN_TRUTH, .number = 0}};

/* What the words of a pattern stand for after a match. */
typedef struct {
    Simplifier *simplifier;
    const Expr *slots[SLOT_COUNT]; /* NULL: not bound */
} Match;

/* Matches EXPR against PATTERN from scratch. */
bool pattern_match(Match *match, const Pattern *pattern, const Expr *expr);
/* The expression that PATTERN describes with the match's words filled in; numbers without typed surroundings get DTYPE. NULL when a
   constant would overflow. */
const Expr *pattern_build(const Match *match, const Pattern *pattern, DType dtype);

/* --- Tables. Each family of operators defines its own; rule_tables.def lists them all. --- */
typedef struct {
    const char *name;
    const Rule *rules;
    int count;
    int number; /* among all tables */
} RuleTable;

/* Defines NAME_table from the array NAME_rules before it. */
#define RULE_TABLE(name)                                                                                                                     \
    const RuleTable name##_table = {#name, name##_rules, (int)(sizeof name##_rules / sizeof *name##_rules), name##_number}

#define X(name) extern const RuleTable name##_table;
#include "passes/arith/rule_tables.def"
#undef X
enum {
#define X(name) name##_number,
#include "passes/arith/rule_tables.def"
#undef X
    RULE_TABLE_COUNT
};

/* The result of the first rule of TABLE that applies to EXPR, or NULL. */
const Expr *rules_apply(Simplifier *s, const RuleTable *table, const Expr *expr);
/* All tables; *COUNT of them. */
const RuleTable *const *rule_tables(int *count);

#endif
