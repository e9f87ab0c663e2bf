/* Slice logs: what was written comes back; those that are cut off, damaged or made up get one sentence, and never give
 * a record that was not written. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "block_fixture.h"
#include "sampler/slice_log_format.h"

/* Records as they go in; strings are those of `text`. */
struct list {
    struct slice_log_record *record;
    char (*text)[2][NAME_ROOM]; /* of each record */
    size_t count;
};

/* ---- records */

enum { GROUPS = 3, CONTEXTS = 2 };
static const uint32_t group_counts[GROUPS] = {2, 28, 0};

/* A plan of three groups: the first records. `i` counts them. */
static struct slice_log_record plan_record(struct random *random, size_t i)
{
    uint32_t place;
    if (i == 0)
        return (struct slice_log_record){.kind = LOG_PLAN,
                                         .plan = {.slots = 2 * GROUPS,
                                                  .clock = below(random, 2),
                                                  .slice = 1 + (any_u64(random) >> 1),
                                                  .first_slice = below(random, 2),
                                                  .seed = any_u64(random),
                                                  .fixed_order = below(random, 2),
                                                  .least = below(random, 2)}};
    i--;
    if (i < GROUPS)
        return (struct slice_log_record){
            .kind = LOG_GROUP,
            .group = {(uint32_t)i, {.share = 1 + below(random, 2), .counts = group_counts[i], .clock = 28}}};
    i -= GROUPS;
    struct slice_log_event e = {.number = (uint32_t)i, .text = ""};
    place = (uint32_t)(i < 2 ? i : i - 2);
    e.event = (struct plan_event){any_u64(random), i < 2 ? 0 : 1, place, place};
    if (i == 30)
        e.event = (struct plan_event){any_u64(random), PLAN_ALWAYS, CLOCK_INSNS, UINT32_MAX};
    return (struct slice_log_record){.kind = LOG_EVENT, .event = e};
}

enum { EVENTS = 31, PLAN_RECORDS = 1 + GROUPS + EVENTS + CONTEXTS };

static struct slice_log_record any_slice(struct random *random, uint32_t round)
{
    struct slice s = {.context = below(random, CONTEXTS), .group = below(random, GROUPS + 1), .round = round};
    s.cycles = any_u64(random);
    s.insns = any_u64(random);
    for (unsigned i = 0; s.group < GROUPS && i < group_counts[s.group]; i++)
        s.count[i] = any_u64(random);
    if (s.group == GROUPS)
        s.group = SLICE_IDLE;
    return (struct slice_log_record){.kind = LOG_SLICE, .slice = s};
}

/* Right as a whole: a plan, then records of all kinds that may follow. */
static struct list any_records(uint64_t seed, size_t more)
{
    struct random random;
    size_t count = PLAN_RECORDS + more;
    uint32_t round = 0, contexts = CONTEXTS;
    struct list l = {calloc(count, sizeof *l.record), calloc(count, sizeof *l.text), count};
    assert_true(l.record && l.text);
    random_seed(&random, seed);
    for (size_t i = 0; i < count; i++) {
        struct slice_log_record *r = &l.record[i];
        const char *name = any_string(&random, l.text[i][0]), *value = any_string(&random, l.text[i][1]);
        if (i < PLAN_RECORDS - CONTEXTS) {
            *r = plan_record(&random, i);
            if (r->kind == LOG_EVENT)
                r->event.text = name;
            continue;
        }
        round += below(&random, 4) == 0;
        unsigned kind = i < PLAN_RECORDS ? 0 : below(&random, 20);
        if (kind == 0 && i >= PLAN_RECORDS - CONTEXTS && i < PLAN_RECORDS)
            *r = (struct slice_log_record){.kind = LOG_CONTEXT,
                                           .context = {(uint32_t)(i - PLAN_RECORDS + CONTEXTS), name}};
        else if (kind == 0)
            *r = (struct slice_log_record){.kind = LOG_CONTEXT, .context = {contexts++, name}};
        else if (kind == 1)
            *r = (struct slice_log_record){.kind = LOG_INFO, .info = {name, value}};
        else if (kind == 2)
            *r = (struct slice_log_record){
                .kind = LOG_TOTAL, .total = {below(&random, contexts), below(&random, EVENTS), any_u64(&random)}};
        else
            *r = any_slice(&random, round);
        if (i + 1 == count && more > 0)
            *r = (struct slice_log_record){
                .kind = LOG_EXIT,
                .exit = {below(&random, contexts), (int32_t)any_u32(&random), any_u64(&random), any_u64(&random)}};
    }
    return l;
}

