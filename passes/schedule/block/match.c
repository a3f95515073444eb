/* See match.h. Integer types of loops and indices may differ in width (a program over 64-bit sizes matches a description over 32 bits);
   everything else is exact. */
#include "passes/schedule/block/match.h"

#include <string.h>

#include "passes/schedule/core/scope.h"
#include "print/print.h"

static bool differ(Matcher *matcher, Span program, Span description, const char *format, ...) __attribute__((format(printf, 4, 5)));
static bool differ(Matcher *matcher, Span program, Span description, const char *format, ...)
{
    if (matcher->mismatch)
        return false;
    va_list args;
    va_start(args, format);
    matcher->mismatch = arena_vprintf(matcher->ctx->arena, format, args);
    va_end(args);
    matcher->mismatch_span = program;
    matcher->description_span = description;
    return false;
}

const TileMap *matcher_tile(const Matcher *matcher, const Buffer *description)
{
    for (int i = 0; i < matcher->tiles.count; i++)
        if (matcher->tiles.data[i].description == description)
            return &matcher->tiles.data[i];
    return NULL;
}

/* --- regions of the block: they tell which tile each buffer of the description is --- */

static bool same_value(Matcher *matcher, const Expr *program, const Expr *description)
{
    return analyzer_prove_equal(matcher->an, program, op_cast(matcher->ctx, program->dtype, description));
}

/* Tiles of BUFFER can stand for WANTED. */
static bool match_kind(Matcher *matcher, const Buffer *buffer, const Buffer *wanted, Span span)
{
    if (!dtype_equal(buffer->dtype, wanted->dtype))
        return differ(matcher, span, wanted->span, "'%s' holds %s where the intrinsic's '%s' holds %s", buffer->name,
                      dtype_name(matcher->ctx, buffer->dtype), wanted->name, dtype_name(matcher->ctx, wanted->dtype));
    if (strcmp(buffer->scope, wanted->scope))
        return differ(matcher, span, wanted->span, "'%s' is in scope \"%s\" where the intrinsic's '%s' is in scope \"%s\"", buffer->name,
                      buffer->scope, wanted->name, wanted->scope);
    if (buffer->ndim < wanted->ndim)
        return differ(matcher, span, wanted->span, "'%s' has %d dimensions where the intrinsic's '%s' has %d", buffer->name, buffer->ndim,
                      wanted->name, wanted->ndim);
    return true;
}

static bool match_region(Matcher *matcher, const Region *program, const Region *description, Span span)
{
    const Buffer *buffer = program->buffer, *wanted = description->buffer;
    int lead = buffer->ndim - wanted->ndim;
    const TileMap *known = matcher_tile(matcher, wanted);
    if (known && known->program != buffer)
        return differ(matcher, span, wanted->span, "'%s' of the intrinsic stands for both '%s' and '%s'", wanted->name,
                      known->program->name, buffer->name);
    if (!match_kind(matcher, buffer, wanted, span))
        return false;
    TileMap tile = {wanted, (Buffer *)buffer, ARENA_ARRAY(matcher->ctx->arena, const Expr *, buffer->ndim), lead};
    for (int d = 0; d < buffer->ndim; d++) {
        const Range *range = &program->ranges[d];
        bool fits = d < lead ? analyzer_prove_equal(matcher->an, range->extent, expr_int(matcher->ctx, range->extent->dtype, 1))
                             : same_value(matcher, range->extent, description->ranges[d - lead].extent);
        if (!fits)
            return differ(matcher, span, wanted->span, "dimension %d of %s has extent %s where the intrinsic has %s", d,
                          print_region(matcher->ctx, program), print_expr(matcher->ctx, range->extent),
                          d < lead ? "1" : print_expr(matcher->ctx, description->ranges[d - lead].extent));
        tile.base[d] =
            d < lead ? range->min
                     : analyzer_simplify(matcher->an, op_sub(matcher->ctx, range->min,
                                                             op_cast(matcher->ctx, range->min->dtype, description->ranges[d - lead].min)));
    }
    if (!known)
        vec_push(matcher->ctx->arena, &matcher->tiles, tile);
    return true;
}

