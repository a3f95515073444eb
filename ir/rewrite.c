/* The generic rewriter; see walk.h. What a statement is made of is said by stmt_fields.def alone. Every rewrite_* returns its input when
   nothing below it changed, so that unchanged subtrees stay shared. */
#include <string.h>

#include "ir/fields.h"

static Var *rewrite_definition(Rewriter *rewriter, Var *var)
{
    return rewriter->define_var ? rewriter->define_var(rewriter, var) : var;
}

/* --- buffers --- */

/* The buffer that stands for BUFFER since the layout in its definition was rewritten; itself where none was. */
static Buffer *with_new_layout(const Rewriter *rewriter, Buffer *buffer)
{
    Buffer *changed = rewriter->layouts.count ? map_get(&rewriter->layouts, buffer) : NULL;
    return changed ? changed : buffer;
}

static Buffer *rewrite_buffer_use(Rewriter *rewriter, Buffer *buffer)
{
    Buffer *named = rewriter->buffer ? rewriter->buffer(rewriter, buffer) : buffer;
    return named == buffer ? with_new_layout(rewriter, buffer) : named;
}

static bool rewrite_fields(Rewriter *rewriter, void *node, const Field *fields);

/* The hook decides alone where it names another buffer: it has rewritten the layout then, or wants it as it is. */
static Buffer *rewrite_buffer_definition(Rewriter *rewriter, Buffer *buffer)
{
    Buffer *named = rewriter->buffer ? rewriter->buffer(rewriter, buffer) : buffer;
    if (named != buffer)
        return named;
    Buffer copy = *buffer;
    Buffer *result = rewrite_fields(rewriter, &copy, buffer_fields()) ? buffer_clone(rewriter->ctx, &copy) : buffer;
    if (result != buffer || rewriter->layouts.count)
        map_set(rewriter->ctx->arena, &rewriter->layouts, buffer, result);
    return result;
}

void rewrite_buffer_layout(Rewriter *rewriter, Buffer *buffer)
{
    rewrite_fields(rewriter, buffer, buffer_fields());
}

/* --- expressions --- */

/* LOAD of BUFFER instead, with the same arguments. */
static const Expr *load_of(Rewriter *rewriter, const Expr *load, Buffer *buffer)
{
    return expr_load(rewriter->ctx, buffer, load->args, load_index_count(load), load_mask(load), load->span);
}

const Expr *rewrite_expr_children(Rewriter *rewriter, const Expr *expr)
{
    const Expr *few[8], **args = expr->arg_count <= 8 ? few : ARENA_ARRAY(rewriter->ctx->arena, const Expr *, expr->arg_count);
    Expr changed = *expr;
    if (expr->kind == EXPR_LET)
        changed.value.var = rewrite_definition(rewriter, expr->value.var);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = rewrite_expr(rewriter, expr->args[i]);
    if (expr->kind == EXPR_LOAD) {
        Buffer *buffer = rewrite_buffer_use(rewriter, expr->value.buffer);
        changed.args = args;
        if (buffer != expr->value.buffer)
            return load_of(rewriter, &changed, buffer);
    }
    if (expr->kind == EXPR_LET && changed.value.var != expr->value.var)
        return expr_let(rewriter->ctx, changed.value.var, args[0], args[1]);
    return expr_with_args(rewriter->ctx, expr, args);
}

/* A hook may have made a load of a buffer as the text defines it. */
const Expr *rewrite_expr(Rewriter *rewriter, const Expr *expr)
{
    const Expr *result = rewriter->expr ? rewriter->expr(rewriter, expr) : rewrite_expr_children(rewriter, expr);
    if (result->kind != EXPR_LOAD || with_new_layout(rewriter, result->value.buffer) == result->value.buffer)
        return result;
    return load_of(rewriter, result, with_new_layout(rewriter, result->value.buffer));
}

/* --- fields --- */

/* Sets *EXPR, which may be NULL; true when it changed. */
static bool rewrite_expr_at(Rewriter *rewriter, const Expr **expr)
{
    const Expr *old = *expr;
    if (old)
        *expr = rewrite_expr(rewriter, old);
    return *expr != old;
}

/* Whatever arrays in nodes hold. */
typedef union {
    const void *pointer;
    Range range;
    Region region;
    Iter iter;
    MatchBuffer match;
    Attr attr;
} Element;

