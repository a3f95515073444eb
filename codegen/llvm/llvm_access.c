/* Loads, stores and addresses.

   A vector access is contiguous, reversed, uniform (all lanes one element), strided (a small constant stride: wide accesses and
   shuffles) or scattered. Buffers are flat: one index. Elements are assumed aligned to their own size; LLVM finds better where declarations
   or allocations say so. */
#include "codegen/llvm/llvm_index.h"
#include "support/bug.h"

/* The largest strides for which passing over what lies between the elements pays, and the most registers that it may take. */
enum { MAX_LOAD_STRIDE = 8, MAX_STORE_STRIDE = 8, MAX_STRIDE_REGISTERS = 8 };

typedef enum { ACCESS_SCALAR, ACCESS_CONTIGUOUS, ACCESS_REVERSED, ACCESS_UNIFORM, ACCESS_STRIDED, ACCESS_SCATTERED } AccessShape;

/* POINTER: to the first element in memory; of a strided access to that of the first lane; of a scattered one to where offsets begin. */
typedef struct {
    AccessShape shape;
    LLVMValueRef pointer, offsets;
    int stride; /* ACCESS_STRIDED */
    int lanes;
    DType element;
    unsigned alignment;
    LLVMValueRef mask; /* NULL: all lanes */
} Access;

/* --- Addresses --- */

LLVMValueRef emit_lane_offsets(FuncGen *gen, const Expr *stride, int lanes)
{
    int64_t constant = 0;
    bool is_short = expr_const_int(stride, &constant) && constant > INT32_MIN / lanes && constant < INT32_MAX / lanes;
    DType dtype = is_short ? DTYPE_INT32 : DTYPE_INT64;
    LLVMValueRef *steps = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, lanes);
    for (int i = 0; i < lanes; i++)
        steps[i] = llvm_const_int(gen->build, dtype, is_short ? i * constant : i);
    LLVMValueRef offsets = LLVMConstVector(steps, (unsigned)lanes);
    return is_short ? offsets : LLVMBuildMul(gen->builder, offsets, emit_splat(gen, emit_index(gen, stride), lanes), "");
}

/* INDEX without what all lanes have in common, which is added to *BASE, and without conversions to more bits. */
static const Expr *without_base(Context *ctx, const Expr *index, const Expr **base)
{
    for (;;) {
        const Expr *a = index->arg_count > 0 ? index->args[0] : NULL, *b = index->arg_count > 1 ? index->args[1] : NULL;
        bool is_sum = index->kind == EXPR_ADD && dtype_is_index(index->dtype);
        if (is_sum && b->kind == EXPR_BROADCAST && b->args[0]->dtype.lanes == 1) {
            *base = op_add(ctx, *base, op_cast(ctx, DTYPE_INT64, b->args[0]));
            index = a;
        } else if (is_sum && a->kind == EXPR_BROADCAST && a->args[0]->dtype.lanes == 1) {
            *base = op_add(ctx, *base, op_cast(ctx, DTYPE_INT64, a->args[0]));
            index = b;
        } else if (index->kind == EXPR_CAST && dtype_is_index(index->dtype) && a->dtype.code == DT_INT &&
                   a->dtype.bits <= index->dtype.bits) {
            index = a;
        } else {
            return index;
        }
    }
}

/* An index without a regular form, or with a stride: the scalar base goes to the pointer, so that the rest may stay a short vector. */
static void find_offsets(FuncGen *gen, const Buffer *buffer, const Expr *index, Access *access)
{
    LaneIndex lanes;
    if (index_split_lanes(gen->ctx, index, &lanes)) {
        access->pointer = emit_element_pointer(gen, buffer, lanes.base, 0, false, index->span);
        access->offsets = emit_lane_offsets(gen, lanes.stride, index->dtype.lanes);
        return;
    }
    const Expr *base = expr_int(gen->ctx, DTYPE_INT64, 0), *rest = without_base(gen->ctx, index, &base);
    access->pointer = emit_element_pointer(gen, buffer, base, 0, false, index->span);
    access->offsets = emit_expr(gen, rest);
    if (rest->dtype.code != DT_INT || rest->dtype.bits < 32)
        access->offsets = emit_cast(gen, access->offsets, rest->dtype, dtype_with_lanes(DTYPE_INT64, rest->dtype.lanes));
}

