/* Pass "inject_software_pipeline": the statements of a loop's body work on different iterations at once.

     for i in T.serial(16, annotations={"software_pipeline_stage": [0, 1],       with T.block(""):
                                        "software_pipeline_order": [0, 1]}):         B = T.alloc_buffer((2, 1))
         with T.block("x"):                                                          ... B[0, 0] = A[0]
             B = T.alloc_buffer((1,))                                       ->       for i in range(15):
             with T.block("y"):                                                          ... B[(i + 1) % 2, 0] = A[i + 1]
                 B[0] = A[i]                                                             ... C[i] = B[i % 2, 0]
             with T.block("z"):                                                      ... C[15] = B[1, 0]
                 C[i] = B[0]

   A statement of stage s works on iteration i - s while those of stage 0 work on iteration i; ORDER says which comes first there. Buffers that the
   body allocates get one version for each iteration that is under way. software_pipeline_async_stages is a hint.

   Legality. Statement a of iteration i runs at time (i + stage of a, order of a). Two statements of which one writes what the other accesses must
   keep the order that they had: in one iteration, and in iterations one apart, which decides for those farther apart. Of a buffer that the
   body allocates, iterations see each other's data only where they share a version, that many iterations apart. */
#include <string.h>

#include "passes/regions/infer_regions.h"
#include "passes/lower/core/effects.h"
#include "passes/transform/internal.h"

#define STAGE "software_pipeline_stage"
#define ORDER "software_pipeline_order"
#define ASYNC "software_pipeline_async_stages"
#define DOUBLE "double_buffer_scope"

typedef struct {
    const Stmt *stmt;
    int stage, order;
    Effects effects;
} Part;

/* A buffer that the body allocates. */
typedef struct {
    Buffer *old, *new; /* NEW has the versions as its first dimension; OLD where there is one */
    int versions;
} Version;

typedef struct {
    Context *ctx;
    const Stmt *stmt; /* the loop */
    const ForStmt *loop;
    VEC(Part) parts; /* as the body has them */
    VEC(Version) versions;
    int most_stage;
    Map memory; /* data Var -> Buffer, of those that may be seen */
    const Expr *iteration; /* that of the part which is rewritten */
} Pipeline;

/* --- reading the annotations --- */

static bool refuse(const Pipeline *p, const char *why)
{
    diag_error(p->ctx, p->stmt->span, "the software pipeline of loop '%s' %s", p->loop->var->name, why);
    return false;
}

static const AttrValue *numbers(const Pipeline *p, const char *key)
{
    const AttrValue *value = attrs_get(p->loop->annotations, key);
    bool good = value && value->kind == ATTR_LIST && value->count == p->parts.count;
    for (int i = 0; good && i < value->count; i++)
        good = value->items[i]->kind == ATTR_EXPR && value->items[i]->expr->kind == EXPR_INT && value->items[i]->expr->value.integer >= 0 &&
               value->items[i]->expr->value.integer < 1024;
    return good ? value : NULL;
}

static bool read_stages(Pipeline *p)
{
    const AttrValue *stages = numbers(p, STAGE), *orders = numbers(p, ORDER);
    if (!stages || !orders)
        return refuse(p, arena_printf(p->ctx->arena, "needs a stage and an order for each of the %d statements of its body", p->parts.count));
    for (int i = 0; i < p->parts.count; i++) {
        p->parts.data[i].stage = (int)stages->items[i]->expr->value.integer;
        p->parts.data[i].order = (int)orders->items[i]->expr->value.integer;
        p->most_stage = p->parts.data[i].stage > p->most_stage ? p->parts.data[i].stage : p->most_stage;
        for (int k = 0; k < i; k++)
            if (p->parts.data[k].order == p->parts.data[i].order)
                return refuse(p, "gives two statements one order");
    }
    return true;
}

/* --- taking the body apart --- */

static bool add_allocations(Pipeline *p, const BlockStmt *block)
{
    if (block->match_count || block->iter_count || !expr_is_int(block->predicate, 1))
        return refuse(p, "needs a body without views, axes and conditions");
    for (int i = 0; i < block->alloc_count; i++)
        vec_push(p->ctx->arena, &p->versions, ((Version){block->allocs[i], block->allocs[i], 1}));
    return true;
}

