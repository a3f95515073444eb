/* Functions: parameters, result, attributes, and the root block around their bodies; see elab.h. */
#include "ir/walk.h"
#include "parser/elab.h"
#include "support/warning.h"

/* --- parameters --- */

static void add_param(Elab *elab, const AstParam *node, Var *var, Buffer *buffer)
{
    Param param = {.param = var, .buffer = buffer};
    vec_push(elab->ctx->arena, &elab->func->params, param);
    Value value = buffer ? value_buffer(buffer, node->span) : value_expr(expr_var_at(elab->ctx, var, node->span), node->span);
    scope_bind(elab, node->name, value, node->span);
}

/* T.int32, T.handle, or a fresh variable such as T.handle("float32") and T.var("int32"). */
static void add_scalar_param(Elab *elab, const AstParam *node, const Value *annotation)
{
    Var *ahead = elab_parameter_ahead(elab, node->name);
    if (annotation->kind == VALUE_DTYPE && ahead) {
        Param param = {.param = ahead};
        vec_push(elab->ctx->arena, &elab->func->params, param);
        return;
    }
    if (annotation->kind == VALUE_DTYPE) {
        add_param(elab, node, var_new(elab->ctx, node->name, annotation->as.dtype, node->span), NULL);
        return;
    }
    Var *var = annotation->as.expr->value.var;
    var->name = node->name;
    map_set(elab->ctx->arena, &elab->symbols, var, NULL);
    add_param(elab, node, var, NULL);
}

static void elab_param(Elab *elab, const AstParam *node)
{
    Context *ctx = elab->ctx;
    if (node->stars || !node->name) {
        diag_error(ctx, node->span, "'*' is not supported in the parameters");
        return;
    }
    if (node->default_value)
        diag_warning(ctx, WARNING_DEFAULT_VALUE, node->span, "the default value of '%s' is ignored: a call from C gives all arguments",
                     node->name);
    if (!node->annotation) {
        diag_error(ctx, node->span, "the parameter '%s' needs a type, such as T.handle, T.int32 or T.Buffer((16,), \"float32\")",
                   node->name);
        scope_bind(elab, node->name, value_error(), node->span);
        return;
    }
    Value annotation = elab_expr(elab, node->annotation);
    if (annotation.kind == VALUE_BUFFER && annotation.fresh) {
        Buffer *buffer = annotation.as.buffer;
        elab_name_value(elab, &annotation, node->name);
        buffer->span = node->span;
        elab_declare_buffer(elab, buffer);
        add_param(elab, node, var_new(ctx, context_internf(ctx, "%s_handle", node->name), DTYPE_HANDLE, node->span), buffer);
    } else if (annotation.kind == VALUE_DTYPE || (annotation.kind == VALUE_EXPR && annotation.fresh)) {
        add_scalar_param(elab, node, &annotation);
    } else {
        if (annotation.kind != VALUE_ERROR)
            diag_error(ctx, node->annotation->span,
                       "the type of a parameter must be T.handle, T.Buffer(...) or a type such as T.int32, not %s",
                       value_kind_name(annotation.kind));
        scope_bind(elab, node->name, value_error(), node->span);
    }
}

DType elab_return_type(Elab *elab, const AstNode *returns)
{
    DType dtype = DTYPE_VOID;
    if (!returns)
        return dtype;
    Value value = elab_expr(elab, returns);
    if (value.kind == VALUE_DTYPE)
        return value.as.dtype;
    if (value.kind == VALUE_EXPR && value.fresh)
        return value.as.expr->dtype;
    if (value.kind != VALUE_NONE && value.kind != VALUE_ERROR)
        diag_error(elab->ctx, returns->span, "the result must be None or a type such as T.int32, not %s", value_kind_name(value.kind));
    return dtype;
}

/* --- decorators --- */

/* @T.prim_func, @T.prim_func(private=True). s_tir=True, since 0.25, says of a program that it is for schedules; all are here. */
static bool read_decorator(Elab *elab, const AstNode *node, bool *is_private, bool *newest)
{
    const AstNode *callee = node->kind == AST_CALL ? node->as.call.callee : node;
    Value value = elab_expr(elab, callee);
    if (value.kind == VALUE_ERROR)
        return false;
    if (value.kind != VALUE_BUILTIN || strcmp(value.as.builtin->name, "T.prim_func")) {
        diag_error(elab->ctx, node->span, "only @T.prim_func is supported here");
        return false;
    }
    for (int i = 0; node->kind == AST_CALL && i < node->as.call.keyword_count; i++) {
        const AstKeyword *keyword = &node->as.call.keywords[i];
        bool ignored, is_known = keyword->name && (!strcmp(keyword->name, "check_well_formed") || !strcmp(keyword->name, "private") ||
                                                   !strcmp(keyword->name, "s_tir"));
        if (!is_known) {
            diag_error(elab->ctx, keyword->span, "T.prim_func has no argument '%s'", keyword->name ? keyword->name : "**");
            return false;
        }
        Value flag = elab_expr(elab, keyword->value);
        bool *target = !strcmp(keyword->name, "private") ? is_private : !strcmp(keyword->name, "s_tir") ? newest : &ignored;
        if (!value_to_bool(elab, &flag, keyword->name, target))
            return false;
    }
    return true;
}

static bool read_decorators(Elab *elab, const AstNode *node, bool *is_private, bool *newest)
{
    *is_private = *newest = false;
    if (node->as.def.decorators.count == 0 && elab->lost_decorator)
        return false;
    if (node->as.def.decorators.count == 0) {
        diag_error(elab->ctx, node->as.def.name_span, "the function '%s' has no @T.prim_func before it", node->as.def.name);
        return false;
    }
    for (int i = 0; i < node->as.def.decorators.count; i++)
        if (!read_decorator(elab, node->as.def.decorators.items[i], is_private, newest))
            return false;
    return true;
}

