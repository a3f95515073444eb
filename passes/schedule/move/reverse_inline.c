/* reverse_compute_inline: a block disappears into the one that computes what it uses.

   Before, reverse_compute_inline(C)        After
     for i in range(8):                       for i in range(8):
         with T.block("B"):                       with T.block("B"):
             B[v] = f(A[v])                           C[v] = g(f(A[v]))
     for i in range(8):
         with T.block("C"):
             C[v] = g(B[v])

   Legal when
   - both blocks compute each element of their buffers by one store, whose expression has no effects;
   - only these two blocks use the buffer between them, and the consumer runs once for each element that it reads;
   - no dependent access comes between an instance of the producer and the instance of the consumer that reads its result.
   Where the consumer uses only a part of the results, a T.where keeps the others from being written.

   A producer with an init takes a consumer that only copies each element to a place of its own: init and updates then work there. It takes one
   that makes something of each element too: where this is one more operand of the reduction, it becomes the init, as for integers; else the last
   update of each element computes it, where which one that is can be shown. See epilogue.h.

   fuse_reduction_epilogue does the same for a reduction and its consumer, with the rules of steps across a reduction: floats may be combined in
   another order. It asks for the first of the two forms, and leaves the allocation of the buffer in place. */
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/check/ties.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/move/epilogue.h"
#include "passes/schedule/move/inline.h"
#include "print/print.h"

typedef struct {
    Schedule *sch;
    const TreeNode *consumer, *producer; /* the producer may be given */
    const Stmt *store;          /* of the consumer */
    const Expr *const *indices; /* under which it reads the buffer; NULL also for those of no dimension */
    int index_count;
    bool reads, several; /* it reads the buffer, under more than one list of indices */
    bool reduces;        /* the producer has an init */
    bool copies;         /* and the consumer is a copy of its results */
    bool reassociates;   /* floats may be combined in another order, and only this will do */
    bool appends;        /* the last update of each element computes what the consumer made of it; no other element is read or written */
    Buffer *buffer;
} Reverse;

static bool find_reads(Visitor *visitor, const Expr *expr)
{
    Reverse *reverse = visitor->data;
    if (expr->kind != EXPR_LOAD || expr->value.buffer != reverse->buffer)
        return true;
    for (int i = 0; reverse->reads && i < expr->arg_count; i++)
        reverse->several |= !expr_equal(reverse->indices[i], expr->args[i]);
    if (reverse->reads)
        return true;
    reverse->reads = true;
    reverse->indices = expr->args;
    reverse->index_count = expr->arg_count;
    return true;
}

static bool find_producer(Reverse *reverse)
{
    Schedule *sch = reverse->sch;
    int count;
    const TreeNode **producers = scope_producers(sch, reverse->consumer, DEPENDS_RAW, &count);
    VEC(const TreeNode *) candidates = {0};
    for (int i = 0; i < count; i++)
        if (schedule_scope(sch, producers[i]) == schedule_scope(sch, reverse->consumer) &&
            (!reverse->producer || producers[i] == reverse->producer))
            vec_push(sch->ctx->arena, &candidates, producers[i]);
    if (reverse->producer && !candidates.count) {
        sched_refuse(sch, "block '%s' does not read what block '%s' computes", node_name(reverse->consumer), node_name(reverse->producer));
        return sched_note_node(sch, reverse->consumer);
    }
    if (candidates.count == 1) {
        reverse->producer = candidates.data[0];
        return true;
    }
    sched_refuse(sch, "block '%s' has %d producers; it can go into one only when there is just one", node_name(reverse->consumer),
                 candidates.count);
    for (int i = 0; i < candidates.count; i++)
        sched_note_node(sch, candidates.data[i]);
    return candidates.count ? false : sched_note_node(sch, reverse->consumer);
}

/* Looks for accesses of a buffer under other indices than those of one store, and for any access of another memory. */
typedef struct {
    Reverse *reverse;
    const Stmt *store;
    const Var *target; /* the memory that the consumer writes */
    bool otherwise, target_used;
} ElementSearch;

static bool find_other_load(Visitor *visitor, const Expr *expr)
{
    ElementSearch *search = visitor->data;
    const Func *func = schedule_func(search->reverse->sch);
    search->target_used |= expr_is_var(expr, search->target);
    if (expr->kind != EXPR_LOAD)
        return true;
    search->target_used |= buffer_viewed(func, expr->value.buffer)->data == search->target;
    for (int i = 0; expr->value.buffer == search->store->as.store.buffer && i < expr->arg_count; i++)
        search->otherwise |= !expr_equal(expr->args[i], search->store->as.store.indices[i]);
    return true;
}

