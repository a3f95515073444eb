/* See update.h. Four forms are known, each below lets and, where types allow it, in a wider type:

     O = A + (O + B) - C        a chain: the target stands once in it, added; the rest is the operand A + B - C
     O = O - A - B              a chain that only takes off: O - (A + B)
     O = Select(O < A, A, O)    a choice of the greater (or lesser) value, by any comparison of the two, as if_then_else too
     O = Select(A > 0, O + A, O)  one of two updates of one operation, or none, by a condition without the target: an update by
                                Select(A > 0, A, 0)

   A - O or O * 2 + A are none: another order of such updates gives another result. */
#include "ir/small_float.h"
#include "ir/walk.h"
#include "passes/analysis/model/update.h"

bool update_is_target(const Expr *expr, const Stmt *store)
{
    if (expr->kind != EXPR_LOAD || expr->value.buffer != store->as.store.buffer || expr->predicated || store->as.store.mask)
        return false;
    for (int i = 0; i < expr->arg_count; i++)
        if (!expr_equal(expr->args[i], store->as.store.indices[i]))
            return false;
    return true;
}

static bool kind_of_call(const Expr *call, ReduceKind *kind)
{
    switch (call->value.op) {
    case OP_BITWISE_AND: *kind = REDUCE_BITWISE_AND; return true;
    case OP_BITWISE_OR: *kind = REDUCE_BITWISE_OR; return true;
    case OP_BITWISE_XOR: *kind = REDUCE_BITWISE_XOR; return true;
    default: return false;
    }
}

/* A difference is a sum, of which a part is taken off. */
static bool kind_of_operator(const Expr *value, ReduceKind *kind)
{
    switch ((ExprKind)value->kind) {
    case EXPR_ADD:
    case EXPR_SUB: *kind = REDUCE_SUM; return true;
    case EXPR_MUL: *kind = REDUCE_PRODUCT; return true;
    case EXPR_MIN: *kind = REDUCE_MIN; return true;
    case EXPR_MAX: *kind = REDUCE_MAX; return true;
    case EXPR_AND: *kind = REDUCE_AND; return true;
    case EXPR_OR: *kind = REDUCE_OR; return true;
    case EXPR_CALL: return kind_of_call(value, kind);
    default: return false;
    }
}

static bool reads_target_buffer(const Expr *expr, const Stmt *store)
{
    bool reads = expr->kind == EXPR_LOAD && expr->value.buffer == store->as.store.buffer;
    for (int i = 0; i < expr->arg_count && !reads; i++)
        reads = reads_target_buffer(expr->args[i], store);
    return reads;
}

/* --- a chain of one operation --- */

typedef struct {
    Context *ctx;
    const Stmt *store;
    bool widens; /* the target stands in a cast to WIDE */
    DType wide;
    ReduceKind kind;
    const Expr *root;           /* the operation that is last */
    const Expr *added, *removed; /* the operand in two parts; NULL: nothing */
    int targets;                /* found */
} Chain;

static bool is_chain_target(const Chain *chain, const Expr *expr)
{
    if (!chain->widens)
        return update_is_target(expr, chain->store);
    return expr->kind == EXPR_CAST && dtype_equal(expr->dtype, chain->wide) && update_is_target(expr->args[0], chain->store);
}

static const Expr *combined(const Chain *chain, const Expr *a, const Expr *b)
{
    const Expr *args[] = {a, b};
    return !a ? b : chain->kind == REDUCE_SUM ? expr_binary(chain->ctx, EXPR_ADD, a, b) : expr_with_args(chain->ctx, chain->root, args);
}

/* Divides EXPR, a part of the chain, taken off where NEGATED, into the target and operands. */
static bool gather(Chain *chain, const Expr *expr, bool negated)
{
    ReduceKind kind;
    if (is_chain_target(chain, expr)) {
        chain->targets++;
        return !negated;
    }
    if (!reads_target_buffer(expr, chain->store)) {
        const Expr **part = negated ? &chain->removed : &chain->added;
        *part = combined(chain, *part, expr);
        return true;
    }
    return kind_of_operator(expr, &kind) && kind == chain->kind && gather(chain, expr->args[0], negated) &&
           gather(chain, expr->args[1], negated != (expr->kind == EXPR_SUB));
}

