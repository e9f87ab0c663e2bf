/* Records in files of blocks (block_file.h). One table describes the records of a kind of file, for writing and
 * reading.
 *
 * Record:  u8       kind
 *          varint   mask: bit i is set if field i of the kind is present
 *          fields   the fields that are present, in the order of the kind's layout
 *
 * A varint is LEB128: seven bits per byte, least significant first, bit 7 set in all bytes but the last, in the
 * shortest form. Signed numbers are zigzag-encoded: 0, -1, 1, -2, … become 0, 1, 2, 3, …. enum record_field_type says
 * how a field is encoded and which value an absent field has.
 *
 * Some fields are encoded as the difference to the previous value of the same field. Previous values are kept in rows:
 * row 0, and one row for each value that a FIELD_ROW field can have. A record uses row 0 up to its FIELD_ROW field, and
 * the row which that field selects after it. All previous values are 0 at the start of a block, and a block contains
 * only whole records, so that each block can be decoded by itself. The last record of the last block has the last kind
 * and no fields; nothing follows it.
 *
 * In memory a record is a struct that begins with its kind, an enum. The reader checks every record before it returns
 * it: the ranges of numbers by the table, their meaning by the format's `check`. */
#ifndef CYCLESCOPE_BASE_BLOCK_RECORDS_H
#define CYCLESCOPE_BASE_BLOCK_RECORDS_H

#include "base/block_file.h"

enum {
    RECORD_STRING_MOST = 16383, /* longest string in bytes, without its zero */
    RECORD_FIELDS_MOST = 34,    /* most fields of a kind of record */
    RECORD_VARINT_MOST = 10     /* longest varint in bytes */
};

enum record_field_type {
    FIELD_U64,         /* the number; absent: 0 */
    FIELD_U32,         /* the number, less than 2^32; absent: 0 */
    FIELD_BOOL,        /* 0 or 1; absent: 0 */
    FIELD_ROW,         /* a number less than 2^32, which selects a row of previous values; absent: 0 */
    FIELD_ROW_OR_NONE, /* like FIELD_ROW, encoded as the number + 1; absent: UINT32_MAX, which stands for none */
    FIELD_I32,         /* zigzag number; absent: 0 */
    FIELD_STRING,      /* length, bytes (none of them zero), a zero byte; absent: the empty string */
    FIELD_STEP64,      /* zigzag difference modulo 2^64 to the previous value; absent: the previous value */
    FIELD_STEP32,      /* like FIELD_STEP64, for values less than 2^32 */
    FIELD_NEAR64       /* like FIELD_STEP64, but absent: 0, and the previous value is kept */
};

struct record_field {
    const char *name; /* for messages */
    enum record_field_type type;
    uint16_t offset; /* offset in the record's struct */
    uint8_t base;    /* index of the previous value in its row, for FIELD_STEP* and FIELD_NEAR64 */
};

struct record_layout {
    const char *name; /* for messages, with an article, as in "a slice" */
    const struct record_field *fields;
    uint8_t count;
};

#define RECORD_LAYOUT(name, f)                                                                                         \
    {                                                                                                                  \
        name, f, sizeof(f) / sizeof((f)[0])                                                                            \
    }

struct record_format {
    struct block_file_kind file;
    const struct record_layout *layouts; /* by kind; the last kind is the end record */
    uint32_t kinds;                      /* number of kinds */
    uint32_t fields;      /* most fields of any kind; a block ends when a record with that many might not fit */
    size_t record_bytes;  /* size of the record struct */
    size_t state_bytes;   /* size of the state that reader and writer keep for the callbacks */
    uint32_t rows;        /* encoded numbers of FIELD_ROW and FIELD_ROW_OR_NONE are less than this */
    uint32_t differences; /* previous values in a row */
    /* Called after decoding: sets the members that are not written because they follow from the order of records. */
    void (*number)(const void *state, void *record);
    /* Returns what is wrong with a record, in words that continue "block 12 has …"; NULL: nothing. Must not look at
     * strings. */
    const char *(*check)(const void *state, const void *record);
    /* Called after each valid record: updates the state. Writer and reader have the same state after the same records.
     */
    void (*advance)(void *state, const void *record);
};

/* The previous values of fields that are encoded as differences. */
struct record_rows {
    uint64_t *last; /* rows of `differences` values each */
    uint32_t used;  /* rows that may contain values other than 0 */
};

static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ -(value & 1);
}

bool record_rows_open(struct record_rows *rows, const struct record_format *f) MUST_CHECK; /* false: out of memory */
/* Sets all previous values to 0, at the start of a block. */
void record_rows_restart(struct record_rows *rows, const struct record_format *f);
/* Returns the row for the encoded number of a FIELD_ROW, which must be less than f->rows. */
uint64_t *record_rows_of(struct record_rows *rows, const struct record_format *f, uint64_t number);

/* ---- writing */

struct record_writer {
    const struct record_format *format;
    void *state;     /* for the format's callbacks */
    uint64_t due_ms; /* monotonic time at which record_writer_tick writes the next block */
    struct record_rows rows;
    struct block_writer blocks;
};

/* Owns `to` if it succeeds. `to` must have a file descriptor; blocks are written to it without buffering, and it need
 * not be seekable. After a fork, only the process that called this function writes. */
struct record_writer *record_writer_new(const struct record_format *f, FILE *to, struct error *err) MUST_CHECK;
/* Adds a record. Errors are reported by record_writer_close; after the first error nothing is written. Strings longer
 * than RECORD_STRING_MOST bytes are cut. A block is written when it is full. */
void record_write(struct record_writer *w, const void *record);
/* Writes the records so far as a block. */
void record_writer_flush(struct record_writer *w);
/* Flushes at the first call, and then at most once a second. */
void record_writer_tick(struct record_writer *w);
/* Writes `end`, a record of the last kind, closes the file and frees the writer. */
int record_writer_close(struct record_writer *w, const void *end, struct error *err) MUST_CHECK;
/* Writes the remaining records without an end record, closes the file and frees the writer. Ignores errors. */
void record_writer_abandon(struct record_writer *w);

/* ---- reading */

/* A reader needs memory for one block, the rows and the state, whatever the file contains. */
struct record_reader {
    const struct record_format *format;
    void *state;   /* for the format's callbacks */
    bool complete; /* the end record was read */
    struct record_rows rows;
    struct block_reader blocks;
};

/* `name` is for messages. The caller keeps `from` open until the reader is freed, and closes it. */
struct record_reader *record_reader_new(const struct record_format *f, FILE *from, const char *name,
                                        struct error *err) MUST_CHECK;
/* Reads the next record. Returns 1; its strings are valid until the next call. Returns 0 at the end, or where the file
 * was cut off. Returns a negative code if the file is damaged, and then again on every later call. */
int record_read(struct record_reader *r, void *record, struct error *err) MUST_CHECK;
void record_reader_free(struct record_reader *r);

#endif
