/* Well-formedness of functions and modules; see verify.h. Each symbol is bound once and used in the scope of its binding; types, ranks and
   counts fit; what the stage forbids is absent. Not checked: that accesses stay in bounds, that declared regions cover them, that axis
   kinds are right. */
#include "verify/verify_internal.h"

#include <stdarg.h>
#include <string.h>

#include "print/print.h"

/* States of a symbol in Verifier.states: only the addresses count. */
static const char marks[2];
#define BOUND (&marks[0])
#define ENDED (&marks[1])

bool verify_fail(Verifier *verifier, const char *format, ...)
{
    if (*verifier->why)
        return false;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(verifier->ctx->arena, format, args);
    va_end(args);
    *verifier->why = arena_printf(verifier->ctx->arena, "function '%s': %s", verifier->function, text);
    return false;
}

bool verifier_in_scope(const Verifier *verifier, const void *symbol)
{
    return map_get(&verifier->states, symbol) == BOUND;
}

static void set_state(Verifier *verifier, const void *symbol, const char *mark)
{
    map_set(verifier->ctx->arena, &verifier->states, symbol, (void *)mark);
}

static void bring_into_scope(Verifier *verifier, const void *symbol)
{
    set_state(verifier, symbol, BOUND);
    vec_push(verifier->ctx->arena, &verifier->in_scope, symbol);
}

bool verifier_bind(Verifier *verifier, const void *symbol, const char *what, const char *name)
{
    if (map_has(&verifier->states, symbol))
        return verify_fail(verifier, "%s '%s' is bound twice", what, name);
    bring_into_scope(verifier, symbol);
    return true;
}

bool verifier_bind_again(Verifier *verifier, const Var *var)
{
    if (verifier_in_scope(verifier, var))
        return verify_fail(verifier, "let variable '%s' is bound within its own scope", var->name);
    bring_into_scope(verifier, var);
    return true;
}

int verifier_begin_scope(const Verifier *verifier)
{
    return verifier->in_scope.count;
}

void verifier_end_scope(Verifier *verifier, int mark)
{
    while (verifier->in_scope.count > mark)
        set_state(verifier, vec_pop(&verifier->in_scope), ENDED);
}

bool verify_span(Verifier *verifier, Span span)
{
    if (!span.file)
        return true;
    const SourceFile *file = source_file(verifier->ctx->sources, span.file);
    return (file && span.begin <= span.end && span.end <= file->length) ||
           verify_fail(verifier, "the place %u..%u of file %u does not exist", span.begin, span.end, span.file);
}

/* --- buffers --- */

static bool bind_if_new(Verifier *verifier, const Expr *expr)
{
    if (expr->kind != EXPR_VAR || verifier_in_scope(verifier, expr->value.var))
        return true;
    return verifier_bind(verifier, expr->value.var, "variable", expr->value.var->name);
}

/* Binds BUFFER and the variables that stand for a dimension, stride, offset or the data in its declaration and are not known yet. */
static bool bind_buffer(Verifier *verifier, const Buffer *buffer)
{
    if (!verifier_bind(verifier, buffer, "buffer", buffer->name))
        return false;
    for (int i = 0; i < buffer->ndim; i++)
        if (!bind_if_new(verifier, buffer->shape[i]) || (buffer->strides && !bind_if_new(verifier, buffer->strides[i])))
            return false;
    if (!bind_if_new(verifier, buffer->elem_offset))
        return false;
    return verifier_in_scope(verifier, buffer->data) || verifier_bind(verifier, buffer->data, "data of buffer", buffer->name);
}

static bool verify_buffer_fields(Verifier *verifier, const Buffer *buffer)
{
    if (!verify_span(verifier, buffer->span))
        return false;
    for (int i = 0; i < buffer->ndim; i++)
        if (!verify_index(verifier, buffer->shape[i], "dimension") ||
            (buffer->strides && !verify_index(verifier, buffer->strides[i], "stride")))
            return false;
    if (!verify_index(verifier, buffer->elem_offset, "offset"))
        return false;
    if (buffer->data->dtype.code != DT_HANDLE)
        return verify_fail(verifier, "the data of buffer '%s' is no handle", buffer->name);
    if (buffer->dtype.code == DT_VOID || !buffer->scope || buffer->data_alignment < 0 || buffer->offset_factor < 0)
        return verify_fail(verifier, "buffer '%s' lacks a type, scope or alignment", buffer->name);
    return true;
}

static bool verify_new_buffer(Verifier *verifier, const Buffer *buffer)
{
    return bind_buffer(verifier, buffer) && verify_buffer_fields(verifier, buffer);
}

