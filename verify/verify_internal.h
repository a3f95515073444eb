/* Shared by the files of the verifier: its state, and the check of expressions. Nobody else includes this. */
#ifndef TIRC_VERIFY_VERIFY_INTERNAL_H
#define TIRC_VERIFY_VERIFY_INTERNAL_H

#include "verify/verify.h"

typedef struct {
    Context *ctx;
    Stage stage;
    const char *function;
    const char **why; /* never NULL; set by the first violation */
    Map states;       /* Var, Buffer or Block -> one of the marks below */
    VEC(const void *) in_scope;
} Verifier;

/* Notes the violation; always false. */
bool verify_fail(Verifier *verifier, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool verifier_in_scope(const Verifier *verifier, const void *symbol);
/* Binds SYMBOL, which NAME and WHAT ("loop variable") describe, for the first time. */
bool verifier_bind(Verifier *verifier, const void *symbol, const char *what, const char *name);
/* Binds the variable of a let expression, which may be there again where an expression was duplicated; not within itself. */
bool verifier_bind_again(Verifier *verifier, const Var *var);
/* What was bound since the mark goes out of scope. */
int verifier_begin_scope(const Verifier *verifier);
void verifier_end_scope(Verifier *verifier, int mark);

bool verify_span(Verifier *verifier, Span span);

/* --- verify_expr.c --- */
/* Types, ranks and scopes of EXPR and all below it. */
bool verify_expr(Verifier *verifier, const Expr *expr);
/* The same, and EXPR is a bool. */
bool verify_condition(Verifier *verifier, const Expr *expr, const char *what);
/* The same, and EXPR is a scalar of DTYPE. */
bool verify_scalar(Verifier *verifier, const Expr *expr, DType dtype, const char *what);
/* The same, and EXPR is a scalar integer. */
bool verify_index(Verifier *verifier, const Expr *expr, const char *what);
/* An access to BUFFER at INDICES gives elements of type ACCESS, under MASK (may be NULL). */
bool verify_access(Verifier *verifier, const Buffer *buffer, const Expr *const *indices, int count, const Expr *mask, DType access);

#endif
