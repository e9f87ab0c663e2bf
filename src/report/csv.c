#include "report/csv.h"

#include <string.h>

void csv_text(const char *text, FILE *to)
{
    if (strpbrk(text, "\",\n\r") == NULL) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++)
        fprintf(to, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', to);
}
