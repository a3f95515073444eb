/* What the machine code of a program does in each of its loops, read from the assembly that LLVM prints for it: of x86-64 only. */
#ifndef TIRC_CODEGEN_LLVM_MACHINE_CODE_H
#define TIRC_CODEGEN_LLVM_MACHINE_CODE_H

#include "support/context.h"

typedef enum {
#define X(identifier, name, one, several) CODE_##identifier,
#include "codegen/llvm/machine_code.def"
#undef X
    CODE_COUNT
} CodeKind;

typedef struct {
    const char *name, *one, *several;
} CodeKindInfo;
const CodeKindInfo *code_kind_info(CodeKind kind);

typedef VEC(Str) CodeCallees;
enum { VECTOR_REGISTERS = 32 };
/* Between the name of a loop's variable and the number of rounds that a run of the loop is, in the name of its block. */
#define ROUNDS_IN_NAME ".rounds."
/* The name of a block that does what another one does, for addresses that are not aligned: only one of them runs. */
#define UNALIGNED_NAME "unaligned"

/* A loop of the machine code, without the loops in it; or what is in no loop of a function. */
typedef struct {
    Str function;
    Str label; /* of its first block; NULL: no loop */
    Str name;  /* of the loop's variable, where LLVM keeps its block; may be NULL */
    int rounds; /* of the program's loop in a run of this one */
    int depth;
    bool innermost;
    int counts[CODE_COUNT], instructions;
    int lanes;          /* of the widest arithmetic */
    double float_bytes; /* of the results of float operations in one run, those of a multiply-add twice */
    /* [register][other]: how many sums lie between the value of OTHER before a run and that of the register after it; -1: it does not depend on it */
    signed char chains[VECTOR_REGISTERS][VECTOR_REGISTERS];
} CodeLoop;

/* The part of a loop that comes from one line of a source file. */
typedef struct {
    const CodeLoop *loop;
    Str file;
    int line, column;
    int counts[CODE_COUNT];
    int lanes;        /* of the widest arithmetic; 0: no arithmetic on floats or vectors */
    int vector_bytes; /* of the widest register */
    CodeCallees callees;
} CodePart;

typedef VEC(CodePart *) CodeParts;

/* The parts in the order of the listing ASSEMBLY, which was emitted with debug_info and annotated_assembly. What has no line (a part of line
   0) is counted in another part of its loop too. In ctx->arena. */
CodeParts machine_code_read(Context *ctx, const char *assembly);

/* The largest share of the peak of the multiply-adds on registers of VECTOR_BYTES that an innermost LOOP can reach: a bound by how many
   instructions of each kind a processor with two multiply-adds, two loads, a store and a shuffle in each cycle takes, and by the chains of
   sums, at four cycles a sum. *LIMIT says which. Negative where the loop computes no floats. */
double machine_code_share(const CodeLoop *loop, int vector_bytes, const char **limit);

#endif
