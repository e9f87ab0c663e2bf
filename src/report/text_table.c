#include "report/text_table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { GAP = 2, NAME_LEAST = 16, TEXT_LEAST = 12, REMARK_INDENT = 4 };
#define ELLIPSIS "..."

struct column {
    enum text_kind kind;
    char *heading;
    char *over;     /* heading above the columns that begin here; NULL: none begins here */
    unsigned width; /* of its widest text; for names, of rows that have more than a name */
};

struct cell {
    char *text;
    const char *color; /* control sequence, or NULL */
};

enum row_kind { ROW_CELLS, ROW_EMPTY, ROW_REMARK };

struct row {
    enum row_kind kind;
    size_t first; /* index of its first cell; a remark has one, an empty line none */
};

struct text_table {
    struct column *column;
    struct cell *cell;
    struct row *row;
    size_t columns, cells, rows;
    size_t column_room, cell_room, row_room;
    bool failed; /* out of memory */
};

unsigned text_width(const char *text)
{
    unsigned columns = 0;
    for (; *text; text++)
        columns += (*text & 0xc0) != 0x80;
    return columns;
}

/* ---- making a table */

struct text_table *text_table_new(void)
{
    return calloc(1, sizeof(struct text_table));
}

static void text_table_free(struct text_table *t)
{
    for (size_t i = 0; i < t->columns; i++) {
        free(t->column[i].heading);
        free(t->column[i].over);
    }
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i].text);
    free(t->column);
    free(t->cell);
    free(t->row);
    free(t);
}

void text_column(struct text_table *t, enum text_kind kind, const char *heading)
{
    struct column *grown = t ? array_grow(t->column, t->columns, &t->column_room, sizeof *grown) : NULL;
    char *copy = grown ? strdup(heading) : NULL;
    if (grown)
        t->column = grown;
    if (t && copy == NULL)
        t->failed = true;
    if (copy)
        t->column[t->columns++] = (struct column){.kind = kind, .heading = copy, .width = text_width(copy)};
}

void text_over(struct text_table *t, const char *heading)
{
    if (t == NULL || t->failed)
        return;
    t->column[t->columns - 1].over = strdup(heading);
    t->failed = t->column[t->columns - 1].over == NULL;
}

static void add_row(struct text_table *t, enum row_kind kind)
{
    struct row *grown = array_grow(t->row, t->rows, &t->row_room, sizeof *grown);
    if (grown == NULL) {
        t->failed = true;
        return;
    }
    t->row = grown;
    t->row[t->rows++] = (struct row){kind, t->cells};
}

static void add_cell(struct text_table *t, const char *color, const char *format, va_list arguments)
{
    struct cell *grown = array_grow(t->cell, t->cells, &t->cell_room, sizeof *grown);
    char *text;
    if (grown)
        t->cell = grown;
    if (grown == NULL || vasprintf(&text, format, arguments) < 0)
        t->failed = true;
    else
        t->cell[t->cells++] = (struct cell){text, color};
}

/* The number of cells that the last row has. */
static size_t cells_of_row(const struct text_table *t)
{
    return t->rows && t->row[t->rows - 1].kind == ROW_CELLS ? t->cells - t->row[t->rows - 1].first : t->columns;
}

static void widen(struct column *c, const char *text)
{
    unsigned width = text_width(text);
    c->width = width > c->width ? width : c->width;
}

static void add_to_row(struct text_table *t, const char *color, const char *format, va_list arguments)
{
    if (t == NULL || t->failed)
        return;
    if (cells_of_row(t) == t->columns)
        add_row(t, ROW_CELLS);
    if (!t->failed)
        add_cell(t, color, format, arguments);
    if (t->failed)
        return;
    size_t cells = cells_of_row(t);
    const char *text = t->cell[t->cells - 1].text;
    if (cells > 1)
        widen(&t->column[cells - 1], text);
    if (cells > 1 && *text)
        widen(&t->column[0], t->cell[t->cells - cells].text);
}

void text_cell(struct text_table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_to_row(t, NULL, format, arguments);
    va_end(arguments);
}

void text_cell_colored(struct text_table *t, const char *color, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_to_row(t, color, format, arguments);
    va_end(arguments);
}

void text_end_row(struct text_table *t)
{
    while (t && !t->failed && cells_of_row(t) < t->columns)
        text_cell(t, "%s", "");
}

void text_empty_line(struct text_table *t)
{
    if (t && !t->failed)
        add_row(t, ROW_EMPTY);
}

void text_remark(struct text_table *t, const char *format, ...)
{
    va_list arguments;
    if (t == NULL || t->failed)
        return;
    add_row(t, ROW_REMARK);
    va_start(arguments, format);
    if (!t->failed)
        add_cell(t, NULL, format, arguments);
    va_end(arguments);
}

/* ---- lines */

/* A line that is being made. Blanks at its end are not printed. */
struct line {
    FILE *to;
    unsigned at;     /* columns printed so far */
    unsigned blanks; /* columns that follow them and are blank */
};

