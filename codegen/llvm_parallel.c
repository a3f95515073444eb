/* Parallel loops. The body becomes a function of its own over a part of the loop's range:

     for i in T.parallel(n): A[i] = s          int f.parallel.0(begin, end, closure) { return f.parallel.0.body(begin, end, closure->A, closure->s); }
                                               int f.parallel.0.body(begin, end, A, s) { for (i = begin; i < end; i++) A[i] = s; return 0; }

   which the runtime calls, from several threads at once. The second function exists so that what the body captures is parameters: only so
   can LLVM be told that distinct buffers do not overlap. An error code of the body ends the enclosing function with that code. */
#include "codegen/llvm_debug.h"
#include "codegen/llvm_gen.h"
#include "codegen/llvm_runtime.h"
#include "ir/walk.h"

/* What the body uses of the enclosing function. */
typedef struct {
    const Var *var;
    LLVMValueRef value; /* outside; of a variable kept in 64 bits, that value */
    bool wide;
} Capture;

typedef struct {
    FuncGen *gen;
    VEC(Capture) captures;
    Map seen;
} CaptureFinder;

/* begin and end come before the captures; a closure may hold vectors. */
enum { BODY_RANGE_PARAMS = 2, CLOSURE_ALIGNMENT = 64 };

/* --- What is captured --- */

static void capture_var(CaptureFinder *finder, const Var *var)
{
    FuncGen *gen = finder->gen;
    LLVMValueRef value = map_get(&gen->values, var), wide = map_get(&gen->wide_values, var);
    if (!value || LLVMIsAConstant(value) || map_has(&finder->seen, var))
        return;
    map_set(gen->ctx->arena, &finder->seen, var, finder);
    vec_push(gen->ctx->arena, &finder->captures, ((Capture){var, wide ? wide : value, wide != NULL}));
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        capture_var(visitor->data, expr->value.var);
    if (expr->kind == EXPR_LOAD)
        capture_var(visitor->data, expr->value.buffer->data);
    return true;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_STORE)
        capture_var(visitor->data, stmt->as.store.buffer->data);
    return true;
}

/* --- Pointers: which are known to be memory of their own --- */

static LLVMAttributeRef argument_attribute(LLVMValueRef argument, const char *name, size_t length)
{
    LLVMValueRef function = LLVMGetParamParent(argument);
    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        if (LLVMGetParam(function, i) == argument)
            return LLVMGetEnumAttributeAtIndex(function, i + 1, LLVMGetEnumAttributeKindForName(name, length));
    return NULL;
}

static bool is_own_memory(LLVMValueRef pointer)
{
    if (LLVMIsAArgument(pointer))
        return argument_attribute(pointer, "noalias", sizeof "noalias" - 1) != NULL;
    return LLVMIsAAllocaInst(pointer) || is_runtime_block(pointer);
}

static void copy_alignment(FuncGen *gen, LLVMValueRef pointer, LLVMValueRef function, unsigned index)
{
    LLVMAttributeRef attribute = NULL;
    if (LLVMIsAArgument(pointer))
        attribute = argument_attribute(pointer, "align", sizeof "align" - 1);
    else if (LLVMIsAAllocaInst(pointer))
        attribute = llvm_attribute(gen->build, "align", LLVMGetAlignment(pointer));
    if (attribute)
        LLVMAddAttributeAtIndex(function, index, attribute);
}

/* Marks the captured pointers as not overlapping, if each is memory of its own and none is captured twice under different names. */
static void mark_pointers(FuncGen *gen, const CaptureFinder *finder, LLVMValueRef function)
{
    bool distinct = !gen->has_computed_pointers;
    LLVMAttributeRef noalias = llvm_attribute(gen->build, "noalias", 0);
    for (int i = 0; i < finder->captures.count; i++)
        for (int j = 0; j < i; j++)
            distinct &= finder->captures.data[i].value != finder->captures.data[j].value;
    for (int i = 0; i < finder->captures.count; i++) {
        const Capture *capture = &finder->captures.data[i];
        unsigned index = (unsigned)(i + BODY_RANGE_PARAMS + 1);
        if (capture->var->dtype.code != DT_HANDLE)
            continue;
        copy_alignment(gen, capture->value, function, index);
        if (distinct && is_own_memory(capture->value))
            LLVMAddAttributeAtIndex(function, index, noalias);
    }
}

/* --- The two functions --- */

