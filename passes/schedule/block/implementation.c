/* Does an implementation touch what its description touches? See implementation.h. What both compute is not compared: the implementation is
   the user's word for that.

   The rest of a program knows of a tensorized block what its description says, so that
     - an element that the implementation leaves out would keep an older value, or none;
     - one that only the implementation writes would lose the value that others read;
     - an init runs before the first instance alone, and all else in each instance;
     - a target that one of them adds to and the other one fills holds another value where it was written before.
   The two functions, over the same buffers, are put behind one another, and each write of one must be covered by those of the other. Calls
   write what the block around them declares, where they are given a pointer to it. */
#include <stdarg.h>

#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_point.h"
#include "passes/analysis/pairs/pair.h"
#include "passes/analysis/prove/explain.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/analysis/questions/faults.h"
#include "passes/schedule/block/implementation.h"

typedef struct {
    Context *ctx;
    Schedule *sch; /* whose step puts the implementation in; NULL where the intrinsic is registered: then only what certainly differs is a mistake */
    const TensorIntrin *intrin;
    const BlockStmt *described, *implemented; /* the roots, in one function */
    const Func *func;
    AccessList accesses;
    Map sizes;
    bool apart; /* an init and what is behind it are compared by themselves */
} Comparison;

/* --- both in one function --- */

/* A store into lanes that lie apart, as a loop over them: each of them is an element that is certainly written. */
static const Stmt *lanes_one_by_one(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    if (stmt->kind != STMT_STORE || stmt->as.store.mask)
        return rewrite_stmt_children(rewriter, stmt);
    int count = stmt->as.store.buffer->ndim;
    const Expr *last = count ? stmt->as.store.indices[count - 1] : NULL;
    if (!last || last->kind != EXPR_RAMP || expr_is_int(last->args[1], 1) || last->args[0]->dtype.lanes > 1)
        return stmt;
    DType type = last->args[0]->dtype;
    Var *lane = var_new(ctx, "lane", type, stmt->span);
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < count - 1; i++)
        indices[i] = stmt->as.store.indices[i];
    indices[count - 1] = op_add(ctx, last->args[0], op_mul(ctx, expr_var(ctx, lane), last->args[1]));
    const Expr *value = stmt->as.store.value;
    const Stmt *store = stmt_store(ctx, stmt->as.store.buffer, indices, count, value, NULL, stmt->span);
    return stmt_for_serial(ctx, lane, NULL, expr_int(ctx, type, last->dtype.lanes), store, stmt->span);
}

static void subst_sizes(Context *ctx, Subst *subst, const Expr *const *from, const Expr *const *to, int count)
{
    for (int i = 0; from && to && i < count; i++)
        if (from[i]->kind == EXPR_VAR && from[i] != to[i] && !map_has(&subst->vars, from[i]->value.var))
            subst_var(ctx, subst, from[i]->value.var, op_cast(ctx, from[i]->dtype, to[i]));
}

/* The implementation's buffer TO. A size that it leaves open is that of the description's buffer FROM. It begins so far behind the start of its
   memory that a buffer over the same memory reaches it only where its text names TO's offset. */
static Buffer *buffer_for_both(Context *ctx, const Buffer *from, const Buffer *to)
{
    Buffer both = *to;
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, to->ndim);
    for (int d = 0; d < to->ndim; d++)
        shape[d] = to->shape[d]->kind == EXPR_VAR && from->shape[d]->kind != EXPR_VAR ? from->shape[d] : to->shape[d];
    both.shape = shape;
    if (to->elem_offset->kind == EXPR_VAR)
        both.elem_offset = expr_int(ctx, to->elem_offset->dtype, 1 << 30);
    return buffer_clone(ctx, &both);
}

/* FUNC's body over BUFFERS, in the order of its parameters. */
static const Stmt *body_over(Context *ctx, const Func *func, Buffer *const *buffers)
{
    Subst subst = {0};
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *from = func->params[i].buffer, *to = buffers[i];
        subst_sizes(ctx, &subst, from->shape, to->shape, from->ndim);
        subst_sizes(ctx, &subst, from->strides, to->strides, from->ndim);
        subst_sizes(ctx, &subst, &from->elem_offset, &to->elem_offset, 1);
        subst_var(ctx, &subst, from->data, expr_var(ctx, to->data));
        subst_buffer(ctx, &subst, from, buffers[i]);
    }
    return subst_stmt(ctx, &subst, func->body);
}

