/* What must hold of a program on its way through a schedule. For each accepted step: the print round-trips, the verifier holds, the
   interpreter agrees with the unscheduled program at all sizes; at the end the lowered program, interpreted, and the compiled object agree,
   bit for bit unless a step reordered a float reduction. Each refusal has a message and changes nothing. A block that runs again with another
   result is wrong unless a step made copies: in a loop that binds none of its axes, a copy's scratch is filled anew. */
#include <math.h>
#include <stdlib.h>

#include "driver/jit.h"
#include "fuzz.h"
#include "interp/argdata.h"
#include "print/print.h"
#include "verify/equal.h"
#include "verify/verify.h"
#include "ir/walk.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "passes/analysis/questions/callees.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/analysis/questions/faults.h"
#include "passes/lower/lower.h"
#include "script/script.h"
#include "support/warning.h"

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

static const Func *scheduled_func(const Trial *trial, const Module *module)
{
    return module->funcs[trial->func];
}

/* *RETURNED: what T.ret gives, 0 without one. */
static bool interpret(Trial *trial, const Func *func, const ArgData *data, int *returned)
{
    DiagMark mark = diag_mark(trial->ctx);
    InterpOptions options = {.checks = true, .module = trial->current, .externs = {.call = call_of_c}};
    InterpSymbol *symbols = ARENA_ARRAY(trial->ctx->arena, InterpSymbol, data->signature->dim_count);
    for (int i = 0; i < data->signature->dim_count; i++)
        symbols[i] = (InterpSymbol){data->signature->dims[i], data->dims[i]};
    options.symbols = symbols;
    options.symbol_count = data->signature->dim_count;
    InterpResult result;
    bool ok = interp_run(trial->ctx, func, argdata_interp_args(data), &options, &result);
    *returned = (int)result.returned.as.integer;
    if (ok)
        return true;
    bool copies_only = trial->copies && result.completed && result.kinds == 1u << INTERP_RERUN;
    if (copies_only)
        diag_rollback(trial->ctx, mark);
    return copies_only;
}

/* --- Beginning --- */
enum { MOST_SIZES = 8 };

static bool note_reduction(Visitor *visitor, const Stmt *stmt)
{
    Trial *trial = visitor->data;
    bool reduces = false, floats = false;
    if (stmt->kind != STMT_BLOCK)
        return true;
    for (int i = 0; i < stmt->as.block.iter_count; i++)
        reduces |= stmt->as.block.iters[i].kind == ITER_REDUCE;
    for (int k = 0; k < stmt->as.block.write_count; k++)
        floats |= dtype_is_float(stmt->as.block.writes[k].buffer->dtype);
    trial->reduces_floats |= reduces && floats;
    trial->may_tie |= reduces && !floats && stmt->as.block.write_count > 1;
    return true;
}

/* A function that is called may sum up as it likes; those of fuzz programs take no sums. */
static bool note_operations(Visitor *visitor, const Expr *expr)
{
    Trial *trial = visitor->data;
    if (expr->kind == EXPR_CALL && expr->value.op == OP_CALL_EXTERN && strstr(print_expr(trial->ctx, expr), "tmm16"))
        trial->reduces_floats = trial->reordered = true;
    trial->truncates_floats |= expr->kind == EXPR_CAST && dtype_is_float(expr->args[0]->dtype) && !dtype_is_float(expr->dtype);
    return true;
}

static bool is_size(const Func *func, const Var *var)
{
    for (int i = 0; i < func->param_count; i++)
        for (int k = 0; func->params[i].buffer && k < func->params[i].buffer->ndim; k++)
            if (expr_is_var(func->params[i].buffer->shape[k], var))
                return true;
    return false;
}

/* The sizes of set SET: 0, 1 and primes more often than others. */
static int choose_sizes(Trial *trial, int set, uint64_t seed, ArgSize sizes[MOST_SIZES])
{
    static const int values[] = {0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16};
    const Func *func = scheduled_func(trial, trial->source);
    const Signature *signature = func_signature(trial->ctx, func);
    Random random = {seed + (uint64_t)set};
    int count = 0;
    for (int i = 0; i < signature->dim_count && count < MOST_SIZES; i++)
        if (is_size(func, signature->dims[i]))
            sizes[count++] = (ArgSize){signature->dims[i]->name, values[random_below(&random, set == 0 ? 12 : set == 1 ? 4 : 8)], NULL};
    return count;
}

