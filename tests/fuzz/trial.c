/* What must hold of a program on its way through a schedule. For each accepted step: the print round-trips, the verifier holds, the
   interpreter agrees with the unscheduled program at all sizes; at the end the lowered program, interpreted, and the compiled object agree,
   bit for bit unless a step reordered a float reduction. Each refusal has a message and changes nothing. */
#include <math.h>
#include <stdlib.h>

#include "driver/jit.h"
#include "fuzz.h"
#include "ir/argdata.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "parser/parser.h"
#include "passes/lower/lower.h"
#include "script/script.h"

static bool fail(Trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Trial *trial, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    trial->failure = arena_vprintf(trial->ctx->arena, format, args);
    va_end(args);
    return false;
}

static const char *first_error(Trial *trial)
{
    return diag_first_error(trial->ctx, (DiagMark){0, 0});
}

static bool interpret(Trial *trial, const Func *func, const ArgData *data)
{
    InterpOptions options = {.checks = true};
    InterpSymbol *symbols = ARENA_ARRAY(trial->ctx->arena, InterpSymbol, data->signature->dim_count);
    for (int i = 0; i < data->signature->dim_count; i++)
        symbols[i] = (InterpSymbol){data->signature->dims[i], data->dims[i]};
    options.symbols = symbols;
    options.symbol_count = data->signature->dim_count;
    InterpResult result;
    return interp_run(trial->ctx, func, argdata_interp_args(data), &options, &result);
}

/* --- Beginning --- */
static bool note_float_reduction(Visitor *visitor, const Stmt *stmt)
{
    Trial *trial = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++)
        for (int k = 0; k < stmt->as.block.write_count; k++)
            trial->reduces_floats |= stmt->as.block.iters[i].kind == ITER_REDUCE && dtype_is_float(stmt->as.block.writes[k].buffer->dtype);
    return true;
}

static bool note_truncation(Visitor *visitor, const Expr *expr)
{
    Trial *trial = visitor->data;
    trial->truncates_floats |= expr->kind == EXPR_CAST && dtype_is_float(expr->args[0]->dtype) && !dtype_is_float(expr->dtype);
    return true;
}

/* The sizes of set SET: 0, 1 and primes more often than others. */
static int choose_sizes(Trial *trial, int set, uint64_t seed, ArgSize sizes[3])
{
    static const char *const names[] = {"n", "m", "h"};
    static const int values[] = {0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16};
    const Signature *signature = func_signature(trial->ctx, trial->source->funcs[0]);
    Random random = {seed + (uint64_t)set};
    int count = 0;
    for (int i = 0; i < signature->dim_count; i++)
        for (int k = 0; k < 3; k++)
            if (!strcmp(signature->dims[i]->name, names[k]))
                sizes[count++] = (ArgSize){names[k], values[random_below(&random, set == 0 ? 12 : set == 1 ? 4 : 8)]};
    return count;
}

static bool begin_set(Trial *trial, int set, uint64_t seed)
{
    ArgSize sizes[3];
    ArgOptions options = {.seed = seed, .sizes = sizes, .size_count = choose_sizes(trial, set, seed, sizes)};
    if (set > 0 && options.size_count == 0)
        return true;
    ArgData *inputs = argdata_new(trial->ctx, trial->source->funcs[0], &options);
    if (!inputs)
        return fail(trial, "no arguments can be made: %s", first_error(trial));
    trial->inputs[set] = inputs;
    trial->expected[set] = argdata_copy(inputs);
    trial->set_count = set + 1;
    int64_t length = argdata_reduction_length(inputs, trial->source->funcs[0]);
    trial->length = length > trial->length ? length : trial->length;
    return interpret(trial, trial->source->funcs[0], trial->expected[set]) ||
           fail(trial, "the unscheduled program: %s", first_error(trial));
}

bool trial_begin(Trial *trial, const char *program, uint64_t seed)
{
    static const int levels[] = {0, 1, 0, 2};
    *trial = (Trial){.ctx = context_new(), .opt_level = levels[seed % 4]};
    trial->source = trial->current = parse_module_text(trial->ctx, "fuzz.tir", program, strlen(program));
    if (!trial->source)
        return fail(trial, "the program does not parse: %s", first_error(trial));
    Visitor visitor = {.expr = note_truncation, .stmt = note_float_reduction, .data = trial};
    visit_stmt(&visitor, trial->source->funcs[0]->body);
    for (int set = 0; set < MOST_SETS; set++)
        if (!begin_set(trial, set, seed))
            return false;
    return true;
}

void trial_end(Trial *trial)
{
    for (int i = 0; i < trial->set_count; i++) {
        argdata_free(trial->inputs[i]);
        argdata_free(trial->expected[i]);
    }
    context_free(trial->ctx);
}

/* --- Steps --- */
static bool check_text(Trial *trial)
{
    Context *ctx = trial->ctx;
    const char *why, *printed = print_module(ctx, trial->current);
    if (!verify_module(ctx, trial->current, STAGE_SCHEDULED, &why))
        return fail(trial, "not well formed: %s", why);
    const Module *again = parse_module_text(ctx, "printed", printed, strlen(printed));
    if (!again)
        return fail(trial, "the printed program does not read back: %s", first_error(trial));
    if (!module_equal(ctx, trial->current, again, &why))
        return fail(trial, "the printed program reads back as another one: %s", why);
    return !strcmp(printed, print_module(ctx, again)) || fail(trial, "the second print differs");
}

