/* Inside the reference interpreter: interp_compile*.c make a program (interp_program.h), which is then evaluated (interp_eval*.c,
   interp_math.c, interp_call.c) and executed (interp_exec.c, interp_block.c, interp_init.c, interp_kernel.c, interp_match.c);
   interp_memory.c, interp_check.c and interp_conflict.c watch the accesses, interp_report.c words the findings. */
#ifndef TIRC_INTERP_INTERP_INTERNAL_H
#define TIRC_INTERP_INTERP_INTERNAL_H

#include "interp/interp_program.h"
#include "support/bug.h"

typedef struct Run Run;

/* --- memory --- */
typedef struct Iteration Iteration;

/* Who read an element, and when. Times count executed statements. */
typedef struct {
    const Iteration *iteration; /* NULL: nobody */
    uint64_t time;
} Reading;
/* What the checks know about one element. */
typedef struct {
    const Iteration *writer; /* NULL: nobody, or before the run */
    const ExecNode *write_place;
    uint64_t write_time; /* 0: never */
    Reading readings[2]; /* the second one may run at the same time as the first; two are enough to find one that is not the writer's own */
} Cell;

enum { CELLS_PER_PAGE = 128 };
typedef struct {
    uint64_t launch; /* the thread block that the cells belong to */
    Cell cells[CELLS_PER_PAGE];
} CellPage;
/* One copy of a memory's contents. */
typedef struct {
    uint8_t *data;
    bool owns_data;
    CellPage **pages; /* NULL without checks */
} Plane;
struct Memory {
    Str name;
    const BufferInfo *buffer; /* a buffer that covers it, for messages, or NULL */
    uint64_t key;             /* the same for every execution of the same allocation */
    uint32_t serial;          /* different for each memory of a run */
    int64_t bytes;
    int cell_bytes, page_count;
    ScopeClass scope;
    bool is_parameter, starts_written;
    int block_depth;        /* of the block that allocated it; 0 for parameters */
    uint32_t launch_serial; /* of the kernel launch inside which it was allocated; 0 outside */
    Plane plane;
    Plane *replicas; /* one a thread (SCOPE_LOCAL) or one (SCOPE_SHARED), made when first used in a kernel */
    int replica_count;
};

/* One element (or one lane of it). */
typedef struct {
    Memory *memory;
    Plane *plane;
    int64_t byte;
    uint8_t *at;
} Element;

/* A buffer's memory and offset; its shape and strides lie in Thread.dims. */
typedef struct {
    Pointer data;
    int64_t elem_offset;
} BoundBuffer;

/* --- what may run at the same time --- */
typedef enum { CONCURRENT_PARALLEL, CONCURRENT_VECTORIZED, CONCURRENT_BLOCKS, CONCURRENT_THREADS } ConcurrentKind;
/* What iterations of one execution did with a memory that is not a parameter: it is private to each of them, and so in no conflict, unless
   an iteration reads what it has not written or an element is read after the loop. */
typedef struct {
    uint32_t memory;
    bool read_from_outside;
    bool overlaps; /* two iterations wrote one element */
    int64_t byte;  /* that element */
    const Iteration *first, *second;
} ScratchUse;
/* One execution of a concurrent loop, or of a kernel's blocks or threads. */
typedef struct {
    ConcurrentKind kind;
    Str loop;             /* the loop variable; NULL for blocks and threads */
    const Kernel *kernel; /* of blocks and threads, with the extent of each tag */
    const int64_t *extents;
    VEC(ScratchUse) scratch;
} Execution;
/* One iteration of it; a chain up to the whole run, which has no execution. */
struct Iteration {
    const Iteration *parent;
    Execution *execution;
    int depth;
    int64_t value;        /* of the loop variable; of blocks and threads the row-major index */
    uint32_t merged_tags; /* of threads: tags whose index is left open, so that this stands for several threads */
};

/* --- tables of integer tuples --- */
typedef struct {
    int width, payload_size;
    int count, capacity, slot_count;
    int64_t *keys;
    char *payloads;
    int32_t *slots;
} TupleTable;

