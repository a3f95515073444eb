/* transform_layout: the elements of a buffer in another order, shape or number of dimensions.

   Before, transform_layout("B", ("write", 0), lambda i, j: (i // 16, j, i % 16))
     B = T.alloc_buffer((128, 64))
     ... B[vi, vj] = A[vi, vj]
   After
     B = T.alloc_buffer((8, 64, 16))
     ... B[vi // 16, vj, vi % 16] = A[vi, vj]

   Every access goes through the map, wherever it stands; the layout of a parameter becomes part of the interface of what is made of the function.
   Where the map leaves places of the new buffer out, these are padding, which no access reaches: it holds what pad_value says, or without one
   nothing that is known. What must hold: a block allocates the buffer or it is a parameter; it is used by single elements only; each result of the map
   starts at 0; and no two elements come to one place, which the inverse of the map shows or, with assume_injective_transform, a look at each
   element. */
#include "passes/schedule/layout/transform_layout.h"

#include <string.h>

#include "ir/signature.h"
#include "ir/walk.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/query.h"

/* The parameter of the function that BUFFER is, or -1. */
static int parameter_index(const Func *func, const Buffer *buffer)
{
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer)
            return i;
    return -1;
}

/* The statement that defines BUFFER, in which all its uses lie: the block that allocates it, or the function's body. NULL after a refusal. */
static const Stmt *defining_statement(Schedule *sch, const TreeNode *block, const Buffer *buffer)
{
    if (parameter_index(schedule_func(sch), buffer) >= 0)
        return schedule_func(sch)->body;
    for (const TreeNode *up = block; up; up = schedule_scope(sch, up))
        for (int i = 0; i < node_block(up)->alloc_count; i++)
            if (node_block(up)->allocs[i] == buffer)
                return up->stmt;
    sched_refuse(sch, "buffer '%s' is a view of other memory, and must be a parameter or one that a block allocates", buffer->name);
    sched_note(sch, buffer->span, "buffer '%s' is declared here", buffer->name);
    return NULL;
}

typedef struct {
    Schedule *sch;
    const Expr *call;
} CallSearch;

static bool find_call(Visitor *visitor, const Expr *expr)
{
    CallSearch *search = visitor->data;
    if (expr->kind == EXPR_CALL && module_callee(search->sch->ctx, search->sch->module, expr) == schedule_func(search->sch))
        search->call = expr;
    return true;
}

/* No function of the program calls this one, whose parameter is to change. */
static bool check_not_called(Schedule *sch, const Buffer *buffer)
{
    CallSearch search = {.sch = sch};
    Visitor visitor = {.expr = find_call, .data = &search};
    for (int i = 0; i < sch->module->func_count; i++)
        visit_stmt(&visitor, sch->module->funcs[i]->body);
    if (!search.call)
        return true;
    sched_refuse(sch, "'%s' is a parameter of a function that the program calls, with data in the layout that it has now", buffer->name);
    sched_note(sch, search.call->span, "the call is here");
    return false;
}

static bool defines_var(const Buffer *buffer, const Var *var)
{
    for (int d = 0; d < buffer->ndim; d++)
        if (expr_is_var(buffer->shape[d], var) || (buffer->strides && expr_is_var(buffer->strides[d], var)))
            return true;
    return expr_is_var(buffer->elem_offset, var);
}

/* The sizes that the shape of the parameter defines are defined by other declarations too: the new shape does not tell them. */
static bool check_sizes_stay_defined(Schedule *sch, const Buffer *old_buffer, const Buffer *new_buffer)
{
    const Func *func = schedule_func(sch);
    for (int d = 0; d < old_buffer->ndim; d++) {
        const Var *size = old_buffer->shape[d]->kind == EXPR_VAR ? old_buffer->shape[d]->value.var : NULL;
        bool defined = !size || defines_var(new_buffer, size);
        for (int i = 0; i < func->param_count && !defined; i++) {
            const Buffer *other = func->params[i].buffer;
            defined = func->params[i].param == size || (other && other != old_buffer && defines_var(other, size));
        }
        if (!defined)
            return sched_refuse(sch, "the size '%s' is defined by the shape of '%s' alone, and would have no definition", size->name,
                                old_buffer->name);
    }
    return true;
}

