/* What drawings as SVG share. */
#ifndef CYCLESCOPE_REPORT_SVG_PARTS_H
#define CYCLESCOPE_REPORT_SVG_PARTS_H

#include <stddef.h>
#include <stdio.h>

/* Text of any kind: what is not UTF-8 or not printable is replaced, what is longer than so many characters is cut. */
void svg_text(const char *text, size_t most, FILE *to);
/* 1, 2 or 5 times a power of ten, so that a range, which is not 0, has about so many of them. */
double svg_tick_step(double range, unsigned ticks);
/* Decimals of numbers that are so far apart. */
int svg_decimals(double step);

#endif
