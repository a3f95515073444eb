/* Operations that scripts register, and the rules by which they are lowered: functions of the script, each for a target. The rules are run when
   the program is compiled or interpreted, after the script. */
#include <string.h>

#include "ir/walk.h"
#include "script/te.h"

enum { MOST_ROUNDS = 32 };

typedef struct {
    Str operation, target; /* "tir.mysq"; "llvm" or "default" */
    int64_t level;
    Value function;
    Script *script;
    Span span;
} IntrinRule;

struct IntrinRules {
    VEC(IntrinRule) rules;
};

/* --- registration --- */

bool script_register_op_attr(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[4];
    Str operation, key;
    *result = value_none();
    if (!te_bind(script, "register_op_attr", arguments, "op_name attr_key value? level?", values) || !te_name(script, values[0], "", &operation) ||
        !te_name(script, values[1], "", &key))
        return false;
    if (strcmp(key, "TCallEffectKind"))
        return true;
    const Object *kind = values[2] ? value_object(*values[2], OBJECT_NAMESPACE) : NULL;
    const char *name = kind ? strrchr(kind->as.path, '.') + 1 : "";
    bool pure = !strcmp(name, "Pure") || !strcmp(name, "ExprAnnotation");
    if (!kind)
        return script_error(script, arguments->span, "the kind of the effect is one of tvm.tir.CallEffectKind");
    map_set(script->ctx->arena, &script->ctx->pure_operations, context_intern(script->ctx, operation),
            pure ? (void *)context_intern(script->ctx, operation) : NULL);
    return true;
}

bool script_register_lowering(Script *script, const Arguments *arguments, Value *result)
{
    Context *ctx = script->ctx;
    const Value *values[4];
    IntrinRule rule = {.level = 10, .script = script->kept, .span = arguments->span};
    *result = value_none();
    if (!te_bind(script, "register_intrin_lowering", arguments, "op_name target f? level?", values) ||
        !te_name(script, values[0], "", &rule.operation) || !te_name(script, values[1], "", &rule.target))
        return false;
    if (!values[2] || values[2]->kind != VALUE_SCRIPT || !script_is_callable(values[2]->as.script))
        return script_error(script, arguments->span, "register_intrin_lowering needs the function 'f'");
    if (values[3] && values[3]->kind != VALUE_INT)
        return script_error(script, values[3]->span, "'level' must be an int, not %s", script_type_phrase(script, *values[3]));
    Op known;
    if (!strcmp(rule.target, "llvm") && te_named_op(rule.operation, &known))
        return script_error(script, arguments->span, "'%s' is an operation of tirc, whose code for a CPU no rule replaces; register an operation of another name",
                            rule.operation);
    rule.function = *values[2];
    rule.level = values[3] ? values[3]->as.integer : rule.level;
    if (!ctx->intrin_rules)
        ctx->intrin_rules = ARENA_NEW(ctx->base_arena, struct IntrinRules);
    for (int i = 0; i < ctx->intrin_rules->rules.count; i++) {
        const IntrinRule *other = &ctx->intrin_rules->rules.data[i];
        if (strcmp(other->operation, rule.operation) || strcmp(other->target, rule.target) || other->level != rule.level)
            continue;
        script_error(script, arguments->span, "'%s' has a rule of level %lld for the target \"%s\" already", rule.operation, (long long)rule.level,
                     rule.target);
        diag_note(ctx, other->span, "it is registered here");
        return false;
    }
    vec_push(ctx->base_arena, &ctx->intrin_rules->rules, rule);
    *result = *values[2];
    return true;
}

/* --- lowering --- */

/* The rule of the greatest level for OPERATION and TARGET; NULL: there is none. */
static const IntrinRule *find_rule(const Context *ctx, const char *operation, const char *target)
{
    const IntrinRule *found = NULL;
    for (int i = 0; ctx->intrin_rules && i < ctx->intrin_rules->rules.count; i++) {
        const IntrinRule *rule = &ctx->intrin_rules->rules.data[i];
        bool fits = !strcmp(rule->operation, operation) && !strcmp(rule->target, target);
        if (fits && (!found || rule->level > found->level))
            found = rule;
    }
    return found;
}

typedef struct {
    Context *ctx;
    int depth;
    bool failed;
} Lowering;

/* The first part of what a rule gives for CALL that is neither of its arguments nor defined by the rule itself: a variable, or an element of a buffer. */
typedef struct {
    const Expr *call;
    Arena *arena;
    VEC(const Var *) bound;
    const Expr *foreign;
} Foreign;