static void free_list(struct list *l)
{
    free(l->record);
    free(l->text);
}

static void assert_same(const struct slice_log_record *a, const struct slice_log_record *b)
{
    assert_int_equal(a->kind, b->kind);
    switch (a->kind) {
    case LOG_INFO:
        assert_string_equal(a->info.name, b->info.name);
        assert_string_equal(a->info.value, b->info.value);
        break;
    case LOG_PLAN:
        assert_true(a->plan.slots == b->plan.slots && a->plan.clock == b->plan.clock &&
                    a->plan.slice == b->plan.slice && a->plan.seed == b->plan.seed);
        assert_true(a->plan.first_slice == b->plan.first_slice);
        assert_true(a->plan.fixed_order == b->plan.fixed_order && a->plan.least == b->plan.least);
        break;
    case LOG_GROUP: assert_memory_equal(&a->group, &b->group, sizeof a->group); break;
    case LOG_EVENT:
        assert_int_equal(a->event.number, b->event.number);
        assert_string_equal(a->event.text, b->event.text);
        assert_true(a->event.event.code == b->event.event.code && a->event.event.group == b->event.event.group &&
                    a->event.event.place == b->event.event.place && a->event.event.counter == b->event.event.counter);
        break;
    case LOG_CONTEXT:
        assert_int_equal(a->context.number, b->context.number);
        assert_string_equal(a->context.program, b->context.program);
        break;
    case LOG_SLICE:
        assert_true(a->slice.context == b->slice.context && a->slice.group == b->slice.group &&
                    a->slice.round == b->slice.round);
        assert_true(a->slice.cycles == b->slice.cycles && a->slice.insns == b->slice.insns);
        assert_memory_equal(a->slice.count, b->slice.count, sizeof a->slice.count);
        break;
    case LOG_TOTAL: assert_memory_equal(&a->total, &b->total, sizeof a->total); break;
    default: assert_memory_equal(&a->exit, &b->exit, sizeof a->exit); break;
    }
}

/* ---- files */

static struct slice_log_writer *open_writer(FILE **file)
{
    struct error err;
    FILE *to = tmpfile();
    assert_non_null(to);
    *file = twin(to);
    struct slice_log_writer *w = slice_log_writer_new(to, &err);
    assert_non_null(w);
    return w;
}

/* Written with a block for every `flush` records; 0: as the writer likes. */
static struct bytes write_log(const struct list *l, size_t flush)
{
    struct error err = {""};
    FILE *file;
    struct slice_log_writer *w = open_writer(&file);
    for (size_t i = 0; i < l->count; i++) {
        slice_log_write(w, &l->record[i]);
        if (flush != 0 && i % flush == flush - 1)
            slice_log_writer_flush(w);
    }
    assert_int_equal(slice_log_writer_close(w, &err), 0);
    assert_string_equal(err.text, "");
    return contents(file);
}

struct reading {
    size_t records; /* all of them those of the list */
    int result;     /* of the last call */
    bool complete;
    struct error err;
};

static struct reading read_log(const uint8_t *bytes, size_t length, const struct list *want)
{
    struct reading got = {0, -1, false, {""}};
    struct slice_log_record r;
    uint8_t *copy;
    FILE *from = open_bytes(bytes, length, &copy);
    struct slice_log_reader *reader = slice_log_reader_new(from, "FILE", &got.err);
    if (reader) {
        while ((got.result = slice_log_read(reader, &r, &got.err)) > 0) {
            assert_true(got.records < want->count);
            assert_same(&r, &want->record[got.records++]);
        }
        assert_int_equal(slice_log_read(reader, &r, &got.err), got.result); /* it stays so */
        got.complete = slice_log_reader_complete(reader);
    }
    assert_int_equal(got.result < 0, strncmp(got.err.text, "FILE ", 5) == 0);
    slice_log_reader_free(reader);
    fclose(from);
    free(copy);
    return got;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 10, 100, 5000};
    static const size_t flushes[] = {0, 1, 3, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof flushes / sizeof *flushes; j++) {
            struct list l = any_records(i + 1, sizes[i]);
            struct bytes b = write_log(&l, flushes[j]);
            struct reading got = read_log(b.at, b.length, &l);
            assert_string_equal(got.err.text, "");
            assert_int_equal(got.result, 0);
            assert_int_equal(got.records, l.count);
            assert_true(got.complete);
            free(b.at);
            free_list(&l);
        }
}

