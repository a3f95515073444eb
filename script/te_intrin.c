/* te.decl_tensor_intrin: an intrinsic of the description that a te.compute is, and the code that a function of the script makes with
   tvm.tir.ir_builder. It is registered like those of @T.prim_func:

     description: the loops and the block of the te.compute, for a reduction without its start; implementation: the code */
#include <string.h>

#include "ir/walk.h"
#include "passes/schedule/block/implementation.h"
#include "script/te.h"

/* --- tvm.tir.ir_builder --- */

bool te_builder(Script *script, const Arguments *arguments, Value *result)
{
    const Value *none[1];
    Builder *builder = ARENA_NEW(script->ctx->arena, Builder);
    if (!te_bind(script, "create", arguments, "", none))
        return false;
    *result = script_object(script, (Object){.kind = OBJECT_BUILDER, .as.builder = builder});
    return true;
}

bool te_builder_has(const char *name)
{
    return !strcmp(name, "emit") || !strcmp(name, "get");
}

bool te_builder_call(Script *script, const Object *self, const char *name, const Arguments *arguments, Value *result)
{
    Builder *builder = self->as.builder;
    const Value *values[1];
    *result = value_none();
    if (!strcmp(name, "get")) {
        if (!te_bind(script, name, arguments, "", values))
            return false;
        *result = script_object(script, *self);
        return true;
    }
    if (!te_bind(script, name, arguments, "stmt", values))
        return false;
    const Object *other = value_object(*values[0], OBJECT_BUILDER);
    if (!other && values[0]->kind != VALUE_EXPR)
        return script_error(script, arguments->span, "emit takes a call, such as call_extern, not %s", script_type_phrase(script, *values[0]));
    const Stmt *stmt = other ? stmt_seq(script->ctx, other->as.builder->stmts.data, other->as.builder->stmts.count)
                             : stmt_evaluate(script->ctx, values[0]->as.expr, arguments->span);
    vec_push(script->ctx->arena, &builder->stmts, stmt);
    return true;
}

/* --- tvm.tir.decl_buffer --- */

static bool read_strides(Script *script, const Value *given, Buffer *buffer, Span span)
{
    const Expr **strides;
    int count;
    if (!given || given->kind == VALUE_NONE || (given->kind == VALUE_LIST && !given->as.list->count))
        return true;
    if (!te_to_exprs(script, *given, span, &strides, &count))
        return false;
    if (count != buffer->ndim)
        return script_error(script, span, "there are %d strides for %d dimensions", count, buffer->ndim);
    buffer->strides = strides;
    return true;
}

bool te_decl_buffer(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[9];
    const Expr **shape;
    int ndim;
    DType dtype;
    Str name;
    Span span = arguments->span;
    Context *ctx = script->ctx;
    if (!te_bind(script, "decl_buffer", arguments, "shape dtype? name? data? strides? elem_offset? scope? data_alignment? offset_factor?", values) ||
        !te_to_exprs(script, *values[0], span, &shape, &ndim) || !te_dtype(script, values[1], DTYPE_FLOAT32, &dtype) || !te_name(script, values[2], "buffer", &name))
        return false;
    for (int i = 3; i <= 5; i += 2)
        if (values[i] && values[i]->kind != VALUE_NONE)
            return script_error(script, values[i]->span, "%s of decl_buffer is not there", i == 3 ? "data" : "elem_offset");
    Str scope = values[6] && values[6]->kind == VALUE_STRING && *values[6]->as.text ? values[6]->as.text : NULL;
    Buffer *buffer = buffer_new(ctx, name, dtype, ndim, shape, scope, span);
    Var *offset = var_new(ctx, context_intern(ctx, "elem_offset"), DTYPE_INT32, span);
    offset->unnamed = true;
    buffer->elem_offset = expr_var(ctx, offset);
    buffer->offset_factor = values[8] && values[8]->kind == VALUE_INT && values[8]->as.integer > 0 ? (int)values[8]->as.integer : 1;
    *result = script_object(script, (Object){.kind = OBJECT_BUFFER, .as.buffer = buffer});
    return read_strides(script, values[4], buffer, span);
}

