/* Coverage of reads by earlier writes of the same iteration; see coverage.h.

   The body is walked in the order of execution. Each write becomes a box of elements, under conditions; when the walk leaves a loop, the
   boxes written in it grow to what all of its iterations write, where that is a box again. Each read must lie in one box. What cannot be
   shown makes the answer "not private". What both branches of an if statement write counts. Not used: unions of several boxes, writes of
   earlier iterations of a loop in BODY, anything where jumps may skip writes. */
#include "passes/lower/coverage.h"

#include "passes/arith/int_set.h"
#include "passes/lower/views.h"

/* Elements lo..hi (both included) in each dimension are written if all of conditions hold. */
typedef struct {
    const Expr **lo, **hi;
    ExprList conditions;
    /* else only what follows is known: the write itself, the loops left since (innermost first), all conditions met on the way */
    bool is_box;
    Range *point;
    VEC(VarRange) loops;
    ExprList all_conditions;
} Written;
typedef VEC(Written) WrittenList;

typedef struct {
    Context *ctx;
    Analyzer *an;
    Views views;
    int ndim;
    WrittenList written;
    const BlockStmt *block; /* the innermost block that the walk is in */
    bool failed;
} Coverage;

/* --- Proofs --- */
static bool prove(Coverage *coverage, const Expr *condition)
{
    return analyzer_prove(coverage->an, condition) || analyzer_prove_symbolic(coverage->an, condition);
}

/* EXPR, a sum, with its first term of KIND (a min or max) replaced by that term's operand AT; NULL where there is no such term. */
static const Expr *choose_operand(Context *ctx, const Expr *expr, ExprKind kind, int at)
{
    if ((ExprKind)expr->kind == kind)
        return expr->args[at];
    if (expr->kind != EXPR_ADD && expr->kind != EXPR_SUB)
        return NULL;
    for (int i = 0; i < (expr->kind == EXPR_ADD ? 2 : 1); i++) {
        const Expr *args[] = {expr->args[0], expr->args[1]}, *chosen = choose_operand(ctx, args[i], kind, at);
        args[i] = chosen;
        if (chosen)
            return op_binary(ctx, expr->kind, args[0], args[1], span_none());
    }
    return NULL;
}

/* LOW <= HIGH: what is below a minimum is below both of its operands, what is above a maximum above both. */
static bool prove_order(Coverage *coverage, const Expr *low, const Expr *high)
{
    Context *ctx = coverage->ctx;
    if (prove(coverage, op_compare(ctx, EXPR_LE, low, high)))
        return true;
    const Expr *below = choose_operand(ctx, high, EXPR_MIN, 0);
    if (below)
        return prove_order(coverage, low, below) && prove_order(coverage, low, choose_operand(ctx, high, EXPR_MIN, 1));
    const Expr *above = choose_operand(ctx, low, EXPR_MAX, 0);
    return above && prove_order(coverage, above, high) && prove_order(coverage, choose_operand(ctx, low, EXPR_MAX, 1), high);
}

static const Expr *range_last(Context *ctx, Range range)
{
    return op_add_int(ctx, op_add(ctx, range.min, range.extent), -1);
}

/* --- Boxes --- */
static void add_written(Coverage *coverage, Range *ranges)
{
    Context *ctx = coverage->ctx;
    Written written = {.lo = ARENA_ARRAY(ctx->arena, const Expr *, coverage->ndim),
                       .hi = ARENA_ARRAY(ctx->arena, const Expr *, coverage->ndim)};
    written.is_box = true;
    written.point = ranges;
    for (int d = 0; d < coverage->ndim; d++) {
        written.lo[d] = ranges[d].min;
        written.hi[d] = range_last(ctx, ranges[d]);
        written.is_box &= !expr_reads_memory(written.lo[d]) && !expr_reads_memory(written.hi[d]);
    }
    if (written.is_box)
        vec_push(ctx->arena, &coverage->written, written);
}

