/* Index maps; see index_map.h.

   lambda i, j: (i // 16, j, i % 16) over the box (128, 64) has the shape (8, 64, 16) and the inverse axis0 * 16 + axis2, axis1. Over (100, 64) the
   shape is (7, 64, 16), and where axis0 == 6 and 4 <= axis2 is padding. */
#include "passes/schedule/core/index_map.h"

#include <string.h>

#include "ir/index_value.h"
#include "ir/walk.h"
#include "passes/arith/int_set.h"
#include "print/print.h"

enum { MOST_POINTS = 1 << 22, MOST_SIMPLIFICATIONS = 10 };

/* --- From the script --- */

/* VALUE, a result, as an expression of TYPE where it is a number. NULL after a refusal. */
static const Expr *result_expr(Schedule *sch, const Value *argument, const Value *value, DType type)
{
    Context *ctx = sch->ctx;
    if (value->kind == VALUE_EXPR)
        return value->as.expr;
    if (value->kind == VALUE_BOOL && type.code == DT_BOOL)
        return expr_bool(ctx, value->as.boolean);
    if (value->kind == VALUE_FLOAT && dtype_is_float(type))
        return expr_float(ctx, type, value->as.real);
    if (value->kind == VALUE_INT && dtype_is_float(type))
        return expr_float(ctx, type, (double)value->as.integer);
    if (value->kind == VALUE_INT && dtype_is_integer(type) && dtype_holds(type, value->as.integer))
        return expr_int(ctx, type, value->as.integer);
    sched_refuse_argument(sch, argument, "a result of the function is of type %s, which is no value of type %s", value_type_name(value->kind),
                          dtype_name(ctx, type));
    return NULL;
}

/* VALUE, or the items of a list at any depth, with the numbers that were sampled put in: in lists of its own, for what the trace shows stays. */
static void put_in_samples(Schedule *sch, Subst *subst, Value *value)
{
    if (value->kind == VALUE_EXPR && sch->trace.decided.count)
        value->as.expr = subst_expr(sch->ctx, subst, value->as.expr);
    if (value->kind != VALUE_LIST)
        return;
    *value = value_list(sch->ctx, value->as.list->items, value->as.list->count);
    for (int i = 0; i < value->as.list->count; i++)
        put_in_samples(sch, subst, &value->as.list->items[i]);
}

static bool call_function(Schedule *sch, const Value *function, int count, DType type, Var ***vars, Value *result)
{
    Subst subst = {0};
    *vars = ARENA_ARRAY(sch->ctx->arena, Var *, count);
    *result = value_none();
    if (!function->as.function->apply(function->as.function, count, type, *vars, result))
        return false;
    for (int i = 0; i < sch->trace.decided.count; i++) {
        const Var *var = sch->trace.decided.entries[i].key;
        const int64_t *number = sch->trace.decided.entries[i].value;
        subst_var(sch->ctx, &subst, var, expr_int(sch->ctx, var->dtype, *number));
    }
    put_in_samples(sch, &subst, result);
    return true;
}

static bool add_output(Schedule *sch, IndexMap *map, const Value *value, DType type)
{
    const Expr *output = result_expr(sch, map->argument, value, type);
    if (!output)
        return false;
    if (!dtype_is_integer(output->dtype) || !expr_is_pure(output))
        return sched_refuse_argument(sch, map->argument, "a result of the index map, %s, is no index: an integer that reads no memory",
                                     print_expr(sch->ctx, output));
    map->outputs[map->output_count++] = op_cast(sch->ctx, type, output);
    return true;
}

bool index_map_make(Schedule *sch, const Value *function, int count, DType type, IndexMap *map)
{
    Value result;
    *map = (IndexMap){.input_count = count, .argument = function};
    if (!call_function(sch, function, count, type, &map->inputs, &result))
        return false;
    const Value *items = result.kind == VALUE_LIST ? result.as.list->items : &result;
    int item_count = result.kind == VALUE_LIST ? result.as.list->count : 1;
    map->outputs = ARENA_ARRAY(sch->ctx->arena, const Expr *, item_count);
    map->separators = ARENA_ARRAY(sch->ctx->arena, int, item_count);
    for (int i = 0; i < item_count; i++) {
        if (items[i].kind == VALUE_STRING && !strcmp(items[i].as.text, VALUE_SEPARATOR))
            map->separators[map->separator_count++] = map->output_count;
        else if (!add_output(sch, map, &items[i], type))
            return false;
    }
    return map->output_count || sched_refuse_argument(sch, function, "the index map has no result");
}