/* The COUNT elements of SIZE bytes at ARRAY, rewritten one by one in a copy, which is made when the first one changes. */
typedef bool (*RewriteElement)(Rewriter *rewriter, void *element);
static bool rewrite_array(Rewriter *rewriter, void *array, int count, size_t size, RewriteElement rewrite)
{
    char *result = NULL, *elements = *(char **)array;
    Element element;
    for (int i = 0; elements && i < count; i++) {
        memcpy(&element, elements + size * (size_t)i, size);
        if (!rewrite(rewriter, &element))
            continue;
        if (!result)
            result = arena_copy(rewriter->ctx->arena, elements, size * (size_t)count);
        memcpy(result + size * (size_t)i, &element, size);
    }
    if (result)
        *(char **)array = result;
    return result;
}

static bool rewrite_expr_element(Rewriter *rewriter, void *element)
{
    return rewrite_expr_at(rewriter, element);
}

static bool rewrite_range_element(Rewriter *rewriter, void *element)
{
    Range *range = element;
    bool min = rewrite_expr_at(rewriter, &range->min), extent = rewrite_expr_at(rewriter, &range->extent);
    return min || extent;
}

static bool rewrite_region_element(Rewriter *rewriter, void *element)
{
    Region *region = element;
    Buffer *buffer = rewrite_buffer_use(rewriter, region->buffer);
    bool ranges = rewrite_array(rewriter, &region->ranges, region->buffer->ndim, sizeof(Range), rewrite_range_element);
    bool renamed = buffer != region->buffer;
    region->buffer = buffer;
    return ranges || renamed;
}

static bool rewrite_buffer_element(Rewriter *rewriter, void *element)
{
    Buffer **buffer = element, *old = *buffer;
    *buffer = rewrite_buffer_definition(rewriter, old);
    return *buffer != old;
}

static bool rewrite_iter_element(Rewriter *rewriter, void *element)
{
    return rewrite_fields(rewriter, element, iter_fields());
}

static bool rewrite_match_element(Rewriter *rewriter, void *element)
{
    return rewrite_fields(rewriter, element, match_fields());
}

static bool rewrite_stmt_element(Rewriter *rewriter, void *element)
{
    const Stmt **stmt = element, *old = *stmt;
    if (old)
        *stmt = rewrite_stmt(rewriter, old);
    return *stmt != old;
}

static bool rewrite_attr_item(Rewriter *rewriter, void *element);
static bool rewrite_attr_entry(Rewriter *rewriter, void *element)
{
    return rewrite_attr_item(rewriter, &((Attr *)element)->value);
}

static bool rewrite_attr_item(Rewriter *rewriter, void *element)
{
    const AttrValue **value = element;
    AttrValue copy = **value;
    if (copy.kind == ATTR_BUFFER)
        copy.buffer = rewrite_buffer_use(rewriter, copy.buffer);
    bool changed = copy.buffer != (*value)->buffer ||
                   (copy.kind == ATTR_EXPR && rewrite_expr_at(rewriter, &copy.expr)) ||
                   (copy.kind == ATTR_LIST && rewrite_array(rewriter, &copy.items, copy.count, sizeof *copy.items, rewrite_attr_item)) ||
                   (copy.kind == ATTR_DICT && rewrite_array(rewriter, &copy.entries, copy.count, sizeof(Attr), rewrite_attr_entry));
    if (changed)
        *value = arena_copy(rewriter->ctx->arena, &copy, sizeof copy);
    return changed;
}

static bool rewrite_symbol(Rewriter *rewriter, const Field *field, void *at)
{
    void *old = *(void **)at;
    if (field->shape == FIELD_VAR && old)
        *(Var **)at = rewrite_definition(rewriter, old);
    if (field->shape == FIELD_BLOCK && rewriter->define_block)
        *(Block **)at = rewriter->define_block(rewriter, old);
    if (field->shape == FIELD_BUFFER)
        *(Buffer **)at = rewrite_buffer_definition(rewriter, old);
    if (field->shape == FIELD_BUFFER_USE)
        *(Buffer **)at = rewrite_buffer_use(rewriter, old);
    return *(void **)at != old;
}