static bool verify_region(Verifier *verifier, const Region *region)
{
    if (!verifier_in_scope(verifier, region->buffer))
        return verify_fail(verifier, "a region of buffer '%s' stands where it is not defined", region->buffer->name);
    for (int i = 0; i < region->buffer->ndim; i++)
        if (!verify_index(verifier, region->ranges[i].min, "start of a region") ||
            !verify_scalar(verifier, region->ranges[i].extent, region->ranges[i].min->dtype, "extent of a region"))
            return false;
    return verify_span(verifier, region->span);
}

static bool verify_regions(Verifier *verifier, const Region *regions, int count)
{
    for (int i = 0; i < count; i++)
        if (!verify_region(verifier, &regions[i]))
            return false;
    return true;
}

/* --- statements --- */

static bool verify_stmt(Verifier *verifier, const Stmt *stmt);

static bool verify_attr_value(Verifier *verifier, const AttrValue *value)
{
    if (value->kind == ATTR_EXPR && !verify_expr(verifier, value->expr))
        return false;
    if (value->kind == ATTR_BUFFER && !verifier_in_scope(verifier, value->buffer))
        return verify_fail(verifier, "buffer '%s' is named by an annotation where it is not defined", value->buffer->name);
    for (int i = 0; i < value->count; i++)
        if (!verify_attr_value(verifier, value->kind == ATTR_LIST ? value->items[i] : value->entries[i].value))
            return false;
    return true;
}

static bool verify_annotations(Verifier *verifier, Attrs annotations)
{
    for (int i = 0; i < annotations.count; i++)
        if (!verify_attr_value(verifier, annotations.entries[i].value))
            return false;
    return true;
}

static bool verify_loop(Verifier *verifier, const ForStmt *loop)
{
    DType type = loop->var->dtype;
    if (!verify_index(verifier, loop->min, "start of a loop") || !verify_scalar(verifier, loop->min, type, "start of a loop") ||
        !verify_scalar(verifier, loop->extent, type, "extent of a loop"))
        return false;
    if ((loop->kind == FOR_THREAD) != (loop->thread != NULL))
        return verify_fail(verifier, "loop '%s' and its thread do not go together", loop->var->name);
    if (loop->launch && (loop->kind != FOR_THREAD || !expr_is_int(loop->min, 0) || loop->annotations.count))
        return verify_fail(verifier, "the launch of '%s' is none of threads alone", loop->var->name);
    if (verifier->stage >= STAGE_VECTORS && loop->kind == FOR_VECTORIZED)
        return verify_fail(verifier, "loop '%s' is still to be vectorized", loop->var->name);
    if (verifier->stage >= STAGE_LOWERED && loop->kind == FOR_UNROLLED)
        return verify_fail(verifier, "loop '%s' is still to be unrolled", loop->var->name);
    if (verifier->stage == STAGE_DEVICE_SPLIT && loop->kind == FOR_THREAD)
        return verify_fail(verifier, "loop '%s' is still bound to a thread", loop->var->name);
    return verify_annotations(verifier, loop->annotations) && verifier_bind(verifier, loop->var, "loop variable", loop->var->name) &&
           verify_stmt(verifier, loop->body);
}

static bool verify_iters(Verifier *verifier, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++) {
        const Iter *iter = &block->iters[i];
        if (!verify_span(verifier, iter->span) || !verify_index(verifier, iter->domain.min, "start of an axis") ||
            !verify_scalar(verifier, iter->domain.min, iter->var->dtype, "start of an axis") ||
            !verify_scalar(verifier, iter->domain.extent, iter->var->dtype, "extent of an axis") ||
            !verify_scalar(verifier, block->bindings[i], iter->var->dtype, "binding"))
            return false;
    }
    if (!verify_condition(verifier, block->predicate, "predicate"))
        return false;
    for (int i = 0; i < block->iter_count; i++)
        if (!verifier_bind(verifier, block->iters[i].var, "axis", block->iters[i].var->name))
            return false;
    return true;
}

/* Regions may mention the variables that matched buffers define. */
static bool verify_block_buffers(Verifier *verifier, const BlockStmt *block)
{
    for (int i = 0; i < block->alloc_count; i++)
        if (!verify_new_buffer(verifier, block->allocs[i]))
            return false;
    for (int i = 0; i < block->match_count; i++)
        if (!bind_buffer(verifier, block->matches[i].target))
            return false;
    for (int i = 0; i < block->match_count; i++) {
        const MatchBuffer *match = &block->matches[i];
        if (!verify_buffer_fields(verifier, match->target) || !verify_region(verifier, &match->source))
            return false;
        if (!dtype_equal(match->target->dtype, match->source.buffer->dtype) || match->target->ndim > match->source.buffer->ndim)
            return verify_fail(verifier, "buffer '%s' does not match a region of '%s'", match->target->name, match->source.buffer->name);
    }
    return true;
}

