/* Profiles in the formats of other tools, and what those tools read in them if they are installed. */
#include <jansson.h>
#include <zlib.h>

#include "report/profile_export.h"
#include "report_world.h"

static const char *export(struct world *w, const char *name, unsigned first, unsigned last)
{
    struct error err;
    for (unsigned i = 0; i < PROFILE_EXPORTS; i++)
        if (strcmp(profile_exports[i].name, name) == 0)
            assert_int_equal(profile_exports[i].write(w->names, first, last, "0", open_text(w), &err), 0);
    return close_text(w);
}

/* ---- folded stacks */

static void folded_stacks_go_from_the_first_function_to_the_last(void **state)
{
    struct world *w = *state;
    open_usual(w);
    assert_string_equal(export(w, "folded", 0, 1), "_start 100\n"
                                                   "_start;work 200\n"
                                                   "_start;work;work 300\n"
                                                   "_start;work;work;leaf 600\n"
                                                   "_start;work;leaf 500\n"
                                                   "_start;leaf 300\n");
    assert_string_equal(export(w, "folded", 1, 1), "_start;work;leaf 60\n_start;leaf 20\n");
    close_profile(w);
}

/* ---- callgrind */

static void callgrind_has_instructions_calls_and_all_events(void **state)
{
    struct world *w = *state;
    char expected[2048];
    open_usual(w);
    snprintf(expected, sizeof expected,
             "# callgrind format\nversion: 1\ncreator: cyclescope 0\ncmd: %s \n"
             "desc: Numbers of calls are numbers of samples\npositions: instr line\n"
             "event: Cycles : cycles\nevent: L1dMissesU : l1d_misses:u\nevents: Cycles L1dMissesU\nsummary: 2000 80\n\n"
             "ob=(1) %s\nfl=(1) %s\nfn=(1) _start\n"
             "cob=(1)\ncfi=(1)\ncfn=(2) work\ncalls=22 0x1000c 10\n0x10000 5 1600 60\n"
             "cob=(1)\ncfi=(1)\ncfn=(3) leaf\ncalls=5 0x10020 17\n0x10004 6 300 20\n"
             "0x10008 7 100 0\n\n"
             "ob=(1)\nfl=(1)\nfn=(2)\n"
             "cob=(1)\ncfi=(1)\ncfn=(3)\ncalls=17 0x10020 17\n0x10010 11 1100 60\n"
             "cob=(1)\ncfi=(1)\ncfn=(2)\ncalls=1 0x1000c 10\n0x10014 12 0 0\n" /* within work already */
             "0x10018 13 500 0\n\n"
             "ob=(1)\nfl=(1)\nfn=(3)\n0x10020 17 900 80\n0x10024 18 500 0\n",
             w->program, w->program, w->source);
    assert_string_equal(export(w, "callgrind", 0, 1), expected);
    close_profile(w);
}

static void callgrind_names_events_apart(void **state)
{
    struct world *w = *state;
    begin(w);
    put_event(w, 0, "l1d_misses", 1);
    put_event(w, 1, "l1d:misses", 1);
    put_event(w, 2, "2nd", 1);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF, .weight = 1}, 1);
    load_names(w, true);
    assert_non_null(strstr(export(w, "callgrind", 0, 2), "\nevents: E0L1dMisses E1L1dMisses E22nd\n"));
    close_profile(w);
}

/* Inclusive costs as callgrind_annotate adds them up. */
static void callgrind_annotate_agrees(void **state)
{
    struct world *w = *state;
    char command[512], line[512], path[160];
    bool seen[3] = {false, false, false};
    static const char *const expected[3] = {"2,000 (100.0%) 80 (100.0%) :_start", "1,600 (80.00%) 60 (75.00%) :work",
                                            "1,400 (70.00%) 80 (100.0%) :leaf"};
    if (system("command -v callgrind_annotate >/dev/null") != 0)
        skip();
    open_usual(w);
    const char *text = export(w, "callgrind", 0, 1);
    snprintf(path, sizeof path, "%s/callgrind.out", w->folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command, "callgrind_annotate --inclusive=yes --auto=no %s 2>&1", path);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    while (fgets(line, sizeof line, from)) {
        char cycles[32], share[32], misses[32], miss_share[32], where[256], row[512];
        assert_null(strstr(line, "WARNING"));
        if (sscanf(line, " %31s %31s %31s %31s %255s", cycles, share, misses, miss_share, where) != 5)
            continue;
        const char *name = strrchr(where, ':');
        snprintf(row, sizeof row, "%s %s %s %s %s", cycles, share, misses, miss_share, name ? name : "");
        for (unsigned i = 0; i < 3; i++)
            seen[i] |= strcmp(row, expected[i]) == 0;
    }
    assert_int_equal(pclose(from), 0);
    for (unsigned i = 0; i < 3; i++)
        if (!seen[i])
            fail_msg("callgrind_annotate has no line '%s'", expected[i]);
    close_profile(w);
}

