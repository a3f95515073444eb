/* Structural equality of statements, functions and modules, up to a consistent renaming of the symbols bound inside; see equal.h. Compared
   are two trees read at once: a definition on one side is paired with the one at the same place on the other, and uses must respect the
   pairs both ways. Not compared: names of variables and buffers, places, how a parameter or buffer was declared (handle or T.Buffer,
   decl_buffer or T.Buffer), whether regions were stated or inferred, the name of a module and its intrinsics. Attributes and functions are
   compared by key and by name, in any order. */
#include <string.h>

#include "verify/equal.h"

#include "ir/walk.h"

#include "print/print.h"
#include "support/bug.h"

typedef struct {
    Context *ctx;
    Map forward, backward; /* symbols of the left side to their partners on the right, and back */
    const char *function, *block; /* where we are, for messages; NULL outside */
    const char **why;
    bool quiet; /* a reason is not wanted, or was given already */
} Comparison;

static bool differ(Comparison *comparison, const char *what)
{
    if (comparison->quiet)
        return false;
    comparison->quiet = true;
    const char *function = comparison->function, *block = comparison->block;
    *comparison->why = arena_printf(comparison->ctx->arena, "%s%s%s%s%s%s%s", function ? "function '" : "", function ? function : "",
                                    function ? "': " : "", block ? "block '" : "", block ? block : "", block ? "': " : "", what);
    return false;
}

static bool differ_exprs(Comparison *comparison, const char *what, const Expr *a, const Expr *b)
{
    Context *ctx = comparison->ctx;
    if (comparison->quiet)
        return false;
    const char *x = print_expr(ctx, a), *y = print_expr(ctx, b);
    const char *a_type = "", *b_type = "";
    if (!strcmp(x, y)) {
        a_type = context_internf(ctx, " of type %s", dtype_name(ctx, a->dtype));
        b_type = context_internf(ctx, " of type %s", dtype_name(ctx, b->dtype));
    }
    return differ(comparison, arena_printf(ctx->arena, "%s: %s%s and %s%s", what, x, a_type, y, b_type));
}

static void pair(Comparison *comparison, const void *a, const void *b)
{
    map_set(comparison->ctx->arena, &comparison->forward, a, (void *)b);
    map_set(comparison->ctx->arena, &comparison->backward, b, (void *)a);
}

static bool is_paired(const Comparison *comparison, const void *a, const void *b)
{
    return map_has(&comparison->forward, a) || map_has(&comparison->backward, b);
}

/* Uses of A and B mean the same symbol: partners, or one symbol that is bound outside. */
static bool same_symbol(const Comparison *comparison, const void *a, const void *b)
{
    if (!is_paired(comparison, a, b))
        return a == b;
    return map_get(&comparison->forward, a) == b && map_get(&comparison->backward, b) == a;
}

static bool equal_scopes(Str a, Str b)
{
    return !strcmp(a && *a ? a : "global", b && *b ? b : "global");
}

/* Definitions of variables at the same place. */
static bool define_vars(Comparison *comparison, const Var *a, const Var *b)
{
    if (!dtype_equal(a->dtype, b->dtype) || !dtype_equal(a->pointee, b->pointee) ||
        (a->pointee.code != DT_VOID && !equal_scopes(a->pointee_scope, b->pointee_scope)))
        return differ(comparison, arena_printf(comparison->ctx->arena, "variables '%s' and '%s' have other types", a->name, b->name));
    pair(comparison, a, b);
    return true;
}

/* --- expressions --- */

static bool equal_expr(Comparison *comparison, const Expr *a, const Expr *b);

static bool equal_payload(const Comparison *comparison, const Expr *a, const Expr *b)
{
    switch ((ExprKind)a->kind) {
    case EXPR_VAR: return same_symbol(comparison, a->value.var, b->value.var);
    case EXPR_LOAD: return same_symbol(comparison, a->value.buffer, b->value.buffer);
    case EXPR_INT: return a->value.integer == b->value.integer;
    case EXPR_FLOAT: return !memcmp(&a->value.real, &b->value.real, sizeof a->value.real);
    case EXPR_STRING: return !strcmp(a->value.text, b->value.text);
    case EXPR_CALL: return a->value.op == b->value.op;
    case EXPR_SHUFFLE: return a->value.split == b->value.split;
    default: return true;
    }
}

