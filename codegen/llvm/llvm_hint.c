/* What annotations of loops ask of memory: pragma_nontemporal (stores that leave the caches alone) and software_prefetch (loads ahead).
   Both leave results as they are. */
#include <string.h>

#include "codegen/llvm/llvm_index.h"
#include "codegen/llvm/machine_code.h"
#include "ir/walk.h"

enum { MOST_PREFETCHES = 16, PREFETCH_READ = 0, PREFETCH_KEEP = 3, PREFETCH_DATA = 1 };

int64_t loop_hint(const ForStmt *loop, const char *name)
{
    const AttrValue *value = attrs_get(loop->annotations, name);
    int64_t number = 0;
    return value && value->kind == ATTR_EXPR && expr_const_int(value->expr, &number) ? number : 0;
}

/* --- Non-temporal stores --- */

static void mark_nontemporal(FuncGen *gen, LLVMValueRef store)
{
    static const char name[] = "nontemporal";
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(gen->build->i32, 1, false));
    LLVMContextRef context = gen->build->llvm;
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(context, name, sizeof name - 1),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &one, 1)));
}

/* The address decides: there is no non-temporal store of a vector that is not aligned. LLVM drops the test where it knows. */
void emit_nontemporal_store(FuncGen *gen, LLVMValueRef value, LLVMValueRef pointer, unsigned bytes, unsigned alignment)
{
    LLVMBasicBlockRef streamed = emit_block(gen, "streamed"), plain = emit_block(gen, UNALIGNED_NAME), done = emit_block(gen, "stored");
    LLVMValueRef address = LLVMBuildPtrToInt(gen->builder, pointer, gen->build->i64, "");
    LLVMValueRef low = LLVMBuildAnd(gen->builder, address, LLVMConstInt(gen->build->i64, bytes - 1, false), "");
    LLVMBuildCondBr(gen->builder, LLVMBuildIsNull(gen->builder, low, ""), streamed, plain);
    emit_at(gen, streamed);
    LLVMValueRef store = LLVMBuildStore(gen->builder, value, pointer);
    LLVMSetAlignment(store, bytes);
    mark_nontemporal(gen, store);
    emit_jump(gen, done);
    emit_at(gen, plain);
    LLVMSetAlignment(LLVMBuildStore(gen->builder, value, pointer), alignment);
    emit_jump(gen, done);
    emit_at(gen, done);
}

/* Non-temporal stores of x86 are not ordered with those that follow, by which other threads may be told that the data is there. */
void emit_store_fence(FuncGen *gen)
{
    if (!strcmp(gen->build->target.arch, "x86_64"))
        emit_intrinsic(gen, "llvm.x86.sse.sfence", NULL, NULL, 0);
}

/* --- Prefetches --- */

typedef struct {
    FuncGen *gen;
    const Var *var;
    Map inside; /* keys: variables that the body defines */
    const Expr *loads[MOST_PREFETCHES];
    int count;
} PrefetchFinder;

static bool find_definition(Visitor *visitor, const Stmt *stmt)
{
    PrefetchFinder *finder = visitor->data;
    const Var *var = stmt->kind == STMT_FOR ? stmt->as.loop.var : stmt->kind == STMT_LET ? stmt->as.let.var : NULL;
    var = stmt->kind == STMT_ALLOCATE ? stmt->as.allocate.var : stmt->kind == STMT_ALLOCATE_CONST ? stmt->as.allocate_const.var : var;
    if (var)
        map_set(finder->gen->ctx->arena, &finder->inside, var, finder);
    return true;
}

static bool find_let(Visitor *visitor, const Expr *expr)
{
    PrefetchFinder *finder = visitor->data;
    if (expr->kind == EXPR_LET)
        map_set(finder->gen->ctx->arena, &finder->inside, expr->value.var, finder);
    return true;
}

typedef struct {
    const PrefetchFinder *finder;
    bool allowed;
} IndexCheck;

static bool check_index(Visitor *visitor, const Expr *expr)
{
    IndexCheck *check = visitor->data;
    if (expr->kind == EXPR_VAR)
        check->allowed &= !map_has(&check->finder->inside, expr->value.var);
    return check->allowed;
}

static bool find_load(Visitor *visitor, const Expr *expr)
{
    PrefetchFinder *finder = visitor->data;
    if (expr->kind != EXPR_LOAD || finder->count == MOST_PREFETCHES || load_index_count(expr) != 1 ||
        (finder->gen->prefetches_vectors && expr->args[0]->dtype.lanes == 1))
        return true;
    IndexCheck check = {finder, !map_has(&finder->inside, expr->value.buffer->data)};
    Visitor checker = {.expr = check_index, .data = &check};
    visit_expr(&checker, expr->args[0]);
    for (int i = 0; i < finder->count; i++)
        check.allowed &= !expr_equal(finder->loads[i], expr);
    if (check.allowed && expr_is_pure(expr->args[0]) && expr_is_speculatable(expr->args[0]) && expr_uses_var(expr->args[0], finder->var))
        finder->loads[finder->count++] = expr;
    return true;
}

/* Prefetches the lines of the cache that LOAD, of neighbours side by side or of one element, begins to read at POINTER. */
static void prefetch_lines(FuncGen *gen, const Expr *load, LLVMValueRef pointer)
{
    enum { LINE_BYTES = 64 };
    LaneIndex lanes;
    bool is_row = load->args[0]->dtype.lanes > 1 && index_split_lanes(gen->ctx, load->args[0], &lanes) && expr_is_int(lanes.stride, 1);
    int bytes = is_row ? load->args[0]->dtype.lanes * dtype_bytes(load->value.buffer->dtype) : 1;
    for (int first = 0; first < bytes; first += LINE_BYTES) {
        LLVMValueRef offset = LLVMConstInt(gen->build->i64, (unsigned)first, false);
        LLVMValueRef line = first ? LLVMBuildGEP2(gen->builder, gen->build->i8, pointer, &offset, 1, "") : pointer;
        LLVMValueRef args[] = {line, LLVMConstInt(gen->build->i32, PREFETCH_READ, false), LLVMConstInt(gen->build->i32, PREFETCH_KEEP, false),
                               LLVMConstInt(gen->build->i32, PREFETCH_DATA, false)};
        emit_intrinsic(gen, "llvm.prefetch", gen->build->pointer, args, 4);
    }
}

void emit_prefetches(FuncGen *gen, Var *var, LLVMValueRef i, const Stmt *body, int64_t distance)
{
    PrefetchFinder finder = {.gen = gen, .var = var};
    Visitor definitions = {.expr = find_let, .stmt = find_definition, .data = &finder}, loads = {.expr = find_load, .data = &finder};
    visit_stmt(&definitions, body);
    visit_stmt(&loads, body);
    gen_bind_loop_var(gen, var, LLVMBuildAdd(gen->builder, i, LLVMConstInt(gen->build->i64, (unsigned long long)distance, true), ""));
    for (int n = 0; n < finder.count; n++) {
        LLVMValueRef pointer = emit_first_element(gen, finder.loads[n]);
        if (pointer)
            prefetch_lines(gen, finder.loads[n], pointer);
    }
    gen_bind_loop_var(gen, var, i);
}
