/* Records in files of blocks, described by tables: what a kind of file holds is said once, for writing and reading.
 *
 * Record:  u8       kind
 *          varint   mask: bit i is set if the kind's field i follows
 *          fields   in the order of the kind's layout
 *
 * A varint is LEB128: seven bits to a byte, the least first, bit 7 set in all but the last, in as few bytes as
 * possible. Signed numbers are zigzag: 0, -1, 1, -2, … as 0, 1, 2, 3, …. How a field is written, and what it is when it
 * does not follow, is said at enum record_field_type.
 *
 * A block holds whole records only. Fields that are told by their difference refer to the value that the same field had
 * before. Values before are kept in rows: row 0, and one for each number that a field of type FIELD_ROW can have; a
 * record uses row 0 up to such a field, then the row that it names. All of them are 0 where a block begins, so that a
 * block can be decoded without those before it. The last record of the last block is of the last kind, has no fields,
 * and nothing follows it.
 *
 * A record is a struct that begins with its kind, an enum. What is read is checked before anyone sees it: numbers by
 * the table, what they mean by the format's `check`. */
#ifndef CYCLESCOPE_MONITOR_BLOCK_RECORDS_H
#define CYCLESCOPE_MONITOR_BLOCK_RECORDS_H

#include "base/block_file.h"

enum {
    RECORD_STRING_MOST = 16383, /* bytes of a string, its zero not counted */
    RECORD_FIELDS_MOST = 34,    /* of a kind of record */
    RECORD_VARINT_MOST = 10     /* bytes of a varint */
};

enum record_field_type {
    FIELD_U64,         /* the number; 0 if it does not follow. So are FIELD_U32, FIELD_BOOL and FIELD_ROW */
    FIELD_U32,         /* less than 2^32 */
    FIELD_BOOL,        /* 0 or 1 */
    FIELD_ROW,         /* less than 2^32; the values before are those of this row */
    FIELD_ROW_OR_NONE, /* the same, written as 1 more; UINT32_MAX, which stands for none, as 0 */
    FIELD_I32,         /* zigzag; 0 if it does not follow */
    FIELD_STRING,      /* its length, its bytes without a zero among them, a zero; empty if it does not follow */
    FIELD_STEP64,      /* zigzag difference modulo 2^64 to the value before, which it is if it does not follow */
    FIELD_STEP32,      /* the same, and less than 2^32 */
    FIELD_NEAR64       /* as FIELD_STEP64, but 0 if it does not follow, and then the value before stays what it was */
};

struct record_field {
    const char *name; /* for messages */
    enum record_field_type type;
    uint16_t offset; /* in the record */
    uint8_t base;    /* where the value before is kept in its row */
};

struct record_layout {
    const char *name; /* for messages, with its article */
    const struct record_field *fields;
    uint8_t count;
};

#define RECORD_LAYOUT(name, f)                                                                                         \
    {                                                                                                                  \
        name, f, sizeof(f) / sizeof((f)[0])                                                                            \
    }

struct record_format {
    struct block_file_kind file;
    const struct record_layout *layouts; /* by kind; the last one is the end */
    uint32_t kinds;
    uint32_t fields; /* of the kind that has most of them; blocks end where a record of so many might not fit */
    size_t record_bytes, state_bytes;
    uint32_t rows;        /* numbers of FIELD_ROW and FIELD_ROW_OR_NONE as they are written are less */
    uint32_t differences; /* bases of a row */
    /* Sets what is not written, since records are numbered in order. */
    void (*number)(const void *state, void *record);
    /* What is wrong with a record, as it goes on behind "block 12 has …"; NULL: nothing. Strings are not looked at. */
    const char *(*check)(const void *state, const void *record);
    /* After a record that is right. The state is the same on both sides after the same records. */
    void (*advance)(void *state, const void *record);
};

/* The values before. */
struct record_rows {
    uint64_t *last; /* rows of `differences` values */
    uint32_t used;  /* rows that may differ from 0 */
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
/* A block begins. */
void record_rows_restart(struct record_rows *rows, const struct record_format *f);
/* That of a number of FIELD_ROW as it is written, which is less than `rows` of the format. */
uint64_t *record_rows_of(struct record_rows *rows, const struct record_format *f, uint64_t number);

/* ---- writing */

struct record_writer {
    const struct record_format *format;
    void *state;     /* what records refer to */
    uint64_t due_ms; /* when record_writer_tick is to write a block */
    struct record_rows rows;
    struct block_writer blocks;
};

/* Takes over `to` if it succeeds. It must have a descriptor, to which everything goes at once, and be seekable no more
 * than a pipe is. Of a process that forks, only the one that called this writes. */
struct record_writer *record_writer_new(const struct record_format *f, FILE *to, struct error *err) MUST_CHECK;
/* Never fails by itself: the first error is kept and told at the end, and nothing is written after it. Of strings that
 * are longer than RECORD_STRING_MOST bytes the rest is left out. */
void record_write(struct record_writer *w, const void *record);
/* Blocks are written when they are full, and here. */
void record_writer_flush(struct record_writer *w);
/* And here, at the first call and then once a second. */
void record_writer_tick(struct record_writer *w);
/* Writes the end, a record of the last kind, and closes the file. */
int record_writer_close(struct record_writer *w, const void *end, struct error *err) MUST_CHECK;
/* Without the end, but with all records. */
void record_writer_abandon(struct record_writer *w);

/* ---- reading */

/* Memory is that of one block, of the rows and of the state, whatever the file says. */
struct record_reader {
    const struct record_format *format;
    void *state;   /* what records refer to */
    bool complete; /* the end was read */
    struct record_rows rows;
    struct block_reader blocks;
};

/* `name` is for messages. `from` stays the caller's, and open until the reader is freed. */
struct record_reader *record_reader_new(const struct record_format *f, FILE *from, const char *name,
                                        struct error *err) MUST_CHECK;
/* 1: there is a record, whose strings live until the next call. 0: the end, or where a file that was cut off ends.
 * Negative: the file is damaged, and where. It stays so. */
int record_read(struct record_reader *r, void *record, struct error *err) MUST_CHECK;
void record_reader_free(struct record_reader *r);

#endif