/* The greatest value of VAR under CONDITION, where it is an upper bound of VAR; else NULL. */
static const Expr *upper_bound_from(Coverage *coverage, const Expr *condition, const Var *var)
{
    Context *ctx = coverage->ctx;
    bool less = condition->kind == EXPR_LT || condition->kind == EXPR_LE,
         greater = condition->kind == EXPR_GT || condition->kind == EXPR_GE;
    if ((!less && !greater) || !dtype_is_integer(condition->args[0]->dtype))
        return NULL;
    const Expr *difference = op_sub(ctx, condition->args[less ? 0 : 1], condition->args[less ? 1 : 0]);
    const Expr *next = subst_one(ctx, difference, var, op_add_int(ctx, expr_var(ctx, (Var *)var), 1));
    const Expr *step = analyzer_simplify(coverage->an, op_sub(ctx, next, difference));
    int64_t factor;
    if (!expr_const_int(step, &factor) || factor <= 0)
        return NULL;
    const Expr *rest = subst_one(ctx, difference, var, expr_int(ctx, var->dtype, 0));
    bool strict = condition->kind == EXPR_LT || condition->kind == EXPR_GT;
    const Expr *room = op_sub(ctx, expr_int(ctx, rest->dtype, strict ? -1 : 0), rest);
    return analyzer_simplify(coverage->an, op_floordiv(ctx, room, expr_int(ctx, rest->dtype, factor)));
}

/* Takes the conditions on VAR off WRITTEN and lowers *LAST to what they allow; false when some condition has another form. */
static bool use_conditions(Coverage *coverage, Written *written, const Var *var, const Expr **last)
{
    ExprList kept = {0};
    for (int i = 0; i < written->conditions.count; i++) {
        const Expr *condition = written->conditions.data[i];
        if (!expr_uses_var(condition, var)) {
            vec_push(coverage->ctx->arena, &kept, condition);
            continue;
        }
        const Expr *bound = upper_bound_from(coverage, condition, var);
        if (!bound)
            return false;
        *last = op_min(coverage->ctx, *last, bound);
    }
    written->conditions = kept;
    return true;
}

/* Dimension DIM of WRITTEN, which moves with VAR, over VAR from FIRST to LAST: one interval if the pieces of neighbouring values touch, and
   an empty one if LAST < FIRST. */
static bool grow_dimension(Coverage *coverage, Written *written, int dim, const Var *var, const Expr *first, const Expr *last, bool certain)
{
    Context *ctx = coverage->ctx;
    first = op_cast(ctx, var->dtype, first); /* a condition that narrows the loop may be of another type */
    last = op_cast(ctx, var->dtype, last);
    const Expr *lo = written->lo[dim], *hi = written->hi[dim], *next = op_add_int(ctx, expr_var(ctx, (Var *)var), 1);
    const Expr *next_lo = subst_one(ctx, lo, var, next), *next_hi = subst_one(ctx, hi, var, next);
    int64_t lo_step, hi_step;
    if (!expr_const_int(analyzer_simplify(coverage->an, op_sub(ctx, next_lo, lo)), &lo_step) ||
        !expr_const_int(analyzer_simplify(coverage->an, op_sub(ctx, next_hi, hi)), &hi_step) || lo_step != hi_step)
        return false;
    bool up = lo_step >= 0;
    if (!(up ? prove_order(coverage, next_lo, op_add_int(ctx, hi, 1)) : prove_order(coverage, lo, op_add_int(ctx, next_hi, 1))))
        return false;
    written->lo[dim] = analyzer_simplify(coverage->an, subst_one(ctx, lo, var, up ? first : last));
    written->hi[dim] = analyzer_simplify(coverage->an, subst_one(ctx, hi, var, up ? last : first));
    if (certain)
        return true;
    const Expr *before = op_add_int(ctx, first, -1);
    const Expr *empty_lo = subst_one(ctx, lo, var, up ? first : before), *empty_hi = subst_one(ctx, hi, var, up ? before : first);
    return prove(coverage, op_compare(ctx, EXPR_LT, empty_hi, empty_lo));
}

