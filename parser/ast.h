/* The syntax tree of a text in Python's shapes: tensor programs and schedule scripts alike. What the names mean is not known here. Nodes
   are immutable once parsed and live in the arena that was ctx->arena during the parse. */
#ifndef TIRC_PARSER_AST_H
#define TIRC_PARSER_AST_H

#include "support/context.h"

typedef struct AstNode AstNode;

typedef enum {
    /* expressions */
    AST_NAME,          /* as.name */
    AST_INT,           /* as.integer */
    AST_FLOAT,         /* as.real */
    AST_STRING,        /* as.text: prefixes, quotes and escapes resolved, adjacent literals joined */
    AST_FORMAT,        /* as.list: the strings and expressions of literals of which one has replacement fields */
    AST_FIELD,         /* as.field: in an AST_FORMAT, a value with how it is written */
    AST_BOOL,          /* as.boolean */
    AST_NONE,          /* None */
    AST_ELLIPSIS,      /* ... */
    AST_TUPLE,         /* as.list; with or without parentheses */
    AST_LIST,          /* as.list */
    AST_SET,           /* as.list */
    AST_DICT,          /* as.dict */
    AST_CALL,          /* as.call */
    AST_ATTRIBUTE,     /* as.attribute: value.name */
    AST_SUBSCRIPT,     /* as.subscript: value[index] */
    AST_SLICE,         /* as.slice: lower:upper:step, only in a subscript */
    AST_UNARY,         /* as.unary, `not` included */
    AST_BINARY,        /* as.binary: arithmetic, bits, shifts, @ */
    AST_COMPARE,       /* as.compare: first op0 rest0 op1 rest1 ... */
    AST_BOOL_OP,       /* as.bool_op: `and` or `or` over two or more operands */
    AST_CONDITIONAL,   /* as.conditional: if_true if condition else if_false */
    AST_LAMBDA,        /* as.lambda */
    AST_STARRED,       /* as.operand: *operand in an argument list, a display or an assignment target */
    AST_COMPREHENSION, /* as.comprehension: [element for target in iterable if condition ...], or in ( ), or {key: element for ...} */
    AST_NAMED,         /* as.named: name := value */
    /* statements */
    AST_EXPR_STMT,  /* as.operand */
    AST_ASSIGN,     /* as.assign: target0 = target1 = ... = value */
    AST_ANN_ASSIGN, /* as.ann_assign: target: annotation = value */
    AST_AUG_ASSIGN, /* as.aug_assign: target op= value */
    AST_FOR,        /* as.for_loop */
    AST_WHILE,      /* as.while_loop */
    AST_IF,         /* as.branch; `elif` is an AST_IF alone in else_body */
    AST_WITH,       /* as.with */
    AST_DEF,        /* as.def */
    AST_CLASS,      /* as.class_def */
    AST_RETURN,     /* as.operand, NULL when bare */
    AST_RAISE,      /* as.operand, NULL when bare; `from` is dropped */
    AST_TRY,        /* as.attempt */
    AST_EXCEPT,     /* as.handler, only in an AST_TRY */
    AST_GLOBAL,     /* as.list: names */
    AST_NONLOCAL,   /* as.list: names */
    AST_DELETE, /* as.list: the targets */
    AST_PASS,
    AST_BREAK,
    AST_CONTINUE,
    AST_ASSERT, /* as.assertion */
    AST_IMPORT, /* as.import */
    AST_FILE,   /* as.file: a whole text; as.list is its statements too */
    AST_KIND_COUNT
} AstKind;

typedef enum {
    /* unary */
    AST_OP_POSITIVE,
    AST_OP_NEGATIVE,
    AST_OP_INVERT,
    AST_OP_NOT,
    /* binary and augmented assignment */
    AST_OP_ADD,
    AST_OP_SUB,
    AST_OP_MUL,
    AST_OP_DIV,
    AST_OP_FLOORDIV,
    AST_OP_MOD,
    AST_OP_POWER,
    AST_OP_MATMUL,
    AST_OP_SHIFT_LEFT,
    AST_OP_SHIFT_RIGHT,
    AST_OP_BIT_AND,
    AST_OP_BIT_OR,
    AST_OP_BIT_XOR,
    /* comparison */
    AST_OP_EQ,
    AST_OP_NE,
    AST_OP_LT,
    AST_OP_LE,
    AST_OP_GT,
    AST_OP_GE,
    AST_OP_IN,
    AST_OP_NOT_IN,
    AST_OP_IS,
    AST_OP_IS_NOT,
    /* logic */
    AST_OP_AND,
    AST_OP_OR,
    AST_OP_COUNT
} AstOp;

/* Children in source order. */
typedef struct {
    const AstNode *const *items;
    int count;
} AstList;

/* name=value in a call; **value when name is NULL. */
typedef struct {
    Str name;
    const AstNode *value;
    Span span;
} AstKeyword;

/* A parameter of a def or lambda: stars is 0, 1 (*name) or 2 (**name); a bare * has no name. annotation and default_value may be NULL. */
typedef struct {
    Str name;
    int stars;
    const AstNode *annotation, *default_value;
    Span span;
} AstParam;

