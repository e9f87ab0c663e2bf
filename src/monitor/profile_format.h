/* How a profile is laid out on disk; shared by its writer and its reader.
 *
 * All numbers of fixed size are little-endian, all checksums are the CRC-32 of zlib.
 *
 * File:    8 bytes  PROFILE_MAGIC
 *          u32      version
 *          u32      checksum of the 12 bytes before it
 *          blocks
 *
 * These 16 bytes stay as they are in all versions; everything behind them may change with the version.
 *
 * Block:   u32      PROFILE_BLOCK_MARK
 *          u32      number: 0, 1, … in order
 *          u32      bytes of records, 1 to PROFILE_RAW_MOST
 *          u32      bytes of the frame, 1 to PROFILE_FRAME_MOST
 *          u32      checksum of the 16 bytes before it
 *          bytes    one zstd frame: the records, whole ones only
 *          u32      checksum of all of the block before it
 *
 * The checksum of the sizes tells a size that was damaged from a file that was cut off.
 *
 * Record:  u8       enum profile_record_kind
 *          varint   mask: bit i is set if the kind's field i follows
 *          fields   in the order of profile_layouts
 *
 * A varint is LEB128: seven bits to a byte, the least first, bit 7 set in all but the last, in as few bytes as
 * possible. Signed numbers are zigzag: 0, -1, 1, -2, … as 0, 1, 2, 3, …. How a field is written, and what it is when it
 * does not follow, is said at enum profile_field_type.
 *
 * Fields that are told by their difference refer to the value that the same field had in the record before: of samples
 * and pairs the last one of the same event, of chains the last chain. All these values are 0 where a block begins, so
 * that a block can be decoded without those before it. Numbers of events and chains are not written, as they are
 * announced in order; PROFILE_END is the last record of the last block, and nothing follows. */
#ifndef CYCLESCOPE_MONITOR_PROFILE_FORMAT_H
#define CYCLESCOPE_MONITOR_PROFILE_FORMAT_H

#include <zstd.h>

#include "monitor/profile_file.h"

#define PROFILE_MAGIC "\211CYCLES\n"

enum {
    PROFILE_VERSION = 1,
    PROFILE_HEADER_BYTES = 16,
    PROFILE_BLOCK_MARK = 0x4b434c42, /* "BLCK" */
    PROFILE_BLOCK_HEADER_BYTES = 20,
    PROFILE_BLOCK_TAIL_BYTES = 4,
    PROFILE_RAW_MOST = 65536,
    PROFILE_FRAME_MOST = ZSTD_COMPRESSBOUND(PROFILE_RAW_MOST),
    PROFILE_BLOCK_MOST = PROFILE_BLOCK_HEADER_BYTES + PROFILE_FRAME_MOST + PROFILE_BLOCK_TAIL_BYTES,
    PROFILE_EVENTS_MOST = 4096,
    PROFILE_STRING_MOST = 16383,   /* bytes of a string, its zero not counted */
    PROFILE_OUTCOME_MOST = 0xffff, /* as many bits as `events` of struct insn_view has */
    PROFILE_FIELDS_MOST = 15,      /* of a kind of record */
    PROFILE_VARINT_MOST = 10,      /* bytes of a varint */
    PROFILE_DIFFERENCES = 6,       /* fields of a kind that are told by their difference, at most */
    PROFILE_OTHER_ROW = 0,         /* of profile_state.last: chains */
    PROFILE_FIRST_EVENT_ROW = 1    /* of profile_state.last: samples and pairs of event 0 */
};

enum profile_field_type {
    FIELD_U64,    /* the number; 0 if it does not follow. So are FIELD_U32, FIELD_BOOL and FIELD_EVENT */
    FIELD_U32,    /* less than 2^32 */
    FIELD_BOOL,   /* 0 or 1 */
    FIELD_EVENT,  /* an event announced before */
    FIELD_I32,    /* zigzag; 0 if it does not follow */
    FIELD_STRING, /* its length, its bytes without a zero among them, a zero; empty if it does not follow */
    FIELD_STEP64, /* zigzag difference modulo 2^64 to the value before, which it is if it does not follow */
    FIELD_STEP32, /* the same, and less than 2^32 */
    FIELD_NEAR64  /* as FIELD_STEP64, but 0 if it does not follow, and then the value before stays what it was */
};

struct profile_field {
    const char *name; /* for messages */
    enum profile_field_type type;
    uint16_t offset; /* in struct profile_record */
    uint8_t base;    /* where the value before is kept in its row of profile_state.last */
};

struct profile_layout {
    const char *name; /* for messages, with its article */
    const struct profile_field *fields;
    uint8_t count;
};

extern const struct profile_layout profile_layouts[PROFILE_RECORD_KINDS];

/* What records refer to: the same on both sides after the same records. */
struct profile_state {
    uint32_t events, chains; /* announced so far */
    bool pairable;           /* the last sample has no second yet */
    uint64_t last[PROFILE_FIRST_EVENT_ROW + PROFILE_EVENTS_MOST][PROFILE_DIFFERENCES]; /* values before */
};

/* What is wrong with a record, as it goes on behind "block 12 has …"; NULL: nothing. Strings are not looked at. */
const char *profile_check(const struct profile_state *s, const struct profile_record *r);
/* After a record that is right. */
void profile_state_advance(struct profile_state *s, const struct profile_record *r);
/* A block begins. */
void profile_state_restart(struct profile_state *s);

void profile_put_u32(uint8_t *to, uint32_t value);
uint32_t profile_get_u32(const uint8_t *from);
uint32_t profile_checksum(const uint8_t *bytes, size_t length);
void profile_put_header(uint8_t to[PROFILE_HEADER_BYTES], uint32_t version);
/* Completes a block whose frame stands behind the room of its header; its length in all. */
size_t profile_seal_block(uint8_t *block, uint32_t number, size_t raw_bytes, size_t frame_bytes);
/* A whole block of PROFILE_BLOCK_MOST bytes or fewer; 0 if zstd fails, which only want of memory makes it do. */
size_t profile_pack_block(ZSTD_CCtx *z, uint8_t *block, uint32_t number, const uint8_t *raw, size_t raw_bytes);

static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ -(value & 1);
}

#endif
