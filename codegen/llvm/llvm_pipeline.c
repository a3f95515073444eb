/* Which of LLVM's passes run. Scalar loops get LLVM's own pipeline. Code on explicit vectors is already in its final shape: it only needs
   memory turned into values, common parts merged and invariants hoisted, and anything more costs time without making it faster. */
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "codegen/llvm/llvm_module.h"
#include "ir/walk.h"

static const char vector_pipeline[] = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),loop("
                                      "loop-unroll-full),loop-unroll<O2;no-partial;no-runtime;no-upperbound;no-peeling>,sroa,early-cse<memssa>)";
/* Takes as long as all passes before it where there are many stores, each of which it compares with those after it. */
static const char dead_stores[] = "function(dse)";

/* default<O2> and default<O3> without LLVM 19's SLP vectorizer, which the text of a default pipeline always has. It miscompiles: it computes
   integers in as few bits as hold them with their sign, also where an unsigned conversion to float reads them, so that
   (float)(uint64_t)(int16_t)-1 becomes 65535; and guarded loads of neighbours come out of the wrong place. */
#define WITHOUT_SLP(level)                                                                                                                   \
    "thinlto-pre-link<" level ">,rpo-function-attrs,function(float2int,loop(loop-rotate<header-duplication>,loop-deletion),loop-distribute," \
    "inject-tli-mappings,loop-vectorize,infer-alignment,loop-load-elim,instcombine<no-verify-fixpoint>,simplifycfg<switch-range-to-icmp;"    \
    "switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>,vector-combine,instcombine<no-verify-fixpoint>,loop-unroll<"       \
    level ">,sroa,infer-alignment,instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),loop-sink,instsimplify,div-rem-pairs,"   \
    "simplifycfg),globaldce,constmerge"
static const char *const standard_pipelines[] = {NULL, "default<O1>", WITHOUT_SLP("O2"), WITHOUT_SLP("O3")};

/* --- Content --- */

typedef struct {
    bool has_inner, has_vector;
} LoopContent;

typedef struct {
    Arena *arena;
    VEC(LoopContent) loops; /* the open ones, outermost first */
    bool has_vector, has_scalar_innermost;
} ContentFinder;

static bool is_loop(const Stmt *stmt)
{
    return stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE;
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    ContentFinder *finder = visitor->data;
    if (is_loop(stmt)) {
        if (finder->loops.count)
            vec_last(&finder->loops).has_inner = true;
        vec_push(finder->arena, &finder->loops, ((LoopContent){0}));
    }
    if (stmt->kind == STMT_STORE && stmt->as.store.value->dtype.lanes > 1) {
        finder->has_vector = true;
        if (finder->loops.count)
            vec_last(&finder->loops).has_vector = true;
    }
    return true;
}

static bool find_branch(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_AND || expr->kind == EXPR_OR || expr_is_call(expr, OP_IF_THEN_ELSE);
    return true;
}

static bool find_branch_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind != STMT_STORE && stmt->kind != STMT_SEQ && stmt->kind != STMT_LET;
    return true;
}

/* The end of a reduction over lanes, as it mostly is: the whole loop becomes code without branches. */
static bool is_short(const Stmt *stmt)
{
    enum { SHORT_LOOP = 16 };
    int64_t extent;
    bool has_branch = stmt->kind != STMT_FOR || !expr_const_int(stmt->as.loop.extent, &extent) || extent > SHORT_LOOP;
    Visitor visitor = {.expr = find_branch, .stmt = find_branch_in_stmt, .data = &has_branch};
    if (!has_branch)
        visit_stmt(&visitor, stmt->as.loop.body);
    return !has_branch;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    ContentFinder *finder = visitor->data;
    if (!is_loop(stmt))
        return;
    LoopContent content = vec_pop(&finder->loops);
    finder->has_scalar_innermost |= !content.has_inner && !content.has_vector && !is_short(stmt);
}

UnitKind llvm_unit_of(Context *ctx, const Func *func)
{
    ContentFinder finder = {.arena = ctx->arena};
    Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &finder};
    visit_stmt(&visitor, func->body);
    return finder.has_vector && !finder.has_scalar_innermost ? UNIT_VECTOR : UNIT_SCALAR;
}

/* --- Passes --- */

static const char *pipeline(const LlvmUnit *unit)
{
    int level = unit->build->options->opt_level & 3;
    bool only_cleanup = unit->kind == UNIT_VECTOR && !unit->has_imports;
    return level && only_cleanup ? vector_pipeline : standard_pipelines[level];
}

/* Two stores of FUNCTION have the same address. Common parts are merged by then, so that it is one value. */
static bool stores_repeat(Context *ctx, LLVMValueRef function)
{
    Map seen = {0};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) {
            if (LLVMGetInstructionOpcode(at) != LLVMStore)
                continue;
            LLVMValueRef address = LLVMGetOperand(at, 1);
            if (map_has(&seen, address))
                return true;
            map_set(ctx->arena, &seen, address, address);
        }
    return false;
}

static bool module_stores_repeat(Context *ctx, LLVMModuleRef module)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function))
        if (stores_repeat(ctx, function))
            return true;
    return false;
}

static bool run_passes(LlvmUnit *unit, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(unit->module, passes, unit->build->target.machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    diag_error(unit->build->ctx, span_none(), "LLVM's passes fail: %s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

bool llvm_unit_optimize(LlvmUnit *unit)
{
    const char *passes = pipeline(unit);
    if (!passes)
        return true;
    if (!run_passes(unit, passes))
        return false;
    return passes != vector_pipeline || !module_stores_repeat(unit->build->ctx, unit->module) || run_passes(unit, dead_stores);
}
