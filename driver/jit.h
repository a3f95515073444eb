/* Running compiled functions in this process: for --check and --time, and for tests. The very object that would be written to a file is
   loaded, linked and called. */
#ifndef TIRC_DRIVER_JIT_H
#define TIRC_DRIVER_JIT_H

#include "codegen/backend.h"
#include "interp/argdata.h"

typedef struct Jit Jit;

/* One argument: the member of the parameter's type; a pointer for a buffer; the bits of float16 and bfloat16; integer for a dimension. */
typedef union {
    void *pointer;
    int64_t integer; /* any integer type and bool */
    float float32;
    double float64;
    uint16_t bits16;
} JitArg;

/* Returns 0 or the function's error code, then with a message in tirc_last_error(). */
typedef int (*JitFunction)(const JitArg *args);

/* An empty process image that knows the runtime. NULL after a diagnostic. The caller closes it; functions found in it die with it. CTX is
   used up to the last call but closing. */
Jit *jit_open(Context *ctx);
void jit_close(Jit *jit);
/* Adds the definitions of a .so, .o, .ll or .bc file. They win over those of the runtime. False after a diagnostic. */
bool jit_load(Jit *jit, const char *path);
/* Compiles the lowered MODULE for this machine with OPTIONS (which get entry_points) and adds it. OUT (may be NULL) gets the times. False
   after diagnostics. */
bool jit_add_module(Jit *jit, const Module *module, CodegenOptions options, CodegenOutput *out);
/* The function that the module exports as SYMBOL, linked and ready to be called with a JitArg for each parameter and dimension of its
   Signature; NULL after a diagnostic, as when it calls what nobody defines. */
JitFunction jit_find(Jit *jit, Str symbol);

/* The C function that the module exports as SYMBOL; NULL after a diagnostic. */
void *jit_find_exported(Jit *jit, Str symbol);

/* VALUE as an argument of scalar type DTYPE. */
JitArg jit_arg_integer(DType dtype, int64_t value);
JitArg jit_arg_real(DType dtype, double value);
/* The arguments for a call of DATA's function, in ctx->arena. Pointers refer to DATA's memory. */
const JitArg *jit_arguments(Context *ctx, const ArgData *data);

#endif
