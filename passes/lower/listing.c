/* Lowered listings: see listing.h.

     for i_0, i_1 in T.grid((n + 31) // 32, 32):           for i_outer, i_inner in T.grid((n + 31) // 32, 32):
         with T.block("B"):                                    if T.likely(i_outer * 32 + i_inner < n):
             vi = T.axis.spatial(n, i_0 * 32 + i_1)     ->         B_2 = T.Buffer((B_1.strides[0] * n,), data=B_1.data, buffer_type="auto")
             T.where(i_0 * 32 + i_1 < n)                           A_2 = T.Buffer((A_1.strides[0] * n,), data=A_1.data, buffer_type="auto")
             B[vi] = A[vi] + 1.0                                   B_2[(i_outer * 32 + i_inner) * B_1.strides[0]] = ...

   The passes of lowering that resolve init, axes, allocations and views run first; the rest is for people, so that nothing is optimized. */
#include "passes/lower/listing.h"

#include "passes/lower/memory/flat_form.h"

typedef struct {
    Context *ctx;
    const StageListing *stages;
    Map before_init; /* the loops that the schedule has */
} Listing;

/* --- names of loops --- */

static const Stmt *rename_loop(Rewriter *rewriter, const Stmt *stmt)
{
    Listing *listing = rewriter->data;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    Str name = stmt->kind == STMT_FOR && listing->stages ? map_get(&listing->stages->loop_names, stmt->as.loop.var) : NULL;
    if (!name)
        return result;
    Subst subst = {0};
    subst_var(rewriter->ctx, &subst, stmt->as.loop.var, expr_var(rewriter->ctx, var_clone(rewriter->ctx, stmt->as.loop.var, name)));
    return subst_stmt(rewriter->ctx, &subst, result);
}

static bool note_loop(Visitor *visitor, const Stmt *stmt)
{
    Listing *listing = visitor->data;
    if (stmt->kind == STMT_FOR)
        map_set(listing->ctx->arena, &listing->before_init, stmt->as.loop.var, stmt->as.loop.var);
    return true;
}

/* Loops that set where a reduction begins are named after those that it has. */
static const Stmt *rename_init(Rewriter *rewriter, const Stmt *stmt)
{
    Listing *listing = rewriter->data;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_FOR || map_has(&listing->before_init, stmt->as.loop.var))
        return result;
    Subst subst = {0};
    Str name = context_internf(rewriter->ctx, "%s_init", stmt->as.loop.var->name);
    subst_var(rewriter->ctx, &subst, stmt->as.loop.var, expr_var(rewriter->ctx, var_clone(rewriter->ctx, stmt->as.loop.var, name)));
    return subst_stmt(rewriter->ctx, &subst, result);
}

/* --- blocks, guards, threads --- */

static const Expr *likely(Context *ctx, const Expr *condition)
{
    return expr_call(ctx, condition->dtype, OP_LIKELY, &condition, 1, condition->span);
}

static const Stmt *guarded(Context *ctx, const Expr *condition, const Stmt *stmt)
{
    return stmt_if(ctx, condition, stmt, NULL, stmt->span);
}

static bool is_guard(const Stmt *stmt)
{
    return stmt->kind == STMT_IF && !stmt->as.branch.else_body && expr_is_call(stmt->as.branch.condition, OP_LIKELY);
}

typedef struct {
    Map loops; /* around, not bound to threads */
} Hoist;

/* LOOP under those guards of its whole body that do not depend on it: they stand below the innermost loop that they name. Guards of threads
   alone stay with the statement. */
static const Stmt *lift_guards(Rewriter *rewriter, const Stmt *loop)
{
    const Hoist *hoist = rewriter->data;
    Context *ctx = rewriter->ctx;
    ExprList out = {0}, in = {0};
    const Stmt *body = loop->as.loop.body;
    Map own = {0};
    map_set(ctx->arena, &own, loop->as.loop.var, loop->as.loop.var);
    for (; is_guard(body); body = body->as.branch.then_body) {
        const Expr *condition = body->as.branch.condition;
        bool lifts = loop->as.loop.kind != FOR_THREAD && !expr_uses_any(condition, &own) && expr_uses_any(condition, &hoist->loops) &&
                     !expr_reads_memory(condition);
        vec_push(ctx->arena, lifts ? &out : &in, condition);
    }
    if (!out.count)
        return loop;
    for (int i = in.count - 1; i >= 0; i--)
        body = guarded(ctx, in.data[i], body);
    const Stmt *result = stmt_with_body(ctx, loop, body);
    for (int i = out.count - 1; i >= 0; i--)
        result = guarded(ctx, out.data[i], result);
    return result;
}

