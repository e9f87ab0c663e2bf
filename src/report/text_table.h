/* Tables and paragraphs of text pages.
 *
 * The first column of a table has the names, the others are behind it. Columns are as wide as their contents. A table
 * that is wider than the page becomes narrower by these rules, in this order:
 *   - the column that was made last is shortened, if it is text: it is continued on further lines, or cut;
 *   - a name that is longer than its column has a line of its own, and its row follows on the next;
 *   - columns that still do not fit are printed below, in a table with the same names. Columns that belong together
 *     stay beside each other.
 * So no name and no number is lost. Pages are PAGE_COLUMNS wide, unless they go to a wider terminal.
 *
 * Text is UTF-8; every character is one column wide. Without memory for a table, a line says so in its place. */
#ifndef CYCLESCOPE_REPORT_TEXT_TABLE_H
#define CYCLESCOPE_REPORT_TEXT_TABLE_H

#include <stdio.h>

enum { PAGE_COLUMNS = 80 };

/* Of ± on all pages. */
#define PLUS_MINUS_MEANING "± is half the width of the 95 % interval"

enum text_kind {
    TEXT_LEFT,   /* the name, or a word */
    TEXT_NUMBER, /* to the right */
    TEXT_BESIDE, /* as TEXT_NUMBER; stays beside the column before it */
    TEXT_WRAP,   /* last column: text that can be continued on further lines; beside the column before it */
    TEXT_CUT     /* last column: text that can be cut; the same */
};

struct text_table;

struct text_table *text_table_new(void);
/* Columns come first. The heading is copied; "" for none. */
void text_column(struct text_table *t, enum text_kind kind, const char *heading);
/* A heading above the columns from the last one made on, until the next such heading. */
void text_over(struct text_table *t, const char *heading);

/* Then rows. A row is complete when it has a cell for every column; text_end_row fills it with empty ones. A row that
 * has only a name is as wide as the page. */
void text_cell(struct text_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_cell_colored(struct text_table *t, const char *color, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void text_end_row(struct text_table *t);
void text_empty_line(struct text_table *t); /* between rows */
/* A line below the row before, that belongs to no column. */
void text_remark(struct text_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the table, each line with `indent` blanks before it, and frees it. */
void text_table_print(struct text_table *t, FILE *to, unsigned indent, unsigned columns);

/* Prints a paragraph, broken into lines of at most PAGE_COLUMNS, with a line break at its end. Each line begins with a
 * blank. */
void text_paragraph(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

unsigned text_width(const char *text); /* columns that the text takes */

#endif
