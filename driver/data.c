/* Names of data, and reading what --in gives; see data.h. */
#include "driver/data.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/files.h"
#include "driver/run.h"
#include "support/zip.h"

/* --- Words --- */
bool data_split(Driver *driver, const char *option, const char *word, const char **name, const char **rest)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1])
        return driver_error(driver, "%s takes NAME=FILE, not '%s'", option, word);
    *name = arena_strndup(driver->ctx->arena, word, (size_t)(equals - word));
    *rest = equals + 1;
    return true;
}

DataPlace data_place(Driver *driver, const char *text)
{
    char *path = arena_strndup(driver->ctx->arena, text, strlen(text)), *end = path;
    const char *member = NULL;
    for (; *text; text++) {
        if (*text == ':') {
            member = text + 1;
            break;
        }
        text += *text == '\\' && text[1] == ':';
        *end++ = *text;
    }
    *end = 0;
    return (DataPlace){path, member};
}

/* --- Files --- */
static bool cannot_use(Driver *driver, const char *text, const char *reason)
{
    return driver_error(driver, "cannot use '%s': %s", text, reason);
}

static bool is_called(const ZipMember *member, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(member->name, name, length) && (!member->name[length] || !strcmp(member->name + length, ".npy"));
}

static const ZipMember *find_member(const ZipArchive *archive, const char *name)
{
    for (int i = archive->members.count - 1; i >= 0; i--)
        if (is_called(&archive->members.data[i], name))
            return &archive->members.data[i];
    return NULL;
}

static const char *member_list(Driver *driver, const ZipArchive *archive)
{
    enum { MOST_SHOWN = 10 };
    StrBuf text = {.arena = driver->ctx->arena};
    for (int i = 0; i < archive->members.count && i < MOST_SHOWN; i++) {
        const char *name = archive->members.data[i].name;
        size_t length = strlen(name), ending = length > 4 && !strcmp(name + length - 4, ".npy") ? 4 : 0;
        strbuf_printf(&text, "%s%.*s", i ? ", " : "", (int)(length - ending), name);
    }
    strbuf_add(&text, archive->members.count > MOST_SHOWN ? ", ..." : archive->members.count ? "" : "no arrays");
    return strbuf_text(&text);
}

/* Replaces the text of an archive by that of one of its members; false after a diagnostic. */
static bool open_member(Driver *driver, const char *text, const char *member_name, const char *name, FileText *file)
{
    ZipArchive archive;
    const char *wrong = zip_read(driver->ctx->arena, file->text, file->length, &archive);
    if (wrong)
        return cannot_use(driver, text, wrong);
    const ZipMember *member = find_member(&archive, member_name ? member_name : name);
    if (!member && !member_name && archive.members.count == 1)
        member = &archive.members.data[0];
    if (!member)
        return cannot_use(driver, text, arena_printf(driver->ctx->arena, "the archive has no array '%s'; it holds %s",
                                                     member_name ? member_name : name, member_list(driver, &archive)));
    char *data;
    wrong = zip_unpack(&archive, member, &data);
    if (wrong)
        return cannot_use(driver, text, arena_printf(driver->ctx->arena, "member '%s': %s", member->name, wrong));
    *file = (FileText){arena_copy(driver->ctx->arena, data, member->length + 1), member->length};
    free(data);
    return true;
}

bool data_read(Driver *driver, const char *text, const char *name, NpyArray *array)
{
    DataPlace place = data_place(driver, text);
    FileText file;
    const char *reason;
    if (!file_read(driver->ctx->arena, place.path, &file, &reason))
        return driver_error(driver, "cannot read '%s': %s", place.path, reason);
    driver_say(driver, "read %s (%zu bytes)", place.path, file.length);
    bool archive = zip_begins(file.text, file.length);
    if (!archive && place.member)
        return cannot_use(driver, text, "it is no .npz archive, so it has no members");
    if (archive && !open_member(driver, text, place.member, name, &file))
        return false;
    const char *wrong = npy_read(driver->ctx->arena, file.text, file.length, array);
    return !wrong || cannot_use(driver, text, wrong);
}

/* --- Names --- */
static bool has_name(Driver *driver, const Func *func, const char *name)
{
    return argdata_find_parameter(driver->ctx, func, name) != ARGDATA_UNKNOWN || argdata_has_size(driver->ctx, func, name);
}

/* All names that data of FUNC may have. */
static const char *closest_name(Driver *driver, const Func *func, const char *name)
{
    const Signature *signature = func_signature(driver->ctx, func);
    const char **names = ARENA_ARRAY(driver->ctx->arena, const char *, 2 * func->param_count + signature->dim_count);
    int count = 0;
    for (int i = 0; i < func->param_count; i++) {
        names[count++] = func->params[i].param->name;
        if (func->params[i].buffer)
            names[count++] = func->params[i].buffer->name;
    }
    for (int i = 0; i < signature->dim_count; i++)
        names[count++] = signature->dims[i]->name;
    return diag_closest(name, names, count);
}