static Comparison comparison_new(Context *ctx, Schedule *sch, const TensorIntrin *intrin)
{
    Rewriter lanes = {.ctx = ctx, .stmt = lanes_one_by_one};
    Func func = *intrin->implementation;
    Buffer **buffers = ARENA_ARRAY(ctx->arena, Buffer *, func.param_count);
    func.params = arena_copy(ctx->arena, func.params, sizeof *func.params * (size_t)func.param_count);
    for (int i = 0; i < func.param_count; i++)
        func.params[i].buffer = buffers[i] = buffer_for_both(ctx, intrin->description->params[i].buffer, func.params[i].buffer);
    const Stmt *parts[] = {rewrite_stmt(&lanes, body_over(ctx, intrin->implementation, buffers)), body_over(ctx, intrin->description, buffers)};
    func.body = stmt_seq(ctx, parts, 2);
    Comparison comparison = {.ctx = ctx, .sch = sch, .intrin = intrin, .implemented = &parts[0]->as.block, .described = &parts[1]->as.block};
    comparison.func = arena_copy(ctx->arena, &func, sizeof func);
    comparison.accesses = access_collect(ctx, comparison.func);
    comparison.sizes = func_sizes(ctx, comparison.func);
    return comparison;
}

/* --- what is written --- */

/* Refuses the step, or the intrinsic at PLACE in its implementation. */
static bool __attribute__((format(printf, 3, 4))) refuse(const Comparison *comparison, Span place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(comparison->ctx->arena, format, args);
    va_end(args);
    if (comparison->sch)
        return sched_refuse(comparison->sch, "%s", text);
    diag_error(comparison->ctx, place, "%s", text);
    return false;
}

static void note_at(const Comparison *comparison, Span span, const char *text)
{
    if (comparison->sch)
        sched_note(comparison->sch, span, "%s", text);
    else
        diag_note(comparison->ctx, span, "%s", text);
}

static void note_implementation(const Comparison *comparison)
{
    if (comparison->sch)
        note_at(comparison, comparison->intrin->implementation->name_span, "the implementation is here");
}

static bool in_init_of(const Access *access, const BlockStmt *root)
{
    return frame_in_init(access->frame, frame_of_block(access->frame, root->block));
}

/* ACCESS of the part below FROM is covered by the writes below ROOT. */
static Answer is_written_by(const Comparison *comparison, const Access *access, const BlockStmt *from, const BlockStmt *root)
{
    Context *ctx = comparison->ctx;
    AccessRefs writes = {0};
    for (int i = 0; i < comparison->accesses.count; i++) {
        const Access *write = &comparison->accesses.data[i];
        bool counts = write->write && !write->fence && write->data == access->data && access_in_block(write, root->block);
        if (counts && (!comparison->apart || in_init_of(write, root) == in_init_of(access, from)))
            vec_push(ctx->arena, &writes, write);
    }
    Access read = *access;
    read.write = false;
    return access_covered(ctx, writes.data, writes.count, &read, NULL, &comparison->sizes);
}

static const Region *region_of_memory(const BlockStmt *root, const Var *data)
{
    for (int i = 0; i < root->write_count; i++)
        if (root->writes[i].buffer->data == data)
            return &root->writes[i];
    return NULL;
}

static bool is_parameter(const Func *func, const Buffer *buffer)
{
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer)
            return true;
    return false;
}

static bool refuse_write(const Comparison *comparison, const Access *access, bool missing, Answer answer)
{
    Str name = comparison->intrin->name;
    const char *buffer = region_of_memory(comparison->implemented, access->data)->buffer->name;
    bool refuted = answer.verdict == ANSWER_REFUTED && is_parameter(comparison->func, access->buffer);
    Span place = missing ? comparison->intrin->implementation->name_span : access->span;
    if (!comparison->sch && !refuted)
        return true;
    if (refuted)
        refuse(comparison, place, missing ? "the implementation of '%s' does not write %s, as its description does"
                                          : "the implementation of '%s' writes %s, which its description does not write", name, answer.text);
    else
        refuse(comparison, place, missing ? "the implementation of '%s' is not shown to write all elements of '%s' that its description writes"
                                          : "the implementation of '%s' is not shown to write only elements of '%s' that its description writes",
               name, buffer);
    if (missing) {
        note_implementation(comparison);
        note_at(comparison, access->span, "the description writes it here");
    } else if (comparison->sch) {
        note_at(comparison, access->span, "it writes here");
    }
    return false;
}

