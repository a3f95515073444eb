/* TensorIntrin.register: what a tensor intrinsic computes (its description) and how it is done (its implementation).

   The implementation takes the description's place in a program, whose other parts know of it what the description says: the two take the
   same buffers and declare the same regions, and neither touches what it does not declare. */
#include "ir/linear_sum.h"
#include "print/print.h"
#include "ir/walk.h"
#include "parser/elab.h"

typedef struct {
    Context *ctx;
    const Func *description, *implementation;
    Span span; /* of the call of register */
} IntrinCheck;

/* --- parameters --- */

__attribute__((format(printf, 4, 5))) static bool differ(const IntrinCheck *check, Span implementation, Span description, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(check->ctx->arena, format, args);
    va_end(args);
    diag_error(check->ctx, implementation.file ? implementation : check->span, "%s", text);
    if (description.file)
        diag_note(check->ctx, description, "the description has it here");
    diag_note(check->ctx, check->span, "the intrinsic is registered here");
    return false;
}

static bool same_extent(const Expr *wanted, const Expr *extent)
{
    int64_t a, b;
    return !expr_const_int(wanted, &a) || !expr_const_int(extent, &b) || a == b;
}

static bool check_param(const IntrinCheck *check, const Buffer *wanted, const Buffer *buffer)
{
    Context *ctx = check->ctx;
    if (!dtype_equal(wanted->dtype, buffer->dtype))
        return differ(check, buffer->span, wanted->span, "'%s' of the implementation holds %s, and '%s' of the description %s", buffer->name,
                      dtype_name(ctx, buffer->dtype), wanted->name, dtype_name(ctx, wanted->dtype));
    if (wanted->scope != buffer->scope)
        return differ(check, buffer->span, wanted->span, "'%s' of the implementation is in scope \"%s\", and '%s' of the description in \"%s\"",
                      buffer->name, buffer->scope, wanted->name, wanted->scope);
    if (wanted->ndim != buffer->ndim)
        return differ(check, buffer->span, wanted->span, "'%s' of the implementation has %d dimensions, and '%s' of the description %d",
                      buffer->name, buffer->ndim, wanted->name, wanted->ndim);
    for (int d = 0; d < buffer->ndim; d++)
        if (!same_extent(wanted->shape[d], buffer->shape[d]))
            return differ(check, buffer->span, wanted->span, "dimension %d of '%s' has extent %s in the implementation and %s in the description", d,
                          buffer->name, print_expr(ctx, buffer->shape[d]), print_expr(ctx, wanted->shape[d]));
    return true;
}

static bool check_params(const IntrinCheck *check)
{
    const Func *both[] = {check->description, check->implementation};
    Context *ctx = check->ctx;
    if (both[0]->param_count != both[1]->param_count) {
        diag_error(ctx, check->span, "the numbers of parameters differ: %d of '%s', %d of '%s'", both[0]->param_count, both[0]->name,
                   both[1]->param_count, both[1]->name);
        return false;
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < both[i]->param_count; j++)
            if (!both[i]->params[j].buffer) {
                diag_error(ctx, check->span, "parameter %d of '%s' is no buffer; tensor intrinsics take buffers only", j + 1, both[i]->name);
                return false;
            }
    for (int i = 0; i < both[0]->param_count; i++)
        if (!check_param(check, both[0]->params[i].buffer, both[1]->params[i].buffer))
            return false;
    return true;
}

/* --- what is touched --- */

typedef struct {
    const IntrinCheck *check;
    const Func *func;
    const BlockStmt *root;
    Map params; /* data variable of a parameter, or of a view of one -> its Buffer */
    bool failed;
} UseCheck;

static bool declares(const Region *regions, int count, const Buffer *buffer)
{
    for (int i = 0; i < count; i++)
        if (regions[i].buffer->data == buffer->data)
            return true;
    return false;
}

/* The memory behind DATA is read, written, or touched by a pointer that may do either. */
static void note_use(UseCheck *uses, const Var *data, bool writes, Span span)
{
    Context *ctx = uses->check->ctx;
    const Buffer *param = map_get(&uses->params, data);
    if (!param || uses->failed)
        return;
    bool written = declares(uses->root->writes, uses->root->write_count, param);
    if (written || (!writes && declares(uses->root->reads, uses->root->read_count, param)))
        return;
    diag_error(ctx, span.file ? span : param->span, "'%s' %s '%s', which is not among the T.%s of its block", uses->func->name,
               writes ? "writes" : "touches", param->name, writes ? "writes" : "reads or T.writes");
    diag_note(ctx, uses->check->span, "the intrinsic is registered here");
    uses->failed = true;
}

static bool find_use_in_expr(Visitor *visitor, const Expr *expr)
{
    UseCheck *uses = visitor->data;
    int64_t mask;
    if (expr->kind == EXPR_VAR)
        note_use(uses, expr->value.var, false, expr->span);
    if (expr->kind == EXPR_LOAD)
        note_use(uses, expr->value.buffer->data, false, expr->span);
    if (expr_is_call(expr, OP_TVM_ACCESS_PTR) && expr->args[1]->kind == EXPR_VAR && expr_const_int(expr->args[4], &mask))
        note_use(uses, expr->args[1]->value.var, mask & 2, expr->span);
    return !uses->failed;
}

