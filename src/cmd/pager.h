/* Standard output through a pager when it is a terminal, plain otherwise. */
#ifndef CYCLESCOPE_CMD_PAGER_H
#define CYCLESCOPE_CMD_PAGER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct pager {
    FILE *to;            /* where the page goes */
    bool colour;         /* a terminal shows it */
    const char *command; /* that runs, or NULL */
};

/* $PAGER, or `less -FRX` if there is one; none if the user wants none. */
void pager_open(struct pager *p, bool wanted);
/* Waits until the user has read. -EIO with a sentence if what was written did not get there; a user who stops reading
 * is no error. */
int pager_close(struct pager *p, struct error *err) MUST_CHECK;

#endif
