/* The C header of a module: one prototype for each exported function, with a comment that says what its arguments are.

   Names of parameters are adapted to C and C++ (keywords, types, macros, characters that identifiers cannot have, repetitions); a function
   whose exported name is no C identifier is described in a comment only. */
#include <ctype.h>
#include <string.h>

#include "codegen/backend.h"
#include "ir/c_names.h"
#include "print/print.h"
#include "ir/signature.h"
#include "support/strbuf.h"

enum { LINE_LIMIT = 100 };

/* --- Names --- */

static bool is_identifier(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return !isdigit((unsigned char)*name);
}

/* What a function's prototype and comment are written from. */
typedef struct {
    Context *ctx;
    const Func *func;
    const Signature *signature;
    StrBuf *out;
    Map names; /* const Var * -> const char *: how C calls it */
    Map taken; /* interned names in use */
} FuncHeader;

/* NAME made a C identifier that no other parameter has. */
static const char *c_name(FuncHeader *header, const char *name)
{
    Context *ctx = header->ctx;
    Str clean = c_identifier(ctx, name);
    Str candidate = !c_owns_parameter_name(clean) ? clean : context_internf(ctx, *clean == '_' ? "arg%s" : "%s_", clean);
    for (int i = 1; map_has(&header->taken, candidate); i++)
        candidate = context_internf(ctx, "%s_%d", clean, i);
    map_set(ctx->arena, &header->taken, candidate, (void *)candidate);
    return candidate;
}

static void choose_names(FuncHeader *header)
{
    for (int i = 0; i < header->func->param_count; i++) {
        const Param *param = &header->func->params[i];
        const char *name = c_name(header, param->buffer ? param->buffer->name : param->param->name);
        map_set(header->ctx->arena, &header->names, param->param, (void *)name);
    }
    for (int i = 0; i < header->signature->dim_count; i++)
        map_set(header->ctx->arena, &header->names, header->signature->dims[i], (void *)c_name(header, header->signature->dims[i]->name));
}

/* --- Types --- */

static const char *c_type(Context *ctx, DType dtype)
{
    if (dtype.code == DT_HANDLE)
        return "void *";
    if (dtype.code == DT_BOOL)
        return "uint8_t";
    if (dtype_is_integer(dtype))
        return context_internf(ctx, "%sint%d_t", dtype.code == DT_UINT ? "u" : "", dtype.bits);
    return dtype.bits <= 8 ? "uint8_t" : dtype.bits == 16 ? "uint16_t" : dtype.bits == 32 ? "float" : "double";
}

static const char *param_text(FuncHeader *header, int index)
{
    const Param *param = &header->func->params[index];
    const char *name = map_get(&header->names, param->param);
    if (!param->buffer) {
        const char *type = c_type(header->ctx, param->param->dtype);
        return context_internf(header->ctx, "%s%s%s", type, type[strlen(type) - 1] == '*' ? "" : " ", name);
    }
    const char *type = c_type(header->ctx, dtype_scalar(param->buffer->dtype));
    return context_internf(header->ctx, "%s%s *TIRC_RESTRICT %s", header->signature->written[index] ? "" : "const ", type, name);
}

static const char *argument_text(FuncHeader *header, int index)
{
    int params = header->func->param_count;
    if (index < params)
        return param_text(header, index);
    return context_internf(header->ctx, "int64_t %s", (const char *)map_get(&header->names, header->signature->dims[index - params]));
}

static void add_prototype(FuncHeader *header)
{
    int count = header->func->param_count + header->signature->dim_count;
    size_t length = strlen(header->signature->symbol) + sizeof "int ();";
    for (int i = 0; i < count; i++)
        length += strlen(argument_text(header, i)) + sizeof ", " - 1;
    const char *separator = length > LINE_LIMIT ? ",\n    " : ", ";
    strbuf_printf(header->out, "int %s(%s", header->signature->symbol, length > LINE_LIMIT ? "\n    " : "");
    for (int i = 0; i < count; i++)
        strbuf_printf(header->out, "%s%s", i ? separator : "", argument_text(header, i));
    strbuf_printf(header->out, "%s);\n", count ? "" : "void");
}

/* --- Comments --- */

static const char *operand_text(FuncHeader *header, const Expr *operand);

