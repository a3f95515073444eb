/* Random schedule steps: a primitive with random arguments, written as a line of a script. Most are meaningful, some are not: refusals are tested too. */
#include "fuzz.h"

typedef struct {
    Random *random;
    Context *ctx;
    Schedule *sch;
    const TreeNode **blocks;
    int block_count;
} Chooser;

static const char *text(Chooser *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *text(Chooser *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *result = arena_vprintf(c->ctx->arena, format, args);
    va_end(args);
    return result;
}

static const char *name_of(const TreeNode *block)
{
    return node_block(block)->block->name;
}

static const TreeNode *any_block(Chooser *c)
{
    return c->blocks[random_below(c->random, c->block_count)];
}

static int loop_count(Chooser *c, const TreeNode *block)
{
    int count;
    schedule_loops_around(c->sch, block, &count);
    return count;
}

/* A loop around BLOCK; the block's first where there is none (which is then refused). */
static const char *loop_of(Chooser *c, const TreeNode *block)
{
    int count = loop_count(c, block);
    return text(c, "sch.get_loops(\"%s\")[%d]", name_of(block), count ? random_below(c->random, count) : 0);
}

static const char *any_loop(Chooser *c)
{
    return loop_of(c, any_block(c));
}

static int factor(Chooser *c)
{
    static const int factors[] = {1, 2, 3, 4, 5, 8, 10, 16};
    return factors[random_below(c->random, 8)];
}

static const char *split(Chooser *c)
{
    switch (random_below(c->random, 4)) {
    case 0: return text(c, "sch.split(%s, [%d, None])", any_loop(c), factor(c));
    case 1: return text(c, "sch.split(%s, [None, %d, %d])", any_loop(c), factor(c), factor(c));
    default: return text(c, "sch.split(%s, [None, %d])", any_loop(c), factor(c));
    }
}
static const char *fuse(Chooser *c)
{
    const TreeNode *block = any_block(c);
    int count = loop_count(c, block), first = count > 1 ? random_below(c->random, count - 1) : 0;
    return text(c, "sch.fuse(*sch.get_loops(\"%s\")[%d:%d])", name_of(block), first, first + 2);
}
static const char *reorder(Chooser *c)
{
    const TreeNode *block = any_block(c);
    int count = loop_count(c, block);
    if (random_chance(c->random, 30))
        return text(c, "sch.reorder(*reversed(sch.get_loops(\"%s\")))", name_of(block));
    int a = count ? random_below(c->random, count) : 0, b = count ? random_below(c->random, count) : 0;
    return text(c, "sch.reorder(sch.get_loops(\"%s\")[%d], sch.get_loops(\"%s\")[%d])", name_of(block), a, name_of(block), b);
}
static const char *merge(Chooser *c)
{
    return text(c, "sch.merge(sch.get_loops(\"%s\")[0], sch.get_loops(\"%s\")[0])", name_of(any_block(c)), name_of(any_block(c)));
}
static const char *add_unit_loop(Chooser *c)
{
    return random_chance(c->random, 50) ? text(c, "sch.add_unit_loop(\"%s\")", name_of(any_block(c))) : text(c, "sch.add_unit_loop(%s)", any_loop(c));
}
static const char *annotate(Chooser *c)
{
    return text(c, "sch.annotate(%s, \"note\", %d)", any_loop(c), factor(c));
}
static const char *unannotate(Chooser *c)
{
    const TreeNode *block = any_block(c);
    return text(c, "sch.annotate(\"%s\", \"k\", 1) if %d else sch.unannotate(\"%s\", \"k\")", name_of(block), random_below(c->random, 2), name_of(block));
}
static const char *unroll(Chooser *c)
{
    return text(c, "sch.unroll(%s)", any_loop(c));
}
static const char *parallel(Chooser *c)
{
    return text(c, "sch.parallel(%s)", any_loop(c));
}
static const char *vectorize(Chooser *c)
{
    return text(c, "sch.vectorize(%s)", any_loop(c));
}
static const char *bind(Chooser *c)
{
    static const char *const threads[] = {"blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y"};
    return text(c, "sch.bind(%s, \"%s\")", any_loop(c), threads[random_below(c->random, 4)]);
}
static const char *scope(Chooser *c)
{
    static const char *const scopes[] = {"global", "local", "shared", "global.tile"};
    return scopes[random_below(c->random, 4)];
}
static const char *set_scope(Chooser *c)
{
    return text(c, "sch.set_scope(\"%s\", 0, \"%s\")", name_of(any_block(c)), scope(c));
}
static const char *storage_align(Chooser *c)
{
    return text(c, "sch.storage_align(\"%s\", 0, axis=%d, factor=%d, offset=%d)", name_of(any_block(c)), random_below(c->random, 2), factor(c), random_below(c->random, 2));
}
static const char *cache_read(Chooser *c)
{
    return text(c, "sch.cache_read(\"%s\", %d, \"%s\")", name_of(any_block(c)), random_below(c->random, 2), scope(c));
}
static const char *cache_write(Chooser *c)
{
    return text(c, "sch.cache_write(\"%s\", 0, \"%s\")", name_of(any_block(c)), scope(c));
}
/* A block and a later one, which may be its consumer; where there is just one block, that twice. */
static void any_pair(Chooser *c, const TreeNode **earlier, const TreeNode **later)
{
    int a = random_below(c->random, c->block_count), b = random_below(c->random, c->block_count);
    if (random_chance(c->random, 60))
        b = a + 1 < c->block_count ? a + 1 : a;
    *earlier = c->blocks[a < b ? a : b];
    *later = c->blocks[a < b ? b : a];
}

static const char *compute_at(Chooser *c)
{
    const TreeNode *earlier, *later;
    any_pair(c, &earlier, &later);
    return text(c, "sch.compute_at(\"%s\", %s%s)", name_of(earlier), loop_of(c, later), random_chance(c->random, 20) ? ", preserve_unit_loops=True" : "");
}
static const char *reverse_compute_at(Chooser *c)
{
    const TreeNode *earlier, *later;
    any_pair(c, &earlier, &later);
    return text(c, "sch.reverse_compute_at(\"%s\", %s%s)", name_of(later), loop_of(c, earlier), random_chance(c->random, 20) ? ", index=-2" : "");
}
static const char *compute_inline(Chooser *c)
{
    return text(c, "sch.compute_inline(\"%s\")", name_of(any_block(c)));
}
static const char *reverse_compute_inline(Chooser *c)
{
    return text(c, "sch.reverse_compute_inline(\"%s\")", name_of(any_block(c)));
}
static const char *decompose_reduction(Chooser *c)
{
    const TreeNode *block = any_block(c);
    return text(c, "sch.decompose_reduction(\"%s\", %s)", name_of(block), loop_of(c, block));
}
/* Most of the time the innermost loop, which a reduction has there at first. */
static const char *rfactor(Chooser *c)
{
    const char *loop = random_chance(c->random, 70) ? text(c, "sch.get_loops(\"%s\")[-1]", name_of(any_block(c))) : any_loop(c);
    return text(c, "sch.rfactor(%s, %d)", loop, random_below(c->random, 4) - 1);
}
static const char *blockize(Chooser *c)
{
    return text(c, "sch.blockize(%s%s)", any_loop(c), random_chance(c->random, 30) ? ", preserve_unit_iters=False" : "");
}
static const char *loop_partition(Chooser *c)
{
    return text(c, "sch.loop_partition(%s, [%d, None])", any_loop(c), factor(c));
}

static const struct {
    const char *name;
    const char *(*write)(Chooser *c);
    int weight;
} kinds[] = {
    {"split", split, 6},         {"fuse", fuse, 3},
    {"reorder", reorder, 4},     {"merge", merge, 2},
    {"add_unit_loop", add_unit_loop, 1}, {"annotate", annotate, 1},
    {"unannotate", unannotate, 1}, {"unroll", unroll, 1},
    {"parallel", parallel, 2},   {"vectorize", vectorize, 2},
    {"bind", bind, 1},           {"set_scope", set_scope, 1},
    {"storage_align", storage_align, 1}, {"cache_read", cache_read, 3},
    {"cache_write", cache_write, 3}, {"compute_at", compute_at, 5},
    {"reverse_compute_at", reverse_compute_at, 5}, {"compute_inline", compute_inline, 2},
    {"reverse_compute_inline", reverse_compute_inline, 2}, {"decompose_reduction", decompose_reduction, 3},
    {"rfactor", rfactor, 3},     {"blockize", blockize, 2},
    {"loop_partition", loop_partition, 1},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* The blocks of the function but the root, those with a name of their own. */
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

const char *random_step(Random *random, Context *ctx, const Module *module, const char **primitive)
{
    Chooser c = {random, ctx, schedule_new(ctx, module, 0), NULL, 0};
    find_blocks(&c);
    int total = 0;
    for (int i = 0; i < KIND_COUNT; i++)
        total += primitive_find(kinds[i].name) ? kinds[i].weight : 0;
    int chosen = random_below(random, total), i = 0;
    for (;; i++) {
        int weight = primitive_find(kinds[i].name) ? kinds[i].weight : 0;
        if (chosen < weight)
            break;
        chosen -= weight;
    }
    *primitive = kinds[i].name;
    return c.block_count ? kinds[i].write(&c) : "sch.get_block(\"root\")";
}
