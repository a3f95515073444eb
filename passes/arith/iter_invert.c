/* The inverse of a bijective map: values are carried from the sums back through splits to the inputs. A mark receives its value from
   all of its splits, so the sums and marks are visited users first. */
#include "passes/arith/iter_internal.h"

/* The value that reached a mark so far. */
typedef struct {
    const IterMark *mark;
    const Expr *value;
    int pending; /* splits of it that have not delivered yet */
} MarkValue;

typedef struct {
    Analyzer *an;
    Context *ctx;
    VEC(MarkValue) marks;
    Map inverse;
} Inverter;

static MarkValue *mark_value(Inverter *inv, const IterMark *mark)
{
    for (int i = 0; i < inv->marks.count; i++)
        if (inv->marks.data[i].mark == mark)
            return &inv->marks.data[i];
    return NULL;
}

static void carry_sum(Inverter *inv, const IterSum *sum, const Expr *value);

/* Sets the variable of an input mark, which is the variable, or variable - min. */
static void set_input(Inverter *inv, const Expr *input, const Expr *value)
{
    bool shifted = input->kind == EXPR_SUB;
    const Var *var = iter_input_var(input);
    if (shifted)
        value = op_add(inv->ctx, value, input->args[1]);
    map_set(inv->ctx->arena, &inv->inverse, var, (void *)value);
}

static void carry_split(Inverter *inv, const IterSplit *split, const Expr *value)
{
    MarkValue *target = mark_value(inv, split->source);
    target->value = op_add(inv->ctx, target->value, op_mul(inv->ctx, value, split->lower_factor));
    if (--target->pending > 0)
        return;
    if (split->source->input)
        set_input(inv, split->source->input, target->value);
    else
        carry_sum(inv, split->source->sum, target->value);
}

static void carry_sum(Inverter *inv, const IterSum *sum, const Expr *value)
{
    Context *ctx = inv->ctx;
    value = op_sub(ctx, value, sum->base);
    if (sum->count == 1) {
        const Expr *scale = sum->args[0].scale;
        bool own_inverse = expr_is_int(scale, 1) || expr_is_int(scale, -1); /* values between the multiples of another scale have no origin */
        carry_split(inv, &sum->args[0], own_inverse ? op_mul(ctx, value, scale) : op_floordiv(ctx, value, scale));
        return;
    }
    for (int i = sum->count - 1; i >= 0; i--) {
        const Expr *digit = op_floordiv(ctx, value, sum->args[i].scale);
        if (i > 0)
            digit = op_floormod(ctx, digit, sum->args[i].extent);
        carry_split(inv, &sum->args[i], digit);
    }
}

Map iter_map_invert(Analyzer *an, const IterMapResult *map, const Expr *const *outputs)
{
    Context *ctx = analyzer_context(an);
    Inverter inv = {.an = an, .ctx = ctx};
    SplitCollection collection = {0};
    iter_collect_splits(ctx, map->sums, map->count, &collection);
    for (int i = 0; i < collection.marks.count; i++) {
        const MarkSplits *splits = &collection.marks.data[i];
        MarkValue start = {splits->mark, expr_zero_like(ctx, splits->mark->extent), splits->splits.count};
        vec_push(ctx->arena, &inv.marks, start);
    }
    for (int i = map->count - 1; i >= 0; i--) /* the innermost digit comes first in a sum */
        if (map->sums[i]->count)
            carry_sum(&inv, map->sums[i], outputs[i]);
    return inv.inverse;
}
