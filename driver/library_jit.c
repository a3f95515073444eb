/* The part of tirc.h that compiles functions into the process. */
#include <stdlib.h>

#include "driver/run.h"
#include "ir/signature.h"
#include "runtime/tirc_rt.h"
#include "support/bug.h"

struct tirc_jit {
    Jit *image;
    void *function;
};

/* FUNC of PROGRAM compiled; NULL after a diagnostic. */
static Jit *compile(Driver *driver, const tirc_program *program, const Func *func)
{
    const Module *part = run_compiled_part(driver, program->module, func);
    if (!module_find(part, func->name)) {
        driver_error(driver, "function '%s' has loops that are bound to threads, which are not compiled for this machine", func->name);
        return NULL;
    }
    return driver_check_claims(driver, program, true) ? run_compile(driver, part) : NULL;
}

tirc_jit *tirc_jit_compile(tirc_context *context, const tirc_program *program, const char *name)
{
    if (!context || !driver_check_program(context, "tirc_jit_compile", program))
        return NULL;
    const Func *func = driver_find_function(context, program->module, name);
    Jit *image = func ? compile(context, program, func) : NULL;
    void *function = image ? jit_find_exported(image, func_signature(context->ctx, func)->symbol) : NULL;
    if (!function) {
        if (image)
            jit_close(image);
        return NULL;
    }
    tirc_jit *jit = xmalloc(sizeof *jit);
    *jit = (tirc_jit){image, function};
    return jit;
}

void *tirc_jit_function(tirc_jit *jit)
{
    return jit ? jit->function : NULL;
}

const char *tirc_jit_error(void)
{
    return tirc_last_error();
}

void tirc_jit_free(tirc_jit *jit)
{
    if (!jit)
        return;
    jit_close(jit->image);
    free(jit);
}