/* Rewrites FIELD of the copy NODE; true when it changed. */
static bool rewrite_field(Rewriter *rewriter, const Field *field, void *node)
{
    void *at = (char *)node + field->offset;
    switch (field->shape) {
    case FIELD_END:
    case FIELD_PLAIN: return false;
    case FIELD_EXPR: return rewrite_expr_at(rewriter, at);
    case FIELD_EXPRS: return rewrite_array(rewriter, at, field_count(field, node), sizeof(const Expr *), rewrite_expr_element);
    case FIELD_VAR:
    case FIELD_BLOCK:
    case FIELD_BUFFER:
    case FIELD_BUFFER_USE: return rewrite_symbol(rewriter, field, at);
    case FIELD_BUFFERS: return rewrite_array(rewriter, at, field_count(field, node), sizeof(Buffer *), rewrite_buffer_element);
    case FIELD_REGION: return rewrite_region_element(rewriter, at);
    case FIELD_REGIONS: return rewrite_array(rewriter, at, field_count(field, node), sizeof(Region), rewrite_region_element);
    case FIELD_ITERS: return rewrite_array(rewriter, at, field_count(field, node), sizeof(Iter), rewrite_iter_element);
    case FIELD_MATCHES: return rewrite_array(rewriter, at, field_count(field, node), sizeof(MatchBuffer), rewrite_match_element);
    case FIELD_ATTRS: {
        Attrs *attrs = at;
        return rewrite_array(rewriter, &attrs->entries, attrs->count, sizeof(Attr), rewrite_attr_entry);
    }
    case FIELD_STMT: return rewrite_stmt_element(rewriter, at);
    case FIELD_STMTS: return rewrite_array(rewriter, at, field_count(field, node), sizeof(const Stmt *), rewrite_stmt_element);
    }
    return false;
}

/* Definitions come before uses, so that hooks may set up renamings at the definition. */
static bool rewrite_fields(Rewriter *rewriter, void *node, const Field *fields)
{
    bool changed = false;
    for (const Field *field = fields; field->shape; field++)
        changed |= rewrite_field(rewriter, field, node);
    return changed;
}

Region rewrite_region(Rewriter *rewriter, Region region)
{
    rewrite_region_element(rewriter, &region);
    return region;
}

Region *rewrite_regions(Rewriter *rewriter, const Region *regions, int count)
{
    Region *result = ARENA_ARRAY(rewriter->ctx->arena, Region, count);
    for (int i = 0; i < count; i++)
        result[i] = rewrite_region(rewriter, regions[i]);
    return result;
}

/* --- statements --- */

const Stmt *rewrite_stmt_children(Rewriter *rewriter, const Stmt *stmt)
{
    Stmt copy = *stmt;
    if (!rewrite_fields(rewriter, &copy, stmt_fields(stmt->kind)))
        return stmt;
    return copy.kind == STMT_SEQ ? stmt_seq(rewriter->ctx, copy.as.seq.items, copy.as.seq.count) : stmt_new(rewriter->ctx, &copy);
}

static Buffer *latest_layout(Rewriter *rewriter, Buffer *buffer)
{
    return with_new_layout(rewriter->data, buffer);
}

/* Hooks may have kept parts of STMT as the text has them, with buffers as they were defined: all turn to the new layouts. */
static const Stmt *with_new_layouts(Rewriter *rewriter, const Stmt *stmt)
{
    Rewriter turning = {.ctx = rewriter->ctx, .buffer = latest_layout, .data = rewriter};
    turning.depth = 1; /* it changes no layout itself */
    return rewrite_stmt(&turning, stmt);
}

const Stmt *rewrite_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    rewriter->depth++;
    const Stmt *result = rewriter->stmt ? rewriter->stmt(rewriter, stmt) : rewrite_stmt_children(rewriter, stmt);
    rewriter->depth--;
    if (rewriter->layouts.count && !rewriter->depth)
        return with_new_layouts(rewriter, result);
    if (result->kind != STMT_STORE || with_new_layout(rewriter, result->as.store.buffer) == result->as.store.buffer)
        return result;
    Stmt copy = *result;
    copy.as.store.buffer = with_new_layout(rewriter, result->as.store.buffer);
    return stmt_new(rewriter->ctx, &copy);
}