/* Rounding or wrapping to the target's type after each operation in WIDE does no more than the same in that type would: integers wrap, which
   agrees with sums, products and bits; rounding of floats is monotonic. The greater of two integers may wrap to the lesser. */
static bool may_widen(DType target, DType wide, ReduceKind kind)
{
    if (target.lanes != wide.lanes || target.bits >= wide.bits)
        return false;
    if (dtype_is_float(target))
        return wide.code == DT_FLOAT;
    bool integers = (target.code == DT_INT || target.code == DT_UINT) && (wide.code == DT_INT || wide.code == DT_UINT);
    return integers && target.bits > 1 && kind != REDUCE_MIN && kind != REDUCE_MAX;
}

static bool match_chain(Context *ctx, const Expr *value, const Stmt *store, UpdateForm *form)
{
    DType type = value->dtype;
    bool widens = value->kind == EXPR_CAST;
    Chain chain = {.ctx = ctx, .store = store, .widens = widens, .root = widens ? value->args[0] : value};
    chain.wide = chain.root->dtype;
    if (!kind_of_operator(chain.root, &chain.kind) || (widens && !may_widen(type, chain.wide, chain.kind)) ||
        !gather(&chain, chain.root, false) || chain.targets != 1)
        return false;
    form->kind = chain.kind == REDUCE_SUM && !chain.added ? REDUCE_DIFFERENCE : chain.kind;
    const Expr *operand = chain.added ? chain.added : chain.removed;
    if (chain.added && chain.removed)
        operand = expr_binary(ctx, EXPR_SUB, operand, chain.removed);
    form->operand = widens ? op_cast(ctx, type, operand) : operand;
    form->combine = (CombineForm){combined(&chain, operand, operand), widens, chain.wide};
    return true;
}

/* --- a choice of an extreme value --- */

bool update_is_choice(const Expr *value)
{
    return value->kind == EXPR_SELECT || expr_is_call(value, OP_IF_THEN_ELSE);
}

bool update_match_choice(const Expr *value, const Expr *condition, const Stmt *store, const Stmt *by, UpdateChoice *choice)
{
    bool keeps = update_is_target(value->args[1], store);
    if (!expr_is_compare(condition) || condition->kind < EXPR_LT || (!keeps && !update_is_target(value->args[2], store)))
        return false;
    bool first = update_is_target(condition->args[0], by); /* the target stands before the operator */
    if (!first && !update_is_target(condition->args[1], by))
        return false;
    ExprKind compare = first ? (ExprKind)condition->kind : expr_mirrored_compare(condition->kind);
    *choice = (UpdateChoice){.operand = value->args[keeps ? 2 : 1],
                             .compared = condition->args[first ? 1 : 0],
                             .compare = keeps ? compare : expr_opposite_compare(compare),
                             .keeps = keeps};
    return true;
}

static bool match_extreme(const Expr *value, const Stmt *store, UpdateForm *form)
{
    UpdateChoice choice;
    if (!update_match_choice(value, value->args[0], store, store, &choice) || !expr_equal(choice.compared, choice.operand))
        return false;
    form->kind = choice.compare == EXPR_GT || choice.compare == EXPR_GE ? REDUCE_MAX : REDUCE_MIN;
    form->operand = choice.operand;
    form->combine = (CombineForm){.value = value};
    return true;
}

/* --- a choice between updates --- */

/* VALUE, a choice, without what hides its form: not c ? a : b is c ? b : a, and p and q ? a : O is p ? (q ? a : O) : O. */
static const Expr *plain_choice(Context *ctx, const Expr *value, const Stmt *store)
{
    const Expr *condition = value->args[0];
    if (condition->kind == EXPR_NOT)
        return expr_with_args(ctx, value, (const Expr *[]){condition->args[0], value->args[2], value->args[1]});
    if (condition->kind != EXPR_AND || !update_is_target(value->args[2], store))
        return value;
    const Expr *inner = expr_with_args(ctx, value, (const Expr *[]){condition->args[1], value->args[1], value->args[2]});
    return expr_with_args(ctx, value, (const Expr *[]){condition->args[0], inner, value->args[2]});
}

/* The form of BRANCH, one of a choice; where it keeps the target, nothing is combined in, and FORM stays. */
static bool match_branch(Context *ctx, const Expr *branch, const Stmt *store, UpdateForm *form)
{
    return update_is_target(branch, store) || update_match(ctx, branch, store, form);
}

