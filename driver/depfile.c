/* See depfile.h. Paths are written so that GNU make reads them as they are:

     my file#1.tir    my\ file\#1.tir      make's own characters have a backslash in front
     a$b.tir          a$$b.tir
     a=b.tir          a$(subst e,=,e)b.tir     nothing quotes these: only what a function gives is no longer looked at

   A path with a line break cannot be written, nor one that ends in a blank. */
#include "driver/depfile.h"

#include <string.h>

#include "support/strbuf.h"

/* A target with % would be a pattern; a prerequisite with | begins those whose age does not count. */
static const char quoted_in_targets[] = " #:*?[%", quoted_in_prerequisites[] = " #:*?[|";

/* COUNT backslashes: make takes them for themselves but in front of what they quote (REST begins with it) and at the end. */
static void add_backslashes(StrBuf *text, size_t count, const char *rest, const char *quoted, bool is_target)
{
    bool at_end = !*rest, doubled = at_end ? is_target : strchr(quoted, *rest) != NULL;
    for (size_t i = 0; i < count; i++)
        strbuf_add(text, doubled ? "\\\\" : at_end ? "$(subst e,\\,e)" : "\\");
}

static void add_path(StrBuf *text, const char *path, bool is_target)
{
    const char *quoted = is_target ? quoted_in_targets : quoted_in_prerequisites;
    for (const char *c = path; *c; c++) {
        size_t backslashes = strspn(c, "\\");
        c += backslashes;
        add_backslashes(text, backslashes, c, quoted, is_target);
        if (!*c)
            return;
        if (*c == '=' || *c == '&')
            strbuf_printf(text, "$(subst e,%c,e)", *c);
        else if (*c == ';' || *c == '\t')
            strbuf_printf(text, "$(subst e,\\%c,e)", *c);
        else
            strbuf_printf(text, "%s%c", strchr(quoted, *c) ? "\\" : *c == '$' ? "$" : "", *c);
    }
}

const char *depfile_text(Arena *arena, const char *target, bool is_text, const TextList *files, bool phony)
{
    StrBuf text = {.arena = arena};
    if (is_text)
        strbuf_add(&text, target);
    else
        add_path(&text, target, true);
    strbuf_add(&text, ":");
    for (int i = 0; i < files->count; i++) {
        strbuf_add(&text, " ");
        add_path(&text, files->data[i], false);
    }
    strbuf_add(&text, "\n");
    for (int i = 0; phony && i < files->count; i++) {
        strbuf_add(&text, "\n");
        add_path(&text, files->data[i], true);
        strbuf_add(&text, ":\n");
    }
    return strbuf_text(&text);
}
