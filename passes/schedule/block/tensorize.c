/* tensorize: a block (or the subtree of a loop, which is blockized first) that computes what a tensor intrinsic describes is replaced by
   the intrinsic's implementation.

   The block must match the description structurally, up to a renaming of variables, with each buffer of the description standing for a tile
   of a buffer of the program. The implementation's buffers become match_buffer views of those tiles; where one is written, it must not
   overlap another, as parameters never do. What the views require of strides, offsets and alignment is checked where the buffers get their
   final layout, by lowering. */
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/questions/callees.h"
#include "passes/schedule/block/blockize.h"
#include "passes/schedule/block/implementation.h"
#include "passes/schedule/block/index_width.h"
#include "passes/schedule/block/match.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/core/storage.h"
#include "print/print.h"
#include "verify/verify.h"

/* --- a fresh copy of the implementation --- */

/* The implementation's root block with fresh symbols and its indices in INDEX_TYPE; VIEWS gets its parameter buffers, in the order of the
   parameters. */
static const BlockStmt *fresh_implementation(Context *ctx, const Func *implementation, DType index_type, Buffer **views, Span span)
{
    Subst subst = {0};
    for (int i = 0; i < implementation->param_count; i++) {
        const Buffer *buffer = implementation->params[i].buffer;
        if (!buffer)
            continue;
        for (int d = 0; d < buffer->ndim; d++)
            if (buffer->shape[d]->kind == EXPR_VAR && !map_has(&subst.vars, buffer->shape[d]->value.var))
                subst_var(ctx, &subst, buffer->shape[d]->value.var,
                          expr_var(ctx, var_clone(ctx, buffer->shape[d]->value.var, buffer->shape[d]->value.var->name)));
        for (int d = 0; buffer->strides && d < buffer->ndim; d++)
            if (buffer->strides[d]->kind == EXPR_VAR && !map_has(&subst.vars, buffer->strides[d]->value.var))
                subst_var(ctx, &subst, buffer->strides[d]->value.var,
                          expr_var(ctx, var_clone(ctx, buffer->strides[d]->value.var, buffer->strides[d]->value.var->name)));
        Var *offset = buffer->elem_offset->kind == EXPR_VAR ? buffer->elem_offset->value.var : NULL;
        if (offset && !map_has(&subst.vars, offset))
            subst_var(ctx, &subst, offset, expr_var(ctx, var_clone(ctx, offset, offset->name)));
        subst_var(ctx, &subst, buffer->data, expr_var(ctx, var_clone(ctx, buffer->data, buffer->data->name)));
    }
    const Stmt *body = subst_stmt(ctx, &subst, implementation->body);
    for (int i = 0; i < implementation->param_count; i++) {
        views[i] = implementation->params[i].buffer ? map_get(&subst.buffers, implementation->params[i].buffer) : NULL;
        if (implementation->params[i].buffer && !views[i]) /* not mentioned in the body */
            views[i] = buffer_clone(ctx, implementation->params[i].buffer);
        if (views[i])
            views[i]->span = span;
    }
    body = index_width_set(ctx, body, views, implementation->param_count, index_type);
    return &clone_fresh(ctx, body)->as.block;
}

static void widest_index(const Region *regions, int count, DType *type)
{
    for (int i = 0; i < count; i++)
        for (int d = 0; d < regions[i].buffer->ndim; d++)
            if (regions[i].ranges[d].min->dtype.bits > type->bits)
                *type = regions[i].ranges[d].min->dtype;
}

/* The widest type in which BLOCK says where it reads and writes. */
static DType index_type_of(const BlockStmt *block)
{
    DType type = DTYPE_INT32;
    widest_index(block->reads, block->read_count, &type);
    widest_index(block->writes, block->write_count, &type);
    return type;
}

/* --- the views --- */

static const Region *implementation_region(const BlockStmt *root, const Buffer *view)
{
    const Region *region = regions_find(root->writes, root->write_count, view);
    return region ? region : regions_find(root->reads, root->read_count, view);
}