/* What an instance wrote when it first ran. */
typedef struct {
    bool ran;
    uint64_t digest;
    int64_t first_byte;
    uint64_t first_bits;
} InstanceRecord;
typedef struct {
    TupleTable instances; /* payload: InstanceRecord; key: the outer instance, the thread, the axis values, the identity slots */
    TupleTable points;    /* payload: uint64_t, the reduction in which init ran; key: the thread, the values of the axes in BlockInfo.points */
} BlockState;

/* A block being executed by a thread. */
typedef struct {
    uint64_t start_time;
    uint64_t reduction; /* number of the current execution of the loop where the block's reduction begins */
    int64_t instance;
    bool digesting, regions_known, rerun_reported;
    const Iteration *outer_iteration; /* what the thread had before this block */
    uint32_t outer_across;
    uint64_t digest;
    const BufferInfo *first_buffer; /* of the first write; NULL: none yet */
    int64_t first_byte;
    uint64_t first_bits;
} BlockFrame;

typedef enum { SIGNAL_NONE, SIGNAL_BREAK, SIGNAL_CONTINUE, SIGNAL_RETURN } Signal;

/* A kernel being executed. */
typedef struct {
    const Kernel *kernel;
    int64_t *extents; /* per tag */
    Thread *threads;
    int thread_count;
    uint32_t serial;
    uint64_t block;          /* a different number for each thread block that is ever run */
    int64_t block_index;     /* of the running block among those of the launch */
    uint64_t barrier;        /* time of the last explicit barrier */
    uint64_t shared_barrier; /* time of the last one, implied ones included */
} Launch;

struct Thread {
    Run *run;
    Slot *slots;
    BoundBuffer *bound;
    int64_t *dims;
    int64_t *ranges;
    BlockFrame *frames;
    const BlockInfo *block; /* the innermost one being executed, or NULL */
    const ExecNode *place;
    const Iteration *iteration;
    Launch *launch;
    int64_t *tags;   /* its index of each tag of the kernel */
    int index;       /* among the launch's threads; 0 outside */
    uint32_t across; /* thread tags of the cross-thread reduction being executed */
    int lane;
    bool declaring;  /* evaluates the regions that a block declares, which reads nothing for the program: findings are no findings */
    bool undeclared; /* and came upon one without a value */
    Signal signal;
};

/* Threads that execute a statement together. */
typedef struct {
    Thread **items;
    int count;
} Group;

struct Run {
    Context *ctx;
    const Program *program;
    const InterpOptions *options;
    Arena *arena; /* everything of the run: nodes, iterations, executions */
    bool checks, stopped, signals;
    uint64_t time, reductions, launched_blocks;
    int64_t steps, instance_count;
    uint32_t memory_serial, launch_serial;
    BlockState *blocks;
    VEC(Memory *) params;
    Map reported; /* place -> kinds already found there */
    InterpResult result;
};

/* --- Evaluation --- */
static inline int64_t eval_integer(const EvalNode *node, Thread *thread)
{
    return node->eval.integer(node, thread);
}
static inline double eval_real(const EvalNode *node, Thread *thread)
{
    return node->eval.real(node, thread);
}
static inline Pointer eval_pointer(const EvalNode *node, Thread *thread)
{
    return node->eval.pointer(node, thread);
}
/* The value of NODE in the current lane, whatever its type. */
Slot eval_slot(const EvalNode *node, Thread *thread);
/* VALUE wrapped into the node's integer type. */
static inline int64_t eval_wrap(const EvalNode *node, int64_t value)
{
    if (node->dtype.code == DT_INT)
        return (int64_t)((uint64_t)value << node->spare_bits) >> node->spare_bits;
    return (int64_t)((uint64_t)value << node->spare_bits >> node->spare_bits);
}
static inline double eval_round(DType t, double value)
{
    return t.bits == 64 ? value : t.bits == 32 && t.code == DT_FLOAT ? (double)(float)value : dtype_round_float(t, value);
}
/* All lanes of NODE into SLOTS, the lane of THREAD kept. */
void eval_lanes(const EvalNode *node, Thread *thread, Slot *slots);
EvalInteger eval_load_integer, eval_var_integer, eval_shuffle_integer, eval_select_integer, eval_let_integer, eval_unsupported_integer;
EvalReal eval_load_real, eval_var_real, eval_shuffle_real, eval_select_real, eval_let_real, eval_unsupported_real;
EvalPointer eval_load_pointer, eval_var_pointer, eval_select_pointer, eval_let_pointer, eval_unsupported_pointer;
/* Reports that NODE cannot be interpreted, and stops. */
void eval_unsupported(const EvalNode *node, Thread *thread);

