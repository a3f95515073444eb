/* Making values, and reading them as what a place needs; see elab.h. */
#include <math.h>

#include "ir/scalable.h"
#include "ir/tags.h"
#include "ir/walk.h"
#include "parser/elab.h"

/* --- making --- */

Value value_error(void)
{
    return (Value){.kind = VALUE_ERROR};
}

Value value_none(Span span)
{
    return (Value){.kind = VALUE_NONE, .span = span};
}

Value value_bool(bool value, Span span)
{
    return (Value){.kind = VALUE_BOOL, .span = span, .as.boolean = value};
}

Value value_int(int64_t value, Span span)
{
    return (Value){.kind = VALUE_INT, .span = span, .as.integer = value};
}

Value value_float(double value, Span span)
{
    return (Value){.kind = VALUE_FLOAT, .span = span, .as.real = value};
}

Value value_string(Str text, Span span)
{
    return (Value){.kind = VALUE_STRING, .span = span, .as.text = text};
}

Value value_expr(const Expr *expr, Span span)
{
    return expr ? (Value){.kind = VALUE_EXPR, .span = span, .as.expr = expr} : value_error();
}

Value value_buffer(Buffer *buffer, Span span)
{
    return buffer ? (Value){.kind = VALUE_BUFFER, .span = span, .as.buffer = buffer} : value_error();
}

Value value_dtype(DType dtype, Span span)
{
    return (Value){.kind = VALUE_DTYPE, .span = span, .as.dtype = dtype};
}

Value value_tuple(Elab *elab, const Value *items, int count, Span span)
{
    ValueList list = {arena_copy(elab->ctx->arena, items, sizeof *items * (size_t)count), count};
    return (Value){.kind = VALUE_TUPLE, .span = span, .as.list = list};
}

Value value_wrapper(Elab *elab, const Stmt *layers, int count, Value result, Span span)
{
    WrapperSpec *spec = ARENA_NEW(elab->ctx->arena, WrapperSpec);
    spec->layers = arena_copy(elab->ctx->arena, layers, sizeof *layers * (size_t)count);
    spec->count = count;
    spec->result = arena_copy(elab->ctx->arena, &result, sizeof result);
    return (Value){.kind = VALUE_WRAPPER, .span = span, .as.wrapper = spec};
}

Value value_fresh_var(Elab *elab, Var *var, Span span)
{
    Value value = value_expr(expr_var_at(elab->ctx, var, span), span);
    value.fresh = true;
    return value;
}

const char *value_kind_name(ValueKind kind)
{
    static const char *const names[] = {
        [VALUE_ERROR] = "an error",         [VALUE_ABSENT] = "nothing",          [VALUE_NONE] = "None",
        [VALUE_BOOL] = "a boolean",         [VALUE_INT] = "an integer",          [VALUE_FLOAT] = "a number",
        [VALUE_STRING] = "a string",        [VALUE_TUPLE] = "a tuple",           [VALUE_LIST] = "a list",
        [VALUE_DICT] = "a dictionary",      [VALUE_LAMBDA] = "a lambda",         [VALUE_EXPR] = "an expression",
        [VALUE_BUFFER] = "a buffer",        [VALUE_REGION] = "a buffer region",  [VALUE_DTYPE] = "a type",
        [VALUE_TARGET] = "a target",        [VALUE_FUNC] = "a function",         [VALUE_GLOBAL] = "a function",
        [VALUE_NAMESPACE] = "a module",     [VALUE_OPAQUE] = "a value for attributes",
        [VALUE_BUILTIN] = "a function",     [VALUE_INTRINSIC] = "a function",    [VALUE_METHOD] = "a method",
        [VALUE_LOOP] = "a loop",            [VALUE_BLOCK] = "a block",           [VALUE_INIT] = "a block's init",
        [VALUE_WRAPPER] = "a statement",
    };
    return names[kind];
}

const char *expr_type_name(Context *ctx, const Expr *expr)
{
    return expr->kind == EXPR_STRING ? "a string" : dtype_name(ctx, expr->dtype);
}

/* --- reading expressions --- */

bool value_is_number(const Value *value)
{
    return value->kind == VALUE_BOOL || value->kind == VALUE_INT || value->kind == VALUE_FLOAT;
}

bool value_is_sequence(const Value *value)
{
    return value->kind == VALUE_TUPLE || value->kind == VALUE_LIST;
}

