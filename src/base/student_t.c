#include "base/student_t.h"

#include <math.h>
#include <stddef.h>

/* Interpolates linearly in 1/degrees between the rows of a table. The result is slightly too large between rows. */
double student_t_975(double degrees)
{
    static const struct {
        double degrees, t;
    } row[] = {{1, 12.706}, {1.2, 8.649}, {1.5, 6.017}, {2, 4.303},   {2.5, 3.575}, {3, 3.182},
               {4, 2.776},  {5, 2.571},   {6, 2.447},   {8, 2.306},   {10, 2.228},  {15, 2.131},
               {20, 2.086}, {30, 2.042},  {60, 2.000},  {1e12, 1.960}};
    enum { ROWS = sizeof row / sizeof row[0] };
    size_t i = 1;
    if (degrees <= row[0].degrees)
        return row[0].t;
    while (i < ROWS - 1 && degrees > row[i].degrees)
        i++;
    double from = 1 / row[i - 1].degrees, to = 1 / row[i].degrees, at = fmax(1 / degrees, to);
    return row[i].t + (row[i - 1].t - row[i].t) * (at - to) / (from - to);
}
