/* A message that travels with a failed call.
 *
 * A library call that can fail takes a `struct error *`, returns a negative errno code and leaves one sentence
 * that names the file, option or value at fault and what would be right. `cmd/` prints it; nothing else does. */
#ifndef CYCLESCOPE_BASE_ERROR_H
#define CYCLESCOPE_BASE_ERROR_H

#include <stdarg.h>

#define MUST_CHECK __attribute__((warn_unused_result))

struct error {
    char text[512]; /* one sentence without a final newline; empty when nothing failed */
};

/* Formats the sentence and returns `code`, so that a caller can write `return error_set(err, -EINVAL, "...")`. */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