static const Stmt *hoist_guards(Rewriter *rewriter, const Stmt *stmt)
{
    Hoist *hoist = rewriter->data;
    if (stmt->kind != STMT_FOR)
        return rewrite_stmt_children(rewriter, stmt);
    Map before = hoist->loops;
    if (stmt->as.loop.kind != FOR_THREAD) {
        Map with = {0};
        for (int i = 0; i < before.count; i++)
            map_set(rewriter->ctx->arena, &with, before.entries[i].key, before.entries[i].value);
        map_set(rewriter->ctx->arena, &with, stmt->as.loop.var, stmt->as.loop.var);
        hoist->loops = with;
    }
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    hoist->loops = before;
    return lift_guards(rewriter, result);
}

/* The predicate of each block in T.likely. */
static const Stmt *mark_predicate(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_BLOCK || expr_is_int(stmt->as.block.predicate, 1))
        return result;
    BlockStmt block = result->as.block;
    ExprList conjuncts = {0}, marked = {0};
    conjunction_split(rewriter->ctx, block.predicate, &conjuncts);
    for (int i = 0; i < conjuncts.count; i++)
        vec_push(rewriter->ctx->arena, &marked, likely(rewriter->ctx, conjuncts.data[i]));
    block.predicate = conjunction_join(rewriter->ctx, &marked);
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static void split_marked(Context *ctx, const Expr *condition, ExprList *list)
{
    if (condition->kind != EXPR_AND) {
        vec_push(ctx->arena, list, condition);
        return;
    }
    split_marked(ctx, condition->args[0], list);
    split_marked(ctx, condition->args[1], list);
}

/* A guard of several conditions as guards of one each. */
static const Stmt *split_guard(Context *ctx, const Stmt *stmt)
{
    ExprList list = {0};
    split_marked(ctx, stmt->as.branch.condition, &list);
    bool marked = !stmt->as.branch.else_body;
    for (int i = 0; i < list.count; i++)
        marked &= expr_is_call(list.data[i], OP_LIKELY);
    const Stmt *result = stmt->as.branch.then_body;
    for (int i = list.count - 1; marked && i >= 0; i--)
        result = guarded(ctx, list.data[i], result);
    return marked ? result : stmt;
}

static const Stmt *remove_blocks(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind == STMT_BLOCK)
        return rewrite_stmt(rewriter, stmt->as.block.body);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    return result->kind == STMT_IF ? split_guard(rewriter->ctx, result) : result;
}

/* --- declarations at the first use --- */

static const Stmt *declared(Context *ctx, Buffer *buffer, const Stmt *body)
{
    return stmt_new(ctx, &(Stmt){.kind = STMT_DECL_BUFFER, .span = body->span, .as.declare = {buffer, false, body}});
}

static const Stmt *declare_first(Context *ctx, const Stmt *stmt, Buffer *buffer);

/* BUFFER before the first item of STMT, a sequence, that uses it; inside of that where no other one does. */
static const Stmt *declare_in_seq(Context *ctx, const Stmt *stmt, Buffer *buffer)
{
    int first = -1, users = 0, count = stmt->as.seq.count;
    for (int i = 0; i < count; i++)
        if (stmt_uses_buffer(stmt->as.seq.items[i], buffer)) {
            first = first < 0 ? i : first;
            users++;
        }
    const Stmt **items = arena_copy(ctx->arena, stmt->as.seq.items, (size_t)count * sizeof *items);
    if (users == 1 && first < count - 1 && items[first]->kind == STMT_STORE)
        users = 2;
    if (users == 1) {
        items[first] = declare_first(ctx, items[first], buffer);
        return stmt_seq(ctx, items, count);
    }
    items[first] = declared(ctx, buffer, stmt_seq(ctx, items + first, count - first));
    return stmt_seq(ctx, items, first + 1);
}

/* The declaration of BUFFER in STMT, which alone uses it, as far inside as all uses see it. */
static const Stmt *declare_first(Context *ctx, const Stmt *stmt, Buffer *buffer)
{
    if (stmt->kind == STMT_SEQ)
        return declare_in_seq(ctx, stmt, buffer);
    if (stmt_itself_uses_buffer(stmt, buffer) || stmt->kind == STMT_STORE || stmt->kind == STMT_EVALUATE)
        return declared(ctx, buffer, stmt);
    if (stmt->kind == STMT_IF) {
        const Stmt *bodies[] = {stmt->as.branch.then_body, stmt->as.branch.else_body};
        bool used[] = {stmt_uses_buffer(bodies[0], buffer), bodies[1] && stmt_uses_buffer(bodies[1], buffer)};
        if (used[0] == used[1])
            return declared(ctx, buffer, stmt);
        bodies[used[1]] = declare_first(ctx, bodies[used[1]], buffer);
        return stmt_if(ctx, stmt->as.branch.condition, bodies[0], bodies[1], stmt->span);
    }
    const Stmt *body = stmt_body(stmt);
    return body && stmt->kind != STMT_WHILE ? stmt_with_body(ctx, stmt, declare_first(ctx, body, buffer)) : declared(ctx, buffer, stmt);
}

