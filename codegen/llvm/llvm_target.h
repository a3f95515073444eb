/* The machine to compile for: triple, processor, features, and what its C calling convention asks of small integers. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_TARGET_H
#define TIRC_CODEGEN_LLVM_LLVM_TARGET_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/backend.h"

typedef struct {
    LLVMTargetMachineRef machine;
    char *data_layout;                      /* owned by LLVM */
    const char *triple, *cpu, *features;    /* live as long as the context; features may be "" */
    const char *found;                      /* what was found of the features of a processor that the user named: see llvm_features.h; else "" */
    const char *arch;                       /* "x86_64", "aarch64" or "riscv64" */
    int vector_bytes;   /* of the widest vector register */
    bool extends_int32; /* the calling convention wants 32-bit integers sign-extended to registers */
} LlvmTarget;

/* Opens the target that OPTIONS name. False after a diagnostic: an architecture that tirc does not know, or a processor or feature that
   LLVM does not. The target is that of CTX, which keeps it for the next who asks. */
bool llvm_target_open(Context *ctx, const CodegenOptions *options, LlvmTarget *target);
/* What is known of FEATURE (LLVM's name without a sign): '+' the target has it, '-' it lacks it, 0 nothing. */
char llvm_target_sign(const LlvmTarget *target, const char *feature);
/* Makes LLVM ready to compile for the machine that this process runs on. False after a diagnostic. */
bool llvm_target_initialize_host(Context *ctx);
/* Code for the target that OPTIONS name runs on this machine. False after a diagnostic. */
bool llvm_target_runs_here(Context *ctx, const CodegenOptions *options);
/* Gives MODULE the target's triple and data layout. */
void llvm_target_set_module(const LlvmTarget *target, LLVMModuleRef module);
/* Gives FUNCTION the target's processor and features. Inlining and instruction selection look at the function, not at the machine. */
void llvm_target_set_function(const LlvmTarget *target, LLVMValueRef function);

#endif
