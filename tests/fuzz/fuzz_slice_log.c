/* libFuzzer target: any bytes as a slice log (block_input.h). What comes of it is a sentence, or records that refer to
 * what was announced, can be written again and are the same, and a log in memory that has as many. */
#include <string.h>

#include "block_input.h"
#include "sampler/slice_log_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

struct seen {
    uint32_t groups, events, contexts; /* announced */
    size_t slices, totals;
    uint32_t counts[SLICE_LOG_GROUPS_MOST]; /* of the groups */
};

static void check_slice(const struct slice *s, const struct seen *seen)
{
    uint32_t counts = s->group == SLICE_IDLE ? 0 : seen->counts[s->group];
    expect(s->context < seen->contexts && (s->group == SLICE_IDLE || s->group < seen->groups));
    for (uint32_t i = counts; i < SLICE_COUNTS; i++)
        expect(s->count[i] == 0);
}

static void check(const struct slice_log_record *r, struct seen *seen)
{
    const struct plan_event *e = &r->event.event;
    switch (r->kind) {
    case LOG_INFO: expect(strlen(r->info.name) + strlen(r->info.value) < BLOCK_RAW_MOST); break;
    case LOG_PLAN: expect(r->plan.slots > 0 && r->plan.slice > 0 && r->plan.clock <= CLOCK_INSNS); break;
    case LOG_GROUP:
        expect(r->group.number == seen->groups && r->group.group.counts < SLICE_COUNTS);
        seen->counts[seen->groups++] = r->group.group.counts;
        break;
    case LOG_EVENT:
        expect(r->event.number == seen->events++ && strlen(r->event.text) < BLOCK_RAW_MOST);
        expect(e->group == PLAN_ALWAYS || (e->group < seen->groups && e->place < seen->counts[e->group]));
        break;
    case LOG_CONTEXT: expect(r->context.number == seen->contexts++); break;
    case LOG_SLICE:
        check_slice(&r->slice, seen);
        seen->slices++;
        break;
    case LOG_TOTAL:
        expect(r->total.context < seen->contexts && r->total.event < seen->events);
        seen->totals++;
        break;
    case LOG_EXIT: expect(r->exit.context < seen->contexts); break;
    default: abort();
    }
}

static bool same(const struct slice_log_record *a, const struct slice_log_record *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case LOG_INFO: return !strcmp(a->info.name, b->info.name) && !strcmp(a->info.value, b->info.value);
    case LOG_PLAN: return memcmp(&a->plan, &b->plan, sizeof a->plan) == 0; /* both were zero before */
    case LOG_GROUP: return memcmp(&a->group, &b->group, sizeof a->group) == 0;
    case LOG_EVENT:
        return !strcmp(a->event.text, b->event.text) &&
               memcmp(&a->event.event, &b->event.event, sizeof a->event.event) == 0;
    case LOG_CONTEXT: return !strcmp(a->context.program, b->context.program);
    case LOG_SLICE: return memcmp(&a->slice, &b->slice, sizeof a->slice) == 0;
    case LOG_TOTAL: return memcmp(&a->total, &b->total, sizeof a->total) == 0;
    default: return memcmp(&a->exit, &b->exit, sizeof a->exit) == 0;
    }
}

static FILE *open_input(const struct file *f)
{
    FILE *from = fmemopen(f->at, f->length, "r");
    expect(from != NULL);
    return from;
}

/* Writes what can be read again. */
static struct seen copy_records(const struct file *f, FILE *to)
{
    struct error err = {""};
    struct slice_log_record r;
    struct seen seen = {0};
    int result;
    FILE *from = open_input(f);
    struct slice_log_writer *w = slice_log_writer_new(to, &err);
    expect(w != NULL);
    struct slice_log_reader *reader = slice_log_reader_new(from, "input", &err);
    expect(reader || strncmp(err.text, "input ", 6) == 0);
    while (reader && (result = slice_log_read(reader, &r, &err)) != 0) {
        if (result < 0) {
            expect(strncmp(err.text, "input is damaged: ", 18) == 0 && !slice_log_reader_complete(reader));
            break;
        }
        check(&r, &seen);
        slice_log_write(w, &r);
    }
    slice_log_reader_free(reader);
    fclose(from);
    expect(slice_log_writer_close(w, &err) == 0);
    return seen;
}

static void compare(const struct file *f, FILE *copy)
{
    struct error err = {""};
    struct slice_log_record a, b;
    FILE *from = open_input(f);
    struct slice_log_reader *first = slice_log_reader_new(from, "input", &err);
    struct slice_log_reader *second = slice_log_reader_new(copy, "copy", &err);
    expect(second != NULL);
    while (slice_log_read(second, &b, &err) > 0)
        expect(first && slice_log_read(first, &a, &err) > 0 && same(&a, &b));
    expect(slice_log_reader_complete(second) && (!first || slice_log_read(first, &a, &err) <= 0));
    slice_log_reader_free(first);
    slice_log_reader_free(second);
    fclose(from);
}

static void load(const struct file *f, const struct seen *seen)
{
    struct error err = {""};
    struct slice_log log;
    FILE *from = open_input(f);
    int code = slice_log_load(&log, from, "input", &err);
    expect(code == 0 || strncmp(err.text, "input ", 6) == 0);
    expect(log.slice_count == seen->slices && log.total_count == seen->totals && log.context_count == seen->contexts &&
           log.plan.event_count == seen->events && log.plan.group_count == seen->groups);
    slice_log_free(&log);
    fclose(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct file f = make_file(&slice_log_format.file, bytes, length);
    FILE *to, *back;
    open_pair(&to, &back);
    struct seen seen = copy_records(&f, to);
    rewind(back);
    compare(&f, back);
    load(&f, &seen);
    fclose(back);
    free(f.at);
    return 0;
}
