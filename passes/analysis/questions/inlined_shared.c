/* Memory that a call gives to two parameters of its callee. Each pointer leads into some of the memories that it is computed from:

     A.data, T.address_of(A[i]), a view of A, a let of these                      A
     T.if_then_else(c, A.data, B.data)                                            A and B
     what a call or an element gives                                              any memory

   Where two of them may be one, and the callee writes through one, stores to all elements of both parameters tell whether they are apart. A parameter
   that is a pointer without a buffer has elements that are not told, and is taken to be written. */
#include "ir/signature.h"
#include "passes/analysis/model/access.h"
#include "passes/analysis/questions/inlined.h"

typedef struct {
    const Inlining *inlining;
    VEC(const Var *) data;
    bool any;    /* it may lead elsewhere too */
    bool chosen; /* it leads into one of several */
} Memories;

static const Var *data_of(const Inlining *inlining, const Var *pointer)
{
    const Buffer *buffer = map_get(&inlining->buffers, pointer);
    return buffer ? buffer_viewed(inlining->func, buffer)->data : pointer;
}

static bool passes_its_pointers(const Expr *call)
{
    return expr_is_call(call, OP_TVM_ACCESS_PTR) || expr_is_call(call, OP_IF_THEN_ELSE) || expr_is_call(call, OP_REINTERPRET);
}

static bool find_memory(Visitor *visitor, const Expr *expr)
{
    Memories *memories = visitor->data;
    const Inlining *inlining = memories->inlining;
    const Expr *value = expr->kind == EXPR_VAR ? map_get(&inlining->lets, expr->value.var) : NULL;
    const Var *data = NULL;
    if (value) {
        visit_expr(visitor, value);
    } else if (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD) {
        data = buffer_viewed(inlining->func, expr->args[0]->value.buffer)->data;
    } else if (expr->kind == EXPR_VAR && expr->dtype.code == DT_HANDLE) {
        data = data_of(inlining, expr->value.var);
    } else {
        bool given = (expr->kind == EXPR_CALL && !passes_its_pointers(expr)) || expr->kind == EXPR_LOAD;
        bool number = expr_is_call(expr, OP_REINTERPRET) && expr->args[0]->dtype.code != DT_HANDLE && !expr_const_int(expr->args[0], &(int64_t){0});
        memories->any |= expr->dtype.code == DT_HANDLE && (given || number);
        return expr->kind != EXPR_LOAD;
    }
    if (data)
        vec_push(inlining->ctx->arena, &memories->data, data);
    return false;
}

static Memories memories_of(const Inlining *inlining, const Expr *pointer)
{
    Memories memories = {.inlining = inlining};
    Visitor visitor = {.expr = find_memory, .data = &memories};
    visit_expr(&visitor, pointer);
    memories.chosen = memories.any || memories.data.count != 1;
    return memories;
}

static bool may_be_one(const Memories *a, const Memories *b)
{
    bool shared = (a->any && (b->any || b->data.count)) || (b->any && a->data.count);
    for (int i = 0; i < a->data.count; i++)
        for (int k = 0; k < b->data.count; k++)
            shared |= a->data.data[i] == b->data.data[k];
    return shared;
}

/* Stores to all elements of PARAM where POINTER leads, in a new block *ELEMENTS. */
static const Stmt *store_to_param(const Inlining *inlining, Subst *subst, const Buffer *param, const Expr *pointer, bool flat, Block **elements)
{
    Context *ctx = inlining->ctx;
    PlacedList placed = {0};
    if (!param || !inlined_place_param(inlining, subst, param, pointer, flat, &placed))
        return stmt_empty(ctx);
    Region all = {(Buffer *)param, ARENA_ARRAY(ctx->arena, Range, param->ndim), param->span};
    for (int d = 0; d < param->ndim; d++)
        all.ranges[d] = (Range){expr_int(ctx, param->shape[d]->dtype, 0), param->shape[d]};
    const Stmt *body = inlined_over_memory(ctx, inlined_store_to_region(ctx, &all), &placed);
    return body ? inlined_block(ctx, subst_stmt(ctx, subst, body), "passed", elements) : stmt_empty(ctx);
}

/* The parameters FIRST and SECOND of CALLEE, as CALL passes them. */
static const Stmt *store_to_shared(Inlining *inlining, SharedMemory shared, int first, int second)
{
    int params[] = {first, second};
    const Expr *call = shared.call;
    const Func *callee = shared.callee;
    const Stmt *stores[4];
    for (int i = 0; i < 2; i++) {
        Subst subst = {0};
        const Param *param = &callee->params[params[i]];
        inlined_scalars(inlining, call, callee, &subst); /* one that is not known is any */
        shared.params[i] = param->buffer ? param->buffer->name : param->param->name;
        stores[i] = store_to_param(inlining, &subst, param->buffer, call->args[params[i] + 1], false, &shared.elements[i]);
        stores[i + 2] = store_to_param(inlining, &subst, param->buffer, call->args[params[i] + 1], true, &shared.flat_elements[i]);
    }
    vec_push(inlining->ctx->arena, &inlining->result->shared, shared);
    return stmt_seq(inlining->ctx, stores, 4);
}

static bool is_pointer(const Param *param)
{
    return param->buffer || param->param->dtype.code == DT_HANDLE;
}

const Stmt *inlined_shared(Inlining *inlining, const Expr *call, const Func *callee)
{
    const Signature *signature = func_signature(inlining->ctx, callee);
    const Stmt *result = stmt_empty(inlining->ctx);
    for (int i = 0; i < callee->param_count && i + 1 < call->arg_count; i++)
        for (int k = 0; k < i; k++) {
            const Param *a = &callee->params[k], *b = &callee->params[i];
            bool written = signature->written[i] || signature->written[k];
            if (!(written || !a->buffer || !b->buffer) || !is_pointer(a) || !is_pointer(b))
                continue;
            Memories first = memories_of(inlining, call->args[k + 1]), second = memories_of(inlining, call->args[i + 1]);
            if (!may_be_one(&first, &second))
                continue;
            SharedMemory shared = {.call = call, .callee = callee, .certain = !first.chosen && !second.chosen, .written = written};
            const Stmt *parts[] = {result, store_to_shared(inlining, shared, k, i)};
            result = stmt_seq(inlining->ctx, parts, 2);
        }
    return result;
}
