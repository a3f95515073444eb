/* set_axis_separator: between which dimensions of a buffer its memory is divided, for targets whose memory has several dimensions.

   Before, set_axis_separator("B", ("write", 0), [1])     After
     B = T.alloc_buffer((128, 128))                         B = T.alloc_buffer((128, 128), axis_separators=[1])

   What is computed stays the same; memory of one dimension, as a CPU has it, takes no notice. What must hold: a block allocates the buffer, or it is a
   parameter; the separators lie between its dimensions, in ascending order. */
#include "ir/walk.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/storage.h"

static bool check_separators(Schedule *sch, const Value *argument, const Buffer *buffer, int *separators)
{
    const ValueList *list = argument->as.list;
    for (int i = 0; i < list->count; i++) {
        int64_t separator = list->items[i].as.integer;
        if (separator < (i ? separators[i - 1] : 0) || separator > buffer->ndim)
            return sched_refuse_argument(sch, &list->items[i], "%lld does not separate dimensions of '%s', which has %d, in ascending order",
                                         (long long)separator, buffer->name, buffer->ndim);
        separators[i] = (int)separator;
    }
    return true;
}

static void replace_parameter(Schedule *sch, const Buffer *buffer, Buffer *separated)
{
    Func *func = arena_copy(sch->ctx->arena, schedule_func(sch), sizeof *func);
    func->params = arena_copy(sch->ctx->arena, func->params, sizeof *func->params * (size_t)func->param_count);
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer)
            func->params[i].buffer = separated;
    sched_replace_func(sch, func);
}

bool primitive_set_axis_separator(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    bool is_write, is_parameter = false;
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    const Region *region = block ? query_buffer_region(sch, block, &args[1], &is_write) : NULL;
    if (!region)
        return false;
    const Buffer *buffer = region->buffer;
    const Func *func = schedule_func(sch);
    for (int i = 0; i < func->param_count; i++)
        is_parameter |= func->params[i].buffer == buffer;
    if (!is_parameter && !check_allocation_site(sch, block, buffer))
        return false;
    int *separators = ARENA_ARRAY(sch->ctx->arena, int, args[2].as.list->count);
    if (!check_separators(sch, &args[2], buffer, separators))
        return false;
    Buffer *separated = buffer_clone(sch->ctx, buffer);
    separated->axis_separators = separators;
    separated->axis_separator_count = args[2].as.list->count;
    Subst subst = {0};
    subst_buffer(sch->ctx, &subst, buffer, separated);
    sched_replace(sch, func->body, subst_stmt(sch->ctx, &subst, func->body));
    if (is_parameter)
        replace_parameter(sch, buffer, separated);
    return true;
}
