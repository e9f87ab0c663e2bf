/* Profiles on disk: what was written is read back, and errors are reported. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "profile_fixture.h"

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 10, 100, 1000, 20000};
    static const size_t flushes[] = {0, 1, 3, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof flushes / sizeof *flushes; j++) {
            struct list l = any_records(i + 1, sizes[i]);
            struct bytes b = write_profile(&l, flushes[j]);
            struct reading got = read_profile(b.at, b.length, &l);
            assert_string_equal(got.err.text, "");
            assert_int_equal(got.result, 0);
            assert_int_equal(got.records, sizes[i]);
            assert_true(got.complete);
            free(b.at);
            free_list(&l);
        }
}

static void a_sample_takes_few_bytes(void **state)
{
    (void)state;
    enum { SAMPLES = 50000 };
    struct random random;
    random_seed(&random, 1);
    struct list l = {calloc(SAMPLES, sizeof *l.record), NULL, SAMPLES};
    assert_non_null(l.record);
    l.record[0] = (struct profile_record){.kind = PROFILE_EVENT, .event = {0, "cycles", 100000, true}};
    for (unsigned i = 1; i < SAMPLES; i++) {
        uint64_t pc = 0x10000 + 2 * ((uint64_t)below(&random, 1 + below(&random, 100000)));
        struct profile_sample s = {.weight = 100000, .pc = pc, .cycle = i * UINT64_C(100000) + below(&random, 10000)};
        l.record[i] = (struct profile_record){.kind = PROFILE_SAMPLE, .sample = s};
    }
    struct bytes b = write_profile(&l, 0);
    assert_true(b.length < 10 * SAMPLES);
    assert_int_equal(read_profile(b.at, b.length, &l).records, SAMPLES);
    free(b.at);
    free(l.record);
}

static void a_string_that_is_too_long_is_cut_between_characters(void **state)
{
    (void)state;
    struct error err = {""};
    struct profile_record r;
    FILE *file;
    char *name = malloc(40002), *value = malloc(40002);
    assert_true(name && value);
    for (unsigned i = 0; i < 40000; i += 2)
        memcpy(name + i, "\xc3\xa4", 2);
    memset(value, 'x', 40001);
    name[40000] = value[40001] = '\0';
    struct profile_writer *w = open_writer(&file);
    for (unsigned i = 0; i < 5; i++) /* more than a block */
        profile_write(w, &(struct profile_record){.kind = PROFILE_INFO, .info = {name, value}});
    assert_int_equal(profile_writer_close(w, &err), 0);
    rewind(file);
    struct profile_reader *reader = profile_reader_new(file, "FILE", &err);
    assert_non_null(reader);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(profile_read(reader, &r, &err), 1);
        assert_int_equal(strlen(r.info.name), RECORD_STRING_MOST - 1);
        assert_memory_equal(r.info.name, name, RECORD_STRING_MOST - 1);
        assert_int_equal(strlen(r.info.value), RECORD_STRING_MOST);
        assert_memory_equal(r.info.value, value, RECORD_STRING_MOST);
    }
    assert_int_equal(profile_read(reader, &r, &err), 0);
    profile_reader_free(reader);
    fclose(file);
    free(name);
    free(value);
}

/* ---- the writer's troubles */

static void a_full_disk_is_reported_at_the_end(void **state)
{
    (void)state;
    struct error err = {""};
    struct list l = any_records(7, 20000);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    struct profile_writer *w = profile_writer_new(full, &err);
    assert_non_null(w);
    for (size_t i = 0; i < l.count; i++)
        profile_write(w, &l.record[i]);
    assert_string_equal(err.text, "");
    assert_int_equal(profile_writer_close(w, &err), -ENOSPC);
    assert_string_equal(err.text, "the profile cannot be written: No space left on device");
    free_list(&l);
}

