#include "base/block_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/io.h"

enum { LEVEL = 1 }; /* zstd level; level 3 makes a profile at most 4 % smaller and takes 1.6 times as long */

/* ---- bytes */

void block_put_u32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

uint32_t block_get_u32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

uint32_t block_checksum(const uint8_t *bytes, size_t length)
{
    return (uint32_t)crc32_z(0, bytes, length);
}

void block_put_file_header(uint8_t to[BLOCK_FILE_HEADER_BYTES], const char *magic, uint32_t version)
{
    memcpy(to, magic, 8);
    block_put_u32(to + 8, version);
    block_put_u32(to + 12, block_checksum(to, 12));
}

size_t block_seal(uint8_t *block, uint32_t number, size_t raw_bytes, size_t frame_bytes)
{
    size_t length = BLOCK_HEADER_BYTES + frame_bytes;
    block_put_u32(block, BLOCK_MARK);
    block_put_u32(block + 4, number);
    block_put_u32(block + 8, (uint32_t)raw_bytes);
    block_put_u32(block + 12, (uint32_t)frame_bytes);
    block_put_u32(block + 16, block_checksum(block, 16));
    block_put_u32(block + length, block_checksum(block, length));
    return length + BLOCK_TAIL_BYTES;
}

size_t block_pack(ZSTD_CCtx *z, uint8_t *block, uint32_t number, const uint8_t *raw, size_t raw_bytes)
{
    size_t frame = ZSTD_compressCCtx(z, block + BLOCK_HEADER_BYTES, BLOCK_FRAME_MOST, raw, raw_bytes, LEVEL);
    return ZSTD_isError(frame) ? 0 : block_seal(block, number, raw_bytes, frame);
}

/* ---- writing */

void block_writer_fail(struct block_writer *w, int code, const char *why)
{
    if (w->code == 0)
        w->code = error_set(&w->error, code, "the %s cannot be written: %s", w->kind->noun, why);
}

static void write_bytes(struct block_writer *w, const uint8_t *bytes, size_t length)
{
    int code = w->code == 0 ? io_write(fileno(w->to), bytes, length) : 0;
    if (code < 0)
        block_writer_fail(w, code, strerror(-code));
}

int block_writer_open(struct block_writer *w, const struct block_file_kind *kind, FILE *to)
{
    uint8_t header[BLOCK_FILE_HEADER_BYTES];
    w->compressor = ZSTD_createCCtx();
    if (!w->compressor)
        return -ENOMEM;
    w->kind = kind;
    w->to = to;
    w->owner = getpid();
    block_put_file_header(header, kind->magic, kind->version);
    write_bytes(w, header, sizeof header);
    return 0;
}

void block_writer_flush(struct block_writer *w)
{
    if (w->raw_bytes > 0 && w->code == 0 && getpid() == w->owner) {
        size_t length = block_pack(w->compressor, w->block, w->number, w->raw, w->raw_bytes);
        if (length == 0)
            block_writer_fail(w, -ENOMEM, strerror(ENOMEM));
        else if (w->number == UINT32_MAX)
            block_writer_fail(w, -EFBIG, strerror(EFBIG));
        write_bytes(w, w->block, length);
        w->number++;
    }
    w->raw_bytes = 0;
}

int block_writer_finish(struct block_writer *w)
{
    block_writer_flush(w);
    if (fclose(w->to) != 0)
        block_writer_fail(w, -errno, strerror(errno));
    ZSTD_freeCCtx(w->compressor);
    return w->code;
}

/* ---- reading */

enum { NAME_MOST = 360 }; /* longer names of files are cut in messages, so that the rest of the message fits */

int block_reader_fail(struct block_reader *r, int code, const char *format, ...)
{
    char what[sizeof r->error.text - NAME_MOST];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    r->code = error_set(&r->error, code, "%.*s %s", NAME_MOST, r->name, what);
    return r->code;
}

static int fail_block(struct block_reader *r, const char *what)
{
    return block_reader_fail(r, -EINVAL, "is damaged: block %u %s", r->next, what);
}

/* Returns 1 if all bytes were read; 0 if the file ends after `*got` bytes; a negative code if reading failed. */
static int read_bytes(struct block_reader *r, uint8_t *to, size_t length, size_t *got)
{
    errno = 0;
    *got = fread(to, 1, length, r->from);
    if (*got < length && ferror(r->from))
        return block_reader_fail(r, errno ? -errno : -EIO, "cannot be read: %s", strerror(errno ? errno : EIO));
    return *got == length;
}

