/* Which loops add products of bytes. See llvm_dot.c, where the legality stands. */
#include "codegen/llvm/llvm_dot_loop.h"
#include "ir/linear_sum.h"
#include "ir/walk.h"

/* --- What the loop must look like --- */

/* The load behind conversions to 32 bits and broadcasts. */
static bool match_operand(const Expr *expr, DotOperand *operand)
{
    bool is_widened = false;
    while (expr->kind == EXPR_CAST || expr->kind == EXPR_BROADCAST) {
        if (expr->kind == EXPR_CAST && (is_widened || !dtype_is_integer(expr->dtype) || expr->dtype.bits != 32))
            return false;
        is_widened |= expr->kind == EXPR_CAST;
        expr = expr->args[0];
    }
    bool is_byte = dtype_is_integer(expr->dtype) && expr->dtype.bits == 8;
    *operand = (DotOperand){expr, expr->dtype.code == DT_INT};
    return is_widened && is_byte && expr->kind == EXPR_LOAD && load_index_count(expr) == 1 && expr->value.buffer->dtype.lanes == 1;
}

typedef struct {
    const Var *memory;
    bool allowed;
} OperandCheck;

static bool check_operand(Visitor *visitor, const Expr *expr)
{
    OperandCheck *check = visitor->data;
    bool reads_target = expr->kind == EXPR_LOAD && expr->value.buffer->data == check->memory;
    bool has_effect = expr->kind == EXPR_CALL && op_info(expr->value.op)->effect != EFFECT_PURE;
    check->allowed &= !reads_target && !has_effect && expr->kind != EXPR_LET;
    return check->allowed;
}

static bool operand_is_apart(const DotOperand *operand, const Var *memory)
{
    OperandCheck check = {memory, true};
    Visitor visitor = {.expr = check_operand, .data = &check};
    visit_expr(&visitor, operand->load);
    return check.allowed;
}

/* STMT as an update of one k. */
static bool match_update(const Stmt *stmt, const Var *k, DotUpdate *update)
{
    if (stmt->kind != STMT_STORE || stmt->as.store.mask || stmt->as.store.index_count != 1 || stmt->as.store.buffer->dtype.lanes > 1)
        return false;
    const Expr *value = stmt->as.store.value, *index = stmt->as.store.indices[0];
    if (value->kind != EXPR_ADD || !dtype_is_integer(value->dtype) || value->dtype.bits != 32 || !expr_is_pure(index) ||
        expr_uses_var(index, k))
        return false;
    bool target_first = value->args[0]->kind == EXPR_LOAD;
    const Expr *target = value->args[!target_first], *product = value->args[target_first];
    if (target->kind != EXPR_LOAD || product->kind != EXPR_MUL || target->value.buffer->data != stmt->as.store.buffer->data ||
        load_index_count(target) != 1 || load_mask(target) || !expr_equal(target->args[0], index) ||
        !dtype_equal(target->value.buffer->dtype, stmt->as.store.buffer->dtype))
        return false;
    *update = (DotUpdate){.store = stmt, .target = target, .count = 1, .lanes = value->dtype.lanes};
    return match_operand(product->args[0], update->a) && match_operand(product->args[1], update->b);
}

/* --- Groups: several k in one iteration --- */

/* Adds UPDATE, of one k, to the update of the same elements, or as a new one. */
static bool add_update(DotLoop *dot, const DotUpdate *update)
{
    for (int i = 0; i < dot->count; i++) {
        DotUpdate *known = &dot->updates[i];
        if (known->store->as.store.buffer != update->store->as.store.buffer || known->lanes != update->lanes ||
            !expr_equal(known->store->as.store.indices[0], update->store->as.store.indices[0]))
            continue;
        if (known->count == MAX_DOT_GROUP || known->a->is_signed != update->a->is_signed || known->b->is_signed != update->b->is_signed)
            return false;
        known->a[known->count] = update->a[0];
        known->b[known->count++] = update->b[0];
        return true;
    }
    if (dot->count == MAX_DOT_UPDATES)
        return false;
    dot->updates[dot->count++] = *update;
    return true;
}

typedef struct {
    const Var *var;
    const Expr *value;
} Replacement;

static const Expr *replace_var(Rewriter *rewriter, const Expr *expr)
{
    const Replacement *replacement = rewriter->data;
    if (expr_is_var(expr, replacement->var))
        return replacement->value;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    return result != expr && expr->kind == EXPR_CAST ? op_cast(rewriter->ctx, expr->dtype, result->args[0]) : result;
}

/* Iteration INDEX of LOOP; conversions of its constant are folded, which comparisons of indices need. */
static const Stmt *iteration_of(Context *ctx, const ForStmt *loop, int index)
{
    Replacement replacement = {loop->var, op_add_int(ctx, loop->min, index)};
    Rewriter rewriter = {.ctx = ctx, .expr = replace_var, .data = &replacement};
    return rewrite_stmt(&rewriter, loop->body);
}