bool index_function_value(Schedule *sch, const Value *function, int count, DType type, DType dtype, Var ***vars, const Expr **value)
{
    Value result;
    if (!call_function(sch, function, count, type, vars, &result))
        return false;
    const Value *item = result.kind == VALUE_LIST && result.as.list->count == 1 ? result.as.list->items : &result;
    return (*value = result_expr(sch, function, item, dtype));
}

/* VALUE, one end of a range, as an index of TYPE; NULL after a refusal. */
static const Expr *range_end(Schedule *sch, const Value *function, const Value *value, DType type)
{
    const Expr *expr = result_expr(sch, function, value, type);
    if (expr && (!dtype_is_integer(expr->dtype) || !expr_is_pure(expr))) {
        sched_refuse_argument(sch, function, "%s is no index: an integer that reads no memory", print_expr(sch->ctx, expr));
        return NULL;
    }
    return expr ? op_cast(sch->ctx, type, expr) : NULL;
}

static bool range_ends(Schedule *sch, const Value *function, const Value *item, DType type, const Expr *ends[2])
{
    Context *ctx = sch->ctx;
    if (item->kind != VALUE_LIST)
        return (ends[0] = range_end(sch, function, item, type)) && (ends[1] = op_add(ctx, ends[0], expr_int(ctx, type, 1)));
    if (item->as.list->count != 2)
        return sched_refuse_argument(sch, function, "a range has a begin and an end, and the function gives %d", item->as.list->count);
    return (ends[0] = range_end(sch, function, &item->as.list->items[0], type)) &&
           (ends[1] = range_end(sch, function, &item->as.list->items[1], type));
}

/* What the trace shows of FUNCTION: VARS and ENDS. */
static void show_ranges(Context *ctx, IndexFunction *function, Var **vars, const Expr *(*ends)[2], int count)
{
    Value *shown = ARENA_ARRAY(ctx->arena, Value, count);
    for (int d = 0; d < count; d++) {
        Value pair[2] = {{.kind = VALUE_EXPR, .as.expr = ends[d][0]}, {.kind = VALUE_EXPR, .as.expr = ends[d][1]}};
        shown[d] = value_list(ctx, pair, 2);
        shown[d].as.list->is_tuple = true;
    }
    function->inputs = vars;
    function->result = value_list(ctx, shown, count);
}

bool index_function_ranges(Schedule *sch, const Value *function, const BlockStmt *block, const Buffer *buffer, const Expr *(*ends)[2])
{
    Context *ctx = sch->ctx;
    Value result;
    Var **vars, **axes = ARENA_ARRAY(ctx->arena, Var *, block->iter_count);
    DType type = buffer_index_dtype(buffer);
    for (int i = 0; i < block->iter_count; i++)
        axes[i] = block->iters[i].var;
    if (!call_function(sch, function, block->iter_count, type, &vars, &result))
        return false;
    const Value *items = result.kind == VALUE_LIST ? result.as.list->items : &result;
    int count = result.kind == VALUE_LIST ? result.as.list->count : 1;
    if (count != buffer->ndim)
        return sched_refuse_argument(sch, function, "the function gives %d range%s, and '%s' has %d dimension%s", count, count == 1 ? "" : "s",
                                     buffer->name, buffer->ndim, buffer->ndim == 1 ? "" : "s");
    Subst subst = {0};
    for (int i = 0; i < block->iter_count; i++)
        subst_var(ctx, &subst, vars[i], op_cast(ctx, type, expr_var(ctx, axes[i])));
    for (int d = 0; d < count; d++) {
        if (!range_ends(sch, function, &items[d], type, ends[d]))
            return false;
        for (int k = 0; k < 2; k++)
            ends[d][k] = subst_expr(ctx, &subst, ends[d][k]);
    }
    show_ranges(ctx, function->as.function, axes, ends, count);
    return true;
}

/* --- Application and shape --- */

static const Expr *substituted(Context *ctx, const IndexMap *map, const Expr *const *indices, const Expr *expr)
{
    Subst subst = {0};
    for (int i = 0; i < map->input_count; i++)
        subst_var(ctx, &subst, map->inputs[i], op_cast(ctx, map->inputs[i]->dtype, indices[i]));
    return subst_expr(ctx, &subst, expr);
}

const Expr **index_map_apply(Analyzer *an, const IndexMap *map, const Expr *const *indices)
{
    Context *ctx = analyzer_context(an);
    const Expr **result = ARENA_ARRAY(ctx->arena, const Expr *, map->output_count);
    for (int i = 0; i < map->output_count; i++)
        result[i] = analyzer_simplify(an, substituted(ctx, map, indices, map->outputs[i]));
    return result;
}

