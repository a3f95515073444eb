/* Compiles blocks and thread-bound loops. When a block's init runs is worked out in interp_compile_init.c. */
#include <string.h>

#include "interp/interp_internal.h"
#include "ir/walk.h"

/* --- Axes and regions --- */
static void compile_iters(Compiler *compiler, BlockInfo *block, const BlockStmt *source)
{
    block->iter_count = source->iter_count;
    block->iters = ARENA_ARRAY(compiler->arena, IterInfo, source->iter_count);
    for (int i = 0; i < source->iter_count; i++) {
        const Iter *iter = &source->iters[i];
        block->iters[i] = (IterInfo){.source = iter,
                                     .binding = compile_index(compiler, source->bindings[i]),
                                     .min = compile_index(compiler, iter->domain.min),
                                     .extent = compile_index(compiler, iter->domain.extent)};
    }
    for (int i = 0; i < source->iter_count; i++)
        block->iters[i].slot = compile_define(compiler, source->iters[i].var);
}

static void compile_predicate(Compiler *compiler, BlockInfo *block, const BlockStmt *source)
{
    if (expr_is_int(source->predicate, 1))
        return;
    block->predicate = compile_index(compiler, source->predicate);
    for (int i = 0; i < source->iter_count; i++)
        block->predicate_uses_iters |= expr_uses_var(source->predicate, source->iters[i].var);
}

static RegionInfo compile_region(Compiler *compiler, const Region *region)
{
    int ndim = region->buffer->ndim;
    RegionInfo info = {.source = region, .buffer = compile_buffer(compiler, region->buffer), .ranges = compiler->program->range_count};
    compiler->program->range_count += 2 * ndim;
    info.min = ARENA_ARRAY(compiler->arena, const EvalNode *, ndim);
    info.extent = ARENA_ARRAY(compiler->arena, const EvalNode *, ndim);
    for (int i = 0; i < ndim; i++) {
        info.min[i] = compile_index(compiler, region->ranges[i].min);
        info.extent[i] = compile_index(compiler, region->ranges[i].extent);
    }
    return info;
}

static RegionInfo *compile_regions(Compiler *compiler, const Region *regions, int count)
{
    RegionInfo *infos = ARENA_ARRAY(compiler->arena, RegionInfo, count);
    for (int i = 0; i < count; i++)
        infos[i] = compile_region(compiler, &regions[i]);
    return infos;
}

static void compile_block_buffers(Compiler *compiler, BlockInfo *block, const BlockStmt *source)
{
    block->allocs = ARENA_ARRAY(compiler->arena, AllocateInfo, source->alloc_count);
    for (int i = 0; i < source->alloc_count; i++)
        block->allocs[i] = compile_allocate_buffer(compiler, source->allocs[i]);
    block->matches = ARENA_ARRAY(compiler->arena, MatchInfo, source->match_count);
    for (int i = 0; i < source->match_count; i++) {
        block->matches[i].region = compile_region(compiler, &source->matches[i].source);
        block->matches[i].target = compile_pattern(compiler, source->matches[i].target);
        block->matches[i].uses_reduction = region_reduce_axis(&source->matches[i].source, source) != NULL;
    }
}

/* --- The identity of instances --- */
typedef struct {
    Compiler *compiler;
    VEC(int) slots;
} IdentityFinder;

static void add_identity(IdentityFinder *finder, int slot)
{
    for (int i = 0; i < finder->slots.count; i++)
        if (finder->slots.data[i] == slot)
            return;
    vec_push(finder->compiler->arena, &finder->slots, slot);
}

