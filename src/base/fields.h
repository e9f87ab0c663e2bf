/* Values of fixed size, one after the other, in a file of blocks (block_file.h).
 *
 * A function that names the fields of something both writes and reads it, so that the two cannot differ: a field is
 * taken from the variable when writing, and put there when reading. All numbers are little-endian.
 *
 * After the first error nothing more is written, and what is read is zero; whoever reads need only look before a value
 * leads to something (fields_good), and at the end. */
#ifndef CYCLESCOPE_BASE_FIELDS_H
#define CYCLESCOPE_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/block_file.h"

struct fields {
    struct block_writer *to;   /* one of the two is NULL */
    struct block_reader *from; /* the other */
};

bool fields_good(const struct fields *f); /* no error so far */
/* The code of the first error with its sentence, or 0. */
int fields_result(const struct fields *f, struct error *err) MUST_CHECK;
/* A value that was read cannot be: the file is damaged, and `what` goes on after "is damaged: ". Returns `possible`. */
bool fields_check(struct fields *f, bool possible, const char *what);

void field_u64(struct fields *f, uint64_t *value);
void field_i64(struct fields *f, int64_t *value);
void field_u32(struct fields *f, uint32_t *value);
void field_int(struct fields *f, int *value);
void field_bool(struct fields *f, bool *value);
void field_bytes(struct fields *f, void *bytes, size_t length);
/* Text with its zero in `size` bytes of room. */
void field_text(struct fields *f, char *text, size_t size);
/* Bytes of any number up to `most`, allocated when reading: to be freed. None: NULL and 0. */
void field_block(struct fields *f, void **bytes, uint64_t *length, uint64_t most);
/* Text that is allocated when reading, or NULL. */
void field_string(struct fields *f, char **text);

#endif