static VarRange *input_ranges(Context *ctx, const IndexMap *map, const Expr *const *extents)
{
    VarRange *ranges = ARENA_ARRAY(ctx->arena, VarRange, map->input_count);
    for (int i = 0; i < map->input_count; i++) {
        DType type = map->inputs[i]->dtype;
        ranges[i] = (VarRange){map->inputs[i], {expr_int(ctx, type, 0), op_cast(ctx, type, extents[i])}};
    }
    return ranges;
}

/* SUM, whose terms are orthogonal, reaches as far as the largest of them. */
static const Expr *sum_extent(Context *ctx, Analyzer *an, const IterSum *sum)
{
    const Expr *extent = NULL;
    for (int i = 0; i < sum->count; i++) {
        const Expr *term = op_mul(ctx, sum->args[i].extent, sum->args[i].scale);
        extent = extent ? op_max(ctx, extent, term) : term;
    }
    return extent ? analyzer_simplify(an, extent) : expr_int(ctx, sum->dtype, 1);
}

static bool affine_map(Analyzer *an, const IndexMap *map, const VarRange *inputs, IterMapLevel level, IterMapResult *result)
{
    IterMapQuery query = {map->outputs, map->output_count, inputs, map->input_count, NULL, level, false};
    return iter_map_detect(an, &query, result);
}

const Expr **index_map_shape(Schedule *sch, const IndexMap *map, const Expr *const *extents)
{
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    const VarRange *inputs = input_ranges(ctx, map, extents);
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, map->output_count);
    Domain domain = domain_from_ranges(ctx, inputs, map->input_count);
    IterMapResult sums;
    bool affine = affine_map(an, map, inputs, ITER_MAP_NO_CHECK, &sums);
    for (int i = 0; i < map->output_count; i++) {
        const Expr *min;
        if (affine) {
            min = analyzer_simplify(an, sums.sums[i]->base);
            shape[i] = sum_extent(ctx, an, sums.sums[i]);
        } else {
            IntSet set = int_set_eval(an, map->outputs[i], &domain);
            min = set.min ? analyzer_simplify(an, set.min) : NULL;
            shape[i] = set.max && set.min ? analyzer_simplify(an, op_add_int(ctx, op_sub(ctx, set.max, set.min), 1)) : NULL;
        }
        if (!min || !shape[i] || !expr_is_int(min, 0)) {
            sched_refuse_argument(sch, map->argument, "result %d of the index map, %s, must start at 0%s%s", i, print_expr(ctx, map->outputs[i]),
                                  min ? ", and starts at " : "", min ? print_expr(ctx, min) : ", and no bound of it is known");
            return NULL;
        }
    }
    return shape;
}

/* --- Inversion --- */

static const Expr *simplified(Analyzer *an, const Expr *expr)
{
    for (int i = 0; i < MOST_SIMPLIFICATIONS; i++) {
        const Expr *next = analyzer_simplify(an, expr);
        if (expr_equal(next, expr))
            break;
        expr = next;
    }
    return expr;
}

/* The inverse takes what the map makes of each point back to the point: then no two points have one result. */
static bool leads_back(Schedule *sch, const IndexMap *map, const VarRange *inputs, const IndexInverse *inverse)
{
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    Subst subst = {0};
    for (int i = 0; i < map->input_count; i++)
        analyzer_bind_range(an, inputs[i].var, inputs[i].range);
    for (int i = 0; i < map->output_count; i++)
        subst_var(ctx, &subst, inverse->vars[i], map->outputs[i]);
    for (int i = 0; i < map->input_count; i++)
        if (!analyzer_prove_equal(an, subst_expr(ctx, &subst, inverse->values[i]), expr_var(ctx, inputs[i].var)))
            return false;
    return true;
}

/* PADDING, over the inputs, in terms of the outputs. */
static const Expr *output_padding(Context *ctx, const IndexMap *map, const IndexInverse *inverse, const Expr *const *shape, const Expr *padding)
{
    Analyzer *an = analyzer_new(ctx);
    Subst subst = {0};
    for (int i = 0; i < map->output_count; i++)
        analyzer_bind_range(an, inverse->vars[i], (Range){expr_int(ctx, inverse->vars[i]->dtype, 0), shape[i]});
    for (int i = 0; i < map->input_count; i++)
        subst_var(ctx, &subst, map->inputs[i], inverse->values[i]);
    return simplified(an, subst_expr(ctx, &subst, padding));
}

