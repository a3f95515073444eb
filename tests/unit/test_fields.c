/* Every place in a statement where an expression can stand is met by all that has to meet it. A statement of each kind is made from the table
   of fields, and a load of its own buffer is planted at each place in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/fields.h"
#include "passes/regions/infer_regions.h"
#include "passes/analysis/collect/access_collect.h"
#include "verify/equal.h"
#include "verify/verify.h"
#include "passes/analysis/model/access.h"

enum { KIND_COUNT = STMT_REALIZE + 1 };

static Context *ctx;
static Buffer *marked;       /* the buffer of the planted load */
static const Expr *marker;   /* marked[unknown] */
static Var *unknown;         /* which nothing defines */
static Buffer *parameter;    /* of every function here */

static int set_up(void **state)
{
    (void)state;
    ctx = context_new();
    const Expr *extent = expr_int(ctx, DTYPE_INT32, 16);
    marked = buffer_new(ctx, context_intern(ctx, "marked"), DTYPE_INT32, 1, &extent, NULL, span_none());
    unknown = var_new(ctx, context_intern(ctx, "unknown"), DTYPE_INT32, span_none());
    parameter = buffer_new(ctx, context_intern(ctx, "P"), DTYPE_INT32, 1, &extent, NULL, span_none());
    const Expr *index = expr_var(ctx, unknown);
    marker = expr_load(ctx, marked, &index, 1, NULL, span_none());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    context_free(ctx);
    return 0;
}

/* --- statements made from the table --- */

static const Expr *num(int64_t value)
{
    return expr_int(ctx, DTYPE_INT32, value);
}

static void *copy_of(const void *data, size_t size)
{
    return arena_copy(ctx->arena, data, size);
}

static Var *new_var(bool handle)
{
    return var_new(ctx, context_intern(ctx, "v"), handle ? DTYPE_HANDLE : DTYPE_INT32, span_none());
}

static Buffer *new_buffer(void)
{
    const Expr *extent = num(8), *stride = num(1);
    Buffer *buffer = buffer_new(ctx, context_intern(ctx, "B"), DTYPE_INT32, 1, &extent, NULL, span_none());
    buffer->strides = copy_of(&stride, sizeof stride);
    return buffer;
}

static Region new_region(void)
{
    Range range = {num(0), num(8)};
    return (Region){parameter, copy_of(&range, sizeof range), span_none()};
}

static Attrs new_attrs(void)
{
    const AttrValue *item = attr_expr(ctx, num(1)), **items = copy_of(&item, sizeof item);
    AttrValue list = {.kind = ATTR_LIST, .items = items, .count = 1};
    Attr inner = {context_intern(ctx, "inner"), copy_of(&list, sizeof list)};
    AttrValue dict = {.kind = ATTR_DICT, .entries = copy_of(&inner, sizeof inner), .count = 1};
    Attr entry = {context_intern(ctx, "key"), copy_of(&dict, sizeof dict)};
    return (Attrs){copy_of(&entry, sizeof entry), 1};
}

static const Expr *default_value(StmtKind kind, const char *name)
{
    bool condition = strstr(name, "condition") || strstr(name, "predicate");
    if (strstr(name, "message"))
        return expr_string(ctx, context_intern(ctx, "message"));
    return condition ? expr_bool(ctx, true) : kind == STMT_FOR ? num(3) : num(1);
}

static const Stmt *leaf(void)
{
    return stmt_evaluate(ctx, num(0), span_none());
}

static void fill_symbol(const Field *field, void *at)
{
    if (field->shape == FIELD_VAR)
        *(Var **)at = new_var(strstr(field->name, "alloc"));
    else if (field->shape == FIELD_BLOCK)
        *(Block **)at = block_new(ctx, context_intern(ctx, "b"), span_none());
    else
        *(Buffer **)at = field->shape == FIELD_BUFFER_USE ? parameter : new_buffer();
}

