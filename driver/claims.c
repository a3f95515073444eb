/* What a program says is checked before anything is made of it. Axis kinds are claims: one that is certainly false is a warning where the
   program is only shown or interpreted, and an error where it is compiled; so is an access that is certainly out of bounds or undeclared,
   but a schedule that acts on it makes that an error too. */
#include "driver/driver.h"
#include "ir/walk.h"
#include "passes/analysis/dependence.h"
#include "passes/analysis/faults.h"
#include "support/warning.h"

typedef struct {
    Driver *driver;
    ClaimSet claims; /* of the function */
    bool compiles; /* the program becomes machine code */
} ClaimWalk;

static bool check_block(Visitor *visitor, const Stmt *stmt)
{
    ClaimWalk *walk = visitor->data;
    Context *ctx = walk->driver->ctx;
    Conflict conflict;
    if (stmt->kind == STMT_BLOCK && stmt->as.block.iter_count && dependence_check_claims(&walk->claims, stmt, &conflict) == CLAIM_REFUTED)
        diag_error_or_warning(ctx, walk->compiles, WARNING_AXIS_CLAIMS, stmt->span,
                              "the axes of block '%s' claim more than holds: instances that differ in them depend "
                              "on each other, since %s; T.axis.scan and T.axis.opaque claim nothing",
                              stmt->as.block.block->name, conflict.text);
    return true;
}

static void check_faults(Driver *driver, const Func *func, bool are_errors)
{
    FaultList faults = faults_collect(driver->ctx, func);
    for (int i = 0; i < faults.count; i++)
        diag_error_or_warning(driver->ctx, are_errors, WARNING_FAULTS, faults.data[i].span, "%s", faults.data[i].text);
}

bool driver_check_claims(Driver *driver, const Module *module, bool compiles)
{
    ClaimWalk walk = {.driver = driver, .compiles = compiles};
    for (int i = 0; i < module->func_count; i++) {
        if (compiles || !driver->options.interpret) /* the interpreter says more of what it finds */
            check_faults(driver, module->funcs[i], compiles || driver->options.schedules.count);
        walk.claims = dependence_collect_claims(driver->ctx, module->funcs[i]);
        Visitor visitor = {.stmt = check_block, .data = &walk};
        visit_stmt(&visitor, module->funcs[i]->body);
    }
    return !diag_error_count(driver->ctx);
}
