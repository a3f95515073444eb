/* The parts of each shape have all sums, once, and fit the registers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "passes/lower/vector/part_shape.h"

enum { MOST_ROWS = 40, MOST_COLUMNS = 40 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void check_sides(int count, int parts, int most)
{
    assert_int_equal(part_begin(count, parts, 0), 0);
    assert_int_equal(part_begin(count, parts, parts), count);
    for (int i = 0; i < parts; i++) {
        int size = part_begin(count, parts, i + 1) - part_begin(count, parts, i);
        assert_true(size > 0 && size <= most);
    }
}

static void test_parts_fit(void **state)
{
    (void)state;
    static const int registers[] = {4, 16, 32};
    for (int r = 0; r < 3; r++)
        for (int rows = 1; rows <= MOST_ROWS; rows++)
            for (int columns = 1; columns <= MOST_COLUMNS; columns++) {
                PartShape shape;
                assert_true(part_shape_choose(rows, columns, registers[r], &shape));
                int height = (rows + shape.rows - 1) / shape.rows, width = (columns + shape.columns - 1) / shape.columns;
                assert_true(height * width + smaller(height, width) + 1 <= registers[r]);
                check_sides(rows, shape.rows, height);
                check_sides(columns, shape.columns, width);
            }
}

static void test_no_registers(void **state)
{
    (void)state;
    PartShape shape;
    assert_false(part_shape_choose(3, 5, 2, &shape));
}

/* The tiles that the examples use, on 16 registers. */
static void test_usual_tiles(void **state)
{
    (void)state;
    static const struct {
        int rows, columns, row_parts, column_parts, by_columns;
    } tiles[] = {{4, 8, 1, 3, 0}, {8, 4, 3, 1, 1}, {6, 6, 1, 3, 0}, {3, 8, 1, 2, 1}, {6, 4, 1, 2, 0}, {5, 6, 1, 3, 0}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        PartShape shape;
        assert_false(part_fits(tiles[i].rows, tiles[i].columns, 16));
        assert_true(part_shape_choose(tiles[i].rows, tiles[i].columns, 16, &shape));
        assert_int_equal(shape.rows, tiles[i].row_parts);
        assert_int_equal(shape.columns, tiles[i].column_parts);
        assert_int_equal(shape.by_columns, tiles[i].by_columns);
    }
    assert_true(part_fits(4, 4, 32));
    assert_true(part_fits(6, 2, 16));
    assert_false(part_fits(4, 3, 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_fit), cmocka_unit_test(test_no_registers), cmocka_unit_test(test_usual_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
