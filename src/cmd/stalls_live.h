/* A picture of the stalls so far in the lowest lines of a terminal, while the program runs.
 *
 * The lines are taken out of the part of the screen that scrolls, so that what the program prints goes on above them,
 * and given back at the end. The size of the terminal is asked for each time; there are at most ten pictures a second,
 * of plain ANSI. On anything but a terminal nothing is written at all.
 *
 * Limits: a program that draws on the whole screen itself will be drawn over. */
#ifndef CYCLESCOPE_CMD_STALLS_LIVE_H
#define CYCLESCOPE_CMD_STALLS_LIVE_H

#include <stdio.h>

#include "monitor/stalls.h"

struct stalls_live {
    FILE *to;               /* the terminal, or NULL */
    double begun, drawn;    /* seconds: the first picture, or 0; the last */
    uint64_t insns;         /* at the first picture */
    unsigned rows, columns; /* of the terminal, when the lines were taken; 0: they are not */
    unsigned height;        /* lines taken */
};

void stalls_live_begin(struct stalls_live *l, FILE *to, bool wanted);
static inline bool stalls_live_is_on(const struct stalls_live *l)
{
    return l->to != NULL;
}
/* There is one more interval. */
void stalls_live_note(struct stalls_live *l, const struct stall_series *s);
void stalls_live_end(struct stalls_live *l); /* the terminal is as it was */

#endif
