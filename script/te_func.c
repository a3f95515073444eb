/* te.create_prim_func: the prim_func that computes tensors, in the form in which TVM gives it. Each operation becomes a nest of loops around a
   block, in an order in which what is read is computed before. */
#include <string.h>

#include "verify/verify.h"
#include "script/te_func.h"
#include "passes/regions/needs.h"

/* --- symbols --- */

Str te_fresh_block_name(FuncBuild *build, Str name)
{
    char *clean = arena_copy(build->ctx->arena, *name ? name : "v", *name ? strlen(name) + 1 : 2);
    for (char *at = clean; *at; at++)
        *at = *at == '.' ? '_' : *at;
    Str result = context_intern(build->ctx, clean);
    for (int i = 1; map_has(&build->names, result); i++)
        result = context_internf(build->ctx, "%s_%d", clean, i);
    map_set(build->ctx->arena, &build->names, result, (void *)result);
    return result;
}

const Expr *te_transformed(FuncBuild *build, const Expr *expr)
{
    return build->index_dtype.bits ? te_retyped(build, NULL, expr, dtype_is_integer(expr->dtype)) : subst_expr(build->ctx, &build->subst, expr);
}

/* The variables of sizes get symbols of the function's own: a program may hold several functions. */
static bool visit_size(Visitor *visitor, const Expr *expr)
{
    FuncBuild *build = visitor->data;
    if (expr->kind == EXPR_VAR && !map_has(&build->subst.vars, expr->value.var)) {
        Var *var = var_clone(build->ctx, expr->value.var, expr->value.var->name);
        var->dtype = te_index_type(build, var->dtype);
        subst_var(build->ctx, &build->subst, expr->value.var, expr_var(build->ctx, var));
    }
    return true;
}

static void define_sizes(FuncBuild *build, const Buffer *buffer)
{
    Visitor visitor = {.expr = visit_size, .data = build};
    for (int i = 0; i < buffer->ndim; i++)
        visit_expr(&visitor, buffer->shape[i]);
}

Buffer *te_function_buffer(FuncBuild *build, const Tensor *tensor)
{
    Buffer *buffer = map_get(&build->tensors, tensor);
    if (buffer)
        return buffer;
    const Buffer *like = tensor->buffer;
    const Expr **shape = ARENA_ARRAY(build->ctx->arena, const Expr *, like->ndim);
    for (int i = 0; i < like->ndim; i++)
        shape[i] = te_transformed(build, like->shape[i]);
    buffer = buffer_new(build->ctx, like->name, like->dtype, like->ndim, shape, like->scope, like->span);
    if (map_has(&build->placed, tensor) && map_has(&build->arguments, tensor)) {
        Var *offset = var_new(build->ctx, context_intern(build->ctx, "elem_offset"), DTYPE_INT32, like->span);
        offset->unnamed = true;
        buffer->elem_offset = expr_var(build->ctx, offset);
        buffer->offset_factor = 1;
    }
    map_set(build->ctx->arena, &build->tensors, tensor, buffer);
    map_set(build->ctx->arena, &build->visible, buffer->data, buffer);
    subst_buffer(build->ctx, &build->subst, tensor->buffer, buffer);
    if (!map_has(&build->arguments, tensor))
        vec_push(build->ctx->arena, &build->allocs, buffer);
    return buffer;
}

/* --- attributes --- */

static const AttrValue *attr_value(FuncBuild *build, Value value, int depth);

static const AttrValue *attr_dict(FuncBuild *build, const ValueList *pairs, int depth)
{
    AttrValue *result = ARENA_NEW(build->ctx->arena, AttrValue);
    *result = (AttrValue){.kind = ATTR_DICT, .count = pairs->count / 2, .entries = ARENA_ARRAY(build->ctx->arena, Attr, pairs->count / 2)};
    for (int i = 0; i < result->count; i++) {
        Value key = pairs->items[2 * i];
        const AttrValue *value = depth > 8 ? NULL : attr_value(build, pairs->items[2 * i + 1], depth + 1);
        if (key.kind != VALUE_STRING || !value)
            return NULL;
        result->entries[i] = (Attr){key.as.text, value};
    }
    return result;
}

