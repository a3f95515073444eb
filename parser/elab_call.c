/* Calls: the table of builtins, their namespaces, and how arguments find their parameters; see elab.h. */
#include "parser/elab.h"

static const Builtin builtins[] = {
#define X(name, act, params, variant) {name, builtin_##act, params, variant},
#include "parser/builtins.def"
#undef X
};
enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

void elab_register_builtins(Elab *elab)
{
    Context *ctx = elab->ctx;
    for (int i = 0; i < BUILTIN_COUNT; i++)
        map_set(ctx->arena, &elab->builtins, context_intern(ctx, builtins[i].name), (void *)&builtins[i]);
}

/* --- namespaces --- */

/* Other paths that lead to the names of the table. */
static const char *const aliases[][2] = {
    {"tvm.script.tir", "T"},
    {"tvm.script.ir", "I"},
    {"tvm.script.ir_module", "I.ir_module"},
    {"tvm.script.relax", "R"},
    {"ir_module", "I.ir_module"},
    {"prim_func", "T.prim_func"},
    {"tir", "tvm.tir"},
    {"TensorIntrin", "tvm.tir.TensorIntrin"},
};

static bool is_namespace(const char *path)
{
    static const char *const paths[] = {"T", "T.axis", "I", "R", "tvm", "tvm.script", "tvm.tir", "tvm.tir.TensorIntrin", "tvm.ir", "Module"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (!strcmp(paths[i], path))
            return true;
    return false;
}

Value elab_known_path(Elab *elab, Str path, Span span)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcmp(aliases[i][0], path))
            path = context_intern(elab->ctx, aliases[i][1]);
    const Builtin *builtin = map_get(&elab->builtins, path);
    if (builtin)
        return (Value){.kind = VALUE_BUILTIN, .span = span, .as.builtin = builtin};
    if (is_namespace(path))
        return (Value){.kind = VALUE_NAMESPACE, .span = span, .as.text = path};
    return (Value){.kind = VALUE_ABSENT};
}

static const char *first_name(Context *ctx, const char *path)
{
    return arena_strndup(ctx->arena, path, strcspn(path, "."));
}

/* The name in namespace PATH that WRONG may stand for, or NULL. */
static const char *closest_name(Elab *elab, Str path, Str wrong)
{
    VEC(const char *) names = {0};
    size_t prefix = strlen(path);
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (!strncmp(builtins[i].name, path, prefix) && builtins[i].name[prefix] == '.')
            vec_push(elab->ctx->arena, &names, first_name(elab->ctx, builtins[i].name + prefix + 1));
    if (!strcmp(path, "T")) {
        for (int op = 0; op < OP_COUNT; op++)
            vec_push(elab->ctx->arena, &names, op_info((Op)op)->name);
        int count;
        const char *const *types = dtype_names(&count);
        for (int i = 0; i < count; i++)
            vec_push(elab->ctx->arena, &names, types[i]);
    }
    return diag_closest(wrong, names.data, names.count);
}

/* The names of types in programs of other ages. */
static bool old_type_name(const char *name, DType *dtype)
{
    *dtype = DTYPE_BOOL;
    return !strcmp(name, "boolean");
}

bool elab_is_t_name(Elab *elab, Str name, Span span)
{
    Op op;
    DType dtype;
    return elab_known_path(elab, context_internf(elab->ctx, "T.%s", name), span).kind != VALUE_ABSENT || op_find(name, &op) ||
           dtype_parse(name, &dtype) || old_type_name(name, &dtype);
}

Value elab_namespace_name(Elab *elab, Str path, Str name, Span span)
{
    Op op;
    DType dtype;
    Value value = elab_known_path(elab, context_internf(elab->ctx, "%s.%s", path, name), span);
    if (value.kind != VALUE_ABSENT)
        return value;
    if (!strcmp(path, "Module"))
        return elab_global(elab, name, span);
    if (!strcmp(path, "T") && op_find(name, &op) && op != OP_CALL_FUNC)
        return (Value){.kind = VALUE_INTRINSIC, .span = span, .as.op = op};
    if (!strcmp(path, "T") && (dtype_parse(name, &dtype) || old_type_name(name, &dtype)))
        return value_dtype(dtype, span);
    const char *closest = closest_name(elab, path, name);
    if (closest) {
        diag_error(elab->ctx, span, "unknown name '%s.%s'; did you mean '%s.%s'?", path, name, path, closest);
        diag_edit(elab->ctx, (Span){span.file, span.end - (uint32_t)strlen(name), span.end}, closest);
    } else
        diag_error(elab->ctx, span, "unknown name '%s.%s'", path, name);
    return value_error();
}

