/* Charts of CPI stacks as SVG: syntax and geometry. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chart_fixture.h"

static void draw_svg(struct drawing *d)
{
    free(d->text);
    FILE *to = open_memstream(&d->text, &d->length);
    assert_non_null(to);
    stack_svg_write(&d->chart, to);
    fclose(to);
}

static void expect_valid_characters(const char *text)
{
    while (*text)
        if (*text == '\n')
            text++;
        else
            assert_int_not_equal(stack_name_next(&text), REPLACEMENT_CHARACTER);
}

static void expect_known_entity(const char *at)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#xfffd;", "&#x2026;"};
    bool known = false;
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        known |= strncmp(at, entities[i], strlen(entities[i])) == 0;
    assert_true(known);
}

/* Elements nest in one root and end, attributes are quoted, entities are known. */
static void expect_well_formed(const struct drawing *d)
{
    char open[8][16];
    unsigned depth = 0;
    assert_int_equal(strlen(d->text), d->length);
    expect_valid_characters(d->text);
    assert_int_equal(strncmp(d->text, "<?xml ", 6), 0);
    for (const char *at = strstr(d->text, "?>") + 2; (at = strpbrk(at, "<>&")) != NULL; at++) {
        if (*at == '&') {
            expect_known_entity(at);
            continue;
        }
        assert_int_equal(*at, '<');
        const char *end = strchr(at, '>');
        bool closes = at[1] == '/';
        size_t length = strspn(at + 1 + closes, "abcdefghijklmnopqrstuvwxyz");
        assert_non_null(end);
        assert_null(memchr(at + 1, '<', (size_t)(end - at - 1)));
        assert_int_equal(count_of('"', at, end) % 2, 0);
        assert_true(length > 0 && length < 16);
        if (closes) {
            assert_true(depth > 0 && strlen(open[--depth]) == length);
            assert_memory_equal(at + 2, open[depth], length);
        } else if (end[-1] != '/') {
            assert_true(depth < 8);
            snprintf(open[depth++], 16, "%.*s", (int)length, at + 1);
        }
        assert_true(depth > 0 || strcmp(end, ">\n") == 0);
        at = end;
    }
    assert_int_equal(depth, 0);
}

/* What sscanf is to look at: it would measure all of the text each time. */
static const char *here(const char *at, char text[256])
{
    memcpy(text, at, strnlen(at, 255) + 1);
    text[255] = '\0';
    return text;
}

struct box {
    double x, y, width, height;
    char component[16];
};

/* The next part of a bar, or of the legend. */
static const char *next_box(const char *at, struct box *box)
{
    char text[256];
    for (; (at = strstr(at, "<rect x=")) != NULL; at++)
        if (sscanf(here(at, text),
                   "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\" fill=\"url(#component-%15[a-z0-9])\"",
                   &box->x, &box->y, &box->width, &box->height, box->component) == 5)
            return at + 1;
    return NULL;
}

static void view_box(const struct drawing *d, double *width, double *height)
{
    const char *at = strstr(d->text, "viewBox=");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "viewBox=\"0 0 %lf %lf\"", width, height), 2);
}

/* The y of a tick's grid line, which is the zero line's where the text is 0. */
static double tick_y(const struct drawing *d, const char *text)
{
    char label[32];
    snprintf(label, sizeof label, "\"end\">%s</text>", text);
    const char *at = strstr(d->text, label);
    assert_non_null(at);
    while (strncmp(at, "<path", 5) != 0)
        at--;
    double x, y;
    assert_int_equal(sscanf(at, "<path d=\"M%lf %lf", &x, &y), 2);
    return y;
}

static void parts_are_stacked_to_scale(void **state)
{
    (void)state;
    struct drawing d;
    struct box box;
    begin(&d, 1, 1);
    for (unsigned c = 0; c < COMPONENTS; c++)
        d.cpi[0][0][c] = 0.1 + 0.02 * c;
    draw_svg(&d);
    expect_well_formed(&d);
    double zero = tick_y(&d, "0.0"), unit = zero - tick_y(&d, "1.0"), y = zero;
    assert_true(unit > 0);
    const char *at = d.text;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        at = next_box(at, &box);
        assert_non_null(at);
        assert_string_equal(box.component, component_rows[c].key);
        assert_true(fabs(box.y + box.height - y) < 0.02);
        assert_true(fabs(box.height - unit * d.cpi[0][0][c]) < 0.02);
        y = box.y;
    }
    free(d.text);
}

