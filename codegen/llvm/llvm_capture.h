/* Parts of a function that become functions of their own, and what such a part uses of the function around it. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_CAPTURE_H
#define TIRC_CODEGEN_LLVM_LLVM_CAPTURE_H

#include "codegen/llvm/llvm_gen.h"

/* What a part uses of the enclosing function. */
typedef struct {
    const Var *var;
    LLVMValueRef value; /* outside; of a variable kept in 64 bits, that value */
    bool wide;
} Capture;
typedef VEC(Capture) Captures;

/* What STMT uses of the values of GEN. Constants are not among them: they mean the same in every function. */
Captures captures_find(FuncGen *gen, const Stmt *stmt);
/* A new internal function NAME that returns an error code. Its parameters: FIRST_COUNT of the types FIRST, then the captures, of which
   pointers to memory of its own are marked so. */
LLVMValueRef captures_add_function(FuncGen *gen, const Captures *captures, const char *name, const LLVMTypeRef *first, int first_count);
/* The generator for the body of such a function, begun: what GEN knows, with the captures bound to parameters FIRST_COUNT and on. */
FuncGen captures_begin_body(FuncGen *gen, const Captures *captures, LLVMValueRef function, int first_count, Span span);
/* An internal function of the unit, with the attributes that all have. */
LLVMValueRef llvm_add_part(FuncGen *gen, const char *name, LLVMTypeRef type);

#endif
