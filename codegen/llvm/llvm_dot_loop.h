/* What a loop that adds products of bytes is taken for. Private to llvm_dot.c and llvm_dot_match.c. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_DOT_LOOP_H
#define TIRC_CODEGEN_LLVM_LLVM_DOT_LOOP_H

#include "codegen/llvm/llvm_dot.h"
#include "codegen/llvm/llvm_index.h"

enum { MAX_DOT_UPDATES = 16, MAX_DOT_PARTS = 4, MAX_DOT_GROUP = 16, DOT_DEPTH = 4 };

typedef struct {
    const Expr *load;
    bool is_signed;
} DotOperand;

/* C += A * B on LANES lanes, for COUNT values of k in each iteration of the loop: a[r] and b[r] belong to the r-th of them. */
typedef struct {
    const Stmt *store;
    const Expr *target; /* the load of C */
    DotOperand a[MAX_DOT_GROUP], b[MAX_DOT_GROUP];
    int count, lanes;
    DotKind kind;
    DotSum sums[MAX_DOT_PARTS];
} DotUpdate;

typedef struct {
    FuncGen *gen;
    const ForStmt *loop;
    DotUpdate updates[MAX_DOT_UPDATES];
    int count, lanes, parts; /* PARTS: sums of each update, so that one addition need not wait for the other */
    int group;               /* values of k in an iteration, a power of two */
    int bytes;               /* of a vector of scalar updates */
    LLVMValueRef next;       /* slot: the next iteration to do */
    LLVMValueRef end;
} DotLoop;

/* Fills UPDATES to BYTES for DOT->loop; false where the loop has another form or dot products do not pay. */
bool dot_match_loop(DotLoop *dot);
/* Four rounds from FIRST on of OPERAND (a load for each member of the group) as lanes STRIDE apart from BASE on, of which each k is one
   element behind the last; false for other forms. A scalar operand has stride 0. */
bool dot_consecutive_lanes(const DotLoop *dot, const DotOperand *operand, int first, LaneIndex *lanes);

#endif