static bool equal_expr(Comparison *comparison, const Expr *a, const Expr *b)
{
    if (a->kind != b->kind || !dtype_equal(a->dtype, b->dtype) || a->arg_count != b->arg_count || a->predicated != b->predicated ||
        !equal_payload(comparison, a, b))
        return false;
    int first = 0;
    if (a->kind == EXPR_LET) {
        if (!equal_expr(comparison, a->args[0], b->args[0]) || !dtype_equal(a->value.var->dtype, b->value.var->dtype))
            return false;
        pair(comparison, a->value.var, b->value.var);
        first = 1;
    }
    for (int i = first; i < a->arg_count; i++)
        if (!equal_expr(comparison, a->args[i], b->args[i]))
            return false;
    return true;
}

static bool same_expr(Comparison *comparison, const char *what, const Expr *a, const Expr *b)
{
    return equal_expr(comparison, a, b) || differ_exprs(comparison, what, a, b);
}

static bool same_exprs(Comparison *comparison, const char *what, const Expr *const *a, int a_count, const Expr *const *b, int b_count)
{
    if (a_count != b_count)
        return differ(comparison, arena_printf(comparison->ctx->arena, "%s: %d and %d of them", what, a_count, b_count));
    for (int i = 0; i < a_count; i++)
        if (!same_expr(comparison, what, a[i], b[i]))
            return false;
    return true;
}

static bool same_count(Comparison *comparison, const char *what, int a, int b)
{
    return a == b || differ(comparison, arena_printf(comparison->ctx->arena, "%s: %d and %d of them", what, a, b));
}

static bool same_text(Comparison *comparison, const char *what, const char *a, const char *b)
{
    if ((!a && !b) || (a && b && !strcmp(a, b)))
        return true;
    return differ(comparison, arena_printf(comparison->ctx->arena, "%s: '%s' and '%s'", what, a ? a : "", b ? b : ""));
}

static bool same_region(Comparison *comparison, const char *what, const Region *a, const Region *b)
{
    bool same = same_symbol(comparison, a->buffer, b->buffer) && a->buffer->ndim == b->buffer->ndim;
    for (int i = 0; same && i < a->buffer->ndim; i++)
        same =
            equal_expr(comparison, a->ranges[i].min, b->ranges[i].min) && equal_expr(comparison, a->ranges[i].extent, b->ranges[i].extent);
    if (same || comparison->quiet)
        return same;
    Context *ctx = comparison->ctx;
    return differ(comparison, arena_printf(ctx->arena, "%s: %s and %s", what, print_region(ctx, a), print_region(ctx, b)));
}

static bool same_regions(Comparison *comparison, const char *what, const Region *a, int a_count, const Region *b, int b_count)
{
    if (!same_count(comparison, what, a_count, b_count))
        return false;
    for (int i = 0; i < a_count; i++)
        if (!same_region(comparison, what, &a[i], &b[i]))
            return false;
    return true;
}

/* --- attributes --- */

static bool same_attrs(Comparison *comparison, const char *what, Attrs a, Attrs b);

static bool same_attr_value(Comparison *comparison, const char *what, const AttrValue *a, const AttrValue *b)
{
    if (a->kind != b->kind)
        return differ(comparison, arena_printf(comparison->ctx->arena, "%s: values of other kinds", what));
    switch (a->kind) {
    case ATTR_NONE: return true;
    case ATTR_TEXT: return a->text == b->text || differ(comparison, arena_printf(comparison->ctx->arena, "%s: other text", what));
    case ATTR_BUFFER:
        return same_symbol(comparison, a->buffer, b->buffer) ||
               differ(comparison, arena_printf(comparison->ctx->arena, "%s: other buffers", what));
    case ATTR_EXPR:
        if (a->untyped != b->untyped && a->expr->dtype.code != DT_BOOL)
            return differ(comparison, arena_printf(comparison->ctx->arena, "%s: a number with a type and one without", what));
        return same_expr(comparison, what, a->expr, b->expr);
    case ATTR_DICT: return same_attrs(comparison, what, (Attrs){a->entries, a->count}, (Attrs){b->entries, b->count});
    case ATTR_LIST:
        if (!same_count(comparison, what, a->count, b->count))
            return false;
        for (int i = 0; i < a->count; i++)
            if (!same_attr_value(comparison, what, a->items[i], b->items[i]))
                return false;
        return true;
    }
    return false;
}