/* TEXT without what would end a comment or begin another. */
static const char *comment_text(Context *ctx, const char *text)
{
    char *clean = arena_strndup(ctx->arena, text, strlen(text));
    for (char *c = clean; *c; c++)
        if ((c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*') || (unsigned char)*c < ' ')
            *c = '_';
    return clean;
}

/* DIM in the spelling of C and under C's names; sizes are never negative, so that C's division is the one meant. What C has no simple
   spelling for is printed as in the program. */
static const char *dim_text(FuncHeader *header, const Expr *dim)
{
    static const struct {
        ExprKind kind;
        const char *op;
    } operators[] = {{EXPR_ADD, "+"}, {EXPR_SUB, "-"}, {EXPR_MUL, "*"}, {EXPR_FLOORDIV, "/"}, {EXPR_FLOORMOD, "%"}, {EXPR_DIV, "/"}};
    int64_t value;
    if (expr_const_int(dim, &value))
        return context_internf(header->ctx, "%lld", (long long)value);
    if (dim->kind == EXPR_VAR && map_has(&header->names, dim->value.var))
        return map_get(&header->names, dim->value.var);
    if (dim->kind == EXPR_CAST && dtype_is_integer(dim->dtype))
        return dim_text(header, dim->args[0]);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (dim->kind == operators[i].kind)
            return context_internf(header->ctx, "%s %s %s", operand_text(header, dim->args[0]), operators[i].op,
                                   operand_text(header, dim->args[1]));
    return comment_text(header->ctx, print_expr(header->ctx, dim));
}

static const char *operand_text(FuncHeader *header, const Expr *operand)
{
    const char *text = dim_text(header, operand);
    return strchr(text, ' ') ? context_internf(header->ctx, "(%s)", text) : text;
}

static void add_dims(FuncHeader *header, const Expr *const *dims, int count)
{
    for (int i = 0; i < count; i++)
        strbuf_printf(header->out, "[%s]", dim_text(header, dims[i]));
}

static const char *usage_text(const Signature *signature, int index)
{
    if (signature->written[index])
        return signature->read[index] ? "read and written" : "written";
    return signature->read[index] ? "read" : "not used";
}

/* How the caller lays the elements out, where a schedule has changed that. */
static void describe_layout(FuncHeader *header, const ParamLayout *layout)
{
    if (!layout)
        return;
    describe_layout(header, layout->earlier);
    StrBuf *out = header->out;
    strbuf_printf(out, "       a step of the schedule took element [");
    for (int i = 0; i < layout->map.input_count; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "", layout->map.inputs[i]->name);
    strbuf_add(out, "] to [");
    for (int i = 0; i < layout->map.output_count; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "", comment_text(header->ctx, print_expr(header->ctx, layout->map.outputs[i])));
    strbuf_add(out, "]");
    if (layout->pad_value && !layout->pad_vars)
        strbuf_printf(out, "; other places hold %s", comment_text(header->ctx, print_expr(header->ctx, layout->pad_value)));
    strbuf_add(out, "\n");
}

static void describe_buffer(FuncHeader *header, int index)
{
    const Param *param = &header->func->params[index];
    const Buffer *buffer = param->buffer;
    StrBuf *out = header->out;
    strbuf_printf(out, "     %s: %s", (const char *)map_get(&header->names, param->param), dtype_name(header->ctx, buffer->dtype));
    add_dims(header, buffer->shape, buffer->ndim);
    strbuf_printf(out, ", %s", usage_text(header->signature, index));
    if (buffer->strides) {
        strbuf_add(out, ", strides in elements ");
        add_dims(header, buffer->strides, buffer->ndim);
    }
    if (!expr_is_int(buffer->elem_offset, 0) && !is_unnamed_offset(buffer))
        strbuf_printf(out, ", first element at index %s", dim_text(header, buffer->elem_offset));
    if (buffer->data_alignment)
        strbuf_printf(out, ", aligned to %d bytes", buffer->data_alignment);
    strbuf_add(out, "\n");
    describe_layout(header, param->layout);
}

static void describe_scalar(FuncHeader *header, int index)
{
    const Var *param = header->func->params[index].param;
    strbuf_printf(header->out, "     %s: %s\n", (const char *)map_get(&header->names, param), dtype_name(header->ctx, param->dtype));
}

static void describe_dim(FuncHeader *header, int index)
{
    const Var *dim = header->signature->dims[index];
    const Param *owner = &header->func->params[header->signature->dim_params[index]];
    const char *range =
        dim->dtype.bits < 64 ? context_internf(header->ctx, ", in the range of %s", dtype_name(header->ctx, dim->dtype)) : "";
    strbuf_printf(header->out, "     %s: from the declaration of %s%s\n", (const char *)map_get(&header->names, dim),
                  (const char *)map_get(&header->names, owner->param), range);
}

static void add_comment(FuncHeader *header)
{
    strbuf_printf(header->out, "\n/* %s\n", header->signature->symbol);
    for (int i = 0; i < header->func->param_count; i++)
        if (header->func->params[i].buffer)
            describe_buffer(header, i);
        else
            describe_scalar(header, i);
    for (int i = 0; i < header->signature->dim_count; i++)
        describe_dim(header, i);
    strbuf_printf(header->out, "   Returns %s, or another code with a message in tirc_last_error(). */\n",
                  header->func->return_type.code == DT_VOID ? "0" : "its result");
}

/* The signature of FUNC. A schedule keeps what a function computes, so what does not matter in SOURCE (may be NULL) does not matter
   here. */
static const Signature *header_signature(Context *ctx, const Func *func, const Func *source)
{
    const Signature *signature = func_signature(ctx, func);
    const Signature *before =
        source && source != func && source->param_count == func->param_count ? func_signature(ctx, source) : signature;
    for (int i = 0; i < func->param_count; i++)
        signature->read[i] &= before->read[i];
    return signature;
}

static void add_func(FuncHeader *header)
{
    add_comment(header);
    if (is_identifier(header->signature->symbol))
        add_prototype(header);
    else
        strbuf_printf(header->out, "/* C has no way to name the symbol %s. */\n", header->signature->symbol);
}

/* --- The file --- */

typedef VEC(FuncHeader) FuncHeaderList;

/* The exported functions of MODULE. */
static FuncHeaderList list_headers(Context *ctx, StrBuf *out, const Module *module, const Module *source)
{
    FuncHeaderList headers = {0};
    for (int i = 0; i < module->func_count; i++) {
        const Func *func = module->funcs[i], *before = source ? module_find(source, func->name) : NULL;
        if (func->is_private)
            continue;
        FuncHeader header = {.ctx = ctx, .func = func, .signature = header_signature(ctx, func, before), .out = out};
        choose_names(&header);
        vec_push(ctx->arena, &headers, header);
    }
    return headers;
}

static bool is_used(const FuncHeaderList *headers, Str name)
{
    for (int i = 0; i < headers->count; i++)
        if (!strcmp(headers->data[i].signature->symbol, name) || map_has(&headers->data[i].taken, name))
            return true;
    return false;
}

/* "out/my-kernel.h" -> "MY_KERNEL_H", which no function or parameter is called. */
static const char *include_guard(Context *ctx, const FuncHeaderList *headers, const char *header_name)
{
    const char *base = header_name && strcmp(header_name, "-") ? header_name : "tirc_module.h";
    const char *slash = strrchr(base, '/');
    base = slash ? slash + 1 : base;
    char *text = arena_printf(ctx->arena, "%s%s", isalpha((unsigned char)*base) ? "" : "TIRC_", base);
    for (char *c = text; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    Str guard = context_intern(ctx, text);
    while (is_used(headers, guard) || c_owns_parameter_name(guard))
        guard = context_internf(ctx, "%s_", guard);
    return guard;
}

/* C++ has restrict under another name, C89 only as an extension. */
static const char restrict_text[] = "#ifndef TIRC_RESTRICT\n"
                                    "#ifdef __cplusplus\n"
                                    "#define TIRC_RESTRICT __restrict\n"
                                    "#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L\n"
                                    "#define TIRC_RESTRICT restrict\n"
                                    "#elif defined __GNUC__\n"
                                    "#define TIRC_RESTRICT __restrict\n"
                                    "#else\n"
                                    "#define TIRC_RESTRICT\n"
                                    "#endif\n"
                                    "#endif\n\n";

const char *header_text(Context *ctx, const Module *module, const Module *source, const char *header_name)
{
    StrBuf out = {.arena = ctx->arena};
    FuncHeaderList headers = list_headers(ctx, &out, module, source);
    const char *guard = include_guard(ctx, &headers, header_name);
    strbuf_printf(&out,
                  "/* Made by tirc. Buffers are row major and compact, aligned to their elements, and must not overlap, where nothing else is said.\n"
                  "   float16 and bfloat16 travel as the bits in a uint16_t, floats of 8 bits and less as those in a uint8_t, bool as a uint8_t (0 or 1). tirc_last_error() is in tirc_rt.h. */\n"
                  "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n%s"
                  "#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
                  guard, guard, restrict_text);
    for (int i = 0; i < headers.count; i++)
        add_func(&headers.data[i]);
    strbuf_add(&out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    return strbuf_text(&out);
}