static bool add_part(Pipeline *p, const Stmt *stmt)
{
    bool nested = stmt->kind == STMT_BLOCK && stmt->as.block.body->kind == STMT_SEQ && !stmt->as.block.match_count &&
                  expr_is_int(stmt->as.block.predicate, 1);
    if (!nested) {
        vec_push(p->ctx->arena, &p->parts, (Part){.stmt = stmt});
        return true;
    }
    const Stmt *seq = stmt->as.block.body;
    if (!add_allocations(p, &stmt->as.block))
        return false;
    for (int i = 0; i < seq->as.seq.count; i++)
        vec_push(p->ctx->arena, &p->parts, (Part){.stmt = seq->as.seq.items[i]});
    return true;
}

static bool take_apart(Pipeline *p)
{
    const Stmt *body = p->loop->body;
    if (body->kind == STMT_BLOCK) {
        if (!add_allocations(p, &body->as.block))
            return false;
        body = body->as.block.body;
    }
    if (body->kind != STMT_SEQ)
        return refuse(p, "needs a body of several statements");
    for (int i = 0; i < body->as.seq.count; i++)
        if (!add_part(p, body->as.seq.items[i]))
            return false;
    return true;
}

/* --- legality --- */

static bool find_opaque(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->opaque;
    return true;
}

static bool has_opaque(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.expr = find_opaque, .data = &found};
    visit_stmt(&visitor, stmt);
    return found || stmt_has_jump(stmt);
}

static bool meet_at(const Part *a, const Part *b, const Var *data)
{
    bool reads_a = map_has(&a->effects.reads, data), writes_a = map_has(&a->effects.writes, data);
    bool reads_b = map_has(&b->effects.reads, data), writes_b = map_has(&b->effects.writes, data);
    return (writes_a && (reads_b || writes_b)) || (writes_b && reads_a);
}

/* A of one iteration runs before B of the one that is DISTANCE later. */
static bool keeps_order(const Part *a, const Part *b, int distance)
{
    int later = b->stage + distance - a->stage;
    return later > 0 || (later == 0 && a->order < b->order);
}

static const Version *version_of(const Pipeline *p, const Var *data)
{
    for (int i = 0; i < p->versions.count; i++)
        if (p->versions.data[i].old->data == data)
            return &p->versions.data[i];
    return NULL;
}

/* A, in the text before B or the same, meets B over the memory DATA in no other order than before. */
static bool keeps_data(const Pipeline *p, int a, int b, const Var *data)
{
    const Part *first = &p->parts.data[a], *second = &p->parts.data[b];
    const Version *version = version_of(p, data);
    int apart = version ? version->versions : 1;
    return !meet_at(first, second, data) || (keeps_order(first, second, apart) && keeps_order(second, first, apart) && (a == b || keeps_order(first, second, 0)));
}

/* The first memory over which A meets B in another order than before; NULL: none. */
static const Var *disordered(const Pipeline *p, int a, int b)
{
    const Map *maps[] = {&p->parts.data[a].effects.reads, &p->parts.data[a].effects.writes};
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < maps[m]->count; i++)
            if (!keeps_data(p, a, b, maps[m]->entries[i].key))
                return maps[m]->entries[i].key;
    return NULL;
}

static const char *memory_name(const Pipeline *p, const Var *data)
{
    const Buffer *buffer = map_get(&p->memory, data);
    return buffer ? buffer->name : data->name;
}

static bool is_legal(const Pipeline *p)
{
    for (int b = 0; b < p->parts.count; b++) {
        if (has_opaque(p->parts.data[b].stmt))
            return refuse(p, "would move calls that may do anything past one another");
        for (int a = 0; a <= b; a++) {
            const Var *data = disordered(p, a, b);
            if (data)
                return refuse(p, arena_printf(p->ctx->arena, "would run statements %d and %d of its body, which both access '%s', in another order",
                                              a, b, memory_name(p, data)));
        }
    }
    return true;
}

/* --- versions --- */

typedef struct {
    const Buffer *buffer;
    bool found;
} DoubleSearch;

/* double_buffer_scope of a block is the place of a buffer among those that it writes. */
static bool find_double(Visitor *visitor, const Stmt *stmt)
{
    DoubleSearch *search = visitor->data;
    const AttrValue *value = stmt->kind == STMT_BLOCK ? attrs_get(stmt->as.block.annotations, DOUBLE) : NULL;
    int64_t at;
    if (value && value->kind == ATTR_EXPR && expr_const_int(value->expr, &at) && at >= 0 && at < stmt->as.block.write_count)
        search->found |= stmt->as.block.writes[at].buffer == search->buffer;
    return !search->found;
}

static bool is_double(const Pipeline *p, const Buffer *buffer)
{
    DoubleSearch search = {buffer, false};
    visit_stmt(&(Visitor){.stmt = find_double, .data = &search}, p->loop->body);
    return search.found;
}

