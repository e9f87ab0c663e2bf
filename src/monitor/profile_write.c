/* Writing a profile. Records are encoded into a buffer of one block; a full one is compressed and written at once by
 * write(2), never through the stream's buffer, so that a process that forks while it records leaves nothing
 * half-written in its child that the child would write again when it exits. */
#include "monitor/profile_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kind, mask and all fields, their strings' bytes not counted. */
enum { RECORD_MOST = 1 + (1 + PROFILE_FIELDS_MOST) * PROFILE_VARINT_MOST };

struct profile_writer {
    FILE *to;
    pid_t owner;        /* its forked children have copies of all this, and write nothing */
    int code;           /* of the first error, 0: none yet */
    struct error error; /* its sentence */
    uint32_t number;    /* of the next block */
    ZSTD_CCtx *compressor;
    struct profile_state state;
    size_t raw_bytes; /* in use of `raw` */
    uint8_t raw[PROFILE_RAW_MOST];
    uint8_t block[PROFILE_BLOCK_MOST];
};

/* ---- blocks */

static void keep_error(struct profile_writer *w, int code, const char *why)
{
    if (w->code == 0)
        w->code = error_set(&w->error, code, "the profile cannot be written: %s", why);
}

static void write_bytes(struct profile_writer *w, const uint8_t *bytes, size_t length)
{
    int fd = fileno(w->to);
    while (length > 0 && w->code == 0) {
        ssize_t done = write(fd, bytes, length);
        if (done > 0) {
            bytes += done;
            length -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            int code = done == 0 ? EIO : errno;
            keep_error(w, -code, strerror(code));
        }
    }
}

static void write_block(struct profile_writer *w)
{
    if (w->raw_bytes > 0 && w->code == 0 && getpid() == w->owner) {
        size_t length = profile_pack_block(w->compressor, w->block, w->number, w->raw, w->raw_bytes);
        if (length == 0)
            keep_error(w, -ENOMEM, strerror(ENOMEM));
        else if (w->number == UINT32_MAX)
            keep_error(w, -EFBIG, strerror(EFBIG));
        write_bytes(w, w->block, length);
        w->number++;
    }
    w->raw_bytes = 0;
    profile_state_restart(&w->state);
}

/* ---- records */

static uint8_t *put_varint(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

/* What is written of a string: all of it or, of one that is too long, as many whole characters of UTF-8 as fit. */
static size_t string_bytes(const char *s)
{
    size_t length = s ? strnlen(s, PROFILE_STRING_MOST + 1) : 0;
    if (length <= PROFILE_STRING_MOST)
        return length;
    length = PROFILE_STRING_MOST;
    while (length > 0 && (s[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static const char *string_field(const struct profile_record *r, const struct profile_field *f)
{
    const char *s;
    memcpy(&s, (const char *)r + f->offset, sizeof s);
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

/* The number of a field as it is written, the length if it is a string. 0: it need not follow, except that an address
 * or a cause may be the same again (FIELD_NEAR64). */
static uint64_t field_number(struct profile_writer *w, const struct profile_record *r, const struct profile_field *f,
                             uint64_t **row, bool *follows)
{
    const char *from = (const char *)r + f->offset;
    uint64_t value;
    switch (f->type) {
    case FIELD_U64: value = load_u64(from); break;
    case FIELD_U32: value = load_u32(from); break;
    case FIELD_BOOL: value = *(const bool *)from; break;
    case FIELD_EVENT:
        value = load_u32(from);
        *row = w->state.last[PROFILE_FIRST_EVENT_ROW + value];
        break;
    case FIELD_I32: value = zigzag((uint64_t)(int32_t)load_u32(from)); break;
    case FIELD_STRING: value = string_bytes(string_field(r, f)); break;
    case FIELD_STEP64: value = difference(&(*row)[f->base], load_u64(from)); break;
    case FIELD_STEP32: value = difference(&(*row)[f->base], load_u32(from)); break;
    case FIELD_NEAR64:
        value = load_u64(from);
        *follows = value != 0;
        return *follows ? difference(&(*row)[f->base], value) : 0;
    default: value = 0; break;
    }
    *follows = value != 0;
    return value;
}

static size_t room_for(const struct profile_record *r, const struct profile_layout *layout)
{
    size_t room = RECORD_MOST;
    for (unsigned i = 0; i < layout->count; i++)
        if (layout->fields[i].type == FIELD_STRING)
            room += string_bytes(string_field(r, &layout->fields[i])) + 1;
    return room;
}

/* There is room for it, and it is right. */
static void encode(struct profile_writer *w, const struct profile_record *r, const struct profile_layout *layout)
{
    uint64_t number[PROFILE_FIELDS_MOST], *row = w->state.last[PROFILE_OTHER_ROW];
    unsigned mask = 0;
    for (unsigned i = 0; i < layout->count; i++) {
        bool follows;
        number[i] = field_number(w, r, &layout->fields[i], &row, &follows);
        mask |= (unsigned)follows << i;
    }
    uint8_t *to = w->raw + w->raw_bytes;
    *to++ = (uint8_t)r->kind;
    to = put_varint(to, mask);
    for (; mask != 0; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
        to = put_varint(to, number[i]);
        if (layout->fields[i].type == FIELD_STRING) {
            memcpy(to, string_field(r, &layout->fields[i]), number[i]);
            to += number[i];
            *to++ = 0;
        }
    }
    w->raw_bytes = (size_t)(to - w->raw);
}

static void put_record(struct profile_writer *w, const struct profile_record *r)
{
    const char *mistake = profile_check(&w->state, r);
    if (mistake) {
        keep_error(w, -EINVAL, mistake);
        return;
    }
    const struct profile_layout *layout = &profile_layouts[r->kind];
    if (room_for(r, layout) > PROFILE_RAW_MOST - w->raw_bytes)
        write_block(w);
    encode(w, r, layout);
    profile_state_advance(&w->state, r);
}

/* ---- the interface */

struct profile_writer *profile_writer_new(FILE *to, struct error *err)
{
    uint8_t header[PROFILE_HEADER_BYTES];
    struct profile_writer *w = calloc(1, sizeof *w);
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    if (!w || !compressor) {
        error_set(err, -ENOMEM, "out of memory for a profile");
        ZSTD_freeCCtx(compressor);
        free(w);
        return NULL;
    }
    w->to = to;
    w->owner = getpid();
    w->compressor = compressor;
    profile_put_header(header, PROFILE_VERSION);
    write_bytes(w, header, sizeof header);
    return w;
}

void profile_write(struct profile_writer *w, const struct profile_record *r)
{
    if (w->code != 0)
        return;
    if (r->kind == PROFILE_END)
        keep_error(w, -EINVAL, "an end before the end");
    else
        put_record(w, r);
}

void profile_writer_flush(struct profile_writer *w)
{
    write_block(w);
}

/* The code of the first error, which is kept. */
static int finish(struct profile_writer *w)
{
    write_block(w);
    if (fclose(w->to) != 0)
        keep_error(w, -errno, strerror(errno));
    ZSTD_freeCCtx(w->compressor);
    return w->code;
}

int profile_writer_close(struct profile_writer *w, struct error *err)
{
    put_record(w, &(struct profile_record){.kind = PROFILE_END});
    int code = finish(w);
    if (code != 0)
        *err = w->error;
    free(w);
    return code;
}

void profile_writer_abandon(struct profile_writer *w)
{
    finish(w);
    free(w);
}
