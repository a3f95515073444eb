/* Loads, stores and addresses.

   A vector access is contiguous, reversed, uniform (all lanes one element), strided (a load with small constant stride: one wide load and a
   shuffle) or scattered. Buffers are flat: one index. Elements are assumed aligned to their own size; LLVM finds better where declarations
   or allocations say so. */
#include "codegen/llvm_index.h"
#include "support/bug.h"

/* The largest stride for which loading what lies between the elements pays. */
enum { MAX_WIDE_STRIDE = 4 };

typedef enum { ACCESS_SCALAR, ACCESS_CONTIGUOUS, ACCESS_REVERSED, ACCESS_UNIFORM, ACCESS_STRIDED, ACCESS_SCATTERED } AccessShape;

/* POINTER: to the first element in memory; of a scattered access a vector of pointers. */
typedef struct {
    AccessShape shape;
    LLVMValueRef pointer;
    int stride; /* ACCESS_STRIDED */
    int lanes;
    DType element;
    unsigned alignment;
    LLVMValueRef mask; /* NULL: all lanes */
} Access;

/* --- Addresses --- */

static LLVMValueRef buffer_pointer(FuncGen *gen, const Buffer *buffer, Span span)
{
    LLVMValueRef pointer = map_get(&gen->values, buffer->data);
    if (pointer)
        return pointer;
    diag_error(gen->ctx, span, "buffer '%s' has no memory here", buffer->name);
    return LLVMConstNull(gen->build->pointer);
}

/* The element INDEX (i64) of BUFFER. INBOUNDS: the access certainly happens, so the index is inside. */
static LLVMValueRef element_pointer(FuncGen *gen, const Buffer *buffer, LLVMValueRef index, bool inbounds, Span span)
{
    LLVMTypeRef type = llvm_memory_type(gen->build, dtype_scalar(buffer->dtype));
    LLVMValueRef pointer = buffer_pointer(gen, buffer, span);
    if (buffer->dtype.lanes > 1)
        index = LLVMBuildMul(gen->builder, index, LLVMConstInt(gen->build->i64, buffer->dtype.lanes, false), "");
    return inbounds ? LLVMBuildInBoundsGEP2(gen->builder, type, pointer, &index, 1, "")
                    : LLVMBuildGEP2(gen->builder, type, pointer, &index, 1, "");
}

LLVMValueRef emit_lane_offsets(FuncGen *gen, const Expr *stride, int lanes)
{
    int64_t constant = 0;
    bool is_short = expr_const_int(stride, &constant) && constant > INT16_MIN && constant < INT16_MAX;
    DType dtype = is_short ? DTYPE_INT32 : DTYPE_INT64;
    LLVMValueRef *steps = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, lanes);
    for (int i = 0; i < lanes; i++)
        steps[i] = llvm_const_int(gen->build, dtype, is_short ? i * constant : i);
    LLVMValueRef offsets = LLVMConstVector(steps, (unsigned)lanes);
    return is_short ? offsets : LLVMBuildMul(gen->builder, offsets, emit_splat(gen, emit_index(gen, stride), lanes), "");
}

/* Pointers for an index without a regular form, or with a stride: the scalar base is added first, so that the rest may stay a short
   vector. */
static LLVMValueRef scattered_pointers(FuncGen *gen, const Buffer *buffer, const Expr *index)
{
    LaneIndex lanes;
    LLVMTypeRef type = llvm_memory_type(gen->build, dtype_scalar(buffer->dtype));
    LLVMValueRef pointer = buffer_pointer(gen, buffer, index->span), offsets;
    if (index_split_lanes(gen->ctx, index, &lanes)) {
        pointer = element_pointer(gen, buffer, emit_index(gen, lanes.base), false, index->span);
        offsets = emit_lane_offsets(gen, lanes.stride, index->dtype.lanes);
    } else {
        offsets = emit_expr(gen, index);
        if (index->dtype.code == DT_UINT)
            offsets = emit_cast(gen, offsets, index->dtype, dtype_with_lanes(DTYPE_INT64, index->dtype.lanes));
    }
    return LLVMBuildGEP2(gen->builder, type, pointer, &offsets, 1, "");
}

static LLVMValueRef reversed(FuncGen *gen, LLVMValueRef vector)
{
    int lanes = llvm_lanes(LLVMTypeOf(vector)), *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes);
    for (int i = 0; i < lanes; i++)
        picks[i] = lanes - 1 - i;
    return emit_shuffle(gen, vector, NULL, picks, lanes);
}