static bool same_attrs(Comparison *comparison, const char *what, Attrs a, Attrs b)
{
    if (!same_count(comparison, what, a.count, b.count))
        return false;
    for (int i = 0; i < a.count; i++) {
        const AttrValue *partner = attrs_get(b, a.entries[i].key);
        if (!partner)
            return differ(comparison, arena_printf(comparison->ctx->arena, "%s: '%s' is on one side only", what, a.entries[i].key));
        if (!same_attr_value(comparison, a.entries[i].key, a.entries[i].value, partner))
            return false;
    }
    return true;
}

/* --- buffers --- */

/* Pairs the variables that A and B are, where neither is known yet: a declaration defines them. */
static void pair_if_new(Comparison *comparison, const Expr *a, const Expr *b)
{
    if (a->kind == EXPR_VAR && b->kind == EXPR_VAR && dtype_equal(a->dtype, b->dtype) && !is_paired(comparison, a->value.var, b->value.var))
        pair(comparison, a->value.var, b->value.var);
}

/* Pairs the buffers and the variables that their declarations define. */
static void define_buffers(Comparison *comparison, const Buffer *a, const Buffer *b)
{
    pair(comparison, a, b);
    for (int i = 0; i < a->ndim && i < b->ndim; i++) {
        pair_if_new(comparison, a->shape[i], b->shape[i]);
        if (a->strides && b->strides)
            pair_if_new(comparison, a->strides[i], b->strides[i]);
    }
    pair_if_new(comparison, a->elem_offset, b->elem_offset);
    if (!is_paired(comparison, a->data, b->data))
        pair(comparison, a->data, b->data);
}

static bool same_offset(Comparison *comparison, const Buffer *a, const Buffer *b)
{
    int a_factor = a->offset_factor > 1 ? a->offset_factor : 1, b_factor = b->offset_factor > 1 ? b->offset_factor : 1;
    bool both_zero = expr_is_int(a->elem_offset, 0) && expr_is_int(b->elem_offset, 0);
    return a_factor == b_factor && (both_zero || equal_expr(comparison, a->elem_offset, b->elem_offset));
}

static bool same_layout(Comparison *comparison, const Buffer *a, const Buffer *b)
{
    if (!dtype_equal(a->dtype, b->dtype) || a->ndim != b->ndim || !a->strides != !b->strides || a->data_alignment != b->data_alignment ||
        a->auto_broadcast != b->auto_broadcast || a->axis_separator_count != b->axis_separator_count || !equal_scopes(a->scope, b->scope))
        return false;
    for (int i = 0; i < a->axis_separator_count; i++)
        if (a->axis_separators[i] != b->axis_separators[i])
            return false;
    for (int i = 0; i < a->ndim; i++)
        if (!equal_expr(comparison, a->shape[i], b->shape[i]) || (a->strides && !equal_expr(comparison, a->strides[i], b->strides[i])))
            return false;
    return same_offset(comparison, a, b) && same_symbol(comparison, a->data, b->data);
}

static bool same_buffers(Comparison *comparison, const Buffer *a, const Buffer *b)
{
    return same_layout(comparison, a, b) ||
           differ(comparison, arena_printf(comparison->ctx->arena, "buffers '%s' and '%s' are declared differently", a->name, b->name));
}

static bool define_same_buffers(Comparison *comparison, const Buffer *a, const Buffer *b)
{
    define_buffers(comparison, a, b);
    return same_buffers(comparison, a, b);
}

/* --- statements --- */

static bool same_stmt(Comparison *comparison, const Stmt *a, const Stmt *b);

static bool same_loop(Comparison *comparison, const ForStmt *a, const ForStmt *b)
{
    if (a->kind != b->kind)
        return differ(comparison,
                      arena_printf(comparison->ctx->arena, "loops '%s' and '%s' are of other kinds", a->var->name, b->var->name));
    if (a->launch != b->launch)
        return differ(comparison, arena_printf(comparison->ctx->arena, "only one of the loops '%s' and '%s' is a launch", a->var->name, b->var->name));
    return same_expr(comparison, "start of a loop", a->min, b->min) && same_expr(comparison, "extent of a loop", a->extent, b->extent) &&
           same_text(comparison, "thread of a loop", a->thread, b->thread) &&
           same_attrs(comparison, "annotations of a loop", a->annotations, b->annotations) &&
           ((a->launch && same_symbol(comparison, a->var, b->var)) || define_vars(comparison, a->var, b->var)) &&
           same_stmt(comparison, a->body, b->body);
}

