/* Compiles a function: variables get slots, buffers get numbers, declarations become patterns, statements become nodes. Blocks are in
   interp_compile_block.c. */
#include <string.h>

#include "ir/elements.h"
#include "interp/interp_internal.h"

/* --- Variables --- */
int compile_new_slots(Compiler *compiler, int count)
{
    int slot = compiler->program->slot_count;
    compiler->program->slot_count += count;
    return slot;
}

bool compile_is_defined(const Compiler *compiler, const Var *var)
{
    return map_has(&compiler->slots, var);
}

int compile_define(Compiler *compiler, const Var *var)
{
    if (compile_is_defined(compiler, var))
        return (int)(intptr_t)map_get(&compiler->slots, var) - 1;
    int slot = compile_new_slots(compiler, var->dtype.lanes);
    map_set(compiler->arena, &compiler->slots, var, (void *)(intptr_t)(slot + 1));
    return slot;
}

int compile_slot(Compiler *compiler, const Var *var, Span span)
{
    if (!compile_is_defined(compiler, var)) {
        diag_error(compiler->ctx, span.file ? span : var->span, "variable '%s' has no value here", var->name);
        compiler->failed = true;
        return 0;
    }
    return (int)(intptr_t)map_get(&compiler->slots, var) - 1;
}

/* --- Buffers --- */
BufferInfo *compile_buffer(Compiler *compiler, const Buffer *buffer)
{
    BufferInfo *info = map_get(&compiler->buffers, buffer);
    if (info)
        return info;
    info = ARENA_NEW(compiler->arena, BufferInfo);
    DType lane = dtype_scalar(buffer->dtype);
    *info = (BufferInfo){.buffer = buffer,
                         .index = compiler->program->buffer_count++,
                         .dims = compiler->program->dims_count,
                         .lanes = buffer->dtype.lanes,
                         .bytes = dtype_bytes(lane),
                         .dtype = lane};
    compiler->program->dims_count += 2 * buffer->ndim;
    map_set(compiler->arena, &compiler->buffers, buffer, info);
    return info;
}

BufferInfo *compile_buffer_layout(Compiler *compiler, const Buffer *buffer)
{
    BufferInfo *info = compile_buffer(compiler, buffer);
    info->data_slot = compile_define(compiler, buffer->data);
    info->shape = compile_indices(compiler, buffer->shape, buffer->ndim);
    info->strides = buffer->strides ? compile_indices(compiler, buffer->strides, buffer->ndim) : NULL;
    info->elem_offset = compile_index(compiler, buffer->elem_offset);
    int64_t first[buffer->ndim + 1], second[buffer->ndim + 1];
    info->must_differ = map_has(&compiler->written, buffer) && buffer_elements(buffer, first, second) != ELEMENTS_DISTINCT;
    return info;
}

/* First the variables that stand alone get slots, then everything can be compiled. */
static void define_pattern_vars(Compiler *compiler, const Expr *const *exprs, int count, bool *defines)
{
    for (int i = 0; i < count; i++) {
        defines[i] = exprs[i]->kind == EXPR_VAR && !compile_is_defined(compiler, exprs[i]->value.var);
        if (defines[i])
            compile_define(compiler, exprs[i]->value.var);
    }
}

static void fill_patterns(Pattern *patterns, const EvalNode *const *values, const bool *defines, int count)
{
    for (int i = 0; i < count; i++)
        patterns[i] = (Pattern){values[i], defines[i] ? values[i]->as.slot : -1};
}

typedef struct {
    bool *shape, *strides, offset;
} PatternDefinitions;

static PatternDefinitions define_pattern(Compiler *compiler, const Buffer *buffer)
{
    PatternDefinitions defines = {ARENA_ARRAY(compiler->arena, bool, buffer->ndim), ARENA_ARRAY(compiler->arena, bool, buffer->ndim),
                                  false};
    define_pattern_vars(compiler, buffer->shape, buffer->ndim, defines.shape);
    if (buffer->strides)
        define_pattern_vars(compiler, buffer->strides, buffer->ndim, defines.strides);
    define_pattern_vars(compiler, &buffer->elem_offset, 1, &defines.offset);
    return defines;
}

static BufferPattern finish_pattern(Compiler *compiler, const Buffer *buffer, PatternDefinitions defines)
{
    const BufferInfo *info = compile_buffer_layout(compiler, buffer);
    BufferPattern pattern = {.buffer = info, .shape = ARENA_ARRAY(compiler->arena, Pattern, buffer->ndim)};
    fill_patterns(pattern.shape, info->shape, defines.shape, buffer->ndim);
    if (info->strides) {
        pattern.strides = ARENA_ARRAY(compiler->arena, Pattern, buffer->ndim);
        fill_patterns(pattern.strides, info->strides, defines.strides, buffer->ndim);
    }
    fill_patterns(&pattern.elem_offset, &info->elem_offset, &defines.offset, 1);
    return pattern;
}

