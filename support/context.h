/* The Context: everything that one run of the compiler owns. There is no mutable state outside of it, so several contexts may live side by
   side. */
#ifndef TIRC_SUPPORT_CONTEXT_H
#define TIRC_SUPPORT_CONTEXT_H

#include "support/arena.h"
#include "support/diag.h"
#include "support/hash.h"
#include "support/source.h"
#include "support/vec.h"

/* What a layer above keeps with the context, made at first use and released with it: an isl or LLVM context, the accesses collected
   last, the target compiled for last. */
typedef struct {
    void *handle;
    void (*release)(void *handle);
} Resource;

struct Context {
    Arena *arena;      /* where new nodes go; a schedule may swap in an arena of its own for a while */
    Arena *base_arena; /* lives as long as the context: strings, sources, diagnostics */
    Arena *scratch;    /* of work whose result is no node; NULL before the first */
    Interner *strings;
    SourceMap *sources;
    VEC(Diagnostic) diagnostics;
    int flushed_diagnostics, error_count;
    bool notes_dropped; /* the last error or warning was not kept, so that its notes are not either */
    DiagOptions diag_options;
    bool new_spellings; /* what is printed is for TVM 0.25 and later: see print/dialect.def */
    uint32_t next_symbol; /* the last number given to a Var, Buffer or Block */
    bool has_scalable;    /* some program has had vectors of T.vscale() lanes */
    Resource isl, llvm, target, accesses, rules;
    Map pure_operations; /* interned names of those that scripts registered, "tir.mysq" -> themselves */
    struct IntrinRules *intrin_rules; /* of script/: how operations of scripts are lowered; NULL: there are none */
    uint64_t work; /* operations of the analysis so far: a count that is the same everywhere, for --explain */
    uint64_t arguments_off;          /* a bit for each row of the portfolio that a test has turned off */
    struct Explanation *explanation; /* of what the analysis was asked; NULL: not wanted */
};

Context *context_new(void);
void context_free(Context *ctx);

/* Between the two, what is made lives only until the end: for work that results in an answer and not in nodes, so that many questions use
   the same memory. Begin returns what end takes, the arena from before. Calls may nest; then all lives until the outermost end. */
Arena *context_begin_scratch(Context *ctx);
void context_end_scratch(Context *ctx, Arena *outside);

/* Interned text that lives as long as the context. */
Str context_intern(Context *ctx, const char *text);
Str context_internf(Context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
