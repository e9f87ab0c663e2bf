/* Profiles that are cut off, damaged, foreign or made up: one sentence, and never a record that was not written. */
#include <errno.h>

#include "profile_fixture.h"

static void a_file_that_is_cut_off_is_read_up_to_there(void **state)
{
    (void)state;
    struct list l = any_records(5, 40);
    struct bytes b = write_profile(&l, 7);
    size_t most = 0;
    for (size_t length = 0; length < b.length; length++) {
        struct reading got = read_profile(b.at, length, &l);
        assert_int_equal(got.result < 0, length < BLOCK_FILE_HEADER_BYTES);
        assert_true(got.result < 0 || got.err.text[0] == '\0');
        assert_false(got.complete);
        assert_true(got.records >= most && got.records - most <= 7);
        most = got.records;
    }
    assert_int_equal(most, 35); /* the last block, with the end, is whole only in the whole file */
    free(b.at);
    free_list(&l);
}

static void every_bit_that_flips_is_noticed(void **state)
{
    (void)state;
    struct list l = any_records(6, 24);
    struct bytes b = write_profile(&l, 8);
    for (size_t bit = 0; bit < 8 * b.length; bit++) {
        b.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        struct reading got = read_profile(b.at, b.length, &l);
        assert_true(got.result < 0 && !got.complete);
        b.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(read_profile(b.at, b.length, &l).complete);
    free(b.at);
    free_list(&l);
}

static void expect_sentence(const uint8_t *bytes, size_t length, const char *want)
{
    static const struct list nothing;
    struct reading got = read_profile(bytes, length, &nothing);
    assert_string_equal(got.err.text, want);
    assert_int_equal(got.result < 0, want[0] != '\0');
}

static void foreign_files_get_a_sentence(void **state)
{
    (void)state;
    uint8_t header[BLOCK_FILE_HEADER_BYTES];
    static const uint8_t elf[64] = "\177ELF\2\1\1", zeros[4096];
    expect_sentence(zeros, 0, "FILE is not a Cyclescope profile: it is empty");
    expect_sentence(zeros, 1, "FILE is not a Cyclescope profile");
    expect_sentence(zeros, sizeof zeros, "FILE is not a Cyclescope profile");
    expect_sentence(elf, sizeof elf, "FILE is not a Cyclescope profile");
    expect_sentence((const uint8_t *)"PERFILE2", 8, "FILE is not a Cyclescope profile");
    block_put_file_header(header, PROFILE_MAGIC, PROFILE_VERSION);
    expect_sentence(header, sizeof header, "");
    for (size_t i = 1; i < sizeof header; i++)
        expect_sentence(header, i, "FILE was cut off in its header: it contains no profile");
    block_put_file_header(header, PROFILE_MAGIC, 2);
    expect_sentence(header, sizeof header,
                    "FILE was written by a newer version of Cyclescope: its format is 2, the latest known is 1");
    block_put_file_header(header, PROFILE_MAGIC, 0);
    expect_sentence(header, sizeof header, "FILE has format 0, which is no longer supported");
    header[8] = 1;
    expect_sentence(header, sizeof header, "FILE is damaged: its header has a wrong checksum");

    struct error err = {""};
    FILE *folder = fopen("/", "r");
    assert_non_null(folder);
    assert_null(profile_reader_new(folder, "FILE", &err));
    assert_string_equal(err.text, "FILE cannot be read: Is a directory");
    fclose(folder);
}

/* Blocks that are right as blocks. */
static void blocks_are_checked(void **state)
{
    (void)state;
    uint8_t file[400], *block = file + BLOCK_FILE_HEADER_BYTES, *frame = block + BLOCK_HEADER_BYTES;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_non_null(z);
    static const uint8_t end[3] = {PROFILE_END, 0, PROFILE_END};
    block_put_file_header(file, PROFILE_MAGIC, PROFILE_VERSION);
    size_t length = BLOCK_FILE_HEADER_BYTES + block_pack(z, block, 0, end, 2), tail = length;
    expect_sentence(file, length, "");
    file[length] = 0;
    expect_sentence(file, length + 1, "FILE is damaged: data follows its last block, 0");
    file[--tail] ^= 1;
    expect_sentence(file, length, "FILE is damaged: block 0 has a wrong checksum");
    block[12] ^= 1;
    expect_sentence(file, length, "FILE is damaged: block 0 has a wrong checksum in its header");
    length = BLOCK_FILE_HEADER_BYTES + block_pack(z, block, 0, end, 3);
    expect_sentence(file, length, "FILE is damaged: block 0 has records after the end record");
    length = BLOCK_FILE_HEADER_BYTES + block_pack(z, block, 3, end, 2);
    expect_sentence(file, length, "FILE is damaged: block 3 is in the place of block 0");
    block[0] = 'C';
    block_put_u32(block + 16, block_checksum(block, 16));
    expect_sentence(file, length, "FILE is damaged: block 0 does not begin with a block mark");
    static const size_t impossible[][2] = {
        {0, 8}, {BLOCK_RAW_MOST + 1, 8}, {8, 0}, {8, BLOCK_FRAME_MOST + 1}, {UINT32_MAX, 8}};
    for (size_t i = 0; i < 5; i++) {
        block_seal(block, 0, impossible[i][0], 8);
        block_put_u32(block + 12, (uint32_t)impossible[i][1]);
        block_put_u32(block + 16, block_checksum(block, 16));
        expect_sentence(file, length, "FILE is damaged: block 0 has an impossible size");
    }
    size_t frame_bytes = ZSTD_compressCCtx(z, frame, 100, end, 2, 1);
    static const size_t wrong[] = {1, 3, BLOCK_RAW_MOST};
    for (size_t i = 0; i < 3; i++) {
        length = BLOCK_FILE_HEADER_BYTES + block_seal(block, 0, wrong[i], frame_bytes);
        expect_sentence(file, length, "FILE is damaged: block 0 does not decompress to its size");
    }
    ZSTD_freeCCtx(z);
}

/* `records` behind an event, as the second block; what the reader says behind "block 1 has ". */
struct wrong_record {
    const char *records;
    size_t length;
    const char *want;
};
#define WRONG(records, want)                                                                                           \
    {                                                                                                                  \
        records, sizeof(records) - 1, want                                                                             \
    }

static const struct wrong_record wrong_records[] = {
    WRONG("\x08\x00", "a record of unknown kind"),
    WRONG("\xff", "a record of unknown kind"),
    WRONG("\x04", "a sample with a bad set of fields"),
    WRONG("\x04\x80\x80\x02", "a sample with a bad set of fields"),
    WRONG("\x07\x01", "an end with a bad set of fields"),
    WRONG("\x04\x02", "a sample with a bad pc"),
    WRONG("\x04\x02\x80\x80", "a sample with a bad pc"),
    WRONG("\x04\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "a sample with a bad pc"),
    WRONG("\x04\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", "a sample with a bad pc"),
    WRONG("\x04\x02\x80\x00", "a sample with a bad pc"),
    WRONG("\x04\x01\x01", "a sample of an event that was not announced"),
    WRONG("\x04\x01\xff\xff\xff\xff\x0f", "a sample of an event that was not announced"),
    WRONG("\x04\x01\x80\x80\x80\x80\x10", "a sample with a bad event"),
    WRONG("\x04\x08\x02", "a sample with a call chain that was not announced"),
    WRONG("\x04\x08\x01", "a sample with a bad call chain"),
    WRONG("\x04\x40\x80\x01", "a sample with unknown flags"),
    WRONG("\x04\x80\x01\x80\x80\x04", "a sample with an unknown outcome"),
    WRONG("\x04\x80\x20\x80\x80\x80\x80\x10", "a sample with a bad distance"),
    WRONG("\x05\x00", "a second sample of a pair without the first"),
    WRONG("\x06\x01\x01", "a total of an event that was not announced"),
    WRONG("\x03\x01\x02", "a call chain whose caller was not announced"),
    WRONG("\x02\x03\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a mapping that ends before it begins"),
    WRONG("\x01\x04\x02", "an event with a bad kind"),
    WRONG("\x00\x01\x02"
          "ab",
          "a line of information with a bad name"),
    WRONG("\x00\x01\x02"
          "abc",
          "a line of information with a bad name"),
    WRONG("\x00\x01\x02"
          "a\0\0",
          "a line of information with a bad name"),
    WRONG("\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
          "a\0",
          "a line of information with a bad value"),
};

static void records_are_checked(void **state)
{
    (void)state;
    static const struct profile_record event = {.kind = PROFILE_EVENT, .event = {.name = ""}};
    static const uint8_t first[] = {PROFILE_EVENT, 0};
    struct list want = {(struct profile_record *)&event, NULL, 1};
    uint8_t file[400];
    char sentence[200];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_non_null(z);
    block_put_file_header(file, PROFILE_MAGIC, PROFILE_VERSION);
    size_t second = BLOCK_FILE_HEADER_BYTES;
    second += block_pack(z, file + second, 0, first, sizeof first);
    for (size_t i = 0; i < sizeof wrong_records / sizeof *wrong_records; i++) {
        const struct wrong_record *w = &wrong_records[i];
        size_t length = second + block_pack(z, file + second, 1, (const uint8_t *)w->records, w->length);
        struct reading got = read_profile(file, length, &want);
        snprintf(sentence, sizeof sentence, "FILE is damaged: block 1 has %s", w->want);
        assert_string_equal(got.err.text, sentence);
        assert_int_equal(got.result, -EINVAL);
        assert_int_equal(got.records, 1);
    }
    ZSTD_freeCCtx(z);
}

/* A block of 64 KB could announce 32768 events, each with values to be kept. */
static void events_are_bounded(void **state)
{
    (void)state;
    struct list l = any_records(1, 1);
    l.record = realloc(l.record, PROFILE_EVENTS_MOST * sizeof *l.record);
    assert_non_null(l.record);
    for (uint32_t i = 0; i < PROFILE_EVENTS_MOST; i++)
        l.record[i] = (struct profile_record){.kind = PROFILE_EVENT, .event = {.event = i, .name = ""}};
    l.count = PROFILE_EVENTS_MOST;
    uint8_t raw[2 * PROFILE_EVENTS_MOST + 2], file[2000];
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = i % 2 == 0 ? PROFILE_EVENT : 0;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_non_null(z);
    block_put_file_header(file, PROFILE_MAGIC, PROFILE_VERSION);
    size_t length = block_pack(z, file + BLOCK_FILE_HEADER_BYTES, 0, raw, sizeof raw);
    assert_true(length < sizeof file - BLOCK_FILE_HEADER_BYTES);
    struct reading got = read_profile(file, BLOCK_FILE_HEADER_BYTES + length, &l);
    assert_string_equal(got.err.text, "FILE is damaged: block 0 has one event too many");
    assert_int_equal(got.records, PROFILE_EVENTS_MOST);
    ZSTD_freeCCtx(z);
    free_list(&l);
}

/* A block could hold one of nearly 64 KB. */
static void strings_are_bounded(void **state)
{
    (void)state;
    static char raw[RECORD_STRING_MOST + 7]; /* information without a name, and its value */
    static uint8_t file[BLOCK_FILE_HEADER_BYTES + BLOCK_MOST];
    const char *most = "\x02\xff\x7f", *too_long = "\x02\x80\x80\x01";
    struct profile_record info = {.kind = PROFILE_INFO, .info = {"", raw + 4}};
    struct list want = {&info, NULL, 1};
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_non_null(z);
    memset(raw + 4, 'x', RECORD_STRING_MOST);
    memcpy(raw + 1, most, 3);
    block_put_file_header(file, PROFILE_MAGIC, PROFILE_VERSION);
    uint8_t *block = file + BLOCK_FILE_HEADER_BYTES;
    size_t length = block_pack(z, block, 0, (uint8_t *)raw, RECORD_STRING_MOST + 5);
    struct reading got = read_profile(file, BLOCK_FILE_HEADER_BYTES + length, &want);
    assert_string_equal(got.err.text, "");
    assert_int_equal(got.records, 1);
    memset(raw + 5, 'x', RECORD_STRING_MOST + 1);
    memcpy(raw + 1, too_long, 4);
    length = block_pack(z, block, 0, (uint8_t *)raw, sizeof raw);
    got = read_profile(file, BLOCK_FILE_HEADER_BYTES + length, &want);
    assert_string_equal(got.err.text, "FILE is damaged: block 0 has a line of information with a bad value");
    ZSTD_freeCCtx(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_cut_off_is_read_up_to_there),
        cmocka_unit_test(every_bit_that_flips_is_noticed),
        cmocka_unit_test(foreign_files_get_a_sentence),
        cmocka_unit_test(blocks_are_checked),
        cmocka_unit_test(records_are_checked),
        cmocka_unit_test(events_are_bounded),
        cmocka_unit_test(strings_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
