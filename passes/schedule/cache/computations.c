/* Finds what cache_index computes ahead; see cache_index.h.

   The stores of the block are taken apart from the top: the largest expressions that may be computed ahead count first. One that is computed too
   seldom gives its parts a chance. So of A[vi * 3 + 1, vi * 3 + 2] two larger computations are found, or twice vi * 3.

   What may be computed ahead: a value of the axes and of what is known where the block's scope begins. It reads no memory, and it has a value at
   each point of the axes' domains, for it is computed at all of them. */
#include "ir/walk.h"
#include "passes/schedule/cache/cache_index.h"
#include "passes/schedule/core/loops.h"

typedef struct {
    Schedule *sch;
    const BlockStmt *block;
    Map inside;   /* variables that the scope defines below itself: loops, lets, axes */
    Analyzer *an; /* knows the domains of the axes */
    Analyzer *plain; /* knows nothing */
    Computations list;
} Search;

/* --- What may be computed ahead --- */

static Var *note_definition(Rewriter *rewriter, Var *var)
{
    Map *inside = rewriter->data;
    map_set(rewriter->ctx->arena, inside, var, var);
    return var;
}

static bool find_inside(Visitor *visitor, const Expr *expr)
{
    Search *search = visitor->data;
    if (search && expr->kind == EXPR_VAR && map_has(&search->inside, expr->value.var))
        visitor->data = NULL;
    return visitor->data != NULL;
}

/* EXPR has a value where the scope begins. */
static bool is_known_outside(const Search *search, const Expr *expr)
{
    Visitor visitor = {.expr = find_inside, .data = (void *)search};
    visit_expr(&visitor, expr);
    return visitor.data != NULL;
}

/* VAR is an axis whose values can number the elements of a buffer. */
static bool is_usable_axis(const Search *search, const Var *var)
{
    for (int i = 0; i < search->block->iter_count; i++) {
        const Iter *iter = &search->block->iters[i];
        if (iter->var == var)
            return is_known_outside(search, iter->domain.min) && is_known_outside(search, iter->domain.extent) &&
                   analyzer_prove_at_least(search->an, iter->domain.min, 0);
    }
    return false;
}

typedef struct {
    const Search *search;
    bool uses_axis, unfit;
} Fitness;

static bool check_part(Visitor *visitor, const Expr *expr)
{
    Fitness *fitness = visitor->data;
    const Search *search = fitness->search;
    if (expr->kind == EXPR_VAR && is_usable_axis(search, expr->value.var))
        fitness->uses_axis = true;
    else if (expr->kind == EXPR_VAR)
        fitness->unfit |= map_has(&search->inside, expr->value.var);
    fitness->unfit |= expr->kind == EXPR_LET || expr->dtype.lanes != 1 || expr->dtype.code == DT_HANDLE;
    fitness->unfit |= expr_division_may_fail(expr) && !analyzer_prove_at_least(search->an, expr->args[1], 1);
    return !fitness->unfit;
}

static bool may_be_computed_ahead(const Search *search, const Expr *expr)
{
    if (expr->arg_count == 0 || expr->dtype.code == DT_VOID || !expr_is_pure(expr))
        return false;
    Fitness fitness = {search, false, false};
    Visitor visitor = {.expr = check_part, .data = &fitness};
    visit_expr(&visitor, expr);
    return fitness.uses_axis && !fitness.unfit;
}

/* --- The list --- */

static bool count_node(Visitor *visitor, const Expr *expr)
{
    (void)expr;
    ++*(int *)visitor->data;
    return true;
}

static int size_of(const Expr *expr)
{
    int size = 0;
    Visitor visitor = {.expr = count_node, .data = &size};
    visit_expr(&visitor, expr);
    return size;
}

static int find(const Computations *list, const Expr *expr, const Expr *simple)
{
    for (int i = 0; i < list->count; i++) {
        const Computation *known = &list->data[i];
        if (expr_equal(known->expr, expr) || (simple && known->simple && dtype_equal(simple->dtype, known->simple->dtype) && expr_equal(known->simple, simple)))
            return i;
    }
    return -1;
}

int computations_find(Context *ctx, const Computations *list, const Expr *expr, bool in_index)
{
    return find(list, expr, in_index && dtype_is_index(expr->dtype) ? analyzer_simplify(analyzer_new(ctx), expr) : NULL);
}

static void insert(Search *search, Computation computation, int at)
{
    vec_push(search->sch->ctx->arena, &search->list, computation);
    Computation *data = search->list.data;
    memmove(data + at + 1, data + at, sizeof *data * (size_t)(search->list.count - 1 - at));
    data[at] = computation;
}

/* Where what has SIZE nodes goes: behind all that is larger, and with LAST behind what is as large. */
static int place_for(const Search *search, int size, bool last)
{
    int at = 0;
    while (at < search->list.count && search->list.data[at].size >= size + !last)
        at++;
    return at;
}

typedef struct {
    int count; /* how often the expression is computed */
    bool in_index, last;
} Occurrence;

static void collect(Search *search, const Expr *expr, Occurrence where)
{
    if (expr->kind == EXPR_LET)
        return;
    if (!may_be_computed_ahead(search, expr)) {
        where.in_index |= expr->kind == EXPR_LOAD;
        for (int i = 0; i < expr->arg_count; i++)
            collect(search, expr->args[i], where);
        return;
    }
    bool index = where.in_index && dtype_is_index(expr->dtype);
    Computation found = {expr, index ? analyzer_simplify(search->plain, expr) : NULL, where.count, size_of(expr)};
    int known = find(&search->list, expr, found.simple);
    if (known >= 0)
        search->list.data[known].count += where.count;
    else
        insert(search, found, place_for(search, found.size, where.last));
}

static bool collect_store(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_STORE)
        collect(visitor->data, stmt->as.store.value, (Occurrence){1, false, true});
    return stmt->kind != STMT_BLOCK;
}

/* Gives the parts of what is computed less often than THRESHOLD a chance. */
static void keep_frequent(Search *search, int64_t threshold)
{
    for (int i = 0; i < search->list.count;) {
        Computation seldom = search->list.data[i];
        if (seldom.count >= threshold) {
            i++;
            continue;
        }
        memmove(search->list.data + i, search->list.data + i + 1, sizeof seldom * (size_t)(--search->list.count - i));
        for (int a = 0; a < seldom.expr->arg_count; a++)
            collect(search, seldom.expr->args[a], (Occurrence){seldom.count, seldom.simple != NULL, false});
    }
}

Computations computations_of_axes(Schedule *sch, const TreeNode *block, int64_t threshold)
{
    const TreeNode *scope = schedule_scope(sch, block);
    Search search = {.sch = sch, .block = node_block(block), .an = loops_context(sch, block), .plain = analyzer_new(sch->ctx)};
    Rewriter definitions = {.ctx = sch->ctx, .define_var = note_definition, .data = &search.inside};
    rewrite_stmt(&definitions, node_block(scope)->body);
    Visitor visitor = {.stmt = collect_store, .data = &search};
    if (search.block->init)
        visit_stmt(&visitor, search.block->init);
    visit_stmt(&visitor, search.block->body);
    keep_frequent(&search, threshold);
    return search.list;
}
