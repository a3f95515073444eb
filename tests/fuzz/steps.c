/* Random schedule steps: a primitive with random arguments, written as lines of a script. Most make sense, some do not: refusals are tested
   too. A writer returns NULL where the program offers nothing that the primitive could mostly do; another primitive is drawn then. */
#include "steps.h"
#include "ir/walk.h"

int random_factor(Chooser *c)
{
    static const int factors[] = {1, 2, 2, 3, 4, 4, 5, 8, 10, 16};
    return factors[random_below(c->random, 10)];
}

static const char *random_loop_text(Chooser *c)
{
    return loop_text(c, any_loop(c));
}

/* PRIMITIVE(LOOP ARGUMENTS), now and then on a loop that an earlier line consumed. */
static const char *on_loop(Chooser *c, const char *primitive, const TreeNode *loop, const char *arguments, int stale_percent)
{
    const char *text = loop_text(c, loop);
    if (!random_chance(c->random, stale_percent))
        return step_text(c, "sch.%s(%s%s)", primitive, text, arguments);
    const char *consumer = random_chance(c->random, 50) ? "split(loop, [None, 2])" : "fuse(loop)";
    return step_text(c, "loop = %s\nsch.%s\nsch.%s(loop%s)", text, random_chance(c->random, 80) ? consumer : "split(loop, [1, None])",
                     primitive, arguments);
}

/* --- Loops --- */
static const char *split(Chooser *c)
{
    const char *factors;
    switch (random_below(c->random, 5)) {
    case 0: factors = step_text(c, ", [%d, None]", random_factor(c)); break;
    case 1: factors = step_text(c, ", [None, %d, %d]", random_factor(c), random_factor(c)); break;
    case 2: factors = step_text(c, ", [%d, %d]", random_factor(c), random_factor(c)); break;
    case 3: factors = step_text(c, ", [%d, None], preserve_unit_iters=False", random_factor(c)); break;
    default: factors = step_text(c, ", [None, %d]", random_factor(c));
    }
    return on_loop(c, "split", any_loop(c), factors, 3);
}

static const char *fuse(Chooser *c)
{
    const TreeNode *block = any_block(c);
    int count;
    schedule_loops_around(c->sch, block, &count);
    int first = count > 1 ? random_below(c->random, count - 1) : 0;
    const char *units = random_chance(c->random, 15) ? ", preserve_unit_iters=False" : "";
    if (random_chance(c->random, 15))
        return step_text(c, "sch.fuse(%s, %s%s)", random_loop_text(c), random_loop_text(c), units);
    return step_text(c, "sch.fuse(*sch.get_loops(%s)[%d:%d]%s)", block_text(c, block), first,
                     first + (random_chance(c->random, 20) ? 3 : 2), units);
}

static const char *reorder(Chooser *c)
{
    const TreeNode *block = any_block(c);
    int count;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    if (random_chance(c->random, 30) || count < 2)
        return step_text(c, "sch.reorder(*reversed(sch.get_loops(%s)))", block_text(c, block));
    int a = random_below(c->random, count), b = (a + 1 + random_below(c->random, count - 1)) % count;
    return step_text(c, "sch.reorder(%s, %s)", loop_text(c, loops[a > b ? a : b]),
                     loop_text(c, random_chance(c->random, 5) ? any_loop(c) : loops[a > b ? b : a]));
}

static bool same_extent(const TreeNode *a, const TreeNode *b)
{
    int64_t x, y;
    if (expr_const_int(node_loop(a)->extent, &x) && expr_const_int(node_loop(b)->extent, &y))
        return x == y;
    return node_loop(a)->extent == node_loop(b)->extent;
}

static const TreeNode *only_loop_below(Chooser *c, const TreeNode *loop)
{
    return node_loop(loop)->body->kind == STMT_FOR ? schedule_find_stmt(c->sch, node_loop(loop)->body) : NULL;
}

/* Two loops of one statement list with equal extents, or loops equally deep below them. False where there are none. */
static bool find_siblings(Chooser *c, const TreeNode *pair[2])
{
    int count = schedule_node_count(c->sch), first = random_below(c->random, count);
    for (int i = 0; i < count; i++) {
        const TreeNode *list = schedule_node_at(c->sch, (first + i) % count);
        if (list->stmt->kind != STMT_SEQ)
            continue;
        int length = list->stmt->as.seq.count, start = length ? random_below(c->random, length) : 0;
        for (int k = 0; k + 1 < length; k++) {
            const Stmt *a = list->stmt->as.seq.items[(start + k) % length], *b = list->stmt->as.seq.items[(start + k + 1) % length];
            if (a->kind != STMT_FOR || b->kind != STMT_FOR)
                continue;
            pair[0] = schedule_find_stmt(c->sch, a);
            pair[1] = schedule_find_stmt(c->sch, b);
            if (same_extent(pair[0], pair[1]))
                return true;
        }
    }
    return false;
}

