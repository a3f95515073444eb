/* Planning a cache: the buffer, who writes and who reads it, and whether readers can turn to the copy. See cache.h; where the copy stands
   and what it copies is decided in cache_place.c, and cache_build.c makes the edit. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/schedule/cache/cache.h"

#include "ir/walk.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/core/storage.h"

/* --- Who is concerned --- */

static bool names_buffer(const BlockStmt *block, const Buffer *buffer)
{
    for (int i = 0; i < block->alloc_count; i++)
        if (block->allocs[i] == buffer)
            return true;
    for (int i = 0; i < block->match_count; i++)
        if (block->matches[i].target == buffer)
            return true;
    return false;
}

/* Nothing but declarations and lists of statements is between NODE and SCOPE: NODE runs once in it. */
static bool is_straight_in(Schedule *sch, const TreeNode *node, const TreeNode *scope)
{
    const TreeNode *up = schedule_parent(sch, node);
    while (up->stmt->kind == STMT_SEQ || up->stmt->kind == STMT_DECL_BUFFER || up->stmt->kind == STMT_ALLOCATE ||
           up->stmt->kind == STMT_ALLOCATE_CONST || up->stmt->kind == STMT_ATTR)
        up = schedule_parent(sch, up);
    return up == scope && !node->in_init;
}

/* The T.decl_buffer of BUFFER among the statements of SCOPE; NULL: there is none, or loops or conditions are around it. */
static const TreeNode *find_declaration(Schedule *sch, const TreeNode *scope, const Buffer *buffer)
{
    for (int i = schedule_node_index(sch, scope) + 1; i < scope->end; i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        if (node->stmt->kind == STMT_DECL_BUFFER && node->stmt->as.declare.buffer == buffer && is_straight_in(sch, node, scope))
            return node;
    }
    return NULL;
}

/* The buffer exists in all of the scope: it is a parameter, or the scope or a block around it makes it. Or a declaration in the scope makes
   it, behind which the copy can stand. */
static bool check_buffer_is_outside(Schedule *sch, CachePlan *plan)
{
    const Func *func = schedule_func(sch);
    const Buffer *buffer = plan->buffer;
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer)
            return true;
    for (const TreeNode *up = plan->scope; up; up = schedule_scope(sch, up))
        if (names_buffer(node_block(up), buffer))
            return true;
    if ((plan->declaration = find_declaration(sch, plan->scope, buffer)))
        return true;
    sched_refuse(sch, "buffer '%s' is declared inside of block '%s', which is to hold its copy", buffer->name, node_name(plan->scope));
    sched_note(sch, buffer->span.file ? buffer->span : plan->scope->stmt->span, "declared here");
    return false;
}

/* Looks for another buffer over the same memory, other than views of the buffer made inside of the blocks, which turn to the copy. */
typedef struct {
    const TreeNode *scope;
    const Buffer *buffer;
    Str alias; /* its name, or NULL */
    Map views; /* data variable of a view that the scope or a block around it makes -> the data variable of its source */
} AliasSearch;

static const Var *memory_around(const AliasSearch *search, const Var *data)
{
    for (const Var *source; (source = map_get(&search->views, data));)
        data = source;
    return data;
}

static void compare_memory(AliasSearch *search, const Buffer *used)
{
    if (used != search->buffer && memory_around(search, used->data) == memory_around(search, search->buffer->data))
        search->alias = used->name;
}

static bool find_alias_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        compare_memory(visitor->data, expr->value.buffer);
    AliasSearch *search = visitor->data;
    const Var *var = expr->kind == EXPR_VAR ? expr->value.var : search->buffer->data;
    if (var != search->buffer->data && memory_around(search, var) == memory_around(search, search->buffer->data))
        search->alias = var->name;
    return true;
}

static bool find_alias_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    const AliasSearch *search = visitor->data;
    if (stmt->kind == STMT_STORE)
        compare_memory(visitor->data, stmt->as.store.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && stmt != search->scope->stmt && i < stmt->as.block.match_count; i++)
        compare_memory(visitor->data, stmt->as.block.matches[i].source.buffer);
    return true;
}