static const Expr *huge_refused(Elab *elab, const Value *value)
{
    diag_error(elab->ctx, value->span, "the number does not fit in int64; T.uint64(...) holds it");
    return NULL;
}

/* The elements of a region as one vector. */
static const Expr *region_to_load(Elab *elab, const Value *value)
{
    Context *ctx = elab->ctx;
    const Region *region = value->as.region;
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, region->buffer->ndim);
    for (int i = 0; i < region->buffer->ndim; i++) {
        int64_t lanes;
        Range range = region->ranges[i];
        indices[i] = range.min;
        if (expr_is_int(range.extent, 1))
            continue;
        if (elab_is_scalable(range.extent, &lanes) && lanes >= 1 && lanes <= MOST_LANES)
            lanes += LANES_SCALABLE;
        else if (!expr_const_int(range.extent, &lanes) || lanes < 1 || lanes > MOST_LANES) {
            diag_error(ctx, value->span, "a slice used as a value needs a constant length from 1 to %d", MOST_LANES);
            return NULL;
        }
        indices[i] = expr_ramp(ctx, range.min, expr_int(ctx, range.min->dtype, 1), (int)lanes);
    }
    return elab_load(elab, region->buffer, indices, region->buffer->ndim, NULL, value->span);
}

const Expr *value_to_expr(Elab *elab, const Value *value)
{
    Context *ctx = elab->ctx;
    switch (value->kind) {
    case VALUE_ERROR: return NULL;
    case VALUE_EXPR: return value->as.expr;
    case VALUE_BOOL: return expr_bool(ctx, value->as.boolean);
    case VALUE_INT:
        if (value->huge)
            return huge_refused(elab, value);
        return expr_int_at(ctx, dtype_holds(DTYPE_INT32, value->as.integer) ? DTYPE_INT32 : DTYPE_INT64, value->as.integer, value->span);
    case VALUE_FLOAT: return expr_float(ctx, DTYPE_FLOAT32, value->as.real);
    case VALUE_STRING: return expr_string(ctx, value->as.text);
    case VALUE_REGION: return region_to_load(elab, value);
    case VALUE_BUFFER:
        diag_error(ctx, value->span, "buffer '%s' is used as a value; write %s[...] for its elements or %s.data for its pointer",
                   value->as.buffer->name, value->as.buffer->name, value->as.buffer->name);
        return NULL;
    default: diag_error(ctx, value->span, "expected an expression, found %s", value_kind_name(value->kind)); return NULL;
    }
}

static const Expr *unfitting_int(Elab *elab, const Value *value, DType dtype)
{
    const char *text = arena_printf(elab->ctx->arena, value->huge ? "%llu" : "%lld", (long long)value->as.integer);
    diag_error(elab->ctx, value->span, "%s does not fit in %s", text, dtype_name(elab->ctx, dtype));
    return NULL;
}

/* The int constant VALUE as one of scalar type DTYPE. */
static const Expr *int_to_typed(Elab *elab, const Value *value, DType dtype)
{
    Context *ctx = elab->ctx;
    if (dtype_is_float(dtype)) {
        double real = dtype_int_to_real(dtype, value->as.integer, value->huge);
        return dtype_holds_float(dtype, real) ? expr_float(ctx, dtype, real) : unfitting_int(elab, value, dtype);
    }
    bool is_uint64 = dtype.code == DT_UINT && dtype.bits == 64;
    bool fits = value->huge ? is_uint64 : is_uint64 ? value->as.integer >= 0 : dtype_holds(dtype, value->as.integer);
    if (!fits)
        return unfitting_int(elab, value, dtype);
    return expr_int_at(ctx, dtype, value->as.integer, value->span);
}

/* The limits of bfloat16 are float32's in the reference's texts: beyond the greatest finite value, and so infinite. */
static bool is_float_literal(DType dtype, double value)
{
    return !isfinite(value) || dtype_holds_float(dtype, value) || (dtype.code == DT_BFLOAT && fabs(value) <= dtype_limit_float(dtype));
}

static const Expr *float_to_typed(Elab *elab, const Value *value, DType dtype)
{
    Context *ctx = elab->ctx;
    if (!dtype_is_float(dtype))
        return expr_float(ctx, DTYPE_FLOAT32, value->as.real);
    if (!is_float_literal(dtype, value->as.real)) {
        diag_error(ctx, value->span, "%g does not fit in %s", value->as.real, dtype_name(ctx, dtype));
        return NULL;
    }
    return expr_float(ctx, dtype, value->as.real);
}

