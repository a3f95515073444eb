/* What a program says is checked before anything is made of it. Axis kinds are claims: one that is certainly false is a warning where the
   program is only shown, and an error where it is compiled or interpreted; so is an access that is certainly out of bounds or
   undeclared. What the interpreter has reported at the same place is not said again. */
#include "driver/driver.h"
#include "ir/scalable.h"
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/analysis/questions/faults.h"
#include "support/warning.h"

typedef struct {
    Driver *driver;
    ClaimSet claims; /* of the function */
    bool will_run; /* the program is compiled or interpreted */
} ClaimWalk;

/* An error stands on the line of SPAN already. */
static bool is_reported(Context *ctx, Span span)
{
    Place place, other;
    for (int i = 0; source_place(ctx->sources, span, &place) && i < ctx->diagnostics.count; i++) {
        const Diagnostic *diagnostic = &ctx->diagnostics.data[i];
        if (diagnostic->severity == DIAG_ERROR && diagnostic->span.file == span.file &&
            source_place(ctx->sources, diagnostic->span, &other) && other.line == place.line)
            return true;
    }
    return false;
}

static bool check_block(Visitor *visitor, const Stmt *stmt)
{
    ClaimWalk *walk = visitor->data;
    Context *ctx = walk->driver->ctx;
    bool claims = stmt->kind == STMT_BLOCK && stmt->as.block.iter_count;
    Answer answer = claims ? dependence_claims_hold(&walk->claims, stmt) : answer_shown();
    if (answer.verdict == ANSWER_REFUTED && !is_reported(ctx, stmt->span))
        diag_error_or_warning(ctx, walk->will_run, WARNING_AXIS_CLAIMS, stmt->span,
                              "the axes of block '%s' claim more than holds: instances that differ in them depend "
                              "on each other, since %s; T.axis.scan and T.axis.opaque claim nothing",
                              stmt->as.block.block->name, answer.text);
    return true;
}

static void check_faults(Driver *driver, const Func *func, bool are_errors)
{
    FaultList faults = faults_collect(driver->ctx, func);
    for (int i = 0; i < faults.count; i++)
        if (!is_reported(driver->ctx, faults.data[i].span))
            diag_error_or_warning(driver->ctx, are_errors, WARNING_FAULTS, faults.data[i].span, "%s", faults.data[i].text);
}

void driver_check_intrins(Driver *driver, const Module *module)
{
    for (int i = 0; i < module->intrin_count; i++) {
        const TensorIntrin *intrin = &module->intrins[i];
        FaultList faults = faults_collect(driver->ctx, intrin->implementation);
        for (int j = 0; j < faults.count; j++)
            diag_error(driver->ctx, faults.data[j].span, "the implementation '%s' of '%s' is wrong: %s", intrin->implementation->name,
                       intrin->name, faults.data[j].text);
    }
}

static bool has_fault(const FaultList *faults, const Fault *fault)
{
    for (int i = 0; i < faults->count; i++) {
        Span span = faults->data[i].span;
        if (span.file == fault->span.file && span.begin == fault->span.begin && span.end == fault->span.end)
            return true;
    }
    return false;
}

/* What the schedule brought in, besides what was wrong at the same place of SOURCE: the implementation of a tensor intrinsic may, or a split
   without its condition. */
static void check_scheduled_faults(Driver *driver, const Func *source, const Func *scheduled, bool will_run)
{
    if (source == scheduled || func_is_scalable(scheduled, NULL))
        return;
    FaultList before = {0}, after = faults_collect(driver->ctx, scheduled);
    if (after.count && source)
        before = faults_collect(driver->ctx, source);
    for (int i = 0; i < after.count; i++)
        if (!has_fault(&before, &after.data[i]) && !is_reported(driver->ctx, after.data[i].span))
            diag_error_or_warning(driver->ctx, will_run, WARNING_FAULTS, after.data[i].span, "in the scheduled program, %s", after.data[i].text);
}

bool driver_check_claims(Driver *driver, const tirc_program *program, bool will_run)
{
    const Module *module = program->source;
    ClaimWalk walk = {.driver = driver, .will_run = will_run};
    for (int i = 0; i < module->func_count; i++) {
        if (func_is_scalable(module->funcs[i], NULL)) /* which elements it reaches is not known */
            continue;
        check_faults(driver, module->funcs[i], will_run);
        driver_check_callee_regions(driver, module, module->funcs[i], will_run);
        walk.claims = dependence_collect_claims(driver->ctx, module->funcs[i]);
        Visitor visitor = {.stmt = check_block, .data = &walk};
        visit_stmt(&visitor, module->funcs[i]->body);
    }
    for (int i = 0; i < program->module->func_count; i++)
        check_scheduled_faults(driver, module_find(module, program->module->funcs[i]->name), program->module->funcs[i], will_run);
    return !diag_error_count(driver->ctx);
}
