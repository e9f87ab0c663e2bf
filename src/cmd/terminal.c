#include "cmd/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/text_table.h"

bool terminal_obeys(FILE *stream)
{
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0 && isatty(fileno(stream));
}

bool terminal_shows_colors(FILE *stream)
{
    const char *none = getenv("NO_COLOR");
    return (none == NULL || *none == '\0') && terminal_obeys(stream);
}

unsigned terminal_columns(FILE *stream)
{
    struct winsize w = {0};
    const char *columns = getenv("COLUMNS");
    if (!isatty(fileno(stream)))
        return PAGE_COLUMNS;
    unsigned long given = ioctl(fileno(stream), TIOCGWINSZ, &w) != 0 || w.ws_col == 0
                              ? strtoul(columns ? columns : "", NULL, 10)
                              : w.ws_col;
    return given > 0 && given <= UINT16_MAX ? (unsigned)given : PAGE_COLUMNS;
}