static LLVMValueRef reversed(FuncGen *gen, LLVMValueRef vector)
{
    int lanes = llvm_lanes(LLVMTypeOf(vector)), *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes);
    for (int i = 0; i < lanes; i++)
        picks[i] = lanes - 1 - i;
    return emit_shuffle(gen, vector, NULL, picks, lanes);
}

/* Under a mask, elements that can be gathered are. What passes over more than some registers is no better than a gather or scatter. */
static bool stride_pays(FuncGen *gen, int stride, int lanes, int bytes, bool masked, bool is_load)
{
    int step = stride < 0 ? -stride : stride, most = is_load ? MAX_LOAD_STRIDE : MAX_STORE_STRIDE;
    bool fits = (int64_t)lanes * step * bytes <= (int64_t)MAX_STRIDE_REGISTERS * gen->build->target.vector_bytes;
    return fits && step <= most && !(masked && is_load && bytes >= 4);
}

static AccessShape shape_of_stride(FuncGen *gen, const Expr *stride, const Access *access, bool is_load, int *constant)
{
    int64_t value;
    if (!expr_const_int(stride, &value) || value < -MAX_LOAD_STRIDE || value > MAX_LOAD_STRIDE)
        return ACCESS_SCATTERED;
    *constant = (int)value;
    if (value == 1)
        return ACCESS_CONTIGUOUS;
    if (value == -1)
        return ACCESS_REVERSED;
    if (value == 0)
        return is_load || !access->mask ? ACCESS_UNIFORM : ACCESS_SCATTERED;
    bool pays = stride_pays(gen, *constant, access->lanes, dtype_bytes(access->element), access->mask != NULL, is_load);
    return pays ? ACCESS_STRIDED : ACCESS_SCATTERED;
}

/* MASK: the access's own mask or NULL. */
static Access find_access(FuncGen *gen, const Buffer *buffer, const Expr *index, const Expr *mask, bool is_load)
{
    Access access = {
        .lanes = index->dtype.lanes, .element = buffer->dtype, .alignment = (unsigned)dtype_bytes(buffer->dtype), .mask = gen->lane_mask};
    if (mask) {
        LLVMValueRef own = emit_expr(gen, mask);
        access.mask = access.mask ? LLVMBuildAnd(gen->builder, access.mask, own, "") : own;
    }
    LaneIndex lanes = {index, NULL};
    if (access.lanes > 1)
        access.shape = index_split_lanes(gen->ctx, index, &lanes) ? shape_of_stride(gen, lanes.stride, &access, is_load, &access.stride)
                                                                  : ACCESS_SCATTERED;
    if (buffer->dtype.lanes > 1 && access.shape > ACCESS_CONTIGUOUS) {
        diag_error(gen->ctx, index->span, "buffer '%s' has vectors as elements: only contiguous accesses to it can be compiled",
                   buffer->name);
        access.shape = ACCESS_CONTIGUOUS;
    }
    if (access.shape == ACCESS_SCATTERED) {
        find_offsets(gen, buffer, index, &access);
        return access;
    }
    int64_t first = access.shape == ACCESS_REVERSED ? 1 - access.lanes : 0;
    if (access.shape == ACCESS_REVERSED)
        access.mask = access.mask ? reversed(gen, access.mask) : NULL;
    access.pointer = emit_element_pointer(gen, buffer, lanes.base, first, !access.mask, index->span);
    return access;
}

static const Expr *only_index(const Expr *const *indices, int count)
{
    if (count != 1)
        BUG("buffers are flat after lowering, but an access has %d indices", count);
    return indices[0];
}

/* --- Loads --- */

static LLVMValueRef plain_load(FuncGen *gen, const Access *access, LLVMTypeRef type)
{
    return emit_conditional_load(gen, type, access->pointer, access->alignment, NULL);
}

