#include "core/cores.h"

#include <stdio.h>
#include <string.h>

/* CORE_FILES comes from the Makefile: CORE("eyerman2006") CORE(...) ... Each core becomes two strings, its name and its
 * text. An empty name ends the list. */
#define CORE(name) ".asciz \"" name "\"\n.incbin \"cores/" name ".ini\"\n.byte 0\n"
__asm__(".pushsection .rodata\n"
        ".globl cyclescope_core_files\n"
        ".hidden cyclescope_core_files\n"
        "cyclescope_core_files:\n" CORE_FILES ".byte 0\n"
        ".popsection\n");

extern const char cyclescope_core_files[] __attribute__((visibility("hidden")));

static const char *after(const char *string)
{
    return string + strlen(string) + 1;
}

const char *core_name(unsigned i)
{
    const char *name = cyclescope_core_files;
    while (*name && i-- > 0)
        name = after(after(name));
    return *name ? name : NULL;
}

const char *core_text(const char *name)
{
    const char *known;
    for (unsigned i = 0; (known = core_name(i)) != NULL; i++)
        if (strcmp(known, name) == 0)
            return after(known);
    return NULL;
}

void core_summary(const char *text, char *to, size_t size)
{
    text += strspn(text, ";# ");
    snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
}

void core_names(char *to, size_t size)
{
    const char *name;
    size_t used = 0;
    to[0] = '\0';
    for (unsigned i = 0; (name = core_name(i)) != NULL && used < size; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%s", i ? ", " : "", name);
}