static const AttrValue *attr_value(FuncBuild *build, Value value, int depth)
{
    Context *ctx = build->ctx;
    const Tensor *tensor = te_tensor(value);
    AttrValue *result = ARENA_NEW(ctx->arena, AttrValue);
    if (tensor) {
        *result = (AttrValue){.kind = ATTR_BUFFER, .buffer = map_get(&build->tensors, tensor)};
        return result->buffer ? result : NULL;
    }
    switch (value.kind) {
    case VALUE_INT: return attr_int(ctx, value.as.integer);
    case VALUE_FLOAT: return attr_float(ctx, value.as.real);
    case VALUE_BOOL: return attr_bool(ctx, value.as.boolean);
    case VALUE_STRING: return attr_expr(ctx, expr_string(ctx, value.as.text));
    case VALUE_EXPR: return attr_expr(ctx, te_transformed(build, value.as.expr));
    case VALUE_NONE: *result = (AttrValue){.kind = ATTR_NONE}; return result;
    case VALUE_LIST: break;
    case VALUE_DICT: return attr_dict(build, value.as.list, depth);
    default: return NULL;
    }
    const ValueList *list = value.as.list;
    *result = (AttrValue){.kind = ATTR_LIST, .count = list->count, .items = ARENA_ARRAY(ctx->arena, const AttrValue *, list->count)};
    for (int i = 0; i < list->count; i++)
        if (depth > 8 || !(result->items[i] = attr_value(build, list->items[i], depth + 1)))
            return NULL;
    return result;
}

/* The parameters whose layout is free are an attribute of the function; others that the function computes stay one of the block. */
static bool note_layout_free(FuncBuild *build, const Operation *op, Value *value)
{
    ValueList one = {.items = value, .count = 1};
    const ValueList *list = value->kind == VALUE_LIST ? value->as.list : &one;
    Value others = script_list(build->script, ARENA_ARRAY(build->ctx->arena, Value, list->count), 0, false);
    for (int i = 0; i < list->count; i++) {
        const Tensor *tensor = te_tensor(list->items[i]);
        if (!tensor || !map_has(&build->tensors, tensor))
            return script_error(build->script, op->span, "layout_free_placeholders holds something that is no tensor of the function");
        bool given = false;
        for (int p = 0; p < build->value_count; p++)
            if (tensor == te_tensor(build->values[p])) {
                vec_push(build->ctx->arena, &build->layout_free, p);
                given = true;
            }
        if (!given)
            others.as.list->items[others.as.list->count++] = list->items[i];
    }
    *value = others;
    return true;
}

bool te_block_annotations(FuncBuild *build, const Operation *op, Attrs *annotations)
{
    *annotations = (Attrs){0};
    const ValueList *dict = op->attr_values.as.list;
    for (int i = 0; i < dict->count; i += 2) {
        Value key = dict->items[i];
        if (key.kind != VALUE_STRING)
            return script_error(build->script, op->span, "the keys of attrs are strings");
        Value given = dict->items[i + 1];
        if (!strcmp(key.as.text, "layout_free_placeholders")) {
            if (!note_layout_free(build, op, &given))
                return false;
            if (!given.as.list->count)
                continue;
        }
        const AttrValue *value = attr_value(build, given, 0);
        if (!value)
            return script_error(build->script, op->span, "the attribute '%s' holds something that no attribute of a block can hold", key.as.text);
        *annotations = attrs_set(build->ctx, *annotations, context_intern(build->ctx, key.as.text), value);
    }
    return true;
}

/* --- extern operations --- */

static const Stmt *transformed_stmt(FuncBuild *build, const Stmt *stmt)
{
    Context *ctx = build->ctx;
    if (!build->index_dtype.bits)
        return subst_stmt(ctx, &build->subst, stmt);
    if (stmt->kind == STMT_EVALUATE)
        return stmt_evaluate(ctx, te_retyped(build, NULL, stmt->as.evaluate, false), stmt->span);
    const Stmt **stmts = ARENA_ARRAY(ctx->arena, const Stmt *, stmt->as.seq.count);
    for (int i = 0; i < stmt->as.seq.count; i++)
        stmts[i] = transformed_stmt(build, stmt->as.seq.items[i]);
    return stmt_seq(ctx, stmts, stmt->as.seq.count);
}

