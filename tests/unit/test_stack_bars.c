/* Charts of CPI stacks as text: the cells of bars, marks, colors, names. */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chart_fixture.h"

static void draw_text(struct drawing *d, bool color, unsigned columns)
{
    free(d->text);
    FILE *to = open_memstream(&d->text, &d->length);
    assert_non_null(to);
    stack_bars_print(&d->chart, to, color, columns);
    fclose(to);
}

/* The line of that number, from 0 on, without its end. */
static const char *line_of(const struct drawing *d, unsigned number, char line[512])
{
    const char *from = d->text;
    while (number-- > 0) {
        from = strchr(from, '\n');
        assert_non_null(from);
        from++;
    }
    snprintf(line, 512, "%.*s", (int)strcspn(from, "\n"), from);
    return line;
}

/* The mark of a component in the legend, or 0 if it is not there. */
static char mark_of(const struct drawing *d, enum component c)
{
    char text[64];
    snprintf(text, sizeof text, " %s", component_rows[c].label);
    const char *legend = strstr(d->text, "CPI:"), *label = legend;
    assert_non_null(legend);
    while ((label = strstr(label + 1, text)) != NULL) {
        char after = label[strlen(text)];
        if (after == '\n' || strncmp(label + strlen(text), "  ", 2) == 0)
            return label[-1];
    }
    return 0;
}

static void a_chart_as_a_whole(void **state)
{
    (void)state;
    struct drawing d;
    begin(&d, 1, 2);
    d.bar[0][0].name = "naive";
    d.cpi[0][0][COMPONENT_base] = -0.5;
    d.cpi[0][0][COMPONENT_l1i] = 0.5;
    d.cpi[0][0][COMPONENT_l2d] = 1;
    d.cpi[0][1][COMPONENT_base] = 0.5;
    d.cpi[0][1][COMPONENT_l2d] = 0.5;
    draw_text(&d, false, 39);
    assert_string_equal(d.text, "stacks\n"
                                "twolf naive .....|iiiiiDDDDDDDDDD 1.000\n"
                                "      fmt        |.....DDDDD 1.000\n"
                                "CPI:  . base  i L1 I-cache\n"
                                "      D L2 D-cache\n");
    free(d.text);
}

static void cells_are_the_shares_rounded_up_or_down(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 1);
    for (unsigned columns = 40; columns < 200; columns++) {
        struct drawing d;
        char line[512];
        begin(&d, 1, 1);
        fill(&d, &r, false);
        draw_text(&d, false, columns);
        const char *zero = strchr(line_of(&d, 1, line), '|'), *end = strrchr(line, ' ');
        assert_non_null(zero);
        double sum = 0;
        unsigned cells = (unsigned)(end - zero - 1), counted = 0;
        for (unsigned c = 0; c < COMPONENTS; c++)
            sum += d.cpi[0][0][c];
        for (unsigned c = 0; c < COMPONENTS; c++) {
            unsigned n = count_of(mark_of(&d, c), zero, end);
            assert_true(fabs(n - cells * d.cpi[0][0][c] / sum) < 1);
            counted += n;
        }
        assert_int_equal(counted, cells);
        assert_int_equal(strlen(line), columns);
        free(d.text);
    }
}

static void the_largest_remainders_are_rounded_up(void **state)
{
    (void)state;
    struct drawing d;
    char line[512];
    begin(&d, 1, 1);
    d.group[0].name = d.bar[0][0].name = d.chart.title = NULL;
    d.cpi[0][0][COMPONENT_base] = 0.55; /* of ten cells 5.5, 2.6 and 1.9 */
    d.cpi[0][0][COMPONENT_l1i] = 0.26;
    d.cpi[0][0][COMPONENT_l2i] = 0.19;
    draw_text(&d, false, 17);
    assert_string_equal(line_of(&d, 0, line), "|.....iiiII 1.000");
    free(d.text);
}

