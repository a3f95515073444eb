/* See access_point.h. */
#include "ir/walk.h"
#include "passes/analysis/model/access_point.h"

Subst frame_values(Context *ctx, const Frame *frame)
{
    if (!frame)
        return (Subst){0};
    Subst values = frame_values(ctx, frame->outer);
    if (frame->kind == FRAME_BIND && frame->value)
        subst_var(ctx, &values, frame->var, op_cast(ctx, frame->var->dtype, subst_expr(ctx, &values, frame->value)));
    return values;
}

Range frame_loop_range(Context *ctx, const Frame *frame)
{
    Subst values = frame_values(ctx, frame->outer);
    return (Range){subst_expr(ctx, &values, frame->range.min), subst_expr(ctx, &values, frame->range.extent)};
}

bool exprs_use_var(const ExprList *list, const Var *var)
{
    for (int i = 0; i < list->count; i++)
        if (expr_uses_var(list->data[i], var))
            return true;
    return false;
}

bool access_point(Context *ctx, const Access *access, ExprList *indices)
{
    if (access->whole || access->fence || !access->buffer)
        return false;
    Subst values = frame_values(ctx, access->frame);
    for (int i = 0; i < access->buffer->ndim; i++) {
        if (!expr_is_int(access->region.ranges[i].extent, 1))
            return false;
        vec_push(ctx->arena, indices, subst_expr(ctx, &values, access->region.ranges[i].min));
    }
    return true;
}

/* A cast between index types keeps its value. */
static const Expr *without_cast(const Expr *expr)
{
    while (expr->kind == EXPR_CAST && dtype_is_integer(expr->dtype) && expr->dtype.bits >= 32 && dtype_is_integer(expr->args[0]->dtype))
        expr = expr->args[0];
    return expr;
}

bool access_point_uncast(Context *ctx, const Access *access, ExprList *indices)
{
    if (!access_point(ctx, access, indices))
        return false;
    for (int i = 0; i < indices->count; i++)
        indices->data[i] = without_cast(indices->data[i]);
    return true;
}

static void add_condition(Context *ctx, const Expr *condition, ExprList *conditions)
{
    if (condition->kind == EXPR_AND) {
        add_condition(ctx, condition->args[0], conditions);
        add_condition(ctx, condition->args[1], conditions);
    } else if (!expr_is_int(condition, 1)) {
        vec_push(ctx->arena, conditions, condition);
    }
}

ExprList access_conditions(Context *ctx, const Frame *frame, bool *all)
{
    ExprList conditions = {0};
    *all = true;
    for (const Frame *f = frame; f; f = f->outer) {
        if (f->kind != FRAME_CONDITION)
            continue;
        Subst values = frame_values(ctx, f->outer);
        if (f->negated)
            *all = false;
        else
            add_condition(ctx, subst_expr(ctx, &values, f->value), &conditions);
    }
    return conditions;
}

static bool find_varying(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_LOAD || expr->kind == EXPR_CALL;
    return true;
}

bool expr_is_fixed(const Expr *expr)
{
    bool varies = false;
    Visitor visitor = {.expr = find_varying, .data = &varies};
    visit_expr(&visitor, expr);
    return !varies;
}

static bool find_division(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD;
    return !*(bool *)visitor->data;
}

bool expr_divides(const Expr *expr)
{
    bool divides = false;
    Visitor visitor = {.expr = find_division, .data = &divides};
    visit_expr(&visitor, expr);
    return divides;
}

bool access_precedes(const Access *a, const Access *b)
{
    const Frame *common = frame_common(a->frame, b->frame);
    const Frame *fa = a->frame, *fb = b->frame;
    while (fa != common && fa->outer != common)
        fa = fa->outer;
    while (fb != common && fb->outer != common)
        fb = fb->outer;
    if (fa != common && fb != common && fa->kind == FRAME_POSITION && fb->kind == FRAME_POSITION)
        return fa->position < fb->position;
    /* one statement: its bounds, conditions and values are read before it writes, and what it holds runs after them */
    if (fa == common && fb != common)
        return true;
    if (fb == common && fa != common)
        return false;
    return a->order < b->order;
}

bool access_in_block(const Access *access, const Block *block)
{
    return frame_of_block(access->frame, block) != NULL;
}

const Frame *access_block_frame(const AccessList *accesses, const Block *block, const BlockStmt **stmt)
{
    const Frame *last = NULL; /* that of the access before, which is not in the block */
    for (int i = 0; i < accesses->count; i++) {
        if (accesses->data[i].entry && access_in_block(&accesses->data[i], block))
            continue; /* in front of the body */
        for (const Frame *frame = accesses->data[i].frame, *inner = NULL; frame && frame != last; frame = frame->outer) {
            if (frame->kind == FRAME_POSITION)
                inner = frame->outer;
            if (frame->kind == FRAME_BLOCK && frame->stmt->as.block.block == block) {
                *stmt = &frame->stmt->as.block;
                return inner;
            }
        }
        last = accesses->data[i].frame;
    }
    return NULL;
}
