/* Calls of functions of the program itself: the callee runs in an interpreter of its own, on the memory that the arguments point to. */
#include <string.h>

#include "interp/argdata.h"
#include "interp/interp_internal.h"

enum { DEEPEST_CALL = 64, MOST_CALL_NOTES = 4 };

/* The call passes what the object's function takes: a pointer for each buffer, its type for each scalar, int64 for each size. */
static bool fits(const Func *func, const Signature *signature, const InterpValue *args, int count)
{
    bool ok = count == func->param_count + signature->dim_count;
    for (int i = 0; ok && i < count; i++) {
        DType wanted = i >= func->param_count ? DTYPE_INT64 : func->params[i].buffer ? DTYPE_HANDLE : func->params[i].param->dtype;
        ok = wanted.code == DT_HANDLE ? args[i].dtype.code == DT_HANDLE : dtype_equal(wanted, args[i].dtype);
    }
    return ok;
}

/* The sizes among ARGS by their names: what shapes use, and scalar parameters. */
static ArgSize *given_sizes(const Run *run, const Func *func, const Signature *signature, const InterpValue *args, int *count)
{
    ArgSize *sizes = ARENA_ARRAY(run->arena, ArgSize, func->param_count + signature->dim_count);
    *count = 0;
    for (int i = 0; i < func->param_count + signature->dim_count; i++) {
        const Var *var = i < func->param_count ? func->params[i].param : signature->dims[i - func->param_count];
        bool is_size = i < func->param_count && !func->params[i].buffer && dtype_is_integer(var->dtype);
        const Buffer *buffer = i < func->param_count ? NULL : func->params[signature->dim_params[i - func->param_count]].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++)
            is_size |= expr_uses_var(buffer->shape[d], var);
        if (is_size)
            sizes[(*count)++] = (ArgSize){var->name, args[i].as.integer, var};
    }
    return sizes;
}

/* The value of EXPR, a stride or offset that the declaration may leave to the caller; OTHERWISE where it does not. */
static int64_t given_layout(const Expr *expr, const Func *func, const Signature *signature, const InterpValue *args, int64_t otherwise)
{
    for (int i = 0; expr && i < signature->dim_count; i++)
        if (expr_is_var(expr, signature->dims[i]))
            return args[func->param_count + i].as.integer;
    return otherwise;
}

static void pass_buffer(const Run *run, const Func *func, const Signature *signature, const InterpValue *args, int index, Pointer pointer,
                        InterpArg *arg)
{
    const Buffer *buffer = func->params[index].buffer;
    arg->data = args[index].as.pointer;
    arg->bytes = pointer.memory->bytes - pointer.byte;
    arg->unwritten = false;
    if (!buffer)
        return;
    arg->elem_offset = given_layout(buffer->elem_offset, func, signature, args, arg->elem_offset);
    if (!buffer->strides || !arg->strides)
        return;
    int64_t *strides = arena_copy(run->arena, arg->strides, sizeof *strides * (size_t)buffer->ndim);
    for (int d = 0; d < buffer->ndim; d++)
        strides[d] = given_layout(buffer->strides[d], func, signature, args, strides[d]);
    arg->strides = strides;
}

static bool run_callee(Thread *thread, const Func *func, const ArgData *data, const InterpValue *args, const Pointer *pointers, InterpValue *returned)
{
    Run *run = thread->run;
    const Signature *signature = data->signature;
    InterpArg *passed = argdata_interp_args(data);
    InterpSymbol *symbols = ARENA_ARRAY(run->arena, InterpSymbol, signature->dim_count);
    for (int i = 0; i < signature->dim_count; i++)
        symbols[i] = (InterpSymbol){signature->dims[i], args[func->param_count + i].as.integer};
    for (int i = 0; i < func->param_count; i++)
        if (args[i].dtype.code == DT_HANDLE)
            pass_buffer(run, func, signature, args, i, pointers[i], &passed[i]);
        else
            passed[i].scalar = args[i];
    InterpOptions options = *run->options;
    options.depth++;
    options.symbols = symbols;
    options.symbol_count = signature->dim_count;
    options.steps_before += run->steps;
    InterpResult result;
    bool ok = interp_run(run->ctx, func, passed, &options, &result);
    run->steps += result.steps;
    if (result.returned.dtype.code != DT_VOID)
        *returned = result.returned;
    return ok;
}

/* What the callee reports is said there; here the run ends. Of many calls the outermost are noted. */
static void end_run(Thread *thread, const EvalNode *node, const Func *func)
{
    if (thread->run->options->depth < MOST_CALL_NOTES)
        diag_note(thread->run->ctx, node->source->span, "in this call of '%s'", func->name);
    thread->run->result.finding_count++;
    thread->run->result.kinds |= 1u << INTERP_CALL;
    thread->run->stopped = true;
}

/* Why the call cannot be made; NULL where it can. */
static const char *refusal(const Run *run, const Func *func, const InterpValue *args, const Pointer *pointers, int count)
{
    if (!fits(func, func_signature(run->ctx, func), args, count))
        return "with other numbers or types of arguments than it takes";
    for (int i = 0; i < count; i++)
        if (args[i].dtype.code == DT_HANDLE && !pointers[i].memory)
            return "with a null pointer";
    return run->options->depth >= DEEPEST_CALL ? "in too many calls inside of one another" : NULL;
}

bool interp_call_function(Thread *thread, const EvalNode *node, const Func *func, const InterpValue *args, const Pointer *pointers,
                          int count, InterpValue *returned)
{
    Run *run = thread->run;
    const Signature *signature = func_signature(run->ctx, func);
    const char *why = refusal(run, func, args, pointers, count);
    if (why)
        report_finding(thread, INTERP_CALL, node->source, node->source->span, "calls '%s' %s", func->name, why);
    if (why)
        return false;
    int size_count;
    ArgOptions options = {.seed = 1, .sizes = given_sizes(run, func, signature, args, &size_count)};
    options.size_count = size_count;
    ArgData *data = argdata_new(run->ctx, func, &options);
    bool ok = data && run_callee(thread, func, data, args, pointers, returned);
    if (data)
        argdata_free(data);
    if (!ok)
        end_run(thread, node, func);
    return ok;
}
