/* --pass: lowering passes on their own, between the schedule and all that looks at the program. */
#include "driver/driver.h"
#include "passes/transform/transform.h"

/* The row that NAME means, or -1 after a diagnostic. */
static int find_pass(Driver *driver, const char *name)
{
    const char *near;
    int row = transform_find(driver->ctx, name, &near);
    if (row < 0)
        driver_error(driver, "there is no pass '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return row;
}

const tirc_program *driver_transform(Driver *driver, const tirc_program *program)
{
    const TextList *names = &driver->options.passes;
    int *rows = ARENA_ARRAY(driver->ctx->arena, int, names->count);
    for (int i = 0; i < names->count; i++)
        if ((rows[i] = find_pass(driver, names->data[i])) < 0)
            return NULL;
    const Module *module = program->module;
    for (int i = 0; i < names->count && module; i++)
        module = transform_module(driver->ctx, module, rows[i], driver->options.verify_each);
    tirc_program result = {.source = program->source, .module = module};
    driver_note_time(driver, "passes");
    return module ? arena_copy(driver->ctx->arena, &result, sizeof result) : NULL;
}