/* --- parameters --- */

static bool has_size_variable(const Buffer *buffer)
{
    bool any = false;
    for (int i = 0; i < buffer->ndim; i++)
        any |= buffer->shape[i]->kind == EXPR_VAR;
    return any;
}

/* BUFFER with strides that the caller gives. */
static Buffer *strided(Context *ctx, const Buffer *buffer)
{
    Buffer *result = buffer_clone(ctx, buffer);
    result->strides = ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim);
    for (int i = 0; i < buffer->ndim; i++)
        result->strides[i] = expr_var(ctx, var_new(ctx, context_intern(ctx, "stride"), buffer_index_dtype(buffer), buffer->span));
    result->auto_broadcast = true;
    return result;
}

/* The parameters as stages have them: named like their tensors, of any strides where a size is a variable. */
static const Func *with_stage_params(Context *ctx, const Func *func)
{
    Func *result = arena_copy(ctx->arena, func, sizeof *func);
    result->params = arena_copy(ctx->arena, func->params, (size_t)func->param_count * sizeof *func->params);
    Subst subst = {0};
    bool compact = false;
    for (int i = 0; i < func->param_count; i++)
        compact |= func->params[i].buffer && !expr_is_int(func->params[i].buffer->elem_offset, 0);
    for (int i = 0; i < func->param_count; i++) {
        Param *param = &result->params[i];
        if (!param->buffer)
            continue;
        param->param = var_clone(ctx, param->param, param->buffer->name);
        if (compact || param->buffer->strides || !has_size_variable(param->buffer))
            continue;
        Buffer *buffer = strided(ctx, param->buffer);
        subst_buffer(ctx, &subst, param->buffer, buffer);
        param->buffer = buffer;
    }
    const AttrValue *yes = attr_expr(ctx, expr_bool(ctx, true));
    Attrs attrs = attrs_set(ctx, (Attrs){0}, context_intern(ctx, "from_legacy_te_schedule"), yes);
    for (int i = 0; i < func->attrs.count; i++)
        attrs = attrs_set(ctx, attrs, func->attrs.entries[i].key, func->attrs.entries[i].value);
    result->attrs = attrs;
    result->body = subst_stmt(ctx, &subst, func->body);
    return result;
}

/* --- the listing --- */

static const Func *rewritten(Listing *listing, const Func *func, const Stmt *(*hook)(Rewriter *, const Stmt *), void *data)
{
    Rewriter rewriter = {.ctx = listing->ctx, .stmt = hook, .data = data};
    return func_with_body(listing->ctx, func, rewrite_stmt(&rewriter, func->body));
}

/* The passes that a listing shares with lowering; NULL after diagnostics. */
static const Func *without_axes(Listing *listing, const Module *module, const Func *func)
{
    static LowerFunction *const passes[] = {lower_init, lower_bindings, lower_layouts, lower_place, lower_compact, lower_match};
    LowerOptions options = {0};
    LowerState state = {listing->ctx, module, &options};
    int errors = diag_error_count(listing->ctx);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        func = passes[i](&state, func);
        if (diag_error_count(listing->ctx) > errors)
            return NULL;
        if (listing->stages && passes[i] == lower_init)
            func = rewritten(listing, func, mark_predicate, NULL);
    }
    return func;
}

/* --- vectors and copies of bodies --- */

typedef struct {
    const Var *loop;
    bool found;
} GuardSearch;

static bool note_guard(Visitor *visitor, const Stmt *stmt)
{
    GuardSearch *search = visitor->data;
    search->found |= stmt->kind == STMT_IF || stmt->kind == STMT_FOR || stmt->kind == STMT_ALLOCATE || stmt->kind == STMT_EVALUATE;
    return true;
}