/* The mask with each lane repeated for the lanes of a vector element. */
static LLVMValueRef element_mask(FuncGen *gen, const Access *access)
{
    int width = access->element.lanes, lanes = access->lanes * width;
    if (width == 1 || access->lanes == 1)
        return width == 1 ? access->mask : emit_splat(gen, access->mask, width);
    int *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes);
    for (int i = 0; i < lanes; i++)
        picks[i] = i / width;
    return emit_shuffle(gen, access->mask, NULL, picks, lanes);
}

static LLVMValueRef masked_load(FuncGen *gen, const Access *access, LLVMTypeRef type)
{
    return emit_masked_load(gen, type, access->pointer, access->alignment, element_mask(gen, access));
}

static StridedAccess strided(const Access *access, LLVMTypeRef element)
{
    return (StridedAccess){.pointer = access->pointer,
                           .element = element,
                           .bytes = dtype_bytes(access->element),
                           .stride = access->stride,
                           .lanes = access->lanes,
                           .alignment = access->alignment,
                           .mask = access->mask};
}

static ScatteredAccess scattered(const Access *access, LLVMTypeRef element)
{
    return (ScatteredAccess){access->pointer, access->offsets, element, access->alignment, access->mask};
}

static LLVMValueRef load_in_memory_type(FuncGen *gen, const Access *access)
{
    LLVMTypeRef element = llvm_memory_type(gen->build, dtype_scalar(access->element));
    LLVMTypeRef type = llvm_with_lanes(element, access->lanes * access->element.lanes);
    switch (access->shape) {
    case ACCESS_SCALAR:
        if (access->mask && access->element.lanes > 1)
            return masked_load(gen, access, type);
        return emit_conditional_load(gen, type, access->pointer, access->alignment, access->mask);
    case ACCESS_CONTIGUOUS: return access->mask ? masked_load(gen, access, type) : plain_load(gen, access, type);
    case ACCESS_REVERSED: return reversed(gen, access->mask ? masked_load(gen, access, type) : plain_load(gen, access, type));
    case ACCESS_UNIFORM:
        return emit_splat(
            gen, emit_conditional_load(gen, element, access->pointer, access->alignment, access->mask ? emit_any(gen, access->mask) : NULL),
            access->lanes);
    case ACCESS_STRIDED: {
        StridedAccess own = strided(access, element);
        return emit_strided_load(gen, &own);
    }
    case ACCESS_SCATTERED: {
        ScatteredAccess own = scattered(access, element);
        return emit_gather(gen, type, &own);
    }
    }
    BUG("unknown access shape %d", access->shape);
}

LLVMValueRef emit_load(FuncGen *gen, const Expr *load)
{
    const Expr *index = only_index(load->args, load_index_count(load));
    Access access = find_access(gen, load->value.buffer, index, load_mask(load), true);
    const char *slow = access.shape == ACCESS_SCATTERED ? "a gather" : NULL;
    warn_slow_access(gen, load->span, load->value.buffer, access.lanes, slow, load_mask(load));
    return emit_from_memory(gen, load_in_memory_type(gen, &access), load->dtype);
}

/* --- Stores --- */

static void plain_store(FuncGen *gen, const Access *access, LLVMValueRef value)
{
    LLVMSetAlignment(LLVMBuildStore(gen->builder, value, access->pointer), access->alignment);
}

/* Whole vectors that go to a parameter of the function may pass by the caches where a loop asks for that. Scratch is to be read again. */
static bool is_streamed(FuncGen *gen, const Access *access, const Buffer *buffer)
{
    int bytes = access->lanes * access->element.lanes * dtype_bytes(access->element);
    LLVMValueRef memory = map_get(&gen->values, buffer->data);
    return gen->streams_stores && memory && LLVMIsAArgument(memory) && bytes >= 16 && !(bytes & (bytes - 1));
}

static void contiguous_store(FuncGen *gen, const Access *access, const Buffer *buffer, LLVMValueRef value)
{
    int bytes = access->lanes * access->element.lanes * dtype_bytes(access->element), most = gen->build->target.vector_bytes;
    if (is_streamed(gen, access, buffer))
        emit_nontemporal_store(gen, value, access->pointer, (unsigned)(bytes < most ? bytes : most), access->alignment);
    else
        plain_store(gen, access, value);
}

