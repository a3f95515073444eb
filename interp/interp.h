/* The reference interpreter: runs a function at any stage on the IR itself and checks it as it runs. It is the definition of what a program
   means.

   Where the text leaves room, this is what it does:
   - Integers wrap. `//` and `%` floor, `/` on integers and truncmod go towards zero. A shift by a negative amount or by the width and more
     is a finding; the result is 0 for `<<` and the sign for `>>`. clz(0) is the width.
   - Each float operation is computed in double (fma in the type itself) and rounded to its type. float to int goes towards zero and
     saturates, NaN gives 0; anything but 0 is true.
   - A block's init runs once for each point of its spatial axes in each execution of the outermost loop that its other axes depend on
     (through lets and outer blocks), before the point's first update. Where a point of the surrounding loops may go without an update (an
     extent that may be 0, a condition on reduction loops), the inits run before that loop, over its other loops; conditions on reduction
     loops alone do not count for them. A condition that mixes both kinds of loops excludes the points for which it never holds.
   - An instance of a block is identified by its axis values, those of the blocks around it, the outer loop variables and lets that its body
     mentions, and the iteration of a while loop around it.
   - The loops of a kernel (the outermost thread-bound loop) that have one tag are one index. blockIdx runs serially. The threads of a block
     run every statement together, thread after thread, so a statement sees what all threads did in the statement before. Allocations made
     outside: "shared*" and "warp*" exist once for each block, "local*" and "wmma*" once for each thread, both unwritten at its start; every
     other scope is common memory.
   - A block with init whose reduction axes depend on a threadIdx loop is a reduction across those threads: its instances are atomic, and
     all of the threads see the result. T.tvm_thread_allreduce combines the values of threads in their order, from the identity on.

   - Iterations of a parallel or vectorized loop, and thread blocks, are in conflict where one writes an element that another reads or
     writes, unless the memory is scratch that each iteration writes before it reads it and that nobody reads after the loop. Threads of a
     block may write the same value to one element; in shared memory a barrier is implied between a write and a read in different
     statements, elsewhere only T.tvm_storage_sync is one.
   - A view (match_buffer) that does not name its offset points to the start of its region.
   - A function of the program that another one calls by its symbol runs on the memory that it is given pointers to, from each pointer on to
     the end of that memory.

   It does not run: calls to unknown functions, packed calls, LLVM intrinsics, tensor-core and other device operations. These are errors
   when they are reached. */
#ifndef TIRC_INTERP_INTERP_H
#define TIRC_INTERP_INTERP_H

#include "ir/stmt.h"

/* A scalar, or a pointer where the dtype is a handle. */
typedef struct {
    DType dtype;
    union {
        int64_t integer; /* bool, int, uint (uint64 as its bit pattern) */
        double real;
        void *pointer;
    } as;
} InterpValue;

/* How extern functions other than tmm16 are called. RESULT has its dtype set (void for none). False: there is no such function. */
typedef struct {
    bool (*call)(void *data, const char *name, const InterpValue *args, int count, InterpValue *result);
    void *data;
} InterpExtern;

/* The value for one parameter. */
typedef struct {
    InterpValue scalar; /* for a parameter that is no buffer and no handle */
    /* memory of a buffer or handle: elements of its dtype in the host's byte order; bool takes one byte, vectors are lane after lane */
    void *data;
    int64_t bytes;      /* how much of it there is; a handle without buffer must be a multiple of its pointee's size */
    int ndim;
    const int64_t *shape;   /* ndim extents */
    const int64_t *strides; /* ndim, in elements; NULL: compact, row major */
    int64_t elem_offset;    /* where the buffer begins, in elements from data */
    bool unwritten;         /* the contents are no input: reading an element before it is written is a finding */
} InterpArg;

/* The value of a symbolic dimension that no argument shape gives directly. */
typedef struct {
    const Var *var;
    int64_t value;
} InterpSymbol;

/* What went wrong, as a bit number of InterpResult.kinds. */
typedef enum {
    INTERP_OUT_OF_BOUNDS, /* an index outside the shape, or an access outside the memory */
    INTERP_UNWRITTEN,     /* a read of an element that nothing has written */
    INTERP_UNDECLARED,    /* an access outside a block's reads or writes */
    INTERP_BINDING,       /* a value outside its axis's domain */
    INTERP_OVERFLOW,      /* index arithmetic that does not fit its type */
    INTERP_DIVISION,      /* a division by zero, a shift by the width or more */
    INTERP_RERUN,         /* a block instance run again with another result */
    INTERP_CONFLICT,      /* two iterations of a parallel, vectorized or thread-bound loop that use one element, not both reading */
    INTERP_VIEW,          /* match_buffer: shape, strides or offset do not fit */
    INTERP_THREADS,       /* loops of one kernel with one tag and different extents */
    INTERP_ASSERTION,     /* a false assert, T.assume, or relation of the arguments to the declarations; ends the run */
    INTERP_UNSUPPORTED,   /* something that cannot be interpreted was reached; ends the run */
    INTERP_STEP_LIMIT,    /* ends the run */
    INTERP_CALL,          /* a call of a function of the program that cannot be made, or that fails; ends the run */
} InterpFinding;

typedef struct {
    bool checks;        /* without: only bounds, divisions, assertions and what cannot be run are found */
    int finding_limit;  /* stop after so many findings; 0: 20 */
    int64_t step_limit; /* executed statements, those of the functions around the call included; 0: none */
    InterpExtern externs;
    const Module *module; /* whose functions a call may name by their symbols, or NULL */
    int depth;            /* of calls between them */
    int64_t steps_before; /* executed by the functions around the call */
    void (*progress)(void *data, int64_t steps); /* called now and then; may be NULL */
    void *progress_data;
    const InterpSymbol *symbols;
    int symbol_count;
} InterpOptions;

typedef struct {
    bool completed; /* ran to its end, with or without findings */
    int finding_count;
    uint32_t kinds; /* 1 << InterpFinding for each kind found */
    int64_t steps;
    InterpValue returned; /* of T.ret; void without one */
} InterpResult;

/* Runs FUNC on ARGS (func->param_count of them), whose memory it reads and writes. Each finding is an error at its .tir line that names the
   block and the element, with notes for the iteration; the first one of a kind at a place only. True when the run completed without
   findings. RESULT may be NULL. */
bool interp_run(Context *ctx, const Func *func, const InterpArg *args, const InterpOptions *options, InterpResult *result);

/* --- Elements in memory --- */
/* The element of scalar type T at AT (any alignment): interp_read_integer for bool, int and uint, interp_read_real for floats. */
int64_t interp_read_integer(DType t, const void *at);
double interp_read_real(DType t, const void *at);
/* Stores VALUE, which must be a value of T already (dtype_wrap, dtype_round_float). */
void interp_write_integer(DType t, void *at, int64_t value);
void interp_write_real(DType t, void *at, double value);

#endif