static const char *merge(Chooser *c)
{
    const TreeNode *pair[2];
    bool found = find_siblings(c, pair);
    if (!found && random_chance(c->random, 80))
        return NULL;
    if (!found || random_chance(c->random, 10))
        return step_text(c, "sch.merge(%s, %s)", random_loop_text(c), random_loop_text(c));
    while (random_chance(c->random, 50)) {
        const TreeNode *a = only_loop_below(c, pair[0]), *b = only_loop_below(c, pair[1]);
        if (!a || !b || !same_extent(a, b))
            break;
        pair[0] = a;
        pair[1] = b;
    }
    return step_text(c, "sch.merge(%s, %s)", loop_text(c, pair[0]), loop_text(c, pair[1]));
}

/* The body of LOOP goes on behind what holds BLOCK. */
static bool is_followed(Chooser *c, const TreeNode *loop, const TreeNode *block)
{
    const Stmt *body = node_loop(loop)->body;
    return body->kind == STMT_SEQ && !schedule_is_under(c->sch, block, schedule_find_stmt(c->sch, body->as.seq.items[body->as.seq.count - 1]));
}

/* A loop around a block, and behind that other statements, most of the time. */
static const char *fission(Chooser *c)
{
    const TreeNode *block = any_block(c);
    int count;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    if (!count)
        return NULL;
    const TreeNode *loop = loops[random_below(c->random, count)];
    for (int i = 0; i < count; i++)
        if (is_followed(c, loops[i], block) && random_chance(c->random, 80))
            loop = loops[i];
    return is_followed(c, loop, block) || random_chance(c->random, 10) ? step_text(c, "sch.fission(%s, %s)", loop_text(c, loop), block_text(c, block)) : NULL;
}

static const char *reorder_axes(Chooser *c)
{
    const TreeNode *block = any_block(c);
    int count = node_block(block)->iter_count;
    const char *order = "";
    int first = count ? random_below(c->random, count) : 0;
    for (int i = 0; i < count; i++)
        order = step_text(c, "%s%s%d", order, i ? ", " : "", random_chance(c->random, 3) ? 0 : (first + i) % count);
    return step_text(c, "sch.reorder_block_iter_var(%s, [%s])", block_text(c, block), order);
}

/* A step on one of the loops that PARTS, a list, holds. */
static const char *step_on_part(Chooser *c)
{
    static const char *const steps[] = {"sch.split(part, [None, 4])", "sch.split(part, [2, None])", "sch.fuse(part)", "sch.unroll(part)",
                                        "sch.parallel(part)", "sch.vectorize(part)", "sch.bind(part, \"threadIdx.x\")", "sch.blockize(part)",
                                        "sch.loop_partition(part, [1, None])", "sch.rfactor(part, 0)", "sch.vectorize(sch.split(part, [None, 4])[1])",
                                        "sch.reorder(*reversed(sch.split(part, [None, 3])))", "sch.fuse(*sch.split(part, [3, None]))"};
    return steps[random_below(c->random, sizeof steps / sizeof *steps)];
}

static const char *loop_partition(Chooser *c)
{
    static const char *const forms[] = {"[%d, None]", "[None, %d]", "[%d, 1, None]", "[%d, None], preserve_unit_iters=False"};
    const char *form = forms[random_below(c->random, 4)];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *factors = step_text(c, form, random_factor(c));
#pragma GCC diagnostic pop
    if (random_chance(c->random, 40))
        return on_loop(c, "loop_partition", any_loop(c), step_text(c, ", %s", factors), 5);
    return step_text(c, "part = sch.loop_partition(%s, %s)[%d]\n%s", loop_text(c, any_loop(c)), factors, random_chance(c->random, 70) ? -1 : 0,
                     step_on_part(c));
}

static const char *add_unit_loop(Chooser *c)
{
    if (random_chance(c->random, 30))
        return "sch.add_unit_loop(sch.get_block(\"root\"))";
    return random_chance(c->random, 50) ? step_text(c, "sch.add_unit_loop(%s)", block_text(c, any_block(c)))
                                        : on_loop(c, "add_unit_loop", any_loop(c), "", 30);
}

