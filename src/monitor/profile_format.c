#include "monitor/profile_format.h"

#include <string.h>
#include <zlib.h>

enum { LEVEL = 1 }; /* of compression: 3 saves at most 4 % and takes 1.6 times as long */

#define AT(member) offsetof(struct profile_record, member)
#define LAYOUT(name, f)                                                                                                \
    {                                                                                                                  \
        name, f, sizeof(f) / sizeof((f)[0])                                                                            \
    }

static const struct profile_field info_fields[] = {
    {"name", FIELD_STRING, AT(info.name), 0},
    {"value", FIELD_STRING, AT(info.value), 0},
};
static const struct profile_field event_fields[] = {
    {"name", FIELD_STRING, AT(event.name), 0},
    {"period", FIELD_U64, AT(event.period), 0},
    {"kind", FIELD_BOOL, AT(event.cycles), 0},
};
static const struct profile_field map_fields[] = {
    {"start", FIELD_U64, AT(map.start), 0},
    {"length", FIELD_U64, AT(map.length), 0},
    {"offset", FIELD_U64, AT(map.offset), 0},
    {"path", FIELD_STRING, AT(map.path), 0},
};
static const struct profile_field chain_fields[] = {
    {"caller", FIELD_STEP32, AT(chain.parent), 0},
    {"site", FIELD_STEP64, AT(chain.site), 1},
    {"entry", FIELD_STEP64, AT(chain.entry), 2},
};
/* Those that most samples have come first: their mask is one byte. */
static const struct profile_field sample_fields[] = {
    {"event", FIELD_EVENT, AT(sample.event), 0},
    {"pc", FIELD_STEP64, AT(sample.pc), 0},
    {"cycle", FIELD_STEP64, AT(sample.cycle), 1},
    {"call chain", FIELD_STEP32, AT(sample.chain), 2},
    {"weight", FIELD_STEP64, AT(sample.weight), 3},
    {"address", FIELD_NEAR64, AT(sample.address), 4},
    {"set of flags", FIELD_U32, AT(sample.flags), 0},
    {"outcome", FIELD_U32, AT(sample.outcome), 0},
    {"latency", FIELD_U32, AT(sample.latency[PROFILE_FETCH]), 0},
    {"latency", FIELD_U32, AT(sample.latency[PROFILE_DISPATCH]), 0},
    {"latency", FIELD_U32, AT(sample.latency[PROFILE_ISSUE]), 0},
    {"latency", FIELD_U32, AT(sample.latency[PROFILE_COMPLETE]), 0},
    {"distance", FIELD_I32, AT(sample.distance), 0},
    {"number of slots", FIELD_U32, AT(sample.slots), 0},
    {"cause", FIELD_NEAR64, AT(sample.cause), 5},
};
static const struct profile_field total_fields[] = {
    {"event", FIELD_EVENT, AT(total.event), 0},
    {"count", FIELD_U64, AT(total.count), 0},
};

const struct profile_layout profile_layouts[PROFILE_RECORD_KINDS] = {
    [PROFILE_INFO] = LAYOUT("a line of information", info_fields),
    [PROFILE_EVENT] = LAYOUT("an event", event_fields),
    [PROFILE_MAP] = LAYOUT("a mapping", map_fields),
    [PROFILE_CHAIN] = LAYOUT("a call chain", chain_fields),
    [PROFILE_SAMPLE] = LAYOUT("a sample", sample_fields),
    [PROFILE_PAIR] = LAYOUT("a second sample of a pair", sample_fields),
    [PROFILE_TOTAL] = LAYOUT("a total", total_fields),
    [PROFILE_END] = {"an end", NULL, 0},
};

/* ---- what records refer to */

