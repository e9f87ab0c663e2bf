/* libFuzzer target: any bytes as a profile (block_input.h). What comes of it is a sentence, or records that can be
 * written again and are the same. */
#include <string.h>

#include "block_input.h"
#include "profile/profile_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check(const struct profile_record *r, uint32_t *events, uint32_t *chains)
{
    const struct profile_sample *s = &r->sample;
    switch (r->kind) {
    case PROFILE_INFO: expect(strlen(r->info.name) + strlen(r->info.value) < BLOCK_RAW_MOST); break;
    case PROFILE_EVENT: expect(r->event.event == (*events)++ && strlen(r->event.name) < BLOCK_RAW_MOST); break;
    case PROFILE_MAP: expect(r->map.start + r->map.length >= r->map.start && strlen(r->map.path) != SIZE_MAX); break;
    case PROFILE_CHAIN: expect(r->chain.chain == ++*chains && r->chain.parent < r->chain.chain); break;
    case PROFILE_SAMPLE:
    case PROFILE_PAIR: expect(s->event < *events && s->chain <= *chains && s->flags < 128 && s->outcome < 65536); break;
    case PROFILE_TOTAL: expect(r->total.event < *events); break;
    default: abort();
    }
}

static bool same(const struct profile_record *a, const struct profile_record *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PROFILE_INFO: return !strcmp(a->info.name, b->info.name) && !strcmp(a->info.value, b->info.value);
    case PROFILE_EVENT:
        return !strcmp(a->event.name, b->event.name) && a->event.period == b->event.period &&
               a->event.cycles == b->event.cycles;
    case PROFILE_MAP:
        return !strcmp(a->map.path, b->map.path) && a->map.start == b->map.start && a->map.length == b->map.length &&
               a->map.offset == b->map.offset;
    case PROFILE_CHAIN: return memcmp(&a->chain, &b->chain, sizeof a->chain) == 0;
    case PROFILE_TOTAL: return a->total.event == b->total.event && a->total.count == b->total.count;
    default: return memcmp(&a->sample, &b->sample, sizeof a->sample) == 0;
    }
}

/* Writes what can be read again. */
static void copy_records(const struct file *f, FILE *to)
{
    struct error err = {""};
    struct profile_record r;
    uint32_t events = 0, chains = 0;
    int result;
    FILE *from = fmemopen(f->at, f->length, "r");
    struct profile_writer *w = profile_writer_new(to, &err);
    expect(from && w);
    struct profile_reader *reader = profile_reader_new(from, "input", &err);
    expect(reader || strncmp(err.text, "input ", 6) == 0);
    while (reader && (result = profile_read(reader, &r, &err)) != 0) {
        if (result < 0) {
            expect(strncmp(err.text, "input is damaged: ", 18) == 0 && !profile_reader_complete(reader));
            break;
        }
        check(&r, &events, &chains);
        profile_write(w, &r);
    }
    profile_reader_free(reader);
    fclose(from);
    expect(profile_writer_close(w, &err) == 0);
}

static void compare(const struct file *f, FILE *copy)
{
    struct error err = {""};
    struct profile_record a, b;
    FILE *from = fmemopen(f->at, f->length, "r");
    expect(from != NULL);
    struct profile_reader *first = profile_reader_new(from, "input", &err);
    struct profile_reader *second = profile_reader_new(copy, "copy", &err);
    expect(second != NULL);
    while (profile_read(second, &b, &err) > 0)
        expect(first && profile_read(first, &a, &err) > 0 && same(&a, &b));
    expect(profile_reader_complete(second) && (!first || profile_read(first, &a, &err) <= 0));
    profile_reader_free(first);
    profile_reader_free(second);
    fclose(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct file f = make_file(&profile_format.file, bytes, length);
    FILE *to, *back;
    open_pair(&to, &back);
    copy_records(&f, to);
    rewind(back);
    compare(&f, back);
    fclose(back);
    free(f.at);
    return 0;
}
