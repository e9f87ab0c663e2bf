/* Core files, settings and checks: the table is sound, good text is understood, bad text gets the right sentence. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/config_priv.h"
#include "core/cores.h"

static int parse(struct core_config *c, const char *text, struct error *err)
{
    err->text[0] = '\0';
    return core_config_parse(c, text, strlen(text), "cores/my.ini", err);
}

/* ---- the table */

static void every_parameter_is_sound(void **state)
{
    (void)state;
    struct core_config c;
    core_config_default(&c);
    assert_int_equal(core_param_count, CORE_PARAM_COUNT);
    for (size_t i = 0; i < core_param_count; i++) {
        const struct param *p = &core_params[i];
        char text[128];
        assert_ptr_equal(param_find(p->section, p->key), p); /* no two have the same name */
        assert_ptr_equal(param_at(p->offset), p);
        assert_true(strlen(p->help) > 0 && strchr(p->help, '\n') == NULL);
        if (p->type == PARAM_CHOICE) {
            param_text(&c, p, text, sizeof text);
            assert_string_equal(text, p->standard_name);
            continue;
        }
        assert_true(p->least < p->most);
        assert_in_range(p->standard, p->least, p->most);
        assert_int_equal(param_value(&c, p), p->standard);
    }
}

static void every_value_survives_its_text(void **state)
{
    (void)state;
    struct core_config c;
    core_config_default(&c);
    for (size_t i = 0; i < core_param_count; i++) {
        const struct param *p = &core_params[i];
        uint64_t values[] = {p->least, p->most, p->standard, p->least + 1};
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            struct core_config from, to;
            struct error err;
            char text[128], setting[192];
            core_config_default(&from);
            core_config_default(&to);
            if (p->type == PARAM_CHOICE)
                values[j] = p->choice(1) ? j % 2 : 0;
            memcpy((char *)&from + p->offset, &values[j], sizeof values[j]);
            param_text(&from, p, text, sizeof text);
            snprintf(setting, sizeof setting, "%s.%s=%s", p->section, p->key, text);
            assert_int_equal(core_config_set(&to, setting, &err), 0);
            assert_int_equal(param_value(&to, p), values[j]);
        }
    }
}