/* Those of slices of 200,000 cycles that count four events. */
static void a_slice_takes_few_bytes(void **state)
{
    (void)state;
    enum { SLICES = 20000 };
    struct random random;
    struct error err = {""};
    FILE *file;
    random_seed(&random, 1);
    struct slice_log_writer *w = open_writer(&file);
    struct plan_group groups[4];
    struct plan_event plan_events[16];
    struct event_spec specs[16];
    for (uint32_t i = 0; i < 16; i++) {
        groups[i % 4] = (struct plan_group){1, 4, 4};
        plan_events[i] = (struct plan_event){i, i / 4, i % 4, i % 4};
        specs[i].text = (char *)"loads";
    }
    const struct plan plan = {
        .event = plan_events, .event_count = 16, .group = groups, .group_count = 4, .slots = 4, .slice = 200000};
    slice_log_write_plan(w, &plan, &(struct event_specs){specs, 16});
    slice_log_write(w, &(struct slice_log_record){.kind = LOG_CONTEXT, .context = {0, "program"}});
    for (uint32_t i = 0; i < SLICES; i++) {
        struct slice s = {.group = i % 4, .round = i / 4, .cycles = 200000 + below(&random, 40)};
        s.insns = 150000 + below(&random, 10000);
        for (unsigned j = 0; j < 4; j++)
            s.count[j] = 1000 * j * j + below(&random, 100 * j + 1);
        slice_log_write(w, &(struct slice_log_record){.kind = LOG_SLICE, .slice = s});
    }
    assert_int_equal(slice_log_writer_close(w, &err), 0);
    struct bytes b = contents(file);
    assert_true(b.length < 16 * SLICES);
    free(b.at);
}

static void assert_loaded(const struct slice_log *log, const struct list *l)
{
    size_t info = 0, slice = 0, total = 0, context = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct slice_log_record *r = &l->record[i];
        struct slice_log_record got = {.kind = r->kind};
        switch (r->kind) {
        case LOG_INFO:
            got.info = (struct slice_log_info){log->info[info][0], log->info[info][1]};
            info++;
            break;
        case LOG_PLAN:
            got.plan = (struct slice_log_plan){.slots = log->plan.slots,
                                               .clock = (uint32_t)log->plan.clock,
                                               .slice = log->plan.slice,
                                               .first_slice = log->plan.first_slice,
                                               .seed = log->plan.seed,
                                               .fixed_order = log->plan.fixed_order,
                                               .least = log->plan.least};
            break;
        case LOG_GROUP: got.group = (struct slice_log_group){r->group.number, log->plan.group[r->group.number]}; break;
        case LOG_EVENT:
            got.event =
                (struct slice_log_event){r->event.number, log->text[r->event.number], log->plan.event[r->event.number]};
            break;
        case LOG_CONTEXT:
            got.context = (struct slice_log_context){r->context.number, log->context[context++].program};
            break;
        case LOG_SLICE: got.slice = log->slice[slice++]; break;
        case LOG_TOTAL: got.total = log->total[total++]; break;
        default:
            assert_true(log->context[r->exit.context].ended);
            got.exit = log->context[r->exit.context].exit;
            break;
        }
        assert_same(&got, r);
    }
    assert_true(info == log->info_count && slice == log->slice_count && total == log->total_count &&
                context == log->context_count);
}

