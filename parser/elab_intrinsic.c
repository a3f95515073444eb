/* Calls of the operations in ir/intrinsics.def: types of arguments and results, extern and packed calls, pointers; see elab.h. */
#include "ir/fold.h"
#include "parser/elab.h"

/* --- arguments --- */

/* The arguments as expressions; NULL after a diagnostic. */
static const Expr **read_args(Elab *elab, const Value *values, int count)
{
    const Expr **args = ARENA_ARRAY(elab->ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++)
        if (!(args[i] = value_to_expr(elab, &values[i])))
            return NULL;
    return args;
}

static bool check_arg_count(Elab *elab, Op op, int count, Span span)
{
    const OpInfo *info = op_info(op);
    if (count >= info->fewest_args && (info->most_args < 0 || count <= info->most_args))
        return true;
    const char *bound = info->fewest_args == info->most_args ? "" : count < info->fewest_args ? "at least " : "at most ";
    int expected = count < info->fewest_args ? info->fewest_args : info->most_args;
    diag_error(elab->ctx, span, "T.%s takes %s%d argument%s, but %d %s given", info->name, bound, expected, expected == 1 ? "" : "s", count,
               count == 1 ? "is" : "are");
    return false;
}

/* --- elementwise mathematics --- */

static bool is_float_math(Op op)
{
    return op >= OP_EXP && op <= OP_ISFINITE;
}

static bool keeps_integers(Op op)
{
    return op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND || op == OP_NEARBYINT || op == OP_TRUNC;
}

static DType common_float_type(const Expr *const *args, int count)
{
    for (int i = 0; i < count; i++)
        if (args[i] && dtype_is_float(args[i]->dtype))
            return args[i]->dtype;
    return DTYPE_FLOAT32;
}

/* Brings the arguments to one float type: constants take the type of the others. Only ldexp has a second argument of another kind, an
   integer. */
static bool read_float_args(Elab *elab, Op op, const Value *values, int count, const Expr **args)
{
    if (op == OP_LDEXP)
        return (args[0] = value_to_expr(elab, &values[0])) && (args[1] = value_to_integer(elab, &values[1], "the exponent of T.ldexp"));
    for (int i = 0; i < count; i++)
        args[i] = value_is_number(&values[i]) ? NULL : value_to_expr(elab, &values[i]);
    DType dtype = common_float_type(args, count);
    for (int i = 0; i < count; i++) {
        if (!value_is_number(&values[i]) && !args[i])
            return false;
        if (!args[i] && !(args[i] = value_to_typed(elab, &values[i], dtype_scalar(dtype))))
            return false;
    }
    for (int i = 1; i < count; i++)
        if (!op_match_types(elab->ctx, &args[0], &args[i], values[i].span))
            return false;
    return count < 3 || op_match_types(elab->ctx, &args[0], &args[1], values[1].span);
}

static Value float_math(Elab *elab, Op op, const Value *values, int count, Span span)
{
    const Expr *args[3];
    if (!read_float_args(elab, op, values, count, args))
        return value_error();
    DType dtype = args[0]->dtype;
    if (!dtype_is_float(dtype) && dtype_is_integer(dtype) && keeps_integers(op))
        return value_expr(args[0], span);
    if (!dtype_is_float(dtype)) {
        diag_error(elab->ctx, span, "T.%s needs a float, not %s", op_info(op)->name, expr_type_name(elab->ctx, args[0]));
        return value_error();
    }
    const Expr *folded = fold_rounding(elab->ctx, op, args[0]);
    if (folded)
        return value_expr(folded, span);
    DType result = op_info(op)->result == RESULT_BOOL ? dtype_with_lanes(DTYPE_BOOL, dtype.lanes) : dtype;
    return value_expr(expr_call(elab->ctx, result, op, args, count, span), span);
}

static Value integer_math(Elab *elab, Op op, const Value *values, Span span)
{
    const Expr *arg = value_to_expr(elab, &values[0]);
    if (!arg)
        return value_error();
    if (op == OP_BITWISE_NOT)
        return value_expr(op_bits(elab->ctx, op, arg, NULL, span), span);
    if (!dtype_is_integer(arg->dtype)) {
        diag_error(elab->ctx, span, "T.%s needs an integer, not %s", op_info(op)->name, expr_type_name(elab->ctx, arg));
        return value_error();
    }
    DType result = op == OP_CLZ ? dtype_with_lanes(DTYPE_INT32, arg->dtype.lanes) : arg->dtype;
    return value_expr(expr_call(elab->ctx, result, op, &arg, 1, span), span);
}