/* ---- speedscope */

static void speedscope_has_a_profile_for_each_event(void **state)
{
    struct world *w = *state;
    static const json_int_t sums[2] = {2000, 80};
    open_usual(w);
    json_t *root = json_loads(export(w, "speedscope", 0, 1), 0, NULL);
    assert_non_null(root);
    json_t *frames = json_object_get(json_object_get(root, "shared"), "frames");
    json_t *profiles = json_object_get(root, "profiles");
    assert_int_equal(json_array_size(profiles), 2);
    for (unsigned e = 0; e < 2; e++) {
        json_t *p = json_array_get(profiles, e), *samples = json_object_get(p, "samples");
        json_t *weights = json_object_get(p, "weights"), *value, *frame;
        json_int_t sum = 0;
        size_t i, k;
        assert_string_equal(json_string_value(json_object_get(p, "type")), "sampled");
        assert_string_equal(json_string_value(json_object_get(p, "name")), w->profile->event[e].name);
        assert_int_equal(json_array_size(samples), json_array_size(weights));
        json_array_foreach(weights, i, value) sum += json_integer_value(value);
        assert_int_equal(sum, sums[e]);
        assert_int_equal(json_integer_value(json_object_get(p, "endValue")), sums[e]);
        json_array_foreach(samples, i, value) json_array_foreach(value, k, frame)
            assert_true((size_t)json_integer_value(frame) < json_array_size(frames));
        json_t *root_frame = json_array_get(frames, json_integer_value(json_array_get(json_array_get(samples, 0), 0)));
        assert_string_equal(json_string_value(json_object_get(root_frame, "name")), "_start");
        assert_int_equal(json_integer_value(json_object_get(root_frame, "line")), 5);
    }
    json_decref(root);
    close_profile(w);
}

/* ---- pprof, read by the numbers of profile.proto */

struct bytes {
    const uint8_t *at, *end;
};

static uint64_t varint(struct bytes *b)
{
    uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(b->at < b->end && shift < 64);
        uint8_t byte = *b->at++;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return n;
    }
}

/* The next field: its number and, if it has bytes, these, else its value. 0 at the end. */
static unsigned field(struct bytes *b, uint64_t *value, struct bytes *inner)
{
    if (b->at == b->end)
        return 0;
    uint64_t key = varint(b);
    *value = varint(b);
    assert_true((key & 7) == 0 || (key & 7) == 2);
    if ((key & 7) == 2) {
        assert_true(*value <= (size_t)(b->end - b->at));
        *inner = (struct bytes){b->at, b->at + *value};
        b->at += *value;
    }
    return (unsigned)(key >> 3);
}

/* The value of a field within a message; 0 if it has none. */
static uint64_t number_in(struct bytes b, unsigned want)
{
    uint64_t value;
    struct bytes inner;
    for (unsigned f; (f = field(&b, &value, &inner)) != 0;)
        if (f == want)
            return value;
    return 0;
}

static struct bytes message_in(struct bytes b, unsigned want)
{
    uint64_t value;
    struct bytes inner = {NULL, NULL};
    for (unsigned f; (f = field(&b, &value, &inner)) != 0;)
        if (f == want)
            return inner;
    return (struct bytes){NULL, NULL};
}

/* The message of this field with this id, or the one of this place among them. */
static struct bytes find_message(struct bytes b, unsigned want, uint64_t id, bool by_id)
{
    uint64_t value, place = 0;
    struct bytes inner;
    for (unsigned f; (f = field(&b, &value, &inner)) != 0;)
        if (f == want && (by_id ? number_in(inner, 1) == id : place++ == id))
            return inner;
    fail_msg("field %u has no message %u", want, (unsigned)id);
    return b;
}

static void want_string(struct bytes b, uint64_t number, const char *text)
{
    struct bytes s = find_message(b, 6, number, false);
    assert_int_equal(s.end - s.at, strlen(text));
    assert_memory_equal(s.at, text, strlen(text));
}

