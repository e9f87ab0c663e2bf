/* Writing records. Records are encoded into a block, which is written when it is full. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/block_records.h"

enum { BLOCK_EVERY_MS = 1000 };

/* ---- previous values */

bool record_rows_open(struct record_rows *rows, const struct record_format *f)
{
    rows->last = calloc((size_t)(1 + f->rows) * f->differences, sizeof *rows->last);
    rows->used = 1;
    return rows->last != NULL;
}

void record_rows_restart(struct record_rows *rows, const struct record_format *f)
{
    memset(rows->last, 0, (size_t)rows->used * f->differences * sizeof *rows->last);
    rows->used = 1;
}

uint64_t *record_rows_of(struct record_rows *rows, const struct record_format *f, uint64_t number)
{
    uint32_t row = 1 + (uint32_t)number;
    if (rows->used <= row)
        rows->used = row + 1;
    return rows->last + (size_t)row * f->differences;
}

/* ---- fields */

static uint8_t *put_varint(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

/* Returns how many bytes of a string are written: all, or for a string that is too long, as many whole UTF-8 characters
 * as fit. */
static size_t string_bytes(const char *s)
{
    size_t length = s ? strnlen(s, RECORD_STRING_MOST + 1) : 0;
    if (length <= RECORD_STRING_MOST)
        return length;
    length = RECORD_STRING_MOST;
    while (length > 0 && (s[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static const char *string_field(const char *record, const struct record_field *f)
{
    const char *s;
    memcpy(&s, record + f->offset, sizeof s);
    return s;
}

static uint64_t difference(uint64_t *last, uint64_t value)
{
    uint64_t d = value - *last;
    *last = value;
    return zigzag(d);
}

static uint64_t load_u32(const char *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint64_t load_u64(const char *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* Returns the varint of a field; for a string, its length. Sets `present`: a field with varint 0 is left out, except
 * FIELD_NEAR64, where 0 is the difference of an unchanged value. */
static uint64_t field_number(struct record_writer *w, const char *record, const struct record_field *f, uint64_t **row,
                             bool *present)
{
    const char *from = record + f->offset;
    uint64_t value;
    switch (f->type) {
    case FIELD_U64: value = load_u64(from); break;
    case FIELD_U32: value = load_u32(from); break;
    case FIELD_BOOL: value = *(const bool *)from; break;
    case FIELD_ROW:
    case FIELD_ROW_OR_NONE:
        value = load_u32(from);
        if (f->type == FIELD_ROW_OR_NONE)
            value = (uint32_t)(value + 1);
        *row = record_rows_of(&w->rows, w->format, value);
        break;
    case FIELD_I32: value = zigzag((uint64_t)(int32_t)load_u32(from)); break;
    case FIELD_STRING: value = string_bytes(string_field(record, f)); break;
    case FIELD_STEP64: value = difference(&(*row)[f->base], load_u64(from)); break;
    case FIELD_STEP32: value = difference(&(*row)[f->base], load_u32(from)); break;
    case FIELD_NEAR64:
        value = load_u64(from);
        *present = value != 0;
        return *present ? difference(&(*row)[f->base], value) : 0;
    default: value = 0; break;
    }
    *present = value != 0;
    return value;
}

/* ---- records */

static uint32_t kind_of(const void *record)
{
    return (uint32_t)load_u32(record);
}

/* Returns an upper bound for the encoded size: kind, mask, as many varints as any kind has fields, and strings. */
static size_t room_for(const struct record_format *f, const char *record, const struct record_layout *layout)
{
    size_t room = 1 + (size_t)(1 + f->fields) * RECORD_VARINT_MOST;
    for (unsigned i = 0; i < layout->count; i++)
        if (layout->fields[i].type == FIELD_STRING)
            room += string_bytes(string_field(record, &layout->fields[i])) + 1;
    return room;
}

/* Encodes a valid record, for which the block has room. */
static void encode(struct record_writer *w, const char *record, const struct record_layout *layout)
{
    uint64_t number[RECORD_FIELDS_MOST], *row = w->rows.last, mask = 0;
    for (unsigned i = 0; i < layout->count; i++) {
        bool present;
        number[i] = field_number(w, record, &layout->fields[i], &row, &present);
        mask |= (uint64_t)present << i;
    }
    uint8_t *to = w->blocks.raw + w->blocks.raw_bytes;
    *to++ = (uint8_t)kind_of(record);
    to = put_varint(to, mask);
    for (; mask != 0; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctzll(mask);
        to = put_varint(to, number[i]);
        if (layout->fields[i].type == FIELD_STRING) {
            memcpy(to, string_field(record, &layout->fields[i]), number[i]);
            to += number[i];
            *to++ = 0;
        }
    }
    w->blocks.raw_bytes = (size_t)(to - w->blocks.raw);
}

static void put_record(struct record_writer *w, const void *record)
{
    const char *mistake = w->format->check(w->state, record);
    if (mistake) {
        block_writer_fail(&w->blocks, -EINVAL, mistake);
        return;
    }
    const struct record_layout *layout = &w->format->layouts[kind_of(record)];
    if (room_for(w->format, record, layout) > BLOCK_RAW_MOST - w->blocks.raw_bytes)
        record_writer_flush(w);
    encode(w, record, layout);
    w->format->advance(w->state, record);
}

/* ---- the interface */

static void writer_free(struct record_writer *w)
{
    if (!w)
        return;
    free(w->rows.last);
    free(w->state);
    free(w);
}

struct record_writer *record_writer_new(const struct record_format *f, FILE *to, struct error *err)
{
    struct record_writer *w = calloc(1, sizeof *w);
    if (w) {
        w->format = f;
        w->state = calloc(1, f->state_bytes);
    }
    if (!w || !w->state || !record_rows_open(&w->rows, f) || block_writer_open(&w->blocks, &f->file, to) != 0) {
        error_set(err, -ENOMEM, "out of memory for a %s", f->file.noun);
        writer_free(w);
        return NULL;
    }
    return w;
}

void record_write(struct record_writer *w, const void *record)
{
    if (w->blocks.code != 0)
        return;
    if (kind_of(record) == w->format->kinds - 1)
        block_writer_fail(&w->blocks, -EINVAL, "an end record before the end");
    else
        put_record(w, record);
}

void record_writer_flush(struct record_writer *w)
{
    block_writer_flush(&w->blocks);
    record_rows_restart(&w->rows, w->format);
}

void record_writer_tick(struct record_writer *w)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    if (now < w->due_ms)
        return;
    record_writer_flush(w);
    w->due_ms = now + BLOCK_EVERY_MS;
}

int record_writer_close(struct record_writer *w, const void *end, struct error *err)
{
    if (w->blocks.code == 0)
        put_record(w, end);
    int code = block_writer_finish(&w->blocks);
    if (code != 0)
        *err = w->blocks.error;
    writer_free(w);
    return code;
}

void record_writer_abandon(struct record_writer *w)
{
    block_writer_finish(&w->blocks);
    writer_free(w);
}
