/* Reading a profile, of which nothing is believed. Memory is that of one block and of the values of the events that a
 * profile may have at most, whatever the file says. */
#include "monitor/profile_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct profile_reader {
    FILE *from;
    char *name;         /* of the file, for messages */
    int code;           /* negative: reading failed; 0: it goes on; 1: nothing is left */
    struct error error; /* what failed */
    bool complete;      /* the end was read */
    uint32_t next;      /* number of the next block */
    ZSTD_DCtx *decompressor;
    struct profile_state state;
    const uint8_t *at, *end; /* what is left of `raw` */
    uint8_t raw[PROFILE_RAW_MOST];
    uint8_t block[PROFILE_BLOCK_MOST];
};

enum { NAME_MOST = 360 }; /* so much of the file's name is said: the rest of the sentence must fit, too */

/* ---- failing */

/* The sentence goes on behind the file's name. */
__attribute__((format(printf, 3, 4))) static int fail(struct profile_reader *r, int code, const char *format, ...)
{
    char what[sizeof r->error.text - NAME_MOST];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    r->code = error_set(&r->error, code, "%.*s %s", NAME_MOST, r->name, what);
    return r->code;
}

static int fail_block(struct profile_reader *r, const char *what)
{
    return fail(r, -EINVAL, "is damaged: block %u %s", r->next, what);
}

/* Of the block whose records are being read. */
static int fail_record(struct profile_reader *r, const char *has)
{
    return fail(r, -EINVAL, "is damaged: block %u has %s", r->next - 1, has);
}

static int fail_field(struct profile_reader *r, const struct profile_layout *layout, const char *field)
{
    char has[80];
    snprintf(has, sizeof has, "%s with a bad %s", layout->name, field);
    return fail_record(r, has);
}

/* ---- blocks */

/* 1: all bytes are there; 0: the file ends before, `*got` bytes are. */
static int read_bytes(struct profile_reader *r, uint8_t *to, size_t length, size_t *got)
{
    errno = 0;
    *got = fread(to, 1, length, r->from);
    if (*got < length && ferror(r->from))
        return fail(r, errno ? -errno : -EIO, "cannot be read: %s", strerror(errno ? errno : EIO));
    return *got == length;
}

static int cut_off(struct profile_reader *r)
{
    r->code = 1;
    return 0;
}

/* 1: its sizes are possible. */
static int read_block_header(struct profile_reader *r)
{
    size_t got;
    int result = read_bytes(r, r->block, PROFILE_BLOCK_HEADER_BYTES, &got);
    if (result <= 0)
        return result < 0 ? result : cut_off(r);
    if (profile_get_u32(r->block + 16) != profile_checksum(r->block, 16))
        return fail_block(r, "has a wrong checksum in its header");
    if (profile_get_u32(r->block) != PROFILE_BLOCK_MARK)
        return fail_block(r, "does not begin as a block does");
    uint32_t number = profile_get_u32(r->block + 4);
    if (number != r->next)
        return fail(r, -EINVAL, "is damaged: block %u stands where block %u should", number, r->next);
    uint32_t raw_bytes = profile_get_u32(r->block + 8), frame_bytes = profile_get_u32(r->block + 12);
    if (raw_bytes == 0 || raw_bytes > PROFILE_RAW_MOST || frame_bytes == 0 || frame_bytes > PROFILE_FRAME_MOST)
        return fail_block(r, "has an impossible size");
    return 1;
}

/* 1: there are records; 0: the file ends here, or was cut off in this block. */
static int read_block(struct profile_reader *r)
{
    int result = read_block_header(r);
    if (result <= 0)
        return result;
    size_t raw_bytes = profile_get_u32(r->block + 8), frame_bytes = profile_get_u32(r->block + 12), got;
    uint8_t *frame = r->block + PROFILE_BLOCK_HEADER_BYTES, *tail = frame + frame_bytes;
    result = read_bytes(r, frame, frame_bytes + PROFILE_BLOCK_TAIL_BYTES, &got);
    if (result <= 0)
        return result < 0 ? result : cut_off(r);
    if (profile_get_u32(tail) != profile_checksum(r->block, (size_t)(tail - r->block)))
        return fail_block(r, "has a wrong checksum");
    if (ZSTD_decompressDCtx(r->decompressor, r->raw, raw_bytes, frame, frame_bytes) != raw_bytes)
        return fail_block(r, "does not decompress to its size");
    r->at = r->raw;
    r->end = r->raw + raw_bytes;
    r->next++;
    profile_state_restart(&r->state);
    return 1;
}

/* ---- records */

static bool get_varint(struct profile_reader *r, uint64_t *value)
{
    const uint8_t *at = r->at, *end = r->end;
    uint64_t sum = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        uint64_t byte = *at++, bits = byte & 0x7f;
        if (bits << shift >> shift != bits || (byte == 0 && shift != 0))
            return false; /* it does not fit, or could be shorter */
        sum |= bits << shift;
        if (byte < 0x80) {
            *value = sum;
            r->at = at;
            return true;
        }
    }
    return false;
}