static bool begin_set(Trial *trial, int set, uint64_t seed)
{
    ArgSize sizes[MOST_SIZES];
    ArgOptions options = {.seed = seed, .sizes = sizes, .size_count = choose_sizes(trial, set, seed, sizes)};
    if (set > 0 && options.size_count == 0)
        return true;
    ArgData *inputs = argdata_new(trial->ctx, scheduled_func(trial, trial->source), &options);
    if (!inputs)
        return fail(trial, "no arguments can be made: %s", first_error(trial));
    trial->inputs[set] = inputs;
    trial->expected[set] = argdata_copy(inputs);
    trial->set_count = set + 1;
    int64_t length = argdata_reduction_length(inputs, scheduled_func(trial, trial->source));
    trial->length = length > trial->length ? length : trial->length;
    return interpret(trial, scheduled_func(trial, trial->source), trial->expected[set], &trial->returned[set]) ||
           fail(trial, "the unscheduled program: %s", first_error(trial));
}

/* As a script does: main, else the only function. */
static bool find_func(Trial *trial)
{
    const Module *module = trial->source;
    for (trial->func = 0; trial->func < module->func_count; trial->func++)
        if (!strcmp(scheduled_func(trial, module)->name, "main"))
            return true;
    trial->func = 0;
    return module->func_count == 1;
}

/* All that programs pass to their functions lies apart. */
static bool gives_apart_memory(Trial *trial)
{
    for (int i = 0; i < trial->source->func_count; i++) {
        FaultList faults = {0};
        func_compare_callees(trial->ctx, trial->source, trial->source->funcs[i], &faults);
        for (int k = 0; k < faults.count; k++)
            if (strstr(faults.data[k].text, "overlap"))
                return fail(trial, "a call is refused: %s", faults.data[k].text);
    }
    return true;
}

bool trial_begin(Trial *trial, const char *program, uint64_t seed)
{
    static const int levels[] = {0, 1, 0, 2};
    static const FuzzRegisters registers[] = {{0, 0}, {16, 4}, {32, 16}, {32, 6}};
    *trial = (Trial){.ctx = context_new(), .opt_level = levels[seed % 4], .registers = registers[seed / 4 % 4]};
    trial->source = trial->current = program_complete(trial->ctx, parse_module_text(trial->ctx, "fuzz.tir", program, strlen(program)));
    if (!trial->source)
        return fail(trial, "the program does not parse: %s", first_error(trial));
    if (!gives_apart_memory(trial))
        return false;
    if (!find_func(trial))
        return fail(trial, "the program has several functions and no main");
    Visitor visitor = {.expr = note_operations, .stmt = note_reduction, .data = trial};
    visit_stmt(&visitor, scheduled_func(trial, trial->source)->body);
    trial->had_faults = faults_collect(trial->ctx, scheduled_func(trial, trial->source)).count > 0;
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
    const Module *again = complete_module(ctx, parse_module_text(ctx, "printed", printed, strlen(printed)));
    if (!again)
        return fail(trial, "the printed program does not read back: %s", first_error(trial));
    if (!module_equal(ctx, trial->current, again, &why))
        return fail(trial, "the printed program reads back as another one: %s", why);
    return !strcmp(printed, print_module(ctx, again)) || fail(trial, "the second print differs");
}

/* The arguments of set SET for the program as it is now, whose parameters a step may have laid out anew. */
static ArgData *arguments_now(Trial *trial, int set)
{
    const Func *func = scheduled_func(trial, trial->current);
    return argdata_has_layouts(func) ? argdata_for_scheduled(trial->inputs[set], func) : argdata_copy(trial->inputs[set]);
}

/* What ACTUAL holds, laid out as in the unscheduled program. */
static ArgData *results_as_before(Trial *trial, int set, const ArgData *actual)
{
    ArgData *results = argdata_copy(trial->inputs[set]);
    argdata_take_results(actual, results);
    return results;
}