static LLVMValueRef add_function(FuncGen *gen, const char *suffix, int number, LLVMTypeRef type)
{
    const char *name = context_internf(gen->ctx, "%s.parallel.%d%s", gen->symbol, number, suffix);
    LLVMValueRef function = LLVMAddFunction(gen->unit->module, name, type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    llvm_func_set_attributes(gen->build, function);
    return function;
}

static void bind_captures(FuncGen *body, const CaptureFinder *finder)
{
    for (int i = 0; i < finder->captures.count; i++) {
        const Capture *capture = &finder->captures.data[i];
        LLVMValueRef value = LLVMGetParam(body->function, (unsigned)(i + BODY_RANGE_PARAMS));
        if (capture->wide) {
            map_set(body->ctx->arena, &body->wide_values, capture->var, value);
            if (capture->var->dtype.bits < 64)
                value = LLVMBuildTrunc(body->builder, value, llvm_value_type(body->build, capture->var->dtype), capture->var->name);
        }
        llvm_debug_variable(body, capture->var->name, capture->var, value, 0);
        gen_bind(body, capture->var, value);
    }
    /* Constants mean the same in every function. */
    for (int i = 0; i < finder->gen->values.count; i++) {
        const MapEntry *entry = &finder->gen->values.entries[i];
        if (LLVMIsAConstant(entry->value))
            map_set(body->ctx->arena, &body->values, entry->key, entry->value);
    }
}

static LLVMValueRef define_body(FuncGen *gen, const Stmt *stmt, const CaptureFinder *finder, int number)
{
    LLVMTypeRef i64 = gen->build->i64;
    int count = finder->captures.count + BODY_RANGE_PARAMS;
    LLVMTypeRef *types = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, count);
    for (int i = 0; i < count; i++)
        types[i] = i < BODY_RANGE_PARAMS ? i64 : LLVMTypeOf(finder->captures.data[i - BODY_RANGE_PARAMS].value);
    LLVMValueRef function = add_function(gen, ".body", number, LLVMFunctionType(gen->build->i32, types, (unsigned)count, false));
    mark_pointers(gen, finder, function);
    FuncGen body = {
        .ctx = gen->ctx, .build = gen->build, .unit = gen->unit, .func = gen->func, .symbol = gen->symbol, .body_count = gen->body_count};
    body.has_computed_pointers = gen->has_computed_pointers;
    body.in_parallel_body = true;
    body.streams_stores = gen->streams_stores;
    body.prefetch_var = gen->prefetch_var;
    body.prefetch_distance = gen->prefetch_distance;
    llvm_func_begin(&body, function, stmt->span);
    bind_captures(&body, finder);
    emit_counted_loop(&body, stmt->as.loop.var, LLVMGetParam(function, 0), LLVMGetParam(function, 1), stmt->as.loop.body, true);
    if (body.streams_stores)
        emit_store_fence(&body);
    llvm_func_end(&body);
    return function;
}

/* The function of the runtime's type that takes the captures out of the closure. */
static LLVMValueRef define_entry(FuncGen *gen, LLVMValueRef body, LLVMTypeRef closure_type, int number, Span span)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(gen->build->llvm);
    LLVMValueRef function = add_function(gen, "", number, llvm_parallel_body_type(gen->build));
    FuncGen entry = {.ctx = gen->ctx, .build = gen->build, .unit = gen->unit, .function = function, .builder = builder};
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(gen->build->llvm, function, "entry"));
    llvm_debug_begin(&entry, span); /* without a place of its own, the body would lose its lines where it is inlined */
    unsigned count = LLVMCountParams(body);
    LLVMValueRef *args = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, count), closure = LLVMGetParam(function, BODY_RANGE_PARAMS);
    for (unsigned i = 0; i < count; i++)
        if (i < BODY_RANGE_PARAMS)
            args[i] = LLVMGetParam(function, i);
        else
            args[i] = LLVMBuildLoad2(builder, LLVMTypeOf(LLVMGetParam(body, i)),
                                     LLVMBuildStructGEP2(builder, closure_type, closure, i - BODY_RANGE_PARAMS, ""), "");
    LLVMBuildRet(builder, LLVMBuildCall2(builder, LLVMGlobalGetValueType(body), body, args, count, ""));
    LLVMDisposeBuilder(builder);
    return function;
}

/* A struct on the stack that holds the captures. */
static LLVMValueRef emit_closure(FuncGen *gen, const CaptureFinder *finder, LLVMTypeRef *type)
{
    int count = finder->captures.count;
    LLVMTypeRef *types = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, count);
    for (int i = 0; i < count; i++)
        types[i] = LLVMTypeOf(finder->captures.data[i].value);
    *type = LLVMStructTypeInContext(gen->build->llvm, types, (unsigned)count, false);
    if (!count)
        return LLVMConstNull(gen->build->pointer);
    LLVMValueRef closure = emit_stack_slot(gen, *type, 1, CLOSURE_ALIGNMENT);
    for (int i = 0; i < count; i++)
        LLVMBuildStore(gen->builder, finder->captures.data[i].value, LLVMBuildStructGEP2(gen->builder, *type, closure, (unsigned)i, ""));
    return closure;
}

void emit_parallel_for(FuncGen *gen, const Stmt *stmt)
{
    CaptureFinder finder = {.gen = gen};
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .data = &finder};
    visit_stmt(&visitor, stmt->as.loop.body);
    int number = (*gen->body_count)++;
    LLVMTypeRef closure_type;
    LLVMValueRef body = define_body(gen, stmt, &finder, number), closure = emit_closure(gen, &finder, &closure_type);
    LLVMValueRef entry = define_entry(gen, body, closure_type, number, stmt->span);
    LLVMValueRef begin = emit_index(gen, stmt->as.loop.min), extent = emit_index(gen, stmt->as.loop.extent);
    LLVMValueRef end = LLVMBuildNSWAdd(gen->builder, begin, extent, "");
    LLVMValueRef code = emit_runtime_parallel_for(gen, begin, end, entry, closure);
    LLVMValueRef failed = LLVMBuildICmp(gen->builder, LLVMIntNE, code, LLVMConstInt(gen->build->i32, 0, false), "");
    LLVMBasicBlockRef leave = emit_block(gen, "failed"), go_on = emit_block(gen, "parallel.done");
    LLVMBuildCondBr(gen->builder, failed, leave, go_on);
    emit_at(gen, leave);
    emit_leave(gen, code);
    emit_at(gen, go_on);
}
