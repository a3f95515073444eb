/* The loops of reductions.tir. */
void plain_row_sum(int rows, int columns, const float *restrict A, float *restrict sums)
{
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int k = 0; k < columns; k++)
            sum += A[(long)i * columns + k];
        sums[i] = sum;
    }
}

void plain_row_max(int rows, int columns, const float *restrict A, float *restrict maxima)
{
    for (int i = 0; i < rows; i++) {
        float greatest = A[(long)i * columns];
        for (int k = 1; k < columns; k++)
            greatest = greatest > A[(long)i * columns + k] ? greatest : A[(long)i * columns + k];
        maxima[i] = greatest;
    }
}

void plain_row_argmax(int rows, int columns, const float *restrict A, int *restrict places)
{
    for (int i = 0; i < rows; i++) {
        float greatest = A[(long)i * columns];
        int place = 0;
        for (int k = 1; k < columns; k++)
            if (A[(long)i * columns + k] > greatest) {
                greatest = A[(long)i * columns + k];
                place = k;
            }
        places[i] = place;
    }
}