/* `context as target`; target may be NULL. */
typedef struct {
    const AstNode *context, *target;
} AstWithItem;

/* `import module as alias`, or `from module import name as alias`: name is NULL for the first form and "*" for all; alias may be NULL. */
typedef struct {
    Str module, name, alias;
    Span span;
} AstImportItem;

/* `for target in iterable if condition ...`: conditions may be empty. */
typedef struct {
    const AstNode *target, *iterable;
    AstList conditions;
} AstComprehensionClause;

struct AstNode {
    AstKind kind;
    int height; /* levels of nodes from here down, bounded by the parser so that recursion over a tree is safe */
    Span span;  /* of a compound statement: its header */
    union {
        Str name;
        uint64_t integer; /* never negative: a sign is an AST_UNARY */
        double real;
        Str text;
        bool boolean;
        AstList list;
        struct {
            AstList list; /* first, so that it is as.list */
            bool has_errors; /* the text was not understood in full; the errors are diagnosed */
        } file;
        const AstNode *operand;
        struct {
            AstList keys, values; /* of equal length; a NULL key stands for **value */
        } dict;
        struct {
            const AstNode *value, *spec; /* spec: an AST_STRING or AST_FORMAT, or NULL */
            char conversion;             /* 'r', 's', 'a' or 0 */
        } field;
        struct {
            const AstNode *callee;
            AstList args; /* positional, AST_STARRED included */
            const AstKeyword *keywords;
            int keyword_count;
        } call;
        struct {
            const AstNode *value;
            Str name;
            Span name_span;
        } attribute;
        struct {
            const AstNode *value, *index; /* index: an AST_TUPLE where it holds a comma */
        } subscript;
        struct {
            const AstNode *lower, *upper, *step; /* each may be NULL */
        } slice;
        struct {
            AstOp op;
            const AstNode *operand;
        } unary;
        struct {
            AstOp op;
            const AstNode *left, *right;
        } binary;
        struct {
            const AstNode *first;
            const AstOp *ops; /* rest.count of them */
            AstList rest;
        } compare;
        struct {
            AstOp op;
            AstList operands;
        } bool_op;
        struct {
            const AstNode *condition, *if_true, *if_false;
        } conditional;
        struct {
            const AstParam *params;
            int param_count;
            const AstNode *body;
        } lambda;
        struct {
            const AstNode *key; /* of a dict; else NULL */
            const AstNode *element;
            const AstComprehensionClause *clauses;
            int clause_count;
            bool generator; /* in ( ) */
            bool set; /* in { }, without a key */
        } comprehension;
        struct {
            AstList targets;
            const AstNode *value;
        } assign;
        struct {
            const AstNode *target, *annotation, *value; /* value may be NULL */
        } ann_assign;
        struct {
            AstOp op;
            const AstNode *target, *value;
        } aug_assign;
        struct {
            const AstNode *target, *iterable;
            AstList body, else_body;
        } for_loop;
        struct {
            const AstNode *condition;
            AstList body, else_body;
        } while_loop;
        struct {
            const AstNode *condition;
            AstList body, else_body;
        } branch;
        struct {
            AstList body, handlers, else_body, finally_body;
        } attempt;
        struct {
            const AstNode *type; /* NULL: of all errors */
            Str name; /* NULL: none */
            AstList body;
        } handler;
        struct {
            Str name;
            const AstNode *value;
        } named;
        struct {
            const AstWithItem *items;
            int item_count;
            AstList body;
        } with;
        struct {
            Str name;
            Span name_span;
            const AstParam *params;
            int param_count;
            const AstNode *returns; /* may be NULL */
            AstList decorators, body;
        } def;
        struct {
            Str name;
            Span name_span;
            AstList bases, decorators, body;
        } class_def;
        struct {
            const AstNode *condition, *message; /* message may be NULL */
        } assertion;
        struct {
            const AstImportItem *items;
            int count;
        } import;
    } as;
};

/* Calls VISIT for each expression that is a direct part of NODE; not for the body of a lambda, the annotations of a def and its decorators, nor for
   the statements inside of a statement. */
typedef void AstVisit(const AstNode *node, void *data);
void ast_each_part(const AstNode *node, AstVisit *visit, void *data);
/* "+", "not in", ...: the operator as written. */
const char *ast_op_text(AstOp op);
/* What a message calls the kind: "a call", "a 'for' statement". */
const char *ast_kind_name(AstKind kind);
/* True when NODE is the dotted name PATH, as in ast_is_path(node, "T.axis.remap"). */
bool ast_is_path(const AstNode *node, const char *path);
/* The dotted name that NODE spells, interned, or NULL when it is something else. */
Str ast_path(Context *ctx, const AstNode *node);
/* NODE, a statement outside of functions, is a block that only shows a part of a program: `...` stands in its body. */
bool ast_is_excerpt(const AstNode *node);
/* The keyword argument NAME of CALL, or NULL. */
const AstKeyword *ast_keyword(const AstNode *call, const char *name);

#endif
