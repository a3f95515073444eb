/* Pass "unroll_loop": the iterations of unrolled loops are written out.

     T.attr(0, "pragma_auto_unroll_max_step", 4)        A_1[i * 2] = T.float32(0.0)
     for u in range(2):                           ->    A_1[i * 2 + 1] = T.float32(0.0)
         A_1[i * 2 + u] = T.float32(0.0)

   Inside of the attribute pragma_auto_unroll_max_step, serial loops are unrolled too, from the inside out, while the stores and calls that come
   of it are no more than its value. With pragma_unroll_explicit 0 loops are only marked: code generation writes them out. Both stand around a
   loop, or are annotations of it. A loop with T.break_loop, T.continue_loop or T.ret in it stays. */
#include <string.h>

#include "passes/lower/loops/unroll.h"
#include "passes/transform/internal.h"

typedef struct {
    Context *ctx;
    int64_t most_steps; /* pragma_auto_unroll_max_step */
    bool writes_out;    /* pragma_unroll_explicit */
    /* of what was rewritten last */
    int64_t steps;     /* stores and calls, written out */
    int nested;        /* unrolled loops in one another */
    int kept;          /* loops in one another that stay */
} Unroller;

enum { MOST_NESTED = 8 };

/* KEY and VALUE say how loops are unrolled; false: they say something else. */
static bool read_pragma(Unroller *unroller, const char *key, const Expr *value)
{
    int64_t number;
    if (!value || !expr_const_int(value, &number))
        return false;
    if (!strcmp(key, "pragma_auto_unroll_max_step"))
        unroller->most_steps = number;
    else if (!strcmp(key, "pragma_unroll_explicit"))
        unroller->writes_out = number != 0;
    else
        return false;
    return true;
}

/* The annotations of a loop without those that read_pragma understands. */
static Attrs read_annotations(Unroller *unroller, Attrs annotations)
{
    for (int i = annotations.count - 1; i >= 0; i--) {
        const AttrValue *value = annotations.entries[i].value;
        if (value->kind == ATTR_EXPR && read_pragma(unroller, annotations.entries[i].key, value->expr))
            annotations = attrs_remove(unroller->ctx, annotations, annotations.entries[i].key);
    }
    return annotations;
}

static bool may_unroll(const Unroller *unroller, const ForStmt *loop)
{
    int64_t extent;
    if (loop->kind == FOR_UNROLLED)
        return true;
    if (loop->kind != FOR_SERIAL || !expr_const_int(loop->extent, &extent) || extent < 0 || unroller->kept || unroller->nested > MOST_NESTED)
        return false;
    return unroller->most_steps > 0 && unroller->steps <= unroller->most_steps / (extent > 0 ? extent : 1) && !stmt_has_jump(loop->body);
}

static const Stmt *unroll_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *unroll_for(Rewriter *rewriter, const Stmt *stmt)
{
    Unroller *unroller = rewriter->data;
    Unroller before = *unroller;
    ForStmt loop = stmt->as.loop;
    loop.annotations = read_annotations(unroller, loop.annotations);
    loop.body = unroll_stmt(rewriter, loop.body);
    bool unrolls = may_unroll(unroller, &loop);
    int64_t extent;
    const Stmt *result;
    if (unrolls) {
        loop.kind = FOR_UNROLLED;
        unroller->steps *= expr_const_int(loop.extent, &extent) ? extent : 1;
        unroller->nested++;
        result = stmt_for(unroller->ctx, loop, stmt->span);
        result = unroller->writes_out ? stmt_written_out(unroller->ctx, result) : result;
    } else {
        unroller->kept++;
        result = stmt_for(unroller->ctx, loop, stmt->span);
    }
    unroller->most_steps = before.most_steps;
    unroller->writes_out = before.writes_out;
    return result;
}

static const Stmt *unroll_attr(Rewriter *rewriter, const Stmt *stmt)
{
    Unroller *unroller = rewriter->data;
    int64_t most_steps = unroller->most_steps;
    bool writes_out = unroller->writes_out;
    bool read = read_pragma(unroller, stmt->as.attr.key, stmt->as.attr.value);
    const Stmt *body = unroll_stmt(rewriter, stmt->as.attr.body);
    unroller->most_steps = most_steps;
    unroller->writes_out = writes_out;
    return read ? body : stmt_with_body(unroller->ctx, stmt, body);
}

/* Parts of a sequence add up. */
static const Stmt *unroll_seq(Rewriter *rewriter, const Stmt *stmt)
{
    Unroller *unroller = rewriter->data, total = *unroller;
    const Stmt **items = ARENA_ARRAY(unroller->ctx->arena, const Stmt *, stmt->as.seq.count);
    total.steps = total.nested = total.kept = 0;
    for (int i = 0; i < stmt->as.seq.count; i++) {
        unroller->steps = unroller->nested = unroller->kept = 0;
        items[i] = unroll_stmt(rewriter, stmt->as.seq.items[i]);
        total.steps += unroller->steps;
        total.nested = unroller->nested > total.nested ? unroller->nested : total.nested;
        total.kept = unroller->kept > total.kept ? unroller->kept : total.kept;
    }
    *unroller = total;
    return stmt_seq(unroller->ctx, items, stmt->as.seq.count);
}

static const Stmt *unroll_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Unroller *unroller = rewriter->data;
    switch (stmt->kind) {
    case STMT_FOR: return unroll_for(rewriter, stmt);
    case STMT_ATTR: return unroll_attr(rewriter, stmt);
    case STMT_SEQ: return unroll_seq(rewriter, stmt);
    case STMT_STORE:
    case STMT_EVALUATE: unroller->steps++; return stmt;
    default: return rewrite_stmt_children(rewriter, stmt);
    }
}

const Func *transform_unroll(LowerState *state, const Func *func)
{
    Unroller unroller = {.ctx = state->ctx, .writes_out = true};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = unroll_stmt, .data = &unroller};
    return func_with_body(state->ctx, func, unroll_stmt(&rewriter, func->body));
}