static bool find_foreign(Visitor *visitor, const Expr *expr)
{
    Foreign *foreign = visitor->data;
    if (expr->kind == EXPR_LET)
        vec_push(foreign->arena, &foreign->bound, expr->value.var);
    bool own = true;
    if (expr->kind == EXPR_LOAD)
        own = expr_uses_buffer(foreign->call, expr->value.buffer);
    if (expr->kind == EXPR_VAR) {
        own = expr_uses_var(foreign->call, expr->value.var);
        for (int i = 0; i < foreign->bound.count; i++)
            own |= foreign->bound.data[i] == expr->value.var;
    }
    if (!own && !foreign->foreign)
        foreign->foreign = expr;
    return true;
}

static bool check_own(Context *ctx, const IntrinRule *rule, const Expr *call, const Expr *made)
{
    Foreign foreign = {.call = call, .arena = ctx->arena};
    Visitor visitor = {.expr = find_foreign, .data = &foreign};
    visit_expr(&visitor, made);
    if (!foreign.foreign)
        return true;
    bool load = foreign.foreign->kind == EXPR_LOAD;
    return script_error(rule->script, call->span, "the rule for '%s' gives %s '%s', which is no part of its arguments", rule->operation,
                        load ? "an element of" : "the variable", load ? foreign.foreign->value.buffer->name : foreign.foreign->value.var->name);
}

/* What RULE gives for CALL. Where that is CALL itself, OTHERWISE is asked, which may be NULL. */
static const Expr *run_rule(Lowering *lowering, const IntrinRule *rule, const IntrinRule *otherwise, const Expr *call)
{
    Script *script = rule->script;
    Value op = te_expr_value(call), result;
    const Expr *made;
    Arguments arguments = {.positional = &op, .positional_count = 1, .span = call->span};
    script->scope = script->globals;
    if (!script_call_value(script, rule->function, &arguments, &result) || !te_to_expr(script, result, call->span, &made))
        return NULL;
    if (made == call && otherwise)
        return run_rule(lowering, otherwise, NULL, call);
    if (made == call)
        script_error(script, call->span, "the rule for '%s' gives the operation itself: it does not lower it", rule->operation);
    else if (!dtype_equal(made->dtype, call->dtype))
        script_error(script, call->span, "the rule for '%s' gives %s, but the operation is %s", rule->operation, dtype_name(lowering->ctx, made->dtype),
                     dtype_name(lowering->ctx, call->dtype));
    else if (check_own(lowering->ctx, rule, call, made))
        return made;
    diag_note(lowering->ctx, rule->span, "the rule is registered here");
    return NULL;
}

static const Expr *lower_expr(Rewriter *rewriter, const Expr *expr)
{
    Lowering *lowering = rewriter->data;
    bool custom = expr_is_call(expr, OP_CALL_INTRIN) || expr_is_call(expr, OP_CALL_PURE_INTRIN);
    expr = rewrite_expr_children(rewriter, expr);
    if (!custom || lowering->failed)
        return expr;
    const char *operation = expr->args[0]->value.text;
    const IntrinRule *own = find_rule(lowering->ctx, operation, "llvm"), *general = find_rule(lowering->ctx, operation, "default");
    const IntrinRule *rule = own ? own : general;
    if (!rule)
        diag_error(lowering->ctx, expr->span, "the operation '%s' has no rule for the target llvm; tvm.ir.register_intrin_lowering gives it one", operation);
    else if (++lowering->depth > MOST_ROUNDS)
        diag_error(lowering->ctx, expr->span, "the rules for '%s' lead to operations again and again", operation);
    else {
        const Expr *made = run_rule(lowering, rule, own ? general : NULL, expr);
        const Expr *lowered = made ? rewrite_expr(rewriter, made) : NULL;
        lowering->depth--;
        lowering->failed |= !lowered;
        return lowered ? lowered : expr;
    }
    lowering->failed = true;
    return expr;
}

static bool find_custom(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr_is_call(expr, OP_CALL_INTRIN) || expr_is_call(expr, OP_CALL_PURE_INTRIN);
    return true;
}

const Module *script_lower_intrinsics(Context *ctx, const Module *module)
{
    Lowering lowering = {.ctx = ctx};
    const Module *lowered = module;
    for (int i = 0; i < module->func_count; i++) {
        bool custom = false;
        Visitor visitor = {.expr = find_custom, .data = &custom};
        visit_stmt(&visitor, module->funcs[i]->body);
        if (!custom)
            continue;
        Rewriter rewriter = {.ctx = ctx, .expr = lower_expr, .data = &lowering};
        const Stmt *body = rewrite_stmt(&rewriter, module->funcs[i]->body);
        lowered = module_with_func(ctx, lowered, i, func_with_body(ctx, module->funcs[i], body));
    }
    return lowering.failed ? NULL : lowered;
}
