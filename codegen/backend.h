/* Back ends: what turns a lowered module into bytes. Nothing here writes files: results are byte strings that the caller puts where it
   wants. */
#ifndef TIRC_CODEGEN_BACKEND_H
#define TIRC_CODEGEN_BACKEND_H

#include "ir/stmt.h"

typedef enum { EMIT_OBJECT, EMIT_ASSEMBLY, EMIT_LLVM_IR, EMIT_BITCODE, EMIT_KIND_COUNT } EmitKind;

/* A row of the table of output kinds: its name in --emit= and the usual file ending, without the dot. */
typedef struct {
    const char *name, *suffix;
} EmitKindInfo;
const EmitKindInfo *emit_kind_info(EmitKind kind);
/* The kind called NAME ("obj", "asm", "llvm-ir", "bc"); false when there is none. */
bool emit_kind_find(const char *name, EmitKind *kind);

/* An axis of a block, for debug information: lowering puts its value in the place of it. */
typedef struct NamedAxis {
    const struct NamedAxis *outer; /* the axis before it: of the same block, or of one around */
    const Var *var;
    const Expr *value; /* over variables of loops */
} NamedAxis;
/* A store that axes are seen from. A step may have made several of one statement of the text. */
typedef struct NamedSite {
    const struct NamedSite *other;
    const NamedAxis *innermost;
} NamedSite;
typedef struct {
    Map sites; /* axis_names_place of a store -> NamedSite */
} AxisNames;
static inline const void *axis_names_place(Span span)
{
    return (const void *)((uintptr_t)span.file << 32 | span.begin);
}

typedef struct {
    int opt_level;        /* 0 to 3 */
    const char *target;   /* a triple, or NULL: this machine */
    const char *cpu;      /* llc's name; NULL: the host's for this machine, else "generic"; "native": the host's */
    const char *features; /* llc's spelling ("+avx2,-fma"), or NULL */
    bool pic;
    bool unwind_tables; /* exceptions of called C++ functions and backtraces pass through the code */
    bool debug_info;   /* lines, functions, parameters, variables of loops and axes of blocks */
    const AxisNames *axes; /* with DEBUG_INFO; NULL: none are described */
    bool annotated_assembly; /* with LLVM's comments on blocks, loops and spills */
    bool fp_contract;  /* a * b + c may become one fused operation */
    bool fast_math;    /* floats obey the laws of real numbers */
    bool wide_math;    /* elementary functions (exp, tanh, ...) are those of the C library in float64, rounded, as in the interpreter */
    bool no_heap;      /* an allocation that needs tirc_alloc is an error */
    bool entry_points; /* also make jit_symbol(...) for each exported function: int (const uint64_t *slots), see driver/jit.h */
    const char *clang;    /* the command that compiles imported C; NULL: clang-19, else clang */
    const char *const *extern_names; /* definitions of these names in imported LLVM IR stay visible to the linker */
    int extern_count;
    const char *const *prefix_maps; /* OLD=NEW: a source file whose path begins with OLD is named with NEW instead */
    int prefix_map_count;
    const char *source_name; /* as the object shall name its source; directories are cut off; NULL: none */
} CodegenOptions;
/* -O2, this machine, PIC, unwind tables and contraction on, all else off. */
CodegenOptions codegen_default_options(void);

/* Seconds spent in each phase. */
typedef struct {
    double setup, translate, optimize, emit;
} CodegenTimes;

typedef struct {
    const char *data; /* NULL for a kind not asked for; in ctx->arena */
    size_t length;
} CodegenBytes;

typedef struct {
    CodegenBytes bytes[EMIT_KIND_COUNT];
    CodegenTimes times;
    int vector_bytes; /* of the widest vector registers of the target */
    bool is_x86;      /* the code is for x86-64 */
    const char **imports; /* the files that were read for tirc.import_llvm, in the order of reading */
    int import_count;
} CodegenOutput;

/* The vector registers of a target that a program may use at a time: their size, and how many there are (0: not known). */
typedef struct {
    int bytes, count;
} VectorRegisters;

typedef struct {
    const char *name, *description;
    /* Compiles all functions of MODULE, which is at the lowered stage, into the kinds in the bit set KINDS (1 << EMIT_OBJECT | ...). False
       after diagnostics; OUT then holds nothing. */
    bool (*compile)(Context *ctx, const Module *module, const CodegenOptions *options, unsigned kinds, CodegenOutput *out);
    /* The vector registers of the target of OPTIONS. Without a target that can be compiled for there is a diagnostic, and none are known. */
    VectorRegisters (*vector_registers)(Context *ctx, const CodegenOptions *options);
} Backend;
/* The back end called NAME (NULL: the default one), or NULL. */
const Backend *backend_find(const char *name);

/* The name of the entry point that options.entry_points adds for the function exported as SYMBOL. */
Str codegen_entry_symbol(Context *ctx, Str symbol);

/* False after diagnostics when an exported function of MODULE (any stage) has a name that objects or headers cannot hold, that of another
   one, or a parameter that C has no type for. Backend.compile and header_text need a module that passes. */
bool interface_check(Context *ctx, const Module *module);
/* Tells which functions are exported under other names than their own; main always is. */
void interface_warn(Context *ctx, const Module *module);

/* The C header that declares the exported functions of MODULE (any stage), in ctx->arena. SOURCE: the same before it was scheduled, or
   NULL; it tells better which outputs are inputs too. HEADER_NAME (the output file, or NULL) gives the include guard. */
const char *header_text(Context *ctx, const Module *module, const Module *source, const char *header_name);

#endif
