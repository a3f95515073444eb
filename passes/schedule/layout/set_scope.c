/* set_scope: where a buffer that a block allocates is stored.

   Before, set_scope(b, 0, "shared")        After
     B = T.alloc_buffer((128,))               B_shared = T.alloc_buffer((128,), scope="shared")

   Views of the buffer (match_buffer) follow. What must hold: a block allocates the buffer, and the scope is a known one. */
#include <string.h>

#include "ir/tags.h"
#include "ir/walk.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/storage.h"

bool check_storage_scope(Schedule *sch, const Value *argument)
{
    Str scope = argument->as.text;
    if (storage_scope_is_known(scope))
        return true;
    const char *near = storage_scope_near(scope);
    sched_refuse_argument(
        sch, argument, "\"%s\" is not a storage scope; %s%s%s", scope,
        near ? "did you mean \""
             : "\"global\", \"shared\", \"local\", \"warp\" are, each with any tag after it as in \"global.tile\"",
        near ? near : "", near ? "\"?" : "");
    diag_edit_string(sch->ctx, argument->span, near);
    return false;
}

Buffer *storage_copy(Context *ctx, const Buffer *buffer, Str scope)
{
    Str name = context_internf(ctx, "%s_%s", buffer->name, scope);
    return buffer_clone_fresh(ctx, buffer, name, *scope ? scope : context_intern(ctx, "global"));
}

static bool allocates(const TreeNode *block, const Buffer *buffer)
{
    for (int i = 0; i < node_block(block)->alloc_count; i++)
        if (node_block(block)->allocs[i] == buffer)
            return true;
    return false;
}

const TreeNode *check_allocation_site(Schedule *sch, const TreeNode *block, const Buffer *buffer)
{
    for (const TreeNode *up = block; up; up = schedule_scope(sch, up))
        if (allocates(up, buffer))
            return up;
    const Func *func = schedule_func(sch);
    const char *what = "a view of other memory";
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer)
            what = "a parameter of the function";
    sched_refuse(sch, "buffer '%s' is %s, and must be one that a block allocates", buffer->name, what);
    sched_note(sch, buffer->span.file ? buffer->span : block->stmt->span, "buffer '%s' is declared here", buffer->name);
    return NULL;
}

/* Collects the views of the buffer whose scope changes, so that they change too. */
typedef struct {
    Context *ctx;
    Subst subst; /* the buffer and its views, old to new */
    const Buffer *buffer;
    Str scope;
} ScopeChange;

static void change_view(ScopeChange *change, const Buffer *view, Var *data)
{
    Buffer *changed = storage_copy(change->ctx, view, change->scope);
    if (data)
        changed->data = data;
    subst_buffer(change->ctx, &change->subst, view, changed);
    subst_var(change->ctx, &change->subst, view->data, expr_var(change->ctx, changed->data));
}

static bool collect_views(Visitor *visitor, const Stmt *stmt)
{
    ScopeChange *change = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        if (map_has(&change->subst.buffers, stmt->as.block.matches[i].source.buffer))
            change_view(change, stmt->as.block.matches[i].target, NULL);
    if (stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer->data == change->buffer->data) {
        const Buffer *renamed = map_get(&change->subst.buffers, change->buffer);
        change_view(change, stmt->as.declare.buffer, renamed->data);
    }
    return true;
}

bool primitive_set_scope(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block ? query_buffer_index(sch, block, &args[1], true) : -1;
    if (index < 0)
        return false;
    const Buffer *buffer = node_block(block)->writes[index].buffer;
    Str scope = args[2].as.text;
    if (!strcmp(buffer->scope, scope))
        return true;
    if (!check_storage_scope(sch, &args[2]))
        return false;
    const TreeNode *site = check_allocation_site(sch, block, buffer);
    if (!site)
        return false;

    ScopeChange change = {.ctx = sch->ctx, .buffer = buffer, .scope = scope};
    change_view(&change, buffer, NULL);
    Visitor visitor = {.stmt = collect_views, .data = &change};
    visit_stmt(&visitor, site->stmt);
    sched_replace(sch, site->stmt, subst_stmt(sch->ctx, &change.subst, site->stmt));
    return true;
}
