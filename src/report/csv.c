#include "report/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"

void csv_text(const char *text, FILE *to)
{
    char *clean = strdup(text);
    if (clean == NULL)
        return;
    clean_text(clean);
    const char *quote = strpbrk(clean, "\",") ? "\"" : "";
    fputs(quote, to);
    for (const char *s = clean; *s; s++)
        fprintf(to, *s == '"' ? "\"%c" : "%c", *s);
    fputs(quote, to);
    free(clean);
}