/* INIT stores to the element that STORE updates. */
static bool starts_element(const Stmt *init, const Stmt *store)
{
    bool starts = init->kind == STMT_STORE && !init->as.store.mask && init->as.store.buffer == store->as.store.buffer;
    for (int i = 0; starts && i < store->as.store.index_count; i++)
        starts = expr_equal(init->as.store.indices[i], store->as.store.indices[i]);
    return starts;
}

/* What must hold where the producer starts and updates the consumer's elements in place of its own. */
static bool check_elements(Reverse *reverse)
{
    Schedule *sch = reverse->sch;
    const Block *producer = node_block(reverse->producer)->block;
    const Stmt *store = node_block(reverse->producer)->body, *target = reverse->store;
    if (!reverse->copies && !check_reduction_block(sch, reverse->producer, NULL))
        return false;
    if (!dtype_equal(target->as.store.value->dtype, store->as.store.value->dtype))
        sched_refuse(sch, "block '%s' reduces in %s, and block '%s' stores %s: what is not complete would not fit", producer->name,
                     dtype_name(sch->ctx, store->as.store.value->dtype), node_name(reverse->consumer),
                     dtype_name(sch->ctx, target->as.store.value->dtype));
    else if (!answer_is_shown(dependence_points_apart(sch->ctx, schedule_func(sch), node_block(reverse->consumer))))
        sched_refuse(sch, "block '%s' may %s two results of block '%s' to one element", node_name(reverse->consumer),
                     reverse->copies ? "copy" : "store", producer->name);
    else
        return check_block_has_scope(sch, reverse->producer) && check_block_is_only_writer(sch, reverse->producer);
    return sched_note_node(sch, reverse->producer);
}

/* The producer, which has an init, starts and updates one element in each instance: it may work on the one that the consumer makes of it. */
static bool check_reducing_producer(Reverse *reverse)
{
    Schedule *sch = reverse->sch;
    const BlockStmt *producer = node_block(reverse->producer);
    const Stmt *body = producer->body, *target = reverse->store;
    bool plain = body->kind == STMT_STORE && !body->as.store.mask && !producer->match_count && !producer->alloc_count &&
                 starts_element(producer->init, body);
    ElementSearch search = {reverse, body, buffer_viewed(schedule_func(sch), target->as.store.buffer)->data, false, false};
    Visitor visitor = {.expr = find_other_load, .data = &search};
    if (plain)
        visit_stmt(&visitor, reverse->producer->stmt);
    const Expr *value = target->as.store.value;
    reverse->copies = plain && value->kind == EXPR_LOAD && value->value.buffer == body->as.store.buffer;
    if (plain && !search.otherwise && !search.target_used) {
        visit_expr(&visitor, value);
        if (!search.target_used)
            return check_elements(reverse);
    }
    sched_refuse(sch, "block '%s' has an init, and does not just start and update one element", producer->block->name);
    return sched_note_node(sch, reverse->producer);
}

static bool check_reverse(Reverse *reverse)
{
    Schedule *sch = reverse->sch;
    const TreeNode *consumer = reverse->consumer, *producer;
    if (!check_block_has_scope(sch, consumer) || !check_complete_block(sch, consumer) ||
        !(reverse->store = inline_single_store(sch, consumer)) || !find_producer(reverse))
        return false;
    producer = reverse->producer;
    reverse->reduces = node_block(producer)->init != NULL;
    if (reverse->reduces ? !check_reducing_producer(reverse) : !check_complete_block(sch, producer))
        return false;
    const Stmt *store = reverse->reduces ? node_block(producer)->body : inline_single_store(sch, producer);
    if (!store)
        return false;
    reverse->buffer = store->as.store.buffer;
    if (!inline_check_intermediate(sch, producer, reverse->buffer) || !inline_check_no_effects(sch, consumer, reverse->store->as.store.value))
        return false;
    const TreeNode *allowed[] = {producer, consumer};
    if (!inline_check_only_used_by(sch, schedule_scope(sch, consumer), reverse->buffer, allowed, 2))
        return false;
    if (stmt_itself_uses_buffer(consumer->stmt, reverse->buffer)) {
        sched_refuse(sch, "block '%s' reads '%s' in its T.where or to give its axes values, and so before it could be computed in its place",
                     node_name(consumer), reverse->buffer->name);
        return sched_note_node(sch, consumer);
    }
    Visitor visitor = {.expr = find_reads, .data = reverse};
    visit_stmt(&visitor, reverse->store);
    if (reverse->reads && !reverse->several)
        return true;
    if (reverse->several)
        sched_refuse(sch, "block '%s' reads several elements of '%s' in one instance", node_name(consumer), reverse->buffer->name);
    else
        sched_refuse(sch, "block '%s' declares that it reads '%s', and does not", node_name(consumer), reverse->buffer->name);
    sched_note(sch, reverse->store->span, "%s", reverse->several ? "it reads them here" : "this is all that it does");
    return false;
}

