/* See race.h.

   In common memory nothing makes one thread wait for another: two threads conflict where they meet, except in what all of them write alike.
   In shared memory a barrier orders a write and a read that are different statements, or one in different iterations of a serial loop. Two
   writes have none between them: they must write the same value, or the later one reads the element first. */

#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/questions/race.h"

static bool in_loop(const Access *access, const Var *var)
{
    return access_loop(access, var) != NULL;
}

const Block *access_reduced_across(const Access *access, const Var *var)
{
    const Frame *loop = access_loop(access, var);
    if (!loop || strncmp(loop->stmt->as.loop.thread, "threadIdx", 9))
        return NULL;
    for (const Frame *frame = access->frame; frame; frame = frame->outer)
        if (frame->kind == FRAME_BLOCK && frame->stmt->as.block.init && frame_only_reduces_over(frame, var))
            return frame->stmt->as.block.block;
    return NULL;
}

/* --- when --- */

typedef struct {
    Pair pair;
    int level;        /* of the threads' loop */
    const Map *sizes;
    bool built;
    AffineSpace base; /* A in one thread and B in a later one touch one element; meeting_base */
} Meeting;

/* Built when it is first needed: cheap arguments may do. */
static AffineSpace *meeting_base(Meeting *meeting)
{
    if (!meeting->built) {
        pair_build(&meeting->pair, meeting->sizes, 0);
        pair_assume_equal(&meeting->pair, &meeting->pair.space, meeting->level);
        affine_assume_dims(&meeting->pair.space, EXPR_LT, meeting->level, meeting->pair.count_a + meeting->level);
        meeting->base = meeting->pair.space;
        meeting->built = true;
    }
    return &meeting->base;
}

static bool meets(Meeting *meeting, Conflict *conflict)
{
    return pair_conflicts(&meeting->pair, affine_copy(meeting_base(meeting)), conflict);
}

static bool comes_before(const Access *first, const Access *second)
{
    return first->stmt != second->stmt && access_precedes(first, second);
}

/* They meet, and FIRST, which is A or B, is not a statement before the other one; with SAME, is at the same one. */
static bool meets_not_before(Meeting *meeting, bool first_is_a, bool same, Conflict *conflict)
{
    Pair *pair = &meeting->pair;
    if (same && pair->a->stmt != pair->b->stmt)
        return false;
    AffineSpace equal = affine_copy(meeting_base(meeting));
    bool found = false;
    for (int i = meeting->level + 1; i < pair->common && !found; i++) {
        if (frame_is_thread_loop(pair->loops_a[i]))
            continue;
        if (!same) {
            int first = first_is_a ? i : pair->count_a + i, second = first_is_a ? pair->count_a + i : i;
            AffineSpace after = affine_copy(&equal);
            affine_assume_dims(&after, EXPR_LT, second, first);
            found = pair_conflicts(pair, after, conflict);
        }
        affine_assume_dims(&equal, EXPR_EQ, i, pair->count_a + i);
    }
    const Access *first = first_is_a ? pair->a : pair->b, *second = first_is_a ? pair->b : pair->a;
    if (!found && (same ? first->stmt == second->stmt : !comes_before(first, second)))
        found = pair_conflicts(pair, affine_copy(&equal), conflict);
    affine_free(&equal);
    return found;
}

/* --- values --- */

/* What a let or block around FRAME binds VAR to; NULL for a loop. */
static const Frame *binding_of(const Frame *frame, const Var *var)
{
    while (frame && frame->var != var)
        frame = frame->outer;
    return frame && frame->kind == FRAME_BIND ? frame : NULL;
}

typedef struct {
    const Frame *frame;
    bool found;
} LoadSearch;

static bool find_load(Visitor *visitor, const Expr *expr)
{
    LoadSearch *search = visitor->data;
    const Frame *binding = expr->kind == EXPR_VAR ? binding_of(search->frame, expr->value.var) : NULL;
    search->found |= expr->kind == EXPR_LOAD || expr->kind == EXPR_CALL;
    if (binding && !search->found) {
        LoadSearch outer = {binding->outer, false};
        Visitor inner = {.expr = find_load, .data = &outer};
        visit_expr(&inner, binding->value);
        search->found = outer.found;
    }
    return !search->found;
}