/* Loop variables and integer lets from outside that the block mentions, also in the place of a view, tell its instances apart like axes. */
static bool find_identity(Visitor *visitor, const Expr *expr)
{
    IdentityFinder *finder = visitor->data;
    Compiler *compiler = finder->compiler;
    for (int i = 0; expr->kind == EXPR_VAR && i < compiler->path.count; i++) {
        const PathEntry *entry = &compiler->path.data[i];
        bool is_loop = entry->kind == PATH_LOOP && entry->source->kind == STMT_FOR && entry->source->as.loop.var == expr->value.var;
        bool is_let = entry->kind == PATH_LET && entry->source->as.let.var == expr->value.var && dtype_is_integer(expr->dtype) &&
                      expr->dtype.lanes == 1;
        if (is_loop || is_let)
            add_identity(finder, compile_slot(compiler, expr->value.var, expr->span));
    }
    return true;
}

/* All that SOURCE, whose entry is the last of the path, writes is allocated by the blocks around it. */
static bool writes_scratch_only(const Compiler *compiler, const BlockStmt *source)
{
    for (int w = 0; w < source->write_count; w++) {
        bool scratch = false;
        for (int i = 0; i < compiler->path.count && !scratch; i++) {
            const PathEntry *entry = &compiler->path.data[i];
            for (int a = 0; entry->kind == PATH_BLOCK && a < entry->source->as.block.alloc_count; a++)
                scratch |= entry->source->as.block.allocs[a] == source->writes[w].buffer;
        }
        if (!scratch)
            return false;
    }
    return source->write_count > 0;
}

/* Each iteration of a loop fills scratch anew: what the iteration before left there had its readers before it was overwritten. */
static void add_refilling_loops(IdentityFinder *finder, const BlockStmt *source)
{
    Compiler *compiler = finder->compiler;
    if (!writes_scratch_only(compiler, source))
        return;
    for (int i = 0; i < compiler->path.count; i++) {
        const PathEntry *entry = &compiler->path.data[i];
        const ForStmt *loop = entry->kind == PATH_LOOP && entry->source->kind == STMT_FOR ? &entry->source->as.loop : NULL;
        if (loop && loop->kind != FOR_THREAD)
            add_identity(finder, compile_slot(compiler, loop->var, entry->source->span));
    }
}

static void compile_identity(Compiler *compiler, BlockInfo *block, const BlockStmt *source)
{
    IdentityFinder finder = {.compiler = compiler};
    Visitor visitor = {.expr = find_identity, .data = &finder};
    visit_stmt(&visitor, source->body);
    if (source->init)
        visit_stmt(&visitor, source->init);
    for (int i = 0; i < source->match_count; i++) {
        visit_region(&visitor, &source->matches[i].source);
        visit_buffer_layout(&visitor, source->matches[i].target);
    }
    for (int i = 0; i < compiler->path.count; i++)
        if (compiler->path.data[i].kind == PATH_WHILE)
            add_identity(&finder, compiler->path.data[i].node->as.repeat.iteration_slot);
    add_refilling_loops(&finder, source);
    block->identity_slots = finder.slots.data;
    block->identity_count = finder.slots.count;
}

/* --- Blocks --- */
static void compile_block_contents(Compiler *compiler, BlockInfo *block, const BlockStmt *source)
{
    bool checks = compiler->options->checks;
    block->implicit_root =
        !block->parent && !source->iter_count && !source->read_count && !source->write_count && !strcmp(source->block->name, "root");
    block->check_reads = checks && !block->implicit_root && (source->read_count || !source->reads_inferred);
    block->check_writes = checks && !block->implicit_root && (source->write_count || !source->writes_inferred);
    if (checks) {
        block->reads = compile_regions(compiler, source->reads, source->read_count);
        block->writes = compile_regions(compiler, source->writes, source->write_count);
    }
    compile_block_buffers(compiler, block, source);
    block->init = source->init ? compile_stmt(compiler, source->init) : NULL;
    block->body = compile_stmt(compiler, source->body);
    compile_identity(compiler, block, source);
    compile_init_plan(compiler, block);
}

