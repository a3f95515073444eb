/* Primitives that only look: get_block, get_loops, get_child_blocks, get_producers, get_consumers, get_output_blocks, and how a script
   names blocks and buffers. */
#include "passes/schedule/core/query.h"

#include <string.h>

#include "passes/schedule/core/scope.h"
#include "print/print.h"

/* --- Blocks by name --- */

static bool has_name(const TreeNode *node, Str name)
{
    return node->stmt->kind == STMT_BLOCK && !strcmp(node_name(node), name);
}

static void refuse_unknown_block(Schedule *sch, const Value *argument)
{
    Str name = argument->as.text;
    VEC(const char *) names = {0};
    int count = schedule_node_count(sch);
    for (int i = 0; i < count; i++)
        if (schedule_node_at(sch, i)->stmt->kind == STMT_BLOCK)
            vec_push(sch->ctx->arena, &names, node_block(schedule_node_at(sch, i))->block->name);
    const char *function = schedule_func(sch)->name, *near = diag_closest(name, names.data, names.count);
    if (!names.count)
        sched_refuse_argument(sch, argument, "function '%s' has no blocks", function);
    else if (near)
        sched_refuse_argument(sch, argument, "function '%s' has no block '%s'; did you mean '%s'?", function, name, near);
    else
        sched_refuse_argument(sch, argument, "function '%s' has no block '%s'", function, name);
    diag_edit_string(sch->ctx, argument->span, near);
    if (schedule_func(sch)->name_span.file)
        sched_note(sch, schedule_func(sch)->name_span, "function '%s' is here", function);
}

static void refuse_ambiguous_block(Schedule *sch, const Value *argument, int found)
{
    Str name = argument->as.text;
    sched_refuse_argument(sch, argument, "function '%s' has %d blocks called '%s'", schedule_func(sch)->name, found, name);
    int count = schedule_node_count(sch);
    for (int i = 0; i < count; i++)
        if (has_name(schedule_node_at(sch, i), name))
            sched_note(sch, schedule_node_at(sch, i)->stmt->span, "a block '%s'; get_child_blocks and get_consumers tell such blocks apart",
                       name);
}

Block *schedule_block_named(Schedule *sch, const Value *argument)
{
    Str name = argument->as.text;
    if (sch->func_index < 0) {
        sched_refuse_argument(sch, argument, "the program has several functions: choose one with sch.work_on or get_block's func_name");
        return NULL;
    }
    int count = schedule_node_count(sch), found = 0;
    Block *block = NULL;
    for (int i = 0; i < count; i++)
        if (has_name(schedule_node_at(sch, i), name)) {
            block = node_block(schedule_node_at(sch, i))->block;
            found++;
        }
    if (!found)
        refuse_unknown_block(sch, argument);
    if (found > 1)
        refuse_ambiguous_block(sch, argument, found);
    return found == 1 ? block : NULL;
}

/* --- Targets --- */

const TreeNode *schedule_target(Schedule *sch, const Value *value)
{
    return value->kind == VALUE_LOOP ? schedule_loop(sch, value->as.loop) : schedule_block(sch, value->as.block);
}

const char *node_words(Schedule *sch, const TreeNode *node)
{
    if (node->stmt->kind == STMT_FOR)
        return arena_printf(sch->ctx->arena, "loop '%s'", node_name(node));
    return arena_printf(sch->ctx->arena, "block '%s'", node_name(node));
}

void note_no_loop(Schedule *sch, const TreeNode *node)
{
    if (node->stmt->kind == STMT_BLOCK)
        sched_note(sch, node->stmt->span, "%s stands between", node_words(sch, node));
    else
        sched_note(sch, node->stmt->span, node->stmt->kind == STMT_SEQ ? "several statements start here" : "this is no loop");
}

