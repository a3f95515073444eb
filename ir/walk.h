/* The one generic visitor and the one generic rewriter over expressions and statements, with substitution and cloning on top. */
#ifndef TIRC_IR_WALK_H
#define TIRC_IR_WALK_H

#include "ir/stmt.h"

/* --- Visiting: pre-order. A hook returns false to skip the children. Hooks may be NULL. --- */
typedef struct Visitor Visitor;
struct Visitor {
    bool (*expr)(Visitor *visitor, const Expr *expr);
    bool (*stmt)(Visitor *visitor, const Stmt *stmt);
    void (*leave_stmt)(Visitor *visitor, const Stmt *stmt); /* after the children, also when they were skipped */
    void *data;
};
/* Visits all expressions of a statement too, as stmt_fields.def lists them: extents, bindings, domains, predicates, regions, layouts of
   buffers defined in it, annotations. */
void visit_expr(Visitor *visitor, const Expr *expr);
void visit_stmt(Visitor *visitor, const Stmt *stmt);
/* The children only; for hooks that return false and descend by themselves. */
void visit_expr_children(Visitor *visitor, const Expr *expr);
void visit_stmt_children(Visitor *visitor, const Stmt *stmt);

/* The statements of the outermost blocks of two versions of a function that the same nodes do not stand for: those of the older one from FIRST to
   OLD_END, of the newer one from FIRST to NEW_END. Not KNOWN: the bodies of these blocks are not both lists. */
typedef struct {
    bool known;
    int first, old_end, new_end;
} ChangedItems;
ChangedItems func_changed_items(const Func *older, const Func *newer);
/* Visits NEWER but for the statements of its outermost block that OLDER has too. */
void visit_changes(Visitor *visitor, const Func *older, const Func *newer);

/* When an expression of a statement is evaluated. */
typedef enum {
    MOMENT_ENTRY,  /* once, outside of what the statement defines and guards */
    MOMENT_BOUND,  /* of a block: its predicate holds, its axes have no values yet */
    MOMENT_INSIDE, /* of a block: its axes have values. Of a while loop: in each iteration */
    MOMENT_STATED, /* never: declared regions, annotations */
    MOMENT_BODY,   /* no expression: statements and symbols */
} Moment;
/* The expressions of STMT itself that are evaluated at MOMENT, without those of the statements in it. */
void visit_stmt_exprs(Visitor *visitor, const Stmt *stmt, Moment moment);
/* The ranges of a region; the shape, strides and offset of a buffer. */
void visit_region(Visitor *visitor, const Region *region);
void visit_buffer_layout(Visitor *visitor, const Buffer *buffer);

/* --- Rewriting. rewrite_* call the hook where there is one, else rewrite the children; a node whose children did not change is returned as
   it is. A hook that wants its children rewritten calls rewrite_*_children itself. --- */
typedef struct Rewriter Rewriter;
struct Rewriter {
    Context *ctx;
    const Expr *(*expr)(Rewriter *rewriter, const Expr *expr);
    const Stmt *(*stmt)(Rewriter *rewriter, const Stmt *stmt); /* may return the empty statement, never NULL */
    /* Uses and definitions of a buffer, and definitions of a variable (loop, iterator, let, allocate, launch_thread). Without a hook they
       stay. A buffer whose layout (shape, strides, offset) changes where it is defined becomes a fresh one over the same memory; a hook for
       buffers that names another one decides alone. */
    Buffer *(*buffer)(Rewriter *rewriter, Buffer *buffer);
    Var *(*define_var)(Rewriter *rewriter, Var *var);
    Block *(*define_block)(Rewriter *rewriter, Block *block);
    void *data;
    Map layouts; /* of rewrite.c: buffers as they were defined -> with the new layout */
    int depth;   /* of rewrite.c: statements that are being rewritten */
};
const Expr *rewrite_expr(Rewriter *rewriter, const Expr *expr);
const Expr *rewrite_expr_children(Rewriter *rewriter, const Expr *expr);
const Stmt *rewrite_stmt(Rewriter *rewriter, const Stmt *stmt);
const Stmt *rewrite_stmt_children(Rewriter *rewriter, const Stmt *stmt);
Region rewrite_region(Rewriter *rewriter, Region region);
/* Rewrites the shape, strides and offset of BUFFER, which nobody uses yet: for hooks that name another buffer. */
void rewrite_buffer_layout(Rewriter *rewriter, Buffer *buffer);
/* A copy of the array of regions, rewritten. */
Region *rewrite_regions(Rewriter *rewriter, const Region *regions, int count);

/* --- Substitution. Values are used as they are (no folding: simplify afterwards where the printed form matters). --- */
typedef struct {
    Map vars;    /* const Var * -> const Expr * */
    Map buffers; /* const Buffer * -> Buffer * */
} Subst;
void subst_var(Context *ctx, Subst *subst, const Var *var, const Expr *value);
void subst_buffer(Context *ctx, Subst *subst, const Buffer *from, Buffer *to);
/* Bindings and loop variables that the substitution maps to other variables are renamed at their definition too. A buffer defined inside
   whose shape, strides or offset change becomes a fresh buffer. */
const Expr *subst_expr(Context *ctx, Subst *subst, const Expr *expr);
const Stmt *subst_stmt(Context *ctx, Subst *subst, const Stmt *stmt);
Region subst_region(Context *ctx, Subst *subst, Region region);
/* EXPR with VAR replaced by VALUE. */
const Expr *subst_one(Context *ctx, const Expr *expr, const Var *var, const Expr *value);

/* A copy of STMT in which every loop, iterator, let variable, block and locally defined buffer is a fresh symbol, so that both may live in
   one function. */
const Stmt *clone_fresh(Context *ctx, const Stmt *stmt);

/* True when STMT mentions VAR, or reads, writes or takes the address of BUFFER. */
bool stmt_uses_var(const Stmt *stmt, const Var *var);
bool stmt_uses_buffer(const Stmt *stmt, const Buffer *buffer);
/* True when STMT itself, not a statement in it, reads BUFFER or takes its address: a bound, a condition, a block's predicate, axes, views. */
bool stmt_itself_uses_buffer(const Stmt *stmt, const Buffer *buffer);
/* True when EXPR reads BUFFER or takes its address. */
bool expr_uses_buffer(const Expr *expr, const Buffer *buffer);
/* EXPR may be defined only where a condition before it holds: it reads memory or calls something, or divides by what may be 0. */
bool expr_needs_guard(const Expr *expr);
/* A block stands in STMT. */
bool stmt_holds_block(const Stmt *stmt);
/* BLOCK only holds blocks together: without axes and condition, it states that it touches nothing, as a root block does. What the blocks in it
   touch is what it touches, whatever it states: its regions are inferred. */
bool block_only_groups(const BlockStmt *block);
/* A call of foreign code stands in BLOCK itself, or in one inside that declares nothing, and BLOCK leaves regions to be inferred: they must not
   be taken for declared ones, so the printed text leaves them out. */
bool block_keeps_regions_inferred(const BlockStmt *block);

#endif
