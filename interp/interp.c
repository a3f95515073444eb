/* One run of the interpreter: compile, bind the arguments, execute. */
#include "interp/interp.h"

#include "interp/interp_internal.h"

static void tables_init(Run *run)
{
    const Program *program = run->program;
    run->blocks = ARENA_ARRAY(run->arena, BlockState, program->blocks.count);
    for (int i = 0; i < program->blocks.count; i++) {
        const BlockInfo *block = program->blocks.data[i];
        run->blocks[i].instances =
            (TupleTable){.width = 2 + block->iter_count + block->identity_count, .payload_size = sizeof(InstanceRecord)};
        run->blocks[i].points = (TupleTable){.width = 1 + block->point_count, .payload_size = sizeof(uint64_t)};
    }
}

static void run_free(Run *run)
{
    for (int i = 0; run->blocks && i < run->program->blocks.count; i++) {
        tuple_table_free(&run->blocks[i].instances);
        tuple_table_free(&run->blocks[i].points);
    }
    for (int i = 0; i < run->params.count; i++)
        memory_free(run->params.data[i]);
    arena_free(run->arena);
}

static void run_program(Run *run, const InterpArg *args)
{
    Thread thread, *items[] = {&thread};
    Iteration whole = {0};
    tables_init(run);
    thread_init(run, &thread);
    thread.iteration = &whole;
    run->time = 1;
    match_arguments(&thread, args);
    exec_node(run, (Group){items, 1}, run->program->body);
    thread_free(&thread);
}

bool interp_run(Context *ctx, const Func *func, const InterpArg *args, const InterpOptions *options, InterpResult *result)
{
    Run run = {.ctx = ctx, .options = options, .arena = arena_new(), .checks = options->checks};
    run.result.returned.dtype = DTYPE_VOID;
    run.program = interp_compile(ctx, run.arena, func, options);
    if (run.program)
        run_program(&run, args);
    run.result.completed = run.program && !run.stopped;
    run.result.steps = run.steps;
    if (result)
        *result = run.result;
    run_free(&run);
    return run.result.completed && run.result.finding_count == 0;
}
