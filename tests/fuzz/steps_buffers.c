/* Random steps on buffers: where they are, how they are laid out and indexed, and copies of them. */
#include <string.h>

#include "steps.h"
#include "ir/walk.h"

/* --- Buffers --- */
const char *random_scope(Chooser *c)
{
    static const char *const scopes[] = {"global", "global", "local", "shared", "global.tile"};
    return scopes[random_below(c->random, 5)];
}

/* One of the buffers that BLOCK reads or writes: an index, rarely a name or an index too far. */
static const char *buffer_text(Chooser *c, const TreeNode *block, bool write)
{
    int count = write ? node_block(block)->write_count : node_block(block)->read_count;
    int index = count ? random_below(c->random, count) : 0;
    if (count && random_chance(c->random, 15))
        return step_text(c, "\"%s\"", (write ? node_block(block)->writes : node_block(block)->reads)[index].buffer->name);
    return step_text(c, "%d", random_chance(c->random, 10) ? index + 1 : index);
}

const char *step_set_scope(Chooser *c)
{
    const TreeNode *block = block_where(c, block_is_inlinable);
    if (!block)
        return NULL;
    return step_text(c, "sch.set_scope(%s, %s, \"%s\")", block_text(c, block), buffer_text(c, block, true),
                     random_chance(c->random, 12) ? "nowhere" : random_scope(c));
}
const char *step_storage_align(Chooser *c)
{
    const TreeNode *block = block_where(c, block_is_inlinable);
    if (!block)
        return NULL;
    return step_text(c, "sch.storage_align(%s, %s, axis=%d, factor=%d, offset=%d)", block_text(c, block), buffer_text(c, block, true),
                     random_below(c->random, 4) - 2, random_factor(c), random_below(c->random, 3));
}

/* Some of the other blocks that read BUFFER, as an argument; mostly none, which means all. */
static const char *consumers(Chooser *c, const TreeNode *block, const Buffer *buffer)
{
    if (!random_chance(c->random, 20))
        return "";
    for (int i = 0; i < c->block_count; i++)
        if (c->blocks[i] != block && block_reads(c->blocks[i], buffer) && random_chance(c->random, 60))
            return step_text(c, ", consumer_blocks=[%s]", block_text(c, c->blocks[i]));
    return random_chance(c->random, 50) ? step_text(c, ", consumer_blocks=[%s]", block_text(c, block)) : "";
}

const char *step_cache_read(Chooser *c)
{
    const TreeNode *block = any_block(c);
    const char *which = node_block(block)->read_count ? consumers(c, block, node_block(block)->reads[0].buffer) : "";
    return step_text(c, "sch.cache_read(%s, %s, \"%s\"%s)", block_text(c, block), *which ? "0" : buffer_text(c, block, false), random_scope(c),
                     which);
}
const char *step_cache_write(Chooser *c)
{
    const TreeNode *block = any_block(c);
    const char *which = node_block(block)->write_count ? consumers(c, block, node_block(block)->writes[0].buffer) : "";
    return step_text(c, "sch.cache_write(%s, %s, \"%s\"%s)", block_text(c, block), *which ? "0" : buffer_text(c, block, true), random_scope(c),
                     which);
}

const char *step_cache_index(Chooser *c)
{
    return step_text(c, "sch.cache_index(%s, \"%s\", %d)", block_text(c, any_block(c)), random_scope(c), random_below(c->random, 4));
}

const char *step_cache_inplace(Chooser *c)
{
    const TreeNode *block = block_where(c, block_updates_in_place);
    if (!block)
        return NULL;
    const BlockStmt *stmt = node_block(block);
    for (int i = 0; i < stmt->read_count; i++)
        for (int k = 0; k < stmt->write_count && !random_chance(c->random, 10); k++)
            if (stmt->reads[i].buffer == stmt->writes[k].buffer)
                return step_text(c, "sch.cache_inplace(%s, %d, \"%s\")", block_text(c, block), i, random_scope(c));
    return step_text(c, "sch.cache_inplace(%s, %s, \"%s\")", block_text(c, block), buffer_text(c, block, false), random_scope(c));
}

/* At a loop around the block, rarely at another. */
static const char *copy_at(Chooser *c, bool write)
{
    const TreeNode *block = any_block(c), *loop = random_chance(c->random, 5) ? any_loop(c) : loop_around(c, block);
    return step_text(c, "sch.%s_at(%s, %s, %s, \"%s\")", write ? "write" : "read", loop_text(c, loop), block_text(c, block),
                     buffer_text(c, block, write), random_scope(c));
}
const char *step_read_at(Chooser *c)
{
    return copy_at(c, false);
}
const char *step_write_at(Chooser *c)
{
    return copy_at(c, true);
}

/* --- Layouts --- */
/* An index map of COUNT indices, mostly one that splits some of them and changes their order. */
static const char *index_map(Chooser *c, int count)
{
    static const char *const names[] = {"i", "j", "k", "l", "m", "n"};
    static const int factors[] = {2, 4, 3, 5, 8};
    const char *parts[16], *params = "", *text = "";
    int part_count = 0;
    if (count == 0 || count > 6 || random_chance(c->random, 5))
        return count ? "lambda *at: at" : "lambda: (0,)";
    for (int i = 0; i < count; i++) {
        params = step_text(c, "%s%s%s", params, i ? ", " : "", names[i]);
        int by = factors[random_below(c->random, 5)];
        bool splits = random_chance(c->random, 45);
        parts[part_count++] = splits ? step_text(c, "%s // %d", names[i], by) : names[i];
        if (splits && !random_chance(c->random, 3))
            parts[part_count++] = step_text(c, "%s %% %d", names[i], by);
    }
    for (int i = part_count - 1; i > 0; i--) {
        int k = random_chance(c->random, 60) ? random_below(c->random, i + 1) : i;
        const char *other = parts[k];
        parts[k] = parts[i];
        parts[i] = other;
    }
    for (int i = 0; i < part_count; i++)
        text = step_text(c, "%s%s%s", text, i ? ", " : "", parts[i]);
    return step_text(c, "lambda %s: [%s]", params, text);
}