/* --- the intrinsic --- */

/* The buffer that BINDS, a dict, gives to TENSOR, else a compact one. */
static Buffer *bound_buffer(Script *script, const Value *binds, const Tensor *tensor, Span span)
{
    const ValueList *pairs = binds && binds->kind == VALUE_DICT ? binds->as.list : NULL;
    for (int i = 0; pairs && i < pairs->count; i += 2) {
        const Object *buffer = value_object(pairs->items[i + 1], OBJECT_BUFFER);
        if (te_tensor(pairs->items[i]) == tensor && buffer)
            return buffer->as.buffer;
    }
    Buffer *buffer = buffer_new(script->ctx, tensor->op->name, tensor->buffer->dtype, tensor->buffer->ndim, tensor->buffer->shape, NULL, span);
    Var *offset = var_new(script->ctx, context_intern(script->ctx, "elem_offset"), DTYPE_INT32, span);
    offset->unnamed = true;
    buffer->elem_offset = expr_var(script->ctx, offset);
    buffer->offset_factor = 1;
    return buffer;
}

static Region whole(Context *ctx, Buffer *buffer, Span span)
{
    Region region = {buffer, ARENA_ARRAY(ctx->arena, Range, buffer->ndim), span};
    for (int i = 0; i < buffer->ndim; i++)
        region.ranges[i] = (Range){expr_int(ctx, buffer->shape[i]->dtype, 0), buffer->shape[i]};
    return region;
}

/* A function over BUFFERS, the last of which it writes, with BODY in its root. */
static const Func *function_of(Script *script, const char *name, Buffer *const *buffers, int count, bool updates, const Stmt *body, Span span)
{
    Context *ctx = script->ctx;
    Param *params = ARENA_ARRAY(ctx->arena, Param, count);
    Region *reads = ARENA_ARRAY(ctx->arena, Region, count), *writes = ARENA_NEW(ctx->arena, Region);
    int read_count = 0;
    if (updates)
        reads[read_count++] = whole(ctx, buffers[count - 1], span);
    for (int i = 0; i < count; i++) {
        params[i] = (Param){.param = var_new(ctx, context_internf(ctx, "var_%s", buffers[i]->name), DTYPE_HANDLE, span), .buffer = buffers[i], .matched = true};
        if (i < count - 1)
            reads[read_count++] = whole(ctx, buffers[i], span);
    }
    *writes = whole(ctx, buffers[count - 1], span);
    BlockStmt root = {.block = block_new(ctx, context_intern(ctx, "root"), span), .predicate = expr_bool(ctx, true), .reads = reads,
                      .read_count = read_count, .writes = writes, .write_count = 1, .body = body};
    Func *func = ARENA_NEW(ctx->arena, Func);
    *func = (Func){.name = context_intern(ctx, name), .params = params, .param_count = count, .return_type = DTYPE_VOID,
                   .body = stmt_block(ctx, root, span), .span = span, .name_span = span};
    return func;
}

/* The block of a reduction as its update alone. */
static const Stmt *without_init(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind != STMT_BLOCK || !stmt->as.block.init)
        return rewrite_stmt_children(rewriter, stmt);
    BlockStmt block = stmt->as.block;
    Region *reads = ARENA_ARRAY(rewriter->ctx->arena, Region, block.read_count + 1);
    reads[0] = block.writes[0];
    for (int i = 0; i < block.read_count; i++)
        reads[i + 1] = block.reads[i];
    block.init = NULL;
    block.reads = reads;
    block.read_count++;
    return stmt_block(rewriter->ctx, block, stmt->span);
}