BufferPattern compile_pattern(Compiler *compiler, const Buffer *buffer)
{
    PatternDefinitions defines = define_pattern(compiler, buffer);
    return finish_pattern(compiler, buffer, defines);
}

/* --- Nodes and their surroundings --- */
static void push_scope(Compiler *compiler, Scope scope)
{
    compiler->scope = arena_copy(compiler->arena, &scope, sizeof scope);
}

void compile_push_loop_scope(Compiler *compiler, const Stmt *stmt, const LoopInfo *loop)
{
    push_scope(compiler, (Scope){.parent = compiler->scope, .loop = loop->name, .span = stmt->span, .slot = loop->slot});
}

void compile_push_block_scope(Compiler *compiler, const BlockInfo *block)
{
    push_scope(compiler, (Scope){.parent = compiler->scope, .block = block});
}

ExecNode *compile_node(Compiler *compiler, ExecKind kind, const Stmt *stmt)
{
    ExecNode *node = ARENA_NEW(compiler->arena, ExecNode);
    node->kind = kind;
    node->span = stmt->span;
    node->source = stmt;
    node->scope = compiler->scope;
    return node;
}

void compile_push_path(Compiler *compiler, PathKind kind, ExecNode *node, const Stmt *stmt)
{
    PathEntry entry = {.kind = kind, .node = node, .source = stmt};
    vec_push(compiler->arena, &compiler->path, entry);
}

/* The body of a construct, with its entry on the path. */
static const ExecNode *compile_body(Compiler *compiler, PathKind kind, ExecNode *node, const Stmt *stmt, const Stmt *body)
{
    compile_push_path(compiler, kind, node, stmt);
    const ExecNode *result = compile_stmt(compiler, body);
    (void)vec_pop(&compiler->path);
    return result;
}

/* --- Statements --- */
static const ExecNode *compile_seq(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_SEQ, stmt);
    node->as.seq.count = stmt->as.seq.count;
    node->as.seq.items = ARENA_ARRAY(compiler->arena, const ExecNode *, stmt->as.seq.count);
    for (int i = 0; i < stmt->as.seq.count; i++)
        node->as.seq.items[i] = compile_stmt(compiler, stmt->as.seq.items[i]);
    return node;
}

static const ExecNode *compile_for(Compiler *compiler, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    if (loop->kind == FOR_THREAD)
        return compile_launch(compiler, stmt);
    ExecNode *node = compile_node(compiler, EXEC_LOOP, stmt);
    LoopInfo *info = &node->as.loop;
    info->min = compile_index(compiler, loop->min);
    info->extent = compile_index(compiler, loop->extent);
    info->kind = loop->kind;
    info->name = loop->var->name;
    info->slot = compile_define(compiler, loop->var);
    const Scope *outer = compiler->scope;
    compile_loop_guards(compiler, loop, info);
    compile_push_loop_scope(compiler, stmt, info);
    info->body = compile_body(compiler, PATH_LOOP, node, stmt, loop->body);
    compiler->scope = outer;
    return node;
}

static const ExecNode *compile_while(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_WHILE, stmt);
    node->as.repeat.condition = compile_expr(compiler, stmt->as.while_loop.condition);
    node->as.repeat.iteration_slot = compile_new_slots(compiler, 1);
    node->as.repeat.body = compile_body(compiler, PATH_WHILE, node, stmt, stmt->as.while_loop.body);
    return node;
}

static const ExecNode *compile_if(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_IF, stmt);
    node->as.branch.condition = compile_expr(compiler, stmt->as.branch.condition);
    node->as.branch.then_body = compile_body(compiler, PATH_IF, node, stmt, stmt->as.branch.then_body);
    if (!stmt->as.branch.else_body)
        return node;
    compile_push_path(compiler, PATH_IF, node, stmt);
    vec_last(&compiler->path).negated = true;
    node->as.branch.else_body = compile_stmt(compiler, stmt->as.branch.else_body);
    (void)vec_pop(&compiler->path);
    return node;
}

static const ExecNode *compile_let(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_LET, stmt);
    node->as.let.assignment.value = compile_expr(compiler, stmt->as.let.value);
    node->as.let.assignment.slot = compile_define(compiler, stmt->as.let.var);
    node->as.let.body = compile_body(compiler, PATH_LET, node, stmt, stmt->as.let.body);
    return node;
}