/* --- arguments --- */

const Value *call_arg(const Call *call, const char *name)
{
    static const Value absent = {.kind = VALUE_ABSENT};
    for (int i = 0; i < call->param_count; i++)
        if (!strcmp(call->params[i].name, name))
            return &call->values[i];
    return &absent;
}

bool call_has(const Call *call, const char *name)
{
    const Value *value = call_arg(call, name);
    return value->kind != VALUE_ABSENT && value->kind != VALUE_NONE;
}

/* Reads the parameters of the row into CALL. */
static void read_params(Elab *elab, Call *call)
{
    const char *text = call->builtin->params;
    while (*text) {
        size_t length = strcspn(text, " ");
        char mark = text[length - 1];
        bool rest = *text == '*', optional = mark == '?' || mark == '!';
        if (!rest) {
            CallParam param = {arena_strndup(elab->ctx->arena, text, length - optional), optional};
            call->params[call->param_count++] = param;
            call->positional_count += mark != '!';
        }
        call->takes_rest |= rest;
        text += length + (text[length] == ' ');
    }
}

static bool check_positional_count(Elab *elab, const Call *call, int count)
{
    int bound = call->positional_count;
    if (call->takes_rest || count <= bound)
        return true;
    diag_error(elab->ctx, call->span, "%s takes at most %d argument%s, but %d are given", call->builtin->name, bound,
               bound == 1 ? "" : "s", count);
    return false;
}

static bool bind_positional(Call *call, ValueList args)
{
    int bound = call->takes_rest ? 0 : call->positional_count;
    for (int i = 0; i < args.count; i++) {
        if (args.items[i].kind == VALUE_ERROR)
            return false;
        if (i < bound)
            call->values[i] = args.items[i];
    }
    if (call->takes_rest)
        call->rest = args;
    return true;
}

static bool bind_keyword(Elab *elab, Call *call, const AstKeyword *keyword)
{
    const char *names[MOST_PARAMS];
    if (!keyword->name) {
        diag_error(elab->ctx, keyword->span, "'**' is not supported here");
        return false;
    }
    for (int i = 0; i < call->param_count; i++) {
        names[i] = call->params[i].name;
        if (strcmp(names[i], keyword->name))
            continue;
        if (call->values[i].kind != VALUE_ABSENT) {
            diag_error(elab->ctx, keyword->span, "the argument '%s' of %s is given twice", keyword->name, call->builtin->name);
            return false;
        }
        call->values[i] = elab_expr(elab, keyword->value);
        return call->values[i].kind != VALUE_ERROR;
    }
    const char *closest = diag_closest(keyword->name, names, call->param_count);
    if (closest)
        diag_error(elab->ctx, keyword->span, "%s has no argument '%s'; did you mean '%s'?", call->builtin->name, keyword->name, closest);
    else
        diag_error(elab->ctx, keyword->span, "%s has no argument '%s'", call->builtin->name, keyword->name);
    return false;
}

static bool bind_arguments(Elab *elab, Call *call, ValueList args, const AstKeyword *keywords, int keyword_count)
{
    read_params(elab, call);
    for (int i = 0; i < call->param_count; i++)
        call->values[i] = (Value){.kind = VALUE_ABSENT};
    if (!check_positional_count(elab, call, args.count))
        return false;
    bool good = bind_positional(call, args);
    for (int i = 0; i < keyword_count; i++)
        good &= bind_keyword(elab, call, &keywords[i]);
    for (int i = 0; good && i < call->param_count; i++)
        if (call->values[i].kind == VALUE_ABSENT && !call->params[i].optional) {
            diag_error(elab->ctx, call->span, "%s misses the argument '%s'", call->builtin->name, call->params[i].name);
            return false;
        }
    return good;
}

/* --- calls --- */