Value query_block_list(Schedule *sch, const TreeNode *const *nodes, int count)
{
    Value *blocks = ARENA_ARRAY(sch->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        blocks[i] = value_block(node_block(nodes[i])->block);
    return value_list(sch->ctx, blocks, count);
}

/* --- Buffers of a block --- */

static const char *access_word(bool is_write)
{
    return is_write ? "write" : "read";
}

/* Checks that INDEX counts a declared write or read of BLOCK. */
static int checked_index(Schedule *sch, const TreeNode *block, const Value *argument, bool is_write)
{
    int64_t index = argument->as.integer;
    const BlockStmt *stmt = node_block(block);
    int count = is_write ? stmt->write_count : stmt->read_count;
    if (index >= 0 && index < count)
        return (int)index;
    sched_refuse_argument(sch, argument, "%s declares %d %s region%s, so there is no buffer index %lld", node_words(sch, block), count,
                          access_word(is_write), count == 1 ? "" : "s", (long long)index);
    sched_note(sch, block->stmt->span, "%s is here; indices count its declared %ss from 0", node_words(sch, block), access_word(is_write));
    return -1;
}

/* The last of REGIONS whose buffer is called NAME, or, where SPELLINGS is not NULL, printed as that; -1 if there is none. *SEVERAL: two
   buffers have the name. */
static int index_by_name(const Region *regions, int count, const char *name, const Map *spellings, bool *several)
{
    int found = -1;
    for (int i = 0; i < count; i++) {
        const char *spelling = spellings ? map_get(spellings, regions[i].buffer) : regions[i].buffer->name;
        if (!spelling || strcmp(spelling, name))
            continue;
        *several |= found >= 0 && regions[found].buffer != regions[i].buffer;
        found = i;
    }
    return found;
}

static void refuse_unknown_buffer(Schedule *sch, const TreeNode *block, const Value *argument, bool is_write)
{
    const BlockStmt *stmt = node_block(block);
    const Region *regions = is_write ? stmt->writes : stmt->reads;
    VEC(const char *) names = {0};
    for (int i = 0; i < (is_write ? stmt->write_count : stmt->read_count); i++)
        vec_push(sch->ctx->arena, &names, regions[i].buffer->name);
    const char *near = diag_closest(argument->as.text, names.data, names.count);
    sched_refuse_argument(sch, argument, "%s does not %s a buffer '%s'%s%s%s", node_words(sch, block), access_word(is_write),
                          argument->as.text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    diag_edit_string(sch->ctx, argument->span, near);
}

static int named_index(Schedule *sch, const TreeNode *block, const Value *argument, bool is_write)
{
    Str name = argument->as.text;
    const BlockStmt *stmt = node_block(block);
    const Region *regions = is_write ? stmt->writes : stmt->reads;
    int count = is_write ? stmt->write_count : stmt->read_count;
    bool several = false;
    int index = index_by_name(regions, count, name, NULL, &several);
    if (index < 0) {
        Map spellings = print_spellings(sch->ctx, schedule_func(sch));
        index = index_by_name(regions, count, name, &spellings, &several);
    }
    if (index >= 0 && !several)
        return index;
    if (several)
        sched_refuse_argument(sch, argument, "%s %ss several buffers called '%s': choose one by its index", node_words(sch, block),
                              access_word(is_write), name);
    else
        refuse_unknown_buffer(sch, block, argument, is_write);
    sched_note(sch, block->stmt->span, "%s is here", node_words(sch, block));
    return -1;
}

int query_buffer_index(Schedule *sch, const TreeNode *block, const Value *value, bool is_write)
{
    if (value->kind == VALUE_INT)
        return checked_index(sch, block, value, is_write);
    if (value->kind == VALUE_STRING)
        return named_index(sch, block, value, is_write);
    const Value *pair = value->as.list->items;
    if (strcmp(pair[0].as.text, access_word(is_write))) {
        sched_refuse_argument(sch, value, "a buffer that the block %ss is needed, not one that it %ss", access_word(is_write),
                              access_word(!is_write));
        return -1;
    }
    return checked_index(sch, block, &pair[1], is_write);
}

/* BLOCK declares to read (or write) a buffer that NAME stands for. */
static bool has_buffer_named(Schedule *sch, const Region *regions, int count, Str name)
{
    bool several = false;
    if (index_by_name(regions, count, name, NULL, &several) >= 0)
        return true;
    Map spellings = print_spellings(sch->ctx, schedule_func(sch));
    return index_by_name(regions, count, name, &spellings, &several) >= 0;
}

const Region *query_buffer_region(Schedule *sch, const TreeNode *block, const Value *value, bool *is_write)
{
    const BlockStmt *stmt = node_block(block);
    Value choice = *value;
    if (value->kind == VALUE_STRING) {
        *is_write = has_buffer_named(sch, stmt->writes, stmt->write_count, value->as.text);
    } else if (value->kind == VALUE_INT) {
        *is_write = value->as.integer >= stmt->read_count;
        if (*is_write)
            choice.as.integer -= stmt->read_count;
    } else {
        *is_write = !strcmp(value->as.list->items[0].as.text, "write");
    }
    int index = query_buffer_index(sch, block, &choice, *is_write);
    return index < 0 ? NULL : *is_write ? &stmt->writes[index] : &stmt->reads[index];
}

/* --- The primitives --- */

static const char *function_closest_to(Schedule *sch, Str name)
{
    VEC(const char *) names = {0};
    for (int i = 0; i < sch->module->func_count; i++)
        vec_push(sch->ctx->arena, &names, sch->module->funcs[i]->name);
    return diag_closest(name, names.data, names.count);
}

static bool enter_function(Schedule *sch, const Value *argument)
{
    Str name = argument->as.text;
    int index = module_index_for_schedule(sch->module, name);
    if (index >= 0) {
        sch->func_index = index;
        return true;
    }
    const char *near = function_closest_to(sch, name);
    sched_refuse_argument(sch, argument, "the program has no function '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
                          near ? "'?" : "");
    diag_edit_string(sch->ctx, argument->span, near);
    return false;
}

/* b = get_block("C"): the one block called "C". */
bool primitive_get_block(Schedule *sch, const Value *args, Value *result)
{
    if (args[1].kind == VALUE_STRING && !enter_function(sch, &args[1]))
        return false;
    Block *block = schedule_block_named(sch, &args[0]);
    if (!block)
        return false;
    *result = value_block(block);
    return true;
}

/* i, j = get_loops(b): the loops around a block up to its scope, outermost first. A launch of threads is none. */
bool primitive_get_loops(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    if (!block)
        return false;
    int around, count = 0;
    const TreeNode **loops = schedule_loops_around(sch, block, &around);
    Value *items = ARENA_ARRAY(sch->ctx->arena, Value, around);
    for (int i = 0; i < around; i++)
        if (!node_loop(loops[i])->launch)
            items[count++] = value_loop(node_loop(loops[i])->var);
    *result = value_list(sch->ctx, items, count);
    return true;
}

/* The blocks directly inside a block or loop, without those of its init. */
bool primitive_get_child_blocks(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *node = schedule_target(sch, &args[0]);
    if (!node)
        return false;
    int count;
    const TreeNode **blocks = schedule_child_blocks(sch, node, &count);
    *result = query_block_list(sch, blocks, count);
    return true;
}

typedef const TreeNode **(*Neighbours)(Schedule *sch, const TreeNode *block, int kinds, int *count);

static bool get_neighbours(Schedule *sch, const Value *args, Neighbours neighbours, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    if (!block)
        return false;
    if (!schedule_scope(sch, block))
        return sched_refuse(sch, "the root block has no producers or consumers");
    int count;
    const TreeNode **blocks = neighbours(sch, block, DEPENDS_RAW | DEPENDS_WAW, &count);
    *result = query_block_list(sch, blocks, count);
    return true;
}

/* The blocks of the same scope whose results a block reads or overwrites. */
bool primitive_get_producers(Schedule *sch, const Value *args, Value *result)
{
    return get_neighbours(sch, args, scope_producers, result);
}

/* The blocks of the same scope that read or overwrite what a block writes. */
bool primitive_get_consumers(Schedule *sch, const Value *args, Value *result)
{
    return get_neighbours(sch, args, scope_consumers, result);
}

/* BLOCK writes a buffer that its scope does not allocate. */
static bool is_output_block(Schedule *sch, const TreeNode *block)
{
    const BlockStmt *stmt = node_block(block), *scope = node_block(schedule_scope(sch, block));
    for (int w = 0; w < stmt->write_count; w++) {
        bool local = false;
        for (int i = 0; i < scope->alloc_count; i++)
            local |= scope->allocs[i] == stmt->writes[w].buffer;
        if (!local)
            return true;
    }
    return false;
}

/* The blocks inside a block, at any depth, that write what their scope does not allocate. */
bool primitive_get_output_blocks(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *scope = schedule_block(sch, args[0].as.block);
    if (!scope)
        return false;
    VEC(const TreeNode *) blocks = {0};
    for (int i = schedule_node_index(sch, scope) + 1; i < scope->end; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (node->stmt->kind == STMT_BLOCK && !node->in_init && is_output_block(sch, node))
            vec_push(sch->ctx->arena, &blocks, node);
    }
    *result = query_block_list(sch, blocks.data, blocks.count);
    return true;
}
