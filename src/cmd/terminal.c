#include "cmd/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
