/* The C header of a module: one prototype for each exported function, with a comment that says what its arguments are.

   Names of parameters are adapted to C and C++ (keywords, characters that identifiers cannot have, repetitions); a function whose exported
   name is no C identifier is described in a comment only. */
#include <ctype.h>
#include <string.h>

#include "codegen/backend.h"
#include "ir/print.h"
#include "ir/signature.h"
#include "support/strbuf.h"

enum { LINE_LIMIT = 100 };

/* --- Names --- */

static const char *const reserved_words[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "class", "compl", "concept",
    "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t", "long",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template",
    "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
};

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof reserved_words / sizeof *reserved_words; i++)
        if (!strcmp(reserved_words[i], name))
            return true;
    return false;
}

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return !is_reserved(name);
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
    char *clean = arena_printf(ctx->arena, "%s%s", isdigit((unsigned char)*name) ? "_" : "", name);
    for (char *c = clean; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    Str candidate = context_internf(ctx, "%s%s", clean, is_reserved(clean) ? "_" : "");
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
    return dtype.bits == 16 ? "uint16_t" : dtype.bits == 32 ? "float" : "double";
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
    return print_expr(header->ctx, dim);
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

static void describe_buffer(FuncHeader *header, int index)
{
    const Param *param = &header->func->params[index];
    const Buffer *buffer = param->buffer;
    StrBuf *out = header->out;
    bool aligned = buffer->data_alignment != DEFAULT_DATA_ALIGNMENT;
    strbuf_printf(out, "     %s: %s", (const char *)map_get(&header->names, param->param), dtype_name(header->ctx, buffer->dtype));
    add_dims(header, buffer->shape, buffer->ndim);
    strbuf_printf(out, ", %s", usage_text(header->signature, index));
    if (buffer->strides) {
        strbuf_add(out, ", strides in elements ");
        add_dims(header, buffer->strides, buffer->ndim);
    }
    if (!expr_is_int(buffer->elem_offset, 0))
        strbuf_printf(out, ", first element at index %s", dim_text(header, buffer->elem_offset));
    if (aligned)
        strbuf_printf(out, ", aligned to %d bytes", buffer->data_alignment);
    strbuf_add(out, "\n");
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
    strbuf_add(header->out, "   Returns 0, or another code with a message in tirc_last_error(). */\n");
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

static void add_func(Context *ctx, StrBuf *out, const Func *func, const Func *source)
{
    FuncHeader header = {.ctx = ctx, .func = func, .signature = header_signature(ctx, func, source), .out = out};
    choose_names(&header);
    add_comment(&header);
    if (is_identifier(header.signature->symbol))
        add_prototype(&header);
    else
        strbuf_printf(out, "/* C has no way to name the symbol %s. */\n", header.signature->symbol);
}

/* --- The file --- */

/* "out/my-kernel.h" -> "MY_KERNEL_H" */
static const char *include_guard(Context *ctx, const char *header_name)
{
    const char *base = header_name && strcmp(header_name, "-") ? header_name : "tirc_module.h";
    const char *slash = strrchr(base, '/');
    base = slash ? slash + 1 : base;
    char *guard = arena_printf(ctx->arena, "%s%s", isalpha((unsigned char)*base) ? "" : "TIRC_", base);
    for (char *c = guard; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    return guard;
}

const char *header_text(Context *ctx, const Module *module, const Module *source, const char *header_name)
{
    StrBuf out = {.arena = ctx->arena};
    const char *guard = include_guard(ctx, header_name);
    strbuf_printf(&out,
                  "/* Made by tirc. Buffers are row major and compact, aligned to their elements, and must not overlap, where nothing else is said.\n"
                  "   float16 and bfloat16 travel as the bits in a uint16_t, bool as a uint8_t (0 or 1). tirc_last_error() is in tirc_rt.h. */\n"
                  "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n"
                  "#ifndef TIRC_RESTRICT\n#ifdef __cplusplus\n#define TIRC_RESTRICT __restrict\n#else\n#define TIRC_RESTRICT restrict\n#endif\n#endif\n\n"
                  "#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
                  guard, guard);
    for (int i = 0; i < module->func_count; i++)
        if (!module->funcs[i]->is_private)
            add_func(ctx, &out, module->funcs[i], source ? module_find(source, module->funcs[i]->name) : NULL);
    strbuf_add(&out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    return strbuf_text(&out);
}
