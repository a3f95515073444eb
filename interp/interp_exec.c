/* Executes statements. A group of threads executes each statement together: outside of kernels it is one thread, inside those that take the
   same way. Where they part (conditions, extents, loops left early) each part runs on its own. */
#include "interp/interp_internal.h"

bool exec_step(Run *run, Thread *thread)
{
    if ((++run->steps & 0xffff) == 0 && run->options->progress)
        run->options->progress(run->options->progress_data, run->options->steps_before + run->steps);
    if (run->options->step_limit && run->options->steps_before + run->steps > run->options->step_limit)
        report_here(thread, INTERP_STEP_LIMIT, "runs longer than %lld steps", (long long)run->options->step_limit);
    return !run->stopped;
}

Group exec_filter(Group group, const EvalNode *condition, bool expected, Thread **items)
{
    Group result = {items, 0};
    for (int i = 0; i < group.count; i++)
        if ((eval_integer(condition, group.items[i]) != 0) == expected)
            items[result.count++] = group.items[i];
    return result;
}

/* The threads that have not left the statement by break, continue or return. */
static Group without_signals(Group group, Thread **items)
{
    Group result = {items, 0};
    for (int i = 0; i < group.count; i++)
        if (group.items[i]->signal == SIGNAL_NONE)
            items[result.count++] = group.items[i];
    return result;
}

static void clear_signal(Group group, Signal signal)
{
    for (int i = 0; i < group.count; i++)
        if (group.items[i]->signal == signal)
            group.items[i]->signal = SIGNAL_NONE;
}

static void exec_seq(Run *run, Group group, const ExecNode *node)
{
    Thread *items[group.count];
    for (int i = 0; i < node->as.seq.count && group.count; i++) {
        exec_node(run, group, node->as.seq.items[i]);
        if (run->signals)
            group = without_signals(group, items);
    }
}

/* --- Loops --- */
/* The state of a loop for each thread of a group. */
typedef struct {
    int64_t min, extent;
    Execution *execution; /* of a parallel or vectorized loop, when checks are on */
    const Iteration *outer;
} LoopState;

static LoopState loop_begin(Run *run, Thread *thread, const ExecNode *node)
{
    const LoopInfo *loop = &node->as.loop;
    thread->place = node;
    LoopState state = {eval_integer(loop->min, thread), eval_integer(loop->extent, thread), NULL, thread->iteration};
    loop_skip_unguarded(thread, loop, &state.min, &state.extent);
    if (run->checks && (loop->kind == FOR_PARALLEL || loop->kind == FOR_VECTORIZED)) {
        state.execution = ARENA_NEW(run->arena, Execution);
        state.execution->kind = loop->kind == FOR_PARALLEL ? CONCURRENT_PARALLEL : CONCURRENT_VECTORIZED;
        state.execution->loop = loop->name;
    }
    return state;
}

static void loop_iterate(Run *run, Thread *thread, const LoopInfo *loop, const LoopState *state, int64_t value)
{
    thread->slots[loop->slot].integer = value;
    if (!state->execution)
        return;
    Iteration *iteration = ARENA_NEW(run->arena, Iteration);
    *iteration = (Iteration){state->outer, state->execution, state->outer->depth + 1, value, 0};
    thread->iteration = iteration;
}

void exec_loop(Run *run, Group group, const ExecNode *node, LoopBody *body, const void *data)
{
    LoopState states[group.count];
    Thread *items[group.count];
    int64_t longest = 0;
    for (int i = 0; i < group.count; i++) {
        states[i] = loop_begin(run, group.items[i], node);
        longest = states[i].extent > longest ? states[i].extent : longest;
    }
    for (int64_t k = 0; k < longest && !run->stopped; k++) {
        Group active = {items, 0};
        for (int i = 0; i < group.count; i++) {
            Thread *thread = group.items[i];
            if (k >= states[i].extent || thread->signal != SIGNAL_NONE || !exec_step(run, thread))
                continue;
            loop_iterate(run, thread, &node->as.loop, &states[i], states[i].min + k);
            items[active.count++] = thread;
        }
        if (!active.count)
            break;
        body(run, active, data);
        if (run->signals)
            clear_signal(active, SIGNAL_CONTINUE);
    }
    for (int i = 0; i < group.count; i++)
        group.items[i]->iteration = states[i].outer;
    clear_signal(group, SIGNAL_BREAK);
}