static const char *unroll(Chooser *c)
{
    return on_loop(c, "unroll", any_loop(c), "", 35);
}
static const char *parallel(Chooser *c)
{
    return on_loop(c, "parallel", any_loop(c), "", 10);
}
static const char *vectorize(Chooser *c)
{
    if (random_chance(c->random, 15)) /* vectors of a width that no register has */
        return step_text(c, "sch.vectorize(sch.split(%s, [None, %d])[1])", random_loop_text(c), random_chance(c->random, 50) ? 3 : 5);
    return on_loop(c, "vectorize", any_loop(c), "", 10);
}
static const char *bind(Chooser *c)
{
    static const char *const threads[] = {"blockIdx.x",  "blockIdx.y", "threadIdx.x", "threadIdx.y",
                                          "threadIdx.x", "vthread.x",  "threadIdx"};
    return on_loop(c, "bind", any_loop(c), step_text(c, ", \"%s\"", threads[random_below(c->random, 7)]), 10);
}

/* --- Annotations --- */
static const char *annotate(Chooser *c)
{
    static const char *const values[] = {"1", "\"text\"", "[1, 2]", "{\"a\": 1}", "True", "0.5", "None", "None", "lambda i: i"};
    static const char *const pragmas[] = {"\"pragma_auto_unroll_max_step\", 16", "\"pragma_no_peel\", 1", "\"pragma_unroll_explicit\", 1"};
    const char *value = random_chance(c->random, 30) ? step_text(c, ", %s", pragmas[random_below(c->random, 3)])
                                                     : step_text(c, ", \"note\", %s", values[random_below(c->random, 9)]);
    return random_chance(c->random, 50) ? step_text(c, "sch.annotate(%s%s)", block_text(c, any_block(c)), value)
                                        : on_loop(c, "annotate", any_loop(c), value, 20);
}
static const char *unannotate(Chooser *c)
{
    for (int attempt = 0; attempt < 6; attempt++) {
        const TreeNode *block = any_block(c), *loop = any_loop(c);
        if (node_block(block)->annotations.count)
            return step_text(c, "sch.unannotate(%s, \"%s\")", block_text(c, block), node_block(block)->annotations.entries[0].key);
        if (loop && node_loop(loop)->annotations.count)
            return step_text(c, "sch.unannotate(%s, \"%s\")", loop_text(c, loop), node_loop(loop)->annotations.entries[0].key);
    }
    const char *block = block_text(c, any_block(c));
    return random_chance(c->random, 40) ? step_text(c, "sch.annotate(%s, \"k\", 1)\nsch.unannotate(%s, \"k\")", block, block)
                                        : step_text(c, "sch.unannotate(%s, \"k\")", block);
}

/* --- Moves --- */
/* A block and one that reads what it writes, mostly; else a block and a later one, or one block twice. */
static void any_pair(Chooser *c, const TreeNode **producer, const TreeNode **consumer)
{
    int a = random_below(c->random, c->block_count), b = random_below(c->random, c->block_count);
    *producer = c->blocks[a < b ? a : b];
    *consumer = c->blocks[a < b ? b : a];
    for (int attempt = 0; attempt < 24 && !random_chance(c->random, 2); attempt++) {
        const TreeNode *from = any_block(c), *to = any_block(c);
        if (from == to || !block_fills_scratch(c, from) || !block_reads(to, node_block(from)->writes[0].buffer))
            continue;
        *producer = from;
        *consumer = to;
        return;
    }
}

static const char *move_options(Chooser *c)
{
    return step_text(c, "%s%s", random_chance(c->random, 20) ? ", preserve_unit_loops=True" : "",
                     random_chance(c->random, 10)  ? ", index=-2"
                     : random_chance(c->random, 5) ? ", index=0"
                                                   : "");
}
static const char *compute_at(Chooser *c)
{
    const TreeNode *producer, *consumer;
    any_pair(c, &producer, &consumer);
    return step_text(c, "sch.compute_at(%s, %s%s)", block_text(c, producer), loop_text(c, loop_around_only(c, consumer, producer)),
                     move_options(c));
}
static const char *reverse_compute_at(Chooser *c)
{
    const TreeNode *producer, *consumer;
    any_pair(c, &producer, &consumer);
    return step_text(c, "sch.reverse_compute_at(%s, %s%s)", block_text(c, consumer), loop_text(c, loop_around_only(c, producer, consumer)),
                     move_options(c));
}
/* Of a block where it is, or moved below a loop of a consumer. */
static const char *rolling_buffer(Chooser *c)
{
    const TreeNode *producer, *consumer;
    any_pair(c, &producer, &consumer);
    const char *block = block_text(c, producer), *roll = step_text(c, "sch.rolling_buffer(%s, 0)", block);
    return random_chance(c->random, 20) ? roll : step_text(c, "sch.compute_at(%s, %s)\n%s", block, loop_text(c, loop_around(c, consumer)), roll);
}
static const char *compute_inline(Chooser *c)
{
    const TreeNode *block = block_where(c, block_is_inlinable);
    return block ? step_text(c, "sch.compute_inline(%s)", block_text(c, block)) : NULL;
}
static const char *reverse_compute_inline(Chooser *c)
{
    const TreeNode *block = block_where(c, block_is_epilogue);
    return block ? step_text(c, "sch.reverse_compute_inline(%s)", block_text(c, block)) : NULL;
}