/* EXPR, seen from FRAME, reads memory or calls something. */
static bool reads_memory(const Frame *frame, const Expr *expr)
{
    LoadSearch search = {frame, false};
    Visitor visitor = {.expr = find_load, .data = &search};
    visit_expr(&visitor, expr);
    return search.found;
}

/* --- what is the same in all threads --- */

typedef struct {
    const Race *race;
    const Frame *frame;
    Map *visited;    /* memory that is being looked at, or has been */
    bool loads_too;  /* what is loaded counts; else the caller looks at it */
    bool uniform;
} Uniformity;

static bool is_uniform(Uniformity uniformity, const Expr *expr);
static bool memory_is_uniform(const Race *race, const Var *data, Map *visited);

/* What ACCESS touches is the same in all threads, and so is what it reads there. */
static bool access_is_uniform(const Race *race, const Access *access, Map *visited)
{
    if (access->whole || (!access->write && !memory_is_uniform(race, access->data, visited)))
        return false;
    for (int i = 0; i < access->buffer->ndim; i++)
        if (!is_uniform((Uniformity){race, access->frame, visited, true, true}, access->region.ranges[i].min))
            return false;
    return true;
}

/* The write does the same to the same element in every thread. */
static bool write_is_uniform(const Race *race, const Access *write, Map *visited)
{
    if (access_reduced_across(write, race->var))
        return true;
    if (write->stmt->kind != STMT_STORE || !is_uniform((Uniformity){race, write->frame, visited, false, true}, write->stmt->as.store.value))
        return false;
    for (int i = 0; i < race->accesses->count; i++) /* WRITE itself and what it reads, which may lie behind views */
        if (race->accesses->data[i].stmt == write->stmt && !access_is_uniform(race, &race->accesses->data[i], visited))
            return false;
    for (const Frame *frame = write->frame; frame && frame->var != race->var; frame = frame->outer) {
        Uniformity around = {race, frame->outer, visited, true, true};
        if ((frame->kind == FRAME_CONDITION && !is_uniform(around, frame->value)) ||
            (frame->kind == FRAME_LOOP && !is_uniform(around, frame->range.extent)))
            return false;
    }
    return true;
}

/* All threads find the same in the memory DATA: where each has its own, each fills it alike. Not known of what is behind a view. */
static bool memory_is_uniform(const Race *race, const Var *data, Map *visited)
{
    if (map_has(visited, data))
        return true;
    map_set(race->ctx->arena, visited, data, (void *)data);
    bool found = false;
    for (int i = 0; i < race->accesses->count; i++) {
        const Access *access = &race->accesses->data[i];
        found |= access->data == data;
        if (access->data == data && access->write && in_loop(access, race->var) &&
            race->scope(race->data, access) == SCOPE_LOCAL && !write_is_uniform(race, access, visited))
            return false;
    }
    return found;
}

static bool visit_uniform(Visitor *visitor, const Expr *expr)
{
    Uniformity *uniformity = visitor->data;
    if (expr->kind == EXPR_LOAD && uniformity->loads_too)
        uniformity->uniform &= memory_is_uniform(uniformity->race, expr->value.buffer->data, uniformity->visited);
    if (expr_is_opaque_call(expr))
        uniformity->uniform = false;
    const Frame *binding = expr->kind == EXPR_VAR ? binding_of(uniformity->frame, expr->value.var) : NULL;
    if (binding)
        uniformity->uniform &=
            is_uniform((Uniformity){uniformity->race, binding->outer, uniformity->visited, true, true}, binding->value);
    return uniformity->uniform;
}

/* EXPR, seen from a frame, has one value in all threads. */
static bool is_uniform(Uniformity uniformity, const Expr *expr)
{
    uniformity.uniform = !frame_depends(uniformity.frame, expr, uniformity.race->var);
    Visitor visitor = {.expr = visit_uniform, .data = &uniformity};
    if (uniformity.uniform)
        visit_expr(&visitor, expr);
    return uniformity.uniform;
}

/* --- what is the same for one element --- */

typedef struct {
    const Race *race;
    Meeting *meeting;
    bool same, changing; /* changing: it reads what is written meanwhile */
    Conflict *conflict;
    bool found; /* CONFLICT is where the values differ */
} SameValue;

typedef struct {
    const Pair *pair;
    int level;
    bool named;
} NameSearch;