static bool same_iters(Comparison *comparison, const BlockStmt *a, const BlockStmt *b)
{
    if (!same_exprs(comparison, "bindings", a->bindings, a->iter_count, b->bindings, b->iter_count))
        return false;
    for (int i = 0; i < a->iter_count; i++) {
        const Iter *x = &a->iters[i], *y = &b->iters[i];
        if (x->kind != y->kind)
            return differ(comparison,
                          arena_printf(comparison->ctx->arena, "axes '%s' and '%s' are of other kinds", x->var->name, y->var->name));
        if (!same_expr(comparison, "start of an axis", x->domain.min, y->domain.min) ||
            !same_expr(comparison, "extent of an axis", x->domain.extent, y->domain.extent))
            return false;
    }
    for (int i = 0; i < a->iter_count; i++)
        if (!define_vars(comparison, a->iters[i].var, b->iters[i].var))
            return false;
    return true;
}

static bool same_block_buffers(Comparison *comparison, const BlockStmt *a, const BlockStmt *b)
{
    if (!same_count(comparison, "allocated buffers", a->alloc_count, b->alloc_count) ||
        !same_count(comparison, "matched buffers", a->match_count, b->match_count))
        return false;
    for (int i = 0; i < a->alloc_count; i++)
        if (!define_same_buffers(comparison, a->allocs[i], b->allocs[i]))
            return false;
    for (int i = 0; i < a->match_count; i++)
        define_buffers(comparison, a->matches[i].target, b->matches[i].target);
    for (int i = 0; i < a->match_count; i++)
        if (!same_region(comparison, "region of a matched buffer", &a->matches[i].source, &b->matches[i].source) ||
            !same_buffers(comparison, a->matches[i].target, b->matches[i].target))
            return false;
    return true;
}

/* Blocks that only group others state the same. */
static bool same_block_regions(Comparison *comparison, const BlockStmt *a, const BlockStmt *b)
{
    return (block_only_groups(a) && block_only_groups(b)) ||
           (same_regions(comparison, "reads", a->reads, a->read_count, b->reads, b->read_count) &&
            same_regions(comparison, "writes", a->writes, a->write_count, b->writes, b->write_count));
}

/* Matched buffers come first: regions may mention the variables that they define. */
static bool same_block_parts(Comparison *comparison, const BlockStmt *a, const BlockStmt *b)
{
    if (!same_iters(comparison, a, b) || !same_block_buffers(comparison, a, b) || !same_block_regions(comparison, a, b) ||
        !same_attrs(comparison, "annotations of the block", a->annotations, b->annotations))
        return false;
    if (!a->init != !b->init)
        return differ(comparison, "only one side has an init");
    return (!a->init || same_stmt(comparison, a->init, b->init)) && same_stmt(comparison, a->body, b->body);
}

static bool same_block(Comparison *comparison, const BlockStmt *a, const BlockStmt *b)
{
    if (!same_text(comparison, "name of a block", a->block->name, b->block->name) ||
        !same_expr(comparison, "predicate of a block", a->predicate, b->predicate))
        return false;
    const char *outer = comparison->block;
    comparison->block = a->block->name;
    pair(comparison, a->block, b->block);
    bool same = same_block_parts(comparison, a, b);
    comparison->block = outer;
    return same;
}

static bool same_store(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    const Expr *x = a->as.store.mask, *y = b->as.store.mask;
    if (!same_symbol(comparison, a->as.store.buffer, b->as.store.buffer))
        return differ(comparison, arena_printf(comparison->ctx->arena, "stores to other buffers: '%s' and '%s'", a->as.store.buffer->name,
                                               b->as.store.buffer->name));
    if (!x != !y)
        return differ(comparison, "only one of two stores has a mask");
    return same_exprs(comparison, "indices of a store", a->as.store.indices, a->as.store.index_count, b->as.store.indices,
                      b->as.store.index_count) &&
           same_expr(comparison, "stored value", a->as.store.value, b->as.store.value) &&
           (!x || same_expr(comparison, "mask of a store", x, y));
}