const Expr *value_to_typed(Elab *elab, const Value *value, DType dtype)
{
    DType scalar = dtype_scalar(dtype);
    const Expr *expr = NULL;
    if (!value_is_number(value) || (!dtype_is_integer(dtype) && !dtype_is_float(dtype) && dtype.code != DT_BOOL))
        return value_to_expr(elab, value);
    if (value->kind == VALUE_BOOL && dtype.code == DT_BOOL)
        expr = expr_bool(elab->ctx, value->as.boolean);
    else if (value->kind == VALUE_BOOL)
        expr = op_cast(elab->ctx, scalar, expr_bool(elab->ctx, value->as.boolean));
    else if (value->kind == VALUE_INT)
        expr = int_to_typed(elab, value, scalar);
    else
        expr = float_to_typed(elab, value, scalar);
    return expr && dtype.lanes > 1 && expr->dtype.lanes == 1 ? expr_broadcast(elab->ctx, expr, dtype.lanes) : expr;
}

bool value_pair_to_exprs(Elab *elab, const Value *a, const Value *b, const Expr **x, const Expr **y)
{
    bool a_constant = value_is_number(a), b_constant = value_is_number(b);
    *x = a_constant ? NULL : value_to_expr(elab, a);
    *y = b_constant ? NULL : value_to_expr(elab, b);
    if ((!a_constant && !*x) || (!b_constant && !*y))
        return false;
    /* A bool operand says nothing of the number that it meets: b == 1 compares as int32. */
    if (a_constant)
        *x = *y && (*y)->dtype.code != DT_BOOL ? value_to_typed(elab, a, dtype_scalar((*y)->dtype)) : value_to_expr(elab, a);
    if (b_constant && *x)
        *y = (*x)->dtype.code != DT_BOOL ? value_to_typed(elab, b, dtype_scalar((*x)->dtype)) : value_to_expr(elab, b);
    return *x && *y;
}

const Expr *value_to_integer(Elab *elab, const Value *value, const char *what)
{
    const Expr *expr = value_to_expr(elab, value);
    if (!expr || (dtype_is_integer(expr->dtype) && expr->dtype.lanes == 1))
        return expr;
    diag_error(elab->ctx, value->span, "%s must be an integer, not %s", what, expr_type_name(elab->ctx, expr));
    return NULL;
}

const Expr *value_to_condition(Elab *elab, const Value *value)
{
    const Expr *expr = value_to_expr(elab, value);
    if (!expr || expr->dtype.code == DT_BOOL)
        return expr;
    if (dtype_is_integer(expr->dtype) || dtype_is_float(expr->dtype)) {
        const Expr *zero = dtype_is_float(expr->dtype) ? expr_float(elab->ctx, dtype_scalar(expr->dtype), 0)
                                                       : expr_int(elab->ctx, dtype_scalar(expr->dtype), 0);
        return op_binary(elab->ctx, EXPR_NE, expr, zero, value->span);
    }
    diag_error(elab->ctx, value->span, "expected a condition, found %s%s",
               expr->kind == EXPR_STRING ? "" : "an expression of type ", expr_type_name(elab->ctx, expr));
    return NULL;
}

const Expr *value_to_scalar_condition(Elab *elab, const Value *value, const char *what)
{
    const Expr *condition = value_to_condition(elab, value);
    if (!condition || condition->dtype.lanes == 1)
        return condition;
    diag_error(elab->ctx, value->span, "%s must be a scalar, not %s", what, dtype_name(elab->ctx, condition->dtype));
    return NULL;
}

/* --- reading Python constants --- */

static bool wrong_kind(Elab *elab, const Value *value, const char *what, const char *expected)
{
    if (value->kind != VALUE_ERROR)
        diag_error(elab->ctx, value->span, "%s must be %s, not %s", what, expected, value_kind_name(value->kind));
    return false;
}

bool value_to_int(Elab *elab, const Value *value, const char *what, int64_t *result)
{
    if (value->kind == VALUE_INT && !value->huge) {
        *result = value->as.integer;
        return true;
    }
    if (value->kind == VALUE_EXPR && expr_const_int(value->as.expr, result))
        return true;
    return wrong_kind(elab, value, what, "a constant integer");
}

bool value_to_bool(Elab *elab, const Value *value, const char *what, bool *result)
{
    int64_t integer;
    if (value->kind == VALUE_EXPR && value->as.expr->dtype.code == DT_BOOL && expr_const_int(value->as.expr, &integer)) {
        *result = integer != 0;
        return true;
    }
    if (value->kind != VALUE_BOOL)
        return wrong_kind(elab, value, what, "True or False");
    *result = value->as.boolean;
    return true;
}

