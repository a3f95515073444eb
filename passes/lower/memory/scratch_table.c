/* See scratch.h. */
#include "passes/lower/memory/scratch.h"

#include "ir/fold.h"

typedef struct {
    ScratchTable *table;
    IndexVars vars;
    int order;
    ExprList guards;
    int branches; /* how many branches are around */
} ScratchFinder;

/* --- Conditions as functions of the element --- */
/* The loop within the life of SCRATCH whose variable ATOM is, or NULL. */
static const ForStmt *inner_loop(const ScratchTable *table, const Scratch *scratch, const Expr *atom)
{
    while (atom->kind == EXPR_CAST && atom->dtype.code == DT_INT && atom->args[0]->dtype.code == DT_INT &&
           atom->dtype.bits > atom->args[0]->dtype.bits)
        atom = atom->args[0];
    const ScratchLoop *loop = atom->kind == EXPR_VAR ? map_get(&table->loops, atom->value.var) : NULL;
    return loop && loop->constant && loop->order > scratch->order && expr_is_int(loop->loop->min, 0) ? loop->loop : NULL;
}

typedef struct {
    const ScratchTable *table;
    const Scratch *scratch;
    bool varies;
} Variation;

static bool find_variation(Visitor *visitor, const Expr *expr)
{
    Variation *variation = visitor->data;
    const ScratchLoop *loop = expr->kind == EXPR_VAR ? map_get(&variation->table->loops, expr->value.var) : NULL;
    variation->varies |= expr->kind == EXPR_VAR && map_has(&variation->table->lets, expr->value.var);
    variation->varies |= loop && loop->order > variation->scratch->order;
    return !variation->varies;
}

/* EXPR may change while the memory lives. */
static bool varies_within(const ScratchTable *table, const Scratch *scratch, const Expr *expr)
{
    Variation variation = {table, scratch, expr_reads_memory(expr)};
    Visitor visitor = {.expr = find_variation, .data = &variation};
    visit_expr(&visitor, expr);
    return variation.varies;
}

/* INDEX as a sum of multiples of variables of loops inside; false for another one, or where it leaves the memory. */
static bool element_sum(const ScratchTable *table, const Scratch *scratch, const Expr *index, LinearSum *sum)
{
    int64_t size = 0, last = 0;
    *sum = (LinearSum){0};
    if (!linear_sum_of(table->ctx, index, sum) || sum->constant != 0 || !expr_const_int(scratch->memory->as.allocate.extents[0], &size))
        return false;
    for (int i = 0; i < sum->terms.count; i++) {
        const LinearTerm *term = &sum->terms.data[i];
        const ForStmt *loop = inner_loop(table, scratch, term->atom);
        int64_t reach;
        if (!loop || term->coefficient < 0 ||
            __builtin_mul_overflow(loop->extent->value.integer - 1, term->coefficient, &reach) || __builtin_add_overflow(last, reach, &last))
            return false;
    }
    return last < size;
}

/* LESS - MORE as a sum that is negative exactly where the comparison CONDITION holds. */
static bool condition_sum(Context *ctx, const Expr *condition, LinearSum *sum)
{
    bool turned = condition->kind == EXPR_GT || condition->kind == EXPR_GE, strict = condition->kind == EXPR_LT || condition->kind == EXPR_GT;
    if (condition->kind != EXPR_LT && condition->kind != EXPR_LE && !turned)
        return false;
    const Expr *less = condition->args[turned], *more = condition->args[!turned];
    *sum = (LinearSum){0};
    if (less->dtype.code != DT_INT || !linear_sum_of(ctx, expr_binary(ctx, EXPR_SUB, less, more), sum))
        return false;
    return strict || !__builtin_sub_overflow(sum->constant, 1, &sum->constant);
}

/* The coefficient of the variable of LOOP in SUM; 0 where it has none. */
static int64_t coefficient_of(const ScratchTable *table, const Scratch *scratch, const LinearSum *sum, const ForStmt *loop)
{
    for (int i = 0; i < sum->terms.count; i++)
        if (inner_loop(table, scratch, sum->terms.data[i].atom) == loop)
            return sum->terms.data[i].coefficient;
    return 0;
}

/* The least coefficient, in the index ELEMENT, of the variables of CONDITION, the rest of which goes to *REST; 0 where one is not in it. */
static int64_t find_divisor(const ScratchTable *table, const Scratch *scratch, const LinearSum *element, const LinearSum *condition,
                            LinearSum *rest)
{
    int64_t divisor = INT64_MAX;
    rest->constant = condition->constant;
    for (int i = 0; i < condition->terms.count; i++) {
        const LinearTerm *term = &condition->terms.data[i];
        const ForStmt *loop = inner_loop(table, scratch, term->atom);
        int64_t coefficient = loop ? coefficient_of(table, scratch, element, loop) : 0;
        if (loop && coefficient)
            divisor = coefficient < divisor ? coefficient : divisor;
        else if (varies_within(table, scratch, term->atom))
            return 0;
        else
            vec_push(table->ctx->arena, &rest->terms, *term);
    }
    return divisor == INT64_MAX ? 0 : divisor;
}

