/* Shared by the files of the printer: its state and the functions that each file offers to the others. Nobody else includes this. */
#ifndef TIRC_PRINT_PRINT_INTERNAL_H
#define TIRC_PRINT_PRINT_INTERNAL_H

#include "print/print.h"
#include "support/strbuf.h"

/* A name that some symbol in scope has or had. */
typedef struct {
    bool taken;
    int next_suffix; /* the names with smaller suffixes (from 1) are known to be taken */
} NameEntry;

/* What one definition changed, so that the end of its scope can undo it. */
typedef struct {
    const void *symbol;
    bool has_line; /* an assignment declares it: it lasts as long as the suite that this line stands in */
    const char *old_text;
    NameEntry *name, *base; /* NULL for a symbol that is spelled through its buffer, as in A.strides[0] */
    int old_next_suffix;
} Definition;

typedef struct {
    Context *ctx;
    StrBuf out;
    size_t line_start; /* where the line being written begins: declarations that it turns out to need are put before it */
    int indent;
    bool own_memory; /* the buffer that is being declared has memory of its own, which begins at 0 */
    bool for_message; /* names as given, nothing declared */
    bool for_spellings; /* the text does not matter */
    const Map *wanted;  /* with for_spellings: the variables of the loops whose bodies matter; NULL: of all */
    Map texts;        /* Var or Buffer in scope -> how it is spelled; NULL once it is out of scope */
    Map names;        /* interned name -> NameEntry */
    Map spellings;    /* with for_spellings: every Var or Buffer that was in scope -> its text */
    Map loops;        /* loop Var -> const ForStmt of the loops around */
    VEC(Definition) definitions;
} Printer;

/* --- print_names.c: scopes, names, lines --- */
Printer printer_new(Context *ctx, bool for_message);
/* Scopes nest: the mark that begin gives goes to the matching end. The scope of a suite (or function) ends all that was defined in it, that
   of a statement leaves to the suite around what lines before the statement declare. */
int printer_begin_scope(const Printer *printer);
void printer_end_suite(Printer *printer, int mark);
void printer_end_statement(Printer *printer, int mark);
/* Keeps NAME from being given to a symbol. */
void printer_reserve(Printer *printer, const char *name);
/* Gives SYMBOL a name like HINT that nothing else in scope has; FALLBACK where HINT is empty. */
const char *printer_define(Printer *printer, const void *symbol, Str hint, const char *fallback);
const char *printer_define_var(Printer *printer, const Var *var);
const char *printer_define_buffer(Printer *printer, const Buffer *buffer);
/* Spells SYMBOL as TEXT. */
void printer_define_as(Printer *printer, const void *symbol, const char *text);
/* Gives VAR a new name, which the line "NAME = T.int32()" before the current one declares. */
const char *printer_declare_var(Printer *printer, const Var *var);
bool printer_knows(const Printer *printer, const void *symbol);
/* How a variable or buffer is spelled. A variable that nothing defines is declared before the current line. */
const char *printer_var(Printer *printer, const Var *var);
const char *printer_buffer(const Printer *printer, const Buffer *buffer);

void print_begin_line(Printer *printer);
void print_end_line(Printer *printer);
/* A whole line. */
void print_line(Printer *printer, const char *text);
/* Puts the line "LHS = RHS" before the current one. */
void print_insert_assignment(Printer *printer, const char *lhs, const char *rhs);
/* Notes that such a line declares SYMBOL. */
void printer_mark_declared(Printer *printer, const void *symbol);
void print_text(Printer *printer, const char *text);
/* ", " unless INDEX is 0. */
void print_separator(Printer *printer, int index);

/* --- print_literal.c --- */
void print_integer(Printer *printer, DType dtype, int64_t value);
void print_real(Printer *printer, double value);
void print_quoted(Printer *printer, const char *text);
/* "float32" in quotes. */
void print_dtype(Printer *printer, DType dtype);
void print_attr_value(Printer *printer, const AttrValue *value);
/* {"key": value, ...}, sorted by key; the entry OMITTED (may be NULL) is left out. */
void print_attrs(Printer *printer, Attrs attrs, const char *omitted);

/* --- print_expr.c --- */
void print_expression(Printer *printer, const Expr *expr);
void print_expressions(Printer *printer, const Expr *const *exprs, int count);
/* (a, b) or (a,). */
void print_tuple(Printer *printer, const Expr *const *exprs, int count);
/* BEGIN + EXTENT, folded as the operator folds. */
void print_sum(Printer *printer, const Expr *begin, const Expr *extent);
/* A[i, 0:4]: an element of BUFFER. */
void print_access(Printer *printer, const Buffer *buffer, const Expr *const *indices, int count);
/* [a, b], as the indices of a masked access. */
void print_index_list(Printer *printer, const Expr *const *indices, int count);
void print_buffer_region(Printer *printer, const Region *region);
/* The type of VAR as an annotation: T.int32, T.handle("float32", "global"). */
const char *printer_var_type(const Printer *printer, const Var *var);
/* What makes a fresh variable like VAR: T.int32(). */
const char *printer_var_creation(const Printer *printer, const Var *var);

/* --- print_buffer.c --- */
/* True when T.Buffer(shape, dtype) in a signature says all of BUFFER. */
bool buffer_is_simple(const Buffer *buffer);
/* T.Buffer((m, n), "float32"), and BUFFER's own variables become known. */
void print_buffer_annotation(Printer *printer, const Buffer *buffer);
/* What follows "NAME = T.METHOD(" in the declaration of BUFFER, whose name is defined already: shape, dtype, layout and the closing
   parenthesis. OWNS_DATA: a data pointer that nothing else has defined is the buffer's own. */
void print_buffer_arguments(Printer *printer, const Buffer *buffer, bool owns_data);
/* NAME = T.METHOD(shape, ...) as a line, NAME being a new one for BUFFER with data of its own. */
void print_buffer_line(Printer *printer, const char *method, const Buffer *buffer);
/* T.alloc_buffer. */
void print_own_buffer(Printer *printer, const Buffer *buffer);

/* --- print_stmt.c --- */
/* The statements of a body, one level deeper ("pass" where there are none). */
void print_suite(Printer *printer, const Stmt *body);
/* The same at the current level, where BODY continues statements already printed. */
void print_rest(Printer *printer, const Stmt *body);
/* LAST: nothing follows in its sequence, so that what it encloses may stand at its own level. */
void print_statement(Printer *printer, const Stmt *stmt, bool last);

/* --- print_loop.c, print_block.c --- */
void print_for(Printer *printer, const ForStmt *loop);
void print_block(Printer *printer, const BlockStmt *block);
/* The lines NAME = T.alloc_buffer(...) of BLOCK. */
void print_block_allocs(Printer *printer, const BlockStmt *block);

#endif
