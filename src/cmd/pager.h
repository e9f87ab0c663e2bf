/* Standard output: through a pager if it is a terminal, directly otherwise. */
#ifndef CYCLESCOPE_CMD_PAGER_H
#define CYCLESCOPE_CMD_PAGER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct pager {
    FILE *to;            /* stream to print to */
    bool color;          /* the output appears on a terminal, which shows colors */
    const char *command; /* command of the running pager, or NULL */
};

/* Starts $PAGER, or `less -FRX` if it is installed. Uses no pager if `wanted` is false, standard output is not a
 * terminal, or $PAGER is empty or "cat". */
void pager_open(struct pager *p, bool wanted);
/* Waits until the user has left the pager. Returns a negative code if standard output could not be written or the pager
 * could not be started. Leaving the pager early is not an error. */
int pager_close(struct pager *p, struct error *err) MUST_CHECK;

#endif
