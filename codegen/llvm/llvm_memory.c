/* Scratch memory. Buffers of constant size share STACK_LIMIT bytes of the function's frame; others come from tirc_alloc and go back on
   every way out. Scratch that lowering widened to fill it once has room of its own in the frame, so that it takes none from the others. */
#include "codegen/llvm/llvm_gen.h"
#include "codegen/llvm/llvm_runtime.h"

enum { STACK_LIMIT = 64 * 1024, STAGING_LIMIT = 65 * 1024, SCRATCH_ALIGNMENT = 64 };

/* --- The stack --- */

/* The number of elements if it is constant and not absurd, else -1. */
static int64_t constant_count(const Stmt *stmt)
{
    int64_t count = 1, extent;
    for (int i = 0; i < stmt->as.allocate.extent_count; i++) {
        if (!expr_const_int(stmt->as.allocate.extents[i], &extent) || extent < 0 || extent > STAGING_LIMIT)
            return -1;
        count *= extent;
        if (count > STAGING_LIMIT)
            return -1;
    }
    return count;
}

static bool is_staging(const Stmt *stmt)
{
    return attrs_get(stmt->as.allocate.annotations, "tirc.staging") != NULL;
}

/* Sums that lowering holds in registers, or at worst on the stack: they are few, and take nothing from the program's scratch. */
static bool is_registers(const Stmt *stmt)
{
    return attrs_get(stmt->as.allocate.annotations, "tirc.registers") != NULL;
}

/* The large pieces of the frame say where they begin and end to be needed, so that two of them may be one. */
static void emit_lifetime(FuncGen *gen, const char *intrinsic, LLVMValueRef slot)
{
    LLVMValueRef args[] = {LLVMConstInt(gen->build->i64, UINT64_MAX, false), slot}; /* all of it */
    emit_intrinsic(gen, intrinsic, gen->build->pointer, args, 2);
}