/* Whatever is drawn, lines end within the columns, one of them at their end, and the zero line is straight. */
static void lines_with_negative_bases_fit(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 2);
    for (unsigned columns = 50; columns < 150; columns++) {
        struct drawing d;
        size_t longest = 0, zero = 0;
        begin(&d, 3, 4);
        fill(&d, &r, true);
        d.chart.normalized = columns % 2;
        draw_text(&d, false, columns);
        for (unsigned n = 1; n <= 3 * 5 - 1; n++) {
            char line[512];
            if (*line_of(&d, n, line) == '\0')
                continue;
            assert_non_null(strchr(line, '|'));
            size_t at = strcspn(line, "|");
            assert_true(zero == 0 || at == zero);
            zero = at;
            longest = strlen(line) > longest ? strlen(line) : longest;
        }
        /* A total may be shorter than the longest total. */
        assert_true(longest <= columns && longest >= columns - 1);
        free(d.text);
    }
}

static void only_the_base_is_left_of_zero(void **state)
{
    (void)state;
    struct drawing d;
    char line[512];
    struct random r;
    random_seed(&r, 3);
    begin(&d, 1, 2);
    fill(&d, &r, false);
    d.cpi[0][0][COMPONENT_base] = -1;
    draw_text(&d, false, 100);
    line_of(&d, 1, line);
    const char *zero = strchr(line, '|');
    char base = mark_of(&d, COMPONENT_base);
    assert_int_equal(base, '.');
    assert_true(count_of(base, line, zero) > 3);
    assert_int_equal(count_of(base, zero, line + strlen(line)), 1); /* the decimal point */
    line_of(&d, 2, line);
    assert_int_equal(count_of(base, line, strchr(line, '|')), 0);
    free(d.text);
}

static void marks_are_distinct_and_only_of_what_is_there(void **state)
{
    (void)state;
    for (unsigned without = 0; without < COMPONENTS; without++) {
        struct drawing d;
        char marks[COMPONENTS + 1] = "";
        begin(&d, 1, 1);
        for (unsigned c = 0; c < COMPONENTS; c++)
            d.cpi[0][0][c] = c != without;
        draw_text(&d, false, 80);
        assert_int_equal(mark_of(&d, without), 0);
        for (unsigned c = 0; c < COMPONENTS; c++) {
            if (c == without)
                continue;
            char mark = mark_of(&d, c);
            assert_true(isgraph((unsigned char)mark) && mark != '|');
            assert_null(strchr(marks, mark));
            marks[strlen(marks)] = mark;
        }
        free(d.text);
    }
}

static void no_cycles_and_no_number(void **state)
{
    (void)state;
    struct drawing d;
    begin(&d, 1, 2);
    d.cpi[0][1][COMPONENT_base] = NAN;
    draw_text(&d, false, 80);
    assert_string_equal(d.text, "stacks\ntwolf fmt | 0.000\n      fmt | n/a\nCPI:\n");
    d.cpi[0][1][COMPONENT_base] = 0;
    d.chart.normalized = true;
    d.group[0].hundred = 0;
    draw_text(&d, false, 80);
    assert_string_equal(d.text, "stacks\ntwolf fmt | n/a\n      fmt | n/a\n% of CPI:\n");
    d.chart.count = 0;
    draw_text(&d, false, 80);
    assert_string_equal(d.text, "stacks\n% of CPI:\n");
    free(d.text);
}

static void percent_are_of_the_groups_hundred(void **state)
{
    (void)state;
    struct drawing d;
    char line[512];
    begin(&d, 2, 1);
    d.cpi[0][0][COMPONENT_base] = 3;
    d.group[0].hundred = 4;
    d.cpi[1][0][COMPONENT_base] = 1;
    d.group[1].hundred = 1;
    d.chart.normalized = true;
    draw_text(&d, false, 80);
    assert_non_null(strstr(line_of(&d, 1, line), " 75.0 %"));
    assert_non_null(strstr(line_of(&d, 2, line), " 100.0 %"));
    free(d.text);
}