static bool search_name(Visitor *visitor, const Expr *expr)
{
    NameSearch *search = visitor->data;
    const Stmt *store = search->pair->a->stmt;
    if (expr->kind != EXPR_VAR)
        return search->named;
    bool is_index = false, varies = false;
    for (int i = 0; i < store->as.store.index_count; i++)
        is_index |= expr_equal(store->as.store.indices[i], expr);
    for (int i = search->level; i < search->pair->count_a && !is_index; i++)
        varies |= frame_depends(search->pair->a->frame, expr, search->pair->loops_a[i]->var);
    search->named &= is_index || !varies;
    return search->named;
}

/* Both sides are one store, and what varies in EXPR are indices of the element that it writes: where they meet, these agree. */
static bool is_named_by_element(const Meeting *meeting, const Expr *expr)
{
    NameSearch search = {&meeting->pair, meeting->level, meeting->pair.a == meeting->pair.b && meeting->pair.a->stmt->kind == STMT_STORE};
    Visitor visitor = {.expr = search_name, .data = &search};
    visit_expr(&visitor, expr);
    return search.named;
}

/* EXPR, which reads no memory, has one value on both sides wherever they meet; else the conflict is told. */
static bool is_same(SameValue *value, const Expr *expr)
{
    Pair *pair = &value->meeting->pair;
    bool varies = false;
    for (int i = value->meeting->level; i < pair->count_a; i++)
        varies |= frame_depends(pair->a->frame, expr, pair->loops_a[i]->var);
    if (!varies || is_named_by_element(value->meeting, expr))
        return true;
    AffineSpace different = affine_copy(meeting_base(value->meeting));
    affine_assume_compare(&different, EXPR_NE, pair->env_a, expr, pair->env_b, expr);
    return !(value->found = pair_conflicts(pair, different, value->conflict));
}

static bool is_written_in_loop(const Race *race, const Var *data)
{
    for (int i = 0; i < race->accesses->count; i++) {
        const Access *access = &race->accesses->data[i];
        if (access->fence || (access->data == data && access->write && in_loop(access, race->var)))
            return true;
    }
    return false;
}

static bool visit_value(Visitor *visitor, const Expr *expr)
{
    SameValue *value = visitor->data;
    if (!value->same)
        return false;
    if (expr->kind == EXPR_LOAD)
        return false; /* see reads_same */
    if (expr_is_opaque_call(expr))
        value->same = false;
    if (!value->same)
        return false;
    const Frame *frame = value->meeting->pair.a->frame;
    if (reads_memory(frame, expr)) { /* a variable that stands for what was read */
        const Frame *binding = expr->kind == EXPR_VAR ? binding_of(frame, expr->value.var) : NULL;
        if (binding)
            visit_expr(visitor, binding->value);
        return value->same;
    }
    if (!dtype_is_integer(expr->dtype) && expr->arg_count > 0)
        return true;
    value->same = is_same(value, expr);
    return false;
}

/* The meeting of two iterations at A and B; its base is the caller's to free. */
static Meeting meeting_new(const Race *race, const Access *a, const Access *b)
{
    Meeting meeting = {.pair = pair_new(race->ctx, a, b), .sizes = race->sizes};
    while (meeting.pair.loops_a[meeting.level]->var != race->var)
        meeting.level++;
    return meeting;
}

/* ACCESS reads the same elements of the same contents on both sides. */
static bool reads_same(SameValue *value, const Access *access)
{
    Map visited = {0};
    if (access->whole || !memory_is_uniform(value->race, access->data, &visited))
        return false;
    value->changing |= is_written_in_loop(value->race, access->data);
    for (int i = 0; i < access->buffer->ndim; i++)
        if (!reads_memory(access->frame, access->region.ranges[i].min) && !is_same(value, access->region.ranges[i].min))
            return false;
    return true;
}

/* A and B, two writes, meet with values that are not the same, or may not be. */
static bool writes_differ(const Race *race, Meeting *meeting, Conflict *conflict)
{
    Pair *pair = &meeting->pair;
    const Stmt *stmt = pair->a->stmt;
    if (pair->a != pair->b || stmt->kind != STMT_STORE || pair->a->whole)
        return meets(meeting, conflict);
    SameValue value = {race, meeting, true, false, conflict, false};
    Visitor visitor = {.expr = visit_value, .data = &value};
    visit_expr(&visitor, stmt->as.store.value);
    for (int i = 0; value.same && i < race->accesses->count; i++) {
        const Access *read = &race->accesses->data[i];
        if (read->stmt == stmt && !read->write && in_loop(read, race->var))
            value.same = reads_same(&value, read);
    }
    for (int i = meeting->level + 1; value.changing && i < pair->common && value.same; i++)
        if (!frame_is_thread_loop(pair->loops_a[i]))
            value.same = is_same(&value, expr_var(race->ctx, pair->loops_a[i]->var));
    return !value.same && (value.found || meets(meeting, conflict));
}