static void put_blanks(struct line *l, unsigned count)
{
    l->blanks += count;
}

static void put(struct line *l, const char *text, size_t bytes, const char *color)
{
    unsigned width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += (text[i] & 0xc0) != 0x80;
    if (width == 0)
        return;
    fprintf(l->to, "%*s%s", (int)l->blanks, "", color ? color : "");
    fwrite(text, 1, bytes, l->to);
    fputs(color ? "\033[m" : "", l->to);
    l->at += l->blanks + width;
    l->blanks = 0;
}

static void end_line(struct line *l)
{
    fputc('\n', l->to);
    l->at = l->blanks = 0;
}

/* The bytes of the first `width` columns of a text. */
static size_t bytes_of(const char *text, unsigned width)
{
    size_t bytes = 0;
    for (unsigned columns = 0; text[bytes]; bytes++) {
        columns += (text[bytes] & 0xc0) != 0x80;
        if (columns > width)
            break;
    }
    return bytes;
}

/* The bytes of `text` that fit a line of `width` columns: up to a blank, if there is one. `lists`: preferably up to a
 * blank behind a comma. */
static size_t bytes_of_line(const char *text, unsigned width, bool lists)
{
    size_t most = bytes_of(text, width), blank = 0, comma = 0;
    if (text[most] == '\0')
        return most;
    for (size_t i = 1; i <= most; i++)
        if (text[i] == ' ') {
            blank = i;
            comma = text[i - 1] == ',' ? i : comma;
        }
    return lists && comma ? comma : blank ? blank : most;
}

/* Prints a text that is continued on further lines, each of which begins after `indent` columns. */
static void put_wrapped(struct line *l, const char *text, unsigned indent, unsigned width, bool lists,
                        const char *color)
{
    for (;;) {
        size_t bytes = bytes_of_line(text, width, lists);
        put(l, text, bytes, color);
        text += bytes;
        text += strspn(text, " ");
        if (*text == '\0')
            return;
        end_line(l);
        put_blanks(l, indent);
    }
}

void text_paragraph(FILE *to, const char *format, ...)
{
    struct line line = {.to = to};
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    put_blanks(&line, 1);
    put_wrapped(&line, text ? text : "(out of memory for this paragraph)", 1, PAGE_COLUMNS - 1, false, NULL);
    end_line(&line);
    free(text);
}

/* ---- layout */

struct layout {
    const struct text_table *t;
    struct line line;
    unsigned indent, columns;
    unsigned name; /* width of the names */
    unsigned last; /* width of the last column, if it is text */
};

static bool is_text(const struct column *c)
{
    return c->kind == TEXT_WRAP || c->kind == TEXT_CUT;
}

static unsigned width_of(const struct layout *l, size_t column)
{
    const struct column *c = &l->t->column[column];
    return column == 0 ? l->name : is_text(c) ? l->last : c->width;
}

/* The width of the columns from `first` to before `end`, each with the gap before it. */
static unsigned widths(const struct layout *l, size_t first, size_t end)
{
    unsigned sum = 0;
    for (size_t c = first; c < end; c++)
        sum += GAP + width_of(l, c);
    return sum;
}

/* Makes `*width` smaller by `excess`, but not smaller than `least`. */
static void shorten(unsigned *width, unsigned least, unsigned excess)
{
    if (*width > least)
        *width = *width - least > excess ? *width - excess : least;
}

static unsigned excess(const struct layout *l)
{
    unsigned all = l->indent + l->name + widths(l, 1, l->t->columns);
    return all > l->columns ? all - l->columns : 0;
}

static bool stays_beside(const struct column *c)
{
    return c->kind == TEXT_BESIDE || is_text(c);
}

/* The first of the columns that stay together with this one. */
static size_t group_of(const struct layout *l, size_t column)
{
    while (column > 1 && stays_beside(&l->t->column[column]))
        column--;
    return column;
}

static void lay_out(struct layout *l)
{
    const struct text_table *t = l->t;
    l->name = t->column[0].width;
    l->last = t->column[t->columns - 1].width;
    if (t->columns > 1 && is_text(&t->column[t->columns - 1]))
        shorten(&l->last, TEXT_LEAST, excess(l));
    unsigned before = l->name;
    shorten(&l->name, NAME_LEAST, excess(l));
    if (excess(l) > 0) { /* several tables: each has room for longer names */
        l->name = before;
        shorten(&l->name, NAME_LEAST, before > l->columns / 3 ? before - l->columns / 3 : 0);
        l->last = t->column[t->columns - 1].width;
        unsigned used = l->indent + l->name + widths(l, group_of(l, t->columns - 1), t->columns);
        if (is_text(&t->column[t->columns - 1]))
            shorten(&l->last, TEXT_LEAST, used > l->columns ? used - l->columns : 0);
    }
}

/* The end of the columns that fit beside the names, from `first` on; at least one, and what stays beside it. */
static size_t fitting(const struct layout *l, size_t first)
{
    size_t end = first, next = first;
    while (next < l->t->columns) {
        next++;
        while (next < l->t->columns && stays_beside(&l->t->column[next]))
            next++;
        if (end > first && l->indent + l->name + widths(l, first, next) > l->columns)
            break;
        end = next;
    }
    return end;
}