/* --- others --- */

static bool result_type(Elab *elab, Op op, const Expr *const *args, Span span, DType *result)
{
    switch (op_info(op)->result) {
    case RESULT_FIRST: *result = args[0]->dtype; return true;
    case RESULT_SECOND: *result = args[1]->dtype; return true;
    case RESULT_BOOL: *result = DTYPE_BOOL; return true;
    case RESULT_INT32: *result = DTYPE_INT32; return true;
    case RESULT_UINT32: *result = DTYPE(DT_UINT, 32); return true;
    case RESULT_HANDLE: *result = DTYPE_HANDLE; return true;
    case RESULT_VOID: *result = DTYPE_VOID; return true;
    case RESULT_GIVEN: break;
    }
    diag_error(elab->ctx, span, "the type of T.%s's result is missing", op_info(op)->name);
    return false;
}

static Value condition_hint(Elab *elab, Op op, const Value *value, Span span)
{
    const Expr *condition = value_to_condition(elab, value);
    return condition ? value_expr(expr_call(elab->ctx, condition->dtype, op, &condition, 1, span), span) : value_error();
}

static Value address_of(Elab *elab, const Value *value, Span span)
{
    if (value->kind != VALUE_EXPR || value->as.expr->kind != EXPR_LOAD) {
        diag_error(elab->ctx, span, "T.address_of takes an element of a buffer, not %s", value_kind_name(value->kind));
        return value_error();
    }
    return value_expr(expr_call(elab->ctx, DTYPE_HANDLE, OP_ADDRESS_OF, &value->as.expr, 1, span), span);
}

/* T.ret(value): what a function returns is the code that its object returns. */
static Value return_value(Elab *elab, const Value *value, Span span)
{
    const Expr *expr = value_is_number(value) ? value_to_typed(elab, value, DTYPE_INT32) : value_to_expr(elab, value);
    if (expr && !dtype_equal(expr->dtype, DTYPE_INT32)) {
        diag_error(elab->ctx, value->span, "a function returns an int32, not %s; other results are stored in buffers", expr_type_name(elab->ctx, expr));
        expr = NULL;
    }
    return expr ? value_expr(expr_call(elab->ctx, DTYPE_VOID, OP_RET, &expr, 1, span), span) : value_error();
}

Value elab_intrinsic(Elab *elab, Op op, const Value *values, int count, Span span)
{
    DType dtype;
    if (!check_arg_count(elab, op, count, span))
        return value_error();
    if (is_float_math(op))
        return float_math(elab, op, values, count, span);
    switch (op) {
    case OP_POPCOUNT:
    case OP_CLZ:
    case OP_BITWISE_NOT: return integer_math(elab, op, values, span);
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
    case OP_BITWISE_AND:
    case OP_BITWISE_OR:
    case OP_BITWISE_XOR: return elab_bit_operation(elab, op, &values[0], &values[1], span);
    case OP_LIKELY:
    case OP_ASSUME: return condition_hint(elab, op, &values[0], span);
    case OP_ADDRESS_OF: return address_of(elab, &values[0], span);
    case OP_RET:
        if (count)
            return return_value(elab, &values[0], span);
        break;
    default: break;
    }
    const Expr **args = read_args(elab, values, count);
    if (!args || !result_type(elab, op, args, span, &dtype))
        return value_error();
    return value_expr(expr_call(elab->ctx, dtype, op, args, count, span), span);
}

/* --- calls that state their type --- */

static bool takes_callee_name(Op op)
{
    return op == OP_CALL_EXTERN || op == OP_CALL_PURE_EXTERN || op == OP_CALL_INTRIN || op == OP_CALL_PURE_INTRIN;
}