/* VIEW's extents are those of the region SOURCE that it stands for; variables of its own stand for any. */
static bool check_view_fits(Schedule *sch, Matcher *matcher, const TensorIntrin *intrin, const Buffer *view, const Region *source)
{
    int lead = source->buffer->ndim - view->ndim;
    for (int d = 0; d < view->ndim; d++) {
        const Expr *extent = source->ranges[d + lead].extent;
        if (view->shape[d]->kind == EXPR_VAR || analyzer_prove_equal(matcher->an, extent, op_cast(sch->ctx, extent->dtype, view->shape[d])))
            continue;
        sched_refuse(sch, "dimension %d of '%s' in the implementation of '%s' has extent %s, and the region that it declares has %s", d, view->name,
                     intrin->name, print_expr(sch->ctx, view->shape[d]), print_expr(sch->ctx, extent));
        sched_note(sch, intrin->implementation->name_span, "the implementation is here");
        return false;
    }
    return true;
}

/* Where VIEW and the buffer of the region SOURCE both state a stride, they agree; what is stated for neither is settled with the layout of the buffer.
   A stride along one element does not count. */
static bool check_strides_agree(Schedule *sch, const TensorIntrin *intrin, const Buffer *view, const Region *source)
{
    const Buffer *buffer = source->buffer;
    int64_t wanted, stated;
    for (int d = 0; view->strides && buffer->strides && d < view->ndim; d++) {
        int at = d + buffer->ndim - view->ndim;
        if (expr_is_int(view->shape[d], 1) || !expr_const_int(view->strides[d], &wanted) || !expr_const_int(buffer->strides[at], &stated) ||
            wanted == stated)
            continue;
        sched_refuse(sch, "the implementation of '%s' needs stride %lld in dimension %d of '%s', and '%s' has stride %lld there", intrin->name,
                     (long long)wanted, d, view->name, buffer->name, (long long)stated);
        sched_note(sch, buffer->span, "'%s' is declared here", buffer->name);
        return false;
    }
    return true;
}

/* The part of the program's buffer that VIEW, of which the implementation declares REGION, stands for. */
static Region tile_region(Matcher *matcher, const TileMap *tile, const Region *region)
{
    Context *ctx = matcher->ctx;
    Region result = {tile->program, ARENA_ARRAY(ctx->arena, Range, tile->program->ndim), region->span};
    for (int d = 0; d < tile->program->ndim; d++) {
        DType type = tile->base[d]->dtype;
        if (d < tile->lead) {
            result.ranges[d] = range_point(ctx, tile->base[d]);
            continue;
        }
        Range part = region->ranges[d - tile->lead];
        result.ranges[d] = (Range){analyzer_simplify(matcher->an, op_add(ctx, tile->base[d], op_cast(ctx, type, part.min))),
                                   op_cast(ctx, type, part.extent)};
    }
    return result;
}

static bool add_views(Schedule *sch, Matcher *matcher, const TensorIntrin *intrin, const BlockStmt *root, Buffer *const *views,
                      BlockStmt *block)
{
    Context *ctx = sch->ctx;
    const Func *description = intrin->description;
    block->matches = ARENA_ARRAY(ctx->arena, MatchBuffer, intrin->implementation->param_count + root->match_count);
    block->match_count = 0;
    for (int i = 0; i < intrin->implementation->param_count; i++) {
        const Region *region = views[i] ? implementation_region(root, views[i]) : NULL;
        if (!region)
            continue;
        const TileMap *tile = matcher_tile(matcher, description->params[i].buffer);
        if (!tile) {
            sched_refuse(sch, "the implementation of '%s' touches '%s', which its description does not", intrin->name, views[i]->name);
            sched_note(sch, intrin->implementation->params[i].buffer->span, "'%s' is declared here", views[i]->name);
            return false;
        }
        MatchBuffer match = {views[i], tile_region(matcher, tile, region)};
        if (!check_view_fits(sch, matcher, intrin, views[i], &match.source) || !check_strides_agree(sch, intrin, views[i], &match.source))
            return false;
        block->matches[block->match_count++] = match;
    }
    for (int i = 0; i < root->match_count; i++) /* views of these views, which ROOT has itself */
        block->matches[block->match_count++] = root->matches[i];
    return true;
}

/* --- the step --- */

static const TensorIntrin *find_intrin(Schedule *sch, const Value *argument)
{
    Str name = argument->as.text;
    const TensorIntrin *intrin = module_intrin(sch->module, name);
    if (intrin)
        return intrin;
    const char **names = ARENA_ARRAY(sch->ctx->arena, const char *, sch->module->intrin_count);
    for (int i = 0; i < sch->module->intrin_count; i++)
        names[i] = sch->module->intrins[i].name;
    const char *near = diag_closest(name, names, sch->module->intrin_count);
    sched_refuse_argument(sch, argument, "there is no tensor intrinsic '%s'; %s%s%s", name,
                          near ? "did you mean '" : "TensorIntrin.register in an input text defines one", near ? near : "", near ? "'?" : "");
    diag_edit_string(sch->ctx, argument->span, near);
    return NULL;
}