Str value_to_string(Elab *elab, const Value *value, const char *what)
{
    if (value->kind == VALUE_STRING)
        return value->as.text;
    if (value->kind == VALUE_EXPR && value->as.expr->kind == EXPR_STRING)
        return value->as.expr->value.text;
    wrong_kind(elab, value, what, "a string");
    return NULL;
}

static Str tag_refused(Elab *elab, const Value *value, const char *what, const char *near)
{
    diag_error(elab->ctx, value->span, "there is no %s \"%s\"; did you mean \"%s\"?", what, value->as.text, near);
    diag_edit_string(elab->ctx, value->span, near);
    return NULL;
}

Str value_to_scope(Elab *elab, const Value *value)
{
    Str scope = value_to_string(elab, value, "the scope");
    const char *near = scope && !storage_scope_is_known(scope) ? storage_scope_near(scope) : NULL;
    return near && value->kind == VALUE_STRING ? tag_refused(elab, value, "storage scope", near) : scope;
}

Str value_to_thread(Elab *elab, const Value *value)
{
    Str thread = value_to_string(elab, value, "the thread");
    bool foreign = thread && !strcmp(thread, "cthread"); /* of VTA */
    const char *near = thread && !foreign && !thread_axis_is_known(thread) ? thread_axis_near(thread) : NULL;
    return near && value->kind == VALUE_STRING ? tag_refused(elab, value, "thread axis", near) : thread;
}

bool value_to_dtype(Elab *elab, const Value *value, DType *dtype)
{
    if (value->kind == VALUE_DTYPE) {
        *dtype = value->as.dtype;
        return true;
    }
    if (value->kind != VALUE_STRING)
        return wrong_kind(elab, value, "the type", "a string such as \"float32\"");
    if (!*value->as.text) { /* TVM's spelling of no type */
        *dtype = DTYPE_VOID;
        return true;
    }
    if (dtype_parse(value->as.text, dtype))
        return true;
    int count;
    const char *const *names = dtype_names(&count);
    const char *closest = diag_closest(value->as.text, names, count);
    if (closest)
        diag_error(elab->ctx, value->span, "unknown type '%s'; did you mean '%s'?", value->as.text, closest);
    else
        diag_error(elab->ctx, value->span, "unknown type '%s'", value->as.text);
    return false;
}

/* --- reading sequences --- */

ValueList value_items(const Value *value)
{
    return value_is_sequence(value) ? value->as.list : (ValueList){(Value *)value, 1};
}

bool value_to_integers(Elab *elab, const Value *value, const char *what, const Expr ***exprs, int *count)
{
    ValueList items = value_items(value);
    *exprs = ARENA_ARRAY(elab->ctx->arena, const Expr *, items.count);
    *count = items.count;
    for (int i = 0; i < items.count; i++)
        if (!((*exprs)[i] = value_to_integer(elab, &items.items[i], what)))
            return false;
    return true;
}

const Region *value_to_region(Elab *elab, const Value *value)
{
    Context *ctx = elab->ctx;
    Region *region = ARENA_NEW(ctx->arena, Region);
    if (value->kind == VALUE_REGION)
        return value->as.region;
    if (value->kind == VALUE_BUFFER) {
        *region = region_whole(ctx, value->as.buffer);
        region->span = value->span;
        return region;
    }
    if (value->kind != VALUE_EXPR || value->as.expr->kind != EXPR_LOAD) {
        wrong_kind(elab, value, "a region", "a buffer, an element or a slice such as A[i, 0:4]");
        return NULL;
    }
    const Expr *load = value->as.expr;
    *region = region_point(ctx, load->value.buffer, load->args);
    region->span = value->span;
    for (int i = 0; i < region->buffer->ndim; i++) {
        const Expr *index = load->args[i];
        int64_t stride;
        if (index->dtype.lanes == 1)
            continue;
        if (index->kind != EXPR_RAMP || !expr_const_int(index->args[1], &stride) || stride <= 0) {
            diag_error(ctx, value->span, "a vector in a region must be a slice or a ramp with a positive constant stride");
            return NULL;
        }
        DType type = index->args[0]->dtype;
        const Expr *one = expr_int(ctx, type, 1), *last = op_sub(ctx, lane_count(ctx, type, index->dtype), one);
        region->ranges[i] = (Range){index->args[0], op_add(ctx, op_mul(ctx, last, expr_int(ctx, type, stride)), one)};
    }
    return region;
}