/* T.call_extern("int32", "f", ...) and T.call_extern("f", ..., dtype="int32"). */
Value builtin_typed_call(Elab *elab, const Call *call)
{
    Op op = (Op)call->builtin->variant;
    ValueList args = call->rest;
    DType dtype;
    if (!call_has(call, "dtype") && args.count == 0) {
        diag_error(elab->ctx, call->span, "%s misses the type of its result", call->builtin->name);
        return value_error();
    }
    bool leads = !call_has(call, "dtype");
    const Value *type = leads ? &args.items[0] : call_arg(call, "dtype");
    if (leads && takes_callee_name(op) && args.count >= 1 && (args.count == 1 || args.items[1].kind != VALUE_STRING) &&
        type->kind == VALUE_STRING && *type->as.text && !dtype_parse(type->as.text, &dtype)) {
        diag_error(elab->ctx, call->span, "the type of what '%s' returns is missing; add dtype=\"int32\" or the like", type->as.text);
        return value_error();
    }
    if (!value_to_dtype(elab, type, &dtype))
        return value_error();
    int count = args.count - leads;
    const Value *values = args.items + leads;
    if (!check_arg_count(elab, op, count, call->span))
        return value_error();
    if (takes_callee_name(op) && values[0].kind != VALUE_STRING) {
        diag_error(elab->ctx, call->span, "the name of the function that %s calls must be a string", call->builtin->name);
        return value_error();
    }
    Op known;
    bool by_name = op == OP_CALL_INTRIN || op == OP_CALL_PURE_INTRIN;
    if (by_name && op_find(strncmp(values[0].as.text, "tir.", 4) ? values[0].as.text : values[0].as.text + 4, &known) &&
        op_info(known)->result != RESULT_GIVEN && check_arg_count(elab, known, count - 1, call->span))
        return elab_intrinsic(elab, known, values + 1, count - 1, call->span);
    if (by_name)
        op = map_get(&elab->ctx->pure_operations, values[0].as.text) ? OP_CALL_PURE_INTRIN : OP_CALL_INTRIN;
    const Expr **exprs = read_args(elab, values, count);
    if (exprs && op == OP_REINTERPRET && dtype_equal(dtype, exprs[0]->dtype))
        return value_expr(exprs[0], call->span);
    return exprs ? value_expr(expr_call(elab->ctx, dtype, op, exprs, count, call->span), call->span) : value_error();
}

Value builtin_packed_call(Elab *elab, const Call *call)
{
    Op op = (Op)call->builtin->variant;
    if (call->rest.count == 0 || call->rest.items[0].kind != VALUE_STRING) {
        diag_error(elab->ctx, call->span, "the first argument of %s must be the name of the function", call->builtin->name);
        return value_error();
    }
    const Expr **args = read_args(elab, call->rest.items, call->rest.count);
    return args ? value_expr(expr_call(elab->ctx, DTYPE_INT32, op, args, call->rest.count, call->span), call->span) : value_error();
}

Value builtin_type_annotation(Elab *elab, const Call *call)
{
    DType dtype;
    if (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype))
        return value_error();
    return value_expr(expr_call(elab->ctx, dtype, OP_TYPE_ANNOTATION, NULL, 0, call->span), call->span);
}

Value builtin_struct_get(Elab *elab, const Call *call)
{
    static const char *const names[] = {"arr", "index", "kind"};
    const Expr *args[3];
    DType dtype;
    for (int i = 0; i < 3; i++)
        if (!(args[i] = value_to_expr(elab, call_arg(call, names[i]))))
            return value_error();
    if (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype))
        return value_error();
    return value_expr(expr_call(elab->ctx, dtype, OP_TVM_STRUCT_GET, args, 3, call->span), call->span);
}

/* --- reducers --- */

static const Expr *tuple_of(Elab *elab, const Value *value, Span span)
{
    ValueList items = value_items(value);
    const Expr **args = read_args(elab, items.items, items.count);
    return args ? expr_call(elab->ctx, DTYPE_HANDLE, OP_TVM_TUPLE, args, items.count, span) : NULL;
}

/* The combiner as its results under lets of its parameters, first the left side's, then the right side's. There is no function among
   expressions, so each parameter is let to its identity, which has its type. */
static const Expr *combiner_of(Elab *elab, const AstNode *lambda, const Expr *identity, Span span)
{
    int count = lambda->as.lambda.param_count, width = identity->arg_count;
    if (count != 2 * width) {
        diag_error(elab->ctx, span, "the combiner must take %d parameters, two for each identity, not %d", 2 * width, count);
        return NULL;
    }
    Var **vars = ARENA_ARRAY(elab->ctx->arena, Var *, count);
    scope_push(elab);
    for (int i = 0; i < count; i++) {
        const AstParam *param = &lambda->as.lambda.params[i];
        vars[i] = var_new(elab->ctx, param->name, identity->args[i % width]->dtype, param->span);
        scope_bind(elab, param->name, value_expr(expr_var_at(elab->ctx, vars[i], param->span), param->span), param->span);
    }
    Value results = elab_expr(elab, lambda->as.lambda.body);
    scope_pop(elab);
    const Expr *combiner = results.kind == VALUE_ERROR ? NULL : tuple_of(elab, &results, span);
    for (int i = count - 1; combiner && i >= 0; i--)
        combiner = expr_let(elab->ctx, vars[i], identity->args[i % width], combiner);
    return combiner;
}

