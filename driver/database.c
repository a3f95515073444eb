/* -s DIRECTORY: the best tuning records of a database of TVM's, as a schedule script; see script/database.h. */
#include "script/database.h"

#include <string.h>
#include <sys/stat.h>

#include "driver/driver.h"
#include "driver/files.h"

static bool read_part(Driver *driver, const char *directory, const char *name, DatabaseFile *part)
{
    FileText file;
    const char *reason;
    part->name = arena_printf(driver->ctx->base_arena, "%s/%s", directory, name);
    if (!file_read(driver->ctx->base_arena, part->name, &file, &reason))
        return driver_error(driver, "cannot read '%s' of the database '%s': %s", part->name, directory, reason);
    driver_add_file(driver, part->name);
    part->text = file.text;
    part->length = file.length;
    return true;
}

bool driver_is_database(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISDIR(status.st_mode);
}

bool driver_database_script(Driver *driver, const tirc_program *program, const char *directory, tirc_text *text)
{
    DatabaseFile workloads, records;
    if (!read_part(driver, directory, "database_workload.json", &workloads) ||
        !read_part(driver, directory, "database_tuning_record.json", &records))
        return false;
    const char *script = script_of_database(driver->ctx, program->module, workloads, records, &text->name);
    if (!script)
        return false;
    text->text = script;
    text->length = strlen(script);
    return true;
}