/* Its length is read; it stays in the block, where its zero ends it. */
static bool get_string(struct profile_reader *r, uint64_t length, char *to)
{
    const char *s = (const char *)r->at;
    if (length > PROFILE_STRING_MOST || length >= (size_t)(r->end - r->at))
        return false;
    if (strnlen(s, length + 1) != length)
        return false;
    r->at += length + 1;
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

/* The field's value from its number. */
static bool take_field(struct profile_reader *r, const struct profile_field *f, uint64_t number, uint64_t **row,
                       char *to)
{
    switch (f->type) {
    case FIELD_U64: return store_u64(to, number);
    case FIELD_U32: return store_u32(to, number);
    case FIELD_BOOL: *(bool *)to = number != 0; return number <= 1;
    case FIELD_EVENT:
        if (number < r->state.events) /* else profile_check says so */
            *row = r->state.last[PROFILE_FIRST_EVENT_ROW + number];
        return store_u32(to, number);
    case FIELD_I32: return store_i32(to, unzigzag(number));
    case FIELD_STRING: return get_string(r, number, to);
    case FIELD_STEP64:
    case FIELD_NEAR64: return store_u64(to, (*row)[f->base] += unzigzag(number));
    case FIELD_STEP32: return store_u32(to, (*row)[f->base] += unzigzag(number));
    default: return false;
    }
}

static bool take_absent(struct profile_reader *r, const struct profile_field *f, uint64_t **row, char *to)
{
    static const char empty[] = "";
    const char *s = empty;
    switch (f->type) {
    case FIELD_STRING: memcpy(to, &s, sizeof s); return true;
    case FIELD_EVENT:
    case FIELD_STEP64:
    case FIELD_STEP32: return take_field(r, f, 0, row, to);
    default: return true; /* it is 0 already */
    }
}

static int read_fields(struct profile_reader *r, const struct profile_layout *layout, struct profile_record *to)
{
    uint64_t mask, number, *row = r->state.last[PROFILE_OTHER_ROW];
    if (!get_varint(r, &mask) || mask >> layout->count != 0)
        return fail_field(r, layout, "set of fields");
    for (unsigned i = 0; i < layout->count; i++) {
        const struct profile_field *f = &layout->fields[i];
        char *at = (char *)to + f->offset;
        bool follows = mask >> i & 1;
        if (follows && !get_varint(r, &number))
            return fail_field(r, layout, f->name);
        if (!(follows ? take_field(r, f, number, &row, at) : take_absent(r, f, &row, at)))
            return fail_field(r, layout, f->name);
    }
    return 0;
}

/* 0, or what failed. */
static int read_record(struct profile_reader *r, struct profile_record *to)
{
    uint8_t kind = *r->at++;
    if (kind >= PROFILE_RECORD_KINDS)
        return fail_record(r, "a record of unknown kind");
    *to = (struct profile_record){.kind = kind};
    int result = read_fields(r, &profile_layouts[kind], to);
    if (result != 0)
        return result;
    if (kind == PROFILE_EVENT)
        to->event.event = r->state.events;
    if (kind == PROFILE_CHAIN)
        to->chain.chain = r->state.chains + 1;
    const char *mistake = profile_check(&r->state, to);
    if (mistake)
        return fail_record(r, mistake);
    profile_state_advance(&r->state, to);
    return 0;
}

/* Behind PROFILE_END there is nothing. */
static int read_end(struct profile_reader *r)
{
    uint8_t byte;
    size_t got = 0;
    if (r->at != r->end)
        return fail_record(r, "records behind the end");
    int result = read_bytes(r, &byte, 1, &got);
    if (result < 0)
        return result;
    if (got != 0)
        return fail(r, -EINVAL, "is damaged: it goes on behind its last block, %u", r->next - 1);
    r->complete = true;
    r->code = 1;
    return 0;
}

/* ---- the interface */

static int read_header(struct profile_reader *r)
{
    uint8_t header[PROFILE_HEADER_BYTES], want[PROFILE_HEADER_BYTES];
    size_t got;
    int result = read_bytes(r, header, sizeof header, &got);
    if (result < 0)
        return result;
    if (got == 0)
        return fail(r, -EINVAL, "is no profile of Cyclescope: it is empty");
    if (memcmp(header, PROFILE_MAGIC, got < 8 ? got : 8) != 0)
        return fail(r, -EINVAL, "is no profile of Cyclescope");
    if (result == 0)
        return fail(r, -EINVAL, "was cut off in its header: it holds no profile");
    uint32_t version = profile_get_u32(header + 8);
    profile_put_header(want, version);
    if (memcmp(header, want, sizeof header) != 0)
        return fail(r, -EINVAL, "is damaged: its header has a wrong checksum");
    if (version > PROFILE_VERSION)
        return fail(r, -EINVAL,
                    "was written by a newer version of Cyclescope: its format is %u, the latest known is %u", version,
                    PROFILE_VERSION);
    if (version < PROFILE_VERSION)
        return fail(r, -EINVAL, "has a format that is no longer read: %u", version);
    return 0;
}

struct profile_reader *profile_reader_new(FILE *from, const char *name, struct error *err)
{
    struct profile_reader *r = calloc(1, sizeof *r);
    if (r) {
        r->from = from;
        r->name = strdup(name);
        r->decompressor = ZSTD_createDCtx();
    }
    if (!r || !r->name || !r->decompressor) {
        error_set(err, -ENOMEM, "out of memory for a profile");
        profile_reader_free(r);
        return NULL;
    }
    if (read_header(r) != 0) {
        *err = r->error;
        profile_reader_free(r);
        return NULL;
    }
    return r;
}

int profile_read(struct profile_reader *r, struct profile_record *to, struct error *err)
{
    int result = r->code;
    if (result == 0)
        result = r->at == r->end ? read_block(r) : 1;
    else if (result > 0)
        return 0;
    if (result > 0) {
        result = read_record(r, to);
        if (result == 0)
            result = to->kind == PROFILE_END ? read_end(r) : 1;
    }
    if (result < 0)
        *err = r->error;
    return result;
}

bool profile_reader_complete(const struct profile_reader *r)
{
    return r->complete;
}

void profile_reader_free(struct profile_reader *r)
{
    if (!r)
        return;
    ZSTD_freeDCtx(r->decompressor);
    free(r->name);
    free(r);
}