static bool check_no_alias(Schedule *sch, const TreeNode *scope, const Buffer *buffer)
{
    AliasSearch search = {.scope = scope, .buffer = buffer};
    for (const TreeNode *up = scope; up; up = schedule_scope(sch, up))
        for (int i = 0; i < node_block(up)->match_count; i++)
            map_set(sch->ctx->arena, &search.views, node_block(up)->matches[i].target->data, node_block(up)->matches[i].source.buffer->data);
    Visitor visitor = {.expr = find_alias_in_expr, .stmt = find_alias_in_stmt, .data = &search};
    visit_stmt(&visitor, scope->stmt);
    return !search.alias ||
           sched_refuse(sch, "buffer '%s' shares its memory with buffer '%s', so a copy of one alone would miss what happens to the other",
                        buffer->name, search.alias);
}

/* Looks for what may write the buffer outside of the members: a store, a call that gets the address and may do anything. */
typedef struct {
    const Stmt *scope;
    const Buffer *buffer;
    Span at;
    bool found;
} OwnWriteSearch;

static bool is_element_address(const Expr *expr, const Buffer *buffer)
{
    return expr->kind == EXPR_CALL && expr->value.op == OP_ADDRESS_OF && expr->args[0]->kind == EXPR_LOAD &&
           expr->args[0]->value.buffer == buffer;
}

static bool find_address(Visitor *visitor, const Expr *expr)
{
    OwnWriteSearch *search = visitor->data;
    search->found |= expr_is_var(expr, search->buffer->data) || is_element_address(expr, search->buffer);
    return !search->found;
}

static bool find_own_call(Visitor *visitor, const Expr *expr)
{
    OwnWriteSearch *search = visitor->data;
    if (expr_is_opaque_call(expr) && expr->value.op != OP_ASSUME && !search->found) {
        Visitor args = {.expr = find_address, .data = search};
        visit_expr(&args, expr);
        search->at = expr->span;
    }
    return !search->found && expr->opaque;
}

static bool find_own_store(Visitor *visitor, const Stmt *stmt)
{
    OwnWriteSearch *search = visitor->data;
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer == search->buffer && !search->found) {
        search->found = true;
        search->at = stmt->span;
    }
    return !search->found && (stmt->kind != STMT_BLOCK || stmt == search->scope);
}

bool cache_scope_may_write(const TreeNode *scope, const Buffer *buffer, Span *at)
{
    OwnWriteSearch search = {.scope = scope->stmt, .buffer = buffer};
    Visitor visitor = {.expr = find_own_call, .stmt = find_own_store, .data = &search};
    visit_stmt(&visitor, scope->stmt);
    *at = search.at;
    return search.found;
}

static bool check_no_own_write(Schedule *sch, const CachePlan *plan)
{
    Span at;
    if (!cache_scope_may_write(plan->scope, plan->buffer, &at))
        return true;
    sched_refuse(sch, "a statement outside of the blocks writes '%s', or may: put it into a block that declares its writes",
                 plan->buffer->name);
    sched_note(sch, at, "this statement");
    return false;
}

/* The statements of the scope outside of its members whose own expressions read the buffer. */
static void find_strays(Schedule *sch, CachePlan *plan)
{
    VEC(const TreeNode *) strays = {0};
    int index = schedule_node_index(sch, plan->scope) + 1;
    while (index < plan->scope->end) {
        const TreeNode *node = schedule_node_at(sch, index);
        if (node->stmt->kind != STMT_BLOCK && stmt_itself_uses_buffer(node->stmt, plan->buffer))
            vec_push(sch->ctx->arena, &strays, node);
        index = node->stmt->kind == STMT_BLOCK ? node->end : index + 1;
    }
    plan->strays = strays.data;
    plan->stray_count = strays.count;
    plan->stray_redirected = ARENA_ARRAY(sch->ctx->arena, bool, strays.count);
}

bool cache_begin(Schedule *sch, CachePlan *plan, const TreeNode *block, const Buffer *buffer, const Value *storage)
{
    if (!check_storage_scope(sch, storage) || !check_block_has_scope(sch, block))
        return false;
    *plan = (CachePlan){.buffer = (Buffer *)buffer, .storage = storage->as.text, .scope = schedule_scope(sch, block)};
    if (!check_buffer_is_outside(sch, plan) || !check_no_alias(sch, plan->scope, buffer))
        return false;
    find_strays(sch, plan);
    return check_no_own_write(sch, plan);
}