/* --- attributes --- */

/* The attributes of a function are those of all its body: what the body declares has no place in them. */
static bool names_buffer(const AttrValue *value)
{
    bool named = value->kind == ATTR_BUFFER;
    for (int i = 0; i < value->count && !named; i++)
        named = names_buffer(value->kind == ATTR_LIST ? value->items[i] : value->entries[i].value);
    return named;
}

static bool is_string(const AttrValue *value)
{
    return value->kind == ATTR_EXPR && value->expr->kind == EXPR_STRING;
}

Value builtin_func_attr(Elab *elab, const Call *call)
{
    if (!elab->frame || elab->frame->kind != FRAME_FUNC) {
        diag_error(elab->ctx, call->span, "T.func_attr must stand at the top of a function");
        return value_error();
    }
    Attrs attrs;
    if (!value_to_attrs(elab, call_arg(call, "attrs"), "the attributes of a function", &attrs))
        return value_error();
    attrs = attrs_with_prefix(elab->ctx, attrs, "tirx.", "tir."); /* as releases since 0.25 spell them */
    for (int i = 0; i < attrs.count; i++) {
        const Attr *attr = &attrs.entries[i];
        if (names_buffer(attr->value))
            diag_error(elab->ctx, call->span, "the attribute '%s' of a function cannot name a buffer", attr->key);
        else if (!strcmp(attr->key, "global_symbol") && !is_string(attr->value))
            diag_error(elab->ctx, call->span, "the global_symbol of a function must be a string");
        if (attrs_get(elab->func->attrs, attr->key))
            diag_error(elab->ctx, call->span, "the function has the attribute '%s' already", attr->key);
        elab->func->attrs = attrs_set(elab->ctx, elab->func->attrs, attr->key, attr->value);
    }
    return value_none(call->span);
}

/* --- bodies --- */

/* The allocations of the root block are no statements. */
static const Stmt *without_root_allocs(Rewriter *rewriter, const Stmt *stmt)
{
    const FuncState *func = rewriter->data;
    for (int i = 0; stmt->kind == STMT_ALLOCATE && i < func->root_allocs.count; i++)
        if (func->root_allocs.data[i]->data == stmt->as.allocate.var)
            return rewrite_stmt(rewriter, stmt->as.allocate.body->as.declare.body);
    return stmt->kind == STMT_FOR || stmt->kind == STMT_BLOCK ? stmt : rewrite_stmt_children(rewriter, stmt);
}

/* Functions that hold blocks or allocations have one block around everything, whether the text says so or not. */
static const Stmt *add_root(Elab *elab, const FuncState *func, const Stmt *body)
{
    bool is_block = body->kind == STMT_BLOCK, allocates = func->root_allocs.count > 0;
    if (!func->holds_blocks && (!allocates || func->newest))
        return body;
    if (func->newest && allocates) {
        Rewriter rewriter = {.ctx = elab->ctx, .stmt = without_root_allocs, .data = (void *)func};
        body = rewrite_stmt(&rewriter, body);
        is_block = body->kind == STMT_BLOCK;
    }
    if (is_block && body->as.block.iter_count == 0 && !allocates)
        return body;
    BlockStmt root = {
        .block = block_new(elab->ctx, context_intern(elab->ctx, "root"), func->node->span),
        .predicate = expr_bool(elab->ctx, true),
        .allocs = func->root_allocs.data,
        .alloc_count = func->root_allocs.count,
        .reads_inferred = true,
        .writes_inferred = true,
        .body = body,
    };
    return stmt_block(elab->ctx, root, func->node->span);
}

static const Stmt *elab_function_body(Elab *elab, AstList body)
{
    Frame frame = {.kind = FRAME_FUNC};
    elab->frame = &frame;
    elab_statements(elab, body);
    elab->frame = NULL;
    return add_root(elab, elab->func, frame_finish(elab, &frame));
}

static const Func *build_function(Elab *elab, const AstNode *node, DType return_type, bool is_private, const Stmt *body)
{
    Func *func = ARENA_NEW(elab->ctx->arena, Func);
    *func = (Func){
        .name = node->as.def.name,
        .params = elab->func->params.data,
        .param_count = elab->func->params.count,
        .attrs = elab->func->attrs,
        .return_type = return_type,
        .is_private = is_private,
        .body = body,
        .span = node->span,
        .name_span = node->as.def.name_span,
    };
    return func;
}

const Func *elab_function(Elab *elab, const AstNode *node)
{
    FuncState state = {.node = node};
    bool is_private;
    int errors = diag_error_count(elab->ctx);
    if (!read_decorators(elab, node, &is_private, &state.newest))
        return NULL;
    elab->func = &state;
    scope_push(elab);
    state.scope = elab->scope;
    AstList statements = elab_sizes_ahead(elab, node);
    for (int i = 0; i < node->as.def.param_count; i++)
        elab_param(elab, &node->as.def.params[i]);
    DType return_type = elab_return_type(elab, node->as.def.returns);
    if (return_type.code != DT_VOID && !dtype_equal(return_type, DTYPE_INT32))
        diag_error(elab->ctx, node->as.def.returns->span, "a function returns an int32 or nothing, not %s; other results are stored in buffers",
                   dtype_name(elab->ctx, return_type));
    const Stmt *body = elab_function_body(elab, statements);
    scope_pop(elab);
    const Func *func = build_function(elab, node, return_type, is_private, body);
    elab->func = NULL;
    return diag_error_count(elab->ctx) == errors && elab_check_function(elab, func) && func_check_bounds(elab->ctx, func) ? func : NULL;
}