/* As many versions as iterations use BUFFER at a time; one where that does already, two where a block asks for them. */
static int needed_versions(const Pipeline *p, Version *version)
{
    int first = -1, last = -1;
    for (int i = 0; i < p->parts.count; i++) {
        const Part *part = &p->parts.data[i];
        if (map_has(&part->effects.writes, version->old->data) && (first < 0 || part->stage < first))
            first = part->stage;
        if (map_has(&part->effects.reads, version->old->data) && part->stage > last)
            last = part->stage;
    }
    int count = first >= 0 && last > first ? last - first + 1 : 1;
    version->versions = 1;
    bool enough = count == 2;
    for (int b = 0; enough && b < p->parts.count; b++)
        for (int a = 0; enough && a <= b; a++)
            enough = keeps_data(p, a, b, version->old->data);
    count = enough ? 1 : count;
    return count == 1 && is_double(p, version->old) ? 2 : count;
}

static Buffer *versioned(Context *ctx, const Buffer *old, int count)
{
    Buffer *new = buffer_clone(ctx, old);
    DType type = buffer_index_dtype(old);
    new->ndim = old->ndim + 1;
    new->shape = ARENA_ARRAY(ctx->arena, const Expr *, new->ndim);
    new->shape[0] = expr_int(ctx, type, count);
    for (int d = 0; d < old->ndim; d++)
        new->shape[d + 1] = old->shape[d];
    if (old->strides && old->ndim) {
        new->strides = ARENA_ARRAY(ctx->arena, const Expr *, new->ndim);
        new->strides[0] = op_mul(ctx, old->strides[0], old->shape[0]);
        for (int d = 0; d < old->ndim; d++)
            new->strides[d + 1] = old->strides[d];
    }
    return new;
}

typedef struct {
    const Var *data;
    bool found;
} PointerSearch;

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    PointerSearch *search = visitor->data;
    search->found |= expr->kind == EXPR_VAR && expr->value.var == search->data;
    return !search->found;
}

static bool find_declared(Visitor *visitor, const Stmt *stmt)
{
    PointerSearch *search = visitor->data;
    search->found |= stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer->data == search->data;
    return !search->found;
}

/* The body has the pointer of the buffer of DATA, or another buffer over its memory: that reaches one version alone. */
static bool has_other_name(const Pipeline *p, const Var *data)
{
    PointerSearch search = {data, false};
    Visitor visitor = {.expr = find_pointer, .stmt = find_declared, .data = &search};
    visit_stmt(&visitor, p->loop->body);
    return search.found;
}

static bool choose_versions(Pipeline *p)
{
    for (int i = 0; i < p->versions.count; i++) {
        Version *version = &p->versions.data[i];
        version->versions = needed_versions(p, version);
        if (version->versions > 1 && has_other_name(p, version->old->data))
            return refuse(p, arena_printf(p->ctx->arena, "needs several versions of '%s', whose pointer the body uses", version->old->name));
        if (version->versions > 1)
            version->new = versioned(p->ctx, version->old, version->versions);
    }
    return true;
}

/* --- one part in another iteration --- */

static const Expr *version_index(const Pipeline *p, const Version *version)
{
    const Expr *count = expr_int(p->ctx, p->iteration->dtype, version->versions);
    const Expr *index = op_floormod(p->ctx, op_sub(p->ctx, p->iteration, p->loop->min), count);
    return op_cast(p->ctx, buffer_index_dtype(version->old), analyzer_simplify(analyzer_new(p->ctx), index));
}

static const Expr **with_version(const Pipeline *p, const Version *version, const Expr *const *indices)
{
    const Expr **result = ARENA_ARRAY(p->ctx->arena, const Expr *, version->new->ndim);
    result[0] = version_index(p, version);
    for (int d = 0; d < version->old->ndim; d++)
        result[d + 1] = indices[d];
    return result;
}

static const Version *version_of_buffer(const Pipeline *p, const Buffer *buffer)
{
    const Version *version = version_of(p, buffer->data);
    return version && version->versions > 1 && version->old == buffer ? version : NULL;
}

static const Expr *move_expr(Rewriter *rewriter, const Expr *expr)
{
    const Pipeline *p = rewriter->data;
    if (expr_is_var(expr, p->loop->var))
        return p->iteration;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    const Version *version = expr->kind == EXPR_LOAD ? version_of_buffer(p, expr->value.buffer) : NULL;
    if (version)
        return expr_load(p->ctx, version->new, with_version(p, version, result->args), version->new->ndim, load_mask(result), expr->span);
    return result != expr && expr_is_binary(result) ? op_binary(p->ctx, result->kind, result->args[0], result->args[1], expr->span) : result;
}

