/* Cleans text that comes from outside (names in files, paths, arguments), so that every output can contain it.
 *
 * A terminal obeys control characters: those of ASCII, such as escape, and the second set, U+0080 to U+009F, which some
 * terminals decode from UTF-8. So no control character of a text from outside may reach a page or a message. */
#ifndef CYCLESCOPE_BASE_CLEAN_TEXT_H
#define CYCLESCOPE_BASE_CLEAN_TEXT_H

#include <stdio.h>

/* Replaces, in place, every control character and every byte that is not part of valid UTF-8 by '?'. */
void clean_text(char *text);
/* The same for a message of several lines: line breaks stay. */
void clean_lines(char *text);
/* Prints a text as clean_text would change it. */
void clean_print(const char *text, FILE *to);
/* Returns a copy that is valid UTF-8, for a format that has its own way to write ASCII's control characters, such as
 * JSON: other control characters and invalid bytes become U+FFFD. The caller frees it. NULL: out of memory. */
char *utf8_copy(const char *text);

#endif
