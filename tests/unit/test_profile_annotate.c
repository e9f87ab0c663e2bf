/* Instructions with counts beside them. */
#include <unistd.h>

#include "report/profile_annotate.h"
#include "report_world.h"

static const char *page(struct world *w, struct profile_annotate a, int code, struct error *err)
{
    struct source_text source = {0};
    a.names = w->names;
    a.source = &source;
    a.columns = 200;
    assert_int_equal(profile_annotate_print(&a, open_text(w), err), code);
    source_text_free(&source);
    return close_text(w);
}

static const char *annotated(struct world *w, const char *function)
{
    struct error err;
    return page(w, (struct profile_annotate){.function = function, .last = (unsigned)w->profile->events - 1}, 0, &err);
}

/* The line with this text. */
static const char *line_with(const char *text, const char *part, char line[512])
{
    const char *at = strstr(text, part);
    if (at == NULL)
        fail_msg("'%s' is not in the page", part);
    while (at > text && at[-1] != '\n')
        at--;
    snprintf(line, 512, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

/* All counts of the first event: the number behind the first share of an instruction's row. */
static uint64_t sum_of_counts(const char *text)
{
    uint64_t sum = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[512], *insn, *point;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if ((insn = strstr(line, ":  ")) == NULL || (point = strrchr(insn, ' ')) == NULL)
            continue;
        for (point = strchr(insn, '.'); point && strspn(point, ".0123456789") != 3; point = strchr(point + 1, '.'))
            ;
        for (char *c = point ? point + 3 + strspn(point + 3, " ") : NULL; c && *c && *c != ' ';) {
            uint64_t n = 0;
            for (; *c && *c != ' '; c++)
                n = *c == ',' ? n : n * 10 + (uint64_t)(*c - '0');
            sum += n;
        }
    }
    return sum;
}

static void the_hottest_function_is_shown_whole(void **state)
{
    struct world *w = *state;
    char line[512];
    open_usual(w);
    const char *text = annotated(w, NULL);
    assert_non_null(strstr(text, " leaf in "));
    assert_non_null(strstr(text, "70.00 % of cycles: about 1,400, 14 samples"));
    assert_non_null(strstr(line_with(text, "10020:", line), "ld a0,0(a1)"));
    assert_memory_equal(line, "> ", 2);
    assert_non_null(strstr(line, "  64.29    900"));
    assert_non_null(strstr(line, "  100.00     80"));
    assert_non_null(strstr(line_with(text, "10028:", line), "  jalr zero,0(ra)"));
    assert_memory_equal(line, "   ", 3);
    assert_null(strstr(text, "1001c:"));
    assert_int_equal(sum_of_counts(text), 1400);
    close_profile(w);
}

static void source_lines_stand_before_their_instructions(void **state)
{
    struct world *w = *state;
    open_usual(w);
    const char *text = annotated(w, "leaf");
    const char *source = strstr(text, "source.s:18      add a0, a0, a0"), *insn = strstr(text, "10024:");
    assert_true(source && insn && source < insn && insn - source < 200);
    char hidden[160];
    snprintf(hidden, sizeof hidden, "%s.gone", w->source);
    assert_int_equal(rename(w->source, hidden), 0);
    text = annotated(w, "leaf");
    assert_int_equal(rename(hidden, w->source), 0);
    snprintf(hidden, sizeof hidden, "%s:18\n", w->source);
    assert_non_null(strstr(text, hidden));
    assert_null(strstr(text, "add a0, a0, a0"));
    close_profile(w);
}

static void targets_are_addresses(void **state)
{
    struct world *w = *state;
    char line[512];
    open_usual(w);
    const char *text = annotated(w, "work");
    assert_non_null(strstr(line_with(text, "10018:", line), "bne a0,zero,1000c"));
    assert_non_null(strstr(line_with(text, "10010:", line), "jal ra,10020 <leaf>"));
    assert_int_equal(sum_of_counts(text), 500);
    close_profile(w);
}

static void functions_can_be_chosen(void **state)
{
    struct world *w = *state;
    struct error err;
    open_usual(w);
    const char *text = page(w, (struct profile_annotate){.all = true, .limit_percent = 10}, 0, &err);
    assert_true(strstr(text, " leaf in ") && strstr(text, " work in ") && !strstr(text, " _start in "));
    assert_true(strstr(text, " leaf in ") < strstr(text, " work in "));
    page(w, (struct profile_annotate){.function = "nobody"}, -2, &err);
    assert_non_null(strstr(err.text, "no samples in a function 'nobody'"));
    close_profile(w);
}

/* Samples at odd places are shown: between instructions, in the middle of one, and where no file is. */
static void no_sample_is_lost(void **state)
{
    struct world *w = *state;
    begin(w);
    put_event(w, 0, "cycles", 100);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF + 2, .weight = 100}, 3);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF + 5, .weight = 100}, 4);
    put_samples(w, (struct profile_sample){.pc = 0x7000000, .weight = 100}, 5);
    put_samples(w, (struct profile_sample){.pc = 0x7000008, .weight = 100}, 6);
    load_names(w, true);
    const char *text = annotated(w, "leaf"), *middle = strstr(text, "10022:"), *next = strstr(text, "10024:");
    assert_int_equal(sum_of_counts(text), 700);
    assert_true(middle && next && middle < next); /* in its place, not behind the function */
    assert_non_null(strstr(text, "10020:  .2byte 0xb503"));
    text = annotated(w, NULL);
    assert_int_equal(sum_of_counts(text), 1100);
    assert_non_null(strstr(text, "7000008:  ?"));
    close_profile(w);
}

/* A stripped program has no sizes: what was sampled is shown with a few instructions behind it. */
static void without_symbols_the_neighbourhood_is_shown(void **state)
{
    struct world *w = *state;
    char command[512], whole[128];
    memcpy(whole, w->program, sizeof whole);
    snprintf(command, sizeof command, "riscv64-linux-gnu-strip -o %s.stripped %s", whole, whole);
    assert_int_equal(system(command), 0);
    snprintf(w->program, sizeof w->program, "%.100s.stripped", whole);
    open_usual(w);
    const char *text = annotated(w, NULL);
    assert_int_equal(sum_of_counts(text), 2000);
    assert_true(strstr(text, "1001c:") && !strstr(text, "10004:"));
    close_profile(w);
    memcpy(w->program, whole, sizeof whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hottest_function_is_shown_whole),
        cmocka_unit_test(source_lines_stand_before_their_instructions),
        cmocka_unit_test(targets_are_addresses),
        cmocka_unit_test(functions_can_be_chosen),
        cmocka_unit_test(no_sample_is_lost),
        cmocka_unit_test(without_symbols_the_neighbourhood_is_shown),
    };
    return cmocka_run_group_tests_name("profile annotate", tests, make_world, remove_world);
}
