#include "report/terminal_color.h"

#include <stdbool.h>

void terminal_background(uint32_t color, FILE *to)
{
    unsigned red = color >> 16, green = color >> 8 & 255, blue = color & 255;
    bool dark = 299 * red + 587 * green + 114 * blue < 128000; /* brightness, in thousandths */
    fprintf(to, "\033[%s;48;2;%u;%u;%um", dark ? "97" : "30", red, green, blue);
}