const ExecNode *compile_block(Compiler *compiler, const Stmt *stmt)
{
    const BlockStmt *source = &stmt->as.block;
    ExecNode *node = compile_node(compiler, EXEC_BLOCK, stmt);
    BlockInfo *block = ARENA_NEW(compiler->arena, BlockInfo);
    *block = (BlockInfo){.source = source,
                         .index = compiler->program->blocks.count,
                         .parent = compiler->block,
                         .depth = compiler->block ? compiler->block->depth + 1 : 1};
    node->as.block = block;
    const BlockInfo *added = block;
    vec_push(compiler->arena, &compiler->program->blocks, added);
    compile_iters(compiler, block, source);
    compile_predicate(compiler, block, source);
    const Scope *outer = compiler->scope;
    compile_push_block_scope(compiler, block);
    compile_push_path(compiler, PATH_BLOCK, node, stmt);
    compiler->block = block;
    compile_block_contents(compiler, block, source);
    compiler->block = (BlockInfo *)block->parent;
    (void)vec_pop(&compiler->path);
    compiler->scope = outer;
    return node;
}

/* --- Thread-bound loops --- */
typedef struct {
    Compiler *compiler;
    int first; /* path entries from here on are inside the kernel */
    bool found;
} InnerUse;

static bool find_inner_use(Visitor *visitor, const Expr *expr)
{
    InnerUse *use = visitor->data;
    for (int i = use->first; expr->kind == EXPR_VAR && i < use->compiler->path.count; i++) {
        const Stmt *source = use->compiler->path.data[i].source;
        use->found |= source->kind == STMT_FOR && source->as.loop.var == expr->value.var;
        use->found |= source->kind == STMT_LET && source->as.let.var == expr->value.var;
        for (int k = 0; source->kind == STMT_BLOCK && k < source->as.block.iter_count; k++)
            use->found |= source->as.block.iters[k].var == expr->value.var;
    }
    use->found |= expr->kind == EXPR_LOAD;
    return true;
}

/* The number of the tag among the kernel's. A loop's extent can be taken for the kernel's if it does not depend on anything inside. */
static int kernel_tag(Compiler *compiler, Str name, const Expr *extent, const EvalNode *node)
{
    Kernel *kernel = compiler->kernel;
    int index = 0;
    while (index < kernel->tag_count && strcmp(kernel->tags[index].name, name))
        index++;
    if (index == kernel->tag_count) {
        ThreadTag *tags = ARENA_ARRAY(compiler->arena, ThreadTag, index + 1);
        for (int i = 0; i < index; i++)
            tags[i] = kernel->tags[i];
        tags[index] = (ThreadTag){name, !strncmp(name, "blockIdx", 8), NULL};
        kernel->tags = tags;
        kernel->tag_count++;
    }
    InnerUse use = {compiler, kernel->path_start, false};
    Visitor visitor = {.expr = find_inner_use, .data = &use};
    visit_expr(&visitor, extent);
    if (!use.found && !kernel->tags[index].extent)
        kernel->tags[index].extent = node;
    return index;
}

const ExecNode *compile_launch(Compiler *compiler, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    ExecNode *node = compile_node(compiler, EXEC_THREAD_LOOP, stmt);
    LoopInfo *info = &node->as.loop;
    Kernel *outer_kernel = compiler->kernel;
    if (!outer_kernel) {
        compiler->kernel = ARENA_NEW(compiler->arena, Kernel);
        compiler->kernel->path_start = compiler->path.count;
        info->launches = compiler->kernel;
    }
    info->kind = FOR_THREAD;
    info->name = loop->var->name;
    info->min = compile_index(compiler, loop->min);
    info->extent = compile_index(compiler, loop->extent);
    info->tag = kernel_tag(compiler, loop->thread, loop->extent, info->extent);
    info->kernel = compiler->kernel;
    info->slot = compile_define(compiler, loop->var);
    const Scope *outer = compiler->scope;
    compile_push_loop_scope(compiler, stmt, info);
    compile_push_path(compiler, PATH_LOOP, node, stmt);
    info->body = compile_stmt(compiler, loop->body);
    (void)vec_pop(&compiler->path);
    compiler->scope = outer;
    compiler->kernel = outer_kernel;
    return node;
}