/* Each instance of the consumer reads an element that some instance of the producer writes, and comes to run there. */
static bool check_no_instance_is_lost(Reverse *reverse)
{
    Schedule *sch = reverse->sch;
    const Block *producer = node_block(reverse->producer)->block, *consumer = node_block(reverse->consumer)->block;
    Answer answer = dependence_instances_served(sch->ctx, schedule_func(sch), producer, consumer);
    if (answer_is_shown(answer))
        return true;
    return refuse_by_answer(sch, answer, "instances of block '%s' would be lost", consumer->name);
}

/* The consumer's instances come to run where the producer stores what they read, before whatever ran between: no other block that runs there
   conflicts with them. */
static bool check_nothing_between(Reverse *reverse)
{
    Schedule *sch = reverse->sch;
    int count;
    const Func *func = schedule_func(sch);
    const TreeNode **members = schedule_child_blocks(sch, schedule_scope(sch, reverse->consumer), &count);
    const BlockPair pair = {node_block(reverse->producer)->block, node_block(reverse->consumer)->block, false};
    const Var *data = buffer_viewed(func, reverse->buffer)->data;
    for (int i = 0; i < count; i++) {
        const Block *member = node_block(members[i])->block;
        if (members[i] == reverse->producer || members[i] == reverse->consumer ||
            answer_is_shown(dependence_memory_apart(sch->ctx, func, pair.until, member, data)))
            continue;
        Answer answer = dependence_none_between(sch->ctx, func, &pair, data, member);
        if (answer_is_shown(answer))
            continue;
        refuse_by_answer(sch, answer, "block '%s' runs between '%s' and '%s' and touches what '%s' uses", member->name, pair.from->name,
                         pair.until->name, pair.until->name);
        return sched_note_node(sch, members[i]);
    }
    Answer answer = dependence_no_loose_between(sch->ctx, func, &pair, data, node_block(schedule_scope(sch, reverse->consumer))->block);
    return answer_is_shown(answer) || refuse_by_answer(sch, answer, "a statement outside of the blocks runs between '%s' and '%s' and touches what '%s' uses",
                                                       pair.from->name, pair.until->name, pair.until->name);
}

/* The consumer's instance for each value that the producer stores: where it would not exist, a guard in terms of the producer's loops. NULL
   after a refusal. */
static const Expr *coverage_guard(Reverse *reverse, Subst *solved, const BlockStmt *producer)
{
    Context *ctx = reverse->sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    for (int i = 0; i < producer->iter_count; i++)
        analyzer_bind_range_opaque(an, producer->iters[i].var, producer->iters[i].domain);
    Subst bindings = {0};
    for (int i = 0; i < producer->iter_count; i++)
        subst_var(ctx, &bindings, producer->iters[i].var, producer->bindings[i]);
    const BlockStmt *consumer = node_block(reverse->consumer);
    ExprList conditions = {0};
    for (int i = 0; i < consumer->iter_count; i++) {
        const Expr *value = map_get(&solved->vars, consumer->iters[i].var);
        Range domain = consumer->iters[i].domain;
        vec_push(ctx->arena, &conditions, op_compare(ctx, EXPR_GE, value, op_cast(ctx, value->dtype, domain.min)));
        vec_push(ctx->arena, &conditions,
                 op_compare(ctx, EXPR_LT, value, op_cast(ctx, value->dtype, op_add(ctx, domain.min, domain.extent))));
    }
    for (int d = 0; d < reverse->index_count; d++) /* an index without axes is met by some values only */
        vec_push(ctx->arena, &conditions,
                 op_compare(ctx, EXPR_EQ, subst_expr(ctx, solved, reverse->indices[d]), producer->body->as.store.indices[d]));
    const Expr *guard = expr_bool(ctx, true);
    Analyzer *running = loops_context(reverse->sch, reverse->producer); /* knows the producer's own condition too */
    analyzer_assume(running, producer->predicate);
    for (int i = 0; i < conditions.count; i++) {
        const Expr *condition = subst_expr(ctx, &bindings, conditions.data[i]);
        if (!analyzer_prove_symbolic(an, conditions.data[i]) && !analyzer_prove_symbolic(running, condition))
            guard = op_and(ctx, guard, condition);
    }
    return analyzer_simplify(analyzer_new(ctx), guard);
}

