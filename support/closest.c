/* The name that was meant by one with a spelling mistake; see diag.h. */
#include <stdlib.h>
#include <string.h>

#include "support/diag.h"

/* Edit distance with adjacent transpositions, given up beyond LIMIT. */
static int edit_distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 64 };
    int length_a = (int)strnlen(a, LONGEST + 1), length_b = (int)strnlen(b, LONGEST + 1);
    if (length_a > LONGEST || length_b > LONGEST || abs(length_a - length_b) > limit)
        return limit + 1;
    int rows[3][LONGEST + 1];
    for (int j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (int i = 1; i <= length_a; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[length_a % 3][length_b];
}

const char *diag_closest(const char *wrong, const char *const *names, int count)
{
    size_t length = strlen(wrong);
    int limit = length <= 2 ? 0 : length <= 4 ? 1 : length <= 8 ? 2 : 3;
    const char *closest = NULL;
    for (int i = 0; i < count && limit > 0; i++) {
        if (!names[i])
            continue;
        int distance = edit_distance(wrong, names[i], limit);
        if (distance <= limit) {
            closest = names[i];
            limit = distance - 1;
        }
    }
    return closest;
}
