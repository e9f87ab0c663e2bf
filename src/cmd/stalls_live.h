/* A picture of the stalls so far in the lowest lines of the terminal, while the program runs.
 *
 * The lines are excluded from the scrolling region of the terminal, so that output of the program scrolls above them;
 * they are returned at the end. The size of the terminal is read before each picture. There are at most ten pictures a
 * second. Only ANSI escape sequences are used. Nothing is written if the output is not a terminal.
 *
 * Limit: the picture overwrites the output of a program that draws on the whole screen. */
#ifndef CYCLESCOPE_CMD_STALLS_LIVE_H
#define CYCLESCOPE_CMD_STALLS_LIVE_H

#include <stdio.h>

#include "sampler/stalls.h"

struct stalls_live {
    FILE *to;               /* the terminal, or NULL */
    double begun, drawn;    /* times of the first and the last picture, in seconds; 0: none yet */
    uint64_t insns;         /* instructions before the first picture */
    unsigned rows, columns; /* size of the terminal when the lines were taken; 0: no lines are taken */
    unsigned height;        /* number of lines taken */
};

/* Prepares the picture. `wanted` false, or `to` not a terminal: all calls do nothing. */
void stalls_live_begin(struct stalls_live *l, FILE *to, bool wanted);
static inline bool stalls_live_is_on(const struct stalls_live *l)
{
    return l->to != NULL;
}
/* Draws the series, which has a new interval. Does nothing if the last picture is less than 0.1 s old. */
void stalls_live_note(struct stalls_live *l, const struct stall_series *s);
/* Removes the picture and restores the terminal. */
void stalls_live_end(struct stalls_live *l);

#endif
