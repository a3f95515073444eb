/* Node constructors for the grammar; see ast_build.h. Each node knows its height, and a tree beyond the limit is diagnosed once: whatever
   walks a tree may recurse. */
#include "parser/ast_build.h"

enum { TALLEST_TREE = 1000 };

static AstNode *node_new(Parse *parse, AstKind kind, Span span)
{
    AstNode *node = ARENA_NEW(parse->ctx->arena, AstNode);
    node->kind = kind;
    node->span = span;
    node->height = 1;
    return node;
}

static void check_height(Parse *parse, const AstNode *node, Span span)
{
    if (node->height <= TALLEST_TREE || parse->too_deep)
        return;
    parse->too_deep = true;
    diag_error(parse->ctx, span, "the program is nested more than %d levels deep here", TALLEST_TREE);
}

/* CHILD, which may be NULL, noted as one of NODE's. */
static const AstNode *adopt(Parse *parse, AstNode *node, const AstNode *child)
{
    if (!child || child->height < node->height)
        return child;
    node->height = child->height + 1;
    check_height(parse, node, child->span);
    return child;
}

static AstList adopt_list(Parse *parse, AstNode *node, const AstNodes *children)
{
    if (!children)
        return (AstList){NULL, 0};
    for (int i = 0; i < children->nodes.count; i++)
        adopt(parse, node, children->nodes.data[i]);
    return (AstList){children->nodes.data, children->nodes.count};
}

/* A chain of COUNT operands means one operation inside another. */
static void adopt_chain(Parse *parse, AstNode *node, int count)
{
    node->height += count - 2;
    check_height(parse, node, node->span);
}

/* --- lists --- */

AstNodes *ast_nodes_empty(Parse *parse)
{
    return ARENA_NEW(parse->ctx->arena, AstNodes);
}

AstNodes *ast_nodes_add(Parse *parse, AstNodes *nodes, const AstNode *node)
{
    vec_push(parse->ctx->arena, &nodes->nodes, node);
    return nodes;
}

AstNodes *ast_nodes_join(Parse *parse, AstNodes *nodes, const AstNodes *more)
{
    for (int i = 0; i < more->nodes.count; i++)
        ast_nodes_add(parse, nodes, more->nodes.data[i]);
    return nodes;
}

AstArgs *ast_args_add(Parse *parse, AstArgs *args, const AstNode *node)
{
    args = args ? args : ARENA_NEW(parse->ctx->arena, AstArgs);
    for (int i = 0; node->kind != AST_STARRED && i < args->keywords.count; i++)
        if (args->keywords.data[i].name) {
            diag_error(parse->ctx, node->span, "a positional argument cannot follow a keyword argument");
            break;
        }
    ast_nodes_add(parse, &args->positional, node);
    return args;
}

AstArgs *ast_args_add_keyword(Parse *parse, AstArgs *args, Str name, const AstNode *value, Span span)
{
    args = args ? args : ARENA_NEW(parse->ctx->arena, AstArgs);
    for (int i = 0; name && i < args->keywords.count; i++)
        if (args->keywords.data[i].name == name)
            diag_error(parse->ctx, span, "the keyword argument '%s' is given twice", name);
    AstKeyword keyword = {name, value, span};
    vec_push(parse->ctx->arena, &args->keywords, keyword);
    return args;
}

AstParams *ast_params_add(Parse *parse, AstParams *params, Str name, int stars, const AstNode *annotation, const AstNode *default_value,
                          Span span)
{
    params = params ? params : ARENA_NEW(parse->ctx->arena, AstParams);
    AstParam param = {name, stars, annotation, default_value, span};
    vec_push(parse->ctx->arena, &params->params, param);
    return params;
}

AstWithItems *ast_with_items_add(Parse *parse, AstWithItems *items, const AstNode *context, const AstNode *target)
{
    items = items ? items : ARENA_NEW(parse->ctx->arena, AstWithItems);
    AstWithItem item = {context, target};
    vec_push(parse->ctx->arena, &items->items, item);
    return items;
}

AstImports *ast_imports_add(Parse *parse, AstImports *imports, Str module, Str name, Str alias, Span span)
{
    imports = imports ? imports : ARENA_NEW(parse->ctx->arena, AstImports);
    AstImportItem item = {module, name, alias, span};
    vec_push(parse->ctx->arena, &imports->items, item);
    return imports;
}