static bool check_results(Trial *trial, int set, const ArgData *actual, const char *what)
{
    trial->failed_set = set;
    ArgMismatch mismatch;
    if (argdata_damaged(actual))
        return fail(trial, "%s writes outside of its buffers", what);
    bool regrouped = trial->reordered && trial->reduces_floats;
    int64_t length = regrouped ? trial->length * 64 : ARGDATA_EXACT;
    if ((regrouped && trial->truncates_floats) || argdata_compare(trial->expected[set], actual, length, &mismatch))
        return true;
    if (regrouped && !isfinite(mismatch.expected)) /* whether a partial result overflows depends on the order */
        return true;
    return fail(trial, "%s gives %s = %.9g, not %.9g", what, mismatch.element, mismatch.actual, mismatch.expected);
}

/* FUNC is the program or what it is lowered to: there, the interpreter sees each access that leaves its scratch. */
static bool check_interpreted(Trial *trial, int set, const Func *func)
{
    ArgData *actual = argdata_copy(trial->inputs[set]);
    const char *what = func == trial->current->funcs[0] ? "the interpreter" : "the interpreter of the lowered program";
    trial->failed_set = set;
    bool ok = interpret(trial, func, actual) ? check_results(trial, set, actual, what)
                                             : fail(trial, "%s finds: %s", what, first_error(trial));
    argdata_free(actual);
    return ok;
}

static bool may_reorder(const char *step)
{
    static const char *const primitives[] = {"reorder", "rfactor", "compute_at", "tensorize", "merge", "bind"};
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (strstr(step, primitives[i]))
            return true;
    return false;
}

static bool check_refusal(Trial *trial, DiagMark mark, const Module *before, const char *printed)
{
    const char *message = diag_first_error(trial->ctx, mark);
    bool ok = (message && *message) || fail(trial, "a refusal without a message");
    if (getenv("FUZZ_VERBOSE"))
        printf("      refused: %s\n", message);
    diag_rollback(trial->ctx, mark);
    return ok && (!strcmp(printed, print_module(trial->ctx, before)) || fail(trial, "a refused step changed the program"));
}

bool trial_step(Trial *trial, const char *step, bool *accepted)
{
    Context *ctx = trial->ctx;
    DiagMark mark = diag_mark(ctx);
    FILE *sink = fopen("/dev/null", "w");
    ScriptOptions options = {.out = sink};
    const Module *before = trial->current;
    const char *printed = print_module(ctx, before);
    const AstNode *script = parse_python(ctx, source_add(ctx->sources, "step", step, strlen(step)));
    const Module *after = script_run(ctx, script, before, &options);
    fclose(sink);
    *accepted = after != NULL;
    if (!after)
        return check_refusal(trial, mark, before, printed);
    trial->current = after;
    trial->reordered |= may_reorder(step);
    bool ok = check_text(trial);
    for (int set = 0; ok && set < trial->set_count; set++)
        ok = check_interpreted(trial, set, trial->current->funcs[0]);
    return ok;
}

/* --- Compiling --- */
static bool note_threads(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD;
    return true;
}

static bool check_called(Trial *trial, JitFunction function, int set)
{
    ArgData *actual = argdata_copy(trial->inputs[set]);
    trial->failed_set = set;
    bool ok = function(jit_arguments(trial->ctx, actual)) == 0 || fail(trial, "the compiled function returns an error");
    ok = ok && check_results(trial, set, actual, "the compiled function");
    argdata_free(actual);
    return ok;
}

bool trial_compile(Trial *trial)
{
    LowerOptions options = {0};
    bool threads = false;
    DiagMark mark = diag_mark(trial->ctx);
    Visitor visitor = {.stmt = note_threads, .data = &threads};
    visit_stmt(&visitor, trial->current->funcs[0]->body);
    const Func *lowered = lower_func(trial->ctx, trial->current, trial->current->funcs[0], &options);
    if (threads && !lowered)
        return diag_first_error(trial->ctx, mark) || fail(trial, "lowering refuses threads without a message");
    if (!lowered || threads)
        return fail(trial, lowered ? "threads are lowered%s" : "lowering refuses: %s", lowered ? "" : first_error(trial));
    for (int set = 0; set < trial->set_count; set++)
        if (!check_interpreted(trial, set, lowered))
            return false;
    CodegenOptions codegen = codegen_default_options();
    codegen.opt_level = trial->opt_level;
    codegen.fp_contract = false;
    codegen.wide_math = true;
    Jit *jit = jit_open(trial->ctx);
    JitFunction function = jit && jit_add_module(jit, module_with_func(trial->ctx, trial->current, 0, lowered), codegen, NULL)
                               ? jit_find(jit, func_signature(trial->ctx, lowered)->symbol)
                               : NULL;
    bool ok = function || fail(trial, "code generation fails: %s", first_error(trial));
    for (int set = 0; ok && set < trial->set_count; set++)
        ok = check_called(trial, function, set);
    if (jit)
        jit_close(jit);
    return ok;
}