typedef struct {
    const Buffer *buffer;
    int reads, certain; /* the reads of it that are always evaluated */
    bool lazy;          /* the visit is below an operand that need not be evaluated */
} ReadCount;

static bool count_reads(Visitor *visitor, const Expr *expr)
{
    ReadCount *count = visitor->data;
    bool reads = expr->kind == EXPR_LOAD && expr->value.buffer == count->buffer;
    count->reads += reads;
    count->certain += reads && !count->lazy;
    if (count->lazy || !(expr->kind == EXPR_AND || expr->kind == EXPR_OR || expr_is_call(expr, OP_IF_THEN_ELSE)))
        return true;
    count->lazy = true;
    visit_expr_children(visitor, expr);
    count->lazy = false;
    return false;
}

/* Where the producer calls a function that may have effects, each call still happens once: every value is used, in one place. GUARD: what
   the producer's instances wait for. */
static bool check_calls_once(Reverse *reverse, const Expr *guard)
{
    ReadCount count = {.buffer = reverse->buffer};
    Visitor visitor = {.expr = count_reads, .data = &count};
    visit_stmt(&visitor, reverse->store);
    return (expr_is_int(guard, 1) && count.reads == 1 && count.certain == 1) ||
           inline_check_no_effects(reverse->sch, reverse->producer, node_block(reverse->producer)->body->as.store.value);
}

static const Expr *replace_read(Rewriter *rewriter, const Expr *expr)
{
    const Stmt *store = rewriter->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == store->as.store.buffer)
        return store->as.store.value;
    return rewrite_expr_children(rewriter, expr);
}

/* What moves to the producer, the consumer's store and GUARD (from the domains of its axes), mentions only loops and lets that are around the
   producer too. */
static bool check_vars_stay(const Reverse *reverse, const Expr *guard)
{
    Schedule *sch = reverse->sch;
    for (const TreeNode *up = schedule_parent(sch, reverse->consumer); up; up = schedule_parent(sch, up)) {
        const Stmt *stmt = up->stmt;
        const Var *var = stmt->kind == STMT_FOR ? stmt->as.loop.var : stmt->kind == STMT_LET ? stmt->as.let.var : NULL;
        if (!var || schedule_is_under(sch, reverse->producer, up))
            continue;
        bool guarded = expr_uses_var(guard, var);
        if (!guarded && !stmt_uses_var(reverse->store, var))
            continue;
        sched_refuse(sch, guarded ? "the domains of the axes of block '%s' depend on %s '%s', which is not around block '%s'"
                                  : "what block '%s' stores depends on %s '%s', which is not around block '%s'",
                     node_name(reverse->consumer), stmt->kind == STMT_FOR ? "loop" : "let", var->name, node_name(reverse->producer));
        sched_note(sch, stmt->span, "'%s' is bound here", var->name);
        return false;
    }
    return true;
}

/* An element of a buffer in place of one of another. */
typedef struct {
    const Buffer *from;
    Buffer *to;
    const Expr *const *indices;
    int index_count;
} Replacement;

static const Expr *replace_load(Rewriter *rewriter, const Expr *expr)
{
    const Replacement *element = rewriter->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == element->from)
        return expr_load(rewriter->ctx, element->to, element->indices, element->index_count, NULL, expr->span);
    return rewrite_expr_children(rewriter, expr);
}

static const Stmt *replace_store(Rewriter *rewriter, const Stmt *stmt)
{
    const Replacement *element = rewriter->data;
    if (stmt->kind != STMT_STORE || stmt->as.store.buffer != element->from)
        return rewrite_stmt_children(rewriter, stmt);
    return stmt_store(rewriter->ctx, element->to, element->indices, element->index_count, rewrite_expr(rewriter, stmt->as.store.value), NULL,
                      stmt->span);
}

