/* Tables of text pages: what becomes of one that is wider than the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/text_table.h"

static void check(struct text_table *t, unsigned columns, const char *expected)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    text_table_print(t, to, 1, columns);
    fclose(to);
    assert_string_equal(text, expected);
    free(text);
}

/* Two rows with a number and a text each. */
static struct text_table *rows_of(enum text_kind kind, const char *name, const char *text)
{
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "name");
    text_column(t, TEXT_NUMBER, "count");
    text_column(t, kind, "text");
    text_cell(t, "%s", name);
    text_cell(t, "%d", 1);
    text_cell(t, "%s", text);
    text_cell(t, "b");
    text_cell(t, "%d", 1234567);
    text_end_row(t);
    return t;
}

static void names_come_first_and_columns_fit_their_contents(void **state)
{
    (void)state;
    check(rows_of(TEXT_LEFT, "±§", "x y"), 80,
          " name    count  text\n"
          " ±§          1  x y\n"
          " b     1234567\n");
}

static void the_last_column_is_wrapped_or_cut(void **state)
{
    (void)state;
    check(rows_of(TEXT_WRAP, "a", "one two three four five"), 34,
          " name    count  text\n"
          " a           1  one two three four\n"
          "                five\n"
          " b     1234567\n");
    check(rows_of(TEXT_WRAP, "a", "one two, three four five"), 34,
          " name    count  text\n"
          " a           1  one two,\n"
          "                three four five\n"
          " b     1234567\n");
    check(rows_of(TEXT_CUT, "a", "one two three four five"), 34,
          " name    count  text\n"
          " a           1  one two three f...\n"
          " b     1234567\n");
}

static void a_long_name_has_a_line_of_its_own(void **state)
{
    (void)state;
    check(rows_of(TEXT_LEFT, "a_name_of_thirty_characters___", "x"), 34,
          " name                  count  text\n"
          " a_name_of_thirty_characters___\n"
          "                           1  x\n"
          " b                   1234567\n");
}

static void columns_that_do_not_fit_follow_below(void **state)
{
    struct text_table *t = text_table_new();
    (void)state;
    text_column(t, TEXT_LEFT, "name");
    for (int i = 0; i < 4; i++) {
        text_column(t, i % 2 ? TEXT_BESIDE : TEXT_NUMBER, i % 2 ? "right" : "left");
        if (i % 2 == 0)
            text_over(t, i ? "second" : "first");
    }
    for (int i = 0; i < 4; i++)
        text_cell(t, "%d", i);
    text_cell(t, "%d", 4);
    text_empty_line(t);
    text_cell(t, "a name alone");
    text_end_row(t);
    text_remark(t, "a remark that is long");
    check(t, 24,
          "             first\n"
          " name  left  right\n"
          " 0        1      2\n"
          "\n"
          " a name alone\n"
          "     a remark that is\n"
          "     long\n"
          "\n"
          "            second\n"
          " name  left  right\n"
          " 0        3      4\n"
          "\n"
          " a name alone\n");
}

static void colors_take_no_room(void **state)
{
    struct text_table *t = text_table_new();
    (void)state;
    text_column(t, TEXT_LEFT, "");
    text_column(t, TEXT_NUMBER, "%");
    text_cell(t, "a");
    text_cell_colored(t, "\033[31m", "%d", 5);
    text_cell(t, "b");
    text_cell(t, "%d", 100);
    check(t, 80, "      %\n a    \033[31m5\033[m\n b  100\n");
}

static void paragraphs_are_broken_at_blanks(void **state)
{
    char *text, word[200];
    size_t size;
    (void)state;
    memset(word, 'x', sizeof word);
    word[100] = '\0';
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    text_paragraph(to, "%s", "short");
    text_paragraph(to, "%.78s ± and %.2s", word, word);
    text_paragraph(to, "%s", word);
    fclose(to);
    char expected[400];
    snprintf(expected, sizeof expected, " short\n %.78s\n ± and xx\n %.79s\n %.21s\n", word, word, word);
    assert_string_equal(text, expected);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_first_and_columns_fit_their_contents),
        cmocka_unit_test(the_last_column_is_wrapped_or_cut),
        cmocka_unit_test(a_long_name_has_a_line_of_its_own),
        cmocka_unit_test(columns_that_do_not_fit_follow_below),
        cmocka_unit_test(colors_take_no_room),
        cmocka_unit_test(paragraphs_are_broken_at_blanks),
    };
    return cmocka_run_group_tests_name("text table", tests, NULL, NULL);
}
