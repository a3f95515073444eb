/* Symbols: variables, buffers and blocks. A symbol is its address; its name is for people. Immutable once made. */
#ifndef TIRC_IR_SYM_H
#define TIRC_IR_SYM_H

#include "ir/dtype.h"

typedef struct Expr Expr;

/* A variable: function parameter, symbolic dimension, loop variable, block iterator or let. A loop's identity is its Var. */
typedef struct Var {
    Str name;
    DType dtype;
    uint32_t id; /* unique in the context, growing in the order of creation */
    Span span;
    /* Of a handle that is the data pointer of a buffer or of T.handle("float32", "global"): the element type and the scope; else void and
       NULL. */
    DType pointee;
    Str pointee_scope;
    bool is_size; /* T.int32(is_size_var=True): a size, at least 0 */
    bool unnamed; /* the offset of a buffer whose declaration gives it no name: 0 where the buffer is a parameter of an object's function */
    Str stated_name; /* in the text, where a declaration gave the variable another one; else NULL */
} Var;

/* A buffer: a typed, shaped view of the memory behind data. */
typedef struct Buffer {
    Str name;
    DType dtype;
    uint32_t id;
    Span span;
    Var *data; /* two buffers with one data variable are one memory */
    int ndim;
    const Expr **shape;      /* ndim */
    const Expr **strides;    /* ndim, in elements; NULL: compact, row major */
    const Expr *elem_offset; /* in elements; never NULL */
    Str scope;               /* "global", "local", "shared.dyn", "global.A_reg", ... */
    int data_alignment;      /* bytes; 0 when not stated */
    int offset_factor;       /* elem_offset is a multiple of this; 0 when not stated (and an unnamed offset is 0) */
    bool auto_broadcast;     /* buffer_type="auto" */
    const int *axis_separators;
    int axis_separator_count;
} Buffer;

/* A block's identity. The name need not be unique. */
typedef struct Block {
    Str name;
    uint32_t id;
    Span span;
} Block;

/* Alignment in bytes of the buffers that tirc allocates, which may state a larger one. */
enum { ALLOCATED_ALIGNMENT = 64 };

Var *var_new(Context *ctx, Str name, DType dtype, Span span);
/* A handle variable that points to elements of type POINTEE in SCOPE. */
Var *var_new_pointer(Context *ctx, Str name, DType pointee, Str scope, Span span);
/* A fresh variable like VAR. */
Var *var_clone(Context *ctx, const Var *var, Str name);
Block *block_new(Context *ctx, Str name, Span span);

/* A compact buffer in SCOPE (NULL: "global") with a data variable of its own named like it and offset 0 (of the type of its first
   dimension, else int32). */
Buffer *buffer_new(Context *ctx, Str name, DType dtype, int ndim, const Expr *const *shape, Str scope, Span span);
/* A fresh symbol with all fields of BUFFER, its data variable included; the caller may change fields before it is used anywhere. */
Buffer *buffer_clone(Context *ctx, const Buffer *buffer);
/* A fresh buffer like BUFFER, under NAME, with a fresh data variable in SCOPE. */
Buffer *buffer_clone_fresh(Context *ctx, const Buffer *buffer, Str name, Str scope);
/* Type of the index expressions of BUFFER: that of its shape (int32 for 0-d). */
DType buffer_index_dtype(const Buffer *buffer);

/* Who sees a memory that exists once: everybody; the threads of one block; one thread. */
typedef enum { SCOPE_GLOBAL, SCOPE_SHARED, SCOPE_LOCAL } ScopeClass;
/* The class of a storage scope such as "shared.dyn". */
ScopeClass scope_class(Str scope);
/* SCOPE is on-chip memory that the threads of a loop bound to THREAD ("threadIdx.x"; NULL: none) share. */
bool scope_is_shared_by(Str scope, Str thread);

#endif