/* WRITTEN over all values of the loop that is being left; false when that is not shown to be a box. */
static bool grow_box(Coverage *coverage, Written *written, VarRange loop)
{
    const Expr *first = loop.range.min, *last = range_last(coverage->ctx, loop.range), *unlimited = last;
    if (!use_conditions(coverage, written, loop.var, &last))
        return false;
    int moving = -1;
    for (int d = 0; d < coverage->ndim; d++) {
        if (!expr_uses_var(written->lo[d], loop.var) && !expr_uses_var(written->hi[d], loop.var))
            continue;
        if (moving >= 0)
            return false;
        moving = d;
    }
    bool certain = last == unlimited ? analyzer_prove_at_least(coverage->an, loop.range.extent, 1) : prove_order(coverage, first, last);
    if (moving < 0)
        return certain;
    written->lo = arena_copy(coverage->ctx->arena, written->lo, sizeof *written->lo * (size_t)coverage->ndim);
    written->hi = arena_copy(coverage->ctx->arena, written->hi, sizeof *written->hi * (size_t)coverage->ndim);
    return grow_dimension(coverage, written, moving, loop.var, first, last, certain);
}

static bool uses_some(const Expr *expr, const VarRange *vars, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(expr, vars[i].var))
            return true;
    return false;
}

/* The box by iterator-map analysis over all loops left since the write, each of which certainly runs. */
static bool find_box(Coverage *coverage, Written *written)
{
    Context *ctx = coverage->ctx;
    int count = written->loops.count;
    ExprList inner = {0}, fixed = {0};
    VarRange *vars = ARENA_ARRAY(ctx->arena, VarRange, count);
    for (int i = 0; i < count; i++) {
        vars[i] = written->loops.data[count - 1 - i];
        if (!analyzer_prove_at_least(coverage->an, vars[i].range.extent, 1))
            return false;
    }
    for (int i = 0; i < written->all_conditions.count; i++) {
        const Expr *condition = written->all_conditions.data[i];
        vec_push(ctx->arena, uses_some(condition, vars, count) ? &inner : &fixed, condition);
    }
    IntSet *sets = ARENA_ARRAY(ctx->arena, IntSet, coverage->ndim);
    const Expr *predicate = inner.count ? conjunction_join(ctx, &inner) : NULL;
    RegionQuery query = {written->point, coverage->ndim, vars, count, predicate};
    if (!region_lower_bound(coverage->an, &query, sets))
        return false;
    for (int d = 0; d < coverage->ndim; d++) {
        if (!int_set_is_bounded(sets[d]))
            return false;
        written->lo[d] = sets[d].min;
        written->hi[d] = sets[d].max;
    }
    written->conditions = fixed;
    return true;
}

static void leave_loop(Coverage *coverage, int first_written, VarRange loop)
{
    for (int i = first_written; i < coverage->written.count; i++) {
        Written *written = &coverage->written.data[i];
        vec_push(coverage->ctx->arena, &written->loops, loop);
        written->is_box = written->is_box && grow_box(coverage, written, loop);
    }
}

static bool box_covers(Coverage *coverage, const Written *written, const Range *ranges)
{
    for (int i = 0; i < written->conditions.count; i++)
        if (!prove(coverage, written->conditions.data[i]))
            return false;
    for (int d = 0; d < coverage->ndim; d++)
        if (!prove_order(coverage, written->lo[d], ranges[d].min) ||
            !prove_order(coverage, range_last(coverage->ctx, ranges[d]), written->hi[d]))
            return false;
    return true;
}

static void check_read(Coverage *coverage, const Range *ranges)
{
    coverage->failed |= !ranges;
    for (int d = 0; d < coverage->ndim && !coverage->failed; d++)
        coverage->failed |= expr_reads_memory(ranges[d].min) || expr_reads_memory(ranges[d].extent);
    for (int i = coverage->written.count - 1; i >= 0 && !coverage->failed; i--) {
        Written *written = &coverage->written.data[i];
        if (!written->is_box)
            written->is_box = find_box(coverage, written);
        if (written->is_box && box_covers(coverage, written, ranges))
            return;
    }
    coverage->failed = true;
}