static void masked_store(FuncGen *gen, const Access *access, LLVMValueRef value)
{
    emit_masked_store(gen, value, access->pointer, access->alignment, element_mask(gen, access));
}

static void conditional_store(FuncGen *gen, const Access *access, LLVMValueRef value)
{
    if (!access->mask) {
        plain_store(gen, access, value);
        return;
    }
    LLVMBasicBlockRef store = emit_block(gen, "store"), done = emit_block(gen, "store.done");
    LLVMBuildCondBr(gen->builder, access->mask, store, done);
    emit_at(gen, store);
    plain_store(gen, access, value);
    emit_jump(gen, done);
    emit_at(gen, done);
}

void emit_store_value(FuncGen *gen, const Stmt *stmt, LLVMValueRef value)
{
    const Expr *index = only_index(stmt->as.store.indices, stmt->as.store.index_count);
    Access access = find_access(gen, stmt->as.store.buffer, index, stmt->as.store.mask, false);
    warn_slow_access(gen, stmt->span, stmt->as.store.buffer, access.lanes, access.shape == ACCESS_SCATTERED ? "a scatter" : NULL,
                     stmt->as.store.mask);
    value = emit_to_memory(gen, value, stmt->as.store.value->dtype);
    switch (access.shape) {
    case ACCESS_SCALAR: conditional_store(gen, &access, value); break;
    case ACCESS_CONTIGUOUS: 
        access.mask ? masked_store(gen, &access, value) : contiguous_store(gen, &access, stmt->as.store.buffer, value);
        break;
    case ACCESS_REVERSED:
        access.mask ? masked_store(gen, &access, reversed(gen, value)) : plain_store(gen, &access, reversed(gen, value));
        break;
    case ACCESS_UNIFORM: plain_store(gen, &access, emit_lane(gen, value, access.lanes - 1)); break;
    case ACCESS_STRIDED: {
        StridedAccess own = strided(&access, LLVMGetElementType(LLVMTypeOf(value)));
        emit_strided_store(gen, &own, value);
        break;
    }
    case ACCESS_SCATTERED: {
        ScatteredAccess own = scattered(&access, LLVMGetElementType(LLVMTypeOf(value)));
        emit_scatter(gen, value, &own);
        break;
    }
    }
}

/* --- Pointers as values --- */

static LLVMValueRef emit_access_pointer(FuncGen *gen, const Expr *call)
{
    LLVMValueRef data = emit_expr(gen, call->args[1]), offset = emit_index(gen, call->args[2]);
    return LLVMBuildGEP2(gen->builder, llvm_memory_type(gen->build, dtype_scalar(call->args[0]->dtype)), data, &offset, 1, "");
}

LLVMValueRef emit_first_element(FuncGen *gen, const Expr *load)
{
    LaneIndex lanes = {load->args[0], NULL};
    if (load->args[0]->dtype.lanes > 1 && !index_split_lanes(gen->ctx, load->args[0], &lanes))
        return NULL;
    return emit_element_pointer(gen, load->value.buffer, lanes.base, 0, false, load->span);
}

/* The address of the first element where the index is a vector. */
static LLVMValueRef emit_address_of(FuncGen *gen, const Expr *call)
{
    const Expr *load = call->args[0];
    if (load->kind != EXPR_LOAD) {
        diag_error(gen->ctx, call->span, "address_of needs a buffer element");
        return emit_nothing(gen, call);
    }
    only_index(load->args, load_index_count(load));
    LLVMValueRef address = emit_first_element(gen, load);
    if (address)
        return address;
    diag_error(gen->ctx, call->span, "address_of needs a single element or an even run of them");
    return emit_nothing(gen, call);
}

LLVMValueRef emit_pointer_call(FuncGen *gen, const Expr *call)
{
    if (call->value.op == OP_TVM_ACCESS_PTR)
        return emit_access_pointer(gen, call);
    if (call->value.op == OP_ADDRESS_OF)
        return emit_address_of(gen, call);
    return LLVMBuildIsNull(gen->builder, emit_expr(gen, call->args[0]), "");
}
