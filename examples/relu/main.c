/* Calls the compiled relu and compares each element with the same computation in C. */
#include <stdio.h>

#include "relu.h"
#include "tirc_rt.h"

enum { ROWS = 1000, COLUMNS = 64, ELEMENTS = ROWS * COLUMNS };

static float A[ELEMENTS], B[ELEMENTS];

int main(void)
{
    for (int i = 0; i < ELEMENTS; i++)
        A[i] = (float)(i * 7919 % 2001 - 1000) / 1000.0f; /* from -1 to 1, in no order */
    if (relu(A, B)) {
        fprintf(stderr, "relu failed: %s\n", tirc_last_error());
        return 1;
    }
    for (int i = 0; i < ELEMENTS; i++)
        if (B[i] != (A[i] > 0 ? A[i] : 0)) {
            fprintf(stderr, "WRONG: relu(%g) = %g at row %d, column %d\n", A[i], B[i], i / COLUMNS, i % COLUMNS);
            return 1;
        }
    printf("B = max(A, 0), %dx%d, float32: ok\n", ROWS, COLUMNS);
    return 0;
}
