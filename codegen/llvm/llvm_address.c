/* Addresses of elements. An index is cut into a constant and what depends on variables; where the same rest occurs again in a block of code, its
   address is taken from before:

     A[i * 64 + k], A[i * 64 + k + 16]     ->     p = &A[i * 64 + k]; p, p + 64 bytes

   So that what an unrolled loop touches has few addresses with constant distances, as processors add them for nothing, and LLVM has little to find
   out about them. Scalar loops are left to LLVM's vectorizer, which wants to see each index whole. */
#include "codegen/llvm/llvm_gen.h"

static LLVMValueRef buffer_pointer(FuncGen *gen, const Buffer *buffer, Span span)
{
    LLVMValueRef pointer = map_get(&gen->values, buffer->data);
    if (pointer)
        return pointer;
    diag_error(gen->ctx, span, "buffer '%s' has no memory here", buffer->name);
    return LLVMConstNull(gen->build->pointer);
}

static LLVMValueRef offset_pointer(FuncGen *gen, const Buffer *buffer, LLVMValueRef pointer, LLVMValueRef index, bool inbounds)
{
    LLVMTypeRef type = llvm_memory_type(gen->build, dtype_scalar(buffer->dtype));
    if (buffer->dtype.lanes > 1)
        index = LLVMBuildMul(gen->builder, index, LLVMConstInt(gen->build->i64, buffer->dtype.lanes, false), "");
    return inbounds ? LLVMBuildInBoundsGEP2(gen->builder, type, pointer, &index, 1, "")
                    : LLVMBuildGEP2(gen->builder, type, pointer, &index, 1, "");
}

static LLVMValueRef constant_index(const FuncGen *gen, int64_t value)
{
    return LLVMConstInt(gen->build->i64, (unsigned long long)value, true);
}

/* INDEX without the constant that it adds, to which *CONSTANT is increased. */
static const Expr *without_constant(const Expr *index, int64_t *constant)
{
    int64_t value;
    while (dtype_is_index(index->dtype) && (index->kind == EXPR_ADD || index->kind == EXPR_SUB) && expr_const_int(index->args[1], &value) &&
           value > INT32_MIN && value <= INT32_MAX) {
        *constant += index->kind == EXPR_ADD ? value : -value;
        index = index->args[0];
    }
    return index;
}

/* The address for INDEX in what POINTER points to, computed here or before in this block. */
static LLVMValueRef shared_address(FuncGen *gen, const Buffer *buffer, LLVMValueRef pointer, const Expr *index)
{
    AddressTable *table = &gen->addresses;
    if (table->block != LLVMGetInsertBlock(gen->builder)) {
        table->count = 0;
        table->block = LLVMGetInsertBlock(gen->builder);
    }
    int known = table->count < ADDRESS_COUNT ? table->count : ADDRESS_COUNT;
    for (int i = 0; i < known; i++)
        if (table->known[i].pointer == pointer && dtype_equal(table->known[i].type, buffer->dtype) && expr_equal(table->known[i].index, index))
            return table->known[i].address;
    LLVMValueRef address = offset_pointer(gen, buffer, pointer, emit_index(gen, index), false);
    if (expr_is_pure(index) && table->block == LLVMGetInsertBlock(gen->builder))
        table->known[table->count++ % ADDRESS_COUNT] = (KnownAddress){pointer, buffer->dtype, index, address};
    return address;
}

LLVMValueRef emit_element_pointer(FuncGen *gen, const Buffer *buffer, const Expr *index, int64_t offset, bool inbounds, Span span)
{
    LLVMValueRef pointer = buffer_pointer(gen, buffer, span);
    if (gen->unit->kind != UNIT_VECTOR) {
        LLVMValueRef whole = emit_index(gen, index);
        whole = offset ? LLVMBuildAdd(gen->builder, whole, constant_index(gen, offset), "") : whole;
        return offset_pointer(gen, buffer, pointer, whole, inbounds);
    }
    int64_t constant = offset;
    const Expr *rest = without_constant(index, &constant);
    if (expr_const_int(rest, &offset))
        return offset_pointer(gen, buffer, pointer, constant_index(gen, constant + offset), inbounds);
    LLVMValueRef address = shared_address(gen, buffer, pointer, rest);
    return constant ? offset_pointer(gen, buffer, address, constant_index(gen, constant), false) : address;
}
