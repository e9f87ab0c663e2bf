/* Lines of source files, read when first asked for and kept. */
#ifndef CYCLESCOPE_REPORT_SOURCE_TEXT_H
#define CYCLESCOPE_REPORT_SOURCE_TEXT_H

#include <stddef.h>

struct source_text {
    const char *sysroot; /* where files are looked for first, or NULL */
    struct source_file *file;
    size_t count, room;
};

/* The text of a line, without its end and fit to print; NULL if the file cannot be read or has no such line. Lines
 * count from 1. */
const char *source_line(struct source_text *s, const char *file, unsigned line);
void source_text_free(struct source_text *s);

#endif
