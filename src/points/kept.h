/* What finished windows of a sampled run have measured, in a file, so that an interrupted run need not measure them
 * again.
 *
 * A file belongs to one run: program, core, windows and what is counted have a common key, and a file with another key
 * is refused. A line is written when a window is done; one that is not whole does not count. */
#ifndef CYCLESCOPE_POINTS_KEPT_H
#define CYCLESCOPE_POINTS_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct kept;

/* Opens or makes the file. NULL and a sentence if it is of another run, or no such file at all. */
struct kept *kept_open(const char *path, uint64_t key, size_t numbers, struct error *err) MUST_CHECK;
const uint64_t *kept_find(const struct kept *k, size_t window); /* its numbers, or NULL */
void kept_add(struct kept *k, size_t window, const uint64_t *number);
size_t kept_count(const struct kept *k);                      /* windows that the file had when it was opened */
int kept_close(struct kept *k, struct error *err) MUST_CHECK; /* -EIO if something did not get there; k may be NULL */

#endif
