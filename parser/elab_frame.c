/* Bodies under construction; see elab.h. A statement such as a let that encloses the rest of its body is kept open in the list of items and
   closed over what follows it when the body ends. */
#include "parser/elab.h"

/* Whatever walks a program recurses over statements, so their nesting is bounded. */
enum { DEEPEST_NESTING = 1000 };

void frame_add(Elab *elab, const Stmt *stmt)
{
    BodyItem item = {stmt, false};
    vec_push(elab->ctx->arena, &elab->frame->items, item);
}

bool frame_allows(Elab *elab, int levels, Span span)
{
    if (elab->frame->depth + elab->frame->enclosing + levels < DEEPEST_NESTING)
        return true;
    if (!elab->frame->too_deep)
        diag_error(elab->ctx, span, "more than %d statements are nested here; each definition encloses what follows it", DEEPEST_NESTING);
    elab->frame->too_deep = true;
    return false;
}

/* The variable that LAYER binds and that may have been made before: of a let or a thread. */
static Var **bound_var(Stmt *layer)
{
    return layer->kind == STMT_LET ? &layer->as.let.var : layer->kind == STMT_FOR ? &layer->as.loop.var : NULL;
}

/* A variable is bound once in a program. Where the text binds one again, the second binding is of a fresh one, which its names stand for
   from here on. */
static void bind_once(Elab *elab, Stmt *layer, Value *result)
{
    Var **slot = bound_var(layer);
    if (!slot || !*slot)
        return;
    if (map_has(&elab->bound_vars, *slot)) {
        Var *fresh = var_clone(elab->ctx, *slot, (*slot)->name);
        scope_redirect(elab, *slot, fresh);
        if (result && result->kind == VALUE_EXPR && expr_is_var(result->as.expr, *slot))
            result->as.expr = expr_var(elab->ctx, fresh);
        *slot = fresh;
    }
    map_set(elab->ctx->arena, &elab->bound_vars, *slot, *slot);
}

void frame_enclose(Elab *elab, const WrapperSpec *wrapper, Value *result, Span span)
{
    Frame *frame = elab->frame;
    if (!frame) {
        diag_error(elab->ctx, span, "a statement of a program can only stand in a function");
        return;
    }
    if (!frame_allows(elab, wrapper->count, span))
        return;
    for (int i = 0; i < wrapper->count; i++) {
        Stmt layer = wrapper->layers[i];
        bind_once(elab, &layer, result);
        BodyItem item = {stmt_new(elab->ctx, &layer), true};
        vec_push(elab->ctx->arena, &frame->items, item);
        frame->enclosing++;
    }
}

const Stmt *frame_finish(Elab *elab, const Frame *frame)
{
    Context *ctx = elab->ctx;
    const Stmt **pending = ARENA_ARRAY(ctx->arena, const Stmt *, frame->items.count + 1);
    int first = frame->items.count;
    /* PENDING is filled from its end, so that each enclosing statement finds what follows it in order. */
    for (int i = frame->items.count - 1; i >= 0; i--) {
        BodyItem item = frame->items.data[i];
        if (item.encloses_rest) {
            const Stmt *body = stmt_seq(ctx, pending + first, frame->items.count - first);
            first = frame->items.count;
            pending[--first] = stmt_with_body(ctx, item.stmt, body);
        } else {
            pending[--first] = item.stmt;
        }
    }
    return stmt_seq(ctx, pending + first, frame->items.count - first);
}

const Stmt *elab_body(Elab *elab, FrameKind kind, AstList body)
{
    Frame frame = {.kind = kind, .parent = elab->frame, .depth = elab->frame->depth + elab->frame->enclosing + 1};
    elab->frame = &frame;
    scope_push(elab);
    elab_statements(elab, body);
    scope_pop(elab);
    elab->frame = frame.parent;
    return frame_finish(elab, &frame);
}

Frame *frame_enclosing_block(const Elab *elab)
{
    Frame *frame = elab->frame;
    while (frame && frame->kind != FRAME_BLOCK)
        frame = frame->parent;
    return frame;
}

Frame *frame_require_block(Elab *elab, const Call *call)
{
    Frame *frame = elab->frame;
    if (!frame || frame->kind != FRAME_BLOCK) {
        diag_error(elab->ctx, call->span, "%s must stand directly in a 'with T.block(...)' body", call->builtin->name);
        return NULL;
    }
    if (frame->enclosing > 0) {
        diag_error(elab->ctx, call->span, "%s must come before the definitions in its block", call->builtin->name);
        return NULL;
    }
    return frame;
}
