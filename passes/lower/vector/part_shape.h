/* Into which parts a tile of sums is cut, so that each part fits the vector registers. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_VECTOR_PART_SHAPE_H
#define TIRC_PASSES_LOWER_VECTOR_PART_SHAPE_H

#include <stdbool.h>

/* A tile has rows and columns of registers: the sums of a row share an operand that is one number, those of a column share a vector. The parts
   are ROWS x COLUMNS of even size. */
typedef struct {
    int rows, columns;
    bool by_columns; /* in each part, the sums are best computed column by column; else row by row */
} PartShape;

/* The place where part NUMBER of PARTS begins that cut COUNT rows or columns evenly; part PARTS begins at COUNT. */
int part_begin(int count, int parts, int number);

/* A tile of ROWS x COLUMNS sums fits REGISTERS registers as it stands, computed row by row. */
bool part_fits(int rows, int columns, int registers);

/* The shape for a tile that does not fit; false where there is none. One part is a shape too: the tile fits if it is computed by columns. */
bool part_shape_choose(int rows, int columns, int registers, PartShape *shape);

#endif