/* FRAME lies in BLOCK, and a block with an init is around it, BLOCK or one inside of that. */
static bool is_initialized_in(const Frame *frame, const Block *block)
{
    for (; frame; frame = frame->outer) {
        if (frame->kind == FRAME_BLOCK && (frame->stmt->as.block.init || frame->stmt->as.block.block == block))
            return frame->stmt->as.block.init != NULL;
    }
    return false;
}

bool cache_block_reads(Schedule *sch, const TreeNode *node, const Buffer *buffer)
{
    const Func *func = schedule_func(sch);
    const Block *block = node_block(node)->block;
    AccessList accesses = access_collect_inside(sch->ctx, func, block);
    const Var *data = buffer_viewed(func, buffer)->data;
    for (int i = 0; i < accesses.count; i++)
        if (accesses.data[i].data == data && !accesses.data[i].write && !is_initialized_in(accesses.data[i].frame, block))
            return true;
    return false;
}

static bool refuse_fence(Schedule *sch, const Buffer *buffer, const Access *fence)
{
    sched_refuse(sch, "a call that may do anything may use '%s' while its elements are in the copy; a block with T.reads and T.writes says what it does",
                 buffer->name);
    sched_note(sch, fence->span, "the call is here");
    return false;
}

bool check_no_fence(Schedule *sch, const CachePlan *plan, const TreeNode *part)
{
    AccessList accesses = access_collect(sch->ctx, schedule_func(sch));
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        for (const Frame *frame = access->fence ? access->frame : NULL; frame; frame = frame->outer)
            if (frame->stmt == part->stmt)
                return refuse_fence(sch, plan->buffer, access);
    }
    return true;
}

/* The outermost statement that NODE lies in and that does not hold OTHER, nor is OTHER. */
static const TreeNode *part_beside(Schedule *sch, const TreeNode *node, const TreeNode *other)
{
    for (const TreeNode *up; !schedule_is_under(sch, other, node) && (up = schedule_parent(sch, node)) && !schedule_is_under(sch, other, up);)
        node = up;
    return node;
}

bool check_no_fence_between(Schedule *sch, const Buffer *buffer, bool reads, const TreeNode *first, const TreeNode *last, bool including)
{
    AccessList accesses = access_collect(sch->ctx, schedule_func(sch));
    const TreeNode *from = part_beside(sch, first, last), *to = part_beside(sch, last, first);
    int end = including ? to->end : schedule_node_index(sch, to);
    for (int i = 0; i < accesses.count; i++) {
        bool fence = accesses.data[i].fence && (reads || accesses.data[i].write);
        for (int n = schedule_node_index(sch, from); fence && n < end; n++) /* nodes lie in program order; copies of a statement may share it */
            if (schedule_node_at(sch, n)->stmt == accesses.data[i].stmt)
                return refuse_fence(sch, buffer, &accesses.data[i]);
    }
    return true;
}

bool check_inits_find_copy(Schedule *sch, const CachePlan *plan, const TreeNode *loop)
{
    for (const TreeNode *up = loop; up && up != plan->scope; up = schedule_parent(sch, up)) {
        int64_t extent;
        if (up->stmt->kind != STMT_FOR || (expr_const_int(node_loop(up)->extent, &extent) && extent > 0))
            continue;
        const Expr *size = node_loop(up)->extent, *some = op_compare(sch->ctx, EXPR_LT, expr_int(sch->ctx, size->dtype, 0), size);
        for (int i = 0; i < plan->user_count; i++) {
            const BlockStmt *block = node_block(plan->users[i]);
            if (!block->init || !block_binds_axis(block, false, node_loop(up)->var) || analyzer_prove_symbolic(loops_context(sch, up), some))
                continue;
            sched_refuse(sch, "loop '%s', over which block '%s' reduces, may have no iteration: its init would run, but no copy be made; decompose_reduction first",
                         node_loop(up)->var->name, node_name(plan->users[i]));
            sched_note(sch, plan->users[i]->stmt->span, "block '%s' is here", node_name(plan->users[i]));
            return false;
        }
    }
    return true;
}

