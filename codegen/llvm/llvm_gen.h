/* Translating one function to LLVM IR: the state, and what the files of the translation offer each other.

   Values. Each expression becomes one LLVM value: bool is i1, float16 is half, bfloat16 is i16 (its bits: arithmetic on it is float32 with
   rounding after each operation, see llvm_float.c), a handle is a pointer, a vector of N lanes is <N x scalar>. In memory a bool is a byte.

   Laziness over vectors. While an operand is evaluated that only some lanes need (the right side of 'and', a branch of if_then_else),
   lane_mask holds those lanes. What is not safe to evaluate for all lanes (loads, calls) looks at it. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_GEN_H
#define TIRC_CODEGEN_LLVM_LLVM_GEN_H

#include "codegen/llvm/llvm_module.h"
#include "ir/signature.h"

/* Where break_loop (NULL: nowhere) and continue_loop go. */
typedef struct LoopTargets {
    LLVMBasicBlockRef on_break, on_continue;
    int heap_depth; /* heap blocks that are live outside of the loop */
    const Var *var; /* NULL: no counted loop */
} LoopTargets;

/* A live block of memory from tirc_alloc. The ways out of the function share the code that frees it: CLEANUP (NULL: not needed so far),
   which goes on to the cleanup of the heap block outside of this one, or returns CODE, the code that each way brings. */
typedef struct {
    LLVMValueRef memory;
    LLVMBasicBlockRef cleanup;
    LLVMValueRef code;
} HeapBlock;

/* Addresses that a block of code has computed so far, the last ones of them (llvm_address.c). */
enum { ADDRESS_COUNT = 32 };
typedef struct {
    LLVMValueRef pointer;
    DType type;
    const Expr *index;
    LLVMValueRef address; /* of the element INDEX of TYPE of what POINTER points to */
} KnownAddress;
typedef struct {
    LLVMBasicBlockRef block;
    KnownAddress known[ADDRESS_COUNT];
    int count; /* since the block began */
} AddressTable;

typedef struct {
    Context *ctx;
    LlvmBuild *build;
    LlvmUnit *unit;
    const Func *func;
    const char *symbol; /* exported name, for names of parts and for messages */
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMMetadataRef debug_scope; /* NULL without debug information */
    LLVMBasicBlockRef entry; /* holds the allocas and a branch to the first block of code */
    Map values;              /* const Var * -> LLVMValueRef */
    Map sliced_lets;         /* const Var * of a vector let that is computed in slices -> const Expr *, a Shuffle of the slices' variables */
    AddressTable addresses;
    Map wide_values;         /* const Var * -> LLVMValueRef: the value as i64, of loop variables that are kept in 64 bits */
    LLVMValueRef lane_mask;  /* NULL: all lanes */
    bool has_computed_pointers; /* a let binds a pointer: two data variables may then mean one memory */
    bool keeps_loops;        /* the code is what another version of it mostly takes the place of: LLVM need not write loops out */
    bool streams_stores;     /* a loop around asks for non-temporal stores */
    const Var *prefetch_var; /* of the innermost loop that asks for prefetches, and how many rounds ahead */
    int64_t prefetch_distance;
    bool prefetches_vectors; /* and of vectors only */
    bool in_parallel_body;   /* the function is the outlined body of a parallel loop */
    bool is_long;            /* each outermost loop becomes a function of its own */
    int64_t stack_bytes;     /* taken by scratch buffers so far */
    int64_t staging_bytes;   /* and by those that lowering widened */
    VEC(HeapBlock) heap_blocks; /* innermost last */
    const LoopTargets *loop; /* innermost; NULL outside of loops */
    int *body_count;         /* outlined bodies of the exported function so far, for their names */
} FuncGen;

/* --- llvm_slow.c: warnings of slow forms, inside of loops --- */
/* A vector access to BUFFER that is SCATTERED ("a gather"; NULL: it is not), or under a MASK (may be NULL) that changes with the innermost
   loop. */