static bool unknown_name(Driver *driver, const char *option, const Func *func, const char *name)
{
    const char *near = closest_name(driver, func, name);
    return driver_error(driver, "%s %s: function '%s' has no parameter of that name%s%s%s", option, name, func->name,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool ambiguous_name(Driver *driver, const char *option, const Func *func, const char *name)
{
    return driver_error(driver, "%s %s: several parameters of function '%s' have that name", option, name, func->name);
}

int data_find_buffer(Driver *driver, const char *option, const Func *func, const char *name)
{
    int found = argdata_find_parameter(driver->ctx, func, name);
    if (found >= 0 && func->params[found].buffer)
        return found;
    if (found >= 0)
        driver_error(driver, "%s %s: '%s' is a scalar, not a buffer", option, name, name);
    else if (found == ARGDATA_AMBIGUOUS)
        ambiguous_name(driver, option, func, name);
    else
        unknown_name(driver, option, func, name);
    return -1;
}

/* Both names are of one parameter of a function that would run. */
static bool same_input(Driver *driver, const Module *module, const char *a, const char *b)
{
    bool same = !strcmp(a, b);
    for (int i = 0; i < module->func_count && !same; i++) {
        int parameter = argdata_find_parameter(driver->ctx, module->funcs[i], a);
        same = run_is_wanted(driver, module->funcs[i]) && parameter >= 0 && parameter == argdata_find_parameter(driver->ctx, module->funcs[i], b);
    }
    return same;
}

/* NAME is known to one of the functions that would run, and to none for several parameters. */
static bool check_input(Driver *driver, const Module *module, const char *name)
{
    const Func *wanted = NULL;
    for (int i = 0; i < module->func_count; i++) {
        const Func *func = module->funcs[i];
        if (!run_is_wanted(driver, func))
            continue;
        wanted = func;
        if (argdata_find_parameter(driver->ctx, func, name) == ARGDATA_AMBIGUOUS)
            return ambiguous_name(driver, "--in", func, name);
        if (has_name(driver, func, name))
            return true;
    }
    return !wanted || unknown_name(driver, "--in", wanted, name);
}

bool data_check_names(Driver *driver, const Module *module)
{
    const TextList *inputs = &driver->options.data_in;
    for (int i = 0; i < inputs->count; i++) {
        const char *name, *rest, *earlier;
        if (!data_split(driver, "--in", inputs->data[i], &name, &rest) || !check_input(driver, module, name))
            return false;
        for (int k = 0; k < i; k++)
            if (data_split(driver, "--in", inputs->data[k], &earlier, &rest) && same_input(driver, module, name, earlier))
                return driver_error(driver, "--in %s: its value is given twice", name);
    }
    return true;
}

/* --- Inputs --- */
/* An array without dimensions that holds VALUE, as the text of --in spells it; false where it is no value of TYPE. */
static bool read_scalar(Driver *driver, DType type, const char *text, NpyArray *array)
{
    char *end, *data = arena_alloc(driver->ctx->arena, 8);
    errno = 0;
    if (dtype_is_float(type)) {
        double value = strtod(text, &end);
        interp_write_real(type, data, dtype_round_float(type, value));
    } else if (type.code == DT_BOOL && (!strcmp(text, "True") || !strcmp(text, "False"))) {
        interp_write_integer(type, data, *text == 'T');
        end = "";
    } else {
        bool wide = type.code == DT_UINT && type.bits == 64;
        int64_t value = wide ? (int64_t)strtoull(text, &end, 0) : strtoll(text, &end, 0);
        if (errno || (wide ? strchr(text, '-') != NULL : !dtype_holds(type, value)))
            return false;
        interp_write_integer(type, data, value);
    }
    *array = (NpyArray){npy_stored_type(type), 0, NULL, data};
    return end != text && !*end;
}

/* Adds NAME=TEXT for a scalar parameter or a size of FUNC; false after a diagnostic. */
static bool add_scalar(Driver *driver, const Func *func, const char *name, const char *text, ArgArray *array, ArgSize *size)
{
    int parameter = argdata_find_parameter(driver->ctx, func, name);
    DType type = parameter >= 0 ? func->params[parameter].param->dtype : DTYPE_INT64;
    *array = (ArgArray){.name = name, .from = text};
    if (!read_scalar(driver, type, text, &array->array)) {
        size_t length = strlen(text);
        bool file = strchr(text, ':') || (length > 4 && !strcmp(text + length - 4, ".npy"));
        if (parameter >= 0 && file)
            return data_read(driver, text, name, &array->array);
        return driver_error(driver, "--in %s: '%s' is no value of type %s", name, text, dtype_name(driver->ctx, type));
    }
    if (parameter >= 0)
        return true;
    *size = (ArgSize){.name = name, .value = interp_read_integer(type, array->array.data)};
    return size->value >= 0 || driver_error(driver, "--in %s: a size is not negative", name);
}

bool data_add_inputs(Driver *driver, const Func *func, ArgOptions *options)
{
    Arena *arena = driver->ctx->arena;
    const TextList *inputs = &driver->options.data_in;
    ArgArray *arrays = ARENA_ARRAY(arena, ArgArray, inputs->count);
    ArgSize *sizes = ARENA_ARRAY(arena, ArgSize, options->size_count + inputs->count);
    memcpy(sizes, options->sizes, sizeof *sizes * (size_t)options->size_count);
    for (int i = 0; i < inputs->count; i++) {
        const char *name, *rest;
        if (!data_split(driver, "--in", inputs->data[i], &name, &rest))
            return false;
        if (!has_name(driver, func, name))
            continue;
        int parameter = argdata_find_parameter(driver->ctx, func, name);
        ArgArray *array = &arrays[options->array_count];
        ArgSize size = {0};
        *array = (ArgArray){.name = name, .from = rest};
        if (parameter >= 0 && func->params[parameter].buffer ? !data_read(driver, rest, name, &array->array)
                                                             : !add_scalar(driver, func, name, rest, array, &size))
            return false;
        if (size.name)
            sizes[options->size_count++] = size;
        else
            options->array_count++;
    }
    options->arrays = arrays;
    options->sizes = sizes;
    return true;
}

bool data_finish(Driver *driver, const Func *func, const ArgData *data)
{
    return data_print(driver, func, data) && data_write(driver, func, data) && data_expect(driver, func, data);
}
