/* Functions that a script built and calls on its arrays: compiled in this process, or interpreted where loops are bound to threads. */
#include <string.h>

#include "driver/run.h"
#include "ir/signature.h"

/* ARRAYS as the values of FUNC's parameters; NULL after a diagnostic. */
static ArgData *arguments_of(Driver *driver, const Func *func, const ScriptArray *arrays)
{
    ArgArray *given = ARENA_ARRAY(driver->ctx->arena, ArgArray, func->param_count);
    for (int i = 0; i < func->param_count; i++) {
        const Param *param = &func->params[i];
        given[i] = (ArgArray){.name = param->param->name, .from = context_internf(driver->ctx, "argument %d", i)};
        given[i].array = (NpyArray){arrays[i].dtype, arrays[i].ndim, arrays[i].shape, arrays[i].data};
    }
    ArgOptions options = {.seed = 1, .arrays = given, .array_count = func->param_count, .complete = true};
    return argdata_new(driver->ctx, func, &options);
}

static void take_results(const ArgData *data, const ScriptArray *arrays)
{
    for (int i = 0; i < data->func->param_count; i++)
        if (data->items[i].output)
            memcpy(arrays[i].data, data->items[i].arg.data, (size_t)data->items[i].arg.bytes);
}

static bool run(Driver *driver, const Module *module, const Func *func, const ArgData *data)
{
    const Module *part = run_compiled_part(driver, module, func);
    if (!module_find(part, func->name))
        return run_interpret(driver, module, func, data);
    Jit *jit = run_compile(driver, part);
    JitFunction function = jit ? jit_find(jit, func_signature(driver->ctx, func)->symbol) : NULL;
    bool ok = function && run_call(driver, function, func->name, data);
    if (jit)
        jit_close(jit);
    return ok;
}

bool driver_call_function(Driver *driver, const Module *module, const Func *func, const ScriptArray *arrays, Span span)
{
    ArgData *data = arguments_of(driver, func, arrays);
    bool ok = data && run(driver, module, func, data);
    if (ok)
        take_results(data, arrays);
    else
        diag_note(driver->ctx, span, "in this call");
    if (data)
        argdata_free(data);
    return ok;
}