/* A vectorized loop over more than stores is a plain one in listings, with _s behind its name. */
static const Stmt *guarded_vectors(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_FOR || stmt->as.loop.kind != FOR_VECTORIZED)
        return result;
    GuardSearch search = {stmt->as.loop.var, false};
    visit_stmt(&(Visitor){.stmt = note_guard, .data = &search}, result->as.loop.body);
    if (!search.found)
        return result;
    Context *ctx = rewriter->ctx;
    Var *var = var_clone(ctx, stmt->as.loop.var, context_internf(ctx, "%s_s", stmt->as.loop.var->name));
    Subst subst = {{0}, {0}};
    subst_var(ctx, &subst, stmt->as.loop.var, expr_var(ctx, var));
    return stmt_for_serial(ctx, var, result->as.loop.min, result->as.loop.extent, subst_stmt(ctx, &subst, result->as.loop.body), stmt->span);
}

static bool note_expanded(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_FOR && (stmt->as.loop.kind == FOR_VECTORIZED || stmt->as.loop.kind == FOR_UNROLLED);
    return true;
}

/* Vectorized loops as vectors, unrolled ones written out; NULL after diagnostics. */
static const Func *expanded(Listing *listing, const Module *module, const Func *func)
{
    static LowerFunction *const passes[] = {lower_vectorize, lower_unroll, lower_simplify};
    LowerOptions options = {0};
    LowerState state = {listing->ctx, module, &options};
    int errors = diag_error_count(listing->ctx);
    bool any = false;
    visit_stmt(&(Visitor){.stmt = note_expanded, .data = &any}, func->body);
    func = any ? rewritten(listing, func, guarded_vectors, NULL) : func;
    for (size_t i = any ? 0 : 2; i < sizeof passes / sizeof *passes; i++) {
        func = passes[i](&state, func);
        if (diag_error_count(listing->ctx) > errors)
            return NULL;
    }
    return func;
}

typedef struct {
    Context *ctx;
    Map known;
    VEC(Buffer *) order;
} Undeclared;

static void note_use(Undeclared *undeclared, Buffer *buffer)
{
    if (map_has(&undeclared->known, buffer))
        return;
    map_set(undeclared->ctx->arena, &undeclared->known, buffer, buffer);
    vec_push(undeclared->ctx->arena, &undeclared->order, buffer);
}

static bool note_store(Visitor *visitor, const Stmt *stmt)
{
    Undeclared *undeclared = visitor->data;
    if (stmt->kind == STMT_DECL_BUFFER)
        map_set(undeclared->ctx->arena, &undeclared->known, stmt->as.declare.buffer, stmt->as.declare.buffer);
    if (stmt->kind == STMT_STORE)
        note_use(undeclared, stmt->as.store.buffer);
    return true;
}

static bool note_load(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        note_use(visitor->data, expr->value.buffer);
    return true;
}

/* Declares the flat buffers, in the order of their first uses. Unrolled copies of an allocation have buffers of their own. */
static const Stmt *declare_flat(Context *ctx, const Func *func, const Stmt *body)
{
    Undeclared undeclared = {.ctx = ctx};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            map_set(ctx->arena, &undeclared.known, func->params[i].buffer, func->params[i].buffer);
    Visitor visitor = {.expr = note_load, .stmt = note_store, .data = &undeclared};
    visit_stmt(&visitor, body);
    for (int i = 0; i < undeclared.order.count; i++)
        body = declare_first(ctx, body, undeclared.order.data[i]);
    return body;
}

static const Func *flattened(Listing *listing, const Module *module, const Func *func)
{
    FlatBuffers flat = {.ctx = listing->ctx};
    func = func_with_body(listing->ctx, func, flat_accesses(&flat, func->body));
    if (listing->stages && !(func = expanded(listing, module, func)))
        return NULL;
    const Stmt *body = listing->stages ? listing_share(listing->ctx, func->body) : func->body;
    return func_with_body(listing->ctx, func, declare_flat(listing->ctx, func, body));
}

const Func *lower_listing(Context *ctx, const Module *module, const Func *func, const StageListing *stages)
{
    Listing listing = {.ctx = ctx, .stages = stages};
    Hoist hoist = {0};
    if (stages)
        func = with_stage_params(ctx, rewritten(&listing, func, rename_loop, &listing));
    Visitor visitor = {.stmt = note_loop, .data = &listing};
    visit_stmt(&visitor, func->body);
    func = without_axes(&listing, module, func);
    if (!func)
        return NULL;
    func = rewritten(&listing, func, remove_blocks, NULL);
    if (stages)
        func = rewritten(&listing, rewritten(&listing, func, rename_init, &listing), hoist_guards, &hoist);
    return flattened(&listing, module, func_with_body(ctx, func, launch_threads(ctx, func->body)));
}