static Region *replace_regions(Context *ctx, const Replacement *element, const Region *regions, int count)
{
    Region *result = ARENA_ARRAY(ctx->arena, Region, count);
    for (int i = 0; i < count; i++) {
        result[i] = regions[i];
        if (regions[i].buffer != element->from)
            continue;
        result[i] = (Region){element->to, ARENA_ARRAY(ctx->arena, Range, element->index_count), regions[i].span};
        for (int d = 0; d < element->index_count; d++)
            result[i].ranges[d] = range_point(ctx, element->indices[d]);
    }
    return result;
}

/* PRODUCER, which has an init, working on the element that the consumer, for SOLVED, makes of its results. */
static const Stmt *redirected_producer(Reverse *reverse, BlockStmt producer, Subst *solved)
{
    Context *ctx = reverse->sch->ctx;
    const Stmt *target = reverse->store;
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, target->as.store.index_count);
    for (int i = 0; i < target->as.store.index_count; i++)
        indices[i] = subst_expr(ctx, solved, target->as.store.indices[i]);
    Replacement element = {reverse->buffer, target->as.store.buffer, indices, target->as.store.index_count};
    Rewriter rewriter = {.ctx = ctx, .expr = replace_load, .stmt = replace_store, .data = &element};
    producer.init = rewrite_stmt(&rewriter, producer.init);
    producer.body = rewrite_stmt(&rewriter, producer.body);
    if (!reverse->copies) /* it reads what the consumer did, too */
        return inline_refresh_regions(reverse->sch, stmt_block(ctx, producer, reverse->producer->stmt->span), reverse->buffer);
    producer.reads = replace_regions(ctx, &element, producer.reads, producer.read_count);
    producer.writes = replace_regions(ctx, &element, producer.writes, producer.write_count);
    return stmt_block(ctx, producer, reverse->producer->stmt->span);
}

/* A copy of the schedule where the consumer, for SOLVED and under GUARD, stands right behind the producer. */
static Schedule *consumer_behind_producer(Reverse *reverse, const Subst *solved, const Expr *guard)
{
    Schedule *trial = schedule_copy(reverse->sch);
    Context *ctx = trial->ctx;
    const BlockStmt *producer = node_block(reverse->producer);
    BlockStmt consumer = *node_block(reverse->consumer);
    Subst axes = {0};
    for (int i = 0; i < producer->iter_count; i++)
        subst_var(ctx, &axes, producer->iters[i].var, producer->bindings[i]);
    consumer.bindings = ARENA_ARRAY(ctx->arena, const Expr *, consumer.iter_count);
    for (int i = 0; i < consumer.iter_count; i++)
        consumer.bindings[i] = subst_expr(ctx, &axes, map_get(&solved->vars, consumer.iters[i].var));
    consumer.predicate = op_and(ctx, producer->predicate, subst_expr(ctx, &axes, guard));
    const Stmt *items[] = {reverse->producer->stmt, stmt_block(ctx, consumer, reverse->consumer->stmt->span)};
    Map replace = {0};
    map_set(ctx->arena, &replace, items[0], (void *)stmt_seq(ctx, items, 2));
    const TreeNode *node = schedule_find_block(trial, consumer.block), *scope = schedule_scope(trial, node);
    sched_replace(trial, scope->stmt, inline_rebuild_scope(trial, scope, node, NULL, &replace));
    return trial;
}

/* The consumer, which is not known to run for all of its domain, runs for what the producer stores: SOLVED, under GUARD, are its instances. */
static bool check_no_instance_is_added(Reverse *reverse, const Subst *solved, const Expr *guard)
{
    Schedule *sch = reverse->sch;
    const Block *consumer = node_block(reverse->consumer)->block;
    Answer answer = dependence_runs_over_domain(sch->ctx, schedule_func(sch), consumer);
    if (answer_is_shown(answer))
        return true;
    const Schedule *trial = consumer_behind_producer(reverse, solved, guard);
    return answer_is_shown(dependence_adds_none(sch->ctx, schedule_func(sch), schedule_func(trial), consumer)) ||
           refuse_by_answer(sch, answer, "instances of block '%s' would be added", consumer->name);
}

/* The consumer, for SOLVED, runs right behind the last update of each element, as its last reduce axis values tell by GUARD, where it ran behind
   all of the reduction: it reads the same, and each instance runs once. */
