/* What statements do to memory, by root data variable. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_CORE_EFFECTS_H
#define TIRC_PASSES_LOWER_CORE_EFFECTS_H

#include "ir/walk.h"

/* Adds to ROOTS: data Var of each view (match_buffer target) and each pointer let in STMT -> data Var of the buffer below. */
void effects_add_view_roots(Context *ctx, Map *roots, const Stmt *stmt);
/* The data Var below DATA, which may be DATA itself. */
const Var *effects_root(const Map *roots, const Var *data);

typedef struct {
    Map reads, writes; /* keys: root data Vars. A data pointer that is mentioned by itself counts as both */
    ExprList loads;
    VEC(const Stmt *) stores;
} Effects;

/* What STMT does, apart from the statement EXCEPT inside it (NULL: none). */
Effects effects_of_stmt(Context *ctx, const Map *roots, const Stmt *stmt, const Stmt *except);
/* True when an element that EFFECTS reads and some statement of it writes is read at other indices than those at which it is written. */
bool effects_read_other_elements(const Effects *effects, const Map *roots);
/* True when A and B have a key in common. */
bool maps_meet(const Map *a, const Map *b);

/* The symbols that the parameters of FUNC define (Vars), as keys. */
Map symbols_of_params(Context *ctx, const Func *func);
/* Adds to SYMBOLS, which are visible at STMT, those (Vars and declared Buffers) that it defines itself, without what lies inside it. */
void symbols_add_own(Context *ctx, Map *symbols, const Stmt *stmt);
/* The symbols that STMT and all inside it define, where VISIBLE are those around it. */
Map symbols_defined(Context *ctx, const Stmt *stmt, const Map *visible);
/* Whether a statement mentions one of SYMBOLS. */
bool stmt_mentions_any(const Stmt *stmt, const Map *symbols);

#endif
