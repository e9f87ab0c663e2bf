#include "base/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRING_MOST = 1 << 20, /* longest string of field_string, with its zero */
    /* Bytes allocated at first for a block that is read. The buffer grows as data arrives, so that a wrong length in a
     * damaged file does not allocate memory for data that is not there. */
    FIRST_PIECE = 64 << 10,
};

bool fields_good(const struct fields *f)
{
    return f->to ? f->to->code == 0 : f->from->code == 0;
}

int fields_result(const struct fields *f, struct error *err)
{
    if (fields_good(f))
        return 0;
    *err = f->to ? f->to->error : f->from->error;
    return f->to ? f->to->code : f->from->code < 0 ? f->from->code : -EINVAL;
}

bool fields_check(struct fields *f, bool possible, const char *what)
{
    if (!possible && f->from && f->from->code == 0)
        block_reader_fail(f->from, -EINVAL, "is damaged: %s", what);
    return possible && fields_good(f);
}

static void write_bytes(struct block_writer *w, const uint8_t *bytes, size_t length)
{
    while (length > 0 && w->code == 0) {
        size_t room = sizeof w->raw - w->raw_bytes, part = length < room ? length : room;
        memcpy(w->raw + w->raw_bytes, bytes, part);
        w->raw_bytes += part;
        bytes += part;
        length -= part;
        if (w->raw_bytes == sizeof w->raw)
            block_writer_flush(w);
    }
}

static void read_bytes(struct block_reader *r, uint8_t *bytes, size_t length)
{
    while (length > 0 && r->code == 0) {
        if (r->at == r->end && block_reader_next(r) == 0)
            block_reader_fail(r, -EINVAL, "was cut off in block %u", r->next);
        if (r->code != 0)
            break;
        size_t left = (size_t)(r->end - r->at), part = length < left ? length : left;
        memcpy(bytes, r->at, part);
        r->at += part;
        bytes += part;
        length -= part;
    }
    memset(bytes, 0, length);
}

void field_bytes(struct fields *f, void *bytes, size_t length)
{
    if (length == 0)
        return;
    if (f->to)
        write_bytes(f->to, bytes, length);
    else
        read_bytes(f->from, bytes, length);
}

/* A little-endian number of `size` bytes. */
static void field_number(struct fields *f, uint64_t *value, unsigned size)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(*value >> 8 * i);
    field_bytes(f, bytes, size);
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)bytes[i] << 8 * i;
}

void field_u64(struct fields *f, uint64_t *value)
{
    field_number(f, value, 8);
}

void field_i64(struct fields *f, int64_t *value)
{
    uint64_t bits = (uint64_t)*value;
    field_number(f, &bits, 8);
    *value = (int64_t)bits;
}

void field_u32(struct fields *f, uint32_t *value)
{
    uint64_t wide = *value;
    field_number(f, &wide, 4);
    *value = (uint32_t)wide;
}

void field_int(struct fields *f, int *value)
{
    uint64_t wide = (uint32_t)*value;
    field_number(f, &wide, 4);
    *value = (int32_t)(uint32_t)wide;
}

void field_bool(struct fields *f, bool *value)
{
    uint64_t wide = *value;
    field_number(f, &wide, 1);
    *value = fields_check(f, wide <= 1, "a flag is neither 0 nor 1") && wide;
}

void field_text(struct fields *f, char *text, size_t size)
{
    uint32_t length = f->to ? (uint32_t)strlen(text) : 0;
    field_u32(f, &length);
    if (!fields_check(f, length < size, "a string is longer than allowed"))
        length = 0;
    field_bytes(f, text, length);
    text[length] = 0;
    fields_check(f, strlen(text) == length, "a string contains a zero byte");
}

void field_block(struct fields *f, void **bytes, uint64_t *length, uint64_t most)
{
    field_u64(f, length);
    if (f->to) {
        field_bytes(f, *bytes, *length);
        return;
    }
    *bytes = NULL;
    uint64_t want = fields_check(f, *length <= most, "a part is larger than allowed") ? *length : 0, got = 0;
    while (got < want && fields_good(f)) {
        uint64_t room = got == 0 ? FIRST_PIECE : 2 * got;
        room = room < want ? room : want;
        uint8_t *grown = realloc(*bytes, room);
        if (!grown) {
            block_reader_fail(f->from, -ENOMEM, "cannot be read: out of memory");
            break;
        }
        *bytes = grown;
        field_bytes(f, grown + got, room - got);
        got = room;
    }
    *length = got;
}

void field_string(struct fields *f, char **text)
{
    bool given = f->to && *text;
    void *bytes = given ? *text : NULL;
    uint64_t length = given ? strlen(*text) + 1 : 0;
    field_bool(f, &given);
    if (given)
        field_block(f, &bytes, &length, STRING_MOST);
    if (f->to)
        return;
    *text = bytes;
    if (given && !fields_check(f, length > 0 && strnlen(bytes, length) == length - 1, "a string has no end")) {
        free(bytes);
        *text = NULL;
    }
}
