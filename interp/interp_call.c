/* Evaluates calls that touch memory or control: pointers, extern functions, the built-in tmm16, return and its like, barriers. */
#include <string.h>

#include "interp/interp_internal.h"
#include "ir/signature.h"

static Access call_access(const EvalNode *node)
{
    return (Access){.place = node->source, .span = node->source->span};
}

/* --- Pointers --- */
static Pointer eval_access_pointer(const EvalNode *node, Thread *thread)
{
    DType t = node->args[0]->dtype;
    Pointer pointer = eval_pointer(node->args[1], thread);
    int64_t offset = eval_integer(node->args[2], thread);
    pointer.byte = (int64_t)((uint64_t)pointer.byte + (uint64_t)offset * (uint64_t)(dtype_bytes(dtype_scalar(t)) * t.lanes));
    return pointer;
}

static Pointer eval_address(const EvalNode *node, Thread *thread)
{
    Element element;
    if (!access_locate(thread, &node->args[0]->as.access, 0, USE_POINTS, &element))
        return (Pointer){NULL, 0};
    return (Pointer){element.memory, element.byte};
}

static int64_t eval_is_null(const EvalNode *node, Thread *thread)
{
    return !eval_pointer(node->args[0], thread).memory;
}

/* tmm16 is always the interpreter's own. */
static int64_t eval_true(const EvalNode *node, Thread *thread)
{
    (void)node, (void)thread;
    return 1;
}

/* --- tmm16: C += A * B^T on 16x16 tiles, each product and sum rounded to float32 in the order of k --- */
enum { TILE = 16 };
typedef struct {
    Pointer pointer;
    int64_t stride; /* elements */
} Tile;

static bool tile_element(Thread *thread, const Access *access, const Tile *tile, int row, int column, bool is_write, Element *element)
{
    return pointer_locate(thread, access, tile->pointer, (row * tile->stride + column) * 4, 4, is_write, element);
}

static void tile_load(Thread *thread, const Access *access, const Tile *tile, float values[TILE][TILE])
{
    Element element;
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            values[i][j] = 0;
            if (!tile_element(thread, access, tile, i, j, false, &element))
                continue;
            if (thread->run->checks)
                check_read(thread, access, &element, 4);
            values[i][j] = (float)interp_read_real(DTYPE_FLOAT32, element.at);
        }
}

static void tile_store(Thread *thread, const Access *access, const Tile *tile, float values[TILE][TILE])
{
    Element element;
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            if (tile_element(thread, access, tile, i, j, true, &element))
                element_store(thread, access, &element, DTYPE_FLOAT32, (Slot){.real = values[i][j]});
}

static int64_t call_tmm16(const EvalNode *node, Thread *thread)
{
    Access access = call_access(node);
    Tile tiles[3];
    float c[TILE][TILE], a[TILE][TILE], b[TILE][TILE];
    static const int stride_argument[3] = {6, 4, 5};
    for (int i = 0; i < 3; i++)
        tiles[i] = (Tile){eval_pointer(node->args[1 + i], thread), eval_integer(node->args[stride_argument[i]], thread)};
    tile_load(thread, &access, &tiles[0], c);
    tile_load(thread, &access, &tiles[1], a);
    tile_load(thread, &access, &tiles[2], b);
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            for (int k = 0; k < TILE; k++) {
                float product = a[i][k] * b[j][k];
                c[i][j] = c[i][j] + product;
            }
    tile_store(thread, &access, &tiles[0], c);
    return 0;
}

static bool is_tmm16(const EvalNode *node)
{
    if (strcmp(node->args[0]->source->value.text, "tmm16") || node->arg_count != 7)
        return false;
    for (int i = 1; i < 7; i++)
        if (i <= 3 ? node->args[i]->dtype.code != DT_HANDLE : !dtype_is_integer(node->args[i]->dtype))
            return false;
    return true;
}

/* --- Extern functions --- */
/* What a call that the interpreter cannot look into does: it reads and writes what its block declares, of the memories it has pointers
   to. */
typedef struct {
    const EvalNode *call;
    const Pointer *pointers;
    int pointer_count;
    bool is_known; /* a function of the program */
} ExternCall;

static bool call_reaches(const ExternCall *call, const Memory *memory)
{
    for (int i = 0; i < call->pointer_count; i++)
        if (call->pointers[i].memory == memory)
            return true;
    return false;
}