static void a_negative_base_hangs_below_zero(void **state)
{
    (void)state;
    struct drawing d;
    struct box base, l2d;
    begin(&d, 1, 1);
    d.cpi[0][0][COMPONENT_base] = -0.4;
    d.cpi[0][0][COMPONENT_l2d] = 1.4;
    draw_svg(&d);
    expect_well_formed(&d);
    double zero = tick_y(&d, "0.0"), unit = zero - tick_y(&d, "1.0"), width, height, x, y;
    const char *at = next_box(d.text, &base);
    assert_non_null(at);
    assert_non_null(next_box(at, &l2d));
    assert_string_equal(base.component, "base");
    assert_true(fabs(base.y - zero) < 0.02 && fabs(base.height - 0.4 * unit) < 0.02);
    assert_true(fabs(l2d.y + l2d.height - zero) < 0.02 && fabs(l2d.height - 1.4 * unit) < 0.02);
    view_box(&d, &width, &height);
    assert_true(base.y + base.height < height);
    const char *sum = strstr(d.text, "class=\"sum\"");
    assert_non_null(sum);
    assert_int_equal(sscanf(sum, "class=\"sum\" d=\"M%lf %lf", &x, &y), 2);
    assert_true(fabs(y - (zero - unit)) < 0.02);
    d.cpi[0][0][COMPONENT_base] = 0.4;
    draw_svg(&d);
    assert_null(strstr(d.text, "class=\"sum\""));
    free(d.text);
}

/* Bars stand beside each other, with room for their names, and within the picture. */
static void expect_apart(const struct drawing *d, size_t groups, size_t bars)
{
    struct box box;
    double right = -1e9, width, height;
    size_t count = 0;
    view_box(d, &width, &height);
    for (const char *at = d->text; (at = next_box(at, &box)) != NULL;) {
        if (strcmp(box.component, "base") != 0)
            continue;
        if (++count > groups * bars) /* the legend */
            continue;
        assert_true(box.x > right && box.x - right > (count % bars == 1 ? 10 : 0));
        assert_true(box.x > 0 && box.width >= 12 && box.y > 0 && box.y + box.height < height);
        right = box.x + box.width;
    }
    assert_int_equal(count, groups * bars + 1);
    assert_true(box.x > right && box.x + box.width < width);
    double last = -1e9;
    for (const char *at = d->text; (at = strstr(at, "class=\"bar\"")) != NULL; at++) {
        double x, y;
        char text[256];
        assert_int_equal(sscanf(here(at, text), "class=\"bar\" transform=\"translate(%lf %lf)", &x, &y), 2);
        assert_true(x - last >= 15 && y < height);
        last = x;
    }
}

static void expect_fits(struct random *r, size_t groups, size_t bars, const char *name)
{
    struct drawing d;
    double width, height;
    begin(&d, groups, bars);
    fill(&d, r, true);
    d.group[groups / 2].name = name;
    d.chart.normalized = bars % 2;
    draw_svg(&d);
    expect_well_formed(&d);
    expect_apart(&d, groups, bars);
    view_box(&d, &width, &height);
    assert_true(width > 15 * (double)(groups * bars));
    assert_true(height < 1100);
    free(d.text);
}

static void few_and_many_bars_fit(void **state)
{
    (void)state;
    static const size_t groups[] = {1, 2, 5, 12, GROUPS}, bars[] = {1, 2, 6, BARS};
    struct random r;
    random_seed(&r, 4);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (size_t b = 0; b < sizeof bars / sizeof *bars; b++) {
            expect_fits(&r, groups[g], bars[b], "gcc");
            expect_fits(&r, groups[g], bars[b], "MMMMMMMMM");
            expect_fits(&r, groups[g], bars[b], "a program with a name that is far too long for any chart");
        }
}

static void tooltips_say_what_a_part_is(void **state)
{
    (void)state;
    struct drawing d;
    begin(&d, 1, 1);
    d.cpi[0][0][COMPONENT_l1i] = 0.18;
    draw_svg(&d);
    assert_non_null(strstr(d.text, "<title>fmt: L1 I-cache 0.180 CPI</title>"));
    d.chart.normalized = true;
    d.group[0].hundred = 2;
    draw_svg(&d);
    assert_non_null(strstr(d.text, "<title>fmt: L1 I-cache 9.0 %, 0.180 CPI</title>"));
    free(d.text);
}

static void svg_names_are_escaped(void **state)
{
    (void)state;
    struct drawing d;
    begin(&d, 1, 1);
    d.chart.title = "</title><script>\"&amp;";
    d.group[0].name = "a\001b\xffr\xc3\xa9";
    d.bar[0][0].name = "<&>\"";
    d.cpi[0][0][COMPONENT_base] = 1;
    draw_svg(&d);
    expect_well_formed(&d);
    assert_non_null(strstr(d.text, "<title>&lt;/title&gt;&lt;script&gt;&quot;&amp;amp;</title>"));
    assert_non_null(strstr(d.text, ">a&#xfffd;b&#xfffd;r\xc3\xa9</text>"));
    assert_non_null(strstr(d.text, ">&lt;&amp;&gt;&quot;</text>"));
    assert_non_null(strstr(d.text, "<title>&lt;&amp;&gt;&quot;: base 1.000 CPI</title>"));
    free(d.text);
}