static void exec_body(Run *run, Group group, const void *data)
{
    exec_node(run, group, data);
}

/* A thread-bound loop with all threads of its kernel. */
static void exec_launched(Run *run, Group group, const void *data)
{
    const ExecNode *node = data;
    exec_begin_reductions(run, group, node);
    exec_thread_loop(run, group, node, exec_body, node->as.loop.body);
}

static void exec_while(Run *run, Group group, const ExecNode *node)
{
    Thread *items[group.count];
    Group all = group;
    exec_begin_reductions(run, group, node);
    while (group.count && !run->stopped) {
        run->time++;
        for (int i = 0; i < group.count; i++) {
            group.items[i]->place = node;
            group.items[i]->slots[node->as.repeat.iteration_slot].integer = (int64_t)run->time;
            exec_step(run, group.items[i]);
        }
        group = exec_filter(group, node->as.repeat.condition, true, items);
        exec_node(run, group, node->as.repeat.body);
        if (run->signals) {
            clear_signal(group, SIGNAL_CONTINUE);
            group = without_signals(group, items);
        }
    }
    clear_signal(all, SIGNAL_BREAK);
}

static void exec_if(Run *run, Group group, const ExecNode *node)
{
    bool taken[group.count];
    Thread *items[group.count];
    Group yes = {items, 0}, no = {items, 0};
    for (int i = 0; i < group.count; i++) {
        taken[i] = eval_integer(node->as.branch.condition, group.items[i]) != 0;
        if (taken[i])
            items[yes.count++] = group.items[i];
    }
    exec_node(run, yes, node->as.branch.then_body);
    if (!node->as.branch.else_body)
        return;
    for (int i = 0; i < group.count; i++)
        if (!taken[i])
            items[no.count++] = group.items[i];
    exec_node(run, no, node->as.branch.else_body);
}

/* --- Leaves --- */
static bool is_argument(const Run *run, const Memory *memory)
{
    bool found = false;
    for (int i = 0; i < run->params.count && !found; i++)
        found = run->params.data[i] == memory;
    return found;
}

/* The load that VALUE is in this lane, or NULL: it is computed, or a mask leaves the lane out. */
static const EvalNode *copied_load(Thread *thread, const EvalNode *value)
{
    while (value->source->kind != EXPR_LOAD) {
        bool chooses = expr_is_call(value->source, OP_IF_THEN_ELSE) || value->source->kind == EXPR_SELECT;
        if (!chooses && value->source->kind != EXPR_CAST)
            return NULL;
        int chosen = !chooses ? 0 : eval_integer(value->args[0], thread) ? 1 : 2;
        if (value->source->kind == EXPR_SELECT && !expr_is_pure(value->args[3 - chosen]->source))
            return NULL;
        value = value->args[chosen];
    }
    return !value->arg_count || eval_integer(value->args[0], thread) ? value : NULL;
}

/* What was never written comes back to where it was copied from, in an argument: nothing changes. */
static bool comes_back(Thread *thread, const Access *source, const Element *from, const Access *target, const Element *to)
{
    DType type = target->buffer->dtype;
    return dtype_equal(source->buffer->dtype, type) && !check_defined(thread, to, target->buffer->bytes) &&
           !memcmp(from->at, to->at, (size_t)target->buffer->bytes);
}

/* A copy into scratch of what was never written, as it is, as another type or by a condition, leaves that as undefined as it was; only a use of
   the copy is a use. A cache may hold more than its readers ask for. *FROM: what is copied, if its bytes are. */
static bool copies_undefined(Thread *thread, const ExecNode *node, int lane, Element *from)
{
    Element to;
    const EvalNode *load = node->as.store.copies && thread->run->checks ? copied_load(thread, node->as.store.value) : NULL;
    if (!load)
        return false;
    const Access *source = &load->as.access, *target = &node->as.store.access;
    if (!access_locate(thread, source, lane, USE_READS, from) || check_defined(thread, from, source->buffer->bytes) ||
        !access_locate(thread, target, lane, USE_WRITES, &to) || (is_argument(thread->run, to.memory) && !comes_back(thread, source, from, target, &to)))
        return false;
    if (!dtype_equal(source->buffer->dtype, target->buffer->dtype))
        from->at = NULL;
    return true;
}

