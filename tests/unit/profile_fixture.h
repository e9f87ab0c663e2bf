/* What tests of profile files share: records to write, and files that are written and read. */
#ifndef CYCLESCOPE_TESTS_PROFILE_FIXTURE_H
#define CYCLESCOPE_TESTS_PROFILE_FIXTURE_H

#include "block_fixture.h"
#include "profile/profile_format.h"

/* Records as they go in; strings are those of `text`. */
struct list {
    struct profile_record *record;
    char (*text)[2][NAME_ROOM]; /* of each record */
    size_t count;
};

static inline struct profile_sample any_sample(struct random *random, uint32_t events, uint32_t chains)
{
    struct profile_sample s = {.event = below(random, events), .chain = below(random, chains + 1)};
    s.weight = any_u64(random);
    s.pc = any_u64(random);
    s.cycle = any_u64(random);
    s.address = below(random, 2) ? any_u64(random) : 0;
    s.flags = below(random, 128);
    s.outcome = below(random, PROFILE_OUTCOME_MOST + 1);
    for (unsigned i = 0; i < PROFILE_STAGES; i++)
        s.latency[i] = any_u32(random);
    s.distance = (int32_t)(below(random, 4) ? any_u32(random) : (uint32_t)INT32_MIN);
    s.slots = any_u32(random);
    s.cause = below(random, 2) ? any_u64(random) : 0;
    return s;
}

/* Records of all kinds, right as a whole: the first announces an event. */
static inline struct list any_records(uint64_t seed, size_t count)
{
    struct random random;
    uint32_t events = 0, chains = 0;
    bool pairable = false;
    struct list l = {calloc(count, sizeof *l.record), calloc(count, sizeof *l.text), count};
    assert_true(l.record && l.text);
    random_seed(&random, seed);
    for (size_t i = 0; i < count; i++) {
        struct profile_record *r = &l.record[i];
        r->kind = events == 0 ? PROFILE_EVENT : below(&random, PROFILE_END);
        if ((r->kind == PROFILE_PAIR && !pairable) || (r->kind == PROFILE_EVENT && events == PROFILE_EVENTS_MOST))
            r->kind = PROFILE_SAMPLE;
        const char *name = any_string(&random, l.text[i][0]), *value = any_string(&random, l.text[i][1]);
        uint64_t a = any_u64(&random), b = any_u64(&random), c = any_u64(&random);
        switch (r->kind) {
        case PROFILE_INFO: r->info = (struct profile_info){name, value}; break;
        case PROFILE_EVENT: r->event = (struct profile_event){events++, name, a, b & 1}; break;
        case PROFILE_MAP: r->map = (struct profile_map){a, b <= UINT64_MAX - a ? b : UINT64_MAX - a, c, name}; break;
        case PROFILE_CHAIN:
            chains++;
            r->chain = (struct profile_chain){chains, below(&random, chains), a, b};
            break;
        case PROFILE_TOTAL: r->total = (struct profile_total){below(&random, events), a}; break;
        default:
            r->sample = any_sample(&random, events, chains);
            pairable = r->kind == PROFILE_SAMPLE;
            break;
        }
    }
    return l;
}

static inline void free_list(struct list *l)
{
    free(l->record);
    free(l->text);
}

static inline void assert_same_sample(const struct profile_sample *a, const struct profile_sample *b)
{
    assert_int_equal(a->event, b->event);
    assert_int_equal(a->chain, b->chain);
    assert_true(a->weight == b->weight && a->pc == b->pc && a->cycle == b->cycle && a->address == b->address);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->outcome, b->outcome);
    assert_memory_equal(a->latency, b->latency, sizeof a->latency);
    assert_int_equal(a->distance, b->distance);
    assert_int_equal(a->slots, b->slots);
    assert_true(a->cause == b->cause);
}

static inline void assert_same(const struct profile_record *a, const struct profile_record *b)
{
    assert_int_equal(a->kind, b->kind);
    switch (a->kind) {
    case PROFILE_INFO:
        assert_string_equal(a->info.name, b->info.name);
        assert_string_equal(a->info.value, b->info.value);
        break;
    case PROFILE_EVENT:
        assert_string_equal(a->event.name, b->event.name);
        assert_true(a->event.event == b->event.event && a->event.period == b->event.period);
        assert_int_equal(a->event.cycles, b->event.cycles);
        break;
    case PROFILE_MAP:
        assert_string_equal(a->map.path, b->map.path);
        assert_true(a->map.start == b->map.start && a->map.length == b->map.length && a->map.offset == b->map.offset);
        break;
    case PROFILE_CHAIN:
        assert_true(a->chain.chain == b->chain.chain && a->chain.parent == b->chain.parent);
        assert_true(a->chain.site == b->chain.site && a->chain.entry == b->chain.entry);
        break;
    case PROFILE_TOTAL: assert_true(a->total.event == b->total.event && a->total.count == b->total.count); break;
    default: assert_same_sample(&a->sample, &b->sample); break;
    }
}

/* ---- files */

static inline struct profile_writer *open_writer(FILE **file)
{
    struct error err;
    FILE *to = tmpfile();
    assert_non_null(to);
    *file = twin(to);
    struct profile_writer *w = profile_writer_new(to, &err);
    assert_non_null(w);
    return w;
}

/* Written with a block for every `flush` records; 0: as the writer likes. */
static inline struct bytes write_profile(const struct list *l, size_t flush)
{
    struct error err = {""};
    FILE *file;
    struct profile_writer *w = open_writer(&file);
    for (size_t i = 0; i < l->count; i++) {
        profile_write(w, &l->record[i]);
        if (flush != 0 && i % flush == flush - 1)
            profile_writer_flush(w);
    }
    assert_int_equal(profile_writer_close(w, &err), 0);
    assert_string_equal(err.text, "");
    return contents(file);
}

struct reading {
    size_t records; /* all of them those of the list */
    int result;     /* of the last call */
    bool complete;
    struct error err;
};

static inline struct reading read_profile(const uint8_t *bytes, size_t length, const struct list *want)
{
    struct reading got = {0, -1, false, {""}};
    struct profile_record r;
    uint8_t *copy;
    FILE *from = open_bytes(bytes, length, &copy);
    struct profile_reader *reader = profile_reader_new(from, "FILE", &got.err);
    if (reader) {
        while ((got.result = profile_read(reader, &r, &got.err)) > 0) {
            assert_true(got.records < want->count);
            assert_same(&r, &want->record[got.records++]);
        }
        assert_int_equal(profile_read(reader, &r, &got.err), got.result); /* it stays so */
        got.complete = profile_reader_complete(reader);
    }
    assert_int_equal(got.result < 0, strncmp(got.err.text, "FILE ", 5) == 0);
    profile_reader_free(reader);
    fclose(from);
    free(copy);
    return got;
}

#endif
