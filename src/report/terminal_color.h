/* Colors on a terminal that knows 24-bit colors. */
#ifndef CYCLESCOPE_REPORT_TERMINAL_COLOR_H
#define CYCLESCOPE_REPORT_TERMINAL_COLOR_H

#include <stdint.h>
#include <stdio.h>

#define TERMINAL_PLAIN "\033[0m" /* ends a color */

/* Makes `color`, 0xrrggbb, the background of what is printed next, and the text black or white so that it is legible.
 */
void terminal_background(uint32_t color, FILE *to);

#endif
