/* Axis kinds are claims: what a program says of its blocks by T.axis.spatial and T.axis.reduce is checked before anything relies on it. */
#include "driver/driver.h"
#include "ir/walk.h"
#include "passes/analysis/dependence.h"

typedef struct {
    Driver *driver;
    const Func *func;
} ClaimWalk;

static bool check_block(Visitor *visitor, const Stmt *stmt)
{
    ClaimWalk *walk = visitor->data;
    Context *ctx = walk->driver->ctx;
    Conflict conflict;
    if (stmt->kind == STMT_BLOCK && stmt->as.block.iter_count && dependence_check_claims(ctx, walk->func, stmt, &conflict) == CLAIM_REFUTED)
        diag_warning(ctx, stmt->span, "the axes of block '%s' claim more than holds: instances that differ in them depend on each other, since %s; T.axis.scan and T.axis.opaque claim nothing",
                     stmt->as.block.block->name, conflict.text);
    return true;
}

bool driver_check_claims(Driver *driver, const Module *module)
{
    ClaimWalk walk = {.driver = driver};
    for (int i = 0; i < module->func_count; i++) {
        walk.func = module->funcs[i];
        Visitor visitor = {.stmt = check_block, .data = &walk};
        visit_stmt(&visitor, walk.func->body);
    }
    return !diag_error_count(driver->ctx);
}