/* ---- printing */

static void put_cell(struct layout *l, size_t column, const char *text, const char *color)
{
    const struct column *c = &l->t->column[column];
    unsigned width = width_of(l, column), used = text_width(text);
    bool right = c->kind == TEXT_NUMBER || c->kind == TEXT_BESIDE;
    if (used <= width) {
        put_blanks(&l->line, right ? width - used : 0);
        put(&l->line, text, strlen(text), color);
        put_blanks(&l->line, right ? 0 : width - used);
    } else if (c->kind == TEXT_CUT) {
        put(&l->line, text, bytes_of(text, width - (unsigned)strlen(ELLIPSIS)), color);
        put(&l->line, ELLIPSIS, strlen(ELLIPSIS), color);
    } else {
        put_wrapped(&l->line, text, l->line.at + l->line.blanks, width, true, color);
    }
}

static bool has_only_name(const struct layout *l, const struct cell *cell)
{
    for (size_t c = 1; c < l->t->columns; c++)
        if (cell[c].text[0])
            return false;
    return true;
}

static void put_name(struct layout *l, const struct cell *name)
{
    put_blanks(&l->line, l->indent);
    put(&l->line, name->text, strlen(name->text), name->color);
    if (text_width(name->text) > l->name) {
        end_line(&l->line);
        put_blanks(&l->line, l->indent + l->name);
    } else {
        put_blanks(&l->line, l->name - text_width(name->text));
    }
}

static void put_row(struct layout *l, const struct row *row, size_t first, size_t end)
{
    const struct cell *cell = &l->t->cell[row->first];
    if (row->kind == ROW_REMARK && first > 1)
        return;
    if (row->kind == ROW_REMARK || (row->kind == ROW_CELLS && has_only_name(l, cell))) {
        unsigned indent = l->indent + (row->kind == ROW_REMARK ? REMARK_INDENT : 0);
        put_blanks(&l->line, indent);
        put_wrapped(&l->line, cell->text, l->indent + REMARK_INDENT, l->columns - l->indent - REMARK_INDENT, false,
                    cell->color);
    } else if (row->kind == ROW_CELLS) {
        put_name(l, &cell[0]);
        for (size_t c = first; c < end; c++) {
            put_blanks(&l->line, GAP);
            put_cell(l, c, cell[c].text, cell[c].color);
        }
    }
    end_line(&l->line);
}

static bool has_headings(const struct text_table *t)
{
    for (size_t c = 0; c < t->columns; c++)
        if (t->column[c].heading[0])
            return true;
    return false;
}

/* The line of headings that stand above several columns: to the right, above the last of them. A heading that is wider
 * than its columns begins further to the left, if there is room. */
static void put_over(struct layout *l, size_t first, size_t end)
{
    bool any = false;
    for (size_t c = first; c < end; c++)
        any |= l->t->column[c].over && l->t->column[c].over[0];
    if (!any)
        return;
    unsigned column = l->indent + l->name;
    for (size_t c = first; c < end;) {
        const char *text = l->t->column[c].over ? l->t->column[c].over : "";
        size_t next = c + 1;
        while (next < end && l->t->column[next].over == NULL)
            next++;
        column += widths(l, c, next);
        unsigned at = l->line.at + l->line.blanks, room = column > at ? column - at - (at > 0) : 0;
        unsigned used = text_width(text) < room ? text_width(text) : room;
        if (used > 0) {
            put_blanks(&l->line, column - at - used);
            put(&l->line, text, bytes_of(text, used), NULL);
        }
        c = next;
    }
    end_line(&l->line);
}

static void put_headings(struct layout *l, size_t first, size_t end)
{
    put_over(l, first, end);
    if (!has_headings(l->t))
        return;
    put_blanks(&l->line, l->indent);
    put_cell(l, 0, l->t->column[0].heading, NULL);
    for (size_t c = first; c < end; c++) {
        put_blanks(&l->line, GAP);
        put_cell(l, c, l->t->column[c].heading, NULL);
    }
    end_line(&l->line);
}

static void print(const struct text_table *t, FILE *to, unsigned indent, unsigned columns)
{
    struct layout l = {.t = t, .line = {.to = to}, .indent = indent, .columns = columns};
    lay_out(&l);
    size_t first = 1;
    do {
        size_t end = fitting(&l, first);
        if (first > 1)
            end_line(&l.line);
        put_headings(&l, first, end);
        for (size_t i = 0; i < t->rows; i++)
            put_row(&l, &t->row[i], first, end);
        first = end;
    } while (first < t->columns);
}

void text_table_print(struct text_table *t, FILE *to, unsigned indent, unsigned columns)
{
    text_end_row(t);
    if (t == NULL || t->failed || t->columns == 0)
        fputs(" (out of memory for this table)\n", to);
    else
        print(t, to, indent, columns);
    if (t)
        text_table_free(t);
}