void warn_slow_access(FuncGen *gen, Span span, const Buffer *buffer, int lanes, const char *scattered, const Expr *mask);
/* The function NAME is called for each of the LANES. */
void warn_lane_calls(FuncGen *gen, Span span, int lanes, const char *name);

/* --- llvm_types.c --- */
LLVMTypeRef llvm_value_type(const LlvmBuild *build, DType dtype);
LLVMTypeRef llvm_memory_type(const LlvmBuild *build, DType dtype);
/* The type in which a scalar crosses a C call: bool is i8, float16 and bfloat16 are i16. */
LLVMTypeRef llvm_abi_type(const LlvmBuild *build, DType dtype);
LLVMValueRef llvm_const_int(const LlvmBuild *build, DType dtype, int64_t value);
LLVMValueRef llvm_const_float(const LlvmBuild *build, DType dtype, double value);
/* CONSTANT in each of LANES lanes; itself when LANES is 1. */
LLVMValueRef llvm_const_splat(LLVMValueRef constant, int lanes);
LLVMValueRef llvm_const_zero(const LlvmBuild *build, DType dtype);
LLVMTypeRef llvm_with_lanes(LLVMTypeRef scalar, int lanes);
/* The lanes of a vector type, 1 for others. */
int llvm_lanes(LLVMTypeRef type);
LLVMValueRef emit_to_memory(FuncGen *gen, LLVMValueRef value, DType dtype);
LLVMValueRef emit_from_memory(FuncGen *gen, LLVMValueRef value, DType dtype);
LLVMValueRef emit_to_abi(FuncGen *gen, LLVMValueRef value, DType dtype);
LLVMValueRef emit_from_abi(FuncGen *gen, LLVMValueRef value, DType dtype);
/* Marks parameter INDEX (0: the result, else 1, 2, ...) of a function or call as sign- or zero-extended where the C calling convention
   wants it. */
void llvm_mark_extension(const LlvmBuild *build, LLVMValueRef function_or_call, unsigned index, DType dtype);
LLVMAttributeRef llvm_attribute(const LlvmBuild *build, const char *name, uint64_t value);

/* --- llvm_build.c: small pieces of IR --- */
LLVMBasicBlockRef emit_block(FuncGen *gen, const char *name);
/* Ends the current block, unless it has ended, with a branch to TARGET. */
void emit_jump(FuncGen *gen, LLVMBasicBlockRef target);
/* Continues in BLOCK. */
void emit_at(FuncGen *gen, LLVMBasicBlockRef block);
/* A phi of two values. */
LLVMValueRef emit_phi(FuncGen *gen, LLVMValueRef a, LLVMBasicBlockRef from_a, LLVMValueRef b, LLVMBasicBlockRef from_b);
/* A call of the LLVM intrinsic NAME ("llvm.fma") overloaded on TYPE (NULL: not overloaded). */
LLVMValueRef emit_intrinsic(FuncGen *gen, const char *name, LLVMTypeRef type, LLVMValueRef *args, int arg_count);
/* The same, overloaded on two types. */
LLVMValueRef emit_intrinsic2(FuncGen *gen, const char *name, LLVMTypeRef first, LLVMTypeRef second, LLVMValueRef *args, int arg_count);
/* A call of the C function NAME, declared on first use with RESULT and the types of ARGS. */
LLVMValueRef emit_c_call(FuncGen *gen, const char *name, LLVMTypeRef result, LLVMValueRef *args, int arg_count);
LLVMValueRef emit_splat(FuncGen *gen, LLVMValueRef scalar, int lanes);
/* The vector whose lane i is lane picks[i] of A and B laid end to end (B may be NULL); picks of -1 are undefined. */
LLVMValueRef emit_shuffle(FuncGen *gen, LLVMValueRef a, LLVMValueRef b, const int *picks, int count);
/* VECTOR in WIDTH lanes, the new ones undefined. */
LLVMValueRef emit_widened(FuncGen *gen, LLVMValueRef vector, int width);
/* VALUES, COUNT vectors or scalars of one element type, laid end to end: LANES in all. */
LLVMValueRef emit_joined(FuncGen *gen, const LLVMValueRef *values, int count, int lanes);
LLVMValueRef emit_lane(FuncGen *gen, LLVMValueRef vector, int lane);
LLVMValueRef emit_with_lane(FuncGen *gen, LLVMValueRef vector, LLVMValueRef scalar, int lane);
/* True in any lane of an i1 vector. */
LLVMValueRef emit_any(FuncGen *gen, LLVMValueRef mask);
/* FUNCTION(gen, lanes of ARGS, data) for each lane (of those in lane_mask), collected in a vector of RESULT, which may be void. */
typedef LLVMValueRef (*LaneFunction)(FuncGen *gen, LLVMValueRef *args, void *data);
LLVMValueRef emit_each_lane(FuncGen *gen, LLVMTypeRef result, LLVMValueRef *args, int arg_count, int lanes, LaneFunction function,
                            void *data);
