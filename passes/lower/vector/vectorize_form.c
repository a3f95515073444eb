/* Which loop bodies have a form that can become vectors; see vectorize.h. */
#include "passes/lower/vector/vectorize.h"

typedef struct {
    Context *ctx;
    const ForStmt *loop;
    const char *obstacle;
    const Expr *call;
    Map varying; /* the loop variable and lets that may depend on it */
} FormCheck;

static void obstruct(FormCheck *check, const char *why)
{
    if (!check->obstacle)
        check->obstacle = why;
}

static bool is_elementwise(Op op)
{
    static const Op others[] = {OP_CALL_PURE_EXTERN,
                                OP_CALL_LLVM_PURE_INTRIN,
                                OP_LLVM_LOOKUP_INTRINSIC_ID,
                                OP_TVM_ACCESS_PTR,
                                OP_ADDRESS_OF,
                                OP_TYPE_ANNOTATION,
                                OP_ISNULLPTR,
                                OP_BUFFER_DATA,
                                OP_TVM_TUPLE,
                                OP_COMM_REDUCER,
                                OP_VSCALE,
                                OP_GET_ACTIVE_LANE_MASK};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (op == others[i])
            return false;
    return op_info(op)->effect == EFFECT_PURE;
}

static bool check_form_of_expr(Visitor *visitor, const Expr *expr)
{
    FormCheck *check = visitor->data;
    if (expr->dtype.lanes > 1 || expr->predicated)
        obstruct(check, "it holds vectors already");
    if (expr->kind == EXPR_SHUFFLE)
        obstruct(check, "it shuffles vectors");
    if (expr->kind == EXPR_LET)
        map_set(check->ctx->arena, &check->varying, expr->value.var, expr->value.var);
    if (expr_is_call(expr, OP_ASSUME)) /* is dropped */
        return false;
    if (expr_is_opaque_call(expr) && !check->call)
        check->call = expr;
    if (expr->kind == EXPR_CALL && !is_elementwise(expr->value.op))
        obstruct(check, arena_printf(check->ctx->arena, "T.%s is no elementwise operation", op_info(expr->value.op)->name));
    return true;
}

static bool varies(const FormCheck *check, const Expr *expr)
{
    return expr_uses_any(expr, &check->varying) || expr_reads_memory(expr);
}

static bool layout_varies(const FormCheck *check, const Buffer *buffer)
{
    bool layout_varies = varies(check, buffer->elem_offset);
    for (int d = 0; d < buffer->ndim; d++)
        layout_varies |= varies(check, buffer->shape[d]) || (buffer->strides && varies(check, buffer->strides[d]));
    return layout_varies;
}

static bool check_form_of_stmt(Visitor *visitor, const Stmt *stmt)
{
    FormCheck *check = visitor->data;
    switch (stmt->kind) {
    case STMT_WHILE: obstruct(check, "it holds a while loop"); break;
    case STMT_ASSERT: obstruct(check, "it holds an assert"); break;
    case STMT_FOR:
        if (stmt->as.loop.kind != FOR_SERIAL && stmt->as.loop.kind != FOR_UNROLLED)
            obstruct(check, "it holds a loop that is not serial");
        if (varies(check, stmt->as.loop.min) || varies(check, stmt->as.loop.extent))
            obstruct(check, "it holds a loop whose bounds vary");
        break;
    case STMT_LET:
        if (stmt->as.let.var->dtype.code == DT_HANDLE)
            obstruct(check, "it names a pointer");
        map_set(check->ctx->arena, &check->varying, stmt->as.let.var, stmt->as.let.var);
        break;
    case STMT_DECL_BUFFER:
        if (layout_varies(check, stmt->as.declare.buffer))
            obstruct(check, "it declares a buffer whose shape or place varies");
        break;
    case STMT_STORE:
        if (stmt->as.store.mask)
            obstruct(check, "it holds a store under a mask");
        break;
    case STMT_ALLOCATE:
        for (int i = 0; i < stmt->as.allocate.extent_count; i++)
            if (varies(check, stmt->as.allocate.extents[i]))
                obstruct(check, "it allocates memory of varying size");
        if (stmt_uses_var(stmt->as.allocate.body, stmt->as.allocate.var))
            obstruct(check, "it uses the address of memory that it allocates");
        break;
    default: break;
    }
    return true;
}

const char *vectorize_obstacle(Context *ctx, const ForStmt *loop, const Expr **call)
{
    FormCheck check = {.ctx = ctx, .loop = loop};
    map_set(ctx->arena, &check.varying, loop->var, loop->var);
    if (expr_reads_memory(loop->min))
        obstruct(&check, "its first iteration is read from memory");
    Visitor visitor = {.expr = check_form_of_expr, .stmt = check_form_of_stmt, .data = &check};
    visit_stmt(&visitor, loop->body);
    *call = check.call;
    return check.obstacle;
}