/* The first write beyond the limit is a short one. */
static void what_fits_on_a_full_disk_is_read(void **state)
{
    (void)state;
    struct error err = {""};
    struct rlimit before, limit;
    struct list l = any_records(8, 20000);
    FILE *file;
    struct profile_writer *w = open_writer(&file);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){150000, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (size_t i = 0; i < l.count; i++)
        profile_write(w, &l.record[i]);
    int code = profile_writer_close(w, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(code, -EFBIG);
    assert_string_equal(err.text, "the profile cannot be written: File too large");
    struct bytes b = contents(file);
    assert_int_equal(b.length, 150000);
    struct reading got = read_profile(b.at, b.length, &l);
    assert_int_equal(got.result, 0);
    assert_true(got.records > 1000 && got.records < l.count && !got.complete);
    free(b.at);
    free_list(&l);
}

static void a_run_that_failed_leaves_all_records_but_no_end(void **state)
{
    (void)state;
    struct list l = any_records(9, 100);
    FILE *file;
    struct profile_writer *w = open_writer(&file);
    for (size_t i = 0; i < l.count; i++)
        profile_write(w, &l.record[i]);
    profile_writer_abandon(w);
    struct bytes b = contents(file);
    struct reading got = read_profile(b.at, b.length, &l);
    assert_int_equal(got.result, 0);
    assert_int_equal(got.records, 100);
    assert_false(got.complete);
    free(b.at);
    free_list(&l);
}

/* The child may record further and close the profile, or only exit. */
static void a_forked_child_writes_nothing(void **state)
{
    (void)state;
    struct error err = {""};
    struct list l = any_records(10, 6000);
    FILE *file;
    struct profile_writer *w = open_writer(&file);
    for (size_t i = 0; i < l.count; i++) {
        profile_write(w, &l.record[i]);
        if (i % 2000 != 1000)
            continue;
        pid_t child = fork();
        if (child == 0) {
            for (size_t j = i + 1; i < 4000 && j < l.count; j++)
                profile_write(w, &l.record[j]);
            if (i < 4000 && profile_writer_close(w, &err) != 0)
                _exit(1);
            fclose(file);
            fflush(NULL);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_int_equal(profile_writer_close(w, &err), 0);
    struct bytes b = contents(file);
    struct reading got = read_profile(b.at, b.length, &l);
    assert_string_equal(got.err.text, "");
    assert_int_equal(got.records, 6000);
    assert_true(got.complete);
    free(b.at);
    free_list(&l);
}

static void a_record_that_no_reader_would_take_is_not_written(void **state)
{
    (void)state;
    static const struct profile_record wrong[] = {
        {.kind = PROFILE_END},
        {.kind = PROFILE_RECORD_KINDS},
        {.kind = PROFILE_EVENT, .event = {.event = 2, .name = "late"}},
        {.kind = PROFILE_CHAIN, .chain = {.chain = 2}},
        {.kind = PROFILE_CHAIN, .chain = {.chain = 1, .parent = 1}},
        {.kind = PROFILE_SAMPLE, .sample = {.event = 1}},
        {.kind = PROFILE_SAMPLE, .sample = {.chain = 1}},
        {.kind = PROFILE_SAMPLE, .sample = {.flags = 128}},
        {.kind = PROFILE_SAMPLE, .sample = {.outcome = PROFILE_OUTCOME_MOST + 1}},
        {.kind = PROFILE_PAIR},
        {.kind = PROFILE_TOTAL, .total = {.event = 1}},
        {.kind = PROFILE_MAP, .map = {.start = 1, .length = UINT64_MAX, .path = "x"}},
    };
    struct list l = any_records(1, 1); /* an event */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error err = {""};
        FILE *file;
        struct profile_writer *w = open_writer(&file);
        profile_write(w, &l.record[0]);
        profile_writer_flush(w);
        profile_write(w, &wrong[i]);
        assert_int_equal(profile_writer_close(w, &err), -EINVAL);
        assert_memory_equal(err.text, "the profile cannot be written: ", 31);
        struct bytes b = contents(file);
        struct reading got = read_profile(b.at, b.length, &l);
        assert_true(got.records == 1 && got.result == 0 && !got.complete);
        free(b.at);
    }
    free_list(&l);
}

static void a_sample_has_one_second(void **state)
{
    (void)state;
    struct error err = {""};
    FILE *file;
    struct list l = any_records(1, 1); /* an event */
    struct profile_writer *w = open_writer(&file);
    profile_write(w, &l.record[0]);
    profile_write(w, &(struct profile_record){.kind = PROFILE_SAMPLE});
    profile_write(w, &(struct profile_record){.kind = PROFILE_CHAIN, .chain = {.chain = 1}});
    profile_writer_flush(w);
    profile_write(w, &(struct profile_record){.kind = PROFILE_PAIR, .sample = {.chain = 1}});
    profile_write(w, &(struct profile_record){.kind = PROFILE_PAIR});
    assert_int_equal(profile_writer_close(w, &err), -EINVAL);
    assert_string_equal(err.text, "the profile cannot be written: a second sample of a pair without the first");
    fclose(file);
    free_list(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_sample_takes_few_bytes),
        cmocka_unit_test(a_string_that_is_too_long_is_cut_between_characters),
        cmocka_unit_test(a_full_disk_is_reported_at_the_end),
        cmocka_unit_test(what_fits_on_a_full_disk_is_read),
        cmocka_unit_test(a_run_that_failed_leaves_all_records_but_no_end),
        cmocka_unit_test(a_forked_child_writes_nothing),
        cmocka_unit_test(a_record_that_no_reader_would_take_is_not_written),
        cmocka_unit_test(a_sample_has_one_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