bool cache_find_writer(Schedule *sch, CachePlan *plan)
{
    int count;
    const TreeNode **writers = scope_writers(sch, plan->scope, plan->buffer, &count);
    plan->writer = count ? writers[0] : NULL;
    if (count <= 1)
        return true;
    sched_refuse(sch, "buffer '%s' is written by %d blocks, and only one may write it", plan->buffer->name, count);
    for (int i = 0; i < count; i++)
        sched_note(sch, writers[i]->stmt->span, "block '%s' writes '%s'", node_name(writers[i]), plan->buffer->name);
    return false;
}

bool cache_listed_consumers(Schedule *sch, const CachePlan *plan, const Value *value, const TreeNode ***nodes, int *count)
{
    *count = 0;
    if (value->kind == VALUE_NONE)
        return true;
    *nodes = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, value->as.list->count);
    for (int i = 0; i < value->as.list->count; i++) {
        const TreeNode *node = schedule_block(sch, value->as.list->items[i].as.block);
        if (!node)
            return false;
        if (node->in_init || schedule_scope(sch, node) != plan->scope) {
            sched_refuse(sch, "consumer '%s' is not directly inside of block '%s', which is to hold the copy", node_name(node),
                         node_name(plan->scope));
            return sched_note_node(sch, node);
        }
        bool repeated = false;
        for (int j = 0; j < *count; j++)
            repeated |= (*nodes)[j] == node;
        if (!repeated)
            (*nodes)[(*count)++] = node;
    }
    return true;
}

/* --- Users --- */

/* The scope itself makes the buffer, so that nothing in it can be read but what its one writer wrote. */
static bool scope_allocates(const CachePlan *plan)
{
    const BlockStmt *scope = node_block(plan->scope);
    for (int i = 0; i < scope->alloc_count; i++)
        if (scope->allocs[i] == plan->buffer)
            return true;
    return false;
}

bool check_user_is_served(Schedule *sch, const CachePlan *plan, const TreeNode *user)
{
    bool late = user > plan->writer;
    Answer answer = late && !scope_allocates(plan) ? coverage_serves_reads(sch, plan->writer, plan->buffer, user) : answer_shown();
    if (late && answer_is_shown(answer))
        return true;
    if (user < plan->writer)
        sched_refuse(sch, "block '%s' would read the copy before block '%s' has written what it holds", node_name(user),
                     node_name(plan->writer));
    else
        sched_refuse(sch,
                     "block '%s' would read elements of '%s' that are not in the copy, since block '%s' does not write them before: %s",
                     node_name(user), plan->buffer->name, node_name(plan->writer), answer.text);
    return sched_note_node(sch, user);
}

/* --- Reads outside of the members: extents, conditions, statements in no block --- */

/* STRAY comes behind the writer and finds in the cache all that it, and what it encloses, reads. */
static bool stray_is_served(Schedule *sch, const CachePlan *plan, const TreeNode *stray)
{
    return stray > plan->writer &&
           (scope_allocates(plan) || answer_is_shown(coverage_serves_reads(sch, plan->writer, plan->buffer, stray)));
}

void cache_redirect_strays(Schedule *sch, CachePlan *plan)
{
    for (int i = 0; i < plan->stray_count && !plan->for_users; i++)
        /* nodes lie in program order */
        plan->stray_redirected[i] = !plan->writer || (plan->strays[i] >= plan->anchor && stray_is_served(sch, plan, plan->strays[i]));
}

bool check_strays_find_copy(Schedule *sch, CachePlan *plan)
{
    for (int i = 0; i < plan->stray_count; i++) {
        const TreeNode *stray = plan->strays[i];
        bool earlier = stray < plan->writer && !cache_shared_loop(sch, plan, stray), later = !plan->after && stray >= plan->anchor;
        plan->stray_redirected[i] = stray_is_served(sch, plan, stray);
        if (plan->stray_redirected[i] || earlier || later)
            continue;
        sched_refuse(sch, "a statement outside of the blocks reads '%s' where the copy may not have been made yet", plan->buffer->name);
        sched_note(sch, stray->stmt->span, "this statement");
        return false;
    }
    return true;
}

