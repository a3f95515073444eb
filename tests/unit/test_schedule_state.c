/* The state under schedule primitives: signatures and arguments, steps that undo, handles that survive or say who consumed them, the one
   edit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "print/print.h"
#include "verify/verify.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/core/schedule.h"

static const char program[] = "@T.prim_func\n"
                              "def main(A: T.Buffer((16, 16), \"float32\"), C: T.Buffer((16,), \"float32\")):\n"
                              "    for i, k in T.grid(16, 16):\n"
                              "        with T.block(\"C\"):\n"
                              "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                              "            with T.init():\n"
                              "                C[vi] = T.float32(0)\n"
                              "            C[vi] = C[vi] + A[vi, vk]\n"
                              "    for i in range(16):\n"
                              "        with T.block(\"D\"):\n"
                              "            vi = T.axis.spatial(16, i)\n"
                              "            A[vi, 0] = C[vi]\n";

typedef struct {
    Context *ctx;
    Schedule *sch;
} Fixture;

static int set_up(void **state)
{
    Fixture *fixture = test_malloc(sizeof *fixture);
    fixture->ctx = context_new();
    const Module *module = complete_module(fixture->ctx, parse_module_text(fixture->ctx, "test.tir", program, sizeof program - 1));
    assert_non_null(module);
    fixture->sch = schedule_new(fixture->ctx, module, 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *fixture = *state;
    context_free(fixture->ctx);
    test_free(fixture);
    return 0;
}

static Value text_value(Fixture *fixture, const char *text)
{
    return (Value){.kind = VALUE_STRING, .as.text = context_intern(fixture->ctx, text)};
}

static Value int_value(int64_t value)
{
    return (Value){.kind = VALUE_INT, .as.integer = value};
}

/* Calls primitive NAME as the script interpreter does. */
static bool call(Fixture *fixture, const char *name, const Value *given, int given_count, Value *result)
{
    const Primitive *primitive = primitive_find(name);
    assert_non_null(primitive);
    Parameter parameters[MOST_PARAMETERS];
    Value args[MOST_PARAMETERS];
    int count = primitive_parameters(fixture->ctx, primitive, parameters);
    Step step = schedule_begin(fixture->sch, name, span_none());
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        args[i] = i < given_count ? given[i] : parameters[i].default_value;
        ok = primitive_convert(fixture->sch, primitive, &parameters[i], &args[i]);
    }
    *result = value_none();
    return schedule_end(fixture->sch, step, ok && primitive->run(fixture->sch, args, result) && check_after_step(fixture->sch, step.module));
}

static const char *last_error(Fixture *fixture)
{
    for (int i = fixture->ctx->diagnostics.count - 1; i >= 0; i--)
        if (fixture->ctx->diagnostics.data[i].severity == DIAG_ERROR)
            return fixture->ctx->diagnostics.data[i].text;
    return "";
}

static Value get_loop(Fixture *fixture, const char *block, int index)
{
    Value name = text_value(fixture, block), loops;
    assert_true(call(fixture, "get_loops", &name, 1, &loops));
    assert_true(index < loops.as.list->count);
    return loops.as.list->items[index];
}

static Value factors(Fixture *fixture, int64_t inner)
{
    Value items[] = {value_none(), int_value(inner)};
    return value_list(fixture->ctx, items, 2);
}

static void signatures_read_as_python(void **state)
{
    Fixture *fixture = *state;
    Parameter parameters[MOST_PARAMETERS];
    assert_int_equal(primitive_parameters(fixture->ctx, primitive_find("split"), parameters), 4);
    assert_string_equal(parameters[0].name, "loop");
    assert_string_equal(parameters[1].type, "list[Expr?]");
    assert_false(parameters[1].has_default);
    assert_true(parameters[2].has_default && parameters[2].default_value.kind == VALUE_BOOL && parameters[2].default_value.as.boolean);
    assert_true(parameters[3].has_default && !parameters[3].default_value.as.boolean);
    assert_int_equal(primitive_parameters(fixture->ctx, primitive_find("fuse"), parameters), 2);
    assert_true(parameters[0].variadic);
    assert_string_equal(parameters[0].name, "loops");
    assert_int_equal(primitive_parameters(fixture->ctx, primitive_find("compute_at"), parameters), 4);
    assert_true(parameters[3].default_value.kind == VALUE_INT && parameters[3].default_value.as.integer == -1);
    assert_null(primitive_find("splitt"));
    for (int i = 0; i < schedule_primitive_count; i++)
        assert_true(primitive_parameters(fixture->ctx, &schedule_primitives[i], parameters) >= 0);
}

static void arguments_are_fitted(void **state)
{
    Fixture *fixture = *state;
    Value loop = get_loop(fixture, "C", 0), result;
    Value wrong_loop[] = {int_value(1), factors(fixture, 4)};
    assert_false(call(fixture, "split", wrong_loop, 2, &result));
    assert_string_equal(last_error(fixture), "split: argument 'loop' must be a loop, not a value of type int");
    Value wrong_item[] = {loop, value_list(fixture->ctx, &loop, 1)};
    assert_false(call(fixture, "split", wrong_item, 2, &result));
    assert_string_equal(last_error(fixture), "split: each item of 'factors' must be an int, not a value of type loop");
    Value list = factors(fixture, 4), right[] = {loop, list};
    assert_true(call(fixture, "split", right, 2, &result));
    assert_int_equal(list.as.list->items[1].kind, VALUE_INT); /* the script's own list stays as it was */
    assert_int_equal(result.as.list->count, 2);
}