static bool find_use_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    UseCheck *uses = visitor->data;
    if (stmt->kind == STMT_STORE)
        note_use(uses, stmt->as.store.buffer->data, true, stmt->span);
    if (stmt->kind != STMT_BLOCK)
        return !uses->failed;
    const BlockStmt *block = &stmt->as.block;
    for (int i = 0; i < block->match_count; i++)
        map_set(uses->check->ctx->arena, &uses->params, block->matches[i].target->data,
                map_get(&uses->params, block->matches[i].source.buffer->data));
    for (int i = 0; i < block->write_count; i++)
        note_use(uses, block->writes[i].buffer->data, true, block->writes[i].span.file ? block->writes[i].span : stmt->span);
    return !uses->failed;
}

static bool check_uses(const IntrinCheck *check, const Func *func)
{
    UseCheck uses = {.check = check, .func = func, .root = &func->body->as.block};
    for (int i = 0; i < func->param_count; i++)
        map_set(check->ctx->arena, &uses.params, func->params[i].buffer->data, func->params[i].buffer);
    Visitor visitor = {.expr = find_use_in_expr, .stmt = find_use_in_stmt, .data = &uses};
    visit_stmt(&visitor, func->body);
    return !uses.failed;
}

/* --- declared regions --- */

static const Region *next_region(const Region *regions, int count, const Buffer *buffer, int *from)
{
    while (*from < count)
        if (regions[(*from)++].buffer == buffer)
            return &regions[*from - 1];
    return NULL;
}

static bool is_whole(const Range *range, const Expr *extent)
{
    return expr_is_int(range->min, 0) && expr_equal(range->extent, extent);
}

static bool same_number(Context *ctx, const Expr *a, const Expr *b)
{
    int64_t x, y;
    const Expr *left = linear_simplify(ctx, a), *right = linear_simplify(ctx, b);
    return expr_const_int(left, &x) && expr_const_int(right, &y) ? x == y : expr_equal(left, right);
}

static bool same_region(Context *ctx, const Region *a, const Region *b)
{
    for (int d = 0; d < a->buffer->ndim; d++) {
        const Range *x = &a->ranges[d], *y = &b->ranges[d];
        bool whole = is_whole(x, a->buffer->shape[d]) && is_whole(y, b->buffer->shape[d]);
        if (!whole && (!same_number(ctx, x->min, y->min) || !same_number(ctx, x->extent, y->extent)))
            return false;
    }
    return true;
}

/* The implementation may start with what the description's init gives it. */
static bool may_read_back(const IntrinCheck *check, const Buffer *wanted)
{
    const BlockStmt *root = &check->description->body->as.block;
    return root->init && declares(root->writes, root->write_count, wanted);
}

static bool check_regions_of(const IntrinCheck *check, int param, bool writes)
{
    Context *ctx = check->ctx;
    const BlockStmt *a = &check->description->body->as.block, *b = &check->implementation->body->as.block;
    const Buffer *wanted = check->description->params[param].buffer, *buffer = check->implementation->params[param].buffer;
    const char *verb = writes ? "writes" : "reads";
    int next_a = 0, next_b = 0;
    for (;;) {
        const Region *x = next_region(writes ? a->writes : a->reads, writes ? a->write_count : a->read_count, wanted, &next_a);
        const Region *y = next_region(writes ? b->writes : b->reads, writes ? b->write_count : b->read_count, buffer, &next_b);
        if (!x && !y)
            return true;
        if (!x && !writes && may_read_back(check, wanted))
            continue;
        if (!x)
            return differ(check, y->span.file ? y->span : buffer->span, wanted->span,
                          "the implementation declares that it %s %s, and the description does not", verb, print_region(ctx, y));
        if (!y)
            return differ(check, check->implementation->name_span, x->span,
                          "the implementation does not declare that it %s '%s', of which the description %s %s", verb, buffer->name, verb,
                          print_region(ctx, x));
        if (!same_region(ctx, x, y))
            return differ(check, y->span.file ? y->span : buffer->span, x->span, "the implementation %s %s, and the description %s", verb,
                          print_region(ctx, y), print_region(ctx, x));
    }
}

bool elab_check_intrin(Context *ctx, const Func *description, const Func *implementation, Span span)
{
    IntrinCheck check = {ctx, description, implementation, span};
    if (!check_params(&check))
        return false;
    if (description->body->kind != STMT_BLOCK || implementation->body->kind != STMT_BLOCK)
        return true; /* tensorize says so */
    if (!check_uses(&check, description) || !check_uses(&check, implementation))
        return false;
    for (int i = 0; i < description->param_count; i++)
        if (!check_regions_of(&check, i, true) || !check_regions_of(&check, i, false))
            return false;
    return true;
}