AstClauses *ast_clauses_add(Parse *parse, AstClauses *clauses, const AstNode *target, const AstNode *iterable, const AstNodes *conditions)
{
    clauses = clauses ? clauses : ARENA_NEW(parse->ctx->arena, AstClauses);
    AstComprehensionClause clause = {target, iterable, {conditions->nodes.data, conditions->nodes.count}};
    vec_push(parse->ctx->arena, &clauses->clauses, clause);
    return clauses;
}

AstChain *ast_chain_start(Parse *parse, const AstNode *first)
{
    AstChain *chain = ARENA_NEW(parse->ctx->arena, AstChain);
    ast_nodes_add(parse, &chain->operands, first);
    return chain;
}

AstChain *ast_chain_add(Parse *parse, AstChain *chain, AstOp op, const AstNode *operand)
{
    vec_push(parse->ctx->arena, &chain->ops, op);
    ast_nodes_add(parse, &chain->operands, operand);
    return chain;
}

AstDict *ast_dict_add(Parse *parse, AstDict *dict, const AstNode *key, const AstNode *value)
{
    dict = dict ? dict : ARENA_NEW(parse->ctx->arena, AstDict);
    ast_nodes_add(parse, &dict->keys, key);
    ast_nodes_add(parse, &dict->values, value);
    return dict;
}

AstText *ast_text_add(Parse *parse, AstText *text, Str literal)
{
    text = text ? text : ARENA_NEW(parse->ctx->arena, AstText);
    text->joined.arena = parse->ctx->arena;
    strbuf_add(&text->joined, literal);
    return text;
}

/* --- expressions --- */

const AstNode *ast_leaf(Parse *parse, AstKind kind, Span span)
{
    return node_new(parse, kind, span);
}

const AstNode *ast_name(Parse *parse, Str name, Span span)
{
    AstNode *node = node_new(parse, AST_NAME, span);
    node->as.name = name;
    return node;
}

const AstNode *ast_int(Parse *parse, uint64_t value, Span span)
{
    AstNode *node = node_new(parse, AST_INT, span);
    node->as.integer = value;
    return node;
}

const AstNode *ast_float(Parse *parse, double value, Span span)
{
    AstNode *node = node_new(parse, AST_FLOAT, span);
    node->as.real = value;
    return node;
}

const AstNode *ast_string(Parse *parse, AstText *text, Span span)
{
    AstNode *node = node_new(parse, AST_STRING, span);
    node->as.text = intern(parse->ctx->strings, strbuf_text(&text->joined), text->joined.length);
    return text->parts ? ast_list(parse, AST_FORMAT, ast_nodes_add(parse, text->parts, node), span) : node;
}

const AstNode *ast_bool(Parse *parse, bool value, Span span)
{
    AstNode *node = node_new(parse, AST_BOOL, span);
    node->as.boolean = value;
    return node;
}

AstNode *ast_file(Parse *parse, const AstNodes *statements, Span span)
{
    AstNode *node = node_new(parse, AST_FILE, span);
    node->as.file.list = adopt_list(parse, node, statements);
    return node;
}

const AstNode *ast_list(Parse *parse, AstKind kind, const AstNodes *items, Span span)
{
    AstNode *node = node_new(parse, kind, span);
    node->as.list = adopt_list(parse, node, items);
    return node;
}

const AstNode *ast_dict(Parse *parse, const AstDict *dict, Span span)
{
    AstNode *node = node_new(parse, AST_DICT, span);
    node->as.dict.keys = adopt_list(parse, node, dict ? &dict->keys : NULL);
    node->as.dict.values = adopt_list(parse, node, dict ? &dict->values : NULL);
    return node;
}

const AstNode *ast_call(Parse *parse, const AstNode *callee, const AstArgs *args, Span span)
{
    AstNode *node = node_new(parse, AST_CALL, span);
    node->as.call.callee = adopt(parse, node, callee);
    if (!args)
        return node;
    node->as.call.args = adopt_list(parse, node, &args->positional);
    node->as.call.keywords = args->keywords.data;
    node->as.call.keyword_count = args->keywords.count;
    for (int i = 0; i < args->keywords.count; i++)
        adopt(parse, node, args->keywords.data[i].value);
    return node;
}

const AstNode *ast_attribute(Parse *parse, const AstNode *value, Str name, Span name_span, Span span)
{
    AstNode *node = node_new(parse, AST_ATTRIBUTE, span);
    node->as.attribute.value = adopt(parse, node, value);
    node->as.attribute.name = name;
    node->as.attribute.name_span = name_span;
    return node;
}

