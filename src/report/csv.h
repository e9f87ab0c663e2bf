/* Comma-separated values as in RFC 4180. */
#ifndef CYCLESCOPE_REPORT_CSV_H
#define CYCLESCOPE_REPORT_CSV_H

#include <stdio.h>

/* Writes one field, cleaned (clean_text), in quotes if it contains a comma or a quote. */
void csv_text(const char *text, FILE *to);

#endif
