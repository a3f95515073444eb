/* The C interface of a function: what its object exports and in which order the arguments come. */
#ifndef TIRC_IR_SIGNATURE_H
#define TIRC_IR_SIGNATURE_H

#include "ir/stmt.h"

/* How an exported function is called: int SYMBOL(parameters in their declared order..., int64_t for each of dims). */
typedef struct {
    Str symbol;      /* the global_symbol attribute, else the function's name; with "tir_" before a name that C or the runtime owns */
    int param_count; /* func->params: a buffer is a pointer, a scalar goes by value */
    bool *written;   /* param_count: true for a buffer that the body writes or passes to an extern call (its pointer is not const) */
    bool *read;      /* param_count: true for a buffer whose elements the body may read as they are when the function is called */
    Var **
        dims; /* symbolic dimensions, then strides, then offsets that the declarations define, parameter by parameter, each once; a variable that
                        is already a scalar parameter is not repeated */
    int *dim_params; /* for each of dims: the index of the parameter whose declaration defines it */
    int dim_count;
} Signature;

/* True when the offset of BUFFER is a variable without a name: 0 where BUFFER is a parameter of an exported function. */
bool is_unnamed_offset(const Buffer *buffer);

/* The signature of FUNC (any stage), allocated in ctx->arena. */
const Signature *func_signature(Context *ctx, const Func *func);

/* The symbol that it has there. */
Str func_symbol(Context *ctx, const Func *func);

/* The function of MODULE that CALL calls, by its name or by its symbol; NULL where it calls none. */
const Func *module_callee(Context *ctx, const Module *module, const Expr *call);

/* True when nothing that BUFFER, a parameter of FUNC, holds before the call matters: no element is read before it is written. False where
   that is not shown. */
bool func_overwrites(Context *ctx, const Func *func, const Buffer *buffer);

#endif