/* --- reading attributes --- */

static AttrValue *attr_new(Elab *elab, AttrKind kind, int count)
{
    AttrValue *attr = ARENA_NEW(elab->ctx->arena, AttrValue);
    attr->kind = kind;
    attr->count = count;
    if (kind == ATTR_LIST)
        attr->items = ARENA_ARRAY(elab->ctx->arena, const AttrValue *, count);
    if (kind == ATTR_DICT)
        attr->entries = ARENA_ARRAY(elab->ctx->arena, Attr, count);
    return attr;
}

static const AttrValue *list_to_attr(Elab *elab, const Value *value)
{
    AttrValue *attr = attr_new(elab, ATTR_LIST, value->as.list.count);
    for (int i = 0; i < attr->count; i++)
        if (!(attr->items[i] = value_to_attr(elab, &value->as.list.items[i])))
            return NULL;
    return attr;
}

static const AttrValue *dict_to_attr(Elab *elab, const Value *value)
{
    AttrValue *attr = attr_new(elab, ATTR_DICT, value->as.dict.count);
    for (int i = 0; i < attr->count; i++) {
        attr->entries[i].key = value_to_string(elab, &value->as.dict.keys[i], "a key");
        attr->entries[i].value = value_to_attr(elab, &value->as.dict.values[i]);
        if (!attr->entries[i].key || !attr->entries[i].value)
            return NULL;
        for (int j = 0; j < i; j++)
            if (attr->entries[j].key == attr->entries[i].key) {
                diag_error(elab->ctx, value->as.dict.keys[i].span, "the key '%s' is given twice", attr->entries[i].key);
                return NULL;
            }
    }
    return attr;
}

static bool note_load(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_LOAD;
    return true;
}

static bool reads_memory(const Expr *expr)
{
    bool reads = false;
    visit_expr(&(Visitor){.expr = note_load, .data = &reads}, expr);
    return reads;
}

const AttrValue *value_to_attr(Elab *elab, const Value *value)
{
    if (value->kind == VALUE_INT && !value->huge)
        return attr_int(elab->ctx, value->as.integer);
    switch (value->kind) {
    case VALUE_NONE: return attr_new(elab, ATTR_NONE, 0);
    case VALUE_OPAQUE: {
        AttrValue *attr = attr_new(elab, ATTR_TEXT, 0);
        attr->text = value->as.text;
        return attr;
    }
    case VALUE_TUPLE:
    case VALUE_LIST: return list_to_attr(elab, value);
    case VALUE_DICT: return dict_to_attr(elab, value);
    case VALUE_BUFFER: {
        AttrValue *attr = attr_new(elab, ATTR_BUFFER, 0);
        attr->buffer = value->as.buffer;
        return attr;
    }
    case VALUE_FLOAT: return attr_float(elab->ctx, value->as.real);
    case VALUE_BOOL: return attr_bool(elab->ctx, value->as.boolean);
    case VALUE_DTYPE: return attr_expr(elab->ctx, expr_string(elab->ctx, dtype_name(elab->ctx, value->as.dtype)));
    case VALUE_TARGET: {
        /* A target has no form of its own in attributes: a dictionary with the single key "T.target" stands for it. */
        AttrValue *attr = attr_new(elab, ATTR_DICT, 1);
        attr->entries[0] = (Attr){context_intern(elab->ctx, "T.target"), value_to_attr(elab, value->as.target)};
        return attr->entries[0].value ? attr : NULL;
    }
    default: {
        const Expr *expr = value_to_expr(elab, value);
        bool fixed = expr && expr_is_pure(expr) && !reads_memory(expr);
        if (expr && !fixed)
            diag_error(elab->ctx, value->span, "an attribute must be a constant, or an expression of variables that reads no memory");
        return fixed ? attr_expr(elab->ctx, expr) : NULL;
    }
    }
}

bool value_to_attrs(Elab *elab, const Value *value, const char *what, Attrs *attrs)
{
    *attrs = (Attrs){0};
    if (value->kind == VALUE_ABSENT || value->kind == VALUE_NONE)
        return true;
    if (value->kind != VALUE_DICT)
        return wrong_kind(elab, value, what, "a dictionary");
    const AttrValue *attr = dict_to_attr(elab, value);
    if (attr)
        *attrs = (Attrs){attr->entries, attr->count};
    return attr != NULL;
}