/* VALUE may be an element as it is, as another type, or as a condition chooses it. Select computes both of its sides: the other one must read
   nothing. */
static bool may_copy(const EvalNode *value)
{
    const Expr *expr = value->source;
    bool chooses = expr_is_call(expr, OP_IF_THEN_ELSE) ||
                   (expr->kind == EXPR_SELECT && (expr_is_pure(expr->args[1]) || expr_is_pure(expr->args[2])));
    return expr->kind == EXPR_LOAD || (expr->kind == EXPR_CAST && may_copy(value->args[0])) ||
           (chooses && (may_copy(value->args[1]) || may_copy(value->args[2])));
}

static const ExecNode *compile_store(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_STORE, stmt);
    const BufferInfo *buffer = compile_buffer(compiler, stmt->as.store.buffer);
    int count = stmt->as.store.index_count;
    node->as.store.access =
        (Access){stmt, stmt->span, buffer, compile_indices(compiler, (const Expr *const *)stmt->as.store.indices, count), count};
    node->as.store.value = compile_expr(compiler, stmt->as.store.value);
    node->as.store.mask = stmt->as.store.mask ? compile_expr(compiler, stmt->as.store.mask) : NULL;
    node->as.store.lanes = stmt->as.store.value->dtype.lanes;
    node->as.store.undefined = expr_is_call(stmt->as.store.value, OP_UNDEF);
    node->as.store.copies = may_copy(node->as.store.value);
    return node;
}

static const ExecNode *compile_evaluate(Compiler *compiler, const Stmt *stmt)
{
    const AllreduceInfo *allreduce = compile_allreduce(compiler, stmt->as.evaluate);
    ExecNode *node = compile_node(compiler, allreduce ? EXEC_ALLREDUCE : EXEC_EVALUATE, stmt);
    if (allreduce) {
        node->as.allreduce = allreduce;
        return node;
    }
    node->as.evaluate = compile_expr(compiler, stmt->as.evaluate);
    return node;
}

static const ExecNode *compile_attr(Compiler *compiler, const Stmt *stmt)
{
    const Expr *outer = compiler->reducer;
    if (!strcmp(stmt->as.attr.key, "reduce_scope") && expr_is_call(stmt->as.attr.node, OP_COMM_REDUCER))
        compiler->reducer = stmt->as.attr.node;
    const ExecNode *result = compile_stmt(compiler, stmt->as.attr.body);
    compiler->reducer = outer;
    return result;
}

AllocateInfo compile_allocate_buffer(Compiler *compiler, const Buffer *buffer)
{
    const BufferInfo *info = compile_buffer_layout(compiler, buffer);
    return (AllocateInfo){.slot = info->data_slot,
                          .scope = buffer->scope,
                          .dtype = buffer->dtype,
                          .extents = info->shape,
                          .extent_count = buffer->ndim,
                          .buffer = info,
                          .name = buffer->name};
}

static const ExecNode *compile_allocate(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_ALLOCATE, stmt);
    AllocateInfo *info = &node->as.allocate;
    *info = (AllocateInfo){.slot = compile_define(compiler, stmt->as.allocate.var),
                           .scope = stmt->as.allocate.scope,
                           .dtype = stmt->as.allocate.dtype,
                           .name = stmt->as.allocate.var->name};
    info->extent_count = stmt->as.allocate.extent_count;
    info->extents = compile_indices(compiler, (const Expr *const *)stmt->as.allocate.extents, info->extent_count);
    info->body = compile_body(compiler, PATH_ALLOCATE, node, stmt, stmt->as.allocate.body);
    return node;
}

static const ExecNode *compile_allocate_const(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_ALLOCATE, stmt);
    AllocateInfo *info = &node->as.allocate;
    *info = (AllocateInfo){.slot = compile_define(compiler, stmt->as.allocate_const.var),
                           .scope = "global",
                           .dtype = stmt->as.allocate_const.dtype,
                           .name = stmt->as.allocate_const.var->name};
    info->extent_count = stmt->as.allocate_const.extent_count;
    info->extents = compile_indices(compiler, (const Expr *const *)stmt->as.allocate_const.extents, info->extent_count);
    info->constants = stmt->as.allocate_const.data;
    info->constant_count = stmt->as.allocate_const.data_count;
    info->body = compile_body(compiler, PATH_ALLOCATE, node, stmt, stmt->as.allocate_const.body);
    return node;
}