/* Adds the term of ELEMENT at LOOP to what RESULT says: it is a part of the digit that CONDITION is about, or lies below or above. */
static bool add_digit(ElementCondition *result, int64_t coefficient, int64_t extent, int64_t scaled, int64_t *below)
{
    if (scaled) {
        if (coefficient % result->divisor || scaled % (coefficient / result->divisor))
            return false;
        int64_t scale = scaled / (coefficient / result->divisor);
        if (result->scale && result->scale != scale)
            return false;
        result->scale = scale;
    } else if (coefficient < result->divisor) {
        *below += coefficient * (extent - 1);
    } else if (coefficient > result->divisor) {
        result->limit = integer_gcd(result->limit, coefficient);
        return true;
    } else {
        return false;
    }
    result->most += coefficient * (extent - 1);
    return true;
}

static bool fits(const ElementCondition *condition)
{
    return !condition->limit || (condition->most < condition->limit && condition->limit % condition->divisor == 0);
}

/* CONDITION around the access of element INDEX, as a function of the element. */
static bool element_condition(const ScratchTable *table, const Scratch *scratch, const Expr *index, const Expr *condition,
                              ElementCondition *result)
{
    LinearSum element, sum;
    int64_t below = 0;
    *result = (ElementCondition){0};
    if (!element_sum(table, scratch, index, &element) || !condition_sum(table->ctx, condition, &sum))
        return false;
    result->divisor = find_divisor(table, scratch, &element, &sum, &result->rest);
    if (!result->divisor)
        return false;
    for (int i = 0; i < element.terms.count; i++) {
        const ForStmt *loop = inner_loop(table, scratch, element.terms.data[i].atom);
        if (!add_digit(result, element.terms.data[i].coefficient, loop->extent->value.integer, coefficient_of(table, scratch, &sum, loop), &below))
            return false;
    }
    return below < result->divisor && fits(result);
}

static bool same_rest(const LinearSum *a, const LinearSum *b)
{
    bool same = a->constant == b->constant && a->terms.count == b->terms.count;
    for (int i = 0; same && i < a->terms.count; i++) {
        bool found = false;
        for (int k = 0; k < b->terms.count; k++)
            found |= a->terms.data[i].coefficient == b->terms.data[k].coefficient && expr_equal(a->terms.data[i].atom, b->terms.data[k].atom);
        same = found;
    }
    return same;
}

static ElementCondition *find_condition(const Scratch *scratch, const ElementCondition *condition)
{
    for (int i = 0; i < scratch->conditions.count; i++) {
        ElementCondition *known = &scratch->conditions.data[i];
        if (known->divisor == condition->divisor && known->scale == condition->scale && same_rest(&known->rest, &condition->rest))
            return known;
    }
    return NULL;
}

bool scratch_excludes(const ScratchTable *table, const Scratch *scratch, const Expr *index, const Expr *condition)
{
    ElementCondition found;
    return element_condition(table, scratch, index, condition, &found) && find_condition(scratch, &found);
}

int scratch_life(const ScratchTable *table, const Buffer *buffer)
{
    const Scratch *memory = map_get(&table->memories, buffer->data);
    return memory ? memory->order : 0;
}

const Scratch *scratch_of_buffer(const ScratchTable *table, const Buffer *buffer)
{
    const Scratch *scratch = map_get(&table->memories, buffer->data);
    return scratch && !scratch->unfit ? scratch : NULL;
}

/* --- Finding memory --- */
/* Keeps of the conditions of SCRATCH those that also are around the access of INDEX. */
static void intersect(ScratchFinder *finder, Scratch *scratch, const Expr *index)
{
    Arena *arena = finder->table->ctx->arena;
    Scratch before = *scratch;
    memset(&scratch->conditions, 0, sizeof scratch->conditions);
    for (int i = scratch->guards; i < finder->guards.count; i++) {
        ElementCondition found;
        if (!element_condition(finder->table, scratch, index, finder->guards.data[i], &found) || find_condition(scratch, &found))
            continue;
        const ElementCondition *known = scratch->accesses ? find_condition(&before, &found) : &found;
        if (!known)
            continue;
        found.limit = integer_gcd(found.limit, known->limit);
        found.most = found.most > known->most ? found.most : known->most;
        if (fits(&found))
            vec_push(arena, &scratch->conditions, found);
    }
}