static void fill_array(const Field *field, void *at, StmtKind kind)
{
    if (field->shape == FIELD_EXPRS) {
        const Expr *value = default_value(kind, field->name);
        *(const Expr ***)at = copy_of(&value, sizeof value);
    } else if (field->shape == FIELD_BUFFERS) {
        Buffer *buffer = new_buffer();
        *(Buffer ***)at = copy_of(&buffer, sizeof buffer);
    } else if (field->shape == FIELD_REGIONS) {
        Region region = new_region();
        *(Region **)at = copy_of(&region, sizeof region);
    } else if (field->shape == FIELD_ITERS) {
        Iter iter = {new_var(false), {num(0), num(8)}, ITER_SPATIAL, span_none()};
        *(Iter **)at = copy_of(&iter, sizeof iter);
    } else if (field->shape == FIELD_MATCHES) {
        MatchBuffer match = {new_buffer(), new_region()};
        *(MatchBuffer **)at = copy_of(&match, sizeof match);
    }
}

static void fill(Stmt *stmt, const Field *field)
{
    void *at = (char *)stmt + field->offset;
    int *count = (int *)(void *)((char *)stmt + field->count_offset);
    switch (field->shape) {
    case FIELD_END: break;
    case FIELD_PLAIN:
        if (!strstr(field->name, "data"))
            *(Str *)at = context_intern(ctx, strstr(field->name, "scope") ? "global" : "threadIdx.x");
        break;
    case FIELD_EXPR: *(const Expr **)at = default_value(stmt->kind, field->name); break;
    case FIELD_VAR:
    case FIELD_BLOCK:
    case FIELD_BUFFER:
    case FIELD_BUFFER_USE: fill_symbol(field, at); break;
    case FIELD_REGION: *(Region *)at = new_region(); break;
    case FIELD_ATTRS: *(Attrs *)at = new_attrs(); break;
    case FIELD_STMT: *(const Stmt **)at = leaf(); break;
    case FIELD_STMTS: {
        const Stmt *items[] = {leaf(), leaf()};
        *(const Stmt ***)at = copy_of(items, sizeof items);
        *count = 2;
        break;
    }
    default:
        *count = 1;
        fill_array(field, at, stmt->kind);
    }
}

static Stmt make_stmt(StmtKind kind)
{
    Stmt stmt = {.kind = kind};
    for (const Field *field = stmt_fields(kind); field->shape; field++)
        fill(&stmt, field);
    if (kind == STMT_FOR)
        stmt.as.loop.kind = FOR_THREAD;
    if (kind == STMT_ALLOCATE || kind == STMT_ALLOCATE_CONST)
        stmt.as.allocate.dtype = DTYPE_INT32;
    return stmt;
}

/* --- the table is complete --- */

static size_t row_size(FieldShape shape)
{
    return shape == FIELD_ATTRS ? sizeof(Attrs) : shape == FIELD_REGION ? sizeof(Region) : sizeof(void *);
}

/* The words of a struct of SIZE bytes at OFFSET that no row covers: numbers alone. A pointer without a row changes their count. */
static int words_without_row(const Field *fields, size_t offset, size_t size)
{
    int words = (int)((size + 7) / 8);
    for (const Field *field = fields; field->shape; field++) {
        assert_true(field->offset >= offset && field->offset + row_size(field->shape) <= offset + size);
        words -= (int)((row_size(field->shape) + 7) / 8);
    }
    return words;
}

#define OF(member) offsetof(Stmt, as.member), sizeof(((Stmt *)NULL)->as.member)

