/* sample_compute_location: one of the loops around the consumers of a block that the block can be moved under, at random or as `decision`
   says. A decision counts the loops around the first consumer; -1 is to stay, -2 to be inlined. compute_at takes the result for each. */
#include "ir/walk.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/sample/random.h"

enum { STAY = -1, BE_INLINED = -2 };

typedef struct {
    Value loop;
    int number;
} Location;
typedef VEC(Location) LocationList;

/* The step succeeds; it is not made. */
static bool can_step(Schedule *sch, const char *name, const Value *args, int count)
{
    DiagMark mark = diag_mark(sch->ctx);
    Schedule *trial = schedule_copy(sch);
    Value ignored = value_none();
    Step step = schedule_begin(trial, name, sch->call_span);
    schedule_set_arguments(trial, args, count);
    bool ok = schedule_end(trial, step, primitive_find(name)->run(trial, args, &ignored) && check_after_step(trial, step.module));
    diag_rollback(sch->ctx, mark);
    return ok;
}

static Value mark_value(Schedule *sch, Var **mark, const char *name)
{
    if (!*mark)
        *mark = var_new(sch->ctx, context_intern(sch->ctx, name), DTYPE_INT32, span_none());
    return value_loop(*mark);
}

/* --- What kinds of axes a loop moves --- */

typedef struct {
    Visitor visitor;
    const Var *var;
    bool spatial, reduce, other;
} LoopUse;

static bool note_bindings(Visitor *visitor, const Stmt *stmt)
{
    LoopUse *use = visitor->data;
    if (stmt->kind != STMT_BLOCK)
        return true;
    for (int i = 0; i < stmt->as.block.iter_count; i++) {
        IterKind kind = stmt->as.block.iters[i].kind;
        if (!expr_uses_var(stmt->as.block.bindings[i], use->var))
            continue;
        use->spatial |= kind == ITER_SPATIAL;
        use->reduce |= kind == ITER_REDUCE;
        use->other |= kind != ITER_SPATIAL && kind != ITER_REDUCE;
    }
    return false;
}

static bool is_spatial(const ForStmt *loop)
{
    LoopUse use = {.var = loop->var};
    Visitor visitor = {.stmt = note_bindings, .data = &use};
    visit_stmt(&visitor, loop->body);
    return !use.reduce && !use.other;
}

/* --- The candidates --- */

/* How many of LOOPS, outermost first, are around all CONSUMERS. */
static int common_loops(Schedule *sch, const TreeNode *const *loops, int count, const TreeNode *const *consumers, int consumer_count)
{
    int common = 0;
    for (bool all = true; common < count && all; common += all)
        for (int i = 0; i < consumer_count; i++)
            all &= schedule_is_under(sch, consumers[i], loops[common]);
    return common;
}

/* As TVM chooses: no loop that runs once, none behind a loop over a reduction but those over reductions that spatial loops follow. */
static void add_loops(Schedule *sch, const Value *block, const TreeNode *const *loops, int count, LocationList *locations)
{
    int last_spatial = -1;
    const ForStmt **stmts = ARENA_ARRAY(sch->ctx->arena, const ForStmt *, count);
    for (int i = 0; i < count; i++) {
        stmts[i] = node_loop(loops[i]);
        if (is_spatial(stmts[i]))
            last_spatial = i;
    }
    bool reduces = false;
    for (int i = 0; i < count; i++) {
        bool spatial = is_spatial(stmts[i]);
        if (expr_is_int(stmts[i]->extent, 1))
            continue;
        reduces |= !spatial;
        if (spatial ? reduces : i > last_spatial)
            break;
        Location location = {value_loop(stmts[i]->var), i};
        Value args[] = {*block, location.loop, {.kind = VALUE_BOOL, .as.boolean = true}, {.kind = VALUE_INT, .as.integer = -1}};
        if (can_step(sch, "compute_at", args, 4))
            vec_push(sch->ctx->arena, locations, location);
    }
}

static LocationList find_locations(Schedule *sch, const Value *block, const TreeNode *node)
{
    LocationList locations = {0};
    Location inlined = {mark_value(sch, &sch->inline_mark, "inline"), BE_INLINED}, stay = {mark_value(sch, &sch->root_mark, "root"), STAY};
    if (can_step(sch, "compute_inline", block, 1))
        vec_push(sch->ctx->arena, &locations, inlined);
    vec_push(sch->ctx->arena, &locations, stay);
    int consumer_count, loop_count;
    const TreeNode **consumers = scope_consumers(sch, node, DEPENDS_RAW | DEPENDS_WAW, &consumer_count);
    if (!consumer_count)
        return locations;
    const TreeNode **loops = schedule_loops_around(sch, consumers[0], &loop_count);
    add_loops(sch, block, loops, common_loops(sch, loops, loop_count, consumers, consumer_count), &locations);
    return locations;
}

/* The last location whose number is at most DECISION: what was decided may not be possible any more. NULL: none is. */
static const Location *decided_location(const LocationList *locations, int64_t decision)
{
    const Location *found = NULL;
    for (int i = 0; i < locations->count; i++)
        if (locations->data[i].number <= decision)
            found = &locations->data[i];
    return found;
}

bool primitive_sample_compute_location(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *node = schedule_block(sch, args[0].as.block);
    if (!node)
        return false;
    if (!schedule_scope(sch, node))
        return sched_refuse_node(sch, node, "the root block cannot be moved");
    LocationList locations = find_locations(sch, &args[0], node);
    const Location *location = args[1].kind == VALUE_NONE ? &locations.data[random_int(&sch->random, 0, locations.count)]
                                                          : decided_location(&locations, args[1].as.integer);
    Location stay = {value_loop(sch->root_mark), STAY};
    if (!location)
        location = &stay;
    sch->decision = (Value){.kind = VALUE_INT, .as.integer = location->number};
    *result = location->loop;
    return true;
}
