/* Serialization of plain values to a file of blocks (block_file.h).
 *
 * One function that lists the fields of an object both writes and reads them, so that the two cannot differ: each
 * field_* call copies a variable to the file when writing, and from the file when reading. All numbers are
 * little-endian.
 *
 * After the first error nothing more is written, and all values read are zero. So a reader has to check for errors only
 * before it acts on a value (fields_good), and at the end (fields_result). */
#ifndef CYCLESCOPE_BASE_FIELDS_H
#define CYCLESCOPE_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/block_file.h"

struct fields {
    struct block_writer *to;   /* when writing; else NULL */
    struct block_reader *from; /* when reading; else NULL */
};

bool fields_good(const struct fields *f); /* true: no error so far */
/* Returns 0, or the code of the first error and its message. */
int fields_result(const struct fields *f, struct error *err) MUST_CHECK;
/* Checks a value that was read. If it is not `possible`, the file is damaged: sets the error "is damaged: " followed by
 * `what`. Returns true if the value is possible and there was no earlier error. */
bool fields_check(struct fields *f, bool possible, const char *what);

void field_u64(struct fields *f, uint64_t *value);
void field_i64(struct fields *f, int64_t *value);
void field_u32(struct fields *f, uint32_t *value);
void field_int(struct fields *f, int *value);
void field_bool(struct fields *f, bool *value);
void field_bytes(struct fields *f, void *bytes, size_t length);
/* A string in a buffer of `size` bytes. */
void field_text(struct fields *f, char *text, size_t size);
/* A block of up to `most` bytes. When reading, it is allocated and the caller frees it; an empty block is NULL. */
void field_block(struct fields *f, void **bytes, uint64_t *length, uint64_t most);
/* A string, or NULL. When reading, it is allocated and the caller frees it. */
void field_string(struct fields *f, char **text);

#endif