static void a_log_can_be_loaded(void **state)
{
    (void)state;
    struct error err = {""};
    struct list l = any_records(11, 2000);
    struct bytes b = write_log(&l, 0);
    struct slice_log log;
    for (unsigned cut = 0; cut < 2; cut++) {
        uint8_t *copy;
        FILE *from = open_bytes(b.at, b.length - cut, &copy);
        assert_int_equal(slice_log_load(&log, from, "FILE", &err), 0);
        assert_int_equal(log.complete, !cut);
        assert_true(log.planned && log.plan.event_count == EVENTS && log.plan.group_count == GROUPS);
        if (!cut)
            assert_loaded(&log, &l);
        else
            assert_true(log.slice_count > 1000); /* all but the last block */
        assert_null(slice_log_info(&log, "no such name"));
        slice_log_free(&log);
        fclose(from);
        free(copy);
    }
    b.at[b.length / 2] ^= 1;
    uint8_t *copy;
    FILE *from = open_bytes(b.at, b.length, &copy);
    assert_int_equal(slice_log_load(&log, from, "FILE", &err), -EINVAL);
    assert_int_equal(strncmp(err.text, "FILE is damaged: block ", 23), 0);
    slice_log_free(&log);
    fclose(from);
    free(copy);
    free(b.at);
    free_list(&l);
}

/* ---- damage */

static void a_file_that_is_cut_off_is_read_up_to_there(void **state)
{
    (void)state;
    struct list l = any_records(5, 30);
    struct bytes b = write_log(&l, 7);
    size_t most = 0;
    for (size_t length = 0; length < b.length; length++) {
        struct reading got = read_log(b.at, length, &l);
        assert_int_equal(got.result < 0, length < BLOCK_FILE_HEADER_BYTES);
        assert_true(got.result < 0 || got.err.text[0] == '\0');
        assert_false(got.complete);
        assert_true(got.records >= most && got.records - most <= 7);
        most = got.records;
    }
    assert_true(most > l.count - 8); /* the last block, with the end, is whole only in the whole file */
    free(b.at);
    free_list(&l);
}

