/* What the tests of the reference interpreter share: running a program text on given or random arguments and looking at what was found. */
#ifndef TIRC_TESTS_TEST_INTERP_H
#define TIRC_TESTS_TEST_INTERP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interp/argdata.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "support/strbuf.h"

/* A program with its arguments; ended by ran_free. */
typedef struct {
    Context *ctx;
    const Func *func;
    ArgData *data;
    InterpOptions options;
    InterpResult result;
} Ran;

/* Everything diagnosed so far, "error: ..." and "note: ..." line by line. */
static inline const char *ran_messages(const Ran *ran)
{
    static const char *const names[] = {"error", "warning", "note"};
    StrBuf text = {.arena = ran->ctx->arena};
    for (int i = 0; i < ran->ctx->diagnostics.count; i++)
        strbuf_printf(&text, "%s: %s\n", names[ran->ctx->diagnostics.data[i].severity], ran->ctx->diagnostics.data[i].text);
    return strbuf_text(&text);
}

/* Parses TEXT, given the lines of a module without decorators' imports, and makes arguments for its function "main" (or the only one). */
static inline Ran ran_prepare(const char *text, uint64_t seed, const ArgSize *sizes, int size_count)
{
    Ran ran = {.ctx = context_new()};
    const Module *module = complete_module(ran.ctx, parse_module_text(ran.ctx, "test.tir", text, strlen(text)));
    if (!module) {
        diag_flush(ran.ctx, stderr, false);
        fail_msg("the program does not parse");
    }
    ran.func = module_find(module, "main");
    if (!ran.func)
        ran.func = module->funcs[0];
    ArgOptions options = {.seed = seed, .sizes = sizes, .size_count = size_count};
    ran.data = argdata_new(ran.ctx, ran.func, &options);
    assert_non_null(ran.data);
    ran.options.checks = true;
    return ran;
}

static inline void ran_run(Ran *ran)
{
    interp_run(ran->ctx, ran->func, argdata_interp_args(ran->data), &ran->options, &ran->result);
    assert_null(argdata_damaged(ran->data));
}

static inline Ran run_text(const char *text)
{
    Ran ran = ran_prepare(text, 1, NULL, 0);
    ran_run(&ran);
    return ran;
}

/* The memory of parameter NAME. */
static inline void *ran_data(const Ran *ran, const char *name)
{
    for (int i = 0; i < ran->func->param_count; i++)
        if (ran->func->params[i].buffer && !strcmp(ran->func->params[i].buffer->name, name))
            return ran->data->items[i].arg.data;
    fail_msg("no parameter %s", name);
    return NULL;
}

static inline void ran_free(Ran *ran)
{
    argdata_free(ran->data);
    context_free(ran->ctx);
}

static inline void assert_no_findings(const Ran *ran)
{
    if (ran->result.finding_count || !ran->result.completed)
        fail_msg("unexpected findings:\n%s", ran_messages(ran));
}

/* Exactly one finding, of KIND, whose diagnostics contain each line of EXPECTED. */
static inline void assert_finding(const Ran *ran, InterpFinding kind, const char *expected)
{
    const char *messages = ran_messages(ran);
    if (ran->result.finding_count != 1 || ran->result.kinds != 1u << kind || !strstr(messages, expected))
        fail_msg("expected one finding of kind %d with \"%s\", got:\n%s", kind, expected, messages);
}

/* A program that is fine with one token and has one finding with another: TEMPLATE holds one %s. */
static inline void assert_pair(const char *template, const char *fine, const char *wrong, InterpFinding kind, const char *expected)
{
    char text[8192];
    snprintf(text, sizeof text, template, fine);
    Ran good = run_text(text);
    assert_no_findings(&good);
    ran_free(&good);
    snprintf(text, sizeof text, template, wrong);
    Ran bad = run_text(text);
    assert_finding(&bad, kind, expected);
    ran_free(&bad);
}

#endif