const TreeNode *cache_shared_loop(Schedule *sch, const CachePlan *plan, const TreeNode *node)
{
    for (const TreeNode *up = schedule_parent(sch, plan->writer); up != plan->scope; up = schedule_parent(sch, up)) {
        bool loops = (up->stmt->kind == STMT_FOR && !expr_is_int(node_loop(up)->extent, 1)) || up->stmt->kind == STMT_WHILE;
        if (loops && up != node && schedule_is_under(sch, node, up))
            return up;
    }
    return NULL;
}

/* --- Redirection --- */

/* Looks for uses of the buffer that cannot be redirected. */
typedef struct {
    Context *ctx;
    const CachePlan *plan;
    const Buffer *view;    /* a view in another storage scope */
    const Buffer *strided; /* a view that states other strides than the copy has */
    bool pointer;       /* the address is used */
    bool element;       /* the address of an element is used */
} UseSearch;

static bool find_pointer(Visitor *visitor, const Expr *expr)
{
    UseSearch *search = visitor->data;
    search->pointer |= expr_is_var(expr, search->plan->buffer->data);
    search->element |= is_element_address(expr, search->plan->buffer);
    return true;
}

/* Elements that differ in the dimensions from FIRST on lie as far apart in the copy, which is compact, as in the buffer. */
static bool copy_keeps_strides(Context *ctx, const CachePlan *plan, int first)
{
    const Buffer *buffer = plan->buffer;
    const Expr *stride = expr_int(ctx, buffer_index_dtype(buffer), 1);
    for (int d = buffer->ndim - 1; d >= first; d--) {
        if ((buffer->strides && !expr_equal(buffer->strides[d], stride)) || (d > first && !plan->whole[d]))
            return false;
        stride = op_mul(ctx, buffer->shape[d], stride);
    }
    return true;
}

static bool find_view(Visitor *visitor, const Stmt *stmt)
{
    UseSearch *search = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        const MatchBuffer *match = &stmt->as.block.matches[i];
        if (match->source.buffer != search->plan->buffer)
            continue;
        if (match->target->scope != search->plan->cache->scope)
            search->view = match->target;
        int first = match->source.buffer->ndim - match->target->ndim, last = match->target->ndim - 1;
        for (int d = 0; match->target->strides && first >= 0 && d <= last; d++) {
            const Expr *stride = match->target->strides[d];
            if (stride->kind == EXPR_INT && (d == last ? !expr_is_int(stride, 1) : !copy_keeps_strides(search->ctx, search->plan, first)))
                search->strided = match->target;
        }
    }
    return true;
}

bool check_users_can_redirect(Schedule *sch, const CachePlan *plan)
{
    for (int i = 0; i < plan->user_count; i++) {
        UseSearch search = {.ctx = sch->ctx, .plan = plan};
        Visitor visitor = {.expr = find_pointer, .stmt = find_view, .data = &search};
        visit_stmt(&visitor, plan->users[i]->stmt);
        if (search.view)
            sched_refuse(sch, "block '%s' views '%s' through '%s', which says that it lies in \"%s\", not in \"%s\"",
                         node_name(plan->users[i]), plan->buffer->name, search.view->name, search.view->scope, plan->storage);
        else if (search.strided)
            sched_refuse(sch, "block '%s' views '%s' through '%s', which states its strides, and the copy would have others",
                         node_name(plan->users[i]), plan->buffer->name, search.strided->name);
        else if (search.pointer && plan->part)
            sched_refuse(sch, "block '%s' uses the address of '%s', of which the copy would hold just a part", node_name(plan->users[i]),
                         plan->buffer->name);
        else if ((search.pointer || search.element) && !copy_keeps_strides(sch->ctx, plan, 0))
            sched_refuse(sch, "block '%s' uses the address of '%s', whose elements would lie otherwise in the copy, which is compact",
                         node_name(plan->users[i]), plan->buffer->name);
        else if (search.pointer && !expr_is_int(plan->buffer->elem_offset, 0))
            sched_refuse(sch, "block '%s' uses the address of '%s', where the buffer begins at an offset and the copy would at none",
                         node_name(plan->users[i]), plan->buffer->name);
        else
            continue;
        return sched_note_node(sch, plan->users[i]);
    }
    return true;
}
