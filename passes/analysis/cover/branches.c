/* Writes in both branches of an if statement: one of them runs whenever the statement does, so together they cover what each of them covers
   when its branch is taken.

       if c: S[0] = a        S[0] is written, whatever c is
       else: S[0] = b

   Both must write an element in the same run of the statement: either each loop around it is one around the read too, or the branches write
   the same element of it. Not seen: elements of which each branch writes a part in different iterations of loops around the statement. */
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_point.h"
#include "passes/analysis/prove/portfolio.h"

typedef struct {
    Context *ctx;
    const Access *const *writes; /* the candidates */
    int count;
    const Access *read;
    const Map *sizes;
    VEC(const Frame *) taken; /* branches around the one in question that are taken too */
} Choice;

static bool is_branch(const Frame *frame)
{
    return frame->kind == FRAME_CONDITION && frame->stmt;
}

/* FRAME without the conditions of the branches that are taken, of which the first is the outermost. */
static const Frame *without_taken(const Choice *choice, const Frame *frame)
{
    if (!frame_within(frame, choice->taken.data[0]))
        return frame;
    for (int i = 0; i < choice->taken.count; i++)
        if (frame == choice->taken.data[i])
            return without_taken(choice, frame->outer);
    Frame *copy = arena_copy(choice->ctx->arena, frame, sizeof *frame);
    copy->outer = without_taken(choice, frame->outer);
    copy->depth = copy->outer ? copy->outer->depth + 1 : 0;
    return copy;
}

static bool covers_when_taken(const Choice *choice, const Access *write)
{
    Access certain = *write;
    certain.frame = without_taken(choice, write->frame);
    return access_covers(choice->ctx, &certain, choice->read, choice->sizes);
}

/* The other branch of the statement that BRANCH is one of; NULL when no candidate stands in it. */
static const Frame *other_branch(const Choice *choice, const Frame *branch)
{
    for (int i = 0; i < choice->count; i++)
        for (const Frame *frame = choice->writes[i]->frame; frame && frame->depth >= branch->depth; frame = frame->outer)
            if (is_branch(frame) && frame->stmt == branch->stmt && frame->outer == branch->outer && frame->negated != branch->negated)
                return frame;
    return NULL;
}

/* Each loop around BRANCH is one around the read too. */
static bool loops_are_shared(const Choice *choice, const Frame *branch)
{
    for (const Frame *frame = branch->outer; frame; frame = frame->outer)
        if (frame->kind == FRAME_LOOP && !access_loop(choice->read, frame->var))
            return false;
    return true;
}

/* Between BRANCH and FRAME in it nothing repeats or skips. */
static bool is_bare(const Frame *frame, const Frame *branch)
{
    while (frame != branch && frame->kind != FRAME_LOOP && (frame->kind != FRAME_CONDITION || expr_is_int(frame->value, !frame->negated)))
        frame = frame->outer;
    return frame == branch;
}

static bool is_same_point(Context *ctx, const Access *a, const Access *b)
{
    ExprList indices_a = {0}, indices_b = {0};
    bool same = a->buffer == b->buffer && access_point(ctx, a, &indices_a) && access_point(ctx, b, &indices_b);
    for (int i = 0; i < indices_a.count && same; i++)
        same = expr_is_fixed(indices_a.data[i]) && expr_equal(indices_a.data[i], indices_b.data[i]);
    return same;
}

/* Two writes, alone in their branches BRANCH and OTHER, write the same element, which the read asks for. */
static bool same_element_covers(Choice *choice, const Frame *branch, const Frame *other)
{
    bool covers = false;
    for (int i = 0; i < choice->count && !covers; i++)
        for (int j = 0; j < choice->count && !covers; j++) {
            const Access *a = choice->writes[i], *b = choice->writes[j];
            if (!frame_within(a->frame, branch) || !frame_within(b->frame, other) || !is_bare(a->frame, branch) ||
                !is_bare(b->frame, other) || !is_same_point(choice->ctx, a, b))
                continue;
            vec_push(choice->ctx->arena, &choice->taken, branch);
            covers = covers_when_taken(choice, a);
            choice->taken.count--;
        }
    return covers;
}

static bool choice_covers(Choice *choice, const Frame *outer);

/* What BRANCH holds covers the read when it is taken. */
static bool branch_covers(Choice *choice, const Frame *branch)
{
    vec_push(choice->ctx->arena, &choice->taken, branch);
    bool covers = false;
    for (int i = 0; i < choice->count && !covers; i++)
        covers = frame_within(choice->writes[i]->frame, branch) && covers_when_taken(choice, choice->writes[i]);
    covers = covers || choice_covers(choice, branch);
    choice->taken.count--;
    return covers;
}

/* The branches of some if statement inside of OUTER (NULL: anywhere) cover the read together. */
static bool choice_covers(Choice *choice, const Frame *outer)
{
    for (int i = 0; i < choice->count; i++)
        for (const Frame *frame = choice->writes[i]->frame; frame && frame != outer; frame = frame->outer) {
            bool candidate = is_branch(frame) && !frame->negated && (!outer || frame_within(frame, outer));
            const Frame *other = candidate ? other_branch(choice, frame) : NULL;
            if (!other || frame_within(choice->read->frame, frame) || frame_within(choice->read->frame, other))
                continue;
            if (same_element_covers(choice, frame, other) ||
                (loops_are_shared(choice, frame) && branch_covers(choice, frame) && branch_covers(choice, other)))
                return true;
        }
    return false;
}

Answer covered_by_branches(const Goal *goal)
{
    Choice choice = {.ctx = goal->ctx, .writes = goal->writes, .count = goal->write_count, .read = goal->read, .sizes = goal->sizes};
    return answer_if(choice_covers(&choice, NULL));
}
