/* T.tvm_thread_allreduce(count, values..., condition, targets..., thread indices...) inside of the attribute reduce_scope, whose node is the
   T.comm_reducer: the threads of a block that differ in these thread indices alone combine their values, in their order and beginning with the
   identity, and each of them gets the results in its target. A thread whose condition does not hold brings the identity. */
#include <string.h>

#include "interp/interp_internal.h"

struct AllreduceInfo {
    int count;
    const EvalNode **values, **identities, **results, *condition;
    const EvalNode **targets; /* loads */
    int *left, *right;        /* the slots of the combiner's parameters */
    uint32_t reduced_tags;
};

/* --- compilation --- */

static bool find_tag(const Compiler *compiler, const Expr *index, uint32_t *tags)
{
    for (int i = compiler->path.count - 1; i >= 0; i--) {
        const PathEntry *entry = &compiler->path.data[i];
        bool loop = entry->kind == PATH_LOOP && entry->node->kind == EXEC_THREAD_LOOP && entry->node->as.loop.kernel == compiler->kernel;
        if (loop && expr_is_var(index, entry->source->as.loop.var)) {
            *tags |= UINT32_C(1) << entry->node->as.loop.tag;
            return true;
        }
    }
    return false;
}

/* The combiner is a tuple of results under lets of its parameters. False: it has another form. */
static bool compile_combiner(Compiler *compiler, AllreduceInfo *info, const Expr *reducer)
{
    const Expr *results = reducer->args[0], *identities = reducer->args[1];
    if (!expr_is_call(identities, OP_TVM_TUPLE) || identities->arg_count != info->count)
        return false;
    info->identities = ARENA_ARRAY(compiler->arena, const EvalNode *, info->count);
    info->results = ARENA_ARRAY(compiler->arena, const EvalNode *, info->count);
    info->left = ARENA_ARRAY(compiler->arena, int, info->count);
    info->right = ARENA_ARRAY(compiler->arena, int, info->count);
    for (int i = 0; i < 2 * info->count; i++) {
        if (results->kind != EXPR_LET || results->value.var->dtype.lanes != 1)
            return false;
        *(i < info->count ? &info->left[i] : &info->right[i - info->count]) = compile_define(compiler, results->value.var);
        results = results->args[1];
    }
    if (!expr_is_call(results, OP_TVM_TUPLE) || results->arg_count != info->count)
        return false;
    for (int i = 0; i < info->count; i++) {
        info->identities[i] = compile_expr(compiler, identities->args[i]);
        info->results[i] = compile_expr(compiler, results->args[i]);
    }
    return true;
}

/* The operands of CALL; false where they have another form. */
static bool compile_operands(Compiler *compiler, AllreduceInfo *info, const Expr *call)
{
    int count = info->count;
    info->values = ARENA_ARRAY(compiler->arena, const EvalNode *, count);
    info->targets = ARENA_ARRAY(compiler->arena, const EvalNode *, count);
    for (int i = 0; i < count; i++) {
        const Expr *value = call->args[1 + i], *target = call->args[2 + count + i];
        if (target->kind != EXPR_LOAD || target->predicated || !dtype_equal(value->dtype, target->dtype) || value->dtype.lanes != 1)
            return false;
        info->values[i] = compile_expr(compiler, value);
        info->targets[i] = compile_expr(compiler, target);
    }
    info->condition = compile_expr(compiler, call->args[1 + count]);
    for (int i = 2 + 2 * count; i < call->arg_count; i++)
        if (!find_tag(compiler, call->args[i], &info->reduced_tags))
            return false;
    return true;
}

const AllreduceInfo *compile_allreduce(Compiler *compiler, const Expr *call)
{
    AllreduceInfo *info = ARENA_NEW(compiler->arena, AllreduceInfo);
    int64_t count;
    bool known = expr_is_call(call, OP_TVM_THREAD_ALLREDUCE) && compiler->reducer && call->arg_count > 2 && expr_const_int(call->args[0], &count) &&
                 count > 0 && count < 16 && call->arg_count >= 2 + 2 * count;
    if (!known)
        return NULL;
    info->count = (int)count;
    return compile_operands(compiler, info, call) && compile_combiner(compiler, info, compiler->reducer) ? info : NULL;
}

/* --- execution --- */

/* A and B reduce together. */
static bool same_reduction(const AllreduceInfo *info, const Thread *a, const Thread *b)
{
    bool same = a->launch == b->launch;
    for (int i = 0; same && a->launch && i < a->launch->kernel->tag_count; i++)
        same = (info->reduced_tags >> i & 1) || a->tags[i] == b->tags[i];
    return same;
}

/* TOTALS combined with VALUES, in TOTALS. */
static void combine(const AllreduceInfo *info, Thread *thread, Slot *totals, const Slot *values)
{
    Slot results[info->count];
    for (int i = 0; i < info->count; i++) {
        thread->slots[info->left[i]] = totals[i];
        thread->slots[info->right[i]] = values[i];
    }
    for (int i = 0; i < info->count; i++)
        results[i] = eval_slot(info->results[i], thread);
    memcpy(totals, results, sizeof results);
}

static void give_results(const AllreduceInfo *info, Thread *thread, const Slot *totals)
{
    for (int i = 0; i < info->count; i++) {
        const Access *target = &info->targets[i]->as.access;
        Element element;
        if (access_locate(thread, target, 0, USE_WRITES, &element))
            element_store(thread, target, &element, target->buffer->dtype, totals[i]);
    }
}

void exec_allreduce(Group group, const AllreduceInfo *info)
{
    Slot values[group.count][info->count], totals[info->count];
    bool done[group.count];
    for (int i = 0; i < group.count; i++) {
        bool brings = eval_integer(info->condition, group.items[i]) != 0;
        for (int k = 0; k < info->count; k++)
            values[i][k] = eval_slot(brings ? info->values[k] : info->identities[k], group.items[i]);
        done[i] = false;
    }
    for (int i = 0; i < group.count; i++) {
        if (done[i])
            continue;
        for (int k = 0; k < info->count; k++)
            totals[k] = eval_slot(info->identities[k], group.items[i]);
        for (int k = i; k < group.count; k++)
            if (same_reduction(info, group.items[i], group.items[k]))
                combine(info, group.items[i], totals, values[k]);
        for (int k = i; k < group.count; k++)
            if (same_reduction(info, group.items[i], group.items[k])) {
                done[k] = true;
                give_results(info, group.items[k], totals);
            }
    }
}
