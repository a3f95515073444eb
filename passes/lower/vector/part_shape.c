/* See part_shape.h. */
#include "passes/lower/vector/part_shape.h"

#include <limits.h>

/* So many multiply-adds fit into the time that one of them takes: two units, of a latency of four or five cycles. With fewer sums a step of
   the loop takes that time all the same. */
enum { SUMS_IN_FLIGHT = 10 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int part_begin(int count, int parts, int number)
{
    return (int)((long)count * number / parts);
}

bool part_fits(int rows, int columns, int registers)
{
    return rows * columns + columns + 2 <= registers;
}

/* What a step of the loop costs: the time, in half cycles of a machine with two units to multiply and add and two to load, then the loads. A
   vector comes from a cache farther away than one number does: it counts twice. */
typedef struct {
    long time, loads;
} Cost;

static Cost cost_of(int rows, int columns, int row_parts, int column_parts)
{
    Cost cost = {0};
    for (int i = 0; i < row_parts; i++)
        for (int j = 0; j < column_parts; j++) {
            int height = part_begin(rows, row_parts, i + 1) - part_begin(rows, row_parts, i);
            int width = part_begin(columns, column_parts, j + 1) - part_begin(columns, column_parts, j);
            cost.time += larger(SUMS_IN_FLIGHT, larger(height * width, height + width));
            cost.loads += height + 2 * width;
        }
    return cost;
}

static bool is_better(Cost cost, Cost than)
{
    return cost.time < than.time || (cost.time == than.time && cost.loads < than.loads);
}

/* The sums, the operands of the shorter side, and one of the longer side, in turn. */
static int registers_of(int height, int width)
{
    return height * width + smaller(height, width) + 1;
}

bool part_shape_choose(int rows, int columns, int registers, PartShape *shape)
{
    Cost best = {LONG_MAX, LONG_MAX};
    for (int row_parts = 1; row_parts <= rows; row_parts++)
        for (int column_parts = 1; column_parts <= columns; column_parts++) {
            int height = (rows + row_parts - 1) / row_parts, width = (columns + column_parts - 1) / column_parts;
            if (registers_of(height, width) > registers)
                continue;
            Cost cost = cost_of(rows, columns, row_parts, column_parts);
            if (is_better(cost, best)) {
                best = cost;
                *shape = (PartShape){row_parts, column_parts, width > height};
            }
            break; /* more parts of the same height load more */
        }
    return best.time != LONG_MAX;
}
