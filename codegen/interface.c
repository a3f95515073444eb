/* What an object's interface cannot have: names that an assembler, a linker or a C header cannot hold, two functions of one name, parameters
   that C has no type for. */
#include <ctype.h>
#include <string.h>

#include "codegen/backend.h"
#include "ir/signature.h"
#include "support/warning.h"

static bool refuse_symbol(Context *ctx, const Func *func, const char *symbol, const char *reason)
{
    diag_error(ctx, func->name_span.file ? func->name_span : func->span, "%s cannot be exported as '%s': %s", func->name, symbol, reason);
    return false;
}

/* Letters, digits and _ . $ - are what every assembler takes, and what ends neither a comment nor a string of C. */
static bool check_characters(Context *ctx, const Func *func, const char *symbol)
{
    static const char entry[] = ".tirc_entry";
    if (!*symbol)
        return refuse_symbol(ctx, func, symbol, "global_symbol is empty");
    for (const char *c = symbol; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.$-", *c))
            return refuse_symbol(ctx, func, symbol, "a symbol holds letters, digits and the characters _ . $ - only");
    if (!strncmp(symbol, "llvm.", 5))
        return refuse_symbol(ctx, func, symbol, "names that begin with 'llvm.' are LLVM's own");
    size_t length = strlen(symbol);
    if (length >= sizeof entry - 1 && !strcmp(symbol + length - (sizeof entry - 1), entry))
        return refuse_symbol(ctx, func, symbol, "names that end in '.tirc_entry' are tirc's own");
    return true;
}

static bool check_params(Context *ctx, const Func *func)
{
    bool ok = true;
    for (int i = 0; i < func->param_count; i++) {
        const Var *param = func->params[i].param;
        if (func->params[i].buffer || param->dtype.lanes == 1)
            continue;
        diag_error(ctx, param->span.file ? param->span : func->name_span, "parameter '%s' of %s is a vector (%s), which C functions cannot take",
                   param->name, func->name, dtype_name(ctx, param->dtype));
        diag_note(ctx, span_none(), "a buffer of %d elements holds the same", param->dtype.lanes);
        ok = false;
    }
    return ok;
}

bool interface_check(Context *ctx, const Module *module)
{
    Map symbols = {0};
    bool ok = true;
    for (int i = 0; i < module->func_count; i++) {
        const Func *func = module->funcs[i];
        Str symbol = context_intern(ctx, func_signature(ctx, func)->symbol);
        if (func->is_private)
            continue;
        ok = check_characters(ctx, func, symbol) && check_params(ctx, func) && ok;
        const Func *other = map_get(&symbols, symbol);
        if (other) {
            diag_error(ctx, func->name_span, "there are two definitions of '%s'", symbol);
            diag_note(ctx, other->name_span, "the other one is here");
            ok = false;
        }
        map_set(ctx->arena, &symbols, symbol, (void *)func);
    }
    return ok;
}

void interface_warn(Context *ctx, const Module *module)
{
    for (int i = 0; i < module->func_count; i++) {
        const Func *func = module->funcs[i];
        const char *symbol = func_signature(ctx, func)->symbol;
        if (!func->is_private && strcmp(func->name, "main") && !strcmp(symbol, context_internf(ctx, "tir_%s", func->name)))
            diag_warning(ctx, WARNING_RENAMED_SYMBOL, func->name_span.file ? func->name_span : func->span,
                         "'%s' is exported as '%s': C or the runtime owns the name '%s'", func->name, symbol, func->name);
    }
}
