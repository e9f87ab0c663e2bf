#include "profile/profile_format.h"

enum { DIFFERENCES = 6 }; /* most fields of a kind that are written as differences */

#define AT(member) offsetof(struct profile_record, member)

static const struct record_field info_fields[] = {
    {"name", FIELD_STRING, AT(info.name), 0},
    {"value", FIELD_STRING, AT(info.value), 0},
};
static const struct record_field event_fields[] = {
    {"name", FIELD_STRING, AT(event.name), 0},
    {"period", FIELD_U64, AT(event.period), 0},
    {"kind", FIELD_BOOL, AT(event.cycles), 0},
};
static const struct record_field map_fields[] = {
    {"start", FIELD_U64, AT(map.start), 0},
    {"length", FIELD_U64, AT(map.length), 0},
    {"offset", FIELD_U64, AT(map.offset), 0},
    {"path", FIELD_STRING, AT(map.path), 0},
};
static const struct record_field chain_fields[] = {
    {"caller", FIELD_STEP32, AT(chain.parent), 0},
    {"site", FIELD_STEP64, AT(chain.site), 1},
    {"entry", FIELD_STEP64, AT(chain.entry), 2},
};
/* Fields that most samples have come first, so that the mask of most samples is one byte. */
static const struct record_field sample_fields[] = {
    {"event", FIELD_ROW, AT(sample.event), 0},
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
static const struct record_field total_fields[] = {
    {"event", FIELD_ROW, AT(total.event), 0},
    {"count", FIELD_U64, AT(total.count), 0},
};

static const struct record_layout layouts[PROFILE_RECORD_KINDS] = {
    [PROFILE_INFO] = RECORD_LAYOUT("a line of information", info_fields),
    [PROFILE_EVENT] = RECORD_LAYOUT("an event", event_fields),
    [PROFILE_MAP] = RECORD_LAYOUT("a mapping", map_fields),
    [PROFILE_CHAIN] = RECORD_LAYOUT("a call chain", chain_fields),
    [PROFILE_SAMPLE] = RECORD_LAYOUT("a sample", sample_fields),
    [PROFILE_PAIR] = RECORD_LAYOUT("a second sample of a pair", sample_fields),
    [PROFILE_TOTAL] = RECORD_LAYOUT("a total", total_fields),
    [PROFILE_END] = {"an end", NULL, 0},
};

/* ---- checks of what records refer to */

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

static const char *check(const void *state, const void *record)
{
    const struct profile_state *s = state;
    const struct profile_record *r = record;
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

static void advance(void *state, const void *record)
{
    struct profile_state *s = state;
    const struct profile_record *r = record;
    switch (r->kind) {
    case PROFILE_EVENT: s->events++; break;
    case PROFILE_CHAIN: s->chains++; break;
    case PROFILE_SAMPLE: s->pairable = true; break;
    case PROFILE_PAIR: s->pairable = false; break;
    default: break;
    }
}

static void number(const void *state, void *record)
{
    const struct profile_state *s = state;
    struct profile_record *r = record;
    if (r->kind == PROFILE_EVENT)
        r->event.event = s->events;
    if (r->kind == PROFILE_CHAIN)
        r->chain.chain = s->chains + 1;
}

const struct record_format profile_format = {
    .file = {PROFILE_MAGIC, PROFILE_VERSION, "profile"},
    .layouts = layouts,
    .kinds = PROFILE_RECORD_KINDS,
    .fields = sizeof sample_fields / sizeof *sample_fields,
    .record_bytes = sizeof(struct profile_record),
    .state_bytes = sizeof(struct profile_state),
    .rows = PROFILE_EVENTS_MOST,
    .differences = DIFFERENCES,
    .number = number,
    .check = check,
    .advance = advance,
};