static void add_access(ScratchFinder *finder, const Buffer *buffer, const Expr *const *indices, int count, bool masked, bool writes)
{
    Scratch *scratch = map_get(&finder->table->memories, buffer->data);
    LinearSum element;
    if (!scratch || scratch->unfit)
        return;
    bool flat = buffer->ndim == 1 && count == 1 && !masked && !buffer->strides && expr_is_int(buffer->elem_offset, 0);
    if (!flat || !dtype_equal(buffer->dtype, scratch->memory->as.allocate.dtype) || indices[0]->dtype.lanes > 1 ||
        !element_sum(finder->table, scratch, indices[0], &element)) {
        scratch->unfit = true;
        return;
    }
    intersect(finder, scratch, indices[0]);
    scratch->accesses++;
    scratch->partly_written |= writes && finder->branches > scratch->branches;
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    ScratchFinder *finder = visitor->data;
    if (expr->kind == EXPR_LOAD)
        add_access(finder, expr->value.buffer, expr->args, load_index_count(expr), expr->predicated, false);
    Scratch *pointed = expr->kind == EXPR_VAR ? map_get(&finder->table->memories, expr->value.var) : NULL;
    if (pointed)
        pointed->unfit = true;
    if (expr->kind == EXPR_LET)
        map_set(finder->table->ctx->arena, &finder->table->lets, expr->value.var, expr->value.var);
    if (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD) {
        pointed = map_get(&finder->table->memories, expr->args[0]->value.buffer->data);
        if (pointed)
            pointed->unfit = true;
    }
    return true;
}

static void add_loop(ScratchFinder *finder, const ForStmt *loop)
{
    int64_t extent;
    ScratchLoop *entry = ARENA_NEW(finder->table->ctx->arena, ScratchLoop);
    *entry = (ScratchLoop){loop, ++finder->order, expr_const_int(loop->extent, &extent) && extent > 0};
    entry->constant &= loop->kind != FOR_PARALLEL && loop->kind != FOR_THREAD;
    map_set(finder->table->ctx->arena, &finder->table->loops, loop->var, entry);
}

static void add_memory(ScratchFinder *finder, const Stmt *stmt)
{
    int64_t size;
    bool constant = stmt->as.allocate.extent_count == 1 && expr_const_int(stmt->as.allocate.extents[0], &size);
    Scratch *scratch = ARENA_NEW(finder->table->ctx->arena, Scratch);
    *scratch = (Scratch){.memory = stmt, .order = ++finder->order, .guards = finder->guards.count,
                         .branches = finder->branches, .unfit = !constant};
    map_set(finder->table->ctx->arena, &finder->table->memories, stmt->as.allocate.var, scratch);
    finder->table->any |= constant;
}

static void find_under(Visitor *visitor, const Stmt *stmt)
{
    ScratchFinder *finder = visitor->data;
    int outer = finder->guards.count;
    visit_expr(visitor, stmt->as.branch.condition);
    ExprList parts = {0};
    conjunction_split(finder->table->ctx, stmt->as.branch.condition, &parts);
    for (int i = 0; i < parts.count; i++)
        if (is_index_expr(&finder->vars, parts.data[i]))
            vec_push(finder->table->ctx->arena, &finder->guards, parts.data[i]);
    finder->branches++;
    visit_stmt(visitor, stmt->as.branch.then_body);
    finder->guards.count = outer;
    if (stmt->as.branch.else_body)
        visit_stmt(visitor, stmt->as.branch.else_body);
    finder->branches--;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    ScratchFinder *finder = visitor->data;
    index_vars_add(finder->table->ctx, &finder->vars, stmt);
    facts_bind_stmt(finder->table->an, stmt);
    switch (stmt->kind) {
    case STMT_FOR: add_loop(finder, &stmt->as.loop); break;
    case STMT_ALLOCATE: add_memory(finder, stmt); break;
    case STMT_LET: map_set(finder->table->ctx->arena, &finder->table->lets, stmt->as.let.var, stmt->as.let.var); break;
    case STMT_STORE:
        add_access(finder, stmt->as.store.buffer, stmt->as.store.indices, stmt->as.store.index_count, stmt->as.store.mask != NULL,
                   true);
        break;
    case STMT_IF: find_under(visitor, stmt); return false;
    default: break;
    }
    return true;
}

static bool find_while(Visitor *visitor, const Stmt *stmt)
{
    bool *found = visitor->data;
    *found |= stmt->kind == STMT_WHILE;
    return !*found;
}

ScratchTable scratch_find(Context *ctx, const Func *func)
{
    ScratchTable table = {.ctx = ctx, .an = analyzer_new(ctx)};
    bool irregular = stmt_has_jump(func->body);
    Visitor visitor = {.stmt = find_while, .data = &irregular};
    visit_stmt(&visitor, func->body);
    if (irregular)
        return table;
    facts_bind_sizes(table.an, func);
    ScratchFinder finder = {.table = &table, .vars = index_vars_of_params(ctx, func)};
    visitor = (Visitor){.expr = find_in_expr, .stmt = find_in_stmt, .data = &finder};
    visit_stmt(&visitor, func->body);
    return table;
}