/* Strides, separators and alignments speak of the dimensions that the buffer has now. */
static bool check_plain_layout(Schedule *sch, const Stmt *scope, const Buffer *buffer)
{
    if (buffer->strides)
        return sched_refuse(sch, "buffer '%s' has strides, which say where the elements of its dimensions lie", buffer->name);
    int first = schedule_node_index(sch, schedule_find_stmt(sch, scope)), end = schedule_node_at(sch, first)->end;
    for (int i = first; i < end; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        const BlockStmt *block = node->stmt->kind == STMT_BLOCK ? node_block(node) : NULL;
        const AttrValue *aligned = block ? attrs_get(block->annotations, "buffer_dim_align") : NULL;
        for (int k = 0; aligned && k < aligned->count; k++) {
            int64_t index = -1;
            const AttrValue *item = aligned->items[k];
            if (item->kind == ATTR_LIST && item->count && item->items[0]->kind == ATTR_EXPR && expr_const_int(item->items[0]->expr, &index) &&
                index >= 0 && index < block->write_count && block->writes[index].buffer == buffer) {
                sched_refuse(sch, "storage_align has aligned an axis of '%s'; align axes of the new layout after this step", buffer->name);
                sched_note(sch, node->stmt->span, "block '%s', with the annotation \"buffer_dim_align\", is here", block->block->name);
                return false;
            }
        }
    }
    return true;
}

/* --- The padding's value --- */

static bool find_pad_value(LayoutTransform *transform, const Value *pad)
{
    Schedule *sch = transform->sch;
    DType dtype = transform->old_buffer->dtype;
    transform->pad_value = NULL;
    if (pad->kind == VALUE_NONE)
        return true;
    if (pad->kind == VALUE_FUNCTION) {
        DType type = transform->map.outputs[0]->dtype;
        if (!index_function_value(sch, pad, transform->map.output_count, type, dtype, &transform->pad_vars, &transform->pad_value))
            return false;
    } else if (pad->kind == VALUE_EXPR) {
        transform->pad_value = pad->as.expr;
    } else if (pad->kind == VALUE_INT && dtype_is_integer(dtype) && dtype_holds(dtype, pad->as.integer)) {
        transform->pad_value = expr_int(sch->ctx, dtype, pad->as.integer);
    } else if (pad->kind == VALUE_FLOAT && dtype_is_float(dtype)) {
        transform->pad_value = expr_float(sch->ctx, dtype, pad->as.real);
    } else if (pad->kind == VALUE_BOOL && dtype.code == DT_BOOL) {
        transform->pad_value = expr_bool(sch->ctx, pad->as.boolean);
    } else {
        return sched_refuse_argument(sch, pad, "buffer '%s' has elements of type %s, which this value of type %s is none of%s",
                                     transform->old_buffer->name, dtype_name(sch->ctx, dtype), value_type_name(pad->kind),
                                     pad->kind == VALUE_INT && dtype_is_float(dtype) ? "; write it with a decimal point" : "");
    }
    if (!dtype_equal(transform->pad_value->dtype, dtype))
        return sched_refuse_argument(sch, pad, "buffer '%s' has elements of type %s, and the padding is of type %s", transform->old_buffer->name,
                                     dtype_name(sch->ctx, dtype), dtype_name(sch->ctx, transform->pad_value->dtype));
    return true;
}

/* --- The map --- */