/* --- Reductions --- */
static const char *decompose_reduction(Chooser *c)
{
    if (random_chance(c->random, 30))
        return step_tile_sums(c);
    const TreeNode *block = block_where(c, block_has_init);
    if (!block)
        return NULL;
    int count;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    const TreeNode *loop = count ? loops[random_below(c->random, count)] : NULL;
    for (int i = 0; i < count && random_chance(c->random, 70); i++)
        if (loop_reduces(loops[i], block)) { /* the outermost one, where it is mostly legal */
            loop = loops[random_below(c->random, i + 1)];
            break;
        }
    return step_text(c, "sch.decompose_reduction(%s, %s)", block_text(c, block),
                     loop_text(c, random_chance(c->random, 5) ? any_loop(c) : loop));
}

static const char *rfactor(Chooser *c)
{
    const TreeNode *block = block_where(c, block_has_init);
    if (!block)
        return NULL;
    int count, ndim = node_block(block)->write_count ? node_block(block)->writes[0].buffer->ndim : 0;
    const TreeNode **loops = schedule_loops_around(c->sch, block, &count);
    int first = count ? random_below(c->random, count) : 0;
    const TreeNode *loop = count ? loops[first] : NULL;
    for (int i = 0; i < count; i++)
        if (loop_reduces(loops[(first + i) % count], block))
            loop = loops[(first + i) % count];
    int axis = random_below(c->random, 2 * ndim + 2) - ndim - 1;
    return step_text(c, "sch.rfactor(%s, %d)", loop_text(c, random_chance(c->random, 5) ? any_loop(c) : loop),
                     random_chance(c->random, 5) ? 7 : axis);
}

/* --- Blocks --- */
static const char *blockize(Chooser *c)
{
    const char *units = random_chance(c->random, 30) ? ", preserve_unit_iters=False" : "";
    if (random_chance(c->random, 12) && c->block_count > 1) {
        int first = random_below(c->random, c->block_count - 1);
        return step_text(c, "sch.blockize([%s, %s]%s)", block_text(c, c->blocks[first]), block_text(c, c->blocks[first + 1]), units);
    }
    return on_loop(c, "blockize", any_loop(c), units, 10);
}

static const char *tensorize_sum(Chooser *c)
{
    const TreeNode *block = block_where(c, block_is_tileable_sum);
    if (!block)
        return NULL;
    const char *name = block_text(c, block);
    return step_text(
        c, "outer, inner = sch.split(sch.get_loops(%s)[-1], [None, 2])\nsch.decompose_reduction(%s, outer)\nsch.tensorize(inner, \"%s\")",
        name, name, node_block(block)->read_count > 1 && random_chance(c->random, 80) ? "dot2" : "sum2");
}

/* A copy by tiles of two rows, of a block that copies or of a new copy. */
static const char *tensorize_tiles(Chooser *c)
{
    bool made = random_chance(c->random, 40);
    const TreeNode *block = block_where(c, made ? block_reads_rows_of_four : block_is_tileable_copy);
    if (!block)
        return NULL;
    return step_text(c,
                     "copy = %s\nx, y = sch.get_loops(copy)[-2:]\nx0, x1 = sch.split(x, [None, 2])\ny0, y1 = sch.split(y, [None, 4])\n"
                     "sch.reorder(x0, y0, x1, y1)\nsch.tensorize(x1, \"tile2x4\")",
                     made ? step_text(c, "sch.cache_read(%s, 0, \"global\")", block_text(c, block)) : block_text(c, block));
}

/* A copy that is there, or a new one of what a block reads. */
static const char *tensorize_copy(Chooser *c)
{
    bool made = random_chance(c->random, 50);
    const TreeNode *block = block_where(c, made ? block_reads_rows_of_four : block_is_tileable_copy);
    if (!block)
        return NULL;
    const char *copy =
        made ? step_text(c, "sch.cache_read(%s, 0, \"%s\")", block_text(c, block), random_chance(c->random, 80) ? "global" : random_scope(c))
             : block_text(c, block);
    return step_text(c, "copy = %s\nouter, inner = sch.split(sch.get_loops(copy)[-1], [None, 4])\nsch.tensorize(inner, \"copy4\")", copy);
}

