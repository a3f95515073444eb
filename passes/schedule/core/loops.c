/* Shared parts of the loop transformations; see loops.h. */
#include "passes/schedule/core/loops.h"

#include "ir/walk.h"
#include "passes/analysis/model/access.h"
#include "print/print.h"

/* --- Domains --- */

static VarRange loop_range(const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    return (VarRange){loop->var, {loop->min, loop->extent}};
}

VarRange *loops_ranges(Schedule *sch, const TreeNode *const *loops, int count)
{
    VarRange *ranges = ARENA_ARRAY(sch->ctx->arena, VarRange, count);
    for (int i = 0; i < count; i++)
        ranges[i] = loop_range(loops[i]->stmt);
    return ranges;
}

const TreeNode **loops_given(Schedule *sch, const ValueList *loops)
{
    const TreeNode **nodes = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, loops->count);
    for (int i = 0; i < loops->count; i++) {
        if (!(nodes[i] = schedule_loop(sch, loops->items[i].as.loop)))
            return NULL;
        for (int j = 0; j < i; j++)
            if (nodes[j] == nodes[i])
                return sched_refuse_argument(sch, &loops->items[i], "loop '%s' is given twice", node_name(nodes[i])), NULL;
    }
    return nodes;
}

bool loops_include(const VarRange *ranges, int count, const Var *var)
{
    for (int i = 0; i < count; i++)
        if (ranges[i].var == var)
            return true;
    return false;
}

VarRange *loops_ranges_around(Schedule *sch, const TreeNode *node, int *count)
{
    const TreeNode **loops = schedule_loops_around(sch, node, count);
    return loops_ranges(sch, loops, *count);
}

VarRange *loops_ranges_outside(Schedule *sch, const TreeNode *node, int *count)
{
    VEC(const TreeNode *) loops = {0}; /* innermost first */
    for (const TreeNode *up = schedule_parent(sch, node); up && (up->stmt->kind != STMT_BLOCK || !node_block(up)->iter_count);
         up = schedule_parent(sch, up))
        if (up->stmt->kind == STMT_FOR)
            vec_push(sch->ctx->arena, &loops, up);
    VarRange *ranges = ARENA_ARRAY(sch->ctx->arena, VarRange, loops.count);
    for (int i = 0; i < loops.count; i++)
        ranges[i] = loop_range(loops.data[loops.count - 1 - i]->stmt);
    *count = loops.count;
    return ranges;
}

/* Symbolic dimensions of parameters are sizes. */
static void learn_sizes(Analyzer *an, const Func *func)
{
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++)
            if (buffer->shape[d]->kind == EXPR_VAR)
                analyzer_bind_nonnegative(an, buffer->shape[d]->value.var);
    }
}

static void learn_block(Analyzer *an, const BlockStmt *block)
{
    analyzer_assume(an, block->predicate);
    for (int i = 0; i < block->iter_count; i++)
        analyzer_bind_range_opaque(an, block->iters[i].var, block->iters[i].domain);
}

Analyzer *loops_context(Schedule *sch, const TreeNode *node)
{
    Analyzer *an = analyzer_new(sch->ctx);
    learn_sizes(an, schedule_func(sch));
    VEC(const TreeNode *) around = {0};
    for (const TreeNode *up = schedule_parent(sch, node); up; up = schedule_parent(sch, up))
        vec_push(sch->ctx->arena, &around, up);
    while (around.count) {
        const Stmt *stmt = vec_pop(&around)->stmt;
        if (stmt->kind == STMT_FOR)
            analyzer_bind_range_opaque(an, stmt->as.loop.var, loop_range(stmt).range);
        else if (stmt->kind == STMT_BLOCK)
            learn_block(an, &stmt->as.block);
    }
    return an;
}

static bool find_size_divisor(Visitor *visitor, const Expr *expr)
{
    bool *found = visitor->data;
    *found |= (expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD) && expr->args[1]->kind != EXPR_INT;
    return !*found;
}