static bool find_inverse(LayoutTransform *transform, const Expr *const *shape, bool assumed, bool *inverted)
{
    Schedule *sch = transform->sch;
    const Expr *const *extents = transform->old_buffer->shape;
    const char *why, *points;
    *inverted = index_map_invert(sch, &transform->map, extents, shape, false, &transform->inverse, &why);
    bool known = *inverted || index_map_is_injective(sch, &transform->map, extents, shape, &points);
    if (*inverted || (known && assumed))
        return true;
    const char *name = transform->old_buffer->name;
    if (!known && !strncmp(points, "it takes", 8))
        return sched_refuse_argument(sch, transform->map.argument, "two elements of '%s' would share a place: %s", name, points);
    if (!known)
        return sched_refuse_argument(sch, transform->map.argument, "it cannot be shown that no two elements of '%s' come to one place: %s; %s",
                                     name, why, points);
    return sched_refuse_argument(sch, transform->map.argument,
                                 "the map has no inverse that is found: %s; assume_injective_transform=True looks at each element instead", why);
}

static Buffer *transformed_buffer(Context *ctx, const LayoutTransform *transform, const Expr *const *shape)
{
    Buffer *buffer = buffer_clone(ctx, transform->old_buffer);
    const IndexMap *map = &transform->map;
    buffer->ndim = map->output_count;
    buffer->shape = arena_copy(ctx->arena, shape, sizeof *shape * (size_t)map->output_count);
    buffer->axis_separators = map->separator_count ? map->separators : NULL;
    buffer->axis_separator_count = map->separator_count;
    return buffer;
}

static void replace_parameter(const LayoutTransform *transform, int index)
{
    Schedule *sch = transform->sch;
    Func *func = arena_copy(sch->ctx->arena, schedule_func(sch), sizeof *func);
    func->params = arena_copy(sch->ctx->arena, func->params, sizeof *func->params * (size_t)func->param_count);
    Param *param = &func->params[index];
    ParamLayout *layout = ARENA_NEW(sch->ctx->arena, ParamLayout);
    const IndexMap *map = &transform->map;
    *layout = (ParamLayout){param->layout, param->buffer, {map->input_count, map->output_count, map->inputs, map->outputs},
                            transform->pad_vars, transform->pad_value};
    param->buffer = transform->new_buffer;
    param->layout = layout;
    sched_replace_func(sch, func);
}

/* Fills the padding, where there is some, and turns all accesses to the new buffer. */
static bool edit_program(LayoutTransform *transform, const Stmt *scope, bool padded)
{
    Schedule *sch = transform->sch;
    Block *added = NULL;
    int parameter = parameter_index(schedule_func(sch), transform->old_buffer);
    if (padded && !(scope = layout_fill_padding(transform, scope, &added)))
        return false;
    LayoutChange change = {sch, transform->old_buffer, transform->new_buffer, &transform->map};
    sched_replace(sch, scope, layout_rewrite(&change, scope));
    if (parameter >= 0)
        replace_parameter(transform, parameter);
    return !added || check_concurrent_loops_around(sch, schedule_find_block(sch, added));
}

bool primitive_transform_layout(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    bool is_write, inverted;
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    const Region *region = block ? query_buffer_region(sch, block, &args[1], &is_write) : NULL;
    if (!region)
        return false;
    LayoutTransform transform = {.sch = sch, .old_buffer = region->buffer};
    const Stmt *scope = defining_statement(sch, block, region->buffer);
    if (!scope || !check_plain_layout(sch, scope, region->buffer) || !check_buffer_is_accessed_by_elements(sch, region->buffer) ||
        !index_map_make(sch, &args[2], region->buffer->ndim, buffer_index_dtype(region->buffer), &transform.map) ||
        !find_pad_value(&transform, &args[3]))
        return false;
    const Expr **shape = index_map_shape(sch, &transform.map, region->buffer->shape);
    if (!shape || !find_inverse(&transform, shape, args[4].as.boolean, &inverted))
        return false;
    transform.new_buffer = transformed_buffer(sch->ctx, &transform, shape);
    bool is_parameter = parameter_index(schedule_func(sch), region->buffer) >= 0;
    if (is_parameter && (!check_not_called(sch, region->buffer) || !check_sizes_stay_defined(sch, region->buffer, transform.new_buffer)))
        return false;
    bool padded = inverted && !expr_is_int(transform.inverse.padding, 0) && transform.pad_value;
    return edit_program(&transform, scope, padded);
}