static AccessShape shape_of_stride(const Expr *stride, bool masked, bool is_load, int *constant)
{
    int64_t value;
    if (!expr_const_int(stride, &value) || value < -1 || value > MAX_WIDE_STRIDE)
        return ACCESS_SCATTERED;
    *constant = (int)value;
    if (value == 1)
        return ACCESS_CONTIGUOUS;
    if (value == -1)
        return ACCESS_REVERSED;
    if (value == 0)
        return is_load || !masked ? ACCESS_UNIFORM : ACCESS_SCATTERED;
    return is_load && !masked ? ACCESS_STRIDED : ACCESS_SCATTERED;
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
        access.shape = index_split_lanes(gen->ctx, index, &lanes) ? shape_of_stride(lanes.stride, access.mask, is_load, &access.stride)
                                                                  : ACCESS_SCATTERED;
    if (buffer->dtype.lanes > 1 && access.shape > ACCESS_CONTIGUOUS) {
        diag_error(gen->ctx, index->span, "buffer '%s' has vectors as elements: only contiguous accesses to it can be compiled",
                   buffer->name);
        access.shape = ACCESS_CONTIGUOUS;
    }
    if (access.shape == ACCESS_SCATTERED) {
        access.pointer = scattered_pointers(gen, buffer, index);
        return access;
    }
    LLVMValueRef first = emit_index(gen, lanes.base);
    if (access.shape == ACCESS_REVERSED) {
        first = LLVMBuildSub(gen->builder, first, LLVMConstInt(gen->build->i64, (unsigned long long)access.lanes - 1, false), "");
        access.mask = access.mask ? reversed(gen, access.mask) : NULL;
    }
    access.pointer = element_pointer(gen, buffer, first, !access.mask, index->span);
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

static LLVMValueRef alignment_value(FuncGen *gen, const Access *access)
{
    return LLVMConstInt(gen->build->i32, access->alignment, false);
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
    LLVMValueRef args[] = {access->pointer, alignment_value(gen, access), element_mask(gen, access), LLVMConstNull(type)};
    return emit_intrinsic2(gen, "llvm.masked.load", type, gen->build->pointer, args, 4);
}

/* What lies between two loaded elements belongs to the same buffer, so it may be loaded too. */
static LLVMValueRef strided_load(FuncGen *gen, const Access *access, LLVMTypeRef element)
{
    int *picks = ARENA_ARRAY(gen->ctx->arena, int, access->lanes);
    for (int i = 0; i < access->lanes; i++)
        picks[i] = i * access->stride;
    LLVMTypeRef wide = LLVMVectorType(element, (unsigned)(picks[access->lanes - 1] + 1));
    return emit_shuffle(gen, plain_load(gen, access, wide), NULL, picks, access->lanes);
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
    case ACCESS_STRIDED: return strided_load(gen, access, element);
    case ACCESS_SCATTERED: return emit_gather(gen, type, access->pointer, access->alignment, access->mask);
    }
    BUG("unknown access shape %d", access->shape);
}

LLVMValueRef emit_load(FuncGen *gen, const Expr *load)
{
    const Expr *index = only_index(load->args, load_index_count(load));
    Access access = find_access(gen, load->value.buffer, index, load_mask(load), true);
    warn_slow_access(gen, load->span, load->value.buffer, access.lanes, access.shape == ACCESS_SCATTERED ? "a gather" : NULL, load_mask(load));
    return emit_from_memory(gen, load_in_memory_type(gen, &access), load->dtype);
}

/* --- Stores --- */

static void plain_store(FuncGen *gen, const Access *access, LLVMValueRef value)
{
    LLVMSetAlignment(LLVMBuildStore(gen->builder, value, access->pointer), access->alignment);
}

static void masked_store(FuncGen *gen, const Access *access, LLVMValueRef value)
{
    LLVMValueRef args[] = {value, access->pointer, alignment_value(gen, access), element_mask(gen, access)};
    emit_intrinsic2(gen, "llvm.masked.store", LLVMTypeOf(value), gen->build->pointer, args, 4);
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
    case ACCESS_CONTIGUOUS: access.mask ? masked_store(gen, &access, value) : plain_store(gen, &access, value); break;
    case ACCESS_REVERSED:
        access.mask ? masked_store(gen, &access, reversed(gen, value)) : plain_store(gen, &access, reversed(gen, value));
        break;
    case ACCESS_UNIFORM: plain_store(gen, &access, emit_lane(gen, value, access.lanes - 1)); break;
    default: emit_scatter(gen, value, access.pointer, access.alignment, access.mask); break;
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
    return element_pointer(gen, load->value.buffer, emit_index(gen, lanes.base), false, load->span);
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