const Expr *loops_guard_divisors(Schedule *sch, const TreeNode *node, Analyzer **running, const Expr *expr)
{
    bool divides = false;
    Visitor visitor = {.expr = find_size_divisor, .data = &divides};
    visit_expr(&visitor, expr);
    if (!divides)
        return expr;
    if (!*running) {
        *running = loops_context(sch, node);
        for (const TreeNode *up = schedule_parent(sch, node); up; up = schedule_parent(sch, up))
            if (up->stmt->kind == STMT_FOR)
                analyzer_assume_positive(*running, node_loop(up)->extent);
    }
    return analyzer_guard_divisors(*running, expr);
}

bool loops_imply(Schedule *sch, const TreeNode *const *loops, int count, const Expr *given, const Expr *conclusion)
{
    Context *ctx = sch->ctx;
    Map sizes = func_sizes(ctx, schedule_func(sch));
    AffineSpace space = affine_universe(ctx, count, &sizes);
    const AffineEnv *env = NULL;
    for (int i = 0; i < count; i++) {
        const ForStmt *loop = node_loop(loops[i]);
        affine_assume_range(&space, env, i, (Range){loop->min, loop->extent});
        AffineEnv inner = {env, loop->var, i, loop->min};
        env = arena_copy(ctx->arena, &inner, sizeof inner);
    }
    if (given)
        affine_assume(&space, env, given, false);
    affine_assume(&space, env, conclusion, true);
    bool holds = affine_verdict(&space) == SET_EMPTY;
    affine_free(&space);
    return holds;
}

/* --- Requirements --- */

bool check_loop_is_plain(Schedule *sch, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    if (loop->thread) {
        sched_refuse_node(sch, node, "loop '%s' is bound to %s: do this before binding it", loop->var->name, loop->thread);
        return sched_note_node(sch, node);
    }
    if (loop->annotations.count) {
        sched_refuse_node(sch, node, "loop '%s' has the annotation \"%s\", which would be lost: unannotate it first", loop->var->name,
                     loop->annotations.entries[0].key);
        return sched_note_node(sch, node);
    }
    return true;
}

static bool find_jump(Visitor *visitor, const Expr *expr)
{
    if (expr_is_call(expr, OP_BREAK_LOOP) || expr_is_call(expr, OP_CONTINUE_LOOP))
        visitor->data = (void *)expr;
    return !visitor->data;
}

static bool skip_inner_loops(Visitor *visitor, const Stmt *stmt)
{
    return !visitor->data && stmt->kind != STMT_FOR && stmt->kind != STMT_WHILE;
}

const Expr *loop_jump(const TreeNode *node)
{
    Visitor visitor = {.expr = find_jump, .stmt = skip_inner_loops};
    visit_stmt(&visitor, node_loop(node)->body);
    return visitor.data;
}

bool check_loop_has_no_jump(Schedule *sch, const TreeNode *node)
{
    const Expr *jump = loop_jump(node);
    if (!jump)
        return true;
    sched_refuse(sch, "loop '%s' is left or continued by a statement in its body, which would act on another loop then",
                 node_name(node));
    sched_note(sch, jump->span.file ? jump->span : node->stmt->span, "T.%s is here", op_info(jump->value.op)->name);
    return false;
}

/* Finds a statement, or an expression that must not be evaluated outside of the domain, that no block encloses. */
typedef struct {
    const Stmt *around; /* the statement being visited */
    const Stmt *found;
} StraySearch;

static bool find_stray_expr(Visitor *visitor, const Expr *expr)
{
    StraySearch *search = visitor->data;
    if (!search->found && !expr_is_pure(expr))
        search->found = search->around;
    return false;
}

static bool find_stray_stmt(Visitor *visitor, const Stmt *stmt)
{
    StraySearch *search = visitor->data;
    search->around = stmt;
    switch (stmt->kind) {
    case STMT_BLOCK: return false;
    case STMT_STORE:
    case STMT_EVALUATE:
    case STMT_WHILE:
    case STMT_ASSERT:
    case STMT_ALLOCATE:
    case STMT_REALIZE:
        if (!search->found)
            search->found = stmt;
        return false;
    default: return !search->found;
    }
}

