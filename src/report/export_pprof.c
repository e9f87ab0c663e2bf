/* Export in the profile format of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto): a protocol
 * buffer compressed with gzip. A sample has one value per event and lists its frames from the innermost to the
 * outermost.
 *
 * Limits: chains longer than PROFILE_FRAMES_MOST lose their outermost frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/profile_export.h"
#include "base/array.h"
#include "profile/profile_tree.h"

/* ---- protocol buffers */

/* Field numbers, message by message. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE_FIELD = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5
};

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* An encoded message. */
struct message {
    uint8_t *byte;
    size_t count, room;
    bool failed; /* memory ran out: bytes are missing */
};

static void put_byte(struct message *m, uint8_t byte)
{
    uint8_t *grown = array_grow(m->byte, m->count, &m->room, 1);
    if (grown == NULL) {
        m->failed = true;
        return;
    }
    m->byte = grown;
    m->byte[m->count++] = byte;
}

static void put_varint(struct message *m, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        put_byte(m, (uint8_t)(n | 0x80));
    put_byte(m, (uint8_t)n);
}

/* Appends a field with a number. 0 is the default of an absent field and is omitted. */
static void put_number(struct message *m, unsigned field, uint64_t n)
{
    if (n == 0)
        return;
    put_varint(m, field << 3 | WIRE_VARINT);
    put_varint(m, n);
}

static void put_bytes(struct message *m, unsigned field, const void *bytes, size_t count)
{
    put_varint(m, field << 3 | WIRE_BYTES);
    put_varint(m, count);
    for (size_t i = 0; i < count; i++)
        put_byte(m, ((const uint8_t *)bytes)[i]);
}

/* Appends `inner` as a field of `m` and empties `inner`. */
static void put_message(struct message *m, unsigned field, struct message *inner)
{
    put_bytes(m, field, inner->byte, inner->count);
    m->failed |= inner->failed;
    inner->count = 0;
}

/* ---- the file */

struct pprof {
    const struct profile_names *n;
    unsigned first, last;
    FILE *to;
    z_stream z;
    struct message out;          /* top-level fields that have not been compressed yet */
    struct message outer, inner; /* messages under construction, one within the other */
    const char **string;         /* the string table, by number */
    size_t strings, string_room;
    struct index_table string_index;
    bool failed; /* memory ran out */
};

enum { FLUSH_BYTES = 1 << 16 };

/* Compresses and writes `out`, then empties it. `end`: also finish the file. */
static void flush_out(struct pprof *p, bool end)
{
    uint8_t packed[FLUSH_BYTES];
    p->z.next_in = p->out.byte;
    p->z.avail_in = (unsigned)p->out.count;
    do {
        p->z.next_out = packed;
        p->z.avail_out = sizeof packed;
        deflate(&p->z, end ? Z_FINISH : Z_NO_FLUSH);
        fwrite(packed, 1, sizeof packed - p->z.avail_out, p->to);
    } while (p->z.avail_out == 0);
    p->out.count = 0;
}

/* Appends `inner` as a top-level field. */
static void put_top(struct pprof *p, unsigned field, struct message *inner)
{
    put_message(&p->out, field, inner);
    if (p->out.count >= FLUSH_BYTES)
        flush_out(p, false);
}

static bool same_string(const void *owner, uint32_t i, const void *key)
{
    return strcmp(((const char *const *)owner)[i], key) == 0;
}

/* The number of a string in the string table; adds it if it is new. `text` must live until the table is written. */
static uint64_t string_number(struct pprof *p, const char *text)
{
    uint64_t hash = hash_text(text);
    uint32_t i = index_table_find(&p->string_index, hash, same_string, p->string, text);
    if (i != INDEX_NONE)
        return i;
    const char **grown = array_grow(p->string, p->strings, &p->string_room, sizeof *grown);
    if (grown)
        p->string = grown;
    if (grown == NULL || index_table_add(&p->string_index, hash, (uint32_t)p->strings) != 0) {
        p->failed = true;
        return 0;
    }
    p->string[p->strings] = text;
    return p->strings++;
}