static Region move_region(const Pipeline *p, Region region)
{
    const Version *version = version_of_buffer(p, region.buffer);
    if (!version)
        return region;
    Range *ranges = ARENA_ARRAY(p->ctx->arena, Range, version->new->ndim);
    ranges[0] = range_point(p->ctx, version_index(p, version));
    for (int d = 0; d < version->old->ndim; d++)
        ranges[d + 1] = region.ranges[d];
    return (Region){version->new, ranges, region.span};
}

static const Stmt *move_block(const Pipeline *p, const Stmt *stmt)
{
    BlockStmt block = stmt->as.block;
    block.reads = arena_copy(p->ctx->arena, block.reads, (size_t)block.read_count * sizeof *block.reads);
    block.writes = arena_copy(p->ctx->arena, block.writes, (size_t)block.write_count * sizeof *block.writes);
    block.matches = arena_copy(p->ctx->arena, block.matches, (size_t)block.match_count * sizeof *block.matches);
    for (int i = 0; i < block.read_count; i++)
        block.reads[i] = move_region(p, block.reads[i]);
    for (int i = 0; i < block.write_count; i++)
        block.writes[i] = move_region(p, block.writes[i]);
    for (int i = 0; i < block.match_count; i++)
        block.matches[i].source = move_region(p, block.matches[i].source);
    return stmt_block(p->ctx, block, stmt->span);
}

static const Stmt *move_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Pipeline *p = rewriter->data;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind == STMT_BLOCK)
        return move_block(p, result);
    const Version *version = stmt->kind == STMT_STORE ? version_of_buffer(p, stmt->as.store.buffer) : NULL;
    if (!version)
        return result;
    return stmt_store(p->ctx, version->new, with_version(p, version, (const Expr *const *)result->as.store.indices), version->new->ndim,
                      result->as.store.value, result->as.store.mask, stmt->span);
}

/* STMT in a block without axes, unless it is one. */
static const Stmt *in_block(const Pipeline *p, const Stmt *stmt, Buffer **allocs, int alloc_count)
{
    if (stmt->kind == STMT_BLOCK && !alloc_count)
        return stmt;
    return block_without_axes(p->ctx, stmt, allocs, alloc_count, &p->memory);
}

/* PART for ITERATION, which AN knows, if that is one of the loop; NULL if it certainly is none. */
static const Stmt *part_at(Pipeline *p, Analyzer *an, const Part *part, const Expr *iteration)
{
    Context *ctx = p->ctx;
    p->iteration = analyzer_simplify(an, iteration);
    const Expr *end = op_add(ctx, p->loop->min, p->loop->extent);
    const Expr *condition = op_and(ctx, op_compare(ctx, EXPR_LE, p->loop->min, p->iteration), op_compare(ctx, EXPR_LT, p->iteration, end));
    condition = analyzer_simplify(an, condition);
    if (expr_is_int(condition, 0))
        return NULL;
    Rewriter rewriter = {.ctx = ctx, .expr = move_expr, .stmt = move_stmt, .data = p};
    const Stmt *moved = clone_fresh(ctx, rewrite_stmt(&rewriter, part->stmt));
    if (moved->kind != STMT_BLOCK)
        moved = in_block(p, moved, NULL, 0);
    BlockStmt block = moved->as.block;
    block.predicate = expr_is_int(block.predicate, 1) ? condition : op_and(ctx, condition, block.predicate);
    return stmt_block(ctx, block, moved->span);
}

static const Part *part_of_order(const Pipeline *p, int rank)
{
    for (int i = 0; i < p->parts.count; i++) {
        int before = 0;
        for (int k = 0; k < p->parts.count; k++)
            before += p->parts.data[k].order < p->parts.data[i].order;
        if (before == rank)
            return &p->parts.data[i];
    }
    return NULL;
}