const AstNode *ast_subscript(Parse *parse, const AstNode *value, const AstNode *index, Span span)
{
    AstNode *node = node_new(parse, AST_SUBSCRIPT, span);
    node->as.subscript.value = adopt(parse, node, value);
    node->as.subscript.index = adopt(parse, node, index);
    return node;
}

const AstNode *ast_slice(Parse *parse, const AstNode *lower, const AstNode *upper, const AstNode *step, Span span)
{
    AstNode *node = node_new(parse, AST_SLICE, span);
    node->as.slice.lower = adopt(parse, node, lower);
    node->as.slice.upper = adopt(parse, node, upper);
    node->as.slice.step = adopt(parse, node, step);
    return node;
}

const AstNode *ast_unary(Parse *parse, AstOp op, const AstNode *operand, Span span)
{
    AstNode *node = node_new(parse, AST_UNARY, span);
    node->as.unary.op = op;
    node->as.unary.operand = adopt(parse, node, operand);
    return node;
}

const AstNode *ast_binary(Parse *parse, AstOp op, const AstNode *left, const AstNode *right, Span span)
{
    AstNode *node = node_new(parse, AST_BINARY, span);
    node->as.binary.op = op;
    node->as.binary.left = adopt(parse, node, left);
    node->as.binary.right = adopt(parse, node, right);
    return node;
}

const AstNode *ast_compare(Parse *parse, const AstChain *chain, Span span)
{
    AstNode *node = node_new(parse, AST_COMPARE, span);
    AstList operands = adopt_list(parse, node, &chain->operands);
    node->as.compare.first = operands.items[0];
    node->as.compare.rest = (AstList){operands.items + 1, operands.count - 1};
    node->as.compare.ops = chain->ops.data;
    adopt_chain(parse, node, operands.count);
    return node;
}

const AstNode *ast_bool_op(Parse *parse, AstOp op, const AstNodes *operands, Span span)
{
    AstNode *node = node_new(parse, AST_BOOL_OP, span);
    node->as.bool_op.op = op;
    node->as.bool_op.operands = adopt_list(parse, node, operands);
    adopt_chain(parse, node, operands->nodes.count);
    return node;
}

const AstNode *ast_conditional(Parse *parse, const AstNode *condition, const AstNode *if_true, const AstNode *if_false, Span span)
{
    AstNode *node = node_new(parse, AST_CONDITIONAL, span);
    node->as.conditional.condition = adopt(parse, node, condition);
    node->as.conditional.if_true = adopt(parse, node, if_true);
    node->as.conditional.if_false = adopt(parse, node, if_false);
    return node;
}

static void adopt_params(Parse *parse, AstNode *node, const AstParams *params)
{
    for (int i = 0; params && i < params->params.count; i++) {
        adopt(parse, node, params->params.data[i].annotation);
        adopt(parse, node, params->params.data[i].default_value);
    }
}

const AstNode *ast_lambda(Parse *parse, const AstParams *params, const AstNode *body, Span span)
{
    AstNode *node = node_new(parse, AST_LAMBDA, span);
    adopt_params(parse, node, params);
    node->as.lambda.params = params ? params->params.data : NULL;
    node->as.lambda.param_count = params ? params->params.count : 0;
    node->as.lambda.body = adopt(parse, node, body);
    return node;
}

const AstNode *ast_comprehension(Parse *parse, const AstNode *element, const AstClauses *clauses, Span span)
{
    return ast_dict_comprehension(parse, NULL, element, clauses, span);
}

const AstNode *ast_generator(Parse *parse, const AstNode *element, const AstClauses *clauses, Span span)
{
    AstNode *node = (AstNode *)ast_comprehension(parse, element, clauses, span);
    node->as.comprehension.generator = true;
    return node;
}

const AstNode *ast_set_comprehension(Parse *parse, const AstNode *element, const AstClauses *clauses, Span span)
{
    AstNode *node = (AstNode *)ast_comprehension(parse, element, clauses, span);
    node->as.comprehension.set = true;
    return node;
}

const AstNode *ast_dict_comprehension(Parse *parse, const AstNode *key, const AstNode *element, const AstClauses *clauses, Span span)
{
    AstNode *node = node_new(parse, AST_COMPREHENSION, span);
    node->as.comprehension.key = adopt(parse, node, key);
    node->as.comprehension.element = adopt(parse, node, element);
    node->as.comprehension.clauses = clauses->clauses.data;
    node->as.comprehension.clause_count = clauses->clauses.count;
    for (int i = 0; i < clauses->clauses.count; i++) {
        const AstComprehensionClause *clause = &clauses->clauses.data[i];
        adopt(parse, node, clause->target);
        adopt(parse, node, clause->iterable);
        for (int j = 0; j < clause->conditions.count; j++)
            adopt(parse, node, clause->conditions.items[j]);
    }
    if (!parse->too_deep)
        ast_check_comprehension(parse, node);
    return node;
}

