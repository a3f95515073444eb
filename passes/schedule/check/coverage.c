/* Covered elements of a buffer; see coverage.h. What is asked here becomes reads at a place and the writes of one block, and access_covered
   decides. A write that cannot be described does not count; a read that cannot be described may be of any element. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/collect/access_flat.h"
#include "passes/analysis/cover/cover.h"
#include "passes/schedule/check/coverage.h"

#include "passes/analysis/normal/access_rows.h"
#include "passes/analysis/prove/explain.h"
#include "passes/analysis/pairs/pair.h"

typedef struct {
    Context *ctx;
    const Func *func;
    const Buffer *buffer;
    AccessList accesses;
    Map sizes;
    const Access *first; /* of the writer; NULL: nothing is known of it */
    AccessRefs writes;   /* of the writer, to the buffer: those of calls are may-writes */
} Coverage;

static bool access_is_below(const Access *access, const Stmt *block)
{
    const Frame *frame = access->frame;
    while (frame && frame->stmt != block)
        frame = frame->outer;
    return frame != NULL;
}

/* The last of the frames that hold in all of block STMT, one of those around FRAME. */
static const Frame *frame_in_block(Context *ctx, const Frame *frame, const Stmt *stmt)
{
    VEC(const Frame *) inwards = {0};
    for (; frame && frame->stmt != stmt; frame = frame->outer)
        vec_push(ctx->arena, &inwards, frame);
    for (int i = inwards.count - 1; i >= 0 && (inwards.data[i]->kind == FRAME_CONDITION || inwards.data[i]->kind == FRAME_BIND); i--)
        frame = inwards.data[i];
    return frame;
}

static const Access *first_access_below(const Coverage *coverage, const TreeNode *block)
{
    for (int i = 0; i < coverage->accesses.count; i++)
        if (access_is_below(&coverage->accesses.data[i], block->stmt))
            return &coverage->accesses.data[i];
    return NULL;
}

/* How many elements REGION has, or -1. */
static int64_t element_count(const Region *region)
{
    int64_t count = 1, extent;
    for (int d = 0; d < region->buffer->ndim; d++)
        if (!expr_const_int(region->ranges[d].extent, &extent) || extent < 1 || __builtin_mul_overflow(count, extent, &count))
            return -1;
    return count;
}

/* ACCESS, a write, is that of a call that fills a fragment of N x N elements, in a block that writes one region of as many elements: then all of
   these are written. Where N differs by dimension the size depends on what the fragment is for. */
static bool fills_fragment(const Access *access)
{
    const Expr *call = access->stmt->kind == STMT_EVALUATE ? access->stmt->as.evaluate : NULL;
    if (!call || !(expr_is_call(call, OP_TVM_LOAD_MATRIX_SYNC) || expr_is_call(call, OP_TVM_FILL_FRAGMENT)))
        return false;
    const Frame *frame = access->frame;
    while (frame && frame->kind != FRAME_BLOCK)
        frame = frame->outer;
    int64_t m, n, k;
    return frame && frame->stmt->as.block.write_count == 1 && expr_const_int(call->args[1], &m) && expr_const_int(call->args[2], &n) &&
           expr_const_int(call->args[3], &k) && m == n && n == k && m > 0 && m <= 256 && element_count(&access->region) == m * n;
}

static Coverage coverage_new(Schedule *sch, const TreeNode *writer, const Buffer *buffer)
{
    Context *ctx = sch->ctx;
    const Func *func = schedule_func(sch);
    AccessList accesses = access_collect(ctx, func);
    Coverage coverage = {
        .ctx = ctx, .func = func, .buffer = buffer, .accesses = accesses_unsplit(ctx, &accesses), .sizes = func_sizes(ctx, func)};
    coverage.first = first_access_below(&coverage, writer);
    for (int i = 0; i < coverage.accesses.count; i++) {
        const Access *access = &coverage.accesses.data[i];
        if (!access->write || access->data != buffer->data || !access_is_below(access, writer->stmt))
            continue;
        Access write = *access;
        write.may |= access->stmt->kind != STMT_STORE && !fills_fragment(access);
        vec_push(ctx->arena, &coverage.writes, arena_copy(ctx->arena, &write, sizeof write));
    }
    return coverage;
}

/* The writes of the writer cover READ in each iteration of the loops around PLACE. */
static Answer is_covered(const Coverage *coverage, const Access *read, const Frame *place)
{
    return access_covered(coverage->ctx, coverage->writes.data, coverage->writes.count, read, place, &coverage->sizes);
}

static Asking ask(Schedule *sch, Query query, const Buffer *buffer)
{
    return query_begin(sch->ctx, query, "buffer", buffer->name);
}

/* --- a box at a place --- */

/* The writes name elements as BUFFER does: those through views of another layout go by their places in the memory. */
static bool same_names(const Coverage *coverage, const Buffer *buffer)
{
    for (int i = 0; i < coverage->writes.count; i++)
        if (!buffer_same_layout(coverage->writes.data[i]->buffer, buffer))
            return false;
    return true;
}