/* The block declares no regions, as TVM has it: what the code gets pointers to is all that it touches. */
static bool build_extern(FuncBuild *build, const Operation *op)
{
    Context *ctx = build->ctx;
    for (int i = 0; i < op->result_count; i++)
        te_function_buffer(build, op->results[i]);
    for (int i = 0; i < op->input_count; i++) {
        Buffer *buffer = map_get(&build->tensors, op->inputs[i]);
        subst_buffer(ctx, &build->subst, op->placeholders[i], buffer);
        subst_var(ctx, &build->subst, op->placeholders[i]->data, expr_var(ctx, buffer->data));
        subst_var(ctx, &build->subst, op->placeholders[i]->elem_offset->value.var, buffer->elem_offset);
    }
    for (int i = 0; i < op->result_count; i++) {
        Buffer *buffer = map_get(&build->tensors, op->results[i]);
        subst_var(ctx, &build->subst, op->results[i]->buffer->data, expr_var(ctx, buffer->data));
        subst_var(ctx, &build->subst, op->results[i]->buffer->elem_offset->value.var, buffer->elem_offset);
    }
    Attrs annotations;
    if (!te_block_annotations(build, op, &annotations))
        return false;
    BlockStmt block = {
        .block = block_new(ctx, te_fresh_block_name(build, op->name), op->span),
        .predicate = expr_bool(ctx, true),
        .annotations = annotations,
        .body = transformed_stmt(build, op->body),
    };
    const Stmt *stmt = stmt_block(ctx, block, op->span);
    vec_push(ctx->arena, &build->stmts, stmt);
    return true;
}

static void note_placed(FuncBuild *build, const OperationList *order)
{
    for (int i = 0; i < order->count; i++) {
        const Operation *op = order->data[i];
        for (int j = 0; op->kind == OPERATION_EXTERN && j < op->input_count + op->result_count; j++) {
            Tensor *tensor = j < op->input_count ? op->inputs[j] : op->results[j - op->input_count];
            map_set(build->ctx->arena, &build->placed, tensor, tensor);
        }
    }
}

/* --- the function --- */

static bool note_arguments(FuncBuild *build)
{
    for (int i = 0; i < build->value_count; i++) {
        const Tensor *tensor = te_tensor(build->values[i]);
        bool variable = build->values[i].kind == VALUE_EXPR && build->values[i].as.expr->kind == EXPR_VAR;
        if (!tensor && !variable)
            return script_error(build->script, build->span, "argument %d of te.create_prim_func is no tensor but %s", i,
                                script_type_phrase(build->script, build->values[i]));
        const void *key = tensor ? (const void *)tensor : build->values[i].as.expr->value.var;
        if (map_has(&build->arguments, key))
            return script_error(build->script, build->span, "argument %d of te.create_prim_func is given twice", i);
        map_set(build->ctx->arena, &build->arguments, key, (void *)key);
        if (tensor)
            define_sizes(build, tensor->buffer);
        else
            visit_size(&(Visitor){.data = build}, build->values[i].as.expr);
    }
    return true;
}

static bool is_constant_shape(const Buffer *buffer)
{
    bool constant = true;
    for (int i = 0; i < buffer->ndim; i++)
        constant &= buffer->shape[i]->kind == EXPR_INT;
    return constant;
}

static Param *make_params(FuncBuild *build)
{
    Context *ctx = build->ctx;
    Param *params = ARENA_ARRAY(ctx->arena, Param, build->value_count);
    for (int i = 0; i < build->value_count; i++) {
        const Tensor *tensor = te_tensor(build->values[i]);
        if (!tensor) {
            params[i] = (Param){.param = te_transformed(build, build->values[i].as.expr)->value.var};
            continue;
        }
        Buffer *buffer = map_get(&build->tensors, tensor);
        bool matched = !is_constant_shape(buffer), plain = !matched && !buffer->offset_factor;
        Str name = plain ? context_internf(ctx, "%s_handle", buffer->name) : context_internf(ctx, "var_%s", te_result_name(build->script, tensor->op, tensor->index));
        params[i] = (Param){.param = var_new(ctx, name, DTYPE_HANDLE, build->span), .buffer = buffer, .matched = matched};
    }
    return params;
}

static Attrs function_attrs(FuncBuild *build)
{
    Context *ctx = build->ctx;
    Attrs attrs = {0};
    if (build->layout_free.count) {
        AttrValue *list = ARENA_NEW(ctx->arena, AttrValue);
        *list = (AttrValue){.kind = ATTR_LIST, .items = ARENA_ARRAY(ctx->arena, const AttrValue *, build->layout_free.count)};
        for (int p = 0; p < build->value_count; p++)
            for (int i = 0; i < build->layout_free.count; i++)
                if (build->layout_free.data[i] == p && !(list->count && list->items[list->count - 1]->expr->value.integer == p))
                    list->items[list->count++] = attr_int(ctx, p);
        attrs = attrs_set(ctx, attrs, context_intern(ctx, "layout_free_buffers"), list);
    }
    return attrs_set(ctx, attrs, context_intern(ctx, "tir.noalias"), attr_bool(ctx, true));
}

