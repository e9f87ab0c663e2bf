/* Lines of source files. A file is read on first use and kept until source_text_free. */
#ifndef CYCLESCOPE_REPORT_SOURCE_TEXT_H
#define CYCLESCOPE_REPORT_SOURCE_TEXT_H

#include <stddef.h>

struct source_text {
    const char *sysroot;      /* folder in which files are looked up first, or NULL; set by the caller */
    struct source_file *file; /* files read so far; start with NULL and 0 */
    size_t count, room;
};

/* The text of a line, without its line break and sanitized by clean_text. Lines count from 1. NULL if the file cannot
 * be read or has no such line. The text lives until source_text_free. */
const char *source_line(struct source_text *s, const char *file, unsigned line);
void source_text_free(struct source_text *s);

#endif