static const char *check_sample(const struct profile_state *s, const struct profile_sample *sample)
{
    const uint32_t flags = PROFILE_HAS_ADDRESS | PROFILE_HAS_HISTORY | PROFILE_SQUASHED | PROFILE_TAKEN |
                           PROFILE_MISPREDICTED | PROFILE_STORE | PROFILE_HAS_CAUSE;
    if (sample->event >= s->events)
        return "a sample of an event that was not announced";
    if (sample->chain > s->chains)
        return "a sample with a call chain that was not announced";
    if ((sample->flags & ~flags) != 0)
        return "a sample with unknown flags";
    if (sample->outcome > PROFILE_OUTCOME_MOST)
        return "a sample with an unknown outcome";
    return NULL;
}

static const char *check_chain(const struct profile_state *s, const struct profile_chain *chain)
{
    if (s->chains == UINT32_MAX)
        return "one call chain too many";
    if (chain->chain != s->chains + 1)
        return "a call chain out of order";
    if (chain->parent >= chain->chain)
        return "a call chain whose caller was not announced";
    return NULL;
}

const char *profile_check(const struct profile_state *s, const struct profile_record *r)
{
    switch (r->kind) {
    case PROFILE_EVENT:
        if (s->events == PROFILE_EVENTS_MOST)
            return "one event too many";
        return r->event.event == s->events ? NULL : "an event out of order";
    case PROFILE_MAP: return r->map.length <= UINT64_MAX - r->map.start ? NULL : "a mapping that ends before it begins";
    case PROFILE_CHAIN: return check_chain(s, &r->chain);
    case PROFILE_PAIR:
        if (!s->pairable)
            return "a second sample of a pair without the first";
        return check_sample(s, &r->sample);
    case PROFILE_SAMPLE: return check_sample(s, &r->sample);
    case PROFILE_TOTAL: return r->total.event < s->events ? NULL : "a total of an event that was not announced";
    case PROFILE_INFO:
    case PROFILE_END: return NULL;
    default: return "a record of unknown kind";
    }
}

void profile_state_advance(struct profile_state *s, const struct profile_record *r)
{
    switch (r->kind) {
    case PROFILE_EVENT: s->events++; break;
    case PROFILE_CHAIN: s->chains++; break;
    case PROFILE_SAMPLE: s->pairable = true; break;
    case PROFILE_PAIR: s->pairable = false; break;
    default: break;
    }
}

void profile_state_restart(struct profile_state *s)
{
    memset(s->last, 0, (PROFILE_FIRST_EVENT_ROW + s->events) * sizeof s->last[0]);
}

/* ---- bytes */

void profile_put_u32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

uint32_t profile_get_u32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

uint32_t profile_checksum(const uint8_t *bytes, size_t length)
{
    return (uint32_t)crc32_z(0, bytes, length);
}

void profile_put_header(uint8_t to[PROFILE_HEADER_BYTES], uint32_t version)
{
    memcpy(to, PROFILE_MAGIC, 8);
    profile_put_u32(to + 8, version);
    profile_put_u32(to + 12, profile_checksum(to, 12));
}

size_t profile_seal_block(uint8_t *block, uint32_t number, size_t raw_bytes, size_t frame_bytes)
{
    size_t length = PROFILE_BLOCK_HEADER_BYTES + frame_bytes;
    profile_put_u32(block, PROFILE_BLOCK_MARK);
    profile_put_u32(block + 4, number);
    profile_put_u32(block + 8, (uint32_t)raw_bytes);
    profile_put_u32(block + 12, (uint32_t)frame_bytes);
    profile_put_u32(block + 16, profile_checksum(block, 16));
    profile_put_u32(block + length, profile_checksum(block, length));
    return length + PROFILE_BLOCK_TAIL_BYTES;
}

size_t profile_pack_block(ZSTD_CCtx *z, uint8_t *block, uint32_t number, const uint8_t *raw, size_t raw_bytes)
{
    size_t frame = ZSTD_compressCCtx(z, block + PROFILE_BLOCK_HEADER_BYTES, PROFILE_FRAME_MOST, raw, raw_bytes, LEVEL);
    return ZSTD_isError(frame) ? 0 : profile_seal_block(block, number, raw_bytes, frame);
}
