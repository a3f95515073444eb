/* Evaluates variables, loads, selection, lets and shuffles, each for the three kinds of values (integer, real, pointer), one lane at a
   time. */
#include "interp/interp_internal.h"

Slot eval_slot(const EvalNode *node, Thread *thread)
{
    Slot slot = {0};
    if (dtype_is_float(node->dtype))
        slot.real = eval_real(node, thread);
    else if (node->dtype.code == DT_HANDLE)
        slot.pointer = eval_pointer(node, thread);
    else
        slot.integer = eval_integer(node, thread);
    return slot;
}

void eval_lanes(const EvalNode *node, Thread *thread, Slot *slots)
{
    int lane = thread->lane;
    for (int i = 0; i < node->dtype.lanes; i++) {
        thread->lane = i;
        slots[i] = eval_slot(node, thread);
    }
    thread->lane = lane;
}

/* --- What cannot be interpreted --- */
void eval_unsupported(const EvalNode *node, Thread *thread)
{
    const Expr *expr = node->source;
    const char *name = expr->kind == EXPR_CALL ? op_info(expr->value.op)->name : expr_kind_info(expr->kind)->name;
    report_finding(thread, INTERP_UNSUPPORTED, expr, expr->span, "uses T.%s, which cannot be interpreted", name);
}

int64_t eval_unsupported_integer(const EvalNode *node, Thread *thread)
{
    eval_unsupported(node, thread);
    return 0;
}

double eval_unsupported_real(const EvalNode *node, Thread *thread)
{
    eval_unsupported(node, thread);
    return 0;
}

Pointer eval_unsupported_pointer(const EvalNode *node, Thread *thread)
{
    eval_unsupported(node, thread);
    return (Pointer){NULL, 0};
}

/* --- Variables --- */
static Slot *var_slot(const EvalNode *node, Thread *thread)
{
    return &thread->slots[node->as.slot + (node->dtype.lanes > 1 ? thread->lane : 0)];
}

int64_t eval_var_integer(const EvalNode *node, Thread *thread)
{
    return var_slot(node, thread)->integer;
}

double eval_var_real(const EvalNode *node, Thread *thread)
{
    return var_slot(node, thread)->real;
}

Pointer eval_var_pointer(const EvalNode *node, Thread *thread)
{
    return var_slot(node, thread)->pointer;
}

/* --- Loads: a lane that the mask leaves out reads nothing and gives 0 --- */
static bool load_locate(const EvalNode *node, Thread *thread, Element *element)
{
    if (node->arg_count && !eval_integer(node->args[0], thread))
        return false;
    const Access *access = &node->as.access;
    if (!access_locate(thread, access, node->dtype.lanes > 1 ? thread->lane : 0, USE_READS, element))
        return false;
    if (thread->run->checks)
        check_read(thread, access, element, access->buffer->bytes);
    return true;
}

int64_t eval_load_integer(const EvalNode *node, Thread *thread)
{
    Element element;
    return load_locate(node, thread, &element) ? interp_read_integer(node->as.access.buffer->dtype, element.at) : 0;
}

double eval_load_real(const EvalNode *node, Thread *thread)
{
    Element element;
    return load_locate(node, thread, &element) ? interp_read_real(node->as.access.buffer->dtype, element.at) : 0;
}

Pointer eval_load_pointer(const EvalNode *node, Thread *thread)
{
    return eval_unsupported_pointer(node, thread);
}

/* --- Select evaluates everything; the choice comes last --- */
int64_t eval_select_integer(const EvalNode *node, Thread *thread)
{
    int64_t chosen = eval_integer(node->args[0], thread), yes = eval_integer(node->args[1], thread),
            no = eval_integer(node->args[2], thread);
    return chosen ? yes : no;
}

double eval_select_real(const EvalNode *node, Thread *thread)
{
    int64_t chosen = eval_integer(node->args[0], thread);
    double yes = eval_real(node->args[1], thread), no = eval_real(node->args[2], thread);
    return chosen ? yes : no;
}

Pointer eval_select_pointer(const EvalNode *node, Thread *thread)
{
    int64_t chosen = eval_integer(node->args[0], thread);
    Pointer yes = eval_pointer(node->args[1], thread), no = eval_pointer(node->args[2], thread);
    return chosen ? yes : no;
}

/* --- Let: all lanes of the value, then the body in the current lane --- */
static const EvalNode *let_body(const EvalNode *node, Thread *thread)
{
    eval_lanes(node->args[0], thread, &thread->slots[node->as.slot]);
    return node->args[1];
}

int64_t eval_let_integer(const EvalNode *node, Thread *thread)
{
    return eval_integer(let_body(node, thread), thread);
}

double eval_let_real(const EvalNode *node, Thread *thread)
{
    return eval_real(let_body(node, thread), thread);
}

Pointer eval_let_pointer(const EvalNode *node, Thread *thread)
{
    return eval_pointer(let_body(node, thread), thread);
}

/* --- Shuffle: lane i of the result is the lane numbered by index i of the vectors put one after the other --- */
static const EvalNode *shuffle_source(const EvalNode *node, Thread *thread, int *lane)
{
    int vectors = node->source->value.split;
    int64_t wanted = eval_integer(node->args[vectors + (node->dtype.lanes > 1 ? thread->lane : 0)], thread);
    for (int i = 0; i < vectors; i++) {
        int lanes = node->args[i]->dtype.lanes;
        if (wanted >= 0 && wanted < lanes) {
            *lane = (int)wanted;
            return node->args[i];
        }
        wanted -= lanes;
    }
    report_finding(thread, INTERP_OUT_OF_BOUNDS, node->source, node->source->span, "shuffles lanes that its vectors do not have");
    return NULL;
}

int64_t eval_shuffle_integer(const EvalNode *node, Thread *thread)
{
    int lane = 0, saved = thread->lane;
    const EvalNode *source = shuffle_source(node, thread, &lane);
    thread->lane = lane;
    int64_t value = source ? eval_integer(source, thread) : 0;
    thread->lane = saved;
    return value;
}

double eval_shuffle_real(const EvalNode *node, Thread *thread)
{
    int lane = 0, saved = thread->lane;
    const EvalNode *source = shuffle_source(node, thread, &lane);
    thread->lane = lane;
    double value = source ? eval_real(source, thread) : 0;
    thread->lane = saved;
    return value;
}