/* The region and the condition of BOX, seen from the store at FRAME below the place, speak of what is around the place alone. */
static Answer box_is_written(Schedule *sch, const PlacedBox *box)
{
    Buffer *buffer = box->region.buffer;
    Coverage coverage = coverage_new(sch, box->writer, buffer);
    const Access *later = box->later ? first_access_below(&coverage, box->later) : NULL;
    if (!coverage.first || (box->later && !later))
        return answer_unknown("nothing is known of what the block writes");
    if (!same_names(&coverage, buffer))
        return answer_unknown("its memory is used under names of another layout");
    const Frame *innermost = coverage.first->frame;
    const Stmt *scope = schedule_scope(sch, box->writer)->stmt;
    const Frame *place = later ? frame_common(innermost, later->frame) : frame_in_block(sch->ctx, innermost, scope);
    if (!place)
        return answer_unknown("nothing is known of what the block writes");
    Subst values = frame_values(sch->ctx, innermost);
    Frame where = {.outer = place, .depth = place->depth + 1, .kind = FRAME_CONDITION};
    where.value = box->condition ? subst_expr(sch->ctx, &values, box->condition) : NULL;
    Access read = {.frame = box->condition ? &where : place, .func = coverage.func, .data = buffer->data, .buffer = buffer};
    read.asked = !box->clipped;
    read.region = subst_region(sch->ctx, &values, box->region);
    Answer answer = is_covered(&coverage, &read, place);
    if (answer.verdict == ANSWER_REFUTED)
        return answer_refuted(arena_printf(sch->ctx->arena, "%s is not written", answer.text));
    return answer_is_shown(answer) ? answer : answer_unknown("this cannot be shown");
}

Answer coverage_is_written(Schedule *sch, const PlacedBox *box)
{
    Asking asking = ask(sch, QUERY_WRITTEN, box->region.buffer);
    return query_end(asking, box_is_written(sch, box));
}

/* --- reads --- */

/* B comes behind A in the innermost sequence that holds both. */
static bool comes_behind(const Frame *a, const Frame *b)
{
    const Frame *common = frame_common(a, b);
    while (a && a->outer != common)
        a = a->outer;
    while (b && b->outer != common)
        b = b->outer;
    return a && b && a->kind == FRAME_POSITION && b->kind == FRAME_POSITION && a->position < b->position;
}

static Answer read_is_served(const Coverage *coverage, const Access *read)
{
    if (!coverage->first || !comes_behind(coverage->first->frame, read->frame))
        return answer_unknown("it does not come behind that block in one sequence");
    Answer answer = is_covered(coverage, read, frame_common(coverage->first->frame, read->frame));
    if (answer.verdict == ANSWER_REFUTED)
        return answer_refuted(arena_printf(coverage->ctx->arena, "it reads %s", answer.text));
    return answer_is_shown(answer) ? answer : answer_unknown("the opposite cannot be shown");
}

static Answer all_reads_are_written(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    Coverage coverage = coverage_new(sch, writer, buffer_viewed(schedule_func(sch), buffer));
    /* an earlier iteration of a loop around both may have written what a read finds */
    const Frame *place = coverage.first ? frame_in_block(sch->ctx, coverage.first->frame, schedule_scope(sch, writer)->stmt) : NULL;
    if (!place)
        return answer_unknown("nothing is known of what it writes");
    Answer unknown = answer_shown();
    for (int i = 0; i < coverage.accesses.count; i++) {
        const Access *read = &coverage.accesses.data[i];
        if (read->write || read->data != coverage.buffer->data || !access_is_below(read, part->stmt) || access_is_below(read, writer->stmt))
            continue;
        Answer answer = is_covered(&coverage, read, place);
        for (int w = 0; w < coverage.writes.count && answer.verdict == ANSWER_UNKNOWN; w++)
            if (access_covers(sch->ctx, coverage.writes.data[w], read, &coverage.sizes)) /* in each iteration of all common loops */
                answer = answer_shown();
        if (answer.verdict == ANSWER_REFUTED)
            return answer;
        unknown = answer_is_shown(answer) ? unknown : answer;
    }
    return unknown;
}

Answer coverage_all_reads_written(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    Asking asking = ask(sch, QUERY_ALL_READS_WRITTEN, buffer);
    return query_end(asking, all_reads_are_written(sch, writer, buffer, part));
}

static Answer all_reads_are_served(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    Coverage coverage = coverage_new(sch, writer, buffer);
    for (int i = 0; i < coverage.accesses.count; i++) {
        const Access *access = &coverage.accesses.data[i];
        if (!access_is_below(access, part->stmt) || access_is_below(access, writer->stmt))
            continue;
        if (access->fence)
            return answer_unknown("a call there may do anything");
        bool reads = access->data == buffer->data && !access->write;
        Answer served = reads ? read_is_served(&coverage, access) : answer_shown();
        if (!answer_is_shown(served))
            return served;
    }
    return answer_shown();
}

Answer coverage_serves_reads(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    Asking asking = ask(sch, QUERY_SERVES_READS, buffer);
    return query_end(asking, all_reads_are_served(sch, writer, buffer_viewed(schedule_func(sch), buffer), part));
}