static bool check_results(Trial *trial, int set, const ArgData *actual, int returned, const char *what)
{
    trial->failed_set = set;
    ArgMismatch mismatch;
    if (argdata_damaged(actual))
        return fail(trial, "%s writes outside of its buffers", what);
    if (trial->ties)
        return true;
    if (returned != trial->returned[set])
        return fail(trial, "%s returns %d, not %d", what, returned, trial->returned[set]);
    bool regrouped = trial->reordered && trial->reduces_floats;
    int64_t length = regrouped ? trial->length * 64 : ARGDATA_EXACT;
    ArgData *results = results_as_before(trial, set, actual);
    bool agree = (regrouped && trial->truncates_floats) || argdata_compare(trial->expected[set], results, length, &mismatch);
    argdata_free(results);
    if (agree)
        return true;
    if (regrouped && !isfinite(mismatch.expected)) /* whether a partial result overflows depends on the order */
        return true;
    return fail(trial, "%s gives %s = %.9g, not %.9g", what, mismatch.element, mismatch.actual, mismatch.expected);
}

/* FUNC is the program or what it is lowered to: there, the interpreter sees each access that leaves its scratch. */
static bool check_interpreted(Trial *trial, int set, const Func *func)
{
    ArgData *actual = arguments_now(trial, set);
    const char *what = func == scheduled_func(trial, trial->current) ? "the interpreter" : "the interpreter of the lowered program";
    trial->failed_set = set;
    int returned;
    bool ok = interpret(trial, func, actual, &returned) ? check_results(trial, set, actual, returned, what)
                                                        : fail(trial, "%s finds: %s", what, first_error(trial));
    argdata_free(actual);
    return ok;
}

bool trial_interpreted(Trial *trial, const Module *module, const char *what)
{
    const Module *before = trial->current;
    bool ok = true, copies = trial->copies;
    trial->current = module;
    trial->copies = true; /* a pass takes the axes of blocks away, which told their instances apart */
    for (int set = 0; ok && set < trial->set_count; set++)
        ok = check_interpreted(trial, set, scheduled_func(trial, module));
    trial->current = before;
    trial->copies = copies;
    return ok || fail(trial, "%s: %s", what, trial->failure);
}

static bool may_reorder(const char *step)
{
    static const char *const primitives[] = {"reorder", "rfactor", "compute_at", "tensorize", "merge", "fission", "bind", "transform_block_layout", "pad_einsum",
                                             "fuse_reduction_epilogue", "cache_accumulate"};
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (strstr(step, primitives[i]))
            return true;
    return false;
}

static bool makes_copies(const char *step)
{
    return strstr(step, "cache") || strstr(step, "reindex") || strstr(step, "pad");
}