static void touch_element(Thread *thread, const Access *access, const BufferInfo *buffer, const int64_t *coordinates, bool is_write)
{
    const BoundBuffer *bound = &thread->bound[buffer->index];
    const int64_t *strides = thread->dims + buffer->dims + buffer->buffer->ndim;
    int64_t offset = bound->elem_offset;
    for (int i = 0; i < buffer->buffer->ndim; i++)
        offset += coordinates[i] * strides[i];
    int bytes = buffer->bytes * buffer->lanes;
    Element element;
    if (!pointer_locate(thread, access, bound->data, offset * bytes, bytes, is_write, &element))
        return;
    Cell *cell = memory_cell(element.memory, element.plane, thread, element.byte);
    if (is_write) {
        conflict_write(thread, access, &element, cell, false);
        cell->write_time = thread->run->time;
        cell->write_place = thread->place;
    } else
        conflict_read(thread, access, &element, cell);
}

/* The elements of the buffer that lie in REGION, which may be declared larger than the buffer. */
static void touch_region(Thread *thread, const Access *access, const RegionInfo *region, bool is_write)
{
    int ndim = region->buffer->buffer->ndim;
    const int64_t *ranges = thread->ranges + region->ranges, *shape = thread->dims + region->buffer->dims;
    int64_t begin[ndim + 1], end[ndim + 1], at[ndim + 1];
    for (int i = 0; i < ndim; i++) {
        int64_t last;
        begin[i] = at[i] = ranges[2 * i] > 0 ? ranges[2 * i] : 0;
        end[i] = __builtin_add_overflow(ranges[2 * i], ranges[2 * i + 1], &last) || last > shape[i] ? shape[i] : last;
        if (begin[i] >= end[i])
            return;
    }
    for (;;) {
        touch_element(thread, access, region->buffer, at, is_write);
        int dim = ndim - 1;
        while (dim >= 0 && ++at[dim] >= end[dim])
            at[dim] = begin[dim], dim--;
        if (dim < 0)
            return;
    }
}

/* Everything behind a pointer may have been written. CERTAINLY false: by a function that may have kept to its part of the memory, so that no
   conflict with other iterations is shown. */
static void touch_memory(Thread *thread, Memory *memory, bool certainly)
{
    Plane *plane = memory_plane(memory, thread);
    for (int64_t byte = 0; byte < memory->bytes; byte += memory->cell_bytes) {
        Cell *cell = memory_cell(memory, plane, thread, byte);
        cell->write_time = thread->run->time;
        cell->write_place = thread->place;
        if (certainly)
            cell->writer = thread->iteration;
    }
}

static void touch_declared(Thread *thread, const ExternCall *call)
{
    const BlockInfo *block = thread->block;
    Access access = call_access(call->call);
    /* A block that calls, and declares that it touches nothing, declares nothing: so te.extern has it. */
    bool says_nothing = block && !block->source->read_count && !block->source->write_count;
    if (!block || says_nothing || !thread->frames[block->index].regions_known || !block->check_writes || !block->check_reads) {
        for (int i = 0; i < call->pointer_count; i++)
            if (call->pointers[i].memory)
                touch_memory(thread, call->pointers[i].memory, !call->is_known && !says_nothing);
        return;
    }
    for (int i = 0; i < block->source->read_count; i++)
        if (call_reaches(call, thread->bound[block->reads[i].buffer->index].data.memory))
            touch_region(thread, &access, &block->reads[i], false);
    for (int i = 0; i < block->source->write_count; i++)
        if (call_reaches(call, thread->bound[block->writes[i].buffer->index].data.memory))
            touch_region(thread, &access, &block->writes[i], true);
}

static InterpValue argument_value(Thread *thread, const EvalNode *node, Pointer *pointer)
{
    InterpValue value = {.dtype = node->dtype};
    *pointer = (Pointer){NULL, 0};
    if (dtype_is_float(node->dtype))
        value.as.real = eval_real(node, thread);
    else if (node->source->kind == EXPR_STRING)
        value.as.pointer = (void *)(uintptr_t)node->source->value.text;
    else if (node->dtype.code == DT_HANDLE) {
        *pointer = eval_pointer(node, thread);
        value.as.pointer = pointer->memory ? memory_plane(pointer->memory, thread)->data + pointer->byte : NULL;
    } else
        value.as.integer = eval_integer(node, thread);
    return value;
}

