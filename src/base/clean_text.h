/* Text from outside, made fit for every format. */
#ifndef CYCLESCOPE_BASE_CLEAN_TEXT_H
#define CYCLESCOPE_BASE_CLEAN_TEXT_H

/* Replaces bytes that are not UTF-8, and control characters, by '?'. */
void clean_text(char *text);

#endif