/* Since MARK a step warned that it may choose another of several equal values. */
static bool warns_of_ties(const Trial *trial, DiagMark mark)
{
    for (int i = mark.count; i < trial->ctx->diagnostics.count; i++)
        if (trial->ctx->diagnostics.data[i].warning == WARNING_TIES)
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

/* A step brings no access in that certainly leaves its buffer or what the blocks around it declare, and no axis that leaves its domain. */
static bool check_faults(Trial *trial)
{
    FaultList faults = faults_collect(trial->ctx, scheduled_func(trial, trial->current));
    return !faults.count || trial->had_faults || fail(trial, "a step brought a fault: %s", faults.data[0].text);
}

bool trial_step(Trial *trial, const char *step, bool *accepted)
{
    Context *ctx = trial->ctx;
    DiagMark mark = diag_mark(ctx);
    FILE *sink = fopen("/dev/null", "w");
    ScriptOptions options = {.out = sink, .will_run = true};
    const Module *before = trial->current;
    const char *printed = print_module(ctx, before);
    const AstNode *script = parse_python(ctx, source_add(ctx->sources, "step", step, strlen(step)));
    const Module *source, *after = script_run(ctx, script, before, &options, &source);
    fclose(sink);
    *accepted = after != NULL;
    if (!after)
        return check_refusal(trial, mark, before, printed);
    trial->current = after;
    trial->reordered |= may_reorder(step);
    trial->copies |= makes_copies(step);
    trial->ties |= trial->may_tie && warns_of_ties(trial, mark);
    bool ok = check_text(trial) && check_faults(trial);
    for (int set = 0; ok && set < trial->set_count; set++)
        ok = check_interpreted(trial, set, scheduled_func(trial, trial->current));
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
    ArgData *actual = arguments_now(trial, set);
    trial->failed_set = set;
    int returned = function(jit_arguments(trial->ctx, actual));
    bool ok = check_results(trial, set, actual, returned, "the compiled function");
    argdata_free(actual);
    return ok;
}

static void tell_registers(void *data, int *bytes, int *count)
{
    const Trial *trial = data;
    *bytes = trial->registers.bytes;
    *count = trial->registers.count;
}

/* LOWERED, exported, with the module's other functions, which it may call. NULL after a diagnostic. */
static JitFunction compile(Trial *trial, Jit *jit, const Func *lowered)
{
    CodegenOptions codegen = codegen_default_options();
    codegen.opt_level = trial->opt_level;
    codegen.fp_contract = false;
    codegen.wide_math = true;
    Func exported = *lowered;
    exported.is_private = false;
    const Module *module = module_with_func(trial->ctx, trial->current, trial->func, &exported);
    for (int i = 0; i < module->func_count; i++) {
        LowerOptions options = {.vector_registers = trial->registers.count ? tell_registers : NULL, .data = trial};
        const Func *callee = i == trial->func ? &exported : lower_func(trial->ctx, trial->current, module->funcs[i], &options);
        if (!callee)
            return NULL;
        module = module_with_func(trial->ctx, module, i, callee);
    }
    return jit_add_module(jit, module, codegen, NULL) ? jit_find(jit, func_signature(trial->ctx, &exported)->symbol) : NULL;
}

static bool has_threads(const Func *func)
{
    bool threads = false;
    Visitor visitor = {.stmt = note_threads, .data = &threads};
    visit_stmt(&visitor, func->body);
    return threads;
}

static const Func *lower(Trial *trial, const Module *module)
{
    LowerOptions options = {.vector_registers = trial->registers.count ? tell_registers : NULL, .data = trial};
    return lower_func(trial->ctx, module, scheduled_func(trial, module), &options);
}

typedef struct {
    Trial *trial;
    ClaimSet claims;
} ClaimCheck;

static bool check_claims(Visitor *visitor, const Stmt *stmt)
{
    ClaimCheck *check = visitor->data;
    if (stmt->kind == STMT_BLOCK && stmt->as.block.iter_count && dependence_claims_hold(&check->claims, stmt).verdict == ANSWER_REFUTED)
        fail(check->trial, "the axes of block '%s' claim more than holds", stmt->as.block.block->name);
    return !check->trial->failure;
}

bool trial_can_compile(Trial *trial)
{
    const Func *func = scheduled_func(trial, trial->source);
    ClaimCheck check = {trial, dependence_collect_claims(trial->ctx, func)};
    Visitor visitor = {.stmt = check_claims, .data = &check};
    FaultList faults = faults_collect(trial->ctx, func);
    if (faults.count)
        return fail(trial, "%s", faults.data[0].text);
    visit_stmt(&visitor, func->body);
    if (trial->failure)
        return false;
    if (has_threads(func))
        return true;
    const Func *lowered = lower(trial, trial->source);
    Jit *jit = lowered ? jit_open(trial->ctx) : NULL;
    bool compiled = jit && compile(trial, jit, lowered);
    if (jit)
        jit_close(jit);
    return compiled || fail(trial, "the unscheduled program cannot be compiled: %s", first_error(trial));
}

bool trial_compile(Trial *trial)
{
    bool threads = has_threads(scheduled_func(trial, trial->current));
    DiagMark mark = diag_mark(trial->ctx);
    const Func *lowered = lower(trial, trial->current);
    if (threads && !lowered)
        return diag_first_error(trial->ctx, mark) || fail(trial, "lowering refuses threads without a message");
    if (!lowered || threads)
        return fail(trial, lowered ? "threads are lowered%s" : "lowering refuses: %s", lowered ? "" : first_error(trial));
    for (int set = 0; set < trial->set_count; set++)
        if (!check_interpreted(trial, set, lowered))
            return false;
    Jit *jit = jit_open(trial->ctx);
    JitFunction function = jit ? compile(trial, jit, lowered) : NULL;
    bool ok = function || fail(trial, "code generation fails: %s", first_error(trial));
    for (int set = 0; ok && set < trial->set_count; set++)
        ok = check_called(trial, function, set);
    if (jit)
        jit_close(jit);
    return ok;
}