static bool match_regions(Matcher *matcher, const char *what, const Region *program, int count, const Region *description, int wanted,
                          Span span, Span description_span)
{
    if (count != wanted)
        return differ(matcher, span, description_span, "the block %s %d regions where the intrinsic %s %d", what, count, what, wanted);
    for (int i = 0; i < count; i++)
        if (!match_region(matcher, &program[i], &description[i], span))
            return false;
    return true;
}

/* Where the intrinsic reads more buffers than the block, several of them may be tiles of one: the accesses tell which. */
static bool match_reads(Matcher *matcher, const BlockStmt *block, const BlockStmt *root, Span span, Span description_span)
{
    if (block->read_count >= root->read_count)
        return match_regions(matcher, "reads", block->reads, block->read_count, root->reads, root->read_count, span, description_span);
    for (int i = 0; i < root->read_count; i++)
        if (!matcher_tile(matcher, root->reads[i].buffer))
            map_set(matcher->ctx->arena, &matcher->open, root->reads[i].buffer, &root->reads[i]);
    return true;
}

/* What the description reads of the tile that stands for its region WANTED. */
static Region tile_of(Matcher *matcher, const TileMap *tile, const Region *wanted)
{
    Context *ctx = matcher->ctx;
    Region region = {tile->program, ARENA_ARRAY(ctx->arena, Range, tile->program->ndim), wanted->span};
    for (int d = 0; d < tile->program->ndim; d++) {
        DType type = tile->base[d]->dtype;
        if (d < tile->lead)
            region.ranges[d] = range_point(ctx, tile->base[d]);
        else
            region.ranges[d] = (Range){analyzer_simplify(matcher->an, op_add(ctx, tile->base[d], op_cast(ctx, type, wanted->ranges[d - tile->lead].min))),
                                       op_cast(ctx, type, wanted->ranges[d - tile->lead].extent)};
    }
    return region;
}

static bool lies_in_buffer(Matcher *matcher, const Region *region)
{
    Context *ctx = matcher->ctx;
    for (int d = 0; d < region->buffer->ndim; d++) {
        const Range *range = &region->ranges[d];
        if (!analyzer_prove(matcher->an, op_compare(ctx, EXPR_GE, range->min, expr_int(ctx, range->min->dtype, 0))) ||
            !analyzer_prove_less_equal(matcher->an, op_add(ctx, range->min, range->extent), op_cast(ctx, range->min->dtype, region->buffer->shape[d])))
            return false;
    }
    return true;
}

/* With all accesses matched the tiles are known: they are what the block reads. */
static bool close_reads(Matcher *matcher, const BlockStmt *block, const BlockStmt *root)
{
    if (!matcher->open.count)
        return true;
    matcher->reads = ARENA_ARRAY(matcher->ctx->arena, Region, root->read_count);
    for (int i = 0; i < root->read_count; i++) {
        const TileMap *tile = matcher_tile(matcher, root->reads[i].buffer);
        if (!tile)
            return differ(matcher, block->block->span, root->reads[i].buffer->span, "the intrinsic reads '%s', and no access of it tells where",
                          root->reads[i].buffer->name);
        matcher->reads[i] = tile_of(matcher, tile, &root->reads[i]);
        if (!regions_find(block->reads, block->read_count, tile->program))
            return differ(matcher, block->block->span, root->reads[i].buffer->span, "the block does not declare that it reads '%s'",
                          tile->program->name);
        if (!lies_in_buffer(matcher, &matcher->reads[i]))
            return differ(matcher, block->block->span, root->reads[i].buffer->span, "%s, the tile that the intrinsic's '%s' stands for, is not shown to lie in '%s'",
                          print_region(matcher->ctx, &matcher->reads[i]), root->reads[i].buffer->name, tile->program->name);
    }
    for (int i = 0; i < block->read_count; i++)
        if (!regions_find(matcher->reads, root->read_count, block->reads[i].buffer))
            return differ(matcher, block->block->span, root->block->span, "the block reads '%s', and the intrinsic has no buffer for it",
                          block->reads[i].buffer->name);
    return true;
}

/* --- expressions --- */

