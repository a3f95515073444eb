/* One compilation: a tirc module on its way through LLVM. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_MODULE_H
#define TIRC_CODEGEN_LLVM_LLVM_MODULE_H

#include "codegen/llvm/llvm_target.h"

/* What is common to all functions of one compilation. */
typedef struct {
    Context *ctx;
    const CodegenOptions *options;
    LLVMContextRef llvm;
    LlvmTarget target;
    LLVMTypeRef void_type, i1, i8, i16, i32, i64, half, f32, f64, pointer;
    CodegenOutput *out;
    Map slow_forms; /* of llvm_slow.c: what was warned of */
    const Module *program; /* its functions call each other */
} LlvmBuild;

/* LLVM's pipeline follows content, and runs over whole LLVM modules: functions that work on explicit vectors are collected in one, all
   others in another, and both are linked before anything is emitted. */
typedef enum { UNIT_SCALAR, UNIT_VECTOR, UNIT_COUNT } UnitKind;

typedef struct LlvmDebug LlvmDebug; /* llvm_debug.h */

typedef struct {
    LlvmBuild *build;
    UnitKind kind;
    LLVMModuleRef module; /* NULL while no function needs the unit */
    LlvmDebug *debug;     /* NULL without debug information */
    Map declared;         /* interned names of the functions of the program, which the module declares or defines with their right types */
    bool has_imports;     /* holds imported LLVM IR, which wants inlining */
    bool has_intrinsics;  /* calls LLVM intrinsics by name */
} LlvmUnit;

/* The back end's entry: see Backend.compile. */
bool llvm_compile(Context *ctx, const Module *module, const CodegenOptions *options, unsigned kinds, CodegenOutput *out);

/* Runs LLVM's passes over UNIT, as many as its content needs (llvm_pipeline.c). False after a diagnostic. */
bool llvm_unit_optimize(LlvmUnit *unit);

/* Which unit FUNC belongs to, by its content (llvm_pipeline.c). */
UnitKind llvm_unit_of(Context *ctx, const Func *func);

/* Declares FUNC in UNIT, and defines it (llvm_func.c). Mistakes of the user are diagnosed. */
void llvm_unit_declare(LlvmUnit *unit, const Func *func);
void llvm_unit_define(LlvmUnit *unit, const Func *func);

/* Links the LLVM IR that FUNC's attribute tirc.import_llvm lists into UNIT, made internal but for the names of options.extern_names
   (llvm_import.c). SEEN holds what UNIT has already; false after a diagnostic. */
bool llvm_unit_import(LlvmUnit *unit, const Func *func, Map *seen);

#endif
