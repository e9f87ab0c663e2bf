/* The core files that come with Cyclescope: those of the folder cores/, part of the program, so that it needs no
 * installation. The Makefile names them; a new file there is a new core. */
#ifndef CYCLESCOPE_CORE_CORES_H
#define CYCLESCOPE_CORE_CORES_H

#include <stddef.h>

/* In alphabetical order; NULL behind the last. */
const char *core_name(unsigned i);
/* The file of that name, or NULL. */
const char *core_text(const char *name);
/* Its first line, a comment that says what core it is, without the comment's sign. */
void core_summary(const char *text, char *to, size_t size);
/* All names, with commas between them. */
void core_names(char *to, size_t size);

#endif
