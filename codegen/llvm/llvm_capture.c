/* Parts of a function as functions of their own. See llvm_capture.h. */
#include "codegen/llvm/llvm_capture.h"
#include "codegen/llvm/llvm_debug.h"
#include "codegen/llvm/llvm_runtime.h"
#include "ir/walk.h"

typedef struct {
    FuncGen *gen;
    Captures captures;
    Map seen;
} CaptureFinder;

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

Captures captures_find(FuncGen *gen, const Stmt *stmt)
{
    CaptureFinder finder = {.gen = gen};
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .data = &finder};
    visit_stmt(&visitor, stmt);
    return finder.captures;
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
    else if (is_runtime_block(pointer))
        attribute = LLVMGetCallSiteEnumAttribute(pointer, LLVMAttributeReturnIndex, LLVMGetEnumAttributeKindForName("align", sizeof "align" - 1));
    if (attribute)
        LLVMAddAttributeAtIndex(function, index, attribute);
}

/* Marks the captured pointers, the parameters from FIRST on, as not overlapping, if each is memory of its own and none is captured twice
   under different names. */
static void mark_pointers(FuncGen *gen, const Captures *captures, LLVMValueRef function, int first)
{
    bool distinct = !gen->has_computed_pointers;
    LLVMAttributeRef noalias = llvm_attribute(gen->build, "noalias", 0);
    for (int i = 0; i < captures->count; i++)
        for (int j = 0; j < i; j++)
            distinct &= captures->data[i].value != captures->data[j].value;
    for (int i = 0; i < captures->count; i++) {
        const Capture *capture = &captures->data[i];
        unsigned index = (unsigned)(i + first + 1);
        if (capture->var->dtype.code != DT_HANDLE)
            continue;
        copy_alignment(gen, capture->value, function, index);
        if (distinct && is_own_memory(capture->value))
            LLVMAddAttributeAtIndex(function, index, noalias);
    }
}

/* --- The function --- */

LLVMValueRef llvm_add_part(FuncGen *gen, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMAddFunction(gen->unit->module, name, type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    llvm_func_set_attributes(gen->build, function);
    return function;
}

LLVMValueRef captures_add_function(FuncGen *gen, const Captures *captures, const char *name, const LLVMTypeRef *first, int first_count)
{
    int count = captures->count + first_count;
    LLVMTypeRef *types = ARENA_ARRAY(gen->ctx->arena, LLVMTypeRef, count);
    for (int i = 0; i < count; i++)
        types[i] = i < first_count ? first[i] : LLVMTypeOf(captures->data[i - first_count].value);
    LLVMValueRef function = llvm_add_part(gen, name, LLVMFunctionType(gen->build->i32, types, (unsigned)count, false));
    mark_pointers(gen, captures, function, first_count);
    return function;
}

static void bind_captures(FuncGen *body, const FuncGen *gen, const Captures *captures, int first)
{
    for (int i = 0; i < captures->count; i++) {
        const Capture *capture = &captures->data[i];
        LLVMValueRef value = LLVMGetParam(body->function, (unsigned)(i + first));
        if (capture->wide) {
            map_set(body->ctx->arena, &body->wide_values, capture->var, value);
            if (capture->var->dtype.bits < 64)
                value = LLVMBuildTrunc(body->builder, value, llvm_value_type(body->build, capture->var->dtype), capture->var->name);
        }
        llvm_debug_variable(body, capture->var->name, capture->var, value, 0);
        gen_bind(body, capture->var, value);
    }
    /* Constants mean the same in every function. */
    for (int i = 0; i < gen->values.count; i++) {
        const MapEntry *entry = &gen->values.entries[i];
        if (LLVMIsAConstant(entry->value))
            map_set(body->ctx->arena, &body->values, entry->key, entry->value);
    }
}

FuncGen captures_begin_body(FuncGen *gen, const Captures *captures, LLVMValueRef function, int first_count, Span span)
{
    FuncGen body = {
        .ctx = gen->ctx, .build = gen->build, .unit = gen->unit, .func = gen->func, .symbol = gen->symbol, .body_count = gen->body_count};
    body.has_computed_pointers = gen->has_computed_pointers;
    body.in_parallel_body = gen->in_parallel_body;
    body.streams_stores = gen->streams_stores;
    body.prefetch_var = gen->prefetch_var;
    body.prefetch_distance = gen->prefetch_distance;
    body.prefetches_vectors = gen->prefetches_vectors;
    llvm_func_begin(&body, function, span);
    bind_captures(&body, gen, captures, first_count);
    return body;
}
