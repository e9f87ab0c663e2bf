/* Comma-separated values, as RFC 4180 has them. */
#ifndef CYCLESCOPE_REPORT_CSV_H
#define CYCLESCOPE_REPORT_CSV_H

#include <stdio.h>

/* A field, in quotes if it needs them. */
void csv_text(const char *text, FILE *to);

#endif
