/* Shared by the parts of te.create_prim_func. */
#ifndef TIRC_SCRIPT_TE_FUNC_H
#define TIRC_SCRIPT_TE_FUNC_H

#include "ir/walk.h"
#include "passes/arith/analyzer.h"
#include "script/te.h"

/* A function that is being made. */
typedef struct {
    Script *script;
    Context *ctx;
    Analyzer *analyzer;
    Span span;
    Subst subst; /* of the variables of sizes, and of the tensors' buffers */
    Map tensors; /* Tensor -> Buffer of the function */
    Map visible; /* data variable -> Buffer */
    Map names;   /* names of blocks that are taken */
    Map arguments; /* Tensors that are parameters */
    Map placed;    /* Tensors that extern operations take or give: the parameters among them may begin anywhere */
    VEC(Buffer *) allocs;
    VEC(const Stmt *) stmts;
    VEC(int) layout_free; /* numbers of parameters */
    Map in_scan;          /* Operation -> the scan whose steps it is part of */
    const Value *values;
    int value_count;
    DType index_dtype; /* what index_dtype_override= says; no bits: nothing */
} FuncBuild;

/* EXPR with the symbols of the function. */
const Expr *te_transformed(FuncBuild *build, const Expr *expr);
/* The same with the block's AXES (NULL: none) and the types that index_dtype asks for; INDEX: EXPR is a size or an index, else a value. */
const Expr *te_retyped(FuncBuild *build, const Subst *axes, const Expr *expr, bool index);
/* The type of a variable for sizes or of an axis that the text gave DTYPE. */
DType te_index_type(const FuncBuild *build, DType dtype);
/* The buffer of the function that stands for TENSOR; it is allocated where TENSOR is no parameter. */
Buffer *te_function_buffer(FuncBuild *build, const Tensor *tensor);
/* NAME, or NAME_1 and so on where a block has it. */
Str te_fresh_block_name(FuncBuild *build, Str name);
/* The attributes of the block of OP; false after a diagnostic. */
bool te_block_annotations(FuncBuild *build, const Operation *op, Attrs *annotations);
/* The states, first rows and steps of each scan in ORDER are parts of its results; what is computed from states is part of its steps. */
void te_bind_scans(FuncBuild *build, const OperationList *order);
/* Adds the loop of the steps of OP, an OPERATION_SCAN; false after a diagnostic. */
bool te_build_scan(FuncBuild *build, const OperationList *order, const Operation *op);
/* Adds the loops and blocks of OP, an OPERATION_COMPUTE; false after a diagnostic. */
bool te_build_compute(FuncBuild *build, const Operation *op);

#endif