bool index_map_invert(Schedule *sch, const IndexMap *map, const Expr *const *extents, const Expr *const *shape, bool bijective,
                      IndexInverse *inverse, const char **why)
{
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    const VarRange *inputs = input_ranges(ctx, map, extents);
    IterMapResult sums;
    if (!affine_map(an, map, inputs, bijective ? ITER_MAP_BIJECTIVE : ITER_MAP_NO_CHECK, &sums)) {
        *why = sums.error;
        return false;
    }
    inverse->vars = ARENA_ARRAY(ctx->arena, Var *, map->output_count);
    inverse->values = ARENA_ARRAY(ctx->arena, const Expr *, map->input_count);
    const Expr **outputs = ARENA_ARRAY(ctx->arena, const Expr *, map->output_count);
    for (int i = 0; i < map->output_count; i++) {
        const Expr *output = map->outputs[i]; /* a place that is passed on keeps its name */
        Str name = output->kind == EXPR_VAR ? output->value.var->name : context_internf(ctx, "axis%d", i);
        inverse->vars[i] = var_new(ctx, name, output->dtype, sch->call_span);
        outputs[i] = expr_var(ctx, inverse->vars[i]);
    }
    Map solved = iter_map_invert(an, &sums, outputs);
    for (int i = 0; i < map->input_count; i++) {
        const Expr *value = map_get(&solved, map->inputs[i]);
        inverse->values[i] = analyzer_simplify(an, value ? value : expr_int(ctx, map->inputs[i]->dtype, 0));
    }
    inverse->padding = output_padding(ctx, map, inverse, shape, sums.padding_predicate);
    *why = "it is not shown that no two places have one image";
    return leads_back(sch, map, inputs, inverse);
}

/* --- Injectivity by enumeration --- */

/* The product of EXTENTS; -1 where it is not known or too large. */
static int64_t box_size(const Expr *const *extents, int count)
{
    int64_t size = 1, extent;
    for (int i = 0; i < count; i++)
        if (!expr_const_int(extents[i], &extent) || extent < 0 || __builtin_mul_overflow(size, extent, &size) || size > MOST_POINTS)
            return -1;
    return size;
}

static void point_of(const Expr *const *extents, int count, int64_t number, int64_t *point)
{
    for (int i = count - 1; i >= 0; i--) {
        point[i] = number % extents[i]->value.integer;
        number /= extents[i]->value.integer;
    }
}

static const char *point_text(Context *ctx, const int64_t *point, int count)
{
    const char *text = "";
    for (int i = 0; i < count; i++)
        text = arena_printf(ctx->arena, "%s%s%lld", text, i ? ", " : "", (long long)point[i]);
    return text;
}

/* The number of the image of POINT in the box of SHAPE; -1 where it is not known, or outside. */
static int64_t image_of(const IndexMap *map, const int64_t *point, const Expr *const *shape)
{
    IndexPoint at = {map->inputs, point, map->input_count, NULL};
    int64_t image = 0, value;
    for (int i = 0; i < map->output_count; i++) {
        if (!index_value(&at, map->outputs[i], &value) || value < 0 || value >= shape[i]->value.integer)
            return -1;
        image = image * shape[i]->value.integer + value;
    }
    return image;
}

bool index_map_is_injective(Schedule *sch, const IndexMap *map, const Expr *const *extents, const Expr *const *shape, const char **why)
{
    Context *ctx = sch->ctx;
    int64_t points = box_size(extents, map->input_count), images = box_size(shape, map->output_count);
    *why = "it is only looked at where sizes are constant, and of at most 4194304 places";
    if (points < 0 || images < 0)
        return false;
    int64_t *point = ARENA_ARRAY(ctx->arena, int64_t, map->input_count), *other = ARENA_ARRAY(ctx->arena, int64_t, map->input_count);
    int32_t *taken = ARENA_ARRAY(ctx->arena, int32_t, images ? images : 1); /* number of a point + 1 */
    memset(taken, 0, sizeof *taken * (size_t)images);
    for (int64_t number = 0; number < points; number++) {
        point_of(extents, map->input_count, number, point);
        int64_t image = image_of(map, point, shape);
        if (image < 0) {
            *why = "it has results whose values are not known, or that lie outside of the new shape";
            return false;
        }
        if (taken[image]) {
            point_of(extents, map->input_count, taken[image] - 1, other);
            *why = arena_printf(ctx->arena, "it takes the places (%s) and (%s) to one", point_text(ctx, other, map->input_count),
                                point_text(ctx, point, map->input_count));
            return false;
        }
        taken[image] = (int32_t)number + 1;
    }
    return true;
}