/* All parts at COUNT times from FIRST on, as a loop of KIND where these are several; NULL where there is none. */
static const Stmt *parts_at_times(Pipeline *p, const Expr *first, const Expr *count, ForKind kind)
{
    Context *ctx = p->ctx;
    Analyzer *an = analyzer_new(ctx);
    bool one = expr_is_int(count, 1);
    Var *var = var_clone(ctx, p->loop->var, p->loop->var->name);
    const Expr *time = first;
    if (!one) {
        analyzer_bind_range_opaque(an, var, (Range){expr_int(ctx, var->dtype, 0), count});
        time = op_add(ctx, expr_var(ctx, var), first);
    }
    VEC(const Stmt *) items = {0};
    for (int i = 0; i < p->parts.count; i++) {
        const Part *part = part_of_order(p, i);
        const Stmt *stmt = part_at(p, an, part, op_sub(ctx, time, expr_int(ctx, var->dtype, part->stage)));
        if (stmt)
            vec_push(ctx->arena, &items, stmt);
    }
    const Stmt *body = stmt_seq(ctx, items.data, items.count);
    if (one)
        return items.count ? in_block(p, body, NULL, 0) : NULL;
    ForStmt loop = {.var = var, .min = expr_int(ctx, var->dtype, 0), .extent = count, .kind = kind, .body = body};
    for (int i = 0; kind == p->loop->kind && i < p->loop->annotations.count; i++) {
        Attr attr = p->loop->annotations.entries[i];
        if (strcmp(attr.key, STAGE) && strcmp(attr.key, ORDER) && strcmp(attr.key, ASYNC))
            loop.annotations = attrs_set(ctx, loop.annotations, attr.key, attr.value);
    }
    return in_block(p, stmt_for(ctx, loop, p->stmt->span), NULL, 0);
}

static const Stmt *build(Pipeline *p)
{
    Context *ctx = p->ctx;
    DType type = p->loop->var->dtype;
    Analyzer *an = analyzer_new(ctx);
    const Expr *ramp = expr_int(ctx, type, p->most_stage), *min = p->loop->min;
    const Expr *steady = analyzer_simplify(an, op_sub(ctx, p->loop->extent, ramp));
    const Stmt *items[3];
    int count = 0;
    Buffer **allocs = ARENA_ARRAY(ctx->arena, Buffer *, p->versions.count);
    for (int i = 0; i < p->versions.count; i++) {
        allocs[i] = p->versions.data[i].new;
        map_set(ctx->arena, &p->memory, allocs[i]->data, allocs[i]);
    }
    if (p->most_stage)
        items[count++] = parts_at_times(p, min, ramp, FOR_UNROLLED);
    const Stmt *middle = expr_is_int(steady, 0) ? NULL : parts_at_times(p, analyzer_simplify(an, op_add(ctx, min, ramp)), steady, p->loop->kind);
    if (middle)
        items[count++] = middle;
    if (p->most_stage)
        items[count++] = parts_at_times(p, analyzer_simplify(an, op_add(ctx, min, p->loop->extent)), ramp, FOR_UNROLLED);
    return in_block(p, stmt_seq(ctx, items, count), allocs, p->versions.count);
}

/* --- the pass --- */

typedef struct {
    Context *ctx;
    Map memory, roots;
} PipelinePass;

static bool note_buffers(Visitor *visitor, const Stmt *stmt)
{
    PipelinePass *pass = visitor->data;
    if (stmt->kind == STMT_DECL_BUFFER)
        map_set(pass->ctx->arena, &pass->memory, stmt->as.declare.buffer->data, stmt->as.declare.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        map_set(pass->ctx->arena, &pass->memory, stmt->as.block.allocs[i]->data, stmt->as.block.allocs[i]);
    return true;
}

static const Stmt *pipelined(PipelinePass *pass, const Stmt *stmt)
{
    Pipeline p = {.ctx = pass->ctx, .stmt = stmt, .loop = &stmt->as.loop, .memory = pass->memory};
    int64_t extent;
    if (!take_apart(&p) || !read_stages(&p))
        return stmt;
    bool serial = p.loop->kind == FOR_SERIAL && expr_const_int(p.loop->extent, &extent) && extent >= p.most_stage && !expr_reads_memory(p.loop->min);
    if (!serial) {
        refuse(&p, "needs a serial loop with a constant number of iterations, at least as many as stages after the first");
        return stmt;
    }
    for (int i = 0; i < p.parts.count; i++)
        p.parts.data[i].effects = effects_of_stmt(p.ctx, &pass->roots, p.parts.data[i].stmt, NULL);
    return choose_versions(&p) && is_legal(&p) ? build(&p) : stmt;
}

static const Stmt *pipeline_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    bool annotated = result->kind == STMT_FOR && (attrs_get(result->as.loop.annotations, STAGE) || attrs_get(result->as.loop.annotations, ORDER));
    return annotated ? pipelined(rewriter->data, result) : result;
}

const Func *transform_software_pipeline(LowerState *state, const Func *func)
{
    PipelinePass pass = {.ctx = state->ctx};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            map_set(state->ctx->arena, &pass.memory, func->params[i].buffer->data, func->params[i].buffer);
    Visitor visitor = {.stmt = note_buffers, .data = &pass};
    visit_stmt(&visitor, func->body);
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = pipeline_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
