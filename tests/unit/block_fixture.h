/* What tests of files of blocks share: numbers and strings to write, and files that are written and read. */
#ifndef CYCLESCOPE_TESTS_BLOCK_FIXTURE_H
#define CYCLESCOPE_TESTS_BLOCK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"

enum { NAME_ROOM = 24 };

static inline unsigned below(struct random *random, unsigned limit)
{
    return (unsigned)((random_u64(random) >> 32) * limit >> 32);
}

/* Often an extreme one, else of any length. */
static inline uint64_t any_u64(struct random *random)
{
    static const uint64_t extremes[] = {0, 1, 127, 128, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX - 1, UINT64_MAX};
    if (below(random, 3) == 0)
        return extremes[below(random, 8)];
    return random_u64(random) >> below(random, 64);
}

static inline uint32_t any_u32(struct random *random)
{
    return below(random, 4) == 0 ? UINT32_MAX : (uint32_t)any_u64(random);
}

static inline const char *any_string(struct random *random, char *text)
{
    unsigned length = below(random, NAME_ROOM);
    for (unsigned i = 0; i < length; i++)
        text[i] = (char)(1 + below(random, 255));
    text[length] = '\0';
    return text;
}

/* ---- files */

struct bytes {
    uint8_t *at;
    size_t length;
};

static inline struct bytes contents(FILE *f)
{
    struct bytes b = {NULL, 0};
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    b.length = (size_t)ftell(f);
    b.at = malloc(b.length + 1);
    assert_non_null(b.at);
    rewind(f);
    assert_int_equal(fread(b.at, 1, b.length, f), b.length);
    fclose(f);
    return b;
}

/* A second stream to the same file, as the writer closes the first. */
static inline FILE *twin(FILE *f)
{
    FILE *other = fdopen(dup(fileno(f)), "r+");
    assert_non_null(other);
    return other;
}

/* Exactly as long as it is, so that reading on would be noticed; to be freed. */
static inline FILE *open_bytes(const uint8_t *bytes, size_t length, uint8_t **copy)
{
    *copy = malloc(length + 1);
    assert_non_null(*copy);
    memcpy(*copy, bytes, length);
    FILE *from = fmemopen(*copy, length, "r");
    assert_non_null(from);
    return from;
}

#endif