/* --- Memory --- */
/* New memory, its contents unwritten (and zero). DATA: existing memory instead. Too large an allocation is a finding that ends the run;
   then it is empty. */
Memory *memory_new(Thread *thread, Str name, uint64_t key, Str scope, DType dtype, int64_t bytes, void *data);
void memory_free(Memory *memory);
/* The copy of MEMORY that THREAD sees. */
Plane *memory_plane(Memory *memory, Thread *thread);
Cell *memory_cell(Memory *memory, Plane *plane, Thread *thread, int64_t byte);
/* Binds BUFFER for THREAD to DATA with the shape, strides and offset that its declaration says. */
void memory_bind(Thread *thread, const BufferInfo *buffer, Pointer data);
/* Executes an allocation for every thread of GROUP (shared memory once); the memories go to MEMORIES (group.count of them; NULL where
   shared with an earlier thread). */
void memory_allocate(Group group, const AllocateInfo *info, Memory **memories);
/* Frees the MEMORIES; no thread of GROUP has the buffer bound to them any more. */
void memory_release(Group group, const AllocateInfo *info, Memory **memories);
typedef enum { USE_READS, USE_WRITES, USE_POINTS } Use;
/* Finds LANE of the element that ACCESS means now; false after a finding when there is none. The address of the place behind the last element may
   be taken, as in C: USE_POINTS, which accesses nothing. */
bool access_locate(Thread *thread, const Access *access, int lane, Use use, Element *element);
/* The BYTES at POINTER + OFFSET bytes; false after a finding when they are outside the memory. */
bool pointer_locate(Thread *thread, const Access *access, Pointer pointer, int64_t offset, int bytes, bool is_write, Element *element);
/* How many elements of BUFFER, as THREAD has it bound, the element at BYTE of MEMORY lies behind the one whose indices are all 0; false when the
   buffer is in another memory. */
bool buffer_offset(const Thread *thread, const BufferInfo *buffer, const Memory *memory, int64_t byte, int64_t *offset);
/* The coordinates in BUFFER, as THREAD has it bound, of the element at BYTE of its memory; false when BYTE is none of its elements or in
   another memory. */
bool buffer_coordinates(const Thread *thread, const BufferInfo *buffer, const Memory *memory, int64_t byte, int64_t *coordinates);

/* --- Checks --- */
void check_read(Thread *thread, const Access *access, const Element *element, int bytes);
/* All of the element has been written. */
bool check_defined(Thread *thread, const Element *element, int bytes);
/* Takes the mark of having been written from an element. */
void check_undefine(Thread *thread, const Element *element, int bytes);
/* The part of the above that looks for conflicts, for one cell. */
void conflict_read(Thread *thread, const Access *access, const Element *element, Cell *cell);
void conflict_write(Thread *thread, const Access *access, const Element *element, Cell *cell, bool unchanged);
/* Writes VALUE as an element of TYPE, with all checks. */
void element_store(Thread *thread, const Access *access, const Element *element, DType type, Slot value);

/* --- Execution --- */
typedef void LoopBody(Run *run, Group group, const void *data);
void exec_node(Run *run, Group group, const ExecNode *node);
void exec_block(Run *run, Group group, const ExecNode *node);
void exec_allreduce(Group group, const AllreduceInfo *info);
/* Runs BODY in each iteration of a loop that is not thread-bound. */
void exec_loop(Run *run, Group group, const ExecNode *node, LoopBody *body, const void *data);
/* A thread-bound loop inside its kernel: gives the variable the threads' index and runs BODY. */
void exec_thread_loop(Run *run, Group group, const ExecNode *node, LoopBody *body, const void *data);
/* Begins the kernel of thread-bound loop NODE, for each thread of GROUP in turn, and runs BODY with all of its threads, once for each
   thread block. */