static void every_pointer_has_a_row(void **state)
{
    (void)state;
    static const struct {
        StmtKind kind;
        size_t offset, size;
        int numbers; /* words that hold counts, kinds, types */
    } structs[] = {
        {STMT_SEQ, OF(seq), 1},           {STMT_FOR, OF(loop), 1},
        {STMT_WHILE, OF(while_loop), 0},  {STMT_BLOCK, OF(block), 5},
        {STMT_IF, OF(branch), 0},         {STMT_LET, OF(let), 0},
        {STMT_STORE, OF(store), 1},       {STMT_EVALUATE, OF(evaluate), 0},
        {STMT_ALLOCATE, OF(allocate), 2}, {STMT_ALLOCATE_CONST, OF(allocate_const), 3},
        {STMT_DECL_BUFFER, OF(declare), 1}, {STMT_ATTR, OF(attr), 0},
        {STMT_ASSERT, OF(assertion), 0},  {STMT_REALIZE, OF(realize), 0},
    };
    assert_int_equal(sizeof structs / sizeof *structs, KIND_COUNT);
    for (int i = 0; i < KIND_COUNT; i++) {
        int words = words_without_row(stmt_fields(structs[i].kind), structs[i].offset, structs[i].size);
        if (words != structs[i].numbers)
            fail_msg("a field of statements of kind %d has no row in stmt_fields.def: %d words, not %d, are without one", structs[i].kind, words,
                     structs[i].numbers);
    }
    assert_int_equal(words_without_row(iter_fields(), 0, sizeof(Iter)), 2);          /* kind, span */
    assert_int_equal(words_without_row(match_fields(), 0, sizeof(MatchBuffer)), 0);
    assert_int_equal(words_without_row(buffer_fields(), 0, sizeof(Buffer)), 10);      /* name, scope, separators, numbers */
    assert_int_equal(sizeof(Region), 2 * sizeof(void *) + 16);
    assert_int_equal(sizeof(Range), 2 * sizeof(void *));
}

/* --- planting --- */

typedef VEC(const Expr **) Slots;

static void add_slot(Slots *slots, const Expr **slot)
{
    vec_push(ctx->arena, slots, slot);
}

static void add_buffer_slots(Slots *slots, Buffer *buffer)
{
    add_slot(slots, &buffer->shape[0]);
    add_slot(slots, &buffer->strides[0]);
    add_slot(slots, &buffer->elem_offset);
}

static void add_range_slots(Slots *slots, Range *range)
{
    add_slot(slots, &range->min);
    add_slot(slots, &range->extent);
}

/* The places of expressions in FIELD of STMT, found without the visitor. */
static Slots slots_of(Stmt *stmt, const Field *field)
{
    Slots slots = {0};
    void *at = (char *)stmt + field->offset;
    switch (field->shape) {
    case FIELD_EXPR: add_slot(&slots, at); break;
    case FIELD_EXPRS: add_slot(&slots, *(const Expr ***)at); break;
    case FIELD_BUFFER: add_buffer_slots(&slots, *(Buffer **)at); break;
    case FIELD_BUFFERS: add_buffer_slots(&slots, **(Buffer ***)at); break;
    case FIELD_REGION: add_range_slots(&slots, ((Region *)at)->ranges); break;
    case FIELD_REGIONS: add_range_slots(&slots, (*(Region **)at)->ranges); break;
    case FIELD_ITERS: add_range_slots(&slots, &(*(Iter **)at)->domain); break;
    case FIELD_MATCHES:
        add_range_slots(&slots, (*(MatchBuffer **)at)->source.ranges);
        add_buffer_slots(&slots, (*(MatchBuffer **)at)->target);
        break;
    case FIELD_ATTRS: {
        const AttrValue *dict = ((Attrs *)at)->entries->value, *list = dict->entries->value;
        add_slot(&slots, (const Expr **)(void *)&list->items[0]->expr);
        break;
    }
    default: break;
    }
    return slots;
}

static bool find_marker(Visitor *visitor, const Expr *expr)
{
    *(int *)visitor->data += expr == marker;
    return true;
}

static const Expr *replace_marker(Rewriter *rewriter, const Expr *expr)
{
    return expr == marker ? num(1) : rewrite_expr_children(rewriter, expr);
}

static int times_met(const Stmt *stmt, Moment moment)
{
    int found = 0;
    Visitor visitor = {.expr = find_marker, .data = &found};
    if (moment == MOMENT_BODY)
        visit_stmt(&visitor, stmt);
    else
        visit_stmt_exprs(&visitor, stmt, moment);
    return found;
}

static const Func *func_of(const Stmt *stmt)
{
    BlockStmt block = {.block = block_new(ctx, context_intern(ctx, "inside"), span_none()), .body = stmt};
    BlockStmt root = {.block = block_new(ctx, context_intern(ctx, "root"), span_none()), .body = stmt_block(ctx, block, span_none())};
    Param param = {.param = parameter->data, .buffer = parameter};
    Func func = {.name = context_intern(ctx, "f"),
                 .params = copy_of(&param, sizeof param),
                 .param_count = 1,
                 .return_type = DTYPE_VOID,
                 .body = stmt_block(ctx, root, span_none())};
    return copy_of(&func, sizeof func);
}