static void long_names_are_cut_with_a_tooltip(void **state)
{
    (void)state;
    struct drawing d;
    begin(&d, 1, 1);
    d.group[0].name = "0123456789012345678901234567890123456789";
    draw_svg(&d);
    assert_non_null(strstr(d.text, "<title>0123456789012345678901234567890123456789</title>"
                                   "0123456789012345678901234567890&#x2026;</text>"));
    free(d.text);
}

/* The hatch of a component's pattern, NULL if there is no such pattern. */
static const char *hatch_of(const struct drawing *d, enum component c, char hatch[256])
{
    char id[128];
    snprintf(id, sizeof id, "<pattern id=\"component-%s\"", component_rows[c].key);
    const char *at = strstr(d->text, id);
    if (at == NULL)
        return NULL;
    snprintf(id, sizeof id, "fill=\"#%06x\"", (unsigned)component_rows[c].color);
    at = strstr(at, id);
    assert_non_null(at);
    at = strstr(at, "<path ");
    assert_non_null(at);
    snprintf(hatch, 256, "%.*s", (int)strcspn(at, ">"), at);
    return hatch;
}

static double gray(enum component c)
{
    uint32_t rgb = component_rows[c].color;
    return 0.299 * (rgb >> 16) + 0.587 * (rgb >> 8 & 255) + 0.114 * (rgb & 255);
}

static void components_differ_in_grey_too(void **state)
{
    (void)state;
    struct drawing d;
    char one[256], other[256];
    begin(&d, 1, 1);
    for (unsigned c = 0; c < COMPONENTS; c++)
        d.cpi[0][0][c] = 1;
    draw_svg(&d);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        assert_non_null(hatch_of(&d, c, one));
        for (unsigned o = 0; o < c; o++)
            assert_true(strcmp(one, hatch_of(&d, o, other)) != 0 || fabs(gray(c) - gray(o)) > 50);
        /* Only the base has none. */
        assert_int_equal(strstr(one, "d=\"\"") != NULL, c == COMPONENT_base);
    }
    free(d.text);
}

static void svg_has_only_components_that_are_there(void **state)
{
    (void)state;
    struct drawing d;
    char hatch[256];
    begin(&d, 1, 1);
    d.cpi[0][0][COMPONENT_l2d] = 1;
    draw_svg(&d);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        assert_int_equal(hatch_of(&d, c, hatch) != NULL, c == COMPONENT_l2d);
        assert_int_equal(strstr(d.text, component_rows[c].label) != NULL, c == COMPONENT_l2d);
    }
    free(d.text);
}

static void svg_refers_to_nothing_outside(void **state)
{
    (void)state;
    struct drawing d;
    struct random r;
    random_seed(&r, 5);
    begin(&d, 3, 3);
    fill(&d, &r, true);
    draw_svg(&d);
    assert_null(strstr(d.text, "href"));
    assert_null(strstr(d.text, "<script"));
    assert_null(strstr(strstr(d.text, "http://") + 1, "http"));
    for (const char *at = d.text; (at = strstr(at, "url(")) != NULL; at++)
        assert_int_equal(at[4], '#');
    free(d.text);
}

static void svg_without_bars_or_numbers(void **state)
{
    (void)state;
    struct drawing d;
    begin(&d, 1, 2);
    draw_svg(&d);
    expect_well_formed(&d);
    tick_y(&d, "1.0");
    assert_null(strstr(d.text, "n/a"));
    d.cpi[0][0][COMPONENT_base] = NAN;
    d.cpi[0][1][COMPONENT_base] = INFINITY;
    d.chart.title = d.group[0].name = d.bar[0][1].name = NULL;
    draw_svg(&d);
    expect_well_formed(&d);
    assert_non_null(strstr(d.text, ">n/a</text>"));
    assert_null(strstr(d.text, "nan"));
    assert_null(strstr(d.text, "inf"));
    d.chart.count = 0;
    draw_svg(&d);
    expect_well_formed(&d);
    free(d.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_stacked_to_scale),    cmocka_unit_test(a_negative_base_hangs_below_zero),
        cmocka_unit_test(few_and_many_bars_fit),         cmocka_unit_test(tooltips_say_what_a_part_is),
        cmocka_unit_test(svg_names_are_escaped),         cmocka_unit_test(long_names_are_cut_with_a_tooltip),
        cmocka_unit_test(components_differ_in_grey_too), cmocka_unit_test(svg_has_only_components_that_are_there),
        cmocka_unit_test(svg_refers_to_nothing_outside), cmocka_unit_test(svg_without_bars_or_numbers),
    };
    return cmocka_run_group_tests_name("stack_svg", tests, NULL, NULL);
}