const char *step_transform_layout(Chooser *c)
{
    static const char *const pads[] = {"", ", pad_value=0.0", ", pad_value=0", ", pad_value=0.0, assume_injective_transform=True"};
    const TreeNode *block = any_block(c);
    bool write = node_block(block)->write_count && random_chance(c->random, 60);
    int count = write ? node_block(block)->write_count : node_block(block)->read_count;
    if (!count)
        return NULL;
    int index = random_below(c->random, count);
    const Buffer *buffer = (write ? node_block(block)->writes : node_block(block)->reads)[index].buffer;
    const char *pad = pads[random_below(c->random, 4)];
    return step_text(c, "sch.transform_layout(%s, (\"%s\", %d), %s%s)", block_text(c, block), write ? "write" : "read", index,
                     index_map(c, buffer->ndim), dtype_is_float(buffer->dtype) || !*pad ? pad : pads[2]);
}

const char *step_transform_block_layout(Chooser *c)
{
    const TreeNode *block = any_block(c);
    return step_text(c, "sch.transform_block_layout(%s, %s)", block_text(c, block), index_map(c, node_block(block)->iter_count));
}

/* Mostly of all loops that are there; other counts are refused. */
const char *step_pad_einsum(Chooser *c)
{
    const TreeNode *block = any_block(c);
    const char *padding = "";
    for (int i = 0; i < node_block(block)->iter_count; i++)
        padding = step_text(c, "%s%s%d", padding, i ? ", " : "", random_chance(c->random, 30) ? 1 : random_factor(c));
    return step_text(c, "sch.pad_einsum(%s, [%s])", block_text(c, block), padding);
}

const char *step_decompose_padding(Chooser *c)
{
    const TreeNode *block = block_where(c, block_pads), *loop = block ? loop_around(c, block) : NULL;
    return loop ? step_text(c, "sch.decompose_padding(%s, %s)", block_text(c, block), loop_text(c, loop)) : NULL;
}

const char *step_set_axis_separator(Chooser *c)
{
    const TreeNode *block = any_block(c);
    return step_text(c, "sch.set_axis_separator(%s, (\"write\", 0), [%d])", block_text(c, block), random_below(c->random, 4));
}

/* To a type that holds all values of the one that the buffers have: results stay the same. */
const char *step_unsafe_set_dtype(Chooser *c)
{
    const TreeNode *block = block_where(c, block_is_inlinable);
    if (!block || !node_block(block)->write_count)
        return NULL;
    int index = random_below(c->random, node_block(block)->write_count);
    bool is_float = dtype_is_float(node_block(block)->writes[index].buffer->dtype);
    return step_text(c, "sch.unsafe_set_dtype(%s, %d, \"%s\")", block_text(c, block), index, is_float ? "float64" : "int64");
}

static bool block_calls_no_function(Chooser *c, const TreeNode *block)
{
    (void)c;
    return node_block(block)->body->kind != STMT_EVALUATE;
}

/* More than the whole buffer: the regions hold every access. A call is taken to access all that is declared, which then is out of bounds. */
const char *step_annotate_buffer_access(Chooser *c)
{
    const TreeNode *block = block_where(c, block_calls_no_function);
    if (!block)
        return NULL;
    bool write = random_chance(c->random, 30);
    return step_text(c, "sch.annotate_buffer_access(%s, %s, \"%s\", lambda *at: [(0, 4096)] * %d)", block_text(c, block),
                     buffer_text(c, block, write), write ? "write" : "read", 1 + random_below(c->random, 2));
}

const char *step_unsafe_hide_buffer_access(Chooser *c)
{
    const TreeNode *block = any_block(c);
    bool write = random_chance(c->random, 30);
    /* A region that is hidden though it is accessed is a fault, as the step says; so none is hidden. */
    return step_text(c, "sch.unsafe_hide_buffer_access(%s, \"%s\", [])", block_text(c, block), write ? "write" : "read");
}

/* Of a block, or, at times, of a reduction that becomes a block inside of another one. */
const char *step_reindex(Chooser *c)
{
    const TreeNode *block = random_chance(c->random, 25) ? block_where(c, block_has_init) : any_block(c);
    const TreeNode *loop = block && block_has_init(c, block) && random_chance(c->random, 60) ? loop_around(c, block) : NULL;
    if (!block)
        return NULL;
    const char *inside = loop ? step_text(c, "sch.blockize(%s); ", loop_text(c, loop)) : "";
    bool write = random_chance(c->random, 40);
    int kind = random_below(c->random, 3);
    if (kind == 0)
        return step_text(c, "%ssch.reindex(%s, (\"%s\", 0))", inside, block_text(c, block), write ? "write" : "read");
    return step_text(c, "%ssch.reindex_cache_%s(%s, 0, \"%s\", %s)", inside, write ? "write" : "read", block_text(c, block), random_scope(c),
                     index_map(c, node_block(block)->iter_count));
}