static bool match_expr(Matcher *matcher, const Expr *program, const Expr *description);

static bool differ_exprs(Matcher *matcher, const Expr *program, const Expr *description)
{
    return differ(matcher, program->span, description->span, "%s does not match %s of the intrinsic", print_expr(matcher->ctx, program),
                  print_expr(matcher->ctx, description));
}

/* DESCRIPTION's variables replaced by the program's. */
static const Expr *translated(Matcher *matcher, const Expr *description, DType index_type)
{
    if (description->kind == EXPR_VAR) {
        Var *var = map_get(&matcher->vars, description->value.var);
        return op_cast(matcher->ctx, index_type, expr_var(matcher->ctx, var ? var : description->value.var));
    }
    const Expr **args = ARENA_ARRAY(matcher->ctx->arena, const Expr *, description->arg_count + 1);
    for (int i = 0; i < description->arg_count; i++)
        args[i] = translated(matcher, description->args[i], index_type);
    if (description->kind == EXPR_INT)
        return op_cast(matcher->ctx, index_type, description);
    return expr_with_args(matcher->ctx, description, args);
}

/* EXPR depends on a variable that the matched statements define. */
static bool uses_matched(const Matcher *matcher, const Expr *expr)
{
    for (int i = 0; i < matcher->vars.count; i++)
        if (expr_uses_var(expr, matcher->vars.entries[i].value))
            return true;
    return false;
}

/* The first access to WANTED, which no region tells the tile of, does: its indices are the tile's first ones and those of the description. */
static bool match_open_tile(Matcher *matcher, Buffer *buffer, const Expr *const *indices, const Buffer *wanted,
                            const Expr *const *wanted_indices, Span span, Span description_span)
{
    if (!match_kind(matcher, buffer, wanted, span))
        return false;
    TileMap tile = {wanted, buffer, ARENA_ARRAY(matcher->ctx->arena, const Expr *, buffer->ndim), buffer->ndim - wanted->ndim};
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *offset = d < tile.lead ? expr_int(matcher->ctx, indices[d]->dtype, 0)
                                           : translated(matcher, wanted_indices[d - tile.lead], indices[d]->dtype);
        tile.base[d] = analyzer_simplify(matcher->an, op_sub(matcher->ctx, indices[d], offset));
        if (uses_matched(matcher, tile.base[d]))
            return differ(matcher, span, description_span, "index %d of '%s' is %s where the intrinsic has %s: no tile has both", d, buffer->name,
                          print_expr(matcher->ctx, indices[d]), print_expr(matcher->ctx, offset));
    }
    vec_push(matcher->ctx->arena, &matcher->tiles, tile);
    return true;
}

static bool match_access(Matcher *matcher, Buffer *buffer, const Expr *const *indices, const Buffer *wanted,
                         const Expr *const *wanted_indices, Span span, Span description_span)
{
    const TileMap *tile = matcher_tile(matcher, wanted);
    if (!tile && map_has(&matcher->open, wanted)) {
        if (!match_open_tile(matcher, buffer, indices, wanted, wanted_indices, span, description_span))
            return false;
        tile = matcher_tile(matcher, wanted);
    }
    if (!tile)
        return differ(matcher, span, description_span, "the intrinsic touches '%s', which none of its declared regions holds",
                      wanted->name);
    if (tile->program != buffer)
        return differ(matcher, span, description_span, "'%s' is used where the intrinsic's '%s' stands for '%s'", buffer->name,
                      wanted->name, tile->program->name);
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *offset = d < tile->lead ? expr_int(matcher->ctx, indices[d]->dtype, 0)
                                            : translated(matcher, wanted_indices[d - tile->lead], indices[d]->dtype);
        const Expr *expected = op_add(matcher->ctx, op_cast(matcher->ctx, indices[d]->dtype, tile->base[d]), offset);
        if (!analyzer_prove_equal(matcher->an, indices[d], expected))
            return differ(matcher, span, description_span, "index %d of '%s' is %s where the intrinsic's access gives %s", d, buffer->name,
                          print_expr(matcher->ctx, indices[d]), print_expr(matcher->ctx, analyzer_simplify(matcher->an, expected)));
    }
    return true;
}