/* A stack slot, in the entry block. */
LLVMValueRef emit_stack_slot(FuncGen *gen, LLVMTypeRef type, int64_t count, unsigned alignment);
/* A pointer to constant, NUL-terminated TEXT. */
LLVMValueRef emit_text(FuncGen *gen, const char *text);

/* --- llvm_expr.c, llvm_lazy.c, llvm_vector.c --- */
LLVMValueRef emit_expr(FuncGen *gen, const Expr *expr);
/* Binds VAR, of a let, to VALUE. */
void emit_binding(FuncGen *gen, const Var *var, const Expr *value);
/* A value of EXPR's type for when it could not be translated: translation goes on to find more mistakes. */
LLVMValueRef emit_nothing(FuncGen *gen, const Expr *expr);
/* True when evaluating EXPR has no effect and cannot fail, so that it may be evaluated although it is not needed; and true when it is cheap
   as well. */
bool expr_is_speculatable(const Expr *expr);
bool expr_is_cheap(const Expr *expr);
LLVMValueRef emit_and_or(FuncGen *gen, const Expr *expr);
LLVMValueRef emit_if_then_else(FuncGen *gen, const Expr *expr);
/* Scalar EXPR, needed only where a lane of lane_mask is set: zero when none is. */
LLVMValueRef emit_where_any_lane(FuncGen *gen, const Expr *expr);
LLVMValueRef emit_ramp(FuncGen *gen, const Expr *expr);
LLVMValueRef emit_broadcast(FuncGen *gen, const Expr *expr);
LLVMValueRef emit_shuffle_expr(FuncGen *gen, const Expr *expr);