/* The statements of BODY, those of short inner loops written out. */
static bool collect_updates(DotLoop *dot, const Stmt *body)
{
    Context *ctx = dot->gen->ctx;
    DotUpdate update;
    int64_t extent;
    switch (body->kind) {
    case STMT_SEQ:
        for (int i = 0; i < body->as.seq.count; i++)
            if (!collect_updates(dot, body->as.seq.items[i]))
                return false;
        return true;
    case STMT_FOR:
        if (body->as.loop.kind != FOR_SERIAL || !expr_const_int(body->as.loop.extent, &extent) || extent < 1 || extent > MAX_DOT_GROUP)
            return false;
        for (int i = 0; i < extent; i++)
            if (!collect_updates(dot, iteration_of(ctx, &body->as.loop, i)))
                return false;
        return true;
    default: return match_update(body, dot->loop->var, &update) && add_update(dot, &update);
    }
}

/* The indices A and B, scalars or lanes of one stride, differ by DISTANCE. */
static bool lies_behind(Context *ctx, const Expr *a, const Expr *b, int64_t distance)
{
    LaneIndex first, second;
    int64_t difference;
    if (a->dtype.lanes > 1) {
        if (!index_split_lanes(ctx, a, &first) || !index_split_lanes(ctx, b, &second) ||
            !linear_difference(ctx, first.stride, second.stride, &difference) || difference)
            return false;
        a = first.base;
        b = second.base;
    }
    return linear_difference(ctx, b, a, &difference) && difference == distance;
}

/* Each of the COUNT loads of OPERAND, in the order of k, is one element behind the last. */
static bool is_run(Context *ctx, const DotOperand *operand, int count)
{
    for (int i = 0; i < count; i++)
        if (load_mask(operand[i].load) || !dtype_equal(operand[i].load->dtype, operand->load->dtype) ||
            operand[i].load->value.buffer != operand->load->value.buffer ||
            !lies_behind(ctx, operand->load->args[0], operand[i].load->args[0], i))
            return false;
    return true;
}

/* BASE, where OPERAND begins, moves on by as many elements in each iteration as an iteration has values of k. */
static bool goes_on(const DotLoop *dot, const Expr *base)
{
    LaneIndex form;
    return index_split_var(dot->gen->ctx, base, dot->loop->var, &form) && expr_is_int(form.stride, dot->group);
}

bool dot_consecutive_lanes(const DotLoop *dot, const DotOperand *operand, int first, LaneIndex *lanes)
{
    Context *ctx = dot->gen->ctx;
    int count = dot->group < DOT_DEPTH ? dot->group : DOT_DEPTH;
    operand += first % dot->group;
    const Expr *index = operand->load->args[0];
    *lanes = (LaneIndex){index, expr_int(ctx, dtype_scalar(index->dtype), 0)};
    if (operand->load->dtype.lanes > 1 && !index_split_lanes(ctx, index, lanes))
        return false;
    return !expr_uses_var(lanes->stride, dot->loop->var) && is_run(ctx, operand, count) &&
           (count == DOT_DEPTH || goes_on(dot, lanes->base));
}

static bool lanes_are_consecutive(const DotLoop *dot, const DotOperand *operand)
{
    LaneIndex lanes;
    for (int first = 0; first < dot->group; first += DOT_DEPTH)
        if (!dot_consecutive_lanes(dot, operand, first, &lanes))
            return false;
    return true;
}

/* A scalar statement reads both operands in order. A vector statement may read in any way; it pays where one operand needs no shuffle. */
static bool update_pays(DotLoop *dot, DotUpdate *update)
{
    Context *ctx = dot->gen->ctx;
    if (update->lanes != dot->updates[0].lanes || update->count != dot->group ||
        !dot_kind(&dot->gen->build->target, update->a->is_signed, update->b->is_signed, &update->kind))
        return false;
    bool is_power = !(update->lanes & (update->lanes - 1)); /* LLVM takes bytes of other vectors apart one by one */
    if (update->lanes > 1)
        return is_power && dot_takes(&update->kind, update->lanes * DOT_DEPTH) &&
               (lanes_are_consecutive(dot, update->a) || lanes_are_consecutive(dot, update->b));
    return is_run(ctx, update->a, dot->group) && goes_on(dot, update->a->load->args[0]) && is_run(ctx, update->b, dot->group) &&
           goes_on(dot, update->b->load->args[0]);
}

/* No statement's target is an operand. */
static bool targets_are_apart(const DotLoop *dot)
{
    for (int i = 0; i < dot->count; i++)
        for (int j = 0; j < dot->count; j++)
            for (int r = 0; r < dot->group; r++)
                if (!operand_is_apart(&dot->updates[i].a[r], dot->updates[j].store->as.store.buffer->data) ||
                    !operand_is_apart(&dot->updates[i].b[r], dot->updates[j].store->as.store.buffer->data))
                    return false;
    return true;
}

bool dot_match_loop(DotLoop *dot)
{
    if (dot->loop->kind != FOR_SERIAL || dot->gen->has_computed_pointers || !collect_updates(dot, dot->loop->body) || !dot->count)
        return false;
    dot->group = dot->updates[0].count;
    bool is_power = !(dot->group & (dot->group - 1));
    for (int i = 0; i < dot->count; i++)
        if (!is_power || !update_pays(dot, &dot->updates[i]))
            return false;
    dot->lanes = dot->updates[0].lanes;
    dot->bytes = dot->updates[0].kind.bytes;
    dot->parts = dot->lanes > 1 || dot->count > 4 ? 1 : dot->count > 1 ? 2 : MAX_DOT_PARTS;
    return targets_are_apart(dot);
}
