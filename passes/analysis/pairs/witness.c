/* See witness.h. */
#include "passes/analysis/normal/rows.h"
#include "passes/analysis/pairs/witness.h"
#include "print/print.h"

static void add_loops(Context *ctx, Map *loops, const Frame *frame)
{
    for (; frame; frame = frame->outer)
        if (frame->kind == FRAME_LOOP)
            map_set(ctx->arena, loops, frame->var, frame->var);
}

Witness witness_new(Context *ctx, const Func *func, const Frame *a, const Frame *b)
{
    Witness witness = {.text = {.arena = ctx->arena}, .ctx = ctx, .func = func, .complete = !func};
    Map loops = {0};
    add_loops(ctx, &loops, a);
    add_loops(ctx, &loops, b);
    if (func)
        witness.spellings = print_spellings_in(ctx, func, &loops);
    return witness;
}

/* SYMBOL may be defined elsewhere: a buffer over the memory of the one that is accessed. */
static const char *spelling(Witness *witness, const void *symbol, const char *name)
{
    if (!witness->complete && !map_has(&witness->spellings, symbol)) {
        witness->spellings = print_spellings(witness->ctx, witness->func);
        witness->complete = true;
    }
    const char *text = map_get(&witness->spellings, symbol);
    return text ? text : name;
}

/* "2 * m + 1": the index in dimension DIM of the buffer that has ROWS; INDICES are its digits. */
static void add_digits(Witness *witness, const AccessRows *rows, int dim, const int64_t *indices)
{
    int last = rows->strides[dim].count;
    const char *separator = "";
    for (int i = 0; i < last; i++) {
        if (!indices[i])
            continue;
        const Expr *stride = rows_stride(witness->ctx, rows, dim, i, DTYPE_INT64);
        strbuf_printf(&witness->text, stride->kind == EXPR_VAR ? "%s%lld * %s" : "%s%lld * (%s)", separator, (long long)indices[i],
                      print_expr(witness->ctx, stride));
        separator = " + ";
    }
    if (indices[last] || !*separator)
        strbuf_printf(&witness->text, "%s%lld", separator, (long long)indices[last]);
}

static void add_element(Witness *witness, const Buffer *buffer, const int64_t *indices)
{
    strbuf_printf(&witness->text, "%s[%s", spelling(witness, buffer, buffer->name), buffer->ndim ? "" : "()");
    for (int i = 0; i < buffer->ndim; i++)
        strbuf_printf(&witness->text, "%s%lld", i ? ", " : "", (long long)indices[i]);
    strbuf_add(&witness->text, "]");
}

void witness_add_accessed(Witness *witness, const Access *access, const int64_t *indices)
{
    const AccessRows *rows = access->rows;
    if (!rows) {
        add_element(witness, access->buffer, indices);
        return;
    }
    strbuf_printf(&witness->text, "%s[", spelling(witness, rows->flat, rows->flat->name));
    for (int d = 0; d < rows->flat->ndim; d++) {
        strbuf_add(&witness->text, d ? ", " : "");
        add_digits(witness, rows, d, indices);
        indices += rows->strides[d].count + 1;
    }
    strbuf_add(&witness->text, "]");
}

void witness_add_iteration(Witness *witness, const Frame *const *loops, int count, const int64_t *values)
{
    for (int i = 0; i < count; i++)
        strbuf_printf(&witness->text, "%s%s = %lld", i ? ", " : "", spelling(witness, loops[i]->var, loops[i]->var->name),
                      (long long)values[i]);
}

const char *values_text(Context *ctx, Var *const *vars, int count, int kept, isl_set *set, const Map *sizes)
{
    AffineSpace space = affine_of_set(ctx, set, sizes);
    int64_t *values = ARENA_ARRAY(ctx->arena, int64_t, kept + count);
    const char *params;
    StrBuf text = {.arena = ctx->arena};
    bool found = affine_sample(&space, values, &params);
    for (int i = 0; found && i < count; i++)
        strbuf_printf(&text, "%s%s = %lld", i ? ", " : "", vars[i]->name, (long long)values[kept + i]);
    if (found && *params)
        strbuf_printf(&text, "%s(with %s)", count ? " " : "", params);
    affine_free(&space);
    return found ? strbuf_text(&text) : NULL;
}