/* What is written below FROM is written below ROOT. */
static bool check_written(const Comparison *comparison, const BlockStmt *from, const BlockStmt *root)
{
    for (int i = 0; i < comparison->accesses.count; i++) {
        const Access *access = &comparison->accesses.data[i];
        bool counts = access->write && !access->fence && access_in_block(access, from->block);
        if (!counts || !region_of_memory(root, access->data))
            continue;
        Answer answer = is_written_by(comparison, access, from, root);
        if (!answer_is_shown(answer) && !refuse_write(comparison, access, from == comparison->described, answer))
            return false;
    }
    return true;
}

/* --- inits --- */

static bool has_inner_init(const BlockStmt *root)
{
    const Stmt *inner = root->body;
    while (inner->kind == STMT_FOR)
        inner = inner->as.loop.body;
    return inner->kind == STMT_BLOCK && inner->as.block.init;
}

static const Iter *reduced_axis(const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && !expr_is_int(block->iters[i].domain.extent, 1))
            return &block->iters[i];
    return NULL;
}

static bool refuse_init(const Comparison *comparison, const char *text)
{
    refuse(comparison, comparison->intrin->implementation->name_span, "%s", text);
    note_implementation(comparison);
    return false;
}

/* An init of the implementation, where its description has none at all. */
static bool check_own_init(Comparison *comparison)
{
    const BlockStmt *described = comparison->described, *implemented = comparison->implemented;
    comparison->apart = described->init && implemented->init;
    if (!implemented->init || described->init || has_inner_init(described))
        return true;
    return refuse_init(comparison, arena_printf(comparison->ctx->arena, "the implementation of '%s' begins with an init, and its description has none",
                                                comparison->intrin->name));
}

/* An init of the description's block runs before the first of the instances that reduce together, as that of the implementation does; one
   inside of it runs in each instance, and matches no block with an axis that reduces. */
static bool check_inits(Comparison *comparison, const BlockStmt *block)
{
    const Iter *axis = reduced_axis(block);
    if (!axis || !comparison->described->init || comparison->implemented->init)
        return check_own_init(comparison);
    return refuse_init(comparison, arena_printf(comparison->ctx->arena,
                                                "the init in the description of '%s' runs before the first instance over axis '%s' alone, and its implementation has none",
                                                comparison->intrin->name, axis->var->name));
}

/* --- what is found there --- */

/* A buffer that is written: what it held before is read by both, or by none. */
static bool check_reads_before(const Comparison *comparison, const Buffer *buffer)
{
    Schedule *sch = comparison->sch;
    const BlockStmt *described = comparison->described, *implemented = comparison->implemented;
    bool new = answer_is_shown(dependence_reads_own_writes(comparison->ctx, comparison->func, described->block, buffer));
    if (new == answer_is_shown(dependence_reads_own_writes(comparison->ctx, comparison->func, implemented->block, buffer)))
        return true;
    sched_refuse(sch, new ? "the implementation of '%s' is not shown to read of '%s' only what it has written before, as its description does"
                          : "the description of '%s' may read what '%s' held before, and its implementation does not",
                 comparison->intrin->name, buffer->name);
    sched_note(sch, comparison->intrin->implementation->name_span, "the implementation is here");
    return false;
}

bool check_implementation_does_as_described(Schedule *sch, const TensorIntrin *intrin, const BlockStmt *block)
{
    Comparison comparison = comparison_new(sch->ctx, sch, intrin);
    if (!check_inits(&comparison, block) || !check_written(&comparison, comparison.described, comparison.implemented) ||
        !check_written(&comparison, comparison.implemented, comparison.described))
        return false;
    for (int i = 0; i < comparison.described->write_count; i++)
        if (!check_reads_before(&comparison, comparison.described->writes[i].buffer))
            return false;
    return true;
}

/* READ is of the element that WRITE, of the same statement, writes. */
static bool updates(const Access *write, const Access *read)
{
    return !read->write && read->stmt == write->stmt && read->data == write->data && access_same_point(read, write);
}

