/* What a program says is checked before anything is made of it. Axis kinds are claims: one that is certainly false is a warning where the
   program is only shown, and an error where it is compiled or interpreted; so is an access that is certainly out of bounds or
   undeclared. What the interpreter has reported at the same place is not said again. */
#include "driver/driver.h"
#include "ir/scalable.h"
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/analysis/questions/faults.h"
#include "passes/schedule/block/implementation.h"
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

/* A region may be larger than what is touched, as TVM has it; elements that its buffer does not have are hardly meant. */
static void check_region(Context *ctx, const Region *region)
{
    for (int d = 0; d < region->buffer->ndim; d++) {
        Range range = region->ranges[d];
        int64_t min, count, extent, end;
        if (expr_const_int(range.min, &min) && expr_const_int(range.extent, &count) && expr_const_int(region->buffer->shape[d], &extent) &&
            extent > 0 && (min < 0 || __builtin_add_overflow(min, count, &end) || end > extent))
            diag_warning(ctx, WARNING_FAULTS, region->span, "the region leaves dimension %d of '%s', which has %lld elements", d, region->buffer->name,
                         (long long)extent);
    }
}

static void check_regions(Context *ctx, const BlockStmt *block)
{
    for (int i = 0; !block->reads_inferred && i < block->read_count; i++)
        check_region(ctx, &block->reads[i]);
    for (int i = 0; !block->writes_inferred && i < block->write_count; i++)
        check_region(ctx, &block->writes[i]);
}

static bool check_block(Visitor *visitor, const Stmt *stmt)
{
    ClaimWalk *walk = visitor->data;
    Context *ctx = walk->driver->ctx;
    if (stmt->kind == STMT_BLOCK)
        check_regions(ctx, &stmt->as.block);
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
    for (int i = 0; i < module->intrin_count; i++)
        check_registered_implementation(driver->ctx, &module->intrins[i]);
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