static bool same_allocate(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    if (!dtype_equal(a->as.allocate.dtype, b->as.allocate.dtype) || !equal_scopes(a->as.allocate.scope, b->as.allocate.scope))
        return differ(comparison, "allocations of other types or scopes");
    pair(comparison, a->as.allocate.var, b->as.allocate.var);
    return same_exprs(comparison, "extents of an allocation", a->as.allocate.extents, a->as.allocate.extent_count, b->as.allocate.extents,
                      b->as.allocate.extent_count) &&
           same_expr(comparison, "condition of an allocation", a->as.allocate.condition, b->as.allocate.condition) &&
           same_attrs(comparison, "annotations of an allocation", a->as.allocate.annotations, b->as.allocate.annotations);
}

static bool same_allocate_const(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    if (!dtype_equal(a->as.allocate_const.dtype, b->as.allocate_const.dtype))
        return differ(comparison, "constants of other types");
    pair(comparison, a->as.allocate_const.var, b->as.allocate_const.var);
    return same_exprs(comparison, "extents of a constant", a->as.allocate_const.extents, a->as.allocate_const.extent_count,
                      b->as.allocate_const.extents, b->as.allocate_const.extent_count) &&
           same_exprs(comparison, "elements of a constant", a->as.allocate_const.data, a->as.allocate_const.data_count,
                      b->as.allocate_const.data, b->as.allocate_const.data_count) &&
           same_attrs(comparison, "annotations of a constant", a->as.allocate_const.annotations, b->as.allocate_const.annotations);
}

static bool same_attr(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    return same_text(comparison, "key of an attribute", a->as.attr.key, b->as.attr.key) &&
           same_expr(comparison, "value of an attribute", a->as.attr.value, b->as.attr.value) &&
           same_expr(comparison, "node of an attribute", a->as.attr.node, b->as.attr.node);
}

static bool same_seq(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    if (!same_count(comparison, "statements in sequence", a->as.seq.count, b->as.seq.count))
        return false;
    for (int i = 0; i < a->as.seq.count; i++)
        if (!same_stmt(comparison, a->as.seq.items[i], b->as.seq.items[i]))
            return false;
    return true;
}

static bool same_branch(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    const Stmt *x = a->as.branch.else_body, *y = b->as.branch.else_body;
    if (!same_expr(comparison, "condition", a->as.branch.condition, b->as.branch.condition) ||
        !same_stmt(comparison, a->as.branch.then_body, b->as.branch.then_body))
        return false;
    return !x == !y ? !x || same_stmt(comparison, x, y) : differ(comparison, "only one side has an else");
}

/* Everything of a statement with one body but that body. */
static bool same_head(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    switch (a->kind) {
    case STMT_WHILE: return same_expr(comparison, "condition", a->as.while_loop.condition, b->as.while_loop.condition);
    case STMT_LET:
        return same_expr(comparison, "value of a let", a->as.let.value, b->as.let.value) &&
               define_vars(comparison, a->as.let.var, b->as.let.var);
    case STMT_ALLOCATE: return same_allocate(comparison, a, b);
    case STMT_ALLOCATE_CONST: return same_allocate_const(comparison, a, b);
    case STMT_DECL_BUFFER: return define_same_buffers(comparison, a->as.declare.buffer, b->as.declare.buffer);
    case STMT_ATTR: return same_attr(comparison, a, b);
    case STMT_ASSERT:
        return same_expr(comparison, "condition", a->as.assertion.condition, b->as.assertion.condition) &&
               same_expr(comparison, "message", a->as.assertion.message, b->as.assertion.message);
    case STMT_REALIZE:
        return same_region(comparison, "realized region", &a->as.realize.region, &b->as.realize.region) &&
               same_text(comparison, "scope", a->as.realize.scope, b->as.realize.scope) &&
               same_expr(comparison, "condition", a->as.realize.condition, b->as.realize.condition);
    default: BUG("statement of kind %d has no head", a->kind);
    }
}

static bool differ_kinds(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    Context *ctx = comparison->ctx;
    if (comparison->quiet)
        return false;
    const char *x = print_stmt(ctx, a), *y = print_stmt(ctx, b);
    return differ(comparison,
                  arena_printf(ctx->arena, "statements of other kinds: %.*s and %.*s", (int)strcspn(x, "\n"), x, (int)strcspn(y, "\n"), y));
}

