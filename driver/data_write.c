/* --out: results as .npy files and as members of .npz archives; see data.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "driver/data.h"
#include "driver/files.h"
#include "support/zip.h"

typedef struct {
    const char *path, *member; /* MEMBER: a file name inside an archive, or NULL for a .npy file */
    const char *word;
    StrBuf npy;
} Result;

static bool has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    return length >= size && !strcmp(path + length - size, ending);
}

/* What the word NAME=PATH[:MEMBER] wants; without MEMBER an archive's is NAME. False after a diagnostic. */
static bool make_result(Driver *driver, const Func *func, const ArgData *data, const char *word, Result *result)
{
    const char *name, *rest;
    if (!data_split(driver, "--out", word, &name, &rest))
        return false;
    int parameter = data_find_buffer(driver, "--out", func, name);
    if (parameter < 0)
        return false;
    DataPlace place = data_place(driver, rest);
    const char *member = place.member || !has_ending(place.path, ".npz") ? place.member : name;
    if (member && !*member)
        return driver_error(driver, "--out %s: the member has no name", word);
    if (member && !has_ending(member, ".npy"))
        member = arena_printf(driver->ctx->arena, "%s.npy", member);
    *result = (Result){.path = place.path, .member = member, .word = word, .npy = {.arena = driver->ctx->arena}};
    NpyArray array = argdata_array(data, parameter);
    npy_write(&result->npy, &array);
    return true;
}

static bool is_new_member(const Result *results, int count, const char *path, const char *name)
{
    for (int i = 0; i < count; i++)
        if (results[i].member && !strcmp(results[i].path, path) && !strcmp(results[i].member, name))
            return true;
    return false;
}

/* Adds the members of the archive that PATH is already, but for those that are written anew; false after a diagnostic. */
static bool keep_members(Driver *driver, const Result *results, int count, const char *path, ZipWriter *writer)
{
    FileText file;
    ZipArchive archive;
    const char *reason;
    if (!strcmp(path, "-") || access(path, F_OK))
        return true;
    if (!file_read(driver->ctx->arena, path, &file, &reason))
        return driver_error(driver, "cannot read '%s': %s", path, reason);
    const char *wrong = zip_begins(file.text, file.length) ? zip_read(driver->ctx->arena, file.text, file.length, &archive)
                                                           : "it is there and is no archive";
    for (int i = 0; !wrong && i < archive.members.count; i++)
        if (!is_new_member(results, count, path, archive.members.data[i].name))
            wrong = zip_add_packed(writer, &archive, &archive.members.data[i]);
    return !wrong || driver_error(driver, "cannot write arrays into '%s': %s", path, wrong);
}

static bool make_archive(Driver *driver, const Result *results, int count, const char *path, ZipWriter *writer)
{
    *writer = zip_writer(driver->ctx->arena);
    if (!keep_members(driver, results, count, path, writer))
        return false;
    for (int i = 0; i < count; i++)
        if (results[i].member && !strcmp(results[i].path, path))
            zip_add(writer, results[i].member, results[i].npy.text, results[i].npy.length);
    return zip_finish(writer) || driver_error(driver, "cannot write arrays into '%s': it becomes larger than 4 GiB", path);
}

/* The place in RESULTS of the first one that goes to the same file. */
static int first_of_file(const Result *results, int index)
{
    int first = 0;
    while (strcmp(results[first].path, results[index].path))
        first++;
    return first;
}

static bool check_distinct(Driver *driver, const Result *results, int index)
{
    for (int k = 0; k < index; k++) {
        bool one_path = !strcmp(results[k].path, results[index].path);
        bool both_members = results[k].member && results[index].member;
        if (one_path && (!both_members || !strcmp(results[k].member, results[index].member)))
            return driver_error(driver, "--out %s and --out %s go to one place", results[k].word, results[index].word);
    }
    return true;
}

/* Opens the output of each file once. */
static bool open_files(Driver *driver, const Result *results, int count, OutputFile *files, int *file_count)
{
    for (int i = 0; i < count; i++) {
        const char *reason, *data = results[i].npy.text;
        size_t length = results[i].npy.length;
        ZipWriter writer;
        if (!check_distinct(driver, results, i))
            return false;
        if (first_of_file(results, i) < i)
            continue;
        if (results[i].member) {
            if (!make_archive(driver, results, count, results[i].path, &writer))
                return false;
            data = writer.bytes.text;
            length = writer.bytes.length;
        }
        if (!output_open(driver->ctx->arena, results[i].path, data, length, &files[*file_count], &reason))
            return driver_error(driver, "cannot write '%s': %s", results[i].path, reason);
        for (int k = 0; k < *file_count; k++)
            if (output_same(&files[k], &files[*file_count]))
                return driver_error(driver, "--out: '%s' and '%s' are one file", files[k].path, results[i].path);
        ++*file_count;
    }
    return true;
}

bool data_write(Driver *driver, const Func *func, const ArgData *data)
{
    const TextList *words = &driver->options.data_out;
    Result *results = ARENA_ARRAY(driver->ctx->arena, Result, words->count);
    OutputFile *files = ARENA_ARRAY(driver->ctx->arena, OutputFile, words->count);
    int file_count = 0;
    for (int i = 0; i < words->count; i++)
        if (!make_result(driver, func, data, words->data[i], &results[i]))
            return false;
    if (!open_files(driver, results, words->count, files, &file_count))
        return false;
    const OutputFile *failed;
    const char *reason;
    fflush(driver->out);
    if (file_count && !outputs_write(driver->ctx->arena, files, file_count, &failed, &reason))
        return driver_error(driver, "cannot write '%s': %s", failed->path, reason);
    for (int i = 0; i < file_count; i++)
        driver_say(driver, "wrote %s (%zu bytes)", files[i].path, files[i].length);
    return true;
}