/* What the stage leaves of blocks. */
static bool verify_block_stage(Verifier *verifier, const BlockStmt *block)
{
    const char *name = block->block->name;
    if (verifier->stage >= STAGE_UNBLOCKED)
        return verify_fail(verifier, "block '%s' is left", name);
    if (verifier->stage >= STAGE_BARE && (block->alloc_count || block->match_count || !expr_is_int(block->predicate, 1)))
        return verify_fail(verifier, "the %s of block '%s' is left", block->alloc_count ? "allocation" : block->match_count ? "view" : "predicate", name);
    if (verifier->stage >= STAGE_OPAQUE && block->iter_count)
        return verify_fail(verifier, "the axes of block '%s' are left", name);
    if (verifier->stage >= STAGE_INITIALIZED && block->init)
        return verify_fail(verifier, "the init of block '%s' is left", name);
    if (verifier->stage >= STAGE_SCHEDULED && block->incomplete)
        return verify_fail(verifier, "the regions of block '%s' are missing", name);
    return true;
}

static bool verify_block(Verifier *verifier, const BlockStmt *block)
{
    return verify_block_stage(verifier, block) && verifier_bind(verifier, block->block, "block", block->block->name) && verify_iters(verifier, block) &&
           verify_block_buffers(verifier, block) && verify_annotations(verifier, block->annotations) &&
           verify_regions(verifier, block->reads, block->read_count) &&
           verify_regions(verifier, block->writes, block->write_count) && (!block->init || verify_stmt(verifier, block->init)) &&
           verify_stmt(verifier, block->body);
}

static bool verify_seq(Verifier *verifier, const Stmt *seq)
{
    if (seq->as.seq.count == 1)
        return verify_fail(verifier, "a sequence of one statement");
    for (int i = 0; i < seq->as.seq.count; i++) {
        if (seq->as.seq.items[i]->kind == STMT_SEQ)
            return verify_fail(verifier, "a sequence within a sequence");
        if (!verify_stmt(verifier, seq->as.seq.items[i]))
            return false;
    }
    return true;
}

static bool verify_let_stmt(Verifier *verifier, const Stmt *stmt)
{
    const Var *var = stmt->as.let.var;
    return verify_scalar(verifier, stmt->as.let.value, var->dtype, "value of a let") &&
           verifier_bind(verifier, var, "let variable", var->name) && verify_stmt(verifier, stmt->as.let.body);
}

static bool verify_store(Verifier *verifier, const Stmt *stmt)
{
    for (int i = 0; i < stmt->as.store.index_count; i++)
        if (!verify_expr(verifier, stmt->as.store.indices[i]))
            return false;
    if (!verify_expr(verifier, stmt->as.store.value) || (stmt->as.store.mask && !verify_expr(verifier, stmt->as.store.mask)))
        return false;
    return verify_access(verifier, stmt->as.store.buffer, stmt->as.store.indices, stmt->as.store.index_count, stmt->as.store.mask,
                         stmt->as.store.value->dtype);
}

static bool verify_extents(Verifier *verifier, const Expr *const *extents, int count)
{
    for (int i = 0; i < count; i++)
        if (!verify_index(verifier, extents[i], "extent of an allocation"))
            return false;
    return true;
}

static bool verify_allocation(Verifier *verifier, const Var *var, const Expr *const *extents, int count, Attrs annotations, const Stmt *body)
{
    if (var->dtype.code != DT_HANDLE)
        return verify_fail(verifier, "allocation '%s' is no handle", var->name);
    return verify_extents(verifier, extents, count) && verify_annotations(verifier, annotations) &&
           verifier_bind(verifier, var, "allocation", var->name) && verify_stmt(verifier, body);
}

static bool verify_allocate_const(Verifier *verifier, const Stmt *stmt)
{
    for (int i = 0; i < stmt->as.allocate_const.data_count; i++)
        if (!verify_scalar(verifier, stmt->as.allocate_const.data[i], stmt->as.allocate_const.dtype, "constant"))
            return false;
    return verify_allocation(verifier, stmt->as.allocate_const.var, stmt->as.allocate_const.extents, stmt->as.allocate_const.extent_count,
                             stmt->as.allocate_const.annotations, stmt->as.allocate_const.body);
}