const AstNode *ast_wrap(Parse *parse, AstKind kind, const AstNode *operand, Span span)
{
    AstNode *node = node_new(parse, kind, span);
    node->as.operand = adopt(parse, node, operand);
    return node;
}

const AstNode *ast_field(Parse *parse, const AstNode *value, char conversion, const AstNode *spec, Span span)
{
    AstNode *node = node_new(parse, AST_FIELD, span);
    node->as.field.value = adopt(parse, node, value);
    node->as.field.spec = adopt(parse, node, spec);
    node->as.field.conversion = conversion;
    return node;
}

/* --- statements --- */

const AstNode *ast_delete(Parse *parse, const AstNodes *targets, Span span)
{
    AstNode *node = node_new(parse, AST_DELETE, span);
    node->as.list = adopt_list(parse, node, targets);
    for (int i = 0; i < node->as.list.count; i++)
        if (node->as.list.items[i]->kind == AST_STARRED)
            diag_error(parse->ctx, node->as.list.items[i]->span, "cannot delete %s", ast_kind_name(AST_STARRED));
    return node;
}

void ast_check_target(Parse *parse, const AstNode *node)
{
    switch (node->kind) {
    case AST_NAME:
    case AST_ATTRIBUTE:
    case AST_SUBSCRIPT:
        return;
    case AST_STARRED:
        ast_check_target(parse, node->as.operand);
        return;
    case AST_TUPLE:
    case AST_LIST:
        for (int i = 0; !parse->too_deep && i < node->as.list.count; i++)
            ast_check_target(parse, node->as.list.items[i]);
        return;
    default:
        if (!token_stream_repaired(parse->tokens, node->span))
            diag_error(parse->ctx, node->span, "cannot assign to %s", ast_kind_name(node->kind));
    }
}

const AstNode *ast_assign(Parse *parse, const AstNodes *chain, Span span)
{
    AstNode *node = node_new(parse, AST_ASSIGN, span);
    AstList all = adopt_list(parse, node, chain);
    node->as.assign.targets = (AstList){all.items, all.count - 1};
    node->as.assign.value = all.items[all.count - 1];
    for (int i = 0; i < all.count - 1; i++)
        ast_check_target(parse, all.items[i]);
    return node;
}

/* A target that holds exactly one place: no tuple. */
static void check_single_target(Parse *parse, const AstNode *target)
{
    bool several = target->kind == AST_TUPLE || target->kind == AST_LIST || target->kind == AST_STARRED;
    if (!several)
        ast_check_target(parse, target);
    else if (!token_stream_repaired(parse->tokens, target->span))
        diag_error(parse->ctx, target->span, "cannot assign to %s here", ast_kind_name(target->kind));
}

const AstNode *ast_ann_assign(Parse *parse, const AstNode *target, const AstNode *annotation, const AstNode *value, Span span)
{
    AstNode *node = node_new(parse, AST_ANN_ASSIGN, span);
    check_single_target(parse, target);
    node->as.ann_assign.target = adopt(parse, node, target);
    node->as.ann_assign.annotation = adopt(parse, node, annotation);
    node->as.ann_assign.value = adopt(parse, node, value);
    return node;
}

const AstNode *ast_aug_assign(Parse *parse, AstOp op, const AstNode *target, const AstNode *value, Span span)
{
    AstNode *node = node_new(parse, AST_AUG_ASSIGN, span);
    check_single_target(parse, target);
    node->as.aug_assign.op = op;
    node->as.aug_assign.target = adopt(parse, node, target);
    node->as.aug_assign.value = adopt(parse, node, value);
    return node;
}

const AstNode *ast_for(Parse *parse, const AstNode *target, const AstNode *iterable, const AstNodes *body, const AstNodes *else_body,
                       Span span)
{
    AstNode *node = node_new(parse, AST_FOR, span);
    node->as.for_loop.target = adopt(parse, node, target);
    node->as.for_loop.iterable = adopt(parse, node, iterable);
    node->as.for_loop.body = adopt_list(parse, node, body);
    node->as.for_loop.else_body = adopt_list(parse, node, else_body);
    return node;
}