static void handles_survive_or_tell(void **state)
{
    Fixture *fixture = *state;
    Value i = get_loop(fixture, "C", 0), k = get_loop(fixture, "C", 1), split, result;
    Value args[] = {i, factors(fixture, 5)};
    assert_true(call(fixture, "split", args, 2, &split));
    assert_false(call(fixture, "split", args, 2, &result));
    assert_string_equal(last_error(fixture), "split: loop 'i' no longer exists: 'split' consumed it");
    Value inner[] = {k, factors(fixture, 3)};
    assert_true(call(fixture, "split", inner, 2, &result));
    Value outer[] = {split.as.list->items[0], factors(fixture, 2)};
    assert_true(call(fixture, "split", outer, 2, &result));
}

static void failed_steps_change_nothing(void **state)
{
    Fixture *fixture = *state;
    Value i = get_loop(fixture, "C", 0), k = get_loop(fixture, "C", 1), result;
    const Module *before = fixture->sch->module;
    const char *text = print_module(fixture->ctx, before);
    Value loops[] = {k, i}, list = value_list(fixture->ctx, loops, 2);
    assert_false(call(fixture, "fuse", &list, 1, &result));
    assert_ptr_equal(fixture->sch->module, before);

    /* even when the edit was made already */
    Step step = schedule_begin(fixture->sch, "test", span_none());
    const TreeNode *node = schedule_loop(fixture->sch, i.as.loop);
    sched_replace(fixture->sch, node->stmt, node_loop(node)->body);
    assert_null(schedule_find_loop(fixture->sch, i.as.loop));
    assert_false(schedule_end(fixture->sch, step, false));
    assert_ptr_equal(fixture->sch->module, before);
    assert_non_null(schedule_find_loop(fixture->sch, i.as.loop));
    assert_string_equal(print_module(fixture->ctx, fixture->sch->module), text);
}

static void renamed_blocks_keep_their_handles(void **state)
{
    Fixture *fixture = *state;
    Value name = text_value(fixture, "C"), block, init, producers;
    assert_true(call(fixture, "get_block", &name, 1, &block));
    Value args[] = {block, get_loop(fixture, "C", 1)};
    assert_true(call(fixture, "decompose_reduction", args, 2, &init));
    const TreeNode *update = schedule_find_block(fixture->sch, block.as.block);
    assert_non_null(update);
    assert_string_equal(node_block(update)->block->name, "C_update");
    assert_true(call(fixture, "get_producers", &block, 1, &producers));
    assert_int_equal(producers.as.list->count, 1);
    assert_ptr_equal(producers.as.list->items[0].as.block, init.as.block);
}

static void tree_knows_its_places(void **state)
{
    Fixture *fixture = *state;
    Schedule *sch = fixture->sch;
    const TreeNode *root = schedule_node_at(sch, 0);
    assert_int_equal(root->stmt->kind, STMT_BLOCK);
    assert_int_equal(root->end, schedule_node_count(sch));
    assert_null(schedule_parent(sch, root));
    int count;
    const TreeNode **blocks = schedule_child_blocks(sch, root, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(schedule_scope(sch, blocks[0]), root);
    assert_true(schedule_is_under(sch, blocks[0], root));
    assert_false(schedule_is_under(sch, blocks[1], blocks[0]));
    const TreeNode *init = schedule_find_stmt(sch, node_block(blocks[0])->init);
    assert_true(init->in_init);
    assert_false(schedule_find_stmt(sch, node_block(blocks[0])->body)->in_init);
    const TreeNode **loops = schedule_loops_around(sch, blocks[0], &count);
    assert_int_equal(count, 2);
    assert_string_equal(node_loop(loops[0])->var->name, "i");
    assert_string_equal(node_loop(loops[1])->var->name, "k");
}

static void edits_share_what_they_leave(void **state)
{
    Fixture *fixture = *state;
    Schedule *sch = fixture->sch;
    int count;
    const TreeNode **blocks = schedule_child_blocks(sch, schedule_node_at(sch, 0), &count);
    const Stmt *untouched = schedule_parent(sch, blocks[1])->stmt;
    sched_replace(sch, node_block(blocks[0])->body, stmt_evaluate(fixture->ctx, expr_int(fixture->ctx, DTYPE_INT32, 0), span_none()));
    assert_non_null(schedule_find_stmt(sch, untouched));
    const char *why;
    assert_true(verify_module(fixture->ctx, sch->module, STAGE_SCHEDULED, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(signatures_read_as_python, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arguments_are_fitted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(handles_survive_or_tell, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failed_steps_change_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(renamed_blocks_keep_their_handles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tree_knows_its_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(edits_share_what_they_leave, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