static const char *tensorize(Chooser *c)
{
    if (!module_intrin(c->sch->module, "copy4") || random_chance(c->random, 15))
        return step_text(c, "sch.tensorize(%s, \"%s\")", random_loop_text(c), random_chance(c->random, 50) ? "copy4" : "sum2");
    int kind = random_below(c->random, 10);
    return kind < 3 ? tensorize_sum(c) : kind < 6 ? tensorize_tiles(c) : tensorize_copy(c);
}

static const struct {
    const char *name;
    const char *(*write)(Chooser *c);
    int weight;
} kinds[] = {
    {"split", split, 8},
    {"fuse", fuse, 5},
    {"merge", merge, 8},
    {"loop_partition", loop_partition, 6},
    {"reorder", reorder, 5},
    {"reorder_block_iter_var", reorder_axes, 2},
    {"fission", fission, 6},
    {"add_unit_loop", add_unit_loop, 2},
    {"annotate", annotate, 2},
    {"unannotate", unannotate, 2},
    {"unroll", unroll, 3},
    {"parallel", parallel, 4},
    {"vectorize", vectorize, 4},
    {"bind", bind, 2},
    {"set_scope", step_set_scope, 4},
    {"unsafe_set_dtype", step_unsafe_set_dtype, 1},
    {"annotate_buffer_access", step_annotate_buffer_access, 1},
    {"unsafe_hide_buffer_access", step_unsafe_hide_buffer_access, 1},
    {"storage_align", step_storage_align, 3},
    {"cache_read", step_cache_read, 5},
    {"cache_write", step_cache_write, 5},
    {"cache_inplace", step_cache_inplace, 4},
    {"cache_index", step_cache_index, 4},
    {"rolling_buffer", rolling_buffer, 6},
    {"read_at", step_read_at, 4},
    {"write_at", step_write_at, 5},
    {"transform_layout", step_transform_layout, 5},
    {"transform_block_layout", step_transform_block_layout, 4},
    {"reindex", step_reindex, 6},
    {"set_axis_separator", step_set_axis_separator, 1},
    {"compute_at", compute_at, 6},
    {"reverse_compute_at", reverse_compute_at, 6},
    {"compute_inline", compute_inline, 5},
    {"reverse_compute_inline", reverse_compute_inline, 8},
    {"fuse_reduction_epilogue", step_fuse_reduction_epilogue, 4},
    {"cache_accumulate", step_cache_accumulate, 3},
    {"decompose_reduction", decompose_reduction, 5},
    {"decompose_padding", step_decompose_padding, 6},
    {"pad_einsum", step_pad_einsum, 8},
    {"rfactor", rfactor, 7},
    {"blockize", blockize, 4},
    {"tensorize", tensorize, 3},
    {"sample_perfect_tile", step_sample_perfect_tile, 2},
    {"sample_partitioned_tile", step_sample_partitioned_tile, 1},
    {"sample_categorical", step_sample_categorical, 1},
    {"sample_compute_location", step_sample_compute_location, 2},
    {"work_on", step_work_on, 2},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static void find_blocks(Chooser *c)
{
    VEC(const TreeNode *) blocks = {0};
    for (int i = 0; i < schedule_node_count(c->sch); i++) {
        const TreeNode *node = schedule_node_at(c->sch, i);
        if (node->stmt->kind == STMT_BLOCK && node->parent >= 0 && !node->in_init)
            vec_push(c->ctx->arena, &blocks, node);
    }
    c->blocks = blocks.data;
    c->block_count = blocks.count;
}

/* Tensorize needs intrinsics, which many programs do not have. */
static int weight_of(int kind, const Module *module)
{
    if (!strcmp(kinds[kind].name, "tensorize"))
        return module_intrin(module, "copy4") ? 13 : 1;
    return kinds[kind].weight;
}

const char *random_step(Random *random, Context *ctx, const Module *module, int func, const char **primitive)
{
    Chooser c = {random, ctx, schedule_new(ctx, module, func), NULL, 0};
    find_blocks(&c);
    int total = 0;
    const char *step = NULL;
    for (int i = 0; i < KIND_COUNT; i++)
        total += weight_of(i, module);
    while (!step) {
        int chosen = random_below(random, total), kind = 0;
        while (chosen >= weight_of(kind, module))
            chosen -= weight_of(kind++, module);
        *primitive = kinds[kind].name;
        step = c.block_count ? kinds[kind].write(&c) : "sch.get_block(\"root\")";
    }
    return step;
}