/* T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), or the two expressions that a printed program has. */
Value builtin_comm_reducer(Elab *elab, const Call *call)
{
    const Value *combiner = call_arg(call, "combiner"), *identity = call_arg(call, "identity");
    const Expr *args[2];
    if (combiner->kind == VALUE_EXPR && identity->kind == VALUE_EXPR)
        return elab_intrinsic(elab, OP_COMM_REDUCER, (const Value[]){*combiner, *identity}, 2, call->span);
    if (combiner->kind != VALUE_LAMBDA) {
        diag_error(elab->ctx, call->span, "the combiner of T.comm_reducer must be a lambda");
        return value_error();
    }
    args[1] = tuple_of(elab, identity, call->span);
    args[0] = args[1] ? combiner_of(elab, combiner->as.lambda, args[1], call->span) : NULL;
    return args[0] ? value_expr(expr_call(elab->ctx, DTYPE_HANDLE, OP_COMM_REDUCER, args, 2, call->span), call->span) : value_error();
}

/* --- pointers into buffers --- */

static bool read_access_mask(Elab *elab, const Value *value, int64_t *mask)
{
    if (value->kind != VALUE_STRING)
        return value_to_int(elab, value, "the access mask", mask);
    *mask = 0;
    for (const char *c = value->as.text; *c; c++) {
        if (*c != 'r' && *c != 'w') {
            diag_error(elab->ctx, value->span, "the access mask \"%s\" must consist of 'r' and 'w'", value->as.text);
            return false;
        }
        *mask |= *c == 'r' ? 1 : 2;
    }
    return true;
}

/* Elements that a pointer to OFFSET in BUFFER reaches: those behind it in the outermost dimension where strides are stated, else in the
   whole shape. */
static const Expr *reach(Elab *elab, const Buffer *buffer, const Expr *offset)
{
    Context *ctx = elab->ctx;
    if (buffer->ndim == 0)
        return expr_int(ctx, DTYPE_INT32, 1);
    const Expr *extent = buffer->shape[0];
    if (buffer->strides)
        extent = op_mul(ctx, buffer->strides[0], extent);
    for (int i = 1; i < buffer->ndim && !buffer->strides; i++)
        extent = op_mul(ctx, extent, buffer->shape[i]);
    return op_sub(ctx, extent, offset);
}

Value builtin_access_ptr(Elab *elab, const Call *call)
{
    Context *ctx = elab->ctx;
    const Buffer *buffer = call->object->as.buffer;
    int64_t mask, lanes = 1;
    Value zero = value_int(0, call->span);
    if (!read_access_mask(elab, call_arg(call, "access_mask"), &mask) ||
        (call_has(call, "content_lanes") && !value_to_int(elab, call_arg(call, "content_lanes"), "content_lanes", &lanes)))
        return value_error();
    const Expr *offset = value_to_integer(elab, call_has(call, "offset") ? call_arg(call, "offset") : &zero, "the offset");
    if (!offset)
        return value_error();
    if (lanes < 1 || lanes * buffer->dtype.lanes > MOST_LANES) {
        diag_error(ctx, call->span, "content_lanes must be from 1 to %d", MOST_LANES);
        return value_error();
    }
    const Expr *begin = op_add(ctx, buffer->elem_offset, offset), *extent = reach(elab, buffer, offset);
    if (lanes > 1) {
        begin = op_floordiv(ctx, begin, expr_int(ctx, begin->dtype, lanes));
        extent = op_floordiv(ctx, extent, expr_int(ctx, extent->dtype, lanes));
    }
    if (call_has(call, "extent") && !(extent = value_to_integer(elab, call_arg(call, "extent"), "the extent")))
        return value_error();
    DType content = dtype_with_lanes(buffer->dtype, (int)lanes * buffer->dtype.lanes);
    const Expr *args[] = {expr_call(ctx, content, OP_TYPE_ANNOTATION, NULL, 0, call->span),
                          expr_var_at(ctx, buffer->data, call->span), begin, extent, expr_int(ctx, DTYPE_INT32, mask & 3)};
    return value_expr(expr_call(ctx, DTYPE_HANDLE, OP_TVM_ACCESS_PTR, args, 5, call->span), call->span);
}