/* dtype=..., which texts of all ages may say of operations whose type follows from their operands: it must not say another one. */
static Value check_stated_type(Elab *elab, Value value, const char *name, const AstNode *node)
{
    const AstKeyword *stated = NULL;
    for (int i = 0; node->kind == AST_CALL && i < node->as.call.keyword_count; i++)
        if (node->as.call.keywords[i].name && !strcmp(node->as.call.keywords[i].name, "dtype"))
            stated = &node->as.call.keywords[i];
    if (!stated || value.kind != VALUE_EXPR)
        return value;
    DType dtype, own = value.as.expr->dtype;
    Value given = elab_expr(elab, stated->value);
    if (given.kind == VALUE_ERROR || !value_to_dtype(elab, &given, &dtype))
        return value_error();
    bool numbers = dtype_is_number(dtype) && dtype_is_number(own);
    if (!numbers || dtype_equal(dtype, own))
        return value;
    diag_error(elab->ctx, stated->span, "%s gives %s here, not %s", name, dtype_name(elab->ctx, own), dtype_name(elab->ctx, dtype));
    return value_error();
}

static Value call_builtin(Elab *elab, const Builtin *builtin, const Value *object, ValueList args, const AstNode *node)
{
    Call *call = ARENA_NEW(elab->ctx->arena, Call);
    *call = (Call){.builtin = builtin, .object = object, .span = node->span};
    bool is_call = node->kind == AST_CALL;
    if (!bind_arguments(elab, call, args, is_call ? node->as.call.keywords : NULL, is_call ? node->as.call.keyword_count : 0))
        return value_error();
    return check_stated_type(elab, builtin->act(elab, call), builtin->name, node);
}

static Value call_intrinsic(Elab *elab, Op op, ValueList args, const AstNode *node)
{
    for (int i = 0; i < args.count; i++)
        if (args.items[i].kind == VALUE_ERROR)
            return value_error();
    for (int i = 0; i < node->as.call.keyword_count; i++) {
        const AstKeyword *keyword = &node->as.call.keywords[i];
        if (keyword->name && !strcmp(keyword->name, "dtype")) /* as "dtype!" in builtins.def */
            continue;
        diag_error(elab->ctx, keyword->span, "T.%s takes no keyword arguments but dtype", op_info(op)->name);
        return value_error();
    }
    Value value = elab_intrinsic(elab, op, args.items, args.count, node->span);
    return check_stated_type(elab, value, context_internf(elab->ctx, "T.%s", op_info(op)->name), node);
}

Value elab_call(Elab *elab, const AstNode *node)
{
    Value callee = elab_expr(elab, node->as.call.callee);
    if (callee.kind == VALUE_ERROR)
        return callee;
    ValueList args = elab_expr_list(elab, node->as.call.args);
    switch (callee.kind) {
    case VALUE_BUILTIN: return call_builtin(elab, callee.as.builtin, NULL, args, node);
    case VALUE_METHOD: return call_builtin(elab, callee.as.method.builtin, callee.as.method.object, args, node);
    case VALUE_INTRINSIC: return call_intrinsic(elab, callee.as.op, args, node);
    case VALUE_DTYPE: return elab_dtype_call(elab, callee.as.dtype, args, node);
    case VALUE_GLOBAL: return elab_global_call(elab, &callee, args, node);
    case VALUE_FUNC:
        diag_error(elab->ctx, node->span, "a function of the program is called through its module: Module.%s(...)", callee.as.func->name);
        return value_error();
    case VALUE_BUFFER:
        diag_error(elab->ctx, node->span, "buffer '%s' cannot be called; its elements are %s[...]", callee.as.buffer->name, callee.as.buffer->name);
        return value_error();
    default: diag_error(elab->ctx, node->span, "%s cannot be called", value_kind_name(callee.kind)); return value_error();
    }
}

/* T.Buffer[(16, 16), "float32"], T.Buffer[16], T.Buffer[16, 16]; T.let[T.int32] is its type alone. */
Value elab_builtin_subscript(Elab *elab, const Value *base, const AstNode *node)
{
    const AstNode *index = node->as.subscript.index;
    const char *name = base->as.builtin->name;
    if (!strcmp(name, "T.let"))
        return elab_expr(elab, index);
    if (base->as.builtin->act != builtin_buffer && base->as.builtin->act != builtin_pointer) {
        diag_error(elab->ctx, node->span, "%s is called with parentheses, not brackets", name);
        return value_error();
    }
    bool is_arguments = index->kind == AST_TUPLE && index->as.list.count >= 2 && index->as.list.items[1]->kind == AST_STRING;
    if (is_arguments)
        return call_builtin(elab, base->as.builtin, NULL, elab_expr_list(elab, index->as.list), node);
    Value single = elab_expr(elab, index);
    return call_builtin(elab, base->as.builtin, NULL, (ValueList){&single, 1}, node);
}
