/* The order of operations: each after those whose results it reads. */
#include "ir/walk.h"
#include "script/te.h"

typedef struct {
    Visitor visitor;
    Script *script;
    TensorList tensors;
} InputSearch;

static bool visit_load(Visitor *visitor, const Expr *expr)
{
    InputSearch *search = visitor->data;
    if (expr->kind != EXPR_LOAD)
        return true;
    visit_expr_children(visitor, expr);
    const Tensor *tensor = te_tensor_of(search->script, expr->value.buffer);
    bool known = !tensor;
    for (int i = 0; i < search->tensors.count && !known; i++)
        known = search->tensors.data[i] == tensor;
    if (!known)
        vec_push(search->script->ctx->arena, &search->tensors, tensor);
    return false;
}

static void visit_reduction(InputSearch *search, const Reduction *reduction)
{
    for (int i = 0; i < reduction->axis_count; i++) {
        visit_expr(&search->visitor, reduction->axes[i]->domain.min);
        visit_expr(&search->visitor, reduction->axes[i]->domain.extent);
    }
    for (int i = 0; i < reduction->count; i++)
        visit_expr(&search->visitor, reduction->sources[i]);
    for (int i = 0; i < reduction->count && reduction->initial; i++)
        visit_expr(&search->visitor, reduction->initial[i]);
    if (reduction->condition)
        visit_expr(&search->visitor, reduction->condition);
}

TensorList te_inputs(Script *script, const Operation *op)
{
    InputSearch search = {.visitor = {.expr = visit_load}, .script = script};
    search.visitor.data = &search;
    for (int i = 0; i < op->input_count; i++)
        vec_push(script->ctx->arena, &search.tensors, op->inputs[i]);
    for (int i = 0; i < op->result_count && op->bodies; i++)
        visit_expr(&search.visitor, op->bodies[i]);
    if (op->reduction)
        visit_reduction(&search, op->reduction);
    return search.tensors;
}

/* Operations read one another along chains of any length, so the walk keeps its own stack. */
static void order_from(Script *script, Map *seen, const Operation *root, OperationList *order)
{
    typedef struct {
        const Operation *op;
        TensorList inputs;
        int next;
    } Frame;
    VEC(Frame) stack = {0};
    Arena *arena = script->ctx->arena;
    if (map_has(seen, root))
        return;
    Frame first = {root, te_inputs(script, root), 0};
    map_set(arena, seen, root, (void *)root);
    vec_push(arena, &stack, first);
    while (stack.count) {
        Frame *top = &stack.data[stack.count - 1];
        if (top->next == top->inputs.count) {
            vec_push(arena, order, top->op);
            stack.count--;
            continue;
        }
        const Operation *op = top->inputs.data[top->next++]->op;
        if (map_has(seen, op))
            continue;
        map_set(arena, seen, op, (void *)op);
        Frame frame = {op, te_inputs(script, op), 0};
        vec_push(arena, &stack, frame);
    }
}

bool te_order(Script *script, const Value *arguments, int count, bool scans, OperationList *order)
{
    Map seen = {0};
    for (int i = 0; i < count; i++) {
        const Tensor *tensor = te_tensor(arguments[i]);
        if (tensor)
            order_from(script, &seen, tensor->op, order);
    }
    for (int i = 0; i < order->count; i++)
        if (order->data[i]->kind == OPERATION_SCAN && !scans)
            return script_error(script, order->data[i]->span, "te.create_prim_func does not take te.scan; te.create_schedule does");
    return true;
}