static bool analysis_reads_it(const Stmt *stmt)
{
    AccessList accesses = access_collect(ctx, func_of(stmt));
    bool found = false;
    for (int i = 0; i < accesses.count; i++)
        found |= accesses.data[i].data == marked->data && !accesses.data[i].write;
    return found;
}

static bool inference_reads_it(const Stmt *stmt)
{
    BlockStmt block = {.predicate = expr_bool(ctx, true), .body = stmt};
    Map none = {0};
    BlockRegions regions = infer_block_regions(ctx, &block, &none);
    bool found = false;
    for (int i = 0; i < regions.read_count; i++)
        found |= regions.reads[i].buffer == marked;
    return found;
}

#define EXPECT(holds, what)                                                                                                                \
    if (!(holds))                                                                                                                          \
    fail_msg("%s (%s, place %d): %s", field->name, moment_names[field->moment], place, what)
static const char *const moment_names[] = {
    [MOMENT_ENTRY] = "entry", [MOMENT_BOUND] = "bound", [MOMENT_INSIDE] = "inside", [MOMENT_STATED] = "stated", [MOMENT_BODY] = "body"};

static void check_walks(const Field *field, int place, const Stmt *stmt)
{
    EXPECT(times_met(stmt, MOMENT_BODY) == 1, "the visitor does not meet the load once");
    for (int moment = MOMENT_ENTRY; moment < MOMENT_BODY; moment++)
        EXPECT(times_met(stmt, (Moment)moment) == (moment == (int)field->moment), "it is not visited at its moment alone");
    EXPECT(stmt_uses_buffer(stmt, marked), "the use of the buffer is not found");
    EXPECT(stmt_uses_var(stmt, unknown), "the use of the variable is not found");
    Rewriter same = {.ctx = ctx}, replacing = {.ctx = ctx, .expr = replace_marker};
    EXPECT(rewrite_stmt(&same, stmt) == stmt, "rewriting nothing makes another node");
    const Stmt *replaced = rewrite_stmt(&replacing, stmt);
    EXPECT(replaced != stmt && !stmt_uses_buffer(replaced, marked) && !times_met(replaced, MOMENT_BODY), "the rewriter leaves the load");
    Subst subst = {0};
    subst_var(ctx, &subst, unknown, num(0));
    EXPECT(!stmt_uses_var(subst_stmt(ctx, &subst, stmt), unknown), "substitution leaves the variable");
    EXPECT(!stmt_equal(ctx, stmt, replaced, NULL), "equality does not look there");
    const char *why;
    EXPECT(!verify_func(ctx, func_of(stmt), STAGE_SURFACE, &why) && (strstr(why, "marked") || strstr(why, "unknown")),
           "the verifier does not find that nothing defines the variable");
}

static void check_place(const Field *field, int place, const Stmt *stmt)
{
    check_walks(field, place, stmt);
    if (field->moment == MOMENT_STATED)
        return;
    EXPECT(analysis_reads_it(stmt), "the analysis has no read of it");
    EXPECT(inference_reads_it(stmt), "no region is inferred for it");
}

static void every_expression_is_met(void **state)
{
    (void)state;
    int places = 0;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (const Field *field = stmt_fields((StmtKind)kind); field->shape; field++)
            for (int i = 0;; i++, places++) {
                Stmt *stmt = ARENA_NEW(ctx->arena, Stmt);
                *stmt = make_stmt((StmtKind)kind);
                Slots slots = slots_of(stmt, field);
                if (i >= slots.count)
                    break;
                bool condition = (*slots.data[i])->dtype.code == DT_BOOL;
                *slots.data[i] = condition ? expr_binary(ctx, EXPR_EQ, marker, num(0)) : marker;
                check_place(field, i, stmt);
            }
    assert_true(places > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_pointer_has_a_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_expression_is_met, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