static const ExecNode *compile_allocate_node(Compiler *compiler, const Stmt *stmt, const Buffer *buffer, const Stmt *body)
{
    ExecNode *node = compile_node(compiler, EXEC_ALLOCATE, stmt);
    node->as.allocate = compile_allocate_buffer(compiler, buffer);
    node->as.allocate.body = compile_body(compiler, PATH_ALLOCATE, node, stmt, body);
    return node;
}

/* A declaration over no existing memory allocates it. */
static const ExecNode *compile_declare(Compiler *compiler, const Stmt *stmt)
{
    const Buffer *buffer = stmt->as.declare.buffer;
    if (!compile_is_defined(compiler, buffer->data))
        return compile_allocate_node(compiler, stmt, buffer, stmt->as.declare.body);
    ExecNode *node = compile_node(compiler, EXEC_DECLARE, stmt);
    node->as.declare.buffer = compile_buffer_layout(compiler, buffer);
    node->as.declare.body = compile_body(compiler, PATH_DECLARE, node, stmt, stmt->as.declare.body);
    return node;
}

static const ExecNode *compile_assert(Compiler *compiler, const Stmt *stmt)
{
    ExecNode *node = compile_node(compiler, EXEC_ASSERT, stmt);
    const Expr *message = stmt->as.assertion.message;
    node->as.assertion.condition = compile_expr(compiler, stmt->as.assertion.condition);
    node->as.assertion.message = message && message->kind == EXPR_STRING ? message->value.text : "";
    node->as.assertion.body = compile_stmt(compiler, stmt->as.assertion.body);
    return node;
}

const ExecNode *compile_stmt(Compiler *compiler, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_SEQ: return compile_seq(compiler, stmt);
    case STMT_FOR: return compile_for(compiler, stmt);
    case STMT_WHILE: return compile_while(compiler, stmt);
    case STMT_BLOCK: return compile_block(compiler, stmt);
    case STMT_IF: return compile_if(compiler, stmt);
    case STMT_LET: return compile_let(compiler, stmt);
    case STMT_STORE: return compile_store(compiler, stmt);
    case STMT_EVALUATE: return compile_evaluate(compiler, stmt);
    case STMT_ALLOCATE: return compile_allocate(compiler, stmt);
    case STMT_ALLOCATE_CONST: return compile_allocate_const(compiler, stmt);
    case STMT_DECL_BUFFER: return compile_declare(compiler, stmt);
    case STMT_ATTR: return compile_attr(compiler, stmt);
    case STMT_ASSERT: return compile_assert(compiler, stmt);
    case STMT_REALIZE:
        if (func_is_argument(compiler->program->func, stmt->as.realize.region.buffer->data)) /* its memory is there */
            return compile_stmt(compiler, stmt->as.realize.body);
        return compile_allocate_node(compiler, stmt, stmt->as.realize.region.buffer, stmt->as.realize.body);
    }
    BUG("statement kind %d", stmt->kind);
}

/* --- Functions --- */
/* All parameters' variables are defined before any declaration is compiled, since a shape may mention what a later parameter defines. */
static void compile_params(Compiler *compiler, const Func *func)
{
    Program *program = compiler->program;
    program->params = ARENA_ARRAY(compiler->arena, BufferPattern, func->param_count);
    program->param_slots = ARENA_ARRAY(compiler->arena, int, func->param_count);
    PatternDefinitions *defines = ARENA_ARRAY(compiler->arena, PatternDefinitions, func->param_count);
    for (int i = 0; i < func->param_count; i++)
        program->param_slots[i] = compile_define(compiler, func->params[i].param);
    for (int i = 0; i < compiler->options->symbol_count; i++)
        compile_define(compiler, compiler->options->symbols[i].var);
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            defines[i] = define_pattern(compiler, func->params[i].buffer);
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            program->params[i] = finish_pattern(compiler, func->params[i].buffer, defines[i]);
}

const Program *interp_compile(Context *ctx, Arena *arena, const Func *func, const InterpOptions *options)
{
    Program *program = ARENA_NEW(arena, Program);
    Compiler compiler = {.ctx = ctx, .arena = arena, .options = options, .program = program};
    program->func = func;
    compiler.written = func_written_buffers(ctx, func);
    program->symbol_slots = ARENA_ARRAY(arena, int, options->symbol_count);
    compile_params(&compiler, func);
    for (int i = 0; i < options->symbol_count; i++)
        program->symbol_slots[i] = compile_slot(&compiler, options->symbols[i].var, span_none());
    program->body = compile_stmt(&compiler, func->body);
    return compiler.failed ? NULL : program;
}