void exec_launch(Run *run, Group group, const ExecNode *node, LoopBody *body, const void *data);
/* The reductions that begin with loop NODE: their points have no init yet; early inits run. */
void exec_begin_reductions(Run *run, Group group, const ExecNode *node);
/* Runs the init of BLOCK for the threads of GROUP, which are inside it, whose point has not had it in this reduction. */
void exec_init(Run *run, Group group, const BlockInfo *block);
/* The instances of a reduction across threads are atomic: what they access, all of those threads access, until exec_part_threads. */
void exec_merge_threads(Thread *thread, const BlockInfo *block);
void exec_part_threads(Thread *thread, const BlockInfo *block);
/* The buffers that BLOCK allocates and matches, for init alone those that do not depend on the reduction. MEMORIES: alloc_count *
   group.count. */
void exec_block_buffers(Group group, const BlockInfo *block, bool init_only, Memory **memories);
/* Ends what exec_block_buffers began. */
void exec_block_release(Group group, const BlockInfo *block, Memory **memories);
/* The threads of GROUP for which CONDITION is EXPECTED, into ITEMS. */
Group exec_filter(Group group, const EvalNode *condition, bool expected, Thread **items);
/* Counts a step; false when the run is over. */
bool exec_step(Run *run, Thread *thread);
static inline void exec_assign(Thread *thread, Assignment assignment)
{
    eval_lanes(assignment.value, thread, &thread->slots[assignment.slot]);
}
/* Gives THREAD state of its own; thread_copy fills it from another. */
void thread_init(Run *run, Thread *thread);
void thread_copy(Thread *thread, const Thread *from);
void thread_free(Thread *thread);

/* --- Declarations --- */
/* Binds the parameters to ARGS; findings where they do not fit. */
void match_arguments(Thread *thread, const InterpArg *args);
/* Binds the view of a region. */
void match_view(Thread *thread, const MatchInfo *match);
void region_evaluate(Thread *thread, const RegionInfo *region);
/* The same for a declaration, which reads nothing: where an index in it has no value (B[A[i - 1]] at i = 0, which a choice leaves unread),
   the region is all of the buffer. */
void region_evaluate_declared(Thread *thread, const RegionInfo *region);
/* True when BYTE of MEMORY lies in one of COUNT regions as last evaluated. */
bool region_contains(Thread *thread, const RegionInfo *regions, int count, const Memory *memory, int64_t byte);

/* --- Tables --- */
/* The entry for KEY, made where there is none (*ADDED). */
int tuple_table_find(TupleTable *table, const int64_t *key, bool *added);
void *tuple_table_payload(TupleTable *table, int entry);
void tuple_table_free(TupleTable *table);

/* --- Findings --- */
/* Reports KIND at PLACE once, with "block 'B' " or "function 'f' " before the text and the iteration after it. False if it was reported
   before. */
bool report_finding(Thread *thread, InterpFinding kind, const void *place, Span span, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* At the statement being executed. */
bool report_here(Thread *thread, InterpFinding kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void report_note(Thread *thread, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "A[3, 4]": the element of ACCESS's buffer, or of the memory, at BYTE. */
const char *report_element(Thread *thread, const Access *access, const Memory *memory, int64_t byte);
const char *report_tuple(Thread *thread, const int64_t *values, int count);
/* "k = 3" or "threadIdx.x = 1, threadIdx.y = 0". */
const char *report_iteration(Thread *thread, const Iteration *iteration);

/* Narrows the iterations of LOOP, from *MIN on, to those in which its guards may hold. */
void loop_skip_unguarded(Thread *thread, const LoopInfo *loop, int64_t *min, int64_t *extent);

/* --- Calls between functions of the program --- */
/* Runs FUNC of the program for the call at NODE; false after a finding. *RETURNED: what it returns, unchanged where that is nothing. */
bool interp_call_function(Thread *thread, const EvalNode *node, const Func *func, const InterpValue *args, const Pointer *pointers,
                          int count, InterpValue *returned);

#endif
