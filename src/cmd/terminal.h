/* What a stream that may be a terminal can show. */
#ifndef CYCLESCOPE_CMD_TERMINAL_H
#define CYCLESCOPE_CMD_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Returns true if the stream is a terminal that obeys control sequences, such as those of a progress line: $TERM is
 * set, and is not "dumb". */
bool terminal_obeys(FILE *stream);
/* Returns true if the stream is such a terminal and may show colors: $NO_COLOR is not set, or empty (no-color.org). */
bool terminal_shows_colors(FILE *stream);

/* Returns the columns of a page that goes to the stream: those of the terminal, from the terminal itself or from
 * $COLUMNS; 80 if it is not a terminal, so that files are the same everywhere. */
unsigned terminal_columns(FILE *stream);

#endif
