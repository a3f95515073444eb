/* Long functions. LLVM's passes look, in each loop, at all conditions on the way to it, so that the time for a function grows with the square
   of the number of loops that follow one another. Where there are many, each outermost loop becomes a function of its own:

     for i in range(n): A[i] = s               int f.part.0(A, s) { for (i = 0; i < n; i++) A[i] = s; return 0; }
                                        ->     code = f.part.0(A, s); if (code) return code; */
#include "codegen/llvm/llvm_capture.h"
#include "ir/walk.h"

/* As many outermost loops stay together. */
enum { MOST_LOOPS = 64 };

static bool count_outermost(Visitor *visitor, const Stmt *stmt)
{
    int *count = visitor->data;
    *count += stmt->kind == STMT_FOR;
    return stmt->kind != STMT_FOR && stmt->kind != STMT_WHILE;
}

bool func_is_long(const Func *func)
{
    int count = 0;
    Visitor visitor = {.stmt = count_outermost, .data = &count};
    visit_stmt(&visitor, func->body);
    return count > MOST_LOOPS;
}

static bool find_return(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr_is_call(expr, OP_RET);
    return true;
}

/* T.ret leaves the whole function, also with the code 0, after which a part would go on. */
static bool returns(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.expr = find_return, .data = &found};
    visit_stmt(&visitor, stmt);
    return found;
}

static LLVMValueRef define_part(FuncGen *gen, const Stmt *stmt, const Captures *captures)
{
    const char *name = context_internf(gen->ctx, "%s.part.%d", gen->symbol, (*gen->body_count)++);
    LLVMValueRef function = captures_add_function(gen, captures, name, NULL, 0);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, llvm_attribute(gen->build, "noinline", 0));
    FuncGen body = captures_begin_body(gen, captures, function, 0, stmt->span);
    emit_for(&body, stmt);
    llvm_func_end(&body);
    return function;
}

bool emit_part(FuncGen *gen, const Stmt *stmt)
{
    if (!gen->is_long || gen->loop || returns(stmt))
        return false;
    Captures captures = captures_find(gen, stmt);
    LLVMValueRef function = define_part(gen, stmt, &captures);
    LLVMValueRef *values = ARENA_ARRAY(gen->ctx->arena, LLVMValueRef, captures.count);
    for (int i = 0; i < captures.count; i++)
        values[i] = captures.data[i].value;
    LLVMValueRef code = LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(function), function, values, (unsigned)captures.count, "");
    LLVMValueRef failed = LLVMBuildICmp(gen->builder, LLVMIntNE, code, LLVMConstInt(gen->build->i32, 0, false), "");
    LLVMBasicBlockRef leave = emit_block(gen, "failed"), go_on = emit_block(gen, "part.done");
    emit_unlikely(gen, LLVMBuildCondBr(gen->builder, failed, leave, go_on));
    emit_at(gen, leave);
    emit_leave(gen, code);
    emit_at(gen, go_on);
    return true;
}