/* The parameters were compared when the intrinsic was registered. */
static bool check_intrin(Schedule *sch, const TensorIntrin *intrin)
{
    if (intrin->implementation->body->kind == STMT_BLOCK)
        return true;
    sched_refuse(sch, "the implementation of '%s' holds no block", intrin->name);
    sched_note(sch, intrin->implementation->name_span, "'%s' is here", intrin->implementation->name);
    return false;
}

static bool refuse_mismatch(Schedule *sch, const Matcher *matcher, const TensorIntrin *intrin)
{
    sched_refuse(sch, "the block does not compute what '%s' describes: %s", intrin->name, matcher->mismatch);
    if (matcher->mismatch_span.file)
        sched_note(sch, matcher->mismatch_span, "in the program, here");
    if (matcher->description_span.file)
        sched_note(sch, matcher->description_span, "in the description, here");
    return false;
}

/* What the implementation certainly does wrong by itself, at its line. */
static bool check_implementation(Schedule *sch, const TensorIntrin *intrin)
{
    FaultList faults = faults_collect(sch->ctx, intrin->implementation);
    if (!faults.count)
        return true;
    sched_refuse(sch, "in the implementation of '%s', %s", intrin->name, faults.data[0].text);
    sched_note(sch, faults.data[0].span, "in '%s', here", intrin->implementation->name);
    return false;
}

/* The program is one that could be read back. */
static bool check_result(Schedule *sch, const TensorIntrin *intrin)
{
    const char *why;
    if (verify_func(sch->ctx, schedule_func(sch), STAGE_SCHEDULED, &why))
        return true;
    sched_refuse(sch, "with the implementation of '%s' the program would be malformed: %s", intrin->name, why);
    sched_note(sch, intrin->implementation->name_span, "'%s' is here", intrin->implementation->name);
    return false;
}

static bool tensorize_block(Schedule *sch, const TreeNode *node, const TensorIntrin *intrin)
{
    Matcher matcher = {.ctx = sch->ctx, .an = analyzer_new(sch->ctx)};
    BlockStmt block = *node_block(node);
    if (!match_description(&matcher, &block, intrin->description))
        return refuse_mismatch(sch, &matcher, intrin);
    if (!check_implementation_does_as_described(sch, intrin, &block))
        return false;
    Buffer **views = ARENA_ARRAY(sch->ctx->arena, Buffer *, intrin->implementation->param_count);
    const BlockStmt *root = fresh_implementation(sch->ctx, intrin->implementation, index_type_of(&block), views, sch->call_span);
    if (!add_views(sch, &matcher, intrin, root, views, &block))
        return false;
    if (matcher.reads) {
        block.reads = matcher.reads;
        block.read_count = intrin->description->body->as.block.read_count;
    }
    block.callees = root->callees;
    block.init = root->init;
    block.body = root->body;
    block.allocs = root->allocs;
    block.alloc_count = root->alloc_count;
    for (int i = 0; i < root->annotations.count; i++)
        block.annotations = attrs_set(sch->ctx, block.annotations, root->annotations.entries[i].key, root->annotations.entries[i].value);
    sched_replace(sch, node->stmt, stmt_block(sch->ctx, block, node->stmt->span));
    for (int i = 0; i < block.match_count; i++)
        if (!check_views_fit(sch, block.matches[i].source.buffer))
            return false;
    return check_result(sch, intrin);
}

bool primitive_tensorize(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_target(sch, &args[0]);
    const TensorIntrin *intrin = node ? find_intrin(sch, &args[1]) : NULL;
    if (!intrin || !check_intrin(sch, intrin) || !check_implementation(sch, intrin))
        return false;
    TensorIntrin compared = *intrin; /* an intrinsic may come from another text than the functions that it calls */
    compared.implementation = func_compare_callees(sch->ctx, sch->module, intrin->implementation, NULL);
    if (node->stmt->kind == STMT_FOR) {
        Block *outer = blockize_loop(sch, node, args[2].as.boolean);
        if (!outer)
            return false;
        node = schedule_block(sch, outer);
    }
    return tensorize_block(sch, node, &compared);
}