/* --- The walk --- */
static bool walk_expr(Visitor *visitor, const Expr *expr);
static bool walk_stmt(Visitor *visitor, const Stmt *stmt);

/* The elements of the root that INDICES of VIEW select; NULL where that is no box. */
static Range *selected_ranges(Coverage *coverage, const View *view, const Expr *const *indices)
{
    Range *ranges = element_ranges(coverage->ctx, indices, view->target->ndim);
    return ranges ? view_ranges(coverage->ctx, &coverage->views, view, ranges) : NULL;
}

/* Visits EXPR where CONDITION is known to hold (or, NEGATED, not to hold). */
static void visit_under(Visitor *visitor, const Expr *condition, bool negated, const Expr *expr)
{
    Coverage *coverage = visitor->data;
    AnalyzerScope scope = analyzer_enter(coverage->an);
    facts_assume(coverage->an, negated ? op_not(coverage->ctx, condition, span_none()) : condition);
    visit_expr(visitor, expr);
    analyzer_leave(coverage->an, scope);
}

static bool walk_expr(Visitor *visitor, const Expr *expr)
{
    Coverage *coverage = visitor->data;
    if (expr->kind == EXPR_AND || expr->kind == EXPR_OR) {
        visit_expr(visitor, expr->args[0]);
        visit_under(visitor, expr->args[0], expr->kind == EXPR_OR, expr->args[1]);
        return false;
    }
    if (expr_is_call(expr, OP_IF_THEN_ELSE)) {
        visit_expr(visitor, expr->args[0]);
        visit_under(visitor, expr->args[0], false, expr->args[1]);
        visit_under(visitor, expr->args[0], true, expr->args[2]);
        return false;
    }
    if (expr->kind == EXPR_LET && !expr_reads_memory(expr->args[0]))
        analyzer_bind_value(coverage->an, expr->value.var, expr->args[0]);
    const View *view = expr->kind == EXPR_LOAD ? views_find(&coverage->views, expr->value.buffer) : NULL;
    if (view)
        check_read(coverage, selected_ranges(coverage, view, expr->args));
    bool address = expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD;
    bool pointer = (expr->kind == EXPR_VAR && views_find_data(&coverage->views, expr->value.var)) ||
                   (address && views_find(&coverage->views, expr->args[0]->value.buffer));
    coverage->failed |= pointer && !coverage->block; /* nothing says what is accessed through it */
    if (address)
        visit_expr_children(visitor, expr->args[0]);
    return !coverage->failed && !address;
}

/* The regions of the root buffer among REGIONS; their number in *COUNT. */
static Range **root_regions(Coverage *coverage, const Region *regions, int region_count, int *count)
{
    Range **result = ARENA_ARRAY(coverage->ctx->arena, Range *, region_count);
    *count = 0;
    for (int i = 0; i < region_count; i++) {
        const View *view = views_find(&coverage->views, regions[i].buffer);
        if (view)
            result[(*count)++] = view_ranges(coverage->ctx, &coverage->views, view, regions[i].ranges);
    }
    return result;
}

typedef struct {
    const Views *views;
    bool found;
} PointerFinder;

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    PointerFinder *finder = visitor->data;
    finder->found |= expr->kind == EXPR_VAR && views_find_data(finder->views, expr->value.var);
    finder->found |=
        expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD && views_find(finder->views, expr->args[0]->value.buffer);
    return !finder->found;
}

static bool skip_blocks(Visitor *visitor, const Stmt *stmt)
{
    (void)visitor;
    return stmt->kind != STMT_BLOCK;
}

/* True when BODY, apart from the blocks in it, takes a pointer to the buffer. */
static bool takes_pointer(const Coverage *coverage, const Stmt *body)
{
    PointerFinder finder = {&coverage->views, false};
    Visitor visitor = {.expr = find_pointer, .stmt = skip_blocks, .data = &finder};
    visit_stmt(&visitor, body);
    return finder.found;
}