/* The loops of OP over copies of BUFFERS without their strides; NULL after a diagnostic. */
static const Func *description(Script *script, const Operation *op, const TensorList *inputs, Buffer *const *buffers, int count, Span span)
{
    Context *ctx = script->ctx;
    Value *tensors = ARENA_ARRAY(ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        tensors[i] = te_tensor_value(script, i < inputs->count ? inputs->data[i] : op->results[0]);
    const Func *made = te_build_func(script, tensors, count, false, (DType){0}, span);
    if (!made)
        return NULL;
    Buffer **own = ARENA_ARRAY(ctx->arena, Buffer *, count);
    Subst subst = {{0}, {0}};
    for (int i = 0; i < count; i++) {
        own[i] = buffer_clone(ctx, made->params[i].buffer);
        own[i]->scope = buffers[i]->scope;
        own[i]->offset_factor = buffers[i]->offset_factor;
        Var *offset = var_new(ctx, context_intern(ctx, "elem_offset"), DTYPE_INT32, span);
        offset->unnamed = true;
        own[i]->elem_offset = expr_var(ctx, offset);
        subst_buffer(ctx, &subst, made->params[i].buffer, own[i]);
    }
    Rewriter rewriter = {.ctx = ctx, .stmt = without_init};
    const Stmt *body = rewrite_stmt(&rewriter, subst_stmt(ctx, &subst, made->body->as.block.body));
    return function_of(script, "description", own, count, op->reduction != NULL, body, span);
}

static const Stmt *code_of(Script *script, Value value, Span span)
{
    const Object *builder = value_object(value, OBJECT_BUILDER);
    if (builder && builder->as.builder->stmts.count)
        return stmt_seq(script->ctx, builder->as.builder->stmts.data, builder->as.builder->stmts.count);
    if (value.kind == VALUE_EXPR)
        return stmt_evaluate(script->ctx, value.as.expr, span);
    script_error(script, span, "the function of te.decl_tensor_intrin gives code of tvm.tir.ir_builder or a call, not %s", script_type_phrase(script, value));
    return NULL;
}

/* What the function gives: the code itself, of a reduction that of the update, the third of (whole, start, update). */
static const Stmt *update_code(Script *script, const Operation *op, Value given, Span span)
{
    const ValueList *list = given.kind == VALUE_LIST ? given.as.list : NULL;
    if (!op->reduction && !list)
        return code_of(script, given, span);
    if (!list || list->count != 3) {
        script_error(script, span, "of a reduction, the function of te.decl_tensor_intrin gives three parts: all of it, its start and its update");
        return NULL;
    }
    return code_of(script, list->items[op->reduction ? 2 : 0], span);
}

bool te_decl_tensor_intrin(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[6];
    Str name;
    Span span = arguments->span;
    if (!te_bind(script, "te.decl_tensor_intrin", arguments, "op fcompute name? binds? scalar_params? default_buffer_params?", values) ||
        !te_name(script, values[2], "tensor_intrin", &name))
        return false;
    const Operation *op = te_operation_of(*values[0]);
    if (!op || op->kind != OPERATION_COMPUTE || op->result_count != 1)
        return script_error(script, span, "te.decl_tensor_intrin takes the operation of a te.compute with one result");
    TensorList inputs = te_inputs(script, op);
    int count = inputs.count + 1;
    Buffer **buffers = ARENA_ARRAY(script->ctx->arena, Buffer *, count);
    Value *objects = ARENA_ARRAY(script->ctx->arena, Value, count), given;
    for (int i = 0; i < count; i++) {
        buffers[i] = bound_buffer(script, values[3], i < inputs.count ? inputs.data[i] : op->results[0], span);
        objects[i] = script_object(script, (Object){.kind = OBJECT_BUFFER, .as.buffer = buffers[i]});
    }
    Value sides[] = {script_list(script, objects, count - 1, false), script_list(script, objects + count - 1, 1, false)};
    Arguments call = {.positional = sides, .positional_count = 2, .span = values[1]->span};
    if (!script_call_value(script, *values[1], &call, &given))
        return false;
    const Stmt *code = update_code(script, op, given, values[1]->span);
    const Func *described = code ? description(script, op, &inputs, buffers, count, span) : NULL;
    if (!described)
        return false;
    Str own = context_internf(script->ctx, "%s_%d", name, script->intrins.count);
    TensorIntrin intrin = {own, described, function_of(script, "implementation", buffers, count, op->reduction != NULL, code, span), span};
    *result = (Value){.kind = VALUE_STRING, .as.text = own};
    return intrin_register(script->ctx, &script->intrins, intrin, true) && check_registered_implementation(script->ctx, &intrin);
}
