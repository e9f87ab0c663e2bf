#include "cmd/stalls_live.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cmd/guest_run.h"
#include "cmd/terminal.h"
#include "sampler/stalls_phases.h"
#include "report/stall_picture.h"

enum {
    HEIGHT_MOST = 16, /* most lines to take */
    HEIGHT_LEAST = 8, /* fewest lines for a picture; with less room, only the heading is shown */
    AROUND = 6        /* lines besides the rows of the picture, such as the heading */
};

#define SAVE_CURSOR    "\0337"
#define RESTORE_CURSOR "\0338"
#define CLEAR_LINE     "\033[K"
#define CLEAR_BELOW    "\033[J"

void stalls_live_begin(struct stalls_live *l, FILE *to, bool wanted)
{
    *l = (struct stalls_live){.to = wanted && terminal_obeys(to) ? to : NULL};
}

/* ---- lines of the screen */

/* Makes room below the cursor, keeps its column, and restricts scrolling to the lines above. */
static void take_lines(struct stalls_live *l, unsigned rows, unsigned columns)
{
    unsigned height = rows / 2 < HEIGHT_MOST ? rows / 2 : HEIGHT_MOST;
    l->rows = rows;
    l->columns = columns;
    l->height = height < HEIGHT_LEAST ? 1 : height;
    for (unsigned i = 0; i < l->height; i++)
        fputs("\033D", l->to); /* moves down a line; scrolls at the bottom of the screen */
    fprintf(l->to, "\033[%uA" SAVE_CURSOR "\033[1;%ur" RESTORE_CURSOR, l->height, rows - l->height);
}

/* Clears the lines and lets the whole screen scroll again. The screen may have fewer rows than before. */
static void give_lines(struct stalls_live *l, unsigned rows)
{
    unsigned left = rows < l->rows ? rows : l->rows;
    if (l->rows)
        fprintf(l->to, SAVE_CURSOR "\033[r\033[%u;1H" CLEAR_BELOW RESTORE_CURSOR,
                left > l->height ? left - l->height + 1 : 1);
    l->rows = 0;
}

/* Takes lines, or takes them again if the terminal changed its size. Returns false if the terminal is too small. */
static bool follow_size(struct stalls_live *l)
{
    struct winsize w;
    if (ioctl(fileno(l->to), TIOCGWINSZ, &w) != 0 || w.ws_row < 4 || w.ws_col < 20) {
        give_lines(l, l->rows);
        return false;
    }
    if (l->rows != w.ws_row || l->columns != w.ws_col) {
        give_lines(l, w.ws_row);
        take_lines(l, w.ws_row, w.ws_col);
    }
    return true;
}

/* ---- contents of the lines */

static double cpi_of(const struct stall_interval *i)
{
    return i->insns ? (double)i->cycles / (double)i->insns : 0;
}

static void put_heading(const struct stalls_live *l, const struct stall_series *s, double now, FILE *to)
{
    const struct stall_interval *last = &s->of[s->count - 1];
    uint64_t insns = last->first_insn + last->insns, cycles = last->first_cycle + last->cycles;
    enum stall_source most = stall_largest(last);
    char line[256], number[SHORT_NUMBER];
    int n = snprintf(line, sizeof line, "%s instructions, %.1f MIPS, CPI %.3f; now %.3f", stall_short(insns, number),
                     now > l->begun ? (double)(insns - l->insns) / (now - l->begun) / 1e6 : 0,
                     insns ? (double)cycles / (double)insns : 0, cpi_of(last));
    if (most != STALL_SOURCES)
        snprintf(line + n, sizeof line - (size_t)n, ", %s %.0f %%", stall_rows[most].label,
                 100 * (double)last->stalls[most] / (double)last->cycles);
    fprintf(to, "%.*s\n", (int)l->columns, line);
}

/* Prints the lines of `text` at their places on the screen. */
static void put_lines(const struct stalls_live *l, const char *text)
{
    fputs(SAVE_CURSOR, l->to);
    for (unsigned i = 0; i < l->height; i++) {
        size_t length = strcspn(text, "\n");
        fprintf(l->to, "\033[%u;1H", l->rows - l->height + 1 + i);
        fwrite(text, 1, length, l->to);
        fputs("\033[0m" CLEAR_LINE, l->to);
        text += length + (text[length] != '\0');
    }
    fputs(RESTORE_CURSOR, l->to);
}

void stalls_live_note(struct stalls_live *l, const struct stall_series *s)
{
    double now = now_seconds();
    if (l->to == NULL || s->count == 0 || now - l->drawn < 0.1)
        return;
    if (l->begun == 0) { /* the speed is measured from here: earlier instructions may have been skipped */
        l->begun = now;
        l->insns = s->of[s->count - 1].first_insn;
    }
    l->drawn = now;
    char *text = NULL;
    size_t size;
    FILE *memory = follow_size(l) ? open_memstream(&text, &size) : NULL;
    if (memory) {
        put_heading(l, s, now, memory);
        if (l->height > 1)
            stall_picture_print(s, l->height - AROUND, l->columns - 1, terminal_shows_colors(l->to), memory);
        if (fclose(memory) == 0)
            put_lines(l, text);
        free(text);
    }
    fflush(l->to);
}

void stalls_live_end(struct stalls_live *l)
{
    if (l->to == NULL)
        return;
    give_lines(l, l->rows);
    fflush(l->to);
    l->to = NULL;
}