/* --- pairs --- */

/* The statement of WRITE reads the element first. */
static bool updates(const Race *race, const Access *write)
{
    for (int i = 0; i < race->accesses->count; i++) {
        const Access *read = &race->accesses->data[i];
        bool same = !read->write && read->stmt == write->stmt && read->data == write->data && !read->whole && !write->whole;
        for (int d = 0; same && d < write->buffer->ndim; d++)
            same = expr_equal(read->region.ranges[d].min, write->region.ranges[d].min);
        if (same)
            return true;
    }
    return false;
}

static bool writes_conflict(const Race *race, Meeting *meeting, Conflict *conflict)
{
    const Access *a = meeting->pair.a, *b = meeting->pair.b;
    if (!writes_differ(race, meeting, conflict))
        return false;
    bool a_updates = updates(race, a) && !race->ordered, b_updates = updates(race, b);
    if (a_updates && b_updates)
        return meets_not_before(meeting, true, true, conflict);
    if (a_updates || b_updates)
        return meets_not_before(meeting, b_updates, false, conflict);
    return true;
}

/* Each thread writes the elements that READ reads before it reads them, and the others write the same there: whose write it is, does not
   matter. */
static bool reads_what_all_write(const Race *race, const Access *write, const Access *read)
{
    if (write->whole || read->whole || write->stmt == read->stmt || !access_precedes(write, read) ||
        !access_covers(race->ctx, write, read, race->sizes))
        return false;
    Meeting meeting = meeting_new(race, write, write);
    Conflict conflict;
    bool differ = writes_differ(race, &meeting, &conflict);
    affine_free(&meeting.base);
    return !differ;
}

/* In memory where nothing makes a thread wait; what all threads write alike, each has written itself before it reads it. */
static bool common_memory_conflicts(const Race *race, Meeting *meeting, Conflict *conflict)
{
    Pair *pair = &meeting->pair;
    Map visited = {0};
    const Access *write = pair->a->write ? pair->a : pair->b;
    if (!race->repeated || write->fence)
        return meets(meeting, conflict);
    if (pair->a->write && pair->b->write)
        return writes_differ(race, meeting, conflict);
    if (!write_is_uniform(race, write, &visited))
        return meets(meeting, conflict);
    for (int i = 0; i < pair->common; i++)
        if (i != meeting->level && frame_is_thread_loop(pair->loops_a[i]))
            affine_assume_dims(meeting_base(meeting), EXPR_EQ, i, pair->count_a + i);
    return meets_not_before(meeting, pair->a->write, false, conflict);
}

static bool is_in_shared(const Race *race, const Access *access)
{
    return !access->fence && race->scope(race->data, access) == SCOPE_SHARED;
}

bool threads_stay_apart(const Race *race, const Access *a, const Access *b)
{
    Meeting meeting = meeting_new(race, a, b);
    return pair_is_disjoint(&meeting.pair, meeting.level);
}

bool threads_race(const Race *race, const Access *a, const Access *b, Conflict *conflict)
{
    const Block *across_a = access_reduced_across(a, race->var), *across_b = access_reduced_across(b, race->var);
    if (across_a && across_a == across_b && a->group && a->group == b->group)
        return false;
    Meeting meeting = meeting_new(race, a, b);
    if (pair_is_disjoint(&meeting.pair, meeting.level))
        return false;
    bool found, waits = is_in_shared(race, a) || across_a || across_b;
    if (!waits)
        found = common_memory_conflicts(race, &meeting, conflict);
    else if (a->write && b->write)
        found = writes_conflict(race, &meeting, conflict);
    else
        found = meets_not_before(&meeting, true, !race->ordered, conflict) &&
                !reads_what_all_write(race, a->write ? a : b, a->write ? b : a);
    affine_free(&meeting.base);
    return found;
}