/* FROM: where bytes without a value are copied from, if any are. */
static void store_lane(Thread *thread, const ExecNode *node, int lane, bool undefined, const Element *from, Slot value)
{
    const Access *access = &node->as.store.access;
    Element element;
    if (!access_locate(thread, access, lane, USE_WRITES, &element))
        return;
    if (!undefined)
        element_store(thread, access, &element, access->buffer->dtype, value);
    else if (thread->run->checks)
        check_undefine(thread, &element, access->buffer->bytes);
    if (undefined && from->at)
        memmove(element.at, from->at, (size_t)access->buffer->bytes);
}

/* All lanes are computed before the first is written. */
static void exec_store(Thread *thread, const ExecNode *node)
{
    int lanes = node->as.store.lanes;
    Slot values[lanes];
    bool wanted[lanes], undefined[lanes];
    Element sources[lanes];
    for (int lane = 0; lane < lanes; lane++) {
        thread->lane = lane;
        wanted[lane] = !node->as.store.mask || eval_integer(node->as.store.mask, thread);
        sources[lane].at = NULL;
        undefined[lane] = node->as.store.undefined || (wanted[lane] && copies_undefined(thread, node, lane, &sources[lane]));
    }
    for (thread->lane = 0; thread->lane < lanes; thread->lane++)
        if (!undefined[thread->lane])
            values[thread->lane] = eval_slot(node->as.store.value, thread);
    thread->lane = 0;
    for (int lane = 0; lane < lanes; lane++)
        if (wanted[lane])
            store_lane(thread, node, lane, undefined[lane], &sources[lane], values[lane]);
}

static void exec_evaluate(Thread *thread, const ExecNode *node)
{
    const EvalNode *value = node->as.evaluate;
    for (thread->lane = 0; thread->lane < value->dtype.lanes; thread->lane++)
        eval_slot(value, thread);
    thread->lane = 0;
}

static void exec_assert(Thread *thread, const ExecNode *node)
{
    if (!eval_integer(node->as.assertion.condition, thread))
        report_here(thread, INTERP_ASSERTION, "fails the assertion \"%s\"", node->as.assertion.message);
}

/* --- Statements with one body that do something first --- */
static void exec_allocate(Run *run, Group group, const ExecNode *node)
{
    Memory *memories[group.count];
    memory_allocate(group, &node->as.allocate, memories);
    exec_node(run, group, node->as.allocate.body);
    memory_release(group, &node->as.allocate, memories);
}

void exec_node(Run *run, Group group, const ExecNode *node)
{
    if (!group.count || run->stopped || (node->kind != EXEC_SEQ && !exec_step(run, group.items[0])))
        return;
    run->time++;
    for (int i = 0; i < group.count; i++)
        group.items[i]->place = node;
    switch (node->kind) {
    case EXEC_SEQ: exec_seq(run, group, node); return;
    case EXEC_LOOP:
        exec_begin_reductions(run, group, node);
        exec_loop(run, group, node, exec_body, node->as.loop.body);
        return;
    case EXEC_THREAD_LOOP:
        if (group.items[0]->launch)
            exec_launched(run, group, node);
        else
            exec_launch(run, group, node, exec_launched, node);
        return;
    case EXEC_WHILE: exec_while(run, group, node); return;
    case EXEC_BLOCK: exec_block(run, group, node); return;
    case EXEC_IF: exec_if(run, group, node); return;
    case EXEC_LET:
        for (int i = 0; i < group.count; i++)
            exec_assign(group.items[i], node->as.let.assignment);
        exec_node(run, group, node->as.let.body);
        return;
    case EXEC_STORE:
        for (int i = 0; i < group.count; i++)
            exec_store(group.items[i], node);
        return;
    case EXEC_EVALUATE:
        for (int i = 0; i < group.count; i++)
            exec_evaluate(group.items[i], node);
        return;
    case EXEC_ALLREDUCE: exec_allreduce(group, node->as.allreduce); return;
    case EXEC_ALLOCATE: exec_allocate(run, group, node); return;
    case EXEC_DECLARE:
        for (int i = 0; i < group.count; i++)
            memory_bind(group.items[i], node->as.declare.buffer, group.items[i]->slots[node->as.declare.buffer->data_slot].pointer);
        exec_node(run, group, node->as.declare.body);
        return;
    case EXEC_ASSERT:
        for (int i = 0; i < group.count; i++)
            exec_assert(group.items[i], node);
        exec_node(run, group, node->as.assertion.body);
        return;
    }
}