const AstNode *ast_while(Parse *parse, const AstNode *condition, const AstNodes *body, const AstNodes *else_body, Span span)
{
    AstNode *node = node_new(parse, AST_WHILE, span);
    node->as.while_loop.condition = adopt(parse, node, condition);
    node->as.while_loop.body = adopt_list(parse, node, body);
    node->as.while_loop.else_body = adopt_list(parse, node, else_body);
    return node;
}

const AstNode *ast_try(Parse *parse, const AstNodes *body, const AstNodes *handlers, const AstNodes *else_body, const AstNodes *finally_body,
                       Span span)
{
    AstNode *node = node_new(parse, AST_TRY, span);
    node->as.attempt.body = adopt_list(parse, node, body);
    node->as.attempt.handlers = adopt_list(parse, node, handlers);
    node->as.attempt.else_body = adopt_list(parse, node, else_body);
    node->as.attempt.finally_body = adopt_list(parse, node, finally_body);
    return node;
}

const AstNode *ast_except(Parse *parse, const AstNode *type, Str name, const AstNodes *body, Span span)
{
    AstNode *node = node_new(parse, AST_EXCEPT, span);
    node->as.handler.type = adopt(parse, node, type);
    node->as.handler.name = name;
    node->as.handler.body = adopt_list(parse, node, body);
    return node;
}

const AstNode *ast_named(Parse *parse, Str name, const AstNode *value, Span span)
{
    AstNode *node = node_new(parse, AST_NAMED, span);
    node->as.named.name = name;
    node->as.named.value = adopt(parse, node, value);
    return node;
}

const AstNode *ast_if(Parse *parse, const AstNode *condition, const AstNodes *body, const AstNodes *else_body, Span span)
{
    AstNode *node = node_new(parse, AST_IF, span);
    node->as.branch.condition = adopt(parse, node, condition);
    node->as.branch.body = adopt_list(parse, node, body);
    node->as.branch.else_body = adopt_list(parse, node, else_body);
    return node;
}

const AstNode *ast_with(Parse *parse, const AstWithItems *items, const AstNodes *body, Span span)
{
    AstNode *node = node_new(parse, AST_WITH, span);
    node->as.with.items = items->items.data;
    node->as.with.item_count = items->items.count;
    for (int i = 0; i < items->items.count; i++) {
        adopt(parse, node, items->items.data[i].context);
        adopt(parse, node, items->items.data[i].target);
    }
    node->as.with.body = adopt_list(parse, node, body);
    return node;
}

const AstNode *ast_def(Parse *parse, Str name, Span name_span, const AstParams *params, const AstNode *returns, const AstNodes *body,
                       Span span)
{
    AstNode *node = node_new(parse, AST_DEF, span);
    node->as.def.name = name;
    node->as.def.name_span = name_span;
    adopt_params(parse, node, params);
    node->as.def.params = params ? params->params.data : NULL;
    node->as.def.param_count = params ? params->params.count : 0;
    node->as.def.returns = adopt(parse, node, returns);
    node->as.def.body = adopt_list(parse, node, body);
    return node;
}

const AstNode *ast_class(Parse *parse, Str name, Span name_span, const AstNodes *bases, const AstNodes *body, Span span)
{
    AstNode *node = node_new(parse, AST_CLASS, span);
    node->as.class_def.name = name;
    node->as.class_def.name_span = name_span;
    node->as.class_def.bases = adopt_list(parse, node, bases);
    node->as.class_def.body = adopt_list(parse, node, body);
    return node;
}

const AstNode *ast_decorate(Parse *parse, const AstNode *node, const AstNodes *decorators)
{
    AstNode *decorated = arena_copy(parse->ctx->arena, node, sizeof *node);
    AstList list = adopt_list(parse, decorated, decorators);
    if (node->kind == AST_DEF)
        decorated->as.def.decorators = list;
    else
        decorated->as.class_def.decorators = list;
    return decorated;
}

const AstNode *ast_assert(Parse *parse, const AstNode *condition, const AstNode *message, Span span)
{
    AstNode *node = node_new(parse, AST_ASSERT, span);
    node->as.assertion.condition = adopt(parse, node, condition);
    node->as.assertion.message = adopt(parse, node, message);
    return node;
}

const AstNode *ast_import(Parse *parse, const AstImports *imports, Span span)
{
    AstNode *node = node_new(parse, AST_IMPORT, span);
    node->as.import.items = imports->items.data;
    node->as.import.count = imports->items.count;
    return node;
}

const AstNode *ast_import_from(Parse *parse, Str module, AstImports *imports, Span span)
{
    for (int i = 0; i < imports->items.count; i++)
        imports->items.data[i].module = module;
    return ast_import(parse, imports, span);
}
