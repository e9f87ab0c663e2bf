#include "report/phase_picture.h"

#include "report/stall_picture.h"

enum { COLUMNS = 64, ROWS = 8, MATRIX = 32 };

/* The mean of the values that share a column. */
static double column_of(const double *value, size_t count, size_t columns, size_t column)
{
    size_t first = column * count / columns, end = (column + 1) * count / columns;
    double sum = 0;
    for (size_t k = first; k < end; k++)
        sum += value[k];
    return sum / (double)(end - first);
}

void phase_picture(const char *title, const double *value, size_t count, uint64_t interval, FILE *to)
{
    size_t columns = count < COLUMNS ? count : COLUMNS;
    double height[COLUMNS], most = 0;
    char text[SHORT_NUMBER];
    if (count == 0)
        return;
    for (size_t c = 0; c < columns; c++) {
        height[c] = column_of(value, count, columns, c);
        most = height[c] > most ? height[c] : most;
    }
    fprintf(to, "\n%s\n", title);
    for (int row = ROWS; row > 0; row--) {
        if (row == ROWS)
            fprintf(to, "%8.3g |", most);
        else
            fputs("         |", to);
        for (size_t c = 0; c < columns; c++) {
            double part = most > 0 ? height[c] / most * ROWS - (row - 1) : 0;
            fputc(part >= 0.75 ? '#' : part >= 0.25 ? ':' : part > 0 && row == 1 ? '.' : ' ', to);
        }
        fputc('\n', to);
    }
    fputs("       0 +", to);
    for (size_t c = 0; c < columns; c++)
        fputc('-', to);
    fprintf(to, " %s\n", stall_short(count * interval, text));
}

/* The mean difference of the matrix elements that share a cell of the picture. */
static double cell_of(const struct similarity *m, size_t size, size_t row, size_t column)
{
    size_t top = row * m->count / size, bottom = (row + 1) * m->count / size;
    size_t left = column * m->count / size, right = (column + 1) * m->count / size;
    double sum = 0;
    for (size_t a = top; a < bottom; a++)
        for (size_t b = left; b < right; b++)
            sum += m->difference[a * m->count + b];
    return sum / (double)((bottom - top) * (right - left));
}

void phase_matrix_picture(const struct similarity *m, FILE *to)
{
    static const char shades[] = "@%#*+=-:. ";
    size_t size = m->count < MATRIX ? m->count : MATRIX;
    if (size < 2)
        return;
    fputs("\nsimilarity of any two parts of the run (@: the same, blank: nothing in common)\n", to);
    for (size_t row = 0; row < size; row++) {
        fputs("         |", to);
        for (size_t column = 0; column < size; column++) {
            char shade = shades[(size_t)(cell_of(m, size, row, column) / 2 * (sizeof shades - 2) + 0.5)];
            fputc(shade, to); /* twice, since characters are half as wide as they are high */
            fputc(shade, to);
        }
        fputs("|\n", to);
    }
}