static bool match_children(Matcher *matcher, const Expr *program, const Expr *description)
{
    for (int i = 0; i < program->arg_count; i++)
        if (!match_expr(matcher, program->args[i], description->args[i]))
            return false;
    return true;
}

/* Both are arithmetic of indices, which comes out the same in both types; that of values read from memory may wrap in one of them. */
static bool same_index_types(const Expr *program, const Expr *description)
{
    return dtype_is_index(program->dtype) && dtype_is_index(description->dtype) && program->dtype.lanes == description->dtype.lanes &&
           expr_is_pure(program);
}

static bool match_expr(Matcher *matcher, const Expr *program, const Expr *description)
{
    bool types = dtype_equal(program->dtype, description->dtype) || same_index_types(program, description);
    bool access = program->kind == EXPR_LOAD; /* a tile may fix leading dimensions */
    if (!types || program->kind != description->kind || (!access && program->arg_count != description->arg_count))
        return differ_exprs(matcher, program, description);
    bool same = true;
    switch ((ExprKind)program->kind) {
    case EXPR_VAR: {
        Var *var = map_get(&matcher->vars, description->value.var);
        same = var ? var == program->value.var : description->value.var == program->value.var;
        break;
    }
    case EXPR_INT: same = program->value.integer == description->value.integer; break;
    case EXPR_FLOAT: same = !memcmp(&program->value.real, &description->value.real, sizeof(double)); break;
    case EXPR_STRING: same = !strcmp(program->value.text, description->value.text); break;
    case EXPR_CALL: same = program->value.op == description->value.op; break;
    case EXPR_LOAD:
        if (program->predicated || description->predicated)
            return differ_exprs(matcher, program, description);
        return match_access(matcher, program->value.buffer, program->args, description->value.buffer, description->args, program->span,
                            description->span);
    case EXPR_LET:
        map_set(matcher->ctx->arena, &matcher->vars, description->value.var, program->value.var);
        break;
    default: break;
    }
    return same ? match_children(matcher, program, description) : differ_exprs(matcher, program, description);
}

/* --- statements --- */

static bool match_stmt(Matcher *matcher, const Stmt *program, const Stmt *description);

static const char *stmt_words(const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_SEQ: return "a sequence of statements";
    case STMT_FOR: return "a loop";
    case STMT_BLOCK: return "a block";
    case STMT_STORE: return "a store";
    case STMT_IF: return "an if";
    case STMT_LET: return "a let";
    case STMT_EVALUATE: return "a call";
    default: return "another statement";
    }
}

static bool match_loop(Matcher *matcher, const Stmt *program, const Stmt *description)
{
    const ForStmt *a = &program->as.loop, *b = &description->as.loop;
    if (a->kind != b->kind || (a->thread != b->thread && strcmp(a->thread ? a->thread : "", b->thread ? b->thread : "")))
        return differ(matcher, program->span, description->span, "loop '%s' is of another kind than the intrinsic's loop '%s'",
                      a->var->name, b->var->name);
    if (!same_value(matcher, a->extent, b->extent) || !same_value(matcher, a->min, b->min))
        return differ(matcher, program->span, description->span, "loop '%s' has extent %s where the intrinsic's loop '%s' has %s",
                      a->var->name, print_expr(matcher->ctx, a->extent), b->var->name, print_expr(matcher->ctx, b->extent));
    map_set(matcher->ctx->arena, &matcher->vars, b->var, a->var);
    analyzer_bind_range_opaque(matcher->an, a->var, (Range){a->min, a->extent});
    return match_stmt(matcher, a->body, b->body);
}

static bool match_iter(Matcher *matcher, const Iter *a, const Expr *binding, const Iter *b, const Expr *wanted)
{
    if (a->kind != b->kind)
        return differ(matcher, a->span, b->span, "axis '%s' is of another kind than the intrinsic's axis '%s'", a->var->name, b->var->name);
    if (!same_value(matcher, a->domain.extent, b->domain.extent))
        return differ(matcher, a->span, b->span, "axis '%s' has extent %s where the intrinsic's axis '%s' has %s", a->var->name,
                      print_expr(matcher->ctx, a->domain.extent), b->var->name, print_expr(matcher->ctx, b->domain.extent));
    if (!match_expr(matcher, binding, wanted))
        return false;
    map_set(matcher->ctx->arena, &matcher->vars, b->var, a->var);
    analyzer_bind_range_opaque(matcher->an, a->var, a->domain);
    return true;
}