bool check_loop_is_guardable(Schedule *sch, const TreeNode *node)
{
    StraySearch search = {0};
    Visitor visitor = {.expr = find_stray_expr, .stmt = find_stray_stmt, .data = &search};
    visit_stmt(&visitor, node_loop(node)->body);
    if (!search.found)
        return true;
    sched_refuse(sch, "a guard is needed, and a statement under loop '%s' lies in no block that could take it: put it in a block",
                 node_name(node));
    sched_note(sch, search.found->span, "this would run or be evaluated beyond the extent %s",
               print_expr(sch->ctx, node_loop(node)->extent));
    return false;
}

/* --- Building --- */

void loops_split_conjunction(Context *ctx, const Expr *predicate, ExprList *parts)
{
    if (predicate->kind == EXPR_AND) {
        loops_split_conjunction(ctx, predicate->args[0], parts);
        loops_split_conjunction(ctx, predicate->args[1], parts);
    } else if (!expr_is_int(predicate, 1)) {
        vec_push(ctx->arena, parts, predicate);
    }
}

/* The guard comes last, but before a predicate that reads memory, where the elements beyond the guard may not exist. */
static const Stmt *guard_block(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind != STMT_BLOCK)
        return rewrite_stmt_children(rewriter, stmt);
    BlockStmt block = stmt->as.block;
    const Expr *guard = rewriter->data, *old = block.predicate;
    block.predicate = expr_is_pure(old) ? op_and(rewriter->ctx, old, guard) : op_and(rewriter->ctx, guard, old);
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

const Stmt *loops_guard_blocks(Context *ctx, const Stmt *stmt, const Expr *condition)
{
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = guard_block, .data = (void *)condition};
    return rewrite_stmt(&rewriter, stmt);
}

typedef struct {
    VEC(VarRange) loops; /* around the statement being rewritten */
    Analyzer *an;
    bool preserve_unit_iters;
} BindingSimplifier;

/* OLD, the binding of a reduce axis, says of loops in the predicate that they reduce, and SIMPLIFIED, a constant, does not. */
static bool tells_reduction(const BindingSimplifier *state, const BlockStmt *block, const Expr *old, const Expr *simplified)
{
    bool tells = false;
    for (int i = 0; i < state->loops.count; i++) {
        const Var *var = state->loops.data[i].var;
        if (expr_uses_var(simplified, var))
            return false;
        tells |= expr_uses_var(old, var) && expr_uses_var(block->predicate, var);
    }
    return tells;
}

static const Stmt *simplify_block(Rewriter *rewriter, const Stmt *stmt)
{
    BindingSimplifier *state = rewriter->data;
    BlockStmt block = stmt->as.block;
    IterMapQuery query = {
        .bindings = block.bindings,
        .binding_count = block.iter_count,
        .iters = state->loops.data,
        .iter_count = state->loops.count,
        .predicate = block.predicate,
        .level = ITER_MAP_SURJECTIVE,
        .simplify_trivial = !state->preserve_unit_iters,
    };
    const Expr **bindings = iter_map_simplify(state->an, &query);
    for (int i = 0; i < block.iter_count; i++)
        if (block.init && block.iters[i].kind == ITER_REDUCE && tells_reduction(state, &block, block.bindings[i], bindings[i]))
            bindings[i] = block.bindings[i];
    block.bindings = bindings;
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static const Stmt *simplify_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    BindingSimplifier *state = rewriter->data;
    if (stmt->kind == STMT_BLOCK && stmt->as.block.iter_count)
        return simplify_block(rewriter, stmt);
    if (stmt->kind != STMT_FOR)
        return rewrite_stmt_children(rewriter, stmt);
    vec_push(rewriter->ctx->arena, &state->loops, loop_range(stmt));
    stmt = rewrite_stmt_children(rewriter, stmt);
    state->loops.count--;
    return stmt;
}

const Stmt *loops_simplify_bindings(Schedule *sch, const Stmt *stmt, const VarRange *outer, int count, bool preserve_unit_iters)
{
    BindingSimplifier state = {.an = analyzer_new(sch->ctx), .preserve_unit_iters = preserve_unit_iters};
    for (int i = 0; i < count; i++)
        vec_push(sch->ctx->arena, &state.loops, outer[i]);
    Rewriter rewriter = {.ctx = sch->ctx, .expr = keep_expr, .stmt = simplify_stmt, .data = &state};
    return rewrite_stmt(&rewriter, stmt);
}