static void every_bit_that_flips_is_noticed(void **state)
{
    (void)state;
    struct list l = any_records(6, 24);
    struct bytes b = write_log(&l, 30);
    for (size_t bit = 0; bit < 8 * b.length; bit++) {
        b.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        struct reading got = read_log(b.at, b.length, &l);
        assert_true(got.result < 0 && !got.complete);
        b.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(read_log(b.at, b.length, &l).complete);
    free(b.at);
    free_list(&l);
}

static void expect_sentence(const uint8_t *bytes, size_t length, const char *want)
{
    static const struct list nothing;
    struct reading got = read_log(bytes, length, &nothing);
    assert_string_equal(got.err.text, want);
}

static void foreign_files_get_a_sentence(void **state)
{
    (void)state;
    uint8_t header[BLOCK_FILE_HEADER_BYTES] = {0};
    expect_sentence(header, 0, "FILE is not a Cyclescope slice log: it is empty");
    expect_sentence((const uint8_t *)"\177ELF", 4, "FILE is not a Cyclescope slice log");
    block_put_file_header(header, "\211CYCLES\n", 1); /* a profile */
    expect_sentence(header, sizeof header, "FILE is not a Cyclescope slice log");
    block_put_file_header(header, SLICE_LOG_MAGIC, SLICE_LOG_VERSION);
    expect_sentence(header, sizeof header, "");
    expect_sentence(header, 15, "FILE was cut off in its header: it contains no slice log");
    block_put_file_header(header, SLICE_LOG_MAGIC, SLICE_LOG_VERSION + 1);
    expect_sentence(header, sizeof header,
                    "FILE was written by a newer version of Cyclescope: its format is 3, the latest known is 2");
}

/* Records that are right as bytes: a plan of `good` and then one more, as the second block. */
struct wrong_record {
    const char *records;
    size_t length;
    const char *want;
};
#define WRONG(records, want)                                                                                           \
    {                                                                                                                  \
        records, sizeof(records) - 1, want                                                                             \
    }

/* A plan of 4 slots and slices of 100, a group of one event and share 2, its event, a program. */
static const struct slice_log_record good[] = {
    {.kind = LOG_PLAN, .plan = {.slots = 4, .slice = 100}},
    {.kind = LOG_GROUP, .group = {0, {.share = 2, .counts = 1, .clock = 3}}},
    {.kind = LOG_EVENT, .event = {0, "", {.code = 5, .group = 0, .place = 0, .counter = 1}}},
    {.kind = LOG_CONTEXT, .context = {0, ""}},
};
static const char good_bytes[] = "\1\5\4\x64\2\7\2\1\3\3\x16\5\1\1\4\0";

static const struct wrong_record wrong_records[] = {
    WRONG("\x09\x00", "a record of unknown kind"),
    WRONG("\1\5\4\x64", "a second plan"),
    WRONG("\2\4\1", "a group with an impossible share"),
    WRONG("\2\1\3", "a group with an impossible share"),
    WRONG("\2\3\1\x1d", "a group with too many events"),
    WRONG("\2\5\1\x1d", "a group with too many events"),
    WRONG("\3\4\2", "an event of a group that was not announced"),
    WRONG("\3\4\1", "an event without a place in its group"),
    WRONG("\3\x0c\1\1", "an event without a place in its group"),
    WRONG("\3\x08\2", "an event that cannot be counted always"),
    WRONG("\3\4\x80\x80\x80\x80\x10", "an event with a bad group"),
    WRONG("\5\1\1", "a slice of a program that was not announced"),
    WRONG("\5\2\2", "a slice of a group that was not announced"),
    WRONG("\5\2\xff\xff\xff\xff\x0f", "a slice of a group that was not announced"),
    WRONG("\5\4\1", "a slice with a bad round"),
    WRONG("\5\x42\1\2", "a slice with a count of no event"),
    WRONG("\5\x20\2", "a slice with a count of no event"),
    WRONG("\5\x80\x80\x80\x80\x80\x01", "a slice with a bad set of fields"),
    WRONG("\6\1\1", "a total of a program that was not announced"),
    WRONG("\6\2\1", "a total of an event that was not announced"),
    WRONG("\7\1\1", "an exit of a program that was not announced"),
    WRONG("\x08\1", "an end with a bad set of fields"),
};

static size_t pack_two(ZSTD_CCtx *z, uint8_t *file, const char *first, size_t first_bytes, const char *second,
                       size_t second_bytes)
{
    block_put_file_header(file, SLICE_LOG_MAGIC, SLICE_LOG_VERSION);
    size_t length = BLOCK_FILE_HEADER_BYTES;
    length += block_pack(z, file + length, 0, (const uint8_t *)first, first_bytes);
    return length + block_pack(z, file + length, 1, (const uint8_t *)second, second_bytes);
}

static void records_are_checked(void **state)
{
    (void)state;
    struct list want = {(struct slice_log_record *)good, NULL, 4};
    uint8_t file[600];
    char sentence[200];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_non_null(z);
    for (size_t i = 0; i < sizeof wrong_records / sizeof *wrong_records; i++) {
        const struct wrong_record *w = &wrong_records[i];
        size_t length = pack_two(z, file, good_bytes, sizeof good_bytes - 1, w->records, w->length);
        struct reading got = read_log(file, length, &want);
        snprintf(sentence, sizeof sentence, "FILE is damaged: block 1 has %s", w->want);
        assert_string_equal(got.err.text, sentence);
        assert_int_equal(got.result, -EINVAL);
        assert_int_equal(got.records, 4);
    }
    ZSTD_freeCCtx(z);
}

/* What is wrong only behind something else: all of it from the first record on. */
static const struct wrong_record wrong_orders[] = {
    WRONG("\1\0", "a plan without slices"),
    WRONG("\1\7\4\2\x64", "a plan with an unknown clock"),
    WRONG("\2\1\1", "a group out of place"),
    WRONG("\3\0", "an event out of place"),
    WRONG("\5\0", "a slice before the plan is complete"),
    WRONG("\1\5\4\x64\2\7\2\1\3\4\0\5\0", "a slice before the plan is complete"),
    WRONG("\1\5\4\x64\2\7\2\1\3\3\x14\1\3", "an event without a counter"),
    WRONG("\1\5\4\x64\2\7\2\1\3\3\x14\1\x1d", "an event without a counter"),
    WRONG("\1\5\4\x64\2\7\2\2\3\3\x14\1\1\3\x1c\1\1\1", "an event without a counter"),
    WRONG("\1\5\4\x64\2\1\2\4\0\5\4\4\5\6\1\2", "a slice of a round that is over"),
    WRONG("\1\5\4\x64\2\1\2\4\0\5\0\2\1\1", "a group out of place"),
    WRONG("\1\5\4\x64\2\1\2\4\0\5\0\3\0", "an event out of place"),
    WRONG("\4\0\7\0\7\0", "a second exit of a program"),
};

static void order_is_checked(void **state)
{
    (void)state;
    uint8_t file[600];
    char sentence[200];
    struct slice_log_record r;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_non_null(z);
    for (size_t i = 0; i < sizeof wrong_orders / sizeof *wrong_orders; i++) {
        const struct wrong_record *w = &wrong_orders[i];
        struct error err = {""};
        int result;
        block_put_file_header(file, SLICE_LOG_MAGIC, SLICE_LOG_VERSION);
        size_t length = BLOCK_FILE_HEADER_BYTES;
        length += block_pack(z, file + length, 0, (const uint8_t *)w->records, w->length);
        FILE *from = fmemopen(file, length, "r");
        assert_non_null(from);
        struct slice_log_reader *reader = slice_log_reader_new(from, "FILE", &err);
        assert_non_null(reader);
        while ((result = slice_log_read(reader, &r, &err)) > 0)
            ;
        snprintf(sentence, sizeof sentence, "FILE is damaged: block 0 has %s", w->want);
        assert_string_equal(err.text, sentence);
        assert_int_equal(result, -EINVAL);
        slice_log_reader_free(reader);
        fclose(from);
    }
    ZSTD_freeCCtx(z);
}

static void the_writer_refuses_what_cannot_be(void **state)
{
    (void)state;
    struct error err = {""};
    FILE *file;
    struct slice_log_writer *w = open_writer(&file);
    slice_log_write(w, &(struct slice_log_record){.kind = LOG_SLICE});
    assert_int_equal(slice_log_writer_close(w, &err), -EINVAL);
    assert_string_equal(err.text, "the slice log cannot be written: a slice before the plan is complete");
    fclose(file);
}

/* ---- a tool that is killed */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Writes slices for some time and is killed. Writes to `report_fd` how many it had written a second before that. */
static void write_until_killed(struct slice_log_writer *w, const struct list *l, int report_fd, double for_seconds)
{
    double begin = now();
    size_t early = 0;
    for (size_t i = 0; now() - begin < for_seconds; i++) {
        slice_log_write(w, &l->record[i]);
        if (now() - begin < for_seconds - 1.05)
            early = i + 1;
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    if (write(report_fd, &early, sizeof early) == sizeof early)
        raise(SIGKILL);
}

/* A kill loses no more than the last second. */
static void a_killed_tool_leaves_a_log(void **state)
{
    (void)state;
    struct list l = any_records(12, 2000);
    int pipes[2], status;
    size_t early = 0;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct slice_log_writer *w = slice_log_writer_new(twin(file), &(struct error){""});
        if (w)
            write_until_killed(w, &l, pipes[1], 1.5);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(read(pipes[0], &early, sizeof early), sizeof early);
    close(pipes[0]);
    close(pipes[1]);
    struct bytes b = contents(file);
    struct reading got = read_log(b.at, b.length, &l);
    assert_int_equal(got.result, 0);
    assert_false(got.complete);
    assert_true(early > 10 && got.records >= early);
    free(b.at);
    free_list(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_slice_takes_few_bytes),
        cmocka_unit_test(a_log_can_be_loaded),
        cmocka_unit_test(a_file_that_is_cut_off_is_read_up_to_there),
        cmocka_unit_test(every_bit_that_flips_is_noticed),
        cmocka_unit_test(foreign_files_get_a_sentence),
        cmocka_unit_test(records_are_checked),
        cmocka_unit_test(order_is_checked),
        cmocka_unit_test(the_writer_refuses_what_cannot_be),
        cmocka_unit_test(a_killed_tool_leaves_a_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