static bool match_block(Matcher *matcher, const Stmt *program, const Stmt *description)
{
    const BlockStmt *a = &program->as.block, *b = &description->as.block;
    if (a->iter_count != b->iter_count)
        return differ(matcher, program->span, description->span, "block '%s' has %d axes where the intrinsic's block has %d",
                      a->block->name, a->iter_count, b->iter_count);
    for (int i = 0; i < a->iter_count; i++)
        if (!match_iter(matcher, &a->iters[i], a->bindings[i], &b->iters[i], b->bindings[i]))
            return false;
    if (!match_expr(matcher, a->predicate, b->predicate))
        return false;
    if (!a->init != !b->init)
        return differ(matcher, program->span, description->span, "block '%s' has %s init where the intrinsic's block has %s",
                      a->block->name, a->init ? "an" : "no", b->init ? "one" : "none");
    if (a->alloc_count || a->match_count || b->alloc_count || b->match_count)
        return differ(matcher, program->span, description->span, "a block with buffers of its own cannot be matched");
    return (!a->init || match_stmt(matcher, a->init, b->init)) && match_stmt(matcher, a->body, b->body);
}

static bool match_store(Matcher *matcher, const Stmt *program, const Stmt *description)
{
    if (program->as.store.mask || description->as.store.mask)
        return differ(matcher, program->span, description->span, "a store under a mask cannot be matched");
    return match_access(matcher, program->as.store.buffer, program->as.store.indices, description->as.store.buffer,
                        description->as.store.indices, program->span, description->span) &&
           match_expr(matcher, program->as.store.value, description->as.store.value);
}

static bool match_branches(Matcher *matcher, const Stmt *program, const Stmt *description)
{
    const Stmt *a = program->as.branch.else_body, *b = description->as.branch.else_body;
    if (!a != !b)
        return differ(matcher, program->span, description->span, "only one of the two ifs has an else");
    return match_expr(matcher, program->as.branch.condition, description->as.branch.condition) &&
           match_stmt(matcher, program->as.branch.then_body, description->as.branch.then_body) && (!a || match_stmt(matcher, a, b));
}

static bool match_sequence(Matcher *matcher, const Stmt *program, const Stmt *description)
{
    if (program->as.seq.count != description->as.seq.count)
        return differ(matcher, program->span, description->span, "%d statements stand where the intrinsic has %d", program->as.seq.count,
                      description->as.seq.count);
    for (int i = 0; i < program->as.seq.count; i++)
        if (!match_stmt(matcher, program->as.seq.items[i], description->as.seq.items[i]))
            return false;
    return true;
}

static bool match_stmt(Matcher *matcher, const Stmt *program, const Stmt *description)
{
    if (program->kind != description->kind)
        return differ(matcher, program->span, description->span, "%s stands where the intrinsic has %s", stmt_words(program),
                      stmt_words(description));
    switch (program->kind) {
    case STMT_SEQ: return match_sequence(matcher, program, description);
    case STMT_FOR: return match_loop(matcher, program, description);
    case STMT_BLOCK: return match_block(matcher, program, description);
    case STMT_STORE: return match_store(matcher, program, description);
    case STMT_IF: return match_branches(matcher, program, description);
    case STMT_LET:
        if (!match_expr(matcher, program->as.let.value, description->as.let.value))
            return false;
        map_set(matcher->ctx->arena, &matcher->vars, description->as.let.var, program->as.let.var);
        return match_stmt(matcher, program->as.let.body, description->as.let.body);
    case STMT_EVALUATE: return match_expr(matcher, program->as.evaluate, description->as.evaluate);
    default: return differ(matcher, program->span, description->span, "%s cannot be matched", stmt_words(program));
    }
}