/* A block is one step where calls in it access the buffer through pointers: it reads the regions that it declares to read and then writes
   those that it declares to write. */
static void walk_block(Visitor *visitor, const BlockStmt *block)
{
    Coverage *coverage = visitor->data;
    const BlockStmt *outer = coverage->block;
    int view_count = coverage->views.items.count, read_count, write_count;
    views_add_block(coverage->ctx, &coverage->views, block);
    bool opaque = takes_pointer(coverage, block->body);
    Range **reads = root_regions(coverage, block->reads, block->read_count, &read_count);
    Range **writes = root_regions(coverage, block->writes, block->write_count, &write_count);
    coverage->failed |= opaque && !read_count && !write_count;
    for (int i = 0; opaque && i < read_count; i++)
        check_read(coverage, reads[i]);
    coverage->block = block;
    visit_stmt(visitor, block->body);
    coverage->block = outer;
    coverage->views.items.count = view_count;
    for (int i = 0; opaque && i < write_count; i++)
        add_written(coverage, writes[i]);
}

static void walk_branch(Visitor *visitor, const ExprList *conditions, const Stmt *body)
{
    Coverage *coverage = visitor->data;
    AnalyzerScope scope = analyzer_enter(coverage->an);
    facts_assume(coverage->an, conjunction_join(coverage->ctx, conditions));
    visit_stmt(visitor, body);
    analyzer_leave(coverage->an, scope);
}

/* What was written from FIRST to END is, only where CONDITIONS hold. */
static void limit_written(Coverage *coverage, int first, int end, const ExprList *conditions)
{
    for (int i = first; i < end; i++)
        for (int k = 0; k < conditions->count; k++) {
            vec_push(coverage->ctx->arena, &coverage->written.data[i].conditions, conditions->data[k]);
            vec_push(coverage->ctx->arena, &coverage->written.data[i].all_conditions, conditions->data[k]);
        }
}

/* Adds BOX, of one branch of an if statement, to CERTAIN if it lies in one of those of the other, from FIRST to END: it is written whichever
   is taken. */
static void add_if_in_other(Coverage *coverage, const Written *box, int first, int end, WrittenList *certain)
{
    Context *ctx = coverage->ctx;
    bool lies = false;
    Range *ranges = ARENA_ARRAY(ctx->arena, Range, coverage->ndim);
    for (int d = 0; d < coverage->ndim; d++)
        ranges[d] = (Range){box->lo[d], op_add_int(ctx, op_sub(ctx, box->hi[d], box->lo[d]), 1)};
    for (int i = first; i < end && !lies; i++)
        lies = coverage->written.data[i].is_box && box_covers(coverage, &coverage->written.data[i], ranges);
    if (lies)
        vec_push(ctx->arena, certain, ((Written){.lo = box->lo, .hi = box->hi, .is_box = true, .point = ranges}));
}

static void walk_if(Visitor *visitor, const Stmt *stmt)
{
    Coverage *coverage = visitor->data;
    Context *ctx = coverage->ctx;
    const Expr *condition = stmt->as.branch.condition;
    ExprList holds = {0}, fails = {0};
    conjunction_split(ctx, condition, &holds);
    vec_push(ctx->arena, &fails, op_not(ctx, condition, span_none()));
    visit_expr(visitor, condition);
    int first = coverage->written.count;
    walk_branch(visitor, &holds, stmt->as.branch.then_body);
    int middle = coverage->written.count;
    if (stmt->as.branch.else_body)
        walk_branch(visitor, &fails, stmt->as.branch.else_body);
    int end = coverage->written.count;
    WrittenList certain = {0};
    for (int i = first; i < middle; i++)
        if (coverage->written.data[i].is_box && !coverage->written.data[i].conditions.count)
            add_if_in_other(coverage, &coverage->written.data[i], middle, end, &certain);
    limit_written(coverage, first, middle, &holds);
    limit_written(coverage, middle, end, &fails);
    if (expr_reads_memory(condition))
        coverage->written.count = first;
    for (int i = 0; i < certain.count; i++)
        vec_push(ctx->arena, &coverage->written, certain.data[i]);
}