const Stmt *loops_serial(Context *ctx, Var *var, const Expr *extent, const Stmt *body, Span span)
{
    return stmt_for_serial(ctx, var, NULL, op_cast(ctx, var->dtype, extent), body, span);
}

Region loops_bound_region(Schedule *sch, const TreeNode *node, Region region)
{
    Context *ctx = sch->ctx;
    const BlockStmt *block = node_block(node);
    Region whole = region_whole(ctx, region.buffer);
    Subst bindings = {0};
    for (int i = 0; i < block->iter_count; i++)
        subst_var(ctx, &bindings, block->iters[i].var, block->bindings[i]);
    region = subst_region(ctx, &bindings, region);
    for (const TreeNode *up = schedule_parent(sch, node); up && up->stmt->kind != STMT_BLOCK; up = schedule_parent(sch, up)) {
        if (up->stmt->kind != STMT_LET)
            continue;
        Subst value = {0};
        const Var *var = up->stmt->as.let.var;
        subst_var(ctx, &value, var, up->stmt->as.let.value);
        region.ranges = arena_copy(ctx->arena, region.ranges, sizeof *region.ranges * (size_t)region.buffer->ndim);
        for (int d = 0; d < region.buffer->ndim && !expr_is_pure(up->stmt->as.let.value); d++)
            if (expr_uses_var(region.ranges[d].min, var) || expr_uses_var(region.ranges[d].extent, var))
                region.ranges[d] = whole.ranges[d];
        region = subst_region(ctx, &value, region);
    }
    return region;
}

typedef struct {
    Context *ctx;
    const Subst *values;
    VEC(Region) reads; /* of the values */
} Substitution;

static bool find_value_loads(Visitor *visitor, const Expr *expr)
{
    Substitution *substitution = visitor->data;
    if (expr->kind == EXPR_LOAD)
        vec_push(substitution->ctx->arena, &substitution->reads, region_point(substitution->ctx, expr->value.buffer, expr->args));
    return true;
}

static bool mentions_a_variable(const Substitution *substitution, const BlockStmt *block)
{
    const Map *vars = &substitution->values->vars;
    for (int i = 0; i < vars->count; i++) {
        const Var *var = vars->entries[i].key;
        if (stmt_uses_var(block->body, var) || (block->init && stmt_uses_var(block->init, var)))
            return true;
    }
    return false;
}

static bool states_region(const BlockStmt *block, const Region *region)
{
    for (int i = 0; i < block->read_count; i++) {
        bool same = block->reads[i].buffer == region->buffer;
        for (int d = 0; same && d < region->buffer->ndim; d++)
            same = expr_equal(block->reads[i].ranges[d].min, region->ranges[d].min);
        if (same)
            return true;
    }
    return false;
}

static const Stmt *state_reads(Rewriter *rewriter, const Stmt *stmt)
{
    const Substitution *substitution = rewriter->data;
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_BLOCK || !mentions_a_variable(substitution, &stmt->as.block))
        return stmt;
    BlockStmt block = stmt->as.block;
    block.reads = ARENA_ARRAY(rewriter->ctx->arena, Region, block.read_count + substitution->reads.count);
    for (int i = 0; i < block.read_count; i++)
        block.reads[i] = stmt->as.block.reads[i];
    for (int i = 0; i < substitution->reads.count; i++)
        if (!states_region(&block, &substitution->reads.data[i]))
            block.reads[block.read_count++] = substitution->reads.data[i];
    return stmt_block(rewriter->ctx, block, stmt->span);
}

const Stmt *loops_substitute(Context *ctx, Subst *values, const Stmt *stmt)
{
    Substitution substitution = {.ctx = ctx, .values = values};
    Visitor visitor = {.expr = find_value_loads, .data = &substitution};
    for (int i = 0; i < values->vars.count; i++)
        visit_expr(&visitor, values->vars.entries[i].value);
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = state_reads, .data = &substitution};
    if (substitution.reads.count)
        stmt = rewrite_stmt(&rewriter, stmt);
    return subst_stmt(ctx, values, stmt);
}