/* A block without axes that is all of the function is its root. */
static bool is_root(const FuncBuild *build)
{
    const Stmt *stmt = build->stmts.count ? build->stmts.data[0] : NULL;
    return build->stmts.count == 1 && !build->allocs.count && stmt->kind == STMT_BLOCK && !stmt->as.block.iter_count;
}

static const Func *make_func(FuncBuild *build)
{
    Context *ctx = build->ctx;
    BlockStmt root = {
        .block = block_new(ctx, context_intern(ctx, "root"), build->span),
        .predicate = expr_bool(ctx, true),
        .allocs = build->allocs.data,
        .alloc_count = build->allocs.count,
        .reads_inferred = true,
        .writes_inferred = true,
        .body = stmt_seq(ctx, build->stmts.data, build->stmts.count),
    };
    Func *func = ARENA_NEW(ctx->arena, Func);
    *func = (Func){
        .name = context_intern(ctx, "main"),
        .params = make_params(build),
        .param_count = build->value_count,
        .attrs = function_attrs(build),
        .return_type = DTYPE_VOID,
        .body = is_root(build) ? build->stmts.data[0] : build->stmts.count ? stmt_block(ctx, root, build->span) : stmt_evaluate(ctx, expr_int(ctx, DTYPE_INT32, 0), build->span),
        .span = build->span,
        .name_span = build->span,
    };
    return func_with_needs(ctx, func);
}

/* A placeholder that is no parameter has no values, unless a scan gives it some. */
static bool build_operation(FuncBuild *build, const OperationList *order, const Operation *op)
{
    switch (op->kind) {
    case OPERATION_PLACEHOLDER:
        if (map_has(&build->tensors, op->results[0]))
            return true;
        if (!map_has(&build->arguments, op->results[0]))
            return script_error(build->script, build->span, "the tensor '%s' is a placeholder that is not among the arguments", op->name);
        te_function_buffer(build, op->results[0]);
        return true;
    case OPERATION_COMPUTE: return map_has(&build->in_scan, op) || te_build_compute(build, op);
    case OPERATION_SCAN: return te_build_scan(build, order, op);
    case OPERATION_EXTERN: break;
    }
    return build_extern(build, op);
}

static bool build_operations(FuncBuild *build, const OperationList *order)
{
    te_bind_scans(build, order);
    for (int i = 0; i < order->count; i++)
        if (!build_operation(build, order, order->data[i]))
            return false;
    return true;
}

const Func *te_build_func(Script *script, const Value *arguments, int count, bool scans, DType index_dtype, Span span)
{
    Context *ctx = script->ctx;
    FuncBuild build = {.script = script, .ctx = ctx, .analyzer = analyzer_new(ctx), .span = span, .values = arguments, .value_count = count, .index_dtype = index_dtype};
    OperationList order = {0};
    const char *why;
    if (!note_arguments(&build) || !te_order(script, arguments, count, scans, &order))
        return NULL;
    note_placed(&build, &order);
    if (!build_operations(&build, &order))
        return NULL;
    script->stage_buffers = build.tensors;
    const Func *func = make_func(&build);
    if (!verify_func(ctx, func, STAGE_SURFACE, &why)) {
        script_error(script, span, "the tensors make no function: %s", why);
        return NULL;
    }
    return func_check_bounds(ctx, func) ? func : NULL;
}

static bool is_wide_index(Script *script, DType dtype, Span span)
{
    return dtype_equal(dtype, DTYPE_INT32) || dtype_equal(dtype, DTYPE_INT64) ||
           script_error(script, span, "indices are int32 or int64, not %s", dtype_name(script->ctx, dtype));
}

bool te_create_prim_func(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    if (!te_bind(script, "te.create_prim_func", arguments, "ops index_dtype_override?", values))
        return false;
    ValueList one = {.items = (Value *)values[0], .count = 1};
    const ValueList *list = values[0]->kind == VALUE_LIST ? values[0]->as.list : &one;
    DType index_dtype = {0};
    if (values[1] && values[1]->kind != VALUE_NONE && (!te_dtype(script, values[1], DTYPE_INT64, &index_dtype) || !is_wide_index(script, index_dtype, values[1]->span)))
        return false;
    const Func *func = te_build_func(script, list->items, list->count, false, index_dtype, arguments->span);
    if (!func)
        return false;
    *result = script_object(script, (Object){.kind = OBJECT_FUNC, .as.func = func});
    script->lowered_last = script_module_of_funcs(script, &func, 1, true);
    return true;
}