static LLVMValueRef take_stack(FuncGen *gen, const Stmt *stmt, int64_t count)
{
    DType dtype = stmt->as.allocate.dtype;
    bool staging = is_staging(stmt);
    int64_t bytes = (count * dtype.lanes * dtype_bytes(dtype) + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
    int64_t none = 0, *taken = staging ? &gen->staging_bytes : is_registers(stmt) ? &none : &gen->stack_bytes;
    if (*taken + bytes > (staging ? STAGING_LIMIT : STACK_LIMIT))
        return NULL;
    *taken += bytes;
    int64_t elements = count * dtype.lanes;
    return emit_stack_slot(gen, LLVMArrayType2(llvm_memory_type(gen->build, dtype_scalar(dtype)), (uint64_t)(elements ? elements : 1)), 1,
                           SCRATCH_ALIGNMENT);
}

/* --- The heap --- */

/* A * B, or INT64_MAX where that is too large; both are >= 0. */
static LLVMValueRef saturated_product(FuncGen *gen, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef factors[] = {a, b}, most = LLVMConstInt(gen->build->i64, INT64_MAX, false);
    LLVMValueRef both = emit_intrinsic(gen, "llvm.smul.with.overflow", gen->build->i64, factors, 2);
    return LLVMBuildSelect(gen->builder, LLVMBuildExtractValue(gen->builder, both, 1, ""), most,
                           LLVMBuildExtractValue(gen->builder, both, 0, ""), "");
}

/* The number of elements that EXTENT says. Sizes are the caller's, and their product may exceed what there is of memory and even of
   numbers: that must fail, not wrap. A negative size holds nothing. */
static LLVMValueRef emit_count(FuncGen *gen, const Expr *extent)
{
    if (extent->kind == EXPR_MUL)
        return saturated_product(gen, emit_count(gen, extent->args[0]), emit_count(gen, extent->args[1]));
    LLVMValueRef limits[] = {emit_index(gen, extent), LLVMConstInt(gen->build->i64, 0, false)};
    return emit_intrinsic(gen, "llvm.smax", gen->build->i64, limits, 2);
}

static LLVMValueRef take_heap(FuncGen *gen, const Stmt *stmt)
{
    DType dtype = stmt->as.allocate.dtype;
    LLVMValueRef size = LLVMConstInt(gen->build->i64, (uint64_t)dtype_bytes(dtype) * dtype.lanes, false);
    for (int i = 0; i < stmt->as.allocate.extent_count; i++)
        size = saturated_product(gen, size, emit_count(gen, stmt->as.allocate.extents[i]));
    return emit_runtime_alloc(gen, size, SCRATCH_ALIGNMENT);
}

void emit_free_heap(FuncGen *gen, int depth)
{
    for (int i = gen->heap_blocks.count - 1; i >= depth; i--)
        emit_runtime_free(gen, gen->heap_blocks.data[i].memory);
}

static void emit_heap_scope(FuncGen *gen, const Stmt *stmt)
{
    if (gen->build->options->no_heap) {
        diag_error(gen->ctx, stmt->span, "buffer '%s' needs memory from the heap, which --no-heap forbids", stmt->as.allocate.var->name);
        diag_note(gen->ctx, stmt->span, "only buffers of constant size, up to %d bytes a function, live on the stack", STACK_LIMIT);
        return;
    }
    LLVMValueRef block = take_heap(gen, stmt);
    emit_fail_if(gen, LLVMBuildIsNull(gen->builder, block, ""),
                 context_internf(gen->ctx, "%s: out of memory for '%s'", gen->symbol, stmt->as.allocate.var->name));
    gen_bind(gen, stmt->as.allocate.var, block);
    vec_push(gen->ctx->arena, &gen->heap_blocks, ((HeapBlock){.memory = block}));
    emit_stmt(gen, stmt->as.allocate.body);
    emit_free_heap(gen, gen->heap_blocks.count - 1);
    gen->heap_blocks.count--;
}

void emit_allocate(FuncGen *gen, const Stmt *stmt)
{
    int64_t count = constant_count(stmt);
    LLVMValueRef slot = count >= 0 ? take_stack(gen, stmt, count) : NULL;
    if (!slot) {
        emit_heap_scope(gen, stmt);
        return;
    }
    gen_bind(gen, stmt->as.allocate.var, slot);
    bool staging = is_staging(stmt);
    if (staging)
        emit_lifetime(gen, "llvm.lifetime.start", slot);
    emit_stmt(gen, stmt->as.allocate.body);
    if (staging)
        emit_lifetime(gen, "llvm.lifetime.end", slot);
}

/* --- Constants --- */

static LLVMValueRef constant_element(FuncGen *gen, const Expr *item, DType dtype)
{
    if (dtype.code == DT_BOOL)
        return LLVMConstInt(gen->build->i8, item->kind == EXPR_INT && item->value.integer != 0, false);
    if (dtype_is_float(dtype))
        return llvm_const_float(gen->build, dtype, item->kind == EXPR_FLOAT ? item->value.real : (double)item->value.integer);
    return llvm_const_int(gen->build, dtype, item->value.integer);
}

void emit_allocate_const(FuncGen *gen, const Stmt *stmt)
{
    DType dtype = dtype_scalar(stmt->as.allocate_const.dtype);
    int count = stmt->as.allocate_const.data_count;
    LLVMValueRef *items = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, count);
    for (int i = 0; i < count; i++)
        items[i] = constant_element(gen, stmt->as.allocate_const.data[i], dtype);
    LLVMTypeRef element = llvm_memory_type(gen->build, dtype);
    LLVMValueRef global = LLVMAddGlobal(gen->unit->module, LLVMArrayType2(element, (uint64_t)count), stmt->as.allocate_const.var->name);
    LLVMSetInitializer(global, LLVMConstArray2(element, items, (uint64_t)count));
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, SCRATCH_ALIGNMENT);
    gen_bind(gen, stmt->as.allocate_const.var, global);
    emit_stmt(gen, stmt->as.allocate_const.body);
}
