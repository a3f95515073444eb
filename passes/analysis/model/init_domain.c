/* Which points a block's init runs for; see init_domain.h. */
#include "passes/analysis/model/init_domain.h"

#include "ir/walk.h"

static const Expr *value_of_let(const void *data, const Var *var)
{
    const Frame *frame = data;
    while (frame && frame->var != var)
        frame = frame->outer;
    return frame && frame->kind == FRAME_BIND && !frame->identity ? frame->value : NULL;
}

ConjunctList frame_conditions(Context *ctx, const Frame *frame)
{
    ConjunctList parts = {0};
    conjuncts_add(ctx->arena, frame->value, frame->negated, value_of_let, frame, &parts);
    return parts;
}

/* LOOP (FRAME_LOOP) has one iteration. */
static bool is_unit_loop(const Frame *loop)
{
    return expr_is_int(loop->range.extent, 1) && !stmt_is_empty_loop(loop->stmt);
}

ConditionKind init_condition_kind(const Frame *block, const Frame *frame, const Expr *condition)
{
    ConditionKind kind = {false, false}, units = {false, false};
    for (const Frame *loop = frame; loop; loop = loop->outer) {
        if (loop->kind != FRAME_LOOP || !frame_depends(frame->outer, condition, loop->var))
            continue;
        ConditionKind *found = is_unit_loop(loop) ? &units : &kind;
        bool reduces = frame_only_reduces_over(block, loop->var);
        found->reducing |= reduces;
        found->others |= !reduces;
    }
    return kind.reducing || kind.others ? kind : (ConditionKind){units.reducing && !units.others, false};
}

/* A part of the condition at FRAME depends on the loop over VAR, and is not about what is reduced over alone. */
static bool condition_mixes(Context *ctx, const Frame *block, const Frame *frame, const Var *var)
{
    if (!frame_depends(frame->outer, frame->value, var))
        return false;
    ConjunctList parts = frame_conditions(ctx, frame);
    bool found = false;
    for (int i = 0; i < parts.count && !found; i++) {
        ConditionKind kind = init_condition_kind(block, frame, parts.data[i].expr);
        found = frame_depends(frame->outer, parts.data[i].expr, var) && (!kind.reducing || kind.others);
    }
    return found;
}

static bool is_mixed_with_others(Context *ctx, const Frame *block, const Frame *innermost, const Var *var)
{
    for (const Frame *frame = innermost; frame; frame = frame->outer)
        if (frame->kind == FRAME_CONDITION && condition_mixes(ctx, block, frame, var))
            return true;
    return false;
}

bool init_visits_loop(Context *ctx, const Frame *block, const Frame *innermost, const Frame *loop)
{
    const Var *var = loop->var;
    if (!frame_only_reduces_over(block, var) || is_mixed_with_others(ctx, block, innermost, var))
        return true;
    for (const Frame *frame = innermost; frame && frame != loop; frame = frame->outer)
        if (frame->kind == FRAME_LOOP &&
            (frame_depends(frame->outer, frame->range.min, var) || frame_depends(frame->outer, frame->range.extent, var)) &&
            init_visits_loop(ctx, block, innermost, frame))
            return true;
    return false;
}

bool init_heeds_condition(Context *ctx, const Frame *block, const Frame *innermost, const Frame *frame, const Expr *condition)
{
    ConditionKind kind = init_condition_kind(block, frame, condition);
    if (!kind.reducing || kind.others)
        return true;
    bool longer = false, visited = true, units_visited = true;
    for (const Frame *loop = frame; loop; loop = loop->outer) {
        if (loop->kind != FRAME_LOOP || !frame_depends(frame->outer, condition, loop->var))
            continue;
        bool unit = is_unit_loop(loop);
        longer |= !unit;
        *(unit ? &units_visited : &visited) &= init_visits_loop(ctx, block, innermost, loop);
    }
    return longer ? visited : units_visited;
}

/* --- what inits ask --- */

typedef struct {
    const Frame *frame;
    const Expr *part;
    bool dropped;
} GuardSearch;

/* A block with an init that only reduces over something that the part is about. */
static bool find_reducing(Visitor *visitor, const Stmt *stmt)
{
    GuardSearch *search = visitor->data;
    for (const Frame *frame = search->frame; stmt->kind == STMT_BLOCK && stmt->as.block.init && frame && !search->dropped; frame = frame->outer)
        search->dropped = frame->var && expr_uses_var(search->part, frame->var) && block_only_reduces_over(&stmt->as.block, frame->var);
    return !search->dropped;
}

/* What a condition, or with NEGATED its opposite, says besides what is about the reduction of inits in STMT alone; NULL: all of it. */
static const Expr *heeded_parts(Context *ctx, const Stmt *stmt, const Frame *frame, const Expr *condition, bool negated)
{
    ConjunctList parts = {0};
    conjuncts_add(ctx->arena, condition, negated, value_of_let, frame, &parts);
    const Expr *heeded = expr_bool(ctx, true);
    bool all = true;
    for (int i = 0; i < parts.count; i++) {
        GuardSearch search = {frame, parts.data[i].expr, false};
        Visitor visitor = {.stmt = find_reducing, .data = &search};
        visit_stmt(&visitor, stmt);
        all &= !search.dropped;
        if (!search.dropped)
            heeded = op_and(ctx, heeded, conjunct_expr(ctx, parts.data[i]));
    }
    return all ? NULL : heeded;
}

const Expr *init_heeded_guard(Context *ctx, const Stmt *stmt, const Frame *frame, const Expr *guard)
{
    return heeded_parts(ctx, stmt, frame, guard, false);
}

const Frame *init_heeded_frame(Context *ctx, const Stmt *stmt, const Frame *frame)
{
    if (!frame)
        return NULL;
    Frame copy = *frame;
    copy.outer = init_heeded_frame(ctx, stmt, frame->outer);
    const Expr *heeded = frame->kind == FRAME_CONDITION ? heeded_parts(ctx, stmt, frame->outer, frame->value, frame->negated) : NULL;
    if (copy.outer == frame->outer && !heeded)
        return frame;
    if (heeded)
        copy.value = heeded, copy.negated = false, copy.stmt = NULL;
    return arena_copy(ctx->arena, &copy, sizeof copy);
}
