/* Files of compressed blocks. If the writer is killed, all blocks that it completed can still be read.
 *
 * Numbers of fixed size are little-endian. Checksums are zlib's CRC-32.
 *
 * File:    8 bytes  magic, which identifies the kind of file
 *          u32      version of the format
 *          u32      checksum of the preceding 12 bytes
 *          blocks
 *
 * These 16 bytes are the same in all versions; everything after them may change with the version.
 *
 * Block:   u32      BLOCK_MARK
 *          u32      number: 0, 1, … in order
 *          u32      uncompressed size in bytes, 1 to BLOCK_RAW_MOST
 *          u32      size of the frame in bytes, 1 to BLOCK_FRAME_MOST
 *          u32      checksum of the preceding 16 bytes
 *          bytes    one zstd frame
 *          u32      checksum of the whole block before this field
 *
 * The checksum of the block header distinguishes a damaged size from a file that was cut off. */
#ifndef CYCLESCOPE_BASE_BLOCK_FILE_H
#define CYCLESCOPE_BASE_BLOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <zstd.h>

#include "base/error.h"

enum {
    BLOCK_FILE_HEADER_BYTES = 16,
    BLOCK_MARK = 0x4b434c42, /* "BLCK" */
    BLOCK_HEADER_BYTES = 20,
    BLOCK_TAIL_BYTES = 4,
    BLOCK_RAW_MOST = 65536,
    BLOCK_FRAME_MOST = ZSTD_COMPRESSBOUND(BLOCK_RAW_MOST),
    BLOCK_MOST = BLOCK_HEADER_BYTES + BLOCK_FRAME_MOST + BLOCK_TAIL_BYTES
};

struct block_file_kind {
    const char *magic; /* 8 bytes */
    uint32_t version;  /* the version that is written; no other can be read */
    const char *noun;  /* for messages, as in "the … cannot be written" */
};

/* ---- bytes */

/* Low-level encoding, also for tests that make damaged files. */
void block_put_u32(uint8_t *to, uint32_t value);
uint32_t block_get_u32(const uint8_t *from);
uint32_t block_checksum(const uint8_t *bytes, size_t length);
void block_put_file_header(uint8_t to[BLOCK_FILE_HEADER_BYTES], const char *magic, uint32_t version);
/* Adds header and checksum to a block whose frame begins at block + BLOCK_HEADER_BYTES. Returns the block's length. */
size_t block_seal(uint8_t *block, uint32_t number, size_t raw_bytes, size_t frame_bytes);
/* Compresses `raw` into a complete block of at most BLOCK_MOST bytes. Returns its length; 0 if out of memory. */
size_t block_pack(ZSTD_CCtx *z, uint8_t *block, uint32_t number, const uint8_t *raw, size_t raw_bytes);

/* ---- writing */

/* The user of the writer fills `raw`. A block is written with write(2), not through the buffer of the stream: after a
 * fork, the child has no buffered data that it would write a second time when it exits. */
struct block_writer {
    const struct block_file_kind *kind;
    FILE *to;
    pid_t owner;        /* process that opened the writer; copies in its forked children write nothing */
    int code;           /* code of the first error; 0: none so far */
    struct error error; /* message of the first error */
    uint32_t number;    /* number of the next block */
    ZSTD_CCtx *compressor;
    size_t raw_bytes; /* used bytes of `raw` */
    uint8_t raw[BLOCK_RAW_MOST];
    uint8_t block[BLOCK_MOST];
};

/* Writes the header of the file. The writer must be zero-initialized. On success the writer owns `to`. Returns 0, or
 * -ENOMEM without setting a message. */
int block_writer_open(struct block_writer *w, const struct block_file_kind *kind, FILE *to) MUST_CHECK;
/* Records an error, unless there was one before. Nothing is written after an error. */
void block_writer_fail(struct block_writer *w, int code, const char *why);
/* Writes the contents of `raw` as a block and empties it. After an error the contents are lost. */
void block_writer_flush(struct block_writer *w);
/* Flushes and closes the file. Returns the code of the first error, or 0. w->error stays valid. */
int block_writer_finish(struct block_writer *w);

/* ---- reading */

struct block_reader {
    const struct block_file_kind *kind;
    FILE *from;
    char *name;         /* name of the file, for messages */
    int code;           /* negative: reading failed; 0: more to read; 1: end of the file */
    struct error error; /* message, if `code` is negative */
    uint32_t next;      /* number of the next block */
    ZSTD_DCtx *decompressor;
    const uint8_t *at, *end; /* unread part of `raw` */
    uint8_t raw[BLOCK_RAW_MOST];
    uint8_t block[BLOCK_MOST];
};

/* Reads the header of the file. The reader must be zero-initialized. The caller closes it even if this call fails. */
int block_reader_open(struct block_reader *r, const struct block_file_kind *kind, FILE *from, const char *name,
                      struct error *err) MUST_CHECK;
/* Records an error and returns `code`. The message is the name of the file followed by the formatted text. */
int block_reader_fail(struct block_reader *r, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reads the next block into `raw`. Returns 1; 0 if the file ends, or was cut off inside the block; or a negative code
 * if the file is damaged. */
int block_reader_next(struct block_reader *r) MUST_CHECK;
/* Checks that nothing follows the last block. Returns 0, or a negative code. */
int block_reader_end(struct block_reader *r) MUST_CHECK;
void block_reader_close(struct block_reader *r);

#endif