static bool check_last_update(Reverse *reverse, const Subst *solved, const Expr *guard)
{
    Schedule *sch = reverse->sch;
    Context *ctx = sch->ctx;
    const Block *producer = node_block(reverse->producer)->block, *consumer = node_block(reverse->consumer)->block;
    const Func *before = schedule_func(sch), *after = schedule_func(consumer_behind_producer(reverse, solved, guard));
    Answer answer = dependence_consumer_may_move(ctx, before, after, consumer);
    if (answer_is_shown(answer))
        answer = dependence_loses_none(ctx, before, after, consumer);
    int count;
    const TreeNode **loops = schedule_loops_around(sch, reverse->producer, &count);
    if (answer_is_shown(answer) && count)
        answer = dependence_runs_once(ctx, before, producer, node_loop(loops[0])->var);
    if (answer_is_shown(answer))
        return true;
    return refuse_by_answer(sch, answer, "block '%s' needs the complete results of block '%s', and which update of an element is the last is not known",
                            consumer->name, producer->name);
}

static const Expr *replace_read_by_load(Rewriter *rewriter, const Expr *expr)
{
    const Stmt *store = rewriter->data;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == store->as.store.buffer)
        return expr_load(rewriter->ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, NULL, expr->span);
    return rewrite_expr_children(rewriter, expr);
}

/* PRODUCER, a reduction, with what the consumer, for SOLVED, makes of its results, in the producer's own buffer. */
static bool take_epilogue(Reverse *reverse, BlockStmt *producer, Subst *solved)
{
    Schedule *sch = reverse->sch;
    Context *ctx = sch->ctx;
    Rewriter rewriter = {.ctx = ctx, .expr = replace_read_by_load, .data = (void *)producer->body};
    const Expr *value = rewrite_expr(&rewriter, subst_expr(ctx, solved, reverse->store->as.store.value));
    if (epilogue_fold(ctx, producer, value, reverse->reassociates)) {
        if (reverse->reassociates)
            warn_of_new_order(sch, node_block(reverse->producer), false);
        return true;
    }
    if (reverse->reassociates) {
        sched_refuse(sch,
                     "block '%s' does not combine one more value into the results of block '%s' as its updates do, so that applied to each of "
                     "them it would give another result: reverse_compute_inline applies it to the last one, reverse_compute_at behind them",
                     node_name(reverse->consumer), producer->block->name);
        sched_note(sch, reverse->store->span, "it stores this");
        return false;
    }
    const Expr *guard = epilogue_last_update(ctx, producer);
    if (!check_last_update(reverse, solved, guard))
        return false;
    epilogue_append(ctx, producer, value, guard);
    reverse->appends = true;
    return true;
}

/* GUARD would keep some init of the producer, which has one, from running. */
static bool check_copies_all(Reverse *reverse, const Expr *guard)
{
    if (!reverse->reduces || expr_is_int(guard, 1))
        return true;
    sched_refuse(reverse->sch, "block '%s' uses only a part of what block '%s', which has an init, computes: where %s",
                 node_name(reverse->consumer), node_name(reverse->producer), print_expr(reverse->sch->ctx, guard));
    return sched_note_node(reverse->sch, reverse->consumer);
}