/* Each write of the description to DATA adds to what the element held before. */
static bool describes_update(const Comparison *comparison, const Var *data)
{
    bool found = false;
    for (int i = 0; i < comparison->accesses.count; i++) {
        const Access *write = &comparison->accesses.data[i];
        if (!write->write || write->data != data || !access_in_block(write, comparison->described->block))
            continue;
        bool update = false;
        for (int k = 0; k < comparison->accesses.count && !update; k++)
            update = updates(write, &comparison->accesses.data[k]);
        if (!update || access_in_init(write))
            return false;
        found = true;
    }
    return found;
}

/* The implementation certainly writes an element of WRITE, which it cannot have read before: what it held is lost. */
static bool check_read_before(const Comparison *comparison, const Access *write)
{
    AccessRefs reads = {0};
    for (int i = 0; i < comparison->accesses.count; i++) {
        Access *read = &comparison->accesses.data[i];
        if (read->write || !access_in_block(read, comparison->implemented->block) || !(read->fence || read->data == write->data))
            continue;
        if (read->fence || read->may || read->whole)
            return true;
        bool later = read->stmt != write->stmt && access_precedes(write, read) &&
                     frame_loop_count(frame_common(write->frame, read->frame)) == 0;
        Access *touched = arena_copy(comparison->ctx->arena, read, sizeof *read);
        touched->write = true;
        if (!later)
            vec_push(comparison->ctx->arena, &reads, touched);
    }
    Access wanted = *write;
    wanted.write = false;
    const Frame *place = reads.count ? NULL : write->frame;
    Answer answer = access_covered(comparison->ctx, reads.data, reads.count, &wanted, place, &comparison->sizes);
    if (answer.verdict != ANSWER_REFUTED || !is_parameter(comparison->func, write->buffer))
        return true;
    return refuse(comparison, write->span, "the implementation of '%s' writes %s without having read it, and its description reads what it held",
                  comparison->intrin->name, answer.text);
}

/* The body of FUNC asks for the strides of its buffers: a witness may be one of strides that no call has. */
static bool uses_strides(const Func *func)
{
    for (int i = 0; i < func->param_count; i++)
        for (int d = 0; func->params[i].buffer->strides && d < func->params[i].buffer->ndim; d++) {
            const Expr *stride = func->params[i].buffer->strides[d];
            if (stride->kind == EXPR_VAR && stmt_uses_var(func->body, stride->value.var))
                return true;
        }
    return false;
}

static bool check_updates(const Comparison *comparison)
{
    if (uses_strides(comparison->func))
        return true;
    for (int i = 0; i < comparison->accesses.count; i++) {
        const Access *write = &comparison->accesses.data[i];
        bool counts = write->write && !write->fence && !write->may && access_in_block(write, comparison->implemented->block) && !access_in_init(write);
        if (counts && describes_update(comparison, write->data) && !check_read_before(comparison, write))
            return false;
    }
    return true;
}

/* The sizes of the description are numbers, so that a witness stands for all calls. */
static bool has_constant_sizes(const Func *func)
{
    int64_t extent;
    for (int i = 0; i < func->param_count; i++)
        for (int d = 0; d < func->params[i].buffer->ndim; d++)
            if (!expr_const_int(func->params[i].buffer->shape[d], &extent))
                return false;
    return true;
}

/* What the implementation does wrong by itself. */
static bool check_faults(Context *ctx, const TensorIntrin *intrin)
{
    FaultList faults = faults_collect(ctx, intrin->implementation);
    for (int i = 0; i < faults.count; i++)
        diag_error(ctx, faults.data[i].span, "the implementation '%s' of '%s' is wrong: %s", intrin->implementation->name, intrin->name,
                   faults.data[i].text);
    return !faults.count;
}

bool check_registered_implementation(Context *ctx, const TensorIntrin *intrin)
{
    if (!check_faults(ctx, intrin))
        return false;
    bool blocks = intrin->description->body->kind == STMT_BLOCK && intrin->implementation->body->kind == STMT_BLOCK;
    if (!blocks || !has_constant_sizes(intrin->description))
        return true;
    Comparison comparison = comparison_new(ctx, NULL, intrin);
    return check_own_init(&comparison) && check_written(&comparison, comparison.described, comparison.implemented) &&
           check_written(&comparison, comparison.implemented, comparison.described) && check_updates(&comparison);
}
