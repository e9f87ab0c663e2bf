/* Reading records. All input is checked: the file may be damaged or hostile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/block_records.h"

/* ---- errors in the current block */

static int fail_record(struct record_reader *r, const char *has)
{
    return block_reader_fail(&r->blocks, -EINVAL, "is damaged: block %u has %s", r->blocks.next - 1, has);
}

static int fail_field(struct record_reader *r, const struct record_layout *layout, const char *field)
{
    char has[80];
    snprintf(has, sizeof has, "%s with a bad %s", layout->name, field);
    return fail_record(r, has);
}

/* ---- fields */

static bool get_varint(struct block_reader *b, uint64_t *value)
{
    const uint8_t *at = b->at, *end = b->end;
    uint64_t sum = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        uint64_t byte = *at++, bits = byte & 0x7f;
        if (bits << shift >> shift != bits || (byte == 0 && shift != 0))
            return false; /* does not fit in 64 bits, or is not the shortest form */
        sum |= bits << shift;
        if (byte < 0x80) {
            *value = sum;
            b->at = at;
            return true;
        }
    }
    return false;
}

/* Stores a pointer to a string of `length` bytes. The string stays in the block, where a zero byte ends it. */
static bool get_string(struct block_reader *b, uint64_t length, char *to)
{
    const char *s = (const char *)b->at;
    if (length > RECORD_STRING_MOST || length >= (size_t)(b->end - b->at))
        return false;
    if (strnlen(s, length + 1) != length)
        return false;
    b->at += length + 1;
    memcpy(to, &s, sizeof s);
    return true;
}

static bool store_u32(char *to, uint64_t value)
{
    uint32_t small = (uint32_t)value;
    memcpy(to, &small, sizeof small);
    return small == value;
}

static bool store_u64(char *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
    return true;
}

static bool store_i32(char *to, uint64_t value)
{
    int32_t small = (int32_t)value;
    memcpy(to, &small, sizeof small);
    return (uint64_t)small == value;
}

static bool store_row(struct record_reader *r, const struct record_field *f, uint64_t number, uint64_t **row, char *to)
{
    if (number < r->format->rows) /* otherwise the format's check rejects the record */
        *row = record_rows_of(&r->rows, r->format, number);
    if (f->type == FIELD_ROW)
        return store_u32(to, number);
    return number <= UINT32_MAX && store_u32(to, (uint32_t)(number - 1));
}

/* Decodes a field that is present: `number` is its varint. Returns false if the number is out of range. */
static bool take_field(struct record_reader *r, const struct record_field *f, uint64_t number, uint64_t **row, char *to)
{
    switch (f->type) {
    case FIELD_U64: return store_u64(to, number);
    case FIELD_U32: return store_u32(to, number);
    case FIELD_BOOL: *(bool *)to = number != 0; return number <= 1;
    case FIELD_ROW:
    case FIELD_ROW_OR_NONE: return store_row(r, f, number, row, to);
    case FIELD_I32: return store_i32(to, unzigzag(number));
    case FIELD_STRING: return get_string(&r->blocks, number, to);
    case FIELD_STEP64:
    case FIELD_NEAR64: return store_u64(to, (*row)[f->base] += unzigzag(number));
    case FIELD_STEP32: return store_u32(to, (*row)[f->base] += unzigzag(number));
    default: return false;
    }
}

/* Gives a field that is absent its value. */
static bool take_absent(struct record_reader *r, const struct record_field *f, uint64_t **row, char *to)
{
    static const char empty[] = "";
    const char *s = empty;
    switch (f->type) {
    case FIELD_STRING: memcpy(to, &s, sizeof s); return true;
    case FIELD_ROW:
    case FIELD_ROW_OR_NONE:
    case FIELD_STEP64:
    case FIELD_STEP32: return take_field(r, f, 0, row, to);
    default: return true; /* 0: the record was cleared */
    }
}

/* ---- records */

static int read_fields(struct record_reader *r, const struct record_layout *layout, char *record)
{
    uint64_t mask, number, *row = r->rows.last;
    if (!get_varint(&r->blocks, &mask) || mask >> layout->count != 0)
        return fail_field(r, layout, "set of fields");
    for (unsigned i = 0; i < layout->count; i++) {
        const struct record_field *f = &layout->fields[i];
        char *at = record + f->offset;
        bool present = mask >> i & 1;
        if (present && !get_varint(&r->blocks, &number))
            return fail_field(r, layout, f->name);
        if (!(present ? take_field(r, f, number, &row, at) : take_absent(r, f, &row, at)))
            return fail_field(r, layout, f->name);
    }
    return 0;
}

/* Returns the kind of the record, or a negative code. */
static int read_record(struct record_reader *r, void *record)
{
    const struct record_format *f = r->format;
    uint32_t kind = *r->blocks.at++;
    if (kind >= f->kinds)
        return fail_record(r, "a record of unknown kind");
    memset(record, 0, f->record_bytes);
    memcpy(record, &kind, sizeof kind);
    int result = read_fields(r, &f->layouts[kind], record);
    if (result != 0)
        return result;
    f->number(r->state, record);
    const char *mistake = f->check(r->state, record);
    if (mistake)
        return fail_record(r, mistake);
    f->advance(r->state, record);
    return (int)kind;
}

static int read_end(struct record_reader *r)
{
    if (r->blocks.at != r->blocks.end)
        return fail_record(r, "records after the end record");
    int result = block_reader_end(&r->blocks);
    r->complete = result == 0;
    return result;
}

/* ---- the interface */

struct record_reader *record_reader_new(const struct record_format *f, FILE *from, const char *name, struct error *err)
{
    struct record_reader *r = calloc(1, sizeof *r);
    if (r) {
        r->format = f;
        r->state = calloc(1, f->state_bytes);
    }
    if (!r || !r->state || !record_rows_open(&r->rows, f))
        error_set(err, -ENOMEM, "out of memory for a %s", f->file.noun);
    else if (block_reader_open(&r->blocks, &f->file, from, name, err) == 0)
        return r;
    record_reader_free(r);
    return NULL;
}

static int next_record(struct record_reader *r, void *record)
{
    if (r->blocks.code != 0)
        return r->blocks.code > 0 ? 0 : r->blocks.code;
    if (r->blocks.at == r->blocks.end) {
        int result = block_reader_next(&r->blocks);
        if (result <= 0)
            return result;
        record_rows_restart(&r->rows, r->format);
    }
    int kind = read_record(r, record);
    if (kind < 0)
        return kind;
    return (uint32_t)kind == r->format->kinds - 1 ? read_end(r) : 1;
}

int record_read(struct record_reader *r, void *record, struct error *err)
{
    int result = next_record(r, record);
    if (result < 0)
        *err = r->blocks.error;
    return result;
}

void record_reader_free(struct record_reader *r)
{
    if (!r)
        return;
    block_reader_close(&r->blocks);
    free(r->rows.last);
    free(r->state);
    free(r);
}