static int read_file_header(struct block_reader *r)
{
    uint8_t header[BLOCK_FILE_HEADER_BYTES], want[BLOCK_FILE_HEADER_BYTES];
    const char *noun = r->kind->noun, *magic = r->kind->magic;
    size_t got;
    int result = read_bytes(r, header, sizeof header, &got);
    if (result < 0)
        return result;
    if (got == 0)
        return block_reader_fail(r, -EINVAL, "is not a Cyclescope %s: it is empty", noun);
    if (memcmp(header, magic, got < 8 ? got : 8) != 0)
        return block_reader_fail(r, -EINVAL, "is not a Cyclescope %s", noun);
    if (result == 0)
        return block_reader_fail(r, -EINVAL, "was cut off in its header: it contains no %s", noun);
    uint32_t version = block_get_u32(header + 8), known = r->kind->version;
    block_put_file_header(want, magic, version);
    if (memcmp(header, want, sizeof header) != 0)
        return block_reader_fail(r, -EINVAL, "is damaged: its header has a wrong checksum");
    if (version > known)
        return block_reader_fail(
            r, -EINVAL, "was written by a newer version of Cyclescope: its format is %u, the latest known is %u",
            version, known);
    if (version < known)
        return block_reader_fail(r, -EINVAL, "has format %u, which is no longer supported", version);
    return 0;
}

int block_reader_open(struct block_reader *r, const struct block_file_kind *kind, FILE *from, const char *name,
                      struct error *err)
{
    r->kind = kind;
    r->from = from;
    r->name = strdup(name);
    r->decompressor = ZSTD_createDCtx();
    if (!r->name || !r->decompressor)
        return error_set(err, -ENOMEM, "out of memory for a %s", kind->noun);
    int code = read_file_header(r);
    if (code != 0)
        *err = r->error;
    return code;
}

void block_reader_close(struct block_reader *r)
{
    ZSTD_freeDCtx(r->decompressor);
    free(r->name);
}

/* The file ends before the block is complete, which is not an error. */
static int cut_off(struct block_reader *r)
{
    r->code = 1;
    return 0;
}

/* Returns 1 if the header is valid; 0 if the file ends; a negative code if the header is damaged. */
static int read_block_header(struct block_reader *r)
{
    size_t got;
    int result = read_bytes(r, r->block, BLOCK_HEADER_BYTES, &got);
    if (result <= 0)
        return result < 0 ? result : cut_off(r);
    if (block_get_u32(r->block + 16) != block_checksum(r->block, 16))
        return fail_block(r, "has a wrong checksum in its header");
    if (block_get_u32(r->block) != BLOCK_MARK)
        return fail_block(r, "does not begin with a block mark");
    uint32_t number = block_get_u32(r->block + 4);
    if (number != r->next)
        return block_reader_fail(r, -EINVAL, "is damaged: block %u is in the place of block %u", number, r->next);
    uint32_t raw_bytes = block_get_u32(r->block + 8), frame_bytes = block_get_u32(r->block + 12);
    if (raw_bytes == 0 || raw_bytes > BLOCK_RAW_MOST || frame_bytes == 0 || frame_bytes > BLOCK_FRAME_MOST)
        return fail_block(r, "has an impossible size");
    return 1;
}

int block_reader_next(struct block_reader *r)
{
    int result = read_block_header(r);
    if (result <= 0)
        return result;
    size_t raw_bytes = block_get_u32(r->block + 8), frame_bytes = block_get_u32(r->block + 12), got;
    uint8_t *frame = r->block + BLOCK_HEADER_BYTES, *tail = frame + frame_bytes;
    result = read_bytes(r, frame, frame_bytes + BLOCK_TAIL_BYTES, &got);
    if (result <= 0)
        return result < 0 ? result : cut_off(r);
    if (block_get_u32(tail) != block_checksum(r->block, (size_t)(tail - r->block)))
        return fail_block(r, "has a wrong checksum");
    if (ZSTD_decompressDCtx(r->decompressor, r->raw, raw_bytes, frame, frame_bytes) != raw_bytes)
        return fail_block(r, "does not decompress to its size");
    r->at = r->raw;
    r->end = r->raw + raw_bytes;
    r->next++;
    return 1;
}

int block_reader_end(struct block_reader *r)
{
    uint8_t byte;
    size_t got = 0;
    int result = read_bytes(r, &byte, 1, &got);
    if (result < 0)
        return result;
    if (got != 0)
        return block_reader_fail(r, -EINVAL, "is damaged: data follows its last block, %u", r->next - 1);
    r->code = 1;
    return 0;
}