static uint8_t *unzip(const char *text, size_t length, struct bytes *b)
{
    enum { ROOM = 1 << 16 };
    uint8_t *bytes = malloc(ROOM);
    z_stream z = {.next_in = (uint8_t *)text, .avail_in = (unsigned)length, .next_out = bytes, .avail_out = ROOM};
    assert_non_null(bytes);
    assert_int_equal(inflateInit2(&z, 16 + 15), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    *b = (struct bytes){bytes, z.next_out};
    inflateEnd(&z);
    return bytes;
}

/* Of a profile with two events. */
static void read_values(struct bytes sample, uint64_t values[2])
{
    struct bytes b = message_in(sample, 2);
    for (unsigned e = 0; e < 2; e++)
        values[e] = varint(&b);
    assert_true(b.at == b.end);
}

static void pprof_has_the_values_of_all_events(void **state)
{
    struct world *w = *state;
    struct bytes b, sample;
    uint64_t value, values[2], sums[2] = {0, 0};
    unsigned samples = 0;
    open_usual(w);
    export(w, "pprof", 0, 1);
    uint8_t *bytes = unzip(w->text, w->length, &b);
    want_string(b, 0, "");
    want_string(b, number_in(find_message(b, 1, 0, false), 1), "cycles");
    want_string(b, number_in(find_message(b, 1, 1, false), 1), "l1d_misses:u");
    want_string(b, number_in(find_message(b, 1, 1, false), 2), "count");
    want_string(b, number_in(b, 14), "cycles");
    assert_int_equal(number_in(b, 12), 100);
    struct bytes rest = b;
    for (unsigned f; (f = field(&rest, &value, &sample)) != 0;) {
        if (f != 2)
            continue;
        read_values(sample, values);
        sums[0] += values[0];
        sums[1] += values[1];
        samples++;
    }
    assert_int_equal(samples, 8); /* of nine cells, two are of one place and chain */
    assert_int_equal(sums[0], 2000);
    assert_int_equal(sums[1], 80);
    free(bytes);
    close_profile(w);
}

/* The sample with these values. */
static struct bytes find_sample(struct bytes b, uint64_t cycles, uint64_t misses)
{
    uint64_t value, values[2];
    struct bytes sample;
    for (unsigned f; (f = field(&b, &value, &sample)) != 0;) {
        if (f != 2)
            continue;
        read_values(sample, values);
        if (values[0] == cycles && values[1] == misses)
            return sample;
    }
    fail_msg("there is no sample of %u and %u", (unsigned)cycles, (unsigned)misses);
    return b;
}

/* Of leaf, called by work, called by _start. */
static void pprof_has_locations_from_the_last_to_the_first(void **state)
{
    static const struct {
        uint64_t address;
        const char *name;
        unsigned line;
    } stack[] = {{PC_LEAF, "leaf", 17}, {SITE_WORK_LEAF, "work", 11}, {SITE_START_WORK, "_start", 5}};
    struct world *w = *state;
    struct bytes b;
    open_usual(w);
    export(w, "pprof", 0, 1);
    uint8_t *bytes = unzip(w->text, w->length, &b);
    struct bytes locations = message_in(find_sample(b, 500, 60), 1);
    for (unsigned i = 0; i < 3; i++) {
        struct bytes location = find_message(b, 4, varint(&locations), true), line = message_in(location, 4);
        struct bytes mapping = find_message(b, 3, number_in(location, 2), true);
        struct bytes function = find_message(b, 5, number_in(line, 1), true);
        assert_int_equal(number_in(location, 3), stack[i].address);
        assert_int_equal(number_in(line, 2), stack[i].line);
        want_string(b, number_in(function, 2), stack[i].name);
        want_string(b, number_in(function, 4), w->source);
        want_string(b, number_in(mapping, 5), w->program);
        assert_true(number_in(mapping, 2) <= stack[i].address && stack[i].address < number_in(mapping, 3));
    }
    assert_true(locations.at == locations.end);
    free(bytes);
    close_profile(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_stacks_go_from_the_first_function_to_the_last),
        cmocka_unit_test(callgrind_has_instructions_calls_and_all_events),
        cmocka_unit_test(callgrind_names_events_apart),
        cmocka_unit_test(callgrind_annotate_agrees),
        cmocka_unit_test(speedscope_has_a_profile_for_each_event),
        cmocka_unit_test(pprof_has_the_values_of_all_events),
        cmocka_unit_test(pprof_has_locations_from_the_last_to_the_first),
    };
    return cmocka_run_group_tests_name("profile export", tests, make_world, remove_world);
}