/* --- llvm_int.c, llvm_float.c, llvm_cast.c --- */
/* A + - * / and so on of EXPR's kind over operands of DTYPE (EXPR_ADD to EXPR_GE). */
LLVMValueRef emit_int_binary(FuncGen *gen, ExprKind kind, DType dtype, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emit_float_binary(FuncGen *gen, ExprKind kind, DType dtype, LLVMValueRef a, LLVMValueRef b);
/* Scalar BASE to the POWER. */
LLVMValueRef emit_int_power(FuncGen *gen, DType dtype, LLVMValueRef base, LLVMValueRef power);
LLVMValueRef emit_shift(FuncGen *gen, bool left, DType dtype, LLVMValueRef value, LLVMValueRef count);
/* Arithmetic on float16 and bfloat16 happens in float32: widen gives the value in the type to compute in (float64 stays), narrow rounds
   back. */
LLVMValueRef emit_widen(FuncGen *gen, LLVMValueRef value, DType dtype);
LLVMValueRef emit_narrow(FuncGen *gen, LLVMValueRef value, DType dtype);
/* Marks a float operation with what the options allow. */
LLVMValueRef emit_relaxed(FuncGen *gen, LLVMValueRef operation);
LLVMValueRef emit_cast(FuncGen *gen, LLVMValueRef value, DType from, DType to);

/* --- llvm_math.c, llvm_bits.c, llvm_extern.c --- */
LLVMValueRef emit_call(FuncGen *gen, const Expr *call);
/* NULL for an operation that is not of the family. */
LLVMValueRef emit_bit_call(FuncGen *gen, const Expr *call);
LLVMValueRef emit_extern_call(FuncGen *gen, const Expr *call);
/* T.tirc_own_tmm16() may be true for this code: loops in the place of tmm16 are worth having. */
bool may_own_tmm16(const FuncGen *gen);
/* Asks the linked program whether its tmm16 is the runtime's own. */
LLVMValueRef emit_own_tmm16(FuncGen *gen);
LLVMValueRef emit_llvm_intrinsic_call(FuncGen *gen, const Expr *call);

/* --- llvm_address.c, llvm_access.c, llvm_gather.c, llvm_index.c --- */
/* The element INDEX + OFFSET of flat BUFFER. INBOUNDS: the access certainly happens, so the index is inside. */
LLVMValueRef emit_element_pointer(FuncGen *gen, const Buffer *buffer, const Expr *index, int64_t offset, bool inbounds, Span span);
LLVMValueRef emit_load(FuncGen *gen, const Expr *load);
/* Stores VALUE, which is the value of the STMT_STORE. */
void emit_store_value(FuncGen *gen, const Stmt *store, LLVMValueRef value);
/* Loads a TYPE when CONDITION (NULL: always) holds, else gives zero. */
LLVMValueRef emit_conditional_load(FuncGen *gen, LLVMTypeRef type, LLVMValueRef pointer, unsigned alignment, LLVMValueRef condition);
/* The lanes of MASK of a vector in memory; other lanes read as zero (llvm_gather.c). */
LLVMValueRef emit_masked_load(FuncGen *gen, LLVMTypeRef type, LLVMValueRef pointer, unsigned alignment, LLVMValueRef mask);
void emit_masked_store(FuncGen *gen, LLVMValueRef value, LLVMValueRef pointer, unsigned alignment, LLVMValueRef mask);
/* Where the lanes of a scattered access are: OFFSETS (i32 or i64, signed) times the size of UNIT from the scalar POINTER on. */
typedef struct {
    LLVMValueRef pointer, offsets;
    LLVMTypeRef unit;
    unsigned alignment;
    LLVMValueRef mask; /* NULL: all lanes */
} ScatteredAccess;
/* The TYPE of elements at the lanes of ACCESS, zero where its mask is not set (llvm_gather.c). */
LLVMValueRef emit_gather(FuncGen *gen, LLVMTypeRef type, const ScatteredAccess *access);
/* Stores the lanes of VALUE. Of lanes that name one element the last one stays. */
void emit_scatter(FuncGen *gen, LLVMValueRef value, const ScatteredAccess *access);
/* LANES elements of BYTES bytes, STRIDE elements apart (not 0), the first at POINTER (llvm_stride.c). */
typedef struct {
    LLVMValueRef pointer;
    LLVMTypeRef element;
    int bytes, stride, lanes;
    unsigned alignment;
    LLVMValueRef mask; /* NULL: all lanes */
} StridedAccess;
LLVMValueRef emit_strided_load(FuncGen *gen, const StridedAccess *access);
void emit_strided_store(FuncGen *gen, const StridedAccess *access, LLVMValueRef value);
LLVMValueRef emit_pointer_call(FuncGen *gen, const Expr *call);
/* The address of the element that LOAD reads, of its first lane if it has several; NULL where these do not run evenly. */
LLVMValueRef emit_first_element(FuncGen *gen, const Expr *load);
/* 0, STRIDE, 2 * STRIDE, ... as a vector: of 32-bit integers where they suffice, which makes shorter gathers. */
LLVMValueRef emit_lane_offsets(FuncGen *gen, const Expr *stride, int lanes);
/* Scalar index EXPR as i64. Index arithmetic does not overflow its type, so it may be done in 64 bits throughout. */
LLVMValueRef emit_index(FuncGen *gen, const Expr *expr);

/* --- llvm_stmt.c, llvm_loop.c, llvm_parallel.c, llvm_memory.c --- */
void emit_stmt(FuncGen *gen, const Stmt *stmt);
void emit_for(FuncGen *gen, const Stmt *stmt);
void emit_while(FuncGen *gen, const Stmt *stmt);
void emit_loop_exit(FuncGen *gen, const Expr *call);
/* A serial loop of VAR over [BEGIN, END) as i64 values around BODY. IS_PART: it is a part of a parallel loop, which nothing may leave. */
void emit_counted_loop(FuncGen *gen, Var *var, LLVMValueRef begin, LLVMValueRef end, const Stmt *body, bool is_part);
/* Binds VAR of a loop to I (i64). */
void gen_bind_loop_var(FuncGen *gen, Var *var, LLVMValueRef i);
/* --- llvm_hint.c --- */
/* The number that the annotation NAME of LOOP gives, 0 without one. */
int64_t loop_hint(const ForStmt *loop, const char *name);
/* Stores a vector past the caches where its address is a multiple of BYTES (a power of two), else plainly. */
void emit_nontemporal_store(FuncGen *gen, LLVMValueRef value, LLVMValueRef pointer, unsigned bytes, unsigned alignment);
/* Orders the non-temporal stores so far before what follows. */
void emit_store_fence(FuncGen *gen);
/* Prefetches what BODY loads at the places that the round DISTANCE rounds after I of the loop over VAR will need. */
void emit_prefetches(FuncGen *gen, Var *var, LLVMValueRef i, const Stmt *body, int64_t distance);

void emit_parallel_for(FuncGen *gen, const Stmt *stmt);
/* --- llvm_part.c --- */
/* FUNC has more outermost loops than LLVM takes well in one function. */
bool func_is_long(const Func *func);
/* Puts the outermost loop STMT of a long function into a function of its own, and calls that. False: it is to stay where it is. */
bool emit_part(FuncGen *gen, const Stmt *stmt);
void emit_allocate(FuncGen *gen, const Stmt *stmt);
void emit_allocate_const(FuncGen *gen, const Stmt *stmt);
/* Frees the heap blocks from DEPTH on, which stay live for code that follows. */
void emit_free_heap(FuncGen *gen, int depth);
/* Leaves the function with CODE (an i32): frees all heap blocks and returns. Ends the current block. */
void emit_leave(FuncGen *gen, LLVMValueRef code);
/* The same in the middle of code: what follows goes into an unreachable block. */
void emit_return(FuncGen *gen, LLVMValueRef code);
/* Tells LLVM that the first target of BRANCH is hardly ever taken. */
void emit_unlikely(FuncGen *gen, LLVMValueRef branch);
/* Returns TIRC_ERROR_* CODE with MESSAGE in tirc_last_error when FAILED (i1); continues otherwise. */
void emit_fail_if(FuncGen *gen, LLVMValueRef failed, const char *message);

/* --- llvm_func.c --- */
/* Attributes that all functions of a compilation have. */
void llvm_func_set_attributes(const LlvmBuild *build, LLVMValueRef function);
/* Starts the code of FUNCTION, which GEN shall fill (its ctx, build, unit, func and symbol are set), and ends it with return 0. */
void llvm_func_begin(FuncGen *gen, LLVMValueRef function, Span span);
void llvm_func_end(FuncGen *gen);

static inline void gen_bind(FuncGen *gen, const Var *var, LLVMValueRef value)
{
    if (map_has(&gen->values, var))
        gen->addresses.count = 0; /* those known were computed with the value before */
    map_set(gen->ctx->arena, &gen->values, var, value);
}

#endif