static void text_of_values(void **state)
{
    (void)state;
    struct core_config c;
    char text[64];
    core_config_default(&c);
    const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {{0, "0"},          {1, "1"},        {1000, "1000"},           {1536, "1536"},
                {24 << 10, "24K"}, {3 << 20, "3M"}, {UINT64_C(4) << 30, "4G"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        c.l2_size = rows[i].bytes;
        param_text(&c, param_find("l2", "size"), text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
    param_text(&c, param_find("l1d", "allocate"), text, sizeof text);
    assert_string_equal(text, "yes");
    param_range_text(param_find("issue", "order"), text, sizeof text);
    assert_string_equal(text, "out_of_order|in_order|in_order_serial");
    param_range_text(param_find("l1d", "size"), text, sizeof text);
    assert_string_equal(text, "0..4G");
    c.l1d_replacement = 99;
    param_text(&c, param_find("l1d", "replacement"), text, sizeof text);
    assert_string_equal(text, "?");
}

/* ---- the cores that come along */

static void every_core_reads_and_passes(void **state)
{
    (void)state;
    const char *name;
    unsigned count = 0;
    for (; (name = core_name(count)) != NULL; count++) {
        struct core_config c;
        struct error err = {""};
        char summary[160];
        if (core_config_read(&c, name, &err) != 0 || core_config_check(&c, &err) != 0)
            fail_msg("%s: %s", name, err.text);
        assert_string_equal(c.name, name);
        core_summary(core_text(name), summary, sizeof summary);
        assert_true(strlen(summary) > 10 && strlen(summary) < 120);
        if (count > 0)
            assert_true(strcmp(core_name(count - 1), name) < 0);
    }
    assert_true(count >= 9);
    assert_null(core_text("nothing"));
    assert_null(core_text(""));
}

static void the_default_core_is_eyerman2006(void **state)
{
    (void)state;
    struct core_config c, standard;
    struct error err;
    core_config_default(&standard);
    assert_int_equal(core_config_check(&standard, &err), 0);
    assert_int_equal(core_config_read(&c, "eyerman2006", &err), 0);
    for (size_t i = 0; i < core_param_count; i++)
        if (param_value(&c, &core_params[i]) != param_value(&standard, &core_params[i]))
            fail_msg("%s.%s differs from its default", core_params[i].section, core_params[i].key);
}

static void cores_are_what_they_are_named_for(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    assert_int_equal(core_config_read(&c, "ppc970-inorder", &err), 0);
    assert_int_equal(c.dispatch_bundle, 1);
    assert_int_equal(c.issue_order, ISSUE_IN_ORDER_SERIAL);
    assert_int_equal(c.l1i_size, 64 << 10);
    assert_int_equal(core_config_read(&c, "pentium", &err), 0);
    assert_int_equal(c.l2_size, 0);
    assert_int_equal(c.l1d_allocate, 0);
    assert_int_equal(c.bus_width, 8);
    assert_int_equal(core_config_read(&c, "pentium-pro", &err), 0);
    assert_int_equal(c.l2_size, 256 << 10);
    assert_int_equal(c.l1d_allocate, 1);
    assert_int_equal(c.l2_line / c.bus_width, 4);
}

/* ---- good text */

static void a_file_changes_what_it_names(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    assert_int_equal(parse(&c, "\xef\xbb\xbf; my core\r\n[l1d]\r\n  size = 32K ; more\n\tways=8# no comment\n", &err),
                     -EINVAL);
    assert_string_equal(err.text, "cores/my.ini:4: l1d.ways must be a number, not '8# no comment'");
    assert_int_equal(
        parse(&c, "\xef\xbb\xbf[l1d]\r\n  size = 32K ; more\n\tways=8 # and\n\n[issue]\norder: in_order", &err), 0);
    assert_string_equal(c.name, "my");
    assert_int_equal(c.l1d_size, 32 << 10);
    assert_int_equal(c.l1d_ways, 8);
    assert_int_equal(c.issue_order, ISSUE_IN_ORDER);
    assert_int_equal(c.rob_size, 128);
    assert_int_equal(parse(&c, "", &err), 0);
    assert_int_equal(c.l1d_size, 16 << 10);
}

static void a_base_comes_before_the_files_own_values(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    assert_int_equal(parse(&c, "base = modern\n[rob]\nsize = 256\n", &err), 0);
    assert_int_equal(c.rob_size, 256);
    assert_int_equal(c.l3_size, 32 << 20);
    assert_string_equal(c.name, "my");
}

static uint32_t counters_of(const struct core_config *c, const char *event)
{
    const struct counter_rule *r = rule_find(c, event);
    return r ? r->counters : 0;
}

static void events_may_be_bound_to_counters(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    char text[96];
    assert_int_equal(parse(&c, "[events]\nloads = 0, 1\nl1d_misses=28 ; the last\n[pmu]\ncounters = 2\n", &err), 0);
    assert_int_equal(c.rule_count, 2);
    assert_int_equal(counters_of(&c, "loads"), 3);
    assert_int_equal(counters_of(&c, "L1D_Misses"), 1 << 28);
    assert_int_equal(counters_of(&c, "load"), 0);
    assert_int_equal(c.pmu_counters, 2);
    assert_int_equal(core_config_set(&c, "events.loads = 2,2, 5", &err), 0);
    assert_int_equal(core_config_set(&c, "events.stores=3", &err), 0);
    assert_int_equal(c.rule_count, 3);
    assert_int_equal(counters_of(&c, "loads"), 1 << 2 | 1 << 5);
    assert_string_equal(c.rule[2].event, "stores");
    rule_origin_text(&c, rule_find(&c, "loads"), text, sizeof text);
    assert_string_equal(text, "--set events.loads=2,5");
    rule_origin_text(&c, rule_find(&c, "l1d_misses"), text, sizeof text);
    assert_string_equal(text, "cores/my.ini:3");
    assert_int_equal(core_config_check(&c, &err), 0);
}

static void a_base_binds_events_too(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    char text[96];
    assert_int_equal(parse(&c, "base = pentium-pro\n[events]\nstores = 1\n", &err), 0);
    assert_int_equal(counters_of(&c, "fp_instructions"), 1);
    assert_int_equal(counters_of(&c, "stores"), 2);
    rule_origin_text(&c, rule_find(&c, "fp_instructions"), text, sizeof text);
    assert_string_equal(text, "core my");
    assert_int_equal(parse(&c, "base = pentium-pro\n[events]\nfp_instructions = 0,1\n", &err), 0);
    assert_int_equal(counters_of(&c, "fp_instructions"), 3);
    assert_int_equal(c.rule_count, 1);
}

static void events_have_room_for_so_many(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    char setting[32];
    core_config_default(&c);
    for (unsigned i = 0; i < COUNTER_RULES; i++) {
        snprintf(setting, sizeof setting, "events.e%u=%u", i, i % CORE_COUNTERS);
        assert_int_equal(core_config_set(&c, setting, &err), 0);
    }
    struct core_config before = c;
    assert_int_equal(core_config_set(&c, "events.more=1", &err), -EINVAL);
    assert_string_equal(err.text, "--set events.more=1: [events] has room for 64 events");
    assert_memory_equal(&c, &before, sizeof c);
    assert_int_equal(core_config_set(&c, "events.e0=7", &err), 0);
    assert_int_equal(c.rule_count, COUNTER_RULES);
    assert_int_equal(counters_of(&c, "e0"), 1 << 7);
    assert_int_equal(counters_of(&c, "e63"), 1 << 63 % CORE_COUNTERS);
}

static void a_comment_may_be_long(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    char text[1000];
    memset(text, 'x', sizeof text);
    text[0] = ';';
    strcpy(text + 900, "\n[rob]\nsize = 64\n");
    assert_int_equal(parse(&c, text, &err), 0);
    assert_int_equal(c.rob_size, 64);
}

static void later_settings_win(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    assert_int_equal(parse(&c, "[rob]\nsize = 64\n", &err), 0);
    assert_int_equal(core_config_set(&c, "rob.size=32", &err), 0);
    assert_int_equal(core_config_set(&c, " rob.size = 16 ", &err), 0);
    assert_int_equal(c.rob_size, 16);
    assert_int_equal(core_config_set(&c, "perfect.l1d=on", &err), 0);
    assert_int_equal(c.perfect_l1d, 1);
}

static void a_file_is_found_by_its_path(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    char path[] = "/tmp/cyclescope-test-XXXXXX.ini", want[600];
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "[rob]\nsize = 1M\n", 16), 16);
    assert_int_equal(core_config_read(&c, path, &err), -EINVAL);
    snprintf(want, sizeof want, "%s:2: rob.size must be a number, not '1M'", path);
    assert_string_equal(err.text, want);
    assert_int_equal(pwrite(fd, "32", 2, 13), 2);
    assert_int_equal(ftruncate(fd, 15), 0);
    assert_int_equal(core_config_read(&c, path, &err), 0);
    assert_int_equal(c.rob_size, 32);
    assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
    assert_int_equal(core_config_read(&c, path, &err), -EFBIG);
    close(fd);
    unlink(path);
    assert_int_equal(core_config_read(&c, path, &err), -ENOENT);
    snprintf(want, sizeof want, "core file '%s': No such file or directory", path);
    assert_string_equal(err.text, want);
    assert_int_equal(core_config_read(&c, "/tmp", &err), -EISDIR);
    assert_int_equal(core_config_read(&c, "foo", &err), -ENOENT);
    assert_non_null(strstr(err.text, "there is no core 'foo': cores are eyerman2006, "));
    assert_non_null(strstr(err.text, ", or give a file"));
}

/* ---- bad text */

static void bad_files_get_a_sentence(void **state)
{
    (void)state;
    const struct {
        const char *text, *want;
    } rows[] = {
        {"\n[l1d]\nsise = 4K\n", "cores/my.ini:3: 'l1d.sise' is not a parameter; did you mean 'l1d.size'?"},
        {"[l1d]\nzzzzzzzz = 4K\n",
         "cores/my.ini:2: 'l1d.zzzzzzzz' is not a parameter; `cyclescope list params` names all"},
        {"[l1x]\n", "cores/my.ini:1: there is no section 'l1x'; did you mean 'l1i'?"},
        {"[]\n", "cores/my.ini:1: there is no section ''; `cyclescope list params` names all"},
        {"[l1d] size = 4K\n", "cores/my.ini:1: '[l1d] size = 4K' must be a section such as [l1d], alone on its line"},
        {"[l1d\n", "cores/my.ini:1: '[l1d' must be a section such as [l1d], alone on its line"},
        {"[l1d]\nsize = large\n", "cores/my.ini:2: l1d.size must be a size such as 32K, not 'large'"},
        {"[l1d]\nsize =\n", "cores/my.ini:2: l1d.size must be a size such as 32K, not ''"},
        {"[l1d]\nsize\n", "cores/my.ini:2: neither a section such as [l1d] nor 'key = value'"},
        {"[l1d]\nsize = 8G\n", "cores/my.ini:2: l1d.size must lie between 0 and 4G"},
        {"[l1d]\nsize = 4K\n\n[l1d]\nsize = 4K\n", "cores/my.ini:5: l1d.size is given twice, first in line 2"},
        {"size = 4K\n", "cores/my.ini:1: 'size' comes before any section such as [l1d]; only 'base = CORE' may"},
        {"[fetch]\nwidth = 17\n", "cores/my.ini:2: fetch.width must lie between 1 and 16"},
        {"[fetch]\nwidth = -1\n", "cores/my.ini:2: fetch.width must be a number, not '-1'"},
        {"[fetch]\nwidth = 99999999999999999999\n",
         "cores/my.ini:2: fetch.width must be a number, not '99999999999999999999'"},
        {"[l1d]\nallocate = maybe\n", "cores/my.ini:2: l1d.allocate must be yes or no, not 'maybe'"},
        {"[issue]\norder = none\n",
         "cores/my.ini:2: issue.order must be out_of_order, in_order or in_order_serial, not 'none'"},
        {"[events]\nloads = many\n",
         "cores/my.ini:2: events.loads must be numbers of counters from 0 to 28, such as 0,1, not 'many'"},
        {"[events]\n\nloads =\n",
         "cores/my.ini:3: events.loads must be numbers of counters from 0 to 28, such as 0,1, not ''"},
        {"[events]\nloads = 0,\n",
         "cores/my.ini:2: events.loads must be numbers of counters from 0 to 28, such as 0,1, not '0,'"},
        {"[events]\nloads = 0 1\n",
         "cores/my.ini:2: events.loads must be numbers of counters from 0 to 28, such as 0,1, not '0 1'"},
        {"[events]\nloads = -1\n",
         "cores/my.ini:2: events.loads must be numbers of counters from 0 to 28, such as 0,1, not '-1'"},
        {"[events]\nloads = 29\n",
         "cores/my.ini:2: events.loads must be numbers of counters from 0 to 28, such as 0,1, not '29'"},
        {"[events]\nloads = 4294967296\n",
         "cores/my.ini:2: events.loads must be numbers of counters from 0 to 28, such as 0,1, not '4294967296'"},
        {"[events]\nl1d_misses = 0\n\nL1D_misses = 1\n",
         "cores/my.ini:4: events.l1d_misses is given twice, first in line 2"},
        {"[events]\na-name-that-is-longer-than-any-event-has = 0\n",
         "cores/my.ini:2: there is no event 'a-name-that-is-longer-than-any-event-has'; `cyclescope list events` names "
         "all"},
        {"[pmu]\ncounters = 30\n", "cores/my.ini:2: pmu.counters must lie between 0 and 29"},
        {"base = modern\nbase = small\n", "cores/my.ini:2: base is given twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct core_config c;
        struct error err;
        assert_int_equal(parse(&c, rows[i].text, &err), -EINVAL);
        assert_string_equal(err.text, rows[i].want);
    }
}

static void what_is_no_text_is_no_core_file(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    char line[400];
    assert_int_equal(core_config_parse(&c, "[rob]\n\0", 7, "my.ini", &err), -EINVAL);
    assert_string_equal(err.text, "my.ini: not a core file: it contains a zero byte");
    memset(line, 'x', sizeof line);
    assert_int_equal(core_config_parse(&c, line, sizeof line, "my.ini", &err), -EINVAL);
    assert_non_null(strstr(err.text, "my.ini:1: the line is longer than "));
    assert_int_equal(parse(&c, "base = foo\n", &err), -EINVAL);
    assert_non_null(strstr(err.text, "cores/my.ini:1: there is no base core 'foo': cores are eyerman2006, "));
}

static void bad_settings_get_a_sentence(void **state)
{
    (void)state;
    const struct {
        const char *setting, *want;
    } rows[] = {
        {"fetch.width=0", "--set fetch.width=0: fetch.width must lie between 1 and 16"},
        {"l1d.sise=4K", "--set l1d.sise=4K: 'l1d.sise' is not a parameter; did you mean 'l1d.size'?"},
        {"width=4", "--set width=4: 'width' is not a parameter; `cyclescope list params` names all"},
        {"fetch.width", "--set fetch.width: must be section.key=value, such as l1d.size=32K"},
        {"", "--set : must be section.key=value, such as l1d.size=32K"},
        {"events.loads=x",
         "--set events.loads=x: events.loads must be numbers of counters from 0 to 28, such as 0,1, not 'x'"},
        {"events.=1", "--set events.=1: there is no event ''; `cyclescope list events` names all"},
        {"events=1", "--set events=1: 'events' is not a parameter; `cyclescope list params` names all"},
        {"mul.pipelined=2", "--set mul.pipelined=2: mul.pipelined must be yes or no, not '2'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct core_config c, before;
        struct error err;
        core_config_default(&c);
        before = c;
        assert_int_equal(core_config_set(&c, rows[i].setting, &err), -EINVAL);
        assert_string_equal(err.text, rows[i].want);
        assert_memory_equal(&c, &before, sizeof c);
    }
}

/* ---- values that do not fit together */

/* Up to three settings, and the sentence about them, or NULL if they are fine. */
static const struct check_row {
    const char *settings[3], *want;
} check_rows[] = {
    {{"l1d.size=24K", "l1d.line=64"},
     "--set l1d.line=64: l1d has 96 sets (24K / (4 ways x 64 bytes)): the number of sets must be a power of two"},
    {{"l1d.size=48K", "l1d.line=64", "l1d.ways=12"}, NULL},
    {{"l1d.size=1000"}, "--set l1d.size=1000: l1d.size (1000) must be a multiple of 4 ways x 32 bytes"},
    {{"l1i.size=1K", "l1i.ways=64"},
     "--set l1i.ways=64: l1i has no room for a set: 64 ways x 32 bytes are more than 1K"},
    {{"l1i.size=0"},
     "--set l1i.size=0: l1i.size must not be 0: every core has this cache (perfect.l1i makes it always "
     "hit)"},
    {{"l2.size=4G", "l2.line=128"},
     "--set l2.line=128: l2 has 33554432 lines (4G / 128 bytes): at most 16777216 can be "
     "simulated"},
    {{"l1d.line=48"}, "--set l1d.line=48: l1d.line (48) must be a power of two"},
    {{"l1d.line=128"}, "--set l1d.line=128: l1d.line (128) must not exceed l2.line (64)"},
    {{"l2.size=0", "l1d.line=128"}, NULL},
    {{"l2.line=128", "l3.size=4M"}, "--set l3.size=4M: l2.line (128) must not exceed l3.line (64)"},
    {{"l3.size=4M", "l2.size=0"}, "--set l2.size=0: there is an l3 (l3.size is not 0), but no l2 (l2.size is 0)"},
    {{"l3.prefetch=stride"},
     "--set l3.prefetch=stride: l3.prefetch is stride, but there is no such cache (l3.size is 0)"},
    {{"tlb.page=12K"}, "--set tlb.page=12K: tlb.page (12K) must be a power of two"},
    {{"bus.width=12"}, "--set bus.width=12: bus.width (12) must be a power of two"},
    {{"itlb.entries=96"},
     "--set itlb.entries=96: itlb has 24 sets (96 entries / 4 ways): the number of sets must be a power of two"},
    {{"dtlb.entries=2"}, "--set dtlb.entries=2: dtlb.ways (4) must not exceed dtlb.entries (2)"},
    {{"dtlb.entries=6"}, "--set dtlb.entries=6: dtlb.entries (6) must be a multiple of dtlb.ways (4)"},
    {{"dtlb.entries=0", "itlb.entries=0"}, NULL},
    {{"branch.btb_entries=1000"},
     "--set branch.btb_entries=1000: the BTB has 250 sets (1000 entries / 4 ways): the "
     "number of sets must be a power of two"},
    {{"branch.btb_entries=0"}, NULL},
    {{"branch.gshare_bits=10"},
     "--set branch.gshare_bits=10: branch.history_bits (12) must not exceed branch.gshare_bits (10)"},
    {{"branch.tage_max_history=5"},
     "--set branch.tage_max_history=5: branch.tage_min_history (5) must be less than "
     "branch.tage_max_history (5)"},
    {{"branch.tage_max_history=8"},
     "--set branch.tage_max_history=8: 7 tables of TAGE need as many lengths of history, "
     "but from branch.tage_min_history to branch.tage_max_history there are 4"},
    {{"branch.tage_max_history=11"}, NULL},
    {{"lsq.loads=65"}, "--set lsq.loads=65: lsq.loads (65) must not exceed lsq.size (64)"},
    {{"lsq.loads=65", "lsq.size=0"}, NULL},
    {{"iq.fp=20", "iq.size=10"}, "--set iq.size=10: iq.fp (20) must not exceed iq.size (10)"},
    {{"dispatch.bundle=4", "rob.size=3"}, "--set rob.size=3: dispatch.bundle (4) must not exceed rob.size (3)"},
    {{"dispatch.bundle=5"}, "--set dispatch.bundle=5: dispatch.bundle (5) must not exceed dispatch.width (4)"},
    {{"dispatch.bundle=4", "lsq.stores=2"}, "--set lsq.stores=2: dispatch.bundle (4) must not exceed lsq.stores (2)"},
    {{"dispatch.bundle=4", "issue.order=in_order_serial"},
     "--set issue.order=in_order_serial: issue.order in_order_serial needs a dispatch.bundle of 0 or 1, not 4: "
     "instructions of a bundle would wait for each other's commit"},
    {{"issue.order=in_order_serial"}, NULL},
    {{"rename.int_regs=31"},
     "--set rename.int_regs=31: rename.int_regs (31) must be 0 or at least 32: 31 architectural "
     "registers and 1 for what dispatches at once"},
    {{"rename.fp_regs=35", "dispatch.bundle=4"},
     "--set dispatch.bundle=4: rename.fp_regs (35) must be 0 or at least 36: 32 architectural registers and 4 for what "
     "dispatches at once"},
    {{"rename.int_regs=32", "rename.fp_regs=33"}, NULL},
};

static void misfits_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof check_rows / sizeof *check_rows; i++) {
        const struct check_row *row = &check_rows[i];
        struct core_config c;
        struct error err = {""};
        core_config_default(&c);
        for (size_t j = 0; j < 3 && row->settings[j]; j++)
            assert_int_equal(core_config_set(&c, row->settings[j], &err), 0);
        int code = core_config_check(&c, &err);
        assert_string_equal(err.text, row->want ? row->want : "");
        assert_int_equal(code, row->want ? -EINVAL : 0);
    }
}

static void the_latest_of_the_values_is_blamed(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    const char *rest = "l1d has 96 sets (24K / (4 ways x 64 bytes)): the number of sets must be a power of two";
    char want[256];
    assert_int_equal(parse(&c, "[l1d]\nline = 64\n\nsize = 24K\n[rob]\nsize = 64\n", &err), 0);
    assert_int_equal(core_config_check(&c, &err), -EINVAL);
    snprintf(want, sizeof want, "cores/my.ini:4: %s", rest);
    assert_string_equal(err.text, want);
    assert_int_equal(core_config_set(&c, "l1d.ways=4", &err), 0);
    assert_int_equal(core_config_check(&c, &err), -EINVAL);
    snprintf(want, sizeof want, "--set l1d.ways=4: %s", rest);
    assert_string_equal(err.text, want);
    core_config_default(&c);
    c.rob_size = 0;
    assert_int_equal(core_config_check(&c, &err), -EINVAL);
    assert_string_equal(err.text, "core default: rob.size must be in 1..2048, not 0");
    core_config_default(&c);
    c.l1d_write = 2;
    assert_int_equal(core_config_check(&c, &err), -EINVAL);
    assert_string_equal(err.text, "core default: l1d.write must be in back|through, not 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_is_sound),
        cmocka_unit_test(every_value_survives_its_text),
        cmocka_unit_test(text_of_values),
        cmocka_unit_test(every_core_reads_and_passes),
        cmocka_unit_test(the_default_core_is_eyerman2006),
        cmocka_unit_test(cores_are_what_they_are_named_for),
        cmocka_unit_test(a_file_changes_what_it_names),
        cmocka_unit_test(a_base_comes_before_the_files_own_values),
        cmocka_unit_test(events_may_be_bound_to_counters),
        cmocka_unit_test(a_base_binds_events_too),
        cmocka_unit_test(events_have_room_for_so_many),
        cmocka_unit_test(a_comment_may_be_long),
        cmocka_unit_test(later_settings_win),
        cmocka_unit_test(a_file_is_found_by_its_path),
        cmocka_unit_test(bad_files_get_a_sentence),
        cmocka_unit_test(what_is_no_text_is_no_core_file),
        cmocka_unit_test(bad_settings_get_a_sentence),
        cmocka_unit_test(misfits_are_named),
        cmocka_unit_test(the_latest_of_the_values_is_blamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
