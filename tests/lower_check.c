/* The checks of lower_check.h by hand: lower_check [-v] FILE.tir... Exit code 1 when one fails; -v prints what each pass gives. */
#include "tests/lower_check.h"

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && !strcmp(argv[1], "-v"), good = true;
    for (int i = 1 + verbose; i < argc; i++)
        good &= lower_check_file(argv[i], verbose);
    return good ? 0 : 1;
}
