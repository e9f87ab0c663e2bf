/* The message of a failed call.
 *
 * A call that can fail takes a `struct error *`. On failure it returns a negative errno code and sets the message: one
 * sentence that names the file, option or value at fault and says what would be right. Only `cmd/` prints messages. */
#ifndef CYCLESCOPE_BASE_ERROR_H
#define CYCLESCOPE_BASE_ERROR_H

#include <stdarg.h>

#define MUST_CHECK __attribute__((warn_unused_result))

struct error {
    char text[512]; /* one sentence without a final newline */
};

/* Formats the message and returns `code`, so that a caller can write `return error_set(err, -EINVAL, "...")`. Names in
 * the message may contain anything: the message is cleaned (clean_lines). */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