/* --- an init inside of the description --- */

/* A description that holds a reduction with its init is the same with the init in front of all updates, as blockize makes it of a program:
   *ROOT becomes that. Its init runs in each instance, that of a block of the program before the first one alone. */
static bool match_lifted_init(Matcher *matcher, const BlockStmt *block, const BlockStmt **root)
{
    const Stmt *inner = (*root)->body;
    while (inner->kind == STMT_FOR)
        inner = inner->as.loop.body;
    if (inner->kind != STMT_BLOCK || !inner->as.block.init)
        return true;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && !expr_is_int(block->iters[i].domain.extent, 1))
            return differ(matcher, block->iters[i].span, inner->as.block.init->span,
                          "it has an init, which runs before the first instance over axis '%s', and the description's runs in each; "
                          "decompose_reduction takes it off",
                          block->iters[i].var->name);
    const BlockStmt *lifted = description_with_init_in_front(matcher->ctx, *root);
    if (!lifted)
        return differ(matcher, block->block->span, inner->as.block.init->span,
                      "it has an init in front of all updates, and that of the description is not shown to mean the same there: its block is no "
                      "reduction that is known");
    *root = lifted;
    return true;
}

/* --- distinct buffers of the description --- */

/* The tiles share no element, since they lie apart in some dimension. The tile of each is what its declared region takes of it. */
static bool lie_apart(Matcher *matcher, const Region *a, const Region *b)
{
    for (int d = 0; a->buffer == b->buffer && d < a->buffer->ndim; d++) {
        const Range *x = &a->ranges[d], *y = &b->ranges[d];
        if (analyzer_prove_less_equal(matcher->an, op_add(matcher->ctx, x->min, x->extent), y->min) ||
            analyzer_prove_less_equal(matcher->an, op_add(matcher->ctx, y->min, y->extent), x->min))
            return true;
    }
    return false;
}

/* The buffers of a description are parameters, which never overlap, and its implementation may rely on it: what one of them is written
   through is no part of another. */
static bool match_distinct_buffers(Matcher *matcher, const BlockStmt *block, const BlockStmt *root)
{
    const Region *reads = matcher->open.count ? matcher->reads : block->reads;
    for (int w = 0; w < block->write_count; w++)
        for (int i = 0; i < root->read_count + block->write_count; i++) {
            bool read = i < root->read_count;
            const Region *other = read ? &reads[i] : &block->writes[i - root->read_count],
                         *wanted = read ? &root->reads[i] : &root->writes[i - root->read_count];
            const Region *written = &block->writes[w];
            if (written->buffer->data == other->buffer->data && root->writes[w].buffer != wanted->buffer &&
                !lie_apart(matcher, written, other))
                return differ(matcher, block->block->span, wanted->span,
                              "'%s' and '%s' of the intrinsic, which never overlap, would both be part of '%s'",
                              root->writes[w].buffer->name, wanted->buffer->name, written->buffer->name);
        }
    return true;
}

bool match_description(Matcher *matcher, const BlockStmt *block, const Func *description)
{
    Span span = block->block->span;
    if (description->body->kind != STMT_BLOCK)
        return differ(matcher, span, description->span, "the intrinsic's description holds no block");
    const BlockStmt *root = &description->body->as.block;
    for (int i = 0; i < block->iter_count; i++)
        analyzer_bind_range_opaque(matcher->an, block->iters[i].var, block->iters[i].domain);
    if (block->init && !root->init && !match_lifted_init(matcher, block, &root))
        return false;
    if (!block->init != !root->init)
        return differ(matcher, span, description->body->span,
                      block->init ? "it has an init and the intrinsic has none; decompose_reduction takes it off"
                                  : "it has no init and the intrinsic has one");
    return match_regions(matcher, "writes", block->writes, block->write_count, root->writes, root->write_count, span,
                         description->body->span) &&
           match_reads(matcher, block, root, span, description->body->span) &&
           (!block->init || match_stmt(matcher, block->init, root->init)) && match_stmt(matcher, block->body, root->body) &&
           close_reads(matcher, block, root) && match_distinct_buffers(matcher, block, root);
}
