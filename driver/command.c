/* The tirc command: reads the command line, runs the pipeline, prints what was said, and closes the output. */
#include <string.h>

#include "driver/driver.h"
#include "driver/reference.h"
#include "support/bug.h"
#include "support/strbuf.h"

static void print_times(Driver *driver)
{
    StrBuf table = {.arena = driver->ctx->arena};
    double total = 0;
    for (int i = 0; i < driver->times.count; i++)
        total += driver->times.data[i].seconds;
    strbuf_printf(&table, "%10s  %6s  phase\n", "ms", "share");
    for (int i = 0; i < driver->times.count; i++)
        strbuf_printf(&table, "%10.3f  %5.1f%%  %s\n", driver->times.data[i].seconds * 1e3,
                      100 * driver->times.data[i].seconds / (total > 0 ? total : 1), driver->times.data[i].name);
    strbuf_printf(&table, "%10.3f  100.0%%  total\n", total * 1e3);
    if (driver->options.json)
        diag_say(driver->ctx, driver->err, strbuf_text(&table));
    else
        fputs(strbuf_text(&table), driver->err);
}

static void flush_diagnostics(Driver *driver)
{
    ColorMode color = driver->options.color;
    diag_flush(driver->ctx, driver->err, color == COLOR_ALWAYS || (color == COLOR_AUTO && driver_uses_color(driver->err)));
}

/* Closing standard output tells of a full disk that buffered writes did not. */
static int finish(Driver *driver, int code)
{
    flush_diagnostics(driver);
    if ((fflush(driver->out) || ferror(driver->out)) && code == EXIT_OK) {
        driver_error(driver, "cannot write to standard output");
        flush_diagnostics(driver);
        code = EXIT_DIAGNOSED;
    }
    return code;
}

static int print_help(Driver *driver)
{
    const char *topic = driver->options.help, *name = strchr(topic, '=');
    if (!topic[0])
        options_help(driver->out);
    return !topic[0] || reference_print(driver->ctx, driver->out, name ? name + 1 : NULL) ? EXIT_OK : EXIT_USAGE;
}

int driver_main(int argc, char **argv, FILE *out, FILE *err)
{
    Driver *driver = tirc_context_new();
    const Options *options = &driver->options;
    driver->out = out;
    driver->err = err;
    int code = EXIT_OK;
    bool good = options_parse(driver->ctx, driver->options_arena, (const char *const *)argv + 1, argc - 1, &driver->options);
    driver_use_options(driver);
    if (!good || !options_consistent(driver->ctx, options))
        code = EXIT_USAGE;
    else if (options->help)
        code = print_help(driver);
    else if (options->version)
        fprintf(out, "tirc %s\n", TIRC_VERSION);
    else
        code = driver_run(driver);
    code = finish(driver, code);
    if (options->time_report && code != EXIT_USAGE)
        print_times(driver);
    tirc_context_free(driver);
    return code;
}