static void walk_loop(Visitor *visitor, const Stmt *stmt)
{
    Coverage *coverage = visitor->data;
    const ForStmt *loop = &stmt->as.loop;
    VarRange range = {loop->var, {loop->min, loop->extent}};
    int first = coverage->written.count;
    visit_expr(visitor, loop->min);
    visit_expr(visitor, loop->extent);
    facts_bind_stmt(coverage->an, stmt);
    visit_stmt(visitor, loop->body);
    if (expr_reads_memory(loop->min) || expr_reads_memory(loop->extent))
        coverage->written.count = first;
    leave_loop(coverage, first, range);
}

/* Forgets writes at places that VAR, which goes out of scope, decides. */
static void forget_var(Coverage *coverage, int first, const Var *var)
{
    int kept = first;
    for (int i = first; i < coverage->written.count; i++) {
        bool uses = false;
        for (int d = 0; d < coverage->ndim; d++)
            uses |= expr_uses_var(coverage->written.data[i].lo[d], var) || expr_uses_var(coverage->written.data[i].hi[d], var);
        for (int k = 0; k < coverage->written.data[i].all_conditions.count; k++)
            uses |= expr_uses_var(coverage->written.data[i].all_conditions.data[k], var);
        if (!uses)
            coverage->written.data[kept++] = coverage->written.data[i];
    }
    coverage->written.count = kept;
}

static void walk_let(Visitor *visitor, const Stmt *stmt)
{
    Coverage *coverage = visitor->data;
    int first = coverage->written.count;
    visit_expr(visitor, stmt->as.let.value);
    if (expr_reads_memory(stmt->as.let.value)) {
        visit_stmt(visitor, stmt->as.let.body);
        forget_var(coverage, first, stmt->as.let.var);
        return;
    }
    Subst subst = {0};
    subst_var(coverage->ctx, &subst, stmt->as.let.var, stmt->as.let.value);
    visit_stmt(visitor, subst_stmt(coverage->ctx, &subst, stmt->as.let.body));
}

static bool walk_stmt(Visitor *visitor, const Stmt *stmt)
{
    Coverage *coverage = visitor->data;
    int first = coverage->written.count;
    bool loop = stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE;
    if (loop && coverage->views.items.count == 1 && !stmt_uses_buffer(stmt, coverage->views.root))
        return false;
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count && !coverage->failed; i++)
            visit_stmt(visitor, stmt->as.seq.items[i]);
        return false;
    case STMT_FOR: walk_loop(visitor, stmt); return false;
    case STMT_BLOCK: walk_block(visitor, &stmt->as.block); return false;
    case STMT_LET: walk_let(visitor, stmt); return false;
    case STMT_IF: walk_if(visitor, stmt); return false;
    case STMT_WHILE:
        visit_stmt_children(visitor, stmt);
        coverage->written.count = first;
        return false;
    case STMT_DECL_BUFFER:
        coverage->failed |= views_find_data(&coverage->views, stmt->as.declare.buffer->data) != NULL;
        return !coverage->failed;
    case STMT_STORE: {
        visit_stmt_children(visitor, stmt);
        const View *view = views_find(&coverage->views, stmt->as.store.buffer);
        Range *ranges = view && !stmt->as.store.mask ? selected_ranges(coverage, view, stmt->as.store.indices) : NULL;
        if (ranges)
            add_written(coverage, ranges);
        return false;
    }
    default: return !coverage->failed;
    }
}

bool coverage_is_private(Analyzer *an, const Stmt *body, const Buffer *buffer)
{
    Context *ctx = analyzer_context(an);
    Coverage coverage = {.ctx = ctx, .an = an, .views = views_new(ctx, buffer), .ndim = buffer->ndim, .failed = stmt_has_jump(body)};
    Visitor visitor = {.expr = walk_expr, .stmt = walk_stmt, .data = &coverage};
    visit_stmt(&visitor, body);
    return !coverage.failed;
}
