/* Printing programs as TVMScript. */
#ifndef TIRC_PRINT_PRINT_H
#define TIRC_PRINT_PRINT_H

#include "ir/stmt.h"

/* TEXT, a spelling of older releases in dialect.def, as what is printed shall have it; TEXT itself where it is in no row. */
const char *print_spelling(const Context *ctx, const char *text);
/* The text of a program, as --show prints it, newline at the end; allocated in ctx->arena. Two calls give the same bytes, and reading the
   text back gives an equal program that prints the same bytes. */
const char *print_module(Context *ctx, const Module *module);
const char *print_func(Context *ctx, const Func *func);
/* For messages: one expression, region or statement with the names that its symbols were given (not made unique). */
const char *print_expr(Context *ctx, const Expr *expr);
const char *print_region(Context *ctx, const Region *region);
const char *print_stmt(Context *ctx, const Stmt *stmt);
/* How print_func spells each Var and Buffer that it defines: from the symbol to its text. What a message says of symbols that steps made
   agrees with the printed program by this: there may be several of one name, and a name may hold a character that the text cannot. */
Map print_spellings(Context *ctx, const Func *func);
/* The same, much faster, for buffers and loop variables that are defined outside of all loops or in the bodies of LOOPS alone: a Map with the
   variables of these loops and of all that are around them. Data variables may be spelled otherwise in it. */
Map print_spellings_in(Context *ctx, const Func *func, const Map *loops);

#endif
