/* What the lowering passes share: their state, their declarations and small helpers on expressions and buffers. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_CORE_STATE_H
#define TIRC_PASSES_LOWER_CORE_STATE_H

#include "ir/elements.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/arith/analyzer.h"
#include "passes/lower/core/options.h"

typedef struct {
    Context *ctx;
    const Module *module;
    const LowerOptions *options;
} LowerState;

/* A pass: FUNC rewritten, FUNC itself when there is nothing to do. A user's mistake is diagnosed; the result then does not matter. */
typedef const Func *LowerFunction(LowerState *state, const Func *func);
#define X(name, function, needs, gives, doc) LowerFunction function;
#include "passes/lower/core/passes.def"
#undef X

/* The converse of lower_wrapping: conditions and lets as programs write them. */
const Func *lower_unwrapping(LowerState *state, const Func *func);

/* --- Expressions --- */
/* The operands of a conjunction, without T.likely around them; appended to LIST. */
void conjunction_split(Context *ctx, const Expr *condition, ExprList *list);
/* CONJUNCTS joined by and; constant true when there are none. */
const Expr *conjunction_join(Context *ctx, const ExprList *conjuncts);
/* True when EXPR reads memory or calls something that is not pure. */
bool expr_reads_memory(const Expr *expr);
/* True when EXPR mentions one of the variables that are keys of VARS. */
bool expr_uses_any(const Expr *expr, const Map *vars);

/* --- What an analyzer is told --- */
/* The sizes that the parameters of FUNC declare are not negative. */
void facts_bind_sizes(Analyzer *an, const Func *func);
/* What holds inside STMT, unless memory decides it: the range of a loop, the value of an integer let. */
void facts_bind_stmt(Analyzer *an, const Stmt *stmt);
/* Assumes the scalar conjuncts of CONDITION that no store can change. */
void facts_assume(Analyzer *an, const Expr *condition);

/* --- Statements --- */
/* LOOP has the annotation KEY, with another value than 0. */
bool loop_is_marked(const ForStmt *loop, const char *key);
/* True when T.break_loop, T.continue_loop or T.ret is somewhere in STMT: what comes after it may not run. */
bool stmt_has_jump(const Stmt *stmt);
/* True when STMT uses BUFFER or a region declared in it is one of BUFFER. */
bool stmt_names_buffer(const Stmt *stmt, const Buffer *buffer);
/* ALLOCATE of the memory of BUFFER and its declaration, around BODY. */
const Stmt *stmt_allocate_buffer(Context *ctx, Buffer *buffer, Attrs annotations, const Stmt *body, Span span);
/* The buffer that STMT, an allocation, is for: dense, declared directly below with the allocation's own shape; NULL for other
   allocations. */
Buffer *stmt_allocated_buffer(const Stmt *stmt);

#endif
