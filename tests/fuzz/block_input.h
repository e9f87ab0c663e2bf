/* From the input of a fuzzer to a file of blocks. The first byte says how much of it is right, so that checksums do not
 * keep the rest from being reached: 0, nothing; 1, all but the records, which are two bytes of length and as many of a
 * block, again and again; 2, all but the sizes and the frame, which are four bytes of the size that it should have and
 * the frame. */
#ifndef CYCLESCOPE_TESTS_BLOCK_INPUT_H
#define CYCLESCOPE_TESTS_BLOCK_INPUT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/block_file.h"

static inline void expect(bool fact)
{
    if (!fact)
        abort();
}

struct file {
    uint8_t *at;
    size_t length;
};

static inline void append(struct file *f, const uint8_t *bytes, size_t length)
{
    f->at = realloc(f->at, f->length + length + 1);
    expect(f->at != NULL);
    memcpy(f->at + f->length, bytes, length);
    f->length += length;
}

static inline void append_blocks(struct file *f, const uint8_t *bytes, size_t length)
{
    static uint8_t block[BLOCK_MOST];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    expect(z != NULL);
    for (uint32_t number = 0; length >= 2; number++) {
        size_t raw = bytes[0] | (size_t)bytes[1] << 8;
        bytes += 2;
        length -= 2;
        raw = raw < length ? raw : length;
        size_t sealed = block_pack(z, block, number, bytes, raw);
        expect(sealed != 0);
        append(f, block, sealed);
        bytes += raw;
        length -= raw;
    }
    ZSTD_freeCCtx(z);
}

static inline void append_frame(struct file *f, const uint8_t *bytes, size_t length)
{
    static uint8_t block[BLOCK_MOST];
    if (length < 4 || length - 4 > BLOCK_FRAME_MOST)
        return;
    memcpy(block + BLOCK_HEADER_BYTES, bytes + 4, length - 4);
    append(f, block, block_seal(block, 0, block_get_u32(bytes), length - 4));
}

static inline struct file make_file(const struct block_file_kind *kind, const uint8_t *bytes, size_t length)
{
    uint8_t header[BLOCK_FILE_HEADER_BYTES];
    struct file f = {NULL, 0};
    unsigned way = length ? *bytes++ % 3 : 0;
    length -= length != 0;
    block_put_file_header(header, kind->magic, kind->version);
    append(&f, header, way == 0 ? 0 : sizeof header);
    switch (way) {
    case 0: append(&f, bytes, length); break;
    case 1: append_blocks(&f, bytes, length); break;
    default: append_frame(&f, bytes, length); break;
    }
    return f;
}

/* A file in memory, to write and to read. */
static inline void open_pair(FILE **to, FILE **back)
{
    int fd = memfd_create("blocks", MFD_CLOEXEC), copy = dup(fd);
    expect(fd >= 0 && copy >= 0);
    *to = fdopen(fd, "w");
    *back = fdopen(copy, "r");
    expect(*to && *back);
}

#endif
