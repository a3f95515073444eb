/* Calls of functions of the program against the regions that the blocks around them declare: what a callee certainly touches besides them is a fault,
   for steps rely on what is declared. */
#include "driver/driver.h"
#include "passes/analysis/questions/callees.h"
#include "support/warning.h"

void driver_check_callee_regions(Driver *driver, const Module *module, const Func *func, bool will_run)
{
    FaultList faults = {0};
    func_compare_callees(driver->ctx, module, func, &faults);
    for (int i = 0; i < faults.count; i++)
        diag_error_or_warning(driver->ctx, will_run, WARNING_FAULTS, faults.data[i].span, "%s", faults.data[i].text);
}
