/* unsafe_hide_buffer_access and annotate_buffer_access: what a block is stated to read and write.

   Before                                  After unsafe_hide_buffer_access("C", "read", [0])
     T.reads(A[vi], B[vi])                   T.reads(B[vi])
   Before                                  After annotate_buffer_access("C", 0, "read", lambda vi: ((vi - 1, vi + 1),))
     T.reads(A[vi])                          T.reads(A[vi - 1:vi + 1])

   The accesses stay. That the regions hold all of them is what whoever takes the step answers for; what the block does is compared with them where
   the program is checked or run. What must hold: the block has these regions, a new one has as many ranges as the buffer has dimensions, and what a
   call of foreign code touches by them lets the loops around run at once that do. */
#include <string.h>

#include "passes/analysis/questions/callees.h"
#include "passes/arith/analyzer.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/index_map.h"
#include "passes/schedule/core/query.h"

/* Whether ARGUMENT is "write"; false after a refusal where it is not "read" either. */
static bool read_access_kind(Schedule *sch, const Value *argument, bool *is_write)
{
    *is_write = !strcmp(argument->as.text, "write");
    return *is_write || !strcmp(argument->as.text, "read") ||
           sched_refuse_argument(sch, argument, "the kind of access must be \"read\" or \"write\", not \"%s\"", argument->as.text);
}

static void replace_regions(Schedule *sch, const TreeNode *node, bool is_write, Region *regions, int count, Attrs annotations)
{
    Stmt copy = *node->stmt;
    BlockStmt *block = &copy.as.block;
    *(is_write ? &block->writes : &block->reads) = regions;
    *(is_write ? &block->write_count : &block->read_count) = count;
    block->reads_inferred = block->writes_inferred = block->groups = false;
    block->annotations = annotations;
    sched_replace(sch, node->stmt, stmt_new(sch->ctx, &copy));
    if (block->callees != CALLEES_ABSENT)
        sched_replace_func(sch, func_compare_callees(sch->ctx, sch->module, schedule_func(sch), NULL));
}

/* The ranges that FUNCTION gives for the axes of BLOCK. */
static bool stated_ranges(Schedule *sch, const Value *function, const BlockStmt *block, const Region *region, Range *ranges)
{
    Context *ctx = sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    int count = region->buffer->ndim;
    const Expr *(*ends)[2] = arena_alloc(ctx->arena, sizeof *ends * (size_t)(count + 1));
    if (!index_function_ranges(sch, function, block, region->buffer, ends))
        return false;
    for (int d = 0; d < count; d++) {
        const Expr *begin = analyzer_simplify(an, ends[d][0]);
        ranges[d] = (Range){begin, analyzer_simplify(an, op_sub(ctx, ends[d][1], begin))};
    }
    return true;
}

/* The annotation under which the reference keeps which regions are stated: their numbers. */
static Attrs with_stated_index(Context *ctx, Attrs attrs, bool is_write, int index)
{
    const char *key = is_write ? "explicit_write_region" : "explicit_read_region";
    const AttrValue *old = attrs_get(attrs, key);
    int count = old && old->kind == ATTR_LIST ? old->count : 0;
    AttrValue *list = ARENA_NEW(ctx->arena, AttrValue);
    *list = (AttrValue){.kind = ATTR_LIST, .items = ARENA_ARRAY(ctx->arena, const AttrValue *, count + 1)};
    for (int i = 0; i < count; i++) {
        int64_t number;
        if (old->items[i]->kind == ATTR_EXPR && expr_const_int(old->items[i]->expr, &number) && number == index)
            return attrs;
        list->items[list->count++] = old->items[i];
    }
    list->items[list->count++] = attr_int(ctx, index);
    return attrs_set(ctx, attrs, context_intern(ctx, key), list);
}

bool primitive_unsafe_hide_buffer_access(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    bool is_write;
    const TreeNode *node = schedule_block(sch, args[0].as.block);
    if (!node || !read_access_kind(sch, &args[1], &is_write))
        return false;
    const BlockStmt *block = node_block(node);
    const Region *regions = is_write ? block->writes : block->reads;
    int count = is_write ? block->write_count : block->read_count, kept_count = 0;
    bool *hidden = ARENA_ARRAY(sch->ctx->arena, bool, count);
    memset(hidden, 0, sizeof *hidden * (size_t)count);
    const ValueList *list = args[2].as.list;
    for (int i = 0; i < list->count; i++) {
        int index = query_buffer_index(sch, node, &list->items[i], is_write);
        if (index < 0)
            return false;
        hidden[index] = true;
    }
    Region *kept = ARENA_ARRAY(sch->ctx->arena, Region, count);
    for (int i = 0; i < count; i++)
        if (!hidden[i])
            kept[kept_count++] = regions[i];
    if (kept_count < count)
        replace_regions(sch, node, is_write, kept, kept_count, block->annotations);
    return true;
}

bool primitive_annotate_buffer_access(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    bool is_write;
    const TreeNode *node = schedule_block(sch, args[0].as.block);
    if (!node || !read_access_kind(sch, &args[2], &is_write))
        return false;
    int index = query_buffer_index(sch, node, &args[1], is_write);
    if (index < 0)
        return false;
    const BlockStmt *block = node_block(node);
    int count = is_write ? block->write_count : block->read_count;
    Region *regions = arena_copy(sch->ctx->arena, is_write ? block->writes : block->reads, sizeof *regions * (size_t)count);
    regions[index].ranges = ARENA_ARRAY(sch->ctx->arena, Range, regions[index].buffer->ndim);
    if (!stated_ranges(sch, &args[3], block, &regions[index], regions[index].ranges))
        return false;
    replace_regions(sch, node, is_write, regions, count, with_stated_index(sch->ctx, block->annotations, is_write, index));
    return check_concurrent_loops_around(sch, schedule_find_block(sch, block->block));
}