static InterpValue call_extern(const EvalNode *node, Thread *thread)
{
    const char *name = node->args[0]->source->value.text;
    const InterpExtern *externs = &thread->run->options->externs;
    int count = node->arg_count - 1;
    InterpValue args[count + 1], result = {.dtype = node->dtype};
    Pointer pointers[count + 1];
    for (int i = 0; i < count; i++)
        args[i] = argument_value(thread, node->args[i + 1], &pointers[i]);
    const Module *module = thread->run->options->module;
    const Func *callee = module ? module_callee(thread->run->ctx, module, node->source) : NULL;
    if (callee) {
        ExternCall call = {node, pointers, count, true};
        if (interp_call_function(thread, node, callee, args, pointers, count, &result) && thread->run->checks)
            touch_declared(thread, &call);
    } else if (externs->call && externs->call(externs->data, name, args, count, &result)) {
        ExternCall call = {node, pointers, count, false};
        if (thread->run->checks && node->source->value.op != OP_CALL_PURE_EXTERN)
            touch_declared(thread, &call);
    } else if (is_tmm16(node))
        result.as.integer = call_tmm16(node, thread);
    else
        report_finding(thread, INTERP_UNSUPPORTED, node->source, node->source->span,
                       "calls the function '%s', which is not known here (--load=FILE brings its definition)", name);
    return result;
}

static int64_t eval_extern_integer(const EvalNode *node, Thread *thread)
{
    return eval_wrap(node, call_extern(node, thread).as.integer);
}

static double eval_extern_real(const EvalNode *node, Thread *thread)
{
    return eval_round(node->dtype, call_extern(node, thread).as.real);
}

/* --- Control and effects --- */
static int64_t eval_return(const EvalNode *node, Thread *thread)
{
    if (node->arg_count) {
        InterpValue *returned = &thread->run->result.returned;
        Slot value = eval_slot(node->args[0], thread);
        returned->dtype = node->args[0]->dtype;
        if (dtype_is_float(returned->dtype))
            returned->as.real = value.real;
        else
            returned->as.integer = value.integer;
    }
    thread->signal = SIGNAL_RETURN;
    thread->run->signals = true;
    return 0;
}

static int64_t eval_break(const EvalNode *node, Thread *thread)
{
    thread->signal = node->source->value.op == OP_BREAK_LOOP ? SIGNAL_BREAK : SIGNAL_CONTINUE;
    thread->run->signals = true;
    return 0;
}

static int64_t eval_assume(const EvalNode *node, Thread *thread)
{
    if (!eval_integer(node->args[0], thread))
        report_finding(thread, INTERP_ASSERTION, node->source, node->source->span, "assumes what does not hold");
    return 1;
}

static int64_t eval_undefined_integer(const EvalNode *node, Thread *thread)
{
    (void)node, (void)thread;
    return 0;
}

static double eval_undefined_real(const EvalNode *node, Thread *thread)
{
    (void)node, (void)thread;
    return 0;
}

static int64_t eval_barrier(const EvalNode *node, Thread *thread)
{
    (void)node;
    if (thread->launch)
        thread->launch->barrier = thread->launch->shared_barrier = thread->run->time;
    return 0;
}

static bool compile_extern(EvalNode *node)
{
    if (node->args[0]->source->kind != EXPR_STRING || node->dtype.code == DT_HANDLE || node->dtype.lanes > 1)
        return false;
    for (int i = 1; i < node->arg_count; i++)
        if (node->args[i]->dtype.lanes > 1)
            return false;
    if (dtype_is_float(node->dtype))
        node->eval.real = eval_extern_real;
    else
        node->eval.integer = eval_extern_integer;
    return true;
}

bool call_compile(EvalNode *node, Op op)
{
    switch (op) {
    case OP_CALL_EXTERN:
    case OP_CALL_FUNC:
    case OP_CALL_PURE_EXTERN: return compile_extern(node);
    case OP_TVM_ACCESS_PTR: node->eval.pointer = eval_access_pointer; return true;
    case OP_ADDRESS_OF: node->eval.pointer = eval_address; return node->args[0]->source->kind == EXPR_LOAD;
    case OP_ISNULLPTR: node->eval.integer = eval_is_null; return node->args[0]->dtype.code == DT_HANDLE;
    case OP_TIRC_OWN_TMM16: node->eval.integer = eval_true; return true;
    case OP_RET: node->eval.integer = eval_return; return true;
    case OP_BREAK_LOOP:
    case OP_CONTINUE_LOOP: node->eval.integer = eval_break; return true;
    case OP_ASSUME: node->eval.integer = eval_assume; return true;
    case OP_TVM_STORAGE_SYNC: node->eval.integer = eval_barrier; return true;
    case OP_UNDEF:
        if (dtype_is_float(node->dtype))
            node->eval.real = eval_undefined_real;
        else
            node->eval.integer = eval_undefined_integer;
        return node->dtype.code != DT_HANDLE;
    default: return false;
    }
}