/* ---- top-level messages */

static void put_value_type(struct pprof *p, unsigned field, const struct profile_counted *e)
{
    put_number(&p->outer, VALUE_TYPE_TYPE, string_number(p, e->name));
    put_number(&p->outer, VALUE_TYPE_UNIT, string_number(p, "count"));
    put_top(p, field, &p->outer);
}

static void put_types(struct pprof *p, const char *comment)
{
    const struct profile_counted *e = p->n->profile->event;
    for (unsigned i = p->first; i <= p->last; i++)
        put_value_type(p, PROFILE_SAMPLE_TYPE, &e[i]);
    if (e[p->first].period) {
        put_value_type(p, PROFILE_PERIOD_TYPE, &e[p->first]);
        put_number(&p->out, PROFILE_PERIOD, e[p->first].period);
    }
    put_number(&p->out, PROFILE_COMMENT, string_number(p, comment));
    put_number(&p->out, PROFILE_DEFAULT_SAMPLE_TYPE, string_number(p, e[p->first].name));
}

/* Writes the mappings that contain sampled or calling code. Sets `id` of each mapping written, from 1 on; 0: not
 * written. */
static void put_mappings(struct pprof *p, uint32_t *id)
{
    const struct profile *profile = p->n->profile;
    uint32_t ids = 0;
    for (size_t i = 0; i < p->n->places; i++) {
        const struct profile_map *m = profile_map_of(profile, p->n->place[i].pc);
        if (m == NULL || id[m - profile->map])
            continue;
        id[m - profile->map] = ++ids;
        put_number(&p->outer, MAPPING_ID, ids);
        put_number(&p->outer, MAPPING_START, m->start);
        put_number(&p->outer, MAPPING_LIMIT, m->start + m->length);
        put_number(&p->outer, MAPPING_OFFSET, m->offset);
        put_number(&p->outer, MAPPING_FILENAME, string_number(p, p->n->function[p->n->place[i].function].module));
        put_number(&p->outer, MAPPING_HAS_FUNCTIONS, 1);
        put_number(&p->outer, MAPPING_HAS_FILENAMES, 1);
        put_number(&p->outer, MAPPING_HAS_LINE_NUMBERS, 1);
        put_top(p, PROFILE_MAPPING, &p->outer);
    }
}

static void put_locations(struct pprof *p, const uint32_t *mapping_id)
{
    const struct profile *profile = p->n->profile;
    for (size_t i = 0; i < p->n->places; i++) {
        const struct profile_place *at = &p->n->place[i];
        const struct profile_map *m = profile_map_of(profile, at->pc);
        put_number(&p->inner, LINE_FUNCTION_ID, at->function + 1);
        put_number(&p->inner, LINE_LINE, at->line);
        put_number(&p->outer, LOCATION_ID, i + 1);
        put_number(&p->outer, LOCATION_MAPPING_ID, m ? mapping_id[m - profile->map] : 0);
        put_number(&p->outer, LOCATION_ADDRESS, at->pc);
        put_message(&p->outer, LOCATION_LINE, &p->inner);
        put_top(p, PROFILE_LOCATION, &p->outer);
    }
}

static void put_functions(struct pprof *p)
{
    for (size_t i = 0; i < p->n->functions; i++) {
        const struct profile_function *f = &p->n->function[i];
        put_number(&p->outer, FUNCTION_ID, i + 1);
        put_number(&p->outer, FUNCTION_NAME, string_number(p, f->name));
        put_number(&p->outer, FUNCTION_SYSTEM_NAME, string_number(p, f->name));
        put_number(&p->outer, FUNCTION_FILENAME, string_number(p, f->file ? f->file : ""));
        put_number(&p->outer, FUNCTION_START_LINE, f->line);
        put_top(p, PROFILE_FUNCTION, &p->outer);
    }
}