static void names_are_cut_aligned_and_harmless(void **state)
{
    (void)state;
    struct drawing d;
    char line[512];
    begin(&d, 1, 3);
    d.group[0].name = "\033[2J\xff\xc3\xa9";
    d.bar[0][0].name = "a name that is far too long for its column";
    d.bar[0][1].name = NULL;
    draw_text(&d, false, 60);
    assert_string_equal(line_of(&d, 1, line), "?[2J?\xc3\xa9 a name that ... | 0.000");
    assert_string_equal(line_of(&d, 2, line), "                       | 0.000");
    assert_string_equal(line_of(&d, 3, line), "       fmt             | 0.000");
    free(d.text);
}

/* Without its escape sequences a colored bar is as long as the plain one, with each mark once. */
static void colors_are_those_of_the_components(void **state)
{
    (void)state;
    struct drawing d;
    char plain[512], line[512], bare[512];
    size_t length = 0;
    begin(&d, 1, 1);
    for (unsigned c = 0; c < COMPONENTS; c++)
        d.cpi[0][0][c] = 0.1;
    draw_text(&d, false, 80);
    line_of(&d, 1, plain);
    draw_text(&d, true, 80);
    line_of(&d, 1, line);
    const char *at = line;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        char color[32];
        uint32_t rgb = component_rows[c].color;
        snprintf(color, sizeof color, ";48;2;%u;%u;%um", rgb >> 16, rgb >> 8 & 255, rgb & 255);
        at = strstr(at, color);
        assert_non_null(at);
        at = strstr(at, "\033[0m");
        assert_non_null(at);
    }
    for (at = line; *at; at++)
        if (*at == '\033')
            at = strchr(at, 'm');
        else
            bare[length++] = *at;
    assert_int_equal(length, strlen(plain));
    for (size_t i = 0; i < length; i++) {
        bool first = i == 0 || plain[i] != plain[i - 1] || plain[i] == '0';
        assert_int_equal(bare[i], first ? plain[i] : ' ');
    }
    free(d.text);
}

/* ---- names */

static void names_are_decoded_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t characters[5];
    } rows[] = {
        {"a~", {'a', '~'}},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", {0xe9, 0x20ac, 0x1f600}},
        {"\t\x7f\xc2\x9b", {0xfffd, 0xfffd, 0xfffd, 0xfffd}},   /* controls */
        {"\xc1\xbf", {0xfffd, 0xfffd}},                         /* too long for what it is */
        {"\xe0\x9f\xbf", {0xfffd, 0xfffd, 0xfffd}},             /* the same */
        {"\xed\xa0\x80", {0xfffd, 0xfffd, 0xfffd}},             /* a surrogate */
        {"\xf4\x90\x80\x80", {0xfffd, 0xfffd, 0xfffd, 0xfffd}}, /* beyond Unicode */
        {"\xef\xbf\xbf", {0xfffd, 0xfffd, 0xfffd}},             /* no character */
        {"\xe2\x82", {0xfffd, 0xfffd}},                         /* ends early */
        {"\xe2\x82x", {0xfffd, 0xfffd, 'x'}},                   /* the same */
        {"\xff\x80y", {0xfffd, 0xfffd, 'y'}},                   /* never valid; without a beginning */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = rows[i].name;
        size_t count = 0;
        for (uint32_t c; (c = stack_name_next(&at)) != 0; count++)
            assert_int_equal(c, rows[i].characters[count]);
        assert_int_equal(rows[i].characters[count], 0);
        assert_int_equal(stack_name_length(rows[i].name), count);
    }
    assert_int_equal(stack_name_length(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chart_as_a_whole),
        cmocka_unit_test(cells_are_the_shares_rounded_up_or_down),
        cmocka_unit_test(the_largest_remainders_are_rounded_up),
        cmocka_unit_test(lines_with_negative_bases_fit),
        cmocka_unit_test(only_the_base_is_left_of_zero),
        cmocka_unit_test(marks_are_distinct_and_only_of_what_is_there),
        cmocka_unit_test(no_cycles_and_no_number),
        cmocka_unit_test(percent_are_of_the_groups_hundred),
        cmocka_unit_test(names_are_cut_aligned_and_harmless),
        cmocka_unit_test(colors_are_those_of_the_components),
        cmocka_unit_test(names_are_decoded_strictly),
    };
    return cmocka_run_group_tests_name("stack_bars", tests, NULL, NULL);
}
