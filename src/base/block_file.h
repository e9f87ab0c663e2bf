/* Files of compressed blocks, of which a killed writer leaves all but the last.
 *
 * All numbers of fixed size are little-endian, all checksums are the CRC-32 of zlib.
 *
 * File:    8 bytes  magic of its kind
 *          u32      version
 *          u32      checksum of the 12 bytes before it
 *          blocks
 *
 * These 16 bytes stay as they are in all versions; everything behind them may change with the version.
 *
 * Block:   u32      BLOCK_MARK
 *          u32      number: 0, 1, … in order
 *          u32      bytes that it holds, 1 to BLOCK_RAW_MOST
 *          u32      bytes of the frame, 1 to BLOCK_FRAME_MOST
 *          u32      checksum of the 16 bytes before it
 *          bytes    one zstd frame
 *          u32      checksum of all of the block before it
 *
 * The checksum of the sizes tells a size that was damaged from a file that was cut off. */
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
    uint32_t version;  /* the one that is written and read */
    const char *noun;  /* what such a file is, as in "the … cannot be written" */
};

/* ---- bytes */

void block_put_u32(uint8_t *to, uint32_t value);
uint32_t block_get_u32(const uint8_t *from);
uint32_t block_checksum(const uint8_t *bytes, size_t length);
void block_put_file_header(uint8_t to[BLOCK_FILE_HEADER_BYTES], const char *magic, uint32_t version);
/* Completes a block whose frame stands behind the room of its header; its length in all. */
size_t block_seal(uint8_t *block, uint32_t number, size_t raw_bytes, size_t frame_bytes);
/* A whole block of BLOCK_MOST bytes or fewer; 0 if zstd fails, which only want of memory makes it do. */
size_t block_pack(ZSTD_CCtx *z, uint8_t *block, uint32_t number, const uint8_t *raw, size_t raw_bytes);

/* ---- writing */

/* The writer fills `raw`. A block is written at once by write(2), never through the stream's buffer, so that a process
 * that forks leaves nothing half-written in its child that the child would write again when it exits. */
struct block_writer {
    const struct block_file_kind *kind;
    FILE *to;
    pid_t owner;        /* its forked children have copies of all this, and write nothing */
    int code;           /* of the first error, 0: none yet */
    struct error error; /* its sentence */
    uint32_t number;    /* of the next block */
    ZSTD_CCtx *compressor;
    size_t raw_bytes; /* in use of `raw` */
    uint8_t raw[BLOCK_RAW_MOST];
    uint8_t block[BLOCK_MOST];
};

/* Writes the header. The writer must be zero; `to` is its own if this succeeds. 0 or -ENOMEM, without a sentence. */
int block_writer_open(struct block_writer *w, const struct block_file_kind *kind, FILE *to) MUST_CHECK;
/* Keeps the first error; nothing is written after it. */
void block_writer_fail(struct block_writer *w, int code, const char *why);
/* What `raw` holds is written, or lost to an error; it is empty then. */
void block_writer_flush(struct block_writer *w);
/* Closes the file. The code of the first error, which is kept. */
int block_writer_finish(struct block_writer *w);

/* ---- reading */

struct block_reader {
    const struct block_file_kind *kind;
    FILE *from;
    char *name;         /* of the file, for messages */
    int code;           /* negative: reading failed; 0: it goes on; 1: nothing is left */
    struct error error; /* what failed */
    uint32_t next;      /* number of the next block */
    ZSTD_DCtx *decompressor;
    const uint8_t *at, *end; /* what is left of `raw` */
    uint8_t raw[BLOCK_RAW_MOST];
    uint8_t block[BLOCK_MOST];
};

/* Reads the header. The reader must be zero, and is to be closed whatever comes of it. */
int block_reader_open(struct block_reader *r, const struct block_file_kind *kind, FILE *from, const char *name,
                      struct error *err) MUST_CHECK;
/* The sentence goes on behind the file's name. */
int block_reader_fail(struct block_reader *r, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* 1: `raw` is the next block's; 0: the file ends here, or was cut off in this block; negative: it is damaged. */
int block_reader_next(struct block_reader *r) MUST_CHECK;
/* The last block was read: nothing may follow. 0 if so. */
int block_reader_end(struct block_reader *r) MUST_CHECK;
void block_reader_close(struct block_reader *r);

#endif
