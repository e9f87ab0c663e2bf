/* A file with the results of the finished windows of a sampled run (--keep), so that an interrupted run need not
 * measure them again.
 *
 * A file belongs to one run: its key is a hash of program, core, windows and what is counted, and a file with another
 * key is refused, and so is a file that another process has opened here. A line is written when a window is done. An
 * incomplete or damaged line, and all that follow it, are dropped when the file is opened. */
#ifndef CYCLESCOPE_PHASES_KEPT_H
#define CYCLESCOPE_PHASES_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct kept;

/* Opens or creates the file; `numbers` is the number of values of a window. NULL with a message if the file cannot be
 * opened, belongs to another run or is of another kind. */
struct kept *kept_open(const char *path, uint64_t key, size_t numbers, struct error *err) MUST_CHECK;
const uint64_t *kept_find(const struct kept *k, size_t window); /* its values, or NULL */
/* Appends a window. Errors show in kept_close. */
void kept_add(struct kept *k, size_t window, const uint64_t *number);
int kept_close(struct kept *k, struct error *err) MUST_CHECK; /* -EIO: a write failed; k may be NULL */

#endif