static void put_strings(struct pprof *p)
{
    for (size_t i = 0; i < p->strings; i++) {
        put_bytes(&p->out, PROFILE_STRING_TABLE, p->string[i], strlen(p->string[i]));
        if (p->out.count >= FLUSH_BYTES)
            flush_out(p, false);
    }
}

/* ---- samples */

static int by_chain(const void *left, const void *right, void *context)
{
    const struct profile_cell *cell = context, *a = &cell[*(const uint32_t *)left],
                              *b = &cell[*(const uint32_t *)right];
    if (a->chain != b->chain)
        return a->chain < b->chain ? -1 : 1;
    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* Writes the cells of one instruction in one call chain as a sample. There is one cell per event that was sampled
 * there, sorted by event. */
static void put_sample(struct pprof *p, const uint32_t *cells, size_t count)
{
    const struct profile *profile = p->n->profile;
    size_t frames = 0, at = 0;
    put_varint(&p->inner, (uint64_t)p->n->of_cell[cells[0]] + 1);
    for (uint32_t c = profile->cell[cells[0]].chain; c && frames < PROFILE_FRAMES_MOST; c = profile->node[c].parent) {
        put_varint(&p->inner, (uint64_t)p->n->of_node[c] + 1);
        frames++;
    }
    put_message(&p->outer, SAMPLE_LOCATION_ID, &p->inner);
    for (unsigned e = p->first; e <= p->last; e++) {
        while (at < count && profile->cell[cells[at]].event < e)
            at++;
        put_varint(&p->inner, at < count && profile->cell[cells[at]].event == e ? profile->cell[cells[at]].weight : 0);
    }
    put_message(&p->outer, SAMPLE_VALUE, &p->inner);
    put_top(p, PROFILE_SAMPLE_FIELD, &p->outer);
}

static bool is_shown(const struct pprof *p, const uint32_t *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t e = p->n->profile->cell[cells[i]].event;
        if (e >= p->first && e <= p->last)
            return true;
    }
    return false;
}

static void put_samples(struct pprof *p, uint32_t *order)
{
    const struct profile *profile = p->n->profile;
    for (size_t i = 0; i < profile->cells; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, profile->cells, sizeof *order, by_chain, profile->cell);
    for (size_t i = 0, end; i < profile->cells; i = end) {
        const struct profile_cell *c = &profile->cell[order[i]];
        for (end = i + 1; end < profile->cells; end++)
            if (profile->cell[order[end]].chain != c->chain || profile->cell[order[end]].pc != c->pc)
                break;
        if (is_shown(p, order + i, end - i))
            put_sample(p, order + i, end - i);
    }
}

static void put_all(struct pprof *p, uint32_t *order, uint32_t *mapping_id, const char *version)
{
    char comment[64];
    snprintf(comment, sizeof comment, "cyclescope %s", version);
    string_number(p, ""); /* string 0 must be empty */
    put_types(p, comment);
    put_samples(p, order);
    put_mappings(p, mapping_id);
    put_locations(p, mapping_id);
    put_functions(p);
    put_strings(p);
    flush_out(p, true);
}

int export_pprof(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                 struct error *err)
{
    enum { GZIP = 16 + 15 }; /* window bits: gzip format, 32 KB window */
    struct pprof p = {.n = n, .first = first, .last = last, .to = to};
    if (deflateInit2(&p.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return error_set(err, -ENOMEM, "out of memory for a profile");
    uint32_t *order = calloc(n->profile->cells + 1, sizeof *order);
    uint32_t *mapping_id = calloc(n->profile->maps + 1, sizeof *mapping_id);
    p.failed = !order || !mapping_id;
    if (!p.failed)
        put_all(&p, order, mapping_id, version);
    deflateEnd(&p.z);
    free(order);
    free(mapping_id);
    free(p.out.byte);
    free(p.outer.byte);
    free(p.inner.byte);
    free(p.string);
    index_table_free(&p.string_index);
    return p.failed || p.out.failed ? error_set(err, -ENOMEM, "out of memory for a profile") : 0;
}
