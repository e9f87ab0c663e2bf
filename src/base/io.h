/* Reading and writing descriptors in one piece: calls that are interrupted or come back early are continued. */
#ifndef CYCLESCOPE_BASE_IO_H
#define CYCLESCOPE_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Read up to `length` bytes, from the file position or from `offset`. Return the number of bytes, which is less than
 * `length` only at the end of the file, or a negative errno code. */
ssize_t io_read(int fd, void *to, size_t length) MUST_CHECK;
ssize_t io_pread(int fd, void *to, size_t length, uint64_t offset) MUST_CHECK;
/* Read exactly `length` bytes. Return false at the end of the file or on an error. */
bool io_read_exactly(int fd, void *to, size_t length) MUST_CHECK;
bool io_pread_exactly(int fd, void *to, size_t length, uint64_t offset) MUST_CHECK;
/* Writes `length` bytes at the file position. Returns 0 or a negative errno code. */
int io_write(int fd, const void *from, size_t length) MUST_CHECK;

#endif
