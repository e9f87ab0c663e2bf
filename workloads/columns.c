/* Adds up a matrix that does not fit the caches: `columns` walks down the columns, `rows` walks along the rows. The
 * sums are the same; the time is not. */
#include <stdio.h>
#include <string.h>

enum { SIZE = 1024 };
static int matrix[SIZE][SIZE];

static long sum_by_columns(void)
{
    long sum = 0;
    for (int column = 0; column < SIZE; column++)
        for (int row = 0; row < SIZE; row++)
            sum += matrix[row][column];
    return sum;
}

static long sum_by_rows(void)
{
    long sum = 0;
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            sum += matrix[row][column];
    return sum;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            matrix[i][j] = i ^ j;
    long sum = argc > 1 && strcmp(argv[1], "rows") == 0 ? sum_by_rows() : sum_by_columns();
    printf("%ld\n", sum);
    return 0;
}