/* The producer with its store replaced by the consumer's; NULL after a refusal. */
static const Stmt *merged_producer(Reverse *reverse)
{
    Schedule *sch = reverse->sch;
    Context *ctx = sch->ctx;
    BlockStmt producer = *node_block(reverse->producer);
    const Stmt *store = producer.body;
    Subst solved = {0};
    const InlinePlace place = {reverse->consumer, reverse->producer, producer.block, node_block(reverse->consumer)->block,
                               buffer_viewed(schedule_func(sch), reverse->buffer)->data};
    if (inline_has_vectors(reverse->indices, store->as.store.indices, reverse->index_count)) {
        inline_refuse_vectors(sch, reverse->buffer, reverse->store->span);
        return NULL;
    }
    if (!inline_solve_beside(sch, &place, reverse->indices, store->as.store.indices, reverse->index_count, &producer, &solved)) {
        sched_refuse(sch, "the indices under which block '%s' reads '%s' are not a one-to-one affine map of its axes",
                     node_name(reverse->consumer), reverse->buffer->name);
        return NULL;
    }
    const Expr *guard = coverage_guard(reverse, &solved, &producer);
    if (!check_no_instance_is_added(reverse, &solved, guard) || !check_copies_all(reverse, guard) || !check_calls_once(reverse, guard) || !check_vars_stay(reverse, guard) ||
        !inline_check_order(sch, reverse->consumer, reverse->producer, &solved))
        return NULL;
    if (reverse->reduces) {
        if (!reverse->copies && !take_epilogue(reverse, &producer, &solved))
            return NULL;
        return redirected_producer(reverse, producer, &solved);
    }
    producer.predicate = op_and(ctx, producer.predicate, guard);
    /* the read goes first: its own indices must not be mistaken for those of the solution */
    const Stmt *target = reverse->store;
    Rewriter rewriter = {.ctx = ctx, .expr = replace_read, .data = (void *)store};
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, target->as.store.index_count);
    for (int i = 0; i < target->as.store.index_count; i++)
        indices[i] = rewrite_expr(&rewriter, subst_expr(ctx, &solved, target->as.store.indices[i]));
    const Expr *value = rewrite_expr(&rewriter, subst_expr(ctx, &solved, target->as.store.value));
    producer.body = stmt_store(ctx, target->as.store.buffer, indices, target->as.store.index_count, value, NULL, target->span);
    return inline_refresh_regions(sch, stmt_block(ctx, producer, reverse->producer->stmt->span), reverse->buffer);
}

/* How often BLOCK runs, and before what, is told by the loops around it alone. */
static bool check_no_jump_around(Schedule *sch, const TreeNode *block)
{
    int count;
    const TreeNode **loops = schedule_loops_around(sch, block, &count);
    for (int i = 0; i < count; i++)
        if (loop_jump(loops[i])) {
            sched_refuse(sch, "loop '%s' may be left or continued, so which instances of block '%s' run is not known", node_name(loops[i]),
                         node_name(block));
            return sched_note_node(sch, loops[i]);
        }
    return true;
}

/* The memory that the merged block works on in the place of the buffer between, where it then reads nothing else of that memory; or NULL. */
static const Var *own_memory(const Reverse *reverse)
{
    Context *ctx = reverse->sch->ctx;
    const Func *func = schedule_func(reverse->sch);
    const Var *data = buffer_viewed(func, reverse->store->as.store.buffer)->data;
    Map read = dependence_read_data(ctx, func, node_block(reverse->producer)->block);
    return reverse->copies && !map_has(&read, data) ? data : NULL;
}

/* REVERSE->consumer disappears into its producer; KEPT: the allocation of the buffer between them stays. */
static bool inline_consumer(Reverse *reverse, bool kept)
{
    Schedule *sch = reverse->sch;
    if (!check_no_jump_around(sch, reverse->producer) || !check_no_jump_around(sch, reverse->consumer) || !check_nothing_between(reverse) ||
        !check_no_instance_is_lost(reverse))
        return false;
    const Stmt *merged = merged_producer(reverse);
    if (!merged)
        return false;
    const Var *own = own_memory(reverse);
    Map replace = {0};
    map_set(sch->ctx->arena, &replace, reverse->producer->stmt, (void *)merged);
    const TreeNode *scope = schedule_scope(sch, reverse->consumer);
    const Block *producer = node_block(reverse->producer)->block;
    int common = inline_common_loops(sch, reverse->producer, reverse->consumer);
    sched_replace(sch, scope->stmt, inline_rebuild_scope(sch, scope, reverse->consumer, kept ? NULL : reverse->buffer, &replace));
    return (kept || inline_check_not_named(sch, reverse->buffer)) &&
           (reverse->appends || inline_check_reads_in_time(sch, producer, common, own)) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, producer));
}

bool primitive_reverse_compute_inline(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    Reverse reverse = {.sch = sch, .consumer = schedule_block(sch, args[0].as.block)};
    return reverse.consumer && check_reverse(&reverse) && inline_consumer(&reverse, false);
}

bool primitive_fuse_reduction_epilogue(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    Reverse reverse = {.sch = sch, .reassociates = true};
    return (reverse.producer = schedule_block(sch, args[0].as.block)) && (reverse.consumer = schedule_block(sch, args[1].as.block)) &&
           check_block_has_scope(sch, reverse.producer) && check_reduction_block(sch, reverse.producer, NULL) && check_reverse(&reverse) &&
           inline_consumer(&reverse, true);
}