static bool verify_attr(Verifier *verifier, const Stmt *stmt)
{
    if (!stmt->as.attr.node)
        return verify_fail(verifier, "attribute '%s' is of nothing", stmt->as.attr.key);
    return verify_expr(verifier, stmt->as.attr.value) && verify_expr(verifier, stmt->as.attr.node) && verify_stmt(verifier, stmt->as.attr.body);
}

static bool verify_realize(Verifier *verifier, const Stmt *stmt)
{
    if (verifier->stage >= STAGE_LOWERED)
        return verify_fail(verifier, "buffer '%s' is still to be realized", stmt->as.realize.region.buffer->name);
    return verify_region(verifier, &stmt->as.realize.region) && verify_condition(verifier, stmt->as.realize.condition, "condition") &&
           verify_stmt(verifier, stmt->as.realize.body);
}

static bool verify_stmt_parts(Verifier *verifier, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_SEQ: return verify_seq(verifier, stmt);
    case STMT_FOR: return verify_loop(verifier, &stmt->as.loop);
    case STMT_WHILE:
        return verify_condition(verifier, stmt->as.while_loop.condition, "condition") && verify_stmt(verifier, stmt->as.while_loop.body);
    case STMT_BLOCK: return verify_block(verifier, &stmt->as.block);
    case STMT_IF:
        return verify_condition(verifier, stmt->as.branch.condition, "condition") && verify_stmt(verifier, stmt->as.branch.then_body) &&
               (!stmt->as.branch.else_body || verify_stmt(verifier, stmt->as.branch.else_body));
    case STMT_LET: return verify_let_stmt(verifier, stmt);
    case STMT_STORE: return verify_store(verifier, stmt);
    case STMT_EVALUATE: return verify_expr(verifier, stmt->as.evaluate);
    case STMT_ALLOCATE:
        return verify_condition(verifier, stmt->as.allocate.condition, "condition") &&
               verify_allocation(verifier, stmt->as.allocate.var, stmt->as.allocate.extents, stmt->as.allocate.extent_count,
                                 stmt->as.allocate.annotations, stmt->as.allocate.body);
    case STMT_ALLOCATE_CONST: return verify_allocate_const(verifier, stmt);
    case STMT_DECL_BUFFER: return verify_new_buffer(verifier, stmt->as.declare.buffer) && verify_stmt(verifier, stmt->as.declare.body);
    case STMT_ATTR: return verify_attr(verifier, stmt);
    case STMT_ASSERT:
        return verify_condition(verifier, stmt->as.assertion.condition, "condition") && verify_expr(verifier, stmt->as.assertion.message) &&
               verify_stmt(verifier, stmt->as.assertion.body);
    case STMT_REALIZE: return verify_realize(verifier, stmt);
    }
    return false;
}

static bool verify_stmt(Verifier *verifier, const Stmt *stmt)
{
    int scope = verifier_begin_scope(verifier);
    bool good = verify_span(verifier, stmt->span) && verify_stmt_parts(verifier, stmt);
    verifier_end_scope(verifier, scope);
    return good;
}

/* --- functions --- */

static bool verify_params(Verifier *verifier, const Func *func)
{
    for (int i = 0; i < func->param_count; i++) {
        const Param *param = &func->params[i];
        if (!verifier_bind(verifier, param->param, "parameter", param->param->name))
            return false;
        if (param->buffer && param->param->dtype.code != DT_HANDLE)
            return verify_fail(verifier, "buffer parameter '%s' is no handle", param->param->name);
    }
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer && !bind_buffer(verifier, func->params[i].buffer))
            return false;
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer && !verify_buffer_fields(verifier, func->params[i].buffer))
            return false;
    return true;
}

bool verify_func(Context *ctx, const Func *func, Stage stage, const char **why)
{
    const char *ignored;
    Verifier verifier = {.ctx = ctx, .stage = stage, .function = func->name, .why = why ? why : &ignored};
    *verifier.why = NULL;
    return verify_span(&verifier, func->span) && verify_params(&verifier, func) && verify_stmt(&verifier, func->body);
}

bool verify_module(Context *ctx, const Module *module, Stage stage, const char **why)
{
    for (int i = 0; i < module->func_count; i++) {
        if (!verify_func(ctx, module->funcs[i], stage, why))
            return false;
        if (module_find(module, module->funcs[i]->name) == module->funcs[i])
            continue;
        if (why)
            *why = arena_printf(ctx->arena, "function '%s' is defined twice", module->funcs[i]->name);
        return false;
    }
    return true;
}
