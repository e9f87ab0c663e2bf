/* The core files that come with Cyclescope. The files in cores/ are embedded in the program, so it needs no
 * installation. The Makefile lists them: a new file in cores/ is a new core. */
#ifndef CYCLESCOPE_CORE_CORES_H
#define CYCLESCOPE_CORE_CORES_H

#include <stddef.h>

/* Returns the i-th name in alphabetical order; NULL after the last. */
const char *core_name(unsigned i);
/* Returns the text of the core file of that name, or NULL. */
const char *core_text(const char *name);
/* Copies the first line of a core file's text, a comment that describes the core, without the comment sign. */
void core_summary(const char *text, char *to, size_t size);
/* Writes all names, separated by commas. */
void core_names(char *to, size_t size);

#endif
