/* Which step of a schedule is to blame when lowering refuses a function: the one before which it could be lowered still. Lowering sees only
   the program, so its errors stand at the .tir text; the note that this file adds gives the line of the script as well.

   The steps are tried from the last one backwards, as of several that are refused each for its own reason the last one ends the run. A
   function that is refused without any step gets no note. */
#include "driver/driver.h"

void driver_note_step(Driver *driver, const Schedule *sch)
{
    const ProgramEdit *edit = &sch->edits.data[sch->edits.count - 1];
    ScheduleStep step = {edit->before, sch->module, edit->span};
    vec_push(driver->ctx->base_arena, &driver->steps, step);
}

static int index_of_func(const Module *module, const Func *func)
{
    for (int i = 0; i < module->func_count; i++)
        if (module->funcs[i] == func)
            return i;
    return -1;
}

/* Lowering accepts FUNC of MODULE; what it says is forgotten. */
static bool can_be_lowered(Driver *driver, const Module *module, const Func *func)
{
    LowerOptions options = {.bounds_check = driver->options.bounds_check};
    DiagMark mark = diag_mark(driver->ctx);
    int errors = diag_error_count(driver->ctx);
    bool ok = lower_func(driver->ctx, module, func, &options) && diag_error_count(driver->ctx) == errors;
    diag_rollback(driver->ctx, mark);
    return ok;
}

void driver_blame_step(Driver *driver, const Func *func)
{
    for (int i = driver->steps.count - 1; i >= 0; i--) {
        const ScheduleStep *step = &driver->steps.data[i];
        int index = index_of_func(step->after, func);
        if (index < 0 || step->before->funcs[index] == func)
            continue;
        func = step->before->funcs[index];
        if (can_be_lowered(driver, step->before, func)) {
            diag_note(driver->ctx, step->span, "the program could still be lowered before this step");
            return;
        }
    }
}