/* What a branch combines in by KIND: nothing is the neutral element, and a difference may be a part of a sum. */
static const Expr *branch_operand(Context *ctx, const UpdateForm *branch, ReduceKind kind, DType type)
{
    const Expr *neutral = reduction_identity(ctx, kind, type);
    return !branch->operand ? neutral : branch->kind == kind ? branch->operand : expr_binary(ctx, EXPR_SUB, neutral, branch->operand);
}

/* What stands in a choice in place of its operand and of the target, a read of BUFFER. */
typedef struct {
    const Expr *operand, *partial;
    const Buffer *buffer;
    const Expr *target; /* NULL: it stays */
} Replacement;

/* The indices of the target stay, whatever the operand is. */
static const Expr *replace_parts(Rewriter *rewriter, const Expr *expr)
{
    const Replacement *replacement = rewriter->data;
    if (expr_equal(expr, replacement->operand))
        return replacement->partial;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == replacement->buffer)
        return replacement->target ? replacement->target : expr;
    return rewrite_expr_children(rewriter, expr);
}

static const Expr *choice_of(Context *ctx, const Expr *choice, Replacement replacement)
{
    return rewrite_expr(&(Rewriter){.ctx = ctx, .expr = replace_parts, .data = &replacement}, choice);
}

/* VALUE is a choice by a condition that does not depend on the target. Both branches combine by one operation, or one branch does and the other
   keeps the target. Then it is one update by a chosen operand: target op (c ? a : b) is c ? target op a : target op b, and the neutral element
   changes nothing (but the sign of a zero). Not handled: floats of 8 bits and less, which may lack the neutral element. */
static bool match_guarded(Context *ctx, const Expr *value, const Stmt *store, UpdateForm *form)
{
    UpdateForm branches[2] = {0};
    if (small_float(value->dtype) || reads_target_buffer(value->args[0], store) || !match_branch(ctx, value->args[1], store, &branches[0]) ||
        !match_branch(ctx, value->args[2], store, &branches[1]))
        return false;
    const UpdateForm *first = &branches[branches[0].operand ? 0 : 1], *second = &branches[1];
    if (!first->operand)
        return false;
    bool alike = !second->operand || first->kind == second->kind;
    bool sums = reduction_is_sum(first->kind) && reduction_is_sum(second->kind);
    bool same_type = !second->operand || (first->combine.widens == second->combine.widens &&
                                          (!first->combine.widens || dtype_equal(first->combine.wide, second->combine.wide)));
    if ((!alike && !sums) || !same_type)
        return false;
    *form = *first;
    form->kind = alike ? first->kind : REDUCE_SUM;
    const Expr *operands[3] = {value->args[0]};
    for (int b = 0; b < 2; b++)
        operands[b + 1] = branch_operand(ctx, &branches[b], form->kind, value->dtype);
    form->operand = expr_with_args(ctx, value, operands);
    if (!alike)
        form->combine.value = expr_binary(ctx, EXPR_ADD, first->operand, first->operand);
    if (update_is_choice(form->combine.value))
        form->combine.value = choice_of(ctx, form->combine.value, (Replacement){first->operand, form->operand, store->as.store.buffer, NULL});
    return true;
}

bool update_match(Context *ctx, const Expr *value, const Stmt *store, UpdateForm *form)
{
    if (!update_is_choice(value))
        return match_chain(ctx, value, store, form);
    const Expr *choice = plain_choice(ctx, value, store);
    return choice != value ? update_match(ctx, choice, store, form) : match_extreme(value, store, form) || match_guarded(ctx, value, store, form);
}

/* --- combining --- */

const Expr *reduction_combine(Context *ctx, const Reduction *reduction, int index, const Expr *target, const Expr *partial)
{
    const CombineForm *form = &reduction->combines[index];
    if (update_is_choice(form->value))
        return choice_of(ctx, form->value, (Replacement){reduction->operands[index], partial, reduction->targets[index], target});
    const Expr *args[] = {form->widens ? op_cast(ctx, form->wide, target) : target, form->widens ? op_cast(ctx, form->wide, partial) : partial};
    const Expr *value = expr_with_args(ctx, form->value, args);
    return form->widens ? op_cast(ctx, target->dtype, value) : value;
}