static bool same_stmt(Comparison *comparison, const Stmt *a, const Stmt *b)
{
    if (a->kind != b->kind)
        return differ_kinds(comparison, a, b);
    switch (a->kind) {
    case STMT_SEQ: return same_seq(comparison, a, b);
    case STMT_FOR: return same_loop(comparison, &a->as.loop, &b->as.loop);
    case STMT_BLOCK: return same_block(comparison, &a->as.block, &b->as.block);
    case STMT_IF: return same_branch(comparison, a, b);
    case STMT_STORE: return same_store(comparison, a, b);
    case STMT_EVALUATE: return same_expr(comparison, "evaluated expression", a->as.evaluate, b->as.evaluate);
    default: return same_head(comparison, a, b) && same_stmt(comparison, stmt_body(a), stmt_body(b));
    }
}

/* --- functions and modules --- */

static bool same_params(Comparison *comparison, const Func *a, const Func *b)
{
    if (!same_count(comparison, "parameters", a->param_count, b->param_count))
        return false;
    for (int i = 0; i < a->param_count; i++) {
        const Param *x = &a->params[i], *y = &b->params[i];
        if (!x->buffer != !y->buffer)
            return differ(comparison, arena_printf(comparison->ctx->arena, "only one of parameters '%s' and '%s' is a buffer",
                                                   x->param->name, y->param->name));
        if (x->buffer) {
            pair(comparison, x->param, y->param);
            define_buffers(comparison, x->buffer, y->buffer);
        } else if (!define_vars(comparison, x->param, y->param)) {
            return false;
        }
    }
    for (int i = 0; i < a->param_count; i++)
        if (a->params[i].buffer && !same_buffers(comparison, a->params[i].buffer, b->params[i].buffer))
            return false;
    return true;
}

/* The attributes without a global_symbol that only repeats the name. */
static Attrs stated_attrs(Context *ctx, const Func *func)
{
    const AttrValue *symbol = attrs_get(func->attrs, "global_symbol");
    bool repeats =
        symbol && symbol->kind == ATTR_EXPR && symbol->expr->kind == EXPR_STRING && !strcmp(symbol->expr->value.text, func->name);
    return repeats ? attrs_remove(ctx, func->attrs, "global_symbol") : func->attrs;
}

static bool same_func(Comparison *comparison, const Func *a, const Func *b)
{
    if (!same_text(comparison, "name of a function", a->name, b->name))
        return false;
    comparison->function = a->name;
    if (a->is_private != b->is_private || !dtype_equal(a->return_type, b->return_type))
        return differ(comparison, "only one side is private, or the types of the results differ");
    return same_attrs(comparison, "attributes", stated_attrs(comparison->ctx, a), stated_attrs(comparison->ctx, b)) &&
           same_params(comparison, a, b) && same_stmt(comparison, a->body, b->body);
}

static Comparison comparison_new(Context *ctx, const char **why)
{
    return (Comparison){.ctx = ctx, .why = why, .quiet = why == NULL};
}

bool stmt_equal(Context *ctx, const Stmt *a, const Stmt *b, const char **why)
{
    Comparison comparison = comparison_new(ctx, why);
    return same_stmt(&comparison, a, b);
}

bool func_equal(Context *ctx, const Func *a, const Func *b, const char **why)
{
    Comparison comparison = comparison_new(ctx, why);
    return same_func(&comparison, a, b);
}

bool module_equal(Context *ctx, const Module *a, const Module *b, const char **why)
{
    Comparison comparison = comparison_new(ctx, why);
    if (a->bare != b->bare)
        return differ(&comparison, "only one side is a class");
    if (!same_count(&comparison, "functions", a->func_count, b->func_count) ||
        !same_attrs(&comparison, "attributes of the module", a->attrs, b->attrs))
        return false;
    for (int i = 0; i < a->func_count; i++) {
        const Func *partner = module_find(b, a->funcs[i]->name);
        if (!partner)
            return differ(&comparison, arena_printf(ctx->arena, "function '%s' is on one side only", a->funcs[i]->name));
        if (!func_equal(ctx, a->funcs[i], partner, why))
            return false;
    }
    return true;
}
